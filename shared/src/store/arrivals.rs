//! What was accepted as arrived, by currency, amount and day, and by each reference and day. They reveal one arrival that
//! was filed for two payments in two shapes: the references also if the amounts differ, as those of a batch and one of
//! its details do.
//!
//! Decision: these items claim nothing. Payments often have equal amounts, so the member who accepts the second arrival
//! confirms that it is one. Evidence that is undecided again keeps its items; its record says whether it counts.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;

use super::change::Change;
use super::item::{Item, from_item, text};
use super::keys::{self, HELD_BY, Key, SORT};
use super::query::Query;
use super::{OrgStore, StoreError};
use crate::domain::ids::{MovementId, OrgId};
use crate::domain::movement::evidence::{Evidence, EvidenceState};
use crate::domain::movement::source::Side;
use crate::limits;

const STATEMENT: &str = "statement_id";

/// At most 21: an entry keeps [`limits::STATEMENT_REFERENCES_KEPT`] references of each kind.
pub(super) fn places(org: OrgId, evidence: &Evidence) -> Vec<Key> {
    if evidence.source().side() == Side::Sender {
        return Vec::new();
    }
    let references = evidence.arrival_references();
    let by_reference = references.iter().map(|reference| keys::arrival_with(org, reference, evidence));
    std::iter::once(keys::arrival(org, evidence)).chain(by_reference).collect()
}

pub(super) fn item(place: Key, evidence: &Evidence) -> Item {
    let mut item = place.into_item();
    item.insert(HELD_BY.to_owned(), AttributeValue::S(evidence.movement_id().to_string()));
    if let Some(entry) = evidence.entry() {
        item.insert(STATEMENT.to_owned(), AttributeValue::S(entry.statement_id.to_string()));
    }
    item
}

pub(super) fn changes(org: OrgId, evidence: &Evidence) -> Vec<Change> {
    let change = |place| match evidence.state() {
        EvidenceState::Accepted { .. } => Some(Change::Put(item(place, evidence))),
        // What is rejected may have been accepted before.
        EvidenceState::Withdrawn { .. } | EvidenceState::Rejected { .. } => Some(Change::Delete(place)),
        EvidenceState::Filed => None,
    };
    places(org, evidence).into_iter().filter_map(change).collect()
}

impl OrgStore {
    /// Accepted evidence that may be about the same arrival: at most [`limits::SAME_ARRIVALS_MAX`], oldest first.
    pub(crate) async fn accepted_elsewhere(&self, evidence: &Evidence) -> Result<Vec<Evidence>, StoreError> {
        let references = evidence.arrival_references();
        let by_reference = references.iter().map(|reference| keys::arrivals_with(self.org, reference));
        // The same reference says more than the same amount, of which there may be many.
        let partitions = by_reference.chain([keys::arrivals(self.org, evidence.facts().money)]);
        let [from, to] = evidence.facts().days_around().map(|day| day.to_string());
        let (from, to) = (&*format!("{from}#"), &*format!("{to}#~"));
        let read = partitions.map(async |partition| {
            self.store.page_of(&Query::of(partition).between(from, to), None).await.map(|page| page.items)
        });
        let items = try_join_all(read).await?;
        let statement = evidence.entry().map(|entry| entry.statement_id.to_string());
        let other = |item: &Item| {
            let movement: MovementId = text(item, HELD_BY)?.parse().ok()?;
            let id = text(item, SORT).and_then(keys::evidence_of_arrival)?;
            // Two entries of one statement are two arrivals.
            let is_of_one = statement.is_some() && text(item, STATEMENT) == statement.as_deref();
            let is_other = movement != evidence.movement_id() && !is_of_one;
            is_other.then(|| keys::evidence(self.org, movement, id))
        };
        let mut met = BTreeSet::new();
        let keys = items.iter().flatten().filter_map(other).filter(|key| met.insert(key.clone()));
        let keys: Vec<Key> = keys.take(limits::SAME_ARRIVALS_MAX).collect();
        let found = self.store.get_all(&keys).await?.into_iter().map(from_item);
        let mut found = found.collect::<Result<Vec<Evidence>, _>>()?;
        found.retain(|other| other.is_accepted() && other.may_be_same_arrival(evidence));
        found.sort_by_key(|other| (other.filed_at(), other.id()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::ids::{EvidenceId, StatementId};
    use crate::domain::time::Timestamp;

    fn evidence(source: &str, state: &str) -> Evidence {
        let numbered =
            |kind: &'static str| (0..limits::STATEMENT_REFERENCES_KEPT).map(move |n| json!(format!("{kind}-{n}")));
        let state = match state {
            "filed" => json!({"state": state}),
            _ => json!({"state": state, "at": Timestamp::now(), "by": Actor::system(), "reason": "Not ours"}),
        };
        let entry = json!({
            "statement_id": StatementId::new(), "number": 1, "fingerprint": "e1",
            "unique_references": numbered("unique").collect::<Vec<Value>>(),
            "other_references": numbered("other").chain([json!("UNIQUE 1"), json!("0017")]).collect::<Vec<Value>>(),
        });
        serde_json::from_value(json!({
            "id": EvidenceId::new(), "movement_id": MovementId::new(), "source": source, "value_day": "2026-03-16",
            "money": {"amount_minor": 7, "currency": "USD"}, "reference": "unique-0", "entry": entry,
            "filed_by": Actor::system(), "filed_at": Timestamp::now(), "state": state,
        }))
        .unwrap()
    }

    #[test]
    fn what_was_accepted_is_found_by_its_amount_and_each_reference_until_it_is_taken_back() {
        const PLACES: usize = 1 + 2 * limits::STATEMENT_REFERENCES_KEPT;
        let org = OrgId::new();
        let kinds = |source, state| {
            let changes = changes(org, &evidence(source, state));
            let puts = changes.iter().filter(|change| matches!(change, Change::Put(_))).count();
            [puts, changes.iter().filter(|change| matches!(change, Change::Delete(_))).count()]
        };
        for (state, expected) in
            [("filed", [0, 0]), ("accepted", [PLACES, 0]), ("rejected", [0, PLACES]), ("withdrawn", [0, PLACES])]
        {
            assert_eq!(kinds("receiving_bank_statement_entry", state), expected, "{state}");
        }
        assert_eq!(kinds("sender_bank_document", "accepted"), [0, 0], "the sender’s side shows no arrival");
    }
}
