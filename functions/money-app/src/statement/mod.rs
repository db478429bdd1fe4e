//! Bank statements: the list, the columns of a CSV file, and the page that files entries. Nothing is accepted here.
//!
//! `accounts` compares statements' accounts, `columns` maps CSV columns, `fits` matches entries with payments, `show`
//! is a statement's page, `filing` its form with `entry_fields`, and `discard` removes mistaken uploads. Reading files
//! and masking entries is in `pages`, since bundles have extracts.

mod accounts;
pub(crate) mod columns;
pub(crate) mod discard;
pub(crate) mod entry_fields;
pub(crate) mod filing;
mod fits;

pub(crate) mod show;

use askama::Template;
use axum::body::Bytes;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::form;
use pages::labels::{DisplayTime, actor_label, grouped};
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Paged, Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::uploads::too_large;
use pages::urls::statement_url;
use pages::{masked, statement_file as read};
use shared::domain::ids::StatementId;
use shared::domain::movement::evidence::EvidenceFile;
use shared::domain::movement::safe_text::SafeLine;
use shared::domain::sensitive::has_account_number;
use shared::domain::statement::{Statement, StatementFacts};
use shared::error::Error;
use shared::limits;
use shared::platform::files;
use shared::service::statements::{self as stored, NewStatement};
use shared::text::reader::Shown as _;
use shared::web::{Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use statements::Refusal;

form! {
    /// A bank’s statement.
    pub(crate) STATEMENT: StatementForm {
        file: Field::file(FIELD, "Statement", "").hint(
            "A file of the receiving bank in camt.052, camt.053, camt.054, MT940, MT942, BAI2, OFX (also QFX and QBO) or CSV, of up to 4 MB. It is read completely or not at all.",
        ),
    }
}

const PATH: &str = pages::urls::STATEMENTS;

const FIELD: &str = "statement";

/// The maximum length of a refusal shown; none is that long.
const REFUSAL_CHARS_MAX: usize = 4000;

#[derive(Template)]
#[template(path = "statements.html")]
struct ListPage {
    layout: Layout,
    notice: Option<Notice>,
    fields: Fields,
    rows: Vec<Row>,
    pager: Option<Pager>,
}

struct Row {
    url: String,
    name: String,
    facts: Option<RowFacts>,
    by: String,
    at: DisplayTime,
}

struct RowFacts {
    format: &'static str,
    accounts: String,
    period: String,
    entries: String,
}

impl From<&StatementFacts> for RowFacts {
    fn from(facts: &StatementFacts) -> Self {
        Self {
            format: facts.format.as_str(),
            accounts: accounts(facts),
            period: period(facts),
            entries: counted(facts.entries.into(), "entry", "entries"),
        }
    }
}

fn accounts(facts: &StatementFacts) -> String {
    let endings: Vec<String> = facts.account_endings.iter().map(|ending| format!("…{ending}")).collect();
    if endings.is_empty() { "Not in the file".to_owned() } else { endings.join(", ") }
}

fn period(facts: &StatementFacts) -> String {
    match (facts.first_day, facts.last_day) {
        (Some(first), Some(last)) if first == last => first.shown(),
        (Some(first), Some(last)) => format!("{} to {}", first.shown(), last.shown()),
        _ => "No entries".to_owned(),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
}

pub(crate) async fn show_list(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(list(request, Fields::default(), notice).await?.with_cookie(cookie))
}

async fn list(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let query: Paged = request.read_query()?;
    let found = stored::list(request.signed_in()?.scope(), page_at(query.offset)).await?;
    let url = |offset: u64| format!("{PATH}?offset={offset}");
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(0)));
    }
    let page = ListPage {
        layout: Layout::new(request),
        notice,
        fields,
        rows: found.data.iter().map(row).collect(),
        pager: Pager::new("the statements", found.pagination, url),
    };
    Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|statement| statement.id.uuid())))
}

fn row(statement: &Statement) -> Row {
    let is_read = statement.facts.is_some();
    let url = statement_url(statement.id);
    Row {
        url: if is_read { url } else { format!("{url}/columns") },
        name: statement.file.name.as_str().to_owned(),
        facts: statement.facts.as_ref().map(RowFacts::from),
        by: actor_label(&statement.uploaded_by),
        at: statement.uploaded_at.into(),
    }
}

