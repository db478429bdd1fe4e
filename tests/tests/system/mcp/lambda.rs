//! The endpoint as Lambda runs it: in its own process, with the one operation that it hands on to another function.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tests::aws_services::AwsServices;
use tests::runtime_api::{self, Function, recorded};
use tests::{Org, rows};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::webhooks::lambda::{call, start};

const BASE_URL: &str = "https://api.countersign.example";

/// A stand-in for Lambda's own API: it invokes one function, as long as it is up. Returns its address.
async fn lambda_of(papers: Function, is_up: Arc<AtomicBool>) -> String {
    let papers = Arc::new(Mutex::new(papers));
    let invoke = move |headers: HeaderMap, event: Bytes| {
        let (papers, is_up) = (papers.clone(), is_up.clone());
        async move { invoked(&papers, &is_up, &headers, &event).await }
    };
    let router = Router::new().route("/2015-03-31/functions/paper-api/invocations", post(invoke));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    address
}

async fn invoked(papers: &Mutex<Function>, is_up: &AtomicBool, headers: &HeaderMap, event: &[u8]) -> Response {
    let signed = headers["authorization"].to_str().expect("a signature");
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=") && signed.contains("/lambda/aws4_request"), "{signed}");
    if !is_up.load(Ordering::Relaxed) {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    let event = std::str::from_utf8(event).expect("a text");
    axum::Json(call(&mut *papers.lock().await, event).await).into_response()
}

/// The event of a tool call, and the result in the answer.
async fn tool(mcp: &mut Function, org: &Org, name: &str, arguments: &Value) -> (u64, Value) {
    let recorded = recorded("mcp-get-identity", &[("read_write_token", &org.token.value)]);
    let mut event: Value = serde_json::from_str(&recorded).expect("an event is JSON");
    let mut message: Value = serde_json::from_str(event["body"].as_str().expect("a body")).expect("JSON");
    message["params"]["name"] = json!(name);
    message["params"]["arguments"] = arguments.clone();
    event["body"] = json!(message.to_string());
    event["headers"]["mcp-name"] = json!(name);
    let answer = call(mcp, &event.to_string()).await;
    let body: Value = serde_json::from_str(answer["body"].as_str().expect("a text")).expect("JSON");
    (answer["statusCode"].as_u64().expect("a status"), body["result"].clone())
}

#[tokio::test]
async fn papering_is_handed_on_with_the_callers_token() {
    let org = Org::new().await;
    let item = org.ready_item(&org.estate("Harbor").await, "A painting").await;
    let services = AwsServices::new().await;
    let mut environment = runtime_api::environment(org.stack().table(), BASE_URL);
    environment.extend(services.environment());
    let is_up = Arc::new(AtomicBool::new(true));
    let papers = start("paper-api", &environment).await;
    environment.push(("AWS_ENDPOINT_URL_LAMBDA".to_owned(), lambda_of(papers, is_up.clone()).await));
    let mut mcp = start("mcp", &environment).await;

    let (status, found) = tool(&mut mcp, &org, "get_identity", &json!({})).await;
    assert_eq!((status, &found["structuredContent"]["organization_id"]), (200, &json!(org.id)));
    let arguments = json!({"item_ids": [item["id"]], "name": "Art to the trust of Zoë", "idempotency_key": "k"});
    let paper = "paper_funding_items";
    is_up.store(false, Ordering::Relaxed);
    let (status, failed) = tool(&mut mcp, &org, paper, &arguments).await;
    assert_eq!((status, &failed["isError"]), (200, &json!(true)), "{failed}");
    assert!(failed["content"][0]["text"].as_str().is_some_and(|text| text.contains("internal_error")), "{failed}");
    assert!(
        failed["content"][1]["text"].as_str().is_some_and(|text| text.contains("same `idempotency_key`")),
        "{failed}"
    );
    is_up.store(true, Ordering::Relaxed);
    for replayed in [Value::Null, json!("true")] {
        let (status, drafted) = tool(&mut mcp, &org, paper, &arguments).await;
        assert_eq!((status, &drafted["structuredContent"]["lifecycle"]), (200, &json!("draft")), "{drafted}");
        assert_eq!(drafted["structuredContent"]["name"], "Art to the trust of Zoë");
        let response = &drafted["_meta"]["countersign/response"];
        assert_eq!((&response["status"], &response["idempotent-replayed"]), (&json!(201), &replayed));
    }
    assert_eq!(services.files().len(), 1, "one document, in the bucket of paper-api");
    let audit = org.audit().await;
    let of_papering: Vec<&Value> = audit.iter().filter(|row| row["operation"] == paper).collect();
    let codes: Vec<_> = of_papering.iter().map(|row| (row["code"].as_str(), row["via"].as_str())).collect();
    let by_mcp = Some("mcp");
    assert_eq!(codes, [(Some("internal_error"), by_mcp), (Some("ok"), by_mcp), (Some("replayed"), by_mcp)]);
    assert!(rows::objects(of_papering[1]).contains(&item["id"].as_str().expect("an id").to_owned()));
}
