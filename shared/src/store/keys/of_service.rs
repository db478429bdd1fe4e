//! Keys without an organization: look-ups before one is known, and the due index.

use std::fmt::Display;

use super::{Due, Key, Kind};
use crate::crypto::{SecretHash, TokenHash};
use crate::domain::contact::Email;
use crate::domain::ids::{EndpointId, EventId, OrgId, RequestId, SessionId};
use crate::domain::shards::DueShards;
use crate::domain::time::Timestamp;
use crate::wire::text::Folded;

/// The token with this hash.
#[must_use]
pub fn token_by_hash(hash: TokenHash) -> Key {
    Kind::Token.key(&[&hash])
}

/// The account that signs in with this email address, whatever its case.
#[must_use]
pub fn account(email: &Email) -> Key {
    Kind::Account.key(&[&Folded::new(email.as_str()).as_str()])
}

/// The second factor of the account with this email address.
#[must_use]
pub fn second_factor(email: &Email) -> Key {
    Kind::SecondFactor.key(&[&Folded::new(email.as_str()).as_str()])
}

pub(in crate::store) fn account_of_second_factor(key: &Key) -> Option<Key> {
    key.partition().strip_prefix(&Kind::SecondFactor.partition(&[])).map(|email| Kind::Account.key(&[&email]))
}

/// The session whose secret has this hash.
#[must_use]
pub fn session(hash: SecretHash) -> Key {
    session_by_stored_hash(&hash.to_string())
}

/// Outlives an ended session until the session would have expired.
pub(in crate::store) fn session_of_account(account: &Email, session: SessionId) -> Key {
    Kind::SessionPointer.key(&[&Folded::new(account.as_str()).as_str(), &session])
}

pub(in crate::store) fn sessions_of_account(account: &Email) -> String {
    Kind::SessionPointer.partition(&[&Folded::new(account.as_str()).as_str()])
}

pub(in crate::store) fn session_by_stored_hash(hash: &str) -> Key {
    Kind::Session.key(&[&hash])
}

/// The session of a participant whose secret has this hash.
#[must_use]
pub fn participant_session(hash: SecretHash) -> Key {
    Kind::ParticipantSession.key(&[&hash])
}

pub(in crate::store) fn invitation_by_hash(hash: SecretHash) -> Key {
    invitation_by_stored_hash(&hash.to_string())
}

pub(in crate::store) fn invitation_by_stored_hash(hash: &str) -> Key {
    Kind::InvitationPointer.key(&[&hash])
}

pub(in crate::store) fn password_link(hash: SecretHash) -> Key {
    Kind::PasswordLink.key(&[&hash])
}

pub(crate) fn known_device(secret: SecretHash, email: &str, epoch: u64) -> Key {
    Kind::KnownDevice.key(&[&device_hash(secret, email), &epoch])
}

/// The failed logins to an account on a device that has signed in to it before.
#[must_use]
pub fn failed_logins_on_device(secret: SecretHash, email: &str) -> Key {
    failed_logins("browser", &device_hash(secret, email))
}

fn device_hash(secret: SecretHash, email: &str) -> String {
    crate::crypto::hex(&crate::crypto::fingerprint(&[secret.to_string().as_bytes(), email.as_bytes()]))
}

/// The failed logins to an account or from an address. The name is hashed, because a client may send any text.
#[must_use]
pub fn failed_logins(kind: &str, name: &str) -> Key {
    let hash = crate::crypto::hex(&crate::crypto::fingerprint(&[kind.as_bytes(), name.as_bytes()]));
    Kind::FailedLogins.key(&[&hash])
}

/// A call with an unknown token, in the sharded service-level trail.
pub(in crate::store) fn trail(at: Timestamp, shard: u8, call: RequestId) -> Key {
    Kind::Trail.key(&[&at.day(), &shard, &call])
}

/// A due entry. Shards spread what is due at once ([`DueShards`]); the kind comes first, so that no backlog delays another
/// kind.
#[must_use]
pub fn due(at: Timestamp, what: Due, org: OrgId, id: uuid::Uuid) -> Key {
    let shard = if what.is_of_event() { EventId::from(id).due_shard() } else { DueShards::FEWEST.of(id) };
    Kind::Due.key(&[&shard, &what.as_str(), &format_args!("{:015}", at.unix_ms()), &org, &id])
}

/// The entry of a delivery, which two ids name.
#[must_use]
pub fn due_delivery(at: Timestamp, org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    due_with(&due(at, Due::Delivery, org, event.uuid()), endpoint)
}

/// An entry with its own suffix, for work that can be requested twice at the same moment.
pub(in crate::store) fn due_unique(at: Timestamp, what: Due, org: OrgId, id: uuid::Uuid) -> Key {
    due_with(&due(at, what, org, id), uuid::Uuid::now_v7())
}

fn due_with(entry: &Key, id: impl Display) -> Key {
    Key::new(entry.partition().to_owned(), format_args!("{}#{id}", entry.sort()))
}

/// The prefix of the sort keys of one kind, which sorts before all of them.
#[must_use]
pub fn due_of_kind(what: Due) -> String {
    Kind::Due.prefix(&[&what.as_str()])
}

pub(in crate::store) fn due_shard(shard: u8) -> String {
    Kind::Due.partition(&[&shard])
}

/// The smallest sort key of a kind that is due later than a moment.
pub(in crate::store) fn due_after(at: Timestamp, what: Due) -> String {
    format!("{}{:015}", due_of_kind(what), at.unix_ms().saturating_add(1))
}
