"""What an older client of MCP in Python does, one with a session: in each revision that it speaks it connects, lists the
tools, and calls one that reads and one that writes. Arguments: URL and token."""

import asyncio
import json
import sys

from mcp import ClientSession, types
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS

url, token = sys.argv[1:]
# The first with structured results, which this client holds to the tool's schema.
STRUCTURED = "2025-06-18"


async def succeed(session, revision, name, arguments):
    result = await session.call_tool(name, arguments)
    assert not result.isError, (name, result)
    answer = json.loads(result.content[0].text)
    assert result.structuredContent == (answer if revision >= STRUCTURED else None), (name, result)
    return answer


async def walk(revision):
    # The client asks for its newest, and has no other way to ask for one.
    types.LATEST_PROTOCOL_VERSION = revision
    async with (
        streamablehttp_client(url, headers={"Authorization": f"Bearer {token}"}) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        found = await session.initialize()
        assert found.protocolVersion == revision, (revision, found)
        await session.send_ping()
        tools = (await session.list_tools()).tools
        assert all((tool.outputSchema is not None) == (revision >= STRUCTURED) for tool in tools), tools
        identity = await succeed(session, revision, "get_identity", {})
        assert identity["scope"] == "read_write", identity
        ada = await succeed(session, revision, "create_contact", {"display_name": "Ada Okafor", "kind": "person"})
        again = await succeed(session, revision, "get_contact", {"contact_id": ada["id"]})
        assert again["id"] == ada["id"], again
        refused = await session.call_tool("create_contact", {})
        assert refused.isError, refused
        print(f"Older Python client, {revision}: {len(tools)} tools, 3 done, 1 refused without its arguments")


async def main():
    for revision in SUPPORTED_PROTOCOL_VERSIONS:
        await walk(revision)


asyncio.run(main())
