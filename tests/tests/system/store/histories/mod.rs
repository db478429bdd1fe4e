//! Random histories over HTTP, against a model (goals, R1): tokens and members call, time passes, the clock ticks, and
//! the table must match: one audit row per call, each change's events once, the index has what is due.
//!
//! Each history has its own stack and a seed. A run has a few fixed ones; `COUNTERSIGN_TEST_HISTORIES` adds new ones. A
//! failure prints its seed, which `COUNTERSIGN_TEST_SEED=n` repeats, except for who wins at the same moment.

mod invariants;
mod model;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use fastrand::Rng;
use futures_util::future::join;
use ops::verify::Verification;
use serde_json::Value;
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::agreement::{Agreement, Label};
use shared::domain::time::Timestamp;
use shared::store::inspect::{Finding, Repair};
use tests::app::{Browser, Page};
use tests::client::Request;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Coming, Drafted};
use tests::rows::{self, Snapshot};
use tests::{Needs, Org, Stack};

use model::{ACTIONS, Call, Command, Contact, Expected, Expiry, Model, Stage, Workspace, as_known, note_of};

const DAY_S: i64 = 24 * 3600;

#[derive(Debug, Clone)]
enum Step {
    One(Command),
    Both([Command; 2]),
    Open(usize),
    /// A member sets up a draft's stages and expiry, bypassing the service.
    SetUp(usize, Vec<Stage>, Expiry),
    LetExpire(usize),
    LetCome(usize, Coming),
    Tick,
    Read,
}

struct Observed {
    operation: String,
    actor: String,
    status: u16,
    bytes: Vec<u8>,
    request_id: String,
    is_replay: bool,
    errors: Vec<(String, String)>,
}

impl Observed {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn fits(&self, expected: &Expected) -> bool {
        let says = match expected {
            Expected::Again(_, bytes) => self.bytes == *bytes,
            Expected::Refused(field, codes) => {
                let errors = codes.iter().map(|code| ((*field).to_owned(), (*code).to_owned()));
                self.errors == errors.collect::<Vec<_>>()
            }
            Expected::Undecided(_, text) => self.text().contains(text),
            Expected::Done(_) | Expected::KeyConflict => self.errors.is_empty(),
        };
        says && self.status == expected.on_record().0 && self.is_replay == matches!(expected, Expected::Again(..))
    }
}

struct SignedIn {
    id: String,
    browser: Browser,
    form_token: String,
}

impl SignedIn {
    async fn of(org: &Org, name: &str) -> Self {
        let person = org.member(name).await;
        let browser = Browser::of(org, &person).await;
        let form_token = browser.get("/app").await.hidden("form_token");
        Self { id: person.id.to_string(), browser, form_token }
    }

    async fn post(&self, operation: String, path: &str, fields: &[(&str, &str)]) -> Observed {
        let token = [("form_token", &*self.form_token)];
        let page = self.browser.post(path, &[&token, fields].concat()).await;
        let (request_id, actor) = (request_id(&page), format!("- {} -", self.id));
        let (status, bytes) = (page.status, page.body.into_bytes());
        Observed { operation, actor, status, bytes, request_id, is_replay: false, errors: Vec::new() }
    }
}

struct History {
    seed: u64,
    rng: Rng,
    steps: Vec<String>,
    stride: usize,
    model: Model,
    ours: Org,
    theirs: Org,
    members: [SignedIn; 2],
    clock: Clockwork,
    keyed: Vec<(Call, String)>,
    /// Required audit rows by request id, and the clock's.
    calls: BTreeMap<String, String>,
    ticks: Vec<String>,
    before: Snapshot,
    outcome: String,
}

impl Drop for History {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let steps: Vec<String> =
                self.steps.iter().enumerate().map(|(at, step)| format!("{at:3} {step}\n")).collect();
            eprintln!("the history of {SEED}={}:\n{}", self.seed, steps.concat());
        }
    }
}

