//! Recorded verifications of participants' identities: items in the partition of their agreement.

use super::agreements;
use super::change::{Change, Changes};
use super::item::{from_item, to_item};
use super::keys;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::verification::Verification;
use crate::domain::call_context::CallContext;
use crate::domain::ids::AgreementId;
use crate::domain::member::Verified;

impl OrgStore {
    /// Oldest first.
    pub(crate) async fn verifications(&self, agreement: AgreementId) -> Result<Vec<Verification>, StoreError> {
        self.beside(agreement, keys::verifications()).await?.into_iter().map(from_item).collect()
    }
}

pub(crate) fn record(
    call: &CallContext,
    before: &Versioned<Agreement>,
    verified: &Verified,
) -> Result<[Changes; 2], StoreError> {
    let Verified { verification, agreement, .. } = verified;
    let item = to_item(keys::verification(call.org(), agreement.id(), verification.id), verification)?;
    let added = Changes::by_member(call, agreement.by(), [Change::Create(item)]);
    Ok([agreements::record(call, before, agreement, verification.participant_id)?, added])
}
