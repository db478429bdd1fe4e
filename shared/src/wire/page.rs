//! Pages of lists: `limit`, `offset` and `search` as they are asked for, and the shape of the answer.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text::Folded;

/// How many rows a page has: 1 to 200 (specification, "Limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = u32, minimum = 1, maximum = 200, default = 50)]
pub struct Limit(u32);

impl Default for Limit {
    fn default() -> Self {
        Self(limits::PAGE_LIMIT_DEFAULT)
    }
}

impl Deserr<FieldErrors> for Limit {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let limit = read_integer(value, location, 1, u64::from(limits::PAGE_LIMIT_MAX))?;
        Ok(Self(u32::try_from(limit).unwrap_or(limits::PAGE_LIMIT_MAX)))
    }
}

/// Where a page starts: 0 to 2^63 − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ToSchema)]
#[schema(value_type = i64, minimum = 0, maximum = 9_223_372_036_854_775_807_i64, default = 0)]
pub struct Offset(u64);

impl Deserr<FieldErrors> for Offset {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        read_integer(value, location, 0, i64::MAX.unsigned_abs()).map(Self)
    }
}

/// Reads a decimal integer from a query parameter, where everything is text, or from JSON.
fn read_integer<V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
    min: u64,
    max: u64,
) -> Result<u64, FieldErrors> {
    let out_of_range =
        || FieldErrors::at(location, FieldCode::OutOfRange, format!("must be an integer from {min} to {max}"));
    let not_an_integer =
        || FieldErrors::at(location, FieldCode::InvalidType, format!("must be an integer from {min} to {max}"));
    let number = match value {
        Value::Integer(number) => number,
        Value::NegativeInteger(_) => return Err(out_of_range()),
        Value::String(text) => {
            let digits = text.strip_prefix('-').unwrap_or(&text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(not_an_integer());
            }
            // What is all digits and still does not parse is too large or negative.
            text.parse().map_err(|_| out_of_range())?
        }
        _ => return Err(not_an_integer()),
    };
    if (min..=max).contains(&number) { Ok(number) } else { Err(out_of_range()) }
}

/// A needle: what the searched text must contain. At most `CHARS_MAX` characters as sent; blanks around it are
/// ignored; an empty one means no filter (contract, section 1, "Search").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search<const CHARS_MAX: usize>(Option<Folded>);

impl<const CHARS_MAX: usize> Search<CHARS_MAX> {
    /// What a row's folded text must contain; nothing when every row matches.
    #[must_use]
    pub fn needle(&self) -> Option<&str> {
        self.0.as_ref().map(Folded::as_str)
    }
}

impl<const CHARS_MAX: usize> Deserr<FieldErrors> for Search<CHARS_MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let text = String::deserialize_from_value(value, location)?;
        if text.chars().count() > CHARS_MAX {
            return Err(FieldErrors::at(
                location,
                FieldCode::TooLong,
                format!("must have at most {CHARS_MAX} characters"),
            ));
        }
        let needle = text.trim();
        if needle.chars().any(char::is_control) {
            return Err(FieldErrors::at(location, FieldCode::InvalidValue, "must have no control characters"));
        }
        Ok(Self((!needle.is_empty()).then(|| Folded::new(needle))))
    }
}

impl<const CHARS_MAX: usize> PartialSchema for Search<CHARS_MAX> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String).max_length(Some(CHARS_MAX)).into()
    }
}

impl<const CHARS_MAX: usize> ToSchema for Search<CHARS_MAX> {}

/// A filter by an enumeration; an empty one means no filter, as the specification's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter<T>(Option<T>);

impl<T> Default for Filter<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Copy> Filter<T> {
    /// What is asked for; nothing when every row fits.
    #[must_use]
    pub fn get(self) -> Option<T> {
        self.0
    }
}

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Filter<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::String(text) if text.is_empty() => Ok(Self(None)),
            value => T::deserialize_from_value(value, location).map(|wanted| Self(Some(wanted))),
        }
    }
}

/// Which page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// How many rows.
    pub limit: Limit,
    /// How many rows before it.
    pub offset: Offset,
}

impl PageRequest {
    /// A page of so many rows, within what a page can have, from a position on.
    #[must_use]
    pub fn new(limit: u32, offset: u64) -> Self {
        Self { limit: Limit(limit.clamp(1, limits::PAGE_LIMIT_MAX)), offset: Offset(offset) }
    }

    /// The rows' positions: from, and up to but not including.
    #[must_use]
    pub fn positions(self) -> std::ops::Range<u64> {
        self.offset.0..self.offset.0.saturating_add(u64::from(self.limit.0))
    }
}

/// The query of a list that can be searched and has no other filter.
#[derive(Debug, Clone, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct SearchQuery {
    /// A part of the text, whatever its case or composition.
    #[deserr(default)]
    #[param(required = false, inline)]
    pub search: Search<{ limits::SEARCH_CHARS_MAX }>,
    /// Page size.
    #[deserr(default)]
    #[param(required = false, inline)]
    pub limit: Limit,
    /// Start position.
    #[deserr(default)]
    #[param(required = false, inline)]
    pub offset: Offset,
}

