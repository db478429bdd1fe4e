//! A delivery's signature (specification, "Delivery"): the sender signs, subscribers verify.
//!
//! Each body is signed twice, for any library: in our two headers, and in those of <https://www.standardwebhooks.com>.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

use crate::crypto::hex;
use crate::crypto::signing_secret::SigningSecret;
use crate::domain::ids::EventId;
use crate::limits::WEBHOOK_FRESHNESS_S;

/// When the delivery was signed, in Unix seconds.
pub const TIMESTAMP: HeaderName = HeaderName::from_static("service-webhook-timestamp");
/// The service's own signature: `t=<timestamp>,v1=<hexadecimal>`, with a `v1` per secret during a rotation.
pub const SIGNATURE: HeaderName = HeaderName::from_static("service-webhook-signature");
/// Standard Webhooks: the event's id.
pub const STANDARD_ID: HeaderName = HeaderName::from_static("webhook-id");
/// Standard Webhooks: the same timestamp.
pub const STANDARD_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
/// Standard Webhooks: `v1,<base64>` per secret, separated by spaces.
pub const STANDARD_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Signs a body with each secret: the current one and, during a rotation, those it replaces.
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

/// Why a signature doesn't verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// A header is missing or repeated.
    #[error("the header {0} is missing, or is there more than once")]
    Missing(&'static str),
    /// A header is malformed.
    #[error("the header {0} has another form")]
    Malformed(&'static str),
    /// The signature's `t` differs from the timestamp header.
    #[error("the timestamp in the signature is not that of the header")]
    TimestampsDiffer,
    /// The timestamp is more than 300 s in the past or future.
    #[error("the timestamp is {0} s from the present; at most 300 are allowed")]
    Stale(u64),
    /// The signature is for another secret or body.
    #[error("no signature fits this body and this secret")]
    NoMatch,
}

/// Verifies the service's own two headers over the raw body, as a subscriber does.
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
    // Other versions than v1 may be added later; ignore them.
    let fits = |item: &str| item.strip_prefix("v1=").and_then(unhex).is_some_and(|sum| is_sum(&mac, &sum));
    signatures.split(',').any(fits).then_some(()).ok_or(Unverified::NoMatch)
}

/// Verifies the three headers of Standard Webhooks over the raw body.
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

fn one<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Unverified> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(Unverified::Missing(name)) };
    value.to_str().map_err(|_| Unverified::Malformed(name))
}

fn assert_fresh(name: &'static str, timestamp: &str, now: i64) -> Result<(), Unverified> {
    // `parse` alone would accept a sign.
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let at: i64 = timestamp.parse().ok().filter(|_| is_number).ok_or(Unverified::Malformed(name))?;
    let distance = now.abs_diff(at);
    if distance <= WEBHOOK_FRESHNESS_S.unsigned_abs() { Ok(()) } else { Err(Unverified::Stale(distance)) }
}

/// Compares in constant time.
fn is_sum(mac: &Hmac<Sha256>, sum: &[u8]) -> bool {
    mac.clone().verify_slice(sum).is_ok()
}

/// The MAC over `<timestamp>.<body>`, with the displayed secret as key.
fn own_mac(secret: &SigningSecret, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    mac(secret.expose().as_bytes(), &[timestamp.as_bytes(), body])
}

