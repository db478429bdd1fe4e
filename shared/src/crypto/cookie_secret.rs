//! Secrets in the app's cookies (sessions, devices, sign-in forms), and form tokens derived from them.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::hash::{hex, sha256};
use super::{NoRandomness, random_bytes};

/// The secret in a cookie: 256 bits, in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieSecret(String);

/// The SHA-256 of a cookie's secret, which the store has instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretHash([u8; 32]);

impl CookieSecret {
    const BYTES: usize = 32;

    /// A new secret.
    pub fn new() -> Result<Self, NoRandomness> {
        let bytes: [u8; Self::BYTES] = random_bytes()?;
        Ok(Self(hex(&bytes)))
    }

    /// Reads a cookie's value, or `None` if it isn't a secret.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 2 * Self::BYTES && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The secret in clear, for its cookie only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash for the store.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash(sha256(&[self.0.as_bytes()]))
    }

    /// The CSRF token in every form of this browser. It doesn't reveal the secret.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.form_mac().map(|mac| hex(&mac.finalize().into_bytes())).unwrap_or_default()
    }

    /// Compares with [`Self::form_token`] in constant time.
    #[must_use]
    pub fn verifies(&self, form_token: &str) -> bool {
        let bytes: Option<Vec<u8>> = form_token
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let (Some(bytes), Some(mac)) = (bytes, self.form_mac()) else { return false };
        mac.verify_slice(&bytes).is_ok()
    }

    fn form_mac(&self) -> Option<Hmac<Sha256>> {
        // HMAC takes a key of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok()?;
        mac.update(b"countersign form 1");
        Some(mac)
    }
}

impl fmt::Debug for CookieSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieSecret")
    }
}

impl fmt::Display for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_token_belongs_to_its_secret() {
        let (mine, foreign) = (CookieSecret::new().unwrap(), CookieSecret::new().unwrap());
        assert!(mine.verifies(&mine.form_token()));
        assert_eq!(CookieSecret::parse(mine.reveal()), Some(mine.clone()));
        assert_ne!(mine.form_token(), mine.hash().to_string());
        for token in ["", "0", "é", &foreign.form_token(), &mine.form_token()[..62], &(mine.form_token() + "00")] {
            assert!(!mine.verifies(token), "{token}");
        }
        for text in ["", "00", &mine.reveal().to_uppercase(), &format!("{}0", mine.reveal())] {
            assert!(CookieSecret::parse(text).is_none() || text == mine.reveal(), "{text}");
        }
    }
}