impl SearchQuery {
    /// Which page is asked for.
    #[must_use]
    pub fn page(&self) -> PageRequest {
        PageRequest { limit: self.limit, offset: self.offset }
    }
}

/// A page of a list (specification, "Pagination object").
#[derive(Debug, Serialize)]
pub struct Page<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Where they are in the whole.
    pub pagination: Pagination,
}

/// Where a page is in the whole list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    /// The full count. Check this rather than infer completeness from a short page.
    #[schema(example = 1)]
    pub total: u64,
    /// Whether there are rows after this page.
    #[schema(example = false)]
    pub has_more: bool,
    /// The page size that was asked for.
    #[schema(example = 50)]
    pub limit: u32,
    /// The start position that was asked for.
    #[schema(example = 0)]
    pub offset: u64,
}

impl<T> Page<T> {
    /// A page with the count of the whole list.
    #[must_use]
    pub fn new(data: Vec<T>, total: u64, request: PageRequest) -> Self {
        let has_more = request.positions().end < total;
        Self { data, pagination: Pagination { total, has_more, limit: request.limit.0, offset: request.offset.0 } }
    }

    /// A page of a list that is there as a whole.
    #[must_use]
    pub fn slice(all: impl IntoIterator<Item = T>, request: PageRequest) -> Self {
        let (mut total, mut data) = (0, Vec::new());
        for row in all {
            if request.positions().contains(&total) {
                data.push(row);
            }
            total += 1;
        }
        Self::new(data, total, request)
    }

    /// The same page with its rows shown otherwise.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        Page { data: self.data.into_iter().map(show).collect(), pagination: self.pagination }
    }
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .property("data", ArrayBuilder::new().items(Ref::from_schema_name(T::name())))
            .property("pagination", Ref::from_schema_name(Pagination::name()))
            .required("data")
            .required("pagination")
            .examples(example_of::<T>().map(|row| {
                json!({"data": [row], "pagination": {"total": 1, "has_more": false, "limit": limits::PAGE_LIMIT_DEFAULT, "offset": 0}})
            }))
            .into()
    }
}

fn example_of<T: ToSchema>() -> Option<serde_json::Value> {
    match T::schema() {
        RefOr::T(Schema::Object(object)) => object.example.or_else(|| object.examples.into_iter().next()),
        _ => None,
    }
}

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into(), T::schema()));
        T::schemas(schemas);
        schemas.push((Pagination::name().into(), Pagination::schema()));
        Pagination::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::input::read_query;

    #[derive(Debug, Deserr)]
    #[deserr(error = FieldErrors, deny_unknown_fields)]
    struct Query {
        #[deserr(default)]
        limit: Limit,
        #[deserr(default)]
        offset: Offset,
        #[deserr(default)]
        search: Search<5>,
    }

    fn code(query: &str) -> FieldCode {
        read_query::<Query>(Some(query)).unwrap_err().into_list().remove(0).code
    }

    #[test]
    fn bounds_hold_and_nothing_else_is_an_integer() {
        let read = read_query::<Query>(Some("limit=200&offset=9223372036854775807")).unwrap();
        assert_eq!((read.limit.0, read.offset.0), (200, i64::MAX.unsigned_abs()));
        for query in [
            "limit=0",
            "limit=201",
            "limit=-1",
            "offset=-1",
            "offset=9223372036854775808",
            "offset=100000000000000000000",
        ] {
            assert_eq!(code(query), FieldCode::OutOfRange, "{query}");
        }
        for query in [
            "limit=",
            "limit=1e2",
            "limit=%2B1",
            "limit=1.0",
            "limit= 1",
            "limit=-",
            "offset=",
            "offset=0x1",
            "limit=١",
        ] {
            assert_eq!(code(query), FieldCode::InvalidType, "{query}");
        }
    }

    #[test]
    fn a_needle_is_counted_in_characters_as_sent() {
        assert_eq!(read_query::<Query>(Some("search=%20%C3%9Fa%20")).unwrap().search.needle(), Some("ssa"));
        assert_eq!(read_query::<Query>(Some("search=%20%20")).unwrap().search.needle(), None);
        assert_eq!(read_query::<Query>(Some("search=")).unwrap().search.needle(), None);
        assert!(read_query::<Query>(Some("search=日本語日本")).is_ok());
        assert_eq!(code("search=日本語日本語"), FieldCode::TooLong);
        assert_eq!(code("search=a%00b"), FieldCode::InvalidValue);
    }

    #[test]
    fn a_page_past_the_end_has_no_more() {
        let at = |offset| PageRequest { limit: Limit(2), offset: Offset(offset) };
        assert!(Page::new(vec![1, 2], 3, at(0)).pagination.has_more);
        assert!(!Page::new(vec![3], 3, at(2)).pagination.has_more);
        assert!(!Page::<u8>::new(vec![], 3, at(i64::MAX.unsigned_abs())).pagination.has_more);
    }
}
