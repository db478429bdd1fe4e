use jiff::civil::date;
use statements::{Format, Position, Problem, ReferenceKind, Refusal, Side, XmlProblem, limits};

use super::{one, references, refusal};

/// An account number that must not appear in any output.
const IBAN: &str = "DE89370400440532013000";

pub(super) fn camt(message: &str, body: &str, part: &str, content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:{message}\">\n\
         <{body}><GrpHdr><MsgId>20260131-7</MsgId></GrpHdr>\n<{part}><Id>S-1</Id>\
         <Acct><Id><IBAN>{IBAN}</IBAN></Id><Ccy>EUR</Ccy></Acct>\n{content}</{part}></{body}></Document>\n"
    )
}

fn camt053(content: &str) -> String {
    camt("camt.053.001.08", "BkToCstmrStmt", "Stmt", content)
}

fn balance(kind: &str, amount: &str, side: &str) -> String {
    format!(
        "<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>\
         <Dt><Dt>2026-01-30</Dt></Dt></Bal>\n"
    )
}

const OLD_ENTRY: &str = r#"<Ntry><NtryRef>4</NtryRef><Amt Ccy="EUR">750000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>
<BookgDt><Dt>2026-01-30</Dt></BookgDt><ValDt><DtTm>2026-01-31T08:00:00+01:00</DtTm></ValDt><AcctSvcrRef>0130-8812</AcctSvcrRef>
<NtryDtls><TxDtls><Refs><EndToEndId>CLOSING-77</EndToEndId><TxId>TX-1</TxId><InstrId>NOTPROVIDED</InstrId></Refs>
<AmtDtls><TxAmt><Amt Ccy="EUR">750000.00</Amt></TxAmt></AmtDtls>
<RltdPties><Dbtr><Nm>Northwind &amp; Partners</Nm></Dbtr><Cdtr><Nm>Own Company</Nm></Cdtr></RltdPties>
<RmtInf><Ustrd>Series A</Ustrd><Ustrd>from GB82 WEST 1234 5698 7654 32</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"#;

#[test]
fn an_entry_of_the_oldest_version_has_all_its_parts() {
    let content = [&balance("PRCD", "10.50", "DBIT"), &balance("CLBD", "749989.50", "CRDT"), OLD_ENTRY].concat();
    let statement = one(&camt("camt.053.001.02", "BkToCstmrStmt", "Stmt", &content), None);
    assert_eq!((statement.format, statement.account_ending().as_deref()), (Format::Camt053, Some("3000")));
    assert_eq!(statement.opening.map(|balance| balance.amount_minor), Some(-1_050));
    assert_eq!(statement.closing.and_then(|balance| balance.on), Some(date(2026, 1, 30)));
    let [entry] = statement.entries.as_slice() else { panic!("one entry") };
    assert_eq!((entry.side, entry.is_reversal, entry.is_booked), (Side::Credit, false, true));
    assert_eq!((entry.amount_minor, entry.currency.code()), (75_000_000, "EUR"));
    assert_eq!((entry.booked_on, entry.value_on), (Some(date(2026, 1, 30)), Some(date(2026, 1, 31))));
    assert_eq!(entry.position, Position::Line(7));
    let expected = [
        (ReferenceKind::EndToEndId, "CLOSING-77"),
        (ReferenceKind::TransactionId, "TX-1"),
        (ReferenceKind::AccountServicerReference, "0130-8812"),
        (ReferenceKind::EntryReference, "4"),
    ];
    assert_eq!(references(entry), expected);
    assert_eq!(entry.counterparty.as_deref(), Some("Northwind & Partners"));
    assert_eq!(entry.text.as_deref(), Some("Series A from …5432"));
    assert!(!format!("{statement:?}").contains(IBAN));
}

