//! Makes the tools from operations and API document, for `make generate` and tests. Functions include `tools.json`.
//!
//! Decision: the schemas say less than the API document, because every agent pays for the whole list: 12,000 tokens at
//! most. Patterns, examples and deep results are omitted; a refusal explains what an argument requires.

use http::Method;
use serde_json::{Map, Value, json};
use shared::api::operation::{OperationSpec, ReadOperation, Register, WriteOperation};
use shared::limits;

use crate::call::{IDEMPOTENCY_KEY, IF_MATCH, LIST};

const REPEATABLE: [&str; 3] = ["add_workspace_contact", "add_agreement_participant", "park_funding_item"];
/// POST operations that may overwrite a value.
const OVERWRITING: [&str; 2] = ["create_trust", "park_funding_item"];
const DESCRIPTION_CHARS_MAX: usize = 110;
/// Below this depth a result's schema shows only types. Writing tools show less: the reading tool shows all.
const RESULT_DEPTH: usize = 2;
const WRITTEN_DEPTH: usize = 1;
const PART_MEMBERS_MAX: usize = 8;

/// The operations to make tools for, in order.
#[derive(Debug, Default)]
pub struct Catalog(Vec<OperationSpec>);

impl Register for Catalog {
    fn read<O: ReadOperation>(&mut self) {
        self.0.push(O::SPEC);
    }

    fn write<O: WriteOperation>(&mut self) {
        self.0.push(O::SPEC);
    }
}

impl Catalog {
    /// `tools.json`: each tool as clients see it, with its operation's method and path.
    #[must_use]
    pub fn into_json(self, document: &Value) -> String {
        let lines: Vec<String> = self.0.iter().map(|spec| entry(spec, document).to_string()).collect();
        format!("[\n{}\n]\n", lines.join(",\n"))
    }
}

fn entry(spec: &OperationSpec, document: &Value) -> Value {
    let operation = &document["paths"][spec.path][spec.method.as_str().to_lowercase()];
    let reader = Reader { document };
    json!({
        "method": spec.method.as_str(),
        "path": spec.path,
        "tool": {
            "name": spec.id,
            "title": spec.summary,
            "description": description(spec, operation),
            "inputSchema": reader.input(spec, operation),
            "outputSchema": reader.output(spec, operation),
            "annotations": annotations(spec),
        },
    })
}

fn description(spec: &OperationSpec, operation: &Value) -> String {
    let has_pages = operation["parameters"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == "limit"));
    let pages = if has_pages {
        format!(" {} rows a page unless `limit` says otherwise.", limits::AGENT_PAGE_LIMIT_DEFAULT)
    } else {
        String::new()
    };
    let scope = if spec.method == Method::GET { "" } else { " Needs the scope `read_write`." };
    format!("{}{pages}{scope}", spec.agent)
}

fn annotations(spec: &OperationSpec) -> Value {
    if spec.method == Method::GET {
        return json!({"readOnlyHint": true, "openWorldHint": false});
    }
    let is_patch = spec.method == Method::PATCH;
    json!({
        "readOnlyHint": false,
        "destructiveHint": is_patch || OVERWRITING.contains(&spec.id),
        "idempotentHint": is_patch || REPEATABLE.contains(&spec.id),
        "openWorldHint": false,
    })
}

struct Reader<'a> {
    document: &'a Value,
}

