//! The app: server-rendered pages on which members read and decide. They work without JavaScript. Every change is a form
//! submission with the CSRF token of the session.
//!
//! Each page has its own file. `layout` and `labels` have what pages share, and `response` turns a handler's result into
//! a response. `shared::web` has the session, the form checks and the audit row.

mod access;
mod account;
mod acts;
mod agreement;
mod agreement_summary;
mod agreements;
mod answers;
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
#[cfg(feature = "evidence")]
mod evidence_files;
#[cfg(feature = "evidence")]
mod evidence_keys;
mod fields;
mod funding;
mod home;
mod invitation;
mod invitations;
mod labels;
mod layout;
mod ledger;
mod ledger_export;
mod members;
mod movement;
mod obligation;
mod obligations;
mod organization;
mod own_accounts;
mod own_contacts;
mod pager;
mod pages;
mod paper_signature;
mod part;
mod password_link;
mod proposal;
mod proposals;
pub mod reference;
mod response;
mod satisfaction;
mod search;
mod second_factor;
mod second_members;
mod sign_in;
mod sign_in_code;
mod statement;
mod theme;
mod tokens;
mod unsent;
mod verification;
mod workspace_people;
mod workspaces;

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
use shared::platform::pdf_reader::{self, Draw};
use shared::web::Request;

use pages::Pages;
use response::PageResponse;

/// The beginnings of the addresses of participants.
const PART_ADDRESSES: [&str; 4] = ["/app/evidence/parts/", "/app/links/", "/app/parts/", "/app/pictures/"];

/// The beginning of the stylesheet: fonts, colors and plain elements, for a page beside the app that is to look like it.
#[must_use]
pub fn style_head() -> String {
    assets::STYLE.head()
}

/// Reads a PDF and ends this process, if it was started for that. `main` of what serves documents begins with it.
pub fn read_pdf_if_asked() {
    #[cfg(feature = "pictures")]
    let draw: Option<Draw> = Some(part::picture::draw);
    #[cfg(not(feature = "pictures"))]
    let draw: Option<Draw> = None;
    pdf_reader::read_if_asked(draw);
}

/// A page, or the action of a form.
trait Handler: 'static {
    /// The operation's name in audit rows and log lines.
    fn operation(request: &Request) -> &'static str;

    /// Handles a request.
    fn handle(request: &mut Request) -> impl Future<Output = Result<PageResponse, Error>> + Send;
}

/// All pages of the app.
///
/// Decision: on Lambda three functions share them, each with one of the routers below. One function with all pages would
/// zip to more than 4 MB, and a page would wait for code that it does not use.
pub fn router(app: Arc<AppState>) -> Router {
    let of_members = member_routes().merge(agreement_routes()).merge(money_routes());
    let of_members = of_members.merge(funding_routes()).merge(organization_routes());
    let all = of_members.merge(participant_routes());
    #[cfg(feature = "pictures")]
    let all = all.merge(picture_routes());
    #[cfg(feature = "evidence")]
    let all = all.merge(evidence_routes());
    complete(all, app)
}

/// The paths of the pages of each function, as axum writes them, such as `/app/contacts/{id}`. All other paths under `/app`
/// are those of `member-app`, which says that nothing is there.
#[must_use]
pub fn paths() -> Vec<(&'static str, Vec<String>)> {
    let paths = [
        ("member-app", member_routes()),
        ("agreement-app", agreement_routes()),
        ("money-app", money_routes()),
        ("funding-app", funding_routes()),
        ("organization-app", organization_routes()),
        ("participant-app", participant_routes()),
        #[cfg(feature = "pictures")]
        ("picture-app", picture_routes()),
        #[cfg(feature = "evidence")]
        ("evidence-app", evidence_routes()),
    ];
    paths.into_iter().map(|(function, pages)| (function, pages.into_paths())).collect()
}

/// The function `evidence-app`: what is under `/app/evidence` and `/app/papers`, and the keys that verify bundles.
#[cfg(feature = "evidence")]
pub fn evidence(app: Arc<AppState>) -> Router {
    complete(evidence_routes(), app)
}

/// The function `picture-app`: what is under `/app/pictures`.
#[cfg(feature = "pictures")]
pub fn pictures(app: Arc<AppState>) -> Router {
    complete(picture_routes(), app)
}

