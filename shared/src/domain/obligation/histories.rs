//! Random histories of all acts on an obligation, checked against a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::fixtures::{World, day, every, member, on, triggered, zone};
use super::{Happening, Obligation, ObligationState, Occurrence, OccurrenceState, project};
use crate::domain::agreement::fixtures::noon;
use crate::domain::agreement::promise::PromiseTerms;
use crate::domain::day::Day;
use crate::domain::ids::{OccurrenceId, ReceiptId, TriggerId};
use crate::domain::member::{self, Counting, Member};
use crate::domain::note::Note;
use crate::domain::participant::obligations as participant;
use crate::domain::participant::receipt::Origin;
use crate::domain::participant::{ActingParticipant, Occasion};
use crate::domain::recurrence::{RecurrenceEnd, RecurrenceUnit};
use crate::domain::satisfaction::{Done, Satisfaction};
use crate::domain::time::Timestamp;
use crate::limits;

const HOUR_S: i64 = 3600;

const PEOPLE: [Person; 5] = [Person::Member(0), Person::Member(1), Person::Ada, Person::Ben, Person::Eve];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Person {
    Member(usize),
    Ada,
    Ben,
    Eve,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Declare(usize),
    Satisfy(usize),
    Confirm(usize),
    Verify(usize),
    Cancel,
    /// Members satisfy and confirm all but the first.
    CatchUp,
}

fn acts() -> impl Strategy<Value = Act> {
    let place = || prop_oneof![3 => 0..4_usize, 1 => 0..60_usize];
    prop_oneof![
        2 => (0..3_usize).prop_map(Act::Declare),
        6 => place().prop_map(Act::Satisfy),
        6 => place().prop_map(Act::Confirm),
        2 => place().prop_map(Act::Verify),
        1 => Just(Act::CatchUp),
        1 => (0..6_u8).prop_map(|n| if n == 0 { Act::Cancel } else { Act::Satisfy(0) }),
    ]
}

fn promised() -> impl Strategy<Value = PromiseTerms> {
    prop_oneof![
        3 => Just(every(RecurrenceUnit::Week, "2026-03-10", RecurrenceEnd::Never)),
        1 => Just(every(RecurrenceUnit::Week, "2026-03-20", RecurrenceEnd::After(9))),
        2 => Just(on(&["2026-03-20", "2026-06-30", "2027-02-28"])),
        2 => Just(triggered(&[0, 10, 90])),
        2 => (1..200_u16).prop_map(|days| PromiseTerms::standing(days).unwrap()),
    ]
}

/// Who claimed and who confirmed an occurrence. Verifications have no claim.
#[derive(Debug, Clone, Default)]
struct Known {
    claimed: Option<Person>,
    confirmed: Option<Person>,
}

#[derive(Debug)]
struct Sheet {
    known: BTreeMap<u32, Known>,
    declared: BTreeMap<usize, Timestamp>,
    cancelled_at: Option<Timestamp>,
    seen: BTreeMap<u32, Occurrence>,
}

struct History {
    world: World,
    members: [Member; 2],
    people: [ActingParticipant; 3],
    is_alone: bool,
    sheet: Sheet,
    now: Timestamp,
}

impl History {
    fn new(terms: PromiseTerms, is_alone: bool) -> Self {
        let world = World::of(terms, &zone("America/New_York"));
        let again = project(&world.agreement).remove(0);
        assert_eq!(again, world.obligation, "the same promise is the same obligation");
        let people = [0, 1, 2].map(|n| world.participant(n));
        let members = ["Maren Holt", "Noah Reyes"].map(member);
        let sheet =
            Sheet { known: BTreeMap::new(), declared: BTreeMap::new(), cancelled_at: None, seen: BTreeMap::new() };
        Self { world, members, people, is_alone, sheet, now: noon() }
    }

    fn occurrences(&self) -> Vec<Occurrence> {
        self.world.obligation.occurrences(self.now)
    }

    fn happened(&self, trigger: TriggerId) -> Happening {
        Happening { trigger, on: self.world.obligation.zone().day_of(self.now) }
    }

