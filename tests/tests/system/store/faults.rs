//! A table under load, simulated: conflicts, throttling, lost responses, stale reads.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::ids::{EndpointId, EventId};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::service::system::SystemContext;
use shared::store::deliveries::DeliveryKey;
use tests::stack::Table;
use tests::{Answer, Client, Fault, Faults, Org, Rule, Stack, log, rows};

use crate::{in_list, unknown_id};

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";
const WRITE: &str = "TransactWriteItems";
/// Refusals of an item held by the longest transaction. The pauses between so many take at most 4.6 s.
const HELD: usize = 9;

pub struct Broken {
    // Dropped before its proxy.
    pub stack: Arc<Stack>,
    pub client: Client,
    pub faults: Faults,
    pub org: Org,
}

impl Broken {
    pub async fn new() -> Self {
        let org = Org::new().await;
        let faults = Faults::before(&org.stack().table().endpoint);
        let stack = org.stack().through(&faults);
        Self { client: org.at(&stack), stack, faults, org }
    }

    pub fn on(&self, target: &'static str) -> Rule {
        Rule::on(target).containing(self.org.id)
    }

    pub fn system(&self) -> SystemContext {
        SystemContext::begin(&self.stack.table().store(), self.org.id, "fixture", TimeScale::default())
    }

    async fn create(&self) -> Answer {
        self.client.post(CONTACTS, &ada()).send().await
    }

    pub async fn audit_of(&self, request_id: &str) -> Vec<Value> {
        self.org.audit().await.into_iter().filter(|row| row["sk"] == request_id).collect()
    }
}

fn ada() -> Value {
    json!({"display_name": "Ada", "kind": "person"})
}

fn path(contact: &Value) -> String {
    format!("{CONTACTS}/{}", contact["id"].as_str().expect("an id"))
}

#[tokio::test]
async fn an_unknown_caller_is_refused_although_the_trail_cannot_be_written_and_the_log_says_so() {
    let broken = Broken::new().await;
    let trail = broken.faults.inject(Rule::on("PutItem").containing("TRAIL#"), Fault::ServerError);
    let refused = Client::new(&broken.stack.base_url).get(CONTACTS).send().await;
    refused.refused(401);
    assert!(trail.count() > 0);
    // The template's filter for audit failures looks for this.
    let line = log::line(broken.stack.log_file(), &refused.request_id()).await;
    assert!(line["cause"].as_str().is_some_and(|cause| cause.starts_with("no trail entry: ")), "{line}");
}

#[tokio::test]
async fn conflicting_transactions_are_tried_again() {
    let broken = Broken::new().await;
    let conflicts = broken.faults.inject(broken.on(WRITE).times(4), Fault::Conflict);
    let answer = broken.create().await;
    let contact = answer.ok(201);
    assert_eq!(conflicts.count(), 4);
    assert_eq!(broken.org.all(CONTACTS).await, std::slice::from_ref(&contact));
    assert_eq!(broken.audit_of(&answer.request_id()).await.len(), 1);

    let conflicts = broken.faults.inject(broken.on(WRITE).times(4), Fault::Conflict);
    let patched = broken.client.patch(path(&contact), &json!({"kind": "llc"})).send().await.ok(200);
    assert_eq!(conflicts.count(), 4);
    assert_eq!(broken.org.all(CONTACTS).await, [patched]);
}

#[tokio::test]
async fn throttling_is_waited_out() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    for fault in [Fault::Throttling, Fault::ThroughputExceeded, Fault::ServerError] {
        for target in [WRITE, "GetItem", "PutItem", "Query"] {
            let injected = broken.faults.inject(broken.on(target).times(2), fault);
            broken.client.get(path(&contact)).send().await.ok(200);
            broken.client.get(CONTACTS).send().await.ok(200);
            broken.client.patch(path(&contact), &json!({"display_name": unknown_id()})).send().await.ok(200);
            assert!(injected.count() > 0, "{target} is never called");
            injected.end();
        }
    }
    assert_eq!(broken.org.total(CONTACTS).await, 1);
}

