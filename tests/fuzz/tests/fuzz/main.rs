//! Strangers' files, changed at random. No file may end the process, or take over five seconds of CPU time or 300 MB.
//!
//! Each kind of file takes [`SECONDS`] or `COUNTERSIGN_FUZZ_SECONDS`. A failure names its `COUNTERSIGN_FUZZ_SEED`.
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
use std::time::Duration;

use changes::changed;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use tokio::time::Instant;

/// Default time per kind of file, in seconds.
const SECONDS: u64 = 40;
/// Most CPU time per file, whatever else the machine does.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Most memory in bytes, of the reading process and its child.
const MEMORY_MAX: u64 = 300_000_000;

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

    /// The next file, from a sample and words of the format; None when time is over. The run's seed makes the first.
    fn next(&mut self, samples: &[Vec<u8>], words: &[&str]) -> Option<Vec<u8>> {
        let mut random = fastrand::Rng::with_seed(self.seed + self.round);
        self.round += 1;
        (Instant::now() < self.ends).then(|| changed(samples, words, &mut random))
    }

    fn within_limits<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = Taken::so_far();
        let done = work();
        self.check(before);
        done
    }

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

/// When reading a file ends.
fn deadline() -> Instant {
    Instant::now() + shared::limits::READING_DEADLINE
}

#[derive(Debug, Clone, Copy)]
struct Taken {
    time: Duration,
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
        // macOS counts bytes, others KiB.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let memory = u64::try_from(usage.max_rss()).unwrap_or_default() * unit;
        Self { time: time(usage.user_time()) + time(usage.system_time()), memory }
    }
}
