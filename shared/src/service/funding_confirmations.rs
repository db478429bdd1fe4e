//! What the receiving side confirmed in an item's agreement: files that a member accepted as answers.
//!
//! Decision: an accepted answer is no proof yet: it lets the agreement continue. That it proves the transfer of this
//! item is a separate act, so that each item is funded by a decision of its own. Filing takes one press.

use crate::domain::actor::Actor;
use crate::domain::agreement::gate::{Gate, InformationField};
use crate::domain::agreement::{Agreement, Label};
use crate::domain::day::Day;
use crate::domain::funding::proof::{NewProof, ProofSource};
use crate::domain::funding::{FundingItem, Verb};
use crate::domain::ids::{FundingItemId, GateId, ParticipantId, ProofId};
use crate::domain::information::{Answer, AnswerFile, OpenAnswer, Submission, Verdict};
use crate::domain::movement::evidence::EvidenceFile;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::time::Timestamp;

#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    pub submission: &'a Submission,
    pub question: &'a InformationField,
    pub file: &'a AnswerFile,
}

/// What a page shows of such a file.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// The proof that it becomes once filed: the id is that of its answers.
    pub proof_id: ProofId,
    /// The information request.
    pub gate_id: GateId,
    /// Who uploaded it.
    pub participant_id: ParticipantId,
    /// What was asked for.
    pub question: Label,
    /// The file.
    pub file: AnswerFile,
    /// When it was uploaded.
    pub sent_at: Timestamp,
    /// When a member accepted the answers, and who. None before that.
    pub accepted: Option<(Timestamp, Actor)>,
}

impl Found<'_> {
    /// The file as proof of the item. None before a member has accepted the answers.
    pub(super) fn as_proof(&self, item: &FundingItem, dated: Day) -> Option<NewProof> {
        let Verdict::Accepted { .. } = &self.submission.verdict else { return None };
        // A name with an account number in it is not shown.
        let name = SafeLine::parse(self.file.name.as_str()).or_else(|_| SafeLine::parse("File")).ok()?;
        let file = EvidenceFile { name, content: self.file.content.clone(), file_type: Some(self.file.file_type) };
        let source = match item.verb() {
            Some(Verb::Deed) => ProofSource::RecordedDeed,
            _ => ProofSource::InstitutionConfirmation,
        };
        Some(NewProof { id: proof_id(self.submission), source, dated, file: Some(file), note: None })
    }

    pub(super) fn shown(&self) -> Confirmation {
        let accepted = match &self.submission.verdict {
            Verdict::Accepted { at, by } => Some((*at, by.clone())),
            Verdict::Sent | Verdict::Returned { .. } => None,
        };
        Confirmation {
            proof_id: proof_id(self.submission),
            gate_id: self.submission.gate_id,
            participant_id: self.submission.participant_id,
            question: self.question.label.clone(),
            file: self.file.clone(),
            sent_at: self.submission.sent_at,
            accepted,
        }
    }
}

/// Answers have one file per item, so their id is that of the proof: filing it twice files it once.
fn proof_id(submission: &Submission) -> ProofId {
    ProofId::from(submission.id.uuid())
}

pub(super) fn confirmations<'a>(
    agreement: &'a Agreement,
    submissions: &'a [Submission],
    item: FundingItemId,
) -> impl Iterator<Item = Found<'a>> {
    let is_returned = |submission: &&Submission| matches!(submission.verdict, Verdict::Returned { .. });
    let sent = submissions.iter().filter(move |submission| !is_returned(submission));
    sent.filter_map(move |submission| {
        let question = question_about(agreement.gate(submission.gate_id)?, item)?;
        match submission.answers.get(&question.id)? {
            Answer::Open(OpenAnswer::File(file)) => Some(Found { submission, question, file }),
            _ => None,
        }
    })
}

/// The question for the confirmation of an item: its id is the item's.
fn question_about(gate: &Gate, item: FundingItemId) -> Option<&InformationField> {
    use crate::domain::agreement::gate::GateRule;

    let GateRule::InformationRequest { fields, .. } = &gate.rule else { return None };
    fields.iter().find(|field| field.id.uuid() == item.uuid())
}
