//! The system under test: the local stack in this process, as a test [needs](Needs) it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use local::{Contention, Options, Seed, StoreAt};
use shared::crypto::keyring::Keyring;
use shared::crypto::keys::Keys;
use shared::domain::shards::{AuditShards, DueShards};
use shared::platform::aws::{self, AwsSettings};
use shared::platform::files::FileStore;
use shared::store::Store;
use tempfile::TempDir;
use tracing::Dispatch;
use tracing::subscriber::NoSubscriber;

use crate::aws_services::files_in_bucket;
use crate::background::Background;
use crate::calls;
use crate::faults::Faults;
use crate::resources;
use crate::run_resources::resource_name;
use crate::wait::PATIENCE;

/// Never written. With one log alone, `tracing` asks it about a span once, on the thread that meets the span first: if that
/// is a test's, which has no log, no line of the stack would ever have the span's fields.
static SECOND_LOG: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::default()));

/// The variable with a `DynamoDB` endpoint to test against instead of the embedded store.
pub const DYNAMODB: &str = "COUNTERSIGN_TEST_DYNAMODB";

/// A running stack. It stops and deletes its data directory after the last test that holds it.
#[derive(Debug)]
pub struct Stack {
    // Fields are dropped in order: the server stops before its data directory is removed.
    _server: Background,
    /// The API's origin.
    pub base_url: String,
    /// The ready file of the stack.
    pub ready: local::ReadyFile,
    table: Table,
    keyring: Keyring,
    files: Arc<dyn FileStore>,
    log_file: PathBuf,
    own_dir: Option<TempDir>,
}

/// A test's needs. Default: the configured store ([`DYNAMODB`]), all background tasks, real time, shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a need does nothing until a stack is started with it"]
#[allow(clippy::struct_excessive_bools, reason = "each is one need, and any may go with any")]
pub struct Needs {
    is_exclusive: bool,
    is_embedded: bool,
    has_stream: bool,
    has_background: bool,
    has_conflicts: bool,
    time_scale: u32,
    calls_per_second: u32,
}

impl Needs {
    /// A shared stack on the configured store.
    pub const SHARED: Self = Self {
        is_exclusive: false,
        is_embedded: false,
        has_stream: false,
        has_background: true,
        has_conflicts: true,
        time_scale: 1,
        calls_per_second: 0,
    };

    /// A shared stack as people run it, to measure: without the conflicts that tests meet, whose transactions each take
    /// 5 ms at least.
    pub const MEASURED: Self = Self { has_conflicts: false, ..Self::SHARED };

    /// Its own stack, with an embedded store: for tests that sweep the table or scale time, which disturbs others.
    pub const OWN: Self = Self::SHARED.own();

    /// With the table's stream, as in the cloud, unless the store is embedded. Writes take three times as long.
    pub const fn with_stream(self) -> Self {
        Self { has_stream: true, ..self }
    }

    /// Without relay, sender and clock: the test processes what is written.
    pub const fn without_background(self) -> Self {
        Self { has_background: false, ..self }
    }

    /// On the configured store, for tests that cover it too.
    pub const fn on_configured_store(self) -> Self {
        Self { is_embedded: false, ..self }
    }

    /// Its own stack, with an embedded store.
    pub const fn own(self) -> Self {
        Self { is_exclusive: true, is_embedded: true, ..self }
    }

    /// Divides the service's waits.
    pub const fn time_scale(self, time_scale: u32) -> Self {
        Self { time_scale, ..self }
    }

    /// Limits the calls of an organization.
    pub const fn calls_per_second(self, calls_per_second: u32) -> Self {
        Self { calls_per_second, ..self }
    }

    fn options(self) -> Options {
        let store = if self.is_embedded { StoreAt::Embedded } else { new_table() };
        Options {
            store,
            has_stream: self.has_stream,
            has_background: self.has_background,
            contention: self.has_conflicts.then(Contention::default),
            time_scale: self.time_scale,
            calls_per_second: self.calls_per_second,
            ..Options::default()
        }
    }
}

/// A stack's table.
#[derive(Debug, Clone)]
pub struct Table {
    /// The endpoint of the store.
    pub endpoint: String,
    /// The name of the table.
    pub name: String,
}

impl Table {
    /// A client of the table that bypasses the service. Each test creates its own: connections end with its runtime.
    #[must_use]
    pub fn client(&self) -> Client {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(PATIENCE)
            .operation_attempt_timeout(PATIENCE)
            .operation_timeout(PATIENCE)
            .build();
        let config = aws::config(&AwsSettings::at(&self.endpoint).expect("the settings of the endpoint"));
        Client::from_conf(aws_sdk_dynamodb::config::Builder::from(&config).timeout_config(timeouts).build())
    }

