//! A participant's open tasks.

use shared::domain::agreement::gate::Gate;
use shared::domain::agreement::tasks::Task;
use shared::domain::agreement::{Agreement, Stage};
use shared::domain::ids::{GateId, ParticipantId};

use crate::layout::Link;
use crate::urls::part_url;

/// A task with its page.
pub struct TaskRow {
    /// The page of the task.
    pub link: Link,
    /// The button's text.
    pub verb: &'static str,
    /// Its step or payment.
    pub about: String,
    /// Whether the participant can act. Members verify identities.
    pub can_act: bool,
}

/// The participant's open tasks in an agreement's steps, in order.
#[must_use]
pub fn rows_of(agreement: &Agreement, by: ParticipantId) -> Vec<TaskRow> {
    let base = part_url(by);
    let row = |task: Task| {
        let gate_step = |id: GateId| find_gate(agreement, id).map(|(stage, _)| stage.name.as_str().to_owned());
        let at = |id: GateId| format!("{base}/conditions/{id}");
        let (url, text, verb, step) = match task {
            Task::Sign(id) => {
                let document = agreement.document(id)?;
                let text = format!("Sign “{}”", document.name.as_str());
                (format!("{base}/documents/{id}"), text, "Review and sign", current_step(agreement))
            }
            Task::Approve(id) => (at(id), "Give your approval".to_owned(), "Review and approve", gate_step(id)?),
            Task::Upload(id) => (at(id), upload_title(agreement, id), "Choose a file", gate_step(id)?),
            Task::Answer(id) => (at(id), "Answer questions".to_owned(), "Answer", gate_step(id)?),
            Task::BeVerified(id) => (String::new(), "Identity check".to_owned(), "", gate_step(id)?),
        };
        Some(TaskRow { can_act: !url.is_empty(), link: Link { url, text }, verb, about: format!("Step: {step}") })
    };
    agreement.tasks_of(by).into_iter().filter_map(row).collect()
}

/// What a participant is asked to upload for a condition.
#[must_use]
pub fn upload_title(agreement: &Agreement, id: GateId) -> String {
    let file = agreement.gate(id).and_then(|gate| gate.rule.requested_file());
    let title = file.and_then(|file| file.title.as_ref());
    title.map_or("Upload a file".to_owned(), |title| format!("Upload: {}", title.as_str()))
}

/// A participant's open tasks in words, for members.
#[must_use]
pub fn task_texts(agreement: &Agreement, participant: ParticipantId) -> Vec<String> {
    rows_of(agreement, participant).into_iter().map(|row| row.link.text).collect()
}

/// The current step's name. Empty if the agreement has ended.
#[must_use]
pub fn current_step(agreement: &Agreement) -> String {
    let first = agreement.waiting_gates().next().and_then(|gate| find_gate(agreement, gate.id));
    first.map(|(stage, _)| stage.name.as_str().to_owned()).unwrap_or_default()
}

/// A condition of an agreement, with its step.
#[must_use]
pub fn find_gate(agreement: &Agreement, id: GateId) -> Option<(&Stage, &Gate)> {
    let gates = agreement.stages.iter().flat_map(|stage| stage.gates.iter().map(move |gate| (stage, gate)));
    gates.into_iter().find(|(_, gate)| gate.id == id)
}
