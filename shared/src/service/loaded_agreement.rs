//! The loader of agreements: an agreement with the other records that a use case needs.
//!
//! - Decision: it loads in three steps, each with its own type, because each read costs units. The effects of time need
//!   the facts; a cancellation and a single read also the participants' contacts; a publication and the pages of a
//!   decision also the workspace, and a draft's payments. No rule can be called without the records it needs.
//! - Decision: an agreement knows its movements' states; only a draft's blockers need the terms of its payments.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Deref;

use futures_util::future::try_join_all;

use crate::domain::agreement::blockers::{self, Blocker, DraftContext, DraftPayment};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::warnings::{self, Warning};
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::funding::FundingItem;
use crate::domain::ids::{AgreementId, ContactId, FundingItemId, MovementId, ObligationId, TrustId, WorkspaceId};
use crate::domain::member::{ByMember, Changed};
use crate::domain::moment::Moment;
use crate::domain::movement::Movement;
use crate::domain::obligation::{self, Obligation};
use crate::domain::proposal::ProposalAction;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::domain::trust::Trust;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::limits;
use crate::service::scope::{Dependent, Scope};
use crate::service::shown::{Shown, digest};
use crate::service::workspaces;
use crate::store::change::Changes;
use crate::store::{Versioned, contacts, funding_items};

/// An agreement with the recorded facts of its gates and its money.
#[derive(Debug)]
pub struct AgreementWithFacts {
    agreement: Versioned<Agreement>,
    facts: Facts,
}

impl AgreementWithFacts {
    pub(super) fn of(agreement: Versioned<Agreement>) -> Self {
        let facts = agreement.facts().clone();
        Self { agreement, facts }
    }

    /// The agreement as stored.
    #[must_use]
    pub fn agreement(&self) -> &Versioned<Agreement> {
        &self.agreement
    }

    /// The recorded facts of its gates and its money.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) fn act_moment(&self, scope: &Scope) -> Moment {
        scope.moment_after(self.agreement.updated_at)
    }

    pub(super) fn context(&self, scope: &Scope, moment: Moment) -> AgreementContext<'_> {
        AgreementContext { agreement: &self.agreement, facts: &self.facts, time_scale: scope.time_scale(), moment }
    }

    /// The agreement as of a moment, recorded or not.
    #[must_use]
    pub fn as_of(&self, scope: &Scope, now: Timestamp) -> Cow<'_, Agreement> {
        self.agreement.as_of(&self.facts, scope.time_scale(), now)
    }
}

/// An agreement with its facts and the contacts of its participants.
#[derive(Debug)]
pub struct AgreementWithContacts {
    with_facts: AgreementWithFacts,
    participants: Vec<Versioned<Contact>>,
    contacts: Vec<Contact>,
}

impl AgreementWithContacts {
    pub(super) async fn load(scope: &Scope, agreement: Versioned<Agreement>) -> Result<Self, Error> {
        let participants = scope.store().contacts(participants_of([&*agreement])).await?;
        let contacts = participants.iter().map(|contact| Contact::clone(contact)).collect();
        Ok(Self { with_facts: AgreementWithFacts::of(agreement), participants, contacts })
    }

    /// The contacts of its participants, each once, ordered by id.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    pub(super) fn participants(&self) -> &[Versioned<Contact>] {
        &self.participants
    }

    pub(super) fn contact_checks(&self, scope: &Scope) -> Vec<Changes> {
        self.participants.iter().map(|contact| contacts::check(scope.call(), contact)).collect()
    }

    pub(super) fn into_parts(self) -> (Agreement, Vec<Contact>) {
        (self.with_facts.agreement.into_inner(), self.contacts)
    }
}

impl Deref for AgreementWithContacts {
    type Target = AgreementWithFacts;

    fn deref(&self) -> &AgreementWithFacts {
        &self.with_facts
    }
}

/// An agreement with all that its rules need.
#[derive(Debug)]
pub struct LoadedAgreement {
    with_contacts: AgreementWithContacts,
    workspace: Versioned<Workspace>,
    payments: Payments,
    funding: DraftFunding,
}

impl LoadedAgreement {
    pub(super) async fn load(scope: &Scope, agreement: Versioned<Agreement>) -> Result<Self, Error> {
        let payments = Payments::load(scope, [&*agreement]);
        let funding = DraftFunding::load(scope, [&*agreement]);
        let (payments, funding) = tokio::try_join!(payments, funding)?;
        let workspace = workspaces::workspace_of(scope, agreement.workspace_id);
        let (with_contacts, workspace) = tokio::try_join!(AgreementWithContacts::load(scope, agreement), workspace)?;
        Ok(Self { with_contacts, workspace, payments, funding })
    }

