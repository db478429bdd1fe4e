//! What a certificate says, before layout. Compares whole signers, to find anything lost, changed or misplaced.

use serde_json::{Value, json};

use super::*;
use crate::agreement::tests::{PAPER, at, entry, organization, record, renamed};
use shared::domain::bundle::RecordedPayment;
use shared::domain::event::EventType;
use shared::domain::participant::consent;

const DOCUMENT: &str = "019a0000-0000-7000-8000-dddddddddddd";
const GATE: &str = "019a0000-0000-7000-8000-eeeeeeeeeeee";

/// What people said only to the organization. No certificate has any of it.
const PRIVATE: [&str; 12] = [
    "Name of an upload",
    "Name of a scan",
    "Reason of a decline",
    "Reason of a rejection",
    "Note of a member",
    "Reference of a check",
    "Someone else",
    "2026-03-13",
    "REFERENCE-OF-A-CLAIM",
    "Reason of a withdrawal",
    "Name of an obligation",
    "Statement on an obligation",
];

fn id(kind: char, n: u8) -> String {
    format!("019a0000-0000-7000-8000-{kind}000000000{n:02}")
}

fn sha256_of(text: &str) -> String {
    crypto::sha256_hex(text.as_bytes())
}

fn document_sha256() -> String {
    crypto::sha256_hex(PAPER)
}

#[derive(Clone, Copy)]
struct Party {
    number: u8,
    name: &'static str,
}

const ADA: Party = Party { number: 1, name: "Ada" };
const BEN: Party = Party { number: 2, name: "Ben" };

fn receipt(n: u8, by: Party, act: &Value) -> Receipt {
    let Party { number, name } = by;
    let origin = json!({"address": format!("192.0.2.{number}"), "browser": format!("Browser of {name}")});
    let receipt = json!({"id": id('b', n), "participant_id": id('a', number), "name": name,
        "at": at(n.into()).to_string(), "origin": origin, "act": act});
    serde_json::from_value(receipt).unwrap()
}

fn signed(signature: &Value, consent: u8) -> Value {
    json!({"act": "signed", "document_id": DOCUMENT, "document": "Deed", "sha256": document_sha256(), "block_ids": [],
        "signature": signature, "statement": "I sign the deed.", "consent": id('b', consent)})
}

fn member(name: &str) -> Value {
    json!({"type": "member", "id": id('c', 1), "display_name": name})
}

fn paper(n: u8, name: &str, state: &Value) -> PaperSignature {
    let mut paper = json!({"id": id('d', n), "participant_id": id('a', n), "name": name, "document_id": DOCUMENT,
        "document": "Deed", "sha256": document_sha256(), "block_ids": [], "scan": {"file_name": "Name of a scan",
        "content": {"sha256": sha256_of(name), "size_bytes": 3}, "file_type": "pdf"}, "signed_on": "2026-03-12",
        "how_it_came": "By post", "note": "Note of a member", "recorded_by": member("Maren"),
        "recorded_at": at(7).to_string()});
    paper.as_object_mut().unwrap().extend(state.as_object().unwrap().clone());
    serde_json::from_value(paper).unwrap()
}

fn payment() -> RecordedPayment {
    let movement = json!({
        "id": id('7', 1), "agreement_id": id('7', 2), "workspace_id": id('7', 3),
        "terms": {"purpose": "Closing payment", "money": {"amount_minor": 25_000_000, "currency": "USD"},
            "direction": "incoming", "method": "wire", "sender": id('a', 1)},
        "status": {"state": "draft"}, "evidence_filed": 0, "created_by": member("Maren"), "created_at": at(1),
        "updated_at": at(1),
    });
    RecordedPayment { movement: serde_json::from_value(movement).unwrap(), evidence: Vec::new() }
}

/// Ada's acts on a payment and an obligation, which Ben must not see.
fn on_payments_and_obligations() -> [Receipt; 4] {
    let (movement_id, evidence_id, consent) = (id('7', 1), id('8', 1), id('b', 1));
    let claim = json!({"sent_on": "2026-03-13", "references": [{"type": "other", "value": "REFERENCE-OF-A-CLAIM"}]});
    let money = json!({"amount_minor": 10_000_000, "currency": "USD"});
    [
        receipt(
            7,
            ADA,
            &json!({"act": "reported_sent", "movement_id": movement_id, "claim": claim, "consent": consent}),
        ),
        receipt(
            7,
            ADA,
            &json!({"act": "filed_evidence", "movement_id": movement_id, "evidence_id": evidence_id,
            "source": "sender_statement", "money": money, "value_day": "2026-03-13", "consent": consent}),
        ),
        receipt(
            7,
            ADA,
            &json!({"act": "withdrew_evidence", "movement_id": movement_id, "evidence_id": evidence_id,
            "reason": "Reason of a withdrawal", "consent": consent}),
        ),
        receipt(
            7,
            ADA,
            &json!({"act": "acted_on_obligation", "obligation_id": id('9', 1), "obligation": "Name of an obligation",
            "did": {"did": "satisfied", "occurrence_id": id('9', 2), "how": {"done_on": "2026-03-14"}}, "statement": "Statement on an obligation",
            "consent": consent}),
        ),
    ]
}

