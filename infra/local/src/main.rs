//! The `local` command. Everything is in the library, so that tests run the same code.

use std::process::ExitCode;

fn main() -> ExitCode {
    local::main()
}
