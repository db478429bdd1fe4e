//! Lists over several pages.

use shared::limits;
use shared::web::Request;
use shared::wire::page::{PageRequest, Pagination};

/// Where a page is in its list, with the ways to those before and after it.
pub(crate) struct Pager {
    /// What the list has, for people who don't see it.
    pub what: &'static str,
    pub place: String,
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl Pager {
    /// Nothing, when all of the list is on one page. `page_at` makes the address of the page from a position on.
    pub fn new(what: &'static str, at: Pagination, page_at: impl Fn(u64) -> String) -> Option<Self> {
        let step = u64::from(at.limit);
        let last = at.offset.saturating_add(step).min(at.total);
        (at.offset > 0 || at.has_more).then(|| Self {
            what,
            place: format!("{} to {last} of {}", at.offset.saturating_add(1), at.total),
            previous: (at.offset > 0).then(|| page_at(at.offset.saturating_sub(step))),
            next: at.has_more.then(|| page_at(last)),
        })
    }
}

/// The page that a parameter of the query names by its first position; the first one, if it names none.
pub(crate) fn page_of(request: &Request, parameter: &str) -> PageRequest {
    let offset = request.query(parameter).and_then(|text| text.parse().ok()).unwrap_or_default();
    PageRequest::new(limits::PAGE_LIMIT_DEFAULT, offset)
}

/// The page, or the last one of a list of so many where it is past the end: what was there may be gone by now.
pub(crate) fn page_within(page: PageRequest, total: u64) -> PageRequest {
    let step = u64::from(limits::PAGE_LIMIT_DEFAULT);
    let last = total.saturating_sub(1) / step * step;
    if page.positions().start < total { page } else { PageRequest::new(limits::PAGE_LIMIT_DEFAULT, last) }
}

/// Whether a page is past the end of its list, where there is nothing to see.
pub(crate) fn is_past_the_end(at: Pagination) -> bool {
    at.offset > 0 && at.offset >= at.total
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::page::Page;

    fn pager(total: u64, offset: u64) -> Option<(String, Option<String>, Option<String>)> {
        let at = Page::<u8>::new(Vec::new(), total, PageRequest::new(50, offset)).pagination;
        Pager::new("things", at, |offset| offset.to_string()).map(|pager| (pager.place, pager.previous, pager.next))
    }

    #[test]
    fn past_the_end_is_the_last_page() {
        let start = |offset, total| page_within(PageRequest::new(50, offset), total).positions().start;
        for (offset, total, expected) in
            [(0, 0, 0), (50, 0, 0), (50, 51, 50), (50, 50, 0), (51, 51, 50), (10, 60, 10), (200, 101, 100)]
        {
            assert_eq!(start(offset, total), expected, "{offset} of {total}");
        }
    }

    #[test]
    fn pages_lead_to_each_other() {
        let link = |offset: u64| Some(offset.to_string());
        assert_eq!(pager(0, 0), None);
        assert_eq!(pager(50, 0), None);
        assert_eq!(pager(51, 0), Some(("1 to 50 of 51".to_owned(), None, link(50))));
        assert_eq!(pager(101, 50), Some(("51 to 100 of 101".to_owned(), link(0), link(100))));
        assert_eq!(pager(101, 100), Some(("101 to 101 of 101".to_owned(), link(50), None)));
        assert_eq!(pager(60, 10), Some(("11 to 60 of 60".to_owned(), link(0), None)));
    }
}
