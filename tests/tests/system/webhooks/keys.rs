//! The keys that seal signing secrets: a failed look-up doesn't mean a missing key, and a rotation loses nothing.

use std::sync::Arc;

use futures_util::future::join_all;
use shared::crypto::keyring::{Keyring, SealError};
use shared::crypto::keys::{Keys, open_with};
use shared::domain::delivery::{DeliveryState, Outcome};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::platform::aws;
use shared::platform::secrets_manager::SecretsManagerKeys;
use shared::webhook::queue::DeliveryMessage;
use shared::webhook::signature;
use tests::app::{Browser, Person};
use tests::aws_services::{AwsServices, KEYRING};
use tests::clockwork::Clockwork;
use tests::receiver::Receiver;
use tests::subscriber::{DEVELOPERS, Subscriber, add, secret_on};
use tests::{Needs, Org, Stack, outbox};
use webhook_sender::{Failure, Handled};

async fn secrets_manager(keyring: &Keyring) -> AwsServices {
    let service = AwsServices::new().await;
    service.put_secret(KEYRING, keyring.reveal());
    service
}

fn cold_keys(service: &AwsServices) -> Arc<SecretsManagerKeys> {
    SecretsManagerKeys::new(aws::secrets_manager(&service.settings()), KEYRING.to_owned())
}

fn rotated(keyring: &Keyring) -> Keyring {
    ops::keyring::rotate(&keyring.reveal(), Timestamp::now()).expect("a keyring")
}

#[tokio::test]
async fn a_failed_look_up_says_nothing_about_a_key() {
    let old = Keyring::new("old").expect("randomness");
    let new = old.clone().with_new_key("new").expect("randomness");
    let sealed = new.seal("a secret", "a place").expect("it is sealed");
    let service = secrets_manager(&old).await;
    let keys = cold_keys(&service);
    let open = async || open_with(&*keys, |keyring| keyring.open(&sealed, "a place")).await;
    assert!(
        matches!(open().await, Err(SealError::NoSuchKey(name)) if name == "new"),
        "a look-up has found no such key"
    );

    service.put_secret(KEYRING, new.reveal());
    service.set_down(true);
    for _ in 0..2 {
        assert!(matches!(open().await, Err(SealError::NoKeys(_))));
    }
    let cached = keys.keyring().await.expect("functions go on with the keys that they have");
    assert!(cached.has("old") && !cached.has("new"));
    service.set_down(false);
    assert_eq!(open().await.expect("it opens"), "a secret");

    service.set_down(true);
    assert!(matches!(cold_keys(&service).keyring().await, Err(SealError::NoKeys(_))));
}

#[tokio::test]
async fn a_key_is_found_however_soon_after_a_look_up_it_was_made_and_calls_share_look_ups() {
    let old = Keyring::new("old").expect("randomness");
    let service = secrets_manager(&old).await;
    let keys = cold_keys(&service);
    let first = join_all((0..20).map(|_| keys.keyring())).await;
    assert!(first.iter().all(Result::is_ok));
    assert_eq!(service.look_ups(), 1);

    service.put_secret(KEYRING, old.with_new_key("new").expect("randomness").reveal());
    let newest = join_all((0..100).map(|_| keys.newest())).await;
    assert!(newest.into_iter().all(|keyring| keyring.expect("the keys").has("new")));
    assert!(keys.keyring().await.expect("the keys").has("new"), "they are cached");
    assert_eq!(service.look_ups(), 2);
}

async fn at(stack: &Stack, person: &Person) -> Browser {
    let browser = Browser::new(&stack.base_url);
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    browser
}

async fn wake_for(org: &Org, clockwork: &Clockwork, subscriber: &Subscriber) -> DeliveryMessage {
    let event = outbox::event();
    outbox::emit(org, std::slice::from_ref(&event)).await;
    clockwork.first_tick().await;
    clockwork.first_tick().await;
    let is_wanted =
        |wake: &&DeliveryMessage| (wake.delivery.event, wake.delivery.endpoint) == (event.id, subscriber.id);
    *clockwork.queue.wakes().iter().rfind(is_wanted).expect("a message")
}

