//! Starts and stops the whole: data directory, store, first data, API, ready file.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::{IntoResponse, Redirect};
use axum::serve::ListenerExt;
use files::Files;
use http::{Method, Request, header};
use shared::api::pipeline::Routes;
use shared::crypto::keyring::Keyring;
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::platform::aws::{self, AwsSettings};
use shared::platform::config::BaseUrl;
use shared::platform::secrets::FixedKeys;
use shared::platform::telemetry::Log;
use shared::store::{Store, StoreError};
use shared::web::client_address::ClientAddress;
use shared::webhook::client::Client;
use shared::webhook::resolve::SystemResolver;
use shared::{AppState, Webhooks};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::background::Background;
use crate::credentials::Credentials;
use crate::data_dir::DataDir;
use crate::embedded::{self, Embedded};
use crate::error::{StartError, in_one_line};
use crate::guard::PublicOrLoopback;
use crate::options::{Options, Seed, StoreAt};
use crate::ready::ReadyFile;
use crate::stream::Stream;
use crate::{data_dir, demo, private_file, seed};

/// How long a call that is being answered may hold up the end.
const DRAIN: Duration = Duration::from_secs(10);

/// A running stack. [`Stack::stop`] ends it cleanly; dropping it ends it at once, in the middle of calls, and leaves the
/// ready file, much as a crash does.
#[derive(Debug)]
pub struct Stack {
    /// Where the API answers.
    pub base_url: String,
    /// What the ready file says.
    pub ready: ReadyFile,
    ready_file: PathBuf,
    log_file: PathBuf,
    store: Store,
    dynamodb_url: String,
    table: String,
    keyring: Keyring,
    // Dropped in this order: who answers, what is asked, who may start next.
    server: Server,
    background: Option<Background>,
    embedded: Option<Embedded>,
    data_dir: DataDir,
}

impl Stack {
    /// Starts a stack, and returns when it answers and its ready file is there.
    ///
    /// # Errors
    /// When something that it needs is missing, taken or broken; see [`StartError`].
    pub async fn start(options: Options) -> Result<Self, StartError> {
        Self::start_telling(options, |_| {}).await
    }

    /// Like [`Stack::start`]; `tell` is called with each step that may take a moment.
    pub(crate) async fn start_telling(options: Options, tell: fn(&str)) -> Result<Self, StartError> {
        let data_dir = options.data_dir.clone();
        Self::bring_up(options, tell).await.map_err(|error| data_dir::or_full_disk(&data_dir, error))
    }

