//! Sessions: how somebody signs in to the app, stays signed in, and is signed out. The only place that makes a
//! [`Member`].
//!
//! A session is a secret in a cookie; the store has its hash. It ends after twelve hours, after two without a request,
//! when the person signs out here or everywhere, and when they are no member any more. Guessing passwords is slowed
//! down per account and per address, alike whether there is such an account or not.
//!
//! Whoever guesses wrong on purpose must not keep the account's owner out. So a browser that has signed in to an account
//! has a cookie, and guesses in it are counted by themselves: it waits for nobody's guesses but its own, and nobody's
//! but its own count there. The cookie is no way in: it only says where guesses count, until the person signs out
//! everywhere.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::api::caller::CallContext;
use crate::crypto::{self, CookieSecret};
use crate::domain::account::{Account, Membership};
use crate::domain::contact::Email;
use crate::domain::ids::OrgId;
use crate::domain::member::Member;
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::session::{FailedLogins, Session};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::store::commit::{Change, Commit};
use crate::store::keys;
use crate::store::table::jittered;
use crate::store::{OrgStore, Store, members, sessions};
use crate::web::request::{Request, SubmittedForm};
use crate::wire::text::Folded;

/// The cookies of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The session's secret.
    Session,
    /// The secret of the form that somebody signs in with.
    Form,
    /// The secret of a browser that has signed in, which signing out does not take away.
    Browser,
}

impl Cookie {
    /// With https, browsers see to it that a `__Host-` cookie can be set by this very host only.
    fn name(self, app: &AppState) -> &'static str {
        match (self, app.insecure_cookies) {
            (Self::Session, false) => "__Host-session",
            (Self::Session, true) => "session",
            (Self::Form, false) => "__Host-form",
            (Self::Form, true) => "form",
            (Self::Browser, false) => "__Host-browser",
            (Self::Browser, true) => "browser",
        }
    }

    /// The secret that a request has in it.
    #[must_use]
    pub fn read(self, app: &AppState, headers: &HeaderMap) -> Option<CookieSecret> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.name(app)).and_then(|(_, value)| CookieSecret::parse(value))
    }

    /// The header that sets it, or takes it away.
    #[must_use]
    pub fn set(self, app: &AppState, secret: Option<&CookieSecret>) -> Option<HeaderValue> {
        let lifetime_s = match self {
            Self::Session | Self::Form => limits::SESSION_LIFETIME_S,
            Self::Browser => limits::DEVICE_COOKIE_LIFETIME_S,
        };
        let (value, seconds) = secret.map_or(("", 0), |secret| (secret.reveal(), lifetime_s));
        let secure = if app.insecure_cookies { "" } else { "; Secure" };
        let name = self.name(app);
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(text).ok()
    }
}

/// A path and query to come back to after signing in: in the app, on this host, and not a page of signing in or out.
#[must_use]
pub fn safe_next(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("/app")?;
    let (path, _) = rest.split_once('?').unwrap_or((rest, ""));
    let is_in_app = path.is_empty() || path.starts_with('/');
    // What browsers would read as another address: a backslash as a slash, dots as a way up, however they are written.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#';
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    let fits = is_in_app
        && !path.starts_with("/sign-")
        && address.len() <= limits::NEXT_PATH_CHARS_MAX
        && address.bytes().all(is_plain)
        && !path.contains("//")
        && !path.split('/').any(is_dots);
    fits.then_some(address)
}

/// Somebody who is signed in, in one request.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub(crate) member: Member,
    pub(crate) organization: Organization,
    pub(crate) account: Account,
    pub(crate) secret: CookieSecret,
    pub(crate) session: Session,
    pub(crate) act: CallContext,
}

impl SignedIn {
    /// The member.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The organization that the session is in.
    #[must_use]
    pub fn organization(&self) -> &Organization {
        &self.organization
    }

    /// The address that the person signs in with.
    #[must_use]
    pub fn email(&self) -> &Email {
        &self.account.email
    }

    /// What the request is recorded under, with the store as the organization sees it.
    #[must_use]
    pub fn act(&self) -> &CallContext {
        &self.act
    }

    /// What every form carries.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.secret.form_token()
    }

    /// The organizations that the person belongs to.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let found = self.act.store.store.memberships(&self.account).await?;
        Ok(found.into_iter().map(|(organization, _)| organization).collect())
    }
}

