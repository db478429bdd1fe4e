//! An obligation on its parties' pages, even after their agreement is completed.

use askama::Template;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::labels::{Badge, obligation_badge, obligation_status};
use pages::layout::{Layout, Link, Notice};
use pages::obligation_record::{OccurrenceList, TriggerRow, read_happened_on, said_by};
use pages::pager::{Paged, Pager};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::satisfaction::{self, SaidDone};
use pages::urls::{part_url, receipt_url};
use shared::domain::agreement::Lifecycle;
use shared::domain::agreement::promise::{PromiseKind, Side};
use shared::domain::ids::{ObligationId, OccurrenceId, ParticipantId, ReceiptId, TriggerId};
use shared::domain::obligation::{Obligation, Occurrence, OccurrenceState, Refused};
use shared::domain::participant::Occasion;
use shared::domain::participant::obligations::NotActedOnObligation;
use shared::domain::participant::receipt::ObligationAct;
use shared::domain::satisfaction::Done;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::identity::participant_sessions::ParticipantSession;
use shared::service::obligations;
use shared::service::participants::ParticipantView;
use shared::text;
use shared::text::reader::Shown as _;
use shared::web::participant_link::origin;
use shared::web::{Form, Request};
use shared::wire::fields::FieldErrors;
use shared::wire::page::Offset;

use crate::payment_acts::keep;
use crate::{PartForm, consent, load, refusal, reworded};

pub(super) fn own_obligation_url(by: ParticipantId, id: ObligationId) -> String {
    format!("{}/obligations/{id}", part_url(by))
}

pub(super) struct ObligationRow {
    pub link: Link,
    pub about: String,
    pub status: String,
    pub badge: Badge,
    pub verb: Option<&'static str>,
}

pub(super) fn obligation_rows(view: &ParticipantView, by: ParticipantId, now: Timestamp) -> Vec<ObligationRow> {
    let row = |obligation: &Obligation| ObligationRow {
        link: Link { url: own_obligation_url(by, obligation.id()), text: obligation.name().as_str().to_owned() },
        about: about(view, obligation),
        status: obligation_status(obligation, now),
        badge: obligation_badge(obligation, now),
        verb: is_live(view, obligation).then(|| waiting(obligation, by, now)).flatten(),
    };
    view.obligations.iter().map(row).collect()
}

/// Whether one of the obligations that the view has waits for a participant.
pub(super) fn is_owed_by(view: &ParticipantView, participant: ParticipantId, now: Timestamp) -> bool {
    let mut live = view.obligations.iter().filter(|obligation| is_live(view, obligation));
    live.any(|obligation| waiting(obligation, participant, now).is_some())
}

fn about(view: &ParticipantView, obligation: &Obligation) -> String {
    let parties = text::promise_parties(obligation.parties(), &view.agreement, &view.contacts);
    match view.agreement.promise(obligation.promise_id()) {
        Some(promise) => format!("{parties}, {}", text::promise_terms(&promise.terms)),
        None => parties,
    }
}

fn is_live(view: &ParticipantView, obligation: &Obligation) -> bool {
    let goes_on = matches!(view.agreement.lifecycle(), Lifecycle::Active | Lifecycle::Completed);
    goes_on && obligation.cancellation().is_none()
}

fn waiting(obligation: &Obligation, by: ParticipantId, now: Timestamp) -> Option<&'static str> {
    let occurrences = obligation.occurrences(now);
    let is_asked = |found: &&Occurrence| found.state != OccurrenceState::Upcoming;
    occurrences.iter().filter(is_asked).find_map(|found| act_of(obligation, found, by).map(|(_, label)| label))
}

