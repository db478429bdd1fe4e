//! Operations 3 and 5 of the specification.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, Rule, WriteOperation};
use shared::api::views::contacts::{ContactPath, ContactView};
use shared::domain::contact::{Contact, ContactChanges, NewContact};
use shared::error::Error;
use shared::service::contacts::{self, Upserted};
use shared::wire::fields::FieldCode;
use shared::wire::input::Empty;

/// Creates a contact, or returns the one with the same external reference.
pub struct CreateContact;

impl WriteOperation for CreateContact {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_contact",
        method: Method::POST,
        path: "/api/v1/contacts",
        tag: "Contacts",
        summary: "Create a contact",
        description: "With an `external_reference` that a contact of yours has already, that contact is returned as it is, with status 200, and nothing is created. The header `ignored-fields` then names the fields that were sent with other values than the contact has: change them with a PATCH.",
        agent: "Adds a person or entity to the organization. It contacts nobody, and does not make them part of a deal. With an `external_reference` that exists already, that contact comes back unchanged. Next: `add_agreement_participant` or `add_workspace_contact`.",
        success: &[(201, "The new contact."), (200, "The contact that has this reference already, unchanged.")],
        headers: &["etag", "ignored-fields"],
    };
    type Path = Empty;
    type Body = NewContact;
    type Output = ContactView;

    async fn run(caller: &WriteCaller, _: Empty, new: NewContact) -> Result<Committed<ContactView>, Error> {
        let plan = contacts::create(caller, new).await?;
        caller
            .respond(plan, |upserted| match upserted {
                Upserted::Created(contact) => Response::created(ContactView::from(contact.clone())).at_version(1),
                Upserted::Existing(contact, ignored) => Response::ok(ContactView::from(Contact::clone(contact)))
                    .at_version(contact.version())
                    .ignoring(ignored),
            })
            .await
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
        agent: "Changes the fields that you send, and no others; `null` clears an optional one. Agreements show the change everywhere. Send `if_match` so that you don't overwrite what someone else just changed.",
        success: &[(200, "The contact after the change.")],
        headers: &["etag"],
    };
    type Path = ContactPath;
    type Body = ContactChanges;
    type Output = ContactView;

    const RULES: &'static [Rule] = &[("external_reference", FieldCode::Taken, "is the reference of another contact")];

    async fn run(
        caller: &WriteCaller,
        path: ContactPath,
        changes: ContactChanges,
    ) -> Result<Committed<ContactView>, Error> {
        let plan = contacts::update(caller, path.contact_id, caller.expected_version(), changes).await?;
        caller.respond(plan, |(contact, version)| Response::ok(contact.clone().into()).at_version(*version)).await
    }
}
