//! The protocol in its revisions: what is spoken, and what is refused how.

use http::Method;
use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use tests::Org;
use tests::mcp::{Called, HANDSHAKE, Mcp, REVISIONS, Reply, STATELESS};

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

async fn send(mcp: &Mcp, method: &str, params: &Value, changed: &[(&str, &str)]) -> Reply {
    let (mut sent, body) = mcp.request(method, params);
    sent.retain(|(name, _)| changed.iter().all(|(changed, _)| changed != name));
    sent.extend(headers(changed).into_iter().filter(|(_, value)| !value.is_empty()));
    mcp.send(Method::POST, &sent, body.to_string().into_bytes()).await
}

fn code(reply: &Reply) -> (u16, i64) {
    assert!(reply.body["result"].is_null(), "{reply:?}");
    (reply.status, reply.body["error"]["code"].as_i64().unwrap_or_else(|| panic!("{reply:?}")))
}

#[tokio::test]
async fn the_newest_revision_needs_no_handshake() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org);
    let found = mcp.result("server/discover", &json!({})).await;
    assert_eq!(found["supportedVersions"], json!(REVISIONS));
    assert_eq!((&found["resultType"], &found["capabilities"]), (&json!("complete"), &json!({"tools": {}})));
    assert!(found["instructions"].as_str().is_some_and(|text| text.contains("confirm_url")), "{found}");
    assert!(found["ttlMs"].as_u64().is_some() && found["cacheScope"] == "public", "{found}");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "countersign");
    let listed = mcp.result("tools/list", &json!({})).await;
    assert!(listed["ttlMs"].as_u64().is_some() && listed.get("nextCursor").is_none(), "{listed}");
    assert_eq!(mcp.call("get_identity", &json!({})).await.answer()["organization_id"], org.id.to_string());
    // This server has no sessions, whatever a client sends.
    let reply = send(&mcp, "tools/list", &json!({}), &[("mcp-session-id", "x")]).await;
    assert!(reply.status == 200 && !reply.headers.contains_key("mcp-session-id"), "{reply:?}");
    for (method, params, expected) in [
        ("ping", json!({}), (404, -32601)),
        ("initialize", json!({}), (404, -32601)),
        ("initialize", json!({"protocolVersion": STATELESS}), (404, -32601)),
        ("resources/list", json!({}), (404, -32601)),
        ("subscriptions/listen", json!({}), (404, -32601)),
        ("tools/list", json!({"cursor": "x"}), (200, -32602)),
        ("tools/call", json!({"name": "publish_agreement"}), (200, -32602)),
        ("tools/call", json!({"name": "view_home"}), (200, -32602)),
        ("tools/call", json!({}), (200, -32602)),
        ("tools/call", json!({"name": "get_identity", "arguments": []}), (200, -32602)),
    ] {
        assert_eq!(code(&mcp.ask(method, &params).await), expected, "{method} {params}");
    }
}

fn handshake(revision: &str) -> Value {
    json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
}

fn added<'a>(tool: &'a Value, of_all: &[&str]) -> Vec<&'a str> {
    crate::members(tool).into_iter().filter(|name| !of_all.contains(name)).collect()
}

