use jiff::civil::date;
use statements::{Format, Position, Problem, ReferenceKind, Refusal, Side};

use super::{one, references, refusal};

const GERMAN: &str = ":20:STARTUMSE\n:25:37040044/0532013000\n:28C:00007/001\n:60F:C251230EUR1000,00\n\
    :61:2512310102CR750000,00NTRFNONREF//0102-8812\n\
    :86:166?00GUTSCHRIFT?109310?20EREF+CLOSING-77?21KREF+NONREF?22SVWZ+Series A investme\n\
    nt into?23Contoso GmbH?24 IBAN+GB82WEST12345698765432?30WESTGB2L?3112345698765432?32Northwind Ventures?33 LLC\n\
    :61:260102DR12,5NCHGNONREF\n:86:805?00ENTGELT?20Kontof\u{fc}hrung\n\
    :62F:C260102EUR750987,50\n-\n";

#[test]
fn a_statement_with_numbered_subfields_has_all_its_parts() {
    let statement = one(GERMAN, None);
    assert_eq!((statement.format, statement.account_ending().as_deref()), (Format::Mt940, Some("3000")));
    assert_eq!(statement.opening.map(|balance| balance.amount_minor), Some(100_000));
    let [credit, debit] = statement.entries.as_slice() else { panic!("two entries") };
    assert_eq!((credit.side, credit.amount_minor, credit.position), (Side::Credit, 75_000_000, Position::Line(5)));
    assert_eq!((credit.value_on, credit.booked_on), (Some(date(2025, 12, 31)), Some(date(2026, 1, 2))));
    let expected = [(ReferenceKind::BankReference, "0102-8812"), (ReferenceKind::EndToEndId, "CLOSING-77")];
    assert_eq!(references(credit), expected);
    assert_eq!(credit.counterparty.as_deref(), Some("Northwind Ventures LLC"));
    assert_eq!(credit.text.as_deref(), Some("Series A investment into Contoso GmbH"));
    assert_eq!((debit.side, debit.amount_minor, debit.text.as_deref()), (Side::Debit, 1_250, Some("Kontoführung")));
    let all = format!("{statement:?}");
    assert!(!all.contains("0532013000") && !all.contains("12345698765432"), "{all}");
}

#[test]
fn line_ends_blocks_and_encodings_change_nothing() {
    let expected = one(GERMAN, None);
    assert_eq!(one(&GERMAN.replace('\n', "\r\n"), None), expected);
    let latin: Vec<u8> = GERMAN.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    assert_eq!(statements::read(&latin, None).unwrap(), std::slice::from_ref(&expected));
    let body = GERMAN.trim_end().trim_end_matches('-');
    let blocks =
        format!("{{1:F01BANKDEFFXXXX0000000000}}{{2:O9401200260102BANKDEFFXXXX}}{{4:\n{body}-}}{{5:{{CHK:1}}}}");
    let mut read = one(&blocks, None);
    for entry in &mut read.entries {
        let Position::Line(line) = &mut entry.position else { panic!("a line") };
        *line -= 1;
    }
    assert_eq!(read, expected);
}

#[test]
fn several_statements_are_read_one_by_one() {
    let text = [GERMAN, "\n", &GERMAN.replace("37040044/0532013000", "NL91ABNA0417164300EUR")].concat();
    let statements = statements::read(text.as_bytes(), None).unwrap();
    let endings: Vec<_> = statements.iter().filter_map(statements::Statement::account_ending).collect();
    assert_eq!(endings, ["3000", "4300"]);
    // The end may be missing before the next one begins.
    let text = text.replace("\n-\n", "\n");
    assert_eq!(statements::read(text.as_bytes(), None).unwrap().len(), 2);
}

fn with(lines: &str, closing: &str) -> String {
    format!(":20:X\n:25:1234567890\n:28C:1\n:60F:C260101EUR0,\n{lines}\n:62F:{closing}\n")
}

