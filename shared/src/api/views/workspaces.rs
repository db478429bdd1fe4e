//! The API's view of workspaces.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::domain::contact::{Contact, ContactKind, DisplayName};
use crate::domain::ids::{ContactId, WorkspaceId};
use crate::domain::time::Timestamp;
use crate::domain::workspace::{Workspace, WorkspaceName};
use crate::platform::config::BaseUrl;
use crate::service::workspaces::WorkspaceWithPeople;
use crate::wire::fields::FieldErrors;

/// A workspace's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct WorkspacePath {
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// A workspace. In lists `people` is `null`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Workspace, example = json!({
    "id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "name": "Harbor Street acquisition",
    "reference": "WS-000042",
    "activated": false,
    "activated_at": null,
    "people_count": 1,
    "people": [{"contact_id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35", "display_name": "Ada Okafor", "kind": "person"}],
    "app_url": "https://countersign.example/app/workspaces/01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "created_at": "2026-03-14T09:26:53.589Z",
    "updated_at": "2026-03-14T09:26:53.589Z",
}))]
pub struct WorkspaceView {
    /// The id of the workspace.
    pub id: WorkspaceId,
    /// What it is called. Searchable.
    pub name: WorkspaceName,
    /// The internal reference. Searchable.
    #[schema(example = "WS-000042")]
    pub reference: String,
    /// Whether a member has activated it.
    #[schema(example = false)]
    pub activated: bool,
    /// When a member activated it.
    #[schema(required = true)]
    pub activated_at: Option<Timestamp>,
    /// How many people take part.
    #[schema(example = 1)]
    pub people_count: usize,
    /// Who takes part, in the order in which the contacts were created. `null` in lists.
    #[schema(required = true)]
    pub people: Option<Vec<Person>>,
    /// Where it is in the app.
    #[schema(example = "https://countersign.example/app/workspaces/01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35")]
    pub app_url: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A contact who takes part in a workspace.
#[derive(Debug, Serialize, ToSchema)]
pub struct Person {
    /// The contact who is among the people.
    pub contact_id: ContactId,
    /// What the contact is called now.
    pub display_name: DisplayName,
    /// What the contact is.
    pub kind: ContactKind,
}

impl Output for WorkspaceView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/workspaces/{}", self.id))
    }
}

impl WorkspaceView {
    /// A workspace in a list.
    #[must_use]
    pub fn in_list(workspace: Workspace, base_url: &BaseUrl) -> Self {
        Self {
            people_count: workspace.people_count,
            people: None,
            reference: workspace.number.to_string(),
            activated: workspace.activated_at().is_some(),
            activated_at: workspace.activated_at(),
            app_url: base_url.link(format_args!("/app/workspaces/{}", workspace.id())),
            id: workspace.id(),
            name: workspace.name,
            created_at: workspace.created_at,
            updated_at: workspace.updated_at,
        }
    }

    /// A workspace with its people, from the use case's result.
    #[must_use]
    pub fn in_full(found: &WorkspaceWithPeople, base_url: &BaseUrl) -> Self {
        let person = |contact: &Contact| Person {
            contact_id: contact.id,
            display_name: contact.display_name.clone(),
            kind: contact.kind,
        };
        Self {
            people: Some(found.people.iter().map(person).collect()),
            ..Self::in_list(found.workspace.clone(), base_url)
        }
    }
}
