use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tests::clockwork::Clockwork;
use tests::{Fault, Faults, Needs, Org, Rule, Stack, drafts};

use crate::{assert_moment, in_list, members, unknown_id};

const WORKSPACES: &str = "/api/v1/workspaces";
const PEOPLE_MAX: usize = 500;

fn path(workspace: &Value) -> String {
    format!("{WORKSPACES}/{}", workspace["id"].as_str().expect("an id"))
}

fn people_path(workspace: &Value) -> String {
    format!("{}/contacts", path(workspace))
}

fn reference_to(contact: &Value) -> Value {
    json!({"contact_id": contact["id"]})
}

fn without_update(workspace: &Value) -> Value {
    let mut workspace = workspace.clone();
    workspace.as_object_mut().expect("an object").remove("updated_at");
    workspace
}

#[tokio::test]
async fn a_workspace_is_created_empty() {
    let org = Org::new().await;
    let workspace = org.post(WORKSPACES, &json!({"name": "  Harbor Street  "})).send().await.ok(201);
    let expected = [
        "activated",
        "activated_at",
        "app_url",
        "created_at",
        "id",
        "name",
        "people",
        "people_count",
        "reference",
        "updated_at",
    ];
    assert_eq!(members(&workspace), expected);
    assert_eq!(workspace["name"], "Harbor Street");
    assert_eq!(workspace["activated"], false);
    assert_eq!(workspace["activated_at"], Value::Null);
    assert_eq!((&workspace["people"], &workspace["people_count"]), (&json!([]), &json!(0)));
    assert_moment(&workspace["created_at"]);
    assert_moment(&workspace["updated_at"]);
    let id = workspace["id"].as_str().expect("an id");
    assert_eq!(uuid::Uuid::try_parse(id).expect("a uuid").get_version_num(), 7);
    let app_url = workspace["app_url"].as_str().expect("an app_url");
    assert!(app_url.starts_with(&format!("{}/app", org.base_url())) && app_url.contains(id), "{app_url}");

    assert_eq!(org.get(path(&workspace)).send().await.ok(200), workspace);
    assert_eq!(org.all(WORKSPACES).await, [in_list(&workspace)]);
}

#[tokio::test]
async fn each_workspace_has_a_reference_of_its_own() {
    let org = Org::new().await;
    let mut references = Vec::new();
    for n in 0..5 {
        let reference = org.workspace(&format!("Deal {n}")).await["reference"].clone();
        let text = reference.as_str().expect("a reference");
        let digits = text.strip_prefix("WS-").expect("WS-");
        assert!(digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
        references.push(text.to_owned());
    }
    let unsorted = references.clone();
    references.sort();
    references.dedup();
    assert_eq!(references, unsorted, "later workspaces have higher numbers");
    assert_eq!(Org::new().await.workspace("First").await["reference"], "WS-000001");
}

#[tokio::test]
async fn two_workspaces_may_have_one_name() {
    let org = Org::new().await;
    let (one, other) = (org.workspace("Harbor").await, org.workspace("Harbor").await);
    assert_ne!(one["id"], other["id"]);
    assert_eq!(org.all(WORKSPACES).await, [in_list(&one), in_list(&other)]);
}

#[tokio::test]
async fn search_looks_in_name_and_reference() {
    let org = Org::new().await;
    let harbor = in_list(&org.workspace("Harbor Straße").await);
    let pine = in_list(&org.workspace("Pine").await);
    let reference = pine["reference"].as_str().expect("a reference");
    for (needle, expected) in [
        ("STRASSE", vec![&harbor]),
        (" harbor ", vec![&harbor]),
        (reference, vec![&pine]),
        (&reference.to_lowercase(), vec![&pine]),
        ("ws-0000", vec![&harbor, &pine]),
        ("Pine WS", vec![]),
        ("cedar", vec![]),
    ] {
        let page = org.get(WORKSPACES).query("search", needle).send().await.ok(200);
        assert_eq!(page["data"], json!(expected), "{needle}");
        assert_eq!(page["pagination"]["total"], expected.len(), "{needle}");
    }
}

#[tokio::test]
async fn a_contact_that_is_added_appears_in_the_people() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let person = |contact: &Value| json!({"contact_id": contact["id"], "display_name": contact["display_name"], "kind": "person"});

    let added = org.post(people_path(&workspace), &reference_to(&ada)).send().await.ok(201);
    let mut expected = workspace.clone();
    expected["people"] = json!([person(&ada)]);
    expected["people_count"] = json!(1);
    assert_eq!(without_update(&added), without_update(&expected));

    let added = org.post(people_path(&workspace), &reference_to(&ben)).send().await.ok(201);
    expected["people"] = json!([person(&ada), person(&ben)]);
    expected["people_count"] = json!(2);
    assert_eq!(without_update(&added), without_update(&expected));
    assert_eq!(org.get(path(&workspace)).send().await.ok(200), added);
    assert_eq!(org.all(WORKSPACES).await, [in_list(&added)]);
}

