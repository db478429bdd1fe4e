//! Organizations.

use super::item::from_item;
use super::{OrgStore, StoreError, keys};
use crate::domain::organization::Organization;

impl OrgStore {
    /// The organization itself.
    ///
    /// # Errors
    /// When the organization does not exist.
    pub async fn organization(&self) -> Result<Organization, StoreError> {
        let item = self.store.get(keys::organization(self.org)).await?;
        from_item(item.ok_or_else(|| StoreError::Failed("the organization is not there".to_owned()))?)
    }
}
