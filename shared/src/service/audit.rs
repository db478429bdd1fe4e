//! The audit log of an organization, as members read it, filter it and export it.
//!
//! Every member may read it, not only admins: the specification restricts the organization's settings to admins, and the
//! log tells of acts that all members see on the pages of the records.
//!
//! Decision: a page costs one query of rows, however rare its matches are, and one batch of names. Where matches are rare,
//! the page says how far it looked, and leads on from there. All days can be reached in this way, so no row needs an index.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::domain::actor::ActorType;
use crate::domain::agreement::acts::Act;
use crate::domain::audit::{AuditFilter, AuditRow, DayRange, ObjectKind};
use crate::domain::ids::{AgreementId, RequestId};
use crate::domain::sentences;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::scope::Scope;
use crate::store::audit::AuditRows;

/// A page of the log.
#[derive(Debug)]
pub struct AuditPage {
    /// The rows, the newest first.
    pub rows: Vec<AuditRow>,
    /// The call before which the log goes on, if it does within the days.
    pub next: Option<RequestId>,
    /// How far the page looked back, if it stopped before it was full.
    pub looked_back_to: Option<Timestamp>,
    /// The names of the callers and objects on the page.
    pub names: Names,
}

/// The names of callers and objects by their ids.
#[derive(Debug, Default)]
pub struct Names(HashMap<Uuid, String>);

impl Names {
    /// The name of what has an id, if it was found.
    #[must_use]
    pub fn get(&self, id: Uuid) -> Option<&str> {
        self.0.get(&id).map(String::as_str)
    }
}

/// The objects of a row whose kinds are known, with their kinds.
pub fn objects_of(row: &AuditRow) -> impl Iterator<Item = (ObjectKind, Uuid)> + '_ {
    sentences::operation(&row.operation).objects.iter().copied().zip(row.objects.iter().copied())
}

/// A page of the log: the rows of some days that a filter lets through, before a call if one is given.
pub async fn page(
    scope: &Scope,
    days: DayRange,
    filter: &AuditFilter,
    before: Option<RequestId>,
) -> Result<AuditPage, Error> {
    let limit = if filter.is_empty() { limits::AUDIT_ROWS_READ } else { limits::AUDIT_ROWS_READ_FILTERED };
    let AuditRows { rows, has_more } = scope.store().audit_rows(days, before, limit).await?;
    let read_to = rows.last().map(|row| (row.request_id, row.at));
    let mut matching = rows.into_iter().filter(|row| filter.fits(row));
    let rows: Vec<AuditRow> = matching.by_ref().take(limits::AUDIT_PAGE_ROWS).collect();
    let is_full = matching.next().is_some();
    let (next, looked_back_to) = match (is_full, has_more) {
        (true, _) => (rows.last().map(|row| row.request_id), None),
        (false, true) => (read_to.map(|(id, _)| id), read_to.map(|(_, at)| at)),
        (false, false) => (None, None),
    };
    // The callers first: a page without the names of all objects is still a page.
    let extra = filter.actor.iter().flat_map(|id| [(ObjectKind::Member, *id), (ObjectKind::Token, *id)]);
    let wanted = extra.chain(rows.iter().filter_map(caller_of)).chain(rows.iter().flat_map(objects_of));
    let names = names(scope, wanted).await?;
    Ok(AuditPage { rows, next, looked_back_to, names })
}

/// The latest changes that members, integrations and time have made to records, at most [`limits::HOME_ACTS_MAX`], the
/// newest first. Where calls that only read are many, there may be none among the rows that one query reads.
pub async fn latest_changes(scope: &Scope) -> Result<(Vec<AuditRow>, Names), Error> {
    const DAY_S: i64 = 24 * 3600;
    let days_s = i64::from(limits::AUDIT_DAYS) * DAY_S;
    let (start, end) = (scope.now().plus_seconds(-days_s), scope.now().plus_seconds(DAY_S));
    let found = scope.store().audit_rows(DayRange { start, end }, None, limits::AUDIT_ROWS_READ).await?;
    let is_change = |row: &AuditRow| row.code == "ok" && sentences::changes_a_record(&row.operation);
    let rows: Vec<AuditRow> = found.rows.into_iter().filter(is_change).take(limits::HOME_ACTS_MAX).collect();
    let names = names(scope, rows.iter().filter_map(caller_of).chain(rows.iter().flat_map(objects_of))).await?;
    Ok((rows, names))
}

fn caller_of(row: &AuditRow) -> Option<(ObjectKind, Uuid)> {
    match row.caller.actor_type {
        ActorType::Member => Some((ObjectKind::Member, row.caller.id?)),
        ActorType::Token => Some((ObjectKind::Token, row.caller.id?)),
        ActorType::Participant | ActorType::System => None,
    }
}

/// The names of the first of these, as many as one batch of keys finds. A member takes two keys.
async fn names(scope: &Scope, of: impl Iterator<Item = (ObjectKind, Uuid)>) -> Result<Names, Error> {
    let mut seen = HashSet::new();
    let distinct: Vec<_> = of.filter(|named| seen.insert(*named)).collect();
    let mut keys = 0;
    let fits = |(kind, _): &&(ObjectKind, Uuid)| {
        keys += if *kind == ObjectKind::Member { 2 } else { 1 };
        keys <= limits::BATCH_KEYS_MAX
    };
    let first: Vec<_> = distinct.iter().take_while(fits).copied().collect();
    Ok(Names(scope.store().names(&first).await?))
}

/// An export of the log.
#[derive(Debug)]
pub struct AuditExport {
    /// The rows, the newest first.
    pub rows: Vec<AuditRow>,
    /// The call before which the next file goes on, if this one could not hold all rows.
    pub next: Option<RequestId>,
    /// The names of its callers.
    pub names: Names,
}

/// The rows of some days that a filter lets through, before a call if one is given, up to the limits of one file.
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
    let names = names(scope, kept.iter().filter_map(caller_of)).await?;
    Ok(AuditExport { rows: kept, next, names })
}

/// The newest acts of an agreement, at most [`limits::ACTS_SHOWN_MAX`], the newest first, and whether there are more.
pub async fn acts(scope: &Scope, agreement: AgreementId) -> Result<(Vec<Act>, bool), Error> {
    let one_more = i32::try_from(limits::ACTS_SHOWN_MAX).unwrap_or_default() + 1;
    let mut acts = scope.store().acts(agreement, one_more).await?;
    let has_more = acts.len() > limits::ACTS_SHOWN_MAX;
    acts.truncate(limits::ACTS_SHOWN_MAX);
    Ok((acts, has_more))
}