    fn finished(&self, occurrence: OccurrenceId) -> Done {
        Done { occurrence, how: Satisfaction::on(self.world.obligation.zone().day_of(self.now)) }
    }

    fn occasion() -> Occasion {
        Occasion { id: ReceiptId::new(), origin: Origin::default() }
    }

    fn done(&self, who: Person, act: Act, occurrence: OccurrenceId) -> Option<Obligation> {
        let context = self.world.context(self.now);
        let counting = if self.is_alone { Counting::Alone } else { Counting::Confirmed };
        let of_member = |n: usize| {
            // An organization with one member has no other.
            let by = &self.members[if self.is_alone { 0 } else { n }];
            let change = match act {
                Act::Declare(n) => {
                    let trigger = self.world.obligation.triggers().get(n)?.id;
                    member::declare_trigger(by, context, self.happened(trigger))
                }
                Act::Satisfy(_) => member::record_satisfaction(by, context, self.finished(occurrence)),
                Act::Confirm(_) => member::confirm_satisfaction(by, context, occurrence, counting),
                Act::Verify(_) => member::verify_standing(by, context, occurrence),
                Act::Cancel => member::cancel_obligation(by, context, Note::parse("Waived.").unwrap()),
                Act::CatchUp => return None,
            };
            change.ok().map(|change| change.obligation.into_inner())
        };
        let of_participant = |n: usize| {
            let (by, said) = (&self.people[n], "Said.".to_owned());
            let acted = match act {
                Act::Declare(n) => {
                    let trigger = self.world.obligation.triggers().get(n)?.id;
                    participant::declare_trigger(by, context, Self::occasion(), self.happened(trigger), said)
                }
                Act::Satisfy(_) => {
                    let done = self.finished(occurrence);
                    participant::record_satisfaction(by, context, Self::occasion(), &[], done, said)
                }
                Act::Confirm(_) => {
                    let form = Self::occasion();
                    participant::confirm_satisfaction(by, context, form, counting, occurrence, said)
                }
                Act::Verify(_) => participant::verify_standing(by, context, Self::occasion(), occurrence, said),
                Act::Cancel | Act::CatchUp => return None,
            };
            acted.ok().map(|acted| Obligation::clone(&acted.obligation))
        };
        match who {
            Person::Member(n) => of_member(n),
            Person::Ada => of_participant(0),
            Person::Ben => of_participant(1),
            Person::Eve => of_participant(2),
        }
    }

    fn expects(&self, who: Person, act: Act, found: Option<&Occurrence>) -> bool {
        let is_member = matches!(who, Person::Member(_));
        let kind = self.world.obligation.kind().as_str();
        let known = found.and_then(|found| self.sheet.known.get(&found.sequence)).cloned().unwrap_or_default();
        let waits = self.sheet.known.values().filter(|known| known.claimed.is_some() && known.confirmed.is_none());
        if self.sheet.cancelled_at.is_some() {
            return false;
        }
        match act {
            Act::Declare(n) => {
                let is_there = n < self.world.obligation.triggers().len();
                who != Person::Eve && is_there && !self.sheet.declared.contains_key(&n)
            }
            Act::Satisfy(_) => {
                let is_there = found.is_some();
                let says = is_member || who == Person::Ben;
                let has_room = waits.count() < limits::OCCURRENCES_WAITING_MAX;
                says && is_there && kind != "standing" && known.claimed.is_none() && has_room
            }
            Act::Confirm(_) => {
                let is_own = known.claimed == Some(who) && !self.is_alone;
                let says = is_member || who == Person::Ada;
                says && found.is_some() && known.claimed.is_some() && known.confirmed.is_none() && !is_own
            }
            Act::Verify(_) => {
                let says = is_member || who == Person::Ada;
                says && kind == "standing" && found.is_some() && known.confirmed.is_none()
            }
            Act::Cancel => is_member && !self.world.obligation.is_done(),
            Act::CatchUp => false,
        }
    }

