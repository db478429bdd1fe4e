//! Splits a text into words, numbers and other characters, even where they are glued together (`ACCT12345678`).

use unicode_normalization::UnicodeNormalization;

use crate::wire::text::INVISIBLE;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Digits(String),
    Mark(char),
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }

    pub(super) fn digits(&self) -> Option<&str> {
        if let Self::Digits(digits) = self { Some(digits) } else { None }
    }

    pub(super) fn is_mark(&self, wanted: impl Fn(char) -> bool) -> bool {
        matches!(self, Self::Mark(mark) if wanted(*mark))
    }
}

/// Plain digits, dashes as hyphens, upper-case letters, nothing invisible, and no UUIDs, such as a payment's UETR.
pub(super) fn normalized(text: &str) -> Vec<char> {
    let is_visible = |letter: &char| !INVISIBLE.iter().any(|(first, last)| (first..=last).contains(&letter));
    let plain = |letter: char| match letter {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        letter if letter.is_whitespace() => ' ',
        letter => letter.to_ascii_uppercase(),
    };
    let mut letters: Vec<char> = text.nfkc().filter(is_visible).map(plain).collect();
    let mut at = 0;
    while at < letters.len() {
        let is_alone =
            at.checked_sub(1).and_then(|before| letters.get(before)).is_none_or(|letter| !letter.is_alphanumeric());
        if is_alone && begins_uuid(letters.get(at..).unwrap_or_default()) {
            letters.iter_mut().skip(at).take(UUID_CHARS).for_each(|letter| *letter = '|');
            at += UUID_CHARS;
        }
        at += 1;
    }
    letters
}

const UUID_CHARS: usize = 36;

fn begins_uuid(letters: &[char]) -> bool {
    let Some(found) = letters.get(..UUID_CHARS) else { return false };
    let fits = |(at, letter): (usize, &char)| {
        if matches!(at, 8 | 13 | 18 | 23) { *letter == '-' } else { letter.is_ascii_hexdigit() }
    };
    found.iter().enumerate().all(fits) && letters.get(UUID_CHARS).is_none_or(|next| !next.is_alphanumeric())
}

pub(super) fn tokens(letters: &[char]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for letter in letters {
        match (tokens.last_mut(), letter) {
            (Some(Token::Digits(digits)), letter) if letter.is_ascii_digit() => digits.push(*letter),
            (_, letter) if letter.is_ascii_digit() => tokens.push(Token::Digits(letter.to_string())),
            (Some(Token::Word(word)), letter) if letter.is_alphabetic() => word.extend(letter.to_lowercase()),
            (_, letter) if letter.is_alphabetic() => tokens.push(Token::Word(letter.to_lowercase().collect())),
            (_, letter) => tokens.push(Token::Mark(*letter)),
        }
    }
    tokens
}
