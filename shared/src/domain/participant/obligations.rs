//! What the parties of an obligation do through their links.
//!
//! - Decision: either side may declare a trigger, because both can see the event, and the declaration names its author.
//!   Only a promisor claims that an occurrence is done, and only a promisee confirms it or verifies a standing promise.
//! - Decision: in a member's browser, a participant can't confirm what that member recorded or what was said there.

use super::acts::{NotActed, Occasion, consent_of};
use super::receipt::{ObligationAct, Receipt, ReceiptAct};
use super::{ActingParticipant, ByParticipant};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::promise::Side;
use crate::domain::event::EventKind;
use crate::domain::ids::OccurrenceId;
use crate::domain::member::Counting;
use crate::domain::obligation::{Happening, Obligation, ObligationContext, OwnClaim, Refused, Satisfied, Speaker};
use crate::domain::satisfaction::Done;

/// An act on an obligation, which only a participant's session makes, and no token:
///
/// ```
/// use shared::domain::obligation::ObligationContext;
/// use shared::domain::participant::obligations::{ObligationOutcome, record_satisfaction};
/// use shared::domain::participant::{ActingParticipant, Occasion};
/// use shared::domain::satisfaction::Done;
///
/// fn act(
///     by: &ActingParticipant,
///     context: ObligationContext<'_>,
///     form: Occasion,
///     done: Done,
///     statement: String,
/// ) -> ObligationOutcome {
///     record_satisfaction(by, context, form, &[], done, statement)
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::obligation::ObligationContext;
/// use shared::domain::participant::obligations::{ObligationOutcome, record_satisfaction};
/// use shared::domain::participant::Occasion;
/// use shared::domain::satisfaction::Done;
///
/// fn act(
///     by: &WriteCaller,
///     context: ObligationContext<'_>,
///     form: Occasion,
///     done: Done,
///     statement: String,
/// ) -> ObligationOutcome {
///     record_satisfaction(by, context, form, &[], done, statement)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActedOnObligation {
    /// The act's receipt.
    pub receipt: Receipt,
    /// The obligation.
    pub obligation: ByParticipant<Obligation>,
    /// The agreement, if its evidence gained a file.
    pub agreement: Option<ByParticipant<Agreement>>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Why an act on an obligation was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotActedOnObligation {
    /// A reason on the participant's side: [`NotActed::NoConsent`] or [`NotActed::NotAsked`].
    Participant(NotActed),
    /// A reason on the obligation's side.
    Obligation(Refused),
}

impl From<NotActed> for NotActedOnObligation {
    fn from(reason: NotActed) -> Self {
        Self::Participant(reason)
    }
}

impl From<Refused> for NotActedOnObligation {
    fn from(reason: Refused) -> Self {
        Self::Obligation(reason)
    }
}

/// The outcome of an act on an obligation.
pub type ObligationOutcome = Result<ActedOnObligation, NotActedOnObligation>;

/// Declares that a trigger happened. `statement` is the sentence above the button, here and below.
pub fn declare_trigger(
    by: &ActingParticipant,
    context: ObligationContext<'_>,
    occasion: Occasion,
    happened: Happening,
    statement: String,
) -> ObligationOutcome {
    check(by, context, &[Side::Promisor, Side::Promisee])?;
    let after = context.declared(speaker(by, &occasion), happened)?;
    let event = EventKind::ObligationTriggered(after.event_data());
    let did = ObligationAct::DeclaredTrigger { trigger_id: happened.trigger, happened_on: happened.on };
    acted(by, context, occasion, after, did, statement, event)
}

/// Records the promisor's own claim that an occurrence is done. `earlier` are the participant's receipts.
pub fn record_satisfaction(
    by: &ActingParticipant,
    context: ObligationContext<'_>,
    occasion: Occasion,
    earlier: &[Receipt],
    done: Done,
    statement: String,
) -> ObligationOutcome {
    check(by, context, &[Side::Promisor])?;
    let did = ObligationAct::Satisfied { occurrence_id: done.occurrence, how: done.how.clone() };
    let filer = Filer::of_participant(earlier);
    let Satisfied { obligation, agreement } = context.satisfied(speaker(by, &occasion), done, filer)?;
    let event = EventKind::ObligationSatisfied(obligation.event_data());
    let agreement = agreement.map(|agreement| ByParticipant::new(agreement, by, context.moment));
    Ok(ActedOnObligation { agreement, ..acted(by, context, occasion, obligation, did, statement, event)? })
}

