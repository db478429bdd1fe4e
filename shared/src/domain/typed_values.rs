//! Parses numbers and percentages as people type them ([`money`](super::money) has amounts). Refuses ambiguous input.

use super::money::without_separators;

/// Why a text is not a percentage. Completes "The discount …".
pub const NOT_A_PERCENTAGE: &str = "must be a percentage between 0 and 100, such as 20 or 12.5%";

/// Why a text is not a number. Completes "Your answer …".
pub const NOT_A_NUMBER: &str = "must be a number such as 1,250 or -3.5";

/// Parses a number into a decimal string: `1,250.50` is `1250.50`, `-007` is `-7`. At most 30 digits.
#[must_use]
pub fn read_number(text: &str) -> Option<String> {
    const DIGITS_MAX: usize = 30;
    let text = text.trim();
    let (sign, number) = match text.strip_prefix(['-', '−']) {
        Some(number) => ("-", number),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if number.ends_with('.') || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = if whole.is_empty() { "0".to_owned() } else { without_separators(whole)? };
    let digits = digits.trim_start_matches('0');
    if number.is_empty() || digits.len() + decimals.len() > DIGITS_MAX {
        return None;
    }
    let digits = if digits.is_empty() { "0" } else { digits };
    let is_zero = digits == "0" && decimals.bytes().all(|byte| byte == b'0');
    let sign = if is_zero { "" } else { sign };
    Some(if decimals.is_empty() { format!("{sign}{digits}") } else { format!("{sign}{digits}.{decimals}") })
}

/// Parses a percentage into a rate: `20` and `20%` are `0.20`, `12.5` is `0.125`. Below 1 it needs the sign.
#[must_use]
pub fn read_percentage(text: &str) -> Option<String> {
    const DECIMALS_MAX: usize = 2;
    let text = text.trim();
    let (number, has_sign) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (text, false),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let whole = if whole.is_empty() && !decimals.is_empty() { "0" } else { whole };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if number.ends_with('.') || !are_digits(whole) || !are_digits(decimals) || decimals.len() > DECIMALS_MAX {
        return None;
    }
    let percent: u32 = whole.parse().ok()?;
    if percent >= 100 || (percent == 0 && !has_sign) {
        return None;
    }
    let digits = format!("{percent:02}{decimals}");
    let shortest = digits.trim_end_matches('0');
    if shortest.is_empty() {
        return None;
    }
    Some(format!("0.{shortest:0<2}"))
}

/// The percentage probably meant by a text refused because it looks like a rate: `20%` for `0.2`.
#[must_use]
pub fn meant_percentage(text: &str) -> Option<String> {
    let (whole, decimals) = text.trim().split_once('.')?;
    let is_rate = matches!(whole, "" | "0") && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let decimals = decimals.trim_end_matches('0');
    (is_rate && !decimals.is_empty()).then(|| write_percentage(&format!("0.{decimals}")))
}

/// A decimal fraction as a percentage: `0.20` is `20%`, `0.125` is `12.5%`.
#[must_use]
pub fn write_percentage(rate: &str) -> String {
    const SHIFT: usize = 2;
    let (whole, fraction) = rate.split_once('.').unwrap_or((rate, ""));
    let digits = format!("{whole}{fraction:0<SHIFT$}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return rate.to_owned();
    }
    let (units, places) = digits.split_at(whole.len() + SHIFT);
    let units = units.trim_start_matches('0');
    let units = if units.is_empty() { "0" } else { units };
    if places.is_empty() { format!("{units}%") } else { format!("{units}.{places}%") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, expected) in [
            ("12", "12"),
            (" 1,250.50 ", "1250.50"),
            ("-007", "-7"),
            ("−3.5", "-3.5"),
            ("+4", "4"),
            (".5", "0.5"),
            ("-0.0", "0.0"),
            ("1 000 000", "1000000"),
        ] {
            assert_eq!(read_number(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "-", "+", ".", "1.", "1e5", "12,5", "1.2.3", "0x1", "--1", "NaN", &"9".repeat(31)] {
            assert_eq!(read_number(text), None, "{text}");
        }
    }

    #[test]
    fn percentages_are_read_as_people_type_them() {
        for (text, expected) in [
            ("20", "0.20"),
            ("20%", "0.20"),
            (" 20 % ", "0.20"),
            ("12.5", "0.125"),
            ("5", "0.05"),
            ("0.5%", "0.005"),
            (".5%", "0.005"),
            ("99.99", "0.9999"),
        ] {
            assert_eq!(read_percentage(text).as_deref(), Some(expected), "{text}");
        }
        for (text, meant) in
            [("0.2", Some("20%")), (".5", Some("50%")), ("0.125", Some("12.5%")), ("0.0", None), ("20,5", None)]
        {
            assert_eq!((read_percentage(text), meant_percentage(text).as_deref()), (None, meant), "{text}");
        }
        for text in ["", "%", ".", ".%", "0", "0%", "0.2", "0.20", "100", "-5", "20,5", "1.234", "5.", "twenty"] {
            assert_eq!(read_percentage(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_of_a_rate_is_read_as_it_was(percent in 1..100_u32, decimals in 0..100_u32) {
            let typed = format!("{percent}.{decimals:02}");
            let rate = read_percentage(&typed).unwrap();
            prop_assert_eq!(read_percentage(&write_percentage(&rate)), Some(rate));
        }
    }

    #[test]
    fn a_rate_has_the_decimal_places_that_it_was_given() {
        for (rate, text) in [
            ("0.20", "20%"),
            ("0.2", "20%"),
            ("0.05", "5%"),
            ("0.00", "0%"),
            ("0.125", "12.5%"),
            ("0.0725", "7.25%"),
            ("0.0005", "0.05%"),
            ("1", "100%"),
            ("1.00", "100%"),
            ("twenty", "twenty"),
            (".2", ".2"),
        ] {
            assert_eq!(write_percentage(rate), text, "{rate}");
        }
    }
}
