//! Funding: the assets that have to move into a trust, from the first mention to the confirmed transfer (contract, sections
//! 2 and 3, "Funding item").
//!
//! [`table`] is the one table of kinds, verbs, required facts and recipients, from which validation, the API document, forms,
//! documents and the reference derive, [`facts`] has what each fact looks like, `shown` how people read facts. [`item`] has the record and what derives from it, [`input`] what callers send, [`transitions`] what
//! tokens and members do, [`proof`] claim and proof, `closing` what only members do, `ending` what publication and the end of an agreement do, [`summary`]
//! the numbers of a schedule, [`sensitive`] what no fact may contain, [`papers`] the documents of an agreement that papers
//! items. What only members do is in [`member::funding`](super::member::funding).
//!
//! Two facts are kept apart, as for money: a *claim* is the owner's word that the asset has moved, *proof* comes from the
//! receiving side. Only proof that a member accepts makes an item funded, and the types of the two share nothing.
//!
//! Decision: the phase is derived from what is recorded, so no caller can set it, and it is never wrong about it.
//!
//! Decision: a hold is beside the phase and possible until an item is closed: an institution may be waited for before and
//! after the agreement is published. An item on hold is not papered, and its draft is not published.
//!
//! Decision: an item that was closed is not opened again while its agreement is a draft or active, or two agreements could
//! move one asset. The agreement is cancelled, or completed, first.
//!
//! Decision: a member withdraws a claim that was recorded for the wrong item, with a reason, and the item is in progress
//! again. The contract's table has no such transition, but without it the claim would stand until proof or the end of the
//! agreement, and a schedule would tell of a transfer that its owner never reported.

mod closing;
mod ending;
pub mod facts;
#[cfg(test)]
pub(in crate::domain) mod fixtures;
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
