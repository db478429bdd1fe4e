//! The largest certificate: an exported agreement has up to ten thousand acts, each an action and a log row.

use super::*;

#[test]
fn ten_thousand_acts_are_written() {
    let mut large = certificate(10_000);
    let act = large.acts[1].clone();
    large.acts = vec![act; 10_000];
    let file = written(&large);
    let pages = Pages::open(file.clone()).unwrap();
    // A page holds at most forty rows.
    assert!(pages.count() > 20_000 / 40, "{} pages", pages.count());
    assert!(file.len() < 12 * 1024 * 1024, "{} bytes", file.len());
    assert!(pages.render(pages.count() - 1, 800).unwrap().len() > 5_000, "the last one has text on it");
}
