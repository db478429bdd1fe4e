//! Random histories of what participants and members do in an active agreement, over HTTP and beside a model. Whatever
//! they do, in whatever order: a gate never clears without its rule, an active agreement has exactly one current step,
//! a completed one never changes, nor does a cancelled one, a document is sent out once and never goes back, `/information`
//! shows what was sent and never a draft, each event is told once, and the evidence tells every act in its order.
//!
//! Each history is drawn from a seed, which a failure prints; `COUNTERSIGN_TEST_SEED=n` repeats that one alone.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};
use shared::domain::agreement::gate::{FieldType, Gate, GateRule, InformationField};
use shared::domain::agreement::{Agreement, Label, Stage, StageAction};
use shared::domain::ids::{FieldId, GateId, ParticipantId};
use tests::app::Page;
use tests::attending::{Attendee, Live, hidden};
use tests::pdf::pdf;

use super::evidence::{lines, unzipped};
use crate::unknown_id;

const STEPS: usize = 45;
/// What is tried once an agreement has ended.
const STEPS_AFTER: usize = 6;
/// The verifications of one participant that a history makes at most.
const VERIFICATIONS: usize = 5;

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
    /// How often a participant's identity was verified.
    verified: [usize; 2],
    is_cancelled: bool,
    /// The gates that were met when they were looked at, which stay cleared.
    cleared: BTreeSet<GateId>,
}

