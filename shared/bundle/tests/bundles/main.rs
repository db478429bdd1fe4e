//! Bundles from the outside: what is written, and what both verifiers find in hundreds of damaged ones.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets what it did not expect should fail there and then"
)]

mod cases;
mod damage;
mod forged;
mod payments;
mod properties;
mod repacked;
mod verifiers;
mod zip;

use bundle::{About, CompromisedKey, File, KeyDocument, Problem, SigningKey, verify, write};

const ABOUT: About<'static> = About {
    service: "https://countersign.example",
    organization_id: "019a0000-0000-7000-8000-000000000001",
    agreement_id: "019a0000-0000-7000-8000-000000000002",
    created_at: "2026-11-23T06:33:17Z",
};

const FILES: [File<'static>; 6] = [
    File { path: "audit.json", content: b"[]\n" },
    File { path: "certificate.pdf", content: b"%PDF-1.7 certificate" },
    File { path: "documents/deed.pdf", content: b"%PDF-1.7 deed" },
    File { path: "documents/empty.txt", content: b"" },
    File { path: "documents/\u{dc}bergabe.pdf", content: b"%PDF-1.7 PK\x03\x04 PK\x01\x02 PK\x05\x06" },
    File { path: "timeline.json", content: b"{\"events\": []}\n" },
];

/// The service's keys by id, one of which has leaked; `mallory` is nobody's.
const SECRETS: [(&str, [u8; 32]); 4] =
    [("2026-10", [10; 32]), ("2026-11", [11; 32]), ("leaked", [12; 32]), ("mallory", [66; 32])];

fn key(id: &str) -> SigningKey {
    let (id, secret) = SECRETS.iter().find(|(name, _)| *name == id).expect("a key");
    SigningKey::new(*id, secret).expect("a key")
}

fn keys() -> KeyDocument {
    let leaked = CompromisedKey::new(key("leaked").public(), "2026-11-20T09:00:00.000Z").expect("a time");
    let keys = KeyDocument::new(vec![key("2026-10").public(), key("2026-11").public()]).expect("keys");
    keys.with_compromised(vec![leaked]).expect("keys")
}

fn bundle_of(files: &[File<'_>]) -> Vec<u8> {
    write(&ABOUT, files, &key("2026-11")).expect("a bundle")
}

fn good() -> Vec<u8> {
    bundle_of(&FILES)
}

/// A bundle's problems, such as `changed certificate.pdf`, or `not a bundle -` without a file. Empty if it verifies, and
/// [`REPACKED`] if it is whole in a zip of another program.
fn problems(bundle: &[u8]) -> Vec<String> {
    let report = verify(bundle, &keys());
    assert_eq!(report.is_whole(), report.problems.is_empty(), "{report}");
    assert_eq!(report.is_verified(), report.is_whole() && !report.is_repacked, "{report}");
    let text = |Problem { kind, path, .. }: &Problem| format!("{kind} {}", path.as_deref().unwrap_or("-"));
    let repacked = (report.is_whole() && report.is_repacked).then(|| REPACKED.to_owned());
    report.problems.iter().map(text).chain(repacked).collect()
}

const REPACKED: &str = "repacked -";
