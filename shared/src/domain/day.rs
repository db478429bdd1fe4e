//! Calendar days, which begin at a different moment in each zone (`time_zone`).

use std::fmt;

use jiff::civil::Date;
use jiff::{Span, ToSpan};
use serde::{Deserialize, Serialize};

use super::date_order::DateOrder;
use super::local_time::{self, NotLocalTime, YEARS};

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = Date, example = "2026-03-14")]
pub struct Day(Date);

/// The text is not a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a day such as 2026-03-14")]
pub struct InvalidDay;

impl TryFrom<String> for Day {
    type Error = InvalidDay;

    fn try_from(text: String) -> Result<Self, InvalidDay> {
        Self::parse(&text).ok_or(InvalidDay)
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl Day {
    pub(super) fn of(date: Date) -> Self {
        Self(date)
    }

    pub(super) fn date(self) -> Date {
        self.0
    }

    /// Parses `2026-03-14`. None if it is not a day or its year is implausible.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_in_place =
            |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
        let has_form = text.len() == "2026-03-14".len() && text.bytes().enumerate().all(is_in_place);
        let date: Option<Date> = has_form.then(|| text.parse().ok()).flatten();
        date.filter(|date| YEARS.contains(&date.year())).map(Self)
    }

    /// Reads a day as people type it: `Dec 31, 2026`, `31 December 2026`, `2026-12-31`, or in digits, in their order.
    pub fn read(text: &str, order: DateOrder) -> Result<Self, NotLocalTime> {
        local_time::read_day(text, order).map(Self)
    }

    /// The day `days` later (earlier if negative), at most the last day of the calendar.
    #[must_use]
    pub fn plus_days(self, days: i32) -> Self {
        let span: Span = days.days();
        Self(self.0.saturating_add(span))
    }

    /// Whether the day has not begun anywhere, given today in one zone: other zones may be a day ahead.
    #[must_use]
    pub fn is_to_come(self, today: Self) -> bool {
        self > today.plus_days(1)
    }
}

impl Day {
    /// The day as people of a region write it: `Mar 14, 2026` or `14 Mar 2026`. [`Day::read`] reads it.
    #[must_use]
    pub fn write(self, order: DateOrder) -> String {
        order.write(self.0)
    }

    /// The day in a document or an answer, which read the same in every region, such as `14 Mar 2026`.
    #[must_use]
    pub fn for_people(self) -> String {
        self.write(DateOrder::DayFirst)
    }
}

impl Day {
    /// The day as a number, such as 20260314.
    #[must_use]
    pub fn number(self) -> u32 {
        let part = |part: i8| u32::try_from(part).unwrap_or_default();
        let year = u32::try_from(self.0.year()).unwrap_or_default();
        year * 10_000 + part(self.0.month()) * 100 + part(self.0.day())
    }

    /// The day for a number such as 20260314. None if there is no such day.
    #[must_use]
    pub fn of_number(number: u32) -> Option<Self> {
        let year = i16::try_from(number / 10_000).ok()?;
        let part = |part: u32| i8::try_from(part % 100).ok();
        Date::new(year, part(number / 100)?, part(number)?).ok().map(Self)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_in_one_form_and_counted_on() {
        let day = Day::parse("2026-02-27").unwrap();
        assert_eq!((day.to_string().as_str(), day.plus_days(2).to_string().as_str()), ("2026-02-27", "2026-03-01"));
        assert_eq!(day.plus_days(-58).to_string(), "2025-12-31");
        assert_eq!((day.number(), Day::of_number(20_260_227)), (20_260_227, Some(day)));
        assert_eq!((Day::of_number(20_260_230), Day::of_number(0)), (None, None));
        for (order, text) in [(DateOrder::MonthFirst, "Feb 27, 2026"), (DateOrder::DayFirst, "27 Feb 2026")] {
            assert_eq!((day.write(order).as_str(), Day::read(text, order)), (text, Ok(day)));
        }
        for text in [
            "",
            "2026-3-14",
            "2026-02-30",
            "14.03.2026",
            "2026-03-14T",
            "-026-03-14",
            "2026-03-1é",
            "0026-03-14",
            "9999-12-31",
            "20260314",
            "2026-03+14",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }
}
