//! Operations 3 and 5.

use http::{Method, StatusCode};
use shared::api::caller::WriteCaller;
use shared::api::operation::{OperationSpec, WriteOperation};
use shared::api::views::contacts::{ContactPath, ContactView};
use shared::domain::contact::{Contact, ContactChanges, NewContact};
use shared::error::Error;
use shared::store::commit::Committed;
use shared::store::contacts;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::Empty;

/// Creates a contact, or finds the one that has the reference.
pub struct CreateContact;

impl WriteOperation for CreateContact {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_contact",
        method: Method::POST,
        path: "/api/v1/contacts",
        tag: "Contacts",
        summary: "Create a contact",
        description: "With an `external_reference` that a contact of yours has already, that contact is returned as it is, with status 200, and nothing is created.",
        success: &[(201, "The new contact."), (200, "The contact that has this reference already, unchanged.")],
        has_etag: true,
    };
    type Path = Empty;
    type Body = NewContact;
    type Output = ContactView;

    async fn run(caller: &WriteCaller, _: Empty, new: NewContact) -> Result<Committed<ContactView>, Error> {
        if let Some(reference) = &new.external_reference
            && let Some(id) = caller.store().contact_with_reference(reference).await?
        {
            let existing = caller.store().contact(id).await?.ok_or(Error::Conflict)?;
            if existing.value.external_reference != new.external_reference {
                // The contact was given another reference between the two reads.
                return Err(Error::Conflict);
            }
            let view = existing.value.into();
            return caller.commit().respond(StatusCode::OK, &view, Some(existing.version)).await;
        }
        let contact = Contact::create(new, caller.now());
        let changes = contacts::create(caller.org(), &contact)?;
        caller.commit().with(changes).respond(StatusCode::CREATED, &contact.into(), Some(1)).await
    }
}

/// Changes a contact.
pub struct UpdateContact;

impl WriteOperation for UpdateContact {
    const SPEC: OperationSpec = OperationSpec {
        id: "update_contact",
        method: Method::PATCH,
        path: "/api/v1/contacts/{contact_id}",
        tag: "Contacts",
        summary: "Change a contact",
        description: "Send only the fields to change; `null` clears an optional one. Without `If-Match` the last write wins field by field.",
        success: &[(200, "The contact after the change.")],
        has_etag: true,
    };
    type Path = ContactPath;
    type Body = ContactChanges;
    type Output = ContactView;

    async fn run(
        caller: &WriteCaller,
        path: ContactPath,
        changes: ContactChanges,
    ) -> Result<Committed<ContactView>, Error> {
        let before = caller.store().contact(path.contact_id).await?.ok_or_else(Error::not_found)?;
        caller.check_match(before.version)?;
        let after = before.value.change(changes, caller.now());
        if after == before.value {
            return caller.commit().respond(StatusCode::OK, &after.into(), Some(before.version)).await;
        }
        if let Some(reference) = &after.external_reference
            && after.external_reference != before.value.external_reference
            && let Some(holder) = caller.store().contact_with_reference(reference).await?
        {
            if holder == after.id {
                // Somebody gave it to this contact since it was read.
                return Err(Error::Conflict);
            }
            let message = "is the reference of another contact";
            return Err(Error::Invalid(FieldErrors::one("external_reference", FieldCode::Taken, message)));
        }
        let written = contacts::replace(caller.org(), &before, &after)?;
        caller.commit().with(written).respond(StatusCode::OK, &after.into(), Some(before.version + 1)).await
    }
}
