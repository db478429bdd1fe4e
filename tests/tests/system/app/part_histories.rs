//! Random histories of what participants and members do in an active agreement, over HTTP and beside a model. Whatever
//! they do, in whatever order: a gate never clears without its rule, an active agreement has exactly one current step,
//! a completed one never changes, `/information` shows what was sent and never a draft, and each event is told once.
//!
//! Each history is drawn from a seed, which a failure prints; `COUNTERSIGN_TEST_SEED=n` repeats that one alone.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};
use shared::domain::agreement::gate::{FieldType, Gate, GateRule, InformationField};
use shared::domain::agreement::{Agreement, Label, Stage};
use shared::domain::ids::{FieldId, GateId, ParticipantId};
use tests::app::Page;
use tests::attending::{Attendee, Live, hidden};
use tests::pdf::pdf;

const STEPS: usize = 45;

/// What has been done, as the model knows it. Acts on a gate count from when its step is current.
#[derive(Debug, Default)]
struct Model {
    signed: BTreeSet<usize>,
    /// The gates for which a participant, by their place, has approved or uploaded, or whose answers were accepted.
    done: BTreeSet<(GateId, usize)>,
    /// The answers that wait for a member, and what was sent, in order.
    waiting: BTreeSet<(GateId, usize)>,
    sent: Vec<(GateId, usize, String, &'static str)>,
    declined: BTreeSet<GateId>,
    consents: [bool; 2],
    /// The gates that were met when they were looked at, which stay cleared.
    cleared: BTreeSet<GateId>,
}

impl Model {
    fn is_met(&self, gate: &Gate, places: &BTreeMap<ParticipantId, usize>) -> bool {
        let named = gate.rule.participant_ids().into_iter().flatten().map(|id| places[id]);
        match gate.rule {
            GateRule::DocumentSigned { .. } => self.signed.len() == 2,
            _ => named.into_iter().all(|who| self.done.contains(&(gate.id, who))),
        }
    }
}

/// A history as it goes on.
struct History {
    rng: Rng,
    live: Live,
    people: [Attendee; 2],
    places: BTreeMap<ParticipantId, usize>,
    model: Model,
    /// The agreement as the API showed it when it was completed.
    completed: Option<Value>,
}

fn random_rule(rng: &mut Rng, draft: &Agreement) -> GateRule {
    let both: BTreeSet<ParticipantId> = draft.participants.iter().map(|participant| participant.id).collect();
    let one = [draft.participants[rng.usize(0..2)].id].into();
    let participant_ids = if rng.bool() { both } else { one };
    match rng.usize(0..4) {
        0 => GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) },
        1 => GateRule::ParticipantApproval { participant_ids },
        2 => GateRule::FileUpload { participant_ids },
        _ => {
            let label = Label::parse("Who are you?").expect("a label");
            let (id, field_type) = (FieldId::new(), FieldType::Text);
            let fields = vec![InformationField { id, label, field_type, required: true, options: Vec::new() }];
            GateRule::InformationRequest { participant_ids, fields }
        }
    }
}

impl History {
    async fn begin(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let live = Live::new(|draft| {
            let (stage, gate) = (draft.stages[0].clone(), draft.stages[0].gates[0].clone());
            draft.stages.clear();
            for _ in 0..rng.usize(1..=3) {
                let gates = (0..rng.usize(1..=2)).map(|_| Gate {
                    id: GateId::new(),
                    rule: random_rule(&mut rng, draft),
                    ..gate.clone()
                });
                let gates = gates.collect();
                let id = shared::domain::ids::StageId::new();
                draft.stages.push(Stage { id, gates, actions: BTreeSet::new(), ..stage.clone() });
            }
        })
        .await;
        let [ada, northwind] = live.ids();
        let (one, other) = tokio::join!(live.attend(ada), live.attend(northwind));
        let model = Model { consents: [true; 2], ..Model::default() };
        Self { rng, live, people: [one, other], places: [(ada, 0), (northwind, 1)].into(), model, completed: None }
    }

    fn gates(&self) -> Vec<Gate> {
        self.live.agreement.stages.iter().flat_map(|stage| stage.gates.clone()).collect()
    }

    /// The step that is current, if one is.
    fn current(&self) -> Option<&Stage> {
        let is_done = |stage: &Stage| stage.gates.iter().all(|gate| self.model.cleared.contains(&gate.id));
        self.live.agreement.stages.iter().find(|stage| !is_done(stage))
    }

    fn is_open(&self, gate: GateId) -> bool {
        let is_current = self.current().is_some_and(|stage| stage.gates.iter().any(|found| found.id == gate));
        is_current && !self.model.cleared.contains(&gate) && !self.model.declined.contains(&gate)
    }

