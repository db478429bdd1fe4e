//! The two commands, with Unix signals and process groups.

use std::process::{ExitCode, Stdio};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials;
use serde_json::json;
use shared::domain::time::Timestamp;
use shared::platform::aws::AwsSettings;
use tests::account::Account;
use tests::aws_services::AWS;
use tests::run_resources::{RUN, RunId};
use tests::stack::DYNAMODB;
use tests::wait::PATIENCE;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
pub(crate) async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["show"] => show().await,
        ["test", program, ..] => test(program, &arguments[2..]).await,
        _ => Err("usage: aws_run show | aws_run test COMMAND…".to_owned()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("test-aws: {error}");
        ExitCode::FAILURE
    })
}

async fn settings(variable: &str) -> Result<(AwsSettings, Credentials), String> {
    let endpoint = std::env::var(variable).ok().filter(|url| !url.is_empty());
    let settings = ops::aws::settings(endpoint.as_deref()).await.map_err(|error| error.to_string())?;
    let credentials = settings.credentials.provide_credentials().await.map_err(|error| error.to_string())?;
    Ok((settings, credentials))
}

async fn show() -> Result<ExitCode, String> {
    let (settings, credentials) = settings("AWS_ENDPOINT_URL").await?;
    let shown = json!({
        "endpoint_url": settings.endpoint_url, "region": settings.region, "access_key_id": credentials.access_key_id(),
    });
    println!("{shown}");
    Ok(ExitCode::SUCCESS)
}

async fn test(program: &str, arguments: &[String]) -> Result<ExitCode, String> {
    // Signals reach the whole process group, so that nothing creates resources during their deletion.
    let mut interrupts = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let mut terminations = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let (tables, credentials) = settings(DYNAMODB).await?;
    let (others, _) = settings(AWS).await?;
    let account = Account::new(&tables, &others);
    let now = Timestamp::now();
    report("of interrupted runs", account.delete(|run| run.is_over(now)).await);
    let run = RunId::begun_at(now);
    let mut command = Command::new(program);
    command
        .args(arguments)
        // Tests name their endpoints themselves.
        .env_remove("AWS_ENDPOINT_URL")
        .env(RUN, run.to_string())
        .env("AWS_REGION", &tables.region)
        .env("AWS_ACCESS_KEY_ID", credentials.access_key_id())
        .env("AWS_SECRET_ACCESS_KEY", credentials.secret_access_key())
        .env("AWS_SESSION_TOKEN", credentials.session_token().unwrap_or_default());
    let mut child = command.process_group(0).spawn().map_err(|error| format!("{program} can't be started: {error}"))?;
    let group = child.id().ok_or("the command has ended")?;
    let status = loop {
        tokio::select! {
            ended = child.wait() => break ended.map_err(|error| error.to_string())?,
            _ = interrupts.recv() => drop(signal_group(group, "TERM").await),
            _ = terminations.recv() => drop(signal_group(group, "TERM").await),
        }
    };
    wait_for_group(group).await;
    report("of this run", account.delete(|made_by| *made_by == run).await);
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Sends a signal to a process group; true if it has any process.
async fn signal_group(id: u32, signal: &str) -> bool {
    let kill = Command::new("kill").args(["-s", signal, "--", &format!("-{id}")]).stderr(Stdio::null()).status().await;
    kill.is_ok_and(|status| status.success())
}

async fn wait_for_group(id: u32) {
    let wait = async {
        while signal_group(id, "0").await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    // A later run deletes what still runs then.
    let _ = tokio::time::timeout(PATIENCE, wait).await;
}

/// Prints what was deleted. A failure doesn't fail the run: a later run tries again.
fn report(whose: &str, outcome: Result<usize, String>) {
    match outcome {
        Ok(0) => {}
        Ok(count) => println!("test-aws: deleted {count} tables, queues and secrets {whose}"),
        Err(error) => eprintln!("test-aws: not all tables, queues and secrets {whose} were deleted: {error}"),
    }
}
