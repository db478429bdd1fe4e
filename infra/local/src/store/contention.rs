//! Makes transactions conflict in front of the embedded store, which runs calls one after another and never conflicts.
//!
//! As on AWS, a transaction holds its items: others are canceled, single writes refused. So tests show contention. Where
//! [partitions](Partitions) are bounded, writes beyond what theirs take are throttled as well.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{StatusCode, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use shared::store::keys::{PARTITION, SORT};
use tokio::time::Instant;

use super::partitions::{Partitions, units};

/// Shortest transaction, about as much longer than a write as on AWS: without it, calls would hardly ever meet.
const TRANSACTION_TIME: Duration = Duration::from_millis(5);

/// Shortest call otherwise. Calls that begin side by side then also end so, as over a network: the waits of a page are the
/// longest chain of its calls, and not the order in which a fast store happens to answer them.
const CALL_TIME: Duration = Duration::from_millis(1);

/// DynamoDB's largest call.
const CALL_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ItemKey {
    table: String,
    partition: String,
    sort: String,
}

/// Items of running transactions, each with the transaction's request token.
type Held = Arc<Mutex<HashMap<ItemKey, String>>>;

/// The items that a store's running transactions hold, however their calls come, and what its partitions still take.
#[derive(Debug, Clone, Default)]
pub struct Contention {
    held: Held,
    partitions: Option<Arc<Partitions>>,
    is_time_simulated: bool,
}

impl Contention {
    /// Conflicts, and partitions that take so much.
    #[must_use]
    pub fn on(partitions: Arc<Partitions>) -> Self {
        Self { partitions: Some(partitions), ..Self::default() }
    }

    /// For a runtime whose clock is paused: its time does not pass while the store works, which does so on a thread of its
    /// own. So calls take just what this makes them take.
    #[must_use]
    pub fn in_simulated_time(self) -> Self {
        Self { is_time_simulated: true, ..self }
    }

    /// What the store answers, or that another transaction is in the way or a partition is spent. The answer releases the
    /// items.
    pub(super) async fn around<T>(
        &self,
        operation: &str,
        body: &[u8],
        answered: impl Future<Output = T>,
    ) -> Result<T, Value> {
        let write = Write::of(operation, body);
        let hold = match self.admitted(write) {
            Ok(hold) => hold,
            Err(refusal) => {
                tokio::time::sleep(CALL_TIME).await;
                return Err(refusal);
            }
        };
        let shortest = if hold.is_some() { TRANSACTION_TIME } else { CALL_TIME };
        let answered = async {
            let _still = self.is_time_simulated.then(TimeStandsStill::begin);
            answered.await
        };
        let (answer, ()) = tokio::join!(answered, tokio::time::sleep(shortest));
        drop(hold);
        Ok(answer)
    }

    /// Holds the items of a write, if it is a transaction.
    ///
    /// # Errors
    /// The refusal, if a partition is spent or a running transaction holds an item.
    fn admitted(&self, write: Option<Write>) -> Result<Option<Hold>, Value> {
        let Some(write) = write else { return Ok(None) };
        if let Some(partitions) = &self.partitions {
            write.taken(partitions)?;
        }
        write.admitted(&self.held)
    }
}

#[derive(Debug, Clone)]
struct Proxy {
    /// The store's own address.
    store: Uri,
    client: Client<HttpConnector, Full<Bytes>>,
    contention: Contention,
}

pub(super) fn before(store: Uri, contention: Contention) -> Router {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    Router::new().fallback(answer).with_state(Proxy { store, client, contention })
}

async fn answer(State(proxy): State<Proxy>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, CALL_BYTES_MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
    let mut request = Request::from_parts(head, Full::new(body.clone()));
    *request.uri_mut() = proxy.store.clone();
    let answered = async { proxy.client.request(request).await };
    match proxy.contention.around(&operation, &body, answered).await {
        Ok(Ok(answer)) => answer.map(Body::new),
        Ok(Err(_)) => StatusCode::BAD_GATEWAY.into_response(),
        Err(refusal) => refused(&refusal),
    }
}

