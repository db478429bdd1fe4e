use serde_json::{Value, json};
use tests::Org;
use tests::funding::{ITEMS, TRUSTS};

use crate::{assert_moment, members, unknown_id};

fn body(workspace: &Value, reference: &str) -> Value {
    json!({"workspace_id": workspace["id"], "formal_name": "The Ellery Trust", "external_reference": reference})
}

async fn told(org: &Org) -> Vec<Value> {
    let all = org.events().await;
    let mine = all.into_iter().filter(|event| event["type"].as_str().is_some_and(|name| name.starts_with("trust.")));
    mine.map(|event| json!([event["type"], event["data"]])).collect()
}

#[tokio::test]
async fn a_trust_is_a_contact_plus_a_funding_record() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let trust = &estate.trust;
    let expected = [
        "contact_id",
        "created_at",
        "external_reference",
        "formal_name",
        "id",
        "item_count",
        "settlor_contact_ids",
        "trustee_contact_ids",
        "updated_at",
        "workspace_id",
    ];
    assert_eq!(members(trust), expected);
    assert_moment(&trust["created_at"]);
    assert_eq!((&trust["item_count"], &trust["external_reference"]), (&json!(0), &Value::Null));
    assert_eq!(trust["settlor_contact_ids"], json!([estate.settlor["id"]]));
    let contact = format!("/api/v1/contacts/{}", trust["contact_id"].as_str().expect("an id"));
    let contact = org.get(contact).send().await.ok(200);
    assert_eq!((&contact["kind"], &contact["display_name"]), (&json!("trust"), &json!("The Harbor Trust")));
    assert_eq!(org.all(TRUSTS).await, std::slice::from_ref(trust));
    let item = json!({"workspace_id": estate.workspace["id"], "label": "Checking", "trust_id": trust["id"]});
    org.post(ITEMS, &item).send().await.ok(201);
    assert_eq!(org.all(TRUSTS).await[0]["item_count"], 1);
    let ids = json!({"trust_id": trust["id"], "workspace_id": estate.workspace["id"]});
    assert_eq!(told(&org).await, [json!(["trust.created", ids])]);
}

#[tokio::test]
async fn a_repeat_changes_the_trust_and_tells_it_only_if_something_differs() {
    let org = Org::new().await;
    let (workspace, other) = (org.workspace("Harbor").await, org.workspace("Pine").await);
    let (ada, ben) = (org.person("Ada").await, org.person("Ben").await);
    let first = org.post(TRUSTS, &body(&workspace, "t-1")).send().await.ok(201);
    let same = org.post(TRUSTS, &body(&workspace, "t-1")).send().await.ok(200);
    assert_eq!(same, first);
    assert_eq!(told(&org).await.len(), 1, "identical values emit nothing");

    let mut changed = body(&workspace, "t-1");
    changed["formal_name"] = json!("The Ellery Family Trust");
    changed["trustee_contact_ids"] = json!([ada["id"], ben["id"], ada["id"]]);
    let after = org.post(TRUSTS, &changed).send().await.ok(200);
    assert_eq!(after["formal_name"], "The Ellery Family Trust");
    assert_eq!(after["trustee_contact_ids"], json!([ada["id"], ben["id"]]), "each once");
    assert_eq!((&after["id"], &after["contact_id"]), (&first["id"], &first["contact_id"]));
    let contact = format!("/api/v1/contacts/{}", first["contact_id"].as_str().expect("an id"));
    assert_eq!(org.get(contact).send().await.ok(200)["display_name"], "The Ellery Family Trust");
    changed["trustee_contact_ids"] = json!([ben["id"], ada["id"]]);
    assert_eq!(org.post(TRUSTS, &changed).send().await.ok(200), after, "another order is no change");
    let kept =
        json!({"workspace_id": workspace["id"], "formal_name": "The Ellery Family Trust", "external_reference": "t-1"});
    assert_eq!(org.post(TRUSTS, &kept).send().await.ok(200), after, "what is left out stays");
    let types: Vec<Value> = told(&org).await.into_iter().map(|event| event[0].clone()).collect();
    assert_eq!(types, [json!("trust.created"), json!("trust.updated")]);

    let before = org.state().await;
    let elsewhere = org.post(TRUSTS, &body(&other, "t-1")).send().await;
    elsewhere.refused_for(422, &[("workspace_id", "wrong_workspace")]);
    assert_eq!(org.state().await, before);
    assert_eq!(org.total(TRUSTS).await, 1);
}

