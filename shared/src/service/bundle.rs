//! The contents of an agreement's bundle, gathered for an export.
//!
//! - Decision: the audit rows of an agreement are those of the calls that changed it, which its history names: they are
//!   read by their keys, a hundred per batch. Calls that only looked at it are in the export of the audit log.
//! - Decision: what is gathered was true at one moment. Each change of an agreement or its records adds an act in its
//!   transaction, so the history is read first and last and must be the same. Payments and obligations of an agreement
//!   that ended early have no act of their own: they are shown as it says.
//! - Decision: a certificate reads only the acts up to the completion: obligations may add acts without end.
//! - Decision: a long history is split, never refused: the first part has all that is no act, later ones acts and rows.

use futures_util::future::try_join_all;

use crate::domain::agreement::acts::Act;
use crate::domain::agreement::{Agreement, Life};
use crate::domain::audit::AuditRow;
use crate::domain::bundle::{
    AgreementRecord, BundleContents, CompletedRecord, HistoryPart, LaterActs, NoBundle, RecordedPayment, TimelineEntry,
    is_told,
};
use crate::domain::ids::{AgreementId, MovementId};
use crate::domain::movement::evidence::Evidence;
use crate::domain::obligation::Obligation;
use crate::domain::participant::ActingParticipant;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::found;
use crate::service::loaded_agreement::{AgreementWithContacts, obligations_of};
use crate::service::obligations::with_older;
use crate::service::scope::Scope;
use crate::service::statements;
use crate::store::acts::{Timeline, WantedActs};

/// The contents of an agreement's bundle; [`Error::Unavailable`] when it keeps changing.
pub async fn of_agreement(scope: &Scope, id: AgreementId) -> Result<Result<BundleContents, NoBundle>, Error> {
    let gathered = gather(scope, id, Extent::Everything).await?;
    Ok(gathered.and_then(|mut contents| {
        contents.record.check_size()?;
        contents.completed = contents.record.clone().until_completion().ok();
        Ok(contents)
    }))
}

/// The first part of an agreement with more acts than a bundle holds: all but the later acts.
pub async fn first_part(scope: &Scope, id: AgreementId) -> Result<Result<BundleContents, NoBundle>, Error> {
    let mut contents = match gather(scope, id, Extent::FirstPart).await? {
        Ok(contents) => contents,
        Err(none) => return Ok(Err(none)),
    };
    // The timeline may end before the completion.
    contents.completed = completed(scope, id).await?.ok();
    Ok(contents.record.check_size().map(|()| contents))
}

/// A later part of an agreement. What was recorded about an act doesn't change, so it is read once.
pub async fn later_acts(scope: &Scope, id: AgreementId, number: usize) -> Result<LaterActs, Error> {
    let agreement = found(scope, id).await?;
    let timeline = scope.store().timeline(id, WantedActs { skip: acts_before(number), ..every_act() }).await?.acts;
    if timeline.is_empty() || !agreement.was_published() {
        return Err(Error::not_found());
    }
    let part = part_of(scope, id, number).await?;
    let audit_rows = scope.store().audit_rows_of(timeline.iter().map(|entry| entry.call)).await?;
    check_rows(id, &timeline, &audit_rows)?;
    Ok(LaterActs { agreement: agreement.into_inner(), part, timeline, audit_rows })
}

/// What the certificate of an agreement says.
pub async fn completed(scope: &Scope, id: AgreementId) -> Result<Result<CompletedRecord, NoBundle>, Error> {
    let (published_at, completed_at) = match found(scope, id).await?.life() {
        Life::Completed { published_at, completed_at } => (published_at, completed_at),
        Life::Draft | Life::Cancelled { published_at: None, .. } => return Ok(Err(NoBundle::NotPublished)),
        _ => return Ok(Err(NoBundle::NotCompleted)),
    };
    let gathered = gather(scope, id, Extent::UntilCompletion { published_at, completed_at }).await?;
    Ok(gathered.and_then(|contents| contents.completed.ok_or(NoBundle::NotCompleted)))
}

/// What the certificate of a participant's agreement says.
pub async fn completed_of(scope: &Scope, by: &ActingParticipant) -> Result<Result<CompletedRecord, NoBundle>, Error> {
    let completed = completed(scope, by.agreement_id()).await?;
    if let Ok(completed) = &completed {
        completed.record().agreement.participant(by.id()).ok_or_else(Error::not_found)?;
    }
    Ok(completed)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Everything,
    /// Everything but the later acts of a longer history.
    FirstPart,
    UntilCompletion {
        published_at: Timestamp,
        completed_at: Timestamp,
    },
}

#[derive(Debug, PartialEq, Eq)]
struct History {
    acts: Vec<TimelineEntry>,
    has_more: bool,
    part: Option<HistoryPart>,
}

async fn history(scope: &Scope, id: AgreementId, extent: Extent) -> Result<History, Error> {
    let read = async |wanted| scope.store().timeline(id, wanted).await;
    let Timeline { acts, has_more } = match extent {
        Extent::Everything | Extent::FirstPart => read(every_act()).await?,
        Extent::UntilCompletion { published_at, completed_at } => {
            let is_told = |act: &Act| is_told(act, published_at);
            read(WantedActs { until: Some(completed_at), is_told: &is_told, ..every_act() }).await?
        }
    };
    let part = match extent {
        Extent::FirstPart if has_more => Some(part_of(scope, id, 1).await?),
        _ => None,
    };
    Ok(History { acts, has_more, part })
}

