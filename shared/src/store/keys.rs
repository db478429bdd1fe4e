//! Every key of the table. Keys start with the organization; the few ways in without one are listed first.
//!
//! Decision: a token is stored once, under its hash, and its id only points there. Revoking it changes one item, so no
//! second copy can go on working.
//!
//! Decision: the people of a workspace are a set in its record, not items of their own, and are added in place. The
//! limit of 500 is exact, one read shows them all, and lists show people without a query per row. Adding in place asks
//! for no version, so people who join at the same moment do not undo each other's write.
//!
//! Decision: an organization's endpoints are such a set too, with room for 20, beside their records. The limit is exact
//! even when several are added at once; a count could drift, and in the partition of the endpoints every event would
//! read the set.
//!
//! Decision: the snapshot of what was proposed (agreement and people) is an item beside its proposal, written once. The
//! page of a decision shows what has changed since, whatever the change; lists, decisions and the clock read only the
//! proposal, which has the name and the size of the agreement.
//!
//! Decision: an agreement has one entry on the due index, for the next moment among all its countdowns and its end. Each
//! change of the agreement moves the entry in the same transaction, so none is left behind.

use std::collections::HashMap;
use std::fmt;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::crypto::{SecretHash, TokenHash};
use crate::domain::contact::{Email, ExternalReference};
use crate::domain::ids::{
    AgreementId, ContactId, EndpointId, EventId, MemberId, OrgId, ProposalId, RequestId, TokenId, WorkspaceId,
};
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;
use crate::wire::enums::text_enum;
use crate::wire::text::Folded;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The attribute of the partition key.
pub const PARTITION: &str = "pk";
/// The attribute of the sort key.
pub const SORT: &str = "sk";
/// The attribute that tells `DynamoDB` when to drop an item, in seconds since 1970.
pub const DROP_AT: &str = "ttl";

/// The sort key of an item that is alone in its partition.
const ALONE: &str = ".";

/// Where an item is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    partition: String,
    sort: String,
}

impl Key {
    fn new(partition: String, sort: impl fmt::Display) -> Self {
        Self { partition, sort: sort.to_string() }
    }

    fn alone(partition: String) -> Self {
        Self::new(partition, ALONE)
    }

    /// The key as the attributes of an item.
    #[must_use]
    pub fn into_item(self) -> Item {
        let mut item = Item::new();
        self.insert_into(&mut item);
        item
    }

    /// Adds the key's attributes.
    pub fn insert_into(self, item: &mut Item) {
        item.insert(PARTITION.to_owned(), AttributeValue::S(self.partition));
        item.insert(SORT.to_owned(), AttributeValue::S(self.sort));
    }

    /// The sort key.
    #[must_use]
    pub fn sort(&self) -> &str {
        &self.sort
    }

    /// The key of an item that was told of elsewhere: in the table's stream.
    #[must_use]
    pub fn told(partition: &str, sort: &str) -> Self {
        Self { partition: partition.to_owned(), sort: sort.to_owned() }
    }

    /// Whether it is in a partition of what will be due.
    #[must_use]
    pub(super) fn is_due(&self) -> bool {
        self.partition.starts_with("DUE#")
    }

    /// The key of an item that was read.
    #[must_use]
    pub fn of(item: &Item) -> Option<Self> {
        let text = |name| item.get(name)?.as_s().ok().cloned();
        Some(Self { partition: text(PARTITION)?, sort: text(SORT)? })
    }
}

// Ways in without an organization.

/// The token with this hash.
#[must_use]
pub fn token_by_hash(hash: TokenHash) -> Key {
    Key::alone(format!("TOKEN#{hash}"))
}

/// The account that signs in with this e-mail address, whatever its case.
#[must_use]
pub fn account(email: &Email) -> Key {
    Key::alone(format!("ACCOUNT#{}", Folded::new(email.as_str()).as_str()))
}

/// The session whose secret has this hash.
#[must_use]
pub fn session(hash: SecretHash) -> Key {
    Key::alone(format!("SESSION#{hash}"))
}

/// That a browser has signed in to an account, since the person has last signed out everywhere.
#[must_use]
pub fn known_device(secret: SecretHash, email: &str, epoch: u64) -> Key {
    Key::alone(format!("BROWSER#{}#{epoch}", of_browser(secret, email)))
}

/// How often somebody has guessed wrong in a browser that has signed in to the account before.
#[must_use]
pub fn failed_logins_on_device(secret: SecretHash, email: &str) -> Key {
    failed_logins("browser", &of_browser(secret, email))
}

fn of_browser(secret: SecretHash, email: &str) -> String {
    crate::crypto::hex(&crate::crypto::fingerprint(&[secret.to_string().as_bytes(), email.as_bytes()]))
}

