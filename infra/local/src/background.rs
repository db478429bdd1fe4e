//! What runs without anybody calling: the stream's part, the queues' and the schedule's.

use std::sync::Arc;

use clock::Hearing;
use shared::AppState;
use shared::platform::secrets::Keys;
use shared::store::due::DueEntry;
use shared::store::keys::Due;
use shared::webhook::client::Client;
use shared::webhook::relay::Relay;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;
use webhook_sender::Sender;

use crate::queue::{LocalQueue, Sending};

/// How many entries are passed on as one batch.
const BATCH: usize = 100;

/// All that runs in the background. It ends at once when it is dropped: what it was about to do is done at the next
/// start.
#[derive(Debug)]
pub(crate) struct Background {
    _sending: Sending,
    tasks: Vec<JoinHandle<()>>,
}

impl Background {
    /// Starts it. `heard` is what the store tells of.
    pub(crate) fn start(
        app: Arc<AppState>,
        heard: UnboundedReceiver<DueEntry>,
        keys: Arc<dyn Keys>,
        client: Client,
    ) -> Self {
        let queue = Arc::new(LocalQueue::default());
        let relay = Relay::new(app.store.clone(), queue.clone());
        let sender = Sender::new(app.store.clone(), queue.clone(), keys, client, app.time_scale, app.log.clone());
        let sending = Sending::start(queue, sender, app.log.clone());
        let tasks = vec![tokio::spawn(pass_on(app.clone(), relay.clone(), heard)), tokio::spawn(keep_time(app, relay))];
        Self { _sending: sending, tasks }
    }

    /// Runs something beside it, for as long.
    pub(crate) fn run_beside(&mut self, task: Option<impl Future<Output = ()> + Send + 'static>) {
        self.tasks.extend(task.map(tokio::spawn));
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The stream's part.
async fn pass_on(app: Arc<AppState>, relay: Relay, mut heard: UnboundedReceiver<DueEntry>) {
    let mut batches = JoinSet::new();
    let mut entries = Vec::new();
    while heard.recv_many(&mut entries, BATCH).await > 0 {
        while batches.try_join_next().is_some() {}
        // Endpoints may take long, and hold nobody up.
        let (endpoints, others): (Vec<_>, Vec<_>) =
            entries.drain(..).partition(|entry: &DueEntry| entry.what == Due::Endpoint);
        for batch in endpoints.into_iter().map(|entry| vec![entry]).chain([others]) {
            let (app, relay) = (app.clone(), relay.clone());
            batches.spawn(async move { event_relay::pass_on(&relay, &app.log, batch).await });
        }
    }
}

/// The schedule's part: the clock ticks at the start, for what became due while nothing ran, and then again and again.
async fn keep_time(app: Arc<AppState>, relay: Relay) {
    let mut schedule = tokio::time::interval(app.time_scale.sweep_interval());
    schedule.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut hearing = Hearing::Nobody;
    loop {
        schedule.tick().await;
        let (ticking_app, relay) = (app.clone(), relay.clone());
        // What failed is in the log, and due at the next tick too: also when it was a panic that ended this one.
        let _ = tokio::spawn(async move { clock::tick(&ticking_app, &relay, hearing).await }).await;
        hearing = Hearing::Somebody;
    }
}
