//! The documents of an agreement that papers funding items: their texts as PDFs, in the file store.

use futures_util::future::try_join_all;
use paper::certificate::letter::{self, Letter, Part};
use paper::certificate::{Date, Unwritable};
use paper::fonts;
use shared::domain::agreement::DocumentContent;
use shared::domain::funding::papers::{Block, Paper};
use shared::domain::ids::OrgId;
use shared::error::Error;
use shared::platform::files::FileStore;
use shared::service::papering::Prepared;

/// Writes the documents of what was prepared into the file store, and returns what names them, in their order. A repeat
/// writes the same files again.
///
/// # Errors
/// [`Error::Internal`] when a document can't be written, and those of the file store.
pub async fn write(org: OrgId, prepared: &Prepared, files: &dyn FileStore) -> Result<Vec<DocumentContent>, Error> {
    let letters: Vec<Letter> = prepared.papers().iter().map(|paper| letter(prepared, paper)).collect();
    // It takes the processor for some milliseconds each, and other calls should go on.
    let written = tokio::task::spawn_blocking(move || letter::write_all(&letters, &fonts::all()));
    let written = written.await.map_err(|error| Error::Internal(format!("writing documents: {error}")))?;
    let written = written.map_err(|error: Unwritable| Error::Internal(format!("writing documents: {error}")))?;
    let contents = try_join_all(written.into_iter().map(|file| files.put(org, file.into()))).await?;
    Ok(contents)
}

fn letter(prepared: &Prepared, paper: &Paper) -> Letter {
    let part = |block: &Block| match block {
        Block::Paragraph(text) => Part::Paragraph(text.clone()),
        Block::Facts(facts) => Part::Facts(facts.clone()),
        Block::Signatures(names) => Part::Signatures(names.clone()),
    };
    Letter {
        // The item, and not the agreement: each attempt at papering drafts another, and writes the same file.
        id: paper.item_id.to_string(),
        organization: prepared.trust().formal_name.as_str().to_owned(),
        title: paper.title.clone(),
        about: paper.asset.clone(),
        date: date(prepared),
        parts: paper.blocks.iter().map(part).collect(),
    }
}

/// The day of the documents, as the properties of the files have it.
fn date(prepared: &Prepared) -> Date {
    let mut parts = prepared.day().to_string().splitn(3, '-').map(str::to_owned).collect::<Vec<_>>().into_iter();
    let mut next = || parts.next().unwrap_or_default();
    let year = next().parse().unwrap_or_default();
    let month = next().parse().unwrap_or(1);
    let day = next().parse().unwrap_or(1);
    Date { year, month, day, ..Date::default() }
}
