//! How an active agreement goes on (contract, section 3): a gate that is met is cleared, a stage whose gates are all
//! cleared is done and the next one opens, the last one completes the agreement, and time may end it before. Pure: no
//! I/O, and the time is an argument.
//!
//! What time does happens at its own moment, however late somebody looks: settled every minute or once after a year, an
//! agreement comes to the same.
//!
//! Decision: a document is out for signature from the moment a gate that asks to sign it is open, whether or not an
//! earlier stage has `open_signing`: a person who is asked to sign can sign.
//!
//! Decision: the expiry of an agreement emits no event, because the specification has no event type for it. `lifecycle`
//! and `expires_at` show it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Deref;

use super::gate::{Gate, GateRule, GateState, GateStatus};
use super::{Agreement, Document, DocumentState, Life, StageAction, StageState};
use crate::domain::event::{AgreementData, EventKind};
use crate::domain::ids::{GateId, MovementId, ParticipantId, SignatureBlockId};
use crate::domain::moment::Moment;
use crate::domain::movement::MovementState;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;

/// What the gates of an agreement wait for, as far as it has come about: what has been recorded of its documents,
/// participants and movements. Whoever records another fact lets the agreement go on to that moment first without it,
/// and then with it, in the transaction that records it.
///
/// Only the domain makes facts; all others know none:
///
/// ```compile_fail
/// use shared::domain::agreement::progress::Facts;
/// use shared::domain::ids::{GateId, ParticipantId};
///
/// fn approve(facts: &mut Facts, gate: GateId, participant: ParticipantId) {
///     facts.approved.insert((gate, participant));
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// When the last of them was recorded; they count from then on.
    pub(in crate::domain) recorded_at: Option<Timestamp>,
    /// The blocks that are signed.
    pub(in crate::domain) signed: BTreeSet<SignatureBlockId>,
    /// Who has approved, at which gate.
    pub(in crate::domain) approved: BTreeSet<(GateId, ParticipantId)>,
    /// Who has uploaded a file, at which gate.
    pub(in crate::domain) uploaded: BTreeSet<(GateId, ParticipantId)>,
    /// Whose latest answers a member has read and accepted, at which gate.
    pub(in crate::domain) accepted: BTreeSet<(GateId, ParticipantId)>,
    /// Of whom a verification is recorded.
    pub(in crate::domain) verified: BTreeSet<ParticipantId>,
    /// The agreement's movements.
    pub(in crate::domain) movements: Vec<(MovementId, MovementState)>,
}

impl Facts {
    /// Nothing is recorded: what participants do, and movements, come with their own resources, and with what reads them
    /// wherever this is called. Until then only time takes an agreement further.
    #[must_use]
    pub fn none() -> Self {
        Self {
            recorded_at: None,
            signed: BTreeSet::new(),
            approved: BTreeSet::new(),
            uploaded: BTreeSet::new(),
            accepted: BTreeSet::new(),
            verified: BTreeSet::new(),
            movements: Vec::new(),
        }
    }

    /// Whether money is on its way: nothing ends an agreement then.
    #[must_use]
    pub fn has_movement_in_flight(&self) -> bool {
        self.movements.iter().any(|(_, state)| state.is_in_flight())
    }

    fn movement(&self, wanted: Option<MovementId>) -> Option<MovementState> {
        self.movements.iter().find(|(id, _)| Some(*id) == wanted).map(|(_, state)| *state)
    }
}

/// An agreement that went on by its own rules: the one change of an active agreement that needs no member.
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
/// use shared::domain::agreement::progress::Proceeded;
/// use shared::domain::moment::Moment;
///
/// fn complete(agreement: Agreement, moment: Moment) -> Proceeded {
///     Proceeded { agreement, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proceeded {
    agreement: Agreement,
    moment: Moment,
}

impl Deref for Proceeded {
    type Target = Agreement;

    fn deref(&self) -> &Agreement {
        &self.agreement
    }
}

impl Proceeded {
    /// When it was decided, and in which call.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// What subscribers are told.
    #[must_use]
    pub fn events(&self) -> Vec<EventKind> {
        self.agreement.completion().into_iter().collect()
    }
}

