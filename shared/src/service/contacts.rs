//! Contacts: reading, creating or finding by reference, changing and merging.

use crate::domain::contact::{Contact, ContactChanges, DisplayName, Email, ListedContact, NewContact};
use crate::domain::ids::ContactId;
use crate::domain::merge::NotMerged;
use crate::error::Error;
use crate::limits;
use crate::service::precondition::ExpectedVersion;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::keys::Rows;
use crate::store::{Versioned, contacts as stored};
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::page::{Order, Page, PageRequest, Search, Shelf};
use crate::wire::text::Folded;

pub use crate::store::contacts::ContactQuery;

/// A contact.
pub async fn get(scope: &Scope, id: ContactId) -> Result<Versioned<Contact>, Error> {
    scope.store().contact(id).await?.ok_or_else(Error::not_found)
}

/// Contacts in the order of the ids. Skips missing ones.
pub async fn named(scope: &Scope, ids: impl IntoIterator<Item = ContactId>) -> Result<Vec<Contact>, Error> {
    Ok(scope.store().contacts(ids).await?.into_iter().map(Versioned::into_inner).collect())
}

/// A page of the contacts that match a query.
pub async fn list(
    scope: &Scope,
    order: Order,
    shelf: Shelf,
    query: &ContactQuery,
) -> Result<Page<ListedContact>, Error> {
    Ok(scope.store().list_contacts(order, shelf, query).await?)
}

/// A contact with the name of a new one, in any case, and with its email address or where one of the two has none, apart
/// from the one that its form makes.
pub async fn twin_of(scope: &Scope, new: &NewContact, made: ContactId) -> Result<Option<ListedContact>, Error> {
    let same = with_name(scope, &new.display_name, None).await?;
    let (_, wanted) = new.name_and_email();
    let may_be_same = |contact: &ListedContact| {
        let (_, email) = contact.name_and_email();
        email.is_none() || wanted.is_none() || email == wanted
    };
    let twins = same.into_iter().filter(|contact| contact.id != made && may_be_same(contact));
    // What has the same address is told of first, and what was merged only if nothing else is a twin.
    Ok(twins.min_by_key(|twin| (twin.merged_into.is_some(), twin.name_and_email().1 != wanted)))
}

/// What two contacts have in common of which one is a [twin](twin_of).
#[must_use]
pub fn in_common(new: &NewContact, twin: &ListedContact) -> &'static str {
    if new.email().is_some() && twin.email.is_some() { "this name and email" } else { "this name" }
}

/// The contacts of this name, and of this email address if one is given, both in any case, whether archived or merged:
/// at most those among [`limits::PAGE_LIMIT_MAX`] that contain the name.
pub async fn with_name(scope: &Scope, name: &DisplayName, email: Option<&Email>) -> Result<Vec<ListedContact>, Error> {
    let wanted = email.map_or(name.as_str(), Email::as_str);
    let wanted: String = wanted.chars().take(limits::SEARCH_CHARS_MAX).collect();
    let search = Search::parse(&wanted, "search").map_err(Error::Invalid)?;
    let query = ContactQuery { search, ..ContactQuery::of_page(PageRequest::new(limits::PAGE_LIMIT_MAX, 0)) };
    let (name, email) = (Folded::new(name.as_str()), email.map(|email| Folded::new(email.as_str())));
    let is_same = |contact: &ListedContact| {
        let (of_name, of_email) = contact.name_and_email();
        of_name == name && (email.is_none() || of_email == email)
    };
    Ok(list(scope, Order::OldestFirst, Shelf::All, &query).await?.data.into_iter().filter(is_same).collect())
}

