//! The log of a list: for each transaction an entry with the rows that it wrote, in the order of the writers' clocks.
//!
//! Who holds the rows in memory reads what was written since, instead of all rows. The entry is written in the record's
//! own transaction and is there once the call is answered. Its stamp is the wall clock when the transaction is sent, but
//! above the stamp of each record's last write. A reading that includes an entry of a record then includes all later
//! ones; otherwise a deleted record could come back.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::spread::{List, part_of, spread_row};
use super::{AT, ID, OwnedRow};
use crate::domain::ids::OrgId;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::item::{Item, STAMP, VERSION, bytes, number, text};
use crate::store::keys::{self, DROP_AT, Key, Rows, SORT};
use crate::store::packed::{Packer, Unpacker};
use crate::store::record_kind::{OwnRows, RecordKind};

const WRITTEN: &str = "w";
const LAYOUT: u8 = 1;
/// Of what answers repeats of a call: the logs that its transaction wrote to, by their partitions.
pub(super) const LOGS: &str = "logs";

/// The row of a record in a list, to be written together with the record.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::store) struct RowWrite {
    pub org: OrgId,
    pub rows: Rows,
    pub id: Uuid,
    pub record: Key,
    /// The version of the record that this transaction writes or deletes.
    pub version: u64,
    /// The stamp of the record's last write.
    pub stamp_before: Option<i64>,
    /// None deletes the row.
    pub row: Option<Item>,
}

/// How many changes the log adds to those of a transaction: an entry for each list, and the second place of each row
/// that is deleted.
pub(in crate::store) fn count_of_added(changes: &[Change]) -> usize {
    let lists: BTreeSet<Rows> = changes.iter().filter_map(Listed::of).map(|listed| listed.rows).collect();
    lists.len() + changes.iter().filter_map(second_place_of_deleted).count()
}

fn second_place_of_deleted(change: &Change) -> Option<Key> {
    let Change::Row(RowWrite { org, rows, id, row: None, .. }) = change else { return None };
    Some(spread_row((*org, *rows), *id))
}

/// What a change writes of a list.
struct Listed {
    org: OrgId,
    rows: Rows,
    record: Key,
    stamp_before: Option<i64>,
    written: Written,
}

impl Listed {
    /// None for changes of what no list shows.
    fn of(change: &Change) -> Option<Self> {
        match change {
            Change::Row(RowWrite { org, rows, id, record, version, stamp_before, row }) => {
                let written = Written { id: *id, version: *version, row: row.as_ref().map(OwnedRow::of) };
                Some(Self { org: *org, rows: *rows, record: record.clone(), stamp_before: *stamp_before, written })
            }
            Change::Create(item) | Change::Replace(item, _) => Self::of_own_row(item),
            _ => None,
        }
    }

    fn of_own_row(item: &Item) -> Option<Self> {
        let record = Key::of(item)?;
        let (own, org) = RecordKind::of_own_row(&record)?;
        let written = Written::of_own_row(item, own)?;
        Some(Self { org, rows: own.rows, record, stamp_before: number(item, STAMP), written })
    }
}

/// The changes with an entry in the log of each list whose rows they write, all stamped alike. Those of a list that is
/// spread go to its parts.
pub(in crate::store) fn logged(
    mut changes: Vec<Change>,
    now: Timestamp,
    is_spread: impl Fn(List) -> bool,
) -> Vec<Change> {
    let listed: Vec<Listed> = changes.iter().filter_map(Listed::of).collect();
    let Some(stamp) = listed.iter().map(|listed| listed.stamp_before.map_or(i64::MIN, |before| before + 1)).max()
    else {
        return changes;
    };
    let stamp = stamp.max(now.unix_ms());
    for change in &mut changes {
        if let Change::Create(item) | Change::Replace(item, _) = change
            && listed.iter().any(|listed| listed.record.is_of(item))
        {
            item.insert(STAMP.to_owned(), AttributeValue::N(stamp.to_string()));
        }
        if let Change::Row(RowWrite { org, rows, id, row: Some(row), .. }) = change
            && is_spread((*org, *rows))
        {
            spread_row((*org, *rows), *id).insert_into(row);
        }
    }
    let second_places: Vec<Change> = changes.iter().filter_map(second_place_of_deleted).map(Change::Delete).collect();
    changes.extend(second_places);
    let mut entries: BTreeMap<List, Vec<Written>> = BTreeMap::new();
    for Listed { org, rows, written, .. } in listed {
        entries.entry((org, rows)).or_default().push(written);
    }
    note(&mut changes, stamp, entries.keys());
    changes.extend(entries.iter().map(|(list @ (org, rows), written)| {
        let id = Uuid::now_v7();
        let partition =
            if is_spread(*list) { keys::spread_log(*org, *rows, part_of(id)) } else { keys::log(*org, *rows) };
        let entry = entry(keys::with_sort(partition, &keys::log_entry(stamp, id)), stamp, written);
        Change::Log { org: *org, rows: *rows, entry }
    }));
    changes
}