fn every_act() -> WantedActs<'static> {
    WantedActs { until: None, is_told: &|_| true, skip: 0, most: limits::BUNDLE_ACTS_MAX }
}

fn acts_before(number: usize) -> usize {
    number.saturating_sub(1).saturating_mul(limits::BUNDLE_ACTS_MAX)
}

async fn part_of(scope: &Scope, id: AgreementId, number: usize) -> Result<HistoryPart, Error> {
    let (count, newest) = tokio::try_join!(scope.store().count_acts(id), scope.store().acts(id, 1))?;
    let newest = newest.first().map(|act| act.at).ok_or_else(Error::not_found)?;
    Ok(HistoryPart { number, of: count.div_ceil(limits::BUNDLE_ACTS_MAX), newest })
}

/// Reads an agreement until nothing changed meanwhile.
async fn gather(scope: &Scope, id: AgreementId, extent: Extent) -> Result<Result<BundleContents, NoBundle>, Error> {
    let store = scope.store();
    let with_rows = matches!(extent, Extent::Everything | Extent::FirstPart);
    let mut first = history(scope, id, extent).await?;
    for _ in 0..limits::BUNDLE_ATTEMPTS_MAX {
        let beside = async {
            let papers = store.paper_signatures(id);
            let submissions = async { if with_rows { store.submissions(id).await } else { Ok(Vec::new()) } };
            let beside = tokio::try_join!(
                store.receipts(id),
                store.verifications(id),
                papers,
                submissions,
                store.file_reviews(id)
            );
            beside.map_err(Error::from)
        };
        let (agreement, (receipts, verifications, papers, submissions, file_reviews)) =
            tokio::try_join!(found(scope, id), beside)?;
        if !agreement.was_published() {
            return Ok(Err(NoBundle::NotPublished));
        }
        if extent == Extent::Everything && first.has_more {
            return Ok(Err(NoBundle::InParts(part_of(scope, id, 1).await?.of)));
        }
        let payments = payments_of(scope, &agreement, with_rows).await?;
        let obligations = if with_rows { told_obligations(scope, &agreement).await? } else { Vec::new() };
        let calls = first.acts.iter().map(|entry| entry.call).filter(|_| with_rows);
        let rows = async { store.audit_rows_of(calls).await.map_err(Error::from) };
        let loaded = AgreementWithContacts::load(scope, agreement);
        let (loaded, audit_rows, again) = tokio::try_join!(loaded, rows, history(scope, id, extent))?;
        if again != first {
            first = again;
            continue;
        }
        if with_rows {
            check_rows(id, &first.acts, &audit_rows)?;
        }
        let (agreement, contacts) = loaded.into_parts();
        let History { acts: timeline, has_more, part } = first;
        let record = AgreementRecord {
            agreement,
            contacts,
            timeline,
            part,
            receipts,
            verifications,
            papers,
            file_reviews,
            payments,
            obligations,
            submissions,
        };
        if !with_rows {
            let completed = record.clone().until_completion();
            let completed = completed.map(|found| if has_more { found.with_more_acts() } else { found }).ok();
            return Ok(Ok(BundleContents { record, completed, audit_rows, statements: Vec::new() }));
        }
        let statements = try_join_all(record.statement_ids().into_iter().map(|id| statements::get(scope, id))).await?;
        return Ok(Ok(BundleContents { record, completed: None, audit_rows, statements }));
    }
    Err(Error::Unavailable(format!("evidence: {id} keeps changing")))
}

async fn told_obligations(scope: &Scope, agreement: &Agreement) -> Result<Vec<Obligation>, Error> {
    let obligations = obligations_of(scope, agreement).await?.into_iter();
    let obligations = try_join_all(obligations.map(|found| with_older(scope, found))).await?;
    Ok(obligations.iter().map(|found| found.as_told(agreement).into_owned()).collect())
}

/// Checks that each act has its audit row: the call that did it wrote both.
fn check_rows(id: AgreementId, timeline: &[TimelineEntry], rows: &[AuditRow]) -> Result<(), Error> {
    let missing = timeline.len().saturating_sub(rows.len());
    let error = || Error::Internal(format!("evidence: {missing} acts of {id} have no audit row"));
    if missing == 0 { Ok(()) } else { Err(error()) }
}

/// The payments of an agreement, with all evidence filed for each if wanted. Reads nothing without payments.
async fn payments_of(scope: &Scope, agreement: &Agreement, with_evidence: bool) -> Result<Vec<RecordedPayment>, Error> {
    let ids: Vec<MovementId> = agreement.movements().keys().copied().collect();
    let mut evidence: Vec<Vec<Evidence>> = Vec::new();
    let movements = async { scope.store().movements(ids.iter().copied()).await.map_err(Error::from) };
    let filed = async {
        if !with_evidence {
            evidence.resize(ids.len(), Vec::new());
            return Ok(());
        }
        for some in ids.chunks(limits::BUNDLE_PAYMENTS_AT_ONCE) {
            evidence.extend(try_join_all(some.iter().map(|id| scope.store().evidence_of(*id))).await?);
        }
        Ok(())
    };
    let (mut movements, ()) = tokio::try_join!(movements, filed)?;
    movements.sort_by_key(|movement| movement.id());
    if movements.len() != ids.len() {
        let missing = ids.len() - movements.len();
        return Err(Error::Internal(format!("evidence: {missing} payments of {} have no record", agreement.id())));
    }
    let movements = movements.into_iter().map(|movement| movement.as_told(agreement).into_owned());
    Ok(movements.zip(evidence).map(|(movement, evidence)| RecordedPayment { movement, evidence }).collect())
}
