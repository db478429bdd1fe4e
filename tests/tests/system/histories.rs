//! Random histories over HTTP, beside a model (goals, R1): tokens call the API, members send forms, the clock comes by,
//! and after each act what the table holds is what the model says. What the domain's histories prove of pure functions
//! is proven here of the service: every call has its one audit row, every change its events, and nothing else changes.
//!
//! Each history has a stack of its own and is drawn from a seed, which a failure prints: `COUNTERSIGN_TEST_SEED=n`
//! repeats that one, but for who wins where two act at once. `COUNTERSIGN_TEST_HISTORIES` is how many new ones there are
//! beside the fixed ones.

mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use futures_util::future::join;
use serde_json::{Value, json};
use shared::domain::agreement::gate::GateRule;
use shared::domain::agreement::{Agreement, DocumentContent, Label, Lifecycle};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page};
use tests::client::Request;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Drafted};
use tests::rows::{self, Shot};
use tests::{Answer, Org, Stack};

use crate::unknown_id;
use model::{ACTIONS, Ask, Call, Choice, Deed, End, Kind, Model, ROLES, Reply, Says, Sheet, Stage, Who, as_known};

/// Set it to a seed that a failed run printed, to have that history again and no other.
const SEED: &str = "COUNTERSIGN_TEST_SEED";
/// How many histories are drawn anew.
const NEW: &str = "COUNTERSIGN_TEST_HISTORIES";

/// Something that happens.
#[derive(Debug, Clone)]
enum Act {
    /// A token calls, with an idempotency key or without.
    Write(Call, Option<String>),
    /// Two calls at once.
    WriteBoth([(Call, Option<String>); 2]),
    /// A token that may only read tries to write.
    WriteByReader(Call),
    /// A token reads a record, or one that there is not.
    Get(Kind, Option<usize>),
    /// A token reads a list.
    List(Ask),
    /// Somebody's token uses the other organization's ids, in one of the ways that there are.
    Trespass(Side, usize),
    /// A member looks at a page of the app.
    Look(Who, Kind, Option<usize>),
    /// A member opens a review page and leaves it open.
    Open(usize),
    /// Somebody decides a proposal on a fresh page.
    Decide(Who, usize, Choice),
    /// Somebody sends the form of a page that was left open.
    DecideLate(Who, usize, Choice),
    /// Two members decide at once.
    DecideBoth(usize, [Choice; 2]),
    /// A member decides while a token changes what it is about.
    DecideDuring(usize, Choice, Call),
    /// Somebody activates a workspace.
    Activate(Who, usize),
    /// Two members do, at once.
    ActivateBoth(usize),
    /// A member edits a draft, past the service.
    Edit(usize, Edit),
    /// The time of a proposal is over.
    LetExpire(usize),
    /// The clock comes by.
    Tick,
}

/// A change of what only the app sets up.
#[derive(Debug, Clone, Copy)]
enum Edit {
    AddStage(Stage),
    RemoveStage(usize),
    AddDocument,
    ExpireInPast,
    /// All that is in the way of publication is mended, as far as the draft itself goes.
    Mend,
}

/// One of the two organizations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Ours,
    Theirs,
}

/// An audit row, as far as it is the same for every call alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    operation: String,
    status: String,
    code: String,
    /// `token_id` or `member_id`, with the id; nobody where it was the clock.
    actor: Option<(&'static str, String)>,
}

impl Row {
    fn of(row: &Value) -> Self {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let actor = ["token_id", "member_id", "participant_id"].into_iter().find(|who| row.get(*who).is_some());
        let actor = actor.map(|who| (who, text(who)));
        Self { operation: text("operation"), status: text("status"), code: text("code"), actor }
    }
}

/// What a deed was answered with.
enum Got {
    Api(Answer),
    App(Page),
}

impl Got {
    fn request_id(&self) -> String {
        match self {
            Self::Api(answer) => answer.request_id(),
            Self::App(page) => page.headers["x-request-id"].to_str().expect("an id").to_owned(),
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::Api(answer) => answer.status,
            Self::App(page) => page.status,
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Api(answer) => &answer.bytes,
            Self::App(page) => page.body.as_bytes(),
        }
    }

    /// Whether it is what it has to be.
    fn fits(&self, reply: &Reply) -> bool {
        self.status() == reply.status
            && match (&reply.says, self) {
                (Says::Done, Self::Api(answer)) => !answer.is_replay(),
                (Says::Done, Self::App(page)) => !page.location().starts_with("/app/sign-in"),
                (Says::Errors(errors), Self::Api(answer)) => answer.errors() == *errors,
                (Says::Again(bytes), Self::Api(answer)) => answer.bytes == *bytes && answer.is_replay(),
                (Says::Text(text), Self::App(page)) => page.says(text),
                (Says::To(start), Self::App(page)) => page.location().starts_with(start),
                _ => false,
            }
    }
}

impl std::fmt::Display for Got {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status(), String::from_utf8_lossy(self.bytes()))
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
}

/// The ids of records, for whoever has no business with them.
#[derive(Debug, Clone)]
struct Ids {
    contact: String,
    workspace: String,
    agreement: String,
    proposal: String,
}

/// One way to use another organization's ids, with how that is answered.
struct Trespass {
    request: Request,
    operation: &'static str,
    errors: Vec<(&'static str, &'static str)>,
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
    theirs: Org,
    /// What the other organization has.
    their_ids: Ids,
    members: [SignedIn; 3],
    nobody: Browser,
    clock: Clockwork,
    /// Review pages that were left open.
    sheets: Vec<Sheet>,
    /// The calls that were sent with a key.
    keyed: Vec<(String, Call)>,
    /// The audit rows that there have to be, by request id, and those of the clock, with what they are about.
    calls: BTreeMap<Side, BTreeMap<String, Row>>,
    ticks: Vec<Vec<String>>,
    /// The table after the act before.
    before: Shot,
    /// What the history has come to, and how often.
    met: BTreeMap<String, usize>,
}

impl Drop for History {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let acts: Vec<String> = self.acts.iter().enumerate().map(|(at, act)| format!("{at:3} {act}\n")).collect();
            eprintln!("the history of {SEED}={}:\n{}", self.seed, acts.concat());
        }
    }
}

