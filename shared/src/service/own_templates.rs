//! The templates that an organization's members keep: any agreement, with roles in place of people.

use std::collections::BTreeMap;

use crate::domain::agreement::Label;
use crate::domain::agreement::outline::Outline;
use crate::domain::agreement::own_template::{NotKept, NotRenamed, OwnTemplate, OwnTemplates, TemplateName};
use crate::domain::ids::{AgreementId, ParticipantId, TemplateId};
use crate::error::Error;
use crate::service::drafts;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::{Versioned, own_templates as stored};

/// What a member says of the template that they keep.
#[derive(Debug, Clone)]
pub struct Keeping {
    /// Its name.
    pub name: TemplateName,
    /// What the role of each participant is called.
    pub labels: BTreeMap<ParticipantId, Label>,
}

/// The templates, by name.
pub async fn list(scope: &Scope) -> Result<OwnTemplates, Error> {
    Ok(scope.store().own_templates().await?.map(Versioned::into_inner).unwrap_or_default())
}

/// A template with what it says.
pub async fn get(scope: &Scope, id: TemplateId) -> Result<(OwnTemplate, Outline), Error> {
    let (templates, outline) = tokio::try_join!(list(scope), async { Ok(scope.store().outline(id).await?) })?;
    let found = templates.get(id).cloned().zip(outline);
    found.ok_or_else(Error::not_found)
}

/// Keeps an agreement, in any state, as a template with the id from the form. The agreement stays as it is.
pub async fn keep(
    by: &impl Writer,
    id: TemplateId,
    of: AgreementId,
    keeping: &Keeping,
) -> Result<Plan<Result<(), NotKept>>, Error> {
    let scope = by.scope();
    let plan = |kept| Plan::new(scope, kept).showing([of.uuid(), id.uuid()]);
    let (agreement, contacts) = drafts::load(scope, of).await?;
    let before = scope.store().own_templates().await?;
    let templates = before.as_deref().cloned().unwrap_or_default();
    if templates.get(id).is_some() {
        return Ok(plan(Ok(())));
    }
    if let Err(too_large) = agreement.fits_template() {
        return Ok(plan(Err(NotKept::TooLarge(too_large))));
    }
    let new = OwnTemplate { id, name: keeping.name.clone(), kept_by: scope.actor().clone(), kept_at: scope.now() };
    let after = match templates.keep(new) {
        Ok(after) => after,
        Err(refused) => return Ok(plan(Err(refused))),
    };
    let payments = scope.store().movements(agreement.payments_to_keep()).await?;
    let payments: Vec<_> = payments.into_iter().map(Versioned::into_inner).collect();
    let outline = Outline::of(&agreement, &payments, &contacts, &keeping.labels);
    let changes = [stored::list(scope.call(), before.as_ref(), &after)?, stored::add(scope.call(), id, &outline)?];
    Ok(plan(Ok(())).change(changes))
}

/// Renames a template, which had the shown name.
pub async fn rename(
    by: &impl Writer,
    id: TemplateId,
    shown: &str,
    name: &TemplateName,
) -> Result<Plan<Result<(), NotRenamed>>, Error> {
    let scope = by.scope();
    let plan = |renamed| Plan::new(scope, renamed).showing([id.uuid()]);
    let before = scope.store().own_templates().await?.ok_or_else(Error::not_found)?;
    before.get(id).ok_or_else(Error::not_found)?;
    let after = match before.rename(id, shown, name) {
        Ok(after) => after,
        Err(refused) => return Ok(plan(Err(refused))),
    };
    if after == *before {
        return Ok(plan(Ok(())));
    }
    Ok(plan(Ok(())).change([stored::list(scope.call(), Some(&before), &after)?]))
}

/// Deletes a template. Agreements that began with it stay as they are.
pub async fn delete(by: &impl Writer, id: TemplateId) -> Result<Plan<()>, Error> {
    let scope = by.scope();
    let plan = Plan::new(scope, ()).showing([id.uuid()]);
    let before = scope.store().own_templates().await?.ok_or_else(Error::not_found)?;
    before.get(id).ok_or_else(Error::not_found)?;
    let after = before.without(id);
    Ok(plan.change([stored::list(scope.call(), Some(&before), &after)?, stored::delete(scope.call(), id)]))
}
