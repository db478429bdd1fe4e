//! Draws a history's agreement and acts.

use std::collections::BTreeSet;

use fastrand::Rng;
use shared::domain::agreement::gate::{Countdown, FieldType, Gate, GateRule, InformationField, RequestedFile};
use shared::domain::agreement::{Agreement, Label, Stage, StageAction};
use shared::domain::ids::{FieldId, GateId, MovementId, ParticipantId, StageId};
use shared::domain::time::Timestamp;
use tests::obligations::{monthly, with_promises};

use super::model::{Act, Model, Outcome, Step, Terms};

pub(super) const TYPES: usize = 9;
const STEPS_MAX: usize = TYPES / 3;
const VERIFICATIONS: usize = 5;
/// Keeps countdowns running until the test ends them.
const LONG_HOURS: u32 = 1000;

fn rule(rng: &mut Rng, draft: &Agreement, payment: MovementId, which: usize) -> GateRule {
    let both: BTreeSet<ParticipantId> = draft.participants.iter().map(|participant| participant.id).collect();
    let one = [draft.participants[rng.usize(0..2)].id].into();
    let participant_ids = if rng.bool() { both } else { one };
    let document = &draft.documents[0];
    match which {
        0 => GateRule::DocumentSigned { document_id: Some(document.id) },
        1 => GateRule::ParticipantApproval { participant_ids },
        2 => GateRule::FileUpload { participant_ids, file: RequestedFile::default() },
        3 => GateRule::IdentityVerified { participant_ids },
        4 => {
            let named = document.blocks.iter().filter(|block| participant_ids.contains(&block.participant_id));
            GateRule::SignatureBlocks { block_ids: named.map(|block| block.id).collect() }
        }
        5 => {
            let past = Countdown::At(Timestamp::now().plus_seconds(-60));
            GateRule::Countdown { until: Some(if rng.u8(..4) == 0 { past } else { Countdown::AfterHours(LONG_HOURS) }) }
        }
        6 => GateRule::MovementAuthorized { movement_id: Some(payment) },
        7 => GateRule::MovementReconciled { movement_id: Some(payment) },
        _ => {
            let label = Label::parse("Who are you?").expect("a label");
            let (id, field_type) = (FieldId::new(), FieldType::Text);
            let fields = vec![InformationField { id, label, field_type, required: true, options: Vec::new() }];
            GateRule::InformationRequest { participant_ids, fields }
        }
    }
}

/// Adds steps whose conditions are of distinct types (all of them if `has_all`), and a promise.
pub(super) fn set_up(rng: &mut Rng, draft: &mut Agreement, payment: MovementId, has_all: bool) {
    let (stage, gate) = (draft.stages[0].clone(), draft.stages[0].gates[0].clone());
    let mut types: Vec<usize> = (0..TYPES).collect();
    rng.shuffle(&mut types);
    let mut stages = Vec::new();
    for _ in 0..if has_all { STEPS_MAX } else { rng.usize(2..=STEPS_MAX) } {
        let own = types.split_off(types.len() - if has_all { 3 } else { rng.usize(1..=3) });
        let gates = own.into_iter().map(|which| {
            let rule = rule(rng, draft, payment, which);
            Gate { id: GateId::new(), rule, ..gate.clone() }
        });
        let gates = gates.collect();
        let possible = [StageAction::OpenSigning, StageAction::ProjectObligations];
        let actions = possible.into_iter().filter(|_| rng.bool()).collect();
        stages.push(Stage { id: StageId::new(), gates, actions, ..stage.clone() });
    }
    draft.stages = stages;
    *draft = with_promises(draft, vec![monthly(40)]);
}

pub(super) struct Drawing<'a> {
    pub rng: &'a mut Rng,
    pub terms: &'a Terms,
    pub model: &'a Model,
}

