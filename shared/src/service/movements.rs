//! Movements: what is shown of them, and what members do about them. What the parties of a payment do on their own
//! pages is in [`own_movements`](super::own_movements), the payments of drafts in [`payments`](super::payments).
//!
//! Decision: an act reads the movement first, then its agreement and what else it needs. The transaction writes both,
//! so an act that was decided on records of two moments conflicts and is decided again.

mod instructions;

use std::collections::{BTreeSet, HashMap};

use crate::crypto::keyring::Keyring;
use crate::domain::agreement::Agreement;
use crate::domain::agreement::context::AgreementContext;
use crate::domain::bank_account::AccountKeys;
use crate::domain::ids::{AgreementId, EvidenceId, MovementId, StageId};
use crate::domain::member::movements::{self as acts, EvidenceChange, MovementChange};
use crate::domain::member::{Counting, Member};
use crate::domain::moment::Moment;
use crate::domain::movement::claim::NewClaim;
use crate::domain::movement::evidence::{Evidence, EvidenceKey, NewEvidence, Sided};
use crate::domain::movement::evidence_account::{EvidenceAccount, SpokenAccount};
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::movement::state::ExceptionReason;
use crate::domain::movement::{Arrivals, Movement, NotMoved, Resolution};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::agreements::found as found_agreement;
use crate::service::scope::{Plan, Scope};
use crate::service::{own_accounts, second_members};
use crate::store::Versioned;
use crate::store::movements::{self as stored, LoadedMovement};
use crate::wire::page::Page;

pub use instructions::{
    InstructionsToVerify, TypedVerification, enter_instructions, instructed_accounts, instructions_of_answer,
    verify_instructions,
};

pub use crate::store::movements::{EvidenceHolder, MovementQuery};

/// A movement as responses show it.
#[derive(Debug)]
pub struct MovementInFull {
    /// The movement; cancelled if its agreement was cancelled or has expired, recorded or not.
    pub movement: Movement,
    /// The step of its agreement that waits for it, if a condition names it.
    pub stage_id: Option<StageId>,
    /// When it is due: the end of the day, in the organization's zone.
    pub due_at: Option<Timestamp>,
}

/// A movement.
pub async fn get(scope: &Scope, id: MovementId) -> Result<MovementInFull, Error> {
    let movement = found(scope, id).await?.into_inner();
    in_full(scope, vec![movement]).await?.pop().ok_or_else(Error::not_found)
}

/// A page of the movements that match a query.
pub async fn list(scope: &Scope, query: &MovementQuery) -> Result<Page<MovementInFull>, Error> {
    let Page { data, pagination } = scope.store().list_movements(query).await?;
    Ok(Page { data: in_full(scope, data).await?, pagination })
}

/// Movements with their steps and due times. Reads the organization only for a movement with a day.
async fn in_full(scope: &Scope, movements: Vec<Movement>) -> Result<Vec<MovementInFull>, Error> {
    let agreements: BTreeSet<AgreementId> = movements.iter().map(Movement::agreement_id).collect();
    let agreements = async { scope.store().agreements(agreements).await.map_err(Error::from) };
    let has_day = movements.iter().any(|movement| movement.terms().due_on.is_some());
    let zone = async { Ok(if has_day { Some(scope.store().organization().await?.time_zone) } else { None }) };
    let (agreements, zone) = tokio::try_join!(agreements, zone)?;
    let agreements: HashMap<AgreementId, Versioned<Agreement>> =
        agreements.into_iter().map(|agreement| (agreement.id(), agreement)).collect();
    let show = |movement: Movement| {
        let agreement = agreements.get(&movement.agreement_id());
        MovementInFull {
            stage_id: agreement.and_then(|agreement| agreement.stage_of_movement(movement.id())).map(|stage| stage.id),
            due_at: zone.as_ref().zip(movement.terms().due_on).map(|(zone, day)| zone.end_of(day)),
            movement: agreement.map_or_else(|| movement.clone(), |agreement| movement.as_told(agreement).into_owned()),
        }
    };
    Ok(movements.into_iter().map(show).collect())
}

pub(super) async fn found(scope: &Scope, id: MovementId) -> Result<Versioned<Movement>, Error> {
    scope.store().movement(id).await?.ok_or_else(Error::not_found)
}

/// A movement with its agreement as of now, and all evidence ever filed for it, oldest first.
pub async fn record(scope: &Scope, id: MovementId) -> Result<(Movement, Agreement, Vec<Evidence>), Error> {
    let Records { agreement, movement, .. } = Records::load(scope, id).await?;
    let evidence = scope.store().evidence_of(id).await?;
    let now = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now()).into_owned();
    Ok((movement.as_told(&now).into_owned(), now, evidence))
}

