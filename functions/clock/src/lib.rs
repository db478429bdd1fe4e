//! The clock: every minute it applies what has become due.
//!
//! Reads and decisions check time themselves; the clock writes what follows, at most 90 s late (contract, section 3),
//! and resends lost messages. Several may run at once: each change depends on the records it was decided from.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use shared::AppState;
use shared::domain::ids::{EndpointId, OrgId, WorkspaceId};
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::limits;
use shared::platform::endings::end_with_agreement;
use shared::platform::files::{Removed, remove_unnamed};
use shared::service::call_record::log_failure;
use shared::service::due::Settlement;
use shared::service::system::SystemContext;
use shared::service::{agreements, proposals};
use shared::store::due::DueEntry;
use shared::store::keys::Due;
use shared::webhook::queue::DeliveryMessage;
use shared::webhook::relay::{Relay, RelayOutcome};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// What a tick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TickReport {
    /// The number of proposals recorded as expired.
    pub expired: u32,
    /// The number of agreements advanced by time.
    pub advanced: u32,
    /// The number of movements and obligations that ended with their agreements.
    pub ended: u32,
    /// The number of workspaces whose people were recounted.
    pub counted: u32,
    /// The number of unused uploads removed.
    pub removed: u32,
    /// The number of outdated entries removed.
    pub stale: u32,
    /// The number of events and endpoints that the relay had missed.
    pub relayed: u32,
    /// The number of due deliveries for which a queue took messages.
    pub enqueued: u32,
    /// How long the oldest of these deliveries was overdue, in milliseconds.
    pub oldest_due_ms: i64,
    /// The number of failures, which the next tick retries.
    pub failed: u32,
}

impl std::ops::Add for TickReport {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            expired: self.expired + other.expired,
            advanced: self.advanced + other.advanced,
            ended: self.ended + other.ended,
            counted: self.counted + other.counted,
            removed: self.removed + other.removed,
            stale: self.stale + other.stale,
            relayed: self.relayed + other.relayed,
            enqueued: self.enqueued + other.enqueued,
            oldest_due_ms: self.oldest_due_ms.max(other.oldest_due_ms),
            failed: self.failed + other.failed,
        }
    }
}

/// The cause of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The schedule. The relay is running, so events and endpoints get a grace period.
    Schedule,
    /// The process started. No relay was running, so all due events and endpoints are relayed.
    Startup,
}

/// Applies what is due; a failing entry or shard stops no other. Operators' queries use the line's field names.
pub async fn tick(app: &AppState, relay: &Relay, trigger: Trigger) -> TickReport {
    tick_in_turns(app, relay, trigger, limits::FOLLOW_UP_TURN).await
}

/// The same with turns of another length than [`limits::FOLLOW_UP_TURN`], for tests.
pub async fn tick_in_turns(app: &AppState, relay: &Relay, trigger: Trigger, turn: Duration) -> TickReport {
    let (now, started) = (Timestamp::now(), Instant::now());
    let sweep = Sweep { app, relay, now, started, trigger, turn };
    // All at once, so that a backlog of one kind doesn't delay another.
    let kinds = Due::ALL.into_iter().filter(|kind| *kind != Due::Endpoint);
    let (reports, followed_up) = futures_util::join!(join_all(kinds.map(|kind| sweep.kind(kind))), sweep.follow_up());
    let report = reports.into_iter().fold(followed_up, std::ops::Add::add);
    tracing::info!(
        operation = "tick",
        oldest_due_ms = report.oldest_due_ms,
        woken = report.enqueued,
        passed_on = report.relayed,
        failed = report.failed,
    );
    report
}

#[derive(Debug, Clone, Copy)]
struct Sweep<'a> {
    app: &'a AppState,
    relay: &'a Relay,
    now: Timestamp,
    started: Instant,
    trigger: Trigger,
    /// How long the deliveries of a changed endpoint are updated before it is another's turn.
    turn: Duration,
}

