mod ended;

use MovementState::{
    Authorized, Cancelled, Draft, Exception, InstructionsReady, Processing, ReceiptPending, Reconciled, Returned,
    SenderReported,
};

use super::fixtures::*;
use super::*;
use crate::domain::agreement::StageState;
use crate::domain::agreement::fixtures::{contact, time_scale};
use crate::domain::agreement::gate::GateStatus;
use crate::domain::event::EventType;
use crate::domain::ids::{EvidenceId, ParticipantId};
use crate::domain::member::Counting;
use crate::domain::money::{Currency, Money};
use crate::domain::movement::ReleaseBasis;
use crate::domain::movement::evidence::{BankReference, EvidenceFacts, NewEvidence};
use crate::domain::movement::source::{
    Assurance, ChosenSource, ConfirmationBasis, EvidenceSource, ReceiverSource, SenderSource,
};
use crate::domain::participant::{Access, ActingParticipant};
use crate::limits;

type Act = (&'static str, fn(&mut World) -> Result<(), NotMoved>, &'static [(MovementState, MovementState)]);

/// Each act with its transitions: contract, section 3, line by line. All other states refuse it.
const TABLE: &[Act] = &[
    ("authorize", World::authorize, &[(Draft, Authorized)]),
    ("release", release, &[(Authorized, InstructionsReady)]),
    ("report", World::report, &[(InstructionsReady, SenderReported)]),
    ("record claim", World::record_claim, &[(InstructionsReady, SenderReported)]),
    ("ask", World::ask, &[(SenderReported, ReceiptPending)]),
    (
        "file sender’s",
        |world| world.file(evidence(EvidenceSource::Sender(SenderSource::SenderBankDocument), usd(AMOUNT))).map(drop),
        &[(SenderReported, ReceiptPending), (ReceiptPending, ReceiptPending), (Processing, Processing)],
    ),
    (
        "file receiver’s",
        |world| world.file(receiver(usd(AMOUNT))).map(drop),
        &[
            (InstructionsReady, Processing),
            (SenderReported, Processing),
            (ReceiptPending, Processing),
            (Processing, Processing),
        ],
    ),
    (
        "flag",
        |world| world.flag(ExceptionReason::NotReceived),
        &[
            (InstructionsReady, Exception),
            (SenderReported, Exception),
            (ReceiptPending, Exception),
            (Processing, Exception),
            (Reconciled, Exception),
        ],
    ),
    ("send again", |world| world.resolve(Resolution::SendAgain), &[(Exception, Authorized)]),
    ("await proof", |world| world.resolve(Resolution::AwaitProof), &[(Exception, ReceiptPending)]),
    (
        "return",
        World::record_return,
        &[
            (SenderReported, Returned),
            (ReceiptPending, Returned),
            (Processing, Returned),
            (Reconciled, Returned),
            (Exception, Returned),
        ],
    ),
    (
        "cancel",
        World::cancel,
        &[(Draft, Cancelled), (Authorized, Cancelled), (InstructionsReady, Cancelled), (Exception, Cancelled)],
    ),
];

fn release(world: &mut World) -> Result<(), NotMoved> {
    if world.movement.instructions().is_none() {
        world.enter("000123456789").unwrap();
    }
    let _ = world.verify(&world.jonas.clone());
    world.release()
}

#[test]
fn each_act_makes_the_transitions_of_the_table_and_no_other() {
    for (name, act, transitions) in TABLE {
        for from in MovementState::ALL {
            let mut world = World::in_state(from);
            let (before, told) = (world.movement.clone(), world.events.len());
            let done = act(&mut world);
            if let Some((_, to)) = transitions.iter().find(|(start, _)| *start == from) {
                assert_eq!((done, world.state()), (Ok(()), *to), "{name} from {from}");
                let expected = match to {
                    _ if from == *to => None,
                    SenderReported => Some(EventType::MovementSenderReported),
                    Reconciled => Some(EventType::MovementReconciled),
                    Exception | Returned => Some(EventType::MovementException),
                    _ => None,
                };
                let told: Vec<_> = world.events[told..].iter().map(EventKind::event_type).collect();
                assert_eq!(told.first().copied(), expected, "{name} from {from}");
            } else {
                assert_eq!(done, Err(NotMoved::NotNow(from)), "{name} from {from}");
                let is_entered = *name == "release" && world.movement.instructions() != before.instructions();
                assert!(is_entered || world.movement == before, "{name} from {from}");
            }
            assert_eq!(world.agreement.movement_state(world.movement.id()), Some(world.state()));
            let stored: Movement = serde_json::from_str(&serde_json::to_string(&world.movement).unwrap()).unwrap();
            assert_eq!(stored, world.movement, "{name} from {from}");
        }
    }
}

