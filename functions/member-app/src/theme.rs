//! The choice between light and dark.

use pages::Handler;
use pages::response::PageResponse;
use pages::theme::Theme;
use shared::error::Error;
use shared::web::Request;

/// Keeps the theme that was chosen.
pub(crate) struct Choose;

impl Handler for Choose {
    fn operation(_: &Request) -> &'static str {
        "choose_theme"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let chosen = Theme::parse(request.submitted_form()?.form().get("theme"));
        let cookie = Theme::set_cookie(chosen, request.app());
        Ok(PageResponse::see_other("/app/account").with_cookie(cookie))
    }
}
