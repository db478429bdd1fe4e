//! A text on its way from the act that made it to the page that shows it, once: in a cookie that only this session can
//! read, for two minutes. A form answers with a redirect, and what is shown once is kept nowhere.

use http::{HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use shared::crypto::keyring::{Keyring, Sealed};
use shared::domain::ids::EndpointId;
use shared::domain::member::Admin;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::limits;
use shared::web::{Request, SubmittedForm};

/// What is shown once. Each kind has a cookie of its own, so that a removal does not take the place of a secret that
/// nobody has seen yet; the secret of another endpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flash {
    /// An endpoint's new signing secret.
    Secret(EndpointId),
    /// The name of whoever was removed.
    Removed,
}

impl Flash {
    /// With https, browsers see to it that a `__Host-` cookie can be set by this very host only.
    fn cookie_name(self, is_local: bool) -> &'static str {
        match (self, is_local) {
            (Self::Secret(_), false) => "__Host-once-secret",
            (Self::Secret(_), true) => "once-secret",
            (Self::Removed, false) => "__Host-once-removed",
            (Self::Removed, true) => "once-removed",
        }
    }

    /// For whom and as what it opens.
    fn place(self, form_token: &str) -> String {
        match self {
            Self::Secret(endpoint) => format!("shown once, secret of {endpoint}, to {form_token}"),
            Self::Removed => format!("shown once, who was removed, to {form_token}"),
        }
    }

    fn cookie(self, is_local: bool, value: &str, seconds: i64) -> Option<HeaderValue> {
        let secure = if is_local { "" } else { "; Secure" };
        let name = self.cookie_name(is_local);
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(text).ok()
    }

    /// The text as a cookie has it. The moment is sealed with it, since a browser may keep cookies for longer than it
    /// was told to.
    fn seal(self, keys: &Keyring, text: &str, form_token: &str, now: Timestamp) -> Result<String, Error> {
        let written = |error: serde_json::Error| Error::Internal(error.to_string());
        let sealed = keys.seal(&serde_json::to_string(&(now, text)).map_err(written)?, &self.place(form_token))?;
        let sealed = serde_json::to_string(&sealed).map_err(written)?;
        Ok(utf8_percent_encode(&sealed, NON_ALPHANUMERIC).to_string())
    }

    /// The text of a cookie, if it was sealed for this session, as this, and not too long ago.
    fn open(self, keys: &Keyring, sealed: &Sealed, form_token: &str, now: Timestamp) -> Option<String> {
        let opened = keys.open(sealed, &self.place(form_token)).ok()?;
        let (at, text): (Timestamp, String) = serde_json::from_str(&opened).ok()?;
        (now <= at.plus_seconds(limits::FLASH_LIFETIME_S)).then_some(text)
    }
}

/// The cookie that brings a text to the page that shows it.
///
/// # Errors
/// When it can't be sealed.
pub(crate) async fn set(
    submitted: &SubmittedForm<'_, Admin<'_>>,
    what: Flash,
    text: &str,
) -> Result<Option<HeaderValue>, Error> {
    let keys = submitted.app().webhooks()?.keys.keyring().await?;
    let sealed = what.seal(&keys, text, &submitted.form_token(), submitted.scope().now())?;
    Ok(what.cookie(submitted.app().insecure_cookies, &sealed, limits::FLASH_LIFETIME_S))
}

/// The text, where the browser brings it in time, with the header that takes it away.
///
/// # Errors
/// When nobody is signed in, or there is a text and no key.
pub(crate) async fn take(request: &Request, what: Flash) -> Result<Option<(String, Option<HeaderValue>)>, Error> {
    let is_local = request.app().insecure_cookies;
    let lines = request.headers().get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let Some((_, value)) = pairs.find(|(name, _)| *name == what.cookie_name(is_local)) else { return Ok(None) };
    let Some(sealed) = read(value) else { return Ok(None) };
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let text = what.open(&keys, &sealed, &request.signed_in()?.form_token(), request.now());
    Ok(text.map(|text| (text, what.cookie(is_local, "", 0))))
}

fn read(value: &str) -> Option<Sealed> {
    serde_json::from_str(&percent_decode_str(value).decode_utf8().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_for_its_session_as_what_it_is_for_two_minutes() {
        let keys = Keyring::new("one").unwrap();
        let (ours, other) = (EndpointId::new(), EndpointId::new());
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let what = Flash::Secret(ours);
        let sealed = read(&what.seal(&keys, "whsec_; é", "token", now).unwrap()).unwrap();
        for (what, token, seconds, opens) in [
            (what, "token", 0, true),
            (what, "token", 120, true),
            (what, "token", 121, false),
            (what, "another", 0, false),
            (Flash::Secret(other), "token", 0, false),
            (Flash::Removed, "token", 0, false),
        ] {
            let opened = what.open(&keys, &sealed, token, now.plus_seconds(seconds));
            assert_eq!(opened.as_deref(), opens.then_some("whsec_; é"), "{what:?} {token} {seconds}");
        }
    }
}
