//! Members: who belongs to the organization, for all of them to see; and removing one, for admins.

use askama::Template;
use http::StatusCode;
use shared::domain::ids::MemberId;
use shared::domain::member::NotRemoved;
use shared::domain::organization::{MemberRecord, Role};
use shared::error::Error;
use shared::membership;
use shared::page::Page as PageOf;
use shared::visit::Visit;

use crate::Page;
use crate::frame::{Answer, Frame, Moment, Notice};
use crate::once::{self, Once};
use crate::outline::Badge;
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
    frame: Frame,
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
    fn operation(_: &Visit) -> &'static str {
        "view_members"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        visit.signed_in()?;
        // Without keys it can't be said who was removed; the page shows who is left.
        let (name, cookie) = once::show(visit, Once::Removed).await.ok().flatten().unzip();
        let notice = name.map(|name| Notice {
            look: "good",
            title: format!("{name} was removed"),
            lines: vec!["They are signed out of this organization, and can’t sign in to it any more.".to_owned()],
        });
        Ok(page(visit, notice).await?.with_cookie(cookie.flatten()))
    }
}

async fn page(visit: &Visit, notice: Option<Notice>) -> Result<Answer, Error> {
    let signed_in = visit.signed_in()?;
    let members = signed_in.act().store().members().await?;
    let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
    let request = page_within(page_of(visit, "offset"), count);
    let positions = request.positions();
    let here: Vec<_> = (0..).zip(&members).filter(|(at, _)| positions.contains(at)).map(|(_, one)| one).collect();
    let here = PageOf::new(here, count, request);
    let you = signed_in.member().id();
    let page = MembersPage {
        frame: Frame::new(visit),
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
    fn operation(_: &Visit) -> &'static str {
        "remove_member"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let posted = visit.posted()?;
        // What is no id is no member's.
        let asked: Option<MemberId> = posted.form().get("member").parse().ok();
        let posted = match posted.by_admin() {
            Err(Error::AdminsOnly) => return refused(visit, asked, &Refusal::AdminsOnly).await,
            posted => posted?,
        };
        let Some(who) = asked else {
            return refused(visit, None, &Refusal::NotRemoved(NotRemoved::Unknown)).await;
        };
        match posted.until_settled(|| membership::remove(&posted, who)).await {
            Ok(Ok(gone)) => {
                // They are gone, whether or not there are keys to say so with.
                let cookie = once::hide(&posted, Once::Removed, gone.name.as_str()).await.ok().flatten();
                let back = page_at(page_of(visit, "offset").positions().start);
                Ok(Answer::see_other(back).with_cookie(cookie).recorded())
            }
            Ok(Err(why)) => refused(visit, asked, &Refusal::NotRemoved(why)).await,
            Err(Error::AdminsOnly) => refused(visit, asked, &Refusal::AdminsOnly).await,
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
async fn refused(visit: &Visit, who: Option<MemberId>, why: &Refusal) -> Result<Answer, Error> {
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
    Ok(page(visit, Some(notice)).await?.showing(who.map(MemberId::uuid)).refused(status, code))
}