/// Checks whether the promisor can record that an occurrence is done, with a file of `file_bytes` not yet stored.
pub fn check_satisfaction(
    by: &ActingParticipant,
    context: ObligationContext<'_>,
    earlier: &[Receipt],
    done: &Done,
    file_bytes: u64,
) -> Result<(), NotActedOnObligation> {
    check(by, context, &[Side::Promisor])?;
    context.to_satisfy(done.occurrence, &done.how, file_bytes, Filer::of_participant(earlier))?;
    Ok(())
}

/// Confirms the promisor's claim of an occurrence. `counting` is for the member whose browser is used, if any.
pub fn confirm_satisfaction(
    by: &ActingParticipant,
    context: ObligationContext<'_>,
    occasion: Occasion,
    counting: Counting,
    occurrence_id: OccurrenceId,
    statement: String,
) -> ObligationOutcome {
    check(by, context, &[Side::Promisee])?;
    let own = if occasion.origin.in_person.is_some() { counting.into() } else { OwnClaim::Refused };
    let after = context.confirmed(speaker(by, &occasion), occurrence_id, own)?;
    let event = EventKind::ObligationConfirmed(after.event_data());
    acted(by, context, occasion, after, ObligationAct::Confirmed { occurrence_id }, statement, event)
}

/// Records the promisee's verification of a standing promise.
pub fn verify_standing(
    by: &ActingParticipant,
    context: ObligationContext<'_>,
    occasion: Occasion,
    occurrence_id: OccurrenceId,
    statement: String,
) -> ObligationOutcome {
    check(by, context, &[Side::Promisee])?;
    let after = context.verified(speaker(by, &occasion), occurrence_id)?;
    let event = EventKind::ObligationConfirmed(after.event_data());
    acted(by, context, occasion, after, ObligationAct::Verified { occurrence_id }, statement, event)
}

fn speaker(by: &ActingParticipant, occasion: &Occasion) -> Speaker {
    Speaker { by: by.actor(), in_person: occasion.origin.in_person.clone() }
}

fn check(by: &ActingParticipant, context: ObligationContext<'_>, sides: &[Side]) -> Result<(), NotActed> {
    let obligation = context.obligation;
    let side = obligation.parties().side(by.id()).filter(|_| obligation.agreement_id() == by.agreement_id());
    if side.is_none_or(|side| !sides.contains(&side)) {
        return Err(NotActed::NotAsked);
    }
    consent_of(by).map(|_| ())
}

fn acted(
    by: &ActingParticipant,
    context: ObligationContext<'_>,
    Occasion { id, origin }: Occasion,
    after: Obligation,
    did: ObligationAct,
    statement: String,
    event: EventKind,
) -> ObligationOutcome {
    let act = ReceiptAct::ActedOnObligation {
        obligation_id: after.id(),
        obligation: after.name().clone(),
        did,
        statement,
        consent: consent_of(by)?,
    };
    let at = context.moment.at();
    let receipt = Receipt { id, participant_id: by.id(), name: by.name().clone(), at, origin, act };
    let obligation = ByParticipant::new(after, by, context.moment);
    Ok(ActedOnObligation { receipt, obligation, agreement: None, events: vec![event] })
}

#[cfg(test)]
mod tests {
    use super::super::receipt::Origin;
    use super::super::session::InPerson;
    use super::*;
    use crate::domain::agreement::DocumentContent;
    use crate::domain::agreement::promise::PromiseTerms;
    use crate::domain::event::EventType;
    use crate::domain::file_type::FileType;
    use crate::domain::ids::ReceiptId;
    use crate::domain::member::{self, Member};
    use crate::domain::movement::evidence::EvidenceFile;
    use crate::domain::movement::safe_text::SafeLine;
    use crate::domain::obligation::fixtures::{World, at, day, member, on, triggered, zone};
    use crate::domain::obligation::{ObligationState, StandingState};
    use crate::domain::satisfaction::Satisfaction;

