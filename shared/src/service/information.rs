//! Information requests: what participants answer, and what members decide about it.

use std::collections::BTreeSet;

use crate::crypto::keyring::{Keyring, SealError};
use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::date_order::DateOrder;
use crate::domain::ids::{AgreementId, FieldId, GateId, ParticipantId, SubmissionId};
use crate::domain::information::typed::TypedAnswers;
use crate::domain::information::{Answer, Given, Submission, Verdict, draft_place, place};
use crate::domain::member::{Judgment, Member, NotJudged, judge_answers};
use crate::domain::note::Note;
use crate::domain::participant::{ActingParticipant, Answering, NotActed, Occasion, can_answer, send_answers};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::found;
use crate::service::loaded_agreement::{AgreementWithContacts, AgreementWithFacts};
use crate::service::participants::standing;
use crate::service::scope::{Plan, Scope};
use crate::store::Versioned;
use crate::store::information::{self as stored, AnswerDraft};
use crate::wire::fields::FieldErrors;

/// What a participant has written and sent for an information request.
#[derive(Debug)]
pub struct OwnAnswers {
    draft: Option<Versioned<AnswerDraft>>,
    place: String,
    /// What the participant sent, oldest first.
    pub submissions: Vec<Submission>,
}

impl OwnAnswers {
    /// The version of the draft, which a form names when it saves the next one; 0 without a draft.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.draft.as_ref().map_or(0, Versioned::version)
    }

    /// When the draft was saved.
    #[must_use]
    pub fn saved_at(&self) -> Option<Timestamp> {
        self.draft.as_ref().map(|draft| draft.saved_at)
    }

    /// Checks that a form was filled with the stored draft, and that its answers fit in a draft.
    pub fn check(&self, form: &AnswerForm) -> Result<(), NotActed> {
        if form.typed.reveal().len() > limits::ANSWERS_BYTES_MAX {
            return Err(NotActed::TooLong);
        }
        if self.version() == form.version { Ok(()) } else { Err(NotActed::OtherDraft) }
    }

    /// The draft in clear; empty without one.
    pub fn open(&self, keys: &Keyring) -> Result<TypedAnswers, SealError> {
        let Some(draft) = &self.draft else { return Ok(TypedAnswers::default()) };
        TypedAnswers::opened(&keys.open(&draft.sealed, &self.place)?).ok_or(SealError::Broken)
    }
}

/// What a participant has written and sent for an information request of the agreement of their session.
pub async fn own(scope: &Scope, by: &ActingParticipant, gate: GateId) -> Result<OwnAnswers, Error> {
    let (store, agreement) = (scope.store(), by.agreement_id());
    let draft = store.answer_draft(agreement, gate, by.id());
    let submissions = store.submissions_of(agreement, gate, by.id());
    let (draft, submissions) = tokio::try_join!(draft, submissions)?;
    Ok(OwnAnswers { draft, place: draft_place(by.org(), agreement, gate, by.id()), submissions })
}

/// Why a member returned a participant's latest answers to an information request. None if nobody has.
pub async fn last_return(scope: &Scope, by: &ActingParticipant, gate: GateId) -> Result<Option<Note>, Error> {
    let submissions = scope.store().submissions_of(by.agreement_id(), gate, by.id()).await?;
    Ok(submissions.into_iter().last().and_then(|last| match last.verdict {
        Verdict::Returned { reason, .. } => Some(reason),
        Verdict::Sent | Verdict::Accepted { .. } => None,
    }))
}

/// A submitted form of answers.
#[derive(Debug, Clone)]
pub struct AnswerForm {
    /// The information request.
    pub gate: GateId,
    /// The version of the draft that the form was filled with.
    pub version: u64,
    /// What was typed.
    pub typed: TypedAnswers,
    /// The order of its dates.
    pub dates: DateOrder,
}

struct AnswerContext {
    by: ActingParticipant,
    loaded: AgreementWithFacts,
    own: OwnAnswers,
}

impl AnswerContext {
    async fn load(scope: &Scope, by: &ActingParticipant, gate: GateId) -> Result<Self, Error> {
        let (agreement, (by, _), own) =
            tokio::try_join!(found(scope, by.agreement_id()), standing(scope, by), own(scope, by, gate))?;
        Ok(Self { by, loaded: AgreementWithFacts::of(agreement), own })
    }

