//! The URL of the audit log: days, filters, and a position.
//!
//! Decision: days and times are in the organization's time zone, so a link shows the same rows to every member.

use pages::urls::encode_query_value;
use shared::domain::audit::{AuditFilter, CallOutcome, DayRange};
use shared::domain::day::Day;
use shared::domain::ids::RequestId;
use shared::domain::local_time::NotLocalTime;
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::text;
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::Filter;
use uuid::Uuid;

const PATH: &str = pages::urls::AUDIT;

/// The URL as typed. The page shows errors next to their fields.
#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct Typed {
    #[deserr(default)]
    pub from: String,
    #[deserr(default)]
    pub to: String,
    #[deserr(default)]
    pub actor: String,
    #[deserr(default)]
    pub operation: String,
    #[deserr(default)]
    pub object: String,
    #[deserr(default)]
    pub outcome: String,
    #[deserr(default)]
    pub before: Filter<RequestId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Errors {
    pub from: Option<String>,
    pub to: Option<String>,
    pub operation: Option<&'static str>,
    pub object: Option<&'static str>,
    pub choice: bool,
}

impl Errors {
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AuditQuery {
    pub first: Day,
    pub days: DayRange,
    pub filter: AuditFilter,
    /// The part of a name typed for the object. The filter then has no object until it is found.
    pub object_name: Option<String>,
    pub before: Option<RequestId>,
}

const NO_OPERATION: &str = "Nothing that is logged is called this. Enter a word of it, such as “payment”.";

const NO_NAME: &str = "This can’t be a name. Enter a part of a name, an id, or a link to a record’s page.";

enum ObjectText {
    Id(Uuid),
    Name(String),
}

impl Typed {
    /// Reads a request's URL, trimming its fields. Fails for unknown or repeated parameters, and an invalid position.
    pub fn read(request: &Request) -> Result<Self, Error> {
        let mut typed: Self = request.read_query()?;
        let fields = [&mut typed.from, &mut typed.to, &mut typed.actor, &mut typed.operation, &mut typed.object];
        for field in fields.into_iter().chain([&mut typed.outcome]) {
            *field = field.trim().to_owned();
        }
        Ok(typed)
    }

    /// Fills in missing days (the last seven, or an object's life), and replaces a link with its object's id.
    pub fn check(&mut self, now: Timestamp, zone: &TimeZone) -> Result<AuditQuery, Errors> {
        let mut errors = Errors::default();
        let object = parsed(&self.object, object, || errors.object = Some(NO_NAME));
        let (object, object_name) = match object {
            Some(ObjectText::Id(id)) => (Some(id), None),
            Some(ObjectText::Name(name)) => (None, Some(name)),
            None => (None, None),
        };
        if let Some(id) = object {
            self.object = id.to_string();
        }
        let mut operations = operations_called(&self.operation);
        if operations.is_empty() {
            operations.extend(parsed(&self.operation, former_operation, || errors.operation = Some(NO_OPERATION)));
        } else if let [only] = operations.as_slice() {
            only.clone_into(&mut self.operation);
        }
        let filter = AuditFilter {
            actor: parsed(&self.actor, |text| text.parse().ok(), || errors.choice = true),
            operations,
            outcome: parsed(&self.outcome, CallOutcome::parse, || errors.choice = true),
            object,
        };
        let (today, order) = (zone.day_of(now), zone.dates());
        let day = |text: &str| Day::read(text, order).ok();
        let no_day = || Some(NotLocalTime::NoDay(order).to_string());
        if self.to.is_empty() {
            self.to = today.to_string();
        }
        let last = parsed(&self.to, day, || errors.to = no_day());
        if self.from.is_empty() {
            let end = last.unwrap_or(today);
            let created = filter.object.and_then(created_at).map(|created| zone.day_of(created));
            let created = created.filter(|created| *created < end);
            self.from = created.unwrap_or_else(|| end.plus_days(1 - limits::AUDIT_DAYS)).to_string();
        }
        let first = parsed(&self.from, day, || errors.from = no_day());
        if let (Some(first), Some(last)) = (first, last) {
            if last < first {
                errors.to = Some("must not be before the first day".to_owned());
            } else if !errors.any() {
                // Links have the days in one form, whichever way they were typed.
                (self.from, self.to) = (first.to_string(), last.to_string());
                let days = DayRange::of(first, last, zone);
                return Ok(AuditQuery { first, days, filter, object_name, before: None });
            }
        }
        Err(errors)
    }

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

    pub fn url(&self, before: Option<RequestId>) -> String {
        format!("{PATH}?{}", self.to_query(before))
    }

