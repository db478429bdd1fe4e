//! The command line's main: does what it says, waits for the end, and says what happened.

use std::process::ExitCode;

use clap::Parser;

use crate::banner;
use crate::error::in_one_line;
use crate::listen::{self, Settings};
use crate::options::{Cli, Command, Options};
use crate::stack::Stack;

/// Ended by Ctrl-C before there was anything to end cleanly, as shells count it.
const INTERRUPTED: u8 = 130;

/// Runs the command line of this process and says how it ended: 0 after a clean stop, 1 when it could not start,
/// 2 for a wrong command line.
#[must_use]
pub fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(usage) => {
            // `--help` and `--version` come this way too. Nobody to read them is no error.
            let _ = usage.print();
            return if usage.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            banner::error(&in_one_line(&error));
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(async {
        let signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => {
                banner::error(&in_one_line(&error));
                return ExitCode::FAILURE;
            }
        };
        match command {
            Command::Serve(options) => serve(options.into(), signals).await,
            Command::Listen(options) => match Settings::try_from(options) {
                Ok(settings) => listen(settings, signals).await,
                Err(error) => {
                    banner::error(&format!("--secret: {error}; the app shows it once, as `Signing secret`"));
                    ExitCode::from(2)
                }
            },
        }
    })
}

async fn listen(settings: Settings, mut signals: Signals) -> ExitCode {
    tokio::select! {
        ended = listen::run(settings) => match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                banner::error(&error.to_string());
                ExitCode::FAILURE
            }
        },
        () = signals.next() => ExitCode::SUCCESS,
    }
}

async fn serve(options: Options, mut signals: Signals) -> ExitCode {
    let stack = tokio::select! {
        started = Stack::start_telling(options, banner::step) => match started {
            Ok(stack) => stack,
            Err(error) => {
                banner::error(&error.to_string());
                return ExitCode::FAILURE;
            }
        },
        // What was begun is done anew at the next start.
        () = signals.next() => return ExitCode::from(INTERRUPTED),
    };
    banner::ready(&stack);
    signals.next().await;
    banner::stopping();
    tokio::select! {
        () = stack.stop() => {
            banner::stopped();
            ExitCode::SUCCESS
        }
        () = signals.next() => ExitCode::from(INTERRUPTED),
    }
}

/// What asks a process to end: Ctrl-C and, on Unix, SIGTERM. The terminal's closing is left alone, for `nohup`.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) {
        // Without a way to hear of it, only the system can end the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
