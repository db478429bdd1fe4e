//! A deal with one payment, and all acts on it, for tests.

use super::*;
use crate::crypto::keyring::Keyring;
use crate::domain::actor::Actor;
use crate::domain::agreement::DocumentContent;
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::fixtures::{Deal, after, contact, label, noon, time_scale, waiting};
use crate::domain::agreement::gate::{GateRule, GateStatus};
use crate::domain::contact::{DisplayName, Email};
use crate::domain::day::Day;
use crate::domain::file_type::FileType;
use crate::domain::ids::{EvidenceId, MemberId, MovementId, OrgId, ParticipantId, ReceiptId, StatementId};
use crate::domain::information::bank_details::BankDetails;
use crate::domain::member::Counting;
use crate::domain::moment::Moment;
use crate::domain::money::{Currency, Money};
use crate::domain::movement::Arrivals;
use crate::domain::movement::evidence::{EvidenceFacts, EvidenceFile, KeyChange, NewEvidence, Sided, StatementEntry};
use crate::domain::movement::evidence_account::{AccountStanding, EvidenceAccount, SpokenAccount};
use crate::domain::movement::instructions::{BankInstructions, NewInstructions, NewVerification};
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::source::{ChosenSource, EvidenceSource, ReceiverSource};
use crate::domain::movement::surplus::SurplusOutcome;
use crate::domain::movement::terms::PaymentTerms;
use crate::domain::organization::{MemberRecord, Role};
use crate::domain::participant::movements::{MovementActed, file_own_evidence, report_sent, withdraw_own_evidence};
use crate::domain::participant::receipt::Origin;
use crate::domain::participant::{Access, ActingParticipant, Occasion};

pub(super) const AMOUNT: i64 = 100;

pub(super) fn usd(minor: i64) -> Money {
    Money::new(minor, Currency::parse("USD").unwrap()).unwrap()
}

pub(super) fn note(text: &str) -> SafeNote {
    SafeNote::parse(text).unwrap()
}

pub(super) fn day() -> Day {
    Day::parse("2026-03-14").unwrap()
}

pub(super) fn claim() -> NewClaim {
    NewClaim::checked(day(), day(), Vec::new()).unwrap()
}

pub(super) fn member(name: &str) -> Member {
    let (name, email) = (DisplayName::parse(name).unwrap(), Email::parse("m@example.org").unwrap());
    let record = MemberRecord { id: MemberId::new(), name, email, role: Role::Member, created_at: noon() };
    Member::of_session(OrgId::new(), &record)
}

pub(super) fn read_out() -> NewVerification {
    let typed = |part: &str| match part {
        "read_out_by" => "Nora West",
        "method" => "call_back",
        "phone" => "+1 212 555 0100",
        "phone_source" => "public_register",
        _ => "",
    };
    NewVerification::read(typed).unwrap()
}

pub(super) fn evidence(source: EvidenceSource, money: Money) -> NewEvidence {
    let id = EvidenceId::new();
    let content = DocumentContent { sha256: id.to_string(), size_bytes: 9 };
    let chosen = ChosenSource::parse(source.as_str());
    let file_type = chosen.map(|_| FileType::Pdf);
    let file = EvidenceFile { name: SafeLine::parse("proof.pdf").unwrap(), content, file_type };
    let facts = EvidenceFacts { money, value_day: day(), reference: None, file: Some(file) };
    if let Some(chosen) = chosen {
        return NewEvidence::typed(id, chosen, facts).unwrap();
    }
    let entry = StatementEntry {
        statement_id: StatementId::new(),
        number: 1,
        fingerprint: id.to_string(),
        unique_references: Vec::new(),
        other_references: Vec::new(),
    };
    let account = EvidenceAccount { ending: None, standing: AccountStanding::Instructed, reason: None };
    NewEvidence::of_entry(id, entry, facts, SpokenAccount::default()).with_account(account)
}

pub(super) fn surplus(is_kept: bool) -> SurplusOutcome {
    let note = note("The payer agreed to it");
    if is_kept { SurplusOutcome::Kept { note } } else { SurplusOutcome::Returned { on: day(), note } }
}

