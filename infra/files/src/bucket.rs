//! Files in a bucket of S3: those of functions.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
// Only for its feature: TLS without a provider of its own choice.
use reqwest as _;

use crate::{Files, FilesError, failed};

impl Files {
    /// Files in a bucket, with the credentials and the region that Lambda gives a function. Whether the bucket is
    /// private is up to the bucket; nothing written here asks for anything else.
    ///
    /// # Errors
    /// When the environment lacks something.
    pub fn in_bucket(name: &str) -> Result<Self, FilesError> {
        // One provider for TLS in everything that we build. An error says that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = AmazonS3Builder::from_env().with_bucket_name(name).build().map_err(failed)?;
        Ok(Self { store: Arc::new(store) })
    }
}
