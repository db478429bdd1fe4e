//! What only members may do: no operation of the API publishes, cancels, decides or activates, whatever it is sent. The
//! types say so (see `shared::domain::member`); here it is tried.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::app::Browser;
use tests::fixture::{Ids, path, with_ids};
use tests::spec::{self, Operation};
use tests::{Org, drafts};

use crate::unknown_id;

/// What only members may change, of every record: the state of agreements and proposals, activation of workspaces.
async fn protected(org: &Org) -> BTreeMap<String, Value> {
    let state = |row: &Value| {
        // The acts of an agreement's history lie beside it.
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

/// The body that the description shows, then one for each protected member that an attacker might add.
fn bodies(operation: &Operation, targets: &Ids) -> Vec<Value> {
    let example = with_ids(&operation.example_body().unwrap_or_else(|| json!({})), targets);
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
        ("id", json!(unknown_id())),
        ("member_id", json!(unknown_id())),
    ];
    let with = |(name, value): (&str, Value)| {
        let mut body = example.clone();
        body[name] = value;
        body
    };
    std::iter::once(example.clone()).chain(smuggled.map(with)).collect()
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
    let of = |(drafted, proposal): &(&drafts::Drafted, String)| -> Ids {
        BTreeMap::from([
            ("agreement_id".to_owned(), drafted.id()),
            ("contact_id".to_owned(), id(&ada)),
            ("proposal_id".to_owned(), proposal.clone()),
            ("workspace_id".to_owned(), id(&workspace)),
        ])
    };

    let before = protected(&org).await;
    assert_eq!(before.len(), 6, "three agreements, two proposals, a workspace: {before:?}");
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
    for kind in ["agreement.published", "proposal.confirmed", "proposal.declined", "workspace.activated"] {
        assert!(!told.contains(kind), "{told:?}");
    }
}

/// A token does not open the pages on which members decide.
#[tokio::test]
async fn a_token_does_not_open_the_app() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let proposal = org.post("/api/v1/proposals", &draft.publication()).send().await.id(201);
    let before = protected(&org).await;
    let authorization = format!("Bearer {}", org.token.value);
    let stranger = Browser::new(org.base_url());
    for path in [format!("/app/proposals/{proposal}"), format!("/app/workspaces/{}", draft.agreement.workspace_id)] {
        for token in ["", &org.token.value] {
            let form = [("form_token", token), ("version", "1"), ("note", ""), ("decision", "confirm")];
            let refused = stranger.post_with(&path, &form, &[("authorization", &authorization)]).await;
            assert_eq!(refused.status, 303, "{path}");
            assert!(refused.location().starts_with("/app/sign-in"), "{}", refused.location());
        }
    }
    assert_eq!(protected(&org).await, before);
}
