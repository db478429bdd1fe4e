//! Bank statements: upload, matching, filing. Nothing is accepted automatically, and an entry counts once.

use std::fmt::Write as _;

use shared::domain::ids::MovementId;
use shared::domain::money::{Currency, Money};
use shared::domain::movement::terms::{Direction, PaymentTerms};
use tests::Org;
use tests::app::{Browser, Page};
use tests::attending::hidden;
use tests::payments::terms;

use super::{Deal, assert_says, path, publish_with, send, text};

pub(super) const LIST: &str = "/app/money/statements";
/// The statements' account. Its number appears only in the files.
pub(super) const ACCOUNT: &str = "DE89370400440532013000";

pub(super) fn entry(amount: &str, side: &str, reference: &str, text: &str) -> String {
    format!(
        "<Ntry><Amt Ccy=\"USD\">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd><Sts>BOOK</Sts>\
         <BookgDt><Dt>2026-03-18</Dt></BookgDt><ValDt><Dt>2026-03-18</Dt></ValDt><AcctSvcrRef>{reference}</AcctSvcrRef>\
         <NtryDtls><TxDtls><RltdPties><Dbtr><Nm>OKAFOR ADA</Nm></Dbtr></RltdPties>\
         <RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"
    )
}

pub(super) fn camt(id: &str, entries: &[String]) -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">\
         <BkToCstmrStmt><GrpHdr><MsgId>{id}</MsgId></GrpHdr><Stmt><Id>{id}</Id><Acct><Id><IBAN>{ACCOUNT}</IBAN></Id></Acct>\n\
         {}</Stmt></BkToCstmrStmt></Document>\n",
        entries.join("\n")
    )
    .into_bytes()
}

pub(super) async fn upload(by: &Browser, name: &str, file: &[u8]) -> Page {
    let page = by.get(LIST).await;
    let own = hidden(&page, LIST);
    let fields: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    by.upload(LIST, &fields, ("statement", name, file)).await
}

pub(super) async fn uploaded(by: &Browser, name: &str, file: &[u8]) -> String {
    let done = upload(by, name, file).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let path = done.location().trim_end_matches("#notice").to_owned();
    assert!(path.starts_with(LIST) && !path.ends_with("/columns"), "{path}");
    path
}

pub(super) fn pair(page: &Page, number: u32, payment: MovementId) -> (String, String) {
    let name = format!("pair.{number}.{payment}");
    let (_, rest) =
        page.body.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("{name}: {}", page.body));
    (name, rest.split('"').next().expect("a value").to_owned())
}

pub(super) async fn file(by: &Browser, page: &Page, path: &str, chosen: &[(String, String)]) -> Page {
    let typed: Vec<(&str, &str)> = chosen.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    send(by, page, path, &typed).await
}

pub(super) async fn another(deal: &Deal, purpose: &str, reference: &str, minor: i64) -> MovementId {
    let money = Money::new(minor, Currency::parse("USD").expect("a currency")).expect("an amount");
    let terms = |draft: &_| PaymentTerms { money: Some(money), ..terms(draft, purpose, reference) };
    let (_, id) = publish_with(&deal.org, &deal.people[0], purpose, terms).await;
    deal.org.open_movement([&deal.people[0], &deal.people[1]], id).await;
    id
}

pub(super) async fn state_of(org: &Org, id: MovementId) -> String {
    let read = org.get(format!("/api/v1/movements/{id}")).send().await.ok(200);
    read["state"].as_str().expect("a state").to_owned()
}

pub(super) fn review(page: &Page) -> String {
    let (before, _) = page.body.split_once("/accept\"").unwrap_or_else(|| panic!("nothing to review: {}", page.body));
    before.rsplit('"').next().expect("a path").to_owned()
}

