//! The representations that the service must show.

use serde_json::{Value, json};
use shared::domain::agreement::Lifecycle;
use shared::domain::proposal::ProposalAction;

use super::{Call, Contact, Expiry, Model, Proposal};

impl Model {
    pub fn records(&self) -> [Vec<Value>; 2] {
        let agreements = (0..self.agreements.len()).map(|at| self.agreement(at));
        [agreements.collect(), (0..self.proposals.len()).map(|at| self.proposal(at)).collect()]
    }

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
        let is_ready = self.refusal_codes(at, publish).is_empty() && !self.is_proposed(at, publish);
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

/// Reduces a representation to what the model knows: of some values only their presence, of a member the id.
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

pub fn note_of(choice: &str) -> String {
    format!("We {choice} it.")
}
