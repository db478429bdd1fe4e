//! An information request on a participant's pages: questions, draft answers, and what was sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use askama::Template;
use pages::agreement_summary::size;
use pages::answer_rows::{AnswerRow, answer_rows};
use pages::done::redirect_with;
use pages::fields::Fields;
use pages::form;
use pages::form::Field;
use pages::labels::DisplayTime;
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::tasks::find_gate;
use pages::uploads::{Checked, check_file};
use pages::urls::{part_url, receipt_url};
use shared::crypto::keyring::{Keyring, SealError};
use shared::crypto::keys::open_with;
use shared::domain::agreement::gate::{FieldType, Gate, GateStatus, InformationField};
use shared::domain::agreement::{Agreement, DocumentContent, Lifecycle};
use shared::domain::ids::{FieldId, GateId, ReceiptId};
use shared::domain::information::typed::{
    ADDRESS_PARTS, REMOVE, TypedAnswers, YES_NO, input_name, is_secret, part_name,
};
use shared::domain::information::{AnswerFile, Submission, Verdict};
use shared::domain::participant::{NotActed, Occasion};
use shared::error::Error;
use shared::platform::files;
use shared::service::identity::participant_sessions::ParticipantSession;
use shared::service::information::{self, AnswerForm, NotSent, OwnAnswers};
use shared::service::participants::ParticipantView;
use shared::text::reader;
use shared::web::Request;
use shared::web::participant_link::origin;
use shared::wire::fields::FieldErrors;

use crate::own_files::{count_file, not_asked};
use crate::{PartForm, load, refusal, waits_for};

form! {
    /// Answers, by question.
    pub(crate) ANSWERS: AnswersForm {
        answers: Field::line("answer.", "Answer", 2000).called("Your answer"),
        dates: Field::day("answer.", "Answer").called("Your answer"),
    }
}

#[derive(Template)]
#[template(path = "part_answers.html")]
struct AnswersPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    url: String,
    organization: String,
    agreement: String,
    step: String,
    is_open: bool,
    is_declined: bool,
    questions: Vec<Question>,
    answered: usize,
    saved_at: Option<DisplayTime>,
    version: u64,
    sent: Option<SentAnswers>,
    fields: Fields,
}

struct Question {
    name: String,
    label: String,
    kind: FieldType,
    is_required: bool,
    choices: Vec<Choice>,
    parts: Vec<Part>,
    saved: Option<String>,
    remove: String,
}

impl AnswersPage {
    fn field(question: &Question) -> Field<'_> {
        let kind = match question.kind {
            FieldType::Date => ANSWERS.dates,
            FieldType::Number => ANSWERS.answers.hint("Such as 1,250 or 12.5."),
            FieldType::File => ANSWERS.answers.hint(
                "A PDF, JPEG or PNG. All files you choose at once may have 4 MB together: with larger ones, save the draft in between.",
            ),
            _ => ANSWERS.answers,
        };
        kind.named(&question.name)
    }
}

impl Question {
    fn is_group(&self) -> bool {
        !self.choices.is_empty() || !self.parts.is_empty() || self.kind == FieldType::File
    }
}

struct Choice {
    name: String,
    value: String,
    text: String,
    is_checked: bool,
}

struct Part {
    name: String,
    label: &'static str,
    hint: String,
    autocomplete: &'static str,
}

struct SentAnswers {
    at: DisplayTime,
    state: &'static str,
    returned: Option<String>,
    rows: Vec<AnswerRow>,
}

pub(super) struct Shown<'a> {
    pub session: &'a ParticipantSession,
    pub view: &'a ParticipantView,
    pub own: &'a OwnAnswers,
    pub fields: Fields,
    pub notice: Option<Notice>,
}

pub(super) async fn own_answers(request: &Request, gate: GateId) -> Result<OwnAnswers, Error> {
    let session = request.participant_session()?;
    information::own(session.scope(), session.participant(), gate).await
}

