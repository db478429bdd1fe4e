//! Zip archives: evidence bundles, which verifiers may get from anyone.

use bundle::{About, File, KeyDocument, SigningKey};

use crate::Run;

const WORDS: [&str; 8] =
    ["PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "../", "manifest.json", "{\"files\":[", "\"sha256\":", "\0"];

#[test]
fn archives_verify_or_don_t() {
    let about = About {
        service: "https://countersign.example",
        organization_id: "019a0000-0000-7000-8000-000000000001",
        agreement_id: "019a0000-0000-7000-8000-000000000002",
        created_at: "2026-11-23T06:33:17Z",
    };
    let key = SigningKey::new("2026-11", &[11; 32]).expect("a key");
    let keys = KeyDocument::new(vec![key.public()]).expect("keys");
    let files =
        [File { path: "audit.json", content: b"[]\n" }, File { path: "documents/deed.pdf", content: b"%PDF-1.7 deed" }];
    let sound = bundle::write(&about, &files, &key).expect("a bundle");
    assert!(bundle::verify(&sound, &keys).is_verified());
    let samples = [sound.clone(), bundle::write(&about, &[], &key).expect("a bundle")];
    let mut run = Run::new("archives");
    while let Some(file) = run.next(&samples, &WORDS) {
        let report = run.within_limits(|| bundle::verify(&file, &keys));
        assert!(samples.contains(&file) || !report.is_verified(), "{run}: a changed bundle verifies");
        let _ = report.to_string();
    }
}