#[derive(Debug)]
enum Write {
    /// Has its request token.
    Transaction(Vec<Part>, String),
    One(Part),
}

/// The write of one item.
#[derive(Debug)]
struct Part {
    key: ItemKey,
    units: u32,
}

impl Write {
    /// `None` for a call that doesn't write, or that the store will refuse.
    fn of(operation: &str, body: &[u8]) -> Option<Self> {
        let is_transaction = operation == "TransactWriteItems";
        if !is_transaction && !["PutItem", "UpdateItem", "DeleteItem"].contains(&operation) {
            return None;
        }
        let call: Value = serde_json::from_slice(body).ok()?;
        if !is_transaction {
            return Some(Self::One(Part::of(&call)?));
        }
        let writes = call["TransactItems"].as_array()?.iter();
        let parts = writes.map(|write| Part::of(write.as_object()?.values().next()?)).collect::<Option<_>>()?;
        Some(Self::Transaction(parts, call["ClientRequestToken"].as_str().unwrap_or_default().to_owned()))
    }

    /// Takes its units of the partitions.
    ///
    /// # Errors
    /// The refusal, if a partition is spent.
    fn taken(&self, partitions: &Partitions) -> Result<(), Value> {
        let now = Instant::now();
        match self {
            Self::One(Part { key, units }) => partitions
                .take([(key.partition.as_str(), *units)].into_iter(), now)
                .map_err(|_| error("ProvisionedThroughputExceededException", THROTTLED)),
            Self::Transaction(parts, _) => partitions
                // A transaction writes each item twice.
                .take(parts.iter().map(|Part { key, units }| (key.partition.as_str(), 2 * units)), now)
                .map_err(|throttled| {
                    canceled(throttled.into_iter().map(|is_so| is_so.then_some(("ThrottlingError", THROTTLED))))
                }),
        }
    }

    /// Holds a transaction's items; a single write holds none.
    ///
    /// # Errors
    /// The refusal, if a running transaction holds an item.
    fn admitted(self, held: &Held) -> Result<Option<Hold>, Value> {
        let mut items = lock(held);
        match self {
            Self::One(Part { key, .. }) if items.contains_key(&key) => {
                Err(error("TransactionConflictException", ONGOING))
            }
            Self::One(_) => Ok(None),
            Self::Transaction(parts, token) => {
                let keys: Vec<ItemKey> = parts.into_iter().map(|part| part.key).collect();
                let holders: Vec<Option<&String>> = keys.iter().map(|key| items.get(key)).collect();
                if holders.iter().flatten().any(|holder| !token.is_empty() && **holder == token) {
                    return Err(in_progress());
                }
                if holders.iter().any(Option::is_some) {
                    let conflict = |holder: &Option<_>| holder.map(|_| ("TransactionConflict", ONGOING));
                    return Err(canceled(holders.iter().map(conflict)));
                }
                items.extend(keys.iter().map(|key| (key.clone(), token.clone())));
                drop(items);
                Ok(Some(Hold { keys, held: held.clone() }))
            }
        }
    }
}

impl Part {
    /// Of a single write, or of one within a transaction.
    fn of(write: &Value) -> Option<Self> {
        let item = write.get("Key").or_else(|| write.get("Item"))?;
        let text = |name: &str| Some(item.get(name)?.get("S")?.as_str()?.to_owned());
        let table = write.get("TableName")?.as_str()?.to_owned();
        Some(Self { key: ItemKey { table, partition: text(PARTITION)?, sort: text(SORT)? }, units: units(write) })
    }
}

/// A paused clock doesn't advance until this is dropped, as `tokio` never advances it during blocking work.
struct TimeStandsStill(#[expect(dead_code, reason = "ends the blocking work when dropped")] Sender<()>);

impl TimeStandsStill {
    fn begin() -> Self {
        let (end, ended) = channel();
        tokio::task::spawn_blocking(move || ended.recv());
        Self(end)
    }
}

/// Holds a transaction's items until dropped.
#[derive(Debug)]
struct Hold {
    keys: Vec<ItemKey>,
    held: Held,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut items = lock(&self.held);
        for key in &self.keys {
            items.remove(key);
        }
    }
}

