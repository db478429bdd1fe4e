//! Funding items over the API: adding, sorting, parking, and the schedule.

use serde_json::{Value, json};
use tests::Org;
use tests::funding::{ITEMS, TRUSTS, funding_path, item_path};

use crate::{members, unknown_id};

async fn told(org: &Org) -> Vec<Value> {
    let all = org.events().await;
    let is_mine = |event: &Value| event["type"].as_str().is_some_and(|name| name.starts_with("funding_item."));
    all.into_iter().filter(is_mine).map(|event| json!([event["type"], event["data"]])).collect()
}

#[tokio::test]
async fn a_label_is_enough() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let created = org.post(ITEMS, &json!({"workspace_id": workspace["id"], "label": " Checking "})).send().await;
    let item = created.ok(201);
    for (field, expected) in [
        ("workspace_id", workspace["id"].clone()),
        ("trust_id", Value::Null),
        ("label", json!("Checking")),
        ("asset_kind", json!("other")),
        ("external_reference", Value::Null),
        ("verb", Value::Null),
        ("owner_contact_ids", json!([])),
        ("detail", json!({})),
        ("phase", json!("unsorted")),
        ("missing_facts", json!(["trust_id", "owner_contact_ids"])),
        ("waiting_on", Value::Null),
        ("status", json!("open")),
        ("close_reason", Value::Null),
        ("claimed_at", Value::Null),
        ("agreement_id", Value::Null),
        ("next_step_sentence", json!("Decide what is to be done with it.")),
    ] {
        assert_eq!(item[field], expected, "{field}");
    }
    assert_eq!(members(&item).len(), 19, "those, the id and two times: {item}");
    assert_eq!(created.header("location"), item_path(&item));
    let got = org.get(item_path(&item)).send().await;
    assert_eq!((got.ok(200), got.etag()), (item.clone(), created.etag()));
    assert_eq!(org.all(ITEMS).await, std::slice::from_ref(&item));
    let ids = json!({"funding_item_id": item["id"], "workspace_id": workspace["id"]});
    assert_eq!(told(&org).await, [json!(["funding_item.added", ids])], "no trust, so no trust_id");
}

#[tokio::test]
async fn a_repeat_returns_the_item_and_names_what_it_did_not_store() {
    let org = Org::new().await;
    let (estate, other) = (org.estate("Harbor").await, org.workspace("Pine").await);
    let body = json!({"workspace_id": estate.workspace["id"], "label": "Checking", "external_reference": "a-1"});
    let first = org.post(ITEMS, &body).send().await.ok(201);
    let same = org.post(ITEMS, &body).send().await;
    assert_eq!((same.ok(200), same.header("ignored-fields").as_str()), (first.clone(), ""));
    let differs = json!({
        "workspace_id": estate.workspace["id"],
        "label": "Savings",
        "asset_kind": "vehicle",
        "trust_id": estate.trust["id"],
        "external_reference": "a-1",
    });
    let ignored = org.post(ITEMS, &differs).send().await;
    assert_eq!(ignored.ok(200), first);
    assert_eq!(ignored.header("ignored-fields"), "trust_id, label, asset_kind");
    let elsewhere = json!({"workspace_id": other["id"], "label": "Checking", "external_reference": "a-1"});
    org.post(ITEMS, &elsewhere).send().await.refused_for(422, &[("workspace_id", "wrong_workspace")]);
    assert_eq!((org.total(ITEMS).await, told(&org).await.len()), (1, 1));
    let by_reference = org.get(ITEMS).query("external_reference", "a-1").send().await.ok(200);
    assert_eq!(by_reference["data"], json!([first]));

    // A default that wasn't sent isn't ignored, whatever the item has now.
    let path = format!("{ITEMS}/{}", first["id"].as_str().expect("an id"));
    org.patch(&path, &json!({"asset_kind": "vehicle"})).send().await.ok(200);
    let again = org.post(ITEMS, &body).send().await;
    assert_eq!((again.ok(200)["asset_kind"].as_str(), again.header("ignored-fields").as_str()), (Some("vehicle"), ""));
}

