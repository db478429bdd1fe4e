//! Earlier releases' data are read as they are and migrated; later releases' data are refused.
//!
//! The fixtures are local data directories of earlier commits, with API responses (`tests/fixtures/README.md`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::Value;
use shared::store::operator::Operator;
use shared::store::versions::{Kind, NEWEST};
use shared::store::{Item, Store};
use tempfile::TempDir;
use tests::app::Browser;
use tests::stack::Table;
use tests::{Client, Needs, Org, Stack, rows};

/// The attribute with a record's schema version.
const SCHEMA: &str = "sv";

/// Facts of each list's records that neither later releases nor time change.
const FACTS: [(&str, &[&str]); 7] = [
    ("contacts", &["id", "display_name", "kind", "email", "external_reference", "created_at", "updated_at"]),
    ("workspaces", &["id", "name", "reference", "activated_at", "created_at"]),
    ("agreements", &["id", "workspace_id", "name", "kind", "published_at", "created_at", "terms", "expires_at"]),
    ("proposals", &["id", "action", "agreement_id", "note", "created_by", "created_at", "expires_at", "decision_note"]),
    (
        "movements",
        &[
            "id",
            "workspace_id",
            "agreement_id",
            "purpose",
            "reference",
            "amount_minor",
            "currency",
            "receipt",
            "created_at",
        ],
    ),
    (
        "obligations",
        &["id", "workspace_id", "agreement_id", "name", "kind", "promisor_participant_ids", "promisee_participant_ids"],
    ),
    ("ledger", &["id", "row_type", "workspace_id", "agreement_id", "title", "amount_minor", "currency"]),
];

/// Lists whose full records the fixtures have.
const IN_FULL: [&str; 4] = ["contacts", "workspaces", "agreements", "proposals"];

struct OldData {
    folder: TempDir,
    answers: Value,
}

impl OldData {
    fn of_format(format: u32) -> Self {
        let folder = TempDir::new().expect("a folder");
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/data-format-{format}.tar.gz"));
        let unpacked = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.expect("tar").success(), "{}", archive.display());
        let answers = std::fs::read(folder.path().join("expected.json")).expect("what the API answered");
        let old = Self { folder, answers: serde_json::from_slice(&answers).expect("JSON") };
        assert_eq!(old.format(), format.to_string());
        old
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn format(&self) -> String {
        std::fs::read_to_string(self.path().join("format")).expect("a format").trim().to_owned()
    }

    /// Marks it as migrated, so that a stack reads its records as they are.
    fn unmigrated(self) -> Self {
        std::fs::write(self.path().join("format"), format!("{}\n", 3 + NEWEST)).expect("a format");
        self
    }

    /// Asserts that a stack returns the earlier release's responses.
    async fn assert_answered_by(&self, stack: &Stack, token: &str) {
        let client = Client::new(&stack.base_url).with_token(token);
        for (list, facts) in FACTS {
            let Some(before) = self.answers[list].as_array() else { continue };
            let page = client.get(format!("/api/v1/{list}")).query("limit", 200).send().await.ok(200);
            let mut now = page["data"].as_array().expect("records").clone();
            if IN_FULL.contains(&list) {
                for record in &mut now {
                    let id = record["id"].as_str().expect("an id").to_owned();
                    *record = client.get(format!("/api/v1/{list}/{id}")).send().await.ok(200);
                }
            }
            assert!(!before.is_empty(), "{list}");
            for before in before {
                let found = now.iter().find(|now| now["id"] == before["id"]);
                let now = found.unwrap_or_else(|| panic!("{list} lack {before}"));
                let of = |record: &Value| -> Vec<Value> { facts.iter().map(|fact| record[fact].clone()).collect() };
                assert_eq!(of(now), of(before), "{list}");
                // Others may have joined since.
                let people = people_of(now);
                assert!(people_of(before).iter().all(|person| people.contains(person)), "{now}");
            }
        }
        for (now, before) in self.agreements(&client).await {
            for part in ["participants", "documents", "stages"] {
                assert_eq!(ids_of(&now[part]), ids_of(&before[part]), "{part} of {}", now["name"]);
            }
        }
    }

    async fn agreements(&self, client: &Client) -> Vec<(Value, Value)> {
        let mut pairs = Vec::new();
        for before in self.answers["agreements"].as_array().expect("agreements") {
            let id = before["id"].as_str().expect("an id");
            pairs.push((client.get(format!("/api/v1/agreements/{id}")).send().await.ok(200), before.clone()));
        }
        pairs
    }
}

fn ids_of(parts: &Value) -> Vec<Value> {
    parts.as_array().expect("parts").iter().map(|part| part["id"].clone()).collect()
}

/// A workspace's contacts; empty for other records.
fn people_of(record: &Value) -> BTreeSet<&str> {
    let people = record["people"].as_array().into_iter().flatten();
    people.map(|person| person["contact_id"].as_str().expect("a contact")).collect()
}

