use std::fmt;

use crate::text::account_ending;

/// The account as the file names it, to be compared with a payment's account.
///
/// Pages, messages, logs and `Debug` output show only the number's [ending](Self::ending).
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    number: String,
    bic: Option<String>,
    bank_code: Option<String>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Account(…{})", self.ending().unwrap_or_default())
    }
}

impl Account {
    pub(crate) fn new(number: &str) -> Option<Self> {
        let number = compact(number);
        (!number.is_empty()).then_some(Self { number, bic: None, bank_code: None })
    }

    /// Adds the bank's code: as BIC if it looks like one, else as national code. The first of each kind stays.
    pub(crate) fn at_bank(mut self, code: &str) -> Self {
        let code = compact(code);
        let known = if is_bic(&code) { &mut self.bic } else { &mut self.bank_code };
        if known.is_none() && !code.is_empty() {
            *known = Some(code);
        }
        self
    }

    /// A bank's code by its form: a BIC, or a routing number with its check digit.
    pub(crate) fn is_bank(code: &str) -> bool {
        is_bic(code) || is_routing_number(code)
    }

    /// The IBAN or account number: letters and digits in capitals, with the file's leading zeros.
    #[must_use]
    pub fn number(&self) -> &str {
        &self.number
    }

    /// Checks country, length and check digits.
    #[must_use]
    pub fn is_iban(&self) -> bool {
        self.number.parse::<iban::Iban>().is_ok()
    }

    /// The bank's BIC: 8 or 11 characters in capitals.
    #[must_use]
    pub fn bic(&self) -> Option<&str> {
        self.bic.as_deref()
    }

    /// The national bank code in capitals: ABA routing number, sort code or Bankleitzahl; files don't say which.
    #[must_use]
    pub fn bank_code(&self) -> Option<&str> {
        self.bank_code.as_deref()
    }

    /// The last four characters of the number; none if they'd be most of it.
    #[must_use]
    pub fn ending(&self) -> Option<String> {
        account_ending(&self.number)
    }
}

fn compact(number: &str) -> String {
    number.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase()).collect()
}

/// Bank (4 letters), country (2 letters), place (2), branch (3). Only the letters tell it from a national code.
fn is_bic(code: &str) -> bool {
    let (bank, rest) = code.split_at_checked(4).unwrap_or_default();
    matches!(code.len(), 8 | 11)
        && bank.bytes().all(|letter| letter.is_ascii_uppercase())
        && rest.bytes().take(2).all(|letter| letter.is_ascii_uppercase())
}

/// A US bank's routing number: nine digits, the last a check digit.
fn is_routing_number(code: &str) -> bool {
    // Checks the length first: this runs for every account of a group.
    if code.len() != 9 {
        return false;
    }
    let digits: Option<Vec<u32>> = code.chars().map(|letter| letter.to_digit(10)).collect();
    let sum = |digits: Vec<u32>| digits.iter().zip([3, 7, 1].into_iter().cycle()).map(|(digit, by)| digit * by).sum();
    digits.map(sum).is_some_and(|sum: u32| sum > 0 && sum.is_multiple_of(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_letters_and_digits() {
        let account = Account::new("de89 3704-0044 0532 0130 00").unwrap().at_bank("COBADEFFXXX").at_bank("370 400 44");
        assert_eq!((account.number(), account.is_iban()), ("DE89370400440532013000", true));
        assert_eq!((account.bic(), account.bank_code()), (Some("COBADEFFXXX"), Some("37040044")));
        assert_eq!(format!("{account:?}"), "Account(…3000)");
        let account = Account::new("0975312468").unwrap().at_bank("").at_bank("122099999");
        assert_eq!((account.number(), account.is_iban()), ("0975312468", false));
        assert_eq!((account.bic(), account.bank_code()), (None, Some("122099999")));
        assert_eq!(Account::new(" -/"), None);
    }

    #[test]
    fn banks_are_known_by_their_form() {
        for code in ["NWBKGB2L", "COBADEFFXXX", "122099999", "021000021"] {
            assert!(Account::is_bank(code), "{code}");
        }
        for code in ["", "GSBI", "1220999990", "9876543", "123456789", "000000000", "NWBK1B2L", "12209999é"] {
            assert!(!Account::is_bank(code), "{code}");
        }
    }

    #[test]
    fn short_numbers_are_shown_nowhere() {
        assert_eq!(format!("{:?}", Account::new("12345")), "Some(Account(…))");
    }
}
