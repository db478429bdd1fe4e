//! Normalizes account numbers and bank codes as typed: `IBAN: DE89 3704 0044…`, `Account no. 0001-2345`.
//!
//! - Decision: leading labels, blanks, marks and invisible characters are stripped: a number is the same however typed.
//! - Decision: a label of three or more letters may be glued to its number (`Konto12345678`); fewer can be an IBAN's
//!   country or part of it (`N12345678`). A BIC has no label, unless only a label precedes its digits (`Number12345`).

use crate::domain::sensitive::{is_account_label, plain};

use super::BankAccount;
use super::iban::Iban;

/// A number without surrounding marks and labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalized {
    /// The number, in upper case. It may still contain invalid characters, such as `*`.
    pub text: String,
    /// Whether a label called it an IBAN.
    pub says_iban: bool,
}

/// Strips everything around a number.
#[must_use]
pub fn normalized(typed: &str) -> Normalized {
    let plain = plain(typed);
    let (mut rest, mut says_iban) = (plain.trim_start_matches(is_beside), false);
    let mut is_behind_label = false;
    while let Some((label, behind)) = leading_label(rest) {
        // "No" is Norway, unless another label precedes it or a point follows it.
        let says_number = is_behind_label || behind.starts_with(['.', ':', '#']);
        if label == "NO" && (!says_number || Iban::parse(&compact(rest)).is_some()) {
            break;
        }
        says_iban |= label == "IBAN";
        is_behind_label = true;
        rest = behind.trim_start_matches(is_beside);
    }
    let text = compact(rest);
    // Stripped characters may have been inside the label.
    match text.strip_prefix("IBAN") {
        Some(behind) => Normalized { text: behind.to_owned(), says_iban: true },
        None => Normalized { text, says_iban },
    }
}

fn is_beside(mark: char) -> bool {
    !mark.is_alphanumeric() && mark != '*'
}

fn leading_label(text: &str) -> Option<(&str, &str)> {
    if let Some(behind) = text.strip_prefix("IBAN") {
        return Some(("IBAN", behind));
    }
    if let Some(behind) = text.strip_prefix("A/C") {
        return Some(("A/C", behind)).filter(|_| behind.starts_with(is_beside) || behind.starts_with(char::is_numeric));
    }
    if let Some(bic) = behind_bic_label(text) {
        return text.strip_suffix(bic).map(|label| (label, bic));
    }
    let end = text.find(|letter: char| !letter.is_alphabetic())?;
    let (word, behind) = text.split_at_checked(end)?;
    if behind.starts_with(is_beside) {
        return is_account_label(&word.to_lowercase()).then_some((word, behind));
    }
    glued_label(text, word, behind)
}

fn glued_label<'a>(text: &'a str, word: &'a str, behind: &'a str) -> Option<(&'a str, &'a str)> {
    let is_label = is_glued_label(word);
    let has_digits_only = compact(behind).bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = is_bic(&compact(text)) && !(is_label && has_digits_only);
    if is_whole || !behind.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let before_country = word.char_indices().rev().nth(1).and_then(|(at, _)| text.split_at_checked(at));
    let before_iban = before_country.filter(|(label, iban)| is_glued_label(label) && looks_like_iban(iban));
    // "AccountNo" is a label, unless the part from "No" on is an IBAN.
    let before_iban = before_iban.filter(|(_, iban)| !is_label || Iban::parse(&compact(iban)).is_some());
    before_iban.or_else(|| is_label.then_some((word, behind)))
}

/// Whether a word is a label that may be glued to a number: a long enough one, or several in a row (`ROUTINGNUMBER`).
pub(super) fn is_glued_label(word: &str) -> bool {
    const LETTERS_MIN: usize = 3;
    const LETTERS_MIN_NEXT: usize = 2;
    let word = word.to_lowercase();
    let is_several = |at: usize| {
        word.split_at_checked(at).is_some_and(|(first, rest)| {
            is_account_label(first)
                && (is_glued_label(rest) || rest.len() >= LETTERS_MIN_NEXT && is_account_label(rest))
        })
    };
    word.len() >= LETTERS_MIN && (is_account_label(&word) || (LETTERS_MIN..word.len()).any(is_several))
}

