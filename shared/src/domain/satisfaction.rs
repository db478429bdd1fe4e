//! What people say when they record an occurrence as done: day, note, file. It is part of the claim and never changes.

use serde::{Deserialize, Serialize};

use super::day::Day;
use super::ids::OccurrenceId;
use super::movement::evidence::EvidenceFile;
use super::movement::safe_text::SafeNote;
use crate::limits;
use crate::wire::fields::FieldCode;

/// What was said about a completed occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Satisfaction {
    /// The day on which it was done.
    pub done_on: Day,
    /// A note for the confirming side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<SatisfactionNote>,
    /// A file as proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<EvidenceFile>,
}

impl Satisfaction {
    /// Done on a day, without a note or file.
    #[must_use]
    pub fn on(done_on: Day) -> Self {
        Self { done_on, note: None, file: None }
    }
}

/// A note without account numbers, because the other side reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SatisfactionNote(SafeNote);

impl SatisfactionNote {
    /// Checks a text of up to [`limits::SATISFACTION_NOTE_CHARS_MAX`] characters.
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        let note = SafeNote::parse(text)?;
        if note.as_str().chars().count() > limits::SATISFACTION_NOTE_CHARS_MAX {
            let message = format!("must have at most {} characters", limits::SATISFACTION_NOTE_CHARS_MAX);
            return Err((FieldCode::TooLong, message));
        }
        Ok(Self(note))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A record that an occurrence is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The occurrence.
    pub occurrence: OccurrenceId,
    /// What they said about it.
    pub how: Satisfaction,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_short_and_has_no_account_number() {
        let most = "é".repeat(limits::SATISFACTION_NOTE_CHARS_MAX);
        assert_eq!(SatisfactionNote::parse(&most).unwrap().as_str(), most);
        let refused = |text: &str| SatisfactionNote::parse(text).unwrap_err().0;
        assert_eq!(refused(&format!("{most}é")), FieldCode::TooLong);
        assert_eq!(refused("Paid to DE89 3704 0044 0532 0130 00"), FieldCode::SensitiveValue);
    }
}
