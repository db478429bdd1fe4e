//! A request to the app: authenticates the session, checks a form's CSRF token, and writes the audit row.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use deserr::Deserr;
use http::header;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, request};
use tokio::time::Instant;
use tracing::Span;
use uuid::Uuid;

use crate::crypto::CookieSecret;
use crate::domain::audit::NO_ROUTE;
use crate::domain::ids::{MemberId, RequestId};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::retry::Budget;
use crate::service::call_record::CallRecord;
use crate::service::form_copies::{FormCopy, UsedCopy};
use crate::service::identity::BrowserCall;
use crate::service::identity::participant_sessions::{self, ParticipantSession};
use crate::service::identity::sessions::{self, SignedIn};
use crate::service::scope::Scope;
use crate::web::client_address::ClientAddress;
use crate::web::cookies::Cookie;
use crate::web::form::{COPY, FORM_TOKEN, Form, is_own_origin, is_same_origin};
use crate::web::redirect::Redirect;
use crate::web::{owner_hint, participant_cookies};
use crate::wire::fields::FieldErrors;
use crate::wire::input;
use crate::wire::page::{Filter, Order, Shelf};

/// A request to the app.
#[derive(Debug)]
pub struct Request {
    app: Arc<AppState>,
    record: CallRecord,
    signed_in: Option<SignedIn>,
    participant_session: Option<ParticipantSession>,
    link_holder: Option<Scope>,
    parts: request::Parts,
    path: Vec<(String, String)>,
    form: Result<Form, FieldErrors>,
    /// The id of the copy of a form that names none: the request is its only use.
    pub(super) unnamed_copy: Uuid,
    /// The copy that the form names, if it is the session's.
    pub(super) copy: Option<FormCopy>,
    pub(super) used_copy: Option<UsedCopy>,
    pub(super) has_used_copy: AtomicBool,
    /// Whether the form acts in parts. Its copy is finished with its answer.
    pub(super) acts_in_parts: AtomicBool,
    /// The answer to the form if its commit takes effect although it seems to fail.
    pub(super) redirect_if_committed: OnceLock<Redirect>,
    /// What the act that led to the page did.
    outcome: OnceLock<String>,
}

/// What the address of a list's page says about the list itself.
#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct ListOrder {
    #[deserr(default)]
    sort: Filter<Order>,
    #[deserr(default)]
    show: Filter<Shelf>,
}

impl Request {
    /// Receives a request with its body.
    pub async fn receive(app: Arc<AppState>, request: http::Request<Body>) -> Self {
        let record = app.begin_call(NO_ROUTE);
        let (mut parts, body) = request.into_parts();
        let path = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
        let path = path.iter().flatten().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let form = match parts.method {
            Method::POST => Form::read(&parts.headers, body).await,
            _ => Ok(Form::default()),
        };
        Self {
            app,
            record,
            signed_in: None,
            participant_session: None,
            link_holder: None,
            parts,
            path,
            form,
            unnamed_copy: Uuid::now_v7(),
            copy: None,
            used_copy: None,
            has_used_copy: AtomicBool::new(false),
            acts_in_parts: AtomicBool::new(false),
            redirect_if_committed: OnceLock::new(),
            outcome: OnceLock::new(),
        }
    }

    /// Authenticates the session, and sets the operation's name for the audit row and the log.
    pub async fn authenticate(&mut self, operation: &'static str) -> Result<(), Error> {
        self.record.rename(operation);
        self.copy = self.copy_of(self.cookie(Cookie::Session));
        let signed_in = self.find_session(self.path_record_ids());
        (self.signed_in, self.used_copy) = tokio::try_join!(signed_in, self.read_copy())?;
        self.spend_call()?;
        // A page's session is refreshed beside the audit row; a form's before the act, which may end it.
        if let Some(signed_in) = self.signed_in.as_ref().filter(|_| !self.method().is_safe()) {
            signed_in.refresh_session().await;
        }
        Ok(())
    }

