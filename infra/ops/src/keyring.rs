//! The keyring that seals what must be read again, such as signing secrets.
//!
//! It is the value of a secret in Secrets Manager, whose name or ARN functions have in `KEYRING_SECRET`: a JSON text
//! with the name of the current key and all keys. An operator makes it once, before the first deployment:
//!
//! ```sh
//! cargo run -q -p ops --example keyring -- new |
//!   aws secretsmanager create-secret --name countersign/keyring --secret-string file:///dev/stdin
//! ```
//!
//! and rotates it when a key may be known to somebody, or by the calendar:
//!
//! ```sh
//! aws secretsmanager get-secret-value --secret-id countersign/keyring --query SecretString --output text |
//!   cargo run -q -p ops --example keyring -- rotate > keyring.json
//! aws secretsmanager put-secret-value --secret-id countersign/keyring --secret-string file://keyring.json
//! shred -u keyring.json
//! ```
//!
//! The new key seals from then on; functions use it at the latest after [`limits::KEYS_KEPT`], and look at once where a
//! record needs it sooner. The old keys stay, for what they have sealed: an endpoint's signing secret is sealed anew
//! when its people rotate it. If an old key is known to somebody, they have to; only when no record names a key any more
//! may it be taken out.

use shared::crypto::keyring::{Keyring, SealError};
use shared::domain::time::Timestamp;

#[cfg(doc)]
use shared::limits;

/// A keyring for a new installation, with one key named after the day. [`Keyring::reveal`] gives the text that is kept.
///
/// # Errors
/// When the system gives no randomness.
pub fn create(now: Timestamp) -> Result<Keyring, SealError> {
    Keyring::new(&now.day())
}

/// The keyring that is kept as this text, with a new key as the current one. The others stay as they are.
///
/// # Errors
/// When the text is no keyring, or the system gives no randomness.
pub fn rotate(kept: &str, now: Timestamp) -> Result<Keyring, SealError> {
    let keyring = Keyring::parse(kept.trim())?;
    let day = now.day();
    // A name is never used twice: what the earlier key sealed would not open any more.
    let mut name = day.clone();
    let mut count = 1_u32;
    while keyring.has(&name) {
        count += 1;
        name = format!("{day}-{count}");
    }
    keyring.with_new_key(&name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    #[test]
    fn what_any_earlier_key_sealed_opens_and_the_newest_seals() {
        let now = Timestamp::now();
        let mut keyring = create(now).unwrap();
        let mut sealed = Vec::new();
        // Thrice a day too.
        for round in 0..3 {
            sealed.push(keyring.seal(&format!("secret {round}"), "a place").unwrap());
            keyring = rotate(&format!("{}\n", keyring.reveal()), now).unwrap();
        }
        for (round, sealed) in sealed.iter().enumerate() {
            assert_eq!(keyring.open(sealed, "a place").unwrap(), format!("secret {round}"));
            assert!(!keyring.is_current(sealed));
        }
        assert!(keyring.is_current(&keyring.seal("another", "a place").unwrap()));
    }

    #[test]
    fn nothing_is_made_of_what_is_no_keyring() {
        for text in ["", "{}", "countersign/keyring", r#"{"current": "a", "keys": {}}"#] {
            assert!(matches!(rotate(text, Timestamp::now()), Err(SealError::NoKeys(_))), "{text}");
        }
    }
}
