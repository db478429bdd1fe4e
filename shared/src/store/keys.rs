//! Every key of the table. Keys start with the organization, except a few look-ups without one, which come first.
//!
//! - Decision: a token is stored once, under its hash; its id only points there. So revoking it changes one item.
//! - Decision: each person of a workspace is an item, so that those who join at once share none: on AWS, transactions
//!   that do conflict. One query reads the workspace with all of them and checks the limit of 500. An agreement that
//!   begins to refer to a contact makes a new version of the person; a removal holds only for the version that it saw.
//! - Decision: what pages need of people (their number in the workspace's record, and a pointer from each to their
//!   workspaces) changes in place after the commit. The transaction also writes a due entry, by which the clock does
//!   what an interruption left. So lists cost no query per workspace, and the page of a contact reads the contact's
//!   workspaces only, of however many there are.
//! - Decision: an organization's endpoints are such a set too, with room for 20. The limit is exact even for concurrent
//!   additions; a count could drift, and in the endpoints' partition every event would read the set.
//! - Decision: the snapshot of what was proposed is an item beside its proposal, written once, for the page of a
//!   decision. Lists, decisions and the clock read only the proposal, with the agreement's name and size.
//! - Decision: an invitation is stored under its address: each has one, and removing a member deletes it unread.
//! - Decision: an organization's audit rows are one partition in the order of time, so one query reads any range of
//!   days, or several such partitions side by side where a deployment says so. A partition per day would spread no load:
//!   all calls of a moment would still write to one.
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
//! - Decision: one item names an organization's templates, each of which is an item beside it. Its version makes the limit
//!   and unique names exact, a list costs one small read, and only a draft that begins reads what a template says.
//! - Decision: an agreement has one due entry, for its earliest moment; each change moves it in the same transaction.

mod of_service;
#[cfg(test)]
pub(super) mod tests;

use crate::domain::contact::{Email, ExternalReference};
use crate::domain::funding::Place;
use crate::domain::ids::{
    AgreementId, ContactId, EndpointId, EventId, EvidenceId, FundingItemId, GateId, MemberId, MovementId, ObligationId,
    OrgId, PaperSignatureId, ParticipantId, ProposalId, ReceiptId, RequestId, StatementId, TemplateId, TokenId,
    TrustId, VerificationId, WorkspaceId,
};
use crate::domain::member::second::TieKind;
use crate::domain::money::Money;
use crate::domain::movement::evidence::{Evidence, EvidenceFacts, EvidenceKey};
use crate::domain::participant::session::Part;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;
use crate::wire::text::Folded;

pub use super::key::{Item, Key, PARTITION, SORT};
use super::record_kind::RecordKind as Kind;
pub use super::record_kind::{Due, Rows};
pub use of_service::*;

/// The movement for which a document counts.
pub(super) const HELD_BY: &str = "movement_id";
/// The attribute that holds when `DynamoDB` may delete an item, in seconds since 1970.
pub const DROP_AT: &str = "ttl";

/// The sort key of the record of a partition, in front of the items beside it.
pub(super) const ALONE: &str = ".";

/// An event.
#[must_use]
pub fn event(org: OrgId, event: EventId) -> Key {
    Kind::Event.key(&[&org, &event])
}

pub(super) fn endpoints(org: OrgId) -> String {
    Kind::Endpoint.partition(&[&org])
}

/// The set of an organization's endpoints, for their limit. It is apart from them so that reading them costs no more.
pub(super) fn endpoint_ids(org: OrgId) -> Key {
    Kind::EndpointIds.key(&[&org])
}

/// An endpoint.
#[must_use]
pub fn endpoint(org: OrgId, endpoint: EndpointId) -> Key {
    Kind::Endpoint.key(&[&org, &endpoint])
}

/// The health has its own item because every attempt writes it.
pub(super) fn endpoint_health(org: OrgId, endpoint: EndpointId) -> Key {
    Kind::EndpointHealth.key(&[&org, &endpoint])
}

pub(super) fn endpoint_replay(org: OrgId, endpoint: EndpointId) -> Key {
    Kind::EndpointReplay.key(&[&org, &endpoint])
}

/// The partition of an organization's quarantined deliveries, apart from its endpoints, which every event reads.
pub(super) fn quarantine(org: OrgId) -> String {
    Kind::Quarantined.partition(&[&org])
}

pub(super) fn quarantined_delivery(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Kind::Quarantined.key(&[&org, &endpoint, &event])
}

