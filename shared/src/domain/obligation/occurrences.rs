//! When an obligation is due: its occurrences, and whether a standing promise holds. All derived on read.
//!
//! Decision: an occurrence is due until the end of its day. It is `due` from [`limits::DUE_AHEAD_DAYS`] days before,
//! but not before the previous occurrence's day has passed; earlier it is `upcoming`, later `overdue`. Shown upcoming
//! ones can already be satisfied and confirmed.
//!
//! Decision: an occurrence was done on a past day or today, at most [`limits::DONE_AHEAD_DAYS_MAX`] days before it was
//! due or the obligation took effect, whichever is first. An earlier day is a typo.
//!
//! Decision: the days of a trigger count from the stated day it happened, not from the declaration, so a late
//! declaration may be overdue at once. That day is subject to the same limits.
//!
//! Decision: a standing promise is first verified within one interval of its projection, then within one interval of
//! each verification, including early ones. It is due a quarter of the interval ahead, but at most
//! [`limits::DUE_AHEAD_DAYS`] days.
//!
//! Decision: when an obligation is cancelled, its due and unconfirmed occurrences become `cancelled`, confirmed ones
//! stay, and later ones disappear. `satisfied` would ask for an act that nobody will perform.

use std::num::NonZeroU16;
use std::ops::RangeInclusive;

use super::{Obligation, Said, SaidOf, Terms, Word};
use crate::domain::day::Day;
use crate::domain::ids::OccurrenceId;
use crate::domain::recurrence::Schedule;
use crate::domain::satisfaction::Satisfaction;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;

text_enum! {
    /// Why something is due.
    pub enum OccurrenceOrigin {
        /// The schedule says so.
        Schedule = "schedule",
        /// A trigger was declared.
        Trigger = "trigger",
        /// A standing promise has to be verified again.
        Reverify = "reverify",
    }
}

text_enum! {
    /// Where an occurrence is, as clients branch on it.
    pub enum OccurrenceState {
        /// Its turn has not come yet.
        Upcoming = "upcoming",
        /// It can be done, and its day has not passed.
        Due = "due",
        /// Its day has passed.
        Overdue = "overdue",
        /// The promisor says that it is done: a claim.
        Satisfied = "satisfied",
        /// The other side, or a member, has confirmed it.
        Confirmed = "confirmed",
        /// It was not confirmed when its obligation was cancelled, and is no longer owed.
        Cancelled = "cancelled",
    }
}

text_enum! {
    /// Whether a standing promise holds, as far as it was verified.
    pub enum StandingState {
        /// It has never been verified.
        Unverified = "unverified",
        /// The last verification counts.
        Holding = "holding",
        /// It is time to verify it again.
        ReverifyDue = "reverify_due",
        /// It was not verified again in time.
        Lapsed = "lapsed",
    }
}

/// A time at which an obligation is due, as of a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Its id.
    pub id: OccurrenceId,
    /// Its number among those of the obligation, from 1.
    pub sequence: u32,
    /// When it can first be done. None if it has been.
    pub due_from: Option<Timestamp>,
    /// The last millisecond of its due day.
    pub due_at: Timestamp,
    /// Why it is due.
    pub origin: OccurrenceOrigin,
    /// Its state.
    pub state: OccurrenceState,
    /// The promisor's claim that it is done. None for a verification.
    pub satisfied: Option<Word>,
    /// The content of the claim.
    pub how: Option<Satisfaction>,
    /// The other side's word, or a member's.
    pub confirmed: Option<Word>,
}

/// A standing promise as of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether it holds.
    pub state: StandingState,
    /// The last verification.
    pub verified_at: Option<Timestamp>,
    /// The days between two verifications.
    pub reverify_every_days: u16,
    /// When it has to be verified again at the latest.
    pub next_reverify_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::domain) struct Open {
    pub(super) sequence: u32,
    pub(super) due_from: Timestamp,
    pub(super) due_at: Timestamp,
}

