//! Files that participants uploaded for conditions, and members' reviews of them.

use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::file_review::FileReview;
use crate::domain::ids::{GateId, ReceiptId};
use crate::domain::member::{Judgment, Member, NotJudged, judge_file};
use crate::domain::note::Note;
use crate::domain::participant::ActingParticipant;
use crate::domain::participant::receipt::Receipt;
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::information::SentBy;
use crate::service::loaded_agreement::{AgreementWithContacts, AgreementWithFacts};
use crate::service::scope::{Plan, Scope};
use crate::store::file_reviews as stored;

/// What a member sees of a participant's files for a condition.
#[derive(Debug)]
pub struct FilesToReview {
    /// The agreement, as of now.
    pub agreement: Agreement,
    /// The participant's contact.
    pub contact: Contact,
    /// The receipts of the files, oldest first.
    pub uploads: Vec<Receipt>,
    /// The reviews so far, oldest first.
    pub reviews: Vec<FileReview>,
}

/// The files that a participant uploaded for a condition.
pub async fn to_review(scope: &Scope, files: SentBy) -> Result<FilesToReview, Error> {
    let agreement = async { found(scope, files.agreement).await };
    let (agreement, (uploads, reviews)) = tokio::try_join!(agreement, uploads_of(scope, files))?;
    let contact = agreement.participant(files.participant).ok_or_else(Error::not_found)?.contact_id;
    let rule = &agreement.gate(files.gate).ok_or_else(Error::not_found)?.rule;
    let is_asked = rule.requested_file().is_some() && rule.named(&agreement).contains(&files.participant);
    if !is_asked || !agreement.was_published() {
        return Err(Error::not_found());
    }
    let loaded = AgreementWithContacts::load(scope, agreement).await?;
    let contact = loaded.contacts().iter().find(|found| found.id == contact).cloned().ok_or_else(Error::not_found)?;
    Ok(FilesToReview { agreement: loaded.as_of(scope, scope.now()).into_owned(), contact, uploads, reviews })
}

/// Why a member returned a participant's latest files for a condition. None if nobody has.
pub async fn last_return(scope: &Scope, by: &ActingParticipant, gate: GateId) -> Result<Option<Note>, Error> {
    let reviews = scope.store().file_reviews_of(by.agreement_id(), gate, by.id()).await?;
    Ok(reviews.into_iter().last().and_then(|last| match last.judgment {
        Judgment::Return(reason) => Some(reason),
        Judgment::Accept => None,
    }))
}

async fn uploads_of(scope: &Scope, files: SentBy) -> Result<(Vec<Receipt>, Vec<FileReview>), Error> {
    let SentBy { agreement, gate, participant } = files;
    let store = scope.store();
    let (receipts, reviews) = tokio::try_join!(
        store.receipts_of(agreement, participant),
        store.file_reviews_of(agreement, gate, participant)
    )?;
    Ok((receipts.into_iter().filter(|receipt| receipt.is_upload_for(gate, participant)).collect(), reviews))
}

/// Accepts or returns the files up to the one that a form shows.
pub async fn judge(
    scope: &Scope,
    by: &Member,
    files: SentBy,
    shown: ReceiptId,
    judgment: Judgment,
) -> Result<Plan<Result<(), NotJudged>>, Error> {
    let SentBy { agreement: id, gate, participant } = files;
    // One after the other: what is uploaded after the agreement was read conflicts with its version.
    let loaded = AgreementWithFacts::of(found(scope, id).await?);
    let (uploads, reviews) = uploads_of(scope, files).await?;
    let shown = uploads.iter().find(|upload| upload.id == shown).ok_or_else(Error::not_found)?;
    let moment = loaded.act_moment(scope);
    let contact = loaded.agreement().participant(participant).map(|found| found.contact_id.uuid());
    let ids = [id.uuid(), participant.uuid(), gate.uuid()];
    let plan = |output| Plan::new(scope, output).showing(ids.into_iter().chain(contact));
    Ok(match judge_file(by, loaded.context(scope, moment), gate, &uploads, shown, &reviews, judgment) {
        Ok(judged) => {
            let changes = stored::record(scope.call(), loaded.agreement(), &judged)?;
            plan(Ok(())).decided_at(moment).change(changes).emit(judged.events)
        }
        Err(refused) => plan(Err(refused)),
    })
}
