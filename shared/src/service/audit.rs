//! The audit log of an organization, as members read it, filter it and export it.
//!
//! Every member may read it: the specification restricts only settings to admins, and all members see the records.
//!
//! Decision: a page costs one query of rows, however rare its matches are, and one batch of names. If matches are rare,
//! the page says how far it looked and continues from there, so no row needs an index.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use crate::domain::actor::ActorType;
use crate::domain::agreement::acts::Act;
use crate::domain::audit::{AuditFilter, AuditRow, CallOutcome, DayRange, ObjectKind};
use crate::domain::ids::{AgreementId, ContactId, MovementId, RequestId};
use crate::domain::movement::Movement;
use crate::domain::organization::MemberRecord;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::scope::Scope;
use crate::store::audit::AuditRows;
use crate::text;

/// A page of the log.
#[derive(Debug)]
pub struct AuditPage {
    /// The rows, newest first.
    pub rows: Vec<AuditRow>,
    /// The call before which the log continues, if it does within the days.
    pub next: Option<RequestId>,
    /// How far the page looked back, if it stopped before it was full.
    pub looked_back_to: Option<Timestamp>,
    /// The names of the callers and objects on the page.
    pub names: Names,
    /// The organization's members.
    pub members: Vec<MemberRecord>,
}

/// The names of callers and objects by id, and what calls did in the histories of agreements.
#[derive(Debug, Default)]
pub struct Names {
    objects: HashMap<Uuid, (ObjectKind, String)>,
    /// The names of payments without their amounts.
    payments: HashMap<Uuid, String>,
    participants: HashMap<Uuid, NamedParticipant>,
    acts: HashMap<RequestId, Act>,
}

#[derive(Debug)]
struct NamedParticipant {
    name: String,
    agreement: String,
}

impl Names {
    /// The name of the object or caller with an id, if found.
    #[must_use]
    pub fn get(&self, id: Uuid) -> Option<&str> {
        let of_participant = || self.participants.get(&id).map(|participant| &participant.name);
        self.objects.get(&id).map(|(_, name)| name).or_else(of_participant).map(String::as_str)
    }

    /// The name of the agreement of a participant who called, if found.
    #[must_use]
    pub fn agreement_of(&self, participant: Uuid) -> Option<&str> {
        self.participants.get(&participant).map(|participant| participant.agreement.as_str())
    }

    /// The object with an id, and its name, if found.
    #[must_use]
    pub fn object(&self, id: Uuid) -> Option<(ObjectKind, &str)> {
        self.objects.get(&id).map(|(kind, name)| (*kind, name.as_str()))
    }

    /// The same as the row names it: a claim or evidence may be of another amount than its payment.
    #[must_use]
    pub fn object_of(&self, row: &AuditRow, id: Uuid) -> Option<(ObjectKind, &str)> {
        let (kind, name) = self.object(id)?;
        let without_amount = self.payments.get(&id).filter(|_| text::is_about_proof(&row.operation));
        Some((kind, without_amount.map_or(name, String::as_str)))
    }

    /// What a call did, with the part or proposal that it was about, if an agreement's history has it.
    #[must_use]
    pub fn did(&self, row: &AuditRow) -> Cow<'static, str> {
        // A published payment is among the row's objects, with its amount.
        let names_payment = text::operation(&row.operation).objects.contains(&ObjectKind::Payment);
        let is_said = |act: &&Act| !names_payment && (act.proposed.is_some() || act.part.is_some());
        let act = self.acts.get(&row.request_id).filter(is_said);
        let of_operation = || text::operation(&row.operation).did;
        act.map_or_else(of_operation, |act| text::act(act, |contact| self.get(contact.uuid())))
    }
}

/// The objects of a row whose kinds are known, with their kinds.
pub fn objects_of(row: &AuditRow) -> impl Iterator<Item = (ObjectKind, Uuid)> + '_ {
    let known = text::operation(&row.operation).objects;
    let is_items_first = row.operation == PAPER && row.caller.actor_type == ActorType::Token;
    let (last, others) = match row.objects.split_last() {
        Some((agreement, items)) if is_items_first && row.outcome() == CallOutcome::Success => (Some(agreement), items),
        _ => (None, row.objects.as_slice()),
    };
    let kinds = known.iter().filter(move |kind| match kind {
        ObjectKind::Workspace => !is_items_first,
        ObjectKind::Agreement => !is_items_first || last.is_some(),
        _ => true,
    });
    kinds.copied().zip(last.into_iter().chain(others).copied())
}

const PAPER: &str = "paper_funding_items";

