//! Payments, and members' acts on them through use cases.

use serde_json::Value;
use shared::domain::agreement::Agreement;
use shared::domain::agreement::DocumentContent;
use shared::domain::agreement::gate::GateRule;
use shared::domain::agreement::warnings::to_tick;
use shared::domain::bank_account::BankAccount;
use shared::domain::contact::Email;
use shared::domain::day::Day;
use shared::domain::file_type::FileType;
use shared::domain::ids::{AgreementId, EvidenceId, MovementId};
use shared::domain::money::{Currency, Money};
use shared::domain::movement::NotMoved;
use shared::domain::movement::evidence::{BankReference, EvidenceFacts, EvidenceFile, NewEvidence};
use shared::domain::movement::instructions::{BankInstructions, InstructionsKind, NewVerification};
use shared::domain::movement::safe_text::SafeLine;
use shared::domain::movement::source::ChosenSource;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::{NewProposal, ProposalAction};
use shared::domain::time_scale::TimeScale;
use shared::service::identity::demo_call::MemberCall;
use shared::service::movements::{self, EvidenceDecision, InstructionsToVerify, MovementAct, TypedVerification};
use shared::service::scope::Plan;
use shared::service::{payments, proposals};

use crate::app::{Browser, Person};
use crate::attending::Live;
use crate::drafts::Drafted;
use crate::org::Org;

/// The account number in [`instructions`].
pub const IBAN: &str = "DE89370400440532013000";
/// Another account number.
pub const OTHER_IBAN: &str = "GB33BUKB20201555555555";

/// A member's report of the call that verified instructions.
pub const READ_OUT: [(&str, &str); 4] = [
    ("read_out_by", "Nora West"),
    ("method", "call_back"),
    ("phone", "+1 212 555 0100"),
    ("phone_source", "earlier_dealings"),
];

/// A payment of 250,000.00 US dollars from the first participant to the second.
#[must_use]
pub fn terms(agreement: &Agreement, purpose: &str, reference: &str) -> PaymentTerms {
    let line = |text: &str| Some(SafeLine::parse(text).expect("a line"));
    PaymentTerms {
        purpose: line(purpose),
        reference: line(reference),
        money: Some(dollars(25_000_000)),
        sender: agreement.participants.first().map(|participant| participant.id),
        receiver: agreement.participants.get(1).map(|participant| participant.id),
        due_on: Day::parse("2026-03-20"),
        ..PaymentTerms::default()
    }
}

/// US cents.
#[must_use]
pub fn dollars(minor: i64) -> Money {
    Money::new(minor, Currency::parse("USD").expect("a currency")).expect("an amount")
}

/// Bank instructions with [`IBAN`].
#[must_use]
pub fn instructions() -> BankInstructions {
    let typed = |part: &str| match part {
        "holder" => "Northwind Robotics".to_owned(),
        "bank" => "Test Bank".to_owned(),
        "number" => IBAN.to_owned(),
        _ => String::new(),
    };
    BankInstructions::read(InstructionsKind::Iban, typed).expect("instructions")
}

/// How the bank’s references of [`evidence`] begin, which are of Fedwire.
pub const IMAD: &str = "20260316B1QGC08C";

/// Evidence with a file whose hash is this letter 64 times.
#[must_use]
pub fn evidence(source: &str, money: Money, file: char) -> NewEvidence {
    let content = DocumentContent { sha256: file.to_string().repeat(64), size_bytes: 1024 };
    let name = SafeLine::parse("statement.pdf").expect("a name");
    let facts = EvidenceFacts {
        money,
        value_day: Day::parse("2026-03-16").expect("a day"),
        reference: Some(BankReference::parse(&format!("{IMAD}{:06}", u32::from(file))).expect("a reference")),
        file: Some(EvidenceFile { name, content, file_type: Some(FileType::Pdf) }),
    };
    NewEvidence::typed(EvidenceId::new(), ChosenSource::parse(source).expect("a source"), facts).expect("evidence")
}

impl Org {
    /// Adds a payment to a draft.
    pub async fn payment(&self, agreement: AgreementId, terms: PaymentTerms) -> MovementId {
        let (system, id) = (self.system(), MovementId::new());
        let added = system.run(5, || payments::add(&system, agreement, id, terms.clone())).await;
        added.expect("the table answers").expect("the draft takes it");
        id
    }

    /// Begins a member's call.
    pub async fn member_call(&self, person: &Person, operation: &'static str) -> MemberCall {
        let email = Email::parse(&person.email).expect("an address");
        let call = MemberCall::begin(self.store(), TimeScale::default(), operation, &email, &person.password).await;
        call.expect("the table answers").expect("a member")
    }

    /// Commits a member's use case.
    pub async fn as_member<T, R>(
        &self,
        person: &Person,
        operation: &'static str,
        decide: impl AsyncFnOnce(&MemberCall) -> Result<Plan<Result<T, R>>, shared::error::Error>,
    ) -> Result<T, R> {
        let call = self.member_call(person, operation).await;
        let plan = decide(&call).await.expect("the use case decides").accepted()?;
        Ok(call.commit(plan).await.expect("the table takes it"))
    }

    /// Publishes or cancels an agreement in one act of a member.
    pub async fn decide_at_once(&self, person: &Person, agreement_id: AgreementId, action: ProposalAction) {
        let new = || NewProposal { action, agreement_id, note: None };
        let done = self
            .as_member(person, "publish_agreement", async |call| {
                let review = proposals::review_act(call.scope(), agreement_id, action).await?;
                let ticked = to_tick(&review.warnings);
                proposals::propose_and_confirm(call.scope(), call.member(), new(), &review.shown, &ticked).await
            })
            .await;
        done.expect("nothing is in the way");
    }

