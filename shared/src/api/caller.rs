//! Who calls: a token that was checked, and what it may do as a type. A write operation takes a [`WriteCaller`],
//! which only a token with the scope to write becomes.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use http::header::IF_MATCH;

use crate::api::operation::{StoredResponse, etag};
use crate::crypto;
use crate::domain::actor::Actor;
use crate::domain::ids::{OrgId, RequestId};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::domain::token::{Scope, Token};
use crate::error::Error;
use crate::limits;
use crate::platform::config::BaseUrl;
use crate::store::commit::Commit;
use crate::store::{OrgStore, Store, Usage};
use crate::wire::fields::{FieldCode, FieldErrors};

/// The header that makes a POST repeatable.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// One act in an organization, from whoever it comes: what its audit row says, and what it sees of the store.
#[derive(Debug, Clone)]
pub struct CallContext {
    pub(crate) request_id: RequestId,
    pub(crate) operation: &'static str,
    pub(crate) now: Timestamp,
    pub(crate) actor: Actor,
    pub(crate) store: OrgStore,
    /// The ids that the path and the body name, 16 bytes each, for the audit row.
    pub(crate) asked: Vec<u8>,
}

impl CallContext {
    /// The organization.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.store.org
    }

    /// The one moment that everything in it has.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The moment of an attempt that begins now: what can expire while an act is tried again is decided by this.
    #[must_use]
    pub fn attempted_now(&self) -> Timestamp {
        Timestamp::now().max(self.now)
    }

    /// The call's own time, as protected transitions take it.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment::of_call(self.request_id, self.now)
    }

    /// The time of an attempt that begins now, as protected transitions take it.
    #[must_use]
    pub fn attempt_moment(&self) -> Moment {
        Moment::of_call(self.request_id, self.attempted_now())
    }

    /// Who acts.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The store, as the organization sees it.
    #[must_use]
    pub fn store(&self) -> &OrgStore {
        &self.store
    }

    /// Adds records to what was asked for.
    pub(crate) fn ask(&mut self, references: &[uuid::Uuid]) {
        self.asked.extend(references.iter().flat_map(uuid::Uuid::as_bytes));
    }

    /// The ids of what was asked for and of what is answered, each once, for the audit row.
    pub(crate) fn objects_with(&self, answered: &[u8]) -> Vec<u8> {
        const ID_BYTES: usize = 16;
        let mut seen = HashSet::new();
        let ids = self.asked.chunks(ID_BYTES).chain(answered.chunks(ID_BYTES));
        ids.filter(|id| seen.insert(*id)).flatten().copied().collect()
    }
}

/// An act of the service itself in an organization: when time has come, or when the local stack sets up its demo. What
/// is called has no [`Store`] and so can't make one.
#[derive(Debug)]
pub struct SystemContext(CallContext);

impl SystemContext {
    /// An act that begins now, with a count of its own of what it uses.
    #[must_use]
    pub fn begin(store: &Store, org: OrgId, operation: &'static str) -> Self {
        Self(CallContext {
            request_id: RequestId::new(),
            operation,
            now: Timestamp::now(),
            actor: Actor::system(),
            store: OrgStore::new(store.metered(), org),
            asked: Vec::new(),
        })
    }

    /// Begins a change.
    pub fn commit(&self) -> Commit<'_, CallContext> {
        Commit::new(&self.0)
    }

    /// What the act has used of the table so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.store.store.usage()
    }

    /// The key of the act's audit row and log line.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.request_id
    }
}

impl Deref for SystemContext {
    type Target = CallContext;

    fn deref(&self) -> &CallContext {
        &self.0
    }
}

/// The caller of one call of the API.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) act: CallContext,
    pub(crate) token: Token,
    pub(crate) base_url: BaseUrl,
    pub(crate) time_scale: TimeScale,
    /// The responses of the attempts to commit, in their order.
    pub(crate) attempts: Arc<Mutex<Vec<StoredResponse>>>,
}

impl Deref for Caller {
    type Target = CallContext;

    fn deref(&self) -> &CallContext {
        &self.act
    }
}

impl Caller {
    /// The token that was sent.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The origin of links.
    #[must_use]
    pub fn base_url(&self) -> &BaseUrl {
        &self.base_url
    }

