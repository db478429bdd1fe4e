use super::{MovementChange, changed, check_active, of_published, stamp};
use crate::domain::agreement::StageAction;
use crate::domain::agreement::context::AgreementContext;
use crate::domain::member::{ByMember, Counting, Member};
use crate::domain::movement::instructions::{NewInstructions, NewVerification, SealedInstructions};
use crate::domain::movement::state::MovementState;
use crate::domain::movement::{Movement, NotMoved};

/// Entered instructions: what the movement stores of them, and their own record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionsEntered {
    /// The movement and the agreement.
    pub change: MovementChange,
    /// The sealed instructions.
    pub sealed: ByMember<SealedInstructions>,
}

/// Enters or changes instructions. A change ends verification and release; with money in flight, it is an exception.
pub fn enter_instructions(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    new: NewInstructions,
) -> Result<InstructionsEntered, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let (after, sealed) = movement.enter_instructions(new, stamp(by, context))?;
    let sealed = ByMember::new(sealed, by, context.moment);
    Ok(InstructionsEntered { change: changed(by, context, movement, after), sealed })
}

/// Records that the shown revision of instructions matches what the payee read out. Nobody verifies their own entry, or
/// that of someone they count as one with, unless nobody counts as a second member.
pub fn verify_instructions(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    shown: u32,
    verification: NewVerification,
    counting: Counting,
) -> Result<MovementChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let after = movement.verify_instructions(shown, verification, counting, stamp(by, context))?;
    Ok(changed(by, context, movement, after))
}

/// Counts a wrong try at the shown revision of instructions, and returns the movement and the remaining tries. The last
/// one withdraws a release. Refuses what [`verify_instructions`] does: unverifiable instructions can't be guessed at.
pub fn count_wrong_try(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    shown: u32,
    counting: Counting,
) -> Result<(MovementChange, u32), NotMoved> {
    let movement = &*of_published(context, movement)?;
    let (after, left) = movement.count_wrong_try(shown, counting, &stamp(by, context))?;
    Ok((changed(by, context, movement, after), left))
}

/// Releases the shown revision of instructions to the sender: verified by a second member, or the only member's.
pub fn release_instructions(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    shown: u32,
    counting: Counting,
) -> Result<MovementChange, NotMoved> {
    let current = check_active(context, movement)?;
    if movement.state() == MovementState::Authorized && !current.lets_release(movement.id()) {
        return Err(NotMoved::StepNotDone(StageAction::ReleaseInstructions));
    }
    let after = movement.release_instructions(shown, counting == Counting::Alone, stamp(by, context))?;
    Ok(changed(by, context, movement, after))
}