#[test]
fn no_evidence_of_the_senders_side_reconciles_in_any_state() {
    for source in SenderSource::ALL.map(EvidenceSource::Sender) {
        for state in MovementState::ALL {
            let mut world = World::in_state(state);
            let before = world.movement.receipt();
            if let Ok(id) = world.file(evidence(source, usd(AMOUNT))) {
                assert_eq!(world.accept(id), Err(NotMoved::WrongSource), "the type is another");
            }
            assert_eq!(world.movement.receipt(), before, "a claim is no receipt");
            assert_eq!(world.state() == Reconciled, state == Reconciled, "{source:?} in {state}");
        }
    }
}

#[test]
fn a_deal_goes_from_claim_over_proof_to_its_completion() {
    let mut world = World::new();
    assert_eq!(world.gates(), [GateStatus::Open, GateStatus::Locked]);
    world.authorize().unwrap();
    assert_eq!(world.gates(), [GateStatus::Cleared, GateStatus::Open]);
    release(&mut world).unwrap();
    assert_eq!(world.movement.instructions_shown_to(world.sender.id()), Some(1));
    assert_eq!(world.movement.instructions_shown_to(world.receiver.id()), None);
    world.report().unwrap();
    assert_eq!(world.movement.instructions_shown_to(world.sender.id()), None, "nothing is left to send");
    let claim = world.movement.claim().unwrap();
    assert_eq!((claim.participant_id, &claim.by), (world.sender.id(), &world.sender.actor()));
    assert_eq!((world.gates()[1], world.movement.receipt()), (GateStatus::Open, None), "a claim is no proof");
    let arrived = evidence(EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation), usd(AMOUNT));
    world.file_as(&world.receiver.clone(), arrived).unwrap();
    let summary = world.movement.receipt().unwrap();
    assert_eq!((summary.evidence_count, summary.received_minor), (1, 0));
    assert_eq!(summary.best_assurance, Assurance::RecipientConfirmed);
    assert_eq!((world.state(), world.gates()[1]), (Processing, GateStatus::Open), "a member has to accept it");
    world.accept(world.evidence[0].id()).unwrap();
    let confirmation = world.movement.confirmation().unwrap();
    assert_eq!(confirmation.basis, ConfirmationBasis::RecipientConfirmation);
    assert_eq!((confirmation.confirmed_at, &confirmation.confirmed_by), (world.moment().at(), &world.jonas.actor()));
    assert_eq!(world.agreement.lifecycle(), Lifecycle::Completed);
    let told: Vec<_> = world.events.iter().map(EventKind::event_type).collect();
    let expected = [EventType::MovementSenderReported, EventType::MovementReconciled, EventType::AgreementCompleted];
    assert_eq!(told, expected);

    // Withdrawing evidence doesn't reopen the completed agreement, and its completion isn't announced again.
    world.withdraw(world.evidence[0].id()).unwrap();
    assert_eq!(world.movement.exception_reason(), Some(ExceptionReason::EvidenceWithdrawn));
    assert_eq!((world.state(), world.agreement.lifecycle()), (Exception, Lifecycle::Completed));
    assert_eq!(world.events.len(), 4);
    assert_eq!(world.resolve(Resolution::SendAgain), Err(NotMoved::NotActive(Lifecycle::Completed)));
    world.resolve(Resolution::AwaitProof).unwrap();
    assert_eq!(world.state(), ReceiptPending);
}

