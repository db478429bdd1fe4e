//! Any upload is read or refused, quickly and without a panic.

use proptest::prelude::*;
use statements::{Mapping, Refusal};

use super::{camt, table};

fn samples() -> Vec<Vec<u8>> {
    let entry = "<Ntry><NtryRef>1</NtryRef><Amt Ccy=\"EUR\">1.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>\
                 <BookgDt><Dt>2026-01-30</Dt></BookgDt><NtryDtls><TxDtls><Refs><EndToEndId>E&amp;1</EndToEndId></Refs>\
                 <RltdPties><Dbtr><Pty><Nm>Ada</Nm></Pty></Dbtr></RltdPties></TxDtls></NtryDtls></Ntry>";
    let mt = "{1:F01X}{4:\n:20:X\n:25:1/2\n:28C:1\n:60F:C260101EUR0,\n:61:2512310101CR1,5NTRFR//B\nmore\n\
              :86:166?00X?20EREF+E?21SVWZ+text?32Ada\n:62F:C260101EUR1,5\n-}";
    let csv = "2026-01-30,1.50\n2026-01-31,\"-2\"\n";
    let bai = "01,122099999,1,260302,0800,1,,,2/\n02,1,122099999,1,260302,2359,USD,2/\n03,12345678,USD,010,10000,,,015,15000,,/\n\
               16,195,5000,D,1,0,5000,B1,RENT/\n88,ORG NAME A/\n49,30000,4/\n98,30000,1,6/\n99,30000,1,8/\n";
    let ofx = "OFXHEADER:100\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>12345678</BANKACCTFROM>\
               <BANKTRANLIST><STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260302<TRNAMT>5.00<FITID>B1<NAME>A &amp; B<MEMO>x</STMTTRN></BANKTRANLIST>\
               <LEDGERBAL><BALAMT>1<DTASOF>20260302</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>";
    [camt::camt("camt.053.001.08", "BkToCstmrStmt", "Stmt", entry).as_str(), mt, csv, bai, ofx]
        .map(|text| text.as_bytes().to_vec())
        .into()
}

fn survive(bytes: &[u8], mapping: &Mapping) {
    let suggested = statements::suggest(bytes).ok().and_then(|suggestion| suggestion.complete());
    for mapping in [None, Some(mapping), suggested.as_ref()] {
        match statements::read(bytes, mapping) {
            Ok(statements) => {
                for entry in statements.iter().flat_map(|statement| &statement.entries) {
                    assert!(entry.amount_minor > 0);
                }
            }
            Err(refusal) => assert!(refusal.to_string().chars().count() < 400, "{refusal}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes, &table::bare());
    }

    #[test]
    fn random_text_is_survived(text in "(?s)(:[0-9]{2}[A-Z]?:|<[A-Za-z]{1,4}>|\\PC|[,;\t\"\n0-9/?+-]){0,120}") {
        survive(text.as_bytes(), &table::bare());
        survive(format!(":20:X\n:25:1\n:60F:C260101EUR1,\n:61:{text}\n:86:{text}\n:62F:C260101EUR1,\n").as_bytes(), &table::bare());
        survive(format!("2026-01-30,{text}\n").as_bytes(), &table::bare());
        survive(format!("01,1,2,260302,0800,1,,,2/\n02,1,2,1,260302,,,/\n03,1,,{text}\n16,195,{text}\n49,,/\n98,,,/\n99,,,/").as_bytes(), &table::bare());
        survive(format!("<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><STMTTRN>{text}<MEMO>{text}</STMTTRN></OFX>").as_bytes(), &table::bare());
    }

    #[test]
    fn spoiled_files_are_survived(
        which in 0..5_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 1..6),
    ) {
        let mut bytes = samples().swap_remove(which);
        for (at, kind, byte) in changes {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if at < bytes.len() => { bytes.remove(at); }
                _ => bytes.truncate(at),
            }
        }
        survive(&bytes, &table::bare());
    }
}

#[test]
fn binary_files_are_named() {
    for (bytes, expected) in [
        (b"%PDF-1.7\n".as_slice(), "The file is a PDF. Export the statement as camt.053, MT940, BAI2, OFX or CSV."),
        (b"PK\x03\x04rest", "The file is a zip archive or a spreadsheet."),
        (b"", "The file is empty."),
        (b":20:X\x00", "The file is not text: line 1 has characters that no statement has."),
    ] {
        let refusal = statements::read(bytes, None).unwrap_err();
        assert!(format!("The file {refusal}.").starts_with(expected), "{refusal}");
    }
    assert_eq!(statements::read(&vec![b' '; statements::limits::FILE_BYTES_MAX + 1], None), Err(Refusal::TooLarge));
}