#[tokio::test]
async fn an_entry_is_filed_and_only_a_member_accepts_it() {
    let deal = Deal::with_statements().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let file_of = camt(
        "S-1",
        &[
            entry("12.00", "CRDT", "B-1", "Interest"),
            entry("250000.00", "CRDT", "B-2", "Closing inv 117 from GB82 WEST 1234 5698 7654 32"),
            entry("250000.00", "DBIT", "B-3", "Back to sender INV-117"),
        ],
    );
    let page = maren.get("/app/money").await;
    assert_says(&page, &["<a class=\"button\" href=\"/app/money/statements\">Upload a statement</a>"]);
    let at = uploaded(maren, "march.xml", &file_of).await;
    let page = maren.get(&at).await;
    assert_says(
        &page,
        &[
            "3 entries were read. Next: choose the entries that prove an arrival.",
            "camt.053",
            "…3000",
            "18 Mar 2026",
            "Entry 2: $250,000.00 USD",
            "Closing payment, $250,000.00 USD",
            "Strong match",
            "Same amount and currency",
            "Reference “INV-117” is in the text",
            "2 days before the due date",
            "The payer’s name fits “Ada Okafor”",
            "Closing inv 117 from …5432",
            "<dt>Never proof of an arrival</dt><dd>1 debit</dd>",
            "<dt>Fit no payment</dt><dd>1</dd>",
            "Entry 3, $250,000.00 USD, is a debit. It has the reference “INV-117” of Closing payment",
            ">File as evidence</button>",
        ],
    );
    assert_eq!(page.body.matches("type=\"checkbox\"").count(), 1, "{}", page.body);
    assert!(!page.says(" checked"), "nothing is chosen by itself");

    let chosen = [pair(&page, 2, deal.id)];
    let done = file(maren, &page, &at, &chosen).await;
    assert_eq!((done.status, done.location()), (303, &*format!("{at}#notice")), "{}", done.body);
    let page = maren.get(&at).await;
    assert_says(&page, &["1 entry is filed as evidence", "Entry 2", "To review", "No other entry fits a payment"]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["reconciled"]), (&"processing".into(), &false.into()));
    assert_eq!(read["receipt"]["best_assurance"], "bank_verified");
    assert_eq!(read["receipt"]["received_minor"], 0, "nothing is accepted by itself");

    deal.file(maren, "receiving_bank_statement", "250,000.00", "TYPED-1").await;
    let payment = kim.get(&deal.path()).await;
    let read_from = format!("<dt>Read from</dt><dd><a href=\"{at}\">Statement march.xml, entry 2</a></dd>");
    assert_says(&payment, &["Read from the bank’s file", &read_from, "<dd>B-2</dd>", "Typed by a person"]);
    assert_eq!(text(&payment).matches("Read from the bank’s file").count(), 1);
    let accept = review(&page);
    let shown = kim.get(&format!("{accept}/accept")).await;
    assert_says(
        &shown,
        &["received $250,000.00 USD on 18 Mar 2026.", "Data of the receiving bank show it", &read_from],
    );
    let page = deal.follow(kim, &deal.accept(kim, &accept).await).await;
    assert_says(&page, &["Payment confirmed received"]);
    let read = deal.read().await;
    assert_eq!(
        (&read["state"], &read["confirmation_basis"]),
        (&"reconciled".into(), &"receiving_bank_statement".into())
    );
    assert_says(&maren.get(&at).await, &["Accepted", "<dt>Filed as evidence</dt><dd>1</dd>"]);

    // One call filed it, and one chose it. No record, page or audit row has an account number.
    let audit = deal.org.audit().await;
    let count =
        |operation: &str| audit.iter().filter(|row| row.to_string().contains(&format!("\"{operation}\""))).count();
    assert_eq!((count("file_statement_entries"), count("upload_statement")), (1, 1));
    let everything = format!("{:?}{audit:?}", deal.org.state().await);
    for number in [ACCOUNT, "GB82 WEST", "GB82WEST"] {
        assert!(!everything.contains(number), "{number}");
        for page in [&page, &payment, &shown, &maren.get(&at).await, &maren.get(LIST).await] {
            assert!(!page.says(number), "{number}");
        }
    }
}

