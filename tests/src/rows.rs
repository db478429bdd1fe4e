//! Reads and changes the table's rows directly.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::crypto::{CookieSecret, TokenHash};
use shared::domain::contact::Email;
use shared::domain::ids::{MemberId, OrgId, ParticipantId};
use shared::domain::time::Timestamp;
use shared::store::due::DueEntry;
use shared::store::keys::{Due, Item, Key};

use crate::app::Browser;
use crate::stack::Table;

/// All rows of the table, from one scan while nothing is written.
#[derive(Debug, Clone)]
pub struct Snapshot(Vec<Value>);

impl Snapshot {
    /// Scans the table.
    pub async fn of(table: &Table) -> Self {
        Self(all(table).await)
    }

    /// The audit rows of an organization.
    #[must_use]
    pub fn audit(&self, org: OrgId) -> Vec<&Value> {
        self.under(&format!("ORG#{org}#AUDIT#"))
    }

    /// An organization's events as subscribers get them, oldest first.
    #[must_use]
    pub fn events(&self, org: OrgId) -> Vec<Value> {
        let mut rows = self.under(&format!("ORG#{org}#EVENT#"));
        rows.sort_by_key(|row| row["id"].to_string());
        let body = |row: &&Value| serde_json::from_str(row["body"].as_str().expect("a body")).expect("a body of JSON");
        rows.iter().map(body).collect()
    }

    /// Partition and sort keys of an organization's due entries, by sort key.
    #[must_use]
    pub fn due(&self, org: OrgId) -> Vec<(String, String)> {
        let of_org = format!("#{org}#");
        let mut keys: Vec<_> = self.under("DUE#").into_iter().map(key).filter(|(_, sk)| sk.contains(&of_org)).collect();
        keys.sort_by(|a, b| a.1.cmp(&b.1));
        keys
    }

    /// All rows in an organization's partitions except audit rows, notes of uploads and logs of lists, in a stable order.
    #[must_use]
    pub fn of_organization(&self, org: OrgId) -> Vec<&Value> {
        let mut rows = self.under(&format!("ORG#{org}"));
        let is_left_out = |pk: &str| pk.contains("#AUDIT#") || pk.contains("#STOREDFILE#") || pk.contains("#LOG");
        rows.retain(|row| row["pk"].as_str().is_some_and(|pk| !is_left_out(pk)));
        rows.sort_by_key(|row| (row["pk"].to_string(), row["sk"].to_string()));
        rows
    }

    fn under(&self, prefix: &str) -> Vec<&Value> {
        self.0.iter().filter(|row| row["pk"].as_str().is_some_and(|pk| pk.starts_with(prefix))).collect()
    }
}

/// A row's partition and sort key.
#[must_use]
pub fn key(row: &Value) -> (String, String) {
    let text = |name: &str| row[name].as_str().expect("a key is a text").to_owned();
    (text("pk"), text("sk"))
}

/// An organization's audit rows, oldest first, if they have one shard: those of a stack on more have others, too.
pub async fn audit(table: &Table, org: OrgId) -> Vec<Value> {
    partition(&table.client(), table, &format!("ORG#{org}#AUDIT#1")).await
}

pub(crate) async fn partition(client: &Client, table: &Table, key: &str) -> Vec<Value> {
    let pages = client
        .query()
        .table_name(&table.name)
        .consistent_read(true)
        .key_condition_expression("pk = :pk")
        .expression_attribute_values(":pk", AttributeValue::S(key.to_owned()))
        .into_paginator()
        .items()
        .send();
    pages.collect::<Result<Vec<_>, _>>().await.expect("the table answers a query").into_iter().map(plain).collect()
}

/// An organization's events as subscribers get them, oldest first.
pub async fn events(table: &Table, org: OrgId) -> Vec<Value> {
    Snapshot::of(table).await.events(org)
}

/// Sort keys of an organization's due entries, in order.
pub async fn due(table: &Table, org: OrgId) -> Vec<String> {
    due_keys(table, org).await.into_iter().map(|(_, sort)| sort).collect()
}

/// Partition and sort keys of an organization's due entries, by sort key.
pub async fn due_keys(table: &Table, org: OrgId) -> Vec<(String, String)> {
    Snapshot::of(table).await.due(org)
}

