//! Finds numbers, with their positions, in free-text payment instructions.
//!
//! - Decision: every run with a digit is a number, since accounts may be split: retyping a date costs little.
//! - Decision: a word with the form of a BIC counts as one: in capitals anywhere, otherwise after "BIC", "SWIFT" or
//!   "code". Instructions are often all capitals, so ordinary words that no bank has as its code (`BENEFICIARY`:
//!   Finland) count only after such a label. For other words (`BARCLAYS`: Laos), the prompt says that it may be a word.
//! - Decision: numbers that could be overlooked or misread are refused on entry: other digits or numerals, IBANs or
//!   BICs with letters of another script, invalid IBANs, and what is called a routing number but isn't.
//! - Decision: groups of digits are one number if only blanks, or one mark without blanks, separate them.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::iban::Iban;
use super::numbers::{ROUTING_DIGITS, behind_bic_label, is_bic, is_glued_label, is_routing_number, looks_like_iban};
use crate::domain::sensitive::{is_account_label, is_number_word, is_other_label};
use crate::wire::text::{INVISIBLE, is_in};

pub(super) const GROUPING: [char; 8] = ['-', '.', ',', ':', '/', '_', '\'', '\u{2044}'];
const IBAN_CHARS_MIN: usize = 15;
const IBAN_GROUP: usize = 4;

const IBAN_GAP_MAX: usize = 3;
const BIC_GROUPS: [usize; 4] = [4, 2, 2, 3];
const WORDS_BEHIND_LABEL_MAX: usize = 6;
/// The shortest text that counts as the number of a label some words before it.
const CHARS_BEHIND_WORDS_MIN: usize = 9;

/// Words in payment instructions that happen to have the form of a BIC.
const ORDINARY_WORDS: [&str; 69] = [
    "ASSOCIATION",
    "AUCKLAND",
    "BENEFICIARY",
    "BRANCHES",
    "BRISBANE",
    "BUDAPEST",
    "BUILDERS",
    "BUSINESS",
    "CALLBACK",
    "CASHIERS",
    "CHECKING",
    "COMMERCE",
    "CUSTOMER",
    "DELIVERY",
    "DEPOSITS",
    "DESTINATION",
    "DISPATCH",
    "DOCUMENT",
    "DOMESTIC",
    "ENGINEERING",
    "ENTITLED",
    "EUROPEAN",
    "FEBRUARY",
    "FINANCES",
    "HOLDINGS",
    "ILLINOIS",
    "INDICATE",
    "INDIVIDUALS",
    "INSTITUTION",
    "INSTRUCTION",
    "INTEREST",
    "INVESTMENTS",
    "INVESTOR",
    "JAPANESE",
    "MARYLAND",
    "MONTREAL",
    "MORTGAGE",
    "NETHERLANDS",
    "OBTAINED",
    "OFFICIAL",
    "ORIGINAL",
    "OVERSEAS",
    "PAKISTAN",
    "PARTNERS",
    "PLUMBING",
    "POLICIES",
    "PREVIOUS",
    "PROCEEDS",
    "PROJECTS",
    "PROMPTLY",
    "PROPERTY",
    "PROVIDED",
    "PROVIDER",
    "PURSUANT",
    "REGISTER",
    "REGISTRY",
    "REMITTER",
    "REQUIRED",
    "REQUIRES",
    "RETAINER",
    "SCOTLAND",
    "SHANGHAI",
    "SHIPMENT",
    "SUPPLIER",
    "THAILAND",
    "THURSDAY",
    "TRANSACTION",
    "TRUCKING",
    "VIRGINIA",
];

/// Cyrillic and Greek letters, and the Latin ones they resemble.
const LOOKALIKES: [(&str, &str); 4] = [
    ("АВЕЅІЈКМНОРСТУҮХԌԚԜ", "ABESIJKMHOPCTYYXGQW"),
    ("аеѕіјорсухԛԝ", "aesijopcyxqw"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "ABEZHIKMNOPTYXC"),
    ("οϲϳ", "ocj"),
];

