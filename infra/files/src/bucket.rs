//! Files in an S3 bucket, for functions.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
// A dependency for its feature only: it keeps reqwest from choosing a TLS provider.
use reqwest as _;
use shared::platform::files::FilesError;

use crate::{Files, failed};

impl Files {
    /// Opens the store in a bucket, with the credentials and the region that Lambda gives a function. The bucket's own
    /// settings keep it private; no write asks for anything else.
    ///
    /// # Errors
    /// [`FilesError::Store`] if the environment is incomplete.
    pub fn in_bucket(name: &str) -> Result<Self, FilesError> {
        // Everything that we build uses one TLS provider. An error means that it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = AmazonS3Builder::from_env().with_bucket_name(name).build().map_err(failed)?;
        Ok(Self { store: Arc::new(store) })
    }
}