/// Every answer is in the client's revision, without a session.
async fn is_spoken(revision: &'static str, of_tools: &[&str], is_structured: bool) {
    let org = Org::new().await;
    let mcp = Mcp::of(&org).speaking(revision);
    let reply = send(&mcp, "initialize", &handshake(revision), &[("mcp-protocol-version", "")]).await;
    let result = &reply.body["result"];
    assert_eq!((reply.status, &result["protocolVersion"]), (200, &json!(revision)), "{reply:?}");
    let server = &result["serverInfo"];
    assert_eq!((&result["capabilities"], &server["name"]), (&json!({"tools": {}}), &json!("countersign")));
    assert!(server["version"].is_string() && server["title"].is_string() == is_structured, "{server}");
    assert!(result["instructions"].is_string() && result.get("resultType").is_none(), "{result}");
    assert!(!reply.headers.contains_key("mcp-session-id"), "{reply:?}");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let reply = mcp.send(Method::POST, &headers(&[("mcp-protocol-version", revision)]), initialized.into()).await;
    assert_eq!((reply.status, &reply.body), (202, &Value::Null));
    assert_eq!(mcp.result("ping", &json!({})).await, json!({}));
    let listed = mcp.result("tools/list", &json!({})).await;
    assert_eq!(crate::members(&listed), ["tools"], "what the newest revision adds stays there");
    let (tools, all) = (listed["tools"].as_array().expect("tools"), Mcp::of(&org).tools().await);
    assert_eq!(tools.len(), all.len());
    for (tool, whole) in tools.iter().zip(&all) {
        assert_eq!(added(tool, &["description", "inputSchema", "name"]), of_tools, "{tool}");
        assert!(crate::members(tool).into_iter().all(|name| tool[name] == whole[name]), "{tool}");
    }
    let ada = json!({"display_name": "Ada", "kind": "person"});
    for (tool, arguments, is_refused) in
        [("get_identity", json!({}), false), ("create_contact", ada, false), ("create_contact", json!({}), true)]
    {
        let Called(called) = mcp.call(tool, &arguments).await;
        let text: Value = serde_json::from_str(called["content"][0]["text"].as_str().expect("a text")).expect("JSON");
        assert_eq!((&called["isError"], text["error"].is_object()), (&json!(is_refused), is_refused), "{called}");
        let structured = (is_structured && !is_refused).then_some(&text);
        assert_eq!(called.get("structuredContent"), structured, "{called}");
        assert!(called["_meta"]["countersign/response"].is_object() && called.get("resultType").is_none(), "{called}");
    }
    assert_eq!(code(&mcp.ask("resources/list", &json!({})).await), (200, -32601));
    assert_eq!(code(&mcp.ask("server/discover", &json!({})).await), (400, -32602), "of the newest revision");
    assert_eq!(org.audit().await.iter().filter(|row| row["operation"] == "create_contact").count(), 2);
}

#[tokio::test]
async fn revision_2025_11_25_is_spoken() {
    is_spoken(HANDSHAKE, &["annotations", "outputSchema", "title"], true).await;
}

#[tokio::test]
async fn revision_2025_06_18_is_spoken() {
    is_spoken("2025-06-18", &["annotations", "outputSchema", "title"], true).await;
}

#[tokio::test]
async fn revision_2025_03_26_is_spoken() {
    is_spoken("2025-03-26", &["annotations"], false).await;
}

#[tokio::test]
async fn revision_2024_11_05_is_spoken() {
    is_spoken("2024-11-05", &[], false).await;
}

#[tokio::test]
async fn whoever_asks_for_a_revision_that_is_not_spoken_gets_the_newest_with_a_handshake() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org).speaking(HANDSHAKE);
    for asked in ["2024-10-07", "2025-06-19", "2030-01-01", "", "latest", STATELESS] {
        let reply = send(&mcp, "initialize", &handshake(asked), &[("mcp-protocol-version", "")]).await;
        assert_eq!((reply.status, &reply.body["result"]["protocolVersion"]), (200, &json!(HANDSHAKE)), "{reply:?}");
    }
    let differs = [("mcp-protocol-version", "2025-06-18")];
    assert_eq!(code(&send(&mcp, "initialize", &handshake(HANDSHAKE), &differs).await), (400, -32020));
}

/// Clients of the revisions before 2025-06-18 name none after the handshake.
#[tokio::test]
async fn whoever_names_no_revision_is_answered_in_2025_03_26() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org).speaking("2025-03-26");
    let unnamed = [("mcp-protocol-version", "")];
    let call = json!({"name": "get_identity", "arguments": {}});
    for (method, params) in [("tools/list", &json!({})), ("ping", &json!({})), ("tools/call", &call)] {
        let (reply, named) = (send(&mcp, method, params, &unnamed).await, mcp.ask(method, params).await);
        let result = |reply: &Reply| {
            let mut result = reply.body["result"].clone();
            result.as_object_mut().expect("a result").remove("_meta");
            result
        };
        assert_eq!((reply.status, result(&reply)), (200, result(&named)), "{method}");
    }
    // That revision has batches; this server takes their messages one by one, and says so.
    let batch = json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]);
    let reply = mcp.send(Method::POST, &[], batch.to_string().into_bytes()).await;
    let message = reply.body["error"]["message"].as_str().unwrap_or_default();
    assert!(code(&reply) == (400, -32600) && message.contains("one by one"), "{reply:?}");
}

