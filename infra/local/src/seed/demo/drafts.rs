//! The demo's draft edits. The API leaves them to members; the demo commits them as the service.

use std::collections::BTreeSet;

use bytes::Bytes;
use shared::domain::agreement::gate::{Countdown, FieldType, GateRule, InformationField, RequestedFile};
use shared::domain::agreement::promise::{Parties, PromiseTerms, Trigger, Triggers};
use shared::domain::agreement::{
    Agreement, ConversionTiming, DocumentContent, Label, Participant, ParticipantRole, SafeTerms, StageAction,
};
use shared::domain::ids::{
    AgreementId, DocumentId, FieldId, OrgId, ParticipantId, SignatureBlockId, StageId, TriggerId,
};
use shared::domain::note::Note;
use shared::domain::recurrence::{Days, Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::platform::files::{self, FileStore};
use shared::service::agreements;
use shared::service::system::SystemContext;
use shared::store::Store;
use shared::wire::fields::FieldErrors;

/// Fills in a draft, with its document's file if any.
pub(crate) type DraftEdit = fn(&Agreement, Option<DocumentContent>, Timestamp) -> Result<Agreement, FieldErrors>;

pub(crate) async fn commit_edit(
    store: &Store,
    files: &dyn FileStore,
    org: OrgId,
    id: AgreementId,
    edit: DraftEdit,
    file: Option<Bytes>,
) -> Result<(), Error> {
    let system = SystemContext::begin(store, org, "set_up_demo", TimeScale::default());
    let file = match file {
        // Write a file before the record that names it.
        Some(file) => Some(files::keep_one(&system, files, file).await?),
        None => None,
    };
    system.run(1, || agreements::edit(&system, id, |draft, now| edit(draft, file.clone(), now))).await.map(|_| ())
}

/// A complete SAFE: the issuer approves, both sides sign, the investor answers, and it completes a day later.
pub(crate) fn safe(
    draft: &Agreement,
    investment_amount_minor: i64,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, closing, _) = safe_to_closing(draft, investment_amount_minor, file, BTreeSet::new(), now)?;
    let until = Some(Countdown::AfterHours(24));
    Ok(draft.add_gate(closing, GateRule::Countdown { until }, now)?.0)
}

/// A SAFE with an upload and no waits, which newcomers can complete with every kind of participant act.
pub(crate) fn safe_of_newcomers(
    draft: &Agreement,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let pays = BTreeSet::from([StageAction::OpenMovement, StageAction::ReleaseInstructions]);
    let (draft, closing, investors) = safe_to_closing(draft, 25_000_000, file, pays, now)?;
    let file = RequestedFile {
        title: Some(label("LLC resolution")?),
        help: Note::parse("The resolution that authorizes this investment, as a PDF.").ok(),
        review: false,
    };
    let (draft, _) = draft.add_gate(closing, GateRule::FileUpload { participant_ids: investors, file }, now)?;
    let (draft, funding) = draft.add_stage(label("Funding")?, BTreeSet::new(), now)?;
    await_payment(&draft, funding, 0, now)
}

/// A complete one-step draft that waits for its payment.
pub(crate) fn retainer(
    draft: &Agreement,
    _: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, stage) = draft.add_stage(label("Retainer")?, BTreeSet::new(), now)?;
    await_payment(&draft, stage, 0, now)
}

/// A complete draft: both sides sign, the deposit arrives and activates the promises, then the balance.
pub(crate) fn purchase(
    draft: &Agreement,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let draft = promises_of_purchase(draft, now)?;
    let (draft, document) = draft.add_document(label("Purchase agreement")?, file, now)?;
    let (draft, block_ids) = add_signature_blocks(draft, document, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::SignatureBlocks { block_ids }, now)?;
    let (draft, deposit) =
        draft.add_stage(label("Deposit")?, BTreeSet::from([StageAction::ProjectObligations]), now)?;
    let draft = await_payment(&draft, deposit, 0, now)?;
    let (draft, closing) = draft.add_stage(label("Closing")?, BTreeSet::new(), now)?;
    await_payment(&draft, closing, 1, now)
}

fn await_payment(draft: &Agreement, stage: StageId, place: usize, now: Timestamp) -> Result<Agreement, FieldErrors> {
    // Ids are in the order of addition.
    let movement_id = draft.movements().keys().nth(place).copied();
    Ok(draft.add_gate(stage, GateRule::MovementReconciled { movement_id }, now)?.0)
}

