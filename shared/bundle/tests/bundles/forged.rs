//! Bundles with a changed manifest, signature or key; and invalid manifests signed by the service's own key.

use ed25519_dalek::{Signer, SigningKey};

use crate::cases::Case;
use crate::zip::Zip;
use crate::{ABOUT, FILES, SECRETS, good, key};

const CHANGED: &str = "manifest changed manifest.json";
const UNKNOWN: &str = "unknown key manifest.json";
const LEAKED: &str = "compromised key manifest.json";
const OTHER_FORMAT: &str = "not a bundle manifest.json";

fn manifest() -> String {
    String::from_utf8(Zip::read(&good()).entries[0].content.clone()).expect("the manifest")
}

fn bundle(manifest: impl Into<Vec<u8>>, signature: impl Into<Vec<u8>>) -> Vec<u8> {
    let mut zip = Zip::read(&good());
    zip.entries[0].content = manifest.into();
    zip.entries[1].content = signature.into();
    zip.entries[0].settle();
    zip.entries[1].settle();
    zip.write()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a byte")).collect()
}

fn signature(signer: &str, prefix: &str, manifest: &[u8]) -> String {
    let (_, secret) = SECRETS.iter().find(|(id, _)| *id == signer).expect("a key");
    hex(&SigningKey::from_bytes(secret).sign(&[prefix.as_bytes(), manifest].concat()).to_bytes())
}

fn signed(signer: &str, manifest: &[u8]) -> Vec<u8> {
    bundle(manifest, signature(signer, "countersign-evidence-bundle-v1\n", manifest))
}

fn public_key(id: &str) -> String {
    let key = serde_json::to_value(key(id).public()).expect("a key");
    key["public_key"].as_str().expect("a key").to_owned()
}

pub(crate) fn cases() -> Vec<Case> {
    let groups = [edited(), unreadable(), signatures(), keys(), leaked(), not_as_written(), signed_but_other()];
    groups.into_iter().flatten().collect()
}

fn leaked() -> Vec<Case> {
    let text = manifest().replace("\"2026-11\"", "\"leaked\"").replace(&public_key("2026-11"), &public_key("leaked"));
    let whole = signed("leaked", text.as_bytes());
    let with = |change: fn(&mut Zip)| {
        let mut zip = Zip::read(&whole);
        change(&mut zip);
        zip.write()
    };
    let early = text.replace("2026-11-23", "2020-01-01");
    let changed = with(|zip| {
        zip.entries[3].content.push(b'x');
        zip.entries[3].settle();
    });
    let unsigned = with(|zip| drop(zip.entries.remove(1)));
    let under_another_id = text.replace("\"leaked\"", "\"2026-11\"");
    vec![
        Case::new("by a leaked key", whole, &[LEAKED]),
        Case::new("by a leaked key, with an earlier time", signed("leaked", early.as_bytes()), &[LEAKED]),
        Case::new("by a leaked key, and changed later", changed, &[LEAKED, "changed certificate.pdf"]),
        Case::new("by a leaked key, without the signature", unsigned, &[LEAKED, "missing manifest.sig"]),
        Case::new("in a leaked key's name", signed("mallory", text.as_bytes()), &[LEAKED, CHANGED]),
        Case::new("by a leaked key under another id", signed("leaked", under_another_id.as_bytes()), &[UNKNOWN]),
    ]
}

