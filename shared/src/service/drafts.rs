//! Drafts as members set them up: beginning one, editing its parts, copying an agreement.
//!
//! Decision: an edit is decided on the newest version of the draft, and its form says what it showed of its part.
//! Members who edit different parts don't conflict; an edit of a changed part is refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::agreement::acts::EditedPart;
use crate::domain::agreement::edit::{Part, Seen};
use crate::domain::agreement::outline::Outline;
use crate::domain::agreement::{Agreement, AgreementName, Lifecycle, NewAgreement};
use crate::domain::contact::{Contact, ListedContact};
use crate::domain::ids::{AgreementId, ContactId};
use crate::domain::movement::Movement;
use crate::domain::time::Timestamp;
use crate::domain::workspace::{NewWorkspace, PeopledWorkspace};
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::loaded_agreement::participants_of;
use crate::service::parties::{Parties, PartyChoice};
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::workspaces;
use crate::store::Versioned;
use crate::store::change::Changes;
use crate::store::{agreements as stored, contacts as stored_contacts, movements, workspaces as stored_workspaces};
use crate::wire::fields::{FieldCode, FieldErrors};

/// What a draft begins with.
#[derive(Debug, Clone)]
pub enum Beginning {
    /// Nothing.
    Blank,
    /// What a template says, with the chosen parties by key.
    Outline(Box<Outline>, BTreeMap<String, PartyChoice>),
}

/// A draft to begin.
#[derive(Debug, Clone)]
pub struct NewDraft {
    /// Its id, from its form.
    pub id: AgreementId,
    /// What it is.
    pub new: NewAgreement,
    /// The workspace that is made for it, with the id that the new agreement names. None if there is one.
    pub workspace: Option<NewWorkspace>,
    /// What it begins with.
    pub beginning: Beginning,
}

/// Begins a draft, and what it needs: its workspace and parties. [`Error::NotFound`] and [`Error::Invalid`] at
/// `workspace_id` or a party. All or nothing. Returns the contacts that were there and take part by their typed names.
pub async fn begin(by: &impl Writer, draft: NewDraft) -> Result<Plan<Vec<ListedContact>>, Error> {
    let scope = by.scope();
    let NewDraft { id, new, workspace: new_workspace, beginning } = draft;
    if let Some(found) = scope.store().agreement(id).await? {
        return Ok(Plan::new(scope, Vec::new()).showing([found.workspace_id.uuid(), id.uuid()]));
    }
    let workspace_id = new.workspace_id;
    let (mut made, mut existing) = (Vec::new(), Vec::new());
    let (draft, payments) = match &beginning {
        Beginning::Blank => (Agreement::draft(new, scope.actor().clone(), scope.now()).with_id(id), Vec::new()),
        Beginning::Outline(outline, chosen) => {
            let parties = Parties::find(scope, chosen).await?;
            outline.check_parties(&parties.by_key).map_err(Error::Invalid)?;
            (made, existing) = (parties.made, parties.existing);
            // Only a payment has a direction, which depends on whose contacts pay.
            let own = if outline.has_payments() {
                scope.store().organization().await?.own_contact_ids
            } else {
                BTreeSet::new()
            };
            outline
                .draft(id, new, &parties.by_key, &own, scope.actor(), scope.now())
                .map_err(|errors| Error::Internal(format!("a template that makes no draft: {errors:?}")))?
        }
    };
    let mut changes = Vec::new();
    for contact in &made {
        changes.push(stored_contacts::create(scope.call(), contact)?);
    }
    let plan = if let Some(new) = new_workspace {
        let people = draft.participants.iter().map(|participant| participant.contact_id);
        let workspace = workspaces::new_with_people(scope, workspace_id, new, people.collect()).await?;
        changes.extend(stored_workspaces::create(scope.call(), &workspace)?);
        Plan::new(scope, ()).change(written(scope, &draft, &payments)?)
    } else {
        let workspace = workspaces::named_with_people(scope, workspace_id).await?;
        create(scope, &workspace, &draft, &payments)?
    };
    // In the order of API calls: what the body names comes first.
    let shown = [workspace_id.uuid(), id.uuid()].into_iter().chain(made.iter().map(|contact| contact.id.uuid()));
    Ok(plan.change(changes).showing(shown).with_output(existing))
}

/// Copies an agreement, in any state, as a new draft with the id from the form.
pub async fn duplicate(by: &impl Writer, id: AgreementId, copy: AgreementId) -> Result<Plan<()>, Error> {
    let scope = by.scope();
    let original = found(scope, id).await?;
    if scope.store().agreement(copy).await?.is_some() {
        return Ok(Plan::new(scope, ()).showing([copy.uuid()]));
    }
    let workspace = workspaces::workspace_of_with_people(scope, original.workspace_id).await?;
    let draft = original.duplicate(copy, name_of_copy(&original.name), scope.actor().clone(), scope.now());
    Ok(create(scope, &workspace, &draft, &[])?.showing([copy.uuid()]))
}

