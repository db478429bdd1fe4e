//! A papering agreement at every limit: the rest of a full transaction follows, and nothing gets stuck.

use std::sync::Arc;

use futures_util::stream::{StreamExt, iter};
use serde_json::{Value, json};
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::agreement::{Label, StageAction};
use shared::domain::ids::AgreementId;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::Person;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Coming, Drafted};
use tests::funding::{Estate, PAPER, funding_path, item_path};
use tests::{Faults, Needs, Org, Stack, eventually, obligations};

struct Full {
    // Dropped before the proxy, and that before its table.
    org: Org,
    faults: Faults,
    _quiet: Arc<Stack>,
    maren: Person,
    estate: Estate,
    id: String,
}

impl Full {
    async fn with_countdown_to(at: Timestamp) -> Self {
        let quiet = Stack::with(Needs::OWN.without_background());
        let faults = Faults::before(&quiet.table().endpoint);
        let org = Org::on(quiet.through(&faults)).await;
        let (maren, estate) = (org.member("Maren").await, org.estate("Harbor").await);
        let mut items = Vec::new();
        for n in 0..limits::PAPERED_ITEMS_MAX {
            items.push(org.ready_item(&estate, &format!("Painting {n}")).await);
        }
        let papered = org.paper(&items.iter().collect::<Vec<_>>()).await;
        let mut drafted = Drafted::of(&org, papered["id"].as_str().expect("an id")).await;
        let promises = (0..limits::AGREEMENT_PROMISES_MAX).map(|_| obligations::monthly(10)).collect();
        drafted
            .change(&org, |draft| {
                let now = Timestamp::now();
                let name = Label::parse("Beginning").expect("a label");
                let action = [StageAction::ProjectObligations].into();
                let (more, stage) = draft.add_stage(name, action, now).expect("a step");
                let rule = GateRule::Countdown { until: Some(Countdown::At(at)) };
                let mut more = more.add_gate(stage, rule, now).expect("a gate").0;
                more.stages.rotate_right(1);
                more.expires_at = Some(obligations::days_ago(-30));
                *draft = obligations::with_promises(&more, promises);
            })
            .await;
        drop(faults.take_traffic());
        Self { org, faults, _quiet: quiet, maren, estate, id: drafted.id() }
    }

    fn id(&self) -> AgreementId {
        self.id.parse().expect("an id")
    }

    async fn decide(&self, action: ProposalAction) {
        let agreement = Drafted::of(&self.org, &self.id).await.agreement;
        drafts::propose_until(&self.org, &agreement, action, Timestamp::now()).await;
        self.org.decide_at_once(&self.maren, self.id(), action).await;
    }

    async fn follow_up(&self, kind: &str) {
        let clock = Clockwork::of(&self.org);
        eventually("nothing is left", async || {
            clock.tick().await;
            (!self.org.due().await.iter().any(|entry| entry.starts_with(kind))).then_some(())
        })
        .await;
    }

    async fn assert_lifecycle(&self, lifecycle: &str) {
        let agreement = self.org.get(format!("/api/v1/agreements/{}", self.id)).send().await.ok(200);
        assert_eq!(agreement["lifecycle"], lifecycle);
    }

    /// Since the last time, and at most as many as a transaction takes.
    fn assert_largest_transaction(&self, items: usize) {
        assert_eq!(self.faults.take_traffic().transaction_items_max, items, "items of the largest transaction");
        assert!(items <= limits::TRANSACTION_ITEMS_MAX);
    }

    async fn items_in(&self, phase: &str) -> u64 {
        let schedule = self.org.get(funding_path(&self.estate.workspace)).send().await.ok(200);
        schedule["summary"][phase].as_u64().expect("a count")
    }

    async fn obligations_in(&self, state: &str) -> u64 {
        let request = self.org.get("/api/v1/obligations").query("agreement_id", &self.id).query("state", state);
        request.query("limit", "1").send().await.ok(200)["pagination"]["total"].as_u64().expect("a total")
    }