pub(super) struct Records {
    pub agreement: Versioned<Agreement>,
    pub movement: Versioned<Movement>,
    pub moment: Moment,
}

impl Records {
    pub(super) async fn load(scope: &Scope, id: MovementId) -> Result<Self, Error> {
        let movement = found(scope, id).await?;
        Self::of(scope, movement).await
    }

    pub(super) async fn of(scope: &Scope, movement: Versioned<Movement>) -> Result<Self, Error> {
        let agreement = found_agreement(scope, movement.agreement_id()).await?;
        let moment = scope.moment_after(agreement.updated_at);
        Ok(Self { agreement, movement, moment })
    }

    pub(super) fn context(&self, scope: &Scope) -> AgreementContext<'_> {
        let (agreement, facts) = (&*self.agreement, self.agreement.facts());
        AgreementContext { agreement, facts, time_scale: scope.time_scale(), moment: self.moment }
    }

    pub(super) fn read(&self) -> LoadedMovement<'_> {
        LoadedMovement { agreement: &self.agreement, movement: &self.movement }
    }

    fn plan<T>(&self, scope: &Scope, output: T) -> Plan<T> {
        let shown = [self.agreement.id().uuid(), self.movement.id().uuid()];
        Plan::new(scope, output).decided_at(self.moment).showing(shown)
    }
}

/// What a member does about a movement that needs nothing but the movement and its agreement.
#[derive(Debug, Clone)]
pub enum MovementAct {
    /// Authorizes it.
    Authorize,
    /// Releases the revision of instructions that the page showed.
    ReleaseInstructions(u32),
    /// Records what the sender claims.
    RecordClaim(NewClaim),
    /// Asks for proof.
    AskForProof,
    /// Flags an exception.
    Flag(ExceptionReason, Option<SafeNote>),
    /// Records that the money came back.
    RecordReturn(SafeNote),
    /// Cancels it.
    Cancel(SafeNote),
}

/// Does what a member's form asks for.
pub async fn act(
    scope: &Scope,
    by: &Member,
    id: MovementId,
    act: MovementAct,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let records = Records::load(scope, id).await?;
    let counting = match act {
        MovementAct::ReleaseInstructions(_) => second_members::load(scope).await?.counting(by.id(), None),
        _ => Counting::Confirmed,
    };
    Ok(match decide(by, records.context(scope), &records.movement, act, counting) {
        Ok(change) => {
            let changes = stored::act(scope.call(), records.read(), &change)?;
            records.plan(scope, Ok(())).change(changes).emit(change.events)
        }
        Err(refused) => records.plan(scope, Err(refused)),
    })
}

fn decide(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    act: MovementAct,
    counting: Counting,
) -> Result<MovementChange, NotMoved> {
    match act {
        MovementAct::Authorize => acts::authorize(by, context, movement),
        MovementAct::ReleaseInstructions(revision) => {
            acts::release_instructions(by, context, movement, revision, counting)
        }
        MovementAct::RecordClaim(claim) => acts::record_claim(by, context, movement, claim),
        MovementAct::AskForProof => acts::ask_for_proof(by, context, movement),
        MovementAct::Flag(reason, note) => acts::flag_exception(by, context, movement, reason, note),
        MovementAct::RecordReturn(reason) => acts::record_return(by, context, movement, reason),
        MovementAct::Cancel(reason) => acts::cancel_movement(by, context, movement, reason),
    }
}

/// Resolves an exception.
pub async fn resolve(
    scope: &Scope,
    by: &Member,
    id: MovementId,
    resolution: Resolution,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let records = Records::load(scope, id).await?;
    let movement = &records.movement;
    // After the movement, whose version guards it.
    let evidence = scope.store().evidence_of(id).await?;
    Ok(match acts::resolve_exception(by, records.context(scope), movement, resolution, &evidence) {
        Ok(resolved) => {
            let changes = stored::resolve(scope.call(), records.read(), &resolved)?;
            records.plan(scope, Ok(())).change(changes).emit(resolved.change.events)
        }
        Err(refused) => records.plan(scope, Err(refused)),
    })
}

/// Why evidence was not filed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFiled {
    /// The rules refuse it.
    Refused(NotMoved),
    /// The same document or reference counts for another movement of the organization.
    Elsewhere(EvidenceHolder),
}

async fn holder_elsewhere(
    scope: &Scope,
    own: MovementId,
    keys: &[EvidenceKey],
) -> Result<Option<EvidenceHolder>, Error> {
    let holders = scope.store().evidence_holders(keys).await?;
    Ok(holders.into_iter().find(|holder| holder.movement_id != own))
}

