//! Home tells admins of endpoints that fail.

use tests::Org;
use tests::app::{Browser, Page};
use tests::eventually;
use tests::log;
use tests::receiver::Reaction;
use tests::subscriber::Subscriber;

const FAILING: &str = "Webhook endpoint · ";

/// Opens Home until it fits: an endpoint's health shows a moment after the attempt.
async fn home_until(browser: &Browser, fits: impl Fn(&Page) -> bool) -> Page {
    eventually("Home is as it should be", async || Some(browser.get("/app").await).filter(&fits)).await
}

async fn send_test(subscriber: &Subscriber) -> String {
    let sent = subscriber.press("test", &[]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    sent.location().rsplit('/').next().expect("a delivery's page").to_owned()
}

#[tokio::test]
async fn admins_see_an_endpoint_that_fails_until_it_works_or_is_paused() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let admin = &subscriber.admin;
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let stranger = Browser::of(&org, &Org::on(org.stack().clone()).await.admin("Noor Vance").await).await;
    assert!(!admin.get("/app").await.says(FAILING), "nothing has been sent yet");

    subscriber.receiver.answer(Reaction::status(500));
    let event = send_test(&subscriber).await;
    let page = home_until(admin, |page| page.says("its last attempt failed")).await;
    let link = format!("href=\"{}\">{}</a>", subscriber.path(), subscriber.receiver.url());
    assert!(page.says(&link) && page.says("Webhook endpoint"), "{}", page.body);
    for browser in [&member, &stranger] {
        assert!(!browser.get("/app").await.says(FAILING), "for its admins only");
    }
    send_test(&subscriber).await;
    send_test(&subscriber).await;
    home_until(admin, |page| page.says("3 failures in a row")).await;

    assert_eq!(subscriber.press("pause", &[]).await.status, 303);
    assert!(!admin.get("/app").await.says(FAILING), "nothing is sent while it is paused");
    assert_eq!(subscriber.press("resume", &[]).await.status, 303);
    assert!(admin.get("/app").await.says("3 failures in a row"));

    subscriber.receiver.answer(Reaction::status(204));
    assert_eq!(subscriber.replay(&event).await.status, 303);
    home_until(admin, |page| !page.says(FAILING)).await;
}

#[tokio::test]
async fn a_few_stand_for_many_and_only_admins_pay_for_looking() {
    let org = Org::new().await;
    let mut subscribers = vec![org.subscriber().await];
    for _ in 0..4 {
        let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
        let receiver = tests::receiver::Receiver::new().await;
        subscribers.push(Subscriber::add(admin, receiver, &[]).await);
    }
    for subscriber in &subscribers {
        subscriber.receiver.answer(Reaction::status(500));
        send_test(subscriber).await;
    }
    let admin = &subscribers[0].admin;
    let page = home_until(admin, |page| page.says("2 more failing endpoints")).await;
    assert_eq!(page.body.matches(FAILING).count(), 3);

    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let mut round_trips = Vec::new();
    for page in [page, member.get("/app").await] {
        let id = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).expect("a request id").to_owned();
        let line = log::line(org.stack().log_file(), &id).await;
        round_trips.push(line["round_trips"].as_u64().unwrap_or_else(|| panic!("{line}")));
    }
    assert_eq!(
        round_trips[0],
        round_trips[1] + 4,
        "queries for endpoints and quarantined deliveries; a query and a batch for tokens"
    );
}
