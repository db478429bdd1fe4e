//! The ledger and its export: overdue first, claims and proofs totaled apart, no cell that a spreadsheet runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::domain::money;
use shared::domain::movement::terms::PaymentTerms;
use tests::app::{Browser, Page, unescaped};
use tests::ledger::Deal;
use tests::{Org, drafts, obligations, payments};

use crate::unknown_id;

const PAGE: &str = "/app/money";

fn cells(page: &Page, class: &str) -> Vec<Vec<String>> {
    let Some((_, table)) = page.body.split_once(&format!("<table class=\"table {class}\">")) else { return Vec::new() };
    let table = table.split("</table>").next().unwrap_or_default();
    let body = table.split("<tbody>").nth(1).unwrap_or_default();
    let text = |cell: &str| {
        let cell = cell.split_once('>').map_or("", |(_, inside)| inside).split("</td>").next().unwrap_or_default();
        let texts = cell
            .split('<')
            .enumerate()
            .map(|(at, part)| if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) });
        unescaped(&texts.collect::<Vec<_>>().join(" ")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    body.split("<tr>").skip(1).map(|row| row.split("<td").skip(1).map(text).collect()).collect()
}

fn records(file: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let file = file.strip_prefix('\u{feff}').expect("a byte order mark, for spreadsheets");
    let mut letters = file.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\r' if !is_quoted => {
                assert_eq!(letters.next(), Some('\n'), "a record ends with CRLF");
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            letter => field.push(letter),
        }
    }
    assert!(!is_quoted && field.is_empty() && record.is_empty(), "the last record is whole");
    records
}

fn rows(file: &str) -> Vec<BTreeMap<String, String>> {
    let mut records = records(file).into_iter();
    let head = records.next().expect("a head");
    let row = |record: Vec<String>| {
        assert_eq!(record.len(), head.len(), "{record:?}");
        head.iter().cloned().zip(record).collect()
    };
    records.map(row).collect()
}

pub(super) type Sums = [i128; 3];

async fn model(org: &Org, rows: &[Value]) -> BTreeMap<(String, String), Sums> {
    let mut sums: BTreeMap<(String, String), Sums> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["row_type"] == "movement") {
        let path = format!("/api/v1/movements/{}", row["id"].as_str().expect("an id"));
        let movement = org.get(path).send().await.ok(200);
        let state = movement["state"].as_str().expect("a state");
        let amount = i128::from(movement["amount_minor"].as_i64().expect("an amount"));
        let proven = i128::from(movement["receipt"]["received_minor"].as_i64().unwrap_or_default());
        let path = format!("/api/v1/agreements/{}", row["agreement_id"].as_str().expect("an id"));
        let is_agreed = org.get(path).send().await.ok(200)["lifecycle"] == "active";
        if !is_agreed || state == "returned" {
            continue;
        }
        let owed = if ["reconciled", "cancelled"].contains(&state) { 0 } else { amount - proven };
        let claimed = if movement["claim"].is_null() { 0 } else { owed };
        if (owed, proven) != (0, 0) {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            let sum = sums.entry((text(&movement["currency"]), text(&row["direction"]))).or_default();
            *sum = [sum[0] + owed, sum[1] + claimed, sum[2] + proven];
        }
    }
    sums
}

pub(super) fn totals(page: &Page) -> Vec<Vec<String>> {
    cells(page, "totals")
}

pub(super) fn shown(sums: &BTreeMap<(String, String), Sums>) -> Vec<Vec<String>> {
    let direction = |name: &str| match name {
        "owed_to_us" => "Owed to us",
        "owed_by_us" => "Owed by us",
        _ => "Between others",
    };
    let amount = |minor: i128, currency: &str| match minor {
        0 => "None".to_owned(),
        minor => money::in_app(minor, currency),
    };
    sums.iter()
        .map(|((currency, way), [owed, claimed, proven])| {
            vec![
                currency.clone(),
                direction(way).to_owned(),
                money::in_app(*owed, currency),
                amount(*claimed, currency),
                amount(*proven, currency),
            ]
        })
        .collect()
}

