//! Files of strangers, changed at random. No file ends the process, takes over five seconds or over 300 MB.
//!
//! Each kind of file takes [`SECONDS`], or as many as `COUNTERSIGN_FUZZ_SECONDS` says. A failure names its seed, which
//! `COUNTERSIGN_FUZZ_SEED` begins with.
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

/// How long each kind of file takes where nothing else is asked for, in seconds.
const SECONDS: u64 = 12;
/// How long one file may take. A busy machine gets twice that.
const TIME_MAX: Duration = Duration::from_secs(10);
/// The memory of the process that reads it, in KiB.
const MEMORY_MAX_KIB: u64 = 300_000_000 / 1024;

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
        let started = Instant::now();
        let done = work();
        assert!(started.elapsed() < TIME_MAX, "{self}: {:?}", started.elapsed());
        let peak = peak_kib();
        assert!(peak < MEMORY_MAX_KIB, "{self}: {peak} KiB");
        done
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

/// The most memory that this process ever had, in KiB, where the system says so.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
