//! The operations as callers know them: paths and methods of `GET /openapi.json`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use http::Method;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use shared::wire::fields::FieldCode;

use crate::client::{Client, Request};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// An operation of the API.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its id, such as `get_contact`.
    pub id: String,
    /// Its method.
    pub method: Method,
    /// Its path with `{parameters}`.
    pub path: String,
    /// Its description.
    pub about: Value,
    document: Arc<Value>,
}

impl Operation {
    /// Whether it changes anything.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// Whether its path names a record.
    #[must_use]
    pub fn has_path_id(&self) -> bool {
        self.path.contains('{')
    }

    /// Whether it returns a page of records.
    #[must_use]
    pub fn is_list(&self) -> bool {
        let names: Vec<String> = self.parameters("query").into_iter().map(|parameter| parameter.name).collect();
        ["limit", "offset"].iter().all(|name| names.iter().any(|found| found == name))
    }

    /// Its parameters in `path`, `query` or `header`.
    #[must_use]
    pub fn parameters(&self, place: &str) -> Vec<Field> {
        let parameters = self.about["parameters"].as_array().into_iter().flatten();
        let field = |parameter: &Value| Field {
            name: parameter["name"].as_str().expect("a name").to_owned(),
            is_required: parameter["required"] == true,
            is_nullable: false,
            schema: self.resolved(&parameter["schema"]),
        };
        parameters.filter(|parameter| parameter["in"] == place).map(field).collect()
    }

    /// Whether it has this parameter.
    #[must_use]
    pub fn has(&self, place: &str, name: &str) -> bool {
        self.parameters(place).iter().any(|parameter| parameter.name == name)
    }

    /// Its body's members, if any.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        let schema = self.resolved(&self.about["requestBody"]["content"]["application/json"]["schema"]);
        let is_required = |name: &String| schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        let properties = schema["properties"].as_object().into_iter().flatten();
        let field = |(name, property): (&String, &Value)| Field {
            name: name.clone(),
            is_required: is_required(name),
            is_nullable: property["oneOf"].as_array().is_some_and(|all| all.iter().any(|one| one["type"] == "null")),
            schema: self.resolved(property),
        };
        properties.map(field).collect()
    }

    /// A schema without references and without null.
    fn resolved(&self, schema: &Value) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.resolved(resolve(&self.document, reference).expect("a reference that leads somewhere"));
        }
        let choices = schema["oneOf"].as_array().into_iter().flatten();
        match choices.into_iter().find(|choice| choice["type"] != "null") {
            Some(choice) => self.resolved(choice),
            None => schema.clone(),
        }
    }

    /// Its path with this text for each parameter.
    #[must_use]
    pub fn path_with(&self, id: &str) -> String {
        let mut path = String::new();
        let mut rest = self.path.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            path.push_str(before);
            path.push_str(id);
            rest = after.split_once('}').map_or("", |(_, rest)| rest);
        }
        path + rest
    }

    /// A call with an example body, and this text for each path parameter.
    pub fn call(&self, client: &Client, id: &str) -> Request {
        let request = client.call(self.method.clone(), self.path_with(id));
        match self.example_body() {
            Some(body) => request.json(&body),
            None => request,
        }
    }

    /// An example body, from the examples in its schema.
    #[must_use]
    pub fn example_body(&self) -> Option<Value> {
        let schema = &self.about["requestBody"]["content"]["application/json"]["schema"];
        (!schema.is_null()).then(|| example(&self.document, schema))
    }
}

/// A parameter, or a member of a body.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether it is required.
    pub is_required: bool,
    /// Whether it may be null.
    pub is_nullable: bool,
    /// The schema of its value, without null.
    pub schema: Value,
}

/// An example value of a schema.
#[must_use]
pub fn example(document: &Value, schema: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return example(document, resolve(document, reference).expect("a reference that leads somewhere"));
    }
    let given = [schema.get("example"), schema.pointer("/examples/0"), schema.get("const"), schema.pointer("/enum/0")];
    if let Some(value) = given.into_iter().flatten().next() {
        return value.clone();
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        let options = schema[choice].as_array().into_iter().flatten();
        if let Some(option) = options.into_iter().find(|option| option["type"] != "null") {
            return example(document, option);
        }
    }
    let of_properties = || {
        let properties = schema["properties"].as_object().into_iter().flatten();
        properties.map(|(name, property)| (name.clone(), example(document, property))).collect::<Map<_, _>>()
    };
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("object") => Value::Object(of_properties()),
        Some("array") => json!([example(document, &schema["items"])]),
        _ => panic!("a schema without an example: {schema}"),
    }
}

/// The target of a reference such as `#/components/schemas/Contact`.
#[must_use]
pub fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    document.pointer(reference.strip_prefix('#')?)
}

/// The stored description; the tests of `api::openapi` prove that it is the served one.
pub const GOLDEN: &str = include_str!("../../shared/openapi.json");

