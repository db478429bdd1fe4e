//! Reading and drafting agreements, and the effects of time.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use futures_util::future::try_join_all;

use crate::domain::agreement::acts::{Act, EditedPart};
use crate::domain::agreement::blockers::{Blocker, DraftContext, DraftPayment, blockers};
use crate::domain::agreement::draft::NotEditable;
use crate::domain::agreement::gate::GateState;
use crate::domain::agreement::participants::NotAdded;
use crate::domain::agreement::payments::PaymentSide;
use crate::domain::agreement::verification::Verification;
use crate::domain::agreement::{Agreement, Lifecycle, NewAgreement, NewParticipant, Participant, Roles};
use crate::domain::contact::{Contact, NewContact};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ContactId, GateId, MovementId, ParticipantId, WorkspaceId};
use crate::domain::ledger::AgreementMoney;
use crate::domain::member::Changed;
use crate::domain::movement::Movement;
use crate::domain::movement::state::MovementState;
use crate::domain::note::Note;
use crate::domain::obligation::Obligation;
use crate::domain::paper_signature::PaperSignature;
use crate::domain::participant::Access;
use crate::domain::participant::receipt::ReceiptAct;
use crate::domain::proposal::{Proposal, ProposalAction};
use crate::domain::time::Timestamp;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::limits;
use crate::service::due::Settlement;
use crate::service::loaded_agreement::{
    AgreementWithContacts, AgreementWithFacts, DraftFunding, LoadedAgreement, Payments, obligations_of, participants_of,
};
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::shown::Shown;
use crate::service::system::SystemContext;
use crate::service::{audit, endings, workspaces};
use crate::store::Versioned;
use crate::store::agreements as stored;
use crate::store::change::Changes;
use crate::store::contacts as stored_contacts;
use crate::store::due::DueEntry;
use crate::store::payments_of::PaymentsOf;
use crate::wire::fields::FieldErrors;
use crate::wire::page::{Order, Page, PageRequest, Shelf};

pub use crate::store::agreements::AgreementQuery;

/// An agreement in full, as a single response or page shows it.
#[derive(Debug)]
pub struct AgreementInFull {
    /// The agreement.
    pub agreement: Agreement,
    /// The contacts of its participants, each once, ordered by id.
    pub contacts: Vec<Contact>,
    /// The blockers of its publication, if it is a draft.
    pub blockers: Vec<Blocker>,
    /// Whether it is a draft with a pending proposal of its publication.
    pub is_proposed: bool,
    /// The participants awaited by the movements that its open conditions name.
    pub payments_wait_for: BTreeMap<MovementId, ParticipantId>,
}

/// An agreement in full.
pub async fn get(scope: &Scope, id: AgreementId) -> Result<AgreementInFull, Error> {
    let agreement = found(scope, id).await?;
    if agreement.lifecycle() != Lifecycle::Draft {
        let waiting = agreement.payments_waiting();
        let movements = async { Ok(scope.store().movements(waiting.keys().copied()).await?) };
        let (loaded, movements) = tokio::try_join!(AgreementWithContacts::load(scope, agreement), movements)?;
        let (agreement, contacts) = loaded.into_parts();
        let payments_wait_for = movements
            .iter()
            .filter_map(|movement| {
                let terms = movement.terms();
                let who = match waiting.get(&movement.id())? {
                    PaymentSide::Payer => terms.sender,
                    PaymentSide::Payee => terms.receiver,
                };
                Some((movement.id(), who?))
            })
            .collect();
        let (blockers, is_proposed) = (Vec::new(), false);
        return Ok(AgreementInFull { agreement, contacts, blockers, is_proposed, payments_wait_for });
    }
    let loaded = LoadedAgreement::load(scope, agreement).await?;
    let is_proposed = !scope.store().proposed_for_publication([id], scope.now()).await?.is_empty();
    Ok(in_full(loaded, is_proposed, scope.now()).0)
}

