//! Certificates and bundles of one record, made without a service.

use crate::{KeyDocument, verify};
use bytes::Bytes;
use serde_json::{Value, json};
use shared::crypto;
use shared::crypto::keyring::{Keyring, Retired};
use shared::domain::actor::Actor;
use shared::domain::agreement::acts::Act;
use shared::domain::agreement::{Agreement, AgreementKind, AgreementName, NewAgreement};
use shared::domain::bundle::{
    AgreementRecord, BundleContents, CompletedRecord, HistoryPart, LaterActs, NoBundle, TimelineEntry,
};
use shared::domain::contact::DisplayName;
use shared::domain::event::EventType;
use shared::domain::organization::{EarlierName, Organization};
use shared::domain::participant::consent::{self, ConsentText};
use shared::domain::participant::receipt::{Drawing, Receipt};
use shared::domain::time::Timestamp;
use shared::platform::config::BaseUrl;
use shared::wire::input::OrDefault;

use super::{Audience, ExportError, Files, bundle, bundle_of_acts, certificate};
use crate::keyring::{key_document, public_key, signing_key};

pub(crate) const PAPER: &[u8] = b"%PDF-1.7 a deed";
/// Names in ten scripts, and one that would reverse a line.
const NAMES: &str = "Ada Okafor Δήμητρα Жанна דנה ليلى सीता สมชาย 山田太郎 王伟 김민수 \u{202e}fdp.exe";

pub(crate) fn service() -> BaseUrl {
    BaseUrl::parse("https://countersign.example").unwrap()
}

pub(crate) fn organization() -> Organization {
    Organization::create(DisplayName::parse("Harbor & Pine").unwrap(), at(0))
}

pub(crate) fn renamed(minute: i64) -> Organization {
    let Organization { name, .. } = organization();
    let earlier_names = vec![EarlierName { name, until: at(minute) }];
    Organization { name: DisplayName::parse("Harbor Holdings").unwrap(), earlier_names, ..organization() }
}

pub(crate) fn at(minutes: i64) -> Timestamp {
    "2026-03-14T12:00:00.000Z".parse::<Timestamp>().unwrap().plus_seconds(60 * minutes)
}

pub(crate) fn entry(minute: i64, operation: &str, events: Vec<EventType>) -> TimelineEntry {
    let operation = operation.to_owned();
    let call = format!("019a0000-0000-7000-8000-0000000000{minute:02}").parse().unwrap();
    let act = Act { operation, actor: Actor::system(), at: at(minute), proposed: None, part: None, events };
    TimelineEntry { call, act }
}

pub(crate) fn consented(n: u8, text: &ConsentText) -> Receipt {
    receipt(n, 3, &json!({"act": "consented", "version": text.version, "sha256": text.sha256()}))
}

fn receipt(n: u8, minute: i64, act: &Value) -> Receipt {
    let id = |kind: &str| format!("019a0000-0000-7000-8000-{kind}000000000{n:02}");
    let participant = "019a0000-0000-7000-8000-aaaaaaaaaaaa";
    let origin = json!({"address": "192.0.2.7", "browser": "A browser"});
    let receipt = json!({"id": id("b"), "participant_id": participant, "name": "Ada", "at": at(minute), "origin": origin, "act": act});
    serde_json::from_value(receipt).unwrap()
}

fn receipt_id(n: u8) -> String {
    format!("019a0000-0000-7000-8000-b000000000{n:02}")
}

