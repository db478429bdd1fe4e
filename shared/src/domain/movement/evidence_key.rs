use serde::{Deserialize, Serialize};

use super::claim::is_fedwire;
use crate::domain::agreement::Label;
use crate::domain::sensitive::has_iban;
use crate::wire::fields::FieldCode;

/// A bank's reference of a transfer. It may be a long number, but not an IBAN; no response shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BankReference(Label);

impl BankReference {
    /// Checks a reference; `sensitive_value` for an IBAN.
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        let line = Label::parse(text)?;
        if has_iban(line.as_str()) {
            return Err((FieldCode::SensitiveValue, "must be a reference, not an account number".to_owned()));
        }
        Ok(Self(line))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether another text is the same reference in any spelling.
    #[must_use]
    pub fn is_same_as(&self, other: &str) -> bool {
        let others: String =
            other.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_uppercase).collect();
        self.normalized() == Some(others)
    }

    /// Whether its form alone shows that it names one transfer: a UETR, or an IMAD or OMAD of Fedwire.
    #[must_use]
    pub fn names_one_transfer(&self) -> bool {
        const RANDOM: usize = 4;
        let is_uetr = |text: &str| uuid::Uuid::try_parse(text).is_ok_and(|id| id.get_version_num() == RANDOM);
        self.normalized().is_some_and(|text| is_uetr(&text) || is_fedwire(&text))
    }

    /// Whether others may be told from it by this reference. A short number can't: an entry's number in its statement,
    /// for one, comes again in the next.
    pub(super) fn tells_arrivals_apart(&self) -> bool {
        const SHORT: usize = 6;
        self.normalized().is_some_and(|text| text.len() >= SHORT || !text.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// The reference without variations in spelling. None if it is a bank's word for no reference.
    fn normalized(&self) -> Option<String> {
        const NONE: [&str; 6] = ["NOTPROVIDED", "NONREF", "NONE", "NA", "UNKNOWN", "NOREFERENCE"];
        let kept = self.as_str().chars().filter(|letter| letter.is_alphanumeric());
        let kept: String = kept.flat_map(char::to_uppercase).collect();
        Some(kept).filter(|text| !text.is_empty() && !NONE.contains(&text.as_str()))
    }
}

/// A file, statement entry or reference, under which evidence counts once in the organization or, for the movement's
/// own keys, once per side of the movement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvidenceKey(String);

impl EvidenceKey {
    const OWN: &str = "own:";
    const REFERENCE: &str = "reference:";

    pub(super) fn of_entry(fingerprint: &str) -> Self {
        Self(format!("entry:{fingerprint}"))
    }

    pub(super) fn of_file(sha256: &str) -> Self {
        Self(format!("file:{sha256}"))
    }

    /// None if it is a bank's word for no reference.
    pub(super) fn of_reference(reference: &BankReference) -> Option<Self> {
        reference.normalized().map(|text| Self(format!("{}{text}", Self::REFERENCE)))
    }

    pub(super) fn own(self) -> Self {
        Self(format!("{}{}", Self::OWN, self.0))
    }

    /// The key as the store writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it counts once in the organization, so that a movement claims it.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        !self.0.starts_with(Self::OWN)
    }

    /// Whether two keys of one movement identify the same file, entry or reference.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.bare() == other.bare()
    }

    pub(super) fn is_of(&self, reference: &BankReference) -> bool {
        Self::of_reference(reference).is_some_and(|key| key.is_same_as(self))
    }

    fn bare(&self) -> &str {
        self.0.strip_prefix(Self::OWN).unwrap_or(&self.0)
    }
}

/// The keys that an act's transaction claims for a movement, unless another movement has one, and releases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// The keys to claim for the movement unless it already has them.
    pub claimed: Vec<EvidenceKey>,
    /// The keys to release.
    pub released: Vec<EvidenceKey>,
}