#[test]
fn receipts_add_up_to_exactly_the_amount() {
    for (amounts, states) in [
        (vec![AMOUNT - 1], vec![ReceiptPending]),
        (vec![AMOUNT], vec![Reconciled]),
        (vec![AMOUNT + 1], vec![Exception]),
        (vec![60, 39], vec![ReceiptPending, ReceiptPending]),
        (vec![60, 40], vec![ReceiptPending, Reconciled]),
        (vec![60, 41], vec![ReceiptPending, Exception]),
        (vec![1, i64::MAX - 1], vec![ReceiptPending, Exception]),
    ] {
        let mut world = World::ready();
        for (amount, state) in amounts.iter().zip(&states) {
            let id = world.file(receiver(usd(*amount))).unwrap();
            assert_eq!(world.state(), Processing);
            world.accept(id).unwrap();
            assert_eq!(world.state(), *state, "{amounts:?}");
        }
        let received = world.movement.receipt().unwrap().received_minor;
        assert_eq!(received, amounts.iter().sum::<i64>());
        let over = (world.state() == Exception).then_some(ExceptionReason::AmountOver);
        assert_eq!(world.movement.exception_reason(), over, "{amounts:?}");
    }
    let mut world = World::ready();
    let first = world.file(receiver(usd(1))).unwrap();
    let second = world.file(receiver(usd(i64::MAX))).unwrap();
    world.accept(first).unwrap();
    assert_eq!(world.state(), Processing, "more waits for a member");
    assert_eq!(world.accept(second), Err(NotMoved::Full), "more than can be counted");
}

#[test]
fn the_basis_is_the_weakest_of_what_was_accepted() {
    let (entry, statement) = (ReceiverSource::StatementEntry, ReceiverSource::BankStatement);
    let (notification, recipient) = (ReceiverSource::BankNotification, ReceiverSource::RecipientConfirmation);
    for (sources, basis) in [
        ([entry, recipient], ConfirmationBasis::RecipientConfirmation),
        ([entry, statement], ConfirmationBasis::ReceivingBankStatement),
        ([entry, entry], ConfirmationBasis::ReceivingBankStatement),
        ([notification, statement], ConfirmationBasis::ReceivingBankNotification),
    ] {
        let mut world = World::ready();
        for source in sources {
            let id = world.file(evidence(EvidenceSource::Receiver(source), usd(AMOUNT / 2))).unwrap();
            world.accept(id).unwrap();
        }
        assert_eq!(world.movement.confirmation().unwrap().basis, basis, "{sources:?}");
        assert_eq!(
            world.movement.receipt().unwrap().best_assurance,
            sources.map(ReceiverSource::assurance).into_iter().max().unwrap()
        );
    }
}

#[test]
fn another_currency_is_never_accepted() {
    let mut world = World::ready();
    let euros = Money::new(AMOUNT, Currency::parse("EUR").unwrap()).unwrap();
    let id = world.file(receiver(euros)).unwrap();
    assert_eq!(world.accept(id), Err(NotMoved::WrongCurrency));
    assert_eq!(world.movement.receipt().unwrap().received_minor, 0);
    world.flag(ExceptionReason::WrongCurrency).unwrap();
    assert_eq!(world.movement.exception_reason(), Some(ExceptionReason::WrongCurrency));
    assert_eq!(world.resolve(Resolution::SendAgain), Err(NotMoved::Undecided));
    world.reject(id).unwrap();
    world.resolve(Resolution::SendAgain).unwrap();
}

