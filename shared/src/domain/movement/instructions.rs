//! Payment instructions: where the sender sends the money. They are sealed at once for their movement and revision, and
//! shown again only on the sender's own page. A movement keeps their last characters, and digests of their accounts,
//! which only tell whether another account is the same.
//!
//! Decision: the verifying member types the numbers that the payee reads out ([`ToTypeAgain`]), without seeing them
//! first, and learns only whether all match. After [`limits::INSTRUCTION_TRIES_MAX`] wrong tries by all members
//! together, the instructions have to be entered again, possibly unchanged. So numbers can't be guessed, and wrongly
//! entered instructions are noticed.
//!
//! Decision: changing payment instructions is the usual way to steal a deal's money. So any change ends the
//! verification and withdraws the release; while money is in flight, it also raises an exception. Every change stays on
//! record with the last characters before and after.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::safe_text::SafeLine;
use super::{Release, Stamp};
use crate::crypto::keyring::{Keyring, SealError, Sealed};
use crate::domain::actor::Actor;
use crate::domain::bank_account::numbers::{
    NOT_A_BANK_CODE, NOT_A_BIC, NOT_A_ROUTING_NUMBER, NOT_AN_ACCOUNT_NUMBER, NOT_AN_IBAN, ending, read_account_number,
    read_bank_code,
};
use crate::domain::bank_account::text::{NumberFault, NumberInText, has_other_digits, has_other_letters, numbers_in};
use crate::domain::bank_account::{AccountDigest, AccountKeys, BankAccount};
use crate::domain::ids::{MovementId, OrgId};
use crate::domain::information::bank_details::BankDetails;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldError, FieldErrors};
use crate::wire::text::check_lines;

text_enum! {
    /// The kind of instructions.
    pub enum InstructionsKind {
        /// An IBAN, with or without a BIC.
        Iban = "iban",
        /// A United States routing number and account number.
        Aba = "aba",
        /// Another account, or free text.
        Other = "other",
    }
}

/// Instructions in clear. `Debug` hides them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BankInstructions {
    /// An account.
    Account(BankDetails),
    /// Free text, for banks that need something else.
    Free(String),
}

impl fmt::Debug for BankInstructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BankInstructions(…)")
    }
}

impl BankInstructions {
    /// Parses typed instructions: the parts of [`BankDetails`], or `text` for free text. Errors by part.
    pub fn read(kind: InstructionsKind, typed: impl Fn(&str) -> String) -> Result<Self, FieldErrors> {
        if kind == InstructionsKind::Other {
            let text = check_lines(&typed("text"), limits::INSTRUCTIONS_CHARS_MAX);
            let text = text.map_err(|(code, message)| FieldErrors::one("text", code, message))?;
            let refused = |message: &str| Err(FieldErrors::one("text", FieldCode::InvalidValue, message));
            if has_other_digits(&text) {
                return refused("must write numbers with the digits 0 to 9");
            }
            if has_other_letters(&text) {
                return refused(
                    "must write IBANs and BICs with the letters A to Z, which letters of other scripts look like",
                );
            }
            let (numbers, max) = (numbers_in(&text), limits::INSTRUCTIONS_NUMBERS_MAX);
            if let Some(fault) = numbers.iter().find_map(|number| number.fault) {
                return refused(match fault {
                    NumberFault::Iban => "must not have an IBAN that isn’t valid. Compare it with your bank statement",
                    NumberFault::RoutingNumber => {
                        "must not have a routing number that isn’t valid. Compare it with your bank statement"
                    }
                });
            }
            if !numbers.iter().any(|number| digits(&number.text) >= ACCOUNT_DIGITS_MIN) {
                return refused("must have the number of the account");
            }
            if numbers.len() > max {
                return refused(&format!("must have at most {max} numbers: a second member types each of them"));
            }
            return Ok(Self::Free(text));
        }
        let code_is_missing = kind == InstructionsKind::Aba && typed("code").trim().is_empty();
        let read = BankDetails::read(typed).map_err(|errors| of_kind(kind, code_is_missing, errors))?;
        let wrong = |part: &str, message: &str| Err(FieldErrors::one(part, FieldCode::InvalidValue, message));
        match (kind, read.is_iban()) {
            (InstructionsKind::Iban, false) => wrong("number", NOT_AN_IBAN),
            (InstructionsKind::Aba, true) => {
                wrong("number", "must be an account number of the United States, not an IBAN")
            }
            (InstructionsKind::Aba, false) if !read.has_routing_number() => wrong("code", NO_ROUTING_NUMBER),
            _ => Ok(Self::Account(read)),
        }
    }

