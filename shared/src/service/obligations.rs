//! Obligations: reading them, and what members and participants do about them. [`endings`](super::endings) ends them
//! with their agreement, and [`drafts::edit`](super::drafts::edit) edits promises.
//!
//! Decision: an act checks the version of its agreement in its transaction. So nobody acts on an obligation after its
//! agreement was cancelled, although the obligation itself follows later.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ObligationId, OccurrenceId};
use crate::domain::member::{self, Counting, Member, SecondMembers};
use crate::domain::note::Note;
use crate::domain::obligation::{Happening, Obligation, ObligationContext, Refused, Word};
use crate::domain::participant::obligations::{self as participant, NotActedOnObligation, ObligationOutcome};
use crate::domain::participant::receipt::{ObligationAct, Receipt, Repeatable};
use crate::domain::participant::{ActingParticipant, NotActed, Occasion};
use crate::domain::satisfaction::Done;
use crate::error::Error;
use crate::service::loaded_agreement::{AgreementWithContacts, AgreementWithFacts, participants_of};
use crate::service::participants::standing;
use crate::service::scope::{Plan, Scope};
use crate::service::second_members;
use crate::store::{Versioned, obligations as stored};
use crate::wire::page::{Order, Page};

pub use crate::store::obligations::ObligationQuery;

/// An obligation, with what its sentences need.
#[derive(Debug)]
pub struct ObligationInFull {
    /// The obligation; cancelled if its agreement was cancelled or has expired, recorded or not.
    pub obligation: Obligation,
    /// Its agreement.
    pub agreement: Agreement,
    /// The contacts of the agreement's participants.
    pub contacts: Vec<Contact>,
}

/// An obligation, with all that was said about it.
pub async fn get(scope: &Scope, id: ObligationId) -> Result<ObligationInFull, Error> {
    let obligation = found(scope, id).await?;
    let with_agreement = async {
        let agreement = agreement_of(scope, &obligation).await?;
        Ok::<_, Error>(AgreementWithContacts::load(scope, agreement).await?.into_parts())
    };
    let with_older = with_older(scope, Obligation::clone(&obligation));
    let ((agreement, contacts), obligation) = tokio::try_join!(with_agreement, with_older)?;
    Ok(ObligationInFull { obligation: obligation.as_told(&agreement).into_owned(), agreement, contacts })
}

/// The obligation with what was said about it before what its record keeps.
pub async fn with_older(scope: &Scope, obligation: Obligation) -> Result<Obligation, Error> {
    Ok(scope.store().with_older(obligation).await?)
}

/// An obligation as its page shows it to a member.
#[derive(Debug)]
pub struct ObligationReview {
    /// The obligation, with what its sentences need.
    pub in_full: ObligationInFull,
    /// Who counts as a second member for what another recorded.
    pub seconds: SecondMembers,
    /// Whether people may still act on it: neither it nor its agreement has ended.
    pub is_live: bool,
}

/// An obligation as its page shows it to a member.
pub async fn review(scope: &Scope, id: ObligationId) -> Result<ObligationReview, Error> {
    let (in_full, seconds) = tokio::try_join!(get(scope, id), second_members::load(scope))?;
    let is_live = is_live(scope, &in_full.obligation, &in_full.agreement);
    Ok(ObligationReview { in_full, seconds, is_live })
}

/// Whether people may still act on an obligation: neither it nor its agreement has ended.
#[must_use]
pub fn is_live(scope: &Scope, obligation: &Obligation, agreement: &Agreement) -> bool {
    let now = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
    obligation.cancellation().is_none() && matches!(now.lifecycle(), Lifecycle::Active | Lifecycle::Completed)
}

/// A page of obligations, with what their sentences need.
#[derive(Debug)]
pub struct ObligationPage {
    /// The obligations.
    pub page: Page<Obligation>,
    /// Their agreements.
    pub agreements: BTreeMap<AgreementId, Agreement>,
    /// The contacts of the agreements' participants.
    pub contacts: Vec<Contact>,
}

/// A page of the obligations that match a query.
pub async fn list(scope: &Scope, query: &ObligationQuery) -> Result<ObligationPage, Error> {
    let (page, agreements) = scope.store().list_obligations(query).await?;
    in_full(scope, page, agreements).await
}

