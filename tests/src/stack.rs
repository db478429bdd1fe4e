//! The system under test: the local stack in this process, as a test [needs](Needs) it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use local::{Options, Seed, StoreAt};
use shared::crypto::keyring::Keyring;
use shared::platform::aws::{self, AwsSettings};
use shared::platform::files::FileStore;
use shared::platform::secrets::Keys;
use shared::store::Store;
use tempfile::TempDir;

use crate::aws_services::files_in_bucket;
use crate::background::Background;
use crate::calls;
use crate::faults::Faults;
use crate::resources;
use crate::run_resources::resource_name;
use crate::wait::PATIENCE;

/// The environment variable with the endpoint of a `DynamoDB` to test against instead of the embedded store.
pub const DYNAMODB: &str = "COUNTERSIGN_TEST_DYNAMODB";

/// A running stack. It stops, and its data directory goes, when the last test that holds it has ended.
#[derive(Debug)]
pub struct Stack {
    // The order of the fields is the order of their end: the server stops before its data directory is removed.
    _server: Background,
    /// The origin of the API.
    pub base_url: String,
    /// The ready file of the stack.
    pub ready: local::ReadyFile,
    table: Table,
    keyring: Keyring,
    files: Arc<dyn FileStore>,
    log_file: PathBuf,
    own_dir: Option<TempDir>,
}

/// What a test needs of its stack. The default is a stack on the store that the run is configured with ([`DYNAMODB`]),
/// with everything that runs in the background, at the service's own pace, shared with other tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a need does nothing until a stack is started with it"]
#[allow(clippy::struct_excessive_bools, reason = "each is one need, and any may go with any")]
pub struct Needs {
    is_exclusive: bool,
    is_embedded: bool,
    has_stream: bool,
    has_background: bool,
    time_scale: u32,
}

impl Needs {
    /// A stack that other tests may use too, on the store that the run is configured with.
    pub const SHARED: Self =
        Self { is_exclusive: false, is_embedded: false, has_stream: false, has_background: true, time_scale: 1 };

    /// A stack of the test's own on an embedded store: for tests that a sweep over the whole table, or a different time
    /// scale, would make disturb others.
    pub const OWN: Self = Self { is_exclusive: true, is_embedded: true, ..Self::SHARED };

    /// Over the table's stream where the store is not the embedded one, as events reach the relay in the cloud. It makes
    /// each write there three times as slow, so only tests of webhooks ask for it.
    pub const fn with_stream(self) -> Self {
        Self { has_stream: true, ..self }
    }

    /// Without relay, sender and clock: what is written waits until the test takes it up.
    pub const fn without_background(self) -> Self {
        Self { has_background: false, ..self }
    }

    /// On the store that the run is configured with, for tests that say something about that store too.
    pub const fn on_configured_store(self) -> Self {
        Self { is_embedded: false, ..self }
    }

    /// With the service's waits divided by this.
    pub const fn time_scale(self, time_scale: u32) -> Self {
        Self { time_scale, ..self }
    }

    fn options(self) -> Options {
        let store = if self.is_embedded { StoreAt::Embedded } else { new_table() };
        Options {
            store,
            has_stream: self.has_stream,
            has_background: self.has_background,
            time_scale: self.time_scale,
            ..Options::default()
        }
    }
}

/// Where the records of a stack are.
#[derive(Debug, Clone)]
pub struct Table {
    /// The endpoint of the store.
    pub endpoint: String,
    /// The name of the table.
    pub name: String,
}

impl Table {
    /// A client for the table that does not go through the service. It waits for answers for as long as a busy machine
    /// may take: the service's own time-outs are tested where the service calls the table. Each test makes its own, since
    /// a client's connections end with the runtime that opened them.
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

    /// The service's own store over the table, for what operators do with it.
    #[must_use]
    pub fn store(&self) -> Store {
        Store::new(self.client(), &self.name)
    }
}

impl Stack {
    /// A stack that has what a test needs. Tests of one process that need the same share it, unless they need one of
    /// their own.
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

    /// A second stack on the same table whose every call of the store passes a proxy that can break it. It is also
    /// what a second process of the service is: nothing but the table is common to the two. It has no clock, so that
    /// all calls of the store are those of the test.
    #[must_use]
    pub fn through(&self, faults: &Faults) -> Arc<Self> {
        self.beside(faults.url(), Options { has_background: false, ..Options::default() })
    }

    /// A second stack on the same table, with all that runs in the background, and every call of the store through a
    /// proxy that can break it. The first one should be [without a background](Needs::without_background).
    #[must_use]
    pub fn working_through(&self, faults: &Faults, time_scale: u32) -> Arc<Self> {
        self.beside(faults.url(), Options { time_scale, ..Options::default() })
    }

