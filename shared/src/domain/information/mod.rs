//! Information requests and participants' answers. A draft is private to the participant; what they send is a
//! submission, which a member accepts or returns (specification, "Information submission").
//!
//! Decision: a submission's answers are in clear but for bank details, which the API never shows; a draft is sealed.

pub mod bank_details;
pub mod typed;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::bank_details::BankDetails;
use super::actor::Actor;
use super::agreement::{DocumentContent, Label};
use super::day::Day;
use super::ids::{AgreementId, FieldId, GateId, OrgId, ParticipantId, SubmissionId};
use super::note::Note;
use super::participant::session::InPerson;
use super::sensitive::{has_account_number, has_card_number};
use super::time::Timestamp;
use crate::crypto;
use crate::crypto::keyring::{Keyring, SealError, Sealed};
use crate::domain::file_type::FileType;

/// A participant's answers to an information request, as sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Its id.
    pub id: SubmissionId,
    /// The information request.
    pub gate_id: GateId,
    /// The participant who answered.
    pub participant_id: ParticipantId,
    /// Counted from 1 for each participant and request.
    pub revision: u32,
    /// Random, so that nobody can guess the answers from the receipt's hash.
    pub salt: Uuid,
    /// The answers by question. Optional questions may have none.
    pub answers: BTreeMap<FieldId, Answer>,
    /// Bank details resealed with a newer key. The answers themselves stay as the receipt proves them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resealed: BTreeMap<FieldId, Sealed>,
    /// The questions whose answers differ from the previous revision. Empty for the first one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<FieldId>,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// The member in whose browser it was sent, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
    /// A member's decision.
    pub verdict: Verdict,
}

/// A member's decision about a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Verdict {
    /// None yet.
    Sent,
    /// A member has read and accepted it.
    Accepted {
        /// When.
        at: Timestamp,
        /// The member.
        by: Actor,
    },
    /// A member has returned it; the participant answers again.
    Returned {
        /// When.
        at: Timestamp,
        /// The member.
        by: Actor,
        /// Why.
        reason: Note,
    },
}

/// An answer as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Bank details.
    BankDetails {
        /// The [`BankDetails`], sealed for [`place`].
        sealed: Sealed,
        /// The last few characters of the account number.
        ending: String,
    },
    /// Any other answer.
    #[serde(untagged)]
    Open(OpenAnswer),
}

/// An answer whose type isn't secret. [`may_be_shown`](Self::may_be_shown) says whether responses and bundles show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenAnswer {
    /// One line, or several.
    Text(String),
    /// A decimal number, such as `-1250.50`.
    Number(String),
    /// A day.
    Date(Day),
    /// Yes or no.
    Boolean(bool),
    /// One of the options.
    Choice(String),
    /// Some of the options, in their order.
    MultiChoice(Vec<String>),
    /// A file.
    File(AnswerFile),
    /// A postal address.
    Address(PostalAddress),
}

/// An uploaded file in the file store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerFile {
    /// Its name.
    pub name: Label,
    /// Its content.
    pub content: DocumentContent,
    /// The verified type.
    pub file_type: FileType,
}

/// A postal address. Each line has at most [`limits::NAME_CHARS_MAX`](crate::limits::NAME_CHARS_MAX) characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostalAddress {
    /// Street and number.
    pub line1: Label,
    /// Apartment, suite, care of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line2: Option<Label>,
    /// City.
    pub city: Label,
    /// State, province or region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Label>,
    /// ZIP or postal code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<Label>,
    /// Country.
    pub country: Label,
}

impl PostalAddress {
    /// Its lines as on an envelope.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let region = [self.region.as_ref(), self.postal_code.as_ref()].into_iter().flatten().map(Label::as_str);
        let region = region.collect::<Vec<_>>().join(" ");
        let city = self.city.as_str().to_owned();
        let town = if region.is_empty() { city } else { format!("{city}, {region}") };
        let street = [Some(&self.line1), self.line2.as_ref()].into_iter().flatten();
        let street = street.map(|line| line.as_str().to_owned());
        street.chain([town, self.country.as_str().to_owned()]).collect()
    }
}

/// A typed answer, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Bank details, to be sealed before they are stored.
    BankDetails(BankDetails),
    /// Any other answer.
    Open(OpenAnswer),
}

/// What an answer's bank details are sealed for: they open nowhere else.
#[must_use]
pub fn place(gate: GateId, participant: ParticipantId, field: FieldId) -> String {
    format!("bank details {gate} {participant} {field}")
}

/// What a draft is sealed for: it opens nowhere else.
#[must_use]
pub fn draft_place(org: OrgId, agreement: AgreementId, gate: GateId, participant: ParticipantId) -> String {
    format!("answers {org} {agreement} {gate} {participant}")
}

