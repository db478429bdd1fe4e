//! Answers to information requests: each participant's sealed draft, and the submissions, items beside their agreement.
//!
//! Decision: a draft has its own version, so saving it conflicts with no other act. It outlives sending, in case the
//! answers are returned, and is deleted on acceptance or half a year after it was last saved.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use super::agreements;
use super::change::{Change, Changes};
use super::item::{from_item, from_versioned_item, to_item, to_versioned_item};
use super::keys::{self, DROP_AT};
use super::participants::{self, part_of, stands};
use super::{OrgStore, StoreError, Versioned};
use crate::crypto::keyring::Sealed;
use crate::domain::agreement::Agreement;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, GateId, ParticipantId};
use crate::domain::information::{Submission, Verdict};
use crate::domain::member::Judged;
use crate::domain::participant::session::Part;
use crate::domain::participant::{ActingParticipant, Sent};
use crate::domain::time::Timestamp;
use crate::limits;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerDraft {
    pub sealed: Sealed,
    pub saved_at: Timestamp,
}

impl OrgStore {
    pub(crate) async fn answer_draft(
        &self,
        agreement: AgreementId,
        gate: GateId,
        participant: ParticipantId,
    ) -> Result<Option<Versioned<AnswerDraft>>, StoreError> {
        let key = keys::answer_draft(self.part(agreement, participant), gate);
        self.store.get(key).await?.map(from_versioned_item).transpose()
    }

    /// All answers that were sent in an agreement, the oldest first.
    pub(crate) async fn submissions(&self, agreement: AgreementId) -> Result<Vec<Submission>, StoreError> {
        let items = self.beside(agreement, keys::submissions()).await?;
        let mut found = items.into_iter().map(from_item).collect::<Result<Vec<Submission>, _>>()?;
        found.sort_by_key(|submission| (submission.sent_at, submission.id));
        Ok(found)
    }

    /// What a participant sent to an information request, oldest first.
    pub(crate) async fn submissions_of(
        &self,
        agreement: AgreementId,
        gate: GateId,
        participant: ParticipantId,
    ) -> Result<Vec<Submission>, StoreError> {
        let items = self.beside(agreement, keys::submissions_of(gate, participant)).await?;
        items.into_iter().map(from_item).collect()
    }
}

/// Takes a draft from one version to the next. Version 0 means that no draft exists yet.
fn put_draft(by: &ActingParticipant, gate: GateId, draft: &AnswerDraft, before: u64) -> Result<Change, StoreError> {
    let mut item = to_versioned_item(keys::answer_draft(part_of(by), gate), draft, before + 1)?;
    let drop_at = draft.saved_at.plus_seconds(limits::ANSWER_DRAFT_LIFETIME_S).unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N(drop_at.to_string()));
    Ok(if before == 0 { Change::Create(item) } else { Change::Replace(item, before) })
}

/// Saves a draft. The participant's link and consent must still be those of the call.
pub(crate) fn save_draft(
    call: &CallContext,
    by: &ActingParticipant,
    gate: GateId,
    draft: &AnswerDraft,
    before: u64,
) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, [put_draft(by, gate, draft, before)?, stands(by)]))
}

pub(crate) fn send(
    call: &CallContext,
    before: &Versioned<Agreement>,
    sent: &Sent,
    draft: &AnswerDraft,
    draft_before: u64,
) -> Result<Vec<Changes>, StoreError> {
    let Sent { acted, submission } = sent;
    let by = acted.agreement.by();
    let key = keys::submission(part_of(by), submission.gate_id, submission.revision);
    let added = Change::Create(to_item(key, submission)?);
    let draft = put_draft(by, submission.gate_id, draft, draft_before)?;
    let mut changes = Vec::from(participants::record(call, before, acted)?);
    changes.push(Changes::by_participant(call, &acted.agreement, [added, draft]));
    Ok(changes)
}

/// Accepts or returns answers. The agreement's version guards the submission.
pub(crate) fn judge(
    call: &CallContext,
    before: &Versioned<Agreement>,
    judged: &Judged,
) -> Result<[Changes; 2], StoreError> {
    let Judged { submission, agreement, .. } = judged;
    let (gate, participant_id) = (submission.gate_id, submission.participant_id);
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id };
    let decided = Change::Put(to_item(keys::submission(part, gate, submission.revision), submission)?);
    let done = matches!(submission.verdict, Verdict::Accepted { .. });
    let draft = done.then(|| Change::Delete(keys::answer_draft(part, gate)));
    let changes = Changes::by_member(call, agreement.by(), [decided].into_iter().chain(draft));
    Ok([agreements::record(call, before, agreement, participant_id)?, changes])
}
