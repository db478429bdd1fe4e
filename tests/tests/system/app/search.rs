use serde_json::json;
use shared::domain::agreement::Label;
use shared::limits;
use tests::app::{Browser, Page, form};
use tests::attending::{Live, hidden};
use tests::{Org, log, obligations, pages, payments};

async fn signed_in(org: &Org) -> Browser {
    Browser::of(org, &org.member("Maren Holt").await).await
}

async fn search(browser: &Browser, text: &str) -> Page {
    browser.get(&format!("/app/search?{}", form(&[("q", text)]))).await
}

fn group<'a>(page: &'a Page, id: &str) -> Option<&'a str> {
    let (_, rest) = page.body.split_once(&format!("<h2 id=\"{id}\">"))?;
    rest.split_once("</section>").map(|(group, _)| group)
}

const KINDS: [&str; 11] = [
    "agreements",
    "documents",
    "workspaces",
    "contacts",
    "proposals",
    "payments",
    "obligations",
    "statements",
    "members",
    "tokens",
    "endpoints",
];

#[track_caller]
fn assert_groups(page: &Page, expected: &[&str]) {
    let found: Vec<&str> = KINDS.into_iter().filter(|kind| group(page, kind).is_some()).collect();
    assert_eq!(found, expected, "{}", page.body);
}

#[tokio::test]
async fn everything_that_has_a_name_is_found_by_a_part_of_it() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let admin = &subscriber.admin;
    let member = Browser::of(&org, &org.member("Quentin Álvarez").await).await;
    let workspace = org.workspace("Quay STRASSE").await;
    let contact =
        org.post("/api/v1/contacts", &json!({"display_name": "Quayle", "kind": "llc", "email": "deals@q.example"}));
    let contact = contact.send().await.ok(201);
    let lease = org.empty_draft(&workspace, "Quayside lease").await;
    let proposal = json!({"action": "cancel_agreement", "agreement_id": lease["id"]});
    let proposal = org.post("/api/v1/proposals", &proposal).send().await.ok(201);
    org.issue("Quality checks", ops::Scope::Read, shared::domain::time::Timestamp::now()).await;

    let page = search(&member, "qUa").await;
    assert_groups(&page, &["agreements", "workspaces", "contacts", "proposals"]);
    for (kind, path, record, state) in [
        ("agreements", "agreements", &lease, "Draft"),
        ("workspaces", "workspaces", &workspace, "Not activated"),
        ("contacts", "contacts", &contact, "LLC"),
        ("proposals", "proposals", &proposal, "Needs your decision"),
    ] {
        let found = group(&page, kind).expect("a group");
        let link = format!("href=\"/app/{path}/{}\"", record["id"].as_str().expect("an id"));
        assert!(found.contains(&link) && found.contains(state), "{kind}: {found}");
        assert!(found.contains("count\">1</span>"), "{kind}: {found}");
    }
    assert!(page.says("<title>Search: qUa · Countersign</title>"), "{}", page.body);
    assert_groups(&search(admin, "qUa").await, &["agreements", "workspaces", "contacts", "proposals", "tokens"]);

    // In any case or composition, and by address, reference and URL.
    for (text, kinds) in [
        ("strasse", ["workspaces"].as_slice()),
        ("Straße", &["workspaces"]),
        ("a\u{301}lvarez", &["members"]),
        ("  deals@q  ", &["contacts"]),
        ("ws-0000", &["workspaces"]),
        ("nothing like it", &[]),
    ] {
        assert_groups(&search(&member, text).await, kinds);
    }
    let page = search(admin, "http://127").await;
    assert_groups(&page, &["endpoints"]);
    assert!(page.says(&format!("href=\"{}\"", subscriber.path())), "{}", page.body);
    assert_groups(&search(&member, "http://127").await, &[]);
    let none = search(&member, "nothing like it").await;
    assert!(none.says("Nothing matches “nothing like it”") && none.says("href=\"/app/agreements\""), "{}", none.body);
}

#[tokio::test]
async fn an_agreement_is_shown_as_in_lists_with_its_step() {
    let live = Live::new(|_| {}).await;
    let found = search(&live.member, "lease").await;
    let row = group(&found, "agreements").expect("a group");
    let list = live.member.get("/app/agreements").await;
    let step = "Step 1 of ";
    assert!(list.says(step) && row.contains(step), "{row}");
    assert!(!row.contains(">Active</span>"), "{row}");
}

