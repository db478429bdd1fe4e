//! A stand-in for Lambda's Runtime API: starts a function as a process, passes it events, takes its responses.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as UrlPath, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::app::Page;
use crate::client::Answer;
use crate::org::Org;
use crate::stack::Table;
use crate::wait::PATIENCE;

/// Names the folder of `cargo lambda build`, one `NAME/bootstrap` each. Functions that it lacks, and all without it, are
/// those beside the test.
pub const FUNCTIONS: &str = "COUNTERSIGN_FUNCTIONS";

/// The folder of recorded events, which `cargo lambda invoke --data-file` takes too.
pub const EVENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../events");

/// The deadline passed to each call: the template's for functions that answer calls.
pub const TIMEOUT: Duration = Duration::from_secs(29);

/// A function's program.
#[must_use]
pub fn program(function: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os(FUNCTIONS) {
        // Relative paths start at the repository's root, where tests don't run.
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(folder);
        assert!(folder.is_dir(), "{FUNCTIONS} names no folder: {}; `make build` makes target/lambda", folder.display());
        let file = folder.join(function).join("bootstrap");
        if file.is_file() {
            return file;
        }
    }
    // Programs are in target/debug, tests in target/debug/deps.
    let this = std::env::current_exe().expect("this program's own path");
    let folder = this.parent().expect("a program is in a folder");
    let folder = if folder.ends_with("deps") { folder.with_file_name("") } else { folder.to_owned() };
    let file = folder.join(function);
    assert!(
        file.is_file(),
        "the function {function} is not built: no file {}; `cargo build --workspace --bins` makes it",
        file.display()
    );
    file
}

