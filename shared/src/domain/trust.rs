//! Trusts: a contact plus a funding record. A workspace can run the funding of one or more trusts.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::actor::Actor;
use super::contact::{Contact, ContactKind, DisplayName, ExternalReference};
use super::event::{EventKind, TrustData};
use super::funding::input::ContactIds;
use super::funding::sensitive;
use super::ids::{ContactId, TrustId, WorkspaceId};
use super::time::Timestamp;
use crate::wire::fields::FieldErrors;
use crate::wire::input::{NullablePatch, OrDefault, Patch};
use crate::wire::text::Folded;

/// A trust as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// Its id.
    pub id: TrustId,
    /// The workspace that runs its funding.
    pub workspace_id: WorkspaceId,
    /// Its contact, of the kind `trust`.
    pub contact_id: ContactId,
    /// What it is called in documents.
    pub formal_name: DisplayName,
    /// Who settled it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settlor_contact_ids: Vec<ContactId>,
    /// Who acts for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trustee_contact_ids: Vec<ContactId>,
    /// The caller's own key for it, unique in the organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_reference: Option<ExternalReference>,
    /// Who created it.
    pub created_by: Actor,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A trust to be created, or changed if one has its reference already.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "formal_name": "The Ellery Family Trust, dated March 14, 2026",
    "settlor_contact_ids": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"],
    "trustee_contact_ids": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"],
    "external_reference": "trust-3",
}))]
pub struct NewTrust {
    /// A workspace of your organization.
    pub workspace_id: WorkspaceId,
    /// What it is called in documents. Its contact gets the name too.
    pub formal_name: DisplayName,
    /// Who settled it.
    #[deserr(default)]
    #[schema(value_type = ContactIds, required = false)]
    pub settlor_contact_ids: OrDefault<Option<ContactIds>>,
    /// Who acts for it.
    #[deserr(default)]
    #[schema(value_type = ContactIds, required = false)]
    pub trustee_contact_ids: OrDefault<Option<ContactIds>>,
    /// Your own key for it. If a trust has it already, that one gets the values that were sent, with status 200.
    #[deserr(default)]
    #[schema(nullable)]
    pub external_reference: Option<ExternalReference>,
}

impl NewTrust {
    /// The given settlors.
    #[must_use]
    pub fn settlors(&self) -> &[ContactId] {
        given(&self.settlor_contact_ids)
    }

    /// The given trustees.
    #[must_use]
    pub fn trustees(&self) -> &[ContactId] {
        given(&self.trustee_contact_ids)
    }

    /// The changes to an existing trust. Omitted contacts stay, and so does the reference, which identified the trust.
    #[must_use]
    pub fn into_changes(self) -> TrustChanges {
        let patch = |OrDefault(given): OrDefault<Option<ContactIds>>| given.map_or(Patch::Keep, Patch::Set);
        TrustChanges {
            formal_name: Patch::Set(self.formal_name),
            settlor_contact_ids: patch(self.settlor_contact_ids),
            trustee_contact_ids: patch(self.trustee_contact_ids),
            external_reference: NullablePatch::Keep,
        }
    }
}

fn given(contacts: &OrDefault<Option<ContactIds>>) -> &[ContactId] {
    contacts.0.as_ref().map(ContactIds::as_slice).unwrap_or_default()
}

/// Changes to a trust. Omitted fields stay, and so do its workspace and items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct TrustChanges {
    /// What it is called in documents. Its contact gets the name too.
    #[deserr(default)]
    pub formal_name: Patch<DisplayName>,
    /// The new settlors.
    #[deserr(default)]
    pub settlor_contact_ids: Patch<ContactIds>,
    /// The new trustees.
    #[deserr(default)]
    pub trustee_contact_ids: Patch<ContactIds>,
    /// The caller's own key for it; `null` removes it.
    #[deserr(default)]
    pub external_reference: NullablePatch<ExternalReference>,
}

