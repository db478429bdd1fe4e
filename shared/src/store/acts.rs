//! An agreement's history: an item for each call that changed it or a proposal for it, in the change's transaction.

use std::collections::BTreeMap;

use super::change::{Change, Subject};
use super::item::{from_item, text, to_item};
use super::keys::{self, SORT};
use super::query::{Query, QueryPage};
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
        let query = self.all_acts(agreement).limit(limit);
        let QueryPage { items, .. } = self.store.page_of(&query, None).await?;
        items.into_iter().map(from_item).collect()
    }

    /// Acts with the calls that did them, oldest first.
    pub(crate) async fn timeline(
        &self,
        agreement: AgreementId,
        wanted: WantedActs<'_>,
    ) -> Result<Timeline, StoreError> {
        let from = wanted.until.map_or_else(keys::all_acts, keys::acts_until);
        let last = format!("{}~", keys::all_acts());
        let query = Query::of(keys::acts(self.org, agreement)).between(from, last).backward();
        let (mut acts, mut start, mut skipped) = (Vec::new(), None, 0);
        let has_more = 'read: loop {
            let QueryPage { items, next, .. } = self.store.page_of(&query, start).await?;
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
            if next.is_none() {
                break false;
            }
            start = next;
        };
        acts.sort_by_key(|entry: &TimelineEntry| (entry.act.at, entry.call));
        Ok(Timeline { acts, has_more })
    }

    pub(crate) async fn count_acts(&self, agreement: AgreementId) -> Result<usize, StoreError> {
        let mut count = 0;
        self.store.each(self.all_acts(agreement).only(&[SORT]), |_| count += 1).await?;
        Ok(count)
    }

    fn all_acts(&self, agreement: AgreementId) -> Query<'static> {
        Query::of(keys::acts(self.org, agreement)).beginning(keys::all_acts())
    }
}
