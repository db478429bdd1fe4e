//! Random histories of all parties' acts, checked against the invariants of movements.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;

use super::fixtures::*;
use super::*;
use crate::domain::agreement::fixtures::time_scale;
use crate::domain::agreement::gate::{GateRule, GateStatus};
use crate::domain::agreement::{Agreement, StageState};
use crate::domain::ledger::{LedgerFigures, LedgerPayment, LedgerState};
use crate::domain::member::Counting;
use crate::domain::money::{Currency, Money};
use crate::domain::movement::Arrivals;
use crate::domain::movement::evidence::NewEvidence;
use crate::domain::movement::source::{Assurance, EvidenceSource, ReceiverSource, SenderSource, Side};

#[derive(Debug, Clone)]
enum Try {
    Authorize,
    Enter(usize),
    Verify(bool),
    Release,
    /// The sender's report, from a page with the current or the previous instructions.
    Report(bool),
    RecordClaim,
    Ask,
    /// A member files evidence: source, amount, and whether in another currency.
    File(usize, i64, bool),
    FileOwn(bool, usize, i64),
    WithdrawOwn(bool, Index),
    Accept(Index, bool),
    Reject(Index),
    Withdraw(Index),
    Flag(ExceptionReason),
    Resolve(bool),
    Settle(bool),
    Return,
    Cancel,
    Members(bool),
    Wait(i64),
}

const SOURCES: [EvidenceSource; 6] = [
    EvidenceSource::Sender(SenderSource::SenderStatement),
    EvidenceSource::Sender(SenderSource::SenderBankDocument),
    EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation),
    EvidenceSource::Receiver(ReceiverSource::BankNotification),
    EvidenceSource::Receiver(ReceiverSource::BankStatement),
    EvidenceSource::Receiver(ReceiverSource::StatementEntry),
];

fn amounts() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(AMOUNT), 4 => Just(AMOUNT / 2), 1 => Just(AMOUNT - 1), 1 => Just(1), 1 => Just(AMOUNT + 1), 1 => Just(i64::MAX)]
}

fn of_the_sender() -> impl Strategy<Value = Try> {
    prop_oneof![
        3 => proptest::bool::weighted(0.8).prop_map(Try::Report),
        2 => Just(Try::RecordClaim),
        2 => Just(Try::Ask),
        3 => (0..2_usize, amounts(), any::<bool>()).prop_map(|(source, amount, other)| Try::File(source, amount, other)),
        3 => (0..SOURCES.len(), amounts()).prop_map(|(source, amount)| Try::FileOwn(true, source, amount)),
        1 => (any::<bool>(), any::<Index>()).prop_map(|(is_sender, which)| Try::WithdrawOwn(is_sender, which)),
        3 => (any::<Index>(), any::<bool>()).prop_map(|(which, is_another)| Try::Accept(which, is_another)),
        1 => any::<Index>().prop_map(Try::Reject),
        1 => any::<Index>().prop_map(Try::Withdraw),
        3 => Just(Try::Authorize),
        2 => (0..3_usize).prop_map(Try::Enter),
        3 => any::<bool>().prop_map(Try::Verify),
        3 => Just(Try::Release),
        1 => proptest::sample::select(ExceptionReason::ALL.to_vec()).prop_map(Try::Flag),
        2 => any::<bool>().prop_map(Try::Resolve),
        2 => any::<bool>().prop_map(Try::Settle),
        1 => any::<bool>().prop_map(Try::Members),
        1 => (1..400_i64).prop_map(Try::Wait),
    ]
}

fn of_all() -> impl Strategy<Value = Try> {
    prop_oneof![
        30 => of_the_sender(),
        10 => (0..SOURCES.len(), amounts(), proptest::bool::weighted(0.1))
            .prop_map(|(source, amount, other)| Try::File(source, amount, other)),
        5 => (0..SOURCES.len(), amounts()).prop_map(|(source, amount)| Try::FileOwn(false, source, amount)),
        8 => (any::<Index>(), proptest::bool::weighted(0.7))
            .prop_map(|(which, is_another)| Try::Accept(which, is_another)),
        1 => Just(Try::Return),
        1 => Just(Try::Cancel),
    ]
}

/// Evidence of a source. A source closed to participants means a member files it.
fn new_evidence(source: usize, amount: i64, is_other: bool) -> NewEvidence {
    let money = Money::new(amount, Currency::parse(if is_other { "EUR" } else { "USD" }).unwrap()).unwrap();
    evidence(SOURCES[source], money)
}

