//! The pages on which members set up a draft.
//!
//! Each page edits one part of the draft, and each form carries what it showed of it ([`Part`], [`Seen`]). Members who
//! edit different parts both succeed; if a part has changed, the member sees it and keeps what they typed.

pub(crate) mod acts;
pub(crate) mod begin;
mod collision;
pub(crate) mod condition;
pub(crate) mod condition_form;
pub(crate) mod details;
pub(crate) mod documents;
pub(crate) mod overview;
pub(crate) mod participants;
pub(crate) mod payments;
mod promise_rows;
pub(crate) mod promises;
pub(crate) mod step;
pub(crate) mod terms;

use std::cmp::Ordering;

use askama::Template;
use http::StatusCode;
use pages::done::redirect_with;
use pages::fields::Fields;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::agreement_url;
use shared::domain::agreement::edit::{Part, Seen};
use shared::domain::agreement::{Agreement, Label, Lifecycle, ParticipantRole};
use shared::domain::ids::{AgreementId, MovementId};
use shared::domain::movement::safe_text::SafeLine;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::drafts::{self, EditRefused};
use shared::text;
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::FieldErrors;

use self::collision::Difference;

type Rule<'a> = Box<dyn Fn(&Agreement, Timestamp) -> Result<Agreement, FieldErrors> + Send + Sync + 'a>;

type Says<'a> = Box<dyn Fn(&Agreement, &Agreement) -> Notice + Send + Sync + 'a>;

#[derive(Debug, Clone, Copy)]
enum Subject {
    Part(Part),
    Payment(MovementId),
}

struct Edit<'a> {
    part: Option<Part>,
    rule: Rule<'a>,
    says: Says<'a>,
    location: String,
    section: &'static str,
    /// Whether the edit removes its part, which succeeds if it is already gone.
    removes: bool,
}

impl<'a> Edit<'a> {
    fn new(
        location: String,
        says: impl Fn(&Agreement, &Agreement) -> Notice + Send + Sync + 'a,
        rule: impl Fn(&Agreement, Timestamp) -> Result<Agreement, FieldErrors> + Send + Sync + 'a,
    ) -> Self {
        Self { part: None, rule: Box::new(rule), says: Box::new(says), location, section: "", removes: false }
    }

    fn of(self, part: Part) -> Self {
        Self { part: Some(part), ..self }
    }

    fn removing(self) -> Self {
        Self { removes: true, ..self }
    }

    fn within(self, section: &'static str) -> Self {
        Self { location: format!("{}#notice", self.location), section, ..self }
    }
}

fn moved(what: &str, before: Option<usize>, after: Option<usize>) -> Notice {
    let way = match before.cmp(&after) {
        Ordering::Greater => " up",
        Ordering::Less => " down",
        // The form was sent twice.
        Ordering::Equal => "",
    };
    Notice::good(format!("{what} was moved{way}"), "")
}

struct Problem {
    notice: Notice,
    errors: FieldErrors,
    status: StatusCode,
}

impl Problem {
    fn invalid(errors: FieldErrors) -> Self {
        let line = "Nothing was saved. Check what is marked below.";
        Self { notice: Notice::bad("Not saved", line), errors, status: StatusCode::UNPROCESSABLE_ENTITY }
    }

    fn fields(&self, form: &Form) -> Fields {
        Fields::submitted(form, self.errors.clone())
    }

    fn answer(&self, page: PageResponse) -> PageResponse {
        if self.status == StatusCode::CONFLICT { page.refused(self.status, "conflict") } else { page.unprocessable() }
    }
}

async fn submit<'a>(
    request: &'a Request,
    submitted: &SubmittedForm<'a>,
    id: AgreementId,
    edit: Edit<'a>,
    again: impl AsyncFnOnce(Problem) -> Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    let before = drafts::agreement(submitted.scope(), id).await?;
    let after = (edit.rule)(&before, submitted.scope().now());
    let notice = (edit.says)(&before, after.as_ref().unwrap_or(&before));
    let notice = Notice { section: edit.section.to_owned(), ..notice };
    let redirect = redirect_with(submitted, edit.location.clone(), &notice).await;
    let shown = edit.part.map(|part| (part, Seen::from_form(submitted.form().get("seen"))));
    // A removed part may have changed meanwhile; it only has to exist.
    let shown = shown.filter(|_| !edit.removes);
    let done = submitted.run(|| drafts::edit(submitted, id, shown.as_ref(), &edit.rule)).await?;
    match done {
        Ok(()) => Ok(redirect.into()),
        Err(refused) if edit.removes && refused.is_already_removed() => Ok(redirect.into()),
        Err(reason) => refused(request, submitted, id, edit.part.map(Subject::Part), reason, again).await,
    }
}