#[tokio::test]
async fn endless_throttling_fails_a_call_with_retry_after_and_leaves_nothing_half_done() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    let before = broken.org.state().await;
    let refused = |answer: &Answer| {
        answer.refused(500);
        assert_eq!(answer.header("retry-after"), "2", "{answer}");
    };

    let writes = broken.faults.inject(broken.on(WRITE), Fault::ThroughputExceeded);
    let create = broken.client.post(CONTACTS, &ada()).key("throttled").send();
    let patch = broken.client.patch(path(&contact), &json!({"kind": "llc"})).send();
    let (created, patched) = tokio::join!(create, patch);
    for answer in [&created, &patched] {
        refused(answer);
        assert_eq!(broken.audit_of(&answer.request_id()).await.len(), 1, "a failure has its audit row");
    }
    writes.end();

    let reads = broken.faults.inject(broken.on("GetItem").containing("#CONTACT#"), Fault::Throttling);
    let lists = broken.faults.inject(broken.on("Query"), Fault::Throttling);
    let (read, listed) = tokio::join!(broken.client.get(path(&contact)).send(), broken.client.get(CONTACTS).send());
    for answer in [&read, &listed] {
        refused(answer);
        assert_eq!(broken.audit_of(&answer.request_id()).await.len(), 1, "a failure has its audit row");
    }
    reads.end();
    lists.end();

    let rows = broken.faults.inject(broken.on("PutItem"), Fault::Throttling);
    let read = broken.client.get(path(&contact)).send().await;
    refused(&read);
    assert_eq!(broken.audit_of(&read.request_id()).await.len(), 0);
    rows.end();

    assert_eq!(broken.org.state().await, before);
    let again = broken.client.post(CONTACTS, &ada()).key("throttled").send().await;
    again.ok(201);
    assert!(!again.is_replay());
}

/// A transaction that timed out for the service may still hold its call's audit row.
#[tokio::test]
async fn an_audit_row_that_a_transaction_holds_is_written_after_it() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    let conflicts = broken.faults.inject(broken.on("PutItem").times(HELD), Fault::Conflict);
    let read = broken.client.get(path(&contact)).send().await;
    assert_eq!(read.ok(200), contact);
    assert_eq!(conflicts.count(), HELD);
    assert_eq!(broken.audit_of(&read.request_id()).await.len(), 1);
}

/// A transaction may hold items that are written alone: a session, a claimed delivery, a due entry.
#[tokio::test]
async fn a_write_of_one_item_waits_for_the_transaction_that_holds_it() {
    let org = Org::new().await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let store = Table { endpoint: faults.url().to_owned(), name: org.stack().table().name.clone() }.store();
    let key = DeliveryKey { org: org.id, endpoint: EndpointId::new(), event: EventId::new() };
    let held = |target| faults.inject(Rule::on(target).times(HELD), Fault::Conflict);
    let injected = ["PutItem", "UpdateItem", "DeleteItem"].map(held);
    let (put, updated, deleted) = tokio::join!(
        ops::create_organization(&store, "Held"),
        store.note_health(org.id, key.endpoint, true, Timestamp::now()),
        store.delete_due_delivery(key, Timestamp::now()),
    );
    assert!(put.is_ok() && updated.is_ok() && deleted.is_ok(), "{put:?} {updated:?} {deleted:?}");
    for injection in injected {
        assert_eq!(injection.count(), HELD, "{injection:?}");
    }
}

/// Goal R2, with conflicts that the embedded store never has.
#[tokio::test]
async fn fifty_at_once_succeed_though_every_third_transaction_conflicts() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    let conflicts = broken.faults.inject(broken.on(WRITE).every(3), Fault::Conflict);
    let create = |n: usize| {
        let body = json!({"display_name": format!("Contact {n}"), "kind": "person"});
        broken.client.post(CONTACTS, &body).send()
    };
    let answers = join_all((0..50).map(create)).await;
    for answer in &answers {
        answer.ok(201);
    }
    assert_eq!(broken.org.total(CONTACTS).await, 51);
    assert!(conflicts.count() >= 20, "{}", conflicts.count());

    let patch = |n: usize| {
        let change = match n % 2 {
            0 => json!({"display_name": format!("Ada {n}")}),
            _ => json!({"email": format!("ada-{n}@okafor.example")}),
        };
        broken.client.patch(path(&contact), &change).send()
    };
    let answers = join_all((0..20).map(patch)).await;
    let mut tags: Vec<String> = answers.iter().map(|answer| (answer.ok(200), answer.etag()).1).collect();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 20, "an update was lost");
}