/// A completed agreement with a twice-signed document, an uploaded file, and an act after its end.
pub(crate) fn record() -> AgreementRecord {
    let new = NewAgreement {
        workspace_id: "019a0000-0000-7000-8000-cccccccccccc".parse().unwrap(),
        name: AgreementName::parse("Lease of the quay").unwrap(),
        kind: OrDefault(AgreementKind::General),
    };
    let draft = Agreement::draft(new, Actor::system(), at(0));
    let mut stored = serde_json::to_value(&draft).unwrap();
    stored["id"] = json!("019a0000-0000-7000-8000-ffffffffffff");
    let document = "019a0000-0000-7000-8000-dddddddddddd";
    let (sha256, gate) = (crypto::sha256_hex(PAPER), "019a0000-0000-7000-8000-eeeeeeeeeeee");
    let content = json!({"sha256": sha256, "size_bytes": PAPER.len()});
    stored["documents"] =
        json!([{"id": document, "name": "Deed: part 1/2", "content": content, "state": "signed", "blocks": []}]);
    stored["life"] = json!({"state": "completed", "published_at": at(2), "completed_at": at(9)});
    let signed = |signature: Value| json!({"act": "signed", "document_id": document, "document": "Deed", "sha256": sha256, "block_ids": [], "signature": signature, "statement": "I sign.", "consent": receipt_id(1)});
    let uploaded = json!({"act": "uploaded", "gate_id": gate, "file_name": "Proof", "content": content, "file_type": "pdf", "consent": receipt_id(1)});
    AgreementRecord {
        agreement: serde_json::from_value(stored).unwrap(),
        contacts: Vec::new(),
        timeline: vec![
            entry(0, "create_agreement", vec![]),
            entry(1, "add_step", vec![]),
            entry(2, "publish_agreement", vec![EventType::AgreementPublished]),
            entry(9, "sign_document", vec![EventType::AgreementCompleted]),
            entry(12, "reissue_link", vec![]),
        ],
        part: None,
        receipts: vec![
            consented(1, &consent::TEXTS[0]),
            receipt(2, 4, &uploaded),
            receipt(3, 5, &signed(json!({"method": "typed", "name": NAMES.replace('\u{202e}', "")}))),
            receipt(4, 9, &signed(json!({"method": "drawn", "drawing": "M0 0L1000 300M5 5L6 6"}))),
            receipt(5, 12, &json!({"act": "withdrew", "consent": receipt_id(1)})),
        ],
        verifications: Vec::new(),
        papers: Vec::new(),
        file_reviews: Vec::new(),
        payments: Vec::new(),
        obligations: Vec::new(),
        submissions: Vec::new(),
    }
}

fn completed() -> CompletedRecord {
    record().until_completion().unwrap()
}

fn files() -> Files {
    [(crypto::sha256_hex(PAPER), Bytes::from_static(PAPER))].into()
}

