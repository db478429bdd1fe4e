//! Random histories over HTTP, beside a model (goals, R1): tokens call the API, members send forms, time passes, the clock
//! comes by, and what the table holds after that is what the model says. What the domain's histories prove of pure
//! functions is proven here of the service: every call has its one audit row, every change its events, once, what is due
//! is in the index, and nothing else changes.
//!
//! Each history has a stack of its own and is drawn from a seed. A run has a few fixed ones; for as many more as you like,
//! with new seeds, set `COUNTERSIGN_TEST_HISTORIES`. A failure prints its seed: `COUNTERSIGN_TEST_SEED=n` repeats that
//! history alone, but for who wins where two act at once.

mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use fastrand::Rng;
use futures_util::future::join;
use serde_json::Value;
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::agreement::{Agreement, Label, Lifecycle};
use shared::domain::proposal::ProposalState;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page};
use tests::client::Request;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Coming, Drafted};
use tests::rows::{self, Shot};
use tests::{Needs, Org, Stack};

use model::{ACTIONS, Call, Contact, Deed, Expiry, Model, Reply, Stage, Workspace, as_known, note_of};

const DAY_S: i64 = 24 * 3600;

/// Something that happens.
#[derive(Debug, Clone)]
enum Step {
    One(Deed),
    /// Two things are done at once.
    Both([Deed; 2]),
    /// A member opens a review page of a proposal that waits, and leaves it open.
    Open(usize),
    /// A member sets up a draft, past the service: its stages, and when it expires.
    SetUp(usize, Vec<Stage>, Expiry),
    /// The time of a proposal is over.
    LetExpire(usize),
    /// A moment comes that an agreement waits for.
    LetCome(usize, Coming),
    /// The clock comes by.
    Tick,
    /// A token reads everything.
    Read,
}

/// What a deed was answered with.
struct Got {
    /// What was done, and the token or member who did it, as they have to be on record.
    operation: String,
    actor: String,
    status: u16,
    bytes: Vec<u8>,
    request_id: String,
    is_replay: bool,
    /// Of a refused call: what is wrong with which fields.
    errors: Vec<(String, String)>,
}

impl Got {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Whether it is what it has to be.
    fn fits(&self, reply: &Reply) -> bool {
        let says = match reply {
            Reply::Again(_, bytes) => self.bytes == *bytes,
            Reply::Refused(field, codes) => {
                let errors = codes.iter().map(|code| ((*field).to_owned(), (*code).to_owned()));
                self.errors == errors.collect::<Vec<_>>()
            }
            Reply::Undecided(_, text) => self.text().contains(text),
            Reply::Done(_) | Reply::KeyConflict => self.errors.is_empty(),
        };
        says && self.status == reply.on_record().0 && self.is_replay == matches!(reply, Reply::Again(..))
    }
}

/// A member with the browser in which they are signed in.
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

    async fn post(&self, operation: String, path: &str, fields: &[(&str, &str)]) -> Got {
        let token = [("form_token", &*self.form_token)];
        let page = self.browser.post(path, &[&token, fields].concat()).await;
        let (request_id, actor) = (request_id(&page), format!("- {} -", self.id));
        let (status, bytes) = (page.status, page.body.into_bytes());
        Got { operation, actor, status, bytes, request_id, is_replay: false, errors: Vec::new() }
    }
}

/// A history as it goes on.
struct History {
    seed: u64,
    rng: Rng,
    acts: Vec<String>,
    /// After how many acts the table is looked at.
    stride: usize,
    model: Model,
    ours: Org,
    /// Beside them is another organization, of which nothing ever changes.
    theirs: Org,
    members: [SignedIn; 2],
    clock: Clockwork,
    /// The calls that were sent with a key.
    keyed: Vec<(Call, String)>,
    /// The audit rows that there have to be, by request id, and those of the clock.
    calls: BTreeMap<String, String>,
    ticks: Vec<String>,
    /// The table as it was looked at last.
    before: Shot,
    /// What the last deed was answered with, in a word.
    said: String,
}

impl Drop for History {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let acts: Vec<String> = self.acts.iter().enumerate().map(|(at, act)| format!("{at:3} {act}\n")).collect();
            eprintln!("the history of {SEED}={}:\n{}", self.seed, acts.concat());
        }
    }
}

