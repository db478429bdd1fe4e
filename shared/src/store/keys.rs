//! Every key of the table. Keys start with the organization, except a few look-ups without one, which come first.
//!
//! - Decision: a token is stored once, under its hash; its id only points there. So revoking it changes one item.
//! - Decision: each person of a workspace is an item, so that those who join at once share none: on AWS, transactions
//!   that do conflict. One query reads the workspace with all of them and checks the limit of 500. An agreement that
//!   begins to refer to a contact makes a new version of the person; a removal holds only for the version that it saw.
//! - Decision: what lists need of people (their number in the workspace's record, and their set in a row of its own)
//!   changes in place after the commit. The transaction also writes a due entry, by which the clock counts again what
//!   an interruption left. So lists cost no query per workspace, and their rows stay small.
//! - Decision: an organization's endpoints are such a set too, with room for 20. The limit is exact even for concurrent
//!   additions; a count could drift, and in the endpoints' partition every event would read the set.
//! - Decision: the snapshot of what was proposed is an item beside its proposal, written once, for the page of a
//!   decision. Lists, decisions and the clock read only the proposal, with the agreement's name and size.
//! - Decision: an invitation is stored under its address: each has one, and removing a member deletes it unread.
//! - Decision: an organization's audit rows are one partition in the order of time, so one query reads any range of
//!   days. A partition per day would spread no load: all calls of a moment would still write to one.
//! - Decision: an agreement keeps its own acts: an item for each call that changed it, for two write units, so one
//!   query shows years of history. No other record has such an index: the log filters its rows by object.
//! - Decision: a movement has its own partition with its evidence and sealed instructions, read in one query. Its
//!   agreement stores its id and state: without payments it costs no further read, and others are found by key.
//! - Decision: a document's unique item names its movement, under a hash: no bank's reference is part of a key.
//! - Decision: an organization's funding items share a partition, its trusts another, sorted by workspace. The record
//!   is its own row, so papering, publishing and cancelling write one item for each of 25, within a transaction, and a
//!   workspace's funding is one range. A pointer leads from the id to the place. Lists of all sort by id.
//! - Decision: a funding item's sort key has one of its workspace's 1,000 places, so the limit is exact and concurrent
//!   additions share no item. A counter proposes the place; past the last one, a free place is searched for.
//! - Decision: an agreement has one due entry, for its earliest moment; each change moves it in the same transaction.

mod key;
mod of_service;

use std::collections::HashMap;
use std::fmt;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::contact::{Email, ExternalReference};
use crate::domain::funding::Place;
use crate::domain::ids::{
    AgreementId, ContactId, EndpointId, EventId, EvidenceId, FundingItemId, GateId, MemberId, MovementId, ObligationId,
    OrgId, PaperSignatureId, ParticipantId, ProposalId, ReceiptId, RequestId, StatementId, TokenId, TrustId,
    VerificationId, WorkspaceId,
};
use crate::domain::member::second::TieKind;
use crate::domain::money::Money;
use crate::domain::movement::evidence::{Evidence, EvidenceFacts, EvidenceKey};
use crate::domain::participant::session::Part;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;
use crate::wire::enums::text_enum;
use crate::wire::text::Folded;

pub use key::Key;
pub(super) use key::RecordKey;
pub use of_service::*;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The attribute of the partition key.
pub const PARTITION: &str = "pk";
/// The attribute of the sort key.
pub const SORT: &str = "sk";
/// The movement for which a document counts.
pub(super) const HELD_BY: &str = "movement_id";
/// The attribute that holds when `DynamoDB` may delete an item, in seconds since 1970.
pub const DROP_AT: &str = "ttl";

/// The sort key of an item that is alone in its partition.
pub(super) const ALONE: &str = ".";

pub(super) fn is_alone(sort: &str) -> bool {
    sort == ALONE
}

/// An event.
#[must_use]
pub fn event(org: OrgId, event: EventId) -> Key {
    Key::alone(of(org, format_args!("EVENT#{event}")))
}

pub(super) fn endpoints(org: OrgId) -> String {
    of(org, "ENDPOINTS")
}

