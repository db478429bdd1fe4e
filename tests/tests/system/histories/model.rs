//! What must be so: an organization as far as the histories know it. It is asked what a deed has to be answered with,
//! then told that the deed was done. Nothing here knows how the service does it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shared::domain::agreement::Lifecycle;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::domain::time::Timestamp;
use tests::Client;
use tests::client::Request;

/// What a participant does, in the order in which it is shown.
pub const ROLES: [&str; 4] = ["signer", "approver", "investor", "observer"];
/// Both actions.
pub const ACTIONS: [ProposalAction; 2] = [ProposalAction::PublishAgreement, ProposalAction::CancelAgreement];

/// An organization, and what it has told.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub contacts: Vec<Contact>,
    pub workspaces: Vec<Workspace>,
    pub agreements: Vec<Agreement>,
    pub proposals: Vec<Proposal>,
    /// The first success with each idempotency key.
    pub firsts: BTreeMap<String, First>,
    /// What subscribers were told, in order: the type and the data.
    pub told: Vec<(&'static str, Value)>,
    /// How many of the last of these were told at once, in whatever order.
    pub told_at_once: usize,
    /// What has changed since the last look at the table: a piece of the key of each row that must be another now.
    pub touched: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub struct Contact {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    pub reference: Option<String>,
    changes: u32,
}

#[derive(Debug, Clone)]
pub struct Workspace {
    pub id: String,
    pub name: String,
    pub is_activated: bool,
    pub people: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
pub struct Agreement {
    pub id: String,
    pub name: String,
    pub workspace: usize,
    pub lifecycle: Lifecycle,
    pub was_published: bool,
    /// Who takes part, and the places of their roles.
    pub participants: Vec<(usize, BTreeSet<usize>)>,
    pub stages: Vec<Stage>,
    /// Whether each document has its file.
    pub documents: Vec<bool>,
    /// Whether it expires at a moment that is over.
    pub is_late: bool,
    pub changes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Empty,
    /// Somebody approves; or nobody is named who would.
    Approval(Option<usize>),
}

#[derive(Debug, Clone)]
pub struct Proposal {
    pub id: String,
    pub action: ProposalAction,
    pub agreement: usize,
    pub end: End,
    pub expires_at: Timestamp,
    /// Who took part when it was made.
    people: BTreeSet<usize>,
    /// Which member decided, and what they said.
    pub decided: Option<(String, String)>,
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Pending,
    /// Its time is over, which nobody has written down yet.
    Over,
    Confirmed,
    Declined,
    Expired,
}

impl End {
    pub fn state(self) -> ProposalState {
        match self {
            Self::Pending => ProposalState::Pending,
            Self::Confirmed => ProposalState::Confirmed,
            Self::Declined => ProposalState::Declined,
            Self::Over | Self::Expired => ProposalState::Expired,
        }
    }
}

/// A call of the API that writes, of a token that may. The same call is the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    NewContact { name: String, email: Option<String>, reference: Option<String> },
    SetEmail { contact: usize, email: Option<String> },
    Rename { contact: usize, name: String },
    NewWorkspace { name: String },
    Join { workspace: usize, contact: usize },
    NewAgreement { workspace: usize, name: String },
    AddParticipant { agreement: usize, contact: usize, roles: Vec<&'static str> },
    Propose { agreement: usize, action: ProposalAction },
}

impl Call {
    pub fn operation(&self) -> &'static str {
        match self {
            Self::NewContact { .. } => "create_contact",
            Self::SetEmail { .. } | Self::Rename { .. } => "update_contact",
            Self::NewWorkspace { .. } => "create_workspace",
            Self::Join { .. } => "add_workspace_contact",
            Self::NewAgreement { .. } => "create_agreement",
            Self::AddParticipant { .. } => "add_agreement_participant",
            Self::Propose { .. } => "create_proposal",
        }
    }

    pub fn request(&self, client: &Client, model: &Model) -> Request {
        let contact = |at: &usize| &model.contacts[*at].id;
        let workspace = |at: &usize| &model.workspaces[*at].id;
        let agreement = |at: &usize| &model.agreements[*at].id;
        match self {
            Self::NewContact { name, email, reference } => {
                let mut body = json!({"display_name": name, "kind": "person", "email": email});
                body["external_reference"] = json!(reference);
                client.post("/api/v1/contacts", &body)
            }
            Self::SetEmail { contact: at, email } => {
                client.patch(format!("/api/v1/contacts/{}", contact(at)), &json!({"email": email}))
            }
            Self::Rename { contact: at, name } => {
                client.patch(format!("/api/v1/contacts/{}", contact(at)), &json!({"display_name": name}))
            }
            Self::NewWorkspace { name } => client.post("/api/v1/workspaces", &json!({"name": name})),
            Self::Join { workspace: to, contact: at } => {
                let body = json!({"contact_id": contact(at)});
                client.post(format!("/api/v1/workspaces/{}/contacts", workspace(to)), &body)
            }
            Self::NewAgreement { workspace: to, name } => {
                client.post("/api/v1/agreements", &json!({"workspace_id": workspace(to), "name": name}))
            }
            Self::AddParticipant { agreement: to, contact: at, roles } => {
                let body = json!({"contact_id": contact(at), "roles": roles});
                client.post(format!("/api/v1/agreements/{}/participants", agreement(to)), &body)
            }
            Self::Propose { agreement: at, action } => {
                let body = json!({"action": action.as_str(), "agreement_id": agreement(at)});
                client.post("/api/v1/proposals", &body)
            }
        }
    }
}

/// The first success with an idempotency key.
#[derive(Debug, Clone)]
pub struct First {
    call: Call,
    status: u16,
    bytes: Vec<u8>,
}

/// Whoever sends a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    First,
    Second,
    /// A member of the other organization.
    Foreign,
    /// The first member, with a form of the second one's session.
    Forged,
    SignedOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Confirm,
    Decline,
}

