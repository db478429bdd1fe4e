//! What ends with a cancelled or expired agreement: the papering of its funding items, its open movements, and its
//! unconfirmed obligations (architecture, section 4). And what begins with a published one: its items are in progress.
//!
//! Decision: the items, at most 25, change in the transaction that ends or publishes the agreement, as far as it has
//! room, because lists filter by phases. It has room, unless promises take effect at the same moment.
//!
//! Movements and obligations may be too many for that. The act commits with a due entry; each remaining record then
//! changes in its own transaction. After an interruption, the next process that takes the entry continues. The same
//! goes for participants of a draft who found no room among the workspace's people. Until then acts consult the
//! agreement, which says that it has ended. The entry of an operator's repair also opens items left behind.

use crate::domain::agreement::Agreement;
use crate::domain::funding::{FundingItem, ReopenedItem};
use crate::domain::ids::{AgreementId, ContactId, FundingItemId, MovementId, ObligationId};
use crate::domain::moment::Moment;
use crate::error::Error;
use crate::service::due::Settlement;
use crate::service::loaded_agreement::obligation_ids;
use crate::service::scope::{Dependent, Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::service::workspaces;
use crate::store::{
    Versioned, funding_items as stored_items, funding_to_review, movements as stored, obligations as stored_obligations,
};

/// Cancels a movement with its agreement, in audit rows and log lines.
pub const END_MOVEMENT: &str = "end_movement";
/// The same for an obligation.
pub const END_OBLIGATION: &str = "end_obligation";
/// Opens a funding item again when its agreement ends.
pub const FREE_FUNDING_ITEM: &str = "free_funding_item";
/// Adds a participant to the people of the workspace.
pub const JOIN_WORKSPACE: &str = "join_workspace";
/// Sets a funding item in progress when its agreement is published.
pub const START_FUNDING_ITEM: &str = "start_funding_item";

/// A record that has yet to change with its agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// A movement.
    Movement(MovementId),
    /// An obligation.
    Obligation(ObligationId),
    /// A funding item of an agreement that has ended.
    FundingItem(FundingItemId),
    /// A funding item of an agreement that was published.
    ItemToStart(FundingItemId),
    /// A participant who is not among the people of the workspace.
    Person(ContactId),
}

impl Left {
    /// The operation that changes it.
    #[must_use]
    pub fn operation(self) -> &'static str {
        match self {
            Self::Movement(_) => END_MOVEMENT,
            Self::Obligation(_) => END_OBLIGATION,
            Self::FundingItem(_) => FREE_FUNDING_ITEM,
            Self::ItemToStart(_) => START_FUNDING_ITEM,
            Self::Person(_) => JOIN_WORKSPACE,
        }
    }
}

/// The items of an agreement that may be about to end. Reads nothing if it papers none.
pub(super) async fn papered_items(scope: &Scope, agreement: &Agreement) -> Result<Vec<Versioned<FundingItem>>, Error> {
    Ok(scope.store().funding_items(agreement.funding_item_ids.iter().copied()).await?)
}

pub(super) fn opening_items(
    scope: &Scope,
    items: &[Versioned<FundingItem>],
    after: &Agreement,
    moment: Moment,
) -> Result<Vec<Dependent>, Error> {
    let opened = items.iter().filter_map(|item| Some((item, item.reopened_with(after, moment)?)));
    let dependent = |(item, open): (&Versioned<FundingItem>, ReopenedItem)| {
        let changes = stored_items::reopen_together(scope.call(), item, &open)?;
        Ok(Dependent { changes, event: Some(open.event()), id: Some(item.id().uuid()) })
    };
    opened.map(dependent).collect()
}

