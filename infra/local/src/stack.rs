//! Starts and stops a stack: data directory, store, initial data, server, background tasks, ready file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use files::Files;
use shared::AppState;
use shared::crypto::keyring::Keyring;
use shared::crypto::keys::FixedKeys;
use shared::domain::time_scale::TimeScale;
use shared::platform::call_budget::CallBudget;
use shared::platform::config::BaseUrl;
use shared::platform::files::FileStore;
use shared::platform::pdf_reader::PdfReader;
use shared::platform::telemetry;
use shared::store::Store;
use tokio::net::TcpListener;
use tracing::instrument::WithSubscriber;

use crate::background::Background;
use crate::data::{self, DataDir, ReadyFile};
use crate::error::{StartError, in_one_line};
use crate::functions::{Functions, StoredRows};
use crate::options::Options;
use crate::seed;
use crate::server::{self, Server};
use crate::store::{Embedded, OpenStore};
use crate::subscribers::Outbound;

const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A running stack. [`Stack::stop`] ends it cleanly. Dropping it aborts requests and leaves the ready file.
#[derive(Debug)]
pub struct Stack {
    /// The API's address.
    pub base_url: String,
    /// The content of the ready file.
    pub ready: ReadyFile,
    ready_file: PathBuf,
    log_file: PathBuf,
    router: Router,
    store: Store,
    dynamodb_url: String,
    table: String,
    keyring: Keyring,
    files: Arc<dyn FileStore>,
    // Drop order: callers before what they call; the lock that lets the next stack start comes last.
    server: Server,
    background: Option<Background>,
    embedded: Option<Embedded>,
    data_dir: DataDir,
}

impl Stack {
    /// Starts a stack; returns once it answers and its ready file is written.
    ///
    /// # Errors
    /// [`StartError`] if something that the stack needs is missing, taken or damaged.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        Self::start_with_progress(options, |_| {}).await
    }

    /// Calls `progress` before each step that may take a moment.
    pub(crate) async fn start_with_progress(options: Options, progress: fn(&str)) -> Result<Self, StartError> {
        let data_dir = options.data_dir.clone();
        let start = async {
            let reserved = Reserved::reserve(&options).await?;
            let log_file = reserved.data_dir.log_file()?;
            let log = telemetry::log_to_file(&log_file);
            let log = log.map_err(|error| StartError::DataDir { path: options.data_dir.clone(), error })?;
            Box::pin(Self::start_with(options, reserved, log_file, progress)).with_subscriber(log).await
        };
        start.await.map_err(|error| data::check_disk_full(&data_dir, error))
    }

    async fn start_with(
        options: Options,
        reserved: Reserved,
        log_file: PathBuf,
        progress: fn(&str),
    ) -> Result<Self, StartError> {
        let Reserved { data_dir, ready_file, listener, base_url } = reserved;
        let has_data = data_dir.has_data()?;
        let mut opened = OpenStore::open(&options, &data_dir, has_data, progress).await?;
        let keyring = match options.keyring.clone() {
            Some(keyring) => keyring,
            None => data_dir.keyring(has_data)?,
        };
        let keys = options.keys.clone().unwrap_or_else(|| FixedKeys::new(keyring.clone()));
        let files: Arc<dyn FileStore> = if let Some(files) = options.files.clone() {
            files
        } else {
            let files = Files::in_folder(&data_dir.files_folder());
            Arc::new(files.map_err(|error| StartError::Seed(in_one_line(&error)))?)
        };
        let store = opened.store.clone();
        let calls = options.calls.clone();
        let pdfs = options.pdf_program.clone().map_or_else(PdfReader::of_this_program, PdfReader::of);
        let origin = BaseUrl::parse(&base_url).map_err(|error| StartError::Store(in_one_line(&error)))?;
        let app = AppState::without_https(store, origin, TimeScale::scaled(options.time_scale));
        let app = app.with_pdfs(pdfs).with_calls(CallBudget::per_second(options.calls_per_second));
        let rows = StoredRows { table: &opened.table, rows_min: options.stored_rows_min };
        let functions = Functions::new(app, keys, files.clone(), rows, calls)?;
        let credentials = if has_data {
            seed::load(&data_dir, &opened.store, progress).await?
        } else {
            seed::create(&options, &data_dir, &opened.store, &functions, &*files, progress).await?
        };

        let stream_task = opened.take_stream_task();
        let OpenStore { store, url: dynamodb_url, table, embedded, due_entries, .. } = opened;
        let Functions { app, router, keys, client, calls } = functions;
        let outbound = match options.subscribers.clone() {
            Some(subscribers) => Outbound::InProcess(subscribers),
            None => Outbound::Network(client),
        };
        let background = options.has_background.then(|| {
            let mut background = Background::start(app, due_entries, keys, outbound, calls.as_ref());
            if let Some(task) = stream_task {
                background.spawn(task);
            }
            background
        });
        let server = Server::start(listener, router.clone());
        let app_url = format!("{base_url}/app");
        let ready = ReadyFile { app_url, base_url: base_url.clone(), organizations: credentials.organizations() };
        data_dir.write_store_url(&dynamodb_url)?;
        ready.write(&ready_file)?;
        Ok(Self {
            base_url,
            ready,
            ready_file,
            log_file,
            router,
            store,
            dynamodb_url,
            table,
            keyring,
            files,
            server,
            background,
            embedded,
            data_dir,
        })
    }

    /// Stops the stack: removes the ready file, finishes requests in flight within ten seconds, closes the store.
    pub async fn stop(self) {
        // First, so that no program takes this stack for a running one. If that fails, the next start removes it.
        let _ = ReadyFile::remove(&self.ready_file);
        let Self { server, background, embedded, data_dir, .. } = self;
        data_dir.remove_store_url();
        server.stop(DRAIN_TIMEOUT).await;
        // The next start does what the background tasks leave.
        drop(background);
        // Closing the store blocks while SQLite checkpoints its log.
        let _ = tokio::task::spawn_blocking(move || {
            drop(embedded);
            drop(data_dir);
        })
        .await;
    }

    /// The path of the ready file.
    #[must_use]
    pub fn ready_file(&self) -> &Path {
        &self.ready_file
    }

    /// The path of the log.
    #[must_use]
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }

    /// What answers requests behind the port.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The stack's store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The store's DynamoDB endpoint, for tests that look at items.
    #[must_use]
    pub fn dynamodb_url(&self) -> &str {
        &self.dynamodb_url
    }

    /// The keys that seal secrets in the store.
    #[must_use]
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// The file store.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn FileStore> {
        &self.files
    }

    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }
}

