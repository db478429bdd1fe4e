//! Sentences about payments. Claims never read like proof: senders "say", and only proof is "confirmed".

use crate::domain::money::in_api;
use crate::domain::movement::claim::ReferenceType;
use crate::domain::movement::evidence_account::AccountStanding;
use crate::domain::movement::instructions::{
    Call, InstructionsKind, InstructionsVerification, NumberSource, VerificationMethod,
};
use crate::domain::movement::past_exception::ExceptionOutcome;
use crate::domain::movement::source::{Assurance, ConfirmationBasis, EvidenceSource, ReceiverSource, SenderSource};
use crate::domain::movement::state::{ExceptionReason, MovementState};
use crate::domain::movement::surplus::SurplusOutcome;
use crate::domain::movement::terms::{Direction, Method};
use crate::domain::movement::{Movement, ReleaseBasis, Risk, Status};

/// The name of a payment without a purpose.
pub const UNTITLED: &str = "Payment without a purpose";

/// The suffix for arrivals on an account other than instructed. Follows "by a statement of the receiving bank".
pub const ELSEWHERE: &str = ", on another account than the instructions name";

/// The label of a state (specification, "Enumerations").
#[must_use]
pub fn movement_state(state: MovementState) -> &'static str {
    match state {
        MovementState::Draft => "Not set up yet",
        MovementState::Authorized => "Authorized",
        MovementState::InstructionsReady => "Instructions available to the sender",
        MovementState::SenderReported => "Sender says it was sent",
        MovementState::ReceiptPending => "Waiting for proof it arrived",
        MovementState::Processing => "Proof under review",
        MovementState::Reconciled => "Confirmed received",
        MovementState::Exception => "Needs attention",
        MovementState::Returned => "Returned",
        MovementState::Cancelled => "Cancelled",
    }
}

/// What puts a payment's money at risk, which members read in place of its state.
#[must_use]
pub fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::SuspectedFraud => "Suspected fraud",
        Risk::InstructionsChanged => "Instructions changed",
        Risk::VerificationEnded => "Verification ended",
    }
}

/// A movement's `state_sentence`.
#[must_use]
pub fn movement_sentence(movement: &Movement) -> String {
    let accepted = movement.receipt().map_or(0, |receipt| receipt.received_minor);
    let partial = movement.terms().money.filter(|_| accepted > 0).map(|money| {
        let received = in_api(accepted, money.currency().code());
        format!(" {received} of {} has been confirmed received.", money.amount_display())
    });
    let partial = partial.unwrap_or_default();
    match movement.state() {
        MovementState::Draft => "Not authorized yet.".to_owned(),
        MovementState::Authorized => format!("Authorized. The sender does not have the instructions yet.{partial}"),
        MovementState::InstructionsReady => format!("The sender has the instructions and can pay.{partial}"),
        MovementState::SenderReported => {
            let proof = if partial.is_empty() { " There is no proof that it arrived." } else { partial.as_str() };
            format!("The sender says it was sent.{proof}")
        }
        MovementState::ReceiptPending => format!("Waiting for proof that it arrived.{partial}"),
        MovementState::Processing => format!("Proof from the receiving side is under review.{partial}"),
        MovementState::Reconciled => {
            let by = movement.confirmation().map(|confirmation| format!(", by {}", basis(confirmation.basis)));
            let elsewhere = if movement.counts_another_account() { ELSEWHERE } else { "" };
            let surplus = surplus_sentence(movement).unwrap_or_default();
            format!("Confirmed received{}{elsewhere}.{surplus}", by.unwrap_or_default())
        }
        MovementState::Exception => match movement.exception_reason() {
            Some(reason) => format!("Needs attention: {}.{partial}", exception(reason)),
            None => "Needs attention.".to_owned(),
        },
        MovementState::Returned if is_late(movement) => {
            "The money came back to the sender, after the agreement had ended.".to_owned()
        }
        MovementState::Returned => "The money came back to the sender.".to_owned(),
        MovementState::Cancelled if movement.late_minor() > 0 => late_sentence(movement, accepted),
        MovementState::Cancelled if movement.ended_with_its_agreement() && movement.has_undecided_receipt() => {
            format!("Cancelled when its agreement ended. Proof that money came late is under review.{partial}")
        }
        MovementState::Cancelled if partial.is_empty() => "Cancelled. It will not take place.".to_owned(),
        MovementState::Cancelled => format!("Cancelled.{partial} The rest will not take place."),
    }
}

/// Whether money came, or came back, after the movement ended with its agreement.
#[must_use]
pub fn is_late(movement: &Movement) -> bool {
    let came_back = matches!(movement.status(), Status::Returned(ending) if ending.late_since.is_some());
    came_back || movement.late_minor() > 0
}