impl History {
    async fn begin(seed: u64, stride: usize) -> Self {
        let stack = Stack::still();
        let (ours, theirs) = (Org::on(stack.clone()).await, Org::on(stack.clone()).await);
        let text = |record: &Value| record["id"].as_str().expect("an id").to_owned();
        let draft = drafts::written(&theirs, "Theirs").await;
        let their_ids = Ids {
            contact: text(&theirs.contact("Theirs").await),
            workspace: text(&theirs.workspace("Theirs").await),
            agreement: draft.id(),
            proposal: theirs.post("/api/v1/proposals", &draft.publication()).send().await.id(201),
        };
        let mut members = Vec::new();
        for (org, name) in [(&ours, "Maren"), (&ours, "Okon"), (&theirs, "Foreign")] {
            members.push(SignedIn::of(org, name).await);
        }
        let members = members.try_into().unwrap_or_else(|_| panic!("three members"));
        let before = Shot::of(stack.table()).await;
        let known = |row: &&Value| (rows::key(row).1, Row::of(row));
        let so_far = |org: &Org| before.audit(org.id).iter().map(known).collect();
        Self {
            seed,
            rng: Rng::with_seed(seed),
            acts: Vec::new(),
            stride,
            model: Model::default(),
            calls: [(Side::Ours, so_far(&ours)), (Side::Theirs, so_far(&theirs))].into(),
            ticks: Vec::new(),
            nobody: Browser::new(ours.base_url()),
            clock: Clockwork::of(&ours),
            sheets: Vec::new(),
            keyed: Vec::new(),
            met: BTreeMap::new(),
            before,
            members,
            their_ids,
            theirs,
            ours,
        }
    }

    async fn run(&mut self) {
        self.set_up().await;
        for _ in 0..self.rng.usize(40..=80) {
            let act = self.draw();
            self.act(act).await;
        }
        // Of one that waits the time is over when everything is looked at, and nobody has written that down.
        if let Some(proposal) = self.draw_pending() {
            self.act(Act::LetExpire(proposal)).await;
        }
        self.finish().await;
    }

    /// Something to begin with: a draft that can be proposed.
    async fn set_up(&mut self) {
        for n in 0..2 {
            let (name, email) = (format!("Contact {n}"), Some(format!("contact-{n}@people.example")));
            self.write(Call::NewContact { name, email, reference: None }).await;
        }
        self.write(Call::NewWorkspace { name: "Workspace 0".to_owned() }).await;
        self.write(Call::NewAgreement { workspace: 0, name: "Deal 0".to_owned() }).await;
        self.write(Call::AddParticipant { agreement: 0, contact: 0, roles: vec!["approver"] }).await;
        self.act(Act::Edit(0, Edit::Mend)).await;
    }

    async fn write(&mut self, call: Call) {
        self.act(Act::Write(call, None)).await;
    }

    async fn finish(&mut self) {
        self.check_lists().await;
        self.check_that_the_outbox_drains().await;
        self.check_rules().await;
        self.check_events_are_shown().await;
        self.check_that_others_see_nothing().await;
        for at in 0..self.model.told.len() {
            self.meet(self.model.told[at].0);
        }
    }

    async fn act(&mut self, act: Act) {
        self.acts.push(format!("{act:?}"));
        // What happens at once is looked at at once: the order in which it was told is seen, not foretold.
        let is_tick = matches!(act, Act::Tick);
        self.perform(act).await;
        if is_tick || self.acts.len().is_multiple_of(self.stride) {
            self.check().await;
        }
    }

    async fn perform(&mut self, act: Act) {
        match act {
            Act::Write(call, key) => self.one(Deed::Write { call, key }).await,
            Act::WriteBoth(both) => {
                let [first, second] = both.map(|(call, key)| Deed::Write { call, key });
                self.both(first, second).await;
            }
            Act::WriteByReader(call) => {
                let answer = call.request(&self.ours.read_only(), &self.model).send().await;
                answer.refused(403);
                self.record_read(&answer, Side::Ours, call.operation(), "forbidden");
            }
            Act::Get(kind, at) => self.get(kind, at).await,
            Act::List(ask) => self.list(&ask).await,
            Act::Trespass(by, way) => self.trespass(by, way).await,
            Act::Look(who, kind, at) => self.look(who, kind, at).await,
            Act::Open(proposal) => {
                let sheet = self.open(Who::First, proposal).await;
                self.sheets.extend(sheet);
            }
            Act::Decide(who, proposal, choice) => {
                // Whoever is no member has the page of one.
                let opens = if who == Who::Second { who } else { Who::First };
                if let Some(sheet) = self.open(opens, proposal).await {
                    self.one(decision(who, sheet, choice)).await;
                }
            }
            Act::DecideLate(who, sheet, choice) => {
                let sheet = self.sheets[sheet].clone();
                self.one(decision(who, sheet, choice)).await;
            }
            Act::DecideBoth(proposal, [first, second]) => {
                let sheets = [self.open(Who::First, proposal).await, self.open(Who::Second, proposal).await];
                if let [Some(one), Some(other)] = sheets {
                    self.both(decision(Who::First, one, first), decision(Who::Second, other, second)).await;
                }
            }
            Act::DecideDuring(proposal, choice, call) => {
                if let Some(sheet) = self.open(Who::First, proposal).await {
                    self.both(decision(Who::First, sheet, choice), Deed::Write { call, key: None }).await;
                }
            }
            Act::Activate(who, workspace) => self.one(Deed::Activate { who, workspace }).await,
            Act::ActivateBoth(workspace) => {
                let activate = |who| Deed::Activate { who, workspace };
                self.both(activate(Who::First), activate(Who::Second)).await;
            }
            Act::Edit(agreement, edit) => self.edit(agreement, edit).await,
            Act::LetExpire(at) => {
                let proposal = &self.model.proposals[at];
                let shown = self.model.record(Kind::Proposals, at);
                assert_eq!(proposal.end, End::Pending);
                let ended = drafts::let_expire(&self.ours, &shown).await;
                self.model.let_expire(at, ended);
            }
            Act::Tick => self.tick().await,
        }
    }

