//! How a stack is started.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use shared::crypto::keyring::Keyring;
use shared::platform::files::FileStore;
use shared::platform::secrets::Keys;

use crate::calls::Calls;

/// How a stack is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The folder that holds all data.
    pub data_dir: PathBuf,
    /// The data that a new data directory starts with. Ignored for an existing one.
    pub seed: Seed,
    /// Where the ready file is written; in the data directory if not given.
    pub ready_file: Option<PathBuf>,
    /// The divisor of every wait of the service, such as a proposal's 72 h. At least 1.
    pub time_scale: u32,
    /// Where the records are.
    pub store: StoreAt,
    /// The keys that sealed the secrets in that store; the data directory's own keys if not given.
    pub keyring: Option<Keyring>,
    /// Where the functions read the keys; if not given, they have them from the start. Tests let the source fail.
    pub keys: Option<Arc<dyn Keys>>,
    /// Where files are; in the data directory if not given.
    pub files: Option<Arc<dyn FileStore>>,
    /// The program that reads PDFs; this one if not given. What runs tests can't.
    pub pdf_program: Option<PathBuf>,
    /// Hears of the calls that the functions make, if anything is to. Tests compare them with the functions' roles.
    pub calls: Option<Calls>,
    /// Whether the relay, the webhook sender and the clock run. Tests that count or break calls to the store turn them
    /// off.
    pub has_background: bool,
    /// Whether a table elsewhere is created with a stream, which the stack then reads for the relay as in the cloud.
    /// Otherwise the process reports its own writes, as it does with the embedded store, which has no stream.
    pub has_stream: bool,
    /// Whether transactions that meet at an item of the embedded store conflict, as on AWS. Tests ask for it.
    pub has_conflicts: bool,
}

impl Default for Options {
    /// The defaults of `local serve`.
    fn default() -> Self {
        Options {
            port: 8080,
            data_dir: PathBuf::from(".local"),
            seed: Seed::Demo,
            ready_file: None,
            time_scale: 1,
            store: StoreAt::Embedded,
            keyring: None,
            keys: None,
            files: None,
            pdf_program: None,
            calls: None,
            has_background: true,
            has_stream: false,
            has_conflicts: false,
        }
    }
}

/// The data that a new data directory starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seed {
    /// Organizations, members, tokens, and two deals in the first organization
    Demo,
    /// Organizations, members and tokens, nothing else
    Empty,
}

/// Where the records are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAt {
    /// In a file of the data directory, behind an endpoint inside this process.
    Embedded,
    /// At an endpoint that speaks DynamoDB. The table is created if it is missing.
    Endpoint {
        /// For instance `http://127.0.0.1:8000`.
        url: String,
        /// The table's name.
        table: String,
    },
}
