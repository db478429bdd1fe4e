//! Sessions of participants. Each belongs to one participant of one agreement.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::contact::DisplayName;
use crate::domain::ids::{AgreementId, ContactId, MemberId, OrgId, ParticipantId};
use crate::domain::time::Timestamp;
use crate::limits;

/// The participant of an agreement to whom a link or a session belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The organization whose agreement it is.
    pub organization_id: OrgId,
    /// The agreement.
    pub agreement_id: AgreementId,
    /// The participant.
    pub participant_id: ParticipantId,
}

/// The member in whose browser a participant acts.
///
/// Decision: a session that was begun or continued in a member's browser stays so for good. Signing the member out does not
/// turn the browser into the participant's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InPerson {
    /// The member.
    pub member_id: MemberId,
    /// What they were called then.
    pub member: DisplayName,
}

impl fmt::Display for InPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in person, in {}’s browser", self.member.as_str())
    }
}

/// A session as it is stored, under the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantSession {
    /// Whose it is.
    pub part: Part,
    /// The participant's contact, which never changes.
    pub contact_id: ContactId,
    /// The generation of the link that opened it.
    pub generation: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
    /// The member in whose browser it goes on, once the participant's pages have asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
}

impl ParticipantSession {
    /// Whether it is still valid at a moment.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.ends_at() && now < self.seen_at.plus_seconds(limits::SESSION_IDLE_S)
    }

    /// The latest end of the session.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.created_at.plus_seconds(limits::SESSION_LIFETIME_S)
    }

    /// Whether its last use should be recorded again.
    #[must_use]
    pub fn is_to_be_refreshed(&self, now: Timestamp) -> bool {
        self.seen_at.plus_seconds(limits::SESSION_REFRESH_S) <= now
    }
}
