//! Certificates and evidence bundles, the keys that verify bundles, and what papers and prints funding: what is under
//! `/app/evidence` and `/app/papers`.

mod evidence_files;
mod evidence_keys;
mod papering;
mod print;
mod statement_extract;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, complete, page, page_with_action, part_page};
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of certificates and evidence bundles. The keys have an address of their own, which outsiders keep.
#[must_use]
pub fn routes() -> Pages {
    use evidence_files::{Certificate, Export, ExportPart, OwnCertificate};
    Pages::default()
        .route("/app/evidence-keys.json", evidence_keys::route())
        .route("/app/papers/{id}", page_with_action::<papering::Show, papering::Paperize>())
        .route("/app/papers/{id}/schedule.pdf", page::<papering::Print>())
        .route("/app/evidence/agreements/{id}/bundle", page::<Export>())
        .route("/app/evidence/agreements/{id}/bundle/{part}", page::<ExportPart>())
        .route("/app/evidence/agreements/{id}/certificate", page::<Certificate>())
        .route("/app/evidence/parts/{participant}/certificate", part_page::<OwnCertificate>())
}