fn name_of_copy(name: &AgreementName) -> AgreementName {
    let full = format!("Copy of {}", name.as_str());
    let cut: String = full.chars().take(crate::limits::AGREEMENT_NAME_CHARS_MAX).collect();
    AgreementName::parse(&cut).unwrap_or_else(|_| name.clone())
}

fn create(
    scope: &Scope,
    workspace: &PeopledWorkspace,
    draft: &Agreement,
    payments: &[Movement],
) -> Result<Plan<()>, Error> {
    let checked = draft.as_draft().map_err(|reason| Error::Invalid(reason.at("body")))?;
    let contacts = draft.participants.iter().map(|participant| participant.contact_id);
    let joining = workspaces::join(scope, workspace, contacts)?;
    let plan = Plan::new(scope, ()).change(written(scope, draft, payments)?);
    Ok(plan.join(joining, Some(stored::leave_people(scope.call(), &checked))))
}

fn written(scope: &Scope, draft: &Agreement, payments: &[Movement]) -> Result<Vec<Changes>, Error> {
    let checked = draft.as_draft().map_err(|reason| Error::Invalid(reason.at("body")))?;
    let mut changes = vec![stored::create(scope.call(), &checked)?];
    for payment in payments {
        changes.push(movements::create(scope.call(), &checked, payment)?);
    }
    Ok(changes)
}

/// Why an edit was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditRefused {
    /// The agreement is no longer a draft.
    NotADraft(Lifecycle),
    /// The part that the form edits has been removed.
    Gone,
    /// The part is no longer as the form showed it.
    Changed,
    /// The content of the form is not valid.
    Invalid(FieldErrors),
}

/// Edits a part of a draft by a rule of the domain, unless the part has changed since its form was shown, and not to
/// what the form wants. Forms that add a part, or remove one whatever it looks like, haven't shown it.
pub async fn edit(
    by: &impl Writer,
    id: AgreementId,
    shown: Option<&(Part, Seen)>,
    rule: impl FnOnce(&Agreement, Timestamp) -> Result<Agreement, FieldErrors>,
) -> Result<Plan<Result<(), EditRefused>>, Error> {
    let scope = by.scope();
    let before = found(scope, id).await?;
    let refused = |reason| Ok(Plan::new(scope, Err(reason)).showing([id.uuid()]));
    if before.lifecycle() != Lifecycle::Draft {
        return refused(EditRefused::NotADraft(before.lifecycle()));
    }
    let now = shown.map(|(part, seen)| (before.seen(*part), seen));
    if matches!(now, Some((None, _))) {
        return refused(EditRefused::Gone);
    }
    let after = rule(&before, scope.now());
    if let Ok(after) = &after {
        let mut as_before = after.clone();
        as_before.updated_at = before.updated_at;
        // The form was submitted twice, or another member wanted the same.
        if as_before == *before {
            return Ok(Plan::new(scope, Ok(())).showing([id.uuid()]));
        }
    }
    if now.is_some_and(|(now, seen)| now.as_ref() != Some(seen)) {
        return refused(EditRefused::Changed);
    }
    let after = match after {
        Ok(after) => after,
        Err(errors) => return refused(EditRefused::Invalid(errors)),
    };
    let draft = match after.as_draft() {
        Ok(draft) => draft,
        Err(reason) => return refused(EditRefused::Invalid(reason.at("agreement_id"))),
    };
    // The audit log names the contact that the edit is about; the agreement's history names other parts.
    let contact = EditedPart::of_edit(&before, &draft).and_then(|part| part.contact_id());
    let shown = std::iter::once(id.uuid()).chain(contact.map(ContactId::uuid));
    Ok(Plan::new(scope, Ok(())).change([stored::edit(scope.call(), &before, &draft)?]).showing(shown))
}

impl EditRefused {
    /// Whether what the form wanted to remove is already gone.
    #[must_use]
    pub fn is_already_removed(&self) -> bool {
        match self {
            Self::Gone => true,
            Self::Invalid(errors) => errors.clone().into_list().iter().all(|error| error.code == FieldCode::NotFound),
            Self::NotADraft(_) | Self::Changed => false,
        }
    }
}

/// An agreement alone, in any state.
pub async fn agreement(scope: &Scope, id: AgreementId) -> Result<Agreement, Error> {
    Ok(found(scope, id).await?.into_inner())
}

/// An agreement with its participants' contacts, for the pages that edit one part of it.
pub async fn load(scope: &Scope, id: AgreementId) -> Result<(Agreement, Vec<Contact>), Error> {
    let agreement = found(scope, id).await?;
    let contacts = scope.store().contacts(participants_of([&*agreement])).await?;
    Ok((agreement.into_inner(), contacts.into_iter().map(Versioned::into_inner).collect()))
}
