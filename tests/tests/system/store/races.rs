//! Two calls that collide at a chosen moment: one is held between two of its steps until the other is done.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tests::client::Request;
use tests::{Answer, Fault, Org, Rule};

use crate::store::faults::Broken;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

fn path(contact: &Value) -> String {
    format!("{CONTACTS}/{}", id(contact))
}

fn with_reference(reference: &str) -> Value {
    json!({"display_name": "Ada", "kind": "person", "external_reference": reference})
}

fn version(answer: &Answer) -> u64 {
    answer.etag().trim_matches('"').parse().expect("a version's number")
}

/// Sends a call whose step is held, with its retries, until `meanwhile` is done.
pub(super) async fn overtaken(broken: &Broken, call: Request, step: Rule, meanwhile: impl AsyncFnOnce(&Org)) -> Answer {
    let held = broken.faults.inject(step, Fault::Held);
    let overtake = async {
        held.wait_for_hits(1).await;
        meanwhile(&broken.org).await;
        held.end();
    };
    join(call.send(), overtake).await.0
}

async fn later() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

#[tokio::test]
async fn a_contact_that_loses_its_reference_is_not_found_by_it() {
    let broken = Broken::new().await;
    let moved = broken.org.post(CONTACTS, &with_reference("a")).send().await.ok(201);
    let reads_contact = Rule::on("GetItem").containing(format!("#CONTACT#{}", id(&moved)));
    let post = broken.client.post(CONTACTS, &with_reference("a"));
    let answer = overtaken(&broken, post, reads_contact, async |org| {
        org.patch(path(&moved), &json!({"external_reference": "b"})).send().await.ok(200);
    })
    .await;
    let created = answer.ok(201);
    assert_eq!(created["external_reference"], "a");
    assert_ne!(created["id"], moved["id"]);
    let listed = broken.org.all(CONTACTS).await;
    assert_eq!(listed.iter().map(|contact| &contact["external_reference"]).collect::<Vec<_>>(), ["b", "a"]);
}

#[tokio::test]
async fn a_contact_that_gets_the_reference_first_is_found_by_it() {
    let broken = Broken::new().await;
    let other = broken.org.contact("Ben").await;
    let commits = broken.on("TransactWriteItems");
    let answer = overtaken(&broken, broken.client.post(CONTACTS, &with_reference("a")), commits, async |org| {
        org.patch(path(&other), &json!({"external_reference": "a"})).send().await.ok(200);
    })
    .await;
    let found = answer.ok(200);
    assert_eq!((&found["id"], &found["external_reference"]), (&other["id"], &json!("a")));
    assert_eq!(broken.org.all(CONTACTS).await, [found]);
}

#[tokio::test]
async fn upserts_show_their_own_reference_while_contacts_move_between_two() {
    let org = Org::new().await;
    let round = async |n: usize| {
        let (from, to) = (format!("from-{n}"), format!("to-{n}"));
        let moving = org.post(CONTACTS, &with_reference(&from)).send().await.ok(201);
        let moves = async {
            for reference in [&to, &from, &to] {
                let moved = org.patch(path(&moving), &json!({"external_reference": reference})).send().await;
                // An upsert may have created the contact that holds it by now.
                match moved.status {
                    200 => assert_eq!(moved.json()["external_reference"], *reference, "{moved}"),
                    _ => moved.refused_for(422, &[("external_reference", "taken")]),
                }
            }
        };
        let upserts = join_all([&from, &to, &from, &from, &to, &from].map(async |reference: &String| {
            let found = org.post(CONTACTS, &with_reference(reference)).send().await;
            assert!(matches!(found.status, 200 | 201), "{found}");
            assert_eq!(found.json()["external_reference"], *reference, "{found}");
        }));
        join(moves, upserts).await;
    };
    join_all((0..16).map(round)).await;
    let contacts = org.all(CONTACTS).await;
    let references: BTreeSet<String> =
        contacts.iter().map(|contact| contact["external_reference"].to_string()).collect();
    assert_eq!(references.len(), contacts.len(), "two contacts have one reference");
}