/// An agreement as its page shows it.
#[derive(Debug)]
pub struct AgreementReview {
    /// The agreement in full.
    pub in_full: AgreementInFull,
    /// Its payments, if it is a draft, ordered by id.
    pub payments: Vec<Movement>,
    /// Its obligations, in the order of its promises; none before they take effect.
    pub obligations: Vec<Obligation>,
    /// Its workspace.
    pub workspace: Workspace,
    /// Its pending proposals.
    pub pending: Vec<Proposal>,
    /// What the page shows, for acts on the agreement as a whole.
    pub shown: Shown<Changed>,
    /// Its newest acts, newest first.
    pub acts: Vec<Act>,
    /// Whether it has more acts.
    pub has_more_acts: bool,
    /// The contacts whom the acts name and who no longer participate.
    pub former: Vec<Contact>,
    /// The recorded verifications of its participants, oldest first.
    pub verifications: Vec<Verification>,
    /// The recorded paper signatures of its participants, by participant, oldest first.
    pub papers: Vec<PaperSignature>,
    /// How its participants reach their pages. Missing ones have never been there.
    pub accesses: BTreeMap<ParticipantId, Access>,
    /// Why participants declined the conditions that are declined now.
    pub decline_reasons: BTreeMap<GateId, Note>,
    /// The payments of a published agreement that its page shows.
    pub movements: ShownMovements,
    /// What all payments of a published agreement come to.
    pub money: PaymentSums,
}

/// What payments come to.
#[derive(Debug, Default)]
pub struct PaymentSums {
    /// The sums, by currency.
    pub sums: Vec<AgreementMoney>,
    /// When the first payment is due that is yet to be made.
    pub due_on: Option<Day>,
}

/// The payments on a published agreement's page: those that its conditions name, and a part of all.
#[derive(Debug, Default)]
pub struct ShownMovements {
    /// The payments that the page names.
    pub read: Vec<Movement>,
    /// Those on the page: what a member has to see to at once, what the step waits for, then the others by urgency.
    pub on_page: Vec<MovementId>,
    /// How many precede them.
    pub offset: usize,
    /// How many there are.
    pub total: usize,
}

impl ShownMovements {
    async fn load(scope: &Scope, agreement: &Agreement, offset: usize) -> Result<Self, Error> {
        if !agreement.was_published() {
            return Ok(Self::default());
        }
        let mut all: Vec<(MovementId, MovementState)> =
            agreement.movements().iter().map(|(id, state)| (*id, *state)).collect();
        let awaited: BTreeSet<MovementId> = agreement.waiting_gates().filter_map(|gate| gate.rule.movement()).collect();
        let is_pressing = |state| matches!(state, MovementState::Exception | MovementState::Processing);
        all.sort_by_key(|(id, state)| (!is_pressing(*state), !awaited.contains(id), state.urgency()));
        let (total, shown) = (all.len(), limits::AGREEMENT_PAYMENTS_SHOWN);
        let on_page: Vec<MovementId> = all.into_iter().map(|(id, _)| id).skip(offset).take(shown).collect();
        let gates = agreement.stages.iter().flat_map(|stage| &stage.gates);
        let named = gates.filter_map(|gate| gate.rule.movement()).take(limits::AGREEMENT_PAYMENTS_NAMED_MAX);
        let wanted: BTreeSet<MovementId> = named.chain(on_page.iter().copied()).collect();
        let movements = scope.store().movements(wanted).await?;
        let read = movements.into_iter().map(Versioned::into_inner).collect();
        Ok(Self { read, on_page, offset, total })
    }

    /// A payment that the page names.
    #[must_use]
    pub fn get(&self, id: MovementId) -> Option<&Movement> {
        self.read.iter().find(|movement| movement.id() == id)
    }
}

/// An agreement as its page shows it.
pub async fn review(scope: &Scope, id: AgreementId) -> Result<AgreementReview, Error> {
    review_from(scope, id, 0).await
}

