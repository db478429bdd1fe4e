"""What an integrator does with the client that openapi-python-client generates: create, replay, list through pages, and
meet errors. Arguments: base URL and token."""

import sys
import uuid

from countersign import AuthenticatedClient
from countersign.api.contacts import create_contact, get_contact, list_contacts, update_contact
from countersign.api.identity import get_identity
from countersign.models import (
    Contact,
    ContactChanges,
    ContactKind,
    ContactPage,
    Envelope,
    ErrorCode,
    Identity,
    NewContact,
)

PAGE = 2
COUNT = 5


def refused(answer, status, code):
    """The error of an answer that must be one."""
    assert answer.status_code == status, answer
    assert isinstance(answer.parsed, Envelope), answer
    error = answer.parsed.error
    assert (error.status, error.code) == (status, code), error
    assert str(error.request_id) == answer.headers["x-request-id"], error
    return error


def create_and_replay(client, mark):
    body = NewContact(display_name=f"{mark} 0", kind=ContactKind.PERSON, email="ada@okafor.example")
    key = f"client-{mark}"
    first = create_contact.sync_detailed(client=client, body=body, idempotency_key=key)
    assert first.status_code == 201 and isinstance(first.parsed, Contact), first
    assert first.headers["location"] == f"/api/v1/contacts/{first.parsed.id}", first
    again = create_contact.sync_detailed(client=client, body=body, idempotency_key=key)
    assert again.headers["idempotent-replayed"] == "true", again
    assert (again.status_code, again.content) == (201, first.content), again
    other = NewContact(display_name=f"{mark} other", kind=ContactKind.LLC)
    answer = create_contact.sync_detailed(client=client, body=other, idempotency_key=key)
    refused(answer, 409, ErrorCode.CONFLICT)
    return first.parsed


def list_through_pages(client, mark):
    for number in range(1, COUNT):
        body = NewContact(display_name=f"{mark} {number}", kind=ContactKind.TRUST)
        assert isinstance(create_contact.sync(client=client, body=body), Contact)
    found, has_more = [], True
    while has_more:
        page = list_contacts.sync(client=client, search=mark, limit=PAGE, offset=len(found))
        assert isinstance(page, ContactPage), page
        assert page.pagination.total == COUNT and len(page.data) <= PAGE, page.pagination
        found += page.data
        has_more = page.pagination.has_more
    assert [contact.display_name for contact in found] == [f"{mark} {number}" for number in range(COUNT)], found


def change(client, contact):
    changes = ContactChanges(email=None)
    changed = update_contact.sync(contact.id, client=client, body=changes)
    assert isinstance(changed, Contact), changed
    assert (changed.email, changed.display_name) == (None, contact.display_name), changed


def meet_errors(client, base_url):
    body = NewContact(display_name=" ", kind=ContactKind.PERSON, email="nobody")
    error = refused(create_contact.sync_detailed(client=client, body=body), 422, ErrorCode.INVALID_REQUEST)
    fields = sorted((one.field, one.code.value) for one in error.errors)
    assert fields == [("display_name", "too_short"), ("email", "invalid_format")], error
    refused(get_contact.sync_detailed(uuid.uuid4(), client=client), 404, ErrorCode.NOT_FOUND)
    stranger = AuthenticatedClient(base_url=base_url, token="nobody's")
    refused(get_identity.sync_detailed(client=stranger), 401, ErrorCode.UNAUTHENTICATED)


def main():
    base_url, token = sys.argv[1:]
    client = AuthenticatedClient(base_url=base_url, token=token, raise_on_unexpected_status=True)
    assert isinstance(get_identity.sync(client=client), Identity)
    mark = f"Python {uuid.uuid4()}"
    contact = create_and_replay(client, mark)
    list_through_pages(client, mark)
    change(client, contact)
    meet_errors(client, base_url)


main()