#[tokio::test]
async fn a_conflict_without_end_is_our_failure_and_leaves_nothing_half_done() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    let before = broken.org.state().await;
    let conflicts = broken.faults.inject(broken.on(WRITE), Fault::Conflict);
    let create = broken.client.post(CONTACTS, &ada()).key("never").send();
    let patch = broken.client.patch(path(&contact), &json!({"kind": "llc"})).send();
    let (created, patched) = tokio::join!(create, patch);
    for answer in [&created, &patched] {
        answer.refused(500);
        assert_eq!(broken.audit_of(&answer.request_id()).await.len(), 1, "a failure has its audit row");
    }
    assert_eq!(broken.org.state().await, before);
    conflicts.end();
    let again = broken.client.post(CONTACTS, &ada()).key("never").send().await;
    again.ok(201);
    assert!(!again.is_replay());
}

#[tokio::test]
async fn an_answer_lost_after_the_commit_is_one_effect() {
    let broken = Broken::new().await;
    for (n, key) in [None, Some("lost")].into_iter().enumerate() {
        let lost = broken.faults.inject(broken.on(WRITE).times(1), Fault::LostResponse);
        let body =
            json!({"display_name": format!("Contact {n}"), "kind": "person", "external_reference": format!("ref-{n}")});
        let request = broken.client.post(CONTACTS, &body);
        let request = key.into_iter().fold(request, tests::client::Request::key);
        let answer = request.send().await;
        let contact = answer.ok(201);
        assert_eq!(lost.count(), 1);
        assert!(!answer.is_replay());
        assert_eq!(broken.org.total(CONTACTS).await, n as u64 + 1);
        assert_eq!(broken.org.get(path(&contact)).send().await.ok(200), contact);
        assert_eq!(broken.audit_of(&answer.request_id()).await.len(), 1);
    }
    let contact = broken.org.all(CONTACTS).await.remove(0);
    let lost = broken.faults.inject(broken.on(WRITE).times(1), Fault::LostResponse);
    let tag = broken.org.get(path(&contact)).send().await.etag();
    let patched = broken.client.patch(path(&contact), &json!({"kind": "llc"})).if_match(tag).send().await;
    assert_eq!(patched.ok(200)["kind"], "llc");
    assert_eq!(lost.count(), 1);
    assert_eq!(broken.audit_of(&patched.request_id()).await.len(), 1);

    let lost = broken.faults.inject(broken.on(WRITE).times(1), Fault::LostResponse);
    let workspace = broken.client.post(WORKSPACES, &json!({"name": "Harbor"})).send().await.ok(201);
    assert_eq!(lost.count(), 1);
    let page = broken.client.get(WORKSPACES).send().await.ok(200);
    assert_eq!((&page["data"], &page["pagination"]["total"]), (&json!([in_list(&workspace)]), &json!(1)));
}

async fn assert_one_record(broken: &Broken, answer: &Answer, list: &str) {
    let created = answer.ok(201);
    let page = broken.client.get(list).send().await.ok(200);
    let there = (&page["data"], &page["pagination"]["total"]);
    assert_eq!(there, (&json!([in_list(&created)]), &json!(1)), "the record that the caller got is there, once");
    let audit = broken.audit_of(&answer.request_id()).await;
    assert_eq!(audit.len(), 1);
    assert_eq!((&audit[0]["status"], &audit[0]["code"]), (&json!("201"), &json!("ok")));
    assert_eq!(rows::objects(&audit[0]), [created["id"].as_str().expect("an id")]);
}

#[tokio::test]
async fn the_caller_gets_the_record_of_a_commit_that_lands_late() {
    for (list, body) in [
        (CONTACTS, ada()),
        (CONTACTS, json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"})),
        (WORKSPACES, json!({"name": "Harbor"})),
    ] {
        let broken = Broken::new().await;
        let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::LateCommit);
        let answer = broken.client.post(list, &body).send().await;
        assert_eq!(late.count(), 1);
        assert_one_record(&broken, &answer, list).await;
    }
}

#[tokio::test]
async fn a_commit_that_lands_late_is_what_a_repeat_gets() {
    for (list, body) in [(CONTACTS, ada()), (WORKSPACES, json!({"name": "Harbor"}))] {
        let broken = Broken::new().await;
        let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::LateCommit);
        let request = broken.client.post(list, &body).key("late");
        let original = request.clone().send().await;
        assert_eq!(late.count(), 1);
        assert_one_record(&broken, &original, list).await;
        let again = request.send().await;
        assert!(again.is_replay());
        assert_eq!((again.status, &again.bytes), (201, &original.bytes));
        assert_eq!(again.header("etag"), original.header("etag"));
        assert_eq!(broken.org.total(list).await, 1);
    }
}

