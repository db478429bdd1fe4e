//! Roles, amounts and the terms of a SAFE.

use crate::domain::agreement::{ConversionTiming, ParticipantRole, SafeTerms};

/// A role, for a person.
#[must_use]
pub fn role(role: ParticipantRole) -> &'static str {
    match role {
        ParticipantRole::Signer => "Signer",
        ParticipantRole::Funder => "Funder",
        ParticipantRole::Receiver => "Receiver",
        ParticipantRole::Approver => "Approver",
        ParticipantRole::Investor => "Investor",
        ParticipantRole::Issuer => "Issuer",
        ParticipantRole::Trustee => "Trustee",
        ParticipantRole::Contributor => "Contributor",
        ParticipantRole::Observer => "Observer",
    }
}

/// The name of the term that is how much money the deal is about.
pub const INVESTMENT: &str = "Investment";

/// The terms of a SAFE that are set, each with its name.
#[must_use]
pub fn terms(terms: &SafeTerms) -> Vec<(&'static str, String)> {
    let currency = terms.currency.as_deref().unwrap_or_default();
    let mut list = Vec::new();
    list.extend(terms.investment_amount_minor.map(|minor| (INVESTMENT, money(minor, currency))));
    list.extend(terms.valuation_cap_minor.map(|minor| ("Valuation cap", money(minor, currency))));
    list.extend(terms.discount_rate.as_deref().map(|rate| ("Discount", percent(rate))));
    if terms.mfn {
        list.push(("Most favored nation", "Yes".to_owned()));
    }
    if terms.pro_rata {
        list.push(("Pro-rata rights", "Yes".to_owned()));
    }
    list.extend(terms.conversion_timing.map(|timing| {
        let text = match timing {
            ConversionTiming::PostMoney => "Post-money",
            ConversionTiming::PreMoney => "Pre-money",
        };
        ("Conversion", text.to_owned())
    }));
    list.extend(terms.governing_law.clone().map(|law| ("Governing law", law)));
    list
}

/// An amount in minor units as the API shows it, such as `USD 1,250.00`.
#[must_use]
pub fn amount(minor: i64, currency: &str) -> String {
    let (sign, figures) = figures(minor, currency);
    format!("{currency} {sign}{figures}").trim_start().to_owned()
}

/// An amount in minor units as the app shows it, such as `$1,250.00 USD`. The code stays, because several currencies share
/// a symbol.
#[must_use]
pub fn money(minor: i64, currency: &str) -> String {
    let (sign, figures) = figures(minor, currency);
    let symbol = match currency {
        "USD" | "CAD" | "AUD" | "NZD" | "HKD" | "SGD" | "MXN" => "$",
        "EUR" => "€",
        "GBP" => "£",
        "JPY" | "CNY" => "¥",
        "INR" => "₹",
        _ => "",
    };
    format!("{sign}{symbol}{figures} {currency}").trim_end().to_owned()
}

/// The sign of an amount, and its figures with the digits of its currency.
fn figures(minor: i64, currency: &str) -> (&'static str, String) {
    let digits = currency_digits(currency);
    let sign = if minor < 0 { "-" } else { "" };
    let text = format!("{:0>width$}", minor.unsigned_abs(), width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    let point = if digits == 0 { "" } else { "." };
    (sign, format!("{}{point}{fraction}", groups.join(",")))
}

/// The number of decimals of a currency (ISO 4217).
#[must_use]
pub fn currency_digits(currency: &str) -> usize {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "VND" | "VUV"
        | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

/// A decimal fraction such as `0.20` or `0.125` as `20%` or `12.5%`, to the decimal places that it has.
pub(crate) fn percent(rate: &str) -> String {
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
    use super::*;

    #[test]
    fn an_amount_has_the_digits_of_its_currency() {
        for (minor, currency, in_api, in_app) in [
            (75_000_000, "USD", "USD 750,000.00", "$750,000.00 USD"),
            (5, "EUR", "EUR 0.05", "€0.05 EUR"),
            (1_234_567, "JPY", "JPY 1,234,567", "¥1,234,567 JPY"),
            (1_234_567, "KWD", "KWD 1,234.567", "1,234.567 KWD"),
            (-100, "USD", "USD -1.00", "-$1.00 USD"),
            (125_000, "", "1,250.00", "1,250.00"),
            (i64::MIN, "JPY", "JPY -9,223,372,036,854,775,808", "-¥9,223,372,036,854,775,808 JPY"),
        ] {
            assert_eq!((&*amount(minor, currency), &*money(minor, currency)), (in_api, in_app));
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
            assert_eq!(percent(rate), text, "{rate}");
        }
    }
}
