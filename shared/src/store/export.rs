//! An organization's records as exported: without secrets, and without what derives from records.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::inspect::organization_of;
use super::item::{Item, decompressed};
use super::keys::{DROP_AT, Key, PARTITION, SORT};
use super::proposals::COPY;
use super::record_kind::{Declared, Place, RecordKind};
use crate::domain::ids::OrgId;
use crate::limits;

/// What an export leaves out, in words, for its manifest.
pub const LEFT_OUT: [&str; 6] = [
    "values of access tokens and their hashes, and hashes of invitations' secrets",
    "accounts with passwords and second factors, sessions, password links, and codes of links",
    "signing secrets of webhook endpoints",
    "bank details in answers, payment instructions, and answers that were not sent",
    "stored responses to idempotency keys, and which copies of forms were used",
    "what derives from records: rows of lists, pointers, unique items, counters, and entries of the due index",
];

/// An item as a line of an organization's export: its kind, its place, and its attributes. None if it is not exported.
#[must_use]
pub fn exported(org: OrgId, item: &Item) -> Option<(RecordKind, Value)> {
    let key = Key::of(item)?;
    let place = Place::of(&key)?;
    if place.org.or_else(|| organization_of(item, Some(&place))) != Some(org) {
        return None;
    }
    let Declared { is_exported, sealed, secret, .. } = place.kind.declared();
    if !is_exported {
        return None;
    }
    let is_kept = |name: &str| ![[PARTITION, SORT, DROP_AT].as_slice(), sealed, secret].concat().contains(&name);
    let kept = item.iter().filter(|(name, _)| is_kept(name));
    let mut record: Map<String, Value> = kept.map(|(name, value)| (name.clone(), json_of(value))).collect();
    match place.kind {
        RecordKind::Audit => {
            if let Some(ids) = super::item::ids(item, "objects") {
                record.insert("objects".to_owned(), json!(ids.iter().map(Uuid::to_string).collect::<Vec<_>>()));
            }
        }
        RecordKind::ProposalSnapshot => {
            let copy = decompressed(item, COPY, limits::PROPOSED_BYTES_MAX);
            let copy: Option<Value> = copy.and_then(|json| serde_json::from_slice(&json).ok());
            record.insert(COPY.to_owned(), copy.unwrap_or_default());
        }
        _ => {}
    }
    // A token's key is its hash; its record has its id.
    let ids = place.ids.iter().map(Uuid::to_string).collect::<Vec<_>>();
    Some((place.kind, json!({"kind": place.kind.as_str(), "ids": ids, "record": record})))
}

/// Leaves out everything sealed, wherever it is, and the digests of accounts.
fn json_of(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!(text),
        AttributeValue::N(number) => serde_json::from_str(number).unwrap_or_else(|_| json!(number)),
        AttributeValue::Bool(is_true) => json!(is_true),
        AttributeValue::L(list) => list.iter().map(json_of).collect(),
        AttributeValue::M(map) => {
            let kept = map.iter().filter(|(name, _)| name.as_str() != "sealed");
            Value::Object(kept.map(|(name, value)| (name.clone(), json_of(value))).collect())
        }
        AttributeValue::Ss(set) | AttributeValue::Ns(set) => json!(set.iter().collect::<BTreeSet<_>>()),
        AttributeValue::B(bytes) => json!(STANDARD.encode(bytes.as_ref())),
        AttributeValue::Bs(set) => set.iter().map(|bytes| json!(STANDARD.encode(bytes.as_ref()))).collect(),
        _ => Value::Null,
    }
}

/// The files that a record names: the SHA-256 and size of each stand beside each other.
#[must_use]
pub fn files_of(record: &Value) -> BTreeSet<(String, u64)> {
    let mut found = BTreeSet::new();
    collect(record, &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<(String, u64)>) {
    match value {
        Value::Object(members) => {
            let (sha256, size) = (members.get("sha256"), members.get("size_bytes"));
            found.extend(sha256.and_then(Value::as_str).map(str::to_owned).zip(size.and_then(Value::as_u64)));
            members.values().for_each(|value| collect(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