async fn refused<'a>(
    request: &'a Request,
    submitted: &SubmittedForm<'a>,
    id: AgreementId,
    subject: Option<Subject>,
    reason: EditRefused,
    again: impl AsyncFnOnce(Problem) -> Result<PageResponse, Error>,
) -> Result<PageResponse, Error> {
    match reason {
        EditRefused::NotADraft(lifecycle) => {
            let what = match lifecycle {
                Lifecycle::Cancelled => "This draft was discarded while you were typing",
                _ => "This agreement was published while you were typing",
            };
            not_saved(request, id, submitted.form(), subject, what).await
        }
        EditRefused::Gone => {
            let what = "What you were editing was removed by another member";
            not_saved(request, id, submitted.form(), None, what).await
        }
        EditRefused::Changed => {
            let notice = match subject {
                Some(subject) => {
                    let typed = Fields::of(submitted.form().typed());
                    collision::notice(request, id, subject, &typed).await?
                }
                None => Notice::warn("Another member changed this while you were typing", "Nothing was saved."),
            };
            again(Problem { notice, errors: FieldErrors::default(), status: StatusCode::CONFLICT }).await
        }
        EditRefused::Invalid(errors) => {
            let lines = errors.clone().into_list().into_iter().map(|error| readable(&error.message));
            let notice = Notice::new("bad", "Not saved".to_owned(), lines);
            again(Problem { notice, errors, status: StatusCode::UNPROCESSABLE_ENTITY }).await
        }
    }
}

fn readable(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>()).unwrap_or_default();
    let stop = if message.ends_with(['.', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[derive(Template)]
#[template(path = "not_saved.html")]
struct NotSavedPage {
    layout: Layout,
    title: &'static str,
    agreement_url: String,
    typed: Vec<Difference>,
}

/// The page after a form whose subject is gone or no longer editable. It shows what the member typed that differs.
async fn not_saved(
    request: &Request,
    id: AgreementId,
    form: &Form,
    subject: Option<Subject>,
    title: &'static str,
) -> Result<PageResponse, Error> {
    let page = NotSavedPage {
        layout: Layout::new(request),
        title,
        agreement_url: agreement_url(id),
        typed: collision::differences(request, id, subject, &Fields::of(form.typed())).await?,
    };
    Ok(PageResponse::render(&page)?.refused(StatusCode::CONFLICT, "conflict").showing([id.uuid()]))
}

fn agreement_link(agreement: &Agreement) -> Link {
    Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() }
}

/// The roles to choose from, by whom they usually go to.
struct RoleGroup {
    party: &'static str,
    roles: Vec<RoleBox>,
}

struct RoleBox {
    name: String,
    text: &'static str,
    about: &'static str,
}

fn role_groups() -> Vec<RoleGroup> {
    let role_box = |role: &ParticipantRole| RoleBox {
        name: format!("role.{}", role.as_str()),
        text: text::role(*role),
        about: text::role_about(*role),
    };
    let group = |(party, roles): &(&'static str, &[ParticipantRole])| RoleGroup {
        party,
        roles: roles.iter().map(role_box).collect(),
    };
    text::PARTIES.iter().map(group).collect()
}

fn seen(agreement: &Agreement, part: Part) -> String {
    agreement.seen(part).map(|seen| seen.as_str().to_owned()).unwrap_or_default()
}

fn label(text: &str, field: &str) -> Result<Label, FieldErrors> {
    Label::parse(text).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

/// Parses a text that the API and subscribers see, so account numbers are refused.
pub(crate) fn safe_label(text: &str, field: &str) -> Result<Label, FieldErrors> {
    SafeLine::parse(text).map_err(|(code, message)| FieldErrors::one(field, code, message))?;
    label(text, field)
}

fn place(text: &str) -> usize {
    // The rule refuses an invalid index.
    text.parse().unwrap_or(usize::MAX)
}

fn editable(agreement: &Agreement) -> bool {
    agreement.lifecycle() == shared::domain::agreement::Lifecycle::Draft
}
