//! Reading input: typed path, query and body, with *all* errors of a request reported at once.
//!
//! Types say what is valid and read themselves with `deserr`; this file has the errors they collect, and the way from
//! bytes to a value that they can read.

use std::fmt;
use std::ops::ControlFlow;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, MergeWithError, Value, ValueKind, ValuePointerRef};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::limits;

/// What is wrong with a field (contract, section 1, "`errors[].code`").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldCode {
    /// It is missing or `null`.
    Required,
    /// It is of another JSON type, or no number where one is needed.
    InvalidType,
    /// It is not written as it must be.
    InvalidFormat,
    /// It is none of the values that are allowed.
    InvalidValue,
    /// It is empty or blank.
    TooShort,
    /// It is longer than allowed.
    TooLong,
    /// It is a number outside of the bounds.
    OutOfRange,
    /// The body has no such field.
    UnknownField,
    /// The query has no such parameter.
    UnknownParameter,
    /// The body is no JSON that can be read.
    MalformedJson,
    /// It names a record that is not in the organization.
    NotFound,
    /// The reference is in use by another record.
    Taken,
    /// The record belongs to another workspace.
    WrongWorkspace,
    /// The record's state does not allow it.
    WrongState,
    /// There are as many as there may be.
    LimitReached,
    /// Money is on its way.
    MovementInFlight,
    /// A proposal is waiting for a decision already.
    ProposalPending,
    /// The verb does not fit the asset.
    VerbNotAllowed,
    /// Facts are missing.
    MissingFacts,
    /// The item is on hold.
    OnHold,
    /// It looks like an account number, a card number or a key.
    SensitiveValue,
    /// Blocker: the workspace is not activated.
    WorkspaceNotActivated,
    /// Blocker: nobody takes part.
    NoParticipants,
    /// Blocker: someone who must act has no e-mail.
    ParticipantEmailMissing,
    /// Blocker: there is no stage.
    NoStages,
    /// Blocker: a stage is empty.
    StageEmpty,
    /// Blocker: a gate lacks its document, movement, date or questions.
    GateIncomplete,
    /// Blocker: a gate names nobody.
    GateParticipantMissing,
    /// Blocker: a document is missing.
    DocumentMissing,
    /// Blocker: a payment is incomplete.
    PaymentIncomplete,
    /// Blocker: a payment lacks its parties.
    PaymentPartiesMissing,
    /// Blocker: the terms of the SAFE are incomplete.
    SafeTermsIncomplete,
    /// Blocker: the SAFE lacks its parties.
    SafePartiesMissing,
    /// Blocker: a funding item has changed since it was papered.
    FundingItemChanged,
    /// Blocker: the expiry is in the past.
    ExpiryInPast,
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Where: a dotted path into the body, a query parameter, `path.…`, `header.…`, or `body` as a whole.
    #[schema(example = "display_name")]
    pub field: String,
    /// Branch on this.
    pub code: FieldCode,
    /// What would be right, for a person.
    #[schema(example = "must have 1 to 200 characters")]
    pub message: String,
}

/// What is wrong with a request: any number of fields, of which the first are kept and the rest are counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FieldErrors {
    first: Vec<FieldError>,
    more: usize,
}

impl FieldErrors {
    /// One field that is wrong.
    #[must_use]
    pub fn one(field: impl Into<String>, code: FieldCode, message: impl Into<String>) -> Self {
        let mut errors = Self::default();
        errors.push(FieldError { field: field.into(), code, message: message.into() });
        errors
    }

    /// One value that is wrong, where `deserr` stands.
    #[must_use]
    pub fn at(location: ValuePointerRef<'_>, code: FieldCode, message: impl Into<String>) -> Self {
        Self::one(field_path(location), code, message)
    }

    /// Adds a value that is wrong. Where it stands is only written out as long as it is kept.
    pub fn add_at(&mut self, location: ValuePointerRef<'_>, code: FieldCode, message: &str) {
        if self.first.len() < limits::FIELD_ERRORS_MAX {
            self.extend(Self::at(location, code, message));
        } else {
            self.more += 1;
        }
    }

    /// Adds those of another part of the request.
    pub fn extend(&mut self, other: Self) {
        self.more += other.more;
        for error in other.first {
            self.push(error);
        }
    }

