//! Currencies and exact amounts: no floating-point numbers.
//!
//! Decision: `iso_currency` gives the number of decimals: it knows the funds with four decimals and the latest codes
//! (XCG, ZWG, XAD), and is small. `rust_iso4217` needs `phf`, `iso4217` was last released in 2018, and `rusty-money`
//! brings decimals and formats that nothing needs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::text::quoted;

pub(crate) const GROUP: usize = 3;

/// A currency of ISO 4217 that has amounts: no metals, no codes for tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// Reads a code of three letters, in capitals or not.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        let code = code.trim().to_ascii_uppercase();
        let currency = iso_currency::Currency::from_code(&code)?;
        currency.exponent().map(|_| Self(currency))
    }

    /// The code of three capital letters.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// The number of decimals: 2 for EUR, 0 for JPY, 3 for KWD.
    #[must_use]
    pub fn decimals(self) -> usize {
        self.0.exponent().map_or(0, usize::from)
    }

    /// The symbol that people write before or after an amount.
    pub(crate) fn symbol(self) -> String {
        self.0.symbol().symbol
    }

    /// An amount in minor units with its decimals and code, for messages: `1250.50 EUR`.
    #[must_use]
    pub fn written(self, minor: i128) -> String {
        let decimals = self.decimals();
        let sign = if minor < 0 { "-" } else { "" };
        let digits = format!("{:0>width$}", minor.unsigned_abs(), width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        let mark = if decimals == 0 { "" } else { "." };
        format!("{sign}{whole}{mark}{fraction} {}", self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}

impl TryFrom<String> for Currency {
    type Error = &'static str;

    fn try_from(code: String) -> Result<Self, Self::Error> {
        Self::parse(&code).ok_or("is not a currency of ISO 4217")
    }
}

/// Reads an unsigned number with at most one decimal mark and no separators, in minor units. Decimals beyond the
/// currency's may only be zeros.
pub(crate) fn minor_units(number: &str, mark: char, currency: Currency) -> Result<i64, Problem> {
    let (whole, fraction) = number.split_once(mark).unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return Err(Problem::NotAnAmount { value: quoted(number), mark });
    }
    let decimals = currency.decimals();
    let (kept, rest) = fraction.split_at(decimals.min(fraction.len()));
    if rest.bytes().any(|byte| byte != b'0') {
        return Err(Problem::TooManyDecimals { value: quoted(number), currency });
    }
    let digits = format!("{whole}{kept:0<decimals$}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    digits.parse().map_err(|_| Problem::AmountTooLarge { value: quoted(number) })
}

/// The digits of a whole number, whose groups of three may be separated by one character other than the decimal mark.
pub(crate) fn without_separators(whole: &str, mark: char) -> Option<String> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let Some(separator) = whole.chars().find(|letter| !is_digit(*letter)) else { return Some(whole.to_owned()) };
    if separator == mark || !['.', ',', '\'', '’', ' ', '\u{a0}', '\u{202f}'].contains(&separator) {
        return None;
    }
    let groups: Vec<&str> = whole.split(separator).collect();
    let (first, rest) = groups.split_first()?;
    let fits = (1..=GROUP).contains(&first.len()) && rest.iter().all(|group| group.len() == GROUP);
    (fits && groups.iter().all(|group| group.chars().all(is_digit))).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).unwrap()
    }

    #[test]
    fn amounts_have_the_decimals_of_their_currency() {
        for (text, code, minor) in [
            ("1250.50", "EUR", 125_050),
            ("1250.5", "EUR", 125_050),
            ("1250", "EUR", 125_000),
            ("1250.", "EUR", 125_000),
            (".5", "EUR", 50),
            ("0.01000", "EUR", 1),
            ("1250", "JPY", 1_250),
            ("1250.00", "JPY", 1_250),
            ("1.234", "KWD", 1_234),
            ("1.2", "BHD", 1_200),
            ("1.2345", "CLF", 12_345),
            ("0.00", "EUR", 0),
            ("92233720368547758.07", "USD", i64::MAX),
            ("000000000000000000000000000001", "USD", 100),
        ] {
            assert_eq!(minor_units(text, '.', currency(code)), Ok(minor), "{text} {code}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for (text, code) in [
            ("", "EUR"),
            (".", "EUR"),
            ("-1", "EUR"),
            ("+1", "EUR"),
            ("1,250.50", "EUR"),
            ("1.2.3", "EUR"),
            ("1e3", "EUR"),
            ("١٢", "EUR"),
            ("1.005", "EUR"),
            ("1.5", "JPY"),
            ("1.2345", "KWD"),
            ("92233720368547758.08", "USD"),
            ("9999999999999999999999999999999999999", "USD"),
        ] {
            assert!(minor_units(text, '.', currency(code)).is_err(), "{text} {code}");
        }
    }

    #[test]
    fn only_currencies_with_amounts_are_currencies() {
        for code in ["XAU", "XXX", "XTS", "EURO", "", "E1R", "ABC", "ЕUR"] {
            assert_eq!(Currency::parse(code), None, "{code}");
        }
        assert_eq!(currency(" usd ").code(), "USD");
    }

    #[test]
    fn amounts_are_written_with_all_their_decimals() {
        for (minor, code, expected) in [
            (125_050, "EUR", "1250.50 EUR"),
            (-5, "EUR", "-0.05 EUR"),
            (0, "KWD", "0.000 KWD"),
            (1_250, "JPY", "1250 JPY"),
        ] {
            assert_eq!(currency(code).written(minor), expected);
        }
    }

    #[test]
    fn a_currency_is_remembered_by_its_code() {
        assert_eq!(serde_json::to_string(&currency("EUR")).unwrap(), "\"EUR\"");
        assert_eq!(serde_json::from_str::<Currency>("\"EUR\"").unwrap(), currency("EUR"));
        assert!(serde_json::from_str::<Currency>("\"XXX\"").is_err());
    }
}
