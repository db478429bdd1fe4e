//! Ledgers: payments in every state, and the contacts that an organization acts as.

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use serde_json::Value;
use shared::domain::agreement::Agreement;
use shared::domain::day::Day;
use shared::domain::ids::{AgreementId, MovementId};
use shared::domain::money::{Currency, Money};
use shared::domain::movement::Arrivals;
use shared::domain::movement::claim::{NewClaim, ReferenceType, TransferReference};
use shared::domain::movement::evidence::NewEvidence;
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::movement::state::ExceptionReason;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use shared::service::movements::{self, EvidenceDecision, MovementAct};
use shared::store::Item;
use shared::store::keys::{self, Key, Rows};

use crate::app::Person;
use crate::org::Org;
use crate::{obligations, payments};

/// Minor units of a currency.
#[must_use]
pub fn money(minor: i64, currency: &str) -> Money {
    Money::new(minor, Currency::parse(currency).expect("a currency")).expect("an amount")
}

/// A sender's claim.
#[must_use]
pub fn claim() -> NewClaim {
    let day = Day::parse("2026-03-14").expect("a day");
    let reference =
        TransferReference::parse(ReferenceType::FedwireImad, "20260314B1QGC08C000123").expect("a reference");
    NewClaim::checked(day, day, vec![reference]).expect("a claim")
}

/// An agreement with a payment in every state, each named after its state.
#[derive(Debug)]
pub struct Deal {
    /// As drafted. Its first participant owes the payments to the second.
    pub agreement: Agreement,
    /// The payments, with their states.
    pub payments: Vec<(&'static str, MovementId)>,
    /// A draft in another workspace, with a payment of 7 euro cents.
    pub draft: (AgreementId, MovementId),
}

const STATES: [&str; 10] = [
    "authorized",
    "instructions_ready",
    "sender_reported",
    "receipt_pending",
    "processing",
    "reconciled",
    "exception",
    "returned",
    "cancelled",
    "draft",
];

impl Deal {
    /// Creates the agreement, with acts of these members.
    pub async fn new(org: &Org, members: [&Person; 2]) -> Self {
        let agreement = org.ready_draft("Harbor purchase", |_| ()).await;
        let mut payments = Vec::new();
        for (n, state) in (1..).zip(STATES) {
            let terms = PaymentTerms {
                money: Some(money(n * 100_000, "USD")),
                due_on: Some(obligations::day(if ["authorized", "draft"].contains(&state) { -3 } else { 10 })),
                ..payments::terms(&agreement, &format!("Payment {state}"), "INV-117")
            };
            payments.push((state, org.payment(agreement.id(), terms).await));
        }
        let draft = org.ready_draft("Drafted sale", |_| ()).await;
        let terms = PaymentTerms { money: Some(money(7, "EUR")), ..payments::terms(&draft, "Planned", "P-1") };
        let planned = org.payment(draft.id(), terms).await;
        org.decide_at_once(members[0], agreement.id(), ProposalAction::PublishAgreement).await;
        for (n, (state, id)) in (1..).zip(&payments) {
            reach(org, members, *id, state, n * 100_000).await;
        }
        Self { agreement, payments, draft: (draft.id(), planned) }
    }
}

async fn reach(org: &Org, members: [&Person; 2], id: MovementId, state: &str, amount: i64) {
    let (first, note) = (members[0], || SafeNote::parse("As agreed by phone").expect("a note"));
    if state == "draft" {
        return;
    }
    if state == "authorized" {
        return org.act_on_movement(first, id, MovementAct::Authorize).await;
    }
    if state == "cancelled" {
        return org.act_on_movement(first, id, MovementAct::Cancel(note())).await;
    }
    org.open_movement(members, id).await;
    if state == "instructions_ready" {
        return;
    }
    org.act_on_movement(first, id, MovementAct::RecordClaim(claim())).await;
    let last = match state {
        "receipt_pending" => MovementAct::AskForProof,
        "exception" => MovementAct::Flag(ExceptionReason::NotReceived, None),
        "returned" => MovementAct::RecordReturn(note()),
        "processing" | "reconciled" => {
            let letter = if state == "processing" { 'a' } else { 'c' };
            // Evidence of a fifth is accepted; evidence of the rest is under review.
            let part = if state == "processing" { amount / 5 } else { amount };
            let proof = payments::evidence("recipient_confirmation", money(part, "USD"), letter);
            prove(org, members, id, &proof, true).await;
            if state == "processing" {
                let rest = payments::evidence("receiving_bank_statement", money(amount - part, "USD"), 'b');
                prove(org, members, id, &rest, false).await;
            }
            return;
        }
        _ => return,
    };
    org.act_on_movement(first, id, last).await;
}

async fn prove(org: &Org, [first, second]: [&Person; 2], id: MovementId, new: &NewEvidence, is_accepted: bool) {
    let filed = org
        .as_member(first, "file_evidence", async |call| {
            movements::file_evidence(call.scope(), call.member(), org.stack().keyring(), id, new.clone()).await
        })
        .await;
    filed.expect("it is filed");
    if is_accepted {
        let accepted = org
            .as_member(second, "accept_evidence", async |call| {
                let decision = EvidenceDecision::Accept(Arrivals::One);
                movements::judge_evidence(call.scope(), call.member(), (id, new.id()), decision).await
            })
            .await;
        accepted.expect("it is accepted");
    }
}

impl Org {
    /// Sets the contacts that the organization acts as, bypassing the admin's page.
    pub async fn acts_as(&self, contacts: &[&str]) {
        let ids = contacts.iter().map(|id| (*id).to_owned()).collect();
        let table = self.stack().table();
        let update = table.client().update_item().table_name(&table.name);
        let update = update
            .set_key(Some(Key::from_parts(&format!("ORG#{}#ORGANIZATION", self.id), ".").into_item()))
            .condition_expression("attribute_exists(pk)")
            .update_expression("SET own_contact_ids = :own")
            .expression_attribute_values(":own", AttributeValue::Ss(ids));
        update.send().await.expect("the table takes it");
    }