    /// The service's store on the table, for operators' acts.
    #[must_use]
    pub fn store(&self) -> Store {
        Store::new(self.client(), &self.name)
    }
}

impl Stack {
    /// A stack for a test's needs. Tests of one process with equal needs share it, unless they need their own.
    #[must_use]
    pub fn with(needs: Needs) -> Arc<Self> {
        static SHARED: Mutex<BTreeMap<Needs, Weak<Stack>>> = Mutex::new(BTreeMap::new());
        if needs.is_exclusive {
            return Arc::new(Self::in_new_dir(needs.options()));
        }
        let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(stack) = shared.get(&needs).and_then(Weak::upgrade) {
            return stack;
        }
        let stack = Arc::new(Self::in_new_dir(needs.options()));
        shared.insert(needs, Arc::downgrade(&stack));
        stack
    }

    /// A second stack on the same table, without a clock, whose store calls pass a breakable proxy: a second process.
    #[must_use]
    pub fn through(&self, faults: &Faults) -> Arc<Self> {
        self.beside(faults.url(), Options { has_background: false, ..test_options() })
    }

    /// A second stack on the same table with background tasks, whose store calls pass a breakable proxy. The first
    /// should be [without a background](Needs::without_background).
    #[must_use]
    pub fn working_through(&self, faults: &Faults, time_scale: u32) -> Arc<Self> {
        self.beside(faults.url(), Options { time_scale, ..test_options() })
    }

    /// A second stack on the same table with faster time: its waits are shorter.
    #[must_use]
    pub fn scaled(&self, time_scale: u32) -> Arc<Self> {
        self.beside(&self.table.endpoint, Options { time_scale, ..test_options() })
    }

    /// A second stack on the same table with background tasks, whose new events and audit rows spread over all shards.
    #[must_use]
    pub fn on_most_shards(&self, time_scale: u32) -> Arc<Self> {
        let (due_shards, audit_shards) = (DueShards::MOST, AuditShards::MOST);
        self.beside(&self.table.endpoint, Options { due_shards, audit_shards, time_scale, ..test_options() })
    }

    fn beside(&self, url: &str, options: Options) -> Arc<Self> {
        let store = StoreAt::Endpoint { url: url.to_owned(), table: self.table.name.clone() };
        Arc::new(Self::in_new_dir(Options { store, keyring: Some(self.keyring.clone()), ..options }))
    }

    /// A second stack on the same table with other keys: the service after a rotation of its keyring.
    #[must_use]
    pub fn with_keyring(&self, keyring: Keyring, has_background: bool) -> Arc<Self> {
        let store = StoreAt::Endpoint { url: self.table.endpoint.clone(), table: self.table.name.clone() };
        Arc::new(Self::in_new_dir(Options { store, keyring: Some(keyring), has_background, ..test_options() }))
    }

    /// A second stack on the same table with another source of keys, which a test makes fail.
    #[must_use]
    pub fn with_keys(&self, keys: Arc<dyn Keys>) -> Arc<Self> {
        self.beside(&self.table.endpoint, Options { keys: Some(keys), has_background: false, ..test_options() })
    }

    /// A second stack on a copy of this table, with the same keys, without background.
    #[must_use]
    pub fn on_copy(&self, copy: &Table) -> Arc<Self> {
        let store = StoreAt::Endpoint { url: copy.endpoint.clone(), table: copy.name.clone() };
        let keyring = Some(self.keyring.clone());
        Arc::new(Self::in_new_dir(Options { store, keyring, has_background: false, ..test_options() }))
    }

    /// Another instance of the functions, which has read no list yet, with the same files. It stores the rows of lists that
    /// have so many.
    #[must_use]
    pub fn instance_on(&self, table: &Table, stored_rows_min: usize) -> Arc<Self> {
        let (files, options) = (Some(self.files.clone()), Options { has_background: false, ..test_options() });
        let store = StoreAt::Endpoint { url: table.endpoint.clone(), table: table.name.clone() };
        let keyring = Some(self.keyring.clone());
        Arc::new(Self::in_new_dir(Options { store, keyring, files, stored_rows_min, ..options }))
    }