// What happens.
impl History {
    /// A history that has a draft that can be proposed.
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
            model.workspaces.push(Workspace { id: id(&workspace), is_activated: false, people: BTreeSet::new() });
        }
        let before = Shot::of(stack.table()).await;
        let so_far = before.audit(ours.id).into_iter().map(|row| (rows::key(row).1, on_record(row)));
        let mut history = Self {
            seed,
            rng: Rng::with_seed(seed),
            acts: Vec::new(),
            stride,
            model,
            calls: so_far.collect(),
            ticks: Vec::new(),
            clock: Clockwork::of(&ours),
            keyed: Vec::new(),
            said: String::new(),
            before,
            members,
            theirs,
            ours,
        };
        history.act(write(Call::NewAgreement { workspace: 0, name: "Deal 0".to_owned() })).await;
        history.act(write(Call::AddParticipant { agreement: 0, contact: 0 })).await;
        history.act(Step::SetUp(0, vec![Stage::Approval(0)], Expiry::Never)).await;
        history
    }

    async fn run(&mut self) {
        for _ in 0..self.rng.usize(40..=80) {
            for act in self.draw() {
                self.act(act).await;
            }
        }
        self.finish().await;
    }

    /// In the end all is read, once before the clock has written down what time did and once after that; and whoever hears
    /// of what is due passes all of it on.
    async fn finish(&mut self) {
        for act in [Step::Read, Step::Tick, Step::Read] {
            self.act(act).await;
        }
        assert_eq!(self.clock.first_tick().await.failed, 0);
        let now = Shot::of(self.ours.stack().table()).await;
        assert!(now.due(self.ours.id).iter().all(|(_, sort)| !sort.starts_with("EVENT#")), "the outbox is empty");
        self.check_due(&now);
    }

    async fn act(&mut self, act: Step) {
        self.acts.push(format!("{act:?}"));
        // In which order the clock told what it told is seen, not foretold: so that is looked at at once.
        let is_looked_at = matches!(act, Step::Tick | Step::Read) || self.acts.len().is_multiple_of(self.stride);
        match act {
            Step::One(deed) => self.one(deed).await,
            Step::Both([one, other]) => self.both(one, other).await,
            Step::Open(proposal) => self.open(proposal).await,
            Step::SetUp(agreement, stages, expiry) => {
                self.set_up(agreement, &stages, expiry).await;
                self.model.set_up(agreement, &stages, expiry);
            }
            Step::LetExpire(at) => {
                let ended = drafts::let_expire(&self.ours, &self.model.proposal(at)).await;
                self.model.let_expire(at, ended);
            }
            Step::LetCome(at, coming) => {
                drafts::let_come(&self.ours, &self.model.agreements[at].id, coming).await;
                self.model.let_come(at, coming);
            }
            Step::Tick => self.tick().await,
            Step::Read => self.read().await,
        }
        if is_looked_at {
            self.check().await;
        }
    }

    /// Does one thing, which has to be answered as the model says.
    async fn one(&mut self, deed: Deed) {
        let got = self.send(&deed).await;
        let mut model = self.model.clone();
        let reply = self.take(&mut model, &deed, &got).unwrap_or_else(|why| panic!("{why}"));
        self.record(&deed, &got, &reply);
        self.model = model;
    }

    /// Does two things at once, which have to be answered as if one had been done after the other.
    async fn both(&mut self, one: Deed, other: Deed) {
        let (got_one, got_other) = join(self.send(&one), self.send(&other)).await;
        let (one, other) = ((one, got_one), (other, got_other));
        let mut failures = Vec::new();
        for [first, second] in [[&one, &other], [&other, &one]] {
            let mut model = self.model.clone();
            let taken = self.take(&mut model, &first.0, &first.1);
            match taken.and_then(|reply| Ok((reply, self.take(&mut model, &second.0, &second.1)?))) {
                Ok(replies) => {
                    self.record(&first.0, &first.1, &replies.0);
                    self.record(&second.0, &second.1, &replies.1);
                    self.model = model;
                    return;
                }
                Err(why) => failures.push(why),
            }
        }
        panic!("in neither order: {failures:#?}");
    }

    async fn send(&self, deed: &Deed) -> Got {
        match deed {
            Deed::Write { call, key } => {
                let (operation, request) = call.request(&self.ours, &self.model);
                let answer = key.iter().fold(request, Request::key).send().await;
                Got {
                    operation: operation.to_owned(),
                    actor: format!("{} - -", self.ours.token.id),
                    errors: if answer.status < 400 { Vec::new() } else { answer.errors() },
                    request_id: answer.request_id(),
                    is_replay: answer.is_replay(),
                    status: answer.status,
                    bytes: answer.bytes,
                }
            }
            Deed::Decide { who, sheet, choice } => {
                let (sheet, note) = (&self.model.sheets[*sheet], note_of(choice));
                let path = format!("/app/proposals/{}", self.model.proposals[sheet.proposal].id);
                let form = [("version", &*sheet.version), ("note", &note), ("decision", choice)];
                self.members[*who].post(format!("{choice}_proposal"), &path, &form).await
            }
            Deed::Activate { who, workspace } => {
                let path = format!("/app/workspaces/{}", self.model.workspaces[*workspace].id);
                self.members[*who].post("activate_workspace".to_owned(), &path, &[]).await
            }
        }
    }

    /// Holds an answer to a model, and does there what was done.
    fn take(&self, model: &mut Model, deed: &Deed, got: &Got) -> Result<Reply, String> {
        let reply = model.reply(deed);
        if !got.fits(&reply) {
            let (status, body) = (got.status, got.text());
            return Err(format!("{deed:?}\nhas to be answered with {reply:?}\nand is with {status} {body}"));
        }
        if let Reply::Done(status) = reply {
            let member = match deed {
                Deed::Write { .. } => "",
                Deed::Decide { who, .. } | Deed::Activate { who, .. } => &self.members[*who].id,
            };
            model.apply(deed, member, status, &got.bytes);
            if let Deed::Write { call, .. } = deed {
                let (shown, known) = (serde_json::from_slice(&got.bytes).expect("JSON"), model.shown_by(call));
                if as_known(&shown, &known) != known {
                    return Err(format!("{deed:?}\nhas to show {known}\nand shows {shown}"));
                }
            }
        }
        Ok(reply)
    }

    /// Keeps in mind what has to be on record of a deed.
    fn record(&mut self, deed: &Deed, got: &Got, reply: &Reply) {
        if let Deed::Write { call, key: Some(key) } = deed {
            self.keyed.push((call.clone(), key.clone()));
        }
        let (status, code) = reply.on_record();
        self.put_on_record(&got.request_id, format!("{} {status} {code} {}", got.operation, got.actor));
        self.said = reply.says();
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
        let done = (tick.expired as usize, tick.proceeded as usize, tick.stale, tick.failed);
        let expected = (count("expire_proposal"), count("proceed_agreement"), 0, 0);
        assert_eq!(done, expected, "the clock finds what is due, and nothing else");
        self.ticks.extend(acts.iter().map(|(operation, of)| format!("{operation} 200 ok - - - {of:?}")));
    }

    /// Every agreement and every proposal is in its list, and no other, and so in the list of each state.
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

