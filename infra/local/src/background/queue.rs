//! The delivery queue in memory, and its worker. The clock resends due messages that die with the process.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use shared::domain::ids::{EndpointId, OrgId};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::webhook::queue::{DeliveryMessage, Queue, QueueError};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tracing::instrument::WithSubscriber;
use webhook_sender::{DeliveryStore, Failure, Handled, HttpClient, Sender};

use crate::calls;

/// Most concurrent attempts: more connections are no faster on one machine.
const ATTEMPTS_MAX: usize = 256;
/// Most concurrent attempts of one organization, so that its slow endpoints leave room for others.
const ATTEMPTS_PER_ORG_MAX: usize = 64;
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest sleep until the next message is due: bounds the delay after the system's clock is set forward.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// An in-memory queue.
#[derive(Debug, Default)]
pub struct LocalQueue {
    messages: Mutex<Messages>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Messages {
    /// Visible messages, by due time, then arrival.
    by_due_time: BinaryHeap<Reverse<(Timestamp, u64, Message)>>,
    /// Queued or being handled. Duplicates are dropped: repeated wakes of a waiting delivery don't pile up.
    pending: HashSet<DeliveryMessage>,
    arrivals: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    wake: DeliveryMessage,
    receives: u32,
}

// The heap orders by time and arrival number; the message itself has no order.
impl PartialOrd for Message {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Message {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl LocalQueue {
    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Message, due_at: Timestamp) {
        let mut messages = self.messages();
        if messages.pending.insert(message.wake) {
            messages.arrivals += 1;
            let arrival = messages.arrivals;
            messages.by_due_time.push(Reverse((due_at, arrival, message)));
        }
    }

    /// Takes the next due message. The error is the time until one is due, if any is queued.
    fn pop(&self) -> Result<Message, Option<Duration>> {
        let mut messages = self.messages();
        let Some(Reverse((due_at, _, _))) = messages.by_due_time.peek() else { return Err(None) };
        let left_ms = due_at.unix_ms() - Timestamp::now().unix_ms();
        if let Ok(left_ms) = u64::try_from(left_ms)
            && left_ms > 0
        {
            return Err(Some(Duration::from_millis(left_ms)));
        }
        let Some(Reverse((_, _, message))) = messages.by_due_time.pop() else { return Err(None) };
        Ok(message)
    }

    async fn receive(&self) -> Message {
        loop {
            let arrived = self.arrived.notified();
            match self.pop() {
                Ok(message) => return message,
                Err(None) => arrived.await,
                Err(Some(left)) => {
                    let _ = tokio::time::timeout(left.min(SLEEP_MAX), arrived).await;
                }
            }
        }
    }

    fn retry_or_dead_letter(&self, message: Message, failure: &Failure) {
        let receives = message.receives + 1;
        let is_permanent = matches!(failure, Failure::Permanent(_));
        if is_permanent || receives >= limits::MESSAGE_RECEIVES_MAX {
            let wake = message.wake;
            tracing::error!(
                operation = "dead_letter",
                organization_id = %wake.org(),
                endpoint_id = %wake.delivery.endpoint,
                event_id = %wake.delivery.event,
                receives,
            );
            return;
        }
        let at = Timestamp::now().unix_ms() + i64::try_from(VISIBILITY_TIMEOUT.as_millis()).unwrap_or_default();
        self.push(Message { receives, ..message }, Timestamp::from_unix_ms(at).unwrap_or(message.wake.due_at));
        self.arrived.notify_one();
    }
}

impl Queue for LocalQueue {
    fn send<'a>(&'a self, wakes: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>> {
        for wake in wakes {
            self.push(Message { wake: *wake, receives: 0 }, wake.due_at);
        }
        self.arrived.notify_one();
        Box::pin(std::future::ready(Ok(())))
    }

