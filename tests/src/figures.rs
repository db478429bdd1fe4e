//! Figures of benchmarks.

use std::time::Duration;

/// The memory of this process that is resident, in MiB; 0 where the system doesn't say.
#[must_use]
pub fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}

/// The nearest-rank percentile of sorted times, in milliseconds; 0 without times.
#[must_use]
pub fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}
