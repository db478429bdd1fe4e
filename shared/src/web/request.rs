//! One request to the app, from its first moment to its last: what the pipeline is to the API. It knows who is signed
//! in, whether a form is theirs, and puts the call on record. What it looks like is left to the pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use http::header;
use http::{HeaderMap, Method, StatusCode, Uri, request};
use uuid::Uuid;

use crate::crypto::CookieSecret;
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::platform::call_record::CallRecord;
use crate::store::Store;
use crate::web::client_address::ClientAddress;
use crate::web::cookies::Cookie;
use crate::web::form::{FORM_TOKEN, Form, is_from_here, is_here};
use crate::web::session::{self, SignedIn};
use crate::wire::fields::FieldErrors;

/// One request to the app.
#[derive(Debug)]
pub struct Request {
    app: Arc<AppState>,
    record: CallRecord,
    signed_in: Option<SignedIn>,
    parts: request::Parts,
    path: Vec<(String, String)>,
    form: Result<Form, FieldErrors>,
    /// Whether a commit has put the call on record.
    pub(super) is_recorded: AtomicBool,
}

impl Request {
    /// Receives a request whole.
    pub async fn receive(app: Arc<AppState>, request: http::Request<Body>) -> Self {
        let record = CallRecord::begin(&app, "none");
        let (mut parts, body) = request.into_parts();
        let path = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
        let path = path.iter().flatten().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let form = match parts.method {
            Method::POST => Form::receive(&parts.headers, body).await,
            _ => Ok(Form::default()),
        };
        Self { app, record, signed_in: None, parts, path, form, is_recorded: AtomicBool::new(false) }
    }

    /// Finds out who is signed in, under the name that the call is recorded with.
    pub async fn recognize(&mut self, operation: &'static str) -> Result<(), Error> {
        self.record.rename(operation);
        self.signed_in = session::recognize(&self.app, &self.record, &self.parts.headers, self.named()).await?;
        Ok(())
    }

    /// Who is signed in.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when nobody is.
    pub fn signed_in(&self) -> Result<&SignedIn, Error> {
        self.signed_in.as_ref().ok_or(Error::Unauthenticated)
    }

    /// Goes on as the person who has just signed in, or switched.
    pub(super) fn sign_in(&mut self, signed_in: SignedIn) {
        self.signed_in = Some(signed_in);
    }

    /// Checks that the signed-in person may see and change the organization's settings.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when nobody is signed in, [`Error::AdminsOnly`] when they may not.
    pub fn check_admin(&self) -> Result<(), Error> {
        if self.signed_in()?.member().is_admin() { Ok(()) } else { Err(Error::AdminsOnly) }
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
        if secret.verifies(form.get(FORM_TOKEN)) { Ok(form) } else { Err(Error::ForgedForm) }
    }

    /// The path and query of the page of ours that a form was sent from, if the browser tells.
    #[must_use]
    pub fn came_from(&self) -> Option<&str> {
        let referrer = self.parts.headers.get(header::REFERER)?.to_str().ok()?;
        let host_at = referrer.find("://")? + 3;
        let (origin, page) = referrer.split_at(host_at + referrer[host_at..].find('/')?);
        is_here(&self.app, &self.parts.headers, origin).then_some(page)
    }

    /// What a form was filled in with, whether or not it was forged: to show it again, or to name what it wants.
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
        self.record.request_id()
    }

    /// The moment of the request.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.record.now()
    }

    pub(super) fn record(&self) -> &CallRecord {
        &self.record
    }

    pub(super) fn store(&self) -> &Store {
        self.record.store()
    }

    pub(super) fn write_deadline(&self) -> Instant {
        self.record.write_deadline()
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

    pub(super) fn client_address(&self) -> Option<ClientAddress> {
        self.parts.extensions.get().copied()
    }

    /// The ids that the path names, 16 bytes each.
    pub(super) fn named(&self) -> Vec<u8> {
        let values = self.path.iter().map(|(_, value)| value);
        values.filter_map(|value| Uuid::try_parse(value).ok()).flat_map(Uuid::into_bytes).collect()
    }

    /// Puts the call on record, unless a commit has. Tells whether the call had taken effect after all, without its
    /// knowledge: its commit has put it on record then, and that row stays.
    ///
    /// # Errors
    /// When a member's call can't be put on record: then it must not be answered.
    pub async fn audit(&self, status: StatusCode, code: &str, objects: &[Uuid]) -> Result<bool, Error> {
        // What failed after its commit is answered as what the commit did.
        if self.is_recorded.load(Ordering::Relaxed) && !status.is_server_error() {
            return Ok(false);
        }
        let shown: Vec<u8> = objects.iter().flat_map(Uuid::as_bytes).copied().collect();
        let scope = self.signed_in.as_ref().map(SignedIn::scope);
        Ok(self.record.audit(scope, status, code, &shown).await?.is_some())
    }

    /// Logs how the call ended.
    pub fn log(&self, status: StatusCode, code: &str, cause: Option<String>) {
        self.record.log(self.signed_in.as_ref().map(SignedIn::scope), status, code, cause);
    }
}
