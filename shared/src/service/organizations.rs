//! Organizations.

use crate::domain::organization::Organization;
use crate::error::Error;
use crate::service::scope::Scope;

/// The organization of the call.
pub async fn get(scope: &Scope) -> Result<Organization, Error> {
    Ok(scope.store().organization().await?)
}
