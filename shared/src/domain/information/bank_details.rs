//! Bank details that participants give to be paid: validated by check digits, sealed, never shown in full again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::bank_account::BankAccount;
use crate::domain::bank_account::numbers::{
    ending, is_routing_number, looks_like_iban, read_account_number, read_bank_code,
};
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text::check_line;

/// The parts of bank details in a form.
pub const PARTS: [&str; 4] = ["holder", "bank", "number", "code"];

/// The parts that no page shows again.
pub const SECRET_PARTS: [&str; 2] = ["number", "code"];

/// Bank details.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankDetails {
    holder: String,
    bank: String,
    number: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

impl fmt::Debug for BankDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BankDetails(…)")
    }
}

impl BankDetails {
    /// Parses bank details: holder, bank, IBAN or account number, and a code unless it is an IBAN. Errors are by part.
    pub fn read(typed: impl Fn(&str) -> String) -> Result<Self, FieldErrors> {
        let line = |part: &str| {
            let text = typed(part);
            let missing = || FieldErrors::one(part, FieldCode::Required, "is missing");
            if text.trim().is_empty() {
                return Err(missing());
            }
            check_line(&text, limits::NAME_CHARS_MAX).map_err(|(code, message)| FieldErrors::one(part, code, message))
        };
        // Invisible characters are stripped from these two instead of refused.
        let invalid = |part: &str, message: &str| FieldErrors::one(part, FieldCode::InvalidValue, message);
        let number = match typed("number") {
            blank if blank.trim().is_empty() => Err(FieldErrors::one("number", FieldCode::Required, "is missing")),
            text => read_account_number(&text).map_err(|message| invalid("number", message)),
        };
        let is_iban = number.as_ref().is_ok_and(|number| looks_like_iban(number));
        let code = if typed("code").trim().is_empty() {
            if is_iban || number.is_err() {
                Ok(None)
            } else {
                let message = "is missing. Only an IBAN works without it";
                Err(FieldErrors::one("code", FieldCode::Required, message))
            }
        } else {
            read_bank_code(&typed("code")).map(Some).map_err(|message| invalid("code", message))
        };
        match (line("holder"), line("bank"), number, code) {
            (Ok(holder), Ok(bank), Ok(number), Ok(code)) => Ok(Self { holder, bank, number, code }),
            (holder, bank, number, code) => {
                let mut errors = holder.err().unwrap_or_default();
                errors.extend(bank.err().unwrap_or_default());
                errors.extend(number.err().unwrap_or_default());
                errors.extend(code.err().unwrap_or_default());
                Err(errors)
            }
        }
    }

    /// The details in clear, only for sealing.
    #[must_use]
    pub fn reveal(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Reads what [`BankDetails::reveal`] wrote.
    #[must_use]
    pub fn opened(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The account, for comparison.
    #[must_use]
    pub fn account(&self) -> Option<BankAccount> {
        BankAccount::new(&self.number, self.code.as_deref())
    }

    /// The last characters of the account number.
    #[must_use]
    pub fn ending(&self) -> String {
        ending(&self.number)
    }

    /// Whether they include a bank code.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.code.is_some()
    }

    /// Whether the account is given by its IBAN.
    #[must_use]
    pub fn is_iban(&self) -> bool {
        looks_like_iban(&self.number)
    }

    /// Whether it is a United States account: a number and a routing number.
    #[must_use]
    pub fn has_routing_number(&self) -> bool {
        !self.is_iban() && self.code.as_deref().is_some_and(is_routing_number)
    }

    /// The details in full, one labeled line each, only for those who send money there.
    #[must_use]
    pub fn in_full(&self) -> Vec<(&'static str, String)> {
        let number = if self.is_iban() { "IBAN" } else { "Account number" };
        let code = if self.has_routing_number() { "Routing number" } else { "BIC or bank code" };
        let lines = [("Account holder", Some(&self.holder)), ("Bank", Some(&self.bank)), (number, Some(&self.number))];
        let lines = lines.into_iter().chain([(code, self.code.as_ref())]);
        lines.filter_map(|(label, text)| Some((label, text?.clone()))).collect()
    }

    /// The details for a reviewing member, one line each, not enough to send money.
    #[must_use]
    pub fn masked(&self) -> Vec<String> {
        let kind = if looks_like_iban(&self.number) { "IBAN" } else { "Account" };
        vec![self.holder.clone(), self.bank.clone(), format!("{kind} ending in {}", self.ending())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: &str, code: &str) -> Result<BankDetails, Vec<String>> {
        let typed = |part: &str| match part {
            "number" => number.to_owned(),
            "code" => code.to_owned(),
            "holder" => "Ada Okafor".to_owned(),
            _ => "First Bank".to_owned(),
        };
        BankDetails::read(typed).map_err(|errors| errors.into_list().into_iter().map(|error| error.field).collect())
    }

    #[test]
    fn numbers_are_checked_as_far_as_their_check_digits_go() {
        for (number, code, ending) in [
            ("DE89 3704 0044 0532 0130 00", "", "3000"),
            ("gb82-west-1234-5698-7654-32", "DEUTDEFF500", "5432"),
            ("000123456789", "021000021", "6789"),
            ("12345678", "40-47-84", "78"),
            ("1234", "12345", "4"),
        ] {
            let found = read(number, code).unwrap();
            assert_eq!(found.ending(), ending, "{number}");
            assert_eq!(BankDetails::opened(&found.reveal()), Some(found));
        }
        for (number, code, wrong) in [
            ("DE89 3704 0044 0532 0130 01", "", "number"),
            ("DE89", "", "number"),
            ("ABCDEFGH", "021000021", "number"),
            ("<script>1234", "021000021", "number"),
            ("000123456789", "", "code"),
            ("000123456789", "021000022", "code"),
            ("000123456789", "000000000", "code"),
            ("000123456789", "DEUTDE", "code"),
            ("000123456789", "1234", "code"),
        ] {
            assert_eq!(read(number, code), Err(vec![wrong.to_owned()]), "{number} {code}");
        }
        let nothing = BankDetails::read(|_| String::new()).unwrap_err().into_list();
        let fields: Vec<_> = nothing.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(fields, ["holder", "bank", "number"]);
    }

    #[test]
    fn no_text_about_the_details_has_them() {
        let found = read("DE89 3704 0044 0532 0130 00", "").unwrap();
        assert_eq!(found.masked(), ["Ada Okafor", "First Bank", "IBAN ending in 3000"]);
        assert_eq!(format!("{found:?}"), "BankDetails(…)");
    }
}
