//! Funding files: CSV in, all or nothing; CSV and PDF out.

use tests::app::Page;
use tests::clockwork::Clockwork;
use tests::{drafts, eventually};

use super::{Desk, assert_says, id, submit};
use crate::app::contacts::audit_of;

impl Desk {
    fn import(&self) -> String {
        format!("{}/import", self.path())
    }

    async fn upload(&self, file: &[u8]) -> Page {
        let page = self.maren.get(&self.import()).await;
        let token = page.hidden("form_token");
        let fields = [("form_token", token.as_str()), ("csv", "")];
        self.maren.upload(&self.import(), &fields, ("file", "assets.csv", file)).await
    }

    async fn add(&self, preview: &str) -> Page {
        let token = self.maren.get(preview).await.hidden("form_token");
        self.maren.post(preview, &[("form_token", &token)]).await
    }
}

#[tokio::test]
async fn a_thousand_rows_are_previewed_and_added_once() {
    let desk = Desk::new().await;
    let rows: Vec<String> = (1..=1000).map(|n| format!("Asset {n:04},vehicle,The Harbor Trust,ref-{n}\n")).collect();
    let file = format!("label,asset_kind,trust,external_reference\n{}", rows.concat());
    let read = desk.upload(file.as_bytes()).await;
    assert_eq!(read.status, 303, "{}", read.body);
    let at = read.location().to_owned();
    let preview = desk.maren.get(&at).await;
    assert_says(
        &preview,
        &["1000 rows", "Nothing is added yet.", "Asset 0001", "Vehicle", "The Harbor Trust", "ref-1"],
    );
    assert_eq!(desk.summary().await["total"], 0, "a preview adds nothing");
    // One press adds as many as time allows; the next adds the rest.
    let mut presses = 0;
    while desk.summary().await["total"] != 1000 {
        let done = desk.add(&at).await;
        assert_eq!(done.status, 303, "{}", done.body);
        presses += 1;
        assert!(presses < 20, "{:?}", desk.summary().await);
    }
    let again = desk.maren.get(&at).await;
    assert_says(&again, &["1000 of 1000 added", "Open Funding"]);
    let token = again.hidden("form_token");
    assert_eq!(desk.maren.post(&at, &[("form_token", &token)]).await.status, 303);
    assert_eq!(desk.summary().await["total"], 1000);
    let list = desk.org.get("/api/v1/funding-items?limit=200").send().await.ok(200);
    let labels: Vec<&str> =
        list["data"].as_array().expect("items").iter().filter_map(|item| item["label"].as_str()).collect();
    assert!(labels.len() == 200 && labels.iter().all(|label| label.starts_with("Asset ")), "{labels:?}");
    let added = desk.org.events().await.iter().filter(|event| event["type"] == "funding_item.added").count();
    assert_eq!(added, 1000);
    let refused = desk.upload(b"label\nOne more\n").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["has room for 0 more items"]);
    let page = desk.maren.get(&desk.path()).await;
    assert_says(&page, &["0 of 1000 items done", "1 to 50 of 1000"]);
    assert!(page.body.len() < 60 * 1024, "{}", page.body.len());
}

#[tokio::test]
async fn an_import_that_was_interrupted_goes_on_where_it_stopped() {
    let desk = Desk::new().await;
    let rows: Vec<String> = (1..=40).map(|n| format!("Asset {n}\n")).collect();
    let read = desk.upload(format!("label\n{}", rows.concat()).as_bytes()).await;
    let at = read.location().to_owned();
    let preview = desk.maren.get(&at).await;
    let own = ["form_token", "copy"].map(|name| (name, preview.hidden(name)));
    let fields = own.each_ref().map(|(name, value)| (*name, value.as_str()));
    let (one, two) = tokio::join!(desk.maren.post(&at, &fields), desk.maren.post(&at, &fields));
    assert!(one.status == 303 && two.status == 303, "{} {}", one.body, two.body);
    while desk.summary().await["total"] != 40 {
        assert_eq!(desk.add(&at).await.status, 303);
    }
    assert_eq!(desk.summary().await["total"], 40);
    let again = desk.maren.post(&at, &fields).await;
    assert_eq!((again.status, audit_of(&desk.org, &again).await["code"].as_str()), (303, Some("replayed")));
    assert_eq!(desk.summary().await["total"], 40);
}

