//! Enumerations and their texts, declared together: the text of a value in JSON, queries, the store and the API document
//! is written once.

/// Declares an enumeration whose values are texts on the wire.
///
/// It gets its values in their order (`ALL`), the text of a value (`as_str`, `Display`), the value of a text (`parse`),
/// and reading and writing by `serde`, `deserr` and the API document's schema, which all use that text.
macro_rules! text_enum {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$about_value:meta])* $value:ident = $text:tt,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, deserr::Deserr, utoipa::ToSchema)]
        #[deserr(error = $crate::wire::fields::FieldErrors)]
        pub enum $name {
            $(
                $(#[$about_value])*
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

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use text_enum;

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
        assert_eq!(json!(Color::schema())["enum"], json!(["sky.blue", "green"]));
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
