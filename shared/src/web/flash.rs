//! Flashes: texts that a form's handler sets for the page after the redirect.
//!
//! A flash travels in a cookie, sealed for the session, for [`limits::FLASH_LIFETIME_S`] seconds. A notice is shown
//! once; a signing secret all that time on its endpoint's pages, because it can't be shown again.
//!
//! A decision's note and a late form outlive their session: sealed for the member who typed them, for the next sign-in.

use http::{HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::crypto::keyring::{Keyring, SealError, Sealed};
use crate::crypto::keys::open_with;
use crate::domain::ids::{EndpointId, InvitationId, MemberId, ParticipantId, ProposalId, TokenId};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::service::submitter::Submitter;
use crate::web::request::Request;
use crate::web::submitted_form::SubmittedForm;

/// The kinds of flashes. Each, and each endpoint's secret, has its own cookie: none overwrites an unread text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flash {
    /// The new signing secret of an endpoint.
    SigningSecret(EndpointId),
    /// The URL of a deleted endpoint.
    DeletedEndpoint,
    /// The name of a removed member.
    RemovedMember,
    /// The value of a new token.
    TokenValue(TokenId),
    /// The secret of a new invitation's link.
    InvitationLink(InvitationId),
    /// The secret of a new link to set a member's password.
    PasswordLink(MemberId),
    /// A new code for the link of a participant.
    LinkCode(ParticipantId),
    /// The generation of a participant's link that is shown.
    ParticipantLink(ParticipantId),
    /// The note of a decision that a member sent after their session had ended.
    DecisionNote(ProposalId, MemberId),
    /// The fields of a form that a member sent after their session had ended.
    UnsentForm(MemberId),
    /// The secret of a second factor that is being set up.
    SecondFactorSecret,
    /// New recovery codes, a line each.
    RecoveryCodes,
    /// The password of a sign-in was right, and a code is next. Sealed for the forms of a browser without a session.
    SecondStep,
    /// What an act did and what is next: a notice's title and its line, one per line.
    Done,
}

impl Flash {
    /// Seals a text for the form's session. Returns the `Set-Cookie` header, if the text fits.
    pub async fn set<S: Submitter>(
        self,
        submitted: &SubmittedForm<'_, S>,
        text: &str,
    ) -> Result<Option<HeaderValue>, Error> {
        self.set_for(submitted.app(), &submitted.form_token(), text, submitted.scope().now()).await
    }

    /// [`Self::set`] for forms with a token.
    pub(super) async fn set_for(
        self,
        app: &AppState,
        form_token: &str,
        text: &str,
        now: Timestamp,
    ) -> Result<Option<HeaderValue>, Error> {
        let keys = app.webhooks()?.keys.keyring().await?;
        let sealed = self.seal(&keys, text, form_token, now)?;
        Ok(self.cookie(app.insecure_cookies, &sealed, self.lifetime_s()))
    }

    /// Seals what was typed after the session's end, replacing earlier text. The `Set-Cookie` header, if it fits.
    pub async fn keep(self, request: &Request, typed: &str) -> Result<Option<HeaderValue>, Error> {
        let keys = request.app().webhooks()?.keys.keyring().await?;
        let sealed = self.seal(&keys, typed, "", request.now())?;
        let cookie = self.cookie(request.app().insecure_cookies, &sealed, self.lifetime_s());
        Ok(cookie.filter(|cookie| cookie.len() <= limits::COOKIE_BYTES_MAX))
    }

    /// The text, if the request has an unexpired cookie. The cookie stays, so that other pages show the text too.
    pub async fn read(self, request: &Request) -> Result<Option<String>, Error> {
        if !self.is_in(request) {
            return Ok(None);
        }
        self.read_for(request, &request.form_token()?).await
    }

    pub(super) async fn read_for(self, request: &Request, form_token: &str) -> Result<Option<String>, Error> {
        let Some(sealed) = self.value_in(request).and_then(decode) else { return Ok(None) };
        let keys = &*request.app().webhooks()?.keys;
        match open_with(keys, |keyring| self.open(keyring, &sealed, form_token, request.now())).await {
            // It was sealed for another session or kind, or with a removed key.
            Err(SealError::Broken | SealError::NoSuchKey(_)) => Ok(None),
            opened => Ok(opened?),
        }
    }

    /// Whether the request has the cookie.
    #[must_use]
    pub fn is_in(self, request: &Request) -> bool {
        self.value_in(request).is_some()
    }