pub(super) fn deliveries(org: OrgId, endpoint: EndpointId) -> String {
    Kind::Delivery.partition(&[&org, &endpoint])
}

/// A delivery. Its endpoint and event name it, so there is one however often the event is relayed.
#[must_use]
pub fn delivery(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Kind::Delivery.key(&[&org, &endpoint, &event])
}

/// Has a row for each undelivered delivery: it waits for its next attempt, a replay, or the endpoint to be resumed.
pub(super) fn undelivered(org: OrgId, endpoint: EndpointId) -> String {
    Kind::Undelivered.partition(&[&org, &endpoint])
}

pub(super) fn undelivered_row(org: OrgId, endpoint: EndpointId, event: EventId) -> Key {
    Kind::Undelivered.key(&[&org, &endpoint, &event])
}

/// An agreement.
#[must_use]
pub fn agreement(org: OrgId, agreement: AgreementId) -> Key {
    Kind::Agreement.key(&[&org, &agreement])
}

/// A movement.
#[must_use]
pub fn movement(org: OrgId, movement: MovementId) -> Key {
    Kind::Movement.key(&[&org, &movement])
}

pub(super) fn movement_items(org: OrgId, movement: MovementId) -> String {
    Kind::Movement.partition(&[&org, &movement])
}

pub(super) fn evidence(org: OrgId, movement: MovementId, evidence: EvidenceId) -> Key {
    Kind::Evidence.key(&[&org, &movement, &evidence])
}

pub(super) fn evidence_of_movement() -> String {
    Kind::Evidence.prefix(&[])
}

pub(super) fn instructions(org: OrgId, movement: MovementId, revision: u32) -> Key {
    Kind::Instructions.key(&[&org, &movement, &format_args!("{revision:06}")])
}

pub(super) fn arrivals(org: OrgId, money: Money) -> String {
    Kind::ArrivalByAmount.partition(&[&org, &money.currency().code(), &money.amount_minor()])
}

pub(super) fn arrival(org: OrgId, evidence: &Evidence) -> Key {
    let EvidenceFacts { money, value_day, .. } = evidence.facts();
    let (currency, amount) = (money.currency(), money.amount_minor());
    Kind::ArrivalByAmount.key(&[&org, &currency.code(), &amount, value_day, &evidence.id()])
}

pub(super) fn arrivals_with(org: OrgId, reference: &EvidenceKey) -> String {
    Kind::ArrivalByReference.partition(&[&org, &hash_of(reference)])
}

pub(super) fn arrival_with(org: OrgId, reference: &EvidenceKey, evidence: &Evidence) -> Key {
    let value_day = evidence.facts().value_day;
    Kind::ArrivalByReference.key(&[&org, &hash_of(reference), &value_day, &evidence.id()])
}

pub(super) fn evidence_of_arrival(sort: &str) -> Option<EvidenceId> {
    sort.split_once('#')?.1.parse().ok()
}

pub(super) fn evidence_key(org: OrgId, key: &EvidenceKey) -> Key {
    Kind::EvidenceKey.key(&[&org, &hash_of(key)])
}

fn hash_of(key: &EvidenceKey) -> String {
    crate::crypto::hex(&crate::crypto::fingerprint(&[key.as_str().as_bytes()]))
}

pub(super) fn statement(org: OrgId, statement: StatementId) -> Key {
    Kind::Statement.key(&[&org, &statement])
}

pub(super) fn statement_items(org: OrgId, statement: StatementId) -> String {
    Kind::Statement.partition(&[&org, &statement])
}

pub(super) fn filed_entry(org: OrgId, statement: StatementId, number: u32) -> Key {
    Kind::FiledEntry.key(&[&org, &statement, &format_args!("{number:08}")])
}

pub(super) fn filed_entries() -> String {
    Kind::FiledEntry.prefix(&[])
}

pub(super) fn statement_file(org: OrgId, sha256: &str) -> Key {
    Kind::StatementFile.key(&[&org, &sha256])
}

pub(super) fn stored_file(org: OrgId, sha256: &str) -> Key {
    Kind::StoredFile.key(&[&org, &sha256])
}

pub(super) fn statement_columns(org: OrgId, header: &str) -> Key {
    Kind::StatementColumns.key(&[&org, &header])
}

/// A proposal.
#[must_use]
pub fn proposal(org: OrgId, proposal: ProposalId) -> Key {
    Kind::Proposal.key(&[&org, &proposal])
}

