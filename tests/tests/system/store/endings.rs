//! Whatever ends with an agreement ends, even if the process that began it is gone.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use shared::domain::ids::{AgreementId, MovementId};
use shared::domain::proposal::ProposalAction;
use shared::limits;
use shared::platform::endings::end_with_agreement;
use tests::app::Browser;
use tests::clockwork::Clockwork;
use tests::payments::terms;
use tests::{Needs, Org, eventually, obligations};
use tokio::time::Instant;

async fn told(org: &Org, agreement: AgreementId, state: &str) -> usize {
    let id = agreement.to_string();
    let request = org.get("/api/v1/movements").query("agreement_id", &id).query("state", state).query("limit", "1");
    let total = request.send().await.ok(200)["pagination"]["total"].as_u64().expect("a total");
    usize::try_from(total).expect("a count")
}

async fn written(org: &Org) -> usize {
    org.audit().await.iter().filter(|row| row.to_string().contains("end_movement")).count()
}

async fn is_written(org: &Org, id: MovementId) -> bool {
    let table = org.stack().table();
    let key = shared::store::keys::movement(org.id, id).into_item();
    let get = table.client().get_item().table_name(&table.name).set_key(Some(key)).consistent_read(true);
    let item = get.send().await.expect("the table answers").item.expect("a movement");
    format!("{:?}", item["status"]).contains("cancelled")
}

async fn has_ending(org: &Org) -> bool {
    org.due().await.iter().any(|due| due.contains("ENDING"))
}

#[tokio::test]
async fn a_thousand_movements_end_with_their_agreement_although_the_process_dies_half_way() {
    let org = Arc::new(Org::with(Needs::OWN.without_background()).await);
    let maren = org.member("Maren").await;
    let draft = org.ready_draft("Seed", |_| {}).await;
    let all = limits::AGREEMENT_MOVEMENTS_MAX;
    let mut ids = Vec::with_capacity(all);
    for n in 0..all {
        ids.push(org.payment(draft.id(), terms(&draft, "Installment", &format!("I-{n}"))).await);
    }
    // They are ended in the order of their ids.
    ids.sort_unstable();
    org.decide_at_once(&maren, draft.id(), ProposalAction::PublishAgreement).await;
    org.decide_at_once(&maren, draft.id(), ProposalAction::CancelAgreement).await;
    assert_eq!(written(&org).await, 0, "nothing has ended them yet");
    assert!(has_ending(&org).await);
    assert_told_as_ended(&org, draft.id()).await;

    let of_dying = (org.clone(), draft.id());
    let dying = tokio::spawn(async move {
        let (org, agreement) = of_dying;
        let clock = Clockwork::of(&org);
        end_with_agreement(clock.app(), org.id, agreement, Instant::now() + Duration::from_mins(10)).await
    });
    eventually("a part has ended", async || is_written(&org, ids[20]).await.then_some(())).await;
    dying.abort();
    assert!(dying.await.is_err_and(|error| error.is_cancelled()), "it died before its end");
    let ended = written(&org).await;
    assert!((20..all).contains(&ended), "half-way: {ended}");
    assert!(has_ending(&org).await, "what is left is still due");
    assert_told_as_ended(&org, draft.id()).await;

    // A tick has a time limit, so the last ones may take another.
    let clock = Clockwork::of(&org);
    let mut by_clock = 0;
    eventually("the clock ends the rest", async || {
        by_clock += clock.tick().await.ended;
        (!has_ending(&org).await).then_some(())
    })
    .await;
    assert_eq!(written(&org).await, all, "an audit row for each");
    assert_told_as_ended(&org, draft.id()).await;
    // The interrupted one may have been recorded without anyone learning of it.
    let left = all - ended;
    assert!([left, left - 1].contains(&(by_clock as usize)), "{by_clock} of {left}");
}

async fn assert_told_as_ended(org: &Org, agreement: AgreementId) {
    let all = limits::AGREEMENT_MOVEMENTS_MAX;
    assert_eq!((told(org, agreement, "draft").await, told(org, agreement, "cancelled").await), (0, all));
    for (filter, wanted) in [("include_done", "true"), ("include_done", "false")] {
        let rows = org.get("/api/v1/ledger").query(filter, wanted).query("limit", "1").send().await.ok(200);
        assert_eq!(rows["pagination"]["total"], if wanted == "true" { all + 1 } else { 0 }, "{rows}");
    }
    let id = agreement.to_string();
    for offset in [0, all - 3] {
        let of_it = |path: &str| org.get(path).query("limit", "3").query("offset", offset);
        let page = of_it("/api/v1/movements").query("agreement_id", &id).send().await.ok(200);
        for movement in page["data"].as_array().expect("movements") {
            assert_eq!(movement["state"], "cancelled", "{movement}");
            assert_eq!(movement["state_sentence"], "Cancelled. It will not take place.");
            let path = format!("/api/v1/movements/{}", movement["id"].as_str().expect("an id"));
            assert_eq!(&org.get(path).send().await.ok(200), movement, "alone as in a list, and the same each time");
        }
        let rows = of_it("/api/v1/ledger").send().await.ok(200);
        for row in rows["data"].as_array().expect("rows") {
            assert_eq!((&row["state"], &row["done"]), (&"cancelled".into(), &true.into()), "{row}");
        }
    }
}

#[tokio::test]
async fn obligations_are_told_as_ended_before_their_own_records_say_so() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let maren = org.member("Maren").await;
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let workspace = org.workspace("Lease").await;
    let (terms, at) = (vec![obligations::on(&[-2, 40]), obligations::triggered(&[10])], obligations::days_ago(5));
    let (lease, owed) = obligations::in_force(&org, &workspace, [&ada, &ben], terms, at).await;
    let agreement = lease.agreement.id();
    let total = async |state: &str| {
        let page = org.get("/api/v1/obligations").query("state", state).send().await.ok(200);
        page["pagination"]["total"].as_u64().expect("a total")
    };
    assert_eq!((total("open").await, total("dormant").await, total("cancelled").await), (1, 1, 0));
    org.decide_at_once(&maren, agreement, ProposalAction::CancelAgreement).await;
    assert!(has_ending(&org).await, "no record says so yet");

    assert_eq!((total("open").await, total("dormant").await, total("cancelled").await), (0, 0, 2));
    for id in &owed {
        let alone = org.get(format!("/api/v1/obligations/{id}")).send().await.ok(200);
        assert_eq!((&alone["state"], &alone["next_due_at"]), (&"cancelled".into(), &Value::Null), "{alone}");
    }
    let list = org.all("/api/v1/obligations").await;
    assert!(list.iter().all(|one| one["state"] == "cancelled" && one["next_due_at"].is_null()), "{list:?}");
    let open = org.get("/api/v1/ledger").query("include_done", "false").send().await.ok(200);
    assert_eq!(open["pagination"]["total"], 0, "{open}");
    let browser = Browser::of(&org, &maren).await;
    for page in ["/app/obligations", "/app/money"] {
        let page = browser.get(page).await;
        assert!(!page.says("Overdue since") && !page.says(">Overdue<"), "{}", page.body);
    }
    let before: Vec<Value> = list;
    let clock = Clockwork::of(&org);
    eventually("the clock ends them", async || {
        clock.tick().await;
        (!has_ending(&org).await).then_some(())
    })
    .await;
    // Only the time of writing differs.
    let without_times = |mut all: Vec<Value>| {
        for one in &mut all {
            one["updated_at"] = Value::Null;
        }
        all
    };
    assert_eq!(without_times(org.all("/api/v1/obligations").await), without_times(before));
}
