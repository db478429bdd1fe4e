//! The ledger and its export: payments, obligations and agreements on tabs of their own, claims and proofs totaled apart,
//! nothing of archived drafts, and no cell that a spreadsheet runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::domain::money;
use shared::domain::movement::terms::PaymentTerms;
use tests::app::{Browser, Page, unescaped};
use tests::ledger::Deal;
use tests::{Org, drafts, obligations, payments};

use crate::unknown_id;

const PAGE: &str = "/app/money";
const OBLIGATIONS: &str = "/app/money?row_type=obligation";
const AGREEMENTS: &str = "/app/money?row_type=agreement";

/// The texts of a table's cells, in rows. The two lines of a first cell are two texts.
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
    let texts = |row: &str| {
        let row = row.replace("</a><a class=\"clamp quiet small\"", "</a><td><a");
        row.split("<td").skip(1).map(text).collect()
    };
    body.split("<tr>").skip(1).map(texts).collect()
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
    assert!(before.says("choose your own contacts") && before.says("/app/organization#own-contacts"));
    assert_eq!(totals(&before).len(), 1, "all of it is between others");
    org.acts_as(&[&deal.agreement.participants[1].contact_id.to_string()]).await;
    let page = browser.get(PAGE).await;
    let sums = model(&org, &org.ledger(&[]).await).await;
    assert_eq!(totals(&page), shown(&sums));
    assert_eq!(sums[&("USD".to_owned(), "owed_to_us".to_owned())], [3_100_000, 1_800_000, 700_000]);
    assert!(!page.says("choose your own contacts") && page.says(">Northwind Robotics, Inc.</a>"), "{}", page.body);

    let rows = cells(&page, "ledger");
    assert_eq!(rows.len(), 11);
    for row in &rows {
        let [title, agreement, who, amount, waits_for, _, state] = &row[..] else { panic!("{row:?}") };
        // Another Ada owes another Northwind what the draft says.
        let expected = match agreement.as_str() {
            "Drafted sale" => "Ada Okafor to Northwind Robotics, Inc.",
            agreement => {
                assert_eq!(agreement, "Harbor purchase", "{row:?}");
                "From Ada Okafor"
            }
        };
        assert_eq!(who, expected, "who owes it to us: {row:?}");
        let (_, waits, is_in) = PAYMENTS.iter().find(|(name, ..)| title == name).expect("a payment");
        assert_eq!((waits_for.as_str(), state.as_str()), (*waits, *is_in), "{row:?}");
        assert!(amount.ends_with(" USD") || amount == "€0.07 EUR", "{row:?}");
    }
    // A mere claim is never green.
    for (at, _) in page.body.match_indices("badge green") {
        let said = page.body[at..].split('>').nth(1).unwrap_or_default();
        assert!(said.starts_with("Confirmed received"), "{said}");
    }
    assert!(page.says(&format!("href=\"/app/money/movements/{}\"", deal.payments[3].1)));

    // Each agreement says what all its payments come to.
    let page = browser.get(AGREEMENTS).await;
    assert!(page.says(&format!("href=\"/app/agreements/{}\"", deal.agreement.id())));
    assert_eq!(totals(&page), shown(&sums), "the totals are the same on all tabs");
    let found = cells(&page, "ledger");
    assert_eq!(found[0][..2], ["Drafted sale", "Ada Okafor, Northwind Robotics, Inc."]);
    assert_eq!(found[0][3..5], ["", ""], "nothing is claimed or proven of what is in a draft");
    assert_eq!(found[1][..5], ["Harbor purchase", "Ada Okafor", "$38,000.00 USD", "$18,000.00 USD", "$7,000.00 USD"]);
    let list = browser.get("/app/agreements").await;
    for row in &found {
        assert!(!row[2].is_empty() && list.says(&row[2]), "both lists have the same amount: {row:?}");
    }
    assert!(page.says("<span class=\"claimed\">$18,000.00") && page.says("<span class=\"proven\">$7,000.00"));
    assert!(browser.get(OBLIGATIONS).await.says("No obligations yet"));
}

