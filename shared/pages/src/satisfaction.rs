//! Statements of satisfaction: the form for a member or promisor, and what the other side reads to confirm.

use shared::domain::day::Day;
use shared::domain::ids::{OccurrenceId, OrgId};
use shared::domain::movement::evidence::EvidenceFile;
use shared::domain::obligation::{Obligation, Occurrence};
use shared::domain::satisfaction::{Done, Satisfaction, SatisfactionNote};
use shared::domain::sensitive::has_account_number;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::text::reader::Shown as _;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::agreement_summary::size;
use crate::fields::{Fields, read_day};
use crate::form;
use crate::layout::Link;
use crate::response::PageResponse;

form! {
    /// How something was done, or when a trigger happened, and why a claim is not confirmed.
    pub SATISFACTION: SatisfactionForm {
        done_on: Field::day("done_on", "When it was done").called("The day").hint("It is today, unless you add another day."),
        note: Field::lines("note", "Note", 300, 3).called("The note"),
        file: Field::document("file", "File").called("The file"),
        happened_on: Field::day("happened_on", "When it happened")
            .called("The day")
            .hint("Not in the future.")
            .required(),
        reason: Field::lines("reason", "Reason", 2000, 3).hint("The members of your organization read it."),
    }
}

/// The file's field.
pub const FILE: &str = "file";

/// Reads a form about an occurrence, without the file's content, and reports all errors. The day defaults to today.
pub fn read(
    form: &Form,
    occurrence: OccurrenceId,
    obligation: &Obligation,
    now: Timestamp,
) -> Result<Done, FieldErrors> {
    let file = match form.file(FILE) {
        Some(file) if has_account_number(&file.name) => {
            let message = "has an account or card number in its name. Rename it, and choose it again";
            Err(FieldErrors::one(FILE, FieldCode::SensitiveValue, message))
        }
        _ => Ok(()),
    };
    match (read_done_on(form, occurrence, obligation, now), read_note(form), file) {
        (Ok(done_on), Ok(note), Ok(())) => Ok(Done { occurrence, how: Satisfaction { done_on, note, file: None } }),
        (done_on, note, file) => {
            let mut errors = done_on.err().unwrap_or_default();
            errors.extend(note.err().unwrap_or_default());
            errors.extend(file.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn read_done_on(
    form: &Form,
    occurrence: OccurrenceId,
    obligation: &Obligation,
    now: Timestamp,
) -> Result<Day, FieldErrors> {
    let today = obligation.zone().day_of(now);
    if form.get(SATISFACTION.done_on).trim().is_empty() {
        return Ok(today);
    }
    let day = read_day(form, SATISFACTION.done_on)?;
    let wrong = |message: String| Err(FieldErrors::one(SATISFACTION.done_on, FieldCode::OutOfRange, message));
    if day > today {
        return wrong("must not be in the future".to_owned());
    }
    // The rules check whether the occurrence exists.
    let found = obligation.occurrences(now).into_iter().find(|found| found.id == occurrence);
    match found.map(|found| *obligation.done_days(found.due_at, now).start()) {
        Some(first) if day < first => wrong(format!("must not be before {}", first.shown())),
        _ => Ok(day),
    }
}

fn read_note(form: &Form) -> Result<Option<SatisfactionNote>, FieldErrors> {
    let text = form.get(SATISFACTION.note).trim();
    if text.is_empty() {
        return Ok(None);
    }
    let note = SatisfactionNote::parse(text);
    note.map(Some).map_err(|(code, message)| FieldErrors::one(SATISFACTION.note, code, message))
}

/// The submitted fields. Never shows an account number again.
#[must_use]
pub fn typed(form: &Form, errors: FieldErrors) -> Fields {
    let is_sensitive = has_account_number(form.get(SATISFACTION.note));
    Fields::submitted(form, errors).without(|name| is_sensitive && name == SATISFACTION.note.name)
}

/// What a claim says about how something was done.
pub struct SaidDone {
    /// The day.
    pub on: String,
    /// The note.
    pub note: Option<String>,
    /// The file.
    pub file: Option<Link>,
}

impl SaidDone {
    /// None without a claim. `url` is the obligation's.
    #[must_use]
    pub fn of(occurrence: &Occurrence, url: &str) -> Option<Self> {
        let Satisfaction { done_on, note, file } = occurrence.how.as_ref()?;
        Some(Self {
            on: format!("Done on {}", done_on.shown()),
            note: note.as_ref().map(|note| note.as_str().to_owned()),
            file: file
                .as_ref()
                .map(|file| Link { url: format!("{url}/occurrences/{}/file", occurrence.id), text: in_words(file) }),
        })
    }
}

/// A file, as pages and receipts name it.
#[must_use]
pub fn in_words(file: &EvidenceFile) -> String {
    format!("{}, {}", file.name.as_str(), size(file.content.size_bytes))
}

/// The file of an occurrence's claim. [`Error::NotFound`] without one.
pub async fn download(request: &Request, obligation: &Obligation, org: OrgId) -> Result<PageResponse, Error> {
    let id: OccurrenceId = request.path_id("occurrence")?;
    let found = obligation.occurrences(request.now()).into_iter().find(|found| found.id == id);
    let file = found.and_then(|found| found.how).and_then(|how| how.file).ok_or_else(Error::not_found)?;
    let EvidenceFile { name, content, file_type } = file;
    let content = request.app().files()?.get(org, &content).await?;
    // Never shown in the browser: it comes from outside, and only its type was checked.
    let media_type = file_type.map_or("application/octet-stream", |file_type| file_type.media_type());
    Ok(PageResponse::file(content, media_type, "attachment", name.as_str()))
}