#[test]
fn an_entry_of_a_new_version_has_status_and_party_in_other_places() {
    let content = r#"<Ntry><Amt Ccy="KWD">1.234</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts>
        <NtryDtls><TxDtls><Refs><UETR>eb6305c9-1f7f-49de-aed0-16487c27b42d</UETR></Refs><Amt Ccy="KWD">1.234</Amt>
        <RltdPties><Dbtr><Pty><Nm>Zoë Ferrand</Nm></Pty></Dbtr></RltdPties>
        <RmtInf><Strd><CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf></TxDtls></NtryDtls>
        <AddtlNtryInf>Incoming wire</AddtlNtryInf></Ntry>"#;
    for version in ["08", "09", "13", "27"] {
        let message = format!("camt.054.001.{version}");
        let statement = one(&camt(&message, "BkToCstmrDbtCdtNtfctn", "Ntfctn", content), None);
        assert_eq!(statement.format, Format::Camt054);
        let [entry] = statement.entries.as_slice() else { panic!("one entry") };
        assert_eq!((entry.amount_minor, entry.is_booked), (1_234, false));
        let expected = [
            (ReferenceKind::Uetr, "eb6305c9-1f7f-49de-aed0-16487c27b42d"),
            (ReferenceKind::CreditorReference, "RF18539007547034"),
        ];
        assert_eq!(references(entry), expected);
        assert_eq!(entry.counterparty.as_deref(), Some("Zoë Ferrand"));
        assert_eq!(entry.text.as_deref(), Some("Incoming wire"));
    }
}

fn entry(amount: &str, side: &str, status: &str, more: &str) -> String {
    format!("<Ntry><Amt Ccy=\"EUR\">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>{more}<Sts>{status}</Sts></Ntry>")
}

#[test]
fn sides_reversals_and_statuses_are_told_apart() {
    for (side, status, more, expected) in [
        ("CRDT", "BOOK", "", (Side::Credit, false, true)),
        ("DBIT", "BOOK", "", (Side::Debit, false, true)),
        ("DBIT", "<Cd>BOOK</Cd>", "<RvslInd>true</RvslInd>", (Side::Debit, true, true)),
        ("CRDT", "BOOK", "<RvslInd>1</RvslInd>", (Side::Credit, true, true)),
        ("CRDT", "PDNG", "<RvslInd>false</RvslInd>", (Side::Credit, false, false)),
        ("CRDT", "INFO", "", (Side::Credit, false, false)),
        ("CRDT", "<Cd>FUTR</Cd>", "", (Side::Credit, false, false)),
        ("CRDT", "<Prtry>BOOK</Prtry>", "", (Side::Credit, false, false)),
        ("CRDT", "BOOK", "<NtryDtls><TxDtls><RtrInf/></TxDtls></NtryDtls>", (Side::Credit, true, true)),
    ] {
        let statement = one(&camt053(&entry("1.00", side, status, more)), None);
        let entry = &statement.entries[0];
        assert_eq!((entry.side, entry.is_reversal, entry.is_booked), expected, "{side} {status} {more}");
    }
}

#[test]
fn a_side_that_is_unclear_is_refused() {
    for (content, field) in [
        (entry("1.00", "", "BOOK", ""), "CdtDbtInd must be CRDT or DBIT"),
        (entry("1.00", "Credit", "BOOK", ""), "CdtDbtInd must be CRDT or DBIT"),
        (entry("-1.00", "CRDT", "BOOK", ""), "Amt must be an amount"),
        (entry("1.00", "DBIT", "BOOK", "<CdtDbtInd>CRDT</CdtDbtInd>"), "CdtDbtInd is there more than once"),
        (entry("1.00", "DBIT", "BOOK", "<RvslInd>no</RvslInd>"), "RvslInd must be true or false"),
        (entry("1.00", "CRDT", "DONE", ""), "Sts must be BOOK"),
        (entry("1.005", "CRDT", "BOOK", ""), "Amt must have no more than 2 decimals"),
        (entry("1,00", "CRDT", "BOOK", ""), "Amt must be an amount such as 1250.50"),
        (entry("1.00", "CRDT", "BOOK", "").replace("EUR", "XXX"), "Amt must be the three letters of a currency"),
        (entry("1.00", "CRDT", "BOOK", "<BookgDt><Dt>2026-02-30</Dt></BookgDt>"), "Dt must be a date"),
        ("<Ntry><Amt Ccy=\"EUR\">1</Amt><Sts>BOOK</Sts></Ntry>".to_owned(), "CdtDbtInd is missing"),
        ("<Ntry><Amt Ccy=\"EUR\">1</Amt><CdtDbtInd>CRDT</CdtDbtInd></Ntry>".to_owned(), "Sts is missing"),
    ] {
        let (_, sentence) = refusal(&camt053(&content), None);
        assert!(sentence.starts_with("The file can't be read at line 5: ") && sentence.contains(field), "{sentence}");
    }
}

