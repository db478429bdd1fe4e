//! Why acts on movements are refused.

use super::state::MovementState;
use crate::domain::agreement::{Lifecycle, StageAction};

/// Why an act on a movement was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMoved {
    /// The movement is not of this agreement, or the evidence not of this movement.
    Unknown,
    /// The agreement is in no state for it.
    NotActive(Lifecycle),
    /// The movement is in no state for it.
    NotNow(MovementState),
    /// The step with this action has yet to be done.
    StepNotDone(StageAction),
    /// The terms lack an amount or a party.
    Incomplete,
    /// The participant has no such part in the movement.
    NotAsked,
    /// The participant has not consented to electronic records, or has withdrawn the consent.
    NoConsent,
    /// There are no instructions.
    NoInstructions,
    /// The instructions were changed after the page was shown.
    InstructionsChanged,
    /// No second member has verified the instructions.
    NotVerified,
    /// The instructions are verified already.
    Verified,
    /// The member entered the instructions, and another one is there to verify them.
    Own,
    /// The member does not count as a second one for who entered the instructions: one of them let the other in, or could act
    /// as them, a few days ago.
    OneSelf,
    /// What was typed is not what the instructions say. So many tries are left.
    OtherNumbers(u32),
    /// Too many typed something else than the instructions say. They have to be entered again.
    VerificationEnded,
    /// The evidence speaks of another account than the instructions name, and nobody says why it counts.
    OtherAccount,
    /// A member has decided about the evidence already.
    Decided,
    /// The evidence was withdrawn or rejected, so it can't be withdrawn.
    NotStanding,
    /// The evidence is in another currency than the movement.
    WrongCurrency,
    /// The same document, or the same bank reference of this side, is filed for this movement already.
    FiledAlready,
    /// This kind of source is not for this participant.
    WrongSource,
    /// The evidence is of the sender's side, which never proves an arrival.
    SendersSide,
    /// Evidence waits for a decision, which comes first.
    Undecided,
    /// What was accepted adds up to the amount, so nothing has to be sent again.
    Arrived,
    /// Accepted evidence counts, so it can't be said that the payment will not take place.
    Received,
    /// The instructions are those that apply already.
    SameInstructions,
    /// No more than the amount counts as received, so there is no surplus.
    NoSurplus,
    /// Evidence that was accepted may be about the same arrival, and the member has not said that they are two.
    PerhapsSame,
    /// The reason is that of another act.
    WrongReason,
    /// A limit is reached: of claims, of evidence, of changes of the instructions, or of what can be added up.
    Full,
    /// The agreement's evidence has no room for the document, or none for one more of the participant.
    NoRoom,
    /// The participant has filed as much evidence for this movement as one party may. Members still can.
    PartyFull,
    /// The recipient's confirmation came from a browser with a member's session of the organization.
    InPerson,
}
