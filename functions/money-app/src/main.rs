//! The Lambda function.

use lambda_http::Error;
use shared::Webhooks;

// One thread: an instance handles one invocation at a time, and more threads start slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let app = files::of_function(app)?.with_webhooks(Webhooks::from_env()?);
        Ok(money_app::router(app.into()))
    })
    .await
}
