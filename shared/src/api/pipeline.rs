//! The pipeline of every call: request id, authentication, scope, input, idempotency, audit, envelope, timing.
//!
//! Promised order of checks (contract, section 1): 401 → 429 → 404 route or 405 → 403 → 422 input → 409 key → 404 record →
//! 409 `If-Match` → 422 state.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use http::header::{self, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use tower::ServiceExt;
use tracing::Span;

use crate::api::caller::{Caller, ReadCaller, WriteCaller};
use crate::api::gzip;
use crate::api::incoming::{Incoming, ReceivedBody};
use crate::api::operation::{ReadOperation, Register, WriteOperation};
use crate::api::page::{self, PublicPage};
use crate::api::response::{REQUEST_ID, is_too_large};
use crate::api::{openapi, preconditions};
use crate::crypto::TokenHash;
use crate::domain::audit::{NO_ROUTE, Via, WRONG_METHOD};
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::error::{Error, ErrorCode};
use crate::limits;
use crate::platform::app_state::AppState;
use crate::retry::retry_on_conflict;
use crate::service::call_record::{CallRecord, catch_panic_and_overrun};
use crate::service::precondition::ExpectedVersion;
use crate::store::commit::Attempts;
use crate::store::idempotency::StoredResponse;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::{self, Empty};

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The routes of a function's operations.
#[derive(Default)]
pub struct Routes(Router<Arc<AppState>>);

impl Routes {
    /// No routes yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the description of the whole API at `/openapi.json`, without audit.
    #[must_use]
    pub fn with_description(self) -> Self {
        let describe = |axum::extract::State(app): axum::extract::State<Arc<AppState>>, request: Request<Body>| async move {
            describe(&app, &request)
        };
        Self(self.0.route(openapi::PATH, on(MethodFilter::GET, describe)))
    }

    /// Adds a public page, without audit.
    #[must_use]
    pub fn with_page(self, page: &'static PublicPage) -> Self {
        let show = move |axum::extract::State(app): axum::extract::State<Arc<AppState>>, request: Request<Body>| async move {
            page::show(page, &app, &request)
        };
        Self(self.0.route(page.path, on(MethodFilter::GET, show)))
    }

    /// Builds a router that answers all other requests with an error envelope.
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

/// Keeps `Allow` only on a 405. axum adds it even to a 401, which must not reveal that the path exists.
fn only_allow_with_405(mut response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().remove(header::ALLOW);
    }
    response
}

pub(super) enum Answer {
    /// Changed nothing; the audit row isn't written yet.
    Read(StoredResponse),
    /// Refused in another protocol's terms; the audit row isn't written yet.
    Refused(StoredResponse),
    /// Repeats an earlier call; the audit row isn't written yet.
    Replayed(StoredResponse),
    Written(StoredResponse),
}

pub(super) struct Exchange {
    app: Arc<AppState>,
    record: CallRecord,
    caller: Option<Caller>,
    attempts: Attempts,
    /// The token and hour to record its use.
    used: Option<(TokenHash, Timestamp)>,
}

impl Exchange {
    /// Begins a call, possibly through an entrance other than HTTP.
    pub(super) fn begin(app: Arc<AppState>, operation: &'static str, via: Option<Via>) -> Self {
        Self {
            record: app.begin_call(operation).through(via),
            app,
            caller: None,
            attempts: Attempts::default(),
            used: None,
        }
    }

    fn span(&self) -> Span {
        self.record.span().clone()
    }

    /// Authenticates the caller. Refusing a known token (expired, revoked, suspended organization) writes an audit row.
    pub(super) async fn authenticate(&mut self, headers: &HeaderMap, named: Vec<u8>) -> Result<Caller, Error> {
        let hash = token_hash(headers).ok_or(Error::Unauthenticated)?;
        let token = self.record.store().token(hash).await?.ok_or(Error::Unauthenticated)?;
        let works = token.is_valid_at(self.record.now());
        self.used = token
            .use_to_record(self.record.now())
            .filter(|_| works && token.suspended_at.is_none())
            .map(|hour| (hash, hour));
        let scope = self.record.scope(token.organization_id, token.actor(), named);
        let caller = Caller::new(scope, token, &self.app);
        self.caller = Some(caller.clone());
        match (works, caller.token().suspended_at) {
            (true, None) => {
                self.app.calls.spend(caller.org())?;
                Ok(caller)
            }
            (true, Some(_)) => Err(Error::Suspended),
            (false, _) => Err(Error::Unauthenticated),
        }
    }

