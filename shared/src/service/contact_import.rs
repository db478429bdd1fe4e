//! Many contacts at once, from an uploaded file.

use std::collections::HashSet;

use crate::domain::contact::{Contact, ExternalReference, ListedContact, NameAndEmail, NewContact};
use crate::domain::ids::ContactId;
use crate::error::Error;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::contacts as stored;
use crate::wire::fields::{FieldCode, FieldErrors};

/// What the rows of a file have in common with contacts that exist.
#[derive(Debug, Default)]
pub struct Traits<'a> {
    /// Their ids, if some may be added already.
    pub ids: HashSet<ContactId>,
    /// Their references.
    pub references: HashSet<&'a ExternalReference>,
    /// Their names and email addresses, without their letter case.
    pub people: HashSet<NameAndEmail>,
}

/// The contacts, current or not, that have an id, a reference, or both name and email address of a row.
pub async fn known(scope: &Scope, of_rows: &Traits<'_>) -> Result<Vec<ListedContact>, Error> {
    let is_known = |contact: &ListedContact| {
        of_rows.ids.contains(&contact.id)
            || contact.external_reference.as_ref().is_some_and(|reference| of_rows.references.contains(reference))
            || of_rows.people.contains(&contact.name_and_email())
    };
    Ok(scope.store().contacts_that(is_known).await?)
}

/// Adds at most [`CONTACTS_CREATED_AT_ONCE`](crate::limits::CONTACTS_CREATED_AT_ONCE) contacts, all or none, and returns
/// how many. Leaves out existing ones, so a repeated upload adds once. `taken` at `external_reference`.
pub async fn add(by: &impl Writer, new: &[(ContactId, NewContact)]) -> Result<Plan<usize>, Error> {
    let scope = by.scope();
    let there = scope.store().contacts(new.iter().map(|(id, _)| *id)).await?;
    let left: Vec<_> = new.iter().filter(|(id, _)| there.iter().all(|contact| contact.id != *id)).collect();
    let references = left.iter().filter_map(|(_, new)| new.external_reference.as_ref());
    if scope.store().has_contact_with_any(references).await? {
        let message = "is the reference of another contact";
        return Err(Error::Invalid(FieldErrors::one("external_reference", FieldCode::Taken, message)));
    }
    let mut plan = Plan::new(scope, left.len());
    for (id, new) in left {
        let contact = Contact { id: *id, ..Contact::create(new.clone(), scope.now()) };
        plan = plan.change([stored::create(scope.call(), &contact)?]).showing([id.uuid()]);
    }
    Ok(plan)
}
