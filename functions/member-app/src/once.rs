//! A text on its way from the act that made it to the page that shows it, once: in a cookie that only this session can
//! read, for two minutes. A form answers with a redirect, and what is shown once is kept nowhere.

use http::{HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use shared::domain::member::Admin;
use shared::error::Error;
use shared::seal::Sealed;
use shared::visit::{Posted, Visit};

use crate::developers::webhooks;

/// How long it may take.
const SECONDS: u32 = 120;

/// The cookie that brings a text to the page that asks for it by the same name.
///
/// # Errors
/// When it can't be sealed.
pub(crate) async fn hide(posted: &Posted<'_, Admin<'_>>, name: &str, text: &str) -> Result<Option<HeaderValue>, Error> {
    let keys = webhooks(posted.app())?.keys.keyring().await?;
    let sealed = keys.seal(text, &place(name, &posted.form_token()))?;
    let sealed = serde_json::to_string(&sealed).map_err(|error| Error::Internal(error.to_string()))?;
    let value = utf8_percent_encode(&sealed, NON_ALPHANUMERIC).to_string();
    Ok(cookie(posted.app().insecure_cookies, &value, SECONDS))
}

/// The text with a name, where the browser brings it, with the header that takes it away.
///
/// # Errors
/// When nobody is signed in, or there is a text and no key.
pub(crate) async fn show(visit: &Visit, name: &str) -> Result<Option<(String, Option<HeaderValue>)>, Error> {
    let is_local = visit.app().insecure_cookies;
    let lines = visit.headers().get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let Some((_, value)) = pairs.find(|(name, _)| *name == cookie_name(is_local)) else { return Ok(None) };
    let text = percent_decode_str(value).decode_utf8().ok();
    let Some(sealed) = text.and_then(|text| serde_json::from_str::<Sealed>(&text).ok()) else { return Ok(None) };
    let keys = webhooks(visit.app())?.keys.keyring().await?;
    let text = keys.open(&sealed, &place(name, &visit.signed_in()?.form_token())).ok();
    Ok(text.map(|text| (text, cookie(is_local, "", 0))))
}

/// For whom and as what it opens.
fn place(name: &str, form_token: &str) -> String {
    format!("shown once, {name}, to {form_token}")
}

fn cookie_name(is_local: bool) -> &'static str {
    if is_local { "once" } else { "__Host-once" }
}

fn cookie(is_local: bool, value: &str, seconds: u32) -> Option<HeaderValue> {
    let secure = if is_local { "" } else { "; Secure" };
    let name = cookie_name(is_local);
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::try_from(text).ok()
}
