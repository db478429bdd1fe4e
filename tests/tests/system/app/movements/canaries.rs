//! A whole deal with marked accounts, banks and instructions, from the payee's answer to reconciliation. Only the
//! sender's own page shows them in full, while released: nothing else does, for anyone and anywhere (goal S3).

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use shared::domain::agreement::Label;
use shared::domain::agreement::gate::{FieldType, GateRule, InformationField};
use shared::domain::ids::{FieldId, GateId};
use shared::domain::proposal::ProposalAction;
use tests::app::{Browser, FormCopy, Seen};
use tests::attending::{Attendee, hidden, link_of};
use tests::drafts::Drafted;
use tests::fixture::{Ids, path as path_at};
use tests::pages::{crawl, crawl_from};
use tests::payments::terms;
use tests::pdf::pdf;
use tests::subscriber::Subscriber;
use tests::{Needs, Org, rows, spec};

use super::statements::{camt, choose, entry, file, pair, review, upload};
use super::{CLAIM, Deal, assert_says, submit, text};

struct Marked {
    iban: String,
    account: String,
    routing: String,
    free: String,
    /// Words in all of them.
    words: [String; 3],
}

fn digits(count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + fastrand::u8(..10))).collect()
}

fn iban() -> String {
    let number = digits(18);
    let rest = format!("{number}131400").bytes().fold(0, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
    format!("DE{:02}{number}", 98 - rest)
}

fn routing() -> String {
    let number = format!("0210{}", digits(4));
    let weighted = number.bytes().zip([3, 7, 1, 3, 7, 1, 3, 7]).map(|(digit, weight)| u32::from(digit - b'0') * weight);
    format!("{number}{}", (10 - weighted.sum::<u32>() % 10) % 10)
}

impl Marked {
    fn new() -> Self {
        let word = |name: &str| format!("canary{name}{}", uuid::Uuid::new_v4().simple());
        let words = [word("holder"), word("bank"), word("text")];
        Self {
            iban: iban(),
            account: format!("7{}", digits(11)),
            routing: routing(),
            free: format!("8{}", digits(11)),
            words,
        }
    }

    fn numbers(&self) -> [&str; 5] {
        [&self.iban, &self.iban[4..], &self.account, &self.routing, &self.free]
    }

    /// Marks found in full: plain, grouped, or in base64 or hexadecimal at any offset; with `words`, words too.
    fn found_in<'a>(&'a self, text: &str, words: bool) -> Vec<&'a str> {
        let plain =
            text.replace("%20", "").replace("&nbsp;", "").replace([' ', '-', '+', '.', '\u{a0}', '\u{202f}'], "");
        let words = self.words.iter().map(String::as_str).filter(|_| words);
        let is_in = |mark: &&str| plain.contains(*mark) || encodings(mark).iter().any(|encoded| text.contains(encoded));
        self.numbers().into_iter().chain(words).filter(is_in).collect()
    }

    fn assert_absent(&self, place: &str, text: &str, words: bool) {
        assert_eq!(self.found_in(text, words), [""; 0], "{place}: {}", text.chars().take(4_000).collect::<String>());
    }
}

/// A text in hexadecimal, and in base64 at any offset, as far as it alone determines the letters.
fn encodings(text: &str) -> Vec<String> {
    let behind = (0..3_usize).map(|before| {
        let encoded = STANDARD.encode([&vec![0; before][..], text.as_bytes()].concat());
        encoded[(before * 8).div_ceil(6)..(before + text.len()) * 8 / 6].to_owned()
    });
    behind.chain([hexadecimal(text)]).collect()
}

fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

#[test]
fn marks_are_found_however_they_are_written() {
    let marked = Marked::new();
    let [iban, word] = [&marked.iban, &marked.words[0]];
    let groups: Vec<&str> = iban.as_bytes().chunks(4).map(|part| std::str::from_utf8(part).expect("digits")).collect();
    for text in [
        iban.clone(),
        format!("?search={}", groups.join("%20")),
        groups.join("\u{a0}"),
        STANDARD.encode(format!("x{iban}y")),
        STANDARD.encode(format!("xy{iban}")),
        format!("/{}", hexadecimal(iban)),
    ] {
        assert!(marked.found_in(&text, false).contains(&iban.as_str()), "{text}");
    }
    assert_eq!((marked.found_in(word, false).len(), marked.found_in(word, true).len()), (0, 1));
    assert!(marked.found_in(&format!("…{}", &iban[18..]), true).is_empty(), "the last four are no secret");
}

