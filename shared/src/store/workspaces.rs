//! Workspaces: a record with the ids of its people, a row in their list, and a row with the people for the contact pages.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::change::{Change, Changes, Update};
use super::item::{Item, VERSION, from_item};
use super::keys::{self, Key, Rows};
use super::list::{Order, RowFilter};
use super::record::{self, Record, Row};
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::time::Timestamp;
use crate::domain::workspace::{Workspace, WorkspaceName, WorkspaceNumber};
use crate::limits;
use crate::wire::page::{Page, PageRequest, Search, list_query};

/// A workspace as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    id: WorkspaceId,
    name: WorkspaceName,
    number: WorkspaceNumber,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    activated_at: Option<Timestamp>,
    /// A set of strings, to which people are added in place.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty", with = "serde_dynamo::string_set")]
    people: BTreeSet<ContactId>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<Stored> for Workspace {
    fn from(stored: Stored) -> Self {
        let Stored { id, name, number, activated_at, people, created_at, updated_at } = stored;
        Self { id, name, number, activated_at, people, created_at, updated_at }
    }
}

impl From<&Workspace> for Stored {
    fn from(workspace: &Workspace) -> Self {
        let Workspace { id, name, number, activated_at, people, created_at, updated_at } = workspace.clone();
        Self { id, name, number, activated_at, people, created_at, updated_at }
    }
}

/// The attribute of a row of people that holds them, a set of ids.
const PEOPLE: &str = "p";

impl Record for Workspace {
    type Id = WorkspaceId;
    const ROWS: Rows = Rows::Workspaces;

    fn key(org: OrgId, id: WorkspaceId) -> Key {
        keys::workspace(org, id)
    }

    fn record_id(&self) -> WorkspaceId {
        self.id()
    }

    fn row(&self) -> Row {
        Row::searched_by(self.search_text())
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(&Stored::from(self))
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item::<Stored>(item).map(Into::into)
    }
}

list_query! {
    /// Which workspaces are listed.
    pub struct WorkspaceQuery {
        /// A part of the name or the internal reference, in any letter case.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
    }
}

impl OrgStore {
    /// A workspace.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<Option<Versioned<Workspace>>, StoreError> {
        self.find(id).await
    }

    /// The workspaces with these ids. Missing ones are left out.
    pub async fn workspaces(
        &self,
        ids: impl IntoIterator<Item = WorkspaceId>,
    ) -> Result<Vec<Versioned<Workspace>>, StoreError> {
        self.find_all(ids).await
    }

    /// A page of the workspaces that a query asks for.
    pub async fn list_workspaces(&self, query: &WorkspaceQuery) -> Result<Page<Workspace>, StoreError> {
        self.list(Order::OldestFirst, &RowFilter::containing(query.search.needle()), query.page()).await
    }

    /// A page of the workspaces that have a contact among their people.
    pub(crate) async fn workspaces_of(
        &self,
        contact: ContactId,
        page: PageRequest,
    ) -> Result<Page<Workspace>, StoreError> {
        let has_contact = move |row: &Item| {
            let people = row.get(PEOPLE).and_then(|people| people.as_bs().ok());
            people.is_some_and(|people| people.iter().any(|id| id.as_ref() == contact.uuid().as_bytes()))
        };
        let filter = RowFilter::default().matching(&[PEOPLE], has_contact);
        let slice = self.slice(Rows::WorkspacePeople, Order::OldestFirst, &filter, page).await?;
        let workspaces = self.workspaces(slice.ids.into_iter().map(WorkspaceId::from)).await?;
        Ok(Page::new(workspaces.into_iter().map(Versioned::into_inner).collect(), slice.total, page))
    }

    /// The contacts that take part in a workspace, in the order of their ids.
    pub async fn people_of(&self, workspace: &Workspace) -> Result<Vec<Contact>, StoreError> {
        let people = self.contacts(workspace.people.iter().copied()).await?;
        Ok(people.into_iter().map(Versioned::into_inner).collect())
    }

    /// The number of the organization's next workspace. It is taken outside of the transaction, so that workspaces that are
    /// created at the same time do not conflict; numbers may skip.
    pub(crate) async fn next_workspace_number(&self) -> Result<WorkspaceNumber, StoreError> {
        self.store.next_number(keys::workspace_counter(self.org)).await.map(WorkspaceNumber)
    }
}

/// The changes that create a workspace. It must not be activated: only a member activates one.
pub fn create(call: &CallContext, workspace: &Workspace) -> Result<Changes, StoreError> {
    if workspace.activated_at().is_some() {
        return Err(StoreError::Failed("a new workspace that is activated".to_owned()));
    }
    let mut created = record::create(call.org(), workspace)?;
    if !workspace.people.is_empty() {
        created.push(change_people_row(call.org(), workspace.id(), "ADD #people :contacts", &workspace.people));
    }
    Ok(Changes::of(call, created))
}

