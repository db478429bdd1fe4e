//! How events and calls spread over partitions of the table, the shards.
//!
//! - Decision: an id says in its last byte in which shard its items are. So each item is found by its id alone, however
//!   many shards there are by now, and their number can grow in a running system. It costs at most 8 of 74 random bits,
//!   and the order of ids does not depend on the byte.

use uuid::Uuid;

use super::ids::{EventId, RequestId};

/// The number of shards that new items spread over. It may grow and must never shrink: readers read as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shards<const FEWEST: u16, const MOST: u16>(u16);

/// The shards of the due entries of events and their deliveries, for all organizations. Entries of other kinds follow
/// from people's acts, and take the fewest.
pub type DueShards = Shards<8, 256>;

/// The shards of each organization's audit rows.
pub type AuditShards = Shards<1, 16>;

impl<const FEWEST: u16, const MOST: u16> Shards<FEWEST, MOST> {
    /// The fewest shards.
    pub const FEWEST: Self = Self(FEWEST);
    /// The most shards.
    pub const MOST: Self = Self(MOST);

    /// A number of shards. None below the fewest or above the most.
    #[must_use]
    pub fn new(count: u16) -> Option<Self> {
        (FEWEST..=MOST).contains(&count).then_some(Self(count))
    }

    /// The shards, from 0.
    pub fn all(self) -> impl Iterator<Item = u8> + use<FEWEST, MOST> {
        (0..=u8::MAX).take(usize::from(self.0))
    }

    /// The shard of an id among so many.
    #[must_use]
    pub fn of(self, id: Uuid) -> u8 {
        let [.., last] = *id.as_bytes();
        u8::try_from(u16::from(last) % self.0).unwrap_or_default()
    }

    /// An id in one of the shards, with the time of another.
    fn spread(self, id: Uuid) -> Uuid {
        Uuid::from_u128(id.as_u128() & !0xff | u128::from(fastrand::u16(..self.0)))
    }
}

impl EventId {
    /// A new id of an event in one of some shards of the due index, greater than all earlier ones.
    #[must_use]
    pub fn in_any_of(shards: DueShards) -> Self {
        shards.spread(Self::new().uuid()).into()
    }

    /// The shard that has the due entries of the event and its deliveries.
    #[must_use]
    pub fn due_shard(self) -> u8 {
        DueShards::MOST.of(self.uuid())
    }
}

impl RequestId {
    /// A new id of a call in one of some shards of its organization's audit rows, greater than all earlier ones.
    #[must_use]
    pub fn in_any_of(shards: AuditShards) -> Self {
        shards.spread(Self::new().uuid()).into()
    }

    /// The shard that has the call's audit row.
    #[must_use]
    pub fn audit_shard(self) -> u8 {
        AuditShards::MOST.of(self.uuid())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn new_ids_spread_over_all_shards_and_no_others() {
        for count in [8, 9, 256] {
            let shards = DueShards::new(count).unwrap();
            let ids: Vec<EventId> = (0..20_000).map(|_| EventId::in_any_of(shards)).collect();
            let found: BTreeSet<u8> = ids.iter().map(|id| id.due_shard()).collect();
            assert_eq!(found, shards.all().collect(), "{count}");
            assert!(ids.is_sorted_by(|one, next| one < next), "{count}: in the order of time");
            assert!(ids.iter().all(|id| id.uuid().get_version_num() == 7));
        }
        for count in [1, 2, 16] {
            let shards = AuditShards::new(count).unwrap();
            let found: BTreeSet<u8> = (0..2000).map(|_| RequestId::in_any_of(shards).audit_shard()).collect();
            assert_eq!(found, shards.all().collect(), "{count}");
        }
        assert!([0, 7, 257, u16::MAX].into_iter().all(|count| DueShards::new(count).is_none()));
        assert!([0, 17].into_iter().all(|count| AuditShards::new(count).is_none()));
    }
}
