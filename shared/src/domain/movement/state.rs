//! The states of a movement and the reasons of exceptions, as clients branch on them.

use super::source::Side;
use crate::wire::enums::text_enum;

text_enum! {
    /// The state of a movement (specification, "Enumerations").
    pub enum MovementState {
        /// Not set up yet.
        Draft = "draft",
        /// A member authorized it.
        Authorized = "authorized",
        /// Instructions are available to the sender.
        InstructionsReady = "instructions_ready",
        /// The sender says it was sent: a claim, and no proof of anything.
        SenderReported = "sender_reported",
        /// It waits for proof that it arrived.
        ReceiptPending = "receipt_pending",
        /// Proof from the receiving side is being looked at.
        Processing = "processing",
        /// Proof from the receiving side was accepted.
        Reconciled = "reconciled",
        /// It needs attention.
        Exception = "exception",
        /// The money came back.
        Returned = "returned",
        /// It will not take place.
        Cancelled = "cancelled",
    }
}

impl MovementState {
    /// Whether it has been authorized and is not cancelled.
    #[must_use]
    pub fn is_authorized(self) -> bool {
        !matches!(self, Self::Draft | Self::Cancelled)
    }

    /// Whether receiver-side evidence confirmed the arrival. A claim never does.
    #[must_use]
    pub fn is_reconciled(self) -> bool {
        self == Self::Reconciled
    }

    /// Whether money may be in flight (contract, section 3).
    #[must_use]
    pub fn is_in_flight(self) -> bool {
        matches!(self, Self::SenderReported | Self::ReceiptPending | Self::Processing)
    }

    /// How soon a member should look at it, lowest first: needs attention, undecided, in flight, not yet begun, done.
    #[must_use]
    pub fn urgency(self) -> u8 {
        match self {
            Self::Exception => 0,
            Self::Processing => 1,
            Self::SenderReported => 2,
            Self::ReceiptPending => 3,
            Self::Draft => 4,
            Self::Authorized => 5,
            Self::InstructionsReady => 6,
            Self::Returned => 7,
            Self::Reconciled => 8,
            Self::Cancelled => 9,
        }
    }

    /// Whether it ends with its agreement: nobody has said that money was sent. Exceptions don't: their money may be
    /// anywhere, so a member settles them, even after the agreement's end.
    #[must_use]
    pub fn ends_with_agreement(self) -> bool {
        matches!(self, Self::Draft | Self::Authorized | Self::InstructionsReady)
    }

    /// The state shown to readers once the agreement has ended early, whether or not the movement's record says so.
    #[must_use]
    pub fn told_at_end(self) -> Self {
        if self.ends_with_agreement() { Self::Cancelled } else { self }
    }

    /// Whether a claim of the sender can be recorded: once they have the instructions, and only once.
    #[must_use]
    pub fn takes_claim(self) -> bool {
        self == Self::InstructionsReady
    }

    /// Whether evidence of a side can be filed: on the sender's side, only after a claim.
    #[must_use]
    pub fn takes_evidence_of(self, side: Side) -> bool {
        self.is_in_flight() || (side == Side::Receiver && self == Self::InstructionsReady)
    }

    /// Whether a member may flag an exception.
    #[must_use]
    pub fn can_be_flagged(self) -> bool {
        matches!(self, Self::InstructionsReady | Self::Reconciled) || self.is_in_flight()
    }

    /// Whether a member may record that the money came back.
    #[must_use]
    pub fn can_be_returned(self) -> bool {
        matches!(self, Self::Reconciled | Self::Exception) || self.is_in_flight()
    }

    /// Whether its state lets a member cancel it: nothing is in flight.
    /// [`Movement::can_be_cancelled`](super::Movement::can_be_cancelled) also checks whether all of the money has
    /// arrived.
    #[must_use]
    pub fn can_be_cancelled(self) -> bool {
        matches!(self, Self::Draft | Self::Authorized | Self::InstructionsReady | Self::Exception)
    }

    /// Whether nothing more happens to it unless accepted evidence is withdrawn or the money comes back.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::Reconciled | Self::Returned | Self::Cancelled)
    }
}

text_enum! {
    /// Why a movement needs attention (contract, section 2).
    pub enum ExceptionReason {
        /// Less than the amount arrived.
        AmountShort = "amount_short",
        /// More than the amount arrived.
        AmountOver = "amount_over",
        /// It arrived in another currency.
        WrongCurrency = "wrong_currency",
        /// It did not arrive.
        NotReceived = "not_received",
        /// A bank rejected it.
        Rejected = "rejected",
        /// The money came back.
        Returned = "returned",
        /// It was sent twice.
        Duplicate = "duplicate",
        /// The instructions were changed while money was on its way.
        InstructionsChanged = "instructions_changed",
        /// It may be fraud.
        SuspectedFraud = "suspected_fraud",
        /// Evidence that had been accepted was withdrawn.
        EvidenceWithdrawn = "evidence_withdrawn",
        /// Another reason, which the note gives.
        Other = "other",
    }
}

impl ExceptionReason {
    /// Whether a member may flag it. The other reasons result from recording a return or withdrawing evidence.
    #[must_use]
    pub fn can_be_flagged(self) -> bool {
        !matches!(self, Self::Returned | Self::EvidenceWithdrawn)
    }
}
