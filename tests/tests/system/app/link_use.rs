//! Participants' links misused: guessed, in two browsers, after completion, and by someone removed.

use std::net::IpAddr;

use serde_json::Value;
use tests::app::Browser;
use tests::attending::Attendee;
use tests::drafts;

use super::participants::{document, two_signers};

#[tokio::test]
async fn guessed_links_are_slowed_down_and_tell_nothing() {
    let live = two_signers().await;
    let link = live.link(live.ids()[0]).await;
    let address = IpAddr::from([127, 77, 3, 9]);
    let guesser = Browser::at(live.org.base_url(), address);
    let (start, last) = link.split_at(link.len() - 2);
    let mut refused = 0;
    for n in 0..60 {
        let wrong = if n % 2 == 0 {
            format!("{start}{}", if last == "AA" { "BB" } else { "AA" })
        } else {
            "/app/links/x".to_owned()
        };
        let page = guesser.get(&wrong).await;
        assert!(!page.says("Lease"), "{}", page.body);
        refused += u32::from(page.status == 429);
        assert!(page.status == 404 || page.status == 429, "{}", page.status);
    }
    assert!(refused > 0);
    // Whoever has a valid link didn't guess it, and may share the address with guessers.
    let neighbor = Attendee { browser: Browser::at(live.org.base_url(), address), participant: live.ids()[0] };
    let opened = neighbor.follow(&link).await;
    assert_eq!((opened.status, opened.location()), (303, neighbor.at("").as_str()), "{}", opened.body);
    assert_eq!(guesser.get(&link).await.status, 200);
    // That doesn't speed up guessing. On a busy machine the wait may be over: then this guess begins another.
    let more = [guesser.get("/app/links/x").await.status, guesser.get("/app/links/x").await.status];
    assert!(more.contains(&429), "{more:?}");
    let elsewhere = Browser::at(live.org.base_url(), IpAddr::from([127, 77, 3, 10]));
    assert_eq!(elsewhere.get("/app/links/x").await.status, 404, "others are not slowed down");
}

#[tokio::test]
async fn two_browsers_of_one_participant_sign_once() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let (desktop, phone) = (live.attend(ada).await, live.open(ada).await);
    let (one, other) = tokio::join!(desktop.sign(&live.agreement, "Ada"), phone.sign(&live.agreement, "A. Okafor"));
    let mut outcome = [one.status, other.status];
    outcome.sort_unstable();
    assert_eq!(outcome, [303, 409], "{} {}", one.body, other.body);
    let late = if one.status == 409 { one } else { other };
    assert!(late.says("You have done this already"), "{}", late.body);
    let record = live.member.get(&format!("{}/participants/{ada}/access", live.path())).await;
    assert_eq!(record.body.matches("row-main\">Signed “Purchase agreement”").count(), 1, "{}", record.body);
    let northwind = live.attend(northwind).await;
    assert_eq!(northwind.sign(&live.agreement, "Nora Wind").await.status, 303);
    let events = live.org.events().await;
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("signature.completed"), count("agreement.completed")), (2, 1));
}

#[tokio::test]
async fn a_link_used_after_completion_shows_what_is_finished_and_does_nothing() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let path = document(&live.agreement);
    let page = ada.get(&path).await;
    for (attendee, name) in [(&ada, "Ada"), (&northwind, "Nora Wind")] {
        assert_eq!(attendee.sign(&live.agreement, name).await.status, 303);
    }
    let before = live.org.state().await;
    let later = live.open(ada.participant).await;
    assert!(later.get("").await.says("This agreement is completed"));
    let file = later.get(&format!("{path}/download")).await;
    assert!(file.status == 200 && file.body.starts_with("%PDF-"), "{}", file.body);
    let again = ada.get("").await.copy().name;
    for (action, typed) in [("sign", ("signature", "Ada")), ("decline", ("reason", "No."))] {
        let late = ada.send(&page, &format!("{path}/{action}"), &[typed, ("copy", &again)]).await;
        assert!(late.status == 409 && late.says("This agreement is completed"), "{action}: {}", late.body);
    }
    let acts = |rows: &[Value]| {
        rows.iter().filter(|row| row["sk"].as_str().is_some_and(|key| key.contains("RECEIPT#"))).count()
    };
    assert_eq!(acts(&live.org.state().await), acts(&before));
}

/// The service never removes someone from a published agreement, so the test bypasses it.
#[tokio::test]
async fn whoever_is_removed_while_signing_is_refused() {
    let live = two_signers().await;
    let ada = live.attend(live.ids()[0]).await;
    let path = document(&live.agreement);
    let page = ada.get(&path).await;
    drafts::put_parts(&live.org, live.agreement.id(), |agreement| {
        agreement.participants.retain(|participant| participant.id != ada.participant);
        agreement.documents[0].blocks.retain(|block| block.participant_id != ada.participant);
    })
    .await;
    let late = ada.send(&page, &format!("{path}/sign"), &[("signature", "Ada")]).await;
    assert!(late.status == 404 && late.says("not part of your agreement"), "{} {}", late.status, late.body);
    let signatures = live.org.events().await.iter().filter(|event| event["type"] == "signature.completed").count();
    assert_eq!(signatures, 0);
    assert_eq!(live.read().await["lifecycle"], "active");
}
