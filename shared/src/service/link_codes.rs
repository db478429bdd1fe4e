//! Codes that members read out to participants.

use uuid::Uuid;

use crate::crypto::keyring::Keyring;
use crate::domain::ids::{AgreementId, ParticipantId};
use crate::domain::member::Member;
use crate::domain::participant::link_code::{LinkCode, StoredLinkCode};
use crate::domain::participant::session::Part;
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::scope::{Plan, Scope};
use crate::store::link_codes as stored;

/// Makes a code for the link of a participant, with the id of the form. The one before ends. False, if the organization
/// does not ask for codes (anymore).
///
/// # Errors
/// [`Error::NotFound`] when there is no such agreement or participant, or the agreement was never published.
pub async fn create(
    scope: &Scope,
    by: &Member,
    (agreement, participant): (AgreementId, ParticipantId),
    (id, code, keys): (Uuid, &LinkCode, &Keyring),
) -> Result<Plan<bool>, Error> {
    let store = scope.store();
    let own = async {
        let (access, earlier) = (store.access(agreement, participant), store.link_code(agreement, participant));
        tokio::try_join!(access, earlier, store.organization()).map_err(Error::from)
    };
    let (agreement, (access, earlier, organization)) = tokio::try_join!(found(scope, agreement), own)?;
    agreement.participant(participant).filter(|_| agreement.was_published()).ok_or_else(Error::not_found)?;
    let plan = Plan::new(scope, organization.asks_for_codes).showing([agreement.id().uuid(), participant.uuid()]);
    if !organization.asks_for_codes || earlier.is_some_and(|earlier| earlier.id == id) {
        return Ok(plan);
    }
    let part = Part { organization_id: scope.org(), agreement_id: agreement.id(), participant_id: participant };
    let code = StoredLinkCode::new(keys, (part, access.generation), (id, code), scope.now())?;
    Ok(plan.change([stored::create(scope.call(), by, (&agreement, participant), &code)?]))
}