    async fn bring_up(options: Options, tell: fn(&str)) -> Result<Self, StartError> {
        // What a person has to put right first, in this order: an earlier stack that still runs, a newer version's
        // data, a port. Nothing is changed before all of that is known to be fine.
        let data_dir = DataDir::open(&options.data_dir)?;
        let ready_file = options.ready_file.clone().unwrap_or_else(|| data_dir.ready_file());
        remove_stale(&ready_file)?;
        let listener = listen(options.port).await?;
        let port = listener.local_addr().map_err(|error| StartError::Port { port: options.port, error })?.port();
        let base_url = format!("http://127.0.0.1:{port}");

        let has_data = data_dir.has_data()?;
        let (embedded, settings, dynamodb_url, table) = match &options.store {
            StoreAt::Embedded => {
                if has_data && !data_dir.store_file().exists() {
                    return Err(data_dir.damaged("the file store.sqlite is missing"));
                }
                tell("Opening the store");
                let embedded = Embedded::start(&data_dir.store_file())?;
                let url = embedded.url().to_owned();
                (Some(embedded), AwsSettings::emulator(&url), url, embedded::TABLE.to_owned())
            }
            StoreAt::Endpoint { url, table } => (None, AwsSettings::at(url), url.clone(), table.clone()),
        };
        let (told, heard) = mpsc::unbounded_channel();
        let store = Store::new(aws::dynamodb(&settings), &table);
        let cannot = |error: StoreError| StartError::Store(in_one_line(&error));
        let stream = if options.has_stream && options.store != StoreAt::Embedded {
            store.create_table_with_stream().await.map_err(cannot)?;
            store.stream().await.map_err(cannot)?
        } else {
            store.create_table().await.map_err(cannot)?;
            None
        };
        let stream = match stream {
            Some(arn) => Some(Stream::open(&settings, arn).await.map_err(StartError::Store)?),
            None => None,
        };
        let by_itself = told.clone();
        let store = match stream {
            Some(_) => store,
            None => store.watched(move |entry| {
                // Nobody listens where nothing runs in the background.
                let _ = by_itself.send(entry);
            }),
        };

        let log_file = data_dir.log_file()?;
        let log =
            Log::file(&log_file).map_err(|error| StartError::DataDir { path: options.data_dir.clone(), error })?;
        let origin = BaseUrl::parse(&base_url).map_err(|error| StartError::Store(in_one_line(&error)))?;
        let mut routes = Routes::new().with_description();
        crate::operations(&mut routes);
        let keyring = match options.keyring.clone() {
            Some(keyring) => keyring,
            None => data_dir.keyring()?,
        };
        let keys = FixedKeys::new(keyring.clone());
        let (guard, resolver) = (Arc::new(PublicOrLoopback), Arc::new(SystemResolver::new()));
        let webhooks = Webhooks { keys: keys.clone(), guard: guard.clone(), resolver: resolver.clone() };
        let client = Client::new(guard, resolver).map_err(|error| StartError::Store(in_one_line(&error)))?;
        let app = AppState::without_https(store.clone(), origin, log, TimeScale::scaled(options.time_scale));
        let app = Arc::new(app.with_webhooks(webhooks));
        let api = routes.into_router(app.clone());
        let everything = with_start_page(member_app::router(app.clone()).merge(api.clone()));

        let credentials = if has_data {
            existing_data(&data_dir, &store, tell).await?
        } else {
            first_data(&data_dir, &store, &everything, &options, tell).await?
        };

        let reading = stream.map(|stream| stream.read(told, app.log.clone()));
        let background = options.has_background.then(|| {
            let mut background = Background::start(app, heard, keys, client);
            background.run_beside(reading);
            background
        });
        let server = Server::start(listener, everything);
        let ready = ReadyFile {
            app_url: format!("{base_url}/app"),
            base_url: base_url.clone(),
            organizations: credentials.organizations(),
        };
        ready.write(&ready_file).map_err(|error| StartError::ReadyFile { path: ready_file.clone(), error })?;
        Ok(Self {
            base_url,
            ready,
            ready_file,
            log_file,
            store,
            dynamodb_url,
            table,
            keyring,
            server,
            background,
            embedded,
            data_dir,
        })
    }

    /// Ends it: the ready file goes, calls that are being answered are finished within ten seconds, the store is closed.
    pub async fn stop(self) {
        // Whoever looks for a running stack must not find this one any more. If that fails, the next start does it.
        let _ = private_file::remove(&self.ready_file);
        let Self { server, background, embedded, data_dir, .. } = self;
        server.stop(DRAIN).await;
        // What it was about to do, it does at the next start.
        drop(background);
        // Closing SQLite folds its log into the file, which may take a moment.
        let _ = tokio::task::spawn_blocking(move || {
            drop(embedded);
            drop(data_dir);
        })
        .await;
    }

    /// Where the ready file is.
    #[must_use]
    pub fn ready_file(&self) -> &Path {
        &self.ready_file
    }

    /// Where the log lines go.
    #[must_use]
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }

    /// The store that this stack works on, through a client of its own.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The endpoint of that store, for tests that look at the items themselves.
    #[must_use]
    pub fn dynamodb_url(&self) -> &str {
        &self.dynamodb_url
    }

    /// The keys that its secrets are sealed with.
    #[must_use]
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// The name of its table.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }
}

/// Whoever opens the origin in a browser gets to the app. The API has nothing there, and says so to its callers.
fn with_start_page(everything: Router) -> Router {
    let service = tower::service_fn(move |request: Request<Body>| {
        let mut everything = everything.clone();
        async move {
            let is_person = !request.headers().contains_key(header::AUTHORIZATION);
            if request.uri().path() == "/" && request.method() == Method::GET && is_person {
                return Ok(Redirect::to("/app").into_response());
            }
            tower::Service::call(&mut everything, request).await
        }
    });
    Router::new().fallback_service(service)
}

