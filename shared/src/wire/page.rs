//! Lists: queries with `limit`, `offset`, `search` and filters, and pages.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, RefBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa::{PartialSchema, ToSchema};

use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text::{Folded, search_pattern};

/// How many rows a page has: 1 to 200 (specification, "Limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = u32, minimum = 1, maximum = 200, default = 50, example = 50)]
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
#[schema(value_type = i64, minimum = 0, maximum = 9_223_372_036_854_775_807_i64, default = 0, example = 100)]
pub struct Offset(u64);

impl Offset {
    /// The number of rows before the page.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

impl Deserr<FieldErrors> for Offset {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        read_integer(value, location, 0, i64::MAX.unsigned_abs()).map(Self)
    }
}

/// Reads a decimal integer from JSON, or from a query parameter, which is text.
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
            // Digits that don't parse are too large or negative.
            text.parse().map_err(|_| out_of_range())?
        }
        _ => return Err(not_an_integer()),
    };
    if (min..=max).contains(&number) { Ok(number) } else { Err(out_of_range()) }
}

/// A search text of at most `CHARS_MAX` characters as sent. Surrounding blanks are ignored; an empty text means no
/// filter (contract, section 1, "Search").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search<const CHARS_MAX: usize> {
    /// As sent, trimmed.
    typed: String,
    needle: Option<Folded>,
}

impl<const CHARS_MAX: usize> Search<CHARS_MAX> {
    /// The text that a row's folded text must contain; none if every row matches.
    #[must_use]
    pub fn needle(&self) -> Option<&str> {
        self.needle.as_ref().map(Folded::as_str)
    }

    /// The text as sent, trimmed, for showing what was searched for.
    #[must_use]
    pub fn typed(&self) -> &str {
        &self.typed
    }

    fn check(text: &str) -> Result<Self, (FieldCode, String)> {
        if text.chars().count() > CHARS_MAX {
            return Err((FieldCode::TooLong, format!("must have at most {CHARS_MAX} characters")));
        }
        let needle = text.trim();
        if needle.chars().any(char::is_control) {
            return Err((FieldCode::InvalidValue, "must have no control characters".to_owned()));
        }
        Ok(Self { typed: needle.to_owned(), needle: (!needle.is_empty()).then(|| Folded::new(needle)) })
    }

    /// Reads the text of a search, with any error at `field`.
    pub fn parse(text: &str, field: &str) -> Result<Self, FieldErrors> {
        Self::check(text).map_err(|(code, message)| FieldErrors::one(field, code, message))
    }

    /// The same search for a list with another limit on characters.
    #[must_use]
    pub fn with_chars_max<const OTHER: usize>(self) -> Search<OTHER> {
        Search { typed: self.typed, needle: self.needle }
    }
}

impl<const CHARS_MAX: usize> Deserr<FieldErrors> for Search<CHARS_MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let text = String::deserialize_from_value(value, location)?;
        Self::check(&text).map_err(|(code, message)| FieldErrors::at(location, code, message))
    }
}

/// A filter by an enum. An empty one means no filter, the specification's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter<T>(Option<T>);

impl<T> Default for Filter<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Option<T>> for Filter<T> {
    fn from(wanted: Option<T>) -> Self {
        Self(wanted)
    }
}

impl<T: Copy> Filter<T> {
    /// The requested value; none if every row fits.
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

/// `true` or `false`, with a default. An empty one is refused, since it is neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag<const DEFAULT: bool>(bool);

impl<const DEFAULT: bool> Default for Flag<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const DEFAULT: bool> Flag<DEFAULT> {
    /// The choice.
    #[must_use]
    pub fn get(self) -> bool {
        self.0
    }
}

impl<const DEFAULT: bool> Deserr<FieldErrors> for Flag<DEFAULT> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Boolean(choice) => Ok(Self(choice)),
            Value::String(text) if text == "true" => Ok(Self(true)),
            Value::String(text) if text == "false" => Ok(Self(false)),
            _ => Err(FieldErrors::at(location, FieldCode::InvalidType, "must be true or false")),
        }
    }
}

/// A requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// The number of rows.
    pub limit: Limit,
    /// The number of rows before it.
    pub offset: Offset,
}

