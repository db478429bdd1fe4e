//! How an active agreement advances (contract, section 3): a gate clears when its rule is met; a stage with all gates
//! cleared is done and opens the next; the last one completes the agreement, unless it expires first.
//!
//! Effects of time get the moment they were due: advancing every minute or once a year gives the same result.
//!
//! Decision: opening a gate that asks for a signature opens its document: people must be able to do what is asked.
//!
//! Decision: expiry emits no event, because the specification has no type for it. `lifecycle` and `expires_at` show it.

#[cfg(test)]
mod histories;
mod rules;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Deref;

use rules::is_signed;

use super::facts::Facts;
use super::gate::{Gate, GateRule, GateState, GateStatus};
use super::{Agreement, Document, DocumentState, Life, Lifecycle, StageAction, StageState};
use crate::domain::event::{AgreementData, EventKind};
use crate::domain::ids::{GateId, MovementId, ParticipantId};
use crate::domain::moment::Moment;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::domain::time_zone::TimeZone;

/// An agreement advanced by its own rules: the only change of an active agreement without a member.
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
/// use shared::domain::agreement::progress::AdvancedAgreement;
/// use shared::domain::moment::Moment;
///
/// fn complete(agreement: Agreement, moment: Moment) -> AdvancedAgreement {
///     AdvancedAgreement { agreement, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvancedAgreement {
    agreement: Agreement,
    moment: Moment,
}

impl Deref for AdvancedAgreement {
    type Target = Agreement;

    fn deref(&self) -> &Agreement {
        &self.agreement
    }
}

impl AdvancedAgreement {
    /// The call that advances it, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The events to emit.
    #[must_use]
    pub fn events(&self) -> Vec<EventKind> {
        self.agreement.completion().into_iter().collect()
    }
}

