//! What must be so: an organization as far as the histories know it. It is asked what a deed has to be answered with,
//! then told that the deed was done. Nothing here knows how the service does it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shared::domain::agreement::Lifecycle;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::domain::time::Timestamp;
use tests::Client;
use tests::client::Request;
use tests::drafts::Coming;

/// Both actions.
pub const ACTIONS: [ProposalAction; 2] = [ProposalAction::PublishAgreement, ProposalAction::CancelAgreement];

/// An organization, and what it has told.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub contacts: Vec<Contact>,
    pub workspaces: Vec<Workspace>,
    pub agreements: Vec<Agreement>,
    pub proposals: Vec<Proposal>,
    /// The review pages that are open.
    pub sheets: Vec<Sheet>,
    /// The first success with each idempotency key.
    firsts: BTreeMap<String, (Call, u16, Vec<u8>)>,
    /// What subscribers were told, in order: the type and the data.
    pub told: Vec<(&'static str, Value)>,
    /// How many of the last of these the clock told, in whatever order.
    pub told_at_once: usize,
    /// What has changed since the last look at the table: a piece of the key of each row that must be another now.
    pub touched: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub struct Contact {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    pub changes: u32,
}

#[derive(Debug, Clone)]
pub struct Workspace {
    pub id: String,
    pub is_activated: bool,
    pub people: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
pub struct Agreement {
    pub id: String,
    name: String,
    workspace: usize,
    /// As it is written down.
    pub lifecycle: Lifecycle,
    was_published: bool,
    /// Who takes part.
    pub participants: Vec<usize>,
    pub stages: Vec<Stage>,
    /// How many of these are done, as it is written down.
    done: usize,
    /// Whether the countdown of the stage after them has ended, which nobody has written down.
    has_ended: bool,
    pub expiry: Expiry,
    changes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A contact approves, which nobody here does.
    Approval(usize),
    /// A countdown to a moment that is over.
    Past,
    /// A countdown of hours: it ends when the history lets it.
    Hours(u32),
}

/// When an agreement ends, whatever has been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    Never,
    Later,
    Over,
}

#[derive(Debug, Clone)]
pub struct Proposal {
    pub id: String,
    action: ProposalAction,
    pub agreement: usize,
    /// As it is shown.
    pub state: ProposalState,
    /// Whether nobody has written down an end: also when its time is over.
    pub is_open: bool,
    pub expires_at: Timestamp,
    /// Which member decided, and what they said.
    decided: Option<(String, String)>,
}

/// A call of the API that writes. The same call is the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    Change { contact: usize, name: String, email: Option<String> },
    NewAgreement { workspace: usize, name: String },
    AddParticipant { agreement: usize, contact: usize },
    Propose { agreement: usize, action: ProposalAction },
}

impl Call {
    /// Its operation, and how it is sent.
    pub fn request(&self, client: &Client, model: &Model) -> (&'static str, Request) {
        let agreement = |at: &usize| &model.agreements[*at].id;
        match self {
            Self::Change { contact, name, email } => {
                let path = format!("/api/v1/contacts/{}", model.contacts[*contact].id);
                ("update_contact", client.patch(path, &json!({"display_name": name, "email": email})))
            }
            Self::NewAgreement { workspace, name } => {
                let body = json!({"workspace_id": model.workspaces[*workspace].id, "name": name});
                ("create_agreement", client.post("/api/v1/agreements", &body))
            }
            Self::AddParticipant { agreement: to, contact } => {
                let path = format!("/api/v1/agreements/{}/participants", agreement(to));
                let body = json!({"contact_id": model.contacts[*contact].id, "roles": ["approver"]});
                ("add_agreement_participant", client.post(path, &body))
            }
            Self::Propose { agreement: at, action } => {
                let body = json!({"action": action.as_str(), "agreement_id": agreement(at)});
                ("create_proposal", client.post("/api/v1/proposals", &body))
            }
        }
    }
}

/// A review page that was opened: what its form carries, and all that must still be so when somebody confirms.
#[derive(Debug, Clone)]
pub struct Sheet {
    pub proposal: usize,
    pub version: String,
    /// How often the agreement had changed.
    agreement: u32,
    around: Around,
}

