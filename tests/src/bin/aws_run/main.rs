//! Runs the tests at an endpoint of AWS or of an emulator: `scripts/test-aws` starts it.
//!
//! ```text
//! aws_run test COMMAND…    runs the command with the region and credentials of the SDK's chain in its environment, and
//!                          deletes the tables, queues and secrets that it made, and those of interrupted runs
//! aws_run show             prints the endpoint, the region and the id of the access key
//! ```
//!
//! Asks the credential chain once for all tests: a role assumed by every test would be throttled.

#[cfg(unix)]
mod run;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    run::main()
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    eprintln!("test-aws: this needs the signals and process groups of Unix");
    std::process::ExitCode::FAILURE
}