/// An organization's due entries of one kind.
pub async fn due_items(table: &Table, org: OrgId, what: Due) -> Vec<Item> {
    let pages = table.client().scan().table_name(&table.name).consistent_read(true).into_paginator().items().send();
    let items: Vec<Item> = pages.collect::<Result<_, _>>().await.expect("the table answers a scan");
    let is_one =
        |item: &Item| Key::of(item).and_then(DueEntry::of).is_some_and(|entry| (entry.what, entry.org) == (what, org));
    items.into_iter().filter(is_one).collect()
}

/// All rows of the table.
pub async fn all(table: &Table) -> Vec<Value> {
    let pages = table.client().scan().table_name(&table.name).consistent_read(true).into_paginator().items().send();
    pages.collect::<Result<Vec<_>, _>>().await.expect("the table answers a scan").into_iter().map(plain).collect()
}

/// When a participant was last seen, according to their access.
pub async fn seen_at(table: &Table, participant: ParticipantId) -> Value {
    let access = format!("ACCESS#{participant}");
    let row = all(table).await.into_iter().find(|row| row["sk"] == access.as_str());
    row.expect("the participant has followed a link")["seen_at"].clone()
}

/// The bytes of all files stored with a participant's link.
pub async fn file_bytes(table: &Table, participant: ParticipantId) -> u64 {
    let access = format!("ACCESS#{participant}");
    let row = all(table).await.into_iter().find(|row| row["sk"] == access.as_str());
    let row = row.expect("the participant has followed a link");
    row["file_bytes"].as_str().map_or(0, |bytes| bytes.parse().expect("a number"))
}

/// Sets the bytes of files stored with a participant's link.
pub async fn store_file_bytes(table: &Table, participant: ParticipantId, bytes: u64) {
    let access = format!("ACCESS#{participant}");
    let row = all(table).await.into_iter().find(|row| row["sk"] == access.as_str());
    let (partition, sort) = key(&row.expect("the participant has followed a link"));
    let update = table.client().update_item().table_name(&table.name);
    let update = update.key("pk", AttributeValue::S(partition)).key("sk", AttributeValue::S(sort));
    let update = update.update_expression("SET file_bytes = :bytes");
    let update = update.expression_attribute_values(":bytes", AttributeValue::N(bytes.to_string()));
    update.send().await.expect("the table takes an update");
}

/// Changes when a member's session began and was last used.
pub async fn age_session(table: &Table, secret: &str, created_at: Timestamp, seen_at: Timestamp) {
    let secret = shared::crypto::CookieSecret::parse(secret).expect("a session's secret");
    age(table, shared::store::keys::session(secret.hash()), created_at, seen_at).await;
}

/// The same for a participant's session.
pub async fn age_participant_session(table: &Table, secret: &str, created_at: Timestamp, seen_at: Timestamp) {
    let secret = shared::crypto::CookieSecret::parse(secret).expect("a session's secret");
    age(table, shared::store::keys::participant_session(secret.hash()), created_at, seen_at).await;
}

async fn age(table: &Table, session: Key, created_at: Timestamp, seen_at: Timestamp) {
    let update = table
        .client()
        .update_item()
        .table_name(&table.name)
        .set_key(Some(session.into_item()))
        .update_expression("SET created_at = :created, seen_at = :seen")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_values(":created", AttributeValue::S(created_at.to_string()))
        .expression_attribute_values(":seen", AttributeValue::S(seen_at.to_string()));
    update.send().await.expect("the session is there");
}

/// Makes a second factor's used codes valid again, so that tests needn't wait for the next.
pub async fn forget_used_codes(table: &Table, email: &str) {
    let email = Email::parse(email).expect("an address");
    let update = table
        .client()
        .update_item()
        .table_name(&table.name)
        .set_key(Some(shared::store::keys::second_factor(&email).into_item()))
        .update_expression("SET last_step = :none")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_values(":none", AttributeValue::N("0".to_owned()));
    update.send().await.expect("the second factor is on");
}

/// Makes a token some seconds older.
pub async fn age_token(table: &Table, value: &str, seconds: i64) {
    let hash = TokenHash::of(value).expect("a token");
    let update = table
        .client()
        .update_item()
        .table_name(&table.name)
        .set_key(Some(shared::store::keys::token_by_hash(hash).into_item()))
        .update_expression("SET created_at = :then")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_values(":then", AttributeValue::S(Timestamp::now().plus_seconds(-seconds).to_string()));
    update.send().await.expect("the token is there");
}

/// Dates the last wrong password (`account`) or code (`code`) ahead: the next must wait longer than a test takes.
pub async fn postpone_login(table: &Table, kind: &str, email: &str) {
    postpone(table, shared::store::keys::failed_logins(kind, email)).await;
}

