//! Figures of benchmarks.

use std::time::Duration;

/// The nearest-rank percentile of sorted times, in milliseconds; 0 without times.
#[must_use]
pub fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}
