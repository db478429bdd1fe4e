//! The paper signatures that wait for a second member.
//!
//! Decision: the agreement names them too, so acts on them meet the participant's on-screen acts in its version.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::gate::Gate;
use super::{Agreement, Document, Lifecycle};
use crate::domain::ids::{MemberId, PaperSignatureId, ParticipantId, SignatureBlockId};
use crate::domain::time::Timestamp;

/// A paper signature that counts once a second member confirms it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPaper {
    /// The blocks it signs: one participant's, in one document.
    pub block_ids: BTreeSet<SignatureBlockId>,
    /// The member who recorded it, who can't confirm it.
    pub recorded_by: MemberId,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

impl Agreement {
    /// The paper signatures that wait for a second member. Signing any of the blocks on screen ends the wait.
    pub fn papers_to_confirm(&self) -> impl Iterator<Item = (PaperSignatureId, &PendingPaper)> {
        let is_active = self.lifecycle() == Lifecycle::Active;
        let waiting = self.pending_papers.iter().filter(move |_| is_active);
        waiting.filter(|(_, paper)| paper.block_ids.is_disjoint(&self.facts.signed)).map(|(id, paper)| (*id, paper))
    }

    /// Whether a participant signed on paper all that they may sign in a document now, until a second member confirms it.
    #[must_use]
    pub fn is_on_paper(&self, document: &Document, participant: ParticipantId) -> bool {
        let to_sign = self.blocks_to_sign(document, participant);
        let on_paper = |block| self.papers_to_confirm().any(|(_, paper)| paper.block_ids.contains(block));
        !to_sign.is_empty() && to_sign.iter().all(on_paper)
    }

    /// The participants of a gate who signed on paper all that it still waits for, until a second member confirms it.
    #[must_use]
    pub fn on_paper(&self, gate: &Gate) -> BTreeSet<ParticipantId> {
        let blocks: BTreeSet<SignatureBlockId> =
            self.papers_to_confirm().flat_map(|(_, paper)| paper.block_ids.iter().copied()).collect();
        if blocks.is_empty() {
            return BTreeSet::new();
        }
        let mut confirmed = self.clone();
        confirmed.facts.signed.extend(blocks);
        self.unmet_by(gate).difference(&confirmed.unmet_by(gate)).copied().collect()
    }

    /// Whether confirming a paper signature completes the agreement.
    #[must_use]
    pub fn is_completed_with_paper(&self, id: PaperSignatureId) -> bool {
        let Some((_, paper)) = self.papers_to_confirm().find(|(waiting, _)| *waiting == id) else { return false };
        let mut confirmed = self.clone();
        confirmed.facts.signed.extend(paper.block_ids.iter().copied());
        self.is_completed_with(|gate| !self.unmet_by(gate).is_empty() && confirmed.unmet_by(gate).is_empty())
    }

    /// When the oldest of what they signed on paper was recorded.
    #[must_use]
    pub fn on_paper_since(&self, gate: &Gate) -> Option<Timestamp> {
        let on_paper = self.on_paper(gate);
        let blocks = self.documents.iter().flat_map(|document| &document.blocks);
        let theirs: BTreeSet<SignatureBlockId> =
            blocks.filter(|block| on_paper.contains(&block.participant_id)).map(|block| block.id).collect();
        let papers = self.papers_to_confirm().filter(|(_, paper)| !paper.block_ids.is_disjoint(&theirs));
        papers.map(|(_, paper)| paper.recorded_at).min()
    }

    /// The participants who still have to act for a gate.
    #[must_use]
    pub fn awaited_by(&self, gate: &Gate) -> BTreeSet<ParticipantId> {
        self.unmet_by(gate).difference(&self.on_paper(gate)).copied().collect()
    }

    /// The agreement with one more waiting paper signature; those that no longer wait are dropped.
    #[must_use]
    pub(in crate::domain) fn with_pending_paper(
        &self,
        id: PaperSignatureId,
        paper: PendingPaper,
        scan_bytes: u64,
        now: Timestamp,
    ) -> Self {
        let waiting = self.papers_to_confirm().map(|(id, paper)| (id, paper.clone()));
        let pending_papers = waiting.chain([(id, paper)]).collect();
        let mut after = Self { pending_papers, updated_at: now.max(self.updated_at), ..self.clone() };
        after.facts.file_bytes += scan_bytes;
        after
    }

    #[must_use]
    pub(in crate::domain) fn without_pending_paper(mut self, id: PaperSignatureId, now: Timestamp) -> Self {
        self.pending_papers.remove(&id);
        self.updated_at = now.max(self.updated_at);
        self
    }
}
