//! The Lambda function: everything it does is in the library.

use lambda_http::Error;

// One thread: Lambda gives a function one call at a time, and a runtime with more starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    shared::function::serve(member_app::router).await
}
