//! What was accepted as arrived, by currency, amount and day: one item for each piece of evidence. They reveal one
//! arrival that was filed for two payments in two shapes.
//!
//! Decision: these items claim nothing. Payments often have equal amounts, so the member who accepts the second arrival
//! confirms that it is one. Evidence that is undecided again keeps its item; its record says whether it counts.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::Change;
use super::item::{Item, from_item, text};
use super::keys::{self, HELD_BY, Key, SORT};
use super::table::PartitionQuery;
use super::{OrgStore, StoreError};
use crate::domain::ids::{MovementId, OrgId};
use crate::domain::movement::evidence::{Evidence, EvidenceState};
use crate::domain::movement::source::Side;
use crate::limits;

const STATEMENT: &str = "statement_id";

pub(super) fn item(org: OrgId, evidence: &Evidence) -> Option<Item> {
    if evidence.source().side() == Side::Sender {
        return None;
    }
    let mut item = keys::arrival(org, evidence).into_item();
    item.insert(HELD_BY.to_owned(), AttributeValue::S(evidence.movement_id().to_string()));
    if let Some(entry) = evidence.entry() {
        item.insert(STATEMENT.to_owned(), AttributeValue::S(entry.statement_id.to_string()));
    }
    Some(item)
}

pub(super) fn change(org: OrgId, evidence: &Evidence) -> Option<Change> {
    let item = item(org, evidence)?;
    match evidence.state() {
        EvidenceState::Accepted { .. } => Some(Change::Put(item)),
        EvidenceState::Withdrawn { .. } => Some(Change::Delete(keys::arrival(org, evidence))),
        EvidenceState::Filed | EvidenceState::Rejected { .. } => None,
    }
}

impl OrgStore {
    /// Accepted evidence that may be about the same arrival: at most [`limits::SAME_ARRIVALS_MAX`], oldest first.
    pub(crate) async fn accepted_elsewhere(&self, evidence: &Evidence) -> Result<Vec<Evidence>, StoreError> {
        let partition = keys::arrivals(self.org, evidence.facts().money);
        let [from, to] = evidence.facts().days_around().map(|day| day.to_string());
        let (from, to) = (format!("{from}#"), format!("{to}#~"));
        let query = PartitionQuery { partition: &partition, from: &from, to: &to, ..PartitionQuery::default() };
        let (items, _) = self.store.items_between(query).await?;
        let statement = evidence.entry().map(|entry| entry.statement_id.to_string());
        let other = |item: &Item| {
            let movement: MovementId = text(item, HELD_BY)?.parse().ok()?;
            let id = text(item, SORT).and_then(keys::evidence_of_arrival)?;
            // Two entries of one statement are two arrivals.
            let is_of_one = statement.is_some() && text(item, STATEMENT) == statement.as_deref();
            let is_other = movement != evidence.movement_id() && !is_of_one;
            is_other.then(|| keys::evidence(self.org, movement, id))
        };
        let keys: Vec<Key> = items.iter().filter_map(other).take(limits::SAME_ARRIVALS_MAX).collect();
        let found = self.store.get_all(&keys).await?.into_iter().map(from_item);
        let mut found = found.collect::<Result<Vec<Evidence>, _>>()?;
        found.retain(|other| other.is_accepted() && other.may_be_same_arrival(evidence));
        found.sort_by_key(|other| (other.filed_at(), other.id()));
        Ok(found)
    }
}