#[test]
fn changed_instructions_end_the_verification_and_withdraw_the_release() {
    let jonas = |world: &World| world.jonas.clone();
    let mut world = World::in_state(Authorized);
    assert_eq!(world.release(), Err(NotMoved::NoInstructions));
    world.enter("000123456789").unwrap();
    assert_eq!(world.release(), Err(NotMoved::NotVerified));
    assert_eq!(world.verify(&world.maren.clone()), Err(NotMoved::Own));
    world.verify(&jonas(&world)).unwrap();
    assert_eq!(world.verify(&jonas(&world)), Err(NotMoved::Verified));
    // Changed between verification and release, by a member with an outdated page.
    let (old, shown) = (world.movement.clone(), world.revision());
    world.enter("000987654321").unwrap();
    let (context, movement) = (world.context(), &world.movement);
    let late = verify_instructions(&world.jonas, context, movement, shown, read_out(), Counting::Confirmed);
    assert_eq!(late.unwrap_err(), NotMoved::InstructionsChanged);
    let late = release_instructions(&world.maren, world.context(), &world.movement, shown, Counting::Confirmed);
    assert_eq!(late.unwrap_err(), NotMoved::InstructionsChanged);
    assert_eq!(world.release(), Err(NotMoved::NotVerified));
    let late = enter_instructions(&world.maren, world.context(), &old, world.instructions("1111"));
    assert_eq!(late.unwrap_err(), NotMoved::InstructionsChanged, "it would be the revision after the next");
    let instructions = world.movement.instructions().unwrap();
    let change = &instructions.changes[0];
    assert_eq!((&*change.ending_before, &*change.ending_after, instructions.changes.len()), ("6789", "4321", 1));

    world.verify(&jonas(&world)).unwrap();
    world.release().unwrap();
    assert_eq!(world.movement.released().unwrap().basis, ReleaseBasis::Verified);
    world.enter("000123456789").unwrap();
    assert_eq!((world.state(), world.movement.released()), (Authorized, None), "while the sender looks at them");
    assert_eq!(world.movement.instructions_shown_to(world.sender.id()), None);
    assert_eq!(world.report(), Err(NotMoved::NotNow(Authorized)));

    // Released again while the sender's page shows the previous ones.
    world.verify(&jonas(&world)).unwrap();
    world.release().unwrap();
    assert_eq!(world.report_by(world.revision() - 1), Err(NotMoved::InstructionsChanged));
    world.report().unwrap();

    for state in [SenderReported, ReceiptPending, Processing] {
        let mut world = World::in_state(state);
        world.enter("000987654321").unwrap();
        assert_eq!(world.movement.exception_reason(), Some(ExceptionReason::InstructionsChanged), "{state}");
        assert_eq!(world.events.last().unwrap().event_type(), EventType::MovementException);
    }
    for state in [Reconciled, Returned, Cancelled] {
        assert_eq!(World::in_state(state).enter("000987654321"), Err(NotMoved::NotNow(state)));
    }
}

#[test]
fn the_only_member_of_an_organization_releases_and_that_is_on_record() {
    let mut world = World::in_state(Authorized);
    world.counting = Counting::Alone;
    world.enter("000123456789").unwrap();
    let mut unverified = world.clone();
    unverified.release().unwrap();
    assert_eq!(unverified.movement.released().unwrap().basis, ReleaseBasis::OnlyMember);
    world.verify(&world.maren.clone()).unwrap();
    // A second member joined in between: the first one's verification alone doesn't suffice.
    world.counting = Counting::Confirmed;
    assert_eq!(world.release(), Err(NotMoved::NotVerified));
    world.verify(&world.jonas.clone()).unwrap();
    world.release().unwrap();
    assert_eq!(world.movement.released().unwrap().basis, ReleaseBasis::Verified);
}

fn referring(reference: &str, source: &str) -> NewEvidence {
    referring_to(usd(AMOUNT / 2), reference, source)
}

fn referring_to(money: Money, reference: &str, source: &str) -> NewEvidence {
    let reference = Some(BankReference::parse(reference).unwrap());
    let facts = EvidenceFacts { money, value_day: day(), reference, file: None };
    let id = EvidenceId::new();
    NewEvidence::typed(id, ChosenSource::parse(source).unwrap(), facts).unwrap()
}

#[test]
fn a_document_counts_once_and_its_keys_are_free_again_once_it_does_not() {
    let mut world = World::ready();
    let new = receiver(usd(AMOUNT / 2));
    let filed = file_evidence(&world.maren, world.context(), &world.movement, new.clone()).unwrap();
    assert_eq!((filed.keys.claimed.len(), filed.keys.released.len()), (0, 0), "its file shows other payments too");
    let first = world.take_evidence(filed);
    assert_eq!(world.file(new), Err(NotMoved::FiledAlready));
    world.file(referring("TRN 1", "recipient_confirmation")).unwrap();
    assert_eq!(world.file(referring("trn-1", "recipient_confirmation")), Err(NotMoved::FiledAlready));
    let claimed = world.file(referring("TRN1", "sender_statement")).unwrap();
    assert_eq!(world.reject(claimed).unwrap().released, [], "the receiver’s evidence has the same reference");
    assert_eq!(world.reject(first).unwrap().released, []);
    assert_eq!(world.state(), Processing, "one still waits");
    assert_eq!(world.reject(first), Err(NotMoved::Decided));
    assert_eq!(world.withdraw(first), Err(NotMoved::NotStanding));
}

