//! What members do about obligations, on their own behalf or for a participant who told them.
//!
//! Decision: members may do what either side may (declare, record as done, confirm, verify), but don't confirm what
//! they recorded themselves, to keep claim and confirmation apart. Only members cancel.

use super::{ByMember, Counting, Member};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::files::Filer;
use crate::domain::event::EventKind;
use crate::domain::ids::OccurrenceId;
use crate::domain::note::Note;
use crate::domain::obligation::{Happening, Obligation, ObligationContext, OwnClaim, Refused, Satisfied};
use crate::domain::satisfaction::Done;

/// An obligation after a member's act.
///
/// Acts take no caller other than a member:
///
/// ```
/// use shared::domain::member::{self, Counting, Member, ObligationChange};
/// use shared::domain::obligation::{ObligationContext, Happening, Refused};
/// use shared::domain::note::Note;
/// use shared::domain::satisfaction::Done;
///
/// type Act = Result<ObligationChange, Refused>;
///
/// fn acts(by: &Member, context: ObligationContext<'_>, trigger: Happening, done: Done, reason: Note) -> [Act; 5] {
///     let occurrence = done.occurrence;
///     [
///         member::declare_trigger(by, context, trigger),
///         member::record_satisfaction(by, context, done),
///         member::confirm_satisfaction(by, context, occurrence, Counting::Confirmed),
///         member::verify_standing(by, context, occurrence),
///         member::cancel_obligation(by, context, reason),
///     ]
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::member::{self, ObligationChange};
/// use shared::domain::obligation::{ObligationContext, Happening, Refused};
///
/// fn declare(
///     by: &WriteCaller,
///     context: ObligationContext<'_>,
///     trigger: Happening,
/// ) -> Result<ObligationChange, Refused> {
///     member::declare_trigger(by, context, trigger)
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::member::{self, ObligationChange};
/// use shared::domain::obligation::{ObligationContext, Refused};
/// use shared::domain::satisfaction::Done;
///
/// fn satisfy(by: &WriteCaller, context: ObligationContext<'_>, done: Done) -> Result<ObligationChange, Refused> {
///     member::record_satisfaction(by, context, done)
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::ids::OccurrenceId;
/// use shared::domain::member::{self, Counting, ObligationChange};
/// use shared::domain::obligation::{ObligationContext, Refused};
///
/// fn confirm(
///     by: &WriteCaller,
///     context: ObligationContext<'_>,
///     occurrence: OccurrenceId,
/// ) -> Result<ObligationChange, Refused> {
///     member::confirm_satisfaction(by, context, occurrence, Counting::Confirmed)
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::ids::OccurrenceId;
/// use shared::domain::member::{self, ObligationChange};
/// use shared::domain::obligation::{ObligationContext, Refused};
///
/// fn verify(
///     by: &WriteCaller,
///     context: ObligationContext<'_>,
///     occurrence: OccurrenceId,
/// ) -> Result<ObligationChange, Refused> {
///     member::verify_standing(by, context, occurrence)
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::member::{self, ObligationChange};
/// use shared::domain::obligation::{ObligationContext, Refused};
/// use shared::domain::note::Note;
///
/// fn cancel(by: &WriteCaller, context: ObligationContext<'_>, reason: Note) -> Result<ObligationChange, Refused> {
///     member::cancel_obligation(by, context, reason)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObligationChange {
    /// The obligation.
    pub obligation: ByMember<Obligation>,
    /// The agreement, if its evidence gained a file.
    pub agreement: Option<ByMember<Agreement>>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Declares that a trigger happened, unless it was already declared.
pub fn declare_trigger(
    by: &Member,
    context: ObligationContext<'_>,
    happened: Happening,
) -> Result<ObligationChange, Refused> {
    let after = context.declared(by.actor().into(), happened)?;
    let event = EventKind::ObligationTriggered(after.event_data());
    Ok(changed(by, context, after, Some(event)))
}

