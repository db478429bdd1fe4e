//! Sessions of participants, each for one participant of one agreement.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::contact::DisplayName;
use crate::domain::ids::{AgreementId, ContactId, MemberId, OrgId, ParticipantId};
use crate::domain::time::Timestamp;
use crate::limits;

/// The participant of an agreement who has a link or session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The agreement's organization.
    pub organization_id: OrgId,
    /// The agreement.
    pub agreement_id: AgreementId,
    /// The participant.
    pub participant_id: ParticipantId,
}

/// The member in whose browser a participant acts. The mark is permanent, even after the member signs out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InPerson {
    /// The member.
    pub member_id: MemberId,
    /// Their name at the time.
    pub member: DisplayName,
}

impl fmt::Display for InPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in person, in {}’s browser", self.member.as_str())
    }
}

/// A session as stored, under the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredParticipantSession {
    /// Its owner.
    pub part: Part,
    /// The participant's contact, which never changes.
    pub contact_id: ContactId,
    /// The generation of its link.
    pub generation: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
    /// The member in whose browser it continues, once the participant's pages have asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
    /// The member in whose browser it was begun or continued, until the pages' question is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ask_about: Option<InPerson>,
}

impl StoredParticipantSession {
    /// Whether it is still valid.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.ends_at() && now < self.seen_at.plus_seconds(limits::SESSION_IDLE_S)
    }

    /// Whether the pages must ask about a member with a session in the same browser, one question at a time.
    #[must_use]
    pub fn is_news_of(&self, member: MemberId) -> bool {
        self.to_ask_about.is_none() && self.in_person.as_ref().is_none_or(|known| known.member_id != member)
    }

    /// When it ends at the latest.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.created_at.plus_seconds(limits::SESSION_LIFETIME_S)
    }

    /// Whether its last use is due to be recorded again.
    #[must_use]
    pub fn is_to_be_refreshed(&self, now: Timestamp) -> bool {
        self.seen_at.plus_seconds(limits::SESSION_REFRESH_S) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_in_whose_browser_a_session_goes_on_is_asked_about_once() {
        let begun = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let part = Part {
            organization_id: OrgId::new(),
            agreement_id: AgreementId::new(),
            participant_id: ParticipantId::new(),
        };
        let own = StoredParticipantSession {
            part,
            contact_id: ContactId::new(),
            generation: 0,
            created_at: begun,
            seen_at: begun,
            in_person: None,
            to_ask_about: None,
        };
        let [maren, kim] = [MemberId::new(), MemberId::new()];
        let member = |member_id| Some(InPerson { member_id, member: DisplayName::parse("Maren Holt").unwrap() });
        assert!(own.is_news_of(maren));
        let asked = StoredParticipantSession { to_ask_about: member(maren), ..own.clone() };
        assert!(!asked.is_news_of(maren) && !asked.is_news_of(kim), "the first question is open");
        let answered = StoredParticipantSession { in_person: member(maren), ..own };
        assert!(!answered.is_news_of(maren) && answered.is_news_of(kim));
    }
}
