//! Long numbers that are no accounts, because a word before them or their own form says what they are.

use crate::domain::sensitive::{CARD_GROUPS, plain};

/// Words that mark the long number after them as public, or as a contract's that moves no money alone.
const NAMING: [&str; 30] = [
    "parcel",
    "apn",
    "ain",
    "pid",
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
    "telephone",
    "tel",
    "mobile",
    "cell",
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
/// Of these, the ones that keep `123-45-6789` from being a social security number.
const OF_PARCELS: [&str; 6] = ["parcel", "apn", "ain", "pid", "folio", "pin"];
/// A word that names both parcel and taxpayer numbers: nine plain digits count as the latter.
const TAX: &str = "tax";
const BETWEEN: [&str; 9] = ["no", "nr", "number", "numbers", "id", "identification", "identifier", "lot", "is"];
const LOT: &str = "lot";
const REACHING: [&str; 5] = ["call", "contact", "reach", "text", "whatsapp"];
const REACHING_WORDS_MAX: usize = 4;
/// Words that make a number an account's or taxpayer's, whatever else it may be.
const OF_ACCOUNTS: [&str; 20] = [
    "account", "accounts", "acct", "acc", "bank", "checking", "savings", "deposit", "wire", "routing", "aba", "iban",
    "konto", "kto", "card", "ssn", "tin", "itin", "social", "taxpayer",
];

/// The text in plain characters, with initials (`A.P.N.` is `APN`) and hyphens between digits joined.
pub(super) fn joined(text: &str) -> String {
    let letters: Vec<char> = plain(text).chars().collect();
    let mut joined: Vec<char> = Vec::with_capacity(letters.len());
    for (at, letter) in letters.iter().enumerate() {
        let is_left_out = match letter {
            '.' => is_between_initials(&letters, at, &joined),
            ' ' => is_beside_hyphen(letters.get(at..).unwrap_or_default(), &joined),
            _ => false,
        };
        if !is_left_out {
            joined.push(*letter);
        }
    }
    joined.into_iter().collect()
}

fn is_between_initials(letters: &[char], at: usize, joined: &[char]) -> bool {
    let is_letter = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.is_alphabetic());
    let is_initial = |at: usize| is_letter(Some(at)) && !is_letter(at.checked_sub(1)) && !is_letter(Some(at + 1));
    let is_behind_others = joined.len() > 1 && joined.iter().rev().take(2).all(|letter| letter.is_alphabetic());
    at.checked_sub(1).is_some_and(is_initial) && (is_initial(at + 1) || is_behind_others)
}

fn is_beside_hyphen(rest: &[char], joined: &[char]) -> bool {
    let mut ahead = rest.iter().filter(|letter| **letter != ' ');
    let is_digit = |letter: Option<&char>| letter.is_some_and(char::is_ascii_digit);
    match joined {
        [.., before, '-'] => before.is_ascii_digit() && is_digit(ahead.next()),
        [.., before] => before.is_ascii_digit() && ahead.next() == Some(&'-') && is_digit(ahead.next()),
        [] => false,
    }
}

/// The text without numbers that a word before them names, phones of people to call, and securities (by check digit).
pub(super) fn without_named_numbers(text: &str) -> String {
    let is_of_account = words(text).any(|word| OF_ACCOUNTS.contains(&word.to_lowercase().as_str()));
    without(text, |number, before| {
        let is_taxpayer =
            before.naming == Some(Naming::Tax) && number.len() == 9 && number.bytes().all(|byte| byte.is_ascii_digit());
        (before.naming.is_some() && !is_taxpayer)
            || (before.is_reaching && is_phone(number))
            || (!is_of_account && is_cusip(number))
    })
}

pub(super) fn without_parcels(text: &str) -> String {
    without(text, |_, before| before.naming == Some(Naming::Parcel))
}

/// The text without named numbers hyphenated unlike cards: one in ten would pass a card's check digit.
pub(super) fn without_named_groups(text: &str) -> String {
    without(text, |number, before| {
        let groups: Vec<usize> = number.split('-').map(str::len).collect();
        before.naming.is_some() && groups.len() > 1 && !CARD_GROUPS.contains(&groups.as_slice())
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    Parcel,
    Tax,
    Other,
}

#[derive(Debug, Clone, Copy, Default)]
struct Before {
    naming: Option<Naming>,
    is_reaching: bool,
}

fn without(text: &str, is_left_out: impl Fn(&str, Before) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut before, mut since) = (Before::default(), 0);
    for word in text.split_inclusive(|letter: char| !(letter.is_alphanumeric() || letter == '-')) {
        let bare = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let lower = bare.to_lowercase();
        if NAMING.contains(&lower.as_str()) {
            before.naming = Some(match before.naming {
                Some(Naming::Parcel) => Naming::Parcel,
                _ if OF_PARCELS.contains(&lower.as_str()) => Naming::Parcel,
                Some(Naming::Tax) => Naming::Tax,
                _ if lower == TAX => Naming::Tax,
                _ => Naming::Other,
            });
        } else if bare.bytes().any(|byte| byte.is_ascii_digit()) {
            if is_left_out(bare, before) {
                kept.push('…');
                kept.push_str(word.get(bare.len()..).unwrap_or_default());
                continue;
            }
        } else if !bare.is_empty() && !BETWEEN.contains(&lower.as_str()) {
            before.naming = None;
        } else if lower == LOT && before.naming == Some(Naming::Tax) {
            before.naming = Some(Naming::Parcel);
        }
        if REACHING.contains(&lower.as_str()) {
            (before.is_reaching, since) = (true, 0);
        } else if !bare.is_empty() {
            since += 1;
            before.is_reaching &= since <= REACHING_WORDS_MAX && !OF_ACCOUNTS.contains(&lower.as_str());
        }
        kept.push_str(word);
    }
    kept
}

/// Whether a number can be a North American phone: area and exchange codes that don't begin with 0 or 1, and a line.
fn is_phone(number: &str) -> bool {
    let can_begin = |at: usize| number.as_bytes().get(at).is_some_and(|digit| (b'2'..=b'9').contains(digit));
    number.len() == 10 && number.bytes().all(|byte| byte.is_ascii_digit()) && can_begin(0) && can_begin(3)
}

/// Whether a number is a CUSIP with a valid check digit: every second character counts twice.
fn is_cusip(number: &str) -> bool {
    let letters: Vec<u32> = number.chars().filter_map(|letter| letter.to_digit(36)).collect();
    let Some((check, first)) = letters.split_last().filter(|_| number.len() == 9 && letters.len() == 9) else {
        return false;
    };
    let counted = first.iter().enumerate().map(|(at, value)| if at % 2 == 1 { value * 2 } else { *value });
    let sum: u32 = counted.map(|value| value / 10 + value % 10).sum();
    (10 - sum % 10) % 10 == *check
}
