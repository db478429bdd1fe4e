use super::{MovementChange, changed, changed_with_file, check_room, of_published, stamp};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::files::Filer;
use crate::domain::member::{ByMember, Member};
use crate::domain::movement::evidence::{Evidence, KeyChange, NewEvidence, ReceiverEvidence};
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::movement::source::Side;
use crate::domain::movement::{Arrivals, Movement, MovementWithEvidence, NotMoved};

/// Evidence that was filed or decided, and the effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceChange {
    /// The movement and the agreement.
    pub change: MovementChange,
    /// The evidence.
    pub evidence: ByMember<Evidence>,
    /// The unique keys that the transaction claims and releases.
    pub keys: KeyChange,
}

/// Files evidence.
pub fn file_evidence(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    new: NewEvidence,
) -> Result<EvidenceChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let bytes = check_room(context, &new, Filer::Member)?;
    let MovementWithEvidence { movement: after, evidence, keys } = movement.file(new, stamp(by, context))?;
    let change = changed_with_file(by, context, movement, after, bytes);
    Ok(EvidenceChange { change, evidence: ByMember::new(evidence, by, context.moment), keys })
}

/// Resolves a movement's exception for not having arrived, and files receiver-side evidence.
pub fn resolve_and_file(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    new: NewEvidence,
) -> Result<EvidenceChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    if new.source().side() == Side::Sender {
        return Err(NotMoved::SendersSide);
    }
    let bytes = check_room(context, &new, Filer::Member)?;
    let MovementWithEvidence { movement: after, evidence, keys } =
        movement.resolve_not_received(&stamp(by, context))?.file(new, stamp(by, context))?;
    let change = changed_with_file(by, context, movement, after, bytes);
    Ok(EvidenceChange { change, evidence: ByMember::new(evidence, by, context.moment), keys })
}

/// Accepts evidence, which then counts as an arrival; the movement is reconciled once the sum reaches the amount.
/// `besides` was accepted before, `arrivals` says whether it is a separate one. Only receiver-side evidence is taken:
///
/// ```compile_fail
/// use shared::domain::agreement::context::AgreementContext;
/// use shared::domain::member::movements::{EvidenceChange, accept_evidence};
/// use shared::domain::member::Member;
/// use shared::domain::movement::evidence::SenderEvidence;
/// use shared::domain::movement::{Arrivals, Movement};
///
/// fn accept(
///     by: &Member,
///     context: AgreementContext<'_>,
///     movement: &Movement,
///     sent: SenderEvidence,
/// ) -> Option<EvidenceChange> {
///     accept_evidence(by, context, movement, sent, &[], Arrivals::One).ok()
/// }
/// ```
///
/// ```
/// use shared::domain::agreement::context::AgreementContext;
/// use shared::domain::member::movements::{EvidenceChange, accept_evidence};
/// use shared::domain::member::Member;
/// use shared::domain::movement::evidence::ReceiverEvidence;
/// use shared::domain::movement::{Arrivals, Movement};
///
/// fn accept(
///     by: &Member,
///     context: AgreementContext<'_>,
///     movement: &Movement,
///     arrived: ReceiverEvidence,
/// ) -> Option<EvidenceChange> {
///     accept_evidence(by, context, movement, arrived, &[], Arrivals::One).ok()
/// }
/// ```
pub fn accept_evidence(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    evidence: ReceiverEvidence,
    besides: &[Evidence],
    arrivals: Arrivals,
) -> Result<EvidenceChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let judged = movement.accept(evidence, besides, arrivals, stamp(by, context))?;
    Ok(evidence_changed(by, context, movement, judged))
}

/// Rejects undecided evidence.
pub fn reject_evidence(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    evidence: &Evidence,
    reason: SafeNote,
) -> Result<EvidenceChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let judged = movement.reject(evidence, reason, stamp(by, context))?;
    Ok(evidence_changed(by, context, movement, judged))
}

/// Withdraws evidence, accepted or not. A movement that it had reconciled becomes an exception.
pub fn withdraw_evidence(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    evidence: &Evidence,
    reason: SafeNote,
) -> Result<EvidenceChange, NotMoved> {
    let movement = &*of_published(context, movement)?;
    let judged = movement.withdraw(evidence, reason, stamp(by, context))?;
    Ok(evidence_changed(by, context, movement, judged))
}

fn evidence_changed(
    by: &Member,
    context: AgreementContext<'_>,
    before: &Movement,
    judged: MovementWithEvidence,
) -> EvidenceChange {
    let MovementWithEvidence { movement: after, evidence, keys } = judged;
    let evidence = ByMember::new(evidence, by, context.moment);
    EvidenceChange { change: changed(by, context, before, after), evidence, keys }
}