    /// A second stack on the same table for which time passes faster: what it makes waits for less long.
    #[must_use]
    pub fn scaled(&self, time_scale: u32) -> Arc<Self> {
        self.beside(&self.table.endpoint, Options { time_scale, ..Options::default() })
    }

    /// Another stack on the same table, with the same keys.
    fn beside(&self, url: &str, options: Options) -> Arc<Self> {
        let store = StoreAt::Endpoint { url: url.to_owned(), table: self.table.name.clone() };
        Arc::new(Self::in_new_dir(Options { store, keyring: Some(self.keyring.clone()), ..options }))
    }

    /// A second stack on the same table with other keys: the service after its keyring was rotated.
    #[must_use]
    pub fn with_keyring(&self, keyring: Keyring, has_background: bool) -> Arc<Self> {
        let store = StoreAt::Endpoint { url: self.table.endpoint.clone(), table: self.table.name.clone() };
        Arc::new(Self::in_new_dir(Options { store, keyring: Some(keyring), has_background, ..Options::default() }))
    }

    /// A second stack on the same table whose functions read their keys elsewhere: a source that a test lets fail.
    #[must_use]
    pub fn with_keys(&self, keys: Arc<dyn Keys>) -> Arc<Self> {
        self.beside(&self.table.endpoint, Options { keys: Some(keys), has_background: false, ..Options::default() })
    }

    /// A second stack over a copy of this one's table, with the same keys, and nothing in the background.
    #[must_use]
    pub fn on_copy(&self, copy: &Table) -> Arc<Self> {
        let store = StoreAt::Endpoint { url: copy.endpoint.clone(), table: copy.name.clone() };
        let keyring = Some(self.keyring.clone());
        Arc::new(Self::in_new_dir(Options { store, keyring, has_background: false, ..Options::default() }))
    }

    /// A stack over an existing data directory, such as that of a killed process.
    #[must_use]
    pub fn on_data_of(data_dir: &Path) -> Arc<Self> {
        Arc::new(Self::start(Options { data_dir: data_dir.to_owned(), ..Options::default() }, None))
    }

    /// A stack over an existing data directory in which nothing goes on by itself: neither relay nor sender nor clock.
    #[must_use]
    pub fn idle_on_data_of(data_dir: &Path) -> Self {
        Self::start(Options { data_dir: data_dir.to_owned(), has_background: false, ..Options::default() }, None)
    }

    fn in_new_dir(options: Options) -> Self {
        let dir = TempDir::with_prefix("countersign-test-").expect("a temporary directory");
        Self::start(Options { data_dir: dir.path().to_owned(), ..options }, Some(dir))
    }

    /// A stack of the test's own on the store that the run is configured with, with the demo and nothing in the background.
    #[must_use]
    pub fn with_demo() -> Arc<Self> {
        let options = Options { store: new_table(), has_background: false, ..Options::default() };
        let dir = TempDir::with_prefix("countersign-test-").expect("a temporary directory");
        let options = Options { data_dir: dir.path().to_owned(), port: 0, seed: Seed::Demo, ..options };
        Arc::new(Self::start_with(options, Some(dir)))
    }

    fn start(options: Options, own_dir: Option<TempDir>) -> Self {
        Self::start_with(Options { port: 0, seed: Seed::Empty, ..options }, own_dir)
    }

    fn start_with(options: Options, own_dir: Option<TempDir>) -> Self {
        let bucket = || files_in_bucket().filter(|_| options.store != StoreAt::Embedded);
        let files = options.files.clone().or_else(bucket);
        let pdf_program = Some(pdf_program());
        let options = Options { calls: Some(calls::heard()), files, pdf_program, has_conflicts: true, ..options };
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
            // An error means that the test is gone without saying so; the stack is not needed any more either way.
            let _ = stop.await;
            stack.stop().await;
        });
        let (base_url, ready, table, keyring, files, log_file) = started;
        Self { _server: server, base_url, ready, table, keyring, files, log_file, own_dir }
    }

    /// Where the stack's records are.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The keys that the stack's secrets are sealed with.
    #[must_use]
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Where the stack's files are.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn FileStore> {
        &self.files
    }

    /// The log that the stack writes.
    #[must_use]
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }
}

/// The program that reads PDFs. What runs tests can't: they have the stack's command line for it, built beside them. Other
/// programs of this crate can, if their `main` begins so.
fn pdf_program() -> PathBuf {
    let this = std::env::current_exe().expect("this program's own path");
    // The runners say where it is, also if tests are built elsewhere.
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

/// A table of a stack's own, where this run's tests have theirs.
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
        // The end of the log says what the service thought while the test failed; the directory is about to go.
        if std::thread::panicking() && self.own_dir.is_some() {
            let log = std::fs::read_to_string(self.log_file()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("the last lines of the stack's log:\n{}", lines[lines.len().saturating_sub(8)..].join("\n"));
        }
    }
}
