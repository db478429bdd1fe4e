//! The adapters to the outside world: AWS, the environment, the log.

pub mod app_state;
pub mod aws;
pub mod call_record;
pub mod config;
pub mod secrets;
pub mod sqs;
pub mod telemetry;