    /// A stack on an existing data directory, such as a killed process's.
    #[must_use]
    pub fn on_data_of(data_dir: &Path) -> Arc<Self> {
        Arc::new(Self::start(Options { data_dir: data_dir.to_owned(), ..test_options() }, None))
    }

    /// A stack on an existing data directory, without relay, sender and clock.
    #[must_use]
    pub fn idle_on_data_of(data_dir: &Path) -> Self {
        Self::start(Options { data_dir: data_dir.to_owned(), has_background: false, ..test_options() }, None)
    }

    fn in_new_dir(options: Options) -> Self {
        let dir = TempDir::with_prefix("countersign-test-").expect("a temporary directory");
        Self::start(Options { data_dir: dir.path().to_owned(), ..options }, Some(dir))
    }

    /// The test's own stack on the configured store, with the demo and without background.
    #[must_use]
    pub fn with_demo() -> Arc<Self> {
        let options = Options { store: new_table(), has_background: false, ..test_options() };
        let dir = TempDir::with_prefix("countersign-test-").expect("a temporary directory");
        let options = Options { data_dir: dir.path().to_owned(), port: 0, seed: Seed::Demo, ..options };
        Arc::new(Self::start_with(options, Some(dir)))
    }

    fn start(options: Options, own_dir: Option<TempDir>) -> Self {
        Self::start_with(Options { port: 0, seed: Seed::Nothing, ..options }, own_dir)
    }

    fn start_with(options: Options, own_dir: Option<TempDir>) -> Self {
        LazyLock::force(&SECOND_LOG);
        let bucket = || files_in_bucket().filter(|_| options.store != StoreAt::Embedded);
        let files = options.files.clone().or_else(bucket);
        let pdf_program = Some(pdf_program());
        let options = Options { calls: Some(calls::heard()), files, pdf_program, ..options };
        let (server, started) = Background::start("stack", async move |announce, stop| {
            if let StoreAt::Endpoint { url, table } = &options.store
                && configured_endpoint().as_ref() == Some(url)
            {
                let table = Table { endpoint: url.clone(), name: table.clone() };
                resources::create_table(&table, options.has_stream).await;
            }
            let stack = local::Stack::start(options).await.expect("the local stack starts");
            let table = Table { endpoint: stack.dynamodb_url().to_owned(), name: stack.table().to_owned() };
            let started = (
                stack.base_url.clone(),
                stack.ready.clone(),
                table,
                stack.keyring().clone(),
                stack.files().clone(),
                stack.log_file().to_owned(),
            );
            announce.send(started).expect("the starter waits for the stack");
            // An error means that the test is gone without saying so; either way the stack is no longer needed.
            let _ = stop.await;
            stack.stop().await;
        });
        let (base_url, ready, table, keyring, files, log_file) = started;
        Self { _server: server, base_url, ready, table, keyring, files, log_file, own_dir }
    }

    /// The stack's table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The keys that sealed the stack's secrets.
    #[must_use]
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// The file store.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn FileStore> {
        &self.files
    }

    /// The stack's log.
    #[must_use]
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }
}

/// What all stacks of tests have: an embedded store with conflicts.
fn test_options() -> Options {
    Options { contention: Some(Contention::default()), ..Options::default() }
}

/// Test binaries can't read PDFs: they use the stack's command line. Others can, if `main` calls the reader first.
fn pdf_program() -> PathBuf {
    let this = std::env::current_exe().expect("this program's own path");
    // The runners say where it is, even if tests are built elsewhere.
    let told = ["NEXTEST_BIN_EXE_stack", "CARGO_BIN_EXE_stack"].iter().find_map(std::env::var_os);
    match (told, this.parent()) {
        (Some(program), _) => program.into(),
        (None, Some(folder)) if folder.ends_with("deps") => folder.with_file_name("stack"),
        (None, _) => this,
    }
}

fn configured_endpoint() -> Option<String> {
    std::env::var(DYNAMODB).ok().filter(|url| !url.is_empty())
}

fn new_table() -> StoreAt {
    match configured_endpoint() {
        Some(url) => StoreAt::Endpoint { url, table: resource_name("table") },
        None => StoreAt::Embedded,
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let lacking = calls::lacking();
            assert!(lacking.is_empty(), "infra/template.yaml: {}", lacking.join("; "));
        }
        // The end of the log shows what the service did when the test failed; the directory is about to go.
        if std::thread::panicking() && self.own_dir.is_some() {
            let log = std::fs::read_to_string(self.log_file()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("the last lines of the stack's log:\n{}", lines[lines.len().saturating_sub(8)..].join("\n"));
        }
    }
}