fn edited() -> Vec<Case> {
    let text = manifest();
    let deed = FILES[2].path;
    let sha256 =
        text.split("\"documents/deed.pdf\",\n      \"sha256\": \"").nth(1).expect("the deed").split('"').next();
    let sha256 = sha256.expect("a hash");
    let other_sha256 = sha256.replace(|letter: char| letter.is_ascii_digit(), "a");
    let changed_deed = format!("changed {deed}");
    let edits: [(&str, &str, &str, &[&str]); 8] = [
        ("another service", ABOUT.service, "https://countersign.test", &[]),
        ("another organization", "000000000001", "000000000009", &[]),
        ("another agreement", "000000000002", "000000000009", &[]),
        ("another time", "2026-11-23", "2026-11-24", &[]),
        ("another hash", sha256, &other_sha256, &[&changed_deed]),
        ("another size", "\"size_bytes\": 13", "\"size_bytes\": 14", &[&changed_deed]),
        ("another path", deed, "documents/deee.pdf", &["missing documents/deee.pdf"]),
        ("another capital letter", "timeline", "timeLine", &["missing timeLine.json", "added timeline.json"]),
    ];
    let mut cases = Vec::new();
    for (what, from, to, problems) in edits {
        let other = text.replace(from, to);
        let mut expected = vec![CHANGED];
        if what == "another path" {
            expected.push("added documents/deed.pdf");
        }
        expected.extend(problems);
        let old = Zip::read(&good()).entries[1].content.clone();
        cases.push(Case::new(format!("manifest: {what}"), bundle(other, old), &expected));
    }
    cases.extend(edited_lists(&text));
    cases
}

fn edited_lists(text: &str) -> Vec<Case> {
    let old = Zip::read(&good()).entries[1].content.clone();
    let (before, rest) = text.split_once("    {\n      \"path\": \"audit.json\"").expect("the first file");
    let (_, after) = rest.split_once("    },\n").expect("its end");
    let without = format!("{before}{after}");
    let first = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).expect("a file");
    let more = format!("{before}{}{first}{after}", first.replace("audit.json", "annex.json"));
    let (opening, _) = text.split_once("\"files\": [").expect("the files");
    let none = format!("{opening}\"files\": []\n}}\n");
    let mut added = vec![CHANGED.to_owned()];
    added.extend(FILES.iter().map(|file| format!("added {}", file.path)));
    let added: Vec<&str> = added.iter().map(String::as_str).collect();
    vec![
        Case::new("manifest: without a file", bundle(without, &*old), &[CHANGED, "added audit.json"]),
        Case::new("manifest: one file more", bundle(more, &*old), &[CHANGED, "missing annex.json"]),
        Case::new("manifest: no files", bundle(none, &*old), &added),
    ]
}

fn unreadable() -> Vec<Case> {
    let (text, old) = (manifest(), Zip::read(&good()).entries[1].content.clone());
    let opening = "{\n  \"format_version\": 1,\n";
    let deep = format!("{opening}  \"service\": {}{}\n}}\n", "[".repeat(100_000), "]".repeat(100_000));
    let texts: [(&str, String, &str); 12] = [
        ("empty", String::new(), OTHER_FORMAT),
        ("a text", "no manifest".to_owned(), OTHER_FORMAT),
        ("an empty object", "{}\n".to_owned(), OTHER_FORMAT),
        ("another version", text.replace("\"format_version\": 1", "\"format_version\": 2"), OTHER_FORMAT),
        ("a byte order mark", format!("\u{feff}{text}"), OTHER_FORMAT),
        ("line breaks of Windows", text.replace('\n', "\r\n"), OTHER_FORMAT),
        ("in one line", text.replace('\n', ""), OTHER_FORMAT),
        ("cut off", text[..text.len() / 2].to_owned(), CHANGED),
        ("only the version", opening.to_owned(), CHANGED),
        ("nested deeply", deep, CHANGED),
        ("something after it", format!("{text}{{}}"), CHANGED),
        ("a space after it", format!("{text} "), CHANGED),
    ];
    let mut cases: Vec<Case> = texts
        .into_iter()
        .map(|(what, text, expected)| Case::new(format!("manifest: {what}"), bundle(text, &*old), &[expected]))
        .collect();
    let not_text = [opening.as_bytes(), b"  \"service\": \"\xff\"\n}\n"].concat();
    cases.push(Case::new("manifest: not UTF-8", bundle(not_text, old), &[CHANGED]));
    cases
}