    /// Authenticates the participant in the path, and sets the operation's name as [`Request::authenticate`] does.
    pub async fn authenticate_participant(&mut self, operation: &'static str) -> Result<(), Error> {
        self.record.rename(operation);
        let Ok(participant) = self.path_id("participant") else { return Ok(()) };
        let secret = participant_cookies::read(&self.app, &self.parts.headers, participant);
        self.copy = self.copy_of(secret.clone());
        let member = self.find_session(Vec::new());
        let session = participant_sessions::find(&self.record, secret, participant, self.path_record_ids());
        let (session, member, used) = tokio::try_join!(session, member, self.read_copy())?;
        self.used_copy = used;
        self.participant_session = match (session, member) {
            (Some(session), Some(member)) => Some(session.in_browser_of(&member).await?),
            (session, _) => session,
        };
        self.spend_call()?;
        if let Some(session) = self.participant_session.as_ref().filter(|_| !self.method().is_safe()) {
            session.refresh_session().await;
        }
        Ok(())
    }

    /// Counts the request among its organization's. Those of strangers have limits of their own.
    fn spend_call(&self) -> Result<(), Error> {
        self.scope().map_or(Ok(()), |scope| self.app.calls.spend(scope.org()))
    }

    async fn find_session(&self, named: Vec<u8>) -> Result<Option<SignedIn>, Error> {
        let hint = owner_hint::read(&self.app, &self.parts.headers);
        sessions::find(&self.record, self.cookie(Cookie::Session), hint, named).await
    }

