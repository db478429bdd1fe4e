//! The choice between light and dark.

use pages::response::PageResponse;
use pages::theme::Theme;
use shared::error::Error;
use shared::web::Request;

pub(crate) async fn choose(request: &mut Request) -> Result<PageResponse, Error> {
    let chosen = Theme::parse(request.submitted_form()?.form().get("theme"));
    let cookie = Theme::set_cookie(chosen, request.app());
    Ok(PageResponse::see_other("/app/account").with_cookie(cookie))
}