/// Finds out who a request is from, by its session's cookie. Nobody, if the session has ended in any way.
pub(crate) async fn recognize(request: &Request) -> Result<Option<SignedIn>, Error> {
    let Some(secret) = Cookie::Session.read(&request.app, request.headers()) else { return Ok(None) };
    let Some(session) = request.store.session(secret.hash()).await? else { return Ok(None) };
    if !session.is_alive(request.now) {
        return Ok(None);
    }
    let Some((account, organization, record)) = person_of(&request.store, &session).await? else { return Ok(None) };
    if session.is_to_be_refreshed(request.now) {
        let seen = Session { seen_at: request.now, ..session.clone() };
        // If it can't be kept that the session is used, it ends earlier, and nothing else.
        let _ = request.store.refresh_session(secret.hash(), &seen).await;
    }
    Ok(Some(signed_in(request, account, organization, &record, secret, session)))
}

/// Who a session is of, unless they have been removed or signed out everywhere.
async fn person_of(store: &Store, session: &Session) -> Result<Option<(Account, Organization, MemberRecord)>, Error> {
    let is_member = |membership: &Membership| {
        membership.organization_id == session.organization_id && membership.member_id == session.member_id
    };
    let found = store.person(session).await?;
    Ok(found.filter(|(account, ..)| account.epoch == session.epoch && account.memberships.iter().any(is_member)))
}

/// Looks again who somebody is who was signed in when the request came.
///
/// # Errors
/// [`Error::Unauthenticated`] when they are signed out by now; otherwise when the store can't be read.
pub(crate) async fn member_now(request: &Request, signed_in: &SignedIn) -> Result<Member, Error> {
    let (_, organization, record) =
        person_of(&request.store, &signed_in.session).await?.ok_or(Error::Unauthenticated)?;
    Ok(Member::of_session(organization.id, &record))
}

fn signed_in(
    request: &Request,
    account: Account,
    organization: Organization,
    record: &MemberRecord,
    secret: CookieSecret,
    session: Session,
) -> SignedIn {
    let member = Member::of_session(organization.id, record);
    let act = CallContext {
        request_id: request.request_id,
        operation: request.operation,
        now: request.now,
        actor: member.actor(),
        store: OrgStore::new(request.store.clone(), organization.id),
        asked: request.asked(),
    };
    SignedIn { member, organization, account, secret, session, act }
}

/// Where a request comes from, as whoever received it knows: the gateway, or the local stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Who is counted as one: an address, or of IPv6 the network that one household or office has.
    fn counted(self) -> String {
        match self.0.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}")
            }
        }
    }
}

/// The cookies of somebody who has just signed in.
#[derive(Debug)]
pub struct Entered {
    /// The session's secret.
    pub session: CookieSecret,
    /// The browser's.
    pub browser: CookieSecret,
}

/// Signs somebody in, if the password is the account's. Nothing when something is not right or too much was guessed:
/// nobody is told which.
///
/// # Errors
/// When the store can't be read or written.
pub async fn sign_in(request: &mut Request, email: &str, password: &str) -> Result<Option<Entered>, Error> {
    let account = match Email::parse(email) {
        Ok(email) => request.store.account(&email).await?,
        Err(_) => None,
    };
    let typed = Folded::new(email.trim());
    // Whoever signs out everywhere, having lost a device, makes browsers unknown too.
    let epoch = account.as_ref().map_or(0, |account| account.epoch);
    let known = |browser: &CookieSecret| keys::known_device(browser.hash(), typed.as_str(), epoch);
    let guess = LoginAttempt::by(request, typed.as_str(), known).await?;
    // Counted before it is looked at, so that guesses at the same time count too.
    if !guess.count(&request.store, request.now).await? {
        return Ok(None);
    }
    if !is_password_of(account.as_ref(), password).await? {
        return Ok(None);
    }
    let Some(account) = account else { return Ok(None) };
    let fresh = || CookieSecret::new().map_err(|error| Error::Internal(error.to_string()));
    let browser = Cookie::Browser.read(&request.app, request.headers()).map_or_else(fresh, Ok)?;
    // One for all attempts: one whose answer was lost may have begun the session.
    let session = fresh()?;
    let attempt = async || {
        let Some(first) = request.store.memberships(&account).await?.into_iter().next() else { return Ok(None) };
        let known = sessions::remember_device(known(&browser), request.now);
        let old = Cookie::Session.read(&request.app, request.headers());
        enter(request, &account, first, &session, old.as_ref(), request.now, Some(known)).await.map(Some)
    };
    let Some(signed_in) = request.retry_on_conflict(attempt).await? else { return Ok(None) };
    guess.was_right(&request.store).await;
    request.signed_in = Some(signed_in);
    Ok(Some(Entered { session, browser }))
}

