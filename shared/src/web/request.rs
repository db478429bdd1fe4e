//! One request to the app, from its first moment to its last: what the pipeline is to the API. It knows who is signed
//! in, whether a form is theirs, and puts the call on record. What it looks like is left to the pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use futures_util::StreamExt;
use http::header::{self, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode, Uri, request};
use uuid::Uuid;

use crate::api::caller::CallContext;
use crate::crypto::CookieSecret;
use crate::domain::ids::RequestId;
use crate::domain::member::{Admin, Member};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::platform::telemetry::CallLine;
use crate::store::Store;
use crate::store::audit::{self, Outcome};
use crate::store::commit::{Change, Commit};
use crate::store::members;
use crate::store::table::jittered;
use crate::web::session::{self, ClientAddress, Cookie, SignedIn};
use crate::wire::fields::{BODY, FieldCode, FieldErrors};

/// The field of a form that says that it is this browser's.
pub const FORM_TOKEN: &str = "form_token";

/// One request to the app.
#[derive(Debug)]
pub struct Request {
    pub(crate) app: Arc<AppState>,
    pub(crate) request_id: RequestId,
    pub(crate) operation: &'static str,
    pub(crate) now: Timestamp,
    pub(crate) store: Store,
    pub(crate) signed_in: Option<SignedIn>,
    started: Instant,
    parts: request::Parts,
    path: Vec<(String, String)>,
    form: Result<Form, FieldErrors>,
}

/// What a form was filled in with, each field once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    fn parse(bytes: &[u8]) -> Result<Self, FieldErrors> {
        let fields: Vec<(String, String)> =
            form_urlencoded::parse(bytes).into_owned().take(limits::FORM_FIELDS_MAX + 1).collect();
        if fields.len() > limits::FORM_FIELDS_MAX {
            let message = format!("must have at most {} fields", limits::FORM_FIELDS_MAX);
            return Err(FieldErrors::one("body", FieldCode::LimitReached, message));
        }
        for (at, (name, _)) in fields.iter().enumerate() {
            if fields[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(FieldErrors::one(name.as_str(), FieldCode::InvalidValue, "may be given only once"));
            }
        }
        Ok(Self(fields))
    }

    /// A field's value; empty when it was not sent.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

/// As what somebody sent a form: a member, or an admin. What it changes takes effect only while they are that.
pub trait Sender: Copy {
    /// The look at their record that the transaction takes.
    fn is_still(self) -> Change;

    /// Looks whether they are that as the member who they are now.
    ///
    /// # Errors
    /// What they are told who are not.
    fn check(self, now: &Member) -> Result<(), Error>;
}

impl Sender for &Member {
    fn is_still(self) -> Change {
        members::is_there(self.org(), self.id())
    }

    fn check(self, _: &Member) -> Result<(), Error> {
        Ok(())
    }
}

impl Sender for Admin<'_> {
    fn is_still(self) -> Change {
        members::is_admin(self.member().org(), self.member().id())
    }

    fn check(self, now: &Member) -> Result<(), Error> {
        if now.is_admin() { Ok(()) } else { Err(Error::AdminsOnly) }
    }
}

/// A form that somebody sent from a page of their own session. Only this can change anything. Taking it as an admin's
/// ([`SubmittedForm::by_admin`]) uses it up, so that no change is begun with it as a member's.
#[derive(Debug)]
pub struct SubmittedForm<'a, By = &'a Member> {
    request: &'a Request,
    signed_in: &'a SignedIn,
    form: &'a Form,
    by: By,
}

impl<'a> SubmittedForm<'a> {
    /// The form as an admin's: for acts that change the organization's settings.
    ///
    /// # Errors
    /// [`Error::AdminsOnly`] when who sent it is none.
    pub fn by_admin(self) -> Result<SubmittedForm<'a, Admin<'a>>, Error> {
        let Self { request, signed_in, form, by } = self;
        let by = by.as_admin().ok_or(Error::AdminsOnly)?;
        Ok(SubmittedForm { request, signed_in, form, by })
    }
}

impl<'a, By: Sender> SubmittedForm<'a, By> {
    /// Who sent it.
    #[must_use]
    pub fn by(&self) -> By {
        self.by
    }

    /// How long the service waits for what.
    #[must_use]
    pub fn time_scale(&self) -> TimeScale {
        self.request.app.time_scale
    }