/// Files evidence.
pub async fn file_evidence(
    scope: &Scope,
    by: &Member,
    keys: &Keyring,
    id: MovementId,
    new: NewEvidence,
) -> Result<Plan<Result<(), NotFiled>>, Error> {
    let records = Records::load(scope, id).await?;
    filed(scope, by, keys, &records, new, acts::file_evidence).await
}

/// Files a statement's entry, a part of a form that gives its evidence the same id each time. `resolves`: it first
/// resolves the exception of a movement that did not arrive, in the same act.
pub async fn file_entry(
    scope: &Scope,
    by: &Member,
    keys: &Keyring,
    id: MovementId,
    new: NewEvidence,
    resolves: bool,
) -> Result<Plan<Result<(), NotFiled>>, Error> {
    let records = Records::load(scope, id).await?;
    // After the movement, whose version guards it.
    if scope.store().evidence(id, new.id()).await?.is_some() {
        return Ok(records.plan(scope, Ok(())).showing([new.id().uuid()]));
    }
    let act: Filing = if resolves { acts::resolve_and_file } else { acts::file_evidence };
    filed(scope, by, keys, &records, new, act).await
}

type Filing = fn(&Member, AgreementContext<'_>, &Movement, NewEvidence) -> Result<EvidenceChange, NotMoved>;

async fn filed(
    scope: &Scope,
    by: &Member,
    keys: &Keyring,
    records: &Records,
    new: NewEvidence,
    act: Filing,
) -> Result<Plan<Result<(), NotFiled>>, Error> {
    let (id, evidence_id) = (records.movement.id(), new.id());
    let plan = |output| records.plan(scope, output).showing([evidence_id.uuid()]);
    let new = match compared(scope, keys, &records.movement, new).await? {
        Ok(new) => new,
        Err(refused) => return Ok(plan(Err(NotFiled::Refused(refused)))),
    };
    let filed = match act(by, records.context(scope), &records.movement, new) {
        Ok(filed) => filed,
        Err(refused) => return Ok(plan(Err(NotFiled::Refused(refused)))),
    };
    if let Some(holder) = holder_elsewhere(scope, id, &filed.keys.claimed).await? {
        return Ok(plan(Err(NotFiled::Elsewhere(holder))));
    }
    let changes = stored::file(scope.call(), records.read(), &filed)?;
    Ok(plan(Ok(())).change(changes).emit(filed.change.events))
}

async fn compared(
    scope: &Scope,
    keys: &Keyring,
    movement: &Movement,
    new: NewEvidence,
) -> Result<Result<NewEvidence, NotMoved>, Error> {
    let Some(spoken) = new.spoken_account().cloned() else { return Ok(Ok(new)) };
    Ok(compared_account(scope, keys, movement, spoken).await?.map(|account| new.with_account(account)))
}

/// An account that evidence names, compared with what a movement's released instructions name. Refuses another account
/// without a reason why it counts.
pub async fn compared_account(
    scope: &Scope,
    keys: &Keyring,
    movement: &Movement,
    spoken: SpokenAccount,
) -> Result<Result<EvidenceAccount, NotMoved>, Error> {
    let (instructed, own) = match instructed_accounts(scope, keys, movement).await? {
        Some(instructed) => (Some(instructed), Vec::new()),
        None => (None, own_accounts::counted(scope).await?),
    };
    Ok(spoken.compared(&AccountKeys::new(keys, scope.org()), instructed.as_deref(), &own))
}

/// What a member decides about evidence.
#[derive(Debug, Clone)]
pub enum EvidenceDecision {
    /// Accepts it: what it says arrived counts.
    Accept(Arrivals),
    /// Rejects it.
    Reject(SafeNote),
    /// Withdraws it.
    Withdraw(SafeNote),
}

/// Accepts, rejects or withdraws evidence.
pub async fn judge_evidence(
    scope: &Scope,
    by: &Member,
    ids: (MovementId, EvidenceId),
    decision: EvidenceDecision,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let (id, evidence) = ids;
    let (records, found) = to_judge(scope, id, evidence, matches!(decision, EvidenceDecision::Accept(_))).await?;
    judged(scope, by, &records, &found, evidence, decision)
}

/// Why evidence was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAccepted {
    /// The rules refuse it.
    Refused(NotMoved),
    /// Other evidence was accepted or withdrawn after the page was shown, so accepting would mean something else.
    Changed,
}

