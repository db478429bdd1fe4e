//! The notice for members whose edits collide: who changed the part, its current values, and the typed ones.

use std::collections::BTreeSet;

use pages::agreement_summary::participant_name;
use pages::fields::{Fields, day_of};
use pages::form::{Field, FormFields};
use pages::labels::actor_label;
use pages::layout::Notice;
use pages::payment_list;
use shared::domain::actor::Actor;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::gate::FieldType;
use shared::domain::agreement::{Agreement, AgreementKind, ParticipantRole, StageAction};
use shared::domain::contact::Contact;
use shared::domain::day::Day;
use shared::domain::ids::AgreementId;
use shared::domain::money::{in_form, read_minor};
use shared::domain::movement::Movement;
use shared::domain::movement::terms::{Direction, Method};
use shared::domain::time_zone::TimeZone;
use shared::domain::typed_values::{read_percentage, write_percentage};
use shared::error::Error;
use shared::service::audit;
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::Request;

use crate::draft::condition_form::{self, CONDITION};
use crate::draft::details::DETAILS;
use crate::draft::documents::{DOCUMENT, NEW_DOCUMENT};
use crate::draft::participants::PARTICIPANT;
use crate::draft::payments::PAYMENT;
use crate::draft::promises::PROMISE;
use crate::draft::step::{NEW_STEP, STEP};
use crate::draft::terms::TERMS;
use crate::draft::{Subject, condition, details, documents, participants, payments, promises, step, terms};

/// The forms of a part; of all new ones, if it is not there yet.
fn forms(subject: Option<Subject>) -> Vec<&'static dyn FormFields> {
    match subject {
        Some(Subject::Payment(_)) => vec![&PAYMENT],
        Some(Subject::Part(part)) => match part {
            Part::Description | Part::Expiry => vec![&DETAILS],
            Part::Terms => vec![&TERMS],
            Part::Participant(_) => vec![&PARTICIPANT],
            Part::Document(_) | Part::SignatureBlock(_) => vec![&DOCUMENT],
            Part::Stage(_) | Part::StageOrder => vec![&STEP],
            Part::Gate(_) | Part::GateOrder(_) | Part::Question(..) | Part::QuestionOrder(_) => vec![&CONDITION],
            Part::Promise(_) | Part::PromiseOrder => vec![&PROMISE],
        },
        None => vec![&PARTICIPANT, &NEW_DOCUMENT, &PAYMENT, &PROMISE, &NEW_STEP, &CONDITION, &DOCUMENT, &STEP, &TERMS],
    }
}

fn fields_of_forms(subject: Option<Subject>) -> Vec<Field<'static>> {
    let mut known = BTreeSet::new();
    let fields = forms(subject).into_iter().flat_map(FormFields::all);
    // Triggers are told as one, and a unit beside its number.
    let told_elsewhere = [PROMISE.trigger.name, PROMISE.after.name, PROMISE.unit.name];
    fields.filter(|field| !told_elsewhere.contains(&field.name) && known.insert(field.name)).collect()
}

pub(super) struct Difference {
    pub label: &'static str,
    pub typed: String,
    pub now: String,
}

struct Meaning<'a> {
    agreement: &'a Agreement,
    contacts: &'a [Contact],
    payments: &'a [Movement],
    zone: &'a TimeZone,
}

/// The typed values that differ from the subject's current ones, or from nothing for a new part.
pub(super) async fn differences(
    request: &Request,
    id: AgreementId,
    subject: Option<Subject>,
    typed: &Fields,
) -> Result<Vec<Difference>, Error> {
    let signed_in = request.signed_in()?;
    let are_payments_named = matches!(subject, Some(Subject::Payment(_))) || !typed.value(CONDITION.payment).is_empty();
    let loaded = shared::service::payments::load(signed_in.scope(), id, |_| are_payments_named).await?;
    let (agreement, contacts, payments) = &loaded;
    let zone = &signed_in.organization().time_zone;
    let now = match subject {
        Some(Subject::Part(part)) => fields_of(agreement, part, zone),
        Some(Subject::Payment(id)) => {
            let own = &signed_in.organization().own_contact_ids;
            payments
                .iter()
                .find(|found| found.id() == id)
                .map(|found| payments::fields_of(found.terms(), agreement, own))
        }
        None => None,
    };
    let meaning = Meaning { agreement, contacts, payments, zone };
    let fields = fields_of_forms(subject);
    let pairs = meaning.texts(&fields, typed).into_iter().zip(meaning.texts(&fields, &now.unwrap_or_default()));
    let pairs = pairs.map(|((label, typed), (_, now))| Difference { label, typed, now });
    Ok(pairs.filter(|pair| pair.typed != pair.now).collect())
}

