//! The pages of the money that moves, and of what is owed: those under `/app/money` and `/app/obligations`.

mod ledger;
mod ledger_export;
mod movement;
mod obligation;
mod obligations;
mod statement;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, action, complete, page, page_with_action};
use pages::urls::{MONEY, OBLIGATIONS, STATEMENTS};
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of the money that moves, and of what is owed: the ledger, movements, statements and obligations.
#[must_use]
pub fn routes() -> Pages {
    let at = |path: &str| format!("/app/money/movements/{{id}}{path}");
    Pages::default()
        .route(MONEY, page::<ledger::Show>())
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
        .route(STATEMENTS, page_with_action::<statement::List, statement::Upload>())
        .route("/app/money/statements/{id}", page_with_action::<statement::Show, statement::File>())
        .route(
            "/app/money/statements/{id}/columns",
            page_with_action::<statement::ShowColumns, statement::ChooseColumns>(),
        )
        .route("/app/money/statements/{id}/discard", action::<statement::Discard>())
        .route(OBLIGATIONS, page::<obligations::List>())
        .route("/app/obligations/{id}", page_with_action::<obligation::Show, obligation::Act>())
        .route("/app/obligations/{id}/occurrences/{occurrence}/file", page::<obligation::Download>())
}