/// Whether the workspace is activated, and how often who takes part has changed.
type Around = (bool, BTreeMap<usize, u32>);

/// What is done by one request. Members and the pages that they have open are told apart by their places.
#[derive(Debug, Clone)]
pub enum Deed {
    /// A token calls, with an idempotency key or without.
    Write { call: Call, key: Option<String> },
    /// A member decides on an open page: `confirm` or `decline`.
    Decide { who: usize, sheet: usize, choice: &'static str },
    /// A member activates a workspace.
    Activate { who: usize, workspace: usize },
}

/// How a deed has to be answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// It is a success, and takes effect.
    Done(u16),
    /// Once more as it was answered first.
    Again(u16, Vec<u8>),
    /// The key was used for something else.
    KeyConflict,
    /// A field is wrong, with these codes, sorted.
    Refused(&'static str, Vec<&'static str>),
    /// Nothing was decided, and the page says why.
    Undecided(u16, &'static str),
}

impl Reply {
    fn refused(field: &'static str, mut codes: Vec<&'static str>) -> Self {
        codes.sort_unstable();
        Self::Refused(field, codes)
    }

    /// The status, and the code with which it is on record.
    pub fn on_record(&self) -> (u16, &'static str) {
        match self {
            Self::Done(status) => (*status, "ok"),
            Self::Again(status, _) => (*status, "replayed"),
            Self::KeyConflict | Self::Undecided(409, _) => (409, "conflict"),
            Self::Refused(..) | Self::Undecided(..) => (422, "invalid_request"),
        }
    }

    /// What it says, in a word.
    pub fn says(&self) -> String {
        match self {
            Self::Refused(_, codes) => codes.join(" "),
            Self::Undecided(_, text) => (*text).to_owned(),
            _ => self.on_record().1.to_owned(),
        }
    }
}

// How a deed has to be answered.
impl Model {
    pub fn reply(&self, deed: &Deed) -> Reply {
        match deed {
            Deed::Write { call, key } => match key.as_ref().and_then(|key| self.firsts.get(key)) {
                Some((first, status, bytes)) if first == call => Reply::Again(*status, bytes.clone()),
                Some(_) => Reply::KeyConflict,
                None => self.reply_to_call(call),
            },
            Deed::Decide { sheet, choice, .. } => self.reply_to_decision(&self.sheets[*sheet], choice),
            Deed::Activate { .. } => Reply::Done(303),
        }
    }

    fn reply_to_call(&self, call: &Call) -> Reply {
        match call {
            Call::NewAgreement { .. } => Reply::Done(201),
            Call::Change { .. } => Reply::Done(200),
            Call::AddParticipant { agreement, contact } => {
                let agreement = &self.agreements[*agreement];
                if agreement.lifecycle != Lifecycle::Draft {
                    return Reply::refused("path.agreement_id", vec!["wrong_state"]);
                }
                Reply::Done(if agreement.participants.contains(contact) { 200 } else { 201 })
            }
            Call::Propose { agreement, action } => {
                let in_the_way = self.in_the_way(*agreement, *action);
                if !in_the_way.is_empty() {
                    return Reply::refused("agreement_id", in_the_way);
                }
                if self.is_proposed(*agreement, *action) {
                    return Reply::refused("agreement_id", vec!["proposal_pending"]);
                }
                Reply::Done(201)
            }
        }
    }

    fn reply_to_decision(&self, sheet: &Sheet, choice: &str) -> Reply {
        let proposal = &self.proposals[sheet.proposal];
        match proposal.state {
            ProposalState::Pending => {}
            ProposalState::Expired => return Reply::Undecided(409, "The time to decide is over"),
            ProposalState::Confirmed => return Reply::Undecided(409, "It was already confirmed"),
            ProposalState::Declined => return Reply::Undecided(409, "It was already declined"),
        }
        if choice == "confirm" {
            let now = self.showed(sheet.proposal);
            if sheet.agreement != now.0 {
                return Reply::Undecided(409, "The agreement has changed");
            }
            if sheet.around != now.1 {
                return Reply::Undecided(409, "Something that the agreement refers to has changed");
            }
            match self.in_the_way(proposal.agreement, proposal.action).as_slice() {
                [] => {}
                ["wrong_state"] => return Reply::Undecided(422, "It can’t be confirmed any more"),
                _ => return Reply::Undecided(422, "It can’t be confirmed yet"),
            }
        }
        Reply::Done(303)
    }