/// The stored description, parsed.
#[must_use]
pub fn golden() -> Value {
    serde_json::from_str(GOLDEN).expect("the golden copy is JSON")
}

/// All operations under `/api/v1` in the stored description.
#[must_use]
pub fn all() -> Vec<Operation> {
    operations(&golden())
}

/// Asserts that a delivery fits its type's description.
#[track_caller]
pub fn assert_delivery(body: &Value) {
    static VALIDATORS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    let validators = VALIDATORS.get_or_init(|| {
        let document = golden();
        let webhooks = document["webhooks"].as_object().expect("webhooks");
        let validator = |(name, webhook): (&String, &Value)| {
            (
                name.clone(),
                validator(&document, &webhook["post"]["requestBody"]["content"]["application/json"]["schema"]),
            )
        };
        webhooks.iter().map(validator).collect()
    });
    let event_type = body["type"].as_str().unwrap_or_default();
    let validator = validators.get(event_type).unwrap_or_else(|| panic!("a type that is not described: {body}"));
    assert_valid(validator, body);
}

/// Asserts that an operation's response fits its status's description.
#[track_caller]
pub fn assert_answer(operation: &Operation, status: u16, body: &Value) {
    let schema = &operation.about["responses"][status.to_string()]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{} describes no status {status}", operation.id);
    assert_valid(&validator(&operation.document, schema), body);
}

/// Asserts that an operation declares a refusal: its status, and each code of a 422 that isn't about form.
#[track_caller]
pub(crate) fn assert_declared(request: &str, status: u16, errors: &[Value]) {
    static OPERATIONS: OnceLock<Vec<Operation>> = OnceLock::new();
    let Some((method, url)) = request.split_once(' ') else { return };
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    let path = path.split('?').next().unwrap_or_default();
    let fits = |operation: &&Operation| {
        let (expected, given) = (operation.path.split('/'), path.split('/'));
        operation.method == method
            && expected.clone().count() == given.clone().count()
            && expected.zip(given).all(|(name, given)| name == given || (name.starts_with('{') && !given.is_empty()))
    };
    // A fixed segment goes before a parameter.
    let found = OPERATIONS.get_or_init(all).iter().filter(fits).min_by_key(|found| found.path.matches('{').count());
    let Some(operation) = found else { return };
    let declared = &operation.about["responses"][status.to_string()];
    assert!(declared.is_object(), "{} does not declare {status}: {request}", operation.id);
    if status != 422 {
        return;
    }
    let rules = declared["x-error-codes"].as_array().map(Vec::as_slice).unwrap_or_default();
    for error in errors {
        let is_of_form = FieldCode::OF_FORM.iter().any(|code| error["code"] == code.as_str());
        // The last of many errors counts the rest.
        let is_count = error["field"] == "body" && error["code"] == FieldCode::LimitReached.as_str();
        let is_declared = is_of_form || is_count || rules.contains(&error["code"]);
        assert!(is_declared, "{} does not declare {error}: {request}", operation.id);
    }
}

fn validator(document: &Value, schema: &Value) -> Validator {
    // References are to the document's components.
    let root = json!({"components": document["components"], "allOf": [schema], "unevaluatedProperties": false});
    jsonschema::options().should_validate_formats(true).build(&root).expect("a schema")
}

/// Validates against a component of the description.
#[must_use]
pub fn validator_of(component: &str) -> Validator {
    let document = golden();
    // Ignores formats: a pattern must suffice.
    jsonschema::options().build(&document["components"]["schemas"][component]).expect("a schema")
}

/// The error of a value for a schema, if any.
#[must_use]
pub fn fault(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let root = json!({"components": document["components"], "allOf": [schema]});
    let validator = jsonschema::options().should_validate_formats(true).build(&root).expect("a schema");
    validator.iter_errors(value).next().map(|error| error.to_string())
}

#[track_caller]
fn assert_valid(validator: &Validator, value: &Value) {
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} in {value}");
}

/// All operations under `/api/v1`.
#[must_use]
pub fn operations(description: &Value) -> Vec<Operation> {
    let document = Arc::new(description.clone());
    let paths = description["paths"].as_object().expect("paths");
    let mut operations = Vec::new();
    for (path, item) in paths.iter().filter(|(path, _)| path.starts_with("/api/v1/")) {
        for method in METHODS.iter().filter(|method| item.get(**method).is_some()) {
            let about = item[*method].clone();
            operations.push(Operation {
                id: about["operationId"].as_str().expect("an operation id").to_owned(),
                method: method.to_uppercase().parse().expect("a method"),
                path: path.clone(),
                about,
                document: Arc::clone(&document),
            });
        }
    }
    assert!(!operations.is_empty(), "the description names operations");
    operations
}

/// The description that the API serves.
pub async fn description(base_url: &str) -> Value {
    Client::new(base_url).get("/openapi.json").send().await.ok(200)
}
