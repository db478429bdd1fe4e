//! Instructions: where the sender sends the money. They are read, sealed at once for their movement and revision, and never
//! shown again but on the sender's own page. A movement knows their last characters, and digests of the accounts that they
//! name: they tell whether another names the same account, and nothing else.
//!
//! Decision: changed instructions are how deals are robbed. So any change ends the verification and withdraws the release;
//! while money is in flight, it is an exception besides. Every change stays on record with the last characters before and
//! after.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::crypto::keyring::{Keyring, SealError, Sealed};
use crate::domain::actor::Actor;
use crate::domain::bank_account::numbers::ending;
use crate::domain::bank_account::text::{NumberInText, has_other_digits, numbers_in};
use crate::domain::bank_account::{AccountDigest, AccountKeys, BankAccount};
use crate::domain::ids::{MovementId, OrgId};
use crate::domain::information::bank_details::BankDetails;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text::check_lines;

text_enum! {
    /// The kind of instructions.
    pub enum InstructionsKind {
        /// An IBAN, with a BIC or without.
        Iban = "iban",
        /// A routing number of a bank in the United States, and an account number.
        Aba = "aba",
        /// Another account, or a free text.
        Other = "other",
    }
}

/// Instructions in clear. No text about them has them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BankInstructions {
    /// An account.
    Account(BankDetails),
    /// A free text, for banks that need something else.
    Free(String),
}

impl fmt::Debug for BankInstructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BankInstructions(…)")
    }
}

impl BankInstructions {
    /// Reads instructions of a kind from what was typed: the parts of [`BankDetails`] for an IBAN or a routing number, `text`
    /// for another kind.
    ///
    /// # Errors
    /// What is wrong, by part.
    pub fn read(kind: InstructionsKind, typed: impl Fn(&str) -> String) -> Result<Self, FieldErrors> {
        if kind == InstructionsKind::Other {
            let text = check_lines(&typed("text"), limits::INSTRUCTIONS_CHARS_MAX);
            let text = text.map_err(|(code, message)| FieldErrors::one("text", code, message))?;
            let refused = |message: &str| Err(FieldErrors::one("text", FieldCode::InvalidValue, message));
            if has_other_digits(&text) {
                return refused("must have its numbers in the digits 0 to 9");
            }
            let free = Self::Free(text);
            if free.accounts().len() > limits::INSTRUCTIONS_NUMBERS_MAX {
                let max = limits::INSTRUCTIONS_NUMBERS_MAX;
                return refused(&format!("must have at most {max} numbers that could be accounts or codes"));
            }
            return Ok(free);
        }
        let read = Self::Account(BankDetails::read(typed)?);
        match kind {
            _ if read.kind() == kind => Ok(read),
            InstructionsKind::Iban => Err(FieldErrors::one("number", FieldCode::InvalidValue, "must be an IBAN")),
            InstructionsKind::Aba | InstructionsKind::Other => {
                let message = "must be a routing number of 9 digits, with an account number of the United States";
                Err(FieldErrors::one("code", FieldCode::InvalidValue, message))
            }
        }
    }

    /// The instructions that a participant's accepted answer gives.
    #[must_use]
    pub fn of_answer(details: BankDetails) -> Self {
        Self::Account(details)
    }

    /// Their kind.
    #[must_use]
    pub fn kind(&self) -> InstructionsKind {
        match self {
            Self::Account(details) if details.is_iban() => InstructionsKind::Iban,
            Self::Account(details) if details.has_routing_number() => InstructionsKind::Aba,
            Self::Account(_) | Self::Free(_) => InstructionsKind::Other,
        }
    }

    /// The last characters of the account number: of a free text, of the number with the most digits in it.
    #[must_use]
    pub fn ending(&self) -> String {
        match self {
            Self::Account(details) => details.ending(),
            Self::Free(text) => {
                // A word that has some digits is an account number only if nothing looks more like one.
                let likelihood = |number: &NumberInText| (has_form_of_account(&number.text), digits(&number.text));
                let likeliest = numbers_in(text).into_iter().max_by_key(likelihood);
                likeliest.map(|number| ending(&number.text)).unwrap_or_default()
            }
        }
    }

    /// The accounts that they name: one, or of a free text each number that could be an account or a code, in its order.
    #[must_use]
    pub fn accounts(&self) -> Vec<BankAccount> {
        match self {
            Self::Account(details) => details.account().into_iter().collect(),
            Self::Free(text) => {
                let numbers = numbers_in(text).into_iter().filter(|number| number.may_name_account);
                numbers.filter_map(|number| BankAccount::of_text(&number.text)).collect()
            }
        }
    }

