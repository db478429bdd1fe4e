//! Pictures of documents' pages, under `/app/pictures`.

mod picture;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, complete, get};
use shared::AppState;
use shared::platform::pdf_reader;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of page pictures.
#[must_use]
pub fn routes() -> Pages {
    Pages::default().route("/app/pictures/{participant}/{document}/{page}", get("view_document_page", picture::show))
}

/// Reads a PDF or draws a page, then exits, if this process was started for that. `main` calls it first.
pub fn read_pdf_if_asked() {
    pdf_reader::read_if_asked(Some(picture::draw));
}
