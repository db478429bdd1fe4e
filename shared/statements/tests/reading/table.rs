//! CSV files.

use jiff::civil::date;
use statements::{
    Amount, Column, CurrencySource, DateOrder, DecimalMark, Delimiter, Mapping, MappingProblem, Position, Problem,
    ReferenceColumn, ReferenceKind, Refusal, Side,
};

use super::{currency, named, one, references, refusal};

const GERMAN: &str = "Kontoauszug;;;;;;\nKonto;DE89370400440532013000;;;;;\n\n\
    Buchungstag;Wertstellung;Beguenstigter/Zahlungspflichtiger;Verwendungszweck;Kundenreferenz (End-to-End);Betrag;Währung\n\
    30.01.2026;31.01.2026;\"Northwind; Partners\";\"Series A\nzweite Zeile\";CLOSING-77;750.000,00;EUR\n\
    30.01.2026;30.01.2026;Bank;=HYPERLINK(\"http://x\");;-12,50;EUR\n\n\
    31.01.2026;02.02.2026;A Okafor;Miete;;1.000;EUR\n";

fn german() -> Mapping {
    Mapping {
        delimiter: None,
        has_header: true,
        booked_on: named("Buchungstag"),
        date_order: None,
        value_on: Some(named("wertstellung")),
        amount: Amount::Signed(named("Betrag")),
        decimal_mark: DecimalMark::Comma,
        currency: CurrencySource::Column(named("Währung")),
        references: vec![ReferenceColumn { kind: ReferenceKind::EndToEndId, column: Column::Numbered(5) }],
        counterparty: Some(named("Beguenstigter/Zahlungspflichtiger")),
        text: vec![named("Verwendungszweck")],
        status: None,
    }
}

/// A mapping without header: date, amount, currency EUR.
pub(super) fn bare() -> Mapping {
    Mapping {
        delimiter: Some(Delimiter::Comma),
        has_header: false,
        booked_on: Column::Numbered(1),
        date_order: Some(DateOrder::YearMonthDay),
        value_on: None,
        amount: Amount::Signed(Column::Numbered(2)),
        decimal_mark: DecimalMark::Period,
        currency: CurrencySource::Fixed(currency("EUR")),
        references: Vec::new(),
        counterparty: None,
        text: Vec::new(),
        status: None,
    }
}

#[test]
fn a_file_with_a_preamble_has_all_its_parts() {
    let entries = one(GERMAN, Some(&german())).entries;
    let [first, second, third] = entries.as_slice() else { panic!("three entries") };
    assert_eq!((first.side, first.amount_minor, first.position), (Side::Credit, 75_000_000, Position::Row(5)));
    assert_eq!((first.booked_on, first.value_on), (Some(date(2026, 1, 30)), Some(date(2026, 1, 31))));
    assert_eq!(first.counterparty.as_deref(), Some("Northwind; Partners"));
    assert_eq!(first.text.as_deref(), Some("Series A zweite Zeile"));
    assert_eq!(references(first), [(ReferenceKind::EndToEndId, "CLOSING-77")]);
    assert_eq!((second.side, second.amount_minor, second.position), (Side::Debit, 1_250, Position::Row(6)));
    assert_eq!(second.text.as_deref(), Some("=HYPERLINK(\"http://x\")"));
    assert_eq!((third.amount_minor, third.position), (100_000, Position::Row(8)));
}

