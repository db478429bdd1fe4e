//! Obligations in the API, and people's acts on them through the use cases that the app's forms call.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::agreement::{Lifecycle, StageAction};
use shared::domain::ids::{ObligationId, OccurrenceId, ParticipantId, ReceiptId, TriggerId};
use shared::domain::note::Note;
use shared::domain::obligation::{Happening, Refused};
use shared::domain::participant::NotActed;
use shared::domain::participant::obligations::NotActedOnObligation;
use shared::domain::participant::receipt::ObligationAct;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::service::obligations::MemberAct;
use tests::app::Browser;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Coming, Drafted};
use tests::obligations::{self, day, days_ago, done, monthly, on, standing, triggered, with_promises};
use tests::{Needs, Org, rows};

use crate::{assert_moment, members, unknown_id};

const OBLIGATIONS: &str = "/api/v1/obligations";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(part: &Value) -> T {
    text(&part["id"]).parse().expect("an id")
}

struct Desk {
    org: Org,
    workspace: Value,
    people: [Value; 2],
}

impl Desk {
    async fn new() -> Self {
        Self::of(Org::new().await).await
    }

    async fn of(org: Org) -> Self {
        let people = [org.person("Ada").await, org.person("Ben").await];
        Self { workspace: org.workspace("Harbor").await, people, org }
    }

    async fn owed(&self, terms: Vec<shared::domain::agreement::promise::PromiseTerms>, days: i64) -> Owed {
        let [ada, ben] = &self.people;
        let (agreement, ids) =
            obligations::in_force(&self.org, &self.workspace, [ada, ben], terms, days_ago(days)).await;
        Owed { agreement, ids }
    }

    async fn get(&self, id: ObligationId) -> Value {
        self.org.get(format!("{OBLIGATIONS}/{id}")).send().await.ok(200)
    }

    async fn occurrence(&self, id: ObligationId, number: usize) -> OccurrenceId {
        self::id(&self.get(id).await["occurrences"][number])
    }

    async fn listed(&self, filters: &[(&str, &str)]) -> Vec<String> {
        let request =
            filters.iter().fold(self.org.get(OBLIGATIONS), |request, (name, value)| request.query(name, value));
        let page = request.send().await.ok(200);
        let rows = page["data"].as_array().expect("a page");
        assert_eq!(page["pagination"]["total"], rows.len(), "{filters:?}");
        rows.iter().map(|row| text(&row["id"]).to_owned()).collect()
    }

    /// Obligations that ended with their agreement, by the service's audit rows. Each ended once.
    async fn ends(&self, agreement: &str) -> BTreeSet<String> {
        let ended = self.org.audit().await.into_iter().filter(|row| row["operation"] == "end_obligation");
        let mut ids = BTreeSet::new();
        for row in ended {
            let objects = rows::objects(&row);
            assert_eq!(objects[0], agreement, "{row}");
            assert!(ids.insert(objects[1].clone()), "ended twice: {row}");
        }
        ids
    }

    async fn told(&self) -> Vec<(String, Value)> {
        let events = self.org.events().await.into_iter();
        let of_obligations = events.filter(|event| text(&event["type"]).starts_with("obligation."));
        of_obligations.map(|event| (text(&event["type"]).to_owned(), event["data"].clone())).collect()
    }
}

struct Owed {
    agreement: Drafted,
    ids: Vec<ObligationId>,
}

impl Owed {
    fn participants(&self) -> [ParticipantId; 2] {
        [0, 1].map(|n| self.agreement.agreement.participants[n].id)
    }
}

