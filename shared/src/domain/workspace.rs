//! Workspaces: one deal or matter each, with its agreements and people.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ids::{ContactId, WorkspaceId};
use super::time::Timestamp;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::texts;
use crate::wire::page::Shelf;
use crate::wire::text::Folded;

texts! {
    /// The name of a workspace.
    WorkspaceName: max limits::NAME_CHARS_MAX, example "Harbor Street acquisition";
}

/// The reference of a workspace, such as `WS-000042`. Counts per organization; numbers may skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkspaceNumber(pub u64);

impl fmt::Display for WorkspaceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WS-{:06}", self.0)
    }
}

/// A workspace as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Operations can't set it, so that one workspace can't be written in place of another.
    pub(crate) id: WorkspaceId,
    /// Its name.
    pub name: WorkspaceName,
    /// Its number within the organization.
    pub number: WorkspaceNumber,
    /// When a member activated it; never undone. Operations can't set it; the store reads and writes it.
    pub(crate) activated_at: Option<Timestamp>,
    /// The number of its people at the last count.
    pub people_count: usize,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When a member archived it. Only the app's lists hide it.
    pub archived_at: Option<Timestamp>,
}

/// A workspace with its current people: contacts, referenced and never copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeopledWorkspace {
    workspace: Workspace,
    people: BTreeSet<ContactId>,
}

/// A workspace to be created.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({"name": "Harbor Street acquisition"}))]
pub struct NewWorkspace {
    /// What it is called.
    pub name: WorkspaceName,
}

/// The contact that joins a workspace.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({"contact_id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"}))]
pub struct NewPerson {
    /// A contact of your organization.
    pub contact_id: ContactId,
}

impl Workspace {
    /// A new, empty workspace.
    #[must_use]
    pub fn create(new: NewWorkspace, number: WorkspaceNumber, now: Timestamp) -> Self {
        Self {
            id: WorkspaceId::new(),
            name: new.name,
            number,
            activated_at: None,
            people_count: 0,
            created_at: now,
            updated_at: now,
            archived_at: None,
        }
    }

    /// Where the app lists it.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        if self.archived_at.is_some() { Shelf::Archived } else { Shelf::Current }
    }

    /// Archived or brought back, which only the app's lists show.
    #[must_use]
    pub fn archived(&self, is_archived: bool, now: Timestamp) -> Self {
        Self { archived_at: is_archived.then(|| self.archived_at.unwrap_or(now)), ..self.clone() }
    }

    #[must_use]
    pub(in crate::domain) fn activated(&self, now: Timestamp) -> Option<Self> {
        let updated_at = now.max(self.updated_at);
        let activated = Self { activated_at: Some(now), updated_at, ..self.clone() };
        self.activated_at.is_none().then_some(activated)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> WorkspaceId {
        self.id
    }

    /// When a member activated it.
    #[must_use]
    pub fn activated_at(&self) -> Option<Timestamp> {
        self.activated_at
    }

    /// The text that `search` matches: name and reference (specification, "Query parameters").
    #[must_use]
    pub fn search_text(&self) -> Folded {
        Folded::join([self.name.as_str(), &self.number.to_string()])
    }
}

impl PeopledWorkspace {
    /// A workspace with these people.
    #[must_use]
    pub fn new(workspace: Workspace, people: BTreeSet<ContactId>) -> Self {
        Self { workspace: Workspace { people_count: people.len(), ..workspace }, people }
    }

    /// Its people.
    #[must_use]
    pub fn people(&self) -> &BTreeSet<ContactId> {
        &self.people
    }

    /// The workspace alone.
    #[must_use]
    pub fn into_workspace(self) -> Workspace {
        self.workspace
    }

    /// The workspace with one more person; unchanged if the person is already in it.
    pub fn add_person(&self, contact: ContactId, now: Timestamp) -> Result<Self, FieldErrors> {
        if self.people.contains(&contact) {
            return Ok(self.clone());
        }
        if self.people.len() >= limits::WORKSPACE_PEOPLE_MAX {
            return Err(FieldErrors::one(
                "contact_id",
                FieldCode::LimitReached,
                format!("a workspace has at most {} people", limits::WORKSPACE_PEOPLE_MAX),
            ));
        }
        let people = self.people.iter().copied().chain([contact]).collect();
        // Concurrent calls may be decided in a different order than they began.
        let updated_at = now.max(self.updated_at);
        Ok(Self::new(Workspace { updated_at, ..self.workspace.clone() }, people))
    }
}

impl Deref for PeopledWorkspace {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_a_set_with_a_limit() {
        let now = Timestamp::now();
        let new = NewWorkspace { name: WorkspaceName::parse("A").unwrap() };
        let empty = Workspace::create(new, WorkspaceNumber(42), now);
        let mut workspace = PeopledWorkspace::new(empty.clone(), BTreeSet::new());
        let first = ContactId::new();
        workspace = workspace.add_person(first, now).unwrap();
        assert_eq!(workspace.add_person(first, now).unwrap(), workspace);
        for _ in 1..limits::WORKSPACE_PEOPLE_MAX {
            workspace = workspace.add_person(ContactId::new(), now).unwrap();
        }
        assert!(workspace.add_person(first, now).is_ok());
        let refused = workspace.add_person(ContactId::new(), now).unwrap_err().into_list();
        assert_eq!(refused[0].code, FieldCode::LimitReached);
        assert_eq!(workspace.people_count, limits::WORKSPACE_PEOPLE_MAX);
        let without = workspace.people().iter().copied().filter(|id| *id != first).collect();
        let without = PeopledWorkspace::new(empty, without);
        assert!(without.add_person(ContactId::new(), now).is_ok(), "there is room again");
    }

    #[test]
    fn the_reference_has_six_digits_or_more() {
        assert_eq!(WorkspaceNumber(42).to_string(), "WS-000042");
        assert_eq!(WorkspaceNumber(1_234_567).to_string(), "WS-1234567");
    }
}