struct Set {
    deal: Deal,
    ada: Attendee,
    northwind: Attendee,
    question: (GateId, FieldId),
}

async fn set_up() -> Set {
    let org = Org::with(Needs::OWN).await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let [maren, kim] = [Browser::of(&org, &people[0]).await.keeping(), Browser::of(&org, &people[1]).await.keeping()];
    let question = InformationField {
        id: FieldId::new(),
        label: Label::parse("Where do we send the money?").expect("a label"),
        field_type: FieldType::BankDetails,
        required: true,
        options: Vec::new(),
    };
    let field = question.id;
    let draft = org
        .ready_draft("Harbor purchase", |draft| {
            draft.documents.clear();
            draft.stages.truncate(2);
            draft.stages[0].actions.clear();
            draft.stages[0].gates.truncate(1);
            let participant_ids = [draft.participants[1].id].into();
            draft.stages[0].gates[0].rule = GateRule::InformationRequest { participant_ids, fields: vec![question] };
            draft.stages[1].gates.clear();
        })
        .await;
    let id = org.payment(draft.id(), terms(&draft, "Closing payment", "INV-117")).await;
    let mut after = Drafted::of(&org, &draft.id().to_string()).await.agreement;
    let movement_id = Some(id);
    for rule in [GateRule::MovementAuthorized { movement_id }, GateRule::MovementReconciled { movement_id }] {
        (after, _) = after.add_gate(draft.stages[1].id, rule, after.updated_at).expect("a gate");
    }
    org.edit(&after).await;
    org.decide_at_once(&people[0], draft.id(), ProposalAction::PublishAgreement).await;
    let deal = Deal { org, people, maren, kim, agreement: after, id };
    let ada = arrive(&deal, 0).await;
    let northwind = arrive(&deal, 1).await;
    Set { deal, ada, northwind, question: (draft.stages[0].gates[0].id, field) }
}

async fn arrive(deal: &Deal, place: usize) -> Attendee {
    let participant = deal.agreement.participants[place].id;
    let attendee = Attendee { browser: Browser::new(deal.org.base_url()).keeping(), participant };
    let link = link_of(&deal.maren, deal.agreement.id(), participant).await;
    assert_eq!(attendee.follow(&link).await.status, 303);
    assert_eq!(attendee.submit("", "/consent", &[]).await.status, 303);
    attendee
}

impl Set {
    fn payment(&self) -> String {
        format!("/payments/{}", self.deal.id)
    }

    async fn answer(&self, marked: &Marked) {
        let (gate, field) = self.question;
        let condition = format!("/conditions/{gate}");
        let names = ["holder", "bank", "number"].map(|part| format!("answer.{field}.{part}"));
        let values = [&marked.words[0], &marked.words[1], &marked.iban];
        let typed: Vec<_> = names.iter().zip(values).map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for act in ["save", "send"] {
            let done = self.northwind.submit(&condition, &format!("{condition}/answers/{act}"), &typed).await;
            assert_eq!(done.status, 303, "{}", done.body);
            self.northwind.get(&condition).await;
        }
        let answers = format!("{}/conditions/{gate}/answers/{}", self.deal.of_agreement(), self.northwind.participant);
        let done = submit(&self.deal.kim, &answers, &format!("{answers}/accept"), &[]).await;
        assert_eq!(done.status, 303, "{}", done.body);
        self.deal.kim.get(&answers).await;
    }

    async fn everyone_else_looks(&self) {
        let Deal { maren, kim, .. } = &self.deal;
        for page in [self.northwind.get(&self.payment()).await, self.northwind.get("").await] {
            assert_eq!(page.status, 200, "{}", page.body);
        }
        for (member, page) in [(maren, self.deal.path()), (kim, self.deal.path()), (kim, self.deal.of_agreement())] {
            assert_eq!(member.get(&page).await.status, 200, "{page}");
        }
    }

    async fn release(&self, account: &[(&str, &str)]) {
        // Another account first, which also must be in no page.
        let wrong = [("number", "DE02120300000000202051"), ("code", "026009593")];
        assert_eq!(self.deal.try_to_verify(&self.deal.kim, &wrong).await.status, 422);
        self.deal.verify(&self.deal.kim, account).await;
        self.deal.done(&self.deal.kim, "instructions/release", &[]).await;
    }

