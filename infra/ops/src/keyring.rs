//! The keyring: the keys that seal secrets which the service must read again, such as signing secrets.
//!
//! The keyring is the value of a secret in Secrets Manager: JSON with the name of the current key and all keys. Functions
//! have the secret's name or ARN in `KEYRING_SECRET`. An operator creates it once, before the first deployment:
//!
//! ```sh
//! cargo run -q -p ops --example keyring -- new |
//!   aws secretsmanager create-secret --name countersign/keyring --secret-string file:///dev/stdin
//! ```
//!
//! and rotates it when a key may have leaked, or on a schedule:
//!
//! ```sh
//! aws secretsmanager get-secret-value --secret-id countersign/keyring --query SecretString --output text |
//!   cargo run -q -p ops --example keyring -- rotate > keyring.json
//! aws secretsmanager put-secret-value --secret-id countersign/keyring --secret-string file://keyring.json
//! shred -u keyring.json
//! ```
//!
//! The new key seals from then on. Functions reload the keyring after [`limits::KEYS_KEPT`] at the latest, and at once
//! when a record names a key that they do not have. Old keys stay, because they open what they have sealed: an endpoint's
//! signing secret is sealed with the new key only when its organization rotates that secret, which it must do if the old
//! key has leaked, and the secret of a second factor only when its owner turns it off and sets it up again. Remove a key
//! only when no record names it.

use shared::crypto::keyring::{Keyring, SealError};
use shared::domain::time::Timestamp;

#[cfg(doc)]
use shared::limits;

/// Creates the keyring of a new installation, with one key named after the day. [`Keyring::reveal`] is the secret's value.
///
/// # Errors
/// [`SealError::NoRandomness`] if the system provides none.
pub fn create(now: Timestamp) -> Result<Keyring, SealError> {
    Keyring::new(&now.day())
}

/// Adds a new key to the keyring with this value, as the current one. The other keys stay.
///
/// # Errors
/// [`SealError::NoKeys`] if the text is no keyring.
pub fn rotate(value: &str, now: Timestamp) -> Result<Keyring, SealError> {
    let keyring = Keyring::parse(value.trim())?;
    let day = now.day();
    // A name is never used twice: a key of the same name would replace the one that opens existing secrets.
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
    fn every_earlier_key_opens_and_the_newest_seals() {
        let now = Timestamp::now();
        let mut keyring = create(now).unwrap();
        let mut sealed = Vec::new();
        // Three rotations on one day.
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
    fn text_that_is_no_keyring_is_refused() {
        for text in ["", "{}", "countersign/keyring", r#"{"current": "a", "keys": {}}"#] {
            assert!(matches!(rotate(text, Timestamp::now()), Err(SealError::NoKeys(_))), "{text}");
        }
    }
}
