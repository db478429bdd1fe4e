//! Texts of a movement that pages, responses and searches show, without account numbers.

use serde::{Deserialize, Serialize};

use crate::domain::agreement::Label;
use crate::domain::note::Note;
use crate::domain::sensitive::has_account_number;
use crate::wire::fields::FieldCode;

const SENSITIVE: &str = "must not contain an account or card number; those belong in the instructions only";

/// A line without an account number: a purpose, reference or file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SafeLine(Label);

impl SafeLine {
    /// Checks a line of up to 200 characters; `sensitive_value` for what looks like an account or card number.
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        let line = Label::parse(text)?;
        refuse_numbers(line.as_str())?;
        Ok(Self(line))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A note without an account number: a reason or remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SafeNote(Note);

impl SafeNote {
    /// Checks a text of up to 2,000 characters; `sensitive_value` for what looks like an account or card number.
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        let note = Note::parse(text)?;
        refuse_numbers(note.as_str())?;
        Ok(Self(note))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

fn refuse_numbers(text: &str) -> Result<(), (FieldCode, String)> {
    if has_account_number(text) { Err((FieldCode::SensitiveValue, SENSITIVE.to_owned())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_number_is_in_no_text_that_is_shown() {
        for text in ["Invoice to DE89 3704 0044 0532 0130 00", "000123456789.pdf", "4111 1111 1111 1111"] {
            assert_eq!(SafeLine::parse(text).unwrap_err().0, FieldCode::SensitiveValue, "{text}");
            assert_eq!(SafeNote::parse(text).unwrap_err().0, FieldCode::SensitiveValue, "{text}");
        }
        for text in ["Closing payment", "Invoice 2026-117", "wire-2026-03-14.pdf"] {
            assert_eq!(SafeLine::parse(text).unwrap().as_str(), text);
            assert_eq!(SafeNote::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(SafeLine::parse(" ").unwrap_err().0, FieldCode::TooShort);
    }
}
