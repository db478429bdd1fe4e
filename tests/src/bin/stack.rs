//! The local stack's command line, built beside the tests of whole processes (restart, `kill -9`).

use std::process::ExitCode;

fn main() -> ExitCode {
    local::main()
}
