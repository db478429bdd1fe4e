//! Keeps what was typed in a form that arrives after its session has ended, to be submitted again after signing in.
//!
//! Decision: one page serves all forms. It shows what was typed and has the form's fields, so that its button submits
//! the same form, and the handler checks it as always. The text is sealed in a cookie for the member whose session it
//! was, as the browser says. If the browser doesn't say so, or the text is too long, the page shows it at once, to be
//! copied. Decisions lead back to the review instead (`proposal`).
//!
//! Participants have no account, and answers are longer than a cookie. So the page itself keeps their form: they open
//! their link in another tab, come back, and submit it again. A signature, typed or drawn, leads back to its document
//! with everything in place: it must be given in sight of the document, so nothing is signed from here. No page has
//! account numbers: text with one is shown, to be entered again.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::from_str;
use shared::domain::information::typed::{is_answer, is_secret};
use shared::domain::participant::receipt::Drawing;
use shared::domain::sensitive::has_account_number;
use shared::error::Error;
use shared::web::next::safe_next;
use shared::web::{Flash, Form, Request};
use uuid::Uuid;

use crate::layout::{Layout, Link};
use crate::response::{PageResponse, RouteKind, page_of, to_sign_in};
use crate::urls::{PROPOSALS, encode_query_value};

/// The page's path.
pub const PATH: &str = "/app/unsent";

/// The page's title.
pub const TITLE: &str = "Your session ended. Nothing was saved.";

/// Fields that nobody types: ids, versions and a button's choice.
const NOT_TYPED: [&str; 9] = ["act", "decision", "id", "member", "seen", "statement", "template", "to", "version"];

/// Fields of a signature's form that nobody types: the shown document, and the drawing, which is shown as a picture.
const NOT_TYPED_TO_SIGN: [&str; 3] = ["blocks", "drawing", "sha256"];

struct Unsent {
    path: String,
    back: String,
    fields: Vec<(String, String)>,
    had_file: bool,
}

const CHECKED: &str = "on";

/// The typed name: only a signature's form has this field.
const SIGNATURE: &str = "signature";

impl Unsent {
    /// None if nothing was typed, or the form has secrets.
    fn of(request: &Request, form: &Form, back: &str) -> Option<Self> {
        Some(Self::shown(request, form, back)).filter(|unsent| !unsent.has_secrets() && unsent.has_content())
    }

    /// The form of a request, without what no page shows again.
    fn shown(request: &Request, form: &Form, back: &str) -> Self {
        let shown = form.typed().filter(|field| !is_withheld(request, field));
        let fields = shown.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { path: request.uri().path().to_owned(), back: back.to_owned(), fields, had_file: form.has_file() }
    }

    /// Whether it has passwords or codes. Those of answers are left out before. A postal code is none.
    fn has_secrets(&self) -> bool {
        let is_secret = |name: &str| !is_answer(name) && (name.contains("password") || name.contains("code"));
        self.fields.iter().any(|(name, _)| is_secret(name))
    }

    fn has_content(&self) -> bool {
        self.typed().next().is_some() || self.drawing().is_some()
    }

    fn is_signature(&self) -> bool {
        self.fields.iter().any(|(name, _)| name == SIGNATURE)
    }

    /// As the `d` of an SVG path.
    fn drawing(&self) -> Option<Drawing> {
        let (_, drawn) = self.fields.iter().find(|(name, _)| name == "drawing").filter(|_| self.is_signature())?;
        Drawing::parse(drawn).ok()
    }

    fn encode(&self) -> String {
        serde_json::json!([self.path, self.back, self.fields, self.had_file]).to_string()
    }

    fn decode(text: &str) -> Option<Self> {
        let (path, back, fields, had_file): (String, String, _, _) = from_str(text).ok()?;
        Some(Self { path: safe_next(&path)?.to_owned(), back: safe_next(&back)?.to_owned(), fields, had_file })
    }

    fn typed(&self) -> impl Iterator<Item = (String, &str)> {
        let of_page: &[&str] = if self.is_signature() { &NOT_TYPED_TO_SIGN } else { &[] };
        let is_typed = move |(name, value): &&(String, String)| {
            !NOT_TYPED.contains(&name.as_str())
                && !of_page.contains(&name.as_str())
                && !value.trim().is_empty()
                && Uuid::try_parse(value).is_err()
                && !is_checked_answer(name, value)
        };
        self.fields.iter().filter(is_typed).map(|(name, value)| (label(name), value.as_str()))
    }
}

