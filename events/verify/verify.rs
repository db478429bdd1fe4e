//! Receives Countersign webhooks. Needs the crates `base64` 0.22, `hmac` 0.13, `serde_json` and `sha2` 0.11; copy it
//! into your service.

use std::collections::{HashMap, HashSet};

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

const TOLERANCE_S: u64 = 300;

/// The headers of a request.
pub type Headers = HashMap<String, String>;

/// Whether a delivery was signed with the secret, as it is displayed, within the last 5 minutes of `now` (Unix seconds).
///
/// `body` is the bytes as they were received: parsed and written again they would not fit.
pub fn verify(secret: &str, headers: &Headers, body: &[u8], now: i64) -> bool {
    let timestamp = header(headers, "service-webhook-timestamp");
    let signature = header(headers, "service-webhook-signature");
    let Some((first, signatures)) = signature.split_once(',') else { return false };
    if first.strip_prefix("t=") != Some(timestamp) || !is_fresh(timestamp, now) {
        return false;
    }
    let signed = [timestamp.as_bytes(), b".", body].concat();
    // While a secret is being replaced there is a signature for each.
    signatures
        .split(',')
        .filter_map(|one| from_hex(one.strip_prefix("v1=")?))
        .any(|mac| is_mac(secret.as_bytes(), &signed, &mac))
}

/// The same by the headers of Standard Webhooks, if you would rather use those.
pub fn verify_standard(secret: &str, headers: &Headers, body: &[u8], now: i64) -> bool {
    let (id, timestamp) = (header(headers, "webhook-id"), header(headers, "webhook-timestamp"));
    let Ok(key) = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret)) else { return false };
    if id.is_empty() || !is_fresh(timestamp, now) {
        return false;
    }
    let signed = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
    let signatures = header(headers, "webhook-signature").split(' ');
    signatures.filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok()).any(|mac| is_mac(&key, &signed, &mac))
}

fn header<'a>(headers: &'a Headers, name: &str) -> &'a str {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

fn is_fresh(timestamp: &str, now: i64) -> bool {
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    is_number && timestamp.parse().is_ok_and(|at: i64| now.abs_diff(at) <= TOLERANCE_S)
}

/// Compares in constant time.
fn is_mac(key: &[u8], signed: &[u8], mac: &[u8]) -> bool {
    Hmac::<Sha256>::new_from_slice(key).is_ok_and(|hmac| hmac.chain_update(signed).verify_slice(mac).is_ok())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let pairs = text.bytes().all(is_digit).then(|| text.as_bytes().chunks(2))?;
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// The bytes of a request as API Gateway hands it to a Lambda function; nothing if they are not what is said.
pub fn raw_body(event: &Value) -> Option<Vec<u8>> {
    let body = event["body"].as_str().unwrap_or_default();
    if event["isBase64Encoded"] == true { STANDARD.decode(body).ok() } else { Some(body.into()) }
}

/// Handles a request from API Gateway and returns the status to answer.
///
/// `seen` holds the ids of events that were handled. In production it is a table with a unique key, written in the
/// transaction of whatever `act` does.
pub fn handle(event: &Value, secret: &str, seen: &mut HashSet<String>, act: &mut dyn FnMut(&Value), now: i64) -> u16 {
    let headers: Headers = serde_json::from_value(event["headers"].clone()).unwrap_or_default();
    let Some(body) = raw_body(event).filter(|body| verify(secret, &headers, body, now)) else { return 401 };
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(id) = message["id"].as_str() else { return 400 };
    // A repeat is normal; and types that are new to you are acknowledged too.
    if !seen.contains(id) {
        act(&message);
        seen.insert(id.to_owned());
    }
    204
}