/// Where a guess counts.
enum LoginAttempt {
    /// In a browser that has signed in to the account before.
    InBrowser(keys::Key),
    /// Anywhere else: at the account, and with all others from the same address.
    Anywhere { at_account: keys::Key, from_address: keys::Key },
}

impl LoginAttempt {
    async fn by(request: &Request, email: &str, known: impl Fn(&CookieSecret) -> keys::Key) -> Result<Self, Error> {
        if let Some(secret) = Cookie::Browser.read(&request.app, request.headers())
            && request.store.knows_device(&known(&secret)).await?
        {
            return Ok(Self::InBrowser(keys::failed_logins_on_device(secret.hash(), email)));
        }
        let address = request.client_address().map_or_else(|| "unknown".to_owned(), ClientAddress::counted);
        let from_address = keys::failed_logins("address", &address);
        Ok(Self::Anywhere { at_account: keys::failed_logins("account", email), from_address })
    }

    /// Counts it, if it may be made now.
    async fn count(&self, store: &Store, now: Timestamp) -> Result<bool, Error> {
        match self {
            Self::InBrowser(at) => count_attempt(store, at, limits::LOGIN_ATTEMPTS_ON_DEVICE, now).await,
            Self::Anywhere { at_account, from_address } => {
                Ok(count_attempt(store, from_address, limits::LOGIN_ATTEMPTS_FROM_ADDRESS, now).await?
                    && count_attempt(store, at_account, limits::LOGIN_ATTEMPTS_AT_ACCOUNT, now).await?)
            }
        }
    }

    /// It was no wrong guess after all.
    async fn was_right(&self, store: &Store) {
        match self {
            Self::InBrowser(at) => store.forget_failed_logins(at).await,
            Self::Anywhere { at_account, from_address } => {
                store.forget_failed_logins(at_account).await;
                store.take_back_failed_login(from_address).await;
            }
        }
    }
}

/// Begins a session with a secret, in the place of the one that the browser had, together with another change. It takes
/// effect only while the person is a member there.
async fn enter(
    request: &Request,
    account: &Account,
    (organization, record): (Organization, MemberRecord),
    secret: &CookieSecret,
    old: Option<&CookieSecret>,
    created_at: Timestamp,
    with: Option<Change>,
) -> Result<SignedIn, Error> {
    let session = Session {
        organization_id: organization.id,
        member_id: record.id,
        email: account.email.clone(),
        epoch: account.epoch,
        created_at,
        seen_at: request.now,
    };
    let signed_in = signed_in(request, account.clone(), organization, &record, secret.clone(), session);
    let begun = sessions::create(secret.hash(), &signed_in.session)?;
    let is_there = members::is_there(signed_in.act.org(), record.id);
    let changes = [Some(begun), Some(is_there), old.map(|old| sessions::remove(old.hash())), with];
    Commit::new(&signed_in.act).with(changes.into_iter().flatten()).done_as(StatusCode::SEE_OTHER, &[]).await?;
    Ok(signed_in)
}

async fn is_password_of(account: Option<&Account>, password: &str) -> Result<bool, Error> {
    // What is too long is no account's; hashing it would cost us more than whoever sends it.
    let (password, fits) = match password.len() {
        ..=limits::PASSWORD_BYTES_MAX => (password.to_owned(), true),
        _ => (String::new(), false),
    };
    let kept = account.map(|account| account.password_hash.clone());
    // It takes tens of milliseconds of a core.
    let checked = tokio::task::spawn_blocking(move || crypto::verify_password(&password, kept.as_deref())).await;
    Ok(checked.map_err(|_| Error::Internal("checking a password panicked".to_owned()))? && fits)
}