impl Agreement {
    /// When time alone takes it further: a countdown of its current stage ends, or the agreement. Nothing when it is not
    /// active, or waits for people only.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.next_countdown().into_iter().chain(self.expiry()).min()
    }

    /// The agreement after all that has become due or was met by a moment; nothing when that is how it is already.
    #[must_use]
    pub fn proceeded(&self, facts: &Facts, time_scale: TimeScale, moment: Moment) -> Option<Proceeded> {
        self.proceeded_at(facts, time_scale, moment.at()).map(|agreement| Proceeded { agreement, moment })
    }

    /// The agreement as it is at a moment, whether or not that is written down. All decisions are taken on this.
    #[must_use]
    pub fn as_of(&self, facts: &Facts, time_scale: TimeScale, now: Timestamp) -> Cow<'_, Self> {
        self.proceeded_at(facts, time_scale, now).map_or(Cow::Borrowed(self), Cow::Owned)
    }

    fn proceeded_at(&self, facts: &Facts, time_scale: TimeScale, now: Timestamp) -> Option<Self> {
        let mut after = self.clone();
        after.go_on(facts, time_scale, now);
        if after == *self {
            return None;
        }
        after.updated_at = now.max(self.updated_at);
        Some(after)
    }

    /// The published agreement: its first stage is current, that stage's gates are open, and what is met already is
    /// cleared.
    #[must_use]
    pub(in crate::domain) fn published(&self, facts: &Facts, time_scale: TimeScale, now: Timestamp) -> Self {
        let mut agreement = self.clone();
        agreement.life = Life::Active { published_at: now };
        agreement.updated_at = now.max(self.updated_at);
        agreement.open(0, time_scale, now);
        agreement.go_on(facts, time_scale, now);
        agreement
    }

    /// The cancelled agreement.
    #[must_use]
    pub(in crate::domain) fn cancelled(&self, now: Timestamp) -> Self {
        let published_at = match self.life {
            Life::Active { published_at } => Some(published_at),
            _ => None,
        };
        // Whoever cancels may have a clock that is behind that of whoever published.
        let cancelled_at = published_at.map_or(now, |published_at| published_at.max(now));
        let life = Life::Cancelled { published_at, cancelled_at };
        Self { life, updated_at: now.max(self.updated_at), ..self.clone() }
    }

    /// What subscribers are told of its completion, if it is completed.
    pub(in crate::domain) fn completion(&self) -> Option<EventKind> {
        let data = || AgreementData { agreement_id: self.id, name: self.name.clone() };
        matches!(self.life, Life::Completed { .. }).then(|| EventKind::AgreementCompleted(data()))
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

    /// Goes through the moments at which something is due, the earliest first, up to now.
    fn go_on(&mut self, facts: &Facts, time_scale: TimeScale, now: Timestamp) {
        while self.is_active() {
            // Money that is on its way keeps an agreement that would have expired.
            let expiry = self.expiry().filter(|_| !facts.has_movement_in_flight());
            let due = self.next_countdown().into_iter().chain(expiry).min();
            // What is due at a moment before the last fact was held up until then: by money that was on its way.
            let at = due.max(facts.recorded_at.filter(|_| due.is_some())).map_or(now, |at| at.min(now));
            self.run(facts, time_scale, at);
            // What is completed at the very moment at which it would expire is completed.
            if let Life::Active { published_at } = self.life
                && expiry.is_some_and(|due| due <= at)
            {
                self.life = Life::Expired { published_at, expired_at: at };
            }
            if at == now {
                return;
            }
        }
    }

    /// Clears what is met at a moment, and goes from stage to stage as far as that leads.
    fn run(&mut self, facts: &Facts, time_scale: TimeScale, at: Timestamp) {
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
            // The others act on records of their own, by the stage being done.
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

    /// Makes a stage the current one. What its gates ask to be signed goes out, if it is not yet.
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

/// Sends documents out for signing; those in which nobody signs stay.
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

fn is_signed(document: &Document, facts: &Facts) -> bool {
    !document.blocks.is_empty() && document.blocks.iter().all(|block| facts.signed.contains(&block.id))
}

impl Gate {
    /// When time clears it: a countdown that waits.
    fn clears_at(&self) -> Option<Timestamp> {
        match self.state {
            GateState::Open { due_at, .. } => due_at,
            _ => None,
        }
    }

    fn open(&mut self, time_scale: TimeScale, at: Timestamp) {
        self.state = GateState::Open { opened_at: at, due_at: self.rule.due_at(time_scale, at) };
    }

    /// Clears it if its rule is met, and opens it again if it waited for money that turns out not to have arrived.
    fn settle(&mut self, documents: &[Document], facts: &Facts, at: Timestamp) {
        match self.state {
            GateState::Open { opened_at, .. } if self.is_met(documents, facts, at) => {
                self.state = GateState::Cleared { opened_at, cleared_at: at };
            }
            GateState::Cleared { opened_at, .. }
                if matches!(self.rule, GateRule::MovementReconciled { .. }) && !self.is_met(documents, facts, at) =>
            {
                self.state = GateState::Open { opened_at, due_at: None };
            }
            GateState::Locked | GateState::Open { .. } | GateState::Cleared { .. } | GateState::Declined { .. } => {}
        }
    }

    /// Whether its rule is met (contract, section 3, "Gate rules"). One that names nothing never is.
    fn is_met(&self, documents: &[Document], facts: &Facts, at: Timestamp) -> bool {
        let everybody = |named: &BTreeSet<ParticipantId>, done: &BTreeSet<(GateId, ParticipantId)>| {
            !named.is_empty() && named.iter().all(|participant| done.contains(&(self.id, *participant)))
        };
        match &self.rule {
            GateRule::SignatureBlocks { block_ids } => !block_ids.is_empty() && block_ids.is_subset(&facts.signed),
            GateRule::DocumentSigned { document_id } => {
                documents.iter().any(|document| Some(document.id) == *document_id && is_signed(document, facts))
            }
            GateRule::ParticipantApproval { participant_ids } => everybody(participant_ids, &facts.approved),
            GateRule::FileUpload { participant_ids } => everybody(participant_ids, &facts.uploaded),
            GateRule::Countdown { .. } => self.clears_at().is_some_and(|due_at| due_at <= at),
            GateRule::MovementAuthorized { movement_id } => {
                facts.movement(*movement_id).is_some_and(MovementState::is_authorized)
            }
            GateRule::MovementReconciled { movement_id } => {
                facts.movement(*movement_id).is_some_and(MovementState::is_reconciled)
            }
            GateRule::InformationRequest { participant_ids, .. } => everybody(participant_ids, &facts.accepted),
            GateRule::IdentityVerified { participant_ids } => {
                !participant_ids.is_empty() && participant_ids.is_subset(&facts.verified)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::fixtures::{Deal, draft, label, noon};
    use super::super::gate::Countdown;
    use super::super::{AgreementKind, Lifecycle, Stage};
    use super::*;

    fn time_scale() -> TimeScale {
        TimeScale::default()
    }

    fn after(hours: i64) -> Timestamp {
        noon().plus_seconds(hours * 3600)
    }

    /// An agreement with these stages, published at noon.
    fn published(stages: &[&[GateRule]], actions: &[StageAction], expires_at: Option<Timestamp>) -> Agreement {
        let deal = Deal::complete();
        let mut draft = Agreement { stages: Vec::new(), expires_at, ..deal.draft };
        for rules in stages {
            let (more, stage) = draft.add_stage(label("Step"), actions.iter().copied().collect(), noon()).unwrap();
            draft = rules.iter().fold(more, |draft, rule| draft.add_gate(stage, rule.clone(), noon()).unwrap().0);
        }
        draft.published(&Facts::none(), time_scale(), noon())
    }

    fn waiting(hours: u32) -> GateRule {
        GateRule::Countdown { until: Some(Countdown::AfterHours(hours)) }
    }

    fn until(moment: Timestamp) -> GateRule {
        GateRule::Countdown { until: Some(Countdown::At(moment)) }
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
        assert_eq!(live.proceeded(&Facts::none(), time_scale(), Moment::test(just_before)), None);

        let second = live.proceeded(&Facts::none(), time_scale(), Moment::test(after(25))).unwrap();
        assert_eq!(states(&second), [StageState::Done, StageState::Current, StageState::Upcoming]);
        let gates: Vec<_> = second.stages[1].gates.iter().map(|gate| (gate.state.clone(), gate.due_at())).collect();
        let opened_at = after(24);
        assert_eq!(
            gates,
            [
                (GateState::Open { opened_at, due_at: Some(after(26)) }, Some(after(26))),
                // Its moment was over when it opened.
                (GateState::Cleared { opened_at, cleared_at: opened_at }, Some(after(3))),
            ]
        );
        assert_eq!((second.next_due(), second.updated_at, second.events()), (Some(after(26)), after(25), Vec::new()));

        let done = second.proceeded(&Facts::none(), time_scale(), Moment::test(after(1000))).unwrap();
        let (published_at, completed_at) = (noon(), after(27));
        assert_eq!(done.life, Life::Completed { published_at, completed_at });
        assert_eq!((done.next_due(), done.stages[2].gates[0].due_at()), (None, Some(completed_at)));
        let data = AgreementData { agreement_id: live.id, name: live.name.clone() };
        assert_eq!(done.events(), [EventKind::AgreementCompleted(data)]);
        assert_eq!(done.proceeded(&Facts::none(), time_scale(), Moment::test(after(2000))), None, "once");
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
            let ended = live.proceeded(&Facts::none(), time_scale(), Moment::test(after(100))).unwrap();
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
        let with = |state| Facts { movements: vec![(movement, state)], ..Facts::none() };
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
            movements: vec![(movement, state)],
            ..Facts::none()
        };
        // The money was on its way at the end, and the stage that waits for it opened later.
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
    fn each_rule_is_met_by_what_it_asks_for_and_by_nothing_else() {
        let deal = Deal::complete();
        let rules: Vec<GateRule> =
            deal.draft.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.rule.clone()).collect();
        let live = Agreement { stages: Vec::new(), expires_at: None, ..deal.draft };
        let (both, block) = ([live.participants[0].id, live.participants[1].id], live.documents[0].blocks[0].id);
        let movement = deal.payments[0].id;
        for rule in rules {
            let (with_stage, stage) = live.add_stage(label("Step"), [].into(), noon()).unwrap();
            let (draft, gate) = with_stage.add_gate(stage, rule.clone(), noon()).unwrap();
            let live = draft.published(&Facts::none(), time_scale(), noon());
            let done = |participants: &[ParticipantId]| participants.iter().map(|id| (gate, *id)).collect();
            let met = |facts: &Facts, hours| {
                live.as_of(facts, time_scale(), after(hours)).lifecycle() == Lifecycle::Completed
            };
            let all = |of: &[ParticipantId], movement_state| Facts {
                recorded_at: None,
                signed: [block].into(),
                approved: done(of),
                uploaded: done(of),
                accepted: done(of),
                verified: of.iter().copied().collect(),
                movements: vec![(movement, movement_state)],
            };
            let (nothing, everything) = (Facts::none(), all(&both, MovementState::Reconciled));
            let is_countdown = matches!(rule, GateRule::Countdown { .. });
            assert_eq!(met(&nothing, 24), is_countdown, "{rule:?}");
            assert_eq!(met(&everything, 23), !is_countdown, "{rule:?}");
            // Each fact alone.
            let alone = [
                Facts { signed: everything.signed.clone(), ..Facts::none() },
                Facts { approved: everything.approved.clone(), ..Facts::none() },
                Facts { uploaded: everything.uploaded.clone(), ..Facts::none() },
                Facts { accepted: everything.accepted.clone(), ..Facts::none() },
                Facts { verified: everything.verified.clone(), ..Facts::none() },
                Facts { movements: everything.movements.clone(), ..Facts::none() },
            ];
            let which: Vec<bool> = alone.iter().map(|facts| met(facts, 1)).collect();
            let expected = match rule {
                GateRule::SignatureBlocks { .. } | GateRule::DocumentSigned { .. } => Some(0),
                GateRule::ParticipantApproval { .. } => Some(1),
                GateRule::FileUpload { .. } => Some(2),
                GateRule::InformationRequest { .. } => Some(3),
                GateRule::IdentityVerified { .. } => Some(4),
                GateRule::MovementAuthorized { .. } | GateRule::MovementReconciled { .. } => Some(5),
                GateRule::Countdown { .. } => None,
            };
            assert_eq!(which, (0..6).map(|n| Some(n) == expected).collect::<Vec<_>>(), "{rule:?}");
            // Not by somebody else's, nor by half of those who are named.
            let others = Facts {
                movements: vec![(MovementId::new(), MovementState::Reconciled)],
                ..all(&both[..1], MovementState::Reconciled)
            };
            assert!(rule.participant_ids().is_none() || !met(&others, 1), "{rule:?}");
            // A claim is no proof, at any stage of the way.
            let states = [
                (MovementState::Draft, false, false),
                (MovementState::Authorized, true, false),
                (MovementState::InstructionsReady, true, false),
                (MovementState::SenderReported, true, false),
                (MovementState::ReceiptPending, true, false),
                (MovementState::Processing, true, false),
                (MovementState::Reconciled, true, true),
                (MovementState::Exception, true, false),
                (MovementState::Returned, true, false),
                (MovementState::Cancelled, false, false),
            ];
            for (state, authorized, reconciled) in states {
                let facts = Facts { movements: vec![(movement, state)], ..Facts::none() };
                match rule {
                    GateRule::MovementAuthorized { .. } => assert_eq!(met(&facts, 1), authorized, "{state:?}"),
                    GateRule::MovementReconciled { .. } => assert_eq!(met(&facts, 1), reconciled, "{state:?}"),
                    _ => {}
                }
            }
        }
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
        let with = |state| Facts { movements: vec![(movement, state)], ..Facts::none() };
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
        assert_eq!(done.proceeded(&with(MovementState::Exception), time_scale(), Moment::test(after(3))), None);
    }

    #[test]
    fn what_is_not_active_stays_as_it_is() {
        let draft = draft(AgreementKind::General);
        let live = published(&[&[waiting(1)]], &[], Some(after(2)));
        for still in [draft.clone(), draft.cancelled(noon()), live.cancelled(noon())] {
            assert_eq!(
                (still.next_due(), still.proceeded(&Facts::none(), time_scale(), Moment::test(after(9)))),
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

    /// Something that is recorded.
    #[derive(Debug, Clone)]
    enum Recorded {
        Approved(usize),
        Signed,
        Moved(MovementState),
    }

    /// A rule by its number, of an agreement with these parts.
    fn rule(number: usize, deal: &Deal) -> GateRule {
        let (draft, movement_id) = (&deal.draft, Some(deal.payments[0].id));
        match number % 6 {
            0 => GateRule::ParticipantApproval { participant_ids: [draft.participants[0].id].into() },
            1 => GateRule::SignatureBlocks { block_ids: [draft.documents[0].blocks[0].id].into() },
            2 => GateRule::MovementReconciled { movement_id },
            3 => until(after(i64::try_from(number).unwrap() - 12)),
            _ => waiting(u32::try_from(number).unwrap()),
        }
    }

    fn recorded() -> impl Strategy<Value = Recorded> {
        prop_oneof![
            4 => (0..12_usize).prop_map(Recorded::Approved),
            1 => Just(Recorded::Signed),
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

    /// An agreement with what is recorded of it, as the store would have it.
    #[derive(Debug, Clone)]
    struct World {
        live: Agreement,
        facts: Facts,
        approved_at: BTreeMap<GateId, Timestamp>,
        completions: usize,
    }

    impl World {
        /// Goes on to a moment, and checks what is true of every agreement at every moment.
        fn go(&mut self, now: Timestamp) {
            let before = self.live.clone();
            if let Some(after) = before.proceeded(&self.facts, time_scale(), Moment::test(now)) {
                self.completions += after.events().len();
                self.live = after.agreement;
            }
            assert_eq!(self.live.proceeded(&self.facts, time_scale(), Moment::test(now)), None, "once is enough");
            self.check(&before, now);
        }

        fn record(&mut self, what: &Recorded, movement: MovementId, now: Timestamp) {
            self.go(now);
            match what {
                Recorded::Approved(which) => {
                    let gates: Vec<GateId> =
                        self.live.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.id).collect();
                    let approver = self.live.participants[0].id;
                    self.facts.approved.extend(gates.get(*which).map(|gate| (*gate, approver)));
                }
                Recorded::Signed => drop(self.facts.signed.insert(self.live.documents[0].blocks[0].id)),
                Recorded::Moved(state) => self.facts.movements = vec![(movement, *state)],
            }
            self.facts.recorded_at = Some(now);
            for approved in &self.facts.approved {
                self.approved_at.entry(approved.0).or_insert(now);
            }
            self.go(now);
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
                        (GateState::Cleared { opened_at, cleared_at }, StageState::Current | StageState::Done) => {
                            assert!(noon() <= *opened_at && opened_at <= cleared_at && *cleared_at <= now);
                            let arrived = self.facts.movements.iter().any(|(_, state)| state.is_reconciled());
                            let is_settled = stage.state == StageState::Done || !live.is_active();
                            let waits_for_money = matches!(gate.rule, GateRule::MovementReconciled { .. });
                            assert!(!waits_for_money || arrived || is_settled, "a claim is no proof");
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
            if !before.is_active() {
                assert_eq!(live, before, "what has ended stays as it is");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn an_agreement_comes_to_the_same_however_often_somebody_looks(
            stages in proptest::collection::vec(proptest::collection::vec(0..48_usize, 1..4), 1..4),
            recorded in proptest::collection::btree_map(1..150_i64, recorded(), 0..12),
            looks in proptest::collection::btree_set(1..150_i64, 0..20),
            expires_after in proptest::option::of(1..150_i64),
        ) {
            let deal = Deal::complete();
            let rules: Vec<Vec<GateRule>> =
                stages.iter().map(|stage| stage.iter().map(|number| rule(*number, &deal)).collect()).collect();
            let mut draft = Agreement { stages: Vec::new(), expires_at: expires_after.map(after), ..deal.draft.clone() };
            for rules in rules {
                let (more, stage) = draft.add_stage(label("Step"), [].into(), noon()).unwrap();
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
}