/// A page of the log: the rows of some days that match a filter, before a call if one is given.
pub async fn page(
    scope: &Scope,
    days: DayRange,
    filter: &AuditFilter,
    before: Option<RequestId>,
) -> Result<AuditPage, Error> {
    let limit = if filter.is_empty() { limits::AUDIT_ROWS_READ } else { limits::AUDIT_ROWS_READ_FILTERED };
    let members = Box::pin(scope.store().members());
    let (AuditRows { rows, has_more }, members) =
        tokio::try_join!(scope.store().audit_rows(days, before, limit), members)?;
    let read_to = rows.last().map(|row| (row.request_id, row.at));
    let mut matching = rows.into_iter().filter(|row| filter.fits(row));
    let rows: Vec<AuditRow> = matching.by_ref().take(limits::AUDIT_PAGE_ROWS).collect();
    let is_full = matching.next().is_some();
    let (next, looked_back_to) = match (is_full, has_more) {
        (true, _) => (rows.last().map(|row| row.request_id), None),
        (false, true) => (read_to.map(|(id, _)| id), read_to.map(|(_, at)| at)),
        (false, false) => (None, None),
    };
    // Callers first: a page without the names of all objects is still a page.
    let extra = filter.actor.iter().flat_map(|id| [(ObjectKind::Member, *id), (ObjectKind::Token, *id)]);
    let wanted = extra.chain(rows.iter().filter_map(caller_of)).chain(rows.iter().flat_map(objects_of));
    let names = names(scope, wanted, &rows).await?;
    Ok(AuditPage { rows, next, looked_back_to, names, members })
}

/// The latest changes of members, integrations and time, at most [`limits::HOME_ACTS_MAX`], newest first. If the newest
/// calls mostly read, a second query looks further back; older changes are missing.
pub async fn latest_changes(scope: &Scope) -> Result<(Vec<AuditRow>, Names), Error> {
    const DAY_S: i64 = 24 * 3600;
    let days_s = i64::from(limits::AUDIT_DAYS) * DAY_S;
    let (start, end) = (scope.now().plus_seconds(-days_s), scope.now().plus_seconds(DAY_S));
    let days = DayRange { start, end };
    let mut rows: Vec<AuditRow> = Vec::new();
    let mut before = None;
    for limit in [limits::AUDIT_ROWS_READ, limits::AUDIT_ROWS_READ_FILTERED] {
        let found = scope.store().audit_rows(days, before, limit).await?;
        before = found.rows.last().map(|row| row.request_id);
        rows.extend(found.rows.into_iter().filter(is_change));
        if rows.len() >= limits::HOME_ACTS_MAX || !found.has_more {
            break;
        }
    }
    rows.truncate(limits::HOME_ACTS_MAX);
    let wanted = rows.iter().filter_map(caller_of).chain(rows.iter().flat_map(objects_of));
    let names = names(scope, wanted, &rows).await?;
    Ok((rows, names))
}

fn is_change(row: &AuditRow) -> bool {
    row.code == "ok" && text::changes_a_record(&row.operation)
}

fn caller_of(row: &AuditRow) -> Option<(ObjectKind, Uuid)> {
    match row.caller.actor_type {
        ActorType::Member => Some((ObjectKind::Member, row.caller.id?)),
        ActorType::Token => Some((ObjectKind::Token, row.caller.id?)),
        ActorType::Participant | ActorType::System => None,
    }
}

/// The names that one batch of keys finds, then what the first rows did. A member, or a trust or item, takes two keys.
async fn names(scope: &Scope, of: impl Iterator<Item = (ObjectKind, Uuid)>, rows: &[AuditRow]) -> Result<Names, Error> {
    let mut seen = HashSet::new();
    let distinct = of.filter(|(kind, _)| *kind != ObjectKind::Part).filter(|named| seen.insert(*named));
    let distinct: Vec<_> = distinct.collect();
    let mut keys = 0;
    let fits = |(kind, _): &&(ObjectKind, Uuid)| {
        keys += match kind {
            ObjectKind::Member | ObjectKind::TrustOrItem => 2,
            ObjectKind::Payment => 0,
            _ => 1,
        };
        keys <= limits::BATCH_KEYS_MAX
    };
    let first: Vec<_> = distinct.iter().take_while(fits).copied().collect();
    let calls: Vec<_> = rows.iter().filter_map(act_of).take(limits::BATCH_KEYS_MAX.saturating_sub(keys)).collect();
    let payments = distinct.iter().filter(|(kind, _)| *kind == ObjectKind::Payment).map(|(_, id)| (*id).into());
    let payments = payments.take(limits::BATCH_KEYS_MAX).collect::<Vec<MovementId>>();
    let payments = async { scope.store().movements(payments).await.map_err(Error::from) };
    let batch = async { scope.store().names_and_acts(&first, &calls).await.map_err(Error::from) };
    let ((mut objects, acts), payments, participants) =
        tokio::try_join!(batch, payments, Box::pin(participants(scope, rows)))?;
    let name = |payment: &Movement| (payment.id().uuid(), (ObjectKind::Payment, text::payment_with_amount(payment)));
    objects.extend(payments.iter().map(|payment| name(payment)));
    let title = |payment: &Movement| (payment.id().uuid(), text::payment_title(payment).to_owned());
    let payments = payments.iter().map(|payment| title(payment)).collect();
    Ok(Names { objects, payments, participants, acts })
}