/// Whether no page may show a field again: bank details, or a text about a payment with an account number.
fn is_withheld(request: &Request, (name, value): &(&str, &str)) -> bool {
    let path = request.uri().path();
    let is_about_payment = path.starts_with("/app/money/") || path.contains("/payments");
    is_secret(name) || (is_about_payment && has_account_number(value))
}

/// Whether a field is an answer's choice, whose text isn't known here.
fn is_checked_answer(name: &str, value: &str) -> bool {
    is_answer(name) && value == CHECKED
}

/// The field's name in words. An answer's name is its question's id.
fn label(name: &str) -> String {
    if is_answer(name) {
        return "Answer".to_owned();
    }
    let words = name.replace(['_', '.', '-'], " ");
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[derive(Template)]
#[template(path = "unsent.html")]
struct UnsentPage {
    layout: Layout,
    title: &'static str,
    lead: &'static str,
    typed: Vec<(String, String)>,
    drawing: Option<Drawing>,
    had_file: bool,
    again: Option<Again>,
    link: Link,
}

struct Again {
    path: String,
    fields: Vec<(String, String)>,
    button: &'static str,
    back: Option<String>,
}

impl UnsentPage {
    fn new(layout: Layout, unsent: Unsent) -> Self {
        Self {
            layout,
            title: TITLE,
            lead: "This is what you typed. Submit it again, or go back without it.",
            typed: unsent.typed().map(|(label, value)| (label, value.to_owned())).collect(),
            drawing: unsent.drawing(),
            had_file: unsent.had_file,
            again: Some(Again {
                path: unsent.path,
                fields: unsent.fields,
                button: "Submit again",
                back: Some(unsent.back.clone()),
            }),
            link: Link { url: unsent.back, text: "Go back".to_owned() },
        }
    }

    /// For answers with an account number, which no page shows again.
    fn to_enter_again(layout: Layout, unsent: Unsent) -> Self {
        let lead = "Account numbers are never shown again, so this form can’t be submitted from here. Copy what you need, open your link again, from the message that you got, and answer once more.";
        Self { lead, again: None, ..Self::new(layout, unsent) }
    }

    /// Keeps a participant's form until their link has opened a session again.
    fn until_reopened(layout: Layout, unsent: Unsent) -> Self {
        let lead = if unsent.is_signature() {
            "Your signature is kept on this page, and nothing is signed yet. Open your link in another tab, from the message that you got. Then come back here and go on to the document."
        } else {
            "What you typed is kept on this page. Open your link in another tab, from the message that you got. Then come back here and go on."
        };
        let page = Self::new(layout, unsent);
        let again = page.again.map(|again| Again { button: "I’ve opened my link", back: None, ..again });
        Self { lead, again, ..page }
    }

    fn to_add_again(layout: Layout, unsent: Unsent) -> Self {
        let page = Self::new(layout, unsent);
        // A file has to be chosen again in the form itself.
        let again = page.again.filter(|_| !page.had_file).map(|again| Again { button: "Add it again", ..again });
        let link = Link { text: "Open the form again".to_owned(), ..page.link };
        let lead = "What was sent with it first is recorded. What you typed since isn’t.";
        Self { title: "This form was already used. Add it again?", lead, again, link, ..page }
    }

    fn to_copy(layout: Layout, unsent: Unsent) -> Self {
        let sign_in_url = format!("/app/sign-in?next={}", encode_query_value(&unsent.back));
        let lead = "What you typed can’t be kept. Copy it, then sign in and enter it again.";
        let link = Link { url: sign_in_url, text: "Sign in".to_owned() };
        Self { lead, again: None, link, ..Self::new(layout, unsent) }
    }
}

/// Passes the result on; keeps the text of a form whose session has ended or is no longer the browser's.
pub async fn or_kept(
    request: &Request,
    route: RouteKind,
    result: Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    let is_late = matches!(result, Err(Error::Unauthenticated | Error::ForgedForm));
    let kept = if is_late { keep(request, page_of(request, route).unwrap_or("/app")).await } else { None };
    kept.map_or(result, Ok)
}

/// Passes the result on; keeps the text of a participant's form whose session has ended or is another one.
pub fn or_kept_of_part(request: &Request, result: Result<PageResponse, Error>) -> Result<PageResponse, Error> {
    let is_late = matches!(result, Err(Error::Unauthenticated | Error::ForgedForm));
    let kept = if is_late { keep_of_part(request) } else { None };
    kept.map_or(result, Ok)
}

pub(crate) enum UsedForm {
    /// The page that keeps what was typed, to submit it as a new copy.
    Kept(PageResponse),
    HasSecrets,
    Empty,
}

pub(crate) fn keep_used(request: &Request, layout: Layout, back: &str) -> Result<UsedForm, Error> {
    let form = request.unverified_form();
    let unsent = Unsent::shown(request, &form, back);
    let is_left_out = |field: (&str, &str)| is_withheld(request, &field) && !field.1.trim().is_empty();
    if unsent.has_secrets() || form.typed().any(is_left_out) {
        return Ok(UsedForm::HasSecrets);
    }
    if !unsent.has_content() && !unsent.had_file {
        return Ok(UsedForm::Empty);
    }
    PageResponse::render(&UnsentPage::to_add_again(layout, unsent)).map(UsedForm::Kept)
}

fn keep_of_part(request: &Request) -> Option<PageResponse> {
    let form = request.form_of_ended_session()?;
    // A form has no page at its own address.
    let parent = request.uri().path().rsplit_once('/').map_or("/app", |(parent, _)| parent);
    let back = page_of(request, RouteKind::Part).filter(|page| *page != request.uri().path()).unwrap_or(parent);
    let unsent = Unsent::of(request, form, back).filter(|_| request.method() == Method::POST)?;
    let has_secrets = form.typed().any(|field| is_withheld(request, &field) && !field.1.trim().is_empty());
    let (has_session, layout) = (request.attending().is_ok(), Layout::of_participant(request));
    let page = match (has_secrets, has_session) {
        (true, _) => UnsentPage::to_enter_again(layout, unsent),
        (false, false) => UnsentPage::until_reopened(layout, unsent),
        // Their link has opened a session in another tab.
        (false, true) => UnsentPage::new(layout, unsent),
    };
    let (status, code) =
        if has_session { (StatusCode::FORBIDDEN, "forbidden") } else { (StatusCode::UNAUTHORIZED, "unauthenticated") };
    Some(PageResponse::render(&page).ok()?.refused(status, code))
}

async fn keep(request: &Request, back: &str) -> Option<PageResponse> {
    let is_decision = request.uri().path().starts_with(PROPOSALS);
    if request.method() != Method::POST || is_decision {
        return None;
    }
    let unsent = Unsent::of(request, request.form_of_ended_session()?, back)?;
    if request.signed_in().is_ok() {
        // They have signed in again in another window.
        let page = PageResponse::render(&UnsentPage::new(Layout::new(request), unsent)).ok()?;
        return Some(page.refused(StatusCode::FORBIDDEN, "forbidden"));
    }
    if let Some(member) = request.owner_of_ended_session()
        && let Ok(Some(cookie)) = Flash::UnsentForm(member).keep(request, &unsent.encode()).await
    {
        let sign_in = to_sign_in(request, format!("/app/sign-in?next={PATH}&ended=form"));
        return Some(sign_in.with_cookie(Some(cookie)));
    }
    let page = PageResponse::render(&UnsentPage::to_copy(Layout::signed_out(request), unsent)).ok()?;
    Some(page.refused(StatusCode::UNAUTHORIZED, "unauthenticated"))
}

/// Shows what was typed, to submit it again.
pub async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let member = request.signed_in()?.member().id();
    // The cookie stays until it expires, so that reloading loses nothing.
    let kept = Flash::UnsentForm(member).read(request).await?;
    match kept.as_deref().and_then(Unsent::decode) {
        Some(unsent) => PageResponse::render(&UnsentPage::new(Layout::new(request), unsent)),
        None => Ok(PageResponse::see_other("/app")),
    }
}
