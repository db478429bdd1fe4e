//! A proxy between the service and `DynamoDB` that counts calls and breaks them on purpose.
//!
//! The proxy causes what a real table does under load: conflicts, throttling, lost responses, stale reads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::background::Background;
use crate::wait::PATIENCE;

/// What happens to a call instead of passing on.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// A transaction holds an item: `TransactionCanceledException`, for one call `TransactionConflictException`.
    Conflict,
    /// `ThrottlingException`: the account's rate.
    Throttling,
    /// `ProvisionedThroughputExceededException`: a hot partition.
    ThroughputExceeded,
    /// `TransactionCanceledException` of a hot partition: its reasons name the items that contain the rule's texts.
    HotPartition,
    /// `InternalServerError` with status 500.
    ServerError,
    /// The call takes effect, but the connection breaks before its response arrives.
    LostResponse,
    /// Takes effect, but answers a [`Fault::Conflict`], as if an abandoned attempt landed after its replacement.
    LateCommit,
    /// The call is delayed, and takes effect even if its sender no longer waits.
    Delay(Duration),
    /// The call waits until the test ends the fault.
    Held,
    /// The first response that the same call ever got: a read overtaken by later writes.
    Stale,
    /// Does only a part: `BatchGetItem` leaves all keys but the first, `Query` ends its page after one row.
    Partial,
}

/// Selects the calls that a fault hits.
#[derive(Debug, Clone)]
#[must_use = "a rule does nothing until it is injected"]
pub struct Rule {
    target: &'static str,
    needles: Vec<String>,
    every: usize,
    times: usize,
}

impl Rule {
    /// All calls of an operation of `DynamoDB`, such as `TransactWriteItems`.
    pub fn on(target: &'static str) -> Self {
        Self { target, needles: Vec::new(), every: 1, times: usize::MAX }
    }

    /// Only calls whose body contains this text.
    pub fn containing(mut self, needle: impl std::fmt::Display) -> Self {
        self.needles.push(needle.to_string());
        self
    }

    /// Only every n-th call.
    pub fn every(mut self, n: usize) -> Self {
        self.every = n;
        self
    }

    /// Only the first calls.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    fn fits(&self, target: &str, body: &str) -> bool {
        self.target == target && self.needles.iter().all(|needle| body.contains(needle.as_str()))
    }
}

const POLL: Duration = Duration::from_millis(2);

/// An active rule.
#[derive(Debug, Clone)]
pub struct Injection {
    state: Arc<Mutex<State>>,
    index: usize,
}

impl Injection {
    /// How many calls the fault has hit.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.state).rules[self.index].hits
    }

    /// Ends the fault.
    pub fn end(&self) {
        lock(&self.state).rules[self.index].is_ended = true;
    }

    /// Waits until the fault has hit this many calls.
    pub async fn wait_for_hits(&self, hits: usize) {
        self.wait_until("hit", |rule| rule.hits >= hits).await;
    }

    /// Waits until the store has answered this many hit calls.
    pub async fn passed(&self, calls: usize) {
        self.wait_until("passed on", |rule| rule.passed >= calls).await;
    }

    async fn wait_until(&self, what: &str, is_so: impl Fn(&ActiveRule) -> bool) {
        let wait = async {
            while !is_so(&lock(&self.state).rules[self.index]) {
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("too few calls are {what}: {self:?}"));
    }
}

/// The proxy's traffic, as a table's bill counts it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    /// Calls per operation of `DynamoDB`.
    pub calls: BTreeMap<String, u64>,
    /// Read capacity units, as reported by the store.
    pub read_units: f64,
    /// Write capacity units, as reported by the store.
    pub write_units: f64,
    /// The items of the largest transaction.
    pub transaction_items_max: usize,
}

