//! The keyring that signing secrets are sealed with, and its rotation.

use serde_json::Value;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::time::Timestamp;
use shared::webhook::signature;
use tests::app::Browser;
use tests::receiver::Arrival;
use tests::subscriber::{Subscriber, secret_on};
use tests::{Needs, Org, Stack, drafts, rows};

async fn sealed_with(org: &Org, subscriber: &Subscriber) -> (Value, Value) {
    let rows = rows::of_organization(org.stack().table(), org.id).await;
    let id = subscriber.id.to_string();
    let row = rows.iter().find(|row| row["id"] == id.as_str() && row["secret"].is_object());
    let row = row.unwrap_or_else(|| panic!("the endpoint is kept: {rows:?}"));
    (row["secret"]["key"].clone(), row["previous_secrets"][0]["secret"]["key"].clone())
}

fn verifies(arrival: &Arrival, secret: &SigningSecret) -> bool {
    signature::verify(secret, &arrival.headers, &arrival.body, Timestamp::now().unix_s()).is_ok()
}

#[tokio::test]
async fn after_a_rotation_endpoints_sign_as_before_and_new_secrets_get_the_new_key() {
    let before = Stack::with(Needs::OWN.without_background().on_configured_store());
    let org = Org::on(before.clone()).await;
    let admin = org.admin("Ines Duarte").await;
    let receiver = tests::receiver::Receiver::new().await;
    let subscriber = Subscriber::add(Browser::of(&org, &admin).await, receiver, &[]).await;
    let draft = drafts::written(&org, "Seed round").await;
    let (old_key, _) = sealed_with(&org, &subscriber).await;

    let rotated = ops::keyring::rotate(&before.keyring().reveal(), Timestamp::now()).expect("a keyring");
    let after = before.with_keyring(rotated, true);
    org.at(&after).post("/api/v1/proposals", &draft.publication()).send().await.ok(201);
    let first = subscriber.receiver.wait_for(1).await.remove(0);
    assert!(verifies(&first, &subscriber.secret), "what the old key sealed opens");
    assert_eq!(sealed_with(&org, &subscriber).await.0, old_key);

    let browser = Browser::new(&after.base_url);
    browser.sign_in(&admin.email, &admin.password, "/app").await;
    let old_secret = subscriber.secret.clone();
    let subscriber = Subscriber { admin: browser, ..subscriber };
    let page = subscriber.press("rotate", &[]).await;
    assert_eq!(page.status, 303, "{}", page.body);
    let shown = subscriber.admin.get(page.location()).await;
    let new_secret = secret_on(&shown).expect("the secret is shown");
    let (new_key, previous_key) = sealed_with(&org, &subscriber).await;
    assert!(new_key != old_key, "sealed anew: {new_key}");
    assert!(previous_key.is_null() || previous_key == old_key, "{previous_key}");

    subscriber.press("test", &[]).await;
    let second = subscriber.receiver.wait_for(2).await.remove(1);
    assert!(verifies(&second, &new_secret));
    assert_eq!(verifies(&second, &old_secret), previous_key == old_key, "while the two overlap, both sign");
}