/// The pages of the function `participant-app`: those under `/app/links` and `/app/parts`.
pub fn participants(app: Arc<AppState>) -> Router {
    complete(participant_routes(), app)
}

/// The pages of the function `agreement-app`: those under `/app/agreements`.
pub fn agreements(app: Arc<AppState>) -> Router {
    complete(agreement_routes(), app)
}

/// The pages of the function `organization-app`: those under `/app/organization`, `/app/developers` and `/app/audit`.
pub fn organization(app: Arc<AppState>) -> Router {
    complete(organization_routes(), app)
}

/// The pages of the function `money-app`: those under `/app/money` and `/app/obligations`.
pub fn money(app: Arc<AppState>) -> Router {
    complete(money_routes(), app)
}

/// The pages of the function `funding-app`: those under `/app/funding` and `/app/trusts`.
pub fn funding(app: Arc<AppState>) -> Router {
    complete(funding_routes(), app)
}

/// The pages of the function `member-app`: all others.
pub fn members(app: Arc<AppState>) -> Router {
    complete(member_routes(), app)
}

/// Routes with an error page for every other path under `/app`.
fn complete(routes: Pages, app: Arc<AppState>) -> Router {
    let not_found = Served::by::<NotFound>(RouteKind::Page);
    let not_found = move |State(app): State<Arc<AppState>>, request| not_found.of_whom(&request).serve(app, request);
    let wrong_method = Served::by::<WrongMethod>(RouteKind::Action);
    let wrong_method =
        move |State(app): State<Arc<AppState>>, request| wrong_method.of_whom(&request).serve(app, request);
    routes
        .into_router()
        .route("/app/{*rest}", axum::routing::any(not_found))
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// The routes of what members do in deals, of signing in, and of assets.
fn member_routes() -> Pages {
    Pages::default()
        .route("/app", page::<home::Show>())
        .route("/app/sign-in", page_with_action::<sign_in::Show, sign_in::SignIn>())
        .route("/app/sign-in/code", page_with_action::<sign_in_code::Show, sign_in_code::SignIn>())
        .route("/app/sign-out", action::<account::SignOut>())
        .route("/app/sign-out-everywhere", action::<account::SignOutEverywhere>())
        .route("/app/account", page::<account::Show>())
        .route("/app/account/name", action::<account::SaveName>())
        .route("/app/account/password", action::<account::ChangePassword>())
        .route("/app/account/sessions", action::<account::EndSession>())
        .route(second_factor::PATH, page_with_action::<second_factor::Show, second_factor::SetUpForm>())
        .route("/app/account/second-factor/turn-on", action::<second_factor::TurnOn>())
        .route("/app/account/second-factor/recovery-codes", action::<second_factor::RenewCodes>())
        .route("/app/account/second-factor/turn-off", action::<second_factor::TurnOff>())
        .route("/app/account/organization", action::<account::SwitchOrganization>())
        .route(unsent::PATH, page::<unsent::Show>())
        .route("/app/theme", action::<theme::Choose>())
        .route("/app/contacts", page_with_action::<contacts::List, contacts::Add>())
        .route("/app/contacts/{id}", page_with_action::<contacts::Show, contacts::Save>())
        .route("/app/workspaces", page_with_action::<workspaces::List, workspaces::Create>())
        .route("/app/workspaces/{id}", page_with_action::<workspaces::Show, workspaces::Activate>())
        .route("/app/workspaces/{id}/people", page_with_action::<workspace_people::Choose, workspace_people::Add>())
        .route("/app/workspaces/{id}/people/{contact}/remove", action::<workspace_people::Remove>())
        .route("/app/search", page::<search::Show>())
        .route("/app/proposals", page::<proposals::List>())
        .route("/app/proposals/{id}", page_with_action::<proposal::Show, proposal::Decide>())
        .route("/app/members", page::<organization::FormerAddress>())
        .route("/app/invitations/{secret}", page_with_action::<invitation::Show, invitation::Accept>())
        .route("/app/password-links/{secret}", page_with_action::<password_link::Show, password_link::Set>())
        .route(assets::STYLE.path, assets::route(&assets::STYLE))
        .route(assets::SCRIPT.path, assets::route(&assets::SCRIPT))
        .route(assets::SANS.path, assets::route(&assets::SANS))
        .route(assets::SERIF.path, assets::route(&assets::SERIF))
}

/// The routes of what an admin runs, and of the audit log.
fn organization_routes() -> Pages {
    Pages::default()
        .route("/app/organization", page_with_action::<organization::Show, organization::Save>())
        .route("/app/organization/contacts", page_with_action::<own_contacts::Choose, own_contacts::Add>())
        .route("/app/organization/contacts/{id}/remove", action::<own_contacts::Remove>())
        .route("/app/organization/accounts", action::<own_accounts::Say>())
        .route("/app/organization/accounts/{id}/agree", action::<own_accounts::Agree>())
        .route("/app/organization/accounts/{id}/remove", action::<own_accounts::Remove>())
        .route("/app/organization/invitations", action::<invitations::Invite>())
        .route("/app/organization/invitations/{id}/revoke", action::<invitations::Revoke>())
        .route("/app/organization/members", action::<members::Remove>())
        .route("/app/organization/members/{id}/role", action::<members::SaveRole>())
        .route("/app/organization/members/{id}/password-link", action::<members::CreatePasswordLink>())
        .route("/app/organization/members/{id}/second-factor", action::<members::ResetSecondFactor>())
        .route("/app/audit", page::<audit::Show>())
        .route("/app/audit/export", page::<audit_export::Export>())
        .route("/app/developers", page_with_action::<developers::Show, developers::AddEndpoint>())
        .route("/app/developers/tokens", page_with_action::<tokens::Show, tokens::Create>())
        .route("/app/developers/tokens/{id}/revoke", action::<tokens::Revoke>())
        .route(reference::PATH, page::<reference::List>())
        .route("/app/developers/reference/{name}", page::<reference::Show>())
        .route("/app/developers/endpoints/{id}", page_with_action::<endpoint::Show, endpoint::Submit>())
        .route("/app/developers/endpoints/{id}/edit", page_with_action::<endpoint::Edit, endpoint::Save>())
        .route(
            "/app/developers/endpoints/{id}/deliveries/{event}",
            page_with_action::<delivery::Show, delivery::Replay>(),
        )
}

/// The routes under `/app/agreements`: the list, the page of each, and the pages on which its draft is set up.
fn agreement_routes() -> Pages {
    use draft::{acts, condition, details, documents, participants, payments, promises, step, terms};
    // Not nested: a nested router would take the beginning off the path, which pages and the way through sign-in need.
    let at = |path: &str| format!("/app/agreements/{{id}}{path}");
    Pages::default()
        .route("/app/agreements", page::<agreements::List>())
        .route(draft::begin::PATH, page_with_action::<draft::begin::Show, draft::begin::Create>())
        .route(&at(""), page::<agreement::Show>())
        .route(&at("/details"), page_with_action::<details::Show, details::Save>())
        .route(&at("/terms"), page_with_action::<terms::Show, terms::Save>())
        .route(&at("/participants"), page_with_action::<participants::Choose, participants::Add>())
        .route(&at("/participants/{participant}"), page_with_action::<participants::Show, participants::Save>())
        .route(
            &at("/participants/{participant}/verification"),
            page_with_action::<verification::Show, verification::Record>(),
        )
        .route(&at("/participants/{participant}/access"), page::<access::Show>())
        .route(&at("/participants/{participant}/access/link"), action::<access::ShowLink>())
        .route(&at("/participants/{participant}/access/contact"), action::<access::ConfirmContact>())
        .route(&at("/participants/{participant}/access/reissue"), action::<access::Reissue>())
        .route(&at("/participants/{participant}/access/code"), action::<access::CreateCode>())
        .route(&at("/participants/{participant}/access/files/{receipt}"), page::<access::Download>())
        .route(
            &at("/participants/{participant}/paper/{document}"),
            page_with_action::<paper_signature::Show, paper_signature::Record>(),
        )
        .route(&at("/participants/{participant}/access/papers/{paper}/scan"), page::<paper_signature::Download>())
        .route(&at("/participants/{participant}/access/papers/{paper}/confirm"), action::<paper_signature::Confirm>())
        .route(&at("/participants/{participant}/access/papers/{paper}/reject"), action::<paper_signature::Reject>())
        .route(&at("/conditions/{condition}/reopen"), action::<access::Reopen>())
        .route(&at("/conditions/{condition}/answers/{participant}"), page::<answers::Read>())
        .route(&at("/conditions/{condition}/answers/{participant}/accept"), action::<answers::Accept>())
        .route(&at("/conditions/{condition}/answers/{participant}/return"), action::<answers::Return>())
        .route(
            &at("/conditions/{condition}/answers/{participant}/files/{submission}/{field}"),
            page::<answers::Download>(),
        )
        .route(
            &at("/conditions/{condition}/answers/{participant}/hashed/{submission}"),
            page::<answers::DownloadHashed>(),
        )
        .route(&at("/documents"), action::<documents::Add>())
        .route(&at("/documents/{document}"), page_with_action::<documents::Show, documents::Save>())
        .route(&at("/documents/{document}/view"), page::<documents::View>())
        .route(&at("/documents/{document}/download"), page::<documents::Download>())
        .route(&at("/payments"), page_with_action::<payments::List, payments::Add>())
        .route(&at("/payments/{payment}"), page_with_action::<payments::Show, payments::Save>())
        .route(&at("/promises"), page_with_action::<promises::New, promises::Change>())
        .route(&at("/promises/{promise}"), page_with_action::<promises::Show, promises::Save>())
        .route(&at("/steps"), action::<step::Change>())
        .route(&at("/steps/{step}"), page_with_action::<step::Show, step::Save>())
        .route(&at("/steps/{step}/conditions"), page_with_action::<condition::New, condition::Add>())
        .route(&at("/conditions/{condition}"), page_with_action::<condition::Show, condition::Save>())
        .route(&at("/duplicate"), action::<acts::Duplicate>())
        .route(&at("/publish"), page_with_action::<acts::Review, acts::Publish>())
        .route(&at("/discard"), action::<acts::Discard>())
        .route(&at("/propose"), action::<acts::Propose>())
}

/// The routes of the money that moves, and of what is owed: the ledger, movements, statements and obligations.
fn money_routes() -> Pages {
    let at = |path: &str| format!("/app/money/movements/{{id}}{path}");
    Pages::default()
        .route(ledger::PATH, page::<ledger::Show>())
        .route("/app/money/export", page::<ledger_export::Export>())
        .route(&at(""), page::<movement::Show>())
        .route(&at("/authorize"), action::<movement::Authorize>())
        .route(&at("/instructions"), page_with_action::<movement::ShowForm, movement::Enter>())
        .route(&at("/instructions/verify"), action::<movement::Verify>())
        .route(&at("/instructions/release"), action::<movement::Release>())
        .route(&at("/claim"), action::<movement::RecordClaim>())
        .route(&at("/ask-for-proof"), action::<movement::AskForProof>())
        .route(&at("/evidence"), action::<movement::File>())
        .route(&at("/evidence/{evidence}/accept"), page_with_action::<movement::ShowAcceptance, movement::Accept>())
        .route(&at("/evidence/{evidence}/reject"), action::<movement::Reject>())
        .route(&at("/evidence/{evidence}/withdraw"), action::<movement::Withdraw>())
        .route(&at("/evidence/{evidence}/file"), page::<movement::Download>())
        .route(&at("/exception"), action::<movement::Flag>())
        .route(&at("/resolve"), action::<movement::Resolve>())
        .route(&at("/return"), action::<movement::RecordReturn>())
        .route(&at("/cancel"), action::<movement::Cancel>())
        .route(statement::PATH, page_with_action::<statement::List, statement::Upload>())
        .route("/app/money/statements/{id}", page_with_action::<statement::Show, statement::File>())
        .route(
            "/app/money/statements/{id}/columns",
            page_with_action::<statement::ShowColumns, statement::ChooseColumns>(),
        )
        .route("/app/money/statements/{id}/discard", action::<statement::Discard>())
        .route(obligations::PATH, page::<obligations::List>())
        .route("/app/obligations/{id}", page_with_action::<obligation::Show, obligation::Act>())
        .route("/app/obligations/{id}/occurrences/{occurrence}/file", page::<obligation::Download>())
}

/// The routes of trusts, and of what has to move into them.
fn funding_routes() -> Pages {
    let at = |path: &str| format!("/app/funding/items/{{id}}{path}");
    Pages::default()
        .route(funding::PATH, page::<funding::ShowIndex>())
        .route("/app/funding/{id}", page_with_action::<funding::ShowSchedule, funding::Add>())
        .route("/app/funding/{id}/export", page::<funding::Export>())
        .route("/app/funding/{id}/import", page_with_action::<funding::ShowImport, funding::ReadImport>())
        .route("/app/funding/{id}/import/{import}", page_with_action::<funding::ShowPreview, funding::Import>())
        .route("/app/funding/{id}/selected", action::<funding::ActOnSelected>())
        .route(&at(""), page::<funding::ShowItem>())
        .route(&at("/sort"), action::<funding::Sort>())
        .route(&at("/park"), action::<funding::Park>())
        .route(&at("/clear"), action::<funding::ClearHold>())
        .route(&at("/close"), action::<funding::CloseUnfunded>())
        .route(&at("/reopen"), action::<funding::Reopen>())
        .route(&at("/claim"), action::<funding::RecordClaim>())
        .route(&at("/claim/withdraw"), action::<funding::WithdrawClaim>())
        .route(&at("/confirmation/{submission}"), action::<funding::FileConfirmation>())
        .route(&at("/proof"), action::<funding::FileProof>())
        .route(&at("/proof/{proof}/accept"), action::<funding::AcceptProof>())
        .route(&at("/proof/{proof}/reject"), action::<funding::RejectProof>())
        .route(&at("/proof/{proof}/file"), page::<funding::Download>())
        .route(funding::TRUSTS, page::<funding::ListTrusts>())
        .route("/app/trusts/new", page_with_action::<funding::NewTrust, funding::CreateTrust>())
        .route("/app/trusts/{id}", page::<funding::ShowTrust>())
        .route("/app/trusts/{id}/edit", page_with_action::<funding::EditTrust, funding::SaveTrust>())
}

/// The routes of participants, who have no account: their link, and the pages that it opens.
fn participant_routes() -> Pages {
    use part::receipt;
    use part::{answers, condition, consent, document, in_person, link, obligations, overview, payment, payment_acts};
    let at = |path: &str| format!("/app/parts/{{participant}}{path}");
    Pages::default()
        .route("/app/links/{secret}", page_with_action::<link::Show, link::Open>())
        .route(&at(""), part_page::<overview::Show>())
        .route(&at("/consent"), part_action::<consent::Give>())
        .route(&at("/consent/withdraw"), part_action::<consent::Withdraw>())
        .route(&at("/leave"), part_action::<consent::Leave>())
        .route(&at("/in-person"), part_action::<in_person::Confirm>())
        .route(&at("/documents/{document}"), part_page::<document::Show>())
        .route(&at("/documents/{document}/download"), part_page::<document::Download>())
        .route(&at("/documents/{document}/sign"), part_action::<document::Sign>())
        .route(&at("/documents/{document}/decline"), part_action::<document::Decline>())
        .route(&at("/conditions/{condition}"), part_page::<condition::Show>())
        .route(&at("/conditions/{condition}/approve"), part_action::<condition::Approve>())
        .route(&at("/conditions/{condition}/upload"), part_action::<condition::Upload>())
        .route(&at("/conditions/{condition}/answers/save"), part_action::<answers::Save>())
        .route(&at("/conditions/{condition}/answers/send"), part_action::<answers::Send>())
        .route(&at("/conditions/{condition}/decline"), part_action::<condition::Decline>())
        .route(&at("/payments/{movement}"), part_page::<payment::Show>())
        .route(&at("/payments/{movement}/sent"), part_action::<payment_acts::ReportSent>())
        .route(&at("/payments/{movement}/document"), part_action::<payment_acts::HandIn>())
        .route(&at("/payments/{movement}/arrived"), part_action::<payment_acts::ReportArrival>())
        .route(&at("/payments/{movement}/evidence/{evidence}/file"), part_page::<payment::Download>())
        .route(&at("/payments/{movement}/evidence/{evidence}/withdraw"), part_action::<payment_acts::Withdraw>())
        .route(&at("/obligations/{obligation}"), part_page::<obligations::Show>())
        .route(&at("/obligations/{obligation}/act"), part_action::<obligations::Act>())
        .route(&at("/obligations/{obligation}/occurrences/{occurrence}/file"), part_page::<obligations::Download>())
        .route(&at("/receipts/{receipt}"), part_page::<receipt::Show>())
        .route(&at("/papers/{paper}/scan"), part_page::<document::DownloadScan>())
}

/// The routes of the pictures of documents' pages.
#[cfg(feature = "pictures")]
fn picture_routes() -> Pages {
    Pages::default().route("/app/pictures/{participant}/{document}/{page}", part_page::<part::picture::Show>())
}

/// The routes of certificates and evidence bundles. The keys have an address of their own, which outsiders keep.
#[cfg(feature = "evidence")]
fn evidence_routes() -> Pages {
    use evidence_files::{Certificate, Export, ExportPart, OwnCertificate};
    Pages::default()
        .route("/app/evidence-keys.json", evidence_keys::route())
        .route("/app/papers/{id}", page_with_action::<funding::papering::Show, funding::papering::DraftFromItems>())
        .route("/app/papers/{id}/schedule.pdf", page::<funding::papering::Print>())
        .route("/app/evidence/agreements/{id}/bundle", page::<Export>())
        .route("/app/evidence/agreements/{id}/bundle/{part}", page::<ExportPart>())
        .route("/app/evidence/agreements/{id}/certificate", page::<Certificate>())
        .route("/app/evidence/parts/{participant}/certificate", part_page::<OwnCertificate>())
}

/// The kind of a route, which decides where a person returns to after signing in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RouteKind {
    /// The route has a page: the person returns to it.
    Page,
    /// The route only accepts forms of other pages: the person returns to the form's page.
    Action,
    /// The route is a participant's, who has no account to sign in to: their link opens it again.
    Part,
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
    fn of_whom(self, request: &http::Request<Body>) -> Self {
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
                    if part::in_person::is_asked(&request, operation) {
                        return part::in_person::question(&mut request);
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
fn page<P: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<P>(RouteKind::Page).method(MethodFilter::GET)
}

/// A route that accepts a form of other pages.
fn action<A: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<A>(RouteKind::Action).method(MethodFilter::POST)
}

/// A page of a participant.
fn part_page<P: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<P>(RouteKind::Part).method(MethodFilter::GET)
}