    /// What keeps an action from being proposed and confirmed. What time has done counts, written down or not.
    fn in_the_way(&self, at: usize, action: ProposalAction) -> Vec<&'static str> {
        let agreement = &self.agreements[at];
        match (action, agreement.as_of_now().0) {
            (ProposalAction::PublishAgreement, Lifecycle::Draft) => self.blockers(agreement),
            (ProposalAction::CancelAgreement, Lifecycle::Draft | Lifecycle::Active) => Vec::new(),
            _ => vec!["wrong_state"],
        }
    }

    /// What is in the way of publishing a draft, but for activation.
    fn blockers(&self, draft: &Agreement) -> Vec<&'static str> {
        let approver = |stage: &Stage| if let Stage::Approval(who) = stage { Some(*who) } else { None };
        let approvers: BTreeSet<usize> = draft.stages.iter().filter_map(approver).collect();
        let without = approvers.into_iter().filter(|contact| self.contacts[*contact].email.is_none());
        let counts = [
            ("no_participants", usize::from(draft.participants.is_empty())),
            ("participant_email_missing", without.count()),
            ("no_stages", usize::from(draft.stages.is_empty())),
            ("expiry_in_past", usize::from(draft.expiry == Expiry::Over)),
        ];
        counts.into_iter().flat_map(|(code, count)| std::iter::repeat_n(code, count)).collect()
    }

    fn is_proposed(&self, agreement: usize, action: ProposalAction) -> bool {
        self.claiming(agreement, action).is_some_and(|at| self.proposals[at].state == ProposalState::Pending)
    }

    /// Those proposals of which no end has been written down.
    pub fn open_proposals(&self) -> impl Iterator<Item = usize> {
        (0..self.proposals.len()).filter(|at| self.proposals[*at].is_open)
    }

    /// The proposal of which a new one of an action takes the place.
    fn claiming(&self, agreement: usize, action: ProposalAction) -> Option<usize> {
        let is_of = |of: &Proposal| of.agreement == agreement && of.action == action;
        self.open_proposals().find(|at| is_of(&self.proposals[*at]))
    }

    /// Somebody opens a review page and leaves it open.
    pub fn open(&mut self, proposal: usize, version: String) {
        let (agreement, around) = self.showed(proposal);
        self.sheets.push(Sheet { proposal, version, agreement, around });
    }

    fn showed(&self, proposal: usize) -> (u32, Around) {
        let agreement = &self.agreements[self.proposals[proposal].agreement];
        let people = agreement.participants.iter().map(|contact| (*contact, self.contacts[*contact].changes));
        (agreement.changes, (self.workspaces[agreement.workspace].is_activated, people.collect()))
    }
}

impl Agreement {
    /// Where it is, whether or not that is written down: its state, and how many stages are done.
    fn as_of_now(&self) -> (Lifecycle, usize) {
        if self.lifecycle != Lifecycle::Active {
            return (self.lifecycle, self.done);
        }
        let next = self.done + usize::from(self.has_ended);
        let is_past = |stage: &&Stage| **stage == Stage::Past;
        match next + self.stages[next..].iter().take_while(is_past).count() {
            all if all == self.stages.len() => (Lifecycle::Completed, all),
            done if self.expiry == Expiry::Over => (Lifecycle::Expired, done),
            done => (Lifecycle::Active, done),
        }
    }

    /// The moment that the history can let come: the end of a countdown that runs, or its own.
    pub fn can_come(&self, coming: Coming) -> bool {
        match coming {
            Coming::Countdown => self.counts_down() && !self.has_ended && self.expiry != Expiry::Over,
            Coming::Expiry => {
                matches!(self.lifecycle, Lifecycle::Draft | Lifecycle::Active) && self.expiry == Expiry::Later
            }
        }
    }

