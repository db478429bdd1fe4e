//! Logical copies of a table (`ops backup`, `ops restore`): each item as a line of JSON.
//!
//! A copy is not of one moment: each page of the table is read a little later than the one before. Of what calls change
//! meanwhile it may have a part, so take it while nothing writes. On AWS, point-in-time recovery is what has one moment.
//!
//! | Line | |
//! |---|---|
//! | `{"countersign_backup":1,"schema":2}` | the first one: the format, and the schema version of the release |
//! | `{"item":{…}}` | an item, as `DynamoDB` writes it in JSON |
//! | `{"position":"…"}` | after each page: where an interrupted copy goes on |
//! | `{"items":1234}` | the last one: how many items there are |

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use shared::limits;
use shared::store::copy::{PutBack, StoredItem};
use shared::store::operator::Operator;
use shared::store::whole_table::Position;
use shared::store::{Store, StoreError, versions};

use crate::progress;

/// The format of the file.
const FORMAT: u32 = 1;

/// Why a table was not copied or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file can't be read or written.
    #[error("the file {path} can't be read or written: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file has a whole backup.
    #[error("the file {0} has a whole backup: choose another one")]
    Complete(PathBuf),
    /// The file has an interrupted backup.
    #[error("the file {0} has no whole backup: run `ops backup` with it again to finish it")]
    Incomplete(PathBuf),
    /// The file is not a backup, or damaged.
    #[error("the file {path} is no backup, or damaged: line {line}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A newer release made the backup.
    #[error("a newer release made the backup (schema version {0}): restore it with that release's ops")]
    Newer(u32),
    /// The table can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was restored.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Items that were written.
    pub written: u64,
    /// Items that the table had already, from an earlier run.
    pub same: u64,
    /// Items of the table that differ from the backup, and were left as they are.
    pub different: u64,
}

