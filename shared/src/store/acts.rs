//! The history of an agreement: an item for each call that changed the agreement or a proposal for it, written in the
//! transaction of the change. Unlike audit rows, which hold ids only, it names the actor as they were called then.

use std::collections::BTreeMap;

use super::change::{Change, Subject};
use super::item::{from_item, to_item};
use super::keys::{self, ACT};
use super::table::PartitionQuery;
use super::{OrgStore, StoreError};
use crate::domain::agreement::acts::Act;
use crate::domain::call_context::CallContext;
use crate::domain::event::Event;
use crate::domain::ids::AgreementId;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;

/// The changes that add a call to the histories of the agreements that it changes, once to each.
pub(super) fn of_call(
    call: &CallContext,
    at: Timestamp,
    subjects: impl Iterator<Item = Subject>,
    events: &[Event],
) -> Result<Vec<Change>, StoreError> {
    let mut proposed: BTreeMap<AgreementId, Option<ProposalAction>> = BTreeMap::new();
    for subject in subjects {
        let action = proposed.entry(subject.agreement).or_default();
        *action = action.or(subject.proposed);
    }
    let change = |(agreement, proposed)| {
        let act = Act {
            operation: call.operation().to_owned(),
            actor: call.actor().clone(),
            at,
            proposed,
            events: events.iter().map(Event::event_type).collect(),
        };
        let key = keys::act(call.org(), agreement, call.request_id());
        to_item(key, &act).map(Change::Put)
    };
    proposed.into_iter().map(change).collect()
}

impl OrgStore {
    /// The newest acts of an agreement, the newest first.
    pub(crate) async fn acts(&self, agreement: AgreementId, limit: i32) -> Result<Vec<Act>, StoreError> {
        let partition = keys::acts(self.org, agreement);
        let last = format!("{ACT}~");
        let query =
            PartitionQuery { partition: &partition, from: ACT, to: &last, limit: Some(limit), ..Default::default() };
        let (items, _) = self.store.items_between(query).await?;
        items.into_iter().map(from_item).collect()
    }
}
