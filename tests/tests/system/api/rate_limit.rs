//! One organization's flood: refused with 429, on record, and no other organization's business.

use std::time::Duration;

use serde_json::json;
use tests::app::Browser;
use tests::mcp::Mcp;
use tests::{Needs, Org, Stack, rows};

const PER_SECOND: usize = 10;
const CALLS: usize = 40;
const CONTACTS: &str = "/api/v1/contacts";

fn limited() -> Needs {
    Needs::OWN.without_background().calls_per_second(10)
}

#[tokio::test]
async fn a_flood_is_refused_with_429_and_on_record_and_other_organizations_are_served() {
    let stack = Stack::with(limited());
    let (org, other) = (Org::on(stack.clone()).await, Org::on(stack).await);
    let body = json!({"display_name": "Ada Okafor", "kind": "person"});
    let mut refused = Vec::new();
    let mut created = 0;
    for n in 0..CALLS {
        let answer = org.post(CONTACTS, &body).key(format!("key {n}")).send().await;
        match answer.status {
            201 => created += 1,
            429 => refused.push((n, answer)),
            status => panic!("{status}: {answer}"),
        }
    }
    // The calls may take more than a second, which begins another budget.
    assert!(created >= PER_SECOND && !refused.is_empty(), "{created} of {CALLS}");
    assert_eq!(other.get("/api/v1/me").send().await.status, 200, "each has its own");
    for (_, answer) in &refused {
        let error = &answer.json()["error"];
        assert_eq!((&error["code"], &error["status"]), (&json!("rate_limited"), &json!(429)));
        assert_eq!(error["request_id"], json!(answer.request_id()));
        assert_eq!(answer.header("retry-after"), "1");
    }
    let audit = rows::audit(org.stack().table(), org.id).await;
    let of_code =
        |code: &str| audit.iter().filter(|row| row["code"] == code && row["operation"] == "create_contact").count();
    assert_eq!((of_code("ok"), of_code("rate_limited")), (created, refused.len()), "every call has its row");

    tokio::time::sleep(Duration::from_millis(1100)).await;
    let listed = org.get(CONTACTS).send().await.ok(200);
    assert_eq!(listed["pagination"]["total"], created, "what was refused had no effect");
    let (n, _) = refused[0];
    let again = org.post(CONTACTS, &body).key(format!("key {n}")).send().await;
    assert_eq!(again.status, 201, "and used up no key: {again}");
}

#[tokio::test]
async fn refusals_come_in_the_form_of_each_entrance() {
    let org = Org::with(limited()).await;
    let browser = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let spend = async || {
        tokio::time::sleep(Duration::from_millis(1100)).await;
        for _ in 0..PER_SECOND {
            org.get("/api/v1/me").send().await;
        }
    };
    spend().await;
    let page = browser.get("/app").await;
    assert_eq!(page.status, 429, "{}", page.body);
    assert!(page.says("Too many requests at once"), "{}", page.body);
    assert_eq!(page.headers["retry-after"], "1");

    spend().await;
    let unknown = org.get("/api/v1/nothing").send().await;
    assert_eq!(unknown.status, 429, "before anything is said about the path: {unknown}");
    assert_eq!(org.with_token("cs_nothing").get("/api/v1/me").send().await.status, 401, "and after the token");

    spend().await;
    let told = Mcp::of(&org).call("get_identity", &json!({})).await;
    assert!(told.is_error(), "{told:?}");
    assert_eq!(told.answer()["error"]["code"], "rate_limited");
    assert!(told.texts().iter().any(|text| text.contains("wait a second")), "{told:?}");
}