#[tokio::test]
async fn repeated_items_are_told_before_they_are_made() {
    let desk = Desk::new().await;
    let file = "label,asset_kind,trust\nSailing boat,vehicle,The Harbor Trust\nCottage,real_estate,The Harbor Trust\n";
    let first = desk.upload(file.as_bytes()).await.location().to_owned();
    let shown = desk.maren.get(&first).await;
    assert!(!shown.says("Same as") && !shown.says("notice warn"), "{}", shown.body);
    assert_eq!(desk.add(&first).await.status, 303);
    let shown = desk.maren.get(&first).await;
    assert!(!shown.says("Same as"), "what a file added is no twin of its own rows: {}", shown.body);

    let file = "label,asset_kind,trust\n sailing BOAT,Vehicle,the harbor trust\nSailing boat,vehicle,\nCottage,vehicle,The Harbor Trust\n\
                Cabin,real_estate,\nCABIN,real_estate,\n";
    let second = desk.upload(file.as_bytes()).await.location().to_owned();
    let shown = desk.maren.get(&second).await;
    assert_says(
        &shown,
        &["2 rows have the label, kind and trust of an item that is here already or of an earlier row."],
    );
    assert_eq!(shown.body.matches(">Same as an item</a>").count(), 1, "of the same trust and kind: {}", shown.body);
    assert_eq!(shown.body.matches("Same as row 5").count(), 1, "{}", shown.body);
    assert_eq!(desk.add(&second).await.status, 303);
    assert_eq!(desk.summary().await["total"], 7, "a member may want them");
}

