//! What every call goes through, once for all operations: request id, authentication, scope, input, idempotency,
//! audit, envelope, timing.
//!
//! The order of checks is a promise (contract, section 1): 401 → 404 route or 405 → 403 → 422 input → 409 key → 404
//! record → 409 `If-Match` → 422 state.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use futures_util::{FutureExt, StreamExt};
use http::header::{self, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, request};
use tower::ServiceExt;
use uuid::Uuid;

use crate::api::caller::{CallContext, Caller, IdempotencyKey, IfMatch, ReadCaller, WriteCaller};
use crate::api::openapi;
use crate::api::operation::{OperationSpec, ReadOperation, Register, StoredResponse, WriteOperation};
use crate::crypto::TokenHash;
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::platform::telemetry::CallLine;
use crate::store::audit::{self, Outcome};
use crate::store::table::jittered;
use crate::store::{OrgStore, Store, Usage};
use crate::wire::fields::{BODY, FieldCode, FieldErrors};
use crate::wire::input::{self, Empty};

/// The header that carries the request id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header that tells a repeated response.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The operation of a call whose route there is not.
const UNROUTED: &str = "none";

/// The routes of a function's operations.
#[derive(Default)]
pub struct Routes(Router<Arc<AppState>>);

impl Routes {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the description of the whole API at `/openapi.json`: public, and not audited.
    #[must_use]
    pub fn with_description(self) -> Self {
        let describe = |axum::extract::State(app): axum::extract::State<Arc<AppState>>, request| describe(app, request);
        Self(self.0.route(openapi::PATH, on(MethodFilter::GET, describe)))
    }

    /// A service that answers them, and everything else with the envelope.
    pub fn into_router(self, app: Arc<AppState>) -> Router {
        let unrouted = |axum::extract::State(app): axum::extract::State<Arc<AppState>>, request| unrouted(app, request);
        let router = self.0.fallback(unrouted).method_not_allowed_fallback(unrouted).with_state(app);
        let service = ServiceExt::<Request<Body>>::map_response(router, only_allow_with_405);
        Router::new().fallback_service(service)
    }
}

impl Register for Routes {
    fn read<O: ReadOperation>(&mut self) {
        let handler = |axum::extract::State(app): axum::extract::State<Arc<AppState>>, request| read::<O>(app, request);
        self.0 = std::mem::take(&mut self.0).route(O::SPEC.path, on(MethodFilter::GET, handler));
    }

    fn write<O: WriteOperation>(&mut self) {
        let method = if O::SPEC.method == Method::PATCH { MethodFilter::PATCH } else { MethodFilter::POST };
        let handler =
            |axum::extract::State(app): axum::extract::State<Arc<AppState>>, request| write::<O>(app, request);
        self.0 = std::mem::take(&mut self.0).route(O::SPEC.path, on(method, handler));
    }
}

/// axum adds `Allow` wherever a path has no such method, also to a 401, which must not tell that there is the path.
fn only_allow_with_405(mut response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().remove(header::ALLOW);
    }
    response
}

/// How a call ended well.
enum Answer {
    /// It changed nothing; its audit row is still to be written.
    Read(StoredResponse),
    /// It was answered before; its audit row is still to be written.
    Replayed(StoredResponse),
    /// It took effect, and its audit row with it.
    Written(StoredResponse),
}

/// A request that has been received whole.
struct Incoming {
    parts: request::Parts,
    /// The body, unless it was too long or broke off.
    body: Result<Vec<u8>, FieldErrors>,
    /// The parameters of the path, unless they are no UTF-8.
    path: Option<Vec<(String, String)>>,
}

impl Incoming {
    async fn receive(request: Request<Body>) -> Self {
        let (mut parts, body) = request.into_parts();
        let parameters = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self { path: parameters.map(|found| found.iter().map(owned).collect()), body: receive_body(body).await, parts }
    }

    /// The ids that the path names, 16 bytes each.
    fn asked(&self) -> Vec<u8> {
        let values = self.path.iter().flatten().map(|(_, value)| value);
        values.filter_map(|value| Uuid::try_parse(value).ok()).flat_map(Uuid::into_bytes).collect()
    }

