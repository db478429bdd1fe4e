//! The demo's payments: payer and two members advance each to its state with the use cases of their forms.

use shared::domain::bank_account::BankAccount;
use shared::domain::file_type::FileType;
use shared::domain::ids::{AgreementId, EvidenceId, MovementId};
use shared::domain::money::{Currency, Money};
use shared::domain::movement::Arrivals;
use shared::domain::movement::claim::{NewClaim, ReferenceType, TransferReference};
use shared::domain::movement::evidence::{BankReference, EvidenceFacts, EvidenceFile, NewEvidence};
use shared::domain::movement::instructions::{BankInstructions, InstructionsKind, NewVerification};
use shared::domain::movement::safe_text::{SafeLine, SafeNote};
use shared::domain::movement::source::ChosenSource;
use shared::domain::movement::state::{ExceptionReason, MovementState};
use shared::domain::movement::terms::{Direction, PaymentTerms};
use shared::domain::time_scale::TimeScale;
use shared::error::Error;
use shared::platform::files;
use shared::service::identity::demo_call::MemberCall;
use shared::service::movements::{self, EvidenceDecision, InstructionsToVerify, MovementAct, TypedVerification};
use shared::service::own_movements::{self, PartyAct};
use shared::service::payments;
use shared::service::system::SystemContext;

use crate::data::Member;
use crate::seed::demo::context::Demo;
use crate::seed::demo::participants::{ConsentedParticipant, done, occasion};
use crate::seed::demo::pdf;

pub(crate) struct NewPayment {
    pub(crate) purpose: &'static str,
    pub(crate) reference: &'static str,
    /// US cents.
    pub(crate) amount_minor: i64,
    pub(crate) parties: Parties,
    /// Counted from today.
    pub(crate) due_in_days: i32,
    /// The state it reaches.
    pub(crate) state: MovementState,
}

/// Payer and payee as indexes among the participants, and how the money moves as the organization sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parties {
    pub(crate) direction: Direction,
    pub(crate) payer: usize,
    pub(crate) payee: usize,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Authorize,
    EnterInstructions,
    VerifyInstructions,
    ReleaseInstructions,
    ReportSent,
    AskForProof,
    FileEvidence,
    AcceptEvidence,
    FlagException,
    RecordReturn,
    Cancel,
}

const TO_ARRIVAL: [Step; 8] = [
    Step::Authorize,
    Step::EnterInstructions,
    Step::VerifyInstructions,
    Step::ReleaseInstructions,
    Step::ReportSent,
    Step::AskForProof,
    Step::FileEvidence,
    Step::AcceptEvidence,
];

/// The steps to a state: a prefix of [`TO_ARRIVAL`], and one that leaves it.
fn steps_to(state: MovementState) -> impl Iterator<Item = Step> {
    let (count, aside) = match state {
        MovementState::Draft => (0, None),
        MovementState::Authorized => (1, None),
        MovementState::InstructionsReady => (4, None),
        MovementState::SenderReported => (5, None),
        MovementState::ReceiptPending => (6, None),
        MovementState::Processing => (7, None),
        MovementState::Reconciled => (8, None),
        MovementState::Exception => (6, Some(Step::FlagException)),
        MovementState::Returned => (6, Some(Step::RecordReturn)),
        MovementState::Cancelled => (1, Some(Step::Cancel)),
    };
    TO_ARRIVAL.into_iter().take(count).chain(aside)
}

pub(crate) async fn add(demo: &Demo<'_>, agreement_id: AgreementId, new: &NewPayment) -> Result<MovementId, Error> {
    let system = SystemContext::begin(demo.store, demo.organization.id, "set_up_demo", TimeScale::default());
    let agreement = system.store().agreement(agreement_id).await?.ok_or_else(Error::not_found)?;
    let today = system.store().organization().await?.time_zone.day_of(system.now());
    let party = |place: usize| agreement.participants.get(place).map(|participant| participant.id);
    let terms = PaymentTerms {
        purpose: Some(line(new.purpose)?),
        reference: Some(line(new.reference)?),
        money: Some(amount(new)?),
        direction: new.parties.direction,
        sender: party(new.parties.payer),
        receiver: party(new.parties.payee),
        due_on: Some(today.plus_days(new.due_in_days)),
        ..PaymentTerms::default()
    };
    let id = MovementId::new();
    done(system.run(1, || payments::add(&system, agreement_id, id, terms.clone())).await?)?;
    Ok(id)
}

