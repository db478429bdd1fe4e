//! Movements that ended, and instructions that were entered again.

use super::*;

#[test]
fn evidence_of_a_movement_that_has_ended_is_given_free_and_changes_no_state() {
    for ending in [Returned, Cancelled] {
        let mut world = World::ready();
        let [accepted, rejected, withdrawn] =
            [(60, "20260314B1QGC08C000001"), (20, "20260314B1QGC08C000002"), (20, "20260314B1QGC08C000003")].map(
                |(minor, reference)| world.file(referring_to(usd(minor), reference, "recipient_confirmation")).unwrap(),
            );
        world.accept(accepted).unwrap();
        world.flag(ExceptionReason::SuspectedFraud).unwrap();
        if ending == Returned {
            world.record_return().unwrap();
        } else {
            world.resolve(Resolution::SendAgain).unwrap_err();
            world.withdraw(accepted).unwrap();
            world.cancel().unwrap();
        }
        let told = world.events.len();
        assert_eq!(world.accept(rejected), Err(NotMoved::NotNow(ending)), "nothing arrives anymore");
        assert_eq!(world.reject(rejected).unwrap().released.len(), 1);
        assert_eq!(world.withdraw(withdrawn).unwrap().released.len(), 1);
        if ending == Returned {
            assert_eq!(world.withdraw(accepted).unwrap().released.len(), 1);
        }
        assert_eq!((world.state(), world.movement.receipt(), world.events.len()), (ending, None, told));
        assert_eq!(world.withdraw(withdrawn), Err(NotMoved::NotStanding));
        assert!(!serde_json::to_string(&world.movement).unwrap().contains("reference:"), "no key is left");
    }
}

#[test]
fn what_is_missing_of_a_movement_is_cancelled_and_what_arrived_stays() {
    for resolved in [false, true] {
        let mut world = World::ready();
        let part = world.file(receiver(usd(60))).unwrap();
        world.accept(part).unwrap();
        world.flag(ExceptionReason::AmountShort).unwrap();
        if resolved {
            world.resolve(Resolution::SendAgain).unwrap();
            assert_eq!(world.state(), Authorized);
        }
        // The agreement's end cancels it just the same.
        let cancelled = world.agreement.cancelled(world.moment().at());
        assert_eq!(world.movement.ended_with(&cancelled, world.moment()).is_some(), resolved);
        world.cancel().unwrap();
        let said = crate::text::movements::movement_sentence(&world.movement);
        assert_eq!(said, "Cancelled. USD 0.60 of USD 1.00 has been confirmed received. The rest will not take place.");
        assert_eq!((world.state(), world.movement.receipt().unwrap().received_minor), (Cancelled, 60));
        world.withdraw(part).unwrap();
        let said = crate::text::movements::movement_sentence(&world.movement);
        assert_eq!((world.state(), &*said), (Cancelled, "Cancelled. It will not take place."));
    }
}

#[test]
fn a_movement_of_which_all_arrived_is_not_cancelled() {
    for amount in [100, 110] {
        let mut world = World::ready();
        let all = world.file(receiver(usd(amount))).unwrap();
        world.accept(all).unwrap();
        let _ = world.flag(ExceptionReason::Duplicate);
        assert_eq!(world.state(), Exception, "{amount}");
        assert_eq!((world.cancel(), world.movement.can_be_cancelled()), (Err(NotMoved::Received), false));
        world.withdraw(all).unwrap();
        world.cancel().unwrap();
    }
}

#[test]
fn the_same_instructions_again_are_no_change() {
    for state in [Authorized, InstructionsReady, SenderReported, ReceiptPending, Processing, Exception] {
        let mut world = World::in_state(state);
        let _ = world.enter("000123456789");
        let before = world.movement.clone();
        assert_eq!(world.enter("000123456789"), Err(NotMoved::SameInstructions), "{state}");
        assert_eq!((&world.movement, world.revision()), (&before, 1), "{state}");
    }
}

#[test]
fn five_wrong_tries_end_the_verification_until_the_instructions_are_entered_again() {
    let mut world = World::new();
    world.authorize().unwrap();
    world.enter("000123456789").unwrap();
    let wrong = |world: &mut World, by: &Member| {
        let (counted, left) = count_wrong_try(by, world.context(), &world.movement, world.revision(), world.counting)?;
        world.movement = counted.movement.into_inner();
        Ok::<u32, NotMoved>(left)
    };
    let (maren, jonas) = (world.maren.clone(), world.jonas.clone());
    assert_eq!(wrong(&mut world, &maren), Err(NotMoved::Own), "nobody tries what they may not verify");
    for left in [4, 3, 2, 1] {
        assert_eq!(wrong(&mut world, &jonas), Ok(left));
    }
    world.verify(&jonas).unwrap();
    assert_eq!(world.movement.instructions().unwrap().wrong_tries, 0);
    world.enter("000123456788").unwrap();
    for left in [4, 3, 2, 1, 0] {
        assert_eq!(wrong(&mut world, &jonas), Ok(left));
    }
    assert_eq!(wrong(&mut world, &jonas), Err(NotMoved::VerificationEnded));
    assert_eq!(world.verify(&jonas), Err(NotMoved::VerificationEnded));
    assert_eq!(world.release(), Err(NotMoved::NotVerified));
    // Entering the same instructions again makes a new revision.
    world.enter("000123456788").unwrap();
    world.verify(&jonas).unwrap();
    world.release().unwrap();
}

#[test]
fn the_last_wrong_try_takes_back_what_the_only_member_released() {
    for reported in [false, true] {
        let mut world = World::new();
        world.authorize().unwrap();
        world.enter("000123456789").unwrap();
        world.counting = Counting::Alone;
        world.release().unwrap();
        if reported {
            world.report().unwrap();
        }
        world.counting = Counting::Confirmed;
        let (jonas, ready) = (world.jonas.clone(), world.state());
        for left in [4, 3, 2, 1, 0] {
            assert_eq!((world.state(), world.movement.released().is_some()), (ready, true), "{left} more");
            let (change, _) = count_wrong_try(&jonas, world.context(), &world.movement, 1, world.counting).unwrap();
            assert_eq!(change.events.len(), usize::from(reported && left == 0));
            world.take(change);
        }
        let (state, reason) =
            if reported { (Exception, Some(ExceptionReason::SuspectedFraud)) } else { (Authorized, None) };
        assert_eq!((world.state(), world.movement.exception_reason()), (state, reason));
        assert_eq!(world.movement.released(), None);
        assert_eq!(world.agreement.movement_state(world.movement.id()), Some(state), "the agreement follows");
        world.counting = Counting::Alone;
        assert!(world.release().is_err() || !reported, "an exception is resolved first");
    }
}

#[test]
fn who_counts_as_one_with_the_member_who_entered_instructions_does_not_verify_them() {
    let mut world = World::new();
    world.authorize().unwrap();
    world.enter("000123456789").unwrap();
    let jonas = world.jonas.clone();
    world.counting = Counting::OneSelf;
    assert_eq!(world.verify(&jonas), Err(NotMoved::OneSelf));
    let tried = count_wrong_try(&jonas, world.context(), &world.movement, 1, Counting::OneSelf);
    assert_eq!(tried.unwrap_err(), NotMoved::OneSelf);
    assert_eq!(world.release(), Err(NotMoved::NotVerified));
    // If nobody counts as a second member, both count, and the release says so.
    world.counting = Counting::Alone;
    world.verify(&jonas).unwrap();
    world.release().unwrap();
    assert_eq!(world.movement.released().map(|released| released.basis), Some(ReleaseBasis::OnlyMember));
}