    fn read_path<T: deserr::Deserr<FieldErrors>>(&self, about: &OperationSpec) -> Result<T, FieldErrors> {
        if let Some(path) = &self.path {
            return input::read_path(path.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        }
        // Which of them is not told; no path of ours has more than one.
        let name = about.path.split(['{', '}']).nth(1).unwrap_or_default();
        Err(FieldErrors::one(format!("path.{name}"), FieldCode::InvalidFormat, "must be percent-encoded UTF-8"))
    }

    fn read_query<T: deserr::Deserr<FieldErrors>>(&self) -> Result<T, FieldErrors> {
        input::read_query(self.parts.uri.query())
    }

    fn read_body<T: deserr::Deserr<FieldErrors>>(&self) -> Result<T, FieldErrors> {
        check_content_type(&self.parts.headers)?;
        input::read_body(self.body.as_ref().map_err(Clone::clone)?)
    }

    fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, FieldErrors> {
        let body = self.body.as_deref().unwrap_or_default();
        IdempotencyKey::read(&self.parts.headers, self.parts.method.as_str(), self.parts.uri.path(), body)
    }
}

/// Receives a body, but not more of it than is worth while.
async fn receive_body(body: Body) -> Result<Vec<u8>, FieldErrors> {
    let mut chunks = body.into_data_stream();
    let mut received = Vec::new();
    let mut bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| FieldErrors::one(BODY, FieldCode::MalformedJson, "broke off before its end"))?;
        bytes += chunk.len();
        if bytes <= limits::BODY_BYTES_MAX {
            received.extend_from_slice(&chunk);
        } else if bytes > limits::BODY_BYTES_DISCARDED_MAX {
            break;
        }
    }
    if bytes <= limits::BODY_BYTES_MAX { Ok(received) } else { Err(input::body_too_long()) }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), FieldErrors> {
    let wrong = |code| FieldErrors::one("header.content-type", code, "must be application/json, in UTF-8");
    let value = headers.get(CONTENT_TYPE).ok_or_else(|| wrong(FieldCode::Required))?;
    let text = value.to_str().map_err(|_| wrong(FieldCode::InvalidValue))?;
    let mut parts = text.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        !name.eq_ignore_ascii_case("charset") || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    if is_json && is_utf8 { Ok(()) } else { Err(wrong(FieldCode::InvalidValue)) }
}

/// One call from its first moment to its last.
struct Exchange {
    app: Arc<AppState>,
    operation: &'static str,
    request_id: RequestId,
    now: Timestamp,
    started: Instant,
    /// Counts what this call uses.
    store: Store,
    /// Who calls, as soon as that is known.
    caller: Option<Caller>,
}

impl Exchange {
    fn begin(app: Arc<AppState>, operation: &'static str) -> Self {
        Self {
            operation,
            request_id: RequestId::new(),
            now: Timestamp::now(),
            started: Instant::now(),
            store: app.store.metered(),
            caller: None,
            app,
        }
    }

    /// Finds out who calls. A token that is known but works no more is refused too, on its organization's record.
    async fn authenticate(&mut self, incoming: &Incoming) -> Result<Caller, Error> {
        let hash = bearer_token(&incoming.parts.headers).and_then(TokenHash::of).ok_or(Error::Unauthenticated)?;
        let token = self.store.token(hash).await?.ok_or(Error::Unauthenticated)?;
        let works = token.is_valid_at(self.now);
        let caller = Caller {
            act: CallContext {
                request_id: self.request_id,
                operation: self.operation,
                now: self.now,
                actor: token.actor(),
                store: OrgStore::new(self.store.clone(), token.organization_id),
                asked: incoming.asked(),
            },
            base_url: self.app.base_url.clone(),
            time_scale: self.app.time_scale,
            attempts: Arc::default(),
            token,
        };
        self.caller = Some(caller.clone());
        if works { Ok(caller) } else { Err(Error::Unauthenticated) }
    }

    /// Puts the call on record, tells the log, and makes the response.
    async fn finish(self, ended: Result<Answer, Error>) -> Response {
        let ended = match self.record(&ended).await {
            Ok(None) => ended,
            // An attempt that seemed to have failed took effect: that is what happened.
            Ok(Some(reply)) => Ok(Answer::Written(reply)),
            // What is not on record must not be answered.
            Err(error) => Err(Error::Internal(format!("no audit row: {error}"))),
        };
        let (status, code) = outcome(&ended);
        let mut line = CallLine::new(
            self.request_id,
            self.operation,
            status.as_u16(),
            code,
            self.started.elapsed().as_secs_f64() * 1000.0,
            self.store.usage(),
        );
        line.organization_id = self.caller.as_ref().map(|caller| caller.org());
        line.token_id = self.caller.as_ref().map(|caller| caller.token.id);
        line.cause = ended.as_ref().err().and_then(Error::cause);
        self.app.log.line(&line);
        respond(ended, self.request_id)
    }

