//! The API's description (OpenAPI 3.1), generated from the declarations that make the routes.
//!
//! `make generate` writes `openapi.json`, and a test compares it with the declarations. Functions serve the compressed
//! `openapi.json.gz` to clients that accept gzip, and take from it the routes of all functions, for 404 and 405.

mod errors;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue, header};
use serde_json::{Map, Value, json};
use utoipa::openapi::path::ParameterIn;
use utoipa::{IntoParams, ToSchema};

use crate::api::gzip::decompressed;
use crate::api::operation::{OperationSpec, ReadOperation, Register, Rule, WriteOperation};
use crate::api::page;
use crate::domain::event::{DataVisitor, Event};
use crate::error::{Envelope, Error, ErrorBody, ErrorCode};
use crate::limits;
use crate::wire::fields::{FieldCode, FieldError, FieldErrors};
use crate::wire::text;

use errors::{ERRORS, GivenBy, OF_GATEWAY, error_response, error_responses, response_reference};
use headers::{header_reference, headers};

mod examples;
mod generated;
mod headers;

/// The document's path.
pub const PATH: &str = "/openapi.json";
/// The operation that returns it.
pub const OPERATION: &str = "get_openapi";
/// Compressed by [`gzip::compressed`](crate::api::gzip::compressed).
const COMPRESSED: &[u8] = include_bytes!("../../openapi.json.gz");

/// The description's body and headers, compressed or not. Fails if the stored bytes are damaged.
pub(super) fn document(is_compressed: bool) -> Result<(Vec<u8>, HeaderMap), Error> {
    let mut headers = HeaderMap::new();
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        return Ok((COMPRESSED.to_vec(), headers));
    }
    Ok((description()?, headers))
}

/// The description as JSON. Fails if the stored bytes are damaged.
pub fn description() -> Result<Vec<u8>, Error> {
    decompressed(COMPRESSED).ok_or_else(|| Error::Internal("the description is damaged".to_owned()))
}

/// A path's methods, for an `Allow` header. `None` if the path doesn't exist.
#[must_use]
pub fn allowed_methods(path: &str) -> Option<String> {
    static ROUTES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let routes = ROUTES.get_or_init(|| read_routes(&decompressed(COMPRESSED).unwrap_or_default()));
    let allow = routes.iter().find(|(template, _)| matches(template, path)).map(|(_, allow)| allow.clone());
    // Public paths answer HEAD too. The page is no operation, so the document lacks it.
    if [PATH, page::DOCS].contains(&path) { Some("GET, HEAD".to_owned()) } else { allow }
}

fn read_routes(document: &[u8]) -> Vec<(String, String)> {
    let document: Value = serde_json::from_slice(document).unwrap_or_default();
    let paths = document["paths"].as_object().cloned().unwrap_or_default();
    let allow = |operations: &Value| {
        let methods = operations.as_object().into_iter().flat_map(Map::keys).map(|method| method.to_uppercase());
        methods.collect::<Vec<_>>().join(", ")
    };
    let mut routes: Vec<_> = paths.iter().map(|(template, operations)| (template.clone(), allow(operations))).collect();
    // Fixed segments before parameters, as in the router.
    routes.sort_by_key(|(template, _)| template.matches('{').count());
    routes
}

fn matches(template: &str, path: &str) -> bool {
    let (mut expected, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (expected.next(), given.next()) {
            (None, None) => return true,
            (Some(name), Some(value)) if name.starts_with('{') && !value.is_empty() => {}
            (Some(name), Some(value)) if name == value => {}
            _ => return false,
        }
    }
}

/// An OpenAPI document under construction.
#[derive(Debug, Default)]
pub struct Description {
    paths: Map<String, Value>,
    webhooks: Map<String, Value>,
    schemas: Map<String, Value>,
    null_in_rows: Vec<(String, &'static [&'static str])>,
}

