//! Promises: what participants owe each other beyond the agreement's steps. A promise never changes after publication,
//! and becomes an [`obligation`](crate::domain::obligation) when a step's action `project_obligations` runs.
//!
//! Decision: no promise is incomplete, because the closed list of blockers (contract, section 5) has no code for it.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use super::Label;
use crate::domain::ids::{ParticipantId, PromiseId, TriggerId};
use crate::domain::recurrence::Schedule;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};

/// What some participants promise others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Its id.
    pub id: PromiseId,
    /// What is promised, such as `Quarterly report`.
    pub name: Label,
    /// When it is due.
    pub terms: PromiseTerms,
    /// Who owes it to whom.
    pub parties: Parties,
}

/// When a promise is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PromiseTerms {
    /// On the days of a schedule.
    Scheduled {
        /// The days.
        schedule: Schedule,
    },
    /// A number of days after someone declares that a trigger happened.
    Triggered {
        /// The triggers.
        triggers: Triggers,
    },
    /// At all times, verified repeatedly.
    Standing {
        /// The days between two verifications.
        reverify_every_days: NonZeroU16,
    },
}

text_enum! {
    /// The kind of a promise and of its obligation, as clients branch on it (contract, section 2).
    pub enum PromiseKind {
        /// Due on the days of a schedule.
        Scheduled = "scheduled",
        /// Due some days after a trigger that a person declares.
        Triggered = "triggered",
        /// Holds at all times, and is verified again and again.
        Standing = "standing",
    }
}

impl PromiseTerms {
    /// Standing terms; `out_of_range` at `reverify_every_days`.
    pub fn standing(reverify_every_days: u16) -> Result<Self, FieldErrors> {
        let days = NonZeroU16::new(reverify_every_days).filter(|days| days.get() <= limits::PROMISE_DAYS_MAX);
        let message = || format!("must be from 1 to {} days", limits::PROMISE_DAYS_MAX);
        let error = || FieldErrors::one("reverify_every_days", FieldCode::OutOfRange, message());
        Ok(Self::Standing { reverify_every_days: days.ok_or_else(error)? })
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> PromiseKind {
        match self {
            Self::Scheduled { .. } => PromiseKind::Scheduled,
            Self::Triggered { .. } => PromiseKind::Triggered,
            Self::Standing { .. } => PromiseKind::Standing,
        }
    }
}

/// An event that makes a promise due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Its id.
    pub id: TriggerId,
    /// What happens, such as `The company raises a priced round`.
    pub description: Label,
    /// How many days after the declaration the promise is due; 0 is the same day.
    pub due_after_days: u16,
}

/// One or more triggers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Triggers(Vec<Trigger>);

impl Triggers {
    /// The triggers, in order; errors at `triggers` or a trigger's `due_after_days`.
    pub fn new(triggers: Vec<Trigger>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut wrong = |field: String, code, message: &str| errors.extend(FieldErrors::one(field, code, message));
        let ids: BTreeSet<TriggerId> = triggers.iter().map(|trigger| trigger.id).collect();
        if triggers.is_empty() {
            wrong("triggers".to_owned(), FieldCode::Required, "must have one trigger or more");
        }
        if triggers.len() > limits::PROMISE_TRIGGERS_MAX {
            let message = format!("at most {}", limits::PROMISE_TRIGGERS_MAX);
            wrong("triggers".to_owned(), FieldCode::LimitReached, &message);
        }
        if ids.len() != triggers.len() {
            wrong("triggers".to_owned(), FieldCode::InvalidValue, "must each be different");
        }
        for (n, trigger) in triggers.iter().enumerate() {
            if trigger.due_after_days > limits::PROMISE_DAYS_MAX {
                let message = format!("must be from 0 to {} days", limits::PROMISE_DAYS_MAX);
                wrong(format!("triggers[{n}].due_after_days"), FieldCode::OutOfRange, &message);
            }
        }
        if errors.is_empty() { Ok(Self(triggers)) } else { Err(errors) }
    }

    /// The triggers, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Trigger> {
        self.0.iter()
    }
}

/// Who owes a promise and to whom: at least one participant per side, none on both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parties {
    promisor_participant_ids: BTreeSet<ParticipantId>,
    promisee_participant_ids: BTreeSet<ParticipantId>,
}

/// A side of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Owes it.
    Promisor,
    /// It is owed to them.
    Promisee,
}