async fn first_data(
    data_dir: &DataDir,
    store: &Store,
    everything: &Router,
    options: &Options,
    tell: fn(&str),
) -> Result<Credentials, StartError> {
    tell("Setting up two organizations, their members and tokens");
    // A table elsewhere may have others' members in it.
    let tag = match options.store {
        StoreAt::Embedded => None,
        StoreAt::Endpoint { .. } => Some(seed::secret(2)?),
    };
    let credentials = seed::organizations(store, tag.as_deref(), Timestamp::now()).await?;
    if let (Seed::Demo, Some(first)) = (options.seed, credentials.organizations.first()) {
        tell(&format!("Adding a deal to {}", first.name));
        let files =
            Files::in_folder(&data_dir.files_folder()).map_err(|error| StartError::Seed(in_one_line(&error)))?;
        demo::add(everything, store, &files, first).await.map_err(StartError::Seed)?;
    }
    credentials.write(data_dir)?;
    data_dir.complete()?;
    Ok(credentials)
}

async fn existing_data(data_dir: &DataDir, store: &Store, tell: fn(&str)) -> Result<Credentials, StartError> {
    let mut credentials = Credentials::read(data_dir)?;
    let renewed = credentials
        .renew_tokens(store, Timestamp::now())
        .await
        .map_err(|error| StartError::Renewal(in_one_line(&error)))?;
    if renewed {
        tell("Issued new tokens: the earlier ones have expired");
        credentials.write(data_dir)?;
    }
    Ok(credentials)
}

/// Whoever waits for the ready file must not take an earlier one for this stack's.
fn remove_stale(ready_file: &Path) -> Result<(), StartError> {
    let cannot = |error| StartError::ReadyFile { path: ready_file.to_owned(), error };
    if ready_file.is_dir() {
        return Err(cannot(io::ErrorKind::IsADirectory.into()));
    }
    private_file::remove(ready_file).map_err(cannot)?;
    // Found out now, and not after everything else has been done.
    let folder = private_file::folder_of(ready_file);
    std::fs::create_dir_all(folder).map_err(cannot)?;
    tempfile::tempfile_in(folder).map_err(cannot)?;
    Ok(())
}

/// Takes a port of this machine, or a free one for 0.
pub(crate) async fn listen(port: u16) -> Result<TcpListener, StartError> {
    TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => StartError::PortTaken(port),
        _ => StartError::Port { port, error },
    })
}

/// The gateway's part: HTTP on a port.
#[derive(Debug)]
struct Server {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    fn start(listener: TcpListener, api: Router) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        // Small answers must not wait for the acknowledgement of earlier ones. Without it they are only slower.
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        // The app slows down guesses per address.
        let with_address = api.layer(axum::middleware::map_request(known_address));
        let service = with_address.into_make_service_with_connect_info::<SocketAddr>();
        let serve = axum::serve(listener, service).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        Self { stop: Some(stop), task: tokio::spawn(serve.into_future()) }
    }

    /// Takes no more calls, and waits for those that are being answered, but not for longer than `patience`.
    async fn stop(mut self, patience: Duration) {
        drop(self.stop.take());
        let _ = tokio::time::timeout(patience, &mut self.task).await;
    }
}

