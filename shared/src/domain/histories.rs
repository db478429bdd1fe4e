//! Random histories of drafts and decisions, checked against the invariants (contract, section 3).

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;

use super::actor::{Actor, ActorType};
use super::agreement::blockers::Blocker;
use super::agreement::facts::Facts;
use super::agreement::fixtures::{Deal, label, noon};
use super::agreement::gate::{Countdown, GateRule, GateStatus};
use super::agreement::{Agreement, AgreementKind, DocumentContent, Life, Lifecycle, StageState};
use super::contact::{DisplayName, Email};
use super::event::{AgreementData, Authorization, EventKind, ProposalData, WorkspaceData};
use super::ids::{MemberId, OrgId};
use super::member::{self, Changed, DecisionContext, Member, Outcome, Refusal};
use super::moment::Moment;
use super::organization::{MemberRecord, Role};
use super::proposal::{Decision, NewProposal, Proposal, ProposalAction, ProposalState, propose, take_over_claim};
use super::time::Timestamp;
use super::workspace::{NewWorkspace, Workspace, WorkspaceName, WorkspaceNumber};
use crate::domain::time_scale::TimeScale;
use crate::domain::time_zone::TimeZone;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

#[derive(Debug, Clone)]
enum Try {
    AddStage(Asks),
    RemoveStage(Index),
    Edit(Edit),
    SetEmail(bool),
    Activate,
    Propose(ProposalAction),
    /// A member confirms a proposal from a page that is this many changes old.
    Confirm(Index, u64),
    Decline(Index),
    Tick,
    Wait(i64),
}

#[derive(Debug, Clone, Copy)]
enum Asks {
    Nothing,
    Approval,
    Time,
}

#[derive(Debug, Clone)]
enum Edit {
    MoveStage(Index, Index),
    AddCountdown(Index, u32),
    RemoveGate(Index),
    AddDocument,
    RenameDocument(Index),
    SetFile(Index),
    RemoveDocument(Index),
    AddBlock(Index, Index),
    RemoveBlock(Index),
    RemoveParticipant(Index),
    SetExpiry(i64),
}

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<(Index, Index)>().prop_map(|(which, to)| Edit::MoveStage(which, to)),
        (any::<Index>(), 1..30_u32).prop_map(|(which, hours)| Edit::AddCountdown(which, hours)),
        any::<Index>().prop_map(Edit::RemoveGate),
        Just(Edit::AddDocument),
        any::<Index>().prop_map(Edit::RenameDocument),
        any::<Index>().prop_map(Edit::SetFile),
        any::<Index>().prop_map(Edit::RemoveDocument),
        any::<(Index, Index)>().prop_map(|(document, who)| Edit::AddBlock(document, who)),
        any::<Index>().prop_map(Edit::RemoveBlock),
        any::<Index>().prop_map(Edit::RemoveParticipant),
        (1..100_i64).prop_map(Edit::SetExpiry),
    ]
}

fn pick<T>(all: impl IntoIterator<Item = T>, which: Index) -> Option<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    if all.is_empty() { None } else { Some(all.swap_remove(which.index(all.len()))) }
}