// What is true after every act. All there is is looked at after every few, since that takes as long as an act.
impl History {
    async fn check(&mut self) {
        let now = Shot::of(self.ours.stack().table()).await;
        self.check_audit(&now);
        self.check_events(&now);
        self.check_changes(&now);
        self.check_due(&now);
        self.before = now;
    }

    /// Every call has one audit row, which says who did what and how it ended; so has every act of the clock; and there
    /// is no other.
    fn check_audit(&self, now: &Shot) {
        let (mut found, mut ticks) = (BTreeMap::new(), Vec::new());
        for row in now.audit(self.ours.id) {
            match row["operation"].as_str() {
                Some("expire_proposal" | "proceed_agreement") => {
                    ticks.push(format!("{} {:?}", on_record(row), rows::objects(row)));
                }
                _ => assert!(found.insert(rows::key(row).1, on_record(row)).is_none(), "one row for a call: {row}"),
            }
        }
        let missing: Vec<_> = self.calls.iter().filter(|(id, row)| found.get(*id) != Some(row)).collect();
        let found: Vec<_> = found.iter().filter(|(id, row)| self.calls.get(*id) != Some(row)).collect();
        assert_eq!(found, missing, "the audit rows, but for those that are as they have to be");
        assert_eq!(sorted(ticks), sorted(self.ticks.clone()), "the audit rows of the clock");
        assert_eq!(now.audit(self.theirs.id), self.before.audit(self.theirs.id));
    }