#[tokio::test]
async fn the_totals_are_those_of_the_payments_and_a_claim_is_no_proof() {
    let org = Org::new().await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let browser = Browser::of(&org, &maren).await;
    let empty = browser.get(PAGE).await;
    assert!(empty.says("Nothing is owed yet") && !empty.says("Export CSV"), "{}", empty.body);
    assert_eq!(browser.get(&format!("{PAGE}?search=x")).await.body.matches("Nothing matches these filters").count(), 1);

    let deal = Deal::new(&org, [&maren, &ines]).await;
    let before = browser.get(PAGE).await;
    assert!(before.says("Choose your own contacts") && before.says("/app/organization#own-contacts"));
    assert_eq!(totals(&before).len(), 1, "all of it is between others");
    org.acts_as(&[&deal.agreement.participants[1].contact_id.to_string()]).await;
    let page = browser.get(PAGE).await;
    let sums = model(&org, &org.ledger(&[]).await).await;
    assert_eq!(totals(&page), shown(&sums));
    assert_eq!(sums[&("USD".to_owned(), "owed_to_us".to_owned())], [3_100_000, 1_800_000, 700_000]);
    assert!(!page.says("Choose your own contacts") && page.says(">Northwind Robotics, Inc.</a>"), "{}", page.body);

    let rows = cells(&page, "ledger");
    assert_eq!(rows.len(), 13);
    for (row, title) in rows.iter().zip(["Payment authorized", "Payment draft", "Planned"]) {
        assert!(row[0].starts_with(title), "{row:?}");
        assert_eq!(row[2].starts_with("Overdue"), title != "Planned", "nobody owes what is in a draft: {row:?}");
    }
    assert!(page.says("13, 2 overdue"));
    for row in &rows {
        let is_agreement = !row[0].contains(" in ");
        let owes = row[1].ends_with("Ada Okafor to Northwind Robotics, Inc.");
        assert_eq!(owes, !is_agreement, "who owes it to whom: {row:?}");
    }
    let last: Vec<&str> = rows[10..].iter().map(|row| row[0].split(' ').nth(1).unwrap_or_default()).collect();
    assert_eq!(last, ["cancelled", "returned", "reconciled"], "what is done comes last, the newest first");
    for row in &rows {
        let [title, _, _, amount, claimed, proven, state] = &row[..] else { panic!("{row:?}") };
        let state_of = |name: &str| title.starts_with(&format!("Payment {name}"));
        assert_eq!(!proven.is_empty(), state_of("reconciled") || state_of("processing"), "{row:?}");
        let is_claimed =
            ["sender_reported", "receipt_pending", "processing", "exception"].iter().any(|name| state_of(name));
        assert_eq!(!claimed.is_empty(), is_claimed, "{row:?}");
        assert_eq!(state == "Confirmed received", state_of("reconciled"), "{row:?}");
        assert_eq!(amount.is_empty(), !title.contains("Payment in"), "{row:?}");
    }
    // A mere claim is never green.
    for (at, _) in page.body.match_indices("badge green") {
        let said = page.body[at..].split('>').nth(1).unwrap_or_default();
        assert!(said.starts_with("Confirmed received"), "{said}");
    }
    for (kind, id) in
        [("agreements", deal.agreement.id().to_string()), ("money/movements", deal.payments[3].1.to_string())]
    {
        assert!(page.says(&format!("href=\"/app/{kind}/{id}\"")), "{kind}");
    }
}

