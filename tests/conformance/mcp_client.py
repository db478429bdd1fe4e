"""What MCP's client in Python does: it connects by itself and by each revision, lists the tools, and calls each of
them, those that write with what ids it knows. It holds what succeeds against the tool's schema. Arguments: URL and token."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

url, token = sys.argv[1:]
PLURALS = {"list_contacts": "contact_id", "list_workspaces": "workspace_id", "list_agreements": "agreement_id",
           "list_movements": "movement_id", "list_obligations": "obligation_id", "list_proposals": "proposal_id",
           "list_funding_items": "item_id"}


async def main():
    for mode in ("auto", "legacy", "2026-07-28"):
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = (await client.list_tools()).tools
            ids, ok, refused = {}, 0, 0
            for tool in sorted(tools, key=lambda tool: not tool.name.startswith("list_")):
                required = tool.input_schema.get("required", [])
                arguments = {name: ids[name] for name in required if name in ids}
                reads = tool.annotations.read_only_hint
                assert not reads or len(arguments) == len(required), tool.name
                result = await client.call_tool(tool.name, arguments)
                if result.is_error:
                    assert not reads, (tool.name, result.content[0].text)
                    envelope = json.loads(result.content[0].text)["error"]
                    assert envelope["status"] == 422, envelope
                    refused += 1
                else:
                    assert result.structured_content == json.loads(result.content[0].text), tool.name
                    ok += 1
                    if tool.name in PLURALS and result.structured_content["data"]:
                        ids[PLURALS[tool.name]] = result.structured_content["data"][0]["id"]
            print(f"Python client, {mode}: {len(tools)} tools, {ok} done, {refused} refused for their arguments")
            assert len(tools) == ok + refused and ok >= 15


asyncio.run(main())