impl History {
    async fn begin(seed: u64, stride: usize) -> Self {
        let stack = Stack::with(Needs::OWN.without_background().on_configured_store());
        let (ours, theirs) = (Org::on(stack.clone()).await, Org::on(stack.clone()).await);
        let draft = drafts::written(&theirs, "Theirs").await;
        theirs.post("/api/v1/proposals", &draft.publication()).send().await.ok(201);
        let members = [SignedIn::of(&ours, "Maren").await, SignedIn::of(&ours, "Okon").await];
        let mut model = Model::default();
        for name in ["Ada", "Ben", "Cleo", "Dora"] {
            let id = |record: &Value| record["id"].as_str().expect("an id").to_owned();
            let (contact, workspace) = (ours.person(name).await, ours.workspace(name).await);
            let email = contact["email"].as_str().map(str::to_owned);
            model.contacts.push(Contact { id: id(&contact), name: name.to_owned(), email, changes: 0 });
            model.workspaces.push(Workspace { id: id(&workspace), is_activated: false });
        }
        let before = Snapshot::of(stack.table()).await;
        let so_far = before.audit(ours.id).into_iter().map(|row| (rows::key(row).1, on_record(row)));
        let mut history = Self {
            seed,
            rng: Rng::with_seed(seed),
            steps: Vec::new(),
            stride,
            model,
            calls: so_far.collect(),
            ticks: Vec::new(),
            clock: Clockwork::of(&ours),
            keyed: Vec::new(),
            outcome: String::new(),
            before,
            members,
            theirs,
            ours,
        };
        history.take_step(write(Call::NewAgreement { workspace: 0, name: "Deal 0".to_owned() })).await;
        history.take_step(write(Call::AddParticipant { agreement: 0, contact: 0 })).await;
        history.take_step(Step::SetUp(0, vec![Stage::Approval(0)], Expiry::Never)).await;
        history
    }

    async fn run(&mut self) {
        for _ in 0..self.rng.usize(40..=80) {
            for step in self.draw() {
                self.take_step(step).await;
            }
        }
        self.finish().await;
    }

    /// Reads everything before and after the clock records time's effects; then the relay empties the outbox.
    async fn finish(&mut self) {
        for step in [Step::Read, Step::Tick, Step::Read] {
            self.take_step(step).await;
        }
        assert_eq!(self.clock.first_tick().await.failed, 0);
        let now = Snapshot::of(self.ours.stack().table()).await;
        assert!(now.due(self.ours.id).iter().all(|(_, sort)| !sort.starts_with("EVENT#")), "the outbox is empty");
        self.check_due(&now);
    }

    async fn is_whole(&self) {
        let (store, mut wrong) = (self.ours.store(), Vec::new());
        let on = |found: &Finding, _: Option<Repair>, _: &dyn Fn(&str)| wrong.push(found.to_string());
        ops::verify::verify(store, Verification::default(), on).await.expect("the table answers");
        assert!(wrong.is_empty(), "what an operator would find: {}", wrong.join("\n"));
    }

    async fn take_step(&mut self, step: Step) {
        self.steps.push(format!("{step:?}"));
        // The model doesn't know the order of the clock's events, so the table is checked right after a tick.
        let is_looked_at = matches!(step, Step::Tick | Step::Read) || self.steps.len().is_multiple_of(self.stride);
        match step {
            Step::One(command) => self.one(command).await,
            Step::Both([one, other]) => self.both(one, other).await,
            Step::Open(proposal) => self.open(proposal).await,
            Step::SetUp(agreement, stages, expiry) => {
                self.set_up(agreement, &stages, expiry).await;
                self.model.set_up(agreement, &stages, expiry);
            }
            Step::LetExpire(at) => {
                let ended = drafts::expire_proposal(&self.ours, &self.model.proposal(at)).await;
                self.model.let_expire(at, ended);
            }
            Step::LetCome(at, coming) => {
                drafts::make_due(&self.ours, &self.model.agreements[at].id, coming).await;
                self.model.let_come(at, coming);
            }
            Step::Tick => self.tick().await,
            Step::Read => self.read().await,
        }
        if is_looked_at {
            self.check().await;
        }
    }

    async fn one(&mut self, command: Command) {
        let observed = self.send(&command).await;
        let mut model = self.model.clone();
        let expected = self.take(&mut model, &command, &observed).unwrap_or_else(|why| panic!("{why}"));
        self.record(&command, &observed, &expected);
        self.model = model;
    }

    /// Sends two commands at once, and asserts the responses of one order.
    async fn both(&mut self, one: Command, other: Command) {
        let (observed_one, observed_other) = join(self.send(&one), self.send(&other)).await;
        let (one, other) = ((one, observed_one), (other, observed_other));
        let mut failures = Vec::new();
        for [first, second] in [[&one, &other], [&other, &one]] {
            let mut model = self.model.clone();
            let taken = self.take(&mut model, &first.0, &first.1);
            match taken.and_then(|expected| Ok((expected, self.take(&mut model, &second.0, &second.1)?))) {
                Ok(expectations) => {
                    self.record(&first.0, &first.1, &expectations.0);
                    self.record(&second.0, &second.1, &expectations.1);
                    self.model = model;
                    return;
                }
                Err(why) => failures.push(why),
            }
        }
        panic!("in neither order: {failures:#?}");
    }

