//! The API's view of contacts.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::domain::contact::{Contact, ContactKind, DisplayName, Email, ExternalReference, ListedContact};
use crate::domain::ids::ContactId;
use crate::domain::time::Timestamp;
use crate::wire::fields::FieldErrors;

/// A contact's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct ContactPath {
    /// The contact.
    pub contact_id: ContactId,
}

/// A person or entity.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Contact, example = json!({
    "id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35",
    "display_name": "Ada Okafor",
    "kind": "person",
    "email": "ada@okafor.example",
    "external_reference": "crm-4711",
    "created_at": "2026-03-14T09:26:53.589Z",
    "updated_at": "2026-03-14T09:26:53.589Z",
    "merged_into": null,
}))]
pub struct ContactView {
    /// The id of the contact.
    pub id: ContactId,
    /// What it is called. Searchable.
    pub display_name: DisplayName,
    /// Whether it is a person, and if not, what kind of entity.
    pub kind: ContactKind,
    /// Its email address. Searchable.
    #[schema(required = true)]
    pub email: Option<Email>,
    /// Your own key for it, unique in your organization. Creating again with the same reference returns this contact.
    #[schema(required = true)]
    pub external_reference: Option<ExternalReference>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The contact that a member merged this one into, because both are the same person or entity. Agreements and
    /// signatures still name the one that they named. `null` unless it is merged.
    #[schema(required = true)]
    pub merged_into: Option<ContactId>,
}

impl From<ListedContact> for ContactView {
    fn from(contact: ListedContact) -> Self {
        let ListedContact { id, display_name, kind, email, external_reference, created_at, updated_at, .. } = contact;
        let merged_into = contact.merged_into;
        Self { id, display_name, kind, email, external_reference, created_at, updated_at, merged_into }
    }
}

impl From<Contact> for ContactView {
    fn from(contact: Contact) -> Self {
        ListedContact::from(contact).into()
    }
}

impl Output for ContactView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/contacts/{}", self.id))
    }
}
