//! The operators' command line, so that tests of the documented commands find it built beside them.

use std::process::ExitCode;

fn main() -> ExitCode {
    ops::command::main()
}
