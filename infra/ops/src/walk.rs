//! Walks over the whole table, with a progress bar on a terminal. An interrupted walk resumes at its file's position.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::platform::files::FilesError;
use shared::store::{Item, Position, Store, StoreError};

use crate::progress;

/// Why a walk stopped.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The table didn't answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file store didn't answer.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The position's file can't be read or written.
    #[error("the file {} can't be used: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The file belongs to another walk.
    #[error("the file {} is of another walk ({of}): name another file, or delete it to begin anew", path.display())]
    OtherWalk {
        /// The file.
        path: PathBuf,
        /// The walk.
        of: String,
    },
}

/// A walk over a table, and its counts.
#[derive(Debug)]
pub struct Walk<'a, C> {
    store: &'a Store,
    state: State<C>,
    file: Option<PathBuf>,
    is_over: bool,
    bar: ProgressBar,
}

#[derive(Debug, Serialize, Deserialize)]
struct State<C> {
    walk: String,
    /// The end of the last finished page; none before the first.
    behind: Option<Position>,
    items: u64,
    counts: C,
}

impl<'a, C: Clone + Default + Serialize + DeserializeOwned> Walk<'a, C> {
    /// Begins a walk, or resumes the one in the file. `does` names the walk, so that no other resumes from its file.
    pub async fn begin(store: &'a Store, does: &str, file: Option<&Path>) -> Result<Self, WalkError> {
        let walk = format!("{does} in the table {}", store.table());
        let state = match file.map(read).transpose()?.flatten() {
            None => State { walk, behind: None, items: 0, counts: C::default() },
            Some((found, _)) if found.walk == walk => found,
            Some((State { walk: of, .. }, path)) => return Err(WalkError::OtherWalk { path, of }),
        };
        let bar = progress::of_table(store).await;
        bar.set_position(state.items);
        Ok(Self { store, state, file: file.map(Path::to_owned), is_over: false, bar })
    }

    /// The items of the next page; none at the end. Finish the work on them before [`Walk::note`].
    pub async fn next_page(&mut self) -> Result<Option<Vec<Item>>, WalkError> {
        if self.is_over {
            return Ok(None);
        }
        let (items, behind) = self.store.scan_page(self.state.behind.as_ref()).await?;
        self.go_on_behind(behind);
        Ok(Some(items))
    }

    /// Where the next page begins, for a caller that reads pages itself; none at the beginning.
    #[must_use]
    pub fn behind(&self) -> Option<&Position> {
        self.state.behind.as_ref()
    }

    /// All pages have been read.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Sets where the next page begins, for a caller that reads pages itself; none ends the walk.
    pub fn go_on_behind(&mut self, behind: Option<Position>) {
        self.is_over = behind.is_none();
        self.state.behind = behind;
    }

    /// Records that a page is done, in the file too. At the end, removes the file.
    pub fn note(&mut self, items: u64) -> Result<(), WalkError> {
        self.state.items += items;
        self.bar.set_position(self.state.items);
        let Some(path) = &self.file else { return Ok(()) };
        let done = if self.is_over { remove(path) } else { write(path, &self.state) };
        done.map_err(|why| WalkError::File { path: path.clone(), why })
    }

    /// The walk's counts.
    pub fn counts(&mut self) -> &mut C {
        &mut self.state.counts
    }

    /// Prints a line on standard output, above the progress bar.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }

    /// Ends the walk; returns the number of items, and its counts.
    pub fn end(self) -> (u64, C) {
        self.bar.finish_and_clear();
        (self.state.items, self.state.counts)
    }
}

fn read<C: DeserializeOwned>(path: &Path) -> Result<Option<(State<C>, PathBuf)>, WalkError> {
    let of = |why: String| WalkError::File { path: path.to_owned(), why };
    match fs::read(path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(state) => Ok(Some((state, path.to_owned()))),
            Err(_) => Err(of("it has no position of a walk".to_owned())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(of(error.to_string())),
    }
}

/// Writes to a temporary file and renames it: a crash leaves the old state or the new one.
fn write<C: Serialize>(path: &Path, state: &State<C>) -> Result<(), String> {
    let beside = path.with_extension("new");
    let bytes = serde_json::to_vec(state).map_err(|error| error.to_string())?;
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).map_err(|error| error.to_string())
}

fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}