impl Agreement {
    /// When time alone advances it next: at a countdown's end in its current stage, or at its expiry.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.next_countdown().into_iter().chain(self.expiry()).min()
    }

    /// The agreement advanced to a moment. None if nothing changes.
    #[must_use]
    pub fn advanced(&self, facts: &Facts, time_scale: TimeScale, moment: Moment) -> Option<AdvancedAgreement> {
        self.advanced_at(facts, time_scale, moment.at()).map(|agreement| AdvancedAgreement { agreement, moment })
    }

    /// The agreement as of a moment, whether or not that is recorded. The basis of all decisions.
    #[must_use]
    pub fn as_of(&self, facts: &Facts, time_scale: TimeScale, now: Timestamp) -> Cow<'_, Self> {
        self.advanced_at(facts, time_scale, now).map_or(Cow::Borrowed(self), Cow::Owned)
    }

    fn advanced_at(&self, facts: &Facts, time_scale: TimeScale, now: Timestamp) -> Option<Self> {
        let mut after = self.clone();
        after.advance_to(facts, time_scale, now);
        if after == *self {
            return None;
        }
        after.updated_at = now.max(self.updated_at);
        Some(after)
    }

    /// The published agreement. Its first stage is current, with met gates cleared and the others open.
    #[must_use]
    pub(crate) fn published(&self, facts: &Facts, time_scale: TimeScale, now: Timestamp) -> Self {
        let mut agreement = self.clone();
        agreement.life = Life::Active { published_at: now };
        agreement.updated_at = now.max(self.updated_at);
        agreement.open(0, time_scale, now);
        agreement.advance_to(facts, time_scale, now);
        agreement
    }

    /// The draft with its organization's zone, which fixes the days of its promises. Unset without promises.
    #[must_use]
    pub(in crate::domain) fn in_zone(&self, zone: &TimeZone) -> Self {
        Self { zone: (!self.promises.is_empty()).then(|| zone.clone()), ..self.clone() }
    }

    /// Advances an active agreement without the fact, then with it. After its end, only facts about movements change.
    #[must_use]
    pub(in crate::domain) fn recorded(
        &self,
        facts: &Facts,
        time_scale: TimeScale,
        now: Timestamp,
        record: impl FnOnce(&mut Facts),
    ) -> Self {
        let mut after = self.clone();
        after.advance_to(facts, time_scale, now);
        let mut facts = facts.clone();
        record(&mut facts);
        // This call's clock may be behind the previous call's.
        facts.recorded_at = facts.recorded_at.max(Some(now));
        after.advance_to(&facts, time_scale, now);
        after.facts = facts;
        after.end_movements();
        after.updated_at = now.max(self.updated_at);
        after
    }

    #[must_use]
    pub(in crate::domain) fn declined(
        &self,
        facts: &Facts,
        time_scale: TimeScale,
        now: Timestamp,
        gates: &BTreeSet<GateId>,
        participant_id: ParticipantId,
    ) -> Self {
        let mut after = self.as_of(facts, time_scale, now).into_owned();
        for gate in after.stages.iter_mut().flat_map(|stage| &mut stage.gates).filter(|gate| gates.contains(&gate.id)) {
            if let GateState::Open { opened_at, .. } = gate.state {
                // This call's clock may be behind the call that opened the gate.
                let declined_at = now.max(opened_at);
                gate.state = GateState::Declined { opened_at, participant_id, declined_at };
            }
        }
        after.updated_at = now.max(self.updated_at);
        after
    }

    #[must_use]
    pub(in crate::domain) fn reopened(
        &self,
        facts: &Facts,
        time_scale: TimeScale,
        now: Timestamp,
        gate: GateId,
    ) -> Self {
        let mut after = self.as_of(facts, time_scale, now).into_owned();
        for gate in after.stages.iter_mut().flat_map(|stage| &mut stage.gates).filter(|found| found.id == gate) {
            gate.open(time_scale, now);
        }
        // Its request may have been met for another gate meanwhile.
        after.advance_to(facts, time_scale, now);
        after.updated_at = now.max(self.updated_at);
        after
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    #[must_use]
    pub(in crate::domain) fn cancelled(&self, now: Timestamp) -> Self {
        let published_at = match self.life {
            Life::Active { published_at } => Some(published_at),
            _ => None,
        };
        // This call's clock may be behind the publishing call's.
        let cancelled_at = published_at.map_or(now, |published_at| published_at.max(now));
        let life = Life::Cancelled { published_at, cancelled_at };
        let mut after = Self { life, updated_at: now.max(self.updated_at), ..self.clone() };
        after.end_movements();
        after
    }

    /// Whether meeting some of its open gates now completes it: no other gate has anything left to wait for.
    #[must_use]
    pub fn is_completed_with(&self, is_met: impl Fn(&Gate) -> bool) -> bool {
        let mut gates = self.stages.iter().flat_map(|stage| &stage.gates);
        self.lifecycle() == Lifecycle::Active
            && gates.all(|gate| match gate.state.status() {
                GateStatus::Cleared => true,
                GateStatus::Open => is_met(gate),
                GateStatus::Locked | GateStatus::Declined => false,
            })
    }

    pub(in crate::domain) fn completion(&self) -> Option<EventKind> {
        let data = || AgreementData { agreement_id: self.id, name: self.name.clone() };
        matches!(self.life, Life::Completed { .. }).then(|| EventKind::AgreementCompleted(data()))
    }

    /// Cancels the movements that end with the agreement; their records follow (architecture, section 4).
    fn end_movements(&mut self) {
        if matches!(self.life, Life::Cancelled { .. } | Life::Expired { .. }) {
            self.facts.end_movements();
        }
    }

    /// Whether only one movement's money in flight keeps it from expiring: once settled, it expires at once.
    #[must_use]
    pub fn is_kept_by(&self, movement: MovementId, now: Timestamp) -> bool {
        let is_over = self.expiry().is_some_and(|at| at <= now);
        let mut in_flight = self.facts.movements.iter().filter(|(_, state)| state.is_in_flight());
        is_over && in_flight.next().is_some_and(|(id, _)| *id == movement) && in_flight.next().is_none()
    }

    fn next_countdown(&self) -> Option<Timestamp> {
        let current = self.stages.iter().filter(|stage| self.is_active() && stage.state == StageState::Current);
        current.flat_map(|stage| &stage.gates).filter_map(Gate::clears_at).min()
    }

    fn expiry(&self) -> Option<Timestamp> {
        self.expires_at.filter(|_| self.is_active())
    }

    fn is_active(&self) -> bool {
        matches!(self.life, Life::Active { .. })
    }

    fn advance_to(&mut self, facts: &Facts, time_scale: TimeScale, now: Timestamp) {
        while self.is_active() {
            // Money in flight postpones expiry.
            let expiry = self.expiry().filter(|_| !facts.has_movement_in_flight());
            let due = self.next_countdown().into_iter().chain(expiry).min();
            // Money in flight held an effect up if it was due before the last recorded fact.
            let at = due.max(facts.recorded_at.filter(|_| due.is_some())).map_or(now, |at| at.min(now));
            self.clear_stages(facts, time_scale, at);
            // Completion wins over expiry at the same moment.
            if let Life::Active { published_at } = self.life
                && expiry.is_some_and(|due| due <= at)
            {
                self.life = Life::Expired { published_at, expired_at: at };
                self.end_movements();
            }
            if at == now {
                return;
            }
        }
    }

    fn clear_stages(&mut self, facts: &Facts, time_scale: TimeScale, at: Timestamp) {
        while let (Life::Active { published_at }, Some(index)) = (self.life, self.current_stage()) {
            let Self { stages, documents, .. } = self;
            sign(documents, facts);
            let Some(stage) = stages.get_mut(index) else { return };
            for gate in &mut stage.gates {
                gate.settle(documents, facts, at);
            }
            if stage.gates.iter().any(|gate| gate.state.status() != GateStatus::Cleared) {
                return;
            }
            stage.state = StageState::Done;
            // Other actions concern separate records, which check whether the stage is done.
            if stage.actions.contains(&StageAction::OpenSigning) {
                send_out(documents, |_| true);
            }
            if index + 1 < self.stages.len() {
                self.open(index + 1, time_scale, at);
            } else {
                self.life = Life::Completed { published_at, completed_at: at };
            }
        }
    }

    fn current_stage(&self) -> Option<usize> {
        self.stages.iter().position(|stage| stage.state == StageState::Current)
    }

    /// Makes a stage current and opens the documents that its gates ask to sign.
    fn open(&mut self, index: usize, time_scale: TimeScale, at: Timestamp) {
        let Self { stages, documents, .. } = self;
        let Some(stage) = stages.get_mut(index) else { return };
        stage.state = StageState::Current;
        for gate in &mut stage.gates {
            gate.open(time_scale, at);
        }
        send_out(documents, |document| stage.gates.iter().any(|gate| asks_to_sign(gate, document)));
    }
}

