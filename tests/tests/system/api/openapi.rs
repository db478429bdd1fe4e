//! `GET /openapi.json`: golden copy, served document and declarations agree.

mod answers;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};
use shared::domain::contact::{DisplayName, Email};
use shared::domain::note::Note;
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
async fn the_description_is_compressed_where_that_is_asked_for() {
    let stack = Stack::with(Needs::SHARED);
    let ask = async |encodings: &[&str]| {
        let mut request = Client::new(&stack.base_url).get("/openapi.json");
        for encoding in encodings {
            request = request.header("accept-encoding", *encoding);
        }
        let answer = request.send().await;
        assert_eq!((answer.status, answer.header("vary").as_str()), (200, "accept-encoding"), "{:?}", answer.headers);
        answer
    };
    for encodings in [&["gzip"][..], &["br, GZIP;q=0.5"], &["deflate", "gzip"], &["gzip; q=1.0"]] {
        let answer = ask(encodings).await;
        assert_eq!(answer.header("content-encoding"), "gzip", "{encodings:?}");
        assert!(answer.bytes.len() < GOLDEN.len() / 4, "{} bytes", answer.bytes.len());
        let deflated = &answer.bytes[10..answer.bytes.len() - 8];
        let text = miniz_oxide::inflate::decompress_to_vec(deflated).expect("compressed bytes");
        assert_eq!(String::from_utf8(text).expect("text"), GOLDEN);
    }
    for encodings in [&[][..], &["identity"], &["gzip;q=0"], &["br"], &["*;q=0.1"], &[""]] {
        let answer = ask(encodings).await;
        assert_eq!(answer.header("content-encoding"), "", "{encodings:?}");
        assert_eq!(String::from_utf8_lossy(&answer.bytes), GOLDEN);
    }
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
        document().raw_query("").send().await.ok(200);
    }
}

#[test]
fn the_golden_copy_is_what_the_declarations_say() {
    assert!(local::openapi_json() == GOLDEN, "run `make generate`: the declarations have changed");
}

/// What integrators parse: one body per type, byte for byte. `UPDATE_GOLDEN=1` rewrites it.
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
    let description = &golden["paths"]["/openapi.json"]["get"];
    assert_eq!(description["security"], json!([]), "the description is public");
    let answers = ["200", "401", "405", "413", "422", "429", "500", "503"];
    assert_eq!(members(&description["responses"]), answers, "those of the gateway too");
    for member in ["name", "url", "email"] {
        assert!(golden["info"]["contact"][member].is_string(), "{member} of the contact");
    }
}

fn each_object<'a>(value: &'a Value, place: &str, visit: &mut impl FnMut(&'a Value, &str)) {
    match value {
        Value::Object(object) => {
            visit(value, place);
            for (name, member) in object.iter().filter(|(name, _)| !["example", "examples"].contains(&name.as_str())) {
                each_object(member, &format!("{place}/{name}"), visit);
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                each_object(value, &format!("{place}/{at}"), visit);
            }
        }
        _ => {}
    }
}

/// A shorter description says no more than the property's name.
const PROPERTY_CHARS_MIN: usize = 14;

