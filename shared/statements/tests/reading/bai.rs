use std::fmt::Write as _;

use jiff::civil::date;
use statements::{Format, Position, Problem, ReferenceKind, Refusal, Side, Statement};

use super::{one, references, refusal};

fn with(records: &str, sum: i64) -> String {
    format!(
        "01,122099999,123456789,260302,0800,1,,,2/\n02,031001234,122099999,1,260302,2359,,2/\n03,0975312468,,010,0,,/\n\
         {records}\n49,{sum},3/\n98,{sum},1,5/\n99,{sum},1,7/\n"
    )
}

fn entry(record: &str, amount: i64) -> statements::Entry {
    one(&with(record, amount), None).entries.remove(0)
}

#[test]
fn a_file_with_lines_that_go_on_is_read_as_it_was_meant() {
    // Two days of one account: balances continued in 88 lines, more commas than fields, text without a slash.
    let text = "01,121140399,121140399,260214,0754,1,,,2/\n02,121140399,121140399,1,260201,,USD,2/\n\
        03,1234567890,USD,010,34726979,,,015,35217175,,,/\n88,040,32742537,,,045,35217175,,,/\n88,072,000,,,074,000,,,/\n\
        88,100,490196,1,,400,000,0,/\n16,142,490196,,172629,/\n88,SOME PAYMENT, ACH/OFFSET\n49,138884258,7/\n98,138884258,1,9/\n\
        02,121140399,121140399,1,260202,,USD,2/\n03,1234567890,USD,010,35217175,,,015,36122975,,/\n\
        88,040,33871213,,,045,36122975,,,/\n88,072,000,,,074,000,,,/\n88,100,905800,1,,400,000,0,/\n16,142,905800,,150675,/\n\
        88,SOME PAYMENT ACH OFFSET\n49,143145938,7/\n98,143145938,1,9/\n99,282030196,2,20\n";
    let statements = statements::read(text.as_bytes(), None).unwrap();
    let [first, second] = statements.as_slice() else { panic!("two statements") };
    let balances =
        |statement: &Statement| [statement.opening, statement.closing].map(|found| found.unwrap().amount_minor);
    assert_eq!((balances(first), balances(second)), ([34_726_979, 35_217_175], [35_217_175, 36_122_975]));
    let account = first.account.as_ref().unwrap();
    assert_eq!((account.number(), account.bank_code()), ("1234567890", Some("121140399")));
    let entry = &first.entries[0];
    assert_eq!((entry.amount_minor, entry.booked_on, entry.value_on), (490_196, Some(date(2026, 2, 1)), None));
    assert_eq!((entry.position, entry.text.as_deref()), (Position::Line(7), Some("SOME PAYMENT, ACH/OFFSET")));
    assert_eq!(references(entry), [(ReferenceKind::BankReference, "172629")]);
    assert_eq!(second.entries[0].booked_on, Some(date(2026, 2, 2)));
}

#[test]
fn a_british_account_has_its_sort_code_after_it() {
    let text = "01,NWBKGB2L,9876543,260215,14:59:35,2215,,,2/\n02,9876543,NWBKGB2L,1,260216,2400,,/\n\
        03,88888888 600004,GBP,010,36521,,,015,33845,,,045,33845,,,040,33845,,,072,0,,/\n88,074,0,,,075,0,,,400,2765,4,,100,89,1,/\n\
        16,699,971,,,/\n88,LVP XBANKGO24007664SJ\n16,699,1794,,,/\n16,399,89,,,/\n88,TFR XBANKGO24007680SJ-5373 CLIE\n\
        88,NT SECCY AC TFR\n49,143764,14/\n98,143764,1,16/\n99,143764,1,18/";
    let statement = one(text, None);
    let account = statement.account.as_ref().unwrap();
    assert_eq!((account.number(), account.bank_code(), account.bic()), ("88888888", Some("600004"), Some("NWBKGB2L")));
    let found: Vec<(Side, i64, &str)> =
        statement.entries.iter().map(|entry| (entry.side, entry.amount_minor, entry.currency.code())).collect();
    assert_eq!(found, [(Side::Debit, 971, "GBP"), (Side::Debit, 1_794, "GBP"), (Side::Credit, 89, "GBP")]);
    assert_eq!(statement.entries[2].text.as_deref(), Some("TFR XBANKGO24007680SJ-5373 CLIE NT SECCY AC TFR"));
}

