//! From a handler's result to the response: status, audit row, log line, security headers, and error pages.

use std::borrow::Cow;

use askama::Template;
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::Stream;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, StatusCode, header};
use shared::api::gzip;
use shared::api::response::REQUEST_ID;
use shared::error::{Error, ErrorCode};
use shared::limits;
use shared::web::cookies::Cookie;
use shared::web::next::safe_next;
use shared::web::{FILES, FormAnswer, Redirect, Request};
use uuid::Uuid;

use crate::layout::{Layout, Link};
use crate::urls::{encode_query_value, part_url};

/// A response, and what the audit row and the log say about it.
pub struct PageResponse {
    status: StatusCode,
    code: &'static str,
    body: String,
    file: Option<File>,
    location: Option<String>,
    cookies: Vec<HeaderValue>,
    objects: Vec<Uuid>,
    cause: Option<String>,
    is_public: bool,
}

struct File {
    content: Body,
    content_type: &'static str,
    disposition: String,
}

impl PageResponse {
    /// Sends a download in parts. If a read fails, the response breaks off: nobody takes a fragment for the whole.
    pub fn stream(
        parts: impl Stream<Item = Result<String, Error>> + Send + 'static,
        content_type: &'static str,
        name: &str,
    ) -> Self {
        Self::file_of(Body::from_stream(parts), content_type, "attachment", name)
    }

    /// A file that the browser shows (`inline`) or saves (`attachment`).
    pub fn file(content: Bytes, content_type: &'static str, disposition: &'static str, name: &str) -> Self {
        Self::file_of(Body::from(content), content_type, disposition, name)
    }

    fn file_of(content: Body, content_type: &'static str, disposition: &'static str, name: &str) -> Self {
        // RFC 6266: a plain ASCII name for old readers, and the whole name, percent-encoded.
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_.()".contains(letter);
        let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let disposition = format!("{disposition}; filename=\"{plain}\"; filename*=UTF-8''{}", encode_file_name(name));
        Self { file: Some(File { content, content_type, disposition }), ..Self::new(StatusCode::OK) }
    }

    /// A rendered page.
    pub fn render(template: &impl Template) -> Result<Self, Error> {
        let body = template.render().map_err(|error| Error::Internal(format!("rendering a page: {error}")))?;
        Ok(Self { body, ..Self::new(StatusCode::OK) })
    }

    /// A redirect to the page with a form's result.
    pub fn see_other(location: impl Into<String>) -> Self {
        Self { location: Some(location.into()), ..Self::new(StatusCode::SEE_OTHER) }
    }

    fn new(status: StatusCode) -> Self {
        Self {
            status,
            code: "ok",
            body: String::new(),
            file: None,
            location: None,
            cookies: Vec::new(),
            objects: Vec::new(),
            cause: None,
            is_public: false,
        }
    }

    /// Marks the response to a refused or failed form, in the title too: screen readers read it first.
    #[must_use]
    pub fn refused(mut self, status: StatusCode, code: &'static str) -> Self {
        if let Some((head, title)) = self.body.split_once("<title>")
            && !title.starts_with(ERROR_TITLE)
        {
            self.body = format!("{head}<title>{ERROR_TITLE}{title}");
        }
        self.with_status(status, code)
    }

    /// Sets status and code of a page that doesn't respond to a form.
    #[must_use]
    pub fn with_status(self, status: StatusCode, code: &'static str) -> Self {
        Self { status, code, ..self }
    }

    /// Whether the request was refused or failed.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.status.is_success() && !self.status.is_redirection()
    }

    pub(crate) fn as_answer(&self) -> Option<FormAnswer> {
        let cookies = self.cookies.iter().filter_map(|cookie| cookie.to_str().ok()).map(str::to_owned).collect();
        Some(FormAnswer { location: self.location.clone()?, cookies })
    }

    pub(crate) fn repeated(FormAnswer { location, cookies }: FormAnswer) -> Self {
        let cookies = cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()).collect();
        Self { cookies, ..Self::see_other(location) }.with_status(StatusCode::SEE_OTHER, "replayed")
    }

    /// Marks the page as the response to a form with invalid input.
    #[must_use]
    pub fn unprocessable(self) -> Self {
        self.refused(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request")
    }

    /// Responds to a form that conflicts with a record's state.
    #[must_use]
    pub fn conflicting(self) -> Self {
        self.refused(StatusCode::CONFLICT, ErrorCode::Conflict.as_str())
    }

    /// Adds a failure's cause, for the log.
    #[must_use]
    pub fn because(self, cause: String) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// Responds to a form that can't be processed now and changed nothing; keeps what was typed. Logs `cause`.
    #[must_use]
    pub fn unavailable(self, cause: String) -> Self {
        let response = self.refused(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::InternalError.as_str());
        Self { cause: Some(cause), ..response }
    }

    /// Sets the ids of the records shown.
    #[must_use]
    pub fn showing(self, objects: impl IntoIterator<Item = Uuid>) -> Self {
        Self { objects: objects.into_iter().collect(), ..self }
    }

    /// Marks a page that shows nobody's data and no secret that another response shows too: it may be compressed.
    #[must_use]
    pub fn public(self) -> Self {
        Self { is_public: true, ..self }
    }

    /// Adds a `Set-Cookie` header.
    #[must_use]
    pub fn with_cookie(mut self, cookie: Option<HeaderValue>) -> Self {
        self.cookies.extend(cookie);
        self
    }
}