#[tokio::test]
async fn a_commit_that_lands_late_is_no_replay() {
    let broken = Broken::new().await;
    let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::LateCommit);
    let answer = broken.client.post(CONTACTS, &ada()).key("late").send().await;
    answer.ok(201);
    assert_eq!(late.count(), 1);
    assert!(!answer.is_replay(), "{answer}");
    let line = log::line(broken.stack.log_file(), &answer.request_id()).await;
    assert_eq!(line["code"], broken.audit_of(&answer.request_id()).await[0]["code"], "log and audit row agree");
}

#[tokio::test]
async fn the_caller_gets_the_record_of_a_commit_whose_every_response_is_lost() {
    let broken = Broken::new().await;
    let lost = broken.faults.inject(broken.on(WRITE), Fault::LostResponse);
    let request = broken.client.post(CONTACTS, &ada()).key("unheard");
    let original = request.clone().send().await;
    assert!(lost.count() > 1, "it is tried again");
    lost.end();
    assert_one_record(&broken, &original, CONTACTS).await;
    let again = request.send().await;
    assert!(again.is_replay());
    assert_eq!(again.bytes, original.bytes);
}

#[tokio::test]
async fn a_change_that_lands_late_is_one_change() {
    let broken = Broken::new().await;
    let (ada, harbor) = (broken.org.contact("Ada").await, broken.org.workspace("Harbor").await);
    let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::LateCommit);
    let change = json!({"kind": "llc", "external_reference": "crm-1"});
    let patched = broken.client.patch(path(&ada), &change).send().await;
    assert_eq!((late.count(), patched.etag()), (1, "\"2\"".to_owned()));
    let now = broken.org.get(path(&ada)).send().await;
    assert_eq!((patched.ok(200), patched.etag()), (now.ok(200), now.etag()));
    assert_eq!(broken.audit_of(&patched.request_id()).await.len(), 1);

    let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::LateCommit);
    let harbor = format!("{WORKSPACES}/{}", harbor["id"].as_str().expect("an id"));
    let added = broken.client.post(format!("{harbor}/contacts"), &json!({"contact_id": ada["id"]})).send().await;
    assert_eq!((late.count(), added.ok(201)), (1, broken.client.get(harbor).send().await.ok(200)));
    assert_eq!(added.json()["people"].as_array().map(Vec::len), Some(1));
    assert_eq!(broken.audit_of(&added.request_id()).await.len(), 1);
}

/// The version in `If-Match` is gone because this very call changed it.
#[tokio::test]
async fn a_change_of_a_named_version_that_lands_late_is_no_conflict() {
    let broken = Broken::new().await;
    let created = broken.create().await;
    let contact = created.ok(201);
    let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::LateCommit);
    let patch = broken.client.patch(path(&contact), &json!({"kind": "llc"})).if_match(created.etag());
    let patched = patch.send().await;
    assert_eq!(late.count(), 1);
    let now = broken.org.get(path(&contact)).send().await;
    assert_eq!((&now.ok(200)["kind"], now.etag()), (&json!("llc"), "\"2\"".to_owned()), "it has taken effect");
    assert_eq!(patched.ok(200), now.json());
    assert_eq!(patched.etag(), now.etag());
    let audit = broken.audit_of(&patched.request_id()).await;
    assert_eq!((audit.len(), &audit[0]["status"]), (1, &json!("200")));
}

/// Reads take 1.5 s and the first commit conflicts: the second, too late for the call's 12 s, meets the audit row.
#[tokio::test]
async fn a_call_that_takes_too_long_fails_and_has_no_effect_later() {
    const READ: Duration = Duration::from_millis(1500);
    const LATE: Duration = Duration::from_millis(8500);
    const NEVER: Duration = Duration::from_mins(10);
    let broken = Broken::new().await;
    let before = broken.org.state().await;
    let slow = broken.faults.inject(Rule::on("GetItem"), Fault::Delay(READ));
    let conflict = broken.faults.inject(broken.on(WRITE).times(1), Fault::Conflict);
    let late = broken.faults.inject(broken.on(WRITE).times(1), Fault::Delay(LATE));
    let lost = broken.faults.inject(broken.on(WRITE), Fault::Delay(NEVER));
    let body = json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"});
    let request = broken.client.post(CONTACTS, &body).key("slow");
    let answer = request.clone().send().await;
    answer.refused(500);
    assert_eq!((slow.count() >= 5, conflict.count(), late.count()), (true, 1, 1));
    let line = log::line(broken.stack.log_file(), &answer.request_id()).await;
    assert_eq!(line["cause"], "took too long");

    late.passed(1).await;
    assert_eq!(broken.org.state().await, before, "a call that failed has taken effect later");
    let audit = broken.audit_of(&answer.request_id()).await;
    assert_eq!((audit.len(), &audit[0]["status"], &audit[0]["code"]), (1, &json!("500"), &json!("internal_error")));

    [slow, lost].iter().for_each(tests::faults::Injection::end);
    let again = request.send().await;
    again.ok(201);
    assert!(!again.is_replay(), "a failure consumes no key");
}

