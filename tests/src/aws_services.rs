//! A stand-in for SQS, Secrets Manager and S3 that refuses what AWS refuses, as far as functions use them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::{Value, json};
use shared::platform::aws::AwsSettings;
use shared::platform::files::FileStore;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The variable with an endpoint of AWS or an emulator.
pub const AWS: &str = "COUNTERSIGN_TEST_AWS";

/// Holds a bucket's name. `make test-aws` sets it only for its own emulator: elsewhere nothing deletes the files.
pub const BUCKET: &str = "COUNTERSIGN_TEST_BUCKET";

/// The file store in that bucket, if set.
#[must_use]
pub fn files_in_bucket() -> Option<Arc<dyn FileStore>> {
    #[cfg(feature = "aws")]
    if let Ok(name) = std::env::var(BUCKET) {
        return Some(Arc::new(files::Files::in_bucket(&name, real())));
    }
    None
}

/// Settings of the real services.
#[must_use]
pub fn real() -> AwsSettings {
    let endpoint = std::env::var(AWS).unwrap_or_else(|_| panic!("{AWS} names no endpoint: `make test-aws` sets it"));
    AwsSettings::at(&endpoint).expect("the settings of the endpoint")
}

/// The name of the keyring's secret.
pub const KEYRING: &str = "countersign/keyring";

/// The stand-in, listening on its own address.
#[derive(Debug)]
pub struct AwsServices {
    origin: String,
    inner: Arc<Inner>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Inner {
    sent: Mutex<Vec<Sent>>,
    calls: Mutex<usize>,
    refused: Mutex<Option<String>>,
    secrets: Mutex<HashMap<String, String>>,
    look_ups: Mutex<usize>,
    files: Mutex<BTreeMap<String, Bytes>>,
    is_down: AtomicBool,
}

/// A message that a queue accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The last part of the queue's URL: `deliveries` or `retries`.
    pub queue: String,
    /// Its body.
    pub body: String,
    /// Its delay in seconds.
    pub delay_s: i64,
    /// Its group.
    pub group: String,
}

