//! A participant's answers: a draft that only they see, and what they send, final unless a member returns it.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::acts::{Acted, NotActed, Occasion, acted, consent_of, open_gate};
use super::receipt::ReceiptAct;
use super::{Access, ActingParticipant};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::gate::{GateRule, InformationField};
use crate::domain::ids::{FieldId, GateId, SubmissionId};
use crate::domain::information::{Answer, Submission, Verdict};
use crate::limits;

/// What a participant sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answering {
    /// The information request.
    pub gate_id: GateId,
    /// The answers, parsed and sealed.
    pub answers: BTreeMap<FieldId, Answer>,
    /// The questions whose answers differ from the previous revision.
    pub changed: BTreeSet<FieldId>,
    /// The number of the previous revision; 0 if none.
    pub revision_before: u32,
}

/// Sent answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The act.
    pub acted: Acted,
    /// The answers.
    pub submission: Submission,
}

/// The bytes of a submission in the API's response: Lambda gets it as text in JSON, so quotes count twice.
fn weight(questions: &[InformationField], submission: &Submission) -> usize {
    const QUESTION: usize = 170;
    const SUBMISSION: usize = 900;
    let text = |text: String| text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    let labels = questions.iter().map(|question| text(serde_json::json!(question.label).to_string()) + QUESTION);
    SUBMISSION + labels.sum::<usize>() + text(serde_json::json!(submission.answers).to_string())
}

/// Checks that an information request currently waits for the participant's answers.
pub fn can_answer(by: &ActingParticipant, context: AgreementContext<'_>, gate_id: GateId) -> Result<(), NotActed> {
    let current = context.active()?;
    let gate = open_gate(&current, gate_id, by, |rule| matches!(rule, GateRule::InformationRequest { .. }))?;
    consent_of(by)?;
    if current.unmet_by(gate).contains(&by.id()) { Ok(()) } else { Err(NotActed::Done) }
}

/// Sends answers. They then wait for a member, and the participant's part is done unless a member returns them.
pub fn send_answers(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    answering: Answering,
) -> Result<Sent, NotActed> {
    can_answer(by, context, answering.gate_id)?;
    let AgreementContext { agreement, facts, moment, .. } = context;
    let Access { consent, .. } = by.access();
    let consent = consent.ok_or(NotActed::NoConsent)?;
    let Answering { gate_id, answers, changed, revision_before } = answering;
    let submission = Submission {
        id: SubmissionId::new(),
        gate_id,
        participant_id: by.id(),
        revision: revision_before + 1,
        salt: Uuid::now_v7(),
        answers,
        resealed: std::collections::BTreeMap::new(),
        changed,
        sent_at: moment.at(),
        in_person: occasion.origin.in_person.clone(),
        verdict: Verdict::Sent,
    };
    let own = weight(agreement.questions(gate_id).unwrap_or_default(), &submission);
    if own > limits::SUBMISSION_BYTES_MAX {
        return Err(NotActed::TooLong);
    }
    let bytes = facts.answer_bytes + own;
    if bytes > limits::INFORMATION_BYTES_MAX {
        return Err(NotActed::TooMuch);
    }
    let act = ReceiptAct::Answered {
        gate_id,
        submission_id: submission.id,
        revision: submission.revision,
        sha256: submission.sha256(),
        consent,
    };
    let after = context.recorded(|facts| {
        facts.answered.insert((gate_id, by.id()), moment.at());
        facts.answer_bytes = bytes;
    });
    Ok(Sent { acted: acted(by, after, moment, occasion, act, None), submission })
}
