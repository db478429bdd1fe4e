//! The protocol, independent of HTTP and tools: messages, revisions, and the forms of answers.
//!
//! Decision: it is written by hand. The server of `rmcp` 3.11 would add 15 crates and 527 KB zipped; it shows every
//! revision the newest's members, turns away clients that accept only JSON, and has no codes for malformed messages.
//!
//! 2026-07-28 has no handshake: every request states its revision in a header and in `_meta`, and repeats its method
//! and tool in headers that must agree. Earlier revisions begin with `initialize`, which settles on one; this server
//! speaks them without a session, which they leave to the server. So each request states its revision again, and the
//! answer omits what that revision does not know yet ([`ADDED`]). Batches, which only 2025-03-26 has, are refused.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, StatusCode};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::access::only;

/// A revision of the protocol: its date, so that a later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Revision(&'static str);

/// The revision without a handshake.
const STATELESS: Revision = Revision("2026-07-28");
/// The newest with one: the answer to a client that asks for an unsupported revision.
const HANDSHAKE: Revision = Revision("2025-11-25");
/// The first with structured results, and with the header that states a revision.
const STRUCTURED: Revision = Revision("2025-06-18");
/// The standard's revision for requests that state none. To clients of [`FIRST`] it adds only `annotations`.
const UNNAMED: Revision = Revision("2025-03-26");
const FIRST: Revision = Revision("2024-11-05");
pub(crate) const REVISIONS: [Revision; 5] = [STATELESS, HANDSHAKE, STRUCTURED, UNNAMED, FIRST];

const STRUCTURED_CONTENT: &str = "structuredContent";
/// Members of tools, results and self-description that not all revisions know, each with the first that does.
const ADDED: [(&str, Revision); 4] =
    [("annotations", UNNAMED), ("title", STRUCTURED), ("outputSchema", STRUCTURED), (STRUCTURED_CONTENT, STRUCTURED)];

impl Revision {
    fn parse(text: &str) -> Option<Self> {
        REVISIONS.into_iter().find(|revision| revision.0 == text)
    }

    fn has_handshake(self) -> bool {
        self < STATELESS
    }

    fn knows(self, member: &str) -> bool {
        ADDED.iter().all(|(added, since)| *added != member || self >= *since)
    }

    pub(crate) fn is_structured(self) -> bool {
        self.knows(STRUCTURED_CONTENT)
    }

    /// The parts of a tool, a result or the server's description that this revision knows.
    fn known(self, mut value: Value) -> Value {
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| self.knows(name));
        }
        value
    }
}

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may cache the list of tools, in milliseconds. Only releases change it.
const KEPT_MS: u64 = 3_600_000;

const INSTRUCTIONS: &str = "Countersign coordinates agreements, the conditions under which their stages run, and evidence \
about money that moves between real banks. It never holds or moves money. Begin with `get_identity`. You can draft and \
sort; publishing and cancelling you can only propose: `create_proposal` gives a `confirm_url`, and nothing happens until a \
person confirms there. A claim is not a proof: `sender_reported`, `claimed` and `satisfied` are one side's word; report \
money as arrived only if `reconciled` is true. Branch on `lifecycle`, `state`, `phase` and `status` of items; `*_sentence`, \
an agreement's `status` and `waiting_on` of gates are prose. Lists are oldest first; check `pagination.total` and go on with \
`offset`. Send a fresh `idempotency_key` with each act, and the same one when you repeat it. An error says what to do next.";

/// The id of a request, as its original JSON text.
///
/// Decision: it is never parsed as a number: written again, it can differ (`1.0`, `-0`, or more than 64 bits).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Id(String);

impl Id {
    fn none() -> Self {
        Self("null".to_owned())
    }

    fn of(message: &[u8]) -> Option<Self> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(message).ok()?;
        Some(Self(members.get("id")?.get().to_owned()))
    }

    fn respond(&self, member: &str, value: &Value) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{value}}}"#, self.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    id: Id,
    code: i32,
    message: String,
    data: Option<Value>,
}

impl Refusal {
    fn new(status: StatusCode, code: i32, message: impl Into<String>) -> Self {
        Self { status, id: Id::none(), code, message: message.into(), data: None }
    }

