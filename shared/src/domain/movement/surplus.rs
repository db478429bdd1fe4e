//! What became of money beyond a payment's amount.
//!
//! Decision: a surplus is an exception until a member says what became of it: returned, or kept, and by whose
//! agreement. Only then is the payment reconciled. The whole sum stays received.

use serde::{Deserialize, Serialize};

use super::safe_text::SafeNote;
use crate::domain::actor::Actor;
use crate::domain::day::Day;
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

/// What became of a surplus, according to a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SurplusOutcome {
    /// Returned to the sender.
    Returned {
        /// The day.
        on: Day,
        /// How, such as the reference of the transfer.
        note: SafeNote,
    },
    /// Kept.
    Kept {
        /// Who agreed to that, and how.
        note: SafeNote,
    },
}

impl SurplusOutcome {
    /// A surplus returned on a day; `out_of_range` for a day after `today`, which is in the organization's zone.
    pub fn returned(on: Day, today: Day, note: SafeNote) -> Result<Self, FieldErrors> {
        if on.is_to_come(today) {
            return Err(FieldErrors::one("returned_on", FieldCode::OutOfRange, "must not be in the future"));
        }
        Ok(Self::Returned { on, note })
    }

    /// The member's note.
    #[must_use]
    pub fn note(&self) -> &SafeNote {
        match self {
            Self::Returned { note, .. } | Self::Kept { note } => note,
        }
    }
}

/// Money beyond the amount, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surplus {
    /// The surplus, in minor units of the payment's currency.
    pub amount_minor: i64,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: SurplusOutcome,
    /// When a member said so.
    pub at: Timestamp,
    /// The member.
    pub by: Actor,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surplus_went_back_in_the_past() {
        let today = Day::parse("2026-03-14").unwrap();
        let note = || SafeNote::parse("Fedwire 20260314B1QGC08C000123").unwrap();
        assert!(SurplusOutcome::returned(today, today, note()).is_ok());
        let wrong = SurplusOutcome::returned(today.plus_days(2), today, note()).unwrap_err().into_list();
        assert_eq!((&*wrong[0].field, wrong[0].code), ("returned_on", FieldCode::OutOfRange));
    }

    #[test]
    fn it_is_stored_flat_and_read_again() {
        let on = Day::parse("2026-03-14").unwrap();
        let note = SafeNote::parse("Sent back").unwrap();
        for outcome in [SurplusOutcome::Returned { on, note: note.clone() }, SurplusOutcome::Kept { note }] {
            let at = crate::domain::agreement::fixtures::noon();
            let surplus = Surplus { amount_minor: 7, outcome, at, by: Actor::system() };
            let stored = serde_json::to_value(&surplus).unwrap();
            assert!(stored["outcome"].is_string(), "{stored}");
            assert_eq!(serde_json::from_value::<Surplus>(stored).unwrap(), surplus);
        }
    }
}