    async fn send(&self, command: &Command) -> Observed {
        match command {
            Command::Write { call, key } => {
                let (operation, request) = call.request(&self.ours, &self.model);
                let answer = key.iter().fold(request, Request::key).send().await;
                Observed {
                    operation: operation.to_owned(),
                    actor: format!("{} - -", self.ours.token.id),
                    errors: if answer.status < 400 { Vec::new() } else { answer.errors() },
                    request_id: answer.request_id(),
                    is_replay: answer.is_replay(),
                    status: answer.status,
                    bytes: answer.bytes,
                }
            }
            Command::Decide { who, review, choice } => {
                let (review, note) = (&self.model.reviews[*review], note_of(choice));
                let path = format!("/app/proposals/{}", self.model.proposals[review.proposal].id);
                let form = [("version", &*review.version), ("note", &note), ("decision", choice)];
                self.members[*who].post(format!("{choice}_proposal"), &path, &form).await
            }
            Command::Activate { who, workspace } => {
                let path = format!("/app/workspaces/{}", self.model.workspaces[*workspace].id);
                self.members[*who].post("activate_workspace".to_owned(), &path, &[]).await
            }
        }
    }

    fn take(&self, model: &mut Model, command: &Command, observed: &Observed) -> Result<Expected, String> {
        let expected = model.expected(command);
        if !observed.fits(&expected) {
            let (status, body) = (observed.status, observed.text());
            return Err(format!("{command:?}\nhas to be answered with {expected:?}\nand is with {status} {body}"));
        }
        if let Expected::Done(status) = expected {
            let member = match command {
                Command::Write { .. } => "",
                Command::Decide { who, .. } | Command::Activate { who, .. } => &self.members[*who].id,
            };
            model.apply(command, member, status, &observed.bytes);
            if let Command::Write { call, .. } = command {
                let (shown, known) = (serde_json::from_slice(&observed.bytes).expect("JSON"), model.shown_by(call));
                if as_known(&shown, &known) != known {
                    return Err(format!("{command:?}\nhas to show {known}\nand shows {shown}"));
                }
            }
        }
        Ok(expected)
    }

    fn record(&mut self, command: &Command, observed: &Observed, expected: &Expected) {
        if let Command::Write { call, key: Some(key) } = command {
            self.keyed.push((call.clone(), key.clone()));
        }
        let (status, code) = expected.on_record();
        self.put_on_record(&observed.request_id, format!("{} {status} {code} {}", observed.operation, observed.actor));
        self.outcome = expected.summary();
    }

    fn put_on_record(&mut self, request_id: &str, row: String) {
        assert!(self.calls.insert(request_id.to_owned(), row).is_none(), "two answers with one request id");
    }

    async fn open(&mut self, proposal: usize) {
        let SignedIn { id, browser, .. } = &self.members[0];
        let page = browser.get(&format!("/app/proposals/{}", self.model.proposals[proposal].id)).await;
        let row = format!("view_proposal 200 ok - {id} -");
        self.put_on_record(&request_id(&page), row);
        self.model.open(proposal, page.hidden("version"));
    }

    async fn set_up(&self, at: usize, stages: &[Stage], expiry: Expiry) {
        let (now, label) = (Timestamp::now(), Label::parse("Step").expect("a label"));
        let mut drafted = Drafted::of(&self.ours, &self.model.agreements[at].id).await;
        let rule_of = |stage: &Stage| match stage {
            Stage::Approval(who) => {
                let contact = &self.model.contacts[*who].id;
                let people = drafted.agreement.participants.iter().filter(|one| one.contact_id.to_string() == *contact);
                GateRule::ParticipantApproval { participant_ids: people.map(|one| one.id).collect() }
            }
            Stage::Past => GateRule::Countdown { until: Some(Countdown::At(now)) },
            Stage::Hours(hours) => GateRule::Countdown { until: Some(Countdown::AfterHours(*hours)) },
        };
        let rules: Vec<GateRule> = stages.iter().map(rule_of).collect();
        let change = |draft: &mut Agreement| {
            draft.stages.clear();
            for rule in rules {
                let (with_stage, stage) = draft.add_stage(label.clone(), BTreeSet::new(), now).expect("a stage");
                *draft = with_stage.add_gate(stage, rule, now).expect("a gate").0;
            }
            draft.expires_at = match expiry {
                Expiry::Never => None,
                Expiry::Later => Some(now.plus_seconds(1000 * DAY_S)),
                Expiry::Over => Some(now),
            };
        };
        drafted.change(&self.ours, change).await;
    }

