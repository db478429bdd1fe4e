//! A function that does nothing but answer. Built beside the others with the same profile, it shows what of their start
//! is Lambda's and Rust's, and what is ours.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}

async fn hello(_: Request) -> Result<Response<Body>, Error> {
    Ok(Response::builder().header("content-type", "application/json").body(Body::from(r#"{"hello":"world"}"#))?)
}
