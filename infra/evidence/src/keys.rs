//! The keys that sign bundles. Each follows from a key of the service's keyring, so there is nothing more to keep, and a
//! rotation of the keyring brings another.
//!
//! Decision: the id of a key is the beginning of the SHA-256 of its public half. It tells nothing of the keyring, not even
//! what its keys are called, and two keys never share one.

use bundle::{KeyDocument, PublicKey, SigningKey};
use shared::crypto;
use shared::crypto::keyring::Keyring;

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

/// The public keys of all keys of the keyring: bundles verify as long as the keyring has the key with which they were
/// signed.
///
/// # Errors
/// [`EvidenceError`], to which no keyring leads.
pub fn key_document(keyring: &Keyring) -> Result<KeyDocument, EvidenceError> {
    let keys = keyring.derive_with_each(PLACE);
    let public: Result<Vec<PublicKey>, EvidenceError> =
        keys.iter().map(|secret| key(secret).map(|key| key.public())).collect();
    Ok(KeyDocument::new(public?)?)
}

fn key(secret: &[u8; 32]) -> Result<SigningKey, EvidenceError> {
    let unnamed = SigningKey::new("unnamed", secret)?.public();
    let digest = crypto::sha256_hex(unnamed.bytes());
    Ok(SigningKey::new(&digest[..ID_CHARS], secret)?)
}