pub(super) async fn page(request: &Request, id: GateId, shown: Shown<'_>) -> Result<PageResponse, Error> {
    let Shown { session, view, own, fields, notice } = shown;
    let (by, agreement) = (session.participant(), &view.agreement);
    let (stage, gate) = find_gate(agreement, id).ok_or_else(Error::not_found)?;
    if !gate.rule.named(agreement).contains(&by.id()) {
        return Err(Error::not_found());
    }
    let is_open = waits_for(view, gate, by.id());
    let (draft, is_lost) = if is_open { open(request, own).await? } else { (TypedAnswers::default(), false) };
    let notice = notice.or_else(|| is_lost.then(lost));
    // A form of this page has the whole draft; others, such as a decline, have none of it.
    let fields = if fields.is_checked("version") { fields } else { fields.over(Fields::of(draft.shown())) };
    let questions = agreement.questions(id).unwrap_or_default();
    let page = AnswersPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by.id()),
        url: format!("{}/conditions/{id}", part_url(by.id())),
        organization: session.organization().name.as_str().to_owned(),
        agreement: agreement.name.as_str().to_owned(),
        step: stage.name.as_str().to_owned(),
        is_open,
        is_declined: gate.state.status() == GateStatus::Declined,
        questions: questions.iter().map(|field| question(field, &draft, &fields)).collect(),
        answered: draft.answered(questions, reader::dates()),
        saved_at: own.saved_at().map(DisplayTime::from),
        version: own.version(),
        sent: own.submissions.last().map(|last| sent(agreement, gate, last)),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid(), by.id().uuid(), id.uuid()]))
}

fn lost() -> Notice {
    Notice::bad("We can’t read your saved answers anymore", "Please answer again. Nothing was sent.")
}

/// The draft in clear, and whether its key is gone, so that it can't be read anymore.
async fn open(request: &Request, own: &OwnAnswers) -> Result<(TypedAnswers, bool), Error> {
    let keys = &*request.app().webhooks()?.keys;
    match open_with(keys, |keyring| own.open(keyring)).await {
        Ok(draft) => Ok((draft, false)),
        Err(SealError::NoSuchKey(_) | SealError::Broken) => Ok((TypedAnswers::default(), true)),
        Err(error) => Err(error.into()),
    }
}

fn question(field: &InformationField, draft: &TypedAnswers, fields: &Fields) -> Question {
    let name = input_name(field.id);
    let choices = match field.field_type {
        FieldType::Boolean => YES_NO.map(|(value, text)| (name.clone(), value.to_owned(), text.to_owned())).to_vec(),
        FieldType::Choice => {
            field.options.iter().map(|option| (name.clone(), option.clone(), option.clone())).collect()
        }
        FieldType::MultiChoice => {
            let options = field.options.iter().enumerate();
            options.map(|(at, option)| (part_name(field.id, at), "on".to_owned(), option.clone())).collect()
        }
        _ => Vec::new(),
    };
    let choice = |(name, value, text): (String, String, String)| {
        let is_checked = fields.value(&name) == value;
        Choice { name, value, text, is_checked }
    };
    let ending = draft.ending(field.id);
    Question {
        name,
        label: field.label.as_str().to_owned(),
        kind: field.field_type,
        is_required: field.required,
        choices: choices.into_iter().map(choice).collect(),
        parts: parts(field, ending.is_some()),
        saved: match draft.file(field.id) {
            Some(file) => Some(format!("{}, {}", file.name.as_str(), size(file.content.size_bytes))),
            None => ending.map(|ending| format!("Account number ending in {ending}")),
        },
        remove: part_name(field.id, REMOVE),
    }
}

fn parts(field: &InformationField, is_saved: bool) -> Vec<Part> {
    let keep = if is_saved { " Leave it empty to keep the saved one." } else { "" };
    let part = |(part, label, hint, autocomplete): (&str, &'static str, String, &'static str)| Part {
        name: part_name(field.id, part),
        label,
        hint,
        autocomplete,
    };
    match field.field_type {
        FieldType::Address => {
            let labels = [
                ("Street and number", "address-line1"),
                ("Apartment or suite (optional)", "address-line2"),
                ("City", "address-level2"),
                ("State or region (optional)", "address-level1"),
                ("ZIP or postal code (optional)", "postal-code"),
                ("Country", "country-name"),
            ];
            let named = ADDRESS_PARTS.into_iter().zip(labels);
            named.map(|((name, _), (label, autocomplete))| part((name, label, String::new(), autocomplete))).collect()
        }
        FieldType::BankDetails => {
            let number = format!("Spaces don’t matter. It is encrypted, and no page shows it again.{keep}");
            let code = format!("Not needed with an IBAN.{keep}");
            let labels = [
                ("holder", "Account holder", String::new(), "name"),
                ("bank", "Bank", String::new(), "off"),
                ("number", "IBAN or account number", number, "off"),
                ("code", "BIC or routing number", code, "off"),
            ];
            labels.into_iter().map(part).collect()
        }
        _ => Vec::new(),
    }
}

