//! Errors of a start, each one line that says what to do.

use std::io;
use std::path::PathBuf;

/// Why a stack can't start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another program listens on the port.
    #[error("port {0} is taken by another program; choose another with --port (--port 0 takes a free one)")]
    PortTaken(u16),
    /// The port cannot be bound.
    #[error("cannot listen on port {port}: {error}; choose another with --port (--port 0 takes a free one)")]
    Port {
        /// The requested port.
        port: u16,
        /// The system's error.
        error: io::Error,
    },
    /// The data directory's path is a file.
    #[error("the data directory {0} is not a directory; choose another with --data-dir")]
    NotADirectory(PathBuf),
    /// The data directory's path isn't Unicode.
    #[error("the path of the data directory {0:?} is not valid Unicode; choose another with --data-dir")]
    NotUnicode(PathBuf),
    /// The data directory can't be created or written.
    #[error("the data directory {path} cannot be written: {error}")]
    DataDir {
        /// The data directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A running stack uses the data directory.
    #[error(
        "the data directory {path} is in use by another process{by}; stop that one, or choose another with --data-dir"
    )]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// In brackets, the process and its address, as far as known.
        by: String,
    },
    /// A newer version of this program wrote the data.
    #[error(
        "the data directory {0} was written by a newer version; update this program, or choose another with --data-dir"
    )]
    Newer(PathBuf),
    /// The data is from an earlier build, or names no version.
    #[error(
        "the data directory {0} was made by an earlier build; delete it to start over, or choose another with --data-dir"
    )]
    Older(PathBuf),
    /// A file of the data directory is missing or damaged.
    #[error("the data directory {path} is damaged: {what}; restore it, or delete the directory to start over")]
    Damaged {
        /// The data directory.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The ready file cannot be written.
    #[error("the ready file {path} cannot be written: {error}; choose another place with --ready-file")]
    ReadyFile {
        /// The ready file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The store doesn't start or answer.
    #[error("the store does not start: {0}")]
    Store(String),
    /// The initial data couldn't be created.
    #[error("the initial data cannot be set up: {0}; start again to retry")]
    Seed(String),
    /// Expired tokens couldn't be replaced.
    #[error("the expired tokens cannot be replaced: {0}")]
    Renewal(String),
}

/// An error with its causes in one line: the message alone leaves them out.
pub(crate) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = inner.source();
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
