//! The pictures of a document's pages.
//!
//! Decision: a separate function draws them: the renderer takes 2.4 MB, and a page loads before its pictures.

use pages::response::PageResponse;
use pages::uploads::document_of_participant;
use pdf::pages::Pages;
use shared::domain::file_type::FileType;
use shared::error::Error;
use shared::limits;
use shared::platform::pdf_reader::{JPEG, NotDrawn, Picture};
use shared::web::Request;
use shared::wire::fields::{FieldCode, FieldErrors};

/// Draws a page in a separate process, which [`PdfReader`](shared::platform::pdf_reader::PdfReader) starts.
pub(crate) fn draw(file: Vec<u8>, Picture { page, width_px }: Picture) -> Result<Vec<u8>, NotDrawn> {
    let pages = Pages::open(file).map_err(|_| NotDrawn::TooDemanding)?;
    if page >= pages.count() {
        return Err(NotDrawn::NoSuchPage);
    }
    pages.render(page, width_px).ok_or(NotDrawn::TooDemanding)
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let number: usize = request.path_id("page")?;
    let page = number.checked_sub(1).ok_or_else(Error::not_found)?;
    let (document, file) = document_of_participant(request).await?;
    let drawing = Picture { page, width_px: limits::PAGE_PICTURE_WIDTH };
    let picture =
        request.app().pdfs.picture(file, drawing, request.reading_deadline()).await?.map_err(|why| match why {
            NotDrawn::NoSuchPage => Error::not_found(),
            NotDrawn::TooDemanding => {
                Error::Invalid(FieldErrors::one("page", FieldCode::InvalidValue, "can’t be shown as a picture"))
            }
        })?;
    let file_type = if picture.starts_with(JPEG) { FileType::Jpeg } else { FileType::Png };
    let name = format!("{}, page {number}.{}", document.name.as_str(), file_type.extension());
    Ok(PageResponse::file(picture.into(), file_type.media_type(), "inline", &name).showing([document.id.uuid()]))
}