    /// The outbox has what was told, in its order, each once.
    fn check_events(&mut self, now: &Shot) {
        let events = now.events(self.ours.id);
        let found: Vec<(&str, &Value)> =
            events.iter().map(|event| (event["type"].as_str().expect("a type"), &event["data"])).collect();
        // What the clock told has no order of its own; from now on it has the one that it got.
        let settled = self.model.told.len() - std::mem::take(&mut self.model.told_at_once);
        let place = |(of_type, data): &(&str, Value)| found.iter().position(|one| *one == (*of_type, data));
        self.model.told[settled..].sort_by_key(place);
        let told: Vec<(&str, &Value)> = self.model.told.iter().map(|(of_type, data)| (*of_type, data)).collect();
        assert_eq!(found, told, "what subscribers are told");
        let ids: BTreeSet<String> = events.iter().map(|event| event["id"].to_string()).collect();
        assert_eq!(ids.len(), events.len());
        assert!(self.before.events(self.ours.id).iter().all(|event| events.contains(event)), "what was told stays");
    }

    /// What the acts have touched is another now, and nothing else is; of the other organization nothing ever.
    fn check_changes(&mut self, now: &Shot) {
        let touched = std::mem::take(&mut self.model.touched);
        let changed = changes(&self.before, now, &self.ours);
        for key in &changed {
            assert!(touched.iter().any(|what| key.contains(what.as_str())), "{key} has changed");
        }
        // A claim may have come and gone since; those that there are, `check_due` knows.
        for what in touched.iter().filter(|what| !what.starts_with("PENDING#")) {
            assert!(changed.iter().any(|key| key.contains(what.as_str())), "{what} has not changed");
        }
        assert_eq!(changes(&self.before, now, &self.theirs), BTreeSet::new());
    }

    /// What is due is the end of every proposal that waits and the next moment of every agreement that waits for time,
    /// and that alone. And every proposal that waits has its claim.
    fn check_due(&self, now: &Shot) {
        let (org, rows) = (self.ours.id, now.of_organization(self.ours.id));
        let (events, due): (Vec<String>, Vec<String>) =
            now.due(org).into_iter().map(|(_, sort)| sort).partition(|sort| sort.starts_with("EVENT#"));
        let told = now.events(org);
        let is_told = |key: &String| told.iter().any(|event| key.ends_with(event["id"].as_str().expect("an id")));
        assert!(events.iter().all(is_told), "{events:?}");
        let entry = |of: &str, at: Timestamp, id: &str| format!("{of}#{:015}#{org}#{id}", at.unix_ms());
        let proposals = self.model.open_proposals().map(|at| &self.model.proposals[at]);
        let agreements = self.model.agreements.iter().filter(|agreement| agreement.waits_for_time());
        let next = |id: &str| {
            let is_record = |row: &&&Value| row["pk"] == format!("ORG#{org}#AGREEMENT#{id}");
            next_moment(rows.iter().find(is_record).expect("a record"))
        };
        let expected = proposals
            .map(|proposal| entry("PROPOSAL", proposal.expires_at, &proposal.id))
            .chain(agreements.map(|agreement| entry("AGREEMENT", next(&agreement.id), &agreement.id)));
        assert_eq!(sorted(due), sorted(expected.collect()), "what is due");

        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let claims = rows.iter().map(|row| (text(row, "pk"), text(row, "proposal_id")));
        let claims = claims.filter(|(key, _)| key.contains("#PENDING#")).collect();
        let claim = |at| (format!("ORG#{org}#{}", self.model.claim(at)), self.model.proposals[at].id.clone());
        assert_eq!(
            sorted(claims),
            sorted(self.model.open_proposals().map(claim).collect()),
            "what waits for a decision"
        );
    }
}

fn write(call: Call) -> Step {
    Step::One(Deed::Write { call, key: None })
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}

fn request_id(page: &Page) -> String {
    page.headers["x-request-id"].to_str().expect("an id").to_owned()
}

