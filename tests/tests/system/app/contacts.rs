//! Contacts, workspaces and their people, and the list of agreements, over forms.

use serde_json::{Value, json};
use shared::domain::agreement::{AgreementKind, SafeTerms};
use shared::domain::day::Day;
use shared::domain::movement::terms::PaymentTerms;
use tests::app::{Browser, FormCopy, Page};
use tests::{Org, payments};

use crate::unknown_id;

const CONTACTS: &str = "/app/contacts";
const WORKSPACES: &str = "/app/workspaces";

async fn signed_in() -> (Org, Browser) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    (org, browser)
}

async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get(path).await.hidden("form_token");
    let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &fields).await
}

fn contact<'a>(name: &'a str, email: &'a str, reference: &'a str) -> [(&'static str, &'a str); 4] {
    [("display_name", name), ("kind", "person"), ("email", email), ("external_reference", reference)]
}

pub(super) async fn audit_of(org: &Org, page: &Page) -> Value {
    let id = page.headers["x-request-id"].to_str().expect("an id");
    let rows = org.audit().await;
    rows.into_iter().find(|row| row["sk"] == id).unwrap_or_else(|| panic!("no audit row of {id}"))
}

async fn people_of(org: &Org, workspace: &str) -> Vec<String> {
    let workspace = org.get(workspace).send().await.ok(200);
    let people = workspace["people"].as_array().expect("people").iter();
    people.map(|person| person["contact_id"].as_str().expect("an id").to_owned()).collect()
}

async fn notice(browser: &Browser, act: &Page, title: &str) -> Page {
    assert_eq!(act.status, 303, "{}", act.body);
    let shown = browser.get(act.location()).await;
    assert!(shown.says(&format!("<p class=\"notice-title\">{title}</p>")), "{}", shown.body);
    assert!(!browser.get(act.location()).await.says("notice-title"), "shown twice");
    shown
}

#[tokio::test]
async fn a_twin_is_told_before_it_is_made() {
    let (org, browser) = signed_in().await;
    let ada = contact("Ada Okafor", "ada@okafor.example", "");
    let first = send(&browser, CONTACTS, &ada).await;
    assert_eq!(first.status, 303, "{}", first.body);
    let loud = send(&browser, CONTACTS, &contact(" ADA okafor ", "Ada@Okafor.example", "")).await;
    assert!(loud.status == 409 && loud.says("A contact with this name and email exists"), "in any case: {}", loud.body);
    let asked = send(&browser, CONTACTS, &ada).await;
    assert_eq!(asked.status, 409, "{}", asked.body);
    for text in
        ["A contact with this name and email exists", ">Add anyway</button>", "value=\"Ada Okafor\"", first.location()]
    {
        assert!(asked.says(text), "{text}: {}", asked.body);
    }
    let nameless = send(&browser, CONTACTS, &contact("Ada Okafor", "", "")).await;
    assert!(nameless.status == 409 && nameless.says("A contact with this name exists"), "{}", nameless.body);
    let count = async || org.get("/api/v1/contacts").send().await.ok(200)["pagination"]["total"].clone();
    assert_eq!(count().await, 1);
    let other = send(&browser, CONTACTS, &contact("Ada Okafor", "ada@other.example", "")).await;
    assert_eq!(other.status, 303, "another person of the same name: {}", other.body);
    assert_eq!(count().await, 2);
    let page = browser.get(CONTACTS).await;
    let (token, FormCopy { name: copy, .. }) = (page.hidden("form_token"), page.copy());
    for _ in 0..2 {
        let fields = [("form_token", token.as_str()), ("copy", copy.as_str()), ("anyway", "yes")];
        let fields: Vec<_> = fields.into_iter().chain(ada).collect();
        assert_eq!(browser.post(CONTACTS, &fields).await.status, 303);
    }
    assert_eq!(count().await, 3, "the same copy adds once");
    let other = contact("Ada Okafor-Lind", "ada@okafor.example", "");
    assert_eq!(send(&browser, CONTACTS, &other).await.status, 303, "no twin");
}

