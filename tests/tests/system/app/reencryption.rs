//! After a rotation and resealing, the old key is dropped, and nothing is lost.

use ops::keyring::Retirement;
use ops::reencrypt::{Reencrypted, reencrypt};
use shared::crypto::keyring::Keyring;
use shared::domain::agreement::gate::FieldType;
use shared::domain::time::Timestamp;
use shared::service::movements;
use shared::store::Store;
use tests::app::Browser;
use tests::payments::{Paying, instructions};
use tests::receiver::Receiver;
use tests::rows;
use tests::subscriber::Subscriber;

use super::information::{asking, name, question, submit};
use super::second_factor::{send_code, step, turn_on};

async fn walk(store: &Store, keyring: &Keyring) -> Reencrypted {
    let on = |key: &shared::store::keys::Key, why: &str, _: &dyn Fn(&str)| panic!("{key}: {why}");
    reencrypt(store, keyring, None, on).await.expect("the table answers")
}

#[tokio::test]
async fn an_old_key_can_be_dropped_after_what_it_sealed_was_sealed_anew() {
    let live = asking(vec![question("Where do we send the money?", FieldType::BankDetails, true)], true).await;
    let (org, store) = (&live.org, live.org.store());
    let receiver = Receiver::new().await;
    let admin = org.admin("Ines Duarte").await;
    let subscriber = Subscriber::add(Browser::of(org, &admin).await, receiver, &["proposal.created"]).await;
    let (ada, bob) = (live.attend(live.ids()[0]).await, live.attend(live.ids()[1]).await);
    let field = name(&live, 0);
    let part = |part: &str| format!("{field}.{part}");
    let typed =
        [(part("holder"), "Ada Okafor"), (part("bank"), "First Bank"), (part("number"), "DE89370400440532013000")];
    let typed: Vec<(&str, &str)> = typed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(submit(&live, &ada, "send", &typed).await.status, 303);
    assert_eq!(submit(&live, &bob, "save", &typed).await.status, 303);
    let condition = live.agreement.stages[0].gates[0].id;
    let answers = format!("{}/conditions/{condition}/answers/{}", live.path(), ada.participant);
    let hashed = async |page: &tests::app::Page, browser: &Browser| {
        let link = page.body.split('"').find(|link| link.contains("/hashed/")).expect("what was hashed").to_owned();
        browser.get(&link).await.bytes
    };
    let before = live.member.get(&answers).await;
    assert!(before.says("IBAN ending in 3000"), "{}", before.body);
    let proven = hashed(&before, &live.member).await;

    // The endpoint's secret, the sent answers, and both drafts: sent answers also stay as a draft.
    let old = org.stack().keyring().clone();
    let rotated = ops::keyring::rotate(&old.reveal(), Timestamp::now()).expect("a keyring");
    let done = walk(store, &rotated).await;
    assert_eq!((done.resealed, done.current, done.changed), (4, 0, 0));
    let again = walk(store, &rotated).await;
    assert!(again.needs_no_older_key() && again.current == 4, "{again:?}");

    let how = Retirement { compromised_since: None, loses_sealed: true };
    let dropped = ops::keyring::retire(&rotated.reveal(), old.current(), how).expect("retired").keyring;
    assert!(!dropped.opens(old.current()));
    let after = org.stack().with_keyring(dropped.clone(), true);
    let person = org.member("Ruth Lindqvist").await;
    let member = Browser::new(&after.base_url);
    member.sign_in(&person.email, &person.password, "/app").await;
    let read = member.get(&answers).await;
    assert!(read.says("IBAN ending in 3000"), "{}", read.body);
    assert_eq!(hashed(&read, &member).await, proven, "the receipt proves the same answers");
    let admin_there = Browser::new(&after.base_url);
    admin_there.sign_in(&admin.email, &admin.password, "/app").await;
    let subscriber = Subscriber { admin: admin_there, ..subscriber };
    subscriber.test().await;
    let arrival = subscriber.receiver.wait_for(1).await.remove(0);
    let now = Timestamp::now().unix_s();
    let verified = shared::webhook::signature::verify(&subscriber.secret, &arrival.headers, &arrival.body, now);
    assert!(verified.is_ok(), "the same secret signs");

    let next = dropped.with_new_key("next").expect("a key");
    assert_eq!(walk(store, &next).await.resealed, 4);
}

#[tokio::test]
async fn second_factors_and_payment_instructions_outlive_the_key_that_sealed_them() {
    let paying = Paying::new().await;
    paying.open().await;
    let org = &paying.live.org;
    let [payer, _] = &paying.people;
    let guarded = org.member("Ruth Lindqvist").await;
    let (secret, _) = turn_on(&Browser::of(org, &guarded).await, &guarded).await;

    let old = org.stack().keyring().clone();
    let rotated = ops::keyring::rotate(&old.reveal(), Timestamp::now()).expect("a keyring");
    let done = walk(org.store(), &rotated).await;
    assert_eq!((done.resealed, done.current, done.changed), (2, 0, 0));
    let how = Retirement { compromised_since: None, loses_sealed: true };
    let dropped = ops::keyring::retire(&rotated.reveal(), old.current(), how).expect("retired").keyring;

    // Their app's codes still sign the member in.
    let after = org.stack().with_keyring(dropped.clone(), false);
    let browser = Browser::new(&after.base_url);
    let halfway = browser.sign_in(&guarded.email, &guarded.password, "/app/contacts").await;
    assert!(halfway.location().starts_with("/app/sign-in/code"), "{}", halfway.location());
    rows::forget_used_codes(org.stack().table(), &guarded.email).await;
    let signed_in = send_code(&browser, "code", &secret.code_at(step()).reveal()).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, "/app/contacts"), "{}", signed_in.body);

    // Entering the same instructions again changes nothing, which requires opening the existing ones.
    let again = async |keys: &Keyring| {
        org.as_member(payer, "enter_instructions", async |call| {
            movements::enter_instructions(call.scope(), call.member(), keys, paying.id, 0, &instructions()).await
        })
        .await
    };
    let before = paying.read().await;
    again(&dropped).await.expect("they are the same");
    assert_eq!(paying.read().await, before);
}
