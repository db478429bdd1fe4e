//! Items from a CSV file, pasted or uploaded: a form, a preview, and the act that adds all of them.
//!
//! Decision: a file with a problem in any row is refused as a whole, with the problems of each row, and is kept nowhere.
//! One without problems is kept in the file store by its content, and its preview is an address with an id of its own.
//!
//! Decision: a thousand items don't fit into one transaction. They are added some at a time, each with an id that follows
//! from the id of the preview and the row. So what is pressed twice, or goes on after a process died half-way, adds each row
//! once, and the page of the preview says at any time how many are there.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use askama::Template;
use axum::body::Bytes;
use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value as Json};
use shared::domain::agreement::DocumentContent;
use shared::domain::funding::input::NewFundingItem;
use shared::domain::funding::{AssetKind, sensitive};
use shared::domain::ids::{FundingItemId, WorkspaceId};
use shared::domain::sentences::funding_words as words;
use shared::domain::trust::Trust;
use shared::error::Error;
use shared::limits;
use shared::platform::files::FilesError;
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::service::{funding_import, scope::Scope};
use shared::web::{Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input;
use shared::wire::page::Page;
use shared::wire::text::Folded;
use uuid::Uuid;

use super::funding_url;
use crate::Handler;
use crate::done::{notice_of_act, redirect_with};
use crate::fields::Fields;
use crate::layout::{Layout, Link, Notice};
use crate::pager::{Pager, requested_page};
use crate::response::PageResponse;

/// The columns that a file can have, and the other names that each has.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("label", &["name", "asset", "item"]),
    ("asset_kind", &["kind", "asset kind", "type"]),
    ("trust", &["trust_id", "formal_name"]),
    ("external_reference", &["reference", "your reference"]),
];

/// The problems that a page tells one by one.
const PROBLEMS_SHOWN: usize = 50;
/// How long one press adds items before it answers, with the rest left for the next.
const ADDING_MAX: Duration = Duration::from_secs(10);
/// How many transactions run at the same time.
const AT_ONCE: usize = 4;

#[derive(Template)]
#[template(path = "funding_import.html")]
struct ImportPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    path: String,
    columns: Vec<&'static str>,
    problems: Vec<(usize, String)>,
    more_problems: usize,
    rows: usize,
    fields: Fields,
}

/// Shows the form.
pub(crate) struct ShowImport;

impl Handler for ShowImport {
    fn operation(_: &Request) -> &'static str {
        "view_funding_import"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let review = review(request).await?;
        form_page(request, &review, Fields::default(), &Parsed::default())
    }
}

async fn review(request: &Request) -> Result<WorkspaceFundingReview, Error> {
    funding_review::of_workspace(request.signed_in()?.scope(), request.path_id("id")?).await
}

fn form_page(
    request: &Request,
    review: &WorkspaceFundingReview,
    fields: Fields,
    parsed: &Parsed,
) -> Result<PageResponse, Error> {
    let id = review.workspace.id();
    let problems = parsed.problems();
    let page = ImportPage {
        layout: Layout::new(request),
        notice: (!problems.is_empty()).then(|| {
            let rows =
                if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
            Notice::bad(
                "Nothing was added",
                format!("{rows} in {} rows. Correct the file, then read it again.", parsed.rows.len()),
            )
        }),
        workspace: workspace_link(review),
        path: import_url(id),
        columns: COLUMNS.iter().map(|(name, _)| *name).collect(),
        more_problems: problems.len().saturating_sub(PROBLEMS_SHOWN),
        problems: problems.into_iter().take(PROBLEMS_SHOWN).collect(),
        rows: parsed.rows.len(),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

fn workspace_link(review: &WorkspaceFundingReview) -> Link {
    Link { url: funding_url(review.workspace.id()), text: review.workspace.name.as_str().to_owned() }
}

fn import_url(id: WorkspaceId) -> String {
    format!("{}/import", funding_url(id))
}

/// Reads what was pasted or uploaded.
pub(crate) struct ReadImport;

impl Handler for ReadImport {
    fn operation(_: &Request) -> &'static str {
        "upload_funding_items"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let form = submitted.form();
        let review = review(request).await?;
        let (field, file) = match form.file("file") {
            Some(file) => ("file", file.content.clone()),
            None => ("csv", Bytes::copy_from_slice(form.get("csv").as_bytes())),
        };
        let parsed = match parse(&file, &review) {
            Ok(parsed) => parsed.checked(submitted.scope(), &review, None).await?,
            Err(message) => {
                let fields = Fields::submitted(form, FieldErrors::one(field, FieldCode::InvalidValue, message));
                return Ok(form_page(request, &review, fields, &Parsed::default())?.unprocessable());
            }
        };
        if !parsed.problems().is_empty() {
            let is_left_out = |name: &str| name == "csv" && parsed.is_sensitive;
            let fields = Fields::submitted(form, FieldErrors::default()).without(is_left_out);
            return Ok(form_page(request, &review, fields, &parsed)?.unprocessable());
        }
        let DocumentContent { sha256, size_bytes } = request.app().files()?.put(submitted.scope().org(), file).await?;
        let (path, import) = (import_url(review.workspace.id()), new_import());
        Ok(PageResponse::see_other(format!("{path}/{import}?file={sha256}&size={size_bytes}")))
    }
}

#[derive(Template)]
#[template(path = "funding_import_preview.html")]
struct PreviewPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    back: String,
    /// Where the form is sent.
    path: String,
    total: usize,
    added: usize,
    problems: Vec<(usize, String)>,
    more_problems: usize,
    rows: Vec<PreviewRow>,
    pager: Option<Pager>,
}

