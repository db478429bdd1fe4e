//! The OpenAPI document for people.

use std::collections::BTreeMap;

use serde_json::Value;
use shared::error::Error;

use crate::prose::Prose;

const TYPES: &str = "#/components/schemas/";

/// The document.
#[derive(Debug)]
pub struct Description(Value);

/// An operation, or an event that is posted to an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    description: &'a Description,
    /// The path, or the event's type.
    pub path: &'a str,
    /// The method, in lower case.
    pub method: &'a str,
    value: &'a Value,
    is_event: bool,
}

/// A list of named values: parameters, the fields of a body or type, the values of an enum.
#[derive(Debug)]
pub struct Part {
    /// Its anchor on the page.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it is.
    pub about: Prose,
    /// The values.
    pub fields: Vec<Field>,
    /// An example of all of it.
    pub example: Option<String>,
}

/// A parameter, a field, or a value of an enum.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type; none for an enum value.
    pub kind: Option<Kind>,
    /// A mark such as "required".
    pub mark: Option<&'static str>,
    /// What it is.
    pub about: Prose,
    /// Its own example, if its type is a plain one.
    pub example: Option<String>,
}

/// A value's type in words, with at most one name of a type on the same page.
#[derive(Debug, Default)]
pub struct Kind {
    /// The text before the name, such as "list of".
    pub before: &'static str,
    /// The name of the type.
    pub name: Option<String>,
    /// The text after the name, or the whole text.
    pub text: String,
}

/// A response to a call.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: String,
    /// When it is given.
    pub about: Prose,
    /// The type of its body.
    pub kind: Option<Kind>,
    /// A success's headers.
    pub headers: Vec<Field>,
    /// An example of its body.
    pub example: Option<String>,
    /// Whether operations share this error, so that the page lists it with the others.
    pub is_shared: bool,
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

fn json_content(body: &Value) -> &Value {
    &body["content"]["application/json"]
}

fn example_of(value: &Value) -> Option<&Value> {
    value.get("example").or_else(|| value["examples"].get(0))
}

impl Description {
    /// Parses a document.
    pub fn parse(document: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(document).map(Self).map_err(|error| Error::Internal(error.to_string()))
    }

    /// The description of the whole API.
    #[must_use]
    pub fn about(&self) -> &str {
        text(&self.0["info"], "description")
    }

    /// The groups of operations, with their descriptions.
    pub fn tags(&self) -> impl Iterator<Item = (String, String)> {
        items(&self.0["tags"]).map(|tag| (text(tag, "name").to_owned(), text(tag, "description").to_owned()))
    }

    /// All operations by path, then all events.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        [("paths", false), ("webhooks", true)].into_iter().flat_map(move |(kind, is_event)| {
            members(&self.0[kind]).flat_map(move |(path, methods)| {
                let operation = move |(method, value)| Operation { description: self, path, method, value, is_event };
                members(methods).map(operation)
            })
        })
    }

    /// Shared errors by status. Several with the same status are all described; the first is shown.
    #[must_use]
    pub fn errors(&self) -> Vec<Answer> {
        let mut found: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
        for operation in self.operations() {
            for (status, answer) in members(&operation.value["responses"]) {
                if let Some(name) = answer["$ref"].as_str() {
                    found.insert((status, name), self.resolved(answer));
                }
            }
        }
        let mut errors: Vec<Answer> = Vec::new();
        for ((status, _), answer) in found {
            match errors.last_mut().filter(|last| last.status == status) {
                Some(last) => last.about.add(text(answer, "description")),
                None => errors.push(Operation::answer(self, status, answer)),
            }
        }
        errors
    }

    /// All types, by their names.
    #[must_use]
    pub fn all_types(&self) -> Vec<Part> {
        members(&self.0["components"]["schemas"]).map(|(name, _)| self.part(name)).collect()
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.0.pointer(pointer)).unwrap_or(value)
    }

    fn part(&self, name: &str) -> Part {
        let schema = &self.0["components"]["schemas"][name];
        // Requests refuse other fields; responses always have all of them.
        let is_sent = schema["additionalProperties"] == false;
        // The enum's values follow as a list.
        let about = text(schema, "description").split("\n\n- ").next().unwrap_or_default();
        let is_scalar = schema["properties"].is_null() && schema["enum"].is_null();
        let about = if is_scalar { format!("{about} {}", scalar(schema)) } else { about.to_owned() };
        // Each enum value is on the page already.
        let example = example_of(schema).filter(|_| schema["enum"].is_null());
        let example = example.map(|example| example.as_str().map_or_else(|| indented(example), str::to_owned));
        Part {
            id: name.to_owned(),
            title: name.to_owned(),
            about: Prose::new(&about),
            fields: fields(schema, is_sent),
            example,
        }
    }
}

