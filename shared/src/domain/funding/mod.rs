//! Funding: the assets to move into a trust, from first mention to confirmed transfer (contract, sections 2 and 3,
//! "Funding item"). The kinds, verbs and required facts of [`table`] are the source of all forms and documents.
//!
//! A *claim* is the owner's word; *proof* comes from the receiving side. Only accepted proof makes an item funded.
//!
//! - Decision: the phase is derived from what is recorded, so callers can't set it and it is never wrong.
//! - Decision: a hold is independent of the phase until the item is closed. Nothing on hold is papered or published.
//! - Decision: a closed item isn't reopened while its agreement is a draft or active: two could then move one asset.
//! - Decision: a member can withdraw a claim on the wrong item, with a reason. The contract's table lacks this
//!   transition; without it a schedule would show a transfer that its owner never reported.

mod closing;
mod ending;
pub mod facts;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod input;
pub mod item;
pub mod names;
pub mod papers;
pub mod proof;
pub mod sensitive;
mod shown;
pub mod summary;
pub mod table;
pub mod transitions;

pub use ending::{ReopenedItem, StartedItem};
pub use facts::{AssetKind, Detail, Fact, FactType, FactValue, Verb};
pub use item::{FundingItem, Place, Status};
pub use transitions::ItemChange;

use crate::wire::enums::text_enum;

text_enum! {
    /// Where an item is on its way into the trust. It is derived and can't be set.
    pub enum Phase {
        /// Nobody has said what is to be done with it.
        Unsorted = "unsorted",
        /// What is to be done is known, and facts are missing.
        Gathering = "gathering",
        /// Nothing is missing.
        Ready = "ready",
        /// An agreement is drafted for it.
        Papered = "papered",
        /// Its agreement is published.
        InProgress = "in_progress",
        /// The owner says that it is done: a claim, and no proof.
        Claimed = "claimed",
        /// It is funded, or closed as unfunded.
        Done = "done",
    }
}

text_enum! {
    /// How an item stands: open, or how it was closed.
    pub enum FundingStatus {
        /// It still has to move.
        Open = "open",
        /// Proof from the receiving side was accepted.
        Funded = "funded",
        /// A member closed it without a transfer.
        Unfunded = "unfunded",
    }
}

text_enum! {
    /// Why an item was closed as unfunded.
    pub enum CloseReason {
        /// It stays out of the trust on purpose.
        LeftOut = "left_out",
        /// It was sold.
        Sold = "sold",
        /// Another item is the same asset.
        Duplicate = "duplicate",
        /// The institution, or the owner, refused.
        Refused = "refused",
        /// It was in the trust before.
        AlreadyInTrust = "already_in_trust",
    }
}

text_enum! {
    /// For whom an item on hold waits.
    pub enum WaitingOn {
        /// A settlor of the trust.
        Settlor = "settlor",
        /// A trustee.
        Trustee = "trustee",
        /// A bank, a broker, a carrier or another institution.
        Institution = "institution",
        /// A recorder of deeds.
        Recorder = "recorder",
        /// Counsel.
        Counsel = "counsel",
        /// A beneficiary.
        Beneficiary = "beneficiary",
        /// Someone else.
        ThirdParty = "third_party",
    }
}