    /// What it is recorded under.
    #[must_use]
    pub fn act(&self) -> &'a CallContext {
        &self.signed_in.act
    }

    /// What forms of the session carry.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.signed_in.form_token()
    }

    /// What all functions share.
    #[must_use]
    pub fn app(&self) -> &'a AppState {
        &self.request.app
    }

    /// What it was filled in with.
    #[must_use]
    pub fn form(&self) -> &'a Form {
        self.form
    }

    /// Begins a change, which holds only while who sent the form is a member, or an admin, still.
    pub fn commit(&self) -> Commit<'a, CallContext> {
        Commit::new(&self.signed_in.act).with([self.by.is_still()])
    }

    pub(crate) fn signed_in(&self) -> &'a SignedIn {
        self.signed_in
    }

    /// Decides until nobody else's write comes between.
    ///
    /// # Errors
    /// Those of [`Request::retry_on_conflict`]; [`Error::Unauthenticated`] when the member has been removed or signed out
    /// everywhere meanwhile, [`Error::AdminsOnly`] when it was an admin's form and they are none any more.
    pub async fn retry_on_conflict<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let still_in = |ended: F| async {
            let ended = ended.await;
            if matches!(ended, Err(Error::Conflict)) {
                self.by.check(&session::member_now(self.request, self.signed_in).await?)?;
            }
            ended
        };
        self.request.retry_on_conflict(|| still_in(attempt())).await
    }
}

impl Request {
    /// Receives a request whole.
    pub async fn receive(app: Arc<AppState>, request: http::Request<Body>) -> Self {
        let started = Instant::now();
        let (mut parts, body) = request.into_parts();
        let path = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
        let path = path.iter().flatten().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let form =
            if parts.method == Method::POST { receive_form(&parts.headers, body).await } else { Ok(Form::default()) };
        Self {
            request_id: RequestId::new(),
            operation: "none",
            now: Timestamp::now(),
            store: app.store.metered(),
            signed_in: None,
            started,
            parts,
            path,
            form,
            app,
        }
    }

    /// Finds out who is signed in, under the name that the call is recorded with.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn recognize(&mut self, operation: &'static str) -> Result<(), Error> {
        self.operation = operation;
        self.signed_in = session::recognize(self).await?;
        Ok(())
    }

    /// Who is signed in.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when nobody is.
    pub fn signed_in(&self) -> Result<&SignedIn, Error> {
        self.signed_in.as_ref().ok_or(Error::Unauthenticated)
    }

    /// Looks whether who is signed in may change the organization's settings, and see them.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when nobody is, [`Error::AdminsOnly`] when they may not.
    pub fn check_admin(&self) -> Result<(), Error> {
        if self.signed_in()?.member().is_admin() { Ok(()) } else { Err(Error::AdminsOnly) }
    }

    /// The form, if a member sent it from a page of their own session.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`], [`Error::ForgedForm`], or what is wrong with it.
    pub fn submitted(&self) -> Result<SubmittedForm<'_>, Error> {
        let signed_in = self.signed_in()?;
        let form = self.form_of(&signed_in.secret)?;
        Ok(SubmittedForm { request: self, signed_in, form, by: &signed_in.member })
    }

    /// The form, if it was sent from a page that a browser with this secret was shown.
    ///
    /// # Errors
    /// [`Error::ForgedForm`], or what is wrong with it.
    pub fn form_of(&self, secret: &CookieSecret) -> Result<&Form, Error> {
        if !is_from_here(&self.app, &self.parts.headers) {
            return Err(Error::ForgedForm);
        }
        let form = self.form.as_ref().map_err(|errors| Error::Invalid(errors.clone()))?;
        if secret.fits(form.get(FORM_TOKEN)) { Ok(form) } else { Err(Error::ForgedForm) }
    }

    /// Decides until nobody else's write comes between, as the pipeline does for the API.
    ///
    /// # Errors
    /// Those of an attempt; [`Error::Conflict`] when it has taken too long.
    pub async fn retry_on_conflict<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut pause = limits::WRITE_BACKOFF_FIRST;
        loop {
            match attempt().await {
                Err(Error::Conflict) if self.started.elapsed() < limits::WRITE_DEADLINE => {
                    tokio::time::sleep(jittered(pause)).await;
                    pause = (pause * 2).min(limits::WRITE_BACKOFF_MAX);
                }
                ended => return ended,
            }
        }
    }

    /// The path and query of the page of ours that a form was sent from, if the browser tells.
    #[must_use]
    pub fn came_from(&self) -> Option<&str> {
        let referrer = self.parts.headers.get(header::REFERER)?.to_str().ok()?;
        let host_at = referrer.find("://")? + 3;
        let (origin, page) = referrer.split_at(host_at + referrer[host_at..].find('/')?);
        is_here(&self.app, &self.parts.headers, origin).then_some(page)
    }

    /// What a form was filled in with, whoever sent it: to show it again, or to name what it wants.
    #[must_use]
    pub fn typed(&self) -> Form {
        self.form.clone().unwrap_or_default()
    }

    /// The id that the path has under a name. What is no id names no record.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn path_id<T: std::str::FromStr>(&self, name: &str) -> Result<T, Error> {
        let value = self.path.iter().find(|(parameter, _)| parameter == name).map(|(_, value)| value);
        value.and_then(|value| value.parse().ok()).ok_or_else(Error::not_found)
    }

    /// The value of the query's parameter with a name.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.parts.uri.query()?.as_bytes());
        pairs.find(|(parameter, _)| parameter == name).map(|(_, value)| value.into_owned())
    }

    /// What all functions share.
    #[must_use]
    pub fn app(&self) -> &AppState {
        &self.app
    }

    /// The id that is quoted to support.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.request_id
    }

    /// The moment of the request.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// The address.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.parts.uri
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The secret that a cookie of the request has.
    #[must_use]
    pub fn cookie(&self, cookie: Cookie) -> Option<CookieSecret> {
        cookie.read(&self.app, &self.parts.headers)
    }

    pub(crate) fn client_address(&self) -> Option<ClientAddress> {
        self.parts.extensions.get().copied()
    }

    /// The ids that the path names, 16 bytes each.
    pub(crate) fn asked(&self) -> Vec<u8> {
        let values = self.path.iter().map(|(_, value)| value);
        values.filter_map(|value| Uuid::try_parse(value).ok()).flat_map(Uuid::into_bytes).collect()
    }

    /// Puts a call that changed nothing on record: a member's in the organization, anybody else's in the service's
    /// trail, best effort. Tells whether the call had taken effect after all, without its knowledge: its commit has put
    /// it on record then, and that row stays.
    ///
    /// # Errors
    /// When a member's call can't be put on record: then it must not be answered.
    pub async fn record(&self, status: StatusCode, code: &str, objects: &[Uuid]) -> Result<bool, Error> {
        let status = status.as_u16();
        let Some(signed_in) = &self.signed_in else {
            let outcome = Outcome { status, code, objects: &[] };
            let trail = audit::write_trail(&self.store, self.request_id, self.operation, outcome, self.now);
            let _ = tokio::time::timeout(limits::TRAIL_WAIT, trail).await;
            return Ok(false);
        };
        let shown: Vec<u8> = objects.iter().flat_map(Uuid::as_bytes).copied().collect();
        let objects = signed_in.act.objects_with(&shown);
        let written = audit::write(&signed_in.act, Outcome { status, code, objects: &objects }).await;
        written.map(|landed| landed.is_some()).map_err(|error| Error::Internal(format!("no audit row: {error}")))
    }

    /// Tells the log how the call ended.
    pub fn log(&self, status: StatusCode, code: &str, cause: Option<String>) {
        let took: Duration = self.started.elapsed();
        let (status, took_ms) = (status.as_u16(), took.as_secs_f64() * 1000.0);
        let mut line = CallLine::new(self.request_id, self.operation, status, code, took_ms, self.store.usage());
        line.organization_id = self.signed_in.as_ref().map(|signed_in| signed_in.act.org());
        line.member_id = self.signed_in.as_ref().map(|signed_in| signed_in.member.id());
        line.cause = cause;
        self.app.log.line(&line);
    }
}

