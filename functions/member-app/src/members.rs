//! Members: who belongs to the organization, for all of them to see; and removing one, for admins.

use askama::Template;
use http::StatusCode;
use shared::domain::ids::MemberId;
use shared::domain::member::NotRemoved;
use shared::domain::organization::{MemberRecord, Role};
use shared::error::Error;
use shared::service::members;
use shared::web::{Flash, Request};
use shared::wire::page::Page as PageOf;

use crate::Page;
use crate::agreement_summary::Badge;
use crate::layout::{Answer, Layout, Moment, Notice};
use crate::pager::{Pager, page_of, page_within};

/// Where the page is.
const PATH: &str = "/app/members";

/// Where the page of the list is that begins at a position.
fn page_at(offset: u64) -> String {
    if offset == 0 { PATH.to_owned() } else { format!("{PATH}?offset={offset}") }
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    layout: Layout,
    notice: Option<Notice>,
    organization: String,
    members: Vec<MemberLine>,
    pager: Option<Pager>,
    can_remove: bool,
    /// Where forms go, to lead back here.
    here: String,
}

struct MemberLine {
    id: String,
    name: String,
    email: String,
    role: Badge,
    since: Moment,
    is_you: bool,
}

impl MemberLine {
    fn new(member: &MemberRecord, you: MemberId) -> Self {
        Self {
            id: member.id.to_string(),
            name: member.name.as_str().to_owned(),
            email: member.email.as_str().to_owned(),
            role: match member.role {
                Role::Admin => Badge { text: "Admin", look: "blue" },
                Role::Member => Badge { text: "Member", look: "quiet" },
            },
            since: member.created_at.into(),
            is_you: member.id == you,
        }
    }
}

/// The page.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Request) -> &'static str {
        "view_members"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.signed_in()?;
        // Without keys it can't be said who was removed; the page shows who is left.
        let (name, cookie) = Flash::RemovedMember.take(request).await.ok().flatten().unzip();
        let notice = name.map(|name| Notice {
            look: "good",
            title: format!("{name} was removed"),
            lines: vec!["They are signed out of this organization, and can’t sign in to it any more.".to_owned()],
        });
        Ok(page(request, notice).await?.with_cookie(cookie.flatten()))
    }
}

async fn page(request: &Request, notice: Option<Notice>) -> Result<Answer, Error> {
    let signed_in = request.signed_in()?;
    let members = signed_in.scope().store().members().await?;
    let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
    let page_request = page_within(page_of(request, "offset"), count);
    let positions = page_request.positions();
    let here: Vec<_> = (0..).zip(&members).filter(|(at, _)| positions.contains(at)).map(|(_, one)| one).collect();
    let here = PageOf::new(here, count, page_request);
    let you = signed_in.member().id();
    let page = MembersPage {
        layout: Layout::new(request),
        notice,
        organization: signed_in.organization().name.as_str().to_owned(),
        members: here.data.iter().map(|member| MemberLine::new(member, you)).collect(),
        pager: Pager::new("members", here.pagination, page_at),
        // As they are now: the session may have been recognized when they were an admin still.
        can_remove: members.iter().any(|member| member.id == you && member.role == Role::Admin),
        here: page_at(here.pagination.offset),
    };
    Ok(Answer::page(&page)?.showing(here.data.iter().map(|member| member.id.uuid())))
}

/// Removes one.
pub(crate) struct Remove;

impl Page for Remove {
    fn operation(_: &Request) -> &'static str {
        "remove_member"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?;
        // What is no id is no member's.
        let asked: Option<MemberId> = submitted.form().get("member").parse().ok();
        let submitted = match submitted.require_admin() {
            Err(Error::AdminsOnly) => return refused(request, asked, &Refusal::AdminsOnly).await,
            submitted => submitted?,
        };
        let Some(who) = asked else {
            return refused(request, None, &Refusal::NotRemoved(NotRemoved::Unknown)).await;
        };
        match submitted.run(|| members::remove(submitted.scope(), submitted.submitter(), who)).await {
            Ok(Ok(gone)) => {
                // They are gone, whether or not there are keys to say so with.
                let cookie = Flash::RemovedMember.set(&submitted, gone.name.as_str()).await.ok().flatten();
                let back = page_at(page_of(request, "offset").positions().start);
                Ok(Answer::see_other(back).with_cookie(cookie))
            }
            Ok(Err(why)) => refused(request, asked, &Refusal::NotRemoved(why)).await,
            Err(Error::AdminsOnly) => refused(request, asked, &Refusal::AdminsOnly).await,
            Err(error) => Err(error),
        }
    }
}

/// Why nobody was removed.
enum Refusal {
    /// Whoever wanted it is no admin, or none any more.
    AdminsOnly,
    NotRemoved(NotRemoved),
}

/// The page as it is now, with why nobody was removed. On record with whom it was about.
async fn refused(request: &Request, who: Option<MemberId>, why: &Refusal) -> Result<Answer, Error> {
    let (status, code, title, line) = match why {
        Refusal::AdminsOnly => (
            StatusCode::FORBIDDEN,
            "forbidden",
            "Only admins remove members",
            "Nobody was removed. Ask an admin of your organization.",
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
    let notice = Notice { look: "bad", title: title.to_owned(), lines: vec![line.to_owned()] };
    Ok(page(request, Some(notice)).await?.showing(who.map(MemberId::uuid)).refused(status, code))
}