impl From<Redirect> for PageResponse {
    fn from(Redirect { location, cookie }: Redirect) -> Self {
        Self::see_other(location).with_cookie(cookie)
    }
}

const ERROR_TITLE: &str = "Error: ";

/// A page with just a message.
#[derive(Template)]
#[template(path = "message.html")]
pub struct MessagePage {
    /// The layout.
    pub layout: Layout,
    /// The title.
    pub title: &'static str,
    /// The message.
    pub text: Cow<'static, str>,
    /// Where to continue.
    pub link: Link,
    /// Whether support needs the request id.
    pub shows_request_id: bool,
}

/// Writes a request's audit row and log line, and makes its response.
pub async fn finish(request: &Request, route: RouteKind, result: Result<PageResponse, Error>) -> Response {
    let mut response = result.unwrap_or_else(|error| failure(request, route, &error));
    match request.audit(response.status, response.code, &response.objects).await {
        Ok(false) => {}
        // A commit that seemed to fail took effect; only its response was lost. Show the current state.
        Ok(true) => {
            response = match request.redirect_if_committed() {
                Some(redirect) => redirect.clone().into(),
                None => PageResponse::see_other(page_of(request, route).unwrap_or("/app")),
            }
        }
        // Never answer a request without an audit row.
        Err(error) => response = failure(request, route, &error),
    }
    request.log(response.status, response.code, response.cause.clone());
    into_http(request, response)
}

fn failure(request: &Request, route: RouteKind, error: &Error) -> PageResponse {
    let (status, code) = error.status();
    if route == RouteKind::Part {
        return part_failure(request, route, error);
    }
    if matches!(error, Error::Unauthenticated) {
        return to_sign_in(request, sign_in_url(request, route));
    }
    let (title, text) = failure_message(error, request.method().is_safe());
    let layout = Layout::new(request);
    let link = Link { url: "/app".to_owned(), text: "Go to Home".to_owned() };
    let shows_request_id = status.is_server_error();
    let page = PageResponse::render(&MessagePage { layout, title, text, link, shows_request_id });
    let response = page.unwrap_or_else(|_| PageResponse::see_other("/app"));
    PageResponse { cause: error.cause(), ..response.with_status(status, code.as_str()) }
}

fn part_failure(request: &Request, route: RouteKind, error: &Error) -> PageResponse {
    let (status, code) = error.status();
    let (title, text) = match error {
        Error::Unauthenticated => (
            "Open your link again",
            "These pages close two hours after you last used them. Your link, from the message that you got, opens them again, and you go on where you stopped.".into(),
        ),
        Error::NoSuchRoute | Error::NotFound(_) => {
            ("There is nothing here", "The address is wrong, or what was here is not part of your agreement.".into())
        }
        other => failure_message(other, request.method().is_safe()),
    };
    let own = request.participant_session().ok().map(|session| part_url(session.participant().id()));
    let (url, text_of_link) = match own {
        Some(url) => (url, "Go to your agreement"),
        // A form has no page at its own address.
        None if !request.method().is_safe() => {
            let parent = request.uri().path().rsplit_once('/').map_or("/app", |(parent, _)| parent);
            (page_of(request, route).unwrap_or(parent).to_owned(), "Try again")
        }
        None => (request.uri().path().to_owned(), "Try again"),
    };
    let layout = Layout::of_participant(request);
    let link = Link { url, text: text_of_link.to_owned() };
    let page =
        PageResponse::render(&MessagePage { layout, title, text, link, shows_request_id: status.is_server_error() });
    let response = page.unwrap_or_else(|_| PageResponse::see_other("/app"));
    PageResponse { cause: error.cause(), ..response.with_status(status, code.as_str()) }
}

/// Redirects a request without a session to the sign-in page at `url`.
pub fn to_sign_in(request: &Request, url: String) -> PageResponse {
    // Removes the cookie of an ended session.
    let ended = request.cookie(Cookie::Session).and_then(|_| Cookie::Session.set(request.app(), None));
    let code = ErrorCode::Unauthenticated.as_str();
    PageResponse::see_other(url).with_status(StatusCode::SEE_OTHER, code).with_cookie(ended)
}

/// `is_page` tells a page's error from a form's.
fn failure_message(error: &Error, is_page: bool) -> (&'static str, Cow<'static, str>) {
    if let Error::Invalid(errors) = error
        && is_page
    {
        let text = format!(
            "The link asks for something that this page doesn’t have, so nothing is shown rather than too much: {errors}. Open the page from the menu and choose what you’re looking for there."
        );
        return ("This page can’t be shown that way", text.into());
    }
    let (title, text) = failure_text(error);
    (title, text.into())
}