/// Accepts evidence. `shown` is the accepted sum on the page, in minor units; `arrivals`, whether this one is separate.
pub async fn accept_evidence(
    scope: &Scope,
    by: &Member,
    ids: (MovementId, EvidenceId),
    shown: i64,
    arrivals: Arrivals,
) -> Result<Plan<Result<(), NotAccepted>>, Error> {
    let (id, accepted) = ids;
    let (records, found) = to_judge(scope, id, accepted, true).await?;
    let movement = records.movement.as_told(&records.agreement);
    let is_shown = movement.receipt().map_or(0, |receipt| receipt.received_minor) == shown;
    let is_undecided = found.iter().any(|evidence| evidence.id() == accepted && evidence.is_undecided());
    let is_open = is_undecided && movement.takes_acceptance();
    let plan = judged(scope, by, &records, &found, accepted, EvidenceDecision::Accept(arrivals))?;
    if is_open && !is_shown {
        return Ok(records.plan(scope, Err(NotAccepted::Changed)));
    }
    let output = (*plan.output()).map_err(NotAccepted::Refused);
    Ok(plan.with_output(output))
}

/// A movement, all its evidence, and what other movements accepted of perhaps the same arrival as the accepted piece.
async fn to_judge(
    scope: &Scope,
    id: MovementId,
    evidence: EvidenceId,
    accepts: bool,
) -> Result<(Records, Vec<Evidence>), Error> {
    let records = Records::load(scope, id).await?;
    // After the movement, whose version guards it.
    let mut found = scope.store().evidence_of(id).await?;
    let judged = found.iter().find(|one| one.id() == evidence).ok_or_else(Error::not_found)?;
    if accepts && judged.is_undecided() {
        found.extend(scope.store().accepted_elsewhere(judged).await?);
    }
    Ok((records, found))
}

/// Evidence that was accepted for another movement and may be of the same arrival.
#[derive(Debug, Clone)]
pub struct AcceptedElsewhere {
    /// The evidence.
    pub evidence: Evidence,
    /// Its movement.
    pub movement: Movement,
}

/// What other movements accepted of perhaps the same arrival, oldest first. Empty if the evidence is decided.
pub async fn accepted_elsewhere(
    scope: &Scope,
    movement: MovementId,
    evidence: EvidenceId,
) -> Result<Vec<AcceptedElsewhere>, Error> {
    let judged = scope.store().evidence(movement, evidence).await?;
    let Some(judged) = judged.filter(Evidence::is_undecided) else { return Ok(Vec::new()) };
    let found = scope.store().accepted_elsewhere(&judged).await?;
    let ids: BTreeSet<MovementId> = found.iter().map(Evidence::movement_id).collect();
    let movements: HashMap<MovementId, Versioned<Movement>> =
        scope.store().movements(ids).await?.into_iter().map(|movement| (movement.id(), movement)).collect();
    let with_movement = |evidence: Evidence| {
        let movement = (**movements.get(&evidence.movement_id())?).clone();
        Some(AcceptedElsewhere { evidence, movement })
    };
    Ok(found.into_iter().filter_map(with_movement).collect())
}

fn judged(
    scope: &Scope,
    by: &Member,
    records: &Records,
    found: &[Evidence],
    id: EvidenceId,
    decision: EvidenceDecision,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let plan = |output| records.plan(scope, output).showing([id.uuid()]);
    let evidence = found.iter().find(|one| one.id() == id).ok_or_else(Error::not_found)?;
    Ok(match decide_evidence(by, records.context(scope), &records.movement, evidence, found, decision) {
        Ok(judged) => {
            let changes = stored::judge(scope.call(), records.read(), &judged)?;
            plan(Ok(())).change(changes).emit(judged.change.events)
        }
        Err(refused) => plan(Err(refused)),
    })
}

fn decide_evidence(
    by: &Member,
    context: AgreementContext<'_>,
    movement: &Movement,
    evidence: &Evidence,
    all: &[Evidence],
    decision: EvidenceDecision,
) -> Result<EvidenceChange, NotMoved> {
    match decision {
        EvidenceDecision::Accept(arrivals) => match evidence.clone().split() {
            Sided::Receiver(evidence) => acts::accept_evidence(by, context, movement, evidence, all, arrivals),
            Sided::Sender(_) => Err(NotMoved::SendersSide),
        },
        EvidenceDecision::Reject(reason) => acts::reject_evidence(by, context, movement, evidence, reason),
        EvidenceDecision::Withdraw(reason) => acts::withdraw_evidence(by, context, movement, evidence, reason),
    }
}

/// Evidence of a movement, for its page and its file.
pub async fn evidence(scope: &Scope, movement: MovementId, id: EvidenceId) -> Result<Evidence, Error> {
    scope.store().evidence(movement, id).await?.ok_or_else(Error::not_found)
}