impl Edit {
    fn of(&self, draft: &Agreement, now: Timestamp) -> Option<Result<Agreement, FieldErrors>> {
        let document = |which| pick(draft.documents.iter().map(|document| document.id), which);
        let participant = |which| pick(draft.participants.iter().map(|participant| participant.id), which);
        Some(match self {
            Self::MoveStage(which, to) => {
                let stage = pick(draft.stages.iter().map(|stage| stage.id), *which)?;
                draft.move_stage(stage, to.index(draft.stages.len()), now)
            }
            Self::AddCountdown(which, hours) => {
                let stage = pick(draft.stages.iter().map(|stage| stage.id), *which)?;
                let until = Some(Countdown::AfterHours(*hours));
                draft.add_gate(stage, GateRule::Countdown { until }, now).map(|(draft, _)| draft)
            }
            Self::RemoveGate(which) => {
                let gates = draft.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.id);
                draft.remove_gate(pick(gates, *which)?, now)
            }
            Self::AddDocument => draft.add_document(label("More"), None, now).map(|(draft, _)| draft),
            Self::RenameDocument(which) => draft.rename_document(document(*which)?, label("Other"), now),
            Self::SetFile(which) => {
                let content = DocumentContent { sha256: "2".repeat(64), size_bytes: 2 };
                draft.set_file(document(*which)?, content, now)
            }
            Self::RemoveDocument(which) => draft.remove_document(document(*which)?, now),
            Self::AddBlock(which, who) => {
                let made = draft.add_signature_block(document(*which)?, participant(*who)?, label("Here"), now);
                made.map(|(draft, _)| draft)
            }
            Self::RemoveBlock(which) => {
                let blocks = draft.documents.iter().flat_map(|document| &document.blocks).map(|block| block.id);
                draft.remove_signature_block(pick(blocks, *which)?, now)
            }
            Self::RemoveParticipant(which) => draft.remove_participant(participant(*which)?, now),
            Self::SetExpiry(hours) => draft.set_expiry(Some(now.plus_seconds(hours * 3600)), now),
        })
    }
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let action = prop_oneof![Just(ProposalAction::PublishAgreement), Just(ProposalAction::CancelAgreement)];
    let one = prop_oneof![
        2 => proptest::sample::select(vec![Asks::Nothing, Asks::Approval, Asks::Time]).prop_map(Try::AddStage),
        2 => any::<Index>().prop_map(Try::RemoveStage),
        4 => edits().prop_map(Try::Edit),
        1 => any::<bool>().prop_map(Try::SetEmail),
        1 => Just(Try::Activate),
        5 => action.prop_map(Try::Propose),
        4 => (any::<Index>(), 0..2_u64).prop_map(|(which, age)| Try::Confirm(which, age)),
        2 => any::<Index>().prop_map(Try::Decline),
        1 => Just(Try::Tick),
        2 => (0..50_i64).prop_map(Try::Wait),
    ];
    proptest::collection::vec(one, 0..40)
}

struct World {
    by: Member,
    deal: Deal,
    workspace: Workspace,
    proposals: Vec<Proposal>,
    told: Vec<EventKind>,
    now: Timestamp,
}

impl World {
    fn new(has_stages: bool) -> Self {
        let record = MemberRecord {
            id: MemberId::new(),
            name: DisplayName::parse("Maren").unwrap(),
            email: Email::parse("maren@example.org").unwrap(),
            role: Role::Member,
            created_at: noon(),
        };
        let mut deal = Deal::complete();
        (deal.draft.kind, deal.draft.terms, deal.draft.expires_at) = (AgreementKind::General, None, None);
        if !has_stages {
            deal.draft.stages.clear();
        }
        let new = NewWorkspace { name: WorkspaceName::parse("Harbor").unwrap() };
        Self {
            by: Member::of_session(OrgId::new(), &record),
            deal,
            workspace: Workspace::create(new, WorkspaceNumber(1), noon()),
            proposals: Vec::new(),
            told: Vec::new(),
            now: noon(),
        }
    }

    fn blockers(&self) -> Vec<Blocker> {
        let mut deal = self.deal.clone();
        deal.is_activated = self.workspace.activated_at.is_some();
        deal.blockers_at(self.now)
    }

    fn current(&self) -> Agreement {
        self.deal.draft.as_of(&Facts::none(), TimeScale::default(), self.now).into_owned()
    }

    fn change(&mut self, agreement: Agreement) {
        self.deal.draft = agreement;
    }

    fn edit_with(&mut self, edit: &Edit) {
        let before = &self.deal.draft;
        match edit.of(before, self.now) {
            Some(Ok(draft)) => {
                assert_eq!(before.life, Life::Draft);
                assert_eq!(
                    (draft.id(), draft.life, draft.workspace_id),
                    (before.id(), before.life, before.workspace_id)
                );
                self.change(draft);
            }
            Some(Err(errors)) => {
                let errors = errors.into_list();
                let in_use = errors.iter().all(|error| error.code == FieldCode::WrongState);
                assert!(in_use || errors[0].code == FieldCode::LimitReached, "{errors:?}");
            }
            None => {}
        }
    }