#[tokio::test]
async fn one_file_proves_several_payments_and_is_there_once() {
    let deal = Deal::with_statements().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let deposit = another(&deal, "Deposit", "DEP-9", 5_000_000).await;
    let content =
        camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117"), entry("50000.00", "CRDT", "B-2", "deposit dep 9")]);
    let at = uploaded(maren, "march.xml", &content).await;
    let before = deal.org.state().await;
    let again = upload(kim, "the same.xml", &content).await;
    assert_eq!(again.status, 409, "{}", again.body);
    assert_says(&again, &["This file is uploaded already", &format!("<a href=\"{at}\">march.xml</a>")]);
    assert_eq!(deal.org.state().await, before);

    let page = maren.get(LIST).await;
    let (own, other) = (hidden(&page, LIST), camt("S-2", &[entry("1.00", "CRDT", "B-9", "x")]));
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let first = maren.upload(LIST, &own, ("statement", "a.xml", &other)).await;
    let second = maren.upload(LIST, &own, ("statement", "a.xml", &other)).await;
    assert_eq!([first.status, second.status], [303, 303], "{}", second.body);
    assert_eq!(first.location(), second.location());
    let next = camt("S-3", &[entry("2.00", "CRDT", "B-10", "x")]);
    let third = maren.upload(LIST, &own, ("statement", "b.xml", &next)).await;
    assert_eq!(third.status, 409, "{}", third.body);
    assert_says(&third, &["This form was already used. Add it again?", "Open the form again"]);
    let third = upload(maren, "b.xml", &next).await;
    assert_eq!(third.status, 303, "{}", third.body);
    assert_ne!(third.location(), first.location());
    let last = camt("S-4", &[entry("3.00", "CRDT", "B-11", "x")]);
    let (one, two) = tokio::join!(upload(maren, "c.xml", &last), upload(kim, "c.xml", &last));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.body, two.body);

    let page = kim.get(&at).await;
    let chosen = [pair(&page, 1, deal.id), pair(&page, 2, deposit)];
    let (one, other) = tokio::join!(file(kim, &page, &at, &chosen), file(kim, &page, &at, &chosen));
    assert_eq!([one.status, other.status], [303, 303], "{} {}", one.body, other.body);
    let third = file(kim, &page, &at, &chosen).await;
    assert_eq!(third.status, 303, "{}", third.body);
    assert_says(&kim.get(&at).await, &["2 entries are filed as evidence", "Deposit, $50,000.00 USD"]);
    for id in [deal.id, deposit] {
        let read = deal.org.get(format!("/api/v1/movements/{id}")).send().await.ok(200);
        assert_eq!((&read["state"], &read["receipt"]["evidence_count"]), (&"processing".into(), &1.into()));
    }
    let filed = deal.org.audit().await;
    let filed = filed.iter().filter(|row| row.to_string().contains("\"file_evidence\"")).count();
    assert_eq!(filed, 2, "each payment has its own call");

    let stranger = Deal::new().await;
    for page in [at.clone(), format!("{at}/columns")] {
        assert_eq!(stranger.maren.get(&page).await.status, 404);
    }
    let token = stranger.maren.get(LIST).await.hidden("form_token");
    let (name, value) = &chosen[0];
    let fields = [("form_token", token.as_str()), (name, value)];
    assert_eq!(stranger.maren.post(&at, &fields).await.status, 404);
    let own = uploaded(&stranger.maren, "march.xml", &content).await;
    assert_ne!(own, at);
    assert_eq!(stranger.maren.post(&own, &fields).await.status, 404, "another organization’s payment");
}