const IDEOGRAPHIC_NUMERALS: &str =
    "〇零一二三四五六七八九十百千廿卅壹壱弌贰貳貮弍弐叁參参叄弎肆伍陆陸柒漆捌玖拾佰仟两兩";

/// What is wrong with a number in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFault {
    /// It looks like an IBAN, or is called one, but isn't.
    Iban,
    /// It is called a routing number, but isn't.
    RoutingNumber,
}

/// A number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberInText {
    /// Its position, in bytes.
    pub range: Range<usize>,
    /// The number without marks between its groups, in upper case.
    pub text: String,
    /// What is wrong with it.
    pub fault: Option<NumberFault>,
}

struct Run {
    range: Range<usize>,
    text: String,
    gap: String,
    is_in_capitals: bool,
}

impl Run {
    fn begins_with_digit(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_ascii_digit())
    }

    fn has_digit(&self) -> bool {
        self.text.contains(|letter: char| letter.is_ascii_digit())
    }

    fn is_country(&self) -> bool {
        self.text.len() == 2 && !self.has_digit()
    }

    fn is_grouped_with_the_one_before(&self) -> bool {
        self.gap.chars().all(|mark| mark == ' ') || GROUPING.iter().any(|mark| self.gap.chars().eq([*mark]))
    }

    /// Whether it may continue an IBAN; the check digits decide.
    fn is_near_the_one_before(&self) -> bool {
        self.is_grouped_with_the_one_before()
            || self.gap.chars().count() <= IBAN_GAP_MAX && !self.gap.contains(char::is_alphanumeric)
    }

    /// Whether it begins another part of the text, so that a label before it isn't its own.
    fn begins_another_part(&self) -> bool {
        self.gap.contains([',', ';', '.', '\n'])
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

/// Whether a text has digits other than 0 to 9. An ideograph alone doesn't count: it may be part of a name.
#[must_use]
pub fn has_other_digits(text: &str) -> bool {
    let (mut before, mut is_right_beside) = (None, false);
    for letter in text.nfkc().filter(|letter| !is_in(INVISIBLE, *letter)) {
        if letter.is_numeric() && !letter.is_ascii_digit() && !IDEOGRAPHIC_NUMERALS.contains(letter) {
            return true;
        }
        let is_numeral = IDEOGRAPHIC_NUMERALS.contains(letter);
        let is_beside = match before {
            Some(true) => is_numeral || is_right_beside && letter.is_ascii_digit(),
            Some(false) => is_numeral && is_right_beside,
            None => false,
        };
        if is_beside {
            return true;
        }
        is_right_beside = letter.is_alphanumeric();
        if is_right_beside {
            before = (is_numeral || letter.is_ascii_digit()).then_some(is_numeral);
        }
    }
    false
}

/// Whether a text has an IBAN or BIC with letters of another script.
#[must_use]
pub fn has_other_letters(text: &str) -> bool {
    let plain_of = |letter: char| {
        let mut pairs = LOOKALIKES.iter().flat_map(|(others, plain)| others.chars().zip(plain.chars()));
        pairs.find(|(other, _)| *other == letter).map_or(letter, |(_, plain)| plain)
    };
    let plain: String = text.chars().map(plain_of).collect();
    let codes = |text: &str| -> Vec<NumberInText> {
        let is_code = |number: &NumberInText| {
            let begins_as_iban = looks_like_iban(&number.text) && number.text.len() >= IBAN_CHARS_MIN;
            begins_as_iban || number.fault == Some(NumberFault::Iban) || is_bic(&number.text)
        };
        numbers_in(text).into_iter().filter(is_code).collect()
    };
    plain != text && codes(&plain).len() > codes(text).len()
}

fn number_at(runs: &[Run], before: &[Run]) -> Option<(NumberInText, usize)> {
    let first = runs.first()?;
    let number = |taken: usize, text: String, fault: Option<NumberFault>| {
        let end = runs.get(taken - 1).map_or(first.range.end, |last| last.range.end);
        (NumberInText { range: first.range.start..end, text, fault }, taken)
    };
    if let Some((taken, iban)) = iban_at(runs) {
        return Some(number(taken, iban, None));
    }
    // "IBANDE89" has the form of a BIC.
    let is_broken_iban = is_almost_iban(runs) || is_grouped_as_iban(runs);
    if let Some((taken, bic)) = bic_at(runs, before).filter(|_| !is_broken_iban) {
        return Some(number(taken, bic, None));
    }
    if !first.has_digit() {
        return is_iban_in_parts(runs, before).then(|| number(1, first.text.clone(), Some(NumberFault::Iban)));
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
    let fault = if is_broken_iban { Some(NumberFault::Iban) } else { fault_by_label(&text, first, before) };
    Some(number(taken, text, fault))
}

fn fault_by_label(number: &str, first: &Run, before: &[Run]) -> Option<NumberFault> {
    let label = label_of(first, before);
    let is_called = |names: &[&str]| {
        label.is_some_and(|(label, is_near)| {
            names.contains(&label) && (is_near || number.len() >= CHARS_BEHIND_WORDS_MIN)
        })
    };
    if is_called(&["IBAN"]) {
        return Some(NumberFault::Iban);
    }
    let is_routing = is_called(&["ABA", "RTN"]) || is_called(&["ROUTING"]) && !number.starts_with('0');
    let has_its_length = number.len() == ROUTING_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_routing && has_its_length && !is_routing_number(number)).then_some(NumberFault::RoutingNumber)
}

/// The last label before a run, skipping "no." and words about whose number it is; and whether only "no." was skipped.
fn label_of<'a>(number: &Run, before: &'a [Run]) -> Option<(&'a str, bool)> {
    let (mut behind, mut is_near) = (number, true);
    for (at, run) in before.iter().rev().take(WORDS_BEHIND_LABEL_MAX).enumerate() {
        let word = run.text.to_lowercase();
        let is_country = at == 0 && run.is_country();
        is_near &= is_country || is_account_label(&word);
        if !is_near && behind.begins_another_part() {
            return None;
        }
        if !is_number_word(&word) && is_account_label(&word) {
            return Some((&run.text, is_near));
        }
        if run.has_digit() || is_other_label(&word) {
            return None;
        }
        behind = run;
    }
    None
}