/// Ada types her name, Ben draws, Cleo and Dan sign on paper, Eve's paper is rejected, and another one waits.
fn full() -> AgreementRecord {
    let consented = json!({"act": "consented", "version": consent::VERSION, "sha256": consent::sha256()});
    let earlier = json!({"act": "consented", "version": "2025-01", "sha256": "ab".repeat(32)});
    let content = json!({"sha256": sha256_of("upload"), "size_bytes": 3});
    let rejected = json!({"state": {"state": "rejected", "by": member("Jonas"), "at": at(8).to_string(),
        "reason": "Reason of a rejection"}});
    let mut record = record();
    record.receipts = vec![
        receipt(1, ADA, &consented),
        receipt(2, BEN, &earlier),
        receipt(3, ADA, &signed(&json!({"method": "typed", "name": "Ada O."}), 1)),
        receipt(4, BEN, &signed(&json!({"method": "drawn", "drawing": "M0 0L1000 300"}), 2)),
        receipt(5, ADA, &json!({"act": "approved", "gate_id": GATE, "statement": "I approve.", "consent": id('b', 1)})),
        receipt(
            6,
            ADA,
            &json!({"act": "uploaded", "gate_id": GATE, "file_name": "Name of an upload",
            "content": content, "file_type": "pdf", "consent": id('b', 1)}),
        ),
        receipt(
            7,
            BEN,
            &json!({"act": "answered", "gate_id": GATE, "submission_id": id('e', 1), "revision": 2,
            "sha256": sha256_of("answers"), "consent": id('b', 2)}),
        ),
        receipt(
            8,
            BEN,
            &json!({"act": "declined", "gate_ids": [GATE], "document": "Annex",
            "reason": "Reason of a decline"}),
        ),
        receipt(9, ADA, &json!({"act": "declined", "gate_ids": [GATE], "reason": "Reason of a decline"})),
        receipt(10, BEN, &json!({"act": "withdrew", "consent": id('b', 2)})),
    ];
    record.receipts.splice(7..7, on_payments_and_obligations());
    record.payments.push(payment());
    record.papers = vec![
        paper(3, "Cleo", &json!({"state": {"state": "confirmed", "by": member("Jonas"), "at": at(8).to_string()}})),
        paper(4, "Dan", &json!({"state": {"state": "counted_alone", "at": at(7).to_string()}})),
        paper(5, "Someone else", &rejected),
        paper(6, "Someone else", &json!({"state": {"state": "pending"}})),
    ];
    let verification = json!({"id": id('f', 1), "participant_id": id('a', 1), "method": "Passport, by video",
        "reference": "Reference of a check", "day": "2026-03-11", "recorded_by": member("Maren"),
        "recorded_at": at(1).to_string()});
    record.verifications = vec![serde_json::from_value(verification).unwrap()];
    record.agreement = {
        let mut stored = serde_json::to_value(&record.agreement).unwrap();
        stored["life"] = json!({"state": "completed", "published_at": at(2), "completed_at": at(11)});
        stored["promises"] = json!([{"id": id('e', 7), "name": "Insurance",
            "terms": {"kind": "standing", "reverify_every_days": 90},
            "parties": {"promisor_participant_ids": [id('a', 2)], "promisee_participant_ids": [id('a', 1)]}}]);
        serde_json::from_value(stored).unwrap()
    };
    record.timeline = vec![
        entry(0, "create_agreement", vec![]),
        entry(2, "publish_agreement", vec![EventType::AgreementPublished]),
        entry(11, "sign_document", vec![EventType::AgreementCompleted]),
        entry(12, "reissue_link", vec![]),
    ];
    record
}

fn content_of(record: AgreementRecord) -> Certificate {
    content(&record.until_completion().unwrap(), &organization(), Audience::Members)
}

/// Its later name says nothing about who concluded it.
#[test]
fn it_names_the_organization_as_of_the_completion() {
    let of = |renamed_at: i64| {
        content(&full().until_completion().unwrap(), &renamed(renamed_at), Audience::Members).organization
    };
    assert_eq!(of(11), "Harbor Holdings", "renamed when it was completed");
    assert_eq!(of(12), "Harbor & Pine", "renamed afterwards");
}

