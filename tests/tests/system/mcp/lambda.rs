//! The endpoint as Lambda runs it: in its own process, with the operation that it hands on to another function.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

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

const UP: u8 = 0;
const FULL: u8 = 1;
const LOSING: u8 = 2;

/// A stand-in for Lambda's own API, with one function. Returns its address.
async fn lambda_of(papers: Function, how: Arc<AtomicU8>) -> String {
    let papers = Arc::new(Mutex::new(papers));
    let invoke = move |headers: HeaderMap, event: Bytes| {
        let (papers, how) = (papers.clone(), how.clone());
        async move { invoked(&papers, &how, &headers, &event).await }
    };
    let router = Router::new().route("/2015-03-31/functions/documents/invocations", post(invoke));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    address
}

async fn invoked(papers: &Mutex<Function>, how: &AtomicU8, headers: &HeaderMap, event: &[u8]) -> Response {
    let signed = headers["authorization"].to_str().expect("a signature");
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=") && signed.contains("/lambda/aws4_request"), "{signed}");
    let how = how.load(Ordering::Relaxed);
    if how == FULL {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    let event = std::str::from_utf8(event).expect("a text");
    let answer = call(&mut *papers.lock().await, event).await;
    if how == LOSING {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    axum::Json(answer).into_response()
}

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
    let how = Arc::new(AtomicU8::new(FULL));
    let papers = start("documents", &environment).await;
    environment.push(("AWS_ENDPOINT_URL_LAMBDA".to_owned(), lambda_of(papers, how.clone()).await));
    let mut mcp = start("mcp", &environment).await;

    let (status, found) = tool(&mut mcp, &org, "get_identity", &json!({})).await;
    assert_eq!((status, &found["structuredContent"]["organization_id"]), (200, &json!(org.id)));
    let arguments = json!({"item_ids": [item["id"]], "name": "Art to the trust of Zoë", "idempotency_key": "k"});
    let paper = "paper_funding_items";
    let (status, failed) = tool(&mut mcp, &org, paper, &arguments).await;
    assert_eq!((status, &failed["isError"]), (200, &json!(true)), "{failed}");
    assert!(failed["content"][0]["text"].as_str().is_some_and(|text| text.contains("internal_error")), "{failed}");
    assert!(failed["content"][1]["text"].as_str().is_some_and(|text| text.contains("with the same key")), "{failed}");
    how.store(UP, Ordering::Relaxed);
    for replayed in [Value::Null, json!("true")] {
        let (status, drafted) = tool(&mut mcp, &org, paper, &arguments).await;
        assert_eq!((status, &drafted["structuredContent"]["lifecycle"]), (200, &json!("draft")), "{drafted}");
        assert_eq!(drafted["structuredContent"]["name"], "Art to the trust of Zoë");
        let response = &drafted["_meta"]["countersign/response"];
        assert_eq!((&response["status"], &response["idempotent-replayed"]), (&json!(201), &replayed));
    }
    assert_eq!(services.files().len(), 1, "one document, in the bucket of documents");
    let audit = org.audit().await;
    let of_papering: Vec<&Value> = audit.iter().filter(|row| row["operation"] == paper).collect();
    let codes: Vec<_> = of_papering.iter().map(|row| (row["code"].as_str(), row["via"].as_str())).collect();
    let by_mcp = Some("mcp");
    assert_eq!(codes, [(Some("internal_error"), by_mcp), (Some("ok"), by_mcp), (Some("replayed"), by_mcp)]);
    let other = org.ready_item(&org.estate("Elm").await, "A drawing").await;
    let arguments = json!({"item_ids": [other["id"]], "idempotency_key": "l"});
    how.store(LOSING, Ordering::Relaxed);
    let (_, lost) = tool(&mut mcp, &org, paper, &arguments).await;
    assert_eq!(lost["isError"], true, "{lost}");
    let next = lost["content"][1]["text"].as_str().expect("advice");
    assert!(next.contains("it may have been done") && next.contains("`list_funding_items`"), "{next}");
    assert_eq!(org.item(&other).await["phase"], "papered");
    how.store(UP, Ordering::Relaxed);
    let (_, again) = tool(&mut mcp, &org, paper, &arguments).await;
    assert_eq!(again["_meta"]["countersign/response"]["idempotent-replayed"], "true", "{again}");
    let rows = org.audit().await;
    let mut codes: Vec<&str> =
        rows.iter().filter(|row| row["operation"] == paper).filter_map(|row| row["code"].as_str()).skip(3).collect();
    // The call's two rows may have the same or different moments.
    codes[..2].sort_unstable();
    assert_eq!(codes, ["ok", "unknown", "replayed"]);
    assert!(rows::objects(of_papering[1]).contains(&item["id"].as_str().expect("an id").to_owned()));
}
