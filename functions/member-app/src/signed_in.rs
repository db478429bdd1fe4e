//! What follows signing in, in one step or two.

use pages::layout::Notice;
use pages::response::PageResponse;
use shared::service::identity::sign_in::{NewLogin, Nowhere};
use shared::web::Request;
use shared::web::next::safe_next;

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

pub(crate) fn signed_in(request: &mut Request, location: String, login: NewLogin) -> PageResponse {
    request.sign_in(login).into_iter().fold(PageResponse::see_other(location), PageResponse::with_cookie)
}

pub(crate) fn next_page(next: Option<&str>) -> String {
    next.and_then(safe_next).unwrap_or(HOME).to_owned()
}
