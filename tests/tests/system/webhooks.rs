//! Webhooks, from an act to the subscriber (specification, "Events").

use serde_json::json;
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use shared::webhook::signature;
use tests::Org;
use tests::app::Browser;
use tests::drafts;
use tests::receiver::Arrival;
use tests::subscriber::{DEVELOPERS, secret_on};

const PROPOSALS: &str = "/api/v1/proposals";

fn event_id(arrival: &Arrival) -> EventId {
    arrival.json()["id"].as_str().expect("an id").parse().expect("a uuid")
}

#[tokio::test]
async fn what_happens_arrives_signed() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let draft = drafts::written(&org, "Seed round").await;
    let proposal = org.post(PROPOSALS, &draft.publication()).send().await.ok(201);

    let arrivals = subscriber.receiver.wait_for(1).await;
    let arrival = &arrivals[0];
    let body = arrival.json();
    assert_eq!(body["type"], "proposal.created");
    let data = json!({"proposal_id": proposal["id"], "agreement_id": draft.id(), "action": "publish_agreement"});
    assert_eq!(body["data"], data);
    assert_eq!(body["created_at"], proposal["created_at"]);
    assert_eq!(body.as_object().unwrap().len(), 4);
    assert_eq!(arrival.header("content-type"), "application/json");
    assert_eq!(arrival.header("user-agent"), "Countersign/1.0.0");
    assert_eq!(arrival.header("webhook-id"), body["id"]);
    let now = Timestamp::now().unix_s();
    signature::verify(&subscriber.secret, &arrival.headers, &arrival.body, now).expect("it verifies");
    signature::verify_standard(&subscriber.secret, &arrival.headers, &arrival.body, now).expect("it verifies");

    let delivered = subscriber.wait_for(&org, event_id(arrival), "delivered").await;
    assert_eq!((delivered.attempted, delivered.failures), (1, 0));
    let page = subscriber.admin.get(&subscriber.delivery_path(event_id(arrival))).await;
    assert!(page.says("Delivered") && page.says("204"), "{}", page.body);
    assert!(org.due().await.iter().all(|key| key.starts_with("PROPOSAL#")), "the outbox is drained");
}

#[tokio::test]
async fn a_secret_is_shown_once_and_to_whoever_added_the_endpoint() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let again = subscriber.admin.get(&subscriber.path()).await;
    assert!(secret_on(&again).is_none(), "{}", again.body);
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    for path in [DEVELOPERS, &subscriber.path()] {
        assert_eq!(member.get(path).await.status, 403);
    }
    assert!(!member.get("/app").await.says(DEVELOPERS));
}
