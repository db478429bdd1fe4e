//! Sentences about promises and obligations. The promisor's claim and the other side's confirmation never read alike.

use std::collections::BTreeSet;

use super::names::{all_names, counted, in_short, names};
use crate::domain::actor::ActorType;
use crate::domain::agreement::Agreement;
use crate::domain::agreement::promise::{Parties, Promise, PromiseTerms};
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;
use crate::domain::obligation::{
    CancelCause, Obligation, ObligationState, Occurrence, OccurrenceState, Standing, StandingState, Word,
};
use crate::domain::recurrence::{Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::text::reader::Shown;

/// What is said where a due date would stand.
pub const NOTHING_DUE: &str = "Nothing due";

/// A promise: who owes what to whom, and when.
#[must_use]
pub fn promise(promise: &Promise, agreement: &Agreement, contacts: &[Contact]) -> String {
    let parties = promise_parties(&promise.parties, agreement, contacts);
    format!("{parties}: {}, {}", promise.name.as_str(), promise_terms(&promise.terms))
}

/// Who owes a promise to whom, such as `Ben to Ada`.
#[must_use]
pub fn promise_parties(parties: &Parties, agreement: &Agreement, contacts: &[Contact]) -> String {
    let all =
        |side: &BTreeSet<ParticipantId>| all_names(agreement, &side.iter().copied().collect::<Vec<_>>(), contacts);
    format!("{} to {}", all(parties.promisors()), all(parties.promisees()))
}

/// When a promise is due, such as `every quarter from 31 Mar 2026 until 31 Dec 2027`.
#[must_use]
pub fn promise_terms(terms: &PromiseTerms) -> String {
    match terms {
        PromiseTerms::Scheduled { schedule: Schedule::Days(days) } => {
            let days: Vec<String> = days.iter().map(Shown::shown).collect();
            match days.as_slice() {
                [all @ .., last] if !all.is_empty() => format!("on {} and {last}", all.join(", ")),
                days => format!("on {}", days.join("")),
            }
        }
        PromiseTerms::Scheduled { schedule: Schedule::Recurrence(every) } => recurrence(every),
        PromiseTerms::Triggered { triggers } => {
            let triggers = triggers.iter().map(|trigger| {
                let within = match trigger.due_after_days {
                    0 => "on the day of".to_owned(),
                    days => format!("within {} of", counted(usize::from(days), "day")),
                };
                format!("{within} “{}”", trigger.description.as_str())
            });
            triggers.collect::<Vec<_>>().join(", or ")
        }
        PromiseTerms::Standing { reverify_every_days } => {
            format!("at all times, verified every {}", counted(usize::from(reverify_every_days.get()), "day"))
        }
    }
}

fn recurrence(recurrence: &Recurrence) -> String {
    let unit = match recurrence.unit() {
        RecurrenceUnit::Week => "week",
        RecurrenceUnit::Month => "month",
        RecurrenceUnit::Quarter => "quarter",
        RecurrenceUnit::Year => "year",
    };
    let every = match recurrence.every() {
        1 => format!("every {unit}"),
        several => format!("every {}", counted(usize::from(several), unit)),
    };
    let first = recurrence.first().shown();
    match recurrence.end() {
        RecurrenceEnd::Never => format!("{every} from {first}"),
        RecurrenceEnd::Until(last) => format!("{every} from {first} until {}", last.shown()),
        RecurrenceEnd::After(count) => {
            let count = counted(usize::try_from(count).unwrap_or(usize::MAX), "time");
            format!("{every} from {first}, {count}")
        }
    }
}

/// An obligation's `state_sentence`. Claimants have the names of the time.
#[must_use]
pub fn obligation_state(obligation: &Obligation, now: Timestamp) -> String {
    let occurrences = obligation.occurrences(now);
    match obligation.state() {
        ObligationState::Cancelled => match obligation.cancellation().map(|cancellation| &cancellation.cause) {
            Some(CancelCause::AgreementCancelled) => "Cancelled with its agreement".to_owned(),
            Some(CancelCause::AgreementExpired) => "Ended when its agreement expired".to_owned(),
            Some(CancelCause::Member { by, .. }) => format!("Cancelled by {}", by.display_name),
            None => "Cancelled".to_owned(),
        },
        ObligationState::Dormant => format!("{NOTHING_DUE} until a trigger is declared"),
        ObligationState::Satisfied => waiting_claims(obligation, "it is").unwrap_or_default(),
        ObligationState::Confirmed => {
            let last = occurrences.iter().filter_map(|found| found.confirmed.as_ref()).max_by_key(|word| word.at);
            let by = last.map(|word| {
                format!(" by {} on {}{}", word.by.display_name, day(obligation.zone(), word.at), word.mark())
            });
            format!("Confirmed{}", by.unwrap_or_default())
        }
        ObligationState::Open => {
            let is = match obligation.standing(now) {
                Some(standing) => standing_state(&standing, obligation.zone(), now),
                None => due(obligation, &occurrences),
            };
            match waiting_claims(obligation, "one is") {
                Some(claims) => format!("{is}. {claims}"),
                None => is,
            }
        }
    }
}

/// Whom or what an obligation waits for, such as `Ada to confirm`. Empty once nothing is left to do.
#[must_use]
pub fn obligation_wait(obligation: &Obligation, agreement: &Agreement, contacts: &[Contact]) -> String {
    let named = |side: &BTreeSet<ParticipantId>| names(agreement, &side.iter().copied().collect::<Vec<_>>(), contacts);
    let parties = obligation.parties();
    match obligation.state() {
        ObligationState::Cancelled | ObligationState::Confirmed => String::new(),
        ObligationState::Dormant => "A trigger".to_owned(),
        ObligationState::Open if obligation.waiting_claims().next().is_none() => match obligation.next_due_at() {
            Some(_) => named(parties.promisors()),
            None => "Another trigger".to_owned(),
        },
        ObligationState::Open | ObligationState::Satisfied => format!("{} to confirm", named(parties.promisees())),
    }
}

fn waiting_claims(obligation: &Obligation, one_is: &str) -> Option<String> {
    let claims: Vec<&Word> = obligation.waiting_claims().collect();
    let who = |is_own: bool| {
        let mut found: Vec<String> = Vec::new();
        for claim in claims.iter().filter(|claim| (claim.by.actor_type == ActorType::Participant) == is_own) {
            let who = claim.who();
            if !found.contains(&who) {
                found.push(who);
            }
        }
        (!found.is_empty()).then(|| in_short(&found.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    let said = match (who(true), who(false)) {
        (Some(own), None) => format!("According to {own}"),
        (None, Some(recorder)) => format!("As {recorder} recorded"),
        (Some(own), Some(recorder)) => format!("According to {own}, and as {recorder} recorded"),
        (None, None) => return None,
    };
    Some(match claims.len() {
        1 => format!("{said}, {one_is} done. Not confirmed yet"),
        count => format!("{said}, {count} are done. Not confirmed yet"),
    })
}

fn due(obligation: &Obligation, occurrences: &[Occurrence]) -> String {
    let overdue: Vec<&Occurrence> =
        occurrences.iter().filter(|found| found.state == OccurrenceState::Overdue).collect();
    let first = overdue.iter().map(|found| found.due_at).min();
    match (first, obligation.next_due_at()) {
        (Some(first), _) if overdue.len() > 1 => {
            format!("Overdue since {}, {} times", day(obligation.zone(), first), overdue.len())
        }
        (Some(first), _) => format!("Overdue since {}", day(obligation.zone(), first)),
        (None, Some(next)) => format!("Due by {}", day(obligation.zone(), next)),
        (None, None) => format!("{NOTHING_DUE} until another trigger is declared"),
    }
}

fn standing_state(standing: &Standing, zone: &TimeZone, now: Timestamp) -> String {
    let by = day(zone, standing.next_reverify_at);
    let verified = standing.verified_at.map(|at| day(zone, at)).unwrap_or_default();
    match standing.state {
        StandingState::Unverified if now > standing.next_reverify_at => {
            format!("Never verified. That was due by {by}")
        }
        StandingState::Unverified => format!("Not verified yet, due by {by}"),
        StandingState::Holding => format!("Holds, as verified on {verified}. Next by {by}"),
        StandingState::ReverifyDue => format!("Verified on {verified}. To be verified again by {by}"),
        StandingState::Lapsed => format!("Lapsed: verified on {verified}, and not again by {by}"),
    }
}

fn day(zone: &TimeZone, at: Timestamp) -> String {
    zone.day_of(at).shown()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::StageAction;
    use crate::domain::agreement::fixtures::{self, Deal, label, published};
    use crate::domain::agreement::promise::{Trigger, Triggers};
    use crate::domain::ids::{OccurrenceId, TriggerId};
    use crate::domain::member::{self, Counting};
    use crate::domain::moment::Moment;
    use crate::domain::note::Note;
    use crate::domain::obligation::fixtures::{
        World, at, day as day_of, done, draft, every, member as member_called, on, triggered, zone,
    };
    use crate::domain::obligation::{Happening, ObligationContext, Refused};
    use crate::domain::participant::session::InPerson;

    fn contacts(world: &World) -> Vec<Contact> {
        let known = Deal::complete().contacts;
        let pairs = known.into_iter().zip(&world.agreement.participants);
        pairs.map(|(contact, participant)| Contact { id: participant.contact_id, ..contact }).collect()
    }

    fn state(world: &World, now: &str) -> String {
        obligation_state(&world.obligation, at(now))
    }

    fn after(
        world: &World,
        act: impl FnOnce(ObligationContext<'_>, OccurrenceId) -> Result<member::ObligationChange, Refused>,
        now: &str,
    ) -> World {
        let open = world.obligation.occurrences(at(now)).into_iter().find(|found| found.confirmed.is_none());
        let change = act(world.context(at(now)), open.map_or_else(OccurrenceId::new, |found| found.id)).unwrap();
        world.with(&change.obligation)
    }

    #[test]
    fn a_promise_says_who_owes_what_and_when() {
        let terms = |terms: &PromiseTerms| promise_terms(terms);
        assert_eq!(terms(&on(&["2026-06-30"])), "on 30 Jun 2026");
        assert_eq!(
            terms(&on(&["2026-06-30", "2026-09-30", "2026-12-31"])),
            "on 30 Jun 2026, 30 Sep 2026 and 31 Dec 2026"
        );
        let unit = RecurrenceUnit::Quarter;
        assert_eq!(terms(&every(unit, "2026-06-30", RecurrenceEnd::Never)), "every quarter from 30 Jun 2026");
        assert_eq!(
            terms(&every(unit, "2026-06-30", RecurrenceEnd::After(4))),
            "every quarter from 30 Jun 2026, 4 times"
        );
        let two_weeks =
            Recurrence::new(2, RecurrenceUnit::Week, day_of("2026-06-30"), RecurrenceEnd::Until(day_of("2026-07-31")));
        let two_weeks = PromiseTerms::Scheduled { schedule: Schedule::Recurrence(two_weeks.unwrap()) };
        assert_eq!(terms(&two_weeks), "every 2 weeks from 30 Jun 2026 until 31 Jul 2026");
        let trigger =
            |text: &str, due_after_days| Trigger { id: TriggerId::new(), description: label(text), due_after_days };
        let triggers =
            Triggers::new(vec![trigger("The company is sold", 10), trigger("It raises a round", 0)]).unwrap();
        assert_eq!(
            terms(&PromiseTerms::Triggered { triggers }),
            "within 10 days of “The company is sold”, or on the day of “It raises a round”"
        );
        let world = World::of(PromiseTerms::standing(90).unwrap(), &zone("UTC"));
        let told = promise(&world.agreement.promises[0], &world.agreement, &contacts(&world));
        assert_eq!(told, "Ben to Ada: Quarterly report, at all times, verified every 90 days");
    }

    #[test]
    fn a_claim_never_reads_like_a_confirmation() {
        let (maren, now) = (member_called("Maren Holt"), "2026-06-20T12:00:00Z");
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        assert_eq!(state(&world, now), "Due by 30 Jun 2026");
        let claimed = after(&world, |context, id| member::record_satisfaction(&maren, context, done(id)), now);
        assert_eq!(state(&claimed, now), "As Maren Holt recorded, it is done. Not confirmed yet");
        let alone = Counting::Alone;
        let confirmed = after(&claimed, |context, id| member::confirm_satisfaction(&maren, context, id, alone), now);
        assert_eq!(state(&confirmed, now), "Confirmed by Maren Holt on 20 Jun 2026");
    }

    #[test]
    fn what_is_overdue_comes_first() {
        let maren = member_called("Maren Holt");
        let world = World::of(every(RecurrenceUnit::Month, "2026-03-31", RecurrenceEnd::Never), &zone("UTC"));
        assert_eq!(state(&world, "2026-04-05T12:00:00Z"), "Overdue since 31 Mar 2026");
        assert_eq!(state(&world, "2026-06-05T12:00:00Z"), "Overdue since 31 Mar 2026, 3 times");
        let now = "2026-04-05T12:00:00Z";
        let one = after(&world, |context, id| member::record_satisfaction(&maren, context, done(id)), now);
        assert_eq!(state(&one, now), "Due by 30 Apr 2026. As Maren Holt recorded, one is done. Not confirmed yet");
    }

    #[test]
    fn each_claim_is_told_in_the_name_of_who_recorded_it() {
        let (maren, noah, now) = (member_called("Maren Holt"), member_called("Noah Reyes"), "2026-06-05T12:00:00Z");
        let world = World::of(every(RecurrenceUnit::Month, "2026-03-31", RecurrenceEnd::Never), &zone("UTC"));
        let unsaid = |world: &World| {
            let all = world.obligation.occurrences(at(now));
            all.into_iter().find(|found| found.satisfied.is_none()).unwrap().id
        };
        let by_member = |world: &World, by: &member::Member| {
            let recorded = member::record_satisfaction(by, world.context(at(now)), done(unsaid(world)));
            world.with(&recorded.unwrap().obligation)
        };
        let by_ben = |world: &World| world.satisfied(1, None, unsaid(world), at(now));
        let claims = |world: &World| state(world, now).split_once(". ").unwrap().1.to_owned();
        let own = by_ben(&world);
        assert_eq!(claims(&own), "According to Ben, one is done. Not confirmed yet");
        assert_eq!(claims(&by_ben(&own)), "According to Ben, 2 are done. Not confirmed yet");
        let mixed = by_member(&own, &maren);
        assert_eq!(claims(&mixed), "According to Ben, and as Maren Holt recorded, 2 are done. Not confirmed yet");
        let host = Some(InPerson { member_id: maren.id(), member: maren.name().clone() });
        let hosted = world.satisfied(1, host, unsaid(&world), at(now));
        let told = "According to Ben, in person, in Maren Holt’s browser, one is done. Not confirmed yet";
        assert_eq!(claims(&hosted), told);
        let recorded = by_member(&by_member(&world, &maren), &noah);
        assert_eq!(claims(&recorded), "As Maren Holt and Noah Reyes recorded, 2 are done. Not confirmed yet");
    }

    #[test]
    fn triggers_and_standing_promises_say_what_they_wait_for() {
        let (maren, now) = (member_called("Maren Holt"), "2026-03-20T12:00:00Z");
        let world = World::of(triggered(&[10, 20]), &zone("UTC"));
        assert_eq!(state(&world, now), "Nothing due until a trigger is declared");
        let happened = Happening { trigger: world.obligation.triggers()[0].id, on: day_of("2026-03-20") };
        let one = after(&world, |context, _| member::declare_trigger(&maren, context, happened), now);
        assert_eq!(state(&one, now), "Due by 30 Mar 2026");
        let claimed = after(&one, |context, id| member::record_satisfaction(&maren, context, done(id)), now);
        let expected =
            "Nothing due until another trigger is declared. As Maren Holt recorded, one is done. Not confirmed yet";
        assert_eq!(state(&claimed, now), expected);

        let world = World::of(PromiseTerms::standing(40).unwrap(), &zone("UTC"));
        assert_eq!(state(&world, now), "Not verified yet, due by 23 Apr 2026");
        assert_eq!(state(&world, "2026-04-24T00:00:00Z"), "Never verified. That was due by 23 Apr 2026");
        let holds = after(&world, |context, id| member::verify_standing(&maren, context, id), now);
        assert_eq!(state(&holds, now), "Holds, as verified on 20 Mar 2026. Next by 29 Apr 2026");
        let due = "Verified on 20 Mar 2026. To be verified again by 29 Apr 2026";
        assert_eq!(state(&holds, "2026-04-20T12:00:00Z"), due);
        let lapsed = "Lapsed: verified on 20 Mar 2026, and not again by 29 Apr 2026";
        assert_eq!(state(&holds, "2026-04-30T00:00:00Z"), lapsed);
    }

    #[test]
    fn a_cancelled_one_says_by_what() {
        let now = "2026-03-20T12:00:00Z";
        let world = World::of(on(&["2026-06-30"]), &zone("UTC"));
        let reason = Note::parse("Waived.").unwrap();
        let cancelled =
            after(&world, |context, _| member::cancel_obligation(&member_called("Maren Holt"), context, reason), now);
        assert_eq!(state(&cancelled, now), "Cancelled by Maren Holt");
        let agreement = fixtures::cancelled(&world.agreement, at(now));
        let ended = world.obligation.ended(&agreement, Moment::test(at(now))).unwrap();
        assert_eq!(state(&world.with(&ended), now), "Cancelled with its agreement");
        let mut expiring = draft(vec![on(&["2026-06-30"])], &[StageAction::ProjectObligations]);
        expiring.expires_at = Some(at("2026-03-19T00:00:00Z"));
        let world = World { agreement: published(&expiring), ..world };
        let [obligation] = &crate::domain::obligation::project(&world.agreement)[..] else { panic!("one") };
        let world = world.with(obligation);
        let expired = world.agreement.as_of(&world.facts(), crate::domain::time_scale::TimeScale::default(), at(now));
        let ended = world.obligation.ended(&expired, Moment::test(at(now))).unwrap();
        assert_eq!(state(&world.with(&ended), now), "Ended when its agreement expired");
    }
}
