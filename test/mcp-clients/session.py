"""Runs the calls of a session for the Python clients."""

import json
import sys


async def run_session(client, tools, call_tool):
    """Reads calls as JSON from standard input, makes them, and prints the server's results as JSON."""
    answers = []
    for call in json.load(sys.stdin):
        try:
            answers.append(await call_tool(client, call))
        except Exception as error:
            answers.append({"thrown": str(error)})
    names = [tool.name for tool in tools]
    print(json.dumps({"protocol": client.protocol_version, "tools": names, "answers": answers}))


def answer(result):
    return {
        "is_error": bool(result.is_error),
        "structured": result.structured_content,
        "text": [block.text for block in result.content],
    }
