//! Trusts: reading, and creating or changing by reference.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::domain::contact::{ContactChanges, ListedContact, NewContact};
use crate::domain::ids::{ContactId, TrustId, WorkspaceId};
use crate::domain::trust::{NewTrust, Trust, TrustChanges, check_name};
use crate::domain::workspace::NewWorkspace;
use crate::error::Error;
use crate::service::parties::{Parties, PartyChoice};
use crate::service::precondition::ExpectedVersion;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::workspaces;
use crate::store::keys::Rows;
use crate::store::{Versioned, contacts as stored_contacts, trusts as stored, workspaces as stored_workspaces};
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::{NullablePatch, OrDefault, Patch};
use crate::wire::page::{Order, Page};

pub use crate::store::trusts::TrustQuery;

/// A trust as responses show it.
#[derive(Debug, Clone)]
pub struct TrustInFull {
    /// The trust.
    pub trust: Trust,
    /// How many funding items it has.
    pub item_count: u32,
}

/// A trust.
pub async fn get(scope: &Scope, id: TrustId) -> Result<TrustInFull, Error> {
    let trust = scope.store().trust(id).await?.ok_or_else(Error::not_found)?.into_inner();
    let counts = scope.store().item_counts(Some(trust.workspace_id)).await?;
    Ok(with_count(trust, &counts))
}

/// A page of the trusts that match a query.
pub async fn list(scope: &Scope, query: &TrustQuery) -> Result<Page<TrustInFull>, Error> {
    let page = scope.store().list_trusts(Order::OldestFirst, query).await?;
    let workspaces: HashSet<WorkspaceId> = page.data.iter().map(|trust| trust.workspace_id).collect();
    let counts = match (workspaces.len(), workspaces.into_iter().next()) {
        (0, _) => HashMap::new(),
        (1, workspace) => scope.store().item_counts(workspace).await?,
        _ => scope.store().item_counts(None).await?,
    };
    Ok(page.map(|trust| with_count(trust, &counts)))
}

fn with_count(trust: Trust, counts: &HashMap<TrustId, u32>) -> TrustInFull {
    let item_count = counts.get(&trust.id).copied().unwrap_or_default();
    TrustInFull { trust, item_count }
}

/// The result of creating a trust.
#[derive(Debug)]
pub enum Upserted {
    /// A new trust.
    Created(TrustInFull),
    /// The trust that already has the reference, with the sent values.
    Existing(TrustInFull),
}

/// Creates a trust with its contact, or gives the trust that has its reference the sent values. Errors at
/// `workspace_id` and each contact; `wrong_workspace` when the trust is of another workspace.
pub async fn create(by: &impl Writer, new: NewTrust) -> Result<Plan<Upserted>, Error> {
    let scope = by.scope();
    check_references(scope, &new, true).await?;
    check_name(&new.formal_name).map_err(Error::Invalid)?;
    if let Some(reference) = &new.external_reference
        && let Some(holder) = scope.store().trust_with_reference(reference).await?
    {
        let before = scope.store().trust(holder).await?.ok_or(Error::Conflict)?;
        if before.external_reference.as_ref() != Some(reference) {
            // A member gave the trust another reference between the two reads.
            return Err(Error::Conflict);
        }
        if before.workspace_id != new.workspace_id {
            let message = "is not the workspace of the trust that has this external_reference";
            return Err(Error::Invalid(FieldErrors::one("workspace_id", FieldCode::WrongWorkspace, message)));
        }
        scope.store().acknowledge_found(Rows::Trusts, &before).await?;
        return Ok(change(scope, &before, new.into_changes()).await?.map(|(trust, _)| Upserted::Existing(trust)));
    }
    Ok(created(scope, TrustId::new(), new)?.map(Upserted::Created))
}

fn is_settlor(person: &NamedPerson) -> bool {
    person.is_settlor
}

fn is_trustee(person: &NamedPerson) -> bool {
    person.is_trustee
}

/// A trust to be created in a form.
#[derive(Debug, Clone)]
pub struct TrustInForm {
    /// Its id, from its form.
    pub id: TrustId,
    /// What it is.
    pub new: NewTrust,
    /// The workspace that is made for it, with the id that the new trust names. None if there is one.
    pub workspace: Option<NewWorkspace>,
    /// Who is named in the form besides those chosen.
    pub named: Vec<NamedPerson>,
}

