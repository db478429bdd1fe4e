//! Proposals: a record, what was proposed beside it, a row in their list, a claim while one is pending, and when that
//! ends for the clock.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::AttributeValue;

use super::commit::{CLAIMED_UNTIL, Change, row};
use super::keys::{self, Due, Rows};
use super::list::{Order, has};
use super::{
    Item, OrgStore, StoreError, Versioned, compressed, decompressed, from_item, from_versioned_item, to_versioned_item,
};
use crate::domain::event::{EventKind, ProposalData};
use crate::domain::ids::{AgreementId, OrgId, ProposalId};
use crate::domain::member::ByMember;
use crate::domain::proposal::{Decision, Made, Proposal, ProposalAction, ProposalSnapshot, ProposalState, Settled};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::page::{Page, PageRequest};
use crate::wire::text::Folded;

/// The attribute of a row that holds the agreement.
const AGREEMENT: &str = "a";
/// The attribute of a row that holds the state as it was written.
const STATE: &str = "st";
/// The attribute of a row that holds until when the proposal can be decided, in milliseconds since 1970.
const EXPIRES: &str = "x";
/// The attribute of a row that holds when the proposal was decided, in milliseconds since 1970.
const ENDED: &str = "e";
/// The attribute that holds what was proposed, as JSON, compressed.
const COPY: &str = "copy";
/// The attribute of a claim that holds the proposal.
const PROPOSAL: &str = "proposal_id";

/// Which proposals are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProposalFilter {
    /// In this state, at the moment of asking.
    pub state: Option<ProposalState>,
    /// For this agreement.
    pub agreement: Option<AgreementId>,
}

impl OrgStore {
    /// A proposal.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn proposal(&self, id: ProposalId) -> Result<Option<Versioned<Proposal>>, StoreError> {
        self.store.get(keys::proposal(self.org, id)).await?.map(from_versioned_item).transpose()
    }

    /// What was proposed with a proposal: as large as an agreement can be.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn proposed(&self, id: ProposalId) -> Result<Option<ProposalSnapshot>, StoreError> {
        let Some(item) = self.store.get(keys::proposed(self.org, id)).await? else { return Ok(None) };
        let copy = decompressed(&item, COPY, limits::PROPOSED_BYTES_MAX);
        // serde's own text can quote a value.
        let proposed = copy.and_then(|json| serde_json::from_slice(&json).ok());
        proposed.map(Some).ok_or_else(|| StoreError::Unreadable("decoding what was proposed".to_owned()))
    }

    /// A page of the proposals that fit at a moment, the oldest first.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn list_proposals(
        &self,
        filter: ProposalFilter,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Page<Proposal>, StoreError> {
        self.proposals_in(Order::OldestFirst, filter, now, page).await
    }

    /// The same with the newest first.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn newest_proposals(
        &self,
        filter: ProposalFilter,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Page<Proposal>, StoreError> {
        self.proposals_in(Order::NewestFirst, filter, now, page).await
    }

    async fn proposals_in(
        &self,
        order: Order,
        filter: ProposalFilter,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Page<Proposal>, StoreError> {
        let agreement = filter.agreement.map(|id| id.to_string());
        let fits = |row: &Item| {
            has(row, AGREEMENT, agreement.as_deref())
                && filter.state.is_none_or(|state| state_of(row, now) == Some(state.as_str()))
        };
        let slice = self.list(Rows::Proposals, order, None, &[AGREEMENT, STATE, EXPIRES], fits, page).await?;
        let keys: Vec<_> = slice.ids.into_iter().map(|id| keys::proposal(self.org, id.into())).collect();
        let proposals = self.store.get_all(&keys).await?.into_iter().map(from_item).collect::<Result<_, _>>()?;
        Ok(Page::new(proposals, slice.total, page))
    }

    /// The proposal of an action that claims an agreement, whether or not its time is over.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn claiming_proposal(
        &self,
        agreement: AgreementId,
        action: ProposalAction,
    ) -> Result<Option<Versioned<Proposal>>, StoreError> {
        let Some(claim) = self.store.get(keys::pending(self.org, agreement, action)).await? else { return Ok(None) };
        let id = claim.get(PROPOSAL).and_then(|value| value.as_s().ok()?.parse().ok());
        self.proposal(id.ok_or_else(|| StoreError::Failed("decoding a claim".to_owned()))?).await
    }

    /// The proposals that wait for a decision on an agreement at a moment, at most one of each action.
    ///
    /// # Errors
    /// When the store can't be read.
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

    /// Those of the agreements for which a publication is pending at a moment.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn proposed_for_publication(
        &self,
        agreements: impl IntoIterator<Item = AgreementId>,
        now: Timestamp,
    ) -> Result<HashSet<AgreementId>, StoreError> {
        let agreements: Vec<AgreementId> = agreements.into_iter().collect();
        let key = |id: &AgreementId| keys::pending(self.org, *id, ProposalAction::PublishAgreement);
        let keys: Vec<_> = agreements.iter().map(key).collect();
        let claims = self.store.get_all(&keys).await?;
        let is_live = |claim: &Item| number(claim, CLAIMED_UNTIL).is_some_and(|until| now.unix_ms() < until);
        let live: HashSet<keys::Key> = claims.iter().filter(|claim| is_live(claim)).filter_map(keys::Key::of).collect();
        Ok(agreements.iter().zip(&keys).filter(|(_, key)| live.contains(key)).map(|(id, _)| *id).collect())
    }
}