fn bic_at(runs: &[Run], before: &[Run]) -> Option<(usize, String)> {
    let first = runs.first()?;
    let is_behind_code = before.last().is_some_and(|run| run.text == "CODE");
    let is_called = is_behind_code || matches!(label_of(first, before), Some(("BIC" | "SWIFT", true)));
    let is_written_as_one = first.is_in_capitals && !ORDINARY_WORDS.contains(&first.text.as_str());
    if is_bic(&first.text) && (is_called || is_written_as_one) {
        return Some((1, first.text.clone()));
    }
    if let Some(bic) = behind_bic_label(&first.text) {
        return Some((1, bic.to_owned()));
    }
    let has_length = |(at, (run, length)): &(usize, (&Run, usize))| {
        run.text.len() == *length && (*at == 0 || run.is_grouped_with_the_one_before())
    };
    let groups: Vec<&str> =
        runs.iter().zip(BIC_GROUPS).enumerate().take_while(has_length).map(|(_, (run, _))| run.text.as_str()).collect();
    let joined = |taken: usize| groups.get(..taken).map(|groups| (taken, groups.concat()));
    [BIC_GROUPS.len(), BIC_GROUPS.len() - 1].into_iter().filter_map(joined).find(|(_, text)| is_called && is_bic(text))
}