/// Brings an active agreement's payment to its state, as the first two members and the payer.
pub(crate) async fn bring_to_state(
    demo: &Demo<'_>,
    ids: (AgreementId, MovementId),
    new: &NewPayment,
) -> Result<(), Error> {
    let [first, second, ..] = demo.organization.members.as_slice() else { return Err(Error::not_found()) };
    let evidence = EvidenceId::new();
    for step in steps_to(new.state) {
        let case = Case { demo, ids, new, evidence };
        match step {
            Step::ReportSent => case.report_sent().await?,
            Step::EnterInstructions => case.enter_instructions(first).await?,
            Step::FileEvidence => case.file_evidence(second).await?,
            Step::AcceptEvidence => case.accept_evidence(first).await?,
            Step::VerifyInstructions => case.verify_instructions(second).await?,
            Step::ReleaseInstructions => case.act(second, MovementAct::ReleaseInstructions(REVISION)).await?,
            Step::Authorize => case.act(first, MovementAct::Authorize).await?,
            Step::AskForProof => case.act(first, MovementAct::AskForProof).await?,
            Step::FlagException => {
                let why = note("The payee’s bank has seen nothing in three business days.")?;
                case.act(first, MovementAct::Flag(ExceptionReason::NotReceived, Some(why))).await?;
            }
            Step::RecordReturn => {
                let why = note("The payee’s bank sent it back: the name did not match the account.")?;
                case.act(first, MovementAct::RecordReturn(why)).await?;
            }
            Step::Cancel => {
                let why = note("The seller pays the movers directly.")?;
                case.act(first, MovementAct::Cancel(why)).await?;
            }
        }
    }
    Ok(())
}

/// The instructions' revision: nobody changes them.
const REVISION: u32 = 1;

const ACCOUNT: (&str, &str) = ("000123456789", "021000021");

struct Case<'a> {
    demo: &'a Demo<'a>,
    ids: (AgreementId, MovementId),
    new: &'a NewPayment,
    evidence: EvidenceId,
}

