//! What the parties of a payment do on their pages. A member accepts their evidence; until then, they can withdraw it.
//!
//! Decision: a report names the instructions' revision: who paid by old ones must learn of that before recording.

use super::acts::Occasion;
use super::receipt::{Receipt, ReceiptAct};
use super::{ActingParticipant, ByParticipant};
use crate::domain::actor::ActorType;
use crate::domain::agreement::Agreement;
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::files::Filer;
use crate::domain::event::EventKind;
use crate::domain::ids::ReceiptId;
use crate::domain::member::movements::{check_room, follow, of_published};
use crate::domain::movement::claim::NewClaim;
use crate::domain::movement::evidence::{Evidence, EvidenceFacts, KeyChange, NewEvidence};
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::movement::source::{ChosenSource, EvidenceSource, ReceiverSource, Side};
use crate::domain::movement::{Movement, MovementWithEvidence, NotMoved, Stamp};

/// A participant's act on a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementActed {
    /// The act's receipt.
    pub receipt: Receipt,
    /// The movement.
    pub movement: ByParticipant<Movement>,
    /// The agreement that follows it.
    pub agreement: ByParticipant<Agreement>,
    /// The evidence filed or withdrawn, if any.
    pub evidence: Option<ByParticipant<Evidence>>,
    /// The unique keys that the transaction claims and releases.
    pub keys: KeyChange,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Records the sender's claim that they sent the money, by revision `shown` of the instructions.
pub fn report_sent(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    movement: &Movement,
    shown: u32,
    claim: NewClaim,
) -> Result<MovementActed, NotMoved> {
    let movement = &*of_published(context, movement)?;
    if movement.sender()? != by.id() {
        return Err(NotMoved::NotAsked);
    }
    // In any state: changed instructions withdraw the release, or raise an exception.
    if movement.instructions().is_some_and(|instructions| instructions.revision != shown) {
        return Err(NotMoved::InstructionsChanged);
    }
    let consent = consent_of(by)?;
    let after = movement.report(claim.clone(), stamp(by, context))?;
    let after = after.reported_in_browser_of(occasion.origin.in_person.clone());
    let act = ReceiptAct::ReportedSent { movement_id: movement.id(), claim: claim.into(), consent };
    Ok(acted(by, context, occasion, act, movement, after, 0))
}

/// Files evidence: the sender's own or their bank's word, or the receiver's. `earlier` are the participant's receipts.
pub fn file_own_evidence(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    movement: &Movement,
    new: NewEvidence,
    earlier: &[Receipt],
) -> Result<MovementActed, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let is_own_source = |source| own_sources(movement, by).any(|own| own.source() == source);
    if own_sources(movement, by).next().is_none() {
        return Err(NotMoved::NotAsked);
    }
    if !is_own_source(new.source()) {
        return Err(NotMoved::WrongSource);
    }
    // A member with the link and the browser could accept it too, so this isn't the recipient's word.
    if new.source().side() == Side::Receiver && occasion.origin.in_person.is_some() {
        return Err(NotMoved::InPerson);
    }
    let consent = consent_of(by)?;
    let bytes = check_room(context, &new, Filer::of_participant(earlier))?;
    let MovementWithEvidence { movement: after, evidence, keys } = movement.file(new, stamp(by, context))?;
    let evidence = evidence.filed_in_browser_of(occasion.origin.in_person.clone());
    let EvidenceFacts { money, value_day, file, .. } = evidence.facts().clone();
    let act = ReceiptAct::FiledEvidence {
        movement_id: movement.id(),
        evidence_id: evidence.id(),
        source: evidence.source(),
        money,
        value_day,
        file: file.map(|file| file.content),
        consent,
    };
    let evidence = Some(ByParticipant::new(evidence, by, context.moment));
    Ok(MovementActed { evidence, keys, ..acted(by, context, occasion, act, movement, after, bytes) })
}

/// Withdraws the participant's own evidence before a member decides: it never counted.
pub fn withdraw_own_evidence(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    movement: &Movement,
    evidence: &Evidence,
    reason: SafeNote,
) -> Result<MovementActed, NotMoved> {
    let movement = &*of_published(context, movement)?;
    if !is_filed_by(evidence, by) {
        return Err(NotMoved::NotAsked);
    }
    if !evidence.is_undecided() {
        return Err(NotMoved::Decided);
    }
    let consent = consent_of(by)?;
    let judged = movement.withdraw(evidence, reason.clone(), stamp(by, context))?;
    let MovementWithEvidence { movement: after, evidence: withdrawn, keys } = judged;
    let act = ReceiptAct::WithdrewEvidence { movement_id: movement.id(), evidence_id: evidence.id(), reason, consent };
    let evidence = Some(ByParticipant::new(withdrawn, by, context.moment));
    Ok(MovementActed { evidence, keys, ..acted(by, context, occasion, act, movement, after, 0) })
}

/// Whether a participant filed evidence.
#[must_use]
pub fn is_filed_by(evidence: &Evidence, by: &ActingParticipant) -> bool {
    evidence.filed_by().is(ActorType::Participant, by.id().uuid())
}

/// The sources from which a participant may file evidence for a movement.
pub fn own_sources(movement: &Movement, by: &ActingParticipant) -> impl Iterator<Item = ChosenSource> {
    let terms = movement.terms();
    let (is_sender, is_receiver) = (terms.sender == Some(by.id()), terms.receiver == Some(by.id()));
    ChosenSource::all().filter(move |chosen| match chosen.source() {
        EvidenceSource::Sender(_) => is_sender,
        EvidenceSource::Receiver(source) => is_receiver && source == ReceiverSource::RecipientConfirmation,
    })
}

fn consent_of(by: &ActingParticipant) -> Result<ReceiptId, NotMoved> {
    by.access().consent.ok_or(NotMoved::NoConsent)
}

fn stamp(by: &ActingParticipant, context: AgreementContext<'_>) -> Stamp {
    Stamp::new(by.actor(), context.moment.at())
}

fn acted(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    Occasion { id, origin }: Occasion,
    act: ReceiptAct,
    before: &Movement,
    after: Movement,
    file_bytes: u64,
) -> MovementActed {
    let receipt =
        Receipt { id, participant_id: by.id(), name: by.name().clone(), at: context.moment.at(), origin, act };
    let (agreement, events) = follow(context, before, &after, file_bytes);
    MovementActed {
        receipt,
        movement: ByParticipant::new(after, by, context.moment),
        agreement: ByParticipant::new(agreement, by, context.moment),
        evidence: None,
        keys: KeyChange::default(),
        events,
    }
}
