//! What a token or a member does to an item: adding, sorting, parking, papering (contract, section 3, "Funding item").

use std::ops::Deref;

use super::facts::Verb;
use super::input::{FundingItemChanges, NewFundingItem, Parking};
use super::item::{FundingItem, Hold, ItemLabel, Papering, Place, Status};
use super::{Phase, sensitive};
use crate::domain::actor::Actor;
use crate::domain::event::{EventKind, FundingItemData, FundingItemParkedData, FundingItemSortedData};
use crate::domain::ids::FundingItemId;
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::Patch;

/// An item after adding, sorting, parking or papering, with the events. No token's write claims, funds or closes one.
///
/// ```compile_fail
/// use shared::domain::funding::{FundingItem, ItemChange};
///
/// fn by_hand(item: FundingItem) -> ItemChange {
///     ItemChange { item, events: Vec::new() }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemChange {
    item: FundingItem,
    events: Vec<EventKind>,
}

impl Deref for ItemChange {
    type Target = FundingItem;

    fn deref(&self) -> &FundingItem {
        &self.item
    }
}

impl ItemChange {
    /// The events to emit.
    #[must_use]
    pub fn events(&self) -> &[EventKind] {
        &self.events
    }

    /// The item.
    #[must_use]
    pub fn into_item(self) -> FundingItem {
        self.item
    }

    fn after(self, first: Vec<EventKind>) -> Self {
        Self { events: first.into_iter().chain(self.events).collect(), ..self }
    }
}

/// Why an item can't be papered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPapered {
    /// It has no verb, or facts are missing.
    NotReady,
    /// It stays out of the trust, so there is nothing to paper.
    LeftOut,
    /// It is on hold.
    OnHold,
    /// It is already papered or closed.
    NotOpen,
}

impl NotPapered {
    /// The code and message of the refusal.
    #[must_use]
    pub fn said(self) -> (FieldCode, &'static str) {
        match self {
            Self::NotReady => (FieldCode::MissingFacts, "lacks its verb or some facts: see its missing_facts"),
            Self::LeftOut => (FieldCode::VerbNotAllowed, "is left out of the trust; a member closes it"),
            Self::OnHold => (FieldCode::OnHold, "is on hold; clear the hold first"),
            Self::NotOpen => (FieldCode::WrongState, "is papered or closed already"),
        }
    }
}

impl FundingItem {
    /// Adds an item, and sorts it if already known how.
    pub fn add(
        id: FundingItemId,
        place: Place,
        new: NewFundingItem,
        created_by: Actor,
        now: Timestamp,
    ) -> Result<ItemChange, FieldErrors> {
        check_label(&new.label)?;
        let item = Self {
            id,
            workspace_id: new.workspace_id,
            place,
            trust_id: new.trust_id,
            label: new.label,
            asset_kind: new.asset_kind.0.unwrap_or_default(),
            external_reference: new.external_reference,
            verb: None,
            owner_contact_ids: Vec::new(),
            detail: super::Detail::default(),
            hold: None,
            status: Status::Open,
            proofs: Vec::new(),
            withdrawn_claims: Vec::new(),
            created_by,
            created_at: now,
            updated_at: now,
        };
        let (funding_item_id, workspace_id) = (item.id, item.workspace_id);
        let event = FundingItemData { funding_item_id, workspace_id, trust_id: item.trust_id };
        let added = vec![EventKind::FundingItemAdded(event)];
        match new.sorted {
            Some(changes) => Ok(item.sort(*changes, now)?.after(added)),
            None => Ok(ItemChange { item, events: added }),
        }
    }