    fn counts_down(&self) -> bool {
        self.lifecycle == Lifecycle::Active && matches!(self.stages[self.done], Stage::Hours(_))
    }

    /// Whether time takes it further, or has, which nobody has written down.
    pub fn waits_for_time(&self) -> bool {
        self.counts_down() || self.lifecycle == Lifecycle::Active && self.expiry != Expiry::Never
    }
}

// What a deed does.
impl Model {
    /// Does what a deed does, given the answer to it; `member` is whoever decided.
    pub fn apply(&mut self, deed: &Deed, member: &str, status: u16, bytes: &[u8]) {
        match deed {
            Deed::Write { call, key } => {
                if let Some(key) = key {
                    self.firsts.insert(key.clone(), (call.clone(), status, bytes.to_vec()));
                    self.touched.insert(format!("KEY#{key}"));
                }
                self.apply_call(call, &serde_json::from_slice(bytes).expect("JSON"));
            }
            Deed::Decide { sheet, choice, .. } => self.decide(self.sheets[*sheet].proposal, choice, member),
            Deed::Activate { workspace, .. } => self.activate(*workspace, "direct"),
        }
    }

    fn apply_call(&mut self, call: &Call, answer: &Value) {
        let id = answer["id"].as_str().expect("an id").to_owned();
        match call {
            Call::Change { contact, name, email } => {
                let contact = &mut self.contacts[*contact];
                if (&contact.name, &contact.email) != (name, email) {
                    (contact.name, contact.email) = (name.clone(), email.clone());
                    contact.changes += 1;
                    self.touched.insert(id);
                }
            }
            Call::NewAgreement { workspace, name } => {
                self.touched.insert(id.clone());
                self.agreements.push(Agreement {
                    id,
                    name: name.clone(),
                    workspace: *workspace,
                    lifecycle: Lifecycle::Draft,
                    was_published: false,
                    participants: Vec::new(),
                    stages: Vec::new(),
                    done: 0,
                    has_ended: false,
                    expiry: Expiry::Never,
                    changes: 0,
                });
            }
            Call::AddParticipant { agreement: at, contact } => {
                let agreement = &mut self.agreements[*at];
                if agreement.participants.contains(contact) {
                    return;
                }
                agreement.participants.push(*contact);
                let workspace = &mut self.workspaces[agreement.workspace];
                if workspace.people.insert(*contact) {
                    self.touched.insert(workspace.id.clone());
                }
                self.changed(*at);
            }
            Call::Propose { agreement, action } => {
                if let Some(over) = self.claiming(*agreement, *action) {
                    self.expire(over);
                }
                let expires_at = answer["expires_at"].as_str().expect("a moment").parse().expect("a moment");
                let (agreement, action, state) = (*agreement, *action, ProposalState::Pending);
                let proposal = Proposal { id, action, agreement, state, is_open: true, expires_at, decided: None };
                self.proposals.push(proposal);
                self.touch_proposal(self.proposals.len() - 1);
                self.tell_of_proposal("proposal.created", self.proposals.len() - 1);
            }
        }
    }

    fn activate(&mut self, at: usize, authorization: &str) {
        let workspace = &mut self.workspaces[at];
        if !workspace.is_activated {
            workspace.is_activated = true;
            let id = workspace.id.clone();
            self.told.push(("workspace.activated", json!({"workspace_id": id, "authorization": authorization})));
            self.touched.insert(id);
        }
    }

    fn decide(&mut self, at: usize, choice: &str, member: &str) {
        let (action, agreement) = (self.proposals[at].action, self.proposals[at].agreement);
        self.touch_proposal(at);
        let proposal = &mut self.proposals[at];
        (proposal.decided, proposal.is_open) = (Some((member.to_owned(), note_of(choice))), false);
        if choice == "decline" {
            proposal.state = ProposalState::Declined;
            return self.tell_of_proposal("proposal.declined", at);
        }
        proposal.state = ProposalState::Confirmed;
        if action == ProposalAction::PublishAgreement {
            self.activate(self.agreements[agreement].workspace, "proposal");
            self.tell_of_proposal("proposal.confirmed", at);
            let published = &mut self.agreements[agreement];
            (published.lifecycle, published.was_published) = (Lifecycle::Active, true);
            self.tell_of_agreement("agreement.published", agreement);
            self.go_on(agreement);
        } else {
            self.go_on(agreement);
            self.agreements[agreement].lifecycle = Lifecycle::Cancelled;
            self.tell_of_proposal("proposal.confirmed", at);
        }
        self.changed(agreement);
    }

