//! The figures as a table for people and as JSON for programs.

use std::fmt;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::measure::{Calls, Figures, ServiceLog};
use crate::postgresql::PostgreSql;
use crate::seed::{self, ListCase};

const ABOUT_POSTGRESQL: &str = "PostgreSQL with pg_trgm, OFFSET, count(*) and an audit INSERT per call, in the same run: \
p50 without an HTTP server before it, not waiting for the disk (scripts/postgresql). Ratios below 1 are ours ahead.";

const ABOUT_FIGURES: &str = "Times at the client, over HTTP on one connection. Client, service and store share this \
machine; a write is in the store's log, which survives the end of the process. Units and round trips as the service \
logged them, of the call that used most; they include the token's read and the audit row.";

const ABOUT_FIRST_LISTS: &str = "First lists are those of instances that were just started, one call each. Waits are trips \
one after another: those that are under way together count once.";

pub const OVER_ALL_ROWS: &str = "first, over all rows";
pub const FROM_A_FILE: &str = "first, from a file";

/// Of a list that a process has in memory.
const WAITS_OF_WARM_LIST: &str = "waits at most 3";

#[derive(Default)]
pub struct Report {
    pub operations: Vec<OperationRow<Figures>>,
    pub lists: Vec<ListRow<Figures>>,
    pub of_eight: Vec<EightRow>,
    pub seedings: Vec<Seeding>,
    pub not_measured: Vec<String>,
    /// Of this process, the store included, after the lists.
    pub resident_mib: u64,
}

/// First pages asked for on eight connections.
pub struct EightRow {
    pub contacts: usize,
    pub calls_per_s: f64,
    pub postgresql: Option<f64>,
}

impl EightRow {
    fn goal(&self) -> &'static str {
        if self.contacts >= LONG { "more than PostgreSQL" } else { "" }
    }
}

/// Contacts from which on lists are to be ahead of `PostgreSQL`.
const LONG: usize = 10_000;

pub struct Seeding {
    pub contacts: usize,
    pub seconds: f64,
}

pub struct OperationRow<T> {
    pub operation: &'static str,
    case: String,
    calls: T,
}

impl OperationRow<Calls> {
    pub fn new(operation: &'static str, case: &str, calls: Calls) -> Self {
        Self { operation, case: case.to_owned(), calls }
    }

    pub fn with_figures(self, log: &ServiceLog) -> OperationRow<Figures> {
        OperationRow { operation: self.operation, case: self.case, calls: self.calls.figures(log) }
    }
}

impl OperationRow<Figures> {
    fn goal(&self) -> &'static str {
        if self.operation == "list_contacts" { WAITS_OF_WARM_LIST } else { "" }
    }
}

pub struct ListRow<T> {
    contacts: usize,
    case: &'static str,
    matches: usize,
    postgresql_p50_ms: Option<f64>,
    pub calls: T,
}

impl ListRow<Calls> {
    pub fn new(contacts: usize, case: &ListCase, matches: usize, calls: Calls) -> Self {
        Self { contacts, case: case.name, matches, postgresql_p50_ms: None, calls }
    }

    pub fn beside(self, postgresql: Option<&PostgreSql>) -> Self {
        Self { postgresql_p50_ms: postgresql.and_then(|figures| figures.p50_ms.get(self.case).copied()), ..self }
    }

    pub fn with_figures(self, log: &ServiceLog) -> ListRow<Figures> {
        let Self { contacts, case, matches, postgresql_p50_ms, calls } = self;
        ListRow { contacts, case, matches, postgresql_p50_ms, calls: calls.figures(log) }
    }
}

impl ListRow<Figures> {
    fn ratio(&self) -> Option<f64> {
        self.postgresql_p50_ms.map(|theirs| self.calls.p50_ms / theirs)
    }

    fn goal(&self) -> String {
        let ratio = match (self.case, self.contacts) {
            (FROM_A_FILE, 100_000) => return "p50 at most 100 ms, waits at most 5".to_owned(),
            (OVER_ALL_ROWS | FROM_A_FILE, _) => return String::new(),
            (seed::FEW_HITS, 100_000) => "ratio at most 0.1, ",
            (seed::FIRST_PAGE | seed::LAST_PAGE | seed::FEW_HITS | seed::NO_HITS, LONG..) => "ratio below 1, ",
            (seed::FIRST_PAGE | seed::LAST_PAGE | seed::FEW_HITS | seed::NO_HITS, 100) => "ratio at most 2.5, ",
            _ => "",
        };
        format!("{ratio}{WAITS_OF_WARM_LIST}")
    }
}

impl Figures {
    fn cells(&self) -> String {
        format!(
            "{:>9.2} {:>9.2} {:>8} {:>7} {:>6} {:>6} {:>6}",
            self.p50_ms, self.p95_ms, self.read_units, self.write_units, self.round_trips, self.waits, self.calls
        )
    }

