//! A model of an organization, as far as the histories need it. It knows nothing of how the service works.

mod effects;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shared::domain::agreement::Lifecycle;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::domain::time::Timestamp;
use tests::Client;
use tests::client::Request;
use tests::drafts::Coming;

pub use views::{as_known, note_of};

pub const ACTIONS: [ProposalAction; 2] = [ProposalAction::PublishAgreement, ProposalAction::CancelAgreement];

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub contacts: Vec<Contact>,
    pub workspaces: Vec<Workspace>,
    pub agreements: Vec<Agreement>,
    pub proposals: Vec<Proposal>,
    pub reviews: Vec<OpenReview>,
    firsts: BTreeMap<String, (Call, u16, Vec<u8>)>,
    pub emitted: Vec<(&'static str, Value)>,
    /// How many of the last events come from one tick, in any order.
    pub emitted_unordered: usize,
    /// Parts of the keys of rows that must differ since the last check.
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
}

#[derive(Debug, Clone)]
pub struct Agreement {
    pub id: String,
    name: String,
    workspace: usize,
    pub lifecycle: Lifecycle,
    was_published: bool,
    pub participants: Vec<usize>,
    pub stages: Vec<Stage>,
    done: usize,
    /// Whether the next stage's countdown has ended, which isn't recorded yet.
    has_ended: bool,
    pub expiry: Expiry,
    changes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A contact approves, which never happens in a history.
    Approval(usize),
    Past,
    /// A countdown of hours, which the history ends.
    Hours(u32),
}

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
    pub state: ProposalState,
    /// Whether no end is recorded, even if its time is over.
    pub is_open: bool,
    pub expires_at: Timestamp,
    decided: Option<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    Change { contact: usize, name: String, email: Option<String> },
    NewAgreement { workspace: usize, name: String },
    AddParticipant { agreement: usize, contact: usize },
    Propose { agreement: usize, action: ProposalAction },
}

impl Call {
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

#[derive(Debug, Clone)]
pub struct OpenReview {
    pub proposal: usize,
    pub version: String,
    /// The agreement's number of changes.
    agreement: u32,
    around: Around,
}

type Around = (bool, BTreeMap<usize, u32>);

/// A request. Members and open review pages are indexes.
#[derive(Debug, Clone)]
pub enum Command {
    Write { call: Call, key: Option<String> },
    Decide { who: usize, review: usize, choice: &'static str },
    Activate { who: usize, workspace: usize },
}

#[derive(Debug, Clone)]
pub enum Expected {
    Done(u16),
    Again(u16, Vec<u8>),
    KeyConflict,
    /// Refused for a field, with these codes, sorted.
    Refused(&'static str, Vec<&'static str>),
    /// No decision; the page shows this text.
    Undecided(u16, &'static str),
}

impl Expected {
    fn refused(field: &'static str, mut codes: Vec<&'static str>) -> Self {
        codes.sort_unstable();
        Self::Refused(field, codes)
    }

    pub fn on_record(&self) -> (u16, &'static str) {
        match self {
            Self::Done(status) => (*status, "ok"),
            Self::Again(status, _) => (*status, "replayed"),
            Self::KeyConflict | Self::Undecided(409, _) => (409, "conflict"),
            Self::Refused(..) | Self::Undecided(..) => (422, "invalid_request"),
        }
    }

    pub fn summary(&self) -> String {
        match self {
            Self::Refused(_, codes) => codes.join(" "),
            Self::Undecided(_, text) => (*text).to_owned(),
            _ => self.on_record().1.to_owned(),
        }
    }
}

impl Model {
    pub fn expected(&self, command: &Command) -> Expected {
        match command {
            Command::Write { call, key } => match key.as_ref().and_then(|key| self.firsts.get(key)) {
                Some((first, status, bytes)) if first == call => Expected::Again(*status, bytes.clone()),
                Some(_) => Expected::KeyConflict,
                None => self.expected_of_call(call),
            },
            Command::Decide { review, choice, .. } => self.expected_of_decision(&self.reviews[*review], choice),
            Command::Activate { .. } => Expected::Done(303),
        }
    }

