use std::fmt::Write as _;
use std::time::{Duration, Instant};

use statements::{Mapping, Open, OpenMovements, Refusal, Statement, XmlProblem, limits};

use super::{camt, currency, table};

/// Generous for a debug build on a busy machine: catches quadratic growth.
const TOO_SLOW: Duration = Duration::from_mins(1);

/// Catches quadratic growth in parts so few that even it takes only ten seconds on the largest file.
const SLOW: Duration = Duration::from_secs(5);

fn read(name: &str, text: &str, mapping: Option<&Mapping>) -> Result<Statement, Refusal> {
    let start = Instant::now();
    let read = statements::read(text.as_bytes(), mapping);
    println!("{name}: {} bytes in {:?}", text.len(), start.elapsed());
    assert!(start.elapsed() < TOO_SLOW, "{name}");
    read.map(|mut statements| statements.remove(0))
}

fn mt940(count: usize) -> String {
    let mut text = ":20:X\n:25:123456789\n:28C:1\n:60F:C260101EUR0,\n".to_owned();
    for at in 0..count {
        writeln!(text, ":61:2601310131C1,50NTRFINV-{at}//B{at}\n:86:Deposit for INV-{at}").unwrap();
    }
    let cents = count * 150;
    text + &format!(":62F:C260131EUR{},{:02}\n-\n", cents / 100, cents % 100)
}

fn bai2(count: usize) -> String {
    let head = "01,1,2,260131,0800,1,,,2/\n02,1,2,1,260131,,EUR,2/\n03,123456789,,010,0,,/\n";
    let mut text = head.to_owned();
    for at in 0..count {
        writeln!(text, "16,195,150,Z,B{at},INV-{at},Deposit for INV-{at}/").unwrap();
    }
    let sum = count * 150;
    text + &format!("49,{sum},/\n98,{sum},1,/\n99,{sum},1,/\n")
}

fn csv(count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        writeln!(text, "2026-01-31,1.50,INV-{at},\"Northwind, Ventures {at}\",Deposit").unwrap();
    }
    text
}

fn batch(count: usize) -> String {
    let transaction = "<TxDtls><Amt Ccy=\"EUR\">1.50</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls>";
    let cents = count * 150;
    let content = format!(
        "<Ntry><Amt Ccy=\"EUR\">{}.{:02}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls>{}</NtryDtls></Ntry>",
        cents / 100,
        cents % 100,
        transaction.repeat(count)
    );
    camt::camt("camt.053.001.08", "BkToCstmrStmt", "Stmt", &content)
}

#[test]
fn as_many_entries_as_may_be_are_read_and_no_more() {
    let most = limits::ENTRIES_MAX;
    for (name, write) in [("MT940", mt940 as fn(usize) -> String), ("BAI2", bai2), ("CSV", csv), ("camt.053", batch)] {
        let mapping = Mapping { text: vec![statements::Column::Numbered(4)], ..table::bare() };
        let text = write(most);
        assert!(text.len() <= limits::FILE_BYTES_MAX, "{name}: {}", text.len());
        assert_eq!(read(name, &text, Some(&mapping)).unwrap().entries.len(), most);
        assert_eq!(read(name, &write(most + 1), Some(&mapping)), Err(Refusal::TooMany { what: "entries", most }));
    }
}

#[test]
fn many_entries_are_compared_with_many_movements() {
    let statement = read("MT940", &mt940(limits::ENTRIES_MAX), None).unwrap();
    let open = |id: usize| Open {
        id,
        amount_minor: if id.is_multiple_of(2) { 150 } else { 200 },
        currency: currency("EUR"),
        references: vec![format!("INV-{}", id * 40)],
        due_on: Some(jiff::civil::date(2026, 1, 1)),
        counterparty_names: vec!["Northwind Ventures LLC".to_owned()],
    };
    let start = Instant::now();
    let open = OpenMovements::new((0..1000).map(open).collect());
    // Without optimization, one in ten.
    let entries = || statement.entries.iter().step_by(if cfg!(debug_assertions) { 10 } else { 1 });
    let found: usize = entries().map(|entry| open.matches(entry).len()).sum();
    println!("{found} matches in {:?}", start.elapsed());
    assert!(found > entries().count() * limits::CANDIDATES_MAX && start.elapsed() < TOO_SLOW);
}