#[test]
fn evidence_of_another_movement_is_refused() {
    let (mut world, mut other) = (World::in_state(Processing), World::in_state(Processing));
    other.evidence[0] = world.evidence[0].clone();
    let id = other.evidence[0].id();
    assert_eq!(other.accept(id), Err(NotMoved::Unknown));
    assert_eq!(other.reject(id).unwrap_err(), NotMoved::Unknown);
    assert_eq!(other.withdraw(id).unwrap_err(), NotMoved::Unknown);
    assert_eq!(authorize(&world.maren, other.context(), &world.movement).unwrap_err(), NotMoved::Unknown);
    world.accept(id).unwrap();
    assert_eq!(world.accept(id), Err(NotMoved::Decided), "two members accept it at once, and one comes second");
}

#[test]
fn a_resolved_exception_is_never_reconciled_by_itself() {
    let mut world = World::in_state(Reconciled);
    let id = world.evidence[0].id();
    world.flag(ExceptionReason::SuspectedFraud).unwrap();
    assert_eq!(world.resolve(Resolution::SendAgain), Err(NotMoved::Arrived));
    world.resolve(Resolution::AwaitProof).unwrap();
    assert_eq!((world.state(), world.found(id).is_undecided()), (Processing, true));
    assert_eq!(world.movement.receipt().unwrap().received_minor, 0);
    world.accept(id).unwrap();
    assert_eq!(world.state(), Reconciled);

    let mut world = World::ready();
    world.report().unwrap();
    let part = world.file(receiver(usd(60))).unwrap();
    world.accept(part).unwrap();
    world.flag(ExceptionReason::AmountShort).unwrap();
    world.resolve(Resolution::SendAgain).unwrap();
    assert_eq!((world.movement.claim(), world.movement.earlier_claims().len()), (None, 1));
    assert_eq!((world.movement.released(), world.movement.receipt().unwrap().received_minor), (None, 60));
    world.release().unwrap();
    let rest = world.file(receiver(usd(40))).unwrap();
    world.accept(rest).unwrap();
    assert_eq!(world.state(), Reconciled);
    let reasons = [ExceptionReason::Returned, ExceptionReason::EvidenceWithdrawn];
    assert!(reasons.map(|reason| world.flag(reason)).iter().all(|done| *done == Err(NotMoved::WrongReason)));

    // Too much was accepted, so nothing can be missing.
    let mut world = World::ready();
    let over = world.file(receiver(usd(AMOUNT + 1))).unwrap();
    world.accept(over).unwrap();
    assert_eq!(world.resolve(Resolution::SendAgain), Err(NotMoved::Arrived));
}

#[test]
fn participants_do_their_own_part_only() {
    let statement = || evidence(EvidenceSource::Receiver(ReceiverSource::BankStatement), usd(AMOUNT));
    let confirmation = || evidence(EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation), usd(AMOUNT));
    let sent = || evidence(EvidenceSource::Sender(SenderSource::SenderBankDocument), usd(AMOUNT));
    let mut world = World::in_state(SenderReported);
    let (sender, receiver) = (world.sender.clone(), world.receiver.clone());
    for wrong in [confirmation(), statement()] {
        assert_eq!(world.file_as(&sender, wrong), Err(NotMoved::WrongSource), "a claim never becomes proof");
    }
    for wrong in [sent(), statement()] {
        assert_eq!(world.file_as(&receiver, wrong), Err(NotMoved::WrongSource));
    }
    let named = |id: ParticipantId, consent| {
        let access = Access { consent, ..Access::default() };
        ActingParticipant::of_session(sender.org(), sender.agreement_id(), id, &contact(sender.name().as_str()), access)
    };
    let stranger = named(world.agreement.participants[2].id, sender.access().consent);
    assert_eq!(world.file_as(&stranger, sent()), Err(NotMoved::NotAsked));
    assert_eq!(world.file_as(&named(sender.id(), None), sent()), Err(NotMoved::NoConsent));
    world.file_as(&sender, sent()).unwrap();
    assert_eq!(world.state(), ReceiptPending);
    let mut ready = World::ready();
    ready.sender = ready.receiver.clone();
    assert_eq!(ready.report(), Err(NotMoved::NotAsked), "only the sender reports");
}

