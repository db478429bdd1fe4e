//! What only members do about funding: they close items as unfunded, record what owners claim, file, accept and reject proof,
//! and open closed items again (contract, section 3, "Funding item").
//!
//! Each act takes a [`Member`], and no caller of the API has one:
//!
//! ```
//! use shared::domain::funding::FundingItem;
//! use shared::domain::funding::proof::NewProof;
//! use shared::domain::ids::ProofId;
//! use shared::domain::member::funding::{self, FundingChange, FundingContext, NotDone};
//! use shared::domain::member::Member;
//!
//! type Done = Result<FundingChange, NotDone>;
//!
//! fn acts(by: &Member, item: &FundingItem, context: FundingContext<'_>, new: NewProof, proof: ProofId) -> [Done; 3] {
//!     [
//!         funding::record_claim(by, item, context, None),
//!         funding::file_proof(by, item, context, new),
//!         funding::accept_proof(by, item, context, proof),
//!     ]
//! }
//! ```
//!
//! ```compile_fail
//! use shared::api::caller::WriteCaller;
//! use shared::domain::funding::FundingItem;
//! use shared::domain::ids::ProofId;
//! use shared::domain::member::funding::{self, FundingChange, FundingContext, NotDone};
//!
//! fn fund(
//!     by: &WriteCaller,
//!     item: &FundingItem,
//!     context: FundingContext<'_>,
//!     proof: ProofId,
//! ) -> Result<FundingChange, NotDone> {
//!     funding::accept_proof(by, item, context, proof)
//! }
//! ```
//!
//! And a claim can't be handed to what funds an item:
//!
//! ```compile_fail
//! use shared::domain::funding::FundingItem;
//! use shared::domain::funding::proof::Claim;
//! use shared::domain::member::funding::{self, FundingChange, FundingContext, NotDone};
//! use shared::domain::member::Member;
//!
//! fn believe(
//!     by: &Member,
//!     item: &FundingItem,
//!     context: FundingContext<'_>,
//!     claim: Claim,
//! ) -> Result<FundingChange, NotDone> {
//!     funding::accept_proof(by, item, context, claim)
//! }
//! ```

#[cfg(test)]
mod histories;

use super::{ByMember, Member};
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::funding::proof::NewProof;
use crate::domain::funding::{CloseReason, FundingItem};
use crate::domain::ids::{AgreementId, ProofId};
use crate::domain::moment::Moment;
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::proposal::Note;

/// An item as a member's act changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FundingChange {
    /// The item.
    pub item: ByMember<FundingItem>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// What an act on an item is decided on besides the item.
#[derive(Debug, Clone, Copy)]
pub struct FundingContext<'a> {
    /// The agreement that papers the item, as of now.
    pub agreement: Option<&'a Agreement>,
    /// When, and in which call.
    pub moment: Moment,
}

/// A part of what a page shows of an item, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPart {
    /// What it is, what is to be done with it, whose it is, and its facts.
    Facts,
    /// Its hold.
    Hold,
    /// What the owner claims.
    Claim,
    /// What was filed as proof, and what was decided about it.
    Proof,
    /// Whether it is open, papered or closed.
    Status,
    /// The agreement that papers it.
    Agreement,
    /// The names of its trust, its owners and its workspace.
    Names,
}

impl ItemPart {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 7] =
        [Self::Facts, Self::Hold, Self::Claim, Self::Proof, Self::Status, Self::Agreement, Self::Names];
}

/// Some parts of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ItemParts([bool; ItemPart::ALL.len()]);

impl ItemParts {
    /// The parts for which something holds.
    #[must_use]
    pub fn which(is: impl Fn(ItemPart) -> bool) -> Self {
        Self(ItemPart::ALL.map(is))
    }

    /// These parts, in the order in which they are told.
    pub fn iter(self) -> impl Iterator<Item = ItemPart> {
        ItemPart::ALL.into_iter().zip(self.0).filter_map(|(part, is_one)| is_one.then_some(part))
    }
}

/// Why an act was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDone {
    /// It is not as the page showed it on which the member decided: these parts are others.
    ChangedSinceShown(ItemParts),
    /// It is papered: its agreement is to be cancelled first.
    Papered(AgreementId),
    /// It is closed already.
    Closed,
    /// It is not closed.
    NotClosed,
    /// Its agreement is not published, or was cancelled: there is nothing to claim or to prove.
    NotInProgress,
    /// The owner's claim is on record already.
    ClaimedAlready,
    /// No claim is on record that could be withdrawn.
    NothingClaimed,
    /// As many claims were withdrawn as one item may have.
    TooManyClaims,
    /// The same file is filed as proof already.
    SameFile,
    /// There is no such proof.
    UnknownProof,
    /// The proof was decided before.
    DecidedAlready,
    /// Another proof was filed with the form.
    FiledAlready,
    /// Proof needs a document, or words that say what was confirmed and how.
    NothingToSee,
    /// As much proof waits for a member, or was ever filed, as one item may have.
    TooMuchProof,
    /// Its agreement is a draft or active.
    AgreementLive(AgreementId),
}