#[test]
fn type_codes_say_what_a_transaction_does() {
    for (code, side, is_reversal, is_booked) in [
        ("195", Side::Credit, false, true),
        ("399", Side::Credit, false, true),
        ("920", Side::Credit, false, true),
        ("495", Side::Debit, false, true),
        ("699", Side::Debit, false, true),
        ("960", Side::Debit, false, true),
        // Reversed debits and returned payments are no arrival; nor are parts of a deposit, or loans.
        ("252", Side::Credit, true, true),
        ("257", Side::Credit, true, true),
        ("555", Side::Debit, true, true),
        ("116", Side::Credit, false, false),
        ("721", Side::Credit, false, false),
    ] {
        let read = entry(&format!("16,{code},5000,Z,B1,,text/"), 5_000);
        assert_eq!((read.side, read.is_reversal, read.is_booked), (side, is_reversal, is_booked), "{code}");
    }
    let statement = one(&with("16,890,,,,,Branch closed on Friday/", 0), None);
    assert_eq!((statement.entries.len(), statement.entries_of_zero), (0, 1));
    for code in ["100", "400", "015", "800", "1950", "19a", ""] {
        let (_, sentence) = refusal(&with(&format!("16,{code},5000,Z,B1,,text/"), 5_000), None);
        assert!(sentence.contains("at line 4: The type code must be"), "{sentence}");
    }
}

#[test]
fn the_availability_of_funds_has_fields_of_its_own() {
    let value = Some(date(2026, 3, 4));
    for (funds, value_on) in [
        ("", None),
        ("Z", None),
        ("0", None),
        ("2", None),
        ("S,1000,2000,2000", None),
        ("V,260304,", value),
        ("V,260304,1200", value),
        ("V,,", None),
        ("D,2,0,1000,1,4000", None),
        ("D,2,0,1000/\n88,1,4000", None),
    ] {
        let read = entry(&format!("16,195,5000,{funds},B1,OWN-7,Rent, March/"), 5_000);
        assert_eq!((read.amount_minor, read.value_on), (5_000, value_on), "{funds}");
        let expected = [(ReferenceKind::BankReference, "B1"), (ReferenceKind::CustomerReference, "OWN-7")];
        assert_eq!(references(&read), expected, "{funds}");
        assert_eq!(read.text.as_deref(), Some("Rent, March"), "{funds}");
    }
    for funds in ["X", "D,many", "V,260231,"] {
        let (_, sentence) = refusal(&with(&format!("16,195,5000,{funds},B1,,text/"), 5_000), None);
        assert!(sentence.contains("at line 4: The funds type must be"), "{sentence}");
    }
}

#[test]
fn a_text_is_never_taken_for_a_bank_s_reference() {
    for record in
        ["16,195,5000,Z/\n88,WIRE IN, MARCH/", "16,195,5000,/\n88,WIRE IN, MARCH", "16,195,5000,Z,,/\nWIRE IN, MARCH"]
    {
        let read = entry(record, 5_000);
        assert_eq!((references(&read).len(), read.text.as_deref()), (0, Some("WIRE IN, MARCH")), "{record}");
    }
    // Zeros aren't a reference.
    assert!(references(&entry("16,195,5000,Z,000000000000,0/", 5_000)).is_empty());
}

#[test]
fn what_may_still_change_is_not_booked_and_tests_and_deletions_are_refused() {
    let text = with("16,195,5000,Z,B1,,/", 5_000);
    for (modifier, is_booked) in [("1", false), ("2", true), ("3", false), ("4", true), ("", true)] {
        let text = text.replace(",2359,,2/", &format!(",2359,,{modifier}/"));
        assert_eq!(one(&text, None).entries[0].is_booked, is_booked, "{modifier}");
    }
    assert_eq!(one(&text.replace("122099999,1,260302", "122099999,3,260302"), None).entries.len(), 1);
    for status in ["2", "4", "x"] {
        let (_, sentence) = refusal(&text.replace("122099999,1,260302", &format!("122099999,{status},260302")), None);
        assert!(sentence.contains("at line 2: The group’s status must be 1 (new) or 3 (corrected)"), "{sentence}");
    }
}

#[test]
fn amounts_are_in_minor_units_of_their_currency() {
    for (code, expected) in [("", "USD"), ("JPY", "JPY"), ("KWD", "KWD")] {
        let read =
            one(&with("16,195,5000,Z,B1,,/", 5_000).replace("0975312468,,", &format!("0975312468,{code},")), None);
        assert_eq!((read.entries[0].amount_minor, read.entries[0].currency.code()), (5_000, expected));
    }
    for (amount, expected) in [
        ("50.00", "must be an amount in the smallest unit of its currency, such as 125050, not “50.00”"),
        ("5,000", "at line 4"),
        ("-5000", "must have no sign"),
        ("99999999999999999999", "has more digits"),
    ] {
        let (_, sentence) = refusal(&with(&format!("16,195,{amount},Z,B1,,/"), 5_000), None);
        assert!(sentence.contains(expected), "{sentence}");
    }
}

