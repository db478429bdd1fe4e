//! Operations 2 and 4 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult, Response};
use shared::api::views::contacts::{ContactPath, ContactView};
use shared::error::Error;
use shared::service::contacts::{self, ContactQuery};
use shared::wire::input::Empty;
use shared::wire::page::{Order, Page, Shelf};

/// Lists contacts.
pub struct ListContacts;

impl ReadOperation for ListContacts {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_contacts",
        method: Method::GET,
        path: "/api/v1/contacts",
        tag: "Contacts",
        summary: "List contacts",
        description: "Oldest first. `search` matches name and email; `external_reference` finds the one contact that has it. Contacts that were merged into another one are listed too: `merged_into` says which.",
        agent: "Finds people and entities of the organization by a part of the name or email, or by your own `external_reference`. Search here before you create one. Next: `get_contact`, or use the `id` as `contact_id`.",
        success: &[(200, "A page of contacts.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = ContactQuery;
    type Output = Page<ContactView>;

    async fn run(caller: &ReadCaller, _: Empty, query: ContactQuery) -> Result<ReadResult<Page<ContactView>>, Error> {
        let page = contacts::list(caller, Order::OldestFirst, Shelf::All, &query).await?;
        Ok(page.map(ContactView::from).into())
    }
}

/// Gets a contact.
pub struct GetContact;

impl ReadOperation for GetContact {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_contact",
        method: Method::GET,
        path: "/api/v1/contacts/{contact_id}",
        tag: "Contacts",
        summary: "Get a contact",
        description: "Its `ETag` is what a PATCH may send as `If-Match`.",
        agent: "One contact. The result's note has its `etag`, which `update_contact` takes as `if_match`.",
        success: &[(200, "The contact.")],
        headers: &["etag"],
    };
    type Path = ContactPath;
    type Query = Empty;
    type Output = ContactView;

    async fn run(caller: &ReadCaller, path: ContactPath, _: Empty) -> Result<ReadResult<ContactView>, Error> {
        let contact = contacts::get(caller, path.contact_id).await?;
        let version = contact.version();
        Ok(Response::ok(ContactView::from(contact.into_inner())).at_version(version).into())
    }
}