    fn push(&mut self, mut error: FieldError) {
        if self.first.len() >= limits::FIELD_ERRORS_MAX {
            self.more += 1;
            return;
        }
        if error.field.chars().nth(limits::FIELD_PATH_CHARS_MAX).is_some() {
            error.field = error.field.chars().take(limits::FIELD_PATH_CHARS_MAX).chain(['…']).collect();
        }
        self.first.push(error);
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The fields, in the order in which they were found: as many as a response should carry, with a last entry that
    /// says how many more there are.
    #[must_use]
    pub fn into_list(self) -> Vec<FieldError> {
        let mut list = self.first;
        if self.more > 0 {
            let message = format!("has {} more errors", self.more);
            list.push(FieldError { field: BODY.to_owned(), code: FieldCode::LimitReached, message });
        }
        list
    }

    fn map(mut self, change: impl Fn(&mut FieldError)) -> Self {
        self.first.iter_mut().for_each(change);
        self
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.first.iter().enumerate() {
            let separator = if n == 0 { "" } else { "; " };
            write!(f, "{separator}{} {}", error.field, error.message)?;
        }
        Ok(())
    }
}

/// A dotted path such as `item_ids[2]`; `body` for the whole.
fn field_path(location: ValuePointerRef<'_>) -> String {
    fn written(location: ValuePointerRef<'_>) -> String {
        match location {
            ValuePointerRef::Origin => String::new(),
            ValuePointerRef::Key { key, prev } => {
                let before = written(*prev);
                if before.is_empty() { key.to_owned() } else { format!("{before}.{key}") }
            }
            ValuePointerRef::Index { index, prev } => format!("{}[{index}]", written(*prev)),
        }
    }
    let path = written(location);
    if path.is_empty() { BODY.to_owned() } else { path }
}

/// The field of errors of a body as a whole.
pub(crate) const BODY: &str = "body";

impl MergeWithError<FieldErrors> for FieldErrors {
    fn merge(self_: Option<Self>, other: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let mut all = self_.unwrap_or_default();
        all.extend(other);
        ControlFlow::Continue(all)
    }
}

impl DeserializeError for FieldErrors {
    fn error<V: IntoValue>(
        self_: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let found = match error {
            ErrorKind::IncorrectValueKind { actual: Value::Null, .. } => {
                Self::at(location, FieldCode::Required, "is required")
            }
            ErrorKind::IncorrectValueKind { accepted, .. } => {
                Self::at(location, FieldCode::InvalidType, format!("must be {}", kinds(accepted)))
            }
            ErrorKind::MissingField { field } => Self::at(location.push_key(field), FieldCode::Required, "is required"),
            ErrorKind::UnknownKey { key, accepted } => Self::at(
                location.push_key(key),
                FieldCode::UnknownField,
                format!("is not known here; known: {}", listed(accepted)),
            ),
            ErrorKind::UnknownValue { accepted, .. } => {
                Self::at(location, FieldCode::InvalidValue, format!("must be one of {}", listed(accepted)))
            }
            ErrorKind::BadSequenceLen { expected, .. } => {
                Self::at(location, FieldCode::OutOfRange, format!("must have {expected} elements"))
            }
            ErrorKind::Unexpected { msg } => Self::at(location, FieldCode::InvalidValue, msg),
        };
        Self::merge(self_, found, location)
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn kinds(kinds: &[ValueKind]) -> String {
    let names: Vec<&str> = kinds
        .iter()
        .map(|kind| match kind {
            ValueKind::Null => "null",
            ValueKind::Boolean => "a boolean",
            ValueKind::Integer | ValueKind::NegativeInteger => "an integer",
            ValueKind::Float => "a number",
            ValueKind::String => "a string",
            ValueKind::Sequence => "an array",
            ValueKind::Map => "an object",
        })
        .collect();
    names.join(" or ")
}

/// Reads a type from a JSON value.
///
/// # Errors
/// Every field that is wrong.
pub fn read<T: Deserr<FieldErrors>>(value: Json) -> Result<T, FieldErrors> {
    deserr::deserialize(value)
}

/// Reads the query string's parameters, each at most once.
///
/// # Errors
/// Every parameter that is wrong.
pub fn read_query<T: Deserr<FieldErrors>>(query: Option<&str>) -> Result<T, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut parameters = Map::new();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some(name) = decode_parameter(name) else {
            errors.extend(FieldErrors::one("query", FieldCode::InvalidFormat, "must be percent-encoded UTF-8"));
            continue;
        };
        if name.is_empty() {
            errors.extend(FieldErrors::one(
                "query",
                FieldCode::UnknownParameter,
                "must not have a parameter without a name",
            ));
            continue;
        }
        let Some(value) = decode_parameter(value) else {
            errors.extend(FieldErrors::one(name, FieldCode::InvalidFormat, "must be percent-encoded UTF-8"));
            continue;
        };
        if parameters.insert(name.clone(), Json::String(value)).is_some() {
            errors.extend(FieldErrors::one(name, FieldCode::InvalidValue, "may be given only once"));
        }
    }
    let read = read::<T>(Json::Object(parameters)).map_err(|found| {
        found.map(|error| {
            if error.code == FieldCode::UnknownField {
                error.code = FieldCode::UnknownParameter;
            }
        })
    });
    finish(read, errors)
}

fn decode_parameter(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Into::into)
}

