//! The account of a statement.

use std::fmt;

use crate::text::account_ending;

/// The account of a statement as its file names it, to be compared with the account of a payment.
///
/// No page, message, log or `Debug` output shows more of the number than its [ending](Self::ending).
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
    /// An account with a number. None if it has no letter and no digit.
    pub(crate) fn new(number: &str) -> Option<Self> {
        let number = compact(number);
        (!number.is_empty()).then_some(Self { number, bic: None, bank_code: None })
    }

    /// The same account at a bank. A code in the form of a BIC is one; any other is the bank's national code. The first
    /// of each kind stays.
    pub(crate) fn at_bank(mut self, code: &str) -> Self {
        let code = compact(code);
        let known = if is_bic(&code) { &mut self.bic } else { &mut self.bank_code };
        if known.is_none() && !code.is_empty() {
            *known = Some(code);
        }
        self
    }

    /// Whether a code names a bank by its form: a BIC, or a routing number with its check digit.
    pub(crate) fn is_bank(code: &str) -> bool {
        is_bic(code) || is_routing_number(code)
    }

    /// The IBAN or account number: letters and digits only, in capitals, with the file's leading zeros.
    #[must_use]
    pub fn number(&self) -> &str {
        &self.number
    }

    /// Whether the number is an IBAN, by its country, length and check digits.
    #[must_use]
    pub fn is_iban(&self) -> bool {
        self.number.parse::<iban::Iban>().is_ok()
    }

    /// The BIC of the bank, of 8 or 11 characters in capitals, if the file has it.
    #[must_use]
    pub fn bic(&self) -> Option<&str> {
        self.bic.as_deref()
    }

    /// The bank's national code, if the file has it (an ABA routing number, a sort code, a Bankleitzahl; files don't
    /// say which): letters and digits only, in capitals.
    #[must_use]
    pub fn bank_code(&self) -> Option<&str> {
        self.bank_code.as_deref()
    }

    /// The last four characters of the number; none if they would be most of it.
    #[must_use]
    pub fn ending(&self) -> Option<String> {
        account_ending(&self.number)
    }
}

fn compact(number: &str) -> String {
    number.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase()).collect()
}

/// Whether a code is a BIC: four letters or digits of the bank, two letters of the country, two of the place, three of
/// the branch. Only letters before the country tell it from a national code.
fn is_bic(code: &str) -> bool {
    let (bank, rest) = code.split_at_checked(4).unwrap_or_default();
    matches!(code.len(), 8 | 11)
        && bank.bytes().all(|letter| letter.is_ascii_uppercase())
        && rest.bytes().take(2).all(|letter| letter.is_ascii_uppercase())
}

/// Whether a code is a routing number of a bank in the United States: nine digits, of which the last is a check digit.
fn is_routing_number(code: &str) -> bool {
    // The length first, since this runs for every account of a group.
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