    /// Runs a member's act on a movement.
    pub async fn act_on_movement(&self, person: &Person, id: MovementId, act: MovementAct) {
        let done = self
            .as_member(person, "authorize_movement", async |call| {
                movements::act(call.scope(), call.member(), id, act).await
            })
            .await;
        done.expect("the rules allow it");
    }

    /// Verifies a revision of instructions, with the IBAN that the payee read out.
    pub async fn verify_instructions(&self, person: &Person, id: MovementId, revision: u32, iban: &str) {
        let typed = |part: &str| READ_OUT.into_iter().find(|(name, _)| *name == part).map_or("", |(_, typed)| typed);
        let verification = NewVerification::read(typed).expect("a verification");
        let accounts = BankAccount::new(iban, None).into_iter().collect();
        let new = TypedVerification { revision, verification, accounts };
        let keys = self.stack().keyring();
        let verified = self
            .as_member(person, "verify_instructions", async |call| {
                let movement = movements::get(call.scope(), id).await?.movement;
                let opened = InstructionsToVerify::load(call.scope(), keys, &movement).await?;
                let (scope, by) = (call.scope(), call.member());
                movements::verify_instructions(scope, by, id, keys, opened.as_ref(), &new).await
            })
            .await;
        verified.expect("it is what the instructions say");
    }

    /// Makes an active movement payable: one member enters instructions, the other verifies and releases them.
    pub async fn open_movement(&self, people: [&Person; 2], id: MovementId) {
        self.prepare_movement(people, id).await;
        self.act_on_movement(people[1], id, MovementAct::ReleaseInstructions(1)).await;
    }

    /// Takes a movement to instructions that the second member has verified and can release.
    pub async fn prepare_movement(&self, [first, second]: [&Person; 2], id: MovementId) {
        self.act_on_movement(first, id, MovementAct::Authorize).await;
        let keys = self.stack().keyring();
        let entered = self
            .as_member(first, "enter_instructions", async |call| {
                movements::enter_instructions(call.scope(), call.member(), keys, id, 0, &instructions()).await
            })
            .await;
        entered.expect("the rules allow it");
        self.verify_instructions(second, id, 1, IBAN).await;
    }
}

/// A published one-step agreement that waits for a payment of 250,000.00 US dollars from Ada to Northwind Robotics.
#[derive(Debug)]
pub struct Paying {
    /// The agreement and its organization.
    pub live: Live,
    /// Two members.
    pub people: [Person; 2],
    /// The payment.
    pub id: MovementId,
}

impl Paying {
    /// In a new organization.
    pub async fn new() -> Self {
        let org = Org::new().await;
        let people = [org.member("Maren Holt").await, org.member("Jonas Berg").await];
        Self::within(org, people, "Lease").await
    }

    /// In this organization.
    pub async fn within(org: Org, people: [Person; 2], name: &str) -> Self {
        Self::set_up(org, people, name, |draft, id| {
            draft.stages[0].gates[0].rule = GateRule::MovementReconciled { movement_id: Some(id) };
        })
        .await
    }

    /// Publishes a one-step agreement with such a payment and an approval by the first participant, after `change`.
    pub async fn set_up(
        org: Org,
        people: [Person; 2],
        name: &str,
        change: impl FnOnce(&mut Agreement, MovementId),
    ) -> Self {
        let draft = org
            .ready_draft(name, |draft| {
                draft.documents.clear();
                draft.stages.truncate(1);
                draft.stages[0].actions.clear();
            })
            .await;
        let id = org.payment(draft.id(), terms(&draft, "Closing payment", "INV-117")).await;
        let mut draft = Drafted::of(&org, &draft.id().to_string()).await;
        draft.change(&org, |draft| change(draft, id)).await;
        let member = Browser::of(&org, &people[0]).await;
        let live = Live::publish(org, member, draft.agreement).await;
        Self { live, people, id }
    }

    /// The path of the payment's page, relative to a participant's.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/payments/{}", self.id)
    }

    /// The movement in the API.
    pub async fn read(&self) -> Value {
        self.live.org.get(format!("/api/v1/movements/{}", self.id)).send().await.ok(200)
    }

    /// Members release the instructions to the sender.
    pub async fn open(&self) {
        self.live.org.open_movement([&self.people[0], &self.people[1]], self.id).await;
    }

    /// Changes the shown revision to another account of the payee; if `releases`, both members then release it.
    pub async fn change_instructions(&self, shown: u32, releases: bool) {
        let org = &self.live.org;
        let keys = org.stack().keyring();
        let typed = |part: &str| match part {
            "holder" => "Northwind Robotics".to_owned(),
            "bank" => format!("Other Bank {shown}"),
            "number" => OTHER_IBAN.to_owned(),
            _ => String::new(),
        };
        let other = BankInstructions::read(InstructionsKind::Iban, typed).expect("instructions");
        let entered = org
            .as_member(&self.people[0], "enter_instructions", async |call| {
                movements::enter_instructions(call.scope(), call.member(), keys, self.id, shown, &other).await
            })
            .await;
        entered.expect("the rules allow it");
        if releases {
            org.verify_instructions(&self.people[1], self.id, shown + 1, OTHER_IBAN).await;
            org.act_on_movement(&self.people[1], self.id, MovementAct::ReleaseInstructions(shown + 1)).await;
        }
    }

    /// Judges evidence as the second member.
    pub async fn judge(&self, evidence: EvidenceId, decision: EvidenceDecision) -> Result<(), NotMoved> {
        let judged = self.live.org.as_member(&self.people[1], "accept_evidence", async |call| {
            movements::judge_evidence(call.scope(), call.member(), (self.id, evidence), decision).await
        });
        judged.await
    }
}
