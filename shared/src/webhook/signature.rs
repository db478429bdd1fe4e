//! The signature of a delivery (specification, "Delivery"): made by us, verified by subscribers.
//!
//! The same body is signed twice, from the same timestamp: in the service's own two headers, and in the three of
//! Standard Webhooks (<https://www.standardwebhooks.com>), so that a subscriber can use any library for either.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

use super::secret::SigningSecret;
use crate::crypto::hex;
use crate::domain::ids::EventId;
use crate::limits::WEBHOOK_FRESHNESS_S;

/// When the delivery was signed, in Unix seconds.
pub const TIMESTAMP: HeaderName = HeaderName::from_static("service-webhook-timestamp");
/// The service's own signature: `t=<timestamp>,v1=<hexadecimal>`, with a `v1` for each secret during a rotation.
pub const SIGNATURE: HeaderName = HeaderName::from_static("service-webhook-signature");
/// Standard Webhooks: the event's id.
pub const STANDARD_ID: HeaderName = HeaderName::from_static("webhook-id");
/// Standard Webhooks: the same timestamp.
pub const STANDARD_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
/// Standard Webhooks: `v1,<base64>`, with one for each secret, separated by spaces.
pub const STANDARD_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The headers that sign a body with each of the secrets: one, or two while a secret is being replaced.
#[must_use]
pub fn headers(secrets: &[SigningSecret], event: EventId, at_unix_seconds: i64, body: &[u8]) -> HeaderMap {
    let mut ours = format!("t={at_unix_seconds}");
    let mut standard = Vec::with_capacity(secrets.len());
    for secret in secrets {
        ours += ",v1=";
        ours += &hex(&own_mac(secret, &at_unix_seconds.to_string(), body).finalize().into_bytes());
        let mac = standard_mac(secret, &event.to_string(), &at_unix_seconds.to_string(), body);
        standard.push(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())));
    }
    HeaderMap::from_iter([
        (TIMESTAMP, HeaderValue::from(at_unix_seconds)),
        (SIGNATURE, value(&ours)),
        (STANDARD_ID, value(&event.to_string())),
        (STANDARD_TIMESTAMP, HeaderValue::from(at_unix_seconds)),
        (STANDARD_SIGNATURE, value(&standard.join(" "))),
    ])
}

/// Why a delivery is not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// A header is not there, or is there twice.
    #[error("the header {0} is missing, or is there more than once")]
    Missing(&'static str),
    /// A header has another form.
    #[error("the header {0} has another form")]
    Malformed(&'static str),
    /// The `t` of the signature is not the timestamp header.
    #[error("the timestamp in the signature is not that of the header")]
    TimestampsDiffer,
    /// Signed more than 300 s ago, or ahead.
    #[error("the timestamp is {0} s from the present; at most 300 are allowed")]
    Stale(u64),
    /// Signed with another secret, or the body is another.
    #[error("no signature fits this body and this secret")]
    NoMatch,
}

/// Verifies the service's own two headers over the raw body, as a subscriber does.
///
/// # Errors
/// When the delivery is not to be believed.
pub fn verify(
    secret: &SigningSecret,
    headers: &HeaderMap,
    body: &[u8],
    now_unix_seconds: i64,
) -> Result<(), Unverified> {
    let timestamp = one(headers, "service-webhook-timestamp")?;
    let signature = one(headers, "service-webhook-signature")?;
    let malformed = Unverified::Malformed("service-webhook-signature");
    let (signed_at, signatures) =
        signature.strip_prefix("t=").and_then(|rest| rest.split_once(',')).ok_or(malformed)?;
    if signed_at != timestamp {
        return Err(Unverified::TimestampsDiffer);
    }
    assert_fresh("service-webhook-timestamp", timestamp, now_unix_seconds)?;
    let mac = own_mac(secret, timestamp, body);
    // Other versions may come beside v1 one day; they are not for this code.
    let fits = |item: &str| item.strip_prefix("v1=").and_then(unhex).is_some_and(|sum| is_sum(&mac, &sum));
    signatures.split(',').any(fits).then_some(()).ok_or(Unverified::NoMatch)
}

/// Verifies the three headers of Standard Webhooks over the raw body.
///
/// # Errors
/// When the delivery is not to be believed.
pub fn verify_standard(
    secret: &SigningSecret,
    headers: &HeaderMap,
    body: &[u8],
    now_unix_seconds: i64,
) -> Result<(), Unverified> {
    let id = one(headers, "webhook-id")?;
    let timestamp = one(headers, "webhook-timestamp")?;
    let signatures = one(headers, "webhook-signature")?;
    assert_fresh("webhook-timestamp", timestamp, now_unix_seconds)?;
    let mac = standard_mac(secret, id, timestamp, body);
    let fits = |item: &str| {
        item.strip_prefix("v1,").and_then(|sum| STANDARD.decode(sum).ok()).is_some_and(|sum| is_sum(&mac, &sum))
    };
    signatures.split(' ').any(fits).then_some(()).ok_or(Unverified::NoMatch)
}

/// The only value of a header.
fn one<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Unverified> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(Unverified::Missing(name)) };
    value.to_str().map_err(|_| Unverified::Malformed(name))
}

fn assert_fresh(name: &'static str, timestamp: &str, now: i64) -> Result<(), Unverified> {
    // `parse` alone would take a sign.
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let at: i64 = timestamp.parse().ok().filter(|_| is_number).ok_or(Unverified::Malformed(name))?;
    let distance = now.abs_diff(at);
    if distance <= WEBHOOK_FRESHNESS_S.unsigned_abs() { Ok(()) } else { Err(Unverified::Stale(distance)) }
}

/// Compares in constant time.
fn is_sum(mac: &Hmac<Sha256>, sum: &[u8]) -> bool {
    mac.clone().verify_slice(sum).is_ok()
}

/// Keyed with the secret as it is displayed, over `<timestamp>.<body>`.
fn own_mac(secret: &SigningSecret, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    mac(secret.expose().as_bytes(), &[timestamp.as_bytes(), body])
}

/// Keyed with the secret's random bytes, over `<id>.<timestamp>.<body>`.
fn standard_mac(secret: &SigningSecret, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    mac(secret.bytes(), &[id.as_bytes(), timestamp.as_bytes(), body])
}

/// The MAC of parts with points between them.
fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    /// HMAC fills a shorter key up with zeros to this (RFC 2104); keys of this length can't be refused.
    const BLOCK: usize = 64;
    let mut block = [0; BLOCK];
    block.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            mac.update(b".");
        }
        mac.update(part);
    }
    mac
}

/// Reads lower-case hexadecimal, as signatures are written.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

/// What is written here is digits, letters and punctuation, which every header may hold.
fn value(text: &str) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
