//! Simulates writers and readers of one list, each with a clock of its own, over a table that answers a page at a time.
//!
//! Every list must have what was acknowledged before it began, and no reader may see a record go back. Writers, stamps,
//! entries, rows and windows are those of the product; the table, time and defects are made up.

use std::collections::BTreeMap;

use fastrand::Rng;
use uuid::Uuid;

use super::OwnedRow;
use super::held_rows::HeldRows;
use super::log::{self, RowWrite, logged};
use super::snapshots::{Readings, ms};
use crate::domain::ids::{ContactId, OrgId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::store::change::Change;
use crate::store::item::{Item, STAMP, number};
use crate::store::keys::{self, Key, Rows};
use crate::store::record;

const BEGIN: i64 = 1_790_000_000_000;
const RECORDS: usize = 2;
const STEPS: usize = 120;
/// Rows or entries of one response.
const PAGE: usize = 2;

/// A part of the protocol that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    ShortWindow,
    /// Entries count as they come, whatever their versions.
    NoVersions,
    NoDeletionsKept,
    /// Stamps are the writer's clock alone.
    StampsMayFall,
    /// The log is read from the beginning of the last reading by the reader's clock.
    NoWindow,
}

#[derive(Debug, Default)]
struct Table {
    /// The newest version of each record, and its row if it is there.
    records: BTreeMap<usize, (u64, Option<i64>, Option<Item>)>,
    log: BTreeMap<String, Item>,
    /// Whether each version of a record deleted it.
    deletions: BTreeMap<(usize, u64), bool>,
    acknowledged: BTreeMap<usize, u64>,
}

struct Writer {
    skew: i64,
    /// The transaction under way: of which record, on which version, when it takes effect, and whether anybody hears of it.
    underway: Option<Underway>,
}

struct Underway {
    record: usize,
    based_on: u64,
    effect_at: i64,
    is_heard: bool,
    changes: Vec<Change>,
}

struct Reader {
    skew: i64,
    rows: HeldRows,
    readings: Option<Readings>,
    /// Two lists that are answered side by side.
    under_way: [Option<Reading>; 2],
    /// The newest version of each record that was listed.
    seen: BTreeMap<usize, u64>,
    applied: u64,
}

struct Reading {
    began: i64,
    before: Option<Readings>,
    acknowledged: BTreeMap<usize, u64>,
    is_pass: bool,
    is_read: bool,
    /// Where the next response begins.
    next: String,
    entries: Vec<Item>,
}

struct World {
    defect: Defect,
    rng: Rng,
    now: i64,
    org: OrgId,
    ids: Vec<Uuid>,
    table: Table,
    writers: Vec<Writer>,
    readers: Vec<Reader>,
}

impl World {
    fn new(seed: u64, defect: Defect) -> Self {
        let mut rng = Rng::with_seed(seed);
        let skew_max = ms(limits::CLOCK_SKEW_MAX);
        let mut skew =
            || if rng.bool() { [skew_max, -skew_max][rng.usize(..2)] } else { rng.i64(-skew_max..=skew_max) };
        let writers = (0..3).map(|_| Writer { skew: skew(), underway: None }).collect();
        let reader = |skew| Reader {
            skew,
            rows: HeldRows::default(),
            readings: None,
            under_way: [None, None],
            seen: BTreeMap::new(),
            applied: 0,
        };
        let readers = (0..2).map(|_| reader(skew())).collect();
        let ids = (0..RECORDS).map(|_| Uuid::now_v7()).collect();
        Self { defect, rng, now: BEGIN, org: OrgId::new(), ids, table: Table::default(), writers, readers }
    }

