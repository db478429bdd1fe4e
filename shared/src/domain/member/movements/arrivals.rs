//! Irregular arrivals: too late, too much, or reported twice.

use super::fixtures::*;
use super::*;
use crate::domain::agreement::fixtures::{noon, time_scale};
use crate::domain::movement::Arrivals;
use crate::domain::movement::source::Side;
use crate::text::movements::movement_sentence;

/// A payment whose agreement expired while its sender had the instructions, whether or not the movement records that.
fn expired(is_recorded: bool) -> World {
    let mut world = World::ready();
    world.hours = 2000;
    if is_recorded {
        let moment = world.moment();
        world.agreement = (*world.agreement.advanced(world.agreement.facts(), time_scale(), moment).unwrap()).clone();
        world.movement = (*world.movement.ended_with(&world.agreement, moment).unwrap()).clone();
    }
    world
}

#[test]
fn money_that_comes_after_the_end_of_its_agreement_is_recorded_and_reconciles_nothing() {
    for is_recorded in [true, false] {
        let mut world = expired(is_recorded);
        let events = world.events.len();
        let half = world.file(receiver(usd(AMOUNT / 2))).unwrap();
        assert_eq!(world.state(), MovementState::Cancelled);
        assert!(movement_sentence(&world.movement).contains("Proof that money came late is under review"));
        world.accept(half).unwrap();
        let all = world.file(receiver(usd(AMOUNT))).unwrap();
        assert_eq!(world.accept_as(all, Arrivals::Two), Ok(()));
        let summary = world.movement.receipt().unwrap();
        assert_eq!((world.state(), summary.received_minor), (MovementState::Cancelled, AMOUNT + AMOUNT / 2));
        assert_eq!((world.movement.late_minor(), world.movement.confirmation()), (AMOUNT + AMOUNT / 2, None));
        assert!(world.found(half).is_late() && world.found(all).is_late());
        assert!(movement_sentence(&world.movement).contains("came late"), "{}", movement_sentence(&world.movement));
        world.withdraw(all).unwrap();
        assert_eq!((world.state(), world.movement.late_minor()), (MovementState::Cancelled, AMOUNT / 2));
        assert_eq!(world.events.len(), events, "no event says that it arrived");

        world.record_return().unwrap();
        assert_eq!(world.state(), MovementState::Returned);
        assert!(movement_sentence(&world.movement).contains("after the agreement had ended"));
        assert_eq!(world.events.len(), events + 1, "movement.exception, returned");
        assert_eq!(world.agreement.lifecycle(), Lifecycle::Expired);
    }
}

#[test]
fn what_a_member_cancelled_takes_nothing_late() {
    let mut world = World::ready();
    world.cancel().unwrap();
    assert!(!world.movement.ended_with_its_agreement() && !world.movement.takes_evidence_of(Side::Receiver));
    let refused = Err(NotMoved::NotNow(MovementState::Cancelled));
    assert_eq!(world.file(receiver(usd(AMOUNT))).map(drop), refused);
    assert_eq!(world.record_return(), refused);
}

#[test]
fn a_payment_that_ended_takes_no_other_act() {
    for is_recorded in [true, false] {
        let mut world = expired(is_recorded);
        let refused = Err(NotMoved::NotNow(MovementState::Cancelled));
        assert_eq!(world.record_claim(), refused);
        assert_eq!(world.flag(ExceptionReason::NotReceived), refused);
        assert_eq!(world.cancel(), refused);
        assert_eq!(world.enter("000987654321"), refused);
    }
}

#[test]
fn more_than_the_amount_reconciles_once_it_is_said_what_became_of_the_rest() {
    for is_kept in [true, false] {
        let mut world = World::ready();
        let over = world.file(receiver(usd(AMOUNT + 500))).unwrap();
        world.accept(over).unwrap();
        assert_eq!(world.movement.exception_reason(), Some(ExceptionReason::AmountOver));
        world.resolve(Resolution::Surplus(surplus(is_kept))).unwrap();
        assert_eq!(world.state(), MovementState::Reconciled);
        let said = world.movement.surplus().unwrap();
        assert_eq!((said.amount_minor, &said.outcome), (500, &surplus(is_kept)));
        assert_eq!(world.movement.receipt().unwrap().received_minor, AMOUNT + 500, "the whole sum");
        assert!(matches!(world.events.last(), Some(EventKind::MovementReconciled(_))));
        let sentence = movement_sentence(&world.movement);
        let outcome = if is_kept { "USD 5.00 more than the amount arrived, and is kept." } else { "and was returned." };
        assert!(sentence.contains(outcome), "{sentence}");
        world.withdraw(over).unwrap();
        assert_eq!(world.movement.exception_reason(), Some(ExceptionReason::EvidenceWithdrawn));
    }
}

