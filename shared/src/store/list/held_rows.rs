//! The rows of a list in memory, by record and version, with one text to search.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem::Finder;
use uuid::Uuid;

use super::held_row::{HeldRow, OwnedRow};
use crate::store::packed::{Packer, Unpacker};

/// Ends each text: no folded text has it, so no needle is found across two.
const END: char = '\0';
const END_BYTE: u8 = 0;
/// What replaced rows may leave behind before the rest moves together, in bytes.
const WASTE_MAX: usize = 1 << 20;
/// A column of this length no longer doubles when it is full.
const LONG: usize = 1 << 12;
/// A long column grows by this part of its length: what it has room for counts as used.
const GROWTH_PART: usize = 16;

/// The rows of the newest versions that were applied, in whatever order they came.
#[derive(Debug, Default)]
pub(super) struct HeldRows {
    slots: Vec<Slot>,
    /// The slots of rows that are there, by id.
    order: Vec<usize>,
    /// The versions of records that were deleted: what was written before may still come.
    gone: HashMap<Uuid, u64>,
    texts: String,
    /// Where each text begins, and whose it was.
    begins: Vec<Begin>,
    attributes: Vec<u8>,
    waste: usize,
}

#[derive(Debug, Clone)]
struct Slot {
    id: Uuid,
    version: u64,
    text: Range<usize>,
    attributes: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Begin {
    at: usize,
    slot: usize,
}

/// Rows as they are stored: those that are there, in the order of ids, without deletions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Columns {
    /// 16 bytes each.
    pub ids: Vec<u8>,
    /// Of each row its version and the lengths of its text and its attributes.
    pub numbers: Vec<u8>,
    /// Each with its end.
    pub texts: Vec<u8>,
    pub attributes: Vec<u8>,
}

/// How much room to make in a column of a length that lacks it.
fn growth(length: usize, needed: usize) -> usize {
    needed.max(if length < LONG { length } else { length / GROWTH_PART })
}

fn make_room<T>(column: &mut Vec<T>, needed: usize) {
    if column.capacity() - column.len() < needed {
        column.reserve_exact(growth(column.len(), needed));
    }
}

impl HeldRows {
    pub(super) fn columns(&self) -> Columns {
        let (mut columns, mut numbers) = (Columns::default(), Packer::default());
        let length = |range: &Range<usize>| u64::try_from(range.len()).unwrap_or(u64::MAX);
        for slot in &self.order {
            let Slot { id, version, text, attributes } = &self.slots[*slot];
            columns.ids.extend(id.as_bytes());
            numbers = numbers.number(*version).number(length(text)).number(length(attributes));
            columns.texts.extend(self.texts[text.clone()].as_bytes());
            columns.texts.push(END_BYTE);
            columns.attributes.extend(&self.attributes[attributes.clone()]);
        }
        Columns { numbers: numbers.into_bytes(), ..columns }
    }

    /// None if the columns don't fit each other.
    pub(super) fn of_columns(columns: Columns) -> Option<Self> {
        let Columns { ids, numbers, texts, attributes } = columns;
        let texts = String::from_utf8(texts).ok()?;
        let count = ids.len() / size_of::<Uuid>();
        let (mut slots, mut begins) = (Vec::<Slot>::with_capacity(count), Vec::with_capacity(count));
        let (mut numbers, mut at, mut attributes_at) = (Unpacker::of_bytes(&numbers), 0, 0);
        for id in ids.chunks(size_of::<Uuid>()) {
            let (id, version) = (Uuid::from_slice(id).ok()?, numbers.number()?);
            let (length, attributes_length) = (numbers.size()?, numbers.size()?);
            let (text, own) = (
                at..usize::checked_add(at, length)?,
                attributes_at..usize::checked_add(attributes_at, attributes_length)?,
            );
            // The end is one byte, so that the next text begins between characters if this one ends so.
            let fits = texts.as_bytes().get(text.end) == Some(&END_BYTE) && own.end <= attributes.len();
            if !fits || slots.last().is_some_and(|last| last.id >= id) {
                return None;
            }
            begins.push(Begin { at, slot: slots.len() });
            (at, attributes_at) = (text.end + 1, own.end);
            slots.push(Slot { id, version, text, attributes: own });
        }
        let is_whole = at == texts.len() && attributes_at == attributes.len() && numbers.byte().is_none();
        let order = (0..slots.len()).collect();
        is_whole.then(|| Self { slots, order, texts, begins, attributes, ..Self::default() })
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.order.len()
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.order.capacity() * size_of::<usize>()
            + self.begins.capacity() * size_of::<Begin>()
            + self.gone.capacity() * size_of::<(Uuid, u64)>()
            + self.texts.capacity()
            + self.attributes.capacity()
    }

