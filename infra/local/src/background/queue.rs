//! The delivery queue of the local stack, in memory, and the worker that delivers what it holds. Messages may die with
//! the process: the clock sends those again that are still due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use shared::domain::ids::{EndpointId, OrgId};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::platform::telemetry::Log;
use shared::webhook::queue::{DeliveryMessage, Queue, QueueError};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use webhook_sender::{DeliveryStore, Failure, Handled, HttpClient, Sender};

use crate::calls;

/// The largest number of concurrent attempts: more connections are no faster on one machine.
const ATTEMPTS_MAX: usize = 256;
/// The largest number of concurrent attempts at one endpoint, so that a slow one leaves room for others.
const ATTEMPTS_PER_ENDPOINT_MAX: usize = 16;
/// The largest number of concurrent attempts of one organization, so that slow endpoints of one leave room for others.
const ATTEMPTS_PER_ORG_MAX: usize = 64;
/// How long a message that failed stays invisible.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest sleep until the next message is due. It bounds the delay after the system's clock has been set forward.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// A queue in memory.
#[derive(Debug, Default)]
pub struct LocalQueue {
    messages: Mutex<Messages>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Messages {
    /// The visible messages, by due time and then in order of arrival.
    by_due_time: BinaryHeap<Reverse<(Timestamp, u64, Message)>>,
    /// The messages that are in the queue or being handled. The queue drops a duplicate of these, so that repeated wakes
    /// of a delivery that waits for its turn do not pile up.
    pending: HashSet<DeliveryMessage>,
    arrivals: u64,
}

/// A message, with the number of times that it was received and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    wake: DeliveryMessage,
    receives: u32,
}

// The heap orders by the time and the number before the message; the message itself has no order.
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

    /// Takes the next message that is due. If there is none, the error is the time until one is due, if any is queued.
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

    /// Waits for the next message that is due, and takes it.
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

    /// Queues a message that failed once more, or logs it as a dead letter.
    fn retry_or_dead_letter(&self, message: Message, failure: &Failure, log: &Log) {
        let receives = message.receives + 1;
        let is_permanent = matches!(failure, Failure::Permanent(_));
        if is_permanent || receives >= limits::MESSAGE_RECEIVES_MAX {
            log.line(&serde_json::json!({"operation": "dead_letter", "message": message.wake, "receives": receives}));
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
}

/// A message that is being handled. Dropping it, also by a panic, lets the queue take the same message again.
struct Received {
    queue: Arc<LocalQueue>,
    wake: DeliveryMessage,
}

impl Drop for Received {
    fn drop(&mut self) {
        self.queue.messages().pending.remove(&self.wake);
    }
}

/// A task that delivers what a queue holds. Dropping it ends the task and its attempts.
#[derive(Debug)]
pub struct DeliveryWorker(JoinHandle<()>);

impl DeliveryWorker {
    /// Starts the task.
    #[must_use]
    pub fn start<D, C>(queue: Arc<LocalQueue>, sender: Sender<D, C>, log: Log) -> Self
    where
        D: DeliveryStore + 'static,
        C: HttpClient + 'static,
    {
        let dispatcher = Dispatcher {
            queue,
            sender: Arc::new(sender),
            log,
            lanes: HashMap::new(),
            slots: Arc::new(Semaphore::new(ATTEMPTS_MAX)),
            org_slots: HashMap::new(),
            attempts: JoinSet::new(),
            endpoints: HashMap::new(),
        };
        Self(tokio::spawn(dispatcher.run()))
    }
}

impl Drop for DeliveryWorker {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts an attempt per message, within the limits.
struct Dispatcher<D, C> {
    queue: Arc<LocalQueue>,
    sender: Arc<Sender<D, C>>,
    log: Log,
    /// The endpoints that have a message or an attempt.
    lanes: HashMap<EndpointId, Lane>,
    slots: Arc<Semaphore>,
    org_slots: HashMap<OrgId, Arc<Semaphore>>,
    attempts: JoinSet<()>,
    /// The endpoint of each running attempt.
    endpoints: HashMap<tokio::task::Id, EndpointId>,
}

/// The messages and attempts of an endpoint. A message waits here and not in a task, which is a hundred times as large.
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
                    // A panic loses its own attempt only: the clock wakes that delivery again.
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

    /// Starts attempts for the messages of an endpoint, as many as its limit allows.
    fn start_attempts(&mut self, endpoint: EndpointId) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        while lane.attempts < ATTEMPTS_PER_ENDPOINT_MAX
            && let Some(message) = lane.messages.pop_front()
        {
            let org_slots = self.org_slots.entry(message.wake.org());
            let org_slots = org_slots.or_insert_with(|| Arc::new(Semaphore::new(ATTEMPTS_PER_ORG_MAX))).clone();
            let (queue, sender, log) = (self.queue.clone(), self.sender.clone(), self.log.clone());
            let slots = self.slots.clone();
            let attempt = self.attempts.spawn(calls::of("webhook-sender", async move {
                let received = Received { queue: queue.clone(), wake: message.wake };
                let (Ok(_org_slot), Ok(_slot)) = (org_slots.acquire().await, slots.acquire().await) else { return };
                let handled = sender.handle(message.wake).await;
                drop(received);
                match handled {
                    // The queue dropped the sender's message as a duplicate of the one being handled.
                    Ok(Handled::Requeued) => queue.push(message, message.wake.due_at),
                    Ok(_) => {}
                    Err(failure) => queue.retry_or_dead_letter(message, &failure, &log),
                }
            }));
            self.endpoints.insert(attempt.id(), endpoint);
            lane.attempts += 1;
        }
        if lane.attempts == 0 {
            self.lanes.remove(&endpoint);
        }
    }
}
