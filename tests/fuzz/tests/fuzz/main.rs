//! Files of strangers, changed at random. No file ends the process, takes over five seconds of a processor or over 300 MB.
//!
//! Each kind of file takes [`SECONDS`], or as many as `COUNTERSIGN_FUZZ_SECONDS` says; `make fuzz` takes ten minutes for each.
//! A failure names its seed, which `COUNTERSIGN_FUZZ_SEED` begins with.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets what it did not expect should fail there and then"
)]

mod archives;
mod changes;
mod images;
mod pdfs;
mod statements;

use std::fmt;
use std::time::{Duration, Instant};

use changes::changed;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};

/// How long each kind of file takes where nothing else is asked for, in seconds.
const SECONDS: u64 = 40;
/// How much of a processor's time one file may take, whatever else the machine does meanwhile.
const TIME_MAX: Duration = Duration::from_secs(5);
/// The memory of the process that reads it, in bytes, and of the one that reads it for that.
const MEMORY_MAX: u64 = 300_000_000;

/// A run over files of one kind.
struct Run {
    kind: &'static str,
    seed: u64,
    ends: Instant,
    round: u64,
}

impl Run {
    fn new(kind: &'static str) -> Self {
        let told = |name: &str| std::env::var(name).ok()?.parse().ok();
        let seed = told("COUNTERSIGN_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..u64::MAX / 2));
        let seconds = told("COUNTERSIGN_FUZZ_SECONDS").unwrap_or(SECONDS);
        println!("{kind}: COUNTERSIGN_FUZZ_SEED={seed}");
        Self { kind, seed, ends: Instant::now() + Duration::from_secs(seconds), round: 0 }
    }

    /// The next file, made of one of the samples and of words that matter to the format. None when the time is over. The
    /// first of a run has the seed that the run is told.
    fn next(&mut self, samples: &[Vec<u8>], words: &[&str]) -> Option<Vec<u8>> {
        let mut random = fastrand::Rng::with_seed(self.seed + self.round);
        self.round += 1;
        (Instant::now() < self.ends).then(|| changed(samples, words, &mut random))
    }

    /// Does something with a file that may take only so long and so much.
    fn within_limits<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = Taken::so_far();
        let done = work();
        self.check(before);
        done
    }

    /// Checks what a file took, since before it was read.
    fn check(&self, before: Taken) {
        let after = Taken::so_far();
        let time = after.time.saturating_sub(before.time);
        assert!(time < TIME_MAX, "{self}: {time:?}");
        assert!(after.memory < MEMORY_MAX, "{self}: {} bytes", after.memory);
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: COUNTERSIGN_FUZZ_SEED={}", self.kind, self.seed + self.round - 1)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        println!("{self} ends after {} files", self.round);
    }
}

/// What this process and those that it started and that ended have taken.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// The time of a processor.
    time: Duration,
    /// The most memory that one of them ever had, in bytes.
    memory: u64,
}

impl Taken {
    fn so_far() -> Self {
        let [own, others] = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN]
            .map(|who| Self::from(getrusage(who).expect("the system counts what processes take")));
        Self { time: own.time + others.time, memory: own.memory.max(others.memory) }
    }
}

impl From<Usage> for Taken {
    fn from(usage: Usage) -> Self {
        let time = |value: TimeVal| Duration::from_micros(value.num_microseconds().try_into().unwrap_or_default());
        // macOS counts bytes, others count KiB.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let memory = u64::try_from(usage.max_rss()).unwrap_or_default() * unit;
        Self { time: time(usage.user_time()) + time(usage.system_time()), memory }
    }
}
