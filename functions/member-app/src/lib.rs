//! The app: server-rendered pages on which members read and decide. It works without JavaScript; whatever changes
//! anything is a form, which carries the token of the session that it was shown in.
//!
//! One file per page. `layout` has what all of them share; `shared::web::request` has the session, the check of forms and the
//! audit row.

mod account;
mod agreement;
mod agreement_summary;
mod delivery;
mod developers;
mod endpoint;
mod home;
mod layout;
mod members;
mod pager;
mod proposal;
mod proposals;
mod sign_in;
mod style;
mod workspaces;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use shared::AppState;
use shared::error::Error;
use shared::platform::call_record::catch_panic_and_overrun;
use shared::web::Request;

use layout::Answer;

/// A page, or what a form does.
trait Page: 'static {
    /// What the call is called in audit rows and logs.
    fn operation(request: &Request) -> &'static str;

    /// Finds the answer.
    fn answer(request: &mut Request) -> impl Future<Output = Result<Answer, Error>> + Send;
}

/// The pages. Everything else under `/app` is answered with a page that says so.
pub fn router(app: Arc<AppState>) -> Router {
    let unrouted = |State(app): State<Arc<AppState>>, request| handle::<NoSuchPage>(app, request, Address::Page);
    let wrong_method =
        |State(app): State<Arc<AppState>>, request| handle::<WrongMethod>(app, request, Address::ActOnly);
    Router::new()
        .route("/app", show::<home::Home>())
        .route("/app/", show::<home::Home>())
        .route("/app/sign-in", form::<sign_in::Form, sign_in::SignIn>())
        .route("/app/sign-out", act::<account::SignOut>())
        .route("/app/sign-out-everywhere", act::<account::SignOutEverywhere>())
        .route("/app/account", show::<account::Account>())
        .route("/app/organization", act::<account::Switch>())
        .route("/app/workspaces", show::<workspaces::List>())
        .route("/app/workspaces/{id}", form::<workspaces::Show, workspaces::Activate>())
        .route("/app/agreements/{id}", show::<agreement::Show>())
        .route("/app/proposals", show::<proposals::List>())
        .route("/app/proposals/{id}", form::<proposal::Show, proposal::Decide>())
        .route("/app/members", form::<members::Show, members::Remove>())
        .route("/app/developers", form::<developers::Show, developers::Add>())
        .route("/app/developers/endpoints/{id}", form::<endpoint::Show, endpoint::Change>())
        .route("/app/developers/endpoints/{id}/edit", form::<endpoint::Edit, endpoint::Save>())
        .route("/app/developers/endpoints/{id}/deliveries/{event}", form::<delivery::Show, delivery::Replay>())
        .route("/app/style.css", get(style::answer))
        .route("/app/{*rest}", axum::routing::any(unrouted))
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// What is at an address, for whoever is to come back there after signing in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Address {
    /// A page.
    Page,
    /// Nothing to see: it only takes forms that are on other pages.
    ActOnly,
}

/// A page.
fn show<P: Page>() -> MethodRouter<Arc<AppState>> {
    get(|State(app): State<Arc<AppState>>, request| handle::<P>(app, request, Address::Page))
}

/// What a form on another page does.
fn act<P: Page>() -> MethodRouter<Arc<AppState>> {
    post(|State(app): State<Arc<AppState>>, request| handle::<P>(app, request, Address::ActOnly))
}

/// A page with a form, and what that does.
fn form<P: Page, A: Page>() -> MethodRouter<Arc<AppState>> {
    show::<P>().post(|State(app): State<Arc<AppState>>, request| handle::<A>(app, request, Address::Page))
}

async fn handle<P: Page>(app: Arc<AppState>, request: http::Request<Body>, address: Address) -> Response {
    let mut request = Request::receive(app, request).await;
    let operation = P::operation(&request);
    let ended = catch_panic_and_overrun(async {
        request.authenticate(operation).await?;
        P::answer(&mut request).await
    })
    .await;
    layout::finish(&request, address, ended).await
}

/// What is at no address.
struct NoSuchPage;

impl Page for NoSuchPage {
    fn operation(_: &Request) -> &'static str {
        "none"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.signed_in()?;
        Err(Error::NoSuchRoute)
    }
}

/// An address that is called in a way that it does not answer.
struct WrongMethod;

impl Page for WrongMethod {
    fn operation(_: &Request) -> &'static str {
        "none"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.signed_in()?;
        // The router, which knows them, lists the methods that there are.
        Err(Error::MethodNotAllowed { allow: String::new() })
    }
}
