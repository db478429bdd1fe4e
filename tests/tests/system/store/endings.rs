//! What ends with an agreement, although the process that began to end it is gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use shared::domain::ids::AgreementId;
use shared::domain::proposal::ProposalAction;
use shared::limits;
use shared::platform::endings::end_with_agreement;
use tests::clockwork::Clockwork;
use tests::payments::terms;
use tests::{Needs, Org, eventually};

/// How many movements of an agreement are in a state.
async fn count(org: &Org, agreement: AgreementId, state: &str) -> usize {
    let id = agreement.to_string();
    let request = org.get("/api/v1/movements").query("agreement_id", &id).query("state", state).query("limit", "1");
    let total = request.send().await.ok(200)["pagination"]["total"].as_u64().expect("a total");
    usize::try_from(total).expect("a count")
}

async fn has_ending(org: &Org) -> bool {
    org.due().await.iter().any(|due| due.contains("ENDING"))
}

/// The most movements that an agreement can have.
#[tokio::test]
async fn a_thousand_movements_end_with_their_agreement_although_the_process_dies_half_way() {
    let org = Arc::new(Org::with(Needs::OWN.without_background()).await);
    let maren = org.member("Maren").await;
    let draft = org.ready_draft("Seed", |_| {}).await;
    let all = limits::AGREEMENT_MOVEMENTS_MAX;
    for n in 0..all {
        org.payment(draft.id(), terms(&draft, "Installment", &format!("I-{n}"))).await;
    }
    org.decide_at_once(&maren, draft.id(), ProposalAction::PublishAgreement).await;
    org.decide_at_once(&maren, draft.id(), ProposalAction::CancelAgreement).await;
    assert_eq!(count(&org, draft.id(), "draft").await, all, "nothing has ended them yet");
    assert!(has_ending(&org).await);

    let of_dying = (org.clone(), draft.id());
    let dying = tokio::spawn(async move {
        let (org, agreement) = of_dying;
        let clock = Clockwork::of(&org);
        end_with_agreement(clock.app(), org.id, agreement, Instant::now() + Duration::from_mins(10)).await
    });
    eventually("a part has ended", async || (count(&org, draft.id(), "cancelled").await >= 20).then_some(())).await;
    dying.abort();
    assert!(dying.await.is_err_and(|error| error.is_cancelled()), "it died before its end");
    let ended = count(&org, draft.id(), "cancelled").await;
    assert!((20..all).contains(&ended), "half-way: {ended}");
    assert!(has_ending(&org).await, "what is left is still due");

    // A tick ends within its time, so the last ones may be for the next.
    let clock = Clockwork::of(&org);
    let mut by_clock = 0;
    eventually("the clock ends the rest", async || {
        by_clock += clock.tick().await.ended;
        (!has_ending(&org).await).then_some(())
    })
    .await;
    assert_eq!(count(&org, draft.id(), "cancelled").await, all);
    let is_end = |row: &&Value| row.to_string().contains("end_movement");
    assert_eq!(org.audit().await.iter().filter(is_end).count(), all, "an audit row for each");
    // The one that was in progress may have been recorded without anybody having heard of it.
    let left = all - ended;
    assert!([left, left - 1].contains(&(by_clock as usize)), "{by_clock} of {left}");
}
