//! The numbers of a funding schedule.

use serde::Serialize;
use utoipa::ToSchema;

use super::item::FundingItem;
use super::{FundingStatus, Phase};

/// How many items of a workspace are where. `done` counts confirmed transfers and items that a member closed, and nothing
/// else: a claim never moves it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FundingSummary {
    /// How many items there are in all.
    #[schema(example = 8)]
    pub total: u32,
    /// Nobody has said what is to be done with them.
    #[schema(example = 1)]
    pub unsorted: u32,
    /// Facts are missing.
    #[schema(example = 1)]
    pub gathering: u32,
    /// Nothing is missing: they can be papered, or closed if they are left out.
    #[schema(example = 1)]
    pub ready: u32,
    /// Their agreement is a draft.
    #[schema(example = 1)]
    pub papered: u32,
    /// Their agreement is published.
    #[schema(example = 1)]
    pub in_progress: u32,
    /// The owner says that they are done, which is no proof.
    #[schema(example = 1)]
    pub claimed: u32,
    /// Those of the above that are on hold.
    #[schema(example = 2)]
    pub parked: u32,
    /// Proof from the receiving side was accepted.
    #[schema(example = 1)]
    pub funded: u32,
    /// A member closed them without a transfer.
    #[schema(example = 1)]
    pub unfunded: u32,
    /// `funded` and `unfunded` together.
    #[schema(example = 2)]
    pub done: u32,
}

impl FundingSummary {
    /// Counts items.
    #[must_use]
    pub fn of<'a>(items: impl IntoIterator<Item = &'a FundingItem>) -> Self {
        let mut summary = Self::default();
        for item in items {
            summary.add(item);
        }
        summary
    }

    fn add(&mut self, item: &FundingItem) {
        self.total += 1;
        self.parked += u32::from(item.hold().is_some());
        match item.phase() {
            Phase::Unsorted => self.unsorted += 1,
            Phase::Gathering => self.gathering += 1,
            Phase::Ready => self.ready += 1,
            Phase::Papered => self.papered += 1,
            Phase::InProgress => self.in_progress += 1,
            Phase::Claimed => self.claimed += 1,
            Phase::Done => {}
        }
        match item.funding_status() {
            FundingStatus::Open => {}
            FundingStatus::Funded => self.funded += 1,
            FundingStatus::Unfunded => self.unfunded += 1,
        }
        self.done = self.funded + self.unfunded;
    }
}
