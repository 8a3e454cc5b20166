"""Calls tools with the Python client of the MCP project.

    mcp_client.py URL MODE < calls.json

MODE is a protocol version, "auto" (negotiates it with the server) or "legacy" (the handshake before 2026).
"""

import asyncio
import sys

from mcp import Client

from session import answer, run_session


async def call_tool(client, call):
    return answer(await client.call_tool(call["tool"], call["arguments"]))


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        await run_session(client, (await client.list_tools()).tools, call_tool)


asyncio.run(main(*sys.argv[1:]))
