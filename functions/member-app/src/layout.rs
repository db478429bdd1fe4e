//! What all pages share: the frame around them, the way from an answer to a response, and the pages that say that
//! something is not there or went wrong.

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, StatusCode, header};
use shared::api::pipeline::REQUEST_ID;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::web::Request;
use shared::web::cookies::Cookie;
use shared::web::next::safe_next;
use uuid::Uuid;

use crate::{Address, style};

/// What is around every page.
pub(crate) struct Layout {
    pub style: String,
    /// Which of the navigation's pages it is, or belongs to.
    pub section: &'static str,
    pub request_id: String,
    pub who: Option<Who>,
}

/// Who is signed in, as the frame shows it.
pub(crate) struct Who {
    pub name: String,
    pub organization: String,
    pub form_token: String,
    pub is_admin: bool,
}

impl Layout {
    pub fn new(request: &Request) -> Self {
        let who = request.signed_in().ok().map(|signed_in| Who {
            name: signed_in.member().name().as_str().to_owned(),
            organization: signed_in.organization().name.as_str().to_owned(),
            form_token: signed_in.form_token(),
            is_admin: signed_in.member().is_admin(),
        });
        let path = request.uri().path();
        let section = match path.trim_end_matches('/') {
            "/app" => "home",
            "/app/account" => "account",
            "/app/workspaces" => "workspaces",
            "/app/members" => "members",
            "/app/developers" => "developers",
            _ => "",
        };
        Self { style: style::link(), section, request_id: request.request_id().to_string(), who }
    }

    /// What forms on the page carry.
    pub fn form_token(&self) -> &str {
        self.who.as_ref().map_or("", |who| &who.form_token)
    }
}

/// A moment as pages show it.
pub(crate) struct Moment {
    pub machine: String,
    pub text: String,
}

impl From<Timestamp> for Moment {
    fn from(moment: Timestamp) -> Self {
        Self { machine: moment.to_string(), text: moment.for_people() }
    }
}

/// Something that the page says before anything else.
pub(crate) struct Notice {
    /// The class of its look: `bad`, `warn` or `good`.
    pub look: &'static str,
    pub title: String,
    pub lines: Vec<String>,
}

/// How a call is answered.
pub(crate) struct Answer {
    status: StatusCode,
    code: &'static str,
    body: String,
    location: Option<String>,
    cookies: Vec<HeaderValue>,
    objects: Vec<Uuid>,
    cause: Option<String>,
}

impl Answer {
    /// A page.
    pub fn page(template: &impl Template) -> Result<Self, Error> {
        let body = template.render().map_err(|error| Error::Internal(format!("rendering a page: {error}")))?;
        Ok(Self {
            status: StatusCode::OK,
            code: "ok",
            body,
            location: None,
            cookies: Vec::new(),
            objects: Vec::new(),
            cause: None,
        })
    }

    /// On to another page, which shows the outcome.
    pub fn see_other(location: impl Into<String>) -> Self {
        Self {
            status: StatusCode::SEE_OTHER,
            code: "ok",
            body: String::new(),
            location: Some(location.into()),
            cookies: Vec::new(),
            objects: Vec::new(),
            cause: None,
        }
    }

    /// The same as a refusal.
    pub fn refused(self, status: StatusCode, code: &'static str) -> Self {
        Self { status, code, ..self }
    }

    /// The same with the ids of the records that it shows, for the audit row.
    pub fn showing(self, objects: impl IntoIterator<Item = Uuid>) -> Self {
        Self { objects: objects.into_iter().collect(), ..self }
    }

    /// The same with a cookie.
    pub fn with_cookie(mut self, cookie: Option<HeaderValue>) -> Self {
        self.cookies.extend(cookie);
        self
    }
}

/// A page that only says something.
#[derive(Template)]
#[template(path = "message.html")]
struct Message {
    layout: Layout,
    title: &'static str,
    text: &'static str,
    link: (&'static str, &'static str),
    shows_id: bool,
}

