//! Enums declared with their texts: each text in JSON, queries, the store and the API document is written once.

use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// The text of a doc line; nothing for other attributes.
macro_rules! doc_line {
    (doc = $line:literal) => {
        $line
    };
    ($($other:tt)*) => {
        ""
    };
}
pub(crate) use doc_line;

/// Declares an enum whose values are texts on the wire.
///
/// Generates `ALL` (in order), `as_str`, `Display`, `parse`, `serde`, `deserr` and the API document's schema from the
/// same texts. The schema shows each value's doc comment.
macro_rules! text_enum {
    (
        $(#[$($about:tt)*])*
        pub enum $name:ident {
            $($(#[$($about_value:tt)*])* $value:ident = $text:tt,)+
        }
    ) => {
        $(#[$($about)*])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, deserr::Deserr)]
        #[deserr(error = $crate::wire::fields::FieldErrors)]
        pub enum $name {
            $(
                $(#[$($about_value)*])*
                #[serde(rename = $text)]
                #[deserr(rename = $text)]
                $value,
            )+
        }

        impl $name {
            /// Every value, in the order of the declaration.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$value),+];

            /// The text of the value.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }

            /// The value that has this text.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == text)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::wire::enums::schema(
                    concat!($($crate::wire::enums::doc_line!($($about)*)),*),
                    &[$(($text, concat!($($crate::wire::enums::doc_line!($($about_value)*)),*))),+],
                )
            }
        }

        impl utoipa::ToSchema for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use text_enum;

/// The enum's schema. The description repeats the meanings, since some tools ignore extensions.
pub(crate) fn schema(about: &str, values: &[(&str, &str)]) -> RefOr<Schema> {
    let meanings: Vec<&str> = values.iter().map(|(_, meaning)| meaning.trim()).collect();
    let listed: Vec<String> =
        values.iter().zip(&meanings).map(|((text, _), meaning)| format!("- `{text}`: {meaning}")).collect();
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(format!("{}\n\n{}", about.trim(), listed.join("\n"))))
        .enum_values(Some(values.iter().map(|(text, _)| *text)))
        .extensions(Some(ExtensionsBuilder::new().add("x-enum-descriptions", json!(meanings)).build()))
        .into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use utoipa::PartialSchema;

    use crate::wire::fields::FieldCode;
    use crate::wire::input::read;

    text_enum! {
        /// A color of the test.
        #[derive(Default)]
        pub enum Color {
            /// Like the sky.
            #[default]
            SkyBlue = "sky.blue",
            /// Like grass.
            /// In spring.
            Green = "green",
        }
    }

    #[test]
    fn every_way_to_write_a_value_has_its_text() {
        assert_eq!(Color::ALL, [Color::SkyBlue, Color::Green]);
        for (color, text) in [(Color::SkyBlue, "sky.blue"), (Color::Green, "green")] {
            assert_eq!((color.as_str(), color.to_string().as_str()), (text, text));
            assert_eq!(json!(color), json!(text));
            assert_eq!(Color::parse(text), Some(color));
            assert_eq!(serde_json::from_value::<Color>(json!(text)).unwrap(), color);
            assert_eq!(read::<Color>(json!(text)).unwrap(), color);
        }
    }

    #[test]
    fn the_schema_says_what_each_value_means() {
        let schema = json!(Color::schema());
        assert_eq!((&schema["type"], &schema["enum"]), (&json!("string"), &json!(["sky.blue", "green"])));
        assert_eq!(schema["x-enum-descriptions"], json!(["Like the sky.", "Like grass. In spring."]));
        let description = "A color of the test.\n\n- `sky.blue`: Like the sky.\n- `green`: Like grass. In spring.";
        assert_eq!(schema["description"], description);
    }

    #[test]
    fn another_text_is_refused_with_those_that_are_accepted() {
        assert_eq!(Color::parse("Green"), None);
        assert!(serde_json::from_value::<Color>(json!("SkyBlue")).is_err());
        let errors = read::<Color>(json!("SkyBlue")).unwrap_err().into_list();
        assert_eq!(errors[0].code, FieldCode::InvalidValue);
        assert_eq!(errors[0].message, "must be one of sky.blue, green");
    }
}
