//! Schedules: the due days of a promise, listed or recurring.
//!
//! - Decision: recurrences use `jiff`, not the crate `rrule`, whose second time library `deny.toml` forbids.
//! - Decision: each day counts from the first: monthly from January 31 falls on February 28, then on March 31.
//! - Decision: a recurrence without end ends in 2199, the last plausible year, as all dates do.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use jiff::Span;
use serde::{Deserialize, Serialize};

use super::day::Day;
use super::local_time::YEARS;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};

text_enum! {
    /// The unit of a recurrence.
    pub enum RecurrenceUnit {
        /// Weeks.
        Week = "week",
        /// Months.
        Month = "month",
        /// Three months.
        Quarter = "quarter",
        /// Years.
        Year = "year",
    }
}

/// When a recurrence ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecurrenceEnd {
    /// Never.
    Never,
    /// On a day, inclusive.
    Until(Day),
    /// After a number of days.
    After(u32),
}

/// Recurring days: every few weeks, months, quarters or years from a first day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurrence {
    every: NonZeroU16,
    unit: RecurrenceUnit,
    first: Day,
    end: RecurrenceEnd,
}

impl Recurrence {
    /// A recurrence of at least one day; `out_of_range` at `every`, `until` or `count`.
    pub fn new(every: u16, unit: RecurrenceUnit, first: Day, end: RecurrenceEnd) -> Result<Self, FieldErrors> {
        let out_of_range = |field, message: String| Err(FieldErrors::one(field, FieldCode::OutOfRange, message));
        let interval = NonZeroU16::new(every).filter(|every| every.get() <= limits::RECURRENCE_EVERY_MAX);
        let Some(every) = interval else {
            return out_of_range("every", format!("must be from 1 to {}", limits::RECURRENCE_EVERY_MAX));
        };
        match end {
            RecurrenceEnd::Until(day) if day < first => {
                out_of_range("until", "must not be before the first day".to_owned())
            }
            RecurrenceEnd::After(count) if !(1..=limits::RECURRENCE_COUNT_MAX).contains(&count) => {
                out_of_range("count", format!("must be from 1 to {}", limits::RECURRENCE_COUNT_MAX))
            }
            _ => Ok(Self { every, unit, first, end }),
        }
    }

    /// The interval, in its unit.
    #[must_use]
    pub fn every(&self) -> u16 {
        self.every.get()
    }

    /// The unit of the interval.
    #[must_use]
    pub fn unit(&self) -> RecurrenceUnit {
        self.unit
    }

    /// The first day.
    #[must_use]
    pub fn first(&self) -> Day {
        self.first
    }

    /// When it ends.
    #[must_use]
    pub fn end(&self) -> RecurrenceEnd {
        self.end
    }

    /// The day at an index from 0. None after the end. In months that are too short, the last day.
    fn day(&self, index: u32) -> Option<Day> {
        let units = i64::from(index) * i64::from(self.every.get());
        let span = match self.unit {
            RecurrenceUnit::Week => Span::new().try_weeks(units),
            RecurrenceUnit::Month => Span::new().try_months(units),
            RecurrenceUnit::Quarter => Span::new().try_months(units * 3),
            RecurrenceUnit::Year => Span::new().try_years(units),
        };
        let date = self.first.date().checked_add(span.ok()?).ok().filter(|date| YEARS.contains(&date.year()))?;
        let day = Day::of(date);
        let is_in = match self.end {
            RecurrenceEnd::Never => true,
            RecurrenceEnd::Until(last) => day <= last,
            RecurrenceEnd::After(count) => index < count,
        };
        is_in.then_some(day)
    }
}

/// The due days of a promise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Listed days.
    Days(Days),
    /// Recurring days.
    Recurrence(Recurrence),
}

/// One or more days, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Days(BTreeSet<Day>);

impl Days {
    /// The listed days; `required` or `limit_reached` at `dates`.
    pub fn new(days: BTreeSet<Day>) -> Result<Self, FieldErrors> {
        if days.is_empty() {
            return Err(FieldErrors::one("dates", FieldCode::Required, "must have one date or more"));
        }
        if days.len() > limits::PROMISE_DATES_MAX {
            let message = format!("at most {}; a recurrence can have more", limits::PROMISE_DATES_MAX);
            return Err(FieldErrors::one("dates", FieldCode::LimitReached, message));
        }
        Ok(Self(days))
    }

    /// The days in order.
    pub fn iter(&self) -> impl Iterator<Item = Day> {
        self.0.iter().copied()
    }
}