fn fields_of(agreement: &Agreement, part: Part, zone: &TimeZone) -> Option<Fields> {
    match part {
        Part::Description => Some(details::description_fields(agreement)),
        Part::Expiry => Some(details::expiry_fields(agreement, zone)),
        Part::Terms => agreement.terms.as_ref().map(terms::fields_of),
        Part::Participant(id) => agreement.participant(id).map(|found| participants::fields_of(&found.roles)),
        Part::Document(id) => agreement.document(id).map(documents::fields_of),
        Part::Stage(id) => agreement.stage(id).map(step::fields_of),
        Part::Gate(id) => agreement.gate(id).map(|found| condition_form::fields_of(&found.rule, zone)),
        Part::Question(gate, id) => agreement.question(gate, id).map(condition_form::question_fields),
        Part::Promise(id) => agreement.promise(id).map(promises::fields_of),
        Part::PromiseOrder
        | Part::SignatureBlock(_)
        | Part::StageOrder
        | Part::GateOrder(_)
        | Part::QuestionOrder(_) => None,
    }
}

impl Meaning<'_> {
    fn texts(&self, declared: &[Field<'static>], fields: &Fields) -> Vec<(&'static str, String)> {
        let triggers = ("Triggers", promises::triggers_text(fields));
        declared.iter().map(|field| (field.label, self.text(fields, *field))).chain([triggers]).collect()
    }

    fn text(&self, fields: &Fields, field: Field<'_>) -> String {
        if field.is_group() {
            let checked: BTreeSet<String> =
                fields.checked(field.name).map(|name| self.of_group(field.name, name)).collect();
            return checked.into_iter().collect::<Vec<_>>().join(", ");
        }
        if field.is_box() {
            return if fields.is_checked(field) { "Yes".to_owned() } else { String::new() };
        }
        self.value(fields, field.name)
    }

    fn value(&self, fields: &Fields, name: &str) -> String {
        let value = fields.value(name).trim();
        if value.is_empty() {
            return String::new();
        }
        let currency = fields.value("currency").to_ascii_uppercase();
        let read = match name {
            "kind" => AgreementKind::parse(value).map(|kind| details::kind_label(kind).to_owned()),
            "expires_at" | "until" => self.zone.read_local(value).ok().map(|at| self.zone.for_people(at)),
            "investment" | "cap" => read_minor(value, &currency).ok().map(|minor| in_form(minor, &currency)),
            "currency" => Some(currency),
            "amount" => read_minor(value, &currency).ok().map(|minor| in_form(minor, &currency)),
            "payer" | "payee" => value.parse().ok().map(|id| participant_name(self.agreement, self.contacts, id)),
            "direction" => Direction::parse(value).map(|direction| text::movements::direction(direction).to_owned()),
            "method" => Method::parse(value).map(|method| text::movements::method(method).to_owned()),
            "due" | "first" | "last" => day_of(value).ok().map(Day::shown),
            "dates" => Some(value.lines().map(day_text).collect::<Vec<_>>().join("; ")),
            "every" => Some(format!("{value} {}", promises::unit_text(fields.value("unit")))),
            "days" => Some(format!("{value} days")),
            "movement_id" => {
                let payment = value.parse().ok().and_then(|id| self.payments.iter().find(|found| found.id() == id));
                payment.map(|payment| payment_list::name(payment).to_owned())
            }
            "discount" => read_percentage(value).map(|rate| write_percentage(&rate)),
            "timing" => terms::timings().into_iter().find(|choice| choice.value == value).map(|choice| choice.text),
            "document_id" => {
                let document = value.parse().ok().and_then(|id| self.agreement.document(id));
                document.map(|document| document.name.as_str().to_owned())
            }
            "participant_id" => value.parse().ok().map(|id| participant_name(self.agreement, self.contacts, id)),
            "wait" => Some(format!("{value} {}", fields.value("unit"))),
            "answer" => FieldType::parse(value).map(|kind| condition_form::field_type_label(kind).to_owned()),
            "options" => Some(value.lines().map(str::trim).collect::<Vec<_>>().join(", ")),
            _ => None,
        };
        read.unwrap_or_else(|| value.to_owned())
    }

    fn of_group(&self, group: &str, name: &str) -> String {
        let found = match group {
            "role." => ParticipantRole::parse(name).map(|role| text::role(role).to_owned()),
            "participant." | "promisor." | "promisee." => {
                name.parse().ok().map(|id| participant_name(self.agreement, self.contacts, id))
            }
            "action." => StageAction::parse(name).map(step::action_label),
            "block." => name.parse().ok().and_then(|id| {
                let mut documents = self.agreement.documents.iter();
                documents.find_map(|document| {
                    let block = document.blocks.iter().find(|block| block.id == id)?;
                    Some(condition::block_text(self.agreement, self.contacts, document, block))
                })
            }),
            _ => None,
        };
        found.unwrap_or_else(|| "Removed since".to_owned())
    }
}

