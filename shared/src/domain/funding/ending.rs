//! How an agreement affects the items it papers: publication sets them in progress; cancellation or expiry frees them.

use std::ops::Deref;

use super::item::{FundingItem, Status};
use super::proof::ProofState;
use crate::domain::agreement::Agreement;
use crate::domain::event::{EventKind, FundingItemReopenedData};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;

/// An item whose agreement was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedItem {
    item: FundingItem,
    moment: Moment,
}

/// An item reopened by its agreement's cancellation or expiry: the only reopening without a member.
///
/// ```compile_fail
/// use shared::domain::funding::{FundingItem, ReopenedItem};
/// use shared::domain::moment::Moment;
///
/// fn reopen(item: FundingItem, moment: Moment) -> ReopenedItem {
///     ReopenedItem { item, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReopenedItem {
    item: FundingItem,
    moment: Moment,
}

impl Deref for StartedItem {
    type Target = FundingItem;

    fn deref(&self) -> &FundingItem {
        &self.item
    }
}

impl Deref for ReopenedItem {
    type Target = FundingItem;

    fn deref(&self) -> &FundingItem {
        &self.item
    }
}

impl StartedItem {
    /// The call that sets it in progress, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl ReopenedItem {
    /// The call that reopens it, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The event to emit.
    #[must_use]
    pub fn event(&self) -> EventKind {
        self.item.reopened_event()
    }

    #[cfg(test)]
    pub(in crate::domain) fn into_item(self) -> FundingItem {
        self.item
    }
}

impl FundingItem {
    /// The item after its agreement's publication. None if nothing changes or the agreement no longer papers it.
    #[must_use]
    pub fn started_with(&self, agreement: &Agreement, moment: Moment) -> Option<StartedItem> {
        let Status::Papered { papering } = &self.status else { return None };
        let is_its_own = papering.agreement_id == agreement.id();
        if !is_its_own || !agreement.was_published() || agreement.has_ended_early() {
            return None;
        }
        let next = Self { status: Status::InProgress { papering: *papering }, ..self.clone() };
        Some(StartedItem { item: self.touched(next, moment.at()), moment })
    }

    /// The item, reopened by its agreement's cancellation or expiry, unless it is closed or no longer papered by it.
    #[must_use]
    pub fn reopened_with(&self, agreement: &Agreement, moment: Moment) -> Option<ReopenedItem> {
        let is_its_own = self.agreement_id() == Some(agreement.id());
        if !is_its_own || self.is_closed() || !agreement.has_ended_early() {
            return None;
        }
        Some(ReopenedItem { item: self.opened_again(moment.at()), moment })
    }

    pub(in crate::domain) fn opened_again(&self, now: Timestamp) -> Self {
        let mut next = Self { status: Status::Open, ..self.clone() };
        next.set_proof_aside(now);
        self.touched(next, now)
    }

    pub(super) fn set_proof_aside(&mut self, now: Timestamp) {
        for proof in &mut self.proofs {
            if matches!(proof.state, ProofState::Undecided | ProofState::Accepted { .. }) {
                proof.state = ProofState::SetAside { at: now };
            }
        }
    }

    pub(in crate::domain) fn reopened_event(&self) -> EventKind {
        let data = FundingItemReopenedData { funding_item_id: self.id, workspace_id: self.workspace_id };
        EventKind::FundingItemReopened(data)
    }
}
