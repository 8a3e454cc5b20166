"""Calls tools with the MCP project's own Python client.

    mcp_client.py URL MODE < calls.json

MODE is a protocol version, "auto" (asks the server which it has) or "legacy" (the handshake of before 2026).
"""

import asyncio
import sys

from mcp import Client

from session import answer, told


async def answered(client, call):
    return answer(await client.call_tool(call["tool"], call["arguments"]))


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        await told(client, (await client.list_tools()).tools, answered)


asyncio.run(main(*sys.argv[1:]))