/// The set of an organization's endpoints, for their limit. It is apart from them so that reading them costs no more.
pub(super) fn endpoint_ids(org: OrgId) -> Key {
    Key::alone(of(org, "ENDPOINTIDS"))
}

/// An endpoint.
#[must_use]
pub fn endpoint(org: OrgId, endpoint: EndpointId) -> Key {
    Key::new(endpoints(org), endpoint)
}

/// The health has its own item because every attempt writes it.
pub(super) fn endpoint_health(org: OrgId, endpoint: EndpointId) -> Key {
    Key::new(endpoints(org), format_args!("{endpoint}{HEALTH}"))
}

pub(super) fn endpoint_replay(org: OrgId, endpoint: EndpointId) -> Key {
    Key::new(endpoints(org), format_args!("{endpoint}{REPLAY}"))
}

pub(super) fn quarantined_delivery(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Key::new(endpoints(org), format_args!("{endpoint}{QUARANTINED}{event}"))
}

/// Markers in the sort keys of an endpoint's other items: at the end, or between two ids.
pub(super) const HEALTH: &str = "#HEALTH";
pub(super) const REPLAY: &str = "#REPLAY";
pub(super) const QUARANTINED: &str = "#STUCK#";

pub(super) fn deliveries(org: OrgId, endpoint: EndpointId) -> String {
    of(org, format_args!("DELIVERIES#{endpoint}"))
}

/// A delivery. Its endpoint and event name it, so there is one however often the event is relayed.
#[must_use]
pub fn delivery(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Key::new(deliveries(org, endpoint), event)
}

/// Has a row for each undelivered delivery: it waits for its next attempt, a replay, or the endpoint to be resumed.
pub(super) fn undelivered(org: OrgId, endpoint: EndpointId) -> String {
    of(org, format_args!("UNDELIVERED#{endpoint}"))
}

pub(super) fn undelivered_row(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Key::new(undelivered(org, endpoint), event)
}

/// An agreement.
#[must_use]
pub fn agreement(org: OrgId, agreement: AgreementId) -> Key {
    Key::alone(of(org, format_args!("AGREEMENT#{agreement}")))
}

/// A movement.
#[must_use]
pub fn movement(org: OrgId, movement: MovementId) -> Key {
    Key::alone(movement_items(org, movement))
}

/// The partition of a movement, followed by its evidence and instructions.
pub(super) fn movement_items(org: OrgId, movement: MovementId) -> String {
    of(org, format_args!("MOVEMENT#{movement}"))
}

pub(super) fn evidence(org: OrgId, movement: MovementId, evidence: EvidenceId) -> Key {
    Key::new(movement_items(org, movement), format_args!("{EVIDENCE}{evidence}"))
}

pub(super) const EVIDENCE: &str = "EVIDENCE#";

pub(super) fn instructions(org: OrgId, movement: MovementId, revision: u32) -> Key {
    Key::new(movement_items(org, movement), format_args!("INSTRUCTIONS#{revision:06}"))
}

pub(super) fn arrivals(org: OrgId, money: Money) -> String {
    of(org, format_args!("ARRIVALS#{}#{}", money.currency().code(), money.amount_minor()))
}

pub(super) fn arrival(org: OrgId, evidence: &Evidence) -> Key {
    let EvidenceFacts { money, value_day, .. } = evidence.facts();
    Key::new(arrivals(org, *money), format_args!("{value_day}#{}", evidence.id()))
}

pub(super) fn arrivals_with(org: OrgId, reference: &EvidenceKey) -> String {
    of(org, format_args!("ARRIVALREFERENCES#{}", hash_of(reference)))
}

pub(super) fn arrival_with(org: OrgId, reference: &EvidenceKey, evidence: &Evidence) -> Key {
    Key::new(arrivals_with(org, reference), format_args!("{}#{}", evidence.facts().value_day, evidence.id()))
}

pub(super) fn evidence_of_arrival(sort: &str) -> Option<EvidenceId> {
    sort.split_once('#')?.1.parse().ok()
}

pub(super) fn evidence_key(org: OrgId, key: &EvidenceKey) -> Key {
    Key::alone(of(org, format_args!("EVIDENCEKEY#{}", hash_of(key))))
}

