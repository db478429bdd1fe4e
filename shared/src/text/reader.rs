//! The zone and the date order in which a page shows times: those of the organization whose deal it is.
//!
//! Decision: the route of a page sets the zone once, for the whole task, and each sentence with a time asks here.
//! Otherwise each function from the page down to the sentence would carry the zone, and the one that forgets it would
//! show UTC beside other times. Outside of pages (API, events, documents) nothing is set: those say UTC and put the
//! day first, as always. A blocking thread, on which documents are written, is outside too.

use crate::domain::date_order::DateOrder;
use crate::domain::day::Day;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;

tokio::task_local! {
    static ZONE: TimeZone;
}

/// Makes a page whose times are in `zone`.
pub async fn reading_in<F: Future>(zone: TimeZone, page: F) -> F::Output {
    ZONE.scope(zone, page).await
}

/// The zone of the page that is being made. UTC outside of pages.
#[must_use]
pub fn zone() -> TimeZone {
    ZONE.try_with(TimeZone::clone).unwrap_or_default()
}

/// The order of dates on the page that is being made.
#[must_use]
pub fn dates() -> DateOrder {
    ZONE.try_with(TimeZone::dates).unwrap_or_default()
}

/// What the page that is being made shows in its own zone and order.
pub trait Shown {
    /// Its text.
    fn shown(self) -> String;
}

impl Shown for Day {
    fn shown(self) -> String {
        self.write(dates())
    }
}

impl Shown for &Day {
    fn shown(self) -> String {
        self.write(dates())
    }
}

impl Shown for Timestamp {
    fn shown(self) -> String {
        zone().for_people(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_page_has_one_zone_and_what_is_no_page_has_none() {
        let at: Timestamp = "2026-12-31T22:00:59Z".parse().unwrap();
        let said = move || (at.shown(), zone().day_of(at).shown());
        let new_york = TimeZone::parse("America/New_York").unwrap();
        let page = reading_in(new_york, async move { said() }).await;
        assert_eq!(page, ("Dec 31, 2026, 5:00 PM EST".to_owned(), "Dec 31, 2026".to_owned()));
        assert_eq!(said(), ("31 Dec 2026, 22:00 UTC".to_owned(), "31 Dec 2026".to_owned()));
    }
}