    const ADA: usize = 0;
    const BEN: usize = 1;
    const EVE: usize = 2;
    const NOW: &str = "2026-06-20T09:00:00Z";

    fn occasion() -> Occasion {
        Occasion { id: ReceiptId::new(), origin: Origin::default() }
    }

    fn with_file(occurrence: OccurrenceId) -> Done {
        let content = DocumentContent { sha256: "ab".repeat(32), size_bytes: 9 };
        let name = SafeLine::parse("delivery.pdf").unwrap();
        let file = Some(EvidenceFile { name, content, file_type: Some(FileType::Pdf) });
        Done { occurrence, how: Satisfaction { done_on: day("2026-06-18"), note: None, file } }
    }

    fn said(text: &str) -> String {
        text.to_owned()
    }

    fn not_asked(outcome: &ObligationOutcome) {
        assert_eq!(*outcome, Err(NotActedOnObligation::Participant(NotActed::NotAsked)));
    }

    #[test]
    fn the_promisor_says_that_it_is_done_and_the_other_side_confirms() {
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let now = at(NOW);
        let occurrence = world.obligation.occurrences(now)[0].id;
        let satisfy = |world: &World, n: usize| {
            let (done, statement) = (with_file(occurrence), said("I have done it."));
            record_satisfaction(&world.participant(n), world.context(now), occasion(), &[], done, statement)
        };
        let confirm = |world: &World, n: usize| {
            let (by, statement) = (world.participant(n), said("I confirm."));
            confirm_satisfaction(&by, world.context(now), occasion(), Counting::Confirmed, occurrence, statement)
        };
        not_asked(&satisfy(&world, ADA));
        not_asked(&satisfy(&world, EVE));
        assert_eq!(confirm(&world, ADA), Err(NotActedOnObligation::Obligation(Refused::NotSatisfied)));
        let claim = satisfy(&world, BEN).unwrap();
        assert_eq!(
            claim.events.iter().map(EventKind::event_type).collect::<Vec<_>>(),
            [EventType::ObligationSatisfied]
        );
        let ReceiptAct::ActedOnObligation { did, statement, .. } = &claim.receipt.act else { panic!("of the act") };
        let how = with_file(occurrence).how;
        assert_eq!(
            (did.clone(), statement.as_str()),
            (ObligationAct::Satisfied { occurrence_id: occurrence, how }, "I have done it.")
        );
        assert_eq!(claim.receipt.file_bytes(), 9, "it counts for the participant");
        let agreement = claim.agreement.as_ref().unwrap();
        assert_eq!(agreement.facts().file_bytes, world.agreement.facts().file_bytes + 9, "and in the evidence");
        let stored: Receipt = serde_json::from_str(&serde_json::to_string(&claim.receipt).unwrap()).unwrap();
        assert_eq!(stored, claim.receipt);
        let world = world.with(&claim.obligation);
        assert_eq!(world.obligation.files_of_members().count(), 0, "a participant’s is in their receipt");
        not_asked(&confirm(&world, BEN));
        not_asked(&confirm(&world, EVE));
        let done = confirm(&world, ADA).unwrap();
        assert_eq!(done.events.iter().map(EventKind::event_type).collect::<Vec<_>>(), [EventType::ObligationConfirmed]);
        assert_eq!(done.obligation.state(), ObligationState::Confirmed);
        let again = confirm(&world.with(&done.obligation), ADA);
        assert_eq!(again, Err(NotActedOnObligation::Obligation(Refused::Done)));
    }