#[test]
fn participants_withdraw_what_they_filed_until_a_member_decides() {
    let confirmation = || evidence(EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation), usd(AMOUNT));
    let mut world = World::in_state(ReceiptPending);
    let (sender, receiver) = (world.sender.clone(), world.receiver.clone());
    world.file_as(&receiver, confirmation()).unwrap();
    let own = world.evidence[0].id();
    assert_eq!(world.withdraw_as(&sender, own), Err(NotMoved::NotAsked), "it is the other side's");
    let unasked = ActingParticipant::of_session(
        receiver.org(),
        receiver.agreement_id(),
        receiver.id(),
        &contact(receiver.name().as_str()),
        Access::default(),
    );
    assert_eq!(world.withdraw_as(&unasked, own), Err(NotMoved::NoConsent));
    world.withdraw_as(&receiver, own).unwrap();
    assert_eq!((world.state(), world.movement.receipt()), (ReceiptPending, None));
    assert_eq!(world.withdraw_as(&receiver, own), Err(NotMoved::Decided));

    world.file_as(&receiver, confirmation()).unwrap();
    let accepted = world.evidence[1].id();
    world.accept(accepted).unwrap();
    assert_eq!(world.withdraw_as(&receiver, accepted), Err(NotMoved::Decided), "a member accepted it");
    assert_eq!(world.state(), Reconciled);
    let filed_by_a_member = World::in_state(Processing);
    let of_member = filed_by_a_member.evidence[0].id();
    assert_eq!(filed_by_a_member.clone().withdraw_as(&receiver, of_member), Err(NotMoved::NotAsked));
}

#[test]
fn a_movement_waits_for_the_steps_before_it() {
    let (open, let_go) = (StageAction::OpenMovement, StageAction::ReleaseInstructions);
    let waits = |steps: &[(&[StageAction], bool, bool)]| {
        let world = World::with_steps(steps, None);
        let id = world.movement.id();
        (world.agreement.lets_authorize(id), world.agreement.lets_release(id))
    };
    assert_eq!(waits(&[(&[], false, true)]), (true, true));
    assert_eq!(waits(&[(&[open, let_go], false, true)]), (true, true), "no step waits for itself");
    // The second step isn't done, since its condition waits for the first.
    assert_eq!(waits(&[(&[open], true, false), (&[let_go], true, false), (&[], false, true)]), (true, false));
    let mut world = World::with_steps(&[(&[open, let_go], false, false), (&[], false, true)], None);
    assert!(world.agreement.lets_authorize(world.movement.id()), "a step without conditions is done at once");
    for stage in &mut world.agreement.stages {
        stage.state = StageState::Upcoming;
    }
    assert_eq!(world.authorize(), Err(NotMoved::StepNotDone(open)));
    world.movement = world.movement.authorize(stamp(&world.maren, world.context())).unwrap();
    world.agreement.facts.movements.insert(world.movement.id(), Authorized);
    assert_eq!(world.release(), Err(NotMoved::StepNotDone(let_go)));
}

#[test]
fn money_in_flight_keeps_an_agreement_and_the_rest_ends_with_it() {
    // Expiry waits while money is in flight, then takes effect.
    for state in MovementState::ALL {
        let mut world = World::in_state(state);
        if world.agreement.lifecycle() != Lifecycle::Active {
            continue;
        }
        world.hours = 2000;
        let now = world.moment();
        let later = world.agreement.as_of(world.agreement.facts(), time_scale(), now.at()).into_owned();
        assert_eq!(later.lifecycle() == Lifecycle::Active, state.is_in_flight(), "{state}");
        let is_ended = matches!(state, Draft | Authorized | InstructionsReady);
        let ended = world.movement.ended_with(&later, now);
        assert_eq!(ended.is_some(), is_ended, "{state}");
        if let Some(ended) = ended {
            assert_eq!((ended.state(), ended.ended_with(&later, now)), (Cancelled, None));
            assert_eq!(later.movement_state(world.movement.id()), Some(Cancelled));
            // Acts consult the agreement until the movement's record follows.
            assert_eq!(world.cancel(), Err(NotMoved::NotNow(Cancelled)));
            assert_eq!(world.report(), Err(NotMoved::NotNow(Cancelled)));
            assert_eq!(world.clone().file(receiver(usd(1))).map(drop), Ok(()), "what comes late is recorded");
        }
        assert_eq!(world.movement.ended_with(&world.agreement, now), None, "it goes on");
        let cancelled = world.agreement.cancelled(now.at());
        assert_eq!(world.movement.ended_with(&cancelled, now).is_some(), is_ended);
    }
    let mut world = World::in_state(SenderReported);
    world.hours = 2000;
    world.flag(ExceptionReason::NotReceived).unwrap();
    assert_eq!((world.agreement.lifecycle(), world.state()), (Lifecycle::Expired, Exception), "a member settles it");
    assert_eq!(world.resolve(Resolution::SendAgain), Err(NotMoved::NotActive(Lifecycle::Expired)));
    world.resolve(Resolution::AwaitProof).unwrap();
    let id = world.file(receiver(usd(AMOUNT))).unwrap();
    world.accept(id).unwrap();
    assert_eq!((world.agreement.lifecycle(), world.state()), (Lifecycle::Expired, Reconciled), "it arrived after all");
}