    fn expected_of_call(&self, call: &Call) -> Expected {
        match call {
            Call::NewAgreement { .. } => Expected::Done(201),
            Call::Change { .. } => Expected::Done(200),
            Call::AddParticipant { agreement, contact } => {
                let agreement = &self.agreements[*agreement];
                if agreement.lifecycle != Lifecycle::Draft {
                    return Expected::refused("path.agreement_id", vec!["wrong_state"]);
                }
                Expected::Done(if agreement.participants.contains(contact) { 200 } else { 201 })
            }
            Call::Propose { agreement, action } => {
                let refusal_codes = self.refusal_codes(*agreement, *action);
                if !refusal_codes.is_empty() {
                    return Expected::refused("agreement_id", refusal_codes);
                }
                if self.is_proposed(*agreement, *action) {
                    return Expected::refused("agreement_id", vec!["proposal_pending"]);
                }
                Expected::Done(201)
            }
        }
    }

    fn expected_of_decision(&self, review: &OpenReview, choice: &str) -> Expected {
        let proposal = &self.proposals[review.proposal];
        match proposal.state {
            ProposalState::Pending => {}
            ProposalState::Expired => return Expected::Undecided(409, "The time to decide is over"),
            ProposalState::Confirmed => return Expected::Undecided(409, "It was already confirmed"),
            ProposalState::Declined => return Expected::Undecided(409, "It was already declined"),
        }
        if choice == "confirm" {
            let now = self.showed(review.proposal);
            if review.agreement != now.0 {
                return Expected::Undecided(409, "The agreement has changed");
            }
            if review.around != now.1 {
                return Expected::Undecided(409, "Something that the agreement refers to has changed");
            }
            match self.refusal_codes(proposal.agreement, proposal.action).as_slice() {
                [] => {}
                ["wrong_state"] => return Expected::Undecided(422, "It can’t be confirmed anymore"),
                _ => return Expected::Undecided(422, "It can’t be confirmed yet"),
            }
        }
        Expected::Done(303)
    }

    /// Codes that prevent an action from being proposed or confirmed. Time's effects count, recorded or not.
    fn refusal_codes(&self, at: usize, action: ProposalAction) -> Vec<&'static str> {
        let agreement = &self.agreements[at];
        match (action, agreement.as_of_now().0) {
            (ProposalAction::PublishAgreement, Lifecycle::Draft) => self.blockers(agreement),
            (ProposalAction::CancelAgreement, Lifecycle::Draft | Lifecycle::Active) => Vec::new(),
            _ => vec!["wrong_state"],
        }
    }

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

    pub fn open_proposals(&self) -> impl Iterator<Item = usize> {
        (0..self.proposals.len()).filter(|at| self.proposals[*at].is_open)
    }

    fn claiming(&self, agreement: usize, action: ProposalAction) -> Option<usize> {
        let is_of = |of: &Proposal| of.agreement == agreement && of.action == action;
        self.open_proposals().find(|at| is_of(&self.proposals[*at]))
    }

    pub fn open(&mut self, proposal: usize, version: String) {
        let (agreement, around) = self.showed(proposal);
        self.reviews.push(OpenReview { proposal, version, agreement, around });
    }

    fn showed(&self, proposal: usize) -> (u32, Around) {
        let agreement = &self.agreements[self.proposals[proposal].agreement];
        let people = agreement.participants.iter().map(|contact| (*contact, self.contacts[*contact].changes));
        (agreement.changes, (self.workspaces[agreement.workspace].is_activated, people.collect()))
    }
}

impl Agreement {
    /// Its actual lifecycle and number of finished stages, recorded or not.
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

    /// A moment that the history can let come: the end of a running countdown, or the expiry.
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

    /// Whether time advances it, or has without being recorded.
    pub fn waits_for_time(&self) -> bool {
        self.counts_down() || self.lifecycle == Lifecycle::Active && self.expiry != Expiry::Never
    }
}
