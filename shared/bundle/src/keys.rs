//! Keys: the service's own, which signs, and the public ones that verifiers trust.

use std::collections::HashSet;
use std::fmt;

use ed25519_dalek::{Signature, Signer, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::{SIGNATURE_PREFIX, hex};

const ID_CHARS_MAX: usize = 64;

/// Why a key or a key document can't be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The id is not 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
    #[error("a key's id is 1 to 64 ASCII letters, digits, dots, hyphens and underscores")]
    Id,
    /// The public key is not 64 lower-case hexadecimal digits.
    #[error("a public key is 64 hexadecimal digits, with small letters")]
    PublicKey,
    /// Two keys of a document have the same id.
    #[error("the key document has two keys with the id {0}")]
    SameId(String),
    /// The time since which a key is compromised is malformed.
    #[error("a compromised key has the time since when it is, such as 2026-11-23T06:33:17.000Z")]
    Since,
    /// The text is not a key document.
    #[error("this is no key document: {0}")]
    Document(String),
}

/// A public key and its id. As JSON, `{"id": "2026-11", "public_key": "64 hexadecimal digits"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Spelled", into = "Spelled")]
pub struct PublicKey {
    id: String,
    bytes: [u8; 32],
}

#[derive(Serialize, Deserialize)]
struct Spelled {
    id: String,
    public_key: String,
}

impl TryFrom<Spelled> for PublicKey {
    type Error = KeyError;

    fn try_from(spelled: Spelled) -> Result<Self, KeyError> {
        let bytes = hex::decode(spelled.public_key.as_bytes()).ok_or(KeyError::PublicKey)?;
        Self::new(spelled.id, bytes)
    }
}

impl From<PublicKey> for Spelled {
    fn from(key: PublicKey) -> Self {
        Self { public_key: hex::encode(&key.bytes), id: key.id }
    }
}

impl PublicKey {
    /// A public key of 32 bytes, as encoded by RFC 8032.
    pub fn new(id: impl Into<String>, bytes: [u8; 32]) -> Result<Self, KeyError> {
        let id = id.into();
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_id = (1..=ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(is_letter);
        if is_id { Ok(Self { id, bytes }) } else { Err(KeyError::Id) }
    }

    /// The id of the key in the key document.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key's 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Whether the text of `manifest.sig` is this key's signature of a manifest.
    pub(crate) fn verifies(&self, manifest: &[u8], signature: &[u8]) -> bool {
        let Some(signature) = hex::decode(signature) else { return false };
        let Ok(key) = VerifyingKey::from_bytes(&self.bytes) else { return false };
        // Strict: keys of small order, whose signatures fit many texts, verify nothing.
        key.verify_strict(&signed_text(manifest), &Signature::from_bytes(&signature)).is_ok()
    }
}

/// A public key whose secret others may have had: its signatures prove nothing. JSON says so with a `since`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SpelledCompromised", into = "SpelledCompromised")]
pub struct CompromisedKey {
    key: PublicKey,
    since: String,
}

#[derive(Serialize, Deserialize)]
struct SpelledCompromised {
    id: String,
    public_key: String,
    since: String,
}

impl TryFrom<SpelledCompromised> for CompromisedKey {
    type Error = KeyError;

