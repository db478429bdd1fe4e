//! The clock: every minute it does what is due. What is decided on read is never late for whoever reads; here the
//! events and whatever else follows are written down, at most 90 s late (contract, section 3).
//!
//! Any number of clocks can run at a time: each act is decided from what is there and holds only for that.

mod proposals;

use std::time::Instant;

use futures_util::future::join_all;
use shared::App;
use shared::caller::ServiceAct;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::limits;
use shared::store::due::DueEntry;
use shared::store::keys::{DUE_SHARDS, Due};
use shared::telemetry::CallLine;

/// What a tick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Proposals whose time was over, and of which that is written down now.
    pub expired: u32,
    /// Entries of what had been settled otherwise.
    pub stale: u32,
    /// Acts that did not succeed: the next tick tries them again.
    pub failed: u32,
}

impl std::ops::Add for Tick {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            expired: self.expired + other.expired,
            stale: self.stale + other.stale,
            failed: self.failed + other.failed,
        }
    }
}

/// What became of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// It was due, and what follows is written down.
    Settled,
    /// It had been settled already.
    Stale,
    /// By the clock of this act it is not time yet: its entry stays.
    Early,
}

/// Does what is due now. One act that fails, or one shard that can't be read, does not keep the others.
pub async fn tick(app: &App) -> Tick {
    let (now, started) = (Timestamp::now(), Instant::now());
    let shards = (0..DUE_SHARDS).map(|shard| sweep(app, shard, now, started));
    join_all(shards).await.into_iter().fold(Tick::default(), std::ops::Add::add)
}

async fn sweep(app: &App, shard: u8, now: Timestamp, started: Instant) -> Tick {
    let mut tick = Tick::default();
    let mut due = app.store.due(Due::Proposal, shard, now);
    loop {
        let entries = match due.next().await {
            Ok(entries) => entries,
            Err(error) => {
                tell(app, None, &Err(error.into()), Instant::now());
                tick.failed += 1;
                return tick;
            }
        };
        if entries.is_empty() {
            return tick;
        }
        for entry in entries {
            if started.elapsed() >= limits::SWEEP_DEADLINE {
                return tick;
            }
            match settle(app, entry).await {
                Ok(Done::Settled) => tick.expired += 1,
                Ok(Done::Stale) => tick.stale += 1,
                Ok(Done::Early) => {}
                Err(()) => tick.failed += 1,
            }
        }
    }
}

/// Settles an entry, deciding anew while others change the same records.
async fn settle(app: &App, entry: DueEntry) -> Result<Done, ()> {
    let started = Instant::now();
    let act = ServiceAct::begin(&app.store, entry.org, proposals::OPERATION);
    let mut attempts = 1;
    let done = loop {
        match proposals::expire(&act, &entry).await {
            Err(Error::Raced) if attempts < limits::SWEEP_ATTEMPTS_MAX => attempts += 1,
            done => break done,
        }
    };
    let done = match done {
        // Only when nobody else has removed it with what settled it; removing twice does no harm.
        Ok(Done::Stale) => app.store.forget(entry).await.map(|()| Done::Stale).map_err(Error::from),
        done => done,
    };
    if !matches!(done, Ok(Done::Stale | Done::Early)) {
        tell(app, Some(&act), &done, started);
    }
    done.map_err(|_| ())
}

/// Tells the log of an act.
fn tell(app: &App, act: Option<&ServiceAct>, done: &Result<Done, Error>, started: Instant) {
    let (status, code) = match done {
        Ok(_) => (200, "ok"),
        Err(error) => {
            let (status, code) = error.status();
            (status.as_u16(), code.as_str())
        }
    };
    let request_id = act.map_or_else(shared::domain::ids::RequestId::new, ServiceAct::request_id);
    let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
    let usage = act.map(ServiceAct::usage).unwrap_or_default();
    let mut line = CallLine::new(request_id, proposals::OPERATION, status, code, duration_ms, usage);
    line.organization_id = act.map(|act| act.org());
    line.cause = done.as_ref().err().and_then(Error::cause);
    app.log.line(&line);
}
