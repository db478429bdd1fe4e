use jiff::civil::date;
use statements::{Position, ReferenceKind, Refusal, Side, XmlProblem};

use super::{one, references, refusal};

const HEADER: &str =
    "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE\n\n";

fn with(transactions: &str) -> String {
    format!(
        "{HEADER}<OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>USD\n\
         <BANKACCTFROM><BANKID>122099999<ACCTID>0975312468<ACCTTYPE>CHECKING</BANKACCTFROM>\n\
         <BANKTRANLIST><DTSTART>20260301<DTEND>20260302\n{transactions}</BANKTRANLIST>\n</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
    )
}

fn transaction(kind: &str, amount: &str, more: &str) -> String {
    format!("<STMTTRN><TRNTYPE>{kind}<DTPOSTED>20260302<TRNAMT>{amount}<FITID>F1{more}</STMTTRN>\n")
}

#[test]
fn sgml_and_xml_say_the_same() {
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?OFX OFXHEADER=\"200\" VERSION=\"220\" SECURITY=\"NONE\"?>\n\
        <!-- export --><OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0</CODE></STATUS><FI><ORG>B</ORG></FI></SONRS></SIGNONMSGSRSV1>\n\
        <BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD</CURDEF>\n\
        <BANKACCTFROM><BANKID>122099999</BANKID><ACCTID>0975312468</ACCTID></BANKACCTFROM>\n\
        <BANKTRANLIST><DTSTART>20260301</DTSTART>\n<STMTTRN>\n<TRNTYPE>CREDIT</TRNTYPE><DTPOSTED>20260302120000.000[-5:EST]</DTPOSTED>\n\
        <DTAVAIL>20260303</DTAVAIL><TRNAMT>+1250.5</TRNAMT><FITID>B1</FITID><CHECKNUM/><REFNUM>R-7</REFNUM>\n\
        <NAME>Cobalt &amp; Sons</NAME><MEMO><![CDATA[Rent <March> & more]]></MEMO></STMTTRN>\n</BANKTRANLIST>\n\
        <LEDGERBAL><BALAMT>-150.00</BALAMT><DTASOF>20260302</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>";
    let sgml = [
        HEADER,
        "<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>122099999</BANKID><ACCTID>0975312468</BANKACCTFROM>\n\
        <BANKTRANLIST>\n<STMTTRN>\n<TRNTYPE>CREDIT\n<DTPOSTED>20260302\n<DTAVAIL>20260303\n<TRNAMT>1250,50\n<FITID>B1\n<CHECKNUM>\n\
        <REFNUM>R-7\n<NAME>Cobalt & Sons\n<MEMO>Rent <March> & more\n</STMTTRN>\n</BANKTRANLIST>\n<LEDGERBAL><BALAMT>-150.00<DTASOF>20260302\n\
        </LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>",
    ]
    .concat();
    for text in [xml, &sgml] {
        let statement = one(text, None);
        assert_eq!(statement.account.as_ref().unwrap().number(), "0975312468");
        let closing = statement.closing.unwrap();
        assert_eq!((closing.amount_minor, closing.on), (-15_000, Some(date(2026, 3, 2))));
        let [entry] = statement.entries.as_slice() else { panic!("one entry") };
        assert_eq!((entry.side, entry.amount_minor), (Side::Credit, 125_050));
        assert_eq!((entry.booked_on, entry.value_on), (Some(date(2026, 3, 2)), Some(date(2026, 3, 3))));
        assert_eq!(references(entry), [(ReferenceKind::EntryReference, "B1"), (ReferenceKind::Other, "R-7")]);
        assert_eq!(entry.counterparty.as_deref(), Some("Cobalt & Sons"));
    }
    assert_eq!(one(xml, None).entries[0].text.as_deref(), Some("Rent <March> & more"));
    assert_eq!(one(xml, None).entries[0].position, Position::Line(7));
}

