//! The address that the list of members had before the organization’s page.

use pages::response::PageResponse;
use pages::urls::ORGANIZATION;
use shared::error::Error;
use shared::web::Request;

/// Leads from the address that the list of members had to the page that has it now.
pub(crate) async fn former_address(request: &mut Request) -> Result<PageResponse, Error> {
    request.signed_in()?;
    Ok(PageResponse::see_other(ORGANIZATION))
}
