//! The operators' command line, built beside the tests of the documented commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    ops::command::main()
}