/// An audit row, as far as it is the same for every call alike.
fn on_record(row: &Value) -> String {
    let names = ["operation", "status", "code", "token_id", "member_id", "participant_id"];
    names.map(|name| row[name].as_str().unwrap_or("-")).join(" ")
}

/// When time takes an agreement further, as its record has it.
fn next_moment(record: &Value) -> Timestamp {
    let gates = record["stages"].as_array().expect("stages").iter().filter_map(|stage| stage["gates"].as_array());
    let moments = gates.flatten().map(|gate| &gate["state"]["due_at"]).chain([&record["expires_at"]]);
    moments.filter_map(|moment| moment.as_str()?.parse().ok()).min().expect("a moment")
}

/// The keys of the rows of an organization that are other than they were, but for what it has told.
fn changes(before: &Shot, after: &Shot, org: &Org) -> BTreeSet<String> {
    let by_key = |shot: &'_ Shot| -> BTreeMap<String, Value> {
        let rows = shot.of_organization(org.id).into_iter().map(|row| (rows::key(row), row.clone()));
        let rows = rows.filter(|((pk, _), _)| !pk.contains("#EVENT#"));
        rows.map(|((pk, sk), row)| (format!("{pk}/{sk}"), row)).collect()
    };
    let (before, after) = (by_key(before), by_key(after));
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).cloned().collect()
}

/// One of several, if there are any.
fn one_of<T>(rng: &mut Rng, all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    if all.is_empty() { None } else { Some(all.swap_remove(rng.usize(..all.len()))) }
}

// What is drawn.
impl History {
    /// Something that can happen now; where members decide on a page that is opened for that, with its opening.
    fn draw(&mut self) -> Vec<Step> {
        std::iter::repeat_with(|| self.try_draw()).flatten().next().expect("something can always happen")
    }

    fn try_draw(&mut self) -> Option<Vec<Step>> {
        let (who, newest) = (self.rng.usize(..2), self.model.sheets.len());
        let [choice, other] = [(); 2].map(|()| if self.rng.u8(..4) > 0 { "confirm" } else { "decline" });
        let decide = |who, choice| Deed::Decide { who, sheet: newest, choice };
        Some(match self.rng.u32(..100) {
            0..25 => {
                let call = self.draw_call()?;
                let key = self.draw_key(&call);
                vec![Step::One(Deed::Write { call, key })]
            }
            25..30 => {
                // Again with its key, or with one that was used for something else.
                let (again, key) = one_of(&mut self.rng, &self.keyed)?.clone();
                let call = if self.rng.bool() { again } else { self.draw_call().filter(takes_key)? };
                vec![Step::One(Deed::Write { call, key: Some(key) })]
            }
            30..34 => {
                let call = self.draw_call()?;
                let key = self.draw_key(&call);
                // Without a key, what only differs in when it comes.
                let is_same = matches!(call, Call::Propose { .. } | Call::AddParticipant { .. });
                (is_same || key.is_some()).then_some(())?;
                let write = Deed::Write { call, key };
                vec![Step::Both([write.clone(), write])]
            }
            34..40 => vec![Step::Open(self.draw_pending()?)],
            40..62 => {
                let proposal = self.draw_pending()?;
                let act = match self.rng.u8(..6) {
                    0 => Step::Both([decide(0, choice), decide(1, other)]),
                    1 => {
                        let call = self.draw_change(self.model.proposals[proposal].agreement)?;
                        Step::Both([decide(who, choice), Deed::Write { call, key: None }])
                    }
                    _ => Step::One(decide(who, choice)),
                };
                vec![Step::Open(proposal), act]
            }
            62..70 => {
                // Rather one that was opened lately.
                let sheet = one_of(&mut self.rng, newest.saturating_sub(4)..newest)?;
                vec![Step::One(Deed::Decide { who, sheet, choice })]
            }
            70..72 => {
                let workspace = one_of(&mut self.rng, 0..self.model.workspaces.len())?;
                let activate = |who| Deed::Activate { who, workspace };
                vec![if self.rng.bool() { Step::One(activate(who)) } else { Step::Both([0, 1].map(activate)) }]
            }
            72..81 => vec![self.draw_set_up()?],
            81..84 => vec![Step::LetExpire(self.draw_pending()?)],
            84..93 => {
                let coming = one_of(&mut self.rng, [Coming::Countdown, Coming::Countdown, Coming::Expiry])?;
                let can = |at: &usize| self.model.agreements[*at].can_come(coming);
                let at = one_of(&mut self.rng, (0..self.model.agreements.len()).filter(can))?;
                let let_come = Step::LetCome(at, coming);
                // Rather while somebody has a decision about it before them.
                let waiting = self.pending().into_iter().find(|waiting| self.model.proposals[*waiting].agreement == at);
                match waiting.filter(|_| self.rng.bool()) {
                    Some(waiting) => vec![Step::Open(waiting), let_come, Step::One(decide(who, "confirm"))],
                    None => vec![let_come],
                }
            }
            93..99 => vec![Step::Tick],
            _ => vec![Step::Read],
        })
    }

