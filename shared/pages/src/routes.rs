//! What serves pages: a handler for each, and the way that all of them share, from a request to its response. Routes know their
//! paths: the gateway's routes are made from them.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use shared::AppState;
use shared::domain::audit::{NO_ROUTE, WRONG_METHOD};
use shared::error::Error;
use shared::platform::call_record::catch_panic_and_overrun;
use shared::web::Request;

use crate::response::{self, PageResponse, RouteKind};
use crate::{in_person, unsent};

/// The beginnings of the addresses of participants.
const PART_ADDRESSES: [&str; 4] = ["/app/evidence/parts/", "/app/links/", "/app/parts/", "/app/pictures/"];

/// A page, or the action of a form.
pub trait Handler: 'static {
    /// The operation's name in audit rows and log lines.
    fn operation(request: &Request) -> &'static str;

    /// Handles a request.
    fn handle(request: &mut Request) -> impl Future<Output = Result<PageResponse, Error>> + Send;
}

/// A router with the paths of its routes, which axum's own does not tell.
#[derive(Debug, Default)]
pub struct Pages {
    router: Router<Arc<AppState>>,
    paths: Vec<String>,
}

impl Pages {
    /// Adds what answers at a path.
    #[must_use]
    pub fn route(mut self, path: &str, answers: MethodRouter<Arc<AppState>>) -> Self {
        self.paths.push(path.to_owned());
        Self { router: self.router.route(path, answers), paths: self.paths }
    }

    /// Adds all routes of another.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self { router: self.router.merge(other.router), paths: [self.paths, other.paths].concat() }
    }

    /// The router.
    pub fn into_router(self) -> Router<Arc<AppState>> {
        self.router
    }

    /// The paths, as axum writes them: `/app/contacts/{id}`.
    #[must_use]
    pub fn into_paths(self) -> Vec<String> {
        self.paths
    }
}

/// Routes with an error page for every other path under `/app`.
pub fn complete(routes: Pages, app: Arc<AppState>) -> Router {
    let not_found = Served::by::<NotFound>(RouteKind::Page);
    let not_found =
        move |State(app): State<Arc<AppState>>, request| not_found.for_reader_of(&request).serve(app, request);
    let wrong_method = Served::by::<WrongMethod>(RouteKind::Action);
    let wrong_method =
        move |State(app): State<Arc<AppState>>, request| wrong_method.for_reader_of(&request).serve(app, request);
    routes
        .into_router()
        .route("/app/{*rest}", axum::routing::any(not_found))
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// A handler as a value. All of them share one way through `serve`, which is compiled once: the function stays small.
#[derive(Clone, Copy)]
struct Served {
    operation: fn(&Request) -> &'static str,
    handle: fn(&mut Request) -> HandlerFuture<'_>,
    route: RouteKind,
}

type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<PageResponse, Error>> + Send + 'a>>;

impl Served {
    fn by<H: Handler>(route: RouteKind) -> Self {
        Self { operation: H::operation, handle: |request| Box::pin(H::handle(request)), route }
    }

    /// The handler for a request that no route takes: a participant, who has no account, is not sent to sign in.
    fn for_reader_of(self, request: &http::Request<Body>) -> Self {
        let is_part = PART_ADDRESSES.iter().any(|at| request.uri().path().starts_with(at));
        if is_part { Self { route: RouteKind::Part, ..self } } else { self }
    }

    /// The handler for a route's method.
    fn method(self, method: MethodFilter) -> MethodRouter<Arc<AppState>> {
        on(method, move |State(app): State<Arc<AppState>>, request| self.serve(app, request))
    }

    async fn serve(self, app: Arc<AppState>, request: http::Request<Body>) -> Response {
        let mut request = Request::receive(app, request).await;
        let operation = (self.operation)(&request);
        let result = catch_panic_and_overrun(async {
            match self.route {
                RouteKind::Part => {
                    Box::pin(request.authenticate_participant(operation)).await?;
                    if in_person::is_asked(&request, operation) {
                        return in_person::question(&mut request);
                    }
                }
                RouteKind::Page | RouteKind::Action => request.authenticate(operation).await?,
            }
            (self.handle)(&mut request).await
        })
        .await;
        let result = match self.route {
            RouteKind::Part => unsent::or_kept_of_part(&request, result),
            RouteKind::Page | RouteKind::Action => unsent::or_kept(&request, self.route, result).await,
        };
        response::finish(&request, self.route, result).await
    }
}

/// A route with a page.
pub fn page<P: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<P>(RouteKind::Page).method(MethodFilter::GET)
}

/// A route that accepts a form of other pages.
pub fn action<A: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<A>(RouteKind::Action).method(MethodFilter::POST)
}

/// A page of a participant.
pub fn part_page<P: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<P>(RouteKind::Part).method(MethodFilter::GET)
}

/// A route that accepts a form of a participant's pages.
pub fn part_action<A: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<A>(RouteKind::Part).method(MethodFilter::POST)
}

/// A route with a page and the action of its form.
pub fn page_with_action<P: Handler, A: Handler>() -> MethodRouter<Arc<AppState>> {
    page::<P>().merge(Served::by::<A>(RouteKind::Page).method(MethodFilter::POST))
}

/// Members sign in before they are told what there is not. Participants have nothing to sign in to.
fn signed_in_or_part(request: &Request) -> Result<(), Error> {
    if PART_ADDRESSES.iter().any(|at| request.uri().path().starts_with(at)) {
        return Ok(());
    }
    request.signed_in().map(|_| ())
}

/// A path without a route.
struct NotFound;

impl Handler for NotFound {
    fn operation(_: &Request) -> &'static str {
        NO_ROUTE
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        signed_in_or_part(request)?;
        Err(Error::NoSuchRoute)
    }
}

/// A method that the route does not support.
struct WrongMethod;

impl Handler for WrongMethod {
    fn operation(_: &Request) -> &'static str {
        WRONG_METHOD
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        signed_in_or_part(request)?;
        // The router adds the `Allow` header.
        Err(Error::MethodNotAllowed { allow: String::new() })
    }
}
