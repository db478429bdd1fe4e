//! What evidence counts under: references of banks, and the keys made of them.

use serde::{Deserialize, Serialize};

use crate::domain::agreement::Label;
use crate::domain::sensitive::has_iban;
use crate::wire::fields::FieldCode;

/// The reference under which a bank has a transfer.
///
/// Decision: it may be a long number, as many references are, but no IBAN. No response shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BankReference(Label);

impl BankReference {
    /// Checks a reference.
    ///
    /// # Errors
    /// `sensitive_value` for an IBAN, and those of a [`Label`].
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

    /// Whether another text names the same reference, however it is written.
    #[must_use]
    pub fn is_same_as(&self, other: &str) -> bool {
        let others: String =
            other.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_uppercase).collect();
        self.normalized() == Some(others)
    }

    /// The reference without what people write differently; none if it is only the word that banks use for none.
    fn normalized(&self) -> Option<String> {
        const NONE: [&str; 6] = ["NOTPROVIDED", "NONREF", "NONE", "NA", "UNKNOWN", "NOREFERENCE"];
        let kept = self.as_str().chars().filter(|letter| letter.is_alphanumeric());
        let kept: String = kept.flat_map(char::to_uppercase).collect();
        Some(kept).filter(|text| !text.is_empty() && !NONE.contains(&text.as_str()))
    }
}

/// What tells a document apart from others: its file, an entry of a statement file, or a reference. Evidence counts under it
/// once for the organization, or, if it is the movement's own, once for each side of the movement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvidenceKey(String);

impl EvidenceKey {
    const OWN: &str = "own:";
    const REFERENCE: &str = "reference:";

    /// The key of an entry of a statement file.
    pub(super) fn of_entry(fingerprint: &str) -> Self {
        Self(format!("entry:{fingerprint}"))
    }

    /// The key of a file.
    pub(super) fn of_file(sha256: &str) -> Self {
        Self(format!("file:{sha256}"))
    }

    /// The key of a bank's reference. None if it is only the word that banks use for none.
    pub(super) fn of_reference(reference: &BankReference) -> Option<Self> {
        reference.normalized().map(|text| Self(format!("{}{text}", Self::REFERENCE)))
    }

    /// The same, but compared within one movement only.
    pub(super) fn own(self) -> Self {
        Self(format!("{}{}", Self::OWN, self.0))
    }

    /// The key as the store writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it counts once for the organization, so that a movement claims it.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        !self.0.starts_with(Self::OWN)
    }

    /// Whether two keys of one movement are of the same document or reference.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.bare() == other.bare()
    }

    /// Whether it is that of a reference.
    pub(super) fn is_of(&self, reference: &BankReference) -> bool {
        Self::of_reference(reference).is_some_and(|key| key.is_same_as(self))
    }

    fn bare(&self) -> &str {
        self.0.strip_prefix(Self::OWN).unwrap_or(&self.0)
    }
}

/// The keys that a movement claims in the organization and gives free again, in the transaction of an act. A key that another
/// movement has refuses the act.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// The keys to claim for the movement, unless it has them already.
    pub claimed: Vec<EvidenceKey>,
    /// The keys to give free.
    pub released: Vec<EvidenceKey>,
}