    fn try_from(SpelledCompromised { id, public_key, since }: SpelledCompromised) -> Result<Self, KeyError> {
        Self::new(Spelled { id, public_key }.try_into()?, since)
    }
}

impl From<CompromisedKey> for SpelledCompromised {
    fn from(CompromisedKey { key, since }: CompromisedKey) -> Self {
        let Spelled { id, public_key } = key.into();
        Self { id, public_key, since }
    }
}

impl CompromisedKey {
    /// A key that others may have had since a time: RFC 3339 in UTC, with milliseconds.
    pub fn new(key: PublicKey, since: impl Into<String>) -> Result<Self, KeyError> {
        let since = since.into();
        let shape = since.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter });
        let is_time = shape.eq("0000-00-00T00:00:00.000Z".chars());
        if is_time { Ok(Self { key, since }) } else { Err(KeyError::Since) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing<'a> {
    Trusted,
    Compromised { since: &'a str },
    Unknown,
}

/// The service's key that signs bundles. Wiped from memory when dropped.
pub struct SigningKey {
    id: String,
    key: ed25519_dalek::SigningKey,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The key whose seed (RFC 8032) is these bytes. Ids must never be reused: bundles name their key by it.
    pub fn new(id: impl Into<String>, secret: &[u8; 32]) -> Result<Self, KeyError> {
        let key = ed25519_dalek::SigningKey::from_bytes(secret);
        let PublicKey { id, .. } = PublicKey::new(id, key.verifying_key().to_bytes())?;
        Ok(Self { id, key })
    }

    /// The public key, for the key document.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey { id: self.id.clone(), bytes: self.key.verifying_key().to_bytes() }
    }

    /// The text of `manifest.sig`: the signature of a manifest as 128 hexadecimal digits.
    pub(crate) fn sign(&self, manifest: &[u8]) -> String {
        hex::encode(&self.key.sign(&signed_text(manifest)).to_bytes())
    }
}

fn signed_text(manifest: &[u8]) -> Vec<u8> {
    [SIGNATURE_PREFIX, manifest].concat()
}

/// The public keys whose signatures count, as published: `{"keys": [{"id": …, "public_key": …}, …]}`. Keys stay as long
/// as their bundles are to be verified. Unknown members are ignored, so that later documents may say more about a key.
///
/// Decision: compromised keys are a separate list, omitted while empty: verifiers that don't know it trust none.
#[derive(Debug, Clone, Serialize)]
pub struct KeyDocument {
    keys: Vec<PublicKey>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compromised_keys: Vec<CompromisedKey>,
}

impl KeyDocument {
    /// The document with these keys, in this order.
    pub fn new(keys: Vec<PublicKey>) -> Result<Self, KeyError> {
        Self { keys, compromised_keys: Vec::new() }.checked()
    }

    /// Adds compromised keys, none of which may be among the valid ones.
    pub fn with_compromised(self, compromised_keys: Vec<CompromisedKey>) -> Result<Self, KeyError> {
        Self { compromised_keys, ..self }.checked()
    }

    fn checked(self) -> Result<Self, KeyError> {
        let mut ids = HashSet::new();
        let compromised = self.compromised_keys.iter().map(|compromised| &compromised.key);
        match self.keys.iter().chain(compromised).find(|key| !ids.insert(key.id.as_str())) {
            Some(key) => Err(KeyError::SameId(key.id.clone())),
            None => Ok(self),
        }
    }