fn sent(agreement: &Agreement, gate: &Gate, last: &Submission) -> SentAnswers {
    let questions = agreement.questions(gate.id).unwrap_or_default();
    let is_active = agreement.lifecycle() == Lifecycle::Active;
    SentAnswers {
        at: last.sent_at.into(),
        state: match last.verdict {
            Verdict::Sent if is_active => "Waiting to be read",
            Verdict::Sent => "Not read before the agreement ended",
            Verdict::Accepted { .. } => "Accepted",
            Verdict::Returned { .. } => "Returned to you",
        },
        returned: match &last.verdict {
            Verdict::Returned { reason, .. } => Some(reason.as_str().to_owned()),
            Verdict::Sent | Verdict::Accepted { .. } => None,
        },
        rows: answer_rows(questions, last, |_| None, |_| None),
    }
}

struct Submitted {
    form: AnswerForm,
    keys: Arc<Keyring>,
    wrong_files: FieldErrors,
    wrong_answers: FieldErrors,
}

impl Submitted {
    /// Merges errors: a refused file is not also missing.
    fn into_one(self) -> Self {
        let mut wrong_files = self.wrong_files;
        let refused: BTreeSet<String> = wrong_files.clone().into_list().into_iter().map(|error| error.field).collect();
        for error in self.wrong_answers.into_list() {
            if !refused.contains(&error.field) {
                wrong_files.extend(FieldErrors::one(error.field, error.code, error.message));
            }
        }
        Self { wrong_files, wrong_answers: FieldErrors::default(), ..self }
    }
}

/// Stores the files if the answers are to be saved or sent: before a draft names them, and counted whatever happens.
async fn read(request: &Request, submitted: &PartForm<'_>, gate: GateId) -> Result<Result<Submitted, NotActed>, Error> {
    let (session, view) = load(request).await?;
    let by = session.participant().id();
    let is_open = find_gate(&view.agreement, gate).is_some_and(|(_, found)| waits_for(&view, found, by));
    if !is_open {
        return Ok(Err(NotActed::Done));
    }
    let own = own_answers(request, gate).await?;
    let (saved, _) = open(request, &own).await?;
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let questions = view.agreement.questions(gate).unwrap_or_default();
    let (mut chosen, mut wrong_files) = check_files(submitted, questions);
    let value = |name: &str| submitted.form().get(name);
    let version = value("version").parse().unwrap_or(u64::MAX);
    let form_with = |chosen: &ChosenFiles<'_>| AnswerForm {
        gate,
        version,
        typed: TypedAnswers::submitted(questions, value, named(chosen), &saved),
        dates: reader::dates(),
    };
    let mut form = form_with(&chosen);
    // Before a file is stored: whether it would be named.
    match own.check(&form) {
        Err(NotActed::OtherDraft) if form.typed == saved => {}
        Err(refused) => return Ok(Err(refused)),
        Ok(()) => {
            let refused = store(submitted, &mut chosen).await?;
            if !refused.is_empty() {
                form = form_with(&chosen);
                wrong_files.extend(refused);
            }
        }
    }
    let wrong_answers = form.typed.read(questions, form.dates).err().unwrap_or_default();
    Ok(Ok(Submitted { form, keys, wrong_files, wrong_answers }))
}

type ChosenFiles<'a> = BTreeMap<FieldId, Checked<'a>>;

fn check_files<'a>(submitted: &'a PartForm<'_>, questions: &[InformationField]) -> (ChosenFiles<'a>, FieldErrors) {
    let (mut chosen, mut wrong) = (ChosenFiles::new(), FieldErrors::default());
    for field in questions.iter().filter(|field| field.field_type == FieldType::File) {
        let name = input_name(field.id);
        let Some(file) = submitted.form().file(&name) else { continue };
        match check_file(Some(file), &name) {
            Ok(checked) => {
                chosen.insert(field.id, checked);
            }
            Err(errors) => wrong.extend(errors),
        }
    }
    (chosen, wrong)
}

fn named(chosen: &ChosenFiles<'_>) -> BTreeMap<FieldId, AnswerFile> {
    let answer = |Checked { name, file_type, file }: &Checked<'_>| AnswerFile {
        name: name.clone(),
        content: DocumentContent::of(&file.content),
        file_type: *file_type,
    };
    chosen.iter().map(|(id, checked)| (*id, answer(checked))).collect()
}

