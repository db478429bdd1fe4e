//! The agent endpoint, `POST /mcp`: the Model Context Protocol with a tool for each operation of the API.
//!
//! A tool call becomes a request of the operation's own router, in process, with the caller's token. So validation,
//! idempotency, scope, audit and errors are the API's, and a tool has no power that its operation lacks. What is listed is
//! `tools.json`, which `make generate` writes from the declarations of the operations ([`catalog`]); a test compares them.
//!
//! Decision: the protocol is 300 lines of our own (`protocol.rs`) and not the crate `rmcp`, whose version 3.11 speaks both
//! revisions. Measured with the profile of functions, it adds 551 KB to a zipped binary that has the HTTP types, JSON and
//! tokio already, and this function zips to 4.0 MB without it, above the goal of 3 MB (P2). It also brings sessions,
//! streams and a task per request, none of which a stateless server with JSON responses has a use for.

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
/// What a call that runs no operation is called in audit rows and logs: it lists the tools, say.
pub const OPERATION: &str = USE_MCP;

/// What an endpoint works with.
struct Endpoint {
    app: Arc<AppState>,
    access: Access,
    /// The routes of the operations.
    operations: Router,
}

/// A router that answers the endpoint by the routes of the operations, and leaves everything else to them.
pub fn router(app: Arc<AppState>, access: Access, operations: Router) -> Router {
    let endpoint = Arc::new(Endpoint { app, access, operations: operations.clone() });
    let answer = move |request: Request<Body>| endpoint::answer(endpoint.clone(), request);
    Router::new().route(PATH, any(answer)).fallback_service(operations)
}
