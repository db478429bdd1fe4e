//! Reads strangers' PDFs in a separate process, which always ends.
//!
//! A PDF of a few kilobytes can make its reader exhaust the stack, compute for hours or take all memory, and a thread
//! can't be ended from outside. So the program starts itself once per file, with `--read-pdf`. That process limits its
//! own memory, time and stack, opens nothing, has none of the environment's secrets, reads the file from its input,
//! writes the answer to its output, and is killed after [`limits::PDF_READ_TIMEOUT`]. It starts within milliseconds.
//!
//! Decision: a process reads one file at a time. Lambda calls it one at a time anyway; on a person's machine, memory
//! matters more than time. A file that waits beyond [`limits::PDF_TURN_TIMEOUT`], or that can't be read before its call
//! must answer, is refused.
//!
//! Decision: without these limits, as on Windows, time is still limited, and a crash affects only the reader.

use std::env::{self, ArgsOs};
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tokio::time::timeout_at;

use crate::domain::agreement::pdf::{self, NotADocument};
use crate::error::Error;
use crate::limits;

/// First argument of a process that reads a PDF. Test binaries refuse it.
const ARGUMENT: &str = "--read-pdf";

/// A PNG begins with this.
const PNG: &[u8] = b"\x89PNG";
/// A JPEG begins with this.
pub const JPEG: &[u8] = b"\xff\xd8";

/// One file at a time.
static ONE: Semaphore = Semaphore::const_new(1);

/// A question about a PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Whether it can be a document.
    Check,
    /// The sizes of its pages.
    PageSizes,
    /// A digest of what its pages draw.
    PagesDigest,
    /// A page's picture.
    Picture(Picture),
}

/// The picture of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture {
    /// The index of the page, from 0.
    pub page: usize,
    /// The width in pixels.
    pub width_px: u16,
}

/// Why a page has no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotDrawn {
    /// The document has no such page.
    NoSuchPage,
    /// It can't be drawn, or takes too much.
    TooDemanding,
}

/// Draws a page of a PDF as PNG or JPEG, on its own stack.
pub type Draw = fn(Vec<u8>, Picture) -> Result<Vec<u8>, NotDrawn>;

/// Starts processes that read PDFs.
#[derive(Debug, Clone)]
pub struct PdfReader {
    program: PathBuf,
}

impl PdfReader {
    /// With this program, whose `main` must begin with [`read_if_asked`].
    #[must_use]
    pub fn of_this_program() -> Self {
        // On Linux, this is the running program, even if its file has changed.
        let link = PathBuf::from("/proc/self/exe");
        Self { program: if link.exists() { link } else { env::current_exe().unwrap_or(link) } }
    }

    /// With another program, whose `main` begins with [`read_if_asked`].
    #[must_use]
    pub fn of(program: PathBuf) -> Self {
        Self { program }
    }

    /// The file's number of pages, or why it can't be a document. Like the others, it ends before `deadline`.
    ///
    /// # Errors
    /// [`Error::Internal`] if no process can be started.
    pub async fn check(&self, file: Bytes, deadline: Instant) -> Result<Result<usize, NotADocument>, Error> {
        let answer = match self.read(Task::Check, file, deadline).await? {
            Ok(answer) => serde_json::from_slice(&answer).unwrap_or(Err(NotADocument::TooDemanding)),
            Err(refused) => Err(refused),
        };
        Ok(answer)
    }

    /// Each page's width and height as shown, in points. An unreadable file has no pages.
    ///
    /// # Errors
    /// [`Error::Internal`] if no process can be started.
    pub async fn page_sizes(&self, file: Bytes, deadline: Instant) -> Result<Vec<(f32, f32)>, Error> {
        let answer = self.read(Task::PageSizes, file, deadline).await?;
        Ok(answer.ok().and_then(|answer| serde_json::from_slice(&answer).ok()).unwrap_or_default())
    }

    /// Whether two files' pages draw alike, or why there was no time to tell. An unreadable file is like no other.
    ///
    /// # Errors
    /// [`Error::Internal`] if no process can be started.
    pub async fn have_same_pages(
        &self,
        files: [Bytes; 2],
        deadline: Instant,
    ) -> Result<Result<bool, NotADocument>, Error> {
        let Some(_turn) = turn(deadline).await else { return Ok(Err(NotADocument::NotItsTurn)) };
        let mut digests = Vec::new();
        for file in files {
            let digest = match self.read_now(Task::PagesDigest, file, deadline).await? {
                Ok(answer) => serde_json::from_slice::<Option<String>>(&answer).ok().flatten(),
                Err(NotADocument::OutOfTime) => return Ok(Err(NotADocument::OutOfTime)),
                Err(_) => None,
            };
            match digest {
                Some(digest) => digests.push(digest),
                None => return Ok(Ok(false)),
            }
        }
        Ok(Ok(digests.first() == digests.last()))
    }

