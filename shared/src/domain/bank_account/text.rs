//! Numbers in instructions that are a free text, with their places.
//!
//! Decision: a number is every run of letters and digits with a digit in it, however short: a text can have an account in
//! parts, with anything between them. So a date and a house number are typed again too, rather than a part of an account left
//! out. Behind the word "BIC" or "SWIFT", what has the form of a BIC is one, too.
//!
//! Decision: groups of digits are one number where only blanks, or one mark without blanks, stand between them. So people find
//! the numbers of a text as a payee reads them out. Wherever two groups are taken for two numbers, each of them is typed.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::iban::Iban;
use super::numbers::{is_bic, looks_like_iban};
use crate::domain::sensitive::{is_account_label, is_number_word};
use crate::wire::text::{INVISIBLE, is_in};

/// The marks that stand between the groups of a number.
pub(super) const GROUPING: [char; 7] = ['-', '.', ',', '/', '_', '\'', '\u{2044}'];
/// The characters of the shortest IBAN.
const IBAN_CHARS_MIN: usize = 15;
/// The characters of an IBAN's groups.
const IBAN_GROUP: usize = 4;

/// A number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberInText {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// The number without what stands between its groups, in upper case.
    pub text: String,
    /// Whether it looks like an IBAN, or is called one, and is none.
    pub is_broken_iban: bool,
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

    fn has_digit(&self) -> bool {
        self.text.contains(|letter: char| letter.is_ascii_digit())
    }

    /// Whether it may be the country of an IBAN.
    fn is_country(&self) -> bool {
        self.text.len() == 2 && !self.has_digit()
    }

    fn is_grouped_with_the_one_before(&self) -> bool {
        self.gap.chars().all(|mark| mark == ' ') || GROUPING.iter().any(|mark| self.gap.chars().eq([*mark]))
    }
}

