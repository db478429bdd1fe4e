//! Amounts in minor units, without floating-point arithmetic.

use crate::currency::Currency;
use crate::problem::Problem;
use crate::text::quoted;

pub(crate) const GROUP: usize = 3;

/// Reads an unsigned number without group separators, in minor units. Decimals beyond the currency's must be zeros.
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

/// Returns the digits of a whole number whose groups of three may be separated by anything but the decimal mark.
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
}
