//! The page of a participant's link: who invites them to what. Its button opens their session.

use askama::Template;
use http::StatusCode;
use pages::fields::{Fields, form_secret};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::{MessagePage, PageResponse};
use pages::urls::part_url;
use shared::domain::participant::ParticipantLink;
use shared::error::Error;
use shared::service::identity::participant_links::{Followed, NotOpened, OpenLink};
use shared::web::Request;
use shared::web::cookies::Cookie;

form! {
    /// The code that a member reads out.
    pub(crate) LINK_CODE: LinkCodeForm {
        code: Field::app_code("code", "Code").hint(
            "Six digits that a member of the organization reads out to you by phone. It works once, within 15 minutes.",
        ),
    }
}

#[derive(Template)]
#[template(path = "part_link.html")]
struct LinkPage {
    layout: Layout,
    notice: Option<Notice>,
    form_token: String,
    action: String,
    organization: String,
    agreement: String,
    name: String,
    email: Option<String>,
    asks_for_code: bool,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    page(request, None).await
}

async fn page(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let link = request.path_id::<ParticipantLink>("secret").ok();
    match request.link_visit(link.as_ref()).follow().await? {
        Followed::Open(open) => open_page(request, &open, Fields::default(), notice),
        refused => refused_page(request, &refused),
    }
}

fn open_page(
    request: &Request,
    open: &OpenLink,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let form_secret = form_secret(request)?;
    let page = LinkPage {
        layout: Layout::signed_out(request),
        notice,
        form_token: form_secret.form_token(),
        action: request.uri().path().to_owned(),
        organization: open.organization.name.as_str().to_owned(),
        agreement: open.agreement.name.as_str().to_owned(),
        name: open.contact.display_name.as_str().to_owned(),
        email: open.contact.email.as_ref().map(|email| email.as_str().to_owned()),
        asks_for_code: open.asks_for_code,
        fields,
    };
    Ok(PageResponse::render(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&form_secret))))
}

/// The page of an invalid link. All look the same, so that only a valid one reveals an agreement.
fn refused_page(request: &Request, refused: &Followed) -> Result<PageResponse, Error> {
    let (title, text, status, code) = if matches!(refused, Followed::TooMany) {
        (
            "Too many links or codes that don’t work",
            "Many links that don’t work were opened from your network. Wait five minutes, then open your link again.",
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_requests",
        )
    } else {
        (
            "This link no longer works",
            "It may be incomplete, or a newer one was sent to you. Look for the latest message, or ask the organization that sent it for a new link.",
            StatusCode::NOT_FOUND,
            "not_found",
        )
    };
    let page = MessagePage {
        layout: Layout::signed_out(request),
        title,
        text: text.into(),
        link: Link { url: request.uri().path().to_owned(), text: "Try again".to_owned() },
        shows_request_id: false,
    };
    Ok(PageResponse::render(&page)?.refused(status, code))
}

pub(crate) async fn open(request: &mut Request) -> Result<PageResponse, Error> {
    match request.cookie(Cookie::Form).map(|secret| request.verified_form(&secret).map(|_| ())) {
        Some(Ok(())) => {}
        Some(Err(Error::ForgedForm)) | None => {
            let line = "This page was open for too long, or your browser does not keep cookies.";
            let page = page(request, Some(Notice::bad("Please try again", line))).await?;
            return Ok(page.refused(StatusCode::FORBIDDEN, "forbidden"));
        }
        Some(Err(error)) => return Err(error),
    }
    let link = request.path_id::<ParticipantLink>("secret").ok();
    let typed = request.unverified_form().get(LINK_CODE.code).to_owned();
    let opened = request.link_visit(link.as_ref()).open(&typed).await?;
    if let Err(refused) = &opened {
        request.note_refused(refused);
    }
    match opened {
        Ok(opened) => {
            let by = opened.session.participant();
            let to_pages = PageResponse::see_other(part_url(by.id()));
            let to_pages = to_pages.showing([by.agreement_id().uuid(), by.id().uuid()]);
            Ok(request.enter(opened).into_iter().fold(to_pages, |page, cookie| page.with_cookie(Some(cookie))))
        }
        Err(NotOpened::Link(refused)) => refused_page(request, &refused),
        Err(NotOpened::NoCode(open)) => {
            let (message, organization) = ("must be six digits", open.organization.name.as_str());
            // The page was opened before the organization began to require codes.
            let notice = typed
                .is_empty()
                .then(|| Notice::warn("You need a code", format!("{organization} reads it out to you by phone.")));
            let fields = Fields::wrong_one(LINK_CODE.code, message);
            Ok(open_page(request, &open, fields, notice)?.unprocessable())
        }
        Err(NotOpened::WrongCode(open)) => {
            let organization = open.organization.name.as_str();
            let message = format!(
                "is wrong, or no longer works. A code is valid for 15 minutes and five tries: if this goes on, ask {organization} for a new one"
            );
            let fields = Fields::wrong_one(LINK_CODE.code, &message);
            Ok(open_page(request, &open, fields, None)?.unprocessable())
        }
    }
}