impl Model {
    fn is_met(&self, gate: &Gate, places: &BTreeMap<ParticipantId, usize>) -> bool {
        let named = gate.rule.participant_ids().into_iter().flatten().map(|id| places[id]);
        match gate.rule {
            GateRule::DocumentSigned { .. } => self.signed.len() == 2,
            GateRule::IdentityVerified { .. } => named.into_iter().all(|who| self.verified[who] > 0),
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
    /// The agreement as the API showed it when it had ended.
    ended: Option<Value>,
}

fn random_rule(rng: &mut Rng, draft: &Agreement) -> GateRule {
    let both: BTreeSet<ParticipantId> = draft.participants.iter().map(|participant| participant.id).collect();
    let one = [draft.participants[rng.usize(0..2)].id].into();
    let participant_ids = if rng.bool() { both } else { one };
    match rng.usize(0..5) {
        0 => GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) },
        1 => GateRule::ParticipantApproval { participant_ids },
        2 => GateRule::FileUpload { participant_ids },
        3 => GateRule::IdentityVerified { participant_ids },
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
                let actions = rng.bool().then_some(StageAction::OpenSigning).into_iter().collect();
                draft.stages.push(Stage { id, gates, actions, ..stage.clone() });
            }
        })
        .await;
        let [ada, northwind] = live.ids();
        let (one, other) = tokio::join!(live.attend(ada), live.attend(northwind));
        let model = Model { consents: [true; 2], ..Model::default() };
        Self { rng, live, people: [one, other], places: [(ada, 0), (northwind, 1)].into(), model, ended: None }
    }

    fn gates(&self) -> Vec<Gate> {
        self.live.agreement.stages.iter().flat_map(|stage| stage.gates.clone()).collect()
    }

    /// Whether the agreement is neither completed nor cancelled.
    fn is_active(&self) -> bool {
        self.current().is_some() && !self.model.is_cancelled
    }

    /// The step that is current, if one is.
    fn current(&self) -> Option<&Stage> {
        let is_done = |stage: &Stage| stage.gates.iter().all(|gate| self.model.cleared.contains(&gate.id));
        self.live.agreement.stages.iter().find(|stage| !is_done(stage))
    }

    fn is_open(&self, gate: GateId) -> bool {
        let is_current = self.current().is_some_and(|stage| stage.gates.iter().any(|found| found.id == gate));
        let is_waiting = !self.model.cleared.contains(&gate) && !self.model.declined.contains(&gate);
        is_current && is_waiting && !self.model.is_cancelled
    }

    /// What meets gates moves the agreement on.
    fn settle(&mut self) {
        if self.model.is_cancelled {
            return;
        }
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
        match self.rng.usize(0..16) {
            0 => self.decline(&gate, who).await,
            1 => self.reopen(&gate).await,
            2 => self.change_consent(who).await,
            3 | 4 => self.judge(&gate, who).await,
            5 | 6 => self.verify(who).await,
            7 => self.sign_on_paper(who).await,
            8 => self.reissue(who).await,
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
                let works = self.asks_to_sign(who) && self.model.consents[who];
                (person.sign(&self.live.agreement, "A name").await, works)
            }
            GateRule::IdentityVerified { .. } => return self.verify(who).await,
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

    /// The open conditions that ask to sign the document.
    fn signing(&self) -> Vec<GateId> {
        let gates = self.gates().into_iter();
        let signing =
            gates.filter(|gate| matches!(gate.rule, GateRule::DocumentSigned { .. }) && self.is_open(gate.id));
        signing.map(|gate| gate.id).collect()
    }

    /// Whether a participant may sign: the document is out, and no condition asks for it at all, or one that is open.
    fn asks_to_sign(&self, who: usize) -> bool {
        let mut asking = self.gates().into_iter().filter(|gate| matches!(gate.rule, GateRule::DocumentSigned { .. }));
        let is_asked = asking.next().is_none() || !self.signing().is_empty();
        let is_out = self.is_active() && self.document_state() == "out";
        is_out && is_asked && !self.model.signed.contains(&who)
    }

    /// A member records how an identity was verified.
    async fn verify(&mut self, who: usize) {
        if self.model.verified[who] == VERIFICATIONS {
            return;
        }
        let (member, participant) = (&self.live.member, self.people[who].participant);
        let path = format!("{}/participants/{participant}/verification", self.live.path());
        let (token, id) = (member.get("/app").await.hidden("form_token"), unknown_id());
        let typed = [("form_token", token.as_str()), ("id", &id), ("method", "Passport"), ("day", "11/20/2026")];
        let done = member.post(&path, &typed).await;
        let works = self.is_active();
        assert_eq!(done.status == 303, works, "{}", done.body);
        self.model.verified[who] += usize::from(works);
    }

    /// The only member of the organization records a signature on paper, which counts at once.
    async fn sign_on_paper(&mut self, who: usize) {
        let (member, participant) = (&self.live.member, self.people[who].participant);
        let document = self.live.agreement.documents[0].id;
        let path = format!("{}/participants/{participant}/paper/{document}", self.live.path());
        let page = member.get(&path).await;
        let works = self.asks_to_sign(who);
        assert_eq!(page.status == 200, works, "{}", page.body);
        if works {
            let fields = hidden(&page, &path);
            let typed = [("day", "11/20/2026"), ("how", "By post"), ("note", "")];
            let fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(typed);
            let fields: Vec<_> = fields.collect();
            let done = member.upload(&path, &fields, ("file", "Scan.pdf", &pdf("Signed", ""))).await;
            assert_eq!(done.status, 303, "{}", done.body);
            self.model.signed.insert(who);
        }
    }

    /// A member reissues a link: its session ends, and the next one asks for consent again.
    async fn reissue(&mut self, who: usize) {
        let (member, participant) = (&self.live.member, self.people[who].participant);
        let access = format!("{}/participants/{participant}/access", self.live.path());
        let page = member.get(&access).await;
        let (token, generation) = (page.hidden("form_token"), page.hidden("generation"));
        let fields = [("form_token", token.as_str()), ("generation", generation.as_str())];
        assert_eq!(member.post(&format!("{access}/reissue"), &fields).await.status, 303);
        assert_eq!(self.people[who].get("").await.status, 401);
        self.people[who] = self.live.open(participant).await;
        self.model.consents[who] = false;
    }

    /// A member proposes to cancel the agreement, and confirms it.
    async fn cancel(&mut self) {
        let proposal = self.live.org.propose("cancel_agreement", &self.live.agreement).await;
        let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
        assert_eq!(self.live.member.decide(&review, "confirm", "").await.status, 303);
        self.model.is_cancelled = true;
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
            return self.decline_document(who).await;
        }
        let person = &self.people[who];
        let is_named = gate.rule.named(&self.live.agreement).contains(&person.participant);
        let part = (gate.id, who);
        let is_done = self.model.done.contains(&part) || self.model.waiting.contains(&part);
        let token = person.get("").await.hidden("form_token");
        let fields = [("form_token", token.as_str()), ("reason", "No.")];
        let done = person.browser.post(&person.at(&format!("/conditions/{}/decline", gate.id)), &fields).await;
        // An identity is verified by a member: its participant has nothing to decline.
        let asks = !matches!(gate.rule, GateRule::IdentityVerified { .. });
        let works = self.is_open(gate.id) && is_named && self.model.consents[who] && !is_done && asks;
        assert_eq!(done.status == 303, works, "{:?} {who}: {}", gate.rule, done.body);
        if works {
            self.model.declined.insert(gate.id);
        }
    }

    /// Declines to sign: every open condition that asks for it waits for a member.
    async fn decline_document(&mut self, who: usize) {
        let person = &self.people[who];
        let token = person.get("").await.hidden("form_token");
        let fields = [("form_token", token.as_str()), ("reason", "No.")];
        let path = format!("/documents/{}/decline", self.live.agreement.documents[0].id);
        let done = person.browser.post(&person.at(&path), &fields).await;
        // What no open condition asks for is simply left.
        let works = self.asks_to_sign(who) && !self.signing().is_empty() && self.model.consents[who];
        assert_eq!(done.status == 303, works, "{who}: {}", done.body);
        if works {
            self.model.declined.extend(self.signing());
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
        if !self.is_active() {
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
            } else if self.is_current(gate.id) {
                "open"
            } else {
                "locked"
            };
            assert_eq!(shown["state"], state, "{:?} {read}", gate.rule);
        }
        let is_completed = self.current().is_none();
        let lifecycle = match (self.model.is_cancelled, is_completed) {
            (true, _) => "cancelled",
            (false, true) => "completed",
            (false, false) => "active",
        };
        assert_eq!(read["lifecycle"], lifecycle);
        let current = shown.iter().filter(|state| **state == "current").count();
        assert_eq!(current, usize::from(!is_completed), "one step is current: {shown:?}");
        if !self.is_active() {
            let first = self.ended.get_or_insert_with(|| read.clone());
            assert_eq!(*first, read, "what has ended never changes");
        }
        assert_eq!(read["documents"][0]["state"], self.document_state());

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

    fn is_current(&self, gate: GateId) -> bool {
        self.current().is_some_and(|stage| stage.gates.iter().any(|found| found.id == gate))
    }

    /// The state of the document: out once a step that is done has sent it out, or a step that has begun asks to sign it.
    fn document_state(&self) -> &'static str {
        let is_done = |stage: &Stage| stage.gates.iter().all(|gate| self.model.cleared.contains(&gate.id));
        let stages = &self.live.agreement.stages;
        let begun = stages.iter().take_while(|stage| is_done(stage)).chain(self.current());
        let asks = |stage: &Stage| {
            let asks_to_sign = |gate: &Gate| matches!(gate.rule, GateRule::DocumentSigned { .. });
            stage.gates.iter().any(asks_to_sign) || (is_done(stage) && !stage.actions.is_empty())
        };
        match begun.into_iter().any(asks) {
            false => "draft",
            true if self.model.signed.len() == 2 => "signed",
            true => "out",
        }
    }

    /// What the evidence says once nothing changes anymore: every act in its order, and every signature.
    async fn check_evidence(&self) {
        let bundle =
            self.live.member.get(&format!("/app/evidence/agreements/{}/bundle", self.live.agreement.id())).await;
        assert_eq!(bundle.status, 200, "{}", bundle.body);
        let files = unzipped(&bundle.bytes);
        let counted = lines(&files, "receipts.jsonl").iter().filter(|receipt| receipt["act"] == "signed").count()
            + lines(&files, "paper_signatures.jsonl").len();
        assert_eq!(counted, self.model.signed.len());
        let events: Vec<Value> = lines(&files, "timeline.jsonl").into_iter().map(|act| act["events"].clone()).collect();
        let told =
            |kind: &str| events.iter().filter(|of| of.as_array().is_some_and(|of| of.contains(&json!(kind)))).count();
        assert_eq!(told("signature.completed"), self.model.signed.len());
        assert_eq!(told("agreement.completed"), usize::from(self.current().is_none()));
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
        if history.is_active() {
            history.cancel().await;
        }
        for _ in 0..STEPS_AFTER {
            history.step().await;
        }
        history.check_evidence().await;
    }
}