#[tokio::test]
async fn a_reference_that_its_own_contact_was_just_given_is_not_taken() {
    let broken = Broken::new().await;
    let contact = broken.org.contact("Ada").await;
    let change = json!({"external_reference": "new"});
    let reads_holder = Rule::on("GetItem").containing("#CONTACTREF#new");
    let patch = broken.client.patch(path(&contact), &change);
    let answer = overtaken(&broken, patch, reads_holder, async |org| {
        org.patch(path(&contact), &change).send().await.ok(200);
    })
    .await;
    assert_eq!(answer.ok(200)["external_reference"], "new");
    assert_eq!(answer.etag(), "\"2\"", "the second change changes nothing");
    assert_eq!(broken.org.all(CONTACTS).await, [answer.json()]);
}

#[tokio::test]
async fn thirty_who_give_one_contact_the_same_reference_all_succeed() {
    let org = Org::new().await;
    let contact = org.contact("Ada").await;
    let change = json!({"external_reference": "new"});
    let answers = join_all((0..30).map(|_| org.patch(path(&contact), &change).send())).await;
    for answer in &answers {
        assert_eq!((answer.ok(200), answer.etag()), (answers[0].ok(200), "\"2\"".to_owned()));
    }
}

#[tokio::test]
async fn a_change_that_came_first_and_is_made_last_does_not_turn_the_clock_back() {
    let broken = Broken::new().await;
    let contact = broken.org.contact("Ada").await;
    let reads_contact = Rule::on("GetItem").containing(format!("#CONTACT#{}", id(&contact)));
    let patch = broken.client.patch(path(&contact), &json!({"display_name": "Ada Lindqvist"}));
    let mut second = Value::Null;
    let answer = overtaken(&broken, patch, reads_contact, async |org| {
        later().await;
        second = org.patch(path(&contact), &json!({"kind": "llc"})).send().await.ok(200);
    })
    .await;
    let third = answer.ok(200);
    assert_eq!((version(&answer), &third["kind"]), (3, &json!("llc")));
    assert!(second["updated_at"].as_str() > contact["updated_at"].as_str());
    assert!(third["updated_at"].as_str() >= second["updated_at"].as_str(), "{second} then {third}");
}

#[tokio::test]
async fn the_moments_of_thirty_changes_at_once_are_in_the_order_of_the_versions() {
    let org = Org::new().await;
    let contact = org.contact("Ada").await;
    let patch = |n: usize| org.patch(path(&contact), &json!({"display_name": format!("Ada {n}")})).send();
    let answers = join_all((0..30).map(patch)).await;
    let mut versions: Vec<(u64, String)> =
        answers.iter().map(|answer| (version(answer), answer.ok(200)["updated_at"].to_string())).collect();
    versions.push((1, contact["updated_at"].to_string()));
    versions.sort();
    assert!(versions.iter().map(|(version, _)| *version).eq(1..=31));
    assert!(versions.is_sorted_by_key(|(_, updated_at)| updated_at), "{versions:?}");
}

/// People are added without waiting for each other; their times too must not go backward.
#[tokio::test]
async fn a_person_who_was_added_first_and_arrives_last_does_not_turn_the_clock_back() {
    let broken = Broken::new().await;
    let (ada, ben) = (broken.org.contact("Ada").await, broken.org.contact("Ben").await);
    let workspace = format!("{WORKSPACES}/{}", id(&broken.org.workspace("Harbor").await));
    let people = format!("{workspace}/contacts");
    let add = |contact: &Value| json!({"contact_id": contact["id"]});
    let commits = broken.on("TransactWriteItems");
    let mut second = Value::Null;
    let answer = overtaken(&broken, broken.client.post(&people, &add(&ada)), commits, async |org| {
        later().await;
        second = org.post(&people, &add(&ben)).send().await.ok(201);
    })
    .await;
    answer.ok(201);
    let last = broken.org.get(&workspace).send().await.ok(200);
    assert_eq!(last["people"].as_array().map(Vec::len), Some(2));
    assert!(last["updated_at"].as_str() >= second["updated_at"].as_str(), "{second} then {last}");
}