#[tokio::test]
async fn a_file_with_problems_adds_nothing_and_tells_each() {
    let desk = Desk::new().await;
    let body = serde_json::json!({"workspace_id": desk.estate.workspace["id"], "label": "There", "external_reference": "taken"});
    desk.org.post(tests::funding::ITEMS, &body).send().await.ok(201);
    let before = desk.org.state().await;
    let file = "Label,Kind,Trust,Reference\nHouse,real_estate,The Harbor Trust,a\n,vehicle,,b\nBoat,ship,,a\nCar,Vehicle,The Other Trust,taken\nBank 000123456789,,,\n";
    let refused = desk.upload(file.as_bytes()).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(
        &refused,
        &[
            "Nothing was added",
            "The Label is required",
            "The Kind “ship” is none of:",
            "The Reference is that of row 2 too.",
            "No trust of this workspace is named “The Other Trust”.",
            "The Label must have no full account number",
        ],
    );
    assert!(!refused.says("000123456789"), "{}", refused.body);
    assert!(refused.says("role=\"alert\" autofocus>"), "the error has the focus: {}", refused.body);
    assert_eq!(desk.org.state().await, before);
    // A value below no name is told by its place, and an account number there is not shown again.
    let beside = "Label,,Kind\nHouse,Deed of 1998,real_estate\nCar,,vehicle,,000123456789\n";
    let refused = submit(&desk.maren, &desk.import(), &desk.import(), &[("csv", beside)]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    for (row, column) in [(2, "2 (B)"), (3, "5 (E)")] {
        let told = format!("{row}</td><td data-label=\"Problem\">Column {column} has a value here but no name");
        assert_says(&refused, &[&told]);
    }
    assert!(!refused.says("000123456789"), "{}", refused.body);
    let file = "Label,Kind,Verb,Owners,Amount,Currency,Reference\n,ship,sail,Nobody,lots,USD,taken\n,bank_account,deed,Nobody,5,USD,\n";
    let refused = desk.upload(file.as_bytes()).await;
    let told = |text: &str| tests::app::unescaped(&refused.body).matches(text).count();
    for (text, count) in [
        ("The Label is required", 2),
        ("The Kind “ship” is none of:", 1),
        ("The Verb “sail” is none of:", 1),
        ("The Verb deed isn’t possible for bank_account", 1),
        ("No one in this workspace is named “Nobody”.", 2),
        ("The Amount", 1),
        ("The Reference is that of another item.", 1),
    ] {
        assert_eq!(told(text), count, "all of a row at once: {text}: {}", refused.body);
    }
    for (file, why) in [
        (
            "Name;Wert\nHaus;5\n",
            "has a column that is not known: “Wert”. The first row names the columns; known ones are label, asset_kind, verb, trust, owners, external_reference, address, county",
        ),
        ("asset_kind,trust\nvehicle,\n", "has no column named label"),
        ("label,label\na,b\n", "has two columns of the same name"),
        ("label\n", "has no rows below the names of the columns"),
        ("", "is empty"),
        ("%PDF-1.7 and so on", "PDF"),
    ] {
        let refused = desk.upload(file.as_bytes()).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why]);
    }
    let many = format!("label\n{}", "x\n".repeat(1001));
    assert_says(&desk.upload(many.as_bytes()).await, &["has more than 1000 rows"]);
    // Without column names, nothing says which cell is an account.
    let nameless = "Checking 000123456789\nSavings 000987654321\n";
    let pasted = submit(&desk.maren, &desk.import(), &desk.import(), &[("csv", nameless)]).await;
    assert_eq!(pasted.status, 422, "{}", pasted.body);
    assert_says(&pasted, &["has a column that is not known. The first row names the columns"]);
    assert!(!pasted.says("000123456789") && !pasted.says("000987654321"), "{}", pasted.body);
    let pasted = submit(&desk.maren, &desk.import(), &desk.import(), &[("csv", "label,Wert\nHaus,5\n")]).await;
    assert_eq!(pasted.status, 422, "{}", pasted.body);
    assert_says(&pasted, &["label,Wert"]);
}