/// Records the promisor's claim that an occurrence is done.
pub fn record_satisfaction(
    by: &Member,
    context: ObligationContext<'_>,
    done: Done,
) -> Result<ObligationChange, Refused> {
    let Satisfied { obligation, agreement } = context.satisfied(by.actor().into(), done, Filer::Member)?;
    let event = EventKind::ObligationSatisfied(obligation.event_data());
    let agreement = agreement.map(|agreement| ByMember::new(agreement, by, context.moment));
    Ok(ObligationChange { agreement, ..changed(by, context, obligation, Some(event)) })
}

/// Checks whether a member can record that an occurrence is done, with a file of `file_bytes` that is not yet stored.
pub fn check_satisfaction(context: ObligationContext<'_>, done: &Done, file_bytes: u64) -> Result<(), Refused> {
    context.to_satisfy(done.occurrence, &done.how, file_bytes, Filer::Member).map(|_| ())
}

impl From<Counting> for OwnClaim {
    fn from(counting: Counting) -> Self {
        match counting {
            Counting::Confirmed => Self::Refused,
            Counting::OneSelf => Self::OfOneSelf,
            Counting::Alone => Self::Allowed,
        }
    }
}

/// Confirms the claim that an occurrence is done. `counting`: whether another member must confirm this one's record.
pub fn confirm_satisfaction(
    by: &Member,
    context: ObligationContext<'_>,
    occurrence: OccurrenceId,
    counting: Counting,
) -> Result<ObligationChange, Refused> {
    let after = context.confirmed(by.actor().into(), occurrence, counting.into())?;
    let event = EventKind::ObligationConfirmed(after.event_data());
    Ok(changed(by, context, after, Some(event)))
}

/// Records the verification of a standing promise.
pub fn verify_standing(
    by: &Member,
    context: ObligationContext<'_>,
    occurrence: OccurrenceId,
) -> Result<ObligationChange, Refused> {
    let after = context.verified(by.actor().into(), occurrence)?;
    let event = EventKind::ObligationConfirmed(after.event_data());
    Ok(changed(by, context, after, Some(event)))
}

/// Cancels an unconfirmed obligation. The specification has no event for it.
pub fn cancel_obligation(
    by: &Member,
    context: ObligationContext<'_>,
    reason: Note,
) -> Result<ObligationChange, Refused> {
    let after = context.cancelled(by.actor(), reason)?;
    Ok(changed(by, context, after, None))
}

