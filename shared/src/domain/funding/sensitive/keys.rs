//! Keys: texts that open a wallet or service for anyone who reads them.

use bip39::{Language, Mnemonic};

use crate::crypto;

pub(super) fn has_key(text: &str) -> bool {
    if text.contains("PRIVATE KEY-----") || has_words_of_a_wallet(text) {
        return true;
    }
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter: char| !is_part(letter)).any(|word| {
        let hexadecimal = word.strip_prefix("0x").unwrap_or(word);
        let is_private_key = hexadecimal.len() == 64 && hexadecimal.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_private_key || is_wallet_key(word) || is_extended_key(word) || is_access_key(word)
    })
}

/// Whether a word is a private key as wallets export it (base58 with a checksum).
fn is_wallet_key(word: &str) -> bool {
    const PRIVATE: [u8; 2] = [0x80, 0xef];
    if !(51..=52).contains(&word.len()) {
        return false;
    }
    let Some(bytes) = base58(word) else { return false };
    let Some((payload, checksum)) = bytes.split_last_chunk::<4>() else { return false };
    let is_private = payload.first().is_some_and(|version| PRIVATE.contains(version));
    is_private && crypto::sha256_twice(payload).starts_with(checksum)
}

fn base58(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut bytes: Vec<u8> = Vec::new();
    for letter in text.bytes() {
        let mut carry = u32::try_from(ALPHABET.iter().position(|known| *known == letter)?).ok()?;
        for byte in bytes.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = u8::try_from(carry & 0xff).ok()?;
            carry >>= 8;
        }
        while carry > 0 {
            bytes.insert(0, u8::try_from(carry & 0xff).ok()?);
            carry >>= 8;
        }
    }
    Some(bytes)
}

fn is_extended_key(word: &str) -> bool {
    ["xprv", "yprv", "zprv", "tprv"].iter().any(|prefix| word.starts_with(prefix)) && word.len() > 100
}

/// Whether a word is an access key of a common service or one of our tokens.
fn is_access_key(word: &str) -> bool {
    let is_aws = word.len() == 20 && (word.starts_with("AKIA") || word.starts_with("ASIA"));
    let is_prefixed = ["sk_live_", "sk_test_", "rk_live_", "ghp_", "github_pat_", "whsec_"]
        .iter()
        .any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| rest.len() >= 16));
    is_aws && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        || is_prefixed
        || crypto::TokenHash::of(word).is_some()
}

const WALLET_WORDS: [usize; 5] = [12, 15, 18, 21, 24];

/// Whether a text has a wallet's words in a row, with a valid checksum, even numbered, capitalized or amid other words.
fn has_words_of_a_wallet(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut run: Vec<&str> = Vec::new();
    for word in lower.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()) {
        if Language::English.find_word(word).is_none() {
            run.clear();
            continue;
        }
        run.push(word);
        let ends_here = |count: usize| {
            let words = run.len().checked_sub(count).and_then(|from| run.get(from..));
            words.is_some_and(|words| Mnemonic::parse_in_normalized(Language::English, &words.join(" ")).is_ok())
        };
        if WALLET_WORDS.into_iter().any(ends_here) {
            return true;
        }
    }
    false
}
