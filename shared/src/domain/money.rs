//! Money: amounts in minor units, spelled the same way in the API and in the app.
//!
//! Decision: ISO 4217's currencies without minor units (gold, special drawing rights) are left out.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wire::fields::FieldCode;

/// An ISO 4217 currency with minor units, stored and written as its alphabetic code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

/// The text is not a currency of ISO 4217.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a currency of ISO 4217, such as USD")]
pub struct NotACurrency;

impl Currency {
    /// The currency with this alphabetic code, in upper case.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        iso_currency::Currency::from_code(code).filter(|found| found.exponent().is_some()).map(Self)
    }

    /// Parses a currency as typed, ignoring case and surrounding blanks.
    pub fn read(text: &str) -> Result<Self, NotACurrency> {
        Self::parse(&text.trim().to_ascii_uppercase()).ok_or(NotACurrency)
    }

    /// The alphabetic code, such as `USD`.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// The number of decimals: 2 for `USD`, 0 for `JPY`, 3 for `KWD`.
    #[must_use]
    pub fn digits(self) -> usize {
        self.0.exponent().map_or(DIGITS_OF_MOST, usize::from)
    }
}

impl TryFrom<String> for Currency {
    type Error = NotACurrency;

    fn try_from(code: String) -> Result<Self, NotACurrency> {
        Self::parse(&code).ok_or(NotACurrency)
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An amount of money: more than 0, at most 2^63−1 minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Money {
    amount_minor: i64,
    currency: Currency,
}

#[derive(Deserialize)]
struct Unchecked {
    amount_minor: i64,
    currency: Currency,
}

impl TryFrom<Unchecked> for Money {
    type Error = NotAnAmount;

    fn try_from(read: Unchecked) -> Result<Self, NotAnAmount> {
        Self::new(read.amount_minor, read.currency)
    }
}

impl Money {
    /// An amount in minor units; zero and negative ones are refused.
    pub fn new(amount_minor: i64, currency: Currency) -> Result<Self, NotAnAmount> {
        match amount_minor {
            0 => Err(NotAnAmount::Zero),
            ..0 => Err(NotAnAmount::Negative),
            1.. => Ok(Self { amount_minor, currency }),
        }
    }

    /// Parses an amount as typed; see [`read_minor`].
    pub fn read(text: &str, currency: Currency) -> Result<Self, NotAnAmount> {
        Self::new(read_minor(text, currency.code())?, currency)
    }

    /// The amount in minor units, always positive.
    #[must_use]
    pub fn amount_minor(self) -> i64 {
        self.amount_minor
    }

    /// The currency.
    #[must_use]
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// `amount_display` of the API (contract, section 1), such as `USD 1,250.00`.
    #[must_use]
    pub fn amount_display(self) -> String {
        in_api(self.amount_minor, self.currency.code())
    }

    /// The amount as the app shows it, such as `$1,250.00 USD`.
    #[must_use]
    pub fn for_people(self) -> String {
        in_app(self.amount_minor, self.currency.code())
    }
}

/// Why a text or number is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAmount {
    /// Not a number, or ambiguous.
    #[error("not a number")]
    NotANumber,
    /// Names another currency, or has a sign while no currency is chosen.
    #[error("the sign of another currency")]
    OtherCurrency,
    /// More decimals than the currency has; they would be rounded.
    #[error("more decimals than the currency has")]
    TooManyDecimals,
    /// More than 2^63−1 minor units.
    #[error("more than 2^63-1 minor units")]
    TooLarge,
    /// Zero.
    #[error("zero")]
    Zero,
    /// Negative.
    #[error("negative")]
    Negative,
}

impl NotAnAmount {
    /// What would be valid in a currency. Completes "The amount …".
    #[must_use]
    pub fn message(self, currency: &str) -> String {
        let digits = digits_of(currency);
        match (self, digits) {
            (Self::NotANumber, 0) => "must be a number such as 750,000".to_owned(),
            (Self::NotANumber, _) => format!("must be a number such as 750,000 or 750,000.5{:0>1$}", "", digits - 1),
            (Self::OtherCurrency, _) if currency.is_empty() => {
                "must be a number without a currency sign until a currency is chosen".to_owned()
            }
            (Self::OtherCurrency, _) => format!("has the sign of another currency than {currency}. Check both"),
            (Self::TooManyDecimals, 0) => format!("must be a whole number such as 750,000: {currency} has no decimals"),
            (Self::TooManyDecimals, _) => {
                let of = if currency.is_empty() { String::new() } else { format!(": {currency} has no more") };
                format!("must have at most {digits} decimals{of}")
            }
            (Self::TooLarge, _) => "is more than any bank moves".to_owned(),
            (Self::Zero | Self::Negative, _) => "must be more than zero".to_owned(),
        }
    }

