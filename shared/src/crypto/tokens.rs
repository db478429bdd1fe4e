use std::fmt;

use super::hash::{hex, sha256};
use super::{NoRandomness, random_bytes};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Secret scanners find tokens by this prefix.
const TOKEN_PREFIX: &str = "cs_";
/// Random characters of a token: 238 bits.
const TOKEN_RANDOM_CHARS: usize = 40;
/// Enough for a checksum of 32 bits.
const TOKEN_CHECKSUM_CHARS: usize = 6;

/// Random bytes for a token; one in 32 is skipped.
const TOKEN_BYTES: usize = 160;

/// A new access token, to be shown once.
pub fn new_token() -> Result<String, NoRandomness> {
    token_of(&random_bytes()?)
}

/// Makes an access token: `cs_`, 40 random base62 characters, and 6 of their CRC-32, by which scanners identify it.
fn token_of(bytes: &[u8; TOKEN_BYTES]) -> Result<String, NoRandomness> {
    /// The largest multiple of 62 in a byte. Larger bytes would favor the first digits.
    const FAIR: u8 = 248;
    let mut body = String::from(TOKEN_PREFIX);
    body.extend(bytes.iter().filter(|byte| **byte < FAIR).map(|byte| base62_digit(*byte)).take(TOKEN_RANDOM_CHARS));
    if body.len() < TOKEN_PREFIX.len() + TOKEN_RANDOM_CHARS {
        return Err(NoRandomness);
    }
    let checksum = checksum(&body);
    Ok(body + &checksum)
}

fn base62_digit(number: u8) -> char {
    char::from(BASE62[usize::from(number) % BASE62.len()])
}

fn checksum(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; TOKEN_CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits.into_iter().map(char::from).collect()
}

/// The SHA-256 under which a token is stored. Tokens are too random to need a slow hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// A token's hash, or `None` if the text isn't a token: its form or checksum is wrong.
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

    /// Reads a stored hash.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_recognized_by_its_form_and_checksum() {
        let token = new_token().unwrap();
        assert_eq!(token.len(), 49);
        assert_eq!(TokenHash::of(&token), TokenHash::of(&token));
        assert!(TokenHash::of(&token).is_some());
        assert_ne!(new_token().unwrap(), token);
        let bytes = std::array::from_fn(|at| u8::try_from(at).unwrap_or_default());
        assert_eq!(token_of(&bytes).unwrap(), token_of(&bytes).unwrap());
        assert!(token_of(&[255; TOKEN_BYTES]).is_err());
    }

    #[test]
    fn a_token_with_a_changed_character_is_refused() {
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
}