/// How often somebody has guessed wrong: at an account, or from an address. Hashed, since anybody can type anything.
#[must_use]
pub fn failed_logins(at: &str, of: &str) -> Key {
    let hash = crate::crypto::hex(&crate::crypto::fingerprint(&[at.as_bytes(), of.as_bytes()]));
    Key::alone(format!("GUESSES#{hash}"))
}

/// A call whose token is unknown: the service-level trail, sharded.
#[must_use]
pub fn trail(at: Timestamp, shard: u8, call: RequestId) -> Key {
    Key::new(format!("TRAIL#{}#{shard}", at.day()), call)
}

/// What will be due at a moment, for the clock. The shard spreads what is due at one time; the sort key has the kind
/// first and then the time, so that a backlog of one kind does not keep another waiting.
#[must_use]
pub fn due(at: Timestamp, what: Due, org: OrgId, id: uuid::Uuid) -> Key {
    let shard = id.as_u128() % u128::from(DUE_SHARDS);
    let shard = due_shard(u8::try_from(shard).unwrap_or_default());
    Key::new(shard, format_args!("{}{:015}#{org}#{id}", due_of_kind(what), at.unix_ms()))
}

/// The same for a delivery, which two ids name.
#[must_use]
pub fn due_delivery(at: Timestamp, org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    let mut key = due(at, Due::Delivery, org, event.uuid());
    key.sort = format!("{}#{endpoint}", key.sort);
    key
}

/// The same for something that may be asked for twice at one moment: each asking has an entry of its own.
#[must_use]
pub fn due_anew(at: Timestamp, what: Due, org: OrgId, id: uuid::Uuid) -> Key {
    let mut key = due(at, what, org, id);
    key.sort = format!("{}#{}", key.sort, uuid::Uuid::now_v7());
    key
}

/// What all sort keys of one kind begin with, and the least that they are greater than.
#[must_use]
pub fn due_of_kind(what: Due) -> String {
    format!("{}#", what.as_str())
}

/// One partition of what will be due.
#[must_use]
pub fn due_shard(shard: u8) -> String {
    format!("DUE#{shard}")
}

/// The least sort key of what of a kind is due later than a moment.
#[must_use]
pub fn due_after(at: Timestamp, what: Due) -> String {
    format!("{}{:015}", due_of_kind(what), at.unix_ms().saturating_add(1))
}

/// Over how many partitions what will be due is spread.
pub const DUE_SHARDS: u8 = 8;

text_enum! {
    /// What can be due. The text begins its sort keys on the due index.
    pub enum Due {
        /// An event that is not relayed yet.
        Event = "EVENT",
        /// A proposal that expires.
        Proposal = "PROPOSAL",
        /// An agreement that time takes further.
        Agreement = "AGREEMENT",
        /// A delivery that is to be attempted.
        Delivery = "DELIVERY",
        /// An endpoint whose deliveries have to follow what was done to it.
        Endpoint = "ENDPOINT",
    }
}

// An organization's own.

/// An event.
#[must_use]
pub fn event(org: OrgId, event: EventId) -> Key {
    Key::alone(of(org, format_args!("EVENT#{event}")))
}

/// The partition of an organization's endpoints, with how they do.
#[must_use]
pub fn endpoints(org: OrgId) -> String {
    of(org, "ENDPOINTS")
}

/// Which endpoints an organization has, for their limit. Apart from them, so that reading them does not cost more.
#[must_use]
pub fn endpoint_ids(org: OrgId) -> Key {
    Key::alone(of(org, "ENDPOINTIDS"))
}

/// An endpoint.
#[must_use]
pub fn endpoint(org: OrgId, endpoint: EndpointId) -> Key {
    Key::new(endpoints(org), endpoint)
}

/// How an endpoint has done lately: an item of its own, since every attempt writes it.
#[must_use]
pub fn endpoint_health(org: OrgId, endpoint: EndpointId) -> Key {
    Key::new(endpoints(org), format_args!("{endpoint}{HEALTH}"))
}

/// The replay of an endpoint's undelivered events that a member has asked for.
#[must_use]
pub fn endpoint_replay(org: OrgId, endpoint: EndpointId) -> Key {
    Key::new(endpoints(org), format_args!("{endpoint}{REPLAY}"))
}

/// A delivery that the sender could not process.
#[must_use]
pub fn quarantined_delivery(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Key::new(endpoints(org), format_args!("{endpoint}{QUARANTINED}{event}"))
}

