use serde_json::json;
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use shared::limits;
use tests::app::{Browser, Page};
use tests::{Org, log, rows};

use crate::unknown_id;

pub(super) const TOKENS: &str = "/app/developers/tokens";

pub(super) async fn admin() -> (Org, Browser) {
    let org = Org::new().await;
    let person = org.admin("Ines Duarte").await;
    let browser = Browser::of(&org, &person).await;
    (org, browser)
}

async fn create(browser: &Browser, name: &str, scope: &str) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    browser.post(TOKENS, &[("form_token", &token), ("name", name), ("scope", scope)]).await
}

async fn revoke(browser: &Browser, id: &str) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    browser.post(&format!("{TOKENS}/{id}/revoke"), &[("form_token", &token)]).await
}

pub(super) fn value(page: &Page) -> Option<String> {
    let (_, rest) = page.body.split_once("<input id=\"value\" class=\"mono\" type=\"text\" readonly value=\"")?;
    Some(rest.split('"').next()?.to_owned())
}

async fn created(browser: &Browser, name: &str, scope: &str) -> String {
    let answer = create(browser, name, scope).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(answer.location().starts_with(&format!("{TOKENS}?created=")), "{}", answer.location());
    let page = browser.get(answer.location()).await;
    assert!(page.says(&format!("Copy the token “{name}” now")), "{}", page.body);
    value(&page).expect("the token's value")
}

#[tokio::test]
async fn a_token_from_the_app_calls_the_api_until_it_is_revoked() {
    let (org, browser) = admin().await;
    let value_of_writer = created(&browser, "CRM sync", "read_write").await;
    let writer = org.with_token(&value_of_writer);
    let identity = writer.get("/api/v1/me").send().await.ok(200);
    assert_eq!((&identity["scope"], &identity["organization_id"]), (&json!("read_write"), &json!(org.id.to_string())));
    let contact = writer.post("/api/v1/contacts", &json!({"display_name": "Ada", "kind": "person"})).send().await;
    contact.ok(201);

    let created_id = writer.get("/api/v1/me").send().await.ok(200)["token_id"].as_str().expect("an id").to_owned();
    let shown = browser.get(&format!("{TOKENS}?created={created_id}")).await;
    for text in [
        "CRM sync",
        "Read and write",
        "<td data-label=\"Created by\"><span>Ines Duarte, <time",
        "<label for=\"value\">Token value</label>",
    ] {
        assert!(shown.says(text), "{text}");
    }
    assert!(shown.says(&format!("Authorization: Bearer {value_of_writer}")), "the call to paste");

    let reader = created(&browser, "Report", "read").await;
    let refused = org.with_token(&reader).post("/api/v1/contacts", &json!({})).send().await;
    refused.refused(403);

    let id = identity["token_id"].as_str().expect("an id");
    let revoked = revoke(&browser, id).await;
    assert_eq!((revoked.status, revoked.location()), (303, TOKENS));
    let page = browser.get(TOKENS).await;
    assert!(page.says("Token revoked") && page.says(">Revoked</span>"), "{}", page.body);
    writer.get("/api/v1/me").send().await.refused(401);
    org.with_token(&reader).get("/api/v1/me").send().await.ok(200);
    assert_eq!(revoke(&browser, id).await.status, 303);
    let operations = org.audit().await.into_iter().filter(|row| row["member_id"].is_string());
    let operations: Vec<_> = operations.map(|row| row["operation"].as_str().unwrap_or_default().to_owned()).collect();
    for operation in ["create_token", "revoke_token", "view_tokens"] {
        assert!(operations.iter().any(|found| found == operation), "{operation} of {operations:?}");
    }
}

#[tokio::test]
async fn only_the_session_that_created_a_token_sees_its_value_and_nothing_stores_it() {
    let (org, browser) = admin().await;
    let colleague = Browser::of(&org, &org.admin("Kim Sato").await).await;
    let secret = created(&browser, "CRM sync", "read").await;
    let me = org.with_token(&secret).get("/api/v1/me").send().await.ok(200);
    let id = me["token_id"].as_str().expect("an id");
    let (page_of_token, cookie) = (format!("{TOKENS}?created={id}"), format!("once-token-{id}"));
    assert_eq!(value(&browser.get(&page_of_token).await).as_ref(), Some(&secret), "for two minutes");
    let page = colleague.get(&page_of_token).await;
    assert!(page.says("CRM sync") && !page.says(&secret));
    colleague.set_cookie(&cookie, &browser.cookie(&cookie).expect("a cookie"));
    assert!(!colleague.get(&page_of_token).await.says(&secret));
    revoke(&browser, id).await;
    assert!(!browser.get(&page_of_token).await.says(&secret), "a token that works no more");
    let everything = serde_json::to_string(&rows::all(org.stack().table()).await).expect("JSON");
    assert!(!everything.contains(&secret) && !everything.contains(&secret[3..]));
}

