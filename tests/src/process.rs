//! The local stack as a separate process, which tests stop, kill and restart.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::process::{Child, Command};

use crate::client::Client;
use crate::wait::PATIENCE;

/// The content of an earlier run's ready file.
pub const STALE: &[u8] = b"left behind by an earlier run";

/// A command line for the stack.
#[derive(Debug, Clone)]
#[must_use = "nothing runs until it is started"]
pub struct Serve {
    program: PathBuf,
    data_dir: PathBuf,
    ready_file: PathBuf,
    port: u16,
    seed: &'static str,
    time_scale: u32,
}

impl Serve {
    /// Runs `serve` on a free port, with the ready file in the data directory.
    pub fn over(program: impl Into<PathBuf>, data_dir: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            program: program.into(),
            ready_file: data_dir.join("ready.json"),
            data_dir,
            port: 0,
            seed: "empty",
            time_scale: 1,
        }
    }

    /// Moves the ready file.
    pub fn ready_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ready_file = file.into();
        self
    }

    /// Sets the port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Sets the initial data.
    pub fn seed(mut self, seed: &'static str) -> Self {
        self.seed = seed;
        self
    }

    /// Divides the service's waits.
    pub fn time_scale(mut self, time_scale: u32) -> Self {
        self.time_scale = time_scale;
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("serve")
            .args(["--port", &self.port.to_string(), "--seed", self.seed])
            .args(["--time-scale", &self.time_scale.to_string()])
            .arg("--data-dir")
            .arg(&self.data_dir)
            .arg("--ready-file")
            .arg(&self.ready_file)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts the stack and waits until it is ready.
    pub async fn start(&self) -> Process {
        // Marks an earlier run's file, so that it isn't taken for this one's.
        if self.ready_file.exists() {
            std::fs::write(&self.ready_file, STALE).expect("the ready file of an earlier run");
        }
        let mut child =
            self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the stack's program");
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let output = tokio::spawn(async move { tokio::join!(text_of(stdout), text_of(stderr)) });
        let started = async {
            loop {
                if let Some(status) = child.try_wait().expect("the child's state") {
                    return Err(status);
                }
                match std::fs::read(&self.ready_file) {
                    Ok(file) if file != STALE => {
                        return Ok(
                            serde_json::from_slice(&file).expect("a ready file is written at once or not at all")
                        );
                    }
                    _ => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        };
        match tokio::time::timeout(PATIENCE, started).await.expect("the stack becomes ready") {
            Ok(ready) => Process { child, ready, output },
            Err(status) => panic!("the stack ended with {status}: {:?}", output.await),
        }
    }

    /// Runs a stack that should refuse to start.
    pub async fn refuse(&self) -> Output {
        tokio::time::timeout(PATIENCE, self.command().output())
            .await
            .expect("the stack ends instead of serving")
            .expect("the stack's program")
    }
}

/// A running stack process. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The ready file's content.
    pub ready: Value,
    output: tokio::task::JoinHandle<(String, String)>,
}

impl Process {
    /// The API's origin.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.ready["base_url"].as_str().expect("the ready file's base_url")
    }

    /// A caller with the first organization's read-write token.
    #[must_use]
    pub fn client(&self) -> Client {
        let token = self.ready["organizations"][0]["read_write_token"].as_str().expect("a token in the ready file");
        Client::new(self.base_url()).with_token(token)
    }

    /// Kills the process with `SIGKILL`.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("the process is killed");
    }

    /// Sends a signal such as `INT`, waits for the end, and returns stdout and stderr.
    pub async fn signal(mut self, name: &str) -> (ExitStatus, String, String) {
        let id = self.child.id().expect("a running process");
        let sent = Command::new("kill").args([format!("-{name}"), id.to_string()]).status().await;
        assert!(sent.expect("kill").success(), "the signal is sent");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let status = ended.expect("the stack ends when it is told to").expect("an exit status");
        let (stdout, stderr) = self.output.await.expect("what was printed");
        (status, stdout, stderr)
    }
}

async fn text_of(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let mut text = Vec::new();
    if let Some(mut pipe) = pipe {
        // Keep what was printed before a broken pipe.
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut pipe, &mut text).await;
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A file's permission bits.
#[must_use]
pub fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).expect("a file").permissions().mode() & 0o777
}
