//! The payments of drafts, as members set them up. Each is a movement, a separate record.
//!
//! Decision: changing a payment makes a new version of its draft, so a publication covers what its page showed.

use crate::domain::agreement::draft::Draft;
use crate::domain::agreement::edit::Seen;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, MovementId};
use crate::domain::movement::Movement;
use crate::domain::movement::terms::PaymentTerms;
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::drafts::EditRefused;
use crate::service::loaded_agreement::participants_of;
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::Versioned;
use crate::store::movements::{self as stored, LoadedMovement};
use crate::wire::fields::{FieldCode, FieldErrors};

/// An agreement with the contacts of its participants and, if wanted, its movements, for the pages that set up a draft.
pub async fn load(
    scope: &Scope,
    id: AgreementId,
    are_wanted: impl FnOnce(&Agreement) -> bool,
) -> Result<(Agreement, Vec<Contact>, Vec<Movement>), Error> {
    let agreement = found(scope, id).await?;
    let wanted = if are_wanted(&agreement) { agreement.movements().keys().copied().collect() } else { Vec::new() };
    let contacts = scope.store().contacts(participants_of([&*agreement]));
    let (contacts, movements) = tokio::try_join!(contacts, scope.store().movements(wanted))?;
    let contacts = contacts.into_iter().map(Versioned::into_inner).collect();
    let movements = movements.into_iter().map(Versioned::into_inner).collect();
    Ok((agreement.into_inner(), contacts, movements))
}

/// Adds a payment to a draft, with the id from its form. Refuses the id of another agreement's payment.
pub async fn add(
    by: &impl Writer,
    agreement: AgreementId,
    id: MovementId,
    terms: PaymentTerms,
) -> Result<Plan<Result<(), EditRefused>>, Error> {
    let scope = by.scope();
    let before = found(scope, agreement).await?;
    let plan = |output| Plan::new(scope, output).showing([agreement.uuid(), id.uuid()]);
    let (after, movement) = match before.add_payment(id, terms, scope.actor().clone(), scope.now()) {
        Ok((_, None)) => return Ok(plan(Ok(()))),
        Ok((after, Some(movement))) => (after, movement),
        Err(_) if before.lifecycle() != Lifecycle::Draft => {
            return Ok(plan(Err(EditRefused::NotADraft(before.lifecycle()))));
        }
        Err(errors) => return Ok(plan(Err(EditRefused::Invalid(errors)))),
    };
    match scope.store().movement(id).await? {
        None => {}
        // It was added since the draft was read.
        Some(other) if other.agreement_id() == agreement => return Err(Error::Conflict),
        Some(_) => {
            let message = "is the id of a payment of another agreement; open the form again";
            return Ok(plan(Err(EditRefused::Invalid(FieldErrors::one("id", FieldCode::Taken, message)))));
        }
    }
    Ok(match as_draft(&after) {
        Ok(draft) => plan(Ok(())).change(stored::add(scope.call(), &before, &draft, &movement)?),
        Err(refused) => plan(Err(refused)),
    })
}

/// Replaces the terms of a draft's payment, unless they have changed since its form was shown.
pub async fn change(
    by: &impl Writer,
    agreement: AgreementId,
    id: MovementId,
    shown: &Seen,
    terms: PaymentTerms,
) -> Result<Plan<Result<(), EditRefused>>, Error> {
    let scope = by.scope();
    let before = found(scope, agreement).await?;
    let plan = |output| Plan::new(scope, output).showing([agreement.uuid(), id.uuid()]);
    if before.lifecycle() != Lifecycle::Draft {
        return Ok(plan(Err(EditRefused::NotADraft(before.lifecycle()))));
    }
    if !before.movements().contains_key(&id) {
        return Ok(plan(Err(EditRefused::Gone)));
    }
    let movement = payment(scope, id).await?;
    // The form was submitted twice, or another member wanted the same.
    if *movement.terms() == terms {
        return Ok(plan(Ok(())));
    }
    if Seen::of_payment(movement.terms()) != *shown {
        return Ok(plan(Err(EditRefused::Changed)));
    }
    let (after, changed) = match before.change_payment(&movement, terms, scope.now()) {
        Ok(after) => after,
        Err(errors) => return Ok(plan(Err(EditRefused::Invalid(errors)))),
    };
    Ok(match as_draft(&after) {
        Ok(draft) => {
            let read = LoadedMovement { agreement: &before, movement: &movement };
            plan(Ok(())).change(stored::change(scope.call(), read, &draft, &changed)?)
        }
        Err(refused) => plan(Err(refused)),
    })
}

/// Removes a payment of a draft, whatever it looks like by then.
pub async fn remove(
    by: &impl Writer,
    agreement: AgreementId,
    id: MovementId,
) -> Result<Plan<Result<(), EditRefused>>, Error> {
    let scope = by.scope();
    let before = found(scope, agreement).await?;
    let plan = |output| Plan::new(scope, output).showing([agreement.uuid(), id.uuid()]);
    if before.lifecycle() != Lifecycle::Draft {
        return Ok(plan(Err(EditRefused::NotADraft(before.lifecycle()))));
    }
    let after = match before.remove_payment(id, scope.now()) {
        Ok(after) => after,
        Err(errors) => return Ok(plan(Err(EditRefused::Invalid(errors)))),
    };
    let movement = payment(scope, id).await?;
    Ok(match as_draft(&after) {
        Ok(draft) => {
            let read = LoadedMovement { agreement: &before, movement: &movement };
            plan(Ok(())).change(stored::remove(scope.call(), read, &draft)?)
        }
        Err(refused) => plan(Err(refused)),
    })
}

/// A payment that its draft names. If it is missing, it was removed since the draft was read.
async fn payment(scope: &Scope, id: MovementId) -> Result<Versioned<Movement>, Error> {
    scope.store().movement(id).await?.ok_or(Error::Conflict)
}

fn as_draft(after: &Agreement) -> Result<Draft, EditRefused> {
    after.as_draft().map_err(|reason| EditRefused::Invalid(reason.at("agreement_id")))
}