impl Choice {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Decline => "decline",
        }
    }
}

/// A review page that was opened, with what it showed.
#[derive(Debug, Clone)]
pub struct Sheet {
    pub proposal: usize,
    /// What its form carries.
    pub version: String,
    showed: Showed,
}

/// All that must still be so when somebody confirms.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Showed {
    agreement: u32,
    is_activated: bool,
    contacts: Vec<(usize, u32)>,
}

/// What is done by one request.
#[derive(Debug, Clone)]
pub enum Deed {
    Write { call: Call, key: Option<String> },
    Decide { who: Who, sheet: Sheet, choice: Choice, note: String },
    Activate { who: Who, workspace: usize },
}

/// How a deed has to be answered, and with what code it has to be on record.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub code: &'static str,
    pub says: Says,
}

/// What an answer says beyond its status.
#[derive(Debug, Clone)]
pub enum Says {
    /// It is a success, and takes effect.
    Done,
    /// The field errors, sorted.
    Errors(Vec<(String, String)>),
    /// Exactly this, once more.
    Again(Vec<u8>),
    /// A page with this text.
    Text(&'static str),
    /// On to an address that begins so.
    To(&'static str),
}

impl Reply {
    fn done(status: u16) -> Self {
        Self { status, code: "ok", says: Says::Done }
    }

    fn refused(errors: &[(&str, &str)]) -> Self {
        let mut errors: Vec<_> = errors.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect();
        errors.sort();
        Self { status: 422, code: "invalid_request", says: Says::Errors(errors) }
    }

    fn page(status: u16, code: &'static str, text: &'static str) -> Self {
        Self { status, code, says: Says::Text(text) }
    }

    pub fn is_done(&self) -> bool {
        matches!(self.says, Says::Done)
    }
}

impl Model {
    /// How a deed has to be answered now.
    pub fn reply(&self, deed: &Deed) -> Reply {
        match deed {
            Deed::Write { call, key } => match key.as_ref().and_then(|key| self.firsts.get(key)) {
                Some(first) if first.call == *call => {
                    Reply { status: first.status, code: "replayed", says: Says::Again(first.bytes.clone()) }
                }
                Some(_) => Reply { status: 409, code: "conflict", says: Says::Errors(Vec::new()) },
                None => self.reply_to_call(call),
            },
            Deed::Decide { who, .. } | Deed::Activate { who, .. } => match who {
                Who::SignedOut => Reply { status: 303, code: "unauthenticated", says: Says::To("/app/sign-in") },
                Who::Forged => Reply::page(403, "forbidden", "This form is no longer valid"),
                Who::Foreign => Reply::page(404, "not_found", "There is nothing here"),
                Who::First | Who::Second => match deed {
                    Deed::Decide { sheet, choice, .. } => self.reply_to_decision(sheet, *choice),
                    _ => Reply::done(303),
                },
            },
        }
    }

    fn reply_to_call(&self, call: &Call) -> Reply {
        match call {
            Call::NewContact { reference, .. } if self.contact_with(reference.as_deref()).is_some() => Reply::done(200),
            Call::NewContact { .. } | Call::NewWorkspace { .. } | Call::Join { .. } | Call::NewAgreement { .. } => {
                Reply::done(201)
            }
            Call::SetEmail { .. } | Call::Rename { .. } => Reply::done(200),
            Call::AddParticipant { agreement, contact, .. } => {
                let agreement = &self.agreements[*agreement];
                if agreement.lifecycle != Lifecycle::Draft {
                    return Reply::refused(&[("path.agreement_id", "wrong_state")]);
                }
                Reply::done(if agreement.part(*contact).is_some() { 200 } else { 201 })
            }
            Call::Propose { agreement, action } => {
                let in_the_way = self.in_the_way(*agreement, *action);
                if !in_the_way.is_empty() {
                    let errors: Vec<_> = in_the_way.iter().map(|code| ("agreement_id", *code)).collect();
                    return Reply::refused(&errors);
                }
                match self.claiming(*agreement, *action).map(|at| self.proposals[at].end) {
                    Some(End::Pending) => Reply::refused(&[("agreement_id", "proposal_pending")]),
                    _ => Reply::done(201),
                }
            }
        }
    }

    fn reply_to_decision(&self, sheet: &Sheet, choice: Choice) -> Reply {
        let proposal = &self.proposals[sheet.proposal];
        match proposal.end {
            End::Pending => {}
            End::Over | End::Expired => return Reply::page(409, "conflict", "The time to decide is over"),
            End::Confirmed => return Reply::page(409, "conflict", "It was already confirmed"),
            End::Declined => return Reply::page(409, "conflict", "It was already declined"),
        }
        if choice == Choice::Confirm {
            let now = self.showed(sheet.proposal);
            if sheet.showed.agreement != now.agreement {
                return Reply::page(409, "conflict", "The agreement has changed");
            }
            if sheet.showed != now {
                return Reply::page(409, "conflict", "Something that the agreement refers to has changed");
            }
            if !self.in_the_way(proposal.agreement, proposal.action).is_empty() {
                return Reply::page(422, "invalid_request", "It can’t be confirmed yet");
            }
        }
        Reply::done(303)
    }

    /// Does what a deed does, given the body of its success; `member` is whoever decided.
    pub fn apply(&mut self, deed: &Deed, member: &str, bytes: &[u8], status: u16) {
        match deed {
            Deed::Write { call, key } => {
                if let Some(key) = key {
                    let first = First { call: call.clone(), status, bytes: bytes.to_vec() };
                    assert!(self.firsts.insert(key.clone(), first).is_none(), "a key that had its first success");
                    self.touched.insert(format!("KEY#{key}"));
                }
                let answer: Value = serde_json::from_slice(bytes).expect("JSON");
                self.apply_call(call, &answer);
            }
            Deed::Decide { sheet, choice, note, .. } => self.decide(sheet.proposal, *choice, member, note),
            Deed::Activate { workspace, .. } => self.activate(*workspace, "direct"),
        }
    }

    fn apply_call(&mut self, call: &Call, answer: &Value) {
        let id = answer["id"].as_str().expect("an id").to_owned();
        match call {
            Call::NewContact { reference, .. } if self.contact_with(reference.as_deref()).is_some() => {}
            Call::NewContact { name, email, reference } => {
                self.touched.insert(id.clone());
                self.touched.extend(reference.iter().map(|reference| format!("CONTACTREF#{reference}")));
                let (name, email, reference) = (name.clone(), email.clone(), reference.clone());
                self.contacts.push(Contact { id, name, email, reference, changes: 0 });
            }
            Call::SetEmail { contact, email } => self.change(*contact, |contact| contact.email.clone_from(email)),
            Call::Rename { contact, name } => self.change(*contact, |contact| contact.name.clone_from(name)),
            Call::NewWorkspace { name } => {
                self.touched.extend([id.clone(), "COUNTER#WORKSPACES".to_owned()]);
                let people = BTreeSet::new();
                self.workspaces.push(Workspace { id, name: name.clone(), is_activated: false, people });
            }
            Call::Join { workspace, contact } => self.join(*workspace, *contact),
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
                    documents: Vec::new(),
                    is_late: false,
                    changes: 0,
                });
            }
            Call::AddParticipant { agreement: at, contact, roles } => {
                let places = roles.iter().filter_map(|role| ROLES.iter().position(|one| one == role));
                let agreement = &mut self.agreements[*at];
                let before = agreement.participants.clone();
                match agreement.part(*contact) {
                    Some(part) => agreement.participants[part].1.extend(places),
                    None => agreement.participants.push((*contact, places.collect())),
                }
                if agreement.participants != before {
                    agreement.changes += 1;
                    self.touched.insert(agreement.id.clone());
                }
                let workspace = agreement.workspace;
                self.join(workspace, *contact);
            }
            Call::Propose { agreement, action } => {
                if let Some(over) = self.claiming(*agreement, *action) {
                    self.expire(over);
                }
                let of = &self.agreements[*agreement];
                self.touched.insert(id.clone());
                self.touched.insert(format!("PENDING#{}#{}", of.id, action.as_str()));
                self.proposals.push(Proposal {
                    id,
                    action: *action,
                    agreement: *agreement,
                    end: End::Pending,
                    expires_at: answer["expires_at"].as_str().expect("a moment").parse().expect("a moment"),
                    people: of.participants.iter().map(|(contact, _)| *contact).collect(),
                    decided: None,
                });
                self.tell("proposal.created", self.proposal_data(self.proposals.len() - 1));
            }
        }
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Contact)) {
        let contact = &mut self.contacts[at];
        let before = (contact.name.clone(), contact.email.clone());
        change(contact);
        if (&contact.name, &contact.email) != (&before.0, &before.1) {
            contact.changes += 1;
            self.touched.insert(contact.id.clone());
        }
    }

    fn join(&mut self, workspace: usize, contact: usize) {
        if self.workspaces[workspace].people.insert(contact) {
            self.touched.insert(self.workspaces[workspace].id.clone());
        }
    }

    fn activate(&mut self, at: usize, authorization: &str) {
        let workspace = &mut self.workspaces[at];
        if !workspace.is_activated {
            workspace.is_activated = true;
            let id = workspace.id.clone();
            self.tell("workspace.activated", json!({"workspace_id": id, "authorization": authorization}));
            self.touched.insert(id);
        }
    }

    fn decide(&mut self, at: usize, choice: Choice, member: &str, note: &str) {
        let (action, agreement) = (self.proposals[at].action, self.proposals[at].agreement);
        self.touched.extend([self.proposals[at].id.clone(), self.claim(at)]);
        self.proposals[at].decided = Some((member.to_owned(), note.to_owned()));
        if choice == Choice::Decline {
            self.proposals[at].end = End::Declined;
            self.tell("proposal.declined", self.proposal_data(at));
            return;
        }
        self.proposals[at].end = End::Confirmed;
        self.touched.insert(self.agreements[agreement].id.clone());
        self.agreements[agreement].changes += 1;
        match action {
            ProposalAction::PublishAgreement => {
                self.activate(self.agreements[agreement].workspace, "proposal");
                self.tell("proposal.confirmed", self.proposal_data(at));
                let published = &mut self.agreements[agreement];
                (published.lifecycle, published.was_published) = (Lifecycle::Active, true);
                let data = json!({"agreement_id": published.id, "name": published.name});
                self.tell("agreement.published", data);
            }
            ProposalAction::CancelAgreement => {
                self.agreements[agreement].lifecycle = Lifecycle::Cancelled;
                self.tell("proposal.confirmed", self.proposal_data(at));
            }
        }
    }

    /// The time of a proposal is over from a moment on.
    pub fn let_expire(&mut self, at: usize, expires_at: Timestamp) {
        (self.proposals[at].end, self.proposals[at].expires_at) = (End::Over, expires_at);
        self.touched.extend([self.proposals[at].id.clone(), self.claim(at)]);
    }

    /// Somebody writes down that a proposal's time is over.
    pub fn expire(&mut self, at: usize) {
        assert_eq!(self.proposals[at].end, End::Over);
        self.proposals[at].end = End::Expired;
        self.touched.extend([self.proposals[at].id.clone(), self.claim(at)]);
        self.tell("proposal.expired", self.proposal_data(at));
    }

    fn tell(&mut self, of_type: &'static str, data: Value) {
        self.told.push((of_type, data));
    }

    fn proposal_data(&self, at: usize) -> Value {
        let proposal = &self.proposals[at];
        let agreement = &self.agreements[proposal.agreement].id;
        json!({"proposal_id": proposal.id, "agreement_id": agreement, "action": proposal.action.as_str()})
    }

    /// What the key of a proposal's claim ends with.
    pub fn claim(&self, at: usize) -> String {
        let proposal = &self.proposals[at];
        format!("PENDING#{}#{}", self.agreements[proposal.agreement].id, proposal.action.as_str())
    }

    /// Those proposals of which no end has been written down.
    pub fn undecided(&self) -> impl Iterator<Item = usize> {
        let open = |end| matches!(end, End::Pending | End::Over);
        (0..self.proposals.len()).filter(move |at| open(self.proposals[*at].end))
    }

    /// The proposal of which a new one of an action takes the place.
    fn claiming(&self, agreement: usize, action: ProposalAction) -> Option<usize> {
        self.undecided().find(|at| self.proposals[*at].agreement == agreement && self.proposals[*at].action == action)
    }

    fn contact_with(&self, reference: Option<&str>) -> Option<usize> {
        let reference = reference?;
        self.contacts.iter().position(|contact| contact.reference.as_deref() == Some(reference))
    }

    /// What a review page of a proposal shows now.
    pub fn sheet(&self, proposal: usize, version: String) -> Sheet {
        Sheet { proposal, version, showed: self.showed(proposal) }
    }

    fn showed(&self, proposal: usize) -> Showed {
        let proposal = &self.proposals[proposal];
        let agreement = &self.agreements[proposal.agreement];
        let mut people = proposal.people.clone();
        people.extend(agreement.participants.iter().map(|(contact, _)| *contact));
        Showed {
            agreement: agreement.changes,
            is_activated: self.workspaces[agreement.workspace].is_activated,
            contacts: people.into_iter().map(|contact| (contact, self.contacts[contact].changes)).collect(),
        }
    }

    /// What keeps an action from being proposed and confirmed.
    fn in_the_way(&self, agreement: usize, action: ProposalAction) -> Vec<&'static str> {
        let lifecycle = self.agreements[agreement].lifecycle;
        match (action, lifecycle) {
            (ProposalAction::PublishAgreement, Lifecycle::Draft) => self.blockers(agreement),
            (ProposalAction::CancelAgreement, Lifecycle::Draft | Lifecycle::Active) => Vec::new(),
            _ => vec!["wrong_state"],
        }
    }

    /// What is in the way of publishing a draft, but for activation.
    fn blockers(&self, agreement: usize) -> Vec<&'static str> {
        let draft = &self.agreements[agreement];
        let mut found = Vec::new();
        let mut is = |code, count: usize| found.extend(std::iter::repeat_n(code, count));
        let approvers: BTreeSet<usize> = draft.stages.iter().filter_map(|stage| stage.approver()).collect();
        is("no_participants", usize::from(draft.participants.is_empty()));
        is(
            "participant_email_missing",
            approvers.into_iter().filter(|contact| self.contacts[*contact].email.is_none()).count(),
        );
        is("no_stages", usize::from(draft.stages.is_empty()));
        is("stage_empty", draft.stages.iter().filter(|stage| **stage == Stage::Empty).count());
        is("gate_participant_missing", draft.stages.iter().filter(|stage| **stage == Stage::Approval(None)).count());
        is("document_missing", draft.documents.iter().filter(|has_file| !**has_file).count());
        is("expiry_in_past", usize::from(draft.is_late));
        found
    }

    fn is_ready(&self, agreement: usize) -> bool {
        let claim = self.claiming(agreement, ProposalAction::PublishAgreement);
        let is_proposed = claim.is_some_and(|at| self.proposals[at].end == End::Pending);
        !is_proposed && self.in_the_way(agreement, ProposalAction::PublishAgreement).is_empty()
    }
}