/// The same, skipping the first `payments_from` payments.
pub async fn review_from(scope: &Scope, id: AgreementId, payments_from: usize) -> Result<AgreementReview, Error> {
    let verifications = async { scope.store().verifications(id).await.map_err(Error::from) };
    let accesses = async { scope.store().accesses(id).await.map_err(Error::from) };
    let papers = async { scope.store().paper_signatures(id).await.map_err(Error::from) };
    let (agreement, (acts, has_more_acts), verifications, papers, accesses) =
        tokio::try_join!(found(scope, id), audit::acts(scope, id), verifications, papers, accesses)?;
    let pending = async { scope.store().pending_proposals(id, scope.now()).await.map_err(Error::from) };
    // Reads nothing if all whom the acts name still participate, as in most agreements.
    let named = acts.iter().filter_map(|act| act.part.as_ref().and_then(EditedPart::contact_id));
    let named: BTreeSet<ContactId> = named.collect();
    let now_takes_part = participants_of([&*agreement]);
    let former = async {
        let former = named.difference(&now_takes_part).copied();
        scope.store().contacts(former).await.map_err(Error::from)
    };
    let read = Agreement::clone(&agreement);
    let reasons = decline_reasons(scope, &read);
    let movements = ShownMovements::load(scope, &read, payments_from);
    let money = money_of(scope, &read);
    let obligations = obligations_of(scope, &read);
    let loaded = LoadedAgreement::load(scope, agreement);
    let (loaded, pending, former, decline_reasons, movements, money, obligations) =
        tokio::try_join!(loaded, pending, former, reasons, movements, money, obligations)?;
    let former = former.into_iter().map(Versioned::into_inner).collect();
    let is_draft = loaded.agreement().lifecycle() == Lifecycle::Draft;
    let shown = loaded.shown();
    let publishes = |proposal: &Proposal| proposal.action == ProposalAction::PublishAgreement;
    let payments = loaded.payments().to_vec();
    let (in_full, workspace) = in_full(loaded, is_draft && pending.iter().any(publishes), scope.now());
    Ok(AgreementReview {
        in_full,
        payments,
        obligations,
        workspace,
        pending,
        shown,
        acts,
        has_more_acts,
        former,
        verifications,
        papers,
        accesses: accesses.into_iter().collect(),
        decline_reasons,
        movements,
        money,
    })
}

async fn money_of(scope: &Scope, agreement: &Agreement) -> Result<PaymentSums, Error> {
    if !agreement.was_published() || agreement.movements().is_empty() {
        return Ok(PaymentSums::default());
    }
    let payments = scope.store().payments_of(&BTreeSet::from([agreement.id()])).await?;
    let amounts = payments.amounts_of(agreement.id()).iter().copied();
    let sums = AgreementMoney::of(agreement.lifecycle(), amounts);
    Ok(PaymentSums { sums, due_on: payments.due_of(agreement.id()) })
}

async fn decline_reasons(scope: &Scope, agreement: &Agreement) -> Result<BTreeMap<GateId, Note>, Error> {
    let declined = agreement.waiting_gates().filter_map(|gate| match gate.state {
        GateState::Declined { participant_id, .. } => Some((gate.id, participant_id)),
        _ => None,
    });
    let store = scope.store();
    let reason = async |(gate, participant): (GateId, ParticipantId)| {
        let receipts = store.receipts_of(agreement.id(), participant).await?;
        let last = receipts.into_iter().rev().find_map(|receipt| match receipt.act {
            ReceiptAct::Declined { gate_ids, reason, .. } if gate_ids.contains(&gate) => Some(reason),
            _ => None,
        });
        Ok::<_, Error>(last.map(|reason| (gate, reason)))
    };
    let reasons = try_join_all(declined.map(reason)).await?;
    Ok(reasons.into_iter().flatten().collect())
}

/// The pending proposal of an action on an agreement, if any.
pub async fn pending(scope: &Scope, id: AgreementId, action: ProposalAction) -> Result<Option<Proposal>, Error> {
    let pending = scope.store().pending_proposals(id, scope.now()).await?;
    Ok(pending.into_iter().find(|proposal| proposal.action == action))
}

pub(super) async fn found(scope: &Scope, id: AgreementId) -> Result<Versioned<Agreement>, Error> {
    scope.store().agreement(id).await?.ok_or_else(Error::not_found)
}

fn in_full(loaded: LoadedAgreement, is_proposed: bool, now: Timestamp) -> (AgreementInFull, Workspace) {
    let blockers = loaded.blockers(now);
    let (with_contacts, workspace) = loaded.into_parts();
    let (agreement, contacts) = with_contacts.into_parts();
    let payments_wait_for = BTreeMap::new();
    (AgreementInFull { agreement, contacts, blockers, is_proposed, payments_wait_for }, workspace)
}

/// A page of agreements, with the ids of drafts that lack nothing or are proposed.
#[derive(Debug)]
pub struct AgreementPage {
    /// The agreements.
    pub page: Page<Agreement>,
    /// Those that are ready to be proposed for publication.
    pub ready: HashSet<AgreementId>,
    /// Those whose publication is proposed.
    pub proposed: HashSet<AgreementId>,
}

impl AgreementPage {
    async fn load(scope: &Scope, page: Page<Agreement>) -> Result<Self, Error> {
        let (ready, proposed) = ready_and_proposed(scope, &page.data, Asked::Complete).await?;
        Ok(Self { page, ready, proposed })
    }
}

