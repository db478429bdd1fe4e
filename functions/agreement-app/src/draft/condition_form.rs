//! The form of a condition's settings and of its questions: what it shows of them, and how it is read.

use std::collections::BTreeSet;

use pages::fields::Fields;
use pages::form;
use shared::domain::agreement::gate::{Countdown, FieldType, GateRule, GateType, InformationField, RequestedFile};
use shared::domain::ids::{DocumentId, FieldId, ParticipantId, SignatureBlockId};
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::note::Note;
use shared::domain::time_zone::TimeZone;
use shared::limits;
use shared::web::Form;
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::draft::{label, safe_label};

form! {
    /// A condition’s settings, and a question of it.
    pub(crate) CONDITION: ConditionForm {
        participants: Field::choice("participant.", "Who must act"),
        blocks: Field::choice("block.", "Signature blocks"),
        title: Field::line("title", "What they upload", 200)
            .hint("Such as “LLC resolution”. They see it as the title of the request."),
        help: Field::lines("help", "Help text", 2000, 3).hint("What helps them to find the right file. Optional."),
        review: Field::tick("review", "A member reviews each file").hint("The condition is met once a member has accepted everyone’s file. A member can return a file with a reason."),
        document: Field::choice("document_id", "Document"),
        payment: Field::choice("movement_id", "Payment"),
        hold: Field::tick("hold_back", "Hold the payment back").hint("Until then nobody authorizes it, and its payer gets no instructions."),
        wait: Field::line("wait", "Duration", 6).hint("From the moment the step opens."),
        unit: Field::choice("unit", "Unit"),
        until: Field::time("until", "Until").hint("Instead of a duration. A date alone means the end of that day."),
        question: Field::line("question", "Question", 200).called("The question"),
        answer: Field::choice("answer", "Answer").called("The answer"),
        options: Field::lines("options", "Choices", 10_000, 3)
            .called("Choices:")
            .hint("One per line, for “One choice” and “Several choices”."),
        required: Field::tick("required", "Required"),
    }
}

pub(super) fn field_type_label(field_type: FieldType) -> &'static str {
    match field_type {
        FieldType::Text => "Short text",
        FieldType::LongText => "Long text",
        FieldType::Number => "Number",
        FieldType::Date => "Date",
        FieldType::Boolean => "Yes or no",
        FieldType::Choice => "One choice",
        FieldType::MultiChoice => "Several choices",
        FieldType::File => "File",
        FieldType::Address => "Postal address",
        FieldType::BankDetails => "Bank details",
    }
}

pub(super) fn fields_of(rule: &GateRule, zone: &TimeZone) -> Fields {
    let on = |name: String| (name, "on".to_owned());
    let people = |ids: &BTreeSet<ParticipantId>| ids.iter().map(|id| on(format!("participant.{id}"))).collect();
    let values: Vec<(String, String)> = match rule {
        GateRule::SignatureBlocks { block_ids } => block_ids.iter().map(|id| on(format!("block.{id}"))).collect(),
        GateRule::DocumentSigned { document_id } => {
            document_id.iter().map(|id| (CONDITION.document.name.to_owned(), id.to_string())).collect()
        }
        GateRule::FileUpload { participant_ids, file } => {
            let title = file.title.iter().map(|title| (CONDITION.title.name.to_owned(), title.as_str().to_owned()));
            let help = file.help.iter().map(|help| (CONDITION.help.name.to_owned(), help.as_str().to_owned()));
            let review = file.review.then(|| on(CONDITION.review.name.to_owned()));
            let people: Vec<(String, String)> = people(participant_ids);
            people.into_iter().chain(title).chain(help).chain(review).collect()
        }
        GateRule::ParticipantApproval { participant_ids }
        | GateRule::InformationRequest { participant_ids, .. }
        | GateRule::IdentityVerified { participant_ids } => people(participant_ids),
        GateRule::Countdown { until: Some(Countdown::AfterHours(hours)) } => {
            const DAY: u32 = 24;
            let (count, unit) = if hours % DAY == 0 { (hours / DAY, "days") } else { (*hours, "hours") };
            vec![(CONDITION.wait.name.to_owned(), count.to_string()), (CONDITION.unit.name.to_owned(), unit.to_owned())]
        }
        GateRule::Countdown { until: Some(Countdown::At(at)) } => {
            vec![(CONDITION.until.name.to_owned(), zone.write_local(*at))]
        }
        GateRule::Countdown { until: None } => Vec::new(),
        GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } => {
            movement_id.iter().map(|id| (CONDITION.payment.name.to_owned(), id.to_string())).collect()
        }
    };
    Fields::of(values)
}

