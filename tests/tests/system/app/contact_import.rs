//! Contacts from a CSV file: every row is seen before anything is added, and who exists already is told.

use serde_json::json;
use tests::Org;
use tests::app::{Browser, FormCopy, Page};

const CONTACTS: &str = "/app/contacts";
const IMPORT: &str = "/app/imports/contacts";
const API: &str = "/api/v1/contacts";

async fn signed_in() -> (Org, Browser) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    (org, browser)
}

async fn upload(browser: &Browser, file: &[u8]) -> Page {
    let token = browser.get(IMPORT).await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("csv", "")];
    browser.upload(IMPORT, &fields, ("file", "contacts.csv", file)).await
}

/// The address of the preview of a file without problems.
async fn read(browser: &Browser, file: &[u8]) -> String {
    let read = upload(browser, file).await;
    assert_eq!(read.status, 303, "{}", read.body);
    read.location().to_owned()
}

async fn press(browser: &Browser, preview: &str, button: &[(&str, &str)]) -> Page {
    let token = browser.get(preview).await.hidden("form_token");
    let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(button.iter().copied()).collect();
    browser.post(preview, &fields).await
}

fn assert_says(page: &Page, texts: &[&str]) {
    for text in texts {
        assert!(tests::app::unescaped(&page.body).contains(text), "{text}: {}", page.body);
    }
}

#[tokio::test]
async fn contacts_of_a_file_are_previewed_and_added_once() {
    let (org, browser) = signed_in().await;
    let empty = browser.get(CONTACTS).await;
    let link = format!("href=\"{IMPORT}\"");
    assert_eq!(empty.body.matches(&link).count(), 2, "on the page and where nothing is yet: {}", empty.body);
    assert!(browser.get(IMPORT).await.says("<a href=\"/app/contacts\" aria-current=\"page\">Contacts</a>"));

    let file = "KIND,Email,Name,Your reference\n,ada@okafor.example,Ada Okafor,crm-1\nLLC,,\"Northwind, LLC\",\n";
    let preview = read(&browser, file.as_bytes()).await;
    let shown = browser.get(&preview).await;
    assert_says(
        &shown,
        &["Preview of the import", "2 rows. Nothing is added yet.", "Ada Okafor", "Northwind, LLC", "crm-1", "LLC"],
    );
    assert_says(&shown, &["Add 2 contacts", "No email address"]);
    assert_eq!(org.total(API).await, 0);

    let (token, FormCopy { name: copy, .. }) = (shown.hidden("form_token"), shown.copy());
    let fields = [("form_token", token.as_str()), ("copy", copy.as_str())];
    let (one, two) = tokio::join!(browser.post(&preview, &fields), browser.post(&preview, &fields));
    assert!(one.status == 303 && two.status == 303, "{} {}", one.body, two.body);
    let done = press(&browser, &preview, &[]).await;
    assert_eq!((done.status, done.location()), (303, CONTACTS));
    assert_says(&browser.get(CONTACTS).await, &["2 contacts added", "Ada Okafor", "Northwind, LLC"]);
    assert_eq!(org.total(API).await, 2, "pressed three times, added once");
    assert_says(&browser.get(&preview).await, &["2 of 2 added", "Open Contacts"]);

    let found = org.get(API).query("search", "northwind").send().await.ok(200)["data"][0].clone();
    assert_eq!((&found["kind"], &found["email"]), (&json!("llc"), &json!(null)));
    let ada = org.get(API).query("external_reference", "crm-1").send().await.ok(200)["data"][0].clone();
    assert_eq!((&ada["kind"], &ada["email"]), (&json!("person"), &json!("ada@okafor.example")));
    let id = found["id"].as_str().expect("an id");
    let audit = org.audit().await;
    let rows: Vec<_> =
        audit.iter().filter(|row| row["operation"] == "import_contacts" && row["code"] == "ok").collect();
    assert!(rows.iter().all(|row| row["member_id"].is_string()), "{rows:?}");
    assert!(rows.iter().any(|row| row["objects"].to_string().contains(&id.replace('-', ""))), "{rows:?}");
}

#[tokio::test]
async fn all_problems_of_a_file_are_told_at_once_and_nothing_is_added() {
    let (org, browser) = signed_in().await;
    let known = json!({"display_name": "Known", "kind": "person", "external_reference": "crm-1"});
    org.post(API, &known).send().await.ok(201);
    let before = org.state().await;
    let file = "name,kind,email,external_reference\n,ship,nowhere,crm-1\nBen,person,,crm-2\nCleo,person,,crm-2\n";
    let refused = upload(&browser, file.as_bytes()).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(
        &refused,
        &[
            "<title>Error: Import contacts",
            "Nothing was added",
            "5 problems in 3 rows.",
            "The name is required",
            "The kind “ship” is none of: person, household",
            "The email must look like name@example.com",
            "The external_reference is that of the contact “Known”.",
            "The external_reference is that of row 3 too.",
        ],
    );
    for (file, text) in [
        ("", "is empty"),
        ("name\n", "has no rows below the names of the columns"),
        ("email\na@b.example\n", "has no column named display_name"),
        ("name,kind\nAda,ship\n", "1 problem in 1 row."),
        ("name;phone\nAda;555\n", "has a column that is not known: “phone”"),
        (&format!("name\n{}", "Ada\n".repeat(1001)), "has more than 1000 rows"),
    ] {
        let refused = upload(&browser, file.as_bytes()).await;
        assert_eq!(refused.status, 422, "{text}");
        assert_says(&refused, &[text]);
    }
    // A value below no name is no part of a contact, and not dropped in silence.
    let refused = upload(&browser, b"name,,email\nAda,Counsel,ada@okafor.example\nBen,,,555\n").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(
        &refused,
        &[
            "Row\">2</td><td data-label=\"Problem\">Column 2 (B) has a value here but no name in the first row.",
            "Row\">3</td><td data-label=\"Problem\">Column 4 (D) has a value here but no name in the first row.",
        ],
    );
    assert!(refused.says("role=\"alert\" autofocus>"), "the error has the focus: {}", refused.body);
    assert_eq!(org.state().await, before);
    let token = browser.get(IMPORT).await.hidden("form_token");
    let pasted = browser.post_in_parts(IMPORT, &[("form_token", &token), ("csv", "name,shoe\nAda,5\n")]).await;
    assert_eq!(pasted.status, 422);
    assert_says(&pasted, &["name,shoe\nAda,5"]);
}

