//! Contacts: a record, a row in their list, and the item of their external reference.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes};
use super::item::{Item, from_item, text};
use super::keys::{self, Key, Rows};
use super::list::{HeldRow, RowFilter};
use super::packed::{PACKED, Packer, Unpacker, packed_number};
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::call_context::CallContext;
use crate::domain::contact::{Contact, ContactKind, DisplayName, Email, ExternalReference, ListedContact};
use crate::domain::ids::{ContactId, OrgId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::page::{Order, Page, Search, Shelf, list_query};

pub(super) const CONTACT: &str = "contact_id";

/// The layout of what a row has packed. Pages read the records of rows in another one.
const LAYOUT: u8 = 1;

mod has {
    pub const EMAIL: u8 = 1;
    pub const REFERENCE: u8 = 2;
    pub const MERGED_INTO: u8 = 4;
    pub const ARCHIVED: u8 = 8;
}

/// All that lists show, so that they read no records.
fn packed(contact: &Contact) -> Packer {
    let flag = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
    let flags = flag(contact.email.is_some(), has::EMAIL)
        | flag(contact.external_reference.is_some(), has::REFERENCE)
        | flag(contact.merged_into.is_some(), has::MERGED_INTO)
        | flag(contact.archived_at.is_some(), has::ARCHIVED);
    let moment = |at: Timestamp| packed_number(at.unix_ms());
    Packer::of_layout(LAYOUT)
        .byte(flags)
        .number(moment(contact.created_at))
        .number(moment(contact.updated_at))
        .sized(contact.kind.as_str().as_bytes())
        .sized(contact.display_name.as_str().as_bytes())
        .with(contact.email.as_ref(), |packer, email| packer.sized(email.as_str().as_bytes()))
        .with(contact.external_reference.as_ref(), |packer, reference| packer.sized(reference.as_str().as_bytes()))
        .with(contact.merged_into, |packer, id| packer.id(id.uuid()))
        .with(contact.archived_at, |packer, at| packer.number(moment(at)))
}

fn unpacked(id: ContactId, mut packed: Unpacker<'_>) -> Option<ListedContact> {
    let flags = packed.byte()?;
    let moment = |packed: &mut Unpacker<'_>| Timestamp::from_unix_ms(i64::try_from(packed.number()?).ok()?).ok();
    let (created_at, updated_at) = (moment(&mut packed)?, moment(&mut packed)?);
    let kind = ContactKind::parse(text_of(&mut packed)?)?;
    let display_name = DisplayName::parse(text_of(&mut packed)?).ok()?;
    let email = packed.when(flags & has::EMAIL != 0, |packed| Email::parse(text_of(packed)?).ok())?;
    let external_reference =
        packed.when(flags & has::REFERENCE != 0, |packed| ExternalReference::parse(text_of(packed)?).ok())?;
    let merged_into = packed.when(flags & has::MERGED_INTO != 0, |packed| packed.id().map(ContactId::from))?;
    let archived_at = packed.when(flags & has::ARCHIVED != 0, moment)?;
    Some(ListedContact {
        id,
        display_name,
        kind,
        email,
        external_reference,
        created_at,
        updated_at,
        merged_into,
        archived_at,
    })
}

fn text_of<'a>(packed: &mut Unpacker<'a>) -> Option<&'a str> {
    std::str::from_utf8(packed.sized()?).ok()
}

impl Record for Contact {
    type Id = ContactId;
    type Listed = ListedContact;
    const KIND: RecordKind = RecordKind::Contact;

    fn record_id(&self) -> ContactId {
        self.id
    }

    fn row(&self) -> Row {
        Row::searched_by(self.search_text()).on(self.shelf()).with_packed(packed(self))
    }

    fn of_row(row: HeldRow<'_>) -> Option<ListedContact> {
        unpacked(row.id(), Unpacker::of_layout(row.bytes(PACKED)?, LAYOUT)?)
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

    /// Whether any of some external references is a contact's.
    pub(crate) async fn has_contact_with_any<'a>(
        &self,
        references: impl IntoIterator<Item = &'a ExternalReference>,
    ) -> Result<bool, StoreError> {
        let keys = references.into_iter().map(|reference| keys::contact_reference(self.org, reference));
        Ok(!self.store.get_all(&keys.collect::<Vec<Key>>()).await?.is_empty())
    }

    /// The contacts of which a condition holds, from one pass over the rows.
    pub(crate) async fn contacts_that(
        &self,
        holds: impl Fn(&ListedContact) -> bool,
    ) -> Result<Vec<ListedContact>, StoreError> {
        let (mut found, mut unread) = (Vec::new(), Vec::<ContactId>::new());
        self.each_row(Rows::Contacts, |row| match Contact::of_row(row) {
            Some(contact) if holds(&contact) => found.push(contact),
            Some(_) => {}
            None => unread.push(row.id()),
        })
        .await?;
        let read = self.contacts(unread).await?.into_iter().map(|contact| ListedContact::from(contact.into_inner()));
        found.extend(read.filter(&holds));
        Ok(found)
    }

    /// A page of matching contacts. A search by reference takes two reads, however many contacts exist.
    pub async fn list_contacts(
        &self,
        order: Order,
        wanted: Shelf,
        query: &ContactQuery,
    ) -> Result<Page<ListedContact>, StoreError> {
        let needle = query.search.needle();
        let Some(reference) = &query.external_reference else {
            return self.list::<Contact>(order, &RowFilter::containing(needle).on(wanted), query.page()).await;
        };
        let found = match self.contact_with_reference(reference).await? {
            Some(id) => self.contact(id).await?.map(Versioned::into_inner),
            None => None,
        };
        let fits = |contact: &Contact| {
            // The contact may have got another reference between the two reads.
            contact.external_reference.as_ref() == Some(reference)
                && (wanted == Shelf::All || contact.shelf() == wanted)
                && needle.is_none_or(|needle| contact.search_text().as_str().contains(needle))
        };
        Ok(Page::slice(found.into_iter().filter(fits).map(ListedContact::from), query.page()))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::contact::NewContact;
    use crate::store::packed::packed_row;
    use crate::wire::input::read;

    #[test]
    fn a_row_says_all_that_lists_show() {
        let full = json!({"display_name": "Straße & Söhne", "kind": "llc", "email": "a@b.example", "external_reference": "crm-1"});
        for new in [full, json!({"display_name": "Ada", "kind": "person"})] {
            let new: NewContact = read(new).unwrap();
            let now = Timestamp::from_unix_ms(1_790_000_000_123).unwrap();
            let contact = Contact { updated_at: Timestamp::now(), ..Contact::create(new, now) };
            let merged = Contact { merged_into: Some(ContactId::new()), ..contact.archived(true, now) };
            for contact in [contact.archived(true, now), merged, contact] {
                let row = packed_row(packed(&contact));
                assert_eq!(Contact::of_row(row.with_id(contact.id.uuid())), Some(contact.into()));
            }
        }
    }

    #[test]
    fn a_row_of_another_layout_says_nothing() {
        let row = packed_row(Packer::of_layout(LAYOUT + 1));
        assert_eq!(Contact::of_row(row.with_id(ContactId::new().uuid())), None);
    }
}
