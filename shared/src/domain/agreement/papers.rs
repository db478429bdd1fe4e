//! The signatures on paper that wait for a second member.
//!
//! Decision: the agreement itself names them, beside the record of each. So what is recorded, confirmed and rejected meets
//! what the participant does on screen in the agreement's version, and Home finds them in the rows that it reads anyway.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Agreement, Lifecycle};
use crate::domain::ids::{MemberId, PaperSignatureId, SignatureBlockId};
use crate::domain::time::Timestamp;

/// A signature on paper that counts once a second member confirms it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPaper {
    /// The blocks that it signs, all of one participant in one document.
    pub block_ids: BTreeSet<SignatureBlockId>,
    /// The member who recorded it, and can't be the one who confirms it.
    pub recorded_by: MemberId,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

impl Agreement {
    /// The signatures on paper that wait for a second member. One whose blocks were signed on screen meanwhile waits no
    /// longer.
    pub fn papers_to_confirm(&self) -> impl Iterator<Item = (PaperSignatureId, &PendingPaper)> {
        let is_active = self.lifecycle() == Lifecycle::Active;
        let waiting = self.pending_papers.iter().filter(move |_| is_active);
        waiting.filter(|(_, paper)| paper.block_ids.is_disjoint(&self.facts.signed)).map(|(id, paper)| (*id, paper))
    }

    /// The agreement in which one more signature on paper waits, whose scan has so many bytes. Those that wait no longer are
    /// left out.
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

    /// The agreement in which a signature on paper no longer waits.
    #[must_use]
    pub(in crate::domain) fn without_pending_paper(mut self, id: PaperSignatureId, now: Timestamp) -> Self {
        self.pending_papers.remove(&id);
        self.updated_at = now.max(self.updated_at);
        self
    }
}