#[tokio::test]
async fn adding_twice_changes_nothing() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let ada = org.contact("Ada").await;
    let first = org.post(people_path(&workspace), &reference_to(&ada)).send().await.ok(201);
    let before = org.state().await;
    let second = org.post(people_path(&workspace), &reference_to(&ada)).send().await;
    assert_eq!(second.ok(201), first);
    assert!(!second.is_replay());
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn people_are_shown_as_their_contacts_are_now() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let ada = org.contact("Ada").await;
    org.post(people_path(&workspace), &reference_to(&ada)).send().await.ok(201);
    let ada_path = format!("/api/v1/contacts/{}", ada["id"].as_str().expect("an id"));
    org.patch(ada_path, &json!({"display_name": "Ada Trust", "kind": "trust"})).send().await.ok(200);
    let people = org.get(path(&workspace)).send().await.ok(200)["people"].clone();
    assert_eq!(people, json!([{"contact_id": ada["id"], "display_name": "Ada Trust", "kind": "trust"}]));
}

#[tokio::test]
async fn what_is_not_in_the_organization_is_not_found() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (workspace, contact) = (org.workspace("Harbor").await, org.contact("Ada").await);
    let (foreign_workspace, foreign_contact) = (other.workspace("Theirs").await, other.contact("Theirs").await);
    let (before, before_other) = (org.state().await, other.state().await);
    let unknown = json!({"id": unknown_id()});

    let unknown_workspace = org.get(path(&unknown)).send().await;
    unknown_workspace.refused(404);
    for answer in [
        org.get(path(&foreign_workspace)).send().await,
        org.post(people_path(&unknown), &reference_to(&contact)).send().await,
        org.post(people_path(&foreign_workspace), &reference_to(&contact)).send().await,
        org.post(people_path(&foreign_workspace), &reference_to(&foreign_contact)).send().await,
    ] {
        assert_eq!(answer.status, 404, "{answer}");
        assert_eq!(answer.json()["error"]["code"], "not_found");
    }
    let unknown_contact = org.post(people_path(&workspace), &reference_to(&unknown)).send().await;
    unknown_contact.refused_for(404, &[("contact_id", "not_found")]);
    let foreign = org.post(people_path(&workspace), &reference_to(&foreign_contact)).send().await;
    foreign.refused_for(404, &[("contact_id", "not_found")]);
    assert_eq!(foreign.without_request_id(), unknown_contact.without_request_id());

    assert_eq!(org.state().await, before);
    assert_eq!(other.state().await, before_other);
}

#[tokio::test]
async fn a_workspace_has_at_most_five_hundred_people() {
    let org = Org::new().await;
    let create = async |n: usize| org.contact(&format!("Person {n}")).await;
    let contacts: Vec<Value> = stream::iter(0..=PEOPLE_MAX).map(create).buffer_unordered(16).collect().await;
    // Writes all but one directly: that many calls would add nothing.
    let almost_all = contacts[..PEOPLE_MAX - 1].iter().map(|contact| contact["id"].as_str().expect("an id"));
    let workspace = drafts::crowded(&org, "Crowded", almost_all).await;

    let last = org.post(people_path(&workspace), &reference_to(&contacts[PEOPLE_MAX - 1])).send().await.ok(201);
    assert_eq!(last["people"].as_array().map(Vec::len), Some(PEOPLE_MAX));
    assert_eq!(org.all(WORKSPACES).await, [in_list(&last)]);
    let before = org.state().await;
    let refused = org.post(people_path(&workspace), &reference_to(&contacts[PEOPLE_MAX])).send().await;
    refused.refused_for(422, &[("contact_id", "limit_reached")]);
    assert_eq!(org.post(people_path(&workspace), &reference_to(&contacts[0])).send().await.ok(201), last);
    assert_eq!(org.get(path(&workspace)).send().await.ok(200), last);
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn lists_show_who_joined_at_the_latest_when_the_clock_has_passed() {
    let stack = Stack::with(Needs::OWN.without_background().on_configured_store());
    let org = Org::on(stack.clone()).await;
    let (workspace, ada) = (org.workspace("Harbor").await, org.contact("Ada").await);
    let faults = Faults::before(&stack.table().endpoint);
    let shaky = stack.through(&faults);
    let failed = faults.inject(Rule::on("UpdateItem"), Fault::Conflict);
    let joined = org.at(&shaky).post(people_path(&workspace), &reference_to(&ada)).send().await.ok(201);
    assert!(failed.count() > 0, "the figures are written apart");
    let exact = org.get(path(&workspace)).send().await.ok(200);
    assert_eq!((&exact["people_count"], &exact["people"]), (&json!(1), &joined["people"]), "the workspace itself");
    assert_eq!(org.all(WORKSPACES).await[0]["people_count"], 0);
    assert_eq!(Clockwork::of(&org).first_tick().await.counted, 1);
    assert_eq!(org.all(WORKSPACES).await, [in_list(&exact)]);
    assert_eq!(Clockwork::of(&org).first_tick().await.counted, 0, "once");
}
