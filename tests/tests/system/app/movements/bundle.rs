//! Payments in their agreement's bundle: everything filed, byte for byte, on its own side, with members' decisions.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::app::Page;
use tests::pdf::pdf;

use super::statements::{camt, entry, file, pair, review, uploaded};
use super::{Deal, submit};
use crate::app::evidence::{lines, unzipped, verified};

async fn export(deal: &Deal) -> (Page, BTreeMap<String, Vec<u8>>) {
    let path = format!("/app/evidence/agreements/{}/bundle", deal.agreement.id());
    let page = deal.kim.get(&path).await;
    let manifest = verified(deal.org.base_url(), &page).await;
    let files = unzipped(&page.bytes);
    for side in ["sender_evidence", "receiver_evidence"] {
        let of_side = manifest.files.iter().filter(|file| file.path.starts_with(&format!("{side}/")));
        let signed: Vec<Value> = of_side.map(|file| json!([file.path, file.sha256, file.size_bytes])).collect();
        let with_file = lines(&files, &format!("{side}.jsonl")).into_iter().filter(|line| !line["path"].is_null());
        let told = with_file.map(|line| json!([line["path"], line["file_sha256"], line["size_bytes"]]));
        assert_eq!(told.collect::<Vec<_>>(), signed);
    }
    (page, files)
}

fn told(files: &BTreeMap<String, Vec<u8>>, path: &str, members: &[&str]) -> Vec<Vec<Value>> {
    let tell = |line: Value| members.iter().map(|member| line[*member].clone()).collect();
    lines(files, path).into_iter().map(tell).collect()
}

#[tokio::test]
async fn all_that_was_filed_about_a_payment_is_in_the_bundle_with_what_became_of_it() {
    let deal = Deal::claimed().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    deal.file(maren, "sender_bank_document", "250,000.00", "WIRE 7001").await;
    let rejected = deal.file(maren, "receiving_bank_notification", "250,000.00", "TRN 7002").await;
    let reject = submit(kim, &deal.path(), &format!("{rejected}/reject"), &[("reason", "Not of our bank")]).await;
    deal.follow(kim, &reject).await;
    let first = deal.file(maren, "receiving_bank_statement", "100,000.00", "TRN 7003").await;
    deal.follow(kim, &deal.accept(kim, &first).await).await;
    let mistaken = deal.file(maren, "recipient_confirmation", "50,000.00", "TRN 7004").await;
    let withdraw = submit(maren, &deal.path(), &format!("{mistaken}/withdraw"), &[("reason", "Another deal")]).await;
    deal.follow(maren, &withdraw).await;

    let (_, files) = export(&deal).await;
    let of_payment = ["movement_id", "state", "received_minor", "reconciled", "confirmed_by", "confirmation_basis"];
    let id = json!(deal.id);
    let expected = json!([id, "receipt_pending", 10_000_000, false, null, null]);
    assert_eq!(json!(told(&files, "movements.jsonl", &of_payment)), json!([expected]));

    let rest = deal.file(maren, "recipient_confirmation", "150,000.00", "TRN 7005").await;
    deal.follow(kim, &deal.accept(kim, &rest).await).await;
    assert_eq!(deal.state().await, "reconciled");
    let (bundle, files) = export(&deal).await;
    let (again, _) = export(&deal).await;
    assert!(bundle.bytes == again.bytes, "the same each time");
    let movement = lines(&files, "movements.jsonl").remove(0);
    let read = deal.read().await;
    for member in ["state", "reconciled", "confirmed_at", "confirmed_by", "confirmation_basis", "purpose", "reference"]
    {
        assert_eq!(movement[member], read[member], "{member}");
    }
    assert_eq!((&movement["state"], &movement["amount"]["amount_minor"]), (&json!("reconciled"), &json!(25_000_000)));

    let instructions = &movement["instructions"];
    let of_call = ["verification_method", "read_out_by", "number_called", "number_source", "release_basis"];
    assert_eq!(
        of_call.map(|member| instructions[member].clone()),
        ["call_back", "Nora West", "+1 212 555 0100", "earlier_dealings", "verified"].map(|told| json!(told))
    );
    assert_eq!(
        (&instructions["entered_by"]["display_name"], &instructions["verified_by"]["display_name"]),
        (&json!("Maren Holt"), &json!("Kim Sato"))
    );

    let claim = &lines(&files, "claims.jsonl")[..];
    assert_eq!(claim.len(), 1);
    assert_eq!(claim[0]["references"], read["claim"]["references"]);
    assert_eq!(
        (&claim[0]["reported_by"]["display_name"], &claim[0]["is_current"]),
        (&json!("Maren Holt"), &json!(true))
    );

    let of_evidence = ["movement_id", "side", "source", "assurance", "amount", "state", "reason", "path"];
    let usd = |minor: i64| json!({"amount_minor": minor, "currency": "USD"});
    let document = |n: usize| format!("receiver_evidence/{n:03} advice.pdf");
    assert_eq!(
        json!(told(&files, "receiver_evidence.jsonl", &of_evidence)),
        json!([
            [
                id,
                "receiver",
                "receiving_bank_notification",
                "bank_documented",
                usd(25_000_000),
                "rejected",
                "Not of our bank",
                document(1)
            ],
            [
                id,
                "receiver",
                "receiving_bank_statement",
                "bank_documented",
                usd(10_000_000),
                "accepted",
                null,
                document(2)
            ],
            [
                id,
                "receiver",
                "recipient_confirmation",
                "recipient_confirmed",
                usd(5_000_000),
                "withdrawn",
                "Another deal",
                document(3)
            ],
            [
                id,
                "receiver",
                "recipient_confirmation",
                "recipient_confirmed",
                usd(15_000_000),
                "accepted",
                null,
                document(4)
            ],
        ])
    );
    let slip = "sender_evidence/001 advice.pdf";
    assert_eq!(
        json!(told(&files, "sender_evidence.jsonl", &of_evidence)),
        json!([[id, "sender", "sender_bank_document", "sender_documented", usd(25_000_000), "filed", null, slip]])
    );
    for (path, note) in [(slip.to_owned(), "WIRE 7001"), (document(1), "TRN 7002"), (document(4), "TRN 7005")] {
        assert!(files[&path] == pdf(note, ""), "{path} is what was filed");
    }
    let actor = |line: &Value| line["decided_by"]["display_name"].clone();
    let deciders: Vec<Value> = lines(&files, "receiver_evidence.jsonl").iter().map(actor).collect();
    assert_eq!(deciders, ["Kim Sato", "Kim Sato", "Maren Holt", "Kim Sato"]);

    // No record has a bank's name for the transfer, or an account.
    for (path, content) in files.iter().filter(|(_, content)| !content.starts_with(b"%PDF")) {
        let text = String::from_utf8_lossy(content);
        for secret in ["TRN 70", "WIRE 7001", "000123456789", "021000021", "First Harbor Bank"] {
            assert!(!text.contains(secret), "{secret} in {path}");
        }
    }

    // Proof withdrawn after completion: the bundle then says so, and still agrees with itself.
    let withdrawn = submit(maren, &deal.path(), &format!("{rest}/withdraw"), &[("reason", "Forged")]).await;
    deal.follow(maren, &withdrawn).await;
    let (_, files) = export(&deal).await;
    let expected = json!([id, "exception", 10_000_000, false, null, null]);
    assert_eq!(json!(told(&files, "movements.jsonl", &of_payment)), json!([expected]));
    assert_eq!(lines(&files, "receiver_evidence.jsonl")[3]["state"], "withdrawn");
    assert_eq!(lines(&files, "movements.jsonl")[0]["exception_reason"], "evidence_withdrawn");
}

