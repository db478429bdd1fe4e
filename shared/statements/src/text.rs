//! Cleans texts from files: one line, no invisible characters, no account numbers.
//!
//! Decision: IBANs and the statement's own account number are cut to `…` and their last four characters, since pages
//! show no account numbers. Numbers that only look like accounts stay: references are made of them.

use std::borrow::Cow;

use crate::limits;

const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;
const ENDING_CHARS: usize = 4;
/// Fewest characters of an account number that is searched for in texts, or whose ending may be kept.
const ACCOUNT_CHARS_MIN: usize = 6;
/// A quoted word with more digits may be an account number.
const QUOTED_DIGITS_MAX: usize = 8;

/// Puts a text on one line: collapses whitespace, drops invisible and direction-changing characters.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            if !cleaned.is_empty() && !cleaned.ends_with(' ') {
                cleaned.push(' ');
            }
        } else if !is_invisible(letter) {
            cleaned.push(letter);
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Shortens to `most` characters; a shortened text ends in `…`.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Quotes a value in a message: cleaned, shortened, and only the last four characters of a possible account number.
pub(crate) fn quoted(value: &str) -> String {
    let value = masked(&clean(&shortened(value, limits::TEXT_CHARS_MAX)), None).into_owned();
    let words: Vec<String> = value.split(' ').map(quoted_word).collect();
    format!("“{}”", shortened(&words.join(" "), limits::QUOTE_CHARS_MAX))
}

fn quoted_word(word: &str) -> String {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    if digits > QUOTED_DIGITS_MAX { ending_of(word) } else { word.to_owned() }
}

/// The last four letters and digits of an account number, unless they'd be most of it.
pub(crate) fn account_ending(number: &str) -> Option<String> {
    let compact: Vec<char> = number.chars().filter(char::is_ascii_alphanumeric).collect();
    let kept = compact.len().checked_sub(ENDING_CHARS).filter(|_| compact.len() >= ACCOUNT_CHARS_MIN)?;
    Some(compact.iter().skip(kept).map(char::to_ascii_uppercase).collect())
}

fn ending_of(number: &str) -> String {
    account_ending(number).map_or("…".to_owned(), |ending| format!("…{ending}"))
}

/// A text in which IBANs and the given account number have only their last four characters.
pub(crate) fn masked<'a>(text: &'a str, account: Option<&str>) -> Cow<'a, str> {
    // IBANs first: they may have the account number in them.
    let masked = without_ibans(text).map_or(Cow::Borrowed(text), Cow::Owned);
    match account.filter(|account| account.len() >= ACCOUNT_CHARS_MIN && masked.contains(account)) {
        None => masked,
        Some(account) => Cow::Owned(masked.replace(account, &ending_of(account))),
    }
}

fn without_ibans(text: &str) -> Option<String> {
    let mut result: Option<String> = None;
    let mut done = 0;
    let mut before_is_word = false;
    for (at, letter) in text.char_indices() {
        let begins = !before_is_word && letter.is_ascii_alphabetic();
        before_is_word = letter.is_alphanumeric();
        if at < done || !begins {
            continue;
        }
        let Some(length) = text.get(at..).and_then(iban_length) else { continue };
        let into = result.get_or_insert_default();
        into.push_str(text.get(done..at).unwrap_or_default());
        done = at + length;
        into.push_str(&ending_of(text.get(at..done).unwrap_or_default()));
    }
    result.map(|mut result| {
        result.push_str(text.get(done..).unwrap_or_default());
        result
    })
}

/// The bytes of the longest IBAN with which a text begins, however it is grouped.
fn iban_length(text: &str) -> Option<usize> {
    let start = text.as_bytes().get(..4)?;
    if !start.iter().take(2).all(u8::is_ascii_alphabetic) || !start.iter().skip(2).all(u8::is_ascii_digit) {
        return None;
    }
    let mut compact = String::new();
    let mut found = None;
    for (at, letter) in text.char_indices() {
        if letter.is_ascii_alphanumeric() {
            compact.push(letter.to_ascii_uppercase());
            if compact.len() > *IBAN_CHARS.end() {
                break;
            }
            let ends =
                text.get(at + 1..).and_then(|rest| rest.chars().next()).is_none_or(|next| !next.is_alphanumeric());
            if ends && IBAN_CHARS.contains(&compact.len()) && compact.parse::<iban::Iban>().is_ok() {
                found = Some(at + 1);
            }
        } else if !matches!(letter, ' ' | '-') {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_on_one_line_and_have_nothing_invisible() {
        assert_eq!(clean("  Deposit\r\n\tUnit\u{a0}4B\u{202e}\u{200b} "), "Deposit Unit 4B");
        assert_eq!(clean("\u{0}\n"), "");
    }

    #[test]
    fn long_texts_end_visibly() {
        assert_eq!(shortened("Größe", 5), "Größe");
        assert_eq!(shortened("Größen", 5), "Größ…");
    }

    #[test]
    fn account_numbers_have_only_their_ending() {
        for (text, expected) in [
            ("from DE89370400440532013000.", "from …3000."),
            ("DE89 3704 0044 0532 0130 00 rent", "…3000 rent"),
            ("de89-3704-0044-0532-0130-00", "…3000"),
            ("a DE89370400440532013000 b GB82WEST12345698765432 c", "a …3000 b …5432 c"),
            ("DE89370400440532013001", "DE89370400440532013001"),
            ("XGB82WEST12345698765432", "XGB82WEST12345698765432"),
            ("Überweisung 123456", "Überweisung 123456"),
            ("acct 0532013000 INV-1", "acct …3000 INV-1"),
        ] {
            assert_eq!(masked(text, Some("0532013000")), expected);
        }
    }

    #[test]
    fn endings_never_are_the_number() {
        assert_eq!(account_ending("DE89 3704 0044 0532 0130 00").as_deref(), Some("3000"));
        assert_eq!(account_ending("12345"), None);
        assert_eq!(account_ending(""), None);
    }

    #[test]
    fn quotes_are_short_and_have_no_account_number() {
        assert_eq!(quoted("12.5x"), "“12.5x”");
        assert_eq!(quoted("account 000123456789"), "“account …6789”");
        assert!(quoted(&"é".repeat(5000)).chars().count() <= limits::QUOTE_CHARS_MAX + 2);
    }
}
