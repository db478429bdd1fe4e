//! The API: operations, callers, and the pipeline from request to response.
//!
//! - Decision: operations answer HEAD with 405: an audited call with nothing to show. axum answers it for public pages.
//! - Decision: every function carries the whole API document ([`openapi`]), because 404 and 405 need the routes of all
//!   functions, even when a function is called directly.
//! - Decision: before refusing a repeated call, the pipeline looks up the idempotency key once more: a simultaneous
//!   twin may have caused the refusal (such as a proposal that is now pending). Then the twin's response is also this
//!   call's.

pub mod caller;
pub mod entrance;
pub mod gzip;
mod incoming;
pub mod openapi;
pub mod operation;
pub mod page;
pub mod pipeline;
pub mod preconditions;
pub mod response;
pub mod views;