#[tokio::test]
async fn an_entry_counts_once_and_the_page_says_where_it_stands() {
    let deal = Deal::with_statements().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let twin = another(&deal, "Second closing", "INV-118", 25_000_000).await;
    let content = camt("S-1", &[entry("250000.00", "CRDT", "B-1", "Payment")]);
    let at = uploaded(maren, "march.xml", &content).await;
    let (page, of_kim) = tokio::join!(maren.get(&at), kim.get(&at));
    let [first, second] = [deal.id, twin].map(|id| pair(&page, 1, id));

    let both = file(maren, &page, &at, &[first.clone(), second.clone()]).await;
    assert_eq!(both.status, 422, "{}", both.body);
    assert_says(&both, &["Nothing was filed", "Entry 1 is chosen for two payments. It proves one arrival"]);
    assert_eq!(both.body.matches(" checked").count(), 2, "what was chosen stays chosen");
    let none = file(maren, &page, &at, &[]).await;
    assert_eq!(none.status, 422, "{}", none.body);
    assert_says(&none, &["Choose at least one entry for a payment."]);
    assert_eq!(state_of(&deal.org, twin).await, "instructions_ready");

    let others = pair(&of_kim, 1, twin);
    let (one, other) = tokio::join!(
        file(maren, &page, &at, std::slice::from_ref(&first)),
        file(kim, &of_kim, &at, std::slice::from_ref(&others))
    );
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.body, other.body);
    let (winner, loser, refused) = if one.status == 303 { (deal.id, twin, &other) } else { (twin, deal.id, &one) };
    let link = format!("href=\"{}\"", path(winner));
    assert_says(refused, &["Nothing was filed", "Entry 1: It is filed for another payment.", &link]);
    assert!(state_of(&deal.org, loser).await != "processing");

    // The same entry in an overlapping file, and in another format with the bank's reference.
    let overlap = camt("S-2", &[entry("7.00", "CRDT", "B-0", "Fee"), entry("250000.00", "CRDT", "B-1", "Payment")]);
    let mt940 = b":20:S\r\n:25:37040044/532013000\r\n:28C:1\r\n:60F:C260317USD0,00\r\n:61:2603180318C250000,00NTRFNONREF//b 1\r\n:86:Other words\r\n:62F:C260318USD250000,00\r\n-\r\n";
    for (name, file) in [("week.xml", overlap.as_slice()), ("day.sta", mt940.as_slice())] {
        let other = uploaded(maren, name, file).await;
        let page = maren.get(&other).await;
        assert_says(&page, &["This entry is filed already, for", &link, "It counts once."]);
        assert!(!page.says("type=\"checkbox\""), "{}", page.body);
        let number = if name == "week.xml" { 2 } else { 1 };
        let forged = [(format!("pair.{number}.{loser}"), first.1.clone())];
        let refused = file_forged(maren, &page, &other, &forged).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert_says(&refused, &["It is filed for another payment.", &link]);
    }

    let reject = review(&maren.get(&at).await);
    let payment = maren.get(&path(winner)).await;
    let rejected = send(maren, &payment, &format!("{reject}/reject"), &[("reason", "The other payment")]).await;
    assert_eq!(rejected.status, 303, "{}", rejected.body);
    let page = maren.get(&at).await;
    assert!(!page.says("To review"), "{}", page.body);
    let again = [pair(&page, 1, loser)];
    assert_eq!(file(maren, &page, &at, &again).await.status, 303);
    assert_eq!(state_of(&deal.org, loser).await, "processing");

    let part = uploaded(maren, "part.xml", &camt("S-9", &[entry("9.00", "CRDT", "B-9", "INV-118 INV-117")])).await;
    let (page, of_kim) = tokio::join!(maren.get(&part), kim.get(&part));
    let (mine, theirs) = (pair(&page, 1, winner), pair(&of_kim, 1, winner));
    let (mine, theirs) = (std::slice::from_ref(&mine), std::slice::from_ref(&theirs));
    let (one, other) = tokio::join!(file(maren, &page, &part, mine), file(kim, &of_kim, &part, theirs));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.body, other.body);
    let refused = if one.status == 409 { &one } else { &other };
    assert_says(refused, &["is filed for this payment already", &format!("href=\"{}\"", path(winner))]);
}

async fn file_forged(by: &Browser, page: &Page, path: &str, chosen: &[(String, String)]) -> Page {
    let token = page.hidden("form_token");
    let chosen = chosen.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields: Vec<(&str, &str)> = [("form_token", token.as_str())].into_iter().chain(chosen).collect();
    by.post(path, &fields).await
}