#[tokio::test]
async fn a_delivery_waits_while_its_key_can_not_be_looked_up() {
    let before = Stack::with(Needs::OWN.without_background());
    let org = Org::on(before.clone()).await;
    let person = org.admin("Ines Duarte").await;
    let service = secrets_manager(before.keyring()).await;
    let keys = cold_keys(&service);
    keys.keyring().await.expect("the keys before their rotation");
    let rotated = rotated(before.keyring());
    let app = before.with_keyring(rotated.clone(), false);
    let subscriber = Subscriber::add(at(&app, &person).await, Receiver::new().await, &[]).await;
    let clockwork = Clockwork::of(&org);
    let sender = clockwork.sender_with(keys);
    let wake = wake_for(&org, &clockwork, &subscriber).await;

    service.put_secret(KEYRING, rotated.reveal());
    service.set_down(true);
    for _ in 0..=limits::MESSAGE_RECEIVES_MAX {
        let ended = sender.handle(wake).await;
        assert!(matches!(ended, Ok(Handled::PutBack(_))), "it is no dead letter: {ended:?}");
        let delivery = subscriber.delivery(&org, wake.delivery.event).await.expect("a delivery");
        assert_eq!((delivery.state(), delivery.attempted, delivery.failures), (DeliveryState::Queued, 0, 0));
        assert!(delivery.is_claimable(Timestamp::now()), "the claim is released");
    }
    assert!(!subscriber.admin.get(&subscriber.path()).await.says("could not be processed"));
    assert!(org.due().await.iter().any(|key| key.starts_with("DELIVERY#")), "the clock wakes it again");

    service.set_down(false);
    let ended = sender.handle(wake).await;
    assert!(matches!(ended, Ok(Handled::Attempted(Outcome::Delivered { .. }))), "{ended:?}");
    let arrival = subscriber.receiver.wait_for(1).await.remove(0);
    let now = Timestamp::now().unix_s();
    signature::verify(&subscriber.secret, &arrival.headers, &arrival.body, now).expect("it verifies");
    let delivered = subscriber.delivery(&org, wake.delivery.event).await.expect("a delivery");
    assert_eq!((delivered.state(), delivered.attempted), (DeliveryState::Delivered, 1));

    // The look-up succeeds, without the key.
    let lost = before.with_keyring(Keyring::new("lost").expect("randomness"), false);
    let subscriber = Subscriber::add(at(&lost, &person).await, Receiver::new().await, &[]).await;
    let wake = wake_for(&org, &clockwork, &subscriber).await;
    let ended = sender.handle(wake).await;
    assert!(matches!(&ended, Err(Failure::Permanent(cause)) if cause == "the key lost is gone"), "{ended:?}");
    assert!(subscriber.admin.get(&subscriber.path()).await.says("1 delivery could not be processed"));
}

#[tokio::test]
async fn without_keys_nothing_is_added_or_rotated_and_nothing_typed_is_lost() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let person = org.admin("Ines Duarte").await;
    let service = secrets_manager(org.stack().keyring()).await;
    let app = org.stack().with_keys(cold_keys(&service));
    let admin = at(&app, &person).await;
    let url = &format!("{}?tenant=7", Receiver::new().await.url());
    let before = org.state().await;
    service.set_down(true);
    let refused = add(&admin, url, &["proposal.created"]).await;
    assert_eq!(refused.status, 500);
    let chosen = "name=\"event:proposal.created\" value=\"on\" checked";
    for text in ["The endpoint was not added", "Try again in a minute", &format!("value=\"{url}\""), chosen] {
        assert!(refused.says(text), "{text}: {}", refused.body);
    }
    assert_eq!(org.state().await, before);
    service.set_down(false);
    let token = refused.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("url", url), ("event:proposal.created", "on")];
    let added = admin.post(DEVELOPERS, &fields).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let secret = secret_on(&admin.get(added.location()).await).expect("the secret is shown");

    service.set_down(true);
    let other = org.stack().with_keys(cold_keys(&service));
    let colder = Browser::new(&other.base_url);
    for cookie in ["session", &format!("once-secret-{}", added.location().rsplit('/').next().unwrap())] {
        colder.set_cookie(cookie, &admin.cookie(cookie).expect("a cookie"));
    }
    let before = org.state().await;
    let page = colder.get(added.location()).await;
    assert_eq!(page.status, 200);
    assert!(
        page.says("The signing secret can’t be shown at the moment") && secret_on(&page).is_none(),
        "{}",
        page.body
    );
    let fields = [("form_token", token.as_str()), ("act", "rotate"), ("old", "replace")];
    let refused = colder.post(added.location(), &fields).await;
    assert_eq!(refused.status, 500);
    assert!(refused.says("The secret was not rotated") && refused.says("Try again in a minute"), "{}", refused.body);
    assert_eq!(org.state().await, before);
    service.set_down(false);
    assert!(secret_on(&colder.get(added.location()).await) == Some(secret), "it is shown after all");

    service.set_down(true);
    let cold = org.stack().with_keys(cold_keys(&service));
    let coldest = Browser::new(&cold.base_url);
    coldest.set_cookie("session", &admin.cookie("session").expect("a session"));
    let deleted = coldest.post(added.location(), &[("form_token", token.as_str()), ("act", "delete")]).await;
    assert_eq!((deleted.status, deleted.location()), (303, DEVELOPERS));
}