#[tokio::test]
async fn a_payment_without_documents_is_in_the_bundle_and_ends_with_its_agreement() {
    let deal = Deal::ready().await;
    let (_, files) = export(&deal).await;
    let of_payment = ["state", "received_minor", "reconciled"];
    assert_eq!(json!(told(&files, "movements.jsonl", &of_payment)), json!([["instructions_ready", 0, false]]));
    for path in ["claims.jsonl", "sender_evidence.jsonl", "receiver_evidence.jsonl"] {
        assert_eq!(files[path], b"", "{path}");
    }
    let action = shared::domain::proposal::ProposalAction::CancelAgreement;
    deal.org.decide_at_once(&deal.people[0], deal.agreement.id(), action).await;
    let (_, files) = export(&deal).await;
    assert_eq!(json!(told(&files, "movements.jsonl", &of_payment)), json!([["cancelled", 0, false]]));
}

#[tokio::test]
async fn the_statement_entry_that_proves_a_payment_is_in_the_bundle() {
    let deal = Deal::with_statements().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let statement = camt(
        "S-1",
        &[
            entry("12.00", "CRDT", "B-1", "Someone else’s rent"),
            entry("250000.00", "CRDT", "B-2", "Closing INV-117 from GB82 WEST 1234 5698 7654 32"),
        ],
    );
    let at = uploaded(maren, "march.xml", &statement).await;
    let page = maren.get(&at).await;
    assert_eq!(file(maren, &page, &at, &[pair(&page, 2, deal.id)]).await.status, 303);
    let (_, files) = export(&deal).await;
    assert_eq!(files["statement_extracts.jsonl"], b"", "nothing is accepted yet");
    let accept = review(&maren.get(&at).await);
    deal.follow(kim, &deal.accept(kim, &accept).await).await;
    assert_eq!(deal.state().await, "reconciled");

    let (_, files) = export(&deal).await;
    let evidence = lines(&files, "receiver_evidence.jsonl").remove(0);
    let extract = lines(&files, "statement_extracts.jsonl");
    let sha256 = shared::crypto::sha256_hex(&statement);
    assert_eq!((&evidence["file_sha256"], &evidence["path"]), (&json!(sha256), &Value::Null));
    assert_eq!(
        json!(extract),
        json!([{
            "evidence_id": evidence["id"],
            "movement_id": deal.id,
            "file_name": "march.xml",
            "file_sha256": sha256,
            "size_bytes": statement.len(),
            "format": "camt.053",
            "account_ending": "3000",
            "number": 2,
            "position": "line 4",
            "amount": {"amount_minor": 25_000_000, "currency": "USD"},
            "booked_on": "2026-03-18",
            "value_on": "2026-03-18",
            "references": [{"kind": "account_servicer_reference", "value": "B-2"}],
            "counterparty": "OKAFOR ADA",
            "text": "Closing INV-117 from …5432",
        }])
    );
    let readme = String::from_utf8_lossy(&files["README.txt"]).into_owned();
    assert!(readme.contains("What is not here, and why"), "{readme}");
    for (path, content) in &files {
        let text = String::from_utf8_lossy(content);
        for other in ["Someone else’s rent", "DE89370400440532013000", "GB82"] {
            assert!(!text.contains(other), "{other} in {path}");
        }
    }
}
