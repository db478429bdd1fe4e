//! Members' reviews of files that participants uploaded: items in the partition of their agreement.

use super::agreements;
use super::change::{Change, Changes};
use super::item::{from_item, to_item};
use super::keys;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::agreement::Agreement;
use crate::domain::call_context::CallContext;
use crate::domain::file_review::FileReview;
use crate::domain::ids::{AgreementId, GateId, ParticipantId};
use crate::domain::member::JudgedFile;
use crate::domain::participant::session::Part;

impl OrgStore {
    /// All of an agreement, oldest first.
    pub(crate) async fn file_reviews(&self, agreement: AgreementId) -> Result<Vec<FileReview>, StoreError> {
        self.file_reviews_beside(agreement, keys::file_reviews()).await
    }

    /// Those of a participant's files for a condition, oldest first.
    pub(crate) async fn file_reviews_of(
        &self,
        agreement: AgreementId,
        gate: GateId,
        participant: ParticipantId,
    ) -> Result<Vec<FileReview>, StoreError> {
        self.file_reviews_beside(agreement, keys::file_reviews_of(participant, gate)).await
    }

    async fn file_reviews_beside(&self, agreement: AgreementId, begin: String) -> Result<Vec<FileReview>, StoreError> {
        let items = self.beside(agreement, begin).await?;
        let mut reviews = items.into_iter().map(from_item).collect::<Result<Vec<FileReview>, _>>()?;
        reviews.sort_by_key(|review| (review.reviewed_at, review.receipt_id));
        Ok(reviews)
    }
}

/// Records a review. The agreement's version guards it.
pub(crate) fn record(
    call: &CallContext,
    before: &Versioned<Agreement>,
    judged: &JudgedFile,
) -> Result<[Changes; 2], StoreError> {
    let JudgedFile { review, agreement, .. } = judged;
    let participant_id = review.participant_id;
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id };
    let item = to_item(keys::file_review(part, review.gate_id, review.receipt_id), review)?;
    let added = Changes::by_member(call, agreement.by(), [Change::Create(item)]);
    Ok([agreements::record(call, before, agreement, participant_id)?, added])
}
