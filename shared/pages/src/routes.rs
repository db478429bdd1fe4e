//! The routing table: the handler at each path, and the name of its operation. All handlers share one way from request
//! to response. The gateway's routes and the audit log's words are checked against the table.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, any, on};
use shared::AppState;
use shared::domain::audit::{NO_ROUTE, WRONG_METHOD};
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::service::call_record::catch_panic_and_overrun;
use shared::service::identity::participant_sessions::ParticipantSession;
use shared::service::identity::sessions::SignedIn;
use shared::text::reader;
use shared::web::Request;

use crate::form::FormFields;
use crate::response::{self, PageResponse, RouteKind};
use crate::unsent::SentForm;
use crate::urls::LINKS;
use crate::{in_person, repeats, unsent};

const PART_ADDRESSES: [&str; 3] = ["/app/evidence/parts/", "/app/parts/", "/app/pictures/"];

const HOME: &str = "/app";

/// A route's operation, named in audit rows and log lines.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    /// Always the same.
    Named(&'static str),
    /// A form with several buttons.
    ByField {
        /// The field that the buttons set.
        field: &'static str,
        /// The field's values with their operations.
        names: &'static [(&'static str, &'static str)],
        /// For any other value.
        otherwise: &'static str,
    },
    /// A form that may have a field.
    WithField {
        /// The field.
        field: &'static str,
        /// The operation with the field.
        name: &'static str,
        /// The operation without it.
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

    fn names(self) -> Vec<&'static str> {
        match self {
            Self::Named(name) => vec![name],
            Self::ByField { names, otherwise, .. } => names.iter().map(|(_, name)| *name).chain([otherwise]).collect(),
            Self::WithField { name, otherwise, .. } => vec![name, otherwise],
        }
    }
}

/// A page or a form's act: an `async fn` from request to response.
pub trait Handler<'a>: Clone + Send + Sync + 'static {
    /// The future of the response.
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

/// The handlers at a path: a page, its form's act, or both.
#[derive(Debug, Default)]
pub struct Methods(Vec<(MethodFilter, PageRoute)>);

/// A page.
pub fn get(operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>) -> Methods {
    Methods(vec![(MethodFilter::GET, PageRoute::new(operation, handler, RouteKind::Page))])
}

/// The act of a form on other pages. After signing in, people return to the form's page.
pub fn post(operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>) -> Methods {
    Methods(vec![(MethodFilter::POST, PageRoute::new(operation, handler, RouteKind::Action))])
}

impl Methods {
    /// Names the fields of the form that was added last.
    #[must_use]
    pub fn fields(mut self, fields: &'static dyn FormFields) -> Self {
        if let Some((_, route)) = self.0.last_mut() {
            route.fields = Some(fields);
        }
        self
    }

    /// Adds the act of the page's own form.
    #[must_use]
    pub fn form(mut self, operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>) -> Self {
        self.0.push((MethodFilter::POST, PageRoute::new(operation, handler, RouteKind::Page)));
        self
    }
}

/// A routing table that knows its paths and operations.
#[derive(Debug, Default)]
pub struct Pages {
    router: Router<Arc<AppState>>,
    paths: Vec<String>,
    operations: Vec<&'static str>,
}

impl Pages {
    /// Adds the handlers at a path.
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

    /// Adds a public file, without sign-in or audit.
    #[must_use]
    pub fn file(mut self, path: &str, answers: MethodRouter<Arc<AppState>>) -> Self {
        self.paths.push(path.to_owned());
        Self { router: self.router.route(path, answers), ..self }
    }

    /// Adds all routes of another table.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            router: self.router.merge(other.router),
            paths: [self.paths, other.paths].concat(),
            operations: [self.operations, other.operations].concat(),
        }
    }

    /// The paths in axum's form: `/app/contacts/{id}`.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The names of all operations.
    #[must_use]
    pub fn operations(&self) -> &[&'static str] {
        &self.operations
    }
}

