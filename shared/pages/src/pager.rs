//! Pagination of lists.

use shared::limits;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Offset, PageRequest, Pagination};

/// A page's position in its list, with links to its neighbors.
pub struct Pager {
    /// The list's items in a word, for screen readers.
    pub items: &'static str,
    /// The shown range, such as `1–50 of 120`.
    pub range: String,
    /// The previous page.
    pub previous: Option<String>,
    /// The next page.
    pub next: Option<String>,
}

impl Pager {
    /// The pager of a page, or `None` if the list has one page. `page_url` returns the URL of the page at an offset.
    pub fn new(items: &'static str, at: Pagination, page_url: impl Fn(u64) -> String) -> Option<Self> {
        let step = u64::from(at.limit);
        let last = at.offset.saturating_add(step).min(at.total);
        (at.offset > 0 || at.has_more).then(|| Self {
            items,
            range: format!("{} to {last} of {}", at.offset.saturating_add(1), at.total),
            previous: (at.offset > 0).then(|| page_url(at.offset.saturating_sub(step))),
            next: at.has_more.then(|| page_url(last)),
        })
    }
}

/// The query of a paginated list without filters.
#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct Paged {
    /// How many records to skip.
    #[deserr(default)]
    pub offset: Offset,
}

/// The page that begins at an offset.
#[must_use]
pub fn page_at(offset: Offset) -> PageRequest {
    PageRequest::new(limits::PAGE_LIMIT_DEFAULT, offset.get())
}

/// The page; if it is past the end, because items were removed, the list's last page.
#[must_use]
pub fn clamped_page(page: PageRequest, total: u64) -> PageRequest {
    let step = u64::from(limits::PAGE_LIMIT_DEFAULT);
    let last = total.saturating_sub(1) / step * step;
    if page.positions().start < total { page } else { PageRequest::new(limits::PAGE_LIMIT_DEFAULT, last) }
}

/// Whether a page is past the end of its list.
#[must_use]
pub fn is_past_the_end(at: Pagination) -> bool {
    at.offset > 0 && at.offset >= at.total
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::page::Page;

    fn pager(total: u64, offset: u64) -> Option<(String, Option<String>, Option<String>)> {
        let at = Page::<u8>::new(Vec::new(), total, PageRequest::new(50, offset)).pagination;
        Pager::new("things", at, |offset| offset.to_string()).map(|pager| (pager.range, pager.previous, pager.next))
    }

    #[test]
    fn a_page_past_the_end_becomes_the_last_page() {
        let start = |offset, total| clamped_page(PageRequest::new(50, offset), total).positions().start;
        for (offset, total, expected) in
            [(0, 0, 0), (50, 0, 0), (50, 51, 50), (50, 50, 0), (51, 51, 50), (10, 60, 10), (200, 101, 100)]
        {
            assert_eq!(start(offset, total), expected, "{offset} of {total}");
        }
    }

    #[test]
    fn pages_link_to_each_other() {
        let link = |offset: u64| Some(offset.to_string());
        assert_eq!(pager(0, 0), None);
        assert_eq!(pager(50, 0), None);
        assert_eq!(pager(51, 0), Some(("1 to 50 of 51".to_owned(), None, link(50))));
        assert_eq!(pager(101, 50), Some(("51 to 100 of 101".to_owned(), link(0), link(100))));
        assert_eq!(pager(101, 100), Some(("101 to 101 of 101".to_owned(), link(50), None)));
        assert_eq!(pager(60, 10), Some(("11 to 60 of 60".to_owned(), link(0), None)));
    }
}
