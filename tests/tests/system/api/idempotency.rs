//! `Idempotency-Key`: one effect, and the same bytes again.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use tests::{Answer, Faults, Fixture, Org};

use crate::unknown_id;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

fn ada() -> Value {
    json!({"display_name": "Ada", "kind": "person"})
}

#[track_caller]
fn assert_replay(answer: &Answer, original: &Answer) {
    assert!(answer.is_replay(), "{answer}");
    assert_eq!(answer.status, original.status);
    assert_eq!(answer.bytes, original.bytes);
    for header in ["content-type", "etag", "location", "ignored-fields"] {
        assert_eq!(answer.header(header), original.header(header), "{header} of {answer}");
    }
    assert_ne!(answer.request_id(), original.request_id(), "each call has its own request id");
}

#[tokio::test]
async fn a_repeat_gets_the_same_bytes_and_creates_nothing() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let mut posts = 0;
    for post in fixture.operations().filter(|operation| operation.method == "POST") {
        let request = fixture.call(post).key(&post.id);
        let original = request.clone().send().await;
        assert!(original.status < 300, "{original}");
        assert!(!original.is_replay());
        let before = org.state().await;
        for _ in 0..3 {
            assert_replay(&request.clone().send().await, &original);
        }
        assert_eq!(org.state().await, before, "{}", post.id);
        posts += 1;
    }
    assert!(posts > 0);
    assert_eq!((org.total(CONTACTS).await, org.total(WORKSPACES).await), (8, 3));
}

#[tokio::test]
async fn a_replay_is_what_was_answered_then() {
    let org = Org::new().await;
    let original = org.post(CONTACTS, &ada()).key("then").send().await;
    let path = format!("{CONTACTS}/{}", original.id(201));
    org.patch(&path, &json!({"display_name": "Ada Lindqvist"})).send().await.ok(200);
    assert_replay(&org.post(CONTACTS, &ada()).key("then").send().await, &original);
    assert_eq!(org.get(path).send().await.ok(200)["display_name"], "Ada Lindqvist");
}

#[tokio::test]
async fn a_key_may_be_quoted() {
    let org = Org::new().await;
    let original = org.post(CONTACTS, &ada()).key("\"a-key\"").send().await;
    original.ok(201);
    assert_replay(&org.post(CONTACTS, &ada()).key("a-key").send().await, &original);
    org.post(CONTACTS, &ada()).key("A-KEY").send().await.ok(201);
    assert_eq!(org.total(CONTACTS).await, 2);
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let org = Org::new().await;
    let contact = org.contact("Ben").await;
    let workspaces = [org.workspace("One").await, org.workspace("Two").await];
    let people = |n: usize| format!("{WORKSPACES}/{}/contacts", workspaces[n]["id"].as_str().expect("an id"));
    let add = json!({"contact_id": contact["id"]});
    let original = org.post(CONTACTS, &ada()).key("body").send().await;
    original.ok(201);
    org.post(people(0), &add).key("path").send().await.ok(201);
    let before = org.state().await;

    let other_body = json!({"display_name": "Eve", "kind": "person"});
    org.post(CONTACTS, &other_body).key("body").send().await.refused(409);
    let spaced = r#"{ "display_name": "Ada", "kind": "person" }"#;
    org.post(CONTACTS, &ada()).body("application/json", spaced).key("body").send().await.refused(409);
    org.post(WORKSPACES, &json!({"name": "Harbor"})).key("body").send().await.refused(409);
    org.post(people(1), &add).key("path").send().await.refused(409);

    assert_eq!(org.state().await, before);
    assert_replay(&org.post(CONTACTS, &ada()).key("body").send().await, &original);
}