/// Counts a guess, if one is free now.
async fn count_attempt(store: &Store, at: &keys::Key, free: u32, now: Timestamp) -> Result<bool, Error> {
    let mut pause = limits::WRITE_BACKOFF_FIRST;
    for _ in 0..limits::LOGIN_COUNT_ATTEMPTS_MAX {
        let kept = store.failed_logins(at).await?;
        let version = kept.as_ref().map(|kept| kept.version);
        let failed_logins = kept.map(|kept| kept.value.remembered(now)).unwrap_or_default();
        if failed_logins.wait_ms(free, now) > 0 {
            return Ok(false);
        }
        let counted = FailedLogins { failures: failed_logins.failures.saturating_add(1), last_at_ms: now.unix_ms() };
        if store.put_failed_logins(at, counted, version).await? {
            return Ok(true);
        }
        tokio::time::sleep(jittered(pause)).await;
        pause = (pause * 2).min(limits::WRITE_BACKOFF_MAX);
    }
    // So many at once that there is no end to it: that is guessing.
    Ok(false)
}

/// Ends the session.
///
/// # Errors
/// When the store can't be written.
pub async fn sign_out(submitted: &SubmittedForm<'_>) -> Result<(), Error> {
    let changes = [sessions::remove(submitted.signed_in().secret.hash())];
    submitted.commit().with(changes).done_as(StatusCode::SEE_OTHER, &[]).await
}

/// Ends all sessions of the account, in every organization.
///
/// # Errors
/// When the store can't be written.
pub async fn sign_out_everywhere(submitted: &SubmittedForm<'_>) -> Result<(), Error> {
    let signed_in = submitted.signed_in();
    let changes = [sessions::end_all(&signed_in.account.email), sessions::remove(signed_in.secret.hash())];
    submitted.commit().with(changes).done_as(StatusCode::SEE_OTHER, &[]).await
}

/// Goes on in another organization of the same account, with a new session.
///
/// # Errors
/// [`Error::NotFound`] if the person does not belong to it; otherwise when the store can't be read or written.
pub async fn switch(request: &mut Request, to: OrgId) -> Result<CookieSecret, Error> {
    let SignedIn { account, secret: old, session, .. } = request.submitted()?.signed_in();
    let secret = CookieSecret::new().map_err(|error| Error::Internal(error.to_string()))?;
    let attempt = async || {
        let memberships = request.store.memberships(account).await?;
        let found = memberships.into_iter().find(|(organization, _)| organization.id == to);
        let into = found.ok_or_else(Error::not_found)?;
        // The twelve hours go on.
        enter(request, account, into, &secret, Some(old), session.created_at, None).await
    };
    let signed_in = request.retry_on_conflict(attempt).await?;
    request.signed_in = Some(signed_in);
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_app_are_come_back_to() {
        for path in [
            "/app",
            "/app?x",
            "/app/proposals/01980a57-3c11-7a94-b0c8-5e6f7d8091a2",
            "/app/workspaces?offset=50&a=b",
            "/app/workspaces?search=50%25+of+A.%20%26%20B%3F&x=//y/../z",
            "/app/v1.2/a..b",
            &format!("/app?search={}", "%F0%9F%A6%80".repeat(200)),
        ] {
            assert_eq!(safe_next(path), Some(path));
        }
        for path in [
            "",
            "/",
            "app",
            "/application",
            "//evil.example",
            "/app//evil.example",
            "https://evil.example/app",
            "/app/../x",
            "/app/%2e%2e/x",
            "/app/.%2E/x",
            "/app/..",
            "/app/..?x",
            "/app/./sign-in",
            "/app/x y",
            "/app/ü",
            "/app/x?y=\\z",
            "/app%2F..",
            "/app/sign-in?next=/app",
            "/app\\evil",
            "/app/\r\nx",
            "/app/sign-in",
            "/app/sign-out",
            "/app#x",
            "/\\evil.example/app",
            "javascript:alert(1)",
            &format!("/app/{}", "x".repeat(3000)),
        ] {
            assert_eq!(safe_next(path), None, "{path}");
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_guesser() {
        let counted = |text: &str| ClientAddress(text.parse().unwrap()).counted();
        assert_eq!(counted("2001:db8:1:2::1"), counted("2001:db8:1:2:ffff::9"));
        assert_ne!(counted("2001:db8:1:2::1"), counted("2001:db8:1:3::1"));
        assert_eq!(counted("::ffff:192.0.2.7"), counted("192.0.2.7"));
        assert_ne!(counted("192.0.2.7"), counted("192.0.2.8"));
    }
}
