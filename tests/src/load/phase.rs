//! A phase of the load: what its calm organizations saw, beside some that trouble them or none.

use std::fmt;
use std::time::Duration;

use super::Seen;
use crate::figures::percentile;

/// A delivery that arrives later after its event than this counts as late.
const LATE: Duration = Duration::from_secs(1);

/// What a phase showed.
#[derive(Debug)]
pub struct Phase {
    lasted: Duration,
    /// What each calm organization saw, its times sorted.
    calm_ones: Vec<Seen>,
    /// Of all calm organizations together, sorted.
    times: Vec<Duration>,
    /// Of their deliveries after their events, sorted.
    delays: Vec<Duration>,
    flood: Option<Seen>,
    throttled: Option<Throttled>,
    resident_mib: u64,
}

/// Writes that were throttled, by whose partition it was.
#[derive(Debug, Clone, Copy, Default)]
pub struct Throttled {
    /// Of the organizations that trouble the others.
    pub troubling_ones: u64,
    /// Of all calm ones.
    pub calm_ones: u64,
    /// Of partitions that all organizations share.
    pub shared: u64,
}

impl Phase {
    /// Of what the calm organizations saw, and how late their deliveries arrived.
    #[must_use]
    pub fn of(lasted: Duration, mut calm_ones: Vec<Seen>, mut delays: Vec<Duration>, resident_mib: u64) -> Self {
        delays.sort_unstable();
        for seen in &mut calm_ones {
            seen.times.sort_unstable();
        }
        let mut times: Vec<Duration> = calm_ones.iter().flat_map(|seen| seen.times.iter().copied()).collect();
        times.sort_unstable();
        Self { lasted, calm_ones, times, delays, flood: None, throttled: None, resident_mib }
    }

    /// With what the one that floods saw.
    #[must_use]
    pub fn with_flood(self, flood: Option<Seen>) -> Self {
        Self { flood, ..self }
    }

    /// With the writes that were throttled.
    #[must_use]
    pub fn with_throttled(self, throttled: Throttled) -> Self {
        Self { throttled: Some(throttled), ..self }
    }

    /// How long calls were made.
    #[must_use]
    pub fn lasted(&self) -> Duration {
        self.lasted
    }

    /// The calm organizations' calls took at most so many milliseconds in 99 of 100.
    #[must_use]
    pub fn p99_ms(&self) -> f64 {
        percentile(&self.times, 99)
    }

    /// Errors of calm organizations.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.calm_ones.iter().map(Seen::errors).sum()
    }

    /// Calls of calm organizations.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.times.len()
    }

    /// Deliveries to calm organizations that arrived late.
    #[must_use]
    pub fn late(&self) -> usize {
        self.delays.iter().filter(|delay| LATE < **delay).count()
    }

    /// What the one that floods saw.
    #[must_use]
    pub fn flood(&self) -> Option<&Seen> {
        self.flood.as_ref()
    }

    /// The writes that were throttled.
    #[must_use]
    pub fn throttled(&self) -> Throttled {
        self.throttled.unwrap_or_default()
    }

    /// The least and the most of any calm organization.
    fn by_organization(&self, percent: usize) -> String {
        let of_each = || self.calm_ones.iter().map(|seen| percentile(&seen.times, percent));
        format!("{:.1} to {:.1} ms", of_each().fold(f64::INFINITY, f64::min), of_each().fold(0.0, f64::max))
    }

    fn per_second(&self, count: usize) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
        let count = count as f64;
        count / self.lasted.as_secs_f64()
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {:>8.0} calls/s of the calm ones: p50 {:.1} ms, p99 {:.1} ms",
            self.per_second(self.times.len()),
            percentile(&self.times, 50),
            self.p99_ms()
        )?;
        writeln!(f, "           by organization: p50 {}, p99 {}", self.by_organization(50), self.by_organization(99))?;
        writeln!(f, "  {:>8} errors", self.errors())?;
        for (number, seen) in (1..).zip(&self.calm_ones).filter(|(_, seen)| seen.errors() > 0) {
            writeln!(
                f,
                "           organization {number}: {} of {} calls, answers by status {:?}",
                seen.errors(),
                seen.times.len(),
                seen.statuses
            )?;
        }
        writeln!(
            f,
            "  {:>8} deliveries: p50 {:.0} ms, p99 {:.0} ms after their events, {} later than {} s",
            self.delays.len(),
            percentile(&self.delays, 50),
            percentile(&self.delays, 99),
            self.late(),
            LATE.as_secs()
        )?;
        if let Some(flood) = &self.flood {
            let rate = |fits: fn(u16) -> bool| {
                self.per_second(
                    flood.statuses.iter().filter(|(status, _)| fits(**status)).map(|(_, count)| count).sum(),
                )
            };
            writeln!(
                f,
                "  {:>8.0} calls/s of the flood answered, {:.0} refused with 429, {:.0} failed",
                rate(|status| status < 300),
                rate(|status| status == 429),
                rate(|status| status >= 500)
            )?;
        }
        if let Some(Throttled { troubling_ones, calm_ones, shared }) = self.throttled {
            writeln!(
                f,
                "  {troubling_ones:>8} writes throttled of partitions of the troubling ones, {calm_ones} of the calm ones', {shared} of shared ones"
            )?;
        }
        write!(f, "  {:>8} MiB resident, with the callers and subscribers", self.resident_mib)
    }
}