#[test]
fn the_sign_says_the_side_and_what_contradicts_it_proves_nothing() {
    for (kind, amount, side, is_reversal) in [
        ("CREDIT", "5", Side::Credit, false),
        ("DEP", "5.00", Side::Credit, false),
        ("XFER", "+5.", Side::Credit, false),
        ("DEBIT", "-5.00", Side::Debit, false),
        ("CHECK", "-5,00", Side::Debit, false),
        ("DEBIT", "5.00", Side::Credit, true),
        ("CREDIT", "-5.00", Side::Debit, true),
    ] {
        let entry = one(&with(&transaction(kind, amount, "")), None).entries.remove(0);
        assert_eq!((entry.side, entry.is_reversal, entry.amount_minor), (side, is_reversal, 500), "{kind} {amount}");
    }
    let corrected = transaction("CREDIT", "5", "<CORRECTFITID>F0<CORRECTACTION>REPLACE");
    assert!(one(&with(&corrected), None).entries[0].is_reversal);
    let held = transaction("HOLD", "5", "");
    assert!(!one(&with(&held), None).entries[0].is_booked);
    assert_eq!(one(&with(&transaction("OTHER", "0.00", "")), None).entries_of_zero, 1);
}

#[test]
fn what_is_pending_is_not_booked() {
    let pending = "<STMTTRNP><TRNTYPE>CREDIT<DTTRAN>20260303<TRNAMT>7.00<NAME>A</STMTTRNP>";
    let text = with(&transaction("CREDIT", "5", ""))
        .replace("</STMTRS>", &format!("<BANKTRANLISTP><DTASOF>20260303{pending}</BANKTRANLISTP></STMTRS>"));
    let entries: Vec<(i64, bool)> =
        one(&text, None).entries.iter().map(|entry| (entry.amount_minor, entry.is_booked)).collect();
    assert_eq!(entries, [(500, true), (700, false)]);
}

#[test]
fn parts_of_a_transaction_have_names_of_their_own() {
    let more = "<NAME>Cobalt Angels<BANKACCTTO><BANKID>1<ACCTID>2</BANKACCTTO><CURRENCY><CURRATE>1.1<CURSYM>EUR</CURRENCY><INTU.X>7";
    let entry = one(&with(&transaction("CREDIT", "5", more)), None).entries.remove(0);
    assert_eq!((entry.currency.code(), entry.counterparty.as_deref()), ("EUR", Some("Cobalt Angels")));
    let more = "<PAYEE><NAME>Ada Okafor<ADDR1>1 Main</PAYEE><ORIGCURRENCY><CURRATE>1.1<CURSYM>EUR</ORIGCURRENCY>";
    let entry = one(&with(&transaction("CREDIT", "5", more)), None).entries.remove(0);
    assert_eq!((entry.currency.code(), entry.counterparty.as_deref()), ("USD", Some("Ada Okafor")));
}

#[test]
fn several_accounts_are_read_one_by_one() {
    let text = with(&transaction("CREDIT", "5", ""));
    let (head, rest) = text.split_once("<STMTTRNRS>").unwrap();
    let (one, tail) = rest.split_once("</STMTTRNRS>").unwrap();
    let other = one.replace("0975312468", "1234567890");
    let two = format!("{head}<STMTTRNRS>{one}</STMTTRNRS><STMTTRNRS>{other}</STMTTRNRS>{tail}");
    let statements = statements::read(two.as_bytes(), None).unwrap();
    let endings: Vec<_> = statements.iter().filter_map(statements::Statement::account_ending).collect();
    assert_eq!(endings, ["2468", "7890"]);
}

#[test]
fn what_banks_write_beside_the_standard_is_read() {
    let more = "<NAME>Cobalt Angels<MEMO>Rent<MEMO>March &amp; April<NAME>Other";
    let entry = one(&with(&transaction("CREDIT", "5", more)), None).entries.remove(0);
    assert_eq!(entry.counterparty.as_deref(), Some("Cobalt Angels"));
    assert_eq!(entry.text.as_deref(), Some("Rent March & April"));
    for (amount, minor) in [
        ("1,250.00", 125_000),
        ("-1,234,567.89", 123_456_789),
        ("1.250,00", 125_000),
        ("1250,00", 125_000),
        ("+1250.5", 125_050),
        (".50", 50),
    ] {
        let entry = one(&with(&transaction("OTHER", amount, "")), None).entries.remove(0);
        assert_eq!(entry.amount_minor, minor, "{amount}");
    }
    let whole = with(&transaction("CREDIT", "5", "<MEMO>Rent<!-- x --> of <![CDATA[<March>]]>"));
    let commented = whole.replace("<BANKMSGSRSV1>", "\n<!-- <STMTTRN> -->\n<BANKMSGSRSV1>");
    let literal = whole.replace("</BANKACCTFROM>", "</BANKACCTFROM><![CDATA[<CURDEF>EUR]]>\n");
    for text in [whole, commented, literal] {
        assert_eq!(one(&text, None).entries[0].text.as_deref(), Some("Rent of <March>"));
    }
}

