//! The Lambda function.

use lambda_http::Error;
use shared::api::pipeline::Routes;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut routes = Routes::new();
    proposals::operations(&mut routes);
    shared::lambda::run(routes).await
}
