//! The encryption keys in Secrets Manager.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use futures_util::future::BoxFuture;

use crate::crypto::keyring::{Keyring, SealError};
use crate::limits;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::config::{self, ConfigError};
use crate::platform::secrets::Keys;

/// Keys in Secrets Manager. They are looked up on first use and cached for some minutes.
#[derive(Debug)]
pub struct SecretsManagerKeys {
    client: aws_sdk_secretsmanager::Client,
    secret_id: String,
    cached: Mutex<Option<Cached>>,
}

/// Cached keys.
#[derive(Debug, Clone)]
struct Cached {
    keyring: Arc<Keyring>,
    /// When they expire.
    until: Instant,
    /// When they may be looked up again for a missing key.
    renewable_from: Instant,
}

impl SecretsManagerKeys {
    /// The keys of a function on Lambda, in the secret that `KEYRING_SECRET` names.
    ///
    /// # Errors
    /// When a setting is missing.
    pub fn from_env() -> Result<Arc<Self>, ConfigError> {
        let client = aws::secrets_manager(&AwsSettings::from_env(Service::SecretsManager)?);
        Ok(Self::new(client, config::required("KEYRING_SECRET")?))
    }

    /// The keys in a secret with this name or ARN.
    #[must_use]
    pub fn new(client: aws_sdk_secretsmanager::Client, secret_id: String) -> Arc<Self> {
        Arc::new(Self { client, secret_id, cached: Mutex::default() })
    }

    fn cached(&self) -> Option<Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn cache(&self, keyring: &Arc<Keyring>, until: Instant) {
        let renewable_from = Instant::now() + limits::KEYS_LOOKED_UP_EVERY;
        let cached = Cached { keyring: keyring.clone(), until, renewable_from };
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(cached);
    }

    async fn refresh(&self, cached: Option<Cached>) -> Result<Arc<Keyring>, SealError> {
        match (self.look_up().await, cached) {
            (Ok(keyring), _) => {
                self.cache(&keyring, Instant::now() + limits::KEYS_KEPT);
                Ok(keyring)
            }
            // Expired keys are better than none, and a look-up at every attempt would slow all of them down.
            (Err(_), Some(cached)) => {
                self.cache(&cached.keyring, Instant::now() + limits::KEYS_RETRY);
                Ok(cached.keyring)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn look_up(&self) -> Result<Arc<Keyring>, SealError> {
        let sent = self.client.get_secret_value().secret_id(&self.secret_id).send().await;
        // Only the code: messages can name the account.
        let failed = |code: Option<&str>| SealError::NoKeys(format!("Secrets Manager: {}", code.unwrap_or("no code")));
        let output = sent.map_err(|error| failed(error.code()))?;
        let keyring = Keyring::parse(output.secret_string().unwrap_or_default())?;
        Ok(Arc::new(keyring))
    }
}

impl Keys for SecretsManagerKeys {
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        Box::pin(async {
            match self.cached() {
                Some(cached) if Instant::now() < cached.until => Ok(cached.keyring),
                cached => self.refresh(cached).await,
            }
        })
    }

    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        Box::pin(async {
            match self.cached() {
                Some(cached) if Instant::now() < cached.renewable_from => Ok(cached.keyring),
                cached => self.refresh(cached).await,
            }
        })
    }
}