#[tokio::test]
async fn filters_of_the_page_are_those_of_the_api_and_the_totals_are_of_what_they_leave() {
    let org = Org::new().await;
    let maren = org.member("Maren").await;
    let browser = Browser::of(&org, &maren).await;
    let deal = Deal::new(&org, [&maren, &org.member("Ines").await]).await;
    let workspace = deal.agreement.workspace_id.to_string();
    for query in [
        vec![("search", "payment r")],
        vec![("search", "ADA")],
        vec![("include_done", "false")],
        vec![("product", "safe")],
        vec![("product", "agreement"), ("search", "exception")],
        vec![("workspace_id", workspace.as_str())],
        vec![("workspace_id", workspace.as_str()), ("include_done", "false"), ("search", "payment")],
        vec![("workspace_id", &unknown_id())],
    ] {
        let found = org.ledger(&query).await;
        let mut fields = BTreeMap::from([("search", ""), ("product", ""), ("workspace_id", ""), ("include_done", "")]);
        fields.extend(query.iter().copied());
        let fields: Vec<_> = fields.into_iter().collect();
        let address = tests::app::form(&fields);
        let page = browser.get(&format!("{PAGE}?{address}")).await;
        assert_eq!(cells(&page, "ledger").len(), found.len(), "{query:?}");
        assert_eq!(totals(&page), shown(&model(&org, &found).await), "{query:?}");
        for (name, value) in &query {
            let is_kept = match *name {
                "search" => page.says(&format!("name=\"search\" type=\"search\" maxlength=\"200\" value=\"{value}\"")),
                _ => page.says(&format!("<option value=\"{value}\" selected>")),
            };
            assert!(is_kept, "{name} of {query:?}");
        }
        let file = browser.get(&format!("{PAGE}/export?{address}")).await;
        assert_eq!(rows(&file.body).len(), found.len(), "{query:?}");
    }
    for wrong in ["product=payment", "state=draft", "include_done=maybe", "workspace_id=7"] {
        for path in [PAGE.to_owned(), format!("{PAGE}/export")] {
            assert_eq!(browser.get(&format!("{path}?{wrong}")).await.status, 422, "{path}?{wrong}");
        }
    }
    assert_eq!(browser.get(&format!("{PAGE}?offset=50")).await.location(), format!("{PAGE}?offset=0"));
    let second = browser.get(&format!("{PAGE}?limit=4&offset=4&include_done=false")).await;
    assert_eq!(cells(&second, "ledger").len(), 4);
    assert!(second.says(&format!("href=\"{PAGE}?include_done=false&#38;offset=0\"")), "{}", second.body);
    assert_eq!(totals(&second), totals(&browser.get(&format!("{PAGE}?include_done=false")).await));
}

#[tokio::test]
async fn a_row_says_who_owes_it_to_whom_also_when_one_of_them_is_us() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren").await).await;
    let draft = org.ready_draft("Harbor purchase", |_| ()).await;
    let terms = payments::terms(&draft, "Deposit", "D-1");
    let [ada, northwind] = [0, 1].map(|n| draft.participants[n].contact_id.to_string());
    org.payment(draft.id(), terms.clone()).await;
    org.payment(draft.id(), PaymentTerms { sender: terms.receiver, receiver: None, ..terms }).await;
    org.acts_as(&[&northwind]).await;
    let page = browser.get(&format!("{PAGE}?search=deposit")).await;
    let who: Vec<String> = cells(&page, "ledger").into_iter().map(|row| row[1].clone()).collect();
    let [paid_to_us, paid_by_us] =
        ["Owed to us Ada Okafor to Northwind Robotics, Inc.", "Owed by us Northwind Robotics, Inc. to no one yet"];
    assert_eq!(who, [paid_to_us, paid_by_us]);
    assert!(page.says(&format!("<a href=\"/app/contacts/{ada}\">Ada Okafor</a> to ")), "{}", page.body);
    let file = browser.get(&format!("{PAGE}/export")).await;
    let of = |row: &BTreeMap<String, String>| ["counterparties", "owed_by", "owed_to"].map(|name| row[name].clone());
    let mut found: Vec<_> = rows(&file.body).iter().map(of).collect();
    found.sort();
    let northwind = "Northwind Robotics, Inc.";
    assert_eq!(found, [["", northwind, ""], ["Ada Okafor", "", ""], ["Ada Okafor", "Ada Okafor", northwind]]);
}

#[tokio::test]
async fn obligations_are_overdue_from_the_moment_on() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren").await).await;
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let terms =
        vec![obligations::on(&[30]), obligations::on(&[-9]), obligations::triggered(&[3]), obligations::on(&[-20])];
    let workspace = org.workspace("Lease").await;
    obligations::in_force(&org, &workspace, [&ada, &ben], terms, obligations::days_ago(30)).await;
    let rows = cells(&browser.get(PAGE).await, "ledger");
    let order: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(order.len(), 5);
    for (found, expected) in order.iter().zip(["Promise 4", "Promise 2", "Promise 1", "Promise 3", "Lease"]) {
        assert!(found.starts_with(expected), "{expected} in {order:?}");
    }
    assert_eq!(rows.iter().filter(|row| row[2].starts_with("Overdue")).count(), 2);
    assert!(rows[0][1].starts_with("Between others") && rows[0][1].ends_with("Ben to Ada"), "{:?}", rows[0]);
}

