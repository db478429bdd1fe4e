//! Runs the functions under `cargo lambda watch` (`make watch`), on the local stack's store and tokens.

use std::path::PathBuf;
use std::process::ExitCode;

use local::{Options, Stack};
use tokio::process::Command;

const PORT: &str = "9000";

#[tokio::main]
async fn main() -> ExitCode {
    // Its own folder, so that `make run` can run beside it.
    let options = Options { port: 0, data_dir: PathBuf::from("target/watch"), ..Options::default() };
    let stack = match Stack::start(options).await {
        Ok(stack) => stack,
        Err(error) => {
            eprintln!("watch: {error}");
            return ExitCode::FAILURE;
        }
    };
    let base_url = format!("http://127.0.0.1:{PORT}");
    println!("The functions answer at {base_url} once they are built. Access: {}", stack.ready_file().display());
    if let Some(organization) = stack.ready.organizations.first() {
        println!("\n  curl -H 'Authorization: Bearer {}' {base_url}/api/v1/me\n", organization.read_write_token);
    }
    let mut watch = Command::new("cargo");
    watch
        .args(["lambda", "watch", "--invoke-address", "127.0.0.1", "--invoke-port", PORT, "--disable-cors"])
        .env("TABLE_NAME", stack.table())
        .env("BASE_URL", base_url)
        // Nothing answers there: pages that need no keys work anyway.
        .env("KEYRING_SECRET", "none")
        .env("FILES_BUCKET", "none")
        .env("TABLE_ID", "none")
        .env("AWS_ENDPOINT_URL_DYNAMODB", stack.dynamodb_url())
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "local")
        .env("AWS_SECRET_ACCESS_KEY", "local");
    let ended = match watch.kill_on_drop(true).spawn() {
        Ok(mut watch) => tokio::select! {
            ended = watch.wait() => ended,
            // Ctrl-C reaches both processes; the store's ends last.
            _ = tokio::signal::ctrl_c() => watch.wait().await,
        },
        Err(error) => Err(error),
    };
    stack.stop().await;
    match ended {
        // Without a code, a signal such as Ctrl-C ended it.
        Ok(status) if status.success() || status.code().is_none() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("watch: cargo lambda watch ended with {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("watch: cargo lambda watch cannot run: {error}; `make watch` installs it");
            ExitCode::FAILURE
        }
    }
}
