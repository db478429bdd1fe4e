//! Secrets: tokens as they are given out, and what is kept of them and of passwords.

pub mod keyring;
pub mod signing_secret;

use std::fmt;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use hmac::{Hmac, KeyInit, Mac};
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
pub fn hash_password(password: &str) -> Result<String, HashingFailed> {
    Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(|_| HashingFailed)
}

/// What stands in for the password of an account that there is not, so that checking takes as long: the settings are
/// those of [`hash_password`], and no password has this hash.
const NOBODYS_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm8gYWNjb3VudCBoZXJlIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Whether a password is the one that was kept. Without one to compare with it takes as long, and it is not.
#[must_use]
pub fn verify_password(password: &str, kept: Option<&str>) -> bool {
    let matches = Argon2::default().verify_password(password.as_bytes(), kept.unwrap_or(NOBODYS_PASSWORD)).is_ok();
    matches && kept.is_some()
}

/// The secret of a browser: of a session, or of a form that is shown before there is one. 256 bits, in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieSecret(String);

/// What is kept of a session's secret: its SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretHash([u8; 32]);

impl CookieSecret {
    const BYTES: usize = 32;

    /// A new secret.
    pub fn new() -> Result<Self, NoRandomness> {
        let mut bytes = [0; Self::BYTES];
        getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
        Ok(Self(hex(&bytes)))
    }

    /// Reads a cookie's value, or nothing if it has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 2 * Self::BYTES && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The secret itself, for its cookie only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash(sha256(&[self.0.as_bytes()]))
    }

    /// What every form in this browser carries. Whoever does not know the secret can't make it, and it does not tell
    /// the secret.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.form_mac().map(|mac| hex(&mac.finalize().into_bytes())).unwrap_or_default()
    }

    /// Whether a form carries that. Takes as long for every wrong one.
    #[must_use]
    pub fn fits(&self, form_token: &str) -> bool {
        let bytes: Option<Vec<u8>> = form_token
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let (Some(bytes), Some(mac)) = (bytes, self.form_mac()) else { return false };
        mac.verify_slice(&bytes).is_ok()
    }

    fn form_mac(&self) -> Option<Hmac<Sha256>> {
        // A key of any length will do.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok()?;
        mac.update(b"countersign form 1");
        Some(mac)
    }
}

impl fmt::Debug for CookieSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BrowserSecret")
    }
}

impl fmt::Display for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

/// What a file is known by: its SHA-256, in hexadecimal.
#[must_use]
pub fn sha256_hex(file: &[u8]) -> String {
    hex(&sha256(&[file]))
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
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

    #[test]
    fn a_password_is_known_again_and_nobody_has_none() {
        let kept = hash_password("correct horse").unwrap();
        assert!(verify_password("correct horse", Some(&kept)));
        for (password, kept) in
            [("Correct horse", Some(kept.as_str())), ("", Some(&kept)), ("", None), ("a", Some("x"))]
        {
            assert!(!verify_password(password, kept), "{password}");
        }
    }

    #[test]
    fn looking_for_nobody_takes_as_long() {
        let settings = |hash: &str| hash.rsplitn(3, '$').last().map(str::to_owned);
        assert_eq!(settings(NOBODYS_PASSWORD), settings(&hash_password("a").unwrap()));
        assert!(argon2::password_hash::phc::PasswordHash::new(NOBODYS_PASSWORD).is_ok());
    }

    #[test]
    fn a_form_goes_with_the_secret_of_its_browser() {
        let (mine, foreign) = (CookieSecret::new().unwrap(), CookieSecret::new().unwrap());
        assert!(mine.fits(&mine.form_token()));
        assert_eq!(CookieSecret::parse(mine.reveal()), Some(mine.clone()));
        assert_ne!(mine.form_token(), mine.hash().to_string());
        for token in ["", "0", "é", &foreign.form_token(), &mine.form_token()[..62], &(mine.form_token() + "00")] {
            assert!(!mine.fits(token), "{token}");
        }
        for text in ["", "00", &mine.reveal().to_uppercase(), &format!("{}0", mine.reveal())] {
            assert!(CookieSecret::parse(text).is_none() || text == mine.reveal(), "{text}");
        }
    }
}