    fn act(&mut self, who: Person, act: Act) {
        let who = if self.is_alone && who == Person::Member(1) { Person::Member(0) } else { who };
        if let Act::CatchUp = act {
            let due = self.occurrences().into_iter().filter(|found| found.state == OccurrenceState::Overdue);
            for (n, _) in due.skip(1).take(30).enumerate().collect::<Vec<_>>() {
                let place = |history: &Self| {
                    let open = |found: &Occurrence| found.state == OccurrenceState::Overdue;
                    history.occurrences().iter().enumerate().filter(|(_, found)| open(found)).nth(1).map(|(at, _)| at)
                };
                let Some(at) = place(self) else { return };
                self.act(Person::Member(n % 2), Act::Satisfy(at));
                self.act(Person::Ada, Act::Confirm(at));
            }
            return;
        }
        let place = match act {
            Act::Satisfy(n) | Act::Confirm(n) | Act::Verify(n) => n,
            Act::Declare(_) | Act::Cancel | Act::CatchUp => 0,
        };
        let found = self.occurrences().get(place).cloned();
        let occurrence = found.as_ref().map_or_else(OccurrenceId::new, |found| found.id);
        let after = self.done(who, act, occurrence);
        let expected = self.expects(who, act, found.as_ref());
        assert_eq!(after.is_some(), expected, "{who:?} {act:?} {found:?}");
        let Some(after) = after else { return };
        assert!(after.updated_at() >= self.world.obligation.updated_at());
        self.world = self.world.with(&after);
        let known = found.map(|found| self.sheet.known.entry(found.sequence));
        match (act, known) {
            (Act::Declare(n), _) => drop(self.sheet.declared.insert(n, self.now)),
            (Act::Satisfy(_), Some(known)) => known.or_default().claimed = Some(who),
            (Act::Confirm(_) | Act::Verify(_), Some(known)) => known.or_default().confirmed = Some(who),
            (Act::Cancel, _) => self.sheet.cancelled_at = Some(self.now),
            _ => panic!("nothing to do it about"),
        }
    }

    fn days(&self) -> Vec<Day> {
        let obligation = &self.world.obligation;
        let Some(schedule) = obligation.schedule() else { return Vec::new() };
        let is_weekly = schedule.day(2) == Some(schedule.day(1).unwrap().plus_days(7));
        let by_hand = |n: u32| {
            if is_weekly {
                let ends = schedule.day(10).is_none();
                let day = schedule.day(1).unwrap().plus_days(7 * i32::try_from(n).unwrap());
                (!ends || n < 9).then_some(day)
            } else {
                ["2026-03-20", "2026-06-30", "2027-02-28"].get(usize::try_from(n).unwrap()).map(|text| day(text))
            }
        };
        (0..400).map_while(by_hand).collect()
    }

    fn read(&mut self) {
        let shown = self.occurrences();
        let obligation = self.world.obligation.clone();
        let as_of = self.sheet.cancelled_at.map_or(self.now, |at| at.min(self.now));
        assert!(shown.windows(2).all(|pair| pair[0].sequence < pair[1].sequence), "in order, none twice");
        for found in &shown {
            let known = self.sheet.known.get(&found.sequence).cloned().unwrap_or_default();
            let state = match (known.claimed, known.confirmed) {
                (_, Some(_)) => OccurrenceState::Confirmed,
                _ if self.sheet.cancelled_at.is_some() => OccurrenceState::Cancelled,
                (Some(_), None) => OccurrenceState::Satisfied,
                (None, None) if as_of > found.due_at => OccurrenceState::Overdue,
                (None, None) if found.due_from.is_some_and(|from| as_of >= from) => OccurrenceState::Due,
                (None, None) => OccurrenceState::Upcoming,
            };
            assert_eq!(found.state, state, "{found:?}");
            assert_eq!(
                (found.satisfied.is_some(), found.confirmed.is_some()),
                (known.claimed.is_some(), known.confirmed.is_some())
            );
            let is_standing = obligation.kind().as_str() == "standing";
            assert!(found.confirmed.is_none() || found.satisfied.is_some() || is_standing, "no word without a claim");
            if let (Some(claim), Some(word)) = (&found.satisfied, &found.confirmed) {
                assert!(claim.at <= word.at && (self.is_alone || claim.by.id != word.by.id), "{found:?}");
            }
            if let Some(before) = self.sheet.seen.get(&found.sequence) {
                assert_eq!((before.id, before.due_at), (found.id, found.due_at), "what is known of it stays");
                assert!(before.state <= found.state, "{before:?} became {found:?}");
            }
        }
        self.check_none_lost(&shown, as_of);
        self.check_sums(&obligation);
        // Cancellation removes the upcoming ones.
        self.sheet.seen = shown.into_iter().map(|found| (found.sequence, found)).collect();
    }

