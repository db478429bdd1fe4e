//! Records with a row in a list, and what leads to them.

use uuid::Uuid;

use super::super::item::{Item, decompressed, from_item, number, text};
use super::super::keys::{self, Due, Key, Rows, SORT};
use super::super::proposals::{CLAIMED_UNTIL, PROPOSAL};
use super::super::record::{self, Record};
use super::super::record_kind::{Place, RecordKind};
use super::super::{Versioned, contacts, proposals, statements, workspaces};
use super::{Problem, Sight, unchanged};
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, OrgId};
use crate::domain::obligation::Obligation;
use crate::domain::proposal::{Decision, Proposal};
use crate::domain::statement::Statement;
use crate::domain::time::Timestamp;
use crate::domain::workspace::Workspace;
use crate::limits;
use crate::store::change::Change;

pub(super) fn look(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    match place.kind {
        RecordKind::Contact => contact(sight, org),
        RecordKind::ContactReference => contact_reference(sight, org),
        RecordKind::Workspace => workspace(sight, org),
        RecordKind::Person => person(sight, org, place),
        RecordKind::PersonPointer => person_pointer(sight, org, place),
        RecordKind::Proposal => proposal(sight, org),
        RecordKind::ProposalSnapshot => {
            let is_readable = decompressed(sight.item, proposals::COPY, limits::PROPOSED_BYTES_MAX).is_some();
            if !is_readable {
                sight.unreadable();
            }
            owner(sight, place.first_id().map(|id| keys::proposal(org, id.into())), "its proposal");
        }
        RecordKind::ProposalClaim => claim(sight, org),
        RecordKind::Obligation => obligation(sight, org),
        RecordKind::Statement => statement(sight, org),
        RecordKind::StatementFile => statement_file(sight, org),
        _ => row(sight, org, place),
    }
}

/// The record that an item belongs to or follows from must exist.
pub(super) fn owner(sight: &mut Sight<'_>, key: Option<Key>, what: &'static str) {
    match key {
        Some(key) => sight.refers(key, Problem::NoOwner, what),
        None => sight.unreadable(),
    }
}

/// Reads a record, and checks that it is in its place and that its row is as the store would write it.
pub(super) fn listed<R: Record>(sight: &mut Sight<'_>, org: OrgId) -> Option<Versioned<R>> {
    let Ok(record) = record::decode::<R>(sight.item.clone()) else {
        sight.unreadable();
        return None;
    };
    if R::key(org, record.record_id()) != sight.key {
        sight.wrong(Problem::Misplaced, format!("has the record with the id {}", record.record_id().into()));
        return None;
    }
    let row = record::list_row(org, &*record, record.version());
    sight.has_row((org, R::ROWS), record.record_id().into(), row, "row in its list");
    Some(record)
}

pub(super) fn refers_to_contacts(sight: &mut Sight<'_>, org: OrgId, ids: impl IntoIterator<Item = ContactId>) {
    for id in ids {
        sight.refers(keys::contact(org, id), Problem::BrokenReference, "a contact that it names");
    }
}

fn contact(sight: &mut Sight<'_>, org: OrgId) {
    let Some(contact) = listed::<Contact>(sight, org) else { return };
    if let Some(reference) = &contact.external_reference {
        leads_here(sight, contacts::reference_item(org, reference, contact.id), "item of its external reference");
    }
}

/// A pointer to this record must exist. One that leads elsewhere is not repaired: it is, or was, another record's.
pub(super) fn leads_here(sight: &mut Sight<'_>, item: Item, what: &'static str) {
    let Some(at) = Key::of(&item) else { return };
    let guard = sight.guard();
    sight.check([at.clone()], move |known| match known.get(&at) {
        None => {
            let repair = vec![Change::Create(item), guard];
            vec![(Problem::NoPointer, format!("has no {what}: {at}"), Some(repair))]
        }
        Some(found) if !super::is_same(found, &item) => {
            vec![(Problem::WrongPointer, format!("has a wrong {what}: {at}"), None)]
        }
        Some(_) => Vec::new(),
    });
}

fn contact_reference(sight: &mut Sight<'_>, org: OrgId) {
    let id = text(sight.item, contacts::CONTACT).and_then(|id| id.parse().ok());
    let Some(id) = id else { return sight.unreadable() };
    let own = sight.key.clone();
    sight.derives_from(
        keys::contact(org, id),
        Problem::PointerWithoutRecord,
        "leads to a contact that does not have the reference",
        move |contact| {
            let contact = record::decode::<Contact>(contact.clone());
            contact.is_ok_and(|contact| {
                contact.external_reference.as_ref().is_some_and(|found| keys::contact_reference(org, found) == own)
            })
        },
    );
}

fn workspace(sight: &mut Sight<'_>, org: OrgId) {
    let Some(workspace) = listed::<Workspace>(sight, org) else { return };
    let (id, count, guard) = (workspace.id().uuid(), workspace.people_count, sight.guard());
    let Some(people) = sight.about.people.get(&sight.key).copied() else { return };
    sight.check([], move |known| {
        if known.underway.people.contains(&(org, id)) || u64::try_from(count) == Ok(people) {
            return Vec::new();
        }
        let recount = keys::due_unique(Timestamp::now(), Due::People, org, id).into_item();
        let says = format!("says that it has {count} people, and has {people}");
        vec![(Problem::WrongCount, says, Some(vec![Change::Put(recount), guard]))]
    });
}