fn batch(amount: &str, transactions: &[(&str, &str)]) -> String {
    let transactions: String = transactions
        .iter()
        .map(|(amount, side)| {
            let side = if side.is_empty() { String::new() } else { format!("<CdtDbtInd>{side}</CdtDbtInd>") };
            let refs = format!("<Refs><EndToEndId>E-{}</EndToEndId></Refs>", amount.len());
            if amount.is_empty() {
                format!("<TxDtls>{refs}</TxDtls>")
            } else {
                format!("<TxDtls>{refs}{amount}{side}</TxDtls>")
            }
        })
        .collect();
    entry(amount, "CRDT", "BOOK", &format!("<NtryDtls>{transactions}</NtryDtls>"))
}

#[test]
fn a_batch_is_split_where_its_transactions_add_up() {
    let content = batch(
        "90.00",
        &[
            ("<Amt Ccy=\"EUR\">60.00</Amt>", ""),
            ("<AmtDtls><TxAmt><Amt Ccy=\"EUR\">50</Amt></TxAmt></AmtDtls>", "CRDT"),
            ("<Amt Ccy=\"EUR\">20.0</Amt>", "DBIT"),
        ],
    );
    let content = content.replacen("<Sts>", "<AcctSvcrRef>B-1</AcctSvcrRef><Sts>", 1);
    let entries = one(&camt053(&content), None).entries;
    let amounts: Vec<_> = entries.iter().map(|entry| (entry.side, entry.amount_minor)).collect();
    assert_eq!(amounts, [(Side::Credit, 6_000), (Side::Credit, 5_000), (Side::Debit, 2_000)]);
    assert!(
        entries
            .iter()
            .all(|entry| references(entry)[1..] == [(ReferenceKind::BatchReference, "B-1")] && entry.is_booked)
    );
}

#[test]
fn another_batch_stays_whole_with_all_references() {
    for transactions in [
        [("<Amt Ccy=\"EUR\">60.00</Amt>", ""), ("<Amt Ccy=\"EUR\">5.00</Amt>", "")],
        [("<Amt Ccy=\"EUR\">60.00</Amt>", ""), ("", "")],
        [("<Amt Ccy=\"USD\">60.00</Amt>", ""), ("<Amt Ccy=\"EUR\">3.00</Amt>", "")],
        [("<Amt Ccy=\"EUR\">90.00</Amt>", "DBIT"), ("<Amt Ccy=\"USD\">0.00</Amt>", "")],
    ] {
        let entries = one(&camt053(&batch("90.00", &transactions)), None).entries;
        let [entry] = entries.as_slice() else { panic!("one entry: {entries:?}") };
        assert_eq!((entry.side, entry.amount_minor), (Side::Credit, 9_000));
        assert!(!entry.references.is_empty());
    }
}