    /// Parses the document. An error says what is wrong and where.
    pub fn parse(json: &[u8]) -> Result<Self, KeyError> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<PublicKey>,
            #[serde(default)]
            compromised_keys: Vec<CompromisedKey>,
        }
        let document: Document = serde_json::from_slice(json).map_err(|error| KeyError::Document(error.to_string()))?;
        Self::new(document.keys)?.with_compromised(document.compromised_keys)
    }

    pub(crate) fn standing(&self, key: &PublicKey) -> Standing<'_> {
        if self.keys.contains(key) {
            return Standing::Trusted;
        }
        let compromised = self.compromised_keys.iter().find(|compromised| compromised.key == *key);
        compromised.map_or(Standing::Unknown, |CompromisedKey { since, .. }| Standing::Compromised { since })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> PublicKey {
        SigningKey::new(id, &[7; 32]).unwrap().public()
    }

    #[test]
    fn the_key_is_that_of_the_standard() {
        let secret = hex::decode(b"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let public = SigningKey::new("test", &secret).unwrap().public();
        assert_eq!(hex::encode(&public.bytes), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    }

    #[test]
    fn a_signature_fits_its_manifest_and_key_only() {
        let signing = SigningKey::new("a", &[7; 32]).unwrap();
        let signature = signing.sign(b"{}");
        assert!(signing.public().verifies(b"{}", signature.as_bytes()));
        assert!(!signing.public().verifies(b"{ }", signature.as_bytes()));
        assert!(!signing.public().verifies(b"{}", signature.to_uppercase().as_bytes()));
        assert!(!signing.public().verifies(b"{}", &signature.as_bytes()[1..]));
        assert!(!SigningKey::new("a", &[8; 32]).unwrap().public().verifies(b"{}", signature.as_bytes()));
        // Without the prefix it could be another service's signature of the same bytes.
        let bare = hex::encode(&signing.key.sign(b"{}").to_bytes());
        assert!(!signing.public().verifies(b"{}", bare.as_bytes()));
        // A key of small order "verifies" a signature of zeros under lax rules.
        let mut small = [0; 32];
        small[0] = 1;
        let zeros = format!("01{}", "0".repeat(126));
        assert!(!PublicKey::new("a", small).unwrap().verifies(b"{}", zeros.as_bytes()));
        assert!(!PublicKey::new("a", [0xff; 32]).unwrap().verifies(b"{}", signature.as_bytes()));
    }

    #[test]
    fn the_document_is_read_as_written() {
        let document = KeyDocument::new(vec![key("2026-11"), key("2026-12")]).unwrap();
        let json = serde_json::to_string(&document).unwrap();
        let public_key = hex::encode(&key("2026-11").bytes);
        let one = |id: &str| format!(r#"{{"id":"{id}","public_key":"{public_key}"}}"#);
        assert_eq!(json, format!(r#"{{"keys":[{},{}]}}"#, one("2026-11"), one("2026-12")));
        let read = KeyDocument::parse(json.as_bytes()).unwrap();
        let standing = |document: &KeyDocument, id: &str| format!("{:?}", document.standing(&key(id)));
        assert_eq!((standing(&read, "2026-12").as_str(), standing(&read, "2026-10").as_str()), ("Trusted", "Unknown"));
        let later = json.replace("{\"id\"", "{\"from\":\"2026-11-01\",\"id\"");
        assert_eq!(standing(&KeyDocument::parse(later.as_bytes()).unwrap(), "2026-11"), "Trusted");

        let compromised = CompromisedKey::new(key("2026-10"), "2026-11-23T06:33:17.000Z").unwrap();
        let document = document.with_compromised(vec![compromised]).unwrap();
        let json = serde_json::to_string(&document).unwrap();
        let leaked = one("2026-10").replace('}', r#","since":"2026-11-23T06:33:17.000Z"}"#);
        let expected = format!(r#"{{"keys":[{},{}],"compromised_keys":[{leaked}]}}"#, one("2026-11"), one("2026-12"));
        assert_eq!(json, expected);
        let read = KeyDocument::parse(json.as_bytes()).unwrap();
        assert_eq!(standing(&read, "2026-10"), "Compromised { since: \"2026-11-23T06:33:17.000Z\" }");
        assert_eq!(standing(&read, "2026-11"), "Trusted");
        let other = SigningKey::new("2026-10", &[8; 32]).unwrap().public();
        assert_eq!(read.standing(&other), Standing::Unknown, "another key under the same id");
    }

    #[test]
    fn other_documents_are_refused() {
        let two = serde_json::json!({ "keys": [key("a"), key("a")] }).to_string();
        assert!(matches!(KeyDocument::parse(two.as_bytes()), Err(KeyError::SameId(id)) if id == "a"));
        let leaked =
            serde_json::json!({ "id": "a", "public_key": "0".repeat(64), "since": "2026-11-23T06:33:17.000Z" });
        let both = serde_json::json!({ "keys": [key("a")], "compromised_keys": [leaked] }).to_string();
        assert!(matches!(KeyDocument::parse(both.as_bytes()), Err(KeyError::SameId(id)) if id == "a"));
        for since in ["", "2026-11-23", "2026-11-23T06:33:17Z", "2026-11-23T06:33:17.000+00:00", "x"] {
            assert!(matches!(CompromisedKey::new(key("a"), since), Err(KeyError::Since)), "{since}");
        }
        for (json, why) in [
            (r#"{"keys":[],"compromised_keys":null}"#, "expected a sequence"),
            (r#"{"keys":[],"compromised_keys":[{"id":"a","public_key":"00"}]}"#, "missing field `since`"),
            ("", "no key document"),
            ("{}", "missing field `keys`"),
            (r#"{"keys":{}}"#, "expected a sequence"),
            (r#"{"keys":[{"id":"a"}]}"#, "missing field `public_key`"),
            (r#"{"keys":[{"id":"a","public_key":"00"}]}"#, "64 hexadecimal digits"),
            (&format!(r#"{{"keys":[{{"id":"a b","public_key":"{}"}}]}}"#, "0".repeat(64)), "a key's id"),
        ] {
            let error = KeyDocument::parse(json.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{json}: {error}");
        }
    }

    #[test]
    fn ids_are_plain_and_secrets_stay_secret() {
        for id in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert!(matches!(SigningKey::new(id, &[0; 32]), Err(KeyError::Id)), "{id}");
        }
        assert_eq!(format!("{:?}", SigningKey::new("a", &[7; 32]).unwrap()), "SigningKey { id: \"a\", .. }");
    }
}
