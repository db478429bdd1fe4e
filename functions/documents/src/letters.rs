//! Letters as PDFs: the documents of an agreement that papers funding items, and the printed schedule.

use pdf::certificate::Date;
use pdf::certificate::letter::{self, Letter, Part};
use pdf::fonts;
use shared::domain::agreement::DocumentContent;
use shared::domain::day::Day;
use shared::domain::funding::papers::{Block, Paper};
use shared::error::Error;
use shared::platform::files::{self, FileStore};
use shared::service::Scope;
use shared::service::papering::Prepared;

/// Writes prepared documents into the file store, and returns their names and hashes in order. Repeatable.
pub(crate) async fn write(
    scope: &Scope,
    prepared: &Prepared,
    to: &dyn FileStore,
) -> Result<Vec<DocumentContent>, Error> {
    let letters: Vec<Letter> = prepared.papers().iter().map(|paper| letter(prepared, paper)).collect();
    files::keep(scope, to, drawn(letters).await?.into_iter().map(Into::into).collect()).await
}

/// Writes a letter as a PDF. The same letter gives the same file.
pub(crate) async fn print(letter: Letter) -> Result<Vec<u8>, Error> {
    drawn(vec![letter]).await?.into_iter().next().ok_or_else(|| Error::Internal("writing letters: no file".to_owned()))
}

/// Draws letters on a blocking thread, because each takes CPU time of some milliseconds.
async fn drawn(letters: Vec<Letter>) -> Result<Vec<Vec<u8>>, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Internal(format!("writing letters: {error}"));
    let drawn = tokio::task::spawn_blocking(move || letter::write_all(&letters, &fonts::all()));
    drawn.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
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
        date: date(prepared.day()),
        parts: paper.blocks.iter().map(part).collect(),
    }
}

/// A day as the date of a file.
pub(crate) fn date(day: Day) -> Date {
    let mut parts = day.to_string().splitn(3, '-').map(str::to_owned).collect::<Vec<_>>().into_iter();
    let mut next = || parts.next().unwrap_or_default();
    let year = next().parse().unwrap_or_default();
    let month = next().parse().unwrap_or(1);
    let day = next().parse().unwrap_or(1);
    Date { year, month, day, ..Date::default() }
}
