//! Operations 2 and 4.

use http::Method;
use shared::caller::ReadCaller;
use shared::domain::contact::{Contact, ContactPath};
use shared::error::Error;
use shared::input::Nothing;
use shared::operation::{About, Found, ReadOperation};
use shared::page::{Page, SearchQuery};

/// A page of the organization's contacts.
pub struct ListContacts;

impl ReadOperation for ListContacts {
    const ABOUT: About = About {
        id: "list_contacts",
        method: Method::GET,
        path: "/api/v1/contacts",
        tag: "Contacts",
        summary: "List contacts",
        description: "Oldest first. `search` matches name and e-mail.",
        success: &[(200, "A page of contacts.")],
        has_etag: false,
    };
    type Path = Nothing;
    type Query = SearchQuery;
    type Output = Page<Contact>;

    async fn run(caller: &ReadCaller, _: Nothing, query: Self::Query) -> Result<Found<Page<Contact>>, Error> {
        Ok(caller.store().list_contacts(query.search.needle(), query.page()).await?.into())
    }
}

/// One contact.
pub struct GetContact;

impl ReadOperation for GetContact {
    const ABOUT: About = About {
        id: "get_contact",
        method: Method::GET,
        path: "/api/v1/contacts/{contact_id}",
        tag: "Contacts",
        summary: "Get a contact",
        description: "Its `ETag` is what a PATCH may send as `If-Match`.",
        success: &[(200, "The contact.")],
        has_etag: true,
    };
    type Path = ContactPath;
    type Query = Nothing;
    type Output = Contact;

    async fn run(caller: &ReadCaller, path: ContactPath, _: Nothing) -> Result<Found<Contact>, Error> {
        Ok(caller.store().contact(path.contact_id).await?.ok_or_else(Error::not_found)?.into())
    }
}
