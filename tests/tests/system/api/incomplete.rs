//! Requests whose body is late or never comes: what the headers decide is answered at once, the rest is refused.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use tests::{Fixture, Org, raw};
use tokio::io::AsyncWriteExt;

use crate::unknown_id;

const WORKSPACES: &str = "/api/v1/workspaces";

/// Longer than a response without the body takes on any machine, shorter than waiting for the body.
const AT_ONCE: Duration = Duration::from_secs(8);
/// A body's longest stall (contract, section 1).
const STALL: Duration = Duration::from_secs(10);

fn head(method: &Method, path: &str, token: Option<&str>) -> Vec<Vec<u8>> {
    let mut lines = vec![format!("{method} {path} HTTP/1.1"), "content-type: application/json".to_owned()];
    lines.push("content-length: 1000".to_owned());
    lines.extend(token.map(|token| format!("authorization: Bearer {token}")));
    lines.into_iter().map(String::into_bytes).collect()
}

async fn begin(base_url: &str, head: &[Vec<u8>], body: &[u8]) -> tokio::net::TcpStream {
    let lines: Vec<&[u8]> = head.iter().map(Vec::as_slice).collect();
    raw::begin(base_url, &lines, body).await
}

#[tokio::test]
async fn what_the_headers_decide_needs_no_body() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let (token, read_only) = (org.token.value.as_str(), org.read_only_token.value.as_str());
    let mut cases = Vec::new();
    for write in fixture.writes() {
        let path = fixture.path(write);
        cases.push((401, head(&write.method, &path, None)));
        cases.push((401, head(&write.method, &path, Some("cs_nonsense"))));
        cases.push((403, head(&write.method, &path, Some(read_only))));
        cases.push((405, head(&Method::DELETE, &path, Some(token))));
    }
    cases.push((404, head(&Method::POST, "/api/v1/nowhere", Some(token))));
    cases.push((404, head(&Method::POST, "/api/v1/nowhere", Some(read_only))));
    cases.push((401, head(&Method::POST, "/api/v1/nowhere", None)));
    cases.push((405, head(&Method::POST, "/openapi.json", Some(token))));
    let before = org.state().await;
    let begun = cases.iter().flat_map(|case| [&b""[..], b"{\"name\": "].map(|body| (case, body)));
    join_all(begun.map(async |((status, head), body)| {
        let socket = begin(org.base_url(), head, body).await;
        let answer = tokio::time::timeout(AT_ONCE, raw::answer(socket)).await;
        answer.unwrap_or_else(|_| panic!("{status} waits for the body")).refused(*status);
    }))
    .await;
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn a_read_waits_for_no_body() {
    let org = Org::new().await;
    let socket = begin(org.base_url(), &head(&Method::GET, "/api/v1/me", Some(&org.token.value)), b"{").await;
    tokio::time::timeout(AT_ONCE, raw::answer(socket)).await.expect("an answer at once").ok(200);
}

#[tokio::test]
async fn a_body_that_stalls_is_refused_after_ten_seconds() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let before = org.state().await;
    let stalled = async |method: &Method, path: &str, body: &[u8]| {
        let started = Instant::now();
        let socket = begin(org.base_url(), &head(method, path, Some(&org.token.value)), body).await;
        let answer = raw::answer(socket).await;
        assert!(started.elapsed() >= STALL, "{answer}");
        answer.refused_for(422, &[("body", "malformed_json")]);
        answer
    };
    let whole = json!({"name": "Harbor"}).to_string();
    let (contact, post) = (fixture.path(fixture.operation("update_contact")), &Method::POST);
    let answers = tokio::join!(
        stalled(post, WORKSPACES, b""),
        stalled(post, WORKSPACES, b"{\"name\": \"Har"),
        stalled(post, WORKSPACES, whole.as_bytes()),
        stalled(&Method::PATCH, &contact, b"{"),
    );
    assert_eq!(org.state().await, before);
    let id = answers.0.request_id();
    let rows: Vec<_> = org.audit().await.into_iter().filter(|row| row["sk"] == id.as_str()).collect();
    assert_eq!((rows.len(), &rows[0]["status"]), (1, &json!("422")), "{rows:?}");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let org = Org::new().await;
    for path in [WORKSPACES.to_owned(), format!("{WORKSPACES}/{}/contacts", unknown_id())] {
        let head = head(&Method::POST, &path, Some(&org.token.value));
        let mut socket = begin(org.base_url(), &head, b"{\"name\": \"Har").await;
        socket.shutdown().await.expect("the end of what is sent");
        raw::answer(socket).await.refused_for(422, &[("body", "malformed_json")]);
    }
    let head: [&[u8]; 4] = [
        b"POST /api/v1/workspaces HTTP/1.1",
        b"content-type: application/json",
        b"transfer-encoding: chunked",
        &format!("authorization: Bearer {}", org.token.value).into_bytes(),
    ];
    let socket = raw::begin(org.base_url(), &head, b"2\r\n{}\r\nnonsense\r\n\r\n").await;
    raw::answer(socket).await.refused_for(422, &[("body", "malformed_json")]);
    assert_eq!(org.total(WORKSPACES).await, 0);
}

/// A body that dribbles never stalls, but must not be waited for forever.
#[tokio::test]
async fn a_body_that_dribbles_is_refused() {
    let org = Org::new().await;
    let head = head(&Method::POST, WORKSPACES, Some(&org.token.value));
    let (reads, mut writes) = begin(org.base_url(), &head, b"{").await.into_split();
    let dribble = async {
        // Until the stack refuses more.
        while writes.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let mut reads = reads;
    let answer = async {
        let mut bytes = Vec::new();
        // The connection may be reset after the response.
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut reads, &mut bytes).await;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let answer = tokio::select! { answer = answer => answer, () = dribble => panic!("refused without an answer") };
    assert!(answer.starts_with("HTTP/1.1 422 ") && answer.contains("malformed_json"), "{answer}");
    assert_eq!(org.total(WORKSPACES).await, 0);
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_is_still_sending() {
    let org = Org::new().await;
    let body = vec![b' '; 4 * 1024 * 1024];
    for _ in 0..5 {
        let refused =
            org.read_only().call(Method::POST, WORKSPACES).body("application/json", body.clone()).send().await;
        refused.refused(403);
        let refused =
            org.anonymous().call(Method::POST, "/api/v1/nowhere").body("text/plain", body.clone()).send().await;
        refused.refused(401);
    }
}