/// Resources that a stack needs exclusively, all reserved before anything changes: a person has to act if one is taken.
struct Reserved {
    data_dir: DataDir,
    ready_file: PathBuf,
    listener: TcpListener,
    base_url: String,
}

impl Reserved {
    async fn reserve(options: &Options) -> Result<Self, StartError> {
        let data_dir = DataDir::open(&options.data_dir)?;
        let ready_file = options.ready_file.clone().unwrap_or_else(|| data_dir.ready_file());
        ReadyFile::prepare(&ready_file)?;
        let listener = server::bind(options.port).await?;
        let address = listener.local_addr().map_err(|error| StartError::Port { port: options.port, error })?;
        let base_url = format!("http://127.0.0.1:{}", address.port());
        Ok(Self { data_dir, ready_file, listener, base_url })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use shared::domain::movement::state::MovementState;
    use shared::domain::time::Timestamp;
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::{Seed, StoreAt};

    fn options(folder: &Path) -> Options {
        Options { port: 0, data_dir: folder.join("data"), seed: Seed::Empty, ..Options::default() }
    }

    async fn start(options: Options) -> Stack {
        Stack::start(options).await.expect("the stack starts")
    }

    async fn get(stack: &Stack, token: &str, path: &str) -> (u16, Value) {
        let request = reqwest::Client::new().get(format!("{}{path}", stack.base_url)).bearer_auth(token);
        let response = request.send().await.expect("the stack answers");
        (response.status().as_u16(), response.json().await.expect("every answer is JSON"))
    }

    async fn total(stack: &Stack, organization: usize, path: &str) -> u64 {
        let (status, page) = get(stack, &stack.ready.organizations[organization].read_only_token, path).await;
        assert_eq!(status, 200, "{page}");
        page["pagination"]["total"].as_u64().expect("a list has a total")
    }

    #[tokio::test]
    async fn the_ready_file_has_the_urls_and_working_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let stack = start(options(folder.path())).await;
        assert_eq!(stack.ready_file(), folder.path().join("data/ready.json"));
        let ready = ReadyFile::read(stack.ready_file()).unwrap();
        assert_eq!(ready, stack.ready);
        assert_eq!(ready.base_url, stack.base_url);
        assert_eq!(ready.app_url, format!("{}/app", stack.base_url));
        assert!(ready.organizations.len() >= 2);
        for organization in &ready.organizations {
            for (token, scope) in
                [(&organization.read_write_token, "read_write"), (&organization.read_only_token, "read")]
            {
                let (status, me) = get(&stack, token, "/api/v1/me").await;
                assert_eq!(status, 200, "{me}");
                assert_eq!(me["organization_id"], json!(organization.id));
                assert_eq!(me["organization_name"], json!(organization.name));
                assert_eq!(me["scope"], json!(scope));
            }
        }
        stack.stop().await;
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_the_owner_can_read_files_with_secrets() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("made/for/it/ready.json");
        let stack = start(Options { ready_file: Some(elsewhere.clone()), ..options(folder.path()) }).await;
        for file in [elsewhere, folder.path().join("data/credentials.json")] {
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", file.display());
        }
        assert!(!folder.path().join("data/ready.json").exists());
        stack.stop().await;
    }