    /// Does one thing, which has to be answered as the model says.
    async fn one(&mut self, deed: Deed) {
        let got = self.send(&deed).await;
        let mut model = self.model.clone();
        match self.take(&mut model, &deed, &got) {
            Ok(reply) => self.record(&deed, &got, &reply),
            Err(why) => panic!("{why}"),
        }
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
            let taken = taken.and_then(|reply| Ok((reply, self.take(&mut model, &second.0, &second.1)?)));
            match taken {
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
                let request = call.request(&self.ours, &self.model);
                let request = key.iter().fold(request, Request::key);
                Got::Api(request.send().await)
            }
            Deed::Decide { who, sheet, choice, note } => {
                let path = format!("/app/proposals/{}", self.model.proposals[sheet.proposal].id);
                let (browser, token) = self.form_of(*who);
                let decision = ("decision", choice.as_str());
                let form = [("form_token", token), ("version", &sheet.version), ("note", note), decision];
                Got::App(browser.post(&path, &form).await)
            }
            Deed::Activate { who, workspace } => {
                let (browser, token) = self.form_of(*who);
                let path = format!("/app/workspaces/{}", self.model.workspaces[*workspace].id);
                Got::App(browser.post(&path, &[("form_token", token)]).await)
            }
        }
    }

    /// The browser that sends a form, and the token that the form has.
    fn form_of(&self, who: Who) -> (&Browser, &str) {
        let [first, second, foreign] = &self.members;
        match who {
            Who::First => (&first.browser, &first.form_token),
            Who::Second => (&second.browser, &second.form_token),
            Who::Foreign => (&foreign.browser, &foreign.form_token),
            Who::Forged => (&first.browser, &second.form_token),
            Who::SignedOut => (&self.nobody, &first.form_token),
        }
    }

    /// The member whose session a form comes in, and whose organization has it on record.
    fn member(&self, who: Who) -> Option<(&SignedIn, Side)> {
        let [first, second, foreign] = &self.members;
        match who {
            Who::First | Who::Forged => Some((first, Side::Ours)),
            Who::Second => Some((second, Side::Ours)),
            Who::Foreign => Some((foreign, Side::Theirs)),
            Who::SignedOut => None,
        }
    }

    /// Holds an answer to a model, and does there what was done.
    fn take(&self, model: &mut Model, deed: &Deed, got: &Got) -> Result<Reply, String> {
        let reply = model.reply(deed);
        if !got.fits(&reply) {
            return Err(format!("{deed:?}\nhas to be answered with {reply:?}\nand is with {got}"));
        }
        if reply.is_done() {
            let member = match deed {
                Deed::Write { .. } => "",
                Deed::Decide { who, .. } | Deed::Activate { who, .. } => {
                    self.member(*who).map_or("", |(member, _)| &member.id)
                }
            };
            model.apply(deed, member, got.bytes(), got.status());
            if let (Deed::Write { call, .. }, Got::Api(answer)) = (deed, got) {
                let (shown, known) = (answer.json(), model.shown_by(call));
                if as_known(&shown, &known) != known {
                    return Err(format!("{deed:?}\nhas to show {known}\nand shows {shown}"));
                }
            }
        }
        Ok(reply)
    }

    /// Keeps in mind what has to be on record of a deed.
    fn record(&mut self, deed: &Deed, got: &Got, reply: &Reply) {
        let (operation, actor) = match deed {
            Deed::Write { call, key } => {
                self.keyed.extend(key.iter().map(|key| (key.clone(), call.clone())));
                (call.operation(), Some((Side::Ours, "token_id", self.ours.token.id.to_string())))
            }
            Deed::Decide { who, .. } | Deed::Activate { who, .. } => {
                let operation = match deed {
                    Deed::Decide { choice: Choice::Confirm, .. } => "confirm_proposal",
                    Deed::Decide { choice: Choice::Decline, .. } => "decline_proposal",
                    _ => "activate_workspace",
                };
                let member = self.member(*who);
                (operation, member.map(|(member, side)| (side, "member_id", member.id.clone())))
            }
        };
        self.meet(format!("{operation} {}", reply.code));
        match &reply.says {
            Says::Errors(errors) => errors.iter().for_each(|(_, code)| self.meet(format!("{operation} {code}"))),
            Says::Text(text) => self.meet(format!("{operation} {text}")),
            Says::Done | Says::Again(_) | Says::To(_) => {}
        }
        if let Some((side, kind, id)) = actor {
            self.put_on_record(side, got.request_id(), operation, (reply.status, reply.code), (kind, id));
        }
    }

    /// The same for what a token is answered that changes nothing. Our token for reading is the one that reads.
    fn record_read(&mut self, answer: &Answer, side: Side, operation: &str, code: &str) {
        let token = match side {
            Side::Ours => self.ours.read_only_token.id,
            Side::Theirs => self.theirs.token.id,
        };
        let outcome = (answer.status, code);
        self.put_on_record(side, answer.request_id(), operation, outcome, ("token_id", token.to_string()));
    }

    fn put_on_record(
        &mut self,
        side: Side,
        request_id: String,
        operation: &str,
        (status, code): (u16, &str),
        actor: (&'static str, String),
    ) {
        let (operation, status, code) = (operation.to_owned(), status.to_string(), code.to_owned());
        let row = Row { operation, status, code, actor: Some(actor) };
        let calls = self.calls.get_mut(&side).expect("either");
        assert!(calls.insert(request_id, row).is_none(), "two answers with one request id");
    }

    fn meet(&mut self, what: impl Into<String>) {
        *self.met.entry(what.into()).or_default() += 1;
    }

    async fn get(&mut self, kind: Kind, at: Option<usize>) {
        let id = at.map_or_else(unknown_id, |at| self.model.ids(kind)[at].to_owned());
        let answer = self.ours.read_only().get(format!("{}/{id}", kind.path())).send().await;
        let Some(at) = at else {
            answer.refused(404);
            return self.record_read(&answer, Side::Ours, kind.get(), "not_found");
        };
        let known = self.model.record(kind, at);
        assert_eq!(as_known(&answer.ok(200), &known), known);
        self.record_read(&answer, Side::Ours, kind.get(), "ok");
    }

    /// Every record that was acknowledged is in its list, and no other; the total is theirs.
    async fn list(&mut self, ask: &Ask) {
        let (query, fit) = self.model.listed(ask);
        let request = self.ours.read_only().get(ask.kind.path());
        let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        let answer = request.send().await;
        let page = answer.ok(200);
        self.record_read(&answer, Side::Ours, ask.kind.list(), "ok");
        let known: Vec<&Value> = fit.iter().skip(ask.offset).take(ask.limit).collect();
        let shown = page["data"].as_array().expect("a page");
        assert_eq!(shown.len(), known.len(), "{ask:?}: {page}");
        for (shown, known) in shown.iter().zip(known) {
            assert_eq!(as_known(shown, known), *known, "{ask:?}");
        }
        let has_more = ask.offset.saturating_add(ask.limit) < fit.len();
        let pagination = json!({"total": fit.len(), "has_more": has_more, "limit": ask.limit, "offset": ask.offset});
        assert_eq!(page["pagination"], pagination, "{ask:?}");
    }

    /// Every way to use another organization's ids over the API.
    fn trespasses(&mut self, by: Side) -> Vec<Trespass> {
        let mut any = |kind| one_of(&mut self.rng, self.model.ids(kind)).map_or_else(unknown_id, str::to_owned);
        let ours = Ids {
            contact: any(Kind::Contacts),
            workspace: any(Kind::Workspaces),
            agreement: any(Kind::Agreements),
            proposal: any(Kind::Proposals),
        };
        let (caller, own, of) = match by {
            Side::Ours => (&self.ours, &ours, &self.their_ids),
            Side::Theirs => (&self.theirs, &self.their_ids, &ours),
        };
        let mut ways = Vec::new();
        let mut way = |request, operation, errors: &[(&'static str, &'static str)]| {
            ways.push(Trespass { request, operation, errors: errors.to_vec() });
        };
        for (kind, id) in Kind::ALL.into_iter().zip([&of.contact, &of.workspace, &of.agreement, &of.proposal]) {
            way(caller.get(format!("{}/{id}", kind.path())), kind.get(), &[]);
        }
        let contact = format!("/api/v1/contacts/{}", of.contact);
        way(caller.patch(contact, &json!({"display_name": "Stolen"})), "update_contact", &[]);
        for (workspace, contact, errors) in
            [(&of.workspace, &own.contact, &[][..]), (&own.workspace, &of.contact, &[("contact_id", "not_found")])]
        {
            let path = format!("/api/v1/workspaces/{workspace}/contacts");
            way(caller.post(path, &json!({"contact_id": contact})), "add_workspace_contact", errors);
        }
        let draft = json!({"workspace_id": of.workspace, "name": "Stolen"});
        way(caller.post("/api/v1/agreements", &draft), "create_agreement", &[("workspace_id", "not_found")]);
        for (agreement, contact, errors) in
            [(&of.agreement, &own.contact, &[][..]), (&own.agreement, &of.contact, &[("contact_id", "not_found")])]
        {
            let path = format!("/api/v1/agreements/{agreement}/participants");
            let body = json!({"contact_id": contact, "roles": ["signer"]});
            way(caller.post(path, &body), "add_agreement_participant", errors);
        }
        for action in ACTIONS {
            let body = json!({"action": action.as_str(), "agreement_id": of.agreement});
            way(caller.post("/api/v1/proposals", &body), "create_proposal", &[("agreement_id", "not_found")]);
        }
        ways
    }

    /// Whoever uses another organization's ids is told that there is nothing, on their own organization's record.
    async fn trespass(&mut self, by: Side, way: usize) {
        let mut ways = self.trespasses(by);
        let Trespass { request, operation, errors } = ways.swap_remove(way % ways.len());
        let answer = request.send().await;
        if errors.is_empty() {
            answer.refused(404);
        } else {
            answer.refused_for(404, &errors);
        }
        let token = match by {
            Side::Ours => self.ours.token.id,
            Side::Theirs => self.theirs.token.id,
        };
        let outcome = (404, "not_found");
        self.put_on_record(by, answer.request_id(), operation, outcome, ("token_id", token.to_string()));
    }

    /// Looks at a page of the app: a record's, or the one that lists a kind.
    async fn look(&mut self, who: Who, kind: Kind, at: Option<usize>) {
        let id = at.map(|at| self.model.ids(kind)[at].to_owned());
        let (path, operation) = match (kind, &id) {
            (Kind::Workspaces, Some(id)) => (format!("/app/workspaces/{id}"), "view_workspace"),
            (Kind::Agreements, Some(id)) => (format!("/app/agreements/{id}"), "view_agreement"),
            (Kind::Proposals, Some(id)) => (format!("/app/proposals/{id}"), "view_proposal"),
            (Kind::Workspaces, None) => ("/app/workspaces".to_owned(), "view_workspaces"),
            (Kind::Proposals, None) => ("/app/proposals".to_owned(), "view_proposals"),
            _ => ("/app".to_owned(), "view_home"),
        };
        let page = self.form_of(who).0.get(&path).await;
        let is_record = path.split('/').count() > 3;
        let (status, code) = if who == Who::Foreign && is_record { (404, "not_found") } else { (200, "ok") };
        assert_eq!(page.status, status, "{path}: {}", page.body);
        // A foreign member sees none of it anywhere.
        let mut all = Kind::ALL.into_iter().flat_map(|kind| self.model.ids(kind));
        if who == Who::Foreign {
            assert!(!all.any(|id| page.says(id) && !path.ends_with(id)), "{path}: {}", page.body);
        }
        let (member, side) = self.member(who).expect("a member");
        let actor = ("member_id", member.id.clone());
        self.put_on_record(side, Got::App(page).request_id(), operation, (status, code), actor);
    }

    /// Opens a review page. What waits no more has no form.
    async fn open(&mut self, who: Who, proposal: usize) -> Option<Sheet> {
        let path = format!("/app/proposals/{}", self.model.proposals[proposal].id);
        let page = self.form_of(who).0.get(&path).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let is_pending = self.model.proposals[proposal].end == End::Pending;
        assert_eq!(page.says("name=\"decision\""), is_pending, "{}", page.body);
        let sheet = is_pending.then(|| self.model.sheet(proposal, page.hidden("version")));
        let (member, side) = self.member(who).expect("a member");
        let actor = ("member_id", member.id.clone());
        self.put_on_record(side, Got::App(page).request_id(), "view_proposal", (200, "ok"), actor);
        sheet
    }

    async fn edit(&mut self, at: usize, edit: Edit) {
        let known = &mut self.model.agreements[at];
        assert_eq!(known.lifecycle, Lifecycle::Draft);
        let mut edits = vec![edit];
        if matches!(edit, Edit::Mend) {
            let is_whole = |stage: &Stage| matches!(stage, Stage::Approval(Some(_)));
            let broken = (0..known.stages.len()).filter(|at| !is_whole(&known.stages[*at]));
            edits.extend(broken.rev().map(Edit::RemoveStage));
            let first = known.participants.first().map(|(contact, _)| *contact);
            if !known.stages.iter().any(is_whole) && first.is_some() {
                edits.push(Edit::AddStage(Stage::Approval(first)));
            }
        }
        let mut draft = Drafted::of(&self.ours, &known.id).await;
        let contacts = &self.model.contacts;
        draft.change(&self.ours, |draft| edits.iter().for_each(|edit| edit.make(draft, |at| &contacts[at].id))).await;
        for edit in edits {
            match edit {
                Edit::AddStage(stage) => known.stages.push(stage),
                Edit::RemoveStage(at) => drop(known.stages.remove(at)),
                Edit::AddDocument => known.documents.push(false),
                Edit::ExpireInPast => known.is_late = true,
                Edit::Mend => (known.documents, known.is_late) = (vec![true; known.documents.len()], false),
            }
        }
        known.changes += 1;
        self.model.touched.insert(known.id.clone());
    }

    async fn tick(&mut self) {
        let over: Vec<usize> = self.model.undecided().filter(|at| self.model.proposals[*at].end == End::Over).collect();
        let tick = self.clock.tick().await;
        let done = (tick.expired as usize, tick.stale, tick.failed);
        assert_eq!(done, (over.len(), 0, 0), "the clock finds what is due, and nothing else");
        for at in &over {
            let proposal = &self.model.proposals[*at];
            let agreement = self.model.agreements[proposal.agreement].id.clone();
            self.ticks.push(vec![proposal.id.clone(), agreement]);
            self.model.expire(*at);
            self.meet("expire_proposal ok");
        }
        self.model.told_at_once = over.len();
    }

    /// What is true after every act. All there is is looked at after every few, since that takes as long as an act; after
    /// each when one history is run again.
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
        for (side, calls) in &self.calls {
            let org = if *side == Side::Ours { &self.ours } else { &self.theirs };
            let (mut found, mut ticks) = (BTreeMap::new(), Vec::new());
            for row in now.audit(org.id) {
                if row["operation"] == "expire_proposal" {
                    let Row { status, code, actor, .. } = Row::of(row);
                    assert_eq!((status.as_str(), code.as_str(), actor), ("200", "ok", None), "{row}");
                    ticks.push(rows::objects(row));
                } else {
                    assert!(found.insert(rows::key(row).1, Row::of(row)).is_none(), "one row for a call: {row}");
                }
            }
            let missing: Vec<_> = calls.iter().filter(|(id, row)| found.get(*id) != Some(row)).collect();
            let found: Vec<_> = found.iter().filter(|(id, row)| calls.get(*id) != Some(row)).collect();
            assert_eq!(found, missing, "the audit rows of {side:?}, but for those that are as they have to be");
            ticks.sort();
            let mut expected = if *side == Side::Ours { self.ticks.clone() } else { Vec::new() };
            expected.sort();
            assert_eq!(ticks, expected, "the audit rows of the clock");
        }
    }

    /// The outbox has what was told, in its order, each once.
    fn check_events(&mut self, now: &Shot) {
        let events = now.events(self.ours.id);
        let of = |event: &Value| (event["type"].to_string(), event["data"].clone());
        let found: Vec<(String, Value)> = events.iter().map(of).collect();
        let settled = self.model.told.len() - self.model.told_at_once;
        // What was told at once has no order of its own; from now on it has the one that it got.
        self.model.told_at_once = 0;
        let order = |event: &(&'static str, Value)| {
            let this = (json!(event.0).to_string(), event.1.clone());
            found.iter().position(|one| *one == this)
        };
        self.model.told[settled..].sort_by_key(order);
        let told: Vec<(String, Value)> =
            self.model.told.iter().map(|(of_type, data)| (json!(of_type).to_string(), data.clone())).collect();
        assert_eq!(found, told, "what subscribers are told");
        let ids: BTreeSet<String> = events.iter().map(|event| event["id"].to_string()).collect();
        assert_eq!(ids.len(), events.len());
    }

    /// What the act has touched is another now, and nothing else is; of the other organization nothing ever.
    fn check_changes(&mut self, now: &Shot) {
        let touched = std::mem::take(&mut self.model.touched);
        let changed = changes(&self.before, now, &self.ours);
        let is_of = |key: &String, what: &String| key.contains(what.as_str());
        for key in &changed {
            assert!(touched.iter().any(|what| is_of(key, what)), "{key} has changed");
        }
        // A claim may have come and gone since; those that there are, `check_due` knows.
        for what in touched.iter().filter(|what| !what.starts_with("PENDING#")) {
            assert!(changed.iter().any(|key| is_of(key, what)), "{what} has not changed");
        }
        assert_eq!(changes(&self.before, now, &self.theirs), BTreeSet::new());
        // What was told stays as it was told.
        let (before, after) = (self.before.events(self.ours.id), now.events(self.ours.id));
        assert!(after.starts_with(&before) || before.iter().all(|event| after.contains(event)));
    }

    /// What is due is the end of every proposal that waits, and that alone; and so is what claims an agreement.
    fn check_due(&self, now: &Shot) {
        let org = &self.ours;
        let due: BTreeSet<String> = now.due(org.id).into_iter().map(|(_, sort)| sort).collect();
        let (events, due): (Vec<String>, Vec<String>) = due.into_iter().partition(|key| key.starts_with("EVENT#"));
        let told = now.events(org.id);
        let is_told = |key: &String| told.iter().any(|event| key.ends_with(event["id"].as_str().expect("an id")));
        assert!(events.iter().all(is_told), "{events:?}");
        let open: Vec<usize> = self.model.undecided().collect();
        let entry = |at: &usize| {
            let proposal = &self.model.proposals[*at];
            format!("PROPOSAL#{:015}#{}#{}", proposal.expires_at.unix_ms(), org.id, proposal.id)
        };
        let expected: BTreeSet<String> = open.iter().map(entry).collect();
        assert_eq!(due.into_iter().collect::<BTreeSet<_>>(), expected, "what is due");
        let claim = |row: &&Value| row["pk"].as_str().is_some_and(|pk| pk.contains("#PENDING#"));
        let found: BTreeMap<String, String> = now
            .of_organization(org.id)
            .into_iter()
            .filter(claim)
            .map(|row| (rows::key(row).0, row["proposal_id"].as_str().expect("an id").to_owned()))
            .collect();
        let claim =
            |at: &usize| (format!("ORG#{}#{}", org.id, self.model.claim(*at)), self.model.proposals[*at].id.clone());
        assert_eq!(found, open.iter().map(claim).collect(), "what waits for a decision");
    }

    /// Every list, whole and through every filter.
    async fn check_lists(&mut self) {
        for kind in Kind::ALL {
            self.list(&Ask::all(kind)).await;
            self.list(&Ask { limit: 3, offset: 2, ..Ask::all(kind) }).await;
        }
        // Contacts and workspaces are in a list as they are by themselves.
        for kind in [Kind::Agreements, Kind::Proposals] {
            for at in 0..self.model.ids(kind).len() {
                self.get(kind, Some(at)).await;
            }
        }
        for lifecycle in ["draft", "active", "completed", "cancelled", "expired"] {
            self.list(&Ask { state: Some(lifecycle), ..Ask::all(Kind::Agreements) }).await;
        }
        for state in ["pending", "confirmed", "declined", "expired"] {
            self.list(&Ask { state: Some(state), ..Ask::all(Kind::Proposals) }).await;
        }
    }

    /// What has been published or cancelled was confirmed, and of what waits there is one of each action: from the
    /// answers alone, without the model.
    async fn check_rules(&self) {
        let proposals = self.ours.all(Kind::Proposals.path()).await;
        for agreement in self.ours.all(Kind::Agreements.path()).await {
            let count = |action: ProposalAction, state: &str| {
                let of = |one: &&Value| {
                    one["agreement_id"] == agreement["id"] && one["action"] == action.as_str() && one["state"] == state
                };
                proposals.iter().filter(of).count()
            };
            let [publish, cancel] = ACTIONS;
            for action in ACTIONS {
                assert!(count(action, "pending") <= 1, "{agreement}");
            }
            assert_eq!(count(publish, "confirmed"), usize::from(!agreement["published_at"].is_null()), "{agreement}");
            assert_eq!(count(cancel, "confirmed"), usize::from(!agreement["cancelled_at"].is_null()), "{agreement}");
            let is_in_effect = agreement["lifecycle"] == "active";
            assert!(!is_in_effect || !agreement["published_at"].is_null(), "{agreement}");
        }
    }

    /// What each event tells is seen in the record that it names, at the same moment.
    async fn check_events_are_shown(&self) {
        let moment = |value: &Value| value.as_str().expect("a moment").parse::<Timestamp>().expect("a moment");
        let mut records = Vec::new();
        for kind in Kind::ALL {
            records.extend(self.ours.all(kind.path()).await);
        }
        for event in Shot::of(self.ours.stack().table()).await.events(self.ours.id) {
            let (at, of_type) = (moment(&event["created_at"]), event["type"].as_str().expect("a type"));
            let of = |id: &str| {
                let named = |record: &&Value| record["id"] == event["data"][id];
                records.iter().find(named).unwrap_or_else(|| panic!("no record of {event}"))
            };
            let (shown, state) = match of_type {
                "proposal.created" => (&of("proposal_id")["created_at"], None),
                "proposal.confirmed" | "proposal.declined" => {
                    (&of("proposal_id")["decided_at"], Some(&of("proposal_id")["state"]))
                }
                "proposal.expired" => (&of("proposal_id")["expires_at"], Some(&of("proposal_id")["state"])),
                "agreement.published" => (&of("agreement_id")["published_at"], None),
                "workspace.activated" => (&of("workspace_id")["activated_at"], None),
                other => panic!("{other} is told of nothing that happens here"),
            };
            // That a time was over is told when it is written down.
            let is_of_then = if of_type == "proposal.expired" { moment(shown) <= at } else { moment(shown) == at };
            assert!(is_of_then, "{event}: {shown}");
            assert!(
                state.is_none_or(|state| of_type.ends_with(state.as_str().expect("a state"))),
                "{event}: {state:?}"
            );
        }
    }

    /// The other organization sees none of it.
    async fn check_that_others_see_nothing(&mut self) {
        for kind in Kind::ALL {
            let ids: BTreeSet<&str> = self.model.ids(kind).into_iter().collect();
            for record in self.theirs.all(kind.path()).await {
                assert!(!ids.contains(record["id"].as_str().expect("an id")), "{record}");
            }
            if let Some(id) = ids.last() {
                self.theirs.get(format!("{}/{id}", kind.path())).send().await.refused(404);
            }
        }
        let of_theirs =
            [("workspace_id", Kind::Agreements, Kind::Workspaces), ("agreement_id", Kind::Proposals, Kind::Agreements)];
        for (filter, listed, of) in of_theirs {
            if let Some(id) = self.model.ids(of).first() {
                let page = self.theirs.get(listed.path()).query(filter, id).send().await.ok(200);
                assert_eq!((&page["data"], &page["pagination"]["total"]), (&json!([]), &json!(0)));
            }
        }
    }

    /// Whoever hears of what is due passes all of it on, and nothing is left but what waits.
    async fn check_that_the_outbox_drains(&mut self) {
        self.tick().await;
        self.check().await;
        assert_eq!(self.clock.first_tick().await.failed, 0);
        let now = Shot::of(self.ours.stack().table()).await;
        assert!(
            now.due(self.ours.id).iter().all(|(_, sort)| !sort.starts_with("EVENT#")),
            "what is left in the outbox"
        );
        self.check_due(&now);
    }
}

