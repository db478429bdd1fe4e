use serde_json::{Value, json};
use shared::domain::agreement::Lifecycle;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::domain::time::Timestamp;
use tests::drafts::Coming;

use super::{Agreement, Call, Command, Expiry, Model, Proposal, Stage, note_of};

impl Model {
    pub fn apply(&mut self, command: &Command, member: &str, status: u16, bytes: &[u8]) {
        match command {
            Command::Write { call, key } => {
                if let Some(key) = key {
                    self.firsts.insert(key.clone(), (call.clone(), status, bytes.to_vec()));
                    self.touched.insert(format!("KEY#{key}"));
                }
                self.apply_call(call, &serde_json::from_slice(bytes).expect("JSON"));
            }
            Command::Decide { review, choice, .. } => self.decide(self.reviews[*review].proposal, choice, member),
            Command::Activate { workspace, .. } => self.activate(*workspace, "direct"),
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
                // Even if the contact is one of the people already: no removal may overlook the participant.
                self.touched.insert(self.workspaces[agreement.workspace].id.clone());
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
                self.emit_proposal("proposal.created", self.proposals.len() - 1);
            }
        }
    }

    fn activate(&mut self, at: usize, authorization: &str) {
        let workspace = &mut self.workspaces[at];
        if !workspace.is_activated {
            workspace.is_activated = true;
            let id = workspace.id.clone();
            self.emitted.push(("workspace.activated", json!({"workspace_id": id, "authorization": authorization})));
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
            return self.emit_proposal("proposal.declined", at);
        }
        proposal.state = ProposalState::Confirmed;
        if action == ProposalAction::PublishAgreement {
            self.activate(self.agreements[agreement].workspace, "proposal");
            self.emit_proposal("proposal.confirmed", at);
            let published = &mut self.agreements[agreement];
            (published.lifecycle, published.was_published) = (Lifecycle::Active, true);
            self.emit_agreement("agreement.published", agreement);
            self.advance(agreement);
        } else {
            self.advance(agreement);
            self.agreements[agreement].lifecycle = Lifecycle::Cancelled;
            self.emit_proposal("proposal.confirmed", at);
        }
        self.changed(agreement);
    }

    pub fn set_up(&mut self, at: usize, stages: &[Stage], expiry: Expiry) {
        let draft = &mut self.agreements[at];
        assert_eq!(draft.lifecycle, Lifecycle::Draft);
        (draft.stages, draft.expiry) = (stages.to_vec(), expiry);
        self.changed(at);
    }

    pub fn let_expire(&mut self, at: usize, expires_at: Timestamp) {
        (self.proposals[at].state, self.proposals[at].expires_at) = (ProposalState::Expired, expires_at);
        self.touch_proposal(at);
    }

    pub fn let_come(&mut self, at: usize, coming: Coming) {
        let agreement = &mut self.agreements[at];
        match coming {
            Coming::Countdown => agreement.has_ended = true,
            Coming::Expiry => agreement.expiry = Expiry::Over,
        }
        self.touched.insert(agreement.id.clone());
    }

    /// The clock records time's effects. Returns its acts' operations, with the ids of their objects.
    pub fn tick(&mut self) -> Vec<(&'static str, Vec<String>)> {
        let (mut acts, emitted) = (Vec::new(), self.emitted.len());
        let over: Vec<usize> =
            self.open_proposals().filter(|at| self.proposals[*at].state == ProposalState::Expired).collect();
        for at in over {
            self.expire(at);
            let proposal = &self.proposals[at];
            acts.push(("expire_proposal", vec![proposal.id.clone(), self.agreements[proposal.agreement].id.clone()]));
        }
        for at in 0..self.agreements.len() {
            if self.advance(at) {
                self.changed(at);
                acts.push(("proceed_agreement", vec![self.agreements[at].id.clone()]));
            }
        }
        self.emitted_unordered = self.emitted.len() - emitted;
        acts
    }

    fn expire(&mut self, at: usize) {
        self.proposals[at].is_open = false;
        self.touch_proposal(at);
        self.emit_proposal("proposal.expired", at);
    }

    fn advance(&mut self, at: usize) -> bool {
        let agreement = &mut self.agreements[at];
        let before = (agreement.lifecycle, agreement.done);
        let now = agreement.as_of_now();
        ((agreement.lifecycle, agreement.done), agreement.has_ended) = (now, false);
        if now != before && now.0 == Lifecycle::Completed {
            self.emit_agreement("agreement.completed", at);
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

    fn emit_agreement(&mut self, of_type: &'static str, at: usize) {
        let agreement = &self.agreements[at];
        self.emitted.push((of_type, json!({"agreement_id": agreement.id, "name": agreement.name})));
    }

    fn emit_proposal(&mut self, of_type: &'static str, at: usize) {
        let Proposal { id, action, agreement, .. } = &self.proposals[at];
        let agreement = &self.agreements[*agreement].id;
        let data = json!({"proposal_id": id, "agreement_id": agreement, "action": action.as_str()});
        self.emitted.push((of_type, data));
    }

    pub fn claim(&self, at: usize) -> String {
        let proposal = &self.proposals[at];
        format!("PENDING#{}#{}", self.agreements[proposal.agreement].id, proposal.action.as_str())
    }
}