#[test]
fn a_gate_opens_again_when_the_money_turns_out_not_to_have_arrived() {
    let mut world = World::in_state(Reconciled);
    assert_eq!(world.gates(), [GateStatus::Cleared, GateStatus::Cleared, GateStatus::Open]);
    world.withdraw(world.evidence[0].id()).unwrap();
    assert_eq!(world.gates(), [GateStatus::Cleared, GateStatus::Open, GateStatus::Open]);
}

#[test]
fn no_party_uses_up_the_room_for_evidence_that_members_need() {
    let confirmation = || evidence(EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation), usd(1));
    let document = || evidence(EvidenceSource::Sender(SenderSource::SenderBankDocument), usd(AMOUNT));
    let mut world = World::in_state(SenderReported);
    let (sender, receiver_) = (world.sender.clone(), world.receiver.clone());
    for _ in 0..limits::EVIDENCE_PER_PARTY_MAX {
        world.file_as(&sender, document()).unwrap();
    }
    assert_eq!(world.file_as(&sender, document()), Err(NotMoved::PartyFull));
    world.withdraw_as(&sender, world.evidence[0].id()).unwrap();
    assert_eq!(world.file_as(&sender, document()), Err(NotMoved::PartyFull), "what was withdrawn was filed too");
    assert!(!world.movement.has_room_for(sender.id()) && world.movement.has_room_for(receiver_.id()));
    let stored = serde_json::to_string(&world.movement).unwrap();
    assert_eq!(serde_json::from_str::<Movement>(&stored).unwrap(), world.movement);
    for _ in 0..limits::EVIDENCE_PER_PARTY_MAX {
        world.file_as(&receiver_, confirmation()).unwrap();
    }
    assert_eq!(world.file_as(&receiver_, confirmation()), Err(NotMoved::PartyFull));
    for _ in 2 * limits::EVIDENCE_PER_PARTY_MAX..limits::EVIDENCE_PER_MOVEMENT_MAX {
        world.file(document()).unwrap();
    }
    assert_eq!(world.file(document()), Err(NotMoved::Full));
}

#[test]
fn a_document_that_no_bundle_could_hold_is_refused() {
    let document = || evidence(EvidenceSource::Sender(SenderSource::SenderBankDocument), usd(AMOUNT));
    let size = document().facts().file.as_ref().unwrap().content.size_bytes;
    let mut world = World::in_state(SenderReported);
    let left = limits::BUNDLE_FILE_BYTES_MAX - world.agreement.file_bytes(world.agreement.facts());
    let fill = |world: &mut World, filed: u64| {
        world.agreement = world.context().recorded(|facts| facts.file_bytes = filed);
    };
    fill(&mut world, left - size + 1);
    assert_eq!(world.file(document()), Err(NotMoved::NoRoom));
    fill(&mut world, left - size);
    let sender = world.sender.clone();
    assert_eq!(world.file_as(&sender, document()), Err(NotMoved::NoRoom), "what is left is for members");
    world.file(document()).unwrap();
    assert_eq!(world.agreement.facts().file_bytes, left);
    fill(&mut world, left - limits::BUNDLE_FILE_BYTES_OF_MEMBERS - 2 * size);
    world.file_as(&sender, document()).unwrap();
    let filed = world.agreement.facts().file_bytes;
    assert_eq!(filed, left - limits::BUNDLE_FILE_BYTES_OF_MEMBERS - size);
    world.file(evidence(EvidenceSource::Receiver(ReceiverSource::StatementEntry), usd(AMOUNT))).unwrap();
    assert_eq!(world.agreement.facts().file_bytes, filed, "a statement that was read is in no bundle");
}