#[tokio::test]
async fn what_is_no_arrival_is_never_filed() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    let pending = entry("250000.00", "CRDT", "B-3", "INV-117").replace("BOOK", "PDNG");
    let reversal = entry("250000.00", "DBIT", "B-4", "INV-117").replace("<Sts>", "<RvslInd>true</RvslInd><Sts>");
    let content = camt("S-1", &[entry("250000.00", "DBIT", "B-1", "INV-117"), pending, reversal]);
    let at = uploaded(maren, "march.xml", &content).await;
    let page = maren.get(&at).await;
    assert_says(&page, &["1 debit, 1 reversal or return, 1 entry that is not booked", "No entry fits a payment"]);
    assert_eq!(text(&page).matches("It has the reference “INV-117”").count(), 3, "{}", page.body);
    // The organization's own payment arrives on someone else's statement.
    let outgoing =
        |draft: &_| PaymentTerms { direction: Direction::Outgoing, ..terms(draft, "Our own payment", "OUT-5") };
    let (_, own) = publish_with(&deal.org, &deal.people[0], "Outgoing", outgoing).await;
    deal.org.open_movement([&deal.people[0], &deal.people[1]], own).await;
    let credit = camt("S-2", &[entry("250000.00", "CRDT", "B-5", "OUT-5")]);
    let shown = maren.get(&uploaded(maren, "april.xml", &credit).await).await;
    assert_says(&shown, &["Compared with 1 payment that waits for proof", "Closing payment, $250,000.00 USD"]);
    assert!(!shown.says("Our own payment"), "{}", shown.body);

    let before = deal.org.state().await;
    for number in [0, 1, 2, 3, 4, u32::MAX] {
        let id = uuid::Uuid::now_v7().to_string();
        let refused = file_forged(maren, &page, &at, &[(format!("pair.{number}.{}", deal.id), id)]).await;
        assert_eq!(refused.status, 422, "{number}: {}", refused.body);
        assert_says(&refused, &["so it proves no arrival"]);
    }
    let is_statement = |path: &&str| path.starts_with(LIST) && path[LIST.len()..].matches('/').count() == 1;
    let mut actions = shown.body.split("action=\"").filter_map(|rest| rest.split('"').next());
    let april = actions.find(is_statement).expect("the form of the statement").to_owned();
    let id = uuid::Uuid::now_v7().to_string();
    let refused = file_forged(maren, &shown, &april, &[(format!("pair.1.{own}"), id)]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["“Our own payment” is paid by your organization"]);
    for name in ["pair.", "pair.1", "pair.x.y", "pair.1.1"] {
        let refused = file_forged(maren, &page, &at, &[(name.to_owned(), "on".to_owned())]).await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.body);
    }
    assert_eq!(deal.org.state().await, before);
}

