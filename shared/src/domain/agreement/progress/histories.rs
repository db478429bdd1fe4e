//! Property: an agreement reaches the same state however often it is advanced in between.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::Facts;
use crate::domain::agreement::fixtures::{Deal, after, label, noon, question, time_scale, until, waiting};
use crate::domain::agreement::gate::{GateRule, GateState, RequestedFile};
use crate::domain::agreement::{Agreement, Document, DocumentState, Life, Lifecycle, Stage, StageAction, StageState};
use crate::domain::ids::{GateId, MovementId};
use crate::domain::moment::Moment;
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;

#[derive(Debug, Clone)]
enum Recorded {
    Approved(usize),
    Uploaded(usize),
    Verified,
    Signed,
    Answered(usize),
    Judged(usize, bool),
    Declined(usize),
    Reopened(usize),
    Moved(MovementState),
}

fn rule(number: usize, deal: &Deal) -> GateRule {
    let (draft, movement_id) = (&deal.draft, Some(deal.payments[0].id));
    match number % 10 {
        7 => {
            GateRule::FileUpload { participant_ids: [draft.participants[0].id].into(), file: RequestedFile::default() }
        }
        8 => GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) },
        9 => GateRule::IdentityVerified { participant_ids: [draft.participants[0].id].into() },
        0 => GateRule::ParticipantApproval { participant_ids: [draft.participants[0].id].into() },
        1 => GateRule::SignatureBlocks { block_ids: [draft.documents[0].blocks[0].id].into() },
        2 => GateRule::MovementReconciled { movement_id },
        6 => {
            let fields = vec![question("Why?")];
            GateRule::InformationRequest { participant_ids: [draft.participants[0].id].into(), fields }
        }
        3 => until(after(i64::try_from(number).unwrap() - 12)),
        _ => waiting(u32::try_from(number).unwrap()),
    }
}

fn recorded() -> impl Strategy<Value = Recorded> {
    prop_oneof![
        4 => (0..12_usize).prop_map(Recorded::Approved),
        2 => (0..12_usize).prop_map(Recorded::Uploaded),
        1 => Just(Recorded::Verified),
        2 => Just(Recorded::Signed),
        3 => (0..12_usize).prop_map(Recorded::Answered),
        3 => (0..12_usize, any::<bool>()).prop_map(|(which, accepts)| Recorded::Judged(which, accepts)),
        3 => (0..12_usize).prop_map(Recorded::Declined),
        2 => (0..12_usize).prop_map(Recorded::Reopened),
        3 => proptest::sample::select(vec![
            MovementState::Authorized,
            MovementState::SenderReported,
            MovementState::Processing,
            MovementState::Reconciled,
            MovementState::Exception,
        ])
        .prop_map(Recorded::Moved),
    ]
}

#[derive(Debug, Clone)]
struct World {
    live: Agreement,
    facts: Facts,
    approved_at: BTreeMap<GateId, Timestamp>,
    completions: usize,
}

impl World {
    fn go(&mut self, now: Timestamp) {
        let before = self.live.clone();
        if let Some(after) = before.advanced(&self.facts, time_scale(), Moment::test(now)) {
            self.completions += after.events().len();
            self.live = after.agreement;
        }
        assert_eq!(self.live.advanced(&self.facts, time_scale(), Moment::test(now)), None, "once is enough");
        self.check(&before, now);
    }

