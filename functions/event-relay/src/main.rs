//! The Lambda function, called with batches of the table's stream: everything it does is in the library.

use event_relay::Batch;
use lambda_http::Error;
use lambda_http::lambda_runtime::{self, LambdaEvent, service_fn};
use shared::AppState;
use shared::platform::sqs::SqsQueue;
use shared::webhook::relay::Relay;

// One thread: Lambda gives a function one call at a time, and a runtime with more starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = AppState::from_env()?;
    let relay = Relay::new(app.store.clone(), SqsQueue::from_env()?);
    let (relay, log) = (&relay, &app.log);
    lambda_runtime::run(service_fn(move |batch: LambdaEvent<Batch>| async move {
        event_relay::pass_on(relay, log, batch.payload.due()).await;
        Ok::<(), Error>(())
    }))
    .await
}