fn iban_at(runs: &[Run]) -> Option<(usize, String)> {
    let (mut text, mut found) = (String::new(), None);
    for (at, run) in runs.iter().enumerate().take_while(|(at, run)| *at == 0 || run.is_near_the_one_before()) {
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

/// Whether runs begin with an IBAN's country as a word: its groups follow, or all but the check digits is right.
fn is_iban_in_parts(runs: &[Run], before: &[Run]) -> bool {
    let Some((country, rest)) = runs.split_first().filter(|(first, _)| first.is_country()) else { return false };
    // "Account no" isn't Norway.
    let is_number_word = is_number_word(&country.text.to_lowercase())
        && before.last().is_some_and(|run| is_account_label(&run.text.to_lowercase()));
    if is_number_word || !Iban::has_country(&country.text) {
        return false;
    }
    let mut text = country.text.clone();
    let mut goes_on = rest.iter().take_while(|run| run.is_grouped_with_the_one_before());
    let has_form = goes_on.any(|run| {
        text.push_str(&run.text);
        looks_like_iban(&text) && Iban::has_form(&text)
    });
    // "De" and "at" are words too.
    country.is_in_capitals && has_form || is_grouped_as_iban(runs)
}

/// Whether runs are grouped like an IBAN: country and two digits, together or apart, then groups of four.
fn is_grouped_as_iban(runs: &[Run]) -> bool {
    let Some((first, rest)) = runs.split_first() else { return false };
    let is_apart = first.is_country();
    let mut text = without_label(&first.text).to_owned();
    for (at, run) in rest.iter().enumerate().take_while(|(_, run)| run.is_near_the_one_before()) {
        let length = if is_apart && at == 0 { 2 } else { IBAN_GROUP };
        let is_last = run.text.len() < length;
        if run.text.len() > length || is_last && !run.has_digit() {
            break;
        }
        text.push_str(&run.text);
        if is_last {
            break;
        }
    }
    let begins = first.text.len() == 2 || without_label(&first.text).len() == IBAN_GROUP;
    let has_country = text.get(..2).is_some_and(Iban::has_country);
    begins && text.len() >= IBAN_CHARS_MIN && looks_like_iban(&text) && has_country
}

fn is_almost_iban(runs: &[Run]) -> bool {
    let Some((first, rest)) = runs.split_first() else { return false };
    let goes_on =
        |run: &&Run| run.is_grouped_with_the_one_before() && (run.has_digit() || run.text.len() == IBAN_GROUP);
    let begins = without_label(&first.text);
    let chars = begins.len() + rest.iter().take_while(goes_on).map(|run| run.text.len()).sum::<usize>();
    looks_like_iban(begins) && chars >= IBAN_CHARS_MIN
}

fn without_label(run: &str) -> &str {
    if let Some(behind) = run.strip_prefix("IBAN") {
        return behind;
    }
    let country = run.find(|letter: char| letter.is_ascii_digit()).and_then(|digit| digit.checked_sub(2));
    let parts = country.and_then(|country| run.split_at_checked(country));
    parts.filter(|(label, iban)| is_glued_label(label) && looks_like_iban(iban)).map_or(run, |(_, iban)| iban)
}

/// The runs of letters and digits in a text. A label glued to a number (`ACCT12345678`) is a separate run.
fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut gap = String::new();
    for (at, letter) in text.char_indices().filter(|(_, letter)| !is_in(INVISIBLE, *letter)) {
        let (end, is_capital) = (at + letter.len_utf8(), !letter.is_lowercase());
        // One character may expand: "\u{2488}" is a digit and a point.
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
                    run.is_in_capitals &= is_capital;
                }
                _ => runs.push(Run {
                    range: at..end,
                    text: plain.to_string(),
                    gap: std::mem::take(&mut gap),
                    is_in_capitals: is_capital,
                }),
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
            ("ACCTDE89 3704 0044 0532 0130 00", vec!["DE89370400440532013000"]),
            ("DE89:3704:0044:0532:0130:00", vec!["DE89370400440532013000"]),
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
                assert_eq!(number.fault, None, "{text}");
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
            "ACCTDE89 3704 0044 0532 0130 01",
            "KontoDE89370400440532013001",
            "DE 89 3704 0044 0532 0130 01",
            "DE 89370400440532013001",
            "de 89 3704 0044 0532 0130 01",
            "NO 94 8601 1117 947",
            "DE89:3704:0044:0532:0130:01",
            "DE89 | 3704 | 0044 | 0532 | 0130 | 01",
            "DE89\n3704\n0044\n0532\n0130\n01",
            "IBAN of the payee: 3704004405320",
            "IBAN (Müller GmbH) is 3704004405320",
        ] {
            assert!(numbers_in(text).iter().any(|number| number.fault == Some(NumberFault::Iban)), "{text}");
        }
        for text in [
            "No IBAN, account 532013000",
            "Bank of Deeside, EH12 9DN, account 12345678",
            "Transfer to 000123456789 021000021",
            "Account no 000123456789 021000021",
            "ACCOUNT NO 1234567890123",
            "Account no 12 3456 7890 123",
            "pay it to 12 3456 7890 1234 5678",
            "compte de 89370400440532013001",
            "We have no IBAN. Use 3704004405320",
            "IBAN on request, invoice 20260001234",
            "IBAN to follow by May 17, 2026",
            "Open 9:00-17:00, account 12345678",
        ] {
            assert!(numbers_in(text).iter().all(|number| number.fault.is_none()), "{text}");
        }
    }

    #[test]
    fn a_bic_is_found_wherever_it_stands_in_capitals() {
        for (text, expected) in [
            ("SWIFT-BIC of bank FRAUDEFF, account 12345678", vec!["FRAUDEFF", "12345678"]),
            ("via DEUTDEFFXXX", vec!["DEUTDEFFXXX"]),
            ("SWIFTFRAUDEFF", vec!["FRAUDEFF"]),
            ("SWIFT: DEUT DE FF, account 12345678", vec!["DEUTDEFF", "12345678"]),
            ("SWIFT DEUT DE FF 500", vec!["DEUTDEFF500"]),
            ("Swift no. is deutdeff", vec!["DEUTDEFF"]),
            ("SWIFT BUSINESS", vec!["BUSINESS"]),
            ("BARCLAYS", vec!["BARCLAYS"]),
            ("TRANSFER PAYMENTS OF NORTHERN BUSINESS CUSTOMER TO BENEFICIARY", vec![]),
            ("Barclays Business, Fraudeff, BANK IN NY", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        for (others, plain) in LOOKALIKES {
            assert_eq!(others.chars().count(), plain.chars().count(), "{plain}");
        }
        for word in ORDINARY_WORDS {
            assert!(is_bic(word), "{word} needs no exception");
        }
    }

    #[test]
    fn numerals_and_letters_of_other_scripts_hide_no_number() {
        for text in
            ["account 六二二二八八一一", "六 二 二", "账户 壹贰叁", "6二2", "二\u{200b}三", "〇〇", "\u{3280}\u{3281}"]
        {
            assert!(has_other_digits(text), "{text}");
        }
        for text in ["张一山, account 12345678", "一、账户 12345678", "周五 12345678", "第一银行"] {
            assert!(!has_other_digits(text), "{text}");
        }
        for text in [
            "DЕ89 3704 0044 0532 0130 00",
            "DЕ89 3704 0044 0532 0130 01",
            "ВЕ68 5390 0754 7034",
            "to FRАUDEFF, account 12345678",
            "ΒE68539007547034",
        ] {
            assert!(has_other_letters(text), "{text}");
        }
        for text in ["DE89 3704 0044 0532 0130 00, Северный Банк, Москва", "Счет 12345678", "Αθήνα, FRAUDEFF"]
        {
            assert!(!has_other_letters(text), "{text}");
        }
    }

    #[test]
    fn what_is_called_a_routing_number_is_one() {
        for text in ["routing 131000026", "Routing number of the bank: 131000026", "ABA131000026", "RTN 021000022"] {
            assert!(numbers_in(text).iter().any(|number| number.fault == Some(NumberFault::RoutingNumber)), "{text}");
        }
        for text in ["routing 021000021", "account 131000026", "Routing number 000412345", "routing 13100002"] {
            assert!(numbers_in(text).iter().all(|number| number.fault.is_none()), "{text}");
        }
    }
}