    /// Keeps the response of an attempt to commit, and tells the attempt's number.
    pub(crate) fn remember(&self, reply: &StoredResponse) -> usize {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.push(reply.clone());
        attempts.len() - 1
    }

    /// The response of an attempt.
    pub(crate) fn recall(&self, attempt: usize) -> Option<StoredResponse> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).get(attempt).cloned()
    }

    /// How long the service waits for what.
    #[must_use]
    pub fn time_scale(&self) -> TimeScale {
        self.time_scale
    }
}

/// A caller who may read.
#[derive(Debug)]
pub struct ReadCaller(Caller);

impl ReadCaller {
    pub(crate) fn new(caller: Caller) -> Self {
        Self(caller)
    }
}

impl Deref for ReadCaller {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

/// A caller who may write.
#[derive(Debug)]
pub struct WriteCaller {
    caller: Caller,
    pub(crate) idempotency: Option<IdempotencyKey>,
    pub(crate) if_match: Option<IfMatch>,
}

impl Deref for WriteCaller {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl WriteCaller {
    /// Lets a token write that may.
    pub(crate) fn new(caller: Caller) -> Result<Self, Error> {
        match caller.token.scope {
            Scope::ReadWrite => Ok(Self { caller, idempotency: None, if_match: None }),
            Scope::Read => Err(Error::ReadOnlyToken),
        }
    }

    /// Begins a change.
    pub fn commit(&self) -> Commit<'_, Self> {
        Commit::new(self)
    }

    /// Adds the records that the body names to what was asked for.
    pub(crate) fn ask(&mut self, references: &[uuid::Uuid]) {
        self.caller.act.ask(references);
    }

    /// Checks `If-Match`, where it was sent, against the version of the record that is to be changed.
    ///
    /// # Errors
    /// [`Error::StaleMatch`] when it names another version.
    pub fn check_match(&self, version: u64) -> Result<(), Error> {
        match &self.if_match {
            Some(IfMatch::Tags(tags)) if !tags.contains(&etag(version)) => Err(Error::StaleMatch),
            _ => Ok(()),
        }
    }
}

/// An idempotency key, with what it was sent for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey {
    pub key: String,
    pub fingerprint: [u8; 32],
}

impl IdempotencyKey {
    /// Reads the header: 1 to 255 printable ASCII characters, bare or quoted.
    pub fn read(headers: &HeaderMap, method: &str, path: &str, body: &[u8]) -> Result<Option<Self>, FieldErrors> {
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

/// Which version of a record a change is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// `*`: any.
    Any,
    /// One of these; a weak tag matches nothing.
    Tags(Vec<String>),
}

impl IfMatch {
    /// Reads the header.
    pub fn read(headers: &HeaderMap) -> Result<Option<Self>, FieldErrors> {
        let mut tags = Vec::new();
        for value in headers.get_all(IF_MATCH) {
            let text = value.to_str().map_err(|_| Self::malformed())?.trim();
            if text == "*" {
                return Ok(Some(Self::Any));
            }
            for tag in text.split(',').map(str::trim) {
                let opaque = tag.strip_prefix("W/").unwrap_or(tag);
                let inner =
                    opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(Self::malformed)?;
                if inner.contains('"') {
                    return Err(Self::malformed());
                }
                tags.push(tag.to_owned());
            }
        }
        Ok((!tags.is_empty()).then_some(Self::Tags(tags)))
    }

    fn malformed() -> FieldErrors {
        FieldErrors::one(
            "header.if-match",
            FieldCode::InvalidFormat,
            "must be an ETag such as \"3\", a list of them, or *",
        )
    }
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
    fn a_key_goes_with_method_path_and_body() {
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
    fn a_match_is_a_list_of_tags_or_any() {
        let read = |values: &[&str]| IfMatch::read(&headers("if-match", values));
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&["*"]).unwrap(), Some(IfMatch::Any));
        assert_eq!(read(&["\"1\", W/\"2\""]).unwrap(), Some(IfMatch::Tags(vec!["\"1\"".into(), "W/\"2\"".into()])));
        for value in ["1", "\"1", "", "\"1\" \"2\"", "\"a\"b\""] {
            assert!(read(&[value]).is_err(), "{value}");
        }
    }
}
