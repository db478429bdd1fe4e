//! The member's own page: where they are signed in, their organizations, and the ways out.

use askama::Template;
use shared::domain::organization::Role;
use shared::error::Error;
use shared::session::{self, Cookie};
use shared::visit::Visit;

use crate::Page;
use crate::frame::{Answer, Frame};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
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
    fn operation(_: &Visit) -> &'static str {
        "view_account"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let signed_in = visit.signed_in()?;
        let current = signed_in.organization().id;
        let organizations = signed_in.organizations().await?.into_iter().map(|organization| OrganizationLine {
            id: organization.id.to_string(),
            name: organization.name.as_str().to_owned(),
            is_current: organization.id == current,
        });
        Answer::page(&AccountPage {
            frame: Frame::new(visit),
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
    fn operation(_: &Visit) -> &'static str {
        "sign_out"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let posted = visit.posted()?;
        posted.until_settled(|| session::sign_out(&posted)).await?;
        Ok(out(visit))
    }
}

/// Signs out everywhere.
pub(crate) struct SignOutEverywhere;

impl Page for SignOutEverywhere {
    fn operation(_: &Visit) -> &'static str {
        "sign_out_everywhere"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let posted = visit.posted()?;
        posted.until_settled(|| session::sign_out_everywhere(&posted)).await?;
        Ok(out(visit))
    }
}

fn out(visit: &Visit) -> Answer {
    Answer::see_other("/app/sign-in").with_cookie(Cookie::Session.set(visit.app(), None)).recorded()
}

/// Goes on in another organization.
pub(crate) struct Switch;

impl Page for Switch {
    fn operation(_: &Visit) -> &'static str {
        "switch_organization"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let to = visit.posted()?.form().get("organization").parse().map_err(|_| Error::not_found())?;
        let secret = session::switch(visit, to).await?;
        Ok(Answer::see_other("/app").with_cookie(Cookie::Session.set(visit.app(), Some(&secret))).recorded())
    }
}
