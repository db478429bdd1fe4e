//! The address that the list of members had before the organization’s page.

use pages::Handler;
use pages::response::PageResponse;
use pages::urls::ORGANIZATION;
use shared::error::Error;
use shared::web::Request;

/// Leads from the address that the list of members had to the page that has it now.
pub(crate) struct FormerAddress;

impl Handler for FormerAddress {
    fn operation(_: &Request) -> &'static str {
        "view_organization"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        request.signed_in()?;
        Ok(PageResponse::see_other(ORGANIZATION))
    }
}