    /// The instructions in full, a line each with its label: for the sender's own page, and for nothing else.
    #[must_use]
    pub fn in_full(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Account(details) => details.in_full(),
            Self::Free(text) => vec![("Instructions", text.clone())],
        }
    }

    /// Seals them for a revision of a movement's instructions, for an organization.
    ///
    /// # Errors
    /// Those of [`Keyring::seal`].
    pub fn sealed(
        &self,
        (keys, org): (&Keyring, OrgId),
        (movement_id, revision): (MovementId, u32),
    ) -> Result<NewInstructions, SealError> {
        let sealed = keys.seal(&serde_json::json!(self).to_string(), &place(movement_id, revision))?;
        let account_keys = AccountKeys::new(keys, org);
        Ok(NewInstructions {
            sealed: SealedInstructions { movement_id, revision, sealed },
            kind: self.kind(),
            ending: self.ending(),
            accounts: self.accounts().iter().map(|account| account_keys.digest(account)).collect(),
            are_as_before: false,
        })
    }
}

/// Whether a number has digits only, or begins like an IBAN.
fn has_form_of_account(number: &str) -> bool {
    let begins_like_iban = match number.as_bytes() {
        [one, two, check, digit, ..] => {
            one.is_ascii_alphabetic() && two.is_ascii_alphabetic() && check.is_ascii_digit() && digit.is_ascii_digit()
        }
        _ => false,
    };
    begins_like_iban || number.bytes().all(|byte| byte.is_ascii_digit())
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// The place for which instructions are sealed. They open nowhere else.
#[must_use]
pub fn place(movement: MovementId, revision: u32) -> String {
    format!("instructions {movement} {revision}")
}

/// Sealed instructions, a record of their own: nothing but the sender's page reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedInstructions {
    /// The movement.
    pub movement_id: MovementId,
    /// Counted from 1 for each movement.
    pub revision: u32,
    /// The [`BankInstructions`], sealed for [`place`].
    pub sealed: Sealed,
}

impl SealedInstructions {
    /// The instructions in clear.
    ///
    /// # Errors
    /// Those of [`Keyring::open`].
    pub fn opened(&self, keys: &Keyring) -> Result<BankInstructions, SealError> {
        let text = keys.open(&self.sealed, &place(self.movement_id, self.revision))?;
        serde_json::from_str(&text).map_err(|_| SealError::Broken)
    }
}

/// Instructions to be entered. Only [`BankInstructions::sealed`] makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInstructions {
    pub(super) sealed: SealedInstructions,
    pub(super) kind: InstructionsKind,
    pub(super) ending: String,
    pub(super) accounts: Vec<AccountDigest>,
    /// Whether they are what the revision before says, to the letter.
    pub(super) are_as_before: bool,
}

impl NewInstructions {
    /// The same, compared with the revision before: instructions that are the same to the letter are no change. Those of the
    /// same account with another holder are one.
    #[must_use]
    pub fn after(self, before: Option<&BankInstructions>, new: &BankInstructions) -> Self {
        Self { are_as_before: before == Some(new), ..self }
    }
}

text_enum! {
    /// How instructions were verified.
    pub enum VerificationMethod {
        /// A call back to a number that was known before.
        CallBack = "call_back",
        /// In person.
        InPerson = "in_person",
        /// By a document that the receiver had signed before.
        SignedDocument = "signed_document",
        /// By an earlier payment to the same account that arrived.
        EarlierPayment = "earlier_payment",
        /// In another way.
        Other = "other",
    }
}

/// That a member verified instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsVerification {
    /// How.
    pub method: VerificationMethod,
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

/// A change of instructions, which shows nothing but last characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsChange {
    /// The last characters before.
    pub ending_before: String,
    /// The last characters after.
    pub ending_after: String,
    /// Who changed them.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

/// What a movement knows of its instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsStatus {
    /// Counted from 1. Each change is another revision.
    pub revision: u32,
    /// Their kind.
    pub kind: InstructionsKind,
    /// The last characters of the account number, a few only.
    pub ending: String,
    /// What the accounts that they name are compared by: one, or of a free text each number that could be an account or a
    /// code. None of those that were entered before there were digests, and these are read again where they are sealed.
    #[serde(default)]
    pub accounts: Vec<AccountDigest>,
    /// The member who entered this revision.
    pub entered_by: Actor,
    /// When.
    pub entered_at: Timestamp,
    /// The verification of this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<InstructionsVerification>,
    /// The changes, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<InstructionsChange>,
}

