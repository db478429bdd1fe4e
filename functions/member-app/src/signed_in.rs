//! What follows signing in, in one step or two.

use pages::layout::Notice;
use pages::response::PageResponse;
use shared::web::cookies::Cookie;
use shared::web::login::{LoginCookies, Nowhere};
use shared::web::next::safe_next;
use shared::web::{Flash, Request};

const HOME: &str = "/app";

pub(crate) fn no_session(nowhere: Nowhere) -> Notice {
    match nowhere {
        Nowhere::NoOrganization => Notice::bad(
            "Your account belongs to no organization",
            "Your email and password are right, but you were removed from the organization. Ask one of its admins to invite you again.",
        ),
        Nowhere::Suspended => Notice::bad(
            "Your organization is suspended",
            "Your email and password are right, but nobody can sign in until the organization is resumed. Nothing is lost. Ask those who run this service.",
        ),
    }
}

pub(crate) fn signed_in(request: &Request, location: String, cookies: &LoginCookies) -> PageResponse {
    let cookies = [
        Cookie::Session.set(request.app(), Some(&cookies.session)),
        Cookie::Device.set(request.app(), Some(&cookies.device)),
        Cookie::Form.set(request.app(), None),
        Flash::SecondStep.removal(request),
    ];
    cookies.into_iter().fold(PageResponse::see_other(location), PageResponse::with_cookie)
}

pub(crate) fn next_page(next: Option<&str>) -> String {
    next.and_then(safe_next).unwrap_or(HOME).to_owned()
}
