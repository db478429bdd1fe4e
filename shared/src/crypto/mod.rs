//! Secrets: access tokens, passwords, cookies, signing secrets, and the keys that encrypt stored values.

mod cookie_secret;
mod hash;
pub mod keyring;
mod link_secret;
mod passwords;
pub mod signing_secret;
mod tokens;

pub use cookie_secret::{CookieSecret, SecretHash};
pub use hash::{fingerprint, hex, sha256_hex};
pub use link_secret::LinkSecret;
pub use passwords::{HashingFailed, hash_password, verify_password};
pub use tokens::{TokenHash, new_token};

/// The system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no randomness")]
pub struct NoRandomness;
