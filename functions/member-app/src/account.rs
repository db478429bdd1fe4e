//! The page of the member's account: name, password, sessions, organizations, and signing out.

use askama::Template;
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::Fields;
use pages::form;
use pages::form::FormFields;
use pages::labels::{DisplayTime, role_label};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use shared::domain::organization::{NewName, Organization};
use shared::error::Error;
use shared::service::identity::account::{self, NewOwnPassword, NotChanged, Overview, OwnSession};
use shared::service::identity::{sessions, sign_in};
use shared::service::members;
use shared::web::cookies::Cookie;
use shared::web::{Redirect, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Filter;

use crate::home;
use crate::second_factor::OnState;

const PATH: &str = "/app/account";

form! {
    /// The member's name.
    pub(crate) NAME: NameForm {
        name: Field::line("name", "Your name", 200)
            .hint("As the members of this organization see it, also in the audit log."),
    }
}

form! {
    /// A change of the account's password.
    pub(crate) PASSWORD: PasswordForm {
        current: Field::password("current_password", "Current password"),
        new: Field::new_password("new_password", "New password"),
    }
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    layout: Layout,
    notice: Option<Notice>,
    email: String,
    role: &'static str,
    name: Fields,
    password: Fields,
    second_factor: Option<OnState>,
    sessions: Vec<SessionRow>,
    organizations: Vec<OrganizationRow>,
}

struct OrganizationRow {
    id: String,
    name: String,
    is_current: bool,
}

struct SessionRow {
    id: String,
    device: String,
    organization: Option<String>,
    signed_in_at: DisplayTime,
    last_used_at: DisplayTime,
    is_current: bool,
}

impl SessionRow {
    fn new(session: OwnSession, organizations: &[Organization]) -> Self {
        let name = organizations.iter().find(|organization| organization.id == session.organization);
        Self {
            id: session.id.to_string(),
            device: session.device.unwrap_or_else(|| "Unknown browser".to_owned()),
            organization: name.filter(|_| organizations.len() > 1).map(|found| found.name.as_str().to_owned()),
            signed_in_at: session.signed_in_at.into(),
            last_used_at: session.last_used_at.into(),
            is_current: session.is_current,
        }
    }
}

#[derive(Default)]
struct Shown {
    notice: Option<Notice>,
    name: Option<Fields>,
    password: Fields,
}

async fn account_page(request: &Request, shown: Shown) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let current = signed_in.organization().id;
    let Overview { organizations, sessions, second_factor } = account::overview(signed_in, request.now()).await?;
    let organization_row = |organization: &Organization| OrganizationRow {
        id: organization.id.to_string(),
        name: organization.name.as_str().to_owned(),
        is_current: organization.id == current,
    };
    let own_name = || Fields::of([(NAME.name, signed_in.member().name().as_str())]);
    PageResponse::render(&AccountPage {
        layout: Layout::new(request),
        notice: shown.notice,
        email: signed_in.email().as_str().to_owned(),
        role: role_label(signed_in.member().role()),
        name: shown.name.unwrap_or_else(own_name),
        password: shown.password,
        second_factor: second_factor.map(OnState::from),
        sessions: sessions.into_iter().map(|session| SessionRow::new(session, &organizations)).collect(),
        organizations: organizations.iter().map(organization_row).collect(),
    })
}

#[derive(Debug, Clone, Copy, deserr::Deserr)]
#[deserr(error = FieldErrors)]
enum NewPassword {
    #[deserr(rename = "saved")]
    Saved,
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    password: Filter<NewPassword>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.signed_in()?;
    let Query { password } = request.read_query()?;
    let (notice, cookie) = notice_of_act(request).await;
    // The new session after a password change has no flash.
    let saved = password.get();
    let saved = saved.map(|NewPassword::Saved| Notice::good("Password changed", "Your other sessions have ended."));
    let shown = Shown { notice: notice.or(saved), ..Shown::default() };
    Ok(account_page(request, shown).await?.with_cookie(cookie))
}

pub(crate) async fn save_name(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let NewName { name } = match submitted.form().read_new(&NAME.names()) {
        Ok(new) => new,
        Err(errors) => {
            let name = Some(Fields::submitted(submitted.form(), errors));
            let shown = Shown { name, ..Shown::default() };
            return Ok(account_page(request, shown).await?.unprocessable());
        }
    };
    let redirect = redirect_with_notice(&submitted, PATH.to_owned(), "Name saved", "").await;
    let (scope, member) = (submitted.scope(), submitted.submitter());
    submitted.run(|| std::future::ready(Ok(members::rename(scope, member, &name)))).await?;
    Ok(redirect.into())
}

pub(crate) async fn change_password(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let (current, new) = (form.get(PASSWORD.current), form.get(PASSWORD.new));
    let location = format!("{PATH}?password=saved");
    let prepared = NewOwnPassword::prepare(request.browser_call(), request.signed_in()?, current, new).await?;
    let (field, message) = match prepared {
        Ok(new) => {
            let redirect = Redirect { location, cookie: Cookie::Session.set(request.app(), Some(&new.secret)) };
            submitted.redirect_if_committed(&redirect);
            submitted.run(|| new.change()).await?;
            new.succeeded().await;
            return Ok(redirect.into());
        }
        Err(NotChanged::Wrong) => {
            (PASSWORD.current, "is incorrect. After several tries, wait a few minutes".to_owned())
        }
        Err(NotChanged::Same) => (PASSWORD.new, "must differ from the current one".to_owned()),
        Err(NotChanged::Weak(weak)) => (PASSWORD.new, weak.message()),
    };
    let errors = FieldErrors::one(field, FieldCode::InvalidValue, message);
    let shown = Shown { password: Fields::wrong(errors), ..Shown::default() };
    Ok(account_page(request, shown).await?.unprocessable())
}

pub(crate) async fn end_session(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let signed_in = request.signed_in()?;
    let id = submitted.form().get("session").parse().map_err(|_| Error::not_found())?;
    let line = "That browser is signed out.";
    let redirect = redirect_with_notice(&submitted, PATH.to_owned(), "Session ended", line).await;
    submitted.run(|| sessions::end(signed_in, id)).await?;
    Ok(redirect.into())
}

pub(crate) async fn sign_out(request: &mut Request) -> Result<PageResponse, Error> {
    let (submitted, signed_in) = (request.submitted_form()?, request.signed_in()?);
    submitted.run(|| std::future::ready(Ok(sessions::sign_out(signed_in)))).await?;
    Ok(signed_out(request, "session"))
}

pub(crate) async fn sign_out_everywhere(request: &mut Request) -> Result<PageResponse, Error> {
    let (submitted, signed_in) = (request.submitted_form()?, request.signed_in()?);
    submitted.run(|| std::future::ready(Ok(sessions::sign_out_everywhere(signed_in)))).await?;
    Ok(signed_out(request, "everywhere"))
}

/// The redirect to the sign-in page, which says what has ended. A browser without a session has no flash.
fn signed_out(request: &Request, ended: &str) -> PageResponse {
    PageResponse::see_other(format!("/app/sign-in?ended={ended}")).with_cookie(Cookie::Session.set(request.app(), None))
}

pub(crate) async fn switch_organization(request: &mut Request) -> Result<PageResponse, Error> {
    let to = request.submitted_form()?.form().get("organization").parse().map_err(|_| Error::not_found())?;
    let switched = sign_in::switch_organization(&request.browser_call(), request.signed_in()?, to).await?;
    Ok(PageResponse::see_other(home::SWITCHED).with_cookie(request.switch_session(switched)))
}