impl World {
    fn attempt(&mut self, what: &Try) -> Result<(), NotMoved> {
        let pick = |world: &Self, which: &Index| {
            (!world.evidence.is_empty()).then(|| world.evidence[which.index(world.evidence.len())].id())
        };
        match what {
            Try::Authorize => self.authorize(),
            Try::Enter(n) => self.enter(["000123456789", "000987654321", "000111222333"][*n]),
            Try::Verify(by_jonas) => {
                let by = if *by_jonas { self.jonas.clone() } else { self.maren.clone() };
                self.verify(&by)
            }
            Try::Release => self.release(),
            Try::Report(is_current) => self.report_by(self.revision() - u32::from(!is_current)),
            Try::RecordClaim => self.record_claim(),
            Try::Ask => self.ask(),
            Try::File(source, amount, is_other) => self.file(new_evidence(*source, *amount, *is_other)).map(drop),
            Try::FileOwn(is_sender, source, amount) => {
                let by = if *is_sender { self.sender.clone() } else { self.receiver.clone() };
                self.file_as(&by, new_evidence(*source, *amount, false))
            }
            Try::Accept(which, is_another) => {
                let arrivals = if *is_another { Arrivals::Two } else { Arrivals::One };
                pick(self, which).map_or(Ok(()), |id| self.accept_as(id, arrivals))
            }
            Try::Reject(which) => pick(self, which).map_or(Ok(()), |id| self.reject(id).map(drop)),
            Try::Withdraw(which) => pick(self, which).map_or(Ok(()), |id| self.withdraw(id).map(drop)),
            Try::WithdrawOwn(is_sender, which) => {
                let by = if *is_sender { self.sender.clone() } else { self.receiver.clone() };
                pick(self, which).map_or(Ok(()), |id| self.withdraw_as(&by, id))
            }
            Try::Flag(reason) => self.flag(*reason),
            Try::Resolve(again) => self.resolve(if *again { Resolution::SendAgain } else { Resolution::AwaitProof }),
            Try::Settle(is_kept) => self.resolve(Resolution::Surplus(surplus(*is_kept))),
            Try::Return => self.record_return(),
            Try::Cancel => self.cancel(),
            Try::Members(two) => {
                self.counting = if *two { Counting::Confirmed } else { Counting::Alone };
                Ok(())
            }
            Try::Wait(hours) => {
                self.hours += hours;
                self.tick();
                Ok(())
            }
        }
    }

    fn tick(&mut self) {
        let moment = self.moment();
        if let Some(advanced) = self.agreement.advanced(self.agreement.facts(), time_scale(), moment) {
            self.events.extend(advanced.events());
            self.agreement = (*advanced).clone();
        }
        if let Some(ended) = self.movement.ended_with(&self.agreement, moment) {
            self.movement = (*ended).clone();
        }
    }

    fn check(&self, before: &Self, what: &Try, done: Result<(), NotMoved>) {
        let amount = i128::from(AMOUNT);
        let counts = |evidence: &&Evidence| evidence.is_accepted();
        let accepted: Vec<&Evidence> = self.evidence.iter().filter(counts).collect();
        let sum: i128 = accepted.iter().map(|evidence| i128::from(evidence.facts().money.amount_minor())).sum();
        for evidence in &accepted {
            assert_eq!(evidence.source().side(), Side::Receiver, "the side is checked before the grade");
            assert!(evidence.source().assurance() >= Assurance::RecipientConfirmed);
            assert_eq!(evidence.facts().money.currency().code(), "USD");
        }
        let has_stopped =
            matches!(self.state(), MovementState::Exception | MovementState::Returned | MovementState::Cancelled);
        if !has_stopped {
            assert_eq!(self.state() == MovementState::Reconciled, sum >= amount, "{what:?}: {:?}", self.movement);
            let settled = self.movement.surplus().map_or(0, |surplus| i128::from(surplus.amount_minor));
            assert!(sum <= amount || settled == sum - amount, "it is said what became of the rest");
        }
        assert_eq!(self.movement.confirmation().is_some(), self.state() == MovementState::Reconciled);
        if let (Try::Accept(_, false), Ok(())) = (what, done) {
            let counted =
                |one: &&&Evidence| before.evidence.iter().any(|was| was.id() == one.id() && was.is_undecided());
            let new = accepted.iter().find(counted);
            let same = |one: &&&Evidence| new.is_some_and(|new| new.id() != one.id() && new.may_be_same_arrival(one));
            assert!(
                accepted.iter().find(same).is_none(),
                "one arrival counts once, unless a member says that it is two"
            );
        }
        self.check_receipt(sum);
        self.check_ledger(sum);
        self.check_events(before, done);
        self.check_agreement();
        if done.is_err() {
            assert_eq!((&self.movement, &self.agreement), (&before.movement, &before.agreement), "{what:?}");
        }
    }