    /// A page's picture as PNG or JPEG.
    ///
    /// # Errors
    /// [`Error::Internal`] if no process can be started.
    pub async fn picture(
        &self,
        file: Bytes,
        picture: Picture,
        deadline: Instant,
    ) -> Result<Result<Vec<u8>, NotDrawn>, Error> {
        let Ok(answer) = self.read(Task::Picture(picture), file, deadline).await? else {
            return Ok(Err(NotDrawn::TooDemanding));
        };
        let is_picture = [PNG, JPEG].iter().any(|head| answer.starts_with(head));
        Ok(if is_picture { Ok(answer) } else { Err(serde_json::from_slice(&answer).unwrap_or(NotDrawn::TooDemanding)) })
    }

    async fn read(&self, task: Task, file: Bytes, deadline: Instant) -> Result<Result<Vec<u8>, NotADocument>, Error> {
        let Some(_turn) = turn(deadline).await else { return Ok(Err(NotADocument::NotItsTurn)) };
        self.read_now(task, file, deadline).await
    }

    /// Reads a file whose turn has come.
    async fn read_now(
        &self,
        task: Task,
        file: Bytes,
        deadline: Instant,
    ) -> Result<Result<Vec<u8>, NotADocument>, Error> {
        let not_started = |error: &dyn std::fmt::Display| Error::Internal(format!("no process reads PDFs: {error}"));
        let looked_at = file.clone();
        let passed = tokio::task::spawn_blocking(move || pdf::pass(&looked_at)).await;
        if let Err(refused) = passed.map_err(|error| not_started(&error))? {
            return Ok(Err(refused));
        }
        let mut command = Command::new(&self.program);
        command.arg(ARGUMENT).args(task.arguments()).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn().map_err(|error| not_started(&error))?;
        let whole = Instant::now() + limits::PDF_READ_TIMEOUT;
        match timeout_at(whole.min(deadline), answer(&mut process, &file)).await {
            Ok(Some(answer)) => Ok(Ok(answer)),
            Ok(None) => Ok(Err(NotADocument::TooDemanding)),
            Err(_) => {
                // Waits for its end, so that the next file has the memory.
                let _ = process.kill().await;
                Ok(Err(if deadline < whole { NotADocument::OutOfTime } else { NotADocument::TooDemanding }))
            }
        }
    }
}

/// Waits until no other file is being read, or returns `None`.
async fn turn(deadline: Instant) -> Option<SemaphorePermit<'static>> {
    let patience = Instant::now() + limits::PDF_TURN_TIMEOUT;
    // It is never closed.
    timeout_at(patience.min(deadline), ONE.acquire()).await.ok()?.ok()
}

/// Sends the file to the process and returns its answer, unless it fails.
async fn answer(process: &mut Child, file: &[u8]) -> Option<Vec<u8>> {
    let (mut input, output) = (process.stdin.take()?, process.stdout.take()?);
    // A process that has ended reads no more; its status says the rest.
    let sent = async move {
        let _ = input.write_all(file).await;
    };
    let mut answer = Vec::new();
    let mut output = output.take(limits::PDF_ANSWER_BYTES_MAX + 1);
    let ((), received) = tokio::join!(sent, output.read_to_end(&mut answer));
    received.ok()?;
    let is_whole = u64::try_from(answer.len()).is_ok_and(|length| length <= limits::PDF_ANSWER_BYTES_MAX);
    (is_whole && process.wait().await.ok()?.success()).then_some(answer)
}

impl Task {
    fn arguments(self) -> Vec<String> {
        match self {
            Self::Check => vec!["check".to_owned()],
            Self::PageSizes => vec!["page-sizes".to_owned()],
            Self::PagesDigest => vec!["pages-digest".to_owned()],
            Self::Picture(Picture { page, width_px }) => {
                vec!["picture".to_owned(), page.to_string(), width_px.to_string()]
            }
        }
    }

    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        match arguments.next()?.to_str()? {
            "check" => Some(Self::Check),
            "page-sizes" => Some(Self::PageSizes),
            "pages-digest" => Some(Self::PagesDigest),
            "picture" => {
                let mut number = || arguments.next()?.into_string().ok();
                Some(Self::Picture(Picture { page: number()?.parse().ok()?, width_px: number()?.parse().ok()? }))
            }
            _ => None,
        }
    }

    fn run(self, file: Vec<u8>, draw: Option<Draw>) -> Option<Vec<u8>> {
        match self {
            Self::Check => on_large_stack(move || serde_json::to_vec(&pdf::check(file)).ok()),
            Self::PageSizes => on_large_stack(move || serde_json::to_vec(&pdf::page_sizes(file)).ok()),
            Self::PagesDigest => on_large_stack(move || serde_json::to_vec(&pdf::pages_digest(file)).ok()),
            Self::Picture(picture) => draw?(file, picture).or_else(|why| serde_json::to_vec(&why)).ok(),
        }
    }
}