/// The keys of the rows of an organization that are other than they were, but for what it has told.
fn changes(before: &Shot, after: &Shot, org: &Org) -> BTreeSet<String> {
    let by_key = |shot: &'_ Shot| -> BTreeMap<String, Value> {
        let rows = shot.of_organization(org.id).into_iter();
        let rows = rows.map(|row| (rows::key(row), row.clone()));
        let rows = rows.filter(|((pk, _), _)| !pk.contains("#EVENT#"));
        rows.map(|((pk, sk), row)| (format!("{pk}/{sk}"), row)).collect()
    };
    let (before, after) = (by_key(before), by_key(after));
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).cloned().collect()
}

fn decision(who: Who, sheet: Sheet, choice: Choice) -> Deed {
    Deed::Decide { who, sheet, choice, note: format!("We {} it.", choice.as_str()) }
}

impl Edit {
    /// Makes the change; `contact` gives the id of one.
    fn make<'a>(self, draft: &mut Agreement, contact: impl Fn(usize) -> &'a String) {
        let (now, label) = (Timestamp::now(), |text| Label::parse(text).expect("a label"));
        match self {
            Self::AddStage(stage) => {
                let (with_stage, id) = draft.add_stage(label("Step"), [].into(), now).expect("a stage");
                *draft = with_stage;
                if let Stage::Approval(who) = stage {
                    let takes_part =
                        |who| draft.participants.iter().find(|one| one.contact_id.to_string() == *contact(who));
                    let participant_ids =
                        who.map(|who| takes_part(who).expect("a participant").id).into_iter().collect();
                    let rule = GateRule::ParticipantApproval { participant_ids };
                    *draft = draft.add_gate(id, rule, now).expect("a gate").0;
                }
            }
            Self::RemoveStage(at) => *draft = draft.remove_stage(draft.stages[at].id, now).expect("a stage"),
            Self::AddDocument => *draft = draft.add_document(label("Terms"), None, now).expect("a document").0,
            Self::ExpireInPast => draft.expires_at = Some(now),
            Self::Mend => {
                draft.expires_at = None;
                for document in &mut draft.documents {
                    document.content = Some(DocumentContent { sha256: "2".repeat(64), size_bytes: 2 });
                }
            }
        }
    }
}