    /// A member sets up what only the app does.
    pub fn set_up(&mut self, at: usize, stages: &[Stage], expiry: Expiry) {
        let draft = &mut self.agreements[at];
        assert_eq!(draft.lifecycle, Lifecycle::Draft);
        (draft.stages, draft.expiry) = (stages.to_vec(), expiry);
        self.changed(at);
    }

    /// The time of a proposal is over from a moment on.
    pub fn let_expire(&mut self, at: usize, expires_at: Timestamp) {
        (self.proposals[at].state, self.proposals[at].expires_at) = (ProposalState::Expired, expires_at);
        self.touch_proposal(at);
    }

    /// A moment that an agreement waits for has come.
    pub fn let_come(&mut self, at: usize, coming: Coming) {
        let agreement = &mut self.agreements[at];
        match coming {
            Coming::Countdown => agreement.has_ended = true,
            Coming::Expiry => agreement.expiry = Expiry::Over,
        }
        self.touched.insert(agreement.id.clone());
    }

    /// The clock writes down what time has done: the operation of each of its acts, with what that is about.
    pub fn tick(&mut self) -> Vec<(&'static str, Vec<String>)> {
        let (mut acts, told) = (Vec::new(), self.told.len());
        let over: Vec<usize> =
            self.open_proposals().filter(|at| self.proposals[*at].state == ProposalState::Expired).collect();
        for at in over {
            self.expire(at);
            let proposal = &self.proposals[at];
            acts.push(("expire_proposal", vec![proposal.id.clone(), self.agreements[proposal.agreement].id.clone()]));
        }
        for at in 0..self.agreements.len() {
            if self.go_on(at) {
                self.changed(at);
                acts.push(("proceed_agreement", vec![self.agreements[at].id.clone()]));
            }
        }
        self.told_at_once = self.told.len() - told;
        acts
    }

    /// Somebody writes down that a proposal's time is over.
    fn expire(&mut self, at: usize) {
        self.proposals[at].is_open = false;
        self.touch_proposal(at);
        self.tell_of_proposal("proposal.expired", at);
    }

    /// Somebody writes down how far an agreement went on; whether that is further than it was.
    fn go_on(&mut self, at: usize) -> bool {
        let agreement = &mut self.agreements[at];
        let before = (agreement.lifecycle, agreement.done);
        let now = agreement.as_of_now();
        ((agreement.lifecycle, agreement.done), agreement.has_ended) = (now, false);
        if now != before && now.0 == Lifecycle::Completed {
            self.tell_of_agreement("agreement.completed", at);
        }
        now != before
    }

    fn changed(&mut self, agreement: usize) {
        self.agreements[agreement].changes += 1;
        self.touched.insert(self.agreements[agreement].id.clone());
    }

    fn touch_proposal(&mut self, at: usize) {
        self.touched.extend([self.proposals[at].id.clone(), self.claim(at)]);
    }

    fn tell_of_agreement(&mut self, of_type: &'static str, at: usize) {
        let agreement = &self.agreements[at];
        self.told.push((of_type, json!({"agreement_id": agreement.id, "name": agreement.name})));
    }

    fn tell_of_proposal(&mut self, of_type: &'static str, at: usize) {
        let Proposal { id, action, agreement, .. } = &self.proposals[at];
        let agreement = &self.agreements[*agreement].id;
        let data = json!({"proposal_id": id, "agreement_id": agreement, "action": action.as_str()});
        self.told.push((of_type, data));
    }

    /// What the key of a proposal's claim ends with.
    pub fn claim(&self, at: usize) -> String {
        let proposal = &self.proposals[at];
        format!("PENDING#{}#{}", self.agreements[proposal.agreement].id, proposal.action.as_str())
    }
}

