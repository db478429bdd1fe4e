//! Proposals: creating, reviewing, deciding, and expiry.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::domain::agreement::blockers::Blocker;
use crate::domain::agreement::edit::Seen;
use crate::domain::agreement::warnings::{self, Warning, WarningKind};
use crate::domain::agreement::{Agreement, Label, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::event::{EventKind, ProposalData};
use crate::domain::funding::FundingItem;
use crate::domain::ids::{AgreementId, ProposalId};
use crate::domain::member::{self, Changed, DecisionContext, Member, Outcome, Refusal};
use crate::domain::moment::Moment;
use crate::domain::movement::Movement;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::note::Note;
use crate::domain::proposal::{
    self, Decision, NewProposal, Proposal, ProposalAction, ProposalSnapshot, ProposalState, SnapshotPayment,
};
use crate::domain::time::Timestamp;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::limits;
use crate::service::agreements as agreements_service;
use crate::service::due::Settlement;
use crate::service::endings;
use crate::service::loaded_agreement::{
    AgreementWithContacts, LoadedAgreement, participants_of, payments_to_cancel, zone_of_promises,
};
use crate::service::scope::{Dependent, Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::change::Changes;
use crate::store::due::DueEntry;
use crate::store::{Versioned, agreements, proposals as stored, workspaces};
use crate::text;
use crate::wire::page::{Order, Page};

pub use crate::service::shown::Shown;
pub use crate::store::proposals::{ProposalFilter, ProposalQuery};

/// Proposes a protected effect. Settles an expired proposal whose expiry isn't recorded yet in the same transaction.
/// Errors at `agreement_id`: `wrong_state`, `proposal_pending`, or an entry per blocker.
pub async fn create(by: &impl Writer, new: NewProposal) -> Result<Plan<Proposal>, Error> {
    let scope = by.scope();
    let unknown = || Error::unknown_reference("agreement_id", "agreement");
    let agreement = scope.store().agreement(new.agreement_id).await?.ok_or_else(unknown)?;
    let claim_holder = scope.store().claim_holder(new.agreement_id, new.action).await?;
    let now = scope.now();
    let (loaded, blockers, payments) = match new.action {
        ProposalAction::PublishAgreement => {
            let loaded = LoadedAgreement::load(scope, agreement).await?;
            let blockers = loaded.blockers(now);
            let payments = Some(snapshot_payments(loaded.payments()));
            (loaded.into_parts().0, blockers, payments)
        }
        ProposalAction::CancelAgreement => (AgreementWithContacts::load(scope, agreement).await?, Vec::new(), None),
    };
    let current = loaded.as_of(scope, now);
    let expires_at = scope.time_scale().proposal_expiry(now);
    let made = proposal::propose(
        new,
        &current,
        loaded.contacts(),
        &blockers,
        scope.actor().clone(),
        scope.moment(),
        expires_at,
    )
    .map_err(Error::Invalid)?;
    let made = match payments {
        Some(payments) => made.with_payments(payments),
        None => made,
    };

    let mut changes = vec![agreements::check(scope.call(), loaded.agreement())];
    let mut events = Vec::new();
    let expired = proposal::take_over_claim(claim_holder.as_deref(), scope.moment()).map_err(Error::Invalid)?;
    if let (Some(before), Some(expired)) = (&claim_holder, &expired) {
        // The clock hasn't settled the expired proposal: it is settled here, and the new proposal takes over its claim.
        events.push(EventKind::ProposalExpired(ProposalData::from(&**expired)));
        changes.push(stored::expire(scope.call(), before, expired, true)?);
    }
    changes.push(stored::create(scope.call(), &made)?);
    let made = made.into_proposal();
    events.push(EventKind::ProposalCreated(ProposalData::from(&made)));
    let id = made.id().uuid();
    Ok(Plan::new(scope, made).change(changes).emit(events).showing([id]))
}

fn snapshot_payments(payments: &[Movement]) -> Vec<SnapshotPayment> {
    let begins = |purpose: &SafeLine| {
        let begins: String = purpose.as_str().chars().take(limits::PROPOSED_PURPOSE_CHARS_MAX).collect();
        Label::parse(&begins).ok()
    };
    let snapshot = |payment: &Movement| SnapshotPayment {
        id: payment.id(),
        purpose: payment.terms().purpose.as_ref().and_then(begins),
        money: payment.terms().money,
        fingerprint: Seen::of_payment(payment.terms()).as_str().to_owned(),
    };
    payments.iter().map(snapshot).collect()
}

#[derive(Debug)]
struct LoadedProposal {
    proposal: Versioned<Proposal>,
    loaded: LoadedAgreement,
    moment: Moment,
}

impl LoadedProposal {
    /// With the payments that a page of a cancellation shows, read concurrently.
    async fn load_for_page(scope: &Scope, proposal: Versioned<Proposal>) -> Result<(Self, Vec<Movement>), Error> {
        let agreement = scope.store().agreement(proposal.agreement_id).await?;
        let agreement = agreement.ok_or_else(|| Error::Internal("a proposal without its agreement".to_owned()))?;
        let moment = scope.moment_after(agreement.updated_at);
        let current = Agreement::clone(&agreement);
        let payments = payments_to_cancel(scope, &current, proposal.action);
        let (loaded, payments) = tokio::try_join!(LoadedAgreement::load(scope, agreement), payments)?;
        Ok((Self { proposal, loaded, moment }, payments))
    }

    async fn load(scope: &Scope, proposal: Versioned<Proposal>) -> Result<Self, Error> {
        let agreement = scope.store().agreement(proposal.agreement_id).await?;
        let agreement = agreement.ok_or_else(|| Error::Internal("a proposal without its agreement".to_owned()))?;
        // Each attempt at a decision loads again, and the proposal may have expired by then.
        let moment = scope.moment_after(agreement.updated_at);
        let loaded = LoadedAgreement::load(scope, agreement).await?;
        Ok(Self { proposal, loaded, moment })
    }
}

async fn found(scope: &Scope, id: ProposalId) -> Result<Versioned<Proposal>, Error> {
    scope.store().proposal(id).await?.ok_or_else(Error::not_found)
}

/// A proposal.
pub async fn get(scope: &Scope, id: ProposalId) -> Result<Proposal, Error> {
    found(scope, id).await.map(Versioned::into_inner)
}

/// A page of the proposals that match a query, in their states now.
pub async fn list(scope: &Scope, order: Order, query: &ProposalQuery) -> Result<Page<Proposal>, Error> {
    Ok(scope.store().list_proposals(order, query, &ProposalFilter::default(), scope.now()).await?)
}

/// A page of the proposals that match a query and a filter.
pub async fn list_filtered(
    scope: &Scope,
    order: Order,
    query: &ProposalQuery,
    filter: &ProposalFilter,
) -> Result<Page<Proposal>, Error> {
    Ok(scope.store().list_proposals(order, query, filter, scope.now()).await?)
}

/// A proposal as its page shows it.
#[derive(Debug)]
pub struct ProposalReview {
    /// The proposal.
    pub proposal: Proposal,
    /// The moment of the review, at which the rest is true.
    pub at: Timestamp,
    /// The agreement as a decision now would find it, including transitions that the clock hasn't recorded yet.
    pub current: Agreement,
    /// The agreement as proposed, which the review of a declined or expired proposal shows instead of the current one.
    pub as_proposed: Option<Agreement>,
    /// The contacts of its participants, current and as proposed.
    pub contacts: Vec<Contact>,
    /// The payments of the shown draft or of a cancellation, most urgent first; none with `as_proposed`.
    pub payments: Vec<Movement>,
    /// The workspace of the agreement.
    pub workspace: Workspace,
    /// Whether the proposal can be decided.
    pub is_pending: bool,
    /// Whether it is pending, but can never be confirmed anymore.
    pub is_too_late: bool,
    /// The changes since the proposal, as sentences.
    pub changes: Vec<String>,
    /// The effects of a confirmation now, as sentences.
    pub effects: Vec<String>,
    /// The blockers of a confirmation now.
    pub blockers: Vec<Blocker>,
    /// Probable mistakes in what a confirmation would publish now.
    pub warnings: Vec<Warning>,
    /// What the review shows.
    pub shown: Shown<Changed>,
}

impl ProposalReview {
    /// The agreement that the review shows.
    #[must_use]
    pub fn agreement(&self) -> &Agreement {
        self.as_proposed.as_ref().unwrap_or(&self.current)
    }

    /// The payments in flight, which keep a pending cancellation from being confirmed.
    pub fn in_flight(&self) -> impl Iterator<Item = &Movement> {
        let counts = self.is_pending && !self.is_too_late && self.proposal.action == ProposalAction::CancelAgreement;
        self.payments.iter().filter(move |payment| counts && payment.state().is_in_flight())
    }

    /// The state of the proposal.
    #[must_use]
    pub fn state(&self) -> ProposalState {
        self.proposal.state_at(self.at)
    }
}

/// A proposal as its page shows it. This reads the snapshot, which is large, and which no decision needs.
pub async fn review(scope: &Scope, id: ProposalId) -> Result<ProposalReview, Error> {
    let proposal = found(scope, id).await?;
    // The page of a confirmed proposal shows the agreement itself.
    let is_confirmed = matches!(proposal.decision(), Decision::Confirmed(_));
    let snapshot = async {
        if is_confirmed {
            return Ok(None);
        }
        let snapshot = scope.store().proposal_snapshot(id).await?;
        snapshot.map(Some).ok_or_else(|| Error::Internal("a proposal without what was proposed".to_owned()))
    };
    let ((LoadedProposal { proposal, loaded, moment }, shown), snapshot) =
        tokio::try_join!(LoadedProposal::load_for_page(scope, proposal), snapshot)?;
    let took_part = participants_of(snapshot.iter().map(|snapshot| &snapshot.agreement));
    let takes_part = participants_of([&**loaded.agreement()]);
    let is_pending = proposal.state_at(moment.at()) == ProposalState::Pending;
    let gone = scope.store().contacts(took_part.difference(&takes_part).copied()).await?;
    // Of what was confirmed, the agreement's page has the rest.
    let payments = match proposal.action {
        ProposalAction::CancelAgreement if loaded.agreement().lifecycle() != Lifecycle::Draft => {
            if is_pending {
                shown
            } else {
                Vec::new()
            }
        }
        _ => loaded.payments().to_vec(),
    };
    let contacts: Vec<Contact> =
        loaded.contacts().iter().cloned().chain(gone.into_iter().map(Versioned::into_inner)).collect();

    let (at, action) = (moment.at(), proposal.action);
    let current = loaded.as_of(scope, at).into_owned();
    let is_too_late = is_pending && proposal::check_state(action, &current).is_err();
    let changes = snapshot.as_ref().filter(|_| is_pending);
    let changes = changes.map(|before| changes_since(before, &loaded, &current, &contacts)).unwrap_or_default();
    let as_proposed = snapshot.filter(|_| !is_pending).map(|snapshot| snapshot.agreement);
    let Consequences { effects, blockers, warnings } = if is_pending && !is_too_late {
        Consequences::of(scope, action, &loaded, &current, &contacts, at).await?
    } else {
        Consequences::default()
    };
    let shown = loaded.shown();
    let payments = if as_proposed.is_none() { payments } else { Vec::new() };
    let (proposal, workspace) = (proposal.into_inner(), loaded.into_parts().1);
    Ok(ProposalReview {
        proposal,
        at,
        current,
        as_proposed,
        contacts,
        payments,
        workspace,
        is_pending,
        is_too_late,
        changes,
        effects,
        blockers,
        warnings,
        shown,
    })
}

fn changes_since(
    before: &ProposalSnapshot,
    loaded: &LoadedAgreement,
    current: &Agreement,
    contacts: &[Contact],
) -> Vec<String> {
    let mut changes = text::changes_since(before, current, contacts);
    if let Some(payments) = &before.payments {
        changes.extend(text::payment_changes(payments, &snapshot_payments(loaded.payments())));
    }
    changes
}

/// What confirming would do now, what is in its way, and what is probably a mistake in it.
#[derive(Default)]
struct Consequences {
    effects: Vec<String>,
    blockers: Vec<Blocker>,
    warnings: Vec<Warning>,
}

impl Consequences {
    async fn of(
        scope: &Scope,
        action: ProposalAction,
        loaded: &LoadedAgreement,
        current: &Agreement,
        contacts: &[Contact],
        at: Timestamp,
    ) -> Result<Self, Error> {
        let (workspace, facts) = (loaded.workspace(), loaded.facts());
        let named = text::Named { contacts, payments: loaded.payments() };
        let effects = text::effects(action, current, workspace, named, facts, scope.time_scale(), at);
        if action != ProposalAction::PublishAgreement {
            return Ok(Self { effects, ..Self::default() });
        }
        let blockers = loaded.blockers(at).into_iter().filter(|blocker| !blocker.allows_proposal()).collect();
        let zone = zone_of_promises(scope, loaded.agreement()).await?;
        Ok(Self { effects, blockers, warnings: loaded.warnings(at, &zone) })
    }
}

/// The choice of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Confirm, and execute the effect.
    Confirm,
    /// Decline.
    Decline,
}

/// The warnings that need a tick and have none.
fn not_meant(ticked: &BTreeSet<WarningKind>, now: &[Warning]) -> BTreeSet<WarningKind> {
    warnings::to_tick(now).difference(ticked).copied().collect()
}

/// Decides a proposal as its page showed it, with all effects; [`Error::Conflict`] if another decision came first.
pub async fn decide(
    scope: &Scope,
    member: &Member,
    id: ProposalId,
    choice: Choice,
    note: Option<Note>,
    shown: &Shown<Changed>,
    ticked: &BTreeSet<WarningKind>,
) -> Result<Plan<Result<(), Refusal>>, Error> {
    let LoadedProposal { proposal, loaded, moment } = LoadedProposal::load(scope, found(scope, id).await?).await?;
    let (agreement, workspace) = (loaded.agreement(), loaded.workspace());
    let zone = zone_of_promises(scope, agreement).await?;
    let papered = papered_to_end(scope, agreement, proposal.action).await?;
    let context = DecisionContext {
        proposal: &proposal,
        agreement,
        changed: shown.changed_to(&loaded.shown()).first().copied(),
        contacts: loaded.contacts(),
        workspace,
        blockers: &loaded.blockers(moment.at()),
        not_meant: &not_meant(ticked, &loaded.warnings(moment.at(), &zone)),
        facts: loaded.facts(),
        time_scale: scope.time_scale(),
        zone: &zone,
    };
    let decided = match choice {
        Choice::Confirm => member::confirm(member, context, note, moment),
        Choice::Decline => member::decline(member, context.proposal, note, moment),
    };
    let outcome = match decided {
        Ok(outcome) => outcome,
        Err(refusal @ Refusal::NotPending(_)) => return Ok(Plan::new(scope, Err(refusal))),
        Err(refusal) => {
            // The proposal, read first, was pending. Another member's decision may have changed the rest since then.
            let now = scope.store().proposal(id).await?.map(|current| current.version());
            let is_same = now == Some(proposal.version());
            return if is_same { Ok(Plan::new(scope, Err(refusal))) } else { Err(Error::Conflict) };
        }
    };
    let decided = stored::decide(scope.call(), &proposal, &outcome.proposal)?;
    let executed = executed(scope, &loaded, &papered, &outcome, moment)?;
    let plan = Plan::new(scope, Ok(()))
        .decided_at(moment)
        .change([decided])
        .emit(outcome.events)
        .showing([id.uuid(), agreement.id().uuid()]);
    let mut plan = executed.added_to(plan);
    if choice == Choice::Confirm {
        // A transaction has room for some 85 checks. Strongly consistent reads just before it cover the rest.
        plan = plan.check(loaded.contact_checks(scope));
    }
    Ok(plan)
}

async fn papered_to_end(
    scope: &Scope,
    agreement: &Agreement,
    action: ProposalAction,
) -> Result<Vec<Versioned<FundingItem>>, Error> {
    match action {
        ProposalAction::CancelAgreement => endings::papered_items(scope, agreement).await,
        ProposalAction::PublishAgreement => Ok(Vec::new()),
    }
}

/// What a decision with an effect writes besides the proposal.
#[derive(Debug, Default)]
struct Executed {
    changes: Vec<Changes>,
    activated: Option<Uuid>,
    items: Vec<Dependent>,
    /// The change that leaves the remaining items to the clock, if the agreement's own change doesn't.
    rest: Option<Changes>,
}

impl Executed {
    fn added_to<T>(self, plan: Plan<T>) -> Plan<T> {
        plan.change(self.changes).showing(self.activated).change_with(self.items, self.rest)
    }
}

fn executed(
    scope: &Scope,
    loaded: &LoadedAgreement,
    papered: &[Versioned<FundingItem>],
    outcome: &Outcome,
    moment: Moment,
) -> Result<Executed, Error> {
    let mut executed = Executed::default();
    if let Some(after) = &outcome.agreement {
        executed.changes.push(agreements::execute(scope.call(), loaded.agreement(), after)?);
        executed.items = endings::opening_items(scope, papered, after, moment)?;
        let started = loaded.starting(scope, after)?;
        if !started.is_empty() {
            executed.rest = Some(agreements::leave_items(scope.call(), after));
            executed.items.extend(started);
        }
    }
    if let Some(workspace) = &outcome.workspace {
        executed.changes.push(workspaces::activate(scope.call(), workspace));
        executed.activated = Some(workspace.id().uuid());
    }
    Ok(executed)
}

/// A protected effect on the page on which a member proposes and confirms it in one act.
#[derive(Debug)]
pub struct ActReview {
    /// The agreement as a decision now would find it.
    pub agreement: Agreement,
    /// The contacts of its participants.
    pub contacts: Vec<Contact>,
    /// Its payments, if it is a draft; those that a cancellation concerns, most urgent first.
    pub payments: Vec<Movement>,
    /// The workspace of the agreement.
    pub workspace: Workspace,
    /// The pending proposal of the same action, which is to be decided instead.
    pub pending: Option<Proposal>,
    /// Whether the agreement's state allows the action.
    pub is_possible: bool,
    /// The effects of the act now, as sentences.
    pub effects: Vec<String>,
    /// The blockers of the act now.
    pub blockers: Vec<Blocker>,
    /// Probable mistakes in what the act would publish now.
    pub warnings: Vec<Warning>,
    /// What the review shows.
    pub shown: Shown<Changed>,
}

/// A protected effect as its page shows it, before a member proposes and confirms it in one act.
pub async fn review_act(scope: &Scope, id: AgreementId, action: ProposalAction) -> Result<ActReview, Error> {
    let agreement = agreements_service::found(scope, id).await?;
    let (loaded, holder) = tokio::try_join!(LoadedAgreement::load(scope, agreement), async {
        scope.store().claim_holder(id, action).await.map_err(Error::from)
    })?;
    let now = scope.now();
    let current = loaded.as_of(scope, now).into_owned();
    let is_possible = proposal::check_state(action, &current).is_ok();
    let pending = holder.map(Versioned::into_inner).filter(|holder| holder.state_at(now) == ProposalState::Pending);
    let Consequences { effects, blockers, warnings } = if is_possible {
        Consequences::of(scope, action, &loaded, &current, loaded.contacts(), now).await?
    } else {
        Consequences::default()
    };
    let shown = loaded.shown();
    let mut payments = loaded.payments().to_vec();
    payments.extend(payments_to_cancel(scope, loaded.agreement(), action).await?);
    let (with_contacts, workspace) = loaded.into_parts();
    let contacts = with_contacts.into_parts().1;
    let agreement = current;
    Ok(ActReview { agreement, contacts, payments, workspace, pending, is_possible, effects, blockers, warnings, shown })
}

/// Why a member's act was refused.
#[derive(Debug)]
pub enum ActRefused {
    /// A pending proposal of the same action is to be decided instead.
    Proposed(ProposalId),
    /// Why the decision is refused.
    Decision(Refusal),
}

/// Proposes and confirms in one transaction, as the member's page showed it; [`Error::Conflict`] after another change.
pub async fn propose_and_confirm(
    scope: &Scope,
    member: &Member,
    new: NewProposal,
    shown: &Shown<Changed>,
    ticked: &BTreeSet<WarningKind>,
) -> Result<Plan<Result<(), ActRefused>>, Error> {
    let (id, action) = (new.agreement_id, new.action);
    let agreement = agreements_service::found(scope, id).await?;
    // Each attempt loads again, and an agreement may have expired by then.
    let moment = scope.moment_after(agreement.updated_at);
    let holder = scope.store().claim_holder(id, action).await?;
    let loaded = LoadedAgreement::load(scope, agreement).await?;
    let papered = papered_to_end(scope, loaded.agreement(), action).await?;
    let refused = |reason| Ok(Plan::new(scope, Err(reason)).showing([id.uuid()]));
    let expired = match (proposal::take_over_claim(holder.as_deref(), moment), &holder) {
        (Ok(expired), _) => expired,
        (Err(_), Some(holder)) => return refused(ActRefused::Proposed(holder.id())),
        (Err(errors), None) => return Err(Error::Invalid(errors)),
    };
    let current = loaded.as_of(scope, moment.at());
    if proposal::check_state(action, &current).is_err() {
        return refused(ActRefused::Decision(Refusal::TooLate(current.lifecycle())));
    }
    let blockers = loaded.blockers(moment.at());
    let expires_at = scope.time_scale().proposal_expiry(moment.at());
    let actor = scope.actor().clone();
    let made = match proposal::propose(new, &current, loaded.contacts(), &blockers, actor, moment, expires_at) {
        Ok(made) => made,
        Err(errors) => return refused(ActRefused::Decision(Refusal::Blocked(errors))),
    };
    let zone = zone_of_promises(scope, loaded.agreement()).await?;
    let context = DecisionContext {
        proposal: made.proposal(),
        agreement: loaded.agreement(),
        changed: shown.changed_to(&loaded.shown()).first().copied(),
        contacts: loaded.contacts(),
        workspace: loaded.workspace(),
        blockers: &blockers,
        not_meant: &not_meant(ticked, &loaded.warnings(moment.at(), &zone)),
        facts: loaded.facts(),
        time_scale: scope.time_scale(),
        zone: &zone,
    };
    let outcome = match member::confirm(member, context, None, moment) {
        Ok(outcome) => outcome,
        Err(reason) => return refused(ActRefused::Decision(reason)),
    };
    let call = scope.call();
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    if let (Some(before), Some(expired)) = (&holder, &expired) {
        events.push(EventKind::ProposalExpired(ProposalData::from(&**expired)));
        changes.push(stored::expire(call, before, expired, false)?);
    }
    changes.push(stored::create_decided(call, &made, &outcome.proposal, expired.is_some())?);
    let executed = executed(scope, &loaded, &papered, &outcome, moment)?;
    events.push(EventKind::ProposalCreated(ProposalData::from(made.proposal())));
    events.extend(outcome.events);
    let shown = [made.proposal().id().uuid(), id.uuid()];
    let plan = Plan::new(scope, Ok(())).decided_at(moment).change(changes).emit(events).showing(shown);
    Ok(executed.added_to(plan).check(loaded.contact_checks(scope)))
}

/// Records that a proposal has expired, unless a member has decided it.
pub async fn expire(system: &SystemContext, entry: &DueEntry) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(before) = scope.store().proposal(entry.id.into()).await? else {
        return Ok(Plan::new(scope, Settlement::Stale));
    };
    let Some(expired) = before.expired(scope.moment()) else {
        // The pending proposal's own entry stays: this call's clock may be behind the clock that found the entry.
        let is_its_own = entry.at == before.expires_at && *before.decision() == Decision::Pending;
        return Ok(Plan::new(scope, if is_its_own { Settlement::Early } else { Settlement::Stale }));
    };
    let changes = stored::expire(scope.call(), &before, &expired, false)?;
    Ok(Plan::new(scope, Settlement::Settled)
        .change([changes])
        .emit([EventKind::ProposalExpired(ProposalData::from(&*expired))])
        .showing([expired.id().uuid(), expired.agreement_id.uuid()]))
}
