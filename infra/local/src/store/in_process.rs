//! Answers this process's calls of the embedded store without a socket.
//!
//! Over HTTP, dynoxide reads each call's JSON three times, on one thread, and each transaction passes over all those of the
//! last ten minutes. Here a call is read once, beside others. Rare calls, and other processes, take the port.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::RuntimeComponents;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use dynoxide::actions::transact_write_items::TransactWriteItemsRequest;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::limits;

use super::contention::{self, Contention};

/// How long a transaction's answer is kept. The SDK repeats a request token within one call only.
const ANSWERS_KEPT: Duration = limits::AWS_CALL_TIMEOUT.saturating_mul(2);

/// The store's database, until the store is closed.
#[derive(Clone)]
pub(super) struct InProcess(Arc<Inner>);

struct Inner {
    database: RwLock<Option<Database>>,
    transactions: Mutex<Transactions>,
    contention: Option<Contention>,
}

/// What the database said: JSON, or an error as JSON with its status.
type Answer = Result<Vec<u8>, Refusal>;

struct Refusal {
    status: u16,
    body: String,
}

impl From<DynoxideError> for Refusal {
    fn from(error: DynoxideError) -> Self {
        Self { status: error.status_code(), body: error.to_json() }
    }
}

impl InProcess {
    pub(super) fn new(database: Database, contention: Option<Contention>) -> Self {
        let (database, transactions) = (RwLock::new(Some(database)), Mutex::default());
        Self(Arc::new(Inner { database, transactions, contention }))
    }

    /// A client that answers what it can, and sends the rest on through `port`.
    pub(super) fn client(&self, port: SharedHttpClient) -> SharedHttpClient {
        SharedHttpClient::new(Client { store: self.clone(), port })
    }

    /// Waits for calls that are under way; later ones fail.
    pub(super) fn close(&self) {
        *self.0.database.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Blocks until the database has answered. None once the store is closed.
    fn answer(&self, operation: Operation, body: &[u8]) -> Option<Answer> {
        let database = self.0.database.read().unwrap_or_else(PoisonError::into_inner);
        Some(operation.answer(database.as_ref()?, body, &self.0.transactions))
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}

/// The calls that a function makes again and again.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Get,
    BatchGet,
    Query,
    Put,
    Update,
    Delete,
    Transact,
}

impl Operation {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "GetItem" => Self::Get,
            "BatchGetItem" => Self::BatchGet,
            "Query" => Self::Query,
            "PutItem" => Self::Put,
            "UpdateItem" => Self::Update,
            "DeleteItem" => Self::Delete,
            "TransactWriteItems" => Self::Transact,
            _ => return None,
        })
    }

    fn answer(self, database: &Database, body: &[u8], transactions: &Mutex<Transactions>) -> Answer {
        match self {
            Self::Get => written(&database.get_item(read(body)?)?),
            Self::BatchGet => written(&database.batch_get_item(read(body)?)?),
            Self::Query => written(&database.query(read(body)?)?),
            Self::Put => written(&database.put_item(read(body)?)?),
            Self::Update => written(&database.update_item(read(body)?)?),
            Self::Delete => written(&database.delete_item(read(body)?)?),
            Self::Transact => {
                let mut call: TransactWriteItemsRequest = read(body)?;
                let Some(token) = call.client_request_token.take() else {
                    return written(&database.transact_write_items(call)?);
                };
                once(transactions, &token, || written(&database.transact_write_items(call)?))
            }
        }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, DynoxideError> {
    serde_json::from_slice(body).map_err(|error| DynoxideError::SerializationException(error.to_string()))
}

fn written(answer: &impl Serialize) -> Answer {
    serde_json::to_vec(answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()).into())
}

/// Recent transactions by their request tokens, so that one that is repeated takes effect once.
#[derive(Default)]
struct Transactions {
    /// No answer while one is under way.
    answers: HashMap<String, Option<Vec<u8>>>,
    /// In the order in which they began.
    began: VecDeque<(Instant, String)>,
}