#[test]
fn what_is_missing_or_was_changed_shows() {
    let whole = with("16,195,5000,Z,B1,,Rent/", 5_000);
    assert_eq!(one(&whole, None).format, Format::Bai2);
    for end in ["99,", "98,", "49,"] {
        let (refused, sentence) = refusal(whole.split(&format!("\n{end}")).next().unwrap(), None);
        assert!(matches!(refused, Refusal::CutOff { .. }), "{sentence}");
    }
    let (refused, sentence) = refusal(&whole.replace("195,5000", "195,500000"), None);
    let expected = Refusal::ControlTotal { part: "account", line: 3, expected: 500_000, found: 5_000 };
    assert_eq!(refused, expected, "{sentence}");
    assert_eq!(
        sentence,
        "The file doesn't add up: the amounts of the account that begins at line 3 come to 500000, but its control total is \
         5000. Export it again."
    );
    for (from, to, expected) in [
        ("49,5000,3/\n", "", "at line 3: The account’s trailer (49) is missing"),
        ("98,5000,1,5/\n", "", "at line 2: The group’s trailer (98) is missing"),
        ("03,0975312468", "04,0975312468", "must be a record of BAI2"),
        ("98,5000", "98,5001", "the group that begins at line 2 come to 5000"),
        ("99,5000", "99,5001", "the file that begins at line 1 come to 5000"),
        (",,,2/\n02", ",,,3/\n02", "is a BAI file of version “3”"),
        ("260302,2359", "260231,2359", "The group’s date must be a date such as 260131"),
        ("16,195", "49,0,/\n16,195", "The account’s header (03) is missing"),
    ] {
        let (_, sentence) = refusal(&whole.replacen(from, to, 1), None);
        assert!(sentence.contains(expected), "{sentence}");
    }
    // Banks may omit a control total.
    assert_eq!(one(&whole.replace("49,5000", "49,"), None).entries.len(), 1);
    let (refused, _) = refusal(&whole.replace("B1", &"B".repeat(201)), None);
    assert_eq!(refused, Refusal::Field { line: 4, field: "The reference", problem: Problem::TooLong { most: 200 } });
}

#[test]
fn a_header_with_more_or_fewer_commas_is_one_all_the_same() {
    let whole = with("16,195,5000,Z,B1,,Rent/", 5_000);
    for header in [
        "01,122099999,123456789,260302,0800,1,80,1,2,/",
        "01,1,2,260302,0800,1,,,2,,,",
        "01,1,2,260302,0800,1/\n88,,,2/",
    ] {
        let text = whole.replacen("01,122099999,123456789,260302,0800,1,,,2/", header, 1);
        assert_eq!(one(&text, None).entries.len(), 1, "{header}");
    }
    for (header, expected) in [
        ("01,122099999,123456789,260302,0800,1,2/", "at line 1: The version in the file’s header (01) is missing"),
        ("01,122099999/", "at line 1: The version in the file’s header (01) is missing"),
        ("01,122099999,123456789,2026-03-02,0800,1,,,3,/", "is a BAI file of version “3”"),
    ] {
        let text = whole.replacen("01,122099999,123456789,260302,0800,1,,,2/", header, 1);
        let (_, sentence) = refusal(&text, None);
        assert!(sentence.contains(expected), "{sentence}");
    }
    let (_, sentence) = refusal(&whole.replacen("02,031001234,122099999,1,260302", "02,031001234,1,260302", 1), None);
    assert!(sentence.contains("at line 2: The group’s status must be"), "{sentence}");
}

fn filled(lines: &str, length: usize) -> String {
    let mut text = String::new();
    for line in lines.lines() {
        write!(text, "{line:length$}").unwrap();
    }
    text
}

#[test]
fn records_of_one_length_need_no_line_ends() {
    let lines = with("16,195,5000,Z,B1,,Rent of Größe/\n88,and more/", 5_000);
    let expected = one(&lines, None);
    for (length, header) in [(80, "1,80,1,2/"), (80, "1,,,2/"), (96, "1,96,10,2,/"), (80, "1,128,,2/")] {
        let text = lines.replacen("1,,,2/", header, 1);
        let filled = filled(&text, length);
        for filled in [filled.clone(), filled.trim_end().to_owned(), filled + "\n"] {
            assert_eq!(one(&filled, None), expected, "{header}");
        }
    }
    let (refused, sentence) = refusal(&filled(&lines.replace("49,5000", "49,5001"), 80), None);
    assert!(matches!(refused, Refusal::ControlTotal { part: "account", line: 3, .. }), "{sentence}");
    // A single record is cut off, not a table.
    let (refused, sentence) = refusal("01,122099999,123456789,260302,0800,1,80,1,2/", None);
    assert!(matches!(refused, Refusal::CutOff { line: 1, .. }), "{sentence}");
}

#[test]
fn a_list_that_only_begins_alike_is_a_table() {
    for text in ["01,Rent,2026-03-02,50.00\n02,Rent,2026-03-03,60.00\n", "01,a,b,c,d,e,f,g,2\n02,a,b,c,d,e,f,g,2\n"] {
        assert_eq!(statements::read(text.as_bytes(), None), Err(Refusal::MappingNeeded), "{text}");
    }
}