impl TrustChanges {
    /// The contacts to set, by field name.
    #[must_use]
    pub fn contacts(&self) -> [(&'static str, &[ContactId]); 2] {
        [
            ("settlor_contact_ids", set_contacts(&self.settlor_contact_ids)),
            ("trustee_contact_ids", set_contacts(&self.trustee_contact_ids)),
        ]
    }
}

fn set_contacts(patch: &Patch<ContactIds>) -> &[ContactId] {
    if let Patch::Set(ids) = patch { ids.as_slice() } else { &[] }
}

/// Checks that a name contains no sensitive number.
pub fn check_name(name: &DisplayName) -> Result<(), FieldErrors> {
    let checked = sensitive::check(name.as_str());
    checked.map_err(|(code, message)| FieldErrors::one("formal_name", code, message))
}

impl Trust {
    /// A new trust and its contact.
    #[must_use]
    pub fn create(id: TrustId, new: NewTrust, created_by: Actor, now: Timestamp) -> (Self, Contact) {
        let contact = Contact {
            id: ContactId::new(),
            display_name: new.formal_name.clone(),
            kind: ContactKind::Trust,
            email: None,
            external_reference: None,
            created_at: now,
            updated_at: now,
            identity_version: 0,
            former: Vec::new(),
            merged_into: None,
            merged: Vec::new(),
            archived_at: None,
        };
        let trust = Self {
            id,
            workspace_id: new.workspace_id,
            contact_id: contact.id,
            settlor_contact_ids: new.settlors().to_vec(),
            trustee_contact_ids: new.trustees().to_vec(),
            formal_name: new.formal_name,
            external_reference: new.external_reference,
            created_by,
            created_at: now,
            updated_at: now,
        };
        (trust, contact)
    }

    /// Applies changes. Equal to this trust, including its time, if nothing but the order of contacts changes.
    #[must_use]
    pub fn change(&self, changes: TrustChanges, now: Timestamp) -> Self {
        let TrustChanges { formal_name, settlor_contact_ids, trustee_contact_ids, external_reference } = changes;
        let mut next = self.clone();
        next.formal_name = formal_name.apply(next.formal_name);
        next.external_reference = external_reference.apply(next.external_reference);
        replace_others(&mut next.settlor_contact_ids, settlor_contact_ids);
        replace_others(&mut next.trustee_contact_ids, trustee_contact_ids);
        if next != *self {
            next.updated_at = now.max(self.updated_at);
        }
        next
    }

    /// The event of its creation.
    #[must_use]
    pub fn created_event(&self) -> EventKind {
        EventKind::TrustCreated(self.event_data())
    }

    /// The event of its change.
    #[must_use]
    pub fn updated_event(&self) -> EventKind {
        EventKind::TrustUpdated(self.event_data())
    }

    fn event_data(&self) -> TrustData {
        TrustData { trust_id: self.id, workspace_id: self.workspace_id }
    }

    /// The text that `search` matches: the formal name.
    #[must_use]
    pub fn search_text(&self) -> Folded {
        Folded::new(self.formal_name.as_str())
    }
}

fn replace_others(known: &mut Vec<ContactId>, given: Patch<ContactIds>) {
    let Patch::Set(given) = given else { return };
    let is_same = given.as_slice().len() == known.len() && given.as_slice().iter().all(|id| known.contains(id));
    if !is_same {
        *known = given.into_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::input::read;
    use serde_json::json;

    fn new(settlors: &[ContactId]) -> NewTrust {
        let workspace_id = WorkspaceId::from(uuid::Uuid::nil());
        let body =
            json!({"workspace_id": workspace_id, "formal_name": "The Ellery Trust", "settlor_contact_ids": settlors});
        read(body).unwrap()
    }

    #[test]
    fn a_repeat_changes_what_differs_and_nothing_else() {
        let (ada, ben) = (ContactId::new(), ContactId::new());
        let (first, later) = (Timestamp::from_unix_ms(1).unwrap(), Timestamp::from_unix_ms(2).unwrap());
        let (trust, contact) = Trust::create(TrustId::new(), new(&[ada, ben]), Actor::system(), first);
        assert_eq!((contact.kind, &contact.display_name), (ContactKind::Trust, &trust.formal_name));
        assert_eq!(trust.contact_id, contact.id);
        assert_eq!(trust.change(new(&[ben, ada, ben]).into_changes(), later), trust, "another order");
        let left_out = json!({"workspace_id": trust.workspace_id, "formal_name": "The Ellery Trust"});
        let left_out = read::<NewTrust>(left_out).unwrap().into_changes();
        assert_eq!(trust.change(left_out, later), trust, "what is left out stays");
        assert_eq!(trust.change(TrustChanges::default(), later), trust);
        let after = trust.change(new(&[ben]).into_changes(), later);
        assert_eq!((after.settlor_contact_ids.as_slice(), after.updated_at), (&[ben][..], later));
        let none = trust.change(new(&[]).into_changes(), later);
        assert!(none.settlor_contact_ids.is_empty());
    }

    #[test]
    fn a_name_has_no_account_number() {
        let name = |text: &str| DisplayName::parse(text).unwrap();
        assert!(check_name(&name("The Ellery Trust")).is_ok());
        assert!(check_name(&name("Trust of account 000123456789")).is_err());
    }
}