/// The same for people, in an order. By due time: what is overdue, what is due next, then all for which nothing is due.
pub async fn list_for_people(scope: &Scope, order: Order, query: &ObligationQuery) -> Result<ObligationPage, Error> {
    let (page, agreements) = scope.store().obligations_for_people(order, query).await?;
    in_full(scope, page, agreements).await
}

async fn in_full(
    scope: &Scope,
    page: Page<Obligation>,
    agreements: Vec<Versioned<Agreement>>,
) -> Result<ObligationPage, Error> {
    let agreements = agreements.into_iter().map(Versioned::into_inner);
    let agreements: BTreeMap<_, _> = agreements.map(|agreement| (agreement.id(), agreement)).collect();
    let page = page.map(|obligation| match agreements.get(&obligation.agreement_id()) {
        Some(agreement) => obligation.as_told(agreement).into_owned(),
        None => obligation,
    });
    let contacts = scope.store().contacts(participants_of(agreements.values())).await?;
    let contacts = contacts.into_iter().map(Versioned::into_inner).collect();
    Ok(ObligationPage { page, agreements, contacts })
}

async fn found(scope: &Scope, id: ObligationId) -> Result<Versioned<Obligation>, Error> {
    scope.store().obligation(id).await?.ok_or_else(Error::not_found)
}

async fn agreement_of(scope: &Scope, obligation: &Obligation) -> Result<Versioned<Agreement>, Error> {
    let agreement = scope.store().agreement(obligation.agreement_id()).await?;
    agreement.ok_or_else(|| Error::Internal("an obligation without its agreement".to_owned()))
}

struct LoadedObligation {
    obligation: Versioned<Obligation>,
    loaded: AgreementWithFacts,
}

impl LoadedObligation {
    async fn load(scope: &Scope, id: ObligationId) -> Result<Self, Error> {
        let obligation = found(scope, id).await?;
        let agreement = agreement_of(scope, &obligation).await?;
        Ok(Self { loaded: AgreementWithFacts::of(agreement), obligation })
    }

    fn context(&self, scope: &Scope) -> ObligationContext<'_> {
        ObligationContext {
            obligation: &self.obligation,
            agreement: self.loaded.agreement(),
            facts: self.loaded.facts(),
            time_scale: scope.time_scale(),
            moment: scope.moment(),
        }
    }

    fn shown(&self) -> [Uuid; 2] {
        [self.obligation.id().uuid(), self.obligation.agreement_id().uuid()]
    }
}

/// What a member does about an obligation.
#[derive(Debug, Clone)]
pub enum MemberAct {
    /// Declares that a trigger happened.
    DeclareTrigger(Happening),
    /// Records the promisor's claim, as told to the member, that an occurrence is done.
    RecordSatisfaction(Done),
    /// Confirms such a claim. Nobody confirms their own, unless the organization has no other member.
    Confirm(OccurrenceId),
    /// Records that a standing promise was verified.
    Verify(OccurrenceId),
    /// Cancels the obligation, for a reason.
    Cancel(Note),
}

/// Does what a member's form asks for.
pub async fn act(
    scope: &Scope,
    by: &Member,
    id: ObligationId,
    doing: MemberAct,
) -> Result<Plan<Result<(), Refused>>, Error> {
    let found = LoadedObligation::load(scope, id).await?;
    let plan = |output| Plan::new(scope, output).showing(found.shown());
    let context = found.context(scope);
    let decided = match doing {
        MemberAct::DeclareTrigger(happened) => member::declare_trigger(by, context, happened),
        MemberAct::RecordSatisfaction(done) => member::record_satisfaction(by, context, done),
        MemberAct::Confirm(occurrence) => {
            let claimed_by = found.obligation.claim_of(occurrence).and_then(Word::member);
            let counting = second_members::load(scope).await?.counting(by.id(), claimed_by);
            member::confirm_satisfaction(by, context, occurrence, counting)
        }
        MemberAct::Verify(occurrence) => member::verify_standing(by, context, occurrence),
        MemberAct::Cancel(reason) => member::cancel_obligation(by, context, reason),
    };
    Ok(match decided {
        Ok(change) => {
            let changes = stored::act(scope.call(), found.loaded.agreement(), &found.obligation, &change)?;
            plan(Ok(())).change(changes).emit(change.events)
        }
        Err(refused) => plan(Err(refused)),
    })
}