/// Tools show a property's description, not those of its alternatives, and some omit extensions.
#[test]
fn everything_is_described_in_words() {
    let golden = golden();
    let mut undescribed = Vec::new();
    let mut check = |thing: &Value, place: String| {
        if thing["description"].as_str().is_none_or(|text| text.trim().len() < 5) {
            undescribed.push(place);
        }
    };
    each_object(&golden, "", &mut |object, place| {
        for (name, property) in object["properties"].as_object().into_iter().flatten() {
            check(property, format!("{place}/{name}"));
            let length = property["description"].as_str().map_or(0, |text| text.trim().len());
            assert!(length >= PROPERTY_CHARS_MIN, "{place}/{name}: {property}");
        }
        for parameter in object["parameters"].as_array().into_iter().flatten() {
            check(parameter, format!("{place}/{}", parameter["name"]));
        }
        if object["requestBody"].is_object() {
            check(&object["requestBody"], format!("{place}/requestBody"));
        }
        for (name, header) in object["headers"].as_object().into_iter().flatten() {
            let header =
                header["$ref"].as_str().and_then(|reference| spec::resolve(&golden, reference)).unwrap_or(header);
            check(header, format!("{place}/headers/{name}"));
        }
        if let Some(values) = object["enum"].as_array() {
            let meanings = object["x-enum-descriptions"].as_array().map_or(0, Vec::len);
            assert_eq!(meanings, values.len(), "{place}");
            let text = object["description"].as_str().unwrap_or_default();
            let is_listed =
                |value: &Value| value == "" || text.contains(&format!("- `{}`: ", value.as_str().unwrap_or_default()));
            assert!(values.iter().all(is_listed), "{place}: {text}");
        }
    });
    for server in golden["servers"].as_array().expect("servers") {
        check(server, "a server".to_owned());
    }
    let codes = &golden["components"]["schemas"]["ErrorCode"]["x-enum-descriptions"];
    assert!(codes.as_array().expect("codes").iter().all(|about| about.as_str().is_some_and(|text| text.len() > 30)));
    for kind in ["schemas", "responses"] {
        for (name, component) in golden["components"][kind].as_object().expect("components") {
            check(component, format!("{kind} {name}"));
        }
    }
    assert_eq!(undescribed, [] as [String; 0]);
}

fn has_example(golden: &Value, schema: &Value) -> bool {
    let one = [schema.get("example"), schema.pointer("/examples/0"), schema.get("const")];
    let inner = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    one.into_iter().flatten().next().is_some_and(|example| !example.is_null())
        || schema["$ref"].as_str().and_then(|to| spec::resolve(golden, to)).is_some_and(|to| has_example(golden, to))
        || inner.chain(schema.get("items")).any(|schema| has_example(golden, schema))
}

#[test]
fn everything_has_an_example_that_fits() {
    let golden = golden();
    let mut without = Vec::new();
    let mut wrong = Vec::new();
    let mut check = |schema: &Value, place: String| {
        if !has_example(&golden, schema) {
            without.push(place.clone());
        }
        let given = schema["examples"].as_array().into_iter().flatten().chain(schema.get("example"));
        for example in given {
            if let Some(why) = spec::fault(&golden, schema, example) {
                wrong.push(format!("{place}: {why} in {example}"));
            }
        }
    };
    for (name, schema) in golden["components"]["schemas"].as_object().expect("schemas") {
        check(schema, name.clone());
    }
    for (name, header) in golden["components"]["headers"].as_object().expect("headers") {
        check(&header["schema"], name.clone());
    }
    each_object(&golden, "", &mut |object, place| {
        for (name, property) in object["properties"].as_object().into_iter().flatten() {
            check(property, format!("{place}/{name}"));
        }
        for parameter in object["parameters"].as_array().into_iter().flatten() {
            check(&parameter["schema"], format!("{place}/{}", parameter["name"]));
        }
        // A body has a type or its own example.
        let content = &object["content"]["application/json"];
        if content.is_object() {
            assert!(content["example"].is_object() || has_example(&golden, &content["schema"]), "{place}");
        }
    });
    assert_eq!((without, wrong), (Vec::<String>::new(), Vec::<String>::new()));
}

#[test]
fn the_description_has_no_inner_words() {
    for word in ["contract", "specification", "outbox", "aggregate", "DynamoDB", "Lambda", "idempotency record"] {
        let found = GOLDEN.find(word).map(|at| &GOLDEN[at.saturating_sub(80)..]);
        assert_eq!(found.and_then(|text| text.lines().next()), None, "{word}");
    }
    assert!(
        !GOLDEN.contains(['\u{ad}', '\u{200b}', '\u{202e}', '\u{feff}', '\u{e0000}', '\u{e0fff}']),
        "nothing in it can't be seen"
    );
}

