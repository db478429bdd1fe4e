//! Promises and obligations. What the promisor says and what the other side has confirmed never read alike.

use super::names::{all_names, counted, names};
use crate::domain::actor::ActorType;
use crate::domain::agreement::Agreement;
use crate::domain::agreement::promise::{Promise, PromiseTerms};
use crate::domain::contact::Contact;
use crate::domain::ids::ParticipantId;
use crate::domain::obligation::{
    CancelCause, Obligation, ObligationState, Occurrence, OccurrenceOrigin, OccurrenceState, Standing, StandingState,
    Word,
};
use crate::domain::recurrence::{Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;

/// A promise: who owes what to whom, and when.
#[must_use]
pub fn promise(promise: &Promise, agreement: &Agreement, contacts: &[Contact]) -> String {
    let all = |side: &std::collections::BTreeSet<ParticipantId>| {
        all_names(agreement, &side.iter().copied().collect::<Vec<_>>(), contacts)
    };
    let (promisors, promisees) = (all(promise.parties.promisors()), all(promise.parties.promisees()));
    format!("{promisors} to {promisees}: {}, {}", promise.name.as_str(), promise_terms(&promise.terms))
}

/// When a promise is due, such as `every quarter from 31 Mar 2026 until 31 Dec 2027`.
#[must_use]
pub fn promise_terms(terms: &PromiseTerms) -> String {
    match terms {
        PromiseTerms::Scheduled { schedule: Schedule::Days(days) } => {
            let days: Vec<String> = days.iter().map(|day| day.for_people()).collect();
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
    let first = recurrence.first().for_people();
    match recurrence.end() {
        RecurrenceEnd::Never => format!("{every} from {first}"),
        RecurrenceEnd::Until(last) => format!("{every} from {first} until {}", last.for_people()),
        RecurrenceEnd::After(count) => {
            let count = counted(usize::try_from(count).unwrap_or(usize::MAX), "time");
            format!("{every} from {first}, {count}")
        }
    }
}

/// An obligation's `state_sentence`.
#[must_use]
pub fn obligation_state(
    obligation: &Obligation,
    agreement: &Agreement,
    contacts: &[Contact],
    now: Timestamp,
) -> String {
    let occurrences = obligation.occurrences(now);
    let waiting = occurrences.iter().filter(|found| found.state == OccurrenceState::Satisfied).count();
    let promisors: Vec<ParticipantId> = obligation.parties().promisors().iter().copied().collect();
    let who = names(agreement, &promisors, contacts);
    match obligation.state() {
        ObligationState::Cancelled => match obligation.cancellation().map(|cancellation| &cancellation.cause) {
            Some(CancelCause::AgreementCancelled) => "Cancelled with its agreement".to_owned(),
            Some(CancelCause::AgreementExpired) => "Ended when its agreement expired".to_owned(),
            Some(CancelCause::Member { by, .. }) => format!("Cancelled by {}", by.display_name),
            None => "Cancelled".to_owned(),
        },
        ObligationState::Dormant => "Nothing is due until a trigger is declared".to_owned(),
        ObligationState::Satisfied => format!("According to {who}, it is done. Not confirmed yet"),
        ObligationState::Confirmed => {
            let last = occurrences.iter().filter_map(|found| found.confirmed.as_ref()).max_by_key(|word| word.at);
            let by = last.map(|word| format!(" by {} on {}", word.by.display_name, day(obligation.zone(), word.at)));
            format!("Confirmed{}", by.unwrap_or_default())
        }
        ObligationState::Open => {
            let is = match obligation.standing(now) {
                Some(standing) => standing_state(&standing, obligation.zone(), now),
                None => due(obligation, &occurrences),
            };
            match waiting {
                0 => is,
                1 => format!("{is}. According to {who}, one is done. Not confirmed yet"),
                count => format!("{is}. According to {who}, {count} are done. Not confirmed yet"),
            }
        }
    }
}

/// What is due of an obligation, or was.
fn due(obligation: &Obligation, occurrences: &[Occurrence]) -> String {
    let overdue: Vec<&Occurrence> =
        occurrences.iter().filter(|found| found.state == OccurrenceState::Overdue).collect();
    let first = overdue.iter().map(|found| found.due_at).min();
    match (first, obligation.next_due_at()) {
        (Some(first), _) if overdue.len() > 1 => {
            format!("{} overdue, the first since {}", overdue.len(), day(obligation.zone(), first))
        }
        (Some(first), _) => format!("Overdue since {}", day(obligation.zone(), first)),
        (None, Some(next)) => format!("Due by {}", day(obligation.zone(), next)),
        (None, None) => "Nothing more is due until another trigger is declared".to_owned(),
    }
}

/// Whether a standing promise holds.
#[must_use]
pub fn standing_state(standing: &Standing, zone: &TimeZone, now: Timestamp) -> String {
    let by = day(zone, standing.next_reverify_at);
    let verified = standing.verified_at.map(|at| day(zone, at)).unwrap_or_default();
    match standing.state {
        StandingState::Unverified if now > standing.next_reverify_at => {
            format!("Never verified. That was due by {by}")
        }
        StandingState::Unverified => format!("Not verified yet. That is due by {by}"),
        StandingState::Holding => format!("Holds, as verified on {verified}. Next by {by}"),
        StandingState::ReverifyDue => format!("Verified on {verified}. To be verified again by {by}"),
        StandingState::Lapsed => format!("Lapsed: verified on {verified}, and not again by {by}"),
    }
}

/// Where an occurrence is.
#[must_use]
pub fn occurrence(occurrence: &Occurrence, zone: &TimeZone) -> String {
    let due = day(zone, occurrence.due_at);
    let is_verification = occurrence.origin == OccurrenceOrigin::Reverify;
    match (occurrence.state, &occurrence.satisfied, &occurrence.confirmed) {
        (OccurrenceState::Confirmed, _, Some(word)) => {
            let did = if is_verification { "Verified" } else { "Confirmed" };
            format!("{did} by {} on {}", word.by.display_name, day(zone, word.at))
        }
        (OccurrenceState::Satisfied, Some(claim), _) => format!("{}. Not confirmed yet", claimed(claim, zone)),
        (OccurrenceState::Overdue, ..) => format!("Overdue since {due}"),
        (OccurrenceState::Due, ..) => format!("Due by {due}"),
        (OccurrenceState::Upcoming, ..) | (OccurrenceState::Satisfied | OccurrenceState::Confirmed, ..) => {
            format!("Will be due by {due}")
        }
    }
}

/// A claim: the promisor's own, or the one that a member recorded for them.
fn claimed(claim: &Word, zone: &TimeZone) -> String {
    let (who, on) = (claim.by.display_name.as_str(), day(zone, claim.at));
    match claim.by.actor_type {
        ActorType::Participant => format!("{who} said on {on} that it is done"),
        ActorType::Member | ActorType::Token | ActorType::System => {
            format!("Said to be done, as {who} recorded on {on}")
        }
    }
}

fn day(zone: &TimeZone, at: Timestamp) -> String {
    zone.day_of(at).for_people()
}
