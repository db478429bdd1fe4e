//! Signing in: the way back to the requested page, slowed-down guesses, and ends of sessions.

use std::net::IpAddr;

use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person};
use tests::{Fault, Org, rows};

use crate::store::faults::Broken;
use crate::unknown_id;

const WRITE: &str = "TransactWriteItems";
const HOUR_S: i64 = 3600;

/// A local address that no other test uses, so that guesses from it are this test's own.
pub(super) fn own_address() -> IpAddr {
    let [.., a, b, c] = uuid::Uuid::new_v4().into_bytes();
    // Not 127.0.0.*, where everything else is.
    IpAddr::from([127, a | 1, b, c | 1])
}

async fn org_and_person() -> (Org, Person) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    (org, person)
}

async fn guess(browser: &Browser, emails: impl IntoIterator<Item = &str>) {
    let token = browser.get("/app/sign-in").await.hidden("form_token");
    for email in emails {
        let form = [("form_token", token.as_str()), ("next", "/app"), ("email", email), ("password", "wrong")];
        assert_eq!(browser.post("/app/sign-in", &form).await.status, 422, "{email}");
    }
}

async fn sign_in_after(browser: &Browser, sent_away: &Page, person: &Person) -> Page {
    assert_eq!(sent_away.status, 303, "{}", sent_away.body);
    let form = browser.get(sent_away.location()).await;
    let (token, next) = (form.hidden("form_token"), form.hidden("next"));
    let fields =
        [("form_token", token.as_str()), ("next", &next), ("email", &person.email), ("password", &person.password)];
    browser.post("/app/sign-in", &fields).await
}

#[tokio::test]
async fn any_page_is_come_back_to_exactly_as_it_was_asked_for() {
    let (org, person) = org_and_person().await;
    for address in [
        "/app/workspaces?search=50%25+of+A.%20%26%20B%3F%23&offset=0",
        "/app/workspaces?search=%22%3Cb%3E%27",
        "/app/proposals?state=pending&offset=0&state=x",
        "/app/no.such.page/a+b",
    ] {
        let browser = Browser::new(org.base_url());
        let back = sign_in_after(&browser, &browser.get(address).await, &person).await;
        assert_eq!((back.status, back.location()), (303, address));
        let sent_away = Browser::new(org.base_url()).get(address).await;
        assert_eq!(browser.get(sent_away.location()).await.location(), address);
    }
}

#[tokio::test]
async fn whoever_is_signed_out_while_sending_a_form_comes_back_to_its_page() {
    let (org, person) = org_and_person().await;
    let (review, base) = (format!("/app/proposals/{}", unknown_id()), org.base_url());
    let account = format!("{base}/app/account?x=1");
    let cases: [(&str, Option<&str>, &str); 7] = [
        (&review, None, &review),
        ("/app/account/organization", None, "/app"),
        ("/app/account/organization", Some(&account), "/app/account?x=1"),
        ("/app/account/organization", Some("https://evil.example/app/account"), "/app"),
        ("/app/account/organization", Some("nonsense"), "/app"),
        ("/app/sign-out", Some(&account), "/app/account?x=1"),
        ("/app/workspaces", None, "/app/workspaces"),
    ];
    for (path, referrer, page) in cases {
        let browser = Browser::new(base);
        let headers: Vec<(&str, &str)> = referrer.iter().map(|referrer| ("referer", *referrer)).collect();
        let sent_away = browser.post_with(path, &[("form_token", "x")], &headers).await;
        let back = sign_in_after(&browser, &sent_away, &person).await;
        assert_eq!((back.status, back.location()), (303, page), "{path} {referrer:?}");
    }
    let browser = Browser::new(base);
    let back = sign_in_after(&browser, &browser.get("/app/account/organization").await, &person).await;
    assert_eq!(back.location(), "/app", "there is nothing to see at that address");
}

#[tokio::test]
async fn signing_in_and_switching_wait_out_conflicts() {
    let broken = Broken::new().await;
    let (org, other) = (&broken.org, Org::new().await);
    let person = org.member("Maren Holt").await;
    let store = org.stack().table().store();
    ops::add_membership(&store, other.id, "Maren at the other", &person.email, ops::Role::Member).await.unwrap();
    let browser = Browser::new(broken.client.base_url());
    let conflicts = broken.faults.inject(tests::Rule::on(WRITE).containing("SESSION#").times(4), Fault::Conflict);
    let page = browser.sign_in(&person.email, &person.password, "/app").await;
    assert_eq!((page.status, conflicts.count()), (303, 4), "{}", page.body);

    let token = browser.get("/app/account").await.hidden("form_token");
    let conflicts = broken.faults.inject(tests::Rule::on(WRITE).containing("SESSION#").times(4), Fault::Conflict);
    let organization = other.id.to_string();
    let form = [("form_token", token.as_str()), ("organization", &organization)];
    let page = browser.post("/app/account/organization", &form).await;
    assert_eq!((page.status, conflicts.count()), (303, 4), "{}", page.body);
    assert!(browser.get("/app").await.says(&other.name));
}

