use crate::domain::agreement::{ConversionTiming, ParticipantRole, SafeTerms};
use crate::domain::money::in_app;

/// A role, for display.
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

/// The name of the term for the amount of the deal.
pub const INVESTMENT: &str = "Investment";

/// The SAFE terms that are set, with their names.
#[must_use]
pub fn terms(terms: &SafeTerms) -> Vec<(&'static str, String)> {
    let currency = terms.currency.as_deref().unwrap_or_default();
    let mut list = Vec::new();
    list.extend(terms.investment_amount_minor.map(|minor| (INVESTMENT, in_app(minor, currency))));
    list.extend(terms.valuation_cap_minor.map(|minor| ("Valuation cap", in_app(minor, currency))));
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

/// A decimal fraction as a percentage: `0.20` is `20%`, `0.125` is `12.5%`.
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
