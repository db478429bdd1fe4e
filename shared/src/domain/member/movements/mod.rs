//! What members do about movements: authorize, claim, ask for proof, raise and resolve exceptions, cancel.
//!
//! Each act takes a [`Member`] and returns movement, agreement and events, for one transaction. API callers have none:
//!
//! ```compile_fail
//! use shared::api::caller::WriteCaller;
//! use shared::domain::agreement::context::AgreementContext;
//! use shared::domain::member::movements::{self, MovementChange};
//! use shared::domain::movement::Movement;
//!
//! fn authorize(caller: &WriteCaller, context: AgreementContext<'_>, movement: &Movement) -> Option<MovementChange> {
//!     movements::authorize(caller, context, movement).ok()
//! }
//! ```
//!
//! And no movement changes without one:
//!
//! ```compile_fail
//! use shared::domain::movement::{Movement, Status};
//!
//! fn reconcile(mut movement: Movement) -> Movement {
//!     movement.status = Status::Authorized;
//!     movement
//! }
//! ```

#[cfg(test)]
mod arrivals;
#[cfg(test)]
mod ending;
mod evidence;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod histories;
mod instructions;
#[cfg(test)]
mod tests;

pub use evidence::{
    EvidenceChange, accept_evidence, file_evidence, reject_evidence, resolve_and_file, withdraw_evidence,
};
pub use instructions::{
    InstructionsEntered, count_wrong_try, enter_instructions, release_instructions, verify_instructions,
};

use std::borrow::Cow;

use super::{ByMember, Member};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::{Agreement, Lifecycle, StageAction};
use crate::domain::event::EventKind;
use crate::domain::movement::claim::NewClaim;
use crate::domain::movement::evidence::{Evidence, NewEvidence};
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::movement::state::{ExceptionReason, MovementState};
use crate::domain::movement::{Movement, NotMoved, Resolution, Stamp};

/// A movement after a member's act, and the agreement that follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementChange {
    /// The movement.
    pub movement: ByMember<Movement>,
    /// The agreement. The act may have completed it, or recorded that time ended it earlier.
    pub agreement: ByMember<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// A change, with evidence that is undecided again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The movement and the agreement.
    pub change: MovementChange,
    /// The evidence that is undecided again.
    pub evidence: Vec<ByMember<Evidence>>,
}

/// Authorizes a movement of an active agreement.
pub fn authorize(by: &Member, context: AgreementContext<'_>, movement: &Movement) -> Result<MovementChange, NotMoved> {
    let current = check_active(context, movement)?;
    if movement.state() == MovementState::Draft && !current.lets_authorize(movement.id()) {
        return Err(NotMoved::StepNotDone(StageAction::OpenMovement));
    }
    Ok(changed(by, context, movement, movement.authorize(stamp(by, context))?))
}

/// Records the sender's claim that they sent the money.
pub fn record_claim(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    claim: NewClaim,
) -> Result<MovementChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    Ok(changed(by, context, movement, movement.report(claim, stamp(by, context))?))
}

/// Asks for proof of the sender's claim.
pub fn ask_for_proof(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
) -> Result<MovementChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    Ok(changed(by, context, movement, movement.ask_for_proof(context.moment.at())?))
}

/// Flags that a movement needs attention.
pub fn flag_exception(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    reason: ExceptionReason,
    note: Option<SafeNote>,
) -> Result<MovementChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    Ok(changed(by, context, movement, movement.flag(reason, note, stamp(by, context))?))
}

/// Resolves an exception. `evidence` is the movement's accepted evidence. Sending again requires an active agreement.
pub fn resolve_exception(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    resolution: Resolution,
    evidence: &[Evidence],
) -> Result<Resolved, NotMoved> {
    match &resolution {
        Resolution::SendAgain => drop(check_active(context, movement)?),
        Resolution::AwaitProof | Resolution::Surplus(_) => {}
    }
    let movement = &*of_published(context, movement)?;
    let (after, undecided) = movement.resolve(evidence, resolution, stamp(by, context))?;
    let evidence = undecided.into_iter().map(|record| ByMember::new(record, by, context.moment)).collect();
    Ok(Resolved { change: changed(by, context, movement, after), evidence })
}

/// Records that the money came back.
pub fn record_return(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    reason: SafeNote,
) -> Result<MovementChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    Ok(changed(by, context, movement, movement.record_return(reason, stamp(by, context))?))
}

/// Cancels a movement with nothing in flight.
pub fn cancel_movement(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    reason: SafeNote,
) -> Result<MovementChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    Ok(changed(by, context, movement, movement.cancel(reason, stamp(by, context))?))
}

/// A movement of a published agreement, cancelled if the agreement's end cancelled it, recorded or not.
pub(in crate::domain) fn of_published<'a>(
    context: AgreementContext<'_>,
    movement: &'a Movement,
) -> Result<Cow<'a, Movement>, NotMoved> {
    let current = context.current();
    let known = current.movement_state(movement.id()).filter(|_| movement.agreement_id() == current.id());
    known.ok_or(NotMoved::Unknown)?;
    if current.lifecycle() == Lifecycle::Draft || !context.agreement.was_published() {
        return Err(NotMoved::NotActive(current.lifecycle()));
    }
    Ok(movement.as_told(&current))
}

pub(in crate::domain) fn check_room(
    context: AgreementContext<'_>,
    new: &NewEvidence,
    filer: Filer,
) -> Result<u64, NotMoved> {
    // Statement files are not documents in the bundle.
    let file = new.facts().file.as_ref().filter(|file| file.file_type.is_some());
    let bytes = file.map_or(0, |file| file.content.size_bytes);
    let has_room = bytes == 0 || context.agreement.has_room_for(context.facts, bytes, filer);
    if has_room { Ok(bytes) } else { Err(NotMoved::NoRoom) }
}

fn check_active<'a>(context: AgreementContext<'a>, movement: &Movement) -> Result<Cow<'a, Agreement>, NotMoved> {
    let current = context.active().map_err(NotMoved::NotActive)?;
    of_published(context, movement)?;
    Ok(current)
}

fn stamp(by: &Member, context: AgreementContext<'_>) -> Stamp {
    Stamp::new(by.actor(), context.moment.at())
}

fn changed(by: &Member, context: AgreementContext<'_>, before: &Movement, after: Movement) -> MovementChange {
    changed_with_file(by, context, before, after, 0)
}

fn changed_with_file(
    by: &Member,
    context: AgreementContext<'_>,
    before: &Movement,
    after: Movement,
    file_bytes: u64,
) -> MovementChange {
    let (agreement, events) = follow(context, before, &after, file_bytes);
    let agreement = ByMember::new(agreement, by, context.moment);
    MovementChange { movement: ByMember::new(after, by, context.moment), agreement, events }
}

pub(in crate::domain) fn follow(
    context: AgreementContext<'_>,
    before: &Movement,
    after: &Movement,
    file_bytes: u64,
) -> (Agreement, Vec<EventKind>) {
    let (id, state) = (after.id(), after.state());
    let followed = context.recorded(|facts| {
        facts.movements.insert(id, state);
        facts.file_bytes += file_bytes;
    });
    // An agreement that was already completed emitted this before.
    let completion = followed.completion().filter(|_| context.agreement.completion().is_none());
    let events = after.event_since(before).into_iter().chain(completion).collect();
    (followed, events)
}
