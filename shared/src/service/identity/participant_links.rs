//! Participants' links: following one, and opening its session.
//!
//! - Decision: a link opens a page that names the organization and the agreement, and a button there opens the session.
//!   Programs that scan messages follow links before people do, and must neither open a session nor count as a look.
//! - Decision: if the organization asks for a code, the button opens a session only with the one that a member reads
//!   out by phone. Existing sessions go on. Wrong codes slow down further ones at the same link from the same network
//!   address; tries at one code also count, wherever they come from.
//! - Decision: a working link is never slowed down. Its code has 160 bits, so its holder did not guess it, and an
//!   office shares one address: one person's guesses must not keep others from signing. Other links count by address.

use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::crypto::CookieSecret;
use crate::crypto::keyring::Keyring;
use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;
use crate::domain::organization::Organization;
use crate::domain::participant::session::{Part, StoredParticipantSession};
use crate::domain::participant::{Access, ActingParticipant, LinkCode, ParticipantLink};
use crate::error::Error;
use crate::limits;
use crate::service::identity::attempts::{count_attempt, wait_ms};
use crate::service::identity::call::{BrowserCall, Decided};
use crate::service::identity::participant_sessions::{self, ParticipantSession, host};
use crate::service::identity::sessions::SignedIn;
use crate::service::scope::{Plan, Scope};
use crate::store::participants::Visitor;
use crate::store::{OrgStore, Store, keys, link_codes, participants};

/// What a link leads to.
#[derive(Debug)]
pub struct OpenLink {
    /// The organization.
    pub organization: Organization,
    /// The agreement.
    pub agreement: Agreement,
    /// The contact of the participant.
    pub contact: Contact,
    /// The participant.
    pub participant: ParticipantId,
    /// Whether it opens a session only with a code.
    pub asks_for_code: bool,
    access: Access,
}

impl OpenLink {
    fn part(&self) -> Part {
        let (organization_id, agreement_id) = (self.organization.id, self.agreement.id());
        Part { organization_id, agreement_id, participant_id: self.participant }
    }

    pub(super) fn generation(&self) -> u64 {
        self.access.generation
    }

    pub(super) fn holder(&self) -> ActingParticipant {
        let Part { organization_id, agreement_id, participant_id } = self.part();
        ActingParticipant::of_session(organization_id, agreement_id, participant_id, &self.contact, self.access)
    }

    /// The scope in which the audit log shows acts of the link's holder without a session.
    pub(crate) fn scope_of_holder(&self, call: &BrowserCall<'_>) -> Scope {
        let ids = [self.agreement.id().uuid(), self.participant.uuid()];
        call.scope(self.organization.id, self.holder().actor(), ids.into_iter().flat_map(Uuid::into_bytes).collect())
    }

    fn session(
        &self,
        call: &BrowserCall<'_>,
        secret: &CookieSecret,
        stored: StoredParticipantSession,
    ) -> ParticipantSession {
        let Self { organization, contact, access, .. } = self;
        let visitor = Visitor { access: *access, organization: organization.clone(), contact: contact.clone() };
        ParticipantSession::new(call.record, visitor, secret.clone(), stored, call.named.clone())
    }
}

/// The result of following a link.
#[derive(Debug)]
pub enum Followed {
    /// It works.
    Open(Box<OpenLink>),
    /// It does not work, or no longer.
    Gone,
    /// Too many links from its network address did not work, or too many codes for it were wrong.
    TooMany,
}

