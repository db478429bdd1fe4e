//! Secrets in the app's cookies (sessions, devices, sign-in forms), and form tokens derived from them.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use uuid::Uuid;

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

    /// The name of a new copy of a form: its id, sealed for this browser. Nobody else can name the id.
    #[must_use]
    pub fn copy(&self) -> String {
        self.name_copy(Uuid::now_v7()).unwrap_or_default()
    }

    /// The id of a copy by its name, if this secret has sealed it.
    #[must_use]
    pub fn open_copy(&self, name: &str) -> Option<Uuid> {
        let id = name.split_once('.')?.0.parse().ok()?;
        let expected = self.name_copy(id)?;
        bool::from(expected.as_bytes().ct_eq(name.as_bytes())).then_some(id)
    }

    fn name_copy(&self, id: Uuid) -> Option<String> {
        let mac = self.mac(&[b"countersign copy 1", id.as_bytes()])?;
        Some(format!("{id}.{}", hex(&mac[..16])))
    }

    /// Equal for equal content only, and meaningless without the secret. The parts can't run into each other.
    #[must_use]
    pub fn fingerprint<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
        let mut content = Vec::new();
        for part in parts {
            content.extend_from_slice(&sha256(&[part]));
        }
        self.mac(&[b"countersign content 1", &content]).unwrap_or_default()
    }

    fn mac(&self, parts: &[&[u8]]) -> Option<[u8; 32]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok()?;
        for part in parts {
            mac.update(part);
        }
        Some(mac.finalize().into_bytes().into())
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
    fn a_copy_is_named_by_its_secret_only_and_each_once() {
        let (mine, foreign) = (CookieSecret::new().unwrap(), CookieSecret::new().unwrap());
        let name = mine.copy();
        let (id, seal) = name.split_once('.').unwrap();
        assert_eq!(mine.open_copy(&name).map(|id| id.to_string()).as_deref(), Some(id));
        assert_ne!(mine.copy(), name);
        let other = Uuid::now_v7();
        for forged in
            ["", ".", id, &foreign.copy(), &format!("{other}.{seal}"), &format!("{id}."), &name.to_uppercase()]
        {
            assert_eq!(mine.open_copy(forged), None, "{forged}");
        }
        let content = |parts: &[&'static [u8]]| mine.fingerprint(parts.iter().copied());
        assert_eq!(content(&[b"a", b"b"]), content(&[b"a", b"b"]));
        assert_ne!(content(&[b"a", b"b"]), content(&[b"ab", b""]));
        assert_ne!(content(&[b"a"]), foreign.fingerprint([b"a".as_slice()]));
    }

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
