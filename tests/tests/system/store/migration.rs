//! Records of another schema version: older ones are read and migrated, newer ones refused.
//!
//! There is no older version yet: the older records here have a number that nothing wrote (`store/versions.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use ops::migration::rewrite;
use serde_json::json;
use shared::store::operator::Operator;
use shared::store::record_kind::RecordKind as Kind;
use shared::store::versions::NEWEST;
use shared::store::{Item, Store};
use tests::stack::Table;
use tests::{Client, Needs, Org, Stack, rows};

use super::restored::{answers, empty_table_beside};

const SCHEMA: &str = "sv";

/// The lists whose rows are written with their records, and the rows of agreements' document names.
const LISTS: [&str; 8] = [
    "AGREEMENTS",
    "AGREEMENTDOCUMENTS",
    "CONTACTS",
    "MOVEMENTS",
    "OBLIGATIONS",
    "PROPOSALS",
    "STATEMENTS",
    "WORKSPACES",
];

/// The kinds of the records that are listed: those whose layout steps can change.
const LISTED: [Kind; 7] = [
    Kind::Agreement,
    Kind::Contact,
    Kind::Movement,
    Kind::Obligation,
    Kind::Proposal,
    Kind::Statement,
    Kind::Workspace,
];

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

fn kind_of(item: &Item) -> Option<Kind> {
    let [_, _, what, _] = text(item, "pk").split('#').collect::<Vec<_>>()[..] else { return None };
    Kind::parse(&what.to_lowercase()).filter(|kind| LISTED.contains(kind) && text(item, "sk") == ".")
}

fn is_row(item: &Item) -> bool {
    let [_, _, list] = text(item, "pk").split('#').collect::<Vec<_>>()[..] else { return false };
    LISTS.contains(&list)
}

/// A record as an older release would have left it. Leaves other items alone.
fn as_older(mut item: Item) -> Item {
    if kind_of(&item).is_some() {
        item.insert(SCHEMA.to_owned(), AttributeValue::N("0".to_owned()));
    }
    item
}

/// Without what each write of a record has anew.
fn of_this_version(item: &Item) -> Item {
    item.iter()
        .filter(|(name, _)| !["v", "stamp"].contains(&name.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

fn version_of(item: &Item) -> u64 {
    item["v"].as_n().expect("a version").parse().expect("a number")
}

fn as_empty(row: &Item) -> Item {
    ["pk", "sk"].map(|name| (name.to_owned(), row[name].clone())).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn older_records_are_read_as_they_are_and_migrated_while_the_service_runs() {
    let first = Stack::with_demo();
    let written = items(first.table()).await;
    let copy = empty_table_beside(&first).await;
    put_all(&copy, written.iter().cloned().map(as_older).collect()).await;
    let (stack, store) = (first.on_copy(&copy), copy.store());
    let organization = &first.ready.organizations[0];
    let token = &organization.read_only_token;
    assert_eq!(answers(&stack, token).await, answers(&first, token).await);

    put_all(&copy, written.iter().filter(|item| is_row(item)).map(as_empty).collect()).await;
    let counted = rewrite(&store, true, None).await.expect("a count");
    let kinds: BTreeSet<Kind> = written.iter().filter_map(kind_of).collect();
    assert!(counted.older.keys().eq(&kinds) && counted.rewritten == 0, "{counted:?}");
    assert!(kinds.len() >= LISTED.len() - 1, "the demo has no statement: {kinds:?}");
    let client = Client::new(&stack.base_url).with_token(&organization.read_write_token);
    let contact =
        written.iter().find(|item| kind_of(item) == Some(Kind::Contact) && text(item, "pk").contains(&organization.id));
    let changed = text(contact.expect("a contact"), "id").to_owned();
    let rewritten = migrate_under_traffic(&client, &changed, &store).await;
    assert!(rewritten > 0 && rewritten <= counted.older(), "{rewritten} of {counted:?}");
    let again = rewrite(&store, false, None).await.expect("a second migration");
    assert_eq!((again.older(), again.rewritten), (0, 0), "{again:?}");

    let by_key = |items: &[Item]| -> BTreeMap<String, Item> {
        let parts = items.iter().filter(|item| kind_of(item).is_some() || is_row(item));
        parts.map(|item| (format!("{} {}", text(item, "pk"), text(item, "sk")), item.clone())).collect()
    };
    let found = by_key(&items(&copy).await);
    for (key, before) in by_key(&written).into_iter().filter(|(key, _)| !key.contains(&changed)) {
        let after = found.get(&key).unwrap_or_else(|| panic!("{key} is gone"));
        assert_eq!(of_this_version(after), of_this_version(&before), "{key}");
        assert!(version_of(after) > version_of(&before), "{key}: lists in memory take the row of a new version");
    }
}

/// Migrates in small pages, each twice, while calls change a contact. Returns how many records were rewritten.
async fn migrate_under_traffic(client: &Client, contact: &str, store: &Store) -> u64 {
    let path = format!("/api/v1/contacts/{contact}");
    let name = |n: u32| format!("Renamed {n}");
    let change = async {
        for n in 1..=8 {
            client.patch(&path, &json!({"display_name": name(n)})).send().await.ok(200);
        }
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
    let ((), rewritten) = tokio::join!(change, migrate);
    assert_eq!(client.get(&path).send().await.ok(200)["display_name"], name(8));
    rewritten
}

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
    let change = json!({"display_name": "Bea"});
    assert_eq!(org.patch(&path, &change).send().await.status, 500, "nor is it overwritten");
    let kept = rows::of_organization(stack.table(), org.id).await;
    assert!(kept.iter().any(|row| row["id"] == id && row["display_name"] == "Ada"), "{kept:?}");
    let refusal = rewrite(&stack.table().store(), false, None).await.expect_err("a newer record");
    assert!(refusal.to_string().contains("a newer release wrote it"), "{refusal}");
}