impl Description {
    /// Only the shared parts.
    #[must_use]
    pub fn new() -> Self {
        let mut description = Self::default();
        description.add_schema::<Envelope>();
        description.add_schema::<ErrorBody>();
        description.add_schema::<ErrorCode>();
        description.add_schema::<FieldError>();
        description.add_schema::<FieldCode>();
        description.add_schema::<GatewayError>();
        let mut openapi = json!({
            "operationId": OPERATION,
            "tags": ["Description"],
            "summary": "Get this description",
            "description": "Public: no token is needed, and the call leaves no audit row. The body is compressed if `Accept-Encoding` asks for gzip. HEAD is answered too. Other methods get 405 with a valid token, and 401 without one.",
            "security": [],
            "responses": {
                "200": {
                    "description": "This document.",
                    "headers": {
                        "x-request-id": {"$ref": "#/components/headers/RequestId"},
                        "content-encoding": {"$ref": "#/components/headers/ContentEncoding"},
                        "vary": {"$ref": "#/components/headers/Vary"},
                    },
                    "content": {"application/json": {
                        "schema": {"type": "object", "description": "A description in the form of OpenAPI 3.1."},
                        "example": {"openapi": "3.1.0", "info": {"title": "Countersign", "version": "1.0.0"}, "paths": {}},
                    }},
                },
                "401": response_reference("Unauthenticated"),
                "405": response_reference("MethodNotAllowed"),
                "422": response_reference("InvalidRequest"),
                "500": response_reference("InternalError"),
            },
        });
        for (status, name, ..) in OF_GATEWAY {
            openapi["responses"][status.to_string()] = response_reference(name);
        }
        description.paths.insert(PATH.to_owned(), json!({"get": openapi}));
        for event in Event::examples().unwrap_or_default() {
            description.add_webhook(&event);
        }
        description
    }

