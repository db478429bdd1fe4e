//! Adapters to the outside world: AWS, the environment, the log.
//!
//! - Decision: queues and keys are small ports, in-process on the local stack: an emulator would bring 179 crates.
//! - Decision: a function that meets an unknown key looks up the keyring at once. Functions cache keys for minutes;
//!   without the look-up, a delivery with a secret sealed by a new key would be quarantined as if its key were gone. If
//!   the look-up fails, nothing is known about the key: the attempt is repeated later, and doesn't count as a failure.

pub mod app_state;
pub mod aws;
pub mod call_budget;
pub mod config;
pub mod endings;
pub mod files;
pub mod pdf_reader;
#[cfg(feature = "lambda")]
pub mod secrets_manager;
#[cfg(feature = "lambda")]
pub mod sqs;
pub mod telemetry;