    fn check_draft(&self) {
        let draft = &self.deal.draft;
        let blocks: Vec<_> = draft.documents.iter().flat_map(|document| &document.blocks).collect();
        assert!(blocks.iter().all(|block| draft.participant(block.participant_id).is_some()), "a participant signs");
        for rule in draft.stages.iter().flat_map(|stage| &stage.gates).map(|gate| &gate.rule) {
            let named = rule.participant_ids().into_iter().flatten();
            assert!(named.into_iter().all(|id| draft.participant(*id).is_some()), "{rule:?}");
            match rule {
                GateRule::SignatureBlocks { block_ids } => {
                    assert!(block_ids.iter().all(|id| blocks.iter().any(|block| block.id == *id)), "{rule:?}");
                }
                GateRule::DocumentSigned { document_id: Some(id) } => assert!(draft.document(*id).is_some()),
                _ => {}
            }
        }
        let fits = draft.stages.len() <= limits::AGREEMENT_STAGES_MAX
            && draft.stages.iter().all(|stage| stage.gates.len() <= limits::STAGE_GATES_MAX)
            && draft.documents.len() <= limits::AGREEMENT_DOCUMENTS_MAX
            && blocks.len() <= limits::AGREEMENT_BLOCKS_MAX
            && draft.participants.len() <= limits::AGREEMENT_PARTICIPANTS_MAX;
        assert!(fits);
        assert_eq!(draft.as_draft().is_ok(), draft.life == Life::Draft);
    }

    fn add_stage(&mut self, asks: Asks) {
        let before = &self.deal.draft;
        match before.add_stage(label("More"), [].into(), self.now) {
            Ok((with_stage, stage)) => {
                assert_eq!(before.life, Life::Draft);
                let first = before.participants.first().map(|participant| participant.id);
                let add = |rule| with_stage.add_gate(stage, rule, self.now).unwrap().0;
                let draft = match asks {
                    Asks::Nothing => with_stage,
                    Asks::Approval => {
                        add(GateRule::ParticipantApproval { participant_ids: first.into_iter().collect() })
                    }
                    Asks::Time => add(GateRule::Countdown { until: Some(Countdown::AfterHours(20)) }),
                };
                self.change(draft);
            }
            Err(errors) => {
                let code = errors.into_list()[0].code;
                let full = before.stages.len() == limits::AGREEMENT_STAGES_MAX;
                assert!(code == FieldCode::LimitReached && full || before.life != Life::Draft, "{code:?}");
            }
        }
    }

    fn moment(&self) -> Moment {
        Moment::test(self.now)
    }

    fn propose(&mut self, action: ProposalAction) {
        let new = NewProposal { action, agreement_id: self.deal.draft.id(), note: None };
        let by = Actor { actor_type: ActorType::Token, id: None, display_name: "CRM".to_owned() };
        let expires_at = self.now.plus_seconds(limits::PROPOSAL_LIFETIME_S);
        let blockers = self.blockers();
        let current = self.current();
        let made = propose(new, &current, &[], &blockers, by, self.moment(), expires_at);
        // The last proposal of this action that isn't recorded as ended holds the claim.
        let claiming = self
            .proposals
            .iter()
            .rposition(|proposal| proposal.action == action && proposal.decision == Decision::Pending);
        let place = take_over_claim(claiming.map(|at| &self.proposals[at]), self.moment());
        let allows = match action {
            ProposalAction::PublishAgreement => {
                current.life == Life::Draft && blockers.iter().all(Blocker::allows_proposal)
            }
            ProposalAction::CancelAgreement => matches!(current.lifecycle(), Lifecycle::Draft | Lifecycle::Active),
        };
        assert_eq!(made.is_ok(), allows);
        if let (Ok(made), Ok(settled)) = (made, place) {
            if let Some(settled) = settled {
                self.told.push(EventKind::ProposalExpired(ProposalData::from(&*settled)));
                self.proposals[claiming.unwrap()] = (*settled).clone();
            }
            assert_eq!(made.snapshot().agreement, current);
            let made = made.into_proposal();
            self.told.push(EventKind::ProposalCreated(ProposalData::from(&made)));
            self.proposals.push(made);
        }
    }

    /// What publication emits, in order. The workspace is still as it was before.
    fn events_of_publication(&self, published: &Agreement, data: ProposalData) -> Vec<EventKind> {
        assert_eq!(published.life, Life::Active { published_at: self.now });
        assert_eq!(published.stages[0].state, StageState::Current);
        let open = |gate: &super::agreement::gate::Gate| gate.state.status() == GateStatus::Open;
        assert!(published.stages[0].gates.iter().all(open));
        let (workspace_id, authorization) = (self.workspace.id(), Authorization::Proposal);
        let activated = EventKind::WorkspaceActivated(WorkspaceData { workspace_id, authorization });
        let (agreement_id, name) = (published.id(), published.name.clone());
        let published = EventKind::AgreementPublished(AgreementData { agreement_id, name });
        let activated = self.workspace.activated_at.is_none().then_some(activated);
        activated.into_iter().chain([EventKind::ProposalConfirmed(data), published]).collect()
    }

