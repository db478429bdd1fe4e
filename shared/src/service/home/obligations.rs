//! The obligations of Home's work queue: what is overdue, and the claims that a member may confirm.
//!
//! Decision: compact rows choose them, as in the rest of Home; only shown ones are read in full, with their agreements.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::agreement::{Agreement, AgreementName};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, MemberId, ObligationId};
use crate::domain::ledger::is_agreed;
use crate::domain::obligation::Obligation;
use crate::error::Error;
use crate::limits;
use crate::service::home::shortlist::Shortlist;
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
#[derive(Debug)]
pub struct DueObligations {
    /// Those that are overdue, longest overdue first.
    pub overdue: Shortlist<QueuedObligation>,
    /// Those with claims that the member may confirm: others', and the member's own if they are alone.
    pub to_confirm: Shortlist<QueuedObligation>,
}

/// Of the open ones. Claims that members recorded are confirmed by others than those of `not_of`.
pub(super) async fn due(
    scope: &Scope,
    open: Vec<OpenObligation>,
    not_of: BTreeSet<MemberId>,
) -> Result<DueObligations, Error> {
    let (store, now) = (scope.store(), scope.now().unix_ms());
    let is_past = |open: &&OpenObligation| open.next_due_ms.is_some_and(|due| due < now);
    let mut overdue: Vec<&OpenObligation> = open.iter().filter(is_past).collect();
    overdue.sort_by_key(|open| open.next_due_ms);
    let of_others = |open: &OpenObligation| {
        open.claims.saturating_sub(open.claimed_by.iter().filter(|by| not_of.contains(by)).count())
    };
    let to_confirm: Vec<&OpenObligation> = open.iter().filter(|open| of_others(open) > 0).collect();
    let overdue = Shortlist::of(overdue, limits::HOME_OBLIGATIONS_MAX);
    let to_confirm = Shortlist::of(to_confirm, limits::HOME_OBLIGATIONS_MAX);
    let rows = || overdue.shown.iter().chain(&to_confirm.shown);
    let ids: BTreeSet<ObligationId> = rows().map(|open| open.id).collect();
    let of: BTreeSet<AgreementId> = rows().map(|open| open.agreement).collect();
    let (found, agreements) = tokio::try_join!(store.obligations(ids), store.agreements(of))?;
    let found: BTreeMap<ObligationId, Obligation> =
        found.into_iter().map(Versioned::into_inner).map(|obligation| (obligation.id(), obligation)).collect();
    let agreements: BTreeMap<AgreementId, Agreement> =
        agreements.into_iter().map(Versioned::into_inner).map(|agreement| (agreement.id(), agreement)).collect();
    let late = overdue.shown.iter().filter_map(|open| agreements.get(&open.agreement));
    let contacts = store.contacts(participants_of(late)).await?;
    let contacts: Vec<Contact> = contacts.into_iter().map(Versioned::into_inner).collect();
    // What has ended with its agreement may not say so yet.
    let queued = |open: &OpenObligation, is_overdue: bool| {
        let agreement = agreements.get(&open.agreement)?;
        let now = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
        let obligation = found.get(&open.id).filter(|found| is_agreed(now.lifecycle()) && !found.is_done())?.clone();
        let waits_for = is_overdue.then(|| text::obligation_wait(&obligation, agreement, &contacts));
        Some(QueuedObligation { obligation, agreement: agreement.name.clone(), waits_for })
    };
    Ok(DueObligations {
        overdue: overdue.seen(|open| queued(open, true)),
        to_confirm: to_confirm.seen(|open| queued(open, false)),
    })
}