/// One of several, if there are any.
fn one_of<T>(rng: &mut Rng, all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    if all.is_empty() { None } else { Some(all.swap_remove(rng.usize(..all.len()))) }
}

// What is drawn.
impl History {
    /// Something that can happen now.
    fn draw(&mut self) -> Act {
        loop {
            if let Some(act) = self.try_draw() {
                return act;
            }
        }
    }

    fn try_draw(&mut self) -> Option<Act> {
        let choice = *one_of(&mut self.rng, &[Choice::Confirm, Choice::Confirm, Choice::Decline])?;
        Some(match self.rng.u32(..100) {
            0..23 => {
                let call = if self.rng.bool() { self.draw_propose()? } else { self.draw_call()? };
                let key = self.draw_key(&call);
                Act::Write(call, key)
            }
            23..27 => {
                let (key, call) = one_of(&mut self.rng, &self.keyed)?.clone();
                Act::Write(call, Some(key))
            }
            27..29 => {
                // A key that was used for something else.
                let (key, _) = one_of(&mut self.rng, &self.keyed)?.clone();
                let call = self.draw_call().filter(|call| !is_patch(call))?;
                Act::Write(call, Some(key))
            }
            29..33 => {
                let call = self.draw_call()?;
                let key = self.draw_key(&call);
                match call {
                    // What only differs in when it comes.
                    Call::Propose { .. } | Call::AddParticipant { .. } | Call::Join { .. } => {}
                    _ if key.is_none() => return None,
                    _ => {}
                }
                Act::WriteBoth([(call.clone(), key.clone()), (call, key)])
            }
            33 => Act::WriteByReader(self.draw_call()?),
            34..36 => {
                let kind = self.draw_kind()?;
                Act::Get(kind, self.draw_record(kind))
            }
            36..38 => Act::List(self.draw_ask()?),
            38..41 => {
                let by = one_of(&mut self.rng, [Side::Ours, Side::Theirs])?;
                Act::Trespass(by, self.rng.usize(..100))
            }
            41..43 => {
                let who = one_of(&mut self.rng, [Who::First, Who::Foreign])?;
                let kind = self.draw_kind()?;
                Act::Look(who, kind, self.draw_record(kind))
            }
            43..49 => Act::Open(self.draw_proposal()?),
            49..66 => Act::Decide(self.draw_who(), self.draw_proposal()?, choice),
            66..73 => {
                // Rather one that was opened lately.
                let open = self.sheets.len();
                let sheet = one_of(&mut self.rng, open.saturating_sub(4)..open)?;
                Act::DecideLate(self.draw_who(), sheet, choice)
            }
            73..77 => {
                let proposal = self.draw_pending()?;
                let other = one_of(&mut self.rng, [Choice::Confirm, Choice::Decline])?;
                Act::DecideBoth(proposal, [choice, other])
            }
            77..81 => {
                let proposal = self.draw_pending()?;
                let agreement = self.model.proposals[proposal].agreement;
                let contact = one_of(&mut self.rng, 0..self.model.contacts.len())?;
                let call = match self.rng.u8(..2) {
                    0 => Call::AddParticipant { agreement, contact, roles: vec![ROLES[self.rng.usize(..ROLES.len())]] },
                    _ => self.draw_email(contact),
                };
                Act::DecideDuring(proposal, choice, call)
            }
            81..83 => Act::Activate(self.draw_who(), one_of(&mut self.rng, 0..self.model.workspaces.len())?),
            83 => Act::ActivateBoth(one_of(&mut self.rng, 0..self.model.workspaces.len())?),
            84..93 => {
                let agreement = self.draw_draft()?;
                let known = &self.model.agreements[agreement];
                let who = one_of(&mut self.rng, &known.participants).map(|(contact, _)| *contact);
                let edit = match self.rng.u8(..16) {
                    0 => Edit::AddStage(Stage::Empty),
                    1 => Edit::AddStage(Stage::Approval(None)),
                    2 | 3 => Edit::AddStage(Stage::Approval(Some(who?))),
                    4 => Edit::RemoveStage(one_of(&mut self.rng, 0..known.stages.len())?),
                    5 => Edit::AddDocument,
                    6 => Edit::ExpireInPast,
                    _ => Edit::Mend,
                };
                Act::Edit(agreement, edit)
            }
            93..97 => Act::LetExpire(self.draw_pending()?),
            _ => Act::Tick,
        })
    }

