"""What MCP's client in Python does: it connects by itself and by each revision, holds the list of tools to the document's
operations, and calls each tool twice: as it works, those that write with the document's example of their body and the
demo's ids, and with no argument. Each call that is meant to succeed has to. Arguments: URL, token and the document."""

import asyncio
import json
import pathlib
import sys
import uuid

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

url, token, document = sys.argv[1], sys.argv[2], json.loads(pathlib.Path(sys.argv[3]).read_text())
OPERATIONS = {operation["operationId"]: operation for path, operations in document["paths"].items()
              if path.startswith("/api/v1/") for operation in operations.values()}
PLURALS = {"list_contacts": "contact_id", "list_workspaces": "workspace_id", "list_agreements": "agreement_id",
           "list_movements": "movement_id", "list_obligations": "obligation_id", "list_proposals": "proposal_id",
           "list_funding_items": "item_id", "list_trusts": "trust_id"}


def example_body(name):
    """The document's example of an operation's body; none if it has no body."""
    body = OPERATIONS[name].get("requestBody")
    if not body:
        return {}
    schema = body["content"]["application/json"]["schema"]
    schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema["example"] if "example" in schema else schema["examples"][0]


def with_ids(example, ids):
    """An example with ids that are there, wherever it names one, and a reference that nothing else has."""
    def member(name, value):
        if name == "external_reference" and value:
            return f"{value}-{uuid.uuid4()}"
        if name.endswith("contact_ids"):
            return [ids["contact_id"]]
        return ids.get(name, value)

    return {name: member(name, value) for name, value in example.items()}


class Caller:
    """A client with what it has learned."""

    def __init__(self, client):
        self.client = client

    async def succeed(self, name, arguments):
        result = await self.client.call_tool(name, arguments)
        text = result.content[0].text
        assert not result.is_error, (name, arguments, text)
        # The client itself has held it to the tool's schema.
        assert result.structured_content == json.loads(text), name
        return result.structured_content

    async def refuse(self, name):
        """Calls a tool with nothing, which has to be refused for its arguments, in the API's words."""
        result = await self.client.call_tool(name, {})
        assert result.is_error, name
        envelope = json.loads(result.content[0].text)["error"]
        assert envelope["status"] == 422 and envelope["errors"], (name, envelope)

    async def estate(self):
        """A workspace, a person, a trust of the two and an item of it that has no fact yet: the demo's are in use."""
        workspace = await self.succeed("create_workspace", {"name": "Conformance"})
        contact = await self.succeed(
            "create_contact", {"display_name": "Ada Okafor", "email": "ada@okafor.example", "kind": "person"})
        ids = {"workspace_id": workspace["id"], "contact_id": contact["id"]}
        trust = await self.succeed("create_trust", with_ids(example_body("create_trust"), ids))
        ids["trust_id"] = trust["id"]
        item = await self.succeed("create_funding_item", with_ids(example_body("create_funding_item"), ids))
        ids["item_id"] = item["id"]
        return ids


async def publishable(caller):
    """The demo's draft that a publication can be proposed of; none once it has been proposed."""
    drafts = await caller.succeed("list_agreements", {"lifecycle": "draft", "limit": 50})
    for draft in drafts["data"]:
        agreement = await caller.succeed("get_agreement", {"agreement_id": draft["id"]})
        if agreement["proposal_ready"]:
            return agreement["id"]
    return None


async def ready_item(caller, ids):
    """An item that can be papered: an asset of no special kind, with all the facts that it takes."""
    item = await caller.succeed(
        "create_funding_item", {"workspace_id": ids["workspace_id"], "label": "The painting in the hall"})
    facts = {"verb": "assign", "trust_id": ids["trust_id"], "owner_contact_ids": [ids["contact_id"]],
             "detail": {"description": "A painting"}}
    item = await caller.succeed("update_funding_item", {"item_id": item["id"], **facts})
    assert item["phase"] == "ready", item
    return item["id"]


async def walk(client, proposed):
    caller = Caller(client)
    tools = (await client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == sorted(OPERATIONS), [tool.name for tool in tools]
    done, refused, ids = 0, 0, {}
    # Lists first: they have the ids.
    for tool in sorted(tools, key=lambda tool: not tool.name.startswith("list_")):
        if not tool.annotations.read_only_hint:
            continue
        required = tool.input_schema.get("required", [])
        answer = await caller.succeed(tool.name, {name: ids[name] for name in required})
        done += 1
        if tool.name in PLURALS:
            assert answer["data"], f"the demo has nothing for {tool.name}"
            ids[PLURALS[tool.name]] = answer["data"][0]["id"]
        if required:
            await caller.refuse(tool.name)
            refused += 1
    ids = await caller.estate()
    writes = [tool for tool in tools if not tool.annotations.read_only_hint]
    for tool in writes:
        await caller.refuse(tool.name)
        refused += 1
        arguments = with_ids(example_body(tool.name), ids)
        arguments |= {name: ids[name] for name in tool.input_schema["required"] if name in ids}
        if tool.name == "create_proposal":
            arguments["agreement_id"] = await publishable(caller)
            if not arguments["agreement_id"]:
                continue
            proposed.append(tool.name)
        if tool.name == "add_agreement_participant":
            draft = await caller.succeed("create_agreement", with_ids(example_body("create_agreement"), ids))
            arguments["agreement_id"] = draft["id"]
        if tool.name == "paper_funding_items":
            arguments["item_ids"] = [await ready_item(caller, ids)]
        await caller.succeed(tool.name, arguments)
        done += 1
    return len(tools), done, refused


async def main():
    proposed = []
    for mode in ("auto", "legacy", "2026-07-28"):
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools, done, refused = await walk(client, proposed)
            print(f"Python client, {mode}: {tools} tools, {done} done, {refused} refused without their arguments")
    # A publication can be proposed once: the demo has few drafts that are ready.
    assert proposed, "the demo has no draft whose publication can be proposed"


asyncio.run(main())