/// A route that accepts a form of a participant's pages.
fn part_action<A: Handler>() -> MethodRouter<Arc<AppState>> {
    Served::by::<A>(RouteKind::Part).method(MethodFilter::POST)
}

/// A route with a page and the action of its form.
fn page_with_action<P: Handler, A: Handler>() -> MethodRouter<Arc<AppState>> {
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

    /// The gateway's routes give each function the pages that it has: what begins with a function's paths is in its
    /// router, and nothing else is.
    #[test]
    fn the_gateway_knows_which_function_has_a_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("a file");
        let (gateway, source) = (read("../../CargoLambda.toml"), read("src/lib.rs"));
        let prefixes = |function: &str| -> Vec<String> {
            let routes = gateway.lines().filter_map(|line| line.split_once(" = "));
            let routes = routes.filter(|(_, to)| *to == format!("\"{function}\""));
            let paths = routes.map(|(path, _)| path.trim_matches('"').to_owned());
            let (below, exact): (Vec<String>, Vec<String>) = paths.partition(|path| path.ends_with("/{*path}"));
            let below: Vec<String> = below.iter().map(|path| path.trim_end_matches("/{*path}").to_owned()).collect();
            // A file has a path of its own, with nothing below it.
            let (files, exact): (Vec<String>, Vec<String>) = exact.into_iter().partition(|path| path.contains('.'));
            assert_eq!(exact, below, "{function}: the path itself, and all below it");
            below.iter().map(|path| format!("{path}/")).chain(below.iter().cloned()).chain(files).collect()
        };
        for (function, router) in [
            ("agreement-app", "agreement_routes"),
            ("money-app", "money_routes"),
            ("funding-app", "funding_routes"),
            ("organization-app", "organization_routes"),
            ("picture-app", "picture_routes"),
            ("evidence-app", "evidence_routes"),
        ] {
            let prefixes = prefixes(function);
            assert!(!prefixes.is_empty(), "{function}");
            let is_prefix = |prefix: &String, path: &str| {
                if prefix.ends_with('/') { path.starts_with(prefix.as_str()) } else { path == prefix }
            };
            let is_below = |path: &str| prefixes.iter().any(|prefix| is_prefix(prefix, path));
            for part in source.split("#[cfg(test)]").next().unwrap_or_default().split("\nfn ") {
                let Some((name, body)) = part.split_once("()").filter(|(name, _)| name.ends_with("_routes")) else {
                    continue;
                };
                let paths = body.split('"').filter(|text| text.starts_with("/app/") && !text.contains(' '));
                for path in paths.filter(|path| path.len() > "/app/".len()) {
                    assert_eq!(is_below(path), name == router, "{function}: {path} is in {name}");
                }
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