impl Traffic {
    /// All calls: round trips between service and store.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.calls.values().sum()
    }

    /// The calls of one operation of `DynamoDB`.
    #[must_use]
    pub fn calls_of(&self, target: &str) -> u64 {
        self.calls.get(target).copied().unwrap_or_default()
    }

    fn count_items(&mut self, call: &Value) {
        let items = call["TransactItems"].as_array().map_or(0, Vec::len);
        self.transaction_items_max = self.transaction_items_max.max(items);
    }

    fn count(&mut self, target: &str, answer: &Value) {
        *self.calls.entry(target.to_owned()).or_default() += 1;
        let consumed = &answer["ConsumedCapacity"];
        let is_read = matches!(target, "GetItem" | "BatchGetItem" | "TransactGetItems" | "Query" | "Scan");
        let entries = consumed.as_array().map_or_else(|| std::slice::from_ref(consumed), Vec::as_slice);
        for entry in entries {
            let units = |name: &str| entry[name].as_f64();
            let (read, write) = match (units("ReadCapacityUnits"), units("WriteCapacityUnits"), units("CapacityUnits"))
            {
                (None, None, Some(all)) if is_read => (all, 0.0),
                (None, None, Some(all)) => (0.0, all),
                (read, write, _) => (read.unwrap_or_default(), write.unwrap_or_default()),
            };
            self.read_units += read;
            self.write_units += write;
        }
    }
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<ActiveRule>,
    traffic: Traffic,
    first_answers: Vec<(String, Value, Bytes)>,
}

#[derive(Debug)]
struct ActiveRule {
    rule: Rule,
    fault: Fault,
    seen: usize,
    hits: usize,
    passed: usize,
    is_ended: bool,
}

impl ActiveRule {
    fn new(rule: Rule, fault: Fault) -> Self {
        Self { rule, fault, seen: 0, hits: 0, passed: 0, is_ended: false }
    }
}

impl State {
    fn fault_for(&mut self, target: &str, body: &str) -> Option<(Fault, usize)> {
        for (index, active) in self.rules.iter_mut().enumerate() {
            if active.is_ended || active.hits >= active.rule.times || !active.rule.fits(target, body) {
                continue;
            }
            active.seen += 1;
            if active.seen.is_multiple_of(active.rule.every) {
                active.hits += 1;
                return Some((active.fault, index));
            }
        }
        None
    }

    fn first_answer(&mut self, target: &str, call: &Value, answer: &Bytes) -> Bytes {
        let known = self
            .first_answers
            .iter()
            .find(|(known_target, known_call, _)| known_target == target && known_call == call);
        if let Some((_, _, first)) = known {
            return first.clone();
        }
        self.first_answers.push((target.to_owned(), call.clone(), answer.clone()));
        answer.clone()
    }
}

/// The proxy. Dropping it stops it.
#[derive(Debug)]
pub struct Faults {
    _server: Background,
    url: String,
    state: Arc<Mutex<State>>,
}

impl Faults {
    /// A proxy before an endpoint, which breaks nothing yet.
    #[must_use]
    pub fn before(upstream: &str) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let proxy = Proxy { upstream: upstream.to_owned(), state: Arc::clone(&state), http: client() };
        let (server, url) = Background::start("faults", async move |announce, mut stop| {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
            let address = listener.local_addr().expect("the port just taken");
            announce.send(format!("http://{address}")).expect("somebody waits for the proxy");
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    _ = &mut stop => return,
                };
                // The caller retries a connection that broke before it was accepted.
                let Ok((socket, _)) = accepted else { continue };
                // Otherwise a response in several parts waits 40 ms for the acknowledgment of its first one.
                let _ = socket.set_nodelay(true);
                let proxy = proxy.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| proxy.clone().answer(request));
                    // Lost responses end the connection with an error on purpose.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
        Self { _server: server, url, state }
    }

    /// The proxy's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Breaks calls that fit a rule. Earlier rules win.
    #[allow(clippy::must_use_candidate, reason = "a fault need not be counted or ended")]
    pub fn inject(&self, rule: Rule, fault: Fault) -> Injection {
        let mut state = lock(&self.state);
        state.rules.push(ActiveRule::new(rule, fault));
        Injection { state: Arc::clone(&self.state), index: state.rules.len() - 1 }
    }

    /// Ends all faults.
    pub fn end_all(&self) {
        lock(&self.state).rules.iter_mut().for_each(|rule| rule.is_ended = true);
    }

    /// The traffic since the last call.
    #[must_use]
    pub fn take_traffic(&self) -> Traffic {
        std::mem::take(&mut lock(&self.state).traffic)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().http1_only().build().expect("an HTTP client")
}

#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is broken on purpose")
    }
}