fn changed(
    by: &Member,
    context: ObligationContext<'_>,
    after: Obligation,
    event: Option<EventKind>,
) -> ObligationChange {
    let obligation = ByMember::new(after, by, context.moment);
    ObligationChange { obligation, agreement: None, events: event.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::promise::PromiseTerms;
    use crate::domain::agreement::{DocumentContent, Lifecycle};
    use crate::domain::event::EventType;
    use crate::domain::file_type::FileType;
    use crate::domain::ids::TriggerId;
    use crate::domain::movement::evidence::EvidenceFile;
    use crate::domain::movement::safe_text::SafeLine;
    use crate::domain::obligation::fixtures::{World, at, day, done, every, member, on, triggered, zone};
    use crate::domain::obligation::{ObligationState, OccurrenceState, Speaker, StandingState};
    use crate::domain::participant::session::InPerson;
    use crate::domain::recurrence::{RecurrenceEnd, RecurrenceUnit};
    use crate::domain::satisfaction::{Satisfaction, SatisfactionNote};
    use crate::domain::time::Timestamp;
    use crate::limits;

    const NOW: &str = "2026-06-20T09:00:00Z";

    fn happened(trigger: TriggerId) -> Happening {
        Happening { trigger, on: day("2026-06-20") }
    }

    fn file(size_bytes: u64) -> EvidenceFile {
        let name = SafeLine::parse("delivery.pdf").unwrap();
        let content = DocumentContent { sha256: "ab".repeat(32), size_bytes };
        EvidenceFile { name, content, file_type: Some(FileType::Pdf) }
    }

    fn reason() -> Note {
        Note::parse("It was waived.").unwrap()
    }

    fn occurrence(world: &World, n: usize) -> OccurrenceId {
        world.obligation.occurrences(at(NOW))[n].id
    }

    fn went_on(world: &World, done: Result<ObligationChange, Refused>, event: EventType) -> World {
        let done = done.unwrap();
        assert_eq!(done.events.iter().map(EventKind::event_type).collect::<Vec<_>>(), [event]);
        world.with(&done.obligation)
    }

    fn said(world: &World, by: &Member, n: usize, now: Timestamp) -> World {
        let satisfied = record_satisfaction(by, world.context(now), done(occurrence(world, n)));
        went_on(world, satisfied, EventType::ObligationSatisfied)
    }

    #[test]
    fn a_claim_is_confirmed_by_another_member_and_only_once() {
        let (maren, noah, now) = (member("Maren Holt"), member("Noah Reyes"), at(NOW));
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let first = occurrence(&world, 0);
        let confirm =
            |world: &World, by: &Member| confirm_satisfaction(by, world.context(now), first, Counting::Confirmed);
        assert_eq!(confirm(&world, &noah), Err(Refused::NotSatisfied), "there is no claim yet");
        let claimed = said(&world, &maren, 0, now);
        assert_eq!(claimed.obligation.state(), ObligationState::Satisfied);
        assert_eq!(record_satisfaction(&noah, claimed.context(now), done(first)), Err(Refused::Done));
        assert_eq!(confirm(&claimed, &maren), Err(Refused::Own));
        let confirmed = went_on(&claimed, confirm(&claimed, &noah), EventType::ObligationConfirmed);
        assert_eq!(confirmed.obligation.state(), ObligationState::Confirmed);
        assert_eq!(confirm(&confirmed, &member("Third")), Err(Refused::Done), "two at once: the second is told");
        let [shown] = &confirmed.obligation.occurrences(now)[..] else { panic!("one occurrence") };
        let who = |word: &Option<crate::domain::obligation::Word>| word.as_ref().unwrap().by.clone();
        assert_eq!((who(&shown.satisfied), who(&shown.confirmed)), (maren.actor(), noah.actor()));
        assert_eq!(cancel_obligation(&maren, confirmed.context(now), reason()), Err(Refused::Confirmed));
    }

    #[test]
    fn the_only_member_confirms_what_they_recorded_but_as_an_act_of_its_own() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let world = said(&World::of(on(&["2026-06-30"]), &zone("UTC")), &maren, 0, now);
        assert_eq!(world.obligation.state(), ObligationState::Satisfied, "a claim does not confirm itself");
        let confirmed = confirm_satisfaction(&maren, world.context(now), occurrence(&world, 0), Counting::Alone);
        let confirmed = went_on(&world, confirmed, EventType::ObligationConfirmed);
        assert_eq!(confirmed.obligation.state(), ObligationState::Confirmed);
    }

    #[test]
    fn a_trigger_is_declared_once_and_starts_its_own_days() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let world = World::of(triggered(&[90, 0]), &zone("America/New_York"));
        let [slow, quick] = [0, 1].map(|n: usize| world.obligation.triggers()[n].id);
        assert_eq!((world.obligation.state(), world.obligation.next_due_at()), (ObligationState::Dormant, None));
        assert_eq!(declare_trigger(&maren, world.context(now), happened(TriggerId::new())), Err(Refused::Unknown));
        let one = declare_trigger(&maren, world.context(now), happened(slow));
        let one = went_on(&world, one, EventType::ObligationTriggered);
        assert_eq!(declare_trigger(&maren, one.context(now), happened(slow)), Err(Refused::Done));
        assert_eq!(
            (one.obligation.state(), one.obligation.next_due_at()),
            (ObligationState::Open, Some(at("2026-09-19T03:59:59.999Z")))
        );
        let one = said(&one, &maren, 0, now);
        assert_eq!(one.obligation.state(), ObligationState::Open);
        let noah = member("Noah Reyes");
        let confirmed = confirm_satisfaction(&noah, one.context(now), occurrence(&one, 0), Counting::Confirmed);
        let rests = went_on(&one, confirmed, EventType::ObligationConfirmed);
        assert_eq!(rests.obligation.state(), ObligationState::Dormant);
        let both = went_on(
            &rests,
            declare_trigger(&maren, rests.context(now), happened(quick)),
            EventType::ObligationTriggered,
        );
        assert_eq!(both.obligation.next_due_at(), Some(at("2026-06-21T03:59:59.999Z")), "the same day");
        let sequences: Vec<u32> = both.obligation.occurrences(now).iter().map(|found| found.sequence).collect();
        assert_eq!(sequences, [1, 2], "in the order of the declarations");
        assert_eq!(both.obligation.triggers()[0].declared.as_ref().unwrap().by, maren.actor());
    }

    #[test]
    fn days_count_from_when_a_trigger_happened_which_is_not_in_the_future() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let world = World::of(triggered(&[10]), &zone("America/New_York"));
        let trigger = world.obligation.triggers()[0].id;
        let on = |text: &str| declare_trigger(&maren, world.context(now), Happening { trigger, on: day(text) });
        assert_eq!(on("2026-06-21"), Err(Refused::InFuture));
        let recent = world.with(&on("2026-06-18").unwrap().obligation);
        assert_eq!(recent.obligation.next_due_at(), Some(at("2026-06-29T03:59:59.999Z")));
        assert_eq!(recent.obligation.triggers()[0].happened_on, Some(day("2026-06-18")));
        let late = world.with(&on("2026-06-01").unwrap().obligation);
        let states: Vec<OccurrenceState> = late.obligation.occurrences(now).iter().map(|found| found.state).collect();
        assert_eq!(states, [OccurrenceState::Overdue], "declared late, it is overdue at once");
    }

    #[test]
    fn a_trigger_did_not_happen_long_before_it_was_agreed() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let world = World::of(triggered(&[30]), &zone("America/New_York"));
        let trigger = world.obligation.triggers()[0].id;
        let declare =
            |on: &str| declare_trigger(&maren, world.context(now), Happening { trigger, on: day(on) }).map(|_| ());
        // In force since March 14.
        assert_eq!((declare("2025-03-13"), declare("2025-03-12")), (Ok(()), Err(Refused::TooEarly)));
        assert_eq!((declare("1900-01-01"), declare("2026-06-21")), (Err(Refused::TooEarly), Err(Refused::InFuture)));
    }

    #[test]
    fn what_is_done_early_is_recorded_early() {
        let (maren, noah, now) = (member("Maren Holt"), member("Noah Reyes"), at(NOW));
        let monthly = every(RecurrenceUnit::Month, "2026-06-30", RecurrenceEnd::Never);
        let world = World::of(monthly, &zone("UTC"));
        let later = world.obligation.occurrences(now)[1].clone();
        assert_eq!(later.state, OccurrenceState::Upcoming);
        let claimed = record_satisfaction(&maren, world.context(now), done(later.id));
        let claimed = went_on(&world, claimed, EventType::ObligationSatisfied);
        let confirmed = confirm_satisfaction(&noah, claimed.context(now), later.id, Counting::Confirmed);
        let confirmed = went_on(&claimed, confirmed, EventType::ObligationConfirmed);
        let states: Vec<OccurrenceState> =
            confirmed.obligation.occurrences(now).iter().take(3).map(|found| found.state).collect();
        assert_eq!(states, [OccurrenceState::Due, OccurrenceState::Confirmed, OccurrenceState::Upcoming]);
        assert_eq!(record_satisfaction(&maren, world.context(now), done(OccurrenceId::new())), Err(Refused::Unknown));
        let confirm = confirm_satisfaction(&maren, world.context(now), OccurrenceId::new(), Counting::Alone);
        assert_eq!(confirm, Err(Refused::Unknown));
    }

    #[test]
    fn what_is_done_was_done_on_a_day_that_has_come_and_not_long_before_it_was_owed() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let world = World::of(on(&["2026-03-01", "2026-07-31"]), &zone("America/New_York"));
        let record = |n: usize, text: &str| {
            let done = Done { occurrence: occurrence(&world, n), how: Satisfaction::on(day(text)) };
            record_satisfaction(&maren, world.context(now), done).map(|_| ())
        };
        // In force since March 14.
        for (n, first) in [(0, "2025-02-28"), (1, "2025-03-13")] {
            assert_eq!(record(n, first), Ok(()));
            let before = day(first).plus_days(-1).to_string();
            assert_eq!(record(n, &before), Err(Refused::TooEarly), "{before}");
            assert_eq!(record(n, "2026-06-20"), Ok(()));
            assert_eq!(record(n, "2026-06-21"), Err(Refused::InFuture));
        }
    }

    #[test]
    fn a_claim_keeps_its_day_note_and_file_and_the_file_counts_in_the_evidence() {
        let (maren, noah, now) = (member("Maren Holt"), member("Noah Reyes"), at(NOW));
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let first = occurrence(&world, 0);
        let note = Some(SatisfactionNote::parse("Handed over in person.").unwrap());
        let with_file = |bytes: u64| {
            let how = Satisfaction { done_on: day("2026-06-18"), note: note.clone(), file: Some(file(bytes)) };
            Done { occurrence: first, how }
        };
        let claimed = record_satisfaction(&maren, world.context(now), with_file(9)).unwrap();
        let agreement = claimed.agreement.unwrap();
        assert_eq!(agreement.facts().file_bytes, world.agreement.facts().file_bytes + 9);
        assert_eq!(agreement.lifecycle(), world.agreement.lifecycle(), "nothing else of it changes");
        let world = world.with(&claimed.obligation);
        let confirmed = confirm_satisfaction(&noah, world.context(now), first, Counting::Confirmed).unwrap();
        for shown in [&world.obligation, &*confirmed.obligation] {
            assert_eq!(shown.occurrences(now)[0].how, Some(with_file(9).how));
            assert_eq!(shown.files_of_members().collect::<Vec<_>>(), [&file(9)]);
        }
        assert_eq!(confirmed.agreement, None);
        let left = limits::BUNDLE_FILE_BYTES_MAX - agreement.file_bytes(agreement.facts());
        let mut full = World::of(on(&["2026-06-30"]), &zone("UTC"));
        full.agreement = full.agreement.with_file(limits::BUNDLE_FILE_BYTES_MAX - left, now);
        let again = |bytes| {
            let done = Done { occurrence: occurrence(&full, 0), ..with_file(bytes) };
            check_satisfaction(
                full.context(now),
                &Done { how: Satisfaction { file: None, ..done.how.clone() }, ..done },
                bytes,
            )
        };
        let room = limits::BUNDLE_FILE_BYTES_MAX - full.agreement.file_bytes(full.agreement.facts());
        assert_eq!((again(room), again(room + 1)), (Ok(()), Err(Refused::NoRoom)));
        assert_eq!(again(0), Ok(()), "without a file there is always room");
    }

    #[test]
    fn a_record_with_the_longest_words_fits_in_an_item() {
        let long = |chars: usize| "𝔸".repeat(chars);
        let [maren, noah] = [member(&long(limits::NAME_CHARS_MAX)), member(&long(limits::NAME_CHARS_MAX))];
        let weekly = every(RecurrenceUnit::Week, "2026-03-20", RecurrenceEnd::Never);
        let mut world = World::of(weekly, &zone("UTC"));
        let late = at("2030-03-20T12:00:00Z");
        let mut named = file(4_000_000);
        named.name = SafeLine::parse(&long(limits::NAME_CHARS_MAX)).unwrap();
        let note = Some(SatisfactionNote::parse(&long(limits::SATISFACTION_NOTE_CHARS_MAX)).unwrap());
        let how = Satisfaction { done_on: day("2026-03-20"), note, file: Some(named) };
        let all = world.obligation.occurrences(late);
        let in_browser_of = |host: &Member| {
            let in_person = Some(InPerson { member_id: host.id(), member: host.name().clone() });
            Speaker { by: host.actor(), in_person }
        };
        for (n, due) in all.iter().take(limits::OCCURRENCES_KEPT_MAX + limits::OCCURRENCES_WAITING_MAX).enumerate() {
            let done = Done { occurrence: due.id, how: how.clone() };
            let claimed = world.context(late).satisfied(in_browser_of(&maren), done, Filer::Member).unwrap();
            world = world.with(&claimed.obligation);
            if n < limits::OCCURRENCES_KEPT_MAX {
                let confirmed = world.context(late).confirmed(in_browser_of(&noah), due.id, OwnClaim::Refused);
                world = world.with(&confirmed.unwrap());
            }
        }
        let bytes = serde_json::to_string(&world.obligation).unwrap().len();
        assert!(bytes < 400_000, "{bytes} bytes");
    }

    #[test]
    fn a_standing_promise_is_verified_and_lapses() {
        let (maren, noah) = (member("Maren Holt"), member("Noah Reyes"));
        let world = World::of(PromiseTerms::standing(40).unwrap(), &zone("UTC"));
        let now = at("2026-04-01T09:00:00Z");
        let first = world.obligation.occurrences(now)[0].id;
        assert_eq!(
            record_satisfaction(&maren, world.context(now), done(first)),
            Err(Refused::Unknown),
            "it asks for no act"
        );
        let confirmed = confirm_satisfaction(&maren, world.context(now), first, Counting::Alone);
        assert_eq!(confirmed, Err(Refused::Unknown));
        let holds = verify_standing(&maren, world.context(now), first);
        let holds = went_on(&world, holds, EventType::ObligationConfirmed);
        assert_eq!(verify_standing(&noah, holds.context(now), first), Err(Refused::Done), "by someone else meanwhile");
        let state = |now: &str| holds.obligation.standing(at(now)).unwrap().state;
        // 40 days after April 1 is May 11; a quarter of that is 10 days.
        assert_eq!(state("2026-04-30T23:59:59Z"), StandingState::Holding);
        assert_eq!(state("2026-05-01T00:00:00Z"), StandingState::ReverifyDue);
        assert_eq!(state("2026-05-11T23:59:59.999Z"), StandingState::ReverifyDue);
        assert_eq!(state("2026-05-12T00:00:00Z"), StandingState::Lapsed);
        let states: Vec<OccurrenceState> =
            holds.obligation.occurrences(at("2026-05-12T00:00:00Z")).iter().map(|found| found.state).collect();
        assert_eq!(states, [OccurrenceState::Confirmed, OccurrenceState::Overdue]);
        assert_eq!(holds.obligation.state(), ObligationState::Open);
        let scheduled = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let verified = verify_standing(&maren, scheduled.context(now), occurrence(&scheduled, 0));
        assert_eq!(verified, Err(Refused::Unknown));
    }

    #[test]
    fn what_was_cancelled_stays_as_it_was() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let world = said(&World::of(on(&["2026-06-10", "2026-06-30"]), &zone("UTC")), &maren, 0, now);
        let ended = cancel_obligation(&maren, world.context(now), reason()).unwrap();
        assert_eq!(ended.events, [], "the specification has no event for it");
        let cancelled = world.with(&ended.obligation);
        let shown = cancelled.obligation.occurrences(at("2030-01-01T00:00:00Z"));
        let states: Vec<OccurrenceState> = shown.iter().map(|found| found.state).collect();
        assert_eq!(states, [OccurrenceState::Cancelled; 2], "they end with it, and no later ones come");
        assert_eq!(cancelled.obligation.next_due_at(), None);
        let first = occurrence(&world, 0);
        for refused in [
            record_satisfaction(&maren, cancelled.context(now), done(occurrence(&world, 1))),
            confirm_satisfaction(&maren, cancelled.context(now), first, Counting::Alone),
            cancel_obligation(&maren, cancelled.context(now), reason()),
        ] {
            assert_eq!(refused, Err(Refused::Cancelled));
        }
    }

    #[test]
    fn an_agreement_that_ended_takes_its_obligations_along_before_that_is_recorded() {
        let (maren, now) = (member("Maren Holt"), at(NOW));
        let mut world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let act =
            |world: &World| record_satisfaction(&maren, world.context(now), done(occurrence(world, 0))).map(|_| ());
        assert_eq!(act(&world), Ok(()));
        let live = world.agreement.clone();
        world.agreement = live.cancelled(at("2026-06-19T00:00:00Z"));
        assert_eq!(act(&world), Err(Refused::AgreementEnded(Lifecycle::Cancelled)));
        world.agreement = live.clone();
        world.agreement.expires_at = Some(at("2026-06-19T00:00:00Z"));
        assert_eq!(act(&world), Err(Refused::AgreementEnded(Lifecycle::Expired)), "the clock has not recorded it yet");
        world.agreement = World::of(on(&["2026-06-30"]), &zone("UTC")).agreement;
        assert_eq!(act(&world), Err(Refused::Unknown), "another agreement");
        let (gate, approver) = (live.stages[1].gates[0].id, live.participants[2].id);
        let facts = world.facts();
        world.agreement = live.recorded(&facts, crate::domain::time_scale::TimeScale::default(), now, |facts| {
            facts.approved.insert((gate, approver));
        });
        assert_eq!((world.agreement.lifecycle(), act(&world)), (Lifecycle::Completed, Ok(())), "they outlive it");
    }

    #[test]
    fn a_record_stays_small_for_decades_and_forgets_nothing_that_is_open() {
        let (maren, noah) = (member("Maren Holt"), member("Noah Reyes"));
        let weekly = every(RecurrenceUnit::Week, "2026-03-20", RecurrenceEnd::Never);
        let mut world = World::of(weekly, &zone("Europe/Berlin"));
        let late = at("2046-03-20T12:00:00Z");
        let all = world.obligation.occurrences(late);
        // The third is never done; all others of twenty years are.
        for (n, due) in all.iter().filter(|found| found.state == OccurrenceState::Overdue).enumerate() {
            if n == 2 {
                continue;
            }
            let claimed = record_satisfaction(&maren, world.context(late), done(due.id)).unwrap();
            world = world.with(&claimed.obligation);
            let confirmed = confirm_satisfaction(&noah, world.context(late), due.id, Counting::Confirmed).unwrap();
            world = world.with(&confirmed.obligation);
        }
        let bytes = serde_json::to_string(&world.obligation).unwrap().len();
        assert!(bytes < 40_000, "{bytes} bytes");
        let open: Vec<u32> = world
            .obligation
            .occurrences(late)
            .iter()
            .filter(|found| found.confirmed.is_none())
            .map(|found| found.sequence)
            .collect();
        assert_eq!(open[..2], [3, 1045], "the one that was missed, and then the next");
        assert_eq!(world.obligation.next_due_at(), Some(all[2].due_at));
        assert_eq!(world.obligation.older().len(), 1043 - limits::OCCURRENCES_KEPT_MAX, "beside the record");
        let (first, last) = (&all[0], world.obligation.occurrences(late).remove(0));
        assert_eq!((last.id, last.how), (first.id, Some(done(first.id).how)), "what was said first stays readable");
        let again = record_satisfaction(&maren, world.context(late), done(all[0].id));
        assert_eq!(again, Err(Refused::Done), "what is beside the record counts");
        let again = confirm_satisfaction(&maren, world.context(late), all[0].id, Counting::Alone);
        assert_eq!(again, Err(Refused::Done));
        let third = went_on(
            &world,
            record_satisfaction(&maren, world.context(late), done(all[2].id)),
            EventType::ObligationSatisfied,
        );
        assert_eq!(third.obligation.next_due_at(), Some(all[1044].due_at));
    }

    #[test]
    fn so_many_claims_wait_at_most() {
        let maren = member("Maren Holt");
        let weekly = every(RecurrenceUnit::Week, "2026-03-20", RecurrenceEnd::Never);
        let mut world = World::of(weekly, &zone("UTC"));
        let late = at("2028-03-20T12:00:00Z");
        let all = world.obligation.occurrences(late);
        for due in &all[..limits::OCCURRENCES_WAITING_MAX] {
            let claimed = record_satisfaction(&maren, world.context(late), done(due.id)).unwrap();
            world = world.with(&claimed.obligation);
        }
        let next = all[limits::OCCURRENCES_WAITING_MAX].id;
        assert_eq!(record_satisfaction(&maren, world.context(late), done(next)), Err(Refused::TooManyWait));
        let confirmed = confirm_satisfaction(&maren, world.context(late), all[7].id, Counting::Alone).unwrap();
        let world = world.with(&confirmed.obligation);
        assert!(record_satisfaction(&maren, world.context(late), done(next)).is_ok());
    }
}
