//! The outbox: events, each written in the transaction of the change that it tells, and due until it is relayed.

use super::commit::Change;
use super::keys::{self, Due};
use super::{StoreError, to_item};
use crate::domain::event::Event;
use crate::domain::ids::OrgId;

/// The changes that emit an event.
pub(super) fn emit(org: OrgId, event: &Event) -> Result<[Change; 2], StoreError> {
    let item = to_item(keys::event(org, event.id), event)?;
    let due = keys::due(event.created_at, Due::Event, org, event.id.uuid());
    Ok([Change::Create(item), Change::Follow(due.into_item())])
}
