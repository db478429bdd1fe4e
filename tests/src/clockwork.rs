//! A clock that ticks when a test says so, on a stack's table.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clock::{TickReport, Trigger};
use futures_util::future::BoxFuture;
use local::PublicOrLoopback;
use shared::AppState;
use shared::crypto::keys::{FixedKeys, Keys};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::platform::config::BaseUrl;
use shared::platform::telemetry::log_to_file;
use shared::store::Store;
use shared::webhook::client::Client;
use shared::webhook::queue::{DeliveryMessage, Queue, QueueError};
use shared::webhook::relay::Relay;
use shared::webhook::resolve::SystemResolver;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;
use webhook_sender::Sender;

use crate::org::Org;
use crate::stack::Stack;

/// A clock with its own relay, and a queue that only records.
#[derive(Debug)]
pub struct Clockwork {
    app: Box<AppState>,
    relay: Relay,
    /// The queue with the messages.
    pub queue: Arc<Kept>,
    log: Dispatch,
}

/// A queue that records messages and delivers none.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Vec<DeliveryMessage>>);

impl Kept {
    /// The messages sent, in order.
    #[must_use]
    pub fn wakes(&self) -> Vec<DeliveryMessage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Queue for Kept {
    fn send<'a>(&'a self, wakes: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(wakes);
        Box::pin(std::future::ready(Ok(())))
    }

    fn put_back(&self, wake: DeliveryMessage, _: Timestamp) -> BoxFuture<'_, Result<(), QueueError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(wake);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Clockwork {
    /// A clock on the table of an organization's stack.
    #[must_use]
    pub fn of(org: &Org) -> Self {
        Self::on(org.stack())
    }

    /// A clock on a stack's table, reached as that stack does.
    #[must_use]
    pub fn on(stack: &Stack) -> Self {
        let log = log_to_file(stack.log_file()).expect("the log");
        let base_url = BaseUrl::parse(&stack.base_url).expect("an origin");
        let app = AppState::new(stack.table().store(), base_url, TimeScale::default());
        let app = app.with_files(stack.files().clone());
        let queue = Arc::new(Kept::default());
        Self { relay: Relay::new(app.store.clone(), queue.clone()), app: Box::new(app), queue, log }
    }

    /// Ticks as a clock does when changes are also reported elsewhere.
    pub async fn tick(&self) -> TickReport {
        clock::tick(&self.app, &self.relay, Trigger::Schedule).with_subscriber(self.log.clone()).await
    }

    /// Ticks as a process's first tick, before any change was reported.
    pub async fn first_tick(&self) -> TickReport {
        clock::tick(&self.app, &self.relay, Trigger::Startup).with_subscriber(self.log.clone()).await
    }

    /// The same with turns of another length for changed endpoints.
    pub async fn first_tick_in_turns(&self, turn: Duration) -> TickReport {
        let tick = clock::tick_in_turns(&self.app, &self.relay, Trigger::Startup, turn);
        tick.with_subscriber(self.log.clone()).await
    }

    /// A sender on the same table and keys, which returns early messages to the queue.
    #[must_use]
    pub fn sender(&self, org: &Org) -> Sender<Store> {
        self.sender_with(FixedKeys::new(org.stack().keyring().clone()))
    }

    /// The same with other keys.
    #[must_use]
    pub fn sender_with(&self, keys: Arc<dyn Keys>) -> Sender<Store> {
        let client = Client::new(Arc::new(PublicOrLoopback), Arc::new(SystemResolver::new())).expect("a client");
        Sender::new(self.app.store.clone(), self.queue.clone(), keys, client, self.app.time_scale)
    }

    /// The state it works on.
    #[must_use]
    pub fn app(&self) -> &AppState {
        &self.app
    }

    /// Its relay.
    #[must_use]
    pub fn relay(&self) -> &Relay {
        &self.relay
    }
}