    fn step(&mut self) -> Result<(), String> {
        self.now += [0, 1, 200, 5_000, 9_000, 30_000][self.rng.usize(..6)];
        // What takes effect until now, in that order.
        let effect_at = |writer: &Writer| writer.underway.as_ref().map(|underway| underway.effect_at);
        let mut due: Vec<(i64, usize)> =
            (0..).zip(&self.writers).filter_map(|(at, writer)| Some((effect_at(writer)?, at))).collect();
        due.sort_unstable();
        for (effect_at, writer) in due {
            if effect_at <= self.now {
                self.commit(writer);
            }
        }
        let actor = self.rng.usize(..self.writers.len() + self.readers.len());
        match actor.checked_sub(self.writers.len()) {
            None => self.write(actor),
            Some(reader) => self.read(reader)?,
        }
        Ok(())
    }

    fn write(&mut self, writer: usize) {
        if self.writers[writer].underway.is_some() {
            return;
        }
        let (record, commit_max) = (self.rng.usize(..RECORDS), ms(limits::COMMIT_MAX));
        let (based_on, stamp, row) = self.table.records.get(&record).cloned().unwrap_or_default();
        let version = based_on + 1;
        let id = self.ids[record];
        let deletes = row.is_some() && self.rng.u8(..4) == 0;
        let text = format!("{record}:{version}");
        let row = (!deletes).then(|| record::row_item(keys::row(self.org, Rows::Contacts, id), &text, version));
        let key = keys::contact(self.org, ContactId::from(id));
        let stamp_before = stamp.filter(|_| self.defect != Defect::StampsMayFall);
        let write =
            RowWrite { org: self.org, rows: Rows::Contacts, id, record: key.clone(), version, stamp_before, row };
        let clock = Timestamp::from_unix_ms(self.now + self.writers[writer].skew).unwrap();
        let changes = logged(vec![Change::Create(key.into_item()), Change::Row(write)], clock);
        // Most take effect at once, some at the last moment, a few so late that they were given up.
        let (delay, is_heard) = match self.rng.u8(..8) {
            0 => (commit_max, true),
            1 => (self.rng.i64(0..=commit_max), true),
            2 => (self.rng.i64(0..ms(limits::LATE_WRITES_WINDOW) / 3), false),
            _ => (self.rng.i64(0..50), true),
        };
        let effect_at = self.now + delay;
        self.writers[writer].underway = Some(Underway { record, based_on, effect_at, is_heard, changes });
    }

    fn commit(&mut self, writer: usize) {
        let Some(Underway { record, based_on, is_heard, changes, .. }) = self.writers[writer].underway.take() else {
            return;
        };
        if self.table.records.get(&record).map_or(0, |(version, ..)| *version) != based_on {
            return;
        }
        let [Change::Create(item), Change::Row(write), Change::Put(entry)] = &changes[..] else {
            unreachable!("{changes:?}")
        };
        let version = based_on + 1;
        self.table.records.insert(record, (version, number(item, STAMP), write.row.clone()));
        self.table.deletions.insert((record, version), write.row.is_none());
        self.table.log.insert(Key::of(entry).unwrap().sort().to_owned(), entry.clone());
        if is_heard {
            self.table.acknowledged.insert(record, version);
        }
    }