    /// The message is not JSON (400) or too long (413).
    pub(crate) fn unreadable(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, -32700, message)
    }

    pub(crate) fn invalid(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, -32600, message)
    }

    fn params(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, -32602, message)
    }

    fn headers(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, -32020, message)
    }

    fn revision(requested: &str) -> Self {
        let data = json!({"supported": REVISIONS.map(|it| it.0), "requested": requested});
        Self { data: Some(data), ..Self::new(StatusCode::BAD_REQUEST, -32022, "Unsupported protocol version") }
    }

    fn of(self, id: &Id) -> Self {
        Self { id: id.clone(), ..self }
    }

    pub(crate) fn into_response(self) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        self.id.respond("error", &error)
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Request(Request),
    Notification,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    id: Id,
    pub revision: Revision,
    pub wanted: Wanted,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Wanted {
    Initialize,
    Discover,
    Ping,
    ListTools,
    CallTool { name: String, arguments: Map<String, Value> },
}

/// Parses a message and checks its headers against it. `bytes` is the text of `message`.
pub(crate) fn read(headers: &HeaderMap, message: &Value, bytes: &[u8]) -> Result<Message, Refusal> {
    let Some(members) = message.as_object() else {
        let message = "A message is one JSON object: send those of a batch one by one.";
        return Err(Refusal::invalid(StatusCode::BAD_REQUEST, message));
    };
    let id = match members.get("id") {
        None => None,
        Some(Value::String(_) | Value::Number(_)) => Id::of(bytes),
        Some(_) => return Err(Refusal::invalid(StatusCode::BAD_REQUEST, "An id is a string or a number.")),
    };
    let of = &id.clone().unwrap_or_else(Id::none);
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Refusal::invalid(StatusCode::BAD_REQUEST, "`jsonrpc` has to be \"2.0\".").of(of));
    }
    let Some(method) = members.get("method").and_then(Value::as_str) else {
        let message = "This server asks clients nothing, so it takes requests and notifications only.";
        return Err(Refusal::invalid(StatusCode::BAD_REQUEST, message).of(of));
    };
    let empty = Map::new();
    let params = match members.get("params") {
        None => &empty,
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Refusal::params(StatusCode::BAD_REQUEST, "`params` has to be an object.").of(of)),
    };
    let revision = revision(headers, method, params).map_err(|refusal| refusal.of(of))?;
    if !revision.has_handshake() {
        compare(headers, method, params).map_err(|refusal| refusal.of(of))?;
    }
    let Some(id) = id else { return Ok(Message::Notification) };
    let wanted = wanted(revision, method, params).map_err(|refusal| refusal.of(&id))?;
    Ok(Message::Request(Request { id, revision, wanted }))
}

fn revision(headers: &HeaderMap, method: &str, params: &Map<String, Value>) -> Result<Revision, Refusal> {
    let named = only(headers, PROTOCOL_VERSION)
        .map_err(|()| Refusal::headers("MCP-Protocol-Version has to be one revision, and may be given only once."))?;
    let meta = params.get("_meta").and_then(Value::as_object);
    let of_body = meta.and_then(|meta| meta.get(META_VERSION)).and_then(Value::as_str);
    // Only revisions without a handshake name themselves in `_meta`.
    if method == "initialize" && of_body.is_none() {
        // The handshake negotiates the revision, so any may be requested; the header must not contradict it.
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        return match (named, asked) {
            (_, None) => Err(Refusal::params(StatusCode::BAD_REQUEST, "`protocolVersion` is required.")),
            (Some(named), Some(asked)) if named != asked => {
                Err(Refusal::headers("MCP-Protocol-Version differs from `params.protocolVersion`."))
            }
            (_, Some(asked)) => Ok(Revision::parse(asked).filter(|it| it.has_handshake()).unwrap_or(HANDSHAKE)),
        };
    }
    let named = named.map(|text| Revision::parse(text).ok_or_else(|| Refusal::revision(text))).transpose()?;
    match (named, of_body) {
        (Some(named), Some(of_body)) if named.0 != of_body => {
            Err(Refusal::headers(format!("MCP-Protocol-Version differs from `_meta` `{META_VERSION}`.")))
        }
        (None, Some(_)) => Err(Refusal::headers("The header MCP-Protocol-Version is required.")),
        (Some(named), _) if !named.has_handshake() => {
            let is_notification = method.starts_with("notifications/");
            let has_capabilities = meta.and_then(|meta| meta.get(META_CAPABILITIES)).is_some_and(Value::is_object);
            if !is_notification && (of_body.is_none() || !has_capabilities) {
                let message = format!("`params._meta` needs `{META_VERSION}` and `{META_CAPABILITIES}`.");
                return Err(Refusal::params(StatusCode::BAD_REQUEST, message));
            }
            Ok(named)
        }
        _ if method == "server/discover" => {
            let of = STATELESS.0;
            let message = format!("`server/discover` is of {of}: name it in MCP-Protocol-Version and `_meta`.");
            Err(Refusal::params(StatusCode::BAD_REQUEST, message))
        }
        (named, _) => Ok(named.unwrap_or(UNNAMED)),
    }
}