/// The change that adds contacts, one or more, to a workspace's people, without a conflict with others that are added at the
/// same time. It holds only while the workspace has room for them.
///
/// It adds those that are among the people already too: every new reference adds its contact again, so that a removal which
/// has not seen the reference does not hold (see [`remove_person`]), and one that came first is undone.
pub fn add_people(
    call: &CallContext,
    before: &Versioned<Workspace>,
    after: &Workspace,
    contacts: &BTreeSet<ContactId>,
) -> Changes {
    let org = call.org();
    let mut joined = Update {
        key: keys::workspace(org, after.id()),
        expression: "ADD #people :contacts, #version :one SET #updated_at = :updated_at",
        // `updated_at` must not go back when an earlier call commits later.
        condition: "attribute_exists(#pk) AND (attribute_not_exists(#people) OR size(#people) <= :room) AND #updated_at <= :updated_at",
        names: vec![
            ("#people", "people"),
            ("#version", VERSION),
            ("#updated_at", "updated_at"),
            ("#pk", keys::PARTITION),
        ],
        values: vec![
            (":contacts", people_set(contacts)),
            (":one", AttributeValue::N("1".to_owned())),
            (":updated_at", AttributeValue::S(after.updated_at.to_string())),
        ],
    };
    match limits::WORKSPACE_PEOPLE_MAX.checked_sub(contacts.len()) {
        Some(room) if before.people.len() <= room => {
            joined.values.push((":room", AttributeValue::N(room.to_string())));
        }
        // There is only room because some of them are there already: as many must still be there.
        _ => {
            joined.condition = "#version = :version";
            joined.names.retain(|(name, _)| *name != "#pk");
            joined.values.push((":version", AttributeValue::N(before.version().to_string())));
        }
    }
    Changes::of(call, [Change::Update(joined), change_people_row(org, after.id(), "ADD #people :contacts", contacts)])
}

/// The change that removes a contact from a workspace's people. It holds only while the workspace has not changed: nobody has
/// joined since, and no agreement refers to anyone whom it did not refer to before.
pub fn remove_person(
    call: &CallContext,
    before: &Versioned<Workspace>,
    after: &Workspace,
    contact: ContactId,
) -> Changes {
    let (org, contacts) = (call.org(), BTreeSet::from([contact]));
    let left = Update {
        key: keys::workspace(org, after.id()),
        expression: "DELETE #people :contacts ADD #version :one SET #updated_at = :updated_at",
        condition: "#version = :version",
        names: vec![("#people", "people"), ("#version", VERSION), ("#updated_at", "updated_at")],
        values: vec![
            (":contacts", people_set(&contacts)),
            (":one", AttributeValue::N("1".to_owned())),
            (":updated_at", AttributeValue::S(after.updated_at.to_string())),
            (":version", AttributeValue::N(before.version().to_string())),
        ],
    };
    Changes::of(call, [Change::Update(left), change_people_row(org, after.id(), "DELETE #people :contacts", &contacts)])
}

/// The change of a workspace's row of people, which is there once somebody has joined. The record's condition guards it too.
fn change_people_row(
    org: OrgId,
    workspace: WorkspaceId,
    expression: &'static str,
    contacts: &BTreeSet<ContactId>,
) -> Change {
    Change::Update(Update {
        key: keys::row(org, Rows::WorkspacePeople, workspace.uuid()),
        expression,
        condition: "",
        names: vec![("#people", PEOPLE)],
        values: vec![(":contacts", record::id_set(contacts.iter().map(|id| id.uuid())))],
    })
}

/// The change that writes the row with a workspace's people as its record has them, if it has any.
pub(super) fn rows_beside(org: OrgId, workspace: &Workspace) -> Option<Change> {
    people_row(keys::row(org, Rows::WorkspacePeople, workspace.id().uuid()), &workspace.people).map(Change::Put)
}

/// The people of a workspace whom its row of people has.
pub(super) fn people_in_row(row: Option<&Item>) -> BTreeSet<ContactId> {
    let people = row.and_then(|row| row.get(PEOPLE)?.as_bs().ok());
    let id = |id: &aws_sdk_dynamodb::primitives::Blob| Uuid::from_slice(id.as_ref()).ok().map(ContactId::from);
    people.into_iter().flatten().filter_map(id).collect()
}

/// The row of people at a key; none without people.
pub(super) fn people_row(key: Key, people: &BTreeSet<ContactId>) -> Option<Item> {
    if people.is_empty() {
        return None;
    }
    let mut row = key.into_item();
    row.insert(PEOPLE.to_owned(), record::id_set(people.iter().map(|id| id.uuid())));
    Some(row)
}

/// The people of a workspace as its record has them.
fn people_set(contacts: &BTreeSet<ContactId>) -> AttributeValue {
    AttributeValue::Ss(contacts.iter().map(ContactId::to_string).collect())
}

/// The change that activates a workspace, without a conflict with contacts that are added at the same time. It holds only
/// while the workspace is not activated.
pub fn activate(call: &CallContext, after: &ByMember<Workspace>) -> Changes {
    let at = after.activated_at().unwrap_or(after.updated_at).to_string();
    let activated = Update {
        key: keys::workspace(call.org(), after.id()),
        expression: "ADD #version :one SET #activated_at = :at, #updated_at = :updated_at",
        condition: "attribute_exists(#pk) AND attribute_not_exists(#activated_at) AND #updated_at <= :updated_at",
        names: vec![
            ("#activated_at", "activated_at"),
            ("#version", VERSION),
            ("#updated_at", "updated_at"),
            ("#pk", keys::PARTITION),
        ],
        values: vec![
            (":at", AttributeValue::S(at)),
            (":updated_at", AttributeValue::S(after.updated_at.to_string())),
            (":one", AttributeValue::N("1".to_owned())),
        ],
    };
    Changes::decided_by_member(call, after, [Change::Update(activated)])
}