pub(super) fn receiver(money: Money) -> NewEvidence {
    evidence(EvidenceSource::Receiver(ReceiverSource::BankStatement), money)
}

#[derive(Debug, Clone)]
pub(super) struct World {
    pub agreement: Agreement,
    pub movement: Movement,
    pub evidence: Vec<Evidence>,
    pub maren: Member,
    pub jonas: Member,
    pub sender: ActingParticipant,
    pub receiver: ActingParticipant,
    pub counting: Counting,
    pub events: Vec<EventKind>,
    pub hours: i64,
    keys: Keyring,
    entered: Option<BankInstructions>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with_steps(&[(&[], true, false), (&[], false, true)], None)
    }

    /// A published agreement with these steps and conditions of its payment. The last step may also wait for `hours`.
    pub(super) fn with_steps(steps: &[(&[StageAction], bool, bool)], hours: Option<u32>) -> Self {
        let draft = Deal::complete().draft;
        let [ada, ben] = [draft.participants[0].id, draft.participants[1].id];
        let terms = PaymentTerms {
            purpose: Some(SafeLine::parse("Investment").unwrap()),
            money: Some(usd(AMOUNT)),
            sender: Some(ada),
            receiver: Some(ben),
            ..PaymentTerms::default()
        };
        let id = MovementId::new();
        let mut draft = draft;
        (draft.stages, draft.expires_at) = (Vec::new(), Some(after(1000)));
        let (mut draft, movement) = draft.add_payment(id, terms, Actor::system(), noon()).unwrap();
        let movement_id = Some(id);
        for (n, (actions, authorized, reconciled)) in steps.iter().enumerate() {
            let (more, stage) = draft.add_stage(label("Step"), actions.iter().copied().collect(), noon()).unwrap();
            draft = more;
            let rules = [
                authorized.then_some(GateRule::MovementAuthorized { movement_id }),
                reconciled.then_some(GateRule::MovementReconciled { movement_id }),
                hours.filter(|_| n + 1 == steps.len()).map(waiting),
            ];
            for rule in rules.into_iter().flatten() {
                draft = draft.add_gate(stage, rule, noon()).unwrap().0;
            }
        }
        let facts = draft.facts().clone();
        let agreement = draft.published(&facts, time_scale(), noon());
        let maren = member("Maren Holt");
        let access = Access { consent: Some(ReceiptId::new()), ..Access::default() };
        let acting = |id: ParticipantId, name: &str| {
            ActingParticipant::of_session(maren.org(), agreement.id(), id, &contact(name), access)
        };
        Self {
            sender: acting(ada, "Ada"),
            receiver: acting(ben, "Ben"),
            movement: movement.unwrap(),
            evidence: Vec::new(),
            jonas: member("Jonas Berg"),
            counting: Counting::Confirmed,
            events: Vec::new(),
            hours: 1,
            keys: Keyring::new("one").unwrap(),
            entered: None,
            agreement,
            maren,
        }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment::test(after(self.hours))
    }

    pub(super) fn context(&self) -> AgreementContext<'_> {
        let (agreement, facts) = (&self.agreement, self.agreement.facts());
        AgreementContext { agreement, facts, time_scale: time_scale(), moment: self.moment() }
    }

    pub(super) fn state(&self) -> MovementState {
        self.movement.state()
    }

    pub(super) fn gates(&self) -> Vec<GateStatus> {
        self.agreement.stages.iter().flat_map(|stage| &stage.gates).map(|gate| gate.state.status()).collect()
    }

    pub(super) fn take(&mut self, change: MovementChange) {
        let MovementChange { movement, agreement, events } = change;
        (self.movement, self.agreement) = (movement.into_inner(), agreement.into_inner());
        self.events.extend(events);
    }

    fn put(&mut self, evidence: Evidence) {
        self.evidence.retain(|other| other.id() != evidence.id());
        self.evidence.push(evidence);
    }

    pub(super) fn take_evidence(&mut self, EvidenceChange { change, evidence, .. }: EvidenceChange) -> EvidenceId {
        let id = evidence.id();
        self.put(evidence.into_inner());
        self.take(change);
        id
    }

    pub(super) fn take_acted(&mut self, acted: MovementActed) {
        let MovementActed { movement, agreement, evidence, events, .. } = acted;
        (self.movement, self.agreement) = ((*movement).clone(), (*agreement).clone());
        if let Some(evidence) = evidence {
            self.put((*evidence).clone());
        }
        self.events.extend(events);
    }

    fn clear(number: &str) -> BankInstructions {
        let typed = |part: &str| match part {
            "number" => number.to_owned(),
            "code" => "021000021".to_owned(),
            _ => "Northwind Robotics".to_owned(),
        };
        BankInstructions::of_answer(BankDetails::read(typed).unwrap())
    }

    pub(super) fn instructions(&self, number: &str) -> NewInstructions {
        let clear = Self::clear(number);
        let revision = self.movement.instructions().map_or(0, |instructions| instructions.revision) + 1;
        let sealed = clear.sealed(&self.keys, self.maren.org(), self.movement.id(), revision).unwrap();
        sealed.after(self.entered.as_ref(), &clear)
    }

    pub(super) fn authorize(&mut self) -> Result<(), NotMoved> {
        authorize(&self.maren, self.context(), &self.movement).map(|change| self.take(change))
    }

    pub(super) fn enter(&mut self, number: &str) -> Result<(), NotMoved> {
        let new = self.instructions(number);
        let entered = enter_instructions(&self.maren, self.context(), &self.movement, new)?;
        self.take(entered.change);
        self.entered = Some(Self::clear(number));
        Ok(())
    }

    pub(super) fn revision(&self) -> u32 {
        self.movement.instructions().map_or(1, |instructions| instructions.revision)
    }

    pub(super) fn verify(&mut self, by: &Member) -> Result<(), NotMoved> {
        let (shown, said) = (self.revision(), read_out());
        let verified = verify_instructions(by, self.context(), &self.movement, shown, said, self.counting);
        verified.map(|change| self.take(change))
    }

    pub(super) fn release(&mut self) -> Result<(), NotMoved> {
        let shown = self.revision();
        let released = release_instructions(&self.maren, self.context(), &self.movement, shown, self.counting);
        released.map(|change| self.take(change))
    }

    pub(super) fn report(&mut self) -> Result<(), NotMoved> {
        self.report_by(self.revision())
    }

    pub(super) fn report_by(&mut self, shown: u32) -> Result<(), NotMoved> {
        let occasion = Occasion { id: ReceiptId::new(), origin: Origin::default() };
        let acted = report_sent(&self.sender, self.context(), occasion, &self.movement, shown, claim());
        acted.map(|acted| self.take_acted(acted))
    }

    pub(super) fn record_claim(&mut self) -> Result<(), NotMoved> {
        record_claim(&self.maren, self.context(), &self.movement, claim()).map(|change| self.take(change))
    }

    pub(super) fn ask(&mut self) -> Result<(), NotMoved> {
        ask_for_proof(&self.maren, self.context(), &self.movement).map(|change| self.take(change))
    }

    pub(super) fn file(&mut self, new: NewEvidence) -> Result<EvidenceId, NotMoved> {
        let filed = file_evidence(&self.maren, self.context(), &self.movement, new);
        filed.map(|change| self.take_evidence(change))
    }

    pub(super) fn file_as(&mut self, by: &ActingParticipant, new: NewEvidence) -> Result<(), NotMoved> {
        let occasion = Occasion { id: ReceiptId::new(), origin: Origin::default() };
        let acted = file_own_evidence(by, self.context(), occasion, &self.movement, new, &[]);
        acted.map(|acted| self.take_acted(acted))
    }

    pub(super) fn found(&self, id: EvidenceId) -> Evidence {
        self.evidence.iter().find(|evidence| evidence.id() == id).unwrap().clone()
    }

    pub(super) fn accept(&mut self, id: EvidenceId) -> Result<(), NotMoved> {
        self.accept_as(id, Arrivals::Two)
    }

    pub(super) fn accept_as(&mut self, id: EvidenceId, arrivals: Arrivals) -> Result<(), NotMoved> {
        let Sided::Receiver(evidence) = self.found(id).split() else { return Err(NotMoved::WrongSource) };
        let (context, besides) = (self.context(), self.evidence.as_slice());
        let accepted = accept_evidence(&self.jonas, context, &self.movement, evidence, besides, arrivals)?;
        self.take_evidence(accepted);
        Ok(())
    }

    pub(super) fn reject(&mut self, id: EvidenceId) -> Result<KeyChange, NotMoved> {
        let (evidence, reason) = (self.found(id), note("Not legible"));
        let rejected = reject_evidence(&self.jonas, self.context(), &self.movement, &evidence, reason)?;
        let keys = rejected.keys.clone();
        self.take_evidence(rejected);
        Ok(keys)
    }

    pub(super) fn withdraw(&mut self, id: EvidenceId) -> Result<KeyChange, NotMoved> {
        let (evidence, reason) = (self.found(id), note("Of another payment"));
        let withdrawn = withdraw_evidence(&self.jonas, self.context(), &self.movement, &evidence, reason)?;
        let keys = withdrawn.keys.clone();
        self.take_evidence(withdrawn);
        Ok(keys)
    }

    pub(super) fn withdraw_as(&mut self, by: &ActingParticipant, id: EvidenceId) -> Result<(), NotMoved> {
        let occasion = Occasion { id: ReceiptId::new(), origin: Origin::default() };
        let (evidence, reason) = (self.found(id), note("The wrong file"));
        let acted = withdraw_own_evidence(by, self.context(), occasion, &self.movement, &evidence, reason);
        acted.map(|acted| self.take_acted(acted))
    }

    pub(super) fn flag(&mut self, reason: ExceptionReason) -> Result<(), NotMoved> {
        let flagged = flag_exception(&self.maren, self.context(), &self.movement, reason, None);
        flagged.map(|change| self.take(change))
    }

    pub(super) fn resolve(&mut self, resolution: Resolution) -> Result<(), NotMoved> {
        let (context, evidence) = (self.context(), self.evidence.as_slice());
        let Resolved { change, evidence } =
            resolve_exception(&self.maren, context, &self.movement, resolution, evidence)?;
        for record in evidence {
            self.put(record.into_inner());
        }
        self.take(change);
        Ok(())
    }

    pub(super) fn record_return(&mut self) -> Result<(), NotMoved> {
        let returned = record_return(&self.maren, self.context(), &self.movement, note("Account closed"));
        returned.map(|change| self.take(change))
    }

    pub(super) fn cancel(&mut self) -> Result<(), NotMoved> {
        let cancelled = cancel_movement(&self.maren, self.context(), &self.movement, note("Paid in cash"));
        cancelled.map(|change| self.take(change))
    }

    pub(super) fn waiting() -> Self {
        Self::with_steps(&[(&[], true, false), (&[], false, true)], Some(500))
    }

    pub(super) fn ready() -> Self {
        let mut world = Self::waiting();
        world.authorize().unwrap();
        world.enter("000123456789").unwrap();
        world.verify(&world.jonas.clone()).unwrap();
        world.release().unwrap();
        world
    }

    pub(super) fn in_state(state: MovementState) -> Self {
        let mut world = if matches!(state, MovementState::Draft | MovementState::Authorized) {
            Self::waiting()
        } else {
            Self::ready()
        };
        match state {
            MovementState::Draft | MovementState::InstructionsReady => {}
            MovementState::Authorized => world.authorize().unwrap(),
            MovementState::SenderReported => world.report().unwrap(),
            MovementState::ReceiptPending => {
                world.report().unwrap();
                world.ask().unwrap();
            }
            MovementState::Processing => {
                world.file(receiver(usd(AMOUNT))).unwrap();
            }
            MovementState::Reconciled => {
                let id = world.file(receiver(usd(AMOUNT))).unwrap();
                world.accept(id).unwrap();
            }
            MovementState::Exception => world.flag(ExceptionReason::SuspectedFraud).unwrap(),
            MovementState::Returned => {
                world.report().unwrap();
                world.record_return().unwrap();
            }
            MovementState::Cancelled => world.cancel().unwrap(),
        }
        assert_eq!(world.state(), state);
        world
    }
}
