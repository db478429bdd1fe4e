//! Encryption keys in Secrets Manager.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::crypto::keyring::{Keyring, SealError};
use crate::crypto::keys::Keys;
use crate::limits;
use crate::platform::aws::{self, AwsSettings, Service};
use crate::platform::config::{self, ConfigError};

/// Keys in Secrets Manager, looked up on first use and cached for some minutes.
#[derive(Debug)]
pub struct SecretsManagerKeys {
    client: aws_sdk_secretsmanager::Client,
    secret_id: String,
    cached: Mutex<Option<Cached>>,
    /// The last look-up. Locked during a look-up, so that simultaneous calls share it.
    last: tokio::sync::Mutex<Option<LookUp>>,
}

#[derive(Debug, Clone)]
struct Cached {
    keyring: Arc<Keyring>,
    until: Instant,
}

#[derive(Debug)]
struct LookUp {
    begun_at: Instant,
    ended_at: Instant,
    result: Result<Arc<Keyring>, SealError>,
}

impl SecretsManagerKeys {
    /// A function's keys on Lambda, from the secret that `KEYRING_SECRET` names.
    ///
    /// # Errors
    /// If a setting is missing.
    pub fn from_env() -> Result<Arc<Self>, ConfigError> {
        let client = aws::secrets_manager(&AwsSettings::from_env(Service::SecretsManager)?);
        Ok(Self::new(client, config::required("KEYRING_SECRET")?))
    }

    /// The keys in a secret with this name or ARN.
    #[must_use]
    pub fn new(client: aws_sdk_secretsmanager::Client, secret_id: String) -> Arc<Self> {
        Arc::new(Self { client, secret_id, cached: Mutex::default(), last: tokio::sync::Mutex::default() })
    }

    fn cached(&self) -> MutexGuard<'_, Option<Cached>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn cached_or_new(&self) -> Result<Arc<Keyring>, SealError> {
        let now = Instant::now();
        if let Some(cached) = self.cached().as_ref().filter(|cached| now < cached.until) {
            return Ok(cached.keyring.clone());
        }
        let looked_up = self.look_up(|last| now <= last.ended_at).await;
        if looked_up.is_err()
            && let Some(cached) = self.cached().as_mut()
        {
            // Expired keys beat none, and a look-up per attempt would slow all attempts.
            cached.until = cached.until.max(Instant::now() + limits::KEYS_RETRY);
            return Ok(cached.keyring.clone());
        }
        looked_up
    }

    /// The last look-up's result, if recent enough, or a new one's. Simultaneous calls share a look-up.
    async fn look_up(&self, is_recent: impl Fn(&LookUp) -> bool) -> Result<Arc<Keyring>, SealError> {
        let mut last = self.last.lock().await;
        if let Some(last) = last.as_ref() {
            if is_recent(last) {
                return last.result.clone();
            }
            tokio::time::sleep_until(last.begun_at + limits::KEYS_LOOKED_UP_EVERY).await;
        }
        let begun_at = Instant::now();
        let result = self.fetch().await;
        if let Ok(keyring) = &result {
            *self.cached() = Some(Cached { keyring: keyring.clone(), until: begun_at + limits::KEYS_KEPT });
        }
        *last = Some(LookUp { begun_at, ended_at: Instant::now(), result: result.clone() });
        result
    }

    async fn fetch(&self) -> Result<Arc<Keyring>, SealError> {
        let sent = self.client.get_secret_value().secret_id(&self.secret_id).send().await;
        // Only the code: messages may name the account.
        let failed = |code: Option<&str>| SealError::NoKeys(format!("Secrets Manager: {}", code.unwrap_or("no code")));
        let output = sent.map_err(|error| failed(error.code()))?;
        let keyring = Keyring::parse(output.secret_string().unwrap_or_default())?;
        Ok(Arc::new(keyring))
    }
}

impl Keys for SecretsManagerKeys {
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        Box::pin(self.cached_or_new())
    }

    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        let now = Instant::now();
        Box::pin(self.look_up(move |last| now <= last.begun_at))
    }
}