fn keyring(current: &str) -> Keyring {
    let keys = json!({"2026": "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "2027": "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg="});
    Keyring::parse(&json!({"current": current, "keys": keys}).to_string()).unwrap()
}

#[test]
fn the_keys_of_a_keyring_never_change() {
    let document = serde_json::to_value(key_document(&keyring("2026")).unwrap()).unwrap();
    let expected = json!({"keys": [
        {"id": "cb6c51288103da96", "public_key": "1d37e32960351490c473a5989abba94c3ff33dc88a64d4deb85ca45d92c0e27e"},
        {"id": "18899557864fdb29", "public_key": "71e34294f85c4ee07ad6fc0cab493483633e81e54870ba943dfcc0a7725e92c1"},
    ]});
    assert_eq!(document, expected);
    for current in ["2026", "2027"] {
        let key = serde_json::to_value(signing_key(&keyring(current)).unwrap().public()).unwrap();
        assert!(document["keys"].as_array().unwrap().contains(&key), "{current}");
        let (id, public_key) = (key["id"].as_str().unwrap(), key["public_key"].as_str().unwrap());
        assert!(id.len() == 16 && !public_key.contains(id) && !id.contains("202"), "{key}");
    }
}

/// A retired key stays in the document under its original id, and a leaked one separate from valid ones.
#[test]
fn retired_keys_stay_known() {
    let before = keyring("2027");
    let public = public_key(&before, "2026").unwrap();
    for (since, list) in [(None, "keys"), (Some("2026-11-20T09:00:00.000Z"), "compromised_keys")] {
        let retired = Retired { evidence_key: *public.bytes(), compromised_since: since.map(str::to_owned) };
        let keyring = before.clone().retire("2026", retired, false).unwrap();
        assert_eq!(public_key(&keyring, "2026").unwrap(), public);
        let document = serde_json::to_value(key_document(&keyring).unwrap()).unwrap();
        let mut expected = json!({"id": "cb6c51288103da96", "public_key": "1d37e32960351490c473a5989abba94c3ff33dc88a64d4deb85ca45d92c0e27e"});
        if let Some(since) = since {
            expected["since"] = json!(since);
        }
        assert!(document[list].as_array().unwrap().contains(&expected), "{document}");
        assert_eq!(document["keys"].as_array().unwrap().len(), if since.is_none() { 2 } else { 1 });
    }
}

#[test]
fn a_certificate_is_the_same_each_time_and_ends_with_the_completion() {
    let organization = organization();
    let first = certificate(&completed(), &organization, Audience::Members).unwrap();
    assert!(first.starts_with(b"%PDF-"));
    assert!(certificate(&completed(), &organization, Audience::Members).unwrap() == first);
    assert!(certificate(&completed(), &renamed(12), Audience::Members).unwrap() == first, "renamed afterwards");
    let found = completed();
    assert_eq!((found.record().timeline.len(), found.record().receipts.len()), (4, 4));
    let told: Vec<&str> = found.acts().map(|entry| entry.act.operation.as_str()).collect();
    assert_eq!(told, ["create_agreement", "publish_agreement", "sign_document"], "without the edits of the draft");
    let mut other = record();
    other.receipts.remove(3);
    let other = other.until_completion().unwrap();
    assert!(certificate(&other, &organization, Audience::Members).unwrap() != first);
    let mut active = serde_json::to_value(&record().agreement).unwrap();
    active["life"] = json!({"state": "active", "published_at": at(2)});
    let active = AgreementRecord { agreement: serde_json::from_value(active).unwrap(), ..record() };
    assert!(matches!(active.until_completion(), Err(NoBundle::NotCompleted)));
}

#[test]
fn a_bundle_is_the_same_each_time_and_verifies() {
    let (organization, service) = (organization(), service());
    let gathered = BundleContents {
        record: record(),
        completed: Some(completed()),
        audit_rows: Vec::new(),
        statements: Vec::new(),
    };
    let key = signing_key(&keyring("2026")).unwrap();
    let write = |files: &Files| bundle(&gathered, &[], &organization, &service, files, &key);
    let first = write(&files()).unwrap();
    assert!(write(&files()).unwrap() == first);
    let report = verify(&first, &key_document(&keyring("2027")).unwrap());
    assert!(report.is_verified(), "{report}");
    let manifest = report.manifest.unwrap();
    assert_eq!(manifest.created_at, at(12).to_string());
    let paths: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    assert!(
        paths.contains(&"documents/001 Deed_ part 1_2.pdf") && paths.contains(&"uploads/001 Proof.pdf"),
        "{paths:?}"
    );
    let text = manifest.files.iter().find(|file| file.path == "consent/2026-11.txt").unwrap();
    assert_eq!(text.sha256, consent::TEXTS[0].sha256(), "the hash of its receipt");
    let mut unknown = record();
    unknown.receipts[0] = receipt(1, 3, &json!({"act": "consented", "version": "2020-01", "sha256": "ab".repeat(32)}));
    let unknown = BundleContents { record: unknown, completed: None, audit_rows: Vec::new(), statements: Vec::new() };
    let lost = bundle(&unknown, &[], &organization, &service, &files(), &key);
    assert!(matches!(lost, Err(ExportError::NoConsentText(_))), "nothing is left out silently");
    assert!(!verify(&first, &KeyDocument::new(Vec::new()).unwrap()).is_verified());
    assert!(matches!(write(&Files::new()), Err(ExportError::NoFile(_))));
}

#[test]
fn a_later_part_has_its_acts_alone_and_verifies() {
    let (organization, service) = (organization(), service());
    let record = record();
    let part = HistoryPart { number: 2, of: 3, newest: at(15) };
    let (timeline, agreement) = (record.timeline[4..].to_vec(), record.agreement);
    let later = LaterActs { agreement, part, timeline, audit_rows: Vec::new() };
    let written = bundle_of_acts(&later, &organization, &service, &signing_key(&keyring("2026")).unwrap()).unwrap();
    let report = verify(&written, &key_document(&keyring("2027")).unwrap());
    assert!(report.is_verified(), "{report}");
    let manifest = report.manifest.unwrap();
    assert_eq!(manifest.created_at, at(15).to_string());
    let paths: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["README.txt", "audit.jsonl", "timeline.jsonl"]);
    let text = super::guide::of_acts(&later, &organization, &service);
    assert!(text.contains("2 of 3, with acts 10001 to 20000 of the history"), "{text}");
}

#[test]
fn a_bundle_has_a_size() {
    assert_eq!(record().check_size(), Ok(()));
    let mut stored = serde_json::to_value(&record().agreement).unwrap();
    stored["documents"][0]["content"]["size_bytes"] = json!(300_000_000);
    let large = AgreementRecord { agreement: serde_json::from_value(stored).unwrap(), ..record() };
    assert_eq!(large.check_size(), Err(NoBundle::TooLarge(300_000_000 + PAPER.len() as u64)));
}

#[test]
fn a_drawing_is_drawn_line_by_line_in_the_middle_of_its_field() {
    let drawing = Drawing::parse("M0 0L1000 300M5 5L6 6").unwrap();
    let lines = super::certifying::strokes(&drawing);
    assert_eq!(lines, [vec![(0.0, 50.0), (1000.0, 350.0)], vec![(5.0, 55.0), (6.0, 56.0)]]);
}
