//! Webhooks, from an act to the subscriber (specification, "Events").

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::webhook::signature::{self, Unverified};
use tests::app::Browser;
use tests::receiver::{Arrival, Reaction};
use tests::subscriber::{DEVELOPERS, Subscriber, secret_on};
use tests::{Needs, Org, drafts, outbox, rows};

use crate::members;

const PROPOSALS: &str = "/api/v1/proposals";

fn verified(secret: &SigningSecret, arrival: &Arrival) -> Result<(), Unverified> {
    let now = Timestamp::now().unix_s();
    signature::verify(secret, &arrival.headers, &arrival.body, now)
        .and_then(|()| signature::verify_standard(secret, &arrival.headers, &arrival.body, now))
}

fn signatures(arrival: &Arrival) -> usize {
    let header = arrival.header("service-webhook-signature");
    let (time, sums) = header.split_once(',').expect("t=…,v1=…");
    assert_eq!(time, format!("t={}", arrival.header("service-webhook-timestamp")));
    let is_sum = |sum: &str| sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    assert!(sums.split(',').all(|sum| sum.strip_prefix("v1=").is_some_and(is_sum)), "{header}");
    sums.split(',').count()
}

async fn activate(admin: &Browser, workspace: &Value) {
    let path = format!("/app/workspaces/{}", workspace["id"].as_str().expect("an id"));
    let token = admin.get(&path).await.hidden("form_token");
    assert_eq!(admin.post(&path, &[("form_token", &token)]).await.status, 303);
}

#[tokio::test]
async fn what_happens_arrives_signed() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
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
    verified(&subscriber.secret, arrival).expect("it verifies");

    let delivered = subscriber.wait_for(&org, arrival.event_id(), "delivered").await;
    assert_eq!((delivered.attempted, delivered.failures), (1, 0));
    let page = subscriber.admin.get(&subscriber.delivery_path(arrival.event_id())).await;
    assert!(page.says("Delivered") && page.says("204"), "{}", page.body);
    assert!(org.due().await.iter().all(|key| key.starts_with("PROPOSAL#")), "the outbox is drained");
}

#[tokio::test]
async fn a_secret_is_shown_for_two_minutes_to_whoever_added_the_endpoint() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    subscriber.admin.expire_flashes();
    let again = subscriber.admin.get(&subscriber.path()).await;
    assert!(secret_on(&again).is_none(), "{}", again.body);
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    for path in [DEVELOPERS, &subscriber.path()] {
        assert_eq!(member.get(path).await.status, 403);
    }
    assert!(!member.get("/app").await.says(DEVELOPERS));
}

#[tokio::test]
async fn every_type_of_event_arrives_as_the_specification_has_it() {
    let org = Org::with(Needs::OWN.time_scale(30)).await;
    let first = org.subscriber().await;
    let second = org.subscriber().await;
    let admin = &first.admin;
    // The first attempt fails: the repeat is identical, signed anew.
    first.receiver.answer_once(Reaction::status(500));

    let published = org.ready_draft("Lease", |_| {}).await;
    let confirmed = org.propose("publish_agreement", &published).await;
    let review = |proposal: &Value| format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(admin.decide(&review(&confirmed), "confirm", "").await.status, 303);
    let kept_back = org.ready_draft("Side letter", |_| {}).await;
    let declined = org.propose("publish_agreement", &kept_back).await;
    assert_eq!(admin.decide(&review(&declined), "decline", "").await.status, 303);
    let workspace = org.workspace("Quay").await;
    activate(admin, &workspace).await;
    let soon = Timestamp::from_unix_ms(Timestamp::now().unix_ms() + 100).unwrap();
    let expired = drafts::propose_due(&org, &kept_back, ProposalAction::CancelAgreement, soon).await;
    let test = first.test().await;

    let of = |proposal: &Value, agreement: &dyn ToString| {
        let (id, action) = (&proposal["id"], &proposal["action"]);
        json!({"proposal_id": id, "agreement_id": agreement.to_string(), "action": action})
    };
    let mut expected = [
        ("proposal.created", of(&confirmed, &published.id())),
        ("workspace.activated", json!({"workspace_id": published.workspace_id, "authorization": "proposal"})),
        ("proposal.confirmed", of(&confirmed, &published.id())),
        ("agreement.published", json!({"agreement_id": published.id(), "name": "Lease"})),
        ("proposal.created", of(&declined, &kept_back.id())),
        ("proposal.declined", of(&declined, &kept_back.id())),
        ("workspace.activated", json!({"workspace_id": workspace["id"], "authorization": "direct"})),
        (
            "proposal.expired",
            json!({"proposal_id": expired.id(), "agreement_id": kept_back.id(), "action": "cancel_agreement"}),
        ),
    ]
    .map(|(name, data)| format!("{name} {data}"));
    expected.sort_unstable();

    let of_first = first.receiver.wait_for(expected.len() + 2).await;
    let of_second = second.receiver.wait_for(expected.len()).await;
    let told = |arrivals: &[Arrival]| {
        let mut by_id = BTreeMap::new();
        for arrival in arrivals {
            let body = arrival.json();
            assert_eq!(members(&body), ["created_at", "data", "id", "type"]);
            crate::assert_moment(&body["created_at"]);
            by_id.insert(arrival.event_id(), format!("{} {}", arrival.event_type(), body["data"]));
        }
        by_id
    };
    let mut by_id = told(&of_first);
    let test_data = by_id.remove(&test).expect("the test");
    assert!(test_data.starts_with("webhook.test {\"message\":\""), "{test_data}");
    assert_eq!(by_id, told(&of_second));
    let mut found: Vec<String> = by_id.into_values().collect();
    found.sort_unstable();
    assert_eq!(found, expected);

    let bodies = |arrivals: &[Arrival]| -> BTreeMap<_, _> {
        arrivals.iter().map(|arrival| (arrival.event_id(), arrival.body.clone())).collect()
    };
    let (mut bodies_of_first, bodies_of_second) = (bodies(&of_first), bodies(&of_second));
    bodies_of_first.remove(&test);
    assert_eq!(bodies_of_first, bodies_of_second, "the same bytes for each endpoint");
    for (subscriber, arrivals) in [(&first, &of_first), (&second, &of_second)] {
        for arrival in arrivals {
            verified(&subscriber.secret, arrival).expect("it verifies");
            assert_eq!(signatures(arrival), 1);
        }
    }
    let again: Vec<&Arrival> = of_first.iter().filter(|arrival| arrival.event_id() == of_first[0].event_id()).collect();
    assert_eq!(again.len(), 2, "one was sent again");
    assert_eq!(again[0].body, again[1].body, "the same bytes for each attempt");
    for name in ["service-webhook-timestamp", "service-webhook-signature", "webhook-signature"] {
        assert_ne!(again[0].header(name), again[1].header(name), "{name} is made for each attempt");
    }
}

