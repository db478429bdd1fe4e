//! The Lambda function, called by a schedule: everything it does is in the library.

use clock::Hearing;
use lambda_http::Error;
use lambda_http::lambda_runtime::{self, LambdaEvent, service_fn};
use serde_json::Value;
use shared::AppState;
use shared::platform::sqs::SqsQueue;
use shared::webhook::relay::Relay;

// One thread: Lambda gives a function one call at a time, and a runtime with more starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = AppState::from_env()?;
    let relay = Relay::new(app.store.clone(), SqsQueue::from_env()?);
    let (app, relay) = (&app, &relay);
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Value>| async move {
        let tick = clock::tick(app, relay, Hearing::Somebody).await;
        // An alarm is on failed calls; what failed is in the log, and the next tick tries it again.
        if tick.failed == 0 { Ok(()) } else { Err(Error::from(format!("{} acts failed", tick.failed))) }
    }))
    .await
}
