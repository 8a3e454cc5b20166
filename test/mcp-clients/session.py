"""What the clients in Python have in common: the calls to make, and how they are told."""

import json
import sys


async def told(client, tools, answered):
    """Makes the calls that stand on standard input as JSON, and prints what the server answered, as JSON."""
    answers = []
    for call in json.load(sys.stdin):
        try:
            answers.append(await answered(client, call))
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
