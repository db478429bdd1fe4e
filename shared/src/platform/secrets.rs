//! Where the keys of what is kept encrypted come from: Secrets Manager in the cloud, a file on the local stack.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use futures_util::future::BoxFuture;

use crate::crypto::keyring::{Keyring, SealError};
use crate::limits;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::config::{self, ConfigError};

/// Where the keys are: Secrets Manager in the cloud, a file on the local stack.
pub trait Keys: Send + Sync + fmt::Debug {
    /// The keys as they are now, or were minutes ago.
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>>;

    /// The keys as they are now, for what is sealed with a key that the others lack.
    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        self.keyring()
    }
}

/// Keys that were there from the start.
#[derive(Debug)]
pub struct FixedKeys(Arc<Keyring>);

impl FixedKeys {
    /// These keys.
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

/// Keys in Secrets Manager, looked up when they are first needed and again after some minutes.
#[derive(Debug)]
pub struct SecretsManagerKeys {
    client: aws_sdk_secretsmanager::Client,
    secret_id: String,
    kept: Mutex<Option<Kept>>,
}

/// Keys that were looked up.
#[derive(Debug, Clone)]
struct Kept {
    keyring: Arc<Keyring>,
    /// When they are looked up again.
    until: Instant,
    /// From when on they are looked up again for whoever misses one.
    renewable_from: Instant,
}

impl SecretsManagerKeys {
    /// What a function on Lambda has: the secret that `KEYRING_SECRET` names.
    ///
    /// # Errors
    /// When a setting is missing.
    pub fn from_env() -> Result<Arc<Self>, ConfigError> {
        let client = aws::secrets_manager(&AwsSettings::from_env(Service::SecretsManager)?);
        Ok(Self::new(client, config::required("KEYRING_SECRET")?))
    }

    /// The keys in a secret, named by its name or ARN.
    #[must_use]
    pub fn new(client: aws_sdk_secretsmanager::Client, secret_id: String) -> Arc<Self> {
        Arc::new(Self { client, secret_id, kept: Mutex::default() })
    }

    fn kept(&self) -> Option<Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, keyring: &Arc<Keyring>, until: Instant) {
        let kept =
            Kept { keyring: keyring.clone(), until, renewable_from: Instant::now() + limits::KEYS_LOOKED_UP_EVERY };
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    async fn looked_up(&self, kept: Option<Kept>) -> Result<Arc<Keyring>, SealError> {
        match (self.look_up().await, kept) {
            (Ok(keyring), _) => {
                self.keep(&keyring, Instant::now() + limits::KEYS_KEPT);
                Ok(keyring)
            }
            // The keys of some minutes ago are better than none, and asking at every attempt would slow down all.
            (Err(_), Some(kept)) => {
                self.keep(&kept.keyring, Instant::now() + limits::KEYS_RETRY);
                Ok(kept.keyring)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn look_up(&self) -> Result<Arc<Keyring>, SealError> {
        let sent = self.client.get_secret_value().secret_id(&self.secret_id).send().await;
        // The code only: messages can name the account.
        let failed = |code: Option<&str>| SealError::NoKeys(format!("Secrets Manager: {}", code.unwrap_or("no code")));
        let output = sent.map_err(|error| failed(error.code()))?;
        let keyring = Keyring::parse(output.secret_string().unwrap_or_default())?;
        Ok(Arc::new(keyring))
    }
}

impl Keys for SecretsManagerKeys {
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        Box::pin(async {
            match self.kept() {
                Some(kept) if Instant::now() < kept.until => Ok(kept.keyring),
                kept => self.looked_up(kept).await,
            }
        })
    }

    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        Box::pin(async {
            match self.kept() {
                Some(kept) if Instant::now() < kept.renewable_from => Ok(kept.keyring),
                kept => self.looked_up(kept).await,
            }
        })
    }
}