fn once(transactions: &Mutex<Transactions>, token: &str, transact: impl FnOnce() -> Answer) -> Answer {
    let mut recent = lock(transactions);
    while recent.began.front().is_some_and(|(at, _)| at.elapsed() > ANSWERS_KEPT) {
        let Some((_, token)) = recent.began.pop_front() else { break };
        recent.answers.remove(&token);
    }
    match recent.answers.get(token) {
        Some(Some(answer)) => return Ok(answer.clone()),
        Some(None) => return Err(Refusal { status: 400, body: contention::in_progress().to_string() }),
        None => {}
    }
    recent.answers.insert(token.to_owned(), None);
    recent.began.push_back((Instant::now(), token.to_owned()));
    drop(recent);
    let answer = transact();
    let mut recent = lock(transactions);
    match &answer {
        Ok(answer) => drop(recent.answers.insert(token.to_owned(), Some(answer.clone()))),
        // Nothing took effect, so that the same call may be tried again.
        Err(_) => drop(recent.answers.remove(token)),
    }
    answer
}

fn lock(transactions: &Mutex<Transactions>) -> MutexGuard<'_, Transactions> {
    transactions.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Client {
    store: InProcess,
    port: SharedHttpClient,
}

impl HttpClient for Client {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let port = self.port.http_connector(settings, components);
        SharedHttpConnector::new(Connector { store: self.store.clone(), port })
    }
}

#[derive(Debug)]
struct Connector {
    store: InProcess,
    port: SharedHttpConnector,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let name = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body = request.body().bytes().map(Bytes::copy_from_slice);
        let (Some(operation), Some(body)) = (Operation::of(&name), body) else { return self.port.call(request) };
        let store = self.store.clone();
        HttpConnectorFuture::new(async move {
            let contention = store.0.contention.clone();
            let asked = body.clone();
            // The database blocks, and what has begun there ends, even if nobody waits for it any more.
            let answered = async move {
                tokio::task::spawn_blocking(move || store.answer(operation, &asked)).await.ok().flatten()
            };
            let answered = match contention {
                Some(contention) => match contention.around(&name, &body, answered).await {
                    Ok(answered) => answered,
                    Err(refusal) => Some(Err(Refusal { status: 400, body: refusal.to_string() })),
                },
                None => answered.await,
            };
            match answered {
                Some(Ok(body)) => response(200, body.into()),
                Some(Err(Refusal { status, body })) => response(status, body.into()),
                None => Err(ConnectorError::other("the store is closed".into(), None)),
            }
        })
    }
}

fn response(status: u16, body: SdkBody) -> Result<HttpResponse, ConnectorError> {
    let status = StatusCode::try_from(status).map_err(|error| ConnectorError::other(error.into(), None))?;
    Ok(HttpResponse::new(status, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_that_is_repeated_takes_effect_once_and_one_that_failed_may_be_tried_again() {
        let (transactions, mut effects) = (Mutex::default(), 0);
        let refusal = || Refusal { status: 400, body: "{}".to_owned() };
        assert!(once(&transactions, "a", || Err(refusal())).is_err());
        for _ in 0..2 {
            let answer = once(&transactions, "a", || {
                effects += 1;
                let meanwhile = once(&transactions, "a", || Ok(Vec::new())).err().unwrap();
                assert!(meanwhile.body.contains("TransactionInProgressException"), "{}", meanwhile.body);
                Ok(b"done".to_vec())
            });
            assert_eq!(answer.ok().unwrap(), b"done");
        }
        assert_eq!(effects, 1);
    }

    #[test]
    fn answers_are_forgotten_once_nobody_repeats_their_calls() {
        let Some(long_ago) = Instant::now().checked_sub(ANSWERS_KEPT + Duration::from_secs(1)) else { return };
        let transactions = Mutex::new(Transactions {
            answers: HashMap::from([("old".to_owned(), Some(Vec::new()))]),
            began: VecDeque::from([(long_ago, "old".to_owned())]),
        });
        assert!(once(&transactions, "new", || Ok(Vec::new())).is_ok());
        let recent = lock(&transactions);
        assert!(recent.answers.keys().eq(["new"]) && recent.began.len() == 1);
    }
}