/// A function's environment from Lambda and the template. `base_url` is the origin of its links.
#[must_use]
pub fn environment(table: &Table, base_url: &str) -> Vec<(String, String)> {
    let own = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    [
        ("TABLE_NAME", table.name.clone()),
        ("BASE_URL", base_url.to_owned()),
        // Functions that use files also get a stand-in for S3.
        ("FILES_BUCKET", "none".to_owned()),
        ("TABLE_ID", "none".to_owned()),
        ("KEYRING_SECRET", "none".to_owned()),
        // The agent endpoint hands papering on to this function; a test that papers also has a stand-in for Lambda.
        ("DOCUMENTS_FUNCTION", "documents".to_owned()),
        ("AWS_ENDPOINT_URL_DYNAMODB", table.endpoint.clone()),
        ("AWS_REGION", own("AWS_REGION", "us-east-1")),
        ("AWS_ACCESS_KEY_ID", own("AWS_ACCESS_KEY_ID", "local")),
        ("AWS_SECRET_ACCESS_KEY", own("AWS_SECRET_ACCESS_KEY", "local")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// A recorded event, completed with an organization's tokens and a contact's id.
#[must_use]
pub fn event(name: &str, org: &Org, contact_id: &str) -> String {
    recorded(
        name,
        &[
            ("read_write_token", &org.token.value),
            ("read_only_token", &org.read_only_token.value),
            ("contact_id", contact_id),
        ],
    )
}

/// A recorded event with texts for its placeholders.
#[must_use]
pub fn recorded(name: &str, texts: &[(&str, &str)]) -> String {
    let file = Path::new(EVENTS).join(name).with_extension("json");
    let mut event = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    for (open, text) in texts {
        // The text is inside a string, which it must not end.
        let quoted = Value::from(*text).to_string();
        event = event.replace(&format!("{{{{{open}}}}}"), &quoted[1..quoted.len() - 1]);
    }
    assert!(!event.contains("{{"), "{name} has a placeholder that nothing fills");
    event
}

/// A running function. Dropping it kills it.
#[derive(Debug)]
pub struct Function {
    child: Child,
    started: Instant,
    events: mpsc::UnboundedSender<String>,
    outcomes: mpsc::UnboundedReceiver<Outcome>,
    stdout: Output,
    stderr: Output,
    runtime_api: JoinHandle<()>,
}

#[derive(Debug)]
struct Outcome {
    at: Instant,
    result: Result<Bytes, String>,
}

/// Why there is no response.
#[derive(Debug)]
pub struct NoReply(String);

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoReply {}

impl Function {
    /// Starts a function with `first` waiting for it, and only Lambda's environment.
    pub async fn start(program: &Path, environment: &[(String, String)], first: Option<String>) -> io::Result<Self> {
        let (events, waiting) = mpsc::unbounded_channel();
        let (report, outcomes) = mpsc::unbounded_channel();
        if let Some(event) = first {
            events.send(event).map_err(io::Error::other)?;
        }
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?.to_string();
        let router = router(Arc::new(Queue { waiting: tokio::sync::Mutex::new(waiting), report }));
        let runtime_api = tokio::spawn(async move {
            // It never ends by itself; a function that can't reach it anymore says so.
            let _ = axum::serve(listener, router).await;
        });

        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .env("AWS_LAMBDA_FUNCTION_NAME", "countersign-under-test")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
            .env("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/countersign-under-test")
            .env("AWS_LAMBDA_LOG_STREAM_NAME", "2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef")
            .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
            .env("TZ", ":UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let started = Instant::now();
        let mut child = command.spawn()?;
        let (stdout, stderr) = (Output::collect(child.stdout.take()), Output::collect(child.stderr.take()));
        Ok(Self { child, started, events, outcomes, stdout, stderr, runtime_api })
    }

    /// Passes an event to the function and waits for the response.
    pub async fn invoke(&mut self, event: String) -> Result<Answer, NoReply> {
        let (status, headers, body) = self.answer_to(event).await?;
        Ok(Answer::checked("an event".to_owned(), status, headers, body))
    }

    /// Passes a browser's request to the function and waits for the page.
    pub async fn open(&mut self, event: String) -> Result<Page, NoReply> {
        let (status, headers, body) = self.answer_to(event).await?;
        let shown = if headers.contains_key(header::CONTENT_ENCODING) { gunzipped(&body) } else { Some(body.clone()) };
        let shown = shown.ok_or_else(|| self.no_reply("a compressed body that can't be read"))?;
        Ok(Page { status, headers, body: String::from_utf8_lossy(&shown).into_owned(), bytes: body })
    }

    async fn answer_to(&mut self, event: String) -> Result<(u16, HeaderMap, Vec<u8>), NoReply> {
        // An error means that the Runtime API is gone, which the wait for a response reports.
        let _ = self.events.send(event);
        let (_, payload) = self.payload().await?;
        read(&payload).map_err(|fault| self.no_reply(&fault))
    }

    /// Passes an event that isn't a call through the gateway, and waits for the result.
    pub async fn call(&mut self, event: String) -> Result<Value, NoReply> {
        // An error means that the Runtime API is gone, which the wait for a response reports.
        let _ = self.events.send(event);
        let (_, payload) = self.payload().await?;
        serde_json::from_slice(&payload).map_err(|error| self.no_reply(&error.to_string()))
    }

    /// Waits for the response to the first event; returns its status, and the time since the start.
    pub async fn first_answer(&mut self) -> Result<(u16, Duration), NoReply> {
        let (at, payload) = self.payload().await?;
        let (status, ..) = read(&payload).map_err(|fault| self.no_reply(&fault))?;
        Ok((status, at.duration_since(self.started)))
    }

    /// Waits for any result of the first event, if it isn't a call through the gateway.
    pub async fn first_return(&mut self) -> Result<Duration, NoReply> {
        let (at, _) = self.payload().await?;
        Ok(at.duration_since(self.started))
    }

    async fn payload(&mut self) -> Result<(Instant, Bytes), NoReply> {
        let outcome = tokio::select! {
            biased;
            outcome = self.outcomes.recv() => outcome,
            ended = self.child.wait() => return Err(self.no_reply(&format!("it ended: {ended:?}"))),
            () = tokio::time::sleep(PATIENCE) => return Err(self.no_reply("it took too long")),
        };
        match outcome {
            Some(Outcome { at, result: Ok(payload) }) => Ok((at, payload)),
            Some(Outcome { result: Err(error), .. }) => Err(self.no_reply(&error)),
            None => Err(self.no_reply("the Runtime API ended")),
        }
    }

    /// Waits for the end of a function that can't work; returns whether it failed, and its output.
    pub async fn refusal(&mut self) -> Result<(bool, String), NoReply> {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        match ended {
            Ok(Ok(status)) => {
                // The pipes' last bytes may come a moment after the end.
                self.stdout.end().await;
                self.stderr.end().await;
                Ok((!status.success(), format!("{}{}", self.stdout.text(), self.stderr.text())))
            }
            Ok(Err(error)) => Err(self.no_reply(&error.to_string())),
            Err(_) => Err(self.no_reply("it goes on")),
        }
    }

    /// The complete lines in the function's log so far.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        let text = self.stdout.text();
        let complete = text.rsplit_once('\n').map(|(complete, _)| complete).unwrap_or_default();
        complete.lines().map(str::to_owned).collect()
    }

    /// The process's memory in KiB, on systems that report it.
    #[must_use]
    pub fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?.parse().ok()
    }

    fn no_reply(&self, why: &str) -> NoReply {
        NoReply(format!("no answer from the function: {why}\n{}{}", self.stdout.text(), self.stderr.text()))
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        self.runtime_api.abort();
    }
}

#[derive(Debug)]
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    fn collect(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let reader = tokio::spawn(async move {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = vec![0; 16 * 1024];
            // An error also ends the pipe.
            while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
                sink.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
            }
        });
        Self { bytes, reader }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    async fn end(&mut self) {
        // It fails only by a panic, which has been shown already.
        let _ = (&mut self.reader).await;
    }
}

struct Queue {
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    report: mpsc::UnboundedSender<Outcome>,
}

impl Queue {
    fn tell(&self, result: Result<Bytes, String>) -> StatusCode {
        // An error means that the test has ended.
        let _ = self.report.send(Outcome { at: Instant::now(), result });
        StatusCode::ACCEPTED
    }
}

fn router(queue: Arc<Queue>) -> Router {
    Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
        .route("/2018-06-01/runtime/invocation/{id}/error", post(invocation_error))
        .route("/2018-06-01/runtime/init/error", post(init_error))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(queue)
}

async fn next(State(queue): State<Arc<Queue>>) -> Response {
    let Some(event) = queue.waiting.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let deadline = (SystemTime::now() + TIMEOUT).duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let headers = [
        ("lambda-runtime-aws-request-id", uuid::Uuid::new_v4().to_string()),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        (
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:us-east-1:123456789012:function:countersign-under-test".to_owned(),
        ),
        ("lambda-runtime-trace-id", "Root=1-6736fd18-5f84c8a90d1f4b2e6a7c3d10;Sampled=0".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    (headers, event).into_response()
}

async fn response(State(queue): State<Arc<Queue>>, UrlPath(_id): UrlPath<String>, body: Bytes) -> StatusCode {
    queue.tell(Ok(body))
}

async fn invocation_error(State(queue): State<Arc<Queue>>, UrlPath(_id): UrlPath<String>, body: String) -> StatusCode {
    queue.tell(Err(format!("it reported an error: {body}")))
}

async fn init_error(State(queue): State<Arc<Queue>>, body: String) -> StatusCode {
    queue.tell(Err(format!("it reported that it cannot start: {body}")))
}

/// What a browser makes of a body that is compressed by gzip: a header of 10 bytes and an end of 8 surround it.
fn gunzipped(body: &[u8]) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec(body.get(10..body.len().checked_sub(8)?)?).ok()
}

/// Reads a payload as the gateway does. HTTP APIs take `headers` and `cookies`, REST APIs `multiValueHeaders`.
fn read(payload: &[u8]) -> Result<(u16, HeaderMap, Vec<u8>), String> {
    let text = String::from_utf8_lossy(payload);
    let fault = |what: &str| format!("{what}: {text}");
    let payload: Value = serde_json::from_slice(payload).map_err(|error| fault(&error.to_string()))?;
    let status = payload["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.ok_or_else(|| fault("no status"))?;
    let is_base64 = payload["isBase64Encoded"].as_bool().ok_or_else(|| fault("no isBase64Encoded"))?;
    let mut headers = HeaderMap::new();
    for member in ["headers", "multiValueHeaders"] {
        for (name, value) in payload[member].as_object().into_iter().flatten() {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for value in values {
                let name = HeaderName::try_from(name).map_err(|_| fault("a header's name"))?;
                let value = value.as_str().and_then(|value| HeaderValue::try_from(value).ok());
                headers.append(name, value.ok_or_else(|| fault("a header's value"))?);
            }
        }
    }
    for cookie in payload["cookies"].as_array().into_iter().flatten() {
        let cookie = cookie.as_str().and_then(|cookie| HeaderValue::try_from(cookie).ok());
        headers.append(header::SET_COOKIE, cookie.ok_or_else(|| fault("a cookie"))?);
    }
    let body = payload["body"].as_str().unwrap_or_default();
    let media_type = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let is_file = media_type.starts_with(b"application/zip") || media_type.starts_with(b"application/pdf");
    if is_base64 != (is_file || headers.contains_key(header::CONTENT_ENCODING)) {
        return Err(fault("files, and what is compressed, need base64, and text needs none"));
    }
    let body = if is_base64 { STANDARD.decode(body).map_err(|error| fault(&error.to_string()))? } else { body.into() };
    Ok((status, headers, body))
}
