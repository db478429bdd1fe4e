use std::collections::{BTreeMap, HashSet};

use crate::container::{self, Entry, Walked};
use crate::keys::{KeyDocument, Standing};
use crate::manifest::{self, Manifest, ManifestFile};
use crate::payments;
use crate::repacked::{self, Unpacked};
use crate::report::{ProblemKind, Report};
use crate::{BUNDLE_BYTES_MAX, MANIFEST_PATH, SIGNATURE_PATH};

/// Verifies a bundle against the document's keys only. Takes linear time for any input. Unpacks only what another program
/// packed, each file at most to the size that the manifest says.
pub fn verify(bundle: &[u8], keys: &KeyDocument) -> Report {
    let mut report = Report::default();
    if bundle.len() > BUNDLE_BYTES_MAX {
        report.add(ProblemKind::NotABundle, None, "it is larger than any bundle");
        return report;
    }
    let walked = container::walk(bundle);
    check_container(&mut report, &walked);
    let is_as_written = report.problems.is_empty() && container::find(&walked.entries, MANIFEST_PATH).is_some();
    if !is_as_written && let Some(files) = repacked::read(bundle) {
        return check_repacked(&files, keys);
    }
    if container::find(&walked.entries, MANIFEST_PATH).is_none() {
        report.problems.clear();
        report.add(ProblemKind::NotABundle, None, "it is no zip file, or has no manifest.json");
        return report;
    }
    check_entries(&mut report, &walked.entries, keys);
    report
}

fn check_repacked(files: &[Unpacked<'_>], keys: &KeyDocument) -> Report {
    let mut report = Report { is_repacked: true, ..Report::default() };
    let entries: Vec<Entry<'_>> = files.iter().map(Unpacked::entry).collect();
    let mut names = HashSet::new();
    for entry in entries.iter().filter(|entry| !names.insert(entry.name)) {
        report.add(ProblemKind::NotABundle, Some(entry.name), "it is in the zip twice");
    }
    check_entries(&mut report, &entries, keys);
    report
}

/// Checks the manifest, and the files against it.
fn check_entries(report: &mut Report, entries: &[Entry<'_>], keys: &KeyDocument) {
    let Some(json) = container::find(entries, MANIFEST_PATH) else { return };
    let manifest = check_manifest(report, json, container::find(entries, SIGNATURE_PATH), keys);
    if let Some((manifest, is_proven)) = manifest {
        check_files(report, entries, &manifest.files);
        if is_proven && report.problems.is_empty() {
            check_payments(report, entries, &manifest.files);
        }
        report.manifest = is_proven.then_some(manifest);
    }
}

fn check_container(report: &mut Report, walked: &Walked<'_>) {
    for entry in &walked.entries {
        if !entry.has_its_header() {
            report.add(ProblemKind::NotABundle, Some(entry.name), "its header in the zip is not a bundle's");
        }
    }
    for (one, next) in walked.entries.iter().zip(walked.entries.iter().skip(1)) {
        if rank(one.name) >= rank(next.name) {
            report.add(ProblemKind::NotABundle, Some(next.name), "it is in the zip twice or in the wrong place");
        }
    }
    if !walked.ends_with_its_directory() {
        report.add(ProblemKind::NotABundle, None, "the zip is not complete, or has more in it than its files");
    }
}

fn rank(name: &str) -> (u8, &str) {
    match name {
        MANIFEST_PATH => (0, ""),
        SIGNATURE_PATH => (1, ""),
        other => (2, other),
    }
}

/// The manifest, if readable, and whether it is proven: signed as is by a key in the document.
fn check_manifest(
    report: &mut Report,
    json: &Entry<'_>,
    signature: Option<&Entry<'_>>,
    keys: &KeyDocument,
) -> Option<(Manifest, bool)> {
    const PATH: Option<&str> = Some(MANIFEST_PATH);
    if !json.content.starts_with(manifest::OPENING) {
        report.add(ProblemKind::NotABundle, PATH, "it is no manifest of format version 1");
        return None;
    }
    let Some(manifest) = Manifest::parse(json.content) else {
        report.add(ProblemKind::ManifestChanged, PATH, "it is not as the service writes it");
        return None;
    };
    let key = &manifest.signing_key;
    let standing = keys.standing(key);
    match standing {
        Standing::Trusted => {}
        Standing::Compromised { since } => {
            let detail =
                format!("others may have had the key that it names since {since}, and could have made this bundle");
            report.add(ProblemKind::CompromisedKey, PATH, detail);
        }
        Standing::Unknown => {
            report.add(ProblemKind::UnknownKey, PATH, "the key document does not have the key that it names");
        }
    }
    let Some(signature) = signature else {
        report.add(ProblemKind::Missing, Some(SIGNATURE_PATH), "");
        return Some((manifest, false));
    };
    let is_whole = json.has_its_crc() && signature.has_its_crc();
    let is_signed = is_whole && (standing == Standing::Unknown || key.verifies(json.content, signature.content));
    if !is_signed {
        report.add(ProblemKind::ManifestChanged, PATH, "manifest.sig is not its signature");
    }
    let is_proven = is_signed && standing == Standing::Trusted;
    Some((manifest, is_proven))
}

fn check_files(report: &mut Report, all: &[Entry<'_>], files: &[ManifestFile]) {
    let mut entries = BTreeMap::new();
    for entry in all {
        // The first of two with one name counts; the duplicate is already reported.
        entries.entry(entry.name).or_insert(entry);
    }
    entries.remove(MANIFEST_PATH);
    entries.remove(SIGNATURE_PATH);
    let mut problems = Vec::new();
    for file in files {
        let kind = match entries.remove(file.path.as_str()) {
            None => ProblemKind::Missing,
            Some(entry) if *file != ManifestFile::of(entry.name, entry.content) => ProblemKind::Changed,
            // A CRC-32 mismatch alone shows that the content was changed.
            Some(entry) if !entry.has_its_crc() => ProblemKind::Changed,
            Some(_) => {
                report.matching.push(file.path.clone());
                continue;
            }
        };
        problems.push((kind, file.path.as_str()));
    }
    problems.extend(entries.into_keys().map(|name| (ProblemKind::Added, name)));
    problems.sort_by_key(|(_, path)| *path);
    for (kind, path) in problems {
        report.add(kind, Some(path), "");
    }
}

fn check_payments(report: &mut Report, entries: &[Entry<'_>], files: &[ManifestFile]) {
    let content = |path: &str| container::find(entries, path).map(|entry| entry.content);
    for (path, wrong) in payments::disagreements(files, content) {
        report.add(ProblemKind::Inconsistent, Some(&path), wrong);
    }
}