fn field(name: &str, schema: &Value, about: &str, mark: Option<&'static str>) -> Field {
    // The page has the types' descriptions; a field shows only its own.
    let own = if about.is_empty() { text(schema, "description") } else { about };
    let one = items(&schema["oneOf"]).find(|one| !is_null(one)).unwrap_or(schema);
    Field {
        name: name.to_owned(),
        kind: Some(Kind::of(schema)),
        mark,
        about: Prose::new(&with_bounds(own, schema)),
        example: example_of(schema).or_else(|| example_of(one)).filter(|value| !value.is_object()).map(in_one_line),
    }
}

fn in_one_line(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn fields(schema: &Value, is_sent: bool) -> Vec<Field> {
    let is_required = |name: &str| items(&schema["required"]).any(|required| required == name);
    let mark = |name: &str| (is_sent && is_required(name)).then_some("required");
    let fields = members(&schema["properties"]).map(|(name, schema)| field(name, schema, "", mark(name)));
    let values = items(&schema["enum"]).zip(items(&schema["x-enum-descriptions"]));
    let values = values.map(|(value, about)| Field {
        name: value.as_str().unwrap_or_default().to_owned(),
        kind: None,
        mark: None,
        about: Prose::new(about.as_str().unwrap_or_default()),
        example: None,
    });
    fields.chain(values).collect()
}

fn scalar(schema: &Value) -> String {
    let kind = Kind::of(schema).text;
    let mut letters = kind.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    with_bounds(&format!("{first}{}.", letters.as_str()), schema)
}

fn with_bounds(about: &str, schema: &Value) -> String {
    let length = match (schema["minLength"].as_u64(), schema["maxLength"].as_u64()) {
        (Some(min), Some(max)) => format!(" {min} to {max} characters."),
        (None, Some(max)) => format!(" At most {max} characters."),
        _ => String::new(),
    };
    let default = match &schema["default"] {
        Value::Null => String::new(),
        Value::String(text) if text.is_empty() => String::new(),
        value => format!(" Default: `{value}`."),
    };
    format!("{about}{length}{default}")
}

impl Part {
    fn new(id: &str, title: &str, about: &str, fields: Vec<Field>) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), about: Prose::new(about), fields, example: None }
    }
}

impl Kind {
    fn of(schema: &Value) -> Self {
        if let Some(name) = text(schema, "$ref").strip_prefix(TYPES) {
            return Self { name: Some(name.to_owned()), ..Self::default() };
        }
        // One of two alternatives is `null`, or the empty text for "no filter".
        if let Some(first) = schema["oneOf"].get(0) {
            let text = if items(&schema["oneOf"]).any(is_null) { "or null" } else { "" };
            return Self { text: text.to_owned(), ..Self::of(first) };
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        let or_null = if types.contains(&"null") { " or null" } else { "" };
        let plain = |word: &str| Self { text: format!("{word}{or_null}"), ..Self::default() };
        match types.first().copied().unwrap_or_default() {
            "array" => {
                let items = Self::of(&schema["items"]);
                Self { before: "list of", text: format!("{}{or_null}", items.text).trim().to_owned(), ..items }
            }
            "integer" => plain("whole number"),
            "boolean" => plain("true or false"),
            "object" => plain("object"),
            _ => match (schema["const"].as_str(), text(schema, "format")) {
                (Some(value), _) => plain(&format!("always {value}")),
                (None, "uuid") => plain("UUID"),
                (None, "date-time") => plain("time, RFC 3339 in UTC"),
                (None, "email") => plain("email address"),
                _ => plain("text"),
            },
        }
    }
}

impl<'a> Operation<'a> {
    /// Its id, such as `create_contact`.
    #[must_use]
    pub fn id(&self) -> &'a str {
        text(self.value, "operationId")
    }

