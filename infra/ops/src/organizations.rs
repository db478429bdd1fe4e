//! Lists organizations, suspends and resumes them.

use shared::domain::ids::OrgId;
use shared::domain::organization::Organization;
use shared::domain::time_scale::TimeScale;
use shared::limits;
use shared::service::suspension::{self, Step};
use shared::service::system::SystemContext;
use shared::store::Store;
use shared::store::operator::Operator;

use crate::OpsError;
use crate::walk::{Walk, WalkError};

/// Lists all organizations, oldest first. Walks the whole table: the service keeps no such list, since it needs none.
pub async fn list(store: &Store) -> Result<Vec<Organization>, WalkError> {
    let mut walk = Walk::<()>::begin(store, "list", None).await?;
    let mut found = Vec::new();
    while let Some(items) = walk.next_page().await? {
        found.extend(items.iter().filter_map(Operator::organization_of));
        walk.note(u64::try_from(items.len()).unwrap_or_default())?;
    }
    walk.end();
    found.sort_by_key(|organization| organization.id);
    Ok(found)
}

/// Suspends an organization: nobody gets in and nothing leaves it until it is resumed. The audit log shows it.
pub async fn suspend(store: &Store, org: OrgId) -> Result<(), OpsError> {
    check_exists(store, org).await?;
    loop {
        let system = SystemContext::begin(store, org, "suspend_organization", TimeScale::default());
        let step = system.run(limits::OPERATOR_ATTEMPTS_MAX, || suspension::suspend(&system)).await;
        if step.map_err(OpsError::of_store)? == Step::Done {
            return Ok(());
        }
    }
}

/// Resumes an organization: unexpired sessions continue, and held deliveries are sent. The audit log shows it.
pub async fn resume(store: &Store, org: OrgId) -> Result<(), OpsError> {
    check_exists(store, org).await?;
    loop {
        let system = SystemContext::begin(store, org, "resume_organization", TimeScale::default());
        let step = system.run(limits::OPERATOR_ATTEMPTS_MAX, || suspension::resume(&system)).await;
        if step.map_err(OpsError::of_store)? == Step::Done {
            return Ok(());
        }
    }
}

async fn check_exists(store: &Store, org: OrgId) -> Result<(), OpsError> {
    Operator::new(store).organization(org).await?.map(|_| ()).ok_or(OpsError::NoSuchOrganization)
}