#[test]
fn a_batch_that_stays_whole_keeps_its_own_reference_and_text_before_all_others() {
    let transaction = |n: usize| {
        let text = format!("<RmtInf><Ustrd>Invoice {n}</Ustrd></RmtInf>");
        format!("<TxDtls><Refs><EndToEndId>E-{n}</EndToEndId></Refs>{text}</TxDtls>")
    };
    let transactions: String = (0..=limits::REFERENCES_PER_ENTRY_MAX).map(transaction).collect();
    let own = "<AcctSvcrRef>B-1</AcctSvcrRef><AddtlNtryInf>Batch of the day</AddtlNtryInf>";
    for (own, text) in [(own, Some("Batch of the day")), ("<AcctSvcrRef>B-1</AcctSvcrRef>", None)] {
        let content = format!("{own}<NtryDtls>{transactions}</NtryDtls>");
        let entries = one(&camt053(&entry("90.00", "CRDT", "BOOK", &content)), None).entries;
        let [entry] = entries.as_slice() else { panic!("one entry: {entries:?}") };
        assert_eq!(references(entry)[0], (ReferenceKind::AccountServicerReference, "B-1"));
        assert_eq!((entry.references.len(), entry.text.as_deref()), (limits::REFERENCES_PER_ENTRY_MAX, text));
    }
}

#[test]
fn what_does_not_add_up_is_refused_with_the_difference() {
    let opening = balance("OPBD", "100.00", "CRDT");
    let closing = balance("CLBD", "90.00", "CRDT");
    let right = entry("10.00", "DBIT", "BOOK", "");
    let misread = entry("10.00", "CRDT", "BOOK", "");
    let pending = entry("7.00", "CRDT", "PDNG", "");
    assert_eq!(
        one(&camt053(&[&opening, &closing, &right, &pending].map(String::as_str).concat()), None).entries.len(),
        2
    );
    let content = [&opening, &closing, &misread].map(String::as_str).concat();
    let (refused, sentence) = refusal(&camt053(&content), None);
    assert!(matches!(refused, Refusal::Balance { expected: 11_000, found: 9_000, .. }), "{sentence}");
    assert!(sentence.contains("110.00 EUR") && sentence.contains("a difference of -20.00 EUR"), "{sentence}");
    // One page of several doesn't have all entries between its balances.
    let page = "<StmtPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></StmtPgntn>";
    assert_eq!(one(&camt053(&[page, &content].concat()), None).entries.len(), 1);
}

#[test]
fn entries_of_zero_are_counted() {
    let statement = one(&camt053(&[entry("0.00", "CRDT", "BOOK", ""), entry("1", "CRDT", "BOOK", "")].concat()), None);
    assert_eq!((statement.entries.len(), statement.entries_of_zero), (1, 1));
}

#[test]
fn prefixes_extensions_and_comments_change_nothing() {
    let foreign = "<x:Ntry xmlns:x=\"urn:bank\"><x:Amt>1</x:Amt></x:Ntry><Ntry xmlns=\"urn:bank\"><Amt>2</Amt></Ntry>\
                   <SplmtryData><Envlp><Ntry><Amt>3</Amt></Ntry></Envlp></SplmtryData><!-- <Ntry/> --><?bank no?>";
    let content = [foreign, &entry("<![CDATA[4.0]]>0", "CR&#68;T", "BOOK", "")].concat();
    let statement = one(&camt053(&content), None);
    assert_eq!(statement.entries.iter().map(|entry| entry.amount_minor).collect::<Vec<_>>(), [400]);
    let prefixed = camt053(&entry("4.00", "CRDT", "BOOK", ""))
        .replace("</", "</n:")
        .replace('<', "<n:")
        .replace("<n:/n:", "</n:")
        .replace("<n:?", "<?")
        .replace("xmlns=", "xmlns:n=");
    assert_eq!(one(&prefixed, None).entries[0].amount_minor, 400);
}