fn act_of(obligation: &Obligation, occurrence: &Occurrence, by: ParticipantId) -> Option<(&'static str, &'static str)> {
    let is_standing = obligation.kind() == PromiseKind::Standing;
    let is_due = matches!(occurrence.state, OccurrenceState::Due | OccurrenceState::Overdue);
    match obligation.parties().side(by)? {
        // Early satisfaction is recorded early.
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
    acts: Vec<OwnAct>,
    can_satisfy: bool,
    more_acts: usize,
    fields: Fields,
    declared: Vec<TriggerRow>,
    record: OccurrenceList,
    pager: Option<Pager>,
    today: String,
}

struct OwnAct {
    field: &'static str,
    about: String,
    act: &'static str,
    label: &'static str,
    statement: String,
    claim: Option<Claim>,
}

struct Claim {
    by: String,
    said: Option<SaidDone>,
}

/// The maximum number of acts on a page: a promise neglected for years has hundreds.
const ACTS_MAX: usize = 12;

/// The sentence above an act's button, kept by the receipt.
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

fn own_acts(
    view: &ParticipantView,
    obligation: &Obligation,
    by: ParticipantId,
    name: &str,
    now: Timestamp,
) -> Vec<OwnAct> {
    if !is_live(view, obligation) {
        return Vec::new();
    }
    let triggers = obligation.triggers().iter().filter(|trigger| trigger.declared.is_none()).map(|trigger| OwnAct {
        field: "trigger",
        about: trigger.id.to_string(),
        act: "declare",
        label: "Declare trigger",
        statement: statement(name, obligation, "declare", trigger.description.as_str()),
        claim: None,
    });
    let occurrences = obligation.occurrences(now);
    // Only the next upcoming one.
    let mut upcoming = 0;
    let is_offered = |found: &&Occurrence| {
        upcoming += usize::from(found.state == OccurrenceState::Upcoming);
        found.state != OccurrenceState::Upcoming || upcoming == 1
    };
    let acts = occurrences.iter().filter(is_offered).filter_map(|found| {
        let (act, label) = act_of(obligation, found, by)?;
        let due = obligation.zone().day_of(found.due_at).shown();
        let claim = found.satisfied.as_ref().map(|word| Claim {
            by: said_by(word, obligation.zone()),
            said: SaidDone::of(found, &own_obligation_url(by, obligation.id())),
        });
        Some(OwnAct {
            field: "occurrence",
            about: found.id.to_string(),
            act,
            label,
            statement: statement(name, obligation, act, &due),
            claim,
        })
    });
    acts.chain(triggers).collect()
}

/// What the participant's pages show, and all that was said about the obligation of the page.
async fn load_record(request: &Request) -> Result<(&ParticipantSession, ParticipantView), Error> {
    let id: ObligationId = request.path_id("obligation")?;
    let (session, mut view) = load(request).await?;
    if let Some(shown) = view.obligations.iter_mut().find(|found| found.id() == id) {
        *shown = obligations::with_older(session.scope(), shown.clone()).await?;
    }
    Ok((session, view))
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Paged = request.read_query()?;
    let (notice, cookie) = notice_of_act(request).await;
    let (session, view) = load_record(request).await?;
    Ok(page_at(request, query.offset, session, &view, Fields::default(), notice)?.with_cookie(cookie))
}

fn page(
    request: &Request,
    session: &ParticipantSession,
    view: &ParticipantView,
    typed: (Fields, Option<Notice>),
) -> Result<PageResponse, Error> {
    let (fields, notice) = typed;
    page_at(request, Offset::default(), session, view, fields, notice)
}

fn page_at(
    request: &Request,
    offset: Offset,
    session: &ParticipantSession,
    view: &ParticipantView,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let (id, now): (ObligationId, _) = (request.path_id("obligation")?, request.now());
    let by = session.participant();
    let obligation = view.obligations.iter().find(|found| found.id() == id).ok_or_else(Error::not_found)?;
    // Acts require consent, even after completion. Whatever is over can be read without it.
    if is_live(view, obligation) && by.access().consent.is_none() {
        return consent::page(request, session, view, notice);
    }
    let mut acts = own_acts(view, obligation, by.id(), by.name().as_str(), now);
    let more_acts = acts.len().saturating_sub(ACTS_MAX);
    acts.truncate(ACTS_MAX);
    let agreement = &view.agreement;
    let mut facts =
        vec![("Who owes it to whom", text::promise_parties(obligation.parties(), agreement, &view.contacts))];
    if let Some(promise) = agreement.promise(obligation.promise_id()) {
        facts.push(("Due", text::promise_terms(&promise.terms)));
    }
    facts.push(("Time zone of its days", obligation.zone().as_str().to_owned()));
    let declared = obligation.triggers().iter().filter(|trigger| trigger.declared.is_some());
    let (url, occurrences) = (own_obligation_url(by.id(), id), obligation.occurrences(now));
    let mut record = OccurrenceList::new(obligation, &url, &occurrences, offset, |_| (None, None));
    if record.is_past_the_end {
        return Ok(PageResponse::see_other(url));
    }
    let page = ObligationPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by.id()),
        url,
        organization: session.organization().name.as_str().to_owned(),
        agreement: agreement.name.as_str().to_owned(),
        name: obligation.name().as_str().to_owned(),
        badge: obligation_badge(obligation, now),
        status: obligation_status(obligation, now),
        facts,
        is_standing: obligation.standing(now).is_some(),
        can_satisfy: acts.iter().any(|act| act.act == "satisfy"),
        acts,
        more_acts,
        fields,
        declared: declared.map(|trigger| TriggerRow::new(trigger, obligation.zone())).collect(),
        pager: record.pager.take(),
        record,
        today: obligation.zone().day_of(now).shown(),
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid(), by.id().uuid(), id.uuid()]))
}

