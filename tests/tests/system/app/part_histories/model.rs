//! A model of an agreement's acts, by the contract: which work, and their effects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shared::domain::agreement::gate::{Countdown, Gate, GateRule};
use shared::domain::agreement::{Agreement, Stage, StageAction};
use shared::domain::ids::{GateId, ParticipantId, SignatureBlockId};
use shared::limits;

/// An act. Participants are indexes: 0 pays, 1 is paid, and each has one signature block.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Sign(usize),
    /// The only member records it, so it counts at once.
    SignOnPaper(usize),
    DeclineDocument(usize),
    Approve(GateId, usize),
    Upload(GateId, usize),
    Save(GateId, usize, String),
    Send(GateId, usize, String),
    Decline(GateId, usize),
    Accept(GateId, usize),
    Return(GateId, usize),
    Reopen(GateId),
    Consent(usize),
    Withdraw(usize),
    Verify(usize),
    Reissue(usize),
    Pay(Step),
    Cancel,
    /// The running countdowns end, and a clock comes by.
    TimePasses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Authorize,
    Enter,
    Verify,
    Release,
    Report,
    File,
    Accept,
    Flag,
    Resolve,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Works,
    Refused,
    /// Its page may have changed, so it may be refused. Or it changes nothing, and may be reported or refused: a step
    /// of the payment (`app/movements/histories` says which), or reopening what is open or ended.
    Either,
}

#[derive(Debug, Clone)]
pub(super) struct Payment {
    pub state: &'static str,
    pub is_entered: bool,
    is_verified: bool,
    pub is_filed: bool,
    told: [usize; 3],
}

#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub agreement: Agreement,
    pub people: [ParticipantId; 2],
}

impl Terms {
    pub fn gates(&self) -> impl Iterator<Item = &Gate> {
        self.agreement.stages.iter().flat_map(|stage| &stage.gates)
    }

    pub fn gate(&self, id: GateId) -> &Gate {
        self.gates().find(|gate| gate.id == id).expect("a gate")
    }

    fn place(&self, id: ParticipantId) -> usize {
        usize::from(self.people[1] == id)
    }

    fn block(&self, who: usize) -> SignatureBlockId {
        let blocks = &self.agreement.documents[0].blocks;
        blocks.iter().find(|block| block.participant_id == self.people[who]).expect("a block").id
    }

    fn named(&self, gate: &Gate) -> BTreeSet<usize> {
        gate.rule.participant_ids().into_iter().flatten().map(|id| self.place(*id)).collect()
    }

