//! The order in which people of a region write a date.
//!
//! Decision: an organization's time zone decides it, and there is no setting of its own. Who keeps the clocks of the
//! United States writes the month first; everyone else writes the day first, as do organizations that have not chosen
//! a zone yet. A date in digits is never guessed: `3/4/2026` has one meaning on all pages of an organization, each
//! field shows it by an example, and a date that only the other order makes sense of is refused.

use jiff::civil::Date;

/// Which comes first in a date: the month or the day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// `Nov 26, 2026` and `11/26/2026`, with times such as `5:00 PM`.
    MonthFirst,
    /// `26 Nov 2026` and `26/11/2026`, with times such as `17:00`.
    #[default]
    DayFirst,
}

/// The zones of the United States, apart from those below one of [`AREAS`].
const ZONES: [&str; 38] = [
    "America/Adak",
    "America/Anchorage",
    "America/Atka",
    "America/Boise",
    "America/Chicago",
    "America/Denver",
    "America/Detroit",
    "America/Fort_Wayne",
    "America/Indianapolis",
    "America/Juneau",
    "America/Knox_IN",
    "America/Los_Angeles",
    "America/Louisville",
    "America/Menominee",
    "America/Metlakatla",
    "America/New_York",
    "America/Nome",
    "America/Phoenix",
    "America/Puerto_Rico",
    "America/Shiprock",
    "America/Sitka",
    "America/St_Thomas",
    "America/Virgin",
    "America/Yakutat",
    "CST6CDT",
    "EST",
    "EST5EDT",
    "HST",
    "MST",
    "MST7MDT",
    "Navajo",
    "PST8PDT",
    "Pacific/Guam",
    "Pacific/Honolulu",
    "Pacific/Midway",
    "Pacific/Pago_Pago",
    "Pacific/Saipan",
    "Pacific/Wake",
];

const AREAS: [&str; 4] = ["America/Indiana/", "America/Kentucky/", "America/North_Dakota/", "US/"];

impl DateOrder {
    /// The order of the region with a time zone of this name.
    #[must_use]
    pub fn of_zone(name: &str) -> Self {
        let is_american = ZONES.contains(&name) || AREAS.iter().any(|area| name.starts_with(area));
        if is_american { Self::MonthFirst } else { Self::DayFirst }
    }

    /// Examples of a day, in words and in digits.
    #[must_use]
    pub fn days(self) -> &'static str {
        match self {
            Self::MonthFirst => "Nov 26, 2026 or 11/26/2026",
            Self::DayFirst => "26 Nov 2026 or 26/11/2026",
        }
    }

    /// Examples of a day with a time, and without.
    #[must_use]
    pub fn times(self) -> &'static str {
        match self {
            Self::MonthFirst => "Nov 26, 2026 5pm or 11/26/2026",
            Self::DayFirst => "26 Nov 2026 17:00 or 26/11/2026",
        }
    }

    pub(super) fn write(self, date: Date) -> String {
        date.strftime(self.day_format()).to_string()
    }

    pub(super) fn day_format(self) -> &'static str {
        match self {
            Self::MonthFirst => "%b %-d, %Y",
            Self::DayFirst => "%-d %b %Y",
        }
    }

    pub(super) fn clock_format(self, has_seconds: bool) -> &'static str {
        match (self, has_seconds) {
            (Self::MonthFirst, false) => "%-I:%M %p",
            (Self::MonthFirst, true) => "%-I:%M:%S %p",
            (Self::DayFirst, false) => "%H:%M",
            (Self::DayFirst, true) => "%H:%M:%S",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_of_the_united_states_write_the_month_first_and_no_others() {
        for name in [
            "America/New_York",
            "America/Indiana/Knox",
            "America/Kentucky/Louisville",
            "US/Eastern",
            "Pacific/Honolulu",
        ] {
            assert_eq!(DateOrder::of_zone(name), DateOrder::MonthFirst, "{name}");
        }
        for name in
            ["UTC", "Europe/London", "America/Toronto", "America/Sao_Paulo", "America/Mexico_City", "Asia/Tokyo"]
        {
            assert_eq!(DateOrder::of_zone(name), DateOrder::DayFirst, "{name}");
        }
    }
}