#[test]
fn it_names_the_promises_with_who_owes_them_to_whom_and_when() {
    let found = content_of(full());
    let [promise] = &found.promises[..] else { panic!("{found:?}") };
    let said = [promise.name.as_str(), promise.parties.as_str(), promise.due.as_str()];
    assert_eq!(said, ["Insurance", "Ben to Ada", "at all times, verified every 90 days"]);
}

fn signer_of(name: &str) -> Signer {
    let found = content_of(full());
    let [document] = &found.documents[..] else { panic!("{found:?}") };
    document.signers.iter().find(|signer| signer.name == name).unwrap().clone()
}

fn assert_signer(expected: &Signer) {
    assert_eq!(format!("{:#?}", signer_of(&expected.name)), format!("{expected:#?}"));
}

#[test]
fn it_says_what_was_completed_and_when() {
    let found = content_of(full());
    assert_eq!((found.agreement.as_str(), found.organization.as_str()), ("Lease of the quay", "Harbor & Pine"));
    assert_eq!(found.reference, full().agreement.id().to_string());
    assert_eq!(found.completed_at, "14 Mar 2026, 12:11:00 UTC");
    let Date { year, month, day, hour, minute, second } = found.date;
    assert_eq!((year, month, day, hour, minute, second), (2026, 3, 14, 12, 11, 0));
    assert!(found.statement.contains("is no signature itself"), "{}", found.statement);
    let [document] = &found.documents[..] else { panic!("{found:?}") };
    assert_eq!((document.name.as_str(), &document.sha256), ("Deed: part 1/2", &document_sha256()));
    let names: Vec<&str> = document.signers.iter().map(|signer| signer.name.as_str()).collect();
    assert_eq!(names, ["Ada", "Ben", "Cleo", "Dan"], "who signed, and no paper that doesn't count");
    let events: Vec<String> = found.events.iter().map(|event| format!("{} {}", event.at, event.id)).collect();
    assert_eq!(
        events,
        ["00", "02", "11"].map(|n| format!("14 Mar 2026, 12:{n}:00 UTC 019a0000-0000-7000-8000-0000000000{n}"))
    );
    assert!(found.events.iter().all(|event| event.name.ends_with(": Countersign")), "who did it: {:?}", found.events);
}

#[test]
fn a_typed_signature_has_all_that_was_recorded() {
    assert_signer(&Signer {
        name: "Ada".to_owned(),
        email: String::new(),
        signed_at: "14 Mar 2026, 12:03:00 UTC".to_owned(),
        method: "Typed name".to_owned(),
        intent: "I sign the deed.".to_owned(),
        consent: Some(Consent {
            version: consent::VERSION.to_owned(),
            sha256: consent::sha256(),
            given_at: "14 Mar 2026, 12:01:00 UTC".to_owned(),
        }),
        shown_sha256: document_sha256(),
        address: "192.0.2.1".to_owned(),
        browser: "Browser of Ada".to_owned(),
        signature: Some(certificate::Signature::Typed("Ada O.".to_owned())),
    });
}

/// With the consent in force: his own, and to an earlier text.
#[test]
fn a_drawn_signature_has_all_that_was_recorded() {
    assert_signer(&Signer {
        name: "Ben".to_owned(),
        email: String::new(),
        signed_at: "14 Mar 2026, 12:04:00 UTC".to_owned(),
        method: "Drawn signature".to_owned(),
        intent: "I sign the deed.".to_owned(),
        consent: Some(Consent {
            version: "2025-01".to_owned(),
            sha256: "ab".repeat(32),
            given_at: "14 Mar 2026, 12:02:00 UTC".to_owned(),
        }),
        shown_sha256: document_sha256(),
        address: "192.0.2.2".to_owned(),
        browser: "Browser of Ben".to_owned(),
        signature: Some(certificate::Signature::Drawn(vec![vec![(0.0, 50.0), (1000.0, 350.0)]])),
    });
}

fn on_paper(name: &str, decided: &str) -> Signer {
    Signer {
        name: name.to_owned(),
        signed_at: "12 Mar 2026".to_owned(),
        method: format!(
            "On paper, on a copy of the document with the SHA-256 {}. Maren recorded a scan (SHA-256 {}) on 14 Mar 2026, 12:07:00 UTC. How it came: By post. {decided}",
            document_sha256(),
            sha256_of(name)
        ),
        ..Signer::default()
    }
}

#[test]
fn a_signature_on_paper_says_so_and_who_confirmed_it() {
    assert_signer(&on_paper("Cleo", "Jonas confirmed it on 14 Mar 2026, 12:08:00 UTC."));
    assert_signer(&on_paper("Dan", "The organization had no second member to confirm it."));
}

