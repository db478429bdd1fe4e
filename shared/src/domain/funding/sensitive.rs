//! Finds what funding texts must not contain: account and card numbers, social security numbers, keys.
//!
//! Facts of assets are full of other long numbers, so unlike [`sensitive`](crate::domain::sensitive), `named` exempts
//! parcels, recorded instruments and phones by the word before them, and securities by their check digit.

use crate::domain::sensitive::{has_account_number, has_card_number, has_iban};
use crate::wire::fields::FieldCode;

mod keys;
mod named;

use keys::has_key;
use named::{joined, without_named_groups, without_named_numbers, without_parcels};

const REFUSED: &str =
    "must have no full account number, card number, social security number or key; the last 4 characters are enough";

/// Refuses sensitive texts.
pub fn check(text: &str) -> Result<(), (FieldCode, String)> {
    let joined = joined(text);
    let is_sensitive = has_key(text)
        || has_card_number(&without_named_groups(&joined))
        || has_iban(text)
        || has_social_security_number(&without_parcels(&joined))
        || has_account_number(&without_named_numbers(&joined));
    refuse(is_sensitive)
}

/// Checks a registered identifier, which may be a long number.
pub fn check_identifier(text: &str) -> Result<(), (FieldCode, String)> {
    let joined = joined(text);
    let taxpayer = without_parcels(&joined);
    refuse(has_key(text) || has_card_number(&joined) || has_iban(text) || has_social_security_number(&taxpayer))
}

fn refuse(is_sensitive: bool) -> Result<(), (FieldCode, String)> {
    if is_sensitive { Err((FieldCode::SensitiveValue, REFUSED.to_owned())) } else { Ok(()) }
}

const TAXPAYER_WORDS: [&str; 5] = ["SSN", "SS", "TIN", "ITIN", "TAXID"];

/// Whether a text has a social security or taxpayer number in its usual form, `123-45-6789`, not called a parcel.
fn has_social_security_number(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let is_edge = |letter: Option<&char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && *letter != '-');
    let begins = |at: usize| {
        let before = letters.get(..at).unwrap_or_default();
        let glued: Vec<char> = before.iter().rev().take_while(|letter| letter.is_alphabetic()).copied().collect();
        let glued: String = glued.into_iter().rev().collect();
        is_edge(before.last()) || TAXPAYER_WORDS.contains(&glued.as_str())
    };
    let ends = |at: usize| is_edge(letters.get(at));
    letters.windows(SSN_CHARS).enumerate().any(|(at, window)| is_ssn(window) && begins(at) && ends(at + SSN_CHARS))
}

const SSN_CHARS: usize = 11;

/// Whether the number can have been issued: no group is all zeros, and the first is not 666.
fn is_ssn(window: &[char]) -> bool {
    let mut separators = Vec::new();
    let mut groups = vec![String::new()];
    for letter in window {
        match letter {
            '-' | ' ' | '.' => {
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

#[cfg(test)]
mod tests;
