//! The Lambda function.

use lambda_http::Error;
use shared::Webhooks;

// One thread: Lambda invokes an instance once at a time, and a runtime with more threads starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let app = app.with_webhooks(Webhooks::from_env()?);
        Ok(organization_app::router(app.into()))
    })
    .await
}