fn hash_of(key: &EvidenceKey) -> String {
    crate::crypto::hex(&crate::crypto::fingerprint(&[key.as_str().as_bytes()]))
}

pub(super) fn statement(org: OrgId, statement: StatementId) -> Key {
    Key::alone(statement_items(org, statement))
}

/// The partition of a statement, followed by its filed entries.
pub(super) fn statement_items(org: OrgId, statement: StatementId) -> String {
    of(org, format_args!("STATEMENT#{statement}"))
}

pub(super) fn filed_entry(org: OrgId, statement: StatementId, number: u32) -> Key {
    Key::new(statement_items(org, statement), format_args!("{FILED}{number:08}"))
}

pub(super) const FILED: &str = "FILED#";

pub(super) fn statement_file(org: OrgId, sha256: &str) -> Key {
    Key::alone(of(org, format_args!("STATEMENTFILE#{sha256}")))
}

pub(super) fn stored_file(org: OrgId, sha256: &str) -> Key {
    Key::alone(of(org, format_args!("STOREDFILE#{sha256}")))
}

pub(super) fn statement_columns(org: OrgId, header: &str) -> Key {
    Key::alone(of(org, format_args!("STATEMENTCOLUMNS#{header}")))
}

/// A proposal.
#[must_use]
pub fn proposal(org: OrgId, proposal: ProposalId) -> Key {
    Key::alone(of(org, format_args!("PROPOSAL#{proposal}")))
}

/// An obligation.
#[must_use]
pub fn obligation(org: OrgId, obligation: ObligationId) -> Key {
    Key::alone(of(org, format_args!("OBLIGATION#{obligation}")))
}

/// The partition of an obligation, followed by its older occurrences.
pub(super) fn obligation_items(org: OrgId, obligation: ObligationId) -> String {
    self::obligation(org, obligation).partition
}

pub(super) fn older_occurrence(org: OrgId, obligation: ObligationId, sequence: u32) -> Key {
    Key::new(obligation_items(org, obligation), format_args!("{OCCURRENCE}{sequence:06}"))
}

pub(super) const OCCURRENCE: &str = "OCCURRENCE#";

pub(super) fn proposed(org: OrgId, proposal: ProposalId) -> Key {
    Key::alone(of(org, format_args!("PROPOSED#{proposal}")))
}

/// The claim of the one pending proposal of an action for an agreement.
#[must_use]
pub fn pending(org: OrgId, agreement: AgreementId, action: ProposalAction) -> Key {
    Key::alone(of(org, format_args!("PENDING#{agreement}#{}", action.as_str())))
}

pub(super) fn organization(org: OrgId) -> Key {
    Key::alone(of(org, "ORGANIZATION"))
}

/// One of the organization's members.
#[must_use]
pub fn member(org: OrgId, member: MemberId) -> Key {
    Key::new(members(org), member)
}

pub(super) fn members(org: OrgId) -> String {
    of(org, "MEMBERS")
}

pub(super) fn invitation(org: OrgId, email: &Email) -> Key {
    Key::new(invitations(org), Folded::new(email.as_str()).as_str())
}

pub(super) fn invitations(org: OrgId) -> String {
    of(org, "INVITATIONS")
}

/// The pointer from a token's id to its hash, kept for good, even after revocation.
pub(super) fn token(org: OrgId, token: TokenId) -> Key {
    Key::new(tokens(org), token)
}

pub(super) fn tokens(org: OrgId) -> String {
    of(org, "TOKENS")
}

/// The partition of an organization's audit rows, in the order of time. The number names the layout.
pub(super) fn audit_rows(org: OrgId) -> String {
    of(org, "AUDIT#1")
}

pub(super) fn audit(org: OrgId, call: RequestId) -> Key {
    Key::new(audit_rows(org), call)
}

/// The partition of an agreement, followed by its acts.
pub(super) fn acts(org: OrgId, agreement: AgreementId) -> String {
    self::agreement(org, agreement).partition
}

