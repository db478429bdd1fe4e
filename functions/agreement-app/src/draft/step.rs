//! The steps of a draft: adding and moving them on the draft's page, and each step's page.

use askama::Template;
use pages::done::notice_of_act;
use pages::fields::Fields;
use pages::form;
use pages::layout::{Layout, Link, Notice, shows_notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::{agreement_url, condition_url, step_url};
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::gate::GateType;
use shared::domain::agreement::{Agreement, Stage, StageAction};
use shared::domain::ids::{AgreementId, GateId, StageId};
use shared::error::Error;
use shared::limits;
use shared::service::payments as service;
use shared::text;
use shared::web::Request;

use crate::draft::condition::condition_name;
use crate::draft::{Edit, Problem, editable, label, moved, payments, place, seen, submit};

form! {
    /// A step that is added.
    pub(crate) NEW_STEP: NewStepForm {
        name: Field::line("step_name", "Step name", 200),
    }
}

form! {
    /// A step’s settings.
    pub(crate) STEP: StepForm {
        name: Field::line("name", "Step name", 200),
        actions: Field::choice("action.", "When the step is done"),
    }
}

pub(super) fn step_name(agreement: &Agreement, stage: StageId) -> &str {
    agreement.stage(stage).map_or("", |stage| stage.name.as_str())
}

pub(super) fn action_label(action: StageAction) -> String {
    let is_held_back = matches!(action, StageAction::OpenMovement | StageAction::ReleaseInstructions);
    format!("Countersign {}{}", text::stage_action(action), if is_held_back { ", and not before" } else { "" })
}

pub(super) fn fields_of(stage: &Stage) -> Fields {
    let checked = stage.actions.iter().map(|action| (action_name(*action), "on".to_owned()));
    Fields::of([(STEP.name.name.to_owned(), stage.name.as_str().to_owned())].into_iter().chain(checked))
}

fn action_name(action: StageAction) -> String {
    format!("action.{}", action.as_str())
}

pub(crate) const CHANGE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("move", "move_step")], otherwise: "add_step" };

pub(crate) async fn change(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form) = (request.path_id("id")?, submitted.form());
    let url = agreement_url(id);
    let again = async |problem: Problem| {
        let fields = problem.fields(form);
        let page = crate::agreement::page(request, id, fields, Some(problem.notice.clone())).await?;
        Ok(problem.answer(page))
    };
    let moves = form.get("act") == "move";
    let stage: StageId = if moves { form.id("id")? } else { submitted.new_id() };
    let edit = if moves {
        let to = place(form.get("to"));
        let says = move |before: &Agreement, after: &Agreement| {
            let index = |draft: &Agreement| draft.stages.iter().position(|found| found.id == stage);
            moved(&format!("The step “{}”", step_name(after, stage)), index(before), index(after))
        };
        Edit::new(url, says, move |draft, now| draft.move_stage(stage, to, now)).of(Part::StageOrder).within("steps")
    } else {
        let name = match label(form.get(NEW_STEP.name), NEW_STEP.name.name) {
            Ok(name) => name,
            Err(errors) => return again(Problem::invalid(errors)).await,
        };
        let says = move |_: &Agreement, after: &Agreement| {
            let title = format!("Step “{}” was added", step_name(after, stage));
            Notice::good(title, "Next: add its first condition.")
        };
        Edit::new(step_url(id, stage), says, move |draft, now| draft.put_stage(stage, name.clone(), [].into(), now))
    };
    submit(request, &submitted, id, edit, again).await
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
    actions: Vec<pages::fields::Choice>,
    conditions: Vec<ConditionRow>,
    types: Vec<Link>,
    is_full: bool,
}

impl StepPage {
    fn shows_notice(&self, section: &str) -> bool {
        shows_notice(self.notice.as_ref(), &["conditions"], section)
    }
}

struct ConditionRow {
    id: GateId,
    url: String,
    requirement: String,
    up: Option<usize>,
    down: Option<usize>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, None, notice).await?.with_cookie(cookie))
}

