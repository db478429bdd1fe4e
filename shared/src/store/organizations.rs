//! Organizations and their members.

use super::keys;
use super::table::PutIf;
use super::{OrgStore, Store, StoreError, from_item, to_item};
use crate::domain::organization::{MemberRecord, Organization};

impl OrgStore {
    /// The organization itself.
    ///
    /// # Errors
    /// When the store can't be read, or the organization is not there.
    pub async fn organization(&self) -> Result<Organization, StoreError> {
        let item = self.store.get(keys::organization(self.org)).await?;
        from_item(item.ok_or_else(|| StoreError::Failed("the organization is not there".to_owned()))?)
    }

    /// Adds a member's record; their account is another item.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn put_member(&self, member: &MemberRecord) -> Result<(), StoreError> {
        self.store.put(to_item(keys::member(self.org, member.id), member)?, PutIf::Any).await.map(|_| ())
    }
}

impl Store {
    /// Adds an organization. Operators' work: no call does this.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn put_organization(&self, organization: &Organization) -> Result<(), StoreError> {
        self.put(to_item(keys::organization(organization.id), organization)?, PutIf::Any).await.map(|_| ())
    }
}
