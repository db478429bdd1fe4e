//! The documents of an agreement that papers funding items: their texts as PDFs, in the file store.

pub use pdf::certificate::letter::Part;
use pdf::certificate::letter::{self, Letter};
use pdf::certificate::{Date, Unwritable};
use pdf::fonts;
use shared::domain::agreement::DocumentContent;
use shared::domain::day::Day;
use shared::domain::funding::papers::{Block, Paper};
use shared::error::Error;
use shared::platform::files::{self, FileStore};
use shared::service::Scope;
use shared::service::papering::Prepared;

/// Writes prepared documents into the file store, and returns their names and hashes in order. Repeatable.
pub async fn write(scope: &Scope, prepared: &Prepared, to: &dyn FileStore) -> Result<Vec<DocumentContent>, Error> {
    let letters: Vec<Letter> = prepared.papers().iter().map(|paper| letter(prepared, paper)).collect();
    // Each takes the processor some milliseconds; other calls should go on.
    let written = tokio::task::spawn_blocking(move || letter::write_all(&letters, &fonts::all()));
    let written = written.await.map_err(|error| Error::Internal(format!("writing documents: {error}")))?;
    let written = written.map_err(|error: Unwritable| Error::Internal(format!("writing documents: {error}")))?;
    files::keep(scope, to, written.into_iter().map(Into::into).collect()).await
}

/// A schedule to be printed.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Identifies it, on each page.
    pub id: String,
    /// The owner, above the title.
    pub organization: String,
    /// Its title.
    pub title: String,
    /// The subject, on each page.
    pub about: String,
    /// Its day.
    pub day: Day,
    /// The content, in order.
    pub parts: Vec<Part>,
}

/// Writes a schedule as a PDF. The same schedule gives the same file.
pub async fn print(schedule: Schedule) -> Result<Vec<u8>, Error> {
    let Schedule { id, organization, title, about, day, parts } = schedule;
    let letter = Letter { id, organization, title, about, date: date_of(day), parts };
    let written = tokio::task::spawn_blocking(move || letter::write_all(&[letter], &fonts::all()));
    let written = written.await.map_err(|error| Error::Internal(format!("writing a schedule: {error}")))?;
    let written = written.map_err(|error: Unwritable| Error::Internal(format!("writing a schedule: {error}")))?;
    written.into_iter().next().ok_or_else(|| Error::Internal("writing a schedule: no file".to_owned()))
}

fn letter(prepared: &Prepared, paper: &Paper) -> Letter {
    let part = |block: &Block| match block {
        Block::Paragraph(text) => Part::Paragraph(text.clone()),
        Block::Facts(facts) => Part::Facts(facts.clone()),
        Block::Signatures(names) => Part::Signatures(names.clone()),
    };
    Letter {
        // The item, not the agreement: each attempt at papering drafts another agreement, and writes the same file.
        id: paper.item_id.to_string(),
        organization: prepared.trust().formal_name.as_str().to_owned(),
        title: paper.title.clone(),
        about: paper.asset.clone(),
        date: date_of(prepared.day()),
        parts: paper.blocks.iter().map(part).collect(),
    }
}

fn date_of(day: Day) -> Date {
    let mut parts = day.to_string().splitn(3, '-').map(str::to_owned).collect::<Vec<_>>().into_iter();
    let mut next = || parts.next().unwrap_or_default();
    let year = next().parse().unwrap_or_default();
    let month = next().parse().unwrap_or(1);
    let day = next().parse().unwrap_or(1);
    Date { year, month, day, ..Date::default() }
}
