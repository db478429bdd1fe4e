//! Contacts: a record, a row in their list, and the item of their external reference.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes};
use super::item::{Item, from_item, text};
use super::keys;
use super::list::{Order, RowFilter};
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::contact::{Contact, ExternalReference};
use crate::domain::ids::{ContactId, OrgId};
use crate::limits;
use crate::wire::page::{Page, Search, list_query};

pub(super) const CONTACT: &str = "contact_id";

impl Record for Contact {
    type Id = ContactId;
    const KIND: RecordKind = RecordKind::Contact;

    fn record_id(&self) -> ContactId {
        self.id
    }

    fn row(&self) -> Row {
        Row::searched_by(self.search_text())
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

list_query! {
    /// Which contacts are listed.
    pub struct ContactQuery {
        /// A part of the name or the email address, in any letter case.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
        /// With exactly this reference only; at most one contact has it.
        external_reference: Option<ExternalReference>,
    }
}

impl OrgStore {
    /// A contact.
    pub async fn contact(&self, id: ContactId) -> Result<Option<Versioned<Contact>>, StoreError> {
        self.find(id).await
    }

    /// Contacts in the order of the ids. Skips missing ones.
    pub async fn contacts(
        &self,
        ids: impl IntoIterator<Item = ContactId>,
    ) -> Result<Vec<Versioned<Contact>>, StoreError> {
        self.find_all(ids).await
    }

    /// The id of the contact that has an external reference.
    pub async fn contact_with_reference(&self, reference: &ExternalReference) -> Result<Option<ContactId>, StoreError> {
        let Some(item) = self.store.get(keys::contact_reference(self.org, reference)).await? else { return Ok(None) };
        let id = text(&item, CONTACT).and_then(|id| id.parse().ok());
        id.map(Some).ok_or_else(|| StoreError::Unreadable("decoding an item: no contact_id".to_owned()))
    }

    /// A page of matching contacts. A search by reference takes two reads, however many contacts exist.
    pub async fn list_contacts(&self, query: &ContactQuery) -> Result<Page<Contact>, StoreError> {
        let needle = query.search.needle();
        let Some(reference) = &query.external_reference else {
            return self.list(Order::OldestFirst, &RowFilter::containing(needle), query.page()).await;
        };
        let found = match self.contact_with_reference(reference).await? {
            Some(id) => self.contact(id).await?.map(Versioned::into_inner),
            None => None,
        };
        let fits = |contact: &Contact| {
            // The contact may have got another reference between the two reads.
            contact.external_reference.as_ref() == Some(reference)
                && needle.is_none_or(|needle| contact.search_text().as_str().contains(needle))
        };
        Ok(Page::slice(found.into_iter().filter(fits), query.page()))
    }
}

/// The changes that create a contact.
pub fn create(call: &CallContext, contact: &Contact) -> Result<Changes, StoreError> {
    let mut changes = record::create(call.org(), contact)?;
    changes.extend(contact.external_reference.as_ref().map(|reference| claim(call.org(), reference, contact.id)));
    Ok(Changes::of(call, changes))
}

/// The changes from one state of a contact to the next.
pub fn replace(call: &CallContext, before: &Versioned<Contact>, after: &Contact) -> Result<Changes, StoreError> {
    let org = call.org();
    let mut changes = record::replace(org, before, after)?;
    let (old, new) = (&before.external_reference, &after.external_reference);
    if old != new {
        changes.extend(old.as_ref().map(|reference| Change::Delete(keys::contact_reference(org, reference))));
        changes.extend(new.as_ref().map(|reference| claim(org, reference, after.id)));
    }
    Ok(Changes::of(call, changes))
}

/// The check that a contact has not changed.
pub fn check(call: &CallContext, contact: &Versioned<Contact>) -> Changes {
    Changes::of(call, [record::check(call.org(), contact)])
}

fn claim(org: OrgId, reference: &ExternalReference, contact: ContactId) -> Change {
    Change::Create(reference_item(org, reference, contact))
}

pub(super) fn reference_item(org: OrgId, reference: &ExternalReference, contact: ContactId) -> Item {
    let mut item = keys::contact_reference(org, reference).into_item();
    item.insert(CONTACT.to_owned(), AttributeValue::S(contact.to_string()));
    item
}
