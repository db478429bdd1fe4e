//! The same call over HTTP and over MCP: equal results, effects and audit rows.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tests::app::Browser;
use tests::mcp::{Called, HANDSHAKE, Mcp, STATELESS};
use tests::spec::Operation;
use tests::{Answer, Fixture, Org, rows};

use super::tools::results;

/// Generalizes ids, moments and the organization's name, to compare organizations.
fn general(value: &Value, fixture: &Fixture) -> Value {
    match value {
        Value::String(text) => json!(general_text(text, fixture)),
        Value::Array(values) => values.iter().map(|value| general(value, fixture)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| match name.as_str() {
                // The size of a paper, which contains its item's id.
                "size_bytes" => (name.clone(), json!("size")),
                _ => (name.clone(), general(value, fixture)),
            };
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

const ID_CHARS: usize = 36;

fn general_text(text: &str, fixture: &Fixture) -> String {
    let known = fixture.ids.iter().fold(text.to_owned(), |text, (name, id)| text.replace(id, name));
    let mut rest = known.replace(&fixture.org.name, "organization");
    if rest.len() == 24 && rest.ends_with('Z') && rest.as_bytes()[10] == b'T' {
        return "moment".to_owned();
    }
    if rest.len() == 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return "hash".to_owned();
    }
    let mut whole = String::new();
    while let Some(character) = rest.chars().next() {
        if rest.get(..ID_CHARS).is_some_and(|window| uuid::Uuid::try_parse(window).is_ok()) {
            whole.push_str("id");
            rest.drain(..ID_CHARS);
        } else {
            whole.push(character);
            rest.drain(..character.len_utf8());
        }
    }
    whole
}

fn arguments(fixture: &Fixture, operation: &Operation) -> Map<String, Value> {
    let mut all = fixture.body(operation).and_then(|body| body.as_object().cloned()).unwrap_or_default();
    for parameter in operation.parameters("path") {
        all.insert(parameter.name.clone(), json!(fixture.ids[&parameter.name]));
    }
    all
}

async fn row(org: &Org, request_id: &str) -> Value {
    let audit = org.audit().await;
    let found: Vec<&Value> = audit.iter().filter(|row| row["sk"] == request_id).collect();
    assert_eq!(found.len(), 1, "one row for {request_id}");
    found[0].clone()
}

fn told(row: &Value, fixture: &Fixture) -> Value {
    let tokens = [(fixture.org.token.id, "writer"), (fixture.org.read_only_token.id, "reader")];
    let token = tokens.iter().find(|(id, _)| row["token_id"] == id.to_string()).map(|(_, name)| *name);
    let objects: Vec<Value> = rows::objects(row).iter().map(|id| general(&json!(id), fixture)).collect();
    json!({
        "operation": row["operation"], "status": row["status"], "code": row["code"], "token": token, "objects": objects,
    })
}

async fn compare(name: &str, http: &Fixture, answer: &Answer, mcp: &Fixture, called: &Called) {
    let mut body = answer.json();
    if body.is_array() {
        body = json!({"data": body});
    }
    assert_eq!(general(&called.answer(), mcp), general(&body, http), "{name}");
    assert_eq!(
        (called.is_error(), &called.response()["status"]),
        (answer.status >= 400, &json!(answer.status)),
        "{name}"
    );
    for header in ["etag", "location", "ignored-fields", "idempotent-replayed"] {
        let told = called
            .response()
            .get(header)
            .map_or_else(String::new, |value| general_text(value.as_str().unwrap_or(""), mcp));
        assert_eq!(told, general_text(&answer.header(header), http), "{name}: {header}");
    }
    let rows = (row(&http.org, &answer.request_id()).await, row(&mcp.org, &called.request_id()).await);
    assert_eq!(told(&rows.1, mcp), told(&rows.0, http), "{name}");
    assert_eq!((rows.0.get("via"), rows.1.get("via")), (None, Some(&json!("mcp"))), "{name}");
}

/// Each operation is called properly, again with its key, with a read-only token, without arguments, and with too many.
#[tokio::test]
async fn every_operation_does_the_same_as_its_tool() {
    let (http, of_tools) = (Fixture::new().await, Fixture::new().await);
    let mcp = Mcp::of(&of_tools.org);
    let results = results(&mcp.tools().await);
    let (reader, reading) = (http.org.read_only(), Mcp::of(&of_tools.org.read_only()));
    for operation in http.operations() {
        let name = operation.id.as_str();
        let (asked, with) = (http.call(operation), arguments(&of_tools, operation));
        if operation.is_write() {
            let answer = http.call_by(&reader, operation).send().await;
            let called = reading.call(name, &Value::Object(with.clone())).await;
            compare(&format!("{name} by a reader"), &http, &answer, &of_tools, &called).await;
            assert!(called.texts()[1].contains("scope `read_write`"), "{:?}", called.texts());
        }
        let mut more = with.clone();
        more.insert("nonsense".to_owned(), json!("x"));
        let answer = match http.body(operation) {
            Some(mut body) => {
                body["nonsense"] = json!("x");
                asked.clone().json(&body).send().await
            }
            None => asked.clone().query("nonsense", "x").send().await,
        };
        let called = mcp.speaking(HANDSHAKE).call(name, &Value::Object(more)).await;
        assert_eq!(answer.status, 422, "{answer}");
        compare(&format!("{name} with too much"), &http, &answer, &of_tools, &called).await;
        if operation.method == "POST" {
            let mut with = with.clone();
            with.insert("idempotency_key".to_owned(), json!(name));
            for attempt in ["first", "again"] {
                let answer = asked.clone().key(name).send().await;
                assert!(answer.status < 300, "{answer}");
                let called = mcp.call(name, &Value::Object(with.clone())).await;
                compare(&format!("{name}, {attempt}"), &http, &answer, &of_tools, &called).await;
                assert!(results[name].is_valid(&called.0["structuredContent"]), "{name}: {}", called.0);
            }
        } else {
            let answer = asked.clone().send().await;
            assert_eq!(answer.status, 200, "{answer}");
            let mut with = with.clone();
            if operation.is_list() {
                with.insert("limit".to_owned(), json!(50));
            }
            let called = mcp.call(name, &Value::Object(with)).await;
            compare(name, &http, &answer, &of_tools, &called).await;
            assert!(results[name].is_valid(&called.0["structuredContent"]), "{name}: {}", called.0);
        }
    }
    let effects = async |fixture: &Fixture| -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for list in fixture.lists() {
            all.insert(list.id.clone(), general(&json!(fixture.org.all(&list.path).await), fixture));
        }
        all
    };
    assert_eq!(effects(&of_tools).await, effects(&http).await);
    let types =
        async |org: &Org| -> Vec<Value> { org.events().await.iter().map(|event| event["type"].clone()).collect() };
    assert_eq!(types(&of_tools.org).await, types(&http.org).await);
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_said_as_the_api_says_it() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org);
    let error = async |tool: &str, arguments: Value| {
        let called = mcp.call(tool, &arguments).await;
        assert!(called.is_error(), "{}", called.0);
        (called.answer()["error"].clone(), called.texts()[1].to_owned())
    };
    let unknown = crate::unknown_id();
    let (found, next) = error("get_contact", json!({"contact_id": unknown})).await;
    assert!(found["code"] == "not_found" && next.contains("look it up"), "{found} {next}");
    for arguments in [json!({}), json!({"contact_id": ""}), json!({"contact_id": 7}), json!({"contact_id": "a/b?c=d"})]
    {
        let (found, next) = error("get_contact", arguments).await;
        assert_eq!(
            (&found["code"], &found["errors"][0]["field"]),
            (&json!("invalid_request"), &json!("path.contact_id"))
        );
        assert!(next.contains("`path.x` is the argument `x`"), "{next}");
    }
    let other = Org::new().await.contact("Theirs").await;
    let (found, _) = error("get_contact", json!({"contact_id": other["id"]})).await;
    assert_eq!(found["code"], "not_found", "another organization's record does not exist");
    let (found, _) =
        error("create_contact", json!({"display_name": 1, "kind": "robot", "idempotency_key": "k\u{e9}"})).await;
    let mut fields: Vec<&str> =
        found["errors"].as_array().expect("errors").iter().filter_map(|it| it["field"].as_str()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["display_name", "header.idempotency-key", "kind"], "all at once");
    let ada = json!({"display_name": "Ada", "kind": "person", "external_reference": "A-1", "idempotency_key": "k"});
    let first = mcp.call("create_contact", &ada).await;
    let again = mcp.call("create_contact", &ada).await;
    assert_eq!(first.answer(), again.answer());
    assert!(again.texts()[1].contains("nothing was done twice"), "{:?}", again.texts());
    let (found, next) =
        error("create_contact", json!({"display_name": "Ben", "kind": "person", "idempotency_key": "k"})).await;
    assert!(found["code"] == "conflict" && next.contains("Send a fresh one"), "{found} {next}");
    let id = first.answer()["id"].clone();
    let read = mcp.call("get_contact", &json!({"contact_id": id})).await;
    let etag = read.response()["etag"].clone();
    assert!(read.texts()[1].contains(etag.as_str().expect("a tag")), "{:?}", read.texts());
    let change = json!({"contact_id": id, "external_reference": "A-2", "if_match": etag});
    assert_eq!(mcp.call("update_contact", &change).await.answer()["external_reference"], "A-2");
    let (found, next) = error("update_contact", change).await;
    assert!(found["code"] == "conflict" && next.contains("Read it again"), "{found} {next}");
}