/// There must be a pointer from the person to the workspace.
fn person(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    let (Some(workspace), Some(contact)) = (place.first_id(), place.ids.get(1).copied().map(ContactId::from)) else {
        return sight.unreadable();
    };
    if workspaces::version_of_person(sight.item).is_err() {
        return sight.unreadable();
    }
    owner(sight, Some(keys::workspace(org, workspace.into())), "its workspace");
    refers_to_contacts(sight, org, [contact]);
    let (pointer, guard) = (keys::person_pointer(org, contact, workspace.into()), sight.guard());
    sight.check([pointer.clone()], move |known| {
        if known.underway.people.contains(&(org, workspace)) || known.has(&pointer) {
            return Vec::new();
        }
        let repair = vec![Change::Put(pointer.clone().into_item()), guard];
        vec![(Problem::NoPointer, format!("has no pointer to the workspace: {pointer}"), Some(repair))]
    });
}

fn person_pointer(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    let [contact, workspace] = place.ids[..] else { return sight.unreadable() };
    let person = keys::person(org, workspace.into(), contact.into());
    let says = "leads to a workspace whose people the contact is not one of";
    sight.derives_from(person, Problem::PointerWithoutRecord, says, |_| true);
}

fn proposal(sight: &mut Sight<'_>, org: OrgId) {
    let Some(proposal) = listed::<Proposal>(sight, org) else { return };
    let agreement = keys::agreement(org, proposal.agreement_id);
    sight.refers(agreement, Problem::BrokenReference, "its agreement");
    sight.refers(keys::proposed(org, proposal.id()), Problem::BrokenReference, "the snapshot of what was proposed");
    if !matches!(proposal.decision(), Decision::Pending) {
        return;
    }
    let expiry = keys::due(proposal.expires_at, Due::Proposal, org, proposal.id().uuid());
    sight.is_due(expiry, "its expiry");
    if proposal.has_unrecorded_expiry(sight.now) {
        // Its claim no longer counts, and a new proposal may have taken it over.
        return;
    }
    let (claim, item) = proposals::claim_item(org, &proposal);
    let guard = sight.guard();
    sight.check([claim.clone()], move |known| match known.get(&claim) {
        None => {
            let repair = vec![Change::Create(item), guard];
            vec![(Problem::NoClaim, format!("has no claim on its agreement: {claim}"), Some(repair))]
        }
        Some(found) if text(found, PROPOSAL) != text(&item, PROPOSAL) => {
            vec![(Problem::Disagreement, format!("is pending beside another proposal of its kind: {claim}"), None)]
        }
        Some(_) => Vec::new(),
    });
}

fn claim(sight: &mut Sight<'_>, org: OrgId) {
    let id = text(sight.item, PROPOSAL).and_then(|id| id.parse().ok());
    let (Some(id), Some(until)) = (id, number::<i64>(sight.item, CLAIMED_UNTIL)) else { return sight.unreadable() };
    if until <= sight.now.unix_ms() {
        return;
    }
    let own = sight.key.clone();
    sight.derives_from(
        keys::proposal(org, id),
        Problem::ClaimWithoutProposal,
        "keeps new proposals from being made, and its proposal is not pending",
        move |proposal| {
            let proposal = record::decode::<Proposal>(proposal.clone());
            proposal.is_ok_and(|proposal| {
                let is_its = keys::pending(org, proposal.agreement_id, proposal.action) == own;
                is_its && matches!(proposal.decision(), Decision::Pending)
            })
        },
    );
}

fn obligation(sight: &mut Sight<'_>, org: OrgId) {
    let Some(obligation) = listed::<Obligation>(sight, org) else { return };
    sight.refers(keys::workspace(org, obligation.workspace_id()), Problem::BrokenReference, "its workspace");
    sight.refers(keys::agreement(org, obligation.agreement_id()), Problem::BrokenReference, "its agreement");
}

fn statement(sight: &mut Sight<'_>, org: OrgId) {
    let Some(statement) = listed::<Statement>(sight, org) else { return };
    let item = statements::file_item(org, &statement);
    leads_here(sight, item, "unique item of its file");
}

fn statement_file(sight: &mut Sight<'_>, org: OrgId) {
    let id = text(sight.item, statements::STATEMENT).and_then(|id| id.parse().ok());
    let Some(id) = id else { return sight.unreadable() };
    let own = sight.key.clone();
    sight.derives_from(
        keys::statement(org, id),
        Problem::PointerWithoutRecord,
        "leads to a statement that does not have the file",
        move |found| {
            let statement = from_item::<Statement>(found.clone());
            statement.is_ok_and(|statement| keys::statement_file(org, &statement.file.content.sha256) == own)
        },
    );
}

/// A row's record must exist. The record's own check compares the row.
fn row(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    let (Some(rows), Some(id)) = (place.rows, text(sight.item, SORT).and_then(|id| id.parse::<Uuid>().ok())) else {
        return sight.unreadable();
    };
    let record = match rows {
        Rows::Contacts => keys::contact(org, ContactId::from(id)),
        Rows::Workspaces => keys::workspace(org, id.into()),
        Rows::Agreements | Rows::AgreementDocuments => keys::agreement(org, id.into()),
        Rows::Proposals => keys::proposal(org, id.into()),
        Rows::Movements => keys::movement(org, id.into()),
        Rows::Obligations => keys::obligation(org, id.into()),
        Rows::Statements => keys::statement(org, id.into()),
        Rows::FundingItems => keys::funding_item_pointer(org, id.into()),
        Rows::Trusts => keys::trust_pointer(org, id.into()),
    };
    let own = sight.key.clone();
    sight.check([record.clone()], move |known| {
        if known.has(&record) {
            return Vec::new();
        }
        let repair = vec![Change::Delete(own), unchanged(record.clone(), None)];
        vec![(Problem::RowWithoutRecord, format!("has no record: {record}"), Some(repair))]
    });
}