impl Parties {
    /// The parties; `required` at an empty side, `invalid_value` when a participant is on both.
    pub fn new(promisors: BTreeSet<ParticipantId>, promisees: BTreeSet<ParticipantId>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        for (field, side) in [("promisor_participant_ids", &promisors), ("promisee_participant_ids", &promisees)] {
            if side.is_empty() {
                errors.extend(FieldErrors::one(field, FieldCode::Required, "must have one participant or more"));
            }
        }
        if !promisors.is_disjoint(&promisees) {
            let message = "must not be among those who promise: nobody confirms their own word";
            errors.extend(FieldErrors::one("promisee_participant_ids", FieldCode::InvalidValue, message));
        }
        if errors.is_empty() {
            Ok(Self { promisor_participant_ids: promisors, promisee_participant_ids: promisees })
        } else {
            Err(errors)
        }
    }

    /// Who owes the promise.
    #[must_use]
    pub fn promisors(&self) -> &BTreeSet<ParticipantId> {
        &self.promisor_participant_ids
    }

    /// To whom it is owed.
    #[must_use]
    pub fn promisees(&self) -> &BTreeSet<ParticipantId> {
        &self.promisee_participant_ids
    }

    /// A participant's side, if any.
    #[must_use]
    pub fn side(&self, participant: ParticipantId) -> Option<Side> {
        if self.promisor_participant_ids.contains(&participant) {
            Some(Side::Promisor)
        } else {
            self.promisee_participant_ids.contains(&participant).then_some(Side::Promisee)
        }
    }

    pub(super) fn renamed(&self, id: impl Fn(ParticipantId) -> Option<ParticipantId>) -> Option<Self> {
        let renamed = |side: &BTreeSet<ParticipantId>| side.iter().map(|was| id(*was)).collect::<Option<_>>();
        Some(Self {
            promisor_participant_ids: renamed(&self.promisor_participant_ids)?,
            promisee_participant_ids: renamed(&self.promisee_participant_ids)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::label;
    use super::*;

    fn codes<T: std::fmt::Debug>(refused: Result<T, FieldErrors>) -> Vec<(String, FieldCode)> {
        refused.unwrap_err().into_list().into_iter().map(|error| (error.field, error.code)).collect()
    }

    #[test]
    fn parties_are_there_and_on_one_side_each() {
        let (ada, ben) = (ParticipantId::new(), ParticipantId::new());
        let parties = Parties::new([ada].into(), [ben].into()).unwrap();
        assert_eq!((parties.side(ada), parties.side(ben)), (Some(Side::Promisor), Some(Side::Promisee)));
        assert_eq!(parties.side(ParticipantId::new()), None);
        let at = |field: &str, code| (field.to_owned(), code);
        let (promisors, promisees) = ("promisor_participant_ids", "promisee_participant_ids");
        assert_eq!(
            codes(Parties::new([].into(), [].into())),
            [at(promisors, FieldCode::Required), at(promisees, FieldCode::Required)]
        );
        assert_eq!(codes(Parties::new([ada].into(), [ada, ben].into())), [at(promisees, FieldCode::InvalidValue)]);
    }

    #[test]
    fn triggers_and_intervals_have_bounds() {
        let trigger = |days| Trigger { id: TriggerId::new(), description: label("A round"), due_after_days: days };
        assert!(Triggers::new(vec![trigger(0), trigger(limits::PROMISE_DAYS_MAX)]).is_ok());
        assert_eq!(codes(Triggers::new(Vec::new()))[0].1, FieldCode::Required);
        let twice = trigger(3);
        assert_eq!(codes(Triggers::new(vec![twice.clone(), twice]))[0].1, FieldCode::InvalidValue);
        let late = Triggers::new(vec![trigger(1), trigger(limits::PROMISE_DAYS_MAX + 1)]);
        assert_eq!(codes(late), [("triggers[1].due_after_days".to_owned(), FieldCode::OutOfRange)]);
        let many = (0..=limits::PROMISE_TRIGGERS_MAX).map(|_| trigger(1)).collect();
        assert_eq!(codes(Triggers::new(many))[0].1, FieldCode::LimitReached);
        for days in [0, limits::PROMISE_DAYS_MAX + 1] {
            let expected = ("reverify_every_days".to_owned(), FieldCode::OutOfRange);
            assert_eq!(codes(PromiseTerms::standing(days)), [expected]);
        }
        assert_eq!(PromiseTerms::standing(90).unwrap().kind(), PromiseKind::Standing);
    }
}
