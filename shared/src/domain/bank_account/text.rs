//! Numbers in instructions that are a free text, with their places.
//!
//! Decision: what could be an account or a code is every number of 5 digits or more, also one with letters in it, every IBAN,
//! and what has the form of a BIC with a digit in it or follows the word "BIC" or "SWIFT". Years and house numbers are
//! shorter; a phone number is asked for too, rather than an account left out. Groups of digits with a blank or a dash between
//! them are one number.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::iban::Iban;
use super::numbers::{is_bic, looks_like_iban};
use crate::domain::sensitive::is_account_label;
use crate::wire::text::{INVISIBLE, is_in};

/// The digits from which on a number could be an account or a code.
const DIGITS_MIN: usize = 5;

/// A number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberInText {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// The number without blanks and dashes, in upper case.
    pub text: String,
    /// Whether it could be an account or a code.
    pub may_name_account: bool,
}

/// Letters and digits in a row.
struct Run {
    range: Range<usize>,
    text: String,
    /// What stands before it that can be seen.
    gap: String,
}

impl Run {
    fn begins_with_digit(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_ascii_digit())
    }

    fn is_grouped_with_the_one_before(&self) -> bool {
        matches!(self.gap.as_str(), " " | "-")
    }
}

/// The numbers in a text, in their order.
#[must_use]
pub fn numbers_in(text: &str) -> Vec<NumberInText> {
    let runs = runs(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = runs.get(at..).filter(|rest| !rest.is_empty()) {
        let before = at.checked_sub(1).and_then(|before| runs.get(before)).map_or("", |run| run.text.as_str());
        match number_at(rest, before) {
            Some((number, taken)) => {
                found.push(number);
                at += taken;
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a text has digits that are not 0 to 9, in which a number would be overlooked.
#[must_use]
pub fn has_other_digits(text: &str) -> bool {
    text.nfkc().any(|letter| letter.is_numeric() && !letter.is_ascii_digit())
}

/// The number with which runs begin, and how many of them it takes.
fn number_at(runs: &[Run], before: &str) -> Option<(NumberInText, usize)> {
    let first = runs.first()?;
    let number = |taken: usize, text: String, may_name_account: bool| {
        let end = runs.get(taken - 1).map_or(first.range.end, |last| last.range.end);
        (NumberInText { range: first.range.start..end, text, may_name_account }, taken)
    };
    if let Some((taken, iban)) = iban_at(runs) {
        return Some(number(taken, iban, true));
    }
    let is_labeled_code = matches!(before, "BIC" | "SWIFT" | "CODE") && is_bic(&first.text);
    if is_labeled_code {
        return Some(number(1, first.text.clone(), true));
    }
    if !first.text.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let (mut text, mut taken) = (first.text.clone(), 1);
    while let Some(next) = runs.get(taken)
        && next.is_grouped_with_the_one_before()
        && next.begins_with_digit()
        && text.ends_with(|letter: char| letter.is_ascii_digit())
    {
        text.push_str(&next.text);
        taken += 1;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let may_name_account = digits >= DIGITS_MIN || is_bic(&text);
    Some(number(taken, text, may_name_account))
}

/// The longest IBAN with which runs begin, and how many of them it takes.
fn iban_at(runs: &[Run]) -> Option<(usize, String)> {
    if !looks_like_iban(&runs.first()?.text) {
        return None;
    }
    let (mut text, mut found) = (String::new(), None);
    for (at, run) in runs.iter().enumerate().take_while(|(at, run)| *at == 0 || run.is_grouped_with_the_one_before()) {
        text.push_str(&run.text);
        if Iban::parse(&text).is_some() {
            found = Some((at + 1, text.clone()));
        }
    }
    found
}

/// The letters and digits in a text that stand in a row. A label that is glued to a number (`ACCT12345678`) is a run of its
/// own.
fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut gap = String::new();
    for (at, letter) in text.char_indices() {
        if is_in(INVISIBLE, letter) {
            continue;
        }
        let end = at + letter.len_utf8();
        let plain: String = std::iter::once(letter).nfkc().flat_map(char::to_uppercase).collect();
        if !plain.chars().all(char::is_alphanumeric) {
            match letter {
                '\u{2010}'..='\u{2015}' | '\u{2212}' => gap.push('-'),
                '\u{a0}' | '\u{2007}' | '\u{202f}' => gap.push(' '),
                other => gap.push(other),
            }
            continue;
        }
        let begins_number = plain.starts_with(|letter: char| letter.is_ascii_digit());
        let is_behind_label = |run: &Run| begins_number && is_account_label(&run.text.to_lowercase());
        match runs.last_mut() {
            Some(run) if gap.is_empty() && !is_behind_label(run) => {
                run.text.push_str(&plain);
                run.range.end = end;
            }
            _ => runs.push(Run { range: at..end, text: plain, gap: std::mem::take(&mut gap) }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_that_could_be_an_account_or_a_code_is_found() {
        for (text, expected) in [
            ("Account 000123456789, reference 2026", vec!["000123456789"]),
            ("BSB 062-000, account 1234 5678", vec!["062000", "12345678"]),
            ("BSB062000 ACCT12345678", vec!["062000", "12345678"]),
            ("Pay DE89 3704 0044 0532 0130 00 at the branch in 10117 Berlin", vec!["DE89370400440532013000", "10117"]),
            ("IBAN GB29 NWBK 6016 1331 9268 19 by 17 May", vec!["GB29NWBK60161331926819"]),
            ("SWIFT: CHASUS33, for further credit to 000998877", vec!["CHASUS33", "000998877"]),
            ("SWIFT code DEUTDEFF", vec!["DEUTDEFF"]),
            ("Account 0001\u{200b}2345\u{2011}6789", vec!["000123456789"]),
            ("Konto NL-7731-00998877", vec!["773100998877"]),
            ("Account １２３４５６７８", vec!["12345678"]),
            ("Pay at the counter, 9 to 5, before 2027", vec![]),
        ] {
            let found = numbers_in(text);
            let named: Vec<_> = found.iter().filter(|number| number.may_name_account).collect();
            assert_eq!(named.iter().map(|number| number.text.as_str()).collect::<Vec<_>>(), expected, "{text}");
            for number in found {
                let written = text.get(number.range).unwrap();
                assert!(!written.starts_with(' ') && !written.ends_with([' ', ',']), "{written}");
            }
        }
        assert!(has_other_digits("Account ٠١٢٣٤٥٦٧٨") && !has_other_digits("Account １２３ №"));
    }
}
