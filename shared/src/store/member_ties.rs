//! Ties between members, and departures: who counts as a second member. `DynamoDB` deletes each once it is over.
//!
//! Decision: they are items in one partition per organization: one small read, and nothing to forget elsewhere.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes};
use super::item::{Item, from_item, to_item};
use super::keys::{self, DROP_AT, Key};
use super::query::Query;
use super::record_kind::{Place, RecordKind};
use super::{OrgStore, StoreError};
use crate::domain::call_context::CallContext;
use crate::domain::ids::OrgId;
use crate::domain::member::second::{Departure, Tie};
use crate::domain::time::Timestamp;
use crate::limits;

impl OrgStore {
    /// Includes ties and departures that are over.
    pub(crate) async fn member_ties(&self) -> Result<(Vec<Tie>, Vec<Departure>), StoreError> {
        let (mut ties, mut departures) = (Vec::new(), Vec::new());
        for item in self.store.all(Query::of(keys::member_ties(self.org))).await? {
            let kind = Key::of(&item).as_ref().and_then(Place::of).map(|place| place.kind);
            if kind == Some(RecordKind::Departure) {
                departures.push(from_item(item)?);
            } else {
                ties.push(from_item(item)?);
            }
        }
        Ok((ties, departures))
    }
}

pub(crate) fn tie(call: &CallContext, tie: &Tie) -> Result<Changes, StoreError> {
    let key = keys::member_tie(call.org(), tie.member_id, tie.by, tie.kind);
    Ok(Changes::of(call, [Change::Put(to_drop(to_item(key, tie)?, tie.at))]))
}

pub(super) fn departure(org: OrgId, departure: &Departure) -> Result<Change, StoreError> {
    let item = to_item(keys::departure(org, departure.member_id), departure)?;
    Ok(Change::Put(to_drop(item, departure.at)))
}

/// A departure is considered together with the ties of the week before it.
fn to_drop(mut item: Item, at: Timestamp) -> Item {
    let end = at.plus_seconds(2 * limits::SECOND_SELF_S).unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N(end.to_string()));
    item
}
