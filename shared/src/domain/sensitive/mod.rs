//! Finds account and card numbers that people write where they shouldn't, in texts that others see.
//!
//! Every place uses this module, so all refuse the same. A new kind of secret is another [`Sensitive`].
//!
//! Decision: numbers with check digits (IBANs, cards) are found wherever they begin and however grouped, other accounts
//! by length or a preceding word (`labels`). Dates, phones with a plus, and identifiers with letters don't count.

mod labels;
mod tokens;

use super::bank_account::iban::Iban;
use tokens::{Token, normalized, tokens};

pub(in crate::domain) use labels::{is_account_label, is_number_word, is_other_label};

const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
pub(in crate::domain) const CARD_GROUPS: [&[usize]; 3] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 4, 4, 4, 3]];
const ACCOUNT_DIGITS_MIN: usize = 9;
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;
const CARD_WORDS: [&str; 8] = ["CARD", "VISA", "MASTERCARD", "MC", "AMEX", "CC", "PAN", "DISCOVER"];

/// A kind of number that must not be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitive {
    /// A card number with a valid check digit (Luhn), in any grouping.
    CardNumber,
    /// An IBAN with valid check digits, in any grouping.
    Iban,
    /// What looks like another account number: 9 digits or more, but no phone number; or fewer after a word for it.
    AccountNumber,
}

type Finder = fn(&[char]) -> bool;

const KINDS: [(Sensitive, Finder); 3] =
    [(Sensitive::CardNumber, any_card), (Sensitive::Iban, any_iban), (Sensitive::AccountNumber, any_account)];

/// The first kind of sensitive number in a text.
#[must_use]
pub fn find(text: &str) -> Option<Sensitive> {
    let letters = normalized(text);
    KINDS.into_iter().find(|(_, is_in)| is_in(&letters)).map(|(kind, _)| kind)
}

/// Whether a text has what looks like an account or card number.
#[must_use]
pub fn has_account_number(text: &str) -> bool {
    find(text).is_some()
}

/// Whether a text has a card number with a valid check digit, in any grouping.
#[must_use]
pub fn has_card_number(text: &str) -> bool {
    any_card(&normalized(text))
}

/// Whether a text has an IBAN, in any grouping.
#[must_use]
pub fn has_iban(text: &str) -> bool {
    any_iban(&normalized(text))
}

pub(in crate::domain) fn plain(text: &str) -> String {
    normalized(text).into_iter().collect()
}

fn any_word(letters: &[char], holds: impl Fn(&[char]) -> bool) -> bool {
    let before = |at: usize| at.checked_sub(1).and_then(|before| letters.get(before));
    // A plus begins a phone number.
    let begins = |at: &usize| before(*at).is_none_or(|letter| !letter.is_alphanumeric() && *letter != '+');
    (0..letters.len()).filter(begins).any(|at| holds(letters.get(at..).unwrap_or_default()))
}

fn any_card(letters: &[char]) -> bool {
    any_word(letters, |rest| {
        let glued = CARD_WORDS.iter().any(|word| {
            let length = word.chars().count();
            word.chars().eq(rest.iter().copied().take(length)) && begins_card(rest.get(length..).unwrap_or_default())
        });
        glued || begins_card(rest)
    })
}

fn any_iban(letters: &[char]) -> bool {
    any_word(letters, |rest| begins_iban(rest) || has_glued_iban(rest))
}

fn any_account(letters: &[char]) -> bool {
    let tokens = tokens(letters);
    let is_long = |(at, token): (usize, &Token)| {
        let digits = token.digits().map_or(0, str::len);
        let beside = |token: Option<&Token>| token.is_some_and(|token| token.word().is_some());
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        digits >= ACCOUNT_DIGITS_MIN
            && !beside(before)
            && !beside(tokens.get(at + 1))
            && !is_phone(&tokens, at)
            && !labels::is_labeled_as_another(&tokens, at)
    };
    tokens.iter().enumerate().any(is_long) || labels::has_labeled_account(&tokens)
}

/// Whether a phone number's plus precedes a number or its country code.
fn is_phone(tokens: &[Token], at: usize) -> bool {
    let back = |count: usize| at.checked_sub(count).and_then(|before| tokens.get(before));
    let is_plus = |token: Option<&Token>| token.is_some_and(|token| token.is_mark(|mark| mark == '+'));
    let country = back(2).and_then(Token::digits).is_some_and(|code| code.len() <= 3);
    is_plus(back(1)) || (country && is_plus(back(3)))
}

fn compacted(letters: &[char], is: impl Fn(char) -> bool, most: usize) -> impl Iterator<Item = (String, bool)> {
    let mut found = Vec::new();
    let mut compact = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if is(*letter) {
            compact.push(*letter);
            let ends = letters.get(at + 1).is_none_or(|next| !next.is_alphanumeric());
            found.push((compact.clone(), ends));
        } else if !matches!(letter, ' ' | '-') {
            break;
        }
        if compact.len() >= most {
            break;
        }
    }
    found.into_iter()
}

fn begins_card(letters: &[char]) -> bool {
    let runs = compacted(letters, |letter| letter.is_ascii_digit(), *CARD_DIGITS.end());
    runs.into_iter().any(|(digits, ends)| ends && is_card(&digits)) || begins_dotted_card(letters)
}

fn is_card(digits: &str) -> bool {
    CARD_DIGITS.contains(&digits.len()) && digits.starts_with(['2', '3', '4', '5', '6']) && is_luhn(digits)
}

/// Other groups separated by points are amounts, versions and addresses.
fn begins_dotted_card(letters: &[char]) -> bool {
    let dotted: String = letters.iter().take_while(|letter| letter.is_ascii_digit() || **letter == '.').collect();
    let is_apart = letters.get(dotted.len()).is_none_or(|next| !next.is_alphanumeric());
    let groups: Vec<&str> = dotted.trim_end_matches('.').split('.').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    is_apart && CARD_GROUPS.contains(&lengths.as_slice()) && is_card(&groups.concat())
}

fn begins_iban(letters: &[char]) -> bool {
    let runs = compacted(letters, |letter| letter.is_ascii_alphanumeric(), *IBAN_CHARS.end());
    runs.into_iter().any(|(text, ends)| ends && is_iban(&text))
}

/// Whether an IBAN is glued to letters before, and possibly after, it: `IBANGB29NWBK…`.
fn has_glued_iban(letters: &[char]) -> bool {
    let word: String = letters.iter().take_while(|letter| letter.is_ascii_alphanumeric()).collect();
    let prefix = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    // The last two letters before the first digit are the country.
    let Some(found) = prefix.checked_sub(2).and_then(|start| word.get(start..)) else { return false };
    let is_left = |length: usize| found.bytes().skip(length).all(|letter| letter.is_ascii_alphabetic());
    IBAN_CHARS.into_iter().any(|length| is_left(length) && found.get(..length).is_some_and(is_iban))
}

fn is_iban(text: &str) -> bool {
    IBAN_CHARS.contains(&text.len()) && Iban::parse(text).is_some()
}

fn is_luhn(digits: &str) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let values = digits.bytes().rev().map(|digit| u32::from(digit - b'0')).enumerate();
    let sum: u32 = values.map(|(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit }).sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests;