impl PageRequest {
    /// A page of `limit` rows, clamped to the allowed sizes, from an offset on.
    #[must_use]
    pub fn new(limit: u32, offset: u64) -> Self {
        Self { limit: Limit(limit.clamp(1, limits::PAGE_LIMIT_MAX)), offset: Offset(offset) }
    }

    /// The positions of its rows.
    #[must_use]
    pub fn positions(self) -> std::ops::Range<u64> {
        self.offset.0..self.offset.0.saturating_add(u64::from(self.limit.0))
    }
}

/// The type of a list query's parameter, which is always optional.
pub(crate) trait ListParameter: Default {
    fn parameter_schema() -> RefOr<Schema>;
}

impl ListParameter for Limit {
    fn parameter_schema() -> RefOr<Schema> {
        Self::schema()
    }
}

impl ListParameter for Offset {
    fn parameter_schema() -> RefOr<Schema> {
        Self::schema()
    }
}

impl<const CHARS_MAX: usize> ListParameter for Search<CHARS_MAX> {
    fn parameter_schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(CHARS_MAX))
            .pattern(Some(search_pattern()))
            .default(Some(json!("")))
            .examples([json!("harbor")])
            .into()
    }
}

/// The filtered field's enum, or the empty text.
impl<T: ToSchema> ListParameter for Filter<T> {
    fn parameter_schema() -> RefOr<Schema> {
        let none = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some([""]))
            .description(Some("No filter."))
            .extensions(Some(ExtensionsBuilder::new().add("x-enum-descriptions", json!(["No filter."])).build()));
        // No default in the document: client generators can't write one for a choice of types.
        OneOfBuilder::new().item(Ref::from_schema_name(T::name())).item(none).into()
    }
}

impl<const DEFAULT: bool> ListParameter for Flag<DEFAULT> {
    fn parameter_schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Boolean).default(Some(json!(DEFAULT))).examples([json!(!DEFAULT)]).into()
    }
}

/// A filter by id or reference. An empty one is refused, since it is neither.
impl<T: ToSchema> ListParameter for Option<T> {
    fn parameter_schema() -> RefOr<Schema> {
        Ref::from_schema_name(T::name()).into()
    }
}

pub(crate) fn list_parameter<T: ListParameter>(name: &str, about: &str, place: Option<ParameterIn>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place.unwrap_or(ParameterIn::Query))
        .description(Some(about.trim()))
        .required(Required::False)
        .schema(Some(T::parameter_schema()))
        .build()
}

/// Declares a list's query: its filters, among them `search`, with their descriptions in the API document. Every query
/// also has `limit` and `offset`.
macro_rules! list_query {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $($(#[doc = $about_filter:literal])+ $filter:ident: $of:ty,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default, deserr::Deserr)]
        #[deserr(error = $crate::wire::fields::FieldErrors, deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $about_filter])+ #[deserr(default)] pub $filter: $of,)*
            /// Page size.
            #[deserr(default)]
            pub limit: $crate::wire::page::Limit,
            /// Start position.
            #[deserr(default)]
            pub offset: $crate::wire::page::Offset,
        }

        impl $name {
            /// The query without filters.
            #[must_use]
            pub fn of_page(page: $crate::wire::page::PageRequest) -> Self {
                Self { limit: page.limit, offset: page.offset, ..Self::default() }
            }

            /// The requested page.
            #[must_use]
            pub fn page(&self) -> $crate::wire::page::PageRequest {
                $crate::wire::page::PageRequest { limit: self.limit, offset: self.offset }
            }
        }

        impl utoipa::IntoParams for $name {
            fn into_params(
                place: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                use $crate::wire::page::{Limit, Offset, list_parameter};

                vec![
                    $(list_parameter::<$of>(stringify!($filter), concat!($($about_filter),+), place()),)*
                    list_parameter::<Limit>("limit", "Page size.", place()),
                    list_parameter::<Offset>("offset", "Start position.", place()),
                ]
            }
        }
    };
}
pub(crate) use list_query;

text_enum! {
    /// The order of a list. The text is that of the parameter `sort` of pages.
    pub enum Order {
        /// As pages show lists.
        NewestFirst = "newest",
        /// As clients get lists.
        OldestFirst = "oldest",
        /// By the searched text, which begins with the name.
        ByName = "name",
        /// What is overdue first, then what is due next. Lists without due days have the newest first.
        ByDue = "due",
        /// The largest amount first, one currency after the other, and last what has none. Lists without amounts have the
        /// newest first.
        ByAmount = "amount",
    }
}

