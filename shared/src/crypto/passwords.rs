//! Passwords, hashed with argon2id.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

/// A password could not be hashed.
#[derive(Debug, thiserror::Error)]
#[error("the password could not be hashed")]
pub struct HashingFailed;

/// Hashes a password with argon2id and a random salt, in the PHC string format.
pub fn hash_password(password: &str) -> Result<String, HashingFailed> {
    Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(|_| HashingFailed)
}

/// A hash that no password has, with [`hash_password`]'s settings: verifying a missing account takes as long.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm8gYWNjb3VudCBoZXJlIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Verifies a password. Without a hash, returns false after the same time.
#[must_use]
pub fn verify_password(password: &str, hash: Option<&str>) -> bool {
    let matches = Argon2::default().verify_password(password.as_bytes(), hash.unwrap_or(DUMMY_HASH)).is_ok();
    matches && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_hashed_with_argon2id() {
        assert!(hash_password("correct horse").unwrap().starts_with("$argon2id$"));
        assert_ne!(hash_password("a").unwrap(), hash_password("a").unwrap());
    }

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let hash = hash_password("correct horse").unwrap();
        assert!(verify_password("correct horse", Some(&hash)));
        for (password, hash) in
            [("Correct horse", Some(hash.as_str())), ("", Some(&hash)), ("", None), ("a", Some("x"))]
        {
            assert!(!verify_password(password, hash), "{password}");
        }
    }

    #[test]
    fn the_dummy_hash_has_the_same_settings() {
        let settings = |hash: &str| hash.rsplitn(3, '$').last().map(str::to_owned);
        assert_eq!(settings(DUMMY_HASH), settings(&hash_password("a").unwrap()));
        assert!(argon2::password_hash::phc::PasswordHash::new(DUMMY_HASH).is_ok());
    }
}