    fn draw_set_up(&mut self) -> Option<Step> {
        let at = self.draw_draft()?;
        let people = self.model.agreements[at].participants.clone();
        let mut stages = Vec::new();
        for _ in 0..self.rng.usize(..4) {
            stages.push(match self.rng.u8(..5) {
                0 => Stage::Approval(one_of(&mut self.rng, people.iter().copied())?),
                1 => Stage::Past,
                hours => Stage::Hours(hours.into()),
            });
        }
        let expiry = [Expiry::Never, Expiry::Never, Expiry::Never, Expiry::Later, Expiry::Later, Expiry::Over];
        Some(Step::SetUp(at, stages, one_of(&mut self.rng, expiry)?))
    }

    /// A proposal, mostly one that can be made, and rather a publication.
    fn draw_propose(&mut self) -> Option<Call> {
        let [publish, cancel] = ACTIONS;
        let all = (0..self.model.agreements.len())
            .flat_map(|agreement| [publish, publish, cancel].map(|action| Call::Propose { agreement, action }));
        let can_be = |call: &Call| {
            let deed = Deed::Write { call: call.clone(), key: None };
            matches!(self.model.reply(&deed), Reply::Done(_))
        };
        let (good, refused): (Vec<Call>, Vec<Call>) = all.partition(can_be);
        let wanted = if self.rng.u8(..10) < 7 { good } else { refused };
        one_of(&mut self.rng, wanted)
    }

    fn draw_call(&mut self) -> Option<Call> {
        match self.rng.u8(..10) {
            0 => {
                let workspace = one_of(&mut self.rng, 0..self.model.workspaces.len())?;
                Some(Call::NewAgreement { workspace, name: format!("Deal {}", self.acts.len()) })
            }
            1..5 => {
                let any = one_of(&mut self.rng, 0..self.model.agreements.len())?;
                let agreement = if self.rng.u8(..4) > 0 { self.draw_draft()? } else { any };
                self.draw_change(agreement)
            }
            _ => self.draw_propose(),
        }
    }

    /// What changes an agreement, or one that refers to the contact.
    fn draw_change(&mut self, agreement: usize) -> Option<Call> {
        let contact = one_of(&mut self.rng, 0..self.model.contacts.len())?;
        let Contact { mut name, mut email, .. } = self.model.contacts[contact].clone();
        match self.rng.u8(..6) {
            0 => name = format!("Contact {contact} once {}", self.acts.len()),
            1 => email = None,
            2 => email = Some(format!("contact-{contact}@people.example")),
            _ => return Some(Call::AddParticipant { agreement, contact }),
        }
        Some(Call::Change { contact, name, email })
    }

    /// A new key for a call, or none.
    fn draw_key(&mut self, call: &Call) -> Option<String> {
        (takes_key(call) && self.rng.bool()).then(|| format!("key-{}", self.acts.len()))
    }

    fn draw_draft(&mut self) -> Option<usize> {
        let is_draft = |at: &usize| self.model.agreements[*at].lifecycle == Lifecycle::Draft;
        one_of(&mut self.rng, (0..self.model.agreements.len()).filter(is_draft))
    }

    fn draw_pending(&mut self) -> Option<usize> {
        let pending = self.pending();
        one_of(&mut self.rng, pending)
    }

    fn pending(&self) -> Vec<usize> {
        let is_pending = |at: &usize| self.model.proposals[*at].state == ProposalState::Pending;
        self.model.open_proposals().filter(is_pending).collect()
    }
}