impl Schedule {
    /// The day at a number from 1, each later than the one before. None after the last.
    #[must_use]
    pub fn day(&self, sequence: u32) -> Option<Day> {
        let index = sequence.checked_sub(1)?;
        match self {
            Self::Days(days) => days.iter().nth(usize::try_from(index).ok()?),
            Self::Recurrence(recurrence) => recurrence.day(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn recurrence(every: u16, unit: RecurrenceUnit, first: &str, end: RecurrenceEnd) -> Schedule {
        Schedule::Recurrence(Recurrence::new(every, unit, day(first), end).unwrap())
    }

    fn first_days(schedule: &Schedule, count: u32) -> Vec<String> {
        (1..=count).map_while(|sequence| schedule.day(sequence)).map(|day| day.to_string()).collect()
    }

    #[test]
    fn a_day_that_a_month_does_not_have_is_its_last_and_later_months_have_it_again() {
        use RecurrenceUnit::{Month, Quarter, Week, Year};
        let never = RecurrenceEnd::Never;
        for (every, unit, first, expected) in [
            (1, Month, "2028-01-31", ["2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31"]),
            (1, Quarter, "2026-11-30", ["2026-11-30", "2027-02-28", "2027-05-30", "2027-08-30", "2027-11-30"]),
            (1, Year, "2028-02-29", ["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]),
            (2, Week, "2026-12-24", ["2026-12-24", "2027-01-07", "2027-01-21", "2027-02-04", "2027-02-18"]),
            (4, Year, "2096-02-29", ["2096-02-29", "2100-02-28", "2104-02-29", "2108-02-29", "2112-02-29"]),
        ] {
            assert_eq!(first_days(&recurrence(every, unit, first, never), 5), expected);
        }
    }

    #[test]
    fn it_ends_when_it_says() {
        let month = RecurrenceUnit::Month;
        let until = |last: &str| recurrence(1, month, "2026-01-31", RecurrenceEnd::Until(day(last)));
        assert_eq!(first_days(&until("2026-02-27"), 9).len(), 1);
        assert_eq!(first_days(&until("2026-02-28"), 9).len(), 2, "the last day is included");
        let three = recurrence(1, month, "2026-01-31", RecurrenceEnd::After(3));
        assert_eq!((first_days(&three, 9).len(), three.day(4)), (3, None));
        let weekly = recurrence(1, RecurrenceUnit::Week, "2026-01-01", RecurrenceEnd::Never);
        let all = first_days(&weekly, u32::MAX);
        assert_eq!((all.len(), all.last().map(String::as_str)), (9079, Some("2199-12-26")));
        assert_eq!((weekly.day(0), weekly.day(u32::MAX)), (None, None));
        let days = Schedule::Days(Days::new([day("2026-06-30"), day("2026-03-31")].into()).unwrap());
        assert_eq!(first_days(&days, 9), ["2026-03-31", "2026-06-30"]);
    }

    #[test]
    fn what_has_no_day_or_too_many_is_refused() {
        let first = day("2026-01-31");
        let refused = |every, end| {
            let error = Recurrence::new(every, RecurrenceUnit::Week, first, end).unwrap_err().into_list().remove(0);
            (error.field, error.code)
        };
        let wrong = |field: &str| (field.to_owned(), FieldCode::OutOfRange);
        assert_eq!(refused(0, RecurrenceEnd::Never), wrong("every"));
        assert_eq!(refused(limits::RECURRENCE_EVERY_MAX + 1, RecurrenceEnd::Never), wrong("every"));
        assert_eq!(refused(1, RecurrenceEnd::Until(day("2026-01-30"))), wrong("until"));
        assert_eq!(refused(1, RecurrenceEnd::After(0)), wrong("count"));
        assert_eq!(refused(1, RecurrenceEnd::After(limits::RECURRENCE_COUNT_MAX + 1)), wrong("count"));
        let code = |days: BTreeSet<Day>| Days::new(days).unwrap_err().into_list().remove(0).code;
        assert_eq!(code([].into()), FieldCode::Required);
        assert_eq!(code((0..51).map(|n| first.plus_days(n)).collect()), FieldCode::LimitReached);
    }

    proptest! {
        #[test]
        fn each_day_is_later_than_the_one_before(
            every in 1..=120_u16,
            unit in proptest::sample::select(RecurrenceUnit::ALL.to_vec()),
            offset in 0..40_000_i32,
        ) {
            let first = day("1990-01-01").plus_days(offset);
            let schedule = Schedule::Recurrence(Recurrence::new(every, unit, first, RecurrenceEnd::Never).unwrap());
            let days: Vec<Day> = (1..60).map_while(|sequence| schedule.day(sequence)).collect();
            prop_assert_eq!(days.first(), Some(&first));
            prop_assert!(days.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", days);
            let stored: Schedule = serde_json::from_str(&serde_json::to_string(&schedule).unwrap()).unwrap();
            prop_assert_eq!(stored, schedule);
        }
    }
}