/// Why a member can't record that an occurrence is done, with a file of so many bytes, if so. Asked before the file is
/// stored, and decided again when it is recorded.
pub async fn why_not_satisfied(
    scope: &Scope,
    id: ObligationId,
    done: &Done,
    file_bytes: u64,
) -> Result<Option<Refused>, Error> {
    let found = LoadedObligation::load(scope, id).await?;
    Ok(member::check_satisfaction(found.context(scope), done, file_bytes).err())
}

/// The same for a participant's form.
pub async fn why_not_satisfied_by_participant(
    scope: &Scope,
    by: &ActingParticipant,
    id: ObligationId,
    done: &Done,
    file_bytes: u64,
) -> Result<Option<NotActedOnObligation>, Error> {
    let (found, (by, receipts)) = tokio::try_join!(LoadedObligation::load(scope, id), standing(scope, by))?;
    if found.obligation.agreement_id() != by.agreement_id() {
        return Err(Error::not_found());
    }
    if !Repeatable::Obligation.has_room(&receipts) {
        return Ok(Some(NotActed::TooOften.into()));
    }
    Ok(participant::check_satisfaction(&by, found.context(scope), &receipts, done, file_bytes).err())
}

/// Does what a participant's form asks for, under the sentence above its button.
pub async fn act_as_participant(
    scope: &Scope,
    by: &ActingParticipant,
    occasion: Occasion,
    id: ObligationId,
    doing: ObligationAct,
    statement: String,
) -> Result<Plan<Result<(), NotActedOnObligation>>, Error> {
    let (found, (by, receipts)) = tokio::try_join!(LoadedObligation::load(scope, id), standing(scope, by))?;
    if found.obligation.agreement_id() != by.agreement_id() {
        return Err(Error::not_found());
    }
    let shown = [id.uuid(), by.agreement_id().uuid(), by.id().uuid()];
    let plan = |output| Plan::new(scope, output).showing(shown);
    if !Repeatable::Obligation.has_room(&receipts) {
        return Ok(plan(Err(NotActed::TooOften.into())));
    }
    let counting = counting_of_host(scope, &found.obligation, &occasion, &doing).await?;
    let decided = decide(&by, &receipts, found.context(scope), occasion, counting, &doing, statement);
    Ok(match decided {
        Ok(acted) => {
            let changes = stored::record_act(scope.call(), found.loaded.agreement(), &found.obligation, &acted)?;
            plan(Ok(())).change(changes).emit(acted.events)
        }
        Err(refused) => plan(Err(refused)),
    })
}

/// How a confirmation in a member's browser counts relative to that member's records. Reads nothing in other browsers.
async fn counting_of_host(
    scope: &Scope,
    obligation: &Obligation,
    occasion: &Occasion,
    doing: &ObligationAct,
) -> Result<Counting, Error> {
    let (Some(host), ObligationAct::Confirmed { occurrence_id }) = (&occasion.origin.in_person, doing) else {
        return Ok(Counting::Confirmed);
    };
    let claimed_by = obligation.claim_of(*occurrence_id).and_then(Word::member);
    Ok(second_members::load(scope).await?.counting(host.member_id, claimed_by))
}

fn decide(
    by: &ActingParticipant,
    receipts: &[Receipt],
    context: ObligationContext<'_>,
    occasion: Occasion,
    counting: Counting,
    doing: &ObligationAct,
    statement: String,
) -> ObligationOutcome {
    match *doing {
        ObligationAct::DeclaredTrigger { trigger_id: trigger, happened_on } => {
            let happened = Happening { trigger, on: happened_on };
            participant::declare_trigger(by, context, occasion, happened, statement)
        }
        ObligationAct::Satisfied { occurrence_id: occurrence, ref how } => {
            let done = Done { occurrence, how: how.clone() };
            participant::record_satisfaction(by, context, occasion, receipts, done, statement)
        }
        ObligationAct::Confirmed { occurrence_id } => {
            participant::confirm_satisfaction(by, context, occasion, counting, occurrence_id, statement)
        }
        ObligationAct::Verified { occurrence_id } => {
            participant::verify_standing(by, context, occasion, occurrence_id, statement)
        }
    }
}
