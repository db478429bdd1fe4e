//! The former URL of the list of members.

use pages::response::PageResponse;
use pages::urls::ORGANIZATION;
use shared::error::Error;
use shared::web::Request;

pub(crate) async fn former_address(request: &mut Request) -> Result<PageResponse, Error> {
    request.signed_in()?;
    Ok(PageResponse::see_other(ORGANIZATION))
}