fn reader(stack: &Stack) -> String {
    stack.ready.organizations[0].read_only_token.clone()
}

pub(super) async fn items(table: &Table) -> Vec<Item> {
    let client = table.client();
    let (mut items, mut start) = (Vec::new(), None);
    loop {
        let scan = client.scan().table_name(&table.name).consistent_read(true).set_exclusive_start_key(start);
        let page = scan.send().await.expect("the table is read");
        items.extend(page.items.unwrap_or_default());
        start = page.last_evaluated_key.filter(|key| !key.is_empty());
        if start.is_none() {
            return items;
        }
    }
}

pub(super) async fn put_all(table: &Table, items: Vec<Item>) {
    let client = table.client();
    for item in items {
        client.put_item().table_name(&table.name).set_item(Some(item)).send().await.expect("the table writes");
    }
}

fn text<'a>(item: &'a Item, name: &str) -> &'a str {
    item[name].as_s().expect("a text")
}

/// Asserts that every record has its kind's newest version, and every row the matching layout.
fn assert_migrated(items: &[Item]) {
    let mut kinds = BTreeSet::new();
    for item in items {
        let parts: Vec<&str> = text(item, "pk").split('#').collect();
        let is_alone = text(item, "sk") == ".";
        match parts[..] {
            ["ORG", _, what, _] if is_alone && Kind::parse(what).is_some() => {
                assert_eq!(item[SCHEMA], AttributeValue::N(NEWEST.to_string()), "{item:?}");
                kinds.insert(what.to_owned());
            }
            ["ORG", _, "MOVEMENTS" | "OBLIGATIONS"] => {
                assert!(item.contains_key("z") && !item.contains_key("st"), "a packed row: {item:?}");
            }
            ["ORG", _, "AGREEMENTS"] => assert!(item.contains_key("k") && item.contains_key("p"), "{item:?}"),
            _ => {}
        }
    }
    assert!(kinds.contains("AGREEMENT") && kinds.contains("WORKSPACE"), "{kinds:?}");
}

fn has_authorization_row(items: &[Item]) -> bool {
    items.iter().any(|item| text(item, "pk").ends_with("#AGREEMENTS") && item.contains_key("ta"))
}

async fn home(stack: &Stack) -> tests::app::Page {
    let admin = &stack.ready.organizations[0].members[0];
    let browser = Browser::new(&stack.base_url);
    assert_eq!(browser.sign_in(&admin.email, &admin.password, "/app").await.status, 303);
    browser.get("/app").await
}

/// The local stack migrates what it finds, and records that in its data directory.
#[tokio::test(flavor = "multi_thread")]
async fn the_local_stack_migrates_its_own_data() {
    for format in [3, 4] {
        let old = OldData::of_format(format);
        let stack = Stack::on_data_of(&old.path());
        assert_eq!(old.format(), (3 + NEWEST).to_string(), "migrated once");
        assert_migrated(&items(stack.table()).await);
        old.assert_answered_by(&stack, &reader(&stack)).await;
        assert_eq!(home(&stack).await.status, 200);
    }
}

/// Old records are read as they are until migrated; Home shows a payment once its agreement's row is.
#[tokio::test(flavor = "multi_thread")]
async fn older_records_are_read_as_they_are_and_migrated_while_the_service_runs() {
    for format in [3, 4] {
        let old = OldData::of_format(format).unmigrated();
        let stack = Stack::on_data_of(&old.path());
        let (table, store) = (stack.table(), stack.table().store());
        old.assert_answered_by(&stack, &reader(&stack)).await;
        if format == 4 {
            assert!(!has_authorization_row(&items(table).await));
            assert!(!home(&stack).await.says("To authorize"));
        }
        migrate_under_traffic(&old, &stack, &store).await;
        assert_migrated(&items(table).await);
        if format == 4 {
            assert!(has_authorization_row(&items(table).await));
            assert!(home(&stack).await.says("To authorize"));
        }
        old.assert_answered_by(&stack, &reader(&stack)).await;
        let again = ops::migrate(&store).await.expect("a second migration");
        assert_eq!((again.older(), again.rewritten), (0, 0), "{again:?}");
    }
}

