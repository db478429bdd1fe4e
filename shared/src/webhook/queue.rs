//! The sender's queue. Messages are hints: the delivery's record is the truth, and a lost one only delays its reading.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::domain::ids::OrgId;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::store::deliveries::DeliveryKey;
use crate::store::due::DueEntry;
use crate::store::keys::Due;

/// Asks to attempt a delivery when due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveryMessage {
    /// The delivery.
    #[serde(flatten)]
    pub delivery: DeliveryKey,
    /// When it is due.
    pub due_at: Timestamp,
}

impl DeliveryMessage {
    /// The message for an entry of the due index, if it is a delivery's.
    #[must_use]
    pub fn of(entry: &DueEntry) -> Option<Self> {
        let (Due::Delivery, Some(endpoint)) = (entry.what, entry.endpoint) else { return None };
        let delivery = DeliveryKey { org: entry.org, endpoint, event: entry.id.into() };
        Some(Self { delivery, due_at: entry.at })
    }

    /// The delivery's organization.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.delivery.org
    }
}

/// A queue refused messages. It took all others.
#[derive(Debug, thiserror::Error)]
#[error("the queue did not take {} of the messages: {cause}", .untaken.len())]
pub struct QueueError {
    /// The messages that it didn't take.
    pub untaken: Vec<DeliveryMessage>,
    /// Why, for the log.
    pub cause: String,
}

impl From<QueueError> for Error {
    fn from(error: QueueError) -> Self {
        Self::Internal(error.to_string())
    }
}

/// Where messages wait: SQS in the cloud, memory on the local stack.
pub trait Queue: Send + Sync + fmt::Debug {
    /// Sends messages. Each arrives when due or earlier; receivers put early ones back.
    fn send<'a>(&'a self, messages: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>>;

    /// Puts a received message back, to arrive at a moment or earlier. Its receives are counted anew.
    fn put_back(&self, message: DeliveryMessage, at: Timestamp) -> BoxFuture<'_, Result<(), QueueError>>;
}
