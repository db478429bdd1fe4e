//! `GET /api/v1/me`.

use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use tests::Org;
use tests::org::TOKEN_NAME;

use crate::{assert_moment, members};

const NINETY_DAYS_S: i64 = 90 * 24 * 3600;

#[tokio::test]
async fn a_token_learns_whom_it_speaks_for() {
    let org = Org::new().await;
    let me = org.get("/api/v1/me").send().await.ok(200);
    let expected = ["expires_at", "organization_id", "organization_name", "scope", "token_id", "token_name"];
    assert_eq!(members(&me), expected);
    assert_eq!(me["organization_id"], org.id.to_string());
    assert_eq!(me["organization_name"], org.name);
    assert_eq!(me["token_id"], org.token.id.to_string());
    assert_eq!(me["token_name"], TOKEN_NAME);
    assert_eq!(me["scope"], "read_write");
    assert_moment(&me["expires_at"]);
}

#[tokio::test]
async fn a_read_only_token_learns_that_it_is_one() {
    let org = Org::new().await;
    let me = org.read_only().get("/api/v1/me").send().await.ok(200);
    assert_eq!(me["scope"], "read");
    assert_eq!(me["token_id"], org.read_only_token.id.to_string());
    assert_eq!(me["organization_id"], org.id.to_string());
}

#[tokio::test]
async fn a_token_expires_ninety_days_after_its_issue() {
    let org = Org::new().await;
    let issued_at = Timestamp::now().plus_seconds(-40 * 24 * 3600);
    let token = org.issue("Forty days old", Scope::Read, issued_at).await;
    let me = org.with_token(&token.value).get("/api/v1/me").send().await.ok(200);
    assert_eq!(me["expires_at"], issued_at.plus_seconds(NINETY_DAYS_S).to_string());
    assert_eq!(me["token_name"], "Forty days old");
}

#[tokio::test]
async fn two_organizations_are_told_apart() {
    let (one, other) = (Org::new().await, Org::new().await);
    let (one_me, other_me) = (one.get("/api/v1/me").send().await.ok(200), other.get("/api/v1/me").send().await.ok(200));
    assert_ne!(one_me["organization_id"], other_me["organization_id"]);
    assert_eq!(other_me["organization_name"], other.name);
}