    fn record(&mut self, what: &Recorded, movement: MovementId, now: Timestamp) {
        self.go(now);
        let gates: Vec<GateId> = self.live.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.id).collect();
        match what {
            Recorded::Declined(which) | Recorded::Reopened(which) => {
                let before = self.live.clone();
                if let Some(gate) = gates.get(*which) {
                    self.decline_or_reopen(*gate, matches!(what, Recorded::Declined(_)), now);
                }
                self.completions += usize::from(before.is_active() && self.live.completion().is_some());
                self.check(&before, now);
                return;
            }
            Recorded::Approved(which) => {
                let approver = self.live.participants[0].id;
                self.facts.approved.extend(gates.get(*which).map(|gate| (*gate, approver)));
            }
            Recorded::Answered(which) => {
                let by = self.live.participants[0].id;
                let asked = gates.get(*which).filter(|gate| self.live.questions(**gate).is_some());
                self.facts.answered.extend(asked.map(|gate| ((*gate, by), now)));
            }
            Recorded::Judged(which, accepts) => {
                let by = self.live.participants[0].id;
                let answered = gates.get(*which).map(|gate| (*gate, by));
                if let Some(part) = answered.filter(|part| self.facts.answered.remove(part).is_some())
                    && *accepts
                {
                    self.facts.accepted.insert(part);
                }
            }
            Recorded::Uploaded(which) => {
                let by = self.live.participants[0].id;
                self.facts.uploaded.extend(gates.get(*which).map(|gate| (*gate, by)));
            }
            Recorded::Verified => drop(self.facts.verified.insert(self.live.participants[0].id)),
            Recorded::Signed => {
                self.facts.signed.extend(self.live.documents[0].blocks.iter().map(|block| block.id));
            }
            Recorded::Moved(state) => self.facts.movements = [(movement, *state)].into(),
        }
        self.facts.recorded_at = Some(now);
        for approved in &self.facts.approved {
            self.approved_at.entry(approved.0).or_insert(now);
        }
        self.go(now);
    }

    fn decline_or_reopen(&mut self, id: GateId, declines: bool, now: Timestamp) {
        let live = &self.live;
        let gate = live.stages.iter().flat_map(|stage| &stage.gates).find(|gate| gate.id == id).unwrap();
        let asks_people =
            gate.rule.participant_ids().is_some() || matches!(gate.rule, GateRule::SignatureBlocks { .. });
        if declines && asks_people && live.is_active() && matches!(gate.state, GateState::Open { .. }) {
            self.live = live.declined(&self.facts, time_scale(), now, &[id].into(), live.participants[0].id);
        } else if !declines && live.is_active() && matches!(gate.state, GateState::Declined { .. }) {
            self.live = live.reopened(&self.facts, time_scale(), now, id);
        }
    }

    fn check(&self, before: &Agreement, now: Timestamp) {
        let live = &self.live;
        let (current, done): (Vec<usize>, usize) = (
            (0..live.stages.len()).filter(|n| live.stages[*n].state == StageState::Current).collect(),
            live.stages.iter().take_while(|stage| stage.state == StageState::Done).count(),
        );
        match live.life {
            Life::Completed { completed_at, .. } => {
                assert!(current.is_empty() && done == live.stages.len());
                assert!(noon() <= completed_at && completed_at <= now);
            }
            Life::Active { .. } => assert_eq!(current, [done], "one stage is current, the ones before it are done"),
            Life::Expired { expired_at, .. } => {
                assert!(live.expires_at.is_some_and(|at| at <= expired_at) && expired_at <= now);
                assert_eq!(current, [done], "what had to be done still has");
                assert!(before.life == live.life || !self.facts.has_movement_in_flight());
            }
            Life::Draft | Life::Cancelled { .. } => panic!("nobody cancels here"),
        }
        assert_eq!(self.completions, usize::from(live.lifecycle() == Lifecycle::Completed), "told once");
        for (n, stage) in live.stages.iter().enumerate() {
            for gate in &stage.gates {
                match (&gate.state, stage.state) {
                    (GateState::Locked, StageState::Upcoming) => {}
                    (GateState::Open { opened_at, .. }, StageState::Current) => assert!(*opened_at <= now),
                    (GateState::Declined { opened_at, declined_at, .. }, StageState::Current) => {
                        assert!(opened_at <= declined_at && *declined_at <= now);
                    }
                    (GateState::Cleared { opened_at, cleared_at }, StageState::Current | StageState::Done) => {
                        assert!(noon() <= *opened_at && opened_at <= cleared_at && *cleared_at <= now);
                        let arrived = self.facts.movements.values().any(|state| state.is_reconciled());
                        let is_settled = stage.state == StageState::Done || !live.is_active();
                        let waits_for_money = matches!(gate.rule, GateRule::MovementReconciled { .. });
                        assert!(!waits_for_money || arrived || is_settled, "a claim is no proof");
                        let is_accepted = self.facts.accepted.iter().any(|(of, _)| *of == gate.id);
                        let asks = matches!(gate.rule, GateRule::InformationRequest { .. });
                        assert!(!asks || is_accepted, "answers that no member has accepted meet nothing");
                        let asks_for_approval = matches!(gate.rule, GateRule::ParticipantApproval { .. });
                        let approved_at = self.approved_at.get(&gate.id);
                        assert!(!asks_for_approval || approved_at.is_some_and(|at| at <= cleared_at));
                    }
                    (gate, stage) => panic!("{gate:?} in a stage that is {stage:?}"),
                }
            }
            let was: &Stage = &before.stages[n];
            assert!(was.state != StageState::Done || was == stage, "what is done stays as it is");
        }
        self.check_documents(before);
        if !before.is_active() {
            assert_eq!(live, before, "what has ended stays as it is");
        }
    }

    /// Checks that a document opens for signing once, permanently, by a finished step's action or a begun step's gate.
    fn check_documents(&self, before: &Agreement) {
        let progress = |document: &Document| match document.state {
            DocumentState::Draft => 0,
            DocumentState::Out => 1,
            DocumentState::Signed => 2,
        };
        for (document, was) in self.live.documents.iter().zip(&before.documents) {
            assert!(progress(was) <= progress(document), "{:?} after {:?}", document.state, was.state);
            let sends = |stage: &Stage| {
                let acts = stage.state == StageState::Done && stage.actions.contains(&StageAction::OpenSigning);
                let asks = stage.gates.iter().any(|gate| super::asks_to_sign(gate, document));
                acts || (stage.state != StageState::Upcoming && asks)
            };
            let is_sent = !document.blocks.is_empty() && self.live.stages.iter().any(sends);
            assert_eq!(progress(document) > 0, is_sent, "{document:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_agreement_comes_to_the_same_however_often_somebody_looks(
        stages in proptest::collection::vec(proptest::collection::vec(0..60_usize, 1..4), 1..4),
        actions in proptest::collection::vec(proptest::option::of(Just(StageAction::OpenSigning)), 3),
        recorded in proptest::collection::btree_map(1..150_i64, recorded(), 0..12),
        looks in proptest::collection::btree_set(1..150_i64, 0..20),
        expires_after in proptest::option::of(1..150_i64),
    ) {
        let deal = Deal::complete();
        let rules: Vec<Vec<GateRule>> =
            stages.iter().map(|stage| stage.iter().map(|number| rule(*number, &deal)).collect()).collect();
        let mut draft = Agreement { stages: Vec::new(), expires_at: expires_after.map(after), ..deal.draft.clone() };
        for rules in rules {
            let actions = actions.get(draft.stages.len()).copied().flatten();
            let (more, stage) = draft.add_stage(label("Step"), actions.into_iter().collect(), noon()).unwrap();
            draft = rules.into_iter().fold(more, |draft, rule| draft.add_gate(stage, rule, noon()).unwrap().0);
        }
        let live = draft.published(&Facts::none(), time_scale(), noon());
        let completions = usize::from(live.lifecycle() == Lifecycle::Completed);
        let start = World { live, facts: Facts::none(), approved_at: BTreeMap::new(), completions };
        let (mut seldom, mut often) = (start.clone(), start);
        for hour in 1..=150 {
            if looks.contains(&hour) {
                often.go(after(hour));
            }
            if let Some(what) = recorded.get(&hour) {
                seldom.record(what, deal.payments[0].id, after(hour));
                often.record(what, deal.payments[0].id, after(hour));
            }
        }
        seldom.go(after(200));
        often.go(after(200));
        let at = |world: World| Agreement { updated_at: noon(), ..world.live };
        prop_assert_eq!(at(seldom), at(often));
    }
}
