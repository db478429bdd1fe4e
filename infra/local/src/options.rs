use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use shared::crypto::keyring::Keyring;
use shared::crypto::keys::Keys;
use shared::domain::shards::{AuditShards, DueShards};
use shared::limits;
use shared::platform::files::FileStore;

use crate::calls::Calls;
use crate::store::contention::Contention;
use crate::subscribers::Subscribers;

/// Options for starting a stack.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Holds all data.
    pub data_dir: PathBuf,
    /// A new data directory's initial data. Ignored for an existing one.
    pub seed: Seed,
    /// Path of the ready file; in the data directory by default.
    pub ready_file: Option<PathBuf>,
    /// Divides every wait of the service, such as a proposal's 72 h. At least 1.
    pub time_scale: u32,
    /// The calls that each organization has per second; 0 is no limit.
    pub calls_per_second: u32,
    /// The shards of the due index that new events spread over: as many as there ever were.
    pub due_shards: DueShards,
    /// The shards that audit rows of an organization spread over, likewise.
    pub audit_shards: AuditShards,
    /// Rows of a list from which on they are stored in a file.
    pub stored_rows_min: usize,
    /// Where the records are.
    pub store: StoreAt,
    /// Keys that sealed the store's secrets; by default, those in the data directory.
    pub keyring: Option<Keyring>,
    /// Source of the functions' keys; by default, they have them from the start. Tests make the source fail.
    pub keys: Option<Arc<dyn Keys>>,
    /// The file store; in the data directory by default.
    pub files: Option<Arc<dyn FileStore>>,
    /// The program that reads PDFs; this one by default. Test binaries can't.
    pub pdf_program: Option<PathBuf>,
    /// Listens to the functions' calls, for tests that compare them with the roles.
    pub calls: Option<Calls>,
    /// Whether relay, webhook sender and clock run. Tests that count or break store calls turn them off.
    pub has_background: bool,
    /// Whether to create a table elsewhere with a stream and read it for the relay, as in the cloud. Otherwise the
    /// process reports its own writes, as with the embedded store, which has no stream.
    pub has_stream: bool,
    /// What answers webhooks in place of the network, for simulations.
    pub subscribers: Option<Arc<dyn Subscribers>>,
    /// What gets in each other's way in the embedded store, as on AWS, for tests. By default nothing.
    pub contention: Option<Contention>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            port: 8080,
            data_dir: PathBuf::from(".local"),
            seed: Seed::Demo,
            ready_file: None,
            time_scale: 1,
            calls_per_second: 0,
            due_shards: DueShards::FEWEST,
            audit_shards: AuditShards::FEWEST,
            stored_rows_min: limits::STORED_ROWS_MIN,
            store: StoreAt::Embedded,
            keyring: None,
            keys: None,
            files: None,
            pdf_program: None,
            calls: None,
            has_background: true,
            has_stream: false,
            subscribers: None,
            contention: None,
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
    /// Nothing: a test has organizations of its own, and need not wait for the hashes of members' passwords
    #[value(skip)]
    Nothing,
}

/// The place of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAt {
    /// A file in the data directory, behind an endpoint in this process.
    Embedded,
    /// A DynamoDB endpoint. A missing table is created.
    Endpoint {
        /// For instance `http://127.0.0.1:8000`.
        url: String,
        /// The table's name.
        table: String,
    },
}