/// Adds an error page for all other paths of the app.
pub fn complete(routes: Pages, app: Arc<AppState>) -> Router {
    let no_route = PageRoute::new(NO_ROUTE, not_found, RouteKind::Page);
    let no_route =
        move |State(app): State<Arc<AppState>>, request| no_route.for_reader_of(&request).serve(app, request);
    let wrong = PageRoute::new(WRONG_METHOD, wrong_method, RouteKind::Action);
    let wrong = move |State(app): State<Arc<AppState>>, request| wrong.for_reader_of(&request).serve(app, request);
    let has_home = routes.paths.iter().any(|path| path == HOME);
    let pages = if has_home { routes.router } else { routes.router.route(HOME, any(no_route.clone())) };
    pages.route("/app/{*rest}", any(no_route)).method_not_allowed_fallback(wrong).with_state(app)
}

type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<PageResponse, Error>> + Send + 'a>>;
type Handle = Arc<dyn for<'a> Fn(&'a mut Request) -> HandlerFuture<'a> + Send + Sync>;

/// A handler as a value, so that [`serve`](Self::serve) is compiled only once: functions stay small.
#[derive(Clone)]
struct PageRoute {
    operation: Operation,
    handle: Handle,
    route: RouteKind,
    fields: Option<&'static dyn FormFields>,
}

impl std::fmt::Debug for PageRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageRoute")
            .field("operation", &self.operation)
            .field("route", &self.route)
            .finish_non_exhaustive()
    }
}

impl PageRoute {
    fn new(operation: impl Into<Operation>, handler: impl for<'a> Handler<'a>, route: RouteKind) -> Self {
        let handle: Handle = Arc::new(move |request| Box::pin(handler.call(request)));
        Self { operation: operation.into(), handle, route, fields: None }
    }

    fn of_part(self) -> Self {
        Self { route: RouteKind::Part, ..self }
    }

    /// Handles requests without a route. Participants, who have no account, aren't sent to sign in.
    fn for_reader_of(&self, request: &http::Request<Body>) -> Self {
        if is_of_participant(request.uri().path()) { self.clone().of_part() } else { self.clone() }
    }

    fn at(self, method: MethodFilter) -> MethodRouter<Arc<AppState>> {
        on(method, move |State(app): State<Arc<AppState>>, request| self.serve(app, request))
    }

    async fn serve(self, app: Arc<AppState>, request: http::Request<Body>) -> Response {
        let mut request = Request::receive(app, request).await;
        let sent = SentForm { route: self.route, fields: self.fields };
        let operation = self.operation.of(&request);
        let result = catch_panic_and_overrun(request.span(), async {
            match self.route {
                RouteKind::Part => {
                    Box::pin(request.authenticate_participant(operation)).await?;
                    if in_person::is_asked(&request, operation) {
                        return in_person::question(&mut request);
                    }
                }
                RouteKind::Page | RouteKind::Action => request.authenticate(operation).await?,
            }
            if let Some(answer) = repeats::answered(&mut request, sent)? {
                return Ok(answer);
            }
            reader::reading_in(zone_of(&request), (self.handle)(&mut request)).await
        })
        .await;
        let result = repeats::or_answered(&request, sent, result).await;
        let result = match self.route {
            RouteKind::Part => unsent::or_kept_of_part(&request, sent, result),
            RouteKind::Page | RouteKind::Action => unsent::or_kept(&request, sent, result).await,
        };
        response::finish(&request, self.route, result).await
    }
}

/// The zone in which a page shows times: that of the organization whose member or participant opens it.
fn zone_of(request: &Request) -> TimeZone {
    let of_part = || request.participant_session().map(ParticipantSession::organization);
    let organization = request.signed_in().map(SignedIn::organization).or_else(|_| of_part());
    organization.map(|organization| organization.time_zone.clone()).unwrap_or_default()
}

fn is_of_participant(path: &str) -> bool {
    PART_ADDRESSES.iter().chain([&LINKS]).any(|at| path.starts_with(at))
}

/// Members must sign in to learn that a page doesn't exist. Participants can't.
fn signed_in_or_part(request: &Request) -> Result<(), Error> {
    if is_of_participant(request.uri().path()) {
        return Ok(());
    }
    request.signed_in().map(|_| ())
}

async fn not_found(request: &mut Request) -> Result<PageResponse, Error> {
    signed_in_or_part(request)?;
    Err(Error::NoSuchRoute)
}

async fn wrong_method(request: &mut Request) -> Result<PageResponse, Error> {
    signed_in_or_part(request)?;
    // The router adds the `Allow` header.
    Err(Error::MethodNotAllowed { allow: String::new() })
}
