//! A workspace's funding at its limit: exact, read at once, and no item is shared by concurrent additions.

use std::collections::BTreeSet;

use futures_util::future::join;
use futures_util::stream::{StreamExt, iter};
use serde_json::{Value, json};
use shared::domain::actor::Actor;
use shared::domain::funding::input::NewFundingItem;
use shared::domain::funding::{FundingItem, Place};
use shared::domain::ids::{FundingItemId, WorkspaceId};
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::limits;
use shared::service::funding_import;
use shared::store::funding_items as stored;
use shared::wire::fields::FieldCode;
use shared::wire::input::read;
use tests::funding::{ITEMS, TRUSTS, funding_path};
use tests::{Fault, Faults, Org, Rule};

use crate::store::faults::Broken;
use crate::unknown_id;

fn new(workspace: &Value, n: usize) -> NewFundingItem {
    read(json!({"workspace_id": workspace["id"], "label": format!("Asset {n}")})).expect("an item")
}

async fn add(org: &Org, workspace: &Value, count: usize) {
    let id: WorkspaceId = workspace["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let all: Vec<_> = (0..count).map(|n| (FundingItemId::new(), new(workspace, n))).collect();
    let batches = funding_import::check(&org.system(), id, all).await.expect("they are of the workspace");
    let mut all_added = 0;
    for batch in &batches {
        let (system, again) = (org.system(), org.system());
        let added = system.run(5, || funding_import::add(&system, batch)).await;
        all_added += added.expect("the table takes them");
        let added = again.run(5, || funding_import::add(&again, batch)).await;
        assert_eq!(added.expect("the table answers"), 0, "an import that is repeated adds each once");
    }
    assert_eq!(all_added, count);
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
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    client.get("/api/v1/me").send().await.ok(200);
    drop(faults.take_traffic());
    let sensitive = json!({"workspace_id": workspace["id"], "label": "Account 000123456789"});
    for _ in 0..3 {
        client.post(ITEMS, &sensitive).send().await.refused_for(422, &[("label", "sensitive_value")]);
    }
    assert_eq!(faults.take_traffic().calls_of("UpdateItem"), 0);
    let conflicts = faults.inject(Rule::on("TransactWriteItems").times(3), Fault::Conflict);
    client.post(ITEMS, &body).send().await.ok(201);
    assert_eq!(conflicts.count(), 3);
    add(&org, &workspace, most - 3).await;
    for _ in 0..2 {
        org.post(ITEMS, &body).send().await.ok(201);
    }
    org.post(ITEMS, &body).send().await.refused_for(422, &[("workspace_id", "limit_reached")]);
    let summary = org.get(funding_path(&workspace)).send().await.ok(200)["summary"].clone();
    assert_eq!(summary["total"], json!(most));
}

/// An import looks up workspace and trusts once, however many rows; each transaction has two calls before it.
#[tokio::test]
async fn a_thousand_rows_are_checked_once_and_added_in_three_calls_for_each_transaction() {
    const CHECKS: u64 = 3;
    let broken = Broken::new().await;
    let estate = broken.org.estate("Harbor").await;
    let mut trusts = vec![estate.trust["id"].clone()];
    for name in ["The Pine Trust", "The Elm Trust"] {
        let body = json!({"workspace_id": estate.workspace["id"], "formal_name": name});
        trusts.push(broken.org.post(TRUSTS, &body).send().await.ok(201)["id"].clone());
    }
    let rows: usize = limits::WORKSPACE_FUNDING_ITEMS_MAX.into();
    let row = |n: usize| {
        let row = json!({
            "workspace_id": estate.workspace["id"],
            "trust_id": trusts[n % 3],
            "label": format!("Asset {n}"),
            "external_reference": format!("asset-{n}"),
        });
        (FundingItemId::new(), read::<NewFundingItem>(row).expect("an item"))
    };
    let all: Vec<_> = (0..rows).map(row).collect();
    let id: WorkspaceId = estate.workspace["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let system = || broken.system();
    drop(broken.faults.take_traffic());
    let batches = funding_import::check(&system(), id, all).await.expect("they are of the workspace");
    let checked = broken.faults.take_traffic();
    assert_eq!(checked.round_trips(), CHECKS, "the workspace, and the trusts after their pointers: {checked:?}");
    assert_eq!((checked.read_units, checked.write_units), (7.0, 0.0), "one workspace, three pointers, three trusts");
    for batch in &batches {
        let system = system();
        system.run(1, || funding_import::add(&system, batch)).await.expect("the table takes them");
    }
    let added = broken.faults.take_traffic();
    let transactions = u64::try_from(rows.div_ceil(limits::FUNDING_ITEMS_CREATED_AT_ONCE)).expect("a number");
    for call in ["BatchGetItem", "UpdateItem", "TransactWriteItems"] {
        assert_eq!(added.calls_of(call), transactions, "{call}: {added:?}");
    }
    assert_eq!(added.round_trips(), 3 * transactions, "{added:?}");
    assert!(added.read_units <= 2_000.0, "a pointer and a reference for each row: {added:?}");
    let summary = broken.org.get(funding_path(&estate.workspace)).send().await.ok(200)["summary"].clone();
    assert_eq!(summary["total"], json!(rows));
}

#[tokio::test]
async fn what_an_import_names_is_checked_as_the_api_checks_it() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (estate, pine, foreign) = (org.estate("Harbor").await, org.estate("Pine").await, other.estate("Theirs").await);
    let id = |workspace: &Value| workspace["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let row = |workspace: &Value, trust: &Value, reference: &Value| {
        let row = json!({"workspace_id": workspace["id"], "trust_id": trust["id"], "label": "x", "external_reference": reference});
        (FundingItemId::new(), read::<NewFundingItem>(row).expect("an item"))
    };
    let own = || row(&estate.workspace, &estate.trust, &Value::Null);
    let before = (org.state().await, other.state().await);
    let check = async |workspace: &Value, rows: Vec<(FundingItemId, NewFundingItem)>| {
        funding_import::check(&org.system(), id(workspace), rows).await
    };
    let refusal = |result: Result<Vec<funding_import::Batch>, Error>| match result {
        Err(Error::NotFound(errors)) => (404, errors.into_list().remove(0)),
        Err(Error::Invalid(errors)) => (422, errors.into_list().remove(0)),
        other => panic!("no refusal: {other:?}"),
    };
    for (rows, workspace, status, field, code) in [
        (vec![own()], &foreign.workspace, 404, "workspace_id", FieldCode::NotFound),
        (
            vec![own(), row(&estate.workspace, &foreign.trust, &Value::Null)],
            &estate.workspace,
            404,
            "trust_id",
            FieldCode::NotFound,
        ),
        (
            vec![own(), row(&estate.workspace, &json!({"id": unknown_id()}), &Value::Null)],
            &estate.workspace,
            404,
            "trust_id",
            FieldCode::NotFound,
        ),
        (
            vec![own(), row(&estate.workspace, &pine.trust, &Value::Null)],
            &estate.workspace,
            422,
            "trust_id",
            FieldCode::WrongWorkspace,
        ),
        (
            vec![own(), row(&pine.workspace, &estate.trust, &Value::Null)],
            &estate.workspace,
            422,
            "workspace_id",
            FieldCode::WrongWorkspace,
        ),
    ] {
        let (found, error) = refusal(check(workspace, rows).await);
        assert_eq!((found, error.field.as_str(), error.code), (status, field, code));
    }
    assert_eq!((org.state().await, other.state().await), before);

    let batches = check(&estate.workspace, vec![own(), row(&estate.workspace, &estate.trust, &json!("a-1"))]).await;
    let batches = batches.expect("they are of the workspace");
    let body = json!({"workspace_id": pine.workspace["id"], "label": "First", "external_reference": "a-1"});
    org.post(ITEMS, &body).send().await.ok(201);
    let system = org.system();
    let refused = system.run(5, || funding_import::add(&system, &batches[0])).await;
    let Err(Error::Invalid(errors)) = refused else { panic!("no refusal: {refused:?}") };
    let error = errors.into_list().remove(0);
    assert_eq!((error.field.as_str(), error.code), ("external_reference", FieldCode::Taken));
    assert_eq!(org.total(ITEMS).await, 1, "all or none");
}

/// Several megabytes, of which `DynamoDB` returns one per response. No read waits for more than one other.
#[tokio::test]
async fn the_longest_schedule_is_exact_and_takes_two_waits() {
    let broken = Broken::new().await;
    let estate = broken.org.estate("Harbor").await;
    let most = limits::WORKSPACE_FUNDING_ITEMS_MAX;
    let trust = estate.trust["id"].as_str().expect("an id");
    let system = broken.org.system();
    let now = Timestamp::now();
    let item = |n: u16| {
        let place = Place::new(n.into()).expect("a place");
        let added =
            FundingItem::add(FundingItemId::new(), place, new(&estate.workspace, n.into()), Actor::system(), now);
        let whole = json!({"verb": "assign", "trust_id": trust, "owner_contact_ids": [estate.settlor["id"]],
            "detail": {"description": "x".repeat(limits::FACTS_BYTES_MAX - 40)}});
        let sorted = added.expect("an item").sort(read(whole).expect("facts"), now).expect("they fit");
        stored::create(system.call(), &sorted).expect("an item as items")
    };
    for some in (1..=most).collect::<Vec<_>>().chunks(100) {
        broken.org.load(some.iter().map(|n| item(*n))).await;
    }
    broken.client.get("/api/v1/me").send().await.ok(200);
    drop(broken.faults.take_traffic());
    // Holds all reads of the first wait until there are no more, then those of the second.
    let first = broken.faults.inject(broken.on("Query").times(2), Fault::Held);
    let second = broken.faults.inject(broken.on("Query"), Fault::Held);
    let told = async {
        first.wait_for_hits(2).await;
        first.end();
        second.wait_for_hits(RANGES).await;
        second.end();
    };
    let call = broken.client.get(funding_path(&estate.workspace));
    let (answer, ()) = join(call.send(), told).await;
    let schedule = answer.ok(200);
    let traffic = broken.faults.take_traffic();
    assert_eq!(traffic.calls_of("Query"), 2 + u64::try_from(RANGES).expect("a number"), "{traffic:?}");
    let ids: BTreeSet<&str> =
        schedule["items"].as_array().expect("items").iter().filter_map(|item| item["id"].as_str()).collect();
    assert_eq!(ids.len(), usize::from(most), "each once");
    let summary = &schedule["summary"];
    assert_eq!((&summary["total"], &summary["ready"], &summary["done"]), (&json!(most), &json!(most), &json!(0)));
    assert_eq!(schedule["trusts"][0]["item_count"], json!(most));
}

const RANGES: usize = 31;
