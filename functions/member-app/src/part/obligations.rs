//! An obligation on the pages of its parties, also after their agreement is completed.

use askama::Template;
use shared::domain::agreement::Lifecycle;
use shared::domain::agreement::promise::{PromiseKind, Side};
use shared::domain::ids::{ObligationId, OccurrenceId, ParticipantId, ReceiptId, TriggerId};
use shared::domain::obligation::{Obligation, Occurrence, OccurrenceState};
use shared::domain::participant::Occasion;
use shared::domain::participant::obligations::NotActedOnObligation;
use shared::domain::participant::receipt::{ObligationAct, ReceiptAct};
use shared::domain::sentences;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::obligations;
use shared::service::participants::ParticipantView;
use shared::web::participant_link::origin;
use shared::web::participant_session::Attending;
use shared::web::{Form, Request};

use super::receipt::receipt_url;
use super::{consent, done_before, load, part_url, refusal, reworded};
use crate::Handler;
use crate::done::{notice_of_act, redirect_with};
use crate::fields::Fields;
use crate::labels::Badge;
use crate::layout::{Layout, Link, Notice};
use crate::movement::read_day;
use crate::obligation::{OccurrenceList, TriggerRow};
use crate::obligations::{HAPPENED_ON, obligation_badge, read_happened_on};
use crate::response::PageResponse;

/// The URL of an obligation on a participant's pages.
pub(super) fn own_obligation_url(by: ParticipantId, id: ObligationId) -> String {
    format!("{}/obligations/{id}", part_url(by))
}

/// An obligation in the list of a participant's first page.
pub(super) struct ObligationRow {
    pub link: Link,
    /// Who owes it to whom, and when.
    pub about: String,
    pub status: String,
    pub badge: Badge,
    /// What waits for the participant.
    pub verb: Option<&'static str>,
}

/// The obligations in which a participant is a party.
pub(super) fn obligation_rows(view: &ParticipantView, by: ParticipantId, now: Timestamp) -> Vec<ObligationRow> {
    let row = |obligation: &Obligation| ObligationRow {
        link: Link { url: own_obligation_url(by, obligation.id()), text: obligation.name().as_str().to_owned() },
        about: about(view, obligation),
        status: sentences::obligation_state(obligation, now),
        badge: obligation_badge(obligation, now),
        verb: is_live(view, obligation).then(|| waiting(obligation, by, now)).flatten(),
    };
    view.obligations.iter().map(row).collect()
}

/// Who owes an obligation to whom, and when.
fn about(view: &ParticipantView, obligation: &Obligation) -> String {
    let parties = sentences::promise_parties(obligation.parties(), &view.agreement, &view.contacts);
    match view.agreement.promise(obligation.promise_id()) {
        Some(promise) => format!("{parties}, {}", sentences::promise_terms(&promise.terms)),
        None => parties,
    }
}

/// Whether people may still act on an obligation: neither it nor the agreement has ended.
fn is_live(view: &ParticipantView, obligation: &Obligation) -> bool {
    let goes_on = matches!(view.agreement.lifecycle(), Lifecycle::Active | Lifecycle::Completed);
    goes_on && obligation.cancellation().is_none()
}

/// The act for which an obligation waits for a participant, if it does.
fn waiting(obligation: &Obligation, by: ParticipantId, now: Timestamp) -> Option<&'static str> {
    let occurrences = obligation.occurrences(now);
    let is_asked = |found: &&Occurrence| found.state != OccurrenceState::Upcoming;
    occurrences.iter().filter(is_asked).find_map(|found| act_of(obligation, found, by).map(|(_, label)| label))
}

/// What a participant can do about an occurrence: the value and the label of the act.
fn act_of(obligation: &Obligation, occurrence: &Occurrence, by: ParticipantId) -> Option<(&'static str, &'static str)> {
    let is_standing = obligation.kind() == PromiseKind::Standing;
    let is_due = matches!(occurrence.state, OccurrenceState::Due | OccurrenceState::Overdue);
    match obligation.parties().side(by)? {
        // What is done early is recorded early.
        Side::Promisor if (is_due || occurrence.state == OccurrenceState::Upcoming) && !is_standing => {
            Some(("satisfy", "Record satisfaction"))
        }
        Side::Promisee if is_due && is_standing => Some(("verify", "Verify")),
        Side::Promisee if occurrence.state == OccurrenceState::Satisfied => Some(("confirm", "Confirm")),
        Side::Promisor | Side::Promisee => None,
    }
}

