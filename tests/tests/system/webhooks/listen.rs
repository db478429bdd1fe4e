//! `local listen`: a subscriber for trying things out. Our own client sends its deliveries.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use local::PublicOrLoopback;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::webhook::client::{AttemptResult, Client, FailureClass, Outcome};
use shared::webhook::guard::EndpointUrl;
use shared::webhook::resolve::SystemResolver;
use shared::webhook::signature;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::STACK;

struct Listener {
    child: Child,
    stdout: BufReader<ChildStdout>,
    port: String,
    secret: SigningSecret,
}

impl Listener {
    async fn start(options: &[&str]) -> Self {
        let secret = SigningSecret::generate().expect("a secret");
        let mut child = command(&secret.expose())
            .args(["--port", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(stdout.read_line(&mut line).await.expect("a line") > 0, "it ended");
            if let Some((_, rest)) = line.split_once("http://127.0.0.1:") {
                break rest.split('/').next().expect("a port").to_owned();
            }
        };
        Self { child, stdout, port, secret }
    }

    async fn deliver(&self, secret: &SigningSecret, age: i64, event: EventId, body: &str) -> AttemptResult {
        let headers =
            signature::headers(std::slice::from_ref(secret), event, Timestamp::now().unix_s() - age, body.as_bytes());
        self.post(headers, body).await
    }

    async fn post(&self, headers: HeaderMap, body: &str) -> AttemptResult {
        let client = Client::new(Arc::new(PublicOrLoopback), Arc::new(SystemResolver::new())).expect("a client");
        let url = format!("http://localhost:{}/hooks", self.port);
        let url = EndpointUrl::parse(&url, &PublicOrLoopback).expect("a URL");
        client.with_deadline(tests::wait::PATIENCE).post(&url, headers, body.to_owned().into()).await
    }

    async fn stop(mut self) -> String {
        let id = self.child.id().expect("a running process").to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().await.expect("kill").success());
        let mut printed = String::new();
        self.stdout.read_to_string(&mut printed).await.expect("its output");
        assert!(self.child.wait().await.expect("its end").success());
        assert!(!printed.contains(&self.secret.expose()) && !printed.contains('\u{1b}'), "{printed}");
        printed
    }
}

fn command(secret: &str) -> Command {
    let mut command = Command::new(STACK);
    command.args(["listen", "--secret", secret]).stdin(Stdio::null()).kill_on_drop(true);
    command
}

fn body(event: EventId) -> String {
    format!(
        r#"{{"id":"{event}","type":"proposal.created","created_at":"2026-03-14T09:26:53.589Z","data":{{"note":"é"}}}}"#
    )
}

fn status(attempted: &AttemptResult) -> u16 {
    match attempted.outcome {
        Outcome::Delivered { status } => status,
        Outcome::Failed { status, .. } => status.unwrap_or_else(|| panic!("{attempted:?}")),
    }
}

#[tokio::test]
async fn what_arrives_is_printed_with_whether_it_verifies() {
    let listener = Listener::start(&[]).await;
    let (first, second) = (EventId::new(), EventId::new());
    let secret = listener.secret.clone();
    let other = SigningSecret::generate().expect("a secret");
    assert_eq!(status(&listener.deliver(&secret, 0, first, &body(first)).await), 204);
    assert_eq!(status(&listener.deliver(&secret, 7, first, &body(first)).await), 204);
    assert_eq!(status(&listener.deliver(&other, 0, second, &body(second)).await), 401);
    assert_eq!(status(&listener.deliver(&secret, 400, second, &body(second)).await), 401);
    assert_eq!(status(&listener.post(HeaderMap::new(), "\u{1b}[31mno event").await), 401);
    let get = reqwest::get(format!("http://127.0.0.1:{}/", listener.port)).await.expect("an answer");
    assert_eq!(get.status(), 405);

    let printed = listener.stop().await;
    let heads: Vec<&str> = printed.lines().filter(|line| line.contains('→')).collect();
    assert_eq!(heads.len(), 5, "{printed}");
    assert!(heads[0].contains(&format!("proposal.created  {first}  verified, signed ")), "{printed}");
    assert!(heads[0].ends_with("s ago  → 204"), "{printed}");
    assert!(heads[1].contains(", a repeat (number 2)  → 204"), "{printed}");
    assert!(heads[2].contains("NOT VERIFIED: no signature fits") && heads[2].ends_with("→ 401"), "{printed}");
    assert!(heads[3].contains("NOT VERIFIED: the timestamp is 40"), "{printed}");
    assert!(heads[4].contains("NOT VERIFIED: the header service-webhook-timestamp is missing"), "{printed}");
    assert!(
        printed.contains("\n    \"type\": \"proposal.created\"\n") && printed.contains("\"note\": \"é\""),
        "{printed}"
    );
    assert!(printed.contains("  ␛[31mno event\n"), "{printed}");
}

#[tokio::test]
async fn it_fails_as_it_is_told() {
    let listener = Listener::start(&["--fail-first", "2"]).await;
    let (first, second) = (EventId::new(), EventId::new());
    for (event, expected) in [(first, 500), (first, 500), (second, 500), (first, 204), (second, 500), (second, 204)] {
        let attempted = listener.deliver(&listener.secret, 0, event, &body(event)).await;
        assert_eq!(status(&attempted), expected);
    }
    listener.stop().await;

    let listener = Listener::start(&["--answer", "503", "--delay", "1"]).await;
    let begun = Instant::now();
    let attempted = listener.deliver(&listener.secret, 0, first, &body(first)).await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(attempted.outcome, Outcome::Failed { class: FailureClass::HttpError, status: Some(503) });
    assert!(listener.stop().await.contains("  → 503 in 1 s\n"));
}

#[tokio::test]
async fn a_wrong_secret_or_a_taken_port_is_said_in_one_line() {
    let refused = command("whsec_typed-wrong").output().await.expect("the program");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: --secret: ") && said.lines().count() == 1 && !said.contains("typed"), "{said}");

    let taken = Listener::start(&[]).await;
    let refused = command(&taken.secret.expose()).args(["--port", &taken.port]).output().await.expect("the program");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("is taken") && said.lines().count() == 1, "{said}");
}
