//! The Lambda function.

use lambda_http::Error;

fn main() -> Result<(), Error> {
    pictures::read_pdf_if_asked();
    serve()
}

#[tokio::main(flavor = "current_thread")]
async fn serve() -> Result<(), Error> {
    shared::lambda::serve(|app| Ok(pictures::router(files::of_function(app)?.into()))).await
}
