//! Secrets: access tokens, passwords, cookies, signing secrets, and the keys that encrypt stored values.

mod base32;
mod cookie_secret;
mod hash;
pub mod keyring;
pub mod keys;
mod link_secret;
mod passwords;
mod recovery_code;
pub mod signing_secret;
mod tokens;
mod totp;

pub use cookie_secret::{CookieSecret, SecretHash};
pub use hash::{fingerprint, hex, keyed_hash, sha256_hex, sha256_twice};
pub use link_secret::LinkSecret;
pub use passwords::{HashingFailed, hash_password, verify_password};
pub use recovery_code::RecoveryCode;
pub use tokens::{TokenHash, new_token};
pub use totp::{TotpCode, TotpSecret};

/// The system provides no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no randomness")]
pub struct NoRandomness;

/// Random bytes of the operating system.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}
