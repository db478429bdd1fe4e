//! Random histories of participants' and members' acts against a model: conditions of all nine types, a payment, time,
//! and simultaneous acts. Whatever the order: a gate never clears without its rule; an active agreement has one current
//! step; an ended one never changes; a document is sent out once; obligations come into force once; `/information`
//! shows what was sent and never a draft; each event happens once; and the evidence has every act in order.
//!
//! Simultaneous acts must amount to some order of them: in what worked, and in all that the service shows after.
//!
//! A failure prints its seed: `COUNTERSIGN_TEST_SEED=n` repeats it, except for who wins among simultaneous acts.

mod draw;
mod model;
mod send;

use std::collections::BTreeSet;

use fastrand::Rng;
use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::gate::GateType;
use shared::domain::ids::MovementId;
use tests::Org;
use tests::app::{Browser, FormCopy};
use tests::attending::{Attendee, Live};
use tests::drafts::Drafted;
use tests::payments::terms;

use self::draw::{Drawing, TYPES};
use self::model::{Act, Model, Outcome, Step, Terms};
use super::evidence::{lines, unzipped};

const STEPS: usize = 45;
const STEPS_AFTER: usize = 6;
/// The seeds of a full run, besides the new one of each. Together they have conditions of all types.
const SEEDS: [u64; 2] = [7, 78];
const ALL_TYPES_EVERY: u64 = 7;

struct History {
    rng: Rng,
    live: Live,
    terms: Terms,
    payment: MovementId,
    people: [Attendee; 2],
    tokens: [String; 2],
    members_token: String,
    model: Model,
    cancellation: Option<String>,
    /// The id of the payment's evidence in its form, and once it is filed.
    proof: FormCopy,
    evidence: Option<String>,
    forms: usize,
    /// The agreement in the API when it had ended.
    ended: Option<Value>,
    told: Vec<String>,
}

impl History {
    async fn begin(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let org = Org::new().await;
        let member = Browser::of(&org, &org.member("Maren Holt").await).await;
        let draft = org.ready_draft("Lease", |_| {}).await;
        let payment = org.payment(draft.id(), terms(&draft, "Closing payment", "INV-117")).await;
        let mut draft = Drafted::of(&org, &draft.id().to_string()).await;
        let has_all = seed.is_multiple_of(ALL_TYPES_EVERY);
        draft.change(&org, |draft| draw::set_up(&mut rng, draft, payment, has_all)).await;
        let live = Live::publish(org, member, draft.agreement).await;
        let people = live.ids();
        let (one, other) = tokio::join!(live.attend(people[0]), live.attend(people[1]));
        let terms = Terms { agreement: live.agreement.clone(), people };
        let tokens = [one.get("").await.hidden("form_token"), other.get("").await.hidden("form_token")];
        let history = Self {
            rng,
            payment,
            people: [one, other],
            tokens,
            members_token: live.member.get("/app").await.hidden("form_token"),
            model: Model::new(&terms),
            proof: live.member.copy("session"),
            live,
            terms,
            cancellation: None,
            evidence: None,
            forms: 0,
            ended: None,
            told: Vec::new(),
        };
        let (shown, _) = history.observed().await;
        assert_eq!(shown, history.model.shown(&history.terms), "what was published");
        history
    }

    async fn step(&mut self) {
        let is_active = self.model.is_active(&self.terms);
        let mut drawing = Drawing { rng: &mut self.rng, terms: &self.terms, model: &self.model };
        if is_active && drawing.rng.u8(..3) == 0 {
            let acts = drawing.at_once();
            return self.at_once(acts).await;
        }
        let act = drawing.one();
        // Other tests cover a payment after its agreement's cancellation.
        if matches!(act, Act::Pay(_)) && !is_active && !self.model.is_completed(&self.terms) {
            return;
        }
        let before = self.model.at_once();
        let form = self.prepare(&act).await;
        let (did, answer) = self.send(&form).await;
        self.told.push(format!("{act:?}: {answer}"));
        let mut after = before;
        let outcome = after.apply(&self.terms, &act, Some(did));
        let expected = if outcome == Outcome::Either { did } else { outcome == Outcome::Works };
        assert_eq!(did, expected, "{:#?}", self.told);
        self.model = after;
        let (shown, read) = self.observed().await;
        assert_eq!(shown, self.model.shown(&self.terms), "{:#?}", self.told);
        self.after(&[act], &read).await;
    }

    /// Does acts simultaneously. A repeated act is the same form, sent repeatedly.
    async fn at_once(&mut self, acts: Vec<Act>) {
        let mut different: Vec<Act> = Vec::new();
        for act in &acts {
            if !different.contains(act) {
                different.push(act.clone());
            }
        }
        // From then on, time's effects are facts, whoever records them.
        let mut before = self.model.at_once();
        if different.contains(&Act::TimePasses) {
            before.apply(&self.terms, &Act::TimePasses, None);
        }
        let mut forms = Vec::new();
        for act in &different {
            let times = acts.iter().filter(|other| *other == act).count();
            forms.push((self.prepare(act).await, times));
        }
        let sent = join_all(forms.iter().map(async |(form, times)| {
            let answers = join_all((0..*times).map(|_| self.send(form))).await;
            (answers.iter().any(|(did, _)| *did), answers)
        }));
        let sent = sent.await;
        let did: Vec<bool> = sent.iter().map(|(did, _)| *did).collect();
        self.told.push(format!("at once: {:?}", different.iter().zip(&sent).collect::<Vec<_>>()));
        let (shown, read) = self.observed().await;
        let orders = orders(different.len());
        let possible: Vec<Model> =
            orders.iter().filter_map(|order| self.in_order(&before, &different, &did, order)).collect();
        let Some(found) = possible.iter().find(|model| model.shown(&self.terms) == shown) else {
            let expected: Vec<Value> = possible.iter().map(|model| model.shown(&self.terms)).collect();
            panic!("no order gives {shown}, but {expected:#?}: {:#?}", self.told);
        };
        self.model = found.clone();
        self.after(&different, &read).await;
    }

