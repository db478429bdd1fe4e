//! Home: the work queue of a member, and what happened lately.
//!
//! Decision: the compact rows of lists, which one pass each reads, decide what is shown, and only that is read in full.
//! An organization with 500 drafts pays for 500 rows and five drafts. The rows also name participants' contacts, so
//! agreements and their people are read together: Home takes two consecutive reads, however many sections it has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures_util::future::try_join_all;

use crate::domain::agreement::blockers::{self, Blocker, DraftContext};
use crate::domain::agreement::gate::{Gate, GateStatus};
use crate::domain::agreement::{Agreement, AgreementName, Document, Label, Lifecycle, Participant};
use crate::domain::audit::AuditRow;
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ContactId, MemberId, MovementId, ParticipantId, ProposalId};
use crate::domain::ledger::{LedgerState, is_agreed};
use crate::domain::member::Member;
use crate::domain::movement::Movement;
use crate::domain::movement::instructions::InstructionsStatus;
use crate::domain::movement::state::MovementState;
use crate::domain::organization::Organization;
use crate::domain::participant::Access;
use crate::domain::proposal::{Proposal, ProposalAction};
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::domain::token::Token;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::waited_for;
use crate::service::audit::{self, Names};
use crate::service::due_obligations::{self, DueObligations};
use crate::service::endpoints::{self, EndpointState};
use crate::service::loaded_agreement::{AgreementWithFacts, DraftFunding, Payments, participants_of};
use crate::service::proof_to_review::{self, ItemToReview};
use crate::service::scope::Scope;
use crate::service::second_members;
use crate::service::tokens;
use crate::store::agreements::{OpenAgreement, OpenAgreements};
use crate::store::movements::{WaitingMovement, WaitingMovements};
use crate::store::obligations::OpenObligation;
use crate::store::payments_of::PaymentsOf;
use crate::store::proposals::{PendingProposal, PendingProposals};
use crate::store::{StoreError, Versioned};
use crate::text;

/// The first of many.
#[derive(Debug)]
pub struct Shortlist<T> {
    /// Those that are shown, most urgent first.
    pub shown: Vec<T>,
    /// How many there are.
    pub total: usize,
}

impl<T> Shortlist<T> {
    fn of(mut all: Vec<T>, max: usize) -> Self {
        let total = all.len();
        all.truncate(max);
        Self { shown: all, total }
    }

    /// How many are not shown.
    #[must_use]
    pub fn more(&self) -> usize {
        self.total.saturating_sub(self.shown.len())
    }
}

/// An agreement that goes on, as of now.
#[derive(Debug)]
pub struct QueuedAgreement {
    /// The agreement.
    pub agreement: Agreement,
    /// A draft's blockers, without the activation of its workspace, which publication does.
    pub blockers: Vec<Blocker>,
    /// Its amount of money, for people. Empty if none is known.
    pub amount: String,
    /// The last visits to their pages of the participants whom an active agreement waits for first, if any.
    pub looks: Vec<(ContactId, Option<Timestamp>)>,
}

/// A paper signature that waits for a second member.
#[derive(Debug, Clone)]
pub struct PaperToConfirm {
    /// The agreement.
    pub agreement_id: AgreementId,
    /// Its name.
    pub agreement: AgreementName,
    /// Who signed.
    pub participant_id: ParticipantId,
    /// Their contact.
    pub contact_id: ContactId,
    /// The agreement's amount of money, for people, where one is known.
    pub amount: String,
    /// The document.
    pub document: Label,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// What a payment waits for, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaymentWait {
    /// Its instructions were changed, and nobody has verified them since.
    InstructionsChanged,
    /// Too many wrong tries ended the verification of its instructions.
    VerificationEnded,
    /// It is an exception.
    Exception,
    /// Receiver-side evidence is to be accepted or rejected.
    Evidence,
    /// Its instructions are to be verified by the member.
    Verification,
    /// It is to be authorized.
    Authorization,
    /// Its instructions are to be entered.
    Instructions,
    /// Its instructions are to be released to the payer.
    Release,
    /// Others: nothing, unless it is overdue.
    Others,
}

