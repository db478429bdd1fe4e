//! Where records are, for the app's lists: current ones, archived ones, and those merged into another one.

use std::str::FromStr;

use shared::domain::ids::{AgreementId, ContactId, WorkspaceId};
use shared::error::Error;
use shared::service::archive::{self as service, Archivable};
use shared::web::Request;
use shared::wire::page::Shelf;

use crate::done::{redirect_with, with_notice};
use crate::labels::Badge;
use crate::layout::Notice;
use crate::response::PageResponse;
use crate::routes::{Pages, post};
use crate::urls::{agreement_url, contact_url, workspace_url};

/// One of several pages, for `tabs.html`.
pub struct Tab {
    /// Its address.
    pub url: String,
    /// Its name.
    pub name: &'static str,
    /// How many things it lists, if it is told.
    pub count: Option<usize>,
    /// Whether it is shown.
    pub is_current: bool,
}

/// The tabs of a list, one per shelf. `page_url` returns the address of the first page of one.
pub fn tabs(shelves: &[Shelf], current: Shelf, page_url: impl Fn(Shelf) -> String) -> Vec<Tab> {
    let tab = |shelf: Shelf| Tab { url: page_url(shelf), name: name(shelf), count: None, is_current: shelf == current };
    shelves.iter().copied().map(tab).collect()
}

fn name(shelf: Shelf) -> &'static str {
    match shelf {
        Shelf::Current => "Current",
        Shelf::Archived => "Archived",
        Shelf::Merged => "Merged",
        Shelf::All => "All",
    }
}

/// The end of a list's address that says which shelf it shows. Empty for current records.
#[must_use]
pub fn parameter(shelf: Shelf) -> String {
    if shelf == Shelf::Current { String::new() } else { format!("&show={shelf}") }
}

/// The badge of a record that is archived or merged. None for current ones.
#[must_use]
pub fn badge(shelf: Shelf) -> Option<Badge> {
    let is_aside = matches!(shelf, Shelf::Archived | Shelf::Merged);
    is_aside.then(|| Badge { text: name(shelf), class: "quiet" })
}

/// The id of a record that members archive.
pub trait Archived: FromStr + Copy + Send + Sync + 'static {
    /// The operations that archive it and bring it back.
    const OPERATIONS: [&'static str; 2];
    /// Its page.
    fn url(self) -> String;
    /// The record.
    fn record(self) -> Archivable;
}

impl Archived for ContactId {
    const OPERATIONS: [&'static str; 2] = ["archive_contact", "bring_back_contact"];

    fn url(self) -> String {
        contact_url(self)
    }

    fn record(self) -> Archivable {
        Archivable::Contact(self)
    }
}

impl Archived for WorkspaceId {
    const OPERATIONS: [&'static str; 2] = ["archive_workspace", "bring_back_workspace"];

    fn url(self) -> String {
        workspace_url(self)
    }

    fn record(self) -> Archivable {
        Archivable::Workspace(self)
    }
}

impl Archived for AgreementId {
    const OPERATIONS: [&'static str; 2] = ["archive_draft", "bring_back_draft"];

    fn url(self) -> String {
        agreement_url(self)
    }

    fn record(self) -> Archivable {
        Archivable::Draft(self)
    }
}

/// The acts of `archive.html` on the pages of records, which are under the path of their list.
#[must_use]
pub fn acts<Id: Archived>(list: &str) -> Pages {
    let [to_archive, to_bring_back] = Id::OPERATIONS;
    Pages::default()
        .route(&format!("{list}/{{id}}/archive"), post(to_archive, archive::<Id>))
        .route(&format!("{list}/{{id}}/bring-back"), post(to_bring_back, bring_back::<Id>))
}

async fn archive<Id: Archived>(request: &mut Request) -> Result<PageResponse, Error> {
    set_archived::<Id>(request, true).await
}

async fn bring_back<Id: Archived>(request: &mut Request) -> Result<PageResponse, Error> {
    set_archived::<Id>(request, false).await
}

async fn set_archived<Id: Archived>(request: &Request, is_archived: bool) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: Id = request.path_id("id")?;
    let redirect = redirect_with(&submitted, id.url(), &notice(is_archived)).await;
    if submitted.run(|| service::set_archived(&submitted, id.record(), is_archived)).await? {
        return Ok(redirect.into());
    }
    let line = "Only drafts can be archived. If a proposal for this draft needs your decision, decide on it first.";
    Ok(with_notice(&submitted, id.url(), &Notice::bad("Nothing was changed", line)).await.into())
}

fn notice(is_archived: bool) -> Notice {
    if is_archived {
        Notice::good("Archived", "Lists no longer show it. It is under Archived there, and can be brought back.")
    } else {
        Notice::good("Brought back", "Lists show it again.")
    }
}