#[derive(Debug, Clone, Copy)]
enum Asked {
    Declare(TriggerId),
    Satisfy(OccurrenceId),
    Confirm(OccurrenceId),
    Verify(OccurrenceId),
}

impl Asked {
    fn of(form: &Form) -> Option<Self> {
        let occurrence = || form.get("occurrence").parse().ok();
        Some(match form.get("act") {
            "declare" => Self::Declare(form.get("trigger").parse().ok()?),
            "satisfy" => Self::Satisfy(occurrence()?),
            "confirm" => Self::Confirm(occurrence()?),
            "verify" => Self::Verify(occurrence()?),
            _ => return None,
        })
    }

    /// Reads the act, but for the content of its file, and what is said beside the sentence above its button.
    fn read(
        self,
        form: &Form,
        obligation: &Obligation,
        now: Timestamp,
    ) -> Result<(ObligationAct, Option<String>), FieldErrors> {
        Ok(match self {
            Self::Declare(trigger_id) => {
                let on = read_happened_on(form, obligation, now)?;
                let said = format!("It happened on {}.", on.shown());
                (ObligationAct::DeclaredTrigger { trigger_id, happened_on: on }, Some(said))
            }
            Self::Satisfy(occurrence) => {
                let Done { occurrence, how } = satisfaction::read(form, occurrence, obligation, now)?;
                let said = format!("It was done on {}.", how.done_on.shown());
                (ObligationAct::Satisfied { occurrence_id: occurrence, how }, Some(said))
            }
            Self::Confirm(occurrence_id) => (ObligationAct::Confirmed { occurrence_id }, None),
            Self::Verify(occurrence_id) => (ObligationAct::Verified { occurrence_id }, None),
        })
    }
}

enum NotKept {
    Refused(NotActedOnObligation),
    Wrong(FieldErrors),
}

/// Keeps the file of a satisfaction, if any. Doesn't store a file for a form that records nothing.
async fn keep_file(
    submitted: &PartForm<'_>,
    id: ObligationId,
    did: &mut ObligationAct,
) -> Result<Result<(), NotKept>, Error> {
    let ObligationAct::Satisfied { occurrence_id, how } = did else { return Ok(Ok(())) };
    let Some(file) = submitted.form().file(satisfaction::FILE) else { return Ok(Ok(())) };
    let bytes = u64::try_from(file.content.len()).unwrap_or(u64::MAX);
    let done = Done { occurrence: *occurrence_id, how: how.clone() };
    let (scope, by) = (submitted.scope(), submitted.submitter());
    if let Some(refused) = obligations::why_not_satisfied_by_participant(scope, by, id, &done, bytes).await? {
        return Ok(Err(NotKept::Refused(refused)));
    }
    Ok(match keep(submitted).await? {
        Ok(kept) => {
            how.file = kept;
            Ok(())
        }
        Err(errors) => Err(NotKept::Wrong(errors)),
    })
}

/// The notice after an act. Claims aren't shown as a success.
fn done_notice(did: &ObligationAct, obligation: &Obligation) -> Notice {
    let title = match did {
        ObligationAct::DeclaredTrigger { .. } => "You declared the trigger",
        ObligationAct::Satisfied { .. } => "You said that it is done",
        ObligationAct::Confirmed { .. } => "You confirmed it",
        ObligationAct::Verified { .. } => "You verified it",
    };
    let title = format!("{title}: “{}”", obligation.name().as_str());
    match did {
        ObligationAct::Satisfied { .. } => Notice::plain(title, "This is your word. The other side confirms it."),
        _ => Notice::good(title, ""),
    }
}

