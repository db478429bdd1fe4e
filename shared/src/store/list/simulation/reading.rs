//! How a reader reads the log and the rows of the simulated list, a response at a time.

use std::collections::{BTreeMap, HashSet};

use super::{Defect, File, PAGE, Reader, World};
use crate::limits;
use crate::store::item::Item;
use crate::store::keys::{self, Key, Rows};
use crate::store::list::held_rows::HeldRows;
use crate::store::list::late::{self, FoundLate};
use crate::store::list::log::{self, Written};
use crate::store::list::ms;
use crate::store::list::snapshots::{Readings, is_fresh};
use crate::store::list::spread::{self, List, spread_row};

/// A list under way.
pub(super) struct Reading {
    began: i64,
    before: Option<Readings>,
    acknowledged: BTreeMap<usize, u64>,
    of: Source,
    /// The partitions of the log that are left to read, the last one first.
    logs: Vec<String>,
    /// Whether its parts are or were among them.
    has_parts: bool,
    /// The stamp from which on the log is read.
    from: i64,
    /// Where the next response begins.
    next: String,
    entries: Vec<Item>,
    /// The entries of late writes that the reader had when this began.
    known_late: HashSet<String>,
    /// Those that it has afterwards, once the log was read.
    late: Option<HashSet<String>>,
}

/// What is read, before the rows count that were there.
enum Source {
    /// The rows of records, in any order.
    Pass {
        left: Vec<Key>,
        is_first: bool,
        is_spread: bool,
        rows: HeldRows,
    },
    File(File),
    /// The log of a spread list, after a pass over its rows.
    Passed(HeldRows),
    Log,
    /// The last response takes its time, too: another list may be answered before this one counts.
    Nothing(Option<(HeldRows, i64)>),
}

impl World {
    fn begin(&mut self, at: usize, now: i64) -> Reading {
        if self.readers[at].readings.is_some() && !is_fresh(self.readers[at].passed_at, now) {
            self.readers[at] = Reader::new(self.readers[at].skew);
        }
        let before = self.readers[at].readings;
        let file = if before.is_none() { self.file(now) } else { None };
        let before = before.or(file.as_ref().map(|file| Readings::begin(file.as_of)));
        let from = before.map(|before| match self.defect {
            Defect::ShortWindow => before.from(now) + ms(limits::LOG_WINDOW) / 2,
            Defect::NoWindow => before.from(now) + ms(limits::LOG_WINDOW),
            _ => before.from(now),
        });
        let of = match (before, file) {
            (_, Some(file)) => Source::File(file),
            (Some(_), None) => Source::Log,
            (None, None) => self.pass(),
        };
        let acknowledged = self.table.acknowledged.clone();
        let from = from.unwrap_or_default();
        let next = keys::logged_from(from);
        let known_late = self.readers[at].late.clone();
        let has_parts = self.readers[at].knows_spread;
        let mut logs = if has_parts { self.log_parts() } else { Vec::new() };
        logs.push(keys::log(self.org, Rows::Contacts));
        let (began, entries) = (now, Vec::new());
        Reading { began, before, acknowledged, of, logs, has_parts, from, next, entries, known_late, late: None }
    }

    fn list(&self) -> List {
        (self.org, Rows::Contacts)
    }

    fn log_parts(&mut self) -> Vec<String> {
        let mut parts: Vec<String> =
            spread::parts().map(|part| keys::spread_log(self.org, Rows::Contacts, part)).collect();
        self.rng.shuffle(&mut parts);
        parts
    }

    /// Ranges are read side by side, so rows come in any order.
    fn pass(&mut self) -> Source {
        let mut left: Vec<Key> = self.ids.iter().map(|id| keys::row(self.org, Rows::Contacts, *id)).collect();
        self.rng.shuffle(&mut left);
        Source::Pass { left, is_first: true, is_spread: false, rows: HeldRows::default() }
    }