/// The common subset of RE2, JavaScript without the flag `u`, Rust and Python: no lookaround, names or back-references,
/// no escape that only some know, no character beyond the first plane, and at most a thousand repetitions.
#[test]
fn patterns_are_the_same_in_all_dialects() {
    let golden = golden();
    let mut patterns = BTreeSet::new();
    each_object(&golden, "", &mut |object, _| patterns.extend(object["pattern"].as_str()));
    assert!(patterns.len() > 10, "{patterns:?}");
    for pattern in patterns {
        assert!(pattern.chars().all(|character| character <= '\u{ffff}'), "{pattern}");
        let mut rest = pattern;
        while let Some((_, escape)) = rest.split_once('\\') {
            let is_known = match escape.as_bytes() {
                [b'x', code @ ..] => code.len() >= 2 && code[..2].iter().all(u8::is_ascii_hexdigit),
                [letter, ..] => br"rn.*[]\".contains(letter),
                [] => false,
            };
            assert!(is_known, "{} of {pattern}", &escape[..escape.len().min(6)]);
            rest = &escape[1..];
        }
        assert!(!pattern.contains("(?"), "{pattern}");
        for times in pattern.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            let all = times.split(',').map(str::parse::<u32>);
            // In a class, a brace is an ordinary character.
            assert!(all.flatten().all(|number| number <= 1000), "{times} of {pattern}");
        }
    }
}

/// Some generators create another type for a reference that isn't alone among alternatives.
#[test]
fn a_reference_among_alternatives_stands_alone() {
    let mut found = 0;
    each_object(&golden(), "", &mut |object, at| {
        for key in ["oneOf", "anyOf", "allOf"] {
            for one in object[key].as_array().into_iter().flatten().filter(|one| one.get("$ref").is_some()) {
                found += 1;
                assert_eq!(one.as_object().map(serde_json::Map::len), Some(1), "{at}: {one}");
            }
        }
    });
    assert!(found > 50, "{found}");
}

#[test]
fn filters_take_the_values_of_their_fields() {
    for (list, filter, enumeration) in [
        ("list_agreements", "lifecycle", "Lifecycle"),
        ("list_proposals", "state", "ProposalState"),
        ("list_movements", "state", "MovementState"),
        ("list_funding_items", "phase", "Phase"),
    ] {
        let operation = spec::all().into_iter().find(|operation| operation.id == list).expect("a list");
        let parameters = operation.about["parameters"].as_array().expect("parameters");
        let schema = &parameters.iter().find(|parameter| parameter["name"] == filter).expect("a filter")["schema"];
        let choices = schema["oneOf"].as_array().expect("choices");
        assert_eq!(choices[0], json!({"$ref": format!("#/components/schemas/{enumeration}")}), "{list}");
        assert_eq!((&choices[1]["enum"], schema.get("default")), (&json!([""]), None), "{list}");
    }
    for operation in spec::all() {
        for parameter in operation.about["parameters"].as_array().into_iter().flatten() {
            assert!(!parameter["schema"].to_string().contains("null"), "{} of {}", parameter["name"], operation.id);
        }
    }
}

const UNSEEN: [char; 6] = ['\u{ad}', '\u{200b}', '\u{feff}', '\u{fe0f}', '\u{e0041}', '\u{1d173}'];

