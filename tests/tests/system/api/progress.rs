//! How published agreements progress: countdowns, stages, completion and expiry (contract, section 3).

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::gate::{Countdown, Gate, GateRule, GateState};
use shared::domain::agreement::{Agreement, Label, Stage, StageState};
use shared::domain::ids::{GateId, StageId};
use shared::domain::time::Timestamp;
use tests::app::{Browser, Person};
use tests::clockwork::Clockwork;
use tests::{Fault, Faults, Needs, Org, Rule, eventually, rows};

use crate::unknown_id;

/// At this pace, an hour takes 100 ms.
const AN_HOUR_IN_100_MS: u32 = 36_000;

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn moment(value: &Value) -> Timestamp {
    text(value).parse().expect("a moment")
}

fn in_ms(ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(Timestamp::now().unix_ms() + ms).expect("a moment")
}

async fn until(moment: Timestamp) {
    while Timestamp::now() < moment {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Prepares something before a moment in the near future; retries with later moments on a busy machine.
async fn with_future_moment<T>(prepare: impl AsyncFn(Timestamp) -> Option<T>) -> (T, Timestamp) {
    for ms in [2_000, 8_000, 32_000, 128_000] {
        let moment = in_ms(ms);
        let prepared = prepare(moment).await;
        if let Some(prepared) = prepared.filter(|_| Timestamp::now() < moment) {
            return (prepared, moment);
        }
    }
    panic!("nothing is ready in time");
}

fn stages(of: &[&[Countdown]]) -> Vec<Stage> {
    let gate = |until: &Countdown| Gate {
        id: GateId::new(),
        rule: GateRule::Countdown { until: Some(*until) },
        state: GateState::Locked,
    };
    let stage = |countdowns: &&[Countdown]| Stage {
        id: StageId::new(),
        name: Label::parse("Waiting").expect("a label"),
        state: StageState::Upcoming,
        actions: BTreeSet::new(),
        gates: countdowns.iter().map(gate).collect(),
    };
    of.iter().map(stage).collect()
}

struct Deal {
    org: Org,
    person: Person,
    browser: Browser,
}

impl Deal {
    async fn on(org: Org) -> Self {
        let person = org.member("Maren Holt").await;
        let browser = Browser::of(&org, &person).await;
        Self { org, person, browser }
    }

    async fn publish(&self, of: &[&[Countdown]], expires_at: Option<Timestamp>) -> Agreement {
        self.publish_in_time(of, expires_at).await.expect("it is published before it expires")
    }

    /// Returns none if it expires before that is done.
    async fn publish_in_time(&self, of: &[&[Countdown]], expires_at: Option<Timestamp>) -> Option<Agreement> {
        let is_in_time = || expires_at.is_none_or(|moment| Timestamp::now() < moment);
        let change = |draft: &mut Agreement| (draft.stages, draft.expires_at) = (stages(of), expires_at);
        let draft = self.org.ready_draft("Exclusivity", change).await;
        let body = json!({"action": "publish_agreement", "agreement_id": draft.id()});
        let proposed = self.org.post("/api/v1/proposals", &body).send().await;
        is_in_time().then_some(())?;
        let done = self.browser.decide(&review(&proposed.ok(201)), "confirm", "").await;
        is_in_time().then_some(())?;
        assert_eq!(done.status, 303, "{}", done.body);
        Some(draft)
    }

    async fn decide(&self, action: &str, agreement: &Agreement) {
        let proposal = self.org.propose(action, agreement).await;
        let done = self.browser.decide(&review(&proposal), "confirm", "").await;
        assert_eq!(done.status, 303, "{}", done.body);
    }

    async fn propose_cancellation(&self, agreement: &Agreement) -> Option<Value> {
        let body = json!({"action": "cancel_agreement", "agreement_id": agreement.id()});
        let answer = self.org.post("/api/v1/proposals", &body).send().await;
        (answer.status == 201).then(|| answer.json())
    }

    async fn shown(&self, agreement: &Agreement) -> Value {
        self.org.get(format!("/api/v1/agreements/{}", agreement.id())).send().await.ok(200)
    }

    async fn wait_for(&self, agreement: &Agreement, lifecycle: &str) -> Value {
        let look = async || Some(self.shown(agreement).await).filter(|shown| shown["lifecycle"] == lifecycle);
        eventually(lifecycle, look).await
    }

    async fn types(&self) -> Vec<String> {
        self.org.events().await.iter().map(|event| text(&event["type"]).to_owned()).collect()
    }

    async fn due(&self, agreement: &Agreement) -> Vec<String> {
        let mut due = self.org.due().await;
        due.retain(|key| key.starts_with("AGREEMENT#") && key.contains(&agreement.id().to_string()));
        due
    }

    async fn advance_rows(&self, agreement: &Agreement) -> Vec<Value> {
        let mut rows = self.org.audit().await;
        rows.retain(|row| {
            row["operation"] == "proceed_agreement" && rows::objects(row) == [agreement.id().to_string()]
        });
        rows
    }

    async fn completions(&self, agreement: &Agreement) -> (usize, usize) {
        let is_completion = |event: &&Value| {
            event["type"] == "agreement.completed" && event["data"]["agreement_id"] == json!(agreement.id())
        };
        let events = self.org.events().await;
        let rows = self.advance_rows(agreement).await;
        (events.iter().filter(is_completion).count(), rows.iter().filter(|row| row["code"] == "ok").count())
    }
}

fn review(proposal: &Value) -> String {
    format!("/app/proposals/{}", text(&proposal["id"]))
}

fn gate_states(shown: &Value) -> Vec<Vec<&str>> {
    let stages = shown["stages"].as_array().expect("stages");
    stages
        .iter()
        .map(|stage| stage["gates"].as_array().expect("gates").iter().map(|gate| text(&gate["state"])).collect())
        .collect()
}

#[tokio::test]
async fn countdowns_take_an_agreement_from_stage_to_stage_and_the_last_one_completes_it() {
    let deal = Deal::on(Org::with(Needs::OWN.time_scale(AN_HOUR_IN_100_MS)).await).await;
    let subscriber = deal.org.subscriber_of(&["agreement.completed"]).await;
    let agreement =
        deal.publish(&[&[Countdown::AfterHours(2)], &[Countdown::AfterHours(1), Countdown::AfterHours(3)]], None).await;

    let shown = deal.wait_for(&agreement, "completed").await;
    assert_eq!(shown["status"], "Completed");
    assert_eq!(gate_states(&shown), [vec!["cleared"], vec!["cleared", "cleared"]]);
    let of = |stage: usize, gate: usize| &shown["stages"][stage]["gates"][gate];
    let after = |from: &Value, ms: i64| json!(Timestamp::from_unix_ms(moment(from).unix_ms() + ms).unwrap());
    // Each at its own moment, however late the clock comes.
    let first = after(&shown["published_at"], 200);
    assert_eq!((&of(0, 0)["cleared_at"], &of(0, 0)["due_at"]), (&first, &first));
    assert_eq!((&of(1, 0)["cleared_at"], &of(1, 1)["cleared_at"]), (&after(&first, 100), &after(&first, 300)));
    assert_eq!(shown["completed_at"], of(1, 1)["cleared_at"]);
    assert!(shown["stages"].as_array().unwrap().iter().all(|stage| stage["state"] == "done"));
    assert!(of(1, 1)["waiting_on_participant_ids"].as_array().unwrap().is_empty());
    assert_eq!(deal.org.get("/api/v1/agreements?lifecycle=completed").send().await.ok(200)["pagination"]["total"], 1);

    assert_eq!(deal.types().await[2..], ["proposal.confirmed", "agreement.published", "agreement.completed"]);
    let arrivals = subscriber.receiver.wait_for(1).await;
    let event = arrivals[0].json();
    assert_eq!(event["type"], "agreement.completed");
    assert_eq!(event["data"], json!({"agreement_id": agreement.id(), "name": "Exclusivity"}));
    assert!(moment(&event["created_at"]) >= moment(&shown["completed_at"]), "never early");

    assert_eq!(deal.due(&agreement).await, Vec::<String>::new());
    let rows = deal.advance_rows(&agreement).await;
    assert!((1..=3).contains(&rows.len()), "one for each time that it was written down: {rows:?}");
    for row in &rows {
        assert_eq!((&row["status"], &row["code"]), (&json!("200"), &json!("ok")));
        assert!(["token_id", "member_id", "participant_id"].iter().all(|who| row.get(*who).is_none()), "{row}");
    }
    let page = deal.browser.get(&format!("/app/agreements/{}", agreement.id())).await;
    assert!(page.says("Completed") && !page.says("Waiting for"), "{}", page.body);
    let (_, history) = page.body.split_once("<h2 id=\"acts\">").expect("a history");
    assert!(history.contains(">Completed<") && !history.contains("Proceed agreement"), "{history}");
    for at in ["/app/audit", "/app"] {
        let page = deal.browser.get(at).await;
        assert!(page.says("Exclusivity") && !page.says("Proceed agreement"), "{at}: {}", page.body);
    }
    let body = json!({"action": "cancel_agreement", "agreement_id": agreement.id()});
    deal.org.post("/api/v1/proposals", &body).send().await.refused_for(422, &[("agreement_id", "wrong_state")]);
}

#[tokio::test]
async fn an_agreement_whose_time_is_over_expires_and_cannot_be_cancelled() {
    let deal = Deal::on(Org::with(Needs::OWN.time_scale(600)).await).await;
    let ((cancellation, agreement), _) = with_future_moment(async |moment| {
        let agreement = deal.publish_in_time(&[&[Countdown::AfterHours(2000)]], Some(moment)).await?;
        Some((deal.propose_cancellation(&agreement).await?, agreement))
    })
    .await;

    let shown = deal.wait_for(&agreement, "expired").await;
    assert_eq!((text(&shown["status"]), gate_states(&shown)), ("Expired", vec![vec!["open"]]));
    let gate = &shown["stages"][0]["gates"][0];
    assert_eq!(gate["waiting_on"], "Nobody: the agreement has ended");
    assert_eq!((&shown["completed_at"], &shown["cancelled_at"]), (&Value::Null, &Value::Null));
    assert!(moment(&shown["updated_at"]) >= moment(&shown["expires_at"]), "never early");
    assert_eq!(deal.types().await.last().map(String::as_str), Some("proposal.created"), "nobody is told of an expiry");
    assert_eq!((deal.due(&agreement).await.len(), deal.advance_rows(&agreement).await.len()), (0, 1));

    let refused = deal.browser.decide(&review(&cancellation), "confirm", "").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.says("The agreement has expired."), "{}", refused.body);
    let page = deal.browser.get(&review(&cancellation)).await;
    assert!(page.says("confirmed anymore") && !page.says("What happens on confirmation"), "{}", page.body);
    let state = deal.org.get(format!("/api/v1/proposals/{}", text(&cancellation["id"]))).send().await.ok(200);
    assert_eq!(state["state"], "pending", "it stays until it is declined or expires");
    assert_eq!(deal.browser.decide(&review(&cancellation), "decline", "").await.status, 303);
    assert!(deal.browser.get(&format!("/app/agreements/{}", agreement.id())).await.says("Expired"));
}

#[tokio::test]
async fn a_decision_does_not_wait_for_the_clock() {
    let deal = Deal::on(Org::with(Needs::OWN.without_background()).await).await;
    let ((ended, proposed, over, completed), moment) = with_future_moment(async |moment| {
        let ended = deal.publish_in_time(&[&[Countdown::AfterHours(2)]], Some(moment)).await?;
        let proposed = deal.propose_cancellation(&ended).await?;
        let over = deal.publish(&[&[Countdown::At(moment)], &[Countdown::AfterHours(2)]], None).await;
        Some((ended, proposed, over, deal.publish(&[&[Countdown::At(moment)]], None).await))
    })
    .await;
    until(moment).await;
    assert_eq!(deal.shown(&ended).await["lifecycle"], "active", "nobody has written it down");

    let refused = deal.browser.decide(&review(&proposed), "confirm", "").await;
    assert!(refused.status == 422 && refused.says("The agreement has expired."), "{}", refused.body);
    for agreement in [&ended, &completed] {
        let body = json!({"action": "cancel_agreement", "agreement_id": agreement.id()});
        let answer = deal.org.post("/api/v1/proposals", &body).send().await;
        answer.refused_for(422, &[("agreement_id", "wrong_state")]);
    }
    assert_eq!(deal.shown(&ended).await["lifecycle"], "active", "what is refused changes nothing");

    deal.decide("cancel_agreement", &over).await;
    let shown = deal.shown(&over).await;
    assert_eq!((text(&shown["lifecycle"]), gate_states(&shown)), ("cancelled", vec![vec!["cleared"], vec!["open"]]));
    assert_eq!(shown["stages"][0]["gates"][0]["cleared_at"], json!(moment));
    assert_eq!(deal.due(&over).await, Vec::<String>::new(), "nothing more is due of it");

    let clock = Clockwork::of(&deal.org);
    clock.first_tick().await;
    assert_eq!(deal.shown(&ended).await["lifecycle"], "expired");
    assert_eq!(deal.shown(&completed).await["completed_at"], json!(moment));
    for agreement in [&ended, &completed] {
        assert_eq!(deal.due(agreement).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_is_met_already_is_cleared_with_the_publication() {
    let deal = Deal::on(Org::new().await).await;
    let past = in_ms(-1000);
    let some = deal.publish(&[&[Countdown::At(past)], &[Countdown::AfterHours(1)]], Some(in_ms(86_400_000))).await;
    let shown = deal.shown(&some).await;
    assert_eq!(gate_states(&shown), [["cleared"], ["open"]]);
    assert_eq!(shown["status"], "Active: step 2 of 2, Waiting");
    assert_eq!(shown["stages"][0]["gates"][0]["cleared_at"], shown["published_at"]);
    let due_at = moment(&shown["stages"][1]["gates"][0]["due_at"]);
    let entry = format!("AGREEMENT#{:015}#{}#{}", due_at.unix_ms(), deal.org.id, some.id());
    assert_eq!(deal.due(&some).await, [entry], "the countdown comes before the end");

    let all = deal.publish(&[&[Countdown::At(past)]], None).await;
    let shown = deal.shown(&all).await;
    assert_eq!((text(&shown["lifecycle"]), &shown["completed_at"]), ("completed", &shown["published_at"]));
    let types = deal.types().await;
    assert_eq!(types[types.len() - 3..], ["proposal.confirmed", "agreement.published", "agreement.completed"]);
    deal.decide("cancel_agreement", &some).await;
    for agreement in [&some, &all] {
        assert_eq!(deal.due(agreement).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn clocks_that_tick_at_once_write_it_down_once() {
    let deal = Deal::on(Org::new().await).await;
    let (agreements, moment) = with_future_moment(async |moment| {
        let publish = async |_| deal.publish(&[&[Countdown::At(moment)]], None).await;
        Some(join_all((0..4).map(publish)).await)
    })
    .await;
    until(moment).await;
    let clock = Clockwork::of(&deal.org);
    let ticks = join_all((0..4).map(|_| clock.tick())).await;
    assert_eq!(ticks.iter().map(|tick| tick.failed).sum::<u32>(), 0, "{ticks:?}");
    for agreement in &agreements {
        assert_eq!(deal.shown(agreement).await["lifecycle"], "completed");
        assert_eq!(deal.completions(agreement).await, (1, 1));
        assert_eq!(deal.due(agreement).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_clock_takes_away_what_was_left_behind_and_leaves_what_is_not_due() {
    let deal = Deal::on(Org::with(Needs::OWN.without_background()).await).await;
    let waiting = deal.publish(&[&[Countdown::AfterHours(1)]], None).await;
    let (over, moment) =
        with_future_moment(async |moment| Some(deal.publish(&[&[Countdown::At(moment)]], None).await)).await;
    let own = deal.due(&waiting).await;
    // Entries of nothing, and not yet due, in each shard before due ones.
    let left_behind = [unknown_id(), waiting.id().to_string()];
    let left_behind = left_behind.map(|id| format!("AGREEMENT#000000000000001#{}#{id}", deal.org.id));
    // A clock that lags another may get an entry that isn't due yet. This one has an extra zero, which sorts it early.
    let early = own[0].replace("AGREEMENT#", "AGREEMENT#0");
    let table = deal.org.stack().table();
    for (pk, sk) in (0..8).flat_map(|shard| left_behind.iter().chain([&early]).map(move |sk| (shard, sk))) {
        let put = table.client().put_item().table_name(&table.name);
        let put = put.item("pk", AttributeValue::S(format!("DUE#{pk}"))).item("sk", AttributeValue::S(sk.clone()));
        put.send().await.expect("the table takes it");
    }
    until(moment).await;
    let before = deal.shown(&waiting).await;
    let tick = Clockwork::of(&deal.org).tick().await;
    assert_eq!((tick.stale, tick.failed), (16, 0), "{tick:?}");
    assert_eq!(
        (deal.shown(&over).await["lifecycle"].as_str(), deal.shown(&waiting).await),
        (Some("completed"), before)
    );
    let mut due = vec![early; 8];
    due.extend(own);
    assert_eq!(deal.due(&waiting).await, due, "its own entry, however early it is found, stays");
    assert!(!deal.org.due().await.contains(&left_behind[0]));
    assert_eq!(deal.advance_rows(&waiting).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_clock_and_a_member_do_not_both_end_an_agreement() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let deal = Deal::on(org).await;
    let browser = Browser::new(&stack.base_url);
    assert_eq!(browser.sign_in(&deal.person.email, &deal.person.password, "/app").await.status, 303);
    // The member confirms in time, but the write arrives after the clock's. It can't be held for long.
    for ms in [1_500, 3_000, 4_500, 6_000] {
        let moment = in_ms(ms);
        let agreement = deal.publish(&[&[Countdown::At(moment)]], None).await;
        let Some(proposal) = deal.propose_cancellation(&agreement).await else { continue };
        let held = faults.inject(Rule::on("TransactWriteItems").containing(text(&proposal["id"])), Fault::Held);
        let path = review(&proposal);
        let clock = async {
            held.wait_for_hits(1).await;
            let in_time = Timestamp::now() < moment;
            until(moment).await;
            Clockwork::of(&deal.org).first_tick().await;
            held.end();
            in_time
        };
        let (refused, in_time) = futures_util::future::join(browser.decide(&path, "confirm", ""), clock).await;
        if !in_time {
            continue;
        }
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.says("The agreement has changed") && refused.says("Completed"), "{}", refused.body);
        assert_eq!(deal.shown(&agreement).await["lifecycle"], "completed");
        let events = deal.org.events().await;
        let of_it = |event: &&Value| event["data"]["agreement_id"] == json!(agreement.id());
        let types: Vec<&str> = events.iter().filter(of_it).map(|event| text(&event["type"])).collect();
        assert_eq!(types[2..], ["agreement.published", "proposal.created", "agreement.completed"]);
        return;
    }
    panic!("nothing is ready in time");
}

#[tokio::test]
async fn a_broken_store_does_not_break_what_time_does() {
    const FAULTS: [(Fault, usize); 6] = [
        (Fault::Conflict, 3),
        (Fault::Throttling, 2),
        (Fault::ServerError, 1),
        (Fault::LostResponse, 1),
        (Fault::LateCommit, 1),
        (Fault::Conflict, 100),
    ];
    let deal = Deal::on(Org::with(Needs::OWN.without_background()).await).await;
    let faults = Faults::before(&deal.org.stack().table().endpoint);
    let stack = deal.org.stack().through(&faults);
    let (published, moment) = with_future_moment(async |moment| {
        let publish = async |_| deal.publish(&[&[Countdown::At(moment)]], None).await;
        Some(join_all(FAULTS.iter().map(publish)).await)
    })
    .await;
    let inject = |(agreement, (fault, times)): (Agreement, (Fault, usize))| {
        let rule = Rule::on("TransactWriteItems").containing(agreement.id()).times(times);
        (agreement, faults.inject(rule, fault))
    };
    let injected: Vec<_> = published.into_iter().zip(FAULTS).map(inject).collect();
    until(moment).await;
    let clock = Clockwork::on(&stack);
    let tick = clock.first_tick().await;
    assert_eq!(tick.failed, 1, "the one that never gets through: {tick:?}");
    assert!(injected.iter().all(|(_, injection)| injection.count() > 0));
    for (_, injection) in &injected {
        injection.end();
    }
    assert_eq!((clock.tick().await.advanced, clock.tick().await.advanced), (1, 0), "the next tick tries it again");
    for (agreement, injection) in &injected {
        assert_eq!(deal.shown(agreement).await["lifecycle"], "completed", "{injection:?}");
        assert_eq!(deal.completions(agreement).await, (1, 1), "{injection:?}");
        assert_eq!(deal.due(agreement).await, Vec::<String>::new());
    }
}