fn late_sentence(movement: &Movement, accepted: i64) -> String {
    let Some(money) = movement.terms().money else { return "Cancelled when its agreement ended.".to_owned() };
    let display = |minor: i64| in_api(minor, money.currency().code());
    let late = movement.late_minor();
    let before = match accepted.saturating_sub(late) {
        before @ 1.. => format!(" {} had been confirmed received before that.", display(before)),
        _ => String::new(),
    };
    format!(
        "Cancelled when its agreement ended. {} of {} came late and has been confirmed received.{before}",
        display(late),
        money.amount_display()
    )
}

/// What became of a reconciled payment's surplus, as a sentence after others. None without a surplus.
fn surplus_sentence(movement: &Movement) -> Option<String> {
    let (surplus, money) = movement.surplus().filter(|_| movement.surplus_minor() > 0).zip(movement.terms().money)?;
    let amount = in_api(surplus.amount_minor, money.currency().code());
    Some(format!(" {amount} more than the amount arrived, and {}.", surplus_outcome(&surplus.outcome)))
}

/// What became of a surplus. Completes "USD 5.00 more than the amount arrived, and …".
#[must_use]
pub fn surplus_outcome(outcome: &SurplusOutcome) -> &'static str {
    match outcome {
        SurplusOutcome::Returned { .. } => "was returned",
        SurplusOutcome::Kept { .. } => "is kept",
    }
}

/// Why a movement needs attention. Completes "Needs attention: …".
#[must_use]
pub fn exception(reason: ExceptionReason) -> &'static str {
    match reason {
        ExceptionReason::AmountShort => "less than the amount arrived",
        ExceptionReason::AmountOver => "more than the amount arrived",
        ExceptionReason::WrongCurrency => "it arrived in another currency",
        ExceptionReason::NotReceived => "it did not arrive",
        ExceptionReason::Rejected => "a bank rejected it",
        ExceptionReason::Returned => "the money came back",
        ExceptionReason::Duplicate => "it was sent twice",
        ExceptionReason::InstructionsChanged => "the instructions changed while money was on its way",
        ExceptionReason::SuspectedFraud => "suspected fraud",
        ExceptionReason::EvidenceWithdrawn => "accepted proof was withdrawn",
        ExceptionReason::Other => "see the note",
    }
}

/// How an exception was resolved. None if the movement ended, which its record says anyway.
#[must_use]
pub fn exception_outcome(outcome: ExceptionOutcome) -> Option<&'static str> {
    match outcome {
        ExceptionOutcome::SendAgain => Some("Send again"),
        ExceptionOutcome::AwaitProof => Some("Wait for proof"),
        ExceptionOutcome::EvidenceFiled => Some("Evidence of an arrival was filed"),
        ExceptionOutcome::SurplusSettled => Some("The surplus was returned or is kept"),
        ExceptionOutcome::Returned | ExceptionOutcome::Cancelled => None,
    }
}

/// The basis of a confirmation. Completes "Confirmed received, by …".
#[must_use]
pub fn basis(basis: ConfirmationBasis) -> &'static str {
    match basis {
        ConfirmationBasis::RecipientConfirmation => "the recipient’s own confirmation",
        ConfirmationBasis::ReceivingBankStatement => "a statement of the receiving bank",
        ConfirmationBasis::ReceivingBankNotification => "a notification of the receiving bank",
        ConfirmationBasis::ReceivingBankFeed => "a feed of the receiving bank",
    }
}

/// The source of evidence.
#[must_use]
pub fn evidence_source(source: EvidenceSource) -> &'static str {
    match source {
        EvidenceSource::Sender(SenderSource::SenderStatement) => "The sender’s word",
        EvidenceSource::Sender(SenderSource::SenderBankDocument) => {
            "A document of the sender’s bank, such as a wire confirmation or an MT103"
        }
        EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation) => "The recipient’s own confirmation",
        EvidenceSource::Receiver(ReceiverSource::BankNotification) => "A notification of the receiving bank",
        EvidenceSource::Receiver(ReceiverSource::BankStatement) => "A statement of the receiving bank",
        EvidenceSource::Receiver(ReceiverSource::EntryOfOtherAccount) => {
            "An entry read from a bank’s statement file, of another account than the instructions name"
        }
        EvidenceSource::Receiver(ReceiverSource::EntryOfUnknownAccount) => {
            "An entry read from a bank’s statement file, of an account that is not known to be the payee’s"
        }
        EvidenceSource::Receiver(ReceiverSource::StatementEntry) => "An entry read from a bank’s statement file",
        EvidenceSource::Receiver(ReceiverSource::BankFeed) => "An entry of a bank’s feed",
    }
}