fn lock(held: &Held) -> MutexGuard<'_, HashMap<ItemKey, String>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// DynamoDB's message for a held item.
const ONGOING: &str = "Transaction is ongoing for the item";
const THROTTLED: &str = "Throughput exceeds the current capacity of your table or index";

/// The answer to a transaction that is repeated while it is under way.
fn in_progress() -> Value {
    error("TransactionInProgressException", "The transaction with the given request token is already in progress.")
}

fn error(code: &str, message: &str) -> Value {
    json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message})
}

/// What each item of a canceled transaction is refused for, if it is.
fn canceled(refusals: impl Iterator<Item = Option<(&'static str, &'static str)>>) -> Value {
    let reason = |refusal| match refusal {
        Some((code, message)) => json!({"Code": code, "Message": message}),
        None => json!({"Code": "None"}),
    };
    let reasons: Vec<Value> = refusals.map(reason).collect();
    let codes: Vec<&str> = reasons.iter().filter_map(|reason| reason["Code"].as_str()).collect();
    let message =
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes.join(", "));
    let kind = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
    json!({"__type": kind, "Message": message, "CancellationReasons": reasons})
}

fn refused(refusal: &Value) -> Response {
    let content_type = [(CONTENT_TYPE, "application/x-amz-json-1.0")];
    (StatusCode::BAD_REQUEST, content_type, refusal.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(sort: &str) -> Value {
        json!({PARTITION: {"S": "p"}, SORT: {"S": sort}, "n": {"N": "1"}})
    }

    fn transaction(put: &str, checked: &str, token: &str) -> Option<Write> {
        let items = json!([
            {"Put": {"TableName": "t", "Item": item(put)}},
            {"ConditionCheck": {"TableName": "t", "Key": item(checked), "ConditionExpression": "…"}},
        ]);
        let call = json!({"TransactItems": items, "ClientRequestToken": token});
        Write::of("TransactWriteItems", call.to_string().as_bytes())
    }

    fn one(operation: &str, call: &Value) -> Option<Write> {
        Write::of(operation, call.to_string().as_bytes())
    }

    #[test]
    fn a_transaction_holds_what_it_writes_and_checks_until_it_ends() {
        let held = Held::default();
        let admitted = |write: Option<Write>| write.unwrap().admitted(&held);
        let first = admitted(transaction("a", "b", "1")).unwrap();
        for (put, checked, codes) in
            [("a", "c", ["TransactionConflict", "None"]), ("c", "b", ["None", "TransactionConflict"])]
        {
            let refusal = admitted(transaction(put, checked, "2")).unwrap_err();
            let told = refusal["CancellationReasons"].as_array().unwrap().iter().map(|reason| &reason["Code"]);
            assert!(told.eq(codes), "{refusal}");
        }
        let repeated = admitted(transaction("a", "b", "1")).unwrap_err();
        assert!(repeated["__type"].as_str().unwrap().ends_with("TransactionInProgressException"), "{repeated}");
        for (operation, call) in [
            ("PutItem", json!({"TableName": "t", "Item": item("a")})),
            ("UpdateItem", json!({"TableName": "t", "Key": item("b")})),
            ("DeleteItem", json!({"TableName": "t", "Key": item("b")})),
        ] {
            let refusal = admitted(one(operation, &call)).unwrap_err();
            assert!(refusal["__type"].as_str().unwrap().ends_with("TransactionConflictException"), "{refusal}");
        }
        let other = admitted(transaction("c", "d", "3")).unwrap();
        assert!(other.is_some(), "another item");
        let elsewhere = json!({"TableName": "another", "Item": item("a")});
        assert!(admitted(one("PutItem", &elsewhere)).unwrap().is_none(), "another table");
        assert!(one("GetItem", &json!({"TableName": "t", "Key": item("a")})).is_none(), "reads go on");
        drop(first);
        assert!(admitted(transaction("a", "b", "2")).unwrap().is_some());
    }
}