pub(super) fn read_rule(gate_type: GateType, form: &Form, zone: &TimeZone) -> Result<GateRule, FieldErrors> {
    let participant_ids =
        || -> BTreeSet<ParticipantId> { form.checked("participant.").filter_map(|id| id.parse().ok()).collect() };
    Ok(match gate_type {
        GateType::SignatureBlocks => {
            let block_ids: BTreeSet<SignatureBlockId> =
                form.checked("block.").filter_map(|id| id.parse().ok()).collect();
            GateRule::SignatureBlocks { block_ids }
        }
        GateType::DocumentSigned => {
            let document_id: Option<DocumentId> = form.get(CONDITION.document).parse().ok();
            GateRule::DocumentSigned { document_id }
        }
        GateType::ParticipantApproval => GateRule::ParticipantApproval { participant_ids: participant_ids() },
        GateType::FileUpload => GateRule::FileUpload { participant_ids: participant_ids(), file: read_file(form)? },
        GateType::IdentityVerified => GateRule::IdentityVerified { participant_ids: participant_ids() },
        GateType::InformationRequest => {
            GateRule::InformationRequest { participant_ids: participant_ids(), fields: Vec::new() }
        }
        GateType::Countdown => GateRule::Countdown { until: read_countdown(form, zone)? },
        GateType::MovementAuthorized => {
            GateRule::MovementAuthorized { movement_id: form.get(CONDITION.payment).parse().ok() }
        }
        GateType::MovementReconciled => {
            GateRule::MovementReconciled { movement_id: form.get(CONDITION.payment).parse().ok() }
        }
    })
}

fn read_file(form: &Form) -> Result<RequestedFile, FieldErrors> {
    let mut errors = FieldErrors::default();
    let typed = |field: &str| Some(form.get(field)).filter(|text| !text.trim().is_empty());
    // The API shows both, like all texts of a condition.
    let title = typed(CONDITION.title.name).map(|text| safe_label(text, CONDITION.title.name));
    let title = title.transpose().map_err(|error| errors.extend(error)).ok().flatten();
    let help = typed(CONDITION.help.name).map(|text| SafeNote::parse(text).and_then(|_| Note::parse(text)));
    let help = help.transpose().map_err(|(code, message)| {
        errors.extend(FieldErrors::one(CONDITION.help, code, message));
    });
    let review = !form.get(CONDITION.review).is_empty();
    if errors.is_empty() { Ok(RequestedFile { title, help: help.ok().flatten(), review }) } else { Err(errors) }
}

fn read_countdown(form: &Form, zone: &TimeZone) -> Result<Option<Countdown>, FieldErrors> {
    let (wait, until) = (form.get(CONDITION.wait).trim(), form.get(CONDITION.until).trim());
    match (wait, until) {
        ("", "") => Ok(None),
        ("", until) => {
            let at = zone.read_local(until);
            let at =
                at.map_err(|error| FieldErrors::one(CONDITION.until, FieldCode::InvalidFormat, error.to_string()))?;
            Ok(Some(Countdown::At(at)))
        }
        (wait, "") => {
            let hours_each = if form.get(CONDITION.unit) == "hours" { 1 } else { 24 };
            let hours = wait.parse::<u32>().ok().and_then(|count| count.checked_mul(hours_each));
            let hours = hours.filter(|hours| (1..=limits::COUNTDOWN_HOURS_MAX).contains(hours)).ok_or_else(|| {
                FieldErrors::one(
                    CONDITION.wait.name,
                    FieldCode::OutOfRange,
                    "must be a whole number, at least 1 hour and at most 10 years",
                )
            })?;
            Ok(Some(Countdown::AfterHours(hours)))
        }
        _ => Err(FieldErrors::one(
            CONDITION.until.name,
            FieldCode::InvalidValue,
            "can’t be combined with a duration: fill in one of the two",
        )),
    }
}

pub(super) fn question_fields(question: &InformationField) -> Fields {
    let texts = [
        (CONDITION.question.name, question.label.as_str().to_owned()),
        (CONDITION.answer.name, question.field_type.as_str().to_owned()),
        (CONDITION.options.name, question.options.join("\n")),
    ];
    let required = question.required.then(|| (CONDITION.required.name, "on".to_owned()));
    Fields::of(texts.into_iter().chain(required))
}

pub(super) fn read_question(id: FieldId, form: &Form) -> Result<InformationField, FieldErrors> {
    let mut errors = FieldErrors::default();
    let text = label(form.get(CONDITION.question), CONDITION.question.name).map_err(|error| errors.extend(error)).ok();
    let field_type = FieldType::parse(form.get(CONDITION.answer));
    if field_type.is_none() {
        errors.extend(FieldErrors::one(
            CONDITION.answer,
            FieldCode::InvalidValue,
            "must be one of the kinds in the list",
        ));
    }
    let takes_options = matches!(field_type, Some(FieldType::Choice | FieldType::MultiChoice));
    let options = form.get(CONDITION.options).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
    // Other types have no options; the form keeps them while a member tries types.
    let options: Vec<String> = if takes_options { options.collect() } else { Vec::new() };
    match (text, field_type) {
        (Some(label), Some(field_type)) if errors.is_empty() => {
            Ok(InformationField { id, label, field_type, required: !form.get(CONDITION.required).is_empty(), options })
        }
        _ => Err(errors),
    }
}

pub(super) fn at_the_form(errors: FieldErrors) -> FieldErrors {
    let mut at_the_form = FieldErrors::default();
    for error in errors.into_list() {
        let field = if error.field.ends_with(".options") { CONDITION.options.name.to_owned() } else { error.field };
        at_the_form.extend(FieldErrors::one(field, error.code, error.message));
    }
    at_the_form
}