    pub(super) fn read(&mut self, at: usize) -> Result<(), String> {
        let now = self.now + self.readers[at].skew;
        // While one begins anew, the other waits.
        let is_first = self.readers[at].readings.is_none();
        let first = self.readers[at].under_way.iter().position(|reading| is_first && reading.is_some());
        let list = first.unwrap_or_else(|| self.rng.usize(..2));
        let reading = self.readers[at].under_way[list].take();
        let mut reading = reading.unwrap_or_else(|| self.begin(at, now));
        let of = std::mem::replace(&mut reading.of, Source::Nothing(None));
        reading.of = match of {
            Source::Nothing(begun) => {
                self.finish(at, begun, &reading);
                return self.check(at, &reading.acknowledged);
            }
            Source::Pass { mut left, is_first, is_spread, mut rows } => {
                let finds_mark = is_first && self.is_marked() && self.defect != Defect::RowsAreUndivided;
                if finds_mark {
                    left.extend(self.ids.iter().map(|id| spread_row(self.list(), *id)));
                    self.rng.shuffle(&mut left);
                }
                let row = left.pop().and_then(|key| self.table.rows.get(&key));
                if let Some(Written { id, version, row }) = row.and_then(Written::of_row) {
                    rows.apply(id, version, row.as_ref());
                }
                let is_spread = is_spread || finds_mark;
                match (left.is_empty(), is_spread && self.defect != Defect::NoLogAfterPass) {
                    (false, _) => Source::Pass { left, is_first: false, is_spread, rows },
                    (true, false) => Source::Nothing(Some((rows, reading.began))),
                    (true, true) => {
                        reading.from = if self.defect == Defect::ShortLogAfterPass {
                            reading.began
                        } else {
                            Readings::begin(reading.began).stamp_after_pass()
                        };
                        reading.next = keys::logged_from(reading.from);
                        Source::Passed(rows)
                    }
                }
            }
            of => self.read_log(at, &mut reading, of),
        };
        if matches!(reading.of, Source::Pass { .. }) && reading.before.is_some() {
            // The file was damaged.
            let (has_parts, logs) = (false, vec![keys::log(self.org, Rows::Contacts)]);
            reading = Reading { before: None, entries: Vec::new(), has_parts, logs, late: None, ..reading };
        }
        self.readers[at].under_way[list] = Some(reading);
        Ok(())
    }

    /// What is left to read after a response. The mark comes with the last one of the undivided log.
    fn read_log(&mut self, at: usize, reading: &mut Reading, of: Source) -> Source {
        let log = reading.logs.last().cloned().unwrap_or_default();
        let is_there = |key: &Key| key.partition() == log;
        let from = keys::with_sort(log.clone(), &reading.next);
        let page: Vec<(&Key, &Item)> =
            self.table.log.range(from..).take_while(|(key, _)| is_there(key)).take(PAGE).collect();
        reading.entries.extend(page.iter().map(|(_, entry)| (*entry).clone()));
        if let Some((last, _)) = page.last() {
            reading.next = format!("{}~", last.sort());
        }
        if page.len() == PAGE {
            return of;
        }
        reading.logs.pop();
        reading.next = keys::logged_from(reading.from);
        let is_undivided = log == keys::log(self.org, Rows::Contacts);
        let finds_mark = is_undivided && self.is_marked() && self.defect != Defect::LogIsUndivided;
        if finds_mark && !reading.has_parts {
            (reading.logs, reading.has_parts) = (self.log_parts(), true);
            self.readers[at].knows_spread = true;
        }
        if !reading.logs.is_empty() {
            return of;
        }
        if reading.late.is_none()
            && let Some(earlier) = self.find_late(reading)
        {
            reading.logs = if reading.has_parts { self.log_parts() } else { Vec::new() };
            reading.logs.push(keys::log(self.org, Rows::Contacts));
            reading.entries.clear();
            (reading.next, reading.from) = (keys::logged_from(earlier), earlier);
            return of;
        }
        let file = match of {
            Source::File(file) => file,
            Source::Passed(rows) => return Source::Nothing(Some((rows, reading.began))),
            _ => return Source::Nothing(None),
        };
        match HeldRows::of_columns(file.columns) {
            Some(rows) => Source::Nothing(Some((rows, file.passed_at))),
            None => self.pass(),
        }
    }

    /// Notes the entries of late writes, and gives the stamp from which on the log is to be read once more.
    fn find_late(&self, reading: &mut Reading) -> Option<i64> {
        let found = FoundLate::of(&reading.entries, reading.from, &reading.known_late);
        let is_unread = self.defect == Defect::LateEntriesUnread;
        reading.late = Some(if is_unread {
            reading.entries.iter().filter_map(late::name).map(ToOwned::to_owned).collect()
        } else {
            found.names
        });
        found.read_from.filter(|_| !is_unread)
    }

    fn finish(&mut self, at: usize, begun: Option<(HeldRows, i64)>, reading: &Reading) {
        let (reader, defect) = (&mut self.readers[at], self.defect);
        if let Some(begun) = begun {
            (reader.rows, reader.passed_at) = begun;
        }
        reader.late = reading.late.clone().unwrap_or_default();
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
    }
}
