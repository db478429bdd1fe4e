//! The figures as a table for people and as JSON for programs.

use std::fmt;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::measure::{Calls, Figures, ServiceLog};
use crate::seed::ListCase;

/// `PostgreSQL`'s medians in ms: contacts, first page, last page, two-letter needle (see [`ABOUT_RECORDED`]).
const POSTGRESQL: [(usize, f64, f64, f64); 3] =
    [(100, 0.7, 0.7, 1.1), (10_000, 1.3, 4.5, 8.5), (100_000, 8.2, 20.0, 69.0)];

const ABOUT_RECORDED: &str = "PostgreSQL with pg_trgm, OFFSET, count(*) and an audit INSERT per call: p50 as recorded \
earlier, on a machine that is not on record. The ratio is therefore not one of the same run. Its needle had two \
letters, as those here; its share of hits is not on record.";

const ABOUT_FIGURES: &str = "Times at the client, over HTTP on one connection. Client, service and store share this \
machine; a write waits until the store's file is on disk. Units and round trips as the service logged them, of the \
call that used most; they include the token's read and the audit row.";

const ABOUT_FIRST_LISTS: &str = "First lists are those of instances that were just started, one call each. Goal for \
100,000 rows from a file: at most 100 ms of the service's own work, and 5 waits, of which the trips are at least as many.";

#[derive(Default)]
pub struct Report {
    pub operations: Vec<OperationRow<Figures>>,
    pub lists: Vec<ListRow<Figures>>,
    pub seedings: Vec<Seeding>,
    pub not_measured: Vec<String>,
}

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

pub struct ListRow<T> {
    contacts: usize,
    case: &'static str,
    matches: usize,
    postgresql_p50_ms: Option<f64>,
    pub calls: T,
}

impl ListRow<Calls> {
    pub fn new(contacts: usize, case: &ListCase, matches: usize, calls: Calls) -> Self {
        let recorded = POSTGRESQL.iter().find(|(size, ..)| *size == contacts);
        let postgresql_p50_ms = recorded.map(|(_, first, last, needle)| match (case.needle, case.offset) {
            (Some(_), _) => *needle,
            (None, 0) => *first,
            (None, _) => *last,
        });
        Self { contacts, case: case.name, matches, postgresql_p50_ms, calls }
    }

    pub fn with_figures(self, log: &ServiceLog) -> ListRow<Figures> {
        let Self { contacts, case, matches, postgresql_p50_ms, calls } = self;
        ListRow { contacts, case, matches, postgresql_p50_ms, calls: calls.figures(log) }
    }
}

impl ListRow<Figures> {
    fn ratio(&self) -> Option<f64> {
        self.postgresql_p50_ms.map(|recorded| self.calls.p50_ms / recorded)
    }
}

impl Figures {
    fn cells(&self) -> String {
        format!(
            "{:>9.2} {:>9.2} {:>8} {:>7} {:>6} {:>6}",
            self.p50_ms, self.p95_ms, self.read_units, self.write_units, self.round_trips, self.calls
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
        })
    }
}

const HEADS: &str = "   p50 ms    p95 ms     read   write  trips  calls";

fn build() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nCountersign's API, {} build, {} cores\n", build(), cores())?;
        writeln!(f, "{:<48}{HEADS}", "operation")?;
        for row in &self.operations {
            let name =
                if row.case.is_empty() { row.operation.to_owned() } else { format!("{}: {}", row.operation, row.case) };
            writeln!(f, "{name:<48}{}", row.calls.cells())?;
        }
        for id in &self.not_measured {
            writeln!(f, "{id:<48}   not measured")?;
        }
        writeln!(
            f,
            "\n{:<10}{:<24}{:>8}{HEADS}  {:>10} {:>6}",
            "contacts", "list_contacts", "matches", "PostgreSQL", "ratio"
        )?;
        for row in &self.lists {
            write!(f, "{:<10}{:<24}{:>8}{}", row.contacts, row.case, row.matches, row.calls.cells())?;
            match (row.postgresql_p50_ms, row.ratio()) {
                (Some(recorded), Some(ratio)) => writeln!(f, "  {recorded:>10.1} {ratio:>6.1}")?,
                _ => writeln!(f)?,
            }
        }
        writeln!(f)?;
        for seeding in &self.seedings {
            writeln!(f, "{} contacts were seeded in {:.1} s.", seeding.contacts, seeding.seconds)?;
        }
        for note in [ABOUT_FIGURES, ABOUT_FIRST_LISTS, ABOUT_RECORDED] {
            write_wrapped(f, note)?;
        }
        Ok(())
    }
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
        let operations = self
            .operations
            .iter()
            .map(|row| with(row.calls.json(), json!({"operation": row.operation, "case": row.case})));
        let lists = self.lists.iter().map(|row| {
            let about = json!({
                "contacts": row.contacts,
                "case": row.case,
                "matches": row.matches,
                "postgresql_recorded_p50_ms": row.postgresql_p50_ms,
                "ratio_to_recorded": row.ratio(),
            });
            with(row.calls.json(), about)
        });
        let seedings =
            self.seedings.iter().map(|seeding| json!({"contacts": seeding.contacts, "seconds": seeding.seconds}));
        json!({
            "build": build(),
            "cores": cores(),
            "about_figures": ABOUT_FIGURES,
            "about_first_lists": ABOUT_FIRST_LISTS,
            "about_recorded": ABOUT_RECORDED,
            "operations": operations.collect::<Vec<_>>(),
            "lists": lists.collect::<Vec<_>>(),
            "seedings": seedings.collect::<Vec<_>>(),
            "not_measured": self.not_measured,
        })
    }
}

fn with(mut figures: Value, about: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut figures, about) {
        all.extend(more);
    }
    figures
}
