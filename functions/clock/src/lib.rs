//! The clock: every minute it does what is due. What is decided on read is never late for whoever reads; here the
//! events and whatever else follows are written down, at most 90 s late (contract, section 3).
//!
//! Any number of clocks can run at a time: each act is decided from what is there and holds only for that.

use std::time::Instant;

use futures_util::future::join_all;
use serde::Serialize;
use shared::AppState;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::limits;
use shared::platform::call_record::{log_failure, log_system_call};
use shared::platform::telemetry::{Metric, metrics};
use shared::service::due::Settlement;
use shared::service::system::SystemContext;
use shared::service::{agreements, proposals};
use shared::store::due::DueEntry;
use shared::store::keys::{DUE_SHARDS, Due};
use shared::webhook::relay::Relay;

/// What a tick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Proposals whose time was over, and of which that is written down now.
    pub expired: u32,
    /// Agreements that time took further, and of which that is written down now.
    pub proceeded: u32,
    /// Entries of what had been settled otherwise.
    pub stale: u32,
    /// Events and endpoints of which nobody had heard.
    pub passed_on: u32,
    /// Deliveries that were due, woken.
    pub woken: u32,
    /// For how long the oldest of them has been due, in milliseconds.
    pub oldest_due_ms: i64,
    /// Acts that did not succeed: the next tick tries them again.
    pub failed: u32,
}

impl std::ops::Add for Tick {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            expired: self.expired + other.expired,
            proceeded: self.proceeded + other.proceeded,
            stale: self.stale + other.stale,
            passed_on: self.passed_on + other.passed_on,
            woken: self.woken + other.woken,
            oldest_due_ms: self.oldest_due_ms.max(other.oldest_due_ms),
            failed: self.failed + other.failed,
        }
    }
}

/// Whether somebody else hears of what is written to be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// Somebody does, at once: the clock only looks after what they may have missed.
    Somebody,
    /// Nobody did until now: the process has just started.
    Nobody,
}

/// Does what is due now. One act that fails, or one shard that can't be read, does not keep the others.
pub async fn tick(app: &AppState, relay: &Relay, hearing: Hearing) -> Tick {
    let (now, started) = (Timestamp::now(), Instant::now());
    let sweep = Sweep { app, relay, now, started, hearing };
    let tick = join_all((0..DUE_SHARDS).map(|shard| sweep.shard(shard)));
    let tick = tick.await.into_iter().fold(Tick::default(), std::ops::Add::add);
    app.log.line(&TickLine {
        metrics: metrics(&[Metric::ms("oldest_due_ms"), Metric::count("woken"), Metric::count("passed_on")]),
        operation: "tick",
        oldest_due_ms: tick.oldest_due_ms,
        woken: tick.woken,
        passed_on: tick.passed_on,
        failed: tick.failed,
    });
    tick
}

/// A tick, as the log tells it.
#[derive(Debug, Serialize)]
struct TickLine {
    #[serde(rename = "_aws")]
    metrics: serde_json::Value,
    operation: &'static str,
    oldest_due_ms: i64,
    woken: u32,
    passed_on: u32,
    failed: u32,
}

/// A tick while it goes on.
#[derive(Debug, Clone, Copy)]
struct Sweep<'a> {
    app: &'a AppState,
    relay: &'a Relay,
    now: Timestamp,
    started: Instant,
    hearing: Hearing,
}

