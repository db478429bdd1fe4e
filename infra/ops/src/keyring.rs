//! The keyring: keys that seal secrets which the service must read again, such as signing secrets.
//!
//! It is the value of a secret in Secrets Manager: JSON with all keys and the name of the current one. The template
//! creates the secret without a value, and functions find it by `KEYRING_SECRET`. An operator stores a keyring after
//! the first deployment, and rotates it on a schedule or when a key may have leaked (operators' handbook).
//!
//! After a rotation, the new key seals. Functions reload the keyring after [`limits::KEYS_KEPT`], or at once when a
//! record names a key they lack. Old keys stay, to open what they sealed: an endpoint's signing secret until its
//! organization rotates it (as it must if the key leaked), a second factor's secret until its owner turns it off.
//!
//! Links of participants and signatures of bundles made with an old key stay valid until [`retire`] ends that.

use bundle::PublicKey;
use bundle::keyring::{self, KeyringError};
use shared::crypto::keyring::{Keyring, NotRetired, Retired, SealError};
use shared::domain::time::Timestamp;

#[cfg(doc)]
use shared::limits;

/// Why a key was not retired.
#[derive(Debug, thiserror::Error)]
pub enum RetireError {
    /// The text isn't a keyring.
    #[error("{0}")]
    NoKeyring(#[from] SealError),
    /// The key is the current one.
    #[error("{0} is the current key: rotate the keyring first, so that there is another")]
    Current(String),
    /// The keyring never had the key.
    #[error("the keyring has no key {name}; it has {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The signing key can't be derived.
    #[error("{0}")]
    Key(#[from] KeyringError),
}

/// How to retire a key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retirement {
    /// When others may have obtained it, if they may.
    pub compromised_since: Option<Timestamp>,
    /// Whether to drop the key itself, and with it all that it sealed.
    pub loses_sealed: bool,
}

/// The result of retiring a key.
#[derive(Debug)]
pub struct RetiredKey {
    /// The new keyring.
    pub keyring: Keyring,
    /// The key that verifies its bundles.
    pub evidence_key: PublicKey,
    /// When others may have obtained it, in the words of verifiers.
    pub compromised_since: Option<String>,
    /// Whether it still opens what it sealed.
    pub opens: bool,
}

/// Retires a key: its links and signatures are now invalid. Repeating this only adds that it leaked, or leaked earlier.
pub fn retire(value: &str, name: &str, how: Retirement) -> Result<RetiredKey, RetireError> {
    let keyring = Keyring::parse(value.trim())?;
    if !keyring.has(name) {
        let known = keyring.names().into_iter().collect::<Vec<_>>().join(", ");
        return Err(RetireError::Unknown { name: name.to_owned(), known });
    }
    let evidence_key = keyring::public_key(&keyring, name)?;
    let known = keyring.retired(name).and_then(|retired| retired.compromised_since.clone());
    // Times compare as text. A key that leaked once stays leaked.
    let told = how.compromised_since.map(|since| since.to_string());
    let compromised_since = known.into_iter().chain(told).min();
    let opens = keyring.opens(name) && !how.loses_sealed;
    let retired = Retired { evidence_key: *evidence_key.bytes(), compromised_since: compromised_since.clone() };
    let keyring = keyring.retire(name, retired, opens).map_err(|refused| match refused {
        NotRetired::Current => RetireError::Current(name.to_owned()),
        NotRetired::Unknown => RetireError::Unknown { name: name.to_owned(), known: String::new() },
    })?;
    Ok(RetiredKey { keyring, evidence_key, compromised_since, opens })
}

/// Creates a new installation's keyring, with one key named after the day. [`Keyring::reveal`] is the secret's value.
pub fn create(now: Timestamp) -> Result<Keyring, SealError> {
    Keyring::new(&now.day())
}

/// Adds a new current key to the keyring with this value. The other keys stay.
pub fn rotate(value: &str, now: Timestamp) -> Result<Keyring, SealError> {
    let keyring = Keyring::parse(value.trim())?;
    let day = now.day();
    // Never reuse a name: the new key would replace the one that opens existing secrets.
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

    fn signed(keyring: &Keyring) -> Vec<u8> {
        let about = bundle::About { service: "s", organization_id: "o", agreement_id: "a", created_at: "t" };
        bundle::write(&about, &[], &bundle::keyring::signing_key(keyring).unwrap()).unwrap()
    }

    fn verdict(bundle: &[u8], keyring: &Keyring) -> String {
        bundle::verify(bundle, &bundle::keyring::key_document(keyring).unwrap()).to_string()
    }

    #[test]
    fn bundles_of_a_retired_key_stay_checkable_and_those_of_a_leaked_one_say_so() {
        let now = Timestamp::now();
        let first = create(now).unwrap();
        let (name, sealed, old) = (now.day(), first.seal("secret", "a place").unwrap(), signed(&first));
        let rotated = rotate(&first.reveal(), now).unwrap().reveal();
        let since = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        for loses_sealed in [false, true] {
            let how = Retirement { loses_sealed, ..Retirement::default() };
            let retired = retire(&rotated, &name, how).unwrap();
            assert!(verdict(&old, &retired.keyring).starts_with("VERIFIED: "));
            assert!(verdict(&old, &retired.keyring).contains(retired.evidence_key.id()));
            assert_eq!(retired.keyring.open(&sealed, "a place").is_ok(), !loses_sealed);
            assert!(verdict(&signed(&retired.keyring), &retired.keyring).starts_with("VERIFIED: "));
            let again = retire(&retired.keyring.reveal(), &name, Retirement::default()).unwrap();
            assert_eq!((again.keyring.reveal(), again.opens), (retired.keyring.reveal(), !loses_sealed));
            let leaked = Retirement { compromised_since: since("2026-11-20T09:00:00Z"), loses_sealed };
            let leaked = retire(&retired.keyring.reveal(), &name, leaked).unwrap().keyring.reveal();
            for (told, said) in [
                (None, "2026-11-20T09:00:00.000Z"),
                (since("2026-11-21T09:00:00Z"), "2026-11-20T09:00:00.000Z"),
                (since("2026-11-19T09:00:00Z"), "2026-11-19T09:00:00.000Z"),
            ] {
                let how = Retirement { compromised_since: told, loses_sealed: false };
                let again = retire(&leaked, &name, how).unwrap();
                assert_eq!(again.compromised_since.as_deref(), Some(said));
                let verdict = verdict(&old, &again.keyring);
                assert!(
                    verdict.contains(&format!(
                        "compromised key   manifest.json: others may have had the key that it names since {said}"
                    )),
                    "{verdict}"
                );
                assert!(verdict.ends_with("NOT VERIFIED: 1 problem"), "{verdict}");
            }
            let next = rotate(&leaked, now).unwrap();
            assert_eq!(next.names().len(), 3, "the name of a retired key is not used again");
        }
    }

    #[test]
    fn the_current_key_is_not_retired_and_so_never_the_last_one() {
        let now = Timestamp::now();
        let only = create(now).unwrap().reveal();
        let refused = |value: &str, name: &str| retire(value, name, Retirement::default()).unwrap_err().to_string();
        assert!(refused(&only, &now.day()).contains("rotate the keyring first"));
        let rotated = rotate(&only, now).unwrap().reveal();
        assert!(refused(&rotated, &format!("{}-2", now.day())).contains("is the current key"));
        assert!(refused(&rotated, "2020-01-01").ends_with(&format!("it has {0}, {0}-2", now.day())));
        assert!(refused("{}", "2020-01-01").contains("a keyring is"));
    }

    #[test]
    fn text_that_is_no_keyring_is_refused() {
        for text in ["", "{}", "countersign/keyring", r#"{"current": "a", "keys": {}}"#] {
            assert!(matches!(rotate(text, Timestamp::now()), Err(SealError::NoKeys(_))), "{text}");
        }
    }
}
