//! Where webhooks go: to the network, or within this process in a simulation.

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use shared::webhook::client::{AttemptResult, Client};
use shared::webhook::guard::EndpointUrl;
use webhook_sender::HttpClient;

/// Subscribers in this process.
pub trait Subscribers: Debug + Send + Sync {
    /// What becomes of one attempt.
    fn post<'a>(&'a self, url: &'a EndpointUrl, headers: HeaderMap, body: Bytes) -> BoxFuture<'a, AttemptResult>;
}

#[derive(Debug)]
pub(crate) enum Outbound {
    Network(Client),
    InProcess(Arc<dyn Subscribers>),
}

impl HttpClient for Outbound {
    async fn post(&self, url: &EndpointUrl, headers: HeaderMap, body: Bytes) -> AttemptResult {
        match self {
            Self::Network(client) => client.post(url, headers, body).await,
            Self::InProcess(subscribers) => subscribers.post(url, headers, body).await,
        }
    }
}
