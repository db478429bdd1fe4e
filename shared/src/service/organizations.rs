//! Organizations: their settings, which admins change, and the contacts that they act as.

use std::collections::BTreeSet;

use crate::domain::contact::{Contact, NewContact};
use crate::domain::ids::ContactId;
use crate::domain::member::Admin;
use crate::domain::organization::{EarlierName, NewOwnContact, Organization, OrganizationSettings};
use crate::error::Error;
use crate::limits;
use crate::service::scope::{Plan, Scope};
use crate::store::{Versioned, contacts, organizations as stored};
use crate::wire::fields::{FieldCode, FieldErrors};

/// The organization of the call.
pub async fn get(scope: &Scope) -> Result<Organization, Error> {
    Ok(scope.store().organization().await?)
}

/// The contacts that an organization acts as, ordered by id.
pub async fn own_contacts(scope: &Scope, organization: &Organization) -> Result<Vec<Contact>, Error> {
    let contacts = scope.store().contacts(organization.own_contact_ids.iter().copied()).await?;
    Ok(contacts.into_iter().map(Versioned::into_inner).collect())
}

/// Changes the settings; `limit_reached` at `name` after [`limits::EARLIER_NAMES_MAX`] earlier names.
pub async fn change_settings(
    scope: &Scope,
    admin: Admin<'_>,
    settings: &OrganizationSettings,
    asks_for_codes: bool,
) -> Result<Plan<()>, Error> {
    let before = scope.store().organization().await?;
    let is_renamed = before.name != settings.name;
    if is_renamed && before.earlier_names.len() >= limits::EARLIER_NAMES_MAX {
        let message = format!("can’t be changed again: the organization has had {} others", limits::EARLIER_NAMES_MAX);
        return Err(Error::Invalid(FieldErrors::one("name", FieldCode::LimitReached, message)));
    }
    // This call's clock may be behind the previous call's.
    let last = before.earlier_names.last().map(|earlier| earlier.until);
    let earlier = EarlierName { name: before.name, until: last.map_or(scope.now(), |last| last.max(scope.now())) };
    let changes = stored::change_settings(scope.call(), admin, settings, asks_for_codes, &earlier, is_renamed);
    Ok(Plan::new(scope, ()).change([changes]).showing([scope.org().uuid()]))
}

/// Adds one of the organization's own contacts. Nothing changes if it already is one.
pub async fn add_own_contact(scope: &Scope, admin: Admin<'_>, new: NewOwnContact) -> Result<Plan<Contact>, Error> {
    let id = new.contact_id;
    // Read before the transaction: contacts are never deleted.
    let contact = scope.store().contact(id).await?;
    let contact = contact.ok_or_else(|| Error::unknown_reference("contact_id", "contact"))?.into_inner();
    let own = scope.store().organization().await?.own_contact_ids;
    let plan = Plan::new(scope, contact).showing([id.uuid()]);
    if own.contains(&id) {
        return Ok(plan);
    }
    check_room(&own)?;
    Ok(plan.change([stored::add_own_contact(scope.call(), admin, id)]))
}

/// Creates a contact, and makes it one of the organization's own, all or nothing.
pub async fn add_new_own_contact(
    scope: &Scope,
    admin: Admin<'_>,
    id: ContactId,
    new: NewContact,
) -> Result<Plan<Contact>, Error> {
    check_room(&scope.store().organization().await?.own_contact_ids)?;
    let contact = Contact { id, ..Contact::create(new, scope.now()) };
    let changes = [contacts::create(scope.call(), &contact)?, stored::add_own_contact(scope.call(), admin, id)];
    Ok(Plan::new(scope, contact).change(changes).showing([id.uuid()]))
}

fn check_room(own: &BTreeSet<ContactId>) -> Result<(), Error> {
    if own.len() >= limits::OWN_CONTACTS_MAX {
        let message = format!("an organization has at most {} own contacts", limits::OWN_CONTACTS_MAX);
        return Err(Error::Invalid(FieldErrors::one("contact_id", FieldCode::LimitReached, message)));
    }
    Ok(())
}

/// Removes one of the organization's own contacts, which stays a contact.
pub async fn remove_own_contact(scope: &Scope, admin: Admin<'_>, id: ContactId) -> Result<Plan<()>, Error> {
    if scope.store().contact(id).await?.is_none() {
        return Err(Error::not_found());
    }
    Ok(Plan::new(scope, ()).change([stored::remove_own_contact(scope.call(), admin, id)]).showing([id.uuid()]))
}