#[tokio::test]
async fn a_refusal_consumes_no_key() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let people = format!("{WORKSPACES}/{}/contacts", workspace["id"].as_str().expect("an id"));
    let request = org.post(CONTACTS, &ada()).key("once");
    let read_only = format!("Bearer {}", org.read_only_token.value);

    org.post(CONTACTS, &json!({}))
        .key("once")
        .send()
        .await
        .refused_for(422, &[("display_name", "required"), ("kind", "required")]);
    request
        .clone()
        .body("text/plain", "hello")
        .send()
        .await
        .refused_for(422, &[("header.content-type", "invalid_value")]);
    org.post(&people, &json!({"contact_id": unknown_id()}))
        .key("once")
        .send()
        .await
        .refused_for(404, &[("contact_id", "not_found")]);
    org.post(format!("{WORKSPACES}/{}/contacts", unknown_id()), &json!({"contact_id": unknown_id()}))
        .key("once")
        .send()
        .await
        .refused(404);
    org.post("/api/v1/nowhere", &ada()).key("once").send().await.refused(404);
    request.clone().without("authorization").send().await.refused(401);
    request.clone().without("authorization").header("authorization", read_only).send().await.refused(403);

    let original = request.clone().send().await;
    original.ok(201);
    assert!(!original.is_replay());
    assert_replay(&request.send().await, &original);
}

#[tokio::test]
async fn a_repeated_upsert_is_recorded_too() {
    let org = Org::new().await;
    let body = json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"});
    let created = org.post(CONTACTS, &body).send().await;
    let existing = org.post(CONTACTS, &body).key("upsert").send().await;
    assert_eq!(existing.ok(200), created.ok(201));
    org.patch(format!("{CONTACTS}/{}", created.id(201)), &json!({"kind": "llc"})).send().await.ok(200);
    assert_replay(&org.post(CONTACTS, &body).key("upsert").send().await, &existing);
    org.post(CONTACTS, &ada()).key("upsert").send().await.refused(409);
    // A key that got 201 gets 201 again, though the reference exists by now.
    let first = json!({"display_name": "Ben", "kind": "person", "external_reference": "crm-2"});
    let original = org.post(CONTACTS, &first).key("first").send().await;
    original.ok(201);
    assert_replay(&org.post(CONTACTS, &first).key("first").send().await, &original);
}

#[tokio::test]
async fn a_patch_has_no_key() {
    let org = Org::new().await;
    let contact = org.contact("Ada").await;
    let path = format!("{CONTACTS}/{}", contact["id"].as_str().expect("an id"));
    let rows = org.state().await.len();
    for (n, key) in ["a-key".to_owned(), "a-key".to_owned(), "k".repeat(300), String::new()].iter().enumerate() {
        let patched = org.patch(&path, &json!({"display_name": format!("Ada {n}")})).key(key).send().await;
        assert_eq!(patched.ok(200)["display_name"], format!("Ada {n}"));
        assert!(!patched.is_replay());
    }
    assert_eq!(org.state().await.len(), rows, "a PATCH recorded a key");
    org.post(CONTACTS, &ada()).key("a-key").send().await.ok(201);
}

#[tokio::test]
async fn a_key_belongs_to_its_organization() {
    let (org, other) = (Org::new().await, Org::new().await);
    let ours = org.post(CONTACTS, &ada()).key("shared").send().await;
    let theirs = other.post(CONTACTS, &ada()).key("shared").send().await;
    assert_ne!(ours.id(201), theirs.id(201));
    assert!(!theirs.is_replay());
    other.post(CONTACTS, &json!({"display_name": "Eve", "kind": "llc"})).key("ours").send().await.ok(201);
    org.post(CONTACTS, &ada()).key("ours").send().await.ok(201);
    let second = org.issue("Second", Scope::ReadWrite, Timestamp::now()).await;
    assert_replay(&org.with_token(&second.value).post(CONTACTS, &ada()).key("shared").send().await, &ours);
}

