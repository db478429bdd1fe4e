//! `GET /openapi.json`: the golden copy, what is served and what the declarations say are one.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::spec::{self, GOLDEN, Operation, golden};
use tests::{Client, Fixture, Needs, Org, Stack};

use crate::members;

#[tokio::test]
async fn the_golden_copy_is_what_is_served() {
    let stack = Stack::with(Needs::SHARED);
    let answer = Client::new(&stack.base_url).get("/openapi.json").send().await;
    answer.ok(200);
    assert_eq!(String::from_utf8_lossy(&answer.bytes), GOLDEN);
}

#[tokio::test]
async fn the_description_takes_no_parameters() {
    let org = Org::new().await;
    for client in [&org.anonymous(), &org.read_only()] {
        let document = || client.get("/openapi.json");
        document().query("version", 2).send().await.refused_for(422, &[("version", "unknown_parameter")]);
        let several = document().query("limit", 1).query("search", "x").send().await;
        several.refused_for(422, &[("limit", "unknown_parameter"), ("search", "unknown_parameter")]);
        document().raw_query("=x").send().await.refused_for(422, &[("query", "unknown_parameter")]);
        document().raw_query("%ff").send().await.refused_for(422, &[("query", "invalid_format")]);
        // A question mark and nothing behind it asks for nothing.
        document().raw_query("").send().await.ok(200);
    }
}

#[test]
fn the_golden_copy_is_what_the_declarations_say() {
    assert!(local::openapi_json() == GOLDEN, "run `make generate`: the declarations have changed");
}

/// What integrators parse: one body of each type, byte for byte. `UPDATE_GOLDEN=1` writes it anew.
#[test]
fn event_bodies_are_golden() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/events.json");
    let examples = shared::domain::event::Event::examples().expect("examples");
    let lines: Vec<String> = examples.iter().map(|event| serde_json::to_string(event).expect("JSON")).collect();
    let written = format!("[\n{}\n]\n", lines.join(",\n"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(FILE, &written).expect("the golden file is written");
    }
    assert_eq!(std::fs::read_to_string(FILE).unwrap_or_default(), written);
    let webhooks = golden()["webhooks"].clone();
    let described = members(&webhooks).into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    let types = examples.iter().map(|event| event.event_type().as_str().to_owned()).collect();
    assert_eq!(described, types);
    for example in &examples {
        spec::assert_delivery(&json!(example));
    }
}

#[test]
fn the_description_is_of_openapi_3_1_and_of_version_1() {
    let golden = golden();
    assert!(golden["openapi"].as_str().is_some_and(|version| version.starts_with("3.1.")));
    assert_eq!(golden["info"]["version"], "1.0.0");
    let token = &golden["components"]["securitySchemes"]["token"];
    assert_eq!((&token["type"], &token["scheme"]), (&json!("http"), &json!("bearer")));
    assert_eq!(golden["security"], json!([{"token": []}]));
    assert_eq!(golden["paths"]["/openapi.json"]["get"]["security"], json!([]), "the description is public");
}

