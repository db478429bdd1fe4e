//! Events: what subscribers are told (specification, "Event types and data fields"). Each is written in the
//! transaction of the change that it tells.

use serde::{Deserialize, Serialize};

use super::agreement::AgreementName;
use super::ids::{AgreementId, EventId, ProposalId, WorkspaceId};
use super::proposal::{Proposal, ProposalAction};
use super::time::Timestamp;

/// What happened, with the data that subscribers get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum EventKind {
    /// A draft was published.
    #[serde(rename = "agreement.published")]
    AgreementPublished {
        /// Which.
        agreement_id: AgreementId,
        /// What it is called.
        name: AgreementName,
    },
    /// A proposal was made.
    #[serde(rename = "proposal.created")]
    ProposalCreated(ProposalData),
    /// A member confirmed a proposal.
    #[serde(rename = "proposal.confirmed")]
    ProposalConfirmed(ProposalData),
    /// A member declined a proposal.
    #[serde(rename = "proposal.declined")]
    ProposalDeclined(ProposalData),
    /// Nobody decided a proposal in time.
    #[serde(rename = "proposal.expired")]
    ProposalExpired(ProposalData),
    /// A workspace was activated.
    #[serde(rename = "workspace.activated")]
    WorkspaceActivated {
        /// Which.
        workspace_id: WorkspaceId,
        /// By what.
        authorization: Authorization,
    },
}

/// What every event of a proposal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalData {
    /// Which.
    pub proposal_id: ProposalId,
    /// For which agreement.
    pub agreement_id: AgreementId,
    /// What is proposed.
    pub action: ProposalAction,
}

/// What a workspace was activated by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Authorization {
    /// A member's own act.
    Direct,
    /// Confirming a publication.
    Proposal,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its id, by which subscribers tell a repeat.
    pub id: EventId,
    /// When.
    pub created_at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// Something that happens now.
    #[must_use]
    pub fn new(kind: EventKind, now: Timestamp) -> Self {
        Self { id: EventId::new(), created_at: now, kind }
    }
}

impl From<&Proposal> for ProposalData {
    fn from(proposal: &Proposal) -> Self {
        Self { proposal_id: proposal.id, agreement_id: proposal.agreement_id, action: proposal.action }
    }
}
