//! Lists to choose a contact or a workspace from.

use askama::Template;
use shared::domain::contact::{ContactKind, ListedContact};
use shared::error::Error;
use shared::limits;
use shared::service::contacts::ContactQuery;
use shared::service::workspaces::{self, WorkspaceQuery};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Offset, Order, Page, Pagination, Search, Shelf};

use crate::chosen::CHOSEN;
use crate::fields::Fields;
use crate::labels::contact_kind_label;
use crate::layout::{Layout, Link};
use crate::pager::{Pager, is_past_the_end, page_at};
use crate::response::PageResponse;
use crate::urls::encode_query_value;

/// A page of contacts, found by name or email address, for `contact_picker.html`.
pub struct ContactPicker {
    /// The page's path, which searches.
    pub path: String,
    /// Where the forms go: the page's path with search and offset, so that the list stays the same after an act.
    pub form_action: String,
    /// The search as typed.
    pub search: String,
    /// The contacts.
    pub contacts: Vec<ContactOption>,
    /// None if one page shows all.
    pub pager: Option<Pager>,
}

/// A contact to choose.
pub struct ContactOption {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its kind in words.
    pub kind: &'static str,
    /// Its email address.
    pub email: Option<String>,
    /// Whether it was chosen before.
    pub is_chosen: bool,
}

impl ContactOption {
    /// A contact, and whether it was chosen before.
    #[must_use]
    pub fn new(contact: &ListedContact, is_chosen: bool) -> Self {
        Self {
            id: contact.id.to_string(),
            name: contact.display_name.as_str().to_owned(),
            kind: contact_kind_label(contact.kind),
            email: contact.email.as_ref().map(|email| email.as_str().to_owned()),
            is_chosen,
        }
    }
}

impl ContactPicker {
    /// The found contacts, or the address of the first page if the requested one is past the end.
    pub fn new(
        query: &ContactQuery,
        path: String,
        found: &Page<ListedContact>,
        is_chosen: impl Fn(&ListedContact) -> bool,
    ) -> Result<Self, String> {
        let list = SearchedList::new(query.search.typed(), &path, "contacts", found.pagination)?;
        let option = |contact: &ListedContact| ContactOption::new(contact, is_chosen(contact));
        let contacts = found.data.iter().map(option).collect();
        Ok(Self { form_action: list.url, search: list.search, pager: list.pager, contacts, path })
    }

    /// What is known of a new contact: who was looked for, if nobody was found.
    #[must_use]
    pub fn new_contact(&self) -> Fields {
        let searched = if self.contacts.is_empty() { self.search.as_str() } else { "" };
        let (name, email) = if searched.contains('@') { ("", searched) } else { (searched, "") };
        let kind = ContactKind::Person.as_str();
        Fields::of([(CHOSEN.name, name), (CHOSEN.kind, kind), (CHOSEN.email, email)])
    }
}

struct SearchedList {
    search: String,
    url: String,
    pager: Option<Pager>,
}

impl SearchedList {
    fn new(search: &str, path: &str, items: &'static str, at: Pagination) -> Result<Self, String> {
        let page_url = |offset: u64| format!("{path}?search={}&offset={offset}", encode_query_value(search));
        if is_past_the_end(at) {
            return Err(page_url(0));
        }
        Ok(Self { url: page_url(at.offset), pager: Pager::new(items, at, page_url), search: search.to_owned() })
    }
}

/// A link to a page that is always there.
pub struct Crumb {
    /// Its address.
    pub url: &'static str,
    /// Its title.
    pub text: &'static str,
}

/// The page on which what is new gets its workspace.
pub struct WorkspaceChoice {
    /// The page's path.
    pub path: &'static str,
    /// Where it goes on, with `?workspace=`.
    pub goes_on: &'static str,
    /// The page's title.
    pub title: &'static str,
    /// The list that the page belongs to.
    pub list: Crumb,
    /// The question.
    pub lead: &'static str,
    /// What is said without any workspace.
    pub without_any: &'static str,
    /// Where a new one is made.
    pub create: Crumb,
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct WorkspacesQuery {
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    offset: Offset,
}

#[derive(Template)]
#[template(path = "choose_workspace.html")]
struct WorkspacesPage<'a> {
    layout: Layout,
    choice: &'a WorkspaceChoice,
    search: String,
    workspaces: Vec<(Link, String)>,
    pager: Option<Pager>,
}

impl WorkspaceChoice {
    /// Answers with the page of workspaces that the address asks for.
    pub async fn page(&self, request: &mut Request) -> Result<PageResponse, Error> {
        let WorkspacesQuery { search, offset } = request.read_query()?;
        let query = WorkspaceQuery { search, ..WorkspaceQuery::of_page(page_at(offset)) };
        let found = workspaces::list(request.signed_in()?.scope(), Order::NewestFirst, Shelf::Current, &query).await?;
        let list = match SearchedList::new(query.search.typed(), self.path, "workspaces", found.pagination) {
            Ok(list) => list,
            Err(first_page) => return Ok(PageResponse::see_other(first_page)),
        };
        let row = |workspace: &shared::domain::workspace::Workspace| {
            let url = format!("{}?workspace={}", self.goes_on, workspace.id());
            (Link { url, text: workspace.name.as_str().to_owned() }, workspace.number.to_string())
        };
        PageResponse::render(&WorkspacesPage {
            layout: Layout::new(request),
            choice: self,
            workspaces: found.data.iter().map(row).collect(),
            search: list.search,
            pager: list.pager,
        })
    }
}