    #[tokio::test]
    async fn a_restart_keeps_the_organizations_and_ignores_the_seed() {
        let folder = tempfile::tempdir().unwrap();
        let first = start(options(folder.path())).await;
        let organizations = first.ready.organizations.clone();
        first.stop().await;
        let second = start(Options { seed: Seed::Demo, ..options(folder.path()) }).await;
        assert_eq!(second.ready.organizations, organizations);
        assert_eq!(total(&second, 0, "/api/v1/contacts").await, 0);
        second.stop().await;
    }

    #[tokio::test]
    async fn only_the_demo_has_records_and_only_in_the_first_organization() {
        let folder = tempfile::tempdir().unwrap();
        let stack = start(Options { seed: Seed::Demo, ..options(folder.path()) }).await;
        for path in ["/api/v1/contacts", "/api/v1/workspaces"] {
            assert!(total(&stack, 0, path).await > 1, "{path}");
            assert_eq!(total(&stack, 1, path).await, 0, "{path}");
        }
        stack.stop().await;

        let folder = tempfile::tempdir().unwrap();
        let stack = start(options(folder.path())).await;
        for path in ["/api/v1/contacts", "/api/v1/workspaces"] {
            assert_eq!(total(&stack, 0, path).await, 0, "{path}");
        }
        stack.stop().await;
    }