    fn in_order(&self, before: &Model, acts: &[Act], did: &[bool], order: &[usize]) -> Option<Model> {
        let mut model = before.clone();
        for &at in order {
            if acts[at] == Act::TimePasses {
                continue;
            }
            match model.apply(&self.terms, &acts[at], Some(did[at])) {
                Outcome::Works if !did[at] => return None,
                Outcome::Refused if did[at] => return None,
                _ => {}
            }
        }
        Some(model)
    }

    async fn after(&mut self, acts: &[Act], read: &Value) {
        for act in acts {
            match act {
                Act::Reissue(who) => {
                    assert_eq!(self.people[*who].get("").await.status, 401, "its session ends");
                    self.people[*who] = self.live.open(self.people[*who].participant).await;
                    self.tokens[*who] = self.people[*who].get("").await.hidden("form_token");
                }
                Act::Pay(Step::File) if self.model.payment.is_filed => self.evidence = Some(self.proof.id.clone()),
                _ => {}
            }
        }
        if !self.model.is_active(&self.terms) {
            let mut read = read.clone();
            // A payment may continue, which its agreement notes.
            read["updated_at"] = Value::Null;
            let first = self.ended.get_or_insert_with(|| read.clone());
            assert_eq!(*first, read, "what has ended never changes: {:#?}", self.told);
        }
    }

    async fn cancel(&mut self) {
        if !self.model.is_active(&self.terms) || self.model.is_in_flight() {
            return;
        }
        let mut drawing = Drawing { rng: &mut self.rng, terms: &self.terms, model: &self.model };
        let mut acts = drawing.at_once();
        acts.retain(|act| !matches!(act, Act::Reissue(_)));
        acts.truncate(2);
        acts.push(Act::Cancel);
        self.at_once(acts).await;
        // Racing acts may have changed what its page showed.
        if self.model.is_active(&self.terms) && !self.model.is_in_flight() {
            self.at_once(vec![Act::Cancel]).await;
            assert!(!self.model.is_active(&self.terms), "{:#?}", self.told);
        }
    }

    /// The evidence once nothing changes anymore: every act in order, and every signature.
    async fn check_evidence(&self) {
        let path = format!("/app/evidence/agreements/{}/bundle", self.live.agreement.id());
        let bundle = self.live.member.get(&path).await;
        assert_eq!(bundle.status, 200, "{}", bundle.body);
        let files = unzipped(&bundle.bytes);
        let receipts = lines(&files, "receipts.jsonl");
        let count = |act: &str| receipts.iter().filter(|receipt| receipt["act"] == act).count();
        assert_eq!(count("signed") + lines(&files, "paper_signatures.jsonl").len(), self.model.signatures());
        for (act, expected) in self.model.receipts(&self.terms) {
            assert_eq!(count(act), expected, "{act}: {:#?}", self.told);
        }
        assert_eq!(lines(&files, "verifications.jsonl").len(), self.model.verifications(), "{:#?}", self.told);
        let events: Vec<Value> = lines(&files, "timeline.jsonl").into_iter().map(|act| act["events"].clone()).collect();
        let told =
            |kind: &str| events.iter().filter(|of| of.as_array().is_some_and(|of| of.contains(&json!(kind)))).count();
        assert_eq!(told("signature.completed"), self.model.signatures());
        assert_eq!(told("agreement.completed"), usize::from(self.model.is_completed(&self.terms)));
    }
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for _ in 0..count {
        let longer = found.iter().flat_map(|order: &Vec<usize>| {
            let next = (0..count).filter(|next| !order.contains(next));
            next.map(|next| [&order[..], &[next]].concat()).collect::<Vec<_>>()
        });
        found = longer.collect();
    }
    found
}

#[tokio::test]
async fn whatever_participants_and_members_do_the_rules_hold() {
    let repeated = std::env::var("COUNTERSIGN_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let fixed = if tests::is_full() { &SEEDS[..] } else { &[] };
    let seeds = repeated.map_or_else(|| [fixed, &[fastrand::u64(..)]].concat(), |seed| vec![seed]);
    let mut types: BTreeSet<GateType> = BTreeSet::new();
    for seed in seeds {
        eprintln!("COUNTERSIGN_TEST_SEED={seed}");
        let mut history = History::begin(seed).await;
        types.extend(history.terms.gates().map(|gate| gate.rule.gate_type()));
        for _ in 0..STEPS {
            history.step().await;
        }
        history.cancel().await;
        for _ in 0..STEPS_AFTER {
            history.step().await;
        }
        history.check_evidence().await;
    }
    let has_fixed = repeated.is_none() && tests::is_full();
    assert!(!has_fixed || types.len() == TYPES, "conditions of all types: {types:?}");
}