    pub fn week_before(&self, day: Day) -> Self {
        let (from, to) = (day.plus_days(-limits::AUDIT_DAYS), day.plus_days(-1));
        Self { from: from.to_string(), to: to.to_string(), ..self.clone() }
    }
}

impl AuditQuery {
    pub fn read(request: &Request, typed: &mut Typed) -> Result<Result<Self, Errors>, Error> {
        let zone = &request.signed_in()?.organization().time_zone;
        let query = typed.check(request.now(), zone);
        Ok(query.map(|query| Self { before: typed.before.get(), ..query }))
    }
}

/// The value of a text. None if empty; calls `refuse` if invalid.
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

/// What a text refers to: an id, a link to a record's page or below it, or part of a name.
fn object(text: &str) -> Option<ObjectText> {
    const ID_CHARS: usize = 36;
    if let Ok(id) = Uuid::try_parse(text) {
        return Some(ObjectText::Id(id));
    }
    let no_id = |letter: char| !letter.is_ascii_hexdigit() && letter != '-';
    let mut parts = text.split(no_id).filter(|part| part.len() == ID_CHARS);
    // The first id in a page's link is the record's.
    let linked = parts.find_map(|part| Uuid::try_parse(part).ok()).filter(|_| text.contains('/'));
    if let Some(id) = linked {
        return Some(ObjectText::Id(id));
    }
    let is_name = text.chars().count() <= limits::SEARCH_CHARS_MAX && !text.chars().any(char::is_control);
    is_name.then(|| ObjectText::Name(text.to_owned()))
}

/// The operations that a text means: the one with this id, those called exactly so, or all with these words.
fn operations_called(typed: &str) -> Vec<String> {
    let words = typed.to_lowercase();
    let those = |means: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
        let meant = text::operations().filter(|(id, did)| means(id, &did.to_lowercase()));
        meant.map(|(id, _)| id.to_owned()).collect()
    };
    if words.is_empty() {
        return Vec::new();
    }
    let of_id = those(&|id, _| id == typed);
    let exactly = if of_id.is_empty() { those(&|_, did| did == words) } else { of_id };
    if exactly.is_empty() { those(&|_, did| did.contains(&words)) } else { exactly }
}

/// The id of an operation of before.
fn former_operation(typed: &str) -> Option<String> {
    const CHARS_MAX: usize = 64;
    let is_id = typed.len() <= CHARS_MAX && typed.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_id && typed.contains('_')).then(|| typed.to_owned())
}