struct PreviewRow {
    number: usize,
    label: String,
    kind: &'static str,
    trust: String,
    reference: String,
    is_there: bool,
}

/// Shows what a file would add, and how much of it is there.
pub(crate) struct ShowPreview;

impl Handler for ShowPreview {
    fn operation(_: &Request) -> &'static str {
        "view_funding_import_preview"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (notice, cookie) = notice_of_act(request).await;
        Ok(preview(request, notice).await?.with_cookie(cookie))
    }
}

/// The file that an address names.
fn named_file(request: &Request) -> Result<DocumentContent, Error> {
    let (sha256, size) = (request.query("file"), request.query("size"));
    let size_bytes = size.and_then(|size| size.parse().ok());
    let is_hash = |hash: &String| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (sha256.filter(is_hash), size_bytes) {
        (Some(sha256), Some(size_bytes)) => Ok(DocumentContent { sha256, size_bytes }),
        _ => Err(Error::not_found()),
    }
}

/// A file with the funding that its items join.
struct Read {
    review: WorkspaceFundingReview,
    parsed: Parsed,
    import: Uuid,
    /// The address of the preview.
    url: String,
}

async fn read(request: &Request, scope: &Scope) -> Result<Read, Error> {
    let (import, content): (Uuid, _) = (request.path_id("import")?, named_file(request)?);
    let files = request.app().files()?;
    let file = async {
        files.get(scope.org(), &content).await.map_err(|error| match error {
            FilesError::NotThere => Error::not_found(),
            other => other.into(),
        })
    };
    let (review, file) = futures_util::try_join!(review(request), file)?;
    let parsed = parse(&file, &review).map_err(|_| Error::not_found())?;
    let parsed = parsed.checked(scope, &review, Some(import)).await?;
    let DocumentContent { sha256, size_bytes } = &content;
    let url = format!("{}/{import}?file={sha256}&size={size_bytes}", import_url(review.workspace.id()));
    Ok(Read { review, parsed, import, url })
}

