//! Participants' sessions, which authenticate each request to their pages. Only this module and
//! [`participant_links`](super::participant_links), which opens the sessions, make an [`ActingParticipant`].
//!
//! - Decision: the cookie is named after the participant, so a browser can take part in several agreements at once.
//! - Decision: members can show every link, so whoever acts by one in a browser with a member's session, of whichever
//!   organization, may be that member. The pages first ask whether the participant is there, and mark what follows as
//!   done in person. The question stays open when the member signs out.

use crate::crypto::CookieSecret;
use crate::domain::ids::ParticipantId;
use crate::domain::organization::Organization;
use crate::domain::participant::ActingParticipant;
use crate::domain::participant::session::{InPerson, Part, StoredParticipantSession};
use crate::error::Error;
use crate::service::call_record::CallRecord;
use crate::service::identity::sessions::SignedIn;
use crate::service::scope::{Plan, Scope};
use crate::store::OrgStore;
use crate::store::participants::{self, Visitor};

/// The participant of a request, with their session.
#[derive(Debug, Clone)]
pub struct ParticipantSession {
    participant: ActingParticipant,
    organization: Organization,
    secret: CookieSecret,
    stored: StoredParticipantSession,
    scope: Scope,
}

impl ParticipantSession {
    pub(super) fn new(
        record: &CallRecord,
        visitor: Visitor,
        secret: CookieSecret,
        stored: StoredParticipantSession,
        path_record_ids: Vec<u8>,
    ) -> Self {
        let Visitor { access, organization, contact } = visitor;
        let Part { organization_id, agreement_id, participant_id } = stored.part;
        let participant =
            ActingParticipant::of_session(organization_id, agreement_id, participant_id, &contact, access);
        let scope = record.scope(organization_id, participant.actor(), path_record_ids);
        Self { participant, organization, secret, stored, scope }
    }

    /// The participant.
    #[must_use]
    pub fn participant(&self) -> &ActingParticipant {
        &self.participant
    }

    /// The organization whose agreement it is.
    #[must_use]
    pub fn organization(&self) -> &Organization {
        &self.organization
    }

    /// The scope of the request's use cases.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The member in whose browser the participant acts, once the pages have asked about it.
    #[must_use]
    pub fn in_person(&self) -> Option<&InPerson> {
        self.stored.in_person.as_ref()
    }

    /// The browser's present or past member, if the pages have to ask about it before they show or do anything else.
    #[must_use]
    pub fn to_ask_about(&self) -> Option<&InPerson> {
        self.stored.to_ask_about.as_ref()
    }

    /// Marks a browser with a member's session. Stores the question first, so that signing out does not avoid it.
    pub(crate) async fn in_browser_of(mut self, signed_in: &SignedIn) -> Result<Self, Error> {
        if let Some(member) = host(signed_in, &self.stored).await? {
            self.scope.store().table().ask_in_person(self.secret.hash(), &member).await?;
            self.stored.to_ask_about = Some(member);
        }
        Ok(self)
    }

    /// The CSRF token of the session's forms.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.secret.form_token()
    }

    pub(crate) fn rename(&mut self, operation: &'static str) {
        self.scope.call_mut().rename(operation);
    }

    pub(super) fn stored(&self) -> &StoredParticipantSession {
        &self.stored
    }

    /// The secret of the session.
    #[must_use]
    pub fn secret(&self) -> &CookieSecret {
        &self.secret
    }

    pub(crate) async fn refresh_session(&self) {
        let now = self.scope.now();
        if self.stored.is_to_be_refreshed(now) {
            self.scope.store().table().refresh_participant_session(self.secret.hash(), &self.stored, now).await;
        }
    }

    /// Fails with [`Error::Unauthenticated`] if the session has ended since the request began.
    pub(crate) async fn check_session(&self) -> Result<(), Error> {
        let part = self.stored.part;
        let session = self.scope.store().table().participant_session(self.secret.hash()).await?;
        let access = self.scope.store().access(part.agreement_id, part.participant_id).await?;
        let goes_on = session.is_some() && access.generation == self.stored.generation;
        if goes_on { Ok(()) } else { Err(Error::Unauthenticated) }
    }
}

/// The signed-in person as a member of the session's organization. None if they are none, or the session knows of them.
pub(super) async fn host(signed_in: &SignedIn, session: &StoredParticipantSession) -> Result<Option<InPerson>, Error> {
    let org = session.part.organization_id;
    let Some(member_id) = signed_in.member_id_in(org).filter(|member| session.is_news_of(*member)) else {
        return Ok(None);
    };
    if signed_in.organization().id == org {
        return Ok(Some(InPerson { member_id, member: signed_in.member().name().clone() }));
    }
    // Their name may differ there.
    let store = OrgStore::new(signed_in.scope().store().table().clone(), org);
    Ok(store.member(member_id).await?.map(|record| InPerson { member_id, member: record.name }))
}

/// Authenticates a request to a participant's pages by its session's secret. `None` without a session, or if it has
/// ended.
pub(crate) async fn find(
    record: &CallRecord,
    secret: Option<CookieSecret>,
    participant: ParticipantId,
    path_record_ids: Vec<u8>,
) -> Result<Option<ParticipantSession>, Error> {
    let Some(secret) = secret else { return Ok(None) };
    let store = record.store();
    let session = store.participant_session(secret.hash()).await?;
    let is_own = |session: &StoredParticipantSession| {
        session.is_alive(record.now()) && session.part.participant_id == participant
    };
    let Some(session) = session.filter(is_own) else { return Ok(None) };
    let Some(visitor) = store.visitor(session.part, session.contact_id).await? else { return Ok(None) };
    if visitor.access.generation != session.generation {
        return Ok(None);
    }
    Ok(Some(ParticipantSession::new(record, visitor, secret, session, path_record_ids)))
}

/// Records that the participant is present in the member's browser. What the session does from then on says so.
pub fn act_in_person(session: &ParticipantSession) -> Result<Plan<()>, Error> {
    let (scope, participant) = (session.scope(), session.participant());
    // Pressed twice.
    let Some(member) = session.to_ask_about() else { return Ok(Plan::new(scope, ())) };
    let marked = participants::act_in_person(scope.call(), session.secret().hash(), member)?;
    let shown = [participant.agreement_id().uuid(), participant.id().uuid()];
    Ok(Plan::new(scope, ()).change([marked]).showing(shown))
}

/// Ends the session, in this browser alone.
pub fn leave(session: &ParticipantSession) -> Plan<()> {
    let scope = session.scope();
    Plan::new(scope, ()).change([participants::end_session(scope.call(), session.secret().hash())])
}
