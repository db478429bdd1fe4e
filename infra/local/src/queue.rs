//! The queues of the local stack: messages in memory. They may die with the process, since the clock brings back what is
//! still due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use shared::domain::ids::{EndpointId, OrgId};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::platform::telemetry::Log;
use shared::webhook::queue::{Queue, QueueError, Wake};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use webhook_sender::{Deliveries, Failure, Handled, Post, Sender};

/// Attempts at a time, over all endpoints: more connections than this are no quicker on one machine.
const AT_A_TIME: usize = 256;
/// Attempts at a time at one endpoint, so that one that is slow leaves room for the others.
const AT_A_TIME_OF_ENDPOINT: usize = 16;
/// Attempts at a time of one organization, so that one whose endpoints are all slow leaves room for others.
const AT_A_TIME_OF_ORG: usize = 64;
/// How soon a message that failed is seen again.
const VISIBILITY: Duration = Duration::from_secs(1);

/// Messages that wait.
#[derive(Debug, Default)]
pub struct LocalQueue {
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// By when they are due, and then in the order in which they came.
    by_time: BinaryHeap<Reverse<(Timestamp, u64, Message)>>,
    /// The same message twice says no more than once, until it has been handled: what waits for its turn is not woken
    /// over and over.
    known: HashSet<Wake>,
    count: u64,
}

/// A message, with how often it has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    wake: Wake,
    receives: u32,
}

// Messages are ordered by what stands before them.
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
    fn put(&self, message: Message, at: Timestamp) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.known.insert(message.wake) {
            waiting.count += 1;
            let count = waiting.count;
            waiting.by_time.push(Reverse((at, count, message)));
        }
    }

    /// The next message whose time has come, or how long there is none.
    fn next(&self) -> Result<Message, Option<Duration>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Reverse((at, _, _))) = waiting.by_time.peek() else { return Err(None) };
        let left_ms = at.unix_ms() - Timestamp::now().unix_ms();
        if let Ok(left_ms) = u64::try_from(left_ms)
            && left_ms > 0
        {
            return Err(Some(Duration::from_millis(left_ms)));
        }
        let Some(Reverse((_, _, message))) = waiting.by_time.pop() else { return Err(None) };
        Ok(message)
    }

    /// What was received has been handled, or nobody is at it any more.
    fn done(&self, wake: Wake) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).known.remove(&wake);
    }

    async fn receive(&self) -> Message {
        loop {
            let more = self.more.notified();
            match self.next() {
                Ok(message) => return message,
                Err(None) => more.await,
                // A clock that is set forward must not leave everything waiting.
                Err(Some(wait)) => {
                    let _ = tokio::time::timeout(wait.min(Duration::from_secs(1)), more).await;
                }
            }
        }
    }
}

impl Queue for LocalQueue {
    fn send<'a>(&'a self, wakes: &'a [Wake]) -> BoxFuture<'a, Result<(), QueueError>> {
        for wake in wakes {
            self.put(Message { wake: *wake, receives: 0 }, wake.due_at);
        }
        self.more.notify_one();
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A message that is being handled. However that ends, the queue takes the same one again.
struct Received {
    queue: Arc<LocalQueue>,
    wake: Wake,
}

impl Drop for Received {
    fn drop(&mut self) {
        self.queue.done(self.wake);
    }
}

/// Attempts what the queue wakes, until it is dropped.
#[derive(Debug)]
pub struct Sending(JoinHandle<()>);

impl Sending {
    /// Starts it.
    #[must_use]
    pub fn start<D, P>(queue: Arc<LocalQueue>, sender: Sender<D, P>, log: Log) -> Self
    where
        D: Deliveries + 'static,
        P: Post + 'static,
    {
        let (sender, all) = (Arc::new(sender), Arc::new(Semaphore::new(AT_A_TIME)));
        Self(tokio::spawn(async move {
            let mut lanes: HashMap<EndpointId, Lane> = HashMap::new();
            let mut of_org: HashMap<OrgId, Arc<Semaphore>> = HashMap::new();
            let mut attempts = JoinSet::new();
            let mut at: HashMap<tokio::task::Id, EndpointId> = HashMap::new();
            loop {
                // An endpoint that has a message more, or an attempt less.
                let endpoint = tokio::select! {
                    message = queue.receive() => {
                        let endpoint = message.wake.delivery.endpoint;
                        lanes.entry(endpoint).or_default().waiting.push_back(message);
                        endpoint
                    }
                    Some(ended) = attempts.join_next_with_id() => {
                        // Each is by itself: one that panics is lost alone, and the clock wakes its delivery again.
                        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                        let Some(endpoint) = at.remove(&id) else { continue };
                        if let Some(lane) = lanes.get_mut(&endpoint) {
                            lane.at_it = lane.at_it.saturating_sub(1);
                        }
                        endpoint
                    }
                };
                let Some(lane) = lanes.get_mut(&endpoint) else { continue };
                while lane.at_it < AT_A_TIME_OF_ENDPOINT
                    && let Some(message) = lane.waiting.pop_front()
                {
                    let share = of_org.entry(message.wake.org());
                    let share = share.or_insert_with(|| Arc::new(Semaphore::new(AT_A_TIME_OF_ORG))).clone();
                    let (queue, sender, all, log) = (queue.clone(), sender.clone(), all.clone(), log.clone());
                    let attempt = attempts.spawn(async move {
                        let received = Received { queue: queue.clone(), wake: message.wake };
                        let (Ok(_share), Ok(_place)) = (share.acquire().await, all.acquire().await) else { return };
                        let handled = sender.handle(message.wake).await;
                        drop(received);
                        match handled {
                            // What the sender sent on was still known.
                            Ok(Handled::SentOn) => queue.put(message, message.wake.due_at),
                            Ok(_) => {}
                            Err(failure) => see_again(&queue, message, &failure, &log),
                        }
                    });
                    at.insert(attempt.id(), endpoint);
                    lane.at_it += 1;
                }
                if lane.at_it == 0 {
                    lanes.remove(&endpoint);
                }
            }
        }))
    }
}

/// An endpoint's turn: messages wait here rather than each in a task of its own, which would be a hundred times as large.
#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Message>,
    at_it: usize,
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn see_again(queue: &LocalQueue, message: Message, failure: &Failure, log: &Log) {
    let receives = message.receives + 1;
    let is_poison = matches!(failure, Failure::Poison(_));
    if is_poison || receives >= limits::MESSAGE_RECEIVES_MAX {
        log.line(&serde_json::json!({"operation": "dead_letter", "message": message.wake, "receives": receives}));
        return;
    }
    let at = Timestamp::now().unix_ms() + i64::try_from(VISIBILITY.as_millis()).unwrap_or_default();
    queue.put(Message { receives, ..message }, Timestamp::from_unix_ms(at).unwrap_or(message.wake.due_at));
    queue.more.notify_one();
}
