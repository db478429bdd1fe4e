//! Agreements: one versioned record each, with its stages, gates, participants and documents, a row in their list, and
//! when time takes it further for the clock.

use aws_sdk_dynamodb::types::AttributeValue;

use super::commit::{Change, row};
use super::keys::{self, Due, Rows};
use super::list::{Order, has};
use super::{Item, OrgStore, StoreError, Versioned, from_item, from_versioned_item, to_versioned_item};
use crate::domain::agreement::draft::Draft;
use crate::domain::agreement::progress::Proceeded;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::ids::{AgreementId, OrgId, WorkspaceId};
use crate::domain::member::ByMember;
use crate::domain::time::Timestamp;
use crate::wire::page::{Page, PageRequest};
use crate::wire::text::Folded;

/// The attribute of a row that holds the lifecycle.
const LIFECYCLE: &str = "l";
/// The attribute of a row that holds the workspace.
const WORKSPACE: &str = "w";

/// Which agreements are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgreementFilter<'a> {
    /// Whose name contains this.
    pub needle: Option<&'a str>,
    /// Of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// In this state.
    pub lifecycle: Option<Lifecycle>,
}

impl OrgStore {
    /// An agreement.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn agreement(&self, id: AgreementId) -> Result<Option<Versioned<Agreement>>, StoreError> {
        self.store.get(keys::agreement(self.org, id)).await?.map(from_versioned_item).transpose()
    }

    /// A page of the agreements that fit.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn list_agreements(
        &self,
        filter: AgreementFilter<'_>,
        page: PageRequest,
    ) -> Result<Page<Agreement>, StoreError> {
        let workspace = filter.workspace.map(|id| id.to_string());
        let fits = |row: &Item| {
            has(row, LIFECYCLE, filter.lifecycle.map(Lifecycle::as_str)) && has(row, WORKSPACE, workspace.as_deref())
        };
        let slice =
            self.list(Rows::Agreements, Order::OldestFirst, filter.needle, &[LIFECYCLE, WORKSPACE], fits, page).await?;
        let keys: Vec<_> = slice.ids.into_iter().map(|id| keys::agreement(self.org, id.into())).collect();
        let agreements = self.store.get_all(&keys).await?.into_iter().map(from_item).collect::<Result<_, _>>()?;
        Ok(Page::new(agreements, slice.total, page))
    }
}

/// The changes that create an agreement.
///
/// # Errors
/// When it can't be encoded.
pub fn create(org: OrgId, draft: &Draft) -> Result<Vec<Change>, StoreError> {
    Ok(vec![Change::Create(record(org, draft, 1)?), agreement_row(org, draft)])
}

/// The changes from one state of a draft to the next.
///
/// # Errors
/// When what was there is another agreement or no draft, or it can't be encoded.
pub fn edit(org: OrgId, before: &Versioned<Agreement>, after: &Draft) -> Result<Vec<Change>, StoreError> {
    if before.value.id() != after.id() || before.value.lifecycle() != Lifecycle::Draft {
        return Err(StoreError::Failed("an edit of what is not that draft".to_owned()));
    }
    replace(org, before, after)
}

/// The changes that execute what a member confirmed.
///
/// # Errors
/// When it can't be encoded.
pub fn execute(
    org: OrgId,
    before: &Versioned<Agreement>,
    after: &ByMember<Agreement>,
) -> Result<Vec<Change>, StoreError> {
    replace(org, before, after)
}

/// The changes that write down how far an agreement went on.
///
/// # Errors
/// When it can't be encoded.
pub fn proceed(org: OrgId, before: &Versioned<Agreement>, after: &Proceeded) -> Result<Vec<Change>, StoreError> {
    replace(org, before, after)
}

fn replace(org: OrgId, before: &Versioned<Agreement>, after: &Agreement) -> Result<Vec<Change>, StoreError> {
    let item = record(org, after, before.version + 1)?;
    let mut changes = vec![Change::Replace(item, before.version), agreement_row(org, after)];
    let (was_due, is_due) = (before.value.next_due(), after.next_due());
    if was_due != is_due {
        changes.extend(was_due.map(|at| Change::Delete(due(org, after.id(), at))));
        changes.extend(is_due.map(|at| Change::Put(due(org, after.id(), at).into_item())));
    }
    Ok(changes)
}

fn due(org: OrgId, id: AgreementId, at: Timestamp) -> keys::Key {
    keys::due(at, Due::Agreement, org, id.uuid())
}

/// The look at an agreement that must not have changed.
#[must_use]
pub fn check(org: OrgId, id: AgreementId, version: u64) -> Change {
    Change::CheckVersion(keys::agreement(org, id), version)
}

fn record(org: OrgId, agreement: &Agreement, version: u64) -> Result<Item, StoreError> {
    to_versioned_item(keys::agreement(org, agreement.id()), agreement, version)
}

fn agreement_row(org: OrgId, agreement: &Agreement) -> Change {
    let text = Folded::new(agreement.name.as_str());
    let filters = [
        (LIFECYCLE, AttributeValue::S(agreement.lifecycle().as_str().to_owned())),
        (WORKSPACE, AttributeValue::S(agreement.workspace_id.to_string())),
    ];
    row(org, Rows::Agreements, agreement.id().uuid(), &text, filters)
}
