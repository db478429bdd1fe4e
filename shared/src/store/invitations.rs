//! Invitations: a record under the address, and a pointer under the secret's hash. `DynamoDB` deletes both at the end.

use serde::{Deserialize, Serialize};

use super::change::{Change, Changes};
use super::item::{Item, from_item, from_versioned_item, to_item, to_versioned_item};
use super::keys::{self, DROP_AT};
use super::query::Query;
use super::{OrgStore, Store, StoreError, Versioned};
use crate::crypto::SecretHash;
use crate::domain::call_context::CallContext;
use crate::domain::contact::Email;
use crate::domain::ids::OrgId;
use crate::domain::invitation::Invitation;
use crate::domain::member::Admin;
use aws_sdk_dynamodb::types::AttributeValue;

/// What the hash of a secret leads to. It outlives acceptance so that a repeated form is recognized.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InvitedAddress {
    pub organization_id: OrgId,
    pub email: Email,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredInvitation {
    #[serde(flatten)]
    pub invitation: Invitation,
    secret_hash: String,
}

impl StoredInvitation {
    pub(super) fn pointer(&self) -> keys::Key {
        keys::invitation_by_stored_hash(&self.secret_hash)
    }
}

impl Store {
    /// The organization and address behind the hash of a secret, even if the invitation is gone.
    pub(crate) async fn invited_address(&self, hash: SecretHash) -> Result<Option<InvitedAddress>, StoreError> {
        self.get(keys::invitation_by_hash(hash)).await?.map(from_item).transpose()
    }

    pub(crate) async fn invitation(
        &self,
        address: &InvitedAddress,
        hash: SecretHash,
    ) -> Result<Option<Versioned<StoredInvitation>>, StoreError> {
        let found = self.get(keys::invitation(address.organization_id, &address.email)).await?;
        let found: Option<Versioned<StoredInvitation>> = found.map(from_versioned_item).transpose()?;
        Ok(found.filter(|found| found.secret_hash == hash.to_string()))
    }
}

impl OrgStore {
    pub(crate) async fn invitations(&self) -> Result<Vec<Versioned<StoredInvitation>>, StoreError> {
        self.store.all(Query::of(keys::invitations(self.org))).await?.into_iter().map(from_versioned_item).collect()
    }
}

/// Adds an invitation, replacing the address's earlier one: that link stops working.
pub(crate) fn put(
    call: &CallContext,
    admin: Admin<'_>,
    invitation: &Invitation,
    hash: SecretHash,
    replaced: Option<&Versioned<StoredInvitation>>,
) -> Result<Changes, StoreError> {
    let [record, pointer] = items(invitation, hash, replaced.map_or(0, Versioned::version) + 1)?;
    let mut changes = vec![Change::Create(pointer)];
    match replaced {
        None => changes.push(Change::Create(record)),
        Some(before) => changes.extend([Change::Replace(record, before.version()), delete_pointer(before)]),
    }
    Ok(Changes::by_admin(call, admin, changes))
}

pub(crate) fn revoke(call: &CallContext, admin: Admin<'_>, before: &Versioned<StoredInvitation>) -> Changes {
    Changes::by_admin(call, admin, [delete(before), delete_pointer(before)])
}

pub(crate) fn accept(call: &CallContext, before: &Versioned<StoredInvitation>) -> Changes {
    Changes::of(call, [delete(before)])
}

pub(super) fn items(invitation: &Invitation, hash: SecretHash, version: u64) -> Result<[Item; 2], StoreError> {
    let (org, email) = (invitation.organization_id, &invitation.email);
    let stored = StoredInvitation { invitation: invitation.clone(), secret_hash: hash.to_string() };
    let address = InvitedAddress { organization_id: org, email: email.clone() };
    let mut items = [
        to_versioned_item(keys::invitation(org, email), &stored, version)?,
        to_item(keys::invitation_by_hash(hash), &address)?,
    ];
    for item in &mut items {
        item.insert(DROP_AT.to_owned(), AttributeValue::N(invitation.expires_at.unix_s().to_string()));
    }
    Ok(items)
}

fn delete(before: &Versioned<StoredInvitation>) -> Change {
    let Invitation { organization_id, email, .. } = &before.invitation;
    Change::DeleteVersion(keys::invitation(*organization_id, email), before.version())
}

fn delete_pointer(before: &Versioned<StoredInvitation>) -> Change {
    Change::Delete(keys::invitation_by_stored_hash(&before.secret_hash))
}