/// A settlor or trustee who is named in the form of a trust: the contact of that name, or a new one.
#[derive(Debug, Clone)]
pub struct NamedPerson {
    /// What tells the person's fields from others'.
    pub key: String,
    /// Who it is.
    pub new: NewContact,
    /// Whether they settled the trust.
    pub is_settlor: bool,
    /// Whether they act for it.
    pub is_trustee: bool,
}

async fn find_named(scope: &Scope, people: &[NamedPerson]) -> Result<Parties, Error> {
    let choice = |person: &NamedPerson| (person.key.clone(), PartyChoice::Named(person.new.clone()));
    Parties::find(scope, &people.iter().map(choice).collect()).await
}

fn keys(people: &[NamedPerson], is_so: fn(&NamedPerson) -> bool) -> impl Iterator<Item = &str> {
    people.iter().filter(move |person| is_so(person)).map(|person| person.key.as_str())
}

/// Creates a trust from its form, never changing another: `taken` at `external_reference` if one has it. Makes the
/// workspace and the people that the form names with it, all or nothing. Returns the contacts that were there and take
/// part by their typed names.
pub async fn begin(by: &impl Writer, trust: TrustInForm) -> Result<Plan<Vec<ListedContact>>, Error> {
    let scope = by.scope();
    let TrustInForm { id, mut new, workspace: new_workspace, named } = trust;
    let workspace = new.workspace_id;
    check_references(scope, &new, new_workspace.is_none()).await?;
    check_name(&new.formal_name).map_err(Error::Invalid)?;
    if let Some(reference) = &new.external_reference
        && scope.store().trust_with_reference(reference).await?.is_some()
    {
        return Err(reference_taken());
    }
    let parties = find_named(scope, &named).await?;
    let settlors = parties.with("settlor_contact_ids", new.settlors(), keys(&named, is_settlor))?;
    let trustees = parties.with("trustee_contact_ids", new.trustees(), keys(&named, is_trustee))?;
    let people: BTreeSet<ContactId> = settlors.as_slice().iter().chain(trustees.as_slice()).copied().collect();
    (new.settlor_contact_ids, new.trustee_contact_ids) = (OrDefault(Some(settlors)), OrDefault(Some(trustees)));
    let plan = created(scope, id, new)?;
    let plan = match new_workspace {
        None => parties.join(scope, workspace, plan).await?,
        Some(new) => {
            let with_people = workspaces::new_with_people(scope, workspace, new, people).await?;
            parties.make(scope, plan)?.change(stored_workspaces::create(scope.call(), &with_people)?)
        }
    };
    Ok(plan.with_output(parties.existing))
}

fn created(scope: &Scope, id: TrustId, new: NewTrust) -> Result<Plan<TrustInFull>, Error> {
    let (trust, contact) = Trust::create(id, new, scope.actor().clone(), scope.now());
    let changes = [stored::create(scope.call(), &trust)?, stored_contacts::create(scope.call(), &contact)?];
    let event = trust.created_event();
    let shown = [trust.workspace_id.uuid(), trust.id.uuid(), contact.id.uuid()];
    let created = TrustInFull { trust, item_count: 0 };
    Ok(Plan::new(scope, created).change(changes).emit([event]).showing(shown))
}

fn reference_taken() -> Error {
    let message = "is the reference of another trust";
    Error::Invalid(FieldErrors::one("external_reference", FieldCode::Taken, message))
}

/// Changes a trust by id or reference, and returns it with its version: a new one only if anything changed.
pub async fn update(
    by: &impl Writer,
    id: TrustId,
    expected: &ExpectedVersion,
    changes: TrustChanges,
) -> Result<Plan<(TrustInFull, u64)>, Error> {
    Ok(updated(by.scope(), id, expected, changes, &[]).await?.0)
}

/// Changes a trust from its form, with the people whom the form names besides those chosen. Returns the contacts that were
/// there and take part by their typed names.
pub async fn update_in_form(
    by: &impl Writer,
    id: TrustId,
    expected: &ExpectedVersion,
    changes: TrustChanges,
    named: &[NamedPerson],
) -> Result<Plan<Vec<ListedContact>>, Error> {
    let (plan, existing) = updated(by.scope(), id, expected, changes, named).await?;
    Ok(plan.with_output(existing))
}