impl Sweep<'_> {
    async fn shard(self, shard: u8) -> Tick {
        // Side by side, so that a backlog of one kind does not keep another waiting.
        let kinds = [Due::Delivery, Due::Event, Due::Endpoint, Due::Proposal, Due::Agreement];
        let swept = join_all(kinds.map(|what| self.kind(shard, what))).await;
        swept.into_iter().fold(Tick::default(), std::ops::Add::add)
    }

    /// What of a kind is due in a shard. It goes through once, so that what fails does not keep the rest.
    async fn kind(self, shard: u8, what: Due) -> Tick {
        let until = self.started + limits::SWEEP_DEADLINE;
        let mut tick = Tick::default();
        let mut due = self.app.store.due(what, shard, self.due_until(what));
        loop {
            let entries = match due.next_page().await {
                Ok(entries) => entries,
                Err(error) => {
                    log_failure(&self.app.log, "tick", &error.into());
                    tick.failed += 1;
                    return tick;
                }
            };
            if entries.is_empty() || until <= Instant::now() {
                return tick;
            }
            match what {
                Due::Delivery => self.wake(&entries, &mut tick).await,
                Due::Event | Due::Endpoint => self.pass_on(entries, until, &mut tick).await,
                Due::Proposal => tick.expired += self.settle(Task::Expire, entries, until, &mut tick).await,
                Due::Agreement => tick.proceeded += self.settle(Task::Advance, entries, until, &mut tick).await,
            }
        }
    }

    /// What of a kind is due is at most as late as this.
    fn due_until(self, what: Due) -> Timestamp {
        let is_heard = matches!(what, Due::Event | Due::Endpoint) && self.hearing == Hearing::Somebody;
        let grace_ms = if is_heard { self.app.time_scale.relay_grace_ms() } else { 0 };
        Timestamp::from_unix_ms(self.now.unix_ms() - grace_ms).unwrap_or(self.now)
    }

    /// Wakes the sender once more. What is being attempted at this moment is woken too, and found claimed.
    async fn wake(self, entries: &[DueEntry], tick: &mut Tick) {
        let oldest = entries.iter().map(|entry| self.now.unix_ms() - entry.at.unix_ms()).max();
        tick.oldest_due_ms = tick.oldest_due_ms.max(oldest.unwrap_or_default());
        match self.relay.enqueue(entries).await {
            Ok(_) => tick.woken += u32::try_from(entries.len()).unwrap_or(u32::MAX),
            Err(error) => {
                log_failure(&self.app.log, "tick", &error);
                tick.failed += 1;
            }
        }
    }

    async fn pass_on(self, entries: Vec<DueEntry>, until: Instant, tick: &mut Tick) {
        for entry in entries {
            if until <= Instant::now() {
                return;
            }
            match self.relay.process(entry, until).await {
                Ok(_) => tick.passed_on += 1,
                Err(error) => {
                    log_failure(&self.app.log, "tick", &error);
                    tick.failed += 1;
                }
            }
        }
    }

    /// Writes down what time did to each; how many that were.
    async fn settle(self, task: Task, entries: Vec<DueEntry>, until: Instant, tick: &mut Tick) -> u32 {
        let mut settled = 0;
        for entry in entries {
            if until <= Instant::now() {
                break;
            }
            match task.settle(self.app, entry).await {
                Ok(Settlement::Settled) => settled += 1,
                Ok(Settlement::Stale) => tick.stale += 1,
                Ok(Settlement::Early) => {}
                Err(()) => tick.failed += 1,
            }
        }
        settled
    }
}

/// What the clock writes down itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// That a proposal has expired.
    Expire,
    /// How far an agreement went on.
    Advance,
}

impl Task {
    /// What audit rows and log lines say.
    fn operation(self) -> &'static str {
        match self {
            Self::Expire => "expire_proposal",
            Self::Advance => "proceed_agreement",
        }
    }

    /// Settles an entry, deciding anew while other calls change the same records.
    async fn settle(self, app: &AppState, entry: DueEntry) -> Result<Settlement, ()> {
        let system = SystemContext::begin(&app.store, entry.org, self.operation(), app.time_scale);
        let settled = match self {
            Self::Expire => system.run(limits::SWEEP_ATTEMPTS_MAX, || proposals::expire(&system, &entry)).await,
            Self::Advance => system.run(limits::SWEEP_ATTEMPTS_MAX, || agreements::advance(&system, &entry)).await,
        };
        let settled = match settled {
            // Only when nothing else has removed it with what settled it; removing twice does no harm.
            Ok(Settlement::Stale) => {
                app.store.delete_due_entry(entry).await.map(|()| Settlement::Stale).map_err(Error::from)
            }
            settled => settled,
        };
        match &settled {
            Ok(Settlement::Stale | Settlement::Early) => {}
            Ok(Settlement::Settled) => log_system_call(app, &system, Ok(())),
            Err(error) => log_system_call(app, &system, Err(error)),
        }
        settled.map_err(|_| ())
    }
}