#[tokio::test]
async fn whoever_signs_in_is_signed_in_though_the_answer_of_the_table_was_lost() {
    for fault in [Fault::LateCommit, Fault::LostResponse] {
        let broken = Broken::new().await;
        let person = broken.org.member("Maren Holt").await;
        let browser = Browser::new(broken.client.base_url());
        let late = broken.faults.inject(tests::Rule::on(WRITE).containing("SESSION#").times(1), fault);
        let page = browser.sign_in(&person.email, &person.password, "/app").await;
        assert_eq!((page.status, page.location(), late.count()), (303, "/app", 1), "{fault:?}: {}", page.body);
        assert_eq!(browser.get("/app").await.status, 200, "{fault:?}");
    }
}

#[tokio::test]
async fn guesses_from_an_address_are_slowed_down_and_nobody_elses() {
    let (org, person) = org_and_person().await;
    let (here, there) = (own_address(), own_address());
    let emails: Vec<String> = (0..50).map(|_| format!("{}@members.example", unknown_id())).collect();
    guess(&Browser::at(org.base_url(), here), emails.iter().map(String::as_str)).await;
    let right = Browser::at(org.base_url(), here).sign_in(&person.email, &person.password, "/app").await;
    assert_eq!(right.status, 422, "{}", right.body);
    let right = Browser::at(org.base_url(), there).sign_in(&person.email, &person.password, "/app").await;
    assert_eq!(right.status, 303, "{}", right.body);
}

#[tokio::test]
async fn guesses_at_an_account_are_slowed_down_whether_there_is_one_or_not() {
    let (org, person) = org_and_person().await;
    let known = Browser::of(&org, &person).await;
    let nobody = format!("{}@members.example", unknown_id());
    for email in [person.email.as_str(), &nobody] {
        // No single address has enough guesses.
        for _ in 0..2 {
            guess(&Browser::at(org.base_url(), own_address()), std::iter::repeat_n(email, 50)).await;
        }
        rows::postpone_login(org.stack().table(), "account", email).await;
        let elsewhere = Browser::at(org.base_url(), own_address());
        let right = elsewhere.sign_in(email, &person.password, "/app").await;
        assert_eq!(right.status, 422, "{email}: {}", right.body);
        if email == nobody {
            continue;
        }
        // Guesses don't lock the owner out where they have signed in before, from any address, signed out or not.
        let secret = known.cookie("browser").unwrap();
        let token = known.get("/app").await.hidden("form_token");
        assert_eq!(known.post("/app/sign-out", &[("form_token", &token)]).await.status, 303);
        assert_eq!(known.sign_in(email, &person.password, "/app").await.status, 303);
        let travelled = Browser::at(org.base_url(), own_address());
        travelled.set_cookie("browser", &secret);
        assert_eq!(travelled.sign_in(email, &person.password, "/app").await.status, 303);
        guess(&elsewhere, [email]).await;
        let right = elsewhere.sign_in(email, &person.password, "/app").await;
        assert_eq!(right.status, 422, "{}", right.body);
        let token = known.get("/app/account").await.hidden("form_token");
        assert_eq!(known.post("/app/sign-out-everywhere", &[("form_token", &token)]).await.status, 303);
        assert_eq!(known.sign_in(email, &person.password, "/app").await.status, 422);
    }
}