/// Closes an item as unfunded, unless its agreement is a draft or active. After an agreement is completed, an item that never
/// moved is closed this way too.
///
/// # Errors
/// [`NotDone::Papered`], [`NotDone::Closed`].
pub fn close_unfunded(
    by: &Member,
    item: &FundingItem,
    context: FundingContext<'_>,
    reason: CloseReason,
    note: Option<Note>,
) -> Result<FundingChange, NotDone> {
    let FundingContext { agreement, moment } = context;
    if item.is_closed() {
        return Err(NotDone::Closed);
    }
    // An agreement that nobody could read counts as live.
    let ended = own(item, agreement).is_some_and(|agreement| !is_live(agreement));
    if let Some(id) = item.agreement_id().filter(|_| !ended) {
        return Err(NotDone::Papered(id));
    }
    let (after, event) = item.closed_unfunded(by, moment, reason, note);
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: vec![event] })
}

/// Records that the owner says it is done. It is no proof, and no event tells of it.
///
/// # Errors
/// [`NotDone::NotInProgress`], [`NotDone::Closed`], [`NotDone::ClaimedAlready`], [`NotDone::TooManyClaims`].
pub fn record_claim(
    by: &Member,
    item: &FundingItem,
    context: FundingContext<'_>,
    note: Option<SafeNote>,
) -> Result<FundingChange, NotDone> {
    check_in_progress(item, context)?;
    let FundingContext { moment, .. } = context;
    let after = item.claimed(by, moment, note)?;
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: Vec::new() })
}

/// Withdraws the claim that is on record, for one that was recorded for the wrong item. The item is in progress again, the
/// claim stays in its history, and no event tells of it, as none told of the claim.
///
/// # Errors
/// [`NotDone::NotInProgress`], [`NotDone::Closed`], [`NotDone::NothingClaimed`].
pub fn withdraw_claim(
    by: &Member,
    item: &FundingItem,
    context: FundingContext<'_>,
    reason: SafeNote,
) -> Result<FundingChange, NotDone> {
    check_in_progress(item, context)?;
    let FundingContext { moment, .. } = context;
    let after = item.unclaimed(by, moment, reason)?;
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: Vec::new() })
}

/// Files proof of the receiving side. It waits for a member.
///
/// # Errors
/// [`NotDone::NotInProgress`], [`NotDone::Closed`], [`NotDone::FiledAlready`], [`NotDone::NothingToSee`],
/// [`NotDone::SameFile`], [`NotDone::TooMuchProof`].
pub fn file_proof(
    by: &Member,
    item: &FundingItem,
    context: FundingContext<'_>,
    new: NewProof,
) -> Result<FundingChange, NotDone> {
    check_in_progress(item, context)?;
    let FundingContext { moment, .. } = context;
    let after = item.with_proof(by, moment, new)?;
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: Vec::new() })
}

/// Accepts proof: the item is funded.
///
/// # Errors
/// [`NotDone::NotInProgress`], [`NotDone::UnknownProof`], [`NotDone::DecidedAlready`], [`NotDone::Closed`].
pub fn accept_proof(
    by: &Member,
    item: &FundingItem,
    context: FundingContext<'_>,
    proof: ProofId,
) -> Result<FundingChange, NotDone> {
    check_in_progress(item, context)?;
    let FundingContext { moment, .. } = context;
    let (after, event) = item.funded(by, moment, proof)?;
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: vec![event] })
}

/// Rejects proof of an item that is not closed.
///
/// # Errors
/// [`NotDone::UnknownProof`], [`NotDone::DecidedAlready`], [`NotDone::Closed`].
pub fn reject_proof(
    by: &Member,
    item: &FundingItem,
    moment: Moment,
    proof: ProofId,
    reason: SafeNote,
) -> Result<FundingChange, NotDone> {
    let after = item.without_proof(by, moment, proof, reason)?;
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: Vec::new() })
}

/// Opens a closed item again, unless its agreement is a draft or active.
///
/// # Errors
/// [`NotDone::NotClosed`], [`NotDone::AgreementLive`].
pub fn reopen_item(by: &Member, item: &FundingItem, context: FundingContext<'_>) -> Result<FundingChange, NotDone> {
    let FundingContext { agreement, moment } = context;
    if !item.is_closed() {
        return Err(NotDone::NotClosed);
    }
    if let Some(live) = own(item, agreement).filter(|agreement| is_live(agreement)) {
        return Err(NotDone::AgreementLive(live.id()));
    }
    let after = item.opened_again(moment.at());
    let event = after.reopened_event();
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: vec![event] })
}

/// Whether an agreement is a draft or active, so that it can still move what it papers.
fn is_live(agreement: &Agreement) -> bool {
    matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active)
}

fn own<'a>(item: &FundingItem, agreement: Option<&'a Agreement>) -> Option<&'a Agreement> {
    agreement.filter(|agreement| item.agreement_id() == Some(agreement.id()))
}

/// Checks that the agreement of an item was published and has not ended early.
fn check_in_progress(item: &FundingItem, context: FundingContext<'_>) -> Result<(), NotDone> {
    let runs = |agreement: &Agreement| agreement.was_published() && !agreement.has_ended_early();
    match own(item, context.agreement) {
        Some(agreement) if runs(agreement) => Ok(()),
        _ if item.is_closed() => Err(NotDone::Closed),
        _ => Err(NotDone::NotInProgress),
    }
}
