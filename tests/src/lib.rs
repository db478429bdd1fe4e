//! The system tests' harness: stacks, organizations on them, and ways to break them.
//!
//! Tests use the product over HTTP, and bypass it only for what HTTP doesn't show. Each has its own [`org::Org`].
//!
//! Decision: `make test-aws` starts AWS's DynamoDB Local, and `ministack` for SQS, Secrets Manager and S3: it keeps
//! delays, groups, redrive and secret versions as tests expect, and checks signed links. `make test-stack` deploys to
//! it. `make test` uses a small stand-in that checks calls as AWS does, and ignores tests that need more.
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a harness panics to fail the test that uses it"
)]

#[cfg(feature = "aws")]
pub mod account;
pub mod app;
pub mod attending;
pub mod aws_services;
mod background;
pub mod calls;
pub mod client;
pub mod clockwork;
pub mod drafts;
pub mod faults;
pub mod figures;
pub mod fixture;
pub mod funding;
pub mod hostile_pdf;
pub mod ledger;
pub mod load;
pub mod log;
pub mod mcp;
pub mod memory;
pub mod obligations;
pub mod org;
pub mod outbox;
pub mod pages;
pub mod payments;
pub mod pdf;
pub mod process;
pub mod raw;
pub mod receiver;
pub mod resources;
pub mod rows;
pub mod run_resources;
pub mod runtime_api;
pub mod shaky;
pub mod spec;
pub mod stack;
pub mod subscriber;
pub mod template;
pub mod wait;

pub use client::{Answer, Client};
pub use faults::{Fault, Faults, Rule};
pub use fixture::Fixture;
pub use org::Org;
pub use shaky::Shaky;
pub use stack::{Needs, Stack};
pub use wait::eventually;

/// Whether all is wanted that takes long (`FULL=1`): every random history, and lists of 100,000.
#[must_use]
pub fn is_full() -> bool {
    std::env::var("FULL").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}