    /// Whether it is an event.
    #[must_use]
    pub fn is_event(&self) -> bool {
        self.is_event
    }

    /// The group it belongs to.
    #[must_use]
    pub fn tag(&self) -> &'a str {
        self.value["tags"][0].as_str().unwrap_or_default()
    }

    /// Its title.
    #[must_use]
    pub fn summary(&self) -> &'a str {
        text(self.value, "summary")
    }

    /// Its description.
    #[must_use]
    pub fn about(&self) -> &'a str {
        text(self.value, "description")
    }

    /// The description's first sentence: for an event, what has happened.
    #[must_use]
    pub fn first_sentence(&self) -> &'a str {
        self.about().split_inclusive(". ").next().unwrap_or_default().trim_end()
    }

    /// Whether it needs no token.
    #[must_use]
    pub fn is_public(&self) -> bool {
        items(&self.value["security"]).next().is_none() && !self.value["security"].is_null()
    }

    /// The request body's example, if it has a body.
    #[must_use]
    pub fn body_example(&self) -> Option<&'a Value> {
        let body = self.body();
        example_of(body).or_else(|| example_of(self.description.resolved(&body["schema"])))
    }

    /// Whether it has a parameter at this place: `path`, `query` or `header`.
    #[must_use]
    pub fn takes(&self, place: &str, name: &str) -> bool {
        self.parameters(place).any(|parameter| parameter["name"] == name)
    }

    /// An example of a response's body.
    #[must_use]
    pub fn answer_example(&self, status: &str) -> Option<&'a Value> {
        let content = json_content(self.description.resolved(&self.value["responses"][status]));
        example_of(content).or_else(|| example_of(self.description.resolved(&content["schema"])))
    }

    fn body(&self) -> &'a Value {
        json_content(&self.value["requestBody"])
    }

    fn parameters(&self, place: &str) -> impl Iterator<Item = &'a Value> {
        items(&self.value["parameters"]).filter(move |parameter| parameter["in"] == place)
    }

    /// The request: parameters by place, and the body.
    #[must_use]
    pub fn request(&self) -> Vec<Part> {
        let places = [("path", "In the path"), ("query", "In the query"), ("header", "Headers")];
        let mut parts: Vec<Part> = places
            .into_iter()
            .map(|(place, title)| {
                Part::new(
                    place,
                    title,
                    "",
                    self.parameters(place)
                        .map(|parameter| {
                            let mark = (parameter["required"] == true && place != "path" && !self.is_event)
                                .then_some("required");
                            field(text(parameter, "name"), &parameter["schema"], text(parameter, "description"), mark)
                        })
                        .collect(),
                )
            })
            .filter(|part| !part.fields.is_empty())
            .collect();
        let body = self.body();
        if !body.is_null() {
            let schema = self.description.resolved(&body["schema"]);
            let mut part = Part::new(
                "body",
                "Body",
                text(&self.value["requestBody"], "description"),
                fields(schema, !self.is_event),
            );
            part.example = self.body_example().map(indented);
            parts.push(part);
        }
        parts
    }

    /// The responses, successes first.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        members(&self.value["responses"])
            .map(|(status, answer)| Answer {
                is_shared: answer["$ref"].is_string(),
                ..Self::answer(self.description, status, self.description.resolved(answer))
            })
            .collect()
    }

    fn answer(description: &Description, status: &str, answer: &Value) -> Answer {
        let content = json_content(answer);
        let header = |(name, header): (&str, &Value)| {
            let header = description.resolved(header);
            field(name, &header["schema"], text(header, "description"), None)
        };
        Answer {
            status: status.to_owned(),
            about: Prose::new(text(answer, "description")),
            kind: (!content.is_null()).then(|| Kind::of(&content["schema"])),
            headers: members(&answer["headers"]).map(header).collect(),
            example: example_of(content).map(indented),
            is_shared: false,
        }
    }
}

fn indented(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
