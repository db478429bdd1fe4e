//! The pages on which admins run the organization: those under `/app/organization`, `/app/developers` and `/app/audit`.

mod attempts;
mod audit;
mod audit_export;
mod audit_query;
mod delivery;
mod developers;
mod endpoint;
mod invitations;
mod invite_form;
mod members;
mod organization;
mod own_account_rows;
mod own_accounts;
mod own_contacts;
mod reference;
mod tokens;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, action, complete, page, page_with_action};
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of what an admin runs, and of the audit log.
#[must_use]
pub fn routes() -> Pages {
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
