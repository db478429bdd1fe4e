//! Recorded paper signatures, in their agreement's partition. The agreement's version guards each.

use super::agreements;
use super::change::{Change, Changes};
use super::item::{from_item, to_item};
use super::keys;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::agreement::Agreement;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, ParticipantId};
use crate::domain::member::PaperChange;
use crate::domain::paper_signature::PaperSignature;
use crate::domain::participant::session::Part;

impl OrgStore {
    pub(crate) async fn paper_signatures(&self, agreement: AgreementId) -> Result<Vec<PaperSignature>, StoreError> {
        self.beside(agreement, keys::paper_signatures()).await?.into_iter().map(from_item).collect()
    }

    /// Oldest first.
    pub(crate) async fn paper_signatures_of(
        &self,
        agreement: AgreementId,
        participant: ParticipantId,
    ) -> Result<Vec<PaperSignature>, StoreError> {
        let items = self.beside(agreement, keys::paper_signatures_of(participant)).await?;
        let mut papers = items.into_iter().map(from_item).collect::<Result<Vec<PaperSignature>, _>>()?;
        // Their ids come from forms, which may have been open for a while.
        papers.sort_by_key(|paper| (paper.recorded_at, paper.id));
        Ok(papers)
    }
}

pub(crate) fn record(
    call: &CallContext,
    before: &Versioned<Agreement>,
    change: &PaperChange,
) -> Result<[Changes; 2], StoreError> {
    changes(call, before, change, Change::Create)
}

/// Confirms or rejects a paper signature. An earlier decision would have changed the agreement.
pub(crate) fn decide(
    call: &CallContext,
    before: &Versioned<Agreement>,
    change: &PaperChange,
) -> Result<[Changes; 2], StoreError> {
    changes(call, before, change, Change::Put)
}

fn changes(
    call: &CallContext,
    before: &Versioned<Agreement>,
    PaperChange { paper, agreement, .. }: &PaperChange,
    write: fn(super::Item) -> Change,
) -> Result<[Changes; 2], StoreError> {
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id: paper.participant_id };
    let item = to_item(keys::paper_signature(part, paper.id), paper)?;
    let written = Changes::by_member(call, agreement.by(), [write(item)]);
    Ok([agreements::record(call, before, agreement, paper.participant_id)?, written])
}