#[tokio::test]
async fn an_audit_row_whose_acknowledgement_is_lost_is_one_row() {
    let broken = Broken::new().await;
    let lost = broken.faults.inject(broken.on("PutItem").containing("#AUDIT#").times(1), Fault::LostResponse);
    let answer = broken.client.get("/api/v1/me").send().await;
    answer.ok(200);
    assert_eq!(lost.count(), 1);
    assert_eq!(broken.audit_of(&answer.request_id()).await.len(), 1);
}

#[tokio::test]
async fn a_stale_read_loses_no_update() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    let id = contact["id"].as_str().expect("an id");
    // The proxy sees the first version, and returns it again after it is gone.
    broken.client.patch(path(&contact), &json!({"email": "ada@okafor.example"})).send().await.ok(200);
    broken.org.patch(path(&contact), &json!({"display_name": "Ada Lindqvist"})).send().await.ok(200);
    let stale = broken.faults.inject(Rule::on("GetItem").containing(id).times(1), Fault::Stale);
    let patched = broken.client.patch(path(&contact), &json!({"kind": "llc"})).send().await.ok(200);
    assert_eq!(stale.count(), 1, "the record was read in another way");
    assert_eq!(patched["display_name"], "Ada Lindqvist");
    assert_eq!(patched["email"], "ada@okafor.example");
    assert_eq!(patched["kind"], "llc");
    assert_eq!(broken.org.get(path(&contact)).send().await.ok(200), patched);
}

#[tokio::test]
async fn a_stale_version_is_not_taken_for_the_one_that_if_match_names() {
    let broken = Broken::new().await;
    let created = broken.create().await;
    let contact = created.ok(201);
    let id = contact["id"].as_str().expect("an id");
    broken.client.patch(path(&contact), &json!({"email": "ada@okafor.example"})).send().await.ok(200);
    let stale = broken.faults.inject(Rule::on("GetItem").containing(id).times(1), Fault::Stale);
    let change = json!({"kind": "llc"});
    broken.client.patch(path(&contact), &change).if_match(created.etag()).send().await.refused(409);
    assert_eq!(stale.count(), 1);
    assert_eq!(broken.org.get(path(&contact)).send().await.ok(200)["kind"], "person");
}

#[tokio::test]
async fn a_key_that_a_stale_read_misses_has_one_effect() {
    let broken = Broken::new().await;
    let request = broken.client.post(CONTACTS, &ada()).key("missed-key");
    let original = request.clone().send().await;
    original.ok(201);
    let stale = broken.faults.inject(Rule::on("GetItem").containing("missed-key").times(1), Fault::Stale);
    let again = request.send().await;
    assert_eq!(stale.count(), 1, "the key was looked up in another way");
    assert!(again.is_replay());
    assert_eq!(again.bytes, original.bytes);
    assert_eq!(broken.org.total(CONTACTS).await, 1);
}

#[tokio::test]
async fn lists_that_come_in_parts_are_whole() {
    let broken = Broken::new().await;
    let contacts: Vec<Value> = join_all((0..7).map(async |n| broken.org.contact(&format!("Contact {n}")).await)).await;
    let workspace = broken.org.workspace("Harbor").await;
    for contact in &contacts {
        let people = format!("{WORKSPACES}/{}/contacts", workspace["id"].as_str().expect("an id"));
        broken.org.post(people, &json!({"contact_id": contact["id"]})).send().await.ok(201);
    }
    let workspace = format!("{WORKSPACES}/{}", workspace["id"].as_str().expect("an id"));
    let read = async |path: &str| broken.client.get(path).send().await.ok(200);
    let whole = (read(CONTACTS).await, read(&workspace).await);
    let pages = broken.faults.inject(broken.on("Query"), Fault::Partial);
    let batches = broken.faults.inject(broken.on("BatchGetItem"), Fault::Partial);
    let in_parts = (read(CONTACTS).await, read(&workspace).await);
    assert_eq!(in_parts, whole);
    assert_eq!(
        (&whole.0["pagination"]["total"], &whole.1["people"][6]["contact_id"]),
        (&json!(7), &whole.0["data"][6]["id"])
    );
    assert!(pages.count() >= 8 && batches.count() >= 7, "{} {}", pages.count(), batches.count());
}