    fn asks_for(&self, gate: &Gate, who: usize) -> bool {
        match &gate.rule {
            GateRule::DocumentSigned { .. } => true,
            GateRule::SignatureBlocks { block_ids } => block_ids.contains(&self.block(who)),
            _ => false,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Model {
    signed: BTreeSet<usize>,
    /// Conditions for which a participant has approved or uploaded, or whose answers were accepted.
    pub done: BTreeSet<(GateId, usize)>,
    uploads: BTreeMap<(GateId, usize), usize>,
    /// Answers that wait for a member, and answers sent, in order.
    pub waiting: BTreeSet<(GateId, usize)>,
    sent: Vec<(GateId, usize, String, &'static str)>,
    pub declined: BTreeSet<GateId>,
    declines: usize,
    pub consents: [bool; 2],
    pub verified: [usize; 2],
    is_cancelled: bool,
    pub payment: Payment,
    ended: BTreeSet<GateId>,
    cleared: BTreeSet<GateId>,
    /// Among simultaneous acts: whether an earlier one changed anything, and who has saved answers.
    has_changed: bool,
    saved: BTreeSet<(GateId, usize)>,
}

impl Model {
    pub fn new(terms: &Terms) -> Self {
        let payment = Payment { state: "draft", is_entered: false, is_verified: false, is_filed: false, told: [0; 3] };
        let mut new = Self {
            signed: BTreeSet::new(),
            done: BTreeSet::new(),
            uploads: BTreeMap::new(),
            waiting: BTreeSet::new(),
            sent: Vec::new(),
            declined: BTreeSet::new(),
            declines: 0,
            consents: [true; 2],
            verified: [0; 2],
            is_cancelled: false,
            payment,
            ended: BTreeSet::new(),
            cleared: BTreeSet::new(),
            has_changed: false,
            saved: BTreeSet::new(),
        };
        new.settle(terms);
        new
    }

    pub fn at_once(&self) -> Self {
        Self { has_changed: false, saved: BTreeSet::new(), ..self.clone() }
    }

    pub fn is_active(&self, terms: &Terms) -> bool {
        !self.is_cancelled && self.current(terms).is_some()
    }

    pub fn is_completed(&self, terms: &Terms) -> bool {
        self.current(terms).is_none()
    }

    pub fn is_in_flight(&self) -> bool {
        ["sender_reported", "processing"].contains(&self.payment.state)
    }

    fn is_done(&self, stage: &Stage) -> bool {
        stage.gates.iter().all(|gate| self.cleared.contains(&gate.id))
    }

    fn current<'a>(&self, terms: &'a Terms) -> Option<&'a Stage> {
        terms.agreement.stages.iter().find(|stage| !self.is_done(stage))
    }

    pub fn is_open(&self, terms: &Terms, gate: GateId) -> bool {
        let is_current = self.current(terms).is_some_and(|stage| stage.gates.iter().any(|found| found.id == gate));
        is_current && !self.is_cancelled && !self.cleared.contains(&gate) && !self.declined.contains(&gate)
    }

    fn is_met(&self, terms: &Terms, gate: &Gate) -> bool {
        let named = terms.named(gate);
        match &gate.rule {
            GateRule::DocumentSigned { .. } => self.signed.len() == 2,
            GateRule::SignatureBlocks { block_ids } => {
                let missing = (0..2).filter(|who| !self.signed.contains(who)).map(|who| terms.block(who));
                missing.into_iter().all(|block| !block_ids.contains(&block))
            }
            GateRule::Countdown { until: Some(Countdown::At(_)) } => true,
            GateRule::Countdown { .. } => self.ended.contains(&gate.id),
            GateRule::MovementAuthorized { .. } => !["draft", "cancelled"].contains(&self.payment.state),
            GateRule::MovementReconciled { .. } => self.payment.state == "reconciled",
            GateRule::IdentityVerified { .. } => named.into_iter().all(|who| self.verified[who] > 0),
            _ => named.into_iter().all(|who| self.done.contains(&(gate.id, who))),
        }
    }

    fn settle(&mut self, terms: &Terms) {
        while let Some(stage) = self.current(terms).filter(|_| !self.is_cancelled) {
            let met = |gate: &&Gate| self.is_open(terms, gate.id) && self.is_met(terms, gate);
            let now: Vec<GateId> = stage.gates.iter().filter(met).map(|gate| gate.id).collect();
            if now.is_empty() {
                return;
            }
            self.cleared.extend(now);
        }
    }

    /// The document's state: out once a finished step has sent it out, or a begun step asks to sign it.
    fn document_state(&self, terms: &Terms) -> &'static str {
        let stages = &terms.agreement.stages;
        let begun = stages.iter().take_while(|stage| self.is_done(stage)).chain(self.current(terms));
        let asks = |stage: &Stage| {
            stage.gates.iter().any(|gate| (0..2).any(|who| terms.asks_for(gate, who)))
                || (self.is_done(stage) && stage.actions.contains(&StageAction::OpenSigning))
        };
        match begun.into_iter().any(asks) {
            false => "draft",
            true if self.signed.len() == 2 => "signed",
            true => "out",
        }
    }

    pub fn may_sign(&self, terms: &Terms, who: usize) -> bool {
        let mut asking = terms.gates().filter(|gate| terms.asks_for(gate, who)).peekable();
        let is_asked = asking.peek().is_none() || asking.any(|gate| self.is_open(terms, gate.id));
        let is_out = self.is_active(terms) && self.document_state(terms) == "out";
        is_out && is_asked && !self.signed.contains(&who)
    }

    fn asking_to_sign(&self, terms: &Terms, who: usize) -> BTreeSet<GateId> {
        let asking = terms.gates().filter(|gate| terms.asks_for(gate, who) && self.is_open(terms, gate.id));
        asking.map(|gate| gate.id).collect()
    }

    fn may(&self, terms: &Terms, gate: GateId, who: usize) -> bool {
        let is_named = terms.named(terms.gate(gate)).contains(&who);
        is_named && self.is_open(terms, gate) && self.consents[who]
    }

    /// Whether an act works now, with its effects. `did` says whether it worked, where both are possible.
    pub fn apply(&mut self, terms: &Terms, act: &Act, did: Option<bool>) -> Outcome {
        let works = self.works(terms, act);
        let is_stale = match act {
            Act::Cancel => self.has_changed,
            Act::Save(gate, who, _) | Act::Send(gate, who, _) => self.saved.contains(&(*gate, *who)),
            _ => false,
        };
        let outcome = match (works, is_stale) {
            (false, _) if matches!(act, Act::Pay(_) | Act::Reopen(_)) => Outcome::Either,
            (false, _) => Outcome::Refused,
            (true, false) => Outcome::Works,
            (true, true) => Outcome::Either,
        };
        if works && (!is_stale || did == Some(true)) {
            self.take_effect(terms, act);
            self.has_changed = true;
            self.settle(terms);
        }
        outcome
    }

    fn works(&self, terms: &Terms, act: &Act) -> bool {
        let is_active = self.is_active(terms);
        let type_of = |gate: &GateId| &terms.gate(*gate).rule;
        let is_new = |gate: &GateId, who: &usize| {
            let part = (*gate, *who);
            !self.waiting.contains(&part) && !self.done.contains(&part)
        };
        match act {
            Act::Sign(who) => self.may_sign(terms, *who) && self.consents[*who],
            Act::SignOnPaper(who) => self.may_sign(terms, *who),
            // If no open condition asks for it, it is ignored.
            Act::DeclineDocument(who) => {
                let is_asked = !self.asking_to_sign(terms, *who).is_empty();
                self.may_sign(terms, *who) && is_asked && self.consents[*who]
            }
            Act::Approve(gate, who) => {
                let asks = matches!(type_of(gate), GateRule::ParticipantApproval { .. });
                asks && self.may(terms, *gate, *who) && is_new(gate, who)
            }
            Act::Upload(gate, who) => {
                let has_room =
                    self.uploads.get(&(*gate, *who)).is_none_or(|count| *count < limits::UPLOADS_PER_CONDITION_MAX);
                matches!(type_of(gate), GateRule::FileUpload { .. }) && self.may(terms, *gate, *who) && has_room
            }
            Act::Save(gate, who, _) | Act::Send(gate, who, _) => {
                let asks = matches!(type_of(gate), GateRule::InformationRequest { .. });
                asks && self.may(terms, *gate, *who) && is_new(gate, who)
            }
            // Members verify identities: the participant can't decline.
            Act::Decline(gate, who) => {
                let asks = !matches!(type_of(gate), GateRule::IdentityVerified { .. });
                asks && self.may(terms, *gate, *who) && is_new(gate, who)
            }
            Act::Accept(gate, who) | Act::Return(gate, who) => is_active && self.waiting.contains(&(*gate, *who)),
            Act::Reopen(gate) => is_active && self.declined.contains(gate),
            Act::Consent(who) => is_active && !self.consents[*who],
            Act::Withdraw(who) => is_active && self.consents[*who],
            Act::Verify(_) => is_active,
            Act::Reissue(_) | Act::TimePasses => true,
            Act::Pay(step) => self.pays(terms, *step),
            Act::Cancel => is_active && !self.is_in_flight(),
        }
    }

    fn pays(&self, terms: &Terms, step: Step) -> bool {
        let Payment { state, is_entered, is_verified, is_filed, .. } = &self.payment;
        let is_active = self.is_active(terms);
        match step {
            Step::Authorize => is_active && *state == "draft",
            Step::Enter => *state == "authorized" && !is_entered,
            Step::Verify => *state == "authorized" && *is_entered && !is_verified,
            // The only member releases what nobody else can verify.
            Step::Release => is_active && *state == "authorized" && *is_entered,
            Step::Report => *state == "instructions_ready",
            Step::File => ["instructions_ready", "sender_reported"].contains(state) && !is_filed,
            Step::Accept => *state == "processing",
            Step::Flag => ["processing", "reconciled"].contains(state),
            Step::Resolve => *state == "exception",
        }
    }

    fn take_effect(&mut self, terms: &Terms, act: &Act) {
        match act {
            Act::Sign(who) | Act::SignOnPaper(who) => drop(self.signed.insert(*who)),
            Act::DeclineDocument(who) => {
                self.declined.extend(self.asking_to_sign(terms, *who));
                self.declines += 1;
            }
            Act::Approve(gate, who) => drop(self.done.insert((*gate, *who))),
            Act::Upload(gate, who) => {
                self.done.insert((*gate, *who));
                *self.uploads.entry((*gate, *who)).or_default() += 1;
            }
            Act::Save(gate, who, _) => drop(self.saved.insert((*gate, *who))),
            Act::Send(gate, who, text) => {
                self.waiting.insert((*gate, *who));
                self.sent.push((*gate, *who, text.clone(), "sent"));
            }
            Act::Decline(gate, _) => {
                self.declined.insert(*gate);
                self.declines += 1;
            }
            Act::Accept(gate, who) => {
                self.judge((*gate, *who), "accepted");
                self.done.insert((*gate, *who));
            }
            Act::Return(gate, who) => self.judge((*gate, *who), "returned"),
            Act::Reopen(gate) => drop(self.declined.remove(gate)),
            Act::Consent(who) => self.consents[*who] = true,
            Act::Withdraw(who) | Act::Reissue(who) => self.consents[*who] = false,
            Act::Verify(who) => self.verified[*who] += 1,
            Act::Pay(step) => self.pay(terms, *step),
            Act::Cancel => {
                self.is_cancelled = true;
                if ["draft", "authorized", "instructions_ready"].contains(&self.payment.state) {
                    self.payment.state = "cancelled";
                }
            }
            Act::TimePasses => {
                let open = terms.gates().filter(|gate| self.is_open(terms, gate.id)).map(|gate| gate.id);
                self.ended.extend(open.collect::<Vec<_>>());
            }
        }
    }

    fn judge(&mut self, part: (GateId, usize), verdict: &'static str) {
        self.waiting.remove(&part);
        let last = self.sent.iter_mut().rev().find(|sent| (sent.0, sent.1) == part).expect("what was sent");
        last.3 = verdict;
    }

    fn pay(&mut self, terms: &Terms, step: Step) {
        let payment = &mut self.payment;
        match step {
            Step::Authorize => payment.state = "authorized",
            Step::Enter => payment.is_entered = true,
            Step::Verify => payment.is_verified = true,
            Step::Release => payment.state = "instructions_ready",
            Step::Report => (payment.state, payment.told[0]) = ("sender_reported", payment.told[0] + 1),
            Step::File => (payment.state, payment.is_filed) = ("processing", true),
            Step::Accept => (payment.state, payment.told[1]) = ("reconciled", payment.told[1] + 1),
            Step::Flag => (payment.state, payment.told[2]) = ("exception", payment.told[2] + 1),
            // Accepted evidence must be accepted again.
            Step::Resolve => payment.state = "processing",
        }
        // The current step waits for money that turns out not to have arrived; a finished step stays done.
        if let Some(stage) = self.current(terms).filter(|_| step == Step::Flag && !self.is_cancelled) {
            let arrived = stage.gates.iter().filter(|gate| matches!(gate.rule, GateRule::MovementReconciled { .. }));
            for gate in arrived {
                self.cleared.remove(&gate.id);
            }
        }
    }

    pub fn shown(&self, terms: &Terms) -> Value {
        let is_current =
            |id: GateId| self.current(terms).is_some_and(|stage| stage.gates.iter().any(|gate| gate.id == id));
        let state = |gate: &Gate| match gate.id {
            id if self.cleared.contains(&id) => "cleared",
            id if self.declined.contains(&id) => "declined",
            id if is_current(id) => "open",
            _ => "locked",
        };
        let lifecycle = match (self.is_cancelled, self.is_completed(terms)) {
            (true, _) => "cancelled",
            (false, true) => "completed",
            (false, false) => "active",
        };
        let sent = self.sent.iter();
        let sent = sent.map(|(gate, who, text, state)| json!([gate, terms.people[*who], text, state]));
        let [reported, reconciled, flagged] = self.payment.told;
        json!({
            "lifecycle": lifecycle,
            "current steps": usize::from(!self.is_completed(terms)),
            "conditions": terms.gates().map(state).collect::<Vec<_>>(),
            "document": self.document_state(terms),
            "information": sent.collect::<Vec<_>>(),
            "payment": self.payment.state,
            "obligations": self.obligations(terms),
            "events": {
                "signature.completed": self.signed.len(),
                "agreement.completed": usize::from(lifecycle == "completed"),
                "movement.sender_reported": reported,
                "movement.reconciled": reconciled,
                "movement.exception": flagged,
            },
        })
    }

    /// Those of the promises, once a step that activates them is done, or without one, the agreement is completed.
    fn obligations(&self, terms: &Terms) -> usize {
        let mut projecting =
            terms.agreement.stages.iter().filter(|stage| stage.actions.contains(&StageAction::ProjectObligations));
        let completed = !self.is_cancelled && self.is_completed(terms);
        let is_projected = projecting.next().map_or(completed, |stage| self.is_done(stage));
        if is_projected { terms.agreement.promises.len() } else { 0 }
    }

    pub fn receipts(&self, terms: &Terms) -> BTreeMap<&'static str, usize> {
        let is_approval = |gate: GateId| matches!(terms.gate(gate).rule, GateRule::ParticipantApproval { .. });
        let approved = self.done.iter().filter(|(gate, _)| is_approval(*gate)).count();
        let uploaded = self.uploads.values().sum();
        [("approved", approved), ("uploaded", uploaded), ("answered", self.sent.len()), ("declined", self.declines)]
            .into()
    }

    pub fn signatures(&self) -> usize {
        self.signed.len()
    }

    pub fn verifications(&self) -> usize {
        self.verified.iter().sum()
    }
}