impl Restored {
    /// Items of the backup that the table has now.
    fn items(self) -> u64 {
        self.written + self.same + self.different
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Header { countersign_backup: u32, schema: u32 },
    Item { item: StoredItem },
    Position { position: String },
    End { items: u64 },
}

/// What an earlier run has left in the file.
#[derive(Default)]
struct Begun {
    items: u64,
    position: Option<Position>,
    bytes: u64,
}

/// Copies a table into a file, which only its owner can read. If the file has an interrupted copy, it goes on with it.
/// On a terminal it shows how far it is. Returns how many items there are in the end.
///
/// # Errors
/// [`BackupError`]. What was copied before stays in the file, and another run goes on.
pub async fn backup(store: &Store, path: &Path) -> Result<u64, BackupError> {
    let failed = |error| BackupError::File { path: path.to_owned(), error };
    let mut file = open(path).map_err(failed)?;
    let mut begun = begun(path, &file)?;
    file.set_len(begun.bytes).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
    if begun.bytes == 0 {
        let header = Line::Header { countersign_backup: FORMAT, schema: versions::NEWEST };
        write_lines(&mut file, [header]).map_err(failed)?;
    }
    let bar = progress::of_table(store).await;
    loop {
        let (items, next) = Operator::new(store).copy_page(begun.position.as_ref(), limits::TABLE_PAGE_ITEMS).await?;
        begun.items += u64::try_from(items.len()).unwrap_or_default();
        let items = items.into_iter().map(|item| Line::Item { item });
        let is_over = next.is_none();
        let end = match &next {
            Some(position) => Line::Position { position: position.to_string() },
            None => Line::End { items: begun.items },
        };
        write_lines(&mut file, items.chain([end])).map_err(failed)?;
        bar.set_position(begun.items);
        begun.position = next;
        if is_over {
            bar.finish_and_clear();
            return Ok(begun.items);
        }
    }
}

/// Restores a copy into a table. What the table has already is left as it is, so that nothing is overwritten, and a run that
/// was interrupted can be repeated. On a terminal it shows how far it is.
///
/// # Errors
/// [`BackupError`]; before anything is written if the file is not a whole backup, or a newer release made it.
pub async fn restore(store: &Store, path: &Path) -> Result<Restored, BackupError> {
    let bar = progress::of(check(path)?);
    let mut restored = Restored::default();
    let mut lines = lines(path)?;
    loop {
        let mut items = Vec::new();
        for line in lines.by_ref().take(usize::try_from(limits::TABLE_PAGE_ITEMS).unwrap_or(1)) {
            match line? {
                Line::Item { item } => items.push(item),
                Line::End { .. } => {
                    put_back(store, items, &mut restored).await?;
                    bar.set_position(restored.items());
                    bar.finish_and_clear();
                    return Ok(restored);
                }
                Line::Header { .. } | Line::Position { .. } => {}
            }
        }
        put_back(store, items, &mut restored).await?;
        bar.set_position(restored.items());
    }
}

async fn put_back(store: &Store, items: Vec<StoredItem>, restored: &mut Restored) -> Result<(), StoreError> {
    let put = stream::iter(items).map(|item| async move { Operator::new(store).put_back(&item).await });
    let put: Vec<PutBack> = put.buffer_unordered(limits::REWRITES_AT_ONCE).try_collect().await?;
    for put in put {
        match put {
            PutBack::Written => restored.written += 1,
            PutBack::Same => restored.same += 1,
            PutBack::Different => restored.different += 1,
        }
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Finds out where an interrupted copy goes on: behind its last whole page.
fn begun(path: &Path, file: &File) -> Result<Begun, BackupError> {
    let failed = |error| BackupError::File { path: path.to_owned(), error };
    let (mut begun, mut items, mut bytes) = (Begun::default(), 0, 0);
    let mut reader = BufReader::new(file);
    for number in 1.. {
        let mut text = String::new();
        let length = reader.read_line(&mut text).map_err(failed)?;
        // A line that has no end yet was being written when the run was interrupted.
        if !text.ends_with('\n') {
            break;
        }
        bytes += u64::try_from(length).unwrap_or_default();
        match parse(path, number, &text)? {
            Line::Header { .. } => begun.bytes = bytes,
            Line::Item { .. } => items += 1,
            Line::Position { position } => {
                let damaged = |_| BackupError::Damaged { path: path.to_owned(), line: number };
                begun = Begun { items, position: Some(position.parse().map_err(damaged)?), bytes };
            }
            Line::End { .. } => return Err(BackupError::Complete(path.to_owned())),
        }
    }
    Ok(begun)
}

/// Reads the whole file: it must be a whole backup of this release or an older one. Returns how many items it has.
fn check(path: &Path) -> Result<u64, BackupError> {
    let (mut found, mut last) = (0, None);
    for line in lines(path)? {
        match line? {
            Line::Header { schema, .. } if schema > versions::NEWEST => return Err(BackupError::Newer(schema)),
            Line::Item { .. } => found += 1,
            Line::End { items } => last = Some(items),
            Line::Header { .. } | Line::Position { .. } => {}
        }
    }
    if last == Some(found) { Ok(found) } else { Err(BackupError::Incomplete(path.to_owned())) }
}

fn lines(path: &Path) -> Result<impl Iterator<Item = Result<Line, BackupError>>, BackupError> {
    let failed = |error| BackupError::File { path: path.to_owned(), error };
    let reader = BufReader::new(File::open(path).map_err(failed)?);
    let path = path.to_owned();
    Ok(reader.lines().zip(1..).map(move |(text, number)| {
        let text = text.map_err(|error| BackupError::File { path: path.clone(), error })?;
        parse(&path, number, &text)
    }))
}

/// A line. The first one, and no other, must be a header of the known format.
fn parse(path: &Path, number: u64, text: &str) -> Result<Line, BackupError> {
    let damaged = || BackupError::Damaged { path: path.to_owned(), line: number };
    let line = serde_json::from_str(text).map_err(|_| damaged())?;
    let is_right = match line {
        Line::Header { countersign_backup, .. } => number == 1 && countersign_backup == FORMAT,
        Line::Item { .. } | Line::Position { .. } | Line::End { .. } => number > 1,
    };
    if is_right { Ok(line) } else { Err(damaged()) }
}

/// Writes lines, and sees to it that they are on the disk.
fn write_lines(file: &mut File, lines: impl IntoIterator<Item = Line>) -> io::Result<()> {
    let mut writer = BufWriter::new(&mut *file);
    for line in lines {
        serde_json::to_writer(&mut writer, &line)?;
        writer.write_all(b"\n")?;
    }
    writer.flush()?;
    drop(writer);
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "{\"countersign_backup\":1,\"schema\":2}\n";
    const ITEM: &str = "{\"item\":{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\".\"}}}\n";
    /// The position behind an item with the partition key `X` and the sort key `.`.
    const POSITION: &str = "{\"position\":\"WAAu\"}\n";

    fn file(lines: &[&str]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.concat()).unwrap();
        file
    }

    fn begun_in(lines: &[&str]) -> Result<(u64, bool, u64), BackupError> {
        let file = file(lines);
        let begun = begun(file.path(), file.as_file())?;
        Ok((begun.items, begun.position.is_some(), begun.bytes))
    }

    #[test]
    fn an_interrupted_backup_goes_on_behind_its_last_whole_page() {
        let whole_page = u64::try_from([HEADER, ITEM, POSITION].concat().len()).unwrap();
        assert_eq!(begun_in(&[]).unwrap(), (0, false, 0));
        assert_eq!(begun_in(&[HEADER, ITEM]).unwrap(), (0, false, u64::try_from(HEADER.len()).unwrap()));
        assert_eq!(begun_in(&[HEADER, ITEM, POSITION]).unwrap(), (1, true, whole_page));
        assert_eq!(begun_in(&[HEADER, ITEM, POSITION, ITEM, &ITEM[..9]]).unwrap(), (1, true, whole_page));
        assert!(matches!(begun_in(&[HEADER, ITEM, "{\"items\":1}\n"]), Err(BackupError::Complete(_))));
        assert!(matches!(begun_in(&["notes\n"]), Err(BackupError::Damaged { line: 1, .. })), "another file is kept");
    }

    #[test]
    fn only_a_whole_backup_of_a_known_release_is_restored() {
        assert!(check(file(&[HEADER, ITEM, POSITION, ITEM, "{\"items\":2}\n"]).path()).is_ok());
        assert!(matches!(check(file(&[HEADER, ITEM]).path()), Err(BackupError::Incomplete(_))));
        assert!(matches!(check(file(&[HEADER, ITEM, "{\"items\":2}\n"]).path()), Err(BackupError::Incomplete(_))));
        assert!(matches!(check(file(&[]).path()), Err(BackupError::Incomplete(_))));
        let newer = format!("{{\"countersign_backup\":1,\"schema\":{}}}\n", versions::NEWEST + 1);
        assert!(matches!(check(file(&[&newer]).path()), Err(BackupError::Newer(_))));
        for lines in [&[ITEM][..], &[HEADER, HEADER], &["{\"countersign_backup\":2,\"schema\":1}\n"], &[HEADER, "{}\n"]]
        {
            assert!(matches!(check(file(lines).path()), Err(BackupError::Damaged { .. })), "{lines:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_a_backup() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup.jsonl");
        open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
