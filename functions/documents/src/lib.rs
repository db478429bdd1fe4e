//! Everything that writes PDFs, and what verifies bundles: the keys and the page. One function, since fonts are most of its size.

mod bundle_keys;
mod bundles;
mod letters;
mod paper_funding_items;
mod papering;
mod print;
mod statement_extract;
mod verify;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, complete, get};
use shared::AppState;
use shared::api::operation::Register;
use shared::api::pipeline::Routes;

/// The pages and the operation, and an error page for every other path of the app.
pub fn router(app: Arc<AppState>) -> Router {
    let mut api = Routes::new();
    operations(&mut api);
    complete(routes(), app.clone()).merge(api.into_router(app))
}

/// Registers the API operation.
pub fn operations(to: &mut impl Register) {
    to.write::<paper_funding_items::PaperFundingItems>();
}

/// The routes of certificates and evidence bundles. The keys and the page that verifies bundles have separate permanent
/// URLs for outsiders.
#[must_use]
pub fn routes() -> Pages {
    Pages::default()
        .file("/app/evidence-keys.json", bundle_keys::route())
        .route("/verify", get("view_verify", verify::show))
        .route(
            "/app/papers/{id}",
            get("view_papering", papering::show)
                .form("paper_funding_items", papering::draft_from_items)
                .fields(&papering::DRAFT),
        )
        .route("/app/papers/{id}/schedule.pdf", get("print_funding_schedule", papering::print))
        .route("/app/evidence/agreements/{id}/bundle", get("export_evidence", bundles::export_bundle))
        .route("/app/evidence/agreements/{id}/bundle/{part}", get("export_evidence", bundles::export_part))
        .route("/app/evidence/agreements/{id}/certificate", get("download_certificate", bundles::show_certificate))
        .route(
            "/app/evidence/parts/{participant}/certificate",
            get("download_own_certificate", bundles::own_certificate),
        )
}
