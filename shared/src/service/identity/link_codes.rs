//! Codes that members read out to participants.

use uuid::Uuid;

use crate::crypto::keyring::Keyring;
use crate::domain::ids::{AgreementId, ParticipantId};
use crate::domain::member::Member;
use crate::domain::participant::link_code::{LinkCode, StoredLinkCode};
use crate::domain::participant::session::Part;
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::participants::addressee;
use crate::service::scope::{Plan, Scope};
use crate::store::{contacts, link_codes as stored};

/// The outcome of a member's request for a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeMade {
    /// It works.
    Made,
    /// The organization doesn't ask for codes (anymore).
    NotAskedFor,
    /// The participant's address has changed since publication, and no member has confirmed the new one.
    Readdressed,
}

/// Makes a code for the link of a participant, with the id from the form. The previous code ends.
pub async fn create(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    participant: ParticipantId,
    id: Uuid,
    code: &LinkCode,
    keys: &Keyring,
) -> Result<Plan<CodeMade>, Error> {
    let store = scope.store();
    let own = async {
        let access = store.access(agreement, participant);
        tokio::try_join!(access, store.organization()).map_err(Error::from)
    };
    let (agreement, (access, organization)) = tokio::try_join!(found(scope, agreement), own)?;
    let (contact, is_readdressed) = addressee(scope, &agreement, participant, &access).await?;
    if !agreement.was_published() {
        return Err(Error::not_found());
    }
    let shown = [agreement.id().uuid(), participant.uuid(), contact.id.uuid()];
    let plan = |output| Plan::new(scope, output).showing(shown);
    if !organization.asks_for_codes {
        return Ok(plan(CodeMade::NotAskedFor));
    }
    if is_readdressed {
        return Ok(plan(CodeMade::Readdressed));
    }
    let part = Part { organization_id: scope.org(), agreement_id: agreement.id(), participant_id: participant };
    let code = StoredLinkCode::new(keys, part, access.generation, id, code, scope.now())?;
    let created = stored::create(scope.call(), by, &agreement, participant, &code)?;
    Ok(plan(CodeMade::Made).change([created, contacts::check(scope.call(), &contact)]))
}
