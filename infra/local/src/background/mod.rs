//! Background work: the relay of due entries, the delivery of webhooks, and the clock.

mod queue;

use std::sync::Arc;

use clock::Trigger;
use shared::AppState;
use shared::crypto::keys::Keys;
use shared::store::due::DueEntry;
use shared::webhook::queue::Queue;
use shared::webhook::relay::Relay;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;
use tracing::instrument::WithSubscriber;
use webhook_sender::Sender;

use crate::calls::{self, Calls};
use crate::subscribers::Outbound;

pub use crate::background::queue::{DeliveryWorker, LocalQueue};

const BATCH_MAX: usize = 100;

/// Dropping it aborts the tasks; the next start does what they leave.
#[derive(Debug)]
pub(crate) struct Background {
    _deliveries: DeliveryWorker,
    tasks: Vec<JoinHandle<()>>,
}

impl Background {
    pub(crate) fn start(
        app: Arc<AppState>,
        due_entries: UnboundedReceiver<DueEntry>,
        keys: Arc<dyn Keys>,
        client: Outbound,
        calls: Option<&Calls>,
    ) -> Self {
        let queue = Arc::new(LocalQueue::default());
        let sent_to: Arc<dyn Queue> = match calls {
            Some(calls) => calls.of_queue(queue.clone()),
            None => queue.clone(),
        };
        let relay = Relay::new(app.store.clone(), sent_to.clone());
        let sender = Sender::new(app.store.clone(), sent_to, keys, client, app.time_scale);
        let deliveries = DeliveryWorker::start(queue, sender);
        let relaying = tokio::spawn(relay_due_entries(relay.clone(), due_entries).with_current_subscriber());
        let ticking = tokio::spawn(run_clock(app, relay).with_current_subscriber());
        Self { _deliveries: deliveries, tasks: vec![relaying, ticking] }
    }

    /// Adds a task that ends with the others.
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(task.with_current_subscriber()));
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Relays entries in batches, as the stream's trigger does in the cloud.
async fn relay_due_entries(relay: Relay, mut due_entries: UnboundedReceiver<DueEntry>) {
    let mut batches = JoinSet::new();
    let mut entries = Vec::new();
    while due_entries.recv_many(&mut entries, BATCH_MAX).await > 0 {
        while batches.try_join_next().is_some() {}
        let (relay, batch) = (relay.clone(), std::mem::take(&mut entries));
        let relaying = async move { event_relay::relay_entries(&relay, batch).await };
        batches.spawn(calls::of("event-relay", relaying).with_current_subscriber());
    }
}

/// Runs the clock. The first tick comes at once, for entries that became due while no stack ran.
async fn run_clock(app: Arc<AppState>, relay: Relay) {
    let mut schedule = tokio::time::interval(app.time_scale.sweep_interval());
    schedule.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut trigger = Trigger::Startup;
    loop {
        schedule.tick().await;
        let (tick_app, relay) = (app.clone(), relay.clone());
        // In its own task, a panic doesn't end the schedule. Failures are logged, and due again at the next tick.
        let tick = async move { clock::tick(&tick_app, &relay, trigger).await };
        let _ = tokio::spawn(calls::of("clock", tick).with_current_subscriber()).await;
        trigger = Trigger::Schedule;
    }
}
