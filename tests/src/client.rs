//! A small HTTP client that checks every response against the rules for all.

use std::fmt::Display;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Method};
use http_body_util::BodyExt;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tower::ServiceExt;

/// How calls reach the service.
#[derive(Debug, Clone)]
enum Way {
    Network(reqwest::Client),
    InProcess(Router, Duration),
}

/// A caller of the API: an origin and usually a token.
#[derive(Debug, Clone)]
pub struct Client {
    way: Way,
    base_url: String,
    token: Option<String>,
}

impl Client {
    /// A caller without a token. Each test creates its own: connections belong to the test's runtime.
    #[must_use]
    pub fn new(base_url: &str) -> Self {
        let http = reqwest::Client::builder()
            .no_proxy()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("an HTTP client");
        Self { way: Way::Network(http), base_url: base_url.to_owned(), token: None }
    }

    /// The same caller with another token.
    #[must_use]
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self.clone() }
    }

    /// The same caller without a token.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    /// The same caller of a service in this process, whose calls take so long to get there, without a network.
    #[must_use]
    pub fn in_process(&self, router: Router, takes: Duration) -> Self {
        Self { way: Way::InProcess(router, takes), ..self.clone() }
    }

    /// The same caller at another origin.
    #[must_use]
    pub fn at(&self, base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), ..self.clone() }
    }

    /// The API's origin.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The token that is sent.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// A call without body.
    pub fn call(&self, method: Method, path: impl Display) -> Request {
        let request = Request {
            way: self.way.clone(),
            method,
            url: format!("{}{path}", self.base_url),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
        };
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// A GET.
    pub fn get(&self, path: impl Display) -> Request {
        self.call(Method::GET, path)
    }

    /// A POST with a JSON body.
    pub fn post(&self, path: impl Display, body: &Value) -> Request {
        self.call(Method::POST, path).json(body)
    }

    /// A PATCH with a JSON body.
    pub fn patch(&self, path: impl Display, body: &Value) -> Request {
        self.call(Method::PATCH, path).json(body)
    }
}

/// A call under construction.
#[derive(Debug, Clone)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    way: Way,
    method: Method,
    url: String,
    query: Vec<String>,
    headers: Vec<(String, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

impl Request {
    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Adds a query parameter, percent-encoded.
    pub fn query(mut self, name: &str, value: impl Display) -> Self {
        self.query.push(format!("{}={}", encoded(name), encoded(&value.to_string())));
        self
    }

    /// Adds a piece of the query, unencoded.
    pub fn raw_query(mut self, piece: &str) -> Self {
        self.query.push(piece.to_owned());
        self
    }

    /// Adds a header, even if one with the name exists.
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Removes a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(existing, _)| existing != name);
        self
    }

    /// Sets `Idempotency-Key`.
    pub fn key(self, key: impl Display) -> Self {
        self.header("idempotency-key", key.to_string())
    }

    /// Sets `If-Match`.
    pub fn if_match(self, tag: impl Display) -> Self {
        self.header("if-match", tag.to_string())
    }

    /// Sets a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Sets a body and its content type.
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.without("content-type").header("content-type", content_type)
    }

    /// Sends the call and checks the [`Answer`].
    pub async fn send(self) -> Answer {
        self.try_send().await.unwrap_or_else(|error| panic!("no answer: {error:?}"))
    }

    /// Sends the call to a service that may be gone.
    pub async fn try_send(self) -> Result<Answer, axum::BoxError> {
        let separator = if self.query.is_empty() { "" } else { "?" };
        let url = format!("{}{separator}{}", self.url, self.query.join("&"));
        let name = format!("{} {url}", self.method);
        let response: http::Response<Body> = match self.way {
            Way::Network(client) => {
                let request = client.request(self.method, &url);
                let request = self.body.into_iter().fold(request, reqwest::RequestBuilder::body);
                let request =
                    self.headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
                http::Response::from(request.send().await?).map(Body::new)
            }
            Way::InProcess(router, takes) => {
                tokio::time::sleep(takes).await;
                let request = http::Request::builder().method(self.method).uri(&url);
                let request =
                    self.headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
                router.oneshot(request.body(Body::from(self.body.unwrap_or_default()))?).await?
            }
        };
        let (head, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes().to_vec();
        Ok(Answer::checked(name, head.status.as_u16(), head.headers, bytes))
    }
}

pub(crate) fn encoded(text: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, ENCODED).to_string()
}