impl Obligation {
    /// The occurrences as of a moment, by number: all due or overdue ones, those with a claim or confirmation that was
    /// read, and the next [`limits::UPCOMING_SHOWN_MAX`].
    #[must_use]
    pub fn occurrences(&self, now: Timestamp) -> Vec<Occurrence> {
        let as_of = self.as_of(now);
        let mut upcoming = 0;
        let is_shown = |open: &Open| {
            upcoming += usize::from(as_of < open.due_from);
            as_of >= open.due_from || (upcoming <= limits::UPCOMING_SHOWN_MAX && self.cancellation.is_none())
        };
        let open = self.open().take_while(is_shown).map(|open| self.open_occurrence(open, as_of));
        let said = self.all_said().map(|said| self.said_occurrence(said));
        let mut occurrences: Vec<Occurrence> = said.chain(open).collect();
        occurrences.sort_by_key(|occurrence| occurrence.sequence);
        occurrences
    }

    /// The days on which an occurrence due at a moment can have been done, as of now.
    #[must_use]
    pub fn done_days(&self, due_at: Timestamp, now: Timestamp) -> RangeInclusive<Day> {
        let first = self.zone.day_of(due_at.min(self.created_at)).plus_days(-limits::DONE_AHEAD_DAYS_MAX);
        first..=self.zone.day_of(now)
    }

    /// The days on which a trigger can have happened, as of now.
    #[must_use]
    pub fn happened_days(&self, now: Timestamp) -> RangeInclusive<Day> {
        self.done_days(self.created_at, now)
    }

    /// A standing promise as of a moment. None for other kinds.
    #[must_use]
    pub fn standing(&self, now: Timestamp) -> Option<Standing> {
        let Terms::Standing { reverify_every_days, verified_at } = self.terms else { return None };
        let next = self.next_round(reverify_every_days, verified_at);
        let as_of = self.as_of(now);
        let state = match verified_at {
            None => StandingState::Unverified,
            Some(_) if as_of > next.due_at => StandingState::Lapsed,
            Some(_) if as_of >= next.due_from => StandingState::ReverifyDue,
            Some(_) => StandingState::Holding,
        };
        let reverify_every_days = reverify_every_days.get();
        Some(Standing { state, verified_at, reverify_every_days, next_reverify_at: next.due_at })
    }

    pub(super) fn first_open_due(&self) -> Option<Timestamp> {
        match &self.terms {
            // Later numbers are due later.
            Terms::Scheduled { .. } | Terms::Standing { .. } => self.open().next().map(|open| open.due_at),
            Terms::Triggered { .. } => self.open().map(|open| open.due_at).min(),
        }
    }