/// A request with the address that its connection comes from.
async fn known_address(mut request: Request<Body>) -> Request<Body> {
    if let Some(ConnectInfo(address)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied() {
        request.extensions_mut().insert(ClientAddress(address.ip()));
    }
    request
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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
    async fn everything_in_the_ready_file_works() {
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
    async fn only_the_owner_can_read_what_holds_secrets() {
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
    async fn a_restart_gives_the_same_and_ignores_the_seed() {
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
    async fn the_demo_has_agreements_at_every_point_around_a_decision() {
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
        assert_eq!(blockers, [(false, activation()), (true, activation()), (false, blocked)]);
        let (_, page) = get(&stack, token, "/api/v1/proposals?state=pending").await;
        assert_eq!(page["pagination"]["total"], 1);
        assert_eq!(page["data"][0]["agreement_id"], json!(first_id(&stack, token).await));
        let (_, page) = get(&stack, token, "/api/v1/proposals?state=confirmed").await;
        assert_eq!(page["data"][0]["decided_by"]["display_name"], json!(stack.ready.organizations[0].members[0].name));
        let (_, page) = get(&stack, token, "/api/v1/agreements?lifecycle=active").await;
        let statuses: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|active| &active["status"]).collect();
        assert_eq!(statuses, ["Active: step 1 of 2, Approval", "Active: step 2 of 2, Notice period"]);
        stack.stop().await;
    }

    async fn first_id(stack: &Stack, token: &str) -> String {
        let (_, page) = get(stack, token, "/api/v1/agreements?limit=1").await;
        page["data"][0]["id"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_first_start_that_was_cut_off_anywhere_is_done_anew() {
        let folder = tempfile::tempdir().unwrap();
        let whole = start(Options { seed: Seed::Demo, ..options(folder.path()) }).await;
        let (contacts, workspaces) =
            (total(&whole, 0, "/api/v1/contacts").await, total(&whole, 0, "/api/v1/workspaces").await);
        whole.stop().await;

        let mut cut_off = 0;
        for after_ms in [0, 5, 10, 20, 40, 80, 160, 320] {
            let folder = tempfile::tempdir().unwrap();
            let options = Options { seed: Seed::Demo, ..options(folder.path()) };
            match tokio::time::timeout(Duration::from_millis(after_ms), Stack::start(options.clone())).await {
                Ok(complete) => drop(complete.unwrap()),
                Err(_) => cut_off += 1,
            }
            let stack = start(options).await;
            assert_eq!(total(&stack, 0, "/api/v1/contacts").await, contacts, "cut off after {after_ms} ms");
            assert_eq!(total(&stack, 0, "/api/v1/workspaces").await, workspaces, "cut off after {after_ms} ms");
            stack.stop().await;
        }
        assert!(cut_off > 0);
    }

    #[tokio::test]
    async fn tokens_that_have_expired_are_replaced_and_the_others_kept() {
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
    async fn a_taken_port_is_named_and_a_stale_ready_file_is_gone() {
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
    async fn a_stop_takes_the_ready_file_and_gives_the_port_back_though_a_client_stays_connected() {
        let folder = tempfile::tempdir().unwrap();
        let stack = start(options(folder.path())).await;
        let port = stack.base_url.rsplit_once(':').unwrap().1.parse().unwrap();
        let ready_file = stack.ready_file().to_owned();
        let silent = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let kept_alive = reqwest::Client::new();
        kept_alive.get(format!("{}/openapi.json", stack.base_url)).send().await.unwrap();
        tokio::time::timeout(DRAIN / 2, stack.stop()).await.expect("nobody is being answered");
        assert!(!ready_file.exists());
        drop((silent, kept_alive));
        start(Options { port, ..options(folder.path()) }).await.stop().await;
    }

    /// A server with one call that begins and ends when it is told.
    async fn slow_server() -> (Server, String, std::sync::Arc<tokio::sync::Notify>, std::sync::Arc<tokio::sync::Notify>)
    {
        let (begun, end) =
            (std::sync::Arc::new(tokio::sync::Notify::new()), std::sync::Arc::new(tokio::sync::Notify::new()));
        let (begins, ends) = (begun.clone(), end.clone());
        let slow = axum::routing::get(async move || {
            begins.notify_one();
            ends.notified().await;
            "done"
        });
        let listener = listen(0).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        (Server::start(listener, Router::new().route("/", slow)), url, begun, end)
    }

    #[tokio::test]
    async fn a_call_that_is_being_answered_is_finished() {
        let (server, url, begun, end) = slow_server().await;
        let call = tokio::spawn(reqwest::get(url.clone()));
        begun.notified().await;
        let stopping = tokio::spawn(server.stop(DRAIN));
        // Refused: it has begun to stop.
        while tokio::net::TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/')).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(!stopping.is_finished());
        end.notify_one();
        assert_eq!(call.await.unwrap().unwrap().text().await.unwrap(), "done");
        stopping.await.unwrap();
    }

    #[tokio::test]
    async fn a_call_that_never_ends_does_not_hold_up_the_end_for_ever() {
        let (server, url, begun, _end) = slow_server().await;
        let call = tokio::spawn(reqwest::get(url));
        begun.notified().await;
        tokio::time::timeout(DRAIN, server.stop(Duration::from_millis(50))).await.expect("patience has an end");
        call.abort();
    }

    #[tokio::test]
    async fn a_store_that_was_taken_out_or_overwritten_is_damage() {
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
    async fn a_ready_file_that_cannot_be_written_is_found_out_first() {
        let folder = tempfile::tempdir().unwrap();
        for bad in [folder.path().to_owned(), PathBuf::from("/dev/null/ready.json")] {
            let refusal = Stack::start(Options { ready_file: Some(bad), ..options(folder.path()) }).await.unwrap_err();
            assert!(matches!(refusal, StartError::ReadyFile { .. }), "{refusal}");
        }
        assert!(!folder.path().join("data/store.sqlite").exists());
    }

    #[tokio::test]
    async fn a_table_elsewhere_is_shared_by_stacks_with_data_of_their_own() {
        let (host, one, two) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let embedded = Embedded::start(&host.path().join("store.sqlite")).unwrap();
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
