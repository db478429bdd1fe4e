//! Finds numbers that a preceding word calls accounts: `acct 12345678`, `sort code 20-00-00 55779911`.
//!
//! Decision: only marks and words such as "no." may stand between word and number. A plain word (`account`) requires 8
//! digits, an unambiguous one (`acct`) 7: invoices have fewer. A date counts only after an unambiguous word.

use super::tokens::Token;

/// Words for an account that also mean other things.
const PLAIN: [&str; 12] = [
    "account", "accounts", "acc", "konto", "konten", "compte", "cuenta", "conto", "conta", "rekening", "rachunek",
    "konta",
];
/// Words that mean only an account number.
const CLEAR: [&str; 12] = [
    "acct",
    "accts",
    "acctno",
    "accountno",
    "accountnumber",
    "kto",
    "ktonr",
    "kontonr",
    "kontonummer",
    "rekeningnummer",
    "iban",
    "clabe",
];
/// Words for a bank's number, which precedes an account number.
const BANK: [&str; 9] = ["routing", "aba", "rtn", "blz", "bankleitzahl", "bsb", "ifsc", "sortcode", "transit"];
const NUMBER_WORDS: [&str; 13] =
    ["no", "nr", "num", "number", "numbers", "nummer", "numero", "número", "n", "is", "ist", "code", "id"];
const LABELS_OF_FIELDS: [&str; 3] = ["sort", "swift", "bic"];
/// Words for other numbers: what directly follows one is not an account unless its check digits say so.
const OTHERS: [&str; 33] = [
    "invoice",
    "invoices",
    "inv",
    "rechnung",
    "bill",
    "order",
    "orders",
    "po",
    "purchase",
    "bestellung",
    "parcel",
    "tracking",
    "shipment",
    "sendung",
    "case",
    "ticket",
    "matter",
    "phone",
    "tel",
    "telephone",
    "mobile",
    "cell",
    "fax",
    "isin",
    "vin",
    "serial",
    "isbn",
    "ean",
    "permit",
    "apn",
    "lot",
    "trace",
    "uetr",
];

/// The digits, without grouping, of an account number after a plain word.
const PLAIN_DIGITS: std::ops::RangeInclusive<usize> = 8..=18;
const CLEAR_DIGITS: std::ops::RangeInclusive<usize> = 7..=18;
const BEHIND_BANK_DIGITS: std::ops::RangeInclusive<usize> = 6..=18;
const BANK_DIGITS: std::ops::RangeInclusive<usize> = 6..=9;
const GROUP: std::ops::RangeInclusive<usize> = 1..=6;
const MARKS_MAX: usize = 6;

pub(in crate::domain) fn is_account_label(word: &str) -> bool {
    [&PLAIN[..], &CLEAR, &BANK, &LABELS_OF_FIELDS].iter().any(|words| words.contains(&word))
        // "Is" is Iceland.
        || NUMBER_WORDS.contains(&word) && word != "is"
}

pub(in crate::domain) fn is_number_word(word: &str) -> bool {
    NUMBER_WORDS.contains(&word)
}

pub(in crate::domain) fn is_other_label(word: &str) -> bool {
    OTHERS.contains(&word)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Plain,
    Clear,
    Bank,
    Other,
}

#[derive(Debug)]
struct Number {
    groups: Vec<String>,
    end: usize,
}

impl Number {
    fn digits(&self) -> usize {
        self.groups.iter().map(String::len).sum()
    }
}

pub(super) fn has_labeled_account(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| match label(tokens, at) {
        Some((label @ (Label::Plain | Label::Clear), end)) => {
            let (label, start) = behind_number_words(tokens, label, end);
            account_at(tokens, start, label)
        }
        Some((Label::Bank, end)) => behind_bank(tokens, behind_number_words(tokens, Label::Bank, end).1),
        Some((Label::Other, _)) | None => false,
    }) || has_sort_code(tokens)
}

pub(super) fn is_labeled_as_another(tokens: &[Token], at: usize) -> bool {
    (at.saturating_sub(MARKS_MAX * 2)..at).any(|before| {
        matches!(label(tokens, before), Some((Label::Other, end)) if behind_number_words(tokens, Label::Other, end).1 == at)
    })
}

fn label(tokens: &[Token], at: usize) -> Option<(Label, usize)> {
    let word = tokens.get(at)?.word()?;
    let next = |ahead: usize| tokens.get(at + ahead);
    if matches!(word, "a" | "c") {
        let is_slashed = word == "a" && next(1)?.is_mark(|mark| mark == '/') && next(2)?.word() == Some("c");
        return is_slashed.then_some((Label::Clear, at + 3));
    }
    if word == "sort" && next(2).and_then(Token::word) == Some("code") {
        return Some((Label::Bank, at + 3));
    }
    let found = if CLEAR.contains(&word) {
        Label::Clear
    } else if BANK.contains(&word) {
        Label::Bank
    } else if OTHERS.contains(&word) {
        Label::Other
    } else if PLAIN.contains(&word) || word.ends_with("account") || word.ends_with("konto") {
        Label::Plain
    } else {
        return None;
    };
    Some((found, at + 1))
}

/// Where a word's number may begin: after marks and words such as "no.", which make a plain word unambiguous.
fn behind_number_words(tokens: &[Token], label: Label, from: usize) -> (Label, usize) {
    let (mut label, mut at, mut marks) = (label, from, 0);
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Word(word) if NUMBER_WORDS.contains(&word.as_str()) => {
                label = if label == Label::Plain && word != "is" && word != "ist" { Label::Clear } else { label };
                marks = 0;
            }
            Token::Mark(mark) if marks < MARKS_MAX && *mark != '+' && *mark != '*' => {
                label = if label == Label::Plain && *mark == '#' { Label::Clear } else { label };
                marks += 1;
            }
            _ => break,
        }
        at += 1;
    }
    (label, at)
}