fn created_at(id: Uuid) -> Option<Timestamp> {
    let (seconds, _) = id.get_timestamp()?.to_unix();
    Timestamp::from_unix_ms(i64::try_from(seconds).ok()?.checked_mul(1000)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35";

    fn now() -> Timestamp {
        "2026-11-22T14:03:22Z".parse().expect("a moment")
    }

    fn utc() -> TimeZone {
        TimeZone::default()
    }

    fn typed(from: &str, to: &str) -> Typed {
        Typed { from: from.to_owned(), to: to.to_owned(), ..Typed::default() }
    }

    fn about(object: &str) -> Typed {
        Typed { object: object.to_owned(), ..Typed::default() }
    }

    #[test]
    fn the_last_seven_days_come_first() {
        let mut open = typed("", "");
        let query = open.check(now(), &utc()).expect("no errors");
        assert_eq!((open.from.as_str(), open.to.as_str()), ("2026-11-16", "2026-11-22"));
        assert_eq!(query.days.start.to_string(), "2026-11-16T00:00:00.000Z");
        assert_eq!(query.days.end.to_string(), "2026-11-23T00:00:00.000Z");
        assert!(query.filter.is_empty());
        let week_before = open.week_before(query.first);
        assert_eq!((week_before.from.as_str(), week_before.to.as_str()), ("2026-11-09", "2026-11-15"));
        assert_eq!(open.url(None), "/app/audit?from=2026-11-16&to=2026-11-22");
    }

    #[test]
    fn days_are_typed_as_the_zone_s_people_write_them_and_stand_in_links_in_one_form() {
        let new_york = TimeZone::parse("America/New_York").expect("a zone");
        for (zone, from, to) in [
            (&new_york, "11/3/2026", "Nov 12, 2026"),
            (&utc(), "3.11.2026", "12/11/2026"),
            (&utc(), "2026-11-03", "12 Nov 2026"),
        ] {
            let mut open = typed(from, to);
            open.check(now(), zone).expect("no errors");
            assert_eq!(open.url(None), "/app/audit?from=2026-11-03&to=2026-11-12", "{from}");
        }
    }

    #[test]
    fn days_are_those_of_the_zone_where_clocks_change_too() {
        let zone = |name| TimeZone::parse(name).expect("a zone");
        let (tokyo, new_york) = (zone("Asia/Tokyo"), zone("America/New_York"));
        let late: Timestamp = "2026-11-22T15:00:00Z".parse().expect("a moment");
        let mut open = typed("", "");
        let query = open.check(late, &tokyo).expect("no errors");
        assert_eq!((open.from.as_str(), open.to.as_str()), ("2026-11-17", "2026-11-23"), "the next day has begun");
        assert_eq!(query.days.start.to_string(), "2026-11-16T15:00:00.000Z");
        assert_eq!(query.days.end.to_string(), "2026-11-23T15:00:00.000Z");
        // Clocks go back in the night to November 1: the week has an extra hour.
        let query = typed("2026-10-26", "2026-11-01").check(now(), &new_york).expect("no errors");
        assert_eq!(query.days.start.to_string(), "2026-10-26T04:00:00.000Z");
        assert_eq!(query.days.end.to_string(), "2026-11-02T05:00:00.000Z");
    }

    #[test]
    fn the_days_of_an_object_begin_with_its_creation() {
        let mut open = about(OBJECT);
        open.check(now(), &utc()).expect("no errors");
        assert_eq!((open.from.as_str(), open.to.as_str()), ("2025-07-14", "2026-11-22"));
        // Ids from elsewhere or from the future are ignored.
        for object in ["6f1c2a34-90ab-4cde-8f01-23456789abcd", "0fffffff-5f10-7c44-9a6b-2f1d8e0c7b35"] {
            let mut open = about(object);
            open.check(now(), &utc()).expect("no errors");
            assert_eq!(open.from, "2026-11-16", "{object}");
        }
    }

    #[test]
    fn an_object_is_told_by_its_id_a_link_or_a_name() {
        for text in [
            OBJECT.to_owned(),
            OBJECT.to_uppercase(),
            format!("/app/agreements/{OBJECT}"),
            format!(
                "https://deals.example/app/agreements/{OBJECT}/documents/01980a3e-5f10-7c44-9a6b-2f1d8e0c7b36?x=1#top"
            ),
            format!("http://localhost:8080/app/audit?from=2026-11-16&object={OBJECT}"),
        ] {
            let mut open = about(&text);
            let query = open.check(now(), &utc()).expect("no errors");
            assert_eq!((open.object.as_str(), query.object_name), (OBJECT, None), "{text}");
            assert_eq!(query.filter.object.map(|id| id.to_string()).as_deref(), Some(OBJECT), "{text}");
        }
        for text in ["Ada", "Harbor Street / Lease", "/app/agreements", "01980a3e-5f10-7c44", "https://hooks.example/a"]
        {
            let query = about(text).check(now(), &utc()).expect("no errors");
            assert_eq!((query.object_name.as_deref(), query.filter.object), (Some(text), None));
        }
    }

    #[test]
    fn an_operation_is_told_by_its_id_or_its_words() {
        let read = |typed: &str| {
            let mut open = Typed { operation: typed.to_owned(), ..Typed::default() };
            let operations = open.check(now(), &utc()).expect("no errors").filter.operations;
            (open.operation, operations)
        };
        for typed in ["publish_agreement", "published AN agreement"] {
            let one = "publish_agreement".to_owned();
            assert_eq!(read(typed), (one.clone(), vec![one]), "{typed}");
        }
        let (stays, several) = read("Listed");
        assert!(stays == "Listed" && several.len() > 1, "{several:?}");
        assert!(several.iter().all(|id| text::operation(id).did.starts_with("Listed")), "{several:?}");
        let (stays, same) = read("added a participant");
        assert_eq!(
            (stays.as_str(), same),
            ("added a participant", vec!["add_agreement_participant".to_owned(), "add_participant".to_owned()]),
            "two ways to the same"
        );
        assert_eq!(read("of_an_earlier_release").1, ["of_an_earlier_release"]);
        assert!(read("").1.is_empty());
    }

    #[test]
    fn each_wrong_field_is_named() {
        let errors = |mut typed: Typed| typed.check(now(), &utc()).expect_err("errors");
        let wrong_from = errors(typed("yesterday", ""));
        assert_eq!(wrong_from.from.as_deref(), Some("must be a date such as 26 Nov 2026 or 26/11/2026"));
        assert!(wrong_from.to.is_none());
        assert!(errors(typed("", "2026-02-30")).to.is_some());
        assert!(errors(typed("2026-11-20", "2026-11-19")).to.is_some());
        assert!(errors(about(&"x".repeat(limits::SEARCH_CHARS_MAX + 1))).object.is_some());
        assert!(errors(about("a\u{0}b")).object.is_some());
        for choice in
            [Typed { actor: "x".to_owned(), ..Typed::default() }, Typed { outcome: "x".to_owned(), ..Typed::default() }]
        {
            assert!(errors(choice).choice);
        }
        for operation in ["Robert'); --", "publishagreement"] {
            let typed = Typed { operation: operation.to_owned(), ..Typed::default() };
            assert_eq!(errors(typed).operation, Some(NO_OPERATION));
        }
    }
}
