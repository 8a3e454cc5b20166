"""Calls tools with the MCP project's own Python client.

    mcp_client.py URL MODE < calls.json

MODE is a protocol version, "auto" (asks the server which it has) or "legacy" (the handshake of before 2026).
Prints what the server answered, as JSON.
"""

import asyncio
import json
import sys

from mcp import Client


async def answer_to(client, call):
    try:
        result = await client.call_tool(call["tool"], call["arguments"])
    except Exception as error:
        return {"thrown": str(error)}
    return {
        "is_error": bool(result.is_error),
        "structured": result.structured_content,
        "text": [block.text for block in result.content],
    }


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        tools = (await client.list_tools()).tools
        answers = [await answer_to(client, call) for call in json.load(sys.stdin)]
        session = {
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "answers": answers,
        }
        print(json.dumps(session))


asyncio.run(main(*sys.argv[1:]))