/// A JSON response with request id (documentation aside); a refusal is a consistent envelope (contract, section 1).
#[derive(Debug, Clone)]
pub struct Answer {
    request: String,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The raw body.
    pub bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn checked(request: String, status: u16, headers: HeaderMap, bytes: Vec<u8>) -> Self {
        let answer = Self { request, status, headers, bytes };
        let request_id = answer.header("x-request-id");
        assert!(uuid::Uuid::try_parse(&request_id).is_ok(), "x-request-id is no uuid: {answer}");
        let is_page = answer.request.split(['?', ' ']).any(|part| part.ends_with("/docs")) && status < 400;
        let expected = if is_page { "text/html" } else { "application/json" };
        assert!(answer.header("content-type").starts_with(expected), "not {expected}: {answer}");
        if status >= 400 {
            answer.check_envelope(&request_id);
        }
        answer
    }

    fn check_envelope(&self, request_id: &str) {
        let body = self.json();
        let members = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
        assert_eq!(members(&body), Some(vec!["error".to_owned()]), "more or less than an envelope: {self}");
        let error = &body["error"];
        let mut expected = vec!["code", "message", "request_id", "status"];
        if error.get("errors").is_some() {
            expected.insert(1, "errors");
        }
        let mut found = members(error).unwrap_or_default();
        found.sort_unstable();
        assert_eq!(found, expected, "the envelope's members: {self}");
        assert_eq!(error["status"], self.status, "the envelope's status: {self}");
        assert_eq!(error["request_id"], request_id, "the envelope's request id: {self}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "no message: {self}");
        let code = match self.status {
            401 => "unauthenticated",
            403 => "forbidden",
            404 => "not_found",
            405 => "method_not_allowed",
            409 => "conflict",
            422 => "invalid_request",
            429 => "rate_limited",
            500 => "internal_error",
            other => panic!("the service never answers {other}: {self}"),
        };
        assert_eq!(error["code"], code, "code and status: {self}");
        let errors = error.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        crate::spec::assert_declared(&self.request, self.status, errors);
        for entry in error.get("errors").and_then(Value::as_array).into_iter().flatten() {
            assert!(entry["field"].is_string() && entry["code"].is_string(), "a field error: {self}");
        }
    }

    /// A header's value, or an empty text.
    #[must_use]
    pub fn header(&self, name: &str) -> String {
        let values: Vec<_> = self.headers.get_all(name).iter().collect();
        assert!(values.len() <= 1, "{name} twice: {:?}", self.headers);
        values.first().map(|value| value.to_str().expect("a header of text").to_owned()).unwrap_or_default()
    }

    /// The request id, as in the audit row and the log line.
    #[must_use]
    pub fn request_id(&self) -> String {
        self.header("x-request-id")
    }

    /// The entity tag.
    #[must_use]
    pub fn etag(&self) -> String {
        let tag = self.header("etag");
        assert!(tag.len() > 2 && tag.ends_with('"'), "no ETag: {self}");
        tag
    }

    /// Whether it is a replay.
    #[must_use]
    pub fn is_replay(&self) -> bool {
        match self.header("idempotent-replayed").as_str() {
            "" => false,
            "true" => true,
            other => panic!("idempotent-replayed: {other}"),
        }
    }

    /// The body.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// A success's body.
    #[track_caller]
    #[allow(clippy::must_use_candidate, reason = "often the assertion is all that is wanted")]
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        self.json()
    }

    /// The `id` of a success's record.
    #[must_use]
    #[track_caller]
    pub fn id(&self, status: u16) -> String {
        self.ok(status)["id"].as_str().unwrap_or_else(|| panic!("no id: {self}")).to_owned()
    }

    /// Asserts a refusal without field errors.
    #[track_caller]
    pub fn refused(&self, status: u16) {
        assert_eq!(self.status, status, "{self}");
        assert!(self.json()["error"].get("errors").is_none(), "field errors where none belong: {self}");
    }

    /// Asserts a refusal with exactly these field errors, in any order.
    #[track_caller]
    pub fn refused_for(&self, status: u16, errors: &[(&str, &str)]) {
        assert_eq!(self.status, status, "expected {errors:?} in {self}");
        let mut expected: Vec<(String, String)> =
            errors.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect();
        expected.sort();
        assert_eq!(self.errors(), expected, "{self}");
    }

    /// The field errors, sorted.
    #[must_use]
    pub fn errors(&self) -> Vec<(String, String)> {
        let body = self.json();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut errors: Vec<(String, String)> = body["error"]["errors"]
            .as_array()
            .map(|entries| entries.iter().map(|entry| (text(&entry["field"]), text(&entry["code"]))).collect())
            .unwrap_or_default();
        errors.sort();
        errors
    }

    /// The body with its request id blanked, to compare answers.
    #[must_use]
    pub fn without_request_id(&self) -> String {
        String::from_utf8_lossy(&self.bytes).replace(&self.request_id(), "REQUEST-ID")
    }
}

impl Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.bytes);
        write!(f, "{} → {} {}\n{:?}", self.request, self.status, body, self.headers)
    }
}