impl PaymentWait {
    /// How soon a member should look at it, soonest first: what is overdue, the longest first, comes before what can
    /// wait.
    fn urgency(self, overdue_since: Option<Timestamp>) -> (u8, Option<Timestamp>, Self) {
        let can_wait = self > Self::Evidence;
        let overdue_since = overdue_since.filter(|_| can_wait);
        (u8::from(can_wait) + u8::from(can_wait && overdue_since.is_none()), overdue_since, self)
    }
}

/// A payment that a member should look at.
#[derive(Debug, Clone)]
pub struct PaymentToSee {
    /// The payment.
    pub movement: Movement,
    /// The name of its agreement.
    pub agreement: AgreementName,
    /// What it waits for.
    pub wait: PaymentWait,
    /// When it is due, if that is known.
    pub due_at: Option<Timestamp>,
    /// Since when it is overdue, if it is.
    pub overdue_since: Option<Timestamp>,
    /// Since when it waits, if known.
    pub since: Option<Timestamp>,
    /// Whom or what it waits for, if not for a member.
    pub waits_for: String,
}

/// What an organization has to do, and what it waits for. An agreement is in one section; `closing` comes first.
#[derive(Debug)]
pub struct WorkQueue {
    /// The pending proposals, next to expire first.
    pub proposals: Shortlist<Proposal>,
    /// The amounts of money of the agreements of these proposals, for people, where one is known.
    pub proposed_amounts: HashMap<AgreementId, String>,
    /// The paper signatures that the member may confirm, oldest first: others', and their own if they are alone by now.
    pub papers: Shortlist<PaperToConfirm>,
    /// The payments that the member should look at, most urgent first, then longest waiting.
    pub payments: Shortlist<PaymentToSee>,
    /// The drafts without a proposal of their publication: ready ones first, then those that expire soon, then the last
    /// changed.
    pub drafts: Shortlist<QueuedAgreement>,
    /// The active agreements that wait for others, not for one of the payments, longest waiting first.
    pub waiting: Shortlist<QueuedAgreement>,
    /// Active agreements that need a member or an own contact: declined, then to review, then longest waiting.
    pub attention: Shortlist<QueuedAgreement>,
    /// The active agreements that wait for others and expire soon, next one first.
    pub closing: Shortlist<QueuedAgreement>,
    /// The contacts that participate in these agreements.
    pub contacts: Vec<Contact>,
    /// The payments of all agreements.
    pub all_payments: PaymentsOf,
    /// The payments that the conditions of these agreements wait for.
    pub named_payments: Vec<Movement>,
    /// How many drafts there are, including those in other sections.
    pub drafts_total: usize,
    /// How many active agreements there are, including those in other sections.
    pub active_total: usize,
    /// Whether the organization has no agreement and no proposal.
    pub is_new: bool,
}

/// What Home shows.
#[derive(Debug)]
pub struct Home {
    /// The work queue.
    pub queue: WorkQueue,
    /// The obligations that are overdue, and those with claims to confirm.
    pub obligations: DueObligations,
    /// The funding items with proof that a member should accept or reject, longest waiting first.
    pub proofs: Shortlist<ItemToReview>,
    /// For admins, the tokens that end soon, next one first.
    pub tokens: Shortlist<Token>,
    /// For admins, the endpoints that fail.
    pub endpoints: Shortlist<EndpointState>,
    /// The latest changes, newest first.
    pub changes: Vec<AuditRow>,
    /// The names of their callers and objects.
    pub names: Names,
}

