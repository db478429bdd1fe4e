//! The member's own page: where they are signed in, their organizations, and the ways out.

use askama::Template;
use shared::domain::organization::Role;
use shared::error::Error;
use shared::web::Request;
use shared::web::cookies::Cookie;
use shared::web::login;

use crate::Page;
use crate::layout::{Answer, Layout};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    layout: Layout,
    email: String,
    role: &'static str,
    organizations: Vec<OrganizationLine>,
}

struct OrganizationLine {
    id: String,
    name: String,
    is_current: bool,
}

/// The page.
pub(crate) struct Account;

impl Page for Account {
    fn operation(_: &Request) -> &'static str {
        "view_account"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let signed_in = request.signed_in()?;
        let current = signed_in.organization().id;
        let organizations = signed_in.organizations().await?.into_iter().map(|organization| OrganizationLine {
            id: organization.id.to_string(),
            name: organization.name.as_str().to_owned(),
            is_current: organization.id == current,
        });
        Answer::page(&AccountPage {
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

/// Signs out here.
pub(crate) struct SignOut;

impl Page for SignOut {
    fn operation(_: &Request) -> &'static str {
        "sign_out"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?;
        login::sign_out(&submitted).await?;
        Ok(out(request))
    }
}

/// Signs out everywhere.
pub(crate) struct SignOutEverywhere;

impl Page for SignOutEverywhere {
    fn operation(_: &Request) -> &'static str {
        "sign_out_everywhere"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?;
        login::sign_out_everywhere(&submitted).await?;
        Ok(out(request))
    }
}

fn out(request: &Request) -> Answer {
    Answer::see_other("/app/sign-in").with_cookie(Cookie::Session.set(request.app(), None))
}

/// Goes on in another organization.
pub(crate) struct Switch;

impl Page for Switch {
    fn operation(_: &Request) -> &'static str {
        "switch_organization"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let to = request.submitted_form()?.form().get("organization").parse().map_err(|_| Error::not_found())?;
        let secret = login::switch_organization(request, to).await?;
        Ok(Answer::see_other("/app").with_cookie(Cookie::Session.set(request.app(), Some(&secret))))
    }
}
