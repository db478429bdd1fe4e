//! A suspended organization: nobody gets in, nothing leaves it, and nothing is lost.

use shared::domain::delivery::DeliveryState;
use shared::store::deliveries::DeliveryKey;
use tests::app::Browser;
use tests::attending::Live;
use tests::receiver::Reaction;
use tests::wait::eventually;
use tests::{Needs, Org, drafts, rows};

async fn operations(org: &Org) -> Vec<String> {
    let audit = rows::audit(org.stack().table(), org.id).await;
    audit.iter().map(|row| row["operation"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn nobody_gets_into_a_suspended_organization_and_everybody_goes_on_when_it_is_resumed() {
    let live = Live::new(|_| {}).await;
    let (org, store) = (&live.org, live.org.store());
    let person = org.member("Ruth Lindqvist").await;
    let link = live.link(live.ids()[1]).await;
    let ada = live.open(live.ids()[0]).await;
    let signed_in = Browser::of(org, &person).await;
    for _ in 0..2 {
        ops::organizations::suspend(store, org.id).await.expect("suspended");
    }

    for client in [&**org, &org.read_only()] {
        let refused = client.get("/api/v1/me").send().await;
        refused.refused(401);
        let error = &refused.json()["error"];
        assert_eq!(error["code"], "unauthenticated");
        assert!(error["message"].as_str().is_some_and(|message| message.contains("suspended")), "{error}");
    }
    let away = signed_in.get("/app").await;
    assert!(away.status == 303 && away.location().starts_with("/app/sign-in"), "{} {}", away.status, away.body);
    let elsewhere = Browser::new(org.base_url());
    let told = elsewhere.sign_in(&person.email, &person.password, "/app").await;
    assert!(told.status == 422 && told.says("Your organization is suspended"), "{}", told.body);
    let wrong = elsewhere.sign_in(&person.email, "not the password", "/app").await;
    assert!(!wrong.says("suspended"), "only with the right password: {}", wrong.body);
    assert_ne!(ada.get("").await.status, 200);
    let visitor = Browser::new(org.base_url());
    let gone = visitor.get(&link).await;
    assert!(gone.status >= 400 && !gone.says("Lease"), "{}", gone.body);

    for _ in 0..2 {
        ops::organizations::resume(store, org.id).await.expect("resumed");
    }
    org.get("/api/v1/me").send().await.ok(200);
    assert_eq!(live.member.get("/app").await.status, 200, "a session that nobody used meanwhile goes on");
    assert_eq!(elsewhere.sign_in(&person.email, &person.password, "/app").await.status, 303);
    assert_eq!(ada.get("").await.status, 200, "and so does that of a participant");
    assert_eq!(visitor.get(&link).await.status, 200);
    let done = operations(org).await;
    for operation in ["suspend_organization", "resume_organization"] {
        assert!(done.iter().any(|found| found == operation), "{operation} in {done:?}");
    }
    let unknown = ops::organizations::suspend(store, shared::domain::ids::OrgId::new()).await;
    assert!(matches!(unknown, Err(ops::OpsError::NoSuchOrganization)), "{unknown:?}");
}

#[tokio::test]
async fn deliveries_are_held_while_their_organization_is_suspended_and_sent_when_it_is_resumed() {
    let org = Org::with(Needs::OWN.time_scale(10)).await;
    let subscriber = org.subscriber().await;
    subscriber.receiver.answer(Reaction::status(500));
    let draft = drafts::written(&org, "Seed round").await;
    org.post("/api/v1/proposals", &draft.publication()).send().await.ok(201);
    let event = subscriber.receiver.wait_for(1).await[0].event_id();

    ops::organizations::suspend(org.store(), org.id).await.expect("suspended");
    let key = DeliveryKey { org: org.id, endpoint: subscriber.id, event };
    eventually("the next attempt is due, and the delivery is held", async || {
        let found = org.store().delivery(key).await.expect("the table answers").expect("the delivery");
        (found.state() == DeliveryState::Held).then_some(())
    })
    .await;
    let before = subscriber.receiver.arrivals().len();
    subscriber.receiver.answer(Reaction::status(200));
    ops::organizations::resume(org.store(), org.id).await.expect("resumed");
    let arrivals = subscriber.receiver.wait_for(before + 1).await;
    assert_eq!(arrivals[before].event_id(), event);
    let of_suspension = operations(&org).await;
    assert!(of_suspension.contains(&"suspend_organization".to_owned()), "{of_suspension:?}");
}

#[tokio::test]
async fn organizations_are_listed_with_their_state() {
    let (active, suspended) = (Org::new().await, Org::new().await);
    ops::organizations::suspend(suspended.store(), suspended.id).await.expect("suspended");
    let listed = ops::organizations::list(active.store()).await.expect("a list");
    let state = |id| listed.iter().find(|found| found.id == id).expect("the organization").suspended_at.is_some();
    assert_eq!((state(active.id), state(suspended.id)), (false, true));
}
