//! What the parties of a payment do on their own pages: the sender says that they sent it, and hands in what their bank
//! says; the receiver says that it has arrived, which a member still has to accept.

use super::acts::Occasion;
use super::receipt::{Receipt, ReceiptAct};
use super::{ActingParticipant, ByParticipant};
use crate::domain::agreement::Agreement;
use crate::domain::event::EventKind;
use crate::domain::ids::ReceiptId;
use crate::domain::member::movements::{Ground, check_published, follow};
use crate::domain::movement::claim::NewClaim;
use crate::domain::movement::evidence::{Evidence, EvidenceFacts, KeyChange, NewEvidence};
use crate::domain::movement::source::{ChosenSource, EvidenceSource, ReceiverSource};
use crate::domain::movement::{Movement, NotMoved, Stamp};

/// What a participant did about a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementActed {
    /// What the act leaves behind.
    pub receipt: Receipt,
    /// The movement.
    pub movement: ByParticipant<Movement>,
    /// The agreement that follows it.
    pub agreement: ByParticipant<Agreement>,
    /// The evidence that was filed, if any was.
    pub evidence: Option<ByParticipant<Evidence>>,
    /// The unique keys that the transaction claims.
    pub keys: KeyChange,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Records that the sender says they sent the money: a claim.
///
/// # Errors
/// [`NotMoved`].
pub fn report_sent(
    by: &ActingParticipant,
    ground: Ground<'_>,
    occasion: Occasion,
    movement: &Movement,
    claim: NewClaim,
) -> Result<MovementActed, NotMoved> {
    check_published(ground, movement)?;
    if movement.sender()? != by.id() {
        return Err(NotMoved::NotAsked);
    }
    let consent = consent_of(by)?;
    let after = movement.report(claim.clone(), stamp(by, ground))?;
    let act = ReceiptAct::ReportedSent { movement_id: movement.id(), claim: claim.into(), consent };
    Ok(acted(by, ground, (occasion, act), movement, (after, None)))
}

/// Files evidence: the sender what they or their bank say, the receiver their own confirmation that it has arrived.
///
/// # Errors
/// [`NotMoved`].
pub fn file_own_evidence(
    by: &ActingParticipant,
    ground: Ground<'_>,
    occasion: Occasion,
    movement: &Movement,
    new: NewEvidence,
) -> Result<MovementActed, NotMoved> {
    check_published(ground, movement)?;
    let is_own_source = |source| own_sources(movement, by).any(|own| own.source() == source);
    if own_sources(movement, by).next().is_none() {
        return Err(NotMoved::NotAsked);
    }
    if !is_own_source(new.source()) {
        return Err(NotMoved::WrongSource);
    }
    let consent = consent_of(by)?;
    let (after, evidence, keys) = movement.file(new, stamp(by, ground))?;
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
    Ok(acted(by, ground, (occasion, act), movement, (after, Some((evidence, keys)))))
}

/// The sources whose evidence a participant may file for a movement.
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

fn stamp(by: &ActingParticipant, (_, _, moment): Ground<'_>) -> Stamp {
    Stamp::new(by.actor(), moment.at())
}

fn acted(
    by: &ActingParticipant,
    ground: Ground<'_>,
    (Occasion { id, origin }, act): (Occasion, ReceiptAct),
    before: &Movement,
    (after, filed): (Movement, Option<(Evidence, KeyChange)>),
) -> MovementActed {
    let (_, _, moment) = ground;
    let receipt = Receipt { id, participant_id: by.id(), name: by.name().clone(), at: moment.at(), origin, act };
    let (agreement, events) = follow(ground, before, &after);
    let (evidence, keys) = filed.unzip();
    MovementActed {
        receipt,
        movement: ByParticipant::new(after, by, moment),
        agreement: ByParticipant::new(agreement, by, moment),
        evidence: evidence.map(|evidence| ByParticipant::new(evidence, by, moment)),
        keys: keys.unwrap_or_default(),
        events,
    }
}
