//! The figures as a table for people and as JSON for programs.

use std::fmt;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::measure::{Calls, Figures, ServiceLog};
use crate::postgresql::PostgreSql;
use crate::seed::ListCase;

const ABOUT_POSTGRESQL: &str = "PostgreSQL with pg_trgm, OFFSET, count(*) and an audit INSERT per call, in the same run: \
p50 without an HTTP server before it, not waiting for the disk (scripts/postgresql). Ratios below 1 are ours ahead.";

const ABOUT_FIGURES: &str = "Times at the client, over HTTP on one connection. Client, service and store share this \
machine; a write is in the store's log, which survives the end of the process. Units and round trips as the service \
logged them, of the call that used most; they include the token's read and the audit row.";

const ABOUT_FIRST_LISTS: &str = "First lists are those of instances that were just started, one call each. Goal for \
100,000 rows from a file: at most 100 ms of the service's own work, and 5 waits, of which the trips are at least as many.";

#[derive(Default)]
pub struct Report {
    pub operations: Vec<OperationRow<Figures>>,
    pub lists: Vec<ListRow<Figures>>,
    pub of_eight: Vec<EightRow>,
    pub seedings: Vec<Seeding>,
    pub not_measured: Vec<String>,
}

/// First pages asked for on eight connections.
pub struct EightRow {
    pub contacts: usize,
    pub calls_per_s: f64,
    pub postgresql: Option<f64>,
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
                (Some(theirs), Some(ratio)) => writeln!(f, "  {theirs:>10.2} {ratio:>6.2}")?,
                _ => writeln!(f)?,
            }
        }
        writeln!(f, "\nFirst pages on eight connections, in calls per second:")?;
        for EightRow { contacts, calls_per_s, postgresql } in &self.of_eight {
            write!(f, "{contacts:<10}{calls_per_s:>8.0}")?;
            match postgresql {
                Some(theirs) => writeln!(f, "  PostgreSQL {theirs:>8.0}, {:.2} times that", calls_per_s / theirs)?,
                None => writeln!(f)?,
            }
        }
        writeln!(f)?;
        for seeding in &self.seedings {
            writeln!(f, "{} contacts were seeded in {:.1} s.", seeding.contacts, seeding.seconds)?;
        }
        for note in [ABOUT_FIGURES, ABOUT_FIRST_LISTS, ABOUT_POSTGRESQL] {
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
                "postgresql_p50_ms": row.postgresql_p50_ms,
                "ratio": row.ratio(),
            });
            with(row.calls.json(), about)
        });
        let of_eight = self.of_eight.iter().map(|row| {
            let EightRow { contacts, calls_per_s, postgresql } = row;
            json!({"contacts": contacts, "calls_per_s": calls_per_s, "postgresql_calls_per_s": postgresql})
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
        })
    }
}

fn with(mut figures: Value, about: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut figures, about) {
        all.extend(more);
    }
    figures
}
