use pages::labels::{action_verb, actor_label};
use shared::domain::agreement::Agreement;
use shared::domain::proposal::Proposal;
use shared::domain::time::Timestamp;
use shared::text;

pub(crate) struct PendingProposal {
    pub url: String,
    pub verb: &'static str,
    pub created_by: String,
    pub time_left: String,
    pub is_older: bool,
}

impl PendingProposal {
    pub fn new(proposal: &Proposal, agreement: &Agreement, now: Timestamp) -> Self {
        Self {
            url: format!("/app/proposals/{}", proposal.id()),
            verb: action_verb(proposal.action),
            created_by: actor_label(&proposal.created_by),
            time_left: text::time_left(now, proposal.expires_at),
            is_older: agreement.updated_at > proposal.created_at,
        }
    }
}
