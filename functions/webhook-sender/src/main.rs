//! The Lambda function, invoked by the delivery queues with batches of messages.

use std::sync::Arc;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::future::join_all;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use shared::AppState;
use shared::domain::time_scale::TimeScale;
use shared::platform::secrets_manager::SecretsManagerKeys;
use shared::platform::sqs::SqsQueue;
use shared::webhook::client::Client;
use shared::webhook::guard::PublicOnly;
use shared::webhook::resolve::SystemResolver;
use webhook_sender::Sender;

// One thread: a batch's attempts wait for subscribers, not for the CPU.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = AppState::from_env()?;
    let client = Client::new(Arc::new(PublicOnly), Arc::new(SystemResolver::new()))?;
    let (queue, keys) = (SqsQueue::from_env()?, SecretsManagerKeys::from_env()?);
    let sender = Sender::new(app.store.clone(), queue, keys, client, TimeScale::default());
    let sender = &sender;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<SqsEvent>| async move {
        // The response lists the failed messages; the queue deletes the others.
        let messages = event.payload.records.into_iter().map(|message| async move {
            let is_handled = sender.handle_message(message.body.as_deref().unwrap_or_default()).await;
            (message.message_id.unwrap_or_default(), is_handled)
        });
        let mut response = SqsBatchResponse::default();
        for (id, is_handled) in join_all(messages).await {
            if !is_handled {
                response.add_failure(id);
            }
        }
        Ok::<_, Error>(response)
    }))
    .await
}
