//! Round trip: what a small bank writes in each format reads back unchanged.

use std::fmt::Write as _;

use jiff::civil::Date;
use proptest::prelude::*;
use statements::{Amount, Column, DecimalMark, Entry, Mapping, ReferenceColumn, ReferenceKind, Side, Statement};

use super::{currency, one, table};

#[derive(Debug, Clone, PartialEq)]
struct Booking {
    is_credit: bool,
    is_reversal: bool,
    amount_minor: i64,
    booked_on: Date,
    value_on: Date,
    reference: Option<String>,
    name: Option<String>,
    text: Option<String>,
}

impl Booking {
    fn of(entry: &Entry, kind: ReferenceKind) -> Self {
        assert!(entry.is_booked);
        let reference = entry.references.iter().find(|reference| reference.kind == kind);
        Self {
            is_credit: entry.side == Side::Credit,
            is_reversal: entry.is_reversal,
            amount_minor: entry.amount_minor,
            booked_on: entry.booked_on.unwrap(),
            value_on: entry.value_on.unwrap(),
            reference: reference.map(|reference| reference.value.clone()),
            name: entry.counterparty.clone(),
            text: entry.text.clone(),
        }
    }

    fn signed(&self) -> i64 {
        if self.is_credit { self.amount_minor } else { -self.amount_minor }
    }
}

fn bookings() -> impl Strategy<Value = (String, Vec<Booking>)> {
    let day = (2001..2095_i16, 1..=12_i8, 1..=28_i8).prop_map(|(year, month, day)| jiff::civil::date(year, month, day));
    let words = || {
        prop::option::of(
            "[A-Za-z&.][A-Za-z0-9&. ,;'\"]{0,30}[a-z]"
                .prop_map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        )
    };
    let booking = (
        any::<bool>(),
        any::<bool>(),
        1..=10_i64.pow(14),
        day,
        -60..60_i64,
        prop::option::of("[A-Z0-9]{6}-[0-9]{4}"),
        words(),
        words(),
    );
    let booking =
        booking.prop_map(|(is_credit, is_reversal, amount_minor, booked_on, days, reference, name, text)| Booking {
            is_credit,
            is_reversal,
            amount_minor,
            booked_on,
            value_on: booked_on.saturating_add(jiff::Span::new().days(days)),
            reference,
            name,
            text,
        });
    (prop::sample::select(vec!["EUR", "JPY", "KWD", "CLF"]), prop::collection::vec(booking, 0..12))
        .prop_map(|(code, bookings)| (code.to_owned(), bookings))
}

fn amount(minor: i64, code: &str, mark: &str) -> String {
    let text = currency(code).written(i128::from(minor.abs()));
    text.split(' ').next().unwrap().replace('.', mark)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&#x22;")
}

fn camt(code: &str, bookings: &[Booking]) -> String {
    let sum: i64 = bookings.iter().map(Booking::signed).sum();
    let balance = |kind: &str, minor: i64| {
        let (side, amount) = (if minor < 0 { "DBIT" } else { "CRDT" }, amount(minor, code, "."));
        format!(
            "<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy=\"{code}\">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd></Bal>"
        )
    };
    let mut content = [balance("OPBD", 7), balance("CLBD", sum + 7)].concat();
    for booking in bookings {
        let element = |name: &str, text: &Option<String>| {
            text.as_ref().map(|text| format!("<{name}>{}</{name}>", escaped(text))).unwrap_or_default()
        };
        let party = if booking.is_credit == booking.is_reversal { "Cdtr" } else { "Dbtr" };
        let _ = write!(
            content,
            "<Ntry><Amt Ccy=\"{code}\">{}</Amt><CdtDbtInd>{}</CdtDbtInd><RvslInd>{}</RvslInd><Sts><Cd>BOOK</Cd></Sts>\n\
             <BookgDt><Dt>{}</Dt></BookgDt><ValDt><Dt>{}</Dt></ValDt><NtryDtls><TxDtls><Refs>{}</Refs>\
             <RltdPties><{party}><Pty>{}</Pty></{party}></RltdPties><RmtInf>{}</RmtInf></TxDtls></NtryDtls></Ntry>",
            amount(booking.amount_minor, code, "."),
            if booking.is_credit { "CRDT" } else { "DBIT" },
            booking.is_reversal,
            booking.booked_on,
            booking.value_on,
            element("EndToEndId", &booking.reference),
            element("Nm", &booking.name),
            element("Ustrd", &booking.text),
        );
    }
    super::camt::camt("camt.053.001.13", "BkToCstmrStmt", "Stmt", &content)
}

