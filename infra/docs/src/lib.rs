//! The documentation for people at `/docs`: one page, made from the API document, with guides, examples and a search.
//!
//! - Decision: `make generate` writes the page to a file: its function needs neither templates nor guides.
//! - Decision: our own page instead of one from npm: @scalar/api-reference 1.46 (989 KB compressed), redoc 2.5 (327 KB)
//!   and rapidoc 9.3 (218 KB) write styles into the page, which its policy refuses, and show nothing without scripts;
//!   this one has 64 KB with guides and examples.

mod api_description;
mod examples;
mod guides;
mod prose;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use shared::api::openapi;
use shared::error::Error;

use api_description::{Answer, Description, Field, Operation, Part};
use examples::Example;
use guides::Guide;
use prose::Prose;

/// The script for search and copying. The page works without it.
const SCRIPT: &str = include_str!("../assets/docs.js");
/// Follows the beginning of the app's stylesheet.
const STYLE: &str = include_str!("../assets/docs.css");

/// The page, as its files are kept.
#[derive(Debug)]
pub struct Files {
    /// The page.
    pub page: String,
    /// Its Content Security Policy.
    pub policy: String,
}

/// Renders the page about an API document.
pub fn files(document: &str) -> Result<Files, Error> {
    let description = Description::parse(document.as_bytes())?;
    let style = pages::style_head() + STYLE;
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; font-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(&style),
        hash(SCRIPT),
    );
    let page = page(&description, &style).render();
    let page = page.map_err(|error| Error::Internal(format!("rendering the documentation: {error}")))?;
    Ok(Files { page, policy })
}

fn hash(content: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(content)))
}

#[derive(Template)]
#[template(path = "docs.html")]
struct Page<'a> {
    style: &'a str,
    script: &'static str,
    document: &'static str,
    about: Prose,
    variables: Vec<String>,
    guides: Vec<Guide>,
    groups: Vec<Group>,
    deliveries: Deliveries,
    events: Vec<Entry>,
    errors: Vec<Answer>,
    types: Vec<Part>,
    values: Vec<Part>,
}

struct Group {
    id: String,
    name: String,
    about: Prose,
    entries: Vec<Entry>,
}

struct Deliveries {
    about: Prose,
    headers: Vec<Field>,
    answers: Vec<Answer>,
}

struct Entry {
    id: String,
    title: String,
    method: String,
    path: String,
    about: Prose,
    request: Vec<Part>,
    examples: Vec<Example>,
    status: String,
    answers: Vec<Answer>,
    /// The answer to the examples, or the body of an event's delivery.
    body: Option<String>,
}

fn page<'a>(description: &Description, style: &'a str) -> Page<'a> {
    let group = |(name, about): (String, String)| Group {
        id: format!("group-{}", name.to_lowercase()),
        entries: description.operations().filter(|one| !one.is_event() && one.tag() == name).map(entry).collect(),
        about: Prose::new(&about),
        name,
    };
    let groups: Vec<Group> = description.tags().map(group).filter(|group| !group.entries.is_empty()).collect();
    let events = || description.operations().filter(Operation::is_event);
    let about_events =
        description.tags().find(|(name, _)| name == "Webhooks").map_or_else(String::new, |(_, about)| about);
    let deliveries = Deliveries {
        about: Prose::new(&about_events),
        headers: events().next().map(|event| headers(&event)).unwrap_or_default(),
        answers: events().next().map(|event| event.answers()).unwrap_or_default(),
    };
    let (types, values) = description.all_types().into_iter().partition(|part| !part.fields.is_empty());
    let mut variables: Vec<String> =
        description.operations().filter(|one| !one.is_event()).flat_map(examples::variables).collect();
    variables.sort();
    variables.dedup();
    Page {
        style,
        script: SCRIPT,
        document: openapi::PATH,
        about: Prose::new(description.about()),
        variables,
        guides: guides::all(),
        groups,
        deliveries,
        events: events().map(entry).collect(),
        errors: description.errors(),
        types,
        values,
    }
}

fn headers(event: &Operation<'_>) -> Vec<Field> {
    event.request().into_iter().filter(|part| part.id == "header").flat_map(|part| part.fields).collect()
}

fn entry(operation: Operation<'_>) -> Entry {
    let answers = operation.answers();
    // If an operation creates or finds a record, the example creates it.
    let successes = answers.iter().filter(|answer| answer.status.starts_with('2')).map(|answer| answer.status.clone());
    let status = successes.max().unwrap_or_default();
    let is_event = operation.is_event();
    let body = if is_event { operation.body_example() } else { operation.answer_example(&status) };
    let mut request = operation.request();
    // All events have the same headers, shown before them.
    request.retain(|part| !is_event || part.id != "header");
    Entry {
        id: operation.id().to_owned(),
        title: operation.summary().to_owned(),
        method: operation.method.to_uppercase(),
        path: operation.path.to_owned(),
        about: Prose::new(if is_event { operation.first_sentence() } else { operation.about() }),
        request,
        examples: if is_event { Vec::new() } else { examples::of(operation) },
        status,
        answers,
        body: body.map(indented),
    }
}

fn indented(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