    /// What meets gates moves the agreement on.
    fn settle(&mut self) {
        while let Some(stage) = self.current().cloned() {
            let met = |gate: &&Gate| self.is_open(gate.id) && self.model.is_met(gate, &self.places);
            let now: Vec<GateId> = stage.gates.iter().filter(met).map(|gate| gate.id).collect();
            if now.is_empty() {
                return;
            }
            self.model.cleared.extend(now);
        }
    }

    async fn step(&mut self) {
        let gates = self.gates();
        let gate = gates[self.rng.usize(0..gates.len())].clone();
        let who = self.rng.usize(0..2);
        match self.rng.usize(0..12) {
            0 => self.decline(&gate, who).await,
            1 => self.reopen(&gate).await,
            2 => self.change_consent(who).await,
            3 | 4 => self.judge(&gate, who).await,
            _ => self.act(&gate, who).await,
        }
        self.settle();
        self.check().await;
    }

    /// Does what a gate asks for, whether or not it is asked for now.
    async fn act(&mut self, gate: &Gate, who: usize) {
        let person = &self.people[who];
        let is_named = gate.rule.named(&self.live.agreement).contains(&person.participant);
        let part = (gate.id, who);
        let may = self.is_open(gate.id) && is_named && self.model.consents[who];
        let at = format!("/conditions/{}", gate.id);
        let token = person.get("").await.hidden("form_token");
        let (done, works) = match &gate.rule {
            GateRule::DocumentSigned { .. } => {
                let is_asked = self
                    .gates()
                    .iter()
                    .any(|gate| matches!(gate.rule, GateRule::DocumentSigned { .. }) && self.is_open(gate.id));
                let works = is_asked && !self.model.signed.contains(&who) && self.model.consents[who];
                (person.sign(&self.live.agreement, "A name").await, works)
            }
            GateRule::ParticipantApproval { .. } => (
                person.approve(&self.live.agreement, self.place(gate.id)).await,
                may && !self.model.done.contains(&part),
            ),
            GateRule::FileUpload { .. } => {
                let upload = format!("{at}/upload");
                let fields = [("form_token", token.as_str())];
                let file = ("file", "a.pdf", &pdf("A file", "")[..]);
                (person.browser.upload(&person.at(&upload), &fields, file).await, may)
            }
            _ => {
                let is_new = !self.model.waiting.contains(&part) && !self.model.done.contains(&part);
                let sends = self.rng.bool();
                let text = format!("Answer {}", self.rng.u32(..10_000));
                let done = self.answer(gate.id, who, (&text, sends)).await;
                let works = may && is_new;
                assert_eq!(done.status == 303, works, "{}", done.body);
                if works && sends {
                    self.model.waiting.insert(part);
                    self.model.sent.push((gate.id, who, text, "sent"));
                }
                return;
            }
        };
        assert_eq!(done.status == 303, works, "{:?} {who}: {}", gate.rule, done.body);
        if works && matches!(gate.rule, GateRule::DocumentSigned { .. }) {
            self.model.signed.insert(who);
        } else if works {
            self.model.done.insert(part);
        }
    }

    fn place(&self, wanted: GateId) -> (usize, usize) {
        let stages = self.live.agreement.stages.iter().enumerate();
        let mut places = stages.flat_map(|(at, stage)| stage.gates.iter().enumerate().map(move |gate| (at, gate)));
        let found = places.find(|(_, (_, gate))| gate.id == wanted);
        found.map(|(stage, (gate, _))| (stage, gate)).expect("a gate")
    }

    async fn answer(&self, gate: GateId, who: usize, (text, sends): (&str, bool)) -> Page {
        let field = self.live.agreement.questions(gate).expect("questions")[0].id;
        let at = format!("/conditions/{gate}");
        let act = if sends { "send" } else { "save" };
        let page = self.people[who].get(&at).await;
        self.people[who].send(&page, &format!("{at}/answers/{act}"), &[(&format!("answer.{field}"), text)]).await
    }

    async fn judge(&mut self, gate: &Gate, who: usize) {
        if !matches!(gate.rule, GateRule::InformationRequest { .. }) {
            return;
        }
        let participant = self.people[who].participant;
        let at = format!("{}/conditions/{}/answers/{participant}", self.live.path(), gate.id);
        let page = self.live.member.get(&at).await;
        if page.status == 404 {
            return;
        }
        let submission = if page.says("name=\"submission\"") { page.hidden("submission") } else { String::new() };
        let token = page.hidden("form_token");
        let fields = [("form_token", token.as_str()), ("submission", &submission), ("reason", "Not enough.")];
        let accepts = self.rng.bool();
        let act = if accepts { "accept" } else { "return" };
        let done = self.live.member.post(&format!("{at}/{act}"), &fields).await;
        let part = (gate.id, who);
        let works = self.model.waiting.contains(&part);
        assert_eq!(done.status == 303, works, "{}", done.body);
        if works {
            self.model.waiting.remove(&part);
            let last = self.model.sent.iter_mut().rev().find(|sent| (sent.0, sent.1) == part).expect("what was sent");
            last.3 = if accepts { "accepted" } else { "returned" };
            if accepts {
                self.model.done.insert(part);
            }
        }
    }