/// Each payment of the deal, what it waits for, and its state.
const PAYMENTS: [(&str, &str, &str); 11] = [
    ("Payment authorized", "A member to enter instructions", "Authorized"),
    ("Payment instructions_ready", "Ada Okafor to pay", "Instructions available to the sender"),
    ("Payment sender_reported", "Proof that it arrived", "Sender says it was sent"),
    ("Payment receipt_pending", "Proof that it arrived", "Waiting for proof it arrived"),
    ("Payment processing", "A member to review proof", "Proof under review"),
    ("Payment reconciled", "", "Confirmed received"),
    ("Payment exception", "A member to decide: it did not arrive", "Needs attention"),
    ("Payment returned", "", "Returned"),
    ("Payment cancelled", "", "Cancelled"),
    ("Payment draft", "A member to authorize it", "Not set up yet"),
    ("Planned", "Publication", "Not set up yet"),
];

#[tokio::test]
async fn tabs_have_one_kind_of_row_each_the_newest_first_or_in_another_order() {
    let org = Org::new().await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let browser = Browser::of(&org, &maren).await;
    Deal::new(&org, [&maren, &ines]).await;
    let page = browser.get(PAGE).await;
    for tab in [
        "<a href=\"/app/money?offset=0\" aria-current=\"page\">Payments <span class=\"count\">11</span></a>",
        "<a href=\"/app/money?row_type=obligation&#38;offset=0\">Obligations <span class=\"count\">0</span></a>",
        "<a href=\"/app/money?row_type=agreement&#38;offset=0\">Agreements <span class=\"count\">2</span></a>",
        "<span aria-current=\"true\">Newest</span>",
        "<a href=\"/app/money?sort=due&#38;offset=0\">Due</a>",
        ">2 overdue</p>",
    ] {
        assert!(page.says(tab), "{tab}: {}", page.body);
    }
    let titles = async |sort: &str| {
        let rows = cells(&browser.get(&format!("{PAGE}?sort={sort}")).await, "ledger");
        let title = |row: &Vec<String>| row[0].trim_start_matches("Payment ").to_owned();
        rows.iter().map(title).collect::<Vec<_>>()
    };
    let mut made: Vec<&str> = PAYMENTS.iter().map(|(name, ..)| name.trim_start_matches("Payment ")).collect();
    assert_eq!(titles("oldest").await, made);
    made.reverse();
    assert_eq!(titles("newest").await, made);
    // "Payment …" comes before "Planned".
    let mut by_name: Vec<&str> = made.iter().copied().filter(|name| *name != "Planned").collect();
    by_name.sort_unstable();
    by_name.push("Planned");
    assert_eq!(titles("name").await, by_name);
    let due = titles("due").await;
    assert_eq!(due[..3], ["authorized", "draft", "Planned"], "what is overdue comes first");
    assert_eq!(due[8..], ["cancelled", "returned", "reconciled"], "what is done comes last, the newest first");
    let rows = cells(&browser.get(&format!("{PAGE}?sort=due")).await, "ledger");
    let is_overdue: Vec<bool> = rows.iter().map(|row| row[5].starts_with("Overdue")).collect();
    assert_eq!(is_overdue[..3], [true, true, false], "nobody owes what is in a draft");
    // A tab keeps filters and order.
    let filtered = browser.get(&format!("{AGREEMENTS}&sort=name&search=harbor")).await;
    assert!(
        filtered.says("href=\"/app/money?search=harbor&#38;sort=name&#38;offset=0\">Payments"),
        "{}",
        filtered.body
    );
    for (name, value) in [("row_type", "agreement"), ("sort", "name")] {
        assert!(filtered.says(&format!("type=\"hidden\" name=\"{name}\" value=\"{value}\"")), "{}", filtered.body);
    }
}