    /// All ledger rows that the filters select.
    pub async fn ledger(&self, query: &[(&str, &str)]) -> Vec<Value> {
        let request =
            query.iter().fold(self.get("/api/v1/ledger"), |request, (name, value)| request.query(name, value));
        let page = request.query("limit", 200).send().await.ok(200);
        let rows = page["data"].as_array().expect("rows").clone();
        assert_eq!(page["pagination"]["total"], rows.len(), "{page}");
        rows
    }
}

/// Copies a payment and its list row directly in the store.
pub async fn copy_payment(org: &Org, of: MovementId, count: usize) {
    const BATCH: usize = 12;
    let table = org.stack().table();
    let read = async |key: Key| {
        let get = table.client().get_item().table_name(&table.name).set_key(Some(key.into_item()));
        get.send().await.expect("the table answers").item.expect("a payment")
    };
    let record = read(keys::movement(org.id, of)).await;
    let row = read(keys::row(org.id, Rows::Movements, of.uuid())).await;
    let put = |mut item: Item, key: Key| {
        key.insert_into(&mut item);
        let put = PutRequest::builder().set_item(Some(item)).build().expect("an item");
        WriteRequest::builder().put_request(put).build()
    };
    let ids: Vec<MovementId> = (0..count).map(|_| MovementId::new()).collect();
    for some in ids.chunks(BATCH) {
        let copies = some.iter().flat_map(|id| {
            let mut record = record.clone();
            record.insert("id".to_owned(), AttributeValue::S(id.to_string()));
            let row_key = keys::row(org.id, Rows::Movements, id.uuid());
            [put(record, keys::movement(org.id, *id)), put(row.clone(), row_key)]
        });
        let write = table.client().batch_write_item().request_items(&table.name, copies.collect());
        let written = write.send().await.expect("the table takes them");
        assert!(written.unprocessed_items.unwrap_or_default().is_empty(), "all are written");
    }
}
