//! What the parties of a payment see and do on their own pages: the sender says that they sent it, the receiver that it has
//! arrived, which a member still has to accept.

use crate::crypto::keyring::Keyring;
use crate::domain::ids::MovementId;
use crate::domain::movement::claim::NewClaim;
use crate::domain::movement::evidence::NewEvidence;
use crate::domain::movement::instructions::BankInstructions;
use crate::domain::movement::{Movement, NotMoved};
use crate::domain::participant::movements::{self as acts, MovementActed};
use crate::domain::participant::receipt::{Receipt, ReceiptAct};
use crate::domain::participant::{ActingParticipant, Occasion};
use crate::error::Error;
use crate::limits;
use crate::service::agreements::found as found_agreement;
use crate::service::movements::{NotFiled, Records, found, holder_elsewhere, opened};
use crate::service::participants::standing;
use crate::service::scope::{Plan, Scope};
use crate::store::Versioned;
use crate::store::movements as stored;

/// The movements of the participant's agreement in which they are the sender or the receiver, in the order of their ids.
/// Nothing is read beyond the agreement if it has none.
///
/// # Errors
/// [`Error::NotFound`] when there is no such agreement.
pub async fn of_participant(scope: &Scope, by: &ActingParticipant) -> Result<Vec<Movement>, Error> {
    let agreement = found_agreement(scope, by.agreement_id()).await?;
    if !agreement.was_published() {
        return Ok(Vec::new());
    }
    let movements = scope.store().movements(agreement.movements().keys().copied()).await?;
    let is_party = |movement: &Movement| {
        let terms = movement.terms();
        [terms.sender, terms.receiver].contains(&Some(by.id()))
    };
    Ok(movements.into_iter().map(Versioned::into_inner).filter(is_party).collect())
}

/// A movement in which the participant is a party.
///
/// # Errors
/// [`Error::NotFound`] when there is no such movement, also for those who are no party.
pub async fn get(scope: &Scope, by: &ActingParticipant, id: MovementId) -> Result<Movement, Error> {
    let movement = own(scope, by, id).await?;
    let terms = movement.terms();
    if [terms.sender, terms.receiver].contains(&Some(by.id())) {
        Ok(movement.into_inner())
    } else {
        Err(Error::not_found())
    }
}

/// A movement of the participant's agreement.
async fn own(scope: &Scope, by: &ActingParticipant, id: MovementId) -> Result<Versioned<Movement>, Error> {
    let movement = found(scope, id).await?;
    if movement.agreement_id() == by.agreement_id() { Ok(movement) } else { Err(Error::not_found()) }
}

/// The instructions in full, with their revision: for the sender, while they are released and nobody has said that the money
/// was sent. None otherwise. The page's own audit row is the record of the view.
///
/// # Errors
/// [`Error::NotFound`] when there is no such movement, and when the keys can't be read now.
pub async fn instructions(
    scope: &Scope,
    by: &ActingParticipant,
    keys: &Keyring,
    id: MovementId,
) -> Result<Option<(u32, BankInstructions)>, Error> {
    let movement = own(scope, by, id).await?;
    let agreement = found_agreement(scope, by.agreement_id()).await?;
    let current = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
    // Of an agreement that has ended, the movement's own record may not say so yet.
    let is_live = current.movement_state(id) == Some(movement.state());
    let Some(revision) = movement.instructions_shown_to(by.id()).filter(|_| is_live) else { return Ok(None) };
    let shown = opened(scope, keys, (id, revision)).await?;
    Ok(shown.map(|instructions| (revision, instructions)))
}

/// What a party does about a payment.
#[derive(Debug, Clone)]
pub enum PartyAct {
    /// The sender says that they sent it.
    ReportSent(NewClaim),
    /// Files evidence: the sender their own word or their bank's document, the receiver that it has arrived.
    FileEvidence(NewEvidence),
}

/// Does what a party's form asks for. A form that is sent twice, also at once, does it once.
///
/// # Errors
/// [`Error::Unauthenticated`] when the link was reissued meanwhile, [`Error::NotFound`] when their agreement has no such
/// movement.
pub async fn act(
    scope: &Scope,
    by: &ActingParticipant,
    occasion: Occasion,
    (id, act): (MovementId, PartyAct),
) -> Result<Plan<Result<(), NotFiled>>, Error> {
    let movement = own(scope, by, id).await?;
    // After the movement: a form that was done by then has left its receipt.
    let (records, (by, receipts)) = tokio::try_join!(Records::of(scope, movement), standing(scope, by))?;
    let shown = [by.agreement_id().uuid(), by.id().uuid(), id.uuid()];
    let plan = |output| Plan::new(scope, output).decided_at(records.moment).showing(shown);
    let refused = |reason| Ok(plan(Err(NotFiled::Refused(reason))));
    if let Some(receipt) = receipts.iter().find(|receipt| receipt.id == occasion.id) {
        return if is_of(receipt, id, &act) { Ok(plan(Ok(()))) } else { refused(NotMoved::FiledAlready) };
    }
    if receipts.len() >= limits::RECEIPTS_PER_PARTICIPANT_MAX {
        return refused(NotMoved::Full);
    }
    let acted = match decide(scope, &by, &records, (occasion, act)) {
        Ok(acted) => acted,
        Err(reason) => return refused(reason),
    };
    if let Some(holder) = holder_elsewhere(scope, id, &acted.keys.claimed).await? {
        return Ok(plan(Err(NotFiled::Elsewhere(holder))));
    }
    let filed = acted.evidence.as_ref().map(|evidence| evidence.id().uuid());
    let changes = stored::act_of_participant(scope.call(), records.read(), &acted)?;
    Ok(plan(Ok(())).showing(filed).change(changes).emit(acted.events))
}

fn decide(
    scope: &Scope,
    by: &ActingParticipant,
    records: &Records,
    (occasion, act): (Occasion, PartyAct),
) -> Result<MovementActed, NotMoved> {
    let (ground, movement) = (records.ground(scope), &records.movement);
    match act {
        PartyAct::ReportSent(claim) => acts::report_sent(by, ground, occasion, movement, claim),
        PartyAct::FileEvidence(new) => acts::file_own_evidence(by, ground, occasion, movement, new),
    }
}

/// Whether a receipt is that of an act on a movement.
fn is_of(receipt: &Receipt, id: MovementId, act: &PartyAct) -> bool {
    match (&receipt.act, act) {
        (ReceiptAct::ReportedSent { movement_id, .. }, PartyAct::ReportSent(_)) => *movement_id == id,
        (ReceiptAct::FiledEvidence { movement_id, evidence_id, .. }, PartyAct::FileEvidence(new)) => {
            *movement_id == id && *evidence_id == new.id()
        }
        _ => false,
    }
}