/// Notes what a transaction logs in the item that answers repeats of its call, if it has one.
pub(super) fn note<'a>(changes: &mut [Change], stamp: i64, lists: impl Iterator<Item = &'a List>) {
    let logs: Vec<AttributeValue> = lists.map(|(org, rows)| AttributeValue::S(keys::log(*org, *rows))).collect();
    for change in changes {
        // No other item that may be replaced is dropped when it expires.
        if let Change::PutIfExpired(item, expiry) = change
            && expiry.attribute == DROP_AT
        {
            item.insert(STAMP.to_owned(), AttributeValue::N(stamp.to_string()));
            item.insert(LOGS.to_owned(), AttributeValue::L(logs.clone()));
        }
    }
}

pub(super) fn entry(at: Key, stamp: i64, written: &[Written]) -> Item {
    let written = Packer::of_layout(LAYOUT).each(written, |packer, Written { id, version, row }| {
        let packer = packer.id(*id).number(*version);
        match row {
            Some(row) => packer.byte(1).sized(row.text.as_bytes()).sized(&row.attributes),
            None => packer.byte(0),
        }
    });
    let drop_at = stamp / 1000 + i64::try_from(limits::LOG_KEPT.as_secs()).unwrap_or(i64::MAX);
    let mut item = at.into_item();
    item.insert(WRITTEN.to_owned(), AttributeValue::B(Blob::new(written.into_bytes())));
    item.insert(DROP_AT.to_owned(), AttributeValue::N(drop_at.to_string()));
    item
}

/// What an entry says of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub id: Uuid,
    pub version: u64,
    /// None if the record was deleted.
    pub row: Option<OwnedRow>,
}

impl Written {
    /// What a stored row says. None without its id or version.
    pub(super) fn of_row(row: &Item) -> Option<Self> {
        let id = text(row, SORT)?.parse().ok()?;
        Some(Self { id, version: number(row, VERSION)?, row: Some(OwnedRow::of(row)) })
    }

    /// What a record that is its own row says as one. None without its id or version.
    pub(super) fn of_own_row(record: &Item, own: OwnRows) -> Option<Self> {
        let id = text(record, ID)?.parse().ok()?;
        let mut row = Item::from([(AT.to_owned(), record.get(SORT)?.clone())]);
        row.extend(own.attributes.iter().filter_map(|name| Some(((*name).to_owned(), record.get(*name)?.clone()))));
        Some(Self { id, version: number(record, VERSION)?, row: Some(OwnedRow::of(&row)) })
    }
}

pub(super) fn read(entry: &Item) -> Result<Vec<Written>, StoreError> {
    let packed = bytes(entry, WRITTEN).and_then(|bytes| Unpacker::of_layout(bytes, LAYOUT));
    let written = packed.and_then(|mut packed| packed.each(read_written));
    written.ok_or_else(|| StoreError::Unreadable("decoding an entry in the log of a list".to_owned()))
}

