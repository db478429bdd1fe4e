//! The Lambda function, invoked on a schedule.

use std::sync::Arc;

use clock::Trigger;
use files::Files;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use shared::AppState;
use shared::platform::aws::{AwsSettings, Service};
use shared::platform::config;
use shared::platform::sqs::SqsQueue;
use shared::webhook::relay::Relay;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let files = Files::in_bucket(&config::required("FILES_BUCKET")?, AwsSettings::from_env(Service::S3)?);
    let app = AppState::from_env()?.with_files(Arc::new(files));
    let relay = Relay::new(app.store.clone(), SqsQueue::from_env()?);
    let (app, relay) = (&app, &relay);
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Value>| async move {
        let report = clock::tick(app, relay, Trigger::Schedule).await;
        // An alarm counts failed invocations. The log has the failures, and the next tick retries them.
        if report.failed == 0 { Ok(()) } else { Err(Error::from(format!("{} acts failed", report.failed))) }
    }))
    .await
}
