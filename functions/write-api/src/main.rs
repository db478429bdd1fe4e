//! The Lambda function.

use lambda_http::Error;
use shared::api::pipeline::Routes;

// One thread: Lambda invokes an instance once at a time, and a runtime with more threads starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut routes = Routes::new();
    write_api::operations(&mut routes);
    shared::lambda::run(routes).await
}
