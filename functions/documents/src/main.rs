//! The Lambda function.

use lambda_http::Error;
use shared::Webhooks;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let app = files::of_function(app)?.with_webhooks(Webhooks::from_env()?);
        Ok(documents::router(app.into()))
    })
    .await
}
