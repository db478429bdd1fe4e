//! Admins' acts on invitations, from the organization's page.

use pages::done::{redirect_with_notice, shown_once};
use pages::fields::Fields;
use pages::labels::{actor_label, role_label};
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::urls::ORGANIZATION;
use shared::domain::ids::InvitationId;
use shared::domain::invitation::{Invitation, NewInvitation};
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::identity::invitations::{self, GeneratedInvitation, NotInvited};
use shared::text::reader::Shown as _;
use shared::web::{Flash, Redirect, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::organization::{INVITATION, Shown, organization_page, own_password_error};

pub(crate) async fn invite(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let form = submitted.form();
    let password_error = own_password_error(request, form).await?;
    let new: NewInvitation = match form.read_new(&[INVITATION.email.name, INVITATION.role.name]) {
        Ok(new) if password_error.is_none() => new,
        read => {
            let mut errors = read.err().unwrap_or_default();
            if let Some(error) = password_error {
                errors.extend(FieldErrors::one(INVITATION.password, FieldCode::InvalidValue, error));
            }
            let shown = Shown { invite: Some(Fields::submitted(form, errors)), ..Shown::default() };
            return Ok(organization_page(request, shown).await?.unprocessable());
        }
    };
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    let invitation = GeneratedInvitation::generate(scope, admin, new)?;
    let flash = Flash::InvitationLink(invitation.id());
    let cookie = match flash.set(&submitted, invitation.secret().reveal()).await {
        Ok(cookie) => cookie,
        Err(Error::Unavailable(cause)) => {
            let line = "The link can’t be encrypted at the moment. Try again in a minute.";
            let notice = Some(Notice::bad("Nobody was invited", line));
            let shown = Shown { notice, invite: Some(Fields::of(form.typed())), ..Shown::default() };
            return Ok(organization_page(request, shown).await?.unavailable(cause));
        }
        Err(error) => return Err(error),
    };
    let redirect = Redirect { location: format!("{ORGANIZATION}?invited={}", invitation.id()), cookie };
    submitted.redirect_if_committed(&redirect);
    let shown = match submitted.run(|| invitations::invite(scope, admin, &invitation)).await? {
        Ok(replaced) => {
            let title = format!("{} is invited", form.get(INVITATION.email).trim());
            let zone = &request.signed_in()?.organization().time_zone;
            let replaced = replaced.map(|earlier| format!("{} ", replaces(&earlier, zone))).unwrap_or_default();
            let line = format!("{replaced}Copy the link below and hand it over.");
            return Ok(shown_once(&submitted, redirect, &title, &line).await);
        }
        Err(NotInvited::Member) => {
            let errors = FieldErrors::one(INVITATION.email, FieldCode::InvalidValue, "is a member’s already");
            Shown { invite: Some(Fields::submitted(form, errors)), ..Shown::default() }
        }
        Err(NotInvited::NoRoom) => {
            let line = format!(
                "{} invitations are pending, the most that an organization can have. Revoke one that is no longer needed.",
                limits::PENDING_INVITATIONS_MAX
            );
            let notice = Some(Notice::bad("Nobody was invited", line));
            Shown { notice, invite: Some(Fields::of(form.typed())), ..Shown::default() }
        }
    };
    Ok(organization_page(request, shown).await?.unprocessable())
}

fn replaces(earlier: &Invitation, zone: &TimeZone) -> String {
    let by = earlier.created_by.as_ref().map(|by| format!(" by {}", actor_label(by))).unwrap_or_default();
    let day = zone.day_of(earlier.created_at).shown();
    format!("It replaces the invitation as {} made on {day}{by}, whose link no longer works.", role_label(earlier.role))
}

pub(crate) async fn revoke(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let id: InvitationId = request.path_id("id")?;
    let line = "Its link stopped working immediately.";
    let redirect = redirect_with_notice(&submitted, ORGANIZATION.to_owned(), "Invitation revoked", line).await;
    match submitted.run(|| invitations::revoke(submitted.scope(), submitted.submitter(), id)).await {
        Ok(()) => Ok(redirect.into()),
        Err(Error::NotFound(_)) => {
            let line = "It may have been accepted, revoked or replaced. The lists below are as they are now.";
            let notice = Notice::bad("There is no such invitation", line);
            let page = organization_page(request, notice.into()).await?;
            Ok(page.refused(http::StatusCode::NOT_FOUND, "not_found"))
        }
        Err(error) => Err(error),
    }
}
