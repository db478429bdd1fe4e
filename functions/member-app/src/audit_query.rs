//! The address of the audit log: days, filters, and a position.

use shared::domain::audit::{AuditFilter, CallOutcome, DayRange};
use shared::domain::ids::RequestId;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::web::Request;
use uuid::Uuid;

use crate::layout::encode_query_value;

/// The path of the log.
pub(crate) const PATH: &str = "/app/audit";

/// A day, in seconds.
const DAY_S: i64 = 24 * 3600;

/// The address as a member typed it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    pub from: String,
    pub to: String,
    pub actor: String,
    pub operation: String,
    pub object: String,
    pub outcome: String,
}

/// What is wrong with the address, by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Errors {
    pub from: Option<&'static str>,
    pub to: Option<&'static str>,
    pub object: Option<&'static str>,
    /// In a field that only offers choices.
    pub choice: bool,
}

impl Errors {
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// The rows that an address asks for.
#[derive(Debug, Clone)]
pub(crate) struct AuditQuery {
    pub days: DayRange,
    pub filter: AuditFilter,
    pub before: Option<RequestId>,
}

const NO_DAY: &str = "must be a day such as 2026-03-14";

impl Typed {
    /// The address of a request. Fields that a form left empty are empty.
    pub fn read(request: &Request) -> Self {
        let field = |name| request.query(name).unwrap_or_default().trim().to_owned();
        Self {
            from: field("from"),
            to: field("to"),
            actor: field("actor"),
            operation: field("operation"),
            object: field("object"),
            outcome: field("outcome"),
        }
    }

    /// The rows that it asks for, and the address with the days that it left open: the last seven, or, for an object, all
    /// since the object was created.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&mut self, now: Timestamp) -> Result<(DayRange, AuditFilter), Errors> {
        let mut errors = Errors::default();
        let filter = AuditFilter {
            actor: parsed(&self.actor, |text| text.parse().ok(), || errors.choice = true),
            operation: parsed(&self.operation, operation, || errors.choice = true),
            outcome: parsed(&self.outcome, CallOutcome::parse, || errors.choice = true),
            object: parsed(
                &self.object,
                |text| text.parse().ok(),
                || {
                    errors.object = Some("must be an id such as 01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35");
                },
            ),
        };
        if self.to.is_empty() {
            self.to = now.day();
        }
        let last = parsed(&self.to, Timestamp::start_of_day, || errors.to = Some(NO_DAY));
        if self.from.is_empty() {
            let week = last.unwrap_or(now).plus_seconds(-(limits::AUDIT_DAYS - 1) * DAY_S);
            let created = filter.object.and_then(created_at).filter(|created| *created < last.unwrap_or(now));
            self.from = created.unwrap_or(week).day();
        }
        let first = parsed(&self.from, Timestamp::start_of_day, || errors.from = Some(NO_DAY));
        if let (Some(first), Some(last)) = (first, last) {
            if last < first {
                errors.to = Some("must not be before the first day");
            } else if !errors.any() {
                return Ok((DayRange { start: first, end: last.plus_seconds(DAY_S) }, filter));
            }
        }
        Err(errors)
    }

    /// The query of this address, at a position if one is given.
    pub fn to_query(&self, before: Option<RequestId>) -> String {
        let pair =
            |(name, value): (&str, &str)| (!value.is_empty()).then(|| format!("{name}={}", encode_query_value(value)));
        let fields = [
            ("from", self.from.as_str()),
            ("to", &self.to),
            ("actor", &self.actor),
            ("operation", &self.operation),
            ("object", &self.object),
            ("outcome", &self.outcome),
        ];
        let before = before.as_ref().map(RequestId::to_string).unwrap_or_default();
        fields.into_iter().chain([("before", before.as_str())]).filter_map(pair).collect::<Vec<_>>().join("&")
    }

    /// The address of the log for these fields.
    pub fn url(&self, before: Option<RequestId>) -> String {
        format!("{PATH}?{}", self.to_query(before))
    }