    fn check_none_lost(&self, shown: &[Occurrence], as_of: Timestamp) {
        let obligation = &self.world.obligation;
        let is_shown = |sequence: u32| shown.iter().any(|found| found.sequence == sequence);
        let is_over = |sequence: u32| self.sheet.known.get(&sequence).is_some_and(|known| known.confirmed.is_some());
        for (sequence, day) in (1_u32..).zip(self.days()) {
            if obligation.zone().start_of(day) <= as_of {
                assert!(is_shown(sequence) || is_over(sequence), "{sequence} on {day} is lost");
            }
        }
        for sequence in (1_u32..).take(self.sheet.declared.len()) {
            assert!(is_shown(sequence), "declared as number {sequence}");
        }
        let (seen, known) = (&self.sheet.seen, &self.sheet.known);
        let was_there = |sequence: &u32| is_shown(*sequence) || is_over(*sequence);
        let is_gone = seen.values().filter(|found| found.state != OccurrenceState::Upcoming);
        assert!(is_gone.map(|found| found.sequence).all(|sequence| was_there(&sequence)));
        assert!(known.keys().all(was_there));
        assert!(known.keys().all(|sequence| is_shown(*sequence)), "what was said stays readable");
        assert_eq!(obligation.older_unread(), 0);
    }

    fn check_sums(&self, obligation: &Obligation) {
        let (known, now) = (&self.sheet.known, self.now);
        let open = |found: &&Occurrence| found.satisfied.is_none() && found.confirmed.is_none();
        let next = obligation.occurrences(now).iter().filter(open).map(|found| found.due_at).min();
        let waits = known.values().any(|known| known.claimed.is_some() && known.confirmed.is_none());
        let undeclared = obligation.triggers().len() - self.sheet.declared.len();
        let state = match (self.sheet.cancelled_at.is_some(), next.is_some(), undeclared > 0, waits) {
            (true, ..) => ObligationState::Cancelled,
            (_, true, ..) | (_, _, true, true) => ObligationState::Open,
            (_, _, true, false) => ObligationState::Dormant,
            (_, _, false, true) => ObligationState::Satisfied,
            (_, _, false, false) => ObligationState::Confirmed,
        };
        assert_eq!(obligation.state(), state);
        let expected = if state == ObligationState::Cancelled { None } else { next };
        assert_eq!(obligation.next_due_at(), expected);
        let json = serde_json::to_string(obligation).unwrap();
        let stored: Obligation = serde_json::from_str(&json).unwrap();
        assert_eq!(usize::try_from(stored.older_unread()).unwrap(), obligation.older().len());
        assert_eq!(stored.with_older(obligation.older().to_vec()), *obligation);
        assert!(json.len() < 60_000, "{} bytes", json.len());
        assert_eq!(obligation.id(), project(&self.world.agreement)[0].id());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn claims_are_confirmed_by_others_and_nothing_is_lost_or_done_twice(
        terms in promised(),
        is_alone in proptest::bool::weighted(0.2),
        steps in proptest::collection::vec((0..2000_i64, 0..PEOPLE.len(), acts(), any::<bool>()), 0..40),
    ) {
        let mut history = History::new(terms, is_alone);
        for (hours, who, act, looks) in steps {
            // Clocks of calls may differ: some acts come at the same moment as the one before.
            history.now = history.now.plus_seconds((hours - 600).max(0) * HOUR_S);
            if looks {
                history.read();
            }
            history.act(PEOPLE[who], act);
            history.read();
        }
    }
}