impl AnswerFile {
    /// Its name, unless responses and bundles must hide it.
    #[must_use]
    pub fn shown_name(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !has_account_number(name))
    }
}

impl OpenAnswer {
    /// Whether responses and bundles show it: it has no account number. A plain number may be an amount.
    #[must_use]
    pub fn may_be_shown(&self) -> bool {
        match self {
            Self::Text(text) => !has_account_number(text),
            Self::Number(number) => !has_card_number(number),
            Self::File(file) => file.shown_name().is_some(),
            Self::Address(address) => !address.lines().iter().any(|line| has_account_number(line)),
            Self::Date(_) | Self::Boolean(_) | Self::Choice(_) | Self::MultiChoice(_) => true,
        }
    }
}

impl Given {
    /// The answer as stored. `seal` seals bank details.
    pub fn into_answer(self, seal: impl FnOnce(&str) -> Result<Sealed, SealError>) -> Result<Answer, SealError> {
        Ok(match self {
            Self::Open(answer) => Answer::Open(answer),
            Self::BankDetails(details) => {
                Answer::BankDetails { sealed: seal(&details.reveal())?, ending: details.ending() }
            }
        })
    }

    /// Whether a stored answer is the same. `open` opens bank details; unopenable ones differ.
    #[must_use]
    pub fn is(&self, stored: &Answer, open: impl FnOnce(&Sealed) -> Option<String>) -> bool {
        match (self, stored) {
            (Self::Open(given), Answer::Open(stored)) => given == stored,
            (Self::BankDetails(given), Answer::BankDetails { sealed, .. }) => {
                open(sealed).is_some_and(|opened| opened == given.reveal())
            }
            _ => false,
        }
    }
}

impl Submission {
    /// The JSON that the receipt's hash covers: the salt and the stored answers, with sealed bank details.
    #[must_use]
    pub fn hashed_text(&self) -> String {
        serde_json::json!([self.salt, self.answers]).to_string()
    }

    /// The SHA-256 of [`hashed_text`](Self::hashed_text) in hexadecimal. In the receipt, it proves what was answered.
    #[must_use]
    pub fn sha256(&self) -> String {
        crypto::sha256_hex(self.hashed_text().as_bytes())
    }

    /// An answer's sealed bank details, under the newest key.
    #[must_use]
    pub fn sealed(&self, field: FieldId) -> Option<&Sealed> {
        match self.answers.get(&field)? {
            Answer::BankDetails { sealed, .. } => Some(self.resealed.get(&field).unwrap_or(sealed)),
            Answer::Open(_) => None,
        }
    }

    pub(crate) fn has_sealed(&self) -> bool {
        self.answers.keys().any(|field| self.sealed(*field).is_some())
    }

    /// None if no bank details need resealing with the current key.
    pub(crate) fn resealed_with(&self, keys: &Keyring) -> Result<Option<BTreeMap<FieldId, Sealed>>, SealError> {
        let mut resealed = self.resealed.clone();
        for field in self.answers.keys() {
            let Some(sealed) = self.sealed(*field) else { continue };
            let anew = keys.reseal(sealed, &place(self.gate_id, self.participant_id, *field))?;
            resealed.extend(anew.map(|anew| (*field, anew)));
        }
        Ok((resealed != self.resealed).then_some(resealed))
    }

    /// Whether a member has yet to decide.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(self.verdict, Verdict::Sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_with_an_account_number_is_not_shown_wherever_it_was_typed() {
        let label = |text: &str| Label::parse(text).unwrap();
        let address = |line2: Option<&str>| {
            OpenAnswer::Address(PostalAddress {
                line1: label("12 Mill Lane"),
                line2: line2.map(label),
                city: label("Albany"),
                region: Some(label("NY")),
                postal_code: Some(label("12207")),
                country: label("USA"),
            })
        };
        let file = |name: &str| {
            let content = DocumentContent { sha256: "0".repeat(64), size_bytes: 1 };
            OpenAnswer::File(AnswerFile { name: label(name), content, file_type: FileType::Pdf })
        };
        for (answer, expected) in [
            (OpenAnswer::Text("Ada Okafor".to_owned()), true),
            (OpenAnswer::Text("My card is 4111 1111 1111 1111.".to_owned()), false),
            (OpenAnswer::Text("Our IBAN is DE89 3704 0044 0532 0130 00.".to_owned()), false),
            (OpenAnswer::Number("4111111111111111".to_owned()), false),
            (OpenAnswer::Number("1250000000".to_owned()), true),
            (file("Passport"), true),
            (file("Statement DE89370400440532013000"), false),
            (address(None), true),
            (address(Some("To DE89 3704 0044 0532 0130 00")), false),
        ] {
            assert_eq!(answer.may_be_shown(), expected, "{answer:?}");
        }
    }
}