#[tokio::test]
async fn what_an_item_names_is_of_the_organization_and_of_its_workspace() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (estate, foreign) = (org.estate("Harbor").await, other.estate("Theirs").await);
    let pine = org.estate("Pine").await;
    let item = org.funding_item(&estate.workspace, "Checking").await;
    let before = org.state().await;
    let named = |workspace: &Value, trust: &Value| json!({"workspace_id": workspace["id"], "trust_id": trust["id"], "label": "x"});
    let unknown = [("workspace_id", "not_found"), ("trust_id", "not_found")];
    org.post(ITEMS, &named(&foreign.workspace, &foreign.trust)).send().await.refused_for(404, &unknown);
    let wrong = [("trust_id", "wrong_workspace")];
    org.post(ITEMS, &named(&estate.workspace, &pine.trust)).send().await.refused_for(422, &wrong);
    let owners = json!([estate.settlor["id"], foreign.settlor["id"], unknown_id()]);
    let change = json!({"trust_id": foreign.trust["id"], "owner_contact_ids": owners});
    let unknown =
        [("trust_id", "not_found"), ("owner_contact_ids[1]", "not_found"), ("owner_contact_ids[2]", "not_found")];
    org.patch(item_path(&item), &change).send().await.refused_for(404, &unknown);
    org.patch(item_path(&item), &json!({"trust_id": pine.trust["id"]})).send().await.refused_for(422, &wrong);
    assert_eq!(org.state().await, before);
    for path in [item_path(&item), format!("{}/park", item_path(&item)), funding_path(&estate.workspace)] {
        let call =
            if path.ends_with("park") { other.post(&path, &json!({"waiting_on": null})) } else { other.get(&path) };
        call.send().await.refused(404);
    }
    assert_eq!(
        other.get(ITEMS).query("trust_id", estate.trust["id"].as_str().expect("an id")).send().await.ok(200)["data"],
        json!([])
    );
}

#[tokio::test]
async fn sorting_moves_an_item_from_unsorted_to_ready() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let item = org.funding_item(&estate.workspace, "Checking").await;
    let path = item_path(&item);
    let sort = async |change: Value| org.patch(&path, &change).send().await.ok(200);
    let sorted = sort(json!({"asset_kind": "bank_account", "verb": "retitle"})).await;
    let missing = ["trust_id", "owner_contact_ids", "institution", "account_type", "account_last4", "current_title"];
    assert_eq!((&sorted["phase"], &sorted["missing_facts"]), (&json!("gathering"), &json!(missing)));
    let facts = json!({"institution": "First National", "account_type": "checking", "account_last4": "4411"});
    let sorted = sort(json!({"detail": facts, "trust_id": estate.trust["id"]})).await;
    assert_eq!(sorted["missing_facts"], json!(["owner_contact_ids", "current_title"]));
    assert_eq!(sorted["next_step_sentence"], "Add what is missing: the owner, current title.");
    let owners = json!([estate.settlor["id"]]);
    let sorted = sort(json!({"detail": {"current_title": "Sol Settlor"}, "owner_contact_ids": owners})).await;
    assert_eq!((&sorted["phase"], &sorted["missing_facts"]), (&json!("ready"), &json!([])));
    let again = org.patch(&path, &json!({"verb": "retitle"})).send().await;
    assert_eq!(again.ok(200), sorted, "a sort that changes nothing");
    let back = sort(json!({"detail": {"current_title": null}})).await;
    assert_eq!((&back["phase"], &back["detail"]), (&json!("gathering"), &facts));
    let ids = json!({"funding_item_id": item["id"], "workspace_id": estate.workspace["id"], "verb": "retitle"});
    let mut with_trust = ids.clone();
    with_trust["trust_id"] = estate.trust["id"].clone();
    let expected = [json!(["funding_item.sorted", ids]), json!(["funding_item.sorted", with_trust])];
    assert_eq!(told(&org).await[1..], expected, "when the verb or the trust changes, and not for facts");

    org.patch(&path, &json!({"verb": "deed"})).send().await.refused_for(422, &[("verb", "verb_not_allowed")]);
    let vin = json!({"detail": {"vin": "1HGCM82633A004352"}});
    org.patch(&path, &vin).send().await.refused_for(422, &[("detail.vin", "unknown_field")]);
    let card = json!({"detail": {"institution": "4111 1111 1111 1111", "account_last4": "000123456789"}});
    let sensitive = [("detail.account_last4", "sensitive_value"), ("detail.institution", "sensitive_value")];
    let answer = org.patch(&path, &card).send().await;
    let mut errors = answer.errors();
    errors.sort();
    let expected: Vec<_> = sensitive.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect();
    assert_eq!((answer.status, errors), (422, expected));
    let stale = org.patch(&path, &json!({"verb": null})).if_match("\"1\"").send().await;
    stale.refused(409);
    let tag = org.get(&path).send().await.etag();
    let unsorted = org.patch(&path, &json!({"verb": null})).if_match(tag).send().await.ok(200);
    assert_eq!((&unsorted["phase"], &unsorted["verb"]), (&json!("unsorted"), &Value::Null));
}

