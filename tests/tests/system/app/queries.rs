//! URLs of pages refuse unknown, repeated and invalid parameters: a typo never shows the whole list, or another page.

use serde_json::Value;
use tests::Org;
use tests::app::Browser;
use tests::pages::{Furnished, crawl, furnish};

async fn is_refused(browser: &Browser, path: &str) -> bool {
    let page = browser.get(path).await;
    match page.status {
        422 => true,
        303 => browser.get(page.location()).await.status == 422,
        _ => false,
    }
}

fn lists(funding: &str, endpoint: &str) -> Vec<(String, Vec<(&'static str, String)>)> {
    let page = |path: &str, wrong: &[(&'static str, &str)]| {
        (path.to_owned(), wrong.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
    };
    let long = "x".repeat(251);
    vec![
        page("/app", &[("attention", "some"), ("arrived", "late")]),
        page("/app/agreements", &[("lifecycle", "zzz"), ("search", &long), ("offset", "-1"), ("limit", "x")]),
        page(
            "/app/proposals",
            &[("state", "zzz"), ("action", "zz"), ("agreement", "1"), ("search", &long), ("offset", "z")],
        ),
        page("/app/contacts", &[("search", &long), ("offset", "1.0")]),
        page("/app/workspaces", &[("search", &long), ("offset", "x")]),
        page(
            "/app/audit",
            &[("from", "zz"), ("to", "zz"), ("actor", "x"), ("operation", "zzz"), ("outcome", "z"), ("before", "1")],
        ),
        page("/app/audit/export", &[("from", "zz"), ("actor", "x"), ("outcome", "z"), ("before", "1")]),
        page(
            "/app/money",
            &[("row_type", "zz"), ("product", "zz"), ("workspace_id", "1"), ("include_done", "2"), ("offset", "x")],
        ),
        page(
            "/app/money/export",
            &[("row_type", "zz"), ("product", "zz"), ("workspace_id", "1"), ("include_done", "2"), ("offset", "x")],
        ),
        page("/app/money/statements", &[("offset", "x")]),
        page("/app/obligations", &[("state", "zz"), ("offset", "x")]),
        page("/app/funding", &[("search", &long), ("offset", "x")]),
        page(funding, &[("phase", "zz"), ("hold", "no"), ("trust_id", "1"), ("search", &long), ("offset", "x")]),
        page(&format!("{funding}/export"), &[]),
        page("/app/trusts", &[("search", &long), ("offset", "x")]),
        page("/app/organization", &[("search", &long), ("offset", "x"), ("invited", "1"), ("linked", "1")]),
        page(endpoint, &[("state", "zz"), ("type", "zz"), ("before", "1")]),
        page("/app/search", &[("q", &long)]),
        page("/app/developers", &[]),
        page("/app/developers/tokens", &[("created", "1")]),
        page("/app/account", &[("password", "zz")]),
        page(&format!("{funding}/import"), &[]),
        page("/app/imports/contacts", &[]),
        page("/app/agreements/new", &[("workspace", "1"), ("template", "zzz")]),
        page("/app/agreements/new/workspace", &[("search", &long), ("offset", "x")]),
        page("/app/trusts/new", &[("workspace", "1")]),
    ]
}

#[tokio::test]
async fn what_a_list_does_not_know_is_refused_and_never_shows_the_whole_list() {
    let org = Org::new().await;
    let Furnished { subscriber, .. } = furnish(&org).await;
    let admin = &subscriber.admin;
    let items: Value = org.get("/api/v1/funding-items").send().await.ok(200);
    let funding = format!("/app/funding/{}", items["data"][0]["workspace_id"].as_str().expect("an item"));
    for (path, wrong) in lists(&funding, &subscriber.path()) {
        assert_eq!(admin.get(&path).await.status, 200, "{path}");
        assert!(is_refused(admin, &format!("{path}?zzz=1")).await, "{path} ignores what it does not know");
        assert!(is_refused(admin, &format!("{path}?zzz=")).await, "{path} ignores what it does not know");
        for (name, value) in wrong {
            assert!(is_refused(admin, &format!("{path}?{name}={value}")).await, "{path}: {name}={value}");
            assert!(is_refused(admin, &format!("{path}?{name}=&{name}=")).await, "{path}: {name} twice");
        }
    }
    let told = admin.get("/app/proposals?state=zzz").await;
    assert!(told.says("state must be one of pending") && !told.says("<table"), "{}", told.body);
    let workspace = funding.strip_prefix("/app/funding/").expect("an id");
    let new = format!("/app/agreements/new?workspace={workspace}&template");
    assert_eq!(admin.get(&format!("{new}=blank")).await.status, 200);
    assert!(is_refused(admin, &format!("{new}=zzz")).await, "the template is another one");
    // Pages reached by links with parameters read them as strictly.
    let mut asked = 0;
    for visit in crawl(&org, admin).await.iter().filter(|visit| visit.path.contains('?')) {
        let (path, query) = visit.path.split_once('?').expect("a query");
        asked += 1;
        assert!(is_refused(admin, &format!("{path}?{query}&zzz=1")).await, "{path}?{query}");
        let first = query.split('&').next().unwrap_or_default();
        assert!(is_refused(admin, &format!("{path}?{query}&{first}")).await, "{path}?{query}");
    }
    assert!(asked > 10, "{asked}");
}

#[tokio::test]
async fn the_sign_in_pages_refuse_what_they_do_not_know() {
    let org = Org::new().await;
    let stranger = Browser::new(org.base_url());
    for path in ["/app/sign-in", "/app/sign-in/code"] {
        for query in ["zzz=1", "next=/app&next=/app", "ended=zzz", "password=zzz", "password=saved&password=saved"] {
            assert_eq!(stranger.get(&format!("{path}?{query}")).await.status, 422, "{path}?{query}");
        }
    }
    assert!(stranger.get("/app/sign-in?password=saved&next=/app").await.says("Password saved"));
}
