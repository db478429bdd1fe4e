//! Many at once: nothing lost, nothing twice.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::clockwork::Clockwork;
use tests::{Answer, Faults, Org, eventually};

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

fn path(contact: &Value) -> String {
    format!("{CONTACTS}/{}", contact["id"].as_str().expect("an id"))
}

fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> usize {
    values.into_iter().collect::<BTreeSet<T>>().len()
}

#[tokio::test]
async fn fifty_contacts_created_at_once_are_fifty() {
    let org = Org::new().await;
    let create = |n: usize| {
        let body =
            json!({"display_name": format!("Contact {n}"), "kind": "person", "external_reference": format!("ref-{n}")});
        org.post(CONTACTS, &body).send()
    };
    let created: Vec<Value> = join_all((0..50).map(create)).await.iter().map(|answer| answer.ok(201)).collect();
    let mut listed = org.all(CONTACTS).await;
    assert_eq!(listed.len(), 50);
    listed.retain(|contact| !created.contains(contact));
    assert_eq!(listed, Vec::<Value>::new());
}

#[tokio::test]
async fn fifty_workspaces_created_at_once_have_fifty_references() {
    let org = Org::new().await;
    let create = |n: usize| org.post(WORKSPACES, &json!({"name": format!("Deal {n}")})).send();
    let created: Vec<Value> = join_all((0..50).map(create)).await.iter().map(|answer| answer.ok(201)).collect();
    assert_eq!(distinct(created.iter().map(|workspace| workspace["reference"].to_string())), 50);
    assert_eq!(org.total(WORKSPACES).await, 50);
}

#[tokio::test]
async fn fifty_creates_of_one_reference_are_one_contact() {
    let org = Org::new().await;
    let body = json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"});
    let answers = join_all((0..50).map(|_| org.post(CONTACTS, &body).send())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 201), "{answer}");
        assert_eq!(answer.json(), answers[0].json());
    }
    assert_eq!(org.total(CONTACTS).await, 1);
}

/// In the order of their versions, the responses differ by one field each.
#[tokio::test]
async fn fifty_patches_of_one_contact_are_all_kept() {
    const FIELDS: [&str; 3] = ["display_name", "email", "external_reference"];
    let org = Org::new().await;
    let original = org.contact("Ada").await;
    let value = |n: usize| match FIELDS[n % 3] {
        "email" => format!("ada-{n}@okafor.example"),
        field => format!("{field} {n}"),
    };
    let patch = |n: usize| org.patch(path(&original), &json!({FIELDS[n % 3]: value(n)})).send();
    let answers = join_all((0..50).map(patch)).await;
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.ok(200)[FIELDS[n % 3]], value(n), "a change is in its own answer");
    }

    // A tag is the version's number, from 1.
    let version = |answer: &Answer| answer.etag().trim_matches('"').parse::<u64>().expect("a version's number");
    let mut in_order: Vec<(u64, usize, Value)> =
        answers.iter().enumerate().map(|(n, answer)| (version(answer), n, answer.json())).collect();
    in_order.sort_by_key(|(version, ..)| *version);
    assert!(in_order.iter().map(|(version, ..)| *version).eq(2..=51), "each change made a version of its own");
    let mut current = original.clone();
    for (version, n, next) in in_order {
        current[FIELDS[n % 3]] = json!(value(n));
        current["updated_at"] = next["updated_at"].clone();
        assert_eq!(next, current, "version {version} is the one before it with one change");
    }
    assert_eq!(org.get(path(&original)).send().await.ok(200), current);
    assert_eq!(org.all(CONTACTS).await, [current], "the list shows the last version");
}

#[tokio::test]
async fn of_those_who_change_one_version_at_once_one_wins() {
    let org = Org::new().await;
    let created = org.post(CONTACTS, &json!({"display_name": "Ada", "kind": "person"})).send().await;
    let contact = created.ok(201);
    let patch = |n: usize| {
        org.patch(path(&contact), &json!({"display_name": format!("Ada {n}")})).if_match(created.etag()).send()
    };
    let answers = join_all((0..20).map(patch)).await;
    let won: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(409);
    }
    let last = org.get(path(&contact)).send().await;
    assert_eq!((last.json(), last.etag()), (won[0].json(), won[0].etag()));
}