/// The BIC after a label, glued to it or separated only by blanks, dashes and points.
#[must_use]
pub fn behind_bic_label(text: &str) -> Option<&str> {
    if is_bic(&compact(text)) {
        return None;
    }
    let behind = ["SWIFT", "BIC", "CODE"].into_iter().find_map(|label| text.strip_prefix(label))?;
    if is_bic(&compact(behind)) { Some(behind) } else { behind_bic_label(behind) }
}

fn compact(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && !matches!(letter, '-' | '.')).collect()
}

/// Whether a number without blanks starts like an IBAN: a country and two check digits.
#[must_use]
pub fn looks_like_iban(number: &str) -> bool {
    let mut bytes = number.bytes();
    let mut next = |is: fn(&u8) -> bool| bytes.next().is_some_and(|byte| is(&byte));
    next(u8::is_ascii_alphabetic)
        && next(u8::is_ascii_alphabetic)
        && next(u8::is_ascii_digit)
        && next(u8::is_ascii_digit)
}

/// That a text is no IBAN, for display.
pub const NOT_AN_IBAN: &str = "isn’t a valid IBAN. Compare it with your bank statement";
/// That a text is no account number, for display.
pub const NOT_AN_ACCOUNT_NUMBER: &str = "must be an IBAN, or an account number of 4 to 34 letters and digits";
/// That nine digits are no routing number, for display.
pub const NOT_A_ROUTING_NUMBER: &str = "isn’t a valid routing number. Compare it with your bank statement";
/// That digits are no bank's code, for display.
pub const NOT_A_BANK_CODE: &str = "must be a BIC, a routing number of 9 digits, or your bank’s code of 5 to 8 digits";
/// That a text is no BIC, for display.
pub const NOT_A_BIC: &str = "must be a BIC of 8 or 11 characters, such as DEUTDEFF";

/// Parses an account number or an IBAN; an error says what is valid, for display.
pub fn read_account_number(typed: &str) -> Result<String, &'static str> {
    const ACCOUNT_CHARS: std::ops::RangeInclusive<usize> = 4..=34;
    let Normalized { text: number, says_iban } = normalized(typed);
    if says_iban || looks_like_iban(&number) {
        return if Iban::parse(&number).is_some() { Ok(number) } else { Err(NOT_AN_IBAN) };
    }
    let is_number = ACCOUNT_CHARS.contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_number || !number.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(NOT_AN_ACCOUNT_NUMBER);
    }
    // A number that names no account can't be compared with what is typed again.
    match BankAccount::new(&number, None) {
        Some(_) => Ok(number),
        None => Err("must be a full account number, with no hidden or placeholder digits"),
    }
}

/// Parses a BIC, a routing number, or a code of 5 to 8 digits; an error says what is valid, for display.
pub fn read_bank_code(typed: &str) -> Result<String, &'static str> {
    let code = normalized(typed).text;
    if code.bytes().all(|byte| byte.is_ascii_digit()) {
        return match code.len() {
            ROUTING_DIGITS if !is_routing_number(&code) => Err(NOT_A_ROUTING_NUMBER),
            5..=ROUTING_DIGITS => Ok(code),
            _ => Err(NOT_A_BANK_CODE),
        };
    }
    if is_bic(&code) { Ok(code) } else { Err(NOT_A_BIC) }
}

pub(super) const ROUTING_DIGITS: usize = 9;

/// The first two digits of all routing numbers ever assigned.
const ROUTING_PREFIXES: [std::ops::RangeInclusive<u8>; 4] = [0..=12, 21..=32, 61..=72, 80..=80];