#[tokio::test]
async fn a_member_adds_finds_and_edits_a_contact() {
    let (org, browser) = signed_in().await;
    assert!(browser.get(CONTACTS).await.says("No contacts yet"));
    let added = send(&browser, CONTACTS, &contact("Ada Okafor", "ada@okafor.example", "crm-4711")).await;
    let row = audit_of(&org, &added).await;
    assert!(row["operation"] == "create_contact" && row["member_id"].is_string(), "{row}");
    let page = notice(&browser, &added, "Ada Okafor was added").await;
    let id = added.location().rsplit('/').next().expect("an id").to_owned();
    for shown in [
        "<h1>Ada Okafor</h1>",
        "ada@okafor.example",
        "crm-4711",
        "<title>Ada Okafor was added · Ada Okafor · Countersign</title>",
    ] {
        assert!(page.says(shown), "{shown}");
    }
    let api = format!("/api/v1/contacts/{id}");
    let stored = org.get(&api).send().await.ok(200);
    assert_eq!((&stored["kind"], &stored["email"]), (&json!("person"), &json!("ada@okafor.example")));

    let found = browser.get(&format!("{CONTACTS}?search=OKAF")).await;
    assert!(found.says(&format!("href=\"{CONTACTS}/{id}\">Ada Okafor</a>")), "{}", found.body);
    assert!(browser.get(&format!("{CONTACTS}?search=nobody")).await.says("Nothing matches “nobody”"));

    let path = added.location();
    let version = browser.get(path).await.hidden("version");
    let fields: Vec<_> =
        contact("Ada Okafor-Lind", "", "crm-4711").into_iter().chain([("version", &*version)]).collect();
    let saved = send(&browser, path, &fields).await;
    assert_eq!(saved.location(), path);
    notice(&browser, &saved, "Changes saved").await;
    let stored = org.get(&api).send().await.ok(200);
    assert_eq!((&stored["display_name"], &stored["email"]), (&json!("Ada Okafor-Lind"), &Value::Null));
    assert_eq!(stored["external_reference"], "crm-4711");
    assert_eq!(audit_of(&org, &saved).await["operation"], "update_contact");
}

#[tokio::test]
async fn what_a_contact_cannot_be_is_refused_beside_its_field_and_stays_in_the_form() {
    let (org, browser) = signed_in().await;
    let taken =
        org.post("/api/v1/contacts", &json!({"display_name": "Taken", "kind": "llc", "external_reference": "crm-1"}));
    taken.send().await.ok(201);
    let wide = "漢".repeat(201);
    for (fields, error) in [
        (contact("  ", "a@b.example", ""), "display_name-error"),
        (contact(&wide, "a@b.example", ""), "display_name-error"),
        (contact("Ada\u{202e}", "", ""), "display_name-error"),
        (contact("Ada", "ada", ""), "email-error"),
        (contact("Ada", "a@b.example", "crm-1"), "external_reference-error"),
        ([("display_name", "Ada"), ("kind", "ship"), ("email", ""), ("external_reference", "")], "kind-error"),
    ] {
        let refused = send(&browser, CONTACTS, &fields).await;
        assert_eq!(refused.status, 422, "{fields:?}");
        assert!(refused.says(&format!("<p id=\"{error}\" class=\"field-error\">")), "{fields:?}: {}", refused.body);
        assert!(refused.says("<title>Error: Contacts · Countersign</title>"), "{fields:?}");
        for (name, typed) in fields.iter().filter(|(name, _)| *name != "kind") {
            assert!(refused.says(&format!("value=\"{typed}\"")), "{name} of {fields:?}");
        }
        assert_eq!(audit_of(&org, &refused).await["code"], "invalid_request");
    }
    assert_eq!(org.total("/api/v1/contacts").await, 1);

    let markup = "<script>alert(1)</script> & “Sons”";
    let added = send(&browser, CONTACTS, &contact(markup, "", "")).await;
    for page in [browser.get(added.location()).await, browser.get(CONTACTS).await] {
        assert!(!page.says("<script>") && page.says("&#60;script&#62;alert(1)"), "{}", page.body);
    }
}

