//! The links of participants: following one, and opening the session that it is for.
//!
//! Decision: a link opens a page that names the organization and the agreement, and a button there opens the session.
//! Programs that look into messages follow links before people do, and must neither open a session nor count as having
//! looked.

use std::sync::atomic::Ordering;

use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::crypto::CookieSecret;
use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;
use crate::domain::organization::Organization;
use crate::domain::participant::receipt::Origin;
use crate::domain::participant::session::{Part, ParticipantSession};
use crate::domain::participant::{Access, ActingParticipant, ParticipantLink};
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::platform::call_record::CallRecord;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::{Plan, Scope};
use crate::store::commit::Commit;
use crate::store::{OrgStore, Store, keys, participants};
use crate::web::client_address::ClientAddress;
use crate::web::cookies;
use crate::web::credentials::{count_attempt, wait_ms};
use crate::web::participant_session::{Attending, attending, cookie_name, cookie_prefix};
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
    access: Access,
}

/// What became of following a link.
#[derive(Debug)]
pub enum Followed {
    /// It works.
    Open(Box<OpenLink>),
    /// It does not work, or no longer.
    Gone,
    /// Too many links that do not work came from this network address. It waits, whatever the link.
    TooMany,
}

/// Follows a link, without opening a session. Links that do not work are counted by network address, and slow down what
/// comes from there.
pub async fn follow(request: &Request, link: Option<&ParticipantLink>) -> Result<Followed, Error> {
    let address = request.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::rate_limit_key);
    let counter = keys::failed_logins("participant-link", &address);
    let free = limits::LOGIN_ATTEMPTS_FROM_ADDRESS;
    if wait_ms(request.store(), &counter, free, request.now()).await? > 0 {
        return Ok(Followed::TooMany);
    }
    if let Some(link) = link
        && let Some(open) = find((request.app(), request.store()), link).await?
    {
        return Ok(Followed::Open(Box::new(open)));
    }
    let may_go_on = count_attempt(request.store(), &counter, free, request.now()).await?;
    Ok(if may_go_on { Followed::Gone } else { Followed::TooMany })
}

async fn find((app, table): (&AppState, &Store), link: &ParticipantLink) -> Result<Option<OpenLink>, Error> {
    let Part { organization_id, agreement_id, participant_id } = link.part();
    let store = OrgStore::new(table.clone(), organization_id);
    let keyring = app.webhooks()?.keys.keyring().await?;
    let (access, agreement) =
        tokio::try_join!(store.access(agreement_id, participant_id), store.agreement(agreement_id))?;
    let Some(agreement) = agreement.filter(|_| link.opens(&keyring, access.generation)) else { return Ok(None) };
    let Some(contact) = agreement.participant(participant_id).map(|participant| participant.contact_id) else {
        return Ok(None);
    };
    // Nothing of a draft is for anyone but members.
    if !agreement.was_published() {
        return Ok(None);
    }
    let (organization, contacts) = tokio::try_join!(table.organization(organization_id), store.contacts([contact]))?;
    let Some((organization, contact)) = organization.zip(contacts.into_iter().next()) else { return Ok(None) };
    let (agreement, contact) = (agreement.into_inner(), contact.into_inner());
    Ok(Some(OpenLink { organization, agreement, contact, participant: participant_id, access }))
}

/// A session that a link opened.
#[derive(Debug)]
pub struct OpenedSession {
    /// The participant.
    pub participant: ParticipantId,
    /// The `Set-Cookie` headers: the session's, and those that remove the oldest ones where a browser has too many.
    pub cookies: Vec<HeaderValue>,
}

/// Opens a session with a link.
///
/// # Errors
/// What became of the link, if it opens none.
pub async fn open(
    request: &mut Request,
    link: Option<&ParticipantLink>,
) -> Result<Result<OpenedSession, Followed>, Error> {
    let secret = CookieSecret::new()?;
    let begin = || async {
        let opened = match follow(request, link).await? {
            Followed::Open(opened) => opened,
            refused => return Ok(Err(refused)),
        };
        begin(request, &secret, *opened).await.map(Ok)
    };
    let attending = match retry_on_conflict(Budget::until(request.write_deadline()), begin).await? {
        Ok(attending) => attending,
        Err(refused) => return Ok(Err(refused)),
    };
    let participant = attending.participant().id();
    let (app, headers) = (request.app(), request.headers());
    let own = cookies::set(app, &cookie_name(app, participant), Some((secret.reveal(), limits::SESSION_LIFETIME_S)));
    let others = surplus_cookies(headers, cookie_prefix(app), &cookie_name(app, participant));
    let cookies = own.into_iter().chain(others.iter().filter_map(|name| cookies::set(app, name, None))).collect();
    request.attend(attending);
    Ok(Ok(OpenedSession { participant, cookies }))
}

