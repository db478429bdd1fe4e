//! All functions in one process, with one state and one router.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::Request;
use mcp::Access;
use pages::routes::{Pages, complete};
use shared::api::operation::Register;
use shared::api::pipeline::Routes;
use shared::crypto::keys::Keys;
use shared::domain::audit::Via;
use shared::platform::config::BaseUrl;
use shared::platform::files::FileStore;
use shared::store::Store;
use shared::web::entrance::with_entrance;
use shared::webhook::client::Client;
use shared::webhook::resolve::SystemResolver;
use shared::wire::path::normalize;
use shared::{AppState, Webhooks};

use crate::calls::{self, Calls};
use crate::error::{StartError, in_one_line};
use crate::gateway::{self, Route, app_pages};
use crate::guard::PublicOrLoopback;

/// Registers the operations of all functions: the whole HTTP API, as the gateway shows it.
pub fn operations(to: &mut impl Register) {
    read_api::operations(to);
    write_api::operations(to);
    proposals::operations(to);
    documents::operations(to);
}

/// The description of the whole API, kept in `shared/openapi.json`.
#[must_use]
pub fn openapi_json() -> String {
    let mut description = shared::api::openapi::Description::new();
    operations(&mut description);
    description.into_json()
}

/// The documentation for people, kept in `functions/read-api/docs`.
///
/// # Errors
/// When it can't be written.
pub fn documentation() -> Result<docs::Files, String> {
    docs::files(&openapi_json()).map_err(|error| error.to_string())
}

/// The tools of agents, kept in `functions/mcp/tools.json`.
#[must_use]
pub fn tools_json() -> String {
    let mut catalog = mcp::catalog::Catalog::default();
    operations(&mut catalog);
    catalog.into_json(&serde_json::from_str(&openapi_json()).unwrap_or_default())
}

pub(crate) struct Functions {
    pub(crate) app: Arc<AppState>,
    /// Answers both API and app.
    pub(crate) router: Router,
    /// Opens sealed secrets for the webhook sender.
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) client: Client,
    pub(crate) calls: Option<Calls>,
}

impl Functions {
    /// Adds to the state what only some functions use.
    pub(crate) fn new(
        app: AppState,
        keys: Arc<dyn Keys>,
        files: Arc<dyn FileStore>,
        rows: StoredRows<'_>,
        calls: Option<Calls>,
    ) -> Result<Self, StartError> {
        let (keys, files) = match &calls {
            Some(calls) => (calls.of_keys(keys), calls.of_files(files)),
            None => (keys, files),
        };
        let (guard, resolver) = (Arc::new(PublicOrLoopback), Arc::new(SystemResolver::new()));
        let webhooks = Webhooks { keys: keys.clone(), guard: guard.clone(), resolver: resolver.clone() };
        let client = Client::new(guard, resolver).map_err(|error| StartError::Store(in_one_line(&error)))?;
        let store = app.store.clone().with_row_files(Arc::new(files.clone()), rows.table, rows.rows_min);
        let app = Arc::new(AppState { store, ..app }.with_webhooks(webhooks).with_files(files));
        let mut api = Routes::new().with_description().with_page(&read_api::DOCS);
        operations(&mut api);
        let api = api.into_router(app.clone());
        let operations = match &calls {
            Some(calls) => handed_on(api, calls.clone()),
            None => api,
        };
        let api = mcp::router(app.clone(), access(&app.base_url), operations);
        let pages = app_pages().into_iter().map(|(_, pages)| pages).reduce(Pages::merge).unwrap_or_default();
        let router = storing_rows(complete(pages, app.clone()).merge(api), app.store.clone());
        let router = with_one_path(with_entrance(match &calls {
            Some(_) => in_the_name_of_functions(router),
            None => router,
        }));
        Ok(Self { app, router, keys, client, calls })
    }
}

/// Which rows of lists are stored: those of long ones in this table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRows<'a> {
    pub(crate) table: &'a str,
    pub(crate) rows_min: usize,
}

/// Stores rows of lists beside what goes on, as a function on Lambda does after its answer.
fn storing_rows(router: Router, store: Store) -> Router {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (mut router, store) = (router.clone(), store.clone());
        async move {
            let answer = tower::Service::call(&mut router, request).await;
            if store.has_rows_to_store() {
                calls::beside(async move { store.store_rows().await });
            }
            answer
        }
    });
    Router::new().fallback_service(service)
}

/// Normalizes the path before the functions see it.
fn with_one_path(router: Router) -> Router {
    let service = tower::service_fn(move |mut request: Request<Body>| {
        let mut router = router.clone();
        async move {
            normalize(request.uri_mut());
            tower::Service::call(&mut router, request).await
        }
    });
    Router::new().fallback_service(service)
}

/// Agents may call this stack's own address, by either name of this machine.
fn access(base_url: &BaseUrl) -> Access {
    let address = base_url.to_string();
    let by_name = address.replace("//127.0.0.1", "//localhost");
    let host = by_name.split_once("//").map_or("", |(_, host)| host);
    Access::of(base_url).with(host, &by_name)
}

/// The operations as `mcp` reaches them: under its own name, except the one it hands on to another function.
fn handed_on(operations: Router, calls: Calls) -> Router {
    let known: Arc<[Route]> = gateway::routes().into();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (mut operations, known, calls) = (operations.clone(), known.clone(), calls.clone());
        async move {
            let function = gateway::function(&known, request.method().as_str(), request.uri().path()).to_owned();
            let is_handed_on = function == PAPERS && request.extensions().get() == Some(&Via::Mcp);
            let answer = tower::Service::call(&mut operations, request);
            if !is_handed_on {
                return answer.await;
            }
            calls.tell("lambda:InvokeFunction");
            calls::of(&function, answer).await
        }
    });
    Router::new().fallback_service(service)
}

/// Papers funding items for all entrances: no other function has its fonts.
const PAPERS: &str = "documents";

/// Runs each request under the name of the function that the gateway routes it to.
fn in_the_name_of_functions(router: Router) -> Router {
    let known: Arc<[Route]> = gateway::routes().into();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (mut router, known) = (router.clone(), known.clone());
        async move {
            let function = gateway::function(&known, request.method().as_str(), request.uri().path()).to_owned();
            calls::of(&function, tower::Service::call(&mut router, request)).await
        }
    });
    Router::new().fallback_service(service)
}