/// What Home shows a member of an organization. Agreements that need attention are shown in full with `all_attention`.
pub async fn get(
    scope: &Scope,
    member: &Member,
    organization: &Organization,
    all_attention: bool,
) -> Result<Home, Error> {
    let tokens = async { if member.is_admin() { tokens::list(scope).await } else { Ok(Vec::new()) } };
    let endpoints = async { if member.is_admin() { endpoints::list(scope).await } else { Ok(Vec::new()) } };
    // On the heap: together they would be large.
    let work = Box::pin(async {
        let mut rows = work_rows(scope, member).await?;
        let open = std::mem::take(&mut rows.obligations);
        let obligations = Box::pin(due_obligations::due(scope, open, rows.not_of.clone()));
        tokio::try_join!(Box::pin(queue(scope, rows, organization, all_attention)), obligations)
    });
    let proofs = Box::pin(proof_to_review::to_review(scope));
    let ((queue, obligations), proofs, mut tokens, mut endpoints, (changes, names)) =
        tokio::try_join!(work, proofs, tokens, endpoints, audit::latest_changes(scope))?;
    tokens.retain(|token| token.ends_soon(scope.now()));
    tokens.sort_by_key(|token| token.expires_at);
    endpoints.retain(EndpointState::is_failing);
    Ok(Home {
        queue,
        obligations,
        proofs: Shortlist { shown: proofs.0, total: proofs.1 },
        tokens: Shortlist::of(tokens, limits::HOME_WARNINGS_MAX),
        endpoints: Shortlist::of(endpoints, limits::HOME_WARNINGS_MAX),
        changes,
        names,
    })
}

struct Chosen<'a> {
    proposals: Shortlist<ProposalId>,
    drafts: Shortlist<&'a OpenAgreement>,
    waiting: Shortlist<&'a OpenAgreement>,
    attention: Shortlist<&'a OpenAgreement>,
    closing: Shortlist<&'a OpenAgreement>,
    papers: (Vec<&'a OpenAgreement>, usize),
}

impl<'a> Chosen<'a> {
    fn of(
        open: &'a OpenAgreements,
        pending: &PendingProposals,
        not_of: &BTreeSet<MemberId>,
        own: &BTreeSet<ContactId>,
        with_payments: &BTreeSet<AgreementId>,
        now: Timestamp,
        all_attention: bool,
    ) -> Self {
        let closes_soon = now.unix_ms()..=now.plus_seconds(limits::CLOSES_SOON_S).unix_ms();
        let mut proposals = pending.pending.clone();
        proposals.sort_by_key(|proposal| proposal.expires_ms);
        let ids = proposals.iter().map(|proposal| proposal.id).collect();
        let is_publication = |proposal: &&PendingProposal| proposal.action == ProposalAction::PublishAgreement;
        let proposed: HashSet<AgreementId> =
            proposals.iter().filter(is_publication).map(|proposal| proposal.agreement).collect();

        let needs_us = |open: &&OpenAgreement| {
            let waits = open.is_declined || open.is_to_review;
            open.is_active && (waits || !open.waited_for.is_disjoint(own))
        };
        // Those are among the payments.
        let is_paid_next = |open: &&OpenAgreement| {
            let is_paid = open.authorizations > 0 || with_payments.contains(&open.id);
            is_paid && open.waited_for.is_empty() && open.papers.is_empty()
        };
        // Those are among the paper signatures.
        let is_confirmed_next =
            |open: &&OpenAgreement| open.waited_for.is_empty() && open.papers.iter().any(|by| !not_of.contains(by));
        let ends_soon = |open: &OpenAgreement| open.expires_ms.filter(|at| closes_soon.contains(at));
        let is_closing = |open: &&OpenAgreement| open.is_active && !needs_us(open) && ends_soon(open).is_some();
        let mut closing: Vec<&OpenAgreement> = open.open.iter().filter(is_closing).collect();
        closing.sort_by_key(|open| open.expires_ms);
        let closing = Shortlist::of(closing, limits::HOME_AGREEMENTS_MAX);
        let is_elsewhere = |open: &OpenAgreement| closing.shown.iter().any(|closing| closing.id == open.id);
        let (mut active, mut drafts): (Vec<_>, Vec<_>) =
            open.open.iter().filter(|open| !is_elsewhere(open)).partition(|open| open.is_active);
        active.sort_by_key(|active| active.since_ms);
        let (mut attention, mut waiting): (Vec<_>, Vec<_>) = active.into_iter().partition(needs_us);
        waiting.retain(|open| !is_paid_next(open) && !is_confirmed_next(open));
        attention.sort_by_key(|active| (!active.is_declined, !active.is_to_review, active.since_ms));
        let attention_max = if all_attention { limits::HOME_ATTENTION_MAX } else { limits::HOME_AGREEMENTS_MAX };
        drafts.retain(|draft| !proposed.contains(&draft.id));
        drafts.sort_by_key(|draft| {
            let ends_ms = ends_soon(draft);
            (ends_ms.is_none(), ends_ms, std::cmp::Reverse(draft.since_ms))
        });
        Self {
            proposals: Shortlist::of(ids, limits::HOME_PROPOSALS_MAX),
            drafts: Shortlist::of(drafts, limits::HOME_AGREEMENTS_MAX),
            waiting: Shortlist::of(waiting, limits::HOME_AGREEMENTS_MAX),
            attention: Shortlist::of(attention, attention_max),
            closing,
            papers: with_papers(open, not_of),
        }
    }

