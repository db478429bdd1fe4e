//! Seals stored values that the table must not reveal. A sealed value names its key, so that keys can be rotated.
//!
//! Decision: a key that isn't current can be retired. Nothing derived from it counts anymore, but it still opens what
//! it sealed. The public half of its evidence key stays, so earlier bundles verify even after the key is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Why a value was not sealed or opened. Says nothing about the value.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SealError {
    /// The keys could not be loaded. A retry may succeed.
    #[error("no keys: {0}")]
    NoKeys(String),
    /// The keyring lacks the value's key. A newer one may have it.
    #[error("the key {0} is gone")]
    NoSuchKey(String),
    /// The value was changed, or sealed for another place.
    #[error("a sealed value does not open")]
    Broken,
    /// The system gives no randomness.
    #[error("the system gives no randomness")]
    NoRandomness,
}

/// An encrypted value, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    key: String,
    /// Nonce and ciphertext, in base64.
    text: String,
}

/// Encryption keys by name: the current one seals, each opens what it sealed.
#[derive(Clone)]
pub struct Keyring {
    current: String,
    keys: BTreeMap<String, [u8; Self::KEY_BYTES]>,
    /// Keys that derive nothing anymore, never the current one. Dropped ones are no longer in `keys`.
    retired: BTreeMap<String, Retired>,
}

/// Facts about a retired key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    /// The public half of its evidence key.
    pub evidence_key: [u8; 32],
    /// When others may have obtained it, as a timestamp. None if no leak is known.
    pub compromised_since: Option<String>,
}

/// Why a key was not retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRetired {
    /// It is current, and so maybe the only one.
    Current,
    /// The keyring never had such a key.
    Unknown,
}

/// A keyring as stored: `{"current": "2026-11", "keys": {"2026-11": "base64 of 32 bytes"}, "retired": {"2026-10":
/// {"evidence_key": "base64 of 32 bytes", "compromised_since": "2026-11-23T06:33:17.000Z"}}}`. `retired` and
/// `compromised_since` may be absent.
#[derive(Serialize, Deserialize)]
struct Written {
    current: String,
    keys: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    retired: BTreeMap<String, WrittenRetired>,
}

#[derive(Serialize, Deserialize)]
struct WrittenRetired {
    evidence_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compromised_since: Option<String>,
}

impl Keyring {
    const KEY_BYTES: usize = 32;
    const NONCE_BYTES: usize = 24;

    /// A keyring with one new key.
    pub fn new(name: &str) -> Result<Self, SealError> {
        let empty = Self { current: String::new(), keys: BTreeMap::new(), retired: BTreeMap::new() };
        empty.with_new_key(name)
    }

    /// Adds a new current key. The others stay, to open what they sealed.
    pub fn with_new_key(mut self, name: &str) -> Result<Self, SealError> {
        let mut key = [0; Self::KEY_BYTES];
        getrandom::fill(&mut key).map_err(|_| SealError::NoRandomness)?;
        self.keys.insert(name.to_owned(), key);
        Ok(Self { current: name.to_owned(), ..self })
    }

