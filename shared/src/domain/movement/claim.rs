//! The sender's claim that money was sent. Claim and proof are separate facts whose types share no field.

use serde::{Deserialize, Serialize};

use super::safe_text::SafeLine;
use crate::domain::actor::Actor;
use crate::domain::day::Day;
use crate::domain::ids::ParticipantId;
use crate::domain::participant::session::InPerson;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};

text_enum! {
    /// The type of a reference by which banks find a transfer again (contract, section 2).
    pub enum ReferenceType {
        /// The unique end-to-end transaction reference of SWIFT, a UUID.
        Uetr = "uetr",
        /// The reference that the sender gave it.
        EndToEndId = "end_to_end_id",
        /// The input message accountability data of Fedwire.
        FedwireImad = "fedwire_imad",
        /// The output message accountability data of Fedwire.
        FedwireOmad = "fedwire_omad",
        /// The trace number of the Automated Clearing House, 15 digits.
        AchTraceNumber = "ach_trace_number",
        /// The instruction id of a real-time payment.
        RtpInstructionId = "rtp_instruction_id",
        /// The number of a check.
        CheckNumber = "check_number",
        /// Another reference.
        Other = "other",
    }
}

impl ReferenceType {
    /// Whether the sender rather than a bank chooses such references. They may recur in later transfers.
    #[must_use]
    pub fn is_chosen_by_sender(self) -> bool {
        matches!(self, Self::EndToEndId | Self::CheckNumber)
    }
}

/// A reference by which banks find a transfer again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferReference {
    #[serde(rename = "type")]
    reference_type: ReferenceType,
    /// The reference.
    value: String,
}

impl TransferReference {
    /// Checks a reference against its type's form or, without one, for account numbers, because responses show it.
    pub fn parse(reference_type: ReferenceType, text: &str) -> Result<Self, (FieldCode, String)> {
        let text = text.trim();
        let of_form = |is_right: bool, message: &str| {
            let wrong = || (FieldCode::InvalidFormat, message.to_owned());
            if is_right { Ok(text.to_ascii_uppercase()) } else { Err(wrong()) }
        };
        let value = match reference_type {
            ReferenceType::Uetr => {
                let uetr = uuid::Uuid::try_parse(text).ok().filter(|_| text.len() == UUID_CHARS);
                of_form(uetr.is_some(), "must be a UUID such as 97ed4827-7b6f-4491-a06f-b548d5a7512d")
                    .map(|value| value.to_ascii_lowercase())
            }
            ReferenceType::FedwireImad | ReferenceType::FedwireOmad => of_form(
                is_fedwire(text),
                "must be 22 characters or more that begin with a date, such as 20260314B1QGC08C000123",
            ),
            ReferenceType::AchTraceNumber => {
                let is_number = text.len() == ACH_TRACE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
                of_form(is_number, "must be 15 digits")
            }
            ReferenceType::EndToEndId
            | ReferenceType::RtpInstructionId
            | ReferenceType::CheckNumber
            | ReferenceType::Other => SafeLine::parse(text).map(|line| line.as_str().to_owned()),
        }?;
        Ok(Self { reference_type, value })
    }

    /// Its type.
    #[must_use]
    pub fn reference_type(&self) -> ReferenceType {
        self.reference_type
    }

    /// The reference.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

const UUID_CHARS: usize = 36;
const ACH_TRACE_DIGITS: usize = 15;

pub(super) fn is_fedwire(text: &str) -> bool {
    const DATE: usize = 8;
    const CHARS: std::ops::RangeInclusive<usize> = 22..=34;
    let is_date = |part: &str| {
        matches!(part.as_bytes(), [b'1' | b'2', _, _, _, b'0' | b'1', _, b'0'..=b'3', _])
            && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    CHARS.contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.get(..DATE).is_some_and(is_date)
}

/// A sender's statement about money they sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClaim {
    pub(super) sent_on: Day,
    pub(super) references: Vec<TransferReference>,
}

/// The claim as its receipt keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedTransfer {
    /// The day the money was sent, according to the sender.
    pub sent_on: Day,
    /// How banks find the transfer again, as the sender says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<TransferReference>,
}

impl From<NewClaim> for ClaimedTransfer {
    fn from(NewClaim { sent_on, references }: NewClaim) -> Self {
        Self { sent_on, references }
    }
}

impl NewClaim {
    /// Checks a claim; `out_of_range` for a day after `today`, which is in the organization's zone.
    pub fn checked(sent_on: Day, today: Day, references: Vec<TransferReference>) -> Result<Self, FieldErrors> {
        if sent_on.is_to_come(today) {
            return Err(FieldErrors::one("sent_on", FieldCode::OutOfRange, "must not be in the future"));
        }
        if references.len() > limits::CLAIM_REFERENCES_MAX {
            let message = format!("at most {}", limits::CLAIM_REFERENCES_MAX);
            return Err(FieldErrors::one("references", FieldCode::LimitReached, message));
        }
        Ok(Self { sent_on, references })
    }
}

/// A recorded claim that money was sent. It proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// When it was reported.
    pub reported_at: Timestamp,
    /// The sender, whose claim it is.
    pub participant_id: ParticipantId,
    /// Who reported it: the sender, or a member who recorded the sender's word.
    pub by: Actor,
    /// The member whose browser the sender used, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
    /// The day the money was sent, according to the sender.
    pub sent_on: Day,
    /// How banks find the transfer again, as the sender says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<TransferReference>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_the_form_of_its_type_and_is_no_account_number() {
        for (reference_type, text) in [
            (ReferenceType::Uetr, "97ed4827-7b6f-4491-a06f-b548d5a7512d"),
            (ReferenceType::FedwireImad, "20260314B1QGC08C000123"),
            (ReferenceType::AchTraceNumber, "021000021234567"),
            (ReferenceType::EndToEndId, "INV-2026-117"),
            (ReferenceType::CheckNumber, "1042"),
            (ReferenceType::Other, "Confirmation QX7"),
        ] {
            assert_eq!(TransferReference::parse(reference_type, &format!(" {text} ")).unwrap().value(), text);
        }
        for (reference_type, text, code) in [
            (ReferenceType::Uetr, "97ed48277b6f4491a06fb548d5a7512d", FieldCode::InvalidFormat),
            (ReferenceType::FedwireOmad, "000123456789", FieldCode::InvalidFormat),
            (ReferenceType::FedwireImad, "2026031400001234567890", FieldCode::InvalidFormat),
            (ReferenceType::AchTraceNumber, "000123456789", FieldCode::InvalidFormat),
            (ReferenceType::CheckNumber, "000123456789", FieldCode::SensitiveValue),
            (ReferenceType::EndToEndId, "DE89 3704 0044 0532 0130 00", FieldCode::SensitiveValue),
            (ReferenceType::Other, "account 000123456789", FieldCode::SensitiveValue),
            (ReferenceType::Other, " ", FieldCode::TooShort),
        ] {
            assert_eq!(TransferReference::parse(reference_type, text).unwrap_err().0, code, "{text}");
        }
    }

    #[test]
    fn a_claim_is_about_the_past() {
        let today = Day::parse("2026-03-14").unwrap();
        assert!(NewClaim::checked(today.plus_days(1), today, Vec::new()).is_ok(), "tomorrow has begun elsewhere");
        assert!(NewClaim::checked(today.plus_days(2), today, Vec::new()).is_err());
        let reference = TransferReference::parse(ReferenceType::Other, "QX7").unwrap();
        let many = vec![reference; limits::CLAIM_REFERENCES_MAX + 1];
        assert!(NewClaim::checked(today, today, many).is_err());
    }
}
