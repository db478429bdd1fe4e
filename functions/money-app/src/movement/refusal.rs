//! Why an act on a payment was refused, for display.

use pages::agreement_summary::size;
use pages::layout::Notice;
use pages::second_members::one_self;
use shared::domain::agreement::{Lifecycle, StageAction};
use shared::domain::movement::NotMoved;
use shared::limits;
use shared::text::movements::movement_state;

pub(super) fn refusal(refused: NotMoved) -> Notice {
    Notice::bad("Nothing was changed", line(refused))
}

pub(crate) fn line(refused: NotMoved) -> String {
    let line = match refused {
        NotMoved::Unknown => "The agreement has no such payment, or the payment no such evidence.",
        NotMoved::NotActive(Lifecycle::Draft) => "The agreement is a draft. Publish it first.",
        NotMoved::NotActive(_) => "The agreement is no longer active.",
        NotMoved::NotNow(state) => {
            return format!("The payment’s state is “{}” by now, which doesn’t allow this.", movement_state(state));
        }
        NotMoved::StepNotDone(action) => return step_not_done(action).to_owned(),
        NotMoved::Incomplete => "The payment lacks an amount or a party.",
        NotMoved::NotAsked | NotMoved::WrongSource => "This participant has no such part in the payment.",
        NotMoved::NoConsent => "The participant has not agreed to electronic records.",
        NotMoved::NoInstructions => "Enter the instructions first.",
        NotMoved::InstructionsChanged => {
            "The instructions have changed since this page was shown. Check what they are now first."
        }
        NotMoved::NotVerified => "Another member has to verify the instructions first.",
        NotMoved::Verified => "The instructions are verified already.",
        NotMoved::Own => "You entered these instructions, so another member has to verify them.",
        NotMoved::OneSelf => {
            return format!("{} Another member has to verify them.", one_self("entered these instructions"));
        }
        NotMoved::OtherNumbers(left) => return other_numbers(left),
        NotMoved::VerificationEnded => {
            "Verification has ended: wrong numbers were typed too many times. Ask the payee for their account at a number that you knew before, then enter the instructions again."
        }
        NotMoved::OtherAccount => {
            "It is on another account than the payment’s instructions name. Open the entry on its statement’s page, and say why it counts."
        }
        NotMoved::Decided => "A member has decided about this evidence already.",
        NotMoved::NotStanding => "This evidence was rejected or withdrawn before.",
        NotMoved::WrongCurrency => {
            "The evidence is in another currency than the payment. Reject it, or flag an exception."
        }
        NotMoved::FiledAlready => {
            "The same document, or the same bank reference, is filed for this payment already. To file something else, open the form again."
        }
        NotMoved::SendersSide => "It comes from the sender’s side, which never proves an arrival.",
        NotMoved::Undecided => "Evidence is waiting for review. Accept or reject it first.",
        NotMoved::Arrived => "The evidence that was accepted adds up to the amount, so nothing has to be sent again.",
        NotMoved::Received => {
            "The amount is confirmed received, so the payment can’t be cancelled. Withdraw the evidence if it was accepted by mistake, or record the return if the money went back."
        }
        NotMoved::SameInstructions => {
            "These are the instructions that apply already. They stay as they are, and so does their verification."
        }
        NotMoved::NoSurplus => "No more than the amount counts as received, so there is no surplus.",
        NotMoved::PerhapsSame => {
            "Evidence that was accepted before may be about the same arrival. Count both only if they are two arrivals, and say so."
        }
        NotMoved::WrongReason => {
            "Choose another reason: returns and withdrawn evidence are recorded by acts of their own."
        }
        NotMoved::NoRoom => {
            return format!(
                "The files of this agreement would have more than {} together, which its evidence can’t hold. Make the file smaller.",
                size(limits::BUNDLE_FILE_BYTES_MAX)
            );
        }
        NotMoved::InPerson => {
            "The recipient confirms an arrival in their own browser only. File what the receiving bank shows instead."
        }
        NotMoved::PartyFull => {
            "This participant has filed the most evidence that one party may. A member can still file it."
        }
        NotMoved::Full => {
            "A limit is reached: this payment has the most claims, evidence or changes that can be recorded."
        }
    };
    line.to_owned()
}

fn step_not_done(action: StageAction) -> &'static str {
    if action == StageAction::ReleaseInstructions {
        "An earlier step of the agreement has to be done before instructions are released."
    } else {
        "An earlier step of the agreement has to be done before this payment is authorized."
    }
}

fn other_numbers(tries_left: u32) -> String {
    let tries = match tries_left {
        0 => {
            return "That was the last try. Verification has ended: ask the payee for their account once more, then enter the instructions again."
                .to_owned();
        }
        1 => "One try is".to_owned(),
        _ => format!("{tries_left} tries are"),
    };
    format!(
        "{tries} left. Have the payee read them out again. If they still differ, the instructions are not the payee’s: pay nothing to them."
    )
}