fn day_text(line: &str) -> String {
    day_of(line).map_or_else(|_| line.trim().to_owned(), Day::shown)
}

pub(super) async fn notice(
    request: &Request,
    id: AgreementId,
    subject: Subject,
    typed: &Fields,
) -> Result<Notice, Error> {
    let by = changed_by(request, id, subject).await?;
    let is_own = by.as_ref().is_some_and(|by| request.signed_in().is_ok_and(|own| by.is_member(own.member().id())));
    let by = by.as_ref().map(actor_label);
    if let Some(list) = list_of(subject) {
        let by = if is_own { "you, in another window".to_owned() } else { by.unwrap_or("another member".to_owned()) };
        let line = "The page shows the current order; move it again if you still want to.";
        return Ok(Notice::warn(format!("The {list} were reordered by {by}"), line));
    }
    let title = match by {
        Some(_) if is_own => "You changed this in another window".to_owned(),
        by => format!("{} changed this while you were typing", by.unwrap_or("Another member".to_owned())),
    };
    let said = |text: &str| if text.is_empty() { "empty".to_owned() } else { format!("“{text}”") };
    let differences = differences(request, id, Some(subject), typed).await?;
    let lines = differences
        .iter()
        .map(|found| format!("{}: now {}; you typed {}.", found.label, said(&found.now), said(&found.typed)));
    let next = "Nothing was saved. The form has what you typed: save again to replace what is there now.".to_owned();
    Ok(Notice::new("warn", title, lines.chain([next])))
}

fn list_of(subject: Subject) -> Option<&'static str> {
    match subject {
        Subject::Part(Part::StageOrder) => Some("steps"),
        Subject::Part(Part::GateOrder(_)) => Some("conditions"),
        Subject::Part(Part::QuestionOrder(_)) => Some("questions"),
        Subject::Part(Part::PromiseOrder) => Some("obligations"),
        _ => None,
    }
}

/// Tells it if the newest acts do. Acts name parts of a kind by name, which may be ambiguous, not by id.
async fn changed_by(request: &Request, id: AgreementId, subject: Subject) -> Result<Option<Actor>, Error> {
    let (operations, is_only_one): (&[&str], bool) = match subject {
        Subject::Payment(_) => (&["change_payment"], false),
        Subject::Part(part) => operations_of(part),
    };
    let (acts, _) = audit::acts(request.signed_in()?.scope(), id).await?;
    let mut actors = acts.into_iter().filter(|act| operations.contains(&act.operation.as_str())).map(|act| act.actor);
    let Some(newest) = actors.next() else { return Ok(None) };
    let is_known = is_only_one || actors.all(|other| other.id == newest.id);
    Ok(is_known.then_some(newest))
}

fn operations_of(part: Part) -> (&'static [&'static str], bool) {
    match part {
        Part::Description => (&["describe_agreement"], true),
        Part::Expiry => (&["set_expiry"], true),
        Part::Terms => (&["set_terms", "describe_agreement"], true),
        Part::StageOrder => (&["move_step", "add_step", "remove_step"], true),
        Part::Participant(_) => (&["change_participant", "add_participant"], false),
        Part::Document(_) => (&["change_document"], false),
        Part::SignatureBlock(_) => (&["add_signature_block", "remove_signature_block"], false),
        Part::Stage(_) => (&["change_step"], false),
        Part::Gate(_) => (&["change_condition"], false),
        Part::GateOrder(_) => (&["move_condition", "add_condition", "remove_condition"], false),
        Part::Question(..) => (&["change_question"], false),
        Part::QuestionOrder(_) => (&["move_question", "add_question", "remove_question"], false),
        Part::Promise(_) => (&["change_promise"], false),
        Part::PromiseOrder => (&["move_promise", "add_promise", "remove_promise"], true),
    }
}