impl Sent {
    /// The delivery it wakes.
    #[must_use]
    pub fn wake(&self) -> shared::webhook::queue::DeliveryMessage {
        serde_json::from_str(&self.body).expect("a message that names a delivery")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AwsServices {
    /// Starts the services, all empty.
    pub async fn new() -> Self {
        let inner = Arc::new(Inner::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(answer).with_state(inner.clone());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self { origin, inner, server }
    }

    /// Settings for clients in this process.
    #[must_use]
    pub fn settings(&self) -> AwsSettings {
        AwsSettings::emulator(&*self.origin)
    }

    /// The template's environment for a function that uses them.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        [
            ("AWS_ENDPOINT_URL_SQS", self.origin.clone()),
            ("AWS_ENDPOINT_URL_SECRETS_MANAGER", self.origin.clone()),
            ("AWS_ENDPOINT_URL_S3", self.origin.clone()),
            ("DELIVERY_QUEUE_URL", self.queue_url("deliveries")),
            ("RETRY_QUEUE_URL", self.queue_url("retries")),
            ("KEYRING_SECRET", KEYRING.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn queue_url(&self, name: &str) -> String {
        format!("{}/123456789012/{name}", self.origin)
    }

    /// Stores a secret.
    pub fn put_secret(&self, name: &str, value: String) {
        lock(&self.inner.secrets).insert(name.to_owned(), value);
    }

    /// How often secrets were read.
    #[must_use]
    pub fn look_ups(&self) -> usize {
        *lock(&self.inner.look_ups)
    }

    /// The files by path, which begins with the bucket's name.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Bytes> {
        lock(&self.inner.files).clone()
    }

    /// Begins or ends an outage, in which every call fails with a server error.
    pub fn set_down(&self, is_down: bool) {
        self.inner.is_down.store(is_down, Ordering::SeqCst);
    }

    /// Refuses messages that have this text, and no others, from now on.
    pub fn refuse_about(&self, text: impl std::fmt::Display) {
        *lock(&self.inner.refused) = Some(text.to_string());
    }

    /// The messages accepted so far, in order.
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        lock(&self.inner.sent).clone()
    }

    /// How many calls brought messages.
    #[must_use]
    pub fn sends(&self) -> usize {
        *lock(&self.inner.calls)
    }
}

impl Drop for AwsServices {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(inner): State<Arc<Inner>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    if inner.is_down.load(Ordering::SeqCst) {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalServiceError");
    }
    // S3 calls have no target header: their path names the object.
    if target.is_empty() {
        return file(&inner, &method, uri.path().trim_start_matches('/'), body);
    }
    let Ok(call) = serde_json::from_slice::<Value>(&body) else { return refusal("SerializationException") };
    let answer = match target {
        "AmazonSQS.SendMessageBatch" => send(&inner, &call),
        "secretsmanager.GetSecretValue" => secret(&inner, &call),
        _ => Err("UnknownOperationException"),
    };
    match answer {
        Ok(answer) => ([("content-type", "application/x-amz-json-1.0")], answer.to_string()).into_response(),
        Err(code) => refusal(code),
    }
}

fn file(inner: &Inner, method: &Method, path: &str, content: Bytes) -> Response {
    match *method {
        Method::PUT => {
            lock(&inner.files).insert(path.to_owned(), content);
            StatusCode::OK.into_response()
        }
        Method::GET => lock(&inner.files)
            .get(path)
            .cloned()
            .map_or(StatusCode::NOT_FOUND.into_response(), IntoResponse::into_response),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

fn refusal(code: &str) -> Response {
    failure(StatusCode::BAD_REQUEST, code)
}

fn failure(status: StatusCode, code: &str) -> Response {
    let body = json!({"__type": code, "message": "refused by the stand-in"}).to_string();
    (status, [("content-type", "application/x-amz-json-1.0")], body).into_response()
}

fn send(inner: &Inner, call: &Value) -> Result<Value, &'static str> {
    const BATCH_MAX: usize = 10;
    const DELAY_MAX_S: i64 = 900;
    let entries = call["Entries"].as_array().ok_or("com.amazonaws.sqs#EmptyBatchRequest")?;
    if entries.is_empty() {
        return Err("com.amazonaws.sqs#EmptyBatchRequest");
    }
    if entries.len() > BATCH_MAX {
        return Err("com.amazonaws.sqs#TooManyEntriesInBatchRequest");
    }
    let ids: HashSet<&str> = entries.iter().filter_map(|entry| entry["Id"].as_str()).collect();
    if ids.len() < entries.len() {
        return Err("com.amazonaws.sqs#BatchEntryIdsNotDistinct");
    }
    *lock(&inner.calls) += 1;
    let queue = call["QueueUrl"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for entry in entries {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let (group, delay_s) = (text("MessageGroupId"), entry["DelaySeconds"].as_i64().unwrap_or_default());
        let fault = |code: &str, is_sender| json!({"Id": entry["Id"], "Code": code, "SenderFault": is_sender});
        if !(0..=DELAY_MAX_S).contains(&delay_s) {
            failed.push(fault("InvalidParameterValue", true));
        } else if lock(&inner.refused).as_ref().is_some_and(|about| text("MessageBody").contains(about)) {
            failed.push(fault("InternalError", false));
        } else {
            let md5 = "00000000000000000000000000000000";
            let id = uuid::Uuid::new_v4().to_string();
            successful.push(json!({"Id": entry["Id"], "MessageId": id, "MD5OfMessageBody": md5}));
            lock(&inner.sent).push(Sent { queue: queue.to_owned(), body: text("MessageBody"), delay_s, group });
        }
    }
    Ok(json!({"Successful": successful, "Failed": failed}))
}

fn secret(inner: &Inner, call: &Value) -> Result<Value, &'static str> {
    let name = call["SecretId"].as_str().unwrap_or_default();
    let secrets = lock(&inner.secrets);
    let value = secrets.get(name).ok_or("ResourceNotFoundException")?;
    *lock(&inner.look_ups) += 1;
    let arn = format!("arn:aws:secretsmanager:us-east-1:123456789012:secret:{name}-d41f5f");
    let version = "1bbd7820-2a64-442a-bf2d-8daaa09813fe";
    Ok(json!({"ARN": arn, "Name": name, "SecretString": value, "VersionId": version, "CreatedDate": 1_795_253_400.0}))
}
