//! The due index, which the clock reads: partitions of entries sorted by time, written in the causing transaction.
//!
//! - Decision: the entry of a delivery whose message is on its way stays under its key, and says when to send it again.
//!   Under another key, a later time, the transaction that settles the delivery would not find it, and the clock not
//!   see how long the delivery has been due, which an alarm watches. It costs a write unit, only when a tick finds it.

use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::change::Update;
use super::item::{Item, text};
use super::keys::{self, Due, Key, PARTITION, SORT};
use super::query::Query;
use super::record_kind::RecordKind;
use super::{Store, StoreError};
use crate::domain::ids::{EndpointId, OrgId};
use crate::domain::shards::DueShards;
use crate::domain::time::Timestamp;
use crate::limits;

const RESEND_AT: &str = "resend_at";

/// An entry of the due index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEntry {
    key: Key,
    /// The kind of record that is due.
    pub what: Due,
    /// When it is due.
    pub at: Timestamp,
    /// Its organization.
    pub org: OrgId,
    /// The record's id; for a delivery, its event's.
    pub id: Uuid,
    /// For a delivery, its endpoint.
    pub endpoint: Option<EndpointId>,
    /// For a delivery whose message a queue took: when the clock sends it again, if the entry is still there.
    pub resend_at: Option<Timestamp>,
}

impl Due {
    /// Whether it is the entry of an event, or of a delivery of one.
    pub(super) fn is_of_event(self) -> bool {
        matches!(self, Self::Event | Self::Delivery)
    }
}

impl DueEntry {
    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// Reads a key of the due index. None if it is another key.
    #[must_use]
    pub fn of(key: Key) -> Option<Self> {
        if !RecordKind::Due.is_of(&key) {
            return None;
        }
        let mut parts = key.sort().split('#');
        let what = Due::parse(parts.next()?)?;
        let at = Timestamp::from_unix_ms(parts.next()?.parse().ok()?).ok()?;
        let (org, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let endpoint = parts.next().map(str::parse).transpose().ok()?;
        Some(Self { key, what, at, org, id, endpoint, resend_at: None })
    }

    fn read(item: &Item) -> Option<Self> {
        let resend_at = text(item, RESEND_AT).and_then(|at| at.parse().ok());
        Some(Self { resend_at, ..Self::of(Key::of(item)?)? })
    }
}

/// Reads the due entries of one kind in one shard, earliest first, each once: one that stays does not block the rest.
#[derive(Debug)]
pub struct DueCursor<'a> {
    store: &'a Store,
    partition: String,
    from: String,
    to: String,
    is_over: bool,
}

impl Store {
    /// The shards of the entries of a kind.
    pub fn shards_of(&self, what: Due) -> impl Iterator<Item = u8> + use<> {
        if what.is_of_event() { self.due_shards.all() } else { DueShards::FEWEST.all() }
    }

    /// The entries of a kind that are due in a shard at a moment.
    #[must_use]
    pub fn due(&self, what: Due, shard: u8, now: Timestamp) -> DueCursor<'_> {
        let (partition, from) = (keys::due_shard(shard), keys::due_of_kind(what));
        DueCursor { store: self, partition, from, to: keys::due_after(now, what), is_over: false }
    }

    /// Notes when the message of a delivery, which a queue took, is sent again. An entry that is gone stays gone.
    pub async fn set_resend_at(&self, entry: &DueEntry, at: Timestamp) -> Result<(), StoreError> {
        let update = Update {
            key: entry.key.clone(),
            expression: "SET #resend_at = :at",
            condition: "attribute_exists(#pk)",
            names: vec![("#resend_at", RESEND_AT), ("#pk", PARTITION)],
            values: vec![(":at", AttributeValue::S(at.to_string()))],
        };
        self.update(update).await.map(|_| ())
    }

    /// Deletes a stale entry, or one whose work is done. A record's entry goes in the transaction that settles it.
    pub async fn delete_due_entry(&self, entry: DueEntry) -> Result<(), StoreError> {
        self.delete(entry.key).await
    }
}

impl DueCursor<'_> {
    /// The next entries; empty at the end.
    pub async fn next_page(&mut self) -> Result<Vec<DueEntry>, StoreError> {
        let mut entries = Vec::new();
        while entries.is_empty() && !self.is_over {
            let attributes = [PARTITION, SORT, RESEND_AT];
            let query = Query::of(self.partition.clone()).between(&self.from, &self.to).only(&attributes);
            let page = self.store.page_of(&query.limit(limits::SWEEP_ENTRIES_MAX), None).await?;
            match page.items.last().and_then(Key::of) {
                // No key sorts between a key and the same key followed by a blank.
                Some(last) => self.from = format!("{} ", last.sort()),
                None => self.is_over = true,
            }
            entries.extend(page.items.iter().filter_map(DueEntry::read));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_from_its_key() {
        let (org, id, at) = (OrgId::new(), Uuid::now_v7(), Timestamp::now());
        let entry = DueEntry::of(keys::due(at, Due::Proposal, org, id)).unwrap();
        assert_eq!((entry.what, entry.at, entry.org, entry.id, entry.endpoint), (Due::Proposal, at, org, id, None));
        let endpoint = EndpointId::new();
        let entry = DueEntry::of(keys::due_delivery(at, org, endpoint, id.into())).unwrap();
        assert_eq!((entry.what, entry.id, entry.endpoint), (Due::Delivery, id, Some(endpoint)));
        assert_eq!(DueEntry::of(keys::event(org, id.into())), None);
    }

    #[test]
    fn the_bounds_of_a_moment_include_what_is_due_and_nothing_else() {
        let (org, now) = (OrgId::new(), Timestamp::now());
        let (from, to) = (keys::due_of_kind(Due::Proposal), keys::due_after(now, Due::Proposal));
        let at = |ms: i64, what| {
            let key = keys::due(Timestamp::from_unix_ms(now.unix_ms() + ms).unwrap(), what, org, Uuid::now_v7());
            (from.as_str()..=to.as_str()).contains(&key.sort())
        };
        for (ms, what, expected) in [
            (-1_000_000, Due::Proposal, true),
            (0, Due::Proposal, true),
            (1, Due::Proposal, false),
            (-1, Due::Event, false),
            (1, Due::Event, false),
        ] {
            assert_eq!(at(ms, what), expected, "{ms} {what:?}");
        }
    }
}
