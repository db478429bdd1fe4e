//! Secrets: tokens as they are given out, and what is kept of them and of passwords.

use std::fmt;

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use sha2::{Digest, Sha256};

/// The alphabet of tokens, in the order of its digits.
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// What every token begins with, so that a scanner can find one.
const TOKEN_PREFIX: &str = "cs_";
/// Random characters of a token: 238 bits.
const TOKEN_RANDOM_CHARS: usize = 40;
/// Characters of the checksum: enough for 32 bits.
const TOKEN_CHECKSUM_CHARS: usize = 6;

/// The system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no randomness")]
pub struct NoRandomness;

/// A new access token, shown once: `cs_`, 40 random base62 characters, and 6 of their CRC-32, so that a scanner can
/// tell a real one from a lookalike and a typing error needs no look-up.
///
/// # Errors
/// When the system gives no randomness.
pub fn new_token() -> Result<String, NoRandomness> {
    /// The largest multiple of 62 in a byte; what is above it would make the first digits likelier.
    const FAIR: u8 = 248;
    let mut body = String::from(TOKEN_PREFIX);
    while body.len() < TOKEN_PREFIX.len() + TOKEN_RANDOM_CHARS {
        let mut bytes = [0; TOKEN_RANDOM_CHARS];
        getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
        let missing = TOKEN_PREFIX.len() + TOKEN_RANDOM_CHARS - body.len();
        body.extend(bytes.into_iter().filter(|byte| *byte < FAIR).map(base62_digit).take(missing));
    }
    let checksum = checksum(&body);
    Ok(body + &checksum)
}

fn base62_digit(number: u8) -> char {
    char::from(BASE62[usize::from(number) % BASE62.len()])
}

/// The checksum of a token without it.
fn checksum(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; TOKEN_CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits.into_iter().map(char::from).collect()
}

/// What is kept of a token: its SHA-256. A token has enough randomness that a slow hash would add nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of a token, or nothing if it is no token: its form or its checksum is wrong.
    #[must_use]
    pub fn of(token: &str) -> Option<Self> {
        let random = token.strip_prefix(TOKEN_PREFIX)?;
        let well_formed = random.len() == TOKEN_RANDOM_CHARS + TOKEN_CHECKSUM_CHARS
            && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !well_formed {
            return None;
        }
        let (body, sum) = token.split_at(token.len() - TOKEN_CHECKSUM_CHARS);
        (checksum(body) == sum).then(|| Self(sha256(&[token.as_bytes()])))
    }

    /// A hash that was kept.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The hash, to be kept.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// SHA-256 over parts, each preceded by its length so that no two lists of parts are alike.
#[must_use]
pub fn fingerprint(parts: &[&[u8]]) -> [u8; 32] {
    let lengths: Vec<[u8; 8]> = parts.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
    let framed: Vec<&[u8]> = lengths.iter().zip(parts).flat_map(|(length, part)| [&length[..], part]).collect();
    sha256(&framed)
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// A password could not be hashed.
#[derive(Debug, thiserror::Error)]
#[error("the password could not be hashed")]
pub struct HashingFailed;

/// Hashes a password with argon2id and a random salt, in the PHC string format.
///
/// # Errors
/// When the system gives no randomness.
pub fn hash_password(password: &str) -> Result<String, HashingFailed> {
    Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(|_| HashingFailed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_form_and_checksum() {
        let token = new_token().unwrap();
        assert_eq!(token.len(), 49);
        assert_eq!(TokenHash::of(&token), TokenHash::of(&token));
        assert!(TokenHash::of(&token).is_some());
        assert_ne!(new_token().unwrap(), token);
    }

    #[test]
    fn one_changed_character_is_no_token() {
        let token = new_token().unwrap();
        for position in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[position] = if changed[position] == b'x' { b'y' } else { b'x' };
            assert_eq!(TokenHash::of(&String::from_utf8(changed).unwrap()), None, "position {position}");
        }
        for text in ["", "cs_", "é", &token[..48], &format!("{token}0"), &token.to_lowercase()] {
            assert_eq!(TokenHash::of(text), None, "{text}");
        }
    }

    #[test]
    fn parts_are_framed() {
        assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
    }

    #[test]
    fn a_password_is_hashed_with_argon2id() {
        assert!(hash_password("correct horse").unwrap().starts_with("$argon2id$"));
        assert_ne!(hash_password("a").unwrap(), hash_password("a").unwrap());
    }
}
