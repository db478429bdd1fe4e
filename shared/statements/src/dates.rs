//! Dates as banks write them.

use jiff::civil::Date;

/// Plausible years of a statement; a date outside them was misread.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2199;

/// The most days between booking and value date: the same day of another year is further away.
const HALF_A_YEAR_DAYS: i32 = 183;

pub(crate) fn date(year: i16, month: i8, day: i8) -> Option<Date> {
    Date::new(year, month, day).ok().filter(|date| YEARS.contains(&date.year()))
}

/// `2026-01-31`. Ignores a time or zone after it: the bank's day counts.
pub(crate) fn iso(text: &str) -> Option<Date> {
    let (date, rest) = text.split_at_checked(10)?;
    let is_bare = rest.is_empty() || rest.starts_with(['T', 'Z', '+', '-']);
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let lengths = [year.len(), month.len(), day.len()] == [4, 2, 2];
    (is_bare && lengths && parts.next().is_none()).then(|| from_digits(year, month, day)).flatten()
}

pub(crate) fn yymmdd(text: &str) -> Option<Date> {
    let (year, rest) = text.split_at_checked(2)?;
    let (month, day) = rest.split_at_checked(2)?;
    if day.len() == 2 { from_digits(year, month, day) } else { None }
}

/// Reads digits; a two-digit year is of this century.
pub(crate) fn from_digits(year: &str, month: &str, day: &str) -> Option<Date> {
    let are_digits = [year, month, day].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !are_digits || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let year: i16 = match year.len() {
        2 => 2000 + year.parse::<i16>().ok()?,
        4 => year.parse().ok()?,
        _ => return None,
    };
    date(year, month.parse().ok()?, day.parse().ok()?)
}

/// The booking's date in the year nearest to its value date, which may be in another year.
pub(crate) fn near(value_on: Date, month: &str, day: &str) -> Option<Date> {
    let candidates = [value_on.year() - 1, value_on.year(), value_on.year() + 1];
    let dates = candidates.into_iter().filter_map(|year| from_digits(&format!("{year:04}"), month, day));
    let distance = |date: &Date| days_between(value_on, *date).abs();
    dates.min_by_key(distance).filter(|date| distance(date) <= HALF_A_YEAR_DAYS)
}

pub(crate) fn days_between(from: Date, to: Date) -> i32 {
    (to - from).get_days()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn iso_dates_may_have_a_time_and_a_zone() {
        for text in
            ["2026-01-31", "2026-01-31Z", "2026-01-31+01:00", "2026-01-31T23:59:59.999-05:00", "2026-01-31T00:00:00"]
        {
            assert_eq!(iso(text), Some(date(2026, 1, 31)), "{text}");
        }
        for text in ["", "2026-1-31", "2026-02-30", "31.01.2026", "2026-01-3é", "2026-01-310", "20260131", "0001-01-01"]
        {
            assert_eq!(iso(text), None, "{text}");
        }
    }

    #[test]
    fn bookings_around_the_turn_of_the_year_are_near_their_value_date() {
        for (value_on, month, day, expected) in [
            (date(2025, 12, 31), "01", "02", date(2026, 1, 2)),
            (date(2026, 1, 2), "12", "31", date(2025, 12, 31)),
            (date(2026, 6, 30), "06", "30", date(2026, 6, 30)),
            (date(2024, 3, 1), "02", "29", date(2024, 2, 29)),
        ] {
            assert_eq!(near(value_on, month, day), Some(expected));
        }
        assert_eq!(near(date(2025, 3, 1), "02", "29"), None);
        assert_eq!(near(date(2026, 3, 1), "02", "29"), None);
        assert_eq!(near(date(2026, 3, 1), "13", "01"), None);
    }
}