impl InstructionsStatus {
    /// Whether another member than the one who entered them has verified them.
    #[must_use]
    pub fn is_verified_by_another(&self) -> bool {
        self.verification.as_ref().is_some_and(|verification| verification.by.id != self.entered_by.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: InstructionsKind, number: &str, code: &str) -> Result<BankInstructions, Vec<String>> {
        let typed = |part: &str| match part {
            "number" => number.to_owned(),
            "code" => code.to_owned(),
            "text" => format!("Pay {number} at {code}, branch 7"),
            _ => "Northwind Robotics".to_owned(),
        };
        let fields = |errors: FieldErrors| errors.into_list().into_iter().map(|error| error.field).collect();
        BankInstructions::read(kind, typed).map_err(fields)
    }

    #[test]
    fn instructions_are_checked_by_their_kind() {
        let iban = read(InstructionsKind::Iban, "DE89 3704 0044 0532 0130 00", "DEUTDEFF").unwrap();
        assert_eq!((iban.kind(), iban.ending().as_str()), (InstructionsKind::Iban, "3000"));
        let aba = read(InstructionsKind::Aba, "000123456789", "021000021").unwrap();
        assert_eq!((aba.kind(), aba.ending().as_str()), (InstructionsKind::Aba, "6789"));
        for (kind, number, code, wrong) in [
            (InstructionsKind::Iban, "DE89 3704 0044 0532 0130 01", "", "number"),
            (InstructionsKind::Iban, "000123456789", "021000021", "number"),
            (InstructionsKind::Aba, "DE89 3704 0044 0532 0130 00", "021000021", "code"),
            (InstructionsKind::Aba, "000123456789", "021000022", "code"),
            (InstructionsKind::Aba, "000123456789", "DEUTDEFF", "code"),
        ] {
            assert_eq!(read(kind, number, code).unwrap_err(), [wrong], "{number} {code}");
        }
        let free = read(InstructionsKind::Other, "000123456789", "First Bank").unwrap();
        assert_eq!(
            (free.kind(), free.ending().as_str()),
            (InstructionsKind::Other, "6789"),
            "of a branch, too, there is a number"
        );
        for (text, ending) in [
            ("Account 000123456789, reference 2026", "6789"),
            ("Account 1234 5678 9012 at the branch in 10117 Berlin", "9012"),
            ("Phone 555-0100. Account NL-7731-00998877", "8877"),
            ("Pay at the counter", ""),
        ] {
            let typed = |part: &str| if part == "text" { text.to_owned() } else { String::new() };
            assert_eq!(BankInstructions::read(InstructionsKind::Other, typed).unwrap().ending(), ending, "{text}");
        }
        assert_eq!(
            BankInstructions::read(InstructionsKind::Other, |_| String::new()).unwrap_err().into_list().len(),
            1
        );
    }

    #[test]
    fn every_number_of_a_free_text_is_an_account_to_compare() {
        let typed =
            |_: &str| "BSB 062-000, account 1234 5678, for further credit to DE89 3704 0044 0532 0130 00".to_owned();
        let free = BankInstructions::read(InstructionsKind::Other, typed).unwrap();
        let expected = ["062000", "12345678", "DE89370400440532013000"].map(|text| BankAccount::of_text(text).unwrap());
        assert!(free.accounts() == expected);
        for (text, wrong) in [("Account ٠١٢٣٤٥٦٧٨".to_owned(), "digits"), ("12345, ".repeat(21), "at most")] {
            let errors = BankInstructions::read(InstructionsKind::Other, |_| text.clone()).unwrap_err().into_list();
            assert!(errors[0].message.contains(wrong), "{errors:?}");
        }
    }

    #[test]
    fn what_is_kept_beside_the_ciphertext_tells_no_more_than_the_last_characters() {
        let keys = Keyring::new("one").unwrap();
        let movement = MovementId::new();
        let clear = read(InstructionsKind::Aba, "000123456789", "021000021").unwrap();
        let org = OrgId::new();
        let new = clear.sealed((&keys, org), (movement, 1)).unwrap();
        let stored = serde_json::to_string(&new.sealed).unwrap() + &serde_json::to_string(&new.accounts).unwrap();
        for said in [format!("{clear:?}"), format!("{new:?}"), stored] {
            assert!(!said.contains("12345") && !said.contains("021000021"), "{said}");
        }
        assert_eq!(new.sealed.opened(&keys).unwrap(), clear);
        assert!(keys.open(&new.sealed.sealed, &place(movement, 2)).is_err());
        assert!(keys.open(&new.sealed.sealed, &place(MovementId::new(), 1)).is_err());
        let full = clear.in_full();
        assert!(full.contains(&("Account number", "000123456789".to_owned())), "{full:?}");
    }
}
