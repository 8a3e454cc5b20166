"""Calls tools with the client of FastMCP.

    fastmcp_client.py URL MODE < calls.json

MODE is a protocol version, "auto" (negotiates it with the server) or "legacy" (the handshake before 2026).
"""

import asyncio
import sys

from fastmcp import Client

from session import answer, run_session


async def call_tool(client, call):
    result = await client.call_tool(call["tool"], call["arguments"], raise_on_error=False)
    # FastMCP parses structured content that fits the output schema, and otherwise only logs a warning.
    if not result.is_error and result.data is None:
        raise ValueError("The structured content does not fit the output schema of the tool.")
    return answer(result)


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        await run_session(client, await client.list_tools(), call_tool)


asyncio.run(main(*sys.argv[1:]))