    pub(super) fn open(&self) -> Box<dyn Iterator<Item = Open> + '_> {
        match &self.terms {
            Terms::Scheduled { schedule } => {
                let days = (1..).map_while(|sequence| Some((sequence, schedule.day(sequence)?)));
                let open = days.filter(|(sequence, _)| !self.is_said(*sequence));
                Box::new(open.map(|(sequence, day)| self.scheduled(schedule, sequence, day)))
            }
            Terms::Triggered { triggers } => {
                let declared = triggers.iter().filter_map(|trigger| {
                    let (word, sequence) = (trigger.declared.as_ref()?, trigger.sequence?);
                    let day = trigger.happened_on?.plus_days(i32::from(trigger.due_after_days));
                    Some(Open { sequence, due_from: word.at, due_at: self.zone.end_of(day) })
                });
                let mut open: Vec<Open> = declared.filter(|open| !self.is_said(open.sequence)).collect();
                open.sort_by_key(|open| open.sequence);
                Box::new(open.into_iter())
            }
            Terms::Standing { reverify_every_days, verified_at } => {
                Box::new(std::iter::once(self.next_round(*reverify_every_days, *verified_at)))
            }
        }
    }

    fn is_said(&self, sequence: u32) -> bool {
        self.confirmed_before.contains(sequence) || self.said.iter().any(|said| said.sequence == sequence)
    }

    fn scheduled(&self, schedule: &Schedule, sequence: u32, day: Day) -> Open {
        let ahead = day.plus_days(-limits::DUE_AHEAD_DAYS);
        let after_the_one_before = schedule.day(sequence.saturating_sub(1)).map(|before| before.plus_days(1));
        let from = after_the_one_before.map_or(ahead, |from| from.max(ahead));
        Open { sequence, due_from: self.zone.start_of(from), due_at: self.zone.end_of(day) }
    }

    fn next_round(&self, every: NonZeroU16, verified_at: Option<Timestamp>) -> Open {
        let kept = u32::try_from(self.said.len()).unwrap_or(u32::MAX);
        let sequence = self.confirmed_before.count().saturating_add(kept).saturating_add(1);
        let days = i32::from(every.get());
        let day = self.zone.day_of(verified_at.unwrap_or(self.created_at)).plus_days(days);
        let from = day.plus_days(-(days / 4).min(limits::DUE_AHEAD_DAYS));
        Open { sequence, due_from: self.zone.start_of(from), due_at: self.zone.end_of(day) }
    }

    fn as_of(&self, now: Timestamp) -> Timestamp {
        self.cancellation.as_ref().map_or(now, |cancellation| now.min(cancellation.at))
    }

    fn origin(&self) -> OccurrenceOrigin {
        match self.terms {
            Terms::Scheduled { .. } => OccurrenceOrigin::Schedule,
            Terms::Triggered { .. } => OccurrenceOrigin::Trigger,
            Terms::Standing { .. } => OccurrenceOrigin::Reverify,
        }
    }

    fn open_occurrence(&self, open: Open, as_of: Timestamp) -> Occurrence {
        let state = if self.cancellation.is_some() {
            OccurrenceState::Cancelled
        } else if as_of > open.due_at {
            OccurrenceState::Overdue
        } else if as_of >= open.due_from {
            OccurrenceState::Due
        } else {
            OccurrenceState::Upcoming
        };
        Occurrence {
            id: self.occurrence_id(open.sequence),
            sequence: open.sequence,
            due_from: Some(open.due_from),
            due_at: open.due_at,
            origin: self.origin(),
            state,
            satisfied: None,
            how: None,
            confirmed: None,
        }
    }

    fn said_occurrence(&self, said: &SaidOf) -> Occurrence {
        let (satisfied, how, confirmed) = match &said.said {
            Said::Satisfied { claim, how } => (Some(claim), Some(how), None),
            Said::Confirmed { claim, how, confirmation } => (Some(claim), Some(how), Some(confirmation)),
            Said::Verified { verification } => (None, None, Some(verification)),
        };
        let state = match confirmed {
            Some(_) => OccurrenceState::Confirmed,
            None if self.cancellation.is_some() => OccurrenceState::Cancelled,
            None => OccurrenceState::Satisfied,
        };
        Occurrence {
            id: self.occurrence_id(said.sequence),
            sequence: said.sequence,
            due_from: None,
            due_at: said.due_at,
            origin: self.origin(),
            state,
            satisfied: satisfied.cloned(),
            how: how.cloned(),
            confirmed: confirmed.cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{World, at, every, on, zone};
    use super::*;
    use crate::domain::agreement::promise::PromiseTerms;
    use crate::domain::recurrence::{RecurrenceEnd, RecurrenceUnit};

    fn read(world: &World, now: &str) -> Vec<(String, OccurrenceState)> {
        let all = world.obligation.occurrences(at(now));
        all.into_iter().map(|found| (found.due_at.to_string(), found.state)).collect()
    }

    #[test]
    fn a_day_ends_in_the_zone_of_the_organization_on_days_of_23_and_25_hours_too() {
        use OccurrenceState::{Due, Overdue};
        let world = World::of(on(&["2026-03-08", "2026-11-01"]), &zone("America/New_York"));
        let due = |now: &str, n: usize| read(&world, now)[n].clone();
        // Clocks go forward at 02:00 on March 8, and back at 02:00 on November 1.
        let (spring, autumn) = ("2026-03-09T03:59:59.999Z", "2026-11-02T04:59:59.999Z");
        assert_eq!(due(spring, 0), (spring.to_owned(), Due));
        assert_eq!(due("2026-03-09T04:00:00.000Z", 0), (spring.to_owned(), Overdue));
        assert_eq!(due(autumn, 1), (autumn.to_owned(), Due));
        assert_eq!(due("2026-11-02T05:00:00.000Z", 1), (autumn.to_owned(), Overdue));
        let berlin = World::of(on(&["2026-03-29", "2026-10-25"]), &zone("Europe/Berlin"));
        let ends: Vec<String> = read(&berlin, "2026-03-14T12:00:00Z").into_iter().map(|(due_at, _)| due_at).collect();
        assert_eq!(ends, ["2026-03-29T21:59:59.999Z", "2026-10-25T22:59:59.999Z"]);
        // Clocks skip midnight: the day before ends at 24:00, which is 01:00 of the next.
        let beirut = World::of(on(&["2026-03-28"]), &zone("Asia/Beirut"));
        assert_eq!(read(&beirut, "2026-03-14T12:00:00Z")[0].0, "2026-03-28T21:59:59.999Z");
    }

    #[test]
    fn an_occurrence_can_be_done_a_month_ahead_but_only_when_its_turn_has_come() {
        use OccurrenceState::{Due, Overdue, Upcoming};
        let world = World::of(on(&["2026-06-30", "2026-07-10"]), &zone("UTC"));
        let states = |now: &str| read(&world, now).into_iter().map(|(_, state)| state).collect::<Vec<_>>();
        assert_eq!(states("2026-05-30T23:59:59.999Z"), [Upcoming, Upcoming]);
        assert_eq!(states("2026-05-31T00:00:00Z"), [Due, Upcoming]);
        assert_eq!(states("2026-06-30T23:59:59.999Z"), [Due, Upcoming]);
        assert_eq!(states("2026-07-01T00:00:00Z"), [Overdue, Due]);
        assert_eq!(states("2027-01-01T00:00:00Z"), [Overdue, Overdue]);
    }

    #[test]
    fn leap_days_come_when_the_year_has_them() {
        let yearly = every(RecurrenceUnit::Year, "2028-02-29", RecurrenceEnd::Never);
        let world = World::of(yearly, &zone("UTC"));
        let days: Vec<String> =
            read(&world, "2026-03-14T12:00:00Z").into_iter().map(|(due_at, _)| due_at[..10].to_owned()).collect();
        assert_eq!(days.len(), limits::UPCOMING_SHOWN_MAX);
        assert_eq!(days[..5], ["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]);
    }

    #[test]
    fn a_recurrence_without_end_misses_nothing_however_late_it_is_read() {
        let weekly = every(RecurrenceUnit::Week, "2026-03-20", RecurrenceEnd::Never);
        let world = World::of(weekly, &zone("Europe/Berlin"));
        let stored = serde_json::to_string(&world.obligation).unwrap().len();
        assert!(stored < 1000, "{stored} bytes");
        let after_ten_years = world.obligation.occurrences(at("2036-03-20T12:00:00Z"));
        let overdue = after_ten_years.iter().filter(|found| found.state == OccurrenceState::Overdue).count();
        assert_eq!(overdue, 522, "every week of ten years");
        let sequences: Vec<u32> = after_ten_years.iter().map(|found| found.sequence).collect();
        assert!(sequences.iter().copied().eq(1..=535), "with the one that is due and those to come: {sequences:?}");
        let last = world.obligation.occurrences(at("2500-01-01T00:00:00Z"));
        assert!(last.iter().all(|found| found.state == OccurrenceState::Overdue));
        assert_eq!(last.len(), 9068, "until the end of 2199");
        assert_eq!(world.obligation.next_due_at(), Some(after_ten_years[0].due_at));
    }

    #[test]
    fn what_was_promised_for_a_day_that_has_passed_is_owed() {
        let world = World::of(on(&["2026-03-01", "2026-03-31"]), &zone("UTC"));
        let states: Vec<_> = read(&world, "2026-03-14T12:00:00Z").into_iter().map(|(_, state)| state).collect();
        assert_eq!(states, [OccurrenceState::Overdue, OccurrenceState::Due]);
    }

    #[test]
    fn a_standing_promise_is_unverified_until_someone_looks() {
        let world = World::of(PromiseTerms::standing(90).unwrap(), &zone("America/New_York"));
        let standing = |now: &str| world.obligation.standing(at(now)).unwrap();
        // 90 days after March 14; a quarter of that is 22 days.
        let next_reverify_at = at("2026-06-13T03:59:59.999Z");
        for now in ["2026-03-14T12:00:00Z", "2026-06-01T00:00:00Z", "2027-01-01T00:00:00Z"] {
            let expected = Standing {
                state: StandingState::Unverified,
                verified_at: None,
                reverify_every_days: 90,
                next_reverify_at,
            };
            assert_eq!(standing(now), expected);
        }
        let states: Vec<OccurrenceState> = ["2026-05-21T03:59:59Z", "2026-05-21T04:00:00Z", "2026-06-13T04:00:00Z"]
            .into_iter()
            .map(|now| read(&world, now)[0].1)
            .collect();
        assert_eq!(states, [OccurrenceState::Upcoming, OccurrenceState::Due, OccurrenceState::Overdue]);
        assert_eq!(world.obligation.next_due_at(), Some(next_reverify_at));
    }
}
