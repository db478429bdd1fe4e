//! Parses dates and times as people type them (`Dec 31, 2026 5pm`, `31 December 2026 at 17:00`, `2026-12-31`). Refuses
//! ambiguous input; the page shows how it understood the rest.
//!
//! Decision: what digits with slashes mean depends on the region's [`DateOrder`]. Digits with dots are a date only where
//! the day comes first. A date alone includes the whole day, to its last millisecond.

use jiff::civil::{Date, DateTime, Time};

use super::date_order::DateOrder;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Why a text is not a local time. Displays as the end of "The expiry …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotLocalTime {
    /// It is not a day, or is ambiguous.
    #[error("must be a date such as {}", .0.days())]
    NoDay(DateOrder),
    /// It is neither a day nor a day with a time, or is ambiguous.
    #[error("must be a date, with a time of day if it matters, such as {}", .0.times())]
    NoTime(DateOrder),
    /// No such day, such as February 30.
    #[error("must be a day that exists")]
    NoSuchDay,
    /// Its year is implausible.
    #[error("must be in the years 1900 to 2199")]
    OutOfRange,
}

/// Plausible years; others are typos.
pub(super) const YEARS: std::ops::RangeInclusive<i16> = 1900..=2199;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocalTime {
    Day(Date),
    At(DateTime),
}

pub(super) fn read(text: &str, order: DateOrder) -> Result<LocalTime, NotLocalTime> {
    let unreadable = NotLocalTime::NoTime(order);
    let text = text.trim().to_ascii_lowercase();
    // In `2026-12-31t17:00`, no blank separates date and time.
    let spaced = match text.split_once('t') {
        Some((date, time)) if date.ends_with(|last: char| last.is_ascii_digit()) && time.contains(':') => {
            format!("{date} {time}")
        }
        _ => text,
    };
    let words: Vec<&str> =
        spaced.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|word| !word.is_empty()).collect();
    let (date, rest) = read_date(&words, order).unwrap_or(Err(unreadable))?;
    match rest {
        [] => Ok(LocalTime::Day(date)),
        rest => Ok(LocalTime::At(date.to_datetime(read_time(rest).ok_or(unreadable)?))),
    }
}

pub(super) fn read_day(text: &str, order: DateOrder) -> Result<Date, NotLocalTime> {
    let text = text.trim().to_ascii_lowercase();
    let words: Vec<&str> =
        text.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|word| !word.is_empty()).collect();
    match read_date(&words, order) {
        Some(Ok((date, []))) => Ok(date),
        Some(Err(error)) => Err(error),
        _ => Err(NotLocalTime::NoDay(order)),
    }
}

