use crate::Run;

const CAMT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr><Stmt><Id>S</Id>
<Acct><Id><IBAN>DE75512108001245126199</IBAN></Id><Ccy>EUR</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-29</Dt></Dt></Bal>
<Ntry><NtryRef>1</NtryRef><Amt Ccy="EUR">1.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-01-30</Dt></BookgDt>
<AcctSvcrRef>R</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>E&amp;1</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy="EUR">1.50</Amt></TxAmt></AmtDtls>
<RltdPties><Dbtr><Pty><Nm>Ada</Nm></Pty></Dbtr></RltdPties><RmtInf><Ustrd>Rent</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>"#;
const MT940: &str = "{1:F01BANKDEFFAXXX0000000000}{2:I940BANKDEFFXXXXN}{4:\n:20:X\n:25:51210800/1245126199\n:28C:1/1\n:60F:C260129EUR100,\n\
    :61:2601300130CR1,5NTRFREF//BANK\nmore\n:86:166?00TRANSFER?20EREF+E1?21SVWZ+text?32Ada\n:62F:C260130EUR101,5\n-}";
const CSV: &str = "Date;Amount;Currency;Payer;Purpose\r\n2026-01-30;1.50;EUR;Ada;Rent\r\n2026-01-31;\"-2,00\";EUR;\"Ben; Ltd\";\"He said \"\"no\"\"\"\r\n";
const INTERIM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt><GrpHdr><MsgId>M</MsgId></GrpHdr><Rpt><Id>R</Id>
<Acct><Id><IBAN>DE75512108001245126199</IBAN></Id><Ccy>EUR</Ccy></Acct>
<Ntry><Amt Ccy="EUR">1.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-01-30</Dt></BookgDt></Ntry>
<Ntry><Amt Ccy="EUR">2.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts></Ntry></Rpt></BkToCstmrAcctRpt></Document>"#;
const BAI: &str = "01,122099999,123456789,260302,0800,1,,,2/\n02,031001234,122099999,1,260302,2359,,2/\n03,0975312468,USD,010,500,,/\n\
    16,142,490196,V,260303,,172629,R-7/\n88,SOME PAYMENT, ACH/OFFSET\n16,475,100,S,40,60,0,,1001,CHECK\n\
    49,490796,5/\n98,490796,1,7/\n99,490796,1,9/\n";
const OFX_SGML: &str = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE\n\n\
    <OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>122099999<ACCTID>0975312468</BANKACCTFROM>\n\
    <BANKTRANLIST>\n<STMTTRN>\n<TRNTYPE>CREDIT\n<DTPOSTED>20260302120000.000[-5:EST]\n<TRNAMT>1250.50\n<FITID>B1\n<NAME>Cobalt & Sons\n\
    <MEMO>Rent\n</STMTTRN>\n</BANKTRANLIST>\n<LEDGERBAL><BALAMT>-150.00<DTASOF>20260302</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>";
const OFX_XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?><?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE"?>
<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD</CURDEF><BANKACCTFROM><BANKID>122099999</BANKID><ACCTID>0975312468</ACCTID></BANKACCTFROM>
<BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260302</DTPOSTED><TRNAMT>-5.00</TRNAMT><FITID>B1</FITID><CHECKNUM/>
<MEMO><![CDATA[Rent <March> & more]]></MEMO></STMTTRN></BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"#;
const WORDS: [&str; 36] = [
    "<STMTTRN>",
    "</STMTTRN>",
    "<TRNAMT>",
    "<FITID>",
    "<BANKACCTFROM>",
    "<?OFX",
    "\n16,",
    "\n88,",
    "\n03,",
    "\n49,",
    "/\n",
    "<Rpt>",
    "<Ntry>",
    "</Ntry>",
    "<!--",
    "<![CDATA[",
    "]]>",
    "&amp;",
    "&#x0;",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "&b;",
    "<Stmt>",
    "Ccy=\"XXX\"",
    "\n:61:",
    "\n:86:",
    "\n:62F:",
    "{4:",
    "-}",
    "?20",
    "\"",
    ";",
    ",",
    "\t",
    "\r",
    "\u{feff}",
    "\u{202e}",
];

#[test]
fn statements_are_read_or_refused() {
    let mut samples: Vec<Vec<u8>> =
        [CAMT, INTERIM, MT940, BAI, OFX_SGML, OFX_XML, CSV].map(|text| text.as_bytes().to_vec()).into();
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(CSV.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    samples.extend([wide, CAMT.replace("</Ntry>", &format!("</Ntry>{}", CAMT.repeat(3))).into_bytes()]);
    for sound in &samples[..6] {
        statements::read(sound, None).expect("a statement");
    }
    let mut run = Run::new("statements");
    while let Some(file) = run.next(&samples, &WORDS) {
        run.within_limits(|| {
            let mapping = statements::suggest(&file).ok().and_then(|suggestion| suggestion.complete());
            let _ = statements::rows(&file, 10);
            for mapping in [None, mapping.as_ref()] {
                if let Err(refusal) = statements::read(&file, mapping) {
                    assert!(refusal.to_string().chars().count() < 400, "{run}: {refusal}");
                }
            }
        });
    }
}