    /// Puts the call on record, unless its commit has done so. Gives the response of an attempt that has taken effect
    /// without the call's knowledge.
    async fn record(&self, ended: &Result<Answer, Error>) -> Result<Option<StoredResponse>, Error> {
        let (status, code) = outcome(ended);
        let Some(caller) = &self.caller else {
            let outcome = Outcome { status: status.as_u16(), code, objects: &[] };
            let trail = audit::write_trail(&self.store, self.request_id, self.operation, outcome, self.now);
            // Best effort: who has no token is answered regardless, and not kept waiting.
            let _ = tokio::time::timeout(limits::TRAIL_WAIT, trail).await;
            return Ok(None);
        };
        let objects = match ended {
            Ok(Answer::Written(_)) => return Ok(None),
            Ok(Answer::Read(reply) | Answer::Replayed(reply)) => caller.objects_with(&reply.objects),
            Err(_) => caller.objects_with(&[]),
        };
        let landed = audit::write(caller, Outcome { status: status.as_u16(), code, objects: &objects }).await?;
        Ok(landed.and_then(|attempt| caller.recall(attempt)))
    }
}

fn outcome(ended: &Result<Answer, Error>) -> (StatusCode, &'static str) {
    match ended {
        Ok(Answer::Read(reply) | Answer::Written(reply)) => (reply.status, "ok"),
        Ok(Answer::Replayed(reply)) => (reply.status, "replayed"),
        Err(error) => {
            let (status, code) = error.status();
            (status, code.as_str())
        }
    }
}

/// The token of the one `Authorization` header, whose scheme is `Bearer` in any case.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// A call of an operation that reads.
async fn read<O: ReadOperation>(app: Arc<AppState>, request: Request<Body>) -> Response {
    // axum gives HEAD to the handlers of GET; the API has no HEAD.
    if request.method() != Method::GET {
        return unrouted(app, request).await;
    }
    let mut exchange = Exchange::begin(app, O::SPEC.id);
    let ended = catch_panic_and_overrun(run_read::<O>(&mut exchange, request)).await;
    exchange.finish(ended).await
}

async fn run_read<O: ReadOperation>(exchange: &mut Exchange, request: Request<Body>) -> Result<Answer, Error> {
    let incoming = Incoming::receive(request).await;
    let caller = ReadCaller::new(exchange.authenticate(&incoming).await?);
    let (path, query) =
        both(incoming.read_path::<O::Path>(&O::SPEC), incoming.read_query::<O::Query>()).map_err(Error::Invalid)?;
    let found = O::run(&caller, path, query).await?;
    let reply = StoredResponse::new(StatusCode::OK, &found.output, found.version)?;
    if reply.is_too_large() {
        // Only a page gets that large.
        let message = "would make too large a response; ask for a smaller page";
        return Err(Error::Invalid(FieldErrors::one("limit", FieldCode::OutOfRange, message)));
    }
    Ok(Answer::Read(reply))
}

/// A call of an operation that writes.
async fn write<O: WriteOperation>(app: Arc<AppState>, request: Request<Body>) -> Response {
    let mut exchange = Exchange::begin(app, O::SPEC.id);
    let ended = catch_panic_and_overrun(run_write::<O>(&mut exchange, request)).await;
    exchange.finish(ended).await
}

async fn run_write<O: WriteOperation>(exchange: &mut Exchange, request: Request<Body>) -> Result<Answer, Error> {
    let incoming = Incoming::receive(request).await;
    let mut caller = WriteCaller::new(exchange.authenticate(&incoming).await?)?;
    let is_post = O::SPEC.method == Method::POST;
    let key = if is_post { incoming.idempotency_key() } else { Ok(None) };
    let if_match = if is_post { Ok(None) } else { IfMatch::read(&incoming.parts.headers) };
    let preconditions = both(key, if_match);
    let where_to = both(incoming.read_path::<O::Path>(&O::SPEC), incoming.read_query::<Empty>());
    let input = both(both(where_to, preconditions), incoming.read_body::<O::Body>()).map_err(Error::Invalid)?;
    let (((path, Empty {}), (key, if_match)), body) = input;
    (caller.idempotency, caller.if_match) = (key, if_match);
    let references = O::references(&body);
    caller.ask(&references);
    if let Some(recorded) = &mut exchange.caller {
        recorded.act.ask(&references);
    }

    let mut pause = limits::WRITE_BACKOFF_FIRST;
    loop {
        if let Some(reply) = replay(&caller).await? {
            return Ok(Answer::Replayed(reply));
        }
        match O::run(&caller, path.clone(), body.clone()).await {
            Err(Error::Conflict) if exchange.started.elapsed() < limits::WRITE_DEADLINE => {
                tokio::time::sleep(jittered(pause)).await;
                pause = (pause * 2).min(limits::WRITE_BACKOFF_MAX);
            }
            Ok(committed) => return Ok(Answer::Written(committed.reply)),
            // A repeat that was sent at the same time may have taken effect since the key was looked up, and be the very
            // reason of the refusal: then its response is this call's too.
            Err(refusal) => return replay(&caller).await?.map(Answer::Replayed).ok_or(refusal),
        }
    }
}

