//! Imports items from a CSV file, pasted or uploaded: a form, a preview, and the act that adds all of them.
//!
//! - Decision: a file with a problem in any row is refused, and not kept. Otherwise its preview has a URL of its own.
//! - Decision: items are added in parts, each id derived from the preview's and the row: repeating adds each once.

use std::time::{Duration, Instant};

use askama::Template;
use axum::body::Bytes;
use futures_util::stream::{self, StreamExt};
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::form;
use pages::labels::{Badge, item_badge, names};
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Pager, page_at};
use pages::response::PageResponse;
use pages::urls::funding_url;
use shared::domain::agreement::DocumentContent;
use shared::domain::funding::input::NewFundingItem;
use shared::domain::ids::{FundingItemId, WorkspaceId};
use shared::error::Error;
use shared::platform::files::{self, FilesError};
use shared::service::funding_import::{self, Batch};
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::service::scope::Scope;
use shared::text::funding_words as words;
use shared::web::{Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::Empty;
use shared::wire::page::{Offset, Page, PageRequest};
use uuid::Uuid;

use crate::facts_for_people;
use crate::import_rows::{NewRow, NotRead, Parsed, Row, item_id, parse, with_row};
use crate::sheet::{self, KindHelp};

form! {
    /// A file with items.
    pub(crate) IMPORT: ImportForm {
        file: Field::file("file", "CSV file", ".csv,text/csv,text/plain")
            .called("The file")
            .hint("Up to 1,000 rows, in UTF-8, UTF-16 or a Windows encoding."),
        csv: Field::data("csv", "Or paste it here", 8).called("The file"),
    }
}

const PROBLEMS_SHOWN: usize = 50;
const FACTS_SHOWN_CHARS: usize = 160;
/// How long one press adds items. Less than half of `CALL_DEADLINE`, because transactions in progress must finish too.
const ADDING_MAX: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 4;

#[derive(Template)]
#[template(path = "funding_import.html")]
struct ImportPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    path: String,
    kinds: Vec<KindHelp>,
    problems: Vec<(usize, String)>,
    more_problems: usize,
    rows: usize,
    fields: Fields,
}

pub(crate) async fn show_import(request: &mut Request) -> Result<PageResponse, Error> {
    let Empty {} = request.read_query()?;
    let review = review(request).await?;
    form_page(request, &review, Fields::default(), &Parsed::default())
}

async fn review(request: &Request) -> Result<WorkspaceFundingReview, Error> {
    funding_review::of_workspace_with_everyone(request.signed_in()?.scope(), request.path_id("id")?).await
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
        kinds: sheet::help(),
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

pub(crate) async fn read_import(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let review = review(request).await?;
    let (field, file) = match form.file(IMPORT.file) {
        Some(file) => (IMPORT.file, file.content.clone()),
        None => (IMPORT.csv, Bytes::copy_from_slice(form.get(IMPORT.csv).as_bytes())),
    };
    let parsed = match parse(&file, &review, request.now()) {
        Ok(parsed) => parsed.checked(submitted.scope(), &review, None).await?,
        Err(NotRead { message, is_sensitive }) => {
            let fields = Fields::submitted(form, FieldErrors::one(field, FieldCode::InvalidValue, message));
            let fields = fields.without(|name: &str| name == IMPORT.csv.name && is_sensitive);
            return Ok(form_page(request, &review, fields, &Parsed::default())?.unprocessable());
        }
    };
    if !parsed.problems().is_empty() {
        let is_left_out = |name: &str| name == IMPORT.csv.name && parsed.is_sensitive;
        let fields = Fields::submitted(form, FieldErrors::default()).without(is_left_out);
        return Ok(form_page(request, &review, fields, &parsed)?.unprocessable());
    }
    // Nothing refers to the file: rows not added within a day must be read again.
    let DocumentContent { sha256, size_bytes } =
        files::keep_one(submitted.scope(), request.app().files()?, file).await?;
    let (path, import) = (import_url(review.workspace.id()), new_import());
    Ok(PageResponse::see_other(format!("{path}/{import}?file={sha256}&size={size_bytes}")))
}

#[derive(Template)]
#[template(path = "funding_import_preview.html")]
struct PreviewPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    back: String,
    path: String,
    total: usize,
    added: usize,
    problems: Vec<(usize, String)>,
    more_problems: usize,
    left_out: String,
    rows: Vec<PreviewRow>,
    pager: Option<Pager>,
}

struct PreviewRow {
    number: usize,
    label: String,
    about: String,
    trust: String,
    owners: String,
    facts: String,
    reference: String,
    state: Option<Badge>,
    is_there: bool,
}