    async fn decline(&mut self, gate: &Gate, who: usize) {
        if matches!(gate.rule, GateRule::DocumentSigned { .. }) {
            return;
        }
        let person = &self.people[who];
        let is_named = gate.rule.named(&self.live.agreement).contains(&person.participant);
        let part = (gate.id, who);
        let is_done = self.model.done.contains(&part) || self.model.waiting.contains(&part);
        let token = person.get("").await.hidden("form_token");
        let fields = [("form_token", token.as_str()), ("reason", "No.")];
        let done = person.browser.post(&person.at(&format!("/conditions/{}/decline", gate.id)), &fields).await;
        let works = self.is_open(gate.id) && is_named && self.model.consents[who] && !is_done;
        assert_eq!(done.status == 303, works, "{:?} {who}: {}", gate.rule, done.body);
        if works {
            self.model.declined.insert(gate.id);
        }
    }

    async fn reopen(&mut self, gate: &Gate) {
        let action = format!("/conditions/{}/reopen", gate.id);
        let page = self.live.member.get(&self.live.path()).await;
        if !page.says(&action) {
            return;
        }
        let fields = hidden(&page, &action);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(self.live.member.post(&format!("{}{action}", self.live.path()), &fields).await.status, 303);
        assert!(self.model.declined.remove(&gate.id), "only what was declined can be reopened");
    }

    async fn change_consent(&mut self, who: usize) {
        if self.current().is_none() {
            return;
        }
        let act = if self.model.consents[who] { "/consent/withdraw" } else { "/consent" };
        assert_eq!(self.people[who].submit("", act, &[]).await.status, 303);
        self.model.consents[who] = !self.model.consents[who];
    }

    async fn check(&mut self) {
        let read = self.live.read().await;
        let stages = read["stages"].as_array().expect("stages");
        let shown: Vec<&Value> = stages.iter().map(|stage| &stage["state"]).collect();
        let gates = stages.iter().flat_map(|stage| stage["gates"].as_array().expect("gates"));
        for (shown, gate) in gates.zip(self.gates()) {
            let state = if self.model.cleared.contains(&gate.id) {
                "cleared"
            } else if self.model.declined.contains(&gate.id) {
                "declined"
            } else if self.is_open(gate.id) {
                "open"
            } else {
                "locked"
            };
            assert_eq!(shown["state"], state, "{:?} {read}", gate.rule);
        }
        let is_completed = self.current().is_none();
        assert_eq!(read["lifecycle"], if is_completed { "completed" } else { "active" });
        let current = shown.iter().filter(|state| **state == "current").count();
        assert_eq!(current, usize::from(!is_completed), "one step is current: {shown:?}");
        if is_completed {
            let first = self.completed.get_or_insert_with(|| read.clone());
            assert_eq!(*first, read, "what is completed never changes");
        }

        let path = format!("/api/v1/agreements/{}/information", self.live.agreement.id());
        let information = self.live.org.get(path).send().await.ok(200);
        let found = information.as_array().expect("an array").iter().map(|entry| {
            json!([entry["gate_id"], entry["participant_id"], entry["answers"][0]["value"], entry["state"]])
        });
        let sent = self
            .model
            .sent
            .iter()
            .map(|(gate, who, text, state)| json!([gate, self.people[*who].participant, text, state]));
        assert_eq!(found.collect::<Vec<_>>(), sent.collect::<Vec<_>>(), "what was sent, and no draft");

        let events = self.live.org.events().await;
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!(count("signature.completed"), self.model.signed.len());
        assert_eq!(count("agreement.completed"), usize::from(is_completed));
    }
}

#[tokio::test]
async fn whatever_participants_and_members_do_the_rules_hold() {
    let repeated = std::env::var("COUNTERSIGN_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = repeated.map_or_else(|| vec![fastrand::u64(..), 7, 77], |seed| vec![seed]);
    for seed in seeds {
        eprintln!("COUNTERSIGN_TEST_SEED={seed}");
        let mut history = History::begin(seed).await;
        for _ in 0..STEPS {
            history.step().await;
        }
    }
}
