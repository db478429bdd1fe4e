//! Funding items and trusts, which are their own rows, and what leads to them.

use aws_sdk_dynamodb::types::AttributeValue;

use super::super::change::{Change, Update};
use super::super::item::{Item, VERSION, from_item, from_versioned_item, number, text};
use super::super::keys::{self, Due};
use super::super::list::AT;
use super::super::record_kind::{Place, RecordKind};
use super::super::{funding_items, funding_to_review, trusts};
use super::records::{leads_here, refers_to_contacts};
use super::{Problem, Sight, is_same, unchanged};
use crate::domain::agreement::Agreement;
use crate::domain::funding::{FundingItem, Status};
use crate::domain::ids::OrgId;
use crate::domain::trust::Trust;

pub(super) fn look(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    match place.kind {
        RecordKind::FundingItem => funding_item(sight, org),
        RecordKind::FundingItemPointer => {
            let Some(sort) = text(sight.item, AT) else { return sight.unreadable() };
            let (at, id) = (keys::with_sort(keys::funding_items(org), sort), place.first_id());
            let says = "leads to a funding item that has another id";
            sight.derives_from(at, Problem::PointerWithoutRecord, says, move |item| {
                id_of::<FundingItem, _>(item, |item| item.id().uuid()) == id
            });
        }
        RecordKind::FundingItemReference => reference(sight, org, funding_items::ITEM, "funding item"),
        RecordKind::FundingItemToReview => {
            let Some(sort) = text(sight.item, funding_to_review::AT) else { return sight.unreadable() };
            let at = keys::with_sort(keys::funding_items(org), sort);
            let (says, own) = ("leads to a funding item without proof to review", sight.item.clone());
            let agreement = funding_to_review::agreement_of(sight.item);
            let key = sight.key.clone();
            sight.check([at.clone()], move |known| {
                // The row goes with what else ends after its agreement.
                if agreement.is_some_and(|id| known.underway.endings.contains(&(org, id.uuid()))) {
                    return Vec::new();
                }
                let found = known.get(&at);
                let item = found.and_then(|item| from_item::<FundingItem>(item.clone()).ok());
                let row = item.and_then(|item| funding_to_review::row(org, &item));
                if row.is_some_and(|row| is_same(&own, &row)) {
                    return Vec::new();
                }
                let repair = vec![Change::Delete(key), unchanged(at.clone(), found)];
                vec![(Problem::PointerWithoutRecord, format!("{says}: {at}"), Some(repair))]
            });
        }
        RecordKind::Trust => trust(sight, org),
        RecordKind::TrustPointer => {
            let Some(workspace) = text(sight.item, trusts::WORKSPACE).and_then(|id| id.parse().ok()) else {
                return sight.unreadable();
            };
            let Some(id) = place.first_id() else { return sight.unreadable() };
            let at = keys::trust(org, workspace, id.into());
            let says = "leads to a trust that has another id";
            sight.derives_from(at, Problem::PointerWithoutRecord, says, move |item| {
                id_of::<Trust, _>(item, |trust| trust.id.uuid()) == Some(id)
            });
        }
        _ => reference(sight, org, trusts::TRUST, "trust"),
    }
}

fn id_of<R: serde::de::DeserializeOwned, I>(item: &Item, id: impl FnOnce(R) -> I) -> Option<I> {
    from_item(item.clone()).ok().map(id)
}

/// Another check covers an item's pointer. A trust's reference names its workspace, so it leads to the record directly.
fn reference(sight: &mut Sight<'_>, org: OrgId, name: &'static str, what: &'static str) {
    let Some(id) = text(sight.item, name).and_then(|id| id.parse::<uuid::Uuid>().ok()) else {
        return sight.unreadable();
    };
    let record = if what == "trust" {
        let workspace = text(sight.item, trusts::WORKSPACE).and_then(|id| id.parse().ok());
        let Some(workspace) = workspace else { return sight.unreadable() };
        keys::trust(org, workspace, id.into())
    } else {
        keys::funding_item_pointer(org, id.into())
    };
    sight.derives_from(record, Problem::PointerWithoutRecord, "leads to a record that does not exist", |_| true);
}