#[tokio::test]
async fn of_those_who_take_one_reference_at_once_one_gets_it() {
    let org = Org::new().await;
    let contacts = join_all((0..20).map(async |n| org.contact(&format!("Contact {n}")).await)).await;
    let patch = |contact: &Value| org.patch(path(contact), &json!({"external_reference": "contested"})).send();
    let answers = join_all(contacts.iter().map(patch)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused_for(422, &[("external_reference", "taken")]);
    }
    let holders = org.all(CONTACTS).await.into_iter().filter(|contact| contact["external_reference"] == "contested");
    assert_eq!(holders.count(), 1);
}

#[tokio::test]
async fn fifty_people_added_at_once_are_all_there() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let workspace_path = format!("{WORKSPACES}/{}", workspace["id"].as_str().expect("an id"));
    let contacts = join_all((0..50).map(async |n| org.contact(&format!("Contact {n}")).await)).await;
    let add =
        |contact: &Value| org.post(format!("{workspace_path}/contacts"), &json!({"contact_id": contact["id"]})).send();
    let answers = join_all(contacts.iter().map(add)).await;
    for (answer, contact) in answers.iter().zip(&contacts) {
        let people = answer.ok(201)["people"].clone();
        let is_there = people.as_array().expect("people").iter().any(|person| person["contact_id"] == contact["id"]);
        assert!(is_there, "who was added is in the answer: {answer}");
    }
    let people = org.get(workspace_path).send().await.ok(200)["people"].clone();
    let people = people.as_array().expect("people");
    assert_eq!(distinct(people.iter().map(|person| person["contact_id"].to_string())), 50);
    assert_eq!(people.len(), 50);
}

/// People share no item of a transaction: on AWS, and in these tests, such transactions conflict.
#[tokio::test]
async fn those_who_join_at_once_do_not_wait_for_each_other() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let path_of_workspace = format!("{WORKSPACES}/{}", workspace["id"].as_str().expect("an id"));
    let contacts = join_all((0..20).map(async |n| org.contact(&format!("Contact {n}")).await)).await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let counting = org.stack().through(&faults);
    let client = org.at(&counting);
    let people = format!("{path_of_workspace}/contacts");
    drop(faults.take_traffic());
    let add = |contact: &Value| client.post(&people, &json!({"contact_id": contact["id"]})).send();
    for answer in join_all(contacts.iter().map(add)).await {
        answer.ok(201);
    }
    assert_eq!(faults.take_traffic().calls_of("TransactWriteItems"), 20, "each at the first attempt");
    let found = org.get(path_of_workspace).send().await.ok(200);
    assert_eq!((&found["people_count"], found["people"].as_array().map(Vec::len)), (&json!(20), Some(20)));
    // Lists count them within a second, and with the clock on a machine that is slower.
    let clock = Clockwork::of(&org);
    eventually("lists count them all", async || {
        clock.tick().await;
        (org.all(WORKSPACES).await[0]["people_count"] == 20).then_some(())
    })
    .await;

    let ada = path(&contacts[0]);
    let patch = |n: usize| client.patch(&ada, &json!({"display_name": format!("Ada {n}")})).send();
    for answer in join_all((0..20).map(patch)).await {
        answer.ok(200);
    }
    assert!(faults.take_traffic().calls_of("TransactWriteItems") > 20, "transactions on one item conflict");
}

#[tokio::test]
async fn patches_through_two_processes_are_all_kept() {
    let org = Org::new().await;
    let nothing_broken = Faults::before(&org.stack().table().endpoint);
    let second = org.stack().through(&nothing_broken);
    let clients = [org.at(org.stack()), org.at(&second)];
    let contact = org.contact("Ada").await;
    let patch = |n: usize| {
        let change = match n % 2 {
            0 => json!({"display_name": format!("Ada {n}")}),
            _ => json!({"email": format!("ada-{n}@okafor.example")}),
        };
        clients[n / 2 % 2].patch(path(&contact), &change).send()
    };
    let answers = join_all((0..24).map(patch)).await;
    for answer in &answers {
        answer.ok(200);
    }
    assert_eq!(distinct(answers.iter().map(Answer::etag)), 24);
    let last = org.get(path(&contact)).send().await;
    assert!(answers.iter().any(|answer| answer.etag() == last.etag() && answer.json() == last.json()));
}