#[tokio::test]
async fn of_many_the_first_are_shown_and_a_link_leads_to_all() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let workspace = org.workspace("Harbor").await;
    for n in 0..6 {
        let draft = org.empty_draft(&workspace, &format!("Lease & option {n}")).await;
        org.contact(&format!("Lease {n}")).await;
        let cancel = json!({"action": "cancel_agreement", "agreement_id": draft["id"]});
        org.post("/api/v1/proposals", &cancel).send().await.ok(201);
    }
    let page = search(&browser, "lease").await;
    for (kind, path) in [("agreements", "agreements"), ("contacts", "contacts"), ("proposals", "proposals")] {
        let found = group(&page, kind).unwrap_or_else(|| panic!("{kind}: {}", page.body));
        assert_eq!(found.matches("<td class=\"main\">").count(), 5, "{found}");
        let all = format!("href=\"/app/{path}?search=lease\">Show all 6</a>");
        assert!(found.contains(&all), "{kind}: {found}");
        let list = browser.get(&format!("/app/{path}?search=lease")).await;
        assert_eq!(list.body.matches("<td class=\"main\">").count(), 6, "{kind}: {}", list.body);
    }
    org.member("Marguerite Lease").await;
    let members = group(&search(&browser, "lease").await, "members").expect("a member").to_owned();
    assert!(members.contains("href=\"/app/organization?search=lease\">Marguerite Lease</a>"), "{members}");
    let list = browser.get("/app/organization?search=lease").await;
    assert!(list.says("Marguerite Lease") && list.body.matches("<td class=\"main\">").count() == 1, "{}", list.body);
    let page = search(&browser, "lease & option").await;
    assert!(page.says("href=\"/app/proposals?search=lease%20%26%20option\""), "{}", page.body);
    let list = browser.get("/app/proposals?search=%20LEASE%20%26%20option%203%20&state=pending").await;
    assert!(
        list.says("Lease &#38; option 3") && list.body.matches("<td class=\"main\">").count() == 1,
        "{}",
        list.body
    );
    assert!(list.says("needs your decision: LEASE &#38; option 3 · Countersign"), "{}", list.body);
    assert_eq!(browser.get("/app/proposals?search=%07").await.status, 422);
}

#[tokio::test]
async fn nothing_of_another_organization_is_found() {
    let (org, other) = (Org::new().await, Org::new().await);
    let browser = Browser::of(&other, &other.admin("Noor Vance").await).await;
    let subscriber = org.subscriber().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    org.propose("publish_agreement", &draft).await;
    for text in ["Lease", "Harbor", "Ada", "Integration", "Maren", "http", "WS-", subscriber.receiver.url().as_str()] {
        let page = search(&browser, text).await;
        assert_eq!(page.status, 200, "{text}");
        // The other organization has tokens of these names itself.
        assert_groups(&page, if text == "Integration" { &["tokens"] } else { &[] });
    }
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_refused_and_everything_else_is_text() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let script = "<script>alert(1)</script>";
    org.contact(&format!("{script} & “Sons”")).await;
    let page = search(&browser, "<SCRIPT>").await;
    assert!(page.says("&#60;script&#62;alert(1)") && page.has_only_own_script(), "{}", page.body);
    for text in [script.repeat(3), "\u{202e}xyz".to_owned(), "%_*.()[".to_owned(), "漢".repeat(200)] {
        let page = search(&browser, &text).await;
        assert!(page.status == 200 && page.says("Nothing matches"), "{text}: {}", page.body);
        assert!(page.has_only_own_script());
    }
    for bad in ["q=%00", "q=a%07b", "q=%ff", "q=a&q=b", "x=1", &format!("q={}", "x".repeat(201))] {
        let page = browser.get(&format!("/app/search?{bad}")).await;
        assert_eq!(page.status, 422, "{bad}: {}", page.body);
    }
    for empty in ["/app/search", "/app/search?q=", "/app/search?q=%20%20"] {
        let page = browser.get(empty).await;
        assert!(
            page.status == 200 && page.says("Finds agreements, documents, workspaces") && !page.says("Nothing matches")
        );
    }
}

#[tokio::test]
async fn every_page_of_a_member_has_the_search_and_it_survives_signing_in() {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    for path in ["/app", "/app/agreements", "/app/account", "/app/nowhere", "/app/search?q=x"] {
        assert!(browser.get(path).await.says("class=\"find\" method=\"get\" action=\"/app/search\""), "{path}");
    }
    let nobody = Browser::new(org.base_url());
    let away = nobody.get("/app/search?q=a%20b").await;
    assert_eq!((away.status, away.location()), (303, "/app/sign-in?next=/app/search%3Fq%3Da%2520b"));
    assert!(!nobody.get("/app/sign-in").await.says("class=\"find\""));
}