    fn agreements(&self) -> impl Iterator<Item = &'a OpenAgreement> {
        let lists = [&self.drafts, &self.waiting, &self.attention, &self.closing];
        let shown = lists.into_iter().flat_map(|list| &list.shown).chain(&self.papers.0).copied();
        let mut seen = HashSet::new();
        shown.filter(move |open| seen.insert(open.id))
    }
}

#[derive(Debug, Clone, Copy)]
struct RowToSee {
    row: WaitingMovement,
    wait: PaymentWait,
    due_at: Option<Timestamp>,
    is_overdue: bool,
}

impl RowToSee {
    fn overdue_since(&self) -> Option<Timestamp> {
        self.due_at.filter(|_| self.is_overdue)
    }
}

/// How many payments are read for each that Home shows: the clock may not have recorded yet that some have ended.
const READ_FOR_EACH: usize = 2;

/// The payments that a member should look at, most urgent first. The member doesn't verify instructions of `not_of`.
/// Overdue ones ([`LedgerState::is_overdue`]) are included even if others have to act.
fn payments_to_see(
    waiting: &[WaitingMovement],
    open: &OpenAgreements,
    not_of: &BTreeSet<MemberId>,
    zone: &TimeZone,
    now: Timestamp,
) -> Shortlist<RowToSee> {
    let agreements: HashMap<AgreementId, &OpenAgreement> = open.open.iter().map(|open| (open.id, open)).collect();
    // Nobody is asked to prepare a payment while a condition is declined: its agreement may not go on.
    let is_declined = |row: &WaitingMovement| agreements.get(&row.agreement_id).is_some_and(|open| open.is_declined);
    let wait = |row: &WaitingMovement| match (row.state, row.unverified) {
        (_, Some((_, true))) => PaymentWait::InstructionsChanged,
        (MovementState::Exception, _) => PaymentWait::Exception,
        (MovementState::Processing, _) => PaymentWait::Evidence,
        _ if is_declined(row) => PaymentWait::Others,
        (_, Some((by, false))) if !not_of.contains(&by) => PaymentWait::Verification,
        (state, _) => match agreements.get(&row.agreement_id) {
            Some(open) if open.to_authorize.contains(&row.id) => PaymentWait::Authorization,
            Some(open) if open.is_active && state == MovementState::Authorized && !row.has_instructions => {
                PaymentWait::Instructions
            }
            Some(open) if open.to_release.contains(&row.id) && row.unverified.is_none() => PaymentWait::Release,
            _ => PaymentWait::Others,
        },
    };
    // Days end at the same moments for all of them.
    let mut ends = BTreeMap::new();
    let mut found: Vec<RowToSee> = waiting
        .iter()
        .filter_map(|row| {
            let due_at = row.due_on.map(|day| *ends.entry(day).or_insert_with(|| zone.end_of(day)));
            // If the agreement is not open, its record says whether it is completed or has ended otherwise.
            let is_agreed = agreements.get(&row.agreement_id).is_none_or(|open| open.is_active);
            let is_overdue = LedgerState::from(row.state).is_overdue(is_agreed, due_at, now);
            let wait = wait(row);
            let to_see = RowToSee { row: *row, wait, due_at, is_overdue };
            (wait != PaymentWait::Others || is_overdue).then_some(to_see)
        })
        .collect();
    let soon = now.plus_seconds(limits::CLOSES_SOON_S);
    found.sort_by_key(|to_see| {
        let due_soon = to_see.due_at.filter(|at| *at <= soon);
        let RowToSee { row, wait, .. } = to_see;
        let waits = (row.since_ms.unwrap_or(i64::MAX), row.due_on, row.id);
        (wait.urgency(to_see.overdue_since()), due_soon.is_none(), due_soon, waits)
    });
    Shortlist::of(found, limits::HOME_PAYMENTS_MAX * READ_FOR_EACH)
}

