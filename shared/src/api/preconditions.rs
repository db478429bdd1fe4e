//! The headers `Idempotency-Key` and `If-Match`, which make writes repeatable or conditional.

use http::HeaderMap;
use http::header::IF_MATCH;

use crate::crypto;
use crate::limits;
use crate::service::precondition::ExpectedVersion;
use crate::store::idempotency::IdempotencyKey;
use crate::wire::fields::{FieldCode, FieldErrors};

const IDEMPOTENCY_KEY: &str = "idempotency-key";

impl IdempotencyKey {
    /// Reads the header: 1 to 255 printable ASCII characters, bare or quoted.
    pub(super) fn read(
        headers: &HeaderMap,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<Option<Self>, FieldErrors> {
        let wrong = |code, message: &str| FieldErrors::one("header.idempotency-key", code, message);
        let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(wrong(FieldCode::InvalidValue, "may be given only once"));
        }
        let printable = |text: &&str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let Some(text) = value.to_str().ok().filter(printable) else {
            return Err(wrong(FieldCode::InvalidFormat, "must be printable ASCII"));
        };
        let key = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        if key.is_empty() {
            return Err(wrong(FieldCode::InvalidFormat, "must not be empty"));
        }
        if key.len() > limits::IDEMPOTENCY_KEY_CHARS_MAX {
            return Err(wrong(
                FieldCode::TooLong,
                &format!("must have at most {} characters", limits::IDEMPOTENCY_KEY_CHARS_MAX),
            ));
        }
        let fingerprint = crypto::fingerprint(&[method.as_bytes(), path.as_bytes(), body]);
        Ok(Some(Self { key: key.to_owned(), fingerprint }))
    }
}

pub(super) fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// Reads `If-Match`: entity tags, or `*`. Weak tags and those that aren't versions match nothing.
pub(super) fn read_if_match(headers: &HeaderMap) -> Result<ExpectedVersion, FieldErrors> {
    let malformed = || {
        let message = "must be an ETag such as \"3\", a list of them, or *";
        FieldErrors::one("header.if-match", FieldCode::InvalidFormat, message)
    };
    let (mut is_sent, mut versions) = (false, Vec::new());
    for value in headers.get_all(IF_MATCH) {
        let text = value.to_str().map_err(|_| malformed())?.trim();
        if text == "*" {
            return Ok(ExpectedVersion::Any);
        }
        is_sent = true;
        for tag in text.split(',').map(str::trim) {
            let (is_weak, opaque) = tag.strip_prefix("W/").map_or((false, tag), |opaque| (true, opaque));
            let inner = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(malformed)?;
            if inner.contains('"') {
                return Err(malformed());
            }
            let version = inner.parse().ok().filter(|version| !is_weak && etag(*version) == tag);
            versions.extend(version);
        }
    }
    Ok(if is_sent { ExpectedVersion::OneOf(versions) } else { ExpectedVersion::Any })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_key_is_bare_or_quoted() {
        let read = |values: &[&str]| IdempotencyKey::read(&headers(IDEMPOTENCY_KEY, values), "POST", "/", b"");
        let bare = read(&["a b#1"]).unwrap().unwrap();
        assert_eq!(read(&["\"a b#1\""]).unwrap().unwrap(), bare);
        assert_eq!(read(&[]).unwrap(), None);
        for values in [&[""][..], &["\"\""], &["a", "a"], &["a\tb"], &["é"], &[&"k".repeat(256)]] {
            assert!(read(values).is_err(), "{values:?}");
        }
        assert!(read(&[&"k".repeat(255)]).is_ok());
    }

    #[test]
    fn the_fingerprint_covers_method_path_and_body() {
        let read = |method, path, body| {
            IdempotencyKey::read(&headers(IDEMPOTENCY_KEY, &["k"]), method, path, body).unwrap().unwrap().fingerprint
        };
        let first = read("POST", "/a", b"{}");
        assert_eq!(read("POST", "/a", b"{}"), first);
        for other in [read("PUT", "/a", b"{}"), read("POST", "/b", b"{}"), read("POST", "/a", b"{ }")] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn if_match_is_a_list_of_tags_or_any() {
        let read = |values: &[&str]| read_if_match(&headers("if-match", values));
        let one_of = |versions: &[u64]| ExpectedVersion::OneOf(versions.to_vec());
        assert_eq!(read(&[]).unwrap(), ExpectedVersion::Any);
        assert_eq!(read(&["*"]).unwrap(), ExpectedVersion::Any);
        assert_eq!(read(&["\"1\", W/\"2\"", "\"3\""]).unwrap(), one_of(&[1, 3]));
        assert_eq!(read(&["\"x\", \"01\", \"+1\""]).unwrap(), one_of(&[]), "tags that are not ours match nothing");
        for value in ["1", "\"1", "", "\"1\" \"2\"", "\"a\"b\""] {
            assert!(read(&[value]).is_err(), "{value}");
        }
        assert!(one_of(&[1, 3]).check(3).is_ok() && one_of(&[1, 3]).check(2).is_err() && one_of(&[]).check(1).is_err());
    }
}
