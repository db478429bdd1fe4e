//! Sources of encryption keys: Secrets Manager in the cloud (`platform::secrets_manager`), a file on the local stack.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::crypto::keyring::{Keyring, SealError};

/// A source of encryption keys.
pub trait Keys: Send + Sync + fmt::Debug {
    /// The keys, possibly some minutes old.
    ///
    /// # Errors
    /// [`SealError::NoKeys`] if they can't be looked up now.
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>>;

    /// Keys of a look-up begun after this call, for a key that isn't cached. A key missing here doesn't exist.
    ///
    /// # Errors
    /// [`SealError::NoKeys`] if the look-up fails, even if keys are cached.
    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        self.keyring()
    }
}

/// Opens values with the cached keys, or else with the newest.
///
/// # Errors
/// [`SealError::NoSuchKey`] only if a look-up lacked the key; [`SealError::NoKeys`] if none succeeded, which may pass.
pub async fn open_with<T>(keys: &dyn Keys, open: impl Fn(&Keyring) -> Result<T, SealError>) -> Result<T, SealError> {
    match open(&*keys.keyring().await?) {
        Err(SealError::NoSuchKey(_)) => open(&*keys.newest().await?),
        opened => opened,
    }
}

/// Keys that never change.
#[derive(Debug)]
pub struct FixedKeys(Arc<Keyring>);

impl FixedKeys {
    /// A source of fixed keys.
    #[must_use]
    pub fn new(keyring: Keyring) -> Arc<Self> {
        Arc::new(Self(Arc::new(keyring)))
    }
}

impl Keys for FixedKeys {
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}
