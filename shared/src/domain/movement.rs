//! Movements of money: for now their states, which gates and guards look at.

/// The state of a movement (specification, "Enumerations").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovementState {
    /// Not set up yet.
    Draft,
    /// A member authorized it.
    Authorized,
    /// Instructions are available to the sender.
    InstructionsReady,
    /// The sender says it was sent: a claim, and no proof of anything.
    SenderReported,
    /// It waits for proof that it arrived.
    ReceiptPending,
    /// Proof from the receiving side is being looked at.
    Processing,
    /// Proof from the receiving side was accepted.
    Reconciled,
    /// It needs attention.
    Exception,
    /// The money came back.
    Returned,
    /// It will not take place.
    Cancelled,
}

impl MovementState {
    /// Whether the movement has been authorized and is not cancelled.
    #[must_use]
    pub fn is_authorized(self) -> bool {
        !matches!(self, Self::Draft | Self::Cancelled)
    }

    /// Whether receiver-side evidence confirmed the arrival. A claim never does.
    #[must_use]
    pub fn is_reconciled(self) -> bool {
        self == Self::Reconciled
    }

    /// Whether money may be on its way (contract, section 3).
    #[must_use]
    pub fn is_in_flight(self) -> bool {
        matches!(self, Self::SenderReported | Self::ReceiptPending | Self::Processing)
    }
}
