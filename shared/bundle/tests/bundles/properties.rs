use std::collections::BTreeMap;

use bundle::{About, BUNDLE_BYTES_MAX, FILES_MAX, File, KeyDocument, WriteError, verify, write};
use proptest::prelude::*;

use crate::{ABOUT, FILES, bundle_of, good, key, keys, problems};

#[test]
fn the_bytes_stay_the_same() {
    let bundle = good();
    assert_eq!(bundle.len(), 2378);
    assert_eq!(crc32fast::hash(&bundle), 1_820_564_596);
}

#[test]
fn a_report_names_what_it_found() {
    let report = verify(&good(), &keys());
    let lines = [
        "ok                audit.json",
        "ok                certificate.pdf",
        "ok                documents/deed.pdf",
        "ok                documents/empty.txt",
        "ok                documents/\u{dc}bergabe.pdf",
        "ok                timeline.json",
        "VERIFIED: 6 files, signed by https://countersign.example with the key 2026-11",
        "Organization 019a0000-0000-7000-8000-000000000001, agreement 019a0000-0000-7000-8000-000000000002, \
         as of 2026-11-23T06:33:17Z",
    ];
    assert_eq!(report.to_string(), lines.join("\n"));
    let manifest = report.manifest.expect("a proven manifest");
    assert_eq!((manifest.signing_key.id(), manifest.files.len()), ("2026-11", 6));
}

/// Files that match an unproven manifest prove nothing, and the report must not call them fine.
#[test]
fn nothing_is_proven_without_a_known_key() {
    let bundle = write(&ABOUT, &FILES[..2], &key("mallory")).expect("a bundle");
    let report = verify(&bundle, &keys());
    assert!(report.manifest.is_none() && !report.is_verified());
    let lines = [
        "not proven        audit.json",
        "not proven        certificate.pdf",
        "unknown key       manifest.json: the key document does not have the key that it names",
        "NOT VERIFIED: 1 problem",
    ];
    assert_eq!(report.to_string(), lines.join("\n"));
    assert!(!verify(&good(), &KeyDocument::new(Vec::new()).expect("no keys")).is_verified());
}

#[test]
fn what_no_bundle_may_have_is_refused() {
    let of = |files: &[File<'_>]| write(&ABOUT, files, &key("2026-11")).map(|_| ());
    let file = |path| File { path, content: b"" };
    assert!(matches!(of(&[file("../a")]), Err(WriteError::Path(path)) if path == "../a"));
    assert!(matches!(of(&[file("a"), file("A")]), Err(WriteError::Collision(path)) if path == "A"));
    assert!(matches!(of(&[file("a/b"), file("a")]), Err(WriteError::Collision(path)) if path == "a/b"));
    assert!(matches!(of(&[file("manifest.json")]), Err(WriteError::Collision(_))));
    for text in ["", "a\nb", "a\u{202e}b", &"x".repeat(256)] {
        let written = write(&About { agreement_id: text, ..ABOUT }, &[], &key("2026-11"));
        assert!(matches!(written, Err(WriteError::Text("agreement_id"))), "{text:?}");
    }
}

#[test]
fn a_bundle_has_at_most_so_many_files() {
    let paths: Vec<String> = (0..=FILES_MAX).map(|number| format!("{number:05}")).collect();
    let files: Vec<File<'_>> = paths.iter().map(|path| File { path, content: b"" }).collect();
    assert_eq!(problems(&bundle_of(&files[1..])), Vec::<String>::new());
    assert!(matches!(write(&ABOUT, &files, &key("2026-11")), Err(WriteError::TooMany)));
}

#[test]
fn a_bundle_has_at_most_so_many_bytes() {
    let content = vec![0; BUNDLE_BYTES_MAX + 1];
    let of = |content: &[u8]| write(&ABOUT, &[File { path: "a", content }], &key("2026-11"));
    assert!(matches!(of(&content), Err(WriteError::TooLarge)));
    // The files alone would fit, but not manifest and headers.
    assert!(matches!(of(&content[..BUNDLE_BYTES_MAX]), Err(WriteError::TooLarge)));
    assert_eq!(problems(&content), ["not a bundle -"]);
}

#[test]
fn no_byte_can_be_changed() {
    let mut bundle = good();
    for at in 0..bundle.len() {
        for change in [0x01, 0x20, 0x80] {
            bundle[at] ^= change;
            assert_ne!(problems(&bundle), Vec::<String>::new(), "byte {at}, {change:#x}");
            bundle[at] ^= change;
        }
    }
    assert_eq!(bundle, good());
}

fn some_path() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{1,2}", "[a-c]/[a-c]\\.pdf", "documents/\\PC{1,12}", "[\u{e0}-\u{17f}]{1,8}"]
}

fn some_files() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let files = prop::collection::btree_map(some_path(), prop::collection::vec(any::<u8>(), 0..200), 0..8);
    files.prop_filter("paths that can't be in one bundle", |files| write(&ABOUT, &of(files), &key("2026-11")).is_ok())
}

fn of(files: &BTreeMap<String, Vec<u8>>) -> Vec<File<'_>> {
    files.iter().map(|(path, content)| File { path, content }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_files_give_the_same_bytes_in_any_order(files in some_files(), turn in any::<prop::sample::Index>()) {
        let mut files = of(&files);
        let bundle = bundle_of(&files);
        prop_assert_eq!(problems(&bundle), Vec::<String>::new());
        if !files.is_empty() {
            let turn = turn.index(files.len());
            files.rotate_left(turn);
        }
        prop_assert_eq!(bundle_of(&files), bundle);
    }

    #[test]
    fn any_change_is_found(files in some_files(), at in any::<prop::sample::Index>(), change in 1_u8..) {
        let mut bundle = bundle_of(&of(&files));
        let at = at.index(bundle.len());
        bundle[at] ^= change;
        prop_assert_ne!(problems(&bundle), Vec::<String>::new());
    }

    #[test]
    fn any_bytes_are_refused_quietly(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(problems(&bytes), ["not a bundle -"]);
    }
}
