//! The pages of a document as pictures, a few at once, with links to the others.
//!
//! Decision: a signer's page shows [`limits::DOCUMENT_PAGES_AT_ONCE`] pages, with links to the rest. Phones can lay out
//! that many pictures, the page stays small, and everything that is signed can be seen without the download.

use std::ops::Range;

use axum::body::Bytes;
use shared::error::Error;
use shared::limits;
use shared::web::Request;

const FROM: &str = "from";
const LINKS_AROUND: usize = 2;

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PagesLink {
    pub url: String,
    pub text: String,
    pub is_current: bool,
}

impl ShownPages {
    /// A file's pages from this one, or from the first if it doesn't exist. `url` is the document's page.
    pub async fn of(request: &Request, file: Bytes, from: Option<usize>, url: &str) -> Result<Self, Error> {
        let sizes = request.app().pdfs.page_sizes(file, request.reading_deadline()).await?;
        let (current, links) = links(sizes.len(), from, url);
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

/// The pages to show, counted from 0, and links to the first, the last, and some around the current ones.
fn links(count: usize, from: Option<usize>, url: &str) -> (Range<usize>, Vec<PagesLink>) {
    const STEP: usize = limits::DOCUMENT_PAGES_AT_ONCE;
    let current = from.and_then(|from| from.checked_sub(1)).filter(|index| *index < count).unwrap_or_default() / STEP;
    let last = count.saturating_sub(1) / STEP;
    let range = |n: usize| n * STEP..count.min((n + 1) * STEP);
    let is_linked = |n: &usize| *n == 0 || *n == last || n.abs_diff(current) <= LINKS_AROUND;
    let link = |n: usize| {
        let Range { start, end } = range(n);
        let text = if end - start == 1 { format!("Page {end}") } else { format!("Pages {}–{end}", start + 1) };
        PagesLink { url: format!("{url}?{FROM}={}", start + 1), text, is_current: n == current }
    };
    let links = if last == 0 { Vec::new() } else { (0..=last).filter(is_linked).map(link).collect() };
    (range(current), links)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(count: usize, from: Option<usize>) -> (Range<usize>, Vec<String>) {
        let (current, links) = links(count, from, "/d");
        let told = |link: &PagesLink| {
            let mark = if link.is_current { "*" } else { "" };
            format!("{}{mark} {}", link.text, link.url.trim_start_matches("/d?from="))
        };
        (current, links.iter().map(told).collect())
    }

    #[test]
    fn all_pages_are_within_reach() {
        assert_eq!(linked(0, None), (0..0, Vec::new()));
        assert_eq!(linked(50, Some(51)), (0..50, Vec::new()), "one page needs no links");
        let three = |marks: [&str; 3]| {
            let [a, b, c] = marks;
            vec![format!("Pages 1–50{a} 1"), format!("Pages 51–100{b} 51"), format!("Page 101{c} 101")]
        };
        for (from, shown, marks) in [
            (None, 0..50, ["*", "", ""]),
            (Some(0), 0..50, ["*", "", ""]),
            (Some(102), 0..50, ["*", "", ""]),
            (Some(usize::MAX), 0..50, ["*", "", ""]),
            (Some(50), 0..50, ["*", "", ""]),
            (Some(51), 50..100, ["", "*", ""]),
            (Some(77), 50..100, ["", "*", ""]),
            (Some(101), 100..101, ["", "", "*"]),
        ] {
            assert_eq!(linked(101, from), (shown, three(marks)), "{from:?}");
        }
        let (_, many) = linked(20_000, Some(5001));
        let starts: Vec<&str> = many.iter().filter_map(|link| link.rsplit(' ').next()).collect();
        assert_eq!(starts, ["1", "4901", "4951", "5001", "5051", "5101", "19951"]);
    }
}
