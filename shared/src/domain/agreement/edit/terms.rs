use crate::domain::agreement::{Agreement, AgreementKind, SafeTerms};
use crate::domain::money::{Currency, NotACurrency};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

impl Agreement {
    /// Sets the terms of a SAFE. Missing terms are blockers.
    pub fn set_terms(&self, terms: SafeTerms, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.kind != AgreementKind::Safe {
            return Err(FieldErrors::one("terms", FieldCode::WrongState, "only a SAFE has such terms"));
        }
        check_terms(&terms)?;
        draft.terms = Some(terms);
        Ok(draft)
    }
}

fn check_terms(terms: &SafeTerms) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut wrong =
        |field: &str, code, message: &str| errors.extend(FieldErrors::one(format!("terms.{field}"), code, message));
    let amounts = [
        ("investment_amount_minor", terms.investment_amount_minor),
        ("valuation_cap_minor", terms.valuation_cap_minor),
    ];
    for (field, amount) in amounts {
        if amount.is_some_and(|amount| amount <= 0) {
            wrong(field, FieldCode::OutOfRange, "must be more than zero");
        }
    }
    if terms.currency.as_ref().is_some_and(|code| Currency::parse(code).is_none()) {
        wrong("currency", FieldCode::InvalidFormat, &NotACurrency.to_string());
    }
    if terms.discount_rate.as_deref().is_some_and(|rate| !is_rate(rate)) {
        wrong("discount_rate", FieldCode::InvalidFormat, "must be a decimal between 0 and 1 such as 0.20, for 20% off");
    }
    let law = terms.governing_law.as_ref();
    if law.is_some_and(|law| crate::wire::text::check_line(law, limits::NAME_CHARS_MAX).as_ref() != Ok(law)) {
        wrong("governing_law", FieldCode::InvalidValue, "must be one line of 1 to 200 characters");
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Whether a text is a discount: `0.` and two digits, or up to four without trailing zeros.
fn is_rate(text: &str) -> bool {
    const DIGITS: usize = 2;
    const DIGITS_MAX: usize = 4;
    let digits = text.strip_prefix("0.").unwrap_or_default();
    let is_shortest = digits.len() == DIGITS || !digits.ends_with('0');
    (DIGITS..=DIGITS_MAX).contains(&digits.len())
        && is_shortest
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::super::super::ConversionTiming;
    use super::super::super::fixtures::{draft, noon};
    use super::super::tests::refused;
    use super::*;

    #[test]
    fn terms_are_of_a_safe_and_make_sense() {
        let general = draft(AgreementKind::General);
        refused(general.set_terms(SafeTerms::default(), noon()), "terms", FieldCode::WrongState);
        let safe = draft(AgreementKind::Safe);
        let with = |change: fn(&mut SafeTerms)| {
            let mut terms = SafeTerms::default();
            change(&mut terms);
            safe.set_terms(terms, noon())
        };
        assert_eq!(with(|_| {}).unwrap().terms, Some(SafeTerms::default()), "what is missing is a blocker");
        refused(
            with(|terms| terms.investment_amount_minor = Some(0)),
            "terms.investment_amount_minor",
            FieldCode::OutOfRange,
        );
        refused(with(|terms| terms.valuation_cap_minor = Some(-1)), "terms.valuation_cap_minor", FieldCode::OutOfRange);
        refused(with(|terms| terms.currency = Some("usd".into())), "terms.currency", FieldCode::InvalidFormat);
        refused(
            with(|terms| terms.governing_law = Some(String::new())),
            "terms.governing_law",
            FieldCode::InvalidValue,
        );
        for rate in ["", "0", "0.", "0.2", "0.200", "0.00", "1.00", "20", "-0.20", "0.12345", ".20", "0.2O"] {
            assert!(!is_rate(rate), "{rate}");
        }
        for rate in ["0.20", "0.05", "0.99", "0.125", "0.0001"] {
            assert!(is_rate(rate), "{rate}");
        }
        let whole = with(|terms| {
            terms.discount_rate = Some("0.20".to_owned());
            terms.conversion_timing = Some(ConversionTiming::PreMoney);
        });
        assert_eq!(whole.unwrap().terms.unwrap().discount_rate.as_deref(), Some("0.20"));
    }
}
