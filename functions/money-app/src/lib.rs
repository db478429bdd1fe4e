//! The pages under `/app/money` and `/app/obligations`: payments and what is owed.

mod ledger;
mod ledger_export;
mod movement;
mod obligation;
mod obligations;
mod statement;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, complete, get, post};
use pages::urls::{MONEY, OBLIGATIONS, STATEMENTS};
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of the ledger, movements, statements and obligations.
#[must_use]
pub fn routes() -> Pages {
    of_payments().merge(of_statements()).merge(of_obligations())
}

fn of_payments() -> Pages {
    let at = |path: &str| format!("/app/money/movements/{{id}}{path}");
    Pages::default()
        .route(MONEY, get("view_ledger", ledger::show))
        .route("/app/money/export", get("export_ledger", ledger_export::export))
        .route(&at(""), get("view_movement", movement::show))
        .route(&at("/authorize"), post("authorize_movement", movement::acts::authorize))
        .route(
            &at("/instructions"),
            get("view_instructions_form", movement::instructions::show_form)
                .form("enter_instructions", movement::instructions::enter)
                .fields(&movement::instructions::INSTRUCTIONS),
        )
        .route(
            &at("/instructions/verify"),
            post("verify_instructions", movement::acts::verify).fields(&movement::act_forms::VERIFICATION),
        )
        .route(&at("/instructions/release"), post("release_instructions", movement::acts::release))
        .route(&at("/claim"), post("record_claim", movement::acts::record_claim).fields(&movement::act_forms::CLAIM))
        .route(&at("/ask-for-proof"), post("ask_for_proof", movement::acts::ask_for_proof))
        .route(&at("/evidence"), post("file_evidence", movement::evidence::file).fields(&movement::act_forms::EVIDENCE))
        .route(
            &at("/evidence/{evidence}/accept"),
            get("view_evidence", movement::evidence::show_acceptance)
                .form("accept_evidence", movement::evidence::accept)
                .fields(&movement::act_forms::ACCEPTANCE),
        )
        .route(
            &at("/evidence/{evidence}/reject"),
            post("reject_evidence", movement::evidence::reject).fields(&movement::act_forms::REASON),
        )
        .route(
            &at("/evidence/{evidence}/withdraw"),
            post("withdraw_evidence", movement::evidence::withdraw).fields(&movement::act_forms::REASON),
        )
        .route(&at("/evidence/{evidence}/file"), get("download_evidence_file", movement::evidence::download))
        .route(&at("/exception"), post("flag_exception", movement::acts::flag).fields(&movement::act_forms::EXCEPTION))
        .route(
            &at("/resolve"),
            post("resolve_exception", movement::acts::resolve).fields(&movement::act_forms::RESOLUTION),
        )
        .route(
            &at("/return"),
            post("record_return", movement::acts::record_return).fields(&movement::act_forms::REASON),
        )
        .route(&at("/cancel"), post("cancel_movement", movement::acts::cancel).fields(&movement::act_forms::REASON))
}

fn of_statements() -> Pages {
    Pages::default()
        .route(
            STATEMENTS,
            get("view_statements", statement::show_list)
                .form("upload_statement", statement::upload)
                .fields(&statement::STATEMENT),
        )
        .route(
            "/app/money/statements/{id}",
            get("view_statement", statement::show::show)
                .form("file_statement_entries", statement::filing::file_entries)
                .fields(&statement::entry_fields::FILING),
        )
        .route(
            "/app/money/statements/{id}/columns",
            get("view_statement_columns", statement::columns::show_columns)
                .form("choose_statement_columns", statement::columns::choose_columns)
                .fields(&statement::columns::COLUMNS),
        )
        .route("/app/money/statements/{id}/discard", post("discard_statement", statement::discard::discard))
}

fn of_obligations() -> Pages {
    Pages::default()
        .route(OBLIGATIONS, get("view_obligations", obligations::list))
        .route(
            "/app/obligations/{id}",
            get("view_obligation", obligation::show)
                .form(obligation::ACT_OPERATIONS, obligation::act)
                .fields(&pages::satisfaction::SATISFACTION),
        )
        .route(
            "/app/obligations/{id}/occurrences/{occurrence}/file",
            get("download_satisfaction_file", obligation::download),
        )
}