    #[test]
    fn what_is_said_in_a_members_browser_counts_as_theirs_on_both_sides() {
        let (maren, noah, now) = (member("Maren Holt"), member("Noah Reyes"), at(NOW));
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let occurrence = world.obligation.occurrences(now)[0].id;
        let at_home = |host: &Member| {
            let in_person = Some(InPerson { member_id: host.id(), member: host.name().clone() });
            Occasion { id: ReceiptId::new(), origin: Origin { in_person, ..Origin::default() } }
        };
        let confirm = |world: &World, form: Occasion, counting| {
            let (by, statement) = (world.participant(ADA), said("I confirm."));
            confirm_satisfaction(&by, world.context(now), form, counting, occurrence, statement)
        };
        let refused = |outcome: ObligationOutcome, why| assert_eq!(outcome, Err(NotActedOnObligation::Obligation(why)));
        let (done, statement) = (with_file(occurrence), said("I have done it."));
        let (ben, context) = (world.participant(BEN), world.context(now));
        let by_ben = record_satisfaction(&ben, context, at_home(&maren), &[], done, statement);
        let by_ben = world.with(&by_ben.unwrap().obligation);
        let by_maren = member::record_satisfaction(&maren, world.context(now), with_file(occurrence));
        let by_maren = world.with(&by_maren.unwrap().obligation);
        for claimed in [&by_ben, &by_maren] {
            assert_eq!(claimed.obligation.claim_of(occurrence).unwrap().member(), Some(maren.id()));
            let by_member = |by: &Member, counting| {
                member::confirm_satisfaction(by, claimed.context(now), occurrence, counting).map(|_| ())
            };
            assert_eq!(by_member(&maren, Counting::Confirmed), Err(Refused::Own));
            assert_eq!((by_member(&maren, Counting::Alone), by_member(&noah, Counting::Confirmed)), (Ok(()), Ok(())));
            refused(confirm(claimed, at_home(&maren), Counting::Confirmed), Refused::Own);
            refused(confirm(claimed, at_home(&noah), Counting::OneSelf), Refused::OneSelf);
            assert!(confirm(claimed, at_home(&maren), Counting::Alone).is_ok(), "who is alone confirms their own");
            assert!(confirm(claimed, occasion(), Counting::OneSelf).is_ok(), "in a browser of their own");
            let confirmed = confirm(claimed, at_home(&noah), Counting::Confirmed).unwrap().obligation;
            let shown = confirmed.occurrences(now).remove(0).confirmed.unwrap();
            assert_eq!(shown.who(), "Ada, in person, in Noah Reyes’s browser");
        }
    }

    #[test]
    fn either_side_declares_and_only_the_other_side_verifies() {
        let now = at(NOW);
        let world = World::of(triggered(&[7]), &zone("UTC"));
        let trigger = world.obligation.triggers()[0].id;
        for (n, is_party) in [(ADA, true), (BEN, true), (EVE, false)] {
            let (by, happened) = (world.participant(n), Happening { trigger, on: day("2026-06-20") });
            let declared = declare_trigger(&by, world.context(now), occasion(), happened, said("It happened."));
            match declared {
                Ok(done) => assert!(is_party && done.obligation.state() == ObligationState::Open),
                refused => {
                    assert!(!is_party);
                    not_asked(&refused);
                }
            }
        }
        let world = World::of(PromiseTerms::standing(90).unwrap(), &zone("UTC"));
        let occurrence = world.obligation.occurrences(now)[0].id;
        let verify = |n: usize| {
            let statement = said("I have verified it.");
            verify_standing(&world.participant(n), world.context(now), occasion(), occurrence, statement)
        };
        not_asked(&verify(BEN));
        not_asked(&verify(EVE));
        let verified = verify(ADA).unwrap().obligation;
        assert_eq!(verified.standing(now).unwrap().state, StandingState::Holding);
    }

    #[test]
    fn it_takes_the_consent_to_electronic_records_and_a_session_of_this_agreement() {
        let now = at(NOW);
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let occurrence = world.obligation.occurrences(now)[0].id;
        let without = world.participant_with(BEN, None);
        let (done, statement) = (with_file(occurrence), said("I have done it."));
        let context = world.context(now);
        let refused = record_satisfaction(&without, context, occasion(), &[], done.clone(), statement.clone());
        assert_eq!(refused, Err(NotActedOnObligation::Participant(NotActed::NoConsent)));
        let elsewhere = World::of(on(&["2026-06-30"]), &zone("UTC")).participant(BEN);
        not_asked(&record_satisfaction(&elsewhere, context, occasion(), &[], done, statement));
    }
}