/// Receives a form, but no more of it than one can have.
async fn receive_form(headers: &HeaderMap, body: Body) -> Result<Form, FieldErrors> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let message = "must be application/x-www-form-urlencoded";
        return Err(FieldErrors::one("header.content-type", FieldCode::InvalidValue, message));
    }
    let mut chunks = body.into_data_stream();
    let mut received = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let broke_off = |_| FieldErrors::one(BODY, FieldCode::InvalidFormat, "broke off before its end");
        received.extend_from_slice(&chunk.map_err(broke_off)?);
        if received.len() > limits::FORM_BYTES_MAX {
            return Err(FieldErrors::one(BODY, FieldCode::TooLong, "is more than a form can have"));
        }
    }
    Form::parse(&received)
}

/// Whether what the browser says about where a form comes from, if it says so, is this very host.
fn is_from_here(app: &AppState, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site_fits = text(header::HeaderName::from_static("sec-fetch-site")).is_none_or(|site| site == "same-origin");
    let origin_fits = text(header::ORIGIN).is_none_or(|origin| is_here(app, headers, origin));
    site_fits && origin_fits
}

/// Whether an origin is this host, under whichever of its names: a person may have opened the local stack under another.
fn is_here(app: &AppState, headers: &HeaderMap, origin: &str) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| !host.is_empty());
    let is_host = host.is_some_and(|host| origin.split_once("://").is_some_and(|(_, authority)| authority == host));
    origin == app.base_url.to_string() || is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_there_once() {
        let form = Form::parse(b"note=a+b%0D%0Ac&decision=confirm").unwrap();
        assert_eq!((form.get("note"), form.get("decision"), form.get("x")), ("a b\r\nc", "confirm", ""));
        assert!(Form::parse(b"decision=confirm&decision=decline").is_err());
    }
}
