//! The local stack's command line, so that tests of whole processes (restart, `kill -9`) find it built beside them.

use std::process::ExitCode;

fn main() -> ExitCode {
    local::main()
}