/// Puts a call on record, tells the log, and makes the response.
pub(crate) async fn finish(request: &Request, address: Address, ended: Result<Answer, Error>) -> Response {
    let mut answer = ended.unwrap_or_else(|error| failure(request, address, &error));
    match request.audit(answer.status, answer.code, &answer.objects).await {
        Ok(false) => {}
        // A commit that seemed to have failed took effect, its answer lost on the way: the page shows what is.
        Ok(true) => answer = Answer::see_other(page_of(request, address).unwrap_or("/app")),
        // What is not on record must not be answered.
        Err(error) => answer = failure(request, address, &error),
    }
    request.log(answer.status, answer.code, answer.cause.clone());
    respond(request, answer)
}

/// How a failure is shown.
fn failure(request: &Request, address: Address, error: &Error) -> Answer {
    let (status, code) = error.status();
    if matches!(error, Error::Unauthenticated) {
        let to = Answer::see_other(sign_in_for(request, address)).refused(StatusCode::SEE_OTHER, code.as_str());
        // A cookie that names no session any more is of no use.
        let dead = request.cookie(Cookie::Session).and_then(|_| Cookie::Session.set(request.app(), None));
        return to.with_cookie(dead);
    }
    let home = ("/app", "Go to Home");
    let (title, text, link, shows_id) = match error {
        Error::ForgedForm => (
            "This form is no longer valid",
            "It was opened in another session, or did not come from Countersign. Nothing has changed. Open the page again and repeat what you wanted to do.",
            home,
            false,
        ),
        Error::NoSuchRoute | Error::NotFound(_) => (
            "There is nothing here",
            "The address is wrong, or what was here belongs to another organization. Check the link, or look for it from Home.",
            home,
            false,
        ),
        Error::AdminsOnly => (
            "This page is for admins",
            "Settings of your organization are changed by its admins. Ask one of them for what you need.",
            home,
            false,
        ),
        Error::MethodNotAllowed { .. } => {
            ("This page can’t do that", "The address is right, but not for this kind of request.", home, false)
        }
        Error::Invalid(_) => (
            "That form could not be read",
            "Something in it is missing, twice, or too long. Nothing has changed. Go back and try again.",
            home,
            false,
        ),
        _ => (
            "Something went wrong on our side",
            "Nothing is known to have changed. Try again in a moment; if it stays like this, send the number below to support.",
            home,
            true,
        ),
    };
    let message = Message { layout: Layout::new(request), title, text, link, shows_id };
    let page = Answer::page(&message).unwrap_or_else(|_| Answer::see_other("/app"));
    Answer { cause: error.cause(), ..page.refused(status, code.as_str()) }
}

/// Where somebody signs in to come back to what they wanted.
fn sign_in_for(request: &Request, address: Address) -> String {
    match page_of(request, address).filter(|page| *page != "/app") {
        Some(page) => format!("/app/sign-in?next={}", in_query(page)),
        None => "/app/sign-in".to_owned(),
    }
}

/// The page that was asked for, or on which the form was that was sent.
fn page_of(request: &Request, address: Address) -> Option<&str> {
    let page = match address {
        Address::Page => request.uri().path_and_query().map(PathAndQuery::as_str),
        Address::ActOnly => request.referring_page(),
    };
    page.and_then(safe_next)
}

/// A text as the value of a query's parameter.
pub(crate) fn in_query(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// What browsers are told to let a page do: show itself, with our stylesheet, and send forms to us.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

fn respond(request: &Request, answer: Answer) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // Not `no-referrer`, which would take the origin from forms too.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ];
    headers.extend(fixed);
    if !request.app().insecure_cookies {
        let a_year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, a_year);
    }
    if let Ok(id) = HeaderValue::try_from(request.request_id().to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(location) = answer.location.and_then(|to| HeaderValue::try_from(to).ok()) {
        headers.insert(header::LOCATION, location);
    }
    for cookie in answer.cookies {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}
