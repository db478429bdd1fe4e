//! A clock in the test's hands: it ticks when it is told, over the same table as a stack.

use std::sync::{Arc, Mutex, PoisonError};

use clock::{TickReport, Trigger};
use futures_util::future::BoxFuture;
use local::PublicOrLoopback;
use shared::AppState;
use shared::domain::time_scale::TimeScale;
use shared::platform::config::BaseUrl;
use shared::platform::secrets::{FixedKeys, Keys};
use shared::platform::telemetry::Log;
use shared::store::Store;
use shared::webhook::client::Client;
use shared::webhook::queue::{DeliveryMessage, Queue, QueueError};
use shared::webhook::relay::Relay;
use shared::webhook::resolve::SystemResolver;
use webhook_sender::Sender;

use crate::org::Org;
use crate::stack::Stack;

/// A clock with a relay and a queue of its own, which keeps what it is given.
#[derive(Debug)]
pub struct Clockwork {
    app: AppState,
    relay: Relay,
    /// The messages of the queue.
    pub queue: Arc<Kept>,
}

/// A queue that records its messages and delivers none.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Vec<DeliveryMessage>>);

impl Kept {
    /// What has been sent, in its order.
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
}

impl Clockwork {
    /// A clock over the table of an organization's stack.
    #[must_use]
    pub fn of(org: &Org) -> Self {
        Self::on(org.stack())
    }

    /// A clock over the table of a stack, as that stack reaches it.
    ///
    /// # Panics
    /// When the log can't be opened.
    #[must_use]
    pub fn on(stack: &Stack) -> Self {
        let log = Log::file(stack.log_file()).expect("the log");
        let base_url = BaseUrl::parse(&stack.base_url).expect("an origin");
        let app = AppState::new(stack.table().store(), base_url, log, TimeScale::default());
        let app = app.with_files(stack.files().clone());
        let queue = Arc::new(Kept::default());
        Self { relay: Relay::new(app.store.clone(), queue.clone()), app, queue }
    }

    /// Ticks once, as a clock does beside somebody who hears of what is written.
    pub async fn tick(&self) -> TickReport {
        clock::tick(&self.app, &self.relay, Trigger::Schedule).await
    }

    /// Ticks once as the first of a process, when nobody has heard of anything.
    pub async fn first_tick(&self) -> TickReport {
        clock::tick(&self.app, &self.relay, Trigger::Startup).await
    }

    /// A sender over the same table and with the same keys, which hands what comes too early back to the queue.
    ///
    /// # Panics
    /// When it can't be made.
    #[must_use]
    pub fn sender(&self, org: &Org) -> Sender<Store> {
        self.sender_with(FixedKeys::new(org.stack().keyring().clone()))
    }

    /// Such a sender with keys from elsewhere.
    ///
    /// # Panics
    /// When it can't be made.
    #[must_use]
    pub fn sender_with(&self, keys: Arc<dyn Keys>) -> Sender<Store> {
        let client = Client::new(Arc::new(PublicOrLoopback), Arc::new(SystemResolver::new())).expect("a client");
        Sender::new(self.app.store.clone(), self.queue.clone(), keys, client, self.app.time_scale, self.app.log.clone())
    }

    /// What it works on.
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
