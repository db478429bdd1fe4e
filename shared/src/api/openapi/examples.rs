//! Derives examples: members and inner types take theirs from whole records' examples, the rest is composed.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

const TYPES: &str = "#/components/schemas/";

type Seen = VecDeque<(String, Value)>;

/// Gives each type and member an example, if one can be derived.
pub(super) fn complete(document: &mut Value) {
    let mut seen = Seen::new();
    for place in ["/paths", "/webhooks", "/components/responses"] {
        if let Some(part) = document.pointer_mut(place) {
            learn_from_bodies(part, &mut seen);
        }
    }
    let Some(types) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) else { return };
    for schema in types.values_mut() {
        if let Some(first) = schema.pointer("/enum/0").cloned() {
            set(schema, &first);
        }
        if let Some(example) = of(schema).cloned() {
            learn(schema, &example, &mut seen);
        }
    }
    while let Some((name, value)) = seen.pop_front() {
        if let Some(schema) = types.get_mut(&name) {
            set(schema, &value);
            learn(schema, &value, &mut seen);
        }
    }
    let without = types.iter().filter(|(_, schema)| of(schema).is_none());
    let composed: Vec<(String, Value)> =
        without.filter_map(|(name, schema)| Some((name.clone(), compose(types, schema)?))).collect();
    for (name, example) in composed {
        if let Some(schema) = types.get_mut(&name) {
            set(schema, &example);
        }
    }
}

fn of(schema: &Value) -> Option<&Value> {
    schema.get("example").or_else(|| schema.pointer("/examples/0"))
}

fn set(schema: &mut Value, example: &Value) {
    if of(schema).is_none() {
        schema["examples"] = json!([example]);
    }
}

fn learn_from_bodies(value: &mut Value, seen: &mut Seen) {
    match value {
        Value::Object(members) => {
            if let (Some(example), Some(schema)) = (members.get("example").cloned(), members.get_mut("schema")) {
                learn(schema, &example, seen);
            }
            members.values_mut().for_each(|member| learn_from_bodies(member, seen));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| learn_from_bodies(value, seen)),
        _ => {}
    }
}

fn learn(schema: &mut Value, value: &Value, seen: &mut Seen) {
    if value.is_null() {
        return;
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(TYPES)) {
        seen.push_back((name.to_owned(), value.clone()));
        return;
    }
    if let Some(choices) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        let mut values = choices.iter_mut().filter(|choice| choice["type"] != "null");
        if let (Some(choice), None) = (values.next(), values.next()) {
            learn(choice, value, seen);
        }
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if let Some(property) = schema.get_mut("properties").and_then(|all| all.get_mut(name)) {
                    learn(property, value, seen);
                }
            }
        }
        Value::Array(values) => {
            if let Some(items) = schema.get_mut("items") {
                for value in values {
                    learn(items, value, seen);
                }
            }
        }
        _ => set(schema, value),
    }
}

fn compose(types: &Map<String, Value>, schema: &Value) -> Option<Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(TYPES)) {
        return compose(types, types.get(name)?);
    }
    if let Some(example) = of(schema).or_else(|| schema.get("const")) {
        return Some(example.clone());
    }
    if let Some(choices) = ["oneOf", "anyOf", "allOf"].into_iter().find_map(|key| schema[key].as_array()) {
        return choices.iter().find_map(|choice| compose(types, choice));
    }
    if let Some(items) = schema.get("items") {
        return compose(types, items).map(|item| json!([item]));
    }
    let member = |(name, property)| Some((String::clone(name), compose(types, property)?));
    schema["properties"].as_object()?.iter().map(member).collect::<Option<Map<_, _>>>().map(Value::Object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_lists_no_members_stays_as_it_is() {
        let mut schema = json!({"type": "object"});
        learn(&mut schema, &json!({"openapi": "3.1.0"}), &mut Seen::new());
        assert_eq!(schema, json!({"type": "object"}));
    }

    #[test]
    fn what_is_inside_has_the_examples_of_the_whole() {
        let text = || json!({"type": "string"});
        let mut document = json!({
            "webhooks": {"w": {"schema": {"$ref": format!("{TYPES}Data")}, "example": {"note": "b"}}},
            "components": {"schemas": {
                "Whole": {
                    "properties": {
                        "name": text(),
                        "parts": {"items": {"$ref": format!("{TYPES}Part")}},
                        "absent": {"oneOf": [{"$ref": format!("{TYPES}Other")}, {"type": "null"}]},
                    },
                    "example": {"name": "a", "parts": [{"size": 3}], "absent": null},
                },
                "Part": {"properties": {"size": {"type": "integer"}}},
                "Other": {"properties": {"part": {"$ref": format!("{TYPES}Part")}, "kind": {"$ref": format!("{TYPES}Kind")}}},
                "Kind": {"type": "string", "enum": ["x", "y"]},
                "Data": {"properties": {"note": text()}},
                "Unknown": {"properties": {"name": text()}},
            }},
        });
        complete(&mut document);
        let types = &document["components"]["schemas"];
        assert_eq!(types["Whole"]["properties"]["name"]["examples"], json!(["a"]));
        assert_eq!(types["Part"]["examples"], json!([{"size": 3}]));
        assert_eq!(types["Part"]["properties"]["size"]["examples"], json!([3]));
        assert_eq!(types["Kind"]["examples"], json!(["x"]));
        assert_eq!(types["Other"]["examples"], json!([{"part": {"size": 3}, "kind": "x"}]));
        assert_eq!(types["Data"]["properties"]["note"]["examples"], json!(["b"]));
        assert_eq!(of(&types["Unknown"]), None, "nothing is invented");
    }
}
