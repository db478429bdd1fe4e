//! Routes that know their paths: the gateway's routes are made from them.

use std::sync::Arc;

use axum::Router;
use axum::routing::MethodRouter;
use shared::AppState;

/// A router with the paths of its routes, which axum's own does not tell.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    router: Router<Arc<AppState>>,
    paths: Vec<String>,
}

impl Pages {
    /// Adds what answers at a path.
    pub fn route(mut self, path: &str, answers: MethodRouter<Arc<AppState>>) -> Self {
        self.paths.push(path.to_owned());
        Self { router: self.router.route(path, answers), paths: self.paths }
    }

    /// Adds all routes of another.
    pub fn merge(self, other: Self) -> Self {
        Self { router: self.router.merge(other.router), paths: [self.paths, other.paths].concat() }
    }

    /// The router.
    pub fn into_router(self) -> Router<Arc<AppState>> {
        self.router
    }

    /// The paths, as axum writes them: `/app/contacts/{id}`.
    pub fn into_paths(self) -> Vec<String> {
        self.paths
    }
}
