//! Imports from CSV files, pasted or uploaded: a form, a preview, and the act that adds all rows.
//!
//! - Decision: a file with a problem in any row is refused, and not kept. Otherwise its preview has a URL of its own.
//! - Decision: rows are added in parts, each id derived from the preview's and the row: repeating adds each once.
//! - Decision: contacts are imported here too, because the function of their other pages has no files.

pub(crate) mod columns;
mod contact_rows;
pub(crate) mod contacts;
mod item_rows;
pub(crate) mod items;

use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{self, StreamExt};
use pages::fields::Fields;
use pages::form;
use pages::form::Field;
use pages::layout::Notice;
use pages::pager::page_at;
use pages::response::PageResponse;
use shared::domain::agreement::DocumentContent;
use shared::error::Error;
use shared::platform::files::{self, FilesError};
use shared::service::scope::{Plan, Scope};
use shared::web::submitted_form::FormPart;
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::{Offset, PageRequest};
use tokio::time::Instant;
use uuid::Uuid;

use self::columns::{NotRead, Row};

form! {
    /// A file with rows.
    pub(crate) IMPORT: ImportForm {
        file: Field::file("file", "CSV file", ".csv,text/csv,text/plain")
            .called("The file")
            .hint("Up to 1,000 rows, in UTF-8, UTF-16 or a Windows encoding."),
        csv: Field::data("csv", "Or paste it here", 8).called("The file"),
    }
}

const PROBLEMS_SHOWN: usize = 50;
/// How long one press adds rows. Less than half of `CALL_DEADLINE`, because transactions in progress must finish too.
const ADDING_MAX: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 4;

/// The problems of a file's rows, for `import_problems.html`.
#[derive(Debug, Default)]
struct Problems {
    shown: Vec<(usize, String)>,
    more: usize,
}

impl Problems {
    fn new(all: Vec<(usize, String)>) -> Self {
        let more = all.len().saturating_sub(PROBLEMS_SHOWN);
        Self { shown: all.into_iter().take(PROBLEMS_SHOWN).collect(), more }
    }

