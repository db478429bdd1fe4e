//! Home: the work queue of a member, and what happened lately.
//!
//! Decision: the compact rows of lists, which one pass each reads, decide what is shown, and only that is read in full.
//! An organization with 500 drafts pays for 500 rows and five drafts. The rows also name participants' contacts, so
//! agreements and their people are read together: Home takes two consecutive reads, however many sections it has.

mod obligations;
mod payments;
mod proof;
mod shortlist;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures_util::future::try_join_all;

use crate::domain::agreement::blockers::{self, Blocker, DraftContext};
use crate::domain::agreement::gate::GateStatus;
use crate::domain::agreement::{Agreement, AgreementName, Document, Label, Lifecycle, Participant};
use crate::domain::audit::AuditRow;
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ContactId, MemberId, ParticipantId, ProposalId};
use crate::domain::member::Member;
use crate::domain::movement::Movement;
use crate::domain::organization::Organization;
use crate::domain::participant::Access;
use crate::domain::proposal::{Proposal, ProposalAction};
use crate::domain::time::Timestamp;
use crate::domain::token::Token;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::waited_for;
use crate::service::audit::{self, Names};
use crate::service::endpoints::{self, EndpointState};
use crate::service::loaded_agreement::{AgreementWithFacts, DraftFunding, Payments, participants_of};
use crate::service::scope::Scope;
use crate::service::second_members;
use crate::service::tokens;
use crate::store::agreements::{OpenAgreement, OpenAgreements};
use crate::store::movements::WaitingMovements;
use crate::store::obligations::OpenObligation;
use crate::store::payments_of::PaymentsOf;
use crate::store::proposals::{PendingProposal, PendingProposals};
use crate::store::{StoreError, Versioned};
use crate::text;

pub use obligations::{DueObligations, QueuedObligation};
pub use payments::{PaymentToSee, PaymentWait};
use payments::{payments_to_see, seen_payments};
pub use proof::ItemToReview;
pub use shortlist::Shortlist;

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
        let obligations = Box::pin(obligations::due(scope, open, rows.not_of.clone()));
        tokio::try_join!(Box::pin(queue(scope, rows, organization, all_attention)), obligations)
    });
    let proofs = Box::pin(proof::to_review(scope));
    let ((queue, obligations), proofs, mut tokens, mut endpoints, (changes, names)) =
        tokio::try_join!(work, proofs, tokens, endpoints, audit::latest_changes(scope))?;
    tokens.retain(|token| token.ends_soon(scope.now()));
    tokens.sort_by_key(|token| token.expires_at);
    endpoints.retain(EndpointState::is_failing);
    Ok(Home {
        queue,
        obligations,
        proofs,
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

/// The agreements of a section that still go on.
fn found_of(
    found: &mut HashMap<AgreementId, QueuedAgreement>,
    section: &Shortlist<&OpenAgreement>,
) -> Shortlist<QueuedAgreement> {
    let goes_on =
        |queued: &QueuedAgreement| matches!(queued.agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    section.seen(|open| found.remove(&open.id).filter(goes_on))
}