/// What Home shows of an organization's proposals.
#[derive(Debug, Default)]
pub struct HomeProposals {
    /// Those that wait for a decision, the oldest first, as many as were asked for.
    pub pending: Vec<Proposal>,
    /// How many wait.
    pub pending_total: usize,
    /// Those that wait no more, what ended last first, as many as were asked for.
    pub ended: Vec<Proposal>,
}

impl OrgStore {
    /// What Home shows, at most so many of those that wait and of those that wait no more: one pass over the rows.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn proposals_for_home(
        &self,
        now: Timestamp,
        waiting_max: usize,
        ended_max: usize,
    ) -> Result<HomeProposals, StoreError> {
        let (mut pending, mut ended) = (Vec::new(), Vec::new());
        let mut pending_total = 0;
        let attributes = [keys::SORT, STATE, EXPIRES, ENDED];
        self.store
            .scan_partition(&keys::rows(self.org, Rows::Proposals), Order::OldestFirst, &attributes, |row| {
                let Some(id) = row.get(keys::SORT).and_then(|value| value.as_s().ok()?.parse::<uuid::Uuid>().ok())
                else {
                    return;
                };
                let key = keys::proposal(self.org, id.into());
                if state_of(&row, now) == Some(ProposalState::Pending.as_str()) {
                    pending_total += 1;
                    if pending.len() < waiting_max {
                        pending.push(key);
                    }
                } else {
                    let at = number(&row, ENDED).or(number(&row, EXPIRES)).unwrap_or_default();
                    ended.push((at, key));
                }
            })
            .await?;
        let waiting = pending.len();
        ended.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        pending.extend(ended.into_iter().take(ended_max).map(|(_, key)| key));
        let found = self.store.get_all(&pending).await?.into_iter().map(from_item);
        let mut found: Vec<Proposal> = found.collect::<Result<_, _>>()?;
        let ended = found.split_off(waiting.min(found.len()));
        Ok(HomeProposals { pending: found, pending_total, ended })
    }
}

/// A row's state at a moment.
fn state_of(row: &Item, now: Timestamp) -> Option<&str> {
    let written = row.get(STATE)?.as_s().ok()?;
    let is_over = number(row, EXPIRES)? <= now.unix_ms();
    let is_pending = written == ProposalState::Pending.as_str();
    Some(if is_pending && is_over { ProposalState::Expired.as_str() } else { written })
}

fn number(item: &Item, name: &str) -> Option<i64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