#[tokio::test]
async fn members_and_other_organizations_neither_create_nor_revoke_tokens() {
    let (org, browser) = admin().await;
    let member = Browser::of(&org, &org.member("Ben Ruiz").await).await;
    let stranger = Browser::of(&Org::new().await, &Org::new().await.admin("Noor Vance").await).await;
    let secret = created(&browser, "CRM sync", "read").await;
    let client = org.with_token(&secret);
    let id = client.get("/api/v1/me").send().await.ok(200)["token_id"].as_str().expect("an id").to_owned();
    assert_eq!(member.get(TOKENS).await.status, 403);
    assert_eq!(create(&member, "Mine", "read_write").await.status, 403);
    assert_eq!(revoke(&member, &id).await.status, 403);
    for other in [id.as_str(), &unknown_id(), "x"] {
        assert_eq!(revoke(&stranger, other).await.status, 404, "{other}");
    }
    client.get("/api/v1/me").send().await.ok(200);
    assert!(!browser.get(TOKENS).await.says("Mine"));
    let without_form_token = browser.post(TOKENS, &[("name", "Forged"), ("scope", "read")]).await;
    assert_eq!(without_form_token.status, 403);
}

#[tokio::test]
async fn a_token_without_a_name_or_a_scope_is_refused_beside_its_field() {
    let (_org, browser) = admin().await;
    let long = "n".repeat(201);
    for (name, scope, error) in [
        (" ", "read", "name-error"),
        (&*long, "read", "name-error"),
        ("Zebra", "admin", "scope-error"),
        ("Zebra", "", "scope-error"),
    ] {
        let refused = create(&browser, name, scope).await;
        assert_eq!(refused.status, 422, "{name} {scope}");
        assert!(refused.says(&format!("<p id=\"{error}\" class=\"field-error\">")), "{}", refused.body);
        assert!(refused.says(&format!("value=\"{name}\"")) && refused.says("<title>Error: Access tokens"));
    }
    let page = browser.get(TOKENS).await;
    assert!(value(&page).is_none() && !page.says("Zebra"), "{}", page.body);
}

fn row<'a>(page: &'a Page, name: &str) -> &'a str {
    let rows = page.body.split("<td class=\"main\">");
    rows.into_iter().find(|row| row.contains(name)).unwrap_or_else(|| panic!("no {name}: {}", page.body))
}

#[tokio::test]
async fn the_hour_of_a_tokens_last_use_is_shown_and_written_once() {
    let (org, browser) = admin().await;
    let token = org.issue("CRM sync", Scope::Read, Timestamp::now()).await;
    assert!(row(&browser.get(TOKENS).await, "CRM sync").contains("Never used"));
    let client = org.with_token(&token.value);
    // Many processes at the turn of the hour all get answers.
    let calls = (0..8).map(|_| client.get("/api/v1/me").send());
    for answer in futures_util::future::join_all(calls).await {
        answer.ok(200);
    }
    let page = browser.get(TOKENS).await;
    let used = row(&page, "CRM sync");
    assert!(
        used.contains("data-label=\"Last used\"><time") && used.contains(":00–") && used.contains(":59 UTC"),
        "{used}"
    );
    let answer = client.get("/api/v1/me").send().await;
    let line = log::line(org.stack().log_file(), &answer.request_id()).await;
    let hour = Timestamp::now().start_of_hour();
    let is_same_hour = used.contains(&format!("datetime=\"{hour}\""));
    assert!(!is_same_hour || line["round_trips"] == 3, "{line}");
    let refused = org.issue("Refused", Scope::Read, Timestamp::now()).await;
    org.with_token(&refused.value).post("/api/v1/contacts", &json!({})).send().await.refused(403);
    let expired = org.issue("Expired", Scope::Read, Timestamp::now().plus_seconds(-91 * 24 * 3600)).await;
    org.with_token(&expired.value).get("/api/v1/me").send().await.refused(401);
    let page = browser.get(TOKENS).await;
    assert!(row(&page, "Refused").contains("data-label=\"Last used\"><time"), "{}", page.body);
    assert!(row(&page, "Expired<").contains("Never used"), "{}", page.body);
}

/// Whichever function a program calls first; each needs the permission for it (see `tests::calls`).
#[tokio::test]
async fn every_function_of_the_api_notes_a_tokens_first_use() {
    let (org, browser) = admin().await;
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "CRM sync", "version": "1"}}});
    for (function, path, body) in [
        ("read-api", "/api/v1/me", None),
        ("write-api", "/api/v1/contacts", Some(json!({}))),
        ("proposals", "/api/v1/proposals", None),
        ("documents", "/api/v1/funding-items/paper", Some(json!({}))),
        ("mcp", "/mcp", Some(initialize)),
    ] {
        let name = format!("First at {function}");
        let token = org.issue(&name, Scope::ReadWrite, Timestamp::now()).await;
        let client = org.with_token(&token.value);
        let call = match &body {
            None => client.get(path),
            Some(body) => client.post(path, body).header("Accept", "application/json, text/event-stream"),
        };
        let answer = call.send().await;
        assert!([200, 422].contains(&answer.status), "{function}: {}", answer.status);
        let page = browser.get(TOKENS).await;
        assert!(row(&page, &name).contains("data-label=\"Last used\"><time"), "{name}: {}", page.body);
    }
}

#[tokio::test]
async fn only_the_newest_ended_tokens_are_listed() {
    let (org, browser) = admin().await;
    for n in 0..=limits::ENDED_TOKENS_SHOWN_MAX {
        let long_ago = Timestamp::now().plus_seconds(-91 * 24 * 3600);
        org.issue(&format!("Old {n:02}"), Scope::Read, long_ago).await;
    }
    let page = browser.get(TOKENS).await;
    assert!(page.says("Old 01") && page.says("Old 20") && !page.says("Old 00"), "{}", page.body);
    assert!(page.says("These are the newest.") && page.says("Integration"), "{}", page.body);
}