pub(super) async fn find(keyring: &Keyring, table: &Store, link: &ParticipantLink) -> Result<Option<OpenLink>, Error> {
    let Part { organization_id, agreement_id, participant_id } = link.part();
    let store = OrgStore::new(table.clone(), organization_id);
    let (access, agreement) =
        tokio::try_join!(store.access(agreement_id, participant_id), store.agreement(agreement_id))?;
    let Some(agreement) = agreement.filter(|_| link.opens(keyring, access.generation)) else { return Ok(None) };
    let Some(contact) = agreement.participant(participant_id).map(|participant| participant.contact_id) else {
        return Ok(None);
    };
    // Only members may see a draft.
    if !agreement.was_published() {
        return Ok(None);
    }
    let (organization, contacts) = tokio::try_join!(table.organization(organization_id), store.contacts([contact]))?;
    // While an organization is suspended, none of its links works.
    let organization = organization.filter(|organization| organization.suspended_at.is_none());
    let Some((organization, contact)) = organization.zip(contacts.into_iter().next()) else { return Ok(None) };
    let (agreement, contact) = (agreement.into_inner(), contact.into_inner());
    let asks_for_code = organization.asks_for_codes;
    Ok(Some(OpenLink { organization, agreement, contact, participant: participant_id, asks_for_code, access }))
}

/// A session that a link opened.
#[derive(Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: ParticipantSession,
    /// Whether it has just begun, rather than goes on.
    pub(crate) is_new: bool,
}

/// Why a link opened no session.
#[derive(Debug)]
pub enum NotOpened {
    /// The link is not open.
    Link(Followed),
    /// A code is required, and none that can be one was typed.
    NoCode(Box<OpenLink>),
    /// The code is wrong, or no longer works.
    WrongCode(Box<OpenLink>),
}

#[derive(Debug, Clone, Copy)]
enum Tried {
    /// Right, with the code's id.
    Right(Uuid),
    Wrong,
    TooMany,
}

/// Someone who comes with a link.
#[derive(Debug)]
pub struct LinkVisit<'a> {
    pub(crate) call: BrowserCall<'a>,
    /// The link, if it has the form of one.
    pub(crate) link: Option<&'a ParticipantLink>,
    /// The secret of the browser's session as the link's participant.
    pub(crate) own: Option<CookieSecret>,
    /// The member with a session in the browser.
    pub(crate) member: Option<&'a SignedIn>,
}

