//! The terms of a payment. They may be incomplete until the agreement's publication, and never change afterwards.

use serde::{Deserialize, Serialize};

use super::safe_text::SafeLine;
use crate::domain::day::Day;
use crate::domain::ids::ParticipantId;
use crate::domain::money::Money;
use crate::wire::enums::text_enum;

text_enum! {
    /// The direction of a movement, seen from the organization.
    #[derive(Default)]
    pub enum Direction {
        /// The organization receives it.
        Incoming = "incoming",
        /// The organization sends it.
        Outgoing = "outgoing",
        /// Others move it among themselves.
        #[default]
        ThirdParty = "third_party",
    }
}

impl Direction {
    /// The direction between two parties, by whether each is the organization itself. Transfers to itself are outgoing.
    #[must_use]
    pub fn between(sender_is_own: bool, receiver_is_own: bool) -> Self {
        match (sender_is_own, receiver_is_own) {
            (true, _) => Self::Outgoing,
            (false, true) => Self::Incoming,
            (false, false) => Self::ThirdParty,
        }
    }
}

text_enum! {
    /// How money is moved.
    #[derive(Default)]
    pub enum Method {
        /// A wire, such as Fedwire or CHIPS.
        #[default]
        Wire = "wire",
        /// The Automated Clearing House.
        Ach = "ach",
        /// Real-time payments.
        Rtp = "rtp",
        /// A SEPA transfer.
        Sepa = "sepa",
        /// A transfer among banks that use SWIFT.
        Swift = "swift",
        /// A check.
        Check = "check",
        /// Another way.
        Other = "other",
    }
}

/// The terms of a payment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentTerms {
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<SafeLine>,
    /// What the sender writes on the transfer, such as an invoice number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<SafeLine>,
    /// The amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The direction.
    pub direction: Direction,
    /// The method.
    pub method: Method,
    /// The payer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ParticipantId>,
    /// The payee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<ParticipantId>,
    /// The due day, in the organization's zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_on: Option<Day>,
}

impl PaymentTerms {
    /// Whether it has an amount, currency and purpose (contract, section 5, `payment_incomplete`).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.money.is_some() && self.purpose.is_some()
    }
}
