//! Imports funding items into a workspace.

use askama::Template;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::labels::{Badge, item_badge, names};
use pages::layout::{Layout, Link, Notice};
use pages::pager::Pager;
use pages::response::PageResponse;
use pages::urls::{funding_url, item_url};
use shared::domain::funding::input::NewFundingItem;
use shared::domain::ids::{FundingItemId, WorkspaceId};
use shared::error::Error;
use shared::service::funding_import;
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::service::scope::{Plan, Scope};
use shared::text::funding_words as words;
use shared::web::Request;
use shared::web::submitted_form::FormPart;
use shared::wire::fields::FieldErrors;
use shared::wire::input::Empty;
use shared::wire::page::Page;

use super::columns::{Row, problems};
use super::item_rows::{NewRow, Parsed, Twin, parse};
use super::{Batch, IMPORT, Kept, Outcome, Problems, add, file_of, not_added, not_read, preview_of, row_id};
use crate::facts_for_people;
use crate::sheet::{self, KindHelp};

const FACTS_SHOWN_CHARS: usize = 160;

#[derive(Template)]
#[template(path = "funding_import.html")]
struct ImportPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    path: String,
    kinds: Vec<KindHelp>,
    problems: Problems,
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
    let problems = Problems::new(problems(&parsed.rows));
    let page = ImportPage {
        layout: Layout::new(request),
        notice: problems.notice(parsed.rows.len()),
        workspace: workspace_link(review),
        path: import_url(id),
        kinds: sheet::help(),
        problems,
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
    let (field, file) = file_of(form);
    let parsed = match parse(&file, &review, request.now()) {
        Ok(parsed) => parsed.checked(submitted.scope(), &review, None).await?,
        Err(refusal) => {
            let fields = not_read(form, field, refusal);
            return Ok(form_page(request, &review, fields, &Parsed::default())?.unprocessable());
        }
    };
    if !problems(&parsed.rows).is_empty() {
        let is_left_out = |name: &str| name == IMPORT.csv.name && parsed.is_sensitive;
        let fields = Fields::submitted(form, FieldErrors::default()).without(is_left_out);
        return Ok(form_page(request, &review, fields, &parsed)?.unprocessable());
    }
    preview_of(&submitted, &import_url(review.workspace.id()), file).await
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
    problems: Problems,
    left_out: String,
    /// How many rows are left to add that have a twin.
    twins: usize,
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
    twin: Option<Link>,
    same_as: Option<usize>,
    is_there: bool,
}

pub(crate) async fn show_preview(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(preview(request, notice).await?.with_cookie(cookie))
}

async fn read(request: &Request, scope: &Scope) -> Result<(WorkspaceFundingReview, Parsed, Kept), Error> {
    let path = import_url(request.path_id("id")?);
    let (review, kept) = futures_util::try_join!(review(request), Kept::of(request, scope, &path))?;
    let parsed = parse(&kept.file, &review, request.now()).map_err(|_| Error::not_found())?;
    let parsed = parsed.checked(scope, &review, Some(kept.import)).await?;
    Ok((review, parsed, kept))
}

async fn preview(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (review, parsed, Kept { url, page, .. }) = read(request, request.signed_in()?.scope()).await?;
    let found = Page::slice(parsed.rows.iter(), page);
    let row = |row: &&Row<NewRow>| PreviewRow::new(&review, row);
    let page = PreviewPage {
        layout: Layout::new(request),
        notice,
        workspace: workspace_link(&review),
        back: import_url(review.workspace.id()),
        total: parsed.rows.len(),
        added: parsed.rows.iter().filter(|row| row.is_there).count(),
        problems: Problems::new(problems(&parsed.rows)),
        left_out: parsed.left_out.join(", "),
        twins: parsed.rows.iter().filter(|row| !row.is_there && twin_of(row).is_some()).count(),
        rows: found.data.iter().map(row).collect(),
        pager: Pager::new("rows", found.pagination, |offset| format!("{url}&offset={offset}")),
        path: url,
    };
    Ok(PageResponse::render(&page)?.showing([review.workspace.id().uuid()]))
}

fn twin_of(row: &Row<NewRow>) -> Option<Twin> {
    row.new.as_ref().ok()?.twin
}

impl PreviewRow {
    fn new(review: &WorkspaceFundingReview, row: &Row<NewRow>) -> Self {
        let Ok(NewRow { new, item, twin }) = &row.new else { return Self::without_item(row) };
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
            twin: match twin {
                Some(Twin::Item(id)) => Some(Link { url: item_url(*id), text: "Same as an item".to_owned() }),
                _ => None,
            },
            same_as: if let Some(Twin::Row(number)) = twin { Some(*number) } else { None },
            is_there: row.is_there,
        }
    }

    /// A row without a valid item. Its problem is shown next to it unless the row was already added.
    fn without_item(row: &Row<NewRow>) -> Self {
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
            twin: None,
            same_as: None,
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

pub(crate) async fn import(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (review, parsed, Kept { import, url, .. }) = read(request, submitted.scope()).await?;
    if !problems(&parsed.rows).is_empty() {
        return Ok(preview(request, Some(not_added(&parsed.rows))).await?.unprocessable());
    }
    let workspace = review.workspace.id();
    let new = parsed.rows.iter().enumerate().filter_map(|(at, row)| {
        let new = row.new.as_ref().ok().filter(|_| !row.is_there)?;
        Some((row_id(import, at), new.new.clone()))
    });
    let new: Vec<(FundingItemId, NewFundingItem)> = new.collect();
    let total = parsed.rows.len();
    let batches = funding_import::check(submitted.scope(), workspace, new).await?;
    let batches = batches.into_iter().map(Items).collect();
    let notice = match add(&submitted, &[workspace.uuid()], batches).await? {
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

/// Some items to add at once.
struct Items(funding_import::Batch);

impl Batch for Items {
    const OPERATION: &'static str = "import_funding_items";

    async fn plan(&self, by: &FormPart<'_>) -> Result<Plan<usize>, Error> {
        funding_import::add(by, &self.0).await
    }
}