fn failure_text(error: &Error) -> (&'static str, &'static str) {
    match error {
        Error::ForgedForm => (
            "This form is no longer valid",
            "It was opened in another session, or did not come from Countersign. Nothing has changed. Open the page again and repeat what you wanted to do.",
        ),
        Error::FormUsed => ("This form was already used", "What was sent with it first is recorded, and nothing else."),
        Error::NoSuchRoute | Error::NotFound(_) => (
            "There is nothing here",
            "The address is wrong, or what was here belongs to another organization. Check the link, or look for it from Home.",
        ),
        Error::RateLimited => (
            "Too many requests at once",
            "Your organization sends more requests than it may. Nothing has changed. Wait a second, then try again.",
        ),
        Error::AdminsOnly => (
            "This page is for admins",
            "Settings of your organization are changed by its admins. Ask one of them for what you need.",
        ),
        Error::MethodNotAllowed { .. } => {
            ("This page can’t do that", "The address is right, but not for this kind of request.")
        }
        Error::Invalid(errors) if errors.clone().into_list().iter().any(|error| error.field == FILES) => (
            "That is more than 4 MB",
            "A form can have up to 4 MB, with all its files together. Nothing has changed. Go back, choose smaller files or fewer, and try again.",
        ),
        Error::Invalid(_) => (
            "That form could not be read",
            "Something in it is missing, twice, or too long. Nothing has changed. Go back and try again.",
        ),
        _ => (
            "Something went wrong on our side",
            "Nothing is known to have changed. Try again in a moment; if it stays like this, send the number below to support.",
        ),
    }
}

fn sign_in_url(request: &Request, route: RouteKind) -> String {
    match page_of(request, route).filter(|page| *page != "/app") {
        Some(page) => format!("/app/sign-in?next={}", encode_query_value(page)),
        None => "/app/sign-in".to_owned(),
    }
}

/// The requested page, or the page whose form was submitted.
pub fn page_of(request: &Request, route: RouteKind) -> Option<&str> {
    let page = match route {
        RouteKind::Page => request.uri().path_and_query().map(PathAndQuery::as_str),
        RouteKind::Action | RouteKind::Part => request.referring_page(),
    };
    page.and_then(safe_next)
}

/// Allows pages only the app's own stylesheet and script, and forms and requests to the app.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// Files load nothing, and no page frames them. Browsers' own PDF pages need a style and embed the file.
const FILE_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
);

/// Percent-encodes a file name as in RFC 8187.
fn encode_file_name(name: &str) -> String {
    encode_query_value(name).replace('/', "%2F")
}

/// An address with a secret is sent nowhere, not even to this origin. `no-referrer` would hide forms' origin too.
fn referrer_policy(request: &Request) -> HeaderValue {
    let is_secret = SECRET_ADDRESSES.iter().any(|prefix| request.uri().path().starts_with(prefix));
    HeaderValue::from_static(if is_secret { "strict-origin" } else { "same-origin" })
}

const SECRET_ADDRESSES: [&str; 3] = ["/app/invitations/", "/app/links/", "/app/password-links/"];

fn into_http(request: &Request, page: PageResponse) -> Response {
    let is_asked = page.is_public && gzip::is_accepted(request.headers());
    let compressed = is_asked.then(|| gzip::compressed(&page.body).ok()).flatten();
    let is_compressed = compressed.is_some();
    let (file, body) = match page.file {
        Some(File { content, content_type, disposition }) => (Some((content_type, disposition)), content),
        None => (None, compressed.map_or_else(|| Body::from(page.body), Body::from)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = page.status;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, referrer_policy(request)),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ];
    headers.extend(fixed);
    if page.is_public {
        gzip::describe(headers, is_compressed);
    }
    if let Some((content_type, disposition)) = file {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(header::CONTENT_SECURITY_POLICY, FILE_SECURITY_POLICY);
        if let Ok(disposition) = HeaderValue::try_from(disposition) {
            headers.insert(header::CONTENT_DISPOSITION, disposition);
        }
    }
    if !request.app().insecure_cookies {
        let one_year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, one_year);
    }
    if let Ok(id) = HeaderValue::try_from(request.request_id().to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    if page.code == ErrorCode::RateLimited.as_str() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(limits::RATE_LIMITED_RETRY_AFTER_S));
    }
    if let Some(location) = page.location.and_then(|to| HeaderValue::try_from(to).ok()) {
        headers.insert(header::LOCATION, location);
    }
    for cookie in page.cookies.into_iter().chain(request.owner_cookie()) {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}

/// Decides where a person returns after signing in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteKind {
    /// A page: they return to it.
    Page,
    /// Only accepts forms of other pages: they return to the form's page.
    Action,
    /// A participant's, who has no account to sign in to: their link reopens it.
    Part,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proxies in front of the functions write their own logs; only an operator can keep secrets out of those.
    #[test]
    fn the_handbook_names_every_address_with_a_secret() {
        let handbook = include_str!("../../../infra/OPERATIONS.md");
        for address in SECRET_ADDRESSES {
            assert!(handbook.contains(&format!("`{address}*`")), "{address}");
        }
    }
}
