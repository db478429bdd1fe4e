//! The API's view of trusts.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::operation::Output;
use crate::domain::contact::{DisplayName, ExternalReference};
use crate::domain::ids::{ContactId, TrustId, WorkspaceId};
use crate::domain::time::Timestamp;
use crate::domain::trust::Trust;
use crate::service::trusts::TrustInFull;

/// A trust: a contact plus a funding record.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Trust, example = json!({
    "id": "01980a60-1b22-7c33-8d44-5e66f7788990",
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "contact_id": "01980a60-1b22-7c33-8d44-5e66f7788991",
    "formal_name": "The Ellery Family Trust, dated March 14, 2026",
    "settlor_contact_ids": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"],
    "trustee_contact_ids": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"],
    "external_reference": "trust-3",
    "item_count": 8,
    "created_at": "2026-03-14T09:26:53.589Z",
    "updated_at": "2026-03-14T09:26:53.589Z",
}))]
pub struct TrustView {
    /// The id of the trust.
    pub id: TrustId,
    /// The workspace that runs its funding.
    pub workspace_id: WorkspaceId,
    /// Its contact, of the kind `trust`.
    pub contact_id: ContactId,
    /// What it is called in documents. Searchable.
    pub formal_name: DisplayName,
    /// Who settled it.
    pub settlor_contact_ids: Vec<ContactId>,
    /// Who acts for it.
    pub trustee_contact_ids: Vec<ContactId>,
    /// Your own key for it, unique in your organization. Creating again with the same reference changes this trust.
    #[schema(required = true)]
    pub external_reference: Option<ExternalReference>,
    /// How many funding items it has.
    pub item_count: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl TrustView {
    /// A trust and the number of its items.
    #[must_use]
    pub fn new(trust: Trust, item_count: u32) -> Self {
        Self {
            id: trust.id,
            workspace_id: trust.workspace_id,
            contact_id: trust.contact_id,
            formal_name: trust.formal_name,
            settlor_contact_ids: trust.settlor_contact_ids,
            trustee_contact_ids: trust.trustee_contact_ids,
            external_reference: trust.external_reference,
            item_count,
            created_at: trust.created_at,
            updated_at: trust.updated_at,
        }
    }
}

impl From<TrustInFull> for TrustView {
    fn from(TrustInFull { trust, item_count }: TrustInFull) -> Self {
        Self::new(trust, item_count)
    }
}

impl Output for TrustView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid()]
    }

    /// A trust has no path of its own: its workspace's funding shows it.
    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/workspaces/{}/funding", self.workspace_id))
    }
}