    /// The row at a position in the order of ids.
    pub(super) fn at(&self, position: usize) -> Option<HeldRow<'_>> {
        self.order.get(position).map(|slot| self.row(*slot))
    }

    fn row(&self, slot: usize) -> HeldRow<'_> {
        let Slot { id, text, attributes, .. } = &self.slots[slot];
        HeldRow::new(*id, &self.texts[text.clone()], &self.attributes[attributes.clone()])
    }

    /// For each position whether its row's text contains the needle.
    pub(super) fn containing(&self, needle: &str) -> Vec<bool> {
        let (finder, mut found, mut at, mut begin) = (Finder::new(needle), vec![false; self.slots.len()], 0, 0);
        while let Some(hit) = finder.find(&self.texts.as_bytes()[at..]).map(|hit| at + hit) {
            while self.begins.get(begin + 1).is_some_and(|next| next.at <= hit) {
                begin += 1;
            }
            let Some(Begin { at: start, slot }) = self.begins.get(begin).copied() else { break };
            let text = &self.slots[slot].text;
            // Another text may have replaced the one that was found.
            if text.start == start && hit + needle.len() <= text.end {
                found[slot] = true;
            }
            match self.begins.get(begin + 1) {
                Some(next) => at = next.at,
                None => break,
            }
        }
        self.order.iter().map(|slot| found[*slot]).collect()
    }

    /// Takes what a record's version wrote, no row if it deleted the record. Ignores what is older than what is there.
    pub(super) fn apply(&mut self, id: Uuid, version: u64, row: Option<&OwnedRow>) {
        if self.gone.get(&id).is_some_and(|gone| version <= *gone) {
            return;
        }
        // Most rows are new, and ids begin with their time.
        let is_last = self.order.last().is_none_or(|last| self.slots[*last].id < id);
        let found = if is_last {
            Err(self.order.len())
        } else {
            self.order.binary_search_by_key(&id, |slot| self.slots[*slot].id)
        };
        match (found, row) {
            (Ok(at), _) if version <= self.slots[self.order[at]].version => {}
            (Ok(at), Some(row)) => {
                let slot = self.order[at];
                self.waste += self.size_of(slot);
                self.slots[slot] = self.stored(slot, id, version, row);
            }
            (Ok(at), None) => {
                let slot = self.order.remove(at);
                self.waste += self.size_of(slot) + size_of::<Slot>();
                self.gone.insert(id, version);
            }
            (Err(at), Some(row)) => {
                let (slot, stored) = (self.slots.len(), self.stored(self.slots.len(), id, version, row));
                make_room(&mut self.slots, 1);
                self.slots.push(stored);
                make_room(&mut self.order, 1);
                self.order.insert(at, slot);
                self.gone.remove(&id);
            }
            (Err(_), None) => {
                self.gone.insert(id, version);
            }
        }
        if self.waste > WASTE_MAX.max(self.bytes() / 2) {
            self.move_together();
        }
    }

    /// For simulations: the version of a record that was applied.
    #[cfg(test)]
    pub(super) fn version_of(&self, id: Uuid) -> Option<u64> {
        let at = self.order.binary_search_by_key(&id, |slot| self.slots[*slot].id);
        at.map(|at| self.slots[self.order[at]].version).ok().or_else(|| self.gone.get(&id).copied())
    }

    /// The defect that simulations must find.
    #[cfg(test)]
    pub(super) fn forget_deletions(&mut self) {
        self.gone.clear();
    }

    fn size_of(&self, slot: usize) -> usize {
        let Slot { text, attributes, .. } = &self.slots[slot];
        text.len() + attributes.len() + size_of::<Begin>()
    }

    fn stored(&mut self, slot: usize, id: Uuid, version: u64, row: &OwnedRow) -> Slot {
        let (at, attributes_at) = (self.texts.len(), self.attributes.len());
        make_room(&mut self.begins, 1);
        self.begins.push(Begin { at, slot });
        let needed = row.text.len() + END.len_utf8();
        if self.texts.capacity() - self.texts.len() < needed {
            self.texts.reserve_exact(growth(self.texts.len(), needed));
        }
        self.texts.push_str(&row.text);
        let text = at..self.texts.len();
        self.texts.push(END);
        make_room(&mut self.attributes, row.attributes.len());
        self.attributes.extend(&row.attributes);
        Slot { id, version, text, attributes: attributes_at..self.attributes.len() }
    }

    fn move_together(&mut self) {
        let mut moved = Self { gone: std::mem::take(&mut self.gone), ..Self::default() };
        for slot in &self.order {
            moved.take(self, *slot);
        }
        *self = moved;
    }

    /// Takes a row that others have.
    pub(super) fn take(&mut self, others: &Self, slot: usize) {
        let Slot { id, version, text, attributes } = &others.slots[slot];
        let (text, attributes) = (others.texts[text.clone()].to_owned(), &others.attributes[attributes.clone()]);
        self.apply(*id, *version, Some(&OwnedRow { text, attributes: attributes.to_vec() }));
    }

    /// The ids of the rows, in order, with their slots.
    pub(super) fn ids(&self) -> impl Iterator<Item = (Uuid, usize)> {
        self.order.iter().map(|slot| (self.slots[*slot].id, *slot))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn row(text: &str) -> OwnedRow {
        OwnedRow { text: text.to_owned(), attributes: text.bytes().rev().collect() }
    }

    fn texts(rows: &HeldRows) -> Vec<&str> {
        (0..rows.count()).map(|at| rows.at(at).unwrap().searched()).collect()
    }

    #[test]
    fn a_version_counts_once_in_whatever_order_versions_come() {
        let (id, mut rows) = (Uuid::now_v7(), HeldRows::default());
        for (version, text) in [(2, "second"), (1, "first"), (3, "third"), (2, "second"), (3, "not the third")] {
            rows.apply(id, version, Some(&row(text)));
        }
        assert_eq!(texts(&rows), ["third"]);
        rows.apply(id, 4, None);
        rows.apply(id, 3, Some(&row("third")));
        assert_eq!((rows.count(), rows.containing("third")), (0, Vec::new()));
    }

    #[test]
    fn a_deletion_that_comes_first_outlives_what_was_written_before() {
        let (id, mut rows) = (Uuid::now_v7(), HeldRows::default());
        rows.apply(id, 2, None);
        rows.apply(id, 1, Some(&row("late")));
        assert_eq!(rows.count(), 0);
    }

    #[test]
    fn long_columns_leave_little_room_unused() {
        let mut rows = HeldRows::default();
        for n in 0..100_000 {
            rows.apply(Uuid::from_u128(n), 1, Some(&row("Ada Okafor\nada.okafor@harbor.example")));
        }
        let mut stored = HeldRows::of_columns(rows.columns()).unwrap();
        let exact = stored.bytes();
        stored.apply(Uuid::from_u128(100_000), 1, Some(&row("one more")));
        for rows in [rows, stored] {
            assert!(rows.bytes() < exact + exact / 12, "{} bytes for {exact}", rows.bytes());
        }
    }

    #[test]
    fn a_needle_is_found_in_one_text_only() {
        let mut rows = HeldRows::default();
        for text in ["ab", "cd", "", "b\nc"] {
            rows.apply(Uuid::now_v7(), 1, Some(&row(text)));
        }
        let found = |needle| rows.containing(needle);
        assert_eq!(found("b"), [true, false, false, true]);
        assert_eq!(found("bc"), [false; 4]);
        assert_eq!(found("b\0c"), [false; 4]);
        assert_eq!(found("d"), [false, true, false, false]);
        assert_eq!(found(""), [true; 4]);
    }

    #[test]
    fn columns_that_do_not_fit_each_other_are_no_rows() {
        let mut rows = HeldRows::default();
        for text in ["ab", "", "ünï"] {
            rows.apply(Uuid::now_v7(), 300, Some(&row(text)));
        }
        let whole = || rows.columns();
        assert!(HeldRows::of_columns(whole()).is_some());
        assert_eq!(HeldRows::of_columns(Columns::default()).unwrap().count(), 0);
        let shorter = |bytes: &[u8]| bytes[..bytes.len() - 1].to_vec();
        let longer = |bytes: &[u8]| [bytes, &[0]].concat();
        let swapped: Vec<u8> = whole().ids.chunks(size_of::<Uuid>()).rev().flatten().copied().collect();
        for (wrong, columns) in [
            ("an id too short", Columns { ids: shorter(&whole().ids), ..whole() }),
            ("ids out of order", Columns { ids: swapped, ..whole() }),
            ("a number too few", Columns { numbers: shorter(&whole().numbers), ..whole() }),
            ("a number too many", Columns { numbers: longer(&whole().numbers), ..whole() }),
            ("a text without its end", Columns { texts: shorter(&whole().texts), ..whole() }),
            ("a text too many", Columns { texts: longer(&whole().texts), ..whole() }),
            ("no text", Columns { texts: vec![0xff], ..whole() }),
            ("attributes too short", Columns { attributes: shorter(&whole().attributes), ..whole() }),
            ("attributes too long", Columns { attributes: longer(&whole().attributes), ..whole() }),
        ] {
            assert!(HeldRows::of_columns(columns).is_none(), "{wrong}");
        }
    }

    proptest! {
        /// Whatever is applied, in whatever order and how often: the newest version of each record is there.
        #[test]
        fn rows_are_those_of_a_plain_map(
            applied in prop::collection::vec((0..6_u128, 1..6_u64, "[ab]{0,3}"), 0..80),
            needle in "[ab]{0,2}",
        ) {
            // What a version of a record writes is always the same.
            let text = |id: u128, version: u64, text: &str| (version + u64::try_from(id).unwrap() % 2 != 4).then(|| format!("{text}{version}"));
            let mut first: BTreeMap<(u128, u64), Option<String>> = BTreeMap::new();
            let mut rows = HeldRows { waste: WASTE_MAX - 40, ..HeldRows::default() };
            let mut newest: BTreeMap<u128, (u64, Option<String>)> = BTreeMap::new();
            for (id, version, written) in applied {
                let written = first.entry((id, version)).or_insert_with(|| text(id, version, &written)).clone();
                rows.apply(Uuid::from_u128(id), version, written.as_deref().map(row).as_ref());
                let known = newest.entry(id).or_default();
                if known.0 < version {
                    *known = (version, written);
                }
            }
            let there: Vec<&String> = newest.values().filter_map(|(_, text)| text.as_ref()).collect();
            prop_assert_eq!(texts(&rows), there.iter().map(|text| text.as_str()).collect::<Vec<_>>());
            let found: Vec<bool> = there.iter().map(|text| text.contains(&needle)).collect();
            prop_assert_eq!(rows.containing(&needle), &*found);
            let again = HeldRows::of_columns(rows.columns()).unwrap();
            let all = |rows: &HeldRows| (0..rows.count()).map(|at| format!("{:?}", rows.at(at))).collect::<Vec<_>>();
            prop_assert_eq!(all(&again), all(&rows), "as they are stored");
            prop_assert_eq!(again.containing(&needle), found);
            prop_assert_eq!(again.columns(), rows.columns());
        }
    }
}
