//! The Lambda function.

mod handed_on;

use std::sync::Arc;

use lambda_http::Error;
use mcp::Access;
use shared::api::pipeline::Routes;
use shared::platform::aws::{AwsSettings, Service};
use shared::platform::config;

use crate::handed_on::Function;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    shared::lambda::serve(|app| {
        let papers = Function::new(&config::required("DOCUMENTS_FUNCTION")?, AwsSettings::from_env(Service::Lambda)?);
        let access = Access::from_env(&app.base_url);
        let app = Arc::new(files::of_function(app)?);
        let mut routes = Routes::new();
        read_api::operations(&mut routes);
        write_api::operations(&mut routes);
        proposals::operations(&mut routes);
        let operations = handed_on::papering(routes.into_router(app.clone()), app.clone(), papers);
        Ok(mcp::router(app, access, operations))
    })
    .await
}
