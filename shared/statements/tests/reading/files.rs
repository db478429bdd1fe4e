//! Files as seen from banks, beyond the standards. Names and numbers are invented.

use jiff::civil::date;
use statements::{Format, ReferenceKind, Side, Statement};

use super::references;

fn read(file: &[u8]) -> Statement {
    let mut statements = statements::read(file, None).unwrap_or_else(|refusal| panic!("The file {refusal}."));
    assert_eq!(statements.len(), 1);
    statements.remove(0)
}

#[test]
fn what_banks_write_beside_mt940_is_read() {
    for (name, file) in [
        ("blank entry date", include_bytes!("files/mt940-blank-entry-date.sta").as_slice()),
        ("no comma", include_bytes!("files/mt940-no-comma.sta")),
        ("other type", include_bytes!("files/mt940-other-type.sta")),
        ("SOH and ETX", include_bytes!("files/mt940-soh-etx.sta")),
    ] {
        let statement = read(file);
        let balances = [statement.opening, statement.closing].map(|balance| balance.unwrap().amount_minor);
        assert_eq!((statement.format, balances), (Format::Mt940, [10_000, 15_000]), "{name}");
        let [entry] = statement.entries.as_slice() else { panic!("{name}: one entry") };
        assert_eq!((entry.side, entry.amount_minor, entry.is_booked), (Side::Credit, 5_000, true), "{name}");
        assert_eq!((entry.value_on, entry.booked_on), (Some(date(2026, 3, 2)), Some(date(2026, 3, 2))), "{name}");
        assert_eq!(references(entry), [(ReferenceKind::BankReference, "B1")], "{name}");
        assert_eq!(entry.text.as_deref(), Some("Rent March"), "{name}");
    }
    let old = read(include_bytes!("files/mt940-cp852.sta"));
    assert_eq!((old.entries[0].amount_minor, old.closing.unwrap().amount_minor), (5_000, 15_000));
    let digits = read(include_bytes!("files/mt940-funds-code-digits-type.sta"));
    assert_eq!((digits.entries[0].amount_minor, digits.closing.unwrap().amount_minor), (5_000, 15_000));
    let account = digits.account.unwrap();
    assert_eq!((account.number(), account.bic()), ("100000000000000000000002", Some("BANKHUHB")));
}

#[test]
fn what_is_pending_in_a_report_is_not_booked() {
    let statement = read(include_bytes!("files/camt052-booked-and-pending.xml"));
    assert_eq!((statement.format, statement.account_ending().as_deref()), (Format::Camt052, Some("3000")));
    let entries: Vec<(i64, bool)> =
        statement.entries.iter().map(|entry| (entry.amount_minor, entry.is_booked)).collect();
    assert_eq!(entries, [(5_000, true), (7_000, false)]);
    let charges = read(include_bytes!("files/camt053-charges-in-details.xml"));
    let [entry] = charges.entries.as_slice() else { panic!("one entry") };
    assert_eq!((entry.amount_minor, entry.side), (152_600, Side::Debit));
}

#[test]
fn what_banks_in_the_united_states_offer_is_read() {
    let bai = read(include_bytes!("files/bai2-previous-day.txt"));
    let ofx = read(include_bytes!("files/ofx-1-sgml.ofx"));
    assert_eq!((bai.format, ofx.format), (Format::Bai2, Format::Ofx));
    assert_eq!(bai.opening.map(|balance| balance.amount_minor), Some(10_000));
    for (statement, kind) in [(&bai, ReferenceKind::BankReference), (&ofx, ReferenceKind::EntryReference)] {
        let account = statement.account.as_ref().unwrap();
        assert_eq!((account.number(), account.bank_code()), ("0975312468", Some("122099999")));
        let closing = statement.closing.unwrap();
        assert_eq!((closing.amount_minor, closing.currency.code()), (15_000, "USD"));
        assert_eq!(closing.on, Some(date(2026, 3, 2)));
        let [entry] = statement.entries.as_slice() else { panic!("one entry") };
        assert_eq!((entry.side, entry.is_reversal, entry.is_booked), (Side::Credit, false, true));
        assert_eq!((entry.amount_minor, entry.currency.code()), (5_000, "USD"));
        assert_eq!(entry.booked_on, Some(date(2026, 3, 2)));
        assert_eq!(references(entry)[0], (kind, "B1"));
        assert!(!format!("{statement:?}").contains("0975312468"));
    }
    let [entry] = bai.entries.as_slice() else { panic!("one entry") };
    assert_eq!(entry.value_on, Some(date(2026, 3, 2)));
    assert_eq!(references(entry)[1], (ReferenceKind::CustomerReference, "RENT MARCH"));
    assert_eq!(entry.text.as_deref(), Some("ORG NAME COBALT ANGELS LLC"));
    let [entry] = ofx.entries.as_slice() else { panic!("one entry") };
    assert_eq!(entry.counterparty.as_deref(), Some("COBALT ANGELS LLC"));
    assert_eq!(entry.text.as_deref(), Some("RENT MARCH"));
}