#[tokio::test]
async fn headers_have_to_agree_with_the_message() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org);
    let call = json!({"name": "get_identity", "arguments": {}});
    for (changed, expected) in [
        (("mcp-method", ""), (400, -32020)),
        (("mcp-method", "tools/list"), (400, -32020)),
        (("mcp-name", ""), (400, -32020)),
        (("mcp-name", "get_contact"), (400, -32020)),
        (("mcp-name", "=?base64?not base64?="), (400, -32020)),
        (("mcp-protocol-version", ""), (400, -32020)),
        (("mcp-protocol-version", HANDSHAKE), (400, -32020)),
        (("mcp-protocol-version", "2030-01-01"), (400, -32022)),
    ] {
        assert_eq!(code(&send(&mcp, "tools/call", &call, &[changed]).await), expected, "{changed:?}");
    }
    let wrapped = send(&mcp, "tools/call", &call, &[("mcp-name", "=?base64?Z2V0X2lkZW50aXR5?=")]).await;
    assert_eq!((wrapped.status, &wrapped.body["result"]["isError"]), (200, &json!(false)), "{wrapped:?}");
    let twice = headers(&[("mcp-protocol-version", STATELESS), ("mcp-protocol-version", STATELESS)]);
    let (_, body) = mcp.request("tools/list", &json!({}));
    assert_eq!(code(&mcp.send(Method::POST, &twice, body.to_string().into_bytes()).await), (400, -32020));
    for revision in REVISIONS {
        let reply =
            send(&mcp.speaking(revision), "tools/list", &json!({}), &[("mcp-protocol-version", "1999-01-01")]).await;
        let data = &reply.body["error"]["data"];
        assert_eq!((code(&reply), &reply.body["id"]), ((400, -32022), &json!(7)));
        assert_eq!(*data, json!({"supported": REVISIONS, "requested": "1999-01-01"}));
    }
    let without = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    let sent = headers(&[("mcp-protocol-version", STATELESS), ("mcp-method", "tools/list")]);
    assert_eq!(code(&mcp.send(Method::POST, &sent, without.into_bytes()).await), (400, -32602));
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_nothing_runs() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (body, expected) in [
        ("", (400, -32700)),
        ("{", (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, (400, -32700)),
        (&format!("[{call}]"), (400, -32600)),
        ("7", (400, -32600)),
        (r#"{"id":1,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, (400, -32602)),
    ] {
        assert_eq!(code(&mcp.send(Method::POST, &[], body.as_bytes().to_vec()).await), expected, "{body}");
    }
    let send = async |name: &str, value: &str| mcp.send(Method::POST, &headers(&[(name, value)]), call.into()).await;
    assert_eq!(code(&send("content-type", "text/plain").await), (415, -32600));
    assert_eq!(code(&send("accept", "text/event-stream").await), (406, -32600));
    for (name, value) in
        [("accept", "application/json"), ("accept", "*/*"), ("content-type", "application/json; charset=utf-8")]
    {
        assert_eq!(send(name, value).await.status, 200, "{name}: {value}");
    }
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"{}\"}}", "x".repeat(1_100_000));
    assert_eq!(code(&mcp.send(Method::POST, &[], long.into_bytes()).await), (413, -32700));
    let rows = org.audit().await;
    assert!(rows.iter().all(|row| row["operation"] == "use_mcp"), "{rows:?}");
}

/// Browsers first ask whether a page of another origin may call, and let it read only what the response allows.
#[tokio::test]
async fn a_page_of_an_allowed_origin_may_call() {
    let org = Org::new().await;
    let (mcp, anonymous) = (Mcp::of(&org), Mcp::of(&org.anonymous()));
    let own = org.base_url();
    let ask = [
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version"),
    ];
    let from = |origin| [&ask[..], &[("origin", origin)]].concat();
    let reply = anonymous.send(Method::OPTIONS, &headers(&from(own)), Vec::new()).await;
    assert_eq!((reply.status, &reply.body), (204, &Value::Null));
    assert_eq!(reply.headers["access-control-allow-origin"], own);
    assert_eq!(reply.headers["access-control-allow-methods"], "POST");
    let allowed = reply.headers["access-control-allow-headers"].to_str().expect("a text");
    let allowed: Vec<&str> = allowed.split(", ").collect();
    assert!(ask[1].1.split(',').all(|name| allowed.contains(&name)), "{allowed:?}");
    assert!(!reply.headers.contains_key("access-control-allow-credentials"), "no cookie is ever looked at");
    for (caller, status) in [(&mcp, 200), (&anonymous, 401)] {
        let reply = send(caller, "tools/list", &json!({}), &[("origin", own)]).await;
        assert_eq!(
            (reply.status, &reply.headers["access-control-allow-origin"]),
            (status, &own.parse().expect("text"))
        );
        let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
        assert!(vary.iter().any(|value| *value == "origin"), "{vary:?}");
    }
    for sent in [from("https://evil.example"), ask.to_vec(), vec![("origin", own)]] {
        let reply = anonymous.send(Method::OPTIONS, &headers(&sent), Vec::new()).await;
        assert!([401, 403].contains(&reply.status), "{sent:?}: {reply:?}");
        assert!(!reply.headers.contains_key("access-control-allow-methods"), "{sent:?}");
    }
    let foreign = send(&mcp, "tools/list", &json!({}), &[("origin", "https://evil.example")]).await;
    assert!(foreign.status == 403 && !foreign.headers.contains_key("access-control-allow-origin"), "{foreign:?}");
    assert!(org.audit().await.iter().all(|row| row["status"] != 204), "a preflight leaves no row");
}