    fn confirm(&mut self, which: usize, age: u64) {
        let (proposal, before, blockers) = (self.proposals[which].clone(), self.deal.draft.clone(), self.blockers());
        let case = DecisionContext {
            proposal: &proposal,
            agreement: &before,
            changed: (age > 0).then_some(Changed::Agreement),
            contacts: &[],
            workspace: &self.workspace,
            blockers: &blockers,
            not_meant: &BTreeSet::new(),
            facts: &Facts::none(),
            time_scale: TimeScale::default(),
            zone: &TimeZone::default(),
        };
        let (data, state) = (ProposalData::from(&proposal), proposal.state_at(self.now));
        match member::confirm(&self.by, case, None, self.moment()) {
            Ok(outcome) => {
                assert_eq!((state, age), (ProposalState::Pending, 0), "only what waits, and only as it was shown");
                let after = outcome.agreement.clone().expect("confirming has an effect");
                let mut events = Vec::new();
                match proposal.action {
                    ProposalAction::PublishAgreement => {
                        assert_eq!(before.life, Life::Draft);
                        let in_the_way = |blocker: &Blocker| *blocker != Blocker::WorkspaceNotActivated;
                        assert!(!blockers.iter().any(in_the_way), "{blockers:?}");
                        assert_eq!(outcome.workspace.is_none(), self.workspace.activated_at.is_some());
                        events = self.events_of_publication(&after, data);
                    }
                    ProposalAction::CancelAgreement => {
                        assert!(matches!(self.current().lifecycle(), Lifecycle::Draft | Lifecycle::Active));
                        assert_eq!((after.lifecycle(), &outcome.workspace), (Lifecycle::Cancelled, &None));
                        events.push(EventKind::ProposalConfirmed(data));
                    }
                }
                assert_eq!(outcome.events, events);
                self.take(which, outcome);
            }
            Err(Refusal::NotPending(told)) => assert!(told == state && state != ProposalState::Pending),
            Err(Refusal::Changed(Changed::Agreement)) => assert_eq!((state, age), (ProposalState::Pending, 1)),
            Err(Refusal::Changed(Changed::References)) => {
                panic!("nothing that the agreement refers to was said to have changed")
            }
            Err(Refusal::TooLate(lifecycle)) => {
                assert_eq!((state, age, lifecycle), (ProposalState::Pending, 0, self.current().lifecycle()));
                let is_draft = lifecycle == Lifecycle::Draft;
                let is_live = is_draft || lifecycle == Lifecycle::Active;
                assert!(if proposal.action == ProposalAction::PublishAgreement { !is_draft } else { !is_live });
            }
            Err(Refusal::Blocked(errors)) => {
                assert_eq!((state, age), (ProposalState::Pending, 0));
                let codes: Vec<FieldCode> = errors.into_list().into_iter().map(|error| error.code).collect();
                assert_eq!((before.life, proposal.action), (Life::Draft, ProposalAction::PublishAgreement));
                let in_the_way = blockers.iter().filter(|blocker| !blocker.allows_proposal()).map(Blocker::code);
                assert_eq!(codes, in_the_way.collect::<Vec<_>>());
                assert!(!codes.is_empty());
            }
            Err(Refusal::NotMeant(kinds)) => panic!("nothing takes a tick: {kinds:?}"),
        }
    }

    fn decline(&mut self, which: usize) {
        let proposal = self.proposals[which].clone();
        let state = proposal.state_at(self.now);
        match member::decline(&self.by, &proposal, None, self.moment()) {
            Ok(outcome) => {
                assert_eq!(state, ProposalState::Pending);
                assert_eq!((&outcome.agreement, &outcome.workspace), (&None, &None), "declining changes nothing else");
                assert_eq!(outcome.events, [EventKind::ProposalDeclined(ProposalData::from(&proposal))]);
                self.take(which, outcome);
            }
            Err(refusal) => assert!(refusal == Refusal::NotPending(state) && state != ProposalState::Pending),
        }
    }

    fn take(&mut self, which: usize, outcome: Outcome) {
        self.proposals[which] = outcome.proposal.into_inner();
        if let Some(agreement) = outcome.agreement {
            self.change(agreement.into_inner());
        }
        if let Some(workspace) = outcome.workspace {
            self.workspace = workspace.into_inner();
        }
        self.told.extend(outcome.events);
    }

