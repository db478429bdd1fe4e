//! A function that only answers. Built with the others' profile, it separates the start time of Lambda and Rust from
//! ours.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}

async fn hello(_: Request) -> Result<Response<Body>, Error> {
    Ok(Response::builder().header("content-type", "application/json").body(Body::from(r#"{"hello":"world"}"#))?)
}
