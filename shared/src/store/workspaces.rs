//! Workspaces: a record, a list row, an item for each of their people, and a pointer from each of them for contact pages.
//!
//! Decision: a page of workspaces reads their records. People who join at once, and members who activate a workspace
//! meanwhile, change the record in place, so that they don't conflict. A row has only what a version of the record says,
//! so none has the number of people or the activation, and neither is logged.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::{join, join_all, try_join_all};
use futures_util::try_join;
use serde::{Deserialize, Serialize};

use super::change::{Change, Changes, Moving, Step, Update};
use super::item::{Item, VERSION, from_item, number, text};
use super::keys::{self, Due, Key, SORT};
use super::list::RowFilter;
use super::query::Query;
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::table::PutIf;
use super::{OrgStore, Store, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::time::Timestamp;
use crate::domain::workspace::{PeopledWorkspace, Workspace, WorkspaceName, WorkspaceNumber};
use crate::limits;
use crate::wire::page::{Order, Page, PageRequest, Search, Shelf, list_query};

#[derive(Serialize, Deserialize)]
struct Stored {
    id: WorkspaceId,
    name: WorkspaceName,
    number: WorkspaceNumber,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    activated_at: Option<Timestamp>,
    /// The people when last counted. Negative if one who left was counted before they had joined.
    people_count: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    people_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archived_at: Option<Timestamp>,
}

impl From<Stored> for Workspace {
    fn from(stored: Stored) -> Self {
        let Stored { id, name, number, activated_at, people_count, people_at, created_at, updated_at, archived_at } =
            stored;
        let people_count = usize::try_from(people_count).unwrap_or(0);
        let updated_at = people_at.map_or(updated_at, |at| at.max(updated_at));
        Self { id, name, number, activated_at, people_count, created_at, updated_at, archived_at }
    }
}

impl From<&Workspace> for Stored {
    fn from(workspace: &Workspace) -> Self {
        let workspace = workspace.clone();
        let Workspace { id, name, number, activated_at, people_count, created_at, updated_at, archived_at } = workspace;
        let people_count = i64::try_from(people_count).unwrap_or(i64::MAX);
        Self { id, name, number, activated_at, people_count, people_at: None, created_at, updated_at, archived_at }
    }
}

const PEOPLE_COUNT: &str = "people_count";
const PEOPLE_AT: &str = "people_at";
const JOINED_AT: &str = "at";

impl Record for Workspace {
    type Id = WorkspaceId;
    type Listed = Self;
    const KIND: RecordKind = RecordKind::Workspace;

    fn record_id(&self) -> WorkspaceId {
        self.id()
    }

    fn row(&self) -> Row {
        Row::searched_by(self.search_text()).on(self.shelf())
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

    /// The workspaces with these ids. Skips missing ones.
    pub async fn workspaces(
        &self,
        ids: impl IntoIterator<Item = WorkspaceId>,
    ) -> Result<Vec<Versioned<Workspace>>, StoreError> {
        self.find_all(ids).await
    }

    /// A page of the workspaces that a query asks for.
    pub async fn list_workspaces(
        &self,
        order: Order,
        wanted: Shelf,
        query: &WorkspaceQuery,
    ) -> Result<Page<Workspace>, StoreError> {
        self.list::<Workspace>(order, &RowFilter::containing(query.search.needle()).on(wanted), query.page()).await
    }

    /// The workspaces whose people a contact is one of, oldest first.
    ///
    /// Pointers follow the people, which count: a pointer that came after its person's removal is passed over.
    pub(crate) async fn workspaces_of(
        &self,
        contact: ContactId,
        page: PageRequest,
    ) -> Result<Page<Workspace>, StoreError> {
        let pointers = self.store.all(Query::of(keys::workspaces_of(self.org, contact)).only(&[SORT])).await?;
        let found: Vec<WorkspaceId> = pointers.iter().filter_map(|pointer| text(pointer, SORT)?.parse().ok()).collect();
        let Page { data, pagination } = Page::slice(found, page);
        let people: Vec<Key> = data.iter().map(|id| keys::person(self.org, *id, contact)).collect();
        let (workspaces, people) = try_join!(self.workspaces(data), self.store.get_all(&people))?;
        let people: BTreeSet<Key> = people.iter().filter_map(Key::of).collect();
        let is_there = |workspace: &Workspace| people.contains(&keys::person(self.org, workspace.id, contact));
        Ok(Page { data: workspaces.into_iter().map(Versioned::into_inner).filter(is_there).collect(), pagination })
    }

    /// A workspace with its people.
    pub async fn workspace_with_people(&self, id: WorkspaceId) -> Result<Option<PeopledWorkspace>, StoreError> {
        peopled(self.store.all(Query::of(keys::workspace_items(self.org, id))).await?)
    }

    /// None if the contact is not one of the workspace's people.
    pub(crate) async fn person(
        &self,
        workspace: WorkspaceId,
        contact: ContactId,
    ) -> Result<Option<Person>, StoreError> {
        let found = self.store.get(keys::person(self.org, workspace, contact)).await?;
        let version = found.as_ref().map(version_of_person).transpose()?;
        Ok(version.map(|version| Person { workspace, contact, version }))
    }

    /// The contacts that take part in a workspace, in the order of their ids.
    pub async fn people_of(&self, workspace: &PeopledWorkspace) -> Result<Vec<Contact>, StoreError> {
        let people = self.contacts(workspace.people().iter().copied()).await?;
        Ok(people.into_iter().map(Versioned::into_inner).collect())
    }

    /// Adds the people for whom a commit had no room, and shows moves on pages. The clock repeats what fails.
    pub(super) async fn finish_joining(&self, joining: Vec<Change>, movings: &[Moving], now: Timestamp) {
        let joined = joining.into_iter().filter_map(|change| match change {
            Change::Update(update) => Some(self.store.update(update)),
            _ => None,
        });
        let done = join(join_all(joined), self.show_movings(movings, now));
        let _ = tokio::time::timeout(limits::PEOPLE_JOIN_TIMEOUT, done).await;
    }

    async fn show_movings(&self, movings: &[Moving], now: Timestamp) {
        let Some(Moving { workspace, .. }) = movings.first().copied() else { return };
        let who = |is_so: fn(Step) -> bool| -> BTreeSet<ContactId> {
            movings.iter().filter(|moving| is_so(moving.step)).map(|moving| moving.contact).collect()
        };
        let (there, gone) = (who(|step| step != Step::Leaves), who(|step| step == Step::Leaves));
        let joined = who(|step| step == Step::Joins).len();
        let is_counted = joined > 0 || !gone.is_empty();
        let counted = is_counted.then(|| count_update(self.org, workspace, joined, gone.len(), now));
        let counted = join_all(counted.map(|update| self.store.update(update)));
        let _ = join(self.store.point_to_workspace(self.org, workspace, &there), counted).await;
    }

    /// Taken outside of the transaction, so that concurrently created workspaces do not conflict; numbers may skip.
    pub(crate) async fn next_workspace_number(&self) -> Result<WorkspaceNumber, StoreError> {
        self.store.next_number(keys::workspace_counter(self.org)).await.map(WorkspaceNumber)
    }
}

/// A person of a workspace, as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    workspace: WorkspaceId,
    contact: ContactId,
    version: u64,
}

/// Creates a workspace, with people if its form names some. It must not be activated: only a member activates one.
pub fn create(call: &CallContext, workspace: &PeopledWorkspace) -> Result<Vec<Changes>, StoreError> {
    if workspace.activated_at().is_some() {
        return Err(StoreError::Failed("a new workspace that is activated".to_owned()));
    }
    let id: WorkspaceId = workspace.id();
    let created = Changes::of(call, record::create(call.org(), &**workspace)?);
    // They are counted, and yet to be pointed from.
    let later = (!workspace.people().is_empty()).then(|| count_people_later(call, id));
    let people = workspace.people().iter().map(|contact| {
        let joined = Changes::of(call, [Change::Update(person_update(call, id, *contact))]);
        joined.by_which(Moving { workspace: id, contact: *contact, step: Step::Stays })
    });
    Ok(std::iter::once(created).chain(later).chain(people).collect())
}

/// Makes a contact one of a workspace's people, without a conflict with others who join.
///
/// It also adds one who is there already: every new reference adds its contact again, so that a removal that has not
/// seen the reference fails (see `remove_person`), and an earlier removal is undone.
pub fn add_person(call: &CallContext, before: &PeopledWorkspace, contact: ContactId) -> Changes {
    let workspace = before.id();
    let step = if before.people().contains(&contact) { Step::Stays } else { Step::Joins };
    let added = Changes::of(call, [Change::Update(person_update(call, workspace, contact))]);
    added.by_which(Moving { workspace, contact, step })
}

/// Has the clock count the people of a workspace who join or leave in the same transaction.
pub fn count_people_later(call: &CallContext, workspace: WorkspaceId) -> Changes {
    Changes::of(call, [count_later(call, workspace)])
}

fn count_later(call: &CallContext, workspace: WorkspaceId) -> Change {
    count_as_of(call.now(), call, workspace)
}

/// The time of a change of the people, which the count makes the workspace's `updated_at` if it is the last.
fn count_as_of(changed_at: Timestamp, call: &CallContext, workspace: WorkspaceId) -> Change {
    Change::Put(keys::due_unique(changed_at, Due::People, call.org(), workspace.uuid()).into_item())
}

/// Removes one of a workspace's people, if no agreement has begun to refer to the contact since.
pub(crate) fn remove_person(call: &CallContext, person: &Person) -> Changes {
    let Person { workspace, contact, version } = *person;
    let left = Change::DeleteVersion(keys::person(call.org(), workspace, contact), version);
    let pointer = Change::Delete(keys::person_pointer(call.org(), contact, workspace));
    let changes = [count_later(call, workspace), left, pointer];
    Changes::of(call, changes).by_which(Moving { workspace, contact, step: Step::Leaves })
}

fn person_update(call: &CallContext, workspace: WorkspaceId, contact: ContactId) -> Update {
    Update {
        key: keys::person(call.org(), workspace, contact),
        expression: "ADD #version :one SET #at = if_not_exists(#at, :at)",
        condition: "",
        names: vec![("#version", VERSION), ("#at", JOINED_AT)],
        values: vec![(":one", AttributeValue::N("1".to_owned())), (":at", AttributeValue::S(call.now().to_string()))],
    }
}

fn count_update(org: OrgId, workspace: WorkspaceId, joined: usize, left: usize, at: Timestamp) -> Update {
    let more = i64::try_from(joined).unwrap_or_default() - i64::try_from(left).unwrap_or_default();
    Update {
        key: keys::workspace(org, workspace),
        expression: "ADD #count :more SET #at = :at",
        condition: "attribute_exists(#count)",
        names: vec![("#count", PEOPLE_COUNT), ("#at", PEOPLE_AT)],
        values: vec![(":more", AttributeValue::N(more.to_string())), (":at", AttributeValue::S(at.to_string()))],
    }
}

impl Store {
    /// Counts a workspace's people for lists, and points to it from those who joined since the first of the changes. A
    /// concurrent change makes the number wrong, but has a due entry of its own.
    pub async fn count_people(
        &self,
        org: OrgId,
        id: WorkspaceId,
        changed: RangeInclusive<Timestamp>,
    ) -> Result<(), StoreError> {
        let items = self.all(Query::of(keys::workspace_items(org, id))).await?;
        let Some(WithPeople { workspace, people }) = with_people(items)? else { return Ok(()) };
        let last = people.values().copied().max().unwrap_or(workspace.updated_at);
        let at = workspace.updated_at.max(*changed.end()).max(last).to_string();
        let count = AttributeValue::N(people.len().to_string());
        let counted = self.update(Update {
            key: keys::workspace(org, id),
            expression: "SET #count = :count, #at = :at",
            condition: "attribute_exists(#pk)",
            names: vec![("#count", PEOPLE_COUNT), ("#at", PEOPLE_AT), ("#pk", keys::PARTITION)],
            values: vec![(":count", count), (":at", AttributeValue::S(at))],
        });
        // One who came back in a call that had begun before the removal has joined before it, by that call's clock.
        let since = changed.start().unix_ms() - i64::try_from(limits::LOG_WINDOW.as_millis()).unwrap_or(i64::MAX);
        let lately = people
            .into_iter()
            .filter(|(_, joined_at)| joined_at.unix_ms() >= since)
            .map(|(contact, _)| contact)
            .collect();
        try_join!(counted, self.point_to_workspace(org, id, &lately)).map(drop)
    }

    async fn point_to_workspace(
        &self,
        org: OrgId,
        workspace: WorkspaceId,
        people: &BTreeSet<ContactId>,
    ) -> Result<(), StoreError> {
        let pointers = people.iter().map(|contact| keys::person_pointer(org, *contact, workspace).into_item());
        try_join_all(pointers.map(|pointer| self.put(pointer, PutIf::Any))).await.map(drop)
    }
}

struct WithPeople {
    workspace: Workspace,
    /// With when each joined.
    people: BTreeMap<ContactId, Timestamp>,
}

fn peopled(items: Vec<Item>) -> Result<Option<PeopledWorkspace>, StoreError> {
    let Some(WithPeople { mut workspace, people }) = with_people(items)? else { return Ok(None) };
    workspace.updated_at = people.values().copied().fold(workspace.updated_at, Timestamp::max);
    Ok(Some(PeopledWorkspace::new(workspace, people.into_keys().collect())))
}

fn with_people(items: Vec<Item>) -> Result<Option<WithPeople>, StoreError> {
    let mut items = items.into_iter();
    let is_record = |item: &Item| text(item, SORT) == Some(keys::ALONE);
    // It sorts before its people.
    let Some(record) = items.next().filter(is_record) else { return Ok(None) };
    let workspace = record::decode::<Workspace>(record)?.into_inner();
    let joined = |item: Item| {
        let person = text(&item, SORT).and_then(|sort| sort.strip_prefix(&keys::people())?.parse().ok());
        let joined_at = text(&item, JOINED_AT).and_then(|at| at.parse().ok());
        person.zip(joined_at).ok_or_else(unreadable_person)
    };
    Ok(Some(WithPeople { workspace, people: items.map(joined).collect::<Result<_, _>>()? }))
}

fn unreadable_person() -> StoreError {
    StoreError::Unreadable("decoding a person of a workspace".to_owned())
}

pub(super) fn version_of_person(item: &Item) -> Result<u64, StoreError> {
    number(item, VERSION).ok_or_else(unreadable_person)
}

/// Archives a workspace, or brings it back. The clock counts its people again, who join and leave beside its versions; as
/// of the last change that clients see, since this is none.
pub(crate) fn archive(
    call: &CallContext,
    before: &Versioned<Workspace>,
    after: &Workspace,
) -> Result<Changes, StoreError> {
    let mut changes = record::replace(call.org(), before, after)?;
    changes.push(count_as_of(after.updated_at, call, after.id()));
    Ok(Changes::of(call, changes))
}

/// Activates a workspace. Holds only while it is not activated.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::noon;

    #[test]
    fn a_number_below_zero_is_read_as_nobody_until_the_clock_counts_again() {
        let stored = |people_count| Stored {
            id: WorkspaceId::new(),
            name: WorkspaceName::parse("Harbor refit").unwrap(),
            number: WorkspaceNumber(1),
            activated_at: None,
            people_count,
            people_at: None,
            created_at: noon(),
            updated_at: noon(),
            archived_at: None,
        };
        for (count, shown) in [(-1, 0), (0, 0), (3, 3)] {
            assert_eq!(Workspace::from(stored(count)).people_count, shown, "{count}");
        }
    }
}