/// Counts and stores a form's files. Removes and returns those for which the participant's link has no room.
async fn store(submitted: &PartForm<'_>, chosen: &mut ChosenFiles<'_>) -> Result<FieldErrors, Error> {
    let mut refused = FieldErrors::default();
    for id in chosen.keys().copied().collect::<Vec<_>>() {
        let Some(checked) = chosen.get(&id) else { continue };
        if let Err(errors) = count_file(submitted, checked, &input_name(id)).await? {
            refused.extend(errors);
            chosen.remove(&id);
        }
    }
    let contents = chosen.values().map(|checked| checked.file.content.clone()).collect::<Vec<_>>();
    if !contents.is_empty() {
        files::keep(submitted.scope(), submitted.app().files()?, contents).await?;
    }
    Ok(refused)
}

async fn again(
    request: &Request,
    submitted: &PartForm<'_>,
    gate: GateId,
    errors: FieldErrors,
    notice: Notice,
) -> Result<PageResponse, Error> {
    let (session, view) = load(request).await?;
    if crate::needs_consent(session, &view) {
        return crate::consent::page(request, session, &view, Some(notice));
    }
    let own = own_answers(request, gate).await?;
    // Nobody sees a typed account number again.
    let fields = Fields::submitted(submitted.form(), errors).without(is_secret);
    page(request, gate, Shown { session, view: &view, own: &own, fields, notice: Some(notice) }).await
}

async fn refused(
    request: &Request,
    submitted: &PartForm<'_>,
    gate: GateId,
    reason: NotActed,
) -> Result<PageResponse, Error> {
    let (title, line) = refusal(reason);
    Ok(again(request, submitted, gate, FieldErrors::default(), Notice::bad(title, line)).await?.conflicting())
}

fn incomplete(errors: &FieldErrors) -> Notice {
    let count = errors.clone().into_list().len();
    let title = if count == 1 { "One answer needs another look" } else { "Some answers need another look" };
    Notice::bad(title, "What you typed is saved as a draft. Nothing was sent.")
}

async fn save(request: &Request, form: &PartForm<'_>, read: &Submitted) -> Result<Option<PageResponse>, Error> {
    let Submitted { form: answers, keys, wrong_files, .. } = read;
    let (scope, by, gate) = (form.scope(), form.submitter(), answers.gate);
    let saving = form.run(|| async {
        let plan = information::save_draft(scope, by, keys, answers).await?;
        Ok(if wrong_files.is_empty() { plan } else { plan.unfinished() })
    });
    if let Err(reason) = Box::pin(saving).await? {
        return refused(request, form, gate, reason).await.map(Some);
    }
    if wrong_files.is_empty() {
        return Ok(None);
    }
    let page = again(request, form, gate, wrong_files.clone(), incomplete(wrong_files)).await?;
    Ok(Some(page.unprocessable()))
}

pub(crate) async fn save_draft(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let gate: GateId = request.path_id("condition")?;
    if let Some(reason) = not_asked(request, gate).await? {
        return refused(request, &submitted, gate, reason).await;
    }
    let typed = match read(request, &submitted, gate).await? {
        Ok(typed) => typed,
        Err(reason) => return refused(request, &submitted, gate, reason).await,
    };
    let url = format!("{}/conditions/{gate}", part_url(submitted.submitter().id()));
    let notice = Notice::good("Draft saved", "Only you see it until you send it.");
    let redirect = redirect_with(&submitted, url, &notice).await;
    Ok(save(request, &submitted, &typed).await?.unwrap_or_else(|| redirect.into()))
}

pub(crate) async fn send(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let gate: GateId = request.path_id("condition")?;
    let id: ReceiptId = submitted.new_id();
    if let Some(reason) = not_asked(request, gate).await? {
        return refused(request, &submitted, gate, reason).await;
    }
    let typed = match read(request, &submitted, gate).await? {
        Ok(typed) => typed,
        Err(reason) => return refused(request, &submitted, gate, reason).await,
    };
    if !typed.wrong_files.is_empty() {
        return save(request, &submitted, &typed.into_one()).await?.ok_or_else(Error::not_found);
    }
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let notice = Notice::good("You sent your answers", "");
    let redirect = redirect_with(&submitted, receipt_url(by.id(), id), &notice).await;
    let occasion = Occasion { id, origin: origin(request) };
    let Submitted { form, keys, .. } = &typed;
    let sending = submitted.run(|| information::send(scope, by, keys, occasion.clone(), form));
    match Box::pin(sending).await? {
        Ok(()) => Ok(redirect.into()),
        Err(NotSent::Refused(reason)) => refused(request, &submitted, gate, reason).await,
        Err(NotSent::Wrong(errors)) => {
            let notice = incomplete(&errors);
            Ok(again(request, &submitted, gate, errors, notice).await?.unprocessable())
        }
    }
}