#[tokio::test]
async fn a_call_whose_audit_row_cannot_be_written_fails() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    let failing = broken.faults.inject(broken.on("PutItem").containing("#AUDIT#"), Fault::ServerError);
    broken.client.get("/api/v1/me").send().await.refused(500);
    broken.client.get(path(&contact)).send().await.refused(500);
    broken.client.get(CONTACTS).send().await.refused(500);
    broken.client.get(CONTACTS).query("limit", 0).send().await.refused(500);
    broken.client.get("/api/v1/nowhere").send().await.refused(500);
    assert!(failing.count() >= 5);
    failing.end();
    broken.client.get("/api/v1/me").send().await.ok(200);
}

#[tokio::test]
async fn a_write_whose_audit_row_cannot_be_written_does_not_happen() {
    let broken = Broken::new().await;
    let before = broken.org.state().await;
    let failing = [WRITE, "PutItem"]
        .map(|target| broken.faults.inject(broken.on(target).containing("#AUDIT#"), Fault::ServerError));
    broken.create().await.refused(500);
    assert_eq!(broken.org.state().await, before);
    assert!(failing[0].count() > 0, "the audit row is in the write's own transaction");
}

#[tokio::test]
async fn an_unknown_token_is_refused_though_its_trail_cannot_be_written() {
    let broken = Broken::new().await;
    let failing = broken.faults.inject(Rule::on("PutItem").containing("TRAIL#"), Fault::ServerError);
    let anonymous = broken.client.anonymous();
    anonymous.get("/api/v1/me").send().await.refused(401);
    broken.client.with_token("cs_nonsense").get("/api/v1/me").send().await.refused(401);
    assert!(failing.count() >= 2);
    failing.end();
    // A 401 doesn't wait for its trail.
    let held = broken.faults.inject(Rule::on("PutItem").containing("TRAIL#"), Fault::Held);
    anonymous.get("/api/v1/me").send().await.refused(401);
    held.wait_for_hits(1).await;
    held.end();
}

#[tokio::test]
async fn a_table_that_is_gone_is_our_failure_and_says_nothing_of_itself() {
    let broken = Broken::new().await;
    let contact = broken.create().await.ok(201);
    for target in ["GetItem", "Query", "BatchGetItem", "TransactGetItems", WRITE, "PutItem", "UpdateItem"] {
        broken.faults.inject(Rule::on(target), Fault::ServerError);
    }
    let calls = [
        broken.client.get("/api/v1/me"),
        broken.client.get(CONTACTS),
        broken.client.get(path(&contact)),
        broken.client.post(CONTACTS, &ada()),
        broken.client.patch(path(&contact), &json!({"kind": "llc"})),
    ];
    for answer in join_all(calls.map(tests::client::Request::send)).await {
        answer.refused(500);
        let text = answer.json().to_string().to_lowercase();
        for word in ["dynamo", "table", "aws", "sdk", "internalservererror", "transact"] {
            assert!(!text.contains(word), "{word} is nobody's business: {answer}");
        }
    }
}

#[tokio::test]
async fn numbers_skip_rather_than_repeat() {
    let broken = Broken::new().await;
    let mut references = Vec::new();
    for (n, fault) in
        [Fault::LostResponse, Fault::ServerError, Fault::Throttling, Fault::LostResponse].into_iter().enumerate()
    {
        let injected = broken.faults.inject(broken.on("UpdateItem").times(1), fault);
        let workspace = broken.client.post(WORKSPACES, &json!({"name": format!("Deal {n}")})).send().await.ok(201);
        assert_eq!(injected.count(), 1, "numbers come from an update outside the transaction");
        references.push(workspace["reference"].to_string());
    }
    references.dedup();
    assert_eq!(references.len(), 4);
    assert!(references.is_sorted());
}