#[tokio::test]
async fn a_new_secret_is_shown_for_two_minutes_on_the_pages_of_its_endpoint() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let (admin, secret) = (&subscriber.admin, Some(subscriber.secret.clone()));
    let other = add(admin, &subscriber.receiver.url(), &[]).await;
    let of_other = secret_on(&admin.get(other.location()).await);
    assert!(of_other.is_some() && of_other != secret);

    let test = subscriber.test().await;
    let (delivery, edit) = (subscriber.delivery_path(test), format!("{}/edit", subscriber.path()));
    for path in [&subscriber.path(), &delivery, &edit, &format!("{}?state=queued", subscriber.path())] {
        let page = admin.get(path).await;
        assert!(secret_on(&page) == secret, "{path}: {}", page.body);
        assert!(page.says("type=\"text\" readonly value=\"whsec_"), "it can be selected: {}", page.body);
    }
    let refused = subscriber.edit("https://10.0.0.7/", &[]).await;
    assert!(refused.status == 422 && secret_on(&refused) == secret, "{}", refused.body);
    for path in [DEVELOPERS, "/app"] {
        assert!(!admin.get(path).await.says("whsec_"), "{path}");
    }
    let colleague = Browser::of(&org, &org.admin("Ben Ruiz").await).await;
    let cookie = format!("once-secret-{}", subscriber.id);
    colleague.set_cookie(&cookie, &admin.cookie(&cookie).expect("the secret on its way"));
    assert!(secret_on(&colleague.get(&subscriber.path()).await).is_none(), "another session can't read it");

    let rotated = subscriber.press("rotate", &[]).await;
    let set = rotated.headers["set-cookie"].to_str().unwrap();
    for part in [&*format!("{cookie}="), "; Max-Age=120;", "; HttpOnly;", "; SameSite=Strict"] {
        assert!(set.contains(part), "{part}: {set}");
    }
    let new = secret_on(&admin.get(&delivery).await);
    assert!(new.is_some() && new != secret, "the newer one takes its place");
    admin.expire_flashes();
    for path in [&subscriber.path(), &delivery, &edit] {
        assert!(secret_on(&admin.get(path).await).is_none(), "{path}");
    }
}

#[tokio::test]
async fn a_new_secret_is_shown_also_by_a_function_with_older_keys() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let person = org.admin("Ines Duarte").await;
    let service = secrets_manager(org.stack().keyring()).await;
    let keys = cold_keys(&service);
    keys.keyring().await.expect("the keys before their rotation");
    let (newer, older) = (rotated(org.stack().keyring()), org.stack().with_keys(keys));
    service.put_secret(KEYRING, newer.reveal());

    let newest = org.stack().with_keyring(newer, false);
    let admin = at(&newest, &person).await;
    let added = add(&admin, &Receiver::new().await.url(), &[]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let elsewhere = Browser::new(&older.base_url);
    for cookie in ["session", &format!("once-secret-{}", added.location().rsplit('/').next().unwrap())] {
        elsewhere.set_cookie(cookie, &admin.cookie(cookie).expect("a cookie"));
    }
    let page = elsewhere.get(added.location()).await;
    assert!(secret_on(&page).is_some(), "{}", page.body);
}
