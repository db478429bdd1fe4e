//! Notes that people write to each other: reasons, help and remarks.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text;

/// A multi-line note, up to [`limits::NOTE_CHARS_MAX`] characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Note(String);

impl utoipa::PartialSchema for Note {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .description(Some("A free text of one line or several, with up to 2,000 characters. Control characters other than tabs and line breaks are refused, and so are the overrides of direction U+202D and U+202E. Blanks around it are removed."))
            .min_length(Some(1))
            .pattern(Some(text::lines_pattern(Some(limits::NOTE_CHARS_MAX))))
            .examples(["Terms as agreed on Tuesday's call."])
            .into()
    }
}

impl ToSchema for Note {}

impl Note {
    /// Trims a text and turns CRLF into LF. Tabs are allowed; other control characters and direction overrides are not.
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        text::check_lines(text, limits::NOTE_CHARS_MAX).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deserr<FieldErrors> for Note {
    fn deserialize_from_value<V: deserr::IntoValue>(
        value: deserr::Value<V>,
        location: deserr::ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|(code, message)| FieldErrors::at(location, code, message))
    }
}