#[tokio::test]
async fn an_amount_is_an_integer_however_json_writes_it() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let path = item_path(&org.funding_item(&workspace, "Checking").await);
    let change = |amount: Value| json!({"asset_kind": "bank_account", "detail": {"amount_minor": amount}});
    for amount in [json!(10_300), json!(10_300.0)] {
        let changed = org.patch(&path, &change(amount)).send().await.ok(200);
        assert_eq!(changed["detail"].to_string(), r#"{"amount_minor":10300}"#);
    }
    // The last is rounded when read, so it may mean another amount.
    for amount in [json!("10300"), json!(103.5), json!(9_007_199_254_740_993.0)] {
        org.patch(&path, &change(amount)).send().await.refused_for(422, &[("detail.amount_minor", "invalid_type")]);
    }
    for amount in [json!(0), json!(-1.0)] {
        org.patch(&path, &change(amount)).send().await.refused_for(422, &[("detail.amount_minor", "out_of_range")]);
    }
}

#[tokio::test]
async fn leaving_an_item_out_needs_only_a_reason() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let item = org.funding_item(&workspace, "A boat").await;
    let change = json!({"asset_kind": "vehicle", "verb": "leave_out"});
    let sorted = org.patch(item_path(&item), &change).send().await.ok(200);
    assert_eq!((&sorted["phase"], &sorted["missing_facts"]), (&json!("gathering"), &json!(["reason"])));
    let sorted = org.patch(item_path(&item), &json!({"detail": {"reason": "Sold soon"}})).send().await.ok(200);
    assert_eq!(sorted["phase"], "ready");
}

#[tokio::test]
async fn a_hold_is_beside_the_phase_and_cleared_once() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let item = org.funding_item(&workspace, "Checking").await;
    let to = format!("{}/park", item_path(&item));
    let park = async |body: Value| org.post(&to, &body).send().await.ok(200);
    let parked = park(json!({"waiting_on": "institution", "note": "They want a certified copy."})).await;
    assert_eq!((&parked["waiting_on"], &parked["phase"]), (&json!("institution"), &json!("unsorted")));
    assert!(!parked.to_string().contains("certified"), "the remark is in no response");
    assert_eq!(park(json!({"waiting_on": "institution", "note": "They want a certified copy."})).await, parked);
    assert_eq!(park(json!({"waiting_on": "institution"})).await, parked, "its remark stays");
    // Another note is no other hold, and causes no event.
    let again = park(json!({"waiting_on": "institution", "note": "And a stamp."})).await;
    assert_eq!(again["waiting_on"], "institution");
    assert_eq!(park(json!({"waiting_on": "recorder"})).await["waiting_on"], "recorder");
    for _ in 0..2 {
        assert_eq!(park(json!({"waiting_on": null})).await["waiting_on"], Value::Null);
    }
    let ids = json!({"funding_item_id": item["id"], "workspace_id": workspace["id"]});
    let with = |waiting_on: &str| {
        let mut data = ids.clone();
        data["waiting_on"] = json!(waiting_on);
        json!(["funding_item.parked", data])
    };
    let expected = [with("institution"), with("recorder"), json!(["funding_item.parked", ids])];
    assert_eq!(told(&org).await[1..], expected);
    for (body, field, code) in [
        (json!({}), "waiting_on", "required"),
        (json!({"waiting_on": "bank"}), "waiting_on", "invalid_value"),
        (json!({"waiting_on": null, "note": "Never mind."}), "note", "invalid_value"),
        (json!({"waiting_on": "counsel", "note": "account 000123456789"}), "note", "sensitive_value"),
    ] {
        org.post(&to, &body).send().await.refused_for(422, &[(field, code)]);
    }
}