/// A promise of each kind between buyer and seller.
fn promises_of_purchase(draft: &Agreement, now: Timestamp) -> Result<Agreement, FieldErrors> {
    let [buyer, seller, ..] = draft.participants.as_slice() else { return Ok(draft.clone()) };
    let parties = |from: &Participant, to: &Participant| Parties::new([from.id].into(), [to.id].into());
    let first = TimeZone::default().day_of(now).plus_days(30);
    let schedule = Schedule::Recurrence(Recurrence::new(1, RecurrenceUnit::Quarter, first, RecurrenceEnd::After(4))?);
    let report = PromiseTerms::Scheduled { schedule };
    let (draft, _) =
        draft.add_promise(label("Report on the repair of the roof")?, report, parties(seller, buyer)?, now)?;
    let days = Schedule::Days(Days::new([TimeZone::default().day_of(now).plus_days(-1)].into())?);
    let keys = PromiseTerms::Scheduled { schedule: days };
    let (draft, _) = draft.add_promise(label("List of the keys to the office")?, keys, parties(seller, buyer)?, now)?;
    let trigger = Trigger {
        id: TriggerId::new(),
        description: label("The city reassesses the property tax of this year")?,
        due_after_days: 30,
    };
    let tax = PromiseTerms::Triggered { triggers: Triggers::new(vec![trigger])? };
    let (draft, _) = draft.add_promise(label("Share of the reassessed tax")?, tax, parties(buyer, seller)?, now)?;
    let insurance = PromiseTerms::standing(90)?;
    Ok(draft.add_promise(label("Building insurance in force")?, insurance, parties(buyer, seller)?, now)?.0)
}

