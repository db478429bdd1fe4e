//! Acts only for members: no operation of the API publishes, cancels, decides, activates or moves a payment, as the
//! types ensure (`shared::domain::member`). Random histories (`app/movements/histories`) try a sender's other acts.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::{Value, json};
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::app::Browser;
use tests::fixture::{Ids, path, with_ids};
use tests::funding::{ITEMS, TRUSTS};
use tests::ledger::Deal;
use tests::spec::{self, Operation};
use tests::{Org, drafts};

use crate::unknown_id;

/// What only members may change: the state of agreements and proposals, and workspaces' activation.
async fn protected(org: &Org) -> BTreeMap<String, Value> {
    let state = |row: &Value| {
        if row["sk"].as_str().is_some_and(|sort| sort.starts_with("ACT#")) {
            return None;
        }
        let key = row["pk"].as_str().expect("a key").to_owned();
        let attribute = [("#AGREEMENT#", "life"), ("#PROPOSAL#", "decision"), ("#WORKSPACE#", "activated_at")];
        let (_, name) = attribute.into_iter().find(|(kind, _)| key.contains(kind))?;
        Some((key, row[name].clone()))
    };
    org.state().await.iter().filter_map(state).collect()
}

fn bodies(operation: &Operation, targets: &Ids) -> Vec<Value> {
    let now = Timestamp::now();
    let decided = json!({"at": now, "by": {"type": "member", "id": unknown_id(), "display_name": "Maren"}});
    let smuggled = [
        ("lifecycle", json!("active")),
        ("lifecycle", json!("cancelled")),
        ("life", json!({"state": "active", "published_at": now})),
        ("state", json!("confirmed")),
        ("state", json!("declined")),
        ("decision", json!({"state": "confirmed", "at": now, "by": decided["by"]})),
        ("decision", json!("confirm")),
        ("decided_at", json!(now)),
        ("decided_by", decided["by"].clone()),
        ("activated", json!(true)),
        ("activated_at", json!(now)),
        ("published_at", json!(now)),
        ("cancelled_at", json!(now)),
        ("action", json!("publish_agreement")),
        ("action", json!("cancel_agreement")),
        ("action", json!("activate_workspace")),
        ("status", json!("funded")),
        ("status", json!({"state": "funded"})),
        ("phase", json!("done")),
        ("claimed_at", json!(now)),
        ("close_reason", json!("sold")),
        ("proofs", json!([{"state": {"state": "accepted"}}])),
        ("id", json!(unknown_id())),
        ("member_id", json!(unknown_id())),
    ];
    bodies_with(operation, targets, &smuggled)
}

pub(crate) fn bodies_with(operation: &Operation, targets: &Ids, smuggled: &[(&str, Value)]) -> Vec<Value> {
    let example = with_ids(&operation.example_body().unwrap_or_else(|| json!({})), targets);
    let with = |(name, value): &(&str, Value)| {
        let mut body = example.clone();
        body[*name] = value.clone();
        body
    };
    std::iter::once(example.clone()).chain(smuggled.iter().map(with)).collect()
}

async fn money(org: &Org) -> (Vec<Value>, Vec<Value>) {
    let mut rows = org.state().await;
    rows.retain(|row| {
        row["pk"].as_str().is_some_and(|key| key.contains("#MOVEMENT#") || key.contains("#EVIDENCEKEY#"))
    });
    let mut events = org.events().await;
    events.retain(|event| event["type"].as_str().is_some_and(|kind| kind.starts_with("movement.")));
    (rows, events)
}

pub(crate) fn of_payments(payment: &str) -> Vec<(&'static str, Value)> {
    let member = json!({"type": "member", "id": unknown_id(), "display_name": "Maren"});
    let confirmed = json!({"state": "reconciled", "confirmed_at": Timestamp::now(), "confirmed_by": member,
        "basis": "receiving_bank_statement"});
    vec![
        ("movement_id", json!(payment)),
        ("movement", json!({"id": payment, "state": "reconciled"})),
        ("movements", json!([{"id": payment, "state": "reconciled"}])),
        ("state", json!("reconciled")),
        ("state", json!("authorized")),
        ("status", confirmed),
        ("reconciled", json!(true)),
        ("confirmed_at", json!(Timestamp::now())),
        ("confirmed_by", member.clone()),
        ("confirmation_basis", json!("receiving_bank_statement")),
        ("receipt", json!({"evidence_count": 1, "best_assurance": "bank_verified", "received_minor": 100})),
        ("evidence", json!([{"source": "receiving_bank_statement", "state": "accepted"}])),
        ("claim", json!({"reported_at": Timestamp::now(), "participant_id": unknown_id(), "references": []})),
        ("released", json!({"at": Timestamp::now(), "by": member})),
        ("instructions", json!({"kind": "iban", "number": "DE89370400440532013000"})),
        ("action", json!("reconcile_movement")),
        ("action", json!("authorize_movement")),
        ("facts", json!({"movements": {payment: "reconciled"}})),
    ]
}

