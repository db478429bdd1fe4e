//! Bank accounts, compared by what names them: instructions, what a member types, statements, and own accounts.
//!
//! Decision: banks name one account in many ways, so there are two comparisons.
//! - [`AccountDigest::is_exactly`]: equal country, code and number, for what a member types again.
//! - [`AccountDigest::compare`]: the same account, as far as both tell. Two IBANs are compared directly. Otherwise
//!   national bank codes (sort code, BSB, Bankleitzahl, also inside an IBAN) must agree, and the number decides.
//!   Routing numbers and BICs don't count, since banks have several. In some countries the number inside an IBAN has
//!   check digits that people omit elsewhere: then an IBAN and another number are never called two accounts.
//!
//! Decision: leading zeros of a number of digits are padding and don't count.

mod digest;
pub mod iban;
pub mod numbers;
pub mod text;

use std::collections::BTreeSet;
use std::fmt;

pub use digest::{AccountDigest, AccountKeys, Compared};
use iban::Iban;
use numbers::{is_bic, is_routing_number, normalized};

/// An account, normalized for comparison. Its `Debug` hides the number.
#[derive(Clone, PartialEq, Eq)]
pub struct BankAccount {
    number: AccountNumber,
    code: Option<BankCode>,
}

#[derive(Clone, PartialEq, Eq)]
enum AccountNumber {
    Iban(Iban),
    Other(String),
}

#[derive(Clone, PartialEq, Eq)]
enum BankCode {
    Routing(String),
    Bic(String),
    National(String),
}

const BIC_WITHOUT_BRANCH: usize = 8;
/// The length of a currency code, which statements append to numbers.
const CURRENCY_LETTERS: usize = 3;

impl fmt::Debug for BankAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BankAccount(…)")
    }
}

impl BankAccount {
    /// The account for a number or IBAN and a bank's code, possibly with labels and blanks. Ignores an impossible code.
    /// None if the number can't name an account: it has only zeros, or hidden characters (`XXXX1234`).
    #[must_use]
    pub fn new(number: &str, code: Option<&str>) -> Option<Self> {
        let number = AccountNumber::of(&normalized(number).text)?;
        Some(Self { number, code: code.and_then(|code| BankCode::of(&normalized(code).text)) })
    }

    /// The account that a statement names in one text: an IBAN, a number, or code/number (`:25:` of MT940).
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let whole = normalized(text).text;
        let (code, number) = match whole.rsplit_once('/') {
            Some((code, number)) => (Some(code), number),
            None => (None, whole.as_str()),
        };
        let without_currency = number.len().checked_sub(CURRENCY_LETTERS).and_then(|end| number.split_at_checked(end));
        let without_currency = without_currency.filter(|(left, currency)| {
            currency.bytes().all(|byte| byte.is_ascii_alphabetic())
                && (Iban::parse(left).is_some() || left.bytes().all(|byte| byte.is_ascii_digit()))
        });
        Self::new(without_currency.map_or(number, |(left, _)| left), code)
    }

    /// The account for a number or code from free text. None without ASCII letters or digits, or with others.
    #[must_use]
    pub fn of_text(number: &str) -> Option<Self> {
        let text = normalized(number).text.replace(text::GROUPING, "");
        if let Some(iban) = Iban::parse(&text) {
            return Some(Self { number: AccountNumber::Iban(iban), code: None });
        }
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain.then_some(Self { number: AccountNumber::Other(text), code: None })
    }

    /// The last characters of its number, as pages show them.
    #[must_use]
    pub fn ending(&self) -> String {
        match &self.number {
            AccountNumber::Iban(iban) => numbers::ending(iban.as_str()),
            AccountNumber::Other(number) => numbers::ending(number),
        }
    }

    fn exact(&self) -> String {
        let code = match &self.code {
            Some(BankCode::Routing(code)) => format!("US routing {code}"),
            Some(BankCode::Bic(code)) => format!("bic {code}"),
            Some(BankCode::National(code)) => format!("code {code}"),
            None => String::new(),
        };
        match &self.number {
            AccountNumber::Iban(iban) => format!("{code}, iban {}", iban.as_str()),
            AccountNumber::Other(number) => format!("{code}, number {}", without_zeros(number)),
        }
    }

    /// Whether its number is only ever written as [`coded`](Self::coded) and [`alone`](Self::alone) return it.
    fn is_plain(&self) -> bool {
        match &self.number {
            AccountNumber::Iban(iban) => iban.has_plain_number(),
            // The United States have no IBANs.
            AccountNumber::Other(_) => matches!(self.code, Some(BankCode::Routing(_))),
        }
    }

    fn iban(&self) -> Option<&str> {
        if let AccountNumber::Iban(iban) = &self.number { Some(iban.as_str()) } else { None }
    }

    /// Its number at its bank, combined with each national code that others may name.
    fn coded(&self) -> BTreeSet<String> {
        let (codes, number) = match (&self.number, &self.code) {
            (AccountNumber::Iban(iban), _) => (iban.codes(), iban.account()),
            (AccountNumber::Other(number), Some(BankCode::National(code))) => (vec![code.clone()], number.as_str()),
            (AccountNumber::Other(_), _) => return BTreeSet::new(),
        };
        codes.into_iter().map(|code| format!("{} {}", without_zeros(&code), without_zeros(number))).collect()
    }

    /// Its number without a code: at its bank, and with the bank's code as prefix.
    fn alone(&self) -> BTreeSet<String> {
        let (number, all) = match (&self.number, &self.code) {
            (AccountNumber::Iban(iban), _) => (iban.account(), iban.national().to_owned()),
            (AccountNumber::Other(number), Some(BankCode::National(code))) => {
                (number.as_str(), format!("{code}{number}"))
            }
            (AccountNumber::Other(number), _) => (number.as_str(), number.clone()),
        };
        [without_zeros(number).to_owned(), without_zeros(&all).to_owned()].into()
    }
}

impl AccountNumber {
    fn of(text: &str) -> Option<Self> {
        if let Some(iban) = Iban::parse(text) {
            return Some(Self::Iban(iban));
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && text.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
            && !text.starts_with("XX");
        is_number.then(|| Self::Other(text.to_owned()))
    }
}

impl BankCode {
    fn of(text: &str) -> Option<Self> {
        if is_routing_number(text) {
            return Some(Self::Routing(text.to_owned()));
        }
        if is_bic(text) {
            return text.get(..BIC_WITHOUT_BRANCH).map(|code| Self::Bic(code.to_owned()));
        }
        let is_national = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_national.then(|| Self::National(text.to_owned()))
    }
}

fn without_zeros(number: &str) -> &str {
    let is_numeric = number.bytes().all(|byte| byte.is_ascii_digit());
    if is_numeric { number.trim_start_matches('0') } else { number }
}