    pub(super) async fn finish(self, ended: Result<Answer, Error>) -> Response {
        let (audited, ()) = tokio::join!(self.audit(&ended), self.record_use());
        let ended = match audited {
            Ok(None) => ended,
            // An attempt that seemed to fail took effect: its response is the call's.
            Ok(Some(response)) => Ok(Answer::Written(response)),
            // A call without an audit row must fail.
            Err(error) => Err(error),
        };
        let (status, code) = outcome(&ended);
        let cause = ended.as_ref().err().and_then(Error::cause);
        self.record.log(self.caller.as_deref(), status, code, cause);
        respond(ended, self.record.request_id())
    }

    /// One round trip at the first call in an hour. The response waits briefly: nothing can run after it on Lambda.
    async fn record_use(&self) {
        if let Some((hash, hour)) = self.used {
            let _ = tokio::time::timeout(limits::TOKEN_USE_WAIT, self.record.store().record_use(hash, hour)).await;
        }
    }

    /// Writes the audit row, unless the commit did. Returns the response of an attempt that only seemed to fail.
    async fn audit(&self, ended: &Result<Answer, Error>) -> Result<Option<StoredResponse>, Error> {
        let shown = match ended {
            Ok(Answer::Written(_)) => return Ok(None),
            Ok(Answer::Read(response) | Answer::Replayed(response)) => response.objects.as_slice(),
            Ok(Answer::Refused(_)) | Err(_) => &[],
        };
        let (status, code) = outcome(ended);
        let committed = self.record.audit(self.caller.as_deref(), status, code, shown).await?;
        Ok(committed.and_then(|attempt| self.attempts.recall(attempt)))
    }
}

/// The row's outcome if a call's effect is unknown: if it took effect, another row says so.
const UNKNOWN: &str = "unknown";

fn outcome(ended: &Result<Answer, Error>) -> (StatusCode, &'static str) {
    match ended {
        Ok(Answer::Read(response) | Answer::Written(response)) => (response.status, "ok"),
        Ok(Answer::Replayed(response)) => (response.status, "replayed"),
        Ok(Answer::Refused(response)) => (response.status, ErrorCode::InvalidRequest.as_str()),
        Err(error @ Error::Unanswered(_)) => (error.status().0, UNKNOWN),
        Err(error) => {
            let (status, code) = error.status();
            (status, code.as_str())
        }
    }
}

pub(super) fn token_hash(headers: &HeaderMap) -> Option<TokenHash> {
    bearer_token(headers).and_then(TokenHash::of)
}

/// The entrance of the request, if not HTTP. Only this service's functions can mark requests.
fn via(request: &Request<Body>) -> Option<Via> {
    request.extensions().get().copied()
}

/// The token of the only `Authorization` header with the scheme `Bearer` in any case.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

async fn read<O: ReadOperation>(app: Arc<AppState>, request: Request<Body>) -> Response {
    // axum routes HEAD to GET handlers; operations have no HEAD.
    if request.method() != Method::GET {
        return unrouted(app, request).await;
    }
    let mut exchange = Exchange::begin(app, O::SPEC.id, via(&request));
    let ended = catch_panic_and_overrun(exchange.span(), run_read::<O>(&mut exchange, request)).await;
    exchange.finish(ended).await
}

async fn run_read<O: ReadOperation>(exchange: &mut Exchange, request: Request<Body>) -> Result<Answer, Error> {
    let (incoming, _) = Incoming::split(request).await;
    let caller = ReadCaller::new(exchange.authenticate(&incoming.parts.headers, incoming.named()).await?);
    let input = both(incoming.read_path::<O::Path>(&O::SPEC), incoming.read_query::<O::Query>());
    let ((path, query), ()) = both(input, incoming.misread()).map_err(Error::Invalid)?;
    let response = O::run(&caller, path, query).await?.encode()?;
    if is_too_large(&response.body) {
        // Only list pages get that large.
        let message = "would make too large a response; ask for a smaller page";
        return Err(Error::Invalid(FieldErrors::one("limit", FieldCode::OutOfRange, message)));
    }
    Ok(Answer::Read(response))
}

async fn write<O: WriteOperation>(app: Arc<AppState>, request: Request<Body>) -> Response {
    let mut exchange = Exchange::begin(app, O::SPEC.id, via(&request));
    let ended = catch_panic_and_overrun(exchange.span(), run_write::<O>(&mut exchange, request)).await;
    exchange.finish(ended).await
}