    /// Reads a keyring. An error doesn't quote the text.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        let wrong =
            || SealError::NoKeys("a keyring is {\"current\": name, \"keys\": {name: base64 of 32 bytes}}".into());
        let written: Written = serde_json::from_str(text).map_err(|_| wrong())?;
        let (mut keys, mut retired) = (BTreeMap::new(), BTreeMap::new());
        for (name, key) in written.keys {
            keys.insert(name, decode(&key).ok_or_else(wrong)?);
        }
        for (name, WrittenRetired { evidence_key, compromised_since }) in written.retired {
            let evidence_key = decode(&evidence_key).ok_or_else(wrong)?;
            retired.insert(name, Retired { evidence_key, compromised_since });
        }
        let has_current = keys.contains_key(&written.current) && !retired.contains_key(&written.current);
        if has_current { Ok(Self { current: written.current, keys, retired }) } else { Err(wrong()) }
    }

    /// Retires a key: it derives nothing anymore. If it `opens`, it opens what it sealed; otherwise it is dropped.
    pub fn retire(mut self, name: &str, retired: Retired, opens: bool) -> Result<Self, NotRetired> {
        if name == self.current {
            return Err(NotRetired::Current);
        }
        if !self.has(name) {
            return Err(NotRetired::Unknown);
        }
        if !opens {
            self.keys.remove(name);
        }
        self.retired.insert(name.to_owned(), retired);
        Ok(self)
    }

    /// The facts about a key, if retired.
    #[must_use]
    pub fn retired(&self, name: &str) -> Option<&Retired> {
        self.retired.get(name)
    }

    /// The facts about all retired keys.
    pub fn all_retired(&self) -> impl Iterator<Item = &Retired> {
        self.retired.values()
    }

    /// The keyring with secret keys in clear, only for storing it.
    #[must_use]
    pub fn reveal(&self) -> String {
        let keys = self.keys.iter().map(|(name, key)| (name.clone(), STANDARD.encode(key))).collect();
        let retired = self.retired.iter().map(|(name, Retired { evidence_key, compromised_since })| {
            let evidence_key = STANDARD.encode(evidence_key);
            (name.clone(), WrittenRetired { evidence_key, compromised_since: compromised_since.clone() })
        });
        serde_json::json!(Written { current: self.current.clone(), keys, retired: retired.collect() }).to_string()
    }

    /// Seals a text for a place, where alone it opens.
    pub fn seal(&self, text: &str, place: &str) -> Result<Sealed, SealError> {
        let mut nonce = [0; Self::NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| SealError::NoRandomness)?;
        let payload = Payload { msg: text.as_bytes(), aad: place.as_bytes() };
        let sealed =
            self.cipher(&self.current)?.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Broken)?;
        Ok(Sealed { key: self.current.clone(), text: STANDARD.encode([&nonce[..], &sealed].concat()) })
    }

    /// Opens a value sealed for a place.
    pub fn open(&self, sealed: &Sealed, place: &str) -> Result<String, SealError> {
        let bytes = STANDARD.decode(&sealed.text).map_err(|_| SealError::Broken)?;
        let (nonce, text) = bytes.split_first_chunk::<{ Self::NONCE_BYTES }>().ok_or(SealError::Broken)?;
        let payload = Payload { msg: text, aad: place.as_bytes() };
        let opened =
            self.cipher(&sealed.key)?.decrypt(&XNonce::from(*nonce), payload).map_err(|_| SealError::Broken)?;
        String::from_utf8(opened).map_err(|_| SealError::Broken)
    }

    /// Reseals a value with the current key. `None` if it already is.
    pub fn reseal(&self, sealed: &Sealed, place: &str) -> Result<Option<Sealed>, SealError> {
        if self.is_current(sealed) {
            return Ok(None);
        }
        self.seal(&self.open(sealed, place)?, place).map(Some)
    }

    /// The name of the current key.
    #[must_use]
    pub fn current(&self) -> &str {
        &self.current
    }

    /// Derives secret bytes for a place from the current key (HKDF-SHA256, at most 8,160), stable until a rotation.
    pub fn derive<const N: usize>(&self, place: &str) -> Result<[u8; N], SealError> {
        self.derive_with(&self.current, place)
    }

    /// Derives secret bytes for a place from a named key, even a retired one.
    pub fn derive_with<const N: usize>(&self, name: &str, place: &str) -> Result<[u8; N], SealError> {
        let key = self.keys.get(name).ok_or_else(|| SealError::NoSuchKey(name.to_owned()))?;
        derive_with(key, place).ok_or(SealError::Broken)
    }

    /// Derives secret bytes for a place from each key that isn't retired, for what was made before a rotation.
    #[must_use]
    pub fn derive_with_each<const N: usize>(&self, place: &str) -> Vec<[u8; N]> {
        let counting = self.keys.iter().filter(|(name, _)| !self.retired.contains_key(*name));
        counting.filter_map(|(_, key)| derive_with(key, place)).collect()
    }

    /// Whether the keyring has or had a key with this name. Names are never reused.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.keys.contains_key(name) || self.retired.contains_key(name)
    }

    /// Whether the keyring can open what this key sealed.
    #[must_use]
    pub fn opens(&self, name: &str) -> bool {
        self.keys.contains_key(name)
    }

    /// Names of all keys it has or had.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        self.keys.keys().chain(self.retired.keys()).map(String::as_str).collect()
    }

    /// Whether the current key sealed the value.
    #[must_use]
    pub fn is_current(&self, sealed: &Sealed) -> bool {
        sealed.key == self.current
    }

    fn cipher(&self, name: &str) -> Result<XChaCha20Poly1305, SealError> {
        let key = self.keys.get(name).ok_or_else(|| SealError::NoSuchKey(name.to_owned()))?;
        Ok(XChaCha20Poly1305::new(&Key::from(*key)))
    }
}

fn decode(key: &str) -> Option<[u8; Keyring::KEY_BYTES]> {
    STANDARD.decode(key).ok()?.try_into().ok()
}