pub(crate) async fn upload(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let again = async |code, message: &str| {
        let fields = Fields::wrong(FieldErrors::one(FIELD, code, message));
        Ok(list(request, fields, None).await?.unprocessable())
    };
    let Some(file) = submitted.form().file(FIELD) else {
        return again(FieldCode::Required, "must be chosen").await;
    };
    if file.content.len() > limits::FILE_BYTES_MAX {
        return again(FieldCode::TooLong, &too_large(file)).await;
    }
    let Ok(name) = safe_name(&file.name) else {
        let message = "has a name with an account or card number. Rename it, then choose it again";
        return again(FieldCode::SensitiveValue, message).await;
    };
    // Stored only after it is read: a refusal leaves nothing.
    let facts = match facts_of(&submitted, file.content.clone()).await? {
        Ok(facts) => facts,
        Err(refusal) => return again(FieldCode::InvalidValue, &refusal).await,
    };
    let content = files::keep_one(submitted.scope(), request.app().files()?, file.content.clone()).await?;
    let id: StatementId = submitted.new_id();
    let file = EvidenceFile { name, content, file_type: None };
    let redirect = redirect_with(&submitted, url_after(id, facts.as_ref()), &uploaded(facts.as_ref())).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let new = || NewStatement { id, file: file.clone(), facts: facts.clone() };
    match submitted.run(|| stored::upload(scope, by, new())).await? {
        Ok(()) => Ok(redirect.into()),
        Err(standing) => duplicate(request, standing).await,
    }
}

/// The name of a file, in which no account number may be.
fn safe_name(name: &str) -> Result<SafeLine, ()> {
    if has_account_number(name) {
        return Err(());
    }
    SafeLine::parse(name).or_else(|_| SafeLine::parse("Statement")).map_err(drop)
}

/// A file's summary. None for a CSV file with unknown columns. The refusal completes "Statement …".
async fn facts_of(submitted: &SubmittedForm<'_>, file: Bytes) -> Result<Result<Option<StatementFacts>, String>, Error> {
    match read::facts(file.clone(), None).await? {
        Ok(facts) => return Ok(Ok(Some(facts))),
        Err(Refusal::MappingNeeded) => {}
        Err(refusal) => return Ok(Err(in_words(&refusal))),
    }
    let suggestion = match read::suggestion(file.clone()).await? {
        Ok(suggestion) => suggestion,
        Err(refusal) => return Ok(Err(in_words(&refusal))),
    };
    if suggestion.headers.len() > limits::STATEMENT_COLUMNS_MAX {
        let most = limits::STATEMENT_COLUMNS_MAX;
        return Ok(Err(format!("has more than {most} columns. Export fewer of them")));
    }
    let header = read::header(&suggestion);
    let Some(columns) = stored::remembered_columns(submitted.scope(), &header).await? else { return Ok(Ok(None)) };
    // If the remembered columns don't fit, they are chosen again.
    Ok(Ok(read::facts(file, Some(columns)).await?.ok()))
}

/// Why a file was refused, in the wording and typography of pages. Completes "The file …".
fn in_words(refusal: &Refusal) -> String {
    let mut said = masked::masked(&refusal.to_string(), REFUSAL_CHARS_MAX, &[]);
    for (plain, typographic) in [("can't", "can’t"), ("doesn't", "doesn’t"), ("don't", "don’t")] {
        said = said.replace(plain, typographic);
    }
    said
}

fn url_after(id: StatementId, facts: Option<&StatementFacts>) -> String {
    let url = statement_url(id);
    if facts.is_some() { format!("{url}#notice") } else { format!("{url}/columns#notice") }
}

fn uploaded(facts: Option<&StatementFacts>) -> Notice {
    let Some(facts) = facts else {
        return Notice::good("Statement uploaded", "Next: say which column is which.");
    };
    let read = counted(facts.entries.into(), "entry was read", "entries were read");
    let next = if facts.arrivals == 0 {
        "None of them is money that came in.".to_owned()
    } else {
        "Next: choose the entries that prove an arrival.".to_owned()
    };
    Notice::new("good", "Statement uploaded".to_owned(), [format!("{read}. {next}")])
}

async fn duplicate(request: &Request, standing: StatementId) -> Result<PageResponse, Error> {
    let statement = stored::get(request.signed_in()?.scope(), standing).await?;
    let said = "Its entries are there once. Nothing was uploaded again.";
    let link = Link { url: row(&statement).url, text: statement.file.name.as_str().to_owned() };
    let notice = Notice { links: vec![link], ..Notice::bad("This file is uploaded already", said) };
    Ok(list(request, Fields::default(), Some(notice)).await?.conflicting())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_at_a_glance() {
        for (count, text) in [(0, "0 entries"), (1, "1 entry"), (999, "999 entries"), (50_000, "50,000 entries")] {
            assert_eq!(counted(count, "entry", "entries"), text);
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