    /// The document, as stored and served.
    #[must_use]
    pub fn into_json(self) -> String {
        let mut document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Countersign",
                "version": "1.0.0",
                "description": ABOUT_API,
                "contact": {"name": "Countersign support", "url": "https://countersign.example/support", "email": "support@countersign.example"},
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/", "description": "The host that serves this document."}],
            "security": [{"token": []}],
            "tags": [
                {"name": "Identity", "description": "Who a token speaks for."},
                {"name": "Contacts", "description": "People and entities of your organization."},
                {"name": "Workspaces", "description": "One deal or matter each."},
                {"name": "Agreements", "description": "Drafted over the API; published and cancelled by people only."},
                {"name": "Movements", "description": "Money that moves between real banks: a claim and its proof, apart. Read-only; people act in the app."},
                {"name": "Ledger", "description": "One row for each thing owed or owing, across all workspaces. Read-only."},
                {"name": "Obligations", "description": "What participants promised each other: when it is due, what is claimed, and what the other side confirmed. Read-only; people act in the app."},
                {"name": "Trusts", "description": "Trusts whose funding is run in a workspace."},
                {"name": "Funding", "description": "The assets that have to move into a trust: what is to be done, what is missing, what is claimed, and what is confirmed. Rows are intent and contact nobody."},
                {"name": "Proposals", "description": "Protected effects that wait for a member's decision."},
                {"name": "Webhooks", "description": "What your endpoints are told. Members who are admins add endpoints in the app."},
                {"name": "Description", "description": "This document."},
            ],
            "paths": self.paths,
            "webhooks": self.webhooks,
            "components": {
                "schemas": self.schemas,
                "responses": error_responses(),
                "headers": headers(),
                "securitySchemes": {"token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An organization's access token. It is issued in the app, carries one scope (read, or read and write), and expires ninety days after issue.",
                }},
            },
        });
        without_sources(&mut document);
        examples::complete(&mut document);
        for (page, members) in self.null_in_rows {
            without_members(&mut document["components"]["schemas"][page], members);
        }
        with_descriptions_in_front(&mut document);
        generated::complete(&mut document);
        with_unseen_escaped(&serde_json::to_string_pretty(&document).unwrap_or_default()) + "\n"
    }

    fn add_schema<T: ToSchema>(&mut self) -> Value {
        let mut found = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut found);
        for (name, schema) in found {
            self.schemas.insert(name, json!(schema));
        }
        json!({"$ref": format!("#/components/schemas/{}", T::name())})
    }

    fn add_webhook(&mut self, event: &Event) {
        let name = event.event_type().as_str();
        let data = event.event_type().visit_data(self);
        let header = |name: &str, description: &str, schema: Value| json!({"name": name, "in": "header", "required": true, "description": description, "schema": schema});
        let text = |example: &str| json!({"type": "string", "examples": [example]});
        let timestamp = || json!({"type": "string", "pattern": "^[0-9]+$", "examples": ["1773480413"]});
        let delivery = json!({
            "operationId": format!("on_{}", name.replace('.', "_")),
            "tags": ["Webhooks"],
            "summary": name,
            "description": format!("{}. {ABOUT_DELIVERIES}", event.event_type().sent_when()),
            "security": [],
            // Nobody calls this: client generators would make it a call, whose Python headers don't compile.
            "x-internal": true,
            "parameters": [
                header("Service-Webhook-Timestamp", "When this attempt was signed, in seconds since 1970.", timestamp()),
                header("Service-Webhook-Signature", "`t=<timestamp>,v1=<hex>`: the HMAC-SHA-256 of `<timestamp>.<raw body>` under the whole signing secret. After a rotation with overlap there is a `v1` for each secret.", text("t=1773480413,v1=7e61b71692e0da99d91cd391331767b8af63b36760b49cce03a3978b44c04770")),
                header("webhook-id", "The event's id, as in the body, under the name that Standard Webhooks libraries expect.", json!({"type": "string", "format": "uuid", "examples": [json!(event)["id"]]})),
                header("webhook-timestamp", "The same time as `Service-Webhook-Timestamp`, under the name that Standard Webhooks libraries expect.", timestamp()),
                header("webhook-signature", "`v1,<base64>` of Standard Webhooks, one for each secret, separated by blanks: the HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<raw body>`.", text("v1,8YJvCx1TygwPqWHMVQ5zqbBjYxprl9Mb+MDMm9hDdqA=")),
            ],
            "requestBody": {"required": true, "description": format!("The event `{name}`. Verify its signature over these very bytes before you read them."), "content": {"application/json": {
                "schema": {
                    "type": "object",
                    "description": format!("The event `{name}`, the same for every endpoint."),
                    "required": ["id", "type", "created_at", "data"],
                    "properties": {
                        "id": {"type": "string", "format": "uuid", "description": "The id of the event. Each attempt and each repeat has the same: skip events whose id you have already handled."},
                        "type": {"type": "string", "const": name, "description": "What happened. Branch on this, and answer types that you don't know with success."},
                        "created_at": {"type": "string", "format": "date-time", "description": "When the event was recorded, in the transaction of the change that it tells of."},
                        "data": described(data, "What the event is about. It only gains fields."),
                    },
                },
                "example": event,
            }}},
            "responses": {
                "2XX": {"description": "It has arrived. Anything else, and anything after 15 seconds, is a failure."},
            },
        });
        self.webhooks.insert(name.to_owned(), json!({"post": delivery}));
    }

    fn add(
        &mut self,
        about: &OperationSpec,
        mut parameters: Vec<Value>,
        sent: Option<(Value, &[Rule])>,
        output: &Value,
    ) {
        let is_write = sent.is_some();
        let is_post = about.method == http::Method::POST;
        let (body, rules) = sent.map_or((None, &[][..]), |(body, rules)| (Some(body), rules));
        let invalid = self.invalid_request(&parameters, body.as_ref(), rules);
        let names_records = about.path.contains('{') || body.as_ref().is_some_and(|body| self.names_records(body));
        if is_post {
            parameters.push(idempotency_key_parameter());
        } else if is_write {
            parameters.push(if_match_parameter());
        }
        let mut responses = success_responses(about, output);
        responses.insert("422".to_owned(), invalid);
        for (status, name, _, given_by) in ERRORS {
            let is_given = match given_by {
                GivenBy::All => true,
                GivenBy::Undescribed => false,
                GivenBy::Writes => is_write,
                GivenBy::Posts => is_post,
                GivenBy::Patches => is_write && !is_post,
                GivenBy::WhatNamesRecords => names_records,
            };
            if is_given {
                responses.insert(status.to_string(), response_reference(name));
            }
        }
        for (status, name, ..) in OF_GATEWAY {
            responses.insert(status.to_string(), response_reference(name));
        }
        let mut operation = json!({
            "operationId": about.id,
            "tags": [about.tag],
            "summary": about.summary,
            "description": about.description,
            "parameters": parameters,
            "responses": responses,
        });
        if let Some(schema) = body {
            let description = self.body_schema(&schema)["description"].clone();
            operation["requestBody"] = json!({
                "required": true,
                "description": description,
                "content": {"application/json": {"schema": schema}},
            });
        }
        let path = self.paths.entry(about.path).or_insert_with(|| json!({}));
        path[about.method.as_str().to_lowercase()] = operation;
    }
}

/// How a repeated call has no second effect.
fn idempotency_key_parameter() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "1 to 255 printable ASCII characters, bare or quoted. A repeat with the same key and the same request gets the first response again and has no effect; with another request it is a 409. Remembered for 7 days. Refusals are not remembered.",
        "schema": {"type": "string", "minLength": 1, "maxLength": limits::IDEMPOTENCY_KEY_CHARS_MAX, "pattern": IDEMPOTENCY_KEY_PATTERN, "examples": ["closing-2026-03-14-1"]},
    })
}

