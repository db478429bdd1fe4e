//! The local server: connections without a request, and requests that reach no function.

use std::time::Duration;

use serde_json::Value;
use shared::limits;
use tests::{Org, raw, wait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn closed(mut socket: TcpStream) {
    let end = async {
        let mut bytes = [0; 4096];
        while socket.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
    };
    tokio::time::timeout(limits::REQUEST_HEAD_TIMEOUT + wait::PATIENCE, end).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let org = Org::new().await;
    let silent = async { closed(raw::connect(org.base_url()).await).await };
    let begun = async {
        let mut socket = raw::connect(org.base_url()).await;
        socket.write_all(b"GET /api/v1/me HTTP/1.1\r\nhost: a\r\n").await.expect("the beginning of a request");
        closed(socket).await;
    };
    let dribbling = async {
        let mut socket = raw::connect(org.base_url()).await;
        let send = async {
            let head = b"GET /api/v1/me HTTP/1.1\r\nhost: a\r\nx: ".iter().chain(std::iter::repeat(&b'x'));
            for byte in head {
                if socket.write_all(&[*byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let limit = limits::REQUEST_HEAD_TIMEOUT + wait::PATIENCE;
        tokio::time::timeout(limit, send).await.expect("the connection is closed");
    };
    let idle = async {
        let mut socket = raw::connect(org.base_url()).await;
        socket.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n").await.expect("a request");
        closed(socket).await;
    };
    tokio::join!(silent, begun, dribbling, idle);
    org.get("/api/v1/me").send().await.ok(200);
}

async fn refused(org: &Org, request: &[u8], status: u16) {
    let (found, headers, body) = raw::answer_to(org.base_url(), request).await;
    let start = String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned();
    assert_eq!(found, status, "{start:?}");
    let error = &serde_json::from_slice::<Value>(&body).unwrap_or_else(|error| panic!("{error}: {start:?}"))["error"];
    assert_eq!((&error["status"], &error["code"]), (&status.into(), &"invalid_request".into()), "{start:?}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    assert_eq!(headers["x-request-id"], error["request_id"].as_str().unwrap_or_default(), "{start:?}");
    assert_eq!(headers["content-type"], "application/json", "{start:?}");
}

#[tokio::test]
async fn what_the_server_refuses_has_an_envelope() {
    let org = Org::new().await;
    let get = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: a\r\n{headers}\r\n").into_bytes();
    for malformed in
        ["nonsense\r\n\r\n", "GET /api/v1/me HTTP/9.9\r\n\r\n", "GET /api/v1/<me> HTTP/1.1\r\nhost: a\r\n\r\n"]
    {
        refused(&org, malformed.as_bytes(), 400).await;
    }
    refused(&org, &get("/api/v1/me", "bad header: x\r\n"), 400).await;
    refused(&org, &get("/api/v1/me", "content-length: x\r\n"), 400).await;
    refused(&org, &get(&format!("/api/v1/contacts?search={}", "a".repeat(70_000)), ""), 414).await;
    refused(&org, &get("/api/v1/me", &"x: y\r\n".repeat(200)), 431).await;
    refused(&org, &get("/api/v1/me", &format!("x: {}\r\n", "y".repeat(3_000_000))), 431).await;
    org.get("/api/v1/me").send().await.ok(200);
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let org = Org::new().await;
    let authorization = format!("authorization: Bearer {}\r\nconnection: close\r\n\r\n", org.token.value);
    let request = |line: &str, hosts: &str| format!("{line}\r\n{hosts}{authorization}").into_bytes();
    for path in ["/api/v1/me", "/app", "/openapi.json", "http://a/api/v1/me"] {
        refused(&org, &request(&format!("GET {path} HTTP/1.1"), ""), 400).await;
        refused(&org, &request(&format!("GET {path} HTTP/1.1"), "host: a\r\nhost: b\r\n"), 400).await;
    }
    // HTTP/1.0 has no such header.
    let (status, ..) = raw::answer_to(org.base_url(), &request("GET /api/v1/me HTTP/1.0", "")).await;
    assert_eq!(status, 200);
}
