//! Statements for tests.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "a test that has no statement fails there and then")]

use statements::Statement;

/// An entry: amount, side, more elements, text.
pub type Lines<'a> = (&'a str, &'a str, &'a str, &'a str);

/// A camt.053 statement in US dollars with these entries, all on one day.
#[must_use]
pub fn statement(entries: &[Lines<'_>]) -> Vec<Statement> {
    let entry = |(amount, side, more, text): &Lines<'_>| {
        // The format's order: the reversal comes before the status.
        let (reversal, more) = if more.contains("RvslInd") { (*more, "") } else { ("", *more) };
        format!(
            "<Ntry><Amt Ccy=\"USD\">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>{reversal}<Sts>BOOK</Sts>\
             <BookgDt><Dt>2026-03-18</Dt></BookgDt>{more}<AddtlNtryInf>{text}</AddtlNtryInf></Ntry>"
        )
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    let file = format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr>\
         <Stmt><Id>1</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>{}</Stmt></BkToCstmrStmt></Document>",
        entries.concat()
    );
    statements::read(file.as_bytes(), None).expect("a statement")
}
