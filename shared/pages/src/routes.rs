//! The table of routes: what answers at a path, and the name of what it does. All handlers share one way from a request to its
//! response. Routes know their paths and operations: the gateway's routes and the words of the audit log are checked by them.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, any, on};
use shared::AppState;
use shared::domain::audit::{NO_ROUTE, WRONG_METHOD};
use shared::error::Error;
use shared::platform::call_record::catch_panic_and_overrun;
use shared::web::Request;

use crate::response::{self, PageResponse, RouteKind};
use crate::urls::LINKS;
use crate::{in_person, repeats, unsent};

/// The beginnings of the addresses of participants' pages, which their link opens.
const PART_ADDRESSES: [&str; 3] = ["/app/evidence/parts/", "/app/parts/", "/app/pictures/"];

/// The path of the first page.
const HOME: &str = "/app";

/// The name of what a route does, in audit rows and log lines.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    /// Always the same.
    Named(&'static str),
    /// A form with several buttons.
    ByField {
        /// The field that the buttons set.
        field: &'static str,
        /// The values of the field, each with its operation.
        names: &'static [(&'static str, &'static str)],
        /// The operation of any other value.
        otherwise: &'static str,
    },
    /// A form that takes one of two fields.
    WithField {
        /// The field.
        field: &'static str,
        /// The operation if it was sent.
        name: &'static str,
        /// The operation if it wasn't.
        otherwise: &'static str,
    },
}

impl From<&'static str> for Operation {
    fn from(name: &'static str) -> Self {
        Self::Named(name)
    }
}

impl Operation {
    fn of(self, request: &Request) -> &'static str {
        match self {
            Self::Named(name) => name,
            Self::ByField { field, names, otherwise } => {
                let form = request.unverified_form();
                let value = form.get(field);
                names.iter().find(|(known, _)| *known == value).map_or(otherwise, |(_, name)| name)
            }
            Self::WithField { field, name, otherwise } => {
                if request.unverified_form().has(field) {
                    name
                } else {
                    otherwise
                }
            }
        }
    }

    /// All names that it can be.
    fn names(self) -> Vec<&'static str> {
        match self {
            Self::Named(name) => vec![name],
            Self::ByField { names, otherwise, .. } => names.iter().map(|(_, name)| *name).chain([otherwise]).collect(),
            Self::WithField { name, otherwise, .. } => vec![name, otherwise],
        }
    }
}

/// A page, or the act of a form: an `async fn` that takes a request and gives a response.
pub trait Handler<'a>: Clone + Send + Sync + 'static {
    /// What becomes of the request.
    type Future: Future<Output = Result<PageResponse, Error>> + Send + 'a;

    /// Handles a request.
    fn call(&self, request: &'a mut Request) -> Self::Future;
}

impl<'a, F, R> Handler<'a> for F
where
    F: Fn(&'a mut Request) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<PageResponse, Error>> + Send + 'a,
{
    type Future = R;

    fn call(&self, request: &'a mut Request) -> R {
        self(request)
    }
}

/// What answers at a path: a page, the act of its form, or both.
#[derive(Debug, Default)]
pub struct Methods(Vec<(MethodFilter, Served)>);

/// A page.
pub fn get(operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>) -> Methods {
    Methods(vec![(MethodFilter::GET, Served::new(operation, handler, RouteKind::Page))])
}

/// The act of a form that stands on other pages: whoever has to sign in first returns to the page of the form.
pub fn post(operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>) -> Methods {
    Methods(vec![(MethodFilter::POST, Served::new(operation, handler, RouteKind::Action))])
}

impl Methods {
    /// Adds the act of the page's own form.
    #[must_use]
    pub fn form(mut self, operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>) -> Self {
        self.0.push((MethodFilter::POST, Served::new(operation, handler, RouteKind::Page)));
        self
    }
}

/// A table of routes, which knows their paths and operations.
#[derive(Debug, Default)]
pub struct Pages {
    router: Router<Arc<AppState>>,
    paths: Vec<String>,
    operations: Vec<&'static str>,
}

impl Pages {
    /// Adds what answers at a path.
    #[must_use]
    pub fn route(mut self, path: &str, methods: Methods) -> Self {
        let is_part = PART_ADDRESSES.iter().any(|at| path.starts_with(at));
        let mut answers = MethodRouter::new();
        for (method, served) in methods.0 {
            self.operations.extend(served.operation.names());
            let served = if is_part { served.of_part() } else { served };
            answers = answers.merge(served.at(method));
        }
        self.file(path, answers)
    }

    /// Adds what is public, and neither signed in to nor audited.
    #[must_use]
    pub fn file(mut self, path: &str, answers: MethodRouter<Arc<AppState>>) -> Self {
        self.paths.push(path.to_owned());
        Self { router: self.router.route(path, answers), ..self }
    }

    /// Adds all routes of another.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            router: self.router.merge(other.router),
            paths: [self.paths, other.paths].concat(),
            operations: [self.operations, other.operations].concat(),
        }
    }