/// What evidence of an assurance can prove.
#[must_use]
pub fn assurance(assurance: Assurance) -> &'static str {
    match assurance {
        Assurance::Stated => "The sender says so. It proves nothing about the arrival.",
        Assurance::SenderDocumented => "The sender’s bank says that it was sent. It proves nothing about the arrival.",
        Assurance::RecipientConfirmed => "The recipient says that it arrived. It can prove the arrival.",
        Assurance::BankDocumented => "A document of the receiving bank shows it. It can prove the arrival.",
        Assurance::BankVerified => "Data of the receiving bank show it. It can prove the arrival.",
    }
}

/// How evidence's account compares with the payment's instructions. Follows the account.
#[must_use]
pub fn account_standing(standing: AccountStanding) -> &'static str {
    match standing {
        AccountStanding::Instructed => "as the instructions name it",
        AccountStanding::Another => "not the account that the instructions name",
        AccountStanding::Unclear => "it can’t be told whether the instructions name it",
        AccountStanding::Own => "the organization’s own; no instructions were released",
        AccountStanding::Unknown => "no instructions were released to compare it with",
    }
}

/// How instructions were verified.
#[must_use]
pub fn verification_method(method: VerificationMethod) -> &'static str {
    match method {
        VerificationMethod::CallBack => "Call back to a known number",
        VerificationMethod::InPerson => "In person",
    }
}

/// The source of a phone number.
#[must_use]
pub fn number_source(source: NumberSource) -> &'static str {
    match source {
        NumberSource::EarlierDealings => "From earlier dealings",
        NumberSource::PublicRegister => "From a public register",
        NumberSource::InPerson => "They gave it to me in person",
    }
}

/// Who read instructions out, and where they were reached.
#[must_use]
pub fn read_out(verification: &InstructionsVerification) -> String {
    let person = verification.read_out_by.as_str();
    match &verification.call {
        Some(Call { number, source }) => {
            let source = match source {
                NumberSource::EarlierDealings => "known from earlier dealings",
                NumberSource::PublicRegister => "from a public register",
                NumberSource::InPerson => "which they had given in person",
            };
            format!("Read out by {person}, called at {}, {source}", number.as_str())
        }
        None => format!("Read out by {person}"),
    }
}

/// The basis of a release.
#[must_use]
pub fn release_basis(basis: ReleaseBasis) -> &'static str {
    match basis {
        ReleaseBasis::Verified => "Verified by a second member",
        ReleaseBasis::OnlyMember => "Not verified by a second member: no other member counted as one",
    }
}

/// The kind of instructions.
#[must_use]
pub fn instructions_kind(kind: InstructionsKind) -> &'static str {
    match kind {
        InstructionsKind::Iban => "IBAN",
        InstructionsKind::Aba => "US account (ABA routing number)",
        InstructionsKind::Other => "Other",
    }
}

/// A payment method.
#[must_use]
pub fn method(method: Method) -> &'static str {
    match method {
        Method::Wire => "Wire",
        Method::Ach => "ACH",
        Method::Rtp => "RTP",
        Method::Sepa => "SEPA",
        Method::Swift => "SWIFT",
        Method::Check => "Check",
        Method::Other => "Other",
    }
}

/// The direction of a movement.
#[must_use]
pub fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Incoming => "Incoming",
        Direction::Outgoing => "Outgoing",
        Direction::ThirdParty => "Between others",
    }
}

/// The type of a reference.
#[must_use]
pub fn reference_type(reference_type: ReferenceType) -> &'static str {
    match reference_type {
        ReferenceType::Uetr => "UETR",
        ReferenceType::EndToEndId => "End-to-end ID",
        ReferenceType::FedwireImad => "Fedwire IMAD",
        ReferenceType::FedwireOmad => "Fedwire OMAD",
        ReferenceType::AchTraceNumber => "ACH trace number",
        ReferenceType::RtpInstructionId => "RTP instruction ID",
        ReferenceType::CheckNumber => "Check number",
        ReferenceType::Other => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_never_reads_like_proof() {
        for state in MovementState::ALL {
            let says_so = movement_state(state).to_lowercase().contains("confirmed");
            assert_eq!(says_so, state.is_reconciled(), "{state}");
        }
        for source in [SenderSource::SenderStatement, SenderSource::SenderBankDocument] {
            let grade = EvidenceSource::Sender(source).assurance();
            assert!(assurance(grade).ends_with("It proves nothing about the arrival."), "{grade}");
        }
    }
}