text_enum! {
    /// Which records a list of the app shows. The text is that of the parameter `show` of pages.
    pub enum Shelf {
        /// Those that are neither archived nor merged into another one.
        Current = "current",
        /// Archived ones.
        Archived = "archived",
        /// Those merged into another one.
        Merged = "merged",
        /// All, as clients get lists.
        All = "all",
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
    /// A page, with the whole list's count.
    #[must_use]
    pub fn new(data: Vec<T>, total: u64, request: PageRequest) -> Self {
        let has_more = request.positions().end < total;
        Self { data, pagination: Pagination { total, has_more, limit: request.limit.0, offset: request.offset.0 } }
    }

    /// A page of a list in memory.
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

    /// Converts each row.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        Page { data: self.data.into_iter().map(show).collect(), pagination: self.pagination }
    }
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        let pagination = RefBuilder::new()
            .ref_location_from_schema_name(Pagination::name())
            .description(Some("Where the page is in the list."));
        ObjectBuilder::new()
            .description(Some("A page of a list."))
            .property(
                "data",
                ArrayBuilder::new().items(Ref::from_schema_name(T::name())).description(Some("The rows of the page.")),
            )
            .property("pagination", pagination)
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

    list_query! {
        /// The query of these tests.
        pub struct Query {
            /// A part of the text.
            search: Search<5>,
            /// Of this kind only.
            kind: Filter<FieldCode>,
            /// With this reference only.
            reference: Option<FieldCode>,
            /// Whether finished ones are listed too.
            finished: Flag<true>,
        }
    }

    fn code(query: &str) -> FieldCode {
        read_query::<Query>(Some(query)).unwrap_err().into_list().remove(0).code
    }

    #[test]
    fn bounds_hold_and_nothing_else_is_an_integer() {
        let read = read_query::<Query>(Some("limit=200&offset=9223372036854775807")).unwrap();
        assert_eq!((read.limit.0, read.offset.0), (200, i64::MAX.unsigned_abs()));
        let page = PageRequest::new(200, i64::MAX.unsigned_abs());
        assert_eq!((read.page(), Query::of_page(page).page()), (page, page));
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
    fn an_empty_filter_is_none_and_an_empty_reference_is_refused() {
        let read = read_query::<Query>(Some("kind=&reference=taken")).unwrap();
        assert_eq!((read.kind.get(), read.reference), (None, Some(FieldCode::Taken)));
        assert_eq!(read_query::<Query>(Some("kind=taken")).unwrap().kind.get(), Some(FieldCode::Taken));
        for query in ["kind=other", "reference="] {
            assert_eq!(code(query), FieldCode::InvalidValue, "{query}");
        }
    }

    #[test]
    fn a_choice_is_true_or_false_and_nothing_else() {
        for (query, choice) in [("", true), ("finished=true", true), ("finished=false", false)] {
            assert_eq!(read_query::<Query>(Some(query)).unwrap().finished.get(), choice, "{query}");
        }
        for query in ["finished=", "finished=False", "finished=0", "finished=no", "finished=%20true"] {
            assert_eq!(code(query), FieldCode::InvalidType, "{query}");
        }
    }

    #[test]
    fn a_query_describes_its_filters_then_the_page() {
        let parameters = <Query as utoipa::IntoParams>::into_params(|| Some(ParameterIn::Query));
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["search", "kind", "reference", "finished", "limit", "offset"]);
        assert_eq!(parameters[0].description.as_deref(), Some("A part of the text."));
        assert!(parameters.iter().all(|parameter| parameter.required == Required::False));
    }

    #[test]
    fn a_page_past_the_end_has_no_more() {
        let at = |offset| PageRequest { limit: Limit(2), offset: Offset(offset) };
        assert!(Page::new(vec![1, 2], 3, at(0)).pagination.has_more);
        assert!(!Page::new(vec![3], 3, at(2)).pagination.has_more);
        assert!(!Page::<u8>::new(vec![], 3, at(i64::MAX.unsigned_abs())).pagination.has_more);
    }
}
