//! Members accept participants' answers and files, or return them with a reason to be sent again.

use serde::{Deserialize, Serialize};

use super::{ByMember, Member};
use crate::domain::actor::Actor;
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::file_review::FileReview;
use crate::domain::ids::GateId;
use crate::domain::information::{Submission, Verdict};
use crate::domain::note::Note;
use crate::domain::participant::receipt::Receipt;

/// A member's decision about answers or files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgment {
    /// Accepts them.
    Accept,
    /// Returns them, for this reason.
    Return(Note),
}

/// Answers with a member's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The answers.
    pub submission: Submission,
    /// The agreement.
    pub agreement: ByMember<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// A review of a participant's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedFile {
    /// The review.
    pub review: FileReview,
    /// The agreement.
    pub agreement: ByMember<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Why answers or files can't be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotJudged {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// This member has already accepted them.
    Accepted(Actor),
    /// This member has already returned them, for this reason.
    Returned(Actor, Note),
    /// The participant has uploaded another file since.
    OtherFile,
}

/// Decides about a participant's answers. Only accepting the latest ones meets the request (specification, "Rules").
pub fn judge_answers(
    by: &Member,
    context: AgreementContext<'_>,
    submission: &Submission,
    judgment: Judgment,
) -> Result<Judged, NotJudged> {
    let now = context.moment.at();
    match &submission.verdict {
        Verdict::Sent => {}
        Verdict::Accepted { by, .. } => return Err(NotJudged::Accepted(by.clone())),
        Verdict::Returned { by, reason, .. } => return Err(NotJudged::Returned(by.clone(), reason.clone())),
    }
    context.active().map_err(NotJudged::NotActive)?;
    let part = (submission.gate_id, submission.participant_id);
    // This call's clock may be behind the call that sent the answers.
    let (at, actor) = (now.max(submission.sent_at), by.actor());
    let is_accepted = judgment == Judgment::Accept;
    // The reason is part of the response with all answers.
    let more_bytes = match &judgment {
        Judgment::Accept => 0,
        Judgment::Return(reason) => serde_json::json!(reason).to_string().len(),
    };
    let verdict = match judgment {
        Judgment::Accept => Verdict::Accepted { at, by: actor },
        Judgment::Return(reason) => Verdict::Returned { at, by: actor, reason },
    };
    let after = context.recorded(|facts| {
        facts.answered.remove(&part);
        facts.answer_bytes += more_bytes;
        if is_accepted {
            facts.accepted.insert(part);
        }
    });
    let events = after.completion().into_iter().collect();
    let submission = Submission { verdict, ..submission.clone() };
    Ok(Judged { submission, agreement: ByMember::new(after, by, context.moment), events })
}

/// Decides about the files that a participant uploaded for a condition that asks for a review. `uploads` are their
/// receipts, oldest first, `shown` is the newest that the member saw, and `earlier` are the reviews so far.
pub fn judge_file(
    by: &Member,
    context: AgreementContext<'_>,
    gate_id: GateId,
    uploads: &[Receipt],
    shown: &Receipt,
    earlier: &[FileReview],
    judgment: Judgment,
) -> Result<JudgedFile, NotJudged> {
    if let Some(review) = earlier.iter().find(|review| review.receipt_id == shown.id) {
        let by = review.reviewed_by.clone();
        return Err(match &review.judgment {
            Judgment::Accept => NotJudged::Accepted(by),
            Judgment::Return(reason) => NotJudged::Returned(by, reason.clone()),
        });
    }
    context.active().map_err(NotJudged::NotActive)?;
    let part = (gate_id, shown.participant_id);
    if uploads.last().is_none_or(|newest| newest.id != shown.id) || !context.facts.answered.contains_key(&part) {
        return Err(NotJudged::OtherFile);
    }
    // This call's clock may be behind the call that uploaded it.
    let reviewed_at = context.moment.at().max(shown.at);
    let after = context.recorded(|facts| {
        facts.answered.remove(&part);
        if judgment == Judgment::Accept {
            facts.accepted.insert(part);
        }
    });
    let events = after.completion().into_iter().collect();
    let (receipt_id, participant_id) = (shown.id, shown.participant_id);
    let review = FileReview { receipt_id, gate_id, participant_id, judgment, reviewed_by: by.actor(), reviewed_at };
    Ok(JudgedFile { review, agreement: ByMember::new(after, by, context.moment), events })
}