/// Compares the routing headers with the values they repeat.
fn compare(headers: &HeaderMap, method: &str, params: &Map<String, Value>) -> Result<(), Refusal> {
    let value = |name: HeaderName, called: &str| {
        let value = only(headers, name);
        value.map_err(|()| Refusal::headers(format!("{called} has to be text, and may be given only once.")))
    };
    match value(METHOD, "Mcp-Method")? {
        Some(named) if named == method => {}
        Some(_) => return Err(Refusal::headers("Mcp-Method differs from `method`.")),
        None => return Err(Refusal::headers("The header Mcp-Method is required.")),
    }
    let Some(name) = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call") else {
        return Ok(());
    };
    match value(NAME, "Mcp-Name")? {
        Some(named) if decoded(named).as_deref() == Some(name) => Ok(()),
        Some(_) => Err(Refusal::headers("Mcp-Name differs from `params.name`.")),
        None => Err(Refusal::headers("The header Mcp-Name is required.")),
    }
}

fn decoded(text: &str) -> Option<String> {
    match text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

fn wanted(revision: Revision, method: &str, params: &Map<String, Value>) -> Result<Wanted, Refusal> {
    match (method, revision.has_handshake()) {
        ("initialize", true) => Ok(Wanted::Initialize),
        ("server/discover", false) => Ok(Wanted::Discover),
        ("ping", true) => Ok(Wanted::Ping),
        ("tools/list", _) if params.get("cursor").is_none_or(Value::is_null) => Ok(Wanted::ListTools),
        ("tools/list", _) => Err(Refusal::params(StatusCode::OK, "The list has one page, and so no cursor.")),
        ("tools/call", _) => {
            let Some(name) = params.get("name").and_then(Value::as_str) else {
                return Err(Refusal::params(StatusCode::OK, "`name` is required: the tool's."));
            };
            let arguments = match params.get("arguments") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(arguments)) => arguments.clone(),
                Some(_) => return Err(Refusal::params(StatusCode::OK, "`arguments` has to be an object.")),
            };
            Ok(Wanted::CallTool { name: name.to_owned(), arguments })
        }
        (_, false) => Err(Refusal::new(StatusCode::NOT_FOUND, -32601, "There is no such method.")),
        (_, true) => Err(Refusal::new(StatusCode::OK, -32601, "There is no such method.")),
    }
}

impl Request {
    pub(crate) fn refuse(&self, message: impl Into<String>) -> Refusal {
        Refusal::params(StatusCode::OK, message).of(&self.id)
    }

    pub(crate) fn respond(&self, result: Value) -> String {
        let mut result = self.revision.known(result);
        if !self.revision.has_handshake() {
            result["resultType"] = json!("complete");
            result["_meta"][META_SERVER] = server();
        }
        self.id.respond("result", &result)
    }

    pub(crate) fn respond_with_tools(&self, tools: &[&Value]) -> String {
        let tools: Vec<Value> = tools.iter().map(|tool| self.revision.known((*tool).clone())).collect();
        self.respond(self.kept(json!({"tools": tools})))
    }

    /// Marks a result as cacheable and independent of the token.
    fn kept(&self, mut result: Value) -> Value {
        if !self.revision.has_handshake() {
            result["ttlMs"] = json!(KEPT_MS);
            result["cacheScope"] = json!("public");
        }
        result
    }

    pub(crate) fn respond_with_server(&self) -> String {
        let mut result = json!({"capabilities": {"tools": {}}, "instructions": INSTRUCTIONS});
        if self.wanted == Wanted::Discover {
            result["supportedVersions"] = json!(REVISIONS.map(|it| it.0));
            return self.respond(self.kept(result));
        }
        result["protocolVersion"] = json!(self.revision.0);
        result["serverInfo"] = self.revision.known(server());
        self.respond(result)
    }
}

fn server() -> Value {
    json!({"name": "countersign", "title": "Countersign", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_returns_as_it_came() {
        for id in ["7", "1.0", "-0", "1e2", "123456789012345678901234567890", "0.1000000000000000055", r#""\u0041/\/""#]
        {
            let message = format!(r#"{{"method":"ping","id" : {id} ,"jsonrpc":"2.0"}}"#);
            let value = serde_json::from_str(&message).expect("JSON");
            let Ok(Message::Request(request)) = read(&HeaderMap::new(), &value, message.as_bytes()) else {
                panic!("{id} is refused")
            };
            assert_eq!(request.respond(json!({})), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            let refused = request.refuse("no").into_response();
            assert!(refused.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#)), "{refused}");
        }
    }
}
