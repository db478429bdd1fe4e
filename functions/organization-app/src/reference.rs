//! The API reference: every operation and event, rendered from the API's own description.

use askama::Template;
use pages::api_description::{Answer, Description, Operation, Part};
use pages::layout::Layout;
use pages::prose::Prose;
use pages::response::PageResponse;
use shared::api::{openapi, page};
use shared::error::Error;
use shared::web::Request;

pub(crate) const PATH: &str = "/app/developers/reference";
const ERRORS: &str = "errors";

#[derive(Template)]
#[template(path = "reference.html")]
struct ListPage {
    layout: Layout,
    base_url: String,
    about: Prose,
    groups: Vec<Group>,
    document: &'static str,
    docs: &'static str,
    errors: String,
}

struct Group {
    id: String,
    name: String,
    about: Prose,
    rows: Vec<Row>,
}

struct Row {
    link: String,
    method: String,
    name: String,
    summary: String,
}

pub(crate) async fn list(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let description = Description::read()?;
    let group = |(name, about): (String, String)| Group {
        id: name.to_lowercase(),
        rows: description.operations().filter(|operation| operation.tag() == name).map(row).collect(),
        about: Prose::new(&about),
        name,
    };
    let page = ListPage {
        layout: Layout::new(request),
        base_url: request.app().base_url.to_string(),
        about: Prose::new(description.about()),
        groups: description.tags().map(group).collect(),
        document: openapi::PATH,
        docs: page::DOCS,
        errors: format!("{PATH}/{ERRORS}"),
    };
    PageResponse::render(&page)
}

fn row(operation: Operation<'_>) -> Row {
    let link = format!("{PATH}/{}", operation.id());
    if operation.is_event() {
        let name = operation.path.to_owned();
        return Row { link, method: String::new(), name, summary: operation.first_sentence().to_owned() };
    }
    let method = operation.method.to_uppercase();
    Row { link, method, name: operation.path.to_owned(), summary: operation.summary().to_owned() }
}

#[derive(Template)]
#[template(path = "reference_entry.html")]
struct EntryPage {
    layout: Layout,
    kind: &'static str,
    title: String,
    route: Option<(String, String)>,
    about: Prose,
    command: Option<String>,
    request: Vec<Part>,
    answers: Vec<Answer>,
    errors: String,
    types: Vec<Part>,
    values: Vec<Part>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let name: String = request.path_id("name")?;
    let description = Description::read()?;
    let layout = Layout::new(request);
    let errors = format!("{PATH}/{ERRORS}");
    let of_types = |types: Vec<Part>| types.into_iter().partition(|part: &Part| !part.fields.is_empty());
    if name == ERRORS {
        let (types, values) = of_types(description.types_of_errors());
        return PageResponse::render(&EntryPage {
            layout,
            kind: "API",
            title: "Errors".to_owned(),
            route: None,
            about: Prose::new("Every error response has this body, whatever the operation."),
            command: None,
            request: Vec::new(),
            answers: description.errors(),
            errors: String::new(),
            types,
            values,
        });
    }
    let operation = description.operations().find(|operation| operation.id() == name);
    let operation = operation.ok_or_else(Error::not_found)?;
    let base_url = request.app().base_url.to_string();
    let is_event = operation.is_event();
    let (types, values) = of_types(operation.types());
    PageResponse::render(&EntryPage {
        layout,
        kind: if is_event { "Event" } else { "Operation" },
        title: operation.summary().to_owned(),
        route: (!is_event).then(|| (operation.method.to_uppercase(), operation.path.to_owned())),
        about: Prose::new(operation.about()),
        command: (!is_event).then(|| operation.command(base_url.trim_end_matches('/'))),
        request: operation.request(),
        answers: operation.answers(),
        errors,
        types,
        values,
    })
}
