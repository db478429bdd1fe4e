//! People whom a form chooses from contacts, or names: then it is the contact of that name, or a new one.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::contact::{Contact, ListedContact, NewContact};
use crate::domain::funding::input::ContactIds;
use crate::domain::ids::{ContactId, WorkspaceId};
use crate::error::Error;
use crate::limits::WORKSPACE_PEOPLE_MAX;
use crate::service::scope::{Plan, Scope};
use crate::service::{contacts, workspaces};
use crate::store::contacts as stored;
use crate::wire::fields::{FieldCode, FieldErrors};

/// Who becomes a party of a draft, a settlor or trustee of a trust, or the owner of a funding item.
#[derive(Debug, Clone)]
pub enum PartyChoice {
    /// This contact.
    Known(ContactId),
    /// The contact of this name, and of this email address if there is one. A new one if there is no such contact.
    Named(NewContact),
}

/// Who was chosen or named, and the contacts that are made for them.
#[derive(Debug, Default)]
pub(super) struct Parties {
    pub by_key: BTreeMap<String, ContactId>,
    pub made: Vec<Contact>,
    /// The contacts that were there and have a typed name.
    pub existing: Vec<ListedContact>,
}

impl Parties {
    /// Errors at `party.` or `display_name.` and the key.
    pub async fn find(scope: &Scope, chosen: &BTreeMap<String, PartyChoice>) -> Result<Self, Error> {
        let known =
            chosen.values().filter_map(|choice| if let PartyChoice::Known(id) = choice { Some(*id) } else { None });
        let contacts = scope.store().contacts(known).await?;
        let (mut parties, mut errors) = (Self::default(), FieldErrors::default());
        for (key, choice) in chosen {
            let found = match choice {
                PartyChoice::Known(id) => {
                    let found = contacts.iter().find(|contact| contact.id == *id).map(|contact| contact.id);
                    found.ok_or_else(|| Error::unknown_reference(&format!("party.{key}"), "contact"))
                }
                PartyChoice::Named(new) => parties.named(scope, key, new).await,
            };
            match found {
                Ok(id) => drop(parties.by_key.insert(key.clone(), id)),
                Err(Error::Invalid(wrong)) => errors.extend(wrong),
                Err(error) => return Err(error),
            }
        }
        if !errors.is_empty() {
            return Err(Error::Invalid(errors));
        }
        Ok(parties)
    }

    async fn named(&mut self, scope: &Scope, key: &str, new: &NewContact) -> Result<ContactId, Error> {
        let contact = Contact::create(new.clone(), scope.now());
        let is_same = |made: &&Contact| made.name_and_email() == contact.name_and_email();
        if let Some(made) = self.made.iter().find(is_same) {
            return Ok(made.id);
        }
        let found = contacts::with_name(scope, &contact.display_name, contact.email.as_ref()).await?;
        // Who was merged into another one is that one by now.
        let same: BTreeSet<ContactId> = found.iter().map(|found| found.merged_into.unwrap_or(found.id)).collect();
        let mut same = same.into_iter();
        match (same.next(), same.len()) {
            (None, _) => {
                let id = contact.id;
                self.made.push(contact);
                Ok(id)
            }
            (Some(one), 0) => {
                let itself = |found: &ListedContact| found.id == one;
                self.existing.extend(found.iter().find(|found| itself(found)).or(found.first()).cloned());
                Ok(one)
            }
            (_, others) => {
                let count = others + 1;
                let message = format!("is that of {count} contacts: enter the email address of the one you mean");
                Err(Error::Invalid(FieldErrors::one(format!("display_name.{key}"), FieldCode::InvalidValue, message)))
            }
        }
    }

    /// The chosen contacts, and those of these keys.
    pub fn with<'a>(
        &self,
        field: &str,
        chosen: &[ContactId],
        keys: impl Iterator<Item = &'a str>,
    ) -> Result<ContactIds, Error> {
        let named = keys.filter_map(|key| self.by_key.get(key).copied());
        ContactIds::new(chosen.iter().copied().chain(named))
            .map_err(|(code, message)| Error::Invalid(FieldErrors::one(field, code, message)))
    }

    /// Makes the contacts that are new, and all of them people of a workspace.
    pub async fn join<T>(&self, scope: &Scope, workspace: WorkspaceId, plan: Plan<T>) -> Result<Plan<T>, Error> {
        if self.by_key.is_empty() {
            return Ok(plan);
        }
        let before = workspaces::named_with_people(scope, workspace).await?;
        let joining = workspaces::join(scope, &before, self.by_key.values().copied());
        let joining = joining.map_err(|error| self.has_no_room(error))?;
        Ok(self.make(scope, plan)?.join(joining, None))
    }

    /// Says at the first person that the workspace has no room.
    fn has_no_room(&self, error: Error) -> Error {
        let (Error::Invalid(_), Some(key)) = (&error, self.by_key.keys().next()) else { return error };
        let message = format!("can’t be added: the workspace has {WORKSPACE_PEOPLE_MAX} people, the most there can be");
        Error::Invalid(FieldErrors::one(format!("display_name.{key}"), FieldCode::LimitReached, message))
    }

    /// Makes the contacts that are new.
    pub fn make<T>(&self, scope: &Scope, plan: Plan<T>) -> Result<Plan<T>, Error> {
        let made = self.made.iter().map(|contact| stored::create(scope.call(), contact));
        let shown = self.made.iter().map(|contact| contact.id.uuid());
        Ok(plan.change(made.collect::<Result<Vec<_>, _>>()?).showing(shown))
    }
}