impl Drawing<'_> {
    pub fn one(&mut self) -> Act {
        let is_hopeful = self.rng.u8(..10) < 6;
        if is_hopeful { self.hopeful() } else { self.any() }
    }

    fn works(&self, act: &Act) -> bool {
        self.model.clone().apply(self.terms, act, None) == Outcome::Works
    }

    fn hopeful(&mut self) -> Act {
        for _ in 0..60 {
            let act = self.any();
            // Declining stops a deal, and a reissued link asks for consent again.
            let is_rare =
                matches!(act, Act::Decline(..) | Act::DeclineDocument(_) | Act::Withdraw(_) | Act::Reissue(_));
            if self.works(&act) && !(is_rare && self.rng.u8(..4) > 0) {
                return act;
            }
        }
        self.any()
    }

    /// Simultaneous acts that their pages offer: the same act repeatedly, conflicting acts, or any.
    pub fn at_once(&mut self) -> Vec<Act> {
        match self.rng.u8(..6) {
            0 | 1 => {
                let act = self.hopeful();
                let times = self.rng.usize(2..=3);
                let times = if ends_session(&act) { 1 } else { times };
                vec![act; times]
            }
            2..=4 => {
                let conflicts = self.conflicts();
                if conflicts.is_empty() {
                    return self.some();
                }
                conflicts[self.rng.usize(..conflicts.len())].clone()
            }
            _ => self.some(),
        }
    }

    fn some(&mut self) -> Vec<Act> {
        let mut acts: Vec<Act> = Vec::new();
        for _ in 0..self.rng.usize(2..=3) {
            let act = self.hopeful();
            if !acts.contains(&act) && !ends_session(&act) {
                acts.push(act);
            }
        }
        acts
    }

    fn conflicts(&mut self) -> Vec<Vec<Act>> {
        let (terms, model) = (self.terms, self.model);
        let mut found = Vec::new();
        let mut add = |acts: Vec<Act>| {
            let possible = acts.iter().all(|act| model.clone().apply(terms, act, None) == Outcome::Works);
            if possible {
                found.push(acts);
            }
        };
        let text = format!("Answer {}", self.rng.u32(..10_000));
        for who in 0..2 {
            add(vec![Act::Sign(who), Act::DeclineDocument(who)]);
            add(vec![Act::Sign(who), Act::SignOnPaper(who)]);
            add(vec![Act::Sign(who), Act::Withdraw(who)]);
            add(vec![Act::Sign(who), Act::DeclineDocument(1 - who), Act::SignOnPaper(who)]);
            for gate in terms.gates().map(|gate| gate.id) {
                add(vec![Act::Approve(gate, who), Act::Decline(gate, who)]);
                add(vec![Act::Approve(gate, who), Act::Decline(gate, 1 - who)]);
                add(vec![Act::Upload(gate, who), Act::Decline(gate, who)]);
                add(vec![Act::Accept(gate, who), Act::Return(gate, who)]);
                add(vec![Act::Accept(gate, who), Act::Accept(gate, 1 - who), Act::Return(gate, who)]);
                add(vec![Act::Send(gate, who, text.clone()), Act::Decline(gate, who)]);
                add(vec![Act::Send(gate, who, text.clone()), Act::Save(gate, who, "A draft".to_owned())]);
                add(vec![Act::Return(gate, who), Act::Decline(gate, 1 - who)]);
            }
        }
        for (gate, who) in model.waiting.iter().copied() {
            for _ in 0..3 {
                add(vec![Act::Accept(gate, who), Act::Return(gate, who)]);
            }
        }
        add(vec![Act::Sign(0), Act::Sign(1)]);
        add(vec![Act::Pay(Step::Accept), Act::Pay(Step::Flag)]);
        add(vec![Act::Pay(Step::Report), Act::Pay(Step::File)]);
        add(vec![Act::Pay(Step::Flag), Act::Verify(0)]);
        found
    }

    fn any(&mut self) -> Act {
        // Usually what is needed now.
        let is_open = |gate: &&Gate| self.model.is_open(self.terms, gate.id);
        let mut gates: Vec<&Gate> = self.terms.gates().filter(is_open).collect();
        let waits_for_money = gates.iter().any(|gate| gate.rule.movement().is_some());
        if gates.is_empty() || self.rng.u8(..4) == 0 {
            gates = self.terms.gates().collect();
        }
        let gate = gates[self.rng.usize(..gates.len())];
        let (id, who) = (gate.id, self.rng.usize(0..2));
        let answers = matches!(gate.rule, GateRule::InformationRequest { .. });
        let is_active = self.model.is_active(self.terms);
        match self.rng.usize(0..20) {
            0 if signs(gate) => Act::DeclineDocument(who),
            0 => Act::Decline(id, who),
            1 => self.reopened().unwrap_or_else(|| self.verifies(who)),
            2 if is_active && self.model.consents[who] => Act::Withdraw(who),
            2 | 3 if is_active && !self.model.consents[who] => Act::Consent(who),
            3 | 4 if answers => Act::Accept(id, who),
            5 if answers => Act::Return(id, who),
            6 => self.verifies(who),
            7 => Act::SignOnPaper(who),
            8 => Act::Reissue(who),
            9..=11 if waits_for_money || self.rng.u8(..10) == 0 => self.pays(),
            14 => self.passes().unwrap_or(Act::Sign(who)),
            _ => self.meets(gate, who),
        }
    }

    fn verifies(&self, who: usize) -> Act {
        if self.model.verified[who] < VERIFICATIONS { Act::Verify(who) } else { Act::Sign(who) }
    }

    fn reopened(&mut self) -> Option<Act> {
        let declined: Vec<GateId> = self.model.declined.iter().copied().collect();
        let gate = declined.get(self.rng.usize(..declined.len().max(1)))?;
        self.model.is_active(self.terms).then_some(Act::Reopen(*gate))
    }

    fn passes(&self) -> Option<Act> {
        let runs = |gate: &&Gate| matches!(gate.rule, GateRule::Countdown { .. });
        let runs = self.terms.gates().filter(runs).any(|gate| self.model.is_open(self.terms, gate.id));
        runs.then_some(Act::TimePasses)
    }

    fn pays(&mut self) -> Act {
        let payment = &self.model.payment;
        let step = match payment.state {
            "draft" => Step::Authorize,
            "authorized" if !payment.is_entered => Step::Enter,
            "authorized" if self.rng.bool() => Step::Verify,
            "authorized" => Step::Release,
            "instructions_ready" if self.rng.u8(..4) == 0 => Step::File,
            "instructions_ready" => Step::Report,
            "sender_reported" => Step::File,
            "processing" if self.rng.u8(..4) > 0 => Step::Accept,
            "processing" | "reconciled" => Step::Flag,
            _ => Step::Resolve,
        };
        Act::Pay(step)
    }

    fn meets(&mut self, gate: &Gate, who: usize) -> Act {
        match gate.rule {
            GateRule::DocumentSigned { .. } | GateRule::SignatureBlocks { .. } => Act::Sign(who),
            GateRule::ParticipantApproval { .. } => Act::Approve(gate.id, who),
            GateRule::FileUpload { .. } => Act::Upload(gate.id, who),
            GateRule::IdentityVerified { .. } => self.verifies(who),
            GateRule::InformationRequest { .. } => {
                let text = format!("Answer {}", self.rng.u32(..10_000));
                if self.rng.u8(..3) == 0 { Act::Save(gate.id, who, text) } else { Act::Send(gate.id, who, text) }
            }
            GateRule::Countdown { .. } => self.passes().unwrap_or(Act::Sign(who)),
            GateRule::MovementAuthorized { .. } | GateRule::MovementReconciled { .. } => self.pays(),
        }
    }
}

fn signs(gate: &Gate) -> bool {
    matches!(gate.rule, GateRule::DocumentSigned { .. } | GateRule::SignatureBlocks { .. })
}

/// Whether an act ends the session of other forms, so that it must be done alone.
fn ends_session(act: &Act) -> bool {
    matches!(act, Act::Reissue(_))
}