#[tokio::test]
async fn what_a_trust_names_is_of_the_organization() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (workspace, theirs) = (org.workspace("Harbor").await, other.workspace("Theirs").await);
    let (ada, foreign) = (org.person("Ada").await, other.person("Eve").await);
    let before = org.state().await;
    let named = json!({
        "workspace_id": theirs["id"],
        "formal_name": "The Ellery Trust",
        "settlor_contact_ids": [ada["id"], foreign["id"]],
        "trustee_contact_ids": [unknown_id()],
    });
    org.post(TRUSTS, &named).send().await.refused_for(
        404,
        &[
            ("workspace_id", "not_found"),
            ("settlor_contact_ids[1]", "not_found"),
            ("trustee_contact_ids[0]", "not_found"),
        ],
    );
    for (field, value, code) in [
        ("settlor_contact_ids", Value::Null, "invalid_type"),
        ("settlor_contact_ids", json!("x"), "invalid_type"),
        ("trustee_contact_ids", json!(vec![unknown_id(); 1]), "not_found"),
        ("formal_name", json!("Account 000123456789"), "sensitive_value"),
        ("external_reference", json!(""), "too_short"),
    ] {
        let mut wrong = body(&workspace, "t-1");
        wrong[field] = value;
        let answer = org.post(TRUSTS, &wrong).send().await;
        assert!(answer.errors().iter().all(|(_, found)| found == code), "{field}: {answer}");
    }
    let many: Vec<String> = (0..21).map(|_| unknown_id()).collect();
    let mut wrong = body(&workspace, "t-1");
    wrong["settlor_contact_ids"] = json!(many);
    org.post(TRUSTS, &wrong).send().await.refused_for(422, &[("settlor_contact_ids", "limit_reached")]);
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn trusts_are_found_by_workspace_name_and_reference() {
    let org = Org::new().await;
    let (harbor, pine) = (org.workspace("Harbor").await, org.workspace("Pine").await);
    let mut made = Vec::new();
    for (n, (workspace, name)) in
        [(&pine, "The Straße Trust"), (&harbor, "The Ellery Trust"), (&pine, "The Okafor Trust")]
            .into_iter()
            .enumerate()
    {
        let body =
            json!({"workspace_id": workspace["id"], "formal_name": name, "external_reference": format!("t-{n}")});
        made.push(org.post(TRUSTS, &body).send().await.ok(201));
    }
    assert_eq!(org.all(TRUSTS).await, made, "oldest first, whatever the workspace");
    let found = async |query: &[(&str, &str)]| -> Vec<Value> {
        let request = query.iter().fold(org.get(TRUSTS), |request, (name, value)| request.query(name, value));
        request.send().await.ok(200)["data"].as_array().expect("rows").clone()
    };
    let pine = pine["id"].as_str().expect("an id");
    assert_eq!(found(&[("workspace_id", pine)]).await, [made[0].clone(), made[2].clone()]);
    assert_eq!(found(&[("search", "STRASSE")]).await, [made[0].clone()]);
    assert_eq!(found(&[("external_reference", "t-1")]).await, [made[1].clone()]);
    assert_eq!(found(&[("external_reference", "t-1"), ("workspace_id", pine)]).await, [] as [Value; 0]);
    assert_eq!(found(&[("workspace_id", &unknown_id())]).await, [] as [Value; 0]);
    let page = org.get(TRUSTS).query("limit", 1).query("offset", 1).send().await.ok(200);
    assert_eq!((&page["data"], &page["pagination"]["total"]), (&json!([made[1]]), &json!(3)));
}