async fn page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, stage): (AgreementId, StageId) = (request.path_id("id")?, request.path_id("step")?);
    let waits = |agreement: &Agreement| {
        let gates = agreement.stage(stage).into_iter().flat_map(|found| &found.gates);
        gates.into_iter().any(|gate| payments::movement_of(&gate.rule).is_some())
    };
    let (agreement, contacts, payments) = service::load(request.signed_in()?.scope(), id, waits).await?;
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
        requirement: text::requirement(
            &gate.rule,
            &agreement,
            text::Named { contacts: &contacts, payments: &payments },
        ),
        up: n.checked_sub(1),
        down: (n < last).then_some(n + 1),
    });
    let actions = StageAction::ALL.into_iter().filter(|action| {
        let is_of_use = match action {
            StageAction::OpenSigning => true,
            StageAction::OpenMovement | StageAction::ReleaseInstructions => !agreement.movements().is_empty(),
            StageAction::ProjectObligations => !agreement.promises.is_empty(),
        };
        is_of_use || found.actions.contains(action)
    });
    let page = StepPage {
        fields: fields.unwrap_or_else(|| fields_of(found)),
        seen: seen(&agreement, Part::Stage(stage)),
        order: seen(&agreement, Part::GateOrder(stage)),
        path: step_url(id, stage),
        position: index + 1,
        name: found.name.as_str().to_owned(),
        actions: actions.map(|action| pages::fields::Choice::new(action_name(action), action_label(action))).collect(),
        is_full: found.gates.len() >= limits::STAGE_GATES_MAX,
        conditions: conditions.collect(),
        types: GateType::ALL
            .map(|gate_type| Link {
                url: format!("{}/conditions?type={}", step_url(id, stage), gate_type.as_str()),
                text: text::condition(gate_type).to_owned(),
            })
            .into(),
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(crate) const SAVE_OPERATIONS: Operation = Operation::ByField {
    field: "act",
    names: &[("move_condition", "move_condition"), ("remove", "remove_step")],
    otherwise: "change_step",
};

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, stage): (AgreementId, StageId) = (request.path_id("id")?, request.path_id("step")?);
    let form = submitted.form();
    let again = async |problem: Problem| {
        let is_own = form.get("act").is_empty();
        let page = page(request, is_own.then(|| problem.fields(form)), Some(problem.notice.clone())).await?;
        Ok(problem.answer(page))
    };
    let url = step_url(id, stage);
    let edit = match form.get("act") {
        "move_condition" => {
            let gate: GateId = form.id("id")?;
            let to = place(form.get("to"));
            let says = move |before: &Agreement, after: &Agreement| {
                let index = |draft: &Agreement| {
                    draft.stage(stage).and_then(|stage| stage.gates.iter().position(|found| found.id == gate))
                };
                moved(&format!("The condition “{}”", condition_name(after, gate)), index(before), index(after))
            };
            Edit::new(url, says, move |draft, now| draft.move_gate(gate, to, now))
                .of(Part::GateOrder(stage))
                .within("conditions")
        }
        "remove" => {
            let says = move |before: &Agreement, _: &Agreement| {
                Notice::good(format!("The step “{}” was removed", step_name(before, stage)), "")
            };
            Edit::new(agreement_url(id), says, move |draft, now| draft.remove_stage(stage, now))
                .of(Part::Stage(stage))
                .removing()
                .within("steps")
        }
        _ => {
            let name = match label(form.get(STEP.name), STEP.name.name) {
                Ok(name) => name,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            let chosen: std::collections::BTreeSet<StageAction> =
                form.checked("action.").filter_map(StageAction::parse).collect();
            let says = move |_: &Agreement, after: &Agreement| {
                Notice::good(format!("The step “{}” was saved", step_name(after, stage)), "")
            };
            Edit::new(url, says, move |draft, now| draft.change_stage(stage, name.clone(), chosen.clone(), now))
                .of(Part::Stage(stage))
        }
    };
    submit(request, &submitted, id, edit, again).await
}