    fn read(&mut self, at: usize) -> Result<(), String> {
        let (now, defect) = (self.now + self.readers[at].skew, self.defect);
        let reader = &mut self.readers[at];
        // While one passes over the rows, the other waits.
        let passing =
            reader.under_way.iter().position(|reading| reading.as_ref().is_some_and(|reading| reading.is_pass));
        let list = passing.unwrap_or_else(|| self.rng.usize(..2));
        let mut reading = reader.under_way[list].take().unwrap_or_else(|| {
            let from = reader.readings.map(|readings| match defect {
                Defect::ShortWindow => readings.from(now) + ms(limits::LOG_WINDOW) / 2,
                Defect::NoWindow => readings.from(now) + ms(limits::LOG_WINDOW),
                _ => readings.from(now),
            });
            let acknowledged = self.table.acknowledged.clone();
            let next = from.map_or_else(String::new, keys::logged_from);
            Reading {
                began: now,
                before: reader.readings,
                acknowledged,
                is_pass: from.is_none(),
                is_read: false,
                next,
                entries: Vec::new(),
            }
        });
        // The last response takes its time, too: another list may be answered before this one counts.
        let is_over = if reading.is_read {
            true
        } else if reading.is_pass {
            let next: usize = reading.next.parse().unwrap_or_default();
            let page = self.table.records.range(next..).take(PAGE);
            for (record, (version, _, row)) in page {
                if let Some(row) = row {
                    reader.rows.apply(self.ids[*record], *version, Some(&OwnedRow::of(row)));
                }
            }
            reading.next = (next + PAGE).to_string();
            reading.is_read = next + PAGE >= RECORDS;
            false
        } else {
            let page: Vec<(&String, &Item)> = self.table.log.range(reading.next.clone()..).take(PAGE).collect();
            reading.entries.extend(page.iter().map(|(_, entry)| (*entry).clone()));
            if let Some((last, _)) = page.last() {
                reading.next = format!("{last}~");
            }
            reading.is_read = page.len() < PAGE;
            false
        };
        if !is_over {
            reader.under_way[list] = Some(reading);
            return Ok(());
        }
        for written in reading.entries.iter().flat_map(|entry| log::read(entry).unwrap()) {
            reader.applied += 1;
            let version = if defect == Defect::NoVersions { 1_000 + reader.applied } else { written.version };
            reader.rows.apply(written.id, version, written.row.as_ref());
            if defect == Defect::NoDeletionsKept {
                reader.rows.forget_deletions();
            }
        }
        let begun = Readings::begin(reading.began);
        reader.readings = Some(reading.before.map_or(begun, |before| before.after(reading.began)));
        self.check(at, &reading.acknowledged)
    }

    /// A record that is not there has its last known deletion.
    fn check(&mut self, at: usize, acknowledged: &BTreeMap<usize, u64>) -> Result<(), String> {
        let reader = &mut self.readers[at];
        for record in 0..RECORDS {
            let id = self.ids[record];
            let text = (0..reader.rows.count()).filter_map(|at| reader.rows.at(at)).find(|row| row.id::<Uuid>() == id);
            let listed = text.map(|row| row.searched().split_once(':').unwrap().1.parse::<u64>().unwrap());
            let deletions = self.table.deletions.iter().filter(|((of, _), deleted)| *of == record && **deleted);
            let deleted = deletions.map(|((_, version), _)| *version).max().unwrap_or_default();
            let held = reader.rows.version_of(id).filter(|_| self.defect == Defect::None);
            let has = listed.or(held).unwrap_or(deleted);
            let known = acknowledged.get(&record).copied().unwrap_or_default();
            if has < known {
                return Err(format!("a list has version {has} of a record, and {known} was acknowledged before"));
            }
            if let Some(listed) = listed {
                let seen = reader.seen.insert(record, listed).unwrap_or_default();
                if listed < seen {
                    return Err(format!("a list goes back from version {seen} of a record to {listed}"));
                }
            }
        }
        Ok(())
    }
}

fn run(seed: u64, defect: Defect) -> Result<(), String> {
    let mut world = World::new(seed, defect);
    (0..STEPS).try_for_each(|_| world.step()).map_err(|fault| format!("seed {seed}: {fault}"))
}

#[test]
fn every_list_has_what_was_acknowledged_before_it_began() {
    let first = fastrand::u64(..1 << 60);
    for seed in first..first + 3_000 {
        run(seed, Defect::None).unwrap();
    }
}

#[test]
fn each_part_of_the_protocol_is_needed() {
    for defect in
        [Defect::ShortWindow, Defect::NoWindow, Defect::NoVersions, Defect::NoDeletionsKept, Defect::StampsMayFall]
    {
        let fault = (0..100_000).find_map(|seed| run(seed, defect).err());
        assert!(fault.is_some(), "{defect:?} is not found");
    }
}