    /// What the use cases of identity need of the request.
    #[must_use]
    pub fn browser_call(&self) -> BrowserCall<'_> {
        BrowserCall {
            record: &self.record,
            keys: self.app.webhooks.as_ref().map(|webhooks| &*webhooks.keys),
            network: self.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::rate_limit_key),
            user_agent: self.user_agent(),
            session: self.cookie(Cookie::Session),
            device: self.cookie(Cookie::Device),
            named: self.path_record_ids(),
        }
    }

    fn copy_of(&self, secret: Option<CookieSecret>) -> Option<FormCopy> {
        self.form.as_ref().ok()?.copy(self.parts.uri.path(), &secret?)
    }

    async fn read_copy(&self) -> Result<Option<UsedCopy>, Error> {
        let Some(copy) = self.copy else { return Ok(None) };
        let used = self.record.used_copy(copy).await?;
        if used.as_ref().is_some_and(|used| used.is_begun_by(copy)) {
            self.note_parts();
        }
        Ok(used)
    }

    /// The participant to whom the page belongs. [`Error::Unauthenticated`] without a session.
    pub fn participant_session(&self) -> Result<&ParticipantSession, Error> {
        self.participant_session.as_ref().ok_or(Error::Unauthenticated)
    }

    /// Renames the operation of a participant's page once its content is known: some views are on record as such.
    pub fn rename_own_view(&mut self, operation: &'static str) {
        self.record.rename(operation);
        if let Some(session) = &mut self.participant_session {
            session.rename(operation);
        }
    }

    pub(super) fn set_participant_session(&mut self, session: ParticipantSession) {
        self.participant_session = Some(session);
    }

    /// Sets the scope in which the audit log shows the request of a link's holder without a session.
    pub(super) fn set_link_holder(&mut self, scope: Scope) {
        self.link_holder = Some(scope);
    }

    /// The CSRF token of the session's forms. [`Error::Unauthenticated`] without one.
    pub fn form_token(&self) -> Result<String, Error> {
        match (&self.signed_in, &self.participant_session) {
            (Some(signed_in), _) => Ok(signed_in.form_token()),
            (None, Some(session)) => Ok(session.form_token()),
            (None, None) => Err(Error::Unauthenticated),
        }
    }

    fn scope(&self) -> Option<&Scope> {
        // A link's holder comes first: the link's organization has to find the try in its own log.
        let member = || self.signed_in.as_ref().map(SignedIn::scope);
        self.link_holder
            .as_ref()
            .or_else(member)
            .or_else(|| self.participant_session.as_ref().map(ParticipantSession::scope))
    }

    /// Sets what the act that led to the page did, for the page's title.
    pub fn set_outcome(&self, outcome: &str) {
        // A page follows from one act.
        let _ = self.outcome.set(outcome.to_owned());
    }

    /// What the act that led to the page did.
    #[must_use]
    pub fn outcome(&self) -> Option<&str> {
        self.outcome.get().map(String::as_str)
    }

    /// The signed-in member. [`Error::Unauthenticated`] without one.
    pub fn signed_in(&self) -> Result<&SignedIn, Error> {
        self.signed_in.as_ref().ok_or(Error::Unauthenticated)
    }

    pub(super) fn set_signed_in(&mut self, signed_in: SignedIn) {
        self.signed_in = Some(signed_in);
    }

    /// Checks that the signed-in member is an admin, who may see and change the organization's settings.
    pub fn check_admin(&self) -> Result<(), Error> {
        if self.signed_in()?.member().is_admin() { Ok(()) } else { Err(Error::AdminsOnly) }
    }

    /// The form, if it comes from this origin and its CSRF token fits the secret. [`Error::ForgedForm`] otherwise.
    pub fn verified_form(&self, secret: &CookieSecret) -> Result<&Form, Error> {
        if !is_same_origin(&self.app, &self.parts.headers) {
            return Err(Error::ForgedForm);
        }
        let form = self.form.as_ref().map_err(|errors| Error::Invalid(errors.clone()))?;
        if secret.verifies(form.get(FORM_TOKEN)) { Ok(form) } else { Err(Error::ForgedForm) }
    }

    /// The form of an ended session, if it comes from this origin: the session's cookie fits its CSRF token, or the
    /// browser without that cookie names the form's origin. It changes nothing: its fields are kept for its own page.
    #[must_use]
    pub fn form_of_ended_session(&self) -> Option<&Form> {
        let of_cookie = self.cookie(Cookie::Session).and_then(|secret| self.verified_form(&secret).ok());
        let headers = &self.parts.headers;
        let names_origin = headers.contains_key(header::ORIGIN) && is_same_origin(&self.app, headers);
        of_cookie.or_else(|| self.form.as_ref().ok().filter(|_| names_origin))
    }

    /// The owner of the browser's session, as the browser says. Decides nothing: what is sealed opens for nobody else.
    #[must_use]
    pub fn owner_of_ended_session(&self) -> Option<MemberId> {
        owner_hint::read(&self.app, &self.parts.headers).map(|owner| owner.member_id)
    }

    /// The path and query of the `Referer`, if it names this origin.
    #[must_use]
    pub fn referring_page(&self) -> Option<&str> {
        let referrer = self.parts.headers.get(header::REFERER)?.to_str().ok()?;
        let host_at = referrer.find("://")? + 3;
        let (origin, page) = referrer.split_at(host_at + referrer[host_at..].find('/')?);
        is_own_origin(&self.app, &self.parts.headers, origin).then_some(page)
    }

    /// The session's own form, with the copy that it names. A copy of another session is forged.
    pub(super) fn form_of_session(&self, secret: &CookieSecret) -> Result<&Form, Error> {
        let form = self.verified_form(secret)?;
        let is_own = !form.has(COPY) || secret.open_copy(form.get(COPY)).is_some();
        if is_own { Ok(form) } else { Err(Error::ForgedForm) }
    }

    /// The form without the CSRF check, to show its fields again or to choose the operation's name.
    #[must_use]
    pub fn unverified_form(&self) -> Form {
        self.form.clone().unwrap_or_default()
    }

    /// The id in a path parameter. A malformed id is [`Error::NotFound`]: it names no record.
    pub fn path_id<T: std::str::FromStr>(&self, name: &str) -> Result<T, Error> {
        let value = self.path.iter().find(|(parameter, _)| parameter == name).map(|(_, value)| value);
        value.and_then(|value| value.parse().ok()).ok_or_else(Error::not_found)
    }

    /// Reads a page's query as strictly as the API does: otherwise a typo would show the whole list. There is no other
    /// way to read it.
    pub fn read_query<T: Deserr<FieldErrors>>(&self) -> Result<T, Error> {
        input::read_query(self.parts.uri.query()).map_err(Error::Invalid)
    }

    /// Reads the query of a list's page, its order from `sort`, the newest first unless it says otherwise, and from
    /// `show` which records it has: the current ones unless it says otherwise.
    pub fn read_list_query<T: Deserr<FieldErrors>>(&self) -> Result<(Order, Shelf, T), Error> {
        let (order, wanted, query) = self.read_sorted_query()?;
        Ok((order.unwrap_or(Order::NewestFirst), wanted.unwrap_or(Shelf::Current), query))
    }

    /// Reads the query of a list's page, its order from `sort` and its shelf from `show`, if it says so.
    pub fn read_sorted_query<T: Deserr<FieldErrors>>(&self) -> Result<(Option<Order>, Option<Shelf>, T), Error> {
        let pairs = self.parts.uri.query().unwrap_or_default().split('&');
        let (of_list, rest): (Vec<_>, Vec<_>) =
            pairs.partition(|pair| pair.starts_with("sort=") || pair.starts_with("show="));
        let ListOrder { sort, show } = input::read_query(Some(&of_list.join("&"))).map_err(Error::Invalid)?;
        let query = input::read_query(Some(&rest.join("&"))).map_err(Error::Invalid)?;
        Ok((sort.get(), show.get(), query))
    }

    /// The state that all functions share.
    #[must_use]
    pub fn app(&self) -> &AppState {
        &self.app
    }

    /// The request's id, which pages show for support.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.record.request_id()
    }

    /// When the request began.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.record.now()
    }

    /// When the request must stop reading files, to answer in time.
    #[must_use]
    pub fn reading_deadline(&self) -> Instant {
        self.record.reading_deadline()
    }

    pub(super) fn record(&self) -> &CallRecord {
        &self.record
    }

    pub(super) fn write_budget(&self) -> Budget {
        self.record.write_budget()
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// The URI.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.parts.uri
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The secret in a cookie of the request.
    #[must_use]
    pub fn cookie(&self, cookie: Cookie) -> Option<CookieSecret> {
        cookie.read(&self.app, &self.parts.headers)
    }

    /// The `Set-Cookie` header that corrects the browser's hint about its session's owner, if it is wrong.
    #[must_use]
    pub fn owner_cookie(&self) -> Option<HeaderValue> {
        // A participant's pages say nothing about a member's session in the same browser.
        if self.participant_session.is_some() {
            return None;
        }
        let owner = self.signed_in.as_ref().map(|signed_in| signed_in.session().owner());
        owner_hint::update(&self.app, &self.parts.headers, owner.as_ref())
    }

    /// The name of the browser's program, as it says.
    pub(super) fn user_agent(&self) -> Option<&str> {
        self.parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok())
    }

    pub(super) fn client_address(&self) -> Option<ClientAddress> {
        self.parts.extensions.get().copied()
    }

    /// The record ids in the path, 16 bytes each, for the audit row.
    pub(super) fn path_record_ids(&self) -> Vec<u8> {
        let values = self.path.iter().map(|(_, value)| value);
        values.filter_map(|value| Uuid::try_parse(value).ok()).flat_map(Uuid::into_bytes).collect()
    }

    /// The redirect for a commit that takes effect although it seems to fail.
    #[must_use]
    pub fn redirect_if_committed(&self) -> Option<&Redirect> {
        self.redirect_if_committed.get()
    }

    /// Writes the audit row. True if a commit took effect although it seemed to fail. On an error, give no answer.
    pub async fn audit(&self, status: StatusCode, code: &str, objects: &[Uuid]) -> Result<bool, Error> {
        // After a server error, `CallRecord::audit` finds the commit's row, and the response shows what the commit did.
        if self.record.is_committed() && !status.is_server_error() {
            return Ok(false);
        }
        let shown: Vec<u8> = objects.iter().flat_map(Uuid::as_bytes).copied().collect();
        let refresh = async {
            if let Some(signed_in) = self.signed_in.as_ref().filter(|_| self.method().is_safe()) {
                signed_in.refresh_session().await;
            }
            if let Some(session) = self.participant_session.as_ref().filter(|_| self.method().is_safe()) {
                session.refresh_session().await;
            }
        };
        let (written, ()) = tokio::join!(self.record.audit(self.scope(), status, code, &shown), refresh);
        Ok(written?.is_some())
    }

    /// The call's span in the log.
    #[must_use]
    pub fn span(&self) -> Span {
        self.record.span().clone()
    }

    /// Logs how the call ended.
    pub fn log(&self, status: StatusCode, code: &str, cause: Option<String>) {
        self.record.log(self.scope(), status, code, cause);
    }
}