/// The result of creating a contact.
#[derive(Debug)]
pub enum Upserted {
    /// A new contact, at version 1.
    Created(Contact),
    /// The contact that already has the reference, unchanged, and the names of fields sent with other values.
    Existing(Versioned<Contact>, Vec<&'static str>),
}

/// Creates a contact, or finds the contact that already has its reference.
pub async fn create(by: &impl Writer, new: NewContact) -> Result<Plan<Upserted>, Error> {
    create_with_id(by, ContactId::new(), new).await
}

/// Creates a contact with the id from its form, or finds the contact that already has its reference.
pub async fn create_with_id(by: &impl Writer, id: ContactId, new: NewContact) -> Result<Plan<Upserted>, Error> {
    let scope = by.scope();
    if let Some(reference) = &new.external_reference
        && let Some(holder) = scope.store().contact_with_reference(reference).await?
    {
        let existing = scope.store().contact(holder).await?.ok_or(Error::Conflict)?;
        if existing.external_reference != new.external_reference {
            // The contact got another reference between the two reads.
            return Err(Error::Conflict);
        }
        scope.store().acknowledge_found(Rows::Contacts, &existing).await?;
        let ignored = new.differences(&existing);
        return Ok(Plan::new(scope, Upserted::Existing(existing, ignored)).showing([holder.uuid()]));
    }
    let contact = Contact { id, ..Contact::create(new, scope.now()) };
    let changes = stored::create(scope.call(), &contact)?;
    Ok(Plan::new(scope, Upserted::Created(contact)).change([changes]).showing([id.uuid()]))
}

/// Changes a contact, and returns it with its version. A change without an effect makes no new version.
pub async fn update(
    by: &impl Writer,
    id: ContactId,
    expected: &ExpectedVersion,
    changes: ContactChanges,
) -> Result<Plan<(Contact, u64)>, Error> {
    let scope = by.scope();
    let before = get(scope, id).await?;
    expected.check(before.version())?;
    let after = before.change(changes, scope.actor(), scope.now());
    if after == *before {
        let version = before.version();
        return Ok(Plan::new(scope, (after, version)).showing([id.uuid()]));
    }
    if let Some(reference) = &after.external_reference
        && after.external_reference != before.external_reference
        && let Some(holder) = scope.store().contact_with_reference(reference).await?
    {
        if holder == after.id {
            // Another call set it on this contact after the read.
            return Err(Error::Conflict);
        }
        let message = "is the reference of another contact";
        return Err(Error::Invalid(FieldErrors::one("external_reference", FieldCode::Taken, message)));
    }
    let written = stored::replace(scope.call(), &before, &after)?;
    let version = before.version() + 1;
    Ok(Plan::new(scope, (after, version)).change([written]).showing([id.uuid()]))
}

/// Merges a contact into another one. Nothing that names either is rewritten. Shows that one first, then the other.
///
/// Decision: both records change, so of two merges that would make a chain, one is decided again.
pub async fn merge(
    by: &impl Writer,
    id: ContactId,
    into: ContactId,
) -> Result<Plan<Result<Contact, NotMerged>>, Error> {
    let scope = by.scope();
    let other = async {
        let found = scope.store().contact(into).await?;
        found.ok_or_else(|| Error::unknown_reference("contact_id", "contact"))
    };
    let own = async { scope.store().organization().await.map_err(Error::from) };
    let (before, other, organization) = futures_util::try_join!(get(scope, id), other, own)?;
    let plan = |outcome| Plan::new(scope, outcome).showing([id.uuid(), into.uuid()]);
    if before.merged_into == Some(into) {
        return Ok(plan(Ok(other.into_inner())));
    }
    // Pickers would offer only the other one, with which the organization is no party.
    if organization.own_contact_ids.contains(&id) {
        return Ok(plan(Err(NotMerged::Own)));
    }
    let (merged, kept) = match before.merge_into(&other, scope.now()) {
        Ok(both) => both,
        Err(reason) => return Ok(plan(Err(reason))),
    };
    let changes = [stored::replace(scope.call(), &before, &merged)?, stored::replace(scope.call(), &other, &kept)?];
    Ok(plan(Ok(kept)).change(changes))
}

/// Separates a contact from the one that it was merged into. Nothing changes if it is not merged.
pub async fn separate(by: &impl Writer, id: ContactId) -> Result<Plan<()>, Error> {
    let scope = by.scope();
    let before = get(scope, id).await?;
    let Some(into) = before.merged_into else { return Ok(Plan::new(scope, ()).showing([id.uuid()])) };
    let other = get(scope, into).await?;
    let plan = Plan::new(scope, ()).showing([id.uuid(), into.uuid()]);
    let Some((separate, other_after)) = before.separate_from(&other, scope.now()) else { return Ok(plan) };
    let changes =
        [stored::replace(scope.call(), &before, &separate)?, stored::replace(scope.call(), &other, &other_after)?];
    Ok(plan.change(changes))
}