// What is shown.
impl Model {
    /// All agreements and all proposals.
    pub fn records(&self) -> [Vec<Value>; 2] {
        let agreements = (0..self.agreements.len()).map(|at| self.agreement(at));
        [agreements.collect(), (0..self.proposals.len()).map(|at| self.proposal(at)).collect()]
    }

    /// The record that the success of a call shows.
    pub fn shown_by(&self, call: &Call) -> Value {
        match call {
            Call::Change { contact, name, email } => {
                json!({"id": self.contacts[*contact].id, "display_name": name, "email": email})
            }
            Call::NewAgreement { .. } => self.agreement(self.agreements.len() - 1),
            Call::AddParticipant { contact, .. } => self.participant(*contact),
            Call::Propose { .. } => self.proposal(self.proposals.len() - 1),
        }
    }

    fn agreement(&self, at: usize) -> Value {
        let agreement = &self.agreements[at];
        let is_draft = agreement.lifecycle == Lifecycle::Draft;
        let workspace = &self.workspaces[agreement.workspace];
        let blockers = (!workspace.is_activated).then_some("workspace_not_activated").into_iter();
        let blockers = blockers.chain(self.blockers(agreement)).map(|code| json!({"code": code}));
        let blockers: Vec<Value> = blockers.collect();
        let publish = ProposalAction::PublishAgreement;
        let is_ready = self.in_the_way(at, publish).is_empty() && !self.is_proposed(at, publish);
        let place = |place: usize| match agreement.done {
            done if place < done => ("done", "cleared"),
            done if place == done && agreement.was_published => ("current", "open"),
            _ => ("upcoming", "locked"),
        };
        let stage = |(state, gate): (&str, &str)| json!({"state": state, "gates": [{"state": gate}]});
        json!({
            "id": agreement.id,
            "workspace_id": workspace.id,
            "name": agreement.name,
            "lifecycle": agreement.lifecycle.as_str(),
            "proposal_ready": is_ready,
            "published_at": agreement.was_published,
            "completed_at": agreement.lifecycle == Lifecycle::Completed,
            "cancelled_at": agreement.lifecycle == Lifecycle::Cancelled,
            "expires_at": agreement.expiry != Expiry::Never,
            "publishable": is_draft.then_some(blockers.is_empty()),
            "publish_blockers": is_draft.then_some(blockers),
            "participants": agreement.participants.iter().map(|part| self.participant(*part)).collect::<Vec<_>>(),
            "stages": (0..agreement.stages.len()).map(place).map(stage).collect::<Vec<_>>(),
        })
    }

    fn participant(&self, contact: usize) -> Value {
        let Contact { id, name, .. } = &self.contacts[contact];
        json!({"contact_id": id, "display_name": name, "roles": ["approver"]})
    }

    pub fn proposal(&self, at: usize) -> Value {
        let Proposal { id, action, agreement, state, expires_at, decided, .. } = &self.proposals[at];
        let (by, note) = decided.as_ref().map(|(by, note)| (by, note)).unzip();
        json!({
            "id": id,
            "action": action.as_str(),
            "agreement_id": self.agreements[*agreement].id,
            "state": state.as_str(),
            "expires_at": expires_at.to_string(),
            "decided_at": decided.is_some(),
            "decided_by": by,
            "decision_note": note,
        })
    }
}

/// Of what the service shows as much as the model knows: of what it only knows whether it is there that, of a member the
/// id.
pub fn as_known(shown: &Value, known: &Value) -> Value {
    match (shown, known) {
        (_, Value::Object(known)) => {
            known.iter().map(|(name, known)| (name.clone(), as_known(&shown[name], known))).collect()
        }
        (Value::Array(shown), Value::Array(known)) if shown.len() == known.len() => {
            shown.iter().zip(known).map(|(shown, known)| as_known(shown, known)).collect()
        }
        (Value::Null | Value::String(_), Value::Bool(_)) => json!(!shown.is_null()),
        (Value::Object(_), Value::String(_)) => shown["id"].clone(),
        _ => shown.clone(),
    }
}

/// What a member notes who decides.
pub fn note_of(choice: &str) -> String {
    format!("We {choice} it.")
}
