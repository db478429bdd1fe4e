//! A Lambda function around a router: the outermost file, the only one that knows Lambda.

use crate::app::App;
use crate::pipeline::Routes;

/// Runs a function until Lambda ends it: settings from the environment, clients built once.
///
/// # Errors
/// When a setting is missing, or the runtime's API is gone.
pub async fn run(routes: Routes) -> Result<(), lambda_http::Error> {
    lambda_http::run(routes.into_router(App::from_env()?)).await
}
