//! The largest certificate that there can be: the acts of an agreement whose evidence is exported end at ten thousand, and
//! each can have a row among the actions and one in the log.

use super::*;

#[test]
fn ten_thousand_acts_are_written() {
    let mut large = certificate(10_000);
    let act = large.acts[1].clone();
    large.acts = vec![act; 10_000];
    let file = written(&large);
    let pages = Pages::open(file.clone()).unwrap();
    // Each act and each event has a row, and a page has at most forty of them.
    assert!(pages.count() > 20_000 / 40, "{} pages", pages.count());
    assert!(file.len() < 12 * 1024 * 1024, "{} bytes", file.len());
    assert!(pages.render(pages.count() - 1, 800).unwrap().len() > 5_000, "the last one has text on it");
}