impl Case<'_> {
    /// A call on the payment's page.
    async fn call(&self, member: &Member, operation: &'static str) -> Result<MemberCall, Error> {
        Ok(self.demo.call(member, operation).await?.about(&[self.ids.1.uuid()]))
    }

    async fn act(&self, member: &Member, act: MovementAct) -> Result<(), Error> {
        let operation = match act {
            MovementAct::Authorize => "authorize_movement",
            MovementAct::ReleaseInstructions(_) => "release_instructions",
            MovementAct::RecordClaim(_) => "record_claim",
            MovementAct::AskForProof => "ask_for_proof",
            MovementAct::Flag(..) => "flag_exception",
            MovementAct::RecordReturn(_) => "record_return",
            MovementAct::Cancel(_) => "cancel_movement",
        };
        let call = self.call(member, operation).await?;
        done(call.commit(movements::act(call.scope(), call.member(), self.ids.1, act).await?).await?)
    }

    async fn enter_instructions(&self, member: &Member) -> Result<(), Error> {
        let keys = self.demo.functions.app.webhooks()?.keys.keyring().await?;
        let typed = |part: &str| match part {
            "holder" => "Closing account".to_owned(),
            "bank" => "First Bank of Albany".to_owned(),
            "number" => ACCOUNT.0.to_owned(),
            "code" => ACCOUNT.1.to_owned(),
            _ => String::new(),
        };
        let instructions = BankInstructions::read(InstructionsKind::Aba, typed).map_err(Error::Invalid)?;
        let call = self.call(member, "enter_instructions").await?;
        let movement = self.ids.1;
        let plan =
            movements::enter_instructions(call.scope(), call.member(), &keys, movement, 0, &instructions).await?;
        done(call.commit(plan).await?)
    }

    /// A second member calls the payee and types what they read out.
    async fn verify_instructions(&self, member: &Member) -> Result<(), Error> {
        let keys = self.demo.functions.app.webhooks()?.keys.keyring().await?;
        let typed = |part: &str| match part {
            "read_out_by" => "Nora West",
            "method" => "call_back",
            "phone" => "+1 518 555 0142",
            "phone_source" => "earlier_dealings",
            _ => "",
        };
        let verification = NewVerification::read(typed).map_err(Error::Invalid)?;
        let accounts = BankAccount::new(ACCOUNT.0, Some(ACCOUNT.1)).into_iter().collect();
        let new = TypedVerification { revision: REVISION, verification, accounts };
        let call = self.call(member, "verify_instructions").await?;
        let movement = movements::get(call.scope(), self.ids.1).await?.movement;
        let opened = InstructionsToVerify::load(call.scope(), &keys, &movement).await?;
        let (scope, by, opened) = (call.scope(), call.member(), opened.as_ref());
        let plan = movements::verify_instructions(scope, by, self.ids.1, &keys, opened, &new).await?;
        done(call.commit(plan).await?)
    }

    async fn report_sent(&self) -> Result<(), Error> {
        let (agreement, id) = self.ids;
        let org = self.demo.organization.id;
        let payer = ConsentedParticipant::begin(self.demo.functions, org, agreement, self.new.parties.payer).await?;
        let call = payer.call("report_payment_sent").await?.about(&[id.uuid()]);
        let today = call.scope().store().organization().await?.time_zone.day_of(call.scope().now());
        let text = format!("{}-1", self.new.reference);
        let reference = TransferReference::parse(ReferenceType::EndToEndId, &text);
        let reference = reference.map_err(|(_, why)| Error::Internal(why))?;
        let claim = NewClaim::checked(today, today, vec![reference]).map_err(Error::Invalid)?;
        let act = PartyAct::ReportSent(REVISION, claim);
        let plan = own_movements::act(call.scope(), call.participant(), occasion(), id, act).await?;
        done(call.commit(plan).await?)
    }

    async fn file_evidence(&self, member: &Member) -> Result<(), Error> {
        let money = amount(self.new)?;
        let lines = [
            "First Bank of Albany",
            "",
            "We credited your account with the following payment:",
            self.new.purpose,
            self.new.reference,
            "",
            "This is a sample. It is no document of a bank.",
        ];
        let call = self.call(member, "file_evidence").await?;
        let file = pdf::page("Incoming payment", &lines).into();
        let content = files::keep_one(call.scope(), self.demo.files, file).await?;
        let today = call.scope().store().organization().await?.time_zone.day_of(call.scope().now());
        let (day, number) = (today.to_string().replace('-', ""), self.evidence.uuid().as_u128() % 1_000_000);
        let reference = BankReference::parse(&format!("{day}B1QGC08C{number:06}"));
        let facts = EvidenceFacts {
            money,
            value_day: today,
            reference: Some(reference.map_err(|(_, why)| Error::Internal(why))?),
            file: Some(EvidenceFile { name: line("notification.pdf")?, content, file_type: Some(FileType::Pdf) }),
        };
        let source = ChosenSource::parse("receiving_bank_notification").ok_or_else(Error::not_found)?;
        let new = NewEvidence::typed(self.evidence, source, facts).map_err(Error::Invalid)?;
        let keys = self.demo.functions.app.webhooks()?.keys.keyring().await?;
        let plan = movements::file_evidence(call.scope(), call.member(), &keys, self.ids.1, new).await?;
        done(call.commit(plan).await?)
    }

    async fn accept_evidence(&self, member: &Member) -> Result<(), Error> {
        let call = self.call(member, "accept_evidence").await?;
        let ids = (self.ids.1, self.evidence);
        let accepted =
            movements::judge_evidence(call.scope(), call.member(), ids, EvidenceDecision::Accept(Arrivals::One))
                .await?;
        done(call.commit(accepted).await?)
    }
}

fn amount(new: &NewPayment) -> Result<Money, Error> {
    let currency = Currency::parse("USD").ok_or_else(Error::not_found)?;
    Money::new(new.amount_minor, currency).map_err(|why| Error::Internal(why.to_string()))
}

fn line(text: &str) -> Result<SafeLine, Error> {
    SafeLine::parse(text).map_err(|(_, why)| Error::Internal(why))
}

fn note(text: &str) -> Result<SafeNote, Error> {
    SafeNote::parse(text).map_err(|(_, why)| Error::Internal(why))
}
