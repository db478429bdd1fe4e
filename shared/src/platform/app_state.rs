//! The shared state of a process, built once at its start.

use std::sync::Arc;

use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::config::{self, BaseUrl, ConfigError};
use crate::platform::files::FileStore;
use crate::platform::pdf_reader::PdfReader;
use crate::platform::secrets::Keys;
use crate::platform::telemetry::Log;
use crate::store::Store;
use crate::webhook::guard::Guard;
use crate::webhook::resolve::Resolve;

/// The state that all calls of a process share.
#[derive(Debug)]
pub struct AppState {
    /// The table.
    pub store: Store,
    /// The origin of links.
    pub base_url: BaseUrl,
    /// The log.
    pub log: Log,
    /// The scale of the service's waits.
    pub time_scale: TimeScale,
    /// Whether cookies lack `Secure`, for plain http: on the local stack only.
    pub insecure_cookies: bool,
    /// The dependencies of managing webhook endpoints: only the app has them.
    pub webhooks: Option<Webhooks>,
    /// The file store: only the app has it.
    pub files: Option<Arc<dyn FileStore>>,
    /// What reads PDFs: only the app does.
    pub pdfs: PdfReader,
}

/// The dependencies of managing webhook endpoints.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// The keys that seal signing secrets.
    pub keys: Arc<dyn Keys>,
    /// The guard of their addresses.
    pub guard: Arc<dyn Guard>,
    /// The resolver of their names.
    pub resolver: Arc<dyn Resolve>,
}

impl AppState {
    /// The state of a process without webhook endpoints.
    #[must_use]
    pub fn new(store: Store, base_url: BaseUrl, log: Log, time_scale: TimeScale) -> Self {
        let pdfs = PdfReader::of_this_program();
        Self { store, base_url, log, time_scale, insecure_cookies: false, webhooks: None, files: None, pdfs }
    }

    /// The state on a developer's machine, which has no https: cookies lack `Secure`. Only the local stack calls this.
    #[must_use]
    pub fn without_https(store: Store, base_url: BaseUrl, log: Log, time_scale: TimeScale) -> Self {
        Self { insecure_cookies: true, ..Self::new(store, base_url, log, time_scale) }
    }

    /// The dependencies of managing webhook endpoints.
    ///
    /// # Errors
    /// [`Error::Internal`] in a function that is not set up for them.
    pub fn webhooks(&self) -> Result<&Webhooks, Error> {
        self.webhooks.as_ref().ok_or_else(|| Error::Internal("this function is not set up for webhooks".to_owned()))
    }

    /// The file store.
    ///
    /// # Errors
    /// [`Error::Internal`] in a function that is not set up for files.
    pub fn files(&self) -> Result<&dyn FileStore, Error> {
        self.files.as_deref().ok_or_else(|| Error::Internal("this function is not set up for files".to_owned()))
    }

    /// Adds the file store.
    #[must_use]
    pub fn with_files(self, files: Arc<dyn FileStore>) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Has another program read PDFs.
    #[must_use]
    pub fn with_pdfs(self, pdfs: PdfReader) -> Self {
        Self { pdfs, ..self }
    }

    /// Adds the dependencies of managing webhook endpoints.
    #[must_use]
    pub fn with_webhooks(self, webhooks: Webhooks) -> Self {
        Self { webhooks: Some(webhooks), ..self }
    }

    /// The state of a function on Lambda, from `TABLE_NAME`, `BASE_URL`, and the variables of [`AwsSettings::from_env`].
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