#[test]
fn nothing_else_is_settled_as_too_much() {
    let settle = Resolution::Surplus(surplus(true));
    let mut world = World::in_state(MovementState::Exception);
    assert_eq!(world.resolve(settle.clone()), Err(NotMoved::WrongReason));
    let mut world = World::ready();
    world.flag(ExceptionReason::AmountOver).unwrap();
    assert_eq!(world.resolve(settle.clone()), Err(NotMoved::NoSurplus), "a member says so, and no evidence does");
    let mut world = World::ready();
    let (over, more) = (receiver(usd(AMOUNT + 1)), receiver(usd(7)));
    let (over, _) = (world.file(over).unwrap(), world.file(more).unwrap());
    world.accept(over).unwrap();
    assert_eq!(world.resolve(settle), Err(NotMoved::Undecided));
}

#[test]
fn one_arrival_in_two_shapes_counts_once_unless_a_member_says_that_it_is_two() {
    let mut world = World::ready();
    let [told, read] = [0, 0].map(|_| world.file(receiver(usd(AMOUNT / 2))).unwrap());
    world.accept_as(told, Arrivals::One).unwrap();
    assert_eq!(world.accept_as(read, Arrivals::One), Err(NotMoved::PerhapsSame));
    assert_eq!(world.movement.receipt().unwrap().received_minor, AMOUNT / 2);
    world.accept_as(read, Arrivals::Two).unwrap();
    assert_eq!(world.state(), MovementState::Reconciled);
    let is_another = |id| {
        matches!(
            world.found(id).state(),
            crate::domain::movement::evidence::EvidenceState::Accepted { is_another: true, .. }
        )
    };
    assert!(is_another(read) && !is_another(told), "it stays on record who said so");
    assert!(world.movement.updated_at() > noon());
}

#[test]
fn an_exception_that_ended_stays_on_record_with_who_ended_it_and_how() {
    use crate::domain::movement::past_exception::ExceptionOutcome as Outcome;
    use ExceptionReason::{EvidenceWithdrawn, NotReceived, SuspectedFraud};
    let mut world = World::ready();
    world.flag(SuspectedFraud).unwrap();
    assert_eq!(world.movement.past_exceptions(), []);
    world.resolve(Resolution::AwaitProof).unwrap();
    world.flag(NotReceived).unwrap();
    world.resolve(Resolution::SendAgain).unwrap();
    let told = |world: &World| -> Vec<_> {
        let past = world.movement.past_exceptions().iter();
        past.map(|past| (past.exception.reason, past.outcome)).collect()
    };
    let mut expected = vec![(SuspectedFraud, Outcome::AwaitProof), (NotReceived, Outcome::SendAgain)];
    assert_eq!(told(&world), expected);
    assert_eq!(world.movement.past_exceptions()[0].ended.by, world.maren.actor());
    let stored = serde_json::to_string(&world.movement).unwrap();
    assert_eq!(serde_json::from_str::<Movement>(&stored).unwrap(), world.movement);
    world.cancel().unwrap();
    assert_eq!(told(&world), expected, "it was none when it was cancelled");

    let mut world = World::ready();
    let over = world.file(receiver(usd(AMOUNT + 500))).unwrap();
    world.accept(over).unwrap();
    world.resolve(Resolution::Surplus(surplus(true))).unwrap();
    world.withdraw(over).unwrap();
    world.record_return().unwrap();
    expected = vec![(ExceptionReason::AmountOver, Outcome::SurplusSettled), (EvidenceWithdrawn, Outcome::Returned)];
    assert_eq!(told(&world), expected);

    let mut world = World::ready();
    for _ in 0..=crate::limits::PAST_EXCEPTIONS_KEPT {
        world.flag(SuspectedFraud).unwrap();
        world.resolve(Resolution::AwaitProof).unwrap();
    }
    world.flag(NotReceived).unwrap();
    world.cancel().unwrap();
    assert_eq!(told(&world).len(), crate::limits::PAST_EXCEPTIONS_KEPT);
    assert_eq!(told(&world).last(), Some(&(NotReceived, Outcome::Cancelled)), "the newest are kept");
}

#[test]
fn one_arrival_proves_two_payments_only_if_a_member_says_that_it_is_two() {
    let (mut first, mut second) = (World::ready(), World::ready());
    let told = first.file(receiver(usd(AMOUNT))).unwrap();
    let read = second.file(receiver(usd(AMOUNT))).unwrap();
    second.evidence.push(first.found(told));
    second.accept_as(read, Arrivals::One).unwrap();
    let mut second = World::ready();
    let read = second.file(receiver(usd(AMOUNT))).unwrap();
    first.accept(told).unwrap();
    second.evidence.push(first.found(told));
    assert_eq!(second.accept_as(read, Arrivals::One), Err(NotMoved::PerhapsSame), "it counts there");
    second.accept_as(read, Arrivals::Two).unwrap();
    assert_eq!(second.state(), MovementState::Reconciled);
}
