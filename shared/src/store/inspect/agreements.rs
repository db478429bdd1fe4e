//! Agreements, what time does to them, and movements, which change with them.

use super::super::agreements;
use super::super::item::{from_item, text};
use super::super::keys::{self, Due, HELD_BY, Rows};
use super::super::movements::{HELD_IN, key_item};
use super::super::record;
use super::super::record_kind::{Place, RecordKind};
use super::super::{Item, Versioned};
use super::records::{listed, refers_to_contacts};
use super::{Problem, Sight, row_places};
use crate::domain::agreement::Agreement;
use crate::domain::ids::{MovementId, ObligationId, OrgId};
use crate::domain::movement::Movement;
use crate::domain::obligation::{self, Obligation};
use crate::domain::time::Timestamp;
use crate::store::change::Change;

pub(super) fn look(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    match place.kind {
        RecordKind::Agreement => agreement(sight, org),
        RecordKind::Movement => movement(sight, org),
        _ => evidence_key(sight, org),
    }
}

fn agreement(sight: &mut Sight<'_>, org: OrgId) {
    let Some(agreement) = listed::<Agreement>(sight, org) else { return };
    for says in agreement.inconsistencies() {
        sight.wrong(Problem::Inconsistent, says);
    }
    documents_row(sight, org, &agreement);
    sight.refers(keys::workspace(org, agreement.workspace_id), Problem::BrokenReference, "its workspace");
    refers_to_contacts(sight, org, agreement.participants.iter().map(|participant| participant.contact_id));
    for id in &agreement.funding_item_ids {
        sight.refers(keys::funding_item_pointer(org, *id), Problem::BrokenReference, "a funding item that it papers");
    }
    if let Some(at) = agreement.next_due() {
        sight.is_due(keys::due(at, Due::Agreement, org, agreement.id().uuid()), "what time does to it next");
    }
    let obligations: Vec<ObligationId> =
        agreement.promises.iter().filter_map(|promise| obligation::id_of(&agreement, promise.id)).collect();
    for id in &obligations {
        sight.refers(keys::obligation(org, *id), Problem::BrokenReference, "the obligation of a promise in force");
    }
    payments(sight, org, &agreement);
    if agreement.has_ended_early() {
        ended(sight, org, agreement, obligations);
    }
}

fn documents_row(sight: &mut Sight<'_>, org: OrgId, agreement: &Versioned<Agreement>) {
    let (list, id) = ((org, Rows::AgreementDocuments), agreement.id().uuid());
    if let Some(row) = agreements::documents_row(org, agreement, agreement.version()) {
        return sight.has_row(list, id, row, "row of its documents' names");
    }
    let (places, guard) = (row_places(list, id), sight.guard());
    sight.check(places.clone(), move |known| {
        let Some(row) = places.iter().find(|place| known.has(place)) else { return Vec::new() };
        let says = format!("has no documents, and a row of them: {row}");
        let repair = places.iter().cloned().map(Change::Delete).chain([guard]).collect();
        vec![(Problem::RowWithoutRecord, says, Some(repair))]
    });
}

/// An agreement must have the states of its movements' records.
fn payments(sight: &mut Sight<'_>, org: OrgId, agreement: &Agreement) {
    let ids: Vec<MovementId> = agreement.movements().keys().copied().collect();
    for id in ids {
        let (key, told) = (keys::movement(org, id), agreement.movement_state(id));
        let is_ended = agreement.has_ended_early();
        sight.check([key.clone()], move |known| {
            let Some(found) = known.get(&key) else {
                return vec![(Problem::BrokenReference, format!("a payment of it does not exist: {key}"), None)];
            };
            // Its own inspection reports an unreadable movement.
            let Ok(movement) = record::decode::<Movement>(found.clone()) else { return Vec::new() };
            let state = if is_ended { movement.state().told_at_end() } else { movement.state() };
            if Some(state) == told {
                return Vec::new();
            }
            vec![(
                Problem::Disagreement,
                format!("has another state of a payment than the payment itself: {key}"),
                None,
            )]
        });
    }
}

/// What ends with an agreement must have ended, or be about to.
fn ended(sight: &mut Sight<'_>, org: OrgId, agreement: Versioned<Agreement>, obligations: Vec<ObligationId>) {
    let movements = agreement.movements().keys().map(|id| keys::movement(org, *id));
    let reads: Vec<_> = movements.chain(obligations.into_iter().map(|id| keys::obligation(org, id))).collect();
    let (guard, id) = (sight.guard(), agreement.id().uuid());
    sight.check(reads.clone(), move |known| {
        if known.underway.endings.contains(&(org, id)) {
            return Vec::new();
        }
        let is_left = |item: &&Item| is_left(item, &agreement);
        let Some(left) = reads.iter().find(|key| known.get(key).as_ref().is_some_and(is_left)) else {
            return Vec::new();
        };
        let entry = keys::due(Timestamp::now(), Due::Ending, org, id).into_item();
        let says = format!("has ended, and what should end with it has not: {left}");
        vec![(Problem::NotEnded, says, Some(vec![Change::Put(entry), guard]))]
    });
}

fn is_left(item: &Item, agreement: &Agreement) -> bool {
    if let Ok(movement) = from_item::<Movement>(item.clone()) {
        return movement.state().ends_with_agreement();
    }
    let obligation = from_item::<Obligation>(item.clone());
    obligation.is_ok_and(|obligation| matches!(obligation.as_told(agreement), std::borrow::Cow::Owned(_)))
}

fn movement(sight: &mut Sight<'_>, org: OrgId) {
    let Some(movement) = listed::<Movement>(sight, org) else { return };
    sight.refers(keys::workspace(org, movement.workspace_id()), Problem::BrokenReference, "its workspace");
    let (id, agreement) = (movement.id(), keys::agreement(org, movement.agreement_id()));
    sight.check([agreement.clone()], move |known| {
        let Some(found) = known.get(&agreement) else {
            return vec![(Problem::BrokenReference, format!("its agreement does not exist: {agreement}"), None)];
        };
        let is_named = from_item::<Agreement>(found.clone()).is_ok_and(|found| found.movements().contains_key(&id));
        if is_named {
            return Vec::new();
        }
        vec![(Problem::Disagreement, format!("its agreement does not name it: {agreement}"), None)]
    });
    if let Some(instructions) = movement.instructions() {
        let revision = keys::instructions(org, id, instructions.revision);
        sight.refers(revision, Problem::BrokenReference, "the instructions that it has");
    }
    for evidence in movement.receipts().keys() {
        sight.refers(keys::evidence(org, id, *evidence), Problem::BrokenReference, "evidence that counts for it");
    }
    for key in movement.held_keys() {
        super::records::leads_here(sight, key_item(org, &movement, key), "unique item of its evidence");
    }
    if movement.state().is_reconciled() && !movement.has_received() {
        sight.wrong(Problem::Inconsistent, "is reconciled without accepted evidence of the receiving side");
    }
}

fn evidence_key(sight: &mut Sight<'_>, org: OrgId) {
    let held = |name| text(sight.item, name).and_then(|id| id.parse::<uuid::Uuid>().ok());
    let (Some(movement), Some(_)) = (held(HELD_BY), held(HELD_IN)) else { return sight.unreadable() };
    let own = sight.key.clone();
    sight.derives_from(
        keys::movement(org, movement.into()),
        Problem::PointerWithoutRecord,
        "keeps a document for a movement that does not have it",
        move |found| {
            let movement = from_item::<Movement>(found.clone());
            movement.is_ok_and(|movement| movement.held_keys().any(|key| keys::evidence_key(org, key) == own))
        },
    );
}
