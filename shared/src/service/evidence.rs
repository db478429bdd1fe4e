//! The evidence of an agreement, gathered for an export.
//!
//! Decision: the audit rows of an agreement are those of the calls that changed it, which its history names: they are read
//! by their keys, a batch for each hundred. The organization's rows stand in the order of time, so a query for those that
//! only looked at one agreement would read all of them. Those are in the export of the audit log.
//!
//! Decision: what is gathered was true at one moment. Each change of an agreement, of its receipts, its verifications, its
//! signatures on paper and its payments adds an act in the same transaction, so the history is read first and last: if it is
//! the same, nothing changed in between. The payments of an agreement that ended early follow it without an act of their own:
//! they are shown as it says.
//!
//! Decision: a certificate reads the acts up to the completion alone. Obligations that are due each month for decades add acts
//! to a completed agreement without end, and none of them changes its certificate.

use futures_util::future::try_join_all;

use crate::domain::agreement::{Agreement, Life};
use crate::domain::evidence::{AgreementRecord, CompletedRecord, Evidence, NoEvidence, RecordedPayment};
use crate::domain::ids::{AgreementId, MovementId};
use crate::domain::movement::evidence as filed;
use crate::domain::participant::ActingParticipant;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::found;
use crate::service::loaded_agreement::AgreementWithContacts;
use crate::service::scope::Scope;
use crate::service::statements;

/// The evidence of an agreement.
///
/// # Errors
/// [`Error::NotFound`] when there is no such agreement, [`Error::Unavailable`] when it keeps changing.
pub async fn of_agreement(scope: &Scope, id: AgreementId) -> Result<Result<Evidence, NoEvidence>, Error> {
    let gathered = gather(scope, id, Extent::Everything).await?;
    Ok(gathered.and_then(|evidence| evidence.record.check_size().map(|()| evidence)))
}

/// What the certificate of an agreement says.
///
/// # Errors
/// [`Error::NotFound`] when there is no such agreement, [`Error::Unavailable`] when it keeps changing.
pub async fn completed(scope: &Scope, id: AgreementId) -> Result<Result<CompletedRecord, NoEvidence>, Error> {
    let gathered = gather(scope, id, Extent::UntilCompletion).await?;
    Ok(gathered.and_then(|evidence| evidence.record.until_completion()))
}

/// What the certificate of a participant's agreement says.
///
/// # Errors
/// [`Error::NotFound`] when the agreement no longer has the participant, [`Error::Unavailable`] when it keeps changing.
pub async fn completed_of(scope: &Scope, by: &ActingParticipant) -> Result<Result<CompletedRecord, NoEvidence>, Error> {
    let gathered = gather(scope, by.agreement_id(), Extent::UntilCompletion).await?;
    let of_participant = |evidence: Evidence| {
        evidence.record.agreement.participant(by.id()).ok_or_else(Error::not_found)?;
        Ok(evidence.record.until_completion())
    };
    gathered.map_or_else(|none| Ok(Err(none)), of_participant)
}

/// How much of an agreement is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Everything, with payments and audit rows.
    Everything,
    /// What a certificate needs.
    UntilCompletion,
}

/// Reads an agreement, until nothing changed meanwhile.
async fn gather(scope: &Scope, id: AgreementId, extent: Extent) -> Result<Result<Evidence, NoEvidence>, Error> {
    let store = scope.store();
    let with_rows = extent == Extent::Everything;
    let until = match extent {
        Extent::Everything => None,
        // A completion is for good.
        Extent::UntilCompletion => match found(scope, id).await?.life() {
            Life::Completed { completed_at, .. } => Some(completed_at),
            Life::Draft | Life::Cancelled { published_at: None, .. } => return Ok(Err(NoEvidence::NotPublished)),
            _ => return Ok(Err(NoEvidence::NotCompleted)),
        },
    };
    let mut first = store.timeline(id, until, limits::EVIDENCE_ACTS_MAX).await?;
    for _ in 0..limits::EVIDENCE_ATTEMPTS_MAX {
        let beside = async {
            let papers = store.paper_signatures(id);
            let submissions = async { if with_rows { store.submissions(id).await } else { Ok(Vec::new()) } };
            let beside = tokio::try_join!(store.receipts(id), store.verifications(id), papers, submissions);
            beside.map_err(Error::from)
        };
        let (agreement, (receipts, verifications, papers, submissions)) = tokio::try_join!(found(scope, id), beside)?;
        if !agreement.was_published() {
            return Ok(Err(NoEvidence::NotPublished));
        }
        let Some(timeline) = first else { return Ok(Err(NoEvidence::TooManyActs)) };
        let payments = payments_of(scope, &agreement, with_rows).await?;
        let calls = timeline.iter().map(|entry| entry.call).filter(|_| with_rows);
        let rows = async { store.audit_rows_of(calls).await.map_err(Error::from) };
        let again = async { store.timeline(id, until, limits::EVIDENCE_ACTS_MAX).await.map_err(Error::from) };
        let loaded = AgreementWithContacts::load(scope, agreement);
        let (loaded, audit_rows, again) = tokio::try_join!(loaded, rows, again)?;
        if again.as_ref() != Some(&timeline) {
            first = again;
            continue;
        }
        if with_rows && audit_rows.len() != timeline.len() {
            let missing = timeline.len() - audit_rows.len();
            return Err(Error::Internal(format!("evidence: {missing} acts of {id} have no audit row")));
        }
        let (agreement, contacts) = loaded.into_parts();
        let record =
            AgreementRecord { agreement, contacts, timeline, receipts, verifications, papers, payments, submissions };
        let statements = try_join_all(record.statement_ids().into_iter().map(|id| statements::get(scope, id))).await?;
        return Ok(Ok(Evidence { record, audit_rows, statements }));
    }
    Err(Error::Unavailable(format!("evidence: {id} keeps changing")))
}

/// The payments of an agreement, with all evidence that was filed for each if it is wanted. Nothing is read where there are
/// none.
async fn payments_of(scope: &Scope, agreement: &Agreement, with_evidence: bool) -> Result<Vec<RecordedPayment>, Error> {
    let ids: Vec<MovementId> = agreement.movements().keys().copied().collect();
    let mut evidence: Vec<Vec<filed::Evidence>> = Vec::new();
    let movements = async { scope.store().movements(ids.iter().copied()).await.map_err(Error::from) };
    let filed = async {
        if !with_evidence {
            evidence.resize(ids.len(), Vec::new());
            return Ok(());
        }
        for some in ids.chunks(limits::EVIDENCE_PAYMENTS_AT_ONCE) {
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
