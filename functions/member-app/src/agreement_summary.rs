//! What an agreement consists of, as the agreement's page and the review of a proposal show it.

use shared::api::views::agreements::AgreementView;
use shared::domain::actor::{Actor, ActorType};
use shared::domain::agreement::gate::{FieldType, GateRule, GateStatus, InformationField};
use shared::domain::agreement::{Agreement, AgreementKind, DocumentState, Lifecycle, StageState};
use shared::domain::contact::Contact;
use shared::domain::proposal::ProposalState;
use shared::domain::sentences;

/// A state in a word, with the class of its look.
pub(crate) struct Badge {
    pub text: &'static str,
    pub look: &'static str,
}

/// What an agreement consists of.
pub(crate) struct AgreementSummary {
    pub participants: Vec<Party>,
    pub steps: Vec<Step>,
    pub documents: Vec<Paper>,
    pub terms: Vec<(&'static str, String)>,
    pub is_safe: bool,
    pub is_draft: bool,
}

pub(crate) struct Party {
    pub name: String,
    pub email: Option<String>,
    pub roles: Vec<&'static str>,
}

pub(crate) struct Step {
    pub position: usize,
    pub name: String,
    pub state: &'static str,
    pub badge: Badge,
    pub actions: Vec<&'static str>,
    pub gates: Vec<GateLine>,
}

pub(crate) struct GateLine {
    pub requirement: String,
    pub look: &'static str,
    pub state: String,
    /// Whom an open one waits for; nothing else says more than the requirement.
    pub waiting_on: Option<String>,
    pub questions: Vec<Question>,
}

/// A question that somebody is asked.
pub(crate) struct Question {
    pub text: String,
    /// What an answer looks like.
    pub answer: String,
}

pub(crate) struct Paper {
    pub name: String,
    pub size: Option<String>,
    pub sha256: Option<String>,
    pub badge: Badge,
}

impl AgreementSummary {
    pub fn new(agreement: &Agreement, view: &AgreementView, contacts: &[Contact]) -> Self {
        let parties = view.participants.iter().flatten().map(|participant| {
            let contact = contacts.iter().find(|contact| contact.id == participant.contact_id);
            Party {
                name: participant.display_name.as_str().to_owned(),
                email: contact.and_then(|contact| contact.email.as_ref()).map(|email| email.as_str().to_owned()),
                roles: participant.roles.iter().map(|role| sentences::role(*role)).collect(),
            }
        });
        let is_draft = agreement.lifecycle() == Lifecycle::Draft;
        // Nothing of it goes on.
        let has_ended = !matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
        let steps = view.stages.iter().flatten().zip(&agreement.stages).map(|(shown, stage)| Step {
            position: shown.position,
            name: stage.name.as_str().to_owned(),
            state: match stage.state {
                StageState::Current if has_ended => "upcoming",
                StageState::Upcoming => "upcoming",
                StageState::Current => "current",
                StageState::Done => "done",
            },
            badge: match stage.state {
                StageState::Upcoming | StageState::Current if has_ended => Badge { text: "Not done", look: "quiet" },
                StageState::Upcoming => Badge { text: "Upcoming", look: "quiet" },
                StageState::Current => Badge { text: "Current", look: "blue" },
                StageState::Done => Badge { text: "Done", look: "green" },
            },
            actions: stage.actions.iter().map(|action| sentences::stage_action(*action)).collect(),
            gates: shown
                .gates
                .iter()
                .zip(&stage.gates)
                .map(|(shown, gate)| {
                    let (look, state) = match shown.state {
                        GateStatus::Locked | GateStatus::Open if has_ended => ("locked", "Not done".to_owned()),
                        GateStatus::Locked => ("locked", "Not open yet".to_owned()),
                        GateStatus::Open => ("open", "Open".to_owned()),
                        GateStatus::Cleared => (
                            "cleared",
                            match shown.cleared_at {
                                Some(moment) => format!("Done {}", moment.for_people()),
                                None => "Done".to_owned(),
                            },
                        ),
                        GateStatus::Declined => ("declined", "Declined".to_owned()),
                    };
                    let says_more = !has_ended && matches!(shown.state, GateStatus::Open | GateStatus::Declined);
                    GateLine {
                        requirement: sentences::requirement(&gate.rule, agreement, contacts),
                        look,
                        state,
                        waiting_on: says_more.then(|| shown.waiting_on.clone()),
                        questions: match &gate.rule {
                            GateRule::InformationRequest { fields, .. } => fields.iter().map(question).collect(),
                            _ => Vec::new(),
                        },
                    }
                })
                .collect(),
        });
        let papers = view.documents.iter().flatten().zip(&agreement.documents).map(|(document, kept)| Paper {
            name: document.name.as_str().to_owned(),
            size: document.size_bytes.map(size),
            sha256: document.sha256.clone(),
            badge: match document.state {
                _ if document.sha256.is_none() => Badge { text: "File missing", look: "amber" },
                DocumentState::Draft if is_draft => Badge { text: "Draft", look: "quiet" },
                DocumentState::Draft if kept.blocks.is_empty() => Badge { text: "For reading", look: "quiet" },
                DocumentState::Draft | DocumentState::Out if has_ended => Badge { text: "Not signed", look: "quiet" },
                DocumentState::Draft => Badge { text: "Not out yet", look: "quiet" },
                DocumentState::Out => Badge { text: "Out for signing", look: "blue" },
                DocumentState::Signed => Badge { text: "Signed", look: "green" },
            },
        });
        Self {
            participants: parties.collect(),
            steps: steps.collect(),
            documents: papers.collect(),
            terms: agreement.terms.as_ref().map(sentences::terms).unwrap_or_default(),
            is_safe: agreement.kind == AgreementKind::Safe,
            is_draft,
        }
    }
}

fn question(field: &InformationField) -> Question {
    let options = field.options.join(", ");
    let answer = match field.field_type {
        FieldType::Text => "A text".to_owned(),
        FieldType::LongText => "A longer text".to_owned(),
        FieldType::Number => "A number".to_owned(),
        FieldType::Date => "A date".to_owned(),
        FieldType::Boolean => "Yes or no".to_owned(),
        FieldType::Choice => format!("One of: {options}"),
        FieldType::MultiChoice => format!("Any of: {options}"),
        FieldType::File => "A file".to_owned(),
        FieldType::Address => "A postal address".to_owned(),
        FieldType::BankDetails => "Bank details".to_owned(),
    };
    let answer = if field.required { answer } else { format!("{answer} (optional)") };
    Question { text: field.label.as_str().to_owned(), answer }
}

fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = KIB * KIB;
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KB", bytes.div_ceil(KIB)),
        MIB.. => format!("{}.{} MB", bytes / MIB, bytes % MIB * 10 / MIB),
    }
}