    /// The instructions in a participant's accepted answer.
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

    /// The last characters of the account number, or of the number with the most digits in free text.
    #[must_use]
    pub fn ending(&self) -> String {
        match self {
            Self::Account(details) => details.ending(),
            Self::Free(text) => {
                // A word with some digits counts only if nothing looks more like an account number.
                let likelihood = |number: &NumberInText| (has_form_of_account(&number.text), digits(&number.text));
                let likeliest = numbers_in(text).into_iter().max_by_key(likelihood);
                likeliest.map(|number| ending(&number.text)).unwrap_or_default()
            }
        }
    }

    /// The accounts they name: one, or each number of free text, in order.
    #[must_use]
    pub fn accounts(&self) -> Vec<BankAccount> {
        match self {
            Self::Account(details) => details.account().into_iter().collect(),
            Self::Free(text) => {
                numbers_in(text).iter().filter_map(|number| BankAccount::of_text(&number.text)).collect()
            }
        }
    }

    /// What a member has to type again for verification.
    #[must_use]
    pub fn to_type_again(&self) -> ToTypeAgain {
        match self {
            Self::Account(details) => ToTypeAgain::Account { kind: self.kind(), has_code: details.has_code() },
            Self::Free(text) => {
                let (mut masked, mut end, mut count) = (String::new(), 0, 0);
                for number in numbers_in(text) {
                    count += 1;
                    let before = text.get(end..number.range.start).unwrap_or_default();
                    // The verifying member must know that the code may be a word.
                    let letters = match digits(&number.text) {
                        0 => format!(": a code, or a word, of {} letters", number.text.len()),
                        _ => String::new(),
                    };
                    masked.extend([before, MASKED, " (number ", &count.to_string(), &letters, ")"]);
                    end = number.range.end;
                }
                masked.push_str(text.get(end..).unwrap_or_default());
                ToTypeAgain::Numbers { text: masked, count }
            }
        }
    }

    /// The labeled lines in full, only for the sender's own page.
    #[must_use]
    pub fn in_full(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Account(details) => details.in_full(),
            Self::Free(text) => vec![("Instructions", text.clone())],
        }
    }

    /// Seals them for a revision of a movement's instructions, for an organization.
    pub fn sealed(
        &self,
        keys: &Keyring,
        org: OrgId,
        movement_id: MovementId,
        revision: u32,
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

/// The errors of an account's parts, in the words of its kind.
fn of_kind(kind: InstructionsKind, code_is_missing: bool, errors: FieldErrors) -> FieldErrors {
    let mut found = FieldErrors::default();
    for FieldError { field, code, message } in errors.into_list() {
        // What has no code is meant as an IBAN.
        match (field.as_str(), code, kind) {
            ("code", FieldCode::Required, InstructionsKind::Iban) => {
                found.extend(FieldErrors::one("number", FieldCode::InvalidValue, NOT_AN_IBAN));
            }
            ("code", FieldCode::Required, InstructionsKind::Aba) => {}
            _ => found.extend(FieldErrors::one(field, code, in_words_of(kind, &message))),
        }
    }
    // Without it, other details may still be whole ones.
    if code_is_missing {
        found.extend(FieldErrors::one("code", FieldCode::Required, "is missing"));
    }
    found
}

const NO_ROUTING_NUMBER: &str = "must have 9 digits";

/// What is valid in an account of a kind, in place of what is valid in some account.
fn in_words_of(kind: InstructionsKind, message: &str) -> &str {
    match (kind, message) {
        (InstructionsKind::Iban, NOT_AN_ACCOUNT_NUMBER) => NOT_AN_IBAN,
        (InstructionsKind::Iban, NOT_A_BANK_CODE | NOT_A_ROUTING_NUMBER) => NOT_A_BIC,
        (InstructionsKind::Aba, NOT_AN_ACCOUNT_NUMBER) => "must be an account number of 4 to 34 letters and digits",
        (InstructionsKind::Aba, NOT_A_BANK_CODE | NOT_A_BIC) => NO_ROUTING_NUMBER,
        (_, message) => message,
    }
}

/// What a member types again to verify instructions, in the order of [`BankInstructions::accounts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToTypeAgain {
    /// The account number and, if given, the bank's code.
    Account {
        /// Their kind.
        kind: InstructionsKind,
        /// Whether there is a code.
        has_code: bool,
    },
    /// The numbers in free text, which is shown without them.
    Numbers {
        /// The text without its numbers.
        text: String,
        /// How many numbers there are.
        count: usize,
    },
}