impl Stage {
    fn approver(self) -> Option<usize> {
        match self {
            Self::Approval(who) => who,
            Self::Empty => None,
        }
    }
}

impl Agreement {
    /// The place among the participants that a contact has.
    pub fn part(&self, contact: usize) -> Option<usize> {
        self.participants.iter().position(|(part, _)| *part == contact)
    }
}

/// A kind of record that is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Contacts,
    Workspaces,
    Agreements,
    Proposals,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Contacts, Self::Workspaces, Self::Agreements, Self::Proposals];

    pub fn path(self) -> &'static str {
        match self {
            Self::Contacts => "/api/v1/contacts",
            Self::Workspaces => "/api/v1/workspaces",
            Self::Agreements => "/api/v1/agreements",
            Self::Proposals => "/api/v1/proposals",
        }
    }

    pub fn get(self) -> &'static str {
        match self {
            Self::Contacts => "get_contact",
            Self::Workspaces => "get_workspace",
            Self::Agreements => "get_agreement",
            Self::Proposals => "get_proposal",
        }
    }

    pub fn list(self) -> &'static str {
        match self {
            Self::Contacts => "list_contacts",
            Self::Workspaces => "list_workspaces",
            Self::Agreements => "list_agreements",
            Self::Proposals => "list_proposals",
        }
    }
}