    /// Checks that the participant may write answers now, and that the form was filled with the stored draft.
    fn check(&self, scope: &Scope, form: &AnswerForm) -> Result<(), NotActed> {
        let now = self.loaded.act_moment(scope);
        can_answer(&self.by, self.loaded.context(scope, now), form.gate)?;
        self.own.check(form)
    }

    fn draft(&self, scope: &Scope, keys: &Keyring, form: &AnswerForm) -> Result<AnswerDraft, SealError> {
        Ok(AnswerDraft { sealed: keys.seal(&form.typed.reveal(), &self.own.place)?, saved_at: scope.now() })
    }

    fn shown(&self, gate: GateId) -> [uuid::Uuid; 3] {
        [self.by.agreement_id().uuid(), self.by.id().uuid(), gate.uuid()]
    }
}

/// Saves a draft of answers, which only the participant sees.
pub async fn save_draft(
    scope: &Scope,
    by: &ActingParticipant,
    keys: &Keyring,
    form: &AnswerForm,
) -> Result<Plan<Result<(), NotActed>>, Error> {
    let context = AnswerContext::load(scope, by, form.gate).await?;
    let plan = |output| Plan::new(scope, output).showing(context.shown(form.gate));
    match context.check(scope, form) {
        Err(NotActed::OtherDraft) if context.own.open(keys).is_ok_and(|saved| saved == form.typed) => Ok(plan(Ok(()))),
        Err(refused) => Ok(plan(Err(refused))),
        Ok(()) => {
            let draft = context.draft(scope, keys, form)?;
            let changes = stored::save_draft(scope.call(), &context.by, form.gate, &draft, form.version)?;
            Ok(plan(Ok(())).change([changes]))
        }
    }
}

/// Why answers were not sent.
#[derive(Debug)]
pub enum NotSent {
    /// They can't be sent now.
    Refused(NotActed),
    /// They are incomplete or wrong. They were saved as a draft.
    Wrong(FieldErrors),
}

/// Sends answers, or saves them as a draft if they are incomplete or wrong.
pub async fn send(
    scope: &Scope,
    by: &ActingParticipant,
    keys: &Keyring,
    occasion: Occasion,
    form: &AnswerForm,
) -> Result<Plan<Result<(), NotSent>>, Error> {
    let context = AnswerContext::load(scope, by, form.gate).await?;
    let plan = |output| Plan::new(scope, output).showing(context.shown(form.gate));
    let refused = match context.check(scope, form) {
        Ok(()) => {
            let agreement = context.loaded.agreement();
            let draft = context.draft(scope, keys, form)?;
            let given = match form.typed.read(agreement.questions(form.gate).unwrap_or_default(), form.dates) {
                Ok(given) => given,
                Err(wrong) => {
                    let saved = stored::save_draft(scope.call(), &context.by, form.gate, &draft, form.version)?;
                    return Ok(plan(Err(NotSent::Wrong(wrong))).change([saved]).unfinished());
                }
            };
            let answering = answering(&context, keys, form.gate, given)?;
            let moment = context.loaded.act_moment(scope);
            match send_answers(&context.by, context.loaded.context(scope, moment), occasion, answering) {
                Ok(sent) => {
                    let changes = stored::send(scope.call(), agreement, &sent, &draft, form.version)?;
                    return Ok(plan(Ok(())).decided_at(moment).change(changes).emit(sent.acted.events));
                }
                Err(refused) => refused,
            }
        }
        Err(refused) => refused,
    };
    Ok(plan(Err(NotSent::Refused(refused))))
}