async fn preview(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let Read { review, parsed, import, url } = read(request, request.signed_in()?.scope()).await?;
    let there = there(&review, &parsed, import);
    let found = Page::slice(parsed.rows.iter().enumerate(), requested_page(request, "offset"));
    let trust_name = |row: &Row| {
        let id = row.new.as_ref().ok().and_then(|new| new.trust_id);
        review.trust(id).map(|trust| trust.formal_name.as_str().to_owned()).unwrap_or_default()
    };
    let row = |(at, row): &(usize, &Row)| {
        let new = row.new.as_ref().ok();
        PreviewRow {
            number: row.number,
            label: new.map(|new| new.label.as_str().to_owned()).unwrap_or_default(),
            kind: new.map_or("", |new| words::asset_kind(new.asset_kind.0)),
            trust: trust_name(row),
            reference: new
                .and_then(|new| new.external_reference.as_ref())
                .map(|reference| reference.as_str().to_owned())
                .unwrap_or_default(),
            is_there: there.get(*at).copied().unwrap_or_default(),
        }
    };
    let problems = parsed.problems();
    let page = PreviewPage {
        layout: Layout::new(request),
        notice,
        workspace: workspace_link(&review),
        back: import_url(review.workspace.id()),
        total: parsed.rows.len(),
        added: there.iter().filter(|is_there| **is_there).count(),
        more_problems: problems.len().saturating_sub(PROBLEMS_SHOWN),
        problems: problems.into_iter().take(PROBLEMS_SHOWN).collect(),
        rows: found.data.iter().map(row).collect(),
        pager: Pager::new("rows", found.pagination, |offset| format!("{url}&offset={offset}")),
        path: url,
    };
    Ok(PageResponse::render(&page)?.showing([review.workspace.id().uuid()]))
}

/// Which rows are there as items already.
fn there(review: &WorkspaceFundingReview, parsed: &Parsed, import: Uuid) -> Vec<bool> {
    let known: std::collections::HashSet<FundingItemId> =
        review.schedule.items.iter().map(shared::domain::funding::FundingItem::id).collect();
    (0..parsed.rows.len()).map(|at| known.contains(&item_id(import, at))).collect()
}

/// The id of a new preview. It is that of none of its rows: audit rows name both.
fn new_import() -> Uuid {
    with_row(Uuid::now_v7(), 0x0fff)
}

/// The id of the item of a row. It sorts after those of the rows before it, and follows from the id of the preview.
fn item_id(import: Uuid, at: usize) -> FundingItemId {
    FundingItemId::from(with_row(import, u16::try_from(at).unwrap_or(u16::MAX)))
}

/// A `UUIDv7` with a number in its last bits of time. Rows have less than a thousand.
fn with_row(id: Uuid, row: u16) -> Uuid {
    let mut bytes = id.into_bytes();
    let [high, low] = row.to_be_bytes();
    bytes[6] = 0x70 | (high & 0x0f);
    bytes[7] = low;
    Uuid::from_bytes(bytes)
}

/// Adds the items of a file.
pub(crate) struct Import;

impl Handler for Import {
    fn operation(_: &Request) -> &'static str {
        "import_funding_items"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let Read { review, parsed, import, url } = read(request, submitted.scope()).await?;
        if !parsed.problems().is_empty() {
            return Ok(preview(request, Some(Notice::bad("Nothing was added", ""))).await?.unprocessable());
        }
        let workspace = review.workspace.id();
        let there = there(&review, &parsed, import);
        let new = parsed.rows.iter().enumerate().filter_map(|(at, row)| {
            let is_there = there.get(at).copied().unwrap_or_default();
            row.new.as_ref().ok().filter(|_| !is_there).map(|new| (item_id(import, at), new.clone()))
        });
        let new: Vec<(FundingItemId, NewFundingItem)> = new.collect();
        let total = parsed.rows.len();
        let outcome = add(&submitted, workspace, new).await?;
        let notice = match outcome {
            Outcome::All => {
                let title =
                    if total == 1 { "1 item is listed".to_owned() } else { format!("{total} items are listed") };
                let done = Notice::good(title, "Next: sort them.");
                return Ok(redirect_with(&submitted, format!("{}#notice", funding_url(workspace)), &done).await.into());
            }
            Outcome::Some => Notice::plain("Some items are listed", "Add the remaining ones with the same button."),
            Outcome::Refused(message) => Notice::warn("Not all items are listed", message),
        };
        Ok(redirect_with(&submitted, format!("{url}#notice"), &notice).await.into())
    }
}

/// How far adding items came.
enum Outcome {
    /// All are there.
    All,
    /// The time of one call was over.
    Some,
    /// The rules refused some, because something changed meanwhile.
    Refused(String),
}

