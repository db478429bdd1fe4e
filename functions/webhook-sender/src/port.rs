//! The sender's ports: store, HTTP client and clock. Tests and benchmarks replace them.

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
use tokio::time::Instant;

/// The HTTP client.
pub trait HttpClient: Send + Sync {
    /// Posts a JSON body, without retries.
    fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> impl Future<Output = AttemptResult> + Send;
}

impl HttpClient for Client {
    async fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> AttemptResult {
        self.post(url, headers, body).await
    }
}

/// The clock.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time. It may jump forward or back.
    fn now(&self) -> Timestamp;

    /// A moment of the monotonic clock, to tell how much time has passed.
    fn instant(&self) -> Instant;

    /// Waits before retrying a write.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;
}

#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The store of deliveries.
pub trait DeliveryStore: Send + Sync {
    /// Claims the next attempt, if one is due and no other sender has claimed it.
    fn claim(
        &self,
        wake: DeliveryMessage,
        claim: Claim,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Versioned<Delivery>>, StoreError>> + Send;

    /// The endpoint and the event of a delivery.
    #[allow(clippy::type_complexity, reason = "two records that may each be deleted")]
    fn load(
        &self,
        wake: DeliveryMessage,
    ) -> impl Future<Output = Result<(Option<Versioned<Endpoint>>, Option<StoredEvent>), StoreError>> + Send;

    /// The delivery.
    fn get(
        &self,
        wake: DeliveryMessage,
    ) -> impl Future<Output = Result<Option<Versioned<Delivery>>, StoreError>> + Send;

    /// Writes a delivery's next state. False if it has changed since.
    fn update(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Deletes a delivery whose endpoint is deleted.
    fn delete(
        &self,
        wake: DeliveryMessage,
        due_at: Option<Timestamp>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Deletes the message's due entry, because no delivery is due.
    fn delete_due_entry(&self, wake: DeliveryMessage) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Quarantines an unprocessable delivery.
    fn quarantine(&self, wake: DeliveryMessage, now: Timestamp) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Records an attempt's result in the endpoint's health.
    fn record_health(
        &self,
        wake: DeliveryMessage,
        is_success: bool,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

impl DeliveryStore for Store {
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

    async fn get(&self, wake: DeliveryMessage) -> Result<Option<Versioned<Delivery>>, StoreError> {
        self.delivery(wake.delivery).await
    }

    async fn update(
        &self,
        wake: DeliveryMessage,
        before: &Versioned<Delivery>,
        after: &Delivery,
    ) -> Result<bool, StoreError> {
        self.settle_delivery(wake.org(), before, after).await
    }

    async fn delete(&self, wake: DeliveryMessage, due_at: Option<Timestamp>) -> Result<bool, StoreError> {
        self.delete_delivery(wake.delivery, due_at).await
    }

    async fn delete_due_entry(&self, wake: DeliveryMessage) -> Result<(), StoreError> {
        self.delete_due_delivery(wake.delivery, wake.due_at).await
    }

    async fn quarantine(&self, wake: DeliveryMessage, now: Timestamp) -> Result<(), StoreError> {
        self.quarantine_delivery(wake.delivery, wake.due_at, now).await
    }

    async fn record_health(&self, wake: DeliveryMessage, is_success: bool, at: Timestamp) -> Result<(), StoreError> {
        self.note_health(wake.org(), wake.delivery.endpoint, is_success, at).await
    }
}
