//! Forms that arrive when their session has ended: what was typed is kept, and can be submitted again after signing in.
//!
//! Decision: one page does it for all forms. It shows what was typed and has the form's fields, so that the press of its
//! button is the same form again, and the page that belongs to it checks the fields as always. The text is sealed in a cookie
//! for the member to whom the browser says that the session belonged. Where the browser does not say so, or the text is too
//! long, it is shown at once, to be copied. Decisions have their own way (`proposal`): they lead back to the review.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::from_str;
use shared::error::Error;
use shared::web::next::safe_next;
use shared::web::{Flash, Form, Request};
use uuid::Uuid;

use crate::layout::{Layout, encode_query_value};
use crate::proposals;
use crate::response::{PageResponse, page_of, to_sign_in};
use crate::{Handler, RouteKind};

/// The path of the page.
pub(crate) const PATH: &str = "/app/unsent";

/// The title of the page.
pub(crate) const TITLE: &str = "Your session ended. Nothing was saved.";

/// Fields that nobody types: ids and versions, which values tell too, and the choice of a button.
const NOT_TYPED: [&str; 8] = ["act", "decision", "id", "member", "seen", "template", "to", "version"];

/// A form as it was typed.
struct Unsent {
    /// Where the form is sent.
    path: String,
    /// The page of the form.
    back: String,
    fields: Vec<(String, String)>,
    /// Whether a file was chosen, which is not kept.
    had_file: bool,
}

impl Unsent {
    /// The form of a request. None if there is nothing to keep: nothing was typed, or it has secrets.
    fn of(request: &Request, form: &Form, back: &str) -> Option<Self> {
        let fields: Vec<(String, String)> =
            form.typed().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let has_secrets = fields.iter().any(|(name, _)| name.contains("password") || name.contains("code"));
        let unsent = Self {
            path: request.uri().path().to_owned(),
            back: back.to_owned(),
            fields,
            had_file: form.file("file").is_some(),
        };
        (!has_secrets && unsent.typed().next().is_some()).then_some(unsent)
    }

    fn encode(&self) -> String {
        serde_json::json!([self.path, self.back, self.fields, self.had_file]).to_string()
    }

    fn decode(text: &str) -> Option<Self> {
        let (path, back, fields, had_file): (String, String, _, _) = from_str(text).ok()?;
        Some(Self { path: safe_next(&path)?.to_owned(), back: safe_next(&back)?.to_owned(), fields, had_file })
    }

    /// What a person typed or chose, with its label.
    fn typed(&self) -> impl Iterator<Item = (String, &str)> {
        let is_typed = |(name, value): &&(String, String)| {
            !NOT_TYPED.contains(&name.as_str()) && !value.trim().is_empty() && Uuid::try_parse(value).is_err()
        };
        self.fields.iter().filter(is_typed).map(|(name, value)| (label(name), value.as_str()))
    }
}

/// The label of a field: its name in words.
fn label(name: &str) -> String {
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
    had_file: bool,
    /// The form that is submitted again. None on the page from which the text is copied.
    again: Option<Again>,
    sign_in_url: String,
}

struct Again {
    path: String,
    back: String,
    fields: Vec<(String, String)>,
}

impl UnsentPage {
    fn new(layout: Layout, unsent: Unsent) -> Self {
        Self {
            layout,
            title: TITLE,
            lead: "This is what you typed. Submit it again, or go back without it.",
            typed: unsent.typed().map(|(label, value)| (label, value.to_owned())).collect(),
            had_file: unsent.had_file,
            again: Some(Again { path: unsent.path, back: unsent.back, fields: unsent.fields }),
            sign_in_url: String::new(),
        }
    }

    /// The page of a text that can't be kept.
    fn to_copy(layout: Layout, unsent: Unsent) -> Self {
        let sign_in_url = format!("/app/sign-in?next={}", encode_query_value(&unsent.back));
        let lead = "What you typed can’t be kept. Copy it, then sign in and enter it again.";
        Self { lead, again: None, sign_in_url, ..Self::new(layout, unsent) }
    }
}

/// The result of a request; or, of a form whose session has ended or is no longer the browser's, what keeps the text that was
/// typed in it.
pub(crate) async fn or_kept(
    request: &Request,
    route: RouteKind,
    result: Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    let is_late = matches!(result, Err(Error::Unauthenticated | Error::ForgedForm));
    let kept = if is_late { keep(request, page_of(request, route).unwrap_or("/app")).await } else { None };
    kept.map_or(result, Ok)
}

async fn keep(request: &Request, back: &str) -> Option<PageResponse> {
    let is_decision = request.uri().path().starts_with(proposals::PATH);
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
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_unsent_form"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let member = request.signed_in()?.member().id();
        // The cookie stays until its time is over, so that a page that is reloaded loses nothing.
        let kept = Flash::UnsentForm(member).read(request).await?;
        match kept.as_deref().and_then(Unsent::decode) {
            Some(unsent) => PageResponse::render(&UnsentPage::new(Layout::new(request), unsent)),
            None => Ok(PageResponse::see_other("/app")),
        }
    }
}