    fn json(&self) -> Value {
        json!({
            "calls": self.calls,
            "p50_ms": self.p50_ms,
            "p95_ms": self.p95_ms,
            "read_units": self.read_units,
            "write_units": self.write_units,
            "round_trips": self.round_trips,
            "waits": self.waits,
        })
    }
}

const HEADS: &str = "   p50 ms    p95 ms     read   write  trips  waits  calls";

fn build() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nCountersign's API, {} build, {} cores\n", build(), cores())?;
        writeln!(f, "{:<48}{HEADS}  goal", "operation")?;
        for row in &self.operations {
            let name =
                if row.case.is_empty() { row.operation.to_owned() } else { format!("{}: {}", row.operation, row.case) };
            write_row(f, &format!("{name:<48}{}", row.calls.cells()), row.goal())?;
        }
        for id in &self.not_measured {
            writeln!(f, "{id:<48}   not measured")?;
        }
        writeln!(
            f,
            "\n{:<10}{:<24}{:>8}{HEADS}  {:>10} {:>6}  goal",
            "contacts", "list_contacts", "matches", "PostgreSQL", "ratio"
        )?;
        for row in &self.lists {
            let beside = row.postgresql_p50_ms.zip(row.ratio());
            let beside = beside.map(|(theirs, ratio)| format!("{theirs:>10.2} {ratio:>6.2}")).unwrap_or_default();
            let cells = row.calls.cells();
            let row_of_it = format!("{:<10}{:<24}{:>8}{cells}  {beside:<17}", row.contacts, row.case, row.matches);
            write_row(f, &row_of_it, &row.goal())?;
        }
        writeln!(f, "\nFirst pages on eight connections, in calls per second:")?;
        writeln!(f, "{:<10}{:>8}  {:>10} {:>6}  goal", "contacts", "calls/s", "PostgreSQL", "ratio")?;
        for row @ EightRow { contacts, calls_per_s, postgresql } in &self.of_eight {
            let beside = postgresql.map(|theirs| format!("{theirs:>10.0} {:>6.2}", calls_per_s / theirs));
            let beside = beside.unwrap_or_default();
            write_row(f, &format!("{contacts:<10}{calls_per_s:>8.0}  {beside:<17}"), row.goal())?;
        }
        writeln!(f, "\n{} MiB were resident after the lists, with the store and the caller.", self.resident_mib)?;
        for seeding in &self.seedings {
            writeln!(f, "{} contacts were seeded in {:.1} s.", seeding.contacts, seeding.seconds)?;
        }
        for note in [ABOUT_FIGURES, ABOUT_FIRST_LISTS, ABOUT_POSTGRESQL] {
            write_wrapped(f, note)?;
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, cells: &str, goal: &str) -> fmt::Result {
    writeln!(f, "{}", format!("{cells}  {goal}").trim_end())
}

fn write_wrapped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    const WIDTH: usize = 100;
    let mut column = 0;
    writeln!(f)?;
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.len() > WIDTH {
            writeln!(f)?;
            column = 0;
        }
        if column > 0 {
            write!(f, " ")?;
            column += 1;
        }
        write!(f, "{word}")?;
        column += word.len();
    }
    writeln!(f)
}

impl Report {
    pub fn write(&self, file: &Path) -> io::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut text = serde_json::to_string_pretty(&self.json())?;
        text.push('\n');
        std::fs::write(file, text)
    }

    fn json(&self) -> Value {
        let operations = self.operations.iter().map(|row| {
            with(row.calls.json(), json!({"operation": row.operation, "case": row.case, "goal": row.goal()}))
        });
        let lists = self.lists.iter().map(|row| {
            let about = json!({
                "contacts": row.contacts,
                "case": row.case,
                "matches": row.matches,
                "postgresql_p50_ms": row.postgresql_p50_ms,
                "ratio": row.ratio(),
                "goal": row.goal(),
            });
            with(row.calls.json(), about)
        });
        let of_eight = self.of_eight.iter().map(|row| {
            let (EightRow { contacts, calls_per_s, postgresql }, goal) = (row, row.goal());
            json!({"contacts": contacts, "calls_per_s": calls_per_s, "postgresql_calls_per_s": postgresql, "goal": goal})
        });
        let seedings =
            self.seedings.iter().map(|seeding| json!({"contacts": seeding.contacts, "seconds": seeding.seconds}));
        json!({
            "build": build(),
            "cores": cores(),
            "about_figures": ABOUT_FIGURES,
            "about_first_lists": ABOUT_FIRST_LISTS,
            "about_postgresql": ABOUT_POSTGRESQL,
            "operations": operations.collect::<Vec<_>>(),
            "lists": lists.collect::<Vec<_>>(),
            "of_eight": of_eight.collect::<Vec<_>>(),
            "seedings": seedings.collect::<Vec<_>>(),
            "not_measured": self.not_measured,
            "resident_mib": self.resident_mib,
        })
    }
}

fn with(mut figures: Value, about: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut figures, about) {
        all.extend(more);
    }
    figures
}
