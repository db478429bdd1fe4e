//! The Lambda function.

use lambda_http::Error;
use shared::Webhooks;
use shared::platform::pdf_reader;

fn main() -> Result<(), Error> {
    pdf_reader::read_if_asked(None);
    serve()
}

#[tokio::main(flavor = "current_thread")]
async fn serve() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let app = files::of_function(app)?.with_webhooks(Webhooks::from_env()?);
        Ok(participant_app::router(app.into()))
    })
    .await
}