    fn tick(&mut self) {
        let moment = self.moment();
        for proposal in &mut self.proposals {
            if let Some(settled) = proposal.expired(moment) {
                *proposal = (*settled).clone();
                self.told.push(EventKind::ProposalExpired(ProposalData::from(&*proposal)));
            }
        }
        if let Some(after) = self.deal.draft.advanced(&Facts::none(), TimeScale::default(), self.moment()) {
            self.told.extend(after.events());
            self.change((*after).clone());
        }
    }

    fn try_one(&mut self, one: &Try) {
        let life = self.deal.draft.life;
        match one {
            Try::AddStage(asks) => self.add_stage(*asks),
            Try::RemoveStage(which) if !self.deal.draft.stages.is_empty() => {
                let stage = self.deal.draft.stages[which.index(self.deal.draft.stages.len())].id;
                match self.deal.draft.remove_stage(stage, self.now) {
                    Ok(draft) => self.change(draft),
                    Err(_) => assert_ne!(life, Life::Draft),
                }
            }
            Try::Edit(edit) => self.edit_with(edit),
            Try::SetEmail(has) => {
                self.deal.contacts[0].email = has.then(|| Email::parse("ada@example.org").unwrap());
            }
            Try::Activate => {
                let activated = member::activate(&self.by, &self.workspace, self.moment());
                assert_eq!(activated.is_none(), self.workspace.activated_at.is_some(), "once, and never undone");
                if let Some((workspace, told)) = activated {
                    let (workspace_id, authorization) = (workspace.id(), Authorization::Direct);
                    assert_eq!(told, EventKind::WorkspaceActivated(WorkspaceData { workspace_id, authorization }));
                    self.workspace = workspace.into_inner();
                    self.told.push(told);
                }
            }
            Try::Propose(action) => self.propose(*action),
            Try::Confirm(which, age) if !self.proposals.is_empty() => {
                self.confirm(which.index(self.proposals.len()), *age);
            }
            Try::Decline(which) if !self.proposals.is_empty() => self.decline(which.index(self.proposals.len())),
            Try::Tick => self.tick(),
            Try::Wait(hours) => self.now = self.now.plus_seconds(hours * 3600),
            Try::RemoveStage(_) | Try::Confirm(..) | Try::Decline(_) => {}
        }
        let is_active = matches!(life, Life::Active { .. });
        let may_change = matches!(one, Try::Confirm(..)) || (is_active && matches!(one, Try::Tick));
        assert!(may_change || self.deal.draft.life == life, "only confirming and time move an agreement: {one:?}");
    }

