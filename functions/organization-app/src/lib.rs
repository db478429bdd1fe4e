//! The pages under `/app/organization`, `/app/developers` and `/app/audit`, on which admins run the organization.

mod attempts;
mod audit;
mod audit_export;
mod audit_query;
mod delivery;
mod developers;
mod endpoint;
mod invitations;
mod members;
mod organization;
mod own_account_rows;
mod own_accounts;
mod own_contacts;
mod tokens;

use std::sync::Arc;

use axum::Router;
use pages::chosen::CHOSEN;
use pages::routes::{Pages, complete, get, post};
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of the organization, developers' pages and the audit log.
#[must_use]
pub fn routes() -> Pages {
    Pages::default()
        .route(
            "/app/organization",
            get("view_organization", organization::show)
                .form("update_organization", organization::save)
                .fields(&organization::SETTINGS),
        )
        .route(
            "/app/organization/contacts",
            get("view_own_contacts", own_contacts::choose).form("add_own_contact", own_contacts::add).fields(&CHOSEN),
        )
        .route("/app/organization/contacts/{id}/remove", post("remove_own_contact", own_contacts::remove))
        .route(
            "/app/organization/accounts",
            post("say_own_account", own_accounts::say).fields(&own_accounts::OWN_ACCOUNT),
        )
        .route("/app/organization/accounts/{id}/agree", post("agree_to_own_account", own_accounts::agree))
        .route("/app/organization/accounts/{id}/remove", post("remove_own_account", own_accounts::remove))
        .route(
            "/app/organization/invitations",
            post("invite_member", invitations::invite).fields(&organization::INVITATION),
        )
        .route("/app/organization/invitations/{id}/revoke", post("revoke_invitation", invitations::revoke))
        .route("/app/organization/members", post("remove_member", members::remove))
        .route(
            "/app/organization/members/{id}/role",
            post("change_role", members::save_role).fields(&organization::MEMBER),
        )
        .route(
            "/app/organization/members/{id}/password-link",
            post("create_password_link", members::create_password_link).fields(&organization::MEMBER),
        )
        .route(
            "/app/organization/members/{id}/second-factor",
            post("reset_second_factor", members::reset_second_factor).fields(&organization::MEMBER),
        )
        .route("/app/audit", get("view_audit", audit::show))
        .route("/app/audit/export", get("export_audit", audit_export::export))
        .route(
            "/app/developers",
            get("view_developers", developers::show)
                .form("add_endpoint", developers::add_endpoint)
                .fields(&developers::ENDPOINT),
        )
        .route(
            "/app/developers/tokens",
            get("view_tokens", tokens::show).form("create_token", tokens::create).fields(&tokens::TOKEN),
        )
        .route("/app/developers/tokens/{id}/revoke", post("revoke_token", tokens::revoke))
        .route(
            "/app/developers/endpoints/{id}",
            get("view_endpoint", endpoint::show)
                .form(endpoint::SUBMIT_OPERATIONS, endpoint::submit)
                .fields(&endpoint::ENDPOINT_ACTS),
        )
        .route(
            "/app/developers/endpoints/{id}/edit",
            get("view_endpoint", endpoint::edit).form("edit_endpoint", endpoint::save).fields(&developers::ENDPOINT),
        )
        .route(
            "/app/developers/endpoints/{id}/deliveries/{event}",
            get("view_delivery", delivery::show).form("replay_delivery", delivery::replay),
        )
}