    fn check_receipt(&self, sum: i128) {
        let standing: BTreeSet<_> =
            self.evidence.iter().filter(|one| one.is_accepted() || one.is_undecided()).map(Evidence::id).collect();
        let of_receiver = |one: &&Evidence| one.source().side() == Side::Receiver && standing.contains(&one.id());
        let receipts: Vec<&Evidence> = self.evidence.iter().filter(of_receiver).collect();
        assert!(receipts.iter().all(|one| self.movement.receipts()[&one.id()].is_accepted == one.is_accepted()));
        let summary = self.movement.receipt();
        assert_eq!(summary.map_or(0, |summary| summary.evidence_count), receipts.len());
        assert_eq!(summary.map_or(0, |summary| i128::from(summary.received_minor)), sum);
        let best = receipts.iter().map(|one| one.source().assurance()).max();
        assert_eq!(summary.map(|summary| summary.best_assurance), best);
        let waits = receipts.iter().any(|one| one.is_undecided());
        assert!(self.state() != MovementState::Processing || waits, "a member has something to judge");
        assert!(self.state() != MovementState::ReceiptPending || !waits);
    }

    fn check_ledger(&self, sum: i128) {
        let figures = LedgerPayment::of(&self.movement, &self.agreement).unwrap().figures();
        let state = LedgerState::from(self.state());
        assert_eq!(state == LedgerState::Reconciled, self.movement.confirmation().is_some());
        if self.state() == MovementState::Returned {
            return assert_eq!(figures, LedgerFigures::default(), "it came back");
        }
        assert_eq!(figures.proven, sum, "no claim is in it");
        let holds = matches!(self.agreement.lifecycle(), Lifecycle::Active | Lifecycle::Completed);
        let is_owed = !state.is_done() && (holds || !self.state().ends_with_agreement());
        let owed = if is_owed { (i128::from(AMOUNT) - sum).max(0) } else { 0 };
        let claimed = if self.movement.claim().is_some() { owed } else { 0 };
        assert_eq!((figures.owed, figures.claimed), (owed, claimed), "what is claimed stays owed");
    }

    fn check_events(&self, before: &Self, done: Result<(), NotMoved>) {
        let told: Vec<&EventKind> = self.events[before.events.len()..].iter().collect();
        let of_movement = told.iter().filter(|event| !matches!(event, EventKind::AgreementCompleted(_))).count();
        let entered = before.state() != self.state();
        let reason = match told.first() {
            Some(EventKind::MovementSenderReported(_)) => {
                assert!(entered && self.state() == MovementState::SenderReported);
                None
            }
            Some(EventKind::MovementReconciled(_)) => {
                assert!(entered && self.state() == MovementState::Reconciled);
                None
            }
            Some(EventKind::MovementException(data)) => Some(data.reason),
            _ => None,
        };
        let told_of_state = matches!(
            self.state(),
            MovementState::SenderReported
                | MovementState::Reconciled
                | MovementState::Exception
                | MovementState::Returned
        );
        assert_eq!(of_movement, usize::from(entered && told_of_state && done.is_ok()));
        assert!(reason.is_none() || reason == self.movement.exception_reason());
        let completions = self.events.iter().filter(|event| matches!(event, EventKind::AgreementCompleted(_))).count();
        assert_eq!(completions, usize::from(self.agreement.lifecycle() == Lifecycle::Completed), "told once");
    }

    fn check_agreement(&self) {
        let agreement: &Agreement = &self.agreement;
        let known = agreement.movement_state(self.movement.id()).unwrap();
        assert_eq!(known, self.state());
        for stage in &agreement.stages {
            for gate in stage.gates.iter().filter(|_| stage.state == StageState::Current) {
                let is_cleared = gate.state.status() == GateStatus::Cleared;
                if let GateRule::MovementReconciled { .. } = gate.rule
                    && agreement.lifecycle() == Lifecycle::Active
                {
                    assert_eq!(is_cleared, self.state() == MovementState::Reconciled, "the gate follows the proof");
                }
                if let GateRule::MovementAuthorized { .. } = gate.rule {
                    assert!(is_cleared || !known.is_authorized() || agreement.lifecycle() != Lifecycle::Active);
                }
            }
        }
        if let Some(released) = self.movement.released() {
            let instructions = self.movement.instructions().unwrap();
            assert!(released.at >= instructions.entered_at, "a change withdraws the release");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn reconciled_means_that_accepted_proof_of_the_receiving_side_adds_up(
        history in proptest::collection::vec(of_all(), 1..60),
        begins_ready in any::<bool>(),
    ) {
        let mut world = if begins_ready { World::ready() } else { World::new() };
        for what in &history {
            let before = world.clone();
            let done = world.attempt(what);
            world.check(&before, what, done);
        }
    }

    #[test]
    fn nothing_that_the_senders_side_does_reconciles(history in proptest::collection::vec(of_the_sender(), 1..60)) {
        let mut world = World::ready();
        for what in &history {
            let before = world.clone();
            let done = world.attempt(what);
            world.check(&before, what, done);
            prop_assert_ne!(world.state(), MovementState::Reconciled);
            prop_assert_eq!(world.movement.receipt(), None);
        }
    }
}
