//! An agreement's history: an item for each call that changed it or a proposal for it, in the change's transaction.

use std::collections::BTreeMap;

use super::change::{Change, Subject};
use super::item::{from_item, text, to_item};
use super::keys::{self, ACT, SORT};
use super::table::PartitionQuery;
use super::{OrgStore, StoreError};
use crate::domain::agreement::acts::{Act, EditedPart};
use crate::domain::bundle::TimelineEntry;
use crate::domain::call_context::CallContext;
use crate::domain::event::Event;
use crate::domain::ids::AgreementId;
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;

/// Adds the call to the history of each agreement that it changes, once to each.
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

#[derive(Clone, Copy)]
pub(crate) struct WantedActs<'a> {
    /// Only calls that began by this moment.
    pub until: Option<Timestamp>,
    pub is_told: &'a (dyn Fn(&Act) -> bool + Sync),
    pub skip: usize,
    pub most: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// Oldest first.
    pub acts: Vec<TimelineEntry>,
    pub has_more: bool,
}

impl OrgStore {
    pub(crate) async fn acts(&self, agreement: AgreementId, limit: i32) -> Result<Vec<Act>, StoreError> {
        let partition = keys::acts(self.org, agreement);
        let last = format!("{ACT}~");
        let query =
            PartitionQuery { partition: &partition, from: ACT, to: &last, limit: Some(limit), ..Default::default() };
        let (items, _) = self.store.items_between(query).await?;
        items.into_iter().map(from_item).collect()
    }

    /// Acts with the calls that did them, oldest first.
    pub(crate) async fn timeline(
        &self,
        agreement: AgreementId,
        wanted: WantedActs<'_>,
    ) -> Result<Timeline, StoreError> {
        let (partition, last) = (keys::acts(self.org, agreement), format!("{ACT}~"));
        let from = wanted.until.map_or_else(|| ACT.to_owned(), keys::acts_until);
        let (mut acts, mut start, mut skipped) = (Vec::new(), None, 0);
        let has_more = 'read: loop {
            let query = PartitionQuery {
                partition: &partition,
                from: &from,
                to: &last,
                backward: true,
                start,
                ..PartitionQuery::default()
            };
            let (items, more) = self.store.items_between(query).await?;
            for item in items {
                let call = text(&item, SORT).and_then(keys::call_of_act);
                let call = call.ok_or_else(|| StoreError::Unreadable("the key of an act".to_owned()))?;
                let act: Act = from_item(item)?;
                if !(wanted.is_told)(&act) {
                    continue;
                }
                if skipped < wanted.skip {
                    skipped += 1;
                    continue;
                }
                if acts.len() == wanted.most {
                    break 'read true;
                }
                acts.push(TimelineEntry { call, act });
            }
            if more.is_none() {
                break false;
            }
            start = more;
        };
        acts.sort_by_key(|entry: &TimelineEntry| (entry.act.at, entry.call));
        Ok(Timeline { acts, has_more })
    }

    pub(crate) async fn count_acts(&self, agreement: AgreementId) -> Result<usize, StoreError> {
        let (partition, last) = (keys::acts(self.org, agreement), format!("{ACT}~"));
        let (mut count, mut start) = (0, None);
        loop {
            let attributes = &[SORT];
            let query = PartitionQuery {
                partition: &partition,
                from: ACT,
                to: &last,
                attributes,
                start,
                ..PartitionQuery::default()
            };
            let (items, more) = self.store.items_between(query).await?;
            count += items.len();
            if more.is_none() {
                return Ok(count);
            }
            start = more;
        }
    }
}
