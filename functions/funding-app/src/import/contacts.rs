//! Imports contacts. The preview names those that exist already; they are left out unless a member adds them too.

use askama::Template;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::labels::contact_kind_label;
use pages::layout::{Layout, Link, Notice};
use pages::pager::Pager;
use pages::response::PageResponse;
use pages::urls::{CONTACT_IMPORT, CONTACTS, contact_url};
use shared::domain::contact::NewContact;
use shared::domain::ids::ContactId;
use shared::error::Error;
use shared::limits;
use shared::service::contact_import;
use shared::service::scope::{Plan, Scope};
use shared::web::Request;
use shared::web::submitted_form::FormPart;
use shared::wire::fields::FieldErrors;
use shared::wire::input::Empty;
use shared::wire::page::Page;

use super::columns::{Row, problems};
use super::contact_rows::{LeftOut, NewRow, Parsed, Twin, Wanted, kinds, parse};
use super::{Batch, Kept, Outcome, Problems, add, file_of, not_added, not_read, preview_of};

/// Sent by the button that adds twins too.
pub(crate) const TWINS: &str = "twins";

#[derive(Template)]
#[template(path = "contact_import.html")]
struct ImportPage {
    layout: Layout,
    notice: Option<Notice>,
    path: &'static str,
    kinds: String,
    problems: Problems,
    fields: Fields,
}

pub(crate) async fn show_import(request: &mut Request) -> Result<PageResponse, Error> {
    let Empty {} = request.read_query()?;
    form_page(request, Fields::default(), &Parsed::default())
}

fn form_page(request: &Request, fields: Fields, parsed: &Parsed) -> Result<PageResponse, Error> {
    let problems = Problems::new(problems(&parsed.rows));
    PageResponse::render(&ImportPage {
        layout: Layout::new(request),
        notice: problems.notice(parsed.rows.len()),
        path: CONTACT_IMPORT,
        kinds: kinds(),
        problems,
        fields,
    })
}

pub(crate) async fn read_import(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let (field, file) = file_of(form);
    let parsed = match parse(&file) {
        Ok(parsed) => parsed.checked(submitted.scope(), None).await?,
        Err(refusal) => {
            return Ok(form_page(request, not_read(form, field, refusal), &Parsed::default())?.unprocessable());
        }
    };
    if !problems(&parsed.rows).is_empty() {
        let fields = Fields::submitted(form, FieldErrors::default());
        return Ok(form_page(request, fields, &parsed)?.unprocessable());
    }
    preview_of(&submitted, CONTACT_IMPORT, file).await
}

#[derive(Template)]
#[template(path = "contact_import_preview.html")]
struct PreviewPage {
    layout: Layout,
    notice: Option<Notice>,
    back: &'static str,
    path: String,
    total: usize,
    added: usize,
    /// What is added unless a member adds twins too.
    left: usize,
    /// What is left out unless a member adds twins too.
    twins: usize,
    /// What is left out, even what can't be added.
    left_out: String,
    problems: Problems,
    rows: Vec<PreviewRow>,
    pager: Option<Pager>,
}

#[derive(Default)]
struct PreviewRow {
    number: usize,
    name: String,
    email: Option<String>,
    kind: &'static str,
    reference: String,
    twin: Option<Link>,
    same_as: Option<usize>,
    is_there: bool,
}

impl PreviewRow {
    fn new(row: &Row<NewRow>) -> Self {
        let empty = Self { number: row.number, is_there: row.is_there, ..Self::default() };
        let Ok(NewRow { new, twin }) = &row.new else { return empty };
        let known = |id: ContactId| Link { url: contact_url(id), text: "Exists already".to_owned() };
        let (twin, same_as) = match *twin {
            Some(Twin::Contact(id) | Twin::Itself(id)) => (Some(known(id)), None),
            Some(Twin::Row(number)) => (None, Some(number)),
            None => (None, None),
        };
        Self {
            name: new.display_name.as_str().to_owned(),
            email: new.email().map(|email| email.as_str().to_owned()),
            kind: contact_kind_label(new.kind),
            reference: new.external_reference.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default(),
            twin,
            same_as,
            ..empty
        }
    }
}

pub(crate) async fn show_preview(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(preview(request, notice).await?.with_cookie(cookie))
}

async fn read(request: &Request, scope: &Scope) -> Result<(Parsed, Kept), Error> {
    let kept = Kept::of(request, scope, CONTACT_IMPORT).await?;
    let parsed = parse(&kept.file).map_err(|_| Error::not_found())?;
    Ok((parsed.checked(scope, Some(kept.import)).await?, kept))
}

async fn preview(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (parsed, Kept { import, url, page, .. }) = read(request, request.signed_in()?.scope()).await?;
    let found = Page::slice(parsed.rows.iter(), page);
    let left = parsed.left(import, Wanted::WithoutTwins).count();
    PageResponse::render(&PreviewPage {
        layout: Layout::new(request),
        notice,
        back: CONTACT_IMPORT,
        total: parsed.rows.len(),
        added: added(&parsed),
        left,
        twins: parsed.left(import, Wanted::All).count() - left,
        left_out: parsed.left_out(Wanted::WithoutTwins).sentence(["is", "are"]),
        problems: Problems::new(problems(&parsed.rows)),
        rows: found.data.into_iter().map(PreviewRow::new).collect(),
        pager: Pager::new("rows", found.pagination, |offset| format!("{url}&offset={offset}")),
        path: url,
    })
}

fn added(parsed: &Parsed) -> usize {
    parsed.rows.iter().filter(|row| row.is_there).count()
}

pub(crate) async fn import(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (parsed, Kept { import, url, .. }) = read(request, submitted.scope()).await?;
    let before = added(&parsed);
    if !problems(&parsed.rows).is_empty() {
        return Ok(preview(request, Some(not_added(&parsed.rows))).await?.unprocessable());
    }
    let wanted = if submitted.form().get(TWINS).is_empty() { Wanted::WithoutTwins } else { Wanted::All };
    let new: Vec<_> = parsed.left(import, wanted).collect();
    let batches = new.chunks(limits::CONTACTS_CREATED_AT_ONCE).map(|some| Contacts(some.to_vec())).collect();
    let notice = match add(&submitted, &[], batches).await? {
        Outcome::All => {
            let done = all_added(before + new.len(), parsed.left_out(wanted));
            return Ok(redirect_with(&submitted, CONTACTS.to_owned(), &done).await.into());
        }
        Outcome::Some => Notice::plain("Some contacts were added", "Add the rest with the same button."),
        Outcome::Refused(message) => Notice::warn("Not all contacts were added", message),
    };
    Ok(redirect_with(&submitted, format!("{url}#notice"), &notice).await.into())
}

fn all_added(added: usize, left_out: LeftOut) -> Notice {
    let title = match added {
        0 => "No contact was added".to_owned(),
        1 => "1 contact added".to_owned(),
        added => format!("{added} contacts added"),
    };
    let left_out = left_out.sentence(["was", "were"]);
    let next = "They can join workspaces and take part in agreements.";
    Notice::good(title, if left_out.is_empty() { next.to_owned() } else { left_out })
}

/// Some contacts to add at once.
struct Contacts(Vec<(ContactId, NewContact)>);

impl Batch for Contacts {
    const OPERATION: &'static str = "import_contacts";

    async fn plan(&self, by: &FormPart<'_>) -> Result<Plan<usize>, Error> {
        contact_import::add(by, &self.0).await
    }
}
