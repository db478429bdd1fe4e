//! The pages of what members do in deals, of signing in, and of assets: those under `/app` that are no other function’s.

mod account;
mod contacts;
mod former_address;
mod home;
mod invitation;
mod password_link;
mod proposal;
mod proposals;
mod search;
mod second_factor;
mod sign_in;
mod sign_in_code;
mod signed_in;
mod theme;
mod workspace_people;
mod workspaces;

use std::sync::Arc;

use axum::Router;
use pages::routes::{Pages, action, complete, page, page_with_action};
use pages::{assets, unsent};
use shared::AppState;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of what members do in deals, of signing in, and of assets.
#[must_use]
pub fn routes() -> Pages {
    Pages::default()
        .route("/app", page::<home::Show>())
        .route("/app/sign-in", page_with_action::<sign_in::Show, sign_in::SignIn>())
        .route("/app/sign-in/code", page_with_action::<sign_in_code::Show, sign_in_code::SignIn>())
        .route("/app/sign-out", action::<account::SignOut>())
        .route("/app/sign-out-everywhere", action::<account::SignOutEverywhere>())
        .route("/app/account", page::<account::Show>())
        .route("/app/account/name", action::<account::SaveName>())
        .route("/app/account/password", action::<account::ChangePassword>())
        .route("/app/account/sessions", action::<account::EndSession>())
        .route(second_factor::PATH, page_with_action::<second_factor::Show, second_factor::SetUpForm>())
        .route("/app/account/second-factor/turn-on", action::<second_factor::TurnOn>())
        .route("/app/account/second-factor/recovery-codes", action::<second_factor::RenewCodes>())
        .route("/app/account/second-factor/turn-off", action::<second_factor::TurnOff>())
        .route("/app/account/organization", action::<account::SwitchOrganization>())
        .route(unsent::PATH, page::<unsent::Show>())
        .route("/app/theme", action::<theme::Choose>())
        .route("/app/contacts", page_with_action::<contacts::List, contacts::Add>())
        .route("/app/contacts/{id}", page_with_action::<contacts::Show, contacts::Save>())
        .route("/app/workspaces", page_with_action::<workspaces::List, workspaces::Create>())
        .route("/app/workspaces/{id}", page_with_action::<workspaces::Show, workspaces::Activate>())
        .route("/app/workspaces/{id}/people", page_with_action::<workspace_people::Choose, workspace_people::Add>())
        .route("/app/workspaces/{id}/people/{contact}/remove", action::<workspace_people::Remove>())
        .route("/app/search", page::<search::Show>())
        .route("/app/proposals", page::<proposals::List>())
        .route("/app/proposals/{id}", page_with_action::<proposal::Show, proposal::Decide>())
        .route("/app/members", page::<former_address::FormerAddress>())
        .route("/app/invitations/{secret}", page_with_action::<invitation::Show, invitation::Accept>())
        .route("/app/password-links/{secret}", page_with_action::<password_link::Show, password_link::Set>())
        .route(assets::STYLE.path, assets::route(&assets::STYLE))
        .route(assets::SCRIPT.path, assets::route(&assets::SCRIPT))
        .route(assets::SANS.path, assets::route(&assets::SANS))
        .route(assets::SERIF.path, assets::route(&assets::SERIF))
}
