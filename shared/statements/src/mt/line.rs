//! `:61:`, the line of an entry: `6!n[4!n]2a[1!a]15d1!a3!c16x[//16x]` and a line of details.
//!
//! Decision: accept four deviations: blanks as the entry date, no comma in an amount, types with `M`, numeric types.

use crate::amount::minor_units;
use crate::collect::Collector;
use crate::currency::Currency;
use crate::dates;
use crate::model::{Entry, Position, ReferenceKind, Side};
use crate::problem::Problem;
use crate::text::quoted;

/// Side marks, longer ones first. `RC` reverses a credit, so money goes out; `EC` and `ED` are only expected.
const MARKS: [(&str, Side, Kind); 6] = [
    ("RC", Side::Debit, Kind::Reversal),
    ("RD", Side::Credit, Kind::Reversal),
    ("EC", Side::Credit, Kind::Expected),
    ("ED", Side::Debit, Kind::Expected),
    ("C", Side::Credit, Kind::Ordinary),
    ("D", Side::Debit, Kind::Ordinary),
];
const RETURNED_ITEM: &str = "RTI";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ordinary,
    Reversal,
    Expected,
}

pub(super) fn read(line: usize, value: &str, currency: Currency, collector: &Collector) -> Result<Entry, Problem> {
    let malformed = |expected| Problem::Malformed { value: quoted(value), expected };
    let (day, rest) =
        value.split_at_checked(6).ok_or(malformed("an entry such as 2601310131C1250,50NTRFREF//BANKREF"))?;
    let value_on = dates::yymmdd(day).ok_or_else(|| Problem::NotADate { value: quoted(day), example: "260131" })?;
    let (booked_on, rest) = match rest.split_at_checked(4) {
        Some((booked, rest)) if booked.bytes().all(|byte| byte.is_ascii_digit()) => {
            let (month, day) = booked.split_at_checked(2).unwrap_or_default();
            let date = dates::near(value_on, month, day);
            (date.ok_or_else(|| Problem::NotADate { value: quoted(booked), example: "0131" })?, rest)
        }
        _ => (value_on, rest.trim_start_matches(' ')),
    };
    let found = MARKS.into_iter().find_map(|(mark, side, kind)| Some((side, kind, rest.strip_prefix(mark)?)));
    let (side, kind, rest) = found.ok_or_else(|| {
        let mark: String = rest.chars().take(2).collect();
        Problem::NotASide { value: quoted(&mark), expected: "C, D, RC or RD" }
    })?;
    // The third letter of the currency.
    let rest = rest.strip_prefix(|letter: char| letter.is_ascii_uppercase()).unwrap_or(rest);
    let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b',').count();
    let (amount, rest) = rest.split_at_checked(length).unwrap_or_default();
    let mut entry = Entry::new(Position::Line(line), side, minor_units(amount, ',', currency)?, currency);
    (entry.value_on, entry.booked_on) = (Some(value_on), Some(booked_on));
    entry.is_booked = kind != Kind::Expected;
    let code = code(rest).ok_or_else(|| malformed("an entry with a type such as NTRF after its amount"))?;
    entry.is_reversal = kind == Kind::Reversal || code == RETURNED_ITEM;
    let references = rest.get(4..).unwrap_or_default();
    let (own, bank) = references.split_once("//").unwrap_or((references, ""));
    let kind = if code == "CHK" { ReferenceKind::CheckNumber } else { ReferenceKind::CustomerReference };
    collector.reference(&mut entry, kind, own)?;
    collector.reference(&mut entry, ReferenceKind::BankReference, bank)?;
    Ok(entry)
}