#[test]
fn a_message_on_the_line_of_its_headers_is_not_lost() {
    let second = GERMAN.replacen(":20:", "{1:F01X}{2:O940X}{4::20:", 1);
    let text = [GERMAN.trim_end().trim_end_matches('-'), &second].concat();
    assert_eq!(statements::read(text.as_bytes(), None).unwrap().len(), 2);
}

#[test]
fn a_message_on_the_line_on_which_another_ends_is_not_lost() {
    let first = GERMAN.trim_end().trim_end_matches('-');
    let blocks = GERMAN.replacen(":20:", "{1:F01X}{2:O940X}{4::20:", 1);
    for (between, second) in [
        ("-\u{3}\u{1}", GERMAN),
        ("-\u{3}\0\0\u{1}", GERMAN),
        ("-", GERMAN),
        ("-}", &blocks),
        ("-}{5:{CHK:1}}", &blocks),
    ] {
        let text = [first, between, second, "\u{3}\0\0\0"].concat();
        let read = statements::read(text.as_bytes(), None).unwrap_or_else(|refusal| panic!("The file {refusal}."));
        let entries: Vec<_> = read.iter().map(|statement| statement.entries.len()).collect();
        assert_eq!(entries, [2, 2], "{between:?}");
        assert_eq!(read[1].entries[0].position, Position::Line(15), "{between:?}");
    }
}