    /// A proposal, mostly one that can be made; else mostly of a draft in whose way something is.
    fn draw_propose(&mut self) -> Option<Call> {
        let is_draft = |at: &usize| self.model.agreements[*at].lifecycle == Lifecycle::Draft;
        let (drafts, ended): (Vec<usize>, Vec<usize>) = (0..self.model.agreements.len()).partition(is_draft);
        let of = |agreement: &usize| ACTIONS.map(|action| Call::Propose { agreement: *agreement, action });
        let can_be = |call: &Call| self.model.reply(&Deed::Write { call: call.clone(), key: None }).is_done();
        let (good, blocked): (Vec<Call>, Vec<Call>) = drafts.iter().flat_map(of).partition(can_be);
        match self.rng.u8(..10) {
            0..6 => one_of(&mut self.rng, good),
            6..9 => one_of(&mut self.rng, blocked),
            _ => one_of(&mut self.rng, ended.iter().flat_map(of)),
        }
    }

    fn draw_call(&mut self) -> Option<Call> {
        let n = self.acts.len();
        let contact = one_of(&mut self.rng, 0..self.model.contacts.len())?;
        let workspace = one_of(&mut self.rng, 0..self.model.workspaces.len())?;
        Some(match self.rng.u32(..100) {
            0..4 => {
                let email = self.rng.bool().then(|| format!("contact-{n}@people.example"));
                let reference = self.rng.u8(..6);
                let reference = (reference < 3).then(|| format!("crm-{reference}"));
                Call::NewContact { name: format!("Contact {n}"), email, reference }
            }
            4..18 => self.draw_email(contact),
            18..24 => Call::Rename { contact, name: format!("Contact {contact} once {n}") },
            24..26 => Call::NewWorkspace { name: format!("Workspace {n}") },
            26..29 => Call::Join { workspace, contact },
            29..36 => Call::NewAgreement { workspace, name: format!("Deal {n}") },
            36..72 => {
                let roles: Vec<&str> = ROLES.into_iter().filter(|_| self.rng.bool()).collect();
                let roles = if roles.is_empty() { vec!["approver"] } else { roles };
                Call::AddParticipant { agreement: self.draw_agreement()?, contact, roles }
            }
            _ => self.draw_propose()?,
        })
    }

