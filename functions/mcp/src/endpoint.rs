//! The endpoint over HTTP.
//!
//! Preflights have no token and are answered at once. Checks have the API's order: 403 for a foreign origin, 401, 405.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Map, Value, json};
use shared::api::entrance::{self, ProtocolAnswer, Unreadable};
use shared::domain::audit::WRONG_METHOD;
use shared::error::Error;
use tower::ServiceExt;

use crate::access;
use crate::call::{self, Answered};
use crate::protocol::{self, Message, Refusal, Wanted};
use crate::tools::{self, Tool};
use crate::{Endpoint, OPERATION};

pub(crate) async fn answer(endpoint: Arc<Endpoint>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let origin = endpoint.access.origin_of_page(&parts.headers, &parts.uri);
    if let Some(origin) = origin.as_ref().filter(|_| access::is_preflight(&parts)) {
        return access::answer_preflight(origin);
    }
    let mut response = answer_call(endpoint, parts, body).await;
    if let Some(origin) = origin {
        access::let_page_read(&mut response, origin);
    }
    response
}

async fn answer_call(endpoint: Arc<Endpoint>, parts: Parts, body: Body) -> Response {
    let refused = if !endpoint.access.allows(&parts.headers, &parts.uri) {
        Some(Error::ForeignOrigin)
    } else if !entrance::may_be_authenticated(&parts.headers) {
        Some(Error::Unauthenticated)
    } else if parts.method != Method::POST {
        Some(Error::MethodNotAllowed { allow: Method::POST.to_string() })
    } else {
        None
    };
    if let Some(error) = refused {
        let operation = if parts.method == Method::POST { OPERATION } else { WRONG_METHOD };
        return entrance::answer(endpoint.app.clone(), operation, &parts.headers, Err(error)).await;
    }
    let message = match received(&parts.headers, body).await {
        Ok(message) => message,
        Err(refusal) => return endpoint.refuse(&parts.headers, refusal).await,
    };
    let request = match protocol::read(&parts.headers, &message.value, &message.bytes) {
        Ok(Message::Request(request)) => request,
        Ok(Message::Notification) => return endpoint.respond(&parts.headers, StatusCode::ACCEPTED, None).await,
        Err(refusal) => return endpoint.refuse(&parts.headers, refusal).await,
    };
    let response = match &request.wanted {
        Wanted::CallTool { name, arguments } => {
            if let Some(tool) = Tool::find(name) {
                return endpoint.call(&parts.headers, &request, tool, arguments.clone()).await;
            }
            let refusal = request.refuse("There is no such tool; `tools/list` has those that there are.");
            return endpoint.refuse(&parts.headers, refusal).await;
        }
        Wanted::Initialize | Wanted::Discover => request.respond_with_server(),
        Wanted::Ping => request.respond(json!({})),
        Wanted::ListTools => {
            request.respond_with_tools(&tools::all().iter().map(|tool| &tool.shown).collect::<Vec<_>>())
        }
    };
    endpoint.respond(&parts.headers, StatusCode::OK, Some(response)).await
}

/// The message of a request whose headers announce one and accept the answer.
async fn received(headers: &HeaderMap, body: Body) -> Result<entrance::Message, Refusal> {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let essence = |entry: &str| entry.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if text(CONTENT_TYPE).map(essence).as_deref() != Some("application/json") {
        return Err(Refusal::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, "A message is application/json."));
    }
    let takes_json = text(ACCEPT).is_none_or(|all| {
        all.split(',').map(essence).any(|one| ["application/json", "application/*", "*/*"].contains(&one.as_str()))
    });
    if !takes_json {
        return Err(Refusal::invalid(StatusCode::NOT_ACCEPTABLE, "Answers are application/json; accept it."));
    }
    entrance::receive(headers, body).await.map_err(|reason| match reason {
        Unreadable::Encoded => {
            Refusal::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, "A message must not be compressed or encoded.")
        }
        Unreadable::TooLong => Refusal::unreadable(StatusCode::PAYLOAD_TOO_LARGE, "The message is too long."),
        Unreadable::Incomplete => {
            Refusal::unreadable(StatusCode::BAD_REQUEST, "The message did not arrive completely.")
        }
        Unreadable::Malformed(_) => {
            Refusal::unreadable(StatusCode::BAD_REQUEST, "The message has to be JSON in UTF-8, with no key twice.")
        }
    })
}

impl Endpoint {
    /// Runs a tool's operation. A caller without a valid token gets the operation's own 401.
    async fn call(
        &self,
        headers: &HeaderMap,
        request: &protocol::Request,
        tool: &Tool,
        arguments: Map<String, Value>,
    ) -> Response {
        let asked = match call::request(tool, arguments, headers) {
            Ok(asked) => asked,
            Err(error) => {
                return self.answer(headers, Err(Error::Internal(format!("making a request: {error}")))).await;
            }
        };
        let Ok(response) = self.operations.clone().oneshot(asked).await;
        if response.status() == StatusCode::UNAUTHORIZED {
            return response;
        }
        let request_id = response.headers().get(REQUEST_ID).cloned();
        let answered = Answered::of(response).await;
        let mut body = request.respond(answered.result(tool, request.revision, false)).into_bytes();
        if !entrance::fits_a_response(&body) {
            body = request.respond(answered.result(tool, request.revision, true)).into_bytes();
        }
        let mut response = Response::new(Body::from(body));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        headers.insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
        headers.extend(request_id.map(|id| (REQUEST_ID, id)));
        response
    }

    async fn respond(&self, headers: &HeaderMap, status: StatusCode, response: Option<String>) -> Response {
        let body = response.map(String::into_bytes).unwrap_or_default();
        self.answer(headers, Ok(ProtocolAnswer { status, is_refusal: false, body })).await
    }

    async fn refuse(&self, headers: &HeaderMap, refusal: Refusal) -> Response {
        let status = refusal.status;
        let body = refusal.into_response().into_bytes();
        self.answer(headers, Ok(ProtocolAnswer { status, is_refusal: true, body })).await
    }

    async fn answer(&self, headers: &HeaderMap, answer: Result<ProtocolAnswer, Error>) -> Response {
        entrance::answer(self.app.clone(), OPERATION, headers, answer).await
    }
}

const REQUEST_ID: http::HeaderName = shared::api::response::REQUEST_ID;