#[test]
fn full_subfields_go_on_in_the_next() {
    let lines = ":61:260105C1,NTRFNONREF\n:86:166?20EREF+ABCDEFGHIJKLMNOPQRSTUV?21WXYZ-1?22SVWZ+Deposit?23Unit 4B";
    let entry = one(&with(lines, "C260105EUR1,"), None).entries.remove(0);
    assert_eq!(references(&entry), [(ReferenceKind::EndToEndId, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-1")]);
    assert_eq!(entry.text.as_deref(), Some("Deposit Unit 4B"));
}

#[test]
fn code_words_are_read() {
    let lines = ":61:260105C1250,5NTRFNONREF\n\
        :86:/TRTP/SEPA OVERBOEKING/IBAN/GB82WEST12345698765432/BIC/WESTGB2L/NAME/NORTHWIND VENT\n\
        URES/REMI/INV-2026-17 deposit/EREF/E2E-1";
    let entry = one(&with(lines, "C260105EUR1250,5"), None).entries.remove(0);
    assert_eq!(references(&entry), [(ReferenceKind::EndToEndId, "E2E-1")]);
    assert_eq!(entry.text.as_deref(), Some("INV-2026-17 deposit"));
    assert!(entry.counterparty.is_some_and(|name| name.starts_with("NORTHWIND VENT")));
    let lines = ":61:260105C1,NTRFNONREF\n:86:/EREF/E2E-2//CNTP/GB82WEST12345698765432/WESTGB2L/A Okafor/London//REMI/USTD//Rent 4B/";
    let entry = one(&with(lines, "C260105EUR1,"), None).entries.remove(0);
    assert_eq!(references(&entry), [(ReferenceKind::EndToEndId, "E2E-2")]);
    assert_eq!((entry.counterparty.as_deref(), entry.text.as_deref()), (Some("A Okafor"), Some("Rent 4B")));
}

#[test]
fn free_details_are_text() {
    let lines = ":61:260105C1,NTRFREF\nORDERED BY BRANCH 7\n:86:Incoming wire from A. Okafor\nInvoice 17, GB82 WEST 1234 5698 7654 32";
    let entry = one(&with(lines, "C260105EUR1,"), None).entries.remove(0);
    assert_eq!(entry.text.as_deref(), Some("Incoming wire from A. Okafor Invoice 17, …5432"));
    let lines = ":61:260105C1,NTRFREF\nORDERED BY BRANCH 7";
    let entry = one(&with(lines, "C260105EUR1,"), None).entries.remove(0);
    assert_eq!(entry.text.as_deref(), Some("ORDERED BY BRANCH 7"));
}

#[test]
fn reversals_and_returns_are_told_apart() {
    for (lines, closing, side) in [
        (":61:260105RC1,NTRFREF", "D260105EUR1,", Side::Debit),
        (":61:260105RD1,NTRFREF", "C260105EUR1,", Side::Credit),
        (":61:260105D1,NTRFREF\n:86:109?00RUECKLASTSCHRIFT?20x", "D260105EUR1,", Side::Debit),
        (":61:260105C1,NTRFREF\n:86:/RTRN/AC04/REMI/x", "C260105EUR1,", Side::Credit),
    ] {
        let entry = one(&with(lines, closing), None).entries.remove(0);
        assert_eq!((entry.side, entry.is_reversal), (side, true), "{lines}");
    }
}

#[test]
fn a_debit_read_as_a_credit_would_not_add_up() {
    let (refused, sentence) = refusal(&with(":61:260105C5,NTRFREF", "D260105EUR5,"), None);
    assert!(matches!(refused, Refusal::Balance { line: 1, expected: 500, found: -500, .. }), "{sentence}");
    let expected = "The file doesn't add up: opening balance and entries of the statement at line 1 come to 5.00 EUR, but its \
                    closing balance is -5.00 EUR, a difference of -10.00 EUR.";
    assert_eq!(sentence, expected);
}

#[test]
fn currencies_have_their_decimals() {
    let text = with(":61:260105C1,234NTRFREF", "C260105KWD1,234").replace("EUR", "KWD");
    assert_eq!(one(&text, None).entries[0].amount_minor, 1_234);
    let text = with(":61:260105C1234,NTRFREF", "C260105JPY1234,").replace("EUR", "JPY");
    assert_eq!(one(&text, None).entries[0].amount_minor, 1_234);
    let (_, sentence) = refusal(&with(":61:260105C1,234NTRFREF", "C260105EUR1,23"), None);
    assert_eq!(
        sentence,
        "The file can't be read at line 5: :61: must have no more than 2 decimals in EUR, not “1,234”."
    );
}

#[test]
fn interim_reports_are_never_booked() {
    let text = ":20:X\n:25:1234567890\n:28C:1\n:34F:EUR0,\n:13D:2601051200+0100\n:61:260105C5,NTRFREF\n:90D:0EUR0,\n:90C:1EUR5,\n-";
    let statement = one(text, None);
    assert_eq!(statement.format, Format::Mt942);
    assert_eq!((statement.entries.len(), statement.entries[0].is_booked), (1, false));
}

#[test]
fn cut_off_and_broken_files_are_refused() {
    let whole = with(":61:260105C5,NTRFREF//B\n:86:Text", "C260105EUR5,00");
    for at in 5..whole.trim_end().len() - 3 {
        let (_, sentence) = refusal(&whole[..at], None);
        assert!(sentence.len() < 300, "{sentence}");
    }
    let (refused, sentence) = refusal(whole.split(":62F:").next().unwrap(), None);
    assert!(matches!(refused, Refusal::CutOff { line: 1, .. }), "{sentence}");
    for (from, to, expected) in [
        (":60F:", ":61:", ":60F: is missing"),
        (":60F:C260101EUR0,\n", "", ":60F: is missing"),
        ("C260105EUR5", "C260105USD5", ":62F: is in USD, but must be in EUR"),
        ("C260101EUR0,", "C260101EUR", ":60F: must be an amount"),
        ("C260101EUR0,", "X260101EUR0,", ":60F: must be a balance"),
        (":28C:1", ":32A:1", "is a SWIFT message with the field :32A:"),
        (":62F:", ":60M:C260101EUR0,\n:62F:", ":60F: is there more than once"),
        (":20:X\n", ":28:X\n:20:X\n", "at line 1: :20: is missing"),
    ] {
        let (_, sentence) = refusal(&whole.replacen(from, to, 1), None);
        assert!(sentence.contains(expected), "{sentence}");
    }
    let after = [&whole, "-\n:61:260105C5,NTRFREF\n"].concat();
    assert_eq!(refusal(&after, None).0, Refusal::Field { line: 9, field: ":20:", problem: Problem::Missing });
}