/// A page of agreements with the records that its rows name.
#[derive(Debug)]
pub struct AgreementRows {
    /// The page.
    pub page: AgreementPage,
    /// The contacts of the participants.
    pub contacts: Vec<Contact>,
    /// Their payments.
    pub payments: PaymentsOf,
    /// The payments that their conditions wait for.
    pub named: Vec<Movement>,
}

/// The payments that conditions wait for now.
pub(super) async fn waited_for<'a>(
    scope: &Scope,
    agreements: impl IntoIterator<Item = &'a Agreement>,
) -> Result<Vec<Movement>, Error> {
    let gates = agreements.into_iter().flat_map(Agreement::waiting_gates);
    let wanted: BTreeSet<MovementId> =
        gates.filter_map(|gate| gate.rule.movement()).take(limits::BATCH_KEYS_MAX).collect();
    Ok(scope.store().movements(wanted).await?.into_iter().map(Versioned::into_inner).collect())
}

impl AgreementRows {
    pub(crate) async fn load(scope: &Scope, page: Page<Agreement>) -> Result<Self, Error> {
        let with_payments = page.data.iter().filter(|agreement| !agreement.movements().is_empty());
        let with_payments: BTreeSet<AgreementId> = with_payments.map(Agreement::id).collect();
        let contacts = async { scope.store().contacts(participants_of(&page.data)).await.map_err(Error::from) };
        let payments = async {
            if with_payments.is_empty() {
                return Ok(PaymentsOf::default());
            }
            scope.store().payments_of(&with_payments).await.map_err(Error::from)
        };
        let drafts = Box::pin(ready_and_proposed(scope, &page.data, Asked::All));
        let named = waited_for(scope, &page.data);
        let (contacts, payments, (ready, proposed), named) = tokio::try_join!(contacts, payments, drafts, named)?;
        let contacts = contacts.into_iter().map(Versioned::into_inner).collect();
        Ok(Self { page: AgreementPage { page, ready, proposed }, contacts, payments, named })
    }
}

/// The rows of a page of the agreements that match a query.
pub async fn list_rows(
    scope: &Scope,
    order: Order,
    shelf: Shelf,
    query: &AgreementQuery,
) -> Result<AgreementRows, Error> {
    AgreementRows::load(scope, scope.store().list_agreements(order, shelf, query).await?).await
}

/// A page of the agreements that match a query.
pub async fn list(scope: &Scope, order: Order, query: &AgreementQuery) -> Result<AgreementPage, Error> {
    AgreementPage::load(scope, scope.store().list_agreements(order, Shelf::All, query).await?).await
}

/// A page of the agreements with a contact as a participant.
pub async fn list_of_contact(scope: &Scope, contact: ContactId, page: PageRequest) -> Result<AgreementPage, Error> {
    AgreementPage::load(scope, scope.store().agreements_of_contact(contact, page).await?).await
}

/// The agreements of a workspace, as its page shows them.
#[derive(Debug)]
pub struct WorkspaceAgreements {
    /// The rows of a page of them.
    pub listed: AgreementRows,
    /// The contacts that an uncancelled one refers to. Pending proposals and cancelled agreements may keep others.
    pub referred_to: HashSet<ContactId>,
}

/// A page of the agreements of a workspace, and the contacts to which all of them refer, from one pass over the rows.
pub async fn list_of_workspace(
    scope: &Scope,
    workspace: WorkspaceId,
    page: PageRequest,
) -> Result<WorkspaceAgreements, Error> {
    let rows = scope.store().agreements_of_workspace(workspace).await?;
    let positions = page.positions();
    let current: Vec<_> = rows.iter().filter(|row| !row.is_archived).collect();
    let on_page = (0..).zip(&current).filter(|(position, _)| positions.contains(position)).map(|(_, row)| row.id);
    let agreements = scope.store().agreements(on_page).await?.into_iter().map(Versioned::into_inner).collect();
    let page = Page::new(agreements, u64::try_from(current.len()).unwrap_or(u64::MAX), page);
    let listed = AgreementRows::load(scope, page).await?;
    let live = rows.into_iter().filter(|row| !row.is_cancelled);
    let referred_to = live.flat_map(|row| row.contacts).collect();
    Ok(WorkspaceAgreements { listed, referred_to })
}

/// The drafts whose proposals are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Those that lack nothing themselves.
    Complete,
    /// Also those that may have lost something since they were proposed.
    All,
}

