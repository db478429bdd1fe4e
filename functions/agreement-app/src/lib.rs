//! The pages on which members set up, publish and follow agreements: those under `/app/agreements`.

mod access;
mod agreement;
mod agreements;
mod answers;
mod draft;
mod paper_rows;
mod paper_signature;
mod pending_proposal;
mod verification;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, action, complete, page, page_with_action};
use pages::urls::NEW_AGREEMENT;
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes under `/app/agreements`: the list, the page of each, and the pages on which its draft is set up.
#[must_use]
pub fn routes() -> Pages {
    use draft::{acts, condition, details, documents, participants, payments, promises, step, terms};
    // Not nested: a nested router would take the beginning off the path, which pages and the way through sign-in need.
    let at = |path: &str| format!("/app/agreements/{{id}}{path}");
    Pages::default()
        .route("/app/agreements", page::<agreements::List>())
        .route(NEW_AGREEMENT, page_with_action::<draft::begin::Show, draft::begin::Create>())
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