#[tokio::test]
async fn no_operation_of_the_api_moves_a_payment() {
    let org = Org::new().await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let Deal { agreement, payments, draft } = Deal::new(&org, [&maren, &ines]).await;
    let before = money(&org).await;
    assert!(before.0.iter().any(|row| row["sk"].as_str().is_some_and(|sort| sort.starts_with("EVIDENCE#"))));
    let proposal =
        org.post("/api/v1/proposals", &json!({"action": "cancel_agreement", "agreement_id": agreement.id()}));
    let proposal = proposal.send().await.json()["id"].as_str().map_or_else(unknown_id, str::to_owned);
    let payment = |name: &str| payments.iter().find(|(state, _)| *state == name).map(|(_, id)| id.to_string());
    let (contact, workspace) = (agreement.participants[1].contact_id, agreement.workspace_id);
    let operations: Vec<Operation> =
        spec::operations(&spec::description(org.base_url()).await).into_iter().filter(Operation::is_write).collect();
    let (revoked, stranger) = (org.issue("Revoked", ops::Scope::ReadWrite, Timestamp::now()).await, Org::new().await);
    org.revoke(revoked.id).await;
    for operation in &operations {
        for (of, movement) in [(agreement.id(), payment("processing")), (draft.0, Some(draft.1.to_string()))] {
            let targets: Ids = BTreeMap::from([
                ("agreement_id".to_owned(), of.to_string()),
                ("contact_id".to_owned(), contact.to_string()),
                ("proposal_id".to_owned(), proposal.clone()),
                ("workspace_id".to_owned(), workspace.to_string()),
                ("trust_id".to_owned(), unknown_id()),
                ("item_id".to_owned(), unknown_id()),
            ]);
            let path = path(operation, &targets);
            let smuggled = of_payments(&movement.expect("a payment"));
            for body in bodies_with(operation, &targets, &smuggled) {
                let answer = org.call(operation.method.clone(), &path).json(&body).send().await;
                assert!(answer.status < 500, "{} {body}: {answer}", operation.id);
            }
            let body = bodies_with(operation, &targets, &[]).remove(0);
            for (client, status) in [
                (org.read_only(), 403),
                (org.with_token(&revoked.value), 401),
                (org.anonymous(), 401),
                (org.with_token(&stranger.token.value), 404),
            ] {
                let answer = client.call(operation.method.clone(), &path).json(&body).send().await;
                // Calls that name no record may succeed in the stranger's own organization.
                let is_own = status == 404 && answer.status < 300;
                assert!(answer.status == status || is_own, "{}: {answer}", operation.id);
            }
        }
    }
    let acts =
        ["", "/authorize", "/instructions", "/claim", "/evidence", "/accept", "/reconcile", "/return", "/cancel"];
    for (_, id) in &payments {
        for act in acts {
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                let path = format!("/api/v1/movements/{id}{act}");
                let body = json!({"state": "reconciled", "reconciled": true});
                let answer = org.call(method.clone(), &path).json(&body).send().await;
                assert_eq!(answer.status, if act.is_empty() { 405 } else { 404 }, "{method} {path}: {answer}");
            }
        }
    }
    assert_eq!(money(&org).await, before, "no record of money and no event of it has changed");
    for movement in org.all("/api/v1/movements").await {
        let is_reconciled = movement["id"].as_str() == payment("reconciled").as_deref();
        assert_eq!(movement["reconciled"], is_reconciled, "{movement}");
        for member in ["confirmed_at", "confirmed_by", "confirmation_basis"] {
            assert_eq!(movement[member].is_null(), !is_reconciled, "{member}: {movement}");
        }
    }
}