#[test]
fn every_operation_says_how_it_succeeds_and_fails() {
    let golden = golden();
    for Operation { id, about, method, path, .. } in spec::operations(&golden) {
        let is_write = method != http::Method::GET;
        assert!(about["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{id}");
        let responses: BTreeSet<&str> = members(&about["responses"]).into_iter().collect();
        let mut expected: BTreeSet<&str> = ["401", "404", "405", "422", "500"].into();
        if is_write {
            expected.extend(["403", "409"]);
        }
        assert!(responses.is_superset(&expected), "{id}: {responses:?}");
        let successes: Vec<&str> = responses.difference(&expected).copied().collect();
        let expected = match id.as_str() {
            "create_contact" | "add_agreement_participant" => vec!["200", "201"],
            _ if method == http::Method::POST => vec!["201"],
            _ => vec!["200"],
        };
        assert_eq!(successes, expected, "{id}");
        for status in responses {
            let mut response = &about["responses"][status];
            if let Some(reference) = response["$ref"].as_str() {
                response = spec::resolve(&golden, reference).expect("a response");
            }
            let content = &response["content"]["application/json"];
            assert!(content["schema"].is_object(), "{id} {status} has no schema");
            assert!(response["headers"]["x-request-id"].is_object(), "{id} {status}");
            if status.starts_with(['4', '5']) {
                assert_eq!(content["example"]["error"]["status"].to_string(), status, "{id}");
            } else {
                assert!(!spec::example(&golden, &content["schema"]).is_null(), "{id} {status}");
            }
        }
        assert_eq!(about["requestBody"].is_object(), is_write, "{id}");
        let in_path =
            about["parameters"].as_array().expect("parameters").iter().filter(|parameter| parameter["in"] == "path");
        assert_eq!(in_path.count(), path.matches('{').count(), "{id}");
        let headers = |name: &str| about["parameters"].to_string().contains(name);
        assert_eq!(headers("Idempotency-Key"), method == http::Method::POST, "{id}");
        assert_eq!(headers("If-Match"), method == http::Method::PATCH, "{id}");
    }
}

#[test]
fn lists_say_their_bounds() {
    let all = spec::all();
    let lists: Vec<&Operation> = all.iter().filter(|operation| operation.is_list()).collect();
    // Lists are recognized by their page too, so a list without bounds is found.
    let pages = |operation: &&Operation| {
        let schema = &operation.about["responses"]["200"]["content"]["application/json"]["schema"];
        schema["$ref"].as_str().is_some_and(|name| name.ends_with("Page"))
    };
    assert_eq!(
        lists.iter().map(|list| &list.id).collect::<Vec<_>>(),
        all.iter().filter(pages).map(|list| &list.id).collect::<Vec<_>>()
    );
    for list in lists {
        let parameters = list.parameters("query");
        let schema = |name: &str| &parameters.iter().find(|field| field.name == name).expect("a parameter").schema;
        let limit = schema("limit");
        let bounds = (&limit["minimum"], &limit["maximum"], &limit["default"]);
        assert_eq!(bounds, (&json!(1), &json!(200), &json!(50)), "{}", list.id);
        let offset = schema("offset");
        assert_eq!((&offset["minimum"], &offset["default"]), (&json!(0), &json!(0)), "{}", list.id);
        assert!(parameters.iter().all(|field| !field.is_required), "{}", list.id);
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    found.insert(reference.to_owned());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let golden = golden();
    let mut found = BTreeSet::new();
    references(&golden, &mut found);
    assert!(!found.is_empty());
    for reference in &found {
        assert!(spec::resolve(&golden, reference).is_some(), "{reference} leads nowhere");
    }
    for kind in ["schemas", "responses", "headers"] {
        for name in members(&golden["components"][kind]) {
            assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind} {name} is not used");
        }
    }
}

/// What is described is what is answered: the same members, and the example bodies are taken.
#[tokio::test]
async fn answers_are_as_described() {
    let fixture = Fixture::new().await;
    let document = golden();
    for operation in fixture.operations() {
        let answer = fixture.call(operation).send().await;
        assert!(answer.status < 300, "{answer}");
        spec::assert_answer(operation, answer.status, &answer.json());
        let response = &operation.about["responses"][answer.status.to_string()];
        let described = &response["content"]["application/json"]["schema"];
        assert_like(&spec::example(&document, described), &answer.json(), &operation.id);
    }
    for list in fixture.lists() {
        let rows = fixture.call(list).send().await.ok(200)["data"].as_array().map(Vec::len);
        assert!(rows > Some(0), "{} has no row that is held to its description", list.id);
    }
}

/// The same members all the way down; of arrays the first element.
fn assert_like(example: &Value, answer: &Value, place: &str) {
    match (example, answer) {
        (Value::Object(_), Value::Object(_)) => {
            assert_eq!(members(example), members(answer), "{place}");
            for name in members(example) {
                // Blockers name what they are about, each something else.
                if name == "publish_blockers" {
                    continue;
                }
                assert_like(&example[name], &answer[name], &format!("{place}.{name}"));
            }
        }
        (Value::Array(example), Value::Array(answer)) => {
            if let (Some(example), Some(answer)) = (example.first(), answer.first()) {
                assert_like(example, answer, &format!("{place}[0]"));
            }
        }
        // An optional value may be absent, here or there.
        (_, Value::Null) | (Value::Null, _) => {}
        _ => assert_eq!(std::mem::discriminant(example), std::mem::discriminant(answer), "{place}: {example} {answer}"),
    }
}