    async fn instruct(&self, marked: &Marked) {
        let (deal, ada, payment) = (&self.deal, &self.ada, self.payment());
        let form = format!("{}/instructions", deal.path());
        deal.done(&deal.maren, "authorize", &[]).await;
        let (gate, field) = self.question;
        let chosen = format!("{gate} {} {field}", self.northwind.participant);
        let from = [("from", chosen.as_str()), ("kind", "iban"), ("number", "")];
        deal.follow(&deal.maren, &submit(&deal.maren, &form, &form, &from).await).await;
        self.release(&[("number", &marked.iban)]).await;
        let first = ada.get(&payment).await;
        assert!(first.says(&marked.iban), "the sender's own page shows them: {}", first.body);
        self.everyone_else_looks().await;

        let account = [
            ("kind", "aba"),
            ("holder", &marked.words[0]),
            ("bank", &marked.words[1]),
            ("number", &marked.account),
            ("code", &marked.routing),
        ];
        // One wrong field, so that everything was typed in vain.
        let wrong = account.map(|(name, value)| (name, if name == "code" { "021000022" } else { value }));
        assert_eq!(deal.try_to_enter(&deal.maren, &wrong).await.status, 422);
        deal.enter(&deal.maren, &account).await;
        let late = ada.send(&first, &format!("{payment}/sent"), &CLAIM).await;
        assert_eq!(late.status, 409, "{}", late.body);
        ada.get(&payment).await;
        self.release(&account).await;
        let second = ada.get(&payment).await;
        assert!(second.says(&marked.account) && second.says(&marked.routing), "{}", second.body);
        self.everyone_else_looks().await;

        self.refuse(marked).await;
        let done = ada.submit(&payment, &format!("{payment}/sent"), &CLAIM).await;
        assert_eq!(done.status, 303, "{}", done.body);
        let text = format!("{} Pay at {} to the notary account {}", marked.words[2], marked.words[1], marked.free);
        let page = deal.enter(&deal.maren, &[("kind", "other"), ("text", &text)]).await;
        assert_says(
            &page,
            &["The instructions changed while money was on its way", &format!("…{}", &marked.free[8..])],
        );
        deal.done(&deal.maren, "resolve", &[("resolution", "await_proof")]).await;
    }

    async fn refuse(&self, marked: &Marked) {
        let (deal, payment) = (&self.deal, self.payment());
        let reference = [CLAIM[0], ("reference_type", "other"), ("reference", marked.account.as_str())];
        let refused = self.ada.submit(&payment, &format!("{payment}/sent"), &reference).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        for number in marked.numbers().into_iter().filter(|number| *number != marked.routing) {
            let note = format!("Paid to {number}");
            for (act, typed) in [
                ("exception", vec![("reason", "other"), ("note", note.as_str())]),
                ("cancel", vec![("reason", &note)]),
                ("claim", vec![CLAIM[0], ("reference_type", "end_to_end_id"), ("reference", number)]),
            ] {
                let refused = deal.act(&deal.maren, act, &typed).await;
                assert_eq!(refused.status, 422, "{act} {number}: {}", refused.body);
            }
        }
        let ended = Browser::new(deal.org.base_url()).keeping();
        ended.set_cookie("session", "ended");
        ended.set_cookie("owner", &deal.maren.cookie("owner").unwrap_or_default());
        let typed = [("kind", "iban"), ("holder", &marked.words[0]), ("iban", &marked.iban)];
        let away = ended.post(&format!("{}/instructions", deal.path()), &typed).await;
        assert_eq!(away.status, 303, "{}", away.body);
        for Seen { request, text, .. } in ended.seen() {
            marked.assert_absent(&request, &text, true);
        }
    }