    /// The week before these days, with the same filters.
    pub fn week_before(&self, days: DayRange) -> Self {
        let day = |days_back: i64| days.start.plus_seconds(-days_back * DAY_S).day();
        Self { from: day(limits::AUDIT_DAYS), to: day(1), ..self.clone() }
    }
}

impl AuditQuery {
    /// Reads the address of a request. A position that is none is the beginning.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(request: &Request, typed: &mut Typed) -> Result<Self, Errors> {
        let (days, filter) = typed.check(request.now())?;
        Ok(Self { days, filter, before: request.query("before").and_then(|id| id.parse().ok()) })
    }
}

/// The value of a text; none if the text is empty. Calls `refuse` if the text has no value.
fn parsed<T>(text: &str, read: impl FnOnce(&str) -> Option<T>, refuse: impl FnOnce()) -> Option<T> {
    if text.is_empty() {
        return None;
    }
    let value = read(text);
    if value.is_none() {
        refuse();
    }
    value
}

/// An operation's id. Any will do that has the form of one.
fn operation(text: &str) -> Option<String> {
    const CHARS_MAX: usize = 64;
    let is_id = text.len() <= CHARS_MAX && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_id.then(|| text.to_owned())
}

/// When an object was created, by its id.
fn created_at(id: Uuid) -> Option<Timestamp> {
    let (seconds, _) = id.get_timestamp()?.to_unix();
    Timestamp::from_unix_ms(i64::try_from(seconds).ok()?.checked_mul(1000)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-22T14:03:22Z".parse().expect("a moment")
    }

    fn typed(from: &str, to: &str) -> Typed {
        Typed { from: from.to_owned(), to: to.to_owned(), ..Typed::default() }
    }

    #[test]
    fn the_last_seven_days_come_first() {
        let mut open = typed("", "");
        let (days, filter) = open.check(now()).expect("no errors");
        assert_eq!((open.from.as_str(), open.to.as_str()), ("2026-11-16", "2026-11-22"));
        assert_eq!(days.start.to_string(), "2026-11-16T00:00:00.000Z");
        assert_eq!(days.end.to_string(), "2026-11-23T00:00:00.000Z");
        assert!(filter.is_empty());
        let week_before = open.week_before(days);
        assert_eq!((week_before.from.as_str(), week_before.to.as_str()), ("2026-11-09", "2026-11-15"));
        assert_eq!(open.url(None), "/app/audit?from=2026-11-16&to=2026-11-22");
    }

    #[test]
    fn the_days_of_an_object_begin_with_its_creation() {
        let object = "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35";
        let mut open = Typed { object: object.to_owned(), ..Typed::default() };
        open.check(now()).expect("no errors");
        assert_eq!((open.from.as_str(), open.to.as_str()), ("2025-07-14", "2026-11-22"));
        // An id that was not made by the service, or is from the future, tells nothing.
        for object in ["6f1c2a34-90ab-4cde-8f01-23456789abcd", "0fffffff-5f10-7c44-9a6b-2f1d8e0c7b35"] {
            let mut open = Typed { object: object.to_owned(), ..Typed::default() };
            open.check(now()).expect("no errors");
            assert_eq!(open.from, "2026-11-16", "{object}");
        }
    }

    #[test]
    fn each_wrong_field_is_named() {
        let errors = |mut typed: Typed| typed.check(now()).expect_err("errors");
        let wrong_from = errors(typed("yesterday", ""));
        assert!(wrong_from.from.is_some() && wrong_from.to.is_none());
        assert!(errors(typed("", "2026-02-30")).to.is_some());
        assert!(errors(typed("2026-11-20", "2026-11-19")).to.is_some());
        assert!(errors(Typed { object: "x".to_owned(), ..Typed::default() }).object.is_some());
        for choice in [
            Typed { actor: "x".to_owned(), ..Typed::default() },
            Typed { outcome: "x".to_owned(), ..Typed::default() },
            Typed { operation: "Robert'); --".to_owned(), ..Typed::default() },
        ] {
            assert!(errors(choice).choice);
        }
    }
}