/// Adds items, some in each transaction, and some transactions at the same time.
async fn add(
    submitted: &SubmittedForm<'_>,
    workspace: WorkspaceId,
    new: Vec<(FundingItemId, NewFundingItem)>,
) -> Result<Outcome, Error> {
    let started = Instant::now();
    let batches = funding_import::check(submitted.scope(), workspace, new).await?;
    let mut added = stream::iter(batches)
        .map(|batch| async move {
            if started.elapsed() > ADDING_MAX {
                return Ok(None);
            }
            let part = submitted.part("import_funding_items", &[workspace.uuid()])?;
            match part.run(|| funding_import::add(&part, &batch)).await {
                Ok(_) => Ok(Some(Ok(()))),
                Err(Error::Invalid(errors) | Error::NotFound(errors)) if !errors.is_empty() => {
                    let first = errors.into_list().into_iter().next();
                    Ok(Some(Err(first.map(|error| format!("One {}.", error.message)).unwrap_or_default())))
                }
                Err(error) => Err(error),
            }
        })
        .buffer_unordered(AT_ONCE);
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

/// A row of a file: an item, or what is wrong with it.
#[derive(Debug)]
struct Row {
    /// Its number as spreadsheets count.
    number: usize,
    new: Result<NewFundingItem, Vec<String>>,
}

/// The rows of a file.
#[derive(Debug, Default)]
struct Parsed {
    rows: Vec<Row>,
    /// Whether a row has a number that no page shows again.
    is_sensitive: bool,
}

impl Parsed {
    /// All problems, each with the number of its row.
    fn problems(&self) -> Vec<(usize, String)> {
        let of_row = |row: &Row| {
            let found = row.new.as_ref().err().cloned().unwrap_or_default();
            found.into_iter().map(|problem| (row.number, problem)).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// The same with what only the records tell: references that other items have, and how much room there is.
    async fn checked(
        mut self,
        scope: &Scope,
        review: &WorkspaceFundingReview,
        import: Option<Uuid>,
    ) -> Result<Self, Error> {
        let references = self.rows.iter().filter_map(|row| row.new.as_ref().ok()?.external_reference.as_ref());
        let taken = funding_review::taken_references(scope, references).await?;
        let own = import.map(|import| there(review, &self, import)).unwrap_or_default();
        let left = self.rows.len() - own.iter().filter(|is_there| **is_there).count();
        let most = usize::from(limits::WORKSPACE_FUNDING_ITEMS_MAX);
        let room = most.saturating_sub(review.schedule.items.len());
        for (at, row) in self.rows.iter_mut().enumerate() {
            let Ok(new) = &row.new else { continue };
            let id = import.map(|import| item_id(import, at));
            let holder = new.external_reference.as_ref().and_then(|reference| taken.get(reference.as_str()));
            if holder.is_some() && holder.copied() != id {
                row.new = Err(vec!["The external_reference is that of another item.".to_owned()]);
            }
        }
        if left > room
            && let Some(last) = self.rows.last_mut()
        {
            let problem = format!("The workspace has room for {room} more items, of {most} in all.");
            match &mut last.new {
                Ok(_) => last.new = Err(vec![problem]),
                Err(problems) => problems.push(problem),
            }
        }
        Ok(self)
    }
}

/// Reads a file. The error completes "The file …".
fn parse(file: &[u8], review: &WorkspaceFundingReview) -> Result<Parsed, String> {
    let most = usize::from(limits::WORKSPACE_FUNDING_ITEMS_MAX);
    let rows = statements::rows(file, most + 2).map_err(|refusal| refusal.to_string())?;
    let mut rows = rows.into_iter();
    let known: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let known = known.join(", ");
    let Some((_, header)) = rows.next() else { return Err("is empty".to_owned()) };
    let columns: Vec<Option<&str>> = header.iter().map(|name| column(name)).collect();
    let named = header.iter().zip(&columns).filter(|(name, _)| !name.is_empty());
    let unknown: Vec<String> =
        named.filter(|(_, column)| column.is_none()).map(|(name, _)| format!("“{name}”")).collect();
    if !unknown.is_empty() {
        let which = if unknown.len() == 1 { "a column that is" } else { "columns that are" };
        return Err(format!(
            "has {which} not known: {}. The first row names the columns; known ones are {known}",
            unknown.join(", ")
        ));
    }
    if !columns.contains(&Some("label")) {
        return Err(format!("has no column named label. The first row names the columns; known ones are {known}"));
    }
    let mut seen = columns.iter().flatten().collect::<Vec<_>>();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("has two columns of the same name".to_owned());
    }
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Err("has no rows below the names of the columns".to_owned());
    }
    if rows.len() > most {
        return Err(format!("has more than {most} rows, as many items as a workspace may have"));
    }
    let mut parsed = Parsed::default();
    let mut references: HashMap<String, usize> = HashMap::new();
    for (number, cells) in rows {
        let cell = |name: &str| {
            let at = columns.iter().position(|column| *column == Some(name));
            at.and_then(|at| cells.get(at)).map_or("", |cell| without_apostrophe(cell))
        };
        let mut problems = Vec::new();
        if cells.len() > columns.len() && cells.iter().skip(columns.len()).any(|cell| !cell.is_empty()) {
            problems.push(format!("It has {} cells, and there are {} columns.", cells.len(), columns.len()));
        }
        parsed.is_sensitive |= sensitive::check(cell("label")).is_err();
        let new = read_row(review, &cell, &mut problems);
        if let Some(reference) = new.as_ref().and_then(|new| new.external_reference.as_ref())
            && let Some(first) = references.insert(reference.as_str().to_owned(), number)
        {
            problems.push(format!("The external_reference is that of row {first} too."));
        }
        let new = new.filter(|_| problems.is_empty()).ok_or(problems);
        parsed.rows.push(Row { number, new });
    }
    Ok(parsed)
}

/// The column that a name in the first row means.
fn column(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    COLUMNS
        .iter()
        .find(|(column, others)| *column == name || others.contains(&name.as_str()))
        .map(|(column, _)| *column)
}

/// A cell without the apostrophe with which our own files keep a spreadsheet from running it.
fn without_apostrophe(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@'])).unwrap_or(cell)
}

/// Reads a row with the rules of the API.
fn read_row<'a>(
    review: &WorkspaceFundingReview,
    cell: &impl Fn(&str) -> &'a str,
    problems: &mut Vec<String>,
) -> Option<NewFundingItem> {
    let mut body = Map::new();
    let mut put = |name: &str, value: &str| {
        if !value.is_empty() {
            body.insert(name.to_owned(), Json::from(value));
        }
    };
    put("workspace_id", &review.workspace.id().to_string());
    put("label", cell("label"));
    put("external_reference", cell("external_reference"));
    if let Some(kind) = kind(cell("asset_kind")) {
        put("asset_kind", kind.as_str());
    } else {
        let known: Vec<&str> = AssetKind::ALL.iter().map(|kind| kind.as_str()).collect();
        problems.push(format!("The asset_kind “{}” is none of: {}.", cell("asset_kind"), known.join(", ")));
    }
    match trust(review, cell("trust")) {
        Ok(Some(trust)) => put("trust_id", &trust.id.to_string()),
        Ok(None) => {}
        Err(problem) => problems.push(problem),
    }
    let new = input::read::<NewFundingItem>(body.into());
    let new = new.and_then(|new| {
        let checked = sensitive::check(new.label.as_str());
        checked.map(|()| new).map_err(|(code, message)| FieldErrors::one("label", code, message))
    });
    match new {
        Ok(new) => Some(new),
        Err(errors) => {
            problems
                .extend(errors.into_list().into_iter().map(|error| format!("The {} {}.", error.field, error.message)));
            None
        }
    }
}

/// A kind by its name in the API or in the app; `other` if nothing is said.
fn kind(text: &str) -> Option<AssetKind> {
    if text.is_empty() {
        return Some(AssetKind::Other);
    }
    let lower = text.to_lowercase();
    AssetKind::ALL.into_iter().find(|kind| kind.as_str() == lower || words::asset_kind(*kind).to_lowercase() == lower)
}

/// A trust of the workspace by its formal name or its id.
fn trust<'a>(review: &'a WorkspaceFundingReview, text: &str) -> Result<Option<&'a Trust>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let wanted = Folded::new(text);
    let fits = |trust: &&Trust| trust.id.to_string() == text || trust.search_text() == wanted;
    let mut found = review.schedule.trusts.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(trust), None) => Ok(Some(trust)),
        (Some(_), Some(_)) => Err(format!("Several trusts are named “{text}”: use the id of one.")),
        (None, _) => Err(format!("No trust of this workspace is named “{text}”.")),
    }
}