/// Texts that spreadsheets take for formulas, that end a cell or row, or that are markup.
const HOSTILE: [&str; 10] = [
    "=HYPERLINK(\"https://evil.example\",\"Pay\")",
    "+1+1",
    "-2+3",
    "@SUM(A1:A9)",
    "＝1+1",
    "a, \"b\"; 'c'",
    "a; =1+1",
    "\"=1+1\"",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
];

#[tokio::test]
async fn the_file_has_every_row_once_and_no_formula() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren").await).await;
    let mut expected = Vec::new();
    for text in HOSTILE {
        let workspace = org.workspace("Harbor").await;
        let person = org.person("Ada").await;
        let id = person["id"].as_str().expect("an id");
        org.patch(format!("/api/v1/contacts/{id}"), &json!({"display_name": text})).send().await.ok(200);
        let mut draft = drafts::ready(&workspace, "Plain", &person);
        draft.name = shared::domain::agreement::AgreementName::parse(text).expect("a name");
        let draft = drafts::write(&org, draft).await;
        let terms = payments::terms(&draft.agreement, text, "R-1");
        org.payment(draft.agreement.id(), terms).await;
        expected.extend([text, text]);
    }
    let file = browser.get(&format!("{PAGE}/export")).await;
    let header = |name: &str| file.headers[name].to_str().expect("a header").to_owned();
    assert_eq!((file.status, header("content-type")), (200, "text/csv; charset=utf-8".to_owned()));
    let disposition = header("content-disposition");
    assert!(
        disposition.starts_with("attachment; filename=\"ledger-") && disposition.contains(".csv\""),
        "{disposition}"
    );
    assert!(!file.headers.contains_key("content-length"), "it is sent as it is read: {:?}", file.headers);
    for cell in records(&file.body).iter().flatten() {
        for part in cell.split([';', '\t', '\r', '\n']) {
            assert!(!part.trim_start().starts_with(['=', '+', '-', '@', '＝']), "{cell}");
        }
    }
    let rows = rows(&file.body);
    let mut found: Vec<String> =
        rows.iter().map(|row| row["title"].trim_start_matches('\'').replace("; '=", "; =")).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected.iter().map(|text| text.trim_start_matches('\'')).collect::<Vec<_>>());
    let payment = rows.iter().find(|row| row["row_type"] == "Payment" && row["title"] == "'+1+1").expect("a payment");
    for (column, value) in [
        ("agreement", "'+1+1"),
        ("counterparties", "'+1+1"),
        ("direction", "Between others"),
        ("currency", "USD"),
        ("amount", "250000.00"),
        ("owed", "0.00"),
        ("state", "draft"),
        ("reconciled", "false"),
        ("done", "false"),
        ("overdue", "false"),
    ] {
        assert_eq!(payment[column], value, "{column}");
    }
    assert_eq!(payment["app_url"], format!("{}/app/money/movements/{}", org.base_url(), payment["id"]));
    let page = browser.get(PAGE).await;
    assert!(page.has_only_own_script() && !page.says("<script>alert"), "{}", page.body);
    let audit = org.audit().await;
    let exported = audit.iter().filter(|row| row.to_string().contains("export_ledger")).count();
    assert_eq!(exported, 1, "{audit:?}");
}

#[tokio::test]
async fn a_file_of_several_parts_is_in_the_order_of_the_page() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren").await).await;
    let (workspace, ada) = (org.workspace("Harbor").await, org.person("Ada").await);
    for n in 0..450 {
        drafts::write(&org, drafts::ready(&workspace, &format!("Draft {n:03}"), &ada)).await;
    }
    let file = browser.get(&format!("{PAGE}/export")).await;
    let titles: Vec<String> = rows(&file.body).iter().map(|row| row["title"].clone()).collect();
    assert_eq!(titles, (0..450).map(|n| format!("Draft {n:03}")).collect::<Vec<_>>());
    let rest = browser.get(&format!("{PAGE}/export?offset=440&search=draft")).await;
    assert_eq!(rows(&rest.body).len(), 10);
    assert_eq!(cells(&browser.get(&format!("{PAGE}?offset=400")).await, "ledger").len(), 50);
    let line = tests::log::line(org.stack().log_file(), file.headers["x-request-id"].to_str().expect("an id")).await;
    assert_eq!(line["operation"], "export_ledger");
}