    async fn tick(&mut self) {
        let acts = self.model.tick();
        let tick = self.clock.tick().await;
        let count = |operation: &str| acts.iter().filter(|(of, _)| *of == operation).count();
        let done = (tick.expired as usize, tick.advanced as usize, tick.stale, tick.failed);
        let expected = (count("expire_proposal"), count("proceed_agreement"), 0, 0);
        assert_eq!(done, expected, "the clock finds what is due, and nothing else");
        self.ticks.extend(acts.iter().map(|(operation, of)| format!("{operation} 200 ok - - - {of:?}")));
    }

    /// Every agreement and proposal is in its list and in the list of its state, and no others are.
    async fn read(&mut self) {
        let lifecycles = ["", "draft", "active", "completed", "cancelled", "expired"];
        let states = ["", "pending", "confirmed", "declined", "expired"];
        let [agreements, proposals] = self.model.records();
        for (kind, filter, states, known) in
            [("agreement", "lifecycle", &lifecycles[..], agreements), ("proposal", "state", &states[..], proposals)]
        {
            let path = format!("/api/v1/{kind}s");
            for state in states {
                let request = self.ours.read_only().get(&path).query("limit", 200).query(filter, state);
                let page = self.reads(request, format!("list_{kind}s")).await;
                let shown = page["data"].as_array().expect("a page").iter().map(|one| (&one["id"], &one[filter]));
                let known = known.iter().filter(|one| state.is_empty() || one[filter] == **state);
                let known: Vec<_> = known.map(|one| (&one["id"], &one[filter])).collect();
                assert_eq!(shown.collect::<Vec<_>>(), known, "{kind} {state}");
                assert_eq!(page["pagination"]["total"], known.len(), "{kind} {state}");
            }
            for known in known {
                let path = format!("{path}/{}", known["id"].as_str().expect("an id"));
                let shown = self.reads(self.ours.read_only().get(path), format!("get_{kind}")).await;
                assert_eq!(as_known(&shown, &known), known);
            }
        }
    }

    async fn reads(&mut self, request: Request, operation: String) -> Value {
        let answer = request.send().await;
        let row = format!("{operation} 200 ok {} - -", self.ours.read_only_token.id);
        self.put_on_record(&answer.request_id(), row);
        answer.ok(200)
    }
}

fn write(call: Call) -> Step {
    Step::One(Command::Write { call, key: None })
}

fn request_id(page: &Page) -> String {
    page.headers["x-request-id"].to_str().expect("an id").to_owned()
}

fn on_record(row: &Value) -> String {
    let names = ["operation", "status", "code", "token_id", "member_id", "participant_id"];
    names.map(|name| row[name].as_str().unwrap_or("-")).join(" ")
}

/// Set it to a failed run's seed to repeat only that history.
const SEED: &str = "COUNTERSIGN_TEST_SEED";
/// How many histories with new seeds to add: none unless set.
const NEW: &str = "COUNTERSIGN_TEST_HISTORIES";

#[test]
fn every_history_is_sound() {
    // One, or all of them in a full run.
    const FIXED: [u64; 4] = [2, 4, 7, 10];
    const AT_A_TIME: usize = 3;
    let asked = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let new = (0..asked(NEW).unwrap_or_default()).map(|_| Rng::new().u64(..));
    // A repeated history is checked after every step.
    let (seeds, stride) = match asked(SEED) {
        Some(seed) => (vec![seed], 1),
        None => (FIXED.into_iter().take(if tests::is_full() { FIXED.len() } else { 1 }).chain(new).collect(), 4),
    };
    let history = |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async { History::begin(seed, stride).await.run().await });
    };
    let seeds = Mutex::new(seeds);
    let next = || seeds.lock().unwrap().pop();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| std::iter::from_fn(next).for_each(history));
        }
    });
}

