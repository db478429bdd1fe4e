//! Movements over the API: claim and proof apart, nothing secret, nothing to change.

use http::Method;
use serde_json::{Value, json};
use shared::domain::agreement::Agreement;
use shared::domain::agreement::gate::GateRule;
use shared::domain::day::Day;
use shared::domain::ids::MovementId;
use shared::domain::movement::claim::{NewClaim, ReferenceType, TransferReference};
use shared::domain::movement::evidence::NewEvidence;
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::movement::state::MovementState;
use shared::domain::movement::{Arrivals, NotMoved};
use shared::domain::proposal::ProposalAction;
use shared::service::movements::{self, EvidenceDecision, EvidenceHolder, MovementAct, NotFiled};
use tests::app::Person;
use tests::drafts::Drafted;
use tests::payments::{IBAN, IMAD, dollars, evidence, terms};
use tests::{Needs, Org, eventually};

use crate::{members, unknown_id};

const MOVEMENTS: &str = "/api/v1/movements";

async fn get(org: &Org, id: MovementId) -> Value {
    org.get(format!("{MOVEMENTS}/{id}")).send().await.ok(200)
}

async fn found(org: &Org, query: &[(&str, &str)]) -> Vec<String> {
    let request = query.iter().fold(org.get(MOVEMENTS), |request, (name, value)| request.query(name, value));
    let page = request.send().await.ok(200);
    let ids: Vec<String> = page["data"].as_array().expect("rows").iter().map(|row| text(&row["id"])).collect();
    assert_eq!(page["pagination"]["total"], ids.len());
    ids
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn texts(ids: &[MovementId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

async fn paid(org: &Org, name: &str, purpose: &str) -> (Agreement, MovementId) {
    let draft = org.ready_draft(name, |_| {}).await;
    let id = org.payment(draft.id(), terms(&draft, purpose, "INV-117")).await;
    let with_payment = Drafted::of(org, &draft.id().to_string()).await.agreement;
    let rule = GateRule::MovementReconciled { movement_id: Some(id) };
    let (after, _) = with_payment.add_gate(draft.stages[0].id, rule, with_payment.updated_at).expect("a gate");
    org.edit(&after).await;
    (after, id)
}

async fn live(org: &Org, member: &Person, purpose: &str) -> (Agreement, MovementId) {
    let (draft, id) = paid(org, &format!("Deal of {purpose}"), purpose).await;
    org.decide_at_once(member, draft.id(), ProposalAction::PublishAgreement).await;
    (draft, id)
}

fn claim() -> NewClaim {
    let day = Day::parse("2026-03-14").expect("a day");
    let reference =
        TransferReference::parse(ReferenceType::FedwireImad, "20260314B1QGC08C000123").expect("a reference");
    NewClaim::checked(day, day, vec![reference]).expect("a claim")
}

async fn file(org: &Org, by: &Person, id: MovementId, new: &NewEvidence) -> Result<(), NotFiled> {
    org.as_member(by, "file_evidence", async |call| {
        movements::file_evidence(call.scope(), call.member(), org.stack().keyring(), id, new.clone()).await
    })
    .await
}

async fn judge(
    org: &Org,
    by: &Person,
    id: MovementId,
    filed: &NewEvidence,
    decision: EvidenceDecision,
) -> Result<(), NotMoved> {
    org.as_member(by, "accept_evidence", async |call| {
        movements::judge_evidence(call.scope(), call.member(), (id, filed.id()), decision).await
    })
    .await
}

#[tokio::test]
async fn a_movement_of_a_draft_has_all_fields() {
    let org = Org::new().await;
    let (draft, id) = paid(&org, "Seed", "Investment").await;
    let shown = get(&org, id).await;
    let of = |at: usize| json!(draft.participants[at].id);
    for (field, expected) in [
        ("id", json!(id)),
        ("workspace_id", json!(draft.workspace_id)),
        ("agreement_id", json!(draft.id())),
        ("stage_id", json!(draft.stages[0].id)),
        ("state", json!("draft")),
        ("purpose", json!("Investment")),
        ("reference", json!("INV-117")),
        ("amount_minor", json!(25_000_000)),
        ("currency", json!("USD")),
        ("amount_display", json!("USD 250,000.00")),
        ("direction", json!("third_party")),
        ("method", json!("wire")),
        ("sender_participant_id", of(0)),
        ("receiver_participant_id", of(1)),
        ("due_at", json!("2026-03-20T23:59:59.999Z")),
        ("exception_reason", Value::Null),
        ("claim", Value::Null),
        ("receipt", Value::Null),
        ("reconciled", json!(false)),
        ("confirmed_at", Value::Null),
        ("confirmed_by", Value::Null),
        ("confirmation_basis", Value::Null),
    ] {
        assert_eq!(shown[field], expected, "{field}");
    }
    assert_eq!(members(&shown).len(), 25, "those, the sentence and two times: {shown}");
    assert_eq!(org.get(MOVEMENTS).send().await.ok(200)["data"], json!([shown]));
}

#[tokio::test]
async fn filters_and_search_find_what_they_say_and_a_new_name_at_once() {
    let org = Org::new().await;
    let (first, deposit) = paid(&org, "Harbor purchase", "Deposit").await;
    let balance = org.payment(first.id(), terms(&first, "Straße", "B-2")).await;
    let (second, fee) = paid(&org, "Seed round", "Fee").await;
    let (all, of_first) = ([deposit, balance, fee], first.id().to_string());
    assert_eq!(found(&org, &[]).await, texts(&all));
    assert_eq!(found(&org, &[("state", ""), ("search", " ")]).await, texts(&all));
    assert_eq!(found(&org, &[("state", "draft")]).await, texts(&all));
    assert_eq!(found(&org, &[("state", "reconciled")]).await, texts(&[]));
    assert_eq!(found(&org, &[("agreement_id", &of_first)]).await, texts(&[deposit, balance]));
    assert_eq!(found(&org, &[("agreement_id", &unknown_id())]).await, texts(&[]));
    assert_eq!(found(&org, &[("search", "STRASSE")]).await, texts(&[balance]));
    assert_eq!(found(&org, &[("search", "inv-1")]).await, texts(&[deposit, fee]));
    assert_eq!(found(&org, &[("search", "HARBOR")]).await, texts(&[deposit, balance]), "the agreement's name");
    assert_eq!(found(&org, &[("search", "seed"), ("agreement_id", &of_first)]).await, texts(&[]));
    let mut renamed = Drafted::of(&org, &second.id().to_string()).await;
    renamed.change(&org, |draft| draft.name = "Harbor lease".parse_name()).await;
    assert_eq!(found(&org, &[("search", "harbor")]).await, texts(&all));
    assert_eq!(found(&org, &[("search", "seed round")]).await, texts(&[]));

    let page = org.get(MOVEMENTS).query("limit", 1).query("offset", 1).send().await.ok(200);
    assert_eq!(page["data"][0]["id"], json!(balance));
    assert_eq!(page["pagination"], json!({"total": 3, "has_more": true, "limit": 1, "offset": 1}));
    for (name, value, code) in [
        ("state", "paid", "invalid_value"),
        ("agreement_id", "7", "invalid_format"),
        ("agreement_id", "", "invalid_format"),
        ("product", "safe", "unknown_parameter"),
        ("workspace_id", &unknown_id(), "unknown_parameter"),
        ("search", &"x".repeat(201), "too_long"),
    ] {
        org.get(MOVEMENTS).query(name, value).send().await.refused_for(422, &[(name, code)]);
    }
}

trait ParseName {
    fn parse_name(&self) -> shared::domain::agreement::AgreementName;
}

impl ParseName for str {
    fn parse_name(&self) -> shared::domain::agreement::AgreementName {
        shared::domain::agreement::AgreementName::parse(self).expect("a name")
    }
}

#[tokio::test]
async fn no_method_changes_a_movement_and_no_stranger_sees_one() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (_, id) = paid(&org, "Seed", "Investment").await;
    let path = format!("{MOVEMENTS}/{id}");
    other.get(&path).send().await.refused(404);
    assert_eq!(found(&other, &[]).await, texts(&[]));
    org.get(format!("{MOVEMENTS}/{}", unknown_id())).send().await.refused(404);
    org.get(format!("{MOVEMENTS}/7")).send().await.refused_for(422, &[("path.movement_id", "invalid_format")]);
    assert_eq!(org.read_only().get(&path).send().await.ok(200)["id"], json!(id));
    let before = org.state().await;
    for path in [MOVEMENTS, &path] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            for body in [json!({}), json!({"state": "reconciled", "reconciled": true})] {
                let answer = org.call(method.clone(), path).json(&body).send().await;
                answer.refused(405);
                assert!(answer.header("allow").contains("GET"), "{method} {path}");
            }
        }
    }
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn a_claim_is_no_proof_and_proof_of_the_receiving_side_is() {
    // The clock relays what the test writes past the service: sixty times sooner.
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let subscriber =
        org.subscriber_of(&["movement.sender_reported", "movement.reconciled", "movement.exception"]).await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let (deal, id) = live(&org, &maren, "Investment").await;
    org.open_movement([&maren, &ines], id).await;
    assert_eq!(get(&org, id).await["state"], "instructions_ready");
    org.act_on_movement(&maren, id, MovementAct::RecordClaim(claim())).await;
    let claimed = get(&org, id).await;
    assert_eq!((&claimed["state"], &claimed["reconciled"]), (&json!("sender_reported"), &json!(false)));
    assert_eq!(members(&claimed["claim"]), ["participant_id", "references", "reported_at"]);
    let reference = json!([{"type": "fedwire_imad", "value": "20260314B1QGC08C000123"}]);
    assert_eq!(claimed["claim"]["references"], reference);
    assert_eq!(claimed["claim"]["participant_id"], json!(deal.participants[0].id));
    assert_eq!((&claimed["receipt"], &claimed["confirmed_at"]), (&Value::Null, &Value::Null));

    let sent = evidence("sender_bank_document", dollars(25_000_000), 'a');
    assert_eq!(file(&org, &maren, id, &sent).await, Ok(()));
    let refused = judge(&org, &ines, id, &sent, EvidenceDecision::Accept(Arrivals::One)).await;
    assert_eq!(refused, Err(NotMoved::SendersSide));
    assert_eq!(get(&org, id).await["receipt"], Value::Null, "the sender's side proves nothing");

    let half = evidence("recipient_confirmation", dollars(10_000_000), 'b');
    let rest = evidence("receiving_bank_statement", dollars(15_000_000), 'c');
    for new in [&half, &rest] {
        assert_eq!(file(&org, &maren, id, new).await, Ok(()));
        assert_eq!(file(&org, &maren, id, new).await, Err(NotFiled::Refused(NotMoved::FiledAlready)), "filed once");
    }
    assert_eq!(judge(&org, &ines, id, &half, EvidenceDecision::Accept(Arrivals::One)).await, Ok(()));
    let partial = get(&org, id).await;
    let receipt = json!({"evidence_count": 2, "best_assurance": "bank_documented", "received_minor": 10_000_000});
    assert_eq!((&partial["receipt"], &partial["state"]), (&receipt, &json!("processing")));
    assert_eq!((&partial["claim"], &partial["reconciled"]), (&claimed["claim"], &json!(false)));
    assert_eq!(judge(&org, &ines, id, &rest, EvidenceDecision::Accept(Arrivals::One)).await, Ok(()));
    let reconciled = get(&org, id).await;
    assert_eq!((&reconciled["state"], &reconciled["reconciled"]), (&json!("reconciled"), &json!(true)));
    assert_eq!(reconciled["confirmation_basis"], "recipient_confirmation", "the weakest");
    assert_eq!(reconciled["confirmed_by"], json!({"type": "member", "id": ines.id, "display_name": "Ines"}));
    assert!(reconciled["confirmed_at"].is_string() && reconciled["receipt"]["received_minor"] == 25_000_000);
    assert_eq!(found(&org, &[("state", "reconciled")]).await, texts(&[id]));
    let gate = &org.get(format!("/api/v1/agreements/{}", deal.id())).send().await.ok(200)["stages"][0]["gates"][1];
    assert_eq!(gate["state"], "cleared", "in the transaction of the reconciliation: {gate}");

    let (_, second) = live(&org, &maren, "Second").await;
    org.open_movement([&maren, &ines], second).await;
    let again = evidence("receiving_bank_statement", dollars(25_000_000), 'c');
    let holder = EvidenceHolder { movement_id: id, agreement_id: deal.id() };
    assert_eq!(file(&org, &maren, second, &again).await, Err(NotFiled::Elsewhere(holder)));

    let reason = SafeNote::parse("It was for another deal").expect("a reason");
    assert_eq!(judge(&org, &maren, id, &rest, EvidenceDecision::Withdraw(reason)).await, Ok(()));
    let exception = get(&org, id).await;
    assert_eq!((&exception["state"], &exception["reconciled"]), (&json!("exception"), &json!(false)));
    assert_eq!(exception["exception_reason"], "evidence_withdrawn");
    for field in ["confirmed_at", "confirmed_by", "confirmation_basis"] {
        assert_eq!(exception[field], Value::Null, "{field}");
    }
    assert_eq!(file(&org, &maren, second, &again).await, Ok(()), "given free, it counts for the other");

    let arrivals = subscriber.receiver.wait_for(3).await;
    let mut told: Vec<Value> =
        arrivals.iter().map(|arrival| json!([arrival.event_type(), arrival.json()["data"]])).collect();
    told.sort_by_key(ToString::to_string);
    let both = json!({"movement_id": id, "agreement_id": deal.id()});
    assert_eq!(
        told,
        [
            json!(["movement.exception", {"movement_id": id, "reason": "evidence_withdrawn"}]),
            json!(["movement.reconciled", both]),
            json!(["movement.sender_reported", both]),
        ]
    );
    for answer in [org.get(MOVEMENTS).send().await, org.get(format!("{MOVEMENTS}/{id}")).send().await] {
        let body = String::from_utf8_lossy(&answer.bytes).into_owned();
        for secret in [IBAN, IMAD, "statement.pdf", "Test Bank", "3000\"", "sha256"] {
            assert!(!body.contains(secret), "{secret} in {body}");
        }
    }
    for row in org.state().await.iter().chain(&org.audit().await) {
        assert!(!row.to_string().contains(IBAN), "{row}");
    }
}

#[tokio::test]
async fn what_a_payment_lacks_is_in_the_way_of_publication() {
    let org = Org::new().await;
    let draft = org.ready_draft("Seed", |_| {}).await;
    let path = format!("/api/v1/agreements/{}", draft.id());
    let blockers = async || -> Vec<Value> {
        let shown = org.get(&path).send().await.ok(200);
        let listed = org.get("/api/v1/agreements").send().await.ok(200);
        assert_eq!(listed["data"][0]["proposal_ready"], shown["proposal_ready"]);
        let all = shown["publish_blockers"].as_array().expect("blockers").iter();
        let other = all.filter(|blocker| blocker["code"] != "workspace_not_activated");
        other.map(|blocker| json!([blocker["code"], blocker["movement_id"]])).collect()
    };
    assert_eq!(blockers().await, [] as [Value; 0]);
    let id = org.payment(draft.id(), shared::domain::movement::terms::PaymentTerms::default()).await;
    let expected = [json!(["payment_incomplete", id]), json!(["payment_parties_missing", id])];
    assert_eq!(blockers().await, expected);
    let system = org.system();
    let shown =
        shared::domain::agreement::edit::Seen::of_payment(&shared::domain::movement::terms::PaymentTerms::default());
    let right = terms(&draft, "Investment", "INV-1");
    let change = || shared::service::payments::change(&system, draft.id(), id, &shown, right.clone());
    let changed = system.run(3, change).await;
    assert_eq!(changed.expect("the table answers"), Ok(()));
    assert_eq!(blockers().await, [] as [Value; 0]);
    let system = org.system();
    let removed = system.run(3, || shared::service::payments::remove(&system, draft.id(), id)).await;
    assert_eq!(removed.expect("the table answers"), Ok(()));
    org.get(format!("{MOVEMENTS}/{id}")).send().await.refused(404);
    assert_eq!(found(&org, &[]).await, texts(&[]));
}

#[tokio::test]
async fn a_cancelled_agreement_cancels_its_open_movements() {
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let (draft, released) = paid(&org, "Seed", "Investment").await;
    let untouched = org.payment(draft.id(), terms(&draft, "Fee", "F-1")).await;
    org.decide_at_once(&maren, draft.id(), ProposalAction::PublishAgreement).await;
    org.open_movement([&maren, &ines], released).await;
    org.decide_at_once(&maren, draft.id(), ProposalAction::CancelAgreement).await;
    // The agreement says so at once, whatever the movement's record says.
    let refused = org
        .as_member(&maren, "record_claim", async |call| {
            movements::act(call.scope(), call.member(), released, MovementAct::RecordClaim(claim())).await
        })
        .await;
    assert_eq!(refused, Err(NotMoved::NotNow(MovementState::Cancelled)));
    for id in [released, untouched] {
        eventually("the movement ends with its agreement", async || {
            (get(&org, id).await["state"] == "cancelled").then_some(())
        })
        .await;
    }
    eventually("nothing is left to do", async || {
        org.due().await.iter().all(|due| !due.contains("ENDING")).then_some(())
    })
    .await;
    let audit = org.audit().await;
    let ended = audit.iter().filter(|row| row.to_string().contains("end_movement")).count();
    assert_eq!(ended, 2, "an audit row for each");
    assert_eq!(found(&org, &[("state", "cancelled")]).await, texts(&[released, untouched]));
}