impl std::error::Error for Broken {}

#[derive(Debug, Clone)]
struct Proxy {
    upstream: String,
    state: Arc<Mutex<State>>,
    http: reqwest::Client,
}

impl Proxy {
    async fn answer(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Broken> {
        let headers = request.headers().clone();
        let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
        let target = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body = request.into_body().collect().await.map_err(|_| Broken)?.to_bytes();
        // In its own task, passes the call on even if its sender stops waiting.
        tokio::spawn(self.answer_call(headers, target, body)).await.map_err(|_| Broken)?
    }

    async fn answer_call(
        self,
        headers: HeaderMap,
        target: String,
        body: Bytes,
    ) -> Result<Response<Full<Bytes>>, Broken> {
        let text = String::from_utf8_lossy(&body).into_owned();
        let call: Value = serde_json::from_str(&text).unwrap_or_default();
        lock(&self.state).traffic.count_items(&call);
        let (fault, rule) = lock(&self.state).fault_for(&target, &text).unzip();

        let needles = rule.map(|rule| lock(&self.state).rules[rule].rule.needles.clone()).unwrap_or_default();
        if let Some(refusal) = fault.and_then(|fault| refusal(fault, &target, &call, &needles)) {
            lock(&self.state).traffic.count(&target, &Value::Null);
            return Ok(refusal);
        }
        match (fault, rule) {
            (Some(Fault::Delay(delay)), _) => tokio::time::sleep(delay).await,
            (Some(Fault::Held), Some(rule)) => {
                while !lock(&self.state).rules[rule].is_ended {
                    tokio::time::sleep(POLL).await;
                }
            }
            _ => {}
        }
        let (body, unprocessed) = match fault {
            Some(Fault::Partial) => in_part(&target, call.clone()),
            _ => (body, None),
        };
        let (status, mut headers, mut answer) = self.pass_on(&headers, body).await.map_err(|_| Broken)?;
        if let Some(rule) = rule {
            lock(&self.state).rules[rule].passed += 1;
        }
        if let Some(unprocessed) = unprocessed {
            let mut whole: Value = serde_json::from_slice(&answer).unwrap_or_default();
            whole["UnprocessedKeys"] = unprocessed;
            answer = whole.to_string().into();
            headers.remove("x-amz-crc32");
        }
        lock(&self.state).traffic.count(&target, &serde_json::from_slice(&answer).unwrap_or_default());
        match fault {
            Some(Fault::LostResponse) => return Err(Broken),
            Some(Fault::LateCommit) if status.is_success() => return Ok(conflict_response(&target, &call)),
            _ => {}
        }
        let first = lock(&self.state).first_answer(&target, &call, &answer);
        if let Some(Fault::Stale) = fault {
            // Omits the checksum, which fits only the replaced response.
            return Ok(response(StatusCode::OK, first));
        }
        let mut response = response(status, answer);
        if let Some(checksum) = headers.get("x-amz-crc32") {
            response.headers_mut().insert("x-amz-crc32", checksum.clone());
        }
        Ok(response)
    }

    async fn pass_on(&self, headers: &HeaderMap, body: Bytes) -> reqwest::Result<(StatusCode, HeaderMap, Bytes)> {
        let mut request = self.http.post(&self.upstream).body(body);
        for (name, value) in headers {
            if !matches!(name.as_str(), "host" | "connection" | "content-length" | "expect" | "transfer-encoding") {
                request = request.header(name, value);
            }
        }
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok((status, headers, response.bytes().await?))
    }
}

/// A fault's error; none if it passes the call on.
fn refusal(fault: Fault, target: &str, call: &Value, needles: &[String]) -> Option<Response<Full<Bytes>>> {
    let (status, body) = match fault {
        Fault::Conflict => return Some(conflict_response(target, call)),
        Fault::Throttling => {
            let message = "Throughput exceeds the current throughput limit for your account.";
            (StatusCode::BAD_REQUEST, error("ThrottlingException", message))
        }
        Fault::ThroughputExceeded => {
            let message = "The level of configured provisioned throughput for the table was exceeded.";
            (StatusCode::BAD_REQUEST, error("ProvisionedThroughputExceededException", message))
        }
        Fault::HotPartition => {
            let is_named = |item: &Value| needles.iter().all(|needle| item.to_string().contains(needle.as_str()));
            let items = call["TransactItems"].as_array().into_iter().flatten();
            let code = |item: &Value| if is_named(item) { "ThrottlingError" } else { "None" };
            (StatusCode::BAD_REQUEST, canceled(items.map(|item| json!({"Code": code(item)}))))
        }
        Fault::ServerError => {
            (StatusCode::INTERNAL_SERVER_ERROR, error("InternalServerError", "The request processing has failed."))
        }
        Fault::LostResponse | Fault::LateCommit | Fault::Delay(_) | Fault::Held | Fault::Stale | Fault::Partial => {
            return None;
        }
    };
    Some(response(status, body.to_string().into()))
}

fn error(name: &str, message: &str) -> Value {
    json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{name}"), "message": message})
}

fn conflict_response(target: &str, call: &Value) -> Response<Full<Bytes>> {
    response(StatusCode::BAD_REQUEST, conflict(target, call).to_string().into())
}

fn in_part(target: &str, mut call: Value) -> (Bytes, Option<Value>) {
    if target == "Query" {
        call["Limit"] = json!(1);
        return (call.to_string().into(), None);
    }
    let mut left = call["RequestItems"].clone();
    for (table, keys) in call["RequestItems"].as_object_mut().into_iter().flatten() {
        let all = keys["Keys"].as_array().cloned().unwrap_or_default();
        let (first, rest) = all.split_at(all.len().min(1));
        left[table]["Keys"] = json!(rest);
        keys["Keys"] = json!(first);
    }
    let is_anything_left = left.as_object().is_some_and(|tables| tables.values().any(|keys| keys["Keys"] != json!([])));
    (call.to_string().into(), is_anything_left.then_some(left))
}

/// A conflict on a transaction's last item, or on a single call's item.
fn conflict(target: &str, call: &Value) -> Value {
    if target != "TransactWriteItems" && target != "TransactGetItems" {
        return error("TransactionConflictException", "Transaction is ongoing for the item");
    }
    let items = call["TransactItems"].as_array().map_or(1, Vec::len);
    canceled((1..=items).map(|item| {
        if item == items {
            json!({"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"})
        } else {
            json!({"Code": "None"})
        }
    }))
}

fn canceled(reasons: impl Iterator<Item = Value>) -> Value {
    let reasons: Vec<Value> = reasons.collect();
    let codes: Vec<&str> = reasons.iter().filter_map(|reason| reason["Code"].as_str()).collect();
    let message =
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes.join(", "));
    let mut body = error("TransactionCanceledException", &message);
    body["Message"] = body["message"].take();
    if let Some(members) = body.as_object_mut() {
        members.remove("message");
        members.insert("CancellationReasons".to_owned(), Value::Array(reasons));
    }
    body
}

