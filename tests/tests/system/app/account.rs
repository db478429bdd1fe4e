//! One's own account: name, password and sessions.

use serde_json::json;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person};
use tests::{Fault, Org, Rule, rows};

use crate::store::faults::Broken;
use crate::unknown_id;

const PAGE: &str = "/app/account";
const NAME: &str = "/app/account/name";
const PASSWORD: &str = "/app/account/password";
const SESSIONS: &str = "/app/account/sessions";
const NEW: &str = "tiger lamp orchid";
const FIREFOX: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";

async fn org_and_person() -> (Org, Person) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    (org, person)
}

async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get(PAGE).await.hidden("form_token");
    let all: Vec<(&str, &str)> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &all).await
}

async fn change_password(browser: &Browser, current: &str, new: &str) -> Page {
    send(browser, PASSWORD, &[("current_password", current), ("new_password", new)]).await
}

async fn sign_in_as(browser: &Browser, person: &Person, user_agent: &str) {
    let token = browser.get("/app/sign-in").await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("email", &person.email), ("password", &person.password)];
    let page = browser.post_with("/app/sign-in", &fields, &[("user-agent", user_agent)]).await;
    assert_eq!(page.status, 303, "{}", page.body);
}

fn is_signed_out(page: &Page) -> bool {
    page.status == 303 && page.location().starts_with("/app/sign-in")
}

fn ended_by(page: &Page) -> Vec<String> {
    let values = page.body.split("name=\"session\" value=\"").skip(1);
    values.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
}

