//! What is due, as the clock finds it: entries that were written with what they are about, in partitions sorted by time.

use uuid::Uuid;

use super::keys::{self, Due, Key};
use super::{Store, StoreError};
use crate::domain::ids::{EndpointId, OrgId};
use crate::domain::time::Timestamp;
use crate::limits;

/// Something that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEntry {
    key: Key,
    /// What is due.
    pub what: Due,
    /// When it is due.
    pub at: Timestamp,
    /// Whose it is.
    pub org: OrgId,
    /// Which it is; its kind says of what. Of a delivery: its event.
    pub id: Uuid,
    /// Of a delivery: its endpoint.
    pub endpoint: Option<EndpointId>,
}

impl DueEntry {
    /// Reads a key that `keys::due` made.
    #[must_use]
    pub fn of(key: Key) -> Option<Self> {
        if !key.is_due() {
            return None;
        }
        let mut parts = key.sort().split('#');
        let what = Due::parse(parts.next()?)?;
        let at = Timestamp::from_unix_ms(parts.next()?.parse().ok()?).ok()?;
        let (org, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let endpoint = parts.next().map(str::parse).transpose().ok()?;
        Some(Self { key, what, at, org, id, endpoint })
    }
}

/// The way through what is due of one kind in one shard, the earliest first. It never comes back to an entry, so that
/// one that stays does not keep the ones behind it waiting.
#[derive(Debug)]
pub struct DueEntries<'a> {
    store: &'a Store,
    partition: String,
    from: String,
    to: String,
    is_over: bool,
}

impl Store {
    /// What of a kind is due in a shard at a moment.
    #[must_use]
    pub fn due(&self, what: Due, shard: u8, now: Timestamp) -> DueEntries<'_> {
        let (partition, from) = (keys::due_shard(shard), keys::due_of_kind(what));
        DueEntries { store: self, partition, from, to: keys::due_after(now, what), is_over: false }
    }

    /// Removes an entry of what is not due any more. What is due is never removed this way, but with the change that
    /// settles it.
    pub async fn forget(&self, entry: DueEntry) -> Result<(), StoreError> {
        self.remove(entry.key).await
    }
}

impl DueEntries<'_> {
    /// The next entries; none when that was all.
    pub async fn next(&mut self) -> Result<Vec<DueEntry>, StoreError> {
        let mut entries = Vec::new();
        while entries.is_empty() && !self.is_over {
            let keys =
                self.store.keys_between(&self.partition, &self.from, &self.to, limits::SWEEP_ENTRIES_MAX).await?;
            match keys.last() {
                // No key comes between another and that one with a blank behind it.
                Some(last) => self.from = format!("{} ", last.sort()),
                None => self.is_over = true,
            }
            entries.extend(keys.into_iter().filter_map(DueEntry::of));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_whose_and_which() {
        let (org, id, at) = (OrgId::new(), Uuid::now_v7(), Timestamp::now());
        let entry = DueEntry::of(keys::due(at, Due::Proposal, org, id)).unwrap();
        assert_eq!((entry.what, entry.at, entry.org, entry.id, entry.endpoint), (Due::Proposal, at, org, id, None));
        let endpoint = EndpointId::new();
        let entry = DueEntry::of(keys::due_delivery(at, org, endpoint, id.into())).unwrap();
        assert_eq!((entry.what, entry.id, entry.endpoint), (Due::Delivery, id, Some(endpoint)));
        assert_eq!(DueEntry::of(keys::event(org, id.into())), None);
    }

    #[test]
    fn what_is_due_at_a_moment_is_between_its_bounds_and_nothing_else_is() {
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