fn read_written(packed: &mut Unpacker<'_>) -> Option<Written> {
    let (id, version) = (packed.id()?, packed.number()?);
    let is_there = packed.byte()? == 1;
    let row = packed.when(is_there, |packed| {
        let (text, attributes) = (packed.sized()?, packed.sized()?);
        Some(OwnedRow { text: std::str::from_utf8(text).ok()?.to_owned(), attributes: attributes.to_vec() })
    })?;
    Some(Written { id, version, row })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{ContactId, TrustId, WorkspaceId};
    use crate::store::list::TEXT;
    use crate::store::record;

    fn write(org: OrgId, rows: Rows, version: u64, stamp_before: Option<i64>, text: Option<&str>) -> RowWrite {
        let id = ContactId::new();
        let row = text.map(|text| record::row_item(keys::row(org, rows, id.uuid()), text, version));
        RowWrite { org, rows, id: id.uuid(), record: keys::contact(org, id), version, stamp_before, row }
    }

    fn stamp_of(item: &Item) -> Option<i64> {
        crate::store::item::number(item, STAMP)
    }

    #[test]
    fn a_transaction_has_one_entry_for_each_list_and_stamps_its_records_alike() {
        let (org, now) = (OrgId::new(), Timestamp::from_unix_ms(1_790_000_000_000).unwrap());
        let ahead = now.unix_ms() + 7;
        let writes = [
            write(org, Rows::Contacts, 1, None, Some("ada")),
            write(org, Rows::Contacts, 3, Some(ahead), Some("grace")),
            write(org, Rows::Workspaces, 2, Some(5), None),
        ];
        let records: Vec<Change> =
            writes.iter().map(|write| Change::Create(write.record.clone().into_item())).collect();
        let other = Change::Create(keys::contact(org, ContactId::new()).into_item());
        let rows = writes.iter().cloned().map(Change::Row);
        let changes: Vec<Change> = records.into_iter().chain([other]).chain(rows).collect();
        assert_eq!(count_of_added(&changes), 3, "two entries, and the second place of the deleted row");
        let logged = logged(changes, now, |_| false);

        let stamps: Vec<Option<i64>> = logged[..4]
            .iter()
            .map(|change| if let Change::Create(item) = change { stamp_of(item) } else { unreachable!("a record") })
            .collect();
        assert_eq!(stamps, [Some(ahead + 1), Some(ahead + 1), Some(ahead + 1), None], "above each record's last");
        assert_eq!(logged[7], Change::Delete(spread_row((org, Rows::Workspaces), writes[2].id)));
        let entries: Vec<&Item> = logged[8..]
            .iter()
            .map(|change| if let Change::Log { entry: item, .. } = change { item } else { unreachable!() })
            .collect();
        let [contacts, workspaces] = entries[..] else { panic!("one for each list") };
        let expected = |write: &RowWrite| Written {
            id: write.id,
            version: write.version,
            row: write.row.as_ref().map(OwnedRow::of),
        };
        assert_eq!(read(contacts).unwrap(), [expected(&writes[0]), expected(&writes[1])]);
        assert_eq!(read(workspaces).unwrap(), [expected(&writes[2])]);
        let from = keys::logged_from(ahead + 1);
        assert!(Key::of(contacts).unwrap().sort() > from.as_str());
        assert!(Key::of(contacts).unwrap().sort() < keys::logged_from(ahead + 2).as_str());
    }

    #[test]
    fn the_rows_and_entries_of_a_spread_list_go_to_its_parts() {
        let (org, now) = (OrgId::new(), Timestamp::now());
        let writes = [
            write(org, Rows::Contacts, 1, None, Some("ada")),
            write(org, Rows::Contacts, 2, None, None),
            write(org, Rows::Workspaces, 1, None, Some("harbor")),
        ];
        let changes: Vec<Change> = writes.iter().cloned().map(Change::Row).collect();
        let logged = logged(changes, now, |list| list == (org, Rows::Contacts));
        let key = |change: &Change| match change {
            Change::Row(RowWrite { row: Some(item), .. }) | Change::Log { entry: item, .. } => Key::of(item),
            Change::Delete(key) => Some(key.clone()),
            _ => None,
        };
        let keys: Vec<Option<Key>> = logged.iter().map(key).collect();
        assert_eq!(keys[0], Some(spread_row((org, Rows::Contacts), writes[0].id)));
        assert_eq!(keys[2], Some(keys::row(org, Rows::Workspaces, writes[2].id)), "another list");
        assert_eq!(keys[3], Some(spread_row((org, Rows::Contacts), writes[1].id)), "beside the undivided one");
        let parts: Vec<String> =
            super::super::spread::parts().map(|part| keys::spread_log(org, Rows::Contacts, part)).collect();
        assert!(keys[4].as_ref().is_some_and(|key| parts.iter().any(|part| part == key.partition())), "{keys:?}");
        assert_eq!(keys[5].as_ref().map(Key::partition), Some(keys::log(org, Rows::Workspaces).as_str()));
        assert_eq!(keys.len(), 6);
    }

    #[test]
    fn a_record_that_is_its_own_row_is_logged_as_a_compact_one() {
        let (org, now) = (OrgId::new(), Timestamp::from_unix_ms(1_790_000_000_000).unwrap());
        let (workspace, trust) = (WorkspaceId::new(), TrustId::new());
        let stamped = now.unix_ms() + 9;
        let text = |text: String| AttributeValue::S(text);
        let number = |number: i64| AttributeValue::N(number.to_string());
        let mut record = keys::trust(org, workspace, trust).into_item();
        record.extend([
            (ID.to_owned(), text(trust.to_string())),
            (VERSION.to_owned(), number(2)),
            (STAMP.to_owned(), number(stamped)),
            (TEXT.to_owned(), text("harbor trust".to_owned())),
            ("formal_name".to_owned(), text("Harbor Trust".to_owned())),
        ]);
        let changes = vec![Change::Replace(record.clone(), 1)];
        assert_eq!(count_of_added(&changes), 1);
        let [Change::Replace(written, 1), Change::Log { entry, .. }] = &logged(changes, now, |_| false)[..] else {
            panic!("two changes")
        };
        assert_eq!(stamp_of(written), Some(stamped + 1), "above the record's last stamp");
        let [logged] = &read(entry).unwrap()[..] else { panic!("one record") };
        assert_eq!((logged.id, logged.version), (trust.uuid(), 2));
        let row = logged.row.as_ref().unwrap().with_id(trust.uuid());
        let sort = format!("{workspace}#{trust}");
        assert_eq!(
            (row.searched(), row.text(AT), row.text("formal_name")),
            ("harbor trust", Some(sort.as_str()), None)
        );
        assert_eq!(Written::of_own_row(&record, Rows::Trusts.own().unwrap()).as_ref(), Some(logged), "as it is read");
        assert_eq!(keys::rows(org, Rows::Trusts), keys::trusts(org), "where the rows are read");
        assert_eq!(keys::rows(org, Rows::FundingItems), keys::funding_items(org));
    }

    #[test]
    fn a_transaction_without_rows_is_left_as_it_is() {
        let changes = vec![Change::Create(keys::contact(OrgId::new(), ContactId::new()).into_item())];
        assert_eq!(logged(changes.clone(), Timestamp::now(), |_| false), changes);
    }
}
