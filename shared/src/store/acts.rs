//! The history of an agreement: an item for each call that changed the agreement or a proposal for it, written in the
//! transaction of the change. Unlike audit rows, which hold ids only, it names the actor and the part of a draft that was
//! edited as they were called then.

use std::collections::BTreeMap;

use super::change::{Change, Subject};
use super::item::{from_item, text, to_item};
use super::keys::{self, ACT, SORT};
use super::table::PartitionQuery;
use super::{OrgStore, StoreError};
use crate::domain::agreement::acts::{Act, EditedPart};
use crate::domain::call_context::CallContext;
use crate::domain::event::Event;
use crate::domain::evidence::TimelineEntry;
use crate::domain::ids::AgreementId;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;

/// The changes that add a call to the histories of the agreements that it changes, once to each.
pub(super) fn of_call<'a>(
    call: &CallContext,
    at: Timestamp,
    subjects: impl Iterator<Item = &'a Subject>,
    events: &[Event],
) -> Result<Vec<Change>, StoreError> {
    let mut about: BTreeMap<AgreementId, (Option<ProposalAction>, Option<EditedPart>)> = BTreeMap::new();
    for subject in subjects {
        let (proposed, part) = about.entry(subject.agreement).or_default();
        *proposed = proposed.or(subject.proposed);
        *part = part.take().or_else(|| subject.part.clone());
    }
    let change = |(agreement, (proposed, part))| {
        let act = Act {
            operation: call.operation().to_owned(),
            actor: call.actor().clone(),
            at,
            proposed,
            part,
            events: events.iter().map(Event::event_type).collect(),
        };
        let key = keys::act(call.org(), agreement, call.request_id());
        to_item(key, &act).map(Change::Put)
    };
    about.into_iter().map(change).collect()
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

    /// All acts of an agreement with the calls that did them, the oldest first; with a moment, those of calls that began by
    /// then. None if there are more than `most`.
    pub(crate) async fn timeline(
        &self,
        agreement: AgreementId,
        until: Option<Timestamp>,
        most: usize,
    ) -> Result<Option<Vec<TimelineEntry>>, StoreError> {
        let (partition, last) = (keys::acts(self.org, agreement), format!("{ACT}~"));
        let from = until.map_or_else(|| ACT.to_owned(), keys::acts_until);
        let (mut found, mut start) = (Vec::new(), None);
        loop {
            let query =
                PartitionQuery { partition: &partition, from: &from, to: &last, start, ..PartitionQuery::default() };
            let (items, more) = self.store.items_between(query).await?;
            for item in items {
                let call = text(&item, SORT).and_then(keys::call_of_act);
                let call = call.ok_or_else(|| StoreError::Unreadable("the key of an act".to_owned()))?;
                found.push(TimelineEntry { call, act: from_item(item)? });
            }
            if found.len() > most {
                return Ok(None);
            }
            if more.is_none() {
                break;
            }
            start = more;
        }
        found.sort_by_key(|entry: &TimelineEntry| (entry.act.at, entry.call));
        Ok(Some(found))
    }
}