    fn check(&self) {
        self.check_draft();
        let count = |action, state| {
            let proposals = self.proposals.iter();
            proposals.filter(|one| one.action == action && one.state_at(self.now) == state).count()
        };
        for action in [ProposalAction::PublishAgreement, ProposalAction::CancelAgreement] {
            assert!(count(action, ProposalState::Pending) <= 1, "two pending proposals of one action");
            assert!(count(action, ProposalState::Confirmed) <= 1, "an effect twice");
        }
        let published = count(ProposalAction::PublishAgreement, ProposalState::Confirmed) == 1;
        let cancelled = count(ProposalAction::CancelAgreement, ProposalState::Confirmed) == 1;
        let lifecycle = self.deal.draft.lifecycle();
        let is_sound = match lifecycle {
            Lifecycle::Draft => !published && !cancelled,
            Lifecycle::Active | Lifecycle::Completed | Lifecycle::Expired => published && !cancelled,
            Lifecycle::Cancelled => cancelled,
        };
        assert!(is_sound, "nothing executes without a confirmed proposal: {lifecycle:?}");
        assert!(!published || self.workspace.activated_at.is_some());

        let told = |wanted: &dyn Fn(&EventKind) -> bool| self.told.iter().filter(|event| wanted(event)).count();
        assert_eq!(told(&|event| matches!(event, EventKind::AgreementPublished(_))), usize::from(published));
        let completions = told(&|event| matches!(event, EventKind::AgreementCompleted(_)));
        assert_eq!(completions, usize::from(lifecycle == Lifecycle::Completed));
        let activations = told(&|event| matches!(event, EventKind::WorkspaceActivated(_)));
        assert_eq!(activations, usize::from(self.workspace.activated_at.is_some()));
        for proposal in &self.proposals {
            let data = ProposalData::from(proposal);
            let ends = told(&|event| match event {
                EventKind::ProposalConfirmed(of) | EventKind::ProposalDeclined(of) | EventKind::ProposalExpired(of) => {
                    *of == data
                }
                _ => false,
            });
            assert_eq!(ends, usize::from(proposal.decision != Decision::Pending), "its end is told once");
            assert_eq!(told(&|event| *event == EventKind::ProposalCreated(data)), 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_history_is_sound(has_stages in any::<bool>(), tries in tries()) {
        let mut world = World::new(has_stages);
        world.check();
        for one in &tries {
            world.try_one(one);
            world.check();
        }
    }
}

/// Ensures that histories reach every property: unreached ones prove nothing.
#[test]
fn the_histories_reach_every_end() {
    let mut world = World::new(true);
    let (publish, cancel) = (ProposalAction::PublishAgreement, ProposalAction::CancelAgreement);
    for one in [
        Try::Propose(publish),
        Try::Wait(72),
        Try::Propose(publish),
        Try::Wait(72),
        Try::Tick,
        Try::Propose(cancel),
        Try::Propose(publish),
    ] {
        world.try_one(&one);
        world.check();
    }
    let states = |world: &World| world.proposals.iter().map(|one| one.state_at(world.now)).collect::<Vec<_>>();
    let (expired, pending) = (ProposalState::Expired, ProposalState::Pending);
    assert_eq!(states(&world), [expired, expired, pending, pending]);
    world.confirm(0, 0);
    world.confirm(3, 1);
    assert_eq!(states(&world), [expired, expired, pending, pending], "an end is an end, and a changed draft is none");
    world.confirm(3, 0);
    world.decline(2);
    world.propose(cancel);
    world.confirm(4, 0);
    world.check();
    let (confirmed, declined) = (ProposalState::Confirmed, ProposalState::Declined);
    assert_eq!(states(&world), [expired, expired, declined, confirmed, confirmed]);
    assert_eq!(world.deal.draft.lifecycle(), Lifecycle::Cancelled);
}

#[test]
fn the_histories_come_to_what_time_does() {
    for (cancels, expires, end) in [
        (false, None, Lifecycle::Completed),
        (false, Some(30), Lifecycle::Expired),
        (true, None, Lifecycle::Active),
        (true, Some(30), Lifecycle::Active),
    ] {
        let mut world = World::new(false);
        let mut tries = vec![Try::AddStage(Asks::Time), Try::AddStage(Asks::Time)];
        tries.extend(expires.map(|hours| Try::Edit(Edit::SetExpiry(hours))));
        tries.push(Try::Propose(ProposalAction::PublishAgreement));
        for one in tries {
            world.try_one(&one);
        }
        world.confirm(0, 0);
        world.try_one(&Try::Wait(21));
        world.try_one(&Try::Propose(ProposalAction::CancelAgreement));
        world.tick();
        let states: Vec<StageState> = world.deal.draft.stages.iter().map(|stage| stage.state).collect();
        assert_eq!(states, [StageState::Done, StageState::Current]);
        world.try_one(&Try::Wait(50));
        if cancels {
            world.confirm(1, 0);
            assert_eq!(world.proposals[1].state_at(world.now), ProposalState::Pending);
        } else {
            world.tick();
        }
        world.check();
        assert_eq!(world.deal.draft.lifecycle(), end);
    }
}

#[test]
fn a_proposal_is_expired_from_the_moment_on() {
    let mut world = World::new(true);
    world.propose(ProposalAction::PublishAgreement);
    let proposal = &world.proposals[0];
    let at = |ms: i64| Timestamp::from_unix_ms(proposal.expires_at.unix_ms() + ms).unwrap();
    let moment = |ms: i64| Moment::test(at(ms));
    assert_eq!(proposal.expires_at.unix_ms() - noon().unix_ms(), 72 * 3600 * 1000);
    for (ms, state) in [(-1, ProposalState::Pending), (0, ProposalState::Expired), (1, ProposalState::Expired)] {
        assert_eq!((proposal.state_at(at(ms)), proposal.has_unrecorded_expiry(at(ms))), (state, ms >= 0));
        assert_eq!(take_over_claim(Some(proposal), moment(ms)).is_ok(), ms >= 0);
    }
    assert_eq!(proposal.expired(moment(-1)), None);
    let settled = proposal.expired(moment(0)).unwrap();
    assert_eq!(settled.expired(moment(5)), None, "once");
    assert_eq!((settled.state_at(at(-1)), settled.has_unrecorded_expiry(at(5))), (ProposalState::Expired, false));
    assert_eq!(take_over_claim(Some(&settled), moment(5)), Ok(None));
    assert_eq!(take_over_claim(None, moment(5)), Ok(None));
}