/// The payments of rows that Home shows. The record of an ended agreement's payment may not say so yet.
fn seen_payments(
    scope: &Scope,
    rows: &Shortlist<RowToSee>,
    movements: Vec<Versioned<Movement>>,
    agreements: &[Versioned<Agreement>],
    contacts: &[Contact],
) -> Shortlist<PaymentToSee> {
    let mut movements: HashMap<MovementId, Movement> =
        movements.into_iter().map(|movement| (movement.id(), movement.into_inner())).collect();
    let see = |to_see: &RowToSee| {
        let RowToSee { row, wait, due_at, .. } = to_see;
        let movement = movements.remove(&row.id)?;
        let agreement = agreements.iter().find(|agreement| agreement.id() == row.agreement_id)?;
        let current = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
        if movement.ended_with(&current, scope.moment()).is_some() {
            return None;
        }
        let wait = match wait {
            PaymentWait::Authorization if !current.lets_authorize(movement.id()) => PaymentWait::Others,
            PaymentWait::Authorization | PaymentWait::Instructions | PaymentWait::Release
                if current.lifecycle() != Lifecycle::Active =>
            {
                PaymentWait::Others
            }
            // Rows that were written before they said so don't know of instructions.
            PaymentWait::Instructions | PaymentWait::Release => match movement.instructions() {
                None => PaymentWait::Instructions,
                Some(_) if current.lets_release(movement.id()) => PaymentWait::Release,
                Some(_) => PaymentWait::Others,
            },
            PaymentWait::InstructionsChanged
                if movement.instructions().is_some_and(InstructionsStatus::has_verification_ended) =>
            {
                PaymentWait::VerificationEnded
            }
            known => *known,
        };
        let overdue_since = to_see.overdue_since().filter(|_| is_agreed(current.lifecycle()));
        let since = row.since_ms.and_then(|since| Timestamp::from_unix_ms(since).ok());
        let since = since.or_else(|| match wait {
            PaymentWait::Authorization => current.waiting_gates().filter_map(Gate::opened_at).min(),
            PaymentWait::Instructions | PaymentWait::Release => Some(movement.updated_at()),
            _ => None,
        });
        let is_of_others = wait == PaymentWait::Others;
        let is_on_its_way = matches!(
            movement.state(),
            MovementState::InstructionsReady | MovementState::SenderReported | MovementState::ReceiptPending
        );
        // Before that, a condition holds it back.
        let waits_for = if is_of_others && is_on_its_way {
            text::payment_wait(&movement, &current, contacts)
        } else {
            String::new()
        };
        let agreement = agreement.name.clone();
        (!is_of_others || overdue_since.is_some()).then_some(PaymentToSee {
            movement,
            agreement,
            wait,
            due_at: *due_at,
            overdue_since,
            since,
            waits_for,
        })
    };
    let read = rows.shown.len();
    let mut shown: Vec<_> = rows.shown.iter().filter_map(see).collect();
    let total = rows.total.saturating_sub(read - shown.len());
    shown.sort_by_key(|payment| payment.wait.urgency(payment.overdue_since));
    shown.truncate(limits::HOME_PAYMENTS_MAX);
    Shortlist { shown, total }
}