/// The MAC over `<id>.<timestamp>.<body>`, with the secret's random bytes as key.
fn standard_mac(secret: &SigningSecret, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    mac(secret.bytes(), &[id.as_bytes(), timestamp.as_bytes(), body])
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    /// HMAC pads shorter keys with zeros to this length (RFC 2104), which `Hmac::new` takes without an error.
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

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

/// Always valid: digits, letters and punctuation.
fn value(text: &str) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AT: i64 = 1_773_480_413;

    fn secret() -> SigningSecret {
        SigningSecret::generate().unwrap()
    }

    fn with(headers: &HeaderMap, name: HeaderName, value: &str) -> HeaderMap {
        let mut headers = headers.clone();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn all_headers_come_from_one_timestamp() {
        let (secret, id) = (secret(), EventId::new());
        let headers = headers(&[secret], id, AT, b"{}");
        assert_eq!(headers.len(), 5);
        assert_eq!(headers[TIMESTAMP], AT.to_string());
        assert_eq!(headers[STANDARD_TIMESTAMP], AT.to_string());
        assert_eq!(headers[STANDARD_ID], id.to_string());
        let ours = headers[SIGNATURE].to_str().unwrap();
        assert!(ours.starts_with(&format!("t={AT},v1=")) && ours.len() == 2 + 10 + 4 + 64, "{ours}");
        let standard = headers[STANDARD_SIGNATURE].to_str().unwrap();
        assert!(standard.starts_with("v1,") && standard.len() == 3 + 44, "{standard}");
    }

    #[test]
    fn both_secrets_verify_during_a_rotation_and_no_other() {
        let (new, old, other) = (secret(), secret(), secret());
        let headers = headers(&[new.clone(), old.clone()], EventId::new(), AT, b"{}");
        assert_eq!(headers[SIGNATURE].to_str().unwrap().matches(",v1=").count(), 2);
        for secret in [&new, &old] {
            assert_eq!(verify(secret, &headers, b"{}", AT), Ok(()));
            assert_eq!(verify_standard(secret, &headers, b"{}", AT), Ok(()));
        }
        assert_eq!(verify(&other, &headers, b"{}", AT), Err(Unverified::NoMatch));
        assert_eq!(verify_standard(&other, &headers, b"{}", AT), Err(Unverified::NoMatch));
    }

    #[test]
    fn five_minutes_either_way_are_fresh() {
        let secret = secret();
        let headers = headers(std::slice::from_ref(&secret), EventId::new(), AT, b"{}");
        for (distance, fresh) in [(0, true), (299, true), (300, true), (301, false), (i64::MAX - AT, false)] {
            for now in [AT + distance, AT - distance] {
                let expected = if fresh { Ok(()) } else { Err(Unverified::Stale(distance.unsigned_abs())) };
                assert_eq!(verify(&secret, &headers, b"{}", now), expected, "{now}");
                assert_eq!(verify_standard(&secret, &headers, b"{}", now), expected, "{now}");
            }
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let secret = secret();
        let good = headers(std::slice::from_ref(&secret), EventId::new(), AT, b"{}");
        let sum = good[SIGNATURE].to_str().unwrap().split_once(",v1=").unwrap().1.to_owned();
        let malformed = Unverified::Malformed("service-webhook-signature");
        for (signature, error) in [
            (String::new(), malformed),
            (sum.clone(), malformed),
            (format!("v1={sum}"), malformed),
            (format!("v1={sum},t={AT}"), malformed),
            (format!("t={AT}"), malformed),
            (format!("t={},v1={sum}", AT + 1), Unverified::TimestampsDiffer),
            (format!("t=0{AT},v1={sum}"), Unverified::TimestampsDiffer),
            (format!("t={AT},"), Unverified::NoMatch),
            (format!("t={AT},v1="), Unverified::NoMatch),
            (format!("t={AT},v0={sum}"), Unverified::NoMatch),
            (format!("t={AT},v1={}", sum.to_uppercase()), Unverified::NoMatch),
            (format!("t={AT},v1={}", &sum[..62]), Unverified::NoMatch),
            (format!("t={AT},v1={}", &sum[..63]), Unverified::NoMatch),
            (format!("t={AT},v1={sum}00"), Unverified::NoMatch),
            (format!("t={AT},v1=é"), malformed),
        ] {
            let found = verify(&secret, &with(&good, SIGNATURE, &signature), b"{}", AT);
            assert_eq!(found, Err(error), "{signature}");
        }
        let beside = with(&good, SIGNATURE, &format!("t={AT},v0=1,v2=x,v1={},v1={sum}", "0".repeat(64)));
        assert_eq!(verify(&secret, &beside, b"{}", AT), Ok(()));

        for timestamp in ["", "+1773480413", "-1", "1773480413.0", "1e9", "99999999999999999999"] {
            let headers = with(&with(&good, TIMESTAMP, timestamp), SIGNATURE, &format!("t={timestamp},v1={sum}"));
            let error = Unverified::Malformed("service-webhook-timestamp");
            assert_eq!(verify(&secret, &headers, b"{}", AT), Err(error), "{timestamp}");
            let headers = with(&good, STANDARD_TIMESTAMP, timestamp);
            let error = Unverified::Malformed("webhook-timestamp");
            assert_eq!(verify_standard(&secret, &headers, b"{}", AT), Err(error), "{timestamp}");
        }
    }

    #[test]
    fn each_header_is_required_once() {
        let secret = secret();
        let good = headers(std::slice::from_ref(&secret), EventId::new(), AT, b"{}");
        for name in good.keys() {
            let mut missing = good.clone();
            missing.remove(name);
            let mut twice = good.clone();
            twice.append(name, good[name].clone());
            for headers in [missing, twice] {
                let both = [verify(&secret, &headers, b"{}", AT), verify_standard(&secret, &headers, b"{}", AT)];
                let refused = both.iter().filter(|one| **one == Err(Unverified::Missing(name_of(name)))).count();
                assert_eq!(refused, 1, "{name}: {both:?}");
            }
        }
    }

    fn name_of(name: &HeaderName) -> &'static str {
        name.as_str().to_owned().leak()
    }

    proptest! {
        #[test]
        fn a_signed_body_verifies_and_a_changed_one_does_not(
            body: Vec<u8>, at in 0..4_102_444_800_i64, late in -300..=300_i64, position: usize, bit in 0..8_u32,
        ) {
            let secret = secret();
            let signed = headers(&[self::secret(), secret.clone()], EventId::new(), at, &body);
            prop_assert_eq!(verify(&secret, &signed, &body, at + late), Ok(()));
            prop_assert_eq!(verify_standard(&secret, &signed, &body, at + late), Ok(()));

            let mut changed = body.clone();
            match changed.len() {
                0 => changed.push(0),
                length => changed[position % length] ^= 1 << bit,
            }
            prop_assert_eq!(verify(&secret, &signed, &changed, at), Err(Unverified::NoMatch));
            prop_assert_eq!(verify_standard(&secret, &signed, &changed, at), Err(Unverified::NoMatch));
        }

        #[test]
        fn verifying_never_panics(timestamp in "\\PC{0,20}|[0-9]{0,20}", signature in "\\PC{0,80}|t=[0-9]{1,12},v1=[0-9a-f]{0,66}") {
            let mut headers = HeaderMap::new();
            for (name, text) in [
                (TIMESTAMP, &timestamp), (SIGNATURE, &signature), (STANDARD_ID, &timestamp),
                (STANDARD_TIMESTAMP, &timestamp), (STANDARD_SIGNATURE, &signature),
            ] {
                if let Ok(value) = HeaderValue::from_str(text) {
                    headers.insert(name, value);
                }
            }
            prop_assert!(verify(&secret(), &headers, b"body", AT).is_err());
            prop_assert!(verify_standard(&secret(), &headers, b"body", AT).is_err());
        }
    }
}