async fn begin(request: &Request, secret: &CookieSecret, opened: OpenLink) -> Result<Attending, Error> {
    let OpenLink { organization, agreement, contact, participant, access } = opened;
    let part = Part { organization_id: organization.id, agreement_id: agreement.id(), participant_id: participant };
    let session = ParticipantSession {
        part,
        contact_id: contact.id,
        generation: access.generation,
        created_at: request.now(),
        seen_at: request.now(),
    };
    let call = (request.app(), request.record());
    let attending =
        attending(call, (organization, &contact, access), (secret.clone(), session), request.path_record_ids());
    let (store, call) = (attending.scope().store(), attending.scope().call());
    let begun = participants::begin_session(call, secret.hash(), attending.session())?;
    let shown = [agreement.id().uuid(), participant.uuid()];
    Commit::new(store, call).with([begun]).done(StatusCode::SEE_OTHER, &shown).await?;
    request.is_audited.store(true, Ordering::Relaxed);
    Ok(attending)
}

/// The cookies of participants that are too many beside a new one: those that the browser sends first, the oldest.
fn surplus_cookies(headers: &HeaderMap, prefix: &str, new: &str) -> Vec<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let names: Vec<&str> =
        pairs.map(|(name, _)| name).filter(|name| name.starts_with(prefix) && *name != new).collect();
    let surplus = (names.len() + 1).saturating_sub(limits::PARTICIPANT_COOKIES_MAX);
    names.into_iter().take(surplus).map(str::to_owned).collect()
}

/// From where a request comes, for the receipt of an act.
#[must_use]
pub fn origin(request: &Request) -> Origin {
    let browser = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    Origin {
        address: request.client_address().map(|ClientAddress(address)| address.to_canonical().to_string()),
        browser: browser.map(|text| text.chars().take(limits::BROWSER_CHARS_MAX).collect()),
    }
}

/// Ends the session of the form, in this browser alone.
pub async fn leave(submitted: &SubmittedForm<'_, &ActingParticipant>) -> Result<Option<HeaderValue>, Error> {
    let (scope, attending) = (submitted.scope(), submitted.attending()?);
    let end = participants::end_session(scope.call(), attending.secret().hash());
    submitted.run(|| std::future::ready(Ok(Plan::new(scope, ()).change([end.clone()])))).await?;
    Ok(cookies::set(submitted.app(), &cookie_name(submitted.app(), attending.participant().id()), None))
}

/// A call of a participant without a browser. Participants of the local stack's demo act with it, through the same use
/// cases as their pages' forms.
#[derive(Debug)]
pub struct ParticipantCall {
    participant: ActingParticipant,
    scope: Scope,
}

impl ParticipantCall {
    /// Begins a call with a participant's link. `None`, if the link does not work.
    pub async fn begin(app: &AppState, operation: &'static str, link: &ParticipantLink) -> Result<Option<Self>, Error> {
        let record = CallRecord::begin(app, operation);
        let Some(open) = find((app, record.store()), link).await? else { return Ok(None) };
        record.store().note_visit(link.part(), open.access.generation, record.now()).await?;
        let named = (open.participant, open.contact.display_name.clone());
        let part = link.part();
        let participant = ActingParticipant::of_session(part.organization_id, part.agreement_id, named, open.access);
        let scope = record.scope(app, part.organization_id, participant.actor(), Vec::new());
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

    /// Commits a plan, unless it changes nothing, and gives its output.
    ///
    /// # Errors
    /// [`Error::Conflict`] if a record has changed since it was read. Nothing is written then.
    pub async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let (commit, shown, output) = plan.into_commit(&self.scope);
        commit.done(StatusCode::OK, &shown).await?;
        Ok(output)
    }
}