    fn draw_email(&mut self, contact: usize) -> Call {
        let email = (self.rng.u8(..3) > 0).then(|| format!("contact-{contact}@people.example"));
        Call::SetEmail { contact, email }
    }

    /// A new key for a call, or none.
    fn draw_key(&mut self, call: &Call) -> Option<String> {
        (!is_patch(call) && self.rng.bool()).then(|| format!("key-{}", self.acts.len()))
    }

    fn draw_kind(&mut self) -> Option<Kind> {
        one_of(&mut self.rng, Kind::ALL)
    }

    /// A record of a kind, or none.
    fn draw_record(&mut self, kind: Kind) -> Option<usize> {
        one_of(&mut self.rng, 0..self.model.ids(kind).len()).filter(|_| self.rng.u8(..5) > 0)
    }

    fn draw_ask(&mut self) -> Option<Ask> {
        let kind = self.draw_kind()?;
        let (states, within): (&[&'static str], usize) = match kind {
            Kind::Contacts | Kind::Workspaces => (&[], 0),
            Kind::Agreements => (&["draft", "active", "cancelled"], self.model.workspaces.len()),
            Kind::Proposals => (&["pending", "confirmed", "declined", "expired"], self.model.agreements.len()),
        };
        let state = one_of(&mut self.rng, states).copied().filter(|_| self.rng.bool());
        let within = one_of(&mut self.rng, 0..within).filter(|_| self.rng.u8(..3) == 0);
        let words = ["contact 1", "WORKSPACE", "deal", " once "];
        let search = one_of(&mut self.rng, words).filter(|_| kind != Kind::Proposals && self.rng.bool());
        let (limit, offset) = (self.rng.usize(1..=8), self.rng.usize(..5));
        Some(Ask { kind, search: search.map(str::to_owned), state, within, limit, offset })
    }

    /// Mostly a member.
    fn draw_who(&mut self) -> Who {
        match self.rng.u8(..12) {
            0 => Who::Foreign,
            1 => Who::Forged,
            2 => Who::SignedOut,
            3..6 => Who::Second,
            _ => Who::First,
        }
    }

    /// Any agreement, mostly a draft.
    fn draw_agreement(&mut self) -> Option<usize> {
        if self.rng.u8(..4) > 0 { self.draw_draft() } else { one_of(&mut self.rng, 0..self.model.agreements.len()) }
    }

    fn draw_draft(&mut self) -> Option<usize> {
        let is_draft = |at: &usize| self.model.agreements[*at].lifecycle == Lifecycle::Draft;
        one_of(&mut self.rng, (0..self.model.agreements.len()).filter(is_draft))
    }

    /// Any proposal, mostly one that waits.
    fn draw_proposal(&mut self) -> Option<usize> {
        if self.rng.u8(..5) > 0 { self.draw_pending() } else { one_of(&mut self.rng, 0..self.model.proposals.len()) }
    }

    fn draw_pending(&mut self) -> Option<usize> {
        let is_pending = |at: &usize| self.model.proposals[*at].end == End::Pending;
        one_of(&mut self.rng, (0..self.model.proposals.len()).filter(is_pending))
    }
}

/// Whether a call takes no idempotency key.
fn is_patch(call: &Call) -> bool {
    matches!(call, Call::SetEmail { .. } | Call::Rename { .. })
}

/// Runs a history, and tells what it came to.
fn history(seed: u64, stride: usize) -> BTreeMap<String, usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut history = History::begin(seed, stride).await;
        history.run().await;
        std::mem::take(&mut history.met)
    })
}