/// Migrates in small pages, each twice, while contacts join a workspace and answers are read.
async fn migrate_under_traffic(old: &OldData, stack: &Stack, store: &Store) {
    let counted = ops::migration::count(store).await.expect("a count");
    assert!(counted.older() > 0 && counted.rewritten == 0, "{counted:?}");

    let client = Client::new(&stack.base_url).with_token(&stack.ready.organizations[0].read_write_token);
    let workspace = &old.answers["workspaces"][0];
    let people = format!("/api/v1/workspaces/{}/contacts", workspace["id"].as_str().expect("an id"));
    let join = async {
        let mut joined = Vec::new();
        for n in 0..8 {
            let contact = serde_json::json!({"display_name": format!("Joined {n}"), "kind": "person"});
            let id = client.post("/api/v1/contacts", &contact).send().await.id(201);
            let body = serde_json::json!({"contact_id": id});
            client.post(&people, &body).send().await.ok(201);
            joined.push(id);
        }
        joined
    };
    let migrate = async {
        let (mut behind, mut rewritten) = (None, 0);
        loop {
            // The next run repeats what a killed run lost.
            let page = || Operator::new(store).migrate_page(behind.as_ref(), 40, false);
            let (done, _) = page().await.expect("a page");
            let (again, next) = page().await.expect("the same page");
            rewritten += done.rewritten + again.rewritten;
            behind = match next {
                Some(next) => Some(next),
                None => return rewritten,
            };
        }
    };
    let (joined, rewritten) = tokio::join!(join, migrate);
    assert!(rewritten > 0 && rewritten <= counted.older(), "{rewritten} of {counted:?}");
    let id = workspace["id"].as_str().expect("an id");
    let now = client.get(format!("/api/v1/workspaces/{id}")).send().await.ok(200);
    let people = people_of(&now);
    assert!(joined.iter().all(|id| people.contains(id.as_str())), "{now}");
}

/// On the configured store: a table with an earlier release's items.
#[tokio::test(flavor = "multi_thread")]
async fn tables_elsewhere_are_migrated_too() {
    let old = OldData::of_format(4).unmigrated();
    let (copied, reader) = {
        let stack = Stack::on_data_of(&old.path());
        (items(stack.table()).await, reader(&stack))
    };
    let host = Stack::with(Needs::SHARED.without_background());
    let copy = Table { endpoint: host.table().endpoint.clone(), name: tests::run_resources::resource_name("table") };
    copy.store().create_table().await.expect("a table");
    put_all(&copy, copied).await;
    let stack = host.on_copy(&copy);
    old.assert_answered_by(&stack, &reader).await;
    let migrated = ops::migrate(&copy.store()).await.expect("a migration");
    assert_eq!(migrated.rewritten, migrated.older(), "{migrated:?}");
    for kind in Kind::ALL {
        assert!(migrated.older.contains_key(&kind), "{kind}: {migrated:?}");
    }
    assert_migrated(&items(&copy).await);
    old.assert_answered_by(&stack, &reader).await;
}

/// A newer release's record is refused with its reason in the log, and stays unchanged.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_a_newer_version_is_refused_with_its_reason() {
    let stack: Arc<Stack> = Stack::with(Needs::OWN.without_background().on_configured_store());
    let org = Org::on(stack.clone()).await;
    let contact = org.contact("Ada").await;
    let id = contact["id"].as_str().expect("an id");
    let key = [("pk", format!("ORG#{}#CONTACT#{id}", org.id)), ("sk", ".".to_owned())];
    let key = key.map(|(name, value)| (name.to_owned(), AttributeValue::S(value)));
    let update = stack.table().client().update_item().table_name(&stack.table().name);
    let update = update.set_key(Some(key.into())).update_expression("SET sv = :newer");
    let newer = AttributeValue::N((NEWEST + 1).to_string());
    update.expression_attribute_values(":newer", newer).send().await.expect("the table writes");

    let path = format!("/api/v1/contacts/{id}");
    let refused = org.get(&path).send().await;
    assert_eq!(refused.status, 500, "{}", refused.json());
    assert!(!refused.json().to_string().contains("schema"), "callers learn nothing of it");
    let log = std::fs::read_to_string(stack.log_file()).expect("the log");
    let cause = format!("a record of schema version {}", NEWEST + 1);
    let line = log.lines().find(|line| line.contains(&refused.request_id())).expect("a line");
    assert!(line.contains(&cause) && line.contains("a newer release wrote it"), "{line}");
    let change = serde_json::json!({"display_name": "Bea"});
    assert_eq!(org.patch(&path, &change).send().await.status, 500, "nor is it overwritten");
    let kept = rows::of_organization(stack.table(), org.id).await;
    assert!(kept.iter().any(|row| row["id"] == id && row["display_name"] == "Ada"), "{kept:?}");
    let refusal = ops::migrate(&stack.table().store()).await.expect_err("a newer record");
    assert!(refusal.to_string().contains("a newer release wrote it"), "{refusal}");
}

/// An older program refuses newer data before it changes anything.
#[tokio::test]
async fn newer_data_are_refused_by_the_local_stack() {
    let old = OldData::of_format(3);
    std::fs::write(old.path().join("format"), format!("{}\n", 4 + NEWEST)).expect("a format");
    let refused = tests::process::Serve::over(crate::STACK, old.path()).refuse().await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("was written by a newer version"), "{said}");
}