#[tokio::test]
async fn a_file_is_read_completely_or_refused_with_the_reason() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    let before = deal.org.state().await;
    let whole = String::from_utf8(camt("S-1", &[entry("1.00", "CRDT", "B-1", "x")])).expect("text");
    let bomb = format!(
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>{}",
        whole.split_once("?>").expect("a head").1
    );
    let debit_as_credit = "Date,Amount,Type,Currency\n2026-03-18,-250000.00,Credit,USD\n";
    let off = ":20:S\r\n:25:1\r\n:28C:1\r\n:60F:C260317USD0,00\r\n:61:2603180318C250000,00NTRFNONREF\r\n:62F:C260318USD1,00\r\n-\r\n";
    for (name, file, why) in [
        ("a.xml", whole.replace("</Ntry>", "</Entry>").into_bytes(), "Statement can’t be read at line"),
        ("a.xml", whole.get(..whole.len() / 2).expect("half").into(), "Statement can’t be read at line"),
        ("a.xml", bomb.into_bytes(), "it has a DOCTYPE, which no bank statement needs"),
        ("a.xml", whole.replace("Ccy=\"USD\"", "Ccy=\"ABC\"").into_bytes(), "Statement can’t be read at line"),
        ("a.xml", whole.replace("1.00<", "&bomb;<").into_bytes(), "means nothing in a bank statement"),
        ("a.xml", whole.replace("UTF-8", "IBM037").into_bytes(), "Statement is in the encoding"),
        ("a.sta", off.into(), "Statement doesn’t add up"),
        (
            "a.pdf",
            b"%PDF-1.7 x".to_vec(),
            "Statement is a PDF. Export the statement as camt.053, MT940, BAI2, OFX or CSV",
        ),
        ("a.txt", b"Dear Sir or Madam".to_vec(), "Statement is not a bank statement"),
        ("a.xml", Vec::new(), "Statement is empty"),
        ("DE89370400440532013000.xml", whole.clone().into(), "has a name with an account or card number"),
    ] {
        let refused = upload(maren, name, &file).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why]);
        assert!(refused.title().starts_with("Error: "), "{}", refused.title());
        assert!(!refused.says(ACCOUNT), "{}", refused.body);
    }
    let large = upload(maren, "a.xml", &vec![b' '; 4 * 1024 * 1024 + 1]).await;
    assert_eq!(large.status, 422, "{}", large.body);
    assert_says(&large, &["Statement is 4.1 MB. The limit is 4 MB"]);
    let none = upload(maren, "", b"").await;
    assert_eq!(none.status, 422, "{}", none.body);
    assert_says(&none, &["Statement must be chosen"]);
    assert_eq!(deal.org.state().await, before);

    let latin = whole.replace("UTF-8", "ISO-8859-1").replace("OKAFOR ADA", "M\u{fc}ller");
    let latin: Vec<u8> = latin.chars().map(|letter| u8::try_from(u32::from(letter)).expect("Latin")).collect();
    uploaded(maren, "latin.xml", &latin).await;
    // A minus in the credit column is refused once the columns are known.
    let done = upload(maren, "a.csv", debit_as_credit.as_bytes()).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let columns = done.location().trim_end_matches("#notice").to_owned();
    let refused = choose(maren, &columns, &[("side", "3")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["The file can’t be read with these columns", "Row 2: “Amount” has the sign of a debit"]);
}

pub(super) async fn choose(by: &Browser, columns: &str, changes: &[(&str, &str)]) -> Page {
    let page = by.get(columns).await;
    let mut fields = vec![("form_token".to_owned(), page.hidden("form_token"))];
    for select in page.body.split("<select ").skip(1) {
        let select = select.split("</select>").next().expect("its end");
        let name = select.split_once("name=\"").and_then(|(_, rest)| rest.split('"').next()).expect("a name");
        let chosen = select.split("<option ").find(|option| option.contains(" selected"));
        let chosen = chosen.and_then(|option| option.split_once("value=\"")?.1.split('"').next()).unwrap_or_default();
        fields.push((name.to_owned(), chosen.to_owned()));
    }
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.push(((*name).to_owned(), (*value).to_owned()));
    }
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    by.post(columns, &fields).await
}