#[tokio::test]
async fn nothing_of_an_archived_draft_is_listed_and_the_totals_stay() {
    let org = Org::new().await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let browser = Browser::of(&org, &maren).await;
    let deal = Deal::new(&org, [&maren, &ines]).await;
    let draft = format!("/app/agreements/{}", deal.draft.0);
    let before = browser.get(PAGE).await;
    assert!(before.says("Planned") && before.says(">Payments <span class=\"count\">11</span>"));
    let act = async |act: &str| {
        let token = browser.get(&draft).await.hidden("form_token");
        let done = browser.post(&format!("{draft}/{act}"), &[("form_token", token.as_str())]).await;
        assert_eq!(done.status, 303, "{}", done.body);
    };
    act("archive").await;
    let page = browser.get(PAGE).await;
    assert!(!page.says("Planned") && page.says(">Payments <span class=\"count\">10</span>"), "{}", page.body);
    assert!(page.says(">Agreements <span class=\"count\">1</span>"));
    assert!(!browser.get(AGREEMENTS).await.says("Drafted sale"));
    assert_eq!(totals(&page), totals(&before), "nobody owes yet what is in a draft");
    let file = browser.get(&format!("{PAGE}/export")).await;
    assert!(!file.body.contains("Drafted sale") && rows(&file.body).len() == 11, "the file has what the page lists");
    assert_eq!(org.ledger(&[("search", "planned")]).await.len(), 1, "clients see it");
    act("bring-back").await;
    assert!(browser.get(PAGE).await.says("Planned"));
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
        for kind in ["obligation", "agreement", "movement"] {
            let tab = browser.get(&format!("{PAGE}?{address}&row_type={kind}")).await;
            let of_kind = found.iter().filter(|row| row["row_type"] == kind).count();
            assert_eq!(cells(&tab, "ledger").len(), of_kind, "{kind}s of {query:?}");
            let file = browser.get(&format!("{PAGE}/export?{address}&row_type={kind}")).await;
            assert_eq!(rows(&file.body).len(), of_kind, "{kind}s of {query:?}");
        }
        let page = browser.get(&format!("{PAGE}?{address}")).await;
        let uses_more = query.iter().any(|(name, _)| *name != "search");
        assert!(page.says(if uses_more { "more-filters\" open>" } else { "more-filters\">" }), "{query:?}");
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
    for wrong in ["product=payment", "row_type=payment", "state=draft", "include_done=maybe", "workspace_id=7"] {
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
    let who: Vec<String> = cells(&page, "ledger").into_iter().map(|row| row[2].clone()).collect();
    let [paid_to_us, paid_by_us] = ["From Ada Okafor", "To no one yet"];
    assert_eq!(who, [paid_by_us, paid_to_us]);
    assert!(
        page.says(&format!("title=\"From Ada Okafor\">From <a href=\"/app/contacts/{ada}\">Ada Okafor</a>")),
        "{}",
        page.body
    );
    org.acts_as(&[org.contact("Harbor LLC").await["id"].as_str().expect("an id")]).await;
    let page = browser.get(&format!("{PAGE}?search=deposit&sort=oldest")).await;
    assert_eq!(cells(&page, "ledger")[0][2], "Ada Okafor to Northwind Robotics, Inc.");
    org.acts_as(&[&northwind]).await;
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
    let page = browser.get(&format!("{OBLIGATIONS}&sort=due")).await;
    let rows = cells(&page, "ledger");
    let order: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(order, ["Promise 4", "Promise 2", "Promise 1", "Promise 3"]);
    assert_eq!(rows[0][1..3], ["Lease", "Ben to Ada"]);
    let waits_for: Vec<&str> = rows.iter().map(|row| row[3].as_str()).collect();
    assert_eq!(waits_for, ["Ben", "Ben", "Ben", "A trigger"]);
    let states: Vec<&str> = rows.iter().map(|row| row[5].as_str()).collect();
    let expected = ["Overdue", "Overdue", "Open", "Waiting for a trigger"];
    assert_eq!(states, expected);
    assert_eq!(page.body.matches(">Overdue<").count(), 2, "each says so once: {}", page.body);
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
    let newest = browser.get(&format!("{PAGE}/export")).await;
    assert_eq!(rows(&newest.body)[0]["title"], "Draft 449");
    let file = browser.get(&format!("{PAGE}/export?sort=oldest")).await;
    let titles: Vec<String> = rows(&file.body).iter().map(|row| row["title"].clone()).collect();
    assert_eq!(titles, (0..450).map(|n| format!("Draft {n:03}")).collect::<Vec<_>>());
    let rest = browser.get(&format!("{PAGE}/export?offset=440&search=draft")).await;
    assert_eq!(rows(&rest.body).len(), 10);
    assert_eq!(cells(&browser.get(&format!("{AGREEMENTS}&offset=400")).await, "ledger").len(), 50);
    let line = tests::log::line(org.stack().log_file(), file.headers["x-request-id"].to_str().expect("an id")).await;
    assert_eq!(line["operation"], "export_ledger");
}
