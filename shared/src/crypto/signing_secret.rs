//! The secret that signs an endpoint's deliveries.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

use crate::crypto::{NoRandomness, random_bytes};

const PREFIX: &str = "whsec_";
const BYTES: usize = 32;

/// An endpoint's secret: `whsec_` and base64 of 32 random bytes. It signs in our name: shown once, never logged.
#[derive(Clone)]
pub struct SigningSecret([u8; BYTES]);

/// The text isn't a signing secret. The error doesn't quote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signing secret is whsec_ and 44 characters of base64")]
pub struct InvalidSecret;

impl From<[u8; BYTES]> for SigningSecret {
    fn from(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }
}

impl SigningSecret {
    /// A new secret.
    pub fn generate() -> Result<Self, NoRandomness> {
        random_bytes().map(Self)
    }

    /// Reads a secret only in its displayed form, because that spelling is the signature's key.
    pub fn parse(text: &str) -> Result<Self, InvalidSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(InvalidSecret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| InvalidSecret)?;
        bytes.try_into().map(Self).map_err(|_| InvalidSecret)
    }

    /// The secret in clear, for the page that shows it once, and for encryption.
    #[must_use]
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }

    /// Standard Webhooks signs with these.
    pub(crate) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

impl PartialEq for SigningSecret {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SigningSecret {}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_secret_is_unique_and_parses() {
        let secret = SigningSecret::generate().unwrap();
        assert_eq!(SigningSecret::parse(&secret.expose()), Ok(secret.clone()));
        assert_eq!(secret.expose().len(), 50);
        assert_ne!(SigningSecret::generate().unwrap(), secret);
    }

    #[test]
    fn it_is_not_printed() {
        let secret = SigningSecret::generate().unwrap();
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "SigningSecret Some(SigningSecret)");
    }

    #[test]
    fn other_spellings_are_refused() {
        let good = SigningSecret([0xfb; BYTES]).expose();
        assert!(SigningSecret::parse(&good).is_ok(), "{good}");
        let encoded = &good[PREFIX.len()..];
        for text in [
            "",
            "whsec_",
            encoded,
            &format!("WHSEC_{encoded}"),
            &format!(" {good}"),
            &format!("{good}\n"),
            good.trim_end_matches('='),
            &good.replace('+', "-"),
            &format!("{PREFIX}{}", STANDARD.encode([1; 31])),
            &format!("{PREFIX}{}", STANDARD.encode([1; 33])),
            // The last character has unused bits.
            &format!("{PREFIX}{}B=", "A".repeat(42)),
        ] {
            assert_eq!(SigningSecret::parse(text), Err(InvalidSecret), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_secret_has_one_spelling(bytes: [u8; BYTES]) {
            let secret = SigningSecret(bytes);
            prop_assert_eq!(SigningSecret::parse(&secret.expose()), Ok(secret));
        }

        #[test]
        fn no_text_breaks_reading(text in "(whsec_)?[A-Za-z0-9+/=_-]{0,60}") {
            if let Ok(secret) = SigningSecret::parse(&text) {
                prop_assert_eq!(secret.expose(), text);
            }
        }
    }
}