#[tokio::test]
async fn the_columns_of_a_csv_file_are_chosen_once() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    let head = "Buchungstag;Betrag;Wer;Zweck\n";
    let first = format!("{head}18.03.2026;250.000,00;Ada Okafor;INV-117\n17.03.2026;-12,00;Harbor Bank;Fee\n");
    let done = upload(maren, "march.csv", first.as_bytes()).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let columns = done.location().trim_end_matches("#notice").to_owned();
    assert!(columns.ends_with("/columns"), "{columns}");
    let at = columns.trim_end_matches("/columns").to_owned();
    let page = maren.get(&columns).await;
    assert_says(&page, &["Statement uploaded", "Which column is which?", "18.03.2026 · 17.03.2026", "250.000,00"]);
    assert_eq!(maren.get(&at).await.location(), columns, "it has no entries yet");
    assert_says(&maren.get(LIST).await, &["Needs its columns", &columns]);
    let again = upload(maren, "march.csv", first.as_bytes()).await;
    assert_says(&again, &["This file is uploaded already", &columns]);

    let full = [
        ("date", "1"),
        ("date_order", "day_month_year"),
        ("amount", "2"),
        ("decimal_mark", "comma"),
        ("fixed_currency", "USD"),
        ("payer", "3"),
        ("text", "4"),
    ];
    let with = |field: &'static str, value: &'static str| {
        let changed = full.into_iter().filter(move |(name, _)| *name != field).chain([(field, value)]);
        changed.collect::<Vec<_>>()
    };
    let before = deal.org.state().await;
    for (typed, why) in [
        (with("date", ""), "Date must be chosen"),
        (with("date", "99"), "Date must be chosen"),
        (with("amount", ""), "Amount must be chosen, or else Money in and Money out"),
        (with("credit", "2"), "Amount and the columns for money in and money out can’t both be chosen"),
        (with("decimal_mark", ""), "Decimal mark must be chosen"),
        (with("fixed_currency", ""), "Currency must be chosen, or else typed as Currency of all entries"),
        (with("fixed_currency", "XAU"), "Currency of all entries must be a currency of ISO 4217"),
        (with("decimal_mark", "period"), "Row 2: “Betrag” must be an amount"),
        (with("date_order", "month_day_year"), "Row 2: “Buchungstag” must be a date"),
    ] {
        let refused = choose(maren, &columns, &typed).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why]);
    }
    assert_eq!(deal.org.state().await, before);

    let done = choose(maren, &columns, &full).await;
    assert_eq!((done.status, done.location()), (303, &*format!("{at}#notice")), "{}", done.body);
    let page = maren.get(&at).await;
    assert_says(&page, &["2 entries were read", "Entry 1: $250,000.00 USD", "row 2", "Strong match", "1 debit"]);
    assert_says(&page, &["Choose the columns again"]);
    let second = choose_read(maren, &page, &columns, &full).await;
    assert_eq!((second.status, second.location()), (303, &*format!("{at}#notice")), "{}", second.body);

    // Until something is filed, the columns can change. The latest choice is remembered.
    assert_eq!(maren.get(&columns).await.status, 200);
    let other = with("payer", "");
    for chosen in [&other[..], &full] {
        let done = choose(maren, &columns, chosen).await;
        assert_eq!((done.status, done.location()), (303, &*format!("{at}#notice")), "{}", done.body);
    }
    let page = maren.get(&at).await;
    assert_eq!(file(maren, &page, &at, &[pair(&page, 1, deal.id)]).await.status, 303);
    assert_eq!(maren.get(&columns).await.location(), at, "it stays as it was read");
    assert!(!maren.get(&at).await.says("Choose the columns again"));
    let late = choose_read(maren, &page, &columns, &other).await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert_says(&late, &["The columns stay as they are"]);

    let april = format!("{head}18.04.2026;1,00;Ada Okafor;x\n");
    let next = uploaded(&deal.kim, "april.csv", april.as_bytes()).await;
    assert_says(&deal.kim.get(&next).await, &["1 entry was read", "18 Apr 2026"]);
    let other = upload(maren, "other.csv", b"Booked,Sum\n2026-03-18,1.00\n").await;
    assert!(other.location().contains("/columns"), "{}", other.body);
    let broken = upload(maren, "broken.csv", format!("{head}18.04.2026;lots;Ada;x\n").as_bytes()).await;
    assert!(broken.location().contains("/columns"), "what does not fit is chosen again: {}", broken.body);
    let wide = format!("{}\n{}\n", vec!["Amount,Date"; 30].join(","), vec!["1.00,2026-03-18"; 30].join(","));
    let wide = upload(maren, "wide.csv", wide.as_bytes()).await;
    assert_eq!(wide.status, 422, "{}", wide.body);
    assert_says(&wide, &["Statement has more than 48 columns. Export fewer of them."]);
}