#[tokio::test]
async fn a_caller_is_who_the_api_knows_and_comes_from_where_it_may() {
    let org = Org::new().await;
    let mcp = Mcp::of(&org);
    let revoked = org.issue("Revoked", Scope::Read, Timestamp::now()).await;
    org.revoke(revoked.id).await;
    let tokens = [None, Some("nonsense"), Some(revoked.value.as_str())];
    for (method, params) in [
        ("tools/list", json!({})),
        ("server/discover", json!({})),
        ("tools/call", json!({"name": "get_identity", "arguments": {}})),
        ("tools/call", json!({"name": "create_workspace", "arguments": {"name": "Harbor"}})),
    ] {
        for token in tokens {
            let caller = token.map_or_else(|| Mcp::of(&org.anonymous()), |token| Mcp::of(&org.with_token(token)));
            let reply = caller.ask(method, &params).await;
            assert_eq!((reply.status, &reply.body["error"]["code"]), (401, &json!("unauthenticated")), "{reply:?}");
            assert_eq!(reply.headers["www-authenticate"], "Bearer");
        }
    }
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let reply = mcp.send(method.clone(), &[], Vec::new()).await;
        assert_eq!((reply.status, reply.headers["allow"].as_bytes()), (405, &b"POST"[..]), "{method}");
        assert_eq!(Mcp::of(&org.anonymous()).send(method, &[], Vec::new()).await.status, 401);
    }
    let own = org.base_url().to_owned();
    let port = own.rsplit(':').next().expect("a port").to_owned();
    for revision in REVISIONS {
        let mcp = mcp.speaking(revision);
        for (name, value, status) in [
            ("origin", own.as_str(), 200),
            ("origin", &format!("http://localhost:{port}"), 200),
            ("origin", "https://evil.example", 403),
            ("origin", "null", 403),
            ("origin", &format!("https://127.0.0.1:{port}"), 403),
            ("host", "evil.example", 403),
            ("host", "127.0.0.1", 403),
            ("host", &format!("localhost:{port}"), 200),
        ] {
            let reply = send(&mcp, "tools/list", &json!({}), &[(name, value)]).await;
            assert_eq!(reply.status, status, "{name}: {value}: {reply:?}");
            assert!(status == 200 || reply.body["error"]["code"] == "forbidden", "{reply:?}");
        }
    }
    let foreign =
        send(&Mcp::of(&org.anonymous()), "tools/list", &json!({}), &[("origin", "https://evil.example")]).await;
    assert_eq!(foreign.status, 403);
    let rows = org.audit().await;
    let of = |operation: &str| rows.iter().filter(|row| row["operation"] == operation).count();
    assert_eq!((of("get_identity"), of("create_workspace")), (1, 1), "by the revoked token");
    assert_eq!((rows.len(), of("wrong_method")), (2 + of("use_mcp") + 3, 3), "{rows:?}");
    assert!(rows.iter().all(|row| row["via"] == "mcp"), "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row["code"] == "unauthenticated").count(), 4);
    assert_eq!(rows.iter().filter(|row| row["code"] == "method_not_allowed").count(), 3);
    assert_eq!(rows.iter().filter(|row| row["code"] == "forbidden").count(), 5 * REVISIONS.len());
}