#[derive(Template)]
#[template(path = "part_obligation.html")]
struct ObligationPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    url: String,
    organization: String,
    agreement: String,
    name: String,
    badge: Badge,
    status: String,
    facts: Vec<(&'static str, String)>,
    is_standing: bool,
    /// What the participant can do now, each with the sentence above its button.
    acts: Vec<OwnAct>,
    more_acts: usize,
    fields: Fields,
    /// The triggers that were declared.
    declared: Vec<TriggerRow>,
    record: OccurrenceList,
}

/// A form of the page: one sentence and one button.
struct OwnAct {
    /// The id of the receipt that it leaves.
    id: ReceiptId,
    /// The field that names what the act is about, and its value.
    field: &'static str,
    about: String,
    act: &'static str,
    label: &'static str,
    statement: String,
}

/// The acts that a page has room for: a promise that was not kept for years has hundreds.
const ACTS_MAX: usize = 12;

/// The sentence above the button of an act. The receipt keeps it.
fn statement(name: &str, obligation: &Obligation, act: &str, about: &str) -> String {
    let what = obligation.name().as_str();
    match act {
        "declare" => {
            format!("As {name}, I declare that this happened: “{about}”. The days of “{what}” count from then.")
        }
        "confirm" => format!("As {name}, I confirm that “{what}”, due {about}, is done."),
        "verify" => format!("As {name}, I have verified “{what}”: it holds."),
        _ => format!("As {name}, I say that “{what}”, due {about}, is done."),
    }
}

/// What a participant can do about an obligation, in the order of its occurrences.
fn own_acts(
    view: &ParticipantView,
    obligation: &Obligation,
    (by, name): (ParticipantId, &str),
    now: Timestamp,
) -> Vec<OwnAct> {
    if !is_live(view, obligation) {
        return Vec::new();
    }
    let triggers = obligation.triggers().iter().filter(|trigger| trigger.declared.is_none()).map(|trigger| OwnAct {
        id: ReceiptId::new(),
        field: "trigger",
        about: trigger.id.to_string(),
        act: "declare",
        label: "Declare trigger",
        statement: statement(name, obligation, "declare", trigger.description.as_str()),
    });
    let occurrences = obligation.occurrences(now);
    // Of what is to come, only the next.
    let mut upcoming = 0;
    let is_offered = |found: &&Occurrence| {
        upcoming += usize::from(found.state == OccurrenceState::Upcoming);
        found.state != OccurrenceState::Upcoming || upcoming == 1
    };
    let acts = occurrences.iter().filter(is_offered).filter_map(|found| {
        let (act, label) = act_of(obligation, found, by)?;
        let due = obligation.zone().day_of(found.due_at).for_people();
        Some(OwnAct {
            id: ReceiptId::new(),
            field: "occurrence",
            about: found.id.to_string(),
            act,
            label,
            statement: statement(name, obligation, act, &due),
        })
    });
    acts.chain(triggers).collect()
}

/// Shows an obligation to one of its parties.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_own_obligation"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (notice, cookie) = notice_of_act(request).await;
        let (attending, view) = load(request).await?;
        Ok(page(request, (attending, &view), (Fields::default(), notice))?.with_cookie(cookie))
    }
}

fn page(
    request: &Request,
    (attending, view): (&Attending, &ParticipantView),
    (fields, notice): (Fields, Option<Notice>),
) -> Result<PageResponse, Error> {
    let (id, now): (ObligationId, _) = (request.path_id("obligation")?, request.now());
    let by = attending.participant();
    let obligation = view.obligations.iter().find(|found| found.id() == id).ok_or_else(Error::not_found)?;
    // Acts need the consent, also after the agreement is completed. Whatever is over can be read without it.
    if is_live(view, obligation) && by.access().consent.is_none() {
        return consent::page(request, attending, view, notice);
    }
    let mut acts = own_acts(view, obligation, (by.id(), by.name().as_str()), now);
    let more_acts = acts.len().saturating_sub(ACTS_MAX);
    acts.truncate(ACTS_MAX);
    let agreement = &view.agreement;
    let mut facts =
        vec![("Who owes it to whom", sentences::promise_parties(obligation.parties(), agreement, &view.contacts))];
    if let Some(promise) = agreement.promise(obligation.promise_id()) {
        facts.push(("Due", sentences::promise_terms(&promise.terms)));
    }
    facts.push(("Time zone of its days", obligation.zone().as_str().to_owned()));
    let declared = obligation.triggers().iter().filter(|trigger| trigger.declared.is_some());
    let page = ObligationPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by.id()),
        url: own_obligation_url(by.id(), id),
        organization: attending.organization().name.as_str().to_owned(),
        agreement: agreement.name.as_str().to_owned(),
        name: obligation.name().as_str().to_owned(),
        badge: obligation_badge(obligation, now),
        status: sentences::obligation_state(obligation, now),
        facts,
        is_standing: obligation.standing(now).is_some(),
        acts,
        more_acts,
        fields,
        declared: declared.map(|trigger| TriggerRow::new(trigger, obligation.zone())).collect(),
        record: OccurrenceList::new(obligation, &obligation.occurrences(now), |_| (None, None)),
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid(), by.id().uuid(), id.uuid()]))
}