/// What a list is asked for.
#[derive(Debug, Clone)]
pub struct Ask {
    pub kind: Kind,
    /// In a name; not of proposals.
    pub search: Option<String>,
    /// Lifecycle or state.
    pub state: Option<&'static str>,
    /// Of a workspace, or for an agreement.
    pub within: Option<usize>,
    pub limit: usize,
    pub offset: usize,
}

impl Ask {
    /// Everything of a kind.
    pub fn all(kind: Kind) -> Self {
        Self { kind, search: None, state: None, within: None, limit: 200, offset: 0 }
    }
}

impl Model {
    /// The query of a list, and all that fits, in order.
    pub fn listed(&self, ask: &Ask) -> (Vec<(&'static str, String)>, Vec<Value>) {
        let mut query = vec![("limit", ask.limit.to_string()), ("offset", ask.offset.to_string())];
        query.extend(ask.search.as_ref().map(|search| ("search", search.clone())));
        let needle = ask.search.as_deref().map(|search| search.trim().to_lowercase());
        let has = |name: &str| needle.as_ref().is_none_or(|needle| name.to_lowercase().contains(needle));
        let fits = |state: &str, within: usize| {
            ask.state.is_none_or(|asked| asked == state) && ask.within.is_none_or(|asked| asked == within)
        };
        let records = match ask.kind {
            Kind::Contacts => {
                let fit = (0..self.contacts.len()).filter(|at| has(&self.contacts[*at].name));
                fit.map(|at| self.contact(at)).collect()
            }
            Kind::Workspaces => {
                let fit = (0..self.workspaces.len()).filter(|at| has(&self.workspaces[*at].name));
                fit.map(|at| self.workspace(at)).collect()
            }
            Kind::Agreements => {
                query.extend(ask.state.map(|state| ("lifecycle", state.to_owned())));
                query.extend(ask.within.map(|at| ("workspace_id", self.workspaces[at].id.clone())));
                let fit =
                    self.agreements.iter().map(|one| has(&one.name) && fits(one.lifecycle.as_str(), one.workspace));
                fit.enumerate().filter(|(_, fits)| *fits).map(|(at, _)| self.agreement(at, false)).collect()
            }
            Kind::Proposals => {
                query.extend(ask.state.map(|state| ("state", state.to_owned())));
                query.extend(ask.within.map(|at| ("agreement_id", self.agreements[at].id.clone())));
                let fit = self.proposals.iter().map(|one| fits(one.end.state().as_str(), one.agreement));
                fit.enumerate().filter(|(_, fits)| *fits).map(|(at, _)| self.proposal(at)).collect()
            }
        };
        (query, records)
    }

    /// A record as it has to be shown by itself.
    pub fn record(&self, kind: Kind, at: usize) -> Value {
        match kind {
            Kind::Contacts => self.contact(at),
            Kind::Workspaces => self.workspace(at),
            Kind::Agreements => self.agreement(at, true),
            Kind::Proposals => self.proposal(at),
        }
    }

    /// The records of a kind, by id.
    pub fn ids(&self, kind: Kind) -> Vec<&str> {
        match kind {
            Kind::Contacts => self.contacts.iter().map(|one| one.id.as_str()).collect(),
            Kind::Workspaces => self.workspaces.iter().map(|one| one.id.as_str()).collect(),
            Kind::Agreements => self.agreements.iter().map(|one| one.id.as_str()).collect(),
            Kind::Proposals => self.proposals.iter().map(|one| one.id.as_str()).collect(),
        }
    }

    fn contact(&self, at: usize) -> Value {
        let Contact { id, name, email, reference, .. } = &self.contacts[at];
        json!({"id": id, "display_name": name, "email": email, "external_reference": reference})
    }

    fn workspace(&self, at: usize) -> Value {
        let Workspace { id, name, is_activated, people } = &self.workspaces[at];
        let mut people: Vec<&str> = people.iter().map(|contact| self.contacts[*contact].id.as_str()).collect();
        people.sort_unstable();
        json!({"id": id, "name": name, "activated": is_activated, "activated_at": is_activated, "people": people})
    }

    fn agreement(&self, at: usize, in_full: bool) -> Value {
        let agreement = &self.agreements[at];
        let is_draft = agreement.lifecycle == Lifecycle::Draft;
        let workspace = &self.workspaces[agreement.workspace];
        let (mut publishable, mut blockers, mut participants, mut stages) = Default::default();
        if in_full {
            let codes = (!workspace.is_activated).then_some("workspace_not_activated").into_iter();
            let mut codes: Vec<_> = codes.chain(self.blockers(at)).collect();
            codes.sort_unstable();
            publishable = is_draft.then_some(codes.is_empty());
            blockers = is_draft.then_some(codes);
            participants = Some(agreement.participants.iter().map(|part| self.participant(part)).collect::<Vec<_>>());
            let stage = |(place, stage): (usize, &Stage)| {
                let (state, gate) =
                    if agreement.was_published && place == 0 { ("current", "open") } else { ("upcoming", "locked") };
                json!({"state": state, "gates": if *stage == Stage::Empty { vec![] } else { vec![gate] }})
            };
            stages = Some(agreement.stages.iter().enumerate().map(stage).collect::<Vec<_>>());
        }
        json!({
            "id": agreement.id,
            "workspace_id": workspace.id,
            "name": agreement.name,
            "lifecycle": agreement.lifecycle.as_str(),
            "proposal_ready": self.is_ready(at),
            "published_at": agreement.was_published,
            "cancelled_at": agreement.lifecycle == Lifecycle::Cancelled,
            "publishable": publishable,
            "publish_blockers": blockers,
            "participants": participants,
            "stages": stages,
        })
    }

    fn participant(&self, (contact, roles): &(usize, BTreeSet<usize>)) -> Value {
        let roles: Vec<&str> = roles.iter().map(|place| ROLES[*place]).collect();
        let Contact { id, name, .. } = &self.contacts[*contact];
        json!({"contact_id": id, "display_name": name, "roles": roles})
    }

    fn proposal(&self, at: usize) -> Value {
        let Proposal { id, action, agreement, end, expires_at, decided, .. } = &self.proposals[at];
        let (by, note) = decided.as_ref().map(|(by, note)| (by, note)).unzip();
        json!({
            "id": id,
            "action": action.as_str(),
            "agreement_id": self.agreements[*agreement].id,
            "state": end.state().as_str(),
            "expires_at": expires_at.to_string(),
            "decided_at": decided.is_some(),
            "decided_by": by,
            "decision_note": note,
        })
    }

    /// The record that the success of a call shows.
    pub fn shown_by(&self, call: &Call) -> Value {
        match call {
            Call::NewContact { reference, .. } => {
                let last = self.contacts.len() - 1;
                self.contact(self.contact_with(reference.as_deref()).unwrap_or(last))
            }
            Call::SetEmail { contact, .. } | Call::Rename { contact, .. } => self.contact(*contact),
            Call::NewWorkspace { .. } => self.workspace(self.workspaces.len() - 1),
            Call::Join { workspace, .. } => self.workspace(*workspace),
            Call::NewAgreement { .. } => self.agreement(self.agreements.len() - 1, true),
            Call::AddParticipant { agreement, contact, .. } => {
                let agreement = &self.agreements[*agreement];
                self.participant(&agreement.participants[agreement.part(*contact).expect("a participant")])
            }
            Call::Propose { .. } => self.proposal(self.proposals.len() - 1),
        }
    }
}

/// Of what the service shows of a record as much as the model knows: of a moment whether there is one, of a member the
/// id, of blockers the codes.
pub fn as_known(shown: &Value, model: &Value) -> Value {
    let texts = |value: &Value, name: &str| {
        let all = value.as_array().into_iter().flatten();
        let mut all: Vec<String> = all.filter_map(|one| one[name].as_str().map(str::to_owned)).collect();
        all.sort();
        all
    };
    let known = |(name, expected): (&String, &Value)| {
        let value = &shown[name];
        let value = match name.as_str() {
            "activated_at" | "published_at" | "cancelled_at" | "decided_at" => json!(!value.is_null()),
            "people" => json!(texts(value, "contact_id")),
            "publish_blockers" if !value.is_null() => json!(texts(value, "code")),
            "decided_by" if !value.is_null() => value["id"].clone(),
            "stages" => value.as_array().map_or(Value::Null, |stages| stages.iter().map(stage_as_known).collect()),
            "participants" => match (value.as_array(), expected.as_array()) {
                (Some(shown), Some(known)) if shown.len() == known.len() => {
                    shown.iter().zip(known).map(|(shown, known)| as_known(shown, known)).collect()
                }
                _ => value.clone(),
            },
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(model.as_object().expect("a record").iter().map(known).collect())
}

fn stage_as_known(stage: &Value) -> Value {
    let gates: Vec<&Value> = stage["gates"].as_array().expect("gates").iter().map(|gate| &gate["state"]).collect();
    json!({"state": stage["state"], "gates": gates})
}
