//! Account and card numbers in answers that are not bank details: people write them where they should not. The API leaves
//! such answers out (contract, section 2, "Information submission"); the member who reads the answers sees them.

/// The lengths of card numbers, in digits.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// The digits in a row from which on a number looks like that of an account.
const ACCOUNT_DIGITS_MIN: usize = 9;
/// The length of an IBAN, in characters.
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;

/// Whether a text has what looks like an account number or a card number: an IBAN or a card number with a checksum that
/// fits, however it is grouped, or 9 digits or more in a row that belong to no word and to no phone number with its plus.
#[must_use]
pub fn has_account_number(text: &str) -> bool {
    any_word(text, |rest, before| {
        begins_card(rest) || begins_iban(rest) || (before != Some('+') && has_long_number(rest))
    })
}

/// Whether a text has a card number with a checksum that fits, however it is grouped.
#[must_use]
pub fn has_card_number(text: &str) -> bool {
    any_word(text, |rest, _| begins_card(rest))
}

/// Whether a text has an IBAN, however it is grouped.
#[must_use]
pub fn has_iban(text: &str) -> bool {
    any_word(text, |rest, _| begins_iban(rest))
}

/// Whether something holds for a text from the beginning of one of its words on, and the character before that.
fn any_word(text: &str, holds: impl Fn(&[char], Option<char>) -> bool) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let before = |at: usize| at.checked_sub(1).and_then(|before| letters.get(before).copied());
    let begins = |at: &usize| before(*at).is_none_or(|letter| !letter.is_alphanumeric());
    (0..letters.len()).filter(begins).any(|at| holds(letters.get(at..).unwrap_or_default(), before(at)))
}

/// The digits or letters with which a text begins, and the blanks and hyphens among them left out.
fn compacted(letters: &[char], is: impl Fn(char) -> bool, most: usize) -> impl Iterator<Item = (String, bool)> {
    let mut found = Vec::new();
    let mut compact = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if is(*letter) {
            compact.push(letter.to_ascii_uppercase());
            let ends = letters.get(at + 1).is_none_or(|next| !next.is_alphanumeric());
            found.push((compact.clone(), ends));
        } else if !matches!(letter, ' ' | '-' | '\u{a0}') {
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
    runs.into_iter().any(|(digits, ends)| {
        ends && CARD_DIGITS.contains(&digits.len()) && digits.starts_with(['2', '3', '4', '5', '6']) && is_luhn(&digits)
    })
}

fn begins_iban(letters: &[char]) -> bool {
    let runs = compacted(letters, |letter| letter.is_ascii_alphanumeric(), *IBAN_CHARS.end());
    runs.into_iter().any(|(text, ends)| ends && IBAN_CHARS.contains(&text.len()) && text.parse::<iban::Iban>().is_ok())
}

fn has_long_number(letters: &[char]) -> bool {
    let digits = letters.iter().take_while(|letter| letter.is_ascii_digit()).count();
    digits >= ACCOUNT_DIGITS_MIN && letters.get(digits).is_none_or(|next| !next.is_alphanumeric())
}

/// Whether the check digit of a card number fits (Luhn).
fn is_luhn(digits: &str) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let values = digits.bytes().rev().map(|digit| u32::from(digit - b'0')).enumerate();
    let sum: u32 = values.map(|(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit }).sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_accounts_and_cards_are_found_and_ordinary_facts_are_not() {
        for text in [
            "4111 1111 1111 1111",
            "my card 5555-5555-5555-4444, thanks",
            "Pay to DE89 3704 0044 0532 0130 00 please",
            "de89370400440532013000",
            "Account 000123456789",
            "000123456789.",
            "(123456789)",
            "61109010140000071219812874",
        ] {
            assert!(has_account_number(text), "{text}");
        }
        for text in [
            "",
            "Ada Okafor",
            "4111 1111 1111 1112",
            "GB82 WEST 1234 5698 7654 33",
            "1HGCM82633A004352",
            "US0378331005",
            "parcel 123-456-789-000",
            "+14155550100",
            "+1 415 555 0100",
            "(415) 555-0100",
            "12/31/2026",
            "20261231",
            "USD 1,250,000.00",
            "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35",
        ] {
            assert!(!has_account_number(text), "{text}");
        }
    }
}