/// A SAFE up to its closing, where the investors answer a question, with what happens then. Returns that step and the
/// investors.
fn safe_to_closing(
    draft: &Agreement,
    investment_amount_minor: i64,
    file: Option<DocumentContent>,
    actions: BTreeSet<StageAction>,
    now: Timestamp,
) -> Result<(Agreement, StageId, BTreeSet<ParticipantId>), FieldErrors> {
    const SIXTY_DAYS_S: i64 = 60 * 24 * 3600;
    let terms = SafeTerms {
        investment_amount_minor: Some(investment_amount_minor),
        currency: Some("USD".to_owned()),
        valuation_cap_minor: Some(800_000_000),
        discount_rate: Some("0.20".to_owned()),
        mfn: false,
        pro_rata: true,
        conversion_timing: Some(ConversionTiming::PostMoney),
        governing_law: Some("Delaware".to_owned()),
    };
    let draft = draft.set_terms(terms, now)?.set_expiry(Some(now.plus_seconds(SIXTY_DAYS_S)), now)?;
    let (draft, document) = draft.add_document(label("SAFE")?, file, now)?;
    let (draft, block_ids) = add_signature_blocks(draft, document, now)?;
    let (draft, terms) = draft.add_stage(label("Terms")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = participants_with(&draft, ParticipantRole::Issuer);
    let (draft, _) = draft.add_gate(terms, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::SignatureBlocks { block_ids }, now)?;
    let fields = vec![question("Are you an accredited investor?", FieldType::Boolean, &[])?];
    let investors = participants_with(&draft, ParticipantRole::Investor);
    let (draft, closing) = draft.add_stage(label("Closing")?, actions, now)?;
    let rule = GateRule::InformationRequest { participant_ids: investors.clone(), fields };
    Ok((draft.add_gate(closing, rule, now)?.0, closing, investors))
}

/// An incomplete draft: its document has no file, and its last stage no gates.
pub(crate) fn advisory(
    draft: &Agreement,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, document) = draft.add_document(label("Advisory agreement")?, file, now)?;
    let (draft, _) = add_signature_blocks(draft, document, now)?;
    let (draft, scope) = draft.add_stage(label("Scope")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = participants_with(&draft, ParticipantRole::Signer);
    let (draft, _) = draft.add_gate(scope, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::DocumentSigned { document_id: Some(document) }, now)?;
    Ok(draft.add_stage(label("Onboarding")?, BTreeSet::new(), now)?.0)
}

/// A complete draft: an approval, then signatures.
pub(crate) fn engagement(
    draft: &Agreement,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, document) = draft.add_document(label("Engagement letter")?, file, now)?;
    let (draft, _) = add_signature_blocks(draft, document, now)?;
    let (draft, approval) = draft.add_stage(label("Approval")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = participants_with(&draft, ParticipantRole::Approver);
    let (draft, _) = draft.add_gate(approval, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    Ok(draft.add_gate(signing, GateRule::DocumentSigned { document_id: Some(document) }, now)?.0)
}

/// A complete one-step draft: both sides sign.
pub(crate) fn two_signers(
    draft: &Agreement,
    name: &str,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, document) = draft.add_document(label(name)?, file, now)?;
    let (draft, block_ids) = add_signature_blocks(draft, document, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    Ok(draft.add_gate(signing, GateRule::SignatureBlocks { block_ids }, now)?.0)
}

/// A complete draft: an approval, both signatures, and the recipient's report, as a file and as answers.
pub(crate) fn grant(
    draft: &Agreement,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, document) = draft.add_document(label("Grant agreement")?, file, now)?;
    let (draft, block_ids) = add_signature_blocks(draft, document, now)?;
    let (draft, approval) = draft.add_stage(label("Budget")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = participants_with(&draft, ParticipantRole::Approver);
    let (draft, _) = draft.add_gate(approval, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::SignatureBlocks { block_ids }, now)?;
    let (draft, report) = draft.add_stage(label("Report")?, BTreeSet::new(), now)?;
    let recipient = draft.participants.first().map(|participant| participant.id);
    let participant_ids: BTreeSet<ParticipantId> = recipient.into_iter().collect();
    let file = RequestedFile {
        title: Some(label("Report on the workshops")?),
        help: Note::parse("The final report, signed by the project lead.").ok(),
        review: true,
    };
    let upload = GateRule::FileUpload { participant_ids: participant_ids.clone(), file };
    let (draft, _) = draft.add_gate(report, upload, now)?;
    let fields = vec![
        question("How many students took part?", FieldType::Number, &[])?,
        question("When did the workshops end?", FieldType::Date, &[])?,
        question("Where do we send the second installment?", FieldType::BankDetails, &[])?,
    ];
    Ok(draft.add_gate(report, GateRule::InformationRequest { participant_ids, fields }, now)?.0)
}

/// A complete one-step draft: everyone answers questions of every kind.
pub(crate) fn questionnaire(
    draft: &Agreement,
    _: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let (draft, questions) = draft.add_stage(label("Questions")?, BTreeSet::new(), now)?;
    let participant_ids = participants_with(&draft, ParticipantRole::Contributor);
    let optional = |field: InformationField| InformationField { required: false, ..field };
    let fields = vec![
        question("What is your full legal name?", FieldType::Text, &[])?,
        question("What do you do for the program?", FieldType::LongText, &[])?,
        question("How many hours a week do you give it?", FieldType::Number, &[])?,
        question("When did you begin?", FieldType::Date, &[])?,
        question("Are you an employee of the school?", FieldType::Boolean, &[])?,
        question("In which building do you work?", FieldType::Choice, &["Main building", "Workshop", "Gymnasium"])?,
        optional(question("On which days?", FieldType::MultiChoice, &["Monday", "Wednesday", "Friday"])?),
        question("Where do you live?", FieldType::Address, &[])?,
        question("Where do we send your compensation?", FieldType::BankDetails, &[])?,
        optional(question("Do you have a background check?", FieldType::File, &[])?),
    ];
    Ok(draft.add_gate(questions, GateRule::InformationRequest { participant_ids, fields }, now)?.0)
}

fn question(text: &str, field_type: FieldType, options: &[&str]) -> Result<InformationField, FieldErrors> {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    Ok(InformationField { id: FieldId::new(), label: label(text)?, field_type, required: true, options })
}

/// A complete draft that needs no participants: its first countdown ends at the start, its second two weeks later.
pub(crate) fn notice(draft: &Agreement, _: Option<DocumentContent>, now: Timestamp) -> Result<Agreement, FieldErrors> {
    let (draft, objections) = draft.add_stage(label("Objections")?, BTreeSet::new(), now)?;
    let until = Some(Countdown::At(now));
    let (draft, _) = draft.add_gate(objections, GateRule::Countdown { until }, now)?;
    let (draft, notice) = draft.add_stage(label("Notice period")?, BTreeSet::new(), now)?;
    let until = Some(Countdown::AfterHours(14 * 24));
    Ok(draft.add_gate(notice, GateRule::Countdown { until }, now)?.0)
}

fn add_signature_blocks(
    mut draft: Agreement,
    document: DocumentId,
    now: Timestamp,
) -> Result<(Agreement, BTreeSet<SignatureBlockId>), FieldErrors> {
    let mut blocks = BTreeSet::new();
    for signer in participants_with(&draft, ParticipantRole::Signer) {
        let (next, block) = draft.add_signature_block(document, signer, label("Signature")?, now)?;
        blocks.insert(block);
        draft = next;
    }
    Ok((draft, blocks))
}

fn participants_with(draft: &Agreement, role: ParticipantRole) -> BTreeSet<ParticipantId> {
    let with_role = draft.participants.iter().filter(|participant| participant.roles.contains(&role));
    with_role.map(|participant| participant.id).collect()
}

fn label(text: &str) -> Result<Label, FieldErrors> {
    Label::parse(text).map_err(|(code, message)| FieldErrors::one("label", code, message))
}