#[tokio::test]
async fn an_obligation_shows_when_it_is_due_and_what_was_said() {
    let desk = Desk::new().await;
    let owed = desk.owed(vec![on(&[-3, 10, 400]), triggered(&[30, 0]), standing(90)], 40).await;
    let [ada, ben] = owed.participants();
    let [scheduled, on_trigger, holds] = [0, 1, 2].map(|n| owed.ids[n]);

    let shown = desk.get(scheduled).await;
    let fields = [
        "agreement_id",
        "created_at",
        "id",
        "kind",
        "name",
        "next_due_at",
        "occurrences",
        "promisee_participant_ids",
        "promisor_participant_ids",
        "standing",
        "state",
        "state_sentence",
        "triggers",
        "updated_at",
        "workspace_id",
    ];
    assert_eq!(members(&shown), fields);
    let due = day(-3).to_string();
    for (field, value) in [
        ("id", json!(scheduled)),
        ("workspace_id", desk.workspace["id"].clone()),
        ("agreement_id", json!(owed.agreement.id())),
        ("name", json!("Promise 1")),
        ("kind", json!("scheduled")),
        ("state", json!("open")),
        ("promisor_participant_ids", json!([ben])),
        ("promisee_participant_ids", json!([ada])),
        ("next_due_at", json!(format!("{due}T23:59:59.999Z"))),
        ("triggers", json!([])),
        ("standing", Value::Null),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    assert!(text(&shown["state_sentence"]).starts_with("Overdue since "), "{shown}");
    for moment in ["created_at", "updated_at"] {
        assert_moment(&shown[moment]);
    }
    let occurrences = shown["occurrences"].as_array().expect("occurrences");
    let states: Vec<&str> = occurrences.iter().map(|found| text(&found["state"])).collect();
    assert_eq!(states, ["overdue", "due", "upcoming"], "decided when it is read");
    for (number, occurrence) in (1..).zip(occurrences) {
        assert_eq!(
            members(occurrence),
            ["confirmed_at", "due_at", "id", "origin", "satisfied_at", "sequence", "state"]
        );
        assert_eq!((&occurrence["sequence"], &occurrence["origin"]), (&json!(number), &json!("schedule")));
        assert_eq!((&occurrence["satisfied_at"], &occurrence["confirmed_at"]), (&Value::Null, &Value::Null));
        assert_moment(&occurrence["due_at"]);
    }
    assert_eq!(desk.get(scheduled).await["occurrences"], shown["occurrences"], "the same ids each time");

    let shown = desk.get(on_trigger).await;
    assert_eq!((&shown["state"], &shown["next_due_at"]), (&json!("dormant"), &Value::Null));
    assert_eq!(shown["occurrences"], json!([]));
    let triggers = shown["triggers"].as_array().expect("triggers");
    assert_eq!(triggers.len(), 2);
    assert_eq!(members(&triggers[0]), ["declared_at", "description", "due_after_days", "id"]);
    assert_eq!((&triggers[0]["due_after_days"], &triggers[0]["declared_at"]), (&json!(30), &Value::Null));

    let shown = desk.get(holds).await;
    assert_eq!(shown["state"], "open");
    let standing = &shown["standing"];
    assert_eq!(members(standing), ["next_reverify_at", "reverify_every_days", "state", "verified_at"]);
    assert_eq!((&standing["state"], &standing["verified_at"]), (&json!("unverified"), &Value::Null));
    assert_eq!((&standing["reverify_every_days"], &standing["next_reverify_at"]), (&json!(90), &shown["next_due_at"]));

    let agreement = desk.org.get(owed.agreement.path()).send().await.ok(200);
    let promises = agreement["promises"].as_array().expect("promises");
    let ids: Vec<&Value> = promises.iter().map(|promise| &promise["obligation_id"]).collect();
    assert_eq!(json!(ids), json!(owed.ids));
    let kinds: Vec<&str> = promises.iter().map(|promise| text(&promise["kind"])).collect();
    assert_eq!(kinds, ["scheduled", "triggered", "standing"]);
    assert_eq!(promises[0]["days"], json!([day(-3).to_string(), day(10).to_string(), day(400).to_string()]));
    assert_eq!(promises[1]["triggers"].as_array().map(Vec::len), Some(2));
    assert_eq!(promises[2]["reverify_every_days"], 90);

    let unknown = desk.org.get(format!("{OBLIGATIONS}/{}", unknown_id())).send().await;
    unknown.refused(404);
    let foreign = Org::new().await.get(format!("{OBLIGATIONS}/{scheduled}")).send().await;
    assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "another organization's does not exist");
}

