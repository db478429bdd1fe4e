//! The page of the member's account: the current session, their organizations, and signing out.

use askama::Template;
use shared::domain::organization::Role;
use shared::error::Error;
use shared::web::Request;
use shared::web::cookies::Cookie;
use shared::web::login;

use crate::Handler;
use crate::layout::Layout;
use crate::response::PageResponse;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    layout: Layout,
    email: String,
    role: &'static str,
    organizations: Vec<OrganizationRow>,
}

struct OrganizationRow {
    id: String,
    name: String,
    is_current: bool,
}

/// Shows the page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_account"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let signed_in = request.signed_in()?;
        let current = signed_in.organization().id;
        let organizations = signed_in.organizations().await?.into_iter().map(|organization| OrganizationRow {
            id: organization.id.to_string(),
            name: organization.name.as_str().to_owned(),
            is_current: organization.id == current,
        });
        PageResponse::render(&AccountPage {
            layout: Layout::new(request),
            email: signed_in.email().as_str().to_owned(),
            role: match signed_in.member().role() {
                Role::Admin => "Admin",
                Role::Member => "Member",
            },
            organizations: organizations.collect(),
        })
    }
}

/// Ends the session.
pub(crate) struct SignOut;

impl Handler for SignOut {
    fn operation(_: &Request) -> &'static str {
        "sign_out"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        login::sign_out(&request.submitted_form()?).await?;
        Ok(signed_out(request))
    }
}

/// Ends all sessions of the account.
pub(crate) struct SignOutEverywhere;

impl Handler for SignOutEverywhere {
    fn operation(_: &Request) -> &'static str {
        "sign_out_everywhere"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        login::sign_out_everywhere(&request.submitted_form()?).await?;
        Ok(signed_out(request))
    }
}

fn signed_out(request: &Request) -> PageResponse {
    PageResponse::see_other("/app/sign-in").with_cookie(Cookie::Session.set(request.app(), None))
}

/// Switches to another organization of the account.
pub(crate) struct SwitchOrganization;

impl Handler for SwitchOrganization {
    fn operation(_: &Request) -> &'static str {
        "switch_organization"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let to = request.submitted_form()?.form().get("organization").parse().map_err(|_| Error::not_found())?;
        let secret = login::switch_organization(request, to).await?;
        Ok(PageResponse::see_other("/app").with_cookie(Cookie::Session.set(request.app(), Some(&secret))))
    }
}