fn signatures() -> Vec<Case> {
    let text = manifest();
    let good = signature("2026-11", "countersign-evidence-bundle-v1\n", text.as_bytes());
    let of_other = signature("2026-11", "countersign-evidence-bundle-v1\n", b"{}\n");
    // Careless verifiers accept both S and S + L: RFC 8032 only allows the smaller.
    let order = unhex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut malleable = unhex(&good);
    let mut carry = 0;
    for (byte, addend) in malleable[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(addend) + carry;
        [*byte, _] = sum.to_le_bytes();
        carry = sum >> 8;
    }
    let mut flipped = unhex(&good);
    flipped[40] ^= 1;
    let texts = [
        ("empty", String::new()),
        ("one bit changed", hex(&flipped)),
        ("capital letters", good.to_uppercase()),
        ("a line break after it", format!("{good}\n")),
        ("a space before it", format!(" {good}")),
        ("one digit less", good[1..].to_owned()),
        ("two digits more", format!("{good}00")),
        ("no digits", "x".repeat(128)),
        ("zeros", "0".repeat(128)),
        ("digits of another alphabet", "\u{661}".repeat(64)),
        ("as bytes", String::from_utf8_lossy(&unhex(&good)).into_owned()),
        ("of another manifest", of_other),
        ("without the prefix", signature("2026-11", "", text.as_bytes())),
        ("with another prefix", signature("2026-11", "countersign-evidence-bundle-v2\n", text.as_bytes())),
        ("by the service's other key", signature("2026-10", "countersign-evidence-bundle-v1\n", text.as_bytes())),
        ("by nobody's key", signature("mallory", "countersign-evidence-bundle-v1\n", text.as_bytes())),
        ("with a larger number", hex(&malleable)),
    ];
    texts
        .into_iter()
        .map(|(what, signature)| Case::new(format!("signature: {what}"), bundle(&*text, signature), &[CHANGED]))
        .collect()
}

fn keys() -> Vec<Case> {
    let text = manifest();
    let (ours, older, theirs) = (public_key("2026-11"), public_key("2026-10"), public_key("mallory"));
    let with = |id: &str, key: &str| text.replace("\"2026-11\"", &format!("\"{id}\"")).replace(&ours, key).into_bytes();
    let mut changed = signed("mallory", &with("mallory", &theirs));
    let at = changed.windows(13).position(|bytes| bytes == b"%PDF-1.7 deed").expect("the deed");
    changed[at] ^= 1;
    vec![
        Case::new("key: an unknown one", signed("mallory", &with("mallory", &theirs)), &[UNKNOWN]),
        Case::new("key: an unknown one, and a change", changed, &[UNKNOWN, "changed documents/deed.pdf"]),
        Case::new("key: another under a known id", signed("mallory", &with("2026-11", &theirs)), &[UNKNOWN]),
        Case::new("key: a known one under another id", signed("2026-11", &with("2026-12", &ours)), &[UNKNOWN]),
        Case::new("key: a known one under the other's id", signed("2026-11", &with("2026-10", &ours)), &[UNKNOWN]),
        Case::new("key: the older one, not what signed", signed("2026-11", &with("2026-10", &older)), &[CHANGED]),
        Case::new("key: no id", signed("2026-11", &with("", &ours)), &[CHANGED]),
        Case::new("key: too long an id", signed("2026-11", &with(&"x".repeat(65), &ours)), &[CHANGED]),
        Case::new("key: capital letters", signed("2026-11", &with("2026-11", &ours.to_uppercase())), &[CHANGED]),
        Case::new("key: too short", signed("2026-11", &with("2026-11", &ours[2..])), &[CHANGED]),
    ]
}