#[tokio::test]
async fn an_edit_of_a_contact_that_has_changed_keeps_what_was_typed_and_replaces_nothing() {
    let (org, browser) = signed_in().await;
    let id = org.contact("Ada Okafor").await["id"].as_str().expect("an id").to_owned();
    let (path, api) = (format!("{CONTACTS}/{id}"), format!("/api/v1/contacts/{id}"));
    let opened = browser.get(&path).await;
    let (token, version) = (opened.hidden("form_token"), opened.hidden("version"));
    org.patch(&api, &json!({"email": "ada@new.example"})).send().await.ok(200);
    let fields = |version: &str| {
        let fields = [("form_token", token.as_str()), ("version", version), ("display_name", "Ada Lind")];
        let rest = [("kind", "person"), ("email", ""), ("external_reference", "")];
        fields.into_iter().chain(rest).map(|(name, value)| (name, value.to_owned())).collect::<Vec<_>>()
    };
    let post = async |version: &str| {
        let fields = fields(version);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post(&path, &fields).await
    };
    let refused = post(&version).await;
    assert_eq!(refused.status, 409);
    assert!(refused.says("This contact has changed since you opened it") && refused.says("value=\"Ada Lind\""));
    assert!(refused.says("ada@new.example"));
    let unchanged = org.get(&api).send().await.ok(200);
    assert_eq!((&unchanged["display_name"], &unchanged["email"]), (&json!("Ada Okafor"), &json!("ada@new.example")));
    // A form refused for a field keeps its version, so it can't overwrite what it didn't show.
    let mistyped = [("form_token", &*token), ("version", &*version), ("display_name", " "), ("kind", "person")];
    let corrected = browser.post(&path, &mistyped).await;
    assert_eq!((corrected.status, corrected.hidden("version")), (422, version.clone()));
    assert_eq!(post("not a version").await.status, 409);
    assert_eq!(post(&refused.hidden("version")).await.status, 303);
    assert_eq!(org.get(&api).send().await.ok(200)["display_name"], "Ada Lind");
}

#[tokio::test]
async fn records_of_another_organization_are_not_there() {
    let (org, browser) = signed_in().await;
    let other = Org::new().await;
    let id_of = |record: &Value| record["id"].as_str().expect("an id").to_owned();
    let (foreign_contact, foreign_workspace) =
        (id_of(&other.contact("Noor Vance").await), id_of(&other.workspace("Quay").await));
    let own_workspace = id_of(&org.workspace("Harbor").await);
    let own_contact = id_of(&org.contact("Ada Okafor").await);
    let token = browser.get(CONTACTS).await.hidden("form_token");
    for id in [foreign_contact.as_str(), &unknown_id(), "x"] {
        let path = format!("{CONTACTS}/{id}");
        assert_eq!(browser.get(&path).await.status, 404, "{id}");
        let fields = [("form_token", &*token), ("version", "1"), ("display_name", "Mine"), ("kind", "person")];
        assert_eq!(browser.post(&path, &fields).await.status, 404, "{id}");
        let people = format!("{WORKSPACES}/{own_workspace}/people");
        let added = browser.post(&people, &[("form_token", &token), ("contact_id", id)]).await;
        assert!([404, 422].contains(&added.status), "{id}: {}", added.status);
    }
    for id in [foreign_workspace.as_str(), &unknown_id()] {
        let path = format!("{WORKSPACES}/{id}/people");
        assert_eq!(browser.get(&path).await.status, 404);
        assert_eq!(browser.post(&path, &[("form_token", &token), ("contact_id", &own_contact)]).await.status, 404);
    }
    assert_eq!(
        other.get(format_args!("/api/v1/contacts/{foreign_contact}")).send().await.ok(200)["display_name"],
        "Noor Vance"
    );
    assert!(people_of(&org, &format!("/api/v1/workspaces/{own_workspace}")).await.is_empty());
}

