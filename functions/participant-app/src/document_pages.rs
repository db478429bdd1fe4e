//! The pages of a document as pictures, a few at once, with links to the others.
//!
//! Decision: a signer's page shows [`DOCUMENT_PAGES_AT_ONCE`](shared::limits::DOCUMENT_PAGES_AT_ONCE) pages, with links to
//! the rest. Phones can lay out that many pictures, the page stays small, and everything that is signed can be seen
//! without the download.

use axum::body::Bytes;
use pages::document_pages::{PagesLink, pages_from};
use shared::error::Error;
use shared::web::Request;

#[derive(Default)]
pub(super) struct ShownPages {
    pub pictures: Vec<PagePicture>,
    pub count: usize,
    pub links: Vec<PagesLink>,
}

pub(super) struct PagePicture {
    pub number: usize,
    /// Its width and height, whose ratio reserves its space until it has loaded.
    pub width: f32,
    pub height: f32,
}

impl ShownPages {
    /// A file's pages from this one, or from the first if it doesn't exist. `url` is the document's page.
    pub async fn of(request: &Request, file: Bytes, from: Option<usize>, url: &str) -> Result<Self, Error> {
        let sizes = request.app().pdfs.page_sizes(file, request.reading_deadline()).await?;
        let (current, links) = pages_from(sizes.len(), from, url);
        let numbered = (1..).zip(sizes.iter().copied()).skip(current.start).take(current.len());
        let picture = |(number, (width, height)): (usize, (f32, f32))| PagePicture {
            number,
            width: width.round(),
            height: height.round(),
        };
        Ok(Self { pictures: numbered.map(picture).collect(), count: sizes.len(), links })
    }

    pub fn range(&self) -> Option<String> {
        let current = self.links.iter().find(|link| link.is_current)?;
        Some(format!("{} of {}", current.text, self.count))
    }

    pub fn next(&self) -> Option<&PagesLink> {
        let current = self.links.iter().position(|link| link.is_current)?;
        self.links.get(current + 1)
    }
}