    /// The field's error code.
    #[must_use]
    pub fn code(self) -> FieldCode {
        match self {
            Self::NotANumber | Self::TooManyDecimals => FieldCode::InvalidFormat,
            Self::OtherCurrency => FieldCode::InvalidValue,
            Self::TooLarge | Self::Zero | Self::Negative => FieldCode::OutOfRange,
        }
    }
}

const DIGITS_OF_MOST: usize = 2;

/// The decimals of a currency; 2 if the code is unknown or empty, as in a draft.
#[must_use]
pub fn digits_of(code: &str) -> usize {
    Currency::parse(code).map_or(DIGITS_OF_MOST, Currency::digits)
}

/// An amount in minor units as the API shows it, such as `USD 1,250.00`.
#[must_use]
pub fn in_api(minor: impl Into<i128>, currency: &str) -> String {
    let (sign, figures) = figures(minor, currency);
    format!("{currency} {sign}{figures}").trim_start().to_owned()
}

/// An amount as the app shows it, such as `$1,250.00 USD`: several currencies share a symbol.
#[must_use]
pub fn in_app(minor: impl Into<i128>, currency: &str) -> String {
    let minor: i128 = minor.into();
    let (sign, figures) = figures(minor, currency);
    match sign_of(currency) {
        Some(symbol) => format!("{sign}{symbol}{figures} {currency}"),
        None => in_api(minor, currency),
    }
}

fn sign_of(currency: &str) -> Option<&'static str> {
    match currency {
        "USD" | "CAD" | "AUD" | "NZD" | "HKD" | "SGD" | "MXN" => Some("$"),
        "EUR" => Some("€"),
        "GBP" => Some("£"),
        "JPY" | "CNY" => Some("¥"),
        "INR" => Some("₹"),
        _ => None,
    }
}

/// An amount in minor units as a form shows it, without its currency: `750,000.00`.
#[must_use]
pub fn in_form(minor: impl Into<i128>, currency: &str) -> String {
    let (sign, figures) = figures(minor, currency);
    format!("{sign}{figures}")
}

/// An amount in minor units for programs, without currency or separators: `750000.00`.
#[must_use]
pub fn in_file(minor: impl Into<i128>, currency: &str) -> String {
    in_form(minor, currency).replace(',', "")
}

fn figures(minor: impl Into<i128>, currency: &str) -> (&'static str, String) {
    let minor: i128 = minor.into();
    let digits = digits_of(currency);
    let sign = if minor < 0 { "-" } else { "" };
    let text = format!("{:0>width$}", minor.unsigned_abs(), width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    let point = if digits == 0 { "" } else { "." };
    (sign, format!("{}{point}{fraction}", groups.join(",")))
}

/// Parses an amount in minor units: `750,000`, `$750000.00`, `750k`, `1.5m`, `USD 750,000`, `750,000 €`. The currency's
/// own code and sign may stand on either side, once each. Another currency's are refused, and so is any sign without a
/// chosen currency, because nobody would notice a mismatch later. Commas, apostrophes and blanks may separate groups of
/// three digits; a period starts the decimals, at most as many as the currency has. The result may be 0.
pub fn read_minor(text: &str, currency: &str) -> Result<i64, NotAnAmount> {
    let text = text.trim();
    if let Some(positive) = text.strip_prefix(['-', '−']) {
        return Err(read_minor(positive, currency).map_or_else(|reason| reason, |_| NotAnAmount::Negative));
    }
    let code = currency.trim().to_ascii_uppercase();
    let upper = text.to_ascii_uppercase();
    let bare = without_currency(&upper, &code)?;
    let (number, zeros) = match bare.strip_suffix('K') {
        Some(number) => (number, 3),
        None => bare.strip_suffix('M').map_or((bare, 0), |number| (number, 6)),
    };
    let (whole, decimals) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), ""));
    if number.ends_with('.') || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotAnAmount::NotANumber);
    }
    let digits = without_separators(whole).ok_or(NotAnAmount::NotANumber)?;
    let places = digits_of(&code) + zeros;
    if decimals.len() > places {
        return Err(NotAnAmount::TooManyDecimals);
    }
    format!("{digits}{decimals:0<places$}").parse().map_err(|_| NotAnAmount::TooLarge)
}