fn mt940(code: &str, bookings: &[Booking]) -> String {
    let comma = |minor| {
        let text = amount(minor, code, ",");
        if text.contains(',') { text } else { text + "," }
    };
    let balance = |minor: i64| format!("{}260101{code}{}", if minor < 0 { "D" } else { "C" }, comma(minor));
    let sum: i64 = bookings.iter().map(Booking::signed).sum();
    let mut text = format!(":20:X\r\n:25:123456789\r\n:28C:1/1\r\n:60F:{}\r\n", balance(-9));
    for booking in bookings {
        let mark = match (booking.is_credit, booking.is_reversal) {
            (true, false) => "C",
            (false, false) => "D",
            (false, true) => "RC",
            (true, true) => "RD",
        };
        let (value, booked) = (booking.value_on.strftime("%y%m%d"), booking.booked_on.strftime("%m%d"));
        let reference = booking.reference.as_deref().unwrap_or("NONREF");
        let _ = write!(text, ":61:{value}{booked}{mark}{}NTRF{reference}\r\n:86:999", comma(booking.amount_minor));
        for (number, part) in [("20SVWZ+", &booking.text), ("32", &booking.name)] {
            text += &part.as_ref().map(|part| format!("?{number}{part}")).unwrap_or_default();
        }
        text += if booking.text.is_none() && booking.name.is_none() { "?34000\r\n" } else { "\r\n" };
    }
    text + &format!(":62F:{}\r\n-\r\n", balance(sum - 9))
}

fn csv(code: &str, bookings: &[Booking]) -> String {
    let mut text = "Day;Value;Amount;Currency;Ref;Who;Why\n".to_owned();
    for booking in bookings {
        let quoted = |part: &Option<String>| format!("\"{}\"", part.clone().unwrap_or_default().replace('"', "\"\""));
        let sign = if booking.is_credit { "" } else { "-" };
        let _ = writeln!(
            text,
            "{};{};{sign}{};{code};{};{};{}",
            booking.booked_on.strftime("%d.%m.%Y"),
            booking.value_on.strftime("%d.%m.%Y"),
            amount(booking.amount_minor, code, ","),
            quoted(&booking.reference),
            quoted(&booking.name),
            quoted(&booking.text),
        );
    }
    text
}

fn csv_mapping() -> Mapping {
    let column = |number| Column::Numbered(number);
    Mapping {
        delimiter: None,
        has_header: true,
        date_order: Some(statements::DateOrder::DayMonthYear),
        value_on: Some(column(2)),
        amount: Amount::Signed(super::named("Amount")),
        decimal_mark: DecimalMark::Comma,
        currency: statements::CurrencySource::Column(super::named("Currency")),
        references: vec![ReferenceColumn { kind: ReferenceKind::EndToEndId, column: column(5) }],
        counterparty: Some(column(6)),
        text: vec![column(7)],
        ..table::bare()
    }
}

fn read(statement: &Statement, kind: ReferenceKind) -> Vec<Booking> {
    assert!(statement.entries.iter().all(|entry| entry.currency == statement.entries[0].currency));
    statement.entries.iter().map(|entry| Booking::of(entry, kind)).collect()
}

proptest! {
    #[test]
    fn camt_comes_back((code, bookings) in bookings()) {
        prop_assert_eq!(read(&one(&camt(&code, &bookings), None), ReferenceKind::EndToEndId), bookings);
    }

    #[test]
    fn mt940_comes_back((code, bookings) in bookings()) {
        prop_assert_eq!(read(&one(&mt940(&code, &bookings), None), ReferenceKind::CustomerReference), bookings);
    }

    #[test]
    fn csv_comes_back((code, mut bookings) in bookings()) {
        // CSV has no word for a reversal.
        for booking in &mut bookings {
            booking.is_reversal = false;
        }
        prop_assert_eq!(read(&one(&csv(&code, &bookings), Some(&csv_mapping())), ReferenceKind::EndToEndId), bookings);
    }
}
