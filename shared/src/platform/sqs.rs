//! The cloud's queues: one for due deliveries, one for delayed messages. Both invoke the same function.

use std::sync::Arc;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
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

    async fn send_batch(&self, url: &str, batch: &[(DeliveryMessage, i32)]) -> Result<(), QueueError> {
        let entries = batch.iter().enumerate().map(|(at, (message, delay_s))| {
            let body = serde_json::to_string(message).map_err(|error| QueueError(error.to_string()))?;
            SendMessageBatchRequestEntry::builder()
                .id(at.to_string())
                .message_body(body)
                .delay_seconds(*delay_s)
                // Standard queues are fair among groups: many messages of one endpoint don't delay another's.
                .message_group_id(message.delivery.endpoint.to_string())
                .build()
                .map_err(|error| QueueError(error.to_string()))
        });
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let sent = self.client.send_message_batch().queue_url(url).set_entries(Some(entries)).send().await;
        let output = sent.map_err(|error| QueueError(format!("SQS: {}", error.code().unwrap_or("no code"))))?;
        match output.failed().first() {
            None => Ok(()),
            Some(failed) => Err(QueueError(format!("SQS: {} not taken: {}", output.failed().len(), failed.code()))),
        }
    }
}

impl Queue for SqsQueue {
    fn send<'a>(&'a self, messages: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async move {
            let now = Timestamp::now();
            let (later, at_once): (Vec<_>, Vec<_>) = messages
                .iter()
                .map(|message| (*message, delay_s(*message, now)))
                .partition(|(_, delay_s)| *delay_s > 0);
            for (url, messages) in [(&self.deliveries_url, at_once), (&self.retries_url, later)] {
                for batch in messages.chunks(limits::MESSAGES_IN_BATCH_MAX) {
                    self.send_batch(url, batch).await?;
                }
            }
            Ok(())
        })
    }
}

/// The delay until the message is due, within the limit. Rounds up: a fraction of a second costs a message.
fn delay_s(message: DeliveryMessage, now: Timestamp) -> i32 {
    let left_ms = message.due_at.unix_ms().saturating_sub(now.unix_ms()).max(0);
    let delay_s = left_ms.saturating_add(999).min(limits::MESSAGE_DELAY_MAX_S * 1000) / 1000;
    i32::try_from(delay_s).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{EndpointId, EventId, OrgId};
    use crate::store::deliveries::DeliveryKey;

    #[test]
    fn a_message_is_delayed_until_it_is_due_or_up_to_the_limit() {
        let now = Timestamp::now();
        let delivery = DeliveryKey { org: OrgId::new(), endpoint: EndpointId::new(), event: EventId::new() };
        for (in_ms, expected_s) in
            [(-5000, 0), (0, 0), (1, 1), (1000, 1), (60_000, 60), (66_001, 67), (900_000, 900), (7_200_000, 900)]
        {
            let due_at = Timestamp::from_unix_ms(now.unix_ms() + in_ms).unwrap();
            assert_eq!(delay_s(DeliveryMessage { delivery, due_at }, now), expected_s, "{in_ms}");
        }
    }
}