    /// What a page shows of it.
    pub(super) fn shown(&self) -> Shown<Changed> {
        let workspace = self.workspace();
        Shown::of(|part| match part {
            Changed::Agreement => digest(&self.agreement().version()),
            Changed::References => digest(&(
                (workspace.id(), workspace.name.as_str(), workspace.activated_at().is_some()),
                self.participants().iter().map(|contact| (contact.id, contact.version())).collect::<Vec<_>>(),
            )),
        })
    }

    /// Its workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The payments of a draft, ordered by id; none after publication.
    #[must_use]
    pub fn payments(&self) -> &[Movement] {
        self.payments.movements_of(self.agreement())
    }

    /// The blockers of its publication at a moment. None if it is not a draft.
    #[must_use]
    pub fn blockers(&self, now: Timestamp) -> Vec<Blocker> {
        match self.agreement().lifecycle() {
            Lifecycle::Draft => {
                let changed = self.funding.changed(self.agreement(), self.contacts());
                let context = DraftContext {
                    workspace_activated: self.workspace.activated_at().is_some(),
                    contacts: self.contacts(),
                    payments: self.payments.of(self.agreement()),
                    changed_items: &changed,
                    now,
                };
                blockers::blockers(self.agreement(), &context)
            }
            _ => Vec::new(),
        }
    }

    /// The warnings of its publication at a moment, in the organization's zone. None if it is not a draft.
    #[must_use]
    pub fn warnings(&self, now: Timestamp, zone: &TimeZone) -> Vec<Warning> {
        match self.agreement().lifecycle() {
            Lifecycle::Draft => {
                warnings::warnings(self.agreement(), self.payments.of(self.agreement()), zone.day_of(now))
            }
            _ => Vec::new(),
        }
    }

    /// Sets the items that a published draft papers in progress; [`Error::Conflict`] if one left since the check.
    pub(super) fn starting(&self, scope: &Scope, published: &ByMember<Agreement>) -> Result<Vec<Dependent>, Error> {
        if published.lifecycle() == Lifecycle::Cancelled {
            return Ok(Vec::new());
        }
        let start = |item: &Versioned<FundingItem>| {
            let started = item.started_with(published, published.moment()).ok_or(Error::Conflict)?;
            Ok(Dependent { changes: funding_items::start(scope.call(), item, &started)?, event: None, id: None })
        };
        self.funding.items.iter().map(start).collect()
    }

    pub(super) fn into_parts(self) -> (AgreementWithContacts, Workspace) {
        (self.with_contacts, self.workspace.into_inner())
    }
}

impl Deref for LoadedAgreement {
    type Target = AgreementWithContacts;

    fn deref(&self) -> &AgreementWithContacts {
        &self.with_contacts
    }
}

/// The most urgent payments for the page of a cancellation, up to one read. Reads nothing otherwise, or of a draft.
pub(super) async fn payments_to_cancel(
    scope: &Scope,
    agreement: &Agreement,
    action: ProposalAction,
) -> Result<Vec<Movement>, Error> {
    if action != ProposalAction::CancelAgreement || agreement.lifecycle() == Lifecycle::Draft {
        return Ok(Vec::new());
    }
    let mut states: Vec<_> = agreement.movements().iter().collect();
    states.sort_by_key(|(id, state)| (!state.is_in_flight(), state.urgency(), **id));
    let shown: Vec<MovementId> = states.into_iter().map(|(id, _)| *id).take(limits::REVIEWED_PAYMENTS_MAX).collect();
    let found = scope.store().movements(shown.iter().copied()).await?;
    let mut found: Vec<Movement> = found.into_iter().map(Versioned::into_inner).collect();
    found.sort_by_key(|payment| shown.iter().position(|id| *id == payment.id()));
    Ok(found)
}

pub(super) fn participants_of<'a>(agreements: impl IntoIterator<Item = &'a Agreement>) -> BTreeSet<ContactId> {
    let participants = agreements.into_iter().flat_map(|agreement| &agreement.participants);
    participants.map(|participant| participant.contact_id).collect()
}

#[derive(Debug, Default)]
pub(super) struct Payments(HashMap<AgreementId, (Vec<Movement>, Vec<DraftPayment>)>);

