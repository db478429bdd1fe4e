//! The obligations of Home's work queue: what is overdue, and the claims that a member may confirm.
//!
//! Decision: compact rows choose them, as in the rest of Home; only shown ones are read in full, with their agreements.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::agreement::{Agreement, AgreementName, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, MemberId, ObligationId};
use crate::domain::obligation::Obligation;
use crate::error::Error;
use crate::limits;
use crate::service::loaded_agreement::participants_of;
use crate::service::scope::Scope;
use crate::store::Versioned;
use crate::store::obligations::OpenObligation;
use crate::text;

/// An obligation of the work queue.
#[derive(Debug)]
pub struct QueuedObligation {
    /// The obligation.
    pub obligation: Obligation,
    /// The name of its agreement.
    pub agreement: AgreementName,
    /// Whom it waits for, if it is overdue.
    pub waits_for: Option<String>,
}

/// The obligations of the work queue.
#[derive(Debug, Default)]
pub struct DueObligations {
    /// Those that are overdue, longest overdue first.
    pub overdue: Vec<QueuedObligation>,
    /// How many are overdue.
    pub overdue_total: usize,
    /// Those with claims that the member may confirm: others', and the member's own if they are alone.
    pub to_confirm: Vec<QueuedObligation>,
    /// How many such obligations there are.
    pub to_confirm_total: usize,
}

/// Of the open ones. Claims that members recorded are confirmed by others than those of `not_of`.
pub(super) async fn due(
    scope: &Scope,
    open: Vec<OpenObligation>,
    not_of: BTreeSet<MemberId>,
) -> Result<DueObligations, Error> {
    let (store, now) = (scope.store(), scope.now().unix_ms());
    let mut overdue: Vec<&OpenObligation> = open.iter().filter(|open| open.next_due_ms < Some(now)).collect();
    overdue.retain(|open| open.next_due_ms.is_some());
    overdue.sort_by_key(|open| open.next_due_ms);
    let of_others = |open: &OpenObligation| {
        open.claims.saturating_sub(open.claimed_by.iter().filter(|by| not_of.contains(by)).count())
    };
    let to_confirm: Vec<&OpenObligation> = open.iter().filter(|open| of_others(open) > 0).collect();
    let shown = |list: &[&OpenObligation]| -> Vec<(ObligationId, AgreementId)> {
        list.iter().take(limits::HOME_OBLIGATIONS_MAX).map(|open| (open.id, open.agreement)).collect()
    };
    let (first_overdue, first_claims) = (shown(&overdue), shown(&to_confirm));
    let mut all: Vec<_> = first_overdue.iter().chain(&first_claims).copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut agreements: Vec<AgreementId> = all.iter().map(|(_, agreement)| *agreement).collect();
    agreements.sort_unstable();
    agreements.dedup();
    let (found, agreements) =
        tokio::try_join!(store.obligations(all.iter().map(|(id, _)| *id)), store.agreements(agreements))?;
    let found: BTreeMap<ObligationId, Obligation> =
        found.into_iter().map(Versioned::into_inner).map(|obligation| (obligation.id(), obligation)).collect();
    let agreements: BTreeMap<AgreementId, Agreement> =
        agreements.into_iter().map(Versioned::into_inner).map(|agreement| (agreement.id(), agreement)).collect();
    let late = first_overdue.iter().filter_map(|(_, agreement)| agreements.get(agreement));
    let contacts = store.contacts(participants_of(late)).await?;
    let contacts: Vec<Contact> = contacts.into_iter().map(Versioned::into_inner).collect();
    // What has ended with its agreement may not say so yet.
    let queued = |(id, agreement): (ObligationId, AgreementId), is_overdue: bool| {
        let agreement = agreements.get(&agreement)?;
        let now = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
        let is_live = matches!(now.lifecycle(), Lifecycle::Active | Lifecycle::Completed);
        let obligation = found.get(&id).filter(|found| is_live && !found.is_done())?.clone();
        let waits_for = is_overdue.then(|| text::obligation_wait(&obligation, agreement, &contacts));
        Some(QueuedObligation { obligation, agreement: agreement.name.clone(), waits_for })
    };
    let in_full = |list: Vec<_>, is_overdue| -> Vec<QueuedObligation> {
        list.into_iter().filter_map(|one| queued(one, is_overdue)).collect()
    };
    let (overdue_total, to_confirm_total) = (overdue.len(), to_confirm.len());
    let (overdue, to_confirm) = (in_full(first_overdue, true), in_full(first_claims, false));
    Ok(DueObligations {
        overdue_total: if overdue.is_empty() { 0 } else { overdue_total },
        to_confirm_total: if to_confirm.is_empty() { 0 } else { to_confirm_total },
        overdue,
        to_confirm,
    })
}
