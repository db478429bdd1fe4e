//! The source of encryption keys: Secrets Manager in the cloud (`secrets_manager`), a file on the local stack.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::crypto::keyring::{Keyring, SealError};

/// A source of encryption keys.
pub trait Keys: Send + Sync + fmt::Debug {
    /// The keys, which may be some minutes old.
    ///
    /// # Errors
    /// [`SealError::NoKeys`] when they can't be looked up now.
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>>;

    /// The keys of a look-up that began after the call, for a value whose key is not among the cached ones. A key that is
    /// not among these either does not exist.
    ///
    /// # Errors
    /// [`SealError::NoKeys`] when they can't be looked up now, also if there are cached ones.
    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        self.keyring()
    }
}

/// Opens values with the cached keys or, where a value's key is not among them, with the newest ones.
///
/// # Errors
/// [`SealError::NoSuchKey`] only if a look-up that succeeded did not have the key; [`SealError::NoKeys`] if no look-up
/// succeeded, which may pass.
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
    /// A source of these keys.
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
