//! What no fact, name or note of funding may contain: numbers of accounts and cards, social security numbers, keys.
//!
//! What looks like an account is decided as everywhere else ([`sensitive`](crate::domain::sensitive)). Facts of assets are full of other long
//! numbers, though: those that a word before them calls a parcel, a recorded instrument, a CUSIP or a phone are no accounts.
//!
//! Decision: the twelve to twenty-four words of a wallet are known by their form, without the list of words: so many
//! lower-case words in a row without one of those that no English sentence does without, and that no such list has.

use crate::crypto;
use crate::domain::sensitive::{has_account_number, has_card_number, has_iban};
use crate::wire::fields::FieldCode;

/// What is said to a person who typed one.
const REFUSED: &str =
    "must have no full account number, card number, social security number or key; the last 4 characters are enough";

/// Checks a text.
///
/// # Errors
/// `sensitive_value`.
pub fn check(text: &str) -> Result<(), (FieldCode, String)> {
    let is_sensitive = has_key(text)
        || has_card_number(&without_named_groups(text))
        || has_iban(text)
        || has_social_security_number(text)
        || has_account_number(&without_named_numbers(text));
    refuse(is_sensitive)
}

/// Checks a registered identifier, which may be a long number.
///
/// # Errors
/// `sensitive_value`.
pub fn check_identifier(text: &str) -> Result<(), (FieldCode, String)> {
    refuse(has_key(text) || has_card_number(text) || has_iban(text) || has_social_security_number(text))
}

fn refuse(is_sensitive: bool) -> Result<(), (FieldCode, String)> {
    if is_sensitive { Err((FieldCode::SensitiveValue, REFUSED.to_owned())) } else { Ok(()) }
}

/// Words that mark the long number behind them as public, or as that of a contract that moves no money on its own.
const NAMING: [&str; 26] = [
    "parcel",
    "apn",
    "folio",
    "tax",
    "pin",
    "instrument",
    "document",
    "doc",
    "recording",
    "reception",
    "book",
    "cusip",
    "sedol",
    "phone",
    "tel",
    "mobile",
    "fax",
    "registration",
    "patent",
    "serial",
    "policy",
    "certificate",
    "title",
    "docket",
    "isin",
    "vin",
];
/// Words that may stand between such a word and its number.
const BETWEEN: [&str; 6] = ["no", "nr", "number", "id", "lot", "is"];

/// The text without the numbers that a word before them names.
fn without_named_numbers(text: &str) -> String {
    without_named(text, |_| true)
}

/// The text without those of them that have hyphens where no card has them, as parcels and folios do: one in ten of these
/// would fit the check digit of a card.
fn without_named_groups(text: &str) -> String {
    const CARDS: [&[usize]; 3] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 4, 4, 4, 3]];
    without_named(text, |number| {
        let groups: Vec<usize> = number.split('-').map(str::len).collect();
        groups.len() > 1 && !CARDS.contains(&groups.as_slice())
    })
}

/// The text without those of the numbers that a word before them names for which something holds.
fn without_named(text: &str, is_left_out: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_named = false;
    let is_number = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    for word in text.split_inclusive(|letter: char| !(letter.is_alphanumeric() || letter == '-')) {
        let bare = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let lower = bare.to_lowercase();
        if NAMING.contains(&lower.as_str()) {
            is_named = true;
        } else if is_number(bare) {
            if is_named && is_left_out(bare) {
                kept.push('…');
                kept.push_str(word.get(bare.len()..).unwrap_or_default());
                continue;
            }
        } else if !bare.is_empty() && !BETWEEN.contains(&lower.as_str()) {
            is_named = false;
        }
        kept.push_str(word);
    }
    kept
}

/// Whether a text has a social security number or a taxpayer's number in its usual form, `123-45-6789`. A parcel may have
/// that form, if a word says that it is one.
fn has_social_security_number(text: &str) -> bool {
    let text = without_named_numbers(text);
    let letters: Vec<char> = text.chars().collect();
    let is_edge = |at: Option<usize>| {
        at.and_then(|at| letters.get(at)).is_none_or(|letter| !letter.is_alphanumeric() && *letter != '-')
    };
    letters
        .windows(SSN_CHARS)
        .enumerate()
        .any(|(at, window)| is_ssn(window) && is_edge(at.checked_sub(1)) && is_edge(Some(at + SSN_CHARS)))
}

const SSN_CHARS: usize = 11;

/// Whether these characters are a number that can have been issued: no group is all zeros, and none begins with 666.
fn is_ssn(window: &[char]) -> bool {
    let mut separators = Vec::new();
    let mut groups = vec![String::new()];
    for letter in window {
        match letter {
            '-' | ' ' | '\u{2011}' | '\u{2013}' => {
                separators.push(*letter);
                groups.push(String::new());
            }
            digit if digit.is_ascii_digit() => {
                groups.iter_mut().next_back().into_iter().for_each(|group| group.push(*digit));
            }
            _ => return false,
        }
    }
    let [area, group, serial] = groups.as_slice() else { return false };
    let is_one_kind = separators.windows(2).all(|pair| pair.first() == pair.get(1));
    let lengths = (area.len(), group.len(), serial.len()) == (3, 2, 4);
    is_one_kind && lengths && area != "000" && area != "666" && group != "00" && serial != "0000"
}

/// Whether a text has a private key, an access token, or the words of a wallet.
fn has_key(text: &str) -> bool {
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

/// The bytes of a text in base58. None if a character is none of it.
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

/// Whether a word is an extended private key of a wallet.
fn is_extended_key(word: &str) -> bool {
    ["xprv", "yprv", "zprv", "tprv"].iter().any(|prefix| word.starts_with(prefix)) && word.len() > 100
}

/// Whether a word is an access key of a common service, or one of our own tokens.
fn is_access_key(word: &str) -> bool {
    let is_aws = word.len() == 20 && (word.starts_with("AKIA") || word.starts_with("ASIA"));
    let is_prefixed = ["sk_live_", "sk_test_", "rk_live_", "ghp_", "github_pat_", "whsec_"]
        .iter()
        .any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| rest.len() >= 16));
    is_aws && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        || is_prefixed
        || crypto::TokenHash::of(word).is_some()
}

/// Words that no list of a wallet's words has, and that hardly any twelve words of a sentence do without.
const SENTENCE_WORDS: [&str; 20] = [
    "the", "and", "for", "with", "from", "are", "was", "were", "has", "had", "his", "her", "its", "our", "their",
    "which", "who", "not", "but", "per",
];

fn has_words_of_a_wallet(text: &str) -> bool {
    const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];
    let is_word = |word: &str| {
        (3..=8).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !SENTENCE_WORDS.contains(&word)
    };
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|word| !word.is_empty());
    // Some people number them.
    let words = words.filter(|word| !word.trim_end_matches(['.', ')']).bytes().all(|byte| byte.is_ascii_digit()));
    let mut run = 0;
    for word in words {
        run = if is_word(word) { run + 1 } else { 0 };
        if run >= COUNTS[0] {
            return true;
        }
    }
    COUNTS.contains(&run)
}

#[cfg(test)]
mod tests;
