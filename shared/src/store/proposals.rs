//! Proposals: a record, a snapshot of what was proposed, a list row, a claim while pending, and a due entry.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Condition, Expiry};
use super::item::{Item, compressed, decompressed, from_item, number};
use super::keys::{self, Due, Key, Rows};
use super::list::{Attribute, HeldRow, RowFilter};
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, OrgId, ProposalId};
use crate::domain::member::ByMember;
use crate::domain::proposal::{
    CreatedProposal, Decision, ExpiredProposal, Proposal, ProposalAction, ProposalSnapshot, ProposalState,
};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::page::{Filter, Order, Page, Search, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which proposals are listed.
    pub struct ProposalQuery {
        /// In this state only.
        state: Filter<ProposalState>,
        /// For this agreement only.
        agreement_id: Option<AgreementId>,
    }
}

/// Filters that only pages have, besides the query of the API.
#[derive(Debug, Clone, Default)]
pub struct ProposalFilter {
    /// Of this action only.
    pub action: Option<ProposalAction>,
    /// A part of the agreement's name when the proposal was made, in any letter case.
    pub search: Search<{ limits::AGREEMENT_SEARCH_CHARS_MAX }>,
}

const ACTION: Attribute<ProposalAction> = Attribute::named("ac");

/// The state written last. One pending here is expired once its time is over.
const STATE: Attribute<ProposalState> = Attribute::named("st");
const AGREEMENT: Attribute<AgreementId> = Attribute::named("a");
const EXPIRES: &str = "x";
const ENDED: &str = "e";
/// The snapshot of what was proposed, as compressed JSON.
pub(super) const COPY: &str = "copy";
pub(super) const PROPOSAL: &str = "proposal_id";
/// When a claim expires, in milliseconds since 1970.
pub(super) const CLAIMED_UNTIL: &str = "until";

impl Record for Proposal {
    type Id = ProposalId;
    type Listed = Self;
    const KIND: RecordKind = RecordKind::Proposal;

    fn record_id(&self) -> ProposalId {
        self.id()
    }