/// Like [`postpone_login`], for attempts in a browser that has signed in to the account before.
pub async fn postpone_login_in(table: &Table, browser: &Browser, email: &str) {
    let secret = browser.cookie("browser").and_then(|cookie| CookieSecret::parse(&cookie)).expect("a known browser");
    postpone(table, shared::store::keys::failed_logins_on_device(secret.hash(), email)).await;
}

async fn postpone(table: &Table, key: Key) {
    let update = table
        .client()
        .update_item()
        .table_name(&table.name)
        .set_key(Some(key.into_item()))
        .update_expression("SET last_at_ms = last_at_ms + :minute")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_values(":minute", AttributeValue::N("60000".to_owned()));
    update.send().await.expect("a wrong one was tried");
}

/// Changes a member's role, bypassing the app.
pub async fn set_role(table: &Table, org: OrgId, member: MemberId, role: &str) {
    let update = table
        .client()
        .update_item()
        .table_name(&table.name)
        .set_key(Some(shared::store::keys::member(org, member).into_item()))
        .update_expression("SET #role = :role")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_names("#role", "role")
        .expression_attribute_values(":role", AttributeValue::S(role.to_owned()));
    update.send().await.expect("the member is there");
}

/// Sets a text in a row, such as a time.
pub async fn set_text(table: &Table, row: &Value, name: &str, text: &str) {
    set(table, row, name, AttributeValue::S(text.to_owned())).await;
}

/// Sets a number in a row, such as a moment.
pub async fn set_number(table: &Table, row: &Value, name: &str, number: i64) {
    set(table, row, name, AttributeValue::N(number.to_string())).await;
}

async fn set(table: &Table, row: &Value, name: &str, value: AttributeValue) {
    let key = |name: &str| AttributeValue::S(row[name].as_str().expect("a key").to_owned());
    let update = table
        .client()
        .update_item()
        .table_name(&table.name)
        .key("pk", key("pk"))
        .key("sk", key("sk"))
        .update_expression("SET #name = :value")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_names("#name", name)
        .expression_attribute_values(":value", value);
    update.send().await.expect("the row is there");
}

/// The account with an address.
pub async fn account(table: &Table, email: &str) -> Value {
    let get = table.client().get_item().table_name(&table.name).set_key(Some(account_key(email))).consistent_read(true);
    plain(get.send().await.expect("the table answers").item.expect("an account"))
}

/// Deletes the account with an address, which the product never does.
pub async fn delete_account(table: &Table, email: &str) {
    let delete = table.client().delete_item().table_name(&table.name).set_key(Some(account_key(email)));
    delete.send().await.expect("the table answers");
}

fn account_key(email: &str) -> std::collections::HashMap<String, AttributeValue> {
    shared::store::keys::account(&Email::parse(email).expect("an address")).into_item()
}

/// All rows in an organization's own partitions except audit rows, notes of uploads and logs, in a stable order.
pub async fn of_organization(table: &Table, org: OrgId) -> Vec<Value> {
    Snapshot::of(table).await.of_organization(org).into_iter().cloned().collect()
}

fn plain(item: std::collections::HashMap<String, AttributeValue>) -> Value {
    Value::Object(item.into_iter().map(|(name, value)| (name, plain_value(value))).collect())
}

/// Ids of the objects that an audit row names.
#[must_use]
pub fn objects(row: &Value) -> Vec<String> {
    let hex = row["objects"]["hex"].as_str().unwrap_or_default();
    let ids =
        hex.as_bytes().chunks(32).map(|id| uuid::Uuid::try_parse_ascii(id).expect("an id of 16 bytes").to_string());
    ids.collect()
}

/// Shows bytes both as numbers and as text, so that a scan for a secret sees into them.
fn plain_value(value: AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => Value::String(text),
        AttributeValue::Bool(value) => Value::Bool(value),
        AttributeValue::B(bytes) => {
            let bytes = bytes.as_ref();
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({"hex": hex.concat(), "text": String::from_utf8_lossy(bytes)})
        }
        AttributeValue::L(values) => values.into_iter().map(plain_value).collect(),
        AttributeValue::M(members) => plain(members),
        AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => texts.into_iter().map(Value::String).collect(),
        AttributeValue::Bs(all) => all.into_iter().map(|bytes| plain_value(AttributeValue::B(bytes))).collect(),
        AttributeValue::Null(_) => Value::Null,
        other => panic!("an attribute of a kind that the service does not use: {other:?}"),
    }
}
