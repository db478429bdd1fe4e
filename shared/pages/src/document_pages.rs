//! Which pages of a long document are shown at once, with links to the others.

use std::ops::Range;

use shared::limits;

const FROM: &str = "from";
const LINKS_AROUND: usize = 2;

/// A link to some pages of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesLink {
    /// Where they are shown.
    pub url: String,
    /// Which they are, such as `Pages 51–100`.
    pub text: String,
    /// Whether they are the ones that are shown.
    pub is_current: bool,
}

/// The pages to show, counted from 0, and links to the first, the last, and some around the current ones. `from` counts
/// from 1, and leads to the first page if the document has no such page.
#[must_use]
pub fn pages_from(count: usize, from: Option<usize>, url: &str) -> (Range<usize>, Vec<PagesLink>) {
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
        let (current, links) = pages_from(count, from, "/d");
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