    /// The worker puts it back once the sender has handled it: until then, the message is a copy of what is handled.
    fn put_back(&self, _: DeliveryMessage, _: Timestamp) -> BoxFuture<'_, Result<(), QueueError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A message being handled. Dropping it, even by a panic, lets the queue accept the same message again.
struct Received {
    queue: Arc<LocalQueue>,
    wake: DeliveryMessage,
}

impl Drop for Received {
    fn drop(&mut self) {
        self.queue.messages().pending.remove(&self.wake);
    }
}

/// Delivers a queue's messages. Dropping it aborts the task and its attempts.
#[derive(Debug)]
pub struct DeliveryWorker(JoinHandle<()>);

impl DeliveryWorker {
    /// Starts the task.
    #[must_use]
    pub fn start<D, C>(queue: Arc<LocalQueue>, sender: Sender<D, C>) -> Self
    where
        D: DeliveryStore + 'static,
        C: HttpClient + 'static,
    {
        let dispatcher = Dispatcher {
            queue,
            sender: Arc::new(sender),
            lanes: HashMap::new(),
            slots: Arc::new(Semaphore::new(ATTEMPTS_MAX)),
            org_slots: HashMap::new(),
            attempts: JoinSet::new(),
            endpoints: HashMap::new(),
        };
        Self(tokio::spawn(dispatcher.run().with_current_subscriber()))
    }
}

impl Drop for DeliveryWorker {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Dispatcher<D, C> {
    queue: Arc<LocalQueue>,
    sender: Arc<Sender<D, C>>,
    /// Endpoints with a message or an attempt.
    lanes: HashMap<EndpointId, Lane>,
    slots: Arc<Semaphore>,
    org_slots: HashMap<OrgId, Arc<Semaphore>>,
    attempts: JoinSet<()>,
    endpoints: HashMap<tokio::task::Id, EndpointId>,
}

/// An endpoint's messages and attempts. Messages wait here: a waiting task would be a hundred times as large.
#[derive(Debug, Default)]
struct Lane {
    messages: VecDeque<Message>,
    attempts: usize,
}

impl<D, C> Dispatcher<D, C>
where
    D: DeliveryStore + 'static,
    C: HttpClient + 'static,
{
    async fn run(mut self) {
        loop {
            tokio::select! {
                message = self.queue.receive() => {
                    let endpoint = message.wake.delivery.endpoint;
                    self.lanes.entry(endpoint).or_default().messages.push_back(message);
                    self.start_attempts(endpoint);
                }
                Some(ended) = self.attempts.join_next_with_id() => {
                    // A panic loses only its own attempt: the clock wakes that delivery again.
                    let task = ended.map_or_else(|error| error.id(), |(id, ())| id);
                    let Some(endpoint) = self.endpoints.remove(&task) else { continue };
                    if let Some(lane) = self.lanes.get_mut(&endpoint) {
                        lane.attempts = lane.attempts.saturating_sub(1);
                    }
                    self.start_attempts(endpoint);
                }
            }
        }
    }

    fn start_attempts(&mut self, endpoint: EndpointId) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        while lane.attempts < limits::ENDPOINT_ATTEMPTS_MAX
            && let Some(message) = lane.messages.pop_front()
        {
            let org_slots = self.org_slots.entry(message.wake.org());
            let org_slots = org_slots.or_insert_with(|| Arc::new(Semaphore::new(ATTEMPTS_PER_ORG_MAX))).clone();
            let (queue, sender) = (self.queue.clone(), self.sender.clone());
            let slots = self.slots.clone();
            let attempt = calls::of("webhook-sender", async move {
                let received = Received { queue: queue.clone(), wake: message.wake };
                let (Ok(_org_slot), Ok(_slot)) = (org_slots.acquire().await, slots.acquire().await) else { return };
                let handled = sender.handle(message.wake).await;
                drop(received);
                match handled {
                    Ok(Handled::PutBack(at)) => {
                        queue.push(message, at);
                        queue.arrived.notify_one();
                    }
                    Ok(_) => {}
                    Err(failure) => queue.retry_or_dead_letter(message, &failure),
                }
            });
            let attempt = self.attempts.spawn(attempt.with_current_subscriber());
            self.endpoints.insert(attempt.id(), endpoint);
            lane.attempts += 1;
        }
        if lane.attempts == 0 {
            self.lanes.remove(&endpoint);
        }
    }
}
