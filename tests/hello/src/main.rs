//! A function that only answers, built like the others: separates Lambda's and Rust's start time from ours.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}

async fn hello(_: Request) -> Result<Response<Body>, Error> {
    Ok(Response::builder().header("content-type", "application/json").body(Body::from(r#"{"hello":"world"}"#))?)
}
