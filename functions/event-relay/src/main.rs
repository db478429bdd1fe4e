//! The Lambda function, invoked with batches of records from the table's stream.

use event_relay::StreamEvent;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use shared::AppState;
use shared::platform::sqs::SqsQueue;
use shared::webhook::relay::Relay;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = AppState::from_env()?;
    let relay = Relay::new(app.store.clone(), SqsQueue::from_env()?);
    let relay = &relay;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<StreamEvent>| async move {
        event_relay::relay_entries(relay, event.payload.due_entries()).await;
        Ok::<(), Error>(())
    }))
    .await
}
