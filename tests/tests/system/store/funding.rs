//! The funding of a workspace at its limit: exact, read at once, and no item that those who add share.

use std::collections::BTreeSet;

use futures_util::stream::{StreamExt, iter};
use serde_json::{Value, json};
use shared::domain::funding::input::NewFundingItem;
use shared::domain::ids::{FundingItemId, WorkspaceId};
use shared::limits;
use shared::service::funding_items;
use shared::wire::input::read;
use tests::funding::{ITEMS, funding_path};
use tests::{Fault, Faults, Org, Rule};

fn new(workspace: &Value, n: usize) -> NewFundingItem {
    read(json!({"workspace_id": workspace["id"], "label": format!("Asset {n}")})).expect("an item")
}

/// Adds items past the API, as an import does, some at a time.
async fn add(org: &Org, workspace: &Value, count: usize) {
    let id: WorkspaceId = workspace["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let all: Vec<_> = (0..count).map(|n| (FundingItemId::new(), new(workspace, n))).collect();
    for some in all.chunks(limits::FUNDING_ITEMS_CREATED_AT_ONCE) {
        let system = org.system();
        let added = system.run(5, || funding_items::create_many(&system, id, some.to_vec())).await;
        assert_eq!(added.expect("the table takes them"), some.len());
        let again = org.system();
        let added = again.run(5, || funding_items::create_many(&again, id, some.to_vec())).await;
        assert_eq!(added.expect("the table answers"), 0, "an import that is repeated adds each once");
    }
}

#[tokio::test]
async fn a_workspace_has_a_thousand_items_and_not_one_more_and_two_reads_show_them() {
    let org = Org::new().await;
    let (workspace, other) = (org.workspace("Harbor").await, org.workspace("Pine").await);
    let most = usize::from(limits::WORKSPACE_FUNDING_ITEMS_MAX);
    add(&org, &workspace, most - 3).await;
    let body = json!({"workspace_id": workspace["id"], "label": "One more"});
    let answers: Vec<_> = iter(0..12).map(|_| org.post(ITEMS, &body).send()).buffer_unordered(6).collect().await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 3, "raced at the limit");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused_for(422, &[("workspace_id", "limit_reached")]);
    }
    org.post(ITEMS, &json!({"workspace_id": other["id"], "label": "Elsewhere"})).send().await.ok(201);

    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    client.get("/api/v1/me").send().await.ok(200);
    drop(faults.take_traffic());
    let schedule = client.get(funding_path(&workspace)).send().await.ok(200);
    let traffic = faults.take_traffic();
    assert_eq!(traffic.calls_of("Query"), 2, "items and trusts");
    assert_eq!((&schedule["summary"]["total"], &schedule["summary"]["unsorted"]), (&json!(most), &json!(most)));
    let items = schedule["items"].as_array().expect("items");
    let ids: BTreeSet<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    assert_eq!((items.len(), ids.len()), (most, most));
    let in_order: Vec<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    assert!(in_order.is_sorted());
    let page = org.get(ITEMS).query("limit", 200).query("offset", 900).send().await.ok(200);
    assert_eq!((&page["pagination"]["total"], page["data"].as_array().map(Vec::len)), (&json!(most + 1), Some(101)));
}

#[tokio::test]
async fn a_place_that_a_failed_call_left_free_is_taken_at_last() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let most = usize::from(limits::WORKSPACE_FUNDING_ITEMS_MAX);
    let body = json!({"workspace_id": workspace["id"], "label": "One"});
    // Refused only after the place was proposed.
    let sensitive = json!({"workspace_id": workspace["id"], "label": "Account 000123456789"});
    for _ in 0..3 {
        org.post(ITEMS, &sensitive).send().await.refused_for(422, &[("label", "sensitive_value")]);
    }
    add(&org, &workspace, most - 2).await;
    for _ in 0..2 {
        org.post(ITEMS, &body).send().await.ok(201);
    }
    org.post(ITEMS, &body).send().await.refused_for(422, &[("workspace_id", "limit_reached")]);
    let summary = org.get(funding_path(&workspace)).send().await.ok(200)["summary"].clone();
    assert_eq!(summary["total"], json!(most));
}

#[tokio::test]
async fn a_papering_whose_response_is_lost_papers_once() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let item = org.ready_item(&estate, "A painting").await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    client.get("/api/v1/me").send().await.ok(200);
    let body = json!({"item_ids": [item["id"]]});
    let lost = faults.inject(Rule::on("TransactWriteItems").times(1), Fault::LostResponse);
    let draft = client.post(tests::funding::PAPER, &body).send().await.ok(201);
    assert_eq!(lost.count(), 1);
    assert_eq!(org.item(&item).await["agreement_id"], draft["id"]);
    assert_eq!(org.total("/api/v1/agreements").await, 1);
    assert_eq!(org.events().await.iter().filter(|event| event["type"] == "funding_item.papered").count(), 1);
}
