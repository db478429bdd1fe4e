//! Participants' links: following one, and opening its session.
//!
//! - Decision: a link opens a page that names the organization and the agreement, and a button there opens the session.
//!   Programs that scan messages follow links before people do, and must neither open a session nor count as a look.
//! - Decision: if the organization asks for a code, the button opens a session only with the one that a member reads
//!   out by phone. Existing sessions go on. Wrong codes slow down further ones at the same link from the same network
//!   address; tries at one code also count, wherever they come from.
//! - Decision: a working link is never slowed down. Its code has 160 bits, so its holder did not guess it, and an
//!   office shares one address: one person's guesses must not keep others from signing. Other links count by address.

use std::sync::atomic::Ordering;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::crypto::CookieSecret;
use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ParticipantId};
use crate::domain::organization::Organization;
use crate::domain::participant::receipt::Origin;
use crate::domain::participant::session::{Part, StoredParticipantSession};
use crate::domain::participant::{Access, ActingParticipant, LinkCode, ParticipantLink};
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::platform::call_record::CallRecord;
use crate::retry::retry_on_conflict;
use crate::service::scope::{Plan, Scope};
use crate::store::commit::Commit;
use crate::store::participants::Visitor;
use crate::store::{OrgStore, Store, keys, link_codes, participants};
use crate::web::client_address::ClientAddress;
use crate::web::cookies;
use crate::web::credentials::{count_attempt, wait_ms};
use crate::web::participant_session::{ParticipantSession, authenticate, cookie_name, cookie_prefix, host};
use crate::web::request::Request;
use crate::web::submitted_form::SubmittedForm;

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

    fn holder(&self) -> ActingParticipant {
        let Part { organization_id, agreement_id, participant_id } = self.part();
        ActingParticipant::of_session(organization_id, agreement_id, participant_id, &self.contact, self.access)
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

/// Follows a link without opening a session. Links that don't work count by network address and slow down each other.
pub async fn follow(request: &Request, link: Option<&ParticipantLink>) -> Result<Followed, Error> {
    if let Some(link) = link
        && let Some(open) = find(request.app(), request.store(), link).await?
    {
        let goes_on = open.asks_for_code && own_session(request, open.participant).await?.is_some();
        return Ok(Followed::Open(Box::new(OpenLink { asks_for_code: open.asks_for_code && !goes_on, ..open })));
    }
    let wrong_links = keys::failed_logins("participant-link", &address_of(request));
    Ok(if count_guess(request, &wrong_links).await? { Followed::Gone } else { Followed::TooMany })
}

fn address_of(request: &Request) -> String {
    request.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::rate_limit_key)
}

fn wrong_codes(request: &Request, open: &OpenLink) -> keys::Key {
    keys::failed_logins("participant-code", &format!("{} {}", address_of(request), open.participant))
}

async fn count_guess(request: &Request, counter: &keys::Key) -> Result<bool, Error> {
    count_attempt(request.store(), counter, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, request.now()).await
}

async fn own_session(request: &Request, participant: ParticipantId) -> Result<Option<ParticipantSession>, Error> {
    let (headers, ids) = (request.headers(), request.path_record_ids());
    authenticate(request.app(), request.record(), headers, participant, ids).await
}

