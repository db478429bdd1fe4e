//! Verifications of participants' identities, which members record.

use crate::domain::agreement::verification::NewVerification;
use crate::domain::ids::{AgreementId, ParticipantId, VerificationId};
use crate::domain::member::{Member, NotVerified, record_verification};
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::loaded_agreement::AgreementWithFacts;
use crate::service::scope::{Plan, Scope};
use crate::store::verifications as stored;

/// Records that a participant's identity was verified, with the id from the form.
pub async fn record(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    participant: ParticipantId,
    id: VerificationId,
    new: NewVerification,
) -> Result<Plan<Result<(), NotVerified>>, Error> {
    let earlier = async { scope.store().verifications(agreement).await.map_err(Error::from) };
    let (before, earlier) = tokio::try_join!(found(scope, agreement), earlier)?;
    let contact = before.participant(participant).map(|participant| participant.contact_id.uuid());
    let shown = [agreement.uuid(), participant.uuid()].into_iter().chain(contact);
    if earlier.iter().any(|verification| verification.id == id) {
        return Ok(Plan::new(scope, Ok(())).showing(shown));
    }
    let loaded = AgreementWithFacts::of(before);
    let moment = loaded.act_moment(scope);
    Ok(match record_verification(by, loaded.context(scope, moment), &earlier, id, participant, new) {
        Ok(verified) => {
            let changes = stored::record(scope.call(), loaded.agreement(), &verified)?;
            Plan::new(scope, Ok(())).decided_at(moment).change(changes).emit(verified.events).showing(shown)
        }
        Err(reason) => Plan::new(scope, Err(reason)).showing([agreement.uuid()]),
    })
}