/// The drafts that are ready to be proposed for publication, and those that are proposed.
async fn ready_and_proposed(
    scope: &Scope,
    agreements: &[Agreement],
    asked: Asked,
) -> Result<(HashSet<AgreementId>, HashSet<AgreementId>), Error> {
    let drafts: Vec<&Agreement> =
        agreements.iter().filter(|agreement| agreement.lifecycle() == Lifecycle::Draft).collect();
    let mut ids: Vec<AgreementId> = drafts.iter().map(|draft| draft.id()).collect();
    // Contacts and payments are read only for drafts without other blockers; workspaces don't prevent a proposal.
    let alone =
        DraftContext { workspace_activated: true, contacts: &[], payments: &[], changed_items: &[], now: scope.now() };
    let drafts: Vec<&Agreement> = drafts
        .into_iter()
        .filter(|draft| {
            let context = DraftContext { payments: &presumed(draft), ..alone };
            blockers(draft, &context).iter().all(Blocker::is_of_another_record)
        })
        .collect();
    if asked == Asked::Complete {
        ids = drafts.iter().map(|draft| draft.id()).collect();
    }
    let contacts = async { scope.store().contacts(participants_of(drafts.iter().copied())).await.map_err(Error::from) };
    let payments = Payments::load(scope, drafts.iter().copied());
    let funding = DraftFunding::load(scope, drafts.iter().copied());
    let proposed = async { scope.store().proposed_for_publication(ids, scope.now()).await.map_err(Error::from) };
    let (contacts, payments, funding, proposed) = tokio::try_join!(contacts, payments, funding, proposed)?;
    let contacts: Vec<Contact> = contacts.into_iter().map(Versioned::into_inner).collect();
    let is_ready = |draft: &&Agreement| {
        let changed_items = &funding.changed(draft, &contacts);
        let context = DraftContext { contacts: &contacts, payments: payments.of(draft), changed_items, ..alone };
        blockers(draft, &context).is_empty() && !proposed.contains(&draft.id())
    };
    Ok((drafts.into_iter().filter(is_ready).map(Agreement::id).collect(), proposed))
}

/// Complete payments of a draft, so that only what the draft itself lacks is a blocker.
fn presumed(draft: &Agreement) -> Vec<DraftPayment> {
    let payment =
        |id: &MovementId| DraftPayment { id: *id, is_complete: true, sender: None, receiver: None, money: None };
    draft.movements().keys().map(payment).collect()
}

/// Drafts an agreement; [`Error::NotFound`] at `workspace_id`.
pub async fn create(by: &impl Writer, new: NewAgreement) -> Result<Plan<AgreementInFull>, Error> {
    let scope = by.scope();
    // Read before the transaction: workspaces are never deleted.
    let workspace = workspaces::named(scope, new.workspace_id).await?;
    let agreement = Agreement::draft(new, scope.actor().clone(), scope.now());
    let (workspace_activated, now) = (workspace.activated_at().is_some(), scope.now());
    let context = DraftContext { workspace_activated, contacts: &[], payments: &[], changed_items: &[], now };
    let blockers = blockers(&agreement, &context);
    let draft = agreement.as_draft().map_err(|reason| Error::Invalid(reason.at("body")))?;
    let changes = stored::create(scope.call(), &draft)?;
    let (contacts, payments_wait_for) = (Vec::new(), BTreeMap::new());
    let created = AgreementInFull { agreement, contacts, blockers, is_proposed: false, payments_wait_for };
    let id = created.agreement.id().uuid();
    Ok(Plan::new(scope, created).change([changes]).showing([id]))
}

/// A participant who was added, or whose roles were merged with existing ones.
#[derive(Debug)]
pub struct AddedParticipant {
    /// The participant.
    pub participant: Participant,
    /// The participant's contact.
    pub contact: Contact,
    /// Whether the participant is new; otherwise their roles were merged.
    pub is_new: bool,
}

/// Why a participant was not added.
#[derive(Debug)]
pub enum ParticipantRefused {
    /// The agreement's rules refuse it.
    NotAdded(NotAdded),
    /// The agreement would be too large, or is not a draft.
    NotEditable(NotEditable),
}

impl ParticipantRefused {
    /// The error, given the field that names the agreement.
    #[must_use]
    pub fn at(self, agreement_field: &str) -> FieldErrors {
        match self {
            Self::NotAdded(reason) => reason.at(agreement_field),
            Self::NotEditable(reason) => reason.at(agreement_field),
        }
    }
}

