//! Items beside a record, in its partition.

use serde::de::DeserializeOwned;

use super::super::arrivals;
use super::super::information::AnswerDraft;
use super::super::item::{from_item, number, text};
use super::super::keys::{self, HELD_BY, SORT};
use super::super::participants;
use super::super::record_kind::{Place, RecordKind};
use super::records::owner;
use super::{Problem, Sight};
use crate::domain::agreement::acts::Act;
use crate::domain::agreement::verification::Verification;
use crate::domain::file_review::FileReview;
use crate::domain::ids::{AgreementId, MovementId, ObligationId, OrgId, StatementId};
use crate::domain::information::Submission;
use crate::domain::movement::evidence::Evidence;
use crate::domain::movement::instructions::SealedInstructions;
use crate::domain::obligation::OlderOccurrence;
use crate::domain::paper_signature::PaperSignature;
use crate::domain::participant::link_code::StoredLinkCode;
use crate::domain::participant::receipt::Receipt;
use crate::domain::statement::FiledEntry;

pub(super) fn look(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    if matches!(place.kind, RecordKind::ArrivalByAmount | RecordKind::ArrivalByReference) {
        return arrival(sight, org);
    }
    let Some(id) = place.first_id() else { return sight.unreadable() };
    let agreement = keys::agreement(org, AgreementId::from(id));
    let (key, what) = match place.kind {
        RecordKind::Evidence | RecordKind::Instructions => (keys::movement(org, MovementId::from(id)), "its movement"),
        RecordKind::OlderOccurrence => (keys::obligation(org, ObligationId::from(id)), "its obligation"),
        RecordKind::FiledEntry => (keys::statement(org, StatementId::from(id)), "its statement"),
        _ => (agreement, "its agreement"),
    };
    owner(sight, Some(key), what);
    match place.kind {
        RecordKind::Act => act(sight, org),
        RecordKind::Verification => drop(read::<Verification>(sight)),
        RecordKind::PaperSignature => drop(read::<PaperSignature>(sight)),
        RecordKind::Access => {
            if number::<u64>(sight.item, participants::GENERATION).is_none() {
                sight.unreadable();
            }
        }
        RecordKind::LinkCode => drop(read::<StoredLinkCode>(sight)),
        RecordKind::Receipt => drop(read::<Receipt>(sight)),
        RecordKind::FileReview => drop(read::<FileReview>(sight)),
        RecordKind::AnswerDraft => drop(read::<AnswerDraft>(sight)),
        RecordKind::Submission => drop(read::<Submission>(sight)),
        RecordKind::OlderOccurrence => drop(read::<OlderOccurrence>(sight)),
        RecordKind::Instructions => drop(read::<SealedInstructions>(sight)),
        RecordKind::Evidence => evidence(sight, org),
        _ => filed_entry(sight, org),
    }
}

fn read<T: DeserializeOwned>(sight: &mut Sight<'_>) -> Option<T> {
    let read = from_item(sight.item.clone()).ok();
    if read.is_none() {
        sight.unreadable();
    }
    read
}

/// Every act needs its audit row.
fn act(sight: &mut Sight<'_>, org: OrgId) {
    let call = text(sight.item, SORT).and_then(keys::call_of_act);
    let (Some(_), Some(call)) = (read::<Act>(sight), call) else { return };
    sight.refers(keys::audit(org, call), Problem::NoAuditRow, "the audit row of the call");
}

/// Filed or accepted evidence must count for its movement and mark its statement entry as filed.
fn evidence(sight: &mut Sight<'_>, org: OrgId) {
    let Some(evidence) = read::<Evidence>(sight) else { return };
    if keys::evidence(org, evidence.movement_id(), evidence.id()) != sight.key {
        return sight.wrong(Problem::Misplaced, "has the record of other evidence");
    }
    for place in arrivals::places(org, &evidence).into_iter().filter(|_| evidence.is_accepted()) {
        let item = arrivals::item(place, &evidence);
        sight.derives(item, [Problem::NoPointer, Problem::WrongPointer], "item of what arrived");
    }
    let Some(entry) = evidence.entry().filter(|_| evidence.is_undecided() || evidence.is_accepted()) else { return };
    let filed = keys::filed_entry(org, entry.statement_id, entry.number);
    sight.refers(filed, Problem::BrokenReference, "the entry of a statement that it is");
}

/// Arrivals must belong to accepted evidence, or to evidence that is undecided again.
fn arrival(sight: &mut Sight<'_>, org: OrgId) {
    let movement = text(sight.item, HELD_BY).and_then(|id| id.parse::<MovementId>().ok());
    let evidence = text(sight.item, SORT).and_then(keys::evidence_of_arrival);
    let (Some(movement), Some(evidence)) = (movement, evidence) else { return sight.unreadable() };
    let (own, evidence) = (sight.key.clone(), keys::evidence(org, movement, evidence));
    let says = "is an arrival, and its evidence does not say so";
    sight.derives_from(evidence, Problem::PointerWithoutRecord, says, move |evidence| {
        let evidence = from_item::<Evidence>(evidence.clone());
        let is_there = |found: &Evidence| arrivals::places(org, found).contains(&own);
        evidence.is_ok_and(|found| (found.is_undecided() || found.is_accepted()) && is_there(&found))
    });
}

fn filed_entry(sight: &mut Sight<'_>, org: OrgId) {
    let Some(entry) = read::<FiledEntry>(sight) else { return };
    let evidence = keys::evidence(org, entry.movement_id, entry.evidence_id);
    let says = "is filed, and its evidence does not count";
    sight.derives_from(evidence, Problem::PointerWithoutRecord, says, |evidence| {
        let evidence = from_item::<Evidence>(evidence.clone());
        evidence.is_ok_and(|evidence| evidence.is_undecided() || evidence.is_accepted())
    });
}
