//! The keys that sign bundles. Each follows from a key of the service's keyring, so there is nothing more to keep, and a
//! rotation of the keyring brings another.
//!
//! Decision: the id of a key is the beginning of the SHA-256 of its public half. It tells nothing of the keyring, not even
//! what its keys are called, and two keys never share one.

use bundle::{CompromisedKey, KeyDocument, PublicKey, SigningKey};
use shared::crypto;
use shared::crypto::keyring::{Keyring, Retired};

use crate::EvidenceError;

/// What the secret of a signing key is derived for. Another text would make other keys, and no earlier bundle would verify.
const PLACE: &str = "evidence bundles, ed25519";
/// Characters of a key's id: 64 bits.
const ID_CHARS: usize = 16;

/// The key that signs now.
///
/// # Errors
/// [`EvidenceError`], to which no keyring leads.
pub fn signing_key(keyring: &Keyring) -> Result<SigningKey, EvidenceError> {
    let secret = keyring.derive(PLACE)?;
    key(&secret)
}

/// The public keys of all keys that the keyring has or had: bundles stay checkable for good. Those that have leaked are told
/// apart, because whoever has one can sign bundles in the service's name.
///
/// # Errors
/// [`EvidenceError`], to which no keyring leads.
pub fn key_document(keyring: &Keyring) -> Result<KeyDocument, EvidenceError> {
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

/// The public key that follows from the key with a name, which stays known when that key is retired.
///
/// # Errors
/// [`EvidenceError::Keyring`] if the keyring does not have that key, or not anymore.
pub fn public_key(keyring: &Keyring, name: &str) -> Result<PublicKey, EvidenceError> {
    let secret = match keyring.retired(name) {
        Some(Retired { evidence_key, .. }) => return Ok(PublicKey::new(id(evidence_key), *evidence_key)?),
        None => keyring.derive_with(name, PLACE)?,
    };
    Ok(key(&secret)?.public())
}

fn key(secret: &[u8; 32]) -> Result<SigningKey, EvidenceError> {
    let unnamed = SigningKey::new("unnamed", secret)?.public();
    Ok(SigningKey::new(id(unnamed.bytes()), secret)?)
}

/// The id of a public key.
fn id(public_key: &[u8; 32]) -> String {
    let mut digest = crypto::sha256_hex(public_key);
    digest.truncate(ID_CHARS);
    digest
}
