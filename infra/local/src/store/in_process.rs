//! Answers this process's calls of the embedded store without a socket.
//!
//! Over HTTP, dynoxide reads each call's JSON three times, and each transaction passes over all those of the last ten
//! minutes. Here a call is read once. Rare calls, and other processes, take the port.
//!
//! Calls are answered one after another on a thread of their own, since the database takes one at a time anyway.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
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
use tokio::sync::oneshot;

use super::contention::Contention;

/// How long a transaction's answer is kept. The SDK repeats a request token within one call only.
const ANSWERS_KEPT: Duration = limits::AWS_CALL_TIMEOUT.saturating_mul(2);

/// The thread that answers. Dropping it waits for the calls that it has taken; later ones fail.
#[derive(Debug)]
pub(super) struct Answers {
    calls: Sender<Option<Call>>,
    contention: Option<Contention>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Call {
    operation: Operation,
    body: Bytes,
    answer: oneshot::Sender<Answer>,
}

/// What the database said: JSON, or an error as JSON with its status.
type Answer = Result<Vec<u8>, Refusal>;

#[derive(Debug)]
struct Refusal {
    status: u16,
    body: String,
}

impl From<DynoxideError> for Refusal {
    fn from(error: DynoxideError) -> Self {
        Self { status: error.status_code(), body: error.to_json() }
    }
}

impl Answers {
    pub(super) fn start(database: Database, contention: Option<Contention>) -> std::io::Result<Self> {
        let (calls, received) = channel();
        let thread = std::thread::Builder::new().name("store".to_owned());
        let thread = thread.spawn(move || answer_all(&database, &received))?;
        Ok(Self { calls, contention, thread: Some(thread) })
    }

    /// A client that has its calls answered here, and sends the rest on through `port`.
    pub(super) fn client(&self, port: SharedHttpClient) -> SharedHttpClient {
        SharedHttpClient::new(Client { calls: self.calls.clone(), contention: self.contention.clone(), port })
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // The channel stays open as long as a client has a sender.
        let _ = self.calls.send(None);
        if let Some(thread) = self.thread.take() {
            // Err means a panic, which has printed its message.
            let _ = thread.join();
        }
    }
}

fn answer_all(database: &Database, calls: &Receiver<Option<Call>>) {
    let mut transactions = Transactions::default();
    while let Ok(Some(Call { operation, body, answer })) = calls.recv() {
        // What has begun takes effect, even if nobody waits for it any more.
        let _ = answer.send(operation.answer(database, &body, &mut transactions));
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

    fn answer(self, database: &Database, body: &[u8], transactions: &mut Transactions) -> Answer {
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
                transactions.once(token, || written(&database.transact_write_items(call)?))
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
#[derive(Debug, Default)]
struct Transactions {
    answers: HashMap<String, Vec<u8>>,
    /// In the order in which they ended.
    ended: VecDeque<(Instant, String)>,
}

impl Transactions {
    /// The answer of before, if there is one. Where the transaction fails, it has no effect and may be tried again.
    fn once(&mut self, token: String, transact: impl FnOnce() -> Answer) -> Answer {
        while self.ended.front().is_some_and(|(at, _)| at.elapsed() > ANSWERS_KEPT) {
            let Some((_, token)) = self.ended.pop_front() else { break };
            self.answers.remove(&token);
        }
        if let Some(answer) = self.answers.get(&token) {
            return Ok(answer.clone());
        }
        let answer = transact()?;
        self.answers.insert(token.clone(), answer.clone());
        self.ended.push_back((Instant::now(), token));
        Ok(answer)
    }
}

#[derive(Debug)]
struct Client {
    calls: Sender<Option<Call>>,
    contention: Option<Contention>,
    port: SharedHttpClient,
}

impl HttpClient for Client {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let port = self.port.http_connector(settings, components);
        SharedHttpConnector::new(Connector { calls: self.calls.clone(), contention: self.contention.clone(), port })
    }
}

#[derive(Debug)]
struct Connector {
    calls: Sender<Option<Call>>,
    contention: Option<Contention>,
    port: SharedHttpConnector,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let name = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body = request.body().bytes().map(Bytes::copy_from_slice);
        let (Some(operation), Some(body)) = (Operation::of(&name), body) else { return self.port.call(request) };
        let (calls, contention) = (self.calls.clone(), self.contention.clone());
        HttpConnectorFuture::new(async move {
            let (answer, answered) = oneshot::channel();
            let call = Call { operation, body: body.clone(), answer };
            let answered = async move {
                let closed = || ConnectorError::other("the store is closed".into(), None);
                calls.send(Some(call)).map_err(|_| closed())?;
                answered.await.map_err(|_| closed())
            };
            let answered = match contention {
                Some(contention) => match contention.around(&name, &body, answered).await {
                    Ok(answered) => answered?,
                    Err(refusal) => Err(Refusal { status: 400, body: refusal.to_string() }),
                },
                None => answered.await?,
            };
            match answered {
                Ok(body) => response(200, body.into()),
                Err(Refusal { status, body }) => response(status, body.into()),
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
        let (mut transactions, mut effects) = (Transactions::default(), 0);
        let refusal = Refusal { status: 400, body: "{}".to_owned() };
        assert!(transactions.once("a".to_owned(), || Err(refusal)).is_err());
        for _ in 0..2 {
            let answer = transactions.once("a".to_owned(), || {
                effects += 1;
                Ok(b"done".to_vec())
            });
            assert_eq!(answer.unwrap(), b"done");
        }
        assert_eq!(effects, 1);
    }

    #[test]
    fn answers_are_forgotten_once_nobody_repeats_their_calls() {
        let Some(long_ago) = Instant::now().checked_sub(ANSWERS_KEPT + Duration::from_secs(1)) else { return };
        let mut transactions = Transactions {
            answers: HashMap::from([("old".to_owned(), Vec::new())]),
            ended: VecDeque::from([(long_ago, "old".to_owned())]),
        };
        assert!(transactions.once("new".to_owned(), || Ok(Vec::new())).is_ok());
        assert!(transactions.answers.keys().eq(["new"]) && transactions.ended.len() == 1);
    }
}
