//! What the parties of a payment see and do: the sender claims to have sent it, the receiver that it has arrived.
//!
//! Decision: what a page shows is read together with what all pages of the participant read, including the sealed
//! instructions, which are opened only once the agreement says that the payment is still to be made.

use crate::crypto::keyring::{Keyring, SealError};
use crate::domain::ids::{EvidenceId, MovementId};
use crate::domain::movement::claim::NewClaim;
use crate::domain::movement::evidence::{Evidence, NewEvidence};
use crate::domain::movement::instructions::{BankInstructions, SealedInstructions};
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::movement::{Movement, NotMoved};
use crate::domain::participant::movements::{self as acts, MovementActed, is_filed_by};
use crate::domain::participant::receipt::{Receipt, Repeatable};
use crate::domain::participant::{ActingParticipant, Occasion};
use crate::error::Error;
use crate::service::movements::{Records, found};
use crate::service::participants::{self, ParticipantView, is_party, standing};
use crate::service::scope::{Plan, Scope};
use crate::store::Versioned;
use crate::store::movements as stored;

/// What the page of a payment shows to one of its parties.
#[derive(Debug)]
pub struct OwnPayment {
    /// What all pages of the participant show.
    pub view: ParticipantView,
    /// The payment, as of now.
    pub movement: Movement,
    /// The evidence that the participant filed, oldest first, without others'.
    pub evidence: Vec<Evidence>,
    /// The instructions, if the participant may see them now.
    pub instructions: Option<OwnInstructions>,
}

/// The instructions that the sender may see now, sealed until the page opens them.
#[derive(Debug)]
pub struct OwnInstructions(SealedInstructions);

impl OwnInstructions {
    /// Their revision.
    #[must_use]
    pub fn revision(&self) -> u32 {
        self.0.revision
    }

    /// The instructions in full, for the sender's own page, which records the view.
    pub fn open(&self, keys: &Keyring) -> Result<BankInstructions, SealError> {
        self.0.opened(keys)
    }
}

/// What the page of a payment shows to one of its parties, and to nobody else.
pub async fn page(scope: &Scope, by: &ActingParticipant, id: MovementId) -> Result<OwnPayment, Error> {
    let own = async {
        let (movement, evidence) =
            tokio::try_join!(own(scope, by, id), async { scope.store().evidence_of(id).await.map_err(Error::from) })?;
        let sealed = match movement.instructions_shown_to(by.id()) {
            Some(revision) => scope.store().sealed_instructions(id, revision).await?,
            None => None,
        };
        Ok((movement, evidence, sealed))
    };
    let (view, (movement, mut evidence, sealed)) = tokio::try_join!(participants::view(scope, by), own)?;
    if !view.agreement.was_published() || !is_party(&movement, by.id()) {
        return Err(Error::not_found());
    }
    evidence.retain(|found| is_filed_by(found, by));
    // The agreement may have ended without its payment being written since.
    let movement = movement.as_told(&view.agreement).into_owned();
    let shown = movement.instructions_shown_to(by.id());
    let instructions = sealed.filter(|sealed| shown == Some(sealed.revision)).map(OwnInstructions);
    Ok(OwnPayment { view, movement, evidence, instructions })
}

async fn own(scope: &Scope, by: &ActingParticipant, id: MovementId) -> Result<Versioned<Movement>, Error> {
    let movement = found(scope, id).await?;
    if movement.agreement_id() == by.agreement_id() { Ok(movement) } else { Err(Error::not_found()) }
}

/// The evidence that a participant filed for a payment, for its file.
pub async fn own_evidence(
    scope: &Scope,
    by: &ActingParticipant,
    movement: MovementId,
    id: EvidenceId,
) -> Result<Evidence, Error> {
    let found = async { scope.store().evidence(movement, id).await.map_err(Error::from) };
    let (_, found) = tokio::try_join!(own(scope, by, movement), found)?;
    found.filter(|found| is_filed_by(found, by)).ok_or_else(Error::not_found)
}

/// What a party does about a payment.
#[derive(Debug, Clone)]
pub enum PartyAct {
    /// The sender claims to have sent it, by the revision of the instructions that the page showed.
    ReportSent(u32, NewClaim),
    /// Files evidence: the sender their own word or their bank's document, the receiver that it has arrived.
    FileEvidence(Box<NewEvidence>),
    /// Withdraws evidence that they filed.
    WithdrawEvidence(EvidenceId, SafeNote),
}

/// Does what a party's form asks for.
pub async fn act(
    scope: &Scope,
    by: &ActingParticipant,
    occasion: Occasion,
    id: MovementId,
    act: PartyAct,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let movement = own(scope, by, id).await?;
    if !is_party(&movement, by.id()) {
        return Err(Error::not_found());
    }
    // After the movement, whose version guards what is withdrawn.
    let withdrawn = async {
        match &act {
            PartyAct::WithdrawEvidence(evidence, _) => own_evidence(scope, by, id, *evidence).await.map(Some),
            PartyAct::ReportSent(..) | PartyAct::FileEvidence(_) => Ok(None),
        }
    };
    let (records, (by, receipts), withdrawn) =
        tokio::try_join!(Records::of(scope, movement), standing(scope, by), withdrawn)?;
    let shown = [by.agreement_id().uuid(), by.id().uuid(), id.uuid()];
    let plan = |output| Plan::new(scope, output).decided_at(records.moment).showing(shown);
    let refused = |reason| Ok(plan(Err(reason)));
    if !Repeatable::Payment.has_room(&receipts) {
        return refused(NotMoved::Full);
    }
    let acted = match decide(scope, &by, &receipts, &records, occasion, act, withdrawn.as_ref()) {
        Ok(acted) => acted,
        Err(reason) => return refused(reason),
    };
    let evidence = acted.evidence.as_ref().map(|evidence| evidence.id().uuid());
    let changes = stored::act_of_participant(scope.call(), records.read(), &acted)?;
    Ok(plan(Ok(())).showing(evidence).change(changes).emit(acted.events))
}

fn decide(
    scope: &Scope,
    by: &ActingParticipant,
    receipts: &[Receipt],
    records: &Records,
    occasion: Occasion,
    act: PartyAct,
    evidence: Option<&Evidence>,
) -> Result<MovementActed, NotMoved> {
    let (context, movement) = (records.context(scope), &records.movement);
    match act {
        PartyAct::ReportSent(shown, claim) => acts::report_sent(by, context, occasion, movement, shown, claim),
        PartyAct::FileEvidence(new) => acts::file_own_evidence(by, context, occasion, movement, *new, receipts),
        PartyAct::WithdrawEvidence(_, reason) => {
            let evidence = evidence.ok_or(NotMoved::Unknown)?;
            acts::withdraw_own_evidence(by, context, occasion, movement, evidence, reason)
        }
    }
}