fn takes_key(call: &Call) -> bool {
    !matches!(call, Call::Change { .. })
}

/// Set it to a seed that a failed run printed, to have that history again and no other.
const SEED: &str = "COUNTERSIGN_TEST_SEED";
/// How many histories with new seeds there are beside the fixed ones: none unless it is set.
const NEW: &str = "COUNTERSIGN_TEST_HISTORIES";

#[test]
fn every_history_is_sound() {
    const FIXED: [u64; 4] = [2, 4, 7, 10];
    const AT_A_TIME: usize = 3;
    let asked = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let new = (0..asked(NEW).unwrap_or_default()).map(|_| Rng::new().u64(..));
    // What is looked into is looked at after every act.
    let (seeds, stride) = match asked(SEED) {
        Some(seed) => (vec![seed], 1),
        None => (FIXED.into_iter().chain(new).collect(), 4),
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

/// What is rare happens here, act by act, with what each deed is answered.
#[tokio::test]
async fn the_histories_know_every_end() {
    let [publish, cancel] = ACTIONS.map(|action| move |agreement| write(Call::Propose { agreement, action }));
    let keyed = |action| {
        let call = Call::Propose { agreement: 0, action };
        Step::One(Deed::Write { call, key: Some("one".to_owned()) })
    };
    let new = |n| write(Call::NewAgreement { workspace: 0, name: format!("Deal {n}") });
    let add = |agreement, contact| write(Call::AddParticipant { agreement, contact });
    let change = |name: &str, email: Option<&str>| {
        write(Call::Change { contact: 0, name: name.to_owned(), email: email.map(str::to_owned) })
    };
    let confirm = |sheet| Step::One(Deed::Decide { who: 0, sheet, choice: "confirm" });
    let decline = |sheet| Step::One(Deed::Decide { who: 1, sheet, choice: "decline" });
    let (email, hours, countdown) = (Some("ada@people.example"), Stage::Hours(1), Coming::Countdown);
    let mut history = History::begin(0, 4).await;
    for (act, said) in [
        // A draft in whose way is all that there can be.
        (new(1), "ok"),
        (publish(1), "no_participants no_stages"),
        (add(1, 0), "ok"),
        (Step::SetUp(1, vec![Stage::Approval(0)], Expiry::Over), ""),
        (change("Ada", None), "ok"),
        (publish(1), "expiry_in_past participant_email_missing"),
        (change("Ada", email), "ok"),
        // Keys, and a second proposal.
        (keyed(ACTIONS[0]), "ok"),
        (keyed(ACTIONS[0]), "replayed"),
        (keyed(ACTIONS[1]), "conflict"),
        (publish(0), "proposal_pending"),
        // Pages of which something has changed.
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
        // Proposals whose time is over: written down with what takes the place, and by the clock.
        (Step::LetExpire(0), ""),
        (confirm(2), "The time to decide is over"),
        (Step::Read, ""),
        (publish(0), "ok"),
        (Step::LetExpire(1), ""),
        (Step::Tick, ""),
        // Every decision, and what comes after it.
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
        (Step::One(Deed::Activate { who: 0, workspace: 0 }), "ok"),
        // Time takes an agreement from stage to stage to its completion.
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
        // It has ended, though nobody has written that down.
        (confirm(7), "It can’t be confirmed any more"),
        (cancel(1), "wrong_state"),
        (Step::LetCome(1, Coming::Expiry), ""),
        (Step::Tick, ""),
        (publish(1), "wrong_state"),
        // One expires, as a draft and when it is active.
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
        // One is cancelled when its first stage is done, which nobody has written down.
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
        // One is completed with its publication.
        (new(4), "ok"),
        (add(4, 0), "ok"),
        (Step::SetUp(4, vec![Stage::Past, Stage::Past], Expiry::Never), ""),
        (publish(4), "ok"),
        (Step::Open(9), ""),
        (confirm(12), "ok"),
    ] {
        history.said.clear();
        history.act(act).await;
        assert_eq!(history.said, said);
    }
    history.finish().await;
    let states: Vec<&str> = history.model.agreements.iter().map(|agreement| agreement.lifecycle.as_str()).collect();
    assert_eq!(states, ["active", "completed", "expired", "cancelled", "completed"]);
}