    #[tokio::test]
    async fn the_demo_has_drafts_a_pending_proposal_and_active_agreements() {
        let folder = tempfile::tempdir().unwrap();
        let stack = start(Options { seed: Seed::Demo, ..options(folder.path()) }).await;
        let token = &stack.ready.organizations[0].read_only_token;
        let (_, page) = get(&stack, token, "/api/v1/agreements?lifecycle=draft").await;
        let mut blockers = Vec::new();
        for draft in page["data"].as_array().unwrap() {
            let (_, full) = get(&stack, token, &format!("/api/v1/agreements/{}", draft["id"].as_str().unwrap())).await;
            assert_eq!(full["proposal_ready"], draft["proposal_ready"]);
            let codes: Vec<Value> =
                full["publish_blockers"].as_array().unwrap().iter().map(|blocker| blocker["code"].clone()).collect();
            blockers.push((full["proposal_ready"] == true, codes));
        }
        let activation = || vec![json!("workspace_not_activated")];
        let blocked = [activation(), vec![json!("stage_empty"), json!("document_missing")]].concat();
        // The last one papers items that move into a trust.
        assert_eq!(blockers, [(false, activation()), (true, activation()), (false, blocked), (true, Vec::new())]);
        let (_, page) = get(&stack, token, "/api/v1/proposals?state=pending").await;
        assert_eq!(page["pagination"]["total"], 1);
        assert_eq!(page["data"][0]["agreement_id"], json!(first_id(&stack, token).await));
        let (_, page) = get(&stack, token, "/api/v1/proposals?state=confirmed").await;
        assert_eq!(page["data"][0]["decided_by"]["display_name"], json!(stack.ready.organizations[0].members[0].name));
        let (_, page) = get(&stack, token, "/api/v1/agreements?lifecycle=active").await;
        let statuses: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|active| &active["status"]).collect();
        let (half_way, questions) = ("Active: step 2 of 3, Signing", "Active: step 1 of 1, Questions");
        assert_eq!(
            statuses,
            [
                "Active: step 1 of 2, Approval",
                "Active: step 2 of 2, Notice period",
                "Active: step 1 of 2, Signing",
                half_way,
                questions,
                "Active: step 3 of 3, Closing"
            ]
        );
        let (_, page) = get(&stack, token, "/api/v1/agreements?lifecycle=completed").await;
        let names: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|completed| &completed["name"]).collect();
        assert_eq!(names, ["Confidentiality agreement: Riverside Makers", "Retainer: Lumen Dental Group"]);
        let (_, page) = get(&stack, token, "/api/v1/movements").await;
        let movements = page["data"].as_array().unwrap();
        for state in MovementState::ALL {
            assert!(movements.iter().any(|movement| movement["state"] == state.as_str()), "{state:?}");
        }
        for movement in movements {
            assert_eq!(movement["confirmed_at"].is_null(), movement["state"] != "reconciled", "{movement}");
        }
        let (_, page) = get(&stack, token, "/api/v1/obligations").await;
        let kinds: BTreeSet<&str> =
            page["data"].as_array().unwrap().iter().filter_map(|owed| owed["kind"].as_str()).collect();
        assert_eq!(kinds, BTreeSet::from(["scheduled", "standing", "triggered"]));
        stack.stop().await;
    }

    async fn first_id(stack: &Stack, token: &str) -> String {
        let (_, page) = get(stack, token, "/api/v1/agreements?limit=1").await;
        page["data"][0]["id"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_first_start_that_was_interrupted_anywhere_is_repeated_in_full() {
        let folder = tempfile::tempdir().unwrap();
        let whole = start(Options { seed: Seed::Demo, ..options(folder.path()) }).await;
        let (contacts, workspaces) =
            (total(&whole, 0, "/api/v1/contacts").await, total(&whole, 0, "/api/v1/workspaces").await);
        whole.stop().await;

        let mut interrupted = 0;
        for after_ms in [0, 20, 320] {
            let folder = tempfile::tempdir().unwrap();
            let options = Options { seed: Seed::Demo, ..options(folder.path()) };
            match tokio::time::timeout(Duration::from_millis(after_ms), Stack::start(options.clone())).await {
                Ok(complete) => drop(complete.unwrap()),
                Err(_) => interrupted += 1,
            }
            let stack = start(options).await;
            assert_eq!(total(&stack, 0, "/api/v1/contacts").await, contacts, "interrupted after {after_ms} ms");
            assert_eq!(total(&stack, 0, "/api/v1/workspaces").await, workspaces, "interrupted after {after_ms} ms");
            stack.stop().await;
        }
        assert!(interrupted > 0);
    }

    #[tokio::test]
    async fn expired_tokens_are_replaced_and_the_others_kept() {
        let folder = tempfile::tempdir().unwrap();
        let first = start(options(folder.path())).await;
        let before = first.ready.organizations.clone();
        first.stop().await;

        let file = folder.path().join("data/credentials.json");
        let mut credentials: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let long_ago = Timestamp::now().plus_seconds(-90 * 24 * 3600);
        credentials["organizations"][0]["read_write_token"]["issued_at"] = json!(long_ago);
        std::fs::write(&file, credentials.to_string()).unwrap();

        let mut after = Vec::new();
        for _ in 0..2 {
            let stack = start(options(folder.path())).await;
            let organizations = stack.ready.organizations.clone();
            assert_ne!(organizations[0].read_write_token, before[0].read_write_token);
            assert_eq!(organizations[0].read_only_token, before[0].read_only_token);
            assert_eq!(organizations[1], before[1]);
            let (status, me) = get(&stack, &organizations[0].read_write_token, "/api/v1/me").await;
            assert_eq!((status, &me["scope"]), (200, &json!("read_write")));
            stack.stop().await;
            after.push(organizations);
        }
        assert_eq!(after[0], after[1], "renewed once");
    }

    #[tokio::test]
    async fn a_directory_in_use_is_refused_and_its_ready_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let running = start(options(folder.path())).await;
        let refusal = Stack::start(options(folder.path())).await.unwrap_err();
        assert!(matches!(refusal, StartError::InUse { .. }), "{refusal}");
        assert!(refusal.to_string().contains(&running.base_url), "{refusal}");
        assert_eq!(ReadyFile::read(running.ready_file()).as_ref(), Some(&running.ready));
        running.stop().await;
    }

    #[tokio::test]
    async fn a_taken_port_is_refused_and_a_stale_ready_file_removed() {
        let folder = tempfile::tempdir().unwrap();
        let crashed = start(options(folder.path())).await;
        let stale = crashed.ready_file().to_owned();
        drop(crashed);
        assert!(stale.exists());
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = other.local_addr().unwrap().port();
        let refusal = Stack::start(Options { port, ..options(folder.path()) }).await.unwrap_err();
        assert!(matches!(refusal, StartError::PortTaken(taken) if taken == port), "{refusal}");
        assert!(refusal.to_string().contains(&port.to_string()));
        assert!(!stale.exists());
    }

    #[tokio::test]
    async fn a_stop_removes_the_ready_file_and_frees_the_port_while_a_client_stays_connected() {
        let folder = tempfile::tempdir().unwrap();
        let stack = start(options(folder.path())).await;
        let port = stack.base_url.rsplit_once(':').unwrap().1.parse().unwrap();
        let ready_file = stack.ready_file().to_owned();
        let silent = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let kept_alive = reqwest::Client::new();
        kept_alive.get(format!("{}/openapi.json", stack.base_url)).send().await.unwrap();
        tokio::time::timeout(DRAIN_TIMEOUT / 2, stack.stop()).await.expect("no request is in flight");
        assert!(!ready_file.exists());
        drop((silent, kept_alive));
        start(Options { port, ..options(folder.path()) }).await.stop().await;
    }

    #[tokio::test]
    async fn a_missing_or_overwritten_store_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        start(options(folder.path())).await.stop().await;
        let store = folder.path().join("data/store.sqlite");
        std::fs::write(
            &store,
            "this is no database, but long enough to be looked at as if it were one ....................",
        )
        .unwrap();
        let refusal = Stack::start(options(folder.path())).await.unwrap_err();
        assert!(matches!(refusal, StartError::Store(_)), "{refusal}");
        std::fs::remove_file(&store).unwrap();
        let refusal = Stack::start(options(folder.path())).await.unwrap_err();
        assert!(matches!(refusal, StartError::Damaged { .. }), "{refusal}");
        assert!(!store.exists());
    }

    #[tokio::test]
    async fn a_ready_file_that_cannot_be_written_is_refused_before_anything_is_created() {
        let folder = tempfile::tempdir().unwrap();
        for bad in [folder.path().to_owned(), PathBuf::from("/dev/null/ready.json")] {
            let refusal = Stack::start(Options { ready_file: Some(bad), ..options(folder.path()) }).await.unwrap_err();
            assert!(matches!(refusal, StartError::ReadyFile { .. }), "{refusal}");
        }
        assert!(!folder.path().join("data/store.sqlite").exists());
    }

    #[tokio::test]
    async fn stacks_with_their_own_data_share_a_table_elsewhere() {
        let (host, one, two) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let embedded = Embedded::start(&host.path().join("store.sqlite"), None).unwrap();
        let store = StoreAt::Endpoint { url: embedded.url().to_owned(), table: "shared-by-tests".to_owned() };
        let first = start(Options { store: store.clone(), ..options(one.path()) }).await;
        let second = start(Options { store: store.clone(), ..options(two.path()) }).await;
        assert_ne!(first.ready.organizations[0].id, second.ready.organizations[0].id);
        assert_eq!((first.dynamodb_url(), first.table()), (embedded.url(), "shared-by-tests"));
        let same = first.ready.organizations.clone();
        first.stop().await;
        let first = start(Options { store, ..options(one.path()) }).await;
        assert_eq!(first.ready.organizations, same);
        first.stop().await;
        second.stop().await;
    }
}
