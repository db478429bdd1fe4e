//! The API's view of proposals.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::domain::actor::Actor;
use crate::domain::ids::{AgreementId, ProposalId};
use crate::domain::note::Note;
use crate::domain::proposal::{Decision, MemberDecision, Proposal, ProposalAction, ProposalState};
use crate::domain::time::Timestamp;
use crate::platform::config::BaseUrl;
use crate::text;
use crate::wire::fields::FieldErrors;

/// A proposal's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct ProposalPath {
    /// The proposal.
    pub proposal_id: ProposalId,
}

/// A proposal as the API shows it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Proposal, example = json!({
    "id": "01980a57-3c11-7a94-b0c8-5e6f7d8091a2",
    "action": "publish_agreement",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "note": "Terms as agreed on Tuesday's call.",
    "state": "pending",
    "summary_sentence": "Publish “Seed round SAFE”: 2 participants, 1 step.",
    "confirm_url": "https://countersign.example/app/proposals/01980a57-3c11-7a94-b0c8-5e6f7d8091a2",
    "created_by": {"type": "token", "id": "01980a3d-77aa-7b12-a0f4-31c8de5b9042", "display_name": "CRM sync"},
    "created_at": "2026-03-14T09:26:53.589Z",
    "expires_at": "2026-03-17T09:26:53.589Z",
    "decided_at": null,
    "decided_by": null,
    "decision_note": null,
}))]
pub struct ProposalView {
    /// The id of the proposal.
    pub id: ProposalId,
    /// What is proposed.
    pub action: ProposalAction,
    /// For which agreement.
    pub agreement_id: AgreementId,
    /// What the proposer said.
    #[schema(required = true)]
    pub note: Option<Note>,
    /// Whether the proposal waits, or how it ended.
    pub state: ProposalState,
    /// What it is about, for a person. Changes freely; do not parse.
    pub summary_sentence: String,
    /// Where a member reads a summary and decides. Send it to them.
    pub confirm_url: String,
    /// Who proposed it.
    pub created_by: Actor,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// Until when it can be decided.
    pub expires_at: Timestamp,
    /// When a member decided.
    #[schema(required = true)]
    pub decided_at: Option<Timestamp>,
    /// The member who decided.
    #[schema(required = true)]
    pub decided_by: Option<Actor>,
    /// What they said.
    #[schema(required = true)]
    pub decision_note: Option<Note>,
}

impl ProposalView {
    /// A proposal as of `now`.
    #[must_use]
    pub fn new(proposal: Proposal, now: Timestamp, base_url: &BaseUrl) -> Self {
        let state = proposal.state_at(now);
        let summary_sentence = text::proposal_summary(&proposal);
        let decided = match proposal.decision().clone() {
            Decision::Confirmed(decided) | Decision::Declined(decided) => Some(decided),
            Decision::Pending | Decision::Expired { .. } => None,
        };
        let (decided_at, decided_by, decision_note) = match decided {
            Some(MemberDecision { at, by, note }) => (Some(at), Some(by), note),
            None => (None, None, None),
        };
        Self {
            confirm_url: base_url.link(format_args!("/app/proposals/{}", proposal.id())),
            id: proposal.id(),
            action: proposal.action,
            agreement_id: proposal.agreement_id,
            note: proposal.note,
            state,
            summary_sentence,
            created_by: proposal.created_by,
            created_at: proposal.created_at,
            expires_at: proposal.expires_at,
            decided_at,
            decided_by,
            decision_note,
        }
    }
}

impl Output for ProposalView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid(), self.agreement_id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/proposals/{}", self.id))
    }
}
