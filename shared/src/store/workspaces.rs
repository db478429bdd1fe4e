//! Workspaces: a record with the ids of its people, and a row in their list.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use super::commit::{Change, Update, row};
use super::keys::{self, Rows};
use super::list::Order;
use super::{OrgStore, StoreError, VERSION, Versioned, from_item, from_versioned_item, to_versioned_item};
use crate::api::caller::WriteCaller;
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::time::Timestamp;
use crate::domain::workspace::{Workspace, WorkspaceName, WorkspaceNumber};
use crate::limits;
use crate::wire::page::{Page, PageRequest};

/// A workspace as it is written.
#[derive(Serialize, Deserialize)]
struct Record {
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

impl From<Record> for Workspace {
    fn from(record: Record) -> Self {
        let Record { id, name, number, activated_at, people, created_at, updated_at } = record;
        Self { id, name, number, activated_at, people, created_at, updated_at }
    }
}

impl From<&Workspace> for Record {
    fn from(workspace: &Workspace) -> Self {
        let Workspace { id, name, number, activated_at, people, created_at, updated_at } = workspace.clone();
        Self { id, name, number, activated_at, people, created_at, updated_at }
    }
}

impl OrgStore {
    /// A workspace.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<Option<Versioned<Workspace>>, StoreError> {
        let Some(item) = self.store.get(keys::workspace(self.org, id)).await? else { return Ok(None) };
        let Versioned { value, version } = from_versioned_item::<Record>(item)?;
        Ok(Some(Versioned { value: value.into(), version }))
    }

    /// A page of the workspaces whose name or internal reference contains the needle.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn list_workspaces(
        &self,
        needle: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<Workspace>, StoreError> {
        let slice = self.list(Rows::Workspaces, Order::OldestFirst, needle, &[], |_| true, page).await?;
        let keys: Vec<_> = slice.ids.into_iter().map(|id| keys::workspace(self.org, id.into())).collect();
        let records = self.store.get_all(&keys).await?;
        let workspaces =
            records.into_iter().map(|item| from_item::<Record>(item).map(Into::into)).collect::<Result<_, _>>()?;
        Ok(Page::new(workspaces, slice.total, page))
    }

    /// The contacts that take part in workspaces, each once.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn people_of(
        &self,
        workspaces: impl IntoIterator<Item = &Workspace>,
    ) -> Result<Vec<Contact>, StoreError> {
        let people: BTreeSet<ContactId> =
            workspaces.into_iter().flat_map(|workspace| workspace.people.iter().copied()).collect();
        self.contacts(people).await
    }
}

impl WriteCaller {
    /// The number of the organization's next workspace. Taken outside of any transaction, so that workspaces created
    /// at the same time don't wait for each other; numbers may skip.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn next_workspace_number(&self) -> Result<WorkspaceNumber, StoreError> {
        self.store.store.next_number(keys::workspace_counter(self.org())).await.map(WorkspaceNumber)
    }
}

/// The changes that create a workspace, which is not activated: only a member does that.
///
/// # Errors
/// When it can't be encoded.
pub fn create(org: OrgId, workspace: &Workspace) -> Result<Vec<Change>, StoreError> {
    let record = Record { activated_at: None, ..Record::from(workspace) };
    let item = to_versioned_item(keys::workspace(org, workspace.id()), &record, 1)?;
    Ok(vec![Change::Create(item), workspace_row(org, workspace)])
}

/// The change that adds somebody to a workspace's people, whoever else is added at the same time. It holds only while
/// there is room.
#[must_use]
pub fn add_person(org: OrgId, after: &Workspace, contact: ContactId) -> Change {
    Change::Update(Update {
        key: keys::workspace(org, after.id()),
        expression: "ADD #people :contact, #version :one SET #updated_at = :updated_at",
        // The time too: who came first and arrives last must not turn it back.
        condition: "attribute_exists(#pk) AND (attribute_not_exists(#people) OR size(#people) < :max) AND #updated_at <= :updated_at",
        names: vec![
            ("#people", "people"),
            ("#version", VERSION),
            ("#updated_at", "updated_at"),
            ("#pk", keys::PARTITION),
        ],
        values: vec![
            (":contact", AttributeValue::Ss(vec![contact.to_string()])),
            (":one", AttributeValue::N("1".to_owned())),
            (":updated_at", AttributeValue::S(after.updated_at.to_string())),
            (":max", AttributeValue::N(limits::WORKSPACE_PEOPLE_MAX.to_string())),
        ],
    })
}

/// The change that activates a workspace, whoever is added to its people at the same time. It holds only while it is
/// not activated.
#[must_use]
pub fn activate(org: OrgId, after: &ByMember<Workspace>) -> Change {
    let at = after.activated_at().unwrap_or(after.updated_at).to_string();
    Change::Update(Update {
        key: keys::workspace(org, after.id()),
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
    })
}

fn workspace_row(org: OrgId, workspace: &Workspace) -> Change {
    row(org, Rows::Workspaces, workspace.id().uuid(), &workspace.search_text(), [])
}