/// Whether or not clients check the schema: what it refuses is refused, however close, without effect.
#[tokio::test]
async fn arguments_are_as_strict_as_their_schema() {
    let fixture = Fixture::new().await;
    let mcp = Mcp::of(&fixture.org);
    let near = [
        json!(null),
        json!("5"),
        json!("false"),
        json!("zzz"),
        json!(5),
        json!(-1),
        json!(1.5),
        json!(true),
        json!([]),
        json!(["draft"]),
        json!({}),
    ];
    let before = fixture.org.state().await;
    let mut refused = 0;
    for tool in mcp.tools().await {
        let name = tool["name"].as_str().expect("a name");
        let schema = jsonschema::validator_for(&tool["inputSchema"]).expect("a schema");
        let right = arguments(&fixture, fixture.operation(name));
        assert!(schema.is_valid(&json!(right)), "{name}: {right:?}");
        for argument in crate::members(&tool["inputSchema"]["properties"]) {
            for value in &near {
                let mut wrong = right.clone();
                wrong.insert(argument.to_owned(), value.clone());
                if schema.is_valid(&json!(wrong)) {
                    continue;
                }
                let called = mcp.call(name, &Value::Object(wrong)).await;
                assert_eq!(called.response()["status"], 422, "{name}: {argument}: {value}: {}", called.0);
                let errors = called.answer()["error"]["errors"].clone();
                let fields = errors.as_array().into_iter().flatten().map(|error| error["field"].as_str().unwrap_or(""));
                let header = format!("header.{}", argument.replace('_', "-"));
                let is_named = |field: &str| {
                    field.trim_start_matches("path.").split('[').next() == Some(argument) || field == header
                };
                let named: Vec<&str> = fields.filter(|field| is_named(field)).collect();
                assert_eq!(named.len(), 1, "{name}: {argument}: {value}: {errors}");
                refused += 1;
            }
        }
    }
    assert!(refused > 500, "{refused}");
    assert_eq!(fixture.org.state().await, before);
    // A caller who may not write is told that first.
    let reading = Mcp::of(&fixture.org.read_only());
    let called = reading.call("create_contact", &json!({"email": null})).await;
    assert_eq!(called.answer()["error"]["code"], "forbidden", "{}", called.0);
}