/// How a change is refused if it was meant for another version.
fn if_match_parameter() -> Value {
    json!({
        "name": "If-Match",
        "in": "header",
        "required": false,
        "description": "The ETag of the version that the change is meant for. If the record has changed since, the call is a 409 and changes nothing.",
        "schema": {"type": "string", "minLength": 1, "pattern": r#"^(\*|(W/)?"[!#-+.-~-]*"(, *(W/)?"[!#-+.-~-]*")*)$"#, "examples": ["\"3\""]},
    })
}

/// The responses of a call that was done, with the headers of each.
fn success_responses(about: &OperationSpec, output: &Value) -> Map<String, Value> {
    let response = |(status, when): &(u16, &str)| {
        let own = about.headers.iter().copied().filter(|name| *name != "ignored-fields" || *status == 200);
        let of_status = (*status == 201).then_some("location");
        let of_method = (about.method == http::Method::POST).then_some("idempotent-replayed");
        let names = ["x-request-id"].into_iter().chain(of_status).chain(own).chain(of_method);
        let headers: Map<String, Value> = names.map(|name| (name.to_owned(), header_reference(name))).collect();
        let content = json!({"application/json": {"schema": output}});
        (status.to_string(), json!({"description": when, "headers": headers, "content": content}))
    };
    about.success.iter().map(response).collect()
}

impl Description {
    fn body_schema(&self, body: &Value) -> &Value {
        let name = body["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).unwrap_or_default();
        self.schemas.get(name).unwrap_or(&Value::Null)
    }

    fn names_records(&self, body: &Value) -> bool {
        let properties = self.body_schema(body)["properties"].as_object();
        properties.into_iter().flatten().any(|(name, _)| name.ends_with("_id") || name.ends_with("_ids"))
    }

    fn invalid_request(&self, parameters: &[Value], body: Option<&Value>, rules: &[Rule]) -> Value {
        let required = body.and_then(|body| self.body_schema(body)["required"][0].as_str());
        let in_path =
            parameters.iter().find(|parameter| parameter["in"] == "path").and_then(|one| one["name"].as_str());
        let errors = match (rules.first(), required, in_path) {
            (Some((field, code, message)), ..) => FieldErrors::one(*field, *code, *message),
            (None, Some(field), _) => FieldErrors::one(field, FieldCode::Required, "is required"),
            (None, None, Some(name)) => {
                let message = "must be a uuid such as 01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35";
                FieldErrors::one(format!("path.{name}"), FieldCode::InvalidFormat, message)
            }
            (None, None, None) if parameters.iter().any(|parameter| parameter["name"] == "limit") => {
                FieldErrors::one("limit", FieldCode::OutOfRange, "must be an integer from 1 to 200")
            }
            (None, None, None) => {
                FieldErrors::one("limit", FieldCode::UnknownParameter, "is not known here; known: none")
            }
        };
        let mut text = "The request did not pass validation; `errors` lists every field that is wrong.".to_owned();
        if !rules.is_empty() {
            text.push_str(" Beside what the form of the request has wrong, these rules refuse it.");
        }
        for (field, code, message) in rules {
            let field = field.split('[').next().unwrap_or(field);
            let _ = write!(text, "\n\n- `{code}` at `{field}`: {message}.");
        }
        let mut response = error_response(422, &text, Error::Invalid(errors));
        let codes: BTreeSet<FieldCode> = rules.iter().map(|(_, code, _)| *code).collect();
        if !codes.is_empty() {
            response["x-error-codes"] = json!(codes);
        }
        response
    }
}

fn without_members(page: &mut Value, members: &[&str]) {
    let rows = page.pointer_mut("/examples/0/data").and_then(Value::as_array_mut);
    for row in rows.into_iter().flatten() {
        for member in members {
            row[*member] = Value::Null;
        }
    }
}

/// What the gateway in front of the service answers by itself.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(example = json!({"message": "Too Many Requests"}))]
pub struct GatewayError {
    /// What the gateway says, for a person.
    pub message: String,
}

/// Removes references to the specification from descriptions: they are for maintainers.
fn without_sources(value: &mut Value) {
    match value {
        Value::String(text) => {
            for source in [" (specification", " (contract"] {
                while let Some(start) = text.find(source) {
                    let end = text[start..].find(')').map_or(text.len(), |length| start + length + 1);
                    text.replace_range(start..end, "");
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_sources),
        Value::Object(values) => values.values_mut().for_each(without_sources),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Moves a nullable property's description from its alternatives, where tools lose it, to the property. References get
/// none: some client generators would create another type.
fn with_descriptions_in_front(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(with_descriptions_in_front),
        Value::Object(members) => {
            let alternatives = members.get_mut("oneOf").and_then(Value::as_array_mut);
            let mut of_type = None;
            for one in alternatives.into_iter().flatten().filter_map(Value::as_object_mut) {
                if one.contains_key("$ref") {
                    of_type = one.remove("description").or(of_type);
                }
            }
            if let Some(description) = of_type {
                members.entry("description").or_insert(description);
            }
            members.values_mut().for_each(with_descriptions_in_front);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Escapes invisible and misleading characters, which the patterns refusing them contain. All are in the first plane.
fn with_unseen_escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        let is_seen = character.is_ascii() || !text::is_unseen(character);
        if is_seen {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        }
    }
    escaped
}

fn described(mut reference: Value, description: &str) -> Value {
    reference["description"] = json!(description);
    reference
}

fn parameters<T: IntoParams>(place: &ParameterIn) -> Vec<Value> {
    T::into_params(|| Some(place.clone())).into_iter().map(|parameter| json!(parameter)).collect()
}

impl DataVisitor for Description {
    type Output = Value;

    fn data<D: ToSchema>(&mut self) -> Value {
        self.add_schema::<D>()
    }
}

impl Register for Description {
    fn read<O: ReadOperation>(&mut self) {
        let mut found = parameters::<O::Path>(&ParameterIn::Path);
        found.extend(parameters::<O::Query>(&ParameterIn::Query));
        let output = self.add_schema::<O::Output>();
        if !O::NULL_IN_ROWS.is_empty() {
            self.null_in_rows.push((O::Output::name().into_owned(), O::NULL_IN_ROWS));
        }
        self.add(&O::SPEC, found, None, &output);
    }

    fn write<O: WriteOperation>(&mut self) {
        let found = parameters::<O::Path>(&ParameterIn::Path);
        let body = self.add_schema::<O::Body>();
        // Bodies are read strictly: unknown fields are refused.
        self.schemas[&*O::Body::name()]["additionalProperties"] = json!(false);
        let output = self.add_schema::<O::Output>();
        self.add(&O::SPEC, found, Some((body, O::RULES)), &output);
    }
}

/// Printable ASCII without surrounding blanks, except a pair of quotation marks with nothing between them.
const IDEMPOTENCY_KEY_PATTERN: &str = r#"^([!-~]|[!#-~][ -~]*[!-~]|"[ -~]*[!#-~]|"[ -~]+")$"#;

const ABOUT_DELIVERIES: &str = "Delivered at least once: dedupe by `id`. A failure is tried again after 1 minute, 5 \
minutes, 30 minutes and 2 hours; after the fifth it waits for a manual replay. Every attempt sends the same bytes with a \
signature of its own. Acknowledge types that you don't know. `data` only gains fields.";

const ABOUT_API: &str = "Coordinates agreements, the conditions under which their stages run, and evidence about money \
that moves between real banks. It never holds, initiates or redirects funds.\n\n\
Lists are oldest first. `pagination.total` is exact; rows that are added or changed while you walk the pages may be \
missed by that walk or shift it by one, so check `total` and dedupe by `id`. `search` finds a part of the text, \
whatever its case or composition.\n\n\
Unknown query parameters and body fields are refused, so that a typo never widens a result. An absent value is `null`.\n\n\
413, 503 and most 429 are answers of the gateway in front of the service, with a body of its own. A 429 with the \
envelope is the service's: your organization alone sends too many requests at once.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_matches_its_template_segment_by_segment() {
        for (template, path, expected) in [
            ("/a/{id}", "/a/1", true),
            ("/a/{id}", "/a/", false),
            ("/a/{id}", "/a/1/", false),
            ("/a/{id}", "/a", false),
            ("/a/{id}/b", "/a/1/b", true),
            ("/a", "/a/", false),
        ] {
            assert_eq!(matches(template, path), expected, "{template} and {path}");
        }
    }

    #[test]
    fn what_is_kept_compressed_is_the_document() {
        let document = include_str!("../../openapi.json");
        assert!(decompressed(COMPRESSED).unwrap() == document.as_bytes(), "run `make generate`");
        assert!(COMPRESSED.len() < document.len() / 4, "{} of {} bytes", COMPRESSED.len(), document.len());
    }

    #[test]
    fn the_kept_document_has_routes() {
        assert_eq!(allowed_methods("/openapi.json").as_deref(), Some("GET, HEAD"));
        assert_eq!(allowed_methods("/api/v1/me").as_deref(), Some("GET"));
        assert_eq!(allowed_methods("/nowhere"), None);
    }
}
