//! The Lambda function.

use std::sync::Arc;

use files::Files;
use lambda_http::Error;
use shared::Webhooks;
use shared::platform::aws::{AwsSettings, Service};
use shared::platform::{config, pdf_reader};

fn main() -> Result<(), Error> {
    pdf_reader::read_if_asked(None);
    serve()
}

#[tokio::main(flavor = "current_thread")]
async fn serve() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let bucket = config::required("FILES_BUCKET")?;
        let files = Files::in_bucket(&bucket, AwsSettings::from_env(Service::S3)?);
        let app = app.with_webhooks(Webhooks::from_env()?).with_files(Arc::new(files));
        Ok(participant_app::router(app.into()))
    })
    .await
}