/// Reads the parameters of the path, given as they stand in it.
///
/// # Errors
/// Every parameter that is wrong, as `path.…`.
pub fn read_path<'a, T: Deserr<FieldErrors>>(
    parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<T, FieldErrors> {
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), Json::from(value))).collect();
    read::<T>(Json::Object(parameters))
        .map_err(|found| found.map(|error| error.field = format!("path.{}", error.field)))
}

/// Reads a body: a JSON object.
///
/// # Errors
/// Every field that is wrong, or `body` as a whole.
pub fn read_body<T: Deserr<FieldErrors>>(bytes: &[u8]) -> Result<T, FieldErrors> {
    if bytes.is_empty() {
        return Err(FieldErrors::one(BODY, FieldCode::Required, "must be a JSON object"));
    }
    match crate::json::parse(bytes)? {
        object @ Json::Object(_) => read(object),
        _ => Err(FieldErrors::one(BODY, FieldCode::InvalidType, "must be a JSON object")),
    }
}

/// The refusal of a body over [`limits::BODY_BYTES_MAX`].
#[must_use]
pub fn body_too_long() -> FieldErrors {
    FieldErrors::one(BODY, FieldCode::TooLong, format!("must have at most {} bytes", limits::BODY_BYTES_MAX))
}

/// What was read, unless something else was wrong too.
pub(crate) fn finish<T>(read: Result<T, FieldErrors>, mut errors: FieldErrors) -> Result<T, FieldErrors> {
    match read {
        Ok(value) if errors.is_empty() => Ok(value),
        Ok(_) => Err(errors),
        Err(found) => {
            errors.extend(found);
            Err(errors)
        }
    }
}

/// No input of this kind: any parameter or field is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, utoipa::IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct Nothing {}

/// A field of a PATCH: left alone when absent, cleared by `null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Not mentioned.
    #[default]
    Keep,
    /// `null`.
    Clear,
    /// A new value.
    Set(T),
}

impl<T> Patch<T> {
    /// The value after this change.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(new) => Some(new),
        }
    }
}

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Patch<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Null => Ok(Self::Clear),
            value => T::deserialize_from_value(value, location).map(Self::Set),
        }
    }
}

/// A field of a PATCH that can be changed but not cleared: left alone when absent, refused when `null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Given<T> {
    /// Not mentioned.
    #[default]
    Keep,
    /// A new value.
    Set(T),
}

impl<T> Given<T> {
    /// The value after this change.
    pub fn apply(self, current: T) -> T {
        match self {
            Self::Keep => current,
            Self::Set(new) => new,
        }
    }
}

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Given<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        T::deserialize_from_value(value, location).map(Self::Set)
    }
}

/// Trims a text and checks its length in characters and that it holds no control character.
///
/// # Errors
/// What would be right.
pub fn check_text(text: &str, chars_max: usize) -> Result<String, (FieldCode, String)> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err((FieldCode::TooShort, format!("must have 1 to {chars_max} characters that are not blank")));
    }
    if trimmed.chars().count() > chars_max {
        return Err((FieldCode::TooLong, format!("must have at most {chars_max} characters")));
    }
    if trimmed.chars().any(char::is_control) {
        return Err((FieldCode::InvalidValue, "must have no control characters".to_owned()));
    }
    Ok(trimmed.to_owned())
}