/// Reads the type code after SWIFT's letters `N`, `S` and `F`, or the `M` of some banks.
fn code(text: &str) -> Option<&str> {
    let code = text.get(1..4)?;
    let is_plain = code.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
    (text.starts_with(['N', 'S', 'F']) || text.starts_with('M') && is_plain).then_some(code)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn entry(value: &str) -> Result<Entry, Problem> {
        read(7, value, Currency::parse("EUR").unwrap(), &Collector::default())
    }

    fn references(entry: &Entry) -> Vec<(ReferenceKind, &str)> {
        entry.references.iter().map(|reference| (reference.kind, reference.value.as_str())).collect()
    }

    #[test]
    fn a_full_line_has_all_its_parts() {
        let read = entry("2601300131CR1250,5NTRFDEAL-2026-17//8812 4410").unwrap();
        assert_eq!((read.side, read.is_reversal, read.is_booked), (Side::Credit, false, true));
        assert_eq!((read.amount_minor, read.position), (125_050, Position::Line(7)));
        assert_eq!((read.value_on, read.booked_on), (Some(date(2026, 1, 30)), Some(date(2026, 1, 31))));
        let expected =
            [(ReferenceKind::CustomerReference, "DEAL-2026-17"), (ReferenceKind::BankReference, "8812 4410")];
        assert_eq!(references(&read), expected);
    }

    #[test]
    fn marks_say_what_the_entry_does() {
        for (mark, side, is_reversal, is_booked) in [
            ("C", Side::Credit, false, true),
            ("D", Side::Debit, false, true),
            ("RC", Side::Debit, true, true),
            ("RD", Side::Credit, true, true),
            ("CR", Side::Credit, false, true),
            ("DR", Side::Debit, false, true),
            ("RCR", Side::Debit, true, true),
            ("RDR", Side::Credit, true, true),
            ("EC", Side::Credit, false, false),
            ("ED", Side::Debit, false, false),
        ] {
            let read = entry(&format!("260131{mark}1,NMSCNONREF")).unwrap();
            assert_eq!((read.side, read.is_reversal, read.is_booked), (side, is_reversal, is_booked), "{mark}");
            assert_eq!(read.amount_minor, 100);
            assert!(read.references.is_empty());
        }
        assert!(entry("260131C1,NRTINONREF").unwrap().is_reversal);
    }

    #[test]
    fn the_booking_may_be_of_another_year_than_the_value() {
        assert_eq!(entry("2512310102C1,NTRFA").unwrap().booked_on, Some(date(2026, 1, 2)));
        assert_eq!(entry("2601021231C1,NTRFA").unwrap().booked_on, Some(date(2025, 12, 31)));
    }

    #[test]
    fn what_banks_write_otherwise_has_one_meaning() {
        for value in [
            "260131    C50,00NTRFNONREF//B1",
            "260131C50NTRFNONREF//B1",
            "260131C50,00MCI0NONREF//B1",
            "2601310131CR50N527NONREF//B1",
        ] {
            let read = entry(value).unwrap();
            assert_eq!((read.side, read.amount_minor, read.is_booked), (Side::Credit, 5_000, true), "{value}");
            assert_eq!((read.value_on, read.booked_on), (Some(date(2026, 1, 31)), Some(date(2026, 1, 31))), "{value}");
            assert_eq!(references(&read), [(ReferenceKind::BankReference, "B1")], "{value}");
        }
    }

    #[test]
    fn broken_lines_are_refused() {
        for value in [
            "",
            "26013",
            "260231C1,NTRFA",
            "2601311331C1,NTRFA",
            "260131X1,NTRFA",
            "260131R1,NTRFA",
            "2601311,NTRFA",
            "260131CNTRFA",
            "2601 31C1,NTRFA",
            "260131C1,MTR",
            "260131C1,MtrfA",
            "260131C1.50NTRFA",
            "260131C,NTRFA",
            "260131C1,505NTRFA",
            "260131C-1,NTRFA",
            "260131C1,",
            "260131C1,XTRFA",
            "260131C1,é",
            "26é131C1,NTRFA",
            "260131C99999999999999999999,NTRFA",
        ] {
            assert!(entry(value).is_err(), "{value}");
        }
    }
}
