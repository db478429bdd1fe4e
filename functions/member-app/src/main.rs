//! The Lambda function: everything it does is in the library.

use lambda_http::Error;
use shared::Webhooks;

// One thread: Lambda gives a function one call at a time, and a runtime with more starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    shared::lambda::serve(|app| Ok(member_app::router(app.with_webhooks(Webhooks::from_env()?).into()))).await
}
