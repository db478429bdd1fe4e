//! Workspaces: a record with the ids of its people, and a row in their list.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

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
use crate::wire::page::{Page, Search, list_query};

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
        /// A part of the text, whatever its case or composition.
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
    Ok(Changes::of(call, record::create(call.org(), workspace)?))
}

/// The change that adds contacts, one or more, to a workspace's people, without a conflict with others that are added at the
/// same time. It holds only while the workspace has room for them.
pub fn add_people(call: &CallContext, after: &Workspace, contacts: &[ContactId]) -> Changes {
    let room = limits::WORKSPACE_PEOPLE_MAX.saturating_sub(contacts.len());
    let joined = Update {
        key: keys::workspace(call.org(), after.id()),
        expression: "ADD #people :contact, #version :one SET #updated_at = :updated_at",
        // `updated_at` must not go back when an earlier call commits later.
        condition: "attribute_exists(#pk) AND (attribute_not_exists(#people) OR size(#people) <= :room) AND #updated_at <= :updated_at",
        names: vec![
            ("#people", "people"),
            ("#version", VERSION),
            ("#updated_at", "updated_at"),
            ("#pk", keys::PARTITION),
        ],
        values: vec![
            (":contact", AttributeValue::Ss(contacts.iter().map(ContactId::to_string).collect())),
            (":one", AttributeValue::N("1".to_owned())),
            (":updated_at", AttributeValue::S(after.updated_at.to_string())),
            (":room", AttributeValue::N(room.to_string())),
        ],
    };
    Changes::of(call, [Change::Update(joined)])
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