/// The first agreements with paper signatures that a member may confirm, and the number of all such signatures.
fn with_papers<'a>(open: &'a OpenAgreements, not_of: &BTreeSet<MemberId>) -> (Vec<&'a OpenAgreement>, usize) {
    let of_others = |open: &OpenAgreement| open.papers.iter().filter(|by| !not_of.contains(by)).count();
    let all: Vec<_> = open.open.iter().filter(|open| open.is_active && of_others(open) > 0).collect();
    let total = all.iter().map(|open| of_others(open)).sum();
    (all.into_iter().take(limits::HOME_AGREEMENTS_MAX).collect(), total)
}

fn papers_of(queued: &QueuedAgreement, not_of: &BTreeSet<MemberId>) -> impl Iterator<Item = PaperToConfirm> {
    let QueuedAgreement { agreement, amount, .. } = queued;
    agreement.papers_to_confirm().filter(move |(_, paper)| !not_of.contains(&paper.recorded_by)).filter_map(
        |(_, paper)| {
            let is_signed_there =
                |document: &&Document| document.blocks.iter().any(|block| paper.block_ids.contains(&block.id));
            let document = agreement.documents.iter().find(is_signed_there)?;
            let block = document.blocks.iter().find(|block| paper.block_ids.contains(&block.id))?;
            Some(PaperToConfirm {
                agreement_id: agreement.id(),
                agreement: agreement.name.clone(),
                participant_id: block.participant_id,
                contact_id: agreement.participant(block.participant_id)?.contact_id,
                amount: amount.clone(),
                document: document.name.clone(),
                recorded_at: paper.recorded_at,
            })
        },
    )
}

fn blockers(
    agreement: &Agreement,
    contacts: &[Contact],
    payments: &Payments,
    funding: &DraftFunding,
    now: Timestamp,
) -> Vec<Blocker> {
    if agreement.lifecycle() != Lifecycle::Draft {
        return Vec::new();
    }
    let (payments, changed_items) = (payments.of(agreement), &funding.changed(agreement, contacts));
    let context = DraftContext { workspace_activated: true, contacts, payments, changed_items, now };
    blockers::blockers(agreement, &context)
}

/// What the work queue is chosen from.
struct WorkRows {
    open: OpenAgreements,
    pending: PendingProposals,
    movements: WaitingMovements,
    obligations: Vec<OpenObligation>,
    /// What they recorded or entered waits for a second member; a member who is alone confirms and verifies their own.
    not_of: BTreeSet<MemberId>,
}

async fn work_rows(scope: &Scope, member: &Member) -> Result<WorkRows, Error> {
    let store = scope.store();
    let rows = Box::pin(async {
        let (agreements, proposals) = (store.open_agreements(), store.all_pending_proposals(scope.now()));
        let (movements, obligations) = (store.waiting_movements(), store.open_obligations());
        tokio::try_join!(agreements, proposals, movements, obligations).map_err(Error::from)
    });
    let ((open, pending, movements, obligations), seconds) =
        tokio::try_join!(rows, Box::pin(second_members::load(scope)))?;
    Ok(WorkRows { open, pending, movements, obligations, not_of: seconds.not_confirmed_by(member.id()) })
}