#[tokio::test]
async fn twins_are_told_and_added_only_if_a_member_says_so() {
    let (org, browser) = signed_in().await;
    let ada = org.person("Ada").await;
    let file = "name,email\nADA, Ada@Example.org\nBen,ben@example.org\nben ,BEN@example.org\nAda,\n";
    let causes = ["2 rows", "left out: 1 is a contact that exists already, and 1 repeats an earlier row."];
    let preview = read(&browser, file.as_bytes()).await;
    let shown = browser.get(&preview).await;
    let link = format!("<a href=\"{CONTACTS}/{}\">Exists already</a>", ada["id"].as_str().expect("an id"));
    assert_says(&shown, &causes);
    assert_says(&shown, &[&link, "Same as row 3", "Add 2 contacts", "Add all 4 anyway"]);
    assert_says(&shown, &["<td data-label=\"State\"><span class=\"badge quiet\">Same as row 3"]);
    assert_eq!(press(&browser, &preview, &[]).await.status, 303);
    let done = browser.get(CONTACTS).await;
    assert_says(&done, &causes);
    assert_says(&done, &["2 contacts added", "2 rows were left out"]);
    assert_eq!(org.total(API).await, 3, "the twins are left out");
    assert_says(&browser.get(&preview).await, &["2 of 4 added", "Add all 2 anyway"]);
    assert_eq!(press(&browser, &preview, &[("twins", "yes")]).await.status, 303);
    assert_eq!(org.total(API).await, 5, "the same preview adds what was left out");
}

#[tokio::test]
async fn a_file_that_was_imported_before_adds_only_what_is_new() {
    let (org, browser) = signed_in().await;
    let old = "name,external_reference\nAda,crm-1\nBen,crm-2\n";
    let preview = read(&browser, old.as_bytes()).await;
    assert_eq!(press(&browser, &preview, &[]).await.status, 303);
    let again = read(&browser, format!("{old}Cleo,crm-3\n").as_bytes()).await;
    let shown = browser.get(&again).await;
    assert_says(&shown, &["2 rows are left out", "Add 1 contact</button>"]);
    assert!(!shown.says("anyway"), "a reference has one contact: {}", shown.body);
    assert_eq!(press(&browser, &again, &[("twins", "yes")]).await.status, 303);
    assert_eq!(org.total(API).await, 3);
    // Between preview and press, another call takes a reference.
    let taken = read(&browser, b"name,external_reference\nDee,crm-4\n").await;
    let other = json!({"display_name": "Eve", "kind": "person", "external_reference": "crm-4"});
    org.post(API, &other).send().await.ok(201);
    let refused = press(&browser, &taken, &[]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Nothing was added", "The external_reference is that of the contact “Eve”."]);
    assert!(refused.says("role=\"alert\" autofocus>"), "the error has the focus: {}", refused.body);
    assert_eq!(org.total(API).await, 4);
}

#[tokio::test]
async fn many_contacts_and_files_of_spreadsheets_are_read() {
    let (org, browser) = signed_in().await;
    let rows: Vec<String> = (1..=130).map(|n| format!("Contact {n:03};c{n}@example.org;ref-{n}\r\n")).collect();
    let file = format!("\u{feff}Full name;Email address;External reference\r\n{}", rows.concat());
    let preview = read(&browser, file.as_bytes()).await;
    let shown = browser.get(&preview).await;
    assert_says(&shown, &["130 rows", "1 to 50 of 130", "Contact 001"]);
    assert!(!shown.says("Contact 051"), "a page has 50 rows");
    assert_says(&browser.get(&format!("{preview}&offset=100")).await, &["Contact 130"]);
    let mut presses = 0;
    while org.total(API).await < 130 {
        assert_eq!(press(&browser, &preview, &[]).await.status, 303);
        presses += 1;
        assert!(presses < 10, "one press adds as many as time allows");
    }
    assert_eq!(org.total(API).await, 130);
    assert_says(&browser.get(&read(&browser, b"name\nCh\xe2teau\n'=1+1\n").await).await, &["Château", "=1+1"]);
}

#[tokio::test]
async fn a_preview_is_its_organizations_own() {
    let (org, browser) = signed_in().await;
    let (other, stranger) = signed_in().await;
    let preview = read(&browser, b"name\nAda\n").await;
    assert_eq!(stranger.get(&preview).await.status, 404);
    let token = stranger.get(IMPORT).await.hidden("form_token");
    assert_eq!(stranger.post(&preview, &[("form_token", &token)]).await.status, 404);
    for path in [format!("{IMPORT}/x?file={}", "0".repeat(64)), format!("{IMPORT}/{}", crate::unknown_id())] {
        assert_eq!(browser.get(&path).await.status, 404, "{path}");
    }
    for org in [org, other] {
        assert_eq!(org.total(API).await, 0);
    }
}