impl Payments {
    pub(super) async fn load<'a>(
        scope: &Scope,
        agreements: impl IntoIterator<Item = &'a Agreement>,
    ) -> Result<Self, Error> {
        let drafts = agreements.into_iter().filter(|agreement| agreement.lifecycle() == Lifecycle::Draft);
        let ids: Vec<MovementId> = drafts.flat_map(|draft| draft.movements().keys().copied()).collect();
        let mut payments = Self::default();
        for movement in scope.store().movements(ids).await? {
            let (movements, needed) = payments.0.entry(movement.agreement_id()).or_default();
            needed.push(DraftPayment::from(&*movement));
            movements.push(movement.into_inner());
        }
        Ok(payments)
    }

    pub(super) fn of(&self, draft: &Agreement) -> &[DraftPayment] {
        self.0.get(&draft.id()).map_or(&[], |(_, needed)| needed)
    }

    fn movements_of(&self, draft: &Agreement) -> &[Movement] {
        self.0.get(&draft.id()).map_or(&[], |(movements, _)| movements)
    }
}

/// The organization's zone, which publication gives to the days of the promises. Reads nothing without promises.
pub(super) async fn zone_of_promises(scope: &Scope, agreement: &Agreement) -> Result<TimeZone, Error> {
    if agreement.promises.is_empty() || agreement.lifecycle() != Lifecycle::Draft {
        return Ok(TimeZone::default());
    }
    Ok(scope.store().organization().await?.time_zone)
}

#[derive(Debug, Default)]
pub(super) struct DraftFunding {
    items: Vec<Versioned<FundingItem>>,
    trusts: HashMap<TrustId, Versioned<Trust>>,
    /// Owners and trustees who were removed from the participants of their draft. Its documents still name them.
    removed: Vec<Contact>,
}

impl DraftFunding {
    /// Reads the items and trusts of all drafts among these agreements at once. Reads nothing without any.
    ///
    /// Decision: it reads the workspaces' funding, one read: finding items by id takes pointers, then the trusts.
    pub(super) async fn load<'a>(
        scope: &Scope,
        agreements: impl IntoIterator<Item = &'a Agreement>,
    ) -> Result<Self, Error> {
        let is_needed =
            |draft: &&Agreement| draft.lifecycle() == Lifecycle::Draft && !draft.funding_item_ids.is_empty();
        let drafts: Vec<&Agreement> = agreements.into_iter().filter(is_needed).collect();
        let workspaces: BTreeSet<WorkspaceId> = drafts.iter().map(|draft| draft.workspace_id).collect();
        let papered: HashSet<FundingItemId> =
            drafts.iter().flat_map(|draft| draft.funding_item_ids.iter().copied()).collect();
        let read = workspaces.into_iter().map(|workspace| scope.store().versioned_funding_of(workspace));
        let mut funding = Self::default();
        for found in try_join_all(read).await? {
            funding.items.extend(found.items.into_iter().filter(|item| papered.contains(&item.id())));
            funding.trusts.extend(found.trusts.into_iter().map(|trust| (trust.id, trust)));
        }
        let named = funding.items.iter().flat_map(|item| {
            let trust = item.trust_id().and_then(|trust| funding.trusts.get(&trust));
            let trustees = trust.map(|trust| trust.trustee_contact_ids.as_slice()).unwrap_or_default();
            item.owner_contact_ids().iter().chain(trustees).copied()
        });
        let take_part = participants_of(drafts);
        let removed: BTreeSet<ContactId> = named.filter(|id| !take_part.contains(id)).collect();
        funding.removed = scope.store().contacts(removed).await?.into_iter().map(Versioned::into_inner).collect();
        Ok(funding)
    }

    /// The items of one of the drafts that have changed since it papered them. `contacts` are its participants'.
    pub(super) fn changed(&self, draft: &Agreement, contacts: &[Contact]) -> Vec<FundingItemId> {
        if draft.funding_item_ids.is_empty() {
            return Vec::new();
        }
        let known: Vec<Contact> = contacts.iter().chain(&self.removed).cloned().collect();
        let is_as_papered = |id: &FundingItemId| {
            let item = self.items.iter().find(|item| item.id() == *id);
            item.is_some_and(|item| {
                let trust = item.trust_id().and_then(|trust| self.trusts.get(&trust));
                let trust = trust.map(|trust| (trust.trustee_contact_ids.as_slice(), trust.version()));
                !item.has_changed_since_papered(draft.id(), trust, &known)
            })
        };
        draft.funding_item_ids.iter().filter(|id| !is_as_papered(id)).copied().collect()
    }
}

pub(super) fn obligation_ids(agreement: &Agreement) -> impl Iterator<Item = ObligationId> {
    agreement.promises.iter().filter_map(|promise| obligation::id_of(agreement, promise.id))
}

/// The obligations of an agreement, in the order of its promises. Reads nothing before they take effect.
pub(super) async fn obligations_of(scope: &Scope, agreement: &Agreement) -> Result<Vec<Obligation>, Error> {
    let found = scope.store().obligations(obligation_ids(agreement)).await?;
    Ok(found.into_iter().map(Versioned::into_inner).collect())
}