fn without_currency<'a>(text: &'a str, code: &str) -> Result<&'a str, NotAnAmount> {
    const CODE: usize = 3;
    let mut bare = text;
    // The "$" of "5 US$" belongs to "US$".
    let ends_figures = |left: &&str| left.trim_end_matches(['K', 'M']).ends_with(|end: char| !end.is_alphabetic());
    for mark in marks_of(code) {
        let behind = || bare.strip_suffix(&*mark).filter(ends_figures);
        bare = bare.strip_prefix(&*mark).or_else(behind).map_or(bare, str::trim);
    }
    // Currency signs: the Unicode block and older ones.
    let is_sign = |letter: char| {
        matches!(letter, '$' | '¢' | '£' | '¤' | '¥' | '֏' | '؋' | '฿' | '₠'..='⃀' | '﷼' | '＄' | '￡' | '￥' | '￦')
    };
    let is_code = |text: &str| Currency::parse(text).is_some();
    let first = bare.get(..CODE).is_some_and(is_code);
    let last = bare.len().checked_sub(CODE).and_then(|at| bare.get(at..)).is_some_and(is_code);
    if bare.contains(is_sign) || first || last { Err(NotAnAmount::OtherCurrency) } else { Ok(bare) }
}

/// The marks that name a currency next to an amount: its code, its sign with its country, its sign.
fn marks_of(code: &str) -> Vec<String> {
    let Some(currency) = Currency::parse(code) else { return Vec::new() };
    let signs = sign_of(code).map(str::to_owned).into_iter().chain([currency.0.symbol().symbol]);
    let mut marks = vec![code.to_owned()];
    // These end with the plain sign, so they come first.
    let own = match code {
        "CAD" => "C$",
        "AUD" => "A$",
        "SGD" => "S$",
        "TWD" => "NT$",
        "BRL" => "R$",
        _ => "",
    };
    marks.extend((!own.is_empty()).then(|| own.to_owned()));
    for sign in signs.map(|sign| sign.to_uppercase()).filter(|sign| !sign.is_empty()) {
        marks.extend(code.get(..2).map(|country| format!("{country}{sign}")));
        marks.push(sign);
    }
    let mut known = BTreeSet::new();
    marks.retain(|mark| known.insert(mark.clone()));
    marks
}

