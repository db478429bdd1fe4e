"""What an integrator does with the client that openapi-python-client generates: create, replay, list through pages, draft a
deal, meet errors, and read all that the demo has. Arguments: base URL, token and the document."""

import importlib
import json
import pathlib
import re
import sys
import uuid

from countersign import AuthenticatedClient
from countersign.api.agreements import add_agreement_participant, create_agreement, get_agreement
from countersign.api.contacts import create_contact, get_contact, list_contacts, update_contact
from countersign.api.identity import get_identity
from countersign.api.proposals import create_proposal
from countersign.api.workspaces import create_workspace
from countersign.models import (
    Agreement,
    AgreementCreate,
    AgreementKind,
    Contact,
    ContactChanges,
    ContactCreate,
    ContactKind,
    ContactPage,
    Envelope,
    ErrorCode,
    FieldCode,
    Identity,
    Lifecycle,
    Participant,
    ParticipantCreate,
    ParticipantRole,
    ProposalAction,
    ProposalCreate,
    Workspace,
    WorkspaceCreate,
)

PAGE = 2
COUNT = 5
# As many rows as a page can have.
ROWS = 200
MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00:00)")


def refused(answer, status, code):
    """The error of an answer that must be one."""
    assert answer.status_code == status, answer
    assert isinstance(answer.parsed, Envelope), answer
    error = answer.parsed.error
    assert (error.status, error.code) == (status, code), error
    assert str(error.request_id) == answer.headers["x-request-id"], error
    return error


def create_and_replay(client, mark):
    body = ContactCreate(display_name=f"{mark} 0", kind=ContactKind.CONTACT_KIND_PERSON, email="ada@okafor.example")
    key = f"client-{mark}"
    first = create_contact.sync_detailed(client=client, body=body, idempotency_key=key)
    assert first.status_code == 201 and isinstance(first.parsed, Contact), first
    assert first.headers["location"] == f"/api/v1/contacts/{first.parsed.id}", first
    again = create_contact.sync_detailed(client=client, body=body, idempotency_key=key)
    assert again.headers["idempotent-replayed"] == "true", again
    assert (again.status_code, again.content) == (201, first.content), again
    other = ContactCreate(display_name=f"{mark} other", kind=ContactKind.CONTACT_KIND_LLC)
    answer = create_contact.sync_detailed(client=client, body=other, idempotency_key=key)
    refused(answer, 409, ErrorCode.ERROR_CODE_CONFLICT)
    return first.parsed


def list_through_pages(client, mark):
    for number in range(1, COUNT):
        body = ContactCreate(display_name=f"{mark} {number}", kind=ContactKind.CONTACT_KIND_TRUST)
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
    body = ContactCreate(display_name=" ", kind=ContactKind.CONTACT_KIND_PERSON, email="nobody")
    error = refused(create_contact.sync_detailed(client=client, body=body), 422, ErrorCode.ERROR_CODE_INVALID_REQUEST)
    fields = sorted((one.field, one.code.value) for one in error.errors)
    assert fields == [("display_name", "too_short"), ("email", "invalid_format")], error
    refused(get_contact.sync_detailed(uuid.uuid4(), client=client), 404, ErrorCode.ERROR_CODE_NOT_FOUND)
    stranger = AuthenticatedClient(base_url=base_url, token="nobody's")
    refused(get_identity.sync_detailed(client=stranger), 401, ErrorCode.ERROR_CODE_UNAUTHENTICATED)


def draft_a_deal(client, contact):
    workspace = create_workspace.sync(client=client, body=WorkspaceCreate(name="Harbor Street"))
    assert isinstance(workspace, Workspace), workspace
    new = AgreementCreate(workspace_id=workspace.id, name="Seed round SAFE", kind=AgreementKind.AGREEMENT_KIND_SAFE)
    draft = create_agreement.sync(client=client, body=new)
    assert isinstance(draft, Agreement) and draft.lifecycle == Lifecycle.LIFECYCLE_DRAFT, draft
    roles = [ParticipantRole.PARTICIPANT_ROLE_SIGNER, ParticipantRole.PARTICIPANT_ROLE_INVESTOR]
    part = ParticipantCreate(contact_id=contact.id, roles=roles)
    participant = add_agreement_participant.sync(draft.id, client=client, body=part)
    assert isinstance(participant, Participant) and participant.agreement_id == draft.id, participant
    read = get_agreement.sync(draft.id, client=client)
    assert isinstance(read, Agreement) and read.proposal_ready is False, read
    assert [one.contact_id for one in read.participants] == [contact.id], read
    blockers = {one.code for one in read.publish_blockers}
    proposal = ProposalCreate(action=ProposalAction.PROPOSAL_ACTION_PUBLISH_AGREEMENT, agreement_id=draft.id)
    answer = create_proposal.sync_detailed(client=client, body=proposal)
    error = refused(answer, 422, ErrorCode.ERROR_CODE_INVALID_REQUEST)
    # Confirming would activate the workspace; all else keeps it from being proposed.
    expected = blockers - {FieldCode.FIELD_CODE_WORKSPACE_NOT_ACTIVATED}
    assert {one.code for one in error.errors} == expected, (error, blockers)


def same(value):
    """A value of JSON with its moments written in one way."""
    if isinstance(value, dict):
        return {name: same(member) for name, member in value.items()}
    if isinstance(value, list):
        return [same(member) for member in value]
    if isinstance(value, str) and (moment := MOMENT.fullmatch(value)):
        return f"{moment[1]}.{(moment[2] or '').ljust(6, '0')[:6]}Z"
    return value


def read_everything(client, document):
    """Calls each operation that reads, for each record that the lists have. What the client understands of an answer has to
    be all that the answer says."""
    operations = [(path, methods["get"]) for path, methods in document["paths"].items()
                  if "get" in methods and path.startswith("/api/v1/")]
    # The lists come first: `/api/v1/agreements` gives the ids for `/api/v1/agreements/{agreement_id}/information`.
    ids, answered = {}, set()
    for path, operation in sorted(operations, key=lambda pair: "{" in pair[0]):
        name = operation["operationId"]
        call = importlib.import_module(f"countersign.api.{operation['tags'][0].lower()}.{name}").sync_detailed
        is_list = any(parameter["name"] == "limit" for parameter in operation.get("parameters", []))
        for arguments in [(id,) for id in ids[path[:path.index("/{")]]] if "{" in path else [()]:
            answer = call(*arguments, client=client, **({"limit": ROWS} if is_list else {}))
            sent, understood = json.loads(answer.content), answer.parsed
            assert answer.status_code == 200, (path, answer)
            plain = [row.to_dict() for row in understood] if isinstance(understood, list) else understood.to_dict()
            assert same(plain) == same(sent), (path, plain, sent)
            if is_list:
                ids[path] = [row.id for row in understood.data if hasattr(row, "id")]
            if sent and (not is_list or sent["data"]):
                answered.add(name)
    # The demo has something of each kind.
    assert answered == {operation["operationId"] for _, operation in operations}, answered


def main():
    base_url, token, document = sys.argv[1:]
    client = AuthenticatedClient(base_url=base_url, token=token, raise_on_unexpected_status=True)
    assert isinstance(get_identity.sync(client=client), Identity)
    mark = f"Python {uuid.uuid4()}"
    contact = create_and_replay(client, mark)
    list_through_pages(client, mark)
    change(client, contact)
    meet_errors(client, base_url)
    draft_a_deal(client, contact)
    read_everything(client, json.loads(pathlib.Path(document).read_text()))


main()
