//! What only members do about funding: close, claim, judge proof, reopen (contract, section 3, "Funding item").
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
//! And a claim can't fund an item:
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
use crate::domain::note::Note;

/// An item after a member's act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FundingChange {
    /// The item.
    pub item: ByMember<FundingItem>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// The data besides the item that an act depends on.
#[derive(Debug, Clone, Copy)]
pub struct FundingContext<'a> {
    /// The agreement that papers the item, as of now.
    pub agreement: Option<&'a Agreement>,
    /// The time and the call.
    pub moment: Moment,
}

/// A part of an item that a page shows, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPart {
    /// Its kind, verb, owners and facts.
    Facts,
    /// Its hold.
    Hold,
    /// The owner's claim.
    Claim,
    /// The proof and the decisions about it.
    Proof,
    /// Whether it is open, papered or closed.
    Status,
    /// The agreement that papers it.
    Agreement,
    /// The names of its trust, owners and workspace.
    Names,
}

impl ItemPart {
    /// All parts, in display order.
    pub const ALL: [Self; 7] =
        [Self::Facts, Self::Hold, Self::Claim, Self::Proof, Self::Status, Self::Agreement, Self::Names];
}

/// A set of parts of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ItemParts([bool; ItemPart::ALL.len()]);

impl ItemParts {
    /// The parts that meet a condition.
    #[must_use]
    pub fn which(is: impl Fn(ItemPart) -> bool) -> Self {
        Self(ItemPart::ALL.map(is))
    }

    /// The parts in display order.
    pub fn iter(self) -> impl Iterator<Item = ItemPart> {
        ItemPart::ALL.into_iter().zip(self.0).filter_map(|(part, is_one)| is_one.then_some(part))
    }
}

/// Why an act was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDone {
    /// These parts have changed since the page was shown.
    ChangedSinceShown(ItemParts),
    /// It is papered; its agreement must be cancelled first.
    Papered(AgreementId),
    /// It is already closed.
    Closed,
    /// It is not closed.
    NotClosed,
    /// Its agreement is unpublished or was cancelled, so there is nothing to claim or prove.
    NotInProgress,
    /// A claim is already recorded.
    ClaimedAlready,
    /// No claim is recorded that could be withdrawn.
    NothingClaimed,
    /// The limit of withdrawn claims per item is reached.
    TooManyClaims,
    /// The same file is already filed as proof.
    SameFile,
    /// There is no such proof.
    UnknownProof,
    /// The proof is already decided.
    DecidedAlready,
    /// The form already filed another proof.
    FiledAlready,
    /// Proof needs a document, or a note on what was confirmed and how.
    NothingToSee,
    /// The limit of undecided or filed proof per item is reached.
    TooMuchProof,
    /// Its agreement is a draft or active.
    AgreementLive(AgreementId),
}

/// Closes an item as unfunded, unless its agreement is a draft or active: also one that never moved after completion.
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
    // An unknown agreement counts as live.
    let ended = own(item, agreement).is_some_and(|agreement| !is_live(agreement));
    if let Some(id) = item.agreement_id().filter(|_| !ended) {
        return Err(NotDone::Papered(id));
    }
    let (after, event) = item.closed_unfunded(by, moment, reason, note);
    Ok(FundingChange { item: ByMember::new(after, by, moment), events: vec![event] })
}

/// Records the owner's claim that it is done. It proves nothing and emits no event.
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

/// Withdraws a claim recorded for the wrong item, which is in progress again. Emits no event, as claims don't.
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

/// Files proof from the receiving side, to be decided by a member.
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

/// Accepts proof, which makes the item funded.
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

/// Rejects proof of an open item.
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

/// Reopens a closed item, unless its agreement is a draft or active.
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

fn is_live(agreement: &Agreement) -> bool {
    matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active)
}

fn own<'a>(item: &FundingItem, agreement: Option<&'a Agreement>) -> Option<&'a Agreement> {
    agreement.filter(|agreement| item.agreement_id() == Some(agreement.id()))
}

fn check_in_progress(item: &FundingItem, context: FundingContext<'_>) -> Result<(), NotDone> {
    let runs = |agreement: &Agreement| agreement.was_published() && !agreement.has_ended_early();
    match own(item, context.agreement) {
        Some(agreement) if runs(agreement) => Ok(()),
        _ if item.is_closed() => Err(NotDone::Closed),
        _ => Err(NotDone::NotInProgress),
    }
}
