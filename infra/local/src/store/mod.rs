//! The stack's store, embedded or elsewhere, and how the process learns of its due entries.

pub(crate) mod contention;
mod embedded;
mod in_process;
pub(crate) mod partitions;
#[cfg_attr(not(feature = "stream"), path = "no_stream.rs")]
mod stream;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Builder;
use shared::platform::aws::{self, AwsSettings};
use shared::store::due::DueEntry;
use shared::store::{Store, StoreError};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::calls::Calls;
use crate::data::DataDir;
use crate::error::{StartError, in_one_line};
use crate::options::{Options, StoreAt};
use crate::store::stream::StreamReader;

pub(crate) use crate::store::embedded::Embedded;

pub(crate) struct OpenStore {
    pub(crate) store: Store,
    pub(crate) url: String,
    pub(crate) table: String,
    /// None if the store is elsewhere.
    pub(crate) embedded: Option<Embedded>,
    pub(crate) due_entries: UnboundedReceiver<DueEntry>,
    stream: Option<StreamReader>,
}

impl OpenStore {
    /// Opens the store, and creates a missing table.
    pub(crate) async fn open(
        options: &Options,
        data_dir: &DataDir,
        has_data: bool,
        progress: fn(&str),
    ) -> Result<Self, StartError> {
        let (embedded, settings, url, table) = match &options.store {
            StoreAt::Embedded => {
                if has_data && !data_dir.store_file().exists() {
                    return Err(data_dir.damaged("the file store.sqlite is missing"));
                }
                progress("Opening the store");
                let embedded = Embedded::start(&data_dir.store_file(), options.contention.clone())?;
                let url = embedded.url().to_owned();
                (Some(embedded), AwsSettings::emulator(&url), url, embedded::TABLE.to_owned())
            }
            StoreAt::Endpoint { url, table } => {
                let settings = AwsSettings::at(url).map_err(|error| StartError::Store(error.to_string()))?;
                (None, settings, url.clone(), table.clone())
            }
        };
        let store = Store::new(client(&settings, embedded.as_ref(), options.calls.clone()), &table);
        let store = store.with_shards(options.due_shards, options.audit_shards);
        let stream_arn = create_table(&store, options.has_stream && embedded.is_none()).await?;
        let (due_sender, due_entries) = mpsc::unbounded_channel();
        let (store, stream) = if let Some(arn) = stream_arn {
            (store, Some(StreamReader::open(&settings, arn, due_sender).await.map_err(StartError::Store)?))
        } else {
            let report = move |entry| {
                // Without background tasks there is no receiver.
                let _ = due_sender.send(entry);
            };
            (store.with_due_listener(report), None)
        };
        Ok(Self { store, url, table, embedded, due_entries, stream })
    }

    pub(crate) fn take_stream_task(&mut self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.stream.take().map(StreamReader::run)
    }
}

/// A client of the store that reports its calls, if anything listens.
fn client(settings: &AwsSettings, embedded: Option<&Embedded>, calls: Option<Calls>) -> Client {
    let mut config = Builder::from(&aws::config(settings));
    if let Some(embedded) = embedded {
        config = config.http_client(embedded.client(aws::http_client()));
    }
    if let Some(calls) = calls {
        config = config.interceptor(calls);
    }
    Client::from_conf(config.build())
}

/// Creates a missing table. Returns its stream's ARN, if it should have one.
async fn create_table(store: &Store, with_stream: bool) -> Result<Option<String>, StartError> {
    let failed = |error: StoreError| StartError::Store(in_one_line(&error));
    if with_stream {
        store.create_table_with_stream().await.map_err(failed)?;
        store.stream().await.map_err(failed)
    } else {
        store.create_table().await.map_err(failed)?;
        Ok(None)
    }
}