/// What random histories come to, whoever wins where two act at once: a history that never gets there proves nothing.
const COMMON_ENDS: [&str; 10] = [
    "agreement.published",
    "proposal.confirmed",
    "proposal.created",
    "proposal.declined",
    "proposal.expired",
    "workspace.activated",
    "create_proposal replayed",
    "create_proposal wrong_state",
    "create_proposal no_stages",
    "confirm_proposal conflict",
];

/// All that a history can come to, however rarely.
const ENDS: [&str; 32] = [
    "agreement.published",
    "proposal.confirmed",
    "proposal.created",
    "proposal.declined",
    "proposal.expired",
    "workspace.activated",
    "expire_proposal ok",
    "create_proposal conflict",
    "create_proposal replayed",
    "create_proposal no_participants",
    "create_proposal no_stages",
    "create_proposal stage_empty",
    "create_proposal gate_participant_missing",
    "create_proposal document_missing",
    "create_proposal expiry_in_past",
    "create_proposal participant_email_missing",
    "create_proposal proposal_pending",
    "create_proposal wrong_state",
    "add_agreement_participant wrong_state",
    "activate_workspace ok",
    "confirm_proposal ok",
    "confirm_proposal forbidden",
    "confirm_proposal not_found",
    "confirm_proposal unauthenticated",
    "confirm_proposal It was already confirmed",
    "confirm_proposal It was already declined",
    "confirm_proposal The time to decide is over",
    "confirm_proposal The agreement has changed",
    "confirm_proposal Something that the agreement refers to has changed",
    "confirm_proposal It can’t be confirmed yet",
    "decline_proposal ok",
    "decline_proposal It was already confirmed",
];

/// What is rare is met here, act by act.
#[tokio::test]
async fn the_histories_know_every_end() {
    let [publish, cancel] = ACTIONS.map(|action| move |agreement| Call::Propose { agreement, action });
    let add = |agreement, contact| Call::AddParticipant { agreement, contact, roles: vec!["observer"] };
    let email = |contact, email: Option<&str>| Call::SetEmail { contact, email: email.map(str::to_owned) };
    let (write, keyed) = (|call| Act::Write(call, None), |call| Act::Write(call, Some("one".to_owned())));
    let (first, confirm, decline) = (Who::First, Choice::Confirm, Choice::Decline);
    let late = |sheet, choice| Act::DecideLate(first, sheet, choice);
    let mut history = History::begin(0, 1).await;
    history.set_up().await;
    // A draft in whose way is all that there can be.
    history.write(Call::NewAgreement { workspace: 0, name: "Deal 1".to_owned() }).await;
    history.write(publish(1)).await;
    history.write(add(1, 1)).await;
    let stages = [Stage::Empty, Stage::Approval(None), Stage::Approval(Some(1))].map(Edit::AddStage);
    for edit in stages.into_iter().chain([Edit::AddDocument, Edit::ExpireInPast]) {
        history.act(Act::Edit(1, edit)).await;
    }
    for act in [
        write(email(1, None)),
        write(publish(1)),
        // Keys, and a second proposal.
        keyed(publish(0)),
        keyed(publish(0)),
        keyed(cancel(0)),
        write(publish(0)),
        // Whoever may not decide, and pages of which something has changed.
        Act::Decide(Who::SignedOut, 0, confirm),
        Act::Decide(Who::Forged, 0, confirm),
        Act::Decide(Who::Foreign, 0, confirm),
        Act::Open(0),
        write(Call::Rename { contact: 0, name: "Somebody".to_owned() }),
        late(0, confirm),
        Act::Open(0),
        write(add(0, 1)),
        late(1, confirm),
        write(email(0, None)),
        Act::Decide(first, 0, confirm),
        write(email(0, Some("somebody@people.example"))),
        // Time that is over: written down with what takes the place, and by the clock.
        Act::Open(0),
        Act::LetExpire(0),
        late(2, confirm),
        Act::List(Ask { state: Some("pending"), ..Ask::all(Kind::Proposals) }),
        write(publish(0)),
        Act::LetExpire(1),
        Act::Tick,
        // Every decision, and what comes after it.
        write(publish(0)),
        Act::Open(2),
        write(cancel(0)),
        Act::Open(3),
        Act::Decide(Who::Second, 2, confirm),
        late(3, decline),
        late(3, confirm),
        write(add(0, 1)),
        write(publish(0)),
        Act::Decide(first, 3, decline),
        late(4, confirm),
        Act::Activate(first, 0),
    ] {
        history.act(act).await;
    }
    history.finish().await;
    for end in ENDS {
        assert!(history.met.contains_key(end), "{end}: {:#?}", history.met);
    }
}

#[test]
fn every_history_is_sound() {
    const FIXED: [u64; 4] = [4, 9, 17, 19];
    const NEW_DEFAULT: u64 = 1;
    const AT_A_TIME: usize = 3;
    const STRIDE: usize = 4;
    let asked = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let new = asked(NEW).unwrap_or(NEW_DEFAULT);
    let (seeds, is_whole): (Vec<u64>, bool) = match asked(SEED) {
        Some(seed) => (vec![seed], false),
        None => (FIXED.into_iter().chain((0..new).map(|_| Rng::new().u64(..))).collect(), true),
    };
    println!("{SEED}: {seeds:?}");
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let met: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let work = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            match catch_unwind(AssertUnwindSafe(|| history(*seed, if is_whole { STRIDE } else { 1 }))) {
                Ok(came_to) => {
                    let mut met = met.lock().unwrap();
                    for (what, count) in came_to {
                        *met.entry(what).or_default() += count;
                    }
                }
                Err(_) => failed.lock().unwrap().push(format!("{SEED}={seed}")),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    let met = met.into_inner().unwrap();
    println!("{met:#?}");
    let missed: Vec<&str> = COMMON_ENDS.into_iter().filter(|end| !met.contains_key(*end)).collect();
    assert!(!is_whole || missed.is_empty(), "no history came to {missed:?}");
}