/// Reads a PDF and exits, if this process was started for that. Programs call it first; `draw` draws pages.
pub fn read_if_asked(draw: Option<Draw>) {
    let mut arguments = env::args_os();
    if arguments.nth(1).is_some_and(|first| first == ARGUMENT) {
        std::process::exit(i32::from(read(arguments, draw).is_none()));
    }
}

fn read(arguments: ArgsOs, draw: Option<Draw>) -> Option<()> {
    let task = Task::parse(arguments)?;
    limit()?;
    let mut file = Vec::new();
    let most = u64::try_from(limits::FILE_BYTES_MAX).unwrap_or(u64::MAX);
    io::stdin().take(most).read_to_end(&mut file).ok()?;
    io::stdout().write_all(&task.run(file, draw)?).ok()
}

/// Runs `work` in a thread with stack for the deepest nesting. No result if it panics.
fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    thread::Builder::new().stack_size(limits::PDF_READ_STACK_BYTES).spawn(work).ok()?.join().ok()?
}

/// Limits this process: no files, no connections, no core dump, limited memory and CPU time.
#[cfg(unix)]
fn limit() -> Option<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, most: u64| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).ok();
    // The program itself is mapped already. Where the system doesn't say how much, it doesn't limit memory either.
    if let Ok(mapped) = std::fs::read_to_string("/proc/self/statm") {
        let pages: u64 = mapped.split(' ').next()?.parse().ok()?;
        let page = u64::try_from(rustix::param::page_size()).ok()?;
        set(Resource::As, pages.saturating_mul(page).saturating_add(limits::PDF_READ_MEMORY_BYTES))?;
    }
    set(Resource::Cpu, limits::PDF_READ_TIMEOUT.as_secs())?;
    set(Resource::Core, 0)?;
    set(Resource::Nofile, 0)
}

#[cfg(not(unix))]
fn limit() -> Option<()> {
    Some(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn within(time: Duration) -> Instant {
        Instant::now() + time
    }

    #[tokio::test]
    async fn a_file_waits_for_its_turn_and_no_longer() {
        let first = turn(within(Duration::from_secs(1))).await;
        assert!(first.is_some());
        let soon = within(Duration::from_millis(10));
        assert!(turn(soon).await.is_none());
        let reader = PdfReader::of("/there/is/no/such/program".into());
        let (one, other) = (Bytes::from_static(b"one"), Bytes::from_static(b"other"));
        let (checked, sizes, alike) = tokio::join!(
            reader.check(one.clone(), soon),
            reader.page_sizes(one.clone(), soon),
            reader.have_same_pages([one.clone(), other], soon),
        );
        assert_eq!(checked.unwrap(), Err(NotADocument::NotItsTurn));
        assert_eq!((sizes.unwrap(), alike.unwrap()), (Vec::new(), Err(NotADocument::NotItsTurn)));
        drop(first);
        assert_eq!(reader.check(one, within(limits::PDF_TURN_TIMEOUT)).await.unwrap(), Err(NotADocument::NotAPdf));
        let most = limits::PDF_TURN_TIMEOUT + limits::PDF_READ_TIMEOUT;
        assert!(most <= limits::READING_DEADLINE, "a call whose turn comes late has the time for one file");
        assert!(limits::READING_DEADLINE < limits::CALL_DEADLINE, "a call ends with a refusal");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn files_are_read_while_the_call_has_time() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let slow = folder.path().join("slow");
        std::fs::write(&slow, "#!/bin/sh\ncat >/dev/null; sleep 0.4; printf '\"5f\"'\n").unwrap();
        std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o700)).unwrap();
        let reader = PdfReader::of(slow);
        let files = || [1, 2].map(|n| Bytes::from(format!("%PDF-1.7\n% {n}\n%%EOF\n")));
        let alike = async |time| {
            let (deadline, began) = (within(time), Instant::now());
            (reader.have_same_pages(files(), deadline).await.unwrap(), began.elapsed())
        };
        assert_eq!(alike(Duration::from_secs(20)).await.0, Ok(true));
        let (first_only, took) = alike(Duration::from_millis(600)).await;
        assert_eq!(first_only, Err(NotADocument::OutOfTime));
        assert!(took < limits::PDF_READ_TIMEOUT, "{took:?}");
        let [one, _] = files();
        let soon = within(Duration::from_millis(100));
        assert_eq!(reader.check(one, soon).await.unwrap(), Err(NotADocument::OutOfTime));
    }

    #[test]
    fn a_task_is_read_as_it_is_written() {
        for task in
            [Task::Check, Task::PageSizes, Task::PagesDigest, Task::Picture(Picture { page: 3, width_px: 1200 })]
        {
            assert_eq!(Task::parse(task.arguments().into_iter().map(OsString::from)), Some(task));
        }
        for other in [&[][..], &["chec"], &["picture"], &["picture", "-1", "3"], &["picture", "1"]] {
            assert_eq!(Task::parse(other.iter().map(OsString::from)), None, "{other:?}");
        }
    }
}