    /// The paths, as axum writes them: `/app/contacts/{id}`.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The names of all that the routes do.
    #[must_use]
    pub fn operations(&self) -> &[&'static str] {
        &self.operations
    }
}

/// Routes with an error page for every other path of the app.
pub fn complete(routes: Pages, app: Arc<AppState>) -> Router {
    let no_route = Served::new(NO_ROUTE, not_found, RouteKind::Page);
    let no_route =
        move |State(app): State<Arc<AppState>>, request| no_route.for_reader_of(&request).serve(app, request);
    let wrong = Served::new(WRONG_METHOD, wrong_method, RouteKind::Action);
    let wrong = move |State(app): State<Arc<AppState>>, request| wrong.for_reader_of(&request).serve(app, request);
    let has_home = routes.paths.iter().any(|path| path == HOME);
    let pages = if has_home { routes.router } else { routes.router.route(HOME, any(no_route.clone())) };
    pages.route("/app/{*rest}", any(no_route)).method_not_allowed_fallback(wrong).with_state(app)
}

type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<PageResponse, Error>> + Send + 'a>>;
type Handle = Arc<dyn for<'a> Fn(&'a mut Request) -> HandlerFuture<'a> + Send + Sync>;

/// A handler as a value. The way through [`serve`](Self::serve) is compiled once for all: functions stay small.
#[derive(Clone)]
struct Served {
    operation: Operation,
    handle: Handle,
    route: RouteKind,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("operation", &self.operation).field("route", &self.route).finish_non_exhaustive()
    }
}

impl Served {
    fn new(operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>, route: RouteKind) -> Self {
        Self { operation: operation.into(), handle: Arc::new(move |request| Box::pin(handler.call(request))), route }
    }

    fn of_part(self) -> Self {
        Self { route: RouteKind::Part, ..self }
    }

    /// The handler for a request that no route takes: a participant, who has no account, is not sent to sign in.
    fn for_reader_of(&self, request: &http::Request<Body>) -> Self {
        if is_of_participant(request.uri().path()) { self.clone().of_part() } else { self.clone() }
    }

    /// The handler for a method of a route.
    fn at(self, method: MethodFilter) -> MethodRouter<Arc<AppState>> {
        on(method, move |State(app): State<Arc<AppState>>, request| self.serve(app, request))
    }

    async fn serve(self, app: Arc<AppState>, request: http::Request<Body>) -> Response {
        let mut request = Request::receive(app, request).await;
        let operation = self.operation.of(&request);
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
            match repeats::answered(&mut request, self.route)? {
                Some(answer) => Ok(answer),
                None => (self.handle)(&mut request).await,
            }
        })
        .await;
        let result = repeats::or_answered(&request, self.route, result).await;
        let result = match self.route {
            RouteKind::Part => unsent::or_kept_of_part(&request, result),
            RouteKind::Page | RouteKind::Action => unsent::or_kept(&request, self.route, result).await,
        };
        response::finish(&request, self.route, result).await
    }
}

/// Whether a path is one of participants', their links included.
fn is_of_participant(path: &str) -> bool {
    PART_ADDRESSES.iter().chain([&LINKS]).any(|at| path.starts_with(at))
}

/// Members sign in before they are told what there is not. Participants have nothing to sign in to.
fn signed_in_or_part(request: &Request) -> Result<(), Error> {
    if is_of_participant(request.uri().path()) {
        return Ok(());
    }
    request.signed_in().map(|_| ())
}

/// Answers where there is no route.
async fn not_found(request: &mut Request) -> Result<PageResponse, Error> {
    signed_in_or_part(request)?;
    Err(Error::NoSuchRoute)
}

/// Answers a method that the route does not support.
async fn wrong_method(request: &mut Request) -> Result<PageResponse, Error> {
    signed_in_or_part(request)?;
    // The router adds the `Allow` header.
    Err(Error::MethodNotAllowed { allow: String::new() })
}