pub(crate) const ACT_OPERATIONS: Operation = Operation::ByField {
    field: "act",
    names: &[
        ("declare", "declare_own_trigger"),
        ("confirm", "confirm_own_obligation"),
        ("verify", "verify_own_obligation"),
    ],
    otherwise: "record_own_satisfaction",
};

pub(crate) async fn act(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, form): (ObligationId, _) = (request.path_id("obligation")?, submitted.form());
    let asked = Asked::of(form).ok_or_else(Error::not_found)?;
    let (session, view) = load_record(request).await?;
    let by = submitted.submitter();
    let obligation = view.obligations.iter().find(|found| found.id() == id).ok_or_else(Error::not_found)?;
    let about = [form.get("occurrence"), form.get("trigger")];
    let acts = own_acts(&view, obligation, by.id(), by.name().as_str(), request.now());
    let shown = acts.iter().find(|own| own.act == form.get("act") && about.contains(&own.about.as_str()));
    // The rules refuse unavailable acts with a reason.
    let other = || statement(by.name().as_str(), obligation, form.get("act"), "");
    let mut statement = shown.map_or_else(other, |own| own.statement.clone());
    if shown.is_some() && form.get("statement") != statement {
        return Ok(page(request, session, &view, (Fields::default(), Some(reworded())))?.conflicting());
    }
    let (mut did, said) = match asked.read(form, obligation, request.now()) {
        Ok(read) => read,
        Err(errors) => return wrong(request, session, &view, form, errors),
    };
    if let Some(said) = said {
        statement = format!("{statement} {said}");
    }
    let receipt: ReceiptId = submitted.new_id();
    match keep_file(&submitted, id, &mut did).await? {
        Ok(()) => {}
        Err(NotKept::Wrong(errors)) => return wrong(request, session, &view, form, errors),
        Err(NotKept::Refused(reason)) => return refuse(request, form, reason).await,
    }
    let url = receipt_url(by.id(), receipt);
    let redirect = redirect_with(&submitted, url, &done_notice(&did, obligation)).await;
    let occasion = Occasion { id: receipt, origin: origin(request) };
    let run =
        || obligations::act_as_participant(submitted.scope(), by, occasion.clone(), id, did.clone(), statement.clone());
    match Box::pin(submitted.run(run)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(reason) => refuse(request, form, reason).await,
    }
}

fn wrong(
    request: &Request,
    session: &ParticipantSession,
    view: &ParticipantView,
    form: &Form,
    errors: FieldErrors,
) -> Result<PageResponse, Error> {
    let line = if form.has_file() { "Nothing was recorded. Choose the file again." } else { "Nothing was recorded." };
    let notice = Some(Notice::bad("Check what is marked below", line));
    Ok(page(request, session, view, (satisfaction::typed(form, errors), notice))?.unprocessable())
}

async fn refuse(request: &Request, form: &Form, reason: NotActedOnObligation) -> Result<PageResponse, Error> {
    let (title, line) = match reason {
        NotActedOnObligation::Participant(reason) => {
            let (title, line) = refusal(reason);
            (title, line.to_owned())
        }
        NotActedOnObligation::Obligation(Refused::Own | Refused::OneSelf) => (
            "This claim can’t be confirmed in this browser",
            "It comes from the member who is signed in here, or from one who counts as the same person. Confirm it in a browser of your own, or have another member confirm it. Nothing was recorded.".to_owned(),
        ),
        NotActedOnObligation::Obligation(reason) => pages::obligation_record::refusal(reason),
    };
    let (session, view) = load_record(request).await?;
    let fields = satisfaction::typed(form, FieldErrors::default());
    Ok(page(request, session, &view, (fields, Some(Notice::bad(title, line))))?.conflicting())
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let id: ObligationId = request.path_id("obligation")?;
    let (session, view) = load_record(request).await?;
    // Only obligations to which the participant is a party.
    let obligation = view.obligations.iter().find(|found| found.id() == id).ok_or_else(Error::not_found)?;
    let by = session.participant();
    let file = satisfaction::download(request, obligation, session.scope().org()).await?;
    Ok(file.showing([by.id().uuid(), id.uuid()]))
}
