//! The API's view of answers to information requests: sent ones only, and never bank details.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::operation::Output;
use crate::domain::actor::Actor;
use crate::domain::agreement::gate::{FieldType, InformationField};
use crate::domain::agreement::{Agreement, Label};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, FieldId, GateId, ParticipantId, SubmissionId};
use crate::domain::information::{Answer, AnswerFile, OpenAnswer, PostalAddress, Submission, Verdict};
use crate::domain::note::Note;
use crate::domain::time::Timestamp;
use crate::wire::enums::text_enum;

/// All answers that were sent in an agreement, the oldest first: one entry for each time that a participant sent answers to
/// an information request. Returned ones stay.
#[derive(Debug, Serialize, ToSchema)]
#[serde(transparent)]
pub struct InformationSubmissions(pub Vec<InformationSubmissionView>);

impl Output for InformationSubmissions {
    fn objects(&self) -> Vec<uuid::Uuid> {
        self.0.iter().map(|submission| submission.id.uuid()).collect()
    }
}

text_enum! {
    /// Where answers are.
    pub enum SubmissionState {
        /// They wait for a member to read them.
        Sent = "sent",
        /// A member has read and accepted them.
        Accepted = "accepted",
        /// A member has returned them, and the participant answers again.
        Returned = "returned",
    }
}

/// The answers of a participant to an information request, as they were sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InformationSubmission, example = json!({
    "id": "01980a5c-4b1e-7d02-8c3a-9f0e1d2c3b4a",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "gate_id": "01980a53-77c4-7e02-8b1d-63a5f0c9d814",
    "participant_id": "01980a55-1d20-7be3-9f04-8a7c6b5d4e31",
    "revision": 1,
    "state": "sent",
    "answers": [
        {
            "field_id": "01980a5b-0a1b-7c2d-8e3f-405162738495",
            "label": "When did you found the company?",
            "type": "date",
            "value": "2019-05-20",
            "redacted": false,
        },
        {
            "field_id": "01980a5b-1b2c-7d3e-9f40-516273849506",
            "label": "Where do we send the money?",
            "type": "bank_details",
            "value": null,
            "redacted": true,
        },
    ],
    "sent_at": "2026-03-14T09:26:53.589Z",
    "accepted_at": null,
    "accepted_by": null,
    "return_reason": null,
}))]
pub struct InformationSubmissionView {
    /// The id of the submission.
    pub id: SubmissionId,
    /// The agreement.
    pub agreement_id: AgreementId,
    /// The information request.
    pub gate_id: GateId,
    /// The participant who answered.
    pub participant_id: ParticipantId,
    /// Counted from 1 for each participant and request.
    #[schema(minimum = 1)]
    pub revision: u32,
    /// Whether it waits for a review, or how that ended.
    pub state: SubmissionState,
    /// An entry for each question, in their order.
    pub answers: Vec<AnswerView>,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// When a member accepted it.
    #[schema(required = true)]
    pub accepted_at: Option<Timestamp>,
    /// The member who accepted it.
    #[schema(required = true)]
    pub accepted_by: Option<Actor>,
    /// Why a member returned it.
    #[schema(required = true)]
    pub return_reason: Option<Note>,
}

/// The answer to a question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InformationAnswer)]
pub struct AnswerView {
    /// The question's id, as in the gate's `fields`.
    pub field_id: FieldId,
    /// The question that was answered.
    pub label: Label,
    /// What an answer looks like.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// The answer. `null` if an optional question has none, or if it is redacted.
    #[schema(required = true)]
    pub value: Option<AnswerValue>,
    /// Whether there is an answer that the API does not show: bank details, or a text with what looks like an account or
    /// card number. Members see it in the app, bank details without the number.
    pub redacted: bool,
}