#[tokio::test]
async fn no_operation_of_the_api_does_what_only_members_may() {
    let org = Org::new().await;
    let ada = org.person("Ada").await;
    let id = |record: &Value| record["id"].as_str().expect("an id").to_owned();
    let workspace = org.workspace("Harbor").await;
    let seed = drafts::write(&org, drafts::ready(&workspace, "Seed", &ada)).await;
    let live = drafts::write(&org, drafts::active(&drafts::ready(&workspace, "Live", &ada))).await;
    let fresh = drafts::write(&org, drafts::ready(&workspace, "Fresh", &ada)).await;
    let mut targets = Vec::new();
    for (drafted, action) in [(&seed, ProposalAction::PublishAgreement), (&live, ProposalAction::CancelAgreement)] {
        let in_an_hour = Timestamp::now().plus_seconds(3600);
        let proposal = drafts::propose_due(&org, &drafted.agreement, action, in_an_hour).await;
        targets.push((drafted, proposal.id().to_string()));
    }
    targets.push((&fresh, targets[0].1.clone()));
    let trust = json!({"workspace_id": workspace["id"], "formal_name": "The Harbor Trust"});
    let trust = org.post(TRUSTS, &trust).send().await.ok(201);
    let account = json!({"workspace_id": workspace["id"], "label": "Checking", "asset_kind": "bank_account"});
    let item = org.post(ITEMS, &account).send().await.ok(201);
    let ready = org.ready_item(&org.estate("Ellery").await, "A painting").await;
    let of = |(drafted, proposal): &(&drafts::Drafted, String)| -> Ids {
        BTreeMap::from([
            ("agreement_id".to_owned(), drafted.id()),
            ("contact_id".to_owned(), id(&ada)),
            ("proposal_id".to_owned(), proposal.clone()),
            ("workspace_id".to_owned(), id(&workspace)),
            ("trust_id".to_owned(), id(&trust)),
            ("item_id".to_owned(), id(&item)),
            ("item_ids".to_owned(), id(&ready)),
        ])
    };

    let before = protected(&org).await;
    assert_eq!(before.len(), 7, "three agreements, two proposals, two workspaces: {before:?}");
    let mut succeeded = BTreeSet::new();
    let operations: Vec<Operation> =
        spec::operations(&spec::description(org.base_url()).await).into_iter().filter(Operation::is_write).collect();
    for operation in &operations {
        for targets in targets.iter().map(of) {
            for body in bodies(operation, &targets) {
                let answer = org.call(operation.method.clone(), path(operation, &targets)).json(&body).send().await;
                assert!(answer.status < 500, "{} {body}: {answer}", operation.id);
                if answer.status < 300 {
                    succeeded.insert(operation.id.clone());
                }
            }
        }
        let mut after = protected(&org).await;
        for (record, state) in &before {
            assert_eq!(after.remove(record).as_ref(), Some(state), "{} changed {record}", operation.id);
        }
        for (record, state) in after {
            let begun = if record.contains("#WORKSPACE#") {
                state.is_null()
            } else {
                state == json!({"state": if record.contains("#AGREEMENT#") { "draft" } else { "pending" }})
            };
            assert!(begun, "{} made {record}: {state}", operation.id);
        }
    }
    let all: BTreeSet<String> = operations.iter().map(|operation| operation.id.clone()).collect();
    assert_eq!(succeeded, all, "each was let in at least once, or nothing is proven");
    let told: BTreeSet<String> =
        org.events().await.iter().map(|event| event["type"].as_str().expect("a type").to_owned()).collect();
    for kind in [
        "agreement.published",
        "proposal.confirmed",
        "proposal.declined",
        "workspace.activated",
        "funding_item.closed",
        "funding_item.reopened",
    ] {
        assert!(!told.contains(kind), "{told:?}");
    }
    for item in org.all(ITEMS).await {
        assert_eq!((&item["status"], &item["claimed_at"]), (&json!("open"), &Value::Null), "{item}");
        assert!(!["in_progress", "claimed", "done"].contains(&item["phase"].as_str().expect("a phase")), "{item}");
    }
}

#[tokio::test]
async fn a_token_does_not_open_the_app() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let proposal = org.post("/api/v1/proposals", &draft.publication()).send().await.id(201);
    let before = protected(&org).await;
    let authorization = format!("Bearer {}", org.token.value);
    let stranger = Browser::new(org.base_url());
    let payment = format!("/app/money/movements/{}", org.payment(draft.agreement.id(), PaymentTerms::default()).await);
    let of_evidence = format!("{payment}/evidence/{}", unknown_id());
    for path in [
        format!("/app/proposals/{proposal}"),
        format!("/app/workspaces/{}", draft.agreement.workspace_id),
        format!("{payment}/authorize"),
        format!("{payment}/instructions"),
        format!("{payment}/instructions/release"),
        format!("{payment}/claim"),
        format!("{payment}/evidence"),
        format!("{payment}/resolve"),
        format!("{of_evidence}/accept"),
    ] {
        for token in ["", &org.token.value] {
            let form = [("form_token", token), ("version", "1"), ("note", ""), ("decision", "confirm")];
            let refused = stranger.post_with(&path, &form, &[("authorization", &authorization)]).await;
            assert_eq!(refused.status, 303, "{path}");
            assert!(refused.location().starts_with("/app/sign-in"), "{}", refused.location());
        }
    }
    assert_eq!(protected(&org).await, before);
}