    async fn prove(&self, marked: &Marked) {
        let (deal, northwind, payment) = (&self.deal, &self.northwind, self.payment());
        let action = format!("{payment}/arrived");
        let page = northwind.get(&payment).await;
        let fields = hidden(&page, &action);
        let own = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let typed =
            [("amount", "250,000"), ("currency", "USD"), ("value_date", "16/3/2026"), ("bank_reference", "TRN 1")];
        let typed: Vec<_> = own.chain(typed).collect();
        for (name, status) in [(format!("{}.pdf", marked.account), 422), ("Advice.pdf".to_owned(), 303)] {
            let file = ("file", name.as_str(), &pdf("Credit advice", "")[..]);
            let filed = northwind.browser.upload(&northwind.at(&action), &typed, file).await;
            assert_eq!(filed.status, status, "{}", filed.body);
        }
        northwind.browser.get(&northwind.at(&payment)).await;
        let copy = fields.iter().find(|(name, _)| name == "copy").map(|(_, value)| value).expect("a copy");
        let id = FormCopy::named(copy.clone()).second_id();
        let done = deal.accept(&deal.kim, &format!("{}/evidence/{id}", deal.path())).await;
        deal.follow(&deal.kim, &done).await;
        assert_eq!(deal.state().await, "reconciled");
        assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
    }

    async fn look_around(&self, admin: &Browser) {
        let deal = &self.deal;
        let org = &deal.org;
        for member in [&deal.maren, &deal.kim, admin] {
            crawl(org, member).await;
        }
        let agreement = deal.agreement.id();
        for path in [
            format!("/app/evidence/agreements/{agreement}/bundle"),
            format!("/app/evidence/agreements/{agreement}/certificate"),
            "/app/money/export".to_owned(),
            "/app/audit/export".to_owned(),
        ] {
            assert_eq!(admin.get(&path).await.status, 200, "{path}");
        }
        for party in [&self.ada, &self.northwind] {
            crawl_from(org, &party.browser, &party.at("")).await;
            let certificate = format!("/app/evidence/parts/{}/certificate", party.participant);
            assert_eq!(party.browser.get(&certificate).await.status, 200);
        }
    }

    async fn responses(&self, marked: &Marked) -> Vec<(String, String)> {
        let (org, agreement) = (&self.deal.org, &self.deal.agreement);
        let proposals = org.get("/api/v1/proposals").send().await.ok(200);
        let ids: Ids = [
            ("agreement_id", agreement.id().to_string()),
            ("contact_id", agreement.participants[1].contact_id.to_string()),
            ("workspace_id", agreement.workspace_id.to_string()),
            ("movement_id", self.deal.id.to_string()),
            ("proposal_id", proposals["data"][0]["id"].as_str().expect("a proposal").to_owned()),
        ]
        .map(|(name, id)| (name.to_owned(), id))
        .into();
        let reads = spec::all().into_iter().filter(|operation| !operation.is_write());
        // The deal has no obligation and no asset.
        let has_none = |path: &str| path.contains("{obligation_id}") || path.contains("{item_id}");
        let reads: Vec<_> = reads.filter(|operation| !has_none(&operation.path)).collect();
        assert!(reads.len() >= 14, "{}", reads.len());
        let mut responses = Vec::new();
        for operation in &reads {
            for client in [&**org, &org.read_only()] {
                let answer = client.get(path_at(operation, &ids)).send().await;
                assert_eq!(answer.status, 200, "{}: {answer}", operation.id);
                responses.push((
                    operation.id.clone(),
                    format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.bytes)),
                ));
            }
            if operation.has("query", "search") {
                for number in marked.numbers() {
                    let found = org.get(&operation.path).query("search", number).send().await.ok(200);
                    assert_eq!(found["pagination"]["total"], 0, "{}", operation.id);
                    responses.push((format!("{} with search", operation.id), found.to_string()));
                }
            }
        }
        responses
    }
}