/// Compares the attributes by which lists filter, and the searched text, with the record.
fn is_its_own_row(sight: &mut Sight<'_>, expected: &Item, names: [&'static str; 3]) {
    let differs = names.iter().any(|name| sight.item.get(*name) != expected.get(*name));
    let Some(version) = number::<u64>(sight.item, VERSION).filter(|_| differs) else { return };
    let value = |name: &str| expected.get(name).cloned();
    let [first, second, third] = names;
    let (expression, third_value) = match value(third) {
        Some(third) => ("SET #first = :first, #second = :second, #third = :third", Some(third)),
        None => ("SET #first = :first, #second = :second REMOVE #third", None),
    };
    let mut values = vec![(":version", AttributeValue::N(version.to_string()))];
    values.extend(value(first).map(|value| (":first", value)));
    values.extend(value(second).map(|value| (":second", value)));
    values.extend(third_value.map(|value| (":third", value)));
    let update = Update {
        key: sight.key.clone(),
        expression,
        condition: "#v = :version",
        names: vec![("#first", first), ("#second", second), ("#third", third), ("#v", VERSION)],
        values,
    };
    let says = "has other values for lists and searches than its facts say";
    let finding = sight.finding(Problem::WrongRow, says, Some(vec![Change::Update(update)]));
    sight.findings.push(finding);
}

fn funding_item(sight: &mut Sight<'_>, org: OrgId) {
    let Ok(item) = from_versioned_item::<FundingItem>(sight.item.clone()) else { return sight.unreadable() };
    let Ok(expected) = funding_items::encoded(org, &item, item.version()) else { return sight.unreadable() };
    if keys::Key::of(&expected).as_ref() != Some(&sight.key) {
        return sight.wrong(Problem::Misplaced, "has the record of another place");
    }
    is_its_own_row(sight, &expected, funding_items::LISTED);
    leads_here(sight, funding_items::pointer(org, &item), "pointer from its id");
    if let Some(row) = funding_to_review::row(org, &item) {
        leads_here(sight, row, "row among those with proof to review");
    }
    if let Some(reference) = item.external_reference() {
        let unique = funding_items::reference_item(org, reference, item.id());
        leads_here(sight, unique, "item of its external reference");
    }
    sight.refers(keys::workspace(org, item.workspace_id()), Problem::BrokenReference, "its workspace");
    if let Some(trust) = item.trust_id() {
        sight.refers(keys::trust_pointer(org, trust), Problem::BrokenReference, "its trust");
    }
    refers_to_contacts(sight, org, item.owner_contact_ids().iter().copied());
    let Some(id) = item.agreement_id() else { return };
    let (agreement, guard) = (keys::agreement(org, id), sight.guard());
    sight.check([agreement.clone()], move |known| {
        let Some(found) = known.get(&agreement) else {
            return vec![(Problem::BrokenReference, format!("its agreement does not exist: {agreement}"), None)];
        };
        let Ok(found) = from_item::<Agreement>(found.clone()) else { return Vec::new() };
        let says = if found.has_ended_early() && !item.is_closed() {
            "has ended, and it is not open again"
        } else if found.was_published() && matches!(item.status(), Status::Papered { .. }) {
            "was published, and it is not in progress"
        } else {
            return Vec::new();
        };
        if known.underway.endings.contains(&(org, id.uuid())) {
            return Vec::new();
        }
        let entry = keys::due(crate::domain::time::Timestamp::now(), Due::Ending, org, id.uuid()).into_item();
        let says = format!("its agreement {says}: {agreement}");
        vec![(Problem::NotEnded, says, Some(vec![Change::Put(entry), guard]))]
    });
}

fn trust(sight: &mut Sight<'_>, org: OrgId) {
    let Ok(trust) = from_versioned_item::<Trust>(sight.item.clone()) else { return sight.unreadable() };
    let Ok(expected) = trusts::item(org, &trust, trust.version()) else { return sight.unreadable() };
    if keys::Key::of(&expected).as_ref() != Some(&sight.key) {
        return sight.wrong(Problem::Misplaced, "has the record of another trust");
    }
    is_its_own_row(sight, &expected, trusts::LISTED);
    leads_here(sight, trusts::pointer(org, &trust), "pointer from its id");
    if let Some(reference) = &trust.external_reference {
        let unique = trusts::leading_to(&trust, keys::trust_reference(org, reference));
        leads_here(sight, unique, "item of its external reference");
    }
    sight.refers(keys::workspace(org, trust.workspace_id), Problem::BrokenReference, "its workspace");
    let people = trust.settlor_contact_ids.iter().chain(&trust.trustee_contact_ids).copied();
    refers_to_contacts(sight, org, people.chain([trust.contact_id]).collect::<Vec<_>>());
}