/// The newest act sorts first, right behind the agreement.
pub(super) fn act(org: OrgId, agreement: AgreementId, call: RequestId) -> Key {
    let newest_first = uuid::Uuid::from_u128(!call.uuid().as_u128());
    Key::new(acts(org, agreement), format_args!("{ACT}{newest_first}"))
}

/// The smallest sort key of acts of calls that began by a moment.
pub(super) fn acts_until(at: Timestamp) -> String {
    let ms = u128::try_from(at.unix_ms()).unwrap_or_default();
    // Ids begin with their time.
    let last = uuid::Uuid::from_u128(((ms + 1) << 80) - 1);
    format!("{ACT}{}", uuid::Uuid::from_u128(!last.as_u128()))
}

pub(super) fn call_of_act(sort: &str) -> Option<RequestId> {
    let newest_first: uuid::Uuid = sort.strip_prefix(ACT)?.parse().ok()?;
    Some(uuid::Uuid::from_u128(!newest_first.as_u128()).into())
}

pub(super) fn verification(org: OrgId, agreement: AgreementId, id: VerificationId) -> Key {
    Key::new(acts(org, agreement), format_args!("{VERIFICATION}{id}"))
}

pub(super) const VERIFICATION: &str = "VERIFICATION#";

pub(super) fn paper_signature(part: Part, id: PaperSignatureId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Key::new(acts(organization_id, agreement_id), format_args!("{}{id}", paper_signatures_of(participant_id)))
}

pub(super) fn paper_signatures_of(participant: ParticipantId) -> String {
    format!("{PAPER_SIGNATURE}{participant}#")
}

pub(super) const PAPER_SIGNATURE: &str = "PAPERSIGNATURE#";

pub(super) fn access(part: Part) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Key::new(acts(organization_id, agreement_id), format_args!("{ACCESS}{participant_id}"))
}

pub(super) const ACCESS: &str = "ACCESS#";

/// The latest code that a member made for a participant's link.
pub(super) fn link_code(part: Part) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Key::new(acts(organization_id, agreement_id), format_args!("LINKCODE#{participant_id}"))
}

pub(super) fn receipt(part: Part, id: ReceiptId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Key::new(acts(organization_id, agreement_id), format_args!("{}{id}", receipts_of(participant_id)))
}

pub(super) fn receipts_of(participant: ParticipantId) -> String {
    format!("{RECEIPT}{participant}#")
}

pub(super) const RECEIPT: &str = "RECEIPT#";

pub(super) fn answer_draft(part: Part, gate: GateId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Key::new(acts(organization_id, agreement_id), format_args!("ANSWERDRAFT#{gate}#{participant_id}"))
}

pub(super) fn submission(part: Part, gate: GateId, revision: u32) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    let sort = format!("{}{revision:06}", submissions_of(gate, participant_id));
    Key::new(acts(organization_id, agreement_id), sort)
}

pub(super) fn submissions_of(gate: GateId, participant: ParticipantId) -> String {
    format!("{SUBMISSION}{gate}#{participant}#")
}

pub(super) const SUBMISSION: &str = "SUBMISSION#";

pub(super) const ACT: &str = "ACT#";

pub(super) fn former_member(org: OrgId, member: MemberId) -> Key {
    Key::new(of(org, "FORMERMEMBERS"), member)
}

pub(super) fn member_ties(org: OrgId) -> String {
    of(org, "MEMBERTIES")
}

pub(super) fn member_tie(org: OrgId, member: MemberId, by: MemberId, kind: TieKind) -> Key {
    Key::new(member_ties(org), format_args!("{member}#{by}#{}", kind.as_str()))
}

pub(super) fn departure(org: OrgId, member: MemberId) -> Key {
    Key::new(member_ties(org), member)
}

pub(super) fn idempotency(org: OrgId, key: &str) -> Key {
    Key::alone(of(org, format_args!("KEY#{key}")))
}

/// A used form copy. The key has no organization: the copy's id is bound to a session.
pub(super) fn form_copy(id: uuid::Uuid) -> Key {
    Key::alone(format!("FORMCOPY#{id}"))
}

pub(super) fn workspace_counter(org: OrgId) -> Key {
    Key::alone(of(org, "COUNTER#WORKSPACES"))
}

