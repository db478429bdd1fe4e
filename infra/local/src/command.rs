//! Runs the command line's command until a signal ends it.

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::console;
use crate::error::in_one_line;
use crate::listen::{self, ListenOptions};
use crate::options::Options;
use crate::stack::Stack;

/// The shell's exit code for an interrupt: no time for a clean stop.
const INTERRUPTED: u8 = 130;

/// Runs the command line. Exits with 0 after a clean stop, 1 if the command couldn't start, 2 for wrong arguments.
#[must_use]
pub fn main() -> ExitCode {
    pictures::read_pdf_if_asked();
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(usage) => {
            // Includes `--help` and `--version`. A closed output is no error.
            let _ = usage.print();
            return if usage.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            console::error(&in_one_line(&error));
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(run(command))
}

async fn run(command: Command) -> ExitCode {
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            console::error(&in_one_line(&error));
            return ExitCode::FAILURE;
        }
    };
    match command {
        Command::Serve(args) => Box::pin(serve(args.into(), signals)).await,
        Command::Listen(args) => match ListenOptions::try_from(args) {
            Ok(options) => listen(options, signals).await,
            Err(error) => {
                console::error(&format!("--secret: {error}; the app shows it once, as `Signing secret`"));
                ExitCode::from(2)
            }
        },
    }
}

async fn listen(options: ListenOptions, mut signals: Signals) -> ExitCode {
    tokio::select! {
        ended = listen::run(options) => match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                console::error(&error.to_string());
                ExitCode::FAILURE
            }
        },
        () = signals.next() => ExitCode::SUCCESS,
    }
}

async fn serve(options: Options, mut signals: Signals) -> ExitCode {
    let stack = tokio::select! {
        started = Stack::start_with_progress(options, console::progress) => match started {
            Ok(stack) => stack,
            Err(error) => {
                console::error(&error.to_string());
                return ExitCode::FAILURE;
            }
        },
        // The next start discards what this one began.
        () = signals.next() => return ExitCode::from(INTERRUPTED),
    };
    console::ready(&stack.ready, stack.ready_file(), stack.log_file());
    signals.next().await;
    console::stopping();
    tokio::select! {
        () = stack.stop() => {
            console::stopped();
            ExitCode::SUCCESS
        }
        () = signals.next() => ExitCode::from(INTERRUPTED),
    }
}

/// The signals that end the process: Ctrl-C and, on Unix, SIGTERM. SIGHUP keeps its default, for `nohup`.
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
        // If Ctrl-C can't be caught, only the system ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
