//! What the sender needs of the world: the store, subscribers and time. Ports, so that it can be measured and simulated
//! without them.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use shared::domain::delivery::{Claim, Delivery};
use shared::domain::endpoint::Endpoint;
use shared::domain::time::Timestamp;
use shared::store::events::StoredEvent;
use shared::store::{Store, StoreError, Versioned};
use shared::webhook::client::{AttemptResult, Client};
use shared::webhook::guard::EndpointUrl;
use shared::webhook::queue::DeliveryMessage;

/// Subscribers, as the sender reaches them.
pub trait Post: Send + Sync {
    /// Posts a JSON body, once.
    fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> impl Future<Output = AttemptResult> + Send;
}

impl Post for Client {
    async fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> AttemptResult {
        self.post(url, headers, body).await
    }
}

/// Time, as the sender goes by it.
pub trait Time: fmt::Debug + Send + Sync {
    /// What the clock says. It may be set, forward or back.
    fn now(&self) -> Timestamp;

    /// Waits before a write is tried again.
    fn pause(&self, how_long: Duration) -> BoxFuture<'_, ()>;
}

/// The system's.
#[derive(Debug)]
pub(crate) struct SystemTime;

impl Time for SystemTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn pause(&self, how_long: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(how_long))
    }
}

/// Deliveries as the sender sees them.
pub trait Deliveries: Send + Sync {
    /// Claims the next attempt, if one is due and nobody else has it.
    fn claim(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Versioned<Delivery>>, StoreError>> + Send;

    /// Where to, and what.
    #[allow(clippy::type_complexity, reason = "two things that may each be gone")]
    fn load(
        &self,
        wake: DeliveryMessage,
    ) -> impl Future<Output = Result<(Option<Versioned<Endpoint>>, Option<StoredEvent>), StoreError>> + Send;

    /// The delivery as it is.
    fn find(
        &self,
        wake: DeliveryMessage,
    ) -> impl Future<Output = Result<Option<Versioned<Delivery>>, StoreError>> + Send;

    /// Writes its next state. Tells whether it did: not if it has changed meanwhile, or the endpoint that it was decided
    /// from.
    fn settle(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
        decided_from: Option<&Versioned<Endpoint>>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Forgets one whose endpoint is gone.
    fn forget(
        &self,
        wake: DeliveryMessage,
        due_at: Option<Timestamp>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Forgets what woke the sender: no delivery is due for it.
    fn forget_due(&self, wake: DeliveryMessage) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Quarantines one that can't be processed.
    fn quarantine(&self, wake: DeliveryMessage, now: Timestamp) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes how an attempt has ended, for the endpoint's health.
    fn note(
        &self,
        wake: DeliveryMessage,
        is_success: bool,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

impl Deliveries for Store {
    async fn claim(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        now: Timestamp,
    ) -> Result<Option<Versioned<Delivery>>, StoreError> {
        self.claim_delivery(wake.delivery, claim, now).await
    }

    async fn load(
        &self,
        wake: DeliveryMessage,
    ) -> Result<(Option<Versioned<Endpoint>>, Option<StoredEvent>), StoreError> {
        self.endpoint_and_event(wake.delivery).await
    }

    async fn find(&self, wake: DeliveryMessage) -> Result<Option<Versioned<Delivery>>, StoreError> {
        self.delivery(wake.delivery).await
    }

    async fn settle(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
        decided_from: Option<&Versioned<Endpoint>>,
    ) -> Result<bool, StoreError> {
        self.settle_delivery(wake.org(), before, after, decided_from).await
    }

    async fn forget(&self, wake: DeliveryMessage, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        self.delete_delivery(wake.delivery, due_at).await
    }

    async fn forget_due(&self, wake: DeliveryMessage) -> Result<(), StoreError> {
        Store::delete_due_delivery(self, wake.delivery, wake.due_at).await
    }

    async fn quarantine(&self, wake: DeliveryMessage, now: Timestamp) -> Result<(), StoreError> {
        self.quarantine_delivery(wake.delivery, wake.due_at, now).await
    }

    async fn note(&self, wake: DeliveryMessage, is_success: bool, at: Timestamp) -> Result<(), StoreError> {
        self.note_health(wake.org(), wake.delivery.endpoint, is_success, at).await
    }
}