async fn find(app: &AppState, table: &Store, link: &ParticipantLink) -> Result<Option<OpenLink>, Error> {
    let Part { organization_id, agreement_id, participant_id } = link.part();
    let store = OrgStore::new(table.clone(), organization_id);
    let keyring = app.webhooks()?.keys.keyring().await?;
    let (access, agreement) =
        tokio::try_join!(store.access(agreement_id, participant_id), store.agreement(agreement_id))?;
    let Some(agreement) = agreement.filter(|_| link.opens(&keyring, access.generation)) else { return Ok(None) };
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
    /// The agreement.
    pub agreement: AgreementId,
    /// The participant.
    pub participant: ParticipantId,
    /// The session's `Set-Cookie` header, and those that remove the oldest cookies if a browser has too many.
    pub cookies: Vec<HeaderValue>,
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

/// Opens a session with a link, and the typed code if the organization asks for one.
pub async fn open(
    request: &mut Request,
    link: Option<&ParticipantLink>,
    typed: &str,
) -> Result<Result<OpenedSession, NotOpened>, Error> {
    let (secret, tried) = (CookieSecret::new()?, OnceCell::new());
    let attempt = || try_to_open(request, link, typed, &secret, &tried);
    let (session, is_new) = match retry_on_conflict(request.write_budget(), attempt).await? {
        Ok(opened) => opened,
        Err(refused) => {
            if let NotOpened::NoCode(open) | NotOpened::WrongCode(open) = &refused {
                let holder = holder(request, open);
                request.set_link_holder(holder);
            }
            return Ok(Err(refused));
        }
    };
    let participant = session.participant().id();
    let (app, headers) = (request.app(), request.headers());
    let own = cookies::set(app, &cookie_name(app, participant), Some((secret.reveal(), limits::SESSION_LIFETIME_S)));
    let others = surplus_cookies(headers, cookie_prefix(app), &cookie_name(app, participant));
    let cookies = own.into_iter().chain(others.iter().filter_map(|name| cookies::set(app, name, None)));
    let cookies = if is_new { cookies.collect() } else { Vec::new() };
    let agreement = session.participant().agreement_id();
    request.set_participant_session(session);
    Ok(Ok(OpenedSession { agreement, participant, cookies }))
}

#[derive(Debug, Clone, Copy)]
enum Tried {
    /// Right, with the code's id.
    Right(Uuid),
    Wrong,
    TooMany,
}

/// One attempt: returns the participant, and whether the session is new. `tried` keeps the code's result.
async fn try_to_open(
    request: &Request,
    link: Option<&ParticipantLink>,
    typed: &str,
    secret: &CookieSecret,
    tried: &OnceCell<Tried>,
) -> Result<Result<(ParticipantSession, bool), NotOpened>, Error> {
    let opened = match follow(request, link).await? {
        Followed::Open(opened) => opened,
        refused => return Ok(Err(NotOpened::Link(refused))),
    };
    if !opened.asks_for_code {
        if opened.organization.asks_for_codes {
            // A session that needed no code goes on. If it has just ended, no other begins without a code.
            return Ok(match (own_session(request, opened.participant).await?, request.signed_in()) {
                (Some(session), Ok(member)) => Ok((session.in_browser_of(member).await?, false)),
                (Some(session), Err(_)) => Ok((session, false)),
                (None, _) => Err(NotOpened::NoCode(opened)),
            });
        }
        return Ok(Ok((begin(request, secret, &opened, None).await?, true)));
    }
    let Some(typed) = LinkCode::parse(typed) else { return Ok(Err(NotOpened::NoCode(opened))) };
    // The code is tried once, however often the session has to be written.
    let code = match *tried.get_or_try_init(|| try_code(request, &opened, typed)).await? {
        Tried::Right(code) => code,
        Tried::Wrong => return Ok(Err(NotOpened::WrongCode(opened))),
        Tried::TooMany => return Ok(Err(NotOpened::Link(Followed::TooMany))),
    };
    if still_works(request, &opened, code).await? {
        return Ok(Ok((begin(request, secret, &opened, Some(code)).await?, true)));
    }
    // An earlier attempt may have taken effect although its response was lost.
    Ok(match request.store().participant_session(secret.hash()).await? {
        Some(stored) => {
            request.is_audited.store(true, Ordering::Relaxed);
            Ok((session_of(request, secret, &opened, stored), true))
        }
        None => Err(NotOpened::WrongCode(opened)),
    })
}

/// Counts the try before comparing the code.
async fn try_code(request: &Request, open: &OpenLink, typed: LinkCode) -> Result<Tried, Error> {
    let wrong = wrong_codes(request, open);
    if wait_ms(request.store(), &wrong, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, request.now()).await? > 0 {
        return Ok(Tried::TooMany);
    }
    let (part, keyring) = (open.part(), request.app().webhooks()?.keys.keyring().await?);
    let store = OrgStore::new(request.store().clone(), part.organization_id);
    let code = store.link_code(part.agreement_id, part.participant_id).await?;
    if let Some(code) = code.filter(|code| code.works(open.access.generation, request.now()))
        && store.count_code_try(part, code.id).await?
        && code.is(&keyring, part, &typed)
    {
        return Ok(Tried::Right(code.id));
    }
    count_guess(request, &wrong).await?;
    Ok(Tried::Wrong)
}

/// Whether a right code has not been used or replaced since.
async fn still_works(request: &Request, open: &OpenLink, id: Uuid) -> Result<bool, Error> {
    let part = open.part();
    let store = OrgStore::new(request.store().clone(), part.organization_id);
    let code = store.link_code(part.agreement_id, part.participant_id).await?;
    Ok(code.is_some_and(|code| code.id == id && code.works(open.access.generation, request.now())))
}

/// The scope in which the audit log shows acts of a link's holder without a session.
fn holder(request: &Request, open: &OpenLink) -> Scope {
    let by = open.holder();
    let ids = [open.agreement.id().uuid(), open.participant.uuid()].into_iter().flat_map(Uuid::into_bytes).collect();
    request.record().scope(request.app(), open.organization.id, by.actor(), ids)
}

fn session_of(
    request: &Request,
    secret: &CookieSecret,
    OpenLink { organization, contact, access, .. }: &OpenLink,
    stored: StoredParticipantSession,
) -> ParticipantSession {
    let visitor = Visitor { access: *access, organization: organization.clone(), contact: contact.clone() };
    let (secret, ids) = (secret.clone(), request.path_record_ids());
    ParticipantSession::new(request.app(), request.record(), visitor, secret, stored, ids)
}

async fn begin(
    request: &Request,
    secret: &CookieSecret,
    opened: &OpenLink,
    code: Option<Uuid>,
) -> Result<ParticipantSession, Error> {
    let part = opened.part();
    // Pressing the link's button again does not end what the browser is known for.
    let before = own_session(request, opened.participant).await?;
    let mut stored = StoredParticipantSession {
        part,
        contact_id: opened.contact.id,
        generation: opened.access.generation,
        created_at: request.now(),
        seen_at: request.now(),
        in_person: before.as_ref().and_then(ParticipantSession::in_person).cloned(),
        to_ask_about: before.as_ref().and_then(ParticipantSession::to_ask_about).cloned(),
    };
    if let Ok(member) = request.signed_in()
        && let Some(found) = host(member, &stored).await?
    {
        stored.to_ask_about = Some(found);
    }
    let session = session_of(request, secret, opened, stored);
    let (store, call) = (session.scope().store(), session.scope().call());
    let begun = participants::begin_session(call, secret.hash(), session.stored())?;
    let used = code.map(|id| link_codes::use_once(call, part, id));
    let shown = [part.agreement_id.uuid(), part.participant_id.uuid()];
    Commit::new(store, call).with([begun]).with(used).done(StatusCode::SEE_OTHER, &shown).await?;
    request.is_audited.store(true, Ordering::Relaxed);
    Ok(session)
}

/// A browser's surplus participant cookies beside a new one: the first sent, which are the oldest.
fn surplus_cookies(headers: &HeaderMap, prefix: &str, new: &str) -> Vec<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let names: Vec<&str> =
        pairs.map(|(name, _)| name).filter(|name| name.starts_with(prefix) && *name != new).collect();
    let surplus = (names.len() + 1).saturating_sub(limits::PARTICIPANT_COOKIES_MAX);
    names.into_iter().take(surplus).map(str::to_owned).collect()
}

