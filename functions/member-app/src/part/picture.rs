//! The pictures of a document's pages.
//!
//! Decision: they have a function of their own. What draws them zips to 2.4 MB, which the pages themselves don't carry: a
//! signer's page is there before its pictures are.

use shared::domain::participant::receipt::FileType;
use shared::error::Error;
use shared::limits;
use shared::web::Request;

use super::document::{blocking, file};
use crate::Handler;
use crate::response::PageResponse;

/// What a JPEG begins with. A picture is one, or a PNG.
const JPEG: &[u8] = b"\xff\xd8";

/// Shows the picture of a page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_document_page"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let number: usize = request.path_id("page")?;
        let index = number.checked_sub(1).ok_or_else(Error::not_found)?;
        let (document, file) = file(request).await?;
        let draw = move || paper::pages::Pages::open(file.to_vec()).ok()?.render(index, limits::PAGE_PICTURE_WIDTH);
        let picture = blocking(draw).await?.ok_or_else(Error::not_found)?;
        let file_type = if picture.starts_with(JPEG) { FileType::Jpeg } else { FileType::Png };
        let name = format!("{}, page {number}.{}", document.name.as_str(), file_type.extension());
        Ok(PageResponse::file(picture.into(), file_type.media_type(), "inline", &name).showing([document.id.uuid()]))
    }
}