#[tokio::test]
async fn a_member_saves_their_name_and_every_page_has_the_new_one() {
    let (org, person) = org_and_person().await;
    let admin = Browser::of(&org, &org.admin("Ada Okafor").await).await;
    let browser = Browser::of(&org, &person).await;
    let page = browser.get(PAGE).await;
    for text in ["<label for=\"name\">Your name</label>", "value=\"Maren Holt\"", ">Save name</button>"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let saved = send(&browser, NAME, &[("name", " Maren <Holt> Vance ")]).await;
    assert_eq!((saved.status, saved.location()), (303, PAGE), "{}", saved.body);
    let page = browser.get(PAGE).await;
    assert!(page.says("Name saved") && page.says("value=\"Maren &#60;Holt&#62; Vance\""), "{}", page.body);
    for path in ["/app/organization", "/app/audit"] {
        let page = admin.get(path).await;
        assert!(page.says("Maren &#60;Holt&#62; Vance") && !page.says("Maren Holt"), "{path}: {}", page.body);
    }
    assert!(admin.get("/app/audit").await.says("Changed their name"));
    let rows = org.audit().await;
    let row = rows.iter().find(|row| row["operation"] == "save_name").expect("a row");
    assert!(!row.to_string().contains("Vance") && rows::objects(row) == [person.id.to_string()], "{row}");
    assert_eq!(send(&browser, NAME, &[("name", "Maren <Holt> Vance")]).await.status, 303);
}

#[tokio::test]
async fn a_name_that_is_none_is_refused_and_kept() {
    let (org, person) = org_and_person().await;
    let browser = Browser::of(&org, &person).await;
    let long = "n".repeat(201);
    for name in ["", "   ", &long, "a\u{202e}b"] {
        let page = send(&browser, NAME, &[("name", name)]).await;
        assert_eq!(page.status, 422, "{name:?}: {}", page.body);
        assert!(page.title().starts_with("Error: ") && page.says("id=\"name-error\""), "{name:?}: {}", page.body);
        assert!(page.says("Your name ") && page.says("autofocus"), "{name:?}: {}", page.body);
    }
    assert!(browser.get(PAGE).await.says("value=\"Maren Holt\""));
}

#[tokio::test]
async fn a_name_is_that_of_one_organization() {
    let (org, person) = org_and_person().await;
    let other = Org::new().await;
    let store = org.stack().table().store();
    ops::add_membership(&store, other.id, "Maren at the other", &person.email, ops::Role::Member).await.unwrap();
    let browser = Browser::of(&org, &person).await;
    assert_eq!(send(&browser, NAME, &[("name", "M. Holt")]).await.status, 303);
    let colleague = Browser::of(&other, &other.admin("Noor Vance").await).await;
    let page = colleague.get("/app/organization").await;
    assert!(page.says("Maren at the other") && !page.says("M. Holt"), "{}", page.body);
}

#[tokio::test]
async fn a_new_password_ends_all_other_sessions_and_this_browser_goes_on() {
    let (org, person) = org_and_person().await;
    let (browser, elsewhere) = (Browser::of(&org, &person).await, Browser::of(&org, &person).await);
    let thief = Browser::new(org.base_url());
    thief.set_cookie("session", &browser.cookie("session").unwrap());
    assert_eq!(thief.get(PAGE).await.status, 200);
    let table = org.stack().table();
    let begun = Timestamp::now().plus_seconds(-3600);
    rows::age_session(table, &browser.cookie("session").unwrap(), begun, Timestamp::now()).await;

    let changed = change_password(&browser, &person.password, NEW).await;
    assert_eq!((changed.status, changed.location()), (303, "/app/account?password=saved"), "{}", changed.body);
    let page = browser.get(changed.location()).await;
    assert!(page.status == 200 && page.says("Password changed") && ended_by(&page).is_empty(), "{}", page.body);
    for gone in [&elsewhere, &thief] {
        assert!(is_signed_out(&gone.get(PAGE).await));
    }
    // The twelve hours still count from the sign-in.
    let sessions = rows::all(table).await.into_iter().filter(|row| row["email"] == person.email.as_str());
    assert!(sessions.into_iter().any(|row| row["created_at"] == begun.to_string()));
    // The account has the new password, on this device, which stays known, and on others.
    for signs_in in [&browser, &Browser::new(org.base_url())] {
        signs_in.post("/app/sign-out", &[("form_token", &page.hidden("form_token"))]).await;
        assert_eq!(signs_in.sign_in(&person.email, &person.password, "/app").await.status, 422);
        assert_eq!(signs_in.sign_in(&person.email, NEW, "/app").await.status, 303);
    }
    let rows = org.audit().await;
    let row = rows.iter().find(|row| row["operation"] == "change_password").expect("a row");
    assert_eq!((&row["status"], &row["code"]), (&json!("303"), &json!("ok")));
    assert_eq!(row["member_id"], person.id.to_string());
}

#[tokio::test]
async fn a_password_is_not_changed_for_what_is_wrong_with_the_form() {
    let (org, person) = org_and_person().await;
    let (browser, elsewhere) = (Browser::of(&org, &person).await, Browser::of(&org, &person).await);
    let page = browser.get(PAGE).await;
    for text in
        ["<label for=\"current_password\">Current password</label>", "<label for=\"new_password\">New password</label>"]
    {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let current = person.password.as_str();
    let long = "ab1-".repeat(300);
    for (current, new, error) in [
        ("wrong", NEW, "Current password is incorrect."),
        ("", NEW, "Current password is incorrect."),
        (current, "hj7-Kd2.pQ9", "New password must have at least 12 characters."),
        (current, "password1234", "New password is one of the most common ones"),
        (current, &long, "New password must have at most 1024 bytes."),
        (current, &person.email, "New password must have more than your email address"),
        (current, "", "New password must have at least 12 characters."),
        (NEW, NEW, "New password must differ from the current one."),
    ] {
        let page = change_password(&browser, current, new).await;
        assert!(page.status == 422 && page.says(error), "{error}: {} {}", page.status, page.body);
        assert!(page.title().starts_with("Error: "), "{}", page.title());
        assert!(new.is_empty() || new == person.email || !page.says(new), "{}", page.body);
        assert_eq!(page.body.matches("autofocus").count(), 1);
    }
    for browser in [&browser, &elsewhere] {
        assert_eq!(browser.get(PAGE).await.status, 200);
    }
    Browser::of(&org, &person).await;
}

#[tokio::test]
async fn guesses_at_the_current_password_are_slowed_down() {
    let (org, person) = org_and_person().await;
    let browser = Browser::of(&org, &person).await;
    // Ten free tries, then a wait that no machine is too slow for.
    for _ in 0..10 {
        assert_eq!(change_password(&browser, "wrong", NEW).await.status, 422);
    }
    rows::postpone_login_in(org.stack().table(), &browser, &person.email).await;
    let right = change_password(&browser, &person.password, NEW).await;
    assert!(right.status == 422 && right.says("Current password is incorrect"), "{}", right.body);
    assert_eq!(send(&browser, "/app/sign-out", &[]).await.status, 303);
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 422);
    Browser::of(&org, &person).await;
}

#[tokio::test]
async fn of_two_new_passwords_at_once_one_is_set() {
    let (org, person) = org_and_person().await;
    let (one, two) = (Browser::of(&org, &person).await, Browser::of(&org, &person).await);
    let pages = tokio::join!(
        change_password(&one, &person.password, NEW),
        change_password(&two, &person.password, "violet kayak at noon")
    );
    let changed: Vec<bool> = [&pages.0, &pages.1].map(|page| page.location().contains("password=saved")).into();
    assert_eq!(changed.iter().filter(|changed| **changed).count(), 1, "{changed:?}");
    let (kept, ended) = if changed[0] { (&one, &two) } else { (&two, &one) };
    assert_eq!(kept.get(PAGE).await.status, 200);
    assert!(is_signed_out(&ended.get(PAGE).await));
}

#[tokio::test]
async fn a_password_is_changed_once_though_the_answer_of_the_table_was_lost() {
    let broken = Broken::new().await;
    for fault in [Fault::LateCommit, Fault::LostResponse] {
        let person = broken.org.member("Maren Holt").await;
        let browser = Browser::new(broken.client.base_url());
        assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
        let token = browser.get(PAGE).await.hidden("form_token");
        let late = broken.faults.inject(Rule::on("TransactWriteItems").containing("password_hash").times(1), fault);
        let form = [("form_token", token.as_str()), ("current_password", &person.password), ("new_password", NEW)];
        let page = browser.post(PASSWORD, &form).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        assert_eq!(browser.get(page.location()).await.status, 200, "{fault:?}");
        let elsewhere = Browser::new(broken.client.base_url());
        assert_eq!(elsewhere.sign_in(&person.email, NEW, "/app").await.status, 303, "{fault:?}");
    }
}

#[tokio::test]
async fn the_sessions_of_an_account_are_listed_and_each_can_be_ended() {
    let (org, person) = org_and_person().await;
    let (browser, other, unknown) =
        (Browser::of(&org, &person).await, Browser::new(org.base_url()), Browser::new(org.base_url()));
    sign_in_as(&other, &person, FIREFOX).await;
    sign_in_as(&unknown, &person, "<b>no browser</b>").await;
    let colleague = Browser::of(&org, &org.member("Ada Okafor").await).await;

    let page = browser.get(PAGE).await;
    assert_eq!(page.body.matches(">This device</span>").count(), 1);
    assert_eq!(page.body.matches(">End session</button>").count(), 2, "{}", page.body);
    assert!(page.says("Firefox on Windows") && page.says("Unknown browser") && !page.says("no browser"));
    assert!(page.says("Signed in <time") && page.says("Last used <time"), "{}", page.body);
    assert!(other.get(PAGE).await.says("Firefox on Windows <span class=\"badge green\">This device</span>"));
    let ids = ended_by(&page);
    let rows = rows::all(org.stack().table()).await;
    for row in &rows {
        let key = row["pk"].as_str().unwrap_or_default();
        assert!(key.strip_prefix("SESSION#").is_none_or(|hash| !page.says(hash)), "{key}");
    }
    let stored = serde_json::to_string(&rows).unwrap();
    assert!(!stored.contains("Gecko/20100101") && !stored.contains("no browser"));

    let unknown_id = unknown_id();
    for (by, id) in [(&colleague, ids[0].as_str()), (&browser, &unknown_id), (&browser, "no id"), (&browser, "")] {
        assert_eq!(send(by, SESSIONS, &[("session", id)]).await.status, 404, "{id}");
    }
    assert_eq!((other.get(PAGE).await.status, unknown.get(PAGE).await.status), (200, 200));

    let ends = if other.get(PAGE).await.body.contains(&ids[0]) { &ids[1] } else { &ids[0] };
    for _ in 0..2 {
        let ended = send(&browser, SESSIONS, &[("session", ends)]).await;
        assert_eq!((ended.status, ended.location()), (303, PAGE), "{}", ended.body);
    }
    let page = browser.get(PAGE).await;
    assert!(page.says("Session ended") && !page.says("Firefox on Windows"), "{}", page.body);
    assert!(is_signed_out(&other.get(PAGE).await));
    assert_eq!((unknown.get(PAGE).await.status, colleague.get(PAGE).await.status), (200, 200));
    let log = org.audit().await;
    let ended = log.iter().filter(|row| row["operation"] == "end_session" && row["status"] == "303");
    assert_eq!(ended.count(), 2);
}

#[tokio::test]
async fn a_session_that_has_ended_is_not_listed() {
    let (org, person) = org_and_person().await;
    let other_org = Org::new().await;
    let store = org.stack().table().store();
    ops::add_membership(&store, other_org.id, "Maren at the other", &person.email, ops::Role::Member).await.unwrap();
    let browser = Browser::of(&org, &person).await;
    let (out, idle, switched) =
        (Browser::of(&org, &person).await, Browser::of(&org, &person).await, Browser::of(&org, &person).await);
    assert_eq!(ended_by(&browser.get(PAGE).await).len(), 3);
    let organization = other_org.id.to_string();
    let page = send(&switched, "/app/account/organization", &[("organization", &organization)]).await;
    assert_eq!(page.status, 303);
    assert_eq!(send(&out, "/app/sign-out", &[]).await.status, 303);
    let now = Timestamp::now();
    let (begun, seen) = (now.plus_seconds(-3 * 3600), now.plus_seconds(-2 * 3600));
    rows::age_session(org.stack().table(), &idle.cookie("session").unwrap(), begun, seen).await;
    let page = browser.get(PAGE).await;
    assert_eq!(ended_by(&page).len(), 1, "{}", page.body);
    assert!(page.says(&format!("<span class=\"quiet small block\">{}</span>", other_org.name)), "{}", page.body);
    let ended = send(&browser, SESSIONS, &[("session", &ended_by(&page)[0])]).await;
    assert_eq!(ended.status, 303, "{}", ended.body);
    assert!(is_signed_out(&switched.get(PAGE).await));
}
