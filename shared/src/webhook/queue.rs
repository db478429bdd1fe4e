//! What wakes the sender. The delivery record is the truth: a message that is lost, doubled, late or out of order
//! changes nothing but when somebody looks.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::domain::ids::OrgId;
use crate::domain::time::Timestamp;
use crate::store::deliveries::DeliveryKey;
use crate::store::due::DueEntry;
use crate::store::keys::Due;

/// A message: look at this delivery then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wake {
    /// Which.
    #[serde(flatten)]
    pub delivery: DeliveryKey,
    /// When.
    pub due_at: Timestamp,
}

impl Wake {
    /// The message for an entry of what is due, if it is a delivery.
    #[must_use]
    pub fn of(entry: &DueEntry) -> Option<Self> {
        let (Due::Delivery, Some(endpoint)) = (entry.what, entry.endpoint) else { return None };
        let delivery = DeliveryKey { org: entry.org, endpoint, event: entry.id.into() };
        Some(Self { delivery, due_at: entry.at })
    }

    /// Whose it is.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.delivery.org
    }
}

/// A queue could not take a message.
#[derive(Debug, thiserror::Error)]
#[error("the queue did not take a message: {0}")]
pub struct QueueError(pub String);

/// Where messages wait: SQS in the cloud, memory on the local stack.
pub trait Queue: Send + Sync + fmt::Debug {
    /// Hands messages over. Each comes out when it is due, or earlier: whoever gets it too early sends it on.
    fn send<'a>(&'a self, wakes: &'a [Wake]) -> BoxFuture<'a, Result<(), QueueError>>;
}