#[tokio::test]
async fn obligations_are_listed_by_workspace_agreement_and_state() {
    let desk = Desk::new().await;
    let one = desk.owed(vec![on(&[10]), triggered(&[5]), on(&[20])], 1).await;
    let elsewhere = Desk { workspace: desk.org.workspace("Pine").await, ..desk };
    let other = elsewhere.owed(vec![triggered(&[7])], 1).await;
    let desk = elsewhere;
    let text_of = |ids: &[ObligationId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (ones, others) = (text_of(&one.ids), text_of(&other.ids));
    let mut all = [ones.clone(), others.clone()].concat();
    all.sort_unstable();

    assert_eq!(desk.listed(&[]).await, all);
    assert_eq!(desk.listed(&[("state", "")]).await, all);
    assert_eq!(desk.listed(&[("agreement_id", &one.agreement.id())]).await, ones);
    assert_eq!(desk.listed(&[("workspace_id", text(&desk.workspace["id"]))]).await, others);
    assert_eq!(desk.listed(&[("state", "open"), ("agreement_id", &one.agreement.id())]).await, [&*ones[0], &*ones[2]]);
    let mut dormant = vec![ones[1].clone(), others[0].clone()];
    dormant.sort_unstable();
    assert_eq!(desk.listed(&[("state", "dormant")]).await, dormant);
    assert_eq!(desk.listed(&[("state", "confirmed")]).await, Vec::<String>::new());
    assert_eq!(desk.listed(&[("agreement_id", &unknown_id())]).await, Vec::<String>::new());
    for (name, value, code) in [
        ("state", "overdue", "invalid_value"),
        ("workspace_id", "", "invalid_format"),
        ("search", "x", "unknown_parameter"),
    ] {
        desk.org.get(OBLIGATIONS).query(name, value).send().await.refused_for(422, &[(name, code)]);
    }

    let page = desk.org.get(OBLIGATIONS).query("limit", 2).query("offset", 1).send().await.ok(200);
    assert_eq!(page["pagination"], json!({"total": 4, "has_more": true, "limit": 2, "offset": 1}));
    for (row, id) in page["data"].as_array().expect("a page").iter().zip(&all[1..]) {
        let mut single = desk.get(id.parse().expect("an id")).await;
        assert!(single["occurrences"].is_array());
        single["occurrences"] = Value::Null;
        assert_eq!(*row, single, "what takes long to read is left out");
    }
    let theirs = Org::new().await.get(OBLIGATIONS).send().await.ok(200);
    assert_eq!(theirs["pagination"]["total"], 0, "another organization's do not exist");
}

#[tokio::test]
async fn nothing_of_the_api_writes_obligations() {
    let desk = Desk::new().await;
    let owed = desk.owed(vec![on(&[-3]), triggered(&[5])], 10).await;
    let before = desk.org.state().await;
    let one = format!("{OBLIGATIONS}/{}", owed.ids[0]);
    for path in [OBLIGATIONS, &one, &format!("{one}/confirm"), &format!("{one}/satisfy"), &format!("{one}/triggers")] {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let request = desk.org.call(method.parse().expect("a method"), path);
            let answer = request.json(&json!({"state": "confirmed"})).send().await;
            let is_known = path == OBLIGATIONS || path == one;
            answer.refused(if is_known { 405 } else { 404 });
            if is_known {
                assert_eq!(answer.header("allow"), "GET", "{method} {path}");
            }
        }
    }
    assert_eq!(desk.org.state().await, before);
}

