//! The pages for members' work on deals, signing in, and assets: all under `/app` that no other function has.

mod account;
mod contact_merge;
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
use pages::chosen::CHOSEN;
use pages::routes::{Pages, complete, get, post};
use pages::urls::{CONTACTS, WORKSPACES};
use pages::{assets, shelves, unsent};
use shared::AppState;
use shared::domain::ids::{ContactId, WorkspaceId};

use crate::account::{NAME, PASSWORD};
use crate::contacts::CONTACT;
use crate::invitation::JOIN;
use crate::password_link::NEW_PASSWORD;
use crate::proposal::DECISION;
use crate::second_factor::{NEW_CODES, SET_UP, TURN_OFF, TURN_ON};
use crate::sign_in_code::CODE;
use crate::workspaces::WORKSPACE;

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes for members' work on deals, signing in, and assets.
#[must_use]
pub fn routes() -> Pages {
    of_accounts().merge(of_deals()).merge(of_files())
}

fn of_accounts() -> Pages {
    Pages::default()
        .route("/app", get("view_home", home::show))
        .route("/app/sign-in", get("view_sign_in", sign_in::show).form("sign_in", sign_in::sign_in))
        .route(
            "/app/sign-in/code",
            get("view_sign_in_code", sign_in_code::show)
                .form(sign_in_code::SIGN_IN_OPERATIONS, sign_in_code::sign_in)
                .fields(&CODE),
        )
        .route("/app/sign-out", post("sign_out", account::sign_out))
        .route("/app/sign-out-everywhere", post("sign_out_everywhere", account::sign_out_everywhere))
        .route("/app/account", get("view_account", account::show))
        .route("/app/account/name", post("save_name", account::save_name).fields(&NAME))
        .route("/app/account/password", post("change_password", account::change_password).fields(&PASSWORD))
        .route("/app/account/sessions", post("end_session", account::end_session))
        .route(
            second_factor::PATH,
            get("view_second_factor", second_factor::show)
                .form("set_up_second_factor", second_factor::set_up_form)
                .fields(&SET_UP),
        )
        .route(
            "/app/account/second-factor/turn-on",
            post("turn_on_second_factor", second_factor::turn_on).fields(&TURN_ON),
        )
        .route(
            "/app/account/second-factor/recovery-codes",
            post("create_recovery_codes", second_factor::renew_codes).fields(&NEW_CODES),
        )
        .route(
            "/app/account/second-factor/turn-off",
            post("turn_off_second_factor", second_factor::turn_off).fields(&TURN_OFF),
        )
        .route("/app/account/organization", post("switch_organization", account::switch_organization))
        .route(unsent::PATH, get("view_unsent_form", unsent::show))
        .route("/app/theme", post("choose_theme", theme::choose))
}

fn of_deals() -> Pages {
    Pages::default()
        .merge(shelves::acts::<ContactId>(CONTACTS))
        .merge(shelves::acts::<WorkspaceId>(WORKSPACES))
        .route(
            "/app/contacts",
            get("view_contacts", contacts::list).form("create_contact", contacts::add).fields(&CONTACT),
        )
        .route(
            "/app/contacts/{id}",
            get("view_contact", contacts::show).form("update_contact", contacts::save).fields(&CONTACT),
        )
        .route(
            "/app/contacts/{id}/merge",
            get("view_contact_merge", contact_merge::choose).form("merge_contact", contact_merge::merge),
        )
        .route("/app/contacts/{id}/separate", post("separate_contact", contact_merge::separate))
        .route(
            "/app/workspaces",
            get("view_workspaces", workspaces::list).form("create_workspace", workspaces::create).fields(&WORKSPACE),
        )
        .route(
            "/app/workspaces/{id}",
            get("view_workspace", workspaces::show).form("activate_workspace", workspaces::activate),
        )
        .route(
            "/app/workspaces/{id}/people",
            get("view_workspace_people", workspace_people::choose)
                .form("add_person", workspace_people::add)
                .fields(&CHOSEN),
        )
        .route("/app/workspaces/{id}/people/{contact}/remove", post("remove_person", workspace_people::remove))
        .route("/app/search", get("view_search", search::show))
        .route("/app/proposals", get("view_proposals", proposals::list))
        .route(
            "/app/proposals/{id}",
            get("view_proposal", proposal::show).form(proposal::DECIDE_OPERATIONS, proposal::decide).fields(&DECISION),
        )
        .route("/app/members", get("view_organization", former_address::former_address))
        .route(
            "/app/invitations/{secret}",
            get("view_invitation", invitation::show).form("accept_invitation", invitation::accept).fields(&JOIN),
        )
        .route(
            "/app/password-links/{secret}",
            get("view_password_link", password_link::show)
                .form("set_password", password_link::set)
                .fields(&NEW_PASSWORD),
        )
}

fn of_files() -> Pages {
    Pages::default()
        .file(assets::STYLE.path, assets::route(&assets::STYLE))
        .file(assets::SCRIPT.path, assets::route(&assets::SCRIPT))
        .file(assets::VERIFY_SCRIPT.path, assets::route(&assets::VERIFY_SCRIPT))
        .file(assets::VERIFIER.path, assets::route(&assets::VERIFIER))
        .file(assets::SANS.path, assets::route(&assets::SANS))
        .file(assets::SERIF.path, assets::route(&assets::SERIF))
}
