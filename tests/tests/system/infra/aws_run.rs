//! The program that runs tests at an endpoint of AWS: its credentials, and what it deletes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use shared::platform::aws;
use tempfile::TempDir;
use tests::account::Account;
use tests::aws_services::real;
use tests::run_resources::{RUN_MAX, RunId};
use tests::stack::DYNAMODB;
use tokio::net::TcpListener;
use tokio::process::Command;

const AWS_RUN: &str = env!("CARGO_BIN_EXE_aws_run");

async fn show(environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(AWS_RUN);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    // An AWS machine would provide its own role; other machines would ask for one over the network.
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    // Nor the profile of the person who runs the tests.
    command.env("AWS_CONFIG_FILE", "/dev/null").env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    command.envs(environment.iter().copied());
    command.arg("show").output().await.expect("the program runs")
}

#[track_caller]
fn shown(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[track_caller]
fn refusal(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.lines().count() == 1, "{text}");
    text
}

const AWS: &str = "https://dynamodb.eu-central-1.amazonaws.com";
const ELSEWHERE: &str = "http://localstack:4566";
const LOOPBACK: &str = "http://127.0.0.1:4566";

/// A profile with region and credentials, as the AWS command line writes it.
struct Profile(TempDir);

impl Profile {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("config"), "[default]\nregion = eu-north-1\n").expect("a file");
        let credentials = "[default]\naws_access_key_id = of-profile\naws_secret_access_key = secret\n";
        std::fs::write(folder.path().join("credentials"), credentials).expect("a file");
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("UTF-8").to_owned()
    }
}

#[tokio::test]
async fn credentials_come_from_the_environment_the_profile_or_a_role() {
    let profile = Profile::new();
    let (config, credentials) = (profile.path("config"), profile.path("credentials"));
    let of_profile = [("AWS_CONFIG_FILE", config.as_str()), ("AWS_SHARED_CREDENTIALS_FILE", credentials.as_str())];
    let of_environment =
        [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "of-environment"), ("AWS_SECRET_ACCESS_KEY", "secret")];

    // A container's role, requested from a given address.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let role_url = format!("http://{}/role", listener.local_addr().unwrap());
    let role = json!({"AccessKeyId": "of-role", "SecretAccessKey": "secret", "Token": "token", "Expiration": "2099-01-01T00:00:00Z"});
    let answer = role.to_string();
    let router = Router::new().route("/role", get(move || std::future::ready(answer.clone())));
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let of_role = [("AWS_REGION", "eu-south-1"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", role_url.as_str())];

    for (endpoint, used) in [("", json!(null)), (AWS, json!(null)), (ELSEWHERE, json!(ELSEWHERE))] {
        for (source, region, key) in [
            (&of_environment[..], "eu-west-1", "of-environment"),
            (&of_profile, "eu-north-1", "of-profile"),
            (&of_role, "eu-south-1", "of-role"),
        ] {
            let output = show(&[&[("AWS_ENDPOINT_URL", endpoint)], source].concat()).await;
            assert_eq!(shown(&output), json!({"endpoint_url": used, "region": region, "access_key_id": key}));
        }
    }
    server.abort();
}

#[tokio::test]
async fn an_emulator_on_this_machine_gets_placeholders_and_no_other_endpoint_does() {
    let profile = Profile::new();
    let (config, credentials) = (profile.path("config"), profile.path("credentials"));
    let of_profile = [("AWS_CONFIG_FILE", config.as_str()), ("AWS_SHARED_CREDENTIALS_FILE", credentials.as_str())];
    let placeholders = json!({"endpoint_url": LOOPBACK, "region": "us-east-1", "access_key_id": "local"});
    for source in [&of_profile[..], &[]] {
        assert_eq!(shown(&show(&[&[("AWS_ENDPOINT_URL", LOOPBACK)], source].concat()).await), placeholders);
    }
    for endpoint in ["", AWS, ELSEWHERE] {
        let line = refusal(&show(&[("AWS_ENDPOINT_URL", endpoint), ("AWS_REGION", "eu-west-1")]).await);
        assert!(line.starts_with("test-aws: no credentials in the environment, the profile, or the role"), "{line}");
        let line = refusal(&show(&[("AWS_ENDPOINT_URL", endpoint)]).await);
        assert_eq!(line, "test-aws: no region: set AWS_REGION, or `region` in the profile\n");
    }
}

async fn names(client: &aws_sdk_dynamodb::Client) -> BTreeSet<String> {
    let (sqs, secrets) = (aws::sqs(&real()), aws::secrets_manager(&real()));
    let tables = client.list_tables().into_paginator().items().send().collect::<Result<Vec<_>, _>>().await.unwrap();
    let queues = sqs.list_queues().into_paginator().items().send().collect::<Result<Vec<_>, _>>().await.unwrap();
    let queues = queues.iter().map(|url| url.rsplit('/').next().unwrap().to_owned());
    let secrets = secrets.list_secrets().send().await.unwrap().secret_list.unwrap_or_default();
    tables.into_iter().chain(queues).chain(secrets.into_iter().filter_map(|secret| secret.name)).collect()
}

#[tokio::test]
#[ignore = "needs SQS and Secrets Manager: make test-aws"]
async fn what_runs_have_made_is_deleted_when_they_are_over() {
    let tables = aws::AwsSettings::at(&std::env::var(DYNAMODB).expect("the endpoint")).unwrap();
    let client = aws::dynamodb(&tables);
    let now = Timestamp::now();
    let hours = |hours: i64| RunId::begun_at(now.plus_seconds(-3600 * hours));
    let hours_max = i64::try_from(RUN_MAX.as_secs() / 3600).unwrap();
    let (own, beside, interrupted) = (hours(0), hours(1), hours(hours_max + 1));
    let mut made = Vec::new();
    for run in [&own, &beside, &interrupted] {
        let of_run = ["table", "queue", "secret"].map(|kind| run.resource_name(kind));
        shared::store::Store::new(client.clone(), &of_run[0]).create_table().await.unwrap();
        aws::sqs(&real()).create_queue().queue_name(&of_run[1]).send().await.unwrap();
        aws::secrets_manager(&real()).create_secret().name(&of_run[2]).secret_string("-").send().await.unwrap();
        made.push(BTreeSet::from(of_run));
    }
    let is_there = async |run: usize| {
        let all = names(&client).await;
        made[run].iter().filter(|name| all.contains(*name)).count()
    };
    let account = Account::new(&tables, &real());

    assert!(account.delete(|run| run.is_over(now)).await.unwrap() >= 3);
    assert_eq!([is_there(0).await, is_there(1).await, is_there(2).await], [3, 3, 0]);
    assert_eq!(account.delete(|run| *run == own).await.unwrap(), 3);
    assert_eq!([is_there(0).await, is_there(1).await], [0, 3]);
    assert_eq!(account.delete(|run| *run == beside).await.unwrap(), 3);
    assert_eq!(is_there(1).await, 0);
}

#[tokio::test]
#[ignore = "needs Python: make test-aws"]
async fn test_aws_says_in_one_line_that_nothing_answers() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/test-aws");
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for endpoint in [format!("http://127.0.0.1:{port}"), "localstack".to_owned()] {
        let output = Command::new(&script).env("AWS_ENDPOINT_URL", &endpoint).output().await.expect("the script runs");
        let line = refusal(&output);
        assert!(line.starts_with(&format!("test-aws: nothing answers at {endpoint} (AWS_ENDPOINT_URL): ")), "{line}");
    }
}
