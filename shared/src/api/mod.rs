//! The API: operations, callers, and the pipeline from a request to its response.
//!
//! Decision: operations answer HEAD with 405: it would be a call with an audit row and nothing to show for it. What is
//! public answers it as it answers GET, without a body; axum sees to that.
//!
//! Decision: every function carries the whole API document ([`openapi`]), because 404 and 405 need the routes
//! of all functions, even when a function is called directly.
//!
//! Decision: before the pipeline refuses a repeated call, it looks up the idempotency key once more, because a twin
//! sent at the same moment may be the reason for the refusal (a proposal that is pending by now). The response of the
//! twin is then the response of this call, too.

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