#[tokio::test]
async fn a_key_is_remembered_for_seven_days_and_then_free() {
    const SEVEN_DAYS_S: i64 = 7 * 24 * 3600;
    let org = Org::new().await;
    let original = org.post(CONTACTS, &ada()).key("old").send().await;
    original.ok(201);
    let is_key = |row: &&Value| row["pk"].as_str().is_some_and(|pk| pk.contains("#KEY#"));
    let state = org.state().await;
    let row = state.iter().find(is_key).expect("the key's record");
    let drop_at: i64 = row["ttl"].as_str().expect("a time to drop it").parse().expect("seconds");
    let left_s = drop_at - Timestamp::now().unix_s();
    assert!((SEVEN_DAYS_S - 600..=SEVEN_DAYS_S).contains(&left_s), "{left_s}");

    // An expired record may exist for days: the table deletes it eventually.
    let table = org.stack().table();
    let attribute = |name: &str| AttributeValue::S(row[name].as_str().expect("a key").to_owned());
    let update =
        table.client().update_item().table_name(&table.name).key("pk", attribute("pk")).key("sk", attribute("sk"));
    let update = update.update_expression("SET #ttl = :now").expression_attribute_names("#ttl", "ttl");
    let now = AttributeValue::N(Timestamp::now().unix_s().to_string());
    update.expression_attribute_values(":now", now).send().await.expect("the record ages");
    let other = json!({"display_name": "Eve", "kind": "llc"});
    let new = org.post(CONTACTS, &other).key("old").send().await;
    assert_ne!(new.id(201), original.id(201));
    assert!(!new.is_replay());
    assert_replay(&org.post(CONTACTS, &other).key("old").send().await, &new);
    org.post(CONTACTS, &ada()).key("old").send().await.refused(409);
}

#[tokio::test]
async fn fifty_identical_posts_at_once_have_one_effect_and_one_answer() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let (agreements, proposals) = ("/api/v1/agreements", "/api/v1/proposals");
    let before = [org.total(agreements).await, org.total(proposals).await];
    for post in fixture.operations().filter(|operation| operation.method == "POST") {
        let request = fixture.call(post).key(format!("fifty {}", post.id));
        let answers = join_all((0..50).map(|_| request.clone().send())).await;
        assert_one_effect(&answers);
    }
    assert_eq!((org.total(CONTACTS).await, org.total(WORKSPACES).await), (8, 3));
    let after = [before[0] + 2, before[1] + 1];
    assert_eq!([org.total(agreements).await, org.total(proposals).await], after);
}

#[tokio::test]
async fn identical_posts_to_two_processes_have_one_effect_and_one_answer() {
    let org = Org::new().await;
    let nothing_broken = Faults::before(&org.stack().table().endpoint);
    let second = org.stack().through(&nothing_broken);
    let clients = [org.at(org.stack()), org.at(&second)];
    let request = |n: usize| clients[n % 2].post(CONTACTS, &ada()).key("two processes").send();
    let answers = join_all((0..50).map(request)).await;
    assert_one_effect(&answers);
    assert_eq!(org.total(CONTACTS).await, 1);
    assert!(nothing_broken.take_traffic().round_trips() > 0);
}

#[track_caller]
fn assert_one_effect(answers: &[Answer]) {
    let status = answers[0].status;
    assert!([200, 201].contains(&status), "{}", answers[0]);
    for answer in answers {
        assert_eq!(answer.ok(status), answers[0].ok(status));
        assert_eq!(answer.bytes, answers[0].bytes);
        assert_eq!(answer.header("etag"), answers[0].header("etag"));
    }
    assert_eq!(answers.iter().filter(|answer| !answer.is_replay()).count(), 1, "one answer is the original");
}

#[tokio::test]
async fn different_posts_with_one_key_at_once_have_one_effect() {
    let org = Org::new().await;
    let request = |n: usize| {
        let body = json!({"display_name": format!("Contact {n}"), "kind": "person"});
        org.post(CONTACTS, &body).key("contested").send()
    };
    let answers = join_all((0..20).map(request)).await;
    let created: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(created.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused(409);
    }
    assert_eq!(org.all(CONTACTS).await, [created[0].json()]);
}