fn texts() -> impl Strategy<Value = String> {
    let characters = [
        'a',
        'Z',
        '7',
        ' ',
        '-',
        '.',
        '@',
        '%',
        '_',
        '"',
        '\t',
        '\n',
        '\r',
        '\0',
        '\u{7f}',
        '\u{85}',
        '\u{9f}',
        '\u{a0}',
        '\u{ad}',
        'é',
        '日',
        '\u{301}',
        '\u{200b}',
        '\u{2028}',
        '\u{202e}',
        '\u{2066}',
        '\u{3000}',
        '\u{feff}',
        '\u{fe0f}',
        '😀',
        '\u{e0041}',
        '\u{1d173}',
        '\u{10ffff}',
    ];
    proptest::collection::vec(proptest::sample::select(characters.to_vec()), 1..8)
        .prop_map(|all| all.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Except that names' patterns take any character beyond the first plane as visible.
    #[test]
    fn patterns_are_what_is_accepted(text in texts()) {
        static PATTERNS: LazyLock<[Validator; 2]> =
            LazyLock::new(|| ["DisplayName", "Note"].map(spec::validator_of));
        let [name, note] = &*PATTERNS;
        let as_pattern_sees_it = text.replace(|character| character > '\u{ffff}', "x");
        let is_matched = name.is_valid(&json!(text));
        prop_assert_eq!(is_matched, DisplayName::parse(&as_pattern_sees_it).is_ok(), "{:?}", text);
        let shows_nothing = text.chars().all(|character| character.is_whitespace() || UNSEEN.contains(&character));
        let is_accepted = DisplayName::parse(&text).is_ok();
        prop_assert!(is_matched == is_accepted || (is_matched && shows_nothing), "{:?}", text);
        prop_assert_eq!(note.is_valid(&json!(text)), Note::parse(&text).is_ok(), "{:?}", text);
    }

    #[test]
    fn the_pattern_of_addresses_is_what_is_accepted(local in "[a-z.%\"é]{1,3}", host in "[a-z0-9._é-]{1,4}", last in "[a-z0-9x-]{1,3}") {
        static EMAIL: LazyLock<Validator> = LazyLock::new(|| spec::validator_of("Email"));
        for text in [format!("{local}@{host}.{last}"), format!("{local}@{host}"), format!("{local}@{host}@{last}.x"), format!("a@b.0x{last}")] {
            prop_assert_eq!(EMAIL.is_valid(&json!(text)), Email::parse(&text).is_ok(), "{:?}", text);
        }
    }
}

const OPERATIONS: [(&str, &str); 31] = [
    ("GET", "/api/v1/me"),
    ("GET", "/api/v1/contacts"),
    ("POST", "/api/v1/contacts"),
    ("GET", "/api/v1/contacts/{contact_id}"),
    ("PATCH", "/api/v1/contacts/{contact_id}"),
    ("GET", "/api/v1/workspaces"),
    ("POST", "/api/v1/workspaces"),
    ("GET", "/api/v1/workspaces/{workspace_id}"),
    ("POST", "/api/v1/workspaces/{workspace_id}/contacts"),
    ("GET", "/api/v1/agreements"),
    ("POST", "/api/v1/agreements"),
    ("GET", "/api/v1/agreements/{agreement_id}"),
    ("GET", "/api/v1/agreements/{agreement_id}/information"),
    ("POST", "/api/v1/agreements/{agreement_id}/participants"),
    ("GET", "/api/v1/movements"),
    ("GET", "/api/v1/movements/{movement_id}"),
    ("GET", "/api/v1/ledger"),
    ("POST", "/api/v1/proposals"),
    ("GET", "/api/v1/proposals"),
    ("GET", "/api/v1/proposals/{proposal_id}"),
    ("GET", "/api/v1/obligations"),
    ("GET", "/api/v1/obligations/{obligation_id}"),
    ("GET", "/api/v1/trusts"),
    ("POST", "/api/v1/trusts"),
    ("GET", "/api/v1/workspaces/{workspace_id}/funding"),
    ("GET", "/api/v1/funding-items"),
    ("POST", "/api/v1/funding-items"),
    ("POST", "/api/v1/funding-items/paper"),
    ("GET", "/api/v1/funding-items/{item_id}"),
    ("PATCH", "/api/v1/funding-items/{item_id}"),
    ("POST", "/api/v1/funding-items/{item_id}/park"),
];

/// Tests of all operations (tokens, scopes, tenancy, capacity, audit) walk the described ones: those specified.
#[test]
fn the_operations_of_the_specification_are_described() {
    let described: BTreeSet<(String, String)> =
        spec::all().into_iter().map(|operation| (operation.method.to_string(), operation.path)).collect();
    let expected: BTreeSet<(String, String)> =
        OPERATIONS.into_iter().map(|(method, path)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(described, expected);
    assert_eq!(spec::all().iter().filter(|operation| !operation.is_write()).count(), 19, "reads");
}

/// Responses of the gateway, with their own bodies.
const OF_GATEWAY: [&str; 3] = ["413", "429", "503"];

#[test]
fn refusals_are_the_operations_own() {
    let golden = golden();
    let with_rules = spec::operations(&golden).into_iter().filter(|operation| {
        let invalid = &operation.about["responses"]["422"];
        let error = &invalid["content"]["application/json"]["example"]["error"]["errors"][0];
        let about = invalid["description"].as_str().expect("a description");
        let codes = invalid["x-error-codes"].as_array();
        for code in codes.into_iter().flatten().filter_map(Value::as_str) {
            assert!(about.contains(&format!("- `{code}` at `")), "{}: {about}", operation.id);
        }
        if let Some(codes) = codes {
            assert!(codes.contains(&error["code"]), "{}: {error}", operation.id);
        } else {
            let field = error["field"].as_str().expect("a field");
            let place = field.split_once('.').map(|(place, name)| operation.has(place, name));
            let is_field = operation.fields().iter().any(|known| known.name == field);
            let is_parameter = operation.has("query", field) == (error["code"] != "unknown_parameter");
            assert!(place.unwrap_or(is_field || (is_parameter && !operation.is_write())), "{}: {error}", operation.id);
        }
        let conflict = &operation.about["responses"]["409"]["$ref"];
        let named = if operation.method == "PATCH" { "StaleMatch" } else { "KeyReused" };
        assert!(
            conflict.is_null() || conflict == &json!(format!("#/components/responses/{named}")),
            "{}",
            operation.id
        );
        codes.is_some()
    });
    assert_eq!(with_rules.count(), 9, "operations with rules");
}

#[test]
fn every_operation_says_how_it_succeeds_and_fails() {
    let golden = golden();
    for Operation { id, about, method, path, .. } in spec::operations(&golden) {
        let is_write = method != http::Method::GET;
        assert!(about["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{id}");
        let responses: BTreeSet<&str> = members(&about["responses"]).into_iter().collect();
        let mut expected: BTreeSet<&str> = ["401", "405", "422", "500"].into();
        expected.extend(OF_GATEWAY);
        if is_write {
            expected.extend(["403", "409"]);
        }
        let body = &about["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let body =
            body.as_str().and_then(|to| spec::resolve(&golden, to)).map_or(&Value::Null, |body| &body["properties"]);
        let is_id = |name: &&str| name.ends_with("_id") || name.ends_with("_ids");
        if path.contains('{') || body.as_object().is_some_and(|_| members(body).iter().any(is_id)) {
            expected.insert("404");
        }
        assert!(responses.is_superset(&expected), "{id}: {responses:?}");
        let successes: Vec<&str> = responses.difference(&expected).copied().collect();
        let expected = match id.as_str() {
            "create_contact" | "add_agreement_participant" | "create_trust" | "create_funding_item" => {
                vec!["200", "201"]
            }
            "park_funding_item" => vec!["200"],
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
            // 429 is the gateway's, or the service's: only one of them has an id.
            if status == "429" {
                assert_eq!(content["schema"]["oneOf"].as_array().map(Vec::len), Some(2), "{id}");
                assert!(response["headers"]["retry-after"].is_object(), "{id}");
            } else if OF_GATEWAY.contains(&status) {
                assert!(content["example"]["message"].is_string(), "{id} {status}");
                continue;
            } else {
                assert!(response["headers"]["x-request-id"].is_object(), "{id} {status}");
            }
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
    // Recognizes lists by their page too, to find one without bounds.
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