#[tokio::test]
async fn the_histories_know_every_end() {
    let [publish, cancel] = ACTIONS.map(|action| move |agreement| write(Call::Propose { agreement, action }));
    let keyed = |action| {
        let call = Call::Propose { agreement: 0, action };
        Step::One(Command::Write { call, key: Some("one".to_owned()) })
    };
    let new = |n| write(Call::NewAgreement { workspace: 0, name: format!("Deal {n}") });
    let add = |agreement, contact| write(Call::AddParticipant { agreement, contact });
    let change = |name: &str, email: Option<&str>| {
        write(Call::Change { contact: 0, name: name.to_owned(), email: email.map(str::to_owned) })
    };
    let confirm = |review| Step::One(Command::Decide { who: 0, review, choice: "confirm" });
    let decline = |review| Step::One(Command::Decide { who: 1, review, choice: "decline" });
    let (email, hours, countdown) = (Some("ada@people.example"), Stage::Hours(1), Coming::Countdown);
    let mut history = History::begin(0, 4).await;
    for (step, outcome) in [
        (new(1), "ok"),
        (publish(1), "no_participants no_stages"),
        (add(1, 0), "ok"),
        (Step::SetUp(1, vec![Stage::Approval(0)], Expiry::Over), ""),
        (change("Ada", None), "ok"),
        (publish(1), "expiry_in_past participant_email_missing"),
        (change("Ada", email), "ok"),
        (keyed(ACTIONS[0]), "ok"),
        (keyed(ACTIONS[0]), "replayed"),
        (keyed(ACTIONS[1]), "conflict"),
        (publish(0), "proposal_pending"),
        (Step::Open(0), ""),
        (change("Ada Okafor", email), "ok"),
        (confirm(0), "Something that the agreement refers to has changed"),
        (Step::Open(0), ""),
        (add(0, 1), "ok"),
        (confirm(1), "The agreement has changed"),
        (change("Ada Okafor", None), "ok"),
        (Step::Open(0), ""),
        (confirm(2), "It can’t be confirmed yet"),
        (change("Ada Okafor", email), "ok"),
        (Step::LetExpire(0), ""),
        (confirm(2), "The time to decide is over"),
        (Step::Read, ""),
        (publish(0), "ok"),
        (Step::LetExpire(1), ""),
        (Step::Tick, ""),
        (publish(0), "ok"),
        (cancel(0), "ok"),
        (Step::Open(2), ""),
        (confirm(3), "ok"),
        (decline(3), "It was already confirmed"),
        (add(0, 1), "wrong_state"),
        (publish(0), "wrong_state"),
        (Step::Open(3), ""),
        (decline(4), "ok"),
        (confirm(4), "It was already declined"),
        (Step::One(Command::Activate { who: 0, workspace: 0 }), "ok"),
        (Step::SetUp(1, vec![Stage::Past, hours, Stage::Past, hours], Expiry::Later), ""),
        (publish(1), "ok"),
        (Step::Open(4), ""),
        (confirm(5), "ok"),
        (cancel(1), "ok"),
        (Step::Open(5), ""),
        (Step::LetCome(1, countdown), ""),
        (Step::Tick, ""),
        (confirm(6), "The agreement has changed"),
        (Step::Open(5), ""),
        (Step::LetCome(1, countdown), ""),
        // It has ended, which isn't recorded yet.
        (confirm(7), "It can’t be confirmed anymore"),
        (cancel(1), "wrong_state"),
        (Step::LetCome(1, Coming::Expiry), ""),
        (Step::Tick, ""),
        (publish(1), "wrong_state"),
        // One expires as a draft, one when active.
        (new(2), "ok"),
        (add(2, 0), "ok"),
        (Step::SetUp(2, vec![hours], Expiry::Later), ""),
        (publish(2), "ok"),
        (Step::Open(6), ""),
        (Step::LetCome(2, Coming::Expiry), ""),
        (confirm(8), "It can’t be confirmed yet"),
        (Step::SetUp(2, vec![hours, hours], Expiry::Later), ""),
        (Step::Open(6), ""),
        (confirm(9), "ok"),
        (Step::LetCome(2, Coming::Expiry), ""),
        (cancel(2), "wrong_state"),
        (Step::Tick, ""),
        // One is cancelled when its first stage is done, which isn't recorded yet.
        (new(3), "ok"),
        (add(3, 0), "ok"),
        (Step::SetUp(3, vec![hours, hours], Expiry::Never), ""),
        (publish(3), "ok"),
        (Step::Open(7), ""),
        (confirm(10), "ok"),
        (Step::LetCome(3, countdown), ""),
        (cancel(3), "ok"),
        (Step::Open(8), ""),
        (confirm(11), "ok"),
        (new(4), "ok"),
        (add(4, 0), "ok"),
        (Step::SetUp(4, vec![Stage::Past, Stage::Past], Expiry::Never), ""),
        (publish(4), "ok"),
        (Step::Open(9), ""),
        (confirm(12), "ok"),
    ] {
        history.outcome.clear();
        history.take_step(step).await;
        assert_eq!(history.outcome, outcome);
    }
    history.finish().await;
    history.is_whole().await;
    let states: Vec<&str> = history.model.agreements.iter().map(|agreement| agreement.lifecycle.as_str()).collect();
    assert_eq!(states, ["active", "completed", "expired", "cancelled", "completed"]);
}