    async fn assert_all_is_freed(&self, lifecycle: &str) {
        self.assert_lifecycle(lifecycle).await;
        self.follow_up("ENDING").await;
        assert_eq!(self.items_in("ready").await, ITEMS);
        assert_eq!((self.obligations_in("open").await, self.obligations_in("cancelled").await), (0, PROMISES));
        let events = self.org.events().await;
        let reopened = events.iter().filter(|event| event["type"] == "funding_item.reopened").count();
        assert_eq!(reopened, limits::PAPERED_ITEMS_MAX, "one of each");
    }
}

const ITEMS: u64 = limits::PAPERED_ITEMS_MAX as u64;
const PROMISES: u64 = limits::AGREEMENT_PROMISES_MAX as u64;

#[tokio::test]
async fn the_largest_papering_is_made() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    // The trust and its trustee are the others.
    let names: Vec<String> = (1..limits::AGREEMENT_PARTICIPANTS_MAX - 1).map(|n| format!("Owner{n}")).collect();
    let owners: Vec<Value> = iter(&names).map(|name| org.person(name)).buffered(8).collect().await;
    let shares = owners.chunks(owners.len().div_ceil(limits::PAPERED_ITEMS_MAX));
    let mut ids = Vec::new();
    for (n, share) in shares.enumerate() {
        let item = org.ready_item(&estate, &format!("Painting {n}")).await;
        let owned = json!({"owner_contact_ids": share.iter().map(|owner| &owner["id"]).collect::<Vec<_>>()});
        org.patch(item_path(&item), &owned).send().await.ok(200);
        ids.push(item["id"].clone());
    }
    assert_eq!(ids.len(), limits::PAPERED_ITEMS_MAX);
    let faults = Faults::before(&org.stack().table().endpoint);
    let through = org.stack().through(&faults);
    let draft = org.at(&through).post(PAPER, &json!({"item_ids": ids})).key("all").send().await.ok(201);
    let items = faults.take_traffic().transaction_items_max;
    assert_eq!(items, 96, "items of the largest transaction, at most {}", limits::TRANSACTION_ITEMS_MAX);
    assert_eq!(draft["participants"].as_array().map(Vec::len), Some(limits::AGREEMENT_PARTICIPANTS_MAX));
    let path = format!("/api/v1/workspaces/{}", estate.workspace["id"].as_str().expect("an id"));
    // Whom the transaction has no room for joins within a second after it, and with the clock on a machine that is slower.
    let clock = Clockwork::of(&org);
    eventually("everybody has joined", async || {
        clock.tick().await;
        let workspace = org.get(&path).send().await.ok(200);
        (workspace["people_count"] == limits::AGREEMENT_PARTICIPANTS_MAX).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_largest_agreement_is_published() {
    let full = Full::with_countdown_to(obligations::days_ago(1)).await;
    full.decide(ProposalAction::PublishAgreement).await;
    full.assert_lifecycle("active").await;
    full.assert_largest_transaction(99);
    full.follow_up("ENDING").await;
    assert_eq!((full.items_in("in_progress").await, full.items_in("papered").await), (ITEMS, 0));
    assert_eq!(full.obligations_in("open").await, PROMISES);
}

#[tokio::test]
async fn the_largest_agreement_is_cancelled_when_its_countdown_has_passed() {
    let full = Full::with_countdown_to(obligations::days_ago(-1)).await;
    full.decide(ProposalAction::PublishAgreement).await;
    assert_eq!(full.items_in("in_progress").await, ITEMS);
    drafts::make_due(&full.org, &full.id, Coming::Countdown).await;
    full.decide(ProposalAction::CancelAgreement).await;
    full.assert_largest_transaction(97);
    full.assert_all_is_freed("cancelled").await;
}

#[tokio::test]
async fn the_largest_agreement_expires_with_its_countdown() {
    let full = Full::with_countdown_to(obligations::days_ago(-1)).await;
    full.decide(ProposalAction::PublishAgreement).await;
    drafts::make_due(&full.org, &full.id, Coming::Countdown).await;
    drafts::make_due(&full.org, &full.id, Coming::Expiry).await;
    let report = Clockwork::of(&full.org).tick().await;
    assert_eq!((report.advanced, report.failed), (1, 0), "{report:?}");
    full.assert_largest_transaction(95);
    full.assert_all_is_freed("expired").await;
}