/// An obligation.
#[must_use]
pub fn obligation(org: OrgId, obligation: ObligationId) -> Key {
    Kind::Obligation.key(&[&org, &obligation])
}

pub(super) fn obligation_items(org: OrgId, obligation: ObligationId) -> String {
    Kind::Obligation.partition(&[&org, &obligation])
}

pub(super) fn older_occurrence(org: OrgId, obligation: ObligationId, sequence: u32) -> Key {
    Kind::OlderOccurrence.key(&[&org, &obligation, &format_args!("{sequence:06}")])
}

pub(super) fn older_occurrences() -> String {
    Kind::OlderOccurrence.prefix(&[])
}

pub(super) fn proposed(org: OrgId, proposal: ProposalId) -> Key {
    Kind::ProposalSnapshot.key(&[&org, &proposal])
}

/// The claim of the one pending proposal of an action for an agreement.
#[must_use]
pub fn pending(org: OrgId, agreement: AgreementId, action: ProposalAction) -> Key {
    Kind::ProposalClaim.key(&[&org, &agreement, &action.as_str()])
}

pub(super) fn organization(org: OrgId) -> Key {
    Kind::Organization.key(&[&org])
}

/// One of the organization's members.
#[must_use]
pub fn member(org: OrgId, member: MemberId) -> Key {
    Kind::Member.key(&[&org, &member])
}

pub(super) fn members(org: OrgId) -> String {
    Kind::Member.partition(&[&org])
}

pub(super) fn invitation(org: OrgId, email: &Email) -> Key {
    Kind::Invitation.key(&[&org, &Folded::new(email.as_str()).as_str()])
}

pub(super) fn invitations(org: OrgId) -> String {
    Kind::Invitation.partition(&[&org])
}

/// The pointer from a token's id to its hash, kept for good, even after revocation.
pub(super) fn token(org: OrgId, token: TokenId) -> Key {
    Kind::TokenPointer.key(&[&org, &token])
}

pub(super) fn tokens(org: OrgId) -> String {
    Kind::TokenPointer.partition(&[&org])
}

/// A partition of an organization's audit rows, in the order of time.
pub(super) fn audit_rows(org: OrgId, shard: u8) -> String {
    Kind::Audit.partition(&[&org, &number_of(shard)])
}

pub(super) fn audit(org: OrgId, call: RequestId) -> Key {
    Kind::Audit.key(&[&org, &number_of(call.audit_shard()), &call])
}

fn number_of(shard: u8) -> u16 {
    u16::from(shard) + 1
}

pub(super) fn acts(org: OrgId, agreement: AgreementId) -> String {
    Kind::Agreement.partition(&[&org, &agreement])
}

/// The newest act sorts first, right behind the agreement.
pub(super) fn act(org: OrgId, agreement: AgreementId, call: RequestId) -> Key {
    let newest_first = uuid::Uuid::from_u128(!call.uuid().as_u128());
    Kind::Act.key(&[&org, &agreement, &newest_first])
}

pub(super) fn all_acts() -> String {
    Kind::Act.prefix(&[])
}

/// The smallest sort key of acts of calls that began by a moment.
pub(super) fn acts_until(at: Timestamp) -> String {
    let ms = u128::try_from(at.unix_ms()).unwrap_or_default();
    // Ids begin with their time.
    let last = uuid::Uuid::from_u128(((ms + 1) << 80) - 1);
    Kind::Act.prefix(&[&uuid::Uuid::from_u128(!last.as_u128())])
}

pub(super) fn call_of_act(sort: &str) -> Option<RequestId> {
    let newest_first: uuid::Uuid = sort.strip_prefix(&all_acts())?.parse().ok()?;
    Some(uuid::Uuid::from_u128(!newest_first.as_u128()).into())
}

pub(super) fn verification(org: OrgId, agreement: AgreementId, id: VerificationId) -> Key {
    Kind::Verification.key(&[&org, &agreement, &id])
}

pub(super) fn verifications() -> String {
    Kind::Verification.prefix(&[])
}

pub(super) fn paper_signature(part: Part, id: PaperSignatureId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::PaperSignature.key(&[&organization_id, &agreement_id, &participant_id, &id])
}

pub(super) fn paper_signatures() -> String {
    Kind::PaperSignature.prefix(&[])
}

