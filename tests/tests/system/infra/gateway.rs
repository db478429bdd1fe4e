//! What the two kinds of API Gateway do to requests: headers listed twice, stages in paths.

use serde_json::{Value, json};
use tests::runtime_api::{self, Function, event};
use tests::{Answer, Org};

/// Stage names. Some are also in our paths, and must not be confused.
const STAGES: [&str; 5] = ["prod", "api", "v1", "contacts", "production"];

async fn start(function: &str, org: &Org) -> Function {
    let environment = runtime_api::environment(org.stack().table(), "https://api.countersign.example");
    Function::start(&runtime_api::program(function), &environment, None).await.expect("the function's program")
}

async fn invoke(function: &mut Function, event: &Value) -> Answer {
    function.invoke(event.to_string()).await.unwrap_or_else(|error| panic!("{error}"))
}

fn recorded(name: &str, org: &Org) -> Value {
    serde_json::from_str(&event(name, org, "")).expect("an event is JSON")
}

/// Adds a header to a REST API's event, once per value. The list has all of them, the map the last.
fn set_header(event: &mut Value, name: &str, values: &[&str]) {
    event["multiValueHeaders"][name] = json!(values);
    event["headers"][name] = json!(values.last());
}

#[tokio::test]
async fn a_token_that_a_rest_api_lists_twice_is_none() {
    let org = Org::new().await;
    let mut function = start("read-api", &org).await;
    let [token, read_only] = [&org.token, &org.read_only_token].map(|token| format!("Bearer {}", token.value));
    let mut event = recorded("rest-list-contacts", &org);
    for values in [[&token, &token], [&token, &read_only], [&read_only, &token]] {
        set_header(&mut event, "Authorization", &values.map(String::as_str));
        let answer = invoke(&mut function, &event).await;
        answer.refused(401);
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    let twice_in_two_spellings = recorded("rest-list-contacts", &org);
    event = twice_in_two_spellings;
    event["multiValueHeaders"]["authorization"] = json!([read_only]);
    event["headers"]["authorization"] = json!(read_only);
    invoke(&mut function, &event).await.refused(401);
    event = recorded("rest-list-contacts", &org);
    invoke(&mut function, &event).await.ok(200);
    event["headers"] = Value::Null;
    invoke(&mut function, &event).await.ok(200);
}

#[tokio::test]
async fn a_key_that_a_rest_api_lists_twice_is_refused() {
    let org = Org::new().await;
    let mut function = start("write-api", &org).await;
    let mut event = recorded("rest-create-workspace", &org);
    for keys in [["one", "two"], ["one", "one"]] {
        set_header(&mut event, "Idempotency-Key", &keys);
        invoke(&mut function, &event).await.refused_for(422, &[("header.idempotency-key", "invalid_value")]);
    }
    assert_eq!(org.total("/api/v1/workspaces").await, 0);
    set_header(&mut event, "Idempotency-Key", &["one"]);
    invoke(&mut function, &event).await.ok(201);
    assert!(invoke(&mut function, &event).await.is_replay());
    assert_eq!(org.total("/api/v1/workspaces").await, 1);
}

#[tokio::test]
async fn a_parameter_that_a_rest_api_lists_twice_is_refused() {
    let org = Org::new().await;
    let mut event = recorded("rest-list-contacts", &org);
    event["multiValueQueryStringParameters"]["limit"] = json!(["20", "10"]);
    invoke(&mut start("read-api", &org).await, &event).await.refused_for(422, &[("limit", "invalid_value")]);
}

#[tokio::test]
async fn the_stage_of_a_rest_api_is_no_part_of_the_path() {
    let org = Org::new().await;
    let (mut read, mut write) = (start("read-api", &org).await, start("write-api", &org).await);
    for (n, stage) in STAGES.into_iter().enumerate() {
        for (function, name, status) in
            [(&mut read, "rest-list-contacts", 200), (&mut write, "rest-create-workspace", 201)]
        {
            let mut event = recorded(name, &org);
            let path = event["path"].as_str().expect("a path").to_owned();
            event["requestContext"]["stage"] = json!(stage);
            event["requestContext"]["path"] = json!(format!("/{stage}{path}"));
            invoke(function, &event).await.ok(status);
            event["path"] = event["requestContext"]["path"].clone();
            invoke(function, &event).await.refused(404);
        }
        assert_eq!(org.total("/api/v1/workspaces").await, n as u64 + 1);
    }
}

#[tokio::test]
async fn the_stage_of_an_http_api_is_cut_from_the_path() {
    let org = Org::new().await;
    let mut function = start("read-api", &org).await;
    for stage in STAGES {
        let mut event = recorded("get-identity", &org);
        let path = format!("/{stage}/api/v1/contacts");
        event["rawPath"] = json!(path);
        event["rawQueryString"] = json!("limit=7&search=%2Fapi%2F");
        event["requestContext"]["http"]["path"] = json!(path);
        event["requestContext"]["stage"] = json!(stage);
        let page = invoke(&mut function, &event).await.ok(200);
        assert_eq!(page["pagination"], json!({"total": 0, "has_more": false, "limit": 7, "offset": 0}), "{stage}");
        event["rawPath"] = json!(format!("/{stage}/{stage}/api/v1/contacts"));
        invoke(&mut function, &event).await.refused(404);
    }
}
