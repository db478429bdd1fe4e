//! The pages of documents as pictures: what is under `/app/pictures`.

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

/// The routes of the pictures of documents' pages.
#[must_use]
pub fn routes() -> Pages {
    Pages::default().route("/app/pictures/{participant}/{document}/{page}", get("view_document_page", picture::show))
}

/// Reads a PDF, or draws a page of it, and ends this process, if it was started for that. `main` begins with it.
pub fn read_pdf_if_asked() {
    pdf_reader::read_if_asked(Some(picture::draw));
}
