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
    /// For whom it waits.
    pub waits_for: WaitsFor,
    /// The condition of a file or of answers, which a member may have returned.
    pub returnable: Option<GateId>,
}

/// For whom a participant's task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// The participant.
    Participant,
    /// A member, to check the participant's identity.
    IdentityCheck,
    /// A member, to confirm that the participant signed on paper. Signing on screen does too.
    PaperSignature,
    /// Proof of the rest of a payment, of which a part is proven.
    Rest,
}

impl TaskRow {
    /// Whether the participant has to act.
    #[must_use]
    pub fn is_to_do(&self) -> bool {
        self.waits_for == WaitsFor::Participant
    }
}

/// The participant's open tasks in an agreement's steps, in order. What they signed on paper comes last.
#[must_use]
pub fn rows_of(agreement: &Agreement, by: ParticipantId) -> Vec<TaskRow> {
    let base = part_url(by);
    let row = |task: Task| {
        let gate_step = |id: GateId| find_gate(agreement, id).map(|(stage, _)| stage.name.as_str().to_owned());
        let at = |id: GateId| format!("{base}/conditions/{id}");
        let mut waits_for = WaitsFor::Participant;
        let (url, text, verb, step) = match task {
            Task::Sign(id) => {
                let document = agreement.document(id)?;
                let (url, name) = (format!("{base}/documents/{id}"), document.name.as_str());
                let (text, verb) = if agreement.is_on_paper(document, by) {
                    waits_for = WaitsFor::PaperSignature;
                    (format!("“{name}”, signed on paper"), "View document")
                } else {
                    (format!("Sign “{name}”"), "Review and sign")
                };
                (url, text, verb, current_step(agreement))
            }
            Task::Approve(id) => (at(id), "Give your approval".to_owned(), "Review and approve", gate_step(id)?),
            Task::Upload(id) => (at(id), upload_title(agreement, id), "Choose a file", gate_step(id)?),
            Task::Answer(id) => (at(id), "Answer questions".to_owned(), "Answer", gate_step(id)?),
            Task::BeVerified(id) => {
                waits_for = WaitsFor::IdentityCheck;
                (String::new(), "Identity check".to_owned(), "", gate_step(id)?)
            }
        };
        let returnable = match task {
            Task::Upload(id) | Task::Answer(id) => Some(id),
            Task::Sign(_) | Task::Approve(_) | Task::BeVerified(_) => None,
        };
        Some(TaskRow { link: Link { url, text }, verb, about: format!("Step: {step}"), waits_for, returnable })
    };
    let mut rows: Vec<TaskRow> = agreement.tasks_of(by).into_iter().filter_map(row).collect();
    rows.sort_by_key(|row| row.waits_for == WaitsFor::PaperSignature);
    rows
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