const MASKED: &str = "▒▒▒▒";

impl ToTypeAgain {
    /// The names of the fields to type: `number` and `code` of an account, `number_1` and so on for free text.
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        match self {
            Self::Account { has_code, .. } => {
                ["number", "code"].into_iter().take(1 + usize::from(*has_code)).map(str::to_owned).collect()
            }
            Self::Numbers { count, .. } => (1..=*count).map(|number| format!("number_{number}")).collect(),
        }
    }

    /// Parses what was typed. Impossible numbers are errors by field, and don't count as a try.
    pub fn read<'a>(&self, typed: impl Fn(&str) -> &'a str) -> Result<Vec<BankAccount>, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut accounts = Vec::new();
        let fields = self.fields();
        for field in &fields {
            if typed(field).trim().is_empty() {
                errors.extend(FieldErrors::one(field, FieldCode::Required, "is missing"));
            }
        }
        let mut invalid = |field: &str, message: &str| {
            if !typed(field).trim().is_empty() {
                errors.extend(FieldErrors::one(field, FieldCode::InvalidValue, message));
            }
        };
        match self {
            Self::Account { kind, has_code } => {
                let mut invalid = |field: &str, message: &str| invalid(field, in_words_of(*kind, message));
                let number = read_account_number(typed("number")).map_err(|message| invalid("number", message));
                let code = has_code.then(|| read_bank_code(typed("code")).map_err(|message| invalid("code", message)));
                if let (Ok(number), Ok(code)) = (number, code.transpose()) {
                    accounts.extend(BankAccount::new(&number, code.as_deref()));
                }
            }
            Self::Numbers { .. } => {
                for field in &fields {
                    match BankAccount::of_text(typed(field)) {
                        Some(number) => accounts.push(number),
                        None => invalid(field, "must have letters and digits only"),
                    }
                }
            }
        }
        if errors.is_empty() { Ok(accounts) } else { Err(errors) }
    }
}

fn has_form_of_account(number: &str) -> bool {
    let begins_like_iban = match number.as_bytes() {
        [one, two, check, digit, ..] => {
            one.is_ascii_alphabetic() && two.is_ascii_alphabetic() && check.is_ascii_digit() && digit.is_ascii_digit()
        }
        _ => false,
    };
    begins_like_iban || number.bytes().all(|byte| byte.is_ascii_digit())
}

const ACCOUNT_DIGITS_MIN: usize = 4;

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// What instructions are sealed for: they open nowhere else.
#[must_use]
pub fn place(movement: MovementId, revision: u32) -> String {
    format!("instructions {movement} {revision}")
}

/// Sealed instructions, a separate record that only the sender's page reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedInstructions {
    /// The movement.
    pub movement_id: MovementId,
    /// Counted from 1 per movement.
    pub revision: u32,
    /// The [`BankInstructions`], sealed for [`place`].
    pub sealed: Sealed,
}

impl SealedInstructions {
    /// The instructions in clear.
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
    pub(super) are_as_before: bool,
}

impl NewInstructions {
    /// Compares them with the previous revision: the same account with another holder is a change.
    #[must_use]
    pub fn after(self, before: Option<&BankInstructions>, new: &BankInstructions) -> Self {
        Self { are_as_before: before == Some(new), ..self }
    }
}

text_enum! {
    /// How instructions were verified: the payee reads the account out. What compares with a paper, or with an earlier
    /// payment, asks nobody who knows whether the account is still theirs.
    pub enum VerificationMethod {
        /// A call back to a previously known number.
        CallBack = "call_back",
        /// In person.
        InPerson = "in_person",
    }
}

text_enum! {
    /// The source of the number at which a member reached the payee. The message with the instructions is not offered:
    /// a forger would include their own number.
    pub enum NumberSource {
        /// From earlier dealings.
        EarlierDealings = "earlier_dealings",
        /// From a public register.
        PublicRegister = "public_register",
        /// Received in person.
        InPerson = "in_person",
    }
}

/// The call in which instructions were read out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The telephone number.
    pub number: SafeLine,
    /// Where the member got it from.
    pub source: NumberSource,
}

/// Who read instructions out to a member, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVerification {
    method: VerificationMethod,
    read_out_by: SafeLine,
    call: Option<Call>,
}