/// The names of the participants who called, found by the first agreements that their rows name.
async fn participants(scope: &Scope, rows: &[AuditRow]) -> Result<HashMap<Uuid, NamedParticipant>, Error> {
    let called = rows.iter().filter(|row| row.caller.actor_type == ActorType::Participant);
    let of = |row: &AuditRow| objects_of(row).find(|(kind, _)| *kind == ObjectKind::Agreement).map(|(_, id)| id.into());
    let callers: HashSet<Uuid> = called.clone().filter_map(|row| row.caller.id).collect();
    let mut agreements: Vec<AgreementId> = called.filter_map(of).collect();
    agreements.sort();
    agreements.dedup();
    agreements.truncate(limits::BATCH_KEYS_MAX);
    if agreements.is_empty() {
        return Ok(HashMap::new());
    }
    let agreements = scope.store().agreements(agreements).await?;
    let mut found: Vec<(Uuid, ContactId, &str)> = Vec::new();
    for agreement in &agreements {
        let called = agreement.participants.iter().filter(|participant| callers.contains(&participant.id.uuid()));
        found.extend(called.map(|caller| (caller.id.uuid(), caller.contact_id, agreement.name.as_str())));
    }
    let contacts: BTreeSet<ContactId> = found.iter().map(|(_, contact, _)| *contact).collect();
    let contacts = scope.store().contacts(contacts).await?;
    let named = |(id, contact, agreement): (Uuid, ContactId, &str)| {
        let name = contacts.iter().find(|found| found.id == contact)?.display_name.as_str().to_owned();
        Some((id, NamedParticipant { name, agreement: agreement.to_owned() }))
    };
    Ok(found.into_iter().filter_map(named).collect())
}

fn act_of(row: &AuditRow) -> Option<(AgreementId, RequestId)> {
    let (_, agreement) = objects_of(row).find(|(kind, _)| *kind == ObjectKind::Agreement)?;
    is_change(row).then(|| (agreement.into(), row.request_id))
}

/// An export of the log.
#[derive(Debug)]
pub struct AuditExport {
    /// The rows, newest first.
    pub rows: Vec<AuditRow>,
    /// The call before which the next file continues, if this one could not hold all rows.
    pub next: Option<RequestId>,
    /// The names of its callers.
    pub names: Names,
}

/// The rows of some days that match a filter, before a call if one is given, up to the limits of one file.
pub async fn export(
    scope: &Scope,
    days: DayRange,
    filter: &AuditFilter,
    before: Option<RequestId>,
) -> Result<AuditExport, Error> {
    let mut kept: Vec<AuditRow> = Vec::new();
    let mut next = before;
    for _ in 0..limits::AUDIT_EXPORT_QUERIES_MAX {
        let AuditRows { rows, has_more } =
            scope.store().audit_rows(days, next, limits::AUDIT_ROWS_READ_FILTERED).await?;
        next = rows.last().filter(|_| has_more).map(|row| row.request_id);
        kept.extend(rows.into_iter().filter(|row| filter.fits(row)));
        if kept.len() > limits::AUDIT_EXPORT_ROWS_MAX {
            kept.truncate(limits::AUDIT_EXPORT_ROWS_MAX);
            next = kept.last().map(|row| row.request_id);
            break;
        }
        if next.is_none() {
            break;
        }
    }
    let callers = names(scope, kept.iter().filter_map(caller_of), &[]);
    let (names, participants) = tokio::try_join!(callers, Box::pin(participants(scope, &kept)))?;
    let names = Names { participants, ..names };
    Ok(AuditExport { rows: kept, next, names })
}

/// The newest acts of an agreement, at most [`limits::ACTS_SHOWN_MAX`], and whether there are more.
pub async fn acts(scope: &Scope, agreement: AgreementId) -> Result<(Vec<Act>, bool), Error> {
    let one_more = i32::try_from(limits::ACTS_SHOWN_MAX).unwrap_or_default() + 1;
    let mut acts = scope.store().acts(agreement, one_more).await?;
    let has_more = acts.len() > limits::ACTS_SHOWN_MAX;
    acts.truncate(limits::ACTS_SHOWN_MAX);
    Ok((acts, has_more))
}