#[tokio::test]
async fn a_browser_that_is_known_is_no_way_in_and_its_guesses_are_its_own() {
    let (org, person) = org_and_person().await;
    let colleague = org.member("Ada Okafor").await;
    let browser = Browser::of(&org, &person).await;
    let secret = browser.cookie("browser").unwrap();
    let kept = rows::all(org.stack().table()).await;
    assert!(!kept.iter().any(|row| row.to_string().contains(&secret)));
    let thief = Browser::at(org.base_url(), own_address());
    thief.set_cookie("browser", &secret);
    assert_eq!(thief.get("/app").await.status, 303);
    // Ten free tries, then a wait that no machine is too slow for.
    guess(&thief, std::iter::repeat_n(person.email.as_str(), 10)).await;
    rows::postpone_login_in(org.stack().table(), &thief, &person.email).await;
    assert_eq!(thief.sign_in(&person.email, &person.password, "/app").await.status, 422);
    assert_eq!(thief.sign_in(&colleague.email, &colleague.password, "/app").await.status, 303);
    Browser::of(&org, &person).await;

    let token = browser.get("/app").await.hidden("form_token");
    let out = browser.post("/app/sign-out", &[("form_token", &token)]).await;
    assert_eq!((out.status, browser.cookie("browser")), (303, Some(secret)));
    let stranger = Browser::at(org.base_url(), own_address());
    stranger.set_cookie("browser", &"0".repeat(64));
    let page = stranger.sign_in(&person.email, &person.password, "/app").await;
    let cookies: Vec<&str> = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    let line = cookies.iter().find(|line| line.starts_with("browser=")).expect("the browser's cookie");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=15552000"] {
        assert!(line.contains(attribute), "{line}");
    }
}

#[tokio::test]
async fn a_session_ends_after_two_hours_without_a_request_or_twelve_with() {
    let (org, person) = org_and_person().await;
    let now = Timestamp::now();
    let ago = |seconds: i64| now.plus_seconds(-seconds);
    for (created, seen, status) in [
        (ago(2 * HOUR_S - 60), ago(2 * HOUR_S - 60), 200),
        (ago(2 * HOUR_S), ago(2 * HOUR_S), 303),
        (ago(12 * HOUR_S - 60), ago(60), 200),
        (ago(12 * HOUR_S), now, 303),
    ] {
        let browser = Browser::of(&org, &person).await;
        let token = browser.get("/app").await.hidden("form_token");
        rows::age_session(org.stack().table(), &browser.cookie("session").unwrap(), created, seen).await;
        let page = browser.get("/app/account").await;
        assert_eq!(page.status, status, "{created} {seen}");
        if status == 200 {
            assert_eq!(browser.get("/app").await.status, 200);
            continue;
        }
        assert_eq!(page.location(), "/app/sign-in?next=/app/account");
        assert_eq!(browser.cookie("session"), None, "a cookie of no use is taken away");
        let form = [("form_token", token.as_str())];
        assert_eq!(browser.post("/app/sign-out-everywhere", &form).await.location(), "/app/sign-in");
    }
}

#[tokio::test]
async fn a_session_that_switched_keeps_its_twelve_hours() {
    let (org, person) = org_and_person().await;
    let other = Org::new().await;
    let store = org.stack().table().store();
    ops::add_membership(&store, other.id, "Maren at the other", &person.email, ops::Role::Member).await.unwrap();
    let browser = Browser::of(&org, &person).await;
    let token = browser.get("/app").await.hidden("form_token");
    let begun = Timestamp::now().plus_seconds(-11 * HOUR_S);
    let table = org.stack().table();
    rows::age_session(table, &browser.cookie("session").unwrap(), begun, Timestamp::now()).await;
    let organization = other.id.to_string();
    let form = [("form_token", token.as_str()), ("organization", &organization)];
    assert_eq!(browser.post("/app/account/organization", &form).await.status, 303);
    let session = rows::all(table).await.into_iter().find(|row| row["created_at"] == begun.to_string());
    assert_eq!(session.expect("the new session")["organization_id"], organization);
}

#[tokio::test]
async fn the_cookie_that_names_the_owner_of_a_session_decides_nothing() {
    let (org, person) = org_and_person().await;
    let (other_org, other) = org_and_person().await;
    let (browser, others) = (Browser::of(&org, &person).await, Browser::of(&other_org, &other).await);
    assert!(others.get("/app/account").await.says(&other.email));
    let named = others.cookie("owner").expect("the owner is named");
    browser.get("/app").await;
    let own = browser.cookie("owner").expect("the owner is named");
    assert_ne!(own, named);
    for wrong in [named.as_str(), "x", "..", ""] {
        browser.set_cookie("owner", wrong);
        let page = browser.get("/app/account").await;
        assert!(page.status == 200 && page.says(&person.email) && !page.says(&other.email), "{wrong}: {}", page.body);
        assert_eq!(browser.cookie("owner").as_deref(), Some(own.as_str()), "{wrong}: it is right again");
    }
    let stranger = Browser::new(org.base_url());
    stranger.set_cookie("owner", &own);
    assert_eq!(stranger.get("/app/account").await.status, 303);
}