    /// What a page says above them, if there are any.
    fn notice(&self, rows: usize) -> Option<Notice> {
        let counted = match self.shown.len() + self.more {
            0 => return None,
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        let line = format!("{counted} in {rows}. Correct the file, then read it again.");
        Some(Notice::bad("Nothing was added", line).focused())
    }
}

/// What a preview says whose rows have problems that they did not have when it was made.
fn not_added<N>(rows: &[Row<N>]) -> Notice {
    let is_begun = rows.iter().any(|row| row.is_there);
    Notice::bad(if is_begun { "Nothing more was added" } else { "Nothing was added" }, "").focused()
}

/// The file that a form has, with the field that has it.
fn file_of(form: &Form) -> (Field<'static>, Bytes) {
    match form.file(IMPORT.file) {
        Some(file) => (IMPORT.file, file.content.clone()),
        None => (IMPORT.csv, Bytes::copy_from_slice(form.get(IMPORT.csv).as_bytes())),
    }
}

/// The form again, with what is wrong with its file.
fn not_read(form: &Form, field: Field<'_>, refusal: NotRead) -> Fields {
    let NotRead { message, is_sensitive } = refusal;
    let errors = FieldErrors::one(field, FieldCode::InvalidValue, message);
    Fields::submitted(form, errors).without(|name: &str| name == IMPORT.csv.name && is_sensitive)
}

/// Keeps a file whose rows have no problem, and redirects to its preview.
async fn preview_of(submitted: &SubmittedForm<'_>, path: &str, file: Bytes) -> Result<PageResponse, Error> {
    // Nothing refers to the file: rows not added within a day must be read again.
    let content = files::keep_one(submitted.scope(), submitted.app().files()?, file).await?;
    Ok(PageResponse::see_other(preview_url(path, new_import(), &content)))
}

fn preview_url(path: &str, import: Uuid, content: &DocumentContent) -> String {
    let DocumentContent { sha256, size_bytes } = content;
    format!("{path}/{import}?file={sha256}&size={size_bytes}")
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    file: String,
    #[deserr(default)]
    size: Offset,
    #[deserr(default)]
    offset: Offset,
}

impl Query {
    fn file(&self) -> Result<DocumentContent, Error> {
        let is_hash = self.file.len() == 64 && self.file.bytes().all(|byte| byte.is_ascii_hexdigit());
        let content = DocumentContent { sha256: self.file.clone(), size_bytes: self.size.get() };
        if is_hash { Ok(content) } else { Err(Error::not_found()) }
    }
}

/// The file of a preview, as its URL names it.
struct Kept {
    import: Uuid,
    file: Bytes,
    /// The preview's own URL.
    url: String,
    page: PageRequest,
}

impl Kept {
    /// The file of the preview below `path`.
    async fn of(request: &Request, scope: &Scope, path: &str) -> Result<Self, Error> {
        let query: Query = request.read_query()?;
        let (import, content): (Uuid, _) = (request.path_id("import")?, query.file()?);
        let file = request.app().files()?.get(scope.org(), &content).await.map_err(|error| match error {
            FilesError::NotThere => Error::not_found(),
            other => other.into(),
        })?;
        Ok(Self { import, file, url: preview_url(path, import, &content), page: page_at(query.offset) })
    }
}

/// The id of a new preview. It differs from all row ids, because audit rows name both.
fn new_import() -> Uuid {
    with_row(Uuid::now_v7(), 0x0fff)
}

/// The id of what a row makes, derived from the preview's id. Sorts after those of earlier rows.
fn row_id<T: From<Uuid>>(import: Uuid, at: usize) -> T {
    with_row(import, u16::try_from(at).unwrap_or(u16::MAX)).into()
}

/// A `UUIDv7` with a row number in its last time bits. There are at most a thousand rows.
fn with_row(id: Uuid, row: u16) -> Uuid {
    let mut bytes = id.into_bytes();
    let [high, low] = row.to_be_bytes();
    bytes[6] = 0x70 | (high & 0x0f);
    bytes[7] = low;
    Uuid::from_bytes(bytes)
}

/// Some rows that one transaction adds, all or none, apart from those that are there already.
trait Batch: Send + Sync {
    const OPERATION: &'static str;

    fn plan(&self, by: &FormPart<'_>) -> impl Future<Output = Result<Plan<usize>, Error>> + Send;
}

/// How far one press came.
enum Outcome {
    All,
    /// The same button adds the rest.
    Some,
    /// The rules refused some, because something has changed.
    Refused(String),
}

/// Adds as many rows as there is time for. Their audit rows name `named` first.
async fn add<B: Batch>(submitted: &SubmittedForm<'_>, named: &[Uuid], batches: Vec<B>) -> Result<Outcome, Error> {
    let started = Instant::now();
    let mut batches = batches.into_iter();
    let add = move |batch: B| async move {
        if started.elapsed() > ADDING_MAX {
            return Ok(None);
        }
        let part = submitted.part(B::OPERATION, named)?;
        match part.run(|| batch.plan(&part)).await {
            Ok(_) => Ok(Some(Ok(()))),
            Err(Error::Invalid(errors) | Error::NotFound(errors)) if !errors.is_empty() => {
                let first = errors.into_list().into_iter().next();
                Ok(Some(Err(first.map(|error| format!("One {}.", error.message)).unwrap_or_default())))
            }
            Err(error) => Err(error),
        }
    };
    // The first records the form's copy.
    let first = stream::iter(batches.next()).map(add).buffered(1);
    let mut added = first.chain(stream::iter(batches).map(add).buffer_unordered(AT_ONCE));
    let mut outcome = Outcome::All;
    while let Some(batch) = added.next().await {
        match batch? {
            Some(Err(message)) => outcome = Outcome::Refused(message),
            None if matches!(outcome, Outcome::All) => outcome = Outcome::Some,
            Some(Ok(())) | None => {}
        }
    }
    Ok(outcome)
}