/// The changes that make a proposal. They hold only while no other of its action is pending for its agreement.
///
/// # Errors
/// When it can't be encoded.
pub fn create(org: OrgId, made: &Made) -> Result<Vec<Change>, StoreError> {
    let proposal = made.proposal();
    let mut claim = keys::pending(org, proposal.agreement_id, proposal.action).into_item();
    claim.insert(PROPOSAL.to_owned(), AttributeValue::S(proposal.id().to_string()));
    claim.insert(CLAIMED_UNTIL.to_owned(), AttributeValue::N(proposal.expires_at.unix_ms().to_string()));
    let proposed = serde_json::to_vec(made.proposed())
        .map_err(|error| StoreError::Failed(format!("encoding what was proposed: {error}")))?;
    let mut copy = keys::proposed(org, proposal.id()).into_item();
    copy.insert(COPY.to_owned(), compressed(&proposed));
    Ok(vec![
        Change::Create(to_versioned_item(keys::proposal(org, proposal.id()), proposal, 1)?),
        Change::Create(copy),
        proposal_row(org, proposal),
        Change::PutIfExpired(claim, proposal.created_at),
        Change::Put(due(org, proposal).into_item()),
    ])
}

/// The changes that end a proposal by a member's decision.
///
/// # Errors
/// When it can't be encoded.
pub fn decide(org: OrgId, before: &Versioned<Proposal>, after: &ByMember<Proposal>) -> Result<Vec<Change>, StoreError> {
    end(org, before, after, false)
}

/// The changes that write down that a proposal has expired. Its claim goes, unless a new proposal takes it over in the
/// same transaction.
///
/// # Errors
/// When it can't be encoded.
pub fn settle(
    org: OrgId,
    before: &Versioned<Proposal>,
    after: &Settled,
    keeps_claim: bool,
) -> Result<Vec<Change>, StoreError> {
    end(org, before, after, keeps_claim)
}

fn end(
    org: OrgId,
    before: &Versioned<Proposal>,
    after: &Proposal,
    keeps_claim: bool,
) -> Result<Vec<Change>, StoreError> {
    let version = before.version;
    let item = to_versioned_item(keys::proposal(org, after.id()), after, version + 1)?;
    let mut changes = vec![Change::Replace(item, version), proposal_row(org, after), Change::Delete(due(org, after))];
    if !keeps_claim {
        changes.push(Change::Delete(keys::pending(org, after.agreement_id, after.action)));
    }
    Ok(changes)
}

/// What subscribers are told of a proposal that expired.
#[must_use]
pub fn expired_event(proposal: &Proposal) -> EventKind {
    EventKind::ProposalExpired(ProposalData::from(proposal))
}

fn due(org: OrgId, proposal: &Proposal) -> keys::Key {
    keys::due(proposal.expires_at, Due::Proposal, org, proposal.id().uuid())
}

fn proposal_row(org: OrgId, proposal: &Proposal) -> Change {
    let state = match proposal.decision() {
        Decision::Pending => ProposalState::Pending,
        Decision::Confirmed(_) => ProposalState::Confirmed,
        Decision::Declined(_) => ProposalState::Declined,
        Decision::Expired { .. } => ProposalState::Expired,
    };
    let filters = [
        (AGREEMENT, AttributeValue::S(proposal.agreement_id.to_string())),
        (STATE, AttributeValue::S(state.as_str().to_owned())),
        (EXPIRES, AttributeValue::N(proposal.expires_at.unix_ms().to_string())),
    ];
    let ended_at = match proposal.decision() {
        Decision::Confirmed(decided) | Decision::Declined(decided) => Some(decided.at),
        // It ended when its time was over, whenever that was written down.
        Decision::Pending | Decision::Expired { .. } => None,
    };
    let ended = ended_at.map(|at| (ENDED, AttributeValue::N(at.unix_ms().to_string())));
    row(org, Rows::Proposals, proposal.id().uuid(), &Folded::join([]), filters.into_iter().chain(ended))
}
