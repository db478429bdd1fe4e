//! The Lambda function: everything it does is in the library.

use lambda_http::Error;
use shared::api::pipeline::Routes;

// One thread: Lambda gives a function one call at a time, and a runtime with more starts slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut routes = Routes::new().with_description();
    read_api::operations(&mut routes);
    shared::lambda::run(routes).await
}