impl LinkVisit<'_> {
    /// Follows the link without opening a session. Links that don't work count by network address and slow down each
    /// other.
    pub async fn follow(&self) -> Result<Followed, Error> {
        let call = &self.call;
        if let Some(link) = self.link
            && let Some(open) = find(&*call.keyring().await?, call.store(), link).await?
        {
            let goes_on = open.asks_for_code && self.own_session(open.participant).await?.is_some();
            return Ok(Followed::Open(Box::new(OpenLink { asks_for_code: open.asks_for_code && !goes_on, ..open })));
        }
        let wrong_links = keys::failed_logins("participant-link", &call.network);
        Ok(if self.count_guess(&wrong_links).await? { Followed::Gone } else { Followed::TooMany })
    }

    async fn count_guess(&self, counter: &keys::Key) -> Result<bool, Error> {
        count_attempt(&self.call, counter, limits::LOGIN_ATTEMPTS_FROM_ADDRESS).await
    }

    async fn own_session(&self, participant: ParticipantId) -> Result<Option<ParticipantSession>, Error> {
        let (own, named) = (self.own.clone(), self.call.named.clone());
        participant_sessions::find(self.call.record, own, participant, named).await
    }

    /// Opens a session, with the typed code if the organization asks for one.
    pub async fn open(&self, typed: &str) -> Result<Result<OpenedSession, NotOpened>, Error> {
        let (secret, tried) = (CookieSecret::new()?, OnceCell::new());
        Box::pin(self.call.run(|| self.try_to_open(typed, &secret, &tried))).await
    }

    /// One attempt. `tried` keeps the code's result.
    async fn try_to_open(
        &self,
        typed: &str,
        secret: &CookieSecret,
        tried: &OnceCell<Tried>,
    ) -> Result<Decided<Result<OpenedSession, NotOpened>>, Error> {
        let refused = |refused| Ok(Decided::Nothing(Err(refused)));
        let opened = match self.follow().await? {
            Followed::Open(opened) => opened,
            other => return refused(NotOpened::Link(other)),
        };
        if !opened.asks_for_code {
            if !opened.organization.asks_for_codes {
                return self.begin(secret, &opened, None).await;
            }
            // A session that needed no code goes on. If it has just ended, no other begins without a code.
            let session = match (self.own_session(opened.participant).await?, self.member) {
                (Some(session), Some(member)) => session.in_browser_of(member).await?,
                (Some(session), None) => session,
                (None, _) => return refused(NotOpened::NoCode(opened)),
            };
            return Ok(Decided::Nothing(Ok(OpenedSession { session, is_new: false })));
        }
        let Some(typed) = LinkCode::parse(typed) else { return refused(NotOpened::NoCode(opened)) };
        // The code is tried once, however often the session has to be written.
        let code = match *tried.get_or_try_init(|| self.try_code(&opened, typed)).await? {
            Tried::Right(code) => code,
            Tried::Wrong => return refused(NotOpened::WrongCode(opened)),
            Tried::TooMany => return refused(NotOpened::Link(Followed::TooMany)),
        };
        if self.still_works(&opened, code).await? {
            return self.begin(secret, &opened, Some(code)).await;
        }
        // An earlier attempt may have taken effect although its response was lost.
        let Some(stored) = self.call.store().participant_session(secret.hash()).await? else {
            return refused(NotOpened::WrongCode(opened));
        };
        self.call.note_commit();
        let session = opened.session(&self.call, secret, stored);
        Ok(Decided::Nothing(Ok(OpenedSession { session, is_new: true })))
    }

    /// Counts the try before comparing the code.
    async fn try_code(&self, open: &OpenLink, typed: LinkCode) -> Result<Tried, Error> {
        let wrong = keys::failed_logins("participant-code", &format!("{} {}", self.call.network, open.participant));
        if wait_ms(&self.call, &wrong, limits::LOGIN_ATTEMPTS_FROM_ADDRESS).await? > 0 {
            return Ok(Tried::TooMany);
        }
        let (part, keyring) = (open.part(), self.call.keyring().await?);
        let store = OrgStore::new(self.call.store().clone(), part.organization_id);
        let code = store.link_code(part.agreement_id, part.participant_id).await?;
        if let Some(code) = code.filter(|code| code.works(open.access.generation, self.call.now()))
            && store.count_code_try(part, code.id).await?
            && code.is(&keyring, part, &typed)
        {
            return Ok(Tried::Right(code.id));
        }
        self.count_guess(&wrong).await?;
        Ok(Tried::Wrong)
    }

    /// Whether a right code has not been used or replaced since.
    async fn still_works(&self, open: &OpenLink, id: Uuid) -> Result<bool, Error> {
        let part = open.part();
        let store = OrgStore::new(self.call.store().clone(), part.organization_id);
        let code = store.link_code(part.agreement_id, part.participant_id).await?;
        Ok(code.is_some_and(|code| code.id == id && code.works(open.access.generation, self.call.now())))
    }

    async fn begin(
        &self,
        secret: &CookieSecret,
        opened: &OpenLink,
        code: Option<Uuid>,
    ) -> Result<Decided<Result<OpenedSession, NotOpened>>, Error> {
        let (part, now) = (opened.part(), self.call.now());
        // Pressing the link's button again does not end what the browser is known for.
        let before = self.own_session(opened.participant).await?;
        let mut stored = StoredParticipantSession {
            part,
            contact_id: opened.contact.id,
            generation: opened.access.generation,
            created_at: now,
            seen_at: now,
            in_person: before.as_ref().and_then(ParticipantSession::in_person).cloned(),
            to_ask_about: before.as_ref().and_then(ParticipantSession::to_ask_about).cloned(),
        };
        if let Some(member) = self.member
            && let Some(found) = host(member, &stored).await?
        {
            stored.to_ask_about = Some(found);
        }
        let session = opened.session(&self.call, secret, stored);
        let scope = session.scope().clone();
        let begun = participants::begin_session(scope.call(), secret.hash(), session.stored())?;
        let used = code.map(|id| link_codes::use_once(scope.call(), part, id));
        let shown = [part.agreement_id.uuid(), part.participant_id.uuid()];
        let plan = Plan::new(&scope, Ok(OpenedSession { session, is_new: true }));
        let plan = plan.change([begun]).change(used).showing(shown);
        Ok(Decided::Act(scope, plan))
    }
}
