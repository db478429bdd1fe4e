//! The keys that sign bundles, each derived from a key of the service's keyring: nothing more to store or rotate.
//!
//! Decision: a key's id begins the SHA-256 of its public half, which reveals nothing about the keyring.

use shared::crypto;
use shared::crypto::keyring::{Keyring, Retired, SealError};

use crate::{CompromisedKey, KeyDocument, KeyError, PublicKey, SigningKey};

/// The purpose in the derivation of signing keys. Changing it would invalidate all earlier bundles.
const PLACE: &str = "evidence bundles, ed25519";
const ID_CHARS: usize = 16;

/// Why a keyring gives no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The keyring lacks the key.
    #[error("keyring: {0}")]
    Keyring(#[from] SealError),
    /// A key can't be used.
    #[error("keys: {0}")]
    Key(#[from] KeyError),
}

/// The current signing key. No keyring causes an error.
pub fn signing_key(keyring: &Keyring) -> Result<SigningKey, KeyringError> {
    let secret = keyring.derive(PLACE)?;
    key(&secret)
}

/// The public keys of all current and former keys: bundles stay verifiable. Leaked ones are separate. Always succeeds.
pub fn key_document(keyring: &Keyring) -> Result<KeyDocument, KeyringError> {
    let keys = keyring.derive_with_each(PLACE);
    let mut public = Vec::new();
    for secret in keys {
        public.push(key(&secret)?.public());
    }
    let mut compromised = Vec::new();
    for Retired { evidence_key, compromised_since } in keyring.all_retired() {
        let key = PublicKey::new(id(evidence_key), *evidence_key)?;
        match compromised_since {
            Some(since) => compromised.push(CompromisedKey::new(key, since.clone())?),
            None => public.push(key),
        }
    }
    Ok(KeyDocument::new(public)?.with_compromised(compromised)?)
}

/// The public key derived from a named key, which stays known after that key's retirement.
pub fn public_key(keyring: &Keyring, name: &str) -> Result<PublicKey, KeyringError> {
    let secret = match keyring.retired(name) {
        Some(Retired { evidence_key, .. }) => return Ok(PublicKey::new(id(evidence_key), *evidence_key)?),
        None => keyring.derive_with(name, PLACE)?,
    };
    Ok(key(&secret)?.public())
}

fn key(secret: &[u8; 32]) -> Result<SigningKey, KeyringError> {
    let unnamed = SigningKey::new("unnamed", secret)?.public();
    Ok(SigningKey::new(id(unnamed.bytes()), secret)?)
}

fn id(public_key: &[u8; 32]) -> String {
    let mut digest = crypto::sha256_hex(public_key);
    digest.truncate(ID_CHARS);
    digest
}
