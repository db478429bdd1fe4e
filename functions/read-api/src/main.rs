//! The Lambda function.

use std::sync::Arc;

use lambda_http::Error;
use shared::api::pipeline::Routes;
use shared::web::entrance::with_entrance;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut routes = Routes::new().with_description().with_page(&read_api::DOCS);
    read_api::operations(&mut routes);
    // The gateway sends unrouted requests here, including browsers that open the bare origin.
    shared::lambda::serve(|app| {
        let app = Arc::new(files::of_function(app)?);
        Ok(with_entrance(routes.into_router(app)))
    })
    .await
}