/// What a form asks for. None for a form of no act.
fn read(form: &Form) -> Option<ObligationAct> {
    let occurrence = || form.get("occurrence").parse::<OccurrenceId>().ok();
    Some(match form.get("act") {
        "declare" => {
            let trigger_id = form.get("trigger").parse::<TriggerId>().ok()?;
            ObligationAct::DeclaredTrigger { trigger_id, happened_on: read_day(form, HAPPENED_ON).ok() }
        }
        "satisfy" => ObligationAct::Satisfied { occurrence_id: occurrence()? },
        "confirm" => ObligationAct::Confirmed { occurrence_id: occurrence()? },
        "verify" => ObligationAct::Verified { occurrence_id: occurrence()? },
        _ => return None,
    })
}

/// Declares a trigger, says that an obligation was kept, confirms it or verifies it.
pub(crate) struct Act;

impl Handler for Act {
    fn operation(request: &Request) -> &'static str {
        match request.unverified_form().get("act") {
            "declare" => "declare_own_trigger",
            "confirm" => "confirm_own_obligation",
            "verify" => "verify_own_obligation",
            _ => "record_own_satisfaction",
        }
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.participant_form()?;
        let (id, form): (ObligationId, _) = (request.path_id("obligation")?, submitted.form());
        let doing = read(form).ok_or_else(Error::not_found)?;
        let is_own = |act: &ReceiptAct| {
            matches!(act, ReceiptAct::ActedOnObligation { obligation_id, did, .. }
                if *obligation_id == id && *did == doing)
        };
        if let Some(receipt) = done_before(&submitted, is_own).await? {
            return Ok(receipt);
        }
        let (attending, view) = load(request).await?;
        let by = submitted.submitter();
        let obligation = view.obligations.iter().find(|found| found.id() == id).ok_or_else(Error::not_found)?;
        let about = [form.get("occurrence"), form.get("trigger")];
        let acts = own_acts(&view, obligation, (by.id(), by.name().as_str()), request.now());
        let shown = acts.iter().find(|own| own.act == form.get("act") && about.contains(&own.about.as_str()));
        // What is not there to be done is refused by the rules, which say why.
        let other = || statement(by.name().as_str(), obligation, form.get("act"), "");
        let statement = shown.map_or_else(other, |own| own.statement.clone());
        if shown.is_some() && form.get("statement") != statement {
            return Ok(page(request, (attending, &view), (Fields::default(), Some(reworded())))?.conflicting());
        }
        let mut statement = statement;
        if let ObligationAct::DeclaredTrigger { .. } = doing {
            match read_happened_on(form, obligation.zone().day_of(request.now())) {
                Ok(on) => statement = format!("{statement} It happened on {}.", on.for_people()),
                Err(errors) => {
                    let fields = Fields::submitted(form, errors);
                    return Ok(page(request, (attending, &view), (fields, None))?.unprocessable());
                }
            }
        }
        let receipt: ReceiptId = form.get("id").parse().unwrap_or_else(|_| ReceiptId::new());
        let title = match doing {
            ObligationAct::DeclaredTrigger { .. } => "You declared the trigger",
            ObligationAct::Satisfied { .. } => "You said that it is done",
            ObligationAct::Confirmed { .. } => "You confirmed it",
            ObligationAct::Verified { .. } => "You verified it",
        };
        let title = format!("{title}: “{}”", obligation.name().as_str());
        let notice = match doing {
            ObligationAct::Satisfied { .. } => Notice::plain(title, "This is your word. The other side confirms it."),
            _ => Notice::good(title, ""),
        };
        let redirect = redirect_with(&submitted, receipt_url(by.id(), receipt), &notice).await;
        let occasion = Occasion { id: receipt, origin: origin(request) };
        let run = || {
            let said = (id, doing, statement.clone());
            obligations::act_as_participant(submitted.scope(), by, occasion.clone(), said)
        };
        match Box::pin(submitted.run(run)).await? {
            Ok(()) => Ok(redirect.into()),
            Err(reason) => {
                let (title, line) = match reason {
                    NotActedOnObligation::Participant(reason) => {
                        let (title, line) = refusal(reason);
                        (title, line.to_owned())
                    }
                    NotActedOnObligation::Obligation(reason) => crate::obligations::refusal(reason),
                };
                let (attending, view) = load(request).await?;
                let notice = Some(Notice::bad(title, line));
                Ok(page(request, (attending, &view), (Fields::default(), notice))?.conflicting())
            }
        }
    }
}