/// The numbers in a text, in their order.
#[must_use]
pub fn numbers_in(text: &str) -> Vec<NumberInText> {
    let runs = runs(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((before, rest)) = runs.split_at_checked(at).filter(|(_, rest)| !rest.is_empty()) {
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
fn number_at(runs: &[Run], before: &[Run]) -> Option<(NumberInText, usize)> {
    let first = runs.first()?;
    let number = |taken: usize, text: String, is_broken_iban: bool| {
        let end = runs.get(taken - 1).map_or(first.range.end, |last| last.range.end);
        (NumberInText { range: first.range.start..end, text, is_broken_iban }, taken)
    };
    if let Some((taken, iban)) = iban_at(runs) {
        return Some(number(taken, iban, false));
    }
    let is_behind_code = before.last().is_some_and(|run| matches!(run.text.as_str(), "BIC" | "SWIFT" | "CODE"));
    if is_behind_code && is_bic(&first.text) {
        return Some(number(1, first.text.clone(), false));
    }
    if !first.has_digit() {
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
    Some(number(taken, text, is_called_iban(before) || is_almost_iban(runs)))
}

/// The longest IBAN with which runs begin, and how many of them it takes.
fn iban_at(runs: &[Run]) -> Option<(usize, String)> {
    let (mut text, mut found) = (String::new(), None);
    for (at, run) in runs.iter().enumerate().take_while(|(at, run)| *at == 0 || run.is_grouped_with_the_one_before()) {
        text.push_str(if at == 0 { without_label(&run.text) } else { &run.text });
        if at == 0 && !run.is_country() && !looks_like_iban(&text) {
            return None;
        }
        if Iban::parse(&text).is_some() {
            found = Some((at + 1, text.clone()));
        }
    }
    found
}

/// Whether runs begin like an IBAN, and go on like one for long enough.
fn is_almost_iban(runs: &[Run]) -> bool {
    let Some((first, rest)) = runs.split_first() else { return false };
    let goes_on =
        |run: &&Run| run.is_grouped_with_the_one_before() && (run.has_digit() || run.text.len() == IBAN_GROUP);
    let begins = without_label(&first.text);
    let chars = begins.len() + rest.iter().take_while(goes_on).map(|run| run.text.len()).sum::<usize>();
    looks_like_iban(begins) && chars >= IBAN_CHARS_MIN
}

/// Whether the word "IBAN" is right before a number, or before words such as "no." or a country that are.
fn is_called_iban(before: &[Run]) -> bool {
    let mut before = before.iter().rev().peekable();
    before.next_if(|run| run.is_country());
    before.find(|run| !is_number_word(&run.text.to_lowercase())).is_some_and(|run| run.text == "IBAN")
}

/// A run without the word "IBAN" that is glued to it.
fn without_label(run: &str) -> &str {
    run.strip_prefix("IBAN").unwrap_or(run)
}

/// The letters and digits in a text that stand in a row. A label that is glued to a number (`ACCT12345678`) is a run of its
/// own. Letters that no number has, such as those of other scripts, are none.
fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut gap = String::new();
    for (at, letter) in text.char_indices().filter(|(_, letter)| !is_in(INVISIBLE, *letter)) {
        let end = at + letter.len_utf8();
        // One character may be several: "\u{2488}" is a digit and a point.
        for plain in std::iter::once(letter).nfkc().flat_map(char::to_uppercase) {
            if !plain.is_ascii_alphanumeric() {
                gap.push(match plain {
                    '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
                    '\n' | '\r' => '\n',
                    blank if blank.is_whitespace() => ' ',
                    other => other,
                });
                continue;
            }
            let is_behind_label = |run: &Run| plain.is_ascii_digit() && is_account_label(&run.text.to_lowercase());
            match runs.last_mut() {
                Some(run) if gap.is_empty() && !is_behind_label(run) => {
                    run.text.push(plain);
                    run.range.end = end;
                }
                _ => runs.push(Run { range: at..end, text: plain.to_string(), gap: std::mem::take(&mut gap) }),
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        numbers_in(text).into_iter().map(|number| number.text).collect()
    }

    #[test]
    fn every_number_is_found() {
        for (text, expected) in [
            ("Account 000123456789, reference 2026", vec!["000123456789", "2026"]),
            ("BSB 062-000, account 1234 5678", vec!["062000", "12345678"]),
            ("BSB062000 ACCT12345678", vec!["062000", "12345678"]),
            ("Pay DE89 3704 0044 0532 0130 00 at the branch in 10117 Berlin", vec!["DE89370400440532013000", "10117"]),
            ("IBAN GB29 NWBK 6016 1331 9268 19 by 17 May", vec!["GB29NWBK60161331926819", "17"]),
            ("IBANDE89 3704 0044 0532 0130 00", vec!["DE89370400440532013000"]),
            ("to NO 93 8601 1117 947", vec!["NO9386011117947"]),
            ("NO9386011117947", vec!["NO9386011117947"]),
            ("IBAN DE89.3704.0044.0532.0130.00", vec!["DE89370400440532013000"]),
            ("SWIFT: CHASUS33, for further credit to 000998877", vec!["CHASUS33", "000998877"]),
            ("SWIFT code DEUTDEFF", vec!["DEUTDEFF"]),
            ("Account 0001\u{200b}2345\u{2011}6789", vec!["000123456789"]),
            ("account 1234.5678.9012", vec!["123456789012"]),
            ("account 1234/5678/9012", vec!["123456789012"]),
            ("account 1234  5678\t9012", vec!["123456789012"]),
            ("account 1234\u{a0}\u{2009}5678", vec!["12345678"]),
            ("sort code 40.47.84", vec!["404784"]),
            ("account\n1234\n5678\r\n9012", vec!["1234", "5678", "9012"]),
            ("account 12, 34; 56 and 78", vec!["12", "34", "56", "78"]),
            ("account 12345678. 12 High Street", vec!["12345678", "12"]),
            ("Konto NL-7731-00998877", vec!["773100998877"]),
            ("Konto Ж12345", vec!["12345"]),
            ("Account １２３４５６７８", vec!["12345678"]),
            ("Account \u{2488}\u{2489}\u{248a}", vec!["123"]),
            ("Pay at the counter, 9 to 5, before 2027", vec!["9", "5", "2027"]),
            ("Pay at the counter", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
            for number in numbers_in(text) {
                let written = text.get(number.range).unwrap();
                assert!(!written.starts_with(' ') && !written.ends_with([' ', ',']), "{written}");
                assert!(!number.is_broken_iban, "{text}");
            }
        }
        assert!(has_other_digits("Account ٠١٢٣٤٥٦٧٨") && !has_other_digits("Account １２３ №"));
    }

    #[test]
    fn what_looks_like_an_iban_or_is_called_one_is_never_another_number() {
        for text in [
            "IBAN GB29 NWBK 6016 1331 9268 18",
            "GB29 NWBK 6016 1331 9268 18 by 17 May",
            "GB29.NWBK.6016.1331.9268.18",
            "GB29NWBK60161331926818",
            "IBANDE89 3704 0044 0532 0130 01",
            "IBAN no. 532013000",
            "IBAN: NO 94 8601 1117 947",
            "IBAN532013000",
        ] {
            assert!(numbers_in(text).iter().any(|number| number.is_broken_iban), "{text}");
        }
        for text in [
            "No IBAN, account 532013000",
            "Bank of Deeside, EH12 9DN, account 12345678",
            "Transfer to 000123456789 021000021",
            "Account no 000123456789 021000021",
        ] {
            assert!(numbers_in(text).iter().all(|number| !number.is_broken_iban), "{text}");
        }
    }
}