#[tokio::test]
async fn other_encodings_are_read_and_formulas_are_data() {
    let desk = Desk::new().await;
    // Windows-1252 with semicolons, as spreadsheets save it.
    let read = desk.upload(b"label;asset_kind\nCh\xe2teau;real_estate\n=1+1;other\n").await;
    assert_eq!(read.status, 303, "{}", read.body);
    let at = read.location().to_owned();
    assert_says(&desk.maren.get(&at).await, &["Château", "=1+1"]);
    assert_eq!(desk.add(&at).await.status, 303);
    let csv = desk.maren.get(&format!("{}/export", desk.path())).await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert!(csv.body.contains("\r\nChâteau,real_estate,") && csv.body.contains("\r\n'=1+1,other,"), "{}", csv.body);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("label\nZoë\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_says(&desk.maren.get(desk.upload(&utf16).await.location()).await, &["Zoë"]);
}

const WITH_FACTS: &str = "Label,Kind,Verb,Trust,Owner,Institution,Last 4 of the account number,Amount,Currency,VIN,\
Make model year,State\n\
Checking,Bank account,Transfer,The Harbor Trust,Sol,First National,0044,\"$1,250.50\",usd,,,\n\
Van,vehicle,retitle,The Harbor Trust,Sol; Tova,,,,,1FTBW2CM5MKA00001,,Ohio\n\
Piano,personal_property,,,,,,,,,,\n";

#[tokio::test]
async fn a_file_has_the_facts_of_each_kind_in_columns() {
    let desk = Desk::new().await;
    let read = desk.upload(WITH_FACTS.as_bytes()).await;
    assert_eq!(read.status, 303, "{}", read.body);
    let at = read.location().to_owned();
    let preview = desk.maren.get(&at).await;
    assert_says(
        &preview,
        &[
            "Bank account · Transfer",
            "Institution: First National",
            "Amount: $1,250.50 USD",
            "Ready",
            "Sol, Tova",
            "Gathering facts",
            "Unsorted",
        ],
    );
    let before = desk.org.events().await.len();
    assert_eq!(desk.add(&at).await.status, 303);
    let told = desk.events_since(before).await;
    let count = |event: &str| told.iter().filter(|told| *told == event).count();
    assert_eq!((count("funding_item.added"), count("funding_item.sorted"), told.len()), (3, 2, 5));
    let list = desk.org.get("/api/v1/funding-items").send().await.ok(200);
    let [checking, van, piano] = list["data"].as_array().expect("items").as_slice() else { panic!("{list}") };
    let detail = serde_json::json!({
        "institution": "First National", "account_last4": "0044", "amount_minor": 125_050, "currency": "USD",
    });
    assert_eq!((&checking["detail"], &checking["phase"]), (&detail, &serde_json::json!("ready")));
    assert_eq!(checking["owner_contact_ids"], serde_json::json!([desk.estate.settlor["id"]]));
    assert_eq!(van["missing_facts"], serde_json::json!(["make_model_year"]));
    assert_eq!(van["owner_contact_ids"].as_array().expect("owners").len(), 2);
    assert_eq!((&piano["phase"], &piano["verb"]), (&serde_json::json!("unsorted"), &serde_json::Value::Null));
}

#[tokio::test]
async fn a_file_whose_rows_nobody_added_is_gone_a_day_later() {
    let desk = Desk::new().await;
    let at = desk.upload(WITH_FACTS.as_bytes()).await.location().to_owned();
    assert_eq!(desk.maren.get(&at).await.status, 200);
    drafts::make_uploads_due(&desk.org).await;
    let gone = || async {
        Clockwork::of(&desk.org).tick().await;
        (desk.maren.get(&at).await.status == 404).then_some(())
    };
    eventually("the file is gone", gone).await;
    let at = desk.upload(WITH_FACTS.as_bytes()).await.location().to_owned();
    assert_eq!(desk.add(&at).await.status, 303);
}

#[tokio::test]
async fn what_is_exported_can_be_imported_elsewhere() {
    let desk = Desk::new().await;
    let at = desk.upload(WITH_FACTS.as_bytes()).await.location().to_owned();
    assert_eq!(desk.add(&at).await.status, 303);
    let export = desk.maren.get(&format!("{}/export", desk.path())).await.body;
    let header = export.lines().next().and_then(|line| line.strip_prefix('\u{feff}')).expect("a header");
    assert!(header.starts_with("label,asset_kind,verb,trust,owners,external_reference,address,county,"), "{header}");
    assert!(export.contains("1,250.50") && export.contains("Sol; Tova"), "{export}");

    let other = Desk::new().await;
    let read = other.upload(export.as_bytes()).await;
    assert_eq!(read.status, 303, "{}", read.body);
    let at = read.location().to_owned();
    assert_says(&other.maren.get(&at).await, &["Not imported", "phase, status, done", "Ready"]);
    assert_eq!(other.add(&at).await.status, 303);
    let items = async |desk: &Desk| {
        let list = desk.org.get("/api/v1/funding-items").send().await.ok(200);
        let items = list["data"].as_array().expect("items").clone();
        let facts = |item: &serde_json::Value| {
            (item["label"].clone(), item["verb"].clone(), item["detail"].clone(), item["phase"].clone())
        };
        items.iter().map(facts).collect::<Vec<_>>()
    };
    assert_eq!(items(&other).await, items(&desk).await);
}

#[tokio::test]
async fn what_is_wrong_with_facts_is_told_row_by_row() {
    let desk = Desk::new().await;
    let before = desk.org.state().await;
    let file = "label,asset_kind,verb,owners,account_last4,vin,amount,currency,share_percent,secured,trust\n\
A,bank_account,transfer,,44,,,,,,\n\
B,vehicle,,,4411,,,,,,\n\
C,bank_account,deed,,,,,,,,\n\
D,bank_account,transfer,,,,12.50,,,,\n\
E,bank_account,transfer,,,,much,USD,,,\n\
F,promissory_note,,Nobody,,,,,,perhaps,\n\
G,retirement_account,,,,,,,120,,\n\
H,bank_account,,,000123456789,,,,,,\n\
I,other,sell,,,,,,,,\n";
    let refused = desk.upload(file.as_bytes()).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(
        &refused,
        &[
            "The account_last4 must be exactly 4 letters or digits.",
            "The account_last4 is no fact of the kind vehicle; known: ",
            "The verb deed isn’t possible for bank_account. Use retitle, change_beneficiary, transfer or leave_out.",
            "The currency must be a currency of ISO 4217, such as USD, before an amount can be read.",
            "The amount must",
            "No one in this workspace is named “Nobody”.",
            "The secured must be yes or no.",
            "The share_percent must be above 0 and at most 100.",
            "The account_last4 must be the last 4 characters only, never the whole number.",
            "The verb “sell” is none of: deed, retitle, change_beneficiary, transfer, assign, leave_out.",
        ],
    );
    assert!(!refused.says("000123456789"), "{}", refused.body);
    assert_eq!(desk.org.state().await, before);
    // The field doesn't show an account number again either, whatever its column.
    for column in ["account_last4", "owners", "trust", "verb", "asset_kind"] {
        let csv = format!("label,{column}\nA,000123456789\n");
        let refused = submit(&desk.maren, &desk.import(), &desk.import(), &[("csv", &csv)]).await;
        assert_eq!(refused.status, 422, "{column}: {}", refused.body);
        assert!(!refused.says("000123456789"), "{column}: {}", refused.body);
    }
    let page = desk.maren.get(&desk.import()).await;
    assert_says(&page, &["Facts by kind and verb", "<code>registration_number</code>", "<code>leave_out</code>"]);
}

#[tokio::test]
async fn files_that_go_out_tell_claims_from_proof() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    desk.done(&item, "claim", &[("claim_note", "")]).await;
    let csv = desk.maren.get(&format!("{}/export", desk.path())).await;
    let line = csv.body.lines().nth(1).expect("a record");
    assert!(line.contains(",claimed,open,false,") && line.contains(",Maren Holt,,,,,"), "{line}");
    let typed = [("source", "new_statement"), ("dated", "16/3/2026"), ("proof_note", "Read out on the phone.")];
    desk.done(&item, "proof", &typed).await;
    let csv = desk.maren.get(&format!("{}/export", desk.path())).await;
    assert!(csv.body.contains(",new_statement,2026-03-16,to_review,,"), "{}", csv.body);
    let (other, owner) = (desk.org.funding_item(&desk.estate.workspace, "Canoe").await, desk.org.person("Nadia").await);
    let owners = serde_json::json!({"owner_contact_ids": [owner["id"]]});
    desk.org.patch(tests::funding::item_path(&other), &owners).send().await.ok(200);
    let csv = desk.maren.get(&format!("{}/export", desk.path())).await;
    let line = csv.body.lines().find(|line| line.starts_with("Canoe,")).expect("its row");
    assert!(line.contains(",Nadia,"), "{line}");
    let print = desk.maren.get(&format!("/app/papers/{}/schedule.pdf", desk.workspace())).await;
    assert_eq!((print.status, print.headers["content-type"].to_str().expect("a type")), (200, "application/pdf"));
    assert!(print.bytes.starts_with(b"%PDF-1.7") && print.bytes.len() > 5_000);
    assert!(id(&item).len() > 30);
}