#[tokio::test]
async fn members_act_once_and_a_subscriber_hears_of_it() {
    // The clock relays what the test writes past the service: sixty times sooner.
    let desk = Desk::of(Org::with(Needs::OWN.time_scale(60)).await).await;
    let org = &desk.org;
    let types = ["obligation.triggered", "obligation.satisfied", "obligation.confirmed"];
    let subscriber = org.subscriber_of(&types).await;
    let (maren, noah) = (org.member("Maren Holt").await, org.member("Noah Reyes").await);
    let owed = desk.owed(vec![triggered(&[30, 0]), standing(60), on(&[5])], 20).await;
    let [on_trigger, holds, cancelled] = [0, 1, 2].map(|n| owed.ids[n]);

    let trigger: TriggerId = id(&desk.get(on_trigger).await["triggers"][0]);
    let happened = Happening { trigger, on: day(-3) };
    let declare = || org.act_on(&maren, on_trigger, MemberAct::DeclareTrigger(happened));
    let later = MemberAct::DeclareTrigger(Happening { on: day(2), ..happened });
    assert_eq!(org.act_on(&maren, on_trigger, later).await.expect("an answer"), Err(Refused::InFuture));
    let sent = join_all([declare(), declare()]).await.into_iter().map(|sent| sent.expect("an answer"));
    assert_eq!(sent.flatten().count(), 1, "at once, and one declares it");
    let again = org.act_on(&noah, on_trigger, MemberAct::DeclareTrigger(happened)).await.expect("an answer");
    assert_eq!(again, Err(Refused::Done), "another member learns that it is declared");
    let shown = desk.get(on_trigger).await;
    assert_eq!((&shown["state"], &shown["occurrences"][0]["origin"]), (&json!("open"), &json!("trigger")));
    assert_moment(&shown["triggers"][0]["declared_at"]);
    let due = format!("{}T23:59:59.999Z", day(27));
    assert_eq!(shown["occurrences"][0]["due_at"], json!(due), "30 days after it happened");

    let occurrence = desk.occurrence(on_trigger, 0).await;
    let early = org.act_on(&noah, on_trigger, MemberAct::Confirm(occurrence)).await.expect("an answer");
    assert_eq!(early, Err(Refused::NotSatisfied), "nothing is confirmed that nobody claims");
    let claim = MemberAct::RecordSatisfaction(done(occurrence));
    assert_eq!(org.act_on(&maren, on_trigger, claim).await.expect("an answer"), Ok(()));
    let shown = desk.get(on_trigger).await;
    let claimed = &shown["occurrences"][0];
    assert_eq!((&claimed["state"], &claimed["confirmed_at"]), (&json!("satisfied"), &Value::Null));
    assert!(text(&shown["state_sentence"]).contains("Not confirmed yet"), "{shown}");
    let own = org.act_on(&maren, on_trigger, MemberAct::Confirm(occurrence)).await.expect("an answer");
    assert_eq!(own, Err(Refused::Own), "who recorded it can't confirm it");
    let confirm = MemberAct::Confirm(occurrence);
    assert_eq!(org.act_on(&noah, on_trigger, confirm).await.expect("an answer"), Ok(()));
    let shown = desk.get(on_trigger).await;
    assert_eq!(shown["occurrences"][0]["state"], "confirmed");
    assert_eq!(shown["state"], "dormant", "the other trigger may still happen");

    let verification = desk.occurrence(holds, 0).await;
    let verify = MemberAct::Verify(verification);
    assert_eq!(org.act_on(&maren, holds, verify).await.expect("an answer"), Ok(()));
    assert_eq!(desk.get(holds).await["standing"]["state"], "holding");

    let reason = Note::parse("Waived.").expect("a note");
    let cancel = MemberAct::Cancel(reason.clone());
    assert_eq!(org.act_on(&noah, cancelled, cancel).await.expect("an answer"), Ok(()));
    let shown = desk.get(cancelled).await;
    assert_eq!((&shown["state"], &shown["next_due_at"]), (&json!("cancelled"), &Value::Null));
    let due = desk.occurrence(cancelled, 0).await;
    let late = org.act_on(&maren, cancelled, MemberAct::RecordSatisfaction(done(due))).await.expect("an answer");
    assert_eq!(late, Err(Refused::Cancelled));

    let of = |event: &str, id: ObligationId, name: &str| (event.to_owned(), json!({"obligation_id": id, "name": name}));
    let expected = [
        of("obligation.triggered", on_trigger, "Promise 1"),
        of("obligation.satisfied", on_trigger, "Promise 1"),
        of("obligation.confirmed", on_trigger, "Promise 1"),
        of("obligation.confirmed", holds, "Promise 2"),
    ];
    assert_eq!(desk.told().await, expected);
    let arrivals = subscriber.receiver.wait_for(expected.len()).await;
    let mut heard: Vec<_> =
        arrivals.iter().map(|arrival| (arrival.event_type(), arrival.json()["data"].clone())).collect();
    let sorted = |heard: &mut Vec<(String, Value)>| heard.sort_by_key(|(event, data)| format!("{event} {data}"));
    let mut expected = expected.to_vec();
    sorted(&mut heard);
    sorted(&mut expected);
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn who_is_alone_confirms_what_they_recorded() {
    let desk = Desk::new().await;
    let maren = desk.org.member("Maren Holt").await;
    let owed = desk.owed(vec![on(&[-1])], 3).await;
    let occurrence = desk.occurrence(owed.ids[0], 0).await;
    for doing in [MemberAct::RecordSatisfaction(done(occurrence)), MemberAct::Confirm(occurrence)] {
        assert_eq!(desk.org.act_on(&maren, owed.ids[0], doing).await.expect("an answer"), Ok(()));
    }
    assert_eq!(desk.get(owed.ids[0]).await["state"], "confirmed");
    let reason = Note::parse("Too late.").expect("a note");
    let late = desk.org.act_on(&maren, owed.ids[0], MemberAct::Cancel(reason)).await.expect("an answer");
    assert_eq!(late, Err(Refused::Confirmed), "nothing is left to cancel");
}

#[tokio::test]
async fn a_participants_promise_is_confirmed_by_the_other_side() {
    let desk = Desk::new().await;
    let org = &desk.org;
    let owed = desk.owed(vec![monthly(-5)], 10).await;
    let ([ada, ben], agreement) = (owed.participants(), &owed.agreement.agreement);
    let id = owed.ids[0];
    let occurrence_id = desk.occurrence(id, 0).await;
    let satisfied = ObligationAct::Satisfied { occurrence_id, how: done(occurrence_id).how };
    let confirmed = ObligationAct::Confirmed { occurrence_id };

    let without = org.act_as(agreement, ben, ReceiptId::new(), id, satisfied.clone()).await.expect("an answer");
    assert_eq!(without, Err(NotActedOnObligation::Participant(NotActed::NoConsent)));
    for participant in [ada, ben] {
        org.consent(agreement, participant).await;
    }
    let wrong_side = org.act_as(agreement, ada, ReceiptId::new(), id, satisfied.clone()).await.expect("an answer");
    assert_eq!(wrong_side, Err(NotActedOnObligation::Participant(NotActed::NotAsked)));
    let sent = org.act_as(agreement, ben, ReceiptId::new(), id, satisfied).await.expect("an answer");
    assert_eq!(sent, Ok(()));
    let own = org.act_as(agreement, ben, ReceiptId::new(), id, confirmed.clone()).await.expect("an answer");
    assert_eq!(own, Err(NotActedOnObligation::Participant(NotActed::NotAsked)), "nobody confirms their own word");
    assert_eq!(desk.get(id).await["occurrences"][0]["state"], "satisfied");
    let done = org.act_as(agreement, ada, ReceiptId::new(), id, confirmed).await.expect("an answer");
    assert_eq!(done, Ok(()));
    let shown = desk.get(id).await;
    assert_eq!((&shown["occurrences"][0]["state"], &shown["state"]), (&json!("confirmed"), &json!("open")));
    assert!(shown["occurrences"].as_array().is_some_and(|all| all.len() > limits::UPCOMING_SHOWN_MAX), "{shown}");

    let events: Vec<String> = desk.told().await.into_iter().map(|(event, _)| event).collect();
    assert_eq!(events, ["obligation.satisfied", "obligation.confirmed"]);
    let receipts = |participant: ParticipantId| {
        let prefix = format!("RECEIPT#{participant}#");
        async move {
            let mut rows = rows::of_organization(org.stack().table(), org.id).await;
            rows.retain(|row| text(&row["sk"]).starts_with(&prefix) && row["act"]["act"] == "acted_on_obligation");
            rows.len()
        }
    };
    assert_eq!((receipts(ben).await, receipts(ada).await), (1, 1));
}

#[tokio::test]
async fn a_projection_that_is_raced_for_happens_once() {
    let desk = Desk::new().await;
    let [ada, ben] = &desk.people;
    let terms = vec![on(&[3]), triggered(&[1])];
    let waiting = obligations::waiting(&desk.org, &desk.workspace, [ada, ben], terms, days_ago(2)).await;
    assert_eq!(desk.listed(&[]).await, Vec::<String>::new(), "they wait for the step");
    let agreement = desk.org.get(waiting.path()).send().await.ok(200);
    assert!(agreement["promises"].as_array().expect("promises").iter().all(|one| one["obligation_id"].is_null()));

    let raced = join_all((0..6).map(|_| obligations::advance(&desk.org, &waiting))).await;
    assert!(raced.iter().any(Result::is_ok), "{raced:?}");
    let ids = obligations::ids(&Drafted::of(&desk.org, &waiting.id()).await.agreement);
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    assert_eq!(desk.listed(&[]).await, ids);
    let versions = desk.org.state().await.into_iter().filter(|row| text(&row["pk"]).contains("#OBLIGATION#"));
    let versions: Vec<Value> = versions.map(|row| row["v"].clone()).collect();
    assert_eq!(versions, ["1", "1"], "written once");

    let maren = desk.org.member("Maren Holt").await;
    let due = desk.occurrence(ids[0].parse().expect("an id"), 0).await;
    let claim = MemberAct::RecordSatisfaction(done(due));
    assert_eq!(desk.org.act_on(&maren, ids[0].parse().expect("an id"), claim).await.expect("an answer"), Ok(()));
    obligations::advance(&desk.org, &waiting).await.expect("nothing is left to record");
    assert_eq!(desk.get(ids[0].parse().expect("an id")).await["state"], "satisfied");
}

#[tokio::test]
async fn a_publication_may_bring_all_promises_into_force_at_once_and_a_cancellation_ends_them() {
    let desk = Desk::new().await;
    let org = &desk.org;
    let maren = org.member("Maren Holt").await;
    let browser = Browser::of(org, &maren).await;
    let past = Countdown::At(Timestamp::now().plus_seconds(-60));
    let many = vec![on(&[30]); limits::AGREEMENT_PROMISES_MAX];
    let draft = org
        .ready_draft("Lease", |draft| {
            draft.stages.truncate(2);
            draft.stages[0].gates[0].rule = GateRule::Countdown { until: Some(past) };
            draft.stages[0].actions = [StageAction::ProjectObligations].into();
            *draft = with_promises(draft, many);
        })
        .await;
    let publication = org.propose("publish_agreement", &draft).await;
    let path = format!("/app/proposals/{}", text(&publication["id"]));
    assert_eq!(browser.decide(&path, "confirm", "").await.status, 303);
    let id = draft.id().to_string();
    let ids = desk.listed(&[("agreement_id", &id)]).await;
    assert_eq!(ids.len(), limits::AGREEMENT_PROMISES_MAX);
    let ids: Vec<ObligationId> = ids.iter().map(|id| id.parse().expect("an id")).collect();
    let names: Vec<Value> =
        join_all(ids.iter().map(|id| desk.get(*id))).await.into_iter().map(|one| one["name"].clone()).collect();
    assert!(names.into_iter().eq((1..=ids.len()).map(|n| json!(format!("Promise {n}")))), "in the promises' order");

    let occurrence = desk.occurrence(ids[0], 0).await;
    let cancellation = org.propose("cancel_agreement", &draft).await;
    let path = format!("/app/proposals/{}", text(&cancellation["id"]));
    assert_eq!(browser.decide(&path, "confirm", "").await.status, 303);
    let refused = org.act_on(&maren, ids[0], MemberAct::RecordSatisfaction(done(occurrence))).await.expect("an answer");
    assert_eq!(refused, Err(Refused::Cancelled));
    for id in &ids {
        let shown = desk.get(*id).await;
        assert_eq!((&shown["state"], &shown["next_due_at"]), (&json!("cancelled"), &Value::Null), "at once");
    }
    let all: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    assert_eq!(desk.ends(&id).await, all);
    assert_eq!(obligations::end(org, draft.id(), 1).await, 0, "nothing is left");
}

#[tokio::test]
async fn what_waits_of_a_recurring_obligation_is_told_in_the_name_of_who_said_it() {
    let desk = Desk::new().await;
    let org = &desk.org;
    let (maren, noah) = (org.member("Maren Holt").await, org.member("Noah Reyes").await);
    let owed = desk.owed(vec![monthly(-40), on(&[-1])], 60).await;
    let [_, ben] = owed.participants();
    let [recurring, single] = [owed.ids[0], owed.ids[1]];
    org.consent(&owed.agreement.agreement, ben).await;
    let first = MemberAct::RecordSatisfaction(done(desk.occurrence(recurring, 0).await));
    assert_eq!(org.act_on(&maren, recurring, first).await.expect("an answer"), Ok(()));
    let sentence = async |id| text(&desk.get(id).await["state_sentence"]).to_owned();
    let told = sentence(recurring).await;
    assert!(told.ends_with("As Maren Holt recorded, one is done. Not confirmed yet"), "{told}");
    let occurrence_id = desk.occurrence(recurring, 1).await;
    let second = ObligationAct::Satisfied { occurrence_id, how: done(occurrence_id).how };
    let by_ben = org.act_as(&owed.agreement.agreement, ben, ReceiptId::new(), recurring, second).await;
    assert_eq!(by_ben.expect("an answer"), Ok(()));
    let told = sentence(recurring).await;
    assert!(told.ends_with("According to Ben, and as Maren Holt recorded, 2 are done. Not confirmed yet"), "{told}");
    let ledger = org.get("/api/v1/ledger").send().await.ok(200);
    let rows = ledger["data"].as_array().expect("a page");
    let row = rows.iter().find(|row| row["obligation_id"] == json!(recurring)).expect("its row");
    assert_eq!(row["status_sentence"], json!(told), "the ledger says the same");

    assert_eq!(desk.listed(&[("state", "satisfied")]).await, Vec::<String>::new(), "others are due: it is open");
    let open: BTreeSet<String> = desk.listed(&[("state", "open")]).await.into_iter().collect();
    assert_eq!(open, [recurring, single].map(|id| id.to_string()).into());
    let browser = Browser::of(org, &noah).await;
    let page = browser.get("/app/obligations?state=satisfied").await;
    assert!(page.says(&recurring.to_string()) && !page.says(&single.to_string()), "{}", page.body);
    assert!(page.says("2 to confirm"), "{}", page.body);
    let all = browser.get("/app/obligations").await;
    assert!(all.says("2 to confirm") && all.says(&single.to_string()), "{}", all.body);
}

/// The process that cancels an agreement dies before ending all obligations: each still ends once.
#[tokio::test]
async fn obligations_end_with_their_agreement_although_a_process_dies_half_way() {
    let desk = Desk::new().await;
    let org = &desk.org;
    let maren = org.member("Maren Holt").await;
    let many: Vec<_> = (1..=6).map(|day| on(&[-day])).collect();
    let owed = desk.owed(many, 10).await;
    let confirmed = owed.ids[0];
    let occurrence = desk.occurrence(confirmed, 0).await;
    for doing in [MemberAct::RecordSatisfaction(done(occurrence)), MemberAct::Confirm(occurrence)] {
        assert_eq!(org.act_on(&maren, confirmed, doing).await.expect("an answer"), Ok(()));
    }
    let claimed = desk.occurrence(owed.ids[1], 0).await;
    let claim = MemberAct::RecordSatisfaction(done(claimed));
    assert_eq!(org.act_on(&maren, owed.ids[1], claim).await.expect("an answer"), Ok(()));
    let last = desk.occurrence(owed.ids[5], 0).await;

    let agreement = owed.agreement.agreement.id();
    org.decide_at_once(&maren, agreement, ProposalAction::CancelAgreement).await;
    let refused = org.act_on(&maren, owed.ids[5], MemberAct::RecordSatisfaction(done(last))).await.expect("an answer");
    assert_eq!(refused, Err(Refused::AgreementEnded(Lifecycle::Cancelled)), "whatever its own record says");
    let ended = obligations::end(org, agreement, 2).await;

    let clock = Clockwork::of(org);
    for _ in 0..2 {
        clock.tick().await;
    }
    let states = join_all(owed.ids.iter().map(|id| desk.get(*id))).await;
    let states: Vec<&str> = states.iter().map(|shown| text(&shown["state"])).collect();
    assert_eq!(states, ["confirmed", "cancelled", "cancelled", "cancelled", "cancelled", "cancelled"]);
    let shown = desk.get(owed.ids[1]).await;
    let claimed = &shown["occurrences"][0];
    assert_eq!((&claimed["state"], &claimed["confirmed_at"]), (&json!("cancelled"), &Value::Null));
    assert_moment(&claimed["satisfied_at"]);
    assert_eq!(desk.ends(&owed.agreement.id()).await.len(), 5 - ended, "the rest, each once");
}

#[tokio::test]
async fn obligations_end_when_their_agreement_expires_and_outlive_its_completion() {
    let desk = Desk::new().await;
    let org = &desk.org;
    let maren = org.member("Maren Holt").await;
    let past = Countdown::At(Timestamp::now().plus_seconds(-60));
    let publish = async |name: &str, expires: bool| {
        let draft = org
            .ready_draft(name, |draft| {
                draft.stages.truncate(2);
                draft.stages[0].gates.truncate(1);
                draft.stages[0].gates[0].rule = GateRule::Countdown { until: Some(past) };
                draft.stages[0].actions = [StageAction::ProjectObligations].into();
                draft.expires_at = expires.then(|| Timestamp::now().plus_seconds(3600));
                if !expires {
                    draft.stages.truncate(1);
                }
                *draft = with_promises(draft, vec![on(&[-1]), standing(30)]);
            })
            .await;
        org.decide_at_once(&maren, draft.id(), ProposalAction::PublishAgreement).await;
        Drafted::of(org, &draft.id().to_string()).await
    };
    let expiring = publish("Lease", true).await;
    let completed = publish("Notice", false).await;
    drafts::make_due(org, &expiring.id(), Coming::Expiry).await;
    let clock = Clockwork::of(org);
    for _ in 0..3 {
        clock.tick().await;
    }
    for id in obligations::ids(&expiring.agreement) {
        let shown = desk.get(id).await;
        assert_eq!(
            (&shown["state"], &shown["state_sentence"]),
            (&json!("cancelled"), &json!("Ended when its agreement expired"))
        );
        let occurrences = shown["occurrences"].as_array().expect("occurrences");
        assert!(occurrences.iter().all(|found| found["state"] == "cancelled"), "what was due is no longer: {shown}");
    }
    assert_eq!(desk.org.get(completed.path()).send().await.ok(200)["lifecycle"], "completed");
    let [due, holds] = [0, 1].map(|n| obligations::ids(&completed.agreement)[n]);
    assert_eq!((&desk.get(due).await["state"], &desk.get(holds).await["state"]), (&json!("open"), &json!("open")));
    let occurrence = desk.occurrence(due, 0).await;
    let done = org.act_on(&maren, due, MemberAct::RecordSatisfaction(done(occurrence))).await.expect("an answer");
    assert_eq!(done, Ok(()), "they outlive the completion");
}
