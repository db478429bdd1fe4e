//! Paper signatures, which members record and confirm.

use crate::domain::ids::{AgreementId, PaperSignatureId, ParticipantId};
use crate::domain::member::{
    Counting, Member, NotDecided, NotRecorded, PaperDecision, decide_paper_signature, record_paper_signature,
};
use crate::domain::paper_signature::{NewPaperSignature, PaperSignature};
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::loaded_agreement::AgreementWithFacts;
use crate::service::scope::{Plan, Scope};
use crate::service::second_members;
use crate::store::paper_signatures as stored;

/// The paper signatures of an agreement, by participant, oldest of each first, for its evidence.
pub async fn of_agreement(scope: &Scope, agreement: AgreementId) -> Result<Vec<PaperSignature>, Error> {
    Ok(scope.store().paper_signatures(agreement).await?)
}

/// Records a signature on paper. It counts at once only if the form said so and there still is no second member.
pub async fn record(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    new: NewPaperSignature,
    shown: Counting,
) -> Result<Plan<Result<Counting, NotRecorded>>, Error> {
    // After the agreement: what another member records or decides meanwhile conflicts with its version.
    let before = found(scope, agreement).await?;
    let papers = scope.store().paper_signatures_of(agreement, new.participant_id);
    let (earlier, seconds) =
        tokio::try_join!(async { papers.await.map_err(Error::from) }, second_members::load(scope))?;
    let contact = before.participant(new.participant_id).map(|participant| participant.contact_id.uuid());
    let ids = [agreement.uuid(), new.participant_id.uuid(), new.document_id.uuid(), new.id.uuid()];
    let plan = |output| Plan::new(scope, output).showing(ids.into_iter().chain(contact));
    let counting = if shown == Counting::Alone { seconds.counting(by.id(), None) } else { Counting::Confirmed };
    let loaded = AgreementWithFacts::of(before);
    let moment = loaded.act_moment(scope);
    let context = loaded.context(scope, moment);
    Ok(match record_paper_signature(by, context, &earlier, new, counting) {
        Ok(change) => {
            let changes = stored::record(scope.call(), loaded.agreement(), &change)?;
            plan(Ok(counting)).decided_at(moment).change(changes).emit(change.events)
        }
        Err(reason) => plan(Err(reason)),
    })
}

/// Confirms or rejects a paper signature.
pub async fn decide(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    participant: ParticipantId,
    paper: PaperSignatureId,
    decision: PaperDecision,
) -> Result<Plan<Result<(), NotDecided>>, Error> {
    // After the agreement: what another member decides meanwhile conflicts with its version.
    let before = found(scope, agreement).await?;
    let papers = scope.store().paper_signatures_of(agreement, participant);
    let (papers, seconds) = tokio::try_join!(async { papers.await.map_err(Error::from) }, second_members::load(scope))?;
    let known = papers.iter().find(|known| known.id == paper).ok_or_else(Error::not_found)?;
    let ids = [agreement.uuid(), participant.uuid(), known.document_id.uuid(), paper.uuid()];
    let plan = |output| Plan::new(scope, output).showing(ids);
    let loaded = AgreementWithFacts::of(before);
    let moment = loaded.act_moment(scope);
    let context = loaded.context(scope, moment);
    let counting = seconds.counting(by.id(), known.recorded_by.member());
    Ok(match decide_paper_signature(by, context, known, decision, counting) {
        Ok(change) => {
            let changes = stored::decide(scope.call(), loaded.agreement(), &change)?;
            plan(Ok(())).decided_at(moment).change(changes).emit(change.events)
        }
        Err(reason) => plan(Err(reason)),
    })
}