/// What was answered to this request's key before, if it was this request.
async fn replay(caller: &WriteCaller) -> Result<Option<StoredResponse>, Error> {
    let Some(key) = &caller.idempotency else { return Ok(None) };
    match caller.store.recorded(&key.key, caller.now).await? {
        Some(recorded) if recorded.fingerprint == key.fingerprint => Ok(Some(recorded.reply)),
        Some(_) => Err(Error::KeyReused),
        None => Ok(None),
    }
}

/// A call whose route there is not, or not with this method. The description of the whole API says which.
async fn unrouted(app: Arc<AppState>, request: Request<Body>) -> Response {
    let mut exchange = Exchange::begin(app, UNROUTED);
    let incoming = Incoming::receive(request).await;
    let ended = match exchange.authenticate(&incoming).await {
        Ok(_) => Err(match openapi::allowed_methods(incoming.parts.uri.path()) {
            Some(allow) => Error::MethodNotAllowed { allow },
            None => Error::NoSuchRoute,
        }),
        Err(error) => Err(error),
    };
    exchange.finish(ended).await
}

/// The description of the whole API. Public, so that a newcomer can read it before they have a token.
async fn describe(app: Arc<AppState>, request: Request<Body>) -> Response {
    if request.method() != Method::GET {
        return unrouted(app, request).await;
    }
    let (request_id, started) = (RequestId::new(), Instant::now());
    let ended = match input::read_query::<Empty>(request.uri().query()) {
        Ok(Empty {}) => {
            let body = openapi::DOCUMENT.as_bytes().to_vec();
            Ok(Answer::Read(StoredResponse { status: StatusCode::OK, body, etag: None, objects: Vec::new() }))
        }
        Err(errors) => Err(Error::Invalid(errors)),
    };
    let (status, code) = outcome(&ended);
    let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
    app.log.line(&CallLine::new(request_id, openapi::OPERATION, status.as_u16(), code, duration_ms, Usage::default()));
    respond(ended, request_id)
}

/// Both results, or the errors of both.
fn both<A, B>(left: Result<A, FieldErrors>, right: Result<B, FieldErrors>) -> Result<(A, B), FieldErrors> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(mut errors), right) => {
            errors.extend(right.err().unwrap_or_default());
            Err(errors)
        }
        (Ok(_), Err(errors)) => Err(errors),
    }
}

/// A panic is a defect of ours, and so is a call that takes too long, but its caller still gets an envelope, and the
/// record an audit row: the row keeps what was still under way from taking effect later.
///
/// # Errors
/// Those of the call, and [`Error::Internal`].
pub async fn catch_panic_and_overrun<T>(call: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
    let call = AssertUnwindSafe(call).catch_unwind();
    match tokio::time::timeout(limits::CALL_DEADLINE, call).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_)) => Err(Error::Internal("panicked".to_owned())),
        Err(_) => Err(Error::Internal("took too long".to_owned())),
    }
}

fn respond(ended: Result<Answer, Error>, request_id: RequestId) -> Response {
    let replayed = matches!(ended, Ok(Answer::Replayed(_)));
    match ended {
        Ok(Answer::Read(reply) | Answer::Replayed(reply) | Answer::Written(reply)) => {
            let mut response = response(reply.status, reply.body, request_id);
            let headers = response.headers_mut();
            if let Some(etag) = reply.etag.and_then(|etag| HeaderValue::try_from(etag).ok()) {
                headers.insert(header::ETAG, etag);
            }
            if replayed {
                headers.insert(REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
        Err(error) => {
            let (status, _) = error.status();
            let extra = match &error {
                Error::Unauthenticated => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
                Error::MethodNotAllowed { allow } => {
                    HeaderValue::try_from(allow).ok().map(|value| (header::ALLOW, value))
                }
                _ => None,
            };
            let body = serde_json::to_vec(&error.into_envelope(request_id)).unwrap_or_default();
            let mut response = response(status, body, request_id);
            response.headers_mut().extend(extra);
            response
        }
    }
}

fn response(status: StatusCode, body: Vec<u8>, request_id: RequestId) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::try_from(request_id.to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    response
}
