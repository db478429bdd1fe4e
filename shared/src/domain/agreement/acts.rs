//! The acts in an agreement's history: who did what, when.

use serde::{Deserialize, Serialize};

use crate::domain::actor::Actor;
use crate::domain::event::EventType;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;

/// One call that changed an agreement or a proposal for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The operation's id.
    pub operation: String,
    /// Who did it, as they were called then.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// What the proposal is for, if the act made or decided one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ProposalAction>,
    /// The events that it caused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventType>,
}
