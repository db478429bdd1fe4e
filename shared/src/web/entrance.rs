//! Redirects a browser that was given the bare origin to the app.

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Redirect};
use http::{Method, Request, header};

const APP: &str = "/app";

/// Redirects `/` and `/app/` to the app (a gateway's route can't end with a slash), in the router that answers what no
/// other function does. At `/`, an API caller, known by its token, gets the API's answer: nothing is there.
pub fn with_entrance(router: Router) -> Router {
    let service = tower::service_fn(move |request: Request<Body>| {
        let mut router = router.clone();
        async move {
            let has_token = request.headers().contains_key(header::AUTHORIZATION);
            let leads_to_app = match request.uri().path() {
                "/" => !has_token,
                "/app/" => true,
                _ => false,
            };
            if leads_to_app && matches!(*request.method(), Method::GET | Method::HEAD) {
                return Ok(Redirect::to(APP).into_response());
            }
            tower::Service::call(&mut router, request).await
        }
    });
    Router::new().fallback_service(service)
}