#[test]
fn an_account_of_another_kind_without_entries_changes_nothing() {
    let whole = with(&transaction("CREDIT", "5", ""));
    let card = "<CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><CURDEF>USD<CCACCTFROM><ACCTID>1</CCACCTFROM>\
        <BANKTRANLIST><DTSTART>20260301</BANKTRANLIST></CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1>";
    for other in ["<CREDITCARDMSGSRSV1></CREDITCARDMSGSRSV1>", "<INVSTMTMSGSRSV1></INVSTMTMSGSRSV1>", card] {
        let text = whole.replace("<BANKMSGSRSV1>", &format!("{other}<BANKMSGSRSV1>"));
        assert_eq!(one(&text, None).entries.len(), 1, "{other}");
    }
    let (_, sentence) = refusal(&format!("{HEADER}<OFX>{card}</OFX>"), None);
    assert!(sentence.contains("is an OFX file of a credit card, not"), "{sentence}");
}

#[test]
fn what_is_missing_doubled_or_broken_is_refused() {
    let whole = with(&transaction("CREDIT", "5.00", "<MEMO>Rent"));
    for (from, to, expected) in [
        ("<TRNAMT>5.00", "", "at line 12: TRNAMT is missing"),
        ("<TRNAMT>5.00", "<TRNAMT>5.00<TRNAMT>6.00", "at line 12: TRNAMT is there more than once"),
        ("<TRNAMT>5.00", "<TRNAMT>1,25.00", "at line 12: TRNAMT must be an amount such as 1250.50, not “1,25.00”"),
        ("<TRNAMT>5.00", "<TRNAMT>1,250,000", "at line 12: TRNAMT must be an amount such as 1250.50, not “1,250,000”"),
        ("<TRNAMT>5.00", "<TRNAMT>1,250", "at line 12: TRNAMT must have no more than 2 decimals in USD, not “1,250”"),
        ("<TRNAMT>5.00", "<TRNAMT>5.00<DTPOSTED>20260302", "at line 12: DTPOSTED is there more than once"),
        ("<TRNAMT>5.00", "<TRNAMT>5.005", "at line 12: TRNAMT must have no more than 2 decimals"),
        ("<DTPOSTED>20260302", "<DTPOSTED>20260231", "at line 12: DTPOSTED must be a date such as 20260131"),
        ("<DTPOSTED>20260302", "<DTPOSTED>2026-03-02", "at line 12: DTPOSTED must be a date"),
        ("<CURDEF>USD", "<CURDEF>XXX", "CURDEF must be the three letters of a currency"),
        ("<CURDEF>USD", "", "CURDEF is missing"),
        ("<ACCTID>0975312468", "", "ACCTID is missing"),
        ("</STMTTRN>", "", "STMTTRN must be closed before another one"),
        ("<STMTTRNRS>", "", "must be closed before another one"),
        (
            "<BANKMSGSRSV1>",
            "<CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><BANKTRANLIST><STMTTRN></STMTTRN></BANKTRANLIST></CCSTMTRS></CCSTMTTRNRS>\
             </CREDITCARDMSGSRSV1><BANKMSGSRSV1>",
            "is an OFX file of a credit card, not",
        ),
        (
            "<BANKMSGSRSV1>",
            "<INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS></INVSTMTRS></INVSTMTTRNRS></INVSTMTMSGSRSV1><BANKMSGSRSV1>",
            "is an OFX file of an investment account",
        ),
        ("<MEMO>", "<MEMO><![CDATA[", "it has no end (</OFX>)"),
        ("<MEMO>", "<MEMO><!--", "it has no end (</OFX>)"),
    ] {
        let (_, sentence) = refusal(&whole.replacen(from, to, 1), None);
        assert!(sentence.contains(expected), "{sentence}");
    }
    for at in HEADER.len() + 5..whole.trim_end().len() - 1 {
        let (refused, sentence) = refusal(&whole[..at], None);
        assert!(matches!(refused, Refusal::CutOff { .. }), "{at}: {sentence}");
    }
    assert_eq!(refusal(HEADER, None).0, Refusal::CutOff { line: 1, missing: "root (<OFX>)" });
    assert_eq!(refusal(&format!("{HEADER}<OFX></OFX>"), None).0, Refusal::NoStatement);
    let deep = format!("{HEADER}<OFX>{}", "<STMTRS>".repeat(100));
    assert!(matches!(refusal(&deep, None).0, Refusal::Xml { problem: XmlProblem::TooDeep, .. }));
}
