//! Currencies and their decimals.
//!
//! Decision: `iso_currency` gives the decimals: it is small and current (XCG, ZWG, XAD, funds with four decimals).
//! `rust_iso4217` needs `phf`, `iso4217` is from 2018, `rusty-money` brings decimals and formats.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A currency of ISO 4217 that has amounts: no metal, no test code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// Reads a three-letter code in any case.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        let code = code.trim().to_ascii_uppercase();
        let currency = iso_currency::Currency::from_code(&code)?;
        currency.exponent().map(|_| Self(currency))
    }

    /// The three-letter code in capitals.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// The number of decimals: 2 for EUR, 0 for JPY, 3 for KWD.
    #[must_use]
    pub fn decimals(self) -> usize {
        self.0.exponent().map_or(0, usize::from)
    }

    pub(crate) fn symbol(self) -> String {
        self.0.symbol().symbol
    }

    /// Writes an amount with decimals and code, for messages: `1250.50 EUR`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).unwrap()
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
