//! The app: server-rendered pages on which members read and decide. They work without JavaScript. Every change is a form
//! submission with the CSRF token of the session.
//!
//! Each page has its own file. `layout` and `labels` have what pages share, and `response` turns a handler's result into
//! a response. `shared::web` has the session, the form checks and the audit row.

mod account;
mod acts;
mod agreement;
mod agreement_summary;
mod agreements;
mod assets;
mod audit;
mod audit_export;
mod audit_query;
mod contacts;
mod csv;
mod deal;
mod delivery;
mod developers;
mod done;
mod draft;
mod endpoint;
mod fields;
mod home;
mod invitation;
mod invitations;
mod labels;
mod layout;
mod members;
mod organization;
mod own_contacts;
mod pager;
mod password_link;
mod proposal;
mod proposals;
mod response;
mod search;
mod sign_in;
mod theme;
mod tokens;
mod workspace_people;
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

use response::PageResponse;

/// A page, or the action of a form.
trait Handler: 'static {
    /// The operation's name in audit rows and log lines.
    fn operation(request: &Request) -> &'static str;

    /// Handles a request.
    fn handle(request: &mut Request) -> impl Future<Output = Result<PageResponse, Error>> + Send;
}

/// The routes of the app. Every other path under `/app` gets an error page.
pub fn router(app: Arc<AppState>) -> Router {
    let not_found = |State(app): State<Arc<AppState>>, request| serve::<NotFound>(app, request, RouteKind::Page);
    let wrong_method =
        |State(app): State<Arc<AppState>>, request| serve::<WrongMethod>(app, request, RouteKind::Action);
    Router::new()
        .route("/app", page::<home::Show>())
        .route("/app/", page::<home::Show>())
        .route("/app/sign-in", page_with_action::<sign_in::Show, sign_in::SignIn>())
        .route("/app/sign-out", action::<account::SignOut>())
        .route("/app/sign-out-everywhere", action::<account::SignOutEverywhere>())
        .route("/app/account", page::<account::Show>())
        .route("/app/account/name", action::<account::SaveName>())
        .route("/app/account/password", action::<account::ChangePassword>())
        .route("/app/account/sessions", action::<account::EndSession>())
        .route("/app/account/organization", action::<account::SwitchOrganization>())
        .route("/app/theme", action::<theme::Choose>())
        .route("/app/contacts", page_with_action::<contacts::List, contacts::Add>())
        .route("/app/contacts/{id}", page_with_action::<contacts::Show, contacts::Save>())
        .route("/app/workspaces", page_with_action::<workspaces::List, workspaces::Create>())
        .route("/app/workspaces/{id}", page_with_action::<workspaces::Show, workspaces::Activate>())
        .route("/app/workspaces/{id}/people", page_with_action::<workspace_people::Choose, workspace_people::Add>())
        .route("/app/workspaces/{id}/people/{contact}/remove", action::<workspace_people::Remove>())
        .route("/app/agreements", page::<agreements::List>())
        .route(draft::begin::PATH, page_with_action::<draft::begin::Show, draft::begin::Create>())
        .merge(agreement_routes())
        .route("/app/proposals", page::<proposals::List>())
        .route("/app/proposals/{id}", page_with_action::<proposal::Show, proposal::Decide>())
        .route("/app/members", page::<organization::FormerAddress>())
        .route("/app/organization", page_with_action::<organization::Show, organization::Save>())
        .route("/app/organization/contacts", page_with_action::<own_contacts::Choose, own_contacts::Add>())
        .route("/app/organization/contacts/{id}/remove", action::<own_contacts::Remove>())
        .route("/app/organization/invitations", action::<invitations::Invite>())
        .route("/app/organization/invitations/{id}/revoke", action::<invitations::Revoke>())
        .route("/app/organization/members", action::<members::Remove>())
        .route("/app/organization/members/{id}/role", action::<members::SaveRole>())
        .route("/app/organization/members/{id}/password-link", action::<members::CreatePasswordLink>())
        .route("/app/invitations/{secret}", page_with_action::<invitation::Show, invitation::Accept>())
        .route("/app/password-links/{secret}", page_with_action::<password_link::Show, password_link::Set>())
        .route("/app/search", page::<search::Show>())
        .route("/app/audit", page::<audit::Show>())
        .route("/app/audit/export", page::<audit_export::Export>())
        .route("/app/developers", page_with_action::<developers::Show, developers::AddEndpoint>())
        .route("/app/developers/tokens", page_with_action::<tokens::Show, tokens::Create>())
        .route("/app/developers/tokens/{id}/revoke", action::<tokens::Revoke>())
        .route("/app/developers/endpoints/{id}", page_with_action::<endpoint::Show, endpoint::Submit>())
        .route("/app/developers/endpoints/{id}/edit", page_with_action::<endpoint::Edit, endpoint::Save>())
        .route(
            "/app/developers/endpoints/{id}/deliveries/{event}",
            page_with_action::<delivery::Show, delivery::Replay>(),
        )
        .route(assets::STYLE.path, assets::route(&assets::STYLE))
        .route(assets::SCRIPT.path, assets::route(&assets::SCRIPT))
        .route(assets::SANS.path, assets::route(&assets::SANS))
        .route(assets::SERIF.path, assets::route(&assets::SERIF))
        .route("/app/{*rest}", axum::routing::any(not_found))
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// The routes of an agreement: its page, and the pages on which its draft is set up.
fn agreement_routes() -> Router<Arc<AppState>> {
    use draft::{acts, condition, details, documents, participants, step, terms};
    // Not nested: a nested router would take the beginning off the path, which pages and the way through sign-in need.
    let at = |path: &str| format!("/app/agreements/{{id}}{path}");
    Router::new()
        .route(&at(""), page::<agreement::Show>())
        .route(&at("/details"), page_with_action::<details::Show, details::Save>())
        .route(&at("/terms"), page_with_action::<terms::Show, terms::Save>())
        .route(&at("/participants"), page_with_action::<participants::Choose, participants::Add>())
        .route(&at("/participants/{participant}"), page_with_action::<participants::Show, participants::Save>())
        .route(&at("/documents"), action::<documents::Add>())
        .route(&at("/documents/{document}"), page_with_action::<documents::Show, documents::Save>())
        .route(&at("/documents/{document}/view"), page::<documents::View>())
        .route(&at("/documents/{document}/download"), page::<documents::Download>())
        .route(&at("/steps"), action::<step::Change>())
        .route(&at("/steps/{step}"), page_with_action::<step::Show, step::Save>())
        .route(&at("/steps/{step}/conditions"), page_with_action::<condition::New, condition::Add>())
        .route(&at("/conditions/{condition}"), page_with_action::<condition::Show, condition::Save>())
        .route(&at("/duplicate"), action::<acts::Duplicate>())
        .route(&at("/publish"), page_with_action::<acts::Review, acts::Publish>())
        .route(&at("/discard"), action::<acts::Discard>())
        .route(&at("/propose"), action::<acts::Propose>())
}

/// The kind of a route, which decides where a person returns to after signing in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RouteKind {
    /// The route has a page: the person returns to it.
    Page,
    /// The route only accepts forms of other pages: the person returns to the form's page.
    Action,
}