fn asks_to_sign(gate: &Gate, document: &Document) -> bool {
    match &gate.rule {
        GateRule::SignatureBlocks { block_ids } => document.blocks.iter().any(|block| block_ids.contains(&block.id)),
        GateRule::DocumentSigned { document_id } => *document_id == Some(document.id),
        _ => false,
    }
}

fn send_out(documents: &mut [Document], wanted: impl Fn(&Document) -> bool) {
    for document in documents {
        if document.state == DocumentState::Draft && !document.blocks.is_empty() && wanted(document) {
            document.state = DocumentState::Out;
        }
    }
}

fn sign(documents: &mut [Document], facts: &Facts) {
    for document in documents {
        if document.state == DocumentState::Out && is_signed(document, facts) {
            document.state = DocumentState::Signed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::AgreementKind;
    use super::super::fixtures::{Deal, after, draft, label, noon, time_scale, until, waiting};
    use super::super::gate::GateState;
    use super::*;
    use crate::domain::movement::state::MovementState;

    fn published(stages: &[&[GateRule]], actions: &[StageAction], expires_at: Option<Timestamp>) -> Agreement {
        let deal = Deal::complete();
        let mut draft = Agreement { stages: Vec::new(), expires_at, ..deal.draft };
        for rule in stages.iter().flat_map(|rules| rules.iter()) {
            if let GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } = rule {
                draft.facts.movements.extend(movement_id.map(|id| (id, MovementState::Draft)));
            }
        }
        for rules in stages {
            let (more, stage) = draft.add_stage(label("Step"), actions.iter().copied().collect(), noon()).unwrap();
            draft = rules.iter().fold(more, |draft, rule| draft.add_gate(stage, rule.clone(), noon()).unwrap().0);
        }
        draft.published(&Facts::none(), time_scale(), noon())
    }

    #[test]
    fn only_what_is_left_last_completes_it() {
        let one = published(&[&[waiting(1), waiting(2)]], &[], None);
        let first = one.stages[0].gates[0].id;
        assert!(one.is_completed_with(|_| true) && !one.is_completed_with(|gate| gate.id == first));
        let two = published(&[&[waiting(1)], &[waiting(2)]], &[], None);
        assert!(!two.is_completed_with(|_| true), "the next step is still to come");
    }

    fn states(agreement: &Agreement) -> Vec<StageState> {
        agreement.stages.iter().map(|stage| stage.state).collect()
    }

    #[test]
    fn publishing_opens_the_first_stage_and_no_other() {
        let draft = Deal::complete().draft;
        let live = draft.published(&Facts::none(), time_scale(), noon());
        assert_eq!(live.life, Life::Active { published_at: noon() });
        for (n, stage) in live.stages.iter().enumerate() {
            let (state, gates) = if n == 0 {
                (StageState::Current, GateStatus::Open)
            } else {
                (StageState::Upcoming, GateStatus::Locked)
            };
            assert_eq!(stage.state, state);
            assert!(stage.gates.iter().all(|gate| gate.state.status() == gates), "{stage:?}");
        }
        let opened = GateState::Open { opened_at: noon(), due_at: None };
        assert!(live.stages[0].gates.iter().all(|gate| gate.state == opened));
        assert_eq!(live.documents[0].state, DocumentState::Out, "an open gate asks to sign it");
        assert_eq!(live.participants, draft.participants);
    }

    #[test]
    fn cancelling_keeps_when_it_was_published() {
        let draft = Deal::complete().draft;
        let (published_at, cancelled_at) = (noon(), after(1));
        let live = draft.published(&Facts::none(), time_scale(), published_at);
        assert_eq!(draft.cancelled(cancelled_at).life, Life::Cancelled { published_at: None, cancelled_at });
        let published_at = Some(published_at);
        assert_eq!(live.cancelled(cancelled_at).life, Life::Cancelled { published_at, cancelled_at });
    }

    #[test]
    fn a_countdown_is_cleared_at_its_moment_and_the_last_stage_completes_the_agreement() {
        let live = published(&[&[waiting(24)], &[waiting(2), until(after(3))], &[waiting(1)]], &[], None);
        assert_eq!(live.next_due(), Some(after(24)));
        let just_before = Timestamp::from_unix_ms(after(24).unix_ms() - 1).unwrap();
        assert_eq!(live.advanced(&Facts::none(), time_scale(), Moment::test(just_before)), None);

        let second = live.advanced(&Facts::none(), time_scale(), Moment::test(after(25))).unwrap();
        assert_eq!(states(&second), [StageState::Done, StageState::Current, StageState::Upcoming]);
        let gates: Vec<_> = second.stages[1].gates.iter().map(|gate| (gate.state.clone(), gate.due_at())).collect();
        let opened_at = after(24);
        assert_eq!(
            gates,
            [
                (GateState::Open { opened_at, due_at: Some(after(26)) }, Some(after(26))),
                // Its time had passed when it opened.
                (GateState::Cleared { opened_at, cleared_at: opened_at }, Some(after(3))),
            ]
        );
        assert_eq!((second.next_due(), second.updated_at, second.events()), (Some(after(26)), after(25), Vec::new()));

        let done = second.advanced(&Facts::none(), time_scale(), Moment::test(after(1000))).unwrap();
        let (published_at, completed_at) = (noon(), after(27));
        assert_eq!(done.life, Life::Completed { published_at, completed_at });
        assert_eq!((done.next_due(), done.stages[2].gates[0].due_at()), (None, Some(completed_at)));
        let data = AgreementData { agreement_id: live.id, name: live.name.clone() };
        assert_eq!(done.events(), [EventKind::AgreementCompleted(data)]);
        assert_eq!(done.advanced(&Facts::none(), time_scale(), Moment::test(after(2000))), None, "once");
    }

    #[test]
    fn what_is_over_when_it_is_published_is_cleared_then() {
        let (past, published_at) = (after(-5), noon());
        let live = published(&[&[until(past)], &[until(past), waiting(1)]], &[], None);
        let cleared = GateState::Cleared { opened_at: published_at, cleared_at: published_at };
        let states: Vec<_> = live.stages.iter().map(|stage| &stage.gates[0].state).collect();
        assert_eq!((states, live.stages[0].gates[0].due_at()), (vec![&cleared, &cleared], Some(past)));
        let all_over = published(&[&[until(past)]], &[], None);
        assert_eq!(all_over.life, Life::Completed { published_at, completed_at: published_at });
    }

    #[test]
    fn an_agreement_ends_when_its_time_is_over_unless_it_is_completed_by_then_or_money_is_on_its_way() {
        let ends_at = |rule, expires_at| {
            let live = published(&[&[rule]], &[], Some(expires_at));
            let ended = live.advanced(&Facts::none(), time_scale(), Moment::test(after(100))).unwrap();
            assert_eq!(ended.next_due(), None);
            ended
        };
        let published_at = noon();
        let ended = ends_at(waiting(24), after(23));
        assert_eq!(ended.life, Life::Expired { published_at, expired_at: after(23) });
        assert_eq!((ended.events(), ended.stages[0].gates[0].due_at()), (Vec::new(), Some(after(24))));
        for expires_at in [after(24), after(25)] {
            let completed_at = after(24);
            assert_eq!(ends_at(waiting(24), expires_at).life, Life::Completed { published_at, completed_at });
        }

        let movement = MovementId::new();
        let paid = GateRule::MovementReconciled { movement_id: Some(movement) };
        let live = published(&[&[paid]], &[], Some(after(5)));
        let with = |state| Facts { movements: [(movement, state)].into(), ..Facts::none() };
        for (state, life) in [
            (MovementState::SenderReported, Lifecycle::Active),
            (MovementState::ReceiptPending, Lifecycle::Active),
            (MovementState::Processing, Lifecycle::Active),
            (MovementState::Exception, Lifecycle::Expired),
            (MovementState::Returned, Lifecycle::Expired),
            (MovementState::InstructionsReady, Lifecycle::Expired),
        ] {
            assert_eq!(live.as_of(&with(state), time_scale(), after(6)).lifecycle(), life, "{state:?}");
        }
        assert_eq!(live.next_due(), Some(after(5)), "the clock keeps looking");
    }

    #[test]
    fn money_that_arrives_after_the_end_counts_from_when_that_is_recorded() {
        let movement = MovementId::new();
        let paid = GateRule::MovementReconciled { movement_id: Some(movement) };
        let live = published(&[&[waiting(3)], &[paid]], &[], Some(after(2)));
        let recorded = |state, hours| Facts {
            recorded_at: Some(after(hours)),
            movements: [(movement, state)].into(),
            ..Facts::none()
        };
        // Money was in flight at the expiry, and the stage waiting for it opened later.
        let held = live.as_of(&recorded(MovementState::Processing, 1), time_scale(), after(5)).into_owned();
        assert_eq!(states(&held), [StageState::Done, StageState::Current]);
        let arrived = held.as_of(&recorded(MovementState::Reconciled, 5), time_scale(), after(9)).into_owned();
        assert_eq!(arrived.life, Life::Completed { published_at: noon(), completed_at: after(5) });
        let cleared = GateState::Cleared { opened_at: after(3), cleared_at: after(5) };
        assert_eq!(arrived.stages[1].gates[0].state, cleared);
        let returned = held.as_of(&recorded(MovementState::Returned, 5), time_scale(), after(9)).into_owned();
        assert_eq!(returned.life, Life::Expired { published_at: noon(), expired_at: after(5) });
    }

    #[test]
    fn what_is_signed_and_sent_out_shows_on_the_document() {
        let deal = Deal::complete();
        let (document, block) = (deal.draft.documents[0].id, deal.draft.documents[0].blocks[0].id);
        let (draft, unsigned) = deal.draft.add_document(label("Plan"), None, noon()).unwrap();
        let mut draft = Agreement { stages: Vec::new(), expires_at: None, ..draft };
        for (actions, rule) in [
            (vec![], waiting(1)),
            (vec![StageAction::OpenSigning], waiting(1)),
            (vec![], GateRule::DocumentSigned { document_id: Some(document) }),
            (vec![], waiting(1)),
        ] {
            let (more, stage) = draft.add_stage(label("Step"), actions.into_iter().collect(), noon()).unwrap();
            draft = more.add_gate(stage, rule, noon()).unwrap().0;
        }
        let live = draft.published(&Facts::none(), time_scale(), noon());
        let state = |live: &Agreement, id| live.document(id).unwrap().state;
        let at = |facts: &Facts, hours| live.as_of(facts, time_scale(), after(hours)).into_owned();
        let nothing = Facts::none();
        assert_eq!(state(&at(&nothing, 1), document), DocumentState::Draft);
        assert_eq!(state(&at(&nothing, 2), document), DocumentState::Out);
        let signed = Facts { signed: [block].into(), ..Facts::none() };
        let later = at(&nothing, 2).as_of(&signed, time_scale(), after(5)).into_owned();
        assert_eq!((state(&later, document), state(&later, unsigned)), (DocumentState::Signed, DocumentState::Draft));
        assert_eq!(later.next_due(), Some(after(6)), "the stage after opened when the fact was recorded");
    }

    #[test]
    fn a_gate_opens_again_when_the_money_turns_out_not_to_have_arrived_but_a_done_stage_stays_done() {
        let movement = MovementId::new();
        let paid = GateRule::MovementReconciled { movement_id: Some(movement) };
        let authorized = GateRule::MovementAuthorized { movement_id: Some(movement) };
        let with = |state| Facts { movements: [(movement, state)].into(), ..Facts::none() };
        let live = published(&[&[paid, authorized, waiting(2)], &[waiting(9)]], &[], None);
        let reconciled = live.as_of(&with(MovementState::Reconciled), time_scale(), after(1)).into_owned();
        let gates = |live: &Agreement| live.stages[0].gates.iter().map(|gate| gate.state.status()).collect::<Vec<_>>();
        assert_eq!(gates(&reconciled), [GateStatus::Cleared, GateStatus::Cleared, GateStatus::Open]);
        let exception = reconciled.as_of(&with(MovementState::Exception), time_scale(), after(1)).into_owned();
        assert_eq!(gates(&exception), [GateStatus::Open, GateStatus::Cleared, GateStatus::Open]);
        let later = exception.as_of(&with(MovementState::Exception), time_scale(), after(3)).into_owned();
        assert_eq!(states(&later), [StageState::Current, StageState::Upcoming]);

        let done = reconciled.as_of(&with(MovementState::Reconciled), time_scale(), after(2)).into_owned();
        assert_eq!(states(&done), [StageState::Done, StageState::Current]);
        assert_eq!(done.advanced(&with(MovementState::Exception), time_scale(), Moment::test(after(3))), None);
    }

    #[test]
    fn what_is_not_active_stays_as_it_is() {
        let draft = draft(AgreementKind::General);
        let live = published(&[&[waiting(1)]], &[], Some(after(2)));
        for still in [draft.clone(), draft.cancelled(noon()), live.cancelled(noon())] {
            assert_eq!(
                (still.next_due(), still.advanced(&Facts::none(), time_scale(), Moment::test(after(9)))),
                (None, None)
            );
        }
    }

    #[test]
    fn a_countdown_keeps_the_pace_of_the_stack() {
        let mut draft = Agreement { stages: Vec::new(), ..Deal::complete().draft };
        let (more, stage) = draft.add_stage(label("Step"), [].into(), noon()).unwrap();
        draft = more.add_gate(stage, waiting(1), noon()).unwrap().0;
        let live = draft.published(&Facts::none(), TimeScale::scaled(3600), noon());
        assert_eq!(live.stages[0].gates[0].due_at(), Some(noon().plus_seconds(1)));
    }
}
