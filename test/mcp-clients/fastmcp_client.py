"""Calls tools with the client of FastMCP.

    fastmcp_client.py URL MODE < calls.json

MODE is a protocol version, "auto" (asks the server which it has) or "legacy" (the handshake of before 2026).
"""

import asyncio
import sys

from fastmcp import Client

from session import answer, told


async def answered(client, call):
    result = await client.call_tool(call["tool"], call["arguments"], raise_on_error=False)
    # FastMCP makes an object of what fits the tool's schema, and only logs where it can not.
    if not result.is_error and result.data is None:
        raise ValueError("The structured content was not read by the tool's schema.")
    return answer(result)


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        await told(client, await client.list_tools(), answered)


asyncio.run(main(*sys.argv[1:]))