#[test]
fn doctypes_and_entities_are_refused() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE Document [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<Document>&b;</Document>";
    let (refused, sentence) = refusal(bomb, None);
    assert_eq!(refused, Refusal::Xml { line: 2, problem: XmlProblem::Doctype });
    assert!(sentence.contains("DOCTYPE"), "{sentence}");
    let file = "<!DOCTYPE d SYSTEM \"file:///etc/passwd\"><d/>";
    assert!(matches!(refusal(file, None).0, Refusal::Xml { problem: XmlProblem::Doctype, .. }));
    let (refused, sentence) = refusal(&camt053(&entry("&amount;", "CRDT", "BOOK", "")), None);
    assert!(matches!(refused, Refusal::Xml { line: 5, problem: XmlProblem::Entity { .. } }), "{sentence}");
}

#[test]
fn broken_and_cut_off_files_are_refused() {
    let whole = camt053(&[OLD_ENTRY, &entry("1.00", "CRDT", "BOOK", "")].concat());
    let end = whole.trim_end().len();
    for at in (60..end).filter(|at| whole.is_char_boundary(*at)) {
        let (refused, sentence) = refusal(&whole[..at], None);
        assert!(matches!(refused, Refusal::Xml { .. } | Refusal::OtherMessage { .. }), "{at}: {sentence}");
    }
    for (from, to) in [("</Ntry>", "</Ntr>"), ("<Sts>", "<Sts"), ("&amp;", "&"), ("</Document>", "</Document><a/>")] {
        let (refused, sentence) = refusal(&whole.replacen(from, to, 1), None);
        assert!(matches!(refused, Refusal::Xml { .. }), "{sentence}");
    }
}

#[test]
fn other_messages_are_named() {
    for (text, name) in [
        (camt("camt.060.001.05", "AcctRptgReq", "RptgReq", ""), "camt.060.001.05"),
        (camt("pain.001.001.09", "CstmrCdtTrfInitn", "PmtInf", ""), "pain.001.001.09"),
        ("<html><body>Session expired</body></html>".to_owned(), "<html>"),
    ] {
        let (refused, sentence) = refusal(&text, None);
        assert!(matches!(refused, Refusal::OtherMessage { .. }) && sentence.contains(name), "{sentence}");
    }
    let (refused, _) = refusal(&camt("camt.053.001.08", "BkToCstmrDbtCdtNtfctn", "Ntfctn", ""), None);
    assert_eq!(refused, Refusal::Field { line: 1, field: "BkToCstmrStmt", problem: Problem::Missing });
    let empty = camt053("").replace("<Stmt>", "<Rpt>").replace("</Stmt>", "</Rpt>");
    assert_eq!(refusal(&empty, None).0, Refusal::NoStatement);
}

#[test]
fn depth_size_and_attributes_are_bounded() {
    let deep = "<Ntry>".repeat(statements::limits::XML_DEPTH_MAX);
    assert!(matches!(refusal(&camt053(&deep), None).0, Refusal::Xml { problem: XmlProblem::TooDeep, .. }));
    let many = "<x/>".repeat(statements::limits::XML_ELEMENTS_MAX);
    assert!(matches!(refusal(&camt053(&many), None).0, Refusal::Xml { problem: XmlProblem::TooManyElements, .. }));
    let wide = " a=\"\"".repeat(1000);
    let wide = camt053(&format!("<x{wide}/>"));
    assert!(matches!(refusal(&wide, None).0, Refusal::Xml { problem: XmlProblem::TooManyAttributes, .. }));
    let twice = camt053("<Ntry><Amt Ccy=\"EUR\" Ccy=\"USD\">1</Amt></Ntry>");
    assert!(matches!(refusal(&twice, None).0, Refusal::Xml { problem: XmlProblem::Broken { .. }, .. }));
}

#[test]
fn a_reference_that_is_too_long_is_refused() {
    let long = "R".repeat(statements::limits::REFERENCE_CHARS_MAX + 1);
    let more = format!("<AcctSvcrRef>{long}</AcctSvcrRef>");
    let (_, sentence) = refusal(&camt053(&entry("1", "CRDT", "BOOK", &more)), None);
    assert!(sentence.contains("AcctSvcrRef has more than 200 characters"), "{sentence}");
}
