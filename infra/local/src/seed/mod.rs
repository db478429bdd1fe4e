//! A stack's initial data: created in a new data directory, kept in an existing one.

mod demo;
mod organizations;

use shared::domain::time::Timestamp;
use shared::platform::files::FileStore;
use shared::store::Store;

use crate::data::{Credentials, DataDir};
use crate::error::{StartError, in_one_line};
use crate::functions::Functions;
use crate::options::{Options, Seed, StoreAt};
use crate::seed::demo::Demo;

/// Creates a new data directory's initial data, and marks them complete.
pub(crate) async fn create(
    options: &Options,
    data_dir: &DataDir,
    store: &Store,
    functions: &Functions,
    files: &dyn FileStore,
    progress: fn(&str),
) -> Result<Credentials, StartError> {
    let credentials = match options.seed {
        Seed::Nothing => Credentials::default(),
        Seed::Demo | Seed::Empty => {
            progress("Setting up two organizations, their members and tokens");
            // A table elsewhere may have other stacks' members with the same addresses but for the tag.
            let email_tag = match options.store {
                StoreAt::Embedded => None,
                StoreAt::Endpoint { .. } => Some(organizations::random_secret(2)?),
            };
            organizations::create(store, email_tag.as_deref(), Timestamp::now()).await?
        }
    };
    if let (Seed::Demo, Some(first)) = (options.seed, credentials.organizations.first()) {
        progress(&format!("Adding four deals to {}", first.name));
        let demo = Demo { functions, store, files, organization: first };
        demo.create().await.map_err(StartError::Seed)?;
    }
    credentials.write(data_dir)?;
    data_dir.mark_complete()?;
    Ok(credentials)
}

/// Reads an existing data directory's credentials, and replaces expired tokens.
pub(crate) async fn load(data_dir: &DataDir, store: &Store, progress: fn(&str)) -> Result<Credentials, StartError> {
    let mut credentials = Credentials::read(data_dir)?;
    let renewed = credentials
        .renew_tokens(store, Timestamp::now())
        .await
        .map_err(|error| StartError::Renewal(in_one_line(&error)))?;
    if renewed {
        progress("Issued new tokens: the earlier ones have expired");
        credentials.write(data_dir)?;
    }
    Ok(credentials)
}
