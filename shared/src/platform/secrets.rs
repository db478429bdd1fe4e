//! The source of encryption keys: Secrets Manager in the cloud (`secrets_manager`), a file on the local stack.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::crypto::keyring::{Keyring, SealError};

/// A source of encryption keys.
pub trait Keys: Send + Sync + fmt::Debug {
    /// The keys, which may be some minutes old.
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>>;

    /// The current keys, for a value whose key is not among the cached ones.
    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        self.keyring()
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
