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
use serde::{Deserialize, Serialize};
use serde_json::{from_str, json};
use shared::domain::information::typed::is_secret;
use shared::domain::participant::receipt::Drawing;
use shared::domain::sensitive::has_account_number;
use shared::error::Error;
use shared::web::next::safe_next;
use shared::web::{Flash, Form, Request};

use crate::form::FormFields;
use crate::layout::{Layout, Link};
use crate::response::{PageResponse, RouteKind, page_of, to_sign_in};
use crate::urls::{PROPOSALS, encode_query_value};

/// The page's path.
pub const PATH: &str = "/app/unsent";

/// The page's title.
pub const TITLE: &str = "Your session ended. Nothing was saved.";

/// The form that a request submits.
#[derive(Debug, Clone, Copy)]
pub struct SentForm {
    /// Whether its page has its address.
    pub route: RouteKind,
    /// Its fields. None if nobody types anything in it.
    pub fields: Option<&'static dyn FormFields>,
}

impl SentForm {
    /// The label of what people typed. None for what the page filled in, and for a choice, whose text isn't known here.
    fn label(self, name: &str) -> Option<String> {
        self.fields?.label(name).map(str::to_owned)
    }

    /// Whether a field is a password, a code or an account number.
    fn is_secret(self, name: &str) -> bool {
        self.fields.is_some_and(|fields| fields.is_secret(name))
    }

    /// Whether the form has such fields, filled in or not: it is submitted only from its own page.
    fn has_secrets(self, form: &Form) -> bool {
        form.typed().any(|(name, _)| self.is_secret(name))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Unsent {
    path: String,
    back: String,
    fields: Vec<SentField>,
    had_file: bool,
}

/// In a cookie, which has little room, its fields have names of one letter.
#[derive(Debug, Serialize, Deserialize)]
struct SentField {
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "v")]
    value: String,
    /// None for what is not shown.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

const CHECKED: &str = "on";

/// The typed name: only a signature's form has this field.
const SIGNATURE: &str = "signature";

impl Unsent {
    /// None if nothing was typed, or the form has secrets.
    fn of(request: &Request, sent: SentForm, form: &Form, back: &str) -> Option<Self> {
        let unsent = Self::shown(request, sent, form, back);
        (unsent.has_content() && !sent.has_secrets(form)).then_some(unsent)
    }

    /// The form of a request, without what no page shows again.
    fn shown(request: &Request, sent: SentForm, form: &Form, back: &str) -> Self {
        let shown = form.typed().filter(|(name, value)| !is_withheld(request, name, value) && !sent.is_secret(name));
        let field =
            |(name, value): (&str, &str)| SentField { name: name.into(), value: value.into(), label: sent.label(name) };
        let path = request.uri().path().to_owned();
        Self { path, back: back.to_owned(), fields: shown.map(field).collect(), had_file: form.has_file() }
    }

    fn has_content(&self) -> bool {
        self.typed().next().is_some() || self.drawing().is_some()
    }

    fn is_signature(&self) -> bool {
        self.fields.iter().any(|field| field.name == SIGNATURE)
    }

    /// As the `d` of an SVG path.
    fn drawing(&self) -> Option<Drawing> {
        let drawing = self.fields.iter().find(|field| field.name == "drawing").filter(|_| self.is_signature())?;
        Drawing::parse(&drawing.value).ok()
    }

    fn encode(&self) -> String {
        json!(self).to_string()
    }

    fn decode(text: &str) -> Option<Self> {
        let unsent: Self = from_str(text).ok()?;
        (safe_next(&unsent.path).is_some() && safe_next(&unsent.back).is_some()).then_some(unsent)
    }

    fn typed(&self) -> impl Iterator<Item = (&str, &str)> {
        // A box's value says nothing.
        let typed = self.fields.iter().filter(|field| !field.value.trim().is_empty() && field.value != CHECKED);
        typed.filter_map(|field| Some((field.label.as_deref()?, field.value.as_str())))
    }
}

fn has_withheld(request: &Request, form: &Form) -> bool {
    form.typed().any(|(name, value)| is_withheld(request, name, value) && !value.trim().is_empty())
}

/// Whether no page may show a field again: bank details, or a text about a payment with an account number.
fn is_withheld(request: &Request, name: &str, value: &str) -> bool {
    let path = request.uri().path();
    let is_about_payment = path.starts_with("/app/money/") || path.contains("/payments");
    is_secret(name) || (is_about_payment && has_account_number(value))
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
    fields: Vec<SentField>,
    button: &'static str,
    back: Option<String>,
}

impl UnsentPage {
    fn new(layout: Layout, unsent: Unsent) -> Self {
        Self {
            layout,
            title: TITLE,
            lead: "This is what you typed. Submit it again, or go back without it.",
            typed: unsent.typed().map(|(label, value)| (label.to_owned(), value.to_owned())).collect(),
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
    sent: SentForm,
    result: Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    let is_late = matches!(result, Err(Error::Unauthenticated | Error::ForgedForm));
    let kept = if is_late { keep(request, sent).await } else { None };
    kept.map_or(result, Ok)
}

/// Passes the result on; keeps the text of a participant's form whose session has ended or is another one.
pub fn or_kept_of_part(
    request: &Request,
    sent: SentForm,
    result: Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    let is_late = matches!(result, Err(Error::Unauthenticated | Error::ForgedForm));
    let kept = if is_late { keep_of_part(request, sent) } else { None };
    kept.map_or(result, Ok)
}

pub(crate) enum UsedForm {
    /// The page that keeps what was typed, to submit it as a new copy.
    Kept(PageResponse),
    HasSecrets,
    Empty,
}

pub(crate) fn keep_used(request: &Request, sent: SentForm, layout: Layout, back: &str) -> Result<UsedForm, Error> {
    let form = request.unverified_form();
    let unsent = Unsent::shown(request, sent, &form, back);
    if sent.has_secrets(&form) || has_withheld(request, &form) {
        return Ok(UsedForm::HasSecrets);
    }
    let is_filled = form
        .typed()
        .any(|(name, value)| sent.fields.is_some_and(|fields| fields.has(name)) && !value.trim().is_empty());
    if !is_filled && !unsent.had_file {
        return Ok(UsedForm::Empty);
    }
    PageResponse::render(&UnsentPage::to_add_again(layout, unsent)).map(UsedForm::Kept)
}

fn keep_of_part(request: &Request, sent: SentForm) -> Option<PageResponse> {
    let form = request.form_of_ended_session()?;
    // A form has no page at its own address.
    let parent = request.uri().path().rsplit_once('/').map_or("/app", |(parent, _)| parent);
    let back = page_of(request, RouteKind::Part).filter(|page| *page != request.uri().path()).unwrap_or(parent);
    let unsent = Unsent::of(request, sent, form, back).filter(|_| request.method() == Method::POST)?;
    let has_secrets = has_withheld(request, form);
    let (has_session, layout) = (request.participant_session().is_ok(), Layout::of_participant(request));
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

async fn keep(request: &Request, sent: SentForm) -> Option<PageResponse> {
    let is_decision = request.uri().path().starts_with(PROPOSALS);
    if request.method() != Method::POST || is_decision {
        return None;
    }
    let back = page_of(request, sent.route).unwrap_or("/app");
    let unsent = Unsent::of(request, sent, request.form_of_ended_session()?, back)?;
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