pub(super) fn paper_signatures_of(participant: ParticipantId) -> String {
    Kind::PaperSignature.prefix(&[&participant])
}

pub(super) fn access(part: Part) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::Access.key(&[&organization_id, &agreement_id, &participant_id])
}

pub(super) fn accesses() -> String {
    Kind::Access.prefix(&[])
}

/// The latest code that a member made for a participant's link.
pub(super) fn link_code(part: Part) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::LinkCode.key(&[&organization_id, &agreement_id, &participant_id])
}

pub(super) fn receipt(part: Part, id: ReceiptId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::Receipt.key(&[&organization_id, &agreement_id, &participant_id, &id])
}

pub(super) fn receipts() -> String {
    Kind::Receipt.prefix(&[])
}

pub(super) fn receipts_of(participant: ParticipantId) -> String {
    Kind::Receipt.prefix(&[&participant])
}

pub(super) fn file_review(part: Part, gate: GateId, receipt: ReceiptId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::FileReview.key(&[&organization_id, &agreement_id, &participant_id, &gate, &receipt])
}

pub(super) fn file_reviews() -> String {
    Kind::FileReview.prefix(&[])
}

pub(super) fn file_reviews_of(participant: ParticipantId, gate: GateId) -> String {
    Kind::FileReview.prefix(&[&participant, &gate])
}

pub(super) fn answer_draft(part: Part, gate: GateId) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::AnswerDraft.key(&[&organization_id, &agreement_id, &gate, &participant_id])
}

pub(super) fn submission(part: Part, gate: GateId, revision: u32) -> Key {
    let Part { organization_id, agreement_id, participant_id } = part;
    Kind::Submission.key(&[&organization_id, &agreement_id, &gate, &participant_id, &format_args!("{revision:06}")])
}

/// The sort keys of answers that the participants of an agreement sent.
pub(super) fn submissions() -> String {
    Kind::Submission.prefix(&[])
}

pub(super) fn submissions_of(gate: GateId, participant: ParticipantId) -> String {
    Kind::Submission.prefix(&[&gate, &participant])
}

pub(super) fn former_member(org: OrgId, member: MemberId) -> Key {
    Kind::FormerMember.key(&[&org, &member])
}

pub(super) fn member_ties(org: OrgId) -> String {
    Kind::MemberTie.partition(&[&org])
}

pub(super) fn member_tie(org: OrgId, member: MemberId, by: MemberId, kind: TieKind) -> Key {
    Kind::MemberTie.key(&[&org, &member, &by, &kind.as_str()])
}

pub(super) fn departure(org: OrgId, member: MemberId) -> Key {
    Kind::Departure.key(&[&org, &member])
}

pub(super) fn idempotency(org: OrgId, key: &str) -> Key {
    Kind::FirstResponse.key(&[&org, &key])
}

/// A used form copy. The key has no organization: the copy's id is bound to a session.
pub(super) fn form_copy(id: uuid::Uuid) -> Key {
    Kind::FormCopy.key(&[&id])
}

pub(super) fn workspace_counter(org: OrgId) -> Key {
    Kind::WorkspaceCounter.key(&[&org])
}

/// The list of an organization's own templates.
pub(super) fn own_templates(org: OrgId) -> Key {
    Kind::OwnTemplates.key(&[&org])
}

pub(super) fn outline(org: OrgId, template: TemplateId) -> Key {
    Kind::Outline.key(&[&org, &template])
}

pub(super) fn contact(org: OrgId, contact: ContactId) -> Key {
    Kind::Contact.key(&[&org, &contact])
}

pub(super) fn contact_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Kind::ContactReference.key(&[&org, &reference.as_str()])
}

pub(super) fn workspace(org: OrgId, workspace: WorkspaceId) -> Key {
    Kind::Workspace.key(&[&org, &workspace])
}

pub(super) fn workspace_items(org: OrgId, workspace: WorkspaceId) -> String {
    Kind::Workspace.partition(&[&org, &workspace])
}

pub(super) fn person(org: OrgId, workspace: WorkspaceId, contact: ContactId) -> Key {
    Kind::Person.key(&[&org, &workspace, &contact])
}

/// Has a pointer to each workspace whose people a contact is one of.
pub(super) fn workspaces_of(org: OrgId, contact: ContactId) -> String {
    Kind::PersonPointer.partition(&[&org, &contact])
}

pub(super) fn person_pointer(org: OrgId, contact: ContactId, workspace: WorkspaceId) -> Key {
    Kind::PersonPointer.key(&[&org, &contact, &workspace])
}