/// An answer, by the question's `type`: a file for `file`, an address for `address`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InformationAnswerValue)]
#[serde(untagged)]
pub enum AnswerValue {
    /// Of `boolean`.
    Boolean(bool),
    /// Of `text`, `long_text` and `choice`; of `number` as a decimal number such as `-1250.50`; of `date` as a day such as
    /// `2026-03-14`.
    Text(String),
    /// Of `multi_choice`: the chosen options.
    MultiChoice(Vec<String>),
    /// Of `file`.
    File(FileValue),
    /// Of `address`.
    Address(AddressValue),
}

/// An uploaded file. Its content is in the app only.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InformationFile, example = json!({
    "filename": "certificate-of-incorporation.pdf",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "size_bytes": 184_320,
}))]
pub struct FileValue {
    /// The name of the file, as it was uploaded.
    pub filename: Label,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// A postal address.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InformationAddress, example = json!({
    "line1": "12 Harbor Street",
    "line2": "Suite 400",
    "city": "Portland",
    "region": "ME",
    "postal_code": "04101",
    "country": "United States",
}))]
pub struct AddressValue {
    /// Street and number.
    pub line1: Label,
    /// Apartment, suite, care of.
    #[schema(required = true)]
    pub line2: Option<Label>,
    /// The city or town.
    pub city: Label,
    /// State, province or region.
    #[schema(required = true)]
    pub region: Option<Label>,
    /// ZIP or postal code.
    #[schema(required = true)]
    pub postal_code: Option<Label>,
    /// The country, as it was written.
    pub country: Label,
}

impl InformationSubmissions {
    /// The answers sent in an agreement.
    #[must_use]
    pub fn new(agreement: &Agreement, submissions: Vec<Submission>) -> Self {
        Self(submissions.into_iter().map(|submission| InformationSubmissionView::new(agreement, submission)).collect())
    }
}

impl InformationSubmissionView {
    fn new(agreement: &Agreement, submission: Submission) -> Self {
        let Submission { id, gate_id, participant_id, revision, mut answers, sent_at, verdict, .. } = submission;
        let questions = agreement.questions(gate_id).unwrap_or_default();
        let answers = questions.iter().map(|question| AnswerView::new(question, answers.remove(&question.id)));
        let (state, accepted, return_reason) = match verdict {
            Verdict::Sent => (SubmissionState::Sent, None, None),
            Verdict::Accepted { at, by } => (SubmissionState::Accepted, Some((at, by)), None),
            Verdict::Returned { reason, .. } => (SubmissionState::Returned, None, Some(reason)),
        };
        let (accepted_at, accepted_by) = accepted.unzip();
        Self {
            id,
            agreement_id: agreement.id(),
            gate_id,
            participant_id,
            revision,
            state,
            answers: answers.collect(),
            sent_at,
            accepted_at,
            accepted_by,
            return_reason,
        }
    }
}

impl AnswerView {
    fn new(question: &InformationField, answer: Option<Answer>) -> Self {
        let is_given = answer.is_some();
        let value = answer.and_then(AnswerValue::shown);
        Self {
            field_id: question.id,
            label: question.label.clone(),
            field_type: question.field_type,
            redacted: is_given && value.is_none(),
            value,
        }
    }
}

impl AnswerValue {
    fn shown(answer: Answer) -> Option<Self> {
        let Answer::Open(answer) = answer else { return None };
        if !answer.may_be_shown() {
            return None;
        }
        Some(match answer {
            OpenAnswer::Text(text) | OpenAnswer::Number(text) | OpenAnswer::Choice(text) => Self::Text(text),
            OpenAnswer::Date(day) => Self::Text(Day::to_string(&day)),
            OpenAnswer::Boolean(answer) => Self::Boolean(answer),
            OpenAnswer::MultiChoice(chosen) => Self::MultiChoice(chosen),
            OpenAnswer::File(AnswerFile { name, content, .. }) => {
                Self::File(FileValue { filename: name, sha256: content.sha256, size_bytes: content.size_bytes })
            }
            OpenAnswer::Address(PostalAddress { line1, line2, city, region, postal_code, country }) => {
                Self::Address(AddressValue { line1, line2, city, region, postal_code, country })
            }
        })
    }
}