/// Whether a text is a United States routing number: in a range in use, with a correct checksum.
#[must_use]
pub fn is_routing_number(text: &str) -> bool {
    if text.len() != ROUTING_DIGITS || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let prefix: Option<u8> = text.get(..2).and_then(|prefix| prefix.parse().ok());
    let weighted = text.bytes().zip([3, 7, 1].into_iter().cycle());
    let sum: u32 = weighted.map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    let is_in_use = prefix.is_some_and(|prefix| ROUTING_PREFIXES.iter().any(|range| range.contains(&prefix)));
    is_in_use && sum != 0 && sum.is_multiple_of(10)
}

/// Whether a text in capitals has the form of a BIC: institution, country, place, and an optional branch.
#[must_use]
pub fn is_bic(code: &str) -> bool {
    const INSTITUTION: std::ops::RangeTo<usize> = ..4;
    const COUNTRY: std::ops::Range<usize> = 4..6;
    // BICs use XK for Kosovo, which is not in ISO 3166.
    let is_country = |code: &str| code == "XK" || code.parse::<iso_currency::Country>().is_ok();
    matches!(code.len(), 8 | 11)
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && code.get(INSTITUTION).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_alphabetic()))
        && code.get(COUNTRY).is_some_and(is_country)
}

/// The last four characters of an account number; fewer if it is short.
#[must_use]
pub fn ending(number: &str) -> String {
    const SHOWN_MAX: usize = 4;
    const SHOWN_OF: usize = 3;
    let compact: Vec<char> = number.chars().filter(|letter| letter.is_alphanumeric()).collect();
    let shown = SHOWN_MAX.min(compact.len() / SHOWN_OF);
    compact[compact.len() - shown..].iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_blanks_dashes_and_what_shows_nothing_are_taken_off_before_a_number_is_looked_at() {
        let iban = "DE89370400440532013000";
        for typed in [
            "DE89 3704 0044 0532 0130 00",
            "IBAN DE89 3704 0044 0532 0130 00",
            "iban:de89370400440532013000",
            "IBANDE89370400440532013000",
            "IBAN no. DE89-3704-0044-0532-0130-00",
            "D\u{200b}E89 3704\u{2011}0044\u{a0}0532 0130 00\u{200b}",
            "– DE89 3704 0044 0532 0130 00",
            "Account: DE89 3704 0044 0532 0130 00",
            "ＤＥ８９ 3704 0044 0532 0130 00",
        ] {
            assert_eq!(read_account_number(typed).as_deref(), Ok(iban), "{typed}");
        }
        for (typed, number) in [
            ("Account no. 0001-2345\u{2011}6789", "000123456789"),
            ("Acct #000123456789", "000123456789"),
            ("A/C 000123456789", "000123456789"),
            ("No. 000123456789", "000123456789"),
            ("NO93 8601 1117 947", "NO9386011117947"),
            ("NO 93 8601 1117 947", "NO9386011117947"),
            ("IBAN NO 93 8601 1117 947", "NO9386011117947"),
            ("NL-7731-00998877", "NL773100998877"),
            ("Account HN88 CABF 0000 0000 0002 5000 5469", "HN88CABF00000000000250005469"),
        ] {
            let read = if number.starts_with("NL77") { Ok(normalized(typed).text) } else { read_account_number(typed) };
            assert_eq!(read.as_deref(), Ok(number), "{typed}");
        }
        for hidden in ["XXX000123456789", "xxx-0001", "I-BAN XXX0001", "****6789", "0000-0000"] {
            assert!(read_account_number(hidden).is_err(), "{hidden}");
        }
        for typed in [
            "I-BAN DE89 3704 0044 0532 0130 01",
            "IBAN 000123456789",
            "NO 94 8601 1117 947",
            "DE89 3704 0044 0532 0130",
            "acct. DE89370400440532013001",
        ] {
            assert_eq!(
                read_account_number(typed),
                Err("isn’t a valid IBAN. Compare it with your bank statement"),
                "{typed}"
            );
        }
        for (typed, code) in [
            ("ABA 0210-0002-1", "021000021"),
            ("Routing number: 021000021", "021000021"),
            ("sort code 40-47-84", "404784"),
            ("SWIFT/BIC: DEUT DE FF", "DEUTDEFF"),
            ("BLZ\u{200b} 370 400 44", "37040044"),
        ] {
            assert_eq!(read_bank_code(typed).as_deref(), Ok(code), "{typed}");
        }
    }

    #[test]
    fn a_label_that_is_glued_to_a_number_is_taken_off() {
        for (typed, number) in [
            ("Acct\u{200b}12345678", "12345678"),
            ("Konto12345678", "12345678"),
            ("Account number12345678", "12345678"),
            ("AccountNumber12345678", "12345678"),
            ("AccountNo12345678", "12345678"),
            ("Number12345", "12345"),
            ("KontoDE89370400440532013000", "DE89370400440532013000"),
            ("AccountNO9386011117947", "NO9386011117947"),
            ("NO9386011117947", "NO9386011117947"),
            ("N12345678", "N12345678"),
            ("ABNA0417164300", "ABNA0417164300"),
        ] {
            assert_eq!(read_account_number(typed).as_deref(), Ok(number), "{typed}");
        }
        for typed in ["KontoDE89370400440532013001", "NO9486011117947", "AcctDE89370400440532013001"] {
            let wrong = Err("isn’t a valid IBAN. Compare it with your bank statement");
            assert_eq!(read_account_number(typed), wrong, "{typed}");
        }
        for (typed, code) in [
            ("ABA021000021", "021000021"),
            ("ABA\u{200b}021000021", "021000021"),
            ("RTN021000021", "021000021"),
            ("RoutingNumber021000021", "021000021"),
            ("Sortcode40-47-84", "404784"),
            ("SWIFTDEUTDEFF", "DEUTDEFF"),
            ("SWIFT\u{200b}DEUTDEFF500", "DEUTDEFF500"),
            ("BICCHASUS33", "CHASUS33"),
            ("SwiftCodeDEUTDEFF", "DEUTDEFF"),
            ("SWIFTBIC DEUT DE FF", "DEUTDEFF"),
            // BICs that begin with the letters of a label.
            ("BICIGALX", "BICIGALX"),
            ("BICIGAXDEXX", "BICIGAXDEXX"),
            ("CODEDE33", "CODEDE33"),
            ("ABANSI2X", "ABANSI2X"),
            ("NOSCCATT", "NOSCCATT"),
        ] {
            assert_eq!(read_bank_code(typed).as_deref(), Ok(code), "{typed}");
        }
        assert!(read_bank_code("TRANSFER").is_err() && is_bic("NCBVXKPR"), "no country, and Kosovo");
        assert_eq!(
            read_bank_code("ABA131000026"),
            Err("isn’t a valid routing number. Compare it with your bank statement")
        );
    }

    #[test]
    fn routing_numbers_are_of_the_ranges_in_use() {
        let with_checksum = |prefix: u32| {
            let fits = |last: &u32| {
                let text = format!("{prefix:02}000000{last}");
                let sum: u32 = text
                    .chars()
                    .filter_map(|digit| digit.to_digit(10))
                    .zip([3, 7, 1].into_iter().cycle())
                    .map(|(digit, weight)| digit * weight)
                    .sum();
                sum.is_multiple_of(10)
            };
            (0..10).find(fits).map(|last| format!("{prefix:02}000000{last}")).unwrap()
        };
        for prefix in 0..100 {
            let is_used = matches!(prefix, 0..=12 | 21..=32 | 61..=72 | 80);
            let number = with_checksum(prefix);
            assert_eq!(is_routing_number(&number), is_used && number != "000000000", "{number}");
        }
        for wrong in ["021000022", "02100002", "0210000211", "O21000021", ""] {
            assert!(!is_routing_number(wrong), "{wrong}");
        }
    }
}
