//! Reads path, query and body into types, and reports *all* errors of a request at once.
//!
//! Types define what is valid and read themselves with `deserr`; [`fields`](super::fields) has the errors they collect.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json};

use crate::limits;
use crate::wire::fields::{BODY, FieldCode, FieldErrors};

/// Reads a type from JSON, or returns all invalid fields.
pub fn read<T: Deserr<FieldErrors>>(value: Json) -> Result<T, FieldErrors> {
    deserr::deserialize(value)
}

/// Reads query parameters, each at most once, or returns all invalid ones.
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

/// Reads path parameters, or returns all invalid ones as `path.…`.
pub fn read_path<'a, T: Deserr<FieldErrors>>(
    parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<T, FieldErrors> {
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), Json::from(value))).collect();
    read::<T>(Json::Object(parameters))
        .map_err(|found| found.map(|error| error.field = format!("path.{}", error.field)))
}

/// Reads a body, which must be a JSON object, or returns all invalid fields or `body` as a whole.
pub fn read_body<T: Deserr<FieldErrors>>(bytes: &[u8]) -> Result<T, FieldErrors> {
    if bytes.is_empty() {
        return Err(FieldErrors::one(BODY, FieldCode::Required, "must be a JSON object"));
    }
    match crate::wire::json::parse(bytes)? {
        object @ Json::Object(_) => read(object),
        _ => Err(FieldErrors::one(BODY, FieldCode::InvalidType, "must be a JSON object")),
    }
}

/// The error of a body over [`limits::BODY_BYTES_MAX`].
#[must_use]
pub fn body_too_long() -> FieldErrors {
    FieldErrors::one(BODY, FieldCode::TooLong, format!("must have at most {} bytes", limits::BODY_BYTES_MAX))
}

/// Returns the value, or all errors: those before and those of reading it.
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

/// No input: every parameter or field is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, utoipa::IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct Empty {}

/// An optional field of a PATCH: kept when absent, cleared by `null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NullablePatch<T> {
    /// The field is absent.
    #[default]
    Keep,
    /// The field is `null`.
    Clear,
    /// A new value.
    Set(T),
}

impl<T> NullablePatch<T> {
    /// The value after this change.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(new) => Some(new),
        }
    }
}

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for NullablePatch<T> {
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

/// A required field of a PATCH: kept when absent, refused when `null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The field is absent.
    #[default]
    Keep,
    /// A new value.
    Set(T),
}

impl<T> Patch<T> {
    /// The value after this change.
    pub fn apply(self, current: T) -> T {
        match self {
            Self::Keep => current,
            Self::Set(new) => new,
        }
    }
}

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Patch<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        T::deserialize_from_value(value, location).map(Self::Set)
    }
}

/// An optional field of a create: absent means the default, and `null` is refused. Use `Option<OrDefault<T>>` where it
/// matters whether the field was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrDefault<T>(pub T);

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for OrDefault<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Null => {
                let message = "must not be null; leave it out for its default";
                Err(FieldErrors::at(location, FieldCode::InvalidType, message))
            }
            value => T::deserialize_from_value(value, location).map(Self),
        }
    }
}

/// Declares newtypes of valid text: trimmed, one line, bounded. A type may add its own check, with a pattern and format
/// that describe it.
macro_rules! texts {
    ($(
        $(#[doc = $about:literal])+
        $name:ident: max $max:path, example $example:literal
            $(, also $also:path, pattern $pattern:path, format $format:literal)?;
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        // Written by hand, since the derive takes no constant as a length.
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::schema::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .description(Some($crate::wire::text::line_description(concat!($($about),+), $max)))
                    .min_length(Some(1))
                    .pattern(Some($crate::wire::text::line_pattern($max)))
                    $(.max_length(Some($max))
                    .pattern(Some($pattern()))
                    .format(Some(utoipa::openapi::schema::SchemaFormat::Custom($format.to_owned()))))?
                    .examples([$example])
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}

        impl $name {
            /// Checks a text. The error's message says what is valid.
            pub fn parse(text: &str) -> Result<Self, ($crate::wire::fields::FieldCode, String)> {
                let text = $crate::wire::text::check_line(text, $max)?;
                $($also(&text)?;)?
                Ok(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl deserr::Deserr<$crate::wire::fields::FieldErrors> for $name {
            fn deserialize_from_value<V: deserr::IntoValue>(
                value: deserr::Value<V>,
                location: deserr::ValuePointerRef<'_>,
            ) -> Result<Self, $crate::wire::fields::FieldErrors> {
                let text = String::deserialize_from_value(value, location)?;
                Self::parse(&text).map_err(|(code, message)| $crate::wire::fields::FieldErrors::at(location, code, message))
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
        note: NullablePatch<String>,
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
        assert_eq!(read.note, NullablePatch::Clear);
        let read = read_body::<Sample>(br#"{"name": "a", "count": 1}"#).unwrap();
        assert_eq!(read.note, NullablePatch::Keep);
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
}
