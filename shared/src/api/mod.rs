//! The API: operations, callers, and the pipeline from a request to its response.
//!
//! Decision: operations answer HEAD with 405, since it would be an audited call with nothing to show. axum answers HEAD
//! of public pages like GET without a body.
//!
//! Decision: every function carries the whole API document ([`openapi`]), because 404 and 405 need the routes of all
//! functions, even when a function is called directly.
//!
//! Decision: before the pipeline refuses a repeated call, it looks up the idempotency key once more: a twin sent at the
//! same moment may be the reason for the refusal (such as a proposal that is now pending). The twin's response is then
//! this call's too.

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
