//! The pages under `/app/agreements`, on which members set up, publish and follow agreements.

mod access;
mod agreement;
mod agreements;
mod answers;
mod draft;
mod file_review;
mod own_templates;
mod paper_rows;
mod paper_signature;
mod pending_proposal;
mod verification;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, complete, get, post};
use pages::shelves;
use pages::urls::{AGREEMENTS, NEW_AGREEMENT};
use shared::AppState;
use shared::domain::ids::AgreementId;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The path of an agreement's page. Not a nested router, which would strip the prefix that pages and sign-in need.
fn at(path: &str) -> String {
    format!("/app/agreements/{{id}}{path}")
}

/// The routes under `/app/agreements`.
#[must_use]
pub fn routes() -> Pages {
    let of_all = Pages::default()
        .route("/app/agreements", get("view_agreements", agreements::list))
        .route(&at(""), get("view_agreement", agreement::show));
    of_all
        .merge(shelves::acts::<AgreementId>(AGREEMENTS))
        .merge(of_participants())
        .merge(of_drafts())
        .merge(of_terms_and_steps())
}

fn of_participants() -> Pages {
    Pages::default()
        .route(
            &at("/participants/{participant}/verification"),
            get("view_verification", verification::show)
                .form("record_verification", verification::record)
                .fields(&verification::VERIFICATION),
        )
        .route(&at("/participants/{participant}/access"), get("view_participant", access::show))
        .route(&at("/participants/{participant}/access/link"), post("show_link", access::show_link))
        .route(&at("/participants/{participant}/access/contact"), post("confirm_contact", access::confirm_contact))
        .route(&at("/participants/{participant}/access/reissue"), post("reissue_link", access::reissue))
        .route(&at("/participants/{participant}/access/code"), post("create_link_code", access::create_code))
        .route(
            &at("/participants/{participant}/access/files/{receipt}"),
            get("download_uploaded_file", access::download),
        )
        .route(
            &at("/participants/{participant}/paper/{document}"),
            get("view_paper_signature", paper_signature::show)
                .form("record_paper_signature", paper_signature::record)
                .fields(&paper_signature::PAPER),
        )
        .route(
            &at("/participants/{participant}/access/papers/{paper}/scan"),
            get("download_paper_signature", paper_signature::download),
        )
        .route(
            &at("/participants/{participant}/access/papers/{paper}/confirm"),
            post("confirm_paper_signature", paper_signature::confirm),
        )
        .route(
            &at("/participants/{participant}/access/papers/{paper}/reject"),
            post("reject_paper_signature", paper_signature::reject).fields(&paper_signature::REJECTION),
        )
        .route(&at("/conditions/{condition}/reopen"), post("reopen_condition", access::reopen))
        .route(&at("/conditions/{condition}/files/{participant}"), get("view_uploaded_files", file_review::show))
        .route(&at("/conditions/{condition}/files/{participant}/accept"), post("accept_files", file_review::accept))
        .route(
            &at("/conditions/{condition}/files/{participant}/return"),
            post("return_files", file_review::return_files).fields(&answers::RETURN),
        )
        .route(&at("/conditions/{condition}/answers/{participant}"), get("read_answers", answers::read))
        .route(&at("/conditions/{condition}/answers/{participant}/accept"), post("accept_answers", answers::accept))
        .route(
            &at("/conditions/{condition}/answers/{participant}/return"),
            post("return_answers", answers::return_answers).fields(&answers::RETURN),
        )
        .route(
            &at("/conditions/{condition}/answers/{participant}/files/{submission}/{field}"),
            get("download_answer_file", answers::download),
        )
        .route(
            &at("/conditions/{condition}/answers/{participant}/hashed/{submission}"),
            get("download_hashed_answers", answers::download_hashed),
        )
}

fn of_drafts() -> Pages {
    use draft::{acts, begin, details, documents, participants, terms};
    Pages::default()
        .route(
            NEW_AGREEMENT,
            get("view_new_agreement", begin::show).form("create_agreement", begin::create).fields(&begin::BEGIN),
        )
        .route(begin::CHOOSE_WORKSPACE, get("view_new_agreement", begin::choose_workspace))
        .route(
            &at("/details"),
            get("view_draft_details", details::show)
                .form(details::SAVE_OPERATIONS, details::save)
                .fields(&details::DETAILS),
        )
        .route(&at("/terms"), get("view_terms", terms::show).form("set_terms", terms::save).fields(&terms::TERMS))
        .route(
            &at("/participants"),
            get("view_participants", participants::choose)
                .form("add_participant", participants::add)
                .fields(&participants::PARTICIPANT),
        )
        .route(
            &at("/participants/{participant}"),
            get("view_participant", participants::show)
                .form(participants::SAVE_OPERATIONS, participants::save)
                .fields(&participants::PARTICIPANT),
        )
        .route(&at("/documents"), post("add_document", documents::add).fields(&documents::NEW_DOCUMENT))
        .route(
            &at("/documents/{document}"),
            get("view_document_settings", documents::show)
                .form(documents::SAVE_OPERATIONS, documents::save)
                .fields(&documents::DOCUMENT),
        )
        .route(&at("/documents/{document}/view"), get("view_document", documents::view))
        .route(&at("/documents/{document}/download"), get("download_document", documents::download))
        .route(&at("/duplicate"), post("duplicate_agreement", acts::duplicate))
        .route(
            &at("/template"),
            get("view_template_to_keep", own_templates::show_keeping)
                .form("keep_template", own_templates::keep)
                .fields(&own_templates::KEEPING),
        )
        .route(
            "/app/agreements/templates/{id}",
            get("view_template", own_templates::show)
                .form("rename_template", own_templates::rename)
                .fields(&own_templates::TEMPLATE),
        )
        .route("/app/agreements/templates/{id}/delete", post("delete_template", own_templates::delete))
        .route(&at("/publish"), get("view_publication", acts::review).form("publish_agreement", acts::publish))
        .route(&at("/discard"), post("discard_draft", acts::discard))
        .route(&at("/propose"), post("create_proposal", acts::propose).fields(&acts::PROPOSAL))
}

fn of_terms_and_steps() -> Pages {
    use draft::{condition, condition_form, payments, promises, step};
    Pages::default()
        .route(
            &at("/payments"),
            get("view_payments", payments::list).form("add_payment", payments::add).fields(&payments::PAYMENT),
        )
        .route(
            &at("/payments/{payment}"),
            get("view_payment", payments::show)
                .form(payments::SAVE_OPERATIONS, payments::save)
                .fields(&payments::PAYMENT),
        )
        .route(
            &at("/promises"),
            get("view_new_promise", promises::new)
                .form(promises::CHANGE_OPERATIONS, promises::change)
                .fields(&promises::PROMISE),
        )
        .route(
            &at("/promises/{promise}"),
            get("view_promise", promises::show)
                .form(promises::SAVE_OPERATIONS, promises::save)
                .fields(&promises::PROMISE),
        )
        .route(&at("/steps"), post(step::CHANGE_OPERATIONS, step::change).fields(&step::NEW_STEP))
        .route(
            &at("/steps/{step}"),
            get("view_step", step::show).form(step::SAVE_OPERATIONS, step::save).fields(&step::STEP),
        )
        .route(
            &at("/steps/{step}/conditions"),
            get("view_new_condition", condition::new_condition)
                .form("add_condition", condition::add)
                .fields(&condition_form::CONDITION),
        )
        .route(
            &at("/conditions/{condition}"),
            get("view_condition", condition::show)
                .form(condition::SAVE_OPERATIONS, condition::save)
                .fields(&condition_form::CONDITION),
        )
}