#[tokio::test]
async fn the_schedule_has_everything_and_counts_it() {
    let org = Org::new().await;
    let (estate, other) = (org.estate("Harbor").await, org.workspace("Pine").await);
    let empty = org.get(funding_path(&other)).send().await.ok(200);
    let zero = json!({
        "total": 0, "unsorted": 0, "gathering": 0, "ready": 0, "papered": 0, "in_progress": 0, "claimed": 0,
        "parked": 0, "funded": 0, "unfunded": 0, "done": 0,
    });
    assert_eq!(empty, json!({"workspace_id": other["id"], "trusts": [], "items": [], "summary": zero}));
    let unsorted = org.funding_item(&estate.workspace, "Checking").await;
    let ready = org.ready_item(&estate, "A painting").await;
    org.post(format!("{}/park", item_path(&unsorted)), &json!({"waiting_on": "counsel"})).send().await.ok(200);
    org.funding_item(&other, "Elsewhere").await;
    let schedule = org.get(funding_path(&estate.workspace)).send().await.ok(200);
    assert_eq!(schedule["items"], json!([org.item(&unsorted).await, ready]));
    assert_eq!(schedule["trusts"], org.get(TRUSTS).send().await.ok(200)["data"]);
    assert_eq!(schedule["trusts"][0]["item_count"], 1);
    let mut expected = zero;
    for (name, count) in [("total", 2), ("unsorted", 1), ("ready", 1), ("parked", 1)] {
        expected[name] = json!(count);
    }
    assert_eq!(schedule["summary"], expected);
    org.get(format!("/api/v1/workspaces/{}/funding", unknown_id())).send().await.refused(404);
}

#[tokio::test]
async fn items_are_found_by_workspace_trust_phase_and_label() {
    let org = Org::new().await;
    let (estate, other) = (org.estate("Harbor").await, org.workspace("Pine").await);
    let elsewhere = org.funding_item(&other, "Straße 7").await;
    let ready = org.ready_item(&estate, "A painting").await;
    let unsorted = org.funding_item(&estate.workspace, "Strasse 8").await;
    let found = async |query: &[(&str, &str)]| -> Value {
        let request = query.iter().fold(org.get(ITEMS), |request, (name, value)| request.query(name, value));
        request.send().await.ok(200)["data"].clone()
    };
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let (harbor, trust) = (text(&estate.workspace["id"]), text(&estate.trust["id"]));
    assert_eq!(found(&[]).await, json!([elsewhere, ready, unsorted]), "oldest first, whatever the workspace");
    assert_eq!(found(&[("workspace_id", &harbor)]).await, json!([ready, unsorted]));
    assert_eq!(found(&[("trust_id", &trust)]).await, json!([ready]));
    assert_eq!(found(&[("phase", "unsorted")]).await, json!([elsewhere, unsorted]));
    assert_eq!(found(&[("phase", "unsorted"), ("workspace_id", &harbor)]).await, json!([unsorted]));
    assert_eq!(found(&[("search", "STRASSE"), ("phase", "")]).await, json!([elsewhere, unsorted]));
    assert_eq!(found(&[("search", "strasse"), ("trust_id", &trust)]).await, json!([]));
    org.get(ITEMS).query("phase", "sorted").send().await.refused_for(422, &[("phase", "invalid_value")]);
    org.get(ITEMS).query("status", "open").send().await.refused_for(422, &[("status", "unknown_parameter")]);
}