/// Signed by the service's key, and the same JSON, but in another form; or not a manifest.
fn not_as_written() -> Vec<Case> {
    let text = manifest();
    let (service, time) =
        ("  \"service\": \"https://countersign.example\",\n", "  \"created_at\": \"2026-11-23T06:33:17Z\",\n");
    let mut cases = Vec::new();
    let moved = text.replace(service, "").replace(time, &format!("{time}{service}"));
    cases.push(Case::new("signed: members in another order", signed("2026-11", moved.as_bytes()), &[CHANGED]));
    let edits: [(&str, &str, &str); 23] = [
        ("escaped letters", "audit.json", "\\u0061udit.json"),
        ("escaped slash", "documents/deed", "documents\\/deed"),
        ("half a character", "audit.json", "\\ud800"),
        ("more space", "\"files\": [", "\"files\":  ["),
        ("a member more", "  \"service\"", "  \"comment\": \"\",\n  \"service\""),
        ("a member less", "  \"agreement_id\": \"019a0000-0000-7000-8000-000000000002\",\n", ""),
        ("a member twice", "  \"service\"", "  \"service\": \"x\",\n  \"service\""),
        ("the version twice", "  \"service\"", "  \"format_version\": 1,\n  \"service\""),
        ("another type of text", "\"2026-11-23T06:33:17Z\"", "null"),
        (
            "another type of file",
            "    {\n      \"path\": \"audit.json\"",
            "    1,\n    {\n      \"path\": \"audit.json\"",
        ),
        ("a fraction", "\"size_bytes\": 13", "\"size_bytes\": 13.0"),
        ("an exponent", "\"size_bytes\": 13", "\"size_bytes\": 1.3e1"),
        ("a negative size", "\"size_bytes\": 13", "\"size_bytes\": -13"),
        ("a negative zero", "\"size_bytes\": 0", "\"size_bytes\": -0"),
        ("a size that is no number", "\"size_bytes\": 13", "\"size_bytes\": NaN"),
        ("a size as text", "\"size_bytes\": 13", "\"size_bytes\": \"13\""),
        ("a truth as size", "\"size_bytes\": 0", "\"size_bytes\": false"),
        ("a size larger than a bundle", "\"size_bytes\": 13", "\"size_bytes\": 314572801"),
        ("a size larger than numbers", "\"size_bytes\": 13", "\"size_bytes\": 99999999999999999999999"),
        ("a short hash", "\"sha256\": \"", "\"sha256\": \"0"),
        ("no hash", "\"sha256\"", "\"sha512\""),
        ("an empty path", "\"path\": \"audit.json\"", "\"path\": \"\""),
        ("no list", "\"files\": [", "\"files\": {"),
    ];
    for (what, from, to) in edits {
        assert!(text.contains(from), "{what}");
        let other = text.replacen(from, to, 1);
        cases.push(Case::new(format!("signed: {what}"), signed("2026-11", other.as_bytes()), &[CHANGED]));
    }
    cases
}

/// Signed by the service's key, but with paths that no bundle has.
fn signed_but_other() -> Vec<Case> {
    let text = manifest();
    let mut cases = Vec::new();
    for (from, to) in [
        ("audit.json", "../audit.json"),
        ("audit.json", "/audit.json"),
        ("audit.json", "C:/audit.json"),
        ("audit.json", "a/./b"),
        ("audit.json", "a//b"),
        ("audit.json", "a/"),
        ("audit.json", "a."),
        ("audit.json", " a"),
        ("audit.json", "a "),
        ("audit.json", "a\u{7f}"),
        ("audit.json", "a\u{9f}"),
        ("audit.json", "a\u{202e}"),
        ("audit.json", "a\\\\b"),
        ("audit.json", "audit.json\\u0000"),
        ("audit.json", "manifest.sig"),
        ("audit.json", "Manifest.json"),
        ("audit.json", "MANIFEST.SIG/a"),
        ("audit.json", "z.json"),
        ("audit.json", "certificate.pdf"),
        ("audit.json", "Certificate.pdf"),
        ("audit.json", "CERTIFICATE.PDF/a"),
        ("certificate.pdf", "documents"),
        ("documents/empty.txt", "documents/deed.pdf"),
        ("documents/empty.txt", "documents/deed.pdf/a"),
    ] {
        let other = text.replacen(from, to, 1);
        let case = format!("signed: {} for {from}", to.escape_debug());
        cases.push(Case::new(case, signed("2026-11", other.as_bytes()), &[CHANGED]));
    }
    let long = text.replacen("audit.json", &"a".repeat(256), 1);
    cases.push(Case::new("signed: too long a path", signed("2026-11", long.as_bytes()), &[CHANGED]));
    let longer = format!("audit.json{}", "\u{e9}".repeat(123));
    let long = text.replacen("audit.json", &longer, 1);
    cases.push(Case::new("signed: too long a path in bytes", signed("2026-11", long.as_bytes()), &[CHANGED]));
    cases
}
