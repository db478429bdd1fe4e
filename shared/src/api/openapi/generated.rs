//! Adapts the document to client generators, whose code must compile.
//!
//! Decision: a document has one set of names, so one generator's needs apply to all. Go has one namespace per client:
//! enum values carry their type's name, and no type may be called `NewContact`, the constructor of `Contact`.

use serde_json::{Map, Value, json};

/// Prefix of body types in the code, and their suffix in the document.
const CREATES: (&str, &str) = ("New", "Create");
const SCHEMAS: &str = "#/components/schemas/";

pub(super) fn complete(document: &mut Value) {
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        let renamed: Map<String, Value> = std::mem::take(schemas)
            .into_iter()
            .map(|(name, schema)| {
                let name = renamed(&name);
                let schema = with_names_of_values(schema, &name);
                (name, schema)
            })
            .collect();
        *schemas = renamed;
    }
    refer_to_renamed(document);
}

/// `ContactCreate` for `NewContact`.
fn renamed(name: &str) -> String {
    let (begin, end) = CREATES;
    let rest = name.strip_prefix(begin).filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()));
    rest.map_or_else(|| name.to_owned(), |rest| format!("{rest}{end}"))
}

fn refer_to_renamed(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(refer_to_renamed),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(reference) if name == "$ref" => {
                        if let Some(to) = reference.strip_prefix(SCHEMAS).map(renamed) {
                            *reference = format!("{SCHEMAS}{to}");
                        }
                    }
                    member => refer_to_renamed(member),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Names an enum's values, such as `ContactKindPerson`.
fn with_names_of_values(mut schema: Value, name: &str) -> Value {
    let Some(values) = schema["enum"].as_array() else { return schema };
    let names: Vec<String> = values.iter().filter_map(Value::as_str).map(|value| name_of_value(name, value)).collect();
    schema["x-enum-varnames"] = json!(names);
    schema
}

fn name_of_value(name: &str, value: &str) -> String {
    let words = value.split(|letter: char| !letter.is_ascii_alphanumeric());
    let capitalized = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    std::iter::once(name.to_owned()).chain(words.map(capitalized)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_bodies_and_values_have_names_that_no_other_has() {
        for (name, expected) in [("NewContact", "ContactCreate"), ("Newest", "Newest"), ("Contact", "Contact")] {
            assert_eq!(renamed(name), expected);
        }
        assert_eq!(name_of_value("GateType", "document_signed"), "GateTypeDocumentSigned");
        let mut document = json!({
            "components": {"schemas": {
                "NewContact": {"properties": {"kind": {"$ref": "#/components/schemas/Kind"}}},
                "Kind": {"enum": ["llc", "non_profit"]},
            }},
            "paths": [{"$ref": "#/components/schemas/NewContact"}, {"example": {"name": "#/components/schemas/NewContact"}}],
        });
        complete(&mut document);
        assert_eq!(document["components"]["schemas"]["Kind"]["x-enum-varnames"], json!(["KindLlc", "KindNonProfit"]));
        assert_eq!(document["paths"][0]["$ref"], "#/components/schemas/ContactCreate");
        assert_eq!(document["paths"][1]["example"]["name"], "#/components/schemas/NewContact", "no reference");
        assert!(document["components"]["schemas"]["ContactCreate"].is_object());
    }
}
