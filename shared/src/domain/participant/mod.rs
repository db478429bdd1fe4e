//! Participants who act on their own pages. A link opens a session for one participant of one agreement.
//!
//! Every act takes an [`ActingParticipant`], which only a session makes, and returns a [`ByParticipant`] for the store.

mod acts;
mod answers;
pub mod consent;
pub mod link;
pub mod link_code;
pub mod movements;
pub mod obligations;
pub mod receipt;
pub mod session;

use std::ops::Deref;

pub use acts::{Acted, Declining, NotActed, Occasion, Signing, Upload, approve, decline, sign, upload};
pub use answers::{Answering, Sent, can_answer, send_answers};
pub use link::ParticipantLink;
pub use link_code::LinkCode;

use super::actor::{Actor, ActorType};
use super::agreement::{Agreement, Participant};
use super::contact::{ChangedIdentity, Contact, ContactKind, DisplayName};
use super::ids::{AgreementId, OrgId, ParticipantId, ReceiptId};
use super::moment::Moment;
use super::time::Timestamp;

/// A participant's access to their pages. Every participant has it from the beginning, stored or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    /// How often the link was reissued. Only the link of this generation works, and only its sessions continue.
    pub generation: u64,
    /// The receipt of the consent to electronic records in force, if any.
    pub consent: Option<ReceiptId>,
    /// When they last viewed their pages, to the minute.
    pub seen_at: Option<Timestamp>,
    /// The contact's `identity_version` that a member confirmed after publication.
    pub contact_version: Option<u64>,
}

impl Access {
    /// How the contact has changed since the agreement's publication or a member's last confirmation, if it has.
    #[must_use]
    pub fn changed<'a>(&self, participant: &Participant, contact: &'a Contact) -> Option<ChangedIdentity<'a>> {
        contact.changed_since(self.version_of(participant))
    }

    /// Whether it was a person at publication or at a member's last confirmation. Others sign through someone.
    #[must_use]
    pub fn is_person(&self, participant: &Participant, contact: &Contact) -> bool {
        contact.kind_at(self.version_of(participant)) == Some(ContactKind::Person)
    }

    fn version_of(&self, participant: &Participant) -> u64 {
        self.contact_version.or(participant.contact_version).unwrap_or_default()
    }
}

/// A participant of an agreement, with an open session.
///
/// No other caller can become one:
///
/// ```compile_fail
/// use shared::domain::contact::Contact;
/// use shared::domain::member::Member;
/// use shared::domain::participant::{Access, ActingParticipant};
/// use shared::domain::ids::{AgreementId, ParticipantId};
///
/// fn act_for(member: &Member, of: &Contact, agreement: AgreementId, participant: ParticipantId) -> ActingParticipant {
///     ActingParticipant::of_session(member.org(), agreement, (participant, of), Access::default())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingParticipant {
    id: ParticipantId,
    org: OrgId,
    agreement_id: AgreementId,
    contact: Contact,
    access: Access,
}

impl ActingParticipant {
    /// Only `service::identity` calls this: for a session, or for a link that works.
    pub(crate) fn of_session(
        org: OrgId,
        agreement_id: AgreementId,
        id: ParticipantId,
        contact: &Contact,
        access: Access,
    ) -> Self {
        Self { id, org, agreement_id, contact: contact.clone(), access }
    }

    pub(crate) fn with_access(&self, access: Access) -> Self {
        Self { access, ..self.clone() }
    }

    /// Their id.
    #[must_use]
    pub fn id(&self) -> ParticipantId {
        self.id
    }

    /// The agreement's organization.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.org
    }

    /// The only agreement that the session is for.
    #[must_use]
    pub fn agreement_id(&self) -> AgreementId {
        self.agreement_id
    }

    /// The contact's current name.
    #[must_use]
    pub fn name(&self) -> &DisplayName {
        &self.contact.display_name
    }

    /// Whether they act as a person. For others, a person signs with their own name and title.
    #[must_use]
    pub fn is_person(&self, agreement: &Agreement) -> bool {
        agreement.participant(self.id).is_some_and(|own| self.access.is_person(own, &self.contact))
    }

    /// Their access.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The participant as an actor.
    #[must_use]
    pub fn actor(&self) -> Actor {
        let display_name = self.name().as_str().to_owned();
        Actor { actor_type: ActorType::Participant, id: Some(self.id.uuid()), display_name }
    }
}

/// A record after a participant's act. Only this module makes one.
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
/// use shared::domain::moment::Moment;
/// use shared::domain::participant::{ActingParticipant, ByParticipant};
///
/// fn by_hand(record: Agreement, by: ActingParticipant, moment: Moment) -> ByParticipant<Agreement> {
///     ByParticipant { record, by, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByParticipant<T> {
    record: T,
    by: ActingParticipant,
    moment: Moment,
}

impl<T> ByParticipant<T> {
    fn new(record: T, by: &ActingParticipant, moment: Moment) -> Self {
        Self { record, by: by.clone(), moment }
    }

    /// The participant, who must make the call that commits the change.
    pub(crate) fn by(&self) -> &ActingParticipant {
        &self.by
    }

    /// The time and the call of the act.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl<T> Deref for ByParticipant<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.record
    }
}