#[test]
fn encodings_and_line_ends_change_nothing() {
    let expected = statements::read(GERMAN.as_bytes(), Some(&german())).unwrap();
    let latin: Vec<u8> = GERMAN.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let utf_16: Vec<u8> = [0xfeff].into_iter().chain(GERMAN.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf", GERMAN.as_bytes()].concat();
    let returns = GERMAN.replace('\n', "\r\n").into_bytes();
    let open = GERMAN.trim_end().as_bytes().to_vec();
    for bytes in [latin, utf_16, marked, returns, open] {
        assert_eq!(statements::read(&bytes, Some(&german())).unwrap(), expected);
    }
}

#[test]
fn a_mapping_is_remembered() {
    let json = serde_json::to_string(&german()).unwrap();
    assert_eq!(serde_json::from_str::<Mapping>(&json).unwrap(), german());
    assert!(json.contains(r#""booked_on":{"named":"Buchungstag"}"#), "{json}");
    assert!(serde_json::from_str::<Mapping>(&json.replace("has_header", "has_headers")).is_err());
    // It fits a file with moved columns, and no other.
    let moved = GERMAN.replace("Buchungstag;Wertstellung", "Wertstellung;Buchungstag");
    assert_eq!(one(&moved, Some(&german())).entries[0].booked_on, Some(date(2026, 1, 31)));
    let (refused, sentence) = refusal(&GERMAN.replace("Betrag", "Umsatz"), Some(&german()));
    assert!(matches!(refused, Refusal::Mapping(MappingProblem::HeaderMissing { .. })), "{sentence}");
    assert!(sentence.contains("“Betrag” is missing"), "{sentence}");
    let (refused, _) =
        refusal(&GERMAN.replace("Wertstellung", "Buchungstag"), Some(&Mapping { value_on: None, ..german() }));
    assert!(matches!(refused, Refusal::Mapping(MappingProblem::HeaderTwice { .. })));
}

#[test]
fn every_row_with_a_problem_is_named_and_nothing_is_read() {
    let text = "2026-01-30,10.00\n2026-02-30,10.00\n2026-01-30,ten\n2026-01-30,10.005\n2026-01-30\n2026-01-30,10.00,x\n,1.00\n\
                2026-01-30,\n";
    let (refused, sentence) = refusal(text, Some(&bare()));
    let Refusal::Rows(problems) = refused else { panic!("{sentence}") };
    let rows: Vec<usize> = problems.first.iter().map(|problem| problem.row).collect();
    assert_eq!((rows, problems.count), (vec![2, 3, 4, 5, 6, 7, 8], 7));
    let expected = "The file has 7 values that can't be read. Row 2: Column 1 must be a date such as 2026-01-31, not “2026-02-30”.";
    assert_eq!(sentence, expected);
    assert_eq!(problems.first[3].problem, Problem::Columns { found: 1, expected: 2 });
    let many = "2026-01-30,x\n".repeat(1000);
    let Refusal::Rows(problems) = refusal(&many, Some(&bare())).0 else { panic!("rows") };
    assert_eq!((problems.first.len(), problems.count), (statements::limits::ROW_PROBLEMS_MAX, 1000));
}

#[test]
fn ragged_rows_are_refused_but_blank_cells_at_the_end_are_not() {
    let mapping =
        Mapping { has_header: true, booked_on: named("date"), amount: Amount::Signed(named("amount")), ..bare() };
    assert_eq!(one("Date,Amount\n2026-01-30,1,,\n\n,,,\n2026-01-31,2\n", Some(&mapping)).entries.len(), 2);
    assert_eq!(one("Date,Amount,,\n2026-01-30,1\n", Some(&mapping)).entries.len(), 1);
    for text in [
        "Date,Amount\n2026-01-30,1,,x\n",
        "Date,Amount,Note\n2026-01-30,1\n",
        "Date,Amount\n2026-01-30,\"1\n2026-01-31,2\n",
    ] {
        assert!(matches!(refusal(text, Some(&mapping)).0, Refusal::Rows(_)), "{text}");
    }
}

#[test]
fn two_columns_and_sides_never_show_a_debit_as_a_credit() {
    let two = Mapping {
        amount: Amount::CreditAndDebit { credit: Column::Numbered(2), debit: Column::Numbered(3) },
        ..bare()
    };
    let side =
        Mapping { amount: Amount::WithSide { amount: Column::Numbered(2), side: Column::Numbered(3) }, ..bare() };
    for (mapping, cells, expected) in [
        (&two, "5.00,", Some((Side::Credit, 500))),
        (&two, "5.00,0.00", Some((Side::Credit, 500))),
        (&two, ",5.00", Some((Side::Debit, 500))),
        (&two, ",-5.00", Some((Side::Debit, 500))),
        (&two, "0.00,-5.00", Some((Side::Debit, 500))),
        (&two, "-5.00,", None),
        (&two, "5.00,5.00", None),
        (&two, ",", None),
        (&side, "5.00,CR", Some((Side::Credit, 500))),
        (&side, "5.00,Haben", Some((Side::Credit, 500))),
        (&side, "5.00,dbit", Some((Side::Debit, 500))),
        (&side, "-5.00,Soll", Some((Side::Debit, 500))),
        (&side, "-5.00,CR", None),
        (&side, "5.00,", None),
        (&side, "5.00,maybe", None),
    ] {
        let text = format!("2026-01-30,{cells}\n");
        let read = statements::read(text.as_bytes(), Some(mapping)).ok();
        let read = read.map(|statements| (statements[0].entries[0].side, statements[0].entries[0].amount_minor));
        assert_eq!(read, expected, "{cells}");
    }
}

#[test]
fn pending_rows_are_told_apart() {
    let mapping = Mapping { status: Some(Column::Numbered(3)), ..bare() };
    let entries = one("2026-01-30,1,Booked\n,2,Pending\n2026-01-30,3,vorgemerkt\n", Some(&mapping)).entries;
    assert_eq!(entries.iter().map(|entry| entry.is_booked).collect::<Vec<_>>(), [true, false, false]);
    assert!(matches!(refusal("2026-01-30,1,maybe\n", Some(&mapping)).0, Refusal::Rows(_)));
    assert!(matches!(refusal(",1,Booked\n", Some(&mapping)).0, Refusal::Rows(_)));
}

#[test]
fn the_order_of_dates_is_detected_only_where_it_is_clear() {
    let mapping = Mapping { date_order: None, ..bare() };
    let first = |text| one(text, Some(&mapping)).entries[0].booked_on;
    assert_eq!(first("01/02/2026,1\n31/01/2026,1\n"), Some(date(2026, 2, 1)));
    assert_eq!(first("01/02/2026,1\n01/31/2026,1\n"), Some(date(2026, 1, 2)));
    assert_eq!(first("2026-01-02,1\n"), Some(date(2026, 1, 2)));
    for text in ["01/02/2026,1\n", "01/31/2026,1\n31/01/2026,1\n", "x,1\n"] {
        let (refused, sentence) = refusal(text, Some(&mapping));
        assert!(matches!(refused, Refusal::Mapping(MappingProblem::DateOrderUnclear { .. })), "{sentence}");
    }
}

#[test]
fn columns_that_are_not_there_are_named() {
    let (_, sentence) = refusal("2026-01-30,1\n", Some(&Mapping { counterparty: Some(Column::Numbered(9)), ..bare() }));
    assert_eq!(sentence, "The file has 2 columns, but the mapping uses column 9.");
    let none = Mapping { counterparty: Some(Column::Numbered(0)), ..bare() };
    assert!(matches!(refusal("2026-01-30,1\n", Some(&none)).0, Refusal::Mapping(_)));
    let name = Mapping { counterparty: Some(named("Payer")), ..bare() };
    assert!(matches!(
        refusal("2026-01-30,1\n", Some(&name)).0,
        Refusal::Mapping(MappingProblem::NameWithoutHeader { .. })
    ));
    assert_eq!(refusal("2026-01-30,1\n", None).0, Refusal::MappingNeeded);
    assert_eq!(refusal("Dear Sir or Madam", None).0, Refusal::UnknownFormat);
}

#[test]
fn a_column_that_does_not_say_whose_reference_it_has_is_of_no_bank() {
    for (name, kind) in [
        ("Reference", ReferenceKind::Other),
        ("Ref", ReferenceKind::Other),
        ("Référence", ReferenceKind::Other),
        ("Reference number", ReferenceKind::Other),
        ("ID", ReferenceKind::Other),
        ("Bank reference", ReferenceKind::BankReference),
        ("Transaction ID", ReferenceKind::TransactionId),
    ] {
        let text = format!("Date,Amount,Currency,{name}\n2026-03-18,250000.00,USD,RENT-4B\n");
        let suggested = statements::suggest(text.as_bytes()).unwrap();
        let kinds: Vec<_> = suggested.mapping.references.iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [kind], "{name}");
    }
}

#[test]
fn a_suggestion_fits_the_file_it_is_made_from() {
    let suggestion = statements::suggest(GERMAN.as_bytes()).unwrap();
    assert_eq!((suggestion.delimiter, suggestion.has_header), (Delimiter::Semicolon, true));
    assert_eq!(suggestion.headers.len(), 7);
    assert_eq!(suggestion.sample_rows.len(), 3);
    assert_eq!(suggestion.sample_rows[0][3], "Series A zweite Zeile");
    let mapping = suggestion.complete().unwrap();
    assert_eq!(mapping.date_order, Some(DateOrder::DayMonthYear));
    assert_eq!(one(GERMAN, Some(&mapping)), one(GERMAN, Some(&german())));
    for (text, mark, amount) in [
        (
            "Date,Description,Paid out,Paid in,Currency,Status\n13 Jan 2026,Rent,,\"1,250.00\",GBP,Completed\n",
            DecimalMark::Period,
            Amount::CreditAndDebit { credit: named("Paid in"), debit: named("Paid out") },
        ),
        (
            "Date de valeur\tDate opération\tLibellé\tMontant\tSens\tDevise\n31/01/2026\t30/01/2026\tLoyer\t1 250,00\tCrédit\tEUR\n",
            DecimalMark::Comma,
            Amount::WithSide { amount: named("Montant"), side: named("Sens") },
        ),
    ] {
        let mapping = statements::suggest(text.as_bytes()).unwrap().complete().unwrap();
        assert_eq!((mapping.decimal_mark, &mapping.amount), (mark, &amount));
        let entry = &one(text, Some(&mapping)).entries[0];
        assert_eq!((entry.side, entry.amount_minor), (Side::Credit, 125_000));
    }
}

#[test]
fn a_suggestion_shows_no_account_number_and_guesses_no_more_than_it_knows() {
    let text = "Account number,Name,Date,Amount,IBAN\n000123456789,Ada,01/02/2026,100,DE89370400440532013000\n";
    let suggestion = statements::suggest(text.as_bytes()).unwrap();
    assert_eq!(suggestion.sample_rows, [["…6789", "Ada", "01/02/2026", "100", "…3000"]]);
    assert_eq!((suggestion.mapping.date_order, suggestion.mapping.decimal_mark), (None, None));
    assert_eq!(suggestion.complete(), None);
    let suggestion = statements::suggest(b"2026-01-30,1\n").unwrap();
    assert_eq!(
        (suggestion.has_header, suggestion.headers),
        (false, vec!["Column 1".to_owned(), "Column 2".to_owned()])
    );
    let twice = statements::suggest(b"Date,Name,Amount,Name\n2026-01-30,a,1,b\n").unwrap();
    assert_eq!(twice.columns[1], Column::Numbered(2));
    assert!(statements::suggest(b"<a/>").is_err());
}