#[tokio::test]
async fn a_member_creates_a_workspace_and_adds_its_people() {
    let (org, browser) = signed_in().await;
    let ada = org.contact("Ada Okafor").await["id"].as_str().expect("an id").to_owned();
    org.contact("Ben Ruiz").await;
    assert!(browser.get(WORKSPACES).await.says("No workspace yet"));
    let refused = send(&browser, WORKSPACES, &[("name", " ")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("<p id=\"name-error\" class=\"field-error\">The name is required.</p>"), "{}", refused.body);
    assert!(refused.says("<title>Error: Workspaces · Countersign</title>"));

    let created = send(&browser, WORKSPACES, &[("name", "Harbor Street acquisition")]).await;
    let page = notice(&browser, &created, "Harbor Street acquisition was created").await;
    let people = format!("{}/people", created.location());
    assert!(page.says("Not activated") && page.says(&format!("href=\"{people}\">Add people</a>")));
    assert_eq!(audit_of(&org, &created).await["operation"], "create_workspace");

    let searched = format!("{people}?search=ada");
    let choices = browser.get(&searched).await;
    assert!(choices.says("aria-label=\"Add Ada Okafor\"") && !choices.says("Ben Ruiz"));
    let added = send(&browser, &searched, &[("contact_id", &ada)]).await;
    assert_eq!(added.location(), searched, "the search stays");
    let choices = notice(&browser, &added, "Contact added").await;
    assert!(choices.says(">Added</span>") && !choices.says("aria-label=\"Add Ada Okafor\""));
    assert_eq!(send(&browser, &people, &[("contact_id", &ada)]).await.status, 303);
    let api = created.location().replace("/app/", "/api/v1/");
    assert_eq!(people_of(&org, &api).await, [ada.as_str()]);
    assert!(browser.get(created.location()).await.says(&format!("href=\"{CONTACTS}/{ada}\">Ada Okafor</a>")));
}

#[tokio::test]
async fn agreements_are_listed_by_lifecycle_and_name() {
    let (org, browser) = signed_in().await;
    let workspace = org.workspace("Harbor").await;
    org.empty_draft(&workspace, "Lease of the pier").await;
    org.empty_draft(&workspace, "Sale of the crane").await;
    for (query, shown, missing) in [
        ("", &["Lease of the pier", "Sale of the crane"][..], &[][..]),
        ("?search=CRANE", &["Sale of the crane"], &["Lease of the pier"]),
        ("?lifecycle=draft&search=", &["Lease of the pier", "Sale of the crane"], &[]),
        ("?lifecycle=active", &["No agreements here"], &["Lease of the pier", "Sale of the crane"]),
        ("?search=boat", &["Nothing matches “boat”"], &["Lease of the pier"]),
    ] {
        let page = browser.get(&format!("/app/agreements{query}")).await;
        assert_eq!(page.status, 200);
        assert!(shown.iter().all(|text| page.says(text)), "{query}: {}", page.body);
        assert!(!missing.iter().any(|text| page.says(text)), "{query}: {}", page.body);
    }
    assert!(
        browser.get("/app/agreements").await.says("<a href=\"/app/agreements\" aria-current=\"page\">Agreements</a>")
    );
    assert_eq!(browser.get("/app/agreements?lifecycle=sunk").await.status, 422);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_creates_one_record() {
    let (org, browser) = signed_in().await;
    let page = browser.get(CONTACTS).await;
    let (token, FormCopy { name: copy, id }) = (page.hidden("form_token"), page.copy());
    let rest = contact("Ada Okafor", "", "crm-1");
    let fields: Vec<_> = [("form_token", &*token), ("copy", &*copy)].into_iter().chain(rest).collect();
    let (one, other) = tokio::join!(browser.post(CONTACTS, &fields), browser.post(CONTACTS, &fields));
    for answer in [one, other, browser.post(CONTACTS, &fields).await] {
        assert_eq!((answer.status, answer.location()), (303, &*format!("{CONTACTS}/{id}")), "{}", answer.body);
    }
    assert_eq!(org.total("/api/v1/contacts").await, 1);

    let page = browser.get(WORKSPACES).await;
    let (token, FormCopy { name: copy, id }) = (page.hidden("form_token"), page.copy());
    let fields = [("form_token", &*token), ("copy", &*copy), ("name", "Harbor Street")];
    let (one, other) = tokio::join!(browser.post(WORKSPACES, &fields), browser.post(WORKSPACES, &fields));
    for answer in [one, other, browser.post(WORKSPACES, &fields).await] {
        assert_eq!((answer.status, answer.location()), (303, &*format!("{WORKSPACES}/{id}")), "{}", answer.body);
    }
    assert_eq!(org.total("/api/v1/workspaces").await, 1);
}

fn positions<'a>(page: &Page, names: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<(usize, &str)> =
        names.iter().filter_map(|name| Some((page.body.find(&format!(">{name}</a>"))?, *name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

#[tokio::test]
async fn lists_begin_with_the_newest_and_can_be_sorted() {
    let (org, browser) = signed_in().await;
    let names = ["Mira", "Zoe", "Ada"];
    for name in names {
        org.post("/api/v1/contacts", &json!({"display_name": name, "kind": "person"})).send().await.ok(201);
        let workspace = org.post("/api/v1/workspaces", &json!({"name": name})).send().await.ok(201);
        let draft = json!({"workspace_id": workspace["id"], "name": name});
        org.post("/api/v1/agreements", &draft).send().await.ok(201);
    }
    for list in [CONTACTS, WORKSPACES, "/app/agreements"] {
        let sorted = async |sort: &str| positions(&browser.get(&format!("{list}{sort}")).await, &names);
        let newest = browser.get(list).await;
        assert_eq!(positions(&newest, &names), ["Ada", "Zoe", "Mira"], "{list}");
        assert!(newest.says("<span aria-current=\"true\">Newest</span>"), "{}", newest.body);
        assert_eq!(sorted("?sort=newest").await, ["Ada", "Zoe", "Mira"], "{list}");
        assert_eq!(sorted("?sort=oldest").await, ["Mira", "Zoe", "Ada"], "{list}");
        assert_eq!(sorted("?sort=name").await, ["Ada", "Mira", "Zoe"], "{list}");
        assert_eq!(browser.get(&format!("{list}?sort=whatever")).await.status, 422, "{list}");
        let searched = browser.get(&format!("{list}?search=a&sort=name")).await;
        assert_eq!(positions(&searched, &names), ["Ada", "Mira"], "{list}");
        assert_eq!(searched.hidden("sort"), "name", "the next search keeps the order");
    }
    let api = org.get("/api/v1/contacts").send().await.ok(200);
    let listed: Vec<&str> =
        api["data"].as_array().expect("rows").iter().filter_map(|row| row["display_name"].as_str()).collect();
    assert_eq!(listed, names, "clients get the oldest first");
}

#[tokio::test]
async fn agreements_are_sorted_by_due_day_and_amount() {
    let (org, browser) = signed_in().await;
    let names = ["Nothing", "Euros", "Dollars", "Seed", "More dollars"];
    let due = |day: u8| Some(format!("2031-03-{day:02}T12:00:00Z").parse().expect("a moment"));
    org.ready_draft(names[0], |_| ()).await;
    for (name, minor, currency, day) in
        [(names[1], 9, "EUR", Some(3)), (names[2], 100, "USD", Some(2)), (names[4], 700, "USD", None)]
    {
        let draft = org.ready_draft(name, |draft| draft.expires_at = day.and_then(due)).await;
        let terms = payments::terms(&draft, "Price", "P-1");
        let money = Some(tests::ledger::money(minor, currency));
        let due_on = Day::parse("2031-03-04").filter(|_| name == names[4]);
        org.payment(draft.id(), PaymentTerms { money, due_on, ..terms }).await;
        if name == names[2] {
            let terms = SafeTerms {
                investment_amount_minor: Some(300),
                currency: Some("USD".to_owned()),
                ..SafeTerms::default()
            };
            org.ready_draft(names[3], |draft| {
                (draft.kind, draft.terms, draft.expires_at) = (AgreementKind::Safe, Some(terms), due(1));
            })
            .await;
        }
    }
    let sorted = async |query: &str| positions(&browser.get(&format!("/app/agreements?{query}")).await, &names);
    assert_eq!(
        sorted("sort=due").await,
        ["Seed", "Dollars", "Euros", "More dollars", "Nothing"],
        "what expires or is to be paid first, none last"
    );
    let by_amount = ["Euros", "More dollars", "Seed", "Dollars", "Nothing"];
    assert_eq!(sorted("sort=amount").await, by_amount, "one currency after the other, the largest first, none last");
    assert_eq!(sorted("sort=amount&search=dollars").await, ["More dollars", "Dollars"]);
    assert_eq!(sorted("sort=amount&lifecycle=draft&limit=2&offset=2").await, ["Seed", "Dollars"]);
    assert!(sorted("sort=amount&lifecycle=active").await.is_empty());
    assert!(sorted("sort=due&show=archived").await.is_empty());
    let page = browser.get("/app/agreements?sort=amount").await;
    assert!(page.says("<span aria-current=\"true\">Amount</span>") && page.says("sort=due&#38;"), "{}", page.body);
    // So are payments.
    let money = browser.get("/app/money?sort=amount").await;
    assert_eq!(positions(&money, &names), ["Euros", "More dollars", "Dollars"]);
}
