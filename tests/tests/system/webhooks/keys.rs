//! The keys that seal signing secrets: a look-up that fails is no missing key, and a rotation loses nothing.

use std::sync::Arc;

use futures_util::future::join_all;
use shared::crypto::keyring::{Keyring, SealError};
use shared::domain::delivery::{DeliveryState, Outcome};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::platform::aws;
use shared::platform::secrets::{Keys, open_with};
use shared::platform::secrets_manager::SecretsManagerKeys;
use shared::webhook::queue::DeliveryMessage;
use shared::webhook::signature;
use tests::app::{Browser, Person};
use tests::aws_services::{AwsServices, KEYRING};
use tests::clockwork::Clockwork;
use tests::receiver::Receiver;
use tests::subscriber::Subscriber;
use tests::{Needs, Org, Stack, outbox};
use webhook_sender::{Failure, Handled};

/// Secrets Manager with a keyring.
async fn secrets_manager(keyring: &Keyring) -> AwsServices {
    let service = AwsServices::new().await;
    service.put_secret(KEYRING, keyring.reveal());
    service
}

/// The keys of a function that has not looked them up yet.
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

/// Signs a person in to another stack over the same table.
async fn at(stack: &Stack, person: &Person) -> Browser {
    let browser = Browser::new(&stack.base_url);
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    browser
}

/// An event for a subscriber, and the message that wakes the sender for it.
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
        assert!(matches!(ended, Err(Failure::Retryable(_))), "{ended:?}");
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

    // The look-up succeeds, and the key is not there.
    let lost = before.with_keyring(Keyring::new("lost").expect("randomness"), false);
    let subscriber = Subscriber::add(at(&lost, &person).await, Receiver::new().await, &[]).await;
    let wake = wake_for(&org, &clockwork, &subscriber).await;
    let ended = sender.handle(wake).await;
    assert!(matches!(&ended, Err(Failure::Permanent(cause)) if cause == "the key lost is gone"), "{ended:?}");
    assert!(subscriber.admin.get(&subscriber.path()).await.says("1 delivery could not be processed"));
}
