"""Uses a server as Python's clients do, and prints what they got as one line of JSON.

Arguments: the client (`mcp` or `fastmcp`), the mode of the protocol (`auto` or `legacy`), and a URL or a command.
"""

import asyncio
import json
import sys

library, mode, *target = sys.argv[1:]
url = target[0] if target[0].startswith("http") else None
asked = []


def answer(schema):
    """An answer to a form: yes, or a text."""
    return {name: True if of.get("type") == "boolean" else "x" for name, of in schema.get("properties", {}).items()}


def mcp_client():
    from mcp import Client, StdioServerParameters
    from mcp import types

    async def elicit(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content=answer(params.requested_schema))

    server = url or StdioServerParameters(command=target[0], args=target[1:])
    return Client(server, elicitation_callback=elicit, mode=mode)


def fastmcp_client():
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult

    async def elicit(message, _response_type, params, _context):
        asked.append(message)
        return ElicitResult(action="accept", content=answer(params.requested_schema))

    return Client(url, elicitation_handler=elicit)


async def main():
    async with mcp_client() if library == "mcp" else fastmcp_client() as client:
        tools = await client.list_tools()
        booking = await client.call_tool("create-booking", {"city": "Rome", "seats": 2})
        careful = await client.call_tool("w_careful", {"city": "Rome"})
        prompt = await client.get_prompt("book", {"city": "Rome", "seats": "2"})
        try:
            await client.call_tool("gone", {})
            refusal = None
        except Exception as error:
            refusal = str(error)
        print(
            json.dumps(
                {
                    "tools": [tool.name for tool in getattr(tools, "tools", tools)],
                    "booking": booking.structured_content,
                    "careful": careful.structured_content,
                    "asked": asked,
                    "messages": len(prompt.messages),
                    "refusal": refusal,
                }
            )
        )


asyncio.run(main())
