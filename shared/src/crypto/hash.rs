//! SHA-256, HMAC and hexadecimal.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// SHA-256 over parts, each prefixed with its length, so that different lists have different hashes.
#[must_use]
pub fn fingerprint(parts: &[&[u8]]) -> [u8; 32] {
    let lengths: Vec<[u8; 8]> = parts.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
    let framed: Vec<&[u8]> = lengths.iter().zip(parts).flat_map(|(length, part)| [&length[..], part]).collect();
    sha256(&framed)
}

pub(super) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// HMAC-SHA-256 with a key of one block.
#[must_use]
pub fn keyed_hash(key: &[u8; 64], text: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new(&(*key).into());
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// Double SHA-256, as in the checksum of wallets' keys.
#[must_use]
pub fn sha256_twice(bytes: &[u8]) -> [u8; 32] {
    sha256(&[&sha256(&[bytes])])
}

/// A file's SHA-256 in hexadecimal: its name in the file store.
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
    fn parts_are_framed() {
        assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
    }
}