pub(crate) async fn show_preview(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(preview(request, notice).await?.with_cookie(cookie))
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

struct Read {
    review: WorkspaceFundingReview,
    parsed: Parsed,
    import: Uuid,
    url: String,
    page: PageRequest,
}

async fn read(request: &Request, scope: &Scope) -> Result<Read, Error> {
    let query: Query = request.read_query()?;
    let (import, content): (Uuid, _) = (request.path_id("import")?, query.file()?);
    let files = request.app().files()?;
    let file = async {
        files.get(scope.org(), &content).await.map_err(|error| match error {
            FilesError::NotThere => Error::not_found(),
            other => other.into(),
        })
    };
    let (review, file) = futures_util::try_join!(review(request), file)?;
    let parsed = parse(&file, &review, request.now()).map_err(|_| Error::not_found())?;
    let parsed = parsed.checked(scope, &review, Some(import)).await?;
    let DocumentContent { sha256, size_bytes } = &content;
    let url = format!("{}/{import}?file={sha256}&size={size_bytes}", import_url(review.workspace.id()));
    Ok(Read { review, parsed, import, url, page: page_at(query.offset) })
}

async fn preview(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let Read { review, parsed, url, page, .. } = read(request, request.signed_in()?.scope()).await?;
    let found = Page::slice(parsed.rows.iter(), page);
    let row = |row: &&Row| PreviewRow::new(&review, row);
    let problems = parsed.problems();
    let page = PreviewPage {
        layout: Layout::new(request),
        notice,
        workspace: workspace_link(&review),
        back: import_url(review.workspace.id()),
        total: parsed.rows.len(),
        added: parsed.rows.iter().filter(|row| row.is_there).count(),
        more_problems: problems.len().saturating_sub(PROBLEMS_SHOWN),
        problems: problems.into_iter().take(PROBLEMS_SHOWN).collect(),
        left_out: parsed.left_out.join(", "),
        rows: found.data.iter().map(row).collect(),
        pager: Pager::new("rows", found.pagination, |offset| format!("{url}&offset={offset}")),
        path: url,
    };
    Ok(PageResponse::render(&page)?.showing([review.workspace.id().uuid()]))
}

impl PreviewRow {
    fn new(review: &WorkspaceFundingReview, row: &Row) -> Self {
        let Ok(NewRow { new, item }) = &row.new else { return Self::without_item(row) };
        let verb = item.verb().map(|verb| format!(" · {}", words::verb(verb))).unwrap_or_default();
        let facts = facts_for_people(item).into_iter().map(|(name, value)| format!("{name}: {value}"));
        Self {
            number: row.number,
            label: item.label().as_str().to_owned(),
            about: format!("{}{verb}", words::asset_kind(item.asset_kind())),
            trust: review.trust(item.trust_id()).map(|trust| trust.formal_name.as_str().to_owned()).unwrap_or_default(),
            owners: names(item.owner_contact_ids(), &review.people),
            facts: cut(&facts.collect::<Vec<_>>().join(", ")),
            reference: new.external_reference.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default(),
            state: Some(item_badge(item)),
            is_there: row.is_there,
        }
    }

    /// A row without a valid item. Its problem is shown next to it unless the row was already added.
    fn without_item(row: &Row) -> Self {
        let none = String::new;
        Self {
            number: row.number,
            label: none(),
            about: none(),
            trust: none(),
            owners: none(),
            facts: none(),
            reference: none(),
            state: None,
            is_there: row.is_there,
        }
    }
}

fn cut(facts: &str) -> String {
    if facts.chars().count() <= FACTS_SHOWN_CHARS {
        return facts.to_owned();
    }
    let shown: String = facts.chars().take(FACTS_SHOWN_CHARS).collect();
    format!("{shown}…")
}

/// The id of a new preview. It differs from all row ids, because audit rows name both.
fn new_import() -> Uuid {
    with_row(Uuid::now_v7(), 0x0fff)
}

pub(crate) async fn import(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let Read { review, parsed, import, url, .. } = read(request, submitted.scope()).await?;
    if !parsed.problems().is_empty() {
        let title =
            if parsed.rows.iter().any(|row| row.is_there) { "Nothing more was added" } else { "Nothing was added" };
        return Ok(preview(request, Some(Notice::bad(title, ""))).await?.unprocessable());
    }
    let workspace = review.workspace.id();
    let new = parsed.rows.iter().enumerate().filter_map(|(at, row)| {
        let new = row.new.as_ref().ok().filter(|_| !row.is_there)?;
        Some((item_id(import, at), new.new.clone()))
    });
    let new: Vec<(FundingItemId, NewFundingItem)> = new.collect();
    let total = parsed.rows.len();
    let outcome = add(&submitted, workspace, new).await?;
    let notice = match outcome {
        Outcome::All => {
            let title = if total == 1 { "1 item added".to_owned() } else { format!("All {total} items added") };
            let done = Notice::good(title, "Next: choose an action for those without one, and fill in missing facts.");
            return Ok(redirect_with(&submitted, format!("{}#notice", funding_url(workspace)), &done).await.into());
        }
        Outcome::Some => Notice::plain("Some items were added", "Add the rest with the same button."),
        Outcome::Refused(message) => Notice::warn("Not all items were added", message),
    };
    Ok(redirect_with(&submitted, format!("{url}#notice"), &notice).await.into())
}

enum Outcome {
    All,
    Some,
    /// The rules refused some, because something has changed.
    Refused(String),
}

async fn add(
    submitted: &SubmittedForm<'_>,
    workspace: WorkspaceId,
    new: Vec<(FundingItemId, NewFundingItem)>,
) -> Result<Outcome, Error> {
    let started = Instant::now();
    let mut batches = funding_import::check(submitted.scope(), workspace, new).await?.into_iter();
    let add = move |batch: Batch| async move {
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
