//! All cases, and what the crate finds in them.

use std::collections::HashSet;

use bundle::{File, write};

use crate::zip::Zip;
use crate::{ABOUT, FILES, bundle_of, damage, forged, good, key, payments, problems, repacked};

/// A bundle, good or damaged, and the problems to be found in it, in order.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bundle: Vec<u8>,
    pub(crate) expected: Vec<String>,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, bundle: Vec<u8>, expected: &[&str]) -> Self {
        Self { name: name.into(), bundle, expected: expected.iter().map(|problem| (*problem).to_owned()).collect() }
    }
}

pub(crate) fn all() -> Vec<Case> {
    [untouched(), damage::cases(), forged::cases(), payments::cases(), repacked::cases()]
        .into_iter()
        .flatten()
        .collect()
}

fn untouched() -> Vec<Case> {
    let long = "x".repeat(255);
    let large = vec![7; 1024 * 1024];
    let nested = good();
    let paths: Vec<String> = (0..300).map(|number| format!("documents/{number}.pdf")).collect();
    let many: Vec<File<'_>> = paths.iter().map(|path| File { path, content: path.as_bytes() }).collect();
    let unusual = [
        File { path: &long, content: b"long" },
        File { path: ".hidden/a..b/c d (1)#%&'.tar.gz", content: b"ASCII" },
        File { path: "\u{5951}\u{7d04}/\u{1f58b} e\u{301} \u{e9}.pdf", content: b"not ASCII" },
        File { path: "large", content: &large },
        File { path: "manifest.json.txt", content: b"not the manifest" },
        File { path: "a-bundle.zip", content: &nested },
    ];
    vec![
        Case::new("as it was written", good(), &[]),
        Case::new("written by another program byte by byte", Zip::read(&good()).write(), &[]),
        Case::new("with an older key", write(&ABOUT, &FILES, &key("2026-10")).expect("a bundle"), &[]),
        Case::new("without files", bundle_of(&[]), &[]),
        Case::new("with one empty file", bundle_of(&FILES[3..4]), &[]),
        Case::new("with many files", bundle_of(&many), &[]),
        Case::new("with unusual files", bundle_of(&unusual), &[]),
    ]
}

#[test]
fn every_problem_is_found_and_no_other() {
    let found = all().into_iter().map(|Case { name, bundle, expected }| (name, problems(&bundle), expected));
    let wrong: Vec<_> = found.filter(|(_, found, expected)| found != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn there_are_enough_of_each_kind() {
    let cases = all();
    let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "each has its own name");
    let mut bundles = HashSet::new();
    let again = cases.iter().filter(|case| !bundles.insert(case.bundle.as_slice()));
    let again: Vec<&str> = again.map(|case| case.name.as_str()).collect();
    assert_eq!(again, ["written by another program byte by byte"], "each other is another bundle");
    for (kind, at_least) in [
        ("changed ", 20),
        ("added ", 20),
        ("missing ", 20),
        ("manifest changed ", 20),
        ("unknown key ", 5),
        ("compromised key ", 5),
        ("not a bundle ", 50),
        ("inconsistent ", 25),
        ("repacked ", 20),
    ] {
        let has = |case: &&Case| case.expected.iter().any(|problem| problem.starts_with(kind));
        let count = cases.iter().filter(has).count();
        assert!(count >= at_least, "{kind}: {count}");
    }
}