/// Where a request comes from, for the receipt of an act.
#[must_use]
pub fn origin(request: &Request) -> Origin {
    let browser = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    Origin {
        address: request.client_address().map(|ClientAddress(address)| address.to_canonical().to_string()),
        browser: browser.map(|text| text.chars().take(limits::BROWSER_CHARS_MAX).collect()),
        in_person: request.participant_session().ok().and_then(ParticipantSession::in_person).cloned(),
    }
}

/// Records that the participant is present in the member's browser. What the session does from then on says so.
pub async fn act_in_person(submitted: &SubmittedForm<'_, &ActingParticipant>) -> Result<(), Error> {
    let (scope, session) = (submitted.scope(), submitted.participant_session()?);
    // Pressed twice.
    let Some(member) = session.to_ask_about() else { return Ok(()) };
    let marked = participants::act_in_person(scope.call(), session.secret().hash(), member)?;
    let shown = [session.participant().agreement_id().uuid(), session.participant().id().uuid()];
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change([marked.clone()]).showing(shown)))).await
}

/// Ends the form's session, in this browser alone.
pub async fn leave(submitted: &SubmittedForm<'_, &ActingParticipant>) -> Result<Option<HeaderValue>, Error> {
    let (scope, session) = (submitted.scope(), submitted.participant_session()?);
    let end = participants::end_session(scope.call(), session.secret().hash());
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change([end.clone()])))).await?;
    Ok(cookies::set(submitted.app(), &cookie_name(submitted.app(), session.participant().id()), None))
}

/// A call of a participant without a browser, for the local stack's demo. It uses the same use cases as the pages.
#[derive(Debug)]
pub struct ParticipantCall {
    participant: ActingParticipant,
    scope: Scope,
}

impl ParticipantCall {
    /// Begins a call with a participant's link. `None` if the link does not work.
    pub async fn begin(app: &AppState, operation: &'static str, link: &ParticipantLink) -> Result<Option<Self>, Error> {
        let record = CallRecord::begin(app, operation);
        let Some(open) = find(app, record.store(), link).await? else { return Ok(None) };
        record.store().note_visit(link.part(), open.access.generation, record.now()).await?;
        let participant = open.holder();
        let scope = record.scope(app, participant.org(), participant.actor(), Vec::new());
        Ok(Some(Self { participant, scope }))
    }

    /// The participant.
    #[must_use]
    pub fn participant(&self) -> &ActingParticipant {
        &self.participant
    }

    /// The scope of its use cases.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Commits a plan, unless it changes nothing, and returns its output.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let (commit, shown, output) = plan.into_commit(&self.scope);
        commit.done(StatusCode::OK, &shown).await?;
        Ok(output)
    }
}
