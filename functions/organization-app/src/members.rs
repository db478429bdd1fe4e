//! Admins' acts on members: removing them, changing roles, making password links, resetting second factors.

use http::StatusCode;
use pages::done::{redirect_with_notice, shown_once};
use pages::labels::role_label;
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::urls::ORGANIZATION;
use shared::crypto::LinkSecret;
use shared::domain::ids::MemberId;
use shared::domain::member::{NotRemoved, RoleNotChanged};
use shared::domain::organization::NewRole;
use shared::domain::password_link::NotLinked;
use shared::domain::second_factor::NotReset;
use shared::error::Error;
use shared::service::identity::{password_links, second_factors};
use shared::service::members;
use shared::service::scope::Scope;
use shared::web::{Flash, Redirect, Request};

use crate::organization::{back_url, organization_page, own_password_error, refused_to_member};

type Refusal = (StatusCode, &'static str, &'static str, &'static str);

const UNKNOWN: Refusal = (
    StatusCode::NOT_FOUND,
    "not_found",
    "There is no such member",
    "They may have been removed already. The list below is as it is now.",
);

const WRONG_PASSWORD: Refusal = (
    StatusCode::UNPROCESSABLE_ENTITY,
    "invalid_request",
    "Your password is missing or incorrect",
    "Nothing was changed. Enter the password that you sign in with. After several tries, wait a few minutes.",
);

async fn refused(request: &Request, id: Option<MemberId>, refusal: Refusal) -> Result<PageResponse, Error> {
    let (status, code, title, line) = refusal;
    let page = organization_page(request, Notice::bad(title, line).into()).await?;
    Ok(page.showing(id.map(MemberId::uuid)).refused(status, code))
}

/// The page after a wrong password. An unknown member takes precedence, as everywhere.
async fn refused_without_password(request: &Request, scope: &Scope, id: MemberId) -> Result<PageResponse, Error> {
    let is_known = members::list(scope).await?.iter().any(|member| member.id == id);
    refused(request, Some(id), if is_known { WRONG_PASSWORD } else { UNKNOWN }).await
}

fn unprocessable(title: &'static str, line: &'static str) -> Refusal {
    (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", title, line)
}

pub(crate) async fn remove(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: Option<MemberId> = submitted.form().get("member").parse().ok();
    let admins_only = async || Ok(refused_remove_to_member(request).await?.showing(id.map(MemberId::uuid)));
    let submitted = match submitted.require_admin() {
        Err(Error::AdminsOnly) => return admins_only().await,
        submitted => submitted?,
    };
    let Some(member) = id else { return refused(request, None, UNKNOWN).await };
    let back = back_url(request);
    submitted.redirect_if_committed(&Redirect { location: back.clone(), cookie: None });
    match submitted.run(|| members::remove(submitted.scope(), submitted.submitter(), member)).await {
        Ok(Ok(removed)) => {
            // The removal succeeded even if the flash's keys can't be read.
            let cookie = Flash::RemovedMember.set(&submitted, removed.name.as_str()).await.ok().flatten();
            Ok(PageResponse::see_other(back).with_cookie(cookie))
        }
        Ok(Err(NotRemoved::Unknown)) => refused(request, id, UNKNOWN).await,
        Ok(Err(NotRemoved::Oneself)) => {
            let line = "So there is always an admin left. Another admin can remove you.";
            refused(request, id, unprocessable("You can’t remove yourself", line)).await
        }
        Err(Error::AdminsOnly) => admins_only().await,
        Err(error) => Err(error),
    }
}

async fn refused_remove_to_member(request: &Request) -> Result<PageResponse, Error> {
    let line = "No one was removed. Ask an admin of your organization.";
    refused_to_member(request, "Only admins remove members", line).await
}

pub(crate) async fn save_role(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let id: MemberId = request.path_id("id")?;
    let Ok(NewRole { role }) = submitted.form().read_new(&["role"]) else {
        let line = "Choose Member or Admin. Nothing was changed.";
        return refused(request, Some(id), unprocessable("There is no such role", line)).await;
    };
    if own_password_error(request, submitted.form()).await?.is_some() {
        return refused_without_password(request, submitted.scope(), id).await;
    }
    let back = back_url(request);
    let line = format!("The member’s role is {} now.", role_label(role));
    let redirect = redirect_with_notice(&submitted, back, "Role saved", &line).await;
    match submitted.run(|| members::change_role(submitted.scope(), submitted.submitter(), id, role)).await? {
        Ok(_) => Ok(redirect.into()),
        Err(RoleNotChanged::Unknown) => refused(request, Some(id), UNKNOWN).await,
        Err(RoleNotChanged::Oneself) => {
            let line = "So there is always an admin left. Another admin can change yours.";
            refused(request, Some(id), unprocessable("You can’t change your own role", line)).await
        }
    }
}

pub(crate) async fn create_password_link(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let id: MemberId = request.path_id("id")?;
    if own_password_error(request, submitted.form()).await?.is_some() {
        return refused_without_password(request, submitted.scope(), id).await;
    }
    let secret = LinkSecret::new()?;
    let cookie = match Flash::PasswordLink(id).set(&submitted, secret.reveal()).await {
        Ok(cookie) => cookie,
        Err(Error::Unavailable(cause)) => {
            let line = "It can’t be encrypted at the moment. Try again in a minute.";
            let notice = Notice::bad("The link was not created", line);
            return Ok(organization_page(request, notice.into()).await?.unavailable(cause));
        }
        Err(error) => return Err(error),
    };
    let redirect = Redirect { location: format!("{ORGANIZATION}?linked={id}"), cookie };
    submitted.redirect_if_committed(&redirect);
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| password_links::create(scope, admin, id, &secret)).await? {
        Ok(_) => {
            let line = "Copy the link below and hand it over.";
            Ok(shown_once(&submitted, redirect, "Password link created", line).await)
        }
        Err(NotLinked::Unknown) => refused(request, Some(id), UNKNOWN).await,
        Err(NotLinked::Oneself) => {
            let line = "Another admin can create one for you.";
            refused(request, Some(id), unprocessable("You can’t create a password link for yourself", line)).await
        }
        Err(NotLinked::UsedElsewhere) => {
            let line = "They also belong to another organization, so you can’t replace their password. They can ask the operator of this service.";
            refused(request, Some(id), unprocessable("The link was not created", line)).await
        }
    }
}

pub(crate) async fn reset_second_factor(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let id: MemberId = request.path_id("id")?;
    if own_password_error(request, submitted.form()).await?.is_some() {
        return refused_without_password(request, submitted.scope(), id).await;
    }
    let back = back_url(request);
    let line = "The member’s sessions have ended. Until they set up a second factor again, they sign in with their password only.";
    let redirect = redirect_with_notice(&submitted, back, "Second factor reset", line).await;
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    let refusal = match submitted.run(|| second_factors::reset(scope, admin, id)).await? {
        Ok(_) => return Ok(redirect.into()),
        Err(NotReset::Unknown) => UNKNOWN,
        Err(NotReset::Oneself) => {
            unprocessable("You can’t reset your own second factor", "Turn it off on the page of your account.")
        }
        Err(NotReset::UsedElsewhere) => {
            let line = "They also belong to another organization, so you can’t reset their second factor. They can ask the operator of this service.";
            unprocessable("The second factor was not reset", line)
        }
        Err(NotReset::Off) => {
            let line = "The member has no second factor: their password alone signs them in.";
            unprocessable("There is nothing to reset", line)
        }
    };
    refused(request, Some(id), refusal).await
}