fn answering(
    context: &AnswerContext,
    keys: &Keyring,
    gate_id: GateId,
    given: impl IntoIterator<Item = (FieldId, Given)>,
) -> Result<Answering, SealError> {
    let place = |field| place(gate_id, context.by.id(), field);
    let before = context.own.submissions.last();
    let mut answering = Answering {
        gate_id,
        answers: std::collections::BTreeMap::new(),
        changed: BTreeSet::new(),
        revision_before: before.map_or(0, |before| before.revision),
    };
    for (field, given) in given {
        let as_it_opens = before.and_then(|before| before.sealed(field));
        let open = |sealed: &_| keys.open(as_it_opens.unwrap_or(sealed), &place(field)).ok();
        let is_same = |stored: &Answer| given.is(stored, open);
        if before.is_some_and(|before| !before.answers.get(&field).is_some_and(is_same)) {
            answering.changed.insert(field);
        }
        let answer = given.into_answer(|text| keys.seal(text, &place(field)))?;
        answering.answers.insert(field, answer);
    }
    let left_out = before.into_iter().flat_map(|before| before.answers.keys()).copied();
    let left_out: Vec<FieldId> = left_out.filter(|field| !answering.answers.contains_key(field)).collect();
    answering.changed.extend(left_out);
    Ok(answering)
}

/// An agreement and all answers sent in it, oldest first.
pub async fn of_agreement(scope: &Scope, id: AgreementId) -> Result<(Agreement, Vec<Submission>), Error> {
    let submissions = async { scope.store().submissions(id).await.map_err(Error::from) };
    let (agreement, submissions) = tokio::try_join!(found(scope, id), submissions)?;
    Ok((agreement.into_inner(), submissions))
}

/// Whose answers or files, and for which condition of an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBy {
    /// The agreement.
    pub agreement: AgreementId,
    /// The condition that asks for them.
    pub gate: GateId,
    /// The participant.
    pub participant: ParticipantId,
}

/// What a member reads of a participant's answers to an information request.
#[derive(Debug)]
pub struct AnswersToRead {
    /// The agreement, as of now.
    pub agreement: Agreement,
    /// The participant's contact.
    pub contact: Contact,
    /// What the participant sent, oldest first.
    pub submissions: Vec<Submission>,
}

/// What a member reads of a participant's answers to an information request.
pub async fn to_read(scope: &Scope, answers: SentBy) -> Result<AnswersToRead, Error> {
    let SentBy { agreement: id, gate, participant } = answers;
    let submissions = async { scope.store().submissions_of(id, gate, participant).await.map_err(Error::from) };
    let (agreement, submissions) = tokio::try_join!(found(scope, id), submissions)?;
    let contact = agreement.participant(participant).ok_or_else(Error::not_found)?.contact_id;
    let is_asked = agreement.gate(gate).is_some_and(|gate| gate.rule.named(&agreement).contains(&participant));
    if !is_asked || agreement.questions(gate).is_none() || !agreement.was_published() {
        return Err(Error::not_found());
    }
    let loaded = AgreementWithContacts::load(scope, agreement).await?;
    let contact = loaded.contacts().iter().find(|found| found.id == contact).cloned().ok_or_else(Error::not_found)?;
    Ok(AnswersToRead { agreement: loaded.as_of(scope, scope.now()).into_owned(), contact, submissions })
}

/// Accepts or returns the answers that a form shows.
pub async fn judge(
    scope: &Scope,
    by: &Member,
    answers: SentBy,
    shown: SubmissionId,
    judgment: Judgment,
) -> Result<Plan<Result<(), NotJudged>>, Error> {
    let SentBy { agreement: id, gate, participant } = answers;
    // One after the other: what is decided after the agreement was read conflicts with its version.
    let loaded = AgreementWithFacts::of(found(scope, id).await?);
    let submissions = scope.store().submissions_of(id, gate, participant).await?;
    let submission = submissions.iter().find(|submission| submission.id == shown).ok_or_else(Error::not_found)?;
    let before = loaded.agreement();
    let moment = loaded.act_moment(scope);
    let contact = before.participant(participant).map(|found| found.contact_id.uuid());
    let ids = [id.uuid(), participant.uuid(), gate.uuid()];
    let plan = |output| Plan::new(scope, output).showing(ids.into_iter().chain(contact));
    Ok(match judge_answers(by, loaded.context(scope, moment), submission, judgment) {
        Ok(judged) => {
            let changes = stored::judge(scope.call(), before, &judged)?;
            plan(Ok(())).decided_at(moment).change(changes).emit(judged.events)
        }
        Err(refused) => plan(Err(refused)),
    })
}
