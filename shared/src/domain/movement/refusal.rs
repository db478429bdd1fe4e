use super::state::MovementState;
use crate::domain::agreement::{Lifecycle, StageAction};

/// Why an act on a movement was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMoved {
    /// The movement belongs to another agreement, or the evidence to another movement.
    Unknown,
    /// Not in the agreement's current state.
    NotActive(Lifecycle),
    /// Not in the movement's current state.
    NotNow(MovementState),
    /// The step with this action isn't done.
    StepNotDone(StageAction),
    /// The terms lack an amount or a party.
    Incomplete,
    /// The participant has no such role in the movement.
    NotAsked,
    /// The participant has not consented to electronic records, or has withdrawn consent.
    NoConsent,
    /// There are no instructions.
    NoInstructions,
    /// The instructions have changed since the page was shown.
    InstructionsChanged,
    /// No second member has verified the instructions.
    NotVerified,
    /// The instructions are already verified.
    Verified,
    /// The member entered the instructions, and another one can verify them.
    Own,
    /// The member and the one who entered the instructions count as one: one let the other in, or could act as them.
    OneSelf,
    /// What was typed doesn't match the instructions. Contains the remaining tries.
    OtherNumbers(u32),
    /// Too many tries didn't match. The instructions have to be entered again.
    VerificationEnded,
    /// The evidence names an account other than the instructed one, without a reason why it counts.
    OtherAccount,
    /// The evidence is already decided.
    Decided,
    /// The evidence was withdrawn or rejected, so it can't be withdrawn.
    NotStanding,
    /// The evidence is in a currency other than the movement's.
    WrongCurrency,
    /// The same document, or the same bank reference on this side, is already filed for this movement.
    FiledAlready,
    /// This participant can't use this kind of source.
    WrongSource,
    /// The evidence is on the sender's side, which never proves an arrival.
    SendersSide,
    /// Undecided evidence must be decided first.
    Undecided,
    /// The accepted sum reaches the amount, so nothing has to be sent again.
    Arrived,
    /// Accepted evidence counts, so the payment can't be called off.
    Received,
    /// The instructions are unchanged.
    SameInstructions,
    /// No more than the amount counts as received, so there is no surplus.
    NoSurplus,
    /// Accepted evidence may describe the same arrival, and the member hasn't said that there are two.
    PerhapsSame,
    /// The reason belongs to another act.
    WrongReason,
    /// A limit is reached: claims, evidence, changes of instructions, or the sum.
    Full,
    /// The agreement's evidence has no room for the document, or none for this participant.
    NoRoom,
    /// The participant has filed the maximum of evidence for this movement. Members still can.
    PartyFull,
    /// The recipient's confirmation came from a browser with a member's session in the organization.
    InPerson,
}
