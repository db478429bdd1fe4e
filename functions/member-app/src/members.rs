//! The page of the organization's members, on which admins remove members.

use askama::Template;
use http::StatusCode;
use shared::domain::ids::MemberId;
use shared::domain::member::NotRemoved;
use shared::domain::organization::{MemberRecord, Role};
use shared::error::Error;
use shared::service::members;
use shared::web::{Flash, Request};
use shared::wire::page::Page;

use crate::Handler;
use crate::labels::{Badge, DisplayTime};
use crate::layout::{Layout, Notice};
use crate::pager::{Pager, clamped_page, requested_page};
use crate::response::PageResponse;

/// The path of the page.
const PATH: &str = "/app/members";

/// The URL of the list's page at an offset.
fn page_url(offset: u64) -> String {
    if offset == 0 { PATH.to_owned() } else { format!("{PATH}?offset={offset}") }
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    layout: Layout,
    notice: Option<Notice>,
    organization: String,
    members: Vec<MemberRow>,
    pager: Option<Pager>,
    can_remove: bool,
    /// The URL of the shown page of the list, to which its forms return.
    form_action: String,
}

struct MemberRow {
    id: String,
    name: String,
    email: String,
    role: Badge,
    created_at: DisplayTime,
    is_you: bool,
}

impl MemberRow {
    fn new(member: &MemberRecord, you: MemberId) -> Self {
        Self {
            id: member.id.to_string(),
            name: member.name.as_str().to_owned(),
            email: member.email.as_str().to_owned(),
            role: match member.role {
                Role::Admin => Badge { text: "Admin", class: "blue" },
                Role::Member => Badge { text: "Member", class: "quiet" },
            },
            created_at: member.created_at.into(),
            is_you: member.id == you,
        }
    }
}

/// Shows the page.
pub(crate) struct List;

impl Handler for List {
    fn operation(_: &Request) -> &'static str {
        "view_members"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        request.signed_in()?;
        // The page also works when the keys that open the flash can't be read.
        let (name, cookie) = Flash::RemovedMember.take(request).await.ok().flatten().unzip();
        let notice = name.map(|name| {
            let line = "They are signed out of this organization, and can’t sign in to it anymore.";
            Notice::good(format!("{name} was removed"), line)
        });
        Ok(members_page(request, notice).await?.with_cookie(cookie.flatten()))
    }
}

async fn members_page(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let members = members::list(signed_in.scope()).await?;
    let total = u64::try_from(members.len()).unwrap_or(u64::MAX);
    let page_request = clamped_page(requested_page(request, "offset"), total);
    let positions = page_request.positions();
    let on_page = (0..).zip(&members).filter(|(position, _)| positions.contains(position)).map(|(_, member)| member);
    let shown = Page::new(on_page.collect(), total, page_request);
    let you = signed_in.member().id();
    let page = MembersPage {
        layout: Layout::new(request),
        notice,
        organization: signed_in.organization().name.as_str().to_owned(),
        members: shown.data.iter().map(|member| MemberRow::new(member, you)).collect(),
        pager: Pager::new("members", shown.pagination, page_url),
        // The role may have changed since the session was authenticated.
        can_remove: members.iter().any(|member| member.id == you && member.role == Role::Admin),
        form_action: page_url(shown.pagination.offset),
    };
    Ok(PageResponse::render(&page)?.showing(shown.data.iter().map(|member| member.id.uuid())))
}

/// Removes a member.
pub(crate) struct Remove;

impl Handler for Remove {
    fn operation(_: &Request) -> &'static str {
        "remove_member"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let id: Option<MemberId> = submitted.form().get("member").parse().ok();
        let submitted = match submitted.require_admin() {
            Err(Error::AdminsOnly) => return refused(request, id, &Refusal::AdminsOnly).await,
            submitted => submitted?,
        };
        // A value that is no id is no member's.
        let Some(member) = id else {
            return refused(request, None, &Refusal::NotRemoved(NotRemoved::Unknown)).await;
        };
        match submitted.run(|| members::remove(submitted.scope(), submitted.submitter(), member)).await {
            Ok(Ok(removed)) => {
                // The removal succeeded even if the keys that seal the flash can't be read.
                let cookie = Flash::RemovedMember.set(&submitted, removed.name.as_str()).await.ok().flatten();
                let back = page_url(requested_page(request, "offset").positions().start);
                Ok(PageResponse::see_other(back).with_cookie(cookie))
            }
            Ok(Err(reason)) => refused(request, id, &Refusal::NotRemoved(reason)).await,
            Err(Error::AdminsOnly) => refused(request, id, &Refusal::AdminsOnly).await,
            Err(error) => Err(error),
        }
    }
}

/// Why no member was removed.
enum Refusal {
    /// The submitter is no admin.
    AdminsOnly,
    NotRemoved(NotRemoved),
}

/// The page with the reason for a refusal. The audit row has the id of the member who was to be removed.
async fn refused(request: &Request, id: Option<MemberId>, reason: &Refusal) -> Result<PageResponse, Error> {
    let (status, code, title, line) = match reason {
        Refusal::AdminsOnly => (
            StatusCode::FORBIDDEN,
            "forbidden",
            "Only admins remove members",
            "No one was removed. Ask an admin of your organization.",
        ),
        Refusal::NotRemoved(NotRemoved::Unknown) => (
            StatusCode::NOT_FOUND,
            "not_found",
            "There is no such member",
            "They may have been removed already. The list below is as it is now.",
        ),
        Refusal::NotRemoved(NotRemoved::Oneself) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid_request",
            "You can’t remove yourself",
            "So there is always an admin left. Another admin can remove you.",
        ),
    };
    let page = members_page(request, Some(Notice::bad(title, line))).await?;
    Ok(page.showing(id.map(MemberId::uuid)).refused(status, code))
}
