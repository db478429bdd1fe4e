//! The command `ops`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ops::command::main()
}