#[test]
fn it_says_who_signed_for_an_entity_and_what_was_done_in_a_members_browser() {
    let mut record = full();
    let signatory = json!({"name": "Nora Wind", "title": "President"});
    for receipt in record.receipts.iter_mut().filter(|receipt| receipt.name.as_str() == "Ada") {
        let mut stored = serde_json::to_value(&*receipt).unwrap();
        stored["origin"]["in_person"] = json!({"member_id": id('c', 1), "member": "Maren"});
        if stored["act"]["act"] == "signed" {
            stored["act"]["signatory"] = signatory.clone();
        }
        *receipt = serde_json::from_value(stored).unwrap();
    }
    for paper in &mut record.papers {
        paper.signatory = serde_json::from_value(signatory.clone()).unwrap();
    }
    let found = content_of(record);
    let signers: Vec<_> =
        found.documents[0].signers.iter().map(|signer| (signer.name.as_str(), signer.method.as_str())).collect();
    assert_eq!(signers[0], ("Ada, by Nora Wind, President", "Typed name, in person, in Maren’s browser"));
    assert_eq!(signers[1], ("Ben", "Drawn signature"), "on his own");
    assert_eq!(signers[2].0, "Cleo, by Nora Wind, President", "on paper");
    for act in found.acts.iter().filter(|act| act.actor == "Ada") {
        assert!(act.what.ends_with(", in person, in Maren’s browser"), "{act:?}");
    }
}

#[test]
fn every_other_act_is_told_in_the_order_of_time() {
    let acts: Vec<String> =
        content_of(full()).acts.iter().map(|act| format!("{} | {} | {}", act.at, act.actor, act.what)).collect();
    let (upload, answers) = (sha256_of("upload"), sha256_of("answers"));
    let told = [
        (1, "Ada", format!("Agreed to electronic records (text of version {})", consent::VERSION)),
        (1, "Maren", "Recorded that the identity of Ada was verified on 11 Mar 2026: Passport, by video".to_owned()),
        (2, "Ben", "Agreed to electronic records (text of version 2025-01)".to_owned()),
        (5, "Ada", "Approved: “I approve.”".to_owned()),
        (6, "Ada", format!("Uploaded a file, SHA-256 {upload}")),
        (7, "Ben", format!("Sent answers, revision 2, SHA-256 {answers}")),
        (7, "Ada", "Reported a payment of $250,000.00 USD as sent".to_owned()),
        (7, "Ada", "Filed evidence of a payment of $250,000.00 USD, for $100,000.00 USD".to_owned()),
        (7, "Ada", "Withdrew evidence of a payment of $250,000.00 USD".to_owned()),
        (7, "Ada", "Acted on an obligation".to_owned()),
        (7, "Maren", "Recorded that Cleo signed “Deed” on paper on 12 Mar 2026".to_owned()),
        (7, "Maren", "Recorded that Dan signed “Deed” on paper on 12 Mar 2026".to_owned()),
        (8, "Ben", "Declined to sign “Annex”".to_owned()),
        (8, "Jonas", "Confirmed that Cleo signed “Deed” on paper".to_owned()),
        (9, "Ada", "Declined".to_owned()),
        (10, "Ben", "Withdrew the consent to electronic records".to_owned()),
    ];
    let told = told.map(|(minute, who, what)| format!("{} | {who} | {what}", at(minute).for_people_to_the_second()));
    assert_eq!(acts, told);
}

#[test]
fn nothing_that_was_said_to_the_organization_alone_is_in_it() {
    let record = full();
    let all = format!("{record:?}");
    let found = format!("{:?}", content_of(record));
    for private in PRIVATE {
        assert!(all.contains(private), "the record of this test lacks it: {private}");
        assert!(!found.contains(private), "{private}: {found}");
    }
}

#[test]
fn amounts_are_on_the_certificates_of_members_and_of_those_who_pay_or_receive_them() {
    let completed = full().until_completion().unwrap();
    let of = |audience| format!("{:?}", content(&completed, &organization(), audience).acts);
    let participant = |n: u8| Audience::Participant(id('a', n).parse().unwrap());
    for (audience, is_told) in [(Audience::Members, true), (participant(1), true), (participant(2), false)] {
        let acts = of(audience);
        assert_eq!(acts.contains("250,000") && acts.contains("100,000"), is_told, "{acts}");
        assert!(is_told || !acts.contains("00,000"), "{acts}");
        assert!(acts.contains("Filed evidence of a payment"), "{acts}");
    }
}

#[test]
fn a_certificate_says_where_the_acts_are_that_it_does_not_list() {
    let statement = |completed: &CompletedRecord| content(completed, &organization(), Audience::Members).statement;
    let completed = full().until_completion().unwrap();
    assert!(!statement(&completed).contains("lists the first"));
    let listed = "Its history lists the first 10000 acts up to the completion; the evidence bundles have all of them.";
    assert!(statement(&completed.with_more_acts()).ends_with(listed));
}
