//! The names of what pages do: each has words in the audit log.

#![allow(clippy::expect_used, reason = "a test that can't read the sources fails there and then")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use shared::domain::sentences;

/// The folders with the sources of pages.
fn folders() -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR"));
    let functions = std::fs::read_dir(shared.join("../functions")).expect("the functions");
    let functions = functions.map(|entry| entry.expect("an entry").path());
    let apps = functions.filter(|path| path.to_string_lossy().ends_with("-app"));
    apps.chain([shared.join("pages")]).map(|path| path.join("src")).collect()
}

/// The string literals in the functions that name operations.
fn operations(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            operations(&path, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a source");
        for function in source.split("fn operation(").skip(1) {
            let body = function.split("\n    }\n").next().unwrap_or_default();
            // The last literal of a line: before it may be what a form's field says.
            let names = body.lines().filter_map(|line| line.trim_end_matches([',', ' ']).strip_suffix('"'));
            let names = names.filter_map(|line| line.rsplit('"').next());
            let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
            found.extend(names.filter(is_name).map(str::to_owned));
        }
    }
}

#[test]
fn every_act_has_words_in_the_audit_log() {
    let mut found = BTreeSet::new();
    for folder in folders() {
        operations(&folder, &mut found);
    }
    assert!(found.contains("add_step") && found.contains("view_home"), "{found:?}");
    let known: BTreeSet<&str> = sentences::operations().map(|(id, _)| id).collect();
    // Plain views of pages are not in the log.
    let acts = found.iter().filter(|operation| !operation.starts_with("view_"));
    let without: Vec<_> = acts.filter(|operation| !known.contains(operation.as_str())).collect();
    assert!(without.is_empty(), "{without:?}");
}