#[tokio::test]
async fn an_endpoint_is_told_what_it_asked_for_from_then_on_and_of_its_organization_only() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let other = Org::with(Needs::SHARED.with_stream()).await;
    let stranger = other.subscriber().await;
    let all = org.subscriber().await;
    let some = org.subscriber_of(&["proposal.declined", "agreement.published"]).await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    all.receiver.wait_for(1).await;
    let late = org.subscriber().await;
    let path = format!("/app/proposals/{}", proposal["id"].as_str().unwrap());
    assert_eq!(all.admin.decide(&path, "decline", "").await.status, 303);

    assert_eq!(all.receiver.wait_for(2).await.len(), 2);
    some.receiver.wait_for(1).await;
    late.receiver.wait_for(1).await;
    let test = some.test().await;
    some.receiver.wait_until(|arrivals| arrivals.iter().any(|arrival| arrival.event_id() == test)).await;
    let from_there = stranger.test().await;
    stranger.receiver.wait_for(1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut of_all = all.receiver.types();
    of_all.sort_unstable();
    assert_eq!(of_all, ["proposal.created", "proposal.declined"]);
    assert_eq!(some.receiver.types(), ["proposal.declined", "webhook.test"]);
    assert_eq!(late.receiver.types(), ["proposal.declined"]);
    assert_eq!(stranger.receiver.arrivals()[0].event_id(), from_there);
    assert_eq!(stranger.receiver.arrivals().len(), 1);

    assert_eq!(some.edit(&some.receiver.url(), &["workspace.activated"]).await.status, 303);
    activate(&some.admin, &org.workspace("Quay").await).await;
    some.receiver
        .wait_until(|arrivals| arrivals.last().is_some_and(|last| last.event_type() == "workspace.activated"))
        .await;
    late.receiver.wait_for(2).await;
}

#[tokio::test]
async fn a_secret_is_replaced_at_once() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let new = subscriber.rotate("replace").await;
    assert!(new != subscriber.secret);
    subscriber.test().await;
    let arrival = subscriber.receiver.wait_for(1).await.remove(0);
    verified(&new, &arrival).expect("it verifies");
    assert_eq!(verified(&subscriber.secret, &arrival), Err(Unverified::NoMatch));
    assert_eq!(signatures(&arrival), 1);
}