/// An agreement that has ended or was published, with the records that have yet to change with it. None without any.
pub async fn left_to_end(scope: &Scope, id: AgreementId) -> Result<Option<(Agreement, Vec<Left>)>, Error> {
    let Some(agreement) = scope.store().agreement(id).await? else { return Ok(None) };
    if !agreement.has_ended_early() {
        let (items, workspace) = futures_util::try_join!(
            papered_items(scope, &agreement),
            workspaces::workspace_of_with_people(scope, agreement.workspace_id),
        )?;
        let moment = scope.moment();
        let to_start = items.iter().filter(|item| item.started_with(&agreement, moment).is_some());
        let contacts = agreement.participants.iter().map(|participant| participant.contact_id);
        let to_join = contacts.filter(|contact| !workspace.people().contains(contact));
        let left = to_start.map(|item| Left::ItemToStart(item.id())).chain(to_join.map(Left::Person));
        let left: Vec<Left> = left.collect();
        return Ok((!left.is_empty()).then(|| (agreement.into_inner(), left)));
    }
    let (movements, owed, items) = tokio::try_join!(
        scope.store().movements(agreement.movements().keys().copied()),
        scope.store().obligations(obligation_ids(&agreement)),
        scope.store().funding_items(agreement.funding_item_ids.iter().copied()),
    )?;
    let moment = scope.moment();
    let movements = movements.iter().filter(|movement| movement.ended_with(&agreement, moment).is_some());
    let owed = owed.iter().filter(|obligation| obligation.ended(&agreement, moment).is_some());
    let behind = scope.store().left_to_review(items.iter().map(|item| &**item)).await?;
    let is_left = |item: &&Versioned<FundingItem>| {
        item.reopened_with(&agreement, moment).is_some() || behind.contains(&item.id())
    };
    let items = items.iter().filter(is_left);
    let movements = movements.map(|movement| Left::Movement(movement.id()));
    let owed = owed.map(|obligation| Left::Obligation(obligation.id()));
    let left: Vec<Left> = movements.chain(owed).chain(items.map(|item| Left::FundingItem(item.id()))).collect();
    Ok((!left.is_empty()).then(|| (agreement.into_inner(), left)))
}

/// Changes a record with its agreement. Can be repeated safely.
pub async fn end(system: &SystemContext, agreement: &Agreement, left: Left) -> Result<Plan<Settlement>, Error> {
    match left {
        Left::Movement(id) => end_movement(system, agreement, id).await,
        Left::Obligation(id) => end_obligation(system, agreement, id).await,
        Left::FundingItem(id) => free_funding_item(system, agreement, id).await,
        Left::ItemToStart(id) => start_funding_item(system, agreement, id).await,
        Left::Person(id) => workspaces::join_later(system, agreement, id).await,
    }
}

async fn start_funding_item(
    system: &SystemContext,
    agreement: &Agreement,
    id: FundingItemId,
) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(before) = scope.store().funding_item(id).await? else { return Ok(Plan::new(scope, Settlement::Stale)) };
    let Some(after) = before.started_with(agreement, scope.moment()) else {
        return Ok(Plan::new(scope, Settlement::Stale));
    };
    let changes = stored_items::start(scope.call(), &before, &after)?;
    Ok(Plan::new(scope, Settlement::Settled).change([changes]).showing([agreement.id().uuid(), id.uuid()]))
}

async fn end_movement(
    system: &SystemContext,
    agreement: &Agreement,
    id: MovementId,
) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(before) = scope.store().movement(id).await? else { return Ok(Plan::new(scope, Settlement::Stale)) };
    let Some(after) = before.ended_with(agreement, scope.moment()) else {
        return Ok(Plan::new(scope, Settlement::Stale));
    };
    let changes = stored::end(scope.call(), &before, &after)?;
    Ok(Plan::new(scope, Settlement::Settled).change([changes]).showing([agreement.id().uuid(), id.uuid()]))
}

async fn end_obligation(
    system: &SystemContext,
    agreement: &Agreement,
    id: ObligationId,
) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(before) = scope.store().obligation(id).await? else { return Ok(Plan::new(scope, Settlement::Stale)) };
    let Some(after) = before.ended(agreement, scope.moment()) else {
        return Ok(Plan::new(scope, Settlement::Stale));
    };
    let changes = stored_obligations::end(scope.call(), &before, &after)?;
    Ok(Plan::new(scope, Settlement::Settled).change([changes]).showing([agreement.id().uuid(), id.uuid()]))
}

async fn free_funding_item(
    system: &SystemContext,
    agreement: &Agreement,
    id: FundingItemId,
) -> Result<Plan<Settlement>, Error> {
    let scope = system.scope();
    let Some(before) = scope.store().funding_item(id).await? else { return Ok(Plan::new(scope, Settlement::Stale)) };
    let Some(after) = before.reopened_with(agreement, scope.moment()) else {
        let is_behind = !scope.store().left_to_review([&*before]).await?.is_empty();
        let settlement = if is_behind { Settlement::Settled } else { Settlement::Stale };
        let forgotten = is_behind.then(|| funding_to_review::forget(scope.call(), &before));
        return Ok(Plan::new(scope, settlement).change(forgotten).showing([agreement.id().uuid(), id.uuid()]));
    };
    let changes = stored_items::reopen(scope.call(), &before, &after)?;
    let plan = Plan::new(scope, Settlement::Settled).change([changes]).emit([after.event()]);
    Ok(plan.showing([agreement.id().uuid(), id.uuid()]))
}