    /// The `Set-Cookie` header that removes the cookie, if the request has it.
    #[must_use]
    pub fn removal(self, request: &Request) -> Option<HeaderValue> {
        self.is_in(request).then(|| self.cookie(request.app().insecure_cookies, "", 0)).flatten()
    }

    fn value_in(self, request: &Request) -> Option<&str> {
        let name = self.cookie_name(request.app().insecure_cookies);
        let lines = request.headers().get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Like [`Flash::read`], with the `Set-Cookie` header that removes the cookie.
    pub async fn take(self, request: &Request) -> Result<Option<(String, Option<HeaderValue>)>, Error> {
        let is_local = request.app().insecure_cookies;
        Ok(self.read(request).await?.map(|text| (text, self.cookie(is_local, "", 0))))
    }

    /// Over https the name begins with `__Host-`, so browsers accept the cookie from this host only.
    fn cookie_name(self, is_local: bool) -> String {
        let prefix = if is_local { "" } else { "__Host-" };
        match self {
            Self::SigningSecret(endpoint) => format!("{prefix}once-secret-{endpoint}"),
            Self::DeletedEndpoint => format!("{prefix}once-deleted"),
            Self::RemovedMember => format!("{prefix}once-removed"),
            Self::TokenValue(token) => format!("{prefix}once-token-{token}"),
            Self::InvitationLink(invitation) => format!("{prefix}once-invitation-{invitation}"),
            Self::PasswordLink(member) => format!("{prefix}once-password-{member}"),
            Self::LinkCode(participant) => format!("{prefix}once-code-{participant}"),
            Self::ParticipantLink(participant) => format!("{prefix}once-link-{participant}"),
            Self::DecisionNote(..) => format!("{prefix}once-note"),
            Self::UnsentForm(_) => format!("{prefix}once-form"),
            Self::SecondFactorSecret => format!("{prefix}once-second-factor"),
            Self::RecoveryCodes => format!("{prefix}once-recovery-codes"),
            Self::SecondStep => format!("{prefix}second-step"),
            Self::Done => format!("{prefix}once-done"),
        }
    }

    fn cookie(self, is_local: bool, value: &str, max_age_s: i64) -> Option<HeaderValue> {
        let secure = if is_local { "" } else { "; Secure" };
        let name = self.cookie_name(is_local);
        let text = format!("{name}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(text).ok()
    }

    fn lifetime_s(self) -> i64 {
        match self {
            Self::DecisionNote(..) | Self::UnsentForm(_) => limits::KEPT_TEXT_LIFETIME_S,
            Self::SecondFactorSecret => limits::SECOND_FACTOR_SET_UP_S,
            Self::SecondStep => limits::SECOND_STEP_LIFETIME_S,
            _ => limits::FLASH_LIFETIME_S,
        }
    }

    fn associated_data(self, form_token: &str) -> String {
        match self {
            Self::SigningSecret(endpoint) => format!("shown once, secret of {endpoint}, to {form_token}"),
            Self::DeletedEndpoint => format!("shown once, which endpoint was deleted, to {form_token}"),
            Self::RemovedMember => format!("shown once, who was removed, to {form_token}"),
            Self::TokenValue(token) => format!("shown once, value of {token}, to {form_token}"),
            Self::InvitationLink(invitation) => format!("shown once, link of {invitation}, to {form_token}"),
            Self::PasswordLink(member) => format!("shown once, password link of {member}, to {form_token}"),
            Self::LinkCode(participant) => format!("shown once, code of {participant}, to {form_token}"),
            Self::ParticipantLink(participant) => format!("shown once, link of {participant}, to {form_token}"),
            // The session has ended: the note is for the member's next one.
            Self::DecisionNote(proposal, member) => format!("shown once, note for {proposal}, to {member}"),
            Self::UnsentForm(member) => format!("shown once, form not sent, to {member}"),
            Self::SecondFactorSecret => format!("shown once, secret of a second factor, to {form_token}"),
            Self::RecoveryCodes => format!("shown once, recovery codes, to {form_token}"),
            Self::SecondStep => format!("a sign-in without its code, to {form_token}"),
            Self::Done => format!("shown once, what was done, to {form_token}"),
        }
    }

    /// The time is sealed with the text, because a browser may keep a cookie longer than `Max-Age`.
    fn seal(self, keys: &Keyring, text: &str, form_token: &str, now: Timestamp) -> Result<String, Error> {
        let internal = |error: serde_json::Error| Error::Internal(error.to_string());
        let content = serde_json::to_string(&(now, text)).map_err(internal)?;
        let sealed = keys.seal(&content, &self.associated_data(form_token))?;
        let sealed = serde_json::to_string(&sealed).map_err(internal)?;
        Ok(utf8_percent_encode(&sealed, NON_ALPHANUMERIC).to_string())
    }

    /// None if the text has expired. Fails if its key is not among these, or it was sealed for another session or kind.
    fn open(
        self,
        keys: &Keyring,
        sealed: &Sealed,
        form_token: &str,
        now: Timestamp,
    ) -> Result<Option<String>, SealError> {
        let content = keys.open(sealed, &self.associated_data(form_token))?;
        let (sealed_at, text): (Timestamp, String) = serde_json::from_str(&content).map_err(|_| SealError::Broken)?;
        Ok((now <= sealed_at.plus_seconds(self.lifetime_s())).then_some(text))
    }
}

fn decode(value: &str) -> Option<Sealed> {
    serde_json::from_str(&percent_decode_str(value).decode_utf8().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flash_opens_for_its_session_and_kind_for_two_minutes() {
        let keys = Keyring::new("one").unwrap();
        let (own, other) = (EndpointId::new(), EndpointId::new());
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let flash = Flash::SigningSecret(own);
        let sealed = decode(&flash.seal(&keys, "whsec_; é", "token", now).unwrap()).unwrap();
        for (flash, token, seconds, opens) in [
            (flash, "token", 0, true),
            (flash, "token", 120, true),
            (flash, "token", 121, false),
            (flash, "another", 0, false),
            (Flash::SigningSecret(other), "token", 0, false),
            (Flash::RemovedMember, "token", 0, false),
            (Flash::DeletedEndpoint, "token", 0, false),
        ] {
            let opened = flash.open(&keys, &sealed, token, now.plus_seconds(seconds)).ok().flatten();
            assert_eq!(opened.as_deref(), opens.then_some("whsec_; é"), "{flash:?} {token} {seconds}");
        }
    }

    #[test]
    fn the_steps_of_a_second_factor_open_for_their_own_times() {
        let keys = Keyring::new("one").unwrap();
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        for (flash, lifetime_s) in
            [(Flash::SecondStep, 300), (Flash::SecondFactorSecret, 900), (Flash::RecoveryCodes, 120)]
        {
            let sealed = decode(&flash.seal(&keys, "text", "token", now).unwrap()).unwrap();
            for (token, seconds, opens) in
                [("token", lifetime_s, true), ("token", lifetime_s + 1, false), ("another", 0, false)]
            {
                let opened = flash.open(&keys, &sealed, token, now.plus_seconds(seconds)).ok().flatten();
                assert_eq!(opened.is_some(), opens, "{flash:?} {token} {seconds}");
            }
        }
    }

    #[test]
    fn a_note_opens_for_its_member_and_proposal_in_another_session_for_half_an_hour() {
        let keys = Keyring::new("one").unwrap();
        let (proposal, member) = (ProposalId::new(), MemberId::new());
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let kept = Flash::DecisionNote(proposal, member);
        let sealed = decode(&kept.seal(&keys, "Fine.\n“Go”", "", now).unwrap()).unwrap();
        for (flash, seconds, opens) in [
            (kept, 1800, true),
            (kept, 1801, false),
            (Flash::DecisionNote(ProposalId::new(), member), 0, false),
            (Flash::DecisionNote(proposal, MemberId::new()), 0, false),
            (Flash::Done, 0, false),
        ] {
            let opened = flash.open(&keys, &sealed, "another session", now.plus_seconds(seconds)).ok().flatten();
            assert_eq!(opened.as_deref(), opens.then_some("Fine.\n“Go”"), "{flash:?} {seconds}");
        }
    }

    #[test]
    fn each_flash_has_a_cookie_of_its_own() {
        let flashes = [
            Flash::SigningSecret(EndpointId::new()),
            Flash::SigningSecret(EndpointId::new()),
            Flash::DeletedEndpoint,
            Flash::RemovedMember,
        ];
        let names: std::collections::BTreeSet<String> = flashes.map(|flash| flash.cookie_name(false)).into();
        assert_eq!(names.len(), flashes.len());
        assert!(names.iter().all(|name| name.starts_with("__Host-")));
    }
}