async fn queue(
    scope: &Scope,
    rows: WorkRows,
    organization: &Organization,
    all_attention: bool,
) -> Result<WorkQueue, Error> {
    let (store, now) = (scope.store(), scope.now());
    let WorkRows { open, pending, movements: WaitingMovements { waiting, payments: all_payments }, not_of, .. } = rows;
    let payments = payments_to_see(&waiting, &open, &not_of, &organization.time_zone, now);
    let asked_for = payments.shown.iter().filter(|to_see| to_see.wait != PaymentWait::Others);
    let asked_for: BTreeSet<AgreementId> = asked_for.map(|to_see| to_see.row.agreement_id).collect();
    let chosen = Chosen::of(&open, &pending, &not_of, &organization.own_contact_ids, &asked_for, now, all_attention);
    // An overdue payment that waits for others names them.
    let of_others = payments.shown.iter().filter(|to_see| to_see.wait == PaymentWait::Others);
    let of_others: BTreeSet<AgreementId> = of_others.map(|to_see| to_see.row.agreement_id).collect();
    let named = open.open.iter().filter(|open| of_others.contains(&open.id));
    let people: BTreeSet<ContactId> =
        chosen.agreements().chain(named).flat_map(|open| &open.contacts).copied().collect();
    let accesses = try_join_all(chosen.agreements().filter(|open| open.is_active).map(async |open| {
        let accesses: BTreeMap<_, _> = store.accesses(open.id).await?.into_iter().collect();
        Ok::<_, StoreError>((open.id, accesses))
    }));
    let listed: BTreeSet<AgreementId> = chosen.agreements().map(|open| open.id).collect();
    let of_payments: BTreeSet<AgreementId> = payments.shown.iter().map(|to_see| to_see.row.agreement_id).collect();
    let of_proposals = pending.pending.iter().filter(|row| chosen.proposals.shown.contains(&row.id));
    let of_proposals: BTreeSet<AgreementId> = of_proposals.map(|row| row.agreement).collect();
    let beside: BTreeSet<AgreementId> = of_payments.union(&of_proposals).copied().collect();
    let (proposals, agreements, contacts, accesses, movements) = tokio::try_join!(
        store.proposals(chosen.proposals.shown.iter().copied()),
        store.agreements(listed.union(&beside).copied()),
        store.contacts(people.iter().copied()),
        accesses,
        store.movements(payments.shown.iter().map(|to_see| to_see.row.id)),
    )?;
    let amount_of = |agreement: &Agreement| text::agreement_amount(agreement, all_payments.amounts_of(agreement.id()));
    let proposed = agreements.iter().filter(|agreement| of_proposals.contains(&agreement.id()));
    let proposed_amounts = proposed.map(|agreement| (agreement.id(), amount_of(agreement))).collect();
    let accesses: HashMap<AgreementId, _> = accesses.into_iter().collect();
    // Someone may have joined between the two reads. Old rows don't name participants.
    let in_list = |agreement: &&Versioned<Agreement>| listed.contains(&agreement.id());
    let is_named = |agreement: &&Versioned<Agreement>| in_list(agreement) || of_others.contains(&agreement.id());
    let joined = participants_of(agreements.iter().filter(is_named).map(|agreement| &**agreement));
    let joined = store.contacts(joined.difference(&people).copied()).await?;
    let contacts: Vec<Contact> = contacts.into_iter().chain(joined).map(Versioned::into_inner).collect();
    let to_see = seen_payments(scope, &payments, movements, &agreements, &contacts);
    let agreements = agreements.into_iter().filter(|agreement| in_list(&agreement)).collect();

    let (mut found, named_payments) = queued(scope, agreements, &contacts, &accesses, amount_of).await?;
    let papers = papers_to_confirm(&chosen, &found, &not_of);
    let mut drafts = found_of(&mut found, &chosen.drafts);
    drafts.shown.sort_by_key(|draft| !draft.blockers.is_empty());
    Ok(WorkQueue {
        proposals: Shortlist {
            shown: proposals.into_iter().map(Versioned::into_inner).collect(),
            total: chosen.proposals.total,
        },
        proposed_amounts,
        papers,
        payments: to_see,
        drafts,
        waiting: found_of(&mut found, &chosen.waiting),
        attention: found_of(&mut found, &chosen.attention),
        closing: found_of(&mut found, &chosen.closing),
        contacts,
        all_payments,
        named_payments,
        drafts_total: open.open.iter().filter(|open| !open.is_active).count(),
        active_total: open.open.iter().filter(|open| open.is_active).count(),
        is_new: open.open.is_empty() && open.ended == 0 && pending.pending.is_empty() && pending.ended == 0,
    })
}