fn response(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/x-amz-json-1.0"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_fits_what_it_names_and_ends() {
        let mut state = State::default();
        let rule = Rule::on("PutItem").containing("a").containing("b").every(2).times(2);
        state.rules.push(ActiveRule::new(rule, Fault::Conflict));
        let befalls = |state: &mut State, target, body| state.fault_for(target, body).is_some();
        assert!(!befalls(&mut state, "GetItem", "ab"));
        assert!(!befalls(&mut state, "PutItem", "a"));
        let hits: Vec<bool> = (0..6).map(|_| befalls(&mut state, "PutItem", "ab")).collect();
        assert_eq!(hits, [false, true, false, true, false, false]);
    }

    #[test]
    fn capacity_is_summed_as_reads_and_writes() {
        let mut traffic = Traffic::default();
        traffic.count("GetItem", &json!({"ConsumedCapacity": {"CapacityUnits": 1.0}}));
        traffic.count("PutItem", &json!({"ConsumedCapacity": {"CapacityUnits": 2.0}}));
        let both = json!({"CapacityUnits": 7.0, "ReadCapacityUnits": 3.0, "WriteCapacityUnits": 4.0});
        traffic.count("TransactWriteItems", &json!({"ConsumedCapacity": [both]}));
        traffic.count("Query", &json!({}));
        assert_eq!((traffic.read_units, traffic.write_units, traffic.round_trips()), (4.0, 6.0, 4));
    }
}