/// What the sort keys of an endpoint's companions end with, or have between two ids.
pub(super) const HEALTH: &str = "#HEALTH";
/// See [`HEALTH`].
pub(super) const REPLAY: &str = "#REPLAY";
/// See [`HEALTH`].
pub(super) const QUARANTINED: &str = "#STUCK#";

/// The partition of an endpoint's deliveries, in the order of their events.
#[must_use]
pub fn deliveries(org: OrgId, endpoint: EndpointId) -> String {
    of(org, format_args!("DELIVERIES#{endpoint}"))
}

/// A delivery. Named by what it is of, so that there is one however often the event is relayed.
#[must_use]
pub fn delivery(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Key::new(deliveries(org, endpoint), event)
}

/// The partition of those of an endpoint's deliveries that have not arrived and are not on their way: what waits for its
/// next attempt, for a replay, or for the endpoint to be resumed.
#[must_use]
pub fn undelivered(org: OrgId, endpoint: EndpointId) -> String {
    of(org, format_args!("UNDELIVERED#{endpoint}"))
}

/// A delivery's row there.
#[must_use]
pub fn undelivered_row(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Key::new(undelivered(org, endpoint), event)
}

/// An agreement.
#[must_use]
pub fn agreement(org: OrgId, agreement: AgreementId) -> Key {
    Key::alone(of(org, format_args!("AGREEMENT#{agreement}")))
}

/// A proposal.
#[must_use]
pub fn proposal(org: OrgId, proposal: ProposalId) -> Key {
    Key::alone(of(org, format_args!("PROPOSAL#{proposal}")))
}

/// What was proposed with it.
#[must_use]
pub fn proposed(org: OrgId, proposal: ProposalId) -> Key {
    Key::alone(of(org, format_args!("PROPOSED#{proposal}")))
}

/// The one proposal of an action that is pending for an agreement.
#[must_use]
pub fn pending(org: OrgId, agreement: AgreementId, action: ProposalAction) -> Key {
    Key::alone(of(org, format_args!("PENDING#{agreement}#{}", action.as_str())))
}

/// The organization itself.
#[must_use]
pub fn organization(org: OrgId) -> Key {
    Key::alone(of(org, "ORGANIZATION"))
}

/// One of the organization's members.
#[must_use]
pub fn member(org: OrgId, member: MemberId) -> Key {
    Key::new(members(org), member)
}

/// The partition of an organization's members.
#[must_use]
pub fn members(org: OrgId) -> String {
    of(org, "MEMBERS")
}

/// One of the organization's tokens, by its id: kept for good, also when it works no more.
#[must_use]
pub fn token(org: OrgId, token: TokenId) -> Key {
    Key::new(of(org, "TOKENS"), token)
}

/// The audit row of a call.
#[must_use]
pub fn audit(org: OrgId, at: Timestamp, call: RequestId) -> Key {
    Key::new(of(org, format_args!("AUDIT#{}", at.day())), call)
}

/// The first response to an idempotency key.
#[must_use]
pub fn idempotency(org: OrgId, key: &str) -> Key {
    Key::alone(of(org, format_args!("KEY#{key}")))
}

/// The last number that was given to a workspace.
#[must_use]
pub fn workspace_counter(org: OrgId) -> Key {
    Key::alone(of(org, "COUNTER#WORKSPACES"))
}

/// A contact.
#[must_use]
pub fn contact(org: OrgId, contact: ContactId) -> Key {
    Key::alone(of(org, format_args!("CONTACT#{contact}")))
}

/// The contact that has an external reference.
#[must_use]
pub fn contact_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Key::alone(of(org, format_args!("CONTACTREF#{}", reference.as_str())))
}

/// A workspace.
#[must_use]
pub fn workspace(org: OrgId, workspace: WorkspaceId) -> Key {
    Key::alone(of(org, format_args!("WORKSPACE#{workspace}")))
}

text_enum! {
    /// What lists are made of: the compact rows of one kind, in one partition per organization, sorted by id. The text is
    /// part of the partition's key.
    pub enum Rows {
        /// Of contacts.
        Contacts = "CONTACTS",
        /// Of workspaces.
        Workspaces = "WORKSPACES",
        /// Of agreements.
        Agreements = "AGREEMENTS",
        /// Of proposals.
        Proposals = "PROPOSALS",
    }
}

/// The partition of an organization's rows.
#[must_use]
pub fn rows(org: OrgId, rows: Rows) -> String {
    of(org, rows)
}

/// The row of one record.
#[must_use]
pub fn row(org: OrgId, kind: Rows, id: uuid::Uuid) -> Key {
    Key::new(rows(org, kind), id)
}

fn of(org: OrgId, what: impl fmt::Display) -> String {
    format!("ORG#{org}#{what}")
}
