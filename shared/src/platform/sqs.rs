//! The cloud's queues: one for due deliveries, one for delayed messages. Both invoke the same function.

use std::sync::Arc;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::{BatchResultErrorEntry, SendMessageBatchRequestEntry};
use futures_util::future::BoxFuture;

use crate::domain::time::Timestamp;
use crate::limits;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::config::{self, ConfigError};
use crate::webhook::queue::{DeliveryMessage, Queue, QueueError};

/// The two queues.
#[derive(Debug)]
pub struct SqsQueue {
    client: Client,
    deliveries_url: String,
    retries_url: String,
}

impl SqsQueue {
    /// A function's queues on Lambda, from `DELIVERY_QUEUE_URL` and `RETRY_QUEUE_URL`.
    ///
    /// # Errors
    /// If a setting is missing.
    pub fn from_env() -> Result<Arc<Self>, ConfigError> {
        let client = aws::sqs(&AwsSettings::from_env(Service::Sqs)?);
        Ok(Self::new(client, config::required("DELIVERY_QUEUE_URL")?, config::required("RETRY_QUEUE_URL")?))
    }

    /// The queues at two URLs.
    #[must_use]
    pub fn new(client: Client, deliveries_url: String, retries_url: String) -> Arc<Self> {
        Arc::new(Self { client, deliveries_url, retries_url })
    }

    /// Sends messages, each with its delay, until a call fails as a whole: the next ones would fail after their time-out.
    async fn send_all(&self, messages: Vec<(DeliveryMessage, i32)>) -> Result<(), QueueError> {
        let (later, at_once): (Vec<_>, Vec<_>) = messages.into_iter().partition(|(_, delay_s)| *delay_s > 0);
        let in_batches =
            |url, messages| std::iter::repeat(url).zip(<[_]>::chunks(messages, limits::MESSAGES_IN_BATCH_MAX));
        let mut batches = in_batches(&self.deliveries_url, &at_once).chain(in_batches(&self.retries_url, &later));
        let (mut untaken, mut causes) = (Vec::new(), Vec::new());
        while let Some((url, batch)) = batches.next() {
            match self.send_batch(url, batch).await {
                Ok(failed) => {
                    untaken.extend(
                        failed.iter().filter_map(|entry| Some(batch.get(entry.id().parse::<usize>().ok()?)?.0)),
                    );
                    causes.extend(failed.into_iter().map(|entry| entry.code));
                }
                Err(cause) => {
                    let left = std::iter::once(batch).chain(batches.map(|(_, batch)| batch)).flatten();
                    untaken.extend(left.map(|(message, _)| *message));
                    causes.push(cause);
                    break;
                }
            }
        }
        let Some(cause) = causes.first() else { return Ok(()) };
        Err(QueueError { untaken, cause: format!("SQS: {cause}") })
    }

    /// The entries that the queue didn't take, whose ids are places in the batch.
    async fn send_batch(
        &self,
        url: &str,
        batch: &[(DeliveryMessage, i32)],
    ) -> Result<Vec<BatchResultErrorEntry>, String> {
        let entries = batch.iter().enumerate().map(|(at, (message, delay_s))| entry(at, *message, *delay_s));
        let entries = entries.collect::<Result<Vec<_>, String>>()?;
        let sent = self.client.send_message_batch().queue_url(url).set_entries(Some(entries)).send().await;
        sent.map(|output| output.failed).map_err(|error| error.code().unwrap_or("no code").to_owned())
    }
}

impl Queue for SqsQueue {
    fn send<'a>(&'a self, messages: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>> {
        let now = Timestamp::now();
        Box::pin(self.send_all(messages.iter().map(|message| (*message, delay_s(message.due_at, now))).collect()))
    }

    fn put_back(&self, message: DeliveryMessage, at: Timestamp) -> BoxFuture<'_, Result<(), QueueError>> {
        Box::pin(self.send_all(vec![(message, delay_s(at, Timestamp::now()))]))
    }
}

/// The entry of a message at a place in its batch.
fn entry(at: usize, message: DeliveryMessage, delay_s: i32) -> Result<SendMessageBatchRequestEntry, String> {
    let body = serde_json::to_string(&message).map_err(|error| error.to_string())?;
    SendMessageBatchRequestEntry::builder()
        .id(at.to_string())
        .message_body(body)
        .delay_seconds(delay_s)
        // Standard queues are fair among groups: many messages of one organization don't delay another's. An endpoint as
        // the group would give an organization with 20 of them 20 shares.
        .message_group_id(message.org().to_string())
        .build()
        .map_err(|error| error.to_string())
}

/// The delay until a moment, within the limit. Rounds up: a fraction of a second costs a message.
fn delay_s(at: Timestamp, now: Timestamp) -> i32 {
    let left_ms = at.unix_ms().saturating_sub(now.unix_ms()).max(0);
    let delay_s = left_ms.saturating_add(999).min(limits::MESSAGE_DELAY_MAX_S * 1000) / 1000;
    i32::try_from(delay_s).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{EndpointId, EventId, OrgId};
    use crate::store::deliveries::DeliveryKey;

    #[test]
    fn messages_of_an_organization_are_one_group_whatever_their_endpoints() {
        let (org, other) = (OrgId::new(), OrgId::new());
        for of in [org, org, other] {
            let delivery = DeliveryKey { org: of, endpoint: EndpointId::new(), event: EventId::new() };
            let message = DeliveryMessage { delivery, due_at: Timestamp::now() };
            let entry = entry(7, message, 60).unwrap();
            assert_eq!(entry.message_group_id(), Some(of.to_string().as_str()));
            assert_eq!((entry.id(), entry.delay_seconds()), ("7", Some(60)));
            assert_eq!(entry.message_body(), serde_json::to_string(&message).unwrap());
        }
    }

    #[test]
    fn a_message_is_delayed_until_it_is_due_or_up_to_the_limit() {
        let now = Timestamp::now();
        for (in_ms, expected_s) in
            [(-5000, 0), (0, 0), (1, 1), (1000, 1), (60_000, 60), (66_001, 67), (900_000, 900), (7_200_000, 900)]
        {
            let due_at = Timestamp::from_unix_ms(now.unix_ms() + in_ms).unwrap();
            assert_eq!(delay_s(due_at, now), expected_s, "{in_ms}");
        }
    }
}