/// The agreements as of now, with what a draft lacks and when the participants looked, and the payments that their
/// conditions wait for.
async fn queued(
    scope: &Scope,
    agreements: Vec<Versioned<Agreement>>,
    contacts: &[Contact],
    accesses: &HashMap<AgreementId, BTreeMap<ParticipantId, Access>>,
    amount_of: impl Fn(&Agreement) -> String,
) -> Result<(HashMap<AgreementId, QueuedAgreement>, Vec<Movement>), Error> {
    let named = waited_for(scope, agreements.iter().map(|agreement| &**agreement));
    let payments = Payments::load(scope, agreements.iter().map(|agreement| &**agreement));
    let funding = DraftFunding::load(scope, agreements.iter().map(|agreement| &**agreement));
    let (payments, funding, named) = tokio::try_join!(payments, funding, named)?;
    let queued = |agreement| {
        let loaded = AgreementWithFacts::of(agreement);
        let agreement = loaded.as_of(scope, scope.now()).into_owned();
        let blockers = blockers(&agreement, contacts, &payments, &funding, scope.now());
        let looks = accesses.get(&agreement.id()).map(|accesses| looks(&agreement, accesses)).unwrap_or_default();
        let amount = amount_of(&agreement);
        (agreement.id(), QueuedAgreement { agreement, blockers, amount, looks })
    };
    Ok((agreements.into_iter().map(queued).collect(), named))
}

/// The paper signatures that the member may confirm, oldest first.
fn papers_to_confirm(
    chosen: &Chosen<'_>,
    found: &HashMap<AgreementId, QueuedAgreement>,
    not_of: &BTreeSet<MemberId>,
) -> Shortlist<PaperToConfirm> {
    let with_papers = chosen.papers.0.iter().filter_map(|open| found.get(&open.id));
    let mut shown: Vec<_> = with_papers.flat_map(|queued| papers_of(queued, not_of)).collect();
    shown.sort_by_key(|paper| paper.recorded_at);
    // The clock may not have recorded yet that an agreement has ended.
    let total = if shown.is_empty() { 0 } else { chosen.papers.1.max(shown.len()) };
    shown.truncate(limits::HOME_PROPOSALS_MAX);
    Shortlist { shown, total }
}

fn looks(agreement: &Agreement, accesses: &BTreeMap<ParticipantId, Access>) -> Vec<(ContactId, Option<Timestamp>)> {
    let open = agreement.waiting_gates().filter(|gate| gate.state.status() == GateStatus::Open);
    let waited_for: BTreeSet<ParticipantId> = open.flat_map(|gate| agreement.awaited_by(gate)).collect();
    let mut people: Vec<&Participant> = agreement.participants.iter().collect();
    people.sort_by_key(|participant| !waited_for.contains(&participant.id));
    let seen_at = |participant: &Participant| accesses.get(&participant.id)?.seen_at;
    people.into_iter().map(|participant| (participant.contact_id, seen_at(participant))).collect()
}

/// The agreements of a section that still go on. The clock may not have recorded yet that others have ended.
fn found_of(
    found: &mut HashMap<AgreementId, QueuedAgreement>,
    section: &Shortlist<&OpenAgreement>,
) -> Shortlist<QueuedAgreement> {
    let goes_on =
        |queued: &QueuedAgreement| matches!(queued.agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    let all = section.shown.iter().filter_map(|open| found.remove(&open.id));
    let shown: Vec<_> = all.filter(goes_on).collect();
    let ended = section.shown.len() - shown.len();
    Shortlist { total: section.total.saturating_sub(ended), shown }
}