#[tokio::test]
async fn a_search_takes_as_many_calls_however_much_there_is() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let calls = async |page: &Page| {
        let id = page.headers["x-request-id"].to_str().expect("an id").to_owned();
        log::line(org.stack().log_file(), &id).await["round_trips"].as_u64().expect("a count")
    };
    let workspace = org.workspace("Harbor").await;
    org.empty_draft(&workspace, "Harbor lease").await;
    let few = calls(&search(&browser, "harbor").await).await;
    for n in 0..2 * limits::SEARCH_ROWS_MAX {
        org.empty_draft(&workspace, &format!("Harbor {n}")).await;
    }
    assert_eq!(calls(&search(&browser, "harbor").await).await, few);
    let none = calls(&browser.get("/app/search").await).await;
    assert_eq!(none, 2, "the session with its owner, and the audit row");
}

#[tokio::test]
async fn a_document_is_found_by_its_name_as_long_as_it_has_it() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let name = |text: &str| Label::parse(text).expect("a name");
    let mut draft = org.ready_draft("Lease", |draft| draft.documents[0].name = name("Straße schedule")).await;
    org.ready_draft("Option", |_| {}).await;
    let page = search(&browser, "STRASSE").await;
    assert_groups(&page, &["documents"]);
    let found = group(&page, "documents").expect("a group");
    let link = format!("href=\"/app/agreements/{}#documents\"", draft.id());
    for shown in ["Straße schedule</a>", &link, ">Lease</td>", "count\">1</span>"] {
        assert!(found.contains(shown), "{shown}: {found}");
    }
    draft.documents[0].name = name("Exhibit A");
    org.edit(&draft).await;
    assert_groups(&search(&browser, "strasse").await, &[]);
    assert_groups(&search(&browser, "exhibit").await, &["documents"]);
    for stage in &mut draft.stages {
        stage.gates.clear();
    }
    draft.documents.clear();
    org.edit(&draft).await;
    assert_groups(&search(&browser, "exhibit").await, &[]);
    let other = signed_in(&Org::new().await).await;
    assert_groups(&search(&other, "agreement").await, &[]);
}

#[tokio::test]
async fn payments_obligations_and_statements_are_found_by_their_names() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let draft = org.ready_draft("Harbor purchase", |_| {}).await;
    let payment = org.payment(draft.id(), payments::terms(&draft, "Closing payment", "INV-117")).await;
    for n in 0..6 {
        org.payment(draft.id(), payments::terms(&draft, &format!("Installment {n}"), "R-1")).await;
    }
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let terms = vec![obligations::on(&[30]), obligations::on(&[-9])];
    let workspace = org.workspace("Pier").await;
    obligations::in_force(&org, &workspace, [&ada, &ben], terms, obligations::days_ago(30)).await;
    let csv = b"Date,Amount,Currency,Text\n2026-03-18,1.00,USD,x\n";
    let page = browser.get("/app/money/statements").await;
    let own = hidden(&page, "/app/money/statements");
    let fields: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let done = browser.upload("/app/money/statements", &fields, ("statement", "Quarter one.csv", csv)).await;
    assert_eq!(done.status, 303, "{}", done.body);

    for (text, kind, shown) in [
        ("closing PAY", "payments", vec![format!("href=\"/app/money/movements/{payment}\">Closing payment</a>")]),
        ("inv-117", "payments", vec!["$250,000.00 USD".to_owned(), "Not set up yet".to_owned()]),
        ("promise 2", "obligations", vec!["href=\"/app/obligations/".to_owned(), "Overdue".to_owned()]),
        ("quarter ONE", "statements", vec![">Quarter one.csv</a>".to_owned(), "CSV".to_owned()]),
        (
            "installment",
            "payments",
            vec!["count\">6</span>".to_owned(), "/app/money?search=installment\">Search Money".to_owned()],
        ),
    ] {
        let page = search(&browser, text).await;
        assert_groups(&page, &[kind]);
        let found = group(&page, kind).expect("a group");
        for expected in shown {
            assert!(found.contains(&expected), "{text}: {expected}: {found}");
        }
    }
    assert_groups(&search(&browser, "harbor purchase").await, &["agreements", "payments"]);
    let other = Org::new().await;
    let stranger = signed_in(&other).await;
    for text in ["closing", "promise", "quarter"] {
        assert_groups(&search(&stranger, text).await, &[]);
    }
    let (_, visited) = pages::visit(&org, &browser, "/app/search?q=a", "the start").await;
    assert!(visited.waits <= pages::WAITS_MAX && visited.bytes <= pages::BYTES_MAX, "{visited:?}");
}
