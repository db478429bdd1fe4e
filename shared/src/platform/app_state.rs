//! A process's shared state, built once at start.

use std::sync::Arc;

use crate::crypto::keys::Keys;
use crate::domain::shards::Shards;
use crate::domain::time_scale::TimeScale;
use crate::error::Error;
use crate::limits;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::call_budget::CallBudget;
use crate::platform::config::{self, BaseUrl, ConfigError};
use crate::platform::files::FileStore;
use crate::platform::pdf_reader::PdfReader;
use crate::platform::telemetry;
use crate::service::call_record::CallRecord;
use crate::store::Store;
use crate::webhook::guard::Guard;
use crate::webhook::resolve::Resolve;

/// The state shared by all calls of a process.
#[derive(Debug)]
pub struct AppState {
    /// The table.
    pub store: Store,
    /// The origin of links.
    pub base_url: BaseUrl,
    /// Scales the service's waits.
    pub time_scale: TimeScale,
    /// Omits `Secure` from cookies, for plain http: only on the local stack.
    pub insecure_cookies: bool,
    /// For managing webhook endpoints: only in the app.
    pub webhooks: Option<Webhooks>,
    /// The file store: only in the app.
    pub files: Option<Arc<dyn FileStore>>,
    /// Reads PDFs: only in the app.
    pub pdfs: PdfReader,
    /// The calls that each organization has per second.
    pub calls: CallBudget,
}

/// Dependencies of managing webhook endpoints.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// Seal signing secrets.
    pub keys: Arc<dyn Keys>,
    /// Guards endpoints' addresses.
    pub guard: Arc<dyn Guard>,
    /// Resolves endpoints' names.
    pub resolver: Arc<dyn Resolve>,
}

impl AppState {
    /// Without webhook endpoints and files.
    #[must_use]
    pub fn new(store: Store, base_url: BaseUrl, time_scale: TimeScale) -> Self {
        let pdfs = PdfReader::of_this_program();
        let calls = CallBudget::default();
        Self { store, base_url, time_scale, insecure_cookies: false, webhooks: None, files: None, pdfs, calls }
    }

    /// For a developer's machine without https: cookies lack `Secure`. Only for the local stack.
    #[must_use]
    pub fn without_https(store: Store, base_url: BaseUrl, time_scale: TimeScale) -> Self {
        Self { insecure_cookies: true, ..Self::new(store, base_url, time_scale) }
    }

    /// Begins a call.
    pub(crate) fn begin_call(&self, operation: &'static str) -> CallRecord {
        CallRecord::begin(&self.store, self.time_scale, operation)
    }

    /// The dependencies of managing webhook endpoints.
    ///
    /// # Errors
    /// [`Error::Internal`] in a function that isn't set up for them.
    pub fn webhooks(&self) -> Result<&Webhooks, Error> {
        self.webhooks.as_ref().ok_or_else(|| Error::Internal("this function is not set up for webhooks".to_owned()))
    }

    /// The file store.
    ///
    /// # Errors
    /// [`Error::Internal`] in a function that isn't set up for files.
    pub fn files(&self) -> Result<&dyn FileStore, Error> {
        self.files.as_deref().ok_or_else(|| Error::Internal("this function is not set up for files".to_owned()))
    }

    /// Adds the file store.
    #[must_use]
    pub fn with_files(self, files: Arc<dyn FileStore>) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Limits the calls of an organization.
    #[must_use]
    pub fn with_calls(self, calls: CallBudget) -> Self {
        Self { calls, ..self }
    }

    /// Makes another program read PDFs.
    #[must_use]
    pub fn with_pdfs(self, pdfs: PdfReader) -> Self {
        Self { pdfs, ..self }
    }

    /// Adds the dependencies of managing webhook endpoints.
    #[must_use]
    pub fn with_webhooks(self, webhooks: Webhooks) -> Self {
        Self { webhooks: Some(webhooks), ..self }
    }

    /// Begins the log of a function, and makes its state from `TABLE_NAME`, `BASE_URL`, `DUE_SHARDS`,
    /// `AUDIT_SHARDS` and [`AwsSettings::from_env`].
    ///
    /// # Errors
    /// If a setting is missing or unusable.
    pub fn from_env() -> Result<Self, ConfigError> {
        telemetry::log_to_stdout();
        let table = config::required("TABLE_NAME")?;
        let base_url = BaseUrl::parse(&config::required("BASE_URL")?)
            .map_err(|error| ConfigError::Invalid { name: "BASE_URL", why: error.to_string() })?;
        let client = aws::dynamodb(&AwsSettings::from_env(Service::DynamoDb)?);
        let store = Store::new(client, table).with_shards(shards("DUE_SHARDS")?, shards("AUDIT_SHARDS")?);
        let store = match function_memory() {
            Some(bytes) => store.with_rows_memory(bytes / limits::LISTED_ROWS_MEMORY_PART),
            None => store,
        };
        let app = Self::new(store, base_url, TimeScale::default());
        Ok(app.with_calls(CallBudget::from_env()?))
    }
}

/// The memory of this function, in bytes. None outside Lambda.
fn function_memory() -> Option<usize> {
    let mib: usize = config::optional("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")?.parse().ok()?;
    mib.checked_mul(1 << 20)
}

/// A number of shards, the fewest if it isn't set.
fn shards<const FEWEST: u16, const MOST: u16>(name: &'static str) -> Result<Shards<FEWEST, MOST>, ConfigError> {
    let Some(count) = config::optional(name) else { return Ok(Shards::FEWEST) };
    let invalid = || ConfigError::Invalid { name, why: format!("it is no number from {FEWEST} to {MOST}") };
    count.parse().ok().and_then(Shards::new).ok_or_else(invalid)
}
