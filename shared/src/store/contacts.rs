//! Contacts: a record, a row in their list, and the item of their external reference.

use aws_sdk_dynamodb::types::AttributeValue;

use super::commit::{Change, row};
use super::keys::{self, Rows};
use super::list::Order;
use super::{OrgStore, StoreError, Versioned, from_versioned_item, to_versioned_item};
use crate::domain::contact::{Contact, ExternalReference};
use crate::domain::ids::{ContactId, OrgId};
use crate::wire::page::{Page, PageRequest};

/// The attribute of a reference's item that holds the contact's id.
const CONTACT: &str = "contact_id";

impl OrgStore {
    /// A contact.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn contact(&self, id: ContactId) -> Result<Option<Versioned<Contact>>, StoreError> {
        self.store.get(keys::contact(self.org, id)).await?.map(from_versioned_item).transpose()
    }

    /// Contacts, in the order of the ids; what is not there is left out.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn contacts(&self, ids: impl IntoIterator<Item = ContactId>) -> Result<Vec<Contact>, StoreError> {
        Ok(self.versioned_contacts(ids).await?.into_iter().map(|contact| contact.value).collect())
    }

    /// The same, with the version of each.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn versioned_contacts(
        &self,
        ids: impl IntoIterator<Item = ContactId>,
    ) -> Result<Vec<Versioned<Contact>>, StoreError> {
        let keys: Vec<_> = ids.into_iter().map(|id| keys::contact(self.org, id)).collect();
        self.store.get_all(&keys).await?.into_iter().map(from_versioned_item).collect()
    }

    /// The contact that has an external reference.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn contact_with_reference(&self, reference: &ExternalReference) -> Result<Option<ContactId>, StoreError> {
        let Some(item) = self.store.get(keys::contact_reference(self.org, reference)).await? else { return Ok(None) };
        let id = item.get(CONTACT).and_then(|value| value.as_s().ok()?.parse().ok());
        id.map(Some).ok_or_else(|| StoreError::Failed("decoding an item: no contact_id".to_owned()))
    }

    /// A page of the contacts whose name or e-mail contains the needle.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn list_contacts(&self, needle: Option<&str>, page: PageRequest) -> Result<Page<Contact>, StoreError> {
        let slice = self.list(Rows::Contacts, Order::OldestFirst, needle, &[], |_| true, page).await?;
        let contacts = self.contacts(slice.ids.into_iter().map(ContactId::from)).await?;
        Ok(Page::new(contacts, slice.total, page))
    }
}

/// The changes that create a contact.
///
/// # Errors
/// When it can't be encoded.
pub fn create(org: OrgId, contact: &Contact) -> Result<Vec<Change>, StoreError> {
    let mut changes =
        vec![Change::Create(to_versioned_item(keys::contact(org, contact.id), contact, 1)?), contact_row(org, contact)];
    changes.extend(contact.external_reference.as_ref().map(|reference| claim(org, reference, contact.id)));
    Ok(changes)
}

/// The changes from one state of a contact to the next.
///
/// # Errors
/// When it can't be encoded.
pub fn replace(org: OrgId, before: &Versioned<Contact>, after: &Contact) -> Result<Vec<Change>, StoreError> {
    let version = before.version + 1;
    let item = to_versioned_item(keys::contact(org, after.id), after, version)?;
    let mut changes = vec![Change::Replace(item, before.version), contact_row(org, after)];
    let (old, new) = (&before.value.external_reference, &after.external_reference);
    if old != new {
        changes.extend(old.as_ref().map(|reference| Change::Delete(keys::contact_reference(org, reference))));
        changes.extend(new.as_ref().map(|reference| claim(org, reference, after.id)));
    }
    Ok(changes)
}

/// The look at a contact that must not have changed.
#[must_use]
pub fn check(org: OrgId, contact: &Versioned<Contact>) -> Change {
    Change::CheckVersion(keys::contact(org, contact.value.id), contact.version)
}

fn contact_row(org: OrgId, contact: &Contact) -> Change {
    row(org, Rows::Contacts, contact.id.uuid(), &contact.search_text(), [])
}

fn claim(org: OrgId, reference: &ExternalReference, contact: ContactId) -> Change {
    let mut item = keys::contact_reference(org, reference).into_item();
    item.insert(CONTACT.to_owned(), AttributeValue::S(contact.to_string()));
    Change::Create(item)
}