impl NewVerification {
    /// Parses what a member typed: `method`, `read_out_by`, and for a call back `phone` and `phone_source`.
    pub fn read<'a>(typed: impl Fn(&str) -> &'a str) -> Result<Self, FieldErrors> {
        let not_chosen = |part: &str| FieldErrors::one(part, FieldCode::Required, "must be chosen");
        let line = |part: &str| {
            if typed(part).trim().is_empty() {
                return Err(FieldErrors::one(part, FieldCode::Required, "is missing"));
            }
            SafeLine::parse(typed(part)).map_err(|(code, message)| FieldErrors::one(part, code, message))
        };
        let mut errors = FieldErrors::default();
        let mut keep = |error: FieldErrors| errors.extend(error);
        let method = VerificationMethod::parse(typed("method"));
        let method = method.ok_or_else(|| not_chosen("method")).map_err(&mut keep).ok();
        let read_out_by = line("read_out_by").map_err(&mut keep).ok();
        let call = if method == Some(VerificationMethod::CallBack) {
            let number = line("phone").and_then(read_phone).map_err(&mut keep).ok();
            let source = NumberSource::parse(typed("phone_source")).ok_or_else(|| not_chosen("phone_source"));
            number.zip(source.map_err(&mut keep).ok()).map(|(number, source)| Call { number, source })
        } else {
            None
        };
        match (method, read_out_by) {
            (Some(method), Some(read_out_by)) if errors.is_empty() => Ok(Self { method, read_out_by, call }),
            _ => Err(errors),
        }
    }

    pub(super) fn by(self, Stamp { at, by }: Stamp, is_alone: bool) -> InstructionsVerification {
        let Self { method, read_out_by, call } = self;
        InstructionsVerification { method, read_out_by, call, by, at, is_alone }
    }
}

fn read_phone(line: SafeLine) -> Result<SafeLine, FieldErrors> {
    const DIGITS: std::ops::RangeInclusive<usize> = 5..=15;
    let is_phone = |letter: char| letter.is_ascii_digit() || matches!(letter, ' ' | '+' | '(' | ')' | '-' | '.' | '/');
    if line.as_str().chars().all(is_phone) && DIGITS.contains(&digits(line.as_str())) {
        return Ok(line);
    }
    let message = "must be a phone number, such as +1 212 555 0100";
    Err(FieldErrors::one("phone", FieldCode::InvalidFormat, message))
}

/// A member's verification of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsVerification {
    /// How.
    pub method: VerificationMethod,
    /// Who read them out.
    pub read_out_by: SafeLine,
    /// The call. None for meetings in person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Who verified them.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Whether nobody counted as a second member, so that it isn't a second member's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alone: bool,
}

/// A change of instructions, showing only last characters.
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
    /// The verification of the previous revision, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<InstructionsVerification>,
    /// Its release, if the sender still had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
}

/// The last released revision: what the sender was told to pay to, even after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleasedRevision {
    /// The revision.
    pub revision: u32,
    /// The digests of its accounts.
    pub accounts: Vec<AccountDigest>,
}

/// What a movement knows about its instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsStatus {
    /// Counted from 1, increased by each change.
    pub revision: u32,
    /// Their kind.
    pub kind: InstructionsKind,
    /// The last few characters of the account number.
    pub ending: String,
    /// Digests of the accounts they name: one, or one per number in free text.
    pub accounts: Vec<AccountDigest>,
    /// The member who entered this revision.
    pub entered_by: Actor,
    /// When.
    pub entered_at: Timestamp,
    /// The verification of this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<InstructionsVerification>,
    /// The number of failed tries to verify this revision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_tries: u32,
    /// The last released revision. Evidence is compared with it, never with unreleased instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_last: Option<ReleasedRevision>,
    /// The changes, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<InstructionsChange>,
}

impl InstructionsStatus {
    /// Whether a second member has verified them.
    #[must_use]
    pub fn is_verified_by_another(&self) -> bool {
        self.verification.as_ref().is_some_and(|found| found.by.id != self.entered_by.id && !found.is_alone)
    }

    /// The remaining tries to verify them.
    #[must_use]
    pub fn tries_left(&self) -> u32 {
        limits::INSTRUCTION_TRIES_MAX.saturating_sub(self.wrong_tries)
    }

    /// Whether nobody can verify this revision anymore, after too many wrong tries.
    #[must_use]
    pub fn has_verification_ended(&self) -> bool {
        self.verification.is_none() && self.tries_left() == 0
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