/// Where an agreement is in its life.
pub(crate) fn lifecycle_badge(lifecycle: Lifecycle) -> Badge {
    match lifecycle {
        Lifecycle::Draft => Badge { text: "Draft", look: "quiet" },
        Lifecycle::Active => Badge { text: "Active", look: "blue" },
        Lifecycle::Completed => Badge { text: "Completed", look: "green" },
        Lifecycle::Cancelled => Badge { text: "Cancelled", look: "red" },
        Lifecycle::Expired => Badge { text: "Expired", look: "red" },
    }
}

/// Where a proposal is.
pub(crate) fn proposal_badge(state: ProposalState) -> Badge {
    match state {
        ProposalState::Pending => Badge { text: "Waiting for a decision", look: "amber" },
        ProposalState::Confirmed => Badge { text: "Confirmed", look: "green" },
        ProposalState::Declined => Badge { text: "Declined", look: "red" },
        ProposalState::Expired => Badge { text: "Expired", look: "quiet" },
    }
}

/// Who did something, and what they are if that is no person.
pub(crate) fn who_is(actor: &Actor) -> String {
    match actor.actor_type {
        ActorType::Member | ActorType::Participant | ActorType::System => actor.display_name.clone(),
        ActorType::Token => format!("{} (over the API)", actor.display_name),
    }
}