async fn choose_read(by: &Browser, page: &Page, columns: &str, fields: &[(&str, &str)]) -> Page {
    let token = page.hidden("form_token");
    let fields: Vec<(&str, &str)> =
        [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    by.post(columns, &fields).await
}

#[tokio::test]
async fn fifty_thousand_entries_are_compared_within_one_page() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    let mut text = ":20:X\n:25:37040044/0532013000EUR\n:28C:1\n:60F:C260301USD0,\n".to_owned();
    for at in 0..49_999 {
        writeln!(text, ":61:2603180318C1,50NTRFR-{at}//B{at}\n:86:Deposit R-{at}").expect("text");
    }
    writeln!(text, ":61:2603180318C250000,00NTRFINV-117//LAST\n:86:Closing").expect("text");
    let closing = 49_999 * 150 + 25_000_000;
    writeln!(text, ":62F:C260331USD{},{:02}\n-", closing / 100, closing % 100).expect("text");
    let started = std::time::Instant::now();
    let at = uploaded(maren, "year.sta", text.as_bytes()).await;
    println!("uploaded in {:?}", started.elapsed());
    let started = std::time::Instant::now();
    let page = maren.get(&at).await;
    println!("compared in {:?}, {} bytes", started.elapsed(), page.body.len());
    assert_says(&page, &["50,000 entries were read", "<dt>Fit no payment</dt><dd>49,999</dd>", "Entry 50000: "]);
    assert!(page.body.len() < 60 * 1024, "{}", page.body.len());
    let chosen = [pair(&page, 50_000, deal.id)];
    let done = file(maren, &page, &at, &chosen).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(deal.state().await, "processing");

    let more = text.replace(":61:2603180318C250000,00", ":61:2603180318C1,00NTRFX\n:61:2603180318C250000,00");
    let refused = upload(maren, "more.sta", more.as_bytes()).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Statement has more than 50000 entries. Export a shorter period."]);
}

#[tokio::test]
async fn many_that_fit_are_paged_and_each_page_is_small() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    another(&deal, "Second closing", "INV-117", 25_000_000).await;
    let entries: Vec<String> = (0..40)
        .map(|at| entry("250000.00", "CRDT", &format!("B-{at}"), &format!("INV-117 {}", "w ".repeat(200))))
        .collect();
    let at = uploaded(maren, "many.xml", &camt("S-1", &entries)).await;
    let page = maren.get(&at).await;
    assert_says(&page, &["1 to 15 of 40", "rel=\"next\""]);
    assert!(page.body.len() < 60 * 1024, "{}", page.body.len());
    assert_says(&maren.get(&format!("{at}?offset=30")).await, &["31 to 40 of 40"]);
    assert_eq!(maren.get(&format!("{at}?offset=45")).await.location(), at);
    let alone = maren.get(&format!("{at}?entry=7")).await;
    assert_eq!(alone.body.matches("<fieldset").count(), 1, "{}", alone.body);
    assert_says(&alone, &["Entry 7: ", "Show all entries"]);
    // Partial receipts: at most fifteen at a time.
    let too_many: Vec<(String, String)> =
        (1..=16).map(|number| (format!("pair.{number}.{}", deal.id), uuid::Uuid::now_v7().to_string())).collect();
    let refused = file_forged(maren, &page, &at, &too_many).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Choose at most 15 entries at a time."]);
}

/// Banks' other formats than camt.053 and MT940 are recognized by content, and read alike.
#[tokio::test]
async fn reports_of_the_day_and_the_formats_of_american_banks_are_read() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    for (name, file, expected) in [
        (
            "day.xml",
            include_bytes!("../../../../../shared/statements/tests/reading/files/camt052-booked-and-pending.xml")
                .as_slice(),
            ["camt.052", "…3000", "2 entries", "1 entry that is not booked", "2 Mar 2026"],
        ),
        (
            "previous-day.txt",
            include_bytes!("../../../../../shared/statements/tests/reading/files/bai2-previous-day.txt"),
            ["BAI2", "…2468", "1 entry", "ORG NAME COBALT ANGELS LLC", "2 Mar 2026"],
        ),
        (
            "march.qfx",
            include_bytes!("../../../../../shared/statements/tests/reading/files/ofx-1-sgml.ofx"),
            ["OFX", "…2468", "1 entry", "COBALT ANGELS LLC · RENT MARCH", "2 Mar 2026"],
        ),
    ] {
        let at = uploaded(maren, name, file).await;
        assert_says(&maren.get(&at).await, &expected);
    }
}