    fn row(&self) -> Row {
        let (state, ended_at) = match self.decision() {
            // A proposal ended at its expiry, whenever that was recorded.
            Decision::Pending => (ProposalState::Pending, None),
            Decision::Expired { .. } => (ProposalState::Expired, None),
            Decision::Confirmed(decided) => (ProposalState::Confirmed, Some(decided.at)),
            Decision::Declined(decided) => (ProposalState::Declined, Some(decided.at)),
        };
        Row::searched_by(Folded::new(self.subject.name.as_str()))
            .with(&STATE, &state)
            .with(&AGREEMENT, &self.agreement_id)
            .with(&ACTION, &self.action)
            .with_number(EXPIRES, Some(self.expires_at.unix_ms()))
            .with_number(ENDED, ended_at.map(Timestamp::unix_ms))
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

impl OrgStore {
    /// A proposal.
    pub async fn proposal(&self, id: ProposalId) -> Result<Option<Versioned<Proposal>>, StoreError> {
        self.find(id).await
    }

    /// The proposals with these ids. Skips missing ones.
    pub async fn proposals(
        &self,
        ids: impl IntoIterator<Item = ProposalId>,
    ) -> Result<Vec<Versioned<Proposal>>, StoreError> {
        self.find_all(ids).await
    }

    /// A proposal's snapshot, which is as large as its agreement was.
    pub async fn proposal_snapshot(&self, id: ProposalId) -> Result<Option<ProposalSnapshot>, StoreError> {
        self.store.get(keys::proposed(self.org, id)).await?.as_ref().map(proposed).transpose()
    }

    pub(crate) async fn proposal_snapshots(
        &self,
        ids: impl IntoIterator<Item = ProposalId>,
    ) -> Result<Vec<ProposalSnapshot>, StoreError> {
        let keys: Vec<_> = ids.into_iter().map(|id| keys::proposed(self.org, id)).collect();
        self.store.get_all(&keys).await?.iter().map(proposed).collect()
    }

    /// A page of the proposals that a query asks for, in their states at a moment.
    pub async fn list_proposals(
        &self,
        order: Order,
        query: &ProposalQuery,
        filter: &ProposalFilter,
        now: Timestamp,
    ) -> Result<Page<Proposal>, StoreError> {
        let mut rows = RowFilter::containing(filter.search.needle())
            .equal(&AGREEMENT, query.agreement_id)
            .equal(&ACTION, filter.action);
        if let Some(state) = query.state.get() {
            rows = rows.matching(move |row| state_of(row, now) == Some(state));
        }
        self.list::<Proposal>(order, &rows, query.page()).await
    }

    /// The proposal that has the claim of an action on an agreement, expired or not.
    pub async fn claim_holder(
        &self,
        agreement: AgreementId,
        action: ProposalAction,
    ) -> Result<Option<Versioned<Proposal>>, StoreError> {
        let Some(claim) = self.store.get(keys::pending(self.org, agreement, action)).await? else { return Ok(None) };
        let id = claim.get(PROPOSAL).and_then(|value| value.as_s().ok()?.parse().ok());
        self.proposal(id.ok_or_else(|| StoreError::Unreadable("decoding a claim".to_owned()))?).await
    }

    /// An agreement's pending proposals at a moment, at most one of each action.
    pub async fn pending_proposals(&self, agreement: AgreementId, now: Timestamp) -> Result<Vec<Proposal>, StoreError> {
        let key = |action| keys::pending(self.org, agreement, action);
        let claims = [ProposalAction::PublishAgreement, ProposalAction::CancelAgreement].map(key);
        let claims = self.store.get_all(&claims).await?;
        let proposal = |claim: &Item| claim.get(PROPOSAL)?.as_s().ok()?.parse().ok();
        let keys: Vec<_> = claims.iter().filter_map(proposal).map(|id| keys::proposal(self.org, id)).collect();
        let found = self.store.get_all(&keys).await?.into_iter().map(from_item);
        let mut found: Vec<Proposal> = found.collect::<Result<_, _>>()?;
        found.retain(|proposal| proposal.state_at(now) == ProposalState::Pending);
        Ok(found)
    }

    /// The agreements among these whose publication is pending at a moment.
    pub async fn proposed_for_publication(
        &self,
        agreements: impl IntoIterator<Item = AgreementId>,
        now: Timestamp,
    ) -> Result<HashSet<AgreementId>, StoreError> {
        let agreements: Vec<AgreementId> = agreements.into_iter().collect();
        let key = |id: &AgreementId| keys::pending(self.org, *id, ProposalAction::PublishAgreement);
        let keys: Vec<_> = agreements.iter().map(key).collect();
        let claims = self.store.get_all(&keys).await?;
        let is_live = |claim: &Item| number::<i64>(claim, CLAIMED_UNTIL).is_some_and(|until| now.unix_ms() < until);
        let live: HashSet<keys::Key> = claims.iter().filter(|claim| is_live(claim)).filter_map(keys::Key::of).collect();
        Ok(agreements.iter().zip(&keys).filter(|(_, key)| live.contains(key)).map(|(id, _)| *id).collect())
    }
}

fn proposed(item: &Item) -> Result<ProposalSnapshot, StoreError> {
    let copy = decompressed(item, COPY, limits::PROPOSED_BYTES_MAX);
    // serde's message can quote a value.
    let proposed = copy.and_then(|json| serde_json::from_slice(&json).ok());
    proposed.ok_or_else(|| StoreError::Unreadable("decoding what was proposed".to_owned()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingProposal {
    pub id: ProposalId,
    pub agreement: AgreementId,
    pub action: ProposalAction,
    pub expires_ms: i64,
}

#[derive(Debug, Default)]
pub(crate) struct PendingProposals {
    /// Oldest first.
    pub pending: Vec<PendingProposal>,
    pub ended: usize,
}

impl OrgStore {
    pub(crate) async fn all_pending_proposals(&self, now: Timestamp) -> Result<PendingProposals, StoreError> {
        let mut found = PendingProposals::default();
        self.each_row(Rows::Proposals, |row| match pending_proposal(row, now) {
            Some(pending) => found.pending.push(pending),
            None => found.ended += 1,
        })
        .await?;
        Ok(found)
    }
}

fn pending_proposal(row: HeldRow<'_>, now: Timestamp) -> Option<PendingProposal> {
    if state_of(row, now)? != ProposalState::Pending {
        return None;
    }
    Some(PendingProposal {
        id: row.id(),
        agreement: row.text(AGREEMENT.name)?.parse().ok()?,
        action: ProposalAction::parse(row.text(ACTION.name)?)?,
        expires_ms: row.number(EXPIRES)?,
    })
}

fn state_of(row: HeldRow<'_>, now: Timestamp) -> Option<ProposalState> {
    let written = ProposalState::parse(row.text(STATE.name)?)?;
    let is_over = row.number::<i64>(EXPIRES)? <= now.unix_ms();
    Some(if written == ProposalState::Pending && is_over { ProposalState::Expired } else { written })
}

/// Makes a proposal, if no other of its action is pending for its agreement.
pub fn create(call: &CallContext, made: &CreatedProposal) -> Result<Changes, StoreError> {
    let (org, proposal) = (call.org(), made.proposal());
    let (_, claim) = claim_item(org, proposal);
    let mut changes = record::create(org, proposal)?;
    changes.extend([
        Change::Create(snapshot(org, made)?),
        Change::PutIfExpired(claim, Expiry { attribute: CLAIMED_UNTIL, now: proposal.created_at.unix_ms() }),
        Change::Put(due(org, proposal).into_item()),
    ]);
    Ok(about(Changes::decided(call, made.moment(), changes), proposal))
}

pub(super) fn claim_item(org: OrgId, proposal: &Proposal) -> (Key, Item) {
    let key = keys::pending(org, proposal.agreement_id, proposal.action);
    let mut claim = key.clone().into_item();
    claim.insert(PROPOSAL.to_owned(), AttributeValue::S(proposal.id().to_string()));
    claim.insert(CLAIMED_UNTIL.to_owned(), AttributeValue::N(proposal.expires_at.unix_ms().to_string()));
    (key, claim)
}

/// Makes and decides a proposal, if no other is pending. `frees_claim` also settles an expired one.
pub fn create_decided(
    call: &CallContext,
    made: &CreatedProposal,
    decided: &ByMember<Proposal>,
    frees_claim: bool,
) -> Result<Changes, StoreError> {
    let org = call.org();
    let mut changes = record::create::<Proposal>(org, decided)?;
    changes.push(Change::Create(snapshot(org, made)?));
    if !frees_claim {
        changes.push(Change::Check(Condition {
            key: keys::pending(org, decided.agreement_id, decided.action),
            expression: "attribute_not_exists(#pk)",
            names: vec![("#pk", keys::PARTITION)],
            values: Vec::new(),
        }));
    }
    Ok(Changes::decided_by_member(call, decided, changes))
}

fn snapshot(org: OrgId, made: &CreatedProposal) -> Result<Item, StoreError> {
    let snapshot = serde_json::to_vec(made.snapshot())
        .map_err(|error| StoreError::Failed(format!("encoding what was proposed: {error}")))?;
    let mut copy = keys::proposed(org, made.proposal().id()).into_item();
    copy.insert(COPY.to_owned(), compressed(&snapshot));
    Ok(copy)
}

/// The changes that end a proposal by a member's decision.
pub fn decide(
    call: &CallContext,
    before: &Versioned<Proposal>,
    after: &ByMember<Proposal>,
) -> Result<Changes, StoreError> {
    Ok(about(Changes::decided_by_member(call, after, end(call.org(), before, after, false)?), after))
}

/// Records that a proposal has expired. Deletes its claim, unless a new proposal takes it over in the same transaction.
pub fn expire(
    call: &CallContext,
    before: &Versioned<Proposal>,
    after: &ExpiredProposal,
    keeps_claim: bool,
) -> Result<Changes, StoreError> {
    Ok(about(Changes::decided(call, after.moment(), end(call.org(), before, after, keeps_claim)?), after))
}

fn about(changes: Changes, proposal: &Proposal) -> Changes {
    changes.about(proposal.agreement_id, Some(proposal.action))
}

fn end(
    org: OrgId,
    before: &Versioned<Proposal>,
    after: &Proposal,
    keeps_claim: bool,
) -> Result<Vec<Change>, StoreError> {
    let mut changes = record::replace(org, before, after)?;
    changes.push(Change::Delete(due(org, after)));
    if !keeps_claim {
        changes.push(Change::Delete(keys::pending(org, after.agreement_id, after.action)));
    }
    Ok(changes)
}

fn due(org: OrgId, proposal: &Proposal) -> Key {
    keys::due(proposal.expires_at, Due::Proposal, org, proposal.id().uuid())
}