    /// Sorts an item that is neither papered nor closed. Without effect, its time stays and there is no event.
    pub fn sort(&self, changes: FundingItemChanges, now: Timestamp) -> Result<ItemChange, FieldErrors> {
        if self.status != Status::Open {
            let message = "can be changed only before it is papered or closed";
            return Err(FieldErrors::one("path.item_id", FieldCode::WrongState, message));
        }
        let FundingItemChanges { verb, trust_id, owner_contact_ids, detail, label, asset_kind } = changes;
        let mut next = self.clone();
        let mut errors = FieldErrors::default();
        let kind_changes = asset_kind != Patch::Keep;
        next.asset_kind = asset_kind.apply(self.asset_kind);
        next.verb = verb.apply(self.verb);
        if let Some(verb) = next.verb.filter(|verb| next.asset_kind.facts_for(*verb).is_none()) {
            let fitting: Vec<&str> = next.asset_kind.verbs().map(Verb::as_str).collect();
            let message = format!("{verb} does not fit {}; fitting: {}", next.asset_kind, fitting.join(", "));
            // The item may keep its verb while the call changes only the kind.
            let field = if next.verb == self.verb && kind_changes { "asset_kind" } else { "verb" };
            errors.extend(FieldErrors::one(field, FieldCode::VerbNotAllowed, message));
        }
        next.trust_id = trust_id.apply(self.trust_id);
        if let Patch::Set(owners) = owner_contact_ids {
            next.owner_contact_ids = owners.into_vec();
        }
        if let Patch::Set(label) = label {
            match check_label(&label) {
                Ok(()) => next.label = label,
                Err(found) => errors.extend(found),
            }
        }
        let detail = if let Patch::Set(detail) = detail { detail } else { super::facts::DetailChanges::default() };
        match self.detail.changed(next.asset_kind, &detail) {
            Ok(detail) => next.detail = detail,
            Err(found) => errors.extend(found),
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let is_sorted = next.verb != self.verb || next.trust_id != self.trust_id;
        let event = next.verb.filter(|_| is_sorted).map(|verb| {
            let (funding_item_id, workspace_id) = (self.id, self.workspace_id);
            let data = FundingItemSortedData { funding_item_id, workspace_id, verb, trust_id: next.trust_id };
            EventKind::FundingItemSorted(data)
        });
        Ok(ItemChange { item: self.touched(next, now), events: event.into_iter().collect() })
    }

    /// Puts an item on hold, or clears the hold. A repetition changes nothing; a new remark emits no event.
    pub fn park(&self, parking: Parking, by: Actor, now: Timestamp) -> Result<ItemChange, FieldErrors> {
        let Parking { waiting_on, note } = parking;
        if let Some(note) = &note {
            let checked = sensitive::check(note.as_str());
            checked.map_err(|(code, message)| FieldErrors::one("note", code, message))?;
        }
        if note.is_some() && waiting_on.0.is_none() {
            let message = "has no place where the hold is cleared; leave it out";
            return Err(FieldErrors::one("note", FieldCode::InvalidValue, message));
        }
        if self.is_closed() {
            let message = "is closed, and waits for nobody";
            return Err(FieldErrors::one("path.item_id", FieldCode::WrongState, message));
        }
        let (before, after) = (self.hold.as_ref().map(|hold| hold.waiting_on), waiting_on.0);
        let noted = self.hold.as_ref().and_then(|hold| hold.note.as_ref());
        if before == after && (note.is_none() || noted == note.as_ref()) {
            return Ok(ItemChange { item: self.clone(), events: Vec::new() });
        }
        let since = self.hold.as_ref().filter(|_| before == after).map_or(now, |hold| hold.since);
        let hold = after.map(|waiting_on| Hold { waiting_on, note, since, by });
        let data =
            FundingItemParkedData { funding_item_id: self.id, workspace_id: self.workspace_id, waiting_on: after };
        let event = (before != after).then_some(EventKind::FundingItemParked(data));
        let item = self.touched(Self { hold, ..self.clone() }, now);
        Ok(ItemChange { item, events: event.into_iter().collect() })
    }

    /// Checks that it can be papered now.
    pub fn check_papering(&self) -> Result<(), NotPapered> {
        if self.status != Status::Open {
            return Err(NotPapered::NotOpen);
        }
        if self.verb == Some(Verb::LeaveOut) {
            return Err(NotPapered::LeftOut);
        }
        if self.phase() != Phase::Ready {
            return Err(NotPapered::NotReady);
        }
        if self.hold.is_some() { Err(NotPapered::OnHold) } else { Ok(()) }
    }

    /// Papers an item: an agreement is drafted for it.
    pub fn paper(&self, papering: Papering) -> Result<ItemChange, NotPapered> {
        self.check_papering()?;
        let event = crate::domain::event::FundingItemPaperedData {
            funding_item_id: self.id,
            workspace_id: self.workspace_id,
            agreement_id: papering.agreement_id,
        };
        let next = Self { status: Status::Papered { papering }, ..self.clone() };
        let item = self.touched(next, papering.papered_at);
        Ok(ItemChange { item, events: vec![EventKind::FundingItemPapered(event)] })
    }

    /// This item, with its old time, if nothing changed.
    pub(in crate::domain) fn touched(&self, mut next: Self, now: Timestamp) -> Self {
        if next != *self {
            // Concurrent calls may be decided in a different order than they began.
            next.updated_at = now.max(self.updated_at);
        }
        next
    }
}

fn check_label(label: &ItemLabel) -> Result<(), FieldErrors> {
    sensitive::check(label.as_str()).map_err(|(code, message)| FieldErrors::one("label", code, message))
}