/// A route with a page.
fn page<P: Handler>() -> MethodRouter<Arc<AppState>> {
    get(|State(app): State<Arc<AppState>>, request| serve::<P>(app, request, RouteKind::Page))
}

/// A route that accepts a form of other pages.
fn action<A: Handler>() -> MethodRouter<Arc<AppState>> {
    post(|State(app): State<Arc<AppState>>, request| serve::<A>(app, request, RouteKind::Action))
}

/// A route with a page and the action of its form.
fn page_with_action<P: Handler, A: Handler>() -> MethodRouter<Arc<AppState>> {
    page::<P>().post(|State(app): State<Arc<AppState>>, request| serve::<A>(app, request, RouteKind::Page))
}

async fn serve<H: Handler>(app: Arc<AppState>, request: http::Request<Body>, route: RouteKind) -> Response {
    let mut request = Request::receive(app, request).await;
    let operation = H::operation(&request);
    let result = catch_panic_and_overrun(async {
        request.authenticate(operation).await?;
        H::handle(&mut request).await
    })
    .await;
    response::finish(&request, route, result).await
}

/// A path without a route.
struct NotFound;

impl Handler for NotFound {
    fn operation(_: &Request) -> &'static str {
        "none"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        request.signed_in()?;
        Err(Error::NoSuchRoute)
    }
}

/// A method that the route does not support.
struct WrongMethod;

impl Handler for WrongMethod {
    fn operation(_: &Request) -> &'static str {
        "none"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        request.signed_in()?;
        // The router adds the `Allow` header.
        Err(Error::MethodNotAllowed { allow: String::new() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use shared::domain::sentences;

    /// The string literals in the functions that name operations.
    fn operations(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                operations(&path, found);
                continue;
            }
            let source = std::fs::read_to_string(&path).expect("a source");
            for function in source.split("fn operation(").skip(1) {
                let body = function.split("\n    }\n").next().unwrap_or_default();
                // The last literal of a line: before it may be what a form's field says.
                let names = body.lines().filter_map(|line| line.trim_end_matches([',', ' ']).strip_suffix('"'));
                let names = names.filter_map(|line| line.rsplit('"').next());
                // This test's own source has such a literal too.
                let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
                found.extend(names.filter(is_name).map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_act_has_words_in_the_audit_log() {
        let mut found = BTreeSet::new();
        operations(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.contains("add_step") && found.contains("view_home"), "{found:?}");
        let known: BTreeSet<&str> = sentences::operations().map(|(id, _)| id).collect();
        // Plain views of pages are not in the log.
        let acts = found.iter().filter(|operation| !operation.starts_with("view_"));
        let without: Vec<_> = acts.filter(|operation| !known.contains(operation.as_str())).collect();
        assert!(without.is_empty(), "{without:?}");
    }
}