/// `None` for more bytes than HKDF allows.
fn derive_with<const N: usize>(key: &[u8], place: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    // Its own salt: derived bytes say nothing about the sealing key.
    let derived = Hkdf::<Sha256>::new(Some(b"countersign derived secrets"), key);
    derived.expand(place.as_bytes(), &mut bytes).ok()?;
    Some(bytes)
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyring({})", self.keys.keys().cloned().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_in_its_place_only() {
        let keys = Keyring::new("one").unwrap();
        let sealed = keys.seal("whsec_something", "org 1, endpoint 2").unwrap();
        assert!(!format!("{sealed:?}{keys:?}").contains("something"));
        assert_eq!(keys.open(&sealed, "org 1, endpoint 2").unwrap(), "whsec_something");
        assert!(matches!(keys.open(&sealed, "org 1, endpoint 3"), Err(SealError::Broken)));
        assert_ne!(keys.seal("whsec_something", "org 1, endpoint 2").unwrap(), sealed, "a nonce is used once");
    }

    #[test]
    fn a_rotated_keyring_opens_what_the_old_key_sealed_and_seals_with_the_new_one() {
        let old = Keyring::new("one").unwrap();
        let sealed = old.seal("text", "place").unwrap();
        let new = Keyring::parse(&old.clone().with_new_key("two").unwrap().reveal()).unwrap();
        assert_eq!(new.open(&sealed, "place").unwrap(), "text");
        assert!(!new.is_current(&sealed) && new.is_current(&new.seal("text", "place").unwrap()));
        let anew = new.reseal(&sealed, "place").unwrap().unwrap();
        assert!(new.is_current(&anew) && new.open(&anew, "place").unwrap() == "text");
        assert_eq!(new.reseal(&anew, "place").unwrap(), None);
        let other = Keyring::new("three").unwrap();
        assert!(matches!(other.open(&sealed, "place"), Err(SealError::NoSuchKey(name)) if name == "one"));
    }

    #[test]
    fn derived_bytes_are_the_same_for_a_place_and_a_keyring() {
        let keys = Keyring::new("one").unwrap();
        let bytes: [u8; 100] = keys.derive("codes of one form").unwrap();
        assert_eq!(keys.derive("codes of one form").unwrap(), bytes);
        assert_ne!(keys.derive("codes of another form").unwrap(), bytes);
        assert_ne!(Keyring::new("one").unwrap().derive("codes of one form").unwrap(), bytes);
        assert_ne!(bytes[..32], bytes[32..64], "no block is repeated");
        let rotated = keys.with_new_key("two").unwrap();
        assert_ne!(rotated.derive("codes of one form").unwrap(), bytes);
    }

    #[test]
    fn a_retired_key_derives_nothing_and_opens_what_it_sealed_until_it_is_dropped() {
        let old = Keyring::new("one").unwrap();
        let sealed = old.seal("text", "place").unwrap();
        let derived: [u8; 20] = old.derive("link").unwrap();
        let rotated = old.with_new_key("two").unwrap();
        assert!(rotated.derive_with_each("link").contains(&derived));
        let since = |at: &str| Retired { evidence_key: [7; 32], compromised_since: Some(at.to_owned()) };
        let retire = |keyring: &Keyring, opens| keyring.clone().retire("one", since("yesterday"), opens).unwrap();
        let (retired, dropped) = (retire(&rotated, true), retire(&rotated, false));
        for keyring in [&retired, &dropped] {
            let keyring = Keyring::parse(&keyring.reveal()).unwrap();
            assert_eq!(keyring.derive_with_each("link"), [keyring.derive::<20>("link").unwrap()]);
            assert_eq!(keyring.retired("one"), Some(&since("yesterday")));
            assert!(keyring.has("one") && !keyring.is_current(&sealed), "its name is not used again");
        }
        assert_eq!((retired.open(&sealed, "place").unwrap().as_str(), retired.opens("one")), ("text", true));
        assert!(matches!(dropped.open(&sealed, "place"), Err(SealError::NoSuchKey(name)) if name == "one"));
        assert!(!retire(&dropped, true).opens("one"), "what was dropped does not come back");
        for keyring in [&rotated, &retired, &dropped] {
            let refused = |name: &str| keyring.clone().retire(name, since("now"), false).map(|_| ());
            assert_eq!((refused("two"), refused("three")), (Err(NotRetired::Current), Err(NotRetired::Unknown)));
        }
        let current = retired.reveal().replace("\"current\":\"two\"", "\"current\":\"one\"");
        assert!(Keyring::parse(&current).is_err(), "a retired key is never the current one");
        assert!(!rotated.reveal().contains("retired"), "as before, as long as none is");
    }

    #[test]
    fn a_changed_value_does_not_open_and_an_invalid_keyring_is_refused() {
        let keys = Keyring::new("one").unwrap();
        let mut sealed = keys.seal("text", "place").unwrap();
        for text in ["", "AAAA", "not base64!", &STANDARD.encode([0; 60])] {
            sealed.text = text.to_owned();
            assert!(matches!(keys.open(&sealed, "place"), Err(SealError::Broken)), "{text}");
        }
        for text in ["", "{}", r#"{"current":"a","keys":{}}"#, r#"{"current":"a","keys":{"a":"c2hvcnQ="}}"#] {
            let refused = Keyring::parse(text).unwrap_err().to_string();
            assert!(text.is_empty() || text == "{}" || !refused.contains("c2hvcnQ="), "{refused}");
        }
    }
}