type DateAndRest<'a> = Result<(Date, &'a [&'a str]), NotLocalTime>;

/// The date that words begin with. None if they don't begin with one.
fn read_date<'a>(words: &'a [&'a str], order: DateOrder) -> Option<DateAndRest<'a>> {
    let ((year, month, day), rest) = parts_of_date(words, order)?;
    let (year, day): (i16, i8) = (year.parse().ok()?, day.parse().ok()?);
    if !YEARS.contains(&year) {
        return Some(Err(NotLocalTime::OutOfRange));
    }
    Some(Date::new(year, month, day).map(|date| (date, rest)).map_err(|_| NotLocalTime::NoSuchDay))
}

type DateParts<'a> = ((&'a str, i8, &'a str), &'a [&'a str]);

fn parts_of_date<'a>(words: &'a [&'a str], order: DateOrder) -> Option<DateParts<'a>> {
    const YEAR_DIGITS: usize = 4;
    let is_year = |text: &str| text.len() == YEAR_DIGITS && is_number(text);
    let (first, rest) = words.split_first()?;
    let separated =
        |separator: char| -> Option<[&'a str; 3]> { first.split(separator).collect::<Vec<_>>().try_into().ok() };
    let (year, month, day, rest) = if let Some([year, month, day]) = separated('-') {
        (year, number(month)?, day, rest)
    } else if let Some([first, second, year]) = separated('/').or_else(|| separated('.')) {
        let (month, day) = match order {
            DateOrder::DayFirst => (second, first),
            DateOrder::MonthFirst if !words[0].contains('.') => (first, second),
            DateOrder::MonthFirst => return None,
        };
        // A thirteenth month may be a day in the other order: the error shows the order to use.
        (year, number(month).filter(|month| *month <= 12)?, day, rest)
    } else {
        let [second, year, rest @ ..] = rest else { return None };
        match (month_of(first), month_of(second)) {
            (Some(month), None) => (*year, month, day_of(second), rest),
            (None, Some(month)) => (*year, month, day_of(first), rest),
            _ => return None,
        }
    };
    (is_year(year) && is_number(day)).then_some(((year, month, day), rest))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str) -> Option<i8> {
    is_number(text).then(|| text.parse().ok()).flatten()
}

fn month_of(word: &str) -> Option<i8> {
    const LETTERS_MIN: usize = 3;
    let word = word.trim_end_matches('.');
    let index = MONTHS.iter().position(|name| word.len() >= LETTERS_MIN && name.starts_with(word))?;
    i8::try_from(index + 1).ok()
}

fn day_of(word: &str) -> &str {
    ["st", "nd", "rd", "th"].into_iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// Parses a time of day: `17:00`, `17:00:30`, `5pm`, `5:30 p.m.`, `5:30:15 PM`, `at noon`. Refuses a bare number, which is ambiguous.
fn read_time(words: &[&str]) -> Option<Time> {
    let words = words.strip_prefix(&["at"]).unwrap_or(words);
    let text = words.concat().replace("a.m.", "am").replace("p.m.", "pm");
    if text == "noon" {
        return Some(Time::constant(12, 0, 0, 0));
    }
    let (clock, afternoon) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(false)),
        (_, Some(clock)) => (clock, Some(true)),
        _ => (text.as_str(), None),
    };
    let Some(afternoon) = afternoon else {
        // The parser also accepts offsets; a time of day has only digits.
        let is_plain = clock.contains(':') && clock.chars().all(|c| c.is_ascii_digit() || ":.".contains(c));
        return is_plain.then(|| format!("{clock:0>5}").parse().ok()).flatten();
    };
    let parts: Vec<i8> = clock.split(':').map(number).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match parts[..] {
        [hours] => (hours, 0, 0),
        [hours, minutes] => (hours, minutes, 0),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    if !(1..=12).contains(&hours) {
        return None;
    }
    Time::new(hours % 12 + if afternoon { 12 } else { 0 }, minutes, seconds, 0).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<LocalTime, NotLocalTime> {
        super::read(text, DateOrder::MonthFirst)
    }

    #[test]
    fn digits_are_read_in_the_order_of_the_region_and_never_in_the_other() {
        for (text, order, expected) in [
            ("11/3/2026", DateOrder::MonthFirst, Some("2026-11-03")),
            ("11/3/2026", DateOrder::DayFirst, Some("2026-03-11")),
            ("11.3.2026", DateOrder::DayFirst, Some("2026-03-11")),
            ("11.3.2026", DateOrder::MonthFirst, None),
            ("26/11/2026", DateOrder::DayFirst, Some("2026-11-26")),
            ("26/11/2026", DateOrder::MonthFirst, None),
            ("11/26/2026", DateOrder::DayFirst, None),
            ("Nov 26, 2026", DateOrder::DayFirst, Some("2026-11-26")),
            ("26 Nov 2026", DateOrder::MonthFirst, Some("2026-11-26")),
            ("2026-11-26", DateOrder::DayFirst, Some("2026-11-26")),
        ] {
            let day = read_day(text, order);
            let expected = expected.map(str::to_owned).ok_or(NotLocalTime::NoDay(order));
            assert_eq!(day.map(|day| day.to_string()), expected, "{text} {order:?}");
        }
        let said = |order| read_day("soon", order).unwrap_err().to_string();
        assert_eq!(said(DateOrder::MonthFirst), "must be a date such as Nov 26, 2026 or 11/26/2026");
        assert_eq!(said(DateOrder::DayFirst), "must be a date such as 26 Nov 2026 or 26/11/2026");
    }

    #[test]
    fn dates_and_times_are_read_as_people_type_them() {
        for (text, expected) in [
            ("12/31/2026", "2026-12-31"),
            ("2026-12-31", "2026-12-31"),
            ("Dec 31, 2026 5pm", "2026-12-31T17:00:00"),
            ("Dec 31, 2026 5:00 PM", "2026-12-31T17:00:00"),
            ("Dec 31, 2026, 5:00:59 PM", "2026-12-31T17:00:59"),
            ("dec. 31st 2026, 5:30 p.m.", "2026-12-31T17:30:00"),
            ("31 December 2026", "2026-12-31"),
            ("31 December 2026 at 9:05", "2026-12-31T09:05:00"),
            ("August 1 2026 noon", "2026-08-01T12:00:00"),
            ("1 Sept 2026 12am", "2026-09-01T00:00:00"),
            ("1 Oct 2026 12:15 pm", "2026-10-01T12:15:00"),
            ("2026-12-31T17:00", "2026-12-31T17:00:00"),
            ("2026-12-31T17:00:30.250", "2026-12-31T17:00:30.25"),
            (" 2026-12-31 17:00 ", "2026-12-31T17:00:00"),
            ("1/2/2027 8:00", "2027-01-02T08:00:00"),
        ] {
            let said = |read| match read {
                LocalTime::Day(day) => day.to_string(),
                LocalTime::At(at) => at.to_string(),
            };
            assert_eq!(read(text).map(said), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_or_can_be_read_in_two_ways_is_refused_with_the_reason() {
        for text in [
            "",
            "17:00",
            "tomorrow",
            "12/31",
            "12/31/26",
            "31/12/2026",
            "12.31.2026",
            "2026-12-31 5",
            "2026-12-31T",
            "T17:00",
            "2026-12-31T17:00Z",
            "2026-12-31T17:00+02:00",
            "2026-12-31T17:00[Europe/Berlin]",
            "2026-12-31T25:00",
            "Dec 31, 2026 13pm",
            "Dec 31 2026 5:75pm",
            "20261-12-31T17:00",
            "Dec Dec 2026",
            "31 31 2026",
            "Dec 31 2026 EST",
            "2026-12-31 -5:00",
            "ma 3 2026",
            "December, 2026",
            "31 \u{661}2 2026",
            "é",
        ] {
            assert_eq!(read(text), Err(NotLocalTime::NoTime(DateOrder::MonthFirst)), "{text}");
        }
        for text in ["2026-02-30T17:00", "02/30/2026", "Feb 29, 2027", "2026-00-10"] {
            assert_eq!(read(text), Err(NotLocalTime::NoSuchDay), "{text}");
        }
        for text in ["9999-12-31T23:59", "12/31/9999", "Dec 31, 0026"] {
            assert_eq!(read(text), Err(NotLocalTime::OutOfRange), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_to_be_refused(text in "\\PC{0,40}") {
            let _ = read(&text);
        }
    }
}
