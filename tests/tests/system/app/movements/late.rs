//! Money sent but not reported before its agreement ended: it is recorded as late, and reconciles nothing.

use serde_json::json;
use shared::domain::proposal::ProposalAction;
use tests::rows;

use super::statements::{camt, entry, file, pair, review, uploaded};
use super::{CLAIM, Deal, IBAN, assert_says, submit};
use crate::app::evidence::{lines, unzipped, verified};

async fn ended() -> Deal {
    let deal = Deal::ready_on(&IBAN).await;
    deal.org.decide_at_once(&deal.people[0], deal.agreement.id(), ProposalAction::CancelAgreement).await;
    assert_eq!(deal.state().await, "cancelled");
    deal
}

#[tokio::test]
async fn money_that_comes_after_the_end_of_its_agreement_is_on_record_as_late() {
    let deal = ended().await;
    let page = deal.maren.get(&deal.path()).await;
    assert_says(
        &page,
        &[
            "This payment was cancelled when its agreement ended.",
            "Was it sent before that? File evidence of its arrival, or record that it came back.",
            "File evidence…",
            "Record return…",
            "Cancelled with its agreement",
        ],
    );
    let refused = deal.act(&deal.maren, "claim", &CLAIM).await;
    assert_eq!(refused.status, 409, "{}", refused.body);

    let filed = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "LATE 1").await;
    let page = deal.kim.get(&format!("{filed}/accept")).await;
    assert_says(
        &page,
        &[
            "It came late: the payment stays cancelled with its agreement, and is not confirmed.",
            "Filed after the agreement ended",
        ],
    );
    let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;
    assert_says(&page, &["Evidence accepted", "It came late: the payment stays cancelled."]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["reconciled"]), (&json!("cancelled"), &json!(false)));
    assert_eq!(read["receipt"]["received_minor"], 25_000_000);
    let sentence = "Cancelled when its agreement ended. USD 250,000.00 of USD 250,000.00 came late and has been confirmed received.";
    assert_eq!(read["state_sentence"], sentence);
    let ledger = deal.org.ledger(&[]).await;
    let row = ledger.iter().find(|row| row["movement_id"] == json!(deal.id)).expect("a row");
    assert_eq!(
        (&row["status_sentence"], &row["reconciled"], &row["done"]),
        (&json!(sentence), &json!(false), &json!(true))
    );
    let told = async || deal.org.events().await.iter().map(|event| event["type"].clone()).collect::<Vec<_>>();
    assert!(!told().await.contains(&json!("movement.reconciled")));

    let page = deal.done(&deal.maren, "return", &[("reason", "Sent back: the deal is off")]).await;
    assert_says(&page, &["Returned, late", "Cancelled with its agreement"]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["exception_reason"]), (&json!("returned"), &json!("returned")));
    assert_eq!(read["state_sentence"], "The money came back to the sender, after the agreement had ended.");
    assert!(told().await.contains(&json!("movement.exception")));

    let path = format!("/app/evidence/agreements/{}/bundle", deal.agreement.id());
    let bundle = deal.maren.get(&path).await;
    verified(deal.org.base_url(), &bundle).await;
    let bundle = unzipped(&bundle.bytes);
    assert_eq!(lines(&bundle, "movements.jsonl")[0]["late_minor"], 25_000_000);
    assert_eq!(lines(&bundle, "receiver_evidence.jsonl")[0]["is_late"], true);
}

#[tokio::test]
async fn an_entry_of_a_statement_is_offered_for_a_payment_that_ended_with_its_agreement() {
    let deal = ended().await;
    let at = uploaded(&deal.maren, "late.xml", &camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117")])).await;
    let page = deal.maren.get(&at).await;
    assert_says(&page, &["Its agreement has ended. What you file is recorded as late"]);
    let filed = file(&deal.maren, &page, &at, &[pair(&page, 1, deal.id)]).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
    let accept = format!("{}/accept", review(&deal.maren.get(&at).await));
    assert_eq!(submit(&deal.kim, &accept, &accept, &[]).await.status, 303);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["receipt"]["received_minor"]), (&json!("cancelled"), &json!(25_000_000)));
}

#[tokio::test]
async fn an_entry_that_fits_a_payment_that_did_not_arrive_resolves_that_in_one_act() {
    let deal = Deal::with_statements().await;
    deal.done(&deal.maren, "exception", &[("reason", "not_received"), ("note", "")]).await;
    let at = uploaded(&deal.maren, "found.xml", &camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117")])).await;
    let page = deal.maren.get(&at).await;
    assert_says(&page, &["Marked as not arrived. Filing this entry resolves the exception first"]);
    let (_, evidence) = named(&page, "resolve", deal.id);
    let blind = file(&deal.maren, &page, &at, &[(format!("pair.1.{}", deal.id), evidence)]).await;
    assert_eq!((blind.status, &*deal.state().await), (409, "exception"), "{}", blind.body);
    let filed = file(&deal.maren, &page, &at, &[named(&page, "resolve", deal.id)]).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
    assert_eq!(deal.state().await, "processing");
    // For the payment, the audit log says that its exception was resolved.
    let audit = deal.org.audit().await;
    let resolved = audit.iter().find(|row| row["operation"] == "resolve_and_file_evidence").expect("an audit row");
    assert!(rows::objects(resolved).contains(&deal.id.to_string()), "{resolved}");
    let accept = format!("{}/accept", review(&deal.maren.get(&at).await));
    assert_eq!(submit(&deal.kim, &accept, &accept, &[]).await.status, 303);
    assert_eq!(deal.state().await, "reconciled");

    let other = Deal::with_statements().await;
    other.done(&other.maren, "exception", &[("reason", "suspected_fraud"), ("note", "")]).await;
    let at = uploaded(&other.maren, "found.xml", &camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117")])).await;
    assert!(!other.maren.get(&at).await.says("type=\"checkbox\""));
}

fn named(page: &tests::app::Page, prefix: &str, id: shared::domain::ids::MovementId) -> (String, String) {
    let name = format!("{prefix}.1.{id}");
    let (_, rest) =
        page.body.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("{}", page.body));
    (name, rest.split('"').next().expect("a value").to_owned())
}