async fn run_write<O: WriteOperation>(exchange: &mut Exchange, request: Request<Body>) -> Result<Answer, Error> {
    let (incoming, body) = Incoming::split(request).await;
    let caller = exchange.authenticate(&incoming.parts.headers, incoming.named()).await?;
    let caller = WriteCaller::new(caller, exchange.attempts.clone())?;
    let body = ReceivedBody::receive(body).await;
    let is_post = O::SPEC.method == Method::POST;
    let key = if is_post { incoming.idempotency_key(&body) } else { Ok(None) };
    let headers = &incoming.parts.headers;
    let expected = if is_post { Ok(ExpectedVersion::Any) } else { preconditions::read_if_match(headers) };
    let address = both(incoming.read_path::<O::Path>(&O::SPEC), incoming.read_query::<Empty>());
    let input = both(both(address, both(key, expected)), incoming.read_body::<O::Body>(&body));
    let ((((path, Empty {}), (key, expected)), body), ()) = both(input, incoming.misread()).map_err(Error::Invalid)?;
    let named = O::references(&body);
    if let Some(recorded) = &mut exchange.caller {
        recorded.name(&named);
    }
    let caller = caller.with_input(key, expected, &named);

    let attempt = || async {
        if let Some(response) = replay(&caller).await? {
            return Ok(Answer::Replayed(response));
        }
        O::run(&caller, path.clone(), body.clone()).await.map(|committed| Answer::Written(committed.response))
    };
    match retry_on_conflict(exchange.record.write_budget(), attempt).await {
        Ok(answer) => Ok(answer),
        Err(reused @ Error::KeyReused) => Err(reused),
        // A simultaneous repeat may have won after the key's look-up: its response is then also this call's.
        Err(refusal) => replay(&caller).await?.map(Answer::Replayed).ok_or(refusal),
    }
}

/// The response to an earlier request with the call's key. Fails if that request was different.
async fn replay(caller: &WriteCaller) -> Result<Option<StoredResponse>, Error> {
    let Some(key) = caller.key() else { return Ok(None) };
    match caller.store().first_response(&key.key, caller.now()).await? {
        Some(first) if first.fingerprint == key.fingerprint => Ok(Some(first.response)),
        Some(_) => Err(Error::KeyReused),
        None => Ok(None),
    }
}

/// Answers a call whose path doesn't exist or lacks the method, according to the API's description.
pub(super) async fn unrouted(app: Arc<AppState>, request: Request<Body>) -> Response {
    let (operation, refusal) = match openapi::allowed_methods(request.uri().path()) {
        Some(allow) => (WRONG_METHOD, Error::MethodNotAllowed { allow }),
        None => (NO_ROUTE, Error::NoSuchRoute),
    };
    let mut exchange = Exchange::begin(app, operation, via(&request));
    let (incoming, _) = Incoming::split(request).await;
    let authenticated = exchange.authenticate(&incoming.parts.headers, incoming.named()).await;
    let ended = authenticated.and(Err(refusal));
    exchange.finish(ended).await
}

/// Serves the API's description, which is public so that newcomers can read it without a token.
fn describe(app: &AppState, request: &Request<Body>) -> Response {
    let record = app.begin_call(openapi::OPERATION);
    let ended = match input::read_query::<Empty>(request.uri().query()) {
        Ok(Empty {}) => openapi::document(gzip::is_accepted(request.headers())).map(|(body, headers)| {
            Answer::Read(StoredResponse { status: StatusCode::OK, body, headers, objects: Vec::new() })
        }),
        Err(errors) => Err(Error::Invalid(errors)),
    };
    let (status, code) = outcome(&ended);
    record.log(None, status, code, None);
    respond(ended, record.request_id())
}

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

fn respond(ended: Result<Answer, Error>, request_id: RequestId) -> Response {
    let replayed = matches!(ended, Ok(Answer::Replayed(_)));
    match ended {
        Ok(Answer::Read(stored) | Answer::Refused(stored) | Answer::Replayed(stored) | Answer::Written(stored)) => {
            let mut response = response(stored.status, stored.body, request_id);
            let headers = response.headers_mut();
            headers.extend(stored.headers);
            if replayed {
                headers.insert(REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
        Err(error) => {
            let (status, _) = error.status();
            let extra = match &error {
                Error::RateLimited => {
                    Some((header::RETRY_AFTER, HeaderValue::from(limits::RATE_LIMITED_RETRY_AFTER_S)))
                }
                Error::Throttled(_) => Some((header::RETRY_AFTER, HeaderValue::from(limits::THROTTLED_RETRY_AFTER_S))),
                Error::Unauthenticated | Error::Suspended => {
                    Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
                }
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