impl<'a> Reader<'a> {
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                self.resolved(self.document.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null))
            }
            None => schema,
        }
    }

    fn input(&self, spec: &OperationSpec, operation: &'a Value) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] != "header") {
            let name = parameter["name"].as_str().unwrap_or_default();
            let mut schema = self.argument(&parameter["schema"], false);
            describe(&mut schema, &parameter["description"]);
            match name {
                "limit" => {
                    schema = without_description(schema);
                    schema["default"] = json!(limits::AGENT_PAGE_LIMIT_DEFAULT);
                }
                // The largest possible number is meaningless.
                "offset" => {
                    schema = without_description(schema);
                    schema.as_object_mut().and_then(|schema| schema.remove("maximum"));
                }
                _ => {}
            }
            if parameter["required"] == true {
                required.push(json!(name));
            }
            properties.insert(name.to_owned(), schema);
        }
        let body = self.resolved(&operation["requestBody"]["content"]["application/json"]["schema"]);
        required.extend(body["required"].as_array().into_iter().flatten().cloned());
        for (name, property) in body["properties"].as_object().into_iter().flatten() {
            // In a change `null` removes a value, and a required argument may be `null`.
            let says_more = spec.method == Method::PATCH || required.contains(&json!(name));
            properties.insert(name.clone(), self.argument(property, says_more));
        }
        let header = match spec.method {
            Method::POST => Some((IDEMPOTENCY_KEY, "A new key for each action; sent again, it has no further effect.")),
            Method::PATCH => Some((IF_MATCH, "The etag of the version to change; refused if it has changed since.")),
            _ => None,
        };
        if let Some((name, about)) = header {
            properties.insert(name.to_owned(), json!({"type": "string", "description": about}));
        }
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    /// The schema of an argument: type and purpose. It may be `null` only where that differs from omitting it.
    fn argument(&self, schema: &'a Value, takes_null: bool) -> Value {
        let of = self.resolved(schema);
        let mut found = Map::new();
        if let Some((one, is_nullable)) = alternative(of) {
            let mut only = self.argument(one, takes_null);
            if is_nullable {
                allow_null(&mut only);
            }
            found = only.as_object().cloned().unwrap_or_default();
        }
        for key in ["type", "enum", "const", "minimum", "maximum", "minItems", "maxItems", "default", "required"] {
            if let Some(value) = of.get(key).filter(|value| **value != json!("")) {
                found.insert(key.to_owned(), value.clone());
            }
        }
        if of["format"] == "uuid" {
            found.insert("format".to_owned(), json!("uuid"));
        }
        if let Some(items) = of.get("items") {
            found.insert("items".to_owned(), without_description(self.argument(items, takes_null)));
        }
        if let Some(properties) = of["properties"].as_object() {
            let member = |(name, inner): (&String, &'a Value)| {
                (name.clone(), without_description(self.argument(inner, takes_null)))
            };
            found.insert("properties".to_owned(), Value::Object(properties.iter().map(member).collect()));
        }
        let mut found = Value::Object(found);
        if !takes_null {
            refuse_null(&mut found);
        }
        describe(&mut found, schema.get("description").unwrap_or(&Value::Null));
        found
    }

    fn output(&self, spec: &OperationSpec, operation: &'a Value) -> Value {
        let responses = operation["responses"].as_object().into_iter().flatten();
        let success = responses.filter(|(status, _)| status.starts_with('2')).map(|(_, response)| response).next();
        let Some(response) = success else { return json!({"type": "object"}) };
        let schema = self.resolved(&response["content"]["application/json"]["schema"]);
        if schema["type"] == "array" {
            let items = self.shape(&schema["items"], WRITTEN_DEPTH, false);
            return json!({"type": "object", "properties": {LIST: {"type": "array", "items": items}}});
        }
        let levels = if spec.method == Method::GET { RESULT_DEPTH } else { WRITTEN_DEPTH };
        self.shape(schema, levels, false)
    }

    fn shape(&self, schema: &'a Value, levels: usize, is_part: bool) -> Value {
        let of = self.resolved(schema);
        if let Some((one, is_nullable)) = alternative(of) {
            let mut shape = self.shape(one, levels, is_part);
            if is_nullable {
                allow_null(&mut shape);
            }
            return shape;
        }
        let mut shape = Map::new();
        if let Some(kind) = of.get("type") {
            shape.insert("type".to_owned(), kind.clone());
        }
        let properties = of["properties"].as_object().filter(|all| !is_part || all.len() <= PART_MEMBERS_MAX);
        if let (Some(properties), Some(left)) = (properties, levels.checked_sub(1)) {
            let inner = properties.iter().map(|(name, inner)| (name.clone(), self.shape(inner, left, true)));
            shape.insert("properties".to_owned(), Value::Object(inner.collect()));
        }
        Value::Object(shape)
    }
}

/// The only kind of value in a choice besides `null`, and whether it may be `null`.
fn alternative(schema: &Value) -> Option<(&Value, bool)> {
    let all = ["oneOf", "anyOf", "allOf"].into_iter().find_map(|key| schema[key].as_array())?;
    // The API takes an empty text for an unset filter; agents omit it.
    let is_empty_text = |one: &Value| one["const"] == "" || one["maxLength"] == 0 || one["enum"] == json!([""]);
    let mut kinds = all.iter().filter(|one| one["type"] != "null" && !is_empty_text(one));
    let (one, None) = (kinds.next()?, kinds.next()) else { return None };
    Some((one, all.iter().any(|one| one["type"] == "null")))
}

fn allow_null(schema: &mut Value) {
    match &mut schema["type"] {
        Value::String(kind) => schema["type"] = json!([kind, "null"]),
        Value::Array(kinds) if !kinds.contains(&json!("null")) => kinds.push(json!("null")),
        Value::Null => drop(schema.as_object_mut().and_then(|schema| schema.remove("type"))),
        _ => {}
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
}

fn refuse_null(schema: &mut Value) {
    if let Some([Value::String(kind), _]) = schema["type"].as_array().map(Vec::as_slice) {
        schema["type"] = json!(kind);
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
}

/// Sets a description: the first sentences that fit, if any.
fn describe(schema: &mut Value, description: &Value) {
    let Some(text) = description.as_str() else { return };
    let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let mut short = String::new();
    for sentence in first.split_inclusive(". ") {
        if !short.is_empty() && short.len() + sentence.len() > DESCRIPTION_CHARS_MAX {
            break;
        }
        short.push_str(sentence);
    }
    schema["description"] = json!(short.trim_end());
}

fn without_description(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.remove("description");
    }
    schema
}