pub(super) fn without_separators(text: &str) -> Option<String> {
    const GROUP: usize = 3;
    let separator = text.chars().find(|letter| !letter.is_ascii_digit());
    let Some(separator) = separator else { return (!text.is_empty()).then(|| text.to_owned()) };
    if ![',', '\'', '’', ' ', '\u{a0}', '\u{202f}'].contains(&separator) {
        return None;
    }
    let groups: Vec<&str> = text.split(separator).collect();
    let is_number = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = (1..=GROUP).contains(&groups.first()?.len());
    let rest = groups.iter().skip(1).all(|group| group.len() == GROUP);
    (first && rest && groups.iter().all(is_number)).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).unwrap()
    }

    #[test]
    fn a_currency_is_one_of_iso_4217_with_minor_units() {
        for (code, digits) in [("USD", 2), ("EUR", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), ("ISK", 0), ("IQD", 3)] {
            assert_eq!((currency(code).digits(), currency(code).code()), (digits, code));
        }
        for code in ["", "usd", "ABC", "US", "USDT", "XAU", "XXX", "XTS", "840"] {
            assert_eq!(Currency::parse(code), None, "{code}");
        }
        assert_eq!(Currency::read(" usd "), Ok(currency("USD")));
        assert_eq!(serde_json::json!(currency("KWD")), "KWD");
        assert!(serde_json::from_str::<Currency>("\"XAU\"").is_err());
    }

    #[test]
    fn an_amount_has_the_digits_of_its_currency() {
        for (minor, currency, api, app) in [
            (75_000_000, "USD", "USD 750,000.00", "$750,000.00 USD"),
            (5, "EUR", "EUR 0.05", "€0.05 EUR"),
            (1_234_567, "JPY", "JPY 1,234,567", "¥1,234,567 JPY"),
            (1_234_567, "KWD", "KWD 1,234.567", "KWD 1,234.567"),
            (-100, "USD", "USD -1.00", "-$1.00 USD"),
            (125_000, "", "1,250.00", "1,250.00"),
            (i64::MIN, "JPY", "JPY -9,223,372,036,854,775,808", "-¥9,223,372,036,854,775,808 JPY"),
        ] {
            assert_eq!((&*in_api(minor, currency), &*in_app(minor, currency)), (api, app));
        }
        assert_eq!(in_app(i128::from(i64::MAX) * 2, "USD"), "$184,467,440,737,095,516.14 USD");
        assert_eq!((&*in_file(125_000_000, "USD"), &*in_file(7, "KWD")), ("1250000.00", "0.007"));
        let money = Money::new(125_000, currency("USD")).unwrap();
        assert_eq!((&*money.amount_display(), &*money.for_people()), ("USD 1,250.00", "$1,250.00 USD"));
    }

    fn read(text: &str, code: &str) -> Result<i64, NotAnAmount> {
        Money::read(text, currency(code)).map(Money::amount_minor)
    }

    #[test]
    fn money_is_positive_and_has_no_more_decimals_than_its_currency() {
        for (text, code, minor) in [
            ("1,250.00", "USD", 125_000),
            ("0.01", "USD", 1),
            ("1250", "JPY", 1250),
            ("1.234", "KWD", 1234),
            ("5", "KWD", 5000),
            ("€250,000", "EUR", 25_000_000),
            ("250,000 €", "EUR", 25_000_000),
            ("250k€", "EUR", 25_000_000),
            ("US$ 5", "USD", 500),
            ("5 $", "CAD", 500),
            ("C$5", "CAD", 500),
            ("5 C$", "CAD", 500),
            ("CA$5", "CAD", 500),
            ("A$5", "AUD", 500),
            ("5k A$", "AUD", 500_000),
            ("AU$5", "AUD", 500),
            ("S$5", "SGD", 500),
            ("5 S$", "SGD", 500),
            ("NZ$5", "NZD", 500),
            ("HK$5", "HKD", 500),
            ("NT$5", "TWD", 500),
            ("R$5", "BRL", 500),
            ("MX$5", "MXN", 500),
            ("5 US$", "USD", 500),
            ("$5", "AUD", 500),
            ("¥1,250", "JPY", 1250),
            ("₩5", "KRW", 5),
            ("kr 5", "SEK", 500),
            ("9223372036854775807", "JPY", i64::MAX),
            ("92233720368547758.07", "USD", i64::MAX),
        ] {
            assert_eq!(read(text, code), Ok(minor), "{text} {code}");
        }
        for (text, code, reason) in [
            ("0", "USD", NotAnAmount::Zero),
            ("0.00", "USD", NotAnAmount::Zero),
            ("-5", "USD", NotAnAmount::Negative),
            ("−5", "USD", NotAnAmount::Negative),
            ("-", "USD", NotAnAmount::NotANumber),
            ("9223372036854775808", "JPY", NotAnAmount::TooLarge),
            ("92233720368547758.08", "USD", NotAnAmount::TooLarge),
            ("1.234", "USD", NotAnAmount::TooManyDecimals),
            ("1.5", "JPY", NotAnAmount::TooManyDecimals),
            ("1.2345", "KWD", NotAnAmount::TooManyDecimals),
            ("1.250,00", "USD", NotAnAmount::NotANumber),
            ("EUR 5", "USD", NotAnAmount::OtherCurrency),
            ("5 eur", "USD", NotAnAmount::OtherCurrency),
            ("€250,000", "USD", NotAnAmount::OtherCurrency),
            ("250,000 €", "USD", NotAnAmount::OtherCurrency),
            ("-€5", "USD", NotAnAmount::OtherCurrency),
            ("$250,000", "EUR", NotAnAmount::OtherCurrency),
            ("CA$5", "USD", NotAnAmount::OtherCurrency),
            ("5 CA$", "USD", NotAnAmount::OtherCurrency),
            ("5 US$", "SGD", NotAnAmount::OtherCurrency),
            ("C$5", "USD", NotAnAmount::OtherCurrency),
            ("A$5", "CAD", NotAnAmount::OtherCurrency),
            ("C$C$5", "CAD", NotAnAmount::OtherCurrency),
            ("£5", "JPY", NotAnAmount::OtherCurrency),
            ("$$5", "USD", NotAnAmount::OtherCurrency),
            ("₩5", "KWD", NotAnAmount::OtherCurrency),
        ] {
            assert_eq!(read(text, code), Err(reason), "{text} {code}");
        }
    }

    #[test]
    fn what_is_stored_is_checked_like_what_is_typed() {
        for text in [
            r#"{"amount_minor":0,"currency":"USD"}"#,
            r#"{"amount_minor":-1,"currency":"USD"}"#,
            r#"{"amount_minor":9223372036854775808,"currency":"USD"}"#,
            r#"{"amount_minor":1,"currency":"XXX"}"#,
        ] {
            assert!(serde_json::from_str::<Money>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_are_read_as_people_type_them() {
        for (text, expected) in [
            ("750000", 75_000_000),
            ("750,000", 75_000_000),
            (" $750,000.00 ", 75_000_000),
            ("USD 750,000", 75_000_000),
            ("750,000 usd", 75_000_000),
            ("750'000.5", 75_000_050),
            ("750 000", 75_000_000),
            ("750k", 75_000_000),
            ("1.5m", 150_000_000),
            ("1.25 M", 125_000_000),
            ("0.01", 1),
            ("0", 0),
        ] {
            assert_eq!(read_minor(text, "USD"), Ok(expected), "{text}");
        }
        for text in [
            "",
            "$",
            "abc",
            "-5",
            "1.234,56",
            "1,50",
            "7,50,000",
            "1,234'567",
            "12.345",
            "1.",
            ".5",
            "1e6",
            "1,,000",
            "EUR 5",
            "99999999999999999999",
        ] {
            assert!(read_minor(text, "USD").is_err(), "{text}");
        }
    }

    #[test]
    fn a_refusal_says_what_would_be_right_in_the_currency() {
        let told = |reason: NotAnAmount, currency: &str| reason.message(currency);
        assert_eq!(told(NotAnAmount::NotANumber, "USD"), "must be a number such as 750,000 or 750,000.50");
        assert_eq!(told(NotAnAmount::NotANumber, "KWD"), "must be a number such as 750,000 or 750,000.500");
        assert_eq!(told(NotAnAmount::NotANumber, "JPY"), "must be a number such as 750,000");
        let yen = "must be a whole number such as 750,000: JPY has no decimals";
        assert_eq!(told(NotAnAmount::TooManyDecimals, "JPY"), yen);
        assert_eq!(told(NotAnAmount::OtherCurrency, "USD"), "has the sign of another currency than USD. Check both");
        assert_eq!(read_minor("$5", ""), Err(NotAnAmount::OtherCurrency), "no currency to compare it with");
        assert_eq!(read_minor("5", ""), Ok(500));
        assert_eq!(told(NotAnAmount::TooManyDecimals, "USD"), "must have at most 2 decimals: USD has no more");
        assert_eq!(told(NotAnAmount::TooManyDecimals, ""), "must have at most 2 decimals");
    }

    proptest! {
        #[test]
        fn money_is_read_as_it_was_shown(minor in 1..i64::MAX, code in prop::sample::select(vec!["USD", "JPY", "KWD", "CLF"])) {
            let money = Money::new(minor, currency(code)).unwrap();
            for shown in [money.amount_display(), money.for_people(), in_form(minor, code)] {
                prop_assert_eq!(Money::read(&shown, currency(code)), Ok(money));
            }
            let stored = serde_json::to_string(&money).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&stored).unwrap(), money);
        }
    }
}
