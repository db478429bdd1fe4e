//! The steps of a draft: adding and moving them on the draft's page, and the page of one.

use askama::Template;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::gate::GateType;
use shared::domain::agreement::{Agreement, Label, StageAction};
use shared::domain::ids::{AgreementId, GateId, StageId};
use shared::domain::sentences;
use shared::error::Error;
use shared::limits;
use shared::service::drafts;
use shared::web::Request;
use shared::wire::fields::FieldErrors;

use super::condition::{condition_url, type_label, types_offered};
use super::{Edit, Problem, seen, submit};
use crate::Handler;
use crate::agreement::agreement_url;
use crate::done::notice_of_act;
use crate::fields::Fields;
use crate::layout::{Layout, Link, Notice};
use crate::response::PageResponse;

/// The URL of a step's page.
pub(crate) fn step_url(agreement: AgreementId, stage: StageId) -> String {
    format!("{}/steps/{stage}", agreement_url(agreement))
}

/// Reads a text of one line.
pub(super) fn label(text: &str, field: &str) -> Result<Label, FieldErrors> {
    Label::parse(text).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

/// The place to which a form moves something.
pub(super) fn place(text: &str) -> usize {
    // A place that is no number is none: the rule refuses it.
    text.parse().unwrap_or(usize::MAX)
}

/// Adds or moves a step, from the page of the draft.
pub(crate) struct Change;

impl Handler for Change {
    fn operation(request: &Request) -> &'static str {
        match request.unverified_form().get("act") {
            "move" => "move_step",
            _ => "add_step",
        }
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let (id, form) = (request.path_id("id")?, submitted.form());
        let url = agreement_url(id);
        let again = async |problem: Problem| {
            let fields = problem.fields(form);
            let page = crate::agreement::page(request, id, fields, Some(problem.notice.clone())).await?;
            Ok(problem.answer(page))
        };
        // A form without an id adds a step each time.
        let stage: StageId = form.get("id").parse().unwrap_or_else(|_| StageId::new());
        let edit = if form.get("act") == "move" {
            let to = place(form.get("to"));
            Edit::new(format!("{url}#steps"), "The step was moved", move |draft, now| draft.move_stage(stage, to, now))
                .of(Part::StageOrder)
        } else {
            let name = match label(form.get("step_name"), "step_name") {
                Ok(name) => name,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            let title = format!("Step “{}” was added", name.as_str());
            Edit::new(step_url(id, stage), title, move |draft, now| {
                draft.put_stage(stage, name.clone(), [].into(), now)
            })
            .next("Next: add its first condition.")
        };
        submit(request, &submitted, id, edit, again).await
    }
}

#[derive(Template)]
#[template(path = "draft_step.html")]
struct StepPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    position: usize,
    name: String,
    fields: Fields,
    seen: String,
    order: String,
    actions: Vec<super::Choice>,
    conditions: Vec<ConditionRow>,
    types: Vec<Link>,
    is_full: bool,
}

struct ConditionRow {
    id: GateId,
    url: String,
    requirement: String,
    up: Option<usize>,
    down: Option<usize>,
}

/// Shows a step.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_step"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (notice, cookie) = notice_of_act(request).await;
        Ok(page(request, None, notice).await?.with_cookie(cookie))
    }
}

async fn page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, stage): (AgreementId, StageId) = (request.path_id("id")?, request.path_id("step")?);
    let (agreement, contacts) = drafts::load(request.signed_in()?.scope(), id).await?;
    let Some((index, found)) = editable(&agreement)
        .then(|| agreement.stages.iter().enumerate().find(|(_, found)| found.id == stage))
        .flatten()
    else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let last = found.gates.len().saturating_sub(1);
    let conditions = found.gates.iter().enumerate().map(|(n, gate)| ConditionRow {
        id: gate.id,
        url: condition_url(id, gate.id),
        requirement: sentences::requirement(&gate.rule, &agreement, &contacts),
        up: n.checked_sub(1),
        down: (n < last).then_some(n + 1),
    });
    let action_name = |action: StageAction| format!("action.{}", action.as_str());
    // Payments and obligations have actions of their own, which their pages set.
    let actions = [StageAction::OpenSigning, StageAction::ProjectObligations];
    let page = StepPage {
        fields: fields.unwrap_or_else(|| {
            let checked = found.actions.iter().map(|action| (action_name(*action), "on".to_owned()));
            Fields::of([("name".to_owned(), found.name.as_str().to_owned())].into_iter().chain(checked))
        }),
        seen: seen(&agreement, Part::Stage(stage)),
        order: seen(&agreement, Part::GateOrder(stage)),
        path: step_url(id, stage),
        position: index + 1,
        name: found.name.as_str().to_owned(),
        actions: actions
            .map(|action| {
                super::Choice::new(action_name(action), format!("Countersign {}", sentences::stage_action(action)))
            })
            .into(),
        is_full: found.gates.len() >= limits::STAGE_GATES_MAX,
        conditions: conditions.collect(),
        types: types_offered()
            .map(|gate_type: GateType| Link {
                url: format!("{}/conditions?type={}", step_url(id, stage), gate_type.as_str()),
                text: type_label(gate_type).to_owned(),
            })
            .collect(),
        layout: Layout::new(request),
        notice,
        agreement: super::agreement_link(&agreement),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

/// Whether the agreement is a draft.
pub(super) fn editable(agreement: &Agreement) -> bool {
    agreement.lifecycle() == shared::domain::agreement::Lifecycle::Draft
}

/// Saves or removes a step, or moves one of its conditions.
pub(crate) struct Save;

impl Handler for Save {
    fn operation(request: &Request) -> &'static str {
        match request.unverified_form().get("act") {
            "move_condition" => "move_condition",
            "remove" => "remove_step",
            _ => "change_step",
        }
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let (id, stage): (AgreementId, StageId) = (request.path_id("id")?, request.path_id("step")?);
        let form = submitted.form();
        let again = async |problem: Problem| {
            let is_own = form.get("act").is_empty();
            let page = page(request, is_own.then(|| problem.fields(form)), Some(problem.notice.clone())).await?;
            Ok(problem.answer(page))
        };
        let url = step_url(id, stage);
        let gate: GateId = form.get("id").parse().unwrap_or_else(|_| GateId::new());
        let edit = match form.get("act") {
            "move_condition" => {
                let to = place(form.get("to"));
                Edit::new(url, "The condition was moved", move |draft, now| draft.move_gate(gate, to, now))
                    .of(Part::GateOrder(stage))
            }
            "remove" => {
                let (back, title) = (format!("{}#steps", agreement_url(id)), "The step was removed");
                Edit::new(back, title, move |draft, now| draft.remove_stage(stage, now))
                    .of(Part::Stage(stage))
                    .removing()
            }
            _ => {
                let name = match label(form.get("name"), "name") {
                    Ok(name) => name,
                    Err(errors) => return again(Problem::invalid(errors)).await,
                };
                let chosen: std::collections::BTreeSet<StageAction> =
                    form.checked("action.").filter_map(StageAction::parse).collect();
                Edit::new(url, "Step saved", move |draft, now| {
                    let kept = draft.stage(stage).map(|found| found.actions.clone()).unwrap_or_default();
                    let kept = kept
                        .into_iter()
                        .filter(|action| !matches!(action, StageAction::OpenSigning | StageAction::ProjectObligations));
                    draft.change_stage(stage, name.clone(), kept.chain(chosen.iter().copied()).collect(), now)
                })
                .of(Part::Stage(stage))
            }
        };
        submit(request, &submitted, id, edit, again).await
    }
}
