//! IBANs: countries, and the parts for bank and account.
//!
//! Decision: `iban_validate` (5.0.1) lacks two of the registry's countries, listed here until a test finds them there.

use iban::{BaseIban, IbanLike};

struct Structure {
    country: &'static str,
    bank: usize,
    account: usize,
    is_numeric: bool,
}

const MORE_COUNTRIES: [Structure; 2] = [
    Structure { country: "HN", bank: 4, account: 20, is_numeric: true },
    Structure { country: "PK", bank: 4, account: 16, is_numeric: false },
];

/// Countries where the account is always written as in the IBAN, in full or without the bank.
const PLAIN_COUNTRIES: [&str; 11] = ["AT", "BE", "DE", "DK", "ES", "GB", "IE", "NL", "NO", "PL", "PT"];

/// A valid IBAN.
#[derive(Clone, PartialEq, Eq)]
pub struct Iban {
    text: String,
    bank: String,
    branch: String,
    account: String,
}

impl Iban {
    /// Parses an IBAN without blanks, in upper case. None if its country, length, form or check digits are wrong.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Both types of the crate also accept blanks.
        if !text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
            return None;
        }
        if let Ok(found) = text.parse::<iban::Iban>() {
            let bban = found.bban();
            let (bank, branch) = (found.bank_identifier(), found.branch_identifier());
            let mut account = bban.to_owned();
            for part in [bank, branch].into_iter().flatten() {
                account = account.replacen(part, "", 1);
            }
            let part = |part: Option<&str>| part.unwrap_or_default().to_owned();
            return Some(Self { text: text.to_owned(), bank: part(bank), branch: part(branch), account });
        }
        let base: BaseIban = text.parse().ok()?;
        let structure = MORE_COUNTRIES.iter().find(|known| known.country == base.country_code())?;
        let (bank, account) = base.bban_unchecked().split_at_checked(structure.bank)?;
        let fits = bank.bytes().all(|byte| byte.is_ascii_uppercase())
            && account.len() == structure.account
            && (!structure.is_numeric || account.bytes().all(|byte| byte.is_ascii_digit()));
        let (bank, account) = (bank.to_owned(), account.to_owned());
        fits.then(|| Self { text: text.to_owned(), bank, branch: String::new(), account })
    }

    /// Whether a country, in two capitals, has IBANs.
    #[must_use]
    pub fn has_country(country: &str) -> bool {
        const ANY_BBAN: &str = "00000000000";
        let found = with_check_digits(country, ANY_BBAN).map(|text| text.parse::<iban::Iban>());
        MORE_COUNTRIES.iter().any(|known| known.country == country)
            || found.is_some_and(|found| matches!(found, Ok(_) | Err(iban::ParseIbanError::InvalidBban(_))))
    }

    /// Whether a text has the form of an IBAN, ignoring check digits.
    #[must_use]
    pub fn has_form(text: &str) -> bool {
        let parts = text.split_at_checked(2).zip(text.get(4..));
        let with_own = parts.and_then(|((country, _), bban)| with_check_digits(country, bban));
        with_own.is_some_and(|text| Self::parse(&text).is_some())
    }

    /// The IBAN without blanks.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The country, in two letters.
    #[must_use]
    pub fn country(&self) -> &str {
        self.text.get(..2).unwrap_or_default()
    }

    /// Whether its account is always written as in the IBAN. In other countries people omit or add check digits.
    #[must_use]
    pub fn has_plain_number(&self) -> bool {
        PLAIN_COUNTRIES.contains(&self.country())
    }

    /// Everything after the check digits. In many countries people write this in place of an IBAN.
    #[must_use]
    pub fn national(&self) -> &str {
        self.text.get(4..).unwrap_or_default()
    }

    /// The codes by which statements may name the bank: bank, branch, and both together.
    #[must_use]
    pub fn codes(&self) -> Vec<String> {
        let both = format!("{}{}", self.bank, self.branch);
        let mut codes = vec![self.bank.clone(), self.branch.clone(), both];
        codes.retain(|code| !code.is_empty());
        codes.dedup();
        codes
    }

    /// The number of the account at its bank.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.account
    }
}

/// None unless all characters are digits and letters.
fn with_check_digits(country: &str, bban: &str) -> Option<String> {
    const MODULUS: u32 = 97;
    let rest = format!("{bban}{country}00").chars().try_fold(0, |rest, letter| {
        let value = letter.to_digit(36)?;
        Some((rest * if value < 10 { 10 } else { 100 } + value) % MODULUS)
    })?;
    Some(format!("{country}{:02}{bban}", MODULUS + 1 - rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_current_and_the_own_table_has_only_what_the_crate_lacks() {
        for (text, codes, account) in [
            ("DE89370400440532013000", vec!["37040044"], "0532013000"),
            ("GB29NWBK60161331926819", vec!["NWBK", "601613", "NWBK601613"], "31926819"),
            ("NL91ABNA0417164300", vec!["ABNA"], "0417164300"),
            ("HN88CABF00000000000250005469", vec!["CABF"], "00000000000250005469"),
            ("PK36SCBL0000001123456702", vec!["SCBL"], "0000001123456702"),
        ] {
            let found = Iban::parse(text).unwrap();
            assert_eq!(found.codes(), codes, "{text}");
            assert_eq!(found.account(), account, "{text}");
        }
        for wrong in [
            "DE89370400440532013001",
            "DE89 3704 0044 0532 0130 00",
            "de89370400440532013000",
            "HN88CABF0000000000025000546",
            "HN89CABF00000000000250005469",
            "XX88CABF00000000000250005469",
            "DE89",
            "",
        ] {
            assert!(Iban::parse(wrong).is_none(), "{wrong}");
        }
        for (country, has) in [("DE", true), ("NO", true), ("HN", true), ("US", false), ("TO", false), ("XX", false)] {
            assert_eq!(Iban::has_country(country), has, "{country}");
        }
        assert!(Iban::has_form("DE00370400440532013000") && !Iban::has_form("DE8937040044053201300"));
        assert!(!Iban::has_form("DE") && !Iban::has_form("ÄÖ89370400440532013000"));
        for example in ["HN88CABF00000000000250005469", "PK36SCBL0000001123456702"] {
            assert!(
                example.parse::<iban::Iban>().is_err(),
                "`iban_validate` knows {example} now: take it off the table"
            );
        }
    }
}