async fn updated(
    scope: &Scope,
    id: TrustId,
    expected: &ExpectedVersion,
    mut changes: TrustChanges,
    named_people: &[NamedPerson],
) -> Result<(Plan<(TrustInFull, u64)>, Vec<ListedContact>), Error> {
    let named = changes.contacts();
    let trust = async { scope.store().trust(id).await.map_err(Error::from) };
    let (before, unknown) = futures_util::try_join!(trust, unknown_contacts(scope, &named))?;
    let before = before.ok_or_else(Error::not_found)?;
    if !unknown.is_empty() {
        return Err(Error::NotFound(unknown));
    }
    expected.check(before.version())?;
    if let Patch::Set(name) = &changes.formal_name {
        check_name(name).map_err(Error::Invalid)?;
    }
    if let NullablePatch::Set(reference) = &changes.external_reference
        && before.external_reference.as_ref() != Some(reference)
        && let Some(holder) = scope.store().trust_with_reference(reference).await?
    {
        if holder == id {
            // Another call set it on this trust after the read.
            return Err(Error::Conflict);
        }
        return Err(reference_taken());
    }
    let parties = find_named(scope, named_people).await?;
    for (field, side, is_so) in [
        ("settlor_contact_ids", &mut changes.settlor_contact_ids, is_settlor as fn(&NamedPerson) -> bool),
        ("trustee_contact_ids", &mut changes.trustee_contact_ids, is_trustee),
    ] {
        if let Patch::Set(chosen) = side {
            *chosen = parties.with(field, chosen.as_slice(), keys(named_people, is_so))?;
        }
    }
    let plan = change(scope, &before, changes).await?;
    let plan = parties.join(scope, before.workspace_id, plan).await?;
    Ok((plan, parties.existing))
}

async fn change(
    scope: &Scope,
    before: &Versioned<Trust>,
    changes: TrustChanges,
) -> Result<Plan<(TrustInFull, u64)>, Error> {
    let after = before.change(changes, scope.now());
    let counts = scope.store().item_counts(Some(before.workspace_id)).await?;
    let shown = [before.workspace_id.uuid(), before.id.uuid()];
    if after == **before {
        return Ok(Plan::new(scope, (with_count(after, &counts), before.version())).showing(shown));
    }
    let mut written = vec![stored::replace(scope.call(), before, &after)?];
    if after.formal_name != before.formal_name
        && let Some(contact) = scope.store().contact(after.contact_id).await?
    {
        let name = Patch::Set(after.formal_name.clone());
        let renamed = ContactChanges { display_name: name, ..ContactChanges::default() };
        let renamed = contact.change(renamed, scope.actor(), scope.now());
        if renamed != *contact {
            written.push(stored_contacts::replace(scope.call(), &contact, &renamed)?);
        }
    }
    let (event, version) = (after.updated_event(), before.version() + 1);
    Ok(Plan::new(scope, (with_count(after, &counts), version)).change(written).emit([event]).showing(shown))
}

async fn check_references(scope: &Scope, new: &NewTrust, has_workspace: bool) -> Result<(), Error> {
    let named = [("settlor_contact_ids", new.settlors()), ("trustee_contact_ids", new.trustees())];
    let workspace = async {
        if !has_workspace {
            return Ok(FieldErrors::default());
        }
        match workspaces::named(scope, new.workspace_id).await {
            Ok(_) => Ok(FieldErrors::default()),
            Err(Error::NotFound(errors)) => Ok(errors),
            Err(error) => Err(error),
        }
    };
    let (mut unknown, of_contacts) = futures_util::try_join!(workspace, unknown_contacts(scope, &named))?;
    unknown.extend(of_contacts);
    if unknown.is_empty() { Ok(()) } else { Err(Error::NotFound(unknown)) }
}

/// The errors for contacts that the organization doesn't have, at their places in the body's lists.
pub(super) async fn unknown_contacts(scope: &Scope, named: &[(&str, &[ContactId])]) -> Result<FieldErrors, Error> {
    let wanted: BTreeSet<ContactId> = named.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let found = scope.store().contacts(wanted).await?;
    let mut errors = FieldErrors::default();
    for (field, ids) in named {
        for (at, id) in ids.iter().enumerate() {
            if found.iter().all(|contact| contact.id != *id) {
                let message = "is no contact of your organization";
                errors.extend(FieldErrors::one(format!("{field}[{at}]"), FieldCode::NotFound, message));
            }
        }
    }
    Ok(errors)
}