fn account_at(tokens: &[Token], at: usize, label: Label) -> bool {
    let lengths = if label == Label::Clear { CLEAR_DIGITS } else { PLAIN_DIGITS };
    [number(tokens, at, true), number(tokens, at, false)].into_iter().flatten().any(|number| {
        let is_date = is_date(&number.groups) && (label != Label::Clear || number.groups.len() > 1);
        lengths.contains(&number.digits()) && !is_date && !is_amount(tokens, &number) && !begins_with_year(&number)
    })
}

fn behind_bank(tokens: &[Token], at: usize) -> bool {
    [number(tokens, at, true), number(tokens, at, false)].into_iter().flatten().any(|bank| {
        BANK_DIGITS.contains(&bank.digits()) && {
            let start = behind_joining_words(tokens, bank.end);
            number(tokens, start, false)
                .is_some_and(|account| BEHIND_BANK_DIGITS.contains(&account.digits()) && !is_amount(tokens, &account))
        }
    })
}

fn behind_joining_words(tokens: &[Token], from: usize) -> usize {
    let joins = |token: &Token| match token {
        Token::Mark(mark) => *mark != '+' && *mark != '*',
        Token::Word(word) => {
            matches!(word.as_str(), "and" | "und" | "a" | "c")
                || [&PLAIN[..], &CLEAR, &NUMBER_WORDS].iter().any(|words| words.contains(&word.as_str()))
        }
        Token::Digits(_) => false,
    };
    from + tokens.iter().skip(from).take(MARKS_MAX * 2).take_while(|token| joins(token)).count()
}

/// Whether a sort code precedes 8 digits, as in the United Kingdom: `20-00-00 55779911`.
fn has_sort_code(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| {
        let group = |ahead: usize| tokens.get(at + ahead).and_then(Token::digits);
        let is_hyphen = |ahead: usize| tokens.get(at + ahead).is_some_and(|token| token.is_mark(|mark| mark == '-'));
        let groups: Vec<String> = [0, 2, 4].into_iter().filter_map(group).map(str::to_owned).collect();
        let is_code = groups.len() == 3 && groups.iter().all(|group| group.len() == 2) && is_hyphen(1) && is_hyphen(3);
        let begins = at
            .checked_sub(1)
            .and_then(|before| tokens.get(before))
            .is_none_or(|token| !token.is_mark(|mark| mark == '-'));
        let is_apart = tokens.get(at + 5).is_some_and(|token| token.is_mark(|mark| mark == ' ' || mark == '/'));
        let account = group(6).filter(|digits| digits.len() == 8);
        is_code
            && begins
            && is_apart
            && !is_date(&groups)
            && account.is_some_and(|account| !is_date(&[account.to_owned()]))
    })
}

fn number(tokens: &[Token], at: usize, is_grouped: bool) -> Option<Number> {
    let mut groups = vec![tokens.get(at)?.digits()?.to_owned()];
    let mut end = at + 1;
    // The same mark separates all groups. Another begins something else, such as a date.
    let between = tokens.get(end).filter(|token| is_grouped && token.is_mark(|mark| " -./_".contains(mark)));
    while between.is_some()
        && tokens.get(end) == between
        && let Some(next) = tokens.get(end + 1).and_then(Token::digits)
    {
        if !GROUP.contains(&next.len()) || !groups.last().is_some_and(|last| GROUP.contains(&last.len())) {
            break;
        }
        groups.push(next.to_owned());
        end += 2;
    }
    Some(Number { groups, end })
}

/// Whether decimals follow: an amount, as in "on account 12345678.90".
fn is_amount(tokens: &[Token], number: &Number) -> bool {
    let is_mark = tokens.get(number.end).is_some_and(|token| token.is_mark(|mark| matches!(mark, '.' | ',')));
    let follows = tokens.get(number.end + 1).and_then(Token::digits);
    is_mark && follows.is_some_and(|digits| matches!(digits.len(), 1..=3))
}

/// Whether it begins with a year, as in "account 2026-0117".
fn begins_with_year(number: &Number) -> bool {
    number.groups.len() > 1 && number.groups.first().is_some_and(|first| first.len() == 4 && is_year(first))
}

fn is_year(digits: &str) -> bool {
    digits.starts_with("19") || digits.starts_with("20")
}

/// Whether digits are a date in a common order of year, month and day, in groups or not.
fn is_date(groups: &[String]) -> bool {
    let all = groups.concat();
    let part = |from: usize, to: usize| all.get(from..to).and_then(|part| part.parse::<u32>().ok()).unwrap_or_default();
    let (is_day, is_month) = (|day: u32| (1..=31).contains(&day), |month: u32| (1..=12).contains(&month));
    let is_either = |one: u32, other: u32| (is_day(one) && is_month(other)) || (is_month(one) && is_day(other));
    let lengths: Vec<usize> = groups.iter().map(String::len).collect();
    match (lengths.as_slice(), all.len()) {
        ([8] | [4, 2, 2] | [2, 2, 4], 8) => {
            let is_first = is_year(&all) && is_month(part(4, 6)) && is_day(part(6, 8));
            let is_last = all.get(4..).is_some_and(is_year) && is_either(part(0, 2), part(2, 4));
            is_first || is_last
        }
        ([6] | [2, 2, 2], 6) => is_either(part(0, 2), part(2, 4)) || (is_month(part(2, 4)) && is_day(part(4, 6))),
        _ => false,
    }
}
