//! What a function needs to answer calls, built once when it starts.

use std::sync::Arc;

use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::config::{self, BaseUrl, ConfigError};
use crate::platform::secrets::{Keys, SecretsManagerKeys};
use crate::platform::telemetry::Log;
use crate::store::Store;
use crate::webhook::guard::{Guard, PublicOnly};
use crate::webhook::resolve::{Resolve, SystemResolver};

/// The parts that all calls of a process share.
#[derive(Debug)]
pub struct AppState {
    /// The table.
    pub store: Store,
    /// The origin of links.
    pub base_url: BaseUrl,
    /// Where log lines go.
    pub log: Log,
    /// How long the service waits for what.
    pub time_scale: TimeScale,
    /// Whether cookies go over plain http too: on the local stack only.
    pub insecure_cookies: bool,
    /// What it takes to set up endpoints of webhooks: only the app does.
    pub webhooks: Option<Webhooks>,
}

/// What it takes to set up endpoints of webhooks.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// The keys that seal signing secrets.
    pub keys: Arc<dyn Keys>,
    /// Which addresses endpoints may have.
    pub guard: Arc<dyn Guard>,
    /// Who looks their names up.
    pub resolver: Arc<dyn Resolve>,
}

impl Webhooks {
    /// What a function on Lambda has: public hosts only, and the keys that the environment names.
    ///
    /// # Errors
    /// When a setting is missing.
    pub fn from_env() -> Result<Self, ConfigError> {
        let keys = SecretsManagerKeys::from_env()?;
        Ok(Self { keys, guard: Arc::new(PublicOnly), resolver: Arc::new(SystemResolver::new()) })
    }
}

impl AppState {
    /// Puts the parts together.
    #[must_use]
    pub fn new(store: Store, base_url: BaseUrl, log: Log, time_scale: TimeScale) -> Self {
        Self { store, base_url, log, time_scale, insecure_cookies: false, webhooks: None }
    }

    /// The same on a person's own machine, where there is no https: cookies go without `Secure`. Only the local stack
    /// calls this.
    #[must_use]
    pub fn without_https(store: Store, base_url: BaseUrl, log: Log, time_scale: TimeScale) -> Self {
        Self { store, base_url, log, time_scale, insecure_cookies: true, webhooks: None }
    }

    /// What it takes to set up endpoints of webhooks.
    ///
    /// # Errors
    /// [`Error::Internal`] in a function that is not set up for them.
    pub fn webhooks(&self) -> Result<&Webhooks, Error> {
        self.webhooks.as_ref().ok_or_else(|| Error::Internal("this function is not set up for webhooks".to_owned()))
    }

    /// The same, able to set up endpoints of webhooks.
    #[must_use]
    pub fn with_webhooks(self, webhooks: Webhooks) -> Self {
        Self { webhooks: Some(webhooks), ..self }
    }

    /// What a function on Lambda has: `TABLE_NAME`, `BASE_URL`, and what [`AwsSettings::from_env`] reads.
    ///
    /// # Errors
    /// When a setting is missing or unusable.
    pub fn from_env() -> Result<Self, ConfigError> {
        let table = config::required("TABLE_NAME")?;
        let base_url = BaseUrl::parse(&config::required("BASE_URL")?)
            .map_err(|error| ConfigError::Invalid { name: "BASE_URL", why: error.to_string() })?;
        let client = aws::dynamodb(&AwsSettings::from_env(Service::DynamoDb)?);
        Ok(Self::new(Store::new(client, table), base_url, Log::stdout(), TimeScale::default()))
    }
}