pub(super) fn people() -> String {
    Kind::Person.prefix(&[])
}

pub(super) fn funding_items(org: OrgId) -> String {
    Kind::FundingItem.partition(&[&org])
}

/// The sort keys of a workspace's funding items, and of its trusts.
pub(super) fn funding_of(workspace: WorkspaceId) -> String {
    Kind::FundingItem.prefix(&[&workspace])
}

pub(super) fn funding_item(org: OrgId, workspace: WorkspaceId, place: Place) -> Key {
    Kind::FundingItem.key(&[&org, &workspace, &format_args!("{:04}", place.number())])
}

pub(super) fn with_sort(partition: String, sort: &str) -> Key {
    Key::new(partition, sort)
}

pub(super) fn place_of(sort: &str) -> Option<Place> {
    Place::new(sort.rsplit_once('#')?.1.parse().ok()?)
}

pub(super) fn funding_item_pointer(org: OrgId, item: FundingItemId) -> Key {
    Kind::FundingItemPointer.key(&[&org, &item])
}

pub(super) fn funding_item_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Kind::FundingItemReference.key(&[&org, &reference.as_str()])
}

pub(super) fn funding_to_review(org: OrgId) -> String {
    Kind::FundingItemToReview.partition(&[&org])
}

pub(super) fn funding_item_to_review(org: OrgId, item: FundingItemId) -> Key {
    Kind::FundingItemToReview.key(&[&org, &item])
}

pub(super) fn funding_place_counter(org: OrgId, workspace: WorkspaceId) -> Key {
    Kind::FundingPlaceCounter.key(&[&org, &workspace])
}

pub(super) fn trusts(org: OrgId) -> String {
    Kind::Trust.partition(&[&org])
}

pub(super) fn trust(org: OrgId, workspace: WorkspaceId, trust: TrustId) -> Key {
    Kind::Trust.key(&[&org, &workspace, &trust])
}

pub(super) fn trust_pointer(org: OrgId, trust: TrustId) -> Key {
    Kind::TrustPointer.key(&[&org, &trust])
}

pub(super) fn trust_reference(org: OrgId, reference: &ExternalReference) -> Key {
    Kind::TrustReference.key(&[&org, &reference.as_str()])
}

pub(super) fn rows(org: OrgId, rows: Rows) -> String {
    Kind::Row.partition(&[&org, &rows])
}

/// The row of one record, unless its list is spread.
#[must_use]
pub fn row(org: OrgId, kind: Rows, id: uuid::Uuid) -> Key {
    Kind::Row.key(&[&org, &kind, &id])
}

/// A part of the rows of a list that is spread.
pub(super) fn spread_rows(org: OrgId, rows: Rows, part: u8) -> String {
    Kind::SpreadRow.partition(&[&org, &rows, &part])
}

/// The log of a list, in the order of stamps.
pub(super) fn log(org: OrgId, rows: Rows) -> String {
    Kind::RowsWritten.partition(&[&org, &rows])
}

/// A part of the log of a list that is spread.
pub(super) fn spread_log(org: OrgId, rows: Rows, part: u8) -> String {
    Kind::SpreadRowsWritten.partition(&[&org, &rows, &part])
}

/// The sort key of an entry in the log of a list.
pub(super) fn log_entry(stamp_ms: i64, id: uuid::Uuid) -> String {
    Kind::RowsWritten.prefix(&[&format_args!("{stamp_ms:015}"), &id])
}

/// That a list is spread: it comes with the first page of its rows.
pub(super) fn rows_are_spread(org: OrgId, rows: Rows) -> Key {
    Kind::RowsAreSpread.key(&[&org, &rows])
}

/// That a list is spread: it comes with every reading of its log, since it sorts behind all stamps.
pub(super) fn log_is_spread(org: OrgId, rows: Rows) -> Key {
    Kind::LogIsSpread.key(&[&org, &rows])
}

/// How the sort keys of entries begin that have a stamp: all later ones sort behind it.
pub(super) fn logged_from(stamp_ms: i64) -> String {
    Kind::RowsWritten.prefix(&[&format_args!("{:015}", stamp_ms.max(0))])
}

/// The pointer to the newest file with the rows of a list.
pub(super) fn stored_rows(org: OrgId, rows: Rows) -> Key {
    Kind::RowsStored.key(&[&org, &rows])
}