/// Adds a contact to a draft's participants, and to its workspace's people.
pub async fn add_participant(
    by: &impl Writer,
    id: AgreementId,
    new: NewParticipant,
) -> Result<Plan<Result<AddedParticipant, ParticipantRefused>>, Error> {
    let scope = by.scope();
    let contact = scope.store().contact(new.contact_id).await?;
    let before = found(scope, id).await?;
    let contact = contact.ok_or_else(|| Error::unknown_reference("contact_id", "contact"))?;
    add(scope, &before, contact.into_inner(), new, Vec::new()).await
}

/// Creates a contact, and adds it to a draft's participants and to its workspace's people, all or nothing.
pub async fn add_new_participant(
    by: &impl Writer,
    id: AgreementId,
    contact_id: ContactId,
    new: NewContact,
    roles: Roles,
) -> Result<Plan<Result<AddedParticipant, ParticipantRefused>>, Error> {
    let scope = by.scope();
    let before = found(scope, id).await?;
    let contact = Contact { id: contact_id, ..Contact::create(new, scope.now()) };
    let created = stored_contacts::create(scope.call(), &contact)?;
    add(scope, &before, contact, NewParticipant { contact_id, roles }, vec![created]).await
}

async fn add(
    scope: &Scope,
    before: &Versioned<Agreement>,
    contact: Contact,
    new: NewParticipant,
    mut changes: Vec<Changes>,
) -> Result<Plan<Result<AddedParticipant, ParticipantRefused>>, Error> {
    let (id, contact_id) = (before.id(), new.contact_id);
    let added = match before.add_participant(new, scope.now()) {
        Ok(added) => added,
        Err(reason) => return Ok(Plan::new(scope, Err(ParticipantRefused::NotAdded(reason)))),
    };
    let draft = match added.agreement.as_draft() {
        Ok(draft) => draft,
        Err(reason) => return Ok(Plan::new(scope, Err(ParticipantRefused::NotEditable(reason)))),
    };
    if *draft != **before {
        changes.push(stored::edit(scope.call(), before, &draft)?);
    }
    let workspace = workspaces::workspace_of_with_people(scope, before.workspace_id).await?;
    let output = AddedParticipant { participant: added.participant, contact, is_new: added.is_new };
    let plan = Plan::new(scope, Ok(output)).change(changes).showing([id.uuid(), contact_id.uuid()]);
    // Participants are among the people already.
    if !added.is_new && workspace.people().contains(&contact_id) {
        return Ok(plan);
    }
    Ok(plan.join(workspaces::join(scope, &workspace, [contact_id])?, None))
}

/// Edits a draft by a rule of the domain, which returns the edited draft or refuses.
pub async fn edit(
    by: &impl Writer,
    id: AgreementId,
    rule: impl FnOnce(&Agreement, Timestamp) -> Result<Agreement, FieldErrors>,
) -> Result<Plan<Agreement>, Error> {
    let scope = by.scope();
    let before = found(scope, id).await?;
    let after = rule(&before, scope.now()).map_err(Error::Invalid)?;
    let draft = after.as_draft().map_err(|reason| Error::Invalid(reason.at("agreement_id")))?;
    let changes = stored::edit(scope.call(), &before, &draft)?;
    Ok(Plan::new(scope, after).change([changes]).showing([id.uuid()]))
}

/// Records how far time has advanced an agreement: ended countdowns, complete stages, its completion or expiry.
pub async fn advance(system: &SystemContext, entry: &DueEntry) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(found) = scope.store().agreement(entry.id.into()).await? else {
        return Ok(Plan::new(scope, Settlement::Stale));
    };
    let loaded = AgreementWithFacts::of(found);
    let before = loaded.agreement();
    let moment = loaded.act_moment(scope);
    let Some(after) = before.advanced(loaded.facts(), scope.time_scale(), moment) else {
        // The agreement's current entry stays: this call's clock may be behind the clock that found the entry.
        let is_its_own = before.next_due() == Some(entry.at);
        return Ok(Plan::new(scope, if is_its_own { Settlement::Early } else { Settlement::Stale }));
    };
    let papered = if after.has_ended_early() { endings::papered_items(scope, &after).await? } else { Vec::new() };
    let opened = endings::opening_items(scope, &papered, &after, moment)?;
    let changes = stored::advance(scope.call(), before, &after)?;
    let plan = Plan::new(scope, Settlement::Settled).decided_at(moment).change([changes]).emit(after.events());
    Ok(plan.showing([after.id().uuid()]).change_with(opened, None))
}