impl Sweep<'_> {
    async fn kind(self, kind: Due) -> TickReport {
        let pages = Semaphore::new(limits::SWEEP_PAGES_AT_ONCE);
        let shards = self.app.store.shards_of(kind).map(|shard| self.shard(kind, shard, &pages));
        join_all(shards).await.into_iter().fold(TickReport::default(), std::ops::Add::add)
    }

    /// Applies a shard's due entries of one kind, each once, so that a failing entry doesn't hold up the rest.
    async fn shard(self, kind: Due, shard: u8, pages: &Semaphore) -> TickReport {
        let deadline = self.started + limits::SWEEP_DEADLINE;
        let mut report = TickReport::default();
        let mut due = self.app.store.due(kind, shard, self.due_until(kind));
        loop {
            let _permit = pages.acquire().await;
            let entries = match due.next_page().await {
                Ok(entries) => entries,
                Err(error) => {
                    log_failure("tick", None, &error.into());
                    report.failed += 1;
                    return report;
                }
            };
            if entries.is_empty() || deadline <= Instant::now() {
                return report;
            }
            match kind {
                Due::Delivery => self.enqueue(entries, &mut report).await,
                Due::Event => self.relay(entries, deadline, &mut report).await,
                // Of all shards together, in `follow_up`.
                Due::Endpoint => return report,
                Due::Proposal => {
                    report.expired += self.apply(TimedTransition::ExpireProposal, entries, deadline, &mut report).await;
                }
                Due::Agreement => {
                    report.advanced +=
                        self.apply(TimedTransition::AdvanceAgreement, entries, deadline, &mut report).await;
                }
                Due::Ending => self.end(entries, deadline, &mut report).await,
                Due::People => self.count_people(entries, deadline, &mut report).await,
                Due::Upload => self.remove(entries, deadline, &mut report).await,
            }
        }
    }

    fn due_until(self, kind: Due) -> Timestamp {
        // A call that changes people updates the lists itself before the grace period ends.
        let is_left_to_relay =
            matches!(kind, Due::Event | Due::Endpoint | Due::People) && self.trigger == Trigger::Schedule;
        let grace_ms = if is_left_to_relay { self.app.time_scale.relay_grace_ms() } else { 0 };
        Timestamp::from_unix_ms(self.now.unix_ms() - grace_ms).unwrap_or(self.now)
    }

    /// Sends a message per due delivery that has none on its way, and then notes it with the entries of those that the
    /// queue took. A crash in between costs a copy, which the sender skips; in the other order, it could cost a message.
    ///
    /// A process that starts sends all: messages of a queue in memory died with the last one.
    async fn enqueue(self, mut entries: Vec<DueEntry>, report: &mut TickReport) {
        let oldest = entries.iter().map(|entry| self.now.unix_ms() - entry.at.unix_ms()).max();
        report.oldest_due_ms = report.oldest_due_ms.max(oldest.unwrap_or_default());
        entries.retain(|entry| self.trigger == Trigger::Startup || entry.resend_at.is_none_or(|at| at <= self.now));
        if let Err(error) = self.relay.enqueue(&entries).await {
            let untaken: HashSet<_> = error.untaken.iter().copied().collect();
            entries.retain(|entry| DeliveryMessage::of(entry).is_some_and(|message| !untaken.contains(&message)));
            log_failure("tick", None, &error.into());
            report.failed += 1;
        }
        report.enqueued += u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let resend_at = Timestamp::now().plus_seconds(limits::MESSAGE_VISIBILITY_S);
        for some in entries.chunks(limits::RELAY_CONCURRENCY) {
            let noted = join_all(some.iter().map(|entry| self.app.store.set_resend_at(entry, resend_at))).await;
            if let Some(error) = noted.into_iter().find_map(Result::err) {
                log_failure("tick", None, &error.into());
                report.failed += 1;
            }
        }
    }

    /// Updates the deliveries of changed endpoints, of all shards together, in turns: a backlog of one takes many ticks.
    async fn follow_up(self) -> TickReport {
        let deadline = self.started + limits::SWEEP_DEADLINE;
        let mut report = TickReport::default();
        let shards = self.app.store.shards_of(Due::Endpoint);
        // An endpoint's latest entry stands for its earlier ones: what is to be done follows from the endpoint.
        let mut of_endpoints: BTreeMap<(OrgId, EndpointId), Vec<DueEntry>> = BTreeMap::new();
        for found in join_all(shards.map(|shard| self.changed_endpoints(shard))).await {
            match found {
                Ok(entries) => {
                    for entry in entries {
                        of_endpoints.entry((entry.org, entry.id.into())).or_default().push(entry);
                    }
                }
                Err(error) => {
                    log_failure("tick", None, &error);
                    report.failed += 1;
                }
            }
        }
        let mut left: Vec<Vec<DueEntry>> = of_endpoints.into_values().collect();
        while !left.is_empty() {
            fastrand::shuffle(&mut left);
            let mut unfinished = Vec::new();
            for some in left.chunks(limits::FOLLOW_UP_ENDPOINTS) {
                if deadline <= Instant::now() {
                    return report;
                }
                let until = deadline.min(Instant::now() + self.turn);
                let ended = join_all(some.iter().map(|entries| self.take_turn(entries, until))).await;
                for (entries, ended) in some.iter().zip(ended) {
                    match ended {
                        Some(Ok(RelayOutcome::OutOfTime)) => unfinished.push(entries.clone()),
                        Some(Ok(RelayOutcome::Done)) => report.relayed += 1,
                        Some(Ok(RelayOutcome::Waiting | RelayOutcome::NotRelayed)) | None => {}
                        Some(Err(_)) => report.failed += 1,
                    }
                }
            }
            left = unfinished;
        }
        report
    }

    async fn changed_endpoints(self, shard: u8) -> Result<Vec<DueEntry>, Error> {
        let mut due = self.app.store.due(Due::Endpoint, shard, self.due_until(Due::Endpoint));
        let mut entries = Vec::new();
        loop {
            let page = due.next_page().await?;
            if page.is_empty() {
                return Ok(entries);
            }
            entries.extend(page);
        }
    }

    /// None if the table just throttled the endpoint's organization.
    async fn take_turn(self, entries: &[DueEntry], until: Instant) -> Option<Result<RelayOutcome, Error>> {
        let (latest, earlier) = entries.split_last()?;
        let turn = Box::pin(async {
            let outcome = self.relay.process(latest.clone(), until).await?;
            if outcome == RelayOutcome::Done {
                for some in earlier.chunks(limits::RELAY_CONCURRENCY) {
                    try_join_all(some.iter().map(|entry| self.app.store.delete_due_entry(entry.clone()))).await?;
                }
            }
            Ok::<_, Error>(outcome)
        });
        let ended = self.relay.throttled_orgs().unless_throttled(latest.org, turn).await;
        ended.map(|ended| logged(latest.org, ended))
    }

    /// Does organizations' work, one after another, until a deadline. What fails, and what is of an organization that the
    /// table just throttled, stays for a later tick; the work logs its failures.
    async fn each<W, T, F>(
        self,
        of_orgs: impl IntoIterator<Item = (OrgId, W)>,
        deadline: Instant,
        report: &mut TickReport,
        act: impl Fn(W) -> F,
    ) -> Vec<T>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut done = Vec::new();
        for (org, work) in of_orgs {
            if deadline <= Instant::now() {
                break;
            }
            match self.relay.throttled_orgs().unless_throttled(org, Box::pin(act(work))).await {
                Some(Ok(outcome)) => done.push(outcome),
                Some(Err(_)) => report.failed += 1,
                None => {}
            }
        }
        done
    }

    async fn relay(self, entries: Vec<DueEntry>, deadline: Instant, report: &mut TickReport) {
        let act = async |entry: DueEntry| logged(entry.org, self.relay.process(entry, deadline).await);
        report.relayed += count(&self.each(by_org(entries), deadline, report, act).await);
    }

    /// Ends the remaining records of ended agreements, each in its own call.
    async fn end(self, entries: Vec<DueEntry>, deadline: Instant, report: &mut TickReport) {
        let act = async |entry: DueEntry| {
            let org = entry.org;
            let ended = end_with_agreement(self.app, org, entry.id.into(), deadline).await?;
            if ended.is_complete {
                logged(org, self.app.store.delete_due_entry(entry).await)?;
            }
            Ok(ended.records)
        };
        report.ended += self.each(by_org(entries), deadline, report, act).await.into_iter().sum::<u32>();
    }

    async fn count_people(self, entries: Vec<DueEntry>, deadline: Instant, report: &mut TickReport) {
        let mut of_workspaces: BTreeMap<(OrgId, WorkspaceId), Vec<DueEntry>> = BTreeMap::new();
        for entry in entries {
            of_workspaces.entry((entry.org, entry.id.into())).or_default().push(entry);
        }
        let of_orgs = of_workspaces.into_iter().map(|((org, _), entries)| (org, entries));
        let act = async |entries: Vec<DueEntry>| {
            let times = || entries.iter().map(|entry| entry.at);
            let (Some(entry), Some(first), Some(last)) = (entries.first(), times().min(), times().max()) else {
                return Ok(());
            };
            let org = entry.org;
            logged(org, self.app.store.count_people(org, entry.id.into(), first..=last).await)?;
            let deleted = entries.into_iter().map(|entry| self.app.store.delete_due_entry(entry));
            logged(org, try_join_all(deleted).await.map(drop))
        };
        report.counted += count(&self.each(of_orgs, deadline, report, act).await);
    }

    async fn remove(self, entries: Vec<DueEntry>, deadline: Instant, report: &mut TickReport) {
        let act = async |entry: DueEntry| logged(entry.org, self.remove_uploads_of(entry).await);
        let removed = self.each(by_org(entries), deadline, report, act).await;
        report.removed += removed.into_iter().map(|removed| removed.files).sum::<u32>();
    }

    async fn remove_uploads_of(self, entry: DueEntry) -> Result<Removed, Error> {
        let removed = remove_unnamed(self.app.files()?, &self.app.store, &entry).await?;
        if removed.is_complete {
            self.app.store.delete_due_entry(entry).await?;
        }
        Ok(removed)
    }

    /// How many entries a transition settled.
    async fn apply(
        self,
        transition: TimedTransition,
        entries: Vec<DueEntry>,
        deadline: Instant,
        report: &mut TickReport,
    ) -> u32 {
        let settled = self.each(by_org(entries), deadline, report, |entry| transition.apply(self.app, entry)).await;
        let count_of = |wanted| u32::try_from(settled.iter().filter(|one| **one == wanted).count()).unwrap_or(u32::MAX);
        report.stale += count_of(Settlement::Stale);
        count_of(Settlement::Settled)
    }
}

