//! The agent endpoint, `POST /mcp`: the Model Context Protocol with one tool per API operation.
//!
//! A tool call becomes a request to the operation's own router, in process, with the caller's token. So validation,
//! idempotency, scope, audit and errors are the API's, and a tool has no power that its operation lacks. `make
//! generate` writes `tools.json` from the operations' declarations ([`catalog`]); a test compares them.

pub mod access;
mod call;
pub mod catalog;
mod endpoint;
mod protocol;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::routing::any;
use http::Request;
use shared::AppState;
use shared::domain::audit::USE_MCP;

pub use crate::access::Access;

/// The path of the endpoint.
pub const PATH: &str = "/mcp";
/// The operation in audit rows and logs for calls that run none, such as listing tools.
pub const OPERATION: &str = USE_MCP;

struct Endpoint {
    app: Arc<AppState>,
    access: Access,
    operations: Router,
}

/// A router that serves the endpoint and passes all other requests to the operations' routes.
pub fn router(app: Arc<AppState>, access: Access, operations: Router) -> Router {
    let endpoint = Arc::new(Endpoint { app, access, operations: operations.clone() });
    let answer = move |request: Request<Body>| endpoint::answer(endpoint.clone(), request);
    Router::new().route(PATH, any(answer)).fallback_service(operations)
}