/// Makes newtypes of text that are valid when they exist: trimmed, one line, bounded.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident: max $max:path, example $example:literal $(, also $also:path)?;)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        // Written out, since the derivation takes no constant for a length.
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::schema::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .min_length(Some(1))
                    .max_length(Some($max))
                    .pattern(Some(r"\S"))
                    .examples([$example])
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}

        impl $name {
            /// Checks a text.
            ///
            /// # Errors
            /// What would be right.
            pub fn parse(text: &str) -> Result<Self, ($crate::input::FieldCode, String)> {
                let text = $crate::input::check_text(text, $max)?;
                $($also(&text)?;)?
                Ok(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl deserr::Deserr<$crate::input::FieldErrors> for $name {
            fn deserialize_from_value<V: deserr::IntoValue>(
                value: deserr::Value<V>,
                location: deserr::ValuePointerRef<'_>,
            ) -> Result<Self, $crate::input::FieldErrors> {
                let text = String::deserialize_from_value(value, location)?;
                Self::parse(&text).map_err(|(code, message)| $crate::input::FieldErrors::at(location, code, message))
            }
        }
    )+};
}
pub(crate) use texts;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserr, PartialEq)]
    #[deserr(error = FieldErrors, deny_unknown_fields)]
    struct Sample {
        name: String,
        count: i64,
        #[deserr(default)]
        note: Patch<String>,
    }

    fn codes(errors: FieldErrors) -> Vec<(String, FieldCode)> {
        errors.into_list().into_iter().map(|error| (error.field, error.code)).collect()
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let mut found = codes(read_body::<Sample>(br#"{"name": 1, "nmae": "x", "note": []}"#).unwrap_err());
        found.sort_by(|left, right| left.0.cmp(&right.0));
        assert_eq!(
            found,
            [
                ("count".to_owned(), FieldCode::Required),
                ("name".to_owned(), FieldCode::InvalidType),
                ("nmae".to_owned(), FieldCode::UnknownField),
                ("note".to_owned(), FieldCode::InvalidType),
            ]
        );
    }

    #[test]
    fn null_is_missing_where_a_value_is_required_and_clears_where_it_is_not() {
        let read = read_body::<Sample>(br#"{"name": "a", "count": 1, "note": null}"#).unwrap();
        assert_eq!(read.note, Patch::Clear);
        let read = read_body::<Sample>(br#"{"name": "a", "count": 1}"#).unwrap();
        assert_eq!(read.note, Patch::Keep);
        let found = codes(read_body::<Sample>(br#"{"name": null, "count": 1}"#).unwrap_err());
        assert_eq!(found, [("name".to_owned(), FieldCode::Required)]);
    }

    #[test]
    fn a_parameter_is_known_and_given_once() {
        #[derive(Debug, Deserr)]
        #[deserr(error = FieldErrors, deny_unknown_fields)]
        struct Query {
            #[deserr(default)]
            search: Option<String>,
        }
        assert_eq!(read_query::<Query>(Some("search=a+b%C3%A9")).unwrap().search.unwrap(), "a bé");
        let found = codes(read_query::<Query>(Some("search=a&search=b&serch=c")).unwrap_err());
        assert_eq!(
            found,
            [("search".to_owned(), FieldCode::InvalidValue), ("serch".to_owned(), FieldCode::UnknownParameter)]
        );
        let found = codes(read_query::<Query>(Some("search=%ff")).unwrap_err());
        assert_eq!(found, [("search".to_owned(), FieldCode::InvalidFormat)]);
    }

    #[test]
    fn text_is_trimmed_bounded_and_one_line() {
        assert_eq!(check_text("  a b ", 3).unwrap(), "a b");
        assert_eq!(check_text(" \u{a0} ", 3).unwrap_err().0, FieldCode::TooShort);
        assert_eq!(check_text("日本語日", 3).unwrap_err().0, FieldCode::TooLong);
        assert_eq!(check_text("a\nb", 3).unwrap_err().0, FieldCode::InvalidValue);
    }
}