fn stored(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(stored(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            found.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found
}

#[tokio::test]
async fn accounts_and_instructions_are_on_the_senders_page_alone() {
    let marked = Marked::new();
    let set = set_up().await;
    let subscriber = set.deal.org.subscriber().await;
    let Subscriber { admin, receiver, .. } = subscriber;
    let admin = admin.keeping();
    set.answer(&marked).await;
    set.instruct(&marked).await;
    set.prove(&marked).await;
    set.look_around(&admin).await;
    let responses = set.responses(&marked).await;
    let org = &set.deal.org;
    let is_told = |kind: &str| receiver.types().iter().any(|told| told == kind);
    let expected = ["movement.sender_reported", "movement.exception", "movement.reconciled", "agreement.completed"];
    let arrivals = receiver.wait_until(|_| expected.iter().all(|kind| is_told(kind))).await;

    // Only the sender's own page shows them in full, and no cache keeps it.
    let own = format!("GET {}", set.ada.at(&set.payment()));
    let mut shown = [0; 2];
    let browsers = [&set.deal.maren, &set.deal.kim, &admin, &set.ada.browser, &set.northwind.browser];
    for (place, browser) in browsers.into_iter().enumerate() {
        let seen = browser.seen();
        assert!(seen.len() > 8, "{place}: {}", seen.len());
        for Seen { request, status, text } in seen {
            let found = marked.found_in(&text, false);
            if place == 3 && request == own && !found.is_empty() {
                assert!(status == 200 && text.contains("no-store"), "{status}");
                shown[usize::from(found.contains(&marked.account.as_str()))] += 1;
                assert!(!found.contains(&marked.free.as_str()), "these were never released");
            } else {
                assert!(found.is_empty(), "{found:?} in {request} {status}: {text}");
            }
        }
    }
    assert!(shown[0] >= 1 && shown[1] >= 1, "each was shown to the sender: {shown:?}");

    for (operation, text) in &responses {
        marked.assert_absent(operation, text, true);
    }
    for arrival in &arrivals {
        let body = String::from_utf8_lossy(&arrival.body);
        marked.assert_absent("a delivery", &format!("{} {:?} {body}", arrival.path, arrival.headers), true);
    }
    let table = rows::all(org.stack().table()).await;
    assert!(json!(table).to_string().contains("Harbor purchase"), "the scan sees what is stored in clear");
    for row in &table {
        marked.assert_absent("a row", &row.to_string(), true);
    }
    let audited = org.audit().await;
    let viewed = audited.iter().filter(|row| row["operation"] == "read_instructions").count();
    assert!(viewed >= shown[0] + shown[1], "each view is on record: {viewed} {shown:?}");
    let log = std::fs::read_to_string(org.stack().log_file()).expect("the log");
    assert!(log.contains("enter_instructions") && log.contains("list_movements"), "the log has the calls");
    let files = stored(org.stack().log_file().parent().expect("the data directory"));
    assert!(files.len() > 3, "{}", files.len());
    for (path, text) in files {
        marked.assert_absent(&path, &text, true);
    }
    let bundle = admin.get(&format!("/app/evidence/agreements/{}/bundle", set.deal.agreement.id())).await;
    let files = crate::app::evidence::unzipped(&bundle.bytes);
    assert!(files.contains_key("receiver_evidence/001 Advice.pdf") && files.contains_key("certificate.pdf"));
    for (path, content) in files {
        marked.assert_absent(&path, &String::from_utf8_lossy(&content), true);
    }
}

/// Statements in several formats, with account numbers in names, texts, references and columns, as banks write.
fn marked_statements(marked: &Marked) -> [(&'static str, String); 5] {
    let Marked { iban, account, routing, free, .. } = marked;
    let groups: Vec<&str> = iban.as_bytes().chunks(4).map(|part| std::str::from_utf8(part).expect("digits")).collect();
    let grouped = groups.join(" ");
    let fits = entry("250000.00", "CRDT", "REF-1", &format!("INV-117 from {grouped}, account {account}"));
    let other = entry("12.00", "CRDT", iban, &format!("bank {routing} number {free} or {grouped}"));
    let back = entry("250000.00", "DBIT", account, &format!("INV-117 back to {free}"));
    let entries = [fits.replace("OKAFOR ADA", &format!("OKAFOR ADA {free}")), other, back];
    let camt = String::from_utf8(camt("S-1", &entries)).expect("text");
    let mt = format!(
        ":20:S\r\n:25:{account}\r\n:28C:1\r\n:60F:C260317USD0,00\r\n:61:2603180318C7,00NTRFNONREF//{free}\r\n\
         :86:Rent from {grouped} and {account}\r\n:61:2603180318C250000,00NTRFINV-117//REF-2\r\n:86:of {routing} {free}\r\n\
         :62F:C260318USD250007,00\r\n-\r\n"
    );
    let csv = format!(
        "Date,Amount,Payer,Text,Account,Currency\n2026-03-18,9.00,Ada {free},rent {account},{account},USD\n\
         2026-03-18,250000.00,Ada {grouped},INV-117 of {account} at {routing},{iban},USD\n"
    );
    let bai = format!(
        "01,1,2,260318,0800,1,,,2/\n02,1,{routing},1,260318,2359,USD,2/\n03,{account},USD,010,0,,/\n\
         16,195,700,Z,{free},,Rent from {grouped} and {account}/\n16,195,25000000,Z,REF-3,INV-117,of {routing}, {free}/\n\
         49,,4/\n98,,1,6/\n99,,1,8/\n"
    );
    let one = |amount: &str, id: &str, name: &str, memo: &str| {
        format!(
            "<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260318<TRNAMT>{amount}<FITID>{id}<NAME>{name}<MEMO>{memo}</STMTTRN>\n"
        )
    };
    let ofx = format!(
        "OFXHEADER:100\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>{routing}\
         <ACCTID>{account}</BANKACCTFROM><BANKTRANLIST>\n{}{}</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n",
        one("9.00", free, &format!("Ada {free}"), &format!("rent {account}")),
        one("250000.00", "REF-4", "Ada", &format!("INV-117 of {account} at {routing}, {grouped} {free}"))
    );
    [("march.xml", camt), ("march.sta", mt), ("march.csv", csv), ("march.bai", bai), ("march.ofx", ofx)]
}

#[tokio::test]
async fn account_numbers_of_statements_are_in_their_files_alone() {
    let marked = Marked::new();
    let deal = Deal::with_statements().await;
    let maren = Browser::of(&deal.org, &deal.people[0]).await.keeping();
    let mut read = Vec::new();
    for (name, file) in marked_statements(&marked) {
        assert!(!marked.found_in(&file, false).is_empty(), "{name}");
        let done = upload(&maren, name, file.as_bytes()).await;
        assert_eq!(done.status, 303, "{name}: {}", done.body);
        let mut at = done.location().trim_end_matches("#notice").to_owned();
        if let Some(statement) = at.strip_suffix("/columns").map(str::to_owned) {
            let page = maren.get(&at).await;
            assert!(page.says(&format!("…{}", &marked.account[8..])), "the ending stays: {}", page.body);
            let refused = choose(&maren, &at, &[("amount", "3"), ("decimal_mark", "period")]).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            let done = choose(&maren, &at, &[("decimal_mark", "period")]).await;
            assert_eq!(done.status, 303, "{}", done.body);
            at = statement;
        }
        let page = maren.get(&at).await;
        assert_says(&page, &["Entries that fit no payment"]);
        let mut shown = text(&page);
        for number in 1..=3 {
            let alone = maren.get(&format!("{at}?entry={number}")).await;
            assert_eq!(alone.status, 200);
            shown.push_str(&text(&alone));
        }
        for expected in ["INV-117", &format!("…{}", &marked.free[8..])] {
            assert!(shown.contains(expected), "{expected} in {name}: {shown}");
        }
        read.push(at);
    }
    let page = maren.get(&read[0]).await;
    assert_eq!(file(&maren, &page, &read[0], &[pair(&page, 1, deal.id)]).await.status, 303);
    let page = maren.get(&read[0]).await;
    let accept = review(&page);
    let mut pages = vec![deal.path(), format!("{accept}/accept"), deal.of_agreement(), "/app".to_owned()];
    pages
        .extend(["/app/money", "/app/money/statements", "/app/money/export", "/app/search?q=march"].map(str::to_owned));
    for path in pages {
        assert_eq!(maren.get(&path).await.status, 200, "{path}");
    }
    let seen = maren.seen();
    assert!(seen.len() > 25, "{}", seen.len());
    for Seen { request, text, .. } in seen {
        marked.assert_absent(&request, &text, false);
    }
    for path in ["movements", "ledger", "agreements"] {
        let answer = deal.org.get(format!("/api/v1/{path}")).send().await.ok(200);
        marked.assert_absent(path, &answer.to_string(), false);
    }
    for row in deal.org.state().await.into_iter().chain(deal.org.audit().await).chain(deal.org.events().await) {
        marked.assert_absent("a row", &json!(row).to_string(), false);
    }
    // The bundle has the accepted entry, without these numbers.
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &accept).await).await;
    let bundle = deal.kim.get(&format!("/app/evidence/agreements/{}/bundle", deal.agreement.id())).await;
    let files = crate::app::evidence::unzipped(&bundle.bytes);
    assert_eq!(crate::app::evidence::lines(&files, "statement_extracts.jsonl").len(), 1);
    for (path, content) in files {
        marked.assert_absent(&path, &String::from_utf8_lossy(&content), false);
    }
    let log = std::fs::read_to_string(deal.org.stack().log_file()).expect("the log");
    assert!(log.contains("upload_statement"), "the log has the calls");
    marked.assert_absent("the log", &log, false);
}
