//! The paper signatures that wait for a second member.
//!
//! Decision: the agreement names them too, so acts on them meet the participant's on-screen acts in its version.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Agreement, Lifecycle};
use crate::domain::ids::{MemberId, PaperSignatureId, SignatureBlockId};
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
