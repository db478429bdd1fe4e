//! The Lambda function.

use lambda_http::Error;
use shared::api::pipeline::Routes;

// One thread: an instance handles one invocation at a time, and more threads start slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut routes = Routes::new();
    proposals::operations(&mut routes);
    shared::lambda::run(routes).await
}
