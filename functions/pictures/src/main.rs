//! The Lambda function.

use std::sync::Arc;

use files::Files;
use lambda_http::Error;
use shared::platform::aws::{AwsSettings, Service};
use shared::platform::config;

fn main() -> Result<(), Error> {
    pictures::read_pdf_if_asked();
    serve()
}

#[tokio::main(flavor = "current_thread")]
async fn serve() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let bucket = config::required("FILES_BUCKET")?;
        let files = Files::in_bucket(&bucket, AwsSettings::from_env(Service::S3)?);
        Ok(pictures::router(app.with_files(Arc::new(files)).into()))
    })
    .await
}