#[tokio::test]
async fn members_see_that_a_call_came_over_mcp() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Ines Duarte").await).await;
    let mcp = Mcp::of(&org);
    mcp.tools().await;
    let ada = json!({"display_name": "Ada", "kind": "person"});
    assert!(!mcp.speaking(STATELESS).call("create_contact", &ada).await.is_error());
    org.contact("Ben").await;
    let page = browser.get("/app/audit").await;
    assert!(page.says("Integration (over MCP)") && page.says("Integration (over the API)"), "{}", page.body);
    assert!(!page.says("use_mcp</dd>"), "what runs no operation hides no act");
    let export = browser.get("/app/audit/export").await.body;
    let by_mcp: Vec<&str> = export.split("\r\n").filter(|line| line.ends_with(",mcp")).collect();
    assert_eq!(by_mcp.len(), 1, "{export}");
    assert!(by_mcp[0].contains("Integration (over MCP),create_contact,"), "{export}");
}

#[tokio::test]
async fn nothing_of_the_app_is_reachable() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org);
    let tools = mcp.tools().await;
    assert!(tools.iter().all(|tool| !tool.to_string().contains("/app")), "no tool leads there");
    let workspace = org.workspace("Harbor").await;
    for id in [
        "../../../app/audit",
        "..%2f..%2fapp",
        &format!("{}/../../../../app", workspace["id"].as_str().expect("an id")),
    ] {
        let called = mcp.call("get_workspace", &json!({"workspace_id": id})).await;
        assert_eq!(called.answer()["error"]["errors"][0]["field"], "path.workspace_id", "{id}");
    }
}