fn by_org(entries: Vec<DueEntry>) -> impl Iterator<Item = (OrgId, DueEntry)> {
    entries.into_iter().map(|entry| (entry.org, entry))
}

/// Logs the failure of an organization's work.
fn logged<T, E: Into<Error>>(org: OrgId, done: Result<T, E>) -> Result<T, Error> {
    done.map_err(Into::into).inspect_err(|error| log_failure("tick", Some(org), error))
}

fn count<T>(done: &[T]) -> u32 {
    u32::try_from(done.len()).unwrap_or(u32::MAX)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimedTransition {
    ExpireProposal,
    AdvanceAgreement,
}

impl TimedTransition {
    fn operation(self) -> &'static str {
        match self {
            Self::ExpireProposal => "expire_proposal",
            Self::AdvanceAgreement => "proceed_agreement",
        }
    }

    /// Applies the transition to an entry's record, retrying conflicts. Logs a failure.
    async fn apply(self, app: &AppState, entry: DueEntry) -> Result<Settlement, Error> {
        let system = SystemContext::begin(&app.store, entry.org, self.operation(), app.time_scale);
        let attempts_max = limits::SWEEP_ATTEMPTS_MAX;
        let result = match self {
            Self::ExpireProposal => system.run(attempts_max, || proposals::expire(&system, &entry)).await,
            Self::AdvanceAgreement => system.run(attempts_max, || agreements::advance(&system, &entry)).await,
        };
        let result = match result {
            // The transaction that changed the record usually removed the entry too; removing it twice is harmless.
            Ok(Settlement::Stale) => {
                app.store.delete_due_entry(entry).await.map(|()| Settlement::Stale).map_err(Error::from)
            }
            result => result,
        };
        match &result {
            Ok(Settlement::Stale | Settlement::Early) => {}
            Ok(Settlement::Settled) => system.log(Ok(())),
            Err(error) => system.log(Err(error)),
        }
        result
    }
}