pub(super) fn contact(org: OrgId, contact: ContactId) -> Key {
    Key::alone(of(org, format_args!("CONTACT#{contact}")))
}

pub(super) fn contact_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Key::alone(of(org, format_args!("CONTACTREF#{}", reference.as_str())))
}

pub(super) fn workspace(org: OrgId, workspace: WorkspaceId) -> Key {
    Key::alone(workspace_items(org, workspace))
}

/// The partition of a workspace, followed by its people.
pub(super) fn workspace_items(org: OrgId, workspace: WorkspaceId) -> String {
    of(org, format_args!("WORKSPACE#{workspace}"))
}

pub(super) fn person(org: OrgId, workspace: WorkspaceId, contact: ContactId) -> Key {
    Key::new(workspace_items(org, workspace), format_args!("{PERSON}{contact}"))
}

pub(super) const PERSON: &str = "PERSON#";

/// The partition of an organization's funding items, sorted by workspace.
pub(super) fn funding_items(org: OrgId) -> String {
    of(org, "FUNDINGITEMS")
}

pub(super) fn funding_of(workspace: WorkspaceId) -> String {
    format!("{workspace}#")
}

pub(super) fn funding_item(org: OrgId, workspace: WorkspaceId, place: Place) -> Key {
    Key::new(funding_items(org), format_args!("{}{:04}", funding_of(workspace), place.number()))
}

pub(super) fn with_sort(partition: String, sort: &str) -> Key {
    Key::new(partition, sort)
}

pub(super) fn place_of(sort: &str) -> Option<Place> {
    Place::new(sort.rsplit_once('#')?.1.parse().ok()?)
}

pub(super) fn funding_item_pointer(org: OrgId, item: FundingItemId) -> Key {
    Key::alone(of(org, format_args!("FUNDINGITEM#{item}")))
}

pub(super) fn funding_item_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Key::alone(of(org, format_args!("FUNDINGITEMREF#{}", reference.as_str())))
}

pub(super) fn funding_to_review(org: OrgId) -> String {
    of(org, "FUNDINGTOREVIEW")
}

pub(super) fn funding_item_to_review(org: OrgId, item: FundingItemId) -> Key {
    Key::new(funding_to_review(org), item)
}

pub(super) fn funding_place_counter(org: OrgId, workspace: WorkspaceId) -> Key {
    Key::alone(of(org, format_args!("COUNTER#FUNDINGITEMS#{workspace}")))
}

/// The partition of an organization's trusts, sorted by workspace.
pub(super) fn trusts(org: OrgId) -> String {
    of(org, "TRUSTS")
}

pub(super) fn trust(org: OrgId, workspace: WorkspaceId, trust: TrustId) -> Key {
    Key::new(trusts(org), format_args!("{}{trust}", funding_of(workspace)))
}

pub(super) fn trust_pointer(org: OrgId, trust: TrustId) -> Key {
    Key::alone(of(org, format_args!("TRUST#{trust}")))
}

pub(super) fn trust_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Key::alone(of(org, format_args!("TRUSTREF#{}", reference.as_str())))
}

text_enum! {
    /// The kinds of list rows. Each has a partition of compact rows per organization, sorted by id, named by this text.
    pub enum Rows {
        /// Rows of contacts.
        Contacts = "CONTACTS",
        /// Rows of workspaces.
        Workspaces = "WORKSPACES",
        /// The people of each workspace, which only the page of a contact looks through.
        WorkspacePeople = "WORKSPACEPEOPLE",
        /// Rows of agreements.
        Agreements = "AGREEMENTS",
        /// The names of each agreement's documents, which only the search looks through.
        AgreementDocuments = "AGREEMENTDOCUMENTS",
        /// Rows of proposals.
        Proposals = "PROPOSALS",
        /// Rows of movements.
        Movements = "MOVEMENTS",
        /// Rows of obligations.
        Obligations = "OBLIGATIONS",
        /// Rows of bank statements.
        Statements = "STATEMENTS",
    }
}

pub(super) fn rows(org: OrgId, rows: Rows) -> String {
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
