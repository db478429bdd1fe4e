//! Members accept participants' answers, or return them with a reason to be answered again.

use super::{ByMember, Member};
use crate::domain::actor::Actor;
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::information::{Submission, Verdict};
use crate::domain::proposal::Note;

/// A member's decision about answers.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Why answers can't be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotJudged {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// This member has already accepted them.
    Accepted(Actor),
    /// This member has already returned them, for this reason.
    Returned(Actor, Note),
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
