//! A small client of the agent endpoint, in any revision of its protocol.

use http::{HeaderMap, Method};
use serde_json::{Map, Value, json};

use crate::client::Client;

/// The revision without a handshake.
pub const STATELESS: &str = "2026-07-28";
/// The newest revision with one.
pub const HANDSHAKE: &str = "2025-11-25";
/// All revisions, newest first.
pub const REVISIONS: [&str; 5] = [STATELESS, HANDSHAKE, "2025-06-18", "2025-03-26", "2024-11-05"];

/// A caller of the endpoint, with a token.
#[derive(Debug, Clone)]
pub struct Mcp {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
    revision: &'static str,
}

/// A response of the endpoint.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; `null` if there is none.
    pub body: Value,
}

/// The result of a tool.
#[derive(Debug, Clone)]
pub struct Called(pub Value);

impl Mcp {
    /// The endpoint for a caller of the API, in the newest revision.
    #[must_use]
    pub fn of(caller: &Client) -> Self {
        let http = reqwest::Client::builder().no_proxy().http1_only().build().expect("an HTTP client");
        let token = caller.token().map(str::to_owned);
        Self { http, url: format!("{}/mcp", caller.base_url()), token, revision: STATELESS }
    }

    /// The same in another revision.
    #[must_use]
    pub fn speaking(&self, revision: &'static str) -> Self {
        Self { revision, ..self.clone() }
    }

    /// A request's headers and body, in its revision.
    #[must_use]
    pub fn request(&self, method: &str, params: &Value) -> (Vec<(String, String)>, Value) {
        let mut params = params.clone();
        let mut headers = vec![("mcp-protocol-version".to_owned(), self.revision.to_owned())];
        if self.revision == STATELESS {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.push(("mcp-method".to_owned(), method.to_owned()));
            if let Some(name) = params["name"].as_str() {
                headers.push(("mcp-name".to_owned(), name.to_owned()));
            }
        }
        (headers, json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    }

    /// Sends bytes unchanged, with these headers besides the token and those of every message.
    pub async fn send(&self, method: Method, headers: &[(String, String)], body: Vec<u8>) -> Reply {
        let mut request = self.http.request(method, &self.url).body(body);
        let given = |name: &str| headers.iter().any(|(given, _)| given == name);
        for (name, value) in [("content-type", "application/json"), ("accept", "application/json, text/event-stream")] {
            if !given(name) {
                request = request.header(name, value);
            }
        }
        if let Some(token) = self.token.as_ref().filter(|_| !given("authorization")) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await.expect("a body");
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).expect("JSON") };
        assert!(headers.contains_key("x-request-id"), "every answer has an id: {status} {body}");
        Reply { status, headers, body }
    }

    /// Sends a request.
    pub async fn ask(&self, method: &str, params: &Value) -> Reply {
        let (headers, body) = self.request(method, params);
        self.send(Method::POST, &headers, body.to_string().into_bytes()).await
    }

    /// The result of a request.
    pub async fn result(&self, method: &str, params: &Value) -> Value {
        let reply = self.ask(method, params).await;
        assert_eq!((reply.status, &reply.body["id"]), (200, &json!(7)), "{reply:?}");
        assert!(reply.body["result"].is_object(), "{reply:?}");
        reply.body["result"].clone()
    }

    /// The tools.
    pub async fn tools(&self) -> Vec<Value> {
        self.result("tools/list", &json!({})).await["tools"].as_array().expect("tools").clone()
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Called {
        Called(self.result("tools/call", &json!({"name": tool, "arguments": arguments})).await)
    }
}

impl Called {
    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.0["isError"] == true
    }

    /// The texts.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        self.0["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
    }

    /// The operation's response: a success's content, or an error's envelope.
    #[must_use]
    #[track_caller]
    pub fn answer(&self) -> Value {
        let text: Value = serde_json::from_str(self.texts().first().expect("a text")).expect("JSON");
        let structured = self.0.get("structuredContent");
        assert_eq!(structured.is_none(), self.is_error(), "{}", self.0);
        assert!(structured.is_none_or(|structured| *structured == text), "text and content differ: {}", self.0);
        text
    }

    /// The rest of the operation's response: status, id, headers.
    #[must_use]
    pub fn response(&self) -> &Map<String, Value> {
        static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        self.0["_meta"]["countersign/response"].as_object().unwrap_or(&NONE)
    }

    /// The call's id.
    #[must_use]
    pub fn request_id(&self) -> String {
        self.response()["x-request-id"].as_str().unwrap_or_default().to_owned()
    }
}