#[tokio::test]
async fn a_secret_that_is_kept_for_a_day_signs_too_until_it_is_replaced_for_good() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let second = subscriber.rotate("keep").await;
    subscriber.test().await;
    let arrival = subscriber.receiver.wait_for(1).await.remove(0);
    assert_eq!(signatures(&arrival), 2);
    for secret in [&subscriber.secret, &second] {
        verified(secret, &arrival).expect("it verifies");
    }
    assert_eq!(previous_secrets(&subscriber).await, 1);

    // The first one continues until its own end.
    let third = subscriber.rotate("keep").await;
    subscriber.test().await;
    let arrival = subscriber.receiver.wait_for(2).await.remove(1);
    assert_eq!(signatures(&arrival), 3);
    for secret in [&subscriber.secret, &second, &third] {
        verified(secret, &arrival).expect("it verifies");
    }
    assert_eq!(previous_secrets(&subscriber).await, 2);

    let fourth = subscriber.rotate("replace").await;
    subscriber.test().await;
    let arrival = subscriber.receiver.wait_for(3).await.remove(2);
    assert_eq!(signatures(&arrival), 1);
    verified(&fourth, &arrival).expect("it verifies");
    assert_eq!(previous_secrets(&subscriber).await, 0);
}

async fn previous_secrets(subscriber: &Subscriber) -> usize {
    subscriber.admin.get(&subscriber.path()).await.body.matches("Previous secret valid until <time").count()
}

#[tokio::test]
async fn a_sixth_previous_secret_is_refused() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    for _ in 0..5 {
        subscriber.rotate("keep").await;
    }
    subscriber.admin.expire_flashes();
    let before = subscriber.rows(&org).await;
    let refused = subscriber.press("rotate", &[("old", "keep")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("The secret was not rotated") && refused.says("5 previous secrets"), "{}", refused.body);
    assert!(secret_on(&refused).is_none() && !refused.headers.contains_key("set-cookie"), "{}", refused.body);
    assert_eq!(subscriber.rows(&org).await, before);
    assert_eq!(previous_secrets(&subscriber).await, 5);
    subscriber.test().await;
    let arrival = subscriber.receiver.wait_for(1).await.remove(0);
    assert_eq!(signatures(&arrival), 6);
    verified(&subscriber.secret, &arrival).expect("the first one still signs");
    subscriber.rotate("replace").await;
    assert_eq!(previous_secrets(&subscriber).await, 0);
}

/// Goal S3 for signing secrets.
#[tokio::test]
async fn a_signing_secret_is_on_the_page_that_shows_it_once_and_nowhere_else() {
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    subscriber.receiver.answer_once(Reaction { body: "no".to_owned(), ..Reaction::status(500) });
    let event = subscriber.test().await;
    subscriber.wait_for(&org, event, "delivered").await;
    let kept = subscriber.rotate("keep").await;
    subscriber.admin.expire_flashes();
    let edited = subscriber.edit("https://10.0.0.7/", &[]).await;
    assert_eq!(edited.status, 422);
    let last = subscriber.rotate("replace").await;
    subscriber.admin.expire_flashes();
    subscriber.press("pause", &[]).await;
    activate(&subscriber.admin, &org.workspace("Quay").await).await;
    subscriber.press("resume", &[]).await;
    let arrivals = subscriber.receiver.wait_for(3).await;

    let mut seen =
        vec![("a refusal", edited.body), ("the log", std::fs::read_to_string(org.stack().log_file()).unwrap())];
    seen.extend(rows::all(org.stack().table()).await.iter().map(|row| ("a row", row.to_string())));
    for path in [DEVELOPERS, "/app", "/app/account", &subscriber.path(), &format!("{}/edit", subscriber.path())] {
        let page = subscriber.admin.get(path).await;
        seen.extend([("a page", page.body), ("a page's headers", format!("{:?}", page.headers))]);
    }
    seen.push(("a delivery's page", subscriber.admin.get(&subscriber.delivery_path(event)).await.body));
    for path in ["/api/v1/me", "/api/v1/workspaces", PROPOSALS, "/openapi.json"] {
        seen.push(("an answer", org.get(path).send().await.ok(200).to_string()));
    }
    seen.extend(arrivals.iter().map(|a| ("an event", format!("{:?} {}", a.headers, a.json()))));
    assert!(seen.len() > 30);
    for secret in [&subscriber.secret, &kept, &last] {
        let text = secret.expose();
        let encoded = text.strip_prefix("whsec_").unwrap();
        for (what, text) in &seen {
            assert!(!text.contains(encoded) && !text.contains(encoded.trim_end_matches('=')), "{what}: {text}");
        }
    }
}

#[tokio::test]
async fn an_event_that_nobody_heard_of_is_relayed_by_the_clock() {
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let subscriber = org.subscriber().await;
    let events = [outbox::event(), outbox::event(), outbox::event()];
    outbox::emit(&org, &events).await;
    let mut arrived: Vec<_> = subscriber.receiver.wait_for(3).await.iter().map(Arrival::event_id).collect();
    arrived.sort_unstable();
    assert_eq!(arrived, events.each_ref().map(|event| event.id));
}