#[test]
fn what_would_grow_by_the_square_does_not() {
    // Without optimization, a smaller file shows it too.
    let size = if cfg!(debug_assertions) { limits::FILE_BYTES_MAX / 16 } else { limits::FILE_BYTES_MAX - 200 };
    let long = |before: &str, part: &str| format!("{before}{}", part.repeat((size - before.len()) / part.len()));
    let open = ":20:X\n:25:1\n:60F:C260101EUR0,\n:61:260101C1,NTRFA\n";
    for (name, mut text) in [
        ("slashes", long(&format!("{open}:86:/EREF/"), "/EREF/a")),
        ("marks", long(&format!("{open}:86:166?20"), " EREF+")),
        ("subfields", long(&format!("{open}:86:166"), "?20abc")),
        ("IBANs", long(&format!("{open}:86:"), "GB82 WEST 1234 ")),
        ("words", long(&format!("{open}:86:"), "a ")),
        ("details", long(open, ":86:abcdefghi\n")),
        ("fields", long(":20:X\n", ":28C:1\n")),
        ("lines", long(open, "continued\n")),
        ("messages", long("", ":20:X\n")),
        ("elements", long(&camt::camt("camt.053.001.08", "BkToCstmrStmt", "Stmt", "<Ntry>"), "<a/>")),
        ("prefixes", long("<a", " xmlns:b=\"c\"")),
        ("comment", long("<a><!--", "-")),
        ("references", long("<a>", "&amp;")),
        ("quotes", long("", "\"")),
        ("delimiters", long("", ";")),
        ("rows", long("", "a,b\n")),
        ("records", long("01,1,2,260302,0800,1,,,2/\n02,1,2,1,260302,,,/\n03,1,/\n", "16,195,1/\n")),
        ("summaries", long("01,1,2,260302,0800,1,,,2/\n02,1,2,1,260302,,,/\n03,1,", ",010,1,,D,1,1,1")),
        ("values", long("<OFX><STMTTRN>", "<NAME>a")),
        ("tags", long("<OFX>", "<")),
        ("aggregates", long("<OFX>", "<a>")),
        ("ampersands", long("<OFX><NAME>", "&")),
        ("literals", long("<OFX><NAME>", "<![CDATA[")),
        ("comments", long("<OFX><NAME>", "<!--")),
        ("literals after ends", long("<OFX>", "</A><![CDATA[>") + "</OFX>"),
        ("comments that are not closed", long("<OFX>", "<A><!-->") + "</OFX>"),
        ("closed literals", long("<OFX><NAME>", "<![CDATA[>]]>") + "</OFX>"),
        ("closed comments", long("<OFX><NAME>", "<!-- -->") + "</OFX>"),
        ("memos", long("<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><BANKTRANLIST><STMTTRN>", "<MEMO>a") + "</OFX>"),
        ("ends of messages", long(":20:X\n", "-}")),
        ("messages on a line", long(":20:X", "-\u{3}\u{1}:20:X")),
        ("zeros", long("-\u{3}", "\0")),
        (
            "records without line ends",
            long(&format!("{:46}", "01,1,2,260302,0800,1,46,,2/"), &format!("{:46}", "02,1,2,1,260302,,,/")),
        ),
    ] {
        let is_statement = text.starts_with(open);
        if is_statement {
            text.push_str("\n:62F:C260101EUR1,\n");
        }
        let is_too_long = text.lines().count() > limits::LINES_MAX;
        let read = read(name, &text, Some(&table::bare()));
        assert!(!is_statement || read.is_err() == is_too_long, "{name}");
        let start = Instant::now();
        let _ = statements::suggest(text.as_bytes());
        assert!(start.elapsed() < TOO_SLOW, "{name}");
    }
}

/// Half of the largest file, also without optimization: re-reading it for each part of the other half takes minutes.
const HALF: usize = limits::FILE_BYTES_MAX / 2 - 1000;

#[test]
fn a_literal_that_is_not_closed_is_looked_through_once() {
    let literal = "<A><![CDATA[>";
    let text = format!("<OFX>{}</OFX>", literal.repeat(2 * HALF / literal.len()));
    let refused = read("literals that are not closed", &text, None).unwrap_err();
    assert_eq!(refused, Refusal::CutOff { line: 1, missing: "end (</OFX>)" });
}

#[test]
fn tags_that_are_not_known_count_too() {
    let refused = read("unknown tags", &format!("<OFX>{}</OFX>", "<A>".repeat(limits::XML_ELEMENTS_MAX)), None);
    assert!(matches!(refused, Err(Refusal::Xml { problem: XmlProblem::TooManyElements, .. })));
}

#[test]
fn what_stands_at_a_batch_is_read_once() {
    let count = HALF / 90;
    let transactions = "<TxDtls><Amt Ccy=\"EUR\">1.50</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls>".repeat(count);
    let cents = count * 150;
    let entry = format!(
        "<Ntry><Amt Ccy=\"EUR\">{}.{:02}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><AcctSvcrRef>B</AcctSvcrRef>\
         <AddtlNtryInf>{}</AddtlNtryInf><NtryDtls>{transactions}</NtryDtls></Ntry>",
        cents / 100,
        cents % 100,
        "text ".repeat(HALF / 5),
    );
    let batch = read("batch", &camt::camt("camt.053.001.08", "BkToCstmrStmt", "Stmt", &entry), None).unwrap();
    assert_eq!(batch.entries.len(), count);
    let last = batch.entries.last().unwrap();
    assert!(last.references.len() == 1 && last.text.as_ref().is_some_and(|text| text.ends_with('…')));
}

#[test]
fn who_sends_a_group_is_read_once() {
    let group = format!("01,1,2,260302,0800,1,,,2/\n02,1,{},1,260302,,,/\n", "1".repeat(HALF));
    let accounts = "03,123456789,,/\n49,0,/\n".repeat(limits::STATEMENTS_MAX);
    let start = Instant::now();
    assert!(read("originator", &format!("{group}{accounts}98,0,/\n99,0,/\n"), None).is_ok());
    assert!(start.elapsed() < SLOW);
}

#[test]
fn names_of_columns_are_compared_as_they_were_read_once() {
    let names = format!(",{}", "n".repeat(HALF / 100)).repeat(limits::CSV_COLUMNS_MAX - 2);
    let header = format!("Date,Amount{names}\n");
    let start = Instant::now();
    let suggestion = statements::suggest(header.as_bytes()).unwrap();
    println!("names: {} bytes in {:?}", header.len(), start.elapsed());
    assert!(suggestion.has_header && start.elapsed() < SLOW);
}
